# SPDX-License-Identifier: Apache-2.0
"""Groups of Quantize: ties, reciprocals, ends of ranges, special numbers, dtypes of x, of scales and of results."""

from group import Group
from search import separating
from tensor import INF, NAN, ends, f32, rounded, step, tensor

TITLE = "Quantize: y = clamp(round(x / scale) + zero_point)"
INTEGERS = ("int8", "uint8", "int4", "uint4", "int16", "uint16", "int32", "int2", "uint2")
NEGATIVE_NAN = (0xFFC00000,)


def quantize(name, about, provokes, x, dtype, scale, zp=None, x_dtype="float32", bugs=(), shape=None, inputs=None, **attrs):
    """A group with constant parameters: scale and zp are numbers or lists; None: the attribute is left out."""
    given = {} if scale is None else {"scales": scale}
    if zp is not None:
        given["zps"] = zp
    return Group(f"quantize/{name}", "Quantize", about, provokes, {"x": tensor(x_dtype, x, shape), **(inputs or {})},
                 {**given, "dtype": dtype, **attrs}, bugs)  # fmt: skip


def zero_points(dtype):
    """An odd zero point and an end of the range."""
    least, greatest = ends(dtype)
    return {"z1": 1, "zmax": greatest} if greatest < 1 << 20 else {"z1": 1}


def codes(dtype):
    least, greatest = ends(dtype)
    return range(max(least, -2000), min(greatest, 2000))


def ties():
    made = []
    for dtype in INTEGERS:
        least, greatest = ends(dtype)
        low = max(least, -4)
        x = [(k + 0.5) * 0.5 for k in range(low, min(greatest, low + 8))]
        about = "the quotients are ties, exactly: half to even, half away from zero and half up differ"
        made.append(quantize(f"tie-{dtype}", about, ("tie",), x, dtype, 0.5,
                             bugs=("tenstorrent/tt-metal#30147",) if dtype == "int32" else ()))
        for key, z in zero_points(dtype).items():
            if key == "z1" and dtype not in ("int2", "uint2", "uint4", "uint16"):
                about = "ties, and an odd zero point: adding it before the rounding changes the results"
                made.append(quantize(f"tie-{dtype}-z1", about, ("tie", "zero-point order"), [v for v in x], dtype, 0.5, z))
    return made


def reciprocals():
    made = []
    scales = {"int8": (0.3, 0.03, 0.0078431377), "uint8": (0.3, 0.023529412), "int16": (0.3,),
              "uint16": (0.1,), "int32": (0.3, 0.0001), "int4": (0.3,), "uint4": (0.7,),
              "int2": (0.3,), "uint2": (0.7,)}  # fmt: skip
    for dtype, own in scales.items():
        for scale in map(f32, own):
            for z in (0, 1) if dtype in ("int8", "uint8", "int32") else (0,):
                x = separating(scale, z, codes(dtype))
                about = "next to ties: x / s, x * (1 / s) and fma(x, 1 / s, z) round to different codes"
                if x:
                    name = f"reciprocal-{dtype}-{scale:.6g}-z{z}"
                    provokes = ("tie", "reciprocal", *(("zero-point order",) if z else ()))
                    made.append(quantize(name, about, provokes, x, dtype, scale, z or None))
    return made


def near_ties():
    made = []
    about = "a step below, at and above a tie; 0.49999997 + 128 is 128.5 in float32"
    for dtype, z in (("int8", 0), ("int8", 1), ("uint8", 0), ("uint8", 128), ("int32", 0), ("int32", 1)):
        x = [v for k in (0.5, 1.5, 2.5) for v in (step(k, -1), k, step(k, 1))]
        x += [-v for v in x] if dtype != "uint8" or z else []
        made.append(quantize(f"near-tie-{dtype}-z{z}", about, ("tie", "folded zero point"), x, dtype, 1.0, z or None))
    return made


