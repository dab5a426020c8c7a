#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules on whole networks: no finding in networks that a backend is known to accept, and findings
in neural-network ops that it refuses.

    test_network_cases.py QDQ_BINARY

A case is a graph and, for some targets, the rules that it breaks.
"""

from cases import given, graph_of, main, ones, run

F32, F16, BF16, I8 = "float32", "float16", "bfloat16", "int8"
CLEAN = {"onnx": [], "onednn": [], "tensorrt": [], "tripy": []}


def pair(name, x, **attrs):
    """Quantize and Dequantize."""
    attrs = attrs or {"scales": 0.5}
    return [("Quantize", f"{name}_q", {"x": x}, {**attrs, "dtype": I8}),
            ("Dequantize", f"{name}_d", {"x": f"{name}_q"}, {**attrs, "dtype": F32})]


def channels(axis, count):
    return {"qtype": "per_channel", "axis": axis, "scales": [0.5] * count}


def one(op, attrs=None, output=None, **ports):
    """A graph of one node; ports are pairs of dtype and shape."""
    return graph_of({name: given(*port) for name, port in ports.items()},
                    [(op, "y", {name: name for name in ports}, attrs or {})],
                    output or ["y"])


def concat(dtype):
    return graph_of({"a": given(dtype, [2, 4]), "b": given(dtype, [2, 4])},
                    [("Concat", "y", {"xs": ["a", "b"]}, {"axis": 0})], ["y"])


CONV = {"strides": [1, 1], "dilations": [1, 1], "data_format": "NCX"}
SHAPES = {"OIX": [8, 4, 3, 3], "XIO": [3, 3, 4, 8], "IOX": [4, 8, 3, 3], "XOI": [3, 3, 8, 4]}


def conv(weights_format, axis):
    """A Convolution, or ConvTranspose, of 4 to 8 channels with weights per channel along `axis`."""
    shape = SHAPES[weights_format]
    op = "Convolution" if weights_format in ("OIX", "XIO") else "ConvTranspose"
    return graph_of(
        {"x": given(F32, [1, 4, 8, 8]), "w": ones(I8, shape)},
        [*pair("x", "x"),
         ("Dequantize", "w_d", {"x": "w"}, {**channels(axis, shape[axis]), "dtype": F32}),
         (op, "y", {"x": "x_d", "weights": "w_d"}, {**CONV, "weights_format": weights_format})],
        ["y"])


def product(axis, transpose=False, x="x_d", weights="w_d", w=I8, **attrs):
    attrs = attrs or channels(axis, 4 if (axis % 2 == 1) != transpose else 64)
    return graph_of(
        {"x": given(F32, [2, 64]), "w": ones(w, [4, 64] if transpose else [64, 4])},
        [*(pair("x", "x") if x == "x_d" else []),
         *([("Dequantize", "w_d", {"x": "w"}, {**attrs, "dtype": F32})] if weights == "w_d" else []),
         ("MatMul", "y", {"a": x, "b": weights}, {"transpose_b": transpose})], ["y"])


def float_weights(*between):
    """A product of a quantized input and float weights, with the ops `between` them."""
    return graph_of({"x": given(F32, [2, 64]), "w": ones(F32, [64, 4])},
                    [*pair("x", "x"), *between,
                     ("MatMul", "y", {"a": between[-1][1] if between else "x_d", "b": "w"}, {})],
                    ["y"])


ATTENTION = graph_of(
    {name: given(F32, [1, 2, 16, 32]) for name in "qkv"} | {"scale": ones(F32, [], 0.25)},
    [*pair("q", "q"), *pair("k", "k"), *pair("v", "v"),
     ("MatMul", "scores", {"a": "q_d", "b": "k_d"}, {"transpose_b": True}),
     ("Multiply", "scaled", {"a": "scores", "b": "scale"}, {}),
     ("SoftMax", "p", {"x": "scaled"}, {"axis": -1}), *pair("p", "p"),
     ("MatMul", "o", {"a": "p_d", "b": "v_d"}, {}),
     ("StaticTranspose", "t", {"x": "o"}, {"order": [0, 2, 1, 3]}), *pair("o", "t")], ["o_d"])

# The product reads w transposed, so its rows are output channels.
TRANSPOSED = graph_of(
    {"x": given(F32, [4, 32]), "w": ones(F32, [16, 32])},
    [*pair("x", "x"), ("StaticTranspose", "wt", {"x": "w"}, {"order": [1, 0]}),
     *pair("w", "wt", **channels(1, 16)), ("MatMul", "y", {"a": "x_d", "b": "w_d"}, {})], ["y"])


def moved(dtype, *behind):
    return graph_of({"w": ones(F32, [4, 64])},
                    [("Quantize", "q", {"x": "w"}, {"scales": 0.5, "dtype": dtype}),
                     ("StaticReshape", "r", {"x": "q"}, {"shape": [64, 4], "special_zero": False}),
                     *behind], [behind[-1][1] if behind else "r"])


DEQUANTIZE = ("Dequantize", "y", {"x": "r"}, {"scales": 0.5, "dtype": F32})
INT4 = {"qtype": "per_group", "group_shape": [64, 1], "scales": [0.5] * 4}
AXIS = {target: [f"{target}/weight-axis"] for target in ("onednn", "tensorrt")}
HALF = {"tensorrt": ["tensorrt/both-quantized"], "onednn": []}

CASES = [
    ("attention with pairs in front of its products is fine", ATTENTION, CLEAN),
    ("weights that are transposed before they are quantized are fine", TRANSPOSED, CLEAN),
    # TensorRT's guide to explicit quantization wants the scales along the output channels.
    *((f"weights {word} have their channels on dim {axis}", conv(word, axis), CLEAN)
      for word, axis in [("OIX", 0), ("XIO", 3), ("IOX", 1), ("XOI", 2)]),
    *((f"weights {word} have no channels on dim {axis}", conv(word, axis),
       {**CLEAN, "tensorrt": AXIS["tensorrt"]})
      for word, axis in [("OIX", 1), ("XIO", 2), ("IOX", 0), ("XOI", 3)]),
    ("b has its channels on the last dim", product(1), CLEAN),
    ("also counted from the end", product(-1), {"tensorrt": ["tensorrt/axis-counts-from-0"]}),
    ("b has no channels on the first dim", product(0), {**CLEAN, **AXIS}),
    ("a transposed b has its channels on the first dim", product(0, True), CLEAN),
    ("a transposed b has none on the last dim", product(1, True), {**CLEAN, **AXIS}),
    # The same guide wants all inputs of a weighted op quantized.
    ("weights alone of int8 are half a quantized product", product(1, x="x"), HALF),
    ("weights alone of int4 are fine", product(1, x="x", w="int4", **INT4), {"tensorrt": []}),
    ("float weights are half a quantized product", float_weights(), HALF),
    ("of what comes behind a ReLU nothing is said",
     float_weights(("ReLU", "r", {"x": "x_d"}, {})), CLEAN),
    ("a product of floats is fine", product(1, x="x", weights="w", w=F32), CLEAN),
    # Ops that move quantized values.
    ("int4 does not leave the graph by a StaticReshape", moved("int4"),
     {"tensorrt": ["tensorrt/no-int4-output"],
      "tripy": ["tripy/int4-of-constant", "tripy/no-int4-output"]}),
    ("int4 that is dequantized behind it is fine", moved("int4", DEQUANTIZE),
     {"tensorrt": [], "tripy": ["tripy/int4-of-constant"]}),
    ("oneDNN moves no int8", moved(I8, DEQUANTIZE), {**CLEAN, "onednn": ["onednn/moved-dtype"]}),
    # The dtypes of data movement in oneDNN's schemas.
    *((f"oneDNN moves {dtype}", concat(dtype), {"onednn": []}) for dtype in (F32, F16, BF16)),
    *((f"oneDNN moves no {dtype}", concat(dtype), {"onednn": ["onednn/moved-dtype"]})
      for dtype in (I8, "int4", "int32", "bool", "float8_e4m3fn")),
    ("oneDNN counts along no int8", one("GenIndex", {"axis": 0}, x=(I8, [2, 3])),
     {"onednn": ["onednn/moved-dtype"]}),
    # Ops that oneDNN Graph's CPU backend runs outside of fused patterns.
    *((f"oneDNN rounds no {dtype}", one("Round", x=(dtype, [4])),
       {"onednn": ["onednn/round-dtype"]}) for dtype in (F16, BF16)),
    *((f"oneDNN takes {op} of bfloat16", one(op, x=(BF16, [4, 4])), {"onednn": []})
      for op in ("Abs", "Exp", "GELU", "Mish", "ReLU", "SoftMax", "LogSoftmax", "Tanh")),
    *((f"oneDNN normalizes {'the last dim' if axis in (-1, 2) else 'no others'}: {axis}",
       one("LayerNorm", {"begin_norm_axis": axis, "keep_stats": False}, x=(F32, [2, 3, 4])),
       {"onednn": [] if axis in (-1, 2) else ["onednn/norm-axis"]}) for axis in range(-3, 3)),
    *((f"oneDNN normalizes {rank} dims" if 2 <= rank <= 5 else f"oneDNN normalizes no {rank} dims",
       one("LayerNorm", {"keep_stats": False}, x=(F32, [2] * rank)),
       {"onednn": [] if 2 <= rank <= 5 else ["onednn/norm-rank"]}) for rank in range(1, 7)),
    ("RMSNorm has no such bounds", one("RMSNorm", {"begin_norm_axis": 0}, x=(F32, [4])),
     {"onednn": []}),
    ("oneDNN scales groups by float32", one("GroupNorm", {"groups": 2, "keep_stats": False},
                                            x=(BF16, [2, 3, 4]), gamma=(F32, [4]), beta=(F32, [4])),
     {"onednn": []}),
    ("oneDNN scales no groups by bfloat16",
     one("GroupNorm", {"groups": 2, "keep_stats": False}, x=(BF16, [2, 3, 4]), gamma=(BF16, [4]),
         beta=(BF16, [4])), {"onednn": ["onednn/norm-dtype"]}),
]

DROPOUT = ["onednn/dropout-dtypes", "onednn/not-alone"]
NUMBERS = {"seed": given("int64", []), "offset": given("int64", []), "probability": given(F32, [])}
CASES.append(("oneDNN fuses Dropout with the product in front of it", graph_of(
    {"a": given(F32, [2, 3]), "b": given(F32, [3, 4]), **NUMBERS},
    [("MatMul", "m", {"a": "a", "b": "b"}, {}),
     ("Dropout", "y", {"x": "m", **{name: name for name in NUMBERS}}, {})], ["y"]),
    {**CLEAN, "tensorrt": ["tensorrt/no-dropout"], "tripy": ["tripy/op-unknown"]}))
CASES += [
    (f"oneDNN drops out by {seed}, {offset} and {p}",
     one("Dropout", x=(BF16, [2, 3]), seed=(seed, []), offset=(offset, []), probability=(p, [])),
     {"onednn": DROPOUT if (seed, offset, p) != ("int64", "int64", F32) else DROPOUT[1:]})
    for seed in ("int32", "int64") for offset in ("int32", "int64") for p in (F32, BF16)]


def outcomes(qdq, folder):
    for name, graph, targets in CASES:
        for target, wanted in targets.items():
            report = run(qdq, graph, folder, "check", "--target", target)
            found = [one["rule"] for one in report["findings"] if not one["rule"].endswith("/bits-unknown")]
            yield f"{target}: {name}", "" if found == wanted else f"found {found}, wanted {wanted}"


if __name__ == "__main__":
    main(__doc__, outcomes)
