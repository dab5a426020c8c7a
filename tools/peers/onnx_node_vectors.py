# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own test vectors of single nodes with qdq, and compares.

    python3 onnx_node_vectors.py --qdq QDQ_BINARY [--only WORDS]

The package onnx contains the vectors (up to 1.22), or the code that makes them. Outputs that qdq refuses
are left out, but never the first. Inputs that it needs as constants (axes, shapes, bounds) are made
constants. Floats are compared as ONNX compares them, everything else bit for bit.
"""

import argparse
import collections
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader

from onnx_reader import Refused, as_codes, check, run

FED = ("float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "bool", "int64", "uint32", "uint64", "float64")


def frozen(model, arrays, fed):
    """The model with all inputs except those in `fed` as constants."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    kept = [value for value in made.graph.input if value.name in fed]
    for value in made.graph.input:
        if value.name not in fed and value.name in arrays:
            made.graph.initializer.append(numpy_helper.from_array(arrays[value.name], value.name))
    del made.graph.input[:]
    made.graph.input.extend(kept)
    return made


def is_like(found, wanted, case):
    wanted = as_codes(wanted)
    if found is None or found.shape != wanted.shape:
        return False
    if wanted.dtype.kind == "f":
        return np.allclose(found, wanted, rtol=case.rtol, atol=max(case.atol, 1e-7), equal_nan=True)
    return np.array_equal(found, wanted)


def try_model(binary, model, feeds, wanted, case):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        onnx.save(model, folder / "case.onnx")
        try:
            check(binary, folder / "case.onnx")
        except (Refused, onnx.checker.ValidationError) as why:
            return "refused", " ".join(str(why).split())[:220]
        found, why = run(binary, folder, feeds)
    if why:
        return "FAIL", why
    wrong = [n for n, value in wanted.items() if not is_like(found.get(n), value, case)]
    if wrong:
        return "FAIL", f"{wrong[0]} is {found.get(wrong[0])}, not {wanted[wrong[0]]}"[:600]
    return "ok", ""


def array_of(value):
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value)


def stored(path, kind):
    """The tensor in a file of vectors, or None for a sequence or an optional."""
    if not kind.HasField("tensor_type"):
        return None
    return onnx.load_tensor(path)


def vectors():
    """All cases, with their models and data."""
    if hasattr(loader, "load_node_model_tests"):
        return loader.load_node_model_tests()
    cases = sorted(loader.load_model_tests(kind="node"), key=lambda case: case.name)
    for case in cases:
        case.model = onnx.load(Path(case.model_dir) / "model.onnx")
        folder = Path(case.model_dir) / "test_data_set_0"
        case.data_sets = [[[stored(folder / f"{word}_{n}.pb", value.type) for n, value in enumerate(values)]
                           for word, values in (("input", case.model.graph.input), ("output", case.model.graph.output))]]  # fmt: skip
    return cases


def try_case(binary, case):
    """Tries all inputs at run time, then only the first, then none, until qdq accepts."""
    inputs, outputs = case.data_sets[0]
    if any(isinstance(value, (list, type(None))) for value in (*inputs, *outputs)):
        return "not run", "a sequence, or nothing"
    arrays = {v.name: array_of(a) for v, a in zip(case.model.graph.input, inputs)}
    wanted = {v.name: array_of(a) for v, a in zip(case.model.graph.output, outputs)}
    able = [n for n, a in arrays.items() if str(a.dtype) in FED and a.size]
    for outputs in (len(wanted), 1):
        for fed in (able, able[:1], []):
            model = frozen(case.model, arrays, fed)
            del model.graph.output[outputs:]
            names = [value.name for value in model.graph.output]
            feeds = {name: arrays[name] for name in fed}
            word, why = try_model(binary, model, feeds, {n: wanted[n] for n in names}, case)
            if word != "refused":
                return word, why
    return word, why


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--qdq", type=Path, required=True)
    parser.add_argument("--only", default="", help="vectors with this in their name")
    options = parser.parse_args()
    total = collections.Counter()
    for case in vectors():
        if options.only not in case.name:
            continue
        word, why = try_case(options.qdq, case)
        total[word] += 1
        print(f"{word} {case.name}" + (f": {why}" if why else ""), flush=True)
    print(", ".join(f"{count} {word}" for word, count in total.items()))
    return 1 if total["FAIL"] or not total["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