def ranges():
    made = []
    for dtype in INTEGERS:
        least, greatest = ends(dtype)
        x = sorted({f32(float(v)) for v in (least - 1, least, greatest, greatest + 1, 2.0 * greatest + 3, -2.0 * greatest - 9,
                                            200, -129)})
        far = [2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 3e9, 1e10, -1e10, 3e38, -3e38]
        about = "at both ends and one beyond: saturates, wraps, or drops the sign"
        bugs = ("tenstorrent/tt-metal#57500", "tenstorrent/tt-metal#26414") if dtype == "uint8" else ()
        made.append(quantize(f"end-{dtype}", about, ("saturation", "wrap"), x, dtype, 1.0, bugs=bugs))
        about = "beyond int32: x86 converts to -2^31, and a zero point wraps around"
        if dtype not in ("int2", "uint2", "uint4", "uint16"):
            made.append(quantize(f"far-{dtype}", about, ("saturation", "wrap"), list(map(f32, far)), dtype, 1.0))
        if dtype in ("int8", "uint8", "int16", "int32"):
            made.append(quantize(f"far-{dtype}-z1", about, ("saturation", "wrap", "zero-point order"), list(map(f32, far)),
                                 dtype, 1.0, 1))
    for dtype, zps in {"int8": (-128, 127), "uint8": (255,), "int16": (-32768, 32767), "uint16": (65535,), "int4": (-8, 7),
                       "uint4": (15,)}.items():
        for z in zps:
            least, greatest = ends(dtype)
            x = [float(v - z) + h for v in (least, greatest) for h in (-1.5, -0.5, 0.0, 0.5, 1.5)]
            bugs = ("llvm/torch-mlir#4487",) if (dtype, z) == ("int8", -128) else ()
            about = "the zero point is an end of the range: clamping before it is added loses half of the range"
            made.append(quantize(f"end-{dtype}-z{z}", about, ("clamp order", "tie"), x, dtype, 1.0, z, bugs=bugs))
    x = [3.4501, 0.0, 1.9, -1.0]
    made.append(quantize("clamp-order-int8", "3.4501 is 103; clamped to int8 before the zero point is added it is -1",
                         ("clamp order",),
                         list(map(f32, x)), "int8", f32(1 / 66.933334), -128, bugs=("llvm/torch-mlir#4487",)))  # fmt: skip
    return made


def specials():
    made = []
    about = "NaN of both signs, infinities and zeros of both signs"
    for dtype in ("int8", "uint8", "int4", "int16", "int32"):
        for z in (0, 1) if dtype in ("int8", "uint8", "int32") else (0,):
            x = [NAN, NEGATIVE_NAN, INF, -INF, 0.0, -0.0]
            made.append(quantize(f"special-{dtype}-z{z}", about, ("NaN", "saturation"), x, dtype, 0.5, z or None))
    for dims in (2, 3):
        made.append(quantize(f"nan-rank{dims}-int8", "NaN with a scale of 1: its code depends on the rank", ("NaN",),
                             [NAN, 1.0, -INF, 2.5],
                             "int8", 1.0, shape=(1,) * (dims - 1) + (4,)))  # fmt: skip
    tiny = [(1,), (2,), (3,), (0x80000003,), (0x00400000,), (0x00800000,), (0x007FFFFF,)]
    for name, scale in {"least": 1.401298464324817e-45, "subnormal": 5.877471754111438e-39,
                        "normal": 1.1754943508222875e-38}.items():
        about = "subnormal x: flushed to zero, or kept"
        made.append(quantize(f"subnormal-{name}-int8", about, ("subnormal", "flush"), tiny, "int8", scale))
        if name == "normal":
            made.append(quantize(f"subnormal-{name}-uint8-z7", about, ("subnormal", "flush"), tiny, "uint8", scale, 7))
    for scale, name in ((1e-39, "subnormal"), (3e38, "large"), (1.1754943508222875e-38, "normal")):
        about = "the reciprocal of the scale overflows or is subnormal"
        made.append(quantize(f"scale-{name}-int8", about, ("reciprocal", "subnormal"),
                             [0.0, 1e-38, -1e-38, 1.0, 3e38, -3e38, 1.5e38], "int8", f32(scale)))
    return made


def near_one():
    about = "a constant scale within 1e-6 of 1 is dropped"
    return [quantize(f"scale-near-1-{count}-{dtype}", about, ("scale near 1",), [1000000.5, 8388607.5, 3.5, -2.5, 126.49999, 100.5],
                     dtype, step(1.0, count))
            for count, dtype in ((1, "int8"), (8, "int8"), (9, "int8"), (8, "int32"))]  # fmt: skip


