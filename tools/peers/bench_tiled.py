#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times graphs streamed, tiled and materialized, on one thread, and prints a table in Markdown.

    bench_tiled.py BUILD

Times are the lower quartiles of 31 timings, the least of three such runs in turn. The last column is
`moved_over_necessary` of the materialized plan.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ("digits/float32.json", "digits/int8.json", "digits/int4.json", "digits/float8.json",
            "digits_pixels/graph.json", "attention/graph.json", "gated_mlp/graph.json")


def node(op, inputs, **attrs):
    return {"op": op, "name": op, "inputs": inputs, "attrs": attrs}


def quantize(**attrs):
    return [node("Quantize", {"x": "x"}, **{"scales": 0.05, **attrs})]


def pair():
    return quantize() + [node("Dequantize", {"x": "Quantize"}, scales=0.05, dtype="float32")]


def channels(axis):
    return quantize(scales=[0.01 + i / 10000 for i in range(1024)], qtype="per_channel", axis=axis)


SQUARE = [1024, 1024]
CASES = {
    "Quantize": (quantize(), SQUARE),
    "Quantize 4096^2": (quantize(), [4096, 4096]),
    "Quantize and Dequantize": (pair(), SQUARE),
    "Quantize and Dequantize 4096^2": (pair(), [4096, 4096]),
    "Quantize, a scale for each row": (channels(0), SQUARE),
    "Quantize, a scale for each column": (channels(1), SQUARE),
    "DynamicQuantize": ([node("DynamicQuantize", {"x": "x"})], SQUARE),
    "Add": ([node("Add", {"a": "x", "b": "z"})], SQUARE),
    "StaticTranspose": ([node("StaticTranspose", {"x": "x"}, order=[1, 0])], SQUARE),
    "MatMul": ([node("MatMul", {"a": "x", "b": "z"})], SQUARE),
    "Quantize and Dequantize [8, 64, 14, 14]": (pair(), [8, 64, 14, 14]),
    "Quantize [16, 100, 300]": (quantize(), [16, 100, 300]),
    "Quantize [64, 64, 3, 3]": (quantize(), [64, 64, 3, 3]),
    "Quantize [1048576]": (quantize(), [1 << 20]),
}


def write_graph(path, nodes, shape):
    reads = {name for one in nodes for name in one["inputs"].values()}
    inputs = [{"name": name, "dtype": "float32", "shape": shape} for name in "xz" if name in reads]
    path.write_text(json.dumps({"format": "qdq/1", "inputs": inputs, "nodes": nodes,
                                "outputs": [{"name": "y", "value": nodes[-1]["name"]}]}))


def bench(qdq, graph, *words):
    done = subprocess.run([qdq, "bench", graph, "--json", "--threads", "1", "--repeat", "31", *words],
                          check=True, capture_output=True,
                          env={**os.environ, "OMP_PROC_BIND": "true"})
    return json.loads(done.stdout)


def print_row(qdq, name, graph):
    ways = ([], ["--tiles"], ["--materialize"])
    runs = [[bench(qdq, graph, *words) for words in ways] for _ in range(3)]
    streamed, tiled, apart = (min(run[k]["quartile_seconds"][0] for run in runs) * 1e6
                              for k in range(3))
    moved = runs[0][2]["moved_over_necessary"]
    print(f"| {name} | {streamed:.1f} | {tiled:.1f} | {tiled / streamed:.2f} | "
          f"{apart / streamed:.2f} | {moved:.1f} |", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    qdq = str(Path(sys.argv[1]).resolve() / "tools" / "qdq")
    print("| graph | streamed, us | tiled, us | tiled / streamed | materialized / streamed | "
          "materialized: bytes moved / necessary |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (nodes, shape) in CASES.items():
            path = Path(folder) / "graph.json"
            write_graph(path, nodes, shape)
            print_row(qdq, name, str(path))
    for name in NETWORKS:
        print_row(qdq, name.replace("/graph.json", "").replace(".json", ""),
                  str(ROOT / "models" / name))


if __name__ == "__main__":
    main()
