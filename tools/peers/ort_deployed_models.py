# SPDX-License-Identifier: Apache-2.0
"""Small models for ort_examples.py, as text, of what exporters write: several readers of one value, equal nodes, constant
codes that are moved, transposed operands of products."""

import numpy as np
import onnx.parser
from onnx import numpy_helper

F32, U8, S8 = np.float32, np.uint8, np.int8
NUMPY = {"float": F32, "uint8": U8, "int8": S8, "uint16": np.uint16}


class Text:
    """A model and its inputs: the parameters and body of a graph, and its constants by name."""

    def __init__(self, text, opset, constants):
        header = f'<ir_version: {8 if opset < 21 else 10}, opset_import: ["": {opset}, "com.microsoft": 1]> graph '
        self.made = onnx.parser.parse_model(header + text)
        self.made.graph.initializer.extend(numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items())
        rng = np.random.default_rng(len(text))
        self.inputs = {i.name: self.draw(rng, i.type.tensor_type) for i in self.made.graph.input}

    @staticmethod
    def draw(rng, kind):
        shape = [d.dim_value for d in kind.shape.dim]
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
        if dtype == F32:
            return rng.normal(0, 1.5, shape).astype(F32)
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)

    def model(self):
        return self.made


def drawn(seed, *shape, dtype=None):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, shape).astype(F32) if dtype is None else rng.integers(-127, 128, shape).astype(dtype)


def several(body, outputs="float[2,4,24] y", **constants):
    """A float that one DequantizeLinear computes for several nodes, each of which has one of its own."""
    text = f"(float[2,4,24] x) => ({outputs}) {{ q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) {body} }}"
    return Text(text, 17, {"s": F32(0.03), "z": U8(128), "two": F32(2), "g": drawn(3, 24), **constants})


GELU = "a = Div(d, root) e = Erf(a) f = Add(e, one) m = Mul(d, f) y = Mul(m, half)"
GELU_CONSTANTS = {"root": F32(np.sqrt(2)), "one": F32(1), "half": F32(0.5)}
RMS = """p = Pow(d, two) v = ReduceMean<axes = [-1]>(p) w = Add(v, eps) r = Sqrt(w) n = Div(d, r) y = Mul(n, g)"""
NORM = """m = ReduceMean<axes = [-1]>(d) c = Sub(d, m) p = Pow(c, two) v = ReduceMean<axes = [-1]>(p) w = Add(v, eps)
    r = Sqrt(w) n = Div(c, r) o = Mul(n, g) y = Add(o, h)"""


def consumers(op, readers, outputs):
    """The result of a product that a Quantize and another node or the output read."""
    bias = " b = DequantizeLinear(bq, bs)" if op == "Gemm" else ""
    product = "Gemm(a, k, b)" if op == "Gemm" else "MatMul(a, k)"
    text = f"""(uint8[6,40] x) => ({outputs}) {{ a = DequantizeLinear(x, s, z) k = DequantizeLinear(w, t, zw){bias}
        y = {product} {readers} }}"""
    constants = {"s": F32(0.021), "z": U8(120), "w": drawn(4, 40, 9, dtype=S8), "t": F32(0.0043), "zw": S8(0), "u": F32(0.037)}
    constants |= {"bq": np.arange(9, dtype=np.int32) * 1000, "bs": F32(0.021) * F32(0.0043)} if bias else {}
    return Text(text, 17, constants)


def equal(body, outputs, **more):
    """Two equal nodes behind a sum of codes."""
    text = f"(uint8[16,16] x) => ({outputs}) {{ d = DequantizeLinear(x, s, z) e = DequantizeLinear(k, s, z) y = Add(d, e) {body} }}"
    codes = np.arange(256, dtype=U8).reshape(16, 16)
    constants = {"s": F32(0.5), "z": U8(120), "k": codes.T[::-1].copy(), "t": F32(1), "v": U8(131), **more}
    return Text(text, 17, constants)


