# SPDX-License-Identifier: Apache-2.0
"""Compares the pairs of weights that `qdq check` says can saturate with those that saturate in ONNX Runtime.

    python3 ort_pairs.py QDQ_BINARY [--count N] [--seed N]

A model is a MatMul of uint8 activations with int8 weights [k, n], quantized. Row p of the activations is 255 at the two
k of pair p and 0 elsewhere, so that each result is one pair of products: it saturates if it is not the exact sum. Needs numpy, onnx and
onnxruntime, and an x86-64 CPU with AVX2 and without VNNI.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import ort_session
from onnx import TensorProto, helper, numpy_helper


def model(weights, rows):
    """The products of codes with zero point 0 and scale 1, without Quantize: MatMulIntegerToFloat, whose sums are exact
    in float32."""
    values = {"w": weights, "one": np.float32(1), "zx": np.uint8(0), "zw": np.int8(0)}
    nodes = [helper.make_node("DequantizeLinear", ["x", "one", "zx"], ["a"]),
             helper.make_node("DequantizeLinear", ["w", "one", "zw"], ["b"]), helper.make_node("MatMul", ["a", "b"], ["y"])]
    ends = [helper.make_tensor_value_info("x", TensorProto.UINT8, (rows, weights.shape[0])),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, (rows, weights.shape[1]))]
    made = [numpy_helper.from_array(np.asarray(v), name) for name, v in values.items()]
    graph = helper.make_graph(nodes, "pairs", ends[:1], ends[1:], made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def predicted(qdq, path):
    """Pairs, columns with pairs, and pairs of the worst column of the finding; zeros without one."""
    command = [qdq, "check", path, "--target", "ort@1.31-avx2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for row in json.loads(done.stdout)["findings"]:
        if row["rule"] == "ort/u8s8-pairs":
            text = r"(\d+) pairs? of weights can saturate, in (\d+) of \d+ output columns .* has (\d+)\)"
            numbers = re.search(text, row["message"])
            return tuple(int(n) for n in numbers.groups())
    return 0, 0, 0


def measured(path, weights):
    """The same, counted in the results of ONNX Runtime."""
    k = weights.shape[0]
    x = np.zeros((-(-k // 2), k), np.uint8)
    for i in range(k):
        x[i // 2, i] = 255
    y = next(iter(ort_session.run(path, {"x": x}, level="all").values()))
    other = y != x.astype(np.float32) @ weights.astype(np.float32)
    return int(other.sum()), int(other.any(0).sum()), int(other.sum(0).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("qdq")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    wrong = pairs = 0
    for index in range(args.count):
        k, n = int(rng.integers(1, 150)), int(rng.integers(1, 70))
        spread = rng.choice([40, 64, 70, 100, 128])
        weights = np.clip(np.rint(rng.normal(0, spread / 2, (k, n))), -128, 127).astype(np.int8)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pairs.onnx"
            onnx.save(model(weights, -(-k // 2)), path)
            found, wanted = predicted(args.qdq, path), measured(path, weights)
        pairs += wanted[0]
        if found != wanted:
            wrong += 1
            print(f"model {index}, k {k}, n {n}: found {found}, ONNX Runtime {wanted}")
    print(f"{args.count} models with {pairs} pairs that saturate: {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
