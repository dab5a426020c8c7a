# SPDX-License-Identifier: Apache-2.0
"""Compares the evaluator with torch in float64, on generated graphs of one op each.

Needs torch. Forms without a counterpart in torch are computed here in another way, or listed as not
checked. Roundings are compared with ml_dtypes if that is installed."""

import itertools
import json
import math
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onednn_eval
import onednn_generate
import onednn_inputs
from onednn_reader import KINDS, Graph
from onednn_values import decode, encode, round_to

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None
FILES = 60  # of each kind
CLOSE = 1e-10


class NoCounterpart(Exception):
    """A form that torch does not have."""


def first(x, a):
    """Moves the channels after the batch."""
    return x if a.get("data_format", "NXC") == "NCX" else x.movedim(-1, 1)


def back(y, a):
    return y if a.get("data_format", "NXC") == "NCX" else y.movedim(1, -1)


def same_pads(a, sizes, kernel):
    """(begin, end) for each dim, by counting how far the last window reaches past the border."""
    n = len(sizes)
    strides, dilations = a["strides"][:n], a.get("dilations", [1] * n)[:n]
    if a.get("auto_pad", "None") == "VALID":
        return [(0, 0)] * n
    if a.get("auto_pad", "None") == "None":
        begin, end = a["pads_begin"] or [0] * n, a["pads_end"] or [0] * n
        return list(zip(begin, end))
    pads = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations):
        out = math.ceil(size / s)
        missing = max(0, (out - 1) * s + (k - 1) * d + 1 - size)
        small, large = missing // 2, missing - missing // 2
        pads.append((small, large) if a["auto_pad"] == "SAME_UPPER" else (large, small))
    return pads


def padded(x, pads, value=0.0):
    return F.pad(x, [p for pair in reversed(pads) for p in pair], value=value)


def convolution(a, xs):
    x, w = first(xs[0], a), xs[1]
    n = x.ndim - 2
    if a.get("weights_format", "XIO") == "XIO":
        w = w.movedim(-1, 0).movedim(-1, 1)
    x = padded(x, same_pads(a, x.shape[2:], w.shape[2:]))
    call = [F.conv1d, F.conv2d, F.conv3d][n - 1]
    bias = xs[2] if len(xs) > 2 else None
    how = {"stride": a["strides"], "dilation": a["dilations"], "groups": a.get("groups", 1)}
    return [back(call(x, w, bias, **how), a)]


