# SPDX-License-Identifier: Apache-2.0
"""Makes the models of targets tensorrt and tripy: 4-bit blocks, float8, NVFP4 and MXFP8."""

import numpy as np

from common import float32, spread, write_model
from folder import node


TENSORRT, TRIPY = {"target": "tensorrt"}, {"target": "tripy"}


def pair(label, x, dtype, **attrs):
    """Quantize and Dequantize with the same parameters."""
    return [
        node("Quantize", label, {"x": x}, **attrs, dtype=dtype),
        node("Dequantize", label + "_restored", {"x": label}, **attrs, dtype="float32"),
    ]


def restored(labels):
    """Tripy cannot output int4."""
    return {label: label + "_restored" for label in labels}


def make_tripy():
    ones = {
        "block": {"qtype": "per_group", "group_shape": [2, 1], "scales": [[1] * 4] * 2},
        "per_tensor": {"scales": 1},
        "axis_0": {"qtype": "per_channel", "axis": 0, "scales": [1] * 4},
        "axis_1": {"qtype": "per_channel", "axis": 1, "scales": [1] * 4},
    }
    write_model(
        "tripy_int4_ones",
        "Tripy's integration test of int4: ones, in blocks of two rows, per tensor, per channel.",
        {"x": np.ones((4, 4), np.float32)},
        [n for label, attrs in ones.items() for n in pair(label, "x", "int4", **attrs)],
        restored(ones),
        {name: np.ones((4, 4)) for name in ones}, **TRIPY,
    )
    linear = {
        "block": {"qtype": "per_group", "group_shape": [4, 1], "scales": [[1] * 4] * 2},
        "per_tensor": {"scales": 1},
        "axis_0": {"qtype": "per_channel", "axis": 0, "scales": [1] * 8},
        "axis_1": {"qtype": "per_channel", "axis": 1, "scales": [1] * 4},
    }
    write_model(
        "tripy_int4_linear_weights",
        "The weights of Tripy's int4 Linear test: ones [8, 4], in blocks of four rows and others.",
        {"w": np.ones((8, 4), np.float32)},
        [n for label, attrs in linear.items() for n in pair(label, "w", "int4", **attrs)],
        restored(linear),
        {name: np.ones((8, 4)) for name in linear}, **TRIPY,
    )

    # Blocks of three rows with different scales, so that i // 3 and i % 3 give different numbers.
    w = spread((6, 5))
    scales = [[0.5, 0.25, 1, 0.75, 0.6], [0.3, 2, 0.125, 0.4, 0.9]]
    rows = np.repeat(float32(scales), 3, axis=0)
    blocks = {"qtype": "per_group", "group_shape": [3, 1], "scales": scales}
    write_model(
        "tripy_int4_blocks",
        "Tripy's block-wise int4 with scales that differ: row i has scale row i // 3.",
        {"w": w}, pair("q", "w", "int4", **blocks), restored(["q"]),
        {"q": np.clip(np.rint(w / rows), -8, 7) * rows}, **TRIPY,
    )

    channels = {"qtype": "per_channel", "axis": 0}
    small = {"dtype": "float8_e4m3fn"}
    real = {"dtype": "float32"}
    write_model(
        "tripy_float8",
        "Tripy's integration tests of float8, per tensor and per channel.",
        {"x": float32([1, 2]), "rows": float32([[1, 2], [3, 4]]),
         "q": float32([1, 1]).astype("float8_e4m3fn"),
         "q_rows": np.ones((2, 2)).astype("float8_e4m3fn")},
        [
            node("Quantize", "a", {"x": "x"}, scales=0.5, **small),
            node("Quantize", "b", {"x": "rows"}, **channels, scales=[0.2, 0.1], **small),
            node("Dequantize", "c", {"x": "q"}, scales=0.5, **real),
            node("Dequantize", "d", {"x": "q_rows"}, **channels, scales=[0.8, 0.9], **real),
        ],
        {"quantized": "a", "quantized_rows": "b", "restored": "c", "restored_rows": "d"},
        {"quantized": [2, 4], "quantized_rows": [[5, 10], [30, 40]], "restored": [0.5, 0.5],
         "restored_rows": [[0.8, 0.8], [0.9, 0.9]]}, **TRIPY,
    )
    write_model(
        "tripy_int8_halves",
        "Tripy's integration tests of int8 with one scale, 0.5.",
        {"x": float32([1, 2]), "q": np.int8([4, 8])},
        [
            node("Quantize", "a", {"x": "x"}, scales=0.5, dtype="int8"),
            node("Dequantize", "b", {"x": "q"}, scales=0.5, **real),
        ],
        {"quantized": "a", "restored": "b"},
        {"quantized": [2, 4], "restored": [2, 4]}, **TRIPY,
    )


def make_block_float8():
    """The mantissa of this float8 rounds 25 to 24 and 35 to 36."""
    x = float32([[5, 10, 15, 20], [25, 30, 35, 40]])
    blocks = {"qtype": "per_group", "group_shape": [2, 1]}
    write_model(
        "tensorrt_block_float8",
        "Blocks of two rows of float8, as in the tests of TensorRT's dialect: what is 25 and 35 is "
        "rounded.",
        {"x": x, "y": 2 * x, "scale": float32([[2, 2, 2, 2]])},
        [
            node("Quantize", "q", {"x": "x"}, **blocks, scales=[[1, 1, 1, 1]],
                 dtype="float8_e4m3fn"),
            node("Dequantize", "restored", {"x": "q", "scale": "scale"}, **blocks,
                 dtype="float32"),
            *pair("ones", "y", "float8_e4m3fn", **blocks, scales=[[1, 1, 1, 1]]),
        ],
        {"restored": "restored", "ones_restored": "ones_restored"},
        dict.fromkeys(["restored", "ones_restored"], [[10, 20, 30, 40], [48, 60, 72, 80]]),
        **TENSORRT,
    )


