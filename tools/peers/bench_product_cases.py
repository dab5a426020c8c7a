# SPDX-License-Identifier: Apache-2.0
"""The matrix products that bench_peers.py times."""

from collections import namedtuple

# y [rows, columns] = a [rows, depth] * b [depth, columns]; b is a constant. limit: "peak" for the
# rate of multiplications, or "read" for reading as many bytes as b has.
Product = namedtuple("Product", "name dtype rows depth columns limit")

# a is uint8 with a zero point, b int8 per channel; then bias, ReLU, Quantize to uint8
INT8 = "int8"
CASES = [
    Product(INT8, "int8", 32, 1024, 1024, "peak"),
    Product(INT8, "int8", 512, 1024, 1024, "peak"),
    Product(INT8, "int8", 2048, 2048, 2048, "peak"),
    Product(INT8, "int8", 1, 4096, 4096, "read"),
    Product("bfloat16", "bfloat16", 512, 1024, 1024, "peak"),
    Product("float32", "float32", 512, 1024, 1024, "peak"),
]


def all_cases():
    return CASES


def size_of(case):
    return f"{case.rows}x{case.depth}x{case.columns}"


def multiplications(case):
    return case.rows * case.depth * case.columns
