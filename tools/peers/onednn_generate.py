# SPDX-License-Identifier: Apache-2.0
"""Writes small random graphs in oneDNN's JSON: each forward kind alone, and short chains.

Forms are drawn from everything that oneDNN's schemas allow: dtypes, ranks 0 to 5, both data
formats, all weights formats, explicit and automatic pads, groups, dilations, broadcasting, optional
ports, and attributes given or left at their defaults."""

import json
import math
import random

from onednn_reader import BINARY, KINDS, REDUCE, UNARY, window_sizes

FLOATS = ["f32", "f32", "bf16", "f16"]
MOVED = FLOATS * 3 + ["s8", "u8"]  # oneDNN's schemas have floats only, qdq moves any dtype


def attribute(value):
    if isinstance(value, bool):
        return {"type": "bool", "value": int(value)}
    if isinstance(value, str):
        return {"type": "string", "value": value}
    if isinstance(value, list):
        kind = "f32[]" if any(isinstance(v, float) for v in value) else "s64[]"
        return {"type": kind, "value": value}
    return {"type": "f32" if isinstance(value, float) else "s64", "value": value}


class Builder:
    def __init__(self, rng):
        self.rng, self.ops, self.count = rng, [], rng.randrange(100)

    def tensor(self, dtype, shape, kind="undef"):
        self.count += 1
        shape = list(shape)
        stride = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        order = list(range(len(shape)))
        if self.rng.random() < 0.2:  # another memory order, with the same values
            self.rng.shuffle(order)
            step = 1
            for i in reversed(order):
                stride[i], step = step, step * shape[i]
        return {
            "id": self.count,
            "dtype": dtype,
            "shape": shape,
            "stride": stride,
            "layout_type": "strided",
            "property_type": kind,
        }

    def made(self, dtype):
        """A tensor that an op makes, without a shape."""
        self.count += 1
        unknown = [-(2**63)]
        row = {"id": self.count, "dtype": dtype, "shape": unknown, "stride": unknown}
        return row | {"layout_type": "undef", "property_type": "undef"}

    def op(self, kind, inputs, dtypes, attrs=None):
        outputs = [self.made(dtype) for dtype in dtypes]
        number = len(self.ops)
        row = {"id": number, "name": f"{kind}_{number}", "kind": kind}
        row["attrs"] = {k: attribute(v) for k, v in (attrs or {}).items()}
        self.ops.append(row | {"inputs": inputs, "outputs": outputs})
        return outputs

    def document(self):
        return {
            "version": "3.11.0",
            "engine_kind": "cpu",
            "fpmath_mode": "strict",
            "input_ports": [],
            "output_ports": [],
            "graph": self.ops,
        }


def maybe(rng, attrs, **defaults):
    """Leaves out attributes at their defaults, half of the time."""
    named = [k for k, v in attrs.items() if k in defaults and v == defaults[k]]
    return {k: v for k, v in attrs.items() if k not in named or rng.random() < 0.5}


def shape_of(rng, low=0, high=5, limit=3000):
    rank = rng.randint(low, high + (high == 5 and rng.random() < 0.1))
    if rng.random() < 0.08:  # large enough for several threads and tiles
        limit *= 60
    sizes = [1, 2, 3, 5, 7, 8, 13, 17, 31, 32, 33, 37, 65, 300] + [1000] * (limit > 9000)
    while True:
        some = sizes if rank < 3 or limit > 9000 else sizes[:8]
        shape = [rng.choice(some) for _ in range(rank)]
        if math.prod(shape) <= limit:
            return shape


def shrunk(rng, shape):
    """A shape that broadcasts to another."""
    cut = shape[rng.randint(0, len(shape)) :] if rng.random() < 0.4 else shape
    return [1 if rng.random() < 0.4 else n for n in cut]


# ---- Elements


