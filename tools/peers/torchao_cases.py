# SPDX-License-Identifier: Apache-2.0
"""The cases of torchao_golden.py: ops, dtypes, grains and parameters.

`scale` None is the attribute, which is float32; otherwise the dtype of a port. Rows cycle through
the grains and the origins of zero points; two in seven have the narrower bounds."""

from itertools import cycle, product

from torchao_inputs import Case, INTEGERS

FLOATS = ("float32", "float16", "bfloat16")
SCALES = (None, *FLOATS)
SMALL = ("float8_e4m3fn", "float8_e5m2")
NARROW = {
    "int8": (-127, 127),
    "uint8": (3, 127),
    "int4": (-7, 7),
    "uint4": (1, 14),
    "int16": (-1000, 1000),
    "int32": (-4096, 65280),
}


def bounds(x, y, scale, narrow):
    """Bounds of Quantize that y and the dtype of the steps can represent."""
    if narrow:
        return NARROW[y]
    step = x if x == (scale or "float32") else "float32"
    least, greatest = INTEGERS[y]
    if step == "float16" and y == "int32":
        least = -32768
    if y in ("int16", "int32") and step != "float32":
        greatest = 2139095040 if y == "int32" and step == "bfloat16" else 32512
    elif y == "int32":
        greatest = 2147483520
    return least, greatest


class Rows:
    """Appends cases, cycling through the grains and the origins of zero points."""

    def __init__(self):
        self.rows, self.grains = [], cycle(range(13))
        self.zps = cycle(
            [
                ("ZP_LIST", None),
                ("ZP_PORT", "int32"),
                ("ZP_SCALAR", None),
                ("ZP_PORT", "y"),
                ("ZP_NONE", None),
            ]
        )

    def add(self, op, how, x, y, scale=None, zp=None, limits=(0, 0), eps=0, grain=None):
        zp_from, zp_dtype = zp or ("ZP_NONE", None)
        if zp_dtype == "y":
            zp_dtype = x if op == "DEQUANTIZE" else y
        grain = next(self.grains) if grain is None else grain
        self.rows.append(Case(op, how, x, y, grain, scale, zp_from, zp_dtype, *limits, eps))

    def narrow(self):
        return len(self.rows) % 7 < 2


def quantize(rows):
    for x, y in product(FLOATS, INTEGERS):
        for _, scale in product(range(2), SCALES):
            limits = bounds(x, y, scale, rows.narrow())
            rows.add("QUANTIZE", "DOMAIN_INT", x, y, scale, next(rows.zps), limits)
    for x, y, scale in product(FLOATS, ("int8", "uint8", "int4"), SCALES):
        rows.add("QUANTIZE", "DOMAIN_NONE", x, y, scale, None, bounds(x, y, scale, rows.narrow()))
    for x, y, k in product(FLOATS, SMALL, range(8)):
        rows.add("QUANTIZE", "DOMAIN_INT", x, y, SCALES[k % 4])


def dequantize(rows):
    for x, y in product(INTEGERS, FLOATS):
        for _, scale in product(range(1 if x in ("int4", "uint4") else 2), SCALES):
            rows.add("DEQUANTIZE", "DOMAIN_INT", x, y, scale, next(rows.zps), INTEGERS[x])
    for x, y, scale in product(("int8", "uint8"), FLOATS, SCALES):
        rows.add("DEQUANTIZE", "DOMAIN_NONE", x, y, scale, None, INTEGERS[x])
    for x, y, scale in product(SMALL, FLOATS, SCALES):
        rows.add("DEQUANTIZE", "DOMAIN_INT", x, y, scale)


def float_domain(rows):
    """Scale and zero point with equal and with different dtypes."""
    origins = [
        (None, ("ZP_LIST", None)),
        ("float32", ("ZP_PORT", "float32")),
        ("float16", ("ZP_PORT", "float16")),
        ("bfloat16", ("ZP_PORT", "bfloat16")),
        (None, ("ZP_SCALAR", None)),
        ("bfloat16", ("ZP_PORT", "float32")),
        ("float16", ("ZP_LIST", None)),
        (None, ("ZP_PORT", "bfloat16")),
    ]
    for op in ("QUANTIZE", "DEQUANTIZE"):
        for wide, narrow, origin in product(FLOATS, ("uint4", "int8", "uint8"), origins):
            x, y = (wide, narrow) if op == "QUANTIZE" else (narrow, wide)
            limits = NARROW[narrow] if rows.narrow() else INTEGERS[narrow]
            rows.add(op, "DOMAIN_FLOAT", x, y, *origin, limits)


def dynamic(rows):
    schemes = ("ASYMMETRIC", "SYMMETRIC", "SYMMETRIC_NO_CLIPPING")
    for x, y in product(FLOATS, ("int8", "uint8", "int4")):
        for scheme, eps in product(schemes, (0, 0.001, 0)):
            limits = NARROW[y] if rows.narrow() else INTEGERS[y]
            rows.add("DYNAMIC", scheme, x, y, limits=limits, eps=eps)
    for scheme, eps in product(schemes, (0, 1e-5)):
        rows.add("DYNAMIC", scheme, "float32", "int16", limits=INTEGERS["int16"], eps=eps)
    for x, scheme in product(FLOATS, schemes):
        rows.add("DYNAMIC", scheme, x, "uint4", limits=INTEGERS["uint4"])
    for x, y, _ in product(FLOATS, SMALL, range(8)):
        rows.add("DYNAMIC", "SYMMETRIC", x, y)


def scaled(rows):
    modes = ("MX_FLOOR", "MX_CEIL", "MX_EVEN", "MX_RCEIL")
    for x, y in product(("float32", "bfloat16"), (*SMALL, "float4_e2m1")):
        for mode, grain in product(modes, (4, 11)):
            rows.add("DYNAMIC", mode, x, y, grain=grain)
    for x, k in product(("float32", "bfloat16"), range(9)):
        origin = (None, ("ZP_SCALAR", None), ("ZP_PORT", "float32"))[k % 3]
        rows.add("DYNAMIC", "NVFP4", x, "float4_e2m1", zp=origin, grain=10)


def requantize(rows):
    for x, y in product(("int8", "uint8", "int32"), ("int8", "uint8")):
        for grain in range(4):
            rows.add(
                "REQUANTIZE", "DOMAIN_INT", x, y, None, ("ZP_LIST", None), INTEGERS[y], grain=grain
            )


def cases():
    rows = Rows()
    for part in (quantize, dequantize, float_domain, dynamic, scaled, requantize):
        part(rows)
    return rows.rows
