# SPDX-License-Identifier: Apache-2.0
"""from_torch on stand-ins for the programs of torch.export; tools/peers/torch_programs.py runs torch itself.

    test_torch.py SOURCE_ROOT
"""

import sys
import unittest
from types import SimpleNamespace

import numpy as np
import qdq


class Dtype(str):
    @property
    def is_floating_point(self):
        return self.startswith("float")


class Node:
    pass


class MXTensor:
    """What from_torch reads of torchao's: codes, and scales as the bits of float8_e8m0."""

    def __init__(self, qdata, **fields):
        self.qdata, self.shape, self.dtype, self.is_swizzled_scales = qdata, qdata.shape, "float32", True
        vars(self).update(fields)


class Program:
    """What from_torch reads of a torch.export.ExportedProgram."""

    def __init__(self, **parameters):
        self.graph = self.graph_signature = self
        self.nodes, self.input_specs, self.output_specs, self.constants = [], [], [], {}
        self.state_dict = parameters
        self.parameters = {name: self.given(name, w.shape, kind="PARAMETER") for name, w in parameters.items()}

    def given(self, name, shape, dtype="float32", kind="USER_INPUT"):
        named = SimpleNamespace(name=name)
        self.input_specs.append(SimpleNamespace(kind=SimpleNamespace(name=kind), arg=named, target=name))
        return self.add("placeholder", name, name, (), shape, dtype)

    def call(self, target, *args, shape, dtype="float32", **kwargs):
        return self.add("call_function", f"node{len(self.nodes)}", target, args, shape, dtype, kwargs)

    def add(self, op, name, target, args, shape, dtype, kwargs=None):
        node = Node()
        node.op, node.name, node.target, node.args, node.kwargs = op, name, target, args, kwargs or {}
        node.meta = {"val": SimpleNamespace(shape=shape, dtype=Dtype(dtype))}
        node.all_input_nodes = [a for a in args if isinstance(a, Node)]
        self.nodes.append(node)
        return node

    def run(self, *made, **inputs):
        self.output_specs = [SimpleNamespace(kind=SimpleNamespace(name="USER_OUTPUT"))] * len(made)
        self.add("output", "output", "output", (made,), (), "float32")
        return [y.tolist() for y in qdq.from_torch(self).run(inputs).values()]


