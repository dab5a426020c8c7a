# SPDX-License-Identifier: Apache-2.0
"""Groups of integer products, and of products, sums and means whose results are quantized again."""

from group import Group
from tensor import f32, tensor

TITLE = "Integer products, and ops on codes that quantize their results again"


def group(name, op, about, provokes, inputs, bugs=(), **attributes):
    return Group(f"product/{name}", op, about, provokes, inputs, attributes, bugs)


def one(dtype, value, constant=True):
    """A scalar."""
    return tensor(dtype, [value], (), constant)


def scales(**values):
    return {port: one("float32", f32(value)) for port, value in values.items()}


def integer():
    made = []
    pair = {"a": tensor("uint8", [255, 255, 255, 255], (1, 4)), "b": tensor("int8", [127, 127, -128, -128], (4, 1), True)}
    made.append(group("pairs-u8s8", "MatMulInteger",
                      "pairs of products are 64770 and -65280: without VNNI each saturates to int16", ("pair saturation",), pair,
                      ("uxlfoundation/oneDNN#518", "microsoft/onnxruntime#16105", "microsoft/onnxruntime#24711")))  # fmt: skip
    two = {"a": tensor("uint8", [255, 255], (1, 2)), "b": tensor("int8", [127, 127], (2, 1), True)}
    made.append(group("pair-518", "MatMulInteger", "255 x 127 twice is 64770; saturated to int16 32767", ("pair saturation",),
                      two, ("uxlfoundation/oneDNN#518",)))
    for a_dtype, b_dtype in (("uint8", "int8"), ("uint8", "uint8"), ("int8", "uint8")):
        low, high = (0, 255) if a_dtype == "uint8" else (-128, 127)
        below, top = (0, 255) if b_dtype == "uint8" else (-128, 127)
        for a_zero, b_zero in ((high, top), (low + 120, below + 133)):
            matrices = {"a": tensor(a_dtype, [low, high, low + 1, high - 1, low, high, high, low], (2, 4)),
                        "b": tensor(b_dtype, [below, top, top, below, top - 1, below + 1, top, top], (4, 2), True),
                        "a_zero_point": one(a_dtype, a_zero), "b_zero_point": one(b_dtype, b_zero)}  # fmt: skip
            bugs = ("microsoft/onnxruntime#7524", "iree-org/iree#24583") if (a_zero, b_zero) != (0, 0) else ()
            made.append(group(f"zero-points-{a_dtype}-{b_dtype}-{a_zero}-{b_zero}", "MatMulInteger",
                              "b - b_zero_point leaves the range of its dtype; both zero points count",
                              ("zero point", "wrap", "pair saturation"), matrices, bugs))
    columns = {"a": tensor("uint8", [1, 200, 255, 0], (1, 4)), "b": tensor("uint8", [0, 255, 128, 1, 7, 9, 200, 100], (4, 2), True),
               "a_zero_point": one("uint8", 9), "b_zero_point": tensor("uint8", [133, 1], (2,), True)}  # fmt: skip
    made.append(group("zero-point-columns", "MatMulInteger", "a zero point for each column of b", ("zero point", "axis"),
                      columns, ("microsoft/onnxruntime#25489",)))
    for x_dtype, zero in (("uint8", 128), ("int8", -128), ("uint8", 0)):
        low = 0 if x_dtype == "uint8" else -128
        image = {"x": tensor(x_dtype, [low + v for v in (0, 255, 1, 128, 200, 3, 90, 255, 7)], (1, 1, 3, 3)),
                 "w": tensor("int8", [127, -128, 64, 1], (1, 1, 2, 2), True), "x_zero_point": one(x_dtype, zero)}
        made.append(group(f"padding-conv-{x_dtype}-z{zero}", "ConvInteger",
                          "padding has the value of the zero point, so that it counts as 0",
                          ("padding with zero point", "pair saturation"), image,
                          pads_begin=[1, 1], pads_end=[1, 1]))  # fmt: skip
    return made


