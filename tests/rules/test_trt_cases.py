#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules and results against the tests and documents of TensorRT, MLIR-TensorRT and Tripy.

    test_trt_cases.py QDQ_BINARY

A case is a graph of one or two nodes, with either the rules that it breaks at a target or the
numbers that it gives.
"""

from cases import blocks, channels, dequantize, given, graph_of, main, numbers, one, ones, quantize, run

# ---- Rules ----
# (name, target, graph, rules that it breaks; those of the core and warnings too)

F32, INT8 = "float32", "int8"


def returned(graph):
    """The graph with x as an output."""
    return {**graph, "outputs": graph["outputs"] + [{"name": "same", "value": "x"}]}


# The negative tests of Tripy's front end. In two of them the scale does not fit x: here a rule of
# the core finds that before the target's rules.
TRIPY = [
    ("quantize of int32", quantize(given("int32", [2]), scales=1), ["x-dtype", "quantized-output"]),
    ("quantize to float16", quantize(given(F32, [2]), "float16", scales=1), ["core/dtype-result"]),
    ("a dim with one scale", quantize(given(F32, [4, 4]), scales=0.5, **channels(0)),
     ["core/scale-count"]),
    ("a dim of one with a number", dequantize(given(INT8, [1, 4]), scales=0.5, **channels(0)),
     ["per-channel-scale"]),
    ("blocks of a list", dequantize(given("int4", [4]), scales=[1, 1], **blocks(2)),
     ["per-tensor-scale"]),
    ("a matrix of scales for rank 3",
     dequantize(given("int4", [1, 4, 4]), scale=ones(F32, [2, 4]), **blocks(1, 2, 1)), ["block-x"]),
    ("blocks of int8", quantize(given(F32, [4, 4]), scale=ones(F32, [2, 4]), **blocks(2, 1)),
     ["block-dtype", "quantized-output"]),
    ("blocks of int8 at rank 3: the rank comes first",
     dequantize(given(INT8, [1, 4, 4]), scale=ones(F32, [2, 4]), **blocks(1, 2, 1)), ["block-x"]),
    ("a list of scales without a dim", dequantize(given(INT8, [4, 4]), scales=[0.5]),
     ["per-tensor-scale"]),
    ("scales that are computed",
     dequantize(given(INT8, [4, 4]), scale=given(F32, [4]), **channels(0)), ["scale-is-constant"]),
    ("dequantize of float32", dequantize(given(F32, [2]), scales=0.9), ["core/port-dtype"]),
    ("dequantize to int32", dequantize(given(INT8, [2]), "int32", scales=1), ["core/dtype-result"]),
    ("a scale of another dtype", quantize(given(F32, [2]), scale=ones("float16", [])),
     ["scale-dtype", "quantized-output"]),
    ("a bfloat16 scale tensor", dequantize(given(INT8, [2]), "bfloat16", scale=ones("bfloat16", [])),
     []),
    ("a bfloat16 literal", dequantize(given(INT8, [2]), "bfloat16", scales=0.5), ["literal-scale"]),
    ("block int4 of the documents",
     dequantize(given("int4", [2, 2]), scales=[[1, 1]], **blocks(2, 1)), []),
    ("a matrix of one scale is a block", dequantize(given("int4", [4, 4]), scale=ones(F32, [1, 1])),
     []),
    ("int4 with channels", dequantize(given("int4", [4, 4]), scales=[1] * 4, **channels(1)), []),
    ("an int4 input that is an output", returned(dequantize(given("int4", [4]), scales=1)),
     ["no-int4-output"]),
    ("an int4 constant that is an output", returned(dequantize(ones("int4", [4]), scales=1)),
     ["no-int4-output"]),
    ("an int8 input that is an output", returned(dequantize(given(INT8, [4]), scales=1)), []),
    ("a dim from the end", dequantize(given(INT8, [2, 2]), scales=[1, 1], **channels(-1)),
     ["dim-counts-from-0"]),
    ("float8 with channels",
     dequantize(given("float8_e4m3fn", [2, 2]), scales=[0.8, 0.9], **channels(0)), []),
]

# The tests of MLIR-TensorRT's verifier, and the layouts that TensorRT's pages show.
INT4_BLOCK = blocks(64, 1)
TENSORRT = [
    ("an int4 constant that is an output", returned(dequantize(ones("int4", [4]), scales=1)), "",
     ["no-int4-output"]),
    ("axis 2 of rank 2", dequantize(ones(INT8, [10, 10]), scales=[1] * 10, **channels(2)), "",
     ["core/axis-range"]),
    ("11 scales for 10", dequantize(ones(INT8, [10, 10]), scales=[1] * 11, **channels(0)), "",
     ["core/scale-count"]),
    ("a block scale with int8",
     dequantize(ones(INT8, [10, 10]), scale=ones(F32, [2, 10]), **blocks(5, 1)), "@10.12",
     ["no-int8-blocks"]),
    ("a scalar", dequantize(given(INT8, []), scales=1), "", ["x-is-no-scalar"]),
    ("blocks that do not divide",
     dequantize(ones("float8_e4m3fn", [10, 4]), scales=[1] * 12, **blocks(4, 1)), "",
     ["blocks-divide"]),
    ("int4 with an odd last dim, from 10.9 on",
     dequantize(ones("int4", [128, 3]), scale=ones(F32, [2, 3]), **INT4_BLOCK), "@10.9", []),
    ("int4 with an odd last dim, before",
     dequantize(ones("int4", [128, 3]), scale=ones(F32, [2, 3]), **INT4_BLOCK), "@10.8",
     ["even-last-dim"]),
    ("float4 in blocks of 16 columns",
     dequantize(ones("float4_e2m1", [10, 80]), scale=ones(F32, [10, 5]), **blocks(1, 16)), "@10.8",
     []),
    ("a float32 scale to bfloat16",
     dequantize(given("float8_e4m3fn", [4]), "bfloat16", scale=ones(F32, [])), "@10.13", []),
    ("a float32 scale to bfloat16, before",
     dequantize(given("float8_e4m3fn", [4]), "bfloat16", scale=ones(F32, [])), "@10.12",
     ["float32-scale"]),
    ("a bfloat16 scale to bfloat16",
     dequantize(given(INT8, [4]), "bfloat16", scale=ones("bfloat16", [])), "@10.0", []),
    ("a float16 scale to bfloat16",
     dequantize(given(INT8, [4]), "bfloat16", scale=ones("float16", [])), "", ["scale-dtype-agrees"]),
    ("a scale of size 0 or below", quantize(given(F32, [4]), scale=numbers(F32, [], [0])), "",
     ["core/scale-value"]),
    ("a NaN among constant scales",
     quantize(ones(F32, [2, 2]), scale=numbers(F32, [2], [1, "NaN"]), **channels(0)), "",
     ["core/scale-value"]),
    ("a negative scale in the middle",
     quantize(ones(F32, [3, 2]), scale=numbers(F32, [3], [1, -1, 1]), **channels(0)), "",
     ["core/scale-negative", "scale-is-positive"]),
    ("a block as large as one element, before 10.15",
     dequantize(ones("int4", [2, 2]), scales=[1] * 4, **blocks(1, 1)), "@10.13", ["one-blocked-dim"]),
    ("blocks of two dims, with setBlockShape",
     dequantize(ones("float8_e4m3fn", [32, 32]), scale=ones(F32, [2, 2]), **blocks(16, 16)),
     "@10.15", ["needs-block-shape"]),
    ("per-channel activations", quantize(given(F32, [2, 2]), scales=[1, 2], **channels(1)), "",
     ["per-channel-is-for-weights"]),
    ("one channel is per tensor", quantize(given(F32, [2, 1]), scales=[2], **channels(1)), "", []),
    ("a run-time zero point", quantize(given(F32, [2]), scales=1, zero_point=given(INT8, [])), "",
     ["zero-point-is-constant"]),
    ("a constant zero point of 1",
     quantize(given(F32, [2]), scales=1, zero_point=numbers(INT8, [], [1])), "",
     ["zero-point-is-zero"]),
    ("block floats", dequantize(given(INT8, [4]), "bfloat8_b", scales=1), "", ["real-dtype"]),
    ("int16", dequantize(given("int16", [4]), scales=1), "", ["quantized-dtype"]),
    ("channels of Requantize",
     one("Requantize", given(INT8, [2, 2]), {"in_scales": [1, 2], "out_scales": 3, "axis": 0}), "",
     ["per-channel-is-for-weights", "no-requantize"]),
    ("zero points of Requantize",
     one("Requantize", given(INT8, [2]), {"in_scales": 1, "out_scales": 3, "out_zps": 4}), "",
     ["zero-point-is-zero", "no-requantize"]),
    ("Requantize of floats",
     one("Requantize", given(F32, [2]), {"in_scales": 1, "out_scales": 3, "dtype": INT8}), "",
     ["quantized-dtype", "no-requantize"]),
]

NVFP4 = {"scheme": "nvfp4", "dtype": "float4_e2m1", "global_scales": 0.5}
MXFP8 = {"scheme": "mx_rceil", "dtype": "float8_e4m3fn"}


def dynamic(shape, attrs):
    return one("DynamicQuantize", given(F32, shape), attrs)


DYNAMIC = [
    ("blocks of 32", dynamic([2, 32], {**NVFP4, **blocks(1, 32)}), "@10.13",
     ["dynamic-needs-11", "dynamic-block-size"]),
    ("axis 1 of rank 4", dynamic([2, 16, 16, 32], {**NVFP4, **blocks(1, 16, 1, 1)}), "@10.13",
     ["blocked-dim-is-late", "dynamic-needs-11", "dynamic-rank"]),
    ("a dim of 34", dynamic([2, 34], {**NVFP4, **blocks(1, 16)}), "@10.13",
     ["blocks-divide", "dynamic-needs-11"]),
    ("second to last dim", dynamic([3, 32, 6], {**NVFP4, **blocks(1, 16, 1)}), "@10.8",
     ["dynamic-needs-11"]),
    ("MXFP8 with a scale of the scales",
     dynamic([2, 32], {**MXFP8, **blocks(1, 32), "global_scales": 1}), "@10.12",
     ["core/attr-value"]),
    ("float8 in blocks of 16", dynamic([2, 32], {**MXFP8, **blocks(1, 16)}), "@10.12",
     ["dynamic-result", "dynamic-block-size"]),
    ("the default scheme and dtype", dynamic([2, 32], {}), "",
     ["dynamic-scheme", "dynamic-granularity", "default-dtype"]),
]

# A quantized activation, dequantized again.
NVFP4_ROUND_TRIP = graph_of(
    {"x": given(F32, [2, 32])},
    [("DynamicQuantize", "q", {"x": "x"}, {**NVFP4, **blocks(1, 16)}),
     ("Dequantize", "s", {"x": "q.scale"}, {"scales": 0.5, "dtype": F32}),
     ("Dequantize", "y", {"x": "q", "scale": "s"}, {"dtype": F32, **blocks(1, 16)})], ["y"])
MXFP8_ROUND_TRIP = graph_of(
    {"x": given(F32, [2, 32])},
    [("DynamicQuantize", "q", {"x": "x"}, {**MXFP8, **blocks(1, 32)}),
     ("Dequantize", "y", {"x": "q", "scale": "q.scale"}, {"dtype": F32, **blocks(1, 32)})], ["y"])
WHOLE = [(f"NVFP4 at {release}", NVFP4_ROUND_TRIP, release, ["dynamic-needs-11"])
         for release in ("@10.8", "@10.9", "@10.12", "@10.13", "@10.15")]
WHOLE += [(f"NVFP4 at {release}", NVFP4_ROUND_TRIP, release, []) for release in ("@11.0", "@11.4")]
WHOLE += [("MXFP8 at 10.12", MXFP8_ROUND_TRIP, "@10.12", ["dynamic-result"]),
          ("MXFP8 at 10.9", MXFP8_ROUND_TRIP, "@10.9",
           ["no-mxfp8", "no-e8m0-scale"])]

# ---- Numbers ----
# (name, target, graph, {output: its first 8 elements})

ROW_0 = [0, .3, .6, 1, 1.3, 1.6, 1.9, 2.3, 2.6, 2.9, 3.2, 3.5, 3.9, 4.2, 4.5, 4.8]
NUMBERS = [
    ("int8 per tensor", "tripy", quantize(numbers(F32, [2], [1, 2]), scales=0.5), {"y": [2, 4]}),
    ("int8 per channel", "tripy",
     quantize(numbers(F32, [2, 2], [1, 2, 3, 4]), scales=[0.2, 0.1], **channels(0)),
     {"y": [5, 10, 30, 40]}),
    ("float8 per channel", "tripy",
     quantize(numbers(F32, [2, 2], [1, 2, 3, 4]), "float8_e4m3fn", scales=[0.2, 0.1], **channels(0)),
     {"y": [5, 10, 30, 40]}),
    ("dequantize per tensor", "tripy", dequantize(numbers(INT8, [2], [4, 8]), scales=0.5),
     {"y": [2, 4]}),
    ("the reciprocal would give 17", "tensorrt",
     quantize(numbers(F32, [1], [2.5]), scales=1 / 7), {"y": [18]}),
    ("the reciprocal would give 64", "tensorrt",
     quantize(numbers(F32, [1], [6.5]), scales=13 / 127), {"y": [63]}),
    ("int8 reaches -128", "tensorrt",
     quantize(numbers(F32, [3], [-3.6, 6, 0.56]), scales=1 / 127), {"y": [-128, 127, 71]}),
    ("blocks are contiguous, and float8 rounds half to even", "tensorrt",
     quantize(numbers(F32, [2, 4], [10, 20, 30, 40, 50, 60, 70, 80]), "float8_e4m3fn",
              scales=[1] * 4, **blocks(2, 1)), {"y": [10, 20, 30, 40, 48, 60, 72, 80]}),
    ("rows of a block share a scale", "tensorrt",
     dequantize(ones("float8_e4m3fn", [4, 1]), scales=[4, 5], **blocks(2, 1)),
     {"y": [4, 4, 5, 5]}),
    ("E8M0 is rounded up from amax / 448", "tensorrt",
     graph_of({"x": numbers(F32, [7, 32], [v for m in (3, 4, 7, 8, 448, 480, 896)
                                           for v in [m] + [0] * 31])},
              [("DynamicQuantize", "y", {"x": "x"}, {**MXFP8, **blocks(1, 32)})], ["y.scale"]),
     {"y_scale": [2.0 ** (code - 127) for code in (120, 121, 121, 122, 127, 128, 128)]}),
    ("NVFP4 as in the tests of MLIR-TensorRT", "tensorrt",
     graph_of({"x": numbers(F32, [1, 16], ROW_0)},
              [("DynamicQuantize", "q", {"x": "x"}, {**NVFP4, "global_scales": 1, **blocks(1, 16)}),
               ("Dequantize", "s", {"x": "q.scale"}, {"scales": 1, "dtype": F32}),
               ("Dequantize", "y", {"x": "q", "scale": "s"}, {"dtype": F32, **blocks(1, 16)})],
              ["y", "s"]),
     {"s": [0.8125], "y": [0, .40625, .40625, .8125, 1.21875, 1.625, 1.625, 2.4375]}),
    ("a cast to int4 quantizes", "tripy",
     graph_of({"x": numbers(F32, [8], [-1, 0, 2.5, 9, -9, "NaN", "Infinity", 1.5])},
              [("Cast", "c", {"x": "x"}, {"dtype": "int4"}),
               ("Cast", "y", {"x": "c"}, {"dtype": F32})], ["y"]),
     {"y": [-1, 0, 2, 7, -8, -8, 7, 2]}),
    ("so does one of integers", "tripy",
     graph_of({"x": numbers("int32", [4], [7, 8, -9, 2147483647])},
              [("Cast", "c", {"x": "x"}, {"dtype": "int4"}),
               ("Cast", "y", {"x": "c"}, {"dtype": F32})], ["y"]),
     {"y": [7, 7, -8, 7]}),
    ("and back it is not 0", "tripy",
     graph_of({"x": numbers(F32, [4], [-1, 0, 0, 1])},
              [("Quantize", "q", {"x": "x"}, {"scales": 1, "dtype": "int4"}),
               ("Cast", "y", {"x": "q"}, {"dtype": "bool"})], ["y"]), {"y": [1, 0, 0, 1]}),
]


def outcomes(qdq, folder):
    cases = [(name, "tripy", graph, rules) for name, graph, rules in TRIPY]
    cases += [(name, f"tensorrt{release}", graph, rules)
              for name, graph, release, rules in TENSORRT + DYNAMIC + WHOLE]
    for name, target, graph, rules in cases:
        wanted = [rule if "/" in rule else f"{target.split('@')[0]}/{rule}" for rule in rules]
        report = run(qdq, graph, folder, "check", "--target", target)
        found = [one["rule"] for one in report["findings"] if not one["rule"].endswith("/bits-unknown")]
        yield f"{target}: {name}", "" if found == wanted else f"found {found}, wanted {wanted}"
    for name, target, graph, outputs in NUMBERS:
        report = run(qdq, graph, folder, "run", "--target", target)
        found = {output["name"]: output["first"] for output in report["outputs"]}
        yield f"{target}: {name}", "" if found == outputs else f"{found}, wanted {outputs}"


if __name__ == "__main__":
    main(__doc__, outcomes)
