#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the networks of models/digits as ONNX models in ONNX Runtime, on the held-out images.

    digits_onnx.py QDQ_BINARY [--write]

Prints how far the scores are apart and how often the digit differs, with ONNX Runtime's
optimizations off and on. --write keeps the scores of the int8 network, optimizations off, in
models/digits/onnxruntime.safetensors, which tests/models/test_digits.py compares with.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from network_onnx import run

MODELS = Path(__file__).resolve().parents[2] / "models/digits"
KINDS = ("float32", "int8", "int4", "float8")


def scores_of_qdq(qdq, kind):
    with tempfile.TemporaryDirectory(prefix="qdq-digits-") as folder:
        out = Path(folder) / "scores.safetensors"
        subprocess.run([qdq, "run", MODELS / f"{kind}.json", "-i",
                        MODELS / "held_out.safetensors", "-o", out], check=True,
                       stdout=subprocess.DEVNULL)
        return load_file(out)["scores"]


def main(words):
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    held_out = load_file(MODELS / "held_out.safetensors")
    labels = held_out["labels"]
    others = 0
    for kind in KINDS:
        ours = scores_of_qdq(words[0], kind)
        print(f"{kind}: qdq right {np.sum(ours.argmax(1) == labels)} of {len(labels)}")
        for optimize in (False, True):
            name = "on" if optimize else "off"
            try:
                theirs = run(MODELS / f"{kind}.json", held_out, optimize)["scores"]
            except Exception as error:  # no kernel for some type
                print(f"  optimizations {name}: ONNX Runtime refuses: {str(error)[:150]}")
                continue
            far = np.abs(ours.astype(np.float64) - theirs)
            other = int(np.sum(ours.argmax(1) != theirs.argmax(1)))
            others += other if kind == "int8" else 0
            print(f"  optimizations {name}: right {np.sum(theirs.argmax(1) == labels)}, other digit "
                  f"{other}, equal bits {np.sum(ours == theirs)} of {ours.size}, "
                  f"apart by more than 1e-4 {np.sum(far > 1e-4)}, at most {far.max():.3g}; "
                  f"largest score {np.abs(ours).max():.3g}")
            if kind == "int8" and not optimize and "--write" in words:
                save_file({"scores": theirs}, MODELS / "onnxruntime.safetensors")
                (MODELS / "onnxruntime.safetensors").chmod(0o644)
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