def halves():
    made = []
    for x_dtype in ("float16", "bfloat16"):
        for dtype, scale in (("int8", 0.3), ("uint8", 0.1), ("int16", 0.3), ("int32", 0.3)):
            for z in (0, 1):
                s = rounded(x_dtype, scale)
                x = separating(s, z, codes(dtype), x_dtype)
                about = f"{x_dtype} x and a scale that is one: the quotient is rounded to float32, or to {x_dtype}"
                bugs = ("microsoft/onnxruntime#18576",
                        "microsoft/onnxruntime#22741") if x_dtype == "float16" and dtype == "int8" else ()
                provokes = ("double rounding", "reciprocal", "tie")
                made.append(quantize(f"{x_dtype}-{dtype}-z{z}", about, provokes, x, dtype, None, z or None, x_dtype, bugs,
                                     inputs={"scale": tensor(x_dtype, s, (), True)}))  # fmt: skip
        x = [2.5, -2.5, 3.5, 0.0, -0.0, INF, -INF, NAN]
        made.append(quantize(f"{x_dtype}-special-int8", f"{x_dtype}: ties and special numbers", ("tie", "NaN"), x, "int8", 1.0,
                             None, x_dtype))
        made.append(quantize(f"{x_dtype}-special-uint8-z5", f"{x_dtype}: ties and special numbers", ("tie", "NaN"), x, "uint8",
                             1.0, 5, x_dtype))
    half = rounded("float16", 0.000259399414)
    made.append(quantize("float16-port-int8", "-0.0182952881 / 0.000259399414 is -70.53 in float32, -70.5 in float16",
                         ("double rounding",),
                         [rounded("float16", -0.0182952881), INF, NAN, 60000.0], "int8", None, None, "float16",
                         inputs={"scale": tensor("float16", half, (), True)}))  # fmt: skip
    made.append(quantize("float16-scale-float32-x-int8",
                         "a float32 x and a float16 scale: -13.499999 is -13, or -14 if x is rounded first",
                         ("double rounding",), [f32(-13.499999), f32(13.499999), 2.5], "int8", None, None,
                         inputs={"scale": tensor("float16", 1.0, (), True)}))  # fmt: skip
    unit = [20.9, 24.6, 25.5, 53.1, 54.9, 58.6, 0.51, -0.51, -26.6]
    made.append(quantize("float16-truncates-int8", "float16 that is truncated: 58.6 becomes 58, 0.51 becomes 0",
                         ("tie", "truncation"),
                         [rounded("float16", v) for v in unit], "int8", None, None, "float16",
                         ("microsoft/onnxruntime#18576", "microsoft/onnxruntime#22741", "microsoft/onnxruntime#32452"),
                         inputs={"scale": tensor("float16", 1.0, (), True),
                                 "zero_point": tensor("int8", 0, (), True)}))  # fmt: skip
    return made


def integers():
    made = []
    for dtype in ("int8", "uint8"):
        x = [-374, 374, 3, -3, 16777217, -16777217, 2147483647, -2147483648]
        made.append(quantize(f"int32-x-{dtype}", "int32 x beyond 2^24 is rounded to float32; x / s in float64 is not the tie",
                             ("input precision", "tie"),
                             x, dtype, f32(4.5333333), 35, "int32"))  # fmt: skip
    for x, z, name in (([0.0, 2.0, -2.0, 1.5], 16777217, "z2e24"), ([2147483520.0, 1.0, -1.0], 2147483647, "zmax"),
                       ([-2147483648.0, 1.0], -2147483648, "zmin")):
        made.append(quantize(f"int32-{name}", "a zero point that float32 does not hold", ("zero-point order", "wrap"), x,
                             "int32", 1.0, z))
    return made


def narrow():
    made = []
    for least, greatest, dtype in ((-127, 127, "int8"), (-100, 100, "int8"), (0, 127, "uint8"), (1, 15, "uint4"),
                                   (-7, 7, "int4"), (-32767, 32767, "int16")):
        x = [float(v) for v in (least - 2, least - 1, least, greatest, greatest + 1, 70000, -70000)] + [NAN]
        about = f"a clamp range of [{least}, {greatest}]"
        made.append(quantize(f"narrow-{dtype}-{least}-{greatest}", about, ("saturation", "NaN"), x, dtype, 1.0, quant_min=least,
                             quant_max=greatest))
    made.append(quantize("narrow-fraction-int8", "bounds with fractions are rounded towards zero",
                         ("saturation", "intermediate precision"),
                         [1000.0, -1000.0, 100.0, -99.5], "int8", 1.0, quant_min=-99.9, quant_max=100.5))  # fmt: skip
    made.append(quantize("narrow-bfloat16-int16", "a bound of 303 is 304 in bfloat16", ("intermediate precision",),
                         [400.0, 304.0, 302.0, -302.0],
                         "int16", 1.0, None, "bfloat16", quant_min=-301, quant_max=303))  # fmt: skip
    return made