def unary(b, kind):
    rng = b.rng
    dtype = "f32" if kind == "Round" and rng.random() < 0.7 else rng.choice(FLOATS)
    attrs = {}
    if kind in ("LeakyReLU", "Elu"):
        attrs = {"alpha": rng.choice([0.01, 0.25, 1.5, 2, 0, -0.5])}
    elif kind == "HardSigmoid":
        attrs = {"alpha": rng.choice([0.2, 0.1666667, 1]), "beta": rng.choice([0.5, 0, 0.25])}
    elif kind == "Clamp":
        low, high = rng.choice([(-1, 1), (0, 6), (0, 0), (-0.5, 2.25), (-3.402823e38, 0.1)])
        attrs = {"min": low, "max": high}
    elif kind == "GELU":
        attrs = maybe(rng, {"mode": rng.choice(["gelu_erf", "gelu_tanh"])}, mode="gelu_erf")
    attrs = {k: float(v) if not isinstance(v, str) else v for k, v in attrs.items()}
    b.op(kind, [b.tensor(dtype, shape_of(rng))], [dtype], attrs)


def binary_shapes(rng):
    shape = shape_of(rng)
    form = rng.choice(["same", "one", "scalar", "two", "none"])
    if form == "none":
        return shape, shape, {"auto_broadcast": "none"}
    attrs = maybe(rng, {"auto_broadcast": "numpy"}, auto_broadcast="numpy")
    if form == "same":
        return shape, shape, attrs
    other = {"one": shrunk(rng, shape), "scalar": rng.choice([[], [1]]), "two": shrunk(rng, shape)}
    a = [1 if rng.random() < 0.3 else n for n in shape] if form == "two" else shape
    return (a, other[form], attrs) if rng.random() < 0.6 else (other[form], a, attrs)


def binary(b, kind):
    rng = b.rng
    one, two, attrs = binary_shapes(rng)
    dtype = rng.choice(FLOATS)
    dtypes = [dtype, dtype, dtype]
    if kind == "GreaterEqual":
        dtypes = [rng.choice(FLOATS + ["s32"])] * 2 + ["boolean"]
    elif kind not in ("Minimum", "Maximum") and rng.random() < 0.4:
        dtypes = [rng.choice(FLOATS) for _ in range(3)]
    if kind in ("Add", "Subtract") and rng.random() < 0.25:
        dtypes = rng.choice([["s32"] * 3, ["s32", "f32", "f32"], ["f32", "s32", "f32"]])
    b.op(kind, [b.tensor(dtypes[0], one), b.tensor(dtypes[1], two)], [dtypes[2]], attrs)


def select(b, _kind):
    rng = b.rng
    one, two, attrs = binary_shapes(rng)
    rank = max(len(one), len(two))
    pad = [[1] * (rank - len(s)) + s for s in (one, two)]
    shape = [max(p) for p in zip(*pad)]
    condition = shape if attrs.get("auto_broadcast") == "none" else rng.choice(
        [shape, shrunk(rng, shape), []]
    )
    dtype = rng.choice(FLOATS)
    inputs = [b.tensor("boolean", condition), b.tensor(dtype, one), b.tensor(dtype, two)]
    b.op("Select", inputs, [dtype], attrs)


def formatted(rng, batch, channels, spatial, attrs):
    word = rng.choice(["NCX", "NXC"])
    attrs.update(maybe(rng, {"data_format": word}, data_format="NXC"))
    return [batch, channels, *spatial] if word == "NCX" else [batch, *spatial, channels]


def spatial_of(rng, low=0, high=3, sizes=(1, 2, 3, 4, 5, 7, 9)):
    return [rng.choice(sizes) for _ in range(rng.randint(low, high))]


def bias_add(b, _kind):
    rng, attrs, dtype = b.rng, {}, b.rng.choice(FLOATS)
    channels = rng.choice([1, 3, 5, 8, 33])
    x = formatted(rng, rng.randint(1, 3), channels, spatial_of(rng), attrs)
    b.op("BiasAdd", [b.tensor(dtype, x), b.tensor(dtype, [channels])], [dtype], attrs)


