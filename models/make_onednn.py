# SPDX-License-Identifier: Apache-2.0
"""Makes the models of target onednn: DynamicDequantize per group, and float8 that overflows."""

import numpy as np

from common import float32, spread, write_model
from dtypes import DTYPES
from folder import node, shortest

TARGET = {"target": "onednn"}


def make_groups():
    for bits, low, zero_dtype in (("int4", -8, "int4"), ("uint4", 0, "uint8")):
        codes = (np.arange(6 * 32) * 7 % 16 + low).reshape(6, 32).astype(DTYPES[bits])
        scales = np.abs(spread((6, 4))) / np.float32(8) + np.float32(0.01)
        zero = (np.arange(24) * 5 % 16 + low).reshape(6, 4)
        for dtype in ("bfloat16", "float16"):
            scale = scales.astype(DTYPES[dtype])
            # (-8 - 7) * 8192 overflows float16; 15 * 2^-24 is a denormal there.
            scale[5, :2] = [8192, 2.0**-24]
            if dtype == "bfloat16":
                scale[5, :2] = [3e38, 1e-38]  # infinite, and a product below 2^-126, which is 0
            rows = {"qtype": "per_group", "group_shape": [1, 8], "dtype": dtype}
            columns = {"qtype": "per_group", "group_shape": [3, 1], "dtype": dtype}
            inputs = {"q": codes, "scale": scale, "zero_point": zero.astype(DTYPES[zero_dtype]),
                      "column_scale": (np.abs(spread((2, 32))) / 4).astype(DTYPES[dtype])}
            write_model(
                f"onednn_dynamic_dequantize_{bits}_{dtype}",
                f"oneDNN's DynamicDequantize of {bits} weights per group, to {dtype}; numbers that "
                "overflow, and some below the normal ones.",
                inputs,
                [
                    node("Dequantize", "w", {"x": "q", "scale": "scale",
                                             "zero_point": "zero_point"}, **rows),
                    node("Dequantize", "plain", {"x": "q", "scale": "scale"}, **rows),
                    node("Dequantize", "columns", {"x": "q", "scale": "column_scale"}, **columns),
                ],
                {name: name for name in ("w", "plain", "columns")}, {}, **TARGET,
            )


def make_float8():
    inf, nan = np.inf, np.nan
    tables = {
        "float8_e4m3fn": {
            448: 0x7E, 464: 0x7E, 464.12: 0x7E, 464.125: 0x7E, 464.126: 0x7F, -464.126: 0xFF,
            1000: 0x7F, -inf: 0xFF, inf: 0x7F, nan: 0x7F, 2.0**-10: 0x00, -(2.0**-10): 0x80,
            2.0**-9: 0x01, 65536: 0x7F,
        },
        "float8_e5m2": {
            57344: 0x7B, 61423: 0x7B, 61424: 0x7C, -61424: 0xFC, 1e9: 0x7C, inf: 0x7C, -inf: 0xFC,
            nan: 0x7E, -61423: 0xFB, 1: 0x3C, 1.125: 0x3C, 1.375: 0x3E,
        },
    }
    for dtype, table in tables.items():
        name = dtype.removeprefix("float8_")
        made = write_model(
            f"onednn_float8_{name}",
            f"oneDNN's Quantize to {dtype} goes through float16, and does not saturate.",
            {"x": float32(list(table)), "spread": spread((4, 25)) * np.float32(300)},
            [
                node("Quantize", "q", {"x": "x"}, scales=1, dtype=dtype),
                node("Dequantize", "restored", {"x": "q"}, scales=1, dtype="float32"),
                node("Quantize", "rows", {"x": "spread"}, qtype="per_channel", axis=0,
                     scales=[0.7, 3, 0.001, 1.00001], dtype=dtype),
                node("Dequantize", "rows_restored", {"x": "rows"}, qtype="per_channel", axis=0,
                     scales=[0.7, 3, 0.001, 1.00001], dtype="float32"),
            ],
            {n: n for n in ("q", "restored", "rows", "rows_restored")}, {}, **TARGET,
        )
        assert made["q"].view(np.uint8).tolist() == list(table.values()), made["q"].view(np.uint8)


def make_quantize():
    """By the reciprocal, 2.5 * 7 lands on the other side of a tie and 6.5 * 127 / 13 on one. The
    zero point is added before rounding, and scales within 1e-6 of 1 count as 1."""
    reciprocals = shortest(float32([1, 13]) / float32([7, 127]))
    nan, inf = np.nan, np.inf
    halves = float32([0.5, 1.5, 2.5, -0.5, -1.5, 3.5, nan, inf, -inf])
    near = float32([100.5, 101.5, -100.5])
    channels = {"qtype": "per_channel", "axis": 0, "dtype": "int8"}
    write_model(
        "onednn_quantize",
        "oneDNN's Quantize: x times 1 / scale, the zero point added before rounding.",
        {"rows": float32([[2.5, -2.5], [6.5, -6.5]]), "halves": halves, "near": near,
         "scale": float32([1.0000005])},
        [
            node("Quantize", "reciprocal", {"x": "rows"}, **channels, scales=reciprocals),
            node("Quantize", "odd", {"x": "halves"}, scales=1, zps=1, dtype="int8"),
            node("Quantize", "odd_uint8", {"x": "halves"}, scales=1, zps=1, dtype="uint8"),
            node("Quantize", "as_one", {"x": "near"}, scales=1.0000005, dtype="int8"),
            node("DynamicQuantize", "not_one", {"x": "near", "scale": "scale"}, dtype="int8"),
        ],
        {name: name for name in ("reciprocal", "odd", "odd_uint8", "as_one", "not_one")},
        {"reciprocal": [[17, -17], [64, -64]], "odd": [2, 2, 4, 0, 0, 4, -128, 127, -128],
         "odd_uint8": [2, 2, 4, 0, 0, 4, 0, 255, 0], "as_one": [100, 102, -100],
         "not_one": [100, 101, -100]},
        **TARGET,
    )


def make():
    make_quantize()
    make_groups()
    make_float8()
