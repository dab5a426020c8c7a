# SPDX-License-Identifier: Apache-2.0
"""Computes the rows of a group: bits, causes, refusals and evidence of every backend."""

import json
import subprocess
import tempfile
from pathlib import Path

from compact import compact
from library import Refused
from tensor import words

BITS = ("exact", "read", "close", "unknown")  # of a group of several nodes the last counts


def evidence(nodes):
    """Returns the evidence of the node whose bits are known least."""
    return max(nodes, key=lambda one: BITS.index(one[0])) if nodes else ("unknown", "", "", "", "", "")


def causes(tool, text, group, names):
    """Returns {name: causes} for which the results of `names` differ from those of the first, as `qdq compare` has them."""
    if len(names) < 2:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path, feeds = Path(folder, "graph.json"), Path(folder, "x.safetensors")
        path.write_text(text)
        given = []
        if group.feeds():
            feeds.write_bytes(safetensors(group))
            given = ["-i", str(feeds)]
        run = [tool, "compare", str(path), *given, "--targets", ",".join(names), "--json"]
        done = subprocess.run(run, capture_output=True, text=True)
        if not done.stdout:
            raise RuntimeError(f"{group.id}: {done.stderr}")
        found = {}
        for value in json.loads(done.stdout)["values"]:
            for pair in value["pairs"]:
                own = found.setdefault(pair["targets"][1], [])
                own += [one["cause"] for one in pair["causes"] if one["cause"] not in own]
        return found


SAFETENSORS = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "float64": "F64", "int8": "I8", "uint8": "U8",
               "int16": "I16",
               "uint16": "U16", "int32": "I32", "uint32": "U32", "int64": "I64", "uint64": "U64", "bool": "BOOL", "int4": "I8",
               "int2": "I8", "uint4": "U8", "uint2": "U8", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
               "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0": "F8_E8M0",
               "float4_e2m1": "U8", "bfloat8_b": "F32", "bfloat4_b": "F32"}  # fmt: skip


def safetensors(group):
    """Returns the inputs of a group as a .safetensors file."""
    head, data = {}, b""
    dtypes = {name: one for name, one in zip(group.feeds(), (one for one in group.inputs.values() if not one.constant))}
    for name, part in group.feeds().items():
        one = dtypes[name]
        head[name] = {"dtype": SAFETENSORS[one.dtype], "shape": list(one.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + data


def run_all(library, group, text):
    """Returns the results {name: ((output, words), ...)}, the refusals {name: rules}, the evidence {name: row} and the outputs'
    types."""
    graph = library.graph(text)
    results, refused, known, types = {}, {}, {}, {}
    try:
        for name in library.names():
            try:
                nodes = library.report(graph, name)
                made = library.run(graph, name, group.feeds())
            except Refused as error:
                refused[name] = tuple(error.rules)
                continue
            types = types or {output[4:]: (dtype, shape) for output, (dtype, shape, _) in made.items()}
            results[name] = tuple((output[4:], " ".join(words(dtype, data))) for output, (dtype, _, data) in made.items())
            known[name] = evidence(nodes)
    finally:
        library.lib.qdq_graph_destroy(graph)
    return results, refused, known, types


def rows(library, tool, group):
    """Returns the row of a group in its file, its evidence {row: names} and the refusals."""
    text = group.graph()
    results, refused, known, types = run_all(library, group, text)
    if not results:
        raise RuntimeError(f"{group.id}: every target refuses it: {sorted(set(refused.values()))}")
    first = next(iter(results))  # core, unless it refuses the group
    asked = {}
    for name, bits in results.items():
        if bits != results[first]:
            asked.setdefault((name.partition("@")[0], bits), name)
    found = {}
    for name, why in causes(tool, text, group, [first, *asked.values()]).items():
        found[name.partition("@")[0], results[name]] = tuple(why)
    keyed = {name: (bits, found.get((name.partition("@")[0], bits), ())) for name, bits in results.items()}
    keyed.update((name, (None, ("unknown",))) for name, row in known.items() if row[0] == "unknown")
    ordered = compact({**keyed, **{name: (None, ("refused", *rules)) for name, rules in refused.items()}})
    made = {"id": group.id, "op": group.op, "about": group.about, "provokes": list(group.provokes)}
    made["bugs"] = list(group.bugs)
    made["attributes"] = group.attributes
    made["nodes"] = group.nodes
    made["inputs"] = [{"name": port, "dtype": one.dtype, "shape": list(one.shape), "constant": one.constant or None,
                       "bits": one.words()}
                      for port, one in group.inputs.items()]  # fmt: skip
    made["outputs"] = [{"name": output, "dtype": dtype, "shape": list(shape)} for output, (dtype, shape) in types.items()]
    made["results"] = [{"backends": names, "bits": dict(bits), "causes": list(why)}
                       for (bits, why), names in ordered.items() if bits]  # fmt: skip
    for (bits, (kind, *rules)), names in ((row, names) for row, names in ordered.items() if not row[0]):
        made["results"].append({"backends": names, **({"refused": rules} if kind == "refused" else {"unknown": True})})
    return made, compact(known)
