# SPDX-License-Identifier: Apache-2.0
"""Groups of Cast: every pair of dtypes in which backends round, saturate, wrap, or lose a sign differently."""

from group import Group
from tensor import INF, NAN, WIDTHS, ends, f32, rounded, step, tensor

TITLE = "Cast: y = x converted to another dtype"
WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "int64", "int4", "uint4", "int2", "uint2", "bool")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
# Ties, the end of the range and beyond.
ODD = {"float16": [2049.0, 2051.0, 65504.0, 65519.0, 65520.0, -65520.0, 5.9604645e-08, 2.9802322e-08, 2.9802326e-08, 1.0004883],
       "bfloat16": [257.0, 259.0, -257.0, 3.4028235e38, 3.3961775e38, 1e-40, 9.1835e-41, 1.0039062, 1.0039063],
       "float8_e4m3fn": [17.0, 19.0, 17.001, 464.0, 464.12, 465.0, -464.0, 0.0009765625, 0.00097656256, 0.0029296875],
       "float8_e5m2": [9.0, 11.0, 9.001, 57344.0, 61440.0, 61441.0, 65536.0, 7.6293945e-06, 7.62939524e-06],
       "float8_e4m3fnuz": [17.0, 19.0, 17.001, 240.0, 248.0, 249.0, 0.00048828125, 0.00048828128, -0.0001],
       "float8_e5m2fnuz": [9.0, 11.0, 9.001, 57344.0, 61440.0, 61441.0, 3.8146973e-06, 3.8146977e-06, -1e-7],
       "float8_e8m0": [5.0, 6.0, 6.0000005, 3.0, 2.5, -3.5, 1e-40, 1.1754943508222875e-38, 5.877471754111438e-39, 3e38],
       "float4_e2m1": [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.0, 7.0, 0.2500001, -5.0, 0.1]}  # fmt: skip


# The last number that does not overflow, the next ones, and one more exponent.
EDGES = {"float8_e4m3fn": [464.0, step(464.0, 1), step(480.0, -1), 480.0, step(496.0, -1), 496.0, -480.0, 512.0],
         "float8_e5m2": [step(61440.0, -1), 61440.0, step(61440.0, 1), step(65536.0, -1), 65536.0, -61440.0, 70000.0]}


def cast(name, about, provokes, x, x_dtype, dtype, bugs=(), shape=None, **attrs):
    return Group(f"cast/{name}", "Cast", about, provokes, {"x": tensor(x_dtype, x, shape)}, {"dtype": dtype, **attrs}, bugs)


def to_whole():
    made = []
    x = [2.5, 3.5, -2.5, -0.5, 0.5, 300.0, -1.0, -129.0, 128.5, 70000.0, 3e9, -3e9, 1e10, 1e20]
    bugs = {"int32": ("tenstorrent/tt-metal#55933",), "uint16": ("tenstorrent/tt-metal#51655",),
            "uint8": ("tenstorrent/tt-metal#36219",)}
    for dtype in WHOLE:
        for x_dtype in ("float32", "bfloat16", "float16") if dtype in ("int8", "uint8", "int32") else ("float32",):
            own = [rounded(x_dtype, v) for v in x if x_dtype != "float16" or abs(v) < 65520]
            about = "fractions are dropped, or rounded; numbers beyond the range saturate, wrap, or become -2^31"
            made.append(cast(f"{x_dtype}-{dtype}", about, ("truncation", "saturation", "wrap"), own, x_dtype, dtype,
                             bugs.get(dtype, ())))
        if dtype not in ("int2", "uint2", "uint4"):
            made.append(cast(f"float32-{dtype}-special", "NaN, infinities, zeros", ("NaN", "saturation"),
                             [NAN, (0xFFC00000,), INF, -INF, 0.0, -0.0, 1.0], "float32", dtype, bugs.get(dtype, ())))
    made.append(cast("bfloat16-uint8-one", "a bfloat16 of 1 is 1", ("typecast",), [1.0, 2.0, 128.0, 255.0, 0.0], "bfloat16",
                     "uint8", ("tenstorrent/tt-metal#36219",)))
    made.append(cast("float32-int32-overflow", "2^31 and above: saturates, or is -2^31", ("saturation", "wrap"),
                     [2147483648.0, 3e9, f32(1e38), INF, NAN, 2147483520.0, -2147483648.0, -3e9], "float32", "int32",
                     ("tenstorrent/tt-metal#55933",)))  # fmt: skip
    return made


