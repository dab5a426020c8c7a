# SPDX-License-Identifier: Apache-2.0
"""Groups of Dequantize: zero points, products that round twice, subnormal results, all codes of small floats."""

from group import Group
from tensor import INF, NAN, WIDTHS, ends, f32, rounded, tensor

TITLE = "Dequantize: y = (x - zero_point) * scale"
INTEGERS = ("int8", "uint8", "int4", "uint4", "int16", "uint16", "int32", "int2", "uint2")
FLOATS = ("float32", "bfloat16", "float16")
SMALL = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float4_e2m1")


def dequantize(name, about, provokes, x, x_dtype, scale, zp=None, dtype="float32", bugs=(), shape=None, inputs=None, **attrs):
    given = {} if scale is None else {"scales": scale}
    if zp is not None:
        given["zps"] = zp
    return Group(f"dequantize/{name}", "Dequantize", about, provokes, {"x": tensor(x_dtype, x, shape), **(inputs or {})},
                 {**given, "dtype": dtype, **attrs}, bugs)  # fmt: skip


def plain():
    made = []
    for x_dtype in INTEGERS:
        least, greatest = ends(x_dtype)
        x = sorted({least, least + 1, -3, -1, 0, 1, 3, 100, greatest - 1, greatest})
        x = [v for v in x if least <= v <= greatest]
        for dtype in FLOATS:
            if dtype != "float32" and x_dtype not in ("int8", "uint8", "int16", "int32", "int4"):
                continue
            z = min(greatest, 7) if x_dtype != "int2" else 1
            bugs = ("onnx/onnx#7752",) if x_dtype == "int32" and dtype == "float32" else ()
            if dtype == "float32" and x_dtype in ("int8", "uint8", "int4", "int16", "int32"):
                made.append(dequantize(f"{x_dtype}-{dtype}", "the product with 0.1 is rounded, to a half from float32",
                                       ("double rounding",), x, x_dtype, f32(0.1), None, dtype))
            made.append(dequantize(f"{x_dtype}-{dtype}-z{z}", "with a zero point", ("double rounding",), x, x_dtype, f32(0.1),
                                   z, dtype, bugs))
    for x_dtype, zps in {"int8": (-128, 127), "uint8": (255,), "int16": (-32768,), "uint16": (65535,), "int4": (-8,)}.items():
        least, greatest = ends(x_dtype)
        for z in zps:
            made.append(dequantize(f"{x_dtype}-end-z{z}", "the difference needs a bit more than the dtype has", ("wrap",),
                                   [least, -1 if least else 1, 0, greatest], x_dtype, 1.0, z))
    return made


def wide():
    made = []
    x = [16777217, -16777217, 16777219, 5, 2147483647, -2147483648, 0, 33554435]
    for z in (0, 1, 16777217, 2147483647, -2147483648, -1):
        about = "beyond 2^24: the difference is exact, or that of two float32; at the ends of int32 it may wrap"
        made.append(dequantize(f"int32-wide-z{z}", about, ("subtraction", "wrap", "sign and magnitude"), x, "int32", 1.0,
                               z or None))
        if z in (0, 1):
            made.append(dequantize(f"int32-wide-bfloat16-z{z}", "beyond 2^24, by way of float32 to bfloat16: 16842753",
                                   ("double rounding",), [16842753, *x], "int32", 1.0, z or None, "bfloat16"))
            made.append(dequantize(f"int32-wide-float16-z{z}", "beyond 65504: infinity", ("float overflow",),
                                   [65504, 65519, 65520, 2049, 2051, -65520, 16777217], "int32", 1.0, z or None, "float16"))
    return made


def stores():
    made = []
    x = [257, 259, -257, 261, 263, 127, 1, 0]
    made.append(dequantize("bfloat16-tie", "257 is a tie of bfloat16: half to even, half away or truncated",
                           ("bfloat16 rounding", "tie"), x, "int16", 1.0, None, "bfloat16"))
    made.append(dequantize("bfloat16-tie-int32", "257 is a tie of bfloat16: half to even, half away or truncated",
                           ("bfloat16 rounding", "tie"), x, "int32", 1.0, None, "bfloat16"))
    made.append(dequantize("bfloat16-tie-int8", "odd codes by 1.0078125 are near ties of bfloat16",
                           ("bfloat16 rounding", "tie"), [1, 3, 127, -127, 65, -65, 33, -128], "int8", 1.0078125, None, "bfloat16"))
    made.append(dequantize("float16-tie", "2049 is a tie of float16", ("tie", "double rounding"),
                           [2049, 2051, -2049, 4098, 4102, 32767], "int16", 1.0, None, "float16"))
    for power in (-126, -130, -140, -149):
        for dtype in ("float32", "bfloat16"):
            made.append(dequantize(f"subnormal{power}-{dtype}", "subnormal products, and 2^-126: kept, or flushed to zero",
                                   ("subnormal", "flush"),
                                   [1, 15, 16, -15, 0, -1, 127], "int8", 2.0**power, None, dtype))  # fmt: skip
    made.append(dequantize("subnormal-float16", "subnormal float16, and ties between them", ("subnormal", "tie"),
                           [1, 2, 3, 5, 7, -3, 127], "int8", 2.0**-25, None, "float16"))
    for dtype, scale in (("float32", 3e38), ("bfloat16", 3e38), ("float16", 600.0)):
        made.append(dequantize(f"overflow-{dtype}", "products beyond the largest number", ("float overflow",),
                               [1, 2, -2, 127, 0, -128], "int8", rounded("float32", scale), None, dtype))
    for name, value in (("infinite", INF), ("nan", NAN), ("0", 0.0), ("negative", -0.5)):
        own = {"scale": tensor("float32", [value], ())}
        made.append(dequantize(f"scale-{name}", f"a scale of {value}, given at run time", ("NaN", "signed zero"), [0, 1, -1, 7],
                               "int8", None, inputs=own))
    for dtype in ("float16", "bfloat16"):
        own = {"scale": tensor(dtype, rounded(dtype, 0.1), (), True)}
        made.append(dequantize(f"scale-{dtype}", f"a scale of {dtype}, and a result of it",
                               ("intermediate precision", "double rounding"), [127, -128, 77, 3, 1, -99, 51], "int8", None, 1,
                               dtype, inputs=own))
        made.append(dequantize(f"scale-{dtype}-uint8", f"a scale of {dtype}, and a result of it",
                               ("intermediate precision", "double rounding"), [255, 200, 77, 3, 1, 99, 51], "uint8", None, None,
                               dtype, inputs=own))
    return made


