# SPDX-License-Identifier: Apache-2.0
"""Writes small models whose results depend on ONNX Runtime's optimizations or on the processor, and collects what it
computes for them into ../../tests/onnx/ort/.

    python3 ort_examples.py FOLDER --make        models and inputs, as ort_graphs.py
    python3 ort_run.py FOLDER --out FOLDER/all.vnni [--level disabled --out FOLDER/disabled.vnni]
    python3 ort_examples.py FOLDER --collect     copies the models, and adds to results.json

Collects each folder LEVEL.VARIANT that ort_run.py wrote; other runs of a model whose inputs are the same stay, and so do
models that FOLDER lacks (--only WORD makes those with a word in their name). results.json has for each model its inputs, and a list of
different results: {"runs": ["all avx2", "all vnni"], "outputs": {...}} or {"runs": [...], "error": "..."}, which is
the message's first line. A tensor is {"dtype", "shape", "values"}; float32 values are printed exactly.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import ort_conv_models as convs
import ort_deployed_models as deployed
import ort_dynamic_models as dynamic
import ort_example_models as examples
import ort_float_models as floats
import ort_groups
import ort_nbits_models as nbits
import ort_rewrite_models as rewrites

KINDS = examples, rewrites, dynamic, nbits, floats, deployed, convs
OUT = Path(__file__).resolve().parents[2] / "tests/onnx/ort"
DRAWN = 2, [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 17, 18, 19, 28, 29, 34, 43, 44, 58, 59, 73, 74, 89, 119, 149]


def models():
    """Name, model and inputs of each."""
    for name, make in {n: m for kind in KINDS for n, m in kind.EXAMPLES.items()}.items():
        b = make()
        yield name, b.model(), b.inputs
    seed, indices = DRAWN
    for index in indices:
        b = ort_groups.make(seed, index).b
        yield f"drawn_{index:02}_{b.ops[0].replace(' ', '_').lower()}", b.model(), b.inputs


def make(folder, word):
    folder.mkdir(parents=True, exist_ok=True)
    for name, model, inputs in models():
        if word not in name:
            continue
        onnx.save(model, folder / f"{name}.onnx")
        np.savez(folder / f"{name}.npz", **inputs)


def tensor(array):
    array = np.asarray(array)
    values = array.ravel().tolist()
    if array.dtype == np.float32:
        values = [float(str(v)) for v in array.ravel()]  # the shortest decimal that is this float32
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}


def tensors(path):
    with np.load(path) as stored:
        return {name: tensor(stored[name]) for name in stored.files}


def results(folder, name, known):
    """Different results of a model, each with the runs that gave it: those known before, and the new ones."""
    here = sorted(p for p in folder.iterdir() if p.is_dir())
    labels = {" ".join(run.name.rsplit(".", 1)) for run in here}
    found = [([r for r in row["runs"] if r not in labels], {k: v for k, v in row.items() if k != "runs"}) for row in known]
    for run in here:
        errors = json.loads((run / "errors.json").read_text())
        one = {"error": errors[name].splitlines()[0][:160]} if name in errors else {"outputs": tensors(run / f"{name}.npz")}
        label = " ".join(run.name.rsplit(".", 1))
        for runs, other in found:
            if other == one:
                runs.append(label)
                break
        else:
            found.append(([label], one))
    return [{"runs": sorted(runs), **one} for runs, one in found if runs]


def collect(folder):
    OUT.mkdir(exist_ok=True)
    path = OUT / "results.json"
    rows = json.loads(path.read_text()) if path.exists() else {}
    for model in sorted(folder.glob("*.onnx")):
        shutil.copy(model, OUT / model.name)
        inputs = tensors(model.with_suffix(".npz"))
        known = rows.get(model.stem, {"inputs": None})
        known = known["results"] if known["inputs"] == inputs else []
        rows[model.stem] = {"inputs": inputs, "results": results(folder, model.stem, known)}
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rows.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--collect", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD")
    args = parser.parse_args()
    if args.make:
        make(args.folder, args.only)
    if args.collect:
        collect(args.folder)


if __name__ == "__main__":
    main()