def prelu(b, _kind):
    rng, attrs, dtype = b.rng, {}, b.rng.choice(FLOATS)
    channels = rng.choice([1, 3, 5, 8, 33])
    x = formatted(rng, rng.randint(1, 3), channels, spatial_of(rng), attrs)
    per_channel = rng.random() < 0.5
    attrs.update(maybe(rng, {"per_channel_broadcast": per_channel}, per_channel_broadcast=True))
    slope = [rng.choice([channels, 1])]
    if not per_channel:
        slope = rng.choice([x, [x[-1]], [1], [1 if rng.random() < 0.5 else n for n in x]])
    b.op("PReLU", [b.tensor(dtype, x), b.tensor(dtype, slope)], [dtype], attrs)


def dropout(b, _kind):
    rng, dtype = b.rng, b.rng.choice(FLOATS)
    host = [b.tensor(d, [], "host_scalar") for d in ("s64", "s64", "f32")]
    outputs = [dtype, "u8"][: rng.randint(1, 2)]
    b.op("Dropout", [b.tensor(dtype, shape_of(rng, 1)), *host], outputs)


# ---- Quantizing


def granularity(rng, shape, attrs):
    """The number of scales; sets qtype and axis."""
    if shape and rng.random() < 0.5:
        axis = rng.choice([*range(-len(shape), len(shape)), 1 if len(shape) > 1 else 0])
        attrs.update(maybe(rng, {"qtype": "per_channel", "axis": axis}, axis=1))
        return shape[axis]
    of_tensor = {"qtype": "per_tensor", "axis": rng.choice([0, 1, -1])}
    attrs.update(maybe(rng, of_tensor, qtype="per_tensor"))
    return 1


def scale(rng):
    some = [0.1, 0.0078125, 0.5, 2.0, 0.0156863, 0.00392157, 1.0]
    return rng.choice([*some, round(rng.uniform(0.001, 4), 5)])


def quantize(b, kind):
    rng, attrs = b.rng, {}
    shape = shape_of(rng)
    count = granularity(rng, shape, attrs)
    small = rng.choice(["u8", "s8", "s8", "f8_e5m2", "f8_e4m3"])
    attrs["scales"] = [float(scale(rng)) for _ in range(count)]
    if not small.startswith("f8") and rng.random() < 0.7:
        zps = [rng.randint(*((0, 255) if small == "u8" else (-128, 127))) for _ in range(count)]
        attrs["zps"] = zps if rng.random() < 0.7 else [0] * count
    dtypes = ["f32", small] if kind == "Quantize" else [small, "f32"]
    b.op(kind, [b.tensor(dtypes[0], shape)], dtypes[1:], attrs)


def dynamic(b, kind):
    rng, attrs = b.rng, {}
    wide = kind == "DynamicDequantize"
    dtype = rng.choice(["f32", "bf16", "f16"]) if wide else "f32"
    small = rng.choice(["u8", "s8", "s4", "u4"] if wide else ["u8", "s8"])
    if wide and rng.random() < 0.5:
        shape = shape_of(rng, 2, 4, 400)
        group = [1] * len(shape)
        axis = rng.choice([-1, -2])
        group[axis] = rng.choice([1, 2, 8])
        scales = list(shape)
        shape[axis] *= group[axis]
        attrs = {"qtype": "per_group", "group_shape": group}
        if rng.random() < 0.5:
            attrs["axis"] = -1
        zps = scales
    else:
        shape = shape_of(rng, 1)
        count = granularity(rng, shape, attrs)
        scales = [count]
        zps = scales if rng.random() < 0.7 else [1]
    inputs = [b.tensor(small, shape), b.tensor(dtype, scales)]
    if not wide:
        inputs[0] = b.tensor("f32", shape)
    if rng.random() < 0.6:
        kinds = ["s8", "u8", "s32"] + (["u4", "s4"] if wide else [])
        inputs.append(b.tensor(rng.choice(kinds), zps))
    b.op(kind, inputs, [dtype if wide else small], attrs)


def typecast(b, _kind):
    a, c = b.rng.choice([("f32", "bf16"), ("f32", "f16"), ("bf16", "f32"), ("f16", "f32")])
    b.op("TypeCast", [b.tensor(a, shape_of(b.rng))], [c])


