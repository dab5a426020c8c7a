#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Targets without a Requantize compute Dequantize and Quantize: a Requantize breaks the rules that
the two nodes break, and its findings have the names of its own ports and attributes.

    test_halves.py QDQ_BINARY
"""

import itertools

from cases import given, main, one, ones, run

TARGETS = ["onnx", "ort", "onednn", "torchao"]
PER_CHANNEL = {"qtype": "per_channel", "axis": 1}
NAMES = {"scales", "zps", "scale", "zero_point"}
FOUR = [1, 2, 1, 2]

# A dtype of the codes, attributes and ports of one side, and what is wrong on these targets.
SIDES = [
    ("int8", {"scales": 1, "zps": 0}, {}, {}),
    ("int32", {"scales": 1, "zps": 0}, {}, {"onednn": "dequantize-input-dtype"}),
    ("uint16", {"scales": 1, "zps": 0}, {},
     {"onednn": "dequantize-input-dtype", "torchao": "dequantize-input-dtype"}),
    ("int8", {"scales": 1, "zps": 128}, {}, {"onnx": "zero-point-range", "ort": "zero-point-range"}),
    ("int8", {"scales": FOUR, "zps": [3]}, {},
     {"onednn": "zero-point-count", "torchao": "zero-point-count"}),
    ("int8", {"scales": FOUR, "zps": [1, 2, 3, 4]}, {}, {"onednn": "channel-zero-points"}),
    ("int8", {"scales": FOUR, "zps": [0] * 4, "axis": -1}, {}, {"onednn": "negative-axis"}),
    ("int8", {"scales": 1}, {"zero_point": ones("uint8", [])},
     {"onnx": "zero-point-dtype", "ort": "zero-point-dtype"}),
    ("int8", {"scales": FOUR}, {"zero_point": ones("int8", [])},
     {"onnx": "zero-point-shape", "ort": "zero-point-shape"}),
    ("int8", {"zps": 0}, {"scale": given("float32", [1, 4])},
     {"onnx": "scale-shape", "ort": "scale-shape"}),
]


def single(op, x, y, attrs, ports):
    attrs = {"dtype": y, **(PER_CHANNEL if many(attrs, ports) else {}), **attrs}
    return one(op, given(x, [2, 4]), attrs, **ports)


def many(attrs, ports):
    shape = ports.get("scale", {}).get("shape", [])
    return attrs.get("scales") == FOUR or 4 in shape


def pair(first, second):
    attrs, ports = {"dtype": second[0]}, {}
    for prefix, (_, side, given_ports, _) in (("in_", first), ("out_", second)):
        attrs |= {prefix + k if k in NAMES else k: v for k, v in side.items()}
        ports |= {prefix + k: v for k, v in given_ports.items()}
        if many(side, given_ports):
            attrs.setdefault("axis", 1)
    return one("Requantize", given(first[0], [2, 4]), attrs, **ports)


def findings(qdq, folder, graph, target):
    found = [one for one in run(qdq, graph, folder, "check", "--target", target)["findings"]
             if not one["rule"].endswith("/bits-unknown")]
    return [f for f in found if not f["rule"].endswith("/no-requantize")]


def trouble(qdq, folder, target, first, second):
    """What is wrong with the findings about a Requantize; "": nothing."""
    if "axis" in first[1] or "axis" in second[1]:
        second = first  # one axis is for both
    halves = [("in_", f) for f in findings(qdq, folder, single("Dequantize", first[0], "float32", *first[1:3]), target)]
    halves += [("out_", f) for f in findings(qdq, folder, single("Quantize", "float32", second[0], *second[1:3]), target)]
    wanted = sorted({(f["rule"], prefix + f["port"] if f["port"] in NAMES else f["port"]) for prefix, f in halves})
    found = sorted({(f["rule"], f["port"]) for f in findings(qdq, folder, pair(first, second), target)})
    rule = first[3].get(target)
    if rule and f"{target.replace('ort', 'onnx')}/{rule}" not in [r for r, _ in found]:
        return f"does not break {rule}"
    return "" if found == wanted else f"found {found}, wanted {wanted}"


def outcomes(qdq, folder):
    plain = SIDES[0]
    pairs = [(side, plain) for side in SIDES] + [(plain, side) for side in SIDES]
    for target, (first, second) in itertools.product(TARGETS, pairs):
        yield f"{target} {first} {second}", trouble(qdq, folder, target, first, second)


if __name__ == "__main__":
    main(__doc__, outcomes)
