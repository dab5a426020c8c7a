# SPDX-License-Identifier: Apache-2.0
"""Writes the page of `qdq check --html` and `qdq compare --html` for a report or a comparison (docs/differing_bits.md)."""

from __future__ import annotations

import ctypes
import json
import math
import os
from pathlib import Path
from typing import Any, Dict, Optional, Sequence

import numpy as np

from . import _contents
from ._dtypes import name_of, numpy_of
from ._library import BITS, ArgumentError, CShape, CValue, FileError, lib, version
from ._types import PathLike, Array

_SHOWN, _MOST_READ = 8, 4096  # most elements in a list; of a constant that is read
_BINS, _CODES = 64, 256  # bins of floats, and at most of integers
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def graph_of(owner: Any) -> Any:
    """Returns the graph of a report or comparison. Raises ArgumentError if that was unpickled: pickling leaves the
    graph behind."""
    if owner._graph is None:
        raise ArgumentError("what was unpickled has no graph, so there is no page of it; check or compare again")
    return owner._graph


def template() -> Path:
    """Returns the path of the empty page: in the package, or next to the tool of the library that QDQ_LIBRARY names."""
    own, library = Path(__file__).with_name("report.html"), os.environ.get("QDQ_LIBRARY")
    return own if own.exists() or not library else Path(library).parent / "tools/report.html"


