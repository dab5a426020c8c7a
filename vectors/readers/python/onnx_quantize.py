# SPDX-License-Identifier: Apache-2.0
"""An implementation to begin with: Quantize of float32 to int8 or uint8 by one scale, as ONNX has it."""

import math
import struct

ENDS = {"int8": (-128, 127), "uint8": (0, 255)}


def float32(value):
    """Rounds to float32. A quotient of two float32 that was rounded to float64 first is rounded as if it had not been."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def code(x, scale, zero_point, least, greatest):
    v = float32(x / scale)
    if math.isnan(v):
        return least
    return max(least, min(greatest, round(max(-4e9, min(4e9, v))) + zero_point))


def implement(group):
    attributes, inputs = group.get("attributes", {}), group["inputs"]
    scale, zero_point, dtype = attributes.get("scales"), attributes.get("zps", 0), attributes.get("dtype")
    if group["op"] != "Quantize" or not set(attributes) <= {"scales", "zps", "dtype"} or dtype not in ENDS or len(inputs) > 1:
        return None
    if inputs[0]["dtype"] != "float32" or not isinstance(scale, (int, float)) or not isinstance(zero_point, int):
        return None
    x = [struct.unpack(">f", bytes.fromhex(word))[0] for word in inputs[0]["bits"].split()]
    return {"y": [f"{code(one, float32(scale), zero_point, *ENDS[dtype]) & 255:02x}" for one in x]}
