# SPDX-License-Identifier: Apache-2.0
"""Groups of a few nodes, which a backend fuses or rewrites."""

from group import Group
from tensor import NAN, f32, tensor

TITLE = "Small graphs that backends rewrite"


def node(op, name, inputs, **attrs):
    return {"op": op, "name": name, "inputs": inputs, "attrs": attrs}


def graph(name, about, provokes, inputs, nodes, bugs=(), output="y"):
    return Group(f"graph/{name}", "Graph", about, provokes, inputs, {}, bugs, nodes, (output,))


def quantize(name, x, s, z=0, dtype="int8", **more):
    return node("Quantize", name, {"x": x}, scales=f32(s), zps=z, dtype=dtype, **more)


def dequantize(name, x, s, z=0, **more):
    return node("Dequantize", name, {"x": x}, scales=f32(s), zps=z, dtype="float32", **more)


def port_node(op, name, x):
    """A Quantize or Dequantize by the tensors s and z."""
    return node(op, name, {"x": x, "scale": "s", "zero_point": "z"}, dtype="int8" if op == "Quantize" else "float32")


def moved():
    made = []
    x = {"x": tensor("float32", [2.0, 7.0, 4.0], (1, 1, 1, 3)), "s": tensor("float32", [1.0], (), True),
         "z": tensor("int8", [0], (), True)}
    resize = node("Interpolate", "r", {"x": "d"}, mode="linear", sizes=[1, 6], data_format="NCX")
    made.append(graph("resize-linear", "Resize between Dequantize and Quantize runs on codes in some releases",
                      ("fusion", "truncation"), x,
                      [port_node("Quantize", "q", "x"), port_node("Dequantize", "d", "q"), resize,
                       port_node("Quantize", "c", "r"), port_node("Dequantize", "y", "c")],
                       ("microsoft/onnxruntime#28448", "microsoft/onnxruntime#21319")))  # fmt: skip
    for kind, op, attrs in (("reshape", "StaticReshape", {"shape": [2, 2], "special_zero": False}),
                            ("transpose", "StaticTranspose", {"order": [1, 0]})):
        for zero in (False, True):
            for constant in (True, False):
                codes = tensor("int8", [12, -45, 7, -3], (4,) if kind == "reshape" else (2, 2), constant)
                inputs = {"w": codes, "x": tensor("float32", [0.0] * 4, (2, 2)), "s": tensor("float32", [f32(0.02)], (), True),
                          **({"z": tensor("int8", [0], (), True)} if zero else {})}
                ports = {"x": "w", "scale": "s", **({"zero_point": "z"} if zero else {})}
                name = f"{kind}-{'zero-point' if zero else 'no-zero-point'}-{'constant' if constant else 'input'}"
                made.append(graph(name,
                                  "int8 codes that a backend takes for uint8: negative numbers become 0",
                                  ("fusion", "saturation"), inputs,
                                  [node("Dequantize", "d", ports, dtype="float32"), node(op, "r", {"x": "d"}, **attrs),
                                   node("Add", "y", {"a": "r", "b": "x"})], ("microsoft/onnxruntime#28491",)))  # fmt: skip
    return made


def products():
    made = []
    fixed = {"w": tensor("int8", [30, -6, -60, -87, 48, 59, -119, -99, -13, -28, 98, 4], (3, 4), True),
             "b": tensor("int32", [7500, -11250, 3750], (3,), True), "two": tensor("float32", [2.0], (), True)}
    x = {"x": tensor("float32", list(map(f32, (1.1, -0.7, 2.2, 0.3))), (1, 4)), **fixed}
    head = [quantize("q", "x", 0.02, 128, "uint8"), dequantize("d", "q", 0.02, 128), dequantize("wd", "w", 0.01),
            dequantize("bd", "b", 0.0002)]
    product = node("MatMul", "p", {"a": "d", "b": "wd"}, transpose_b=True)
    scaled = [product, node("Multiply", "m", {"a": "p", "b": "two"}), node("Add", "g", {"a": "m", "b": "bd"}),
              quantize("y", "g", 0.05, 128, "uint8")]
    made.append(graph("gemm-alpha", "2 * x * w + b: alpha is no factor of the bias", ("fusion", "alpha"), x, [*head, *scaled],
                      ("microsoft/onnxruntime#28130",)))
    plain = [product, node("Add", "g", {"a": "p", "b": "bd"}), quantize("y", "g", 0.05, 128, "uint8")]
    made.append(graph("linear-bias", "a bias of int32 codes behind Dequantize: TensorRT takes none", ("constant parameters",),
                      {key: one for key, one in x.items() if key != "two"}, [*head, *plain],
                      ("microsoft/onnxruntime#14229", "microsoft/onnxruntime#17738", "onnx/onnx-tensorrt#850",
                       "NVIDIA/TensorRT#3360")))  # fmt: skip
    pair = {"x": tensor("float32", [255.0, 255.0, 255.0, 255.0], (1, 4)),
            "w": tensor("float32", [127.0, 127.0, -128.0, -128.0, 1.0, 2.0, 3.0, 4.0], (4, 2), True)}
    made.append(graph("float-weights", "weights that a Quantize makes codes of: products of pairs saturate without VNNI",
                      ("pair saturation", "fusion"), pair,
                      [quantize("q", "x", 1.0, 0, "uint8"), dequantize("d", "q", 1.0), quantize("wq", "w", 1.0),
                       dequantize("wd", "wq", 1.0), node("MatMul", "p", {"a": "d", "b": "wd"}),
                       quantize("y", "p", 512.0, 3, "uint8")],
                      ("microsoft/onnxruntime#24711",)))  # fmt: skip
    return made


