# SPDX-License-Identifier: Apache-2.0
"""Writes checksums of what ONNX's reference implementation gives for QuantizeLinear and DequantizeLinear, with the
division in the type of y_scale as the operator's text says. ../../tests/graph/targets/onnx/test_onnx_spec.c has the same cases.

    onnx_spec.py ../../tests/graph/targets/onnx/onnx_spec.h

Needs numpy, onnx 1.22 and ml_dtypes. The reference promotes x and y_scale of different types, unlike the text, unless
`precision` is given: here it is the type of y_scale. A CRC-32 covers codes and numbers in order, low byte first.
"""

import sys
import zlib

import ml_dtypes as small
import numpy as np
from onnx.reference.ops.op_dequantize_linear import _CommonDequantizeLinear
from onnx.reference.ops.op_quantize_linear import _CommonQuantizeLinear
from onnx.helper import np_dtype_to_tensor_dtype

SHAPE = (8, 20, 36)
FORMS = ((None, 0), (0, 0), (1, 0), (2, 0), (2, 7), (1, 5), (0, 3))  # axis and block
SCALES = (0.3, 0.25, 1.7, 0.0117, 3, 0.07, 0.5)
FLOATS = {"FLOAT32": np.float32, "FLOAT16": np.float16, "BFLOAT16": small.bfloat16}
CODES = {"INT8": (np.int8, -128, 127), "UINT8": (np.uint8, 0, 255), "INT16": (np.int16, -32768, 32767),
         "UINT16": (np.uint16, 0, 65535), "INT4": (small.int4, -8, 7), "UINT4": (small.uint4, 0, 15),
         "FLOAT8_E4M3FN": (small.float8_e4m3fn, 0, 0), "FLOAT8_E5M2": (small.float8_e5m2, 0, 0),
         "FLOAT8_E4M3FNUZ": (small.float8_e4m3fnuz, 0, 0), "FLOAT8_E5M2FNUZ": (small.float8_e5m2fnuz, 0, 0),
         "FLOAT4_E2M1": (small.float4_e2m1fn, 0, 0)}  # fmt: skip


def parameters(axis, block, scale, code):
    dtype, low, high = CODES[code]
    shape = [] if axis is None else [SHAPE[axis]] if not block else list(SHAPE)
    if block:
        shape[axis] = -(-SHAPE[axis] // block)
    count = int(np.prod(shape, dtype=int))
    scales = np.array([np.float32(SCALES[p % 7]) for p in range(count)], np.float32).astype(scale)
    middle = (low + high + 1) // 2 + 1 if high else 0
    zeros = np.array([(0, middle, low)[p % 3] for p in range(count)]).astype(dtype)
    return scales.reshape(shape), zeros.reshape(shape)


def crc(array):
    return zlib.crc32(array.tobytes())


def elements(scale, axis, block, kind):
    """Near halves of the scale of the element, in the type of x."""
    i = np.arange(int(np.prod(SHAPE)), dtype=np.uint64)
    halves = ((i * 2654435761 % 2**32 // 4096 % 1201).astype(np.float32) - 600) * np.float32(0.5)
    near = (i * 40503 // 16 % 3).astype(np.float32) * np.float32(2.0**-9)
    return ((halves + near) * np.float32(0.3)).reshape(SHAPE).astype(kind)


def main():
    rows, count = [], 0
    for code, (dtype, low, high) in CODES.items():
        for scale_name, scale in FLOATS.items():
            for axis, block in FORMS:
                s, z = parameters(axis, block, scale, code)
                for x_name, kind in FLOATS.items():
                    x = elements(scale, axis, block, kind)
                    extra = {"axis": axis or 0, "block_size": block or None}
                    run = _CommonQuantizeLinear._run
                    y = run(None, x, s, z, precision=np_dtype_to_tensor_dtype(np.dtype(scale)), **extra)[0]
                    held = y.astype({"INT4": np.int8, "UINT4": np.uint8}.get(code, y.dtype))
                    rows.append((f"{x_name} to {code}, y_scale {scale_name}, axis {axis}, block {block}", crc(held)))
                    count += y.size
                extra["block_size"] = block
                back = _CommonDequantizeLinear._run(None, y, s, z if high else None, **extra)[0]
                rows.append((f"{code} to {scale_name}, axis {axis}, block {block}", crc(back)))
                count += back.size
    with open(sys.argv[1], "w") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n// Written by tools/peers/onnx_spec.py: CRC-32 of results of ONNX's reference.\n")
        out.write("#include <stdint.h>\n\nstatic const uint32_t onnx_spec[] = {\n")
        out.writelines(f"    0x{value:08X}u,  // {text}\n" for text, value in rows)
        out.write("};\n")
    print(count)


if __name__ == "__main__":
    main()