class FromTorch(unittest.TestCase):
    def test_quantizing_ops_of_pt2e(self):
        w = np.float32([[1, 2], [3, -4], [0, 1]])
        p = Program(w=w)
        q = p.call("quantized_decomposed.quantize_per_tensor.default", p.given("x", (1, 2)), 0.5, 3, 0, 255, "uint8",
                   shape=(1, 2), dtype="uint8")  # fmt: skip
        d = p.call("quantized_decomposed.dequantize_per_tensor.default", q, 0.5, 3, 0, 255, "uint8", shape=(1, 2))
        y = p.call("aten.relu.default", p.call("aten.linear.default", d, p.parameters["w"], shape=(1, 3)), shape=(1, 3))
        # 0.3 and 1.9 become the codes 4 and 7: 0.5 and 2.
        self.assertEqual(p.run(q, y, x=np.float32([[0.3, 1.9]])), [[[4, 7]], [[4.5, 0, 2]]])

    def test_codes_of_channels_have_their_range(self):
        p = Program(s=np.float32([0.5, 2]), z=np.int64([0, 0]))
        q = p.call("quantized_decomposed.quantize_per_channel.default", p.given("x", (2, 2)), p.parameters["s"],
                   p.parameters["z"], 0, -127, 127, "int8", shape=(2, 2), dtype="int8")  # fmt: skip
        self.assertEqual(p.run(q, x=np.float32([[-99, 1], [-999, 3]])), [[[-127, 2], [-127, 2]]])

    def test_functions_of_one_element(self):
        x = np.float32([[-1.5, -0.0, 0.75]])
        for name, wanted in (("neg", -x), ("trunc", np.trunc(x)), ("log1p", [[np.nan, -0.0, 0.5596158]])):
            p = Program()
            y = p.run(p.call(f"aten.{name}.default", p.given("x", (1, 3)), shape=(1, 3)), x=x)[0]
            self.assertEqual(np.float32(y).tobytes(), np.float32(wanted).tobytes(), name)

    def of_half(self, name, x):
        p = Program()
        y = p.call(f"aten.{name}.default", p.given("x", (len(x),), "float16"), shape=(len(x),), dtype="float16")
        return p.run(y, x=np.float16(x))[0]

    def test_functions_of_16_bits_are_rounded_once_as_in_torch(self):
        """Results of torch 2.15; x times its sigmoid, and 1 over the square root, are other numbers of 16 bits."""
        self.assertEqual(self.of_half("silu", [-0.2001953125, -0.22216796875, -0.2392578125]),
                         [-0.090087890625, -0.09881591796875, -0.10540771484375])  # fmt: skip
        self.assertEqual(self.of_half("rsqrt", [0.200439453125, 0.23095703125, 0.254150390625]),
                         [2.234375, 2.080078125, 1.9833984375])  # fmt: skip

    def ops(self, name, target):
        p = Program()
        y = p.call(f"aten.{name}.default", p.given("x", (2,), "float16"), shape=(2,), dtype="float16")
        p.output_specs = [SimpleNamespace(kind=SimpleNamespace(name="USER_OUTPUT"))]
        p.add("output", "output", "output", ((y,),), (), "float16")
        return [node.op for node in qdq.from_torch(p, target=target).nodes]

    def test_functions_become_the_ops_of_the_target(self):
        for name, ttnn, onnx in (("silu", ["SiLU"], ["Sigmoid", "Multiply"]), ("rsqrt", ["Rsqrt"], ["Sqrt", "Reciprocal"]),
                                 ("relu6", ["ReLU6"], ["Clamp"])):  # fmt: skip
            self.assertEqual(self.ops(name, "ttnn@blackhole"), ttnn)
            self.assertEqual(self.ops(name, "onnx"), onnx)

    def affine(self, scale, dtype, zero=(0, 0, 0)):
        """The codes of quantize_affine for three channels, and of dequantize_affine the reals."""
        p = Program()
        p.state_dict = {"s": scale, "z": np.int64(zero)}
        s, z = p.given("s", (3,), dtype, "PARAMETER"), p.given("z", (3,), "int64", "PARAMETER")
        q = p.call("torchao.quantize_affine.default", p.given("x", (2, 3)), [2, 1], s, z, "int8", shape=(2, 3), dtype="int8")
        y = p.call("torchao.dequantize_affine.default", q, [2, 1], s, z, "int8", shape=(2, 3))
        return p.run(q, y, x=np.float32([[0.3, 1, 2.5], [-1, 0.7, -3]]))

    def test_scales_keep_their_dtype(self):
        """torchao 0.18.0 gave the codes by float64 and float32 scales; 0x3F00, 0x3E80 and 0x4000 are 0.5, 0.25 and 2."""
        self.assertEqual(self.affine(np.array([0.1, 0.2, 0.5]), "float64")[0], [[3, 5, 5], [-10, 3, -6]])
        self.assertEqual(self.affine(np.float32([0.1, 0.2, 0.5]), "float32")[0], [[3, 5, 5], [-10, 4, -6]])
        for scale, dtype in ((np.uint16([0x3F00, 0x3E80, 0x4000]), "bfloat16"), (np.float16([0.5, 0.25, 2]), "float16"),
                             (np.float32([0.5, 0.25, 2]), "float32")):  # fmt: skip
            self.assertEqual(self.affine(scale, dtype), [[[1, 4, 1], [-2, 3, -2]], [[0.5, 1, 2], [-1, 0.75, -4]]], dtype)

    def test_zero_points_beyond_the_codes_do_not_wrap(self):
        wanted = [[[127, -128, 6], [127, -128, 3]], [[-36.5, 43, 2], [-36.5, 43, -4]]]
        self.assertEqual(self.affine(np.float32([0.5, 0.25, 2]), "float32", (200, -300, 5)), wanted)

    def test_mx_weights_and_activations(self):
        """Weights 1 and 2, one scale 2: 32 * 1 + 31 * 2 * 2 + 0.0625 * 2 * 2. The smallest of x, 17 steps of 2^-8, lies halfway
        between float8 numbers, and becomes 16 steps."""
        codes = np.full((2, 64), 0x38, np.uint8)  # 1
        codes[1, 32:] = 0x40  # 2
        scale = np.full(512, 127, np.uint8)
        scale[17] = 128  # row 1, block 1: a tile has 16 bytes for each of 32 lines
        how = SimpleNamespace(elem_dtype=Dtype("float8_e4m3fn"), block_size=32, scaling_mode=SimpleNamespace(value="floor"))
        w = MXTensor(qdata=codes, scale=scale, block_size=32, elem_dtype=Dtype("float8_e4m3fn"), act_quant_kwargs=how)
        x = np.ones((1, 64), np.float32)
        x[0, 63] = 17 / 256
        for given, y in ((how, [63.0625, 156.25]), (None, [63 + 17 / 256, 156 + 17 / 64])):
            w.act_quant_kwargs = given
            p = Program(w=w)
            made = p.call("aten.linear.default", p.given("x", (1, 64)), p.parameters["w"], shape=(1, 2))
            self.assertEqual(p.run(made, x=x), [[y]])

    def test_packed_mx_codes(self):
        w = MXTensor(qdata=np.full((1, 16), 0x42, np.uint8), scale=np.uint8([[127]]), block_size=32, is_swizzled_scales=False,
                     elem_dtype=Dtype("float4_e2m1fn_x2"), act_quant_kwargs=None)  # fmt: skip
        p = Program(w=w)
        made = p.call("aten.linear.default", p.given("x", (1, 32)), p.parameters["w"], shape=(1, 1))
        self.assertEqual(p.run(made, x=np.arange(32, dtype=np.float32)[None]), [[[240 + 2 * 256]]])  # 1 of even, 2 of odd ones

    def test_ops_without_a_counterpart_are_listed_all_at_once(self):
        p = Program()
        x = p.given("x", (1, 3))
        y = [p.call(name, x, shape=(1, 3)) for name in ("aten.odd.default", "aten.relu.default", "aten.even.default")]
        with self.assertRaisesRegex(qdq.UnsupportedError, r"aten.odd.default \(node1\); aten.even.default \(node3\)"):
            p.run(*y, x=np.zeros((1, 3), np.float32))

    def test_open_dims_are_refused(self):
        p = Program()
        x = p.given("x", ("s0", 3))
        with self.assertRaisesRegex(qdq.UnsupportedError, "input 'x' has shape .*wanted fixed dims"):
            p.run(p.call("aten.relu.default", x, shape=("s0", 3)))

    def test_numbers_have_the_dtype_of_the_other_operand(self):
        p = Program()
        x = p.given("x", (3,), "int32")
        y = p.call("aten.add.Tensor", x, 128, shape=(3,), dtype="int32")
        less = p.call("aten.lt.Scalar", x, 2, shape=(3,), dtype="bool")
        self.assertEqual(p.run(y, less, x=np.int32([1, 2, 3])), [[129, 130, 131], [True, False, False]])

    def test_moves_and_pieces(self):
        p = Program()
        x = p.given("x", (2, 4))
        split = p.call("aten.split_with_sizes.default", x, [1, 3], 1, shape=())
        last = p.call("<built-in function getitem>", split, 1, shape=(2, 3))
        flat = p.call("aten.flatten.using_ints", p.call("aten.transpose.int", last, 0, -1, shape=(3, 2)), shape=(6,))
        picked = p.call("aten.select.int", x, 1, -1, shape=(2,))
        made = p.run(flat, picked, x=np.arange(8, dtype=np.float32).reshape(2, 4))
        self.assertEqual(made, [[1, 5, 2, 6, 3, 7], [3, 7]])

    def test_alpha_is_refused(self):
        p = Program()
        x = p.given("x", (3,))
        with self.assertRaisesRegex(qdq.UnsupportedError, "alpha is 2, wanted 1"):
            p.run(p.call("aten.add.Tensor", x, x, shape=(3,), alpha=2))


class Modules(unittest.TestCase):
    def test_a_module_needs_an_example(self):
        with self.assertRaisesRegex(TypeError, "from_torch.module, example."):
            qdq.from_torch(SimpleNamespace(forward=None))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
