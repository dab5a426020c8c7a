#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how many codes of models/attention differ in ONNX Runtime.

    attention_onnx.py

Converts the block to an ONNX model and compares with expected.safetensors, which float64 arithmetic
made. Exits with 1 if a code is off by more than one without optimizations.
"""

import sys
from pathlib import Path

import numpy as np

from network_onnx import load_tensors, run

MODEL = Path(__file__).resolve().parents[2] / "models/attention"


def main():
    wanted = load_tensors(MODEL / "expected.safetensors")
    inputs = load_tensors(MODEL / "inputs.safetensors")
    far = 0
    for optimize in (False, True):
        print(f"optimizations {'on' if optimize else 'off'}")
        try:
            made = run(MODEL / "graph.json", inputs, optimize)
        except Exception as error:  # optimizing may give a model that ONNX Runtime itself refuses
            print(f"  ONNX Runtime refuses: {str(error)[:150]}")
            far = far if optimize else 2
            continue
        # Outputs of the graph are named like their values, some with ".code" appended.
        for name, array in made.items():
            expected = wanted[name.removesuffix(".code")]
            apart = np.abs(array.astype(int) - expected.astype(int))
            far = far if optimize else max(far, int(apart.max()))
            print(f"  {name}: {np.sum(apart > 0)} of {apart.size} differ, at most {apart.max()}")
    return 1 if far > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
