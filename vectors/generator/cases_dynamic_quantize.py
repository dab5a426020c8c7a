# SPDX-License-Identifier: Apache-2.0
"""Groups of DynamicQuantize: ranges with zeros, NaN and infinities, ties of zero points, scales of MX and NVFP4."""

from group import Group
from tensor import INF, NAN, f32, rounded, step, tensor

TITLE = "DynamicQuantize: scale and zero point are computed from x"
MX_BLOCKS = ("above", "below", "half-step", "largest", "specials", "nan", "tiny")
KEPT = {"mx_floor": (*MX_BLOCKS, "power", "zeros", "huge"), "mx_ceil": ("power", "above", "specials", "huge"),
        "mx_even": ("below", "half-step", "tiny", "specials"),
        "mx_rceil": MX_BLOCKS}  # fmt: skip
MX = ("mx_floor", "mx_ceil", "mx_even", "mx_rceil")


def dynamic(name, about, provokes, x, dtype="uint8", x_dtype="float32", bugs=(), shape=None, **attrs):
    return Group(f"dynamic_quantize/{name}", "DynamicQuantize", about, provokes, {"x": tensor(x_dtype, x, shape)},
                 {"dtype": dtype, **attrs}, bugs)


RANGES = {
    "zeros": ([0.0, 0.0, 0.0, 0.0], "only zeros: the scale is 1, 1 / 255, or eps"),
    "nan-only": ([NAN, NAN, NAN, NAN], "only NaN"),
    "nan-in-lane": ([100.0, 1.0, 1.0, 1.0, NAN, 1.0, 1.0, 1.0], "a NaN counts by its place in a vector"),
    "infinite": ([INF, 1.0, -1.0, 0.0], "an infinity: the scale is infinite"),
    "minus-infinite": ([-INF, 1.0, -1.0, 0.0], "a negative infinity"),
    "overflow": ([3e38, -3e38, 1.0, 0.0], "the range overflows float32"),
    "positive": ([5.0, 5.0, 3.0, 4.0], "no number below 0: the range includes 0"),
    "negative": ([-5.0, -5.0, -3.0, -4.0], "no number above 0: the range includes 0"),
    "underflow": ([1.401298464324817e-45, -1.401298464324817e-45, 0.0, 0.0], "the scale underflows to 0"),
    "subnormal": ([1e-42, -1e-43, 0.0, 5e-43], "the scale is subnormal"),
    "tie": ([-1.0, 1.55, 0.005, 0.015, 0.025, -0.005], "quotients and zero point near ties"),
    "zero-point-tie": ([-0.5, 254.5, 0.5, 1.5, 2.5], "qmin - lo / scale is a tie, 0.5"),
    "zero-point-tie-odd": ([-1.5, 253.5, 0.5, 1.5, 2.5], "qmin - lo / scale is a tie, 1.5"),
    "small": ([1e-6, -1e-6, 5e-7, 0.0], "a scale below the least one of some backends"),
    "signed-zero": ([-0.0, 0.0, 1.0, -1e-9], "zeros of both signs"),
    "symmetric-tie": ([1.0, 3.0, 4.0, -2.0], "m / 127 and m / 127.5 give other codes"),
}


def ranges():
    made = []
    for name, (x, about) in RANGES.items():
        x = list(map(f32, x))
        provokes = ("NaN",) if "nan" in name else ("choice of parameters",)
        made.append(dynamic(f"{name}-uint8", about, provokes, x))
        if name in ("nan-in-lane", "nan-only", "zero-point-tie", "underflow", "subnormal", "minus-infinite", "tie"):
            made.append(dynamic(f"{name}-int8", about, provokes, x, "int8"))
        if name not in ("zero-point-tie", "zero-point-tie-odd", "signed-zero", "tie"):
            made.append(dynamic(f"{name}-int8-symmetric", about, provokes, x, "int8", scheme="symmetric"))
    for name in ("negative", "symmetric-tie"):
        x, about = RANGES[name]
        made.append(dynamic(f"{name}-int8-no-clipping", about, ("choice of parameters",), x, "int8",
                            scheme="symmetric_no_clipping"))
        made.append(dynamic(f"{name}-int4", about, ("choice of parameters",), x, "int4"))
        made.append(dynamic(f"{name}-float8_e4m3fn", about, ("choice of parameters",), x, "float8_e4m3fn", scheme="symmetric"))
    for x_dtype in ("float16", "bfloat16"):
        for name, x in {"steps": [-1.0, 2.0, 0.33, 1.77, -0.5], "symmetric": [-0.75, 1.0, 0.3, 0.01]}.items():
            x = [rounded(x_dtype, v) for v in x]
            about = f"{x_dtype}: each step in float32, or in {x_dtype}"
            made.append(dynamic(f"{x_dtype}-{name}-int8", about, ("intermediate precision",), x, "int8", x_dtype))
            made.append(dynamic(f"{x_dtype}-{name}-int16-symmetric", about, ("intermediate precision",), x, "int16", x_dtype,
                                scheme="symmetric"))
    for eps in (1e-2, 1e-7, 1e-3):
        made.append(dynamic(f"eps-{eps:g}-int8", "a least scale", ("least scale",), [0.5, -0.25, 0.125, 0.0], "int8", eps=eps))
    ties = [127.0, *(k + 0.5 for k in range(-4, 4)), 63.5, -126.5, 126.5] + [0.0] * 20
    made.append(dynamic("q8_0-ties-int8", "a block of 32 with the scale 1: its ties go half away in ggml's Q8_0", ("tie",),
                        ties, "int8", bugs=("ggml-org/llama.cpp#4933",), shape=(1, 32), scheme="symmetric",
                        qtype="per_group", group_shape=[1, 32]))  # fmt: skip
    made.append(dynamic("narrow-int16", "a clamp range of [-301, 300] in int16 of bfloat16", ("intermediate precision",),
                        [-1.0, 2.0, 0.5], "int16", "bfloat16", quant_min=-301, quant_max=300))
    made.append(dynamic("channels-int8", "a range for each row", ("axis",), [1.0, -2.0, 3.0, NAN, 0.0, 0.0, 0.0, 0.0], "int8",
                        shape=(2, 4), qtype="per_channel", axis=0))
    made.append(dynamic("blocks-int8", "a range for each block", ("blocks", "NaN"), [1.0, -2.0, 3.0, NAN, 0.0, 0.0, 8.0, INF],
                        "int8", shape=(2, 4), qtype="per_group", group_shape=[1, 2]))
    return made