def small_floats():
    made = []
    odd = {"float8_e4m3fn": [17.0, 19.0, 17.001, 16.999, 464.0, 464.12, 465.0, 448.0, 500.0, -464.0],
           "float8_e5m2": [9.0, 11.0, 9.001, 57344.0, 61440.0, 61441.0, 65536.0, -61440.0],
           "float8_e4m3fnuz": [17.0, 19.0, 17.001, 240.0, 248.0, 249.0, 256.0, -248.0],
           "float8_e5m2fnuz": [9.0, 11.0, 9.001, 57344.0, 61440.0, 61441.0, 65536.0],
           "float4_e2m1": [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.0, 7.0, 0.2500001, -5.0]}  # fmt: skip
    for dtype, x in odd.items():
        x = list(map(f32, x))
        made.append(quantize(f"tie-{dtype}", "ties between codes, and the end of the range; 17.001 by way of float16 is a tie",
                             ("tie", "double rounding", "float overflow"), x, dtype, 1.0))  # fmt: skip
        made.append(quantize(f"special-{dtype}", "NaN, infinities, zeros of both signs", ("NaN", "float overflow"),
                             [NAN, NEGATIVE_NAN, INF, -INF, 0.0, -0.0, 1e30, -1e30], dtype, 1.0))  # fmt: skip
        least = {"float8_e4m3fn": -9, "float8_e5m2": -16, "float8_e4m3fnuz": -10, "float8_e5m2fnuz": -17, "float4_e2m1": -1}[dtype]
        unit = 2.0**least
        made.append(quantize(f"subnormal-{dtype}", "subnormal results, ties between them, and the tie with 0", ("subnormal", "tie"),
                             [unit * v for v in (0.5, 0.50000006, 1.0, 1.5, 2.5, 3.5, -0.5, -0.25)], dtype, 1.0))  # fmt: skip
        scale = f32(0.3)
        near = [step(f32(v * scale), d) for v in x[:3] for d in (-1, 0, 1)]
        made.append(quantize(f"reciprocal-{dtype}", "next to ties: x / s and x * (1 / s) differ", ("reciprocal", "tie"), near,
                             dtype, scale))
        if dtype in ("float8_e4m3fn", "float8_e5m2"):
            made.append(quantize(f"overflow-{dtype}", "saturate is false: infinity, or NaN where there is none",
                                 ("float overflow",),
                                 x + [INF, -INF], dtype, 1.0, saturate=False))  # fmt: skip
            made.append(quantize(f"float16-{dtype}", "float16 x", ("double rounding", "float overflow"),
                                 [17.0, 19.0, 9.0, 464.0, 480.0, 60000.0, INF, NAN],
                                 dtype, 1.0, None, "float16"))  # fmt: skip
    made.append(quantize("bounds-float8_e4m3fn", "bounds: rounded to whole numbers, clamped, and then to float8",
                         ("saturation", "double rounding"),
                         [1000.0, -1000.0, 17.4, 2.5], "float8_e4m3fn", 1.0, quant_min=-99.9, quant_max=100.5))  # fmt: skip
    for dtype in ("bfloat8_b", "bfloat4_b"):
        made.append(quantize(f"tie-{dtype}", "16 elements share an exponent", ("block float rounding", "tie"),
                             [64.5, 7.9999, 1.0, 0.5, -64.5, 0.0, 65.0, 3.0, 2.5, 1.5, 96.0, -0.0, 0.25, 0.125, 127.0, 1e-3],
                             dtype, 1.0,
                             bugs=("tenstorrent/tt-metal#15889", "tenstorrent/tt-metal#17236",
                                   "tenstorrent/tt-metal#17237")))  # fmt: skip
    return made


