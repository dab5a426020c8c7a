"""Models of the target onednn: DynamicDequantize per group, and float8 that overflows."""

import numpy as np

from common import float32, spread, write_model
from dtypes import DTYPES
from folder import node

TARGET = {"target": "onednn"}


def make_groups():
    for bits, low, zero_dtype in (("int4", -8, "int4"), ("uint4", 0, "uint8")):
        codes = (np.arange(6 * 32) * 7 % 16 + low).reshape(6, 32).astype(DTYPES[bits])
        scales = np.abs(spread((6, 4))) / np.float32(8) + np.float32(0.01)
        zero = (np.arange(24) * 5 % 16 + low).reshape(6, 4)
        for dtype in ("bfloat16", "float16"):
            scale = scales.astype(DTYPES[dtype])
            # (-8 - 7) * 8192 is beyond float16; 15 * 2^-24 is a denormal there.
            scale[5, :2] = [8192, 2.0**-24]
            if dtype == "bfloat16":
                scale[5, :2] = [3e38, 1e-38]  # infinite; and a product below 2^-126 is 0
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


def make():
    make_groups()
    make_float8()
