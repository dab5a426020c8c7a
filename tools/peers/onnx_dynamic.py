# SPDX-License-Identifier: Apache-2.0
"""Writes checksums of what DynamicQuantizeLinear of the installed ONNX Runtime gives for tensors with NaN, on one
thread: 1 to 200 elements, and two larger tensors. ../../tests/graph/targets/onnx/test_onnx_dynamic.c has the same cases.

    onnx_dynamic.py NAME ../../tests/graph/targets/onnx/onnx_dynamic_NAME.h

Needs numpy, onnx and onnxruntime. NAME says release and processor, 1_32_x86 for example. A CRC-32 covers the codes, the
scale (every NaN as 0x7FC00000) and the zero point, in this order, low byte first.
"""

import sys
import zlib

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

# How many of 256 elements are NaN, and what is added to the others.
PATTERNS = ((0, 0), (2, 0), (40, 200), (128, 0), (230, -200), (255, 0))
SIZES = [(n,) for n in range(1, 201)] + [(37, 61), (300, 517)]


def elements(count, pattern):
    i = np.arange(count, dtype=np.uint64)
    x = (((i * 40503 // 16) % 2001).astype(np.float32) - 1000) * np.float32(0.125) + np.float32(PATTERNS[pattern][1])
    x[(i * 2654435761 % 2**32) >> 24 < PATTERNS[pattern][0]] = np.nan
    return x


def session():
    ends = [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)], [
        helper.make_tensor_value_info(name, dtype, None)
        for name, dtype in (("y", TensorProto.UINT8), ("s", TensorProto.FLOAT), ("z", TensorProto.UINT8))
    ]
    graph = helper.make_graph([helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], "g", *ends)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    name, path = sys.argv[1:]
    run = session().run
    with open(path, "w", encoding="ascii") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n")
        out.write(f"// Written by tools/peers/onnx_dynamic.py: CRC-32 of results of ONNX Runtime {onnxruntime.__version__}.\n")
        out.write(f"#include <stdint.h>\n\nstatic const uint32_t onnx_dynamic_{name}[] = {{\n")
        for pattern, (share, added) in enumerate(PATTERNS):
            crcs = []
            for shape in SIZES:
                y, s, z = run(None, {"x": elements(int(np.prod(shape)), pattern).reshape(shape)})
                s = np.float32("nan") if np.isnan(s) else s
                crcs.append(zlib.crc32(y.tobytes() + np.float32(s).tobytes() + z.tobytes()))
            small = zlib.crc32(np.array(crcs[:200], dtype="<u4").tobytes())
            for crc, text in ((small, "1 to 200 elements"), (crcs[200], "37 x 61"), (crcs[201], "300 x 517")):
                out.write(f"    0x{crc:08X}u,  // {share} of 256 NaN, {added} added, {text}\n")
        out.write("};\n")


if __name__ == "__main__":
    main()
