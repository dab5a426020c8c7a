# SPDX-License-Identifier: Apache-2.0
"""Compares what qdq predicts of ONNX Runtime's optimized graphs with what ONNX Runtime computed, bit by bit.

    python3 ort_compare.py FOLDER VARIANT --qdq QDQ_BINARY [--target TARGET] [--first N] [--only WORD] [--list]

FOLDER is from ort_graphs.py, FOLDER/VARIANT from ort_run.py. TARGET may hold {}, which becomes VARIANT
(ort@1.31-{}). A model is

    equal     every bit of every output is the same; a NaN is as good as another
    warned    other bits, or a refusal, and `qdq check` has a finding that says so
    failed    ONNX Runtime refuses it: whether qdq has a finding is printed
    different other bits and no finding, or qdq refuses it without one

The first different model is printed with its nodes. Exit status 1 if any is different. Needs numpy and onnx.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnx_reader import read_tensors, safetensors


def findings(qdq, model, target):
    """The findings of `qdq check`, as short texts."""
    command = [qdq, "check", model, "--target", target, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return [done.stderr.strip()]
    rows = said.get("findings", [said["error"]] if "error" in said else [])
    return [f"{row.get('rule', '')} {row['message']}" for row in rows]


def predict(qdq, model, inputs, target, folder, words):
    """Outputs by name, or None and what qdq said."""
    values = {n: (str(a.dtype), list(a.shape), np.ascontiguousarray(a).tobytes()) for n, a in inputs.items()}
    (folder / "in.safetensors").write_bytes(safetensors(values))
    out = folder / "out.safetensors"
    command = [qdq, "run", model, "--target", target, "-i", folder / "in.safetensors", "-o", out, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None, f"exit {done.returncode}: {done.stderr.strip()[:500]}"
    return read_tensors(out), ""


def differences(found, wanted):
    """For each output with other bits: its name, how many elements differ, and the first of them."""
    rows = []
    for name, want in wanted.items():
        got = found.get(name)
        if got is None or got.shape != want.shape or got.dtype.itemsize != want.dtype.itemsize:
            rows.append((name, want.size, want.size, f"{got if got is None else (got.dtype, got.shape)}"))
            continue
        bits = f"u{want.dtype.itemsize}"
        other = np.atleast_1d(np.ascontiguousarray(got)).view(bits) != np.atleast_1d(want).view(bits)
        if want.dtype.kind == "f":
            other &= ~(np.atleast_1d(np.isnan(got)) & np.atleast_1d(np.isnan(want)))
        if other.any():
            at = tuple(int(i) for i in np.argwhere(other)[0])
            pair = np.atleast_1d(got)[at], np.atleast_1d(want)[at]
            rows.append((name, int(other.sum()), want.size, f"at {list(at)}: {pair[0]!r}, wanted {pair[1]!r}"))
    return rows


def sources(model, name):
    """The nodes that a value depends on, as lines, in order."""
    nodes, wanted, lines = list(model.graph.node), {name}, []
    for node in reversed(nodes):
        if wanted & set(node.output):
            wanted |= set(node.input)
            lines.append(f"    {node.op_type} {node.name}: {', '.join(node.input)} -> {', '.join(node.output)}")
    return lines[::-1]


def report(model, rows):
    for name, count, size, first in rows:
        print(f"  {name}: {count} of {size} elements, {first}")
    print("\n".join(sources(model, rows[0][0])))


def judge(args, name, target, folder):
    """The verdict on a model, and the differences or a text."""
    model = args.folder / f"{name}.onnx"
    stored = args.folder / args.variant / f"{name}.npz"
    if not stored.exists():
        return ("failed, with a finding" if findings(args.qdq, model, target) else "failed, no finding"), ""
    with np.load(args.folder / f"{name}.npz") as inputs:
        found, text = predict(args.qdq, model, dict(inputs), target, folder, args.words)
    if found is None:
        warned = findings(args.qdq, model, target)
        return ("warned, refused", warned[0]) if warned else ("different", text)
    with np.load(stored) as wanted:
        rows = differences(found, dict(wanted))
    if not rows:
        return "equal", ""
    warned = findings(args.qdq, model, target)
    return ("warned", warned[0]) if warned else ("different", rows)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("variant")
    parser.add_argument("--qdq", required=True)
    parser.add_argument("--target", default="ort@1.31-{}")
    parser.add_argument("--first", type=int)
    parser.add_argument("--only", default="", help="models with this word in their name")
    parser.add_argument("--list", action="store_true", help="print every model that is not equal")
    parser.add_argument("words", nargs="*", help="after --: more options of qdq run")
    return parser.parse_args()


def main():
    args = parse()
    target = args.target.replace("{}", args.variant)
    names = sorted(p.stem for p in args.folder.glob("*.onnx") if args.only in p.stem)[: args.first]
    done = args.folder / args.variant
    ran = set(json.loads((done / "errors.json").read_text())) | {p.stem for p in done.glob("*.npz")}
    counts, kinds, shown = Counter(), Counter(), False
    with tempfile.TemporaryDirectory() as folder:
        for name in (n for n in names if n in ran):
            verdict, why = judge(args, name, target, Path(folder))
            counts[verdict] += 1
            if verdict == "different":
                kinds[name.split("_", 2)[-1]] += 1
                if not shown:
                    shown = True
                    print(f"{name}:")
                    if isinstance(why, str):
                        print(f"  {why}")
                    else:
                        report(onnx.load(args.folder / f"{name}.onnx"), why)
            if args.list and verdict != "equal":
                print(f"{name}: {verdict}: {why if isinstance(why, str) else why[0]}")
    print(f"{target}: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    if kinds:
        print("different: " + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()))
    return 1 if counts["different"] or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