def text(command: Any, graph: Any, call: Any, data: Any, nodes: Any = None) -> str:
    """Returns the page of a command. data: the value of the key of its name. nodes: {target: what `bits` takes}."""
    report = {"version": 1, "qdq": version(), "command": command, "call": call, "seed": None, "file": graph.name,
              "graph": graph_data(graph)}  # fmt: skip
    if nodes:
        report["targets"] = [{"name": target, "bits": bits(some)} for target, some in nodes.items()]
    report[command] = data
    content = json.dumps(report, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark, escape in _ESCAPES.items():
        content = content.replace(mark, escape)
    page = template()
    try:
        before, _, after = page.read_text(encoding="utf-8").partition("@DATA@")
    except OSError as error:
        raise FileError(f"{page}: cannot be read: {error.strerror}; install the package with pip") from None
    return before + content + after


def write(path: Optional[PathLike], *page: Any, **more: Any) -> str:
    """Returns the page of a command, see text. path: None, or the file that it is written to."""
    made = text(*page, **more)
    if path is not None:
        Path(path).write_text(made, encoding="utf-8")
    return made


def number(x: Any) -> Any:
    """Converts a number for JSON; NaN and the infinities become strings."""
    x = x.item() if hasattr(x, "item") else x
    if isinstance(x, (bool, int)):
        return int(x)
    x = float(x)
    return x if math.isfinite(x) else "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"


# ---- Bits ----


def listed(nodes: Any) -> Any:
    """Converts a list of NodeBits to the objects of `qdq check --json`."""
    made = []
    for one in nodes:
        evidence = {name: getattr(one, name) for name in ("kind", "against", "compared", "date")} if one.kind else None
        same = {name: getattr(one, name) for name in ("node", "op", "bits", "from_same_inputs", "rule")}
        made.append({**same, "evidence": evidence})
    return made


def bits(nodes: Any) -> Dict[str, Any]:
    """Counts nodes by how well their bits are known, and groups those that share all but the name. nodes: objects of
    `qdq check --json`."""
    groups: Dict[str, Dict[str, Any]] = {}
    for one in nodes:
        shared = {name: one[name] for name in ("op", "bits", "from_same_inputs", "rule", "evidence") if one[name] is not None}
        groups.setdefault(json.dumps(shared), {**shared, "nodes": []})["nodes"].append(one["node"])
    counts = {word: sum(one["bits"] == word for one in nodes) for word in reversed(BITS[1:])}
    return {**counts, "groups": list(groups.values())}


# ---- The graph ----


def _value(handle: Any, number_: Any) -> Any:
    value, dtype, shape = CValue(number_), ctypes.c_int(), CShape()
    made = {"name": lib.qdq_value_name(handle, value).decode()}
    if not lib.qdq_value_type(handle, value, dtype, shape):
        return made
    made.update(dtype=name_of(dtype.value), shape=list(shape.tuple()))
    if lib.qdq_value_is_constant(handle, value):
        made["constant"] = True
        count = math.prod(made["shape"])
        data = lib.qdq_value_data(handle, value) if count <= _MOST_READ else None
        if data:
            kind = numpy_of(made["dtype"])
            raw = ctypes.string_at(data, min(count, _SHOWN) * kind.itemsize)
            made["first"] = [number(x) for x in np.frombuffer(raw, kind)]
    return made


def _node(handle: Any, node: Any, ports: Any) -> Dict[str, Any]:
    info = lib.qdq_graph_node(handle, node)
    op = info.op.decode()
    inputs = {ports[op].input(i): lib.qdq_graph_node_input(handle, node, i).id for i in range(info.input_count)}
    outputs = [lib.qdq_graph_node_output(handle, node, i).id for i in range(info.output_count)]
    return {"name": info.name.decode(), "op": op, "inputs": {port: value for port, value in inputs.items() if value},
            "outputs": outputs, "attrs": _contents.attributes(handle, node, _SHOWN)}  # fmt: skip


def graph_data(graph: Any) -> Dict[str, Any]:
    """Returns the nodes and values of a graph, as `qdq check --html` writes them."""
    with graph._lock:
        handle, ports = graph._handle, _contents.ports()
        nodes = [_node(handle, i, ports) for i in range(lib.qdq_graph_node_count(handle))]
        most = max((max([*node["inputs"].values(), *node["outputs"]], default=0) for node in nodes), default=0)
        values = [_value(handle, i) for i in range(most + 1)]
    return {"name": graph.name, "target": graph.target, "values": values, "nodes": nodes}


# ---- check ----


def _rules(findings: Any) -> Any:
    """Groups findings by rule. A finding leaves out texts that equal its rule's."""
    rules: Dict[str, Dict[str, Any]] = {}
    for one in findings:
        texts = {name: getattr(one, name) for name in ("op", "port", "found", "wanted")}
        rule = rules.get(one.rule)
        if rule is None:
            rule = {name: getattr(one, name) for name in ("rule", "severity", "target", "hint", "source")}
            rule = rules[one.rule] = {**rule, **texts, "findings": []}
        finding = {"node": one.node, **{name: text for name, text in texts.items() if text != rule[name]}}
        if len(rule["findings"]) < 20:
            finding["message"] = one.message
        rule["findings"].append(finding)
    return list(rules.values())


def check(asked: Any) -> Dict[str, Any]:
    """Converts reports for the page. asked: [(target, Report)]; with several targets each has only the findings of its
    own rules."""
    targets = []
    for name, report in asked:
        own = [one for one in report if len(asked) == 1 or one.target == name.partition("@")[0]]
        targets.append({"name": name, "errors": report.errors, "warnings": report.warnings, "rules": _rules(own)})
        if not report.errors:
            targets[-1]["bits"] = bits(listed(report.nodes))
    return {"targets": targets}


# ---- compare ----


def histogram(sides: Any, dtype: str) -> Any:
    """Counts the elements of one or two arrays in the bins of a common range, and the clipped elements."""
    limits = np.iinfo(sides[0].dtype) if sides[0].dtype.kind in "iu" and sides[0].dtype.itemsize <= 2 else None
    if dtype in ("int4", "uint4", "int2", "uint2"):
        bits, signed = int(dtype[-1]), dtype[0] == "i"
        least, greatest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    elif limits:
        least, greatest = limits.min, limits.max
    clipped = None if not limits else [int(((side <= least) | (side >= greatest)).sum()) for side in sides]
    numbers = [np.asarray(side, np.float64).ravel() for side in sides]
    finite = [side[np.isfinite(side)] for side in numbers]
    made = {"low": 0, "width": 0, "counts": [[] for _ in sides], "clipped": clipped,
            "not_finite": [side.size - some.size for side, some in zip(numbers, finite)]}  # fmt: skip
    every = np.concatenate(finite)
    if not every.size:
        return made
    low, high, whole = every.min(), every.max(), sides[0].dtype.kind in "iub"
    width = 1 if whole and high - low < _CODES else math.ceil((high - low + 1) / _BINS) if whole else (high - low) / _BINS
    bins = math.ceil((high - low + 1) / width) if whole else _BINS
    if not width > 0:
        width, bins = 1, 1
    places = [np.minimum((some - low) / width, bins - 1).astype(int) for some in finite]
    return {**made, "low": number(low), "width": number(width),
            "counts": [np.bincount(some, minlength=bins).tolist() for some in places]}  # fmt: skip


def _bits(array: Array, index: int) -> str:
    array = np.ascontiguousarray(array)
    return f"0x{int(array.view(f'u{array.dtype.itemsize}').reshape(array.shape)[index]):0{2 * array.dtype.itemsize}x}"


def _closeness(row: Any) -> Any:
    return {key: None if x is None else number(x) for key, x in (("relative_error", row.relative_error), ("cosine", row.cosine))}


def _pair(targets: Sequence[str], row: Any, arrays: Sequence[Array], given: Any, dtype: str) -> Any:
    """Compares a value of two targets. A node whose inputs are all equal differs by itself; for other nodes, Python
    does not know."""
    made = {"targets": list(targets), "numerics": [], "different": 0, "steps": 0, "nan_count": 0,
            "different_overall": row.differing if row else 0, "causes": [],
            "relative_error_overall": _closeness(row)["relative_error"] if row else 0 if "float" in dtype else None}  # fmt: skip
    if row is None or given:
        return made
    cause = {"cause": "differs", "elements": row.differing, "index": list(row.first), "results": [number(x) for x in row.found],
             "bits": [_bits(array, row.first) for array in arrays]}  # fmt: skip
    return {**made, "different": row.differing, "steps": row.steps, **_closeness(row), "causes": [cause],
            "histogram": histogram(arrays, dtype)}  # fmt: skip


def compare(graph: Any, comparison: Any) -> Dict[str, Any]:
    """Lists the values that two targets have, for each pair of targets, as `qdq compare` lists them."""
    data, rows, made = graph_data(graph), {(row.value, row.targets): row for row in comparison}, []
    first, names = comparison.results[0], [value["name"] for value in data["values"]]
    for node in data["nodes"]:
        for number_ in node["outputs"]:
            value = data["values"][number_]
            name = graph._original_value(value["name"].encode())
            if name not in comparison.compared:
                continue
            dtype, pairs = value.get("dtype", ""), []
            for target, other in zip(comparison.targets[1:], comparison.results[1:]):
                targets = comparison.targets[0], target
                reads = (graph._original_value(names[i].encode()) for i in node["inputs"].values())
                given = any((one, targets) in rows for one in reads)
                if name in other:
                    pairs.append(_pair(targets, rows.get((name, targets)), (first[name], other[name]), given, dtype))
            made.append({"name": value["name"], "node": node["name"], "op": node["op"], "left_out": [], "dtype": dtype,
                         "shape": value.get("shape", []), "elements": first[name].size,
                         "histogram": histogram([first[name]], dtype), "pairs": pairs})  # fmt: skip
    return {"targets": list(comparison.targets), "refused": [], "values": made}
