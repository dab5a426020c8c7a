# SPDX-License-Identifier: Apache-2.0
"""Shared by the scripts that make the folders of models/."""

from pathlib import Path

import numpy as np

from dtypes import DTYPES
from folder import write_folder

HERE = Path(__file__).resolve().parent


def float32(values):
    return np.array(values, np.float32)


def bfloat16(values):
    return float32(values).astype(DTYPES["bfloat16"])


def spread(shape):
    """Distinct multiples of 1/512 from -3.9 to 3.9 in a fixed shuffled order."""
    index = np.arange(np.prod(shape), dtype=np.int64)
    return float32((index * 7919 % 4001 - 2000) / 512).reshape(shape)


def write_model(name, about, inputs, nodes, outputs, printed, **more):
    """Writes a folder whose outputs must be the printed numbers: integers exactly, floats to
    6e-7."""
    made = write_folder(HERE / name, about, inputs, nodes, outputs, **more)
    for output, numbers in printed.items():
        numbers = np.array(numbers)
        assert numbers.shape == made[output].shape, f"{name}: {output}"
        if made[output].dtype.kind in "iu":
            assert np.array_equal(made[output], numbers), f"{name}: {output} is {made[output]}"
        else:
            close = np.allclose(made[output].astype(np.float64), numbers, rtol=0, atol=6e-7)
            assert close, f"{name}: {output} is {made[output]}"
    return made
