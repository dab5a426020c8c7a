# SPDX-License-Identifier: Apache-2.0
"""Writes models with qdq convert, checks them with onnx.checker, and compares ONNX Runtime's results of
each written model with those of the model it came from.

    python3 onnx_written.py --qdq QDQ_BINARY [MODEL.onnx [DIM=SIZE ...]]

Without a model all of tests/onnx/models. Both models run without graph optimization, on one thread.
Models with ops that a peer has no kernel for are "not run". Results are equal, or within TOLERANCE of
the greatest number of an output where qdq writes a formula in place of an op.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import ort_session
from onnx import helper

MODELS = Path(__file__).resolve().parents[2] / "tests/onnx/models"
GIVEN = {"forbidden_names": ["n=3"], "shapes": ["rows=4", "columns=5"], "convolutions": ["batch=2"],
         "open_sizes": ["batch=1", "height=4"], "long_sequences": ["steps=80"]}  # fmt: skip
LEFT_OUT = ("refused", "growing", "cycle", "until", "ended_folds", "trt")
TOLERANCE = 4e-6
STEPS = ("microsoft",)  # codes of these may be one step away: formulas in place of QLinear ops


def feeds_of(model, dims, random):
    """Random inputs by the declared types of the written model, and the sizes of its open dims."""
    sizes = dict(dim.rsplit("=", 1) for dim in dims)
    feeds = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value or int(sizes[d.dim_param]) for d in kind.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if dtype == bool:
            feeds[value.name] = random.integers(0, 2, shape).astype(bool)
        elif np.dtype(dtype).kind == "f":
            feeds[value.name] = random.standard_normal(shape).astype(dtype)
        else:
            feeds[value.name] = random.integers(0, 2, shape).astype(dtype)
    return feeds


def compare(name, found, wanted):
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype} {found.shape}, wanted {wanted.dtype} {wanted.shape}", 1
    if found.tobytes() == wanted.tobytes() or np.array_equal(found, wanted):
        return None, 0
    if wanted.dtype.kind != "f":
        step = np.max(np.abs(found.astype(np.int64) - wanted.astype(np.int64)))
        return (None if name in STEPS and step <= 1 else f"{np.sum(found != wanted)} of {found.size} differ"), 0
    both = np.isfinite(found) & np.isfinite(wanted)
    if not np.array_equal(np.isfinite(found), np.isfinite(wanted)):
        return "other infinities or NaN", 1
    size = max(np.max(np.abs(wanted[both]), initial=0), 0.1)
    worst = float(np.max(np.abs(found[both].astype(np.float64) - wanted[both]), initial=0) / size)
    return (f"off by {worst:.3g}" if worst > TOLERANCE else None), worst


def try_model(binary, path, dims, folder):
    out = folder / "written.onnx"
    words = [word for dim in dims for word in ("--dim", dim)]
    done = subprocess.run([binary, "convert", path, *words, "-o", out], capture_output=True, text=True, check=False)
    if done.returncode:
        return "FAIL", f"is not written: {done.stderr.strip()[:500]}"
    try:
        onnx.checker.check_model(str(out), full_check=True)
    except Exception as why:
        return "FAIL", f"onnx.checker: {str(why)[:400]}"
    try:
        first = ort_session.session(path)
    except Exception as why:
        return "not run", str(why)[:120]
    try:
        second = ort_session.session(out)
    except Exception as why:
        words = str(why)
        return "not run" if "NOT_IMPLEMENTED" in words else "FAIL", f"ONNX Runtime: {words[:300]}"
    feeds = feeds_of(onnx.load(out, load_external_data=False), dims, np.random.default_rng(1))
    names = [output.name for output in first.get_outputs()]
    assert names == [output.name for output in second.get_outputs()], "the outputs have other names"
    numpy_has = ("float", "double", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16")
    names = [output.name for output in first.get_outputs() if output.type.removesuffix(")").removeprefix("tensor(") in numpy_has]
    known = {value.name for value in first.get_inputs()}
    if not names:
        return "not run", "numpy has none of the dtypes"
    results = zip(names, second.run(names, feeds), first.run(names, {n: a for n, a in feeds.items() if n in known}))
    worst = 0.0
    for name, found, wanted in results:
        why, off = compare(path.stem, found, wanted)
        if why:
            return "FAIL", f"{name}: {why}"
        worst = max(worst, off)
    return "ok", f"opset {onnx.load(out, load_external_data=False).opset_import[0].version}, " + (
        f"within {worst:.2g}" if worst else "equal")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--qdq", type=Path, required=True)
    parser.add_argument("model", nargs="*")
    options = parser.parse_args()
    if options.model:
        models = [(Path(options.model[0]), options.model[1:])]
    else:
        paths = [path for path in sorted(MODELS.glob("*.onnx")) if path.stem not in LEFT_OUT]
        models = [(path, GIVEN.get(path.stem, [])) for path in paths]
    failed = ran = 0
    for path, dims in models:
        with tempfile.TemporaryDirectory() as folder:
            word, why = try_model(options.qdq, path, dims, Path(folder))
        print(f"{path.stem}: {word}: {why}", flush=True)
        failed += word == "FAIL"
        ran += word == "ok"
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