def quantized_products():
    """Products between Dequantize and Quantize, which backends compute on codes; no bias, so that each backend takes them."""
    made = []
    weights = tensor("int8", [1, -1, 1, 127, -128, 3, 2, -7], (4, 2), True)
    about = "a product of codes that is quantized again"
    for name, zero, s, t, w, codes in (("ties", 0, 0.5, 2.0, 1, [3, 1, 0, 1, 255, 255, 255, 254, 5, 9, 2, 1, 0, 0, 0, 8]),
                                       ("zero-point", 131, 0.05, 2.7, 128, [0, 255, 131, 130, 200, 7, 90, 132, 1, 2, 3, 4])):
        x = {"x": tensor("uint8", codes, (len(codes) // 4, 4)), "w": weights}
        made.append(graph(f"product-{name}-uint8", f"{about}: {'sums are ties' if zero == 0 else 'x has a zero point'}",
                          ("tie", "reciprocal", "fusion", "saturation"), x,
                          [dequantize("d", "x", s, zero), dequantize("v", "w", 0.5), node("MatMul", "p", {"a": "d", "b": "v"}),
                           quantize("y", "p", t, w, "uint8")]))  # fmt: skip
    x = {"x": tensor("int8", [-128, 127, 3, -5, 100, -100, 1, 0], (2, 4)), "w": weights}
    columns = node("Dequantize", "v", {"x": "w"}, scales=[f32(0.03), 0.25], qtype="per_channel", axis=1, dtype="float32")
    made.append(graph("product-columns-int8", f"{about}: a scale for each column of the weights", ("axis", "fusion", "tie"), x,
                      [dequantize("d", "x", 0.1), columns, node("MatMul", "p", {"a": "d", "b": "v"}), quantize("y", "p", 4.0)]))
    pair = {"x": tensor("uint8", [255, 255, 255, 255], (1, 4)), "w": tensor("int8", [127, 127, -128, -128], (4, 1), True)}
    made.append(graph("product-pairs-uint8", f"{about}: pairs of products are 64770 and -65280, beyond int16",
                      ("pair saturation", "fusion"), pair,
                      [dequantize("d", "x", 1.0), dequantize("v", "w", 1.0), node("MatMul", "p", {"a": "d", "b": "v"}),
                       quantize("y", "p", 8.0, 100, "uint8")]))  # fmt: skip
    image = {"x": tensor("uint8", [0, 255, 12, 13, 11, 200, 100, 50, 3, 7, 77, 254, 1, 2, 128, 127], (1, 1, 4, 4)),
             "w": tensor("int8", [79, -79, 2, 127, 105, -87, -128, 9, 73], (1, 1, 3, 3), True)}  # fmt: skip
    conv = node("Convolution", "p", {"x": "d", "weights": "v"}, strides=[1, 1], dilations=[1, 1], pads_begin=[1, 1],
                pads_end=[1, 1], data_format="NCX", weights_format="OIX", groups=1)
    made.append(graph("product-padding-uint8", f"{about}: a convolution whose padding counts as 0, the zero point 12",
                      ("padding with zero point", "fusion", "tie"), image,
                      [dequantize("d", "x", 0.05, 12), dequantize("v", "w", 0.01), conv, quantize("y", "p", 0.2, 4, "uint8")]))
    return made


def pairs():
    made = []
    x = list(map(f32, (0.25, 0.75, 1.25, -0.25, -0.75, -1.25, 44.75, 0.0, 3.3, 100.0, -100.0, 45.25)))
    made.append(graph("fake-quantize-z10",
                      "Quantize and Dequantize: a backend that has one FakeQuantize rounds half up behind the zero point",
                      ("tie", "zero-point order"), {"x": tensor("float32", x)},
                      [quantize("q", "x", 0.5, 10), dequantize("y", "q", 0.5, 10)],
                      ("microsoft/onnxruntime#25045", "intel/onnxruntime#707")))  # fmt: skip
    own = list(map(f32, (-1.0, -0.0004, 0.0005, 0.0015, 1.2345, 70.0, -70.0, 0.5, NAN)))
    for dtype in ("uint16", "int16", "uint8", "int8"):
        made.append(graph(f"relu-{dtype}", "Relu before Quantize, which a backend drops if the clamp range does it",
                          ("fusion", "NaN", "tie"), {"x": tensor("float32", own)},
                          [node("ReLU", "r", {"x": "x"}), quantize("y", "r", 0.001, 0, dtype)],
                          ("microsoft/onnxruntime#20187",)))  # fmt: skip
    clip = list(map(f32, (0.14, 0.15, 0.25, 2.0, -0.05, -0.95, -0.85, 0.75)))
    made.append(graph("clip-4-bits", "codes of 4 bits as int8, between Maximum and Minimum", ("saturation", "tie"),
                      {"x": tensor("float32", clip), "low": tensor("int32", [-8], (), True),
                       "high": tensor("int32", [7], (), True)},
                      [quantize("q", "x", 0.1), node("Cast", "w", {"x": "q"}, dtype="int32"),
                       node("Maximum", "a", {"a": "w", "b": "low"}), node("Minimum", "b", {"a": "a", "b": "high"}),
                       node("Cast", "c", {"x": "b"}, dtype="int8"), dequantize("y", "c", 0.1)],
                       ("Xilinx/brevitas#497", "fastmachinelearning/qonnx#48")))  # fmt: skip
    codes = {"x": tensor("int8", [-128, -124, -3, -1, 0, 1, 3, 127])}
    made.append(graph("requantize-pair", "Dequantize and Quantize with a ratio of 1/2: ties", ("tie", "double rounding"), codes,
                      [dequantize("d", "x", 0.5, 3), quantize("y", "d", 1.0, 1)]))
    made.append(graph("requantize-pair-tflite", "Dequantize and Quantize in float, not by a multiplier and a shift",
                      ("tie", "fixed point"), codes, [dequantize("d", "x", 0.1, 1), quantize("y", "d", 0.6, 0)],
                      ("tensorflow/tensorflow#102943",)))
    for op in ("Add", "Multiply"):
        two = {"a": tensor("int8", [-114, 3, 127, -128]), "b": tensor("int8", [-122, 5, 127, -128])}
        made.append(graph(f"{op.lower()}-codes",
                          f"{op} of dequantized codes, quantized again: ONNX Runtime computes it on codes",
                          ("fusion", "tie", "multiply-add"), two,
                          [dequantize("da", "a", 0.025346905, -106), dequantize("db", "b", 0.03580992, -120),
                           node(op, "s", {"a": "da", "b": "db"}), quantize("y", "s", 0.03658597, -105)],
                           ("microsoft/onnxruntime#25512",)))  # fmt: skip
    return made


CODES = [0, 29, 61, 90, 118, 137, 150, 171, 200, 203, 230, 255]


def shared():
    """Gelu and RMSNorm as graphs, which ONNX Runtime replaces by one op unless they begin at a Dequantize with several readers,
    of which it makes copies."""
    made = []
    reals = [f32((code - 128) * f32(0.03)) for code in CODES]
    for name, first in (("dequantize", [dequantize("d", "x", 0.03, 128)]), ("float", [])):
        x = "d" if first else "x"
        given = {"x": tensor("uint8", CODES) if first else tensor("float32", reals)}
        about = "behind a Dequantize with two readers it stays several ops" if first else "becomes one op"
        half, root = tensor("float32", [0.5], (), True), tensor("float32", [f32(2**0.5)], (), True)
        gelu = [node("Divide", "v", {"a": x, "b": "root"}), node("Erf", "e", {"x": "v"}), node("Add", "s", {"a": "e", "b": "one"}),
                node("Multiply", "m", {"a": x, "b": "s"}), node("Multiply", "y", {"a": "m", "b": "half"})]
        one = tensor("float32", [1.0], (), True)
        made.append(graph(f"gelu-{name}", f"x / 2 * (1 + erf(x / sqrt 2)): {about}", ("fusion", "float operations"),
                          {**given, "root": root, "one": one, "half": half}, [*first, *gelu]))
        four = (0, 3, 7, 10)
        codes = tensor("uint8", [CODES[i] for i in four], (1, 4)) if first else tensor("float32", [reals[i] for i in four], (1, 4))
        norm = [node("Pow", "p", {"a": x, "b": "two"}), node("ReduceMean", "r", {"x": "p"}, axes=[-1], keep_dims=True),
                node("Add", "a", {"a": "r", "b": "eps"}), node("Sqrt", "q", {"x": "a"}), node("Divide", "n", {"a": x, "b": "q"}),
                node("Multiply", "y", {"a": "n", "b": "gamma"})]
        made.append(graph(f"rmsnorm-{name}", f"x / sqrt(mean of x^2): {about}", ("fusion", "float operations"),
                          {"x": codes, "two": tensor("float32", [2.0], (), True), "eps": tensor("float32", [f32(1e-5)], (), True),
                           "gamma": tensor("float32", list(map(f32, (-1.7382663, 0.35161713, 0.8936, 1.3366427))), (4,), True)},
                          [*first, *norm]))  # fmt: skip
    steps = [("a", "b")[i % 3 == 1] for i in range(65)]
    made.append(graph("concat-65", "65 values, as of the steps of a recurrence, become one", ("limit",),
                      {"a": tensor("float32", [0.5]), "b": tensor("float32", [-1.0])},
                      [{"op": "Concat", "name": "c", "inputs": {"xs": steps}, "attrs": {"axis": 0}}, quantize("y", "c", 0.5)]))
    return made


def groups():
    return moved() + products() + quantized_products() + pairs() + shared()