def conv_transpose(a, xs):
    x, w = first(xs[0], a), xs[1]
    n = x.ndim - 2
    if a.get("weights_format", "XOI") == "XOI":
        w = w.movedim(-1, 0).movedim(-1, 1)
    call = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][n - 1]
    extra = (a.get("output_padding") or [0] * n)[:n]
    how = {"stride": a["strides"], "dilation": a["dilations"], "groups": a.get("groups", 1)}
    y = call(x, w, xs[2] if len(xs) > 2 else None, output_padding=extra, **how)
    begin, end = a["pads_begin"] or [0] * n, a["pads_end"] or [0] * n
    auto = a.get("auto_pad", "None")
    if auto != "None":
        total = [
            max(0, (k - 1) * d + 1 - s) if auto != "VALID" else 0
            for k, d, s in zip(w.shape[2:], a["dilations"], a["strides"])
        ]
        begin = [t // 2 if auto == "SAME_UPPER" else (t + 1) // 2 for t in total]
        end = [t - b for t, b in zip(total, begin)]
    return [back(padded(y, [(-b, -e) for b, e in zip(begin, end)]), a)]


def pooled(a, x, fill):
    """x padded so that all windows lie inside, and the number of windows."""
    kernel, n = a["kernel"], x.ndim - 2
    dilations = a.get("dilations", [1] * n)[:n]
    pads, sizes = same_pads(a, x.shape[2:], kernel), []
    ceil = a.get("rounding_type", "floor") == "ceil"
    for i in range(n):
        reach = (kernel[i] - 1) * dilations[i] + 1
        room = x.shape[2 + i] + sum(pads[i]) - reach
        sizes.append((math.ceil if ceil else math.floor)(room / a["strides"][i]) + 1)
        missing = (sizes[i] - 1) * a["strides"][i] + reach - x.shape[2 + i] - pads[i][0]
        pads[i] = pads[i][0], max(0, missing)
    return padded(x, pads, fill), sizes


def unfolded(a, x):
    """[..., windows..., elements of a window] by unfold, one dim at a time."""
    n = x.ndim - 2
    dilations = a.get("dilations", [1] * n)[:n]
    for i, (k, d, s) in enumerate(zip(a["kernel"], dilations, a["strides"])):
        x = x.unfold(2 + i, (k - 1) * d + 1, s)[..., ::d]
    return x.flatten(2 + n)


def avg_pool(a, xs):
    x = first(xs[0], a)
    total = unfolded(a, pooled(a, x, 0.0)[0]).sum(-1)
    count = unfolded(a, pooled(a, torch.ones_like(x), 0.0)[0]).sum(-1)
    return [back(total / (count if a["exclude_pad"] else math.prod(a["kernel"])), a)]


def max_pool(a, xs):
    x = first(xs[0], a)
    n = x.ndim - 2
    call = [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1]
    x, _ = pooled(a, x, -math.inf)
    return [back(call(x, a["kernel"], a["strides"], 0, a.get("dilations", [1] * n)[:n]), a)]


def interpolate(a, xs):
    x = first(xs[0], a)
    sizes = a.get("sizes") or [int(s * c) for s, c in zip(x.shape[2:], a["scales"])]
    corners = a.get("coordinate_transformation_mode") == "align_corners"
    if a["mode"] == "nearest":
        if corners:
            raise NoCounterpart("nearest with align_corners")
        return [back(F.interpolate(x, sizes, mode="nearest-exact"), a)]
    mode = ["linear", "bilinear", "trilinear"][x.ndim - 3]
    return [back(F.interpolate(x, sizes, mode=mode, align_corners=corners), a)]


def softmax(a, xs):
    x, axis = xs[0], a.get("axis", 1)
    y, stats = F.softmax(x, axis), torch.logsumexp(x, axis, keepdim=True)
    if a.get("mode") == "inf_as_zero":
        y = torch.nan_to_num(y, nan=0.0)
        stats = torch.where(torch.isneginf(stats), 0.0, stats)
    return [y, stats]


def layer_norm(a, xs):
    x = xs[0]
    shape = x.shape[a.get("begin_norm_axis", -1) % x.ndim :]
    affine = [v.reshape(shape) for v in xs[1:]] or [None, None]
    dims = tuple(range(x.ndim - len(shape), x.ndim))
    variance, mean = torch.var_mean(x, dims, correction=0)
    return [F.layer_norm(x, shape, *affine, eps=eps_of(a)), mean, variance]


def eps_of(a):
    return float(np.float32(a.get("epsilon", 1e-5)))


def rms_norm(a, xs):
    x = xs[0]
    shape = x.shape[a.get("begin_norm_axis", -1) % x.ndim :]
    return [F.rms_norm(x, shape, xs[1].reshape(shape) if len(xs) > 1 else None, eps_of(a))]


def group_norm(a, xs):
    x = first(xs[0], a)
    y = F.group_norm(x, a["groups"], *(xs[1:] or [None, None]), eps=eps_of(a))
    variance, mean = torch.var_mean(x.reshape(x.shape[0], a["groups"], -1), 2, correction=0)
    return [back(y, a), mean, variance]


def batch_norm(a, xs):
    x, gamma, beta, mean, variance = xs
    return [back(F.batch_norm(first(x, a), mean, variance, gamma, beta, False, 0, eps_of(a)), a)]


def batch_norm_training(a, xs):
    x, mean, variance = first(xs[0], a), xs[1], xs[2]
    gamma, beta = (xs[3], xs[4]) if len(xs) > 3 else (None, None)
    if x.shape[0] * math.prod(x.shape[2:]) < 2:
        raise NoCounterpart("statistics of one element")
    y = F.batch_norm(x, None, None, gamma, beta, True, 0, eps_of(a))
    batch = torch.var_mean(x.movedim(1, 0).flatten(1), 1, correction=0)
    m = float(np.float32(a.get("momentum", 0.5)))
    running = [m * mean + (1 - m) * batch[1], m * variance + (1 - m) * batch[0]]
    return [back(y, a), *running, batch[1], batch[0]]


def matmul(a, xs):
    x, w = xs[0], xs[1]
    x = x.mT if a.get("transpose_a") and x.ndim > 1 else x
    w = w.mT if a.get("transpose_b") and w.ndim > 1 else w
    y = torch.matmul(x, w)
    return [y + xs[2] if len(xs) > 2 else y]


def bias_add(a, xs):
    return [back((first(xs[0], a).movedim(1, -1) + xs[1]).movedim(-1, 1), a)]


def prelu(a, xs):
    x, slope = xs
    if slope.ndim == 1 and a.get("per_channel_broadcast", True):
        return [back(F.prelu(first(x, a), slope), a)]
    return [torch.where(x > 0, x, x * slope)]


def reduce(kind):
    def call(a, xs):
        x, axes, keep = xs[0], a["axes"], a.get("keep_dims", False)
        if kind == "ReduceProd":
            for axis in sorted((i % x.ndim for i in axes), reverse=True):
                x = torch.prod(x, axis, keepdim=keep)
            return [x]
        calls = {
            "ReduceL1": lambda: torch.linalg.vector_norm(x, 1, axes, keep),
            "ReduceL2": lambda: torch.linalg.vector_norm(x, 2, axes, keep),
            "ReduceMax": lambda: torch.amax(x, axes, keep),
            "ReduceMin": lambda: torch.amin(x, axes, keep),
            "ReduceMean": lambda: torch.mean(x, axes, keep),
            "ReduceSum": lambda: torch.sum(x, axes, keep),
        }
        return [calls[kind]()]

    return call


def concat(a, xs):
    return [torch.cat(xs, a["axis"])]


def reshape(a, xs):
    shape = [xs[0].shape[i] if n == 0 else n for i, n in enumerate(a["shape"])]
    return [xs[0].reshape(shape)]


def transpose(a, xs):
    order = a["order"] or list(range(xs[0].ndim))[::-1]
    return [xs[0].permute(order)]


def gen_index(a, xs):
    return [torch.from_numpy(np.indices(xs[0].shape)[a["axis"]].copy())]


def quantize(a, xs):
    """By torch's own dtypes: float32 arithmetic, element by element."""
    x, scales, zps = quantizing(a, xs)
    y = x.float() * (1 / scales.float()) + zps.float()
    return [y.double()]


def dequantize(a, xs):
    x, scales, zps = quantizing(a, xs)
    return [((x.float() - zps.float()) * scales.float()).double()]


def quantizing(a, xs):
    """Scales and zero points, spread over the elements by index arithmetic."""
    x = xs[0]
    static = "scales" in a
    scales = torch.tensor(a["scales"], dtype=torch.float32) if static else xs[1]
    zps = torch.tensor(a.get("zps") or [0])
    if len(xs) > 2:
        zps = xs[2]
    spread = []
    for values in (scales, zps):
        if a.get("qtype", "per_tensor") == "per_tensor" or values.numel() == 1:
            spread.append(values.reshape(-1)[0].expand(x.shape))
            continue
        index = np.indices(x.shape)
        if a["qtype"] == "per_channel":
            spread.append(values[torch.from_numpy(index[a.get("axis", 1)])])
        else:
            groups = [torch.from_numpy(i // g) for i, g in zip(index, a["group_shape"])]
            spread.append(values[tuple(groups)])
    return x, *spread


def dropout(_a, xs):
    """Philox in Python integers, one element at a time."""
    x, seed, offset, p = xs[0], int(xs[1]), int(xs[2]), float(xs[3])
    kept = []
    for i in range(x.numel()):
        group = i & ~3
        if offset:
            c = [offset & 0xFFFFFFFF, offset >> 32, group & 0xFFFFFFFF, group >> 32]
            key, lane = [seed & 0xFFFFFFFF, seed >> 32], i & 3
        else:
            c, key, lane = [group, group + 1, group, group + 3], [seed & 0xFFFFFFFF] * 2, 2
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [p1 >> 32 ^ c[1] ^ key[0], p1, p0 >> 32 ^ c[3] ^ key[1], p0]
            c = [word & 0xFFFFFFFF for word in c]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        kept.append(c[lane] > p * (2**32 - 1))
    mask = torch.tensor(kept).reshape(x.shape)
    return [torch.where(mask, x / (1 - p), 0.0), mask.long()]


def known_philox():
    """The test vectors of Philox's authors: all zeros, all ones, digits of pi."""
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
    cases = [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([2**32 - 1] * 4, [2**32 - 1] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (*pi, [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ]
    for counter, key, wanted in cases:
        if [int(w) for w in onednn_eval.philox(counter, key)] != wanted:
            raise AssertionError(f"philox of {counter}")


def f32(value):
    return float(np.float32(value))


UNARY = {
    "Abs": lambda x, a: torch.abs(x),
    "Exp": lambda x, a: torch.exp(x),
    "Log": lambda x, a: torch.log(x),
    "Sqrt": lambda x, a: torch.sqrt(x),
    "Square": lambda x, a: torch.square(x),
    "Tanh": lambda x, a: torch.tanh(x),
    "Sigmoid": lambda x, a: torch.sigmoid(x),
    "ReLU": lambda x, a: torch.relu(x),
    "Reciprocal": lambda x, a: torch.reciprocal(x),
    "Round": lambda x, a: torch.round(x),
    "HardSwish": lambda x, a: F.hardswish(x),
    "Mish": lambda x, a: F.mish(x),
    "LeakyReLU": lambda x, a: F.leaky_relu(x, f32(a["alpha"])),
    "Elu": lambda x, a: torch.where(x > 0, x, f32(a["alpha"]) * (torch.exp(x) - 1)),
    "HardSigmoid": lambda x, a: torch.clamp(f32(a["alpha"]) * x + f32(a["beta"]), 0, 1),
    "Clamp": lambda x, a: torch.clamp(x, f32(a["min"]), f32(a["max"])),
    "GELU": lambda x, a: F.gelu(
        x, approximate="tanh" if a.get("mode") == "gelu_tanh" else "none"
    ),
}
BINARY = {
    "Add": lambda x, y: x + y,
    "Subtract": lambda x, y: x - y,
    "Multiply": lambda x, y: x * y,
    "Divide": lambda x, y: x / y,
    "Minimum": lambda x, y: torch.minimum(x, y),
    "Maximum": lambda x, y: torch.maximum(x, y),
    "GreaterEqual": lambda x, y: torch.ge(x, y),
}
CALLS = {
    "Select": lambda a, xs: [torch.where(*xs)],
    "BiasAdd": bias_add,
    "PReLU": prelu,
    "Dropout": dropout,
    "Quantize": quantize,
    "DynamicQuantize": quantize,
    "Dequantize": dequantize,
    "DynamicDequantize": dequantize,
    "TypeCast": lambda a, xs: [xs[0]],
    "MatMul": matmul,
    "Convolution": convolution,
    "ConvTranspose": conv_transpose,
    "SoftMax": softmax,
    "LogSoftmax": lambda a, xs: [F.log_softmax(xs[0], a.get("axis", -1))],
    "LayerNorm": layer_norm,
    "RMSNorm": rms_norm,
    "GroupNorm": group_norm,
    "BatchNormInference": batch_norm,
    "BatchNormForwardTraining": batch_norm_training,
    "AvgPool": avg_pool,
    "MaxPool": max_pool,
    "Interpolate": interpolate,
    "Concat": concat,
    "StaticReshape": reshape,
    "StaticTranspose": transpose,
    "Reorder": lambda a, xs: [xs[0]],
    "GenIndex": gen_index,
    "End": lambda a, xs: [],
}
CALLS |= {k: lambda a, xs, f=f: [f(xs[0], a)] for k, f in UNARY.items()}
CALLS |= {k: lambda a, xs, f=f: [f(*xs)] for k, f in BINARY.items()}
CALLS |= {k: reduce(k) for k in KINDS if k.startswith("Reduce")}


def off(kind, number, folder):
    """The largest difference in a generated graph, relative to the largest value."""
    builder = onednn_generate.Builder(random.Random(f"check {kind} {number}"))
    onednn_generate.MAKERS[kind](builder, kind)
    path = folder / "graph.json"
    path.write_text(json.dumps(builder.document()), encoding="utf-8")
    graph = Graph(path)
    inputs = onednn_inputs.fill(graph, number)
    values = {i: torch.from_numpy(np.array(v)) for i, v in inputs.items()}
    worst = 0.0
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            xs = [values[t.id] for t in node.inputs]
            shapes = [graph.shapes[t.id] for t in node.outputs]
            mine = onednn_eval.evaluate(node, [x.numpy() for x in xs], shapes)
            theirs = CALLS[node.kind](node.attrs, xs)
            for tensor, (y, _), z in zip(node.outputs, mine, theirs):
                worst = max(worst, far(y, z.numpy()))
                values[tensor.id] = torch.from_numpy(np.array(round_to(y, tensor.dtype)))
    return worst


def far(y, z):
    if y.shape != z.shape:
        return math.inf
    y, z = y.astype(np.float64), z.astype(np.float64)
    if not np.array_equal(np.isnan(y), np.isnan(z)):
        return math.inf
    infinite = np.isinf(y) | np.isinf(z)
    if not np.array_equal(y[infinite], z[infinite]):
        return math.inf
    rest = np.isfinite(y) & np.isfinite(z)
    size = max(np.abs(z[rest]).max(initial=0), 1e-30)
    return float(np.abs(y[rest] - z[rest]).max(initial=0) / size)


def check_kinds():
    counts, bad = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for kind, number in itertools.product(KINDS, range(FILES)):
            try:
                worst = off(kind, number, Path(folder))
            except NoCounterpart:
                counts["without a counterpart"] += 1
                continue
            counts["alike" if worst <= CLOSE else "different"] += 1
            if worst > CLOSE:
                bad.append(f"{kind} {number}: {worst:.3g}")
    print("\n".join(bad[:40]))
    print(", ".join(f"{n} {word}" for word, n in counts.items()), f"of {len(KINDS)} kinds")
    return not bad


def check_roundings():
    try:
        import ml_dtypes as m
    except ImportError:
        print("roundings not checked: no ml_dtypes")
        return True
    rng = np.random.default_rng(1)
    x = rng.normal(size=400000) * np.exp2(rng.integers(-30, 18, 400000))
    odd = [0.0, -0.0, 464, 464.12, 464.125, 464.126, 61423, 61424, np.inf, -np.inf, np.nan]
    x = np.concatenate([x, odd]).astype(np.float32)
    kinds = {"bf16": m.bfloat16, "f16": np.float16, "f8_e4m3": m.float8_e4m3fn}
    for dtype, kind in (kinds | {"f8_e5m2": m.float8_e5m2}).items():
        with np.errstate(all="ignore"):
            theirs = (x.astype(np.float16) if dtype.startswith("f8") else x).astype(kind)
        mine = round_to(x, dtype)
        again = decode(encode(mine, dtype), dtype)
        for y in (mine, again):
            if not np.array_equal(y, theirs.astype(np.float64), equal_nan=True):
                print(f"{dtype} is rounded otherwise than by ml_dtypes")
                return False
    print(f"{len(kinds) + 1} roundings like those of ml_dtypes")
    return True


def main():
    known_philox()
    fine = check_roundings()
    if torch is None:
        print("kinds not checked: no torch")
        return 1
    return 0 if check_kinds() and fine else 1


if __name__ == "__main__":
    sys.exit(main())