def small():
    made = []
    for x_dtype in SMALL:
        count = 1 << WIDTHS[x_dtype]
        special = [0, 1, count // 2 - 1, count // 2 - 2, count // 2 - 4, count // 2, count // 2 + 1, count - 1, count - 2,
                   count - 4, count // 4 + 1]
        for dtype in ("float32", "bfloat16"):
            bugs = ()
            made.append(dequantize(f"{x_dtype}-{dtype}", "the ends, subnormal codes, NaN and infinity", ("NaN", "subnormal"),
                                   special, x_dtype, f32(0.3) if dtype == "float32" else 0.75, None, dtype, bugs))
    made.append(dequantize("float4_e2m1-codes", "every code", ("signed zero",), range(16), "float4_e2m1", 1.0))
    for name, code in (("least", 0), ("1", 127), ("largest", 254), ("nan", 255)):
        for x_dtype in ("float8_e4m3fn", "float4_e2m1"):
            for dtype in ("float32", "bfloat16") if x_dtype == "float8_e4m3fn" else ("float32",):
                power = {"scale": tensor("float8_e8m0", [code], (1, 1))}
                made.append(dequantize(f"e8m0-{name}-{x_dtype}-{dtype}",
                                       "a block scale of float8_e8m0: code 0 is 2^-127, code 255 NaN",
                                       ("scale rounding", "subnormal", "NaN"), [0, 1, 2, 5, 7, 8, 9, 15],
                                       x_dtype, None, None, dtype, shape=(1, 8), qtype="per_group", group_shape=[1, 8],
                                       inputs=power))  # fmt: skip
    for dtype in FLOATS:
        nv = {"scale": tensor("float8_e4m3fn", [1, 0x38], (1, 2), True)}
        made.append(dequantize(f"nvfp4-{dtype}", "blocks of float4 with scales of float8_e4m3fn: 2^-9 and 1",
                               ("scale rounding", "subnormal"), [0, 1, 3, 7, 8, 9, 15, 5] * 4,
                               "float4_e2m1", None, None, dtype, shape=(1, 32), qtype="per_group", group_shape=[1, 16],
                               inputs=nv))  # fmt: skip
    for x_dtype in ("bfloat8_b", "bfloat4_b"):
        made.append(dequantize(f"{x_dtype}-bfloat16", "codes of a block float", ("block float rounding",),
                               [64.5, 7.9375, 1.0, 0.5, -64.5, 0.0, 65.0, 3.0], x_dtype, 0.5, None, "bfloat16"))
    return made


def shapes():
    made = []
    x = [-128, -1, 0, 1, 127, 3, -3, 64]
    made.append(dequantize("channels-int8", "a scale and a zero point for each row", ("axis",), x, "int8", [f32(0.1), 0.5],
                           [1, -128], shape=(2, 4), qtype="per_channel", axis=0))
    made.append(dequantize("columns-int8", "a scale for each column", ("axis",), x, "int8", [f32(0.1), 0.5, 2.0, f32(0.3)],
                           shape=(2, 4), qtype="per_channel", axis=1))
    made.append(dequantize("blocks-int8", "blocks of two along the last dim", ("blocks",), x, "int8",
                           [f32(0.1), 0.5, 2.0, f32(0.3)], shape=(2, 4), qtype="per_group", group_shape=[1, 2]))
    made.append(dequantize("blocks-1d-int8", "one dim in blocks of four: not per axis", ("blocks",),
                           [5, 10, 15, 20, 8, 10, 12, 14], "int8", [1.0, 10.0], qtype="per_group", group_shape=[4],
                           bugs=("microsoft/onnxruntime#32730",)))  # fmt: skip
    made.append(dequantize("domain-float-uint4", "zero_point_domain float: the zero point is the real value of the middle code",
                           ("zero-point order",), [0, 1, 7, 8, 9, 15], "uint4", f32(0.3), f32(2.4), zero_point_domain="float"))
    for z in (0, 7):
        made.append(dequantize(f"int32-bias-z{z}", "codes of a bias at the ends of int32", ("wrap", "subtraction"),
                               [2147483647, -2147483648, 2147483646, 0, 1, -7, 100], "int32", f32(2e-9), z or None,
                               bugs=("microsoft/onnxruntime#11532",
                                     "microsoft/onnxruntime#11415") if not z else ("onnx/onnx#7752",)))  # fmt: skip
    return made


def groups():
    return [one for part in (plain, wide, stores, small, shapes) for one in part()]
