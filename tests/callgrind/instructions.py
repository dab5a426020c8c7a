#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of fixed cases with callgrind and compares them with baseline.json.

    instructions.py QDQ_BINARY             compares; a case that is off by more than 3 % fails
    instructions.py QDQ_BINARY --record    writes the baseline anew

Reading a graph as JSON may take at most JSON_OVER_ONNX times the instructions of reading the same graph as ONNX.

The baseline is from the build of `./dev test`, with assertions and the compiler that baseline.json names. valgrind has no
AVX-512, so the vector kernels are counted as AVX2.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
BASELINE = HERE / "baseline.json"
TOLERANCE = 0.03
JSON_OVER_ONNX = 1.5


def node(op, name, x, **attrs):
    return {"op": op, "name": name, "inputs": {"x": x}, "attrs": attrs}


def graph(dtype, shape, *nodes):
    return {"format": "qdq/1", "inputs": [{"name": "x", "dtype": dtype, "shape": shape}],
            "nodes": list(nodes), "outputs": [{"name": "y", "value": nodes[-1]["name"]}]}


def long_chain(count):
    nodes = [node("Quantize", "n0", "x", scales=0.5)]
    for i in range(1, count):
        op = "Dequantize" if i % 2 else "Quantize"
        extra = {"dtype": "float32"} if i % 2 else {}
        nodes.append(node(op, f"n{i}", f"n{i - 1}", scales=0.5, **extra))
    return graph("float32", [4], *nodes)


# Name, graph, options of `qdq run`, and the function whose instructions are counted.
CASES = [
    ("quantize float32 to int8, avx2",
     graph("float32", [256, 256], node("Quantize", "q", "x", scales=0.02, zps=3)),
     ["--rows", "--isa", "avx2"], "qdq_exec_run"),
    ("dequantize int8 to bfloat16, avx2",
     graph("int8", [256, 256], node("Dequantize", "d", "x", scales=0.02, zps=3)),
     ["--rows", "--isa", "avx2"], "qdq_exec_run"),
    ("requantize int8, portable",
     graph("int8", [256, 256], node("Requantize", "r", "x", in_scales=0.02, out_scales=0.05)),
     ["--rows", "--isa", "portable"], "qdq_exec_run"),
    ("quantize and dequantize by tiles, portable",
     graph("float32", [100, 100], node("Quantize", "q", "x", scales=0.02, zps=3),
           node("Dequantize", "d", "q", scales=0.02, zps=3, dtype="float32")),
     ["--isa", "portable", "--materialize"], "qdq_exec_run"),
    ("compile 1000 nodes", long_chain(1000), ["--rows", "--isa", "portable"], "qdq_graph_compile"),
]


def instructions(folder, function, *command):
    """The instructions of a function in a run of a command."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--toggle-collect={function}", *map(str, command)],
        capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        sys.exit(f"callgrind failed:\n{run.stderr}")
    return int(found.group(1))


def count(binary, folder, case):
    _, description, options, function = case
    file = folder / "graph.json"
    file.write_text(json.dumps(description), encoding="utf-8")
    return instructions(folder, function, binary, "run", file, "--fill", "1", "--threads", "1", *options)


def json_over_onnx(binary, folder, nodes):
    """The instructions of reading a graph as JSON, divided by those of reading it as ONNX."""
    given, onnx, same = folder / "given.json", folder / "graph.onnx", folder / "graph.json"
    given.write_text(json.dumps(long_chain(nodes)), encoding="utf-8")
    for file, to in (given, onnx), (onnx, same):
        subprocess.run([binary, "convert", file, "-o", to, "--target", "onnx"], check=True)
    counts = [instructions(folder, "qdq_graph_load", binary, "check", file) for file in (same, onnx)]
    return counts[0] / counts[1]


def compiler():
    text = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout
    return text.splitlines()[0]


def main():
    binary, record = sys.argv[1], "--record" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        counts = {case[0]: count(binary, pathlib.Path(folder), case) for case in CASES}
        ratios = {nodes: json_over_onnx(binary, pathlib.Path(folder), nodes) for nodes in (100, 4000)}
    if record:
        text = json.dumps({"compiler": compiler(), "instructions": counts}, indent=2)
        BASELINE.write_text(text + "\n", encoding="utf-8")
        return 0
    failed = max(ratios.values()) > JSON_OVER_ONNX
    for nodes, ratio in ratios.items():
        print(f"{'FAIL' if ratio > JSON_OVER_ONNX else 'ok'}: {nodes} nodes as JSON take {ratio:.2f} times the instructions of "
              f"reading them as ONNX, at most {JSON_OVER_ONNX}")
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    if compiler() != baseline["compiler"]:
        print(f"skipped: counted with {baseline['compiler']}, here is {compiler()}")
        return failed
    for name, got in counts.items():
        want = baseline["instructions"].get(name, 0)
        off = got / want - 1 if want else 1
        bad = abs(off) > TOLERANCE
        failed |= bad
        print(f"{'FAIL' if bad else 'ok'}: {name}: {got} instructions, {want} recorded "
              f"({off:+.2%})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
