# SPDX-License-Identifier: Apache-2.0
"""Writes checksums of what Cast of the installed ONNX Runtime gives, on one thread without optimizations: every value of
the floats of at most 16 bits, and float32 of any size, to bool and to integers, NaN and numbers out of range among them.
../../tests/graph/targets/onnx/test_onnx_casts.c has the same cases.

    onnx_casts.py ../../tests/graph/targets/onnx/onnx_casts.h

Needs numpy, onnx, onnxruntime and ml_dtypes, on x86-64. A CRC-32 covers the results in order, low byte first; integers
below 8 bits have a byte each. A row of a cast that the release lacks ends in "not in this release".
"""

import sys
import zlib

import ml_dtypes
import numpy as np
import onnxruntime
import ort_release
import ort_session
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as runtime_state

FLOATS = {"FLOAT": np.float32, "FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16,
          "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
          "FLOAT8E5M2": ml_dtypes.float8_e5m2, "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
          "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu}  # fmt: skip
RESULTS = ("BOOL", "INT8", "UINT8", "INT16", "UINT16", "INT32", "INT64", "INT4", "UINT4", "INT2", "UINT2")
COUNT = 65536
REFUSALS = runtime_state.NotImplemented, runtime_state.InvalidGraph, runtime_state.Fail


def values(name):
    """float32 numbers that the dtype holds."""
    if name == "FLOAT":
        i = np.arange(COUNT, dtype=np.uint64)
        any_bits = (i * 2654435761 % 2**32).astype(np.uint32).view(np.float32)
        ties = ((i * 40503 // 16 % 2001).astype(np.float32) - 1000) * np.float32(0.125)
        return np.where(i % 2 == 1, any_bits, ties)
    bits = 8 * np.dtype(FLOATS[name]).itemsize
    return np.arange(2**bits, dtype=np.uint32).astype(f"u{bits // 8}").view(FLOATS[name]).astype(np.float32)


def model(source, result, shape):
    """Casts float32 to one dtype, and this to another, which a third Cast makes a byte if it is narrower."""
    wide = {"INT4": "INT8", "INT2": "INT8", "UINT4": "UINT8", "UINT2": "UINT8"}.get(result, result)
    steps = [("x", "f", source), ("f", "q", result), ("q", "y", wide)]
    nodes = [helper.make_node("Cast", [a], [b], to=getattr(TensorProto, to)) for a, b, to in steps]
    ends = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [
        helper.make_tensor_value_info("y", getattr(TensorProto, wide), shape)]  # fmt: skip
    return helper.make_model(helper.make_graph(nodes, "g", *ends), opset_imports=[helper.make_opsetid("", 25)], ir_version=11)


def cast(release, x, source, result):
    """The results as bytes and their count; None if the release lacks a cast."""
    try:
        y = ort_session.run(release.lowered(model(source, result, x.shape)), {"x": x})["y"]
    except REFUSALS:
        return None
    return y.tobytes(), y.size


def main():
    count, release = 0, ort_release.Release()
    with open(sys.argv[1], "w") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n// Written by tools/peers/onnx_casts.py: CRC-32 of casts by ONNX Runtime ")
        out.write(f"{onnxruntime.__version__}.\n#include <stdint.h>\n\nstatic const uint32_t onnx_casts[] = {{\n")
        for source in FLOATS:
            x = values(source)
            for result in RESULTS:
                made = cast(release, x, source, result)
                data, size = made or (b"", 0)
                count += size
                lacks = "" if made else ": not in this release"
                out.write(f"    0x{zlib.crc32(data):08X}u,  // {source} to {result}{lacks}\n")
        out.write("};\n")
    print(count)


if __name__ == "__main__":
    main()
