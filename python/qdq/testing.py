# SPDX-License-Identifier: Apache-2.0
"""Compares results bit by bit, for tests."""

from __future__ import annotations

import math
from typing import Any, Iterable, Optional, Tuple

import numpy as np
from ._types import Array


def _bits(array: Array) -> Any:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def _order(bits: Any, dtype: np.dtype[Any]) -> Array:
    """Maps bits to integers in the order of the numbers, so that neighbours differ by 1."""
    if dtype.kind in "iu":
        same: Array = bits.view(dtype).astype(object) if dtype.itemsize == 8 else bits.view(dtype).astype(np.int64)
        return same
    width = 8 * dtype.itemsize
    magnitude = (bits & bits.dtype.type((1 << (width - 1)) - 1)).astype(object if width == 64 else np.int64)
    ordered: Array = np.where(bits >> bits.dtype.type(width - 1) == 1, -magnitude, magnitude)
    return ordered


def differing(got: Array, want: Array) -> Tuple[Array, Array]:
    """Compares two arrays of the same dtype and shape: returns where bits differ, and by how many steps. A scalar
    counts as an element."""
    a, b = np.atleast_1d(_bits(got)), np.atleast_1d(_bits(want))
    other = a != b
    if got.dtype.kind == "b":
        return other, other.astype(int)
    return other, np.abs(_order(a, got.dtype) - _order(b, want.dtype))


def closeness(a: Array, b: Array) -> Tuple[Optional[float], Optional[float]]:
    """Returns the relative error |a - b| / |a| and the cosine of two float arrays, with norms over the elements that are
    finite in both. None for integers and booleans, and for the cosine if a norm is 0."""
    if a.dtype.kind in "iub":
        return None, None
    x, y = (np.asarray(one, np.float64).ravel() for one in (a, b))
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    error, first, second = (math.sqrt(float(np.dot(one, one))) for one in (x - y, x, y))
    relative = 0.0 if not error else error / first if first else math.inf
    return relative, float(np.dot(x, y)) / first / second if first and second else None


def index_text(index: Iterable[Any]) -> str:
    """ "[0, 3]" """
    return str([int(i) for i in index])


def element_text(array: Array, index: Iterable[Any]) -> str:
    """Returns an element and its bits: "0.5 (0x3f000000)"."""
    bits = int(np.atleast_1d(_bits(array))[tuple(index)])
    return f"{np.atleast_1d(array)[tuple(index)]} (0x{bits:0{2 * array.dtype.itemsize}x})"


def _compare(name: str, got: Any, want: Any) -> str:
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{name}: found {got.dtype}{list(got.shape)}, wanted {want.dtype}{list(want.shape)}"
    other, steps = differing(got, want)
    if not other.any():
        return ""
    worst = np.unravel_index(int(np.argmax(steps)), steps.shape)
    first = np.argwhere(other)[0]

    def at(index: Iterable[Any]) -> str:
        return f"{index_text(index)}: found {element_text(got, index)}, wanted {element_text(want, index)}"

    return (f"{name}: {int(other.sum())} of {other.size} elements differ, at most {int(steps[worst])} steps\n"
            f"  first at {at(first)}\n  worst at {at(worst)}")  # fmt: skip


def assert_same_bits(got: Any, want: Any) -> None:
    """Raises AssertionError unless two arrays, or dicts of arrays by name, have the same dtypes, shapes and bits.

    The message has the number of elements that differ, and the first and the worst of them with their bits and their
    distance in steps: 1 is the next number of the dtype. -0 and 0 differ, and so do NaNs with other bits.
    """
    if isinstance(want, dict):
        if not isinstance(got, dict) or got.keys() != want.keys():
            raise AssertionError(f"found {sorted(got) if isinstance(got, dict) else type(got)}, wanted {sorted(want)}")
        texts = [_compare(name, got[name], want[name]) for name in want]
    else:
        texts = [_compare("result", got, want)]
    texts = [text for text in texts if text]
    if texts:
        raise AssertionError("\n".join(texts))
