# SPDX-License-Identifier: Apache-2.0
"""Checks an implementation against the bits of a backend: with pytest, or alone.

    BACKEND=onnx@1.32-vnni IMPLEMENTATION=mine:implement pytest test_vectors.py
    python3 test_vectors.py FILE.json... --backend onnx@1.32-vnni --implementation mine:implement

`implement(group)` returns {output: [a word for each element]}, or None for a group that it does not implement. A word is the
bits of an element in hexadecimal, as in the file; any NaN is "nan". The default is onnx_quantize.py beside this file.
"""

import argparse
import importlib
import json
import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), os.getcwd()]


def covers(short, name):
    return name == short or name.startswith((f"{short}@", f"{short}-"))


def expected(group, backend):
    """Returns {output: words} of the row with the longest name that covers the backend; None if that has no bits."""
    found = [(len(short), i) for i, row in enumerate(group["results"]) for short in row["backends"] if covers(short, backend)]
    bits = group["results"][max(found)[1]].get("bits") if found else None
    return bits and {output: words.split() for output, words in bits.items()}


def load(path, backend):
    """Returns the groups of a file that have bits of the backend, with these."""
    content = json.loads(Path(path).read_text())
    if backend not in content["versions"]:
        raise SystemExit(f"{path}: no backend {backend}; it has {', '.join(content['versions'])}")
    pairs = ((group, expected(group, backend)) for group in content["groups"])
    return [(group, words) for group, words in pairs if words is not None]


def implementation(name):
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def difference(group, words, found):
    """Returns a sentence about the first element that differs; "" if none does."""
    for output, wanted in words.items():
        got = list(found.get(output, []))
        if len(got) != len(wanted):
            return f"{group['id']}: {output} has {len(got)} elements, wanted {len(wanted)}"
        for i, (one, right) in enumerate(zip(got, wanted)):
            if one != right:
                return f"{group['id']}: {output}[{i}] is {one}, wanted {right} ({group['about']})"
    return ""


def pytest_generate_tests(metafunc):
    files = os.environ.get("VECTORS", "").split() or sorted(HERE.parents[1].glob("*.json"))
    pairs = [pair for file in files for pair in load(file, os.environ.get("BACKEND", "core"))]
    metafunc.parametrize("group, words", pairs, ids=[group["id"] for group, _ in pairs])


def test_group(group, words):
    found = implementation(os.environ.get("IMPLEMENTATION", "onnx_quantize:implement"))(group)
    if found is None:
        raise unittest.SkipTest("not implemented")
    assert not difference(group, words, found), difference(group, words, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--backend", default="core")
    parser.add_argument("--implementation", default="onnx_quantize:implement")
    given = parser.parse_args()
    implement, same, skipped, wrong = implementation(given.implementation), 0, 0, []
    for group, words in (pair for file in given.files for pair in load(file, given.backend)):
        found = implement(group)
        wrong += [one for one in [found is not None and difference(group, words, found)] if one]
        same, skipped = same + (found is not None), skipped + (found is None)
    print("\n".join([*wrong, f"{given.backend}: {same - len(wrong)} groups equal, {len(wrong)} differ, {skipped} not implemented"]))
    return bool(wrong) if same else 2


if __name__ == "__main__":
    sys.exit(main())
