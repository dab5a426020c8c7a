# SPDX-License-Identifier: Apache-2.0
"""Small graphs, and the run of a script of cases about rules of targets."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT = 30  # seconds before a call counts as hanging


def size_of(shape):
    count = 1
    for dim in shape:
        count *= dim
    return count


def ones(dtype, shape, value=1):
    return {"dtype": dtype, "shape": shape, "data": [value] * size_of(shape)}


def numbers(dtype, shape, data):
    return {"dtype": dtype, "shape": shape, "data": data}


def given(dtype, shape):
    """A value that is only known at run time."""
    return {"dtype": dtype, "shape": shape}


def graph_of(values, nodes, outputs):
    graph = {"format": "qdq/1", "inputs": [], "constants": []}
    for name, value in values.items():
        graph["constants" if "data" in value else "inputs"].append({"name": name, **value})
    graph["nodes"] = [{"op": op, "name": name, "inputs": inputs, "attrs": attrs}
                      for op, name, inputs, attrs in nodes]
    graph["outputs"] = [{"name": value.replace(".", "_"), "value": value} for value in outputs]
    return graph


def one(op, x, attrs, **ports):
    """A graph whose only node is y."""
    return graph_of({"x": x, **ports}, [(op, "y", {name: name for name in ["x", *ports]}, attrs)],
                    ["y"])


def quantize(x, dtype="int8", **rest):
    ports = {k: rest.pop(k) for k in ("scale", "zero_point") if k in rest}
    return one("Quantize", x, {"dtype": dtype, **rest}, **ports)


def dequantize(x, dtype="float32", **rest):
    ports = {k: rest.pop(k) for k in ("scale", "zero_point") if k in rest}
    return one("Dequantize", x, {"dtype": dtype, **rest}, **ports)


def channels(axis):
    return {"qtype": "per_channel", "axis": axis}


def blocks(*group):
    return {"qtype": "per_group", "group_shape": list(group)}


def run(qdq, graph, folder, *words):
    path = folder / "graph.json"
    path.write_text(json.dumps(graph), encoding="utf-8")
    done = subprocess.run([qdq, words[0], str(path), *words[1:], "--json"], capture_output=True,
                          encoding="utf-8", timeout=TIMEOUT)
    return json.loads(done.stdout)


def main(doc, outcomes):
    """Runs a script of cases. outcomes(qdq, folder) yields for each case its name and what is wrong, "" if nothing is.
    Exits with 1 if a case fails, or if none ran."""
    if len(sys.argv) != 2:
        print(doc, file=sys.stderr)
        sys.exit(2)
    count = failed = 0
    with tempfile.TemporaryDirectory(prefix="qdq-rules-") as folder:
        for name, wrong in outcomes(str(Path(sys.argv[1]).resolve()), Path(folder)):
            count += 1
            failed += wrong != ""
            print(f"FAIL {name}: {wrong}" if wrong else f"ok {name}")
    print(f"{count} tests, {failed} failed")
    sys.exit(1 if failed or count == 0 else 0)