# ---- Products


def matmul(b, _kind):
    rng = b.rng
    dtype = rng.choice(FLOATS)
    large = [64, 100, 257, 500] if rng.random() < 0.15 else []
    m, k, n = (rng.choice([1, 2, 3, 7, 16, 31, 33, 65] + large * 3) for _ in range(3))
    batch = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 2, 3]))]
    ta, tb = rng.random() < 0.4, rng.random() < 0.4
    a = [1 if rng.random() < 0.3 else d for d in batch] + ([k, m] if ta else [m, k])
    w = [1 if rng.random() < 0.3 else d for d in batch] + ([n, k] if tb else [k, n])
    w = w[rng.randint(0, len(batch)) :] if rng.random() < 0.3 else w
    form = rng.random()
    rows, columns = [m], [n]
    if form < 0.12:
        a, rows = [k], []
    elif form < 0.24:
        w, columns = [k], []
    elif form < 0.3:
        a, w, rows, columns = [k], [k], [], []
    inputs = [b.tensor(dtype, a), b.tensor(dtype, w)]
    if rng.random() < 0.5:
        bias = [1 if rng.random() < 0.2 else d for d in rows + columns]
        inputs.append(b.tensor(dtype, bias[rng.randint(0, len(bias)) :]))
    attrs = {"transpose_a": ta, "transpose_b": tb, "accumulation_mode": "strict"}
    defaults = {"transpose_a": False, "transpose_b": False, "accumulation_mode": "strict"}
    out = rng.choice([dtype, dtype, "f32"])
    b.op("MatMul", inputs, [out], maybe(rng, attrs, **defaults))


def pads_of(rng, n, kernel, dilations):
    """Pads shorter than the reach of a window."""
    reach = [(k - 1) * d for k, d in zip(kernel, dilations)]
    return [rng.randint(0, min(2, r)) for r in reach] if rng.random() < 0.7 else [0] * n