def exported(dequantize, move, opset=13, quantized=False, rows=3, product="MatMul", **more):
    """A product of activations and constant codes, which a node moves first, as exporters write weights."""
    codes = drawn(6, 7, 40, dtype=S8)
    constants = {"w": codes, "u": (codes.astype(int) + 128).astype(U8), "s": F32(0.02), "z": S8(0), "zu": U8(120)}
    constants |= {"c": np.abs(drawn(7, 7)) / 50, "cz": np.arange(7, dtype=S8), "shape": np.array([40, 7])}
    constants |= {"t": F32(0.05), "v": U8(128), "b": drawn(8, 7), **more}
    begin = f"d = {dequantize} k = {move}"
    if quantized:
        text = f"""(uint8[{rows},40] x) => (uint8[{rows},7] y) {{ a = DequantizeLinear(x, t, v) {begin} p = MatMul(a, k)
            y = QuantizeLinear(p, t, v) }}"""
    else:
        text = f"(float[{rows},40] x) => (float[{rows},7] y) {{ {begin} y = {product}(x, k) }}"
    return Text(text, opset, constants)


def moved_and_read(move, readers, outputs, inputs="float[3,40] x"):
    """Codes without a zero point that a node moves before several readers, or an output, of its result."""
    constants = {"w": drawn(6, 7, 40, dtype=S8), "s": F32(0.02), "shape": np.array([40, 7]), "one": np.array([1]), "three": np.array([3])}
    text = f"({inputs}) => ({outputs}) {{ d = DequantizeLinear({'w' if 'x' in readers else 'x'}, s) k = {move} {readers} }}"
    return Text(text, 13, constants)


def gemm_and_output():
    """A Gemm whose result is an output and goes to Quantize, so that its bias becomes codes."""
    text = """(uint8[2,6] x) => (uint8[2,3] y, float[2,3] p) { a = DequantizeLinear(x, s, z) k = DequantizeLinear(w, t) m = MatMul(a, k)
        p = Add(m, b) y = QuantizeLinear(p, u, z) }"""
    constants = {"s": F32(0.02), "z": U8(120), "w": drawn(15, 6, 3, dtype=S8), "t": F32(0.01), "b": drawn(16, 3), "u": F32(0.2)}
    return Text(text, 21, constants)


def clipped_pairs():
    """Two pairs that become one, whose codes Clip does not change."""
    text = """(uint8[16,64] x) => (float[16,9] y) { a = DequantizeLinear(x, s, z) k = DequantizeLinear(w, t, zw)
        b = DequantizeLinear(i, bs) m = Gemm(a, k, b) c = Clip(m, low, high) p = QuantizeLinear(c, u, v) d = DequantizeLinear(p, u, v) q = QuantizeLinear(d, n, o)
        y = DequantizeLinear(q, n, o) }"""
    constants = {"s": F32(0.0173), "z": U8(120), "w": drawn(17, 64, 9, dtype=S8), "t": F32(0.0143), "zw": S8(0), "low": F32(-50.42)}
    constants |= {"i": np.arange(9, dtype=np.int32) * 700, "bs": F32(0.0044), "high": F32(50.42), "u": F32(0.3955), "v": U8(128), "n": F32(0.34933), "o": U8(0)}
    return Text(text, 17, constants)


def transposed_codes(body, opset=13):
    """Products of a row and codes that a Transpose moves when the model runs."""
    constants = {"s": F32(0.37), "c": np.abs(drawn(18, 9)) + F32(0.1), "b": drawn(10, 9)}
    return Text(f"(float[1,40] x, uint8[9,40] a) => (float[1,9] y) {{ {body} }}", opset, constants)


TRANSPOSE, RESHAPE = "Transpose<perm = [1, 0]>(d)", "Reshape(d, shape)"