def shapes():
    made = []
    x = [0.25, 0.75, 1.25, -0.25, 0.15, 0.45, 0.75, -0.15]
    x = list(map(f32, x))
    made.append(quantize("channels-int8", "a scale and a zero point for each row", ("axis", "tie"), x, "int8", [0.5, f32(0.3)],
                         [0, 1], shape=(2, 4), qtype="per_channel", axis=0))
    made.append(quantize("columns-uint8", "a scale for each column", ("axis", "tie"), x, "uint8",
                         [0.5, f32(0.3), 0.5, f32(0.1)], 128, shape=(2, 4), qtype="per_channel", axis=1))
    made.append(quantize("blocks-int8", "blocks of two along the last dim", ("blocks", "tie"), x, "int8",
                         [0.5, 0.25, f32(0.3), f32(0.1)], shape=(2, 4), group_shape=[1, 2], qtype="per_group"))
    made.append(quantize("blocks-int4", "blocks of two along the last dim, int4", ("blocks", "tie"), x, "int4",
                         [0.5, 0.25, f32(0.3), f32(0.1)], shape=(2, 4), group_shape=[1, 2], qtype="per_group"))
    made.append(quantize("blocks-1d-int8", "one dim in blocks of four: not per axis", ("blocks",),
                         [5.0, 10.0, 15.0, 20.0, 8.0, 10.0, 12.0, 14.0], "int8", [1.0, f32(0.1)],
                         group_shape=[4], qtype="per_group", bugs=("microsoft/onnxruntime#32730",)))  # fmt: skip
    for domain, dtype in (("float", "uint4"), ("none", "int8")):
        more = {"zps": f32(2.4)} if domain == "float" else {}
        made.append(quantize(f"domain-{domain}-{dtype}", f"zero_point_domain {domain}",
                             ("zero-point order", "intermediate precision"), [f32(0.45), f32(0.9), 2.25, 3.0, -0.15, NAN],
                             dtype, f32(0.3), None, bugs=("pytorch/ao#4693",) if domain == "none" else (),
                             zero_point_domain=domain, **more))  # fmt: skip
    return made


def ports():
    made = []
    for dtype in ("int8", "uint8", "int32"):
        x = [30.0, f32(-0.1), f32(-0.5), 25.55, f32(25.6), f32(0.05), f32(0.15), f32(0.25), f32(2147483.7)]
        bugs = ("tenstorrent/tt-metal#57500", "tenstorrent/tt-metal#57356") if dtype == "uint8" else ()
        for z in (0, 5):
            zero = {"zero_point": tensor(dtype if dtype != "int8" else "int8", z, (), True)}
            made.append(quantize(f"port-zero-point-{dtype}-z{z}", "the zero point is a tensor: a backend may take another path",
                                 ("wrap", "tie", "reciprocal"),
                                 list(map(f32, x)), dtype, f32(0.1), bugs=bugs, inputs=zero))  # fmt: skip
            both = {"scale": tensor("float32", f32(0.1), (), True), **zero}
            made.append(quantize(f"port-both-{dtype}-z{z}", "scale and zero point are tensors", ("wrap", "tie", "reciprocal"),
                                 list(map(f32, x)), dtype, None, bugs=bugs, inputs=both))  # fmt: skip
    wide = {"zero_point": tensor("int32", 5, (), True)}
    made.append(quantize("port-int32-zero-point-uint8", "a zero point of int32 for uint8", ("wrap",), [30.0, f32(-0.1), 25.5],
                         "uint8", f32(0.1), inputs=wide,
                         bugs=("tenstorrent/tt-metal#57500", "tenstorrent/tt-metal#57356",
                               "tenstorrent/tt-metal#26414")))  # fmt: skip
    for name, code in (("1", 127), ("least", 0), ("half", 126), ("large", 254)):
        power = {"scale": tensor("float8_e8m0", [code], (1, 1), True)}
        made.append(quantize(f"e8m0-{name}-float8_e4m3fn", "a block scale of float8_e8m0: code 0 is 2^-127",
                             ("scale rounding", "subnormal"),
                             [1.0, 17.0, 464.0, 1.1754943508222875e-38, 3e38, 0.0, -0.0, NAN], "float8_e4m3fn", None,
                             shape=(1, 8), qtype="per_group", group_shape=[1, 8], inputs=power))  # fmt: skip
    for name, value in (("0", 0.0), ("infinite", INF), ("nan", NAN), ("negative", -0.5)):
        own = {"scale": tensor("float32", [value], ())}
        made.append(quantize(f"scale-{name}-int8", f"a scale of {value}, given at run time", ("NaN", "saturation"),
                             [0.0, -0.0, 1.0, -1.0, INF, NAN, 2.25], "int8", None, inputs=own))
    return made


def groups():
    parts = (ties, reciprocals, near_ties, ranges, specials, near_one, halves, integers, narrow, small_floats, shapes, ports)
    return [one for part in parts for one in part()]
