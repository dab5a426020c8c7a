# SPDX-License-Identifier: Apache-2.0
"""A model with the quantizing ops of TensorRT's domain trt. Results of FP4 are the worked example of MLIR-TensorRT's tests;
the others are computed with ml_dtypes."""

import ml_dtypes
import numpy as np
from making import N, constant, info, keep
from onnx import TensorProto as T
from onnx import helper as h

ROWS = """0 .3 .6 1 1.3 1.6 1.9 2.3 2.6 2.9 3.2 3.5 3.9 4.2 4.5 4.8 5.2 5.5 5.8 6.1 6.5 6.8 7.1 7.4 7.7 8.1 8.4 8.7 9 9.4 9.7 10
3 3.3 3.6 4 3.3 3.6 3.9 3.3 2.6 2.9 3.2 3.5 3.9 4.2 4.5 4.8 -5.2 -5.5 -5.8 -6.1 -5.5 -5.8 5.1 5.4 5.7 5.1 5.4 5.7 6 6.4 4.7 6"""
FP4 = [[0, 0.40625, 0.40625, 0.8125, 1.21875, 1.625, 1.625, 2.4375, 2.4375] + [3.25] * 4 + [4.875] * 3 + [4.875] * 2
       + [6.5] * 8 + [9.75] * 6,
       [3.25] * 8 + [2.4375] + [3.25] * 4 + [4.875] * 3
       + [-4.5, -4.5, -6.75, -6.75, -4.5, -6.75, 4.5, 4.5, 6.75, 4.5, 4.5, 6.75, 6.75, 6.75, 4.5, 6.75]]  # fmt: skip


def float8(x):
    return np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)


def quantizers():
    """All ops, each followed by its dequantizing op."""
    x = np.array([row.split() for row in ROWS.split("\n")], np.float32)
    trt = {"domain": "trt"}
    blocks = {"axis": -1, "block_size": 16}
    nodes = [
        N("TRT_FP4DynamicQuantize", ["x", "one"], ["a", "as"], scale_type=T.FLOAT8E4M3FN, **blocks, **trt),
        N("DequantizeLinear", ["as", "one"], ["ad"]),
        N("DequantizeLinear", ["a", "ad"], ["fp4"], **blocks, **trt),
        N("TRT_MXFP8DynamicQuantize", ["x"], ["b", "bs"], axis=-1, block_size=32, output_dtype=T.FLOAT8E4M3FN, **trt),
        N("TRT_MXFP8DequantizeLinear", ["b", "bs"], ["mxfp8"], axis=-1, block_size=32, output_dtype=T.FLOAT, **trt),
        N("TRT_FP8QuantizeLinear", ["x", "third"], ["c"], **trt),
        N("TRT_FP8DequantizeLinear", ["c", "third"], ["fp8"], **trt),
        N("TRT_INT4QuantizeLinear", ["x", "grid"], ["d"], **blocks, **trt),
        N("TRT_INT4DequantizeLinear", ["d", "grid"], ["int4"], **blocks, **trt),
    ]
    third, grid = np.float32(0.3), np.array([[1, 1.25], [0.75, 0.5]], np.float32)
    known = [constant("one", np.float32(1)), constant("third", third), constant("grid", grid)]
    names = ("fp4", "mxfp8", "fp8", "int4")
    graph = h.make_graph(nodes, "g", [info("x", [2, 32])], [info(n, [2, 32]) for n in names], known)
    opsets = [h.make_opsetid("", 23), h.make_opsetid("trt", 1)]
    made = h.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="")
    powers = np.float32(2) ** np.ceil(np.log2(np.abs(x).max(1, keepdims=True) / 448)).astype(np.float32)
    each = np.repeat(grid, 16, 1)
    wanted = {"fp4": np.float32(FP4), "mxfp8": float8(x / powers) * powers, "fp8": float8(x / third) * third,
              "int4": np.clip(np.rint(x / each), -8, 7) * each}  # fmt: skip
    keep("trt", made, {"x": x}, wanted=wanted)


def stored_powers():
    """A scale of powers of two whose codes are stored as uint8, and a product of it and x. Code 0 is 2^-127."""
    codes = np.array([[127, 130], [124, 0], [136, 119]], np.uint8)
    weights = np.linspace(-448, 448, 3 * 64, dtype=np.float32).reshape(3, 64).astype(ml_dtypes.float8_e4m3fn)
    nodes = [
        N("TRT_MXFP8DequantizeLinear", ["w", "ws"], ["wd"], axis=1, block_size=32, output_dtype=T.FLOAT, domain="trt"),
        N("Identity", ["wd"], ["y"]),
        N("Cast", ["ws"], ["codes"], to=T.FLOAT),
    ]
    known = [h.make_tensor("w", T.FLOAT8E4M3FN, [3, 64], weights.tobytes(), raw=True), constant("ws", codes)]
    graph = h.make_graph(nodes, "g", [], [info("y", [3, 64]), info("codes", [3, 2])], known)
    opsets = [h.make_opsetid("", 19), h.make_opsetid("trt", 1)]
    made = h.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="")
    powers = np.ldexp(np.float32(1), codes.astype(np.int32) - 127)
    wanted = {"y": weights.astype(np.float32) * np.repeat(powers, 32, 1), "codes": codes.astype(np.float32)}
    keep("trt_powers", made, {}, wanted=wanted)


if __name__ == "__main__":
    quantizers()
    stored_powers()
