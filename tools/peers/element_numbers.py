# SPDX-License-Identifier: Apache-2.0
"""Elements for renew.py: every float16, or random bit patterns of other dtypes, and special numbers: zeros, infinities,
NaN, subnormals, the ends of the range."""

import numpy as np

COUNT = 65536
INFINITY = float("inf")


def specials(dtype):
    """Zeros, infinities, NaN, subnormals, the ends of the range, and numbers near halves; of integers the ends."""
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.array([0, 1, 2, 3, low, low + 1, high, high - 1, high // 2], dtype)
    info = np.finfo(dtype)
    sizes = [0.0, 0.5, 1, 1.5, 2, 2.5, 3, info.max, info.tiny, info.tiny / 2, info.smallest_subnormal, INFINITY, float("nan")]
    sizes += [np.nextafter(dtype.type(one), dtype.type(two)) for one, two in ((0.5, 0), (0.5, 1), (1, 2), (2, 0))]
    return np.array([sign * one for one in sizes for sign in (1, -1)], dtype)


def patterns(rng, dtype):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, 64).astype(np.bool_)
    if dtype == np.float16:
        return np.arange(COUNT, dtype=np.uint16).view(np.float16)
    made = rng.integers(0, 256, COUNT * dtype.itemsize, dtype=np.uint8).view(dtype)
    if dtype.itemsize > 1:
        few = specials(dtype)
        made[: few.size] = few
    return made


def pairs(seed, dtype):
    """Two operands: any bits, numbers of one size, and each special number with each other one."""
    a = patterns(np.random.default_rng([seed, 2]), dtype)
    b = np.random.default_rng([seed, 3]).permutation(patterns(np.random.default_rng([seed, 4]), dtype))
    near = np.where(np.arange(COUNT) % 2 == 0, b, a[::-1]).astype(dtype)
    if np.dtype(dtype).itemsize > 1:
        few = specials(np.dtype(dtype))
        a, count = a.copy(), few.size**2
        a[:count], near[:count] = np.repeat(few, few.size), np.tile(few, few.size)
    return a, near
