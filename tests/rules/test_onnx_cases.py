#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizing nodes that ONNX Runtime 1.29.0 and 1.31.1 run or refuse, as they were seen to do on a
CPU, with all optimizations and with none.

    test_onnx_cases.py QDQ_BINARY
"""

from cases import given, main, one, ones, run, size_of

SHAPES = {"onnx/scale-shape", "onnx/zero-point-shape"}
LISTS = [[], [1], [1, 1], [2], [4], [1, 2], [1, 4], [2, 1], [2, 2], [4, 1], [1, 2, 2], [2, 2, 1],
         [1, 1, 4]]


def layout(x, qtype="per_tensor", **attrs):
    return x, {"qtype": qtype, **attrs}


# A layout of x, the shapes of scales that run, and those of zero points. Any two of them run.
PARAMETERS = [
    (layout([2, 4]), [[], [1]], [[], [1]]),
    (layout([4]), [[], [1]], [[], [1]]),
    (layout([]), [[], [1]], [[], [1]]),
    (layout([2, 4], "per_channel", axis=1), [[4]], [[4]]),
    (layout([2, 4], "per_channel", axis=-1), [[4]], [[4]]),
    (layout([2, 4, 3], "per_channel", axis=1), [[4]], [[4]]),
    (layout([4], "per_channel", axis=0), [[4]], [[4]]),
    (layout([2, 1], "per_channel", axis=1), [[], [1]], [[], [1]]),
    (layout([2, 4], "per_group", group_shape=[1, 2]), [[2, 2]], [[2, 2]]),
    (layout([2, 4], "per_group", group_shape=[1, 3]), [[2, 2]], [[2, 2]]),
    (layout([2, 4], "per_group", group_shape=[1, 4]), [[2, 1]], [[2, 1]]),
    (layout([2, 4], "per_group", group_shape=[2, 1]), [[1, 4]], [[1, 4]]),
    (layout([1, 4], "per_group", group_shape=[1, 4]), [[1, 1]], [[1, 1]]),
    (layout([4], "per_group", group_shape=[2]), [[2]], [[2]]),
]


def parameter_cases():
    for (shape, attrs), scales, zeros in PARAMETERS:
        for op, x, y in (("Quantize", "float32", "int8"), ("Dequantize", "int8", "float32")):
            count = size_of(scales[0])
            for scale in LISTS:
                for zero in [None, *LISTS]:
                    if size_of(scale) != count or zero and size_of(zero) not in (1, count):
                        continue  # the core counts them
                    ports = {"scale": given("float32", scale)}
                    if zero is not None:
                        ports["zero_point"] = ones("int8", zero, 0)
                    runs = scale in scales and (zero is None or zero in zeros)
                    yield (f"{op} {shape} {attrs} {scale} {zero}", SHAPES, runs,
                           one(op, given(x, shape), {**attrs, "dtype": y}, **ports))


KERNELS = {"ort/quantize-kernel", "ort/dequantize-kernel"}
CODES = ["int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2", "float8_e4m3fn",
         "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float4_e2m1"]
SCALES = ["float32", "float16", "bfloat16", "float8_e8m0"]
HALF_AND_FLOAT = ["float32", "float16"]


def dtype_cases():
    """1.31.1 alone: 1.29.0 dequantizes to the dtype of the scale."""
    for codes in CODES:
        for x in ["float32", "float16", "bfloat16", "int32"]:
            for scale in SCALES:
                runs = codes != "float4_e2m1" and x == scale and x in HALF_AND_FLOAT
                yield (f"Quantize {x} by {scale} to {codes}", KERNELS, runs,
                       one("Quantize", given(x, [2, 4]), {"dtype": codes}, scale=given(scale, [])))
    for codes in [*CODES, "int32"]:
        for y in ["float32", "float16", "bfloat16"]:
            for scale in SCALES:
                runs = codes != "float4_e2m1" and y in HALF_AND_FLOAT and scale in HALF_AND_FLOAT
                yield (f"Dequantize {codes} by {scale} to {y}", KERNELS, runs,
                       one("Dequantize", given(codes, [2, 4]), {"dtype": y}, scale=given(scale, [])))
    yield ("one block of a list", {"ort/one-block"}, False,
           one("Quantize", given("float32", [4]), {"qtype": "per_group", "group_shape": [4],
                                                   "dtype": "int8"}, scale=given("float32", [1])))


def outcomes(qdq, folder):
    for name, rules, runs, graph in (*parameter_cases(), *dtype_cases()):
        report = run(qdq, graph, folder, "check", "--target", "ort@1.31-vnni")
        errors = {one["rule"] for one in report["findings"] if one["severity"] == "error"}
        fine = not errors if runs else errors and errors <= rules | {"core/scale-count",
                                                                     "core/zero-point-count"}
        yield name, "" if fine else f"errors {errors}, and the backend {'runs' if runs else 'refuses'} it"


if __name__ == "__main__":
    main(__doc__, outcomes)
