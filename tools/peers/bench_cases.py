# SPDX-License-Identifier: Apache-2.0
"""The elementwise work that bench_peers.py times: inputs, nodes, outputs, and targets for speed."""

import random
from collections import namedtuple

# name: as in the table. nodes: (op, attributes of qdq), each fed by the one before. first: bytes
# that the op must read once before everything else. kind: "run", "tilize", "untilize" or "compile".
# aim: as a fraction of the limit and as a multiple of the best peer, with 1 and 2 threads; for a
# case that is a time of its own, microseconds. small: its time counts, not its bytes.
Case = namedtuple("Case", "name size kind shape x y nodes first aim small")

BYTES = {"float32": 4, "int32": 4, "bfloat16": 2, "int8": 1, "uint8": 1}
SHAPES = {"1K": (32, 32), "64K": (256, 256), "1M": (1024, 1024), "16M": (4096, 4096),
          "64M": (8192, 8192)}


def elements(case):
    return case.shape[0] * case.shape[1]


def in_bytes(case):
    return elements(case) * BYTES[case.x]


def out_bytes(case):
    return elements(case) * BYTES[case.y]


def moved_bytes(case):
    return in_bytes(case) + out_bytes(case) + case.first


def case_of(name, size, x, y, nodes, aim, kind="run", first=0, small=False):
    return Case(name, size, kind, SHAPES[size], x, y, nodes, first, aim, small)


def channels(axis, count=4096, seed=7):
    """Scales and zero points that float32 holds exactly, one for each channel."""
    rng = random.Random(seed)
    return {"qtype": "per_channel", "axis": axis,
            "scales": [rng.randrange(1 << 14, 1 << 16) / (1 << 21) for _ in range(count)],
            "zps": [rng.randrange(-20, 20) for _ in range(count)], "dtype": "int8"}


QUANTIZE = ("Quantize", {"scales": 0.03, "zps": 3, "dtype": "int8"})
DEQUANTIZE = ("Dequantize", {"scales": 0.03, "zps": 3, "dtype": "float32"})
TO_BFLOAT16 = ("Dequantize", {"scales": 0.03, "zps": 3, "dtype": "bfloat16"})
REQUANTIZE = ("Requantize", {"in_scales": 0.03, "in_zps": 3, "out_scales": 0.05, "out_zps": -2,
                             "dtype": "int8"})
NARROW = ("Requantize", {"in_scales": 0.0004, "in_zps": 0, "out_scales": 0.2, "out_zps": 5,
                         "dtype": "int8"})
DYNAMIC = ("DynamicQuantize", {"dtype": "uint8"})
CHAIN = [QUANTIZE, DEQUANTIZE, ("Quantize", {"scales": 0.05, "zps": -2, "dtype": "int8"}),
         ("Dequantize", {"scales": 0.05, "zps": -2, "dtype": "float32"})]


def dynamic(size, aim):
    shape = SHAPES[size]
    return case_of("DynamicQuantize float32 to uint8", size, "float32", "uint8", [DYNAMIC], aim,
                   first=4 * shape[0] * shape[1])


def all_cases():
    q, d = "Quantize float32 to int8", "Dequantize int8 to float32"
    qb, db = "Quantize bfloat16 to int8", "Dequantize int8 to bfloat16"
    r, c = "Requantize int8 to int8", "Q, DQ, Q, DQ of float32"
    last, first = [("Quantize", channels(1))], [("Quantize", channels(0))]
    return [
        case_of(q, "64K", "float32", "int8", [QUANTIZE], (0.80, 2.0, 2.0)),
        case_of(q, "1M", "float32", "int8", [QUANTIZE], (0.85, 1.2, 1.8)),
        case_of(q, "64M", "float32", "int8", [QUANTIZE], (0.95, 1.15, 1.15)),
        case_of("the same per channel, last axis", "16M", "float32", "int8", last,
                (0.92, 1.6, 1.6)),
        case_of("the same per channel, axis 0", "16M", "float32", "int8", first, (0.95, 1.2, 1.2)),
        case_of(d, "64K", "int8", "float32", [DEQUANTIZE], (0.90, 2.7, 2.7)),
        case_of(d, "64M", "int8", "float32", [DEQUANTIZE], (0.95, 1.25, 1.25)),
        case_of(qb, "64K", "bfloat16", "int8", [QUANTIZE], (0.45, 3.5, 3.5)),
        case_of(qb, "64M", "bfloat16", "int8", [QUANTIZE], (0.95, 2.3, 1.5)),
        case_of(db, "64K", "int8", "bfloat16", [TO_BFLOAT16], (0.60, 4.0, 4.0)),
        case_of(db, "64M", "int8", "bfloat16", [TO_BFLOAT16], (0.95, 1.45, 1.45)),
        case_of(r, "64K", "int8", "int8", [REQUANTIZE], (0.95, 10.0, 10.0)),
        case_of(r, "64M", "int8", "int8", [REQUANTIZE], (0.97, 4.8, 3.0)),
        case_of("Requantize int32 to int8", "64M", "int32", "int8", [NARROW], (0.93, 1.4, 1.15)),
        dynamic("64K", (0.66, 1.45, 1.45)),
        dynamic("64M", (0.97, 1.1, 1.1)),
        case_of(c, "64K", "float32", "float32", CHAIN, (0.70, 2.0, 2.0)),
        case_of(c, "64M", "float32", "float32", CHAIN, (0.92, 1.55, 1.55)),
        case_of("tilize bfloat16", "16M", "bfloat16", "bfloat16", [], (0.85, 1.8, 1.8), "tilize"),
        case_of("untilize bfloat16", "16M", "bfloat16", "bfloat16", [], (0.85, 1.8, 1.8),
                "untilize"),
        case_of("one Quantize of 32x32, a run", "1K", "float32", "int8", [QUANTIZE],
                (0.25, 3.8, 3.8), small=True),
        case_of("load, check and compile it from text", "1K", "float32", "int8", [QUANTIZE],
                (30, 4.0, 4.0), "compile", small=True),
    ]


def outputs_of(case):
    """Names of the outputs, (qdq's, ONNX's), with dtype and shape."""
    found = [("y", case.y, case.shape)]
    if case.nodes and case.nodes[-1][0] == "DynamicQuantize":
        found += [("scale", "float32", ()), ("zero_point", case.y, ())]
    return found


def qdq_graph(case):
    nodes, x = [], "x"
    for i, (op, attrs) in enumerate(case.nodes):
        nodes.append({"op": op, "name": f"n{i}", "inputs": {"x": x}, "attrs": attrs})
        x = f"n{i}"
    outputs = [{"name": name, "value": x if name == "y" else f"{x}.{name}"}
               for name, _, _ in outputs_of(case)]
    return {"format": "qdq/1",
            "inputs": [{"name": "x", "dtype": case.x, "shape": list(case.shape)}],
            "nodes": nodes, "outputs": outputs}