def linear():
    made = []
    ends = {"a": tensor("uint8", [1, 3, 5, 250, 255, 0], (3, 2)), "b": tensor("int8", [1, -1, 1, 127], (2, 2), True)}
    for y_dtype, y_zero in (("uint8", 128), ("int8", 1), ("uint8", 0)):
        for scale in (2.0, 0.1):
            own = {**ends, **scales(a_scale=1.0, b_scale=1.0, y_scale=scale), "a_zero_point": one("uint8", 0),
                   "b_zero_point": one("int8", 0), "y_zero_point": one(y_dtype, y_zero)}
            made.append(group(f"matmul-{y_dtype}-z{y_zero}-{scale:g}", "QLinearMatMul",
                              "sums are ties of the scale of y; the ends saturate", ("tie", "saturation", "reciprocal"), own))
    pairs = {"a": tensor("uint8", [255, 255, 255, 0], (1, 4)), "b": tensor("int8", [127, 127, 127, 127], (4, 1), True),
             **scales(a_scale=0.01, b_scale=0.01, y_scale=0.05),
             "a_zero_point": one("uint8", 0), "b_zero_point": one("int8", 0), "y_zero_point": one("uint8", 10)}  # fmt: skip
    made.append(group("matmul-pairs-u8s8", "QLinearMatMul", "pairs of products saturate to int16 without VNNI",
                      ("pair saturation",), pairs, ("microsoft/onnxruntime#16105",)))
    order = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "bias", "y_scale", "y_zero_point")
    gemm = {"a": tensor("uint8", [210, 198, 234], (1, 3)), "b": tensor("int8", [-81, -80, -80, -80, 127, 127], (3, 2), True),
            "bias": tensor("int32", [0, 0], (2,), True), **scales(a_scale=0.01, b_scale=0.01),
            "a_zero_point": one("uint8", 0), "b_zero_point": one("int8", 0)}  # fmt: skip
    gemm = {port: gemm[port] for port in order if port in gemm}
    made.append(group("gemm-pairs-u8s8", "QGemm", "weights of -81: pairs of products saturate to int16 without VNNI",
                      ("pair saturation",), gemm, ("microsoft/onnxruntime#16105",)))
    for alpha in (1, 2):
        own = {**gemm, "bias": tensor("int32", [7500, -11250], (2,), True)}
        made.append(group(f"gemm-alpha{alpha}", "QGemm", "alpha is a factor of the product, not of the bias", ("alpha",), own,
                          ("microsoft/onnxruntime#28130",), alpha=alpha))
    for zero, name in ((12, "parameter"), (0, "none")):
        for fixed in (True, False):
            x = {"x": tensor("uint8", [0, 255, 12, 13, 11, 200, 100, 50, 3, 7, 77, 254, 1, 2, 128, 127], (1, 1, 4, 4)),
                 "x_scale": one("float32", f32(0.05)), "x_zero_point": one("uint8", zero),
                 "w": tensor("uint8", [79, 79, 2, 227, 105, 87, 151, 9, 173], (1, 1, 3, 3), True),
                 "w_scale": one("float32", f32(0.01)), "w_zero_point": one("uint8", 128, fixed),
                 "y_scale": one("float32", f32(0.6)), "y_zero_point": one("uint8", 4)}  # fmt: skip
            made.append(group(f"conv-padding-{name}{'' if fixed else '-runtime'}", "QLinearConv",
                              "padding counts as 0; the weights' zero point is known before the run, or not",
                              ("padding with zero point", "constant parameters"), x,
                              ("onnx/onnx#3967",), strides=[1, 1], dilations=[1, 1], pads_begin=[1, 1],
                              pads_end=[1, 1]))  # fmt: skip
    for bias in (2147483647, -2147483648, 40000):
        x = {"x": tensor("uint8", [0, 255, 128, 1], (1, 1, 2, 2)), **scales(x_scale=0.5), "x_zero_point": one("uint8", 0),
             "w": tensor("int8", [1], (1, 1, 1, 1), True), **scales(w_scale=0.5), "w_zero_point": one("int8", 0),
             **scales(y_scale=1.0), "y_zero_point": one("uint8", 0), "bias": tensor("int32", [bias], (1,), True)}  # fmt: skip
        made.append(group(f"conv-bias{bias}", "QLinearConv", "a bias at the ends of int32: the sum wraps around",
                          ("wrap", "saturation"), x, ("microsoft/onnxruntime#11532", "microsoft/onnxruntime#11415")))
    return made