def transposed(body, inputs, output="float[1,9] y", opset=13):
    """Products of float operands that a Transpose computes."""
    return Text(f"({inputs}) => ({output}) {{ {body} }}", opset, {"w": drawn(9, 9, 40), "b": drawn(10, 9), "s": F32(0.37)})


def alone(scales, codes="w2"):
    """Two products whose weights have the same scales or codes: none of them becomes MatMulNBits."""
    text = f"""(float[2,40] x, float[2,40] a) => (float[2,7] y, float[2,7] v) {{ d = DequantizeLinear<axis = 1>(w, s)
        y = MatMul(x, d) e = DequantizeLinear<axis = 1>({codes}, t) v = MatMul(a, e) }}"""
    constants = {"w": drawn(11, 40, 7, dtype=S8), "w2": drawn(12, 40, 7, dtype=S8), "s": F32(scales[0]), "t": F32(scales[1])}
    return Text(text, 21, constants)


def one_element():
    """A sum of two operands of one element, of which the first counts as repeated."""
    constants = {"s": F32(0.025346905), "z": S8(-106), "t": F32(0.03580992), "v": S8(-120), "u": F32(0.03658597), "w": S8(-105)}
    made = Text("(int8[1] x, int8[1] a) => (int8[1] y) { y = com.microsoft.QLinearAdd(x, s, z, a, t, v, u, w) }", 17, constants)
    made.inputs = {"x": np.array([-114], S8), "a": np.array([-122], S8)}
    return made


def wide(body, kinds="uint16 uint16", **more):
    """A product of codes of 16 bits, or of floats, and constant int8 codes. From ONNX Runtime 1.32 on it is MatMulNBits."""
    x, y = kinds.split()
    begin = "a = DequantizeLinear(x, s, z)" if x == "uint16" else "a = Identity(x)"
    text = f"({x}[3,40] x) => ({y}[3,7] y) {{ {begin} k = DequantizeLinear(w, t, zw) {body} }}"
    constants = {"s": F32(1e-4), "z": np.uint16(32768), "w": drawn(13, 40, 7, dtype=S8), "t": F32(0.02), "zw": S8(0)}
    constants |= {"u": F32(1e-3), "v": np.uint16(30000), "u8": F32(0.1), "v8": U8(100), "b": drawn(14, 7), **more}
    return Text(text, 21, constants)


def softmax_codes(scale):
    """Probabilities of which the greatest overflow before 1.32."""
    text = "(uint8[3,16] x) => (uint8[3,16] y) { d = DequantizeLinear(x, s, z) p = Softmax<axis = 1>(d) y = QuantizeLinear(p, t, z) }"
    return Text(text, 17, {"s": F32(0.02), "z": U8(0), "t": F32(scale)})