def make_nvfp4():
    x = float32([
        [0, 0.3, 0.6, 1, 1.3, 1.6, 1.9, 2.3, 2.6, 2.9, 3.2, 3.5, 3.9, 4.2, 4.5, 4.8,
         5.2, 5.5, 5.8, 6.1, 6.5, 6.8, 7.1, 7.4, 7.7, 8.1, 8.4, 8.7, 9, 9.4, 9.7, 10],
        [3, 3.3, 3.6, 4, 3.3, 3.6, 3.9, 3.3, 2.6, 2.9, 3.2, 3.5, 3.9, 4.2, 4.5, 4.8,
         -5.2, -5.5, -5.8, -6.1, -5.5, -5.8, 5.1, 5.4, 5.7, 5.1, 5.4, 5.7, 6, 6.4, 4.7, 6],
    ])
    row0 = [0, 0.40625, 0.40625, 0.8125, 1.21875, 1.625, 1.625, 2.4375, 2.4375, *[3.25] * 4,
            *[4.875] * 3, *[4.875] * 2, *[6.5] * 8, *[9.75] * 6]
    row1 = [*[3.25] * 8, 2.4375, *[3.25] * 4, *[4.875] * 3, -4.5, -4.5, -6.75, -6.75, -4.5, -6.75,
            4.5, 4.5, 6.75, 4.5, 4.5, 6.75, 6.75, 6.75, 4.5, 6.75]
    blocks = {"qtype": "per_group", "group_shape": [1, 16]}
    dynamic = {**blocks, "scheme": "nvfp4", "dtype": "float4_e2m1"}
    scales = [[0.8125, 1.625], [0.8125, 1.125]]
    for name, about, overall, results in (
        ("tensorrt_nvfp4", "TensorRT's NVFP4 example: DynamicQuantize, and two Dequantize.", 1,
         {"scale": scales, "restored": [row0, row1]}),
        ("tensorrt_nvfp4_global_scale", "The same with a scale of the scales, 1/4: they are four "
         "times as large.", 0.25, {"scale": 4 * float32(scales), "restored": [row0, row1]}),
    ):
        write_model(
            name, about,
            {"x": x},
            [
                node("DynamicQuantize", "q", {"x": "x"}, **dynamic, global_scales=overall),
                node("Dequantize", "scale", {"x": "q.scale"}, scales=overall, dtype="float32"),
                node("Dequantize", "restored", {"x": "q", "scale": "scale"}, **blocks,
                     dtype="float32"),
            ],
            {"q": "q", "scale": "q.scale", "restored": "restored"}, results, **TENSORRT,
        )
    write_model(
        "tensorrt_nvfp4_constant",
        "A tensor of 3.9, which 0.625 * 6 restores to 3.75; a tensor of zeros.",
        {"x": np.full((2, 32), 3.9, np.float32), "zero": np.zeros((2, 32), np.float32)},
        [
            node("DynamicQuantize", "q", {"x": "x"}, **dynamic, global_scales=1),
            node("Dequantize", "scale", {"x": "q.scale"}, scales=1, dtype="float32"),
            node("Dequantize", "restored", {"x": "q", "scale": "scale"}, **blocks,
                 dtype="float32"),
            node("DynamicQuantize", "z", {"x": "zero"}, **dynamic, global_scales=1),
        ],
        {"scale": "q.scale", "restored": "restored", "zero_scale": "z.scale", "zero": "z"},
        {"scale": np.full((2, 2), 0.625), "restored": np.full((2, 32), 3.75),
         "zero_scale": np.ones((2, 2)), "zero": np.zeros((2, 32))}, **TENSORRT,
    )


def make_mxfp8():
    codes = {0: 0, 3: 120, 4: 121, 7: 121, 8: 122, 448: 127, 480: 128}
    x = spread((len(codes), 32)) / np.float32(4)
    for row, most in zip(x, codes):
        row *= np.float32(most)
        row[9] = most
    x = np.stack([x, -x], axis=1).reshape(7, 64)
    blocks = {"qtype": "per_group", "group_shape": [1, 32]}
    made = write_model(
        "tensorrt_mxfp8",
        "TensorRT's MXFP8: the scale of 32 elements is rounded up to a power of two.",
        {"x": x},
        [
            node("DynamicQuantize", "q", {"x": "x"}, **blocks, scheme="mx_rceil",
                 dtype="float8_e4m3fn"),
            node("Dequantize", "restored", {"x": "q", "scale": "q.scale"}, **blocks,
                 dtype="float32"),
        ],
        {"q": "q", "scale": "q.scale", "restored": "restored"}, {}, **TENSORRT,
    )
    wanted = [[code, code] for code in codes.values()]
    assert made["scale"].view(np.uint8).tolist() == wanted
    assert np.all(np.abs(made["restored"] - x) <= np.abs(x) / 16 + np.ldexp(1.0, -10) *
                  np.repeat(made["scale"].astype(np.float64), 32, axis=1))


def make():
    make_tripy()
    make_block_float8()
    make_nvfp4()
    make_mxfp8()
