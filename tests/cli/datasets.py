# SPDX-License-Identifier: Apache-2.0
"""Data sets and states, for the tests of commands over data sets."""

import json
import struct
import subprocess
import tempfile
import zipfile
from fractions import Fraction
from pathlib import Path

import harness
from harness import graph, node, npy_bytes, tensor

SHAPE = [2, 3]


def npz(path, compression=zipfile.ZIP_STORED, **tensors):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, one in tensors.items():
            archive.writestr(f"{name}.npy", npy_bytes(harness.NPY[one.dtype], one.shape, one.data))


def compression():
    """A build without zlib reads stored members only, and says so."""
    with tempfile.TemporaryDirectory(prefix="qdq-cli-") as name:
        npz(Path(name) / "a.npz", zipfile.ZIP_DEFLATED, x=tensor("float32", [1, *SHAPE], [0.0] * 6))
        one = graph([node("ReLU", "r", "x")])
        (Path(name) / "g.json").write_text(json.dumps(one), encoding="utf-8")
        done = subprocess.run([harness.QDQ, "calibrate", "g.json", "--data", "a.npz", "-o", "s"], cwd=name,
                              capture_output=True, check=False)
        return zipfile.ZIP_STORED if b"this build has no zlib" in done.stderr else zipfile.ZIP_DEFLATED


def names(state, tensor_name):
    """The texts of a column; a missing tensor has none."""
    return state[tensor_name].data.decode().split("\0")[:-1] if tensor_name in state else []


def numbers(state, name):
    """The rows of a column of numbers."""
    one = state[name]
    flat = struct.unpack(f"<{len(one.data) // 8}{'d' if one.dtype == 'float64' else 'q'}", one.data)
    width = one.shape[-1]
    return [flat[i:i + width] for i in range(0, len(flat), width)]


def exact(digits, shift):
    """The number whose digits to the base 2^32 count 2^-shift."""
    return Fraction(sum(digit << 32 * i for i, digit in enumerate(digits)), 2**shift)