def convolution(b, kind):
    rng, attrs, dtype = b.rng, {}, b.rng.choice(FLOATS)
    n = rng.randint(1, 3)
    kernel = [rng.randint(1, 4 if n < 3 else 3) for _ in range(n)]
    dilations = [rng.choice([1, 1, 2, 3]) for _ in range(n)]
    strides = [rng.choice([1, 1, 2, 3]) for _ in range(n)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    groups = rng.choice([1, 1, 2, 3, 4])
    inner, outer = rng.choice([1, 2, 3, 8]), rng.choice([1, 2, 5, 9])
    form = rng.random()
    if form < 0.2:  # depthwise
        inner, outer, groups = 1, rng.choice([1, 1, 2]), rng.choice([3, 8, 17, 33])
    elif form < 0.35:
        inner, outer = rng.choice([16, 32, 33]), rng.choice([16, 32, 40])
        groups = rng.choice([1, 2])
    attrs |= {"strides": strides, "dilations": dilations}
    attrs |= {"pads_begin": pads_of(rng, n, kernel, dilations)}
    attrs |= {"pads_end": pads_of(rng, n, kernel, dilations)}
    attrs |= maybe(rng, {"groups": groups}, groups=1)
    auto = rng.choice(["None", "None", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if kind == "ConvTranspose" and auto.startswith("SAME"):
        if any(r < s for r, s in zip(reach, strides)):
            auto = "None"
    attrs |= maybe(rng, {"auto_pad": auto}, auto_pad="None")
    extra = [0] * n
    if kind == "Convolution":
        spatial = [r + rng.randint(0, 6) for r in reach]
        word = rng.choice(["XIO", "OIX"])
        io = [inner, outer * groups]
        w = [io[1], io[0], *kernel] if word == "OIX" else [*kernel, *io]
        attrs |= maybe(rng, {"weights_format": word}, weights_format="XIO")
    else:
        spatial = [rng.randint(1 if r > 2 else 2, 6) + 2 for r in reach]
        word = rng.choice(["XOI", "IOX"])
        w = [inner * groups, outer, *kernel] if word == "IOX" else [*kernel, outer, inner * groups]
        attrs |= maybe(rng, {"weights_format": word}, weights_format="XOI")
        if auto == "None" and rng.random() < 0.5:
            extra = [rng.randint(0, max(s, d) - 1) for s, d in zip(strides, dilations)]
            attrs["output_padding"] = extra
        elif rng.random() < 0.3:
            attrs["output_padding"] = [0] * 12
    x = formatted(rng, rng.randint(1, 2), inner * groups, spatial, attrs)
    inputs = [b.tensor(dtype, x), b.tensor(dtype, w)]
    if rng.random() < 0.5:
        inputs.append(b.tensor(dtype, [outer * groups]))
    b.op(kind, inputs, [dtype], attrs)


# ---- Softmax and normalization


def softmax(b, kind):
    rng, shape = b.rng, shape_of(b.rng, 2, 5)
    dtype = rng.choice(FLOATS)
    axis = rng.randrange(-len(shape), len(shape))
    if kind == "LogSoftmax":
        b.op(kind, [b.tensor(dtype, shape)], [dtype], maybe(rng, {"axis": axis}, axis=-1))
        return
    attrs = {"axis": axis, "mode": rng.choice(["none", "inf_as_zero"])}
    out = rng.choice(["f32", dtype, "bf16"] if dtype == "f32" else [dtype, "f32"])
    outputs = [out, "f32"] if rng.random() < 0.4 else [out]
    x = b.tensor(dtype, shape)
    if rng.random() < 0.5:  # masked scores
        mask = b.tensor(dtype, shape[-2:] if rng.random() < 0.7 else shrunk(rng, shape[-2:]))
        moved = b.op("Abs", [x], [dtype])[0]
        x = b.op("Add", [moved, mask], [dtype])[0]
        attrs["axis"] = -1
    b.op(kind, [x], outputs, maybe(rng, attrs, axis=1, mode="none"))


def layer_norm(b, kind):
    rng, dtype, shape = b.rng, b.rng.choice(FLOATS), shape_of(b.rng, 1, 5)
    other = rng.choice(["f32", "bf16"]) if dtype == "bf16" else "f32"
    axis = -1 if rng.random() < 0.7 else rng.randrange(-len(shape), len(shape))
    attrs = {"begin_norm_axis": axis, "epsilon": rng.choice([1e-5, 0.0625, 0.001])}
    inputs = [b.tensor(dtype, shape)]
    rest = shape[axis % len(shape) :]
    sizes = rest if rng.random() < 0.5 else [math.prod(rest)]
    affine = rng.random() < 0.6
    if kind == "RMSNorm":
        other = rng.choice([other, dtype])
        inputs += [b.tensor(other, sizes)] if affine else []
        b.op(kind, inputs, [dtype], maybe(rng, attrs, begin_norm_axis=-1, epsilon=1e-5))
        return
    inputs += [b.tensor(other, sizes), b.tensor(other, sizes)] if affine else []
    attrs |= {"use_affine": affine, "keep_stats": rng.random() < 0.5}
    outputs = [dtype, other, other] if attrs["keep_stats"] else [dtype]
    defaults = {"begin_norm_axis": -1, "epsilon": 1e-5, "use_affine": True, "keep_stats": True}
    b.op(kind, inputs, outputs, maybe(rng, attrs, **defaults))


def group_norm(b, kind):
    rng, dtype, attrs = b.rng, b.rng.choice(FLOATS), {}
    other = rng.choice(["f32", "bf16"]) if dtype == "bf16" else "f32"
    groups = rng.choice([1, 2, 3, 4])
    channels = groups * rng.choice([1, 2, 5])
    x = formatted(rng, rng.randint(1, 3), channels, spatial_of(rng, 1, 3, (2, 3, 5)), attrs)
    affine = rng.random() < 0.6
    inputs = [b.tensor(dtype, x)]
    inputs += [b.tensor(other, [channels]) for _ in range(2)] if affine else []
    attrs |= {"use_affine": affine, "keep_stats": rng.random() < 0.5}
    attrs["epsilon"] = rng.choice([1e-5, 0.0625, 0.001])
    outputs = [dtype, other, other] if attrs["keep_stats"] else [dtype]
    attrs = maybe(rng, attrs, epsilon=1e-5, use_affine=True, keep_stats=True)
    b.op(kind, inputs, outputs, attrs | {"groups": groups})


def batch_norm(b, kind):
    rng, dtype, attrs = b.rng, b.rng.choice(FLOATS), {"epsilon": b.rng.choice([1e-5, 0.001, 0.5])}
    other = rng.choice(["f32", "bf16"]) if dtype == "bf16" else "f32"
    channels = rng.choice([1, 3, 8, 17])
    x = formatted(rng, rng.randint(2, 3), channels, spatial_of(rng, 0, 3, (2, 3, 5)), attrs)
    training = kind == "BatchNormForwardTraining"
    count = rng.choice([2, 4]) if training else 4
    if training and rng.random() < 0.7:
        attrs["momentum"] = rng.choice([0.9, 0.1, 0.5, 0.0])
    inputs = [b.tensor(dtype, x)] + [b.tensor(other, [channels]) for _ in range(count)]
    b.op(kind, inputs, [dtype] + ([other] * 4 if training else []), attrs)


# ---- Pooling, resampling, reduction


def pool(b, kind):
    rng, attrs, dtype = b.rng, {}, b.rng.choice(FLOATS)
    n = rng.randint(1, 3)
    while True:
        kernel = [rng.randint(1, 4) for _ in range(n)]
        strides = [rng.randint(1, 3) for _ in range(n)]
        dilations = [rng.choice([1, 1, 2]) if kind == "MaxPool" else 1 for _ in range(n)]
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        spatial = [r + rng.randint(0, 6) for r in reach]
        attrs = {"strides": strides, "kernel": kernel}
        attrs["pads_begin"] = [rng.randint(0, k // 2) for k in kernel]
        attrs["pads_end"] = [rng.randint(0, k // 2) for k in kernel]
        attrs["rounding_type"] = rng.choice(["floor", "ceil"])
        attrs["auto_pad"] = rng.choice(["None", "None", "SAME_UPPER", "SAME_LOWER", "VALID"])
        if kind == "MaxPool":
            attrs["dilations"] = dilations
        out = window_sizes(attrs, spatial, kernel)
        begin = attrs["pads_begin"] if attrs["auto_pad"] == "None" else [0] * n
        starts = [(o - 1) * s - p for o, s, p in zip(out, strides, begin)]
        if all(s < x for s, x in zip(starts, spatial)):  # each window has an element
            break
    if kind == "AvgPool":
        attrs["exclude_pad"] = rng.random() < 0.5
    elif all(d == 1 for d in dilations):
        attrs["dilations"] = [1] * rng.choice([n, 12])
        if rng.random() < 0.5:
            del attrs["dilations"]
    attrs = maybe(rng, attrs, rounding_type="floor", auto_pad="None")
    x = formatted(rng, rng.randint(1, 2), rng.choice([1, 3, 8]), spatial, attrs)
    b.op(kind, [b.tensor(dtype, x)], [dtype], attrs)


def interpolate(b, kind):
    rng, dtype = b.rng, b.rng.choice(FLOATS)
    spatial = spatial_of(rng, 1, 3)
    words = ["nearest", ["linear", "bilinear", "trilinear"][len(spatial) - 1], "linear"]
    attrs = {"mode": rng.choice(words)}
    if rng.random() < 0.5:
        attrs["sizes"] = [rng.randint(1, 9) for _ in spatial]
    else:
        attrs["scales"] = [rng.choice([1.0, 1.5, 2.0, 2.25, 3.0]) for _ in spatial]
    corners = "align_corners" if rng.random() < 0.1 else "half_pixel"
    attrs |= maybe(
        rng,
        {"coordinate_transformation_mode": corners},
        coordinate_transformation_mode="half_pixel",
    )
    x = formatted(rng, rng.randint(1, 2), rng.choice([1, 3, 8]), spatial, attrs)
    b.op(kind, [b.tensor(dtype, x)], [dtype], attrs)


def reduce(b, kind):
    rng, dtype, shape = b.rng, b.rng.choice(FLOATS), shape_of(b.rng, 1, 5)
    axes = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
    axes = [a - len(shape) if rng.random() < 0.4 else a for a in axes]
    if kind == "ReduceProd":
        shape = [min(n, 9) for n in shape]
        axes = axes[:2]
    attrs = maybe(rng, {"keep_dims": rng.random() < 0.5}, keep_dims=False)
    b.op(kind, [b.tensor(dtype, shape)], [dtype], attrs | {"axes": axes})


# ---- Data movement


def concat(b, kind):
    rng, dtype, shape = b.rng, b.rng.choice(MOVED), shape_of(b.rng, 1, 5, 800)
    axis = rng.randrange(len(shape))
    inputs = []
    for _ in range(rng.choice([1, 2, 3, 5, 9])):
        part = list(shape)
        part[axis] = rng.choice([1, 2, 5, shape[axis]])
        inputs.append(b.tensor(dtype, part))
    if rng.random() < 0.3:
        inputs.append(inputs[0])
    b.op(kind, inputs, [dtype], {"axis": rng.choice([axis, axis - len(shape)])})


def reshape(b, kind):
    rng, dtype, shape = b.rng, b.rng.choice(MOVED), shape_of(b.rng, 1, 5)
    left, parts = math.prod(shape), []
    for _ in range(rng.randint(0, 4)):
        parts.append(rng.choice([d for d in range(1, left + 1) if left % d == 0]))
        left //= parts[-1]
    to = parts + [left]
    rng.shuffle(to)
    zero = rng.random() < 0.5
    if rng.random() < 0.5:
        to[rng.randrange(len(to))] = -1
    if zero:
        like = [i < len(shape) and n == shape[i] for i, n in enumerate(to)]
        to = [0 if same and rng.random() < 0.7 else n for same, n in zip(like, to)]
    if math.prod(shape) == 1 and rng.random() < 0.5:
        to = []
    b.op(kind, [b.tensor(dtype, shape)], [dtype], {"shape": to, "special_zero": zero})


def transpose(b, kind):
    rng, dtype, shape = b.rng, b.rng.choice(MOVED), shape_of(b.rng, 1, 5)
    order = list(range(len(shape)))
    rng.shuffle(order)
    order = [i - len(shape) if rng.random() < 0.3 else i for i in order]
    order = [] if rng.random() < 0.15 else order
    b.op(kind, [b.tensor(dtype, shape)], [dtype], {"order": order})


def reorder(b, kind):
    dtype = b.rng.choice(MOVED)
    b.op(kind, [b.tensor(dtype, shape_of(b.rng))], [dtype])


def gen_index(b, kind):
    shape = shape_of(b.rng, 1, 5)
    axis = b.rng.randrange(-len(shape), len(shape))
    b.op(kind, [b.tensor(b.rng.choice(FLOATS), shape)], ["s32"], {"axis": axis})


def end(b, kind):
    """Marks a value within a graph as an output, too."""
    dtype = b.rng.choice(FLOATS)
    (y,) = b.op("ReLU", [b.tensor(dtype, shape_of(b.rng, 1))], [dtype])
    b.op(kind, [y], [])
    b.op("Square", [y], [dtype])


MAKERS = {
    "Select": select,
    "BiasAdd": bias_add,
    "PReLU": prelu,
    "Dropout": dropout,
    "Quantize": quantize,
    "Dequantize": quantize,
    "DynamicQuantize": dynamic,
    "DynamicDequantize": dynamic,
    "TypeCast": typecast,
    "MatMul": matmul,
    "Convolution": convolution,
    "ConvTranspose": convolution,
    "SoftMax": softmax,
    "LogSoftmax": softmax,
    "LayerNorm": layer_norm,
    "RMSNorm": layer_norm,
    "GroupNorm": group_norm,
    "BatchNormInference": batch_norm,
    "BatchNormForwardTraining": batch_norm,
    "AvgPool": pool,
    "MaxPool": pool,
    "Interpolate": interpolate,
    "Concat": concat,
    "StaticReshape": reshape,
    "StaticTranspose": transpose,
    "Reorder": reorder,
    "GenIndex": gen_index,
    "End": end,
}
MAKERS |= {k: unary for k in UNARY} | {k: binary for k in BINARY} | {k: reduce for k in REDUCE}


# ---- Chains


def chain(b, _kind):
    """Integers through a product and elementwise ops, then back to integers."""
    rng = b.rng
    m, k, n = (rng.choice([3, 8, 33, 40]) for _ in range(3))
    attrs = {"scales": [0.02], "zps": [rng.choice([0, 3, -7])]}
    (a,) = b.op("Dequantize", [b.tensor(rng.choice(["u8", "s8"]), [m, k])], ["f32"], dict(attrs))
    wide = {"scales": [0.01 + 0.001 * i for i in range(n)], "qtype": "per_channel", "axis": -1}
    (w,) = b.op("Dequantize", [b.tensor("s8", [k, n])], ["f32"], wide | {"zps": [0] * n})
    dtype = rng.choice(["f32", "bf16"])
    if dtype == "bf16":
        a, w = b.op("TypeCast", [a], [dtype])[0], b.op("TypeCast", [w], [dtype])[0]
    (y,) = b.op("MatMul", [a, w] + ([b.tensor(dtype, [n])] if rng.random() < 0.5 else []), [dtype])
    for _ in range(rng.randint(0, 3)):
        kind = rng.choice(["ReLU", "Sigmoid", "GELU", "Add", "Multiply", "Tanh", "SoftMax", "Add"])
        more = [b.tensor(dtype, shrunk(rng, [m, n]))] if kind in ("Add", "Multiply") else []
        (y,) = b.op(kind, [y, *more], [dtype], {"axis": -1} if kind == "SoftMax" else {})
    if dtype == "bf16":
        (y,) = b.op("TypeCast", [y], ["f32"])
    attrs = {"scales": [0.05], "zps": [rng.choice([0, 5])]}
    b.op("Quantize", [y], [rng.choice(["s8", "u8"])], attrs)


def attention(b, _kind):
    rng, dtype = b.rng, b.rng.choice(FLOATS)
    batch, heads = 2, rng.choice([1, 3])
    rows, columns, size = (rng.choice([1, 5, 16, 33]) for _ in range(3))
    q, k, v = ([batch, heads, n, size] for n in (rows, columns, columns))
    (s,) = b.op("MatMul", [b.tensor(dtype, q), b.tensor(dtype, k)], ["f32"], {"transpose_b": True})
    (s,) = b.op(rng.choice(["Divide", "Multiply"]), [s, b.tensor(dtype, [1])], ["f32"])
    if rng.random() < 0.5:
        (s,) = b.op("Add", [s, b.tensor("f32", [batch, 1, rows, columns])], ["f32"])
    else:
        (i,) = b.op("GenIndex", [s], ["s32"], {"axis": -2})
        (j,) = b.op("GenIndex", [s], ["s32"], {"axis": -1})
        (c,) = b.op("GreaterEqual", [i, j], ["boolean"])
        (s,) = b.op("Select", [c, s, b.tensor("f32", [1])], ["f32"])
    (p,) = b.op("SoftMax", [s], [dtype], {"axis": -1, "mode": "inf_as_zero"})
    b.op("MatMul", [p, b.tensor(dtype, v)], [dtype])


CHAINS = {"chain": chain, "attention": attention}
assert set(MAKERS) == set(KINDS)


def generate(folder, count, seed):
    """Writes `count` files of each kind; returns how many were written."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, make in (MAKERS | CHAINS).items():
        for number in range(count):
            builder = Builder(random.Random(f"{seed} {kind} {number}"))
            make(builder, kind)
            path = folder / f"{kind}-{seed}-{number}.json"
            path.write_text(json.dumps(builder.document()), encoding="utf-8")
    return count * len(MAKERS | CHAINS)