EXAMPLES = {
    "wide_product": lambda: wide("p = MatMul(a, k) y = QuantizeLinear(p, u, v)"),
    "wide_product_to_float": lambda: wide("y = MatMul(a, k)", "uint16 float"),
    "wide_product_to_bytes": lambda: wide("p = MatMul(a, k) y = QuantizeLinear(p, u8, v8)", "uint16 uint8"),
    "wide_product_biased": lambda: wide("q = MatMul(a, k) p = Add(q, b) y = QuantizeLinear(p, u, v)"),
    "wide_product_relu": lambda: wide("q = MatMul(a, k) p = Relu(q) y = QuantizeLinear(p, u, v)"),
    "float_product_to_wide": lambda: wide("p = MatMul(a, k) y = QuantizeLinear(p, u, v)", "float uint16"),
    "float_product_relu": lambda: wide("q = MatMul(a, k) y = Relu(q)", "float float"),
    "float_product_relu_abs": lambda: wide("q = MatMul(a, k) p = Relu(q) y = Abs(p)", "float float"),
    "small_softmax_scale": lambda: softmax_codes(1 / 4096),
    "add_one_element": one_element,
    "several_readers_gelu": lambda: several(GELU, **GELU_CONSTANTS),
    "several_readers_rms_norm": lambda: several(RMS, eps=F32(1e-5)),
    "several_readers_norm": lambda: several(NORM, eps=F32(1e-5), h=drawn(5, 24)),
    "matmul_quantized_and_read": lambda: consumers("MatMul", "p = QuantizeLinear(y, u, z) v = Abs(y)",
                                                   "uint8[6,9] p, float[6,9] v"),
    "matmul_quantized_and_output": lambda: consumers("MatMul", "p = QuantizeLinear(y, u, z)", "uint8[6,9] p, float[6,9] y"),
    "gemm_quantized_and_read": lambda: consumers("Gemm", "p = QuantizeLinear(y, u, z) v = Abs(y)", "uint8[6,9] p, float[6,9] v"),
    "equal_quantize": lambda: equal(
        """p = QuantizeLinear(y, t, v) q = QuantizeLinear(y, t, v) a = DequantizeLinear(p, t, v)
        c = DequantizeLinear(q, t, v) b = Neg(c)""", "float[16,16] a, float[16,16] b"),
    "equal_quantize_of_two_zero_points": lambda: equal(
        """p = QuantizeLinear(y, t, v) q = QuantizeLinear(y, u, w) a = DequantizeLinear(p, t, v)
        c = DequantizeLinear(q, u, w) b = Neg(c)""", "float[16,16] a, float[16,16] b", u=F32(1), w=U8(131)),
    "equal_quantize_of_two_scales": lambda: equal(
        """p = QuantizeLinear(y, t, v) q = QuantizeLinear(y, u, v) a = DequantizeLinear(p, t, v)
        c = DequantizeLinear(q, u, v) b = Neg(c)""", "float[16,16] a, float[16,16] b", u=F32(1)),
    "equal_quantize_first_is_output": lambda: equal(
        "p = QuantizeLinear(y, t, v) q = QuantizeLinear(y, t, v) c = DequantizeLinear(q, t, v) b = Neg(c)",
        "uint8[16,16] p, float[16,16] b"),
    "equal_quantize_last_is_output": lambda: equal(
        "p = QuantizeLinear(y, t, v) q = QuantizeLinear(y, t, v) c = DequantizeLinear(p, t, v) b = Neg(c)",
        "uint8[16,16] q, float[16,16] b"),
    "equal_quantize_output_walked_first": lambda: equal(
        "p = QuantizeLinear(y, t, v) c = DequantizeLinear(p, t, v) b = Neg(c) q = QuantizeLinear(y, t, v)",
        "float[16,16] b, uint8[16,16] q"),
    "equal_chains": lambda: equal(
        """n = Neg(y) m = Neg(y) p = QuantizeLinear(n, t, v) q = QuantizeLinear(m, t, v) a = DequantizeLinear(p, t, v)
        c = DequantizeLinear(q, t, v) b = Sub(a, c)""", "float[16,16] b"),
    "moved_codes": lambda: exported("DequantizeLinear(w, s, z)", TRANSPOSE),
    "moved_codes_without_zero_point": lambda: exported("DequantizeLinear(w, s)", TRANSPOSE, rows=1),
    "moved_codes_of_uint8": lambda: exported("DequantizeLinear(u, s)", TRANSPOSE),
    "moved_codes_of_channels": lambda: exported("DequantizeLinear<axis = 0>(w, c, cz)", TRANSPOSE),
    "moved_codes_of_channels_in_opset_21": lambda: exported("DequantizeLinear<axis = 0>(w, c)", TRANSPOSE, 21),
    "moved_codes_of_product": lambda: exported("DequantizeLinear<axis = 0>(w, c, cz)", TRANSPOSE, quantized=True),
    "moved_codes_stay_float": lambda: exported("DequantizeLinear(w, s)", TRANSPOSE, quantized=True),
    "moved_codes_of_gemm": lambda: exported("DequantizeLinear(w, s, z)", TRANSPOSE, product="Gemm"),
    "moved_codes_of_gemm_in_opset_21": lambda: exported("DequantizeLinear(w, s, z)", TRANSPOSE, 21, product="Gemm"),
    "moved_codes_reshaped": lambda: exported("DequantizeLinear(w, s)", RESHAPE),
    "moved_codes_reshaped_in_opset_21": lambda: exported("DequantizeLinear(w, s, z)", RESHAPE, 21),
    "moved_codes_reshaped_of_product": lambda: exported("DequantizeLinear(w, s, z)", RESHAPE, quantized=True),
    "moved_codes_sliced": lambda: moved_and_read("Slice(d, one, three, one)", "y = MatMul(k, x)", "float[7,5] y", "float[2,5] x"),
    "moved_codes_read_twice": lambda: moved_and_read(TRANSPOSE, "y = MatMul(x, k) v = Neg(k)", "float[3,7] y, float[40,7] v"),
    "moved_codes_are_output": lambda: moved_and_read(TRANSPOSE, "y = MatMul(x, k)", "float[3,7] y, float[40,7] k"),
    "moved_activations_are_output": lambda: moved_and_read(RESHAPE, "y = Abs(k)", "float[40,7] y, float[40,7] k", "int8[7,40] x"),
    "gemm_and_output": gemm_and_output,
    "transposed_constant": lambda: transposed("k = Transpose(w) y = MatMul(x, k)", "float[1,40] x"),
    "transposed_matmul": lambda: transposed("k = Transpose(a) y = MatMul(x, k)", "float[1,40] x, float[9,40] a"),
    "transposed_matmul_rows": lambda: transposed("k = Transpose(x) y = MatMul(k, a)", "float[40,3] x, float[40,9] a", "float[3,9] y"),
    "transposed_matmul_batches": lambda: transposed(
        "k = Transpose<perm = [1, 2, 3, 0]>(a) y = MatMul(x, k)", "float[2,3,1,40] x, float[9,2,3,40] a", "float[2,3,1,9] y"),
    "transposed_matmul_is_output": lambda: transposed(
        "k = Transpose(a) y = MatMul(x, k)", "float[1,40] x, float[9,40] a", "float[1,9] y, float[40,9] k"),
    "transposed_gemm": lambda: transposed("k = Transpose(a) y = Gemm(x, k, b)", "float[1,40] x, float[9,40] a"),
    "transposed_gemm_and_abs": lambda: transposed(
        "k = Transpose(a) y = Gemm(x, k, b) v = Abs(k)", "float[1,40] x, float[9,40] a", "float[1,9] y, float[40,9] v"),
    "transposed_gemm_read_twice": lambda: transposed(
        "k = Transpose(a) p = Gemm(x, k, b) y = Abs(p) v = Neg(p)", "float[1,40] x, float[9,40] a", "float[1,9] y, float[1,9] v"),
    "transposed_codes_of_sum": lambda: transposed_codes(
        "d = DequantizeLinear(a, s) k = Transpose<perm = [1, 0]>(d) p = MatMul(x, k) y = Add(p, b)"),
    "transposed_codes_of_channels": lambda: transposed_codes(
        "d = DequantizeLinear<axis = 0>(a, c) k = Transpose<perm = [1, 0]>(d) y = MatMul(x, k)"),
    "clipped_pairs": clipped_pairs,
    "transposed_gemm_of_sum": lambda: transposed("k = Transpose(a) p = MatMul(x, k) y = Add(p, b)", "float[1,40] x, float[9,40] a"),
    "transposed_gemm_result": lambda: transposed("p = Gemm(x, a) y = Transpose(p)", "float[3,40] x, float[40,9] a", "float[9,3] y"),
    "alone_in_scales": lambda: alone(([0.01] * 7, [0.01] * 7)),
    "alone_in_many_scales": lambda: alone(([0.01] * 6 + [0.02], [0.02] * 7)),
    "alone_in_codes": lambda: alone((0.01, 0.02), "w"),
}
