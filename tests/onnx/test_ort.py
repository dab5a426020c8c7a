# SPDX-License-Identifier: Apache-2.0
"""Runs the models of ort/ with qdq, and compares with what ONNX Runtime computed for them (results.json, written by
../peers/ort_examples.py).

    test_ort.py QDQ_BINARY
"""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "ort"
KINDS = {"uint8": ("U8", "B"), "int8": ("I8", "b"), "int32": ("I32", "i"), "float32": ("F32", "f")}
VARIANTS = ["avx2", "vnni", "neon", "dot", "i8mm"]
QDQ = None


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        word, code = KINDS[t["dtype"]]
        part = struct.pack(f"<{len(t['values'])}{code}", *t["values"])
        header[name] = {"dtype": word, "shape": t["shape"], "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def recorded(level):
    """Name, inputs and outputs of each model for which all processors gave one result at this level."""
    wanted = {f"{level} {variant}" for variant in VARIANTS}
    for name, row in json.loads((FOLDER / "results.json").read_text()).items():
        for result in row["results"]:
            if wanted <= set(result["runs"]) and "outputs" in result:
                yield name, row["inputs"], result["outputs"]


def run(folder, name, inputs, outputs, target):
    write_tensors(folder / "in.safetensors", inputs)
    write_tensors(folder / "out.safetensors", outputs)
    words = ["run", FOLDER / f"{name}.onnx", "--target", target, "-i", folder / "in.safetensors"]
    words += ["-e", folder / "out.safetensors"]
    return subprocess.run([QDQ, *map(str, words)], capture_output=True, text=True, check=False, timeout=60)


class Results(unittest.TestCase):
    def test_target_onnx_predicts_onnx_runtime_without_optimizations(self):
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, inputs, outputs in recorded("disabled"):
                if name == "broken_bias_zero_point":
                    continue  # refused: int32 codes have no zero point
                seen += 1
                with self.subTest(name):
                    done = run(Path(folder), name, inputs, outputs, "onnx")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(seen, 50)


if __name__ == "__main__":
    QDQ = sys.argv.pop(1)
    unittest.main()