def to_floats():
    made = []
    for dtype, x in ODD.items():
        x = list(map(f32, x))
        bugs = ("tenstorrent/tt-metal#30147",) if dtype == "bfloat16" else ()
        made.append(cast(f"float32-{dtype}", "ties, numbers next to them, the least and the largest number",
                         ("tie", "double rounding", "float overflow", "subnormal"), x, "float32", dtype, bugs))
        made.append(cast(f"float32-{dtype}-special", "NaN, infinities, zeros of both signs",
                         ("NaN", "float overflow", "signed zero"), [NAN, (0xFFC00000,), (0x7F800001,), INF, -INF, 0.0, -0.0],
                         "float32", dtype))
        if dtype in FLOAT8:
            made.append(cast(f"float32-{dtype}-overflow", "saturate is false", ("float overflow",), [*x, INF, -INF, 1e30],
                             "float32", dtype, saturate=False))
            if dtype in EDGES:
                made.append(cast(f"float32-{dtype}-overflow-edges", "saturate is false: where the least numbers that overflow end",
                                 ("float overflow",), EDGES[dtype], "float32", dtype, saturate=False))
            for x_dtype in ("float16", "bfloat16") if not dtype.endswith("fnuz") else ():
                own = [rounded(x_dtype, v) for v in x if abs(v) < 65000]
                made.append(cast(f"{x_dtype}-{dtype}", f"from {x_dtype}", ("tie", "float overflow"),
                                 [*own, INF, -INF, NAN, -0.0], x_dtype, dtype))
    for mode in ("up", "down", "nearest"):
        for saturate in (True, False) if mode == "up" else (True,):
            made.append(cast(f"float32-float8_e8m0-{mode}{'' if saturate else '-overflow'}",
                             f"between two powers of two: {mode}", ("scale rounding", "float overflow"),
                             [5.0, 6.0, 6.0000005, 3.0, f32(5.656854), -3.5, 0.0, 1e-40, 3.4028235e38, INF, NAN], "float32",
                             "float8_e8m0", round_mode=mode, saturate=saturate))  # fmt: skip
    for x_dtype in ("int32", "int64"):
        for dtype in ("float32", "float16", "bfloat16") if x_dtype == "int32" else ("bfloat16",):
            made.append(cast(f"{x_dtype}-{dtype}",
                             "integers that the float does not hold: 16842753 by way of float32 is 16777216 as bfloat16",
                             ("double rounding", "tie"),
                             [16777217, 16777219, -16777217, 16842753, 65519, 65520, 2049, 257, 2147483647], x_dtype,
                             dtype))  # fmt: skip
    for x_dtype, dtype in (("float16", "bfloat16"), ("bfloat16", "float16"), ("float16", "float32"), ("bfloat16", "float32")):
        made.append(cast(f"{x_dtype}-{dtype}", "zeros, subnormal numbers, infinities, NaN",
                         ("signed zero", "subnormal", "flush"), [-0.0, 0.0, 1.0, INF, -INF, NAN, 2.0**-24, 2.0**-14, 1.0078125,
                             3.0 * 2**-24], x_dtype, dtype))
    made.append(cast("float32-float32-special", "a copy", ("flush", "NaN"), [-0.0, (1,), (0x807FFFFF,), INF, NAN], "float32",
                     "float32"))
    return made


