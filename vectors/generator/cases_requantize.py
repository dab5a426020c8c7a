# SPDX-License-Identifier: Apache-2.0
"""Groups of Requantize: the pair of Dequantize and Quantize, or one fused multiply-add, at ties and ends."""

from group import Group
from tensor import INF, NAN, ends, f32, tensor

TITLE = "Requantize: y = Quantize(Dequantize(x)), from one scale and zero point to another"


def requantize(name, about, provokes, x, x_dtype, s, z, t, w, dtype=None, bugs=(), shape=None, inputs=None, **attrs):
    """From scale s and zero point z to scale t and zero point w; None: left out."""
    given = {"in_scales": s, "in_zps": z, "out_scales": t, "out_zps": w, "dtype": dtype or x_dtype, **attrs}
    return Group(f"requantize/{name}", "Requantize", about, provokes, {"x": tensor(x_dtype, x, shape), **(inputs or {})},
                 {key: value for key, value in given.items() if value is not None}, bugs)  # fmt: skip


def fused():
    made = []
    pairs = {"0.1-0.6": (0.1, 1, 0.6, 0), "0.02-0.05": (0.02, 7, 0.05, 3), "0.1-0.03": (0.1, 0, 0.03, 0),
             "0.5-0.25": (0.5, 1, 0.25, 0), "1-2": (1.0, 0, 2.0, 0), "1-2-z1": (1.0, 0, 2.0, 1)}
    for name, (s, z, t, w) in pairs.items():
        s, t = f32(s), f32(t)
        for x_dtype, dtype in (("int8", "int8"), ("int32", "int8"), ("uint8", "uint8"), ("int32", "uint8"), ("int32", "int32")):
            least, greatest = ends(x_dtype)
            if z < least or w < ends(dtype)[0]:
                continue
            x = separating(s, z, t, w, range(max(least, -300), min(greatest, 300) + 1))
            x = (x or [1, 3, 5]) + [v for v in (least, greatest) if v not in x]
            about = "quotients at and near ties: two roundings, a fused multiply-add, or the expanded form; and the ends"
            made.append(requantize(f"{name}-{x_dtype}-{dtype}", about, ("double rounding", "tie", "requantize form", "wrap"), x,
                                   x_dtype, s, z, t, w, dtype))
    return made


def separating(s, z, t, w, codes):
    """Returns codes near ties of (x - z) * s / t + w, at which forms of Requantize differ."""
    def forms(x):
        r, p = f32(s / t), f32(f32(x - z) * s)
        o = f32(w - f32(z * r))
        away = int(f32(p / t) + (0.5 if p > 0 else -0.5)) + w
        return round(f32(p / t)) + w, round(f32(p * f32(1 / t))) + w, round(f32(x * r + o)), round(f32(f32(x * r) + o)), away

    found = [x for x in codes if len(set(forms(x))) > 1]
    return sorted(found, key=lambda x: (-len(set(forms(x))), abs(x)))[:10]


def edges():
    made = []
    for dtype in ("int8", "uint8", "int32"):
        x = [-2147483648, 2147483647, -5, -1, 0, 300, 255, 256, -300]
        bugs = ("tenstorrent/tt-metal#57500",) if dtype == "uint8" else ()
        made.append(requantize(f"ends-int32-{dtype}", "the ends of int32, which may be -0, and results beyond the range",
                               ("saturation", "sign and magnitude", "wrap"), x, "int32", 1.0, 0, 1.0, 0, dtype, bugs))
        if dtype == "int8":
            made.append(requantize(f"ends-int32-{dtype}-z", "the same with zero points",
                                   ("saturation", "sign and magnitude", "wrap"), x, "int32", 0.5, 3, 0.25, 7, dtype, bugs))
    made.append(requantize("identity-int8", "equal scales: every code stays", ("reciprocal",), list(range(-128, 128, 17)),
                           "int8", f32(0.3), 0, f32(0.3), 0))
    made.append(requantize("shift-int8-z", "scales that are equal, other zero points", ("zero-point order",),
                           list(range(-128, 128, 17)), "int8", f32(0.3), 3, f32(0.3), -4))
    made.append(requantize("tflite-int8", "-119.50000... : half away in float, not a shift to the right",
                           ("tie", "fixed point"), [-128, -120, -101, 100, 119, 127], "int8", 0.5, 0, 0.25, -119,
                           bugs=("tensorflow/tensorflow#102943",)))  # fmt: skip
    made.append(requantize("codes-in-floats", "x is a float that holds codes, with NaN and infinities", ("NaN",),
                           [NAN, INF, -INF, 2.5, -0.0, 100.0], "float32", 1.0, 0, 1.0, 3, "int8"))
    made.append(requantize("codes-in-bfloat16", "x is a bfloat16 that holds codes", ("NaN", "tie"),
                           [NAN, INF, -INF, 2.5, -0.0, 100.0], "bfloat16", 0.5, 1, 1.0, 3, "int8"))
    made.append(requantize("subnormal-int8", "a product that is subnormal", ("subnormal", "flush"), [1, 2, 3, -3, 127], "int8",
                           1e-40, 0, 1e-40, 0))
    made.append(requantize("channels-int8", "a scale for each row of x", ("axis",), [-128, 0, 127, 10, 20, 30], "int8",
                           [0.5, 0.25], 2, f32(0.4), 3, shape=(2, 3), axis=0))
    made.append(requantize("channels-out-uint8", "a scale for each row of y", ("axis",), [-128, 0, 127, 10, 20, 30], "int8",
                           0.5, 2, [f32(0.4), f32(0.3)], [128, 0], "uint8", shape=(2, 3), axis=0))
    made.append(requantize("narrow-int8", "a clamp range of [-127, 127]", ("saturation",), [-128, -127, 127], "int8", 2.0, 0,
                           1.0, 0, quant_min=-127, quant_max=127))
    zero = {"in_zero_point": tensor("int32", 3, (), True), "out_zero_point": tensor("int32", 7, (), True)}
    for dtype in ("int32", "uint8", "int8"):
        made.append(requantize(f"ports-{dtype}", "zero points that are tensors: a backend may take another path",
                               ("wrap", "tie"), [-5, 1, 6, 255, 300, -300, 106, 34], "int32", f32(0.1), None, f32(0.6), None,
                               dtype, inputs=zero))
    return made


def groups():
    return fused() + edges()