def padded(x, count):
    return list(map(f32, x)) + [0.0] * (count - len(x))


def powers():
    made = []
    largest = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0, "float4_e2m1": 6.0}
    for dtype, top in largest.items():
        blocks = {
            "power": ([1.0, 0.5, -0.25, 0.3], "the greatest |x| is a power of two"),
            "above": ([step(1.0, 1), 0.5, -0.25, 0.3], "one step above a power of two"),
            "below": ([step(2.0, -1), 0.5, -1.9, 0.3], "one step below a power of two: mx_even rounds it up"),
            "half-step": ([{"float8_e4m3fn": 1.9375, "float8_e5m2": 1.875, "float4_e2m1": 1.75}[dtype], 1.0, 0.3],
                          "half a step of the result below a power of two"),
            "largest": ([top, step(top, 1), -top, 1.0], "the largest value, and a step above it"),
            "specials": ([INF, 1.0, -1.0, 0.5], "an infinity in the block"),
            "nan": ([NAN, 1.0, -1.0, 0.5], "a NaN in the block"),
            "zeros": ([0.0, -0.0, 0.0], "only zeros"),
            "tiny": ([1.1754943508222875e-38, 5.877471754111438e-39, 1.401298464324817e-45],
                     "scale code 0, and subnormal elements"),
            "huge": ([3.4028234663852886e38, 1e38, -3e38], "the largest float32"),
        }
        chosen = blocks if dtype != "float8_e5m2" else {"half-step": blocks["half-step"]}
        for scheme in MX:
            for name, (x, about) in chosen.items():
                if name not in KEPT[scheme] or dtype == "float4_e2m1" and (name in ("power", "zeros",
                    "huge") or scheme == "mx_ceil"):
                    continue
                made.append(dynamic(f"{scheme}-{name}-{dtype}", f"a block of 32: {about}",
                                    ("scale rounding", *(("NaN",) if name in ("nan", "specials") else ())),
                                    padded(x, 32), dtype, shape=(1, 32), scheme=scheme, qtype="per_group",
                                    group_shape=[1, 32]))  # fmt: skip
    x = (step(448 * 2.0**64, 3), 448.0 * 2**64)
    made.append(dynamic("mx_rceil-logarithm-float8_e4m3fn", "m / 448 just above 2^64: a float32 logarithm does not see it",
                        ("scale rounding",), padded(x, 32),
                        "float8_e4m3fn", shape=(1, 32), scheme="mx_rceil", qtype="per_group", group_shape=[1, 32]))  # fmt: skip
    nv = {"tie": [6.0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], "scale-tie": [6.375, 1.0, -3.0, 5.9],
          "tiny": [1e-4, 5e-5, -1e-5], "huge": [3000.0, 2688.0, -1.0],
          "nan": [NAN, 1.0, 2.0], "infinite": [INF, 1.0, 2.0], "zeros": [0.0, -0.0]}  # fmt: skip
    for name, x in nv.items():
        for scale in (None, 0.5) if name in ("tie", "huge") else (None,):
            more = {} if scale is None else {"global_scales": scale}
            made.append(dynamic(f"nvfp4-{name}{'' if scale is None else '-global'}",
                                "a block of 16 with a scale of float8_e4m3fn, m / 6", ("scale rounding", "tie"), padded(x, 16),
                                "float4_e2m1",
                                shape=(1, 16), scheme="nvfp4", qtype="per_group", group_shape=[1, 16], **more))  # fmt: skip
    return made


def groups():
    return ranges() + powers()