def narrowing():
    made = []
    for x_dtype, dtype in (("int32", "int8"), ("int32", "uint8"), ("int32", "uint16"), ("uint8", "int8"), ("int8", "uint8"),
                           ("int64", "int32"), ("int32", "int4"),
                           ("int32", "uint4"), ("int8", "int4"), ("uint8", "uint4"), ("int32", "bool")):  # fmt: skip
        least, greatest = ends(x_dtype)
        x = sorted({v for v in (least, -129, -9, -1, 0, 7, 8, 16, 127, 128, 200, 255, 256, 70000,
                                greatest) if least <= v <= greatest})
        made.append(cast(f"{x_dtype}-{dtype}", "keeps the low bits, or saturates", ("wrap", "saturation"), x, x_dtype, dtype))
    return made


def from_small():
    made = []
    for x_dtype in (*FLOAT8, "float8_e8m0", "float4_e2m1"):
        count = 1 << WIDTHS[x_dtype]
        x = [0, 1, count // 4 + 1, count // 2 - 3, count // 2 - 2, count // 2 - 1, count // 2, count // 2 + 1, count - 4,
             count - 2, count - 1]
        for dtype in ("float32", "int8") if x_dtype in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1") else ("float32",):
            made.append(cast(f"{x_dtype}-{dtype}", "the least and the largest codes, NaN and infinity",
                             ("NaN", "subnormal", "signed zero"), x, x_dtype, dtype))
    for x_dtype, dtype in (("float8_e4m3fn", "float8_e5m2"), ("float8_e5m2", "float8_e4m3fn"), ("float8_e4m3fn", "float4_e2m1"),
                           ("float4_e2m1", "float8_e4m3fn"), ("float8_e5m2", "float8_e4m3fnuz")):
        count = 1 << WIDTHS[x_dtype]
        made.append(cast(f"{x_dtype}-{dtype}", "between small floats", ("float overflow", "NaN", "tie"),
                         [0, 1, 2, 3, count // 4 + 1, count // 2 - 4, count // 2 - 2, count // 2 - 1, count // 2, count - 2],
                         x_dtype, dtype))
    return made


def blocks():
    made = []
    x = [64.5, 7.9999, 1.0, 0.5, -64.5, 0.0, 65.0, 3.0, 2.5, 1.5, 96.0, -0.0, 0.25, 0.125, 127.0, f32(1e-3)]
    for dtype in ("bfloat8_b", "bfloat4_b"):
        for x_dtype in ("float32", "bfloat16"):
            own = [rounded(x_dtype, v) for v in map(f32, x)]
            about = "16 elements share an exponent: bits are shifted out, rounded once or twice"
            made.append(cast(f"{x_dtype}-{dtype}", about, ("block float rounding", "tie", "double rounding"), own, x_dtype,
                             dtype, ("tenstorrent/tt-metal#15889", "tenstorrent/tt-metal#17236", "tenstorrent/tt-metal#17237"),
                             (1, 16)))
            made.append(cast(f"{x_dtype}-{dtype}-special", "infinity, NaN and subnormal numbers share an exponent with others",
                             ("block float rounding", "NaN"),
                             [INF, 1.0, NAN, -1.0] + [0.5] * 12, x_dtype, dtype, shape=(1, 16)))  # fmt: skip
        made.append(cast(f"{dtype}-float32", "codes of a block float are exact", ("block float rounding",),
                         [64.5, 7.9375, 1.0, 0.5, -64.5, 0.0, 65.0, 3.0], dtype, "float32"))
    ties = [128.5, 129.5, -128.5, 257.0, 259.0, 1.00390625, 1.01171875]
    made.append(cast("float32-bfloat16-tie", "128.5 is exact in float32, and a tie in bfloat16", ("tie", "bfloat16 rounding"),
                     ties, "float32", "bfloat16", ("tenstorrent/tt-metal#30147",)))
    made.append(cast("float32-bfloat16-step", "one step of float32 beside a tie of bfloat16", ("tie", "bfloat16 rounding"),
                     [step(v, d) for v in (257.0, 259.0) for d in (-1, 1)], "float32", "bfloat16"))
    return made


def groups():
    return [one for part in (to_whole, to_floats, narrowing, from_small, blocks) for one in part()]