def elementwise():
    made = []
    add = scales(a_scale=0.025346905, b_scale=0.03580992, y_scale=0.03658597)
    for count in (1, 2, 33):
        own = {"a": tensor("int8", [-114] * count), "a_scale": add["a_scale"], "a_zero_point": one("int8", -106),
               "b": tensor("int8", [-122] * count), "b_scale": add["b_scale"], "b_zero_point": one("int8", -120),
               "y_scale": add["y_scale"], "y_zero_point": one("int8", -105)}  # fmt: skip
        made.append(group(f"add-{count}", "QLinearAdd",
                          "-112.50000794: -113; one element alone goes another way and gives -112", ("tie", "multiply-add"),
                          own, ("microsoft/onnxruntime#25512",)))
    row = {port: tensor(one.dtype, one.bits[:1], (1,), one.constant) if one.dtype != "float32" else
           tensor("float32", one.numbers(), (1,), True) for port, one in own.items()}  # fmt: skip
    made.append(group("add-scale-shape1", "QLinearAdd", "scales and zero points of the shape [1], which are no scalars: ONNX "
                      "Runtime refuses them", ("shape",), row))
    for op in ("QLinearAdd", "QLinearMul"):
        for dtype, zero in (("uint8", 128), ("int8", 1)):
            low = 0 if dtype == "uint8" else -128
            codes = [low + v for v in (0, 1, 2, 127, 128, 129, 254, 255, 3, 5, 7, 200)]
            own = {"a": tensor(dtype, codes), "a_scale": one("float32", 0.5), "a_zero_point": one(dtype, zero),
                   "b": tensor(dtype, codes[::-1]), "b_scale": one("float32", 0.25), "b_zero_point": one(dtype, zero),
                   "y_scale": one("float32", 0.5), "y_zero_point": one(dtype, zero)}  # fmt: skip
            made.append(group(f"{op[7:].lower()}-ties-{dtype}", op, "results that are ties, and beyond the range",
                              ("tie", "saturation"), own))
    pool = {"x": tensor("uint8", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 254, 253, 252, 251, 250], (1, 1, 4, 4)),
            "x_scale": one("float32", 0.5), "x_zero_point": one("uint8", 3), "y_scale": one("float32", f32(0.3)),
            "y_zero_point": one("uint8", 7)}
    for exclude in (True, False):
        made.append(group(f"average-exclude-{str(exclude).lower()}", "QLinearAveragePool",
                          "padding has the value of the zero point, and counts or not", ("padding with zero point", "tie"),
                          pool, strides=[2, 2], kernel=[2, 2],
                          pads_begin=[1, 1], pads_end=[1, 1], data_format="NCX", exclude_pad=exclude))  # fmt: skip
    made.append(group("global-average", "QLinearGlobalAveragePool", "the mean of 16 codes", ("tie", "fixed point"), pool,
                      data_format="NCX"))
    made.append(group("softmax", "QLinearSoftmax", "a table of exponentials", ("float operations",),
                      {"x": tensor("uint8", [0, 10, 20, 255, 254, 128, 3, 7], (2, 4)), "x_scale": one("float32", f32(0.05)),
                       "x_zero_point": one("uint8", 0),
                      "y_scale": one("float32", 1 / 256), "y_zero_point": one("uint8", 0)}))  # fmt: skip
    blocks = {"a": tensor("float32", [f32(0.1 * i - 1.55) for i in range(32)], (1, 32)),
              "b": tensor("uint4", [i % 16 for i in range(32)], (1, 32), True), "b_scale": tensor("float32", [0.5], (1, 1), True)}
    for level in (0, 4):
        made.append(group(f"nbits-level{level}", "MatMulNBits",
                          "a block of 32 weights of 4 bits; at level 4 a becomes int8, with ties half away",
                          ("tie", "input precision"), blocks, transpose_b=True, accuracy_level=level))
    to_float = {"a": tensor("uint8", [255, 255, 3, 0], (1, 4)), "b": tensor("int8", [127, 127, -3, 9], (4, 1), True),
                **scales(a_scale=0.1, b_scale=0.3), "a_zero_point": one("uint8", 1), "b_zero_point": one("int8", 0),
                "bias": tensor("float32", [f32(0.7)], (1,), True)}
    made.append(group("to-float", "MatMulIntegerToFloat", "the product of the scales and the bias round once or twice",
                      ("double rounding", "pair saturation"), to_float))
    return made


def groups():
    return integer() + linear() + elementwise()
