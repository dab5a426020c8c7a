# SPDX-License-Identifier: Apache-2.0
"""Writes checksums of the codes that QuantizeLinear of the installed ONNX Runtime gives, on one thread without
optimizations: every float16 with 40 pairs of a scale and a zero point to every integer, and float32 of any size, one
scale for all, along each dim, and in blocks. ../../tests/graph/targets/onnx/test_onnx_quantize.c has the same cases.

    onnx_quantize.py NAME ../../tests/graph/targets/onnx/onnx_quantize_NAME.h

Needs numpy, onnx and onnxruntime. NAME says release and processor, 1_31_x86 for example. A CRC-32 covers the codes in
order, one byte each or two, low byte first.
"""

import sys
import zlib

import numpy as np
import onnxruntime
import ort_session
from onnx import TensorProto, helper

SCALES = (1, 0.25, 0.300048828125, 0.0078125, 1.0013580322265625e-05, 5.9604644775390625e-08, 1000, -0.7001953125)  # all float16
CODES = {"INT8": (-128, 127), "UINT8": (0, 255), "INT16": (-32768, 32767), "UINT16": (0, 65535),
         "INT4": (-8, 7), "UINT4": (0, 15), "INT2": (-2, 1), "UINT2": (0, 3)}  # fmt: skip
HALVES = (40, 65536)
FLOATS = (16, 40, 18)
FORMS = ((None, 0), (0, 0), (1, 0), (2, 0), (2, 6), (1, 5), (0, 4))  # axis and block


def parameters(count, low, high):
    zero_points = (0, low, high, 1, (low + high) // 2)
    scales = [SCALES[p % 8] for p in range(count)]
    return np.array(scales), np.array([zero_points[(p // 8 + p) % 5] for p in range(count)])


def floats(count):
    i = np.arange(count, dtype=np.uint64)
    any_bits = (i * 2654435761 % 2**32).astype(np.uint32).view(np.float32)
    ties = ((i * 40503 // 16 % 2001).astype(np.float32) - 1000) * np.float32(0.125)
    return np.where(i % 2 == 1, any_bits, ties)


def codes_of(x, code, axis, block):
    low, high = CODES[code]
    shape = [] if axis is None else [x.shape[axis]] if not block else list(x.shape)
    if block:
        shape[axis] = -(-x.shape[axis] // block)
    scales, zeros = parameters(int(np.prod(shape, dtype=int)), low, high)
    elem = TensorProto.FLOAT16 if x.dtype == np.float16 else TensorProto.FLOAT
    attrs = {} if axis is None else {"axis": axis, "block_size": block}
    wide = getattr(TensorProto, code[:-1] + "8" if code[-1] in "24" else code)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], **attrs), helper.make_node("Cast", ["q"], ["y"], to=wide)]
    known = [helper.make_tensor("s", elem, shape, scales), helper.make_tensor("z", getattr(TensorProto, code), shape, zeros)]
    ends = [helper.make_tensor_value_info("x", elem, x.shape)], [helper.make_tensor_value_info("y", wide, x.shape)]
    model = helper.make_model(helper.make_graph(nodes, "g", *ends, known), opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    return ort_session.run(model, {"x": x})["y"]


def main():
    name, path = sys.argv[1:3]
    x = np.tile(np.arange(HALVES[1], dtype=np.uint16).view(np.float16), (HALVES[0], 1))
    real = floats(int(np.prod(FLOATS))).reshape(FLOATS)
    cases = [(f"float16, {code}", x, code, 0, 0) for code in CODES]
    cases += [(f"float32, {code}, axis {axis}, block {block}", real, code, axis, block) for code in CODES for axis, block in FORMS]
    with open(path, "w") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n// Written by tools/peers/onnx_quantize.py: CRC-32 of codes from ONNX Runtime ")
        out.write(f"{onnxruntime.__version__}.\n#include <stdint.h>\n\nstatic const uint32_t onnx_quantize_{name}[] = {{\n")
        for text, values, code, axis, block in cases:
            crc = zlib.crc32(codes_of(values, code, axis, block).tobytes())
            out.write(f"    0x{crc:08X}u,  // {text}\n")
        out.write("};\n")


if __name__ == "__main__":
    main()
