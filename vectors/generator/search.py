# SPDX-License-Identifier: Apache-2.0
"""Finds numbers at which formulas of Quantize differ. The formulas only choose inputs; results come from the library."""

import itertools
import math
from fractions import Fraction

from tensor import f32, rounded, step


def even(v):
    return round(v)


def away(v):
    return math.floor(abs(v) + 0.5) * (1 if v > 0 else -1) if abs(v) < 2**52 else int(v)


def up(v):
    return math.floor(v + 0.5)


def fused(x, r, z):
    """One rounding of x * r + z, near enough to choose inputs."""
    return f32(float(Fraction(x) * Fraction(r) + z))


def formulas(x, s, z):
    """Returns the code of x by each formula, before the clamp."""
    q, r = f32(x / s), f32(1 / s)
    p = f32(x * r)
    return (even(q) + z, even(p) + z, away(q) + z, away(p) + z, up(q) + z, even(f32(q + z)), even(f32(p + z)),
            even(fused(x, r, z)), away(fused(x, r, z)), away(fused(x, r, z + 128)) - 128, even(fused(x, r, 0)) + z,
            math.trunc(q) + z)  # fmt: skip


def separating(s, z, codes, dtype="float32", most=12):
    """Returns numbers of `dtype` whose codes lie in `codes`, a range, and which separate every pair of formulas that some
    number near a tie separates."""
    open_pairs = set(itertools.combinations(range(12), 2))
    chosen = []
    spread = sorted(codes, key=lambda k: (abs(k - z) % 16, k))
    for k in spread[:400]:
        for d in (0, 1, -1, 2, -2) if dtype == "float32" else (0,):
            tie = (k - z + 0.5) * s
            if abs(tie) > (6e4 if dtype == "float16" else 3e38):
                continue
            x = step(f32(tie), d) if dtype == "float32" else rounded(dtype, tie)
            results = formulas(x, s, z)
            split = {(i, j) for i, j in open_pairs if results[i] != results[j]}
            if split and x not in chosen:
                chosen.append(x)
                open_pairs -= split
            if len(chosen) == most or not open_pairs:
                return chosen
    return chosen
