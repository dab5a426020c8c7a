# SPDX-License-Identifier: Apache-2.0
"""Compares random MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv with ONNX Runtime.

    python3 onnx_integer_ops.py [QDQ_BINARY] [--count N] [--seed N]

Needs numpy, onnx and onnxruntime. Each case is also computed in integers with numpy, which must
agree with ONNX Runtime; forms that it lacks are compared with numpy only. Integer results must be
the same. A QLinear result may be off by one if the exact result lies within 1e-4 of the middle of
two; such cases are counted. Without QDQ_BINARY only numpy and ONNX Runtime are compared.
"""

import argparse
import math
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnx_vectors
import ort_session
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

KINDS = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "int32": TensorProto.INT32}
KINDS |= {"float32": TensorProto.FLOAT}
TIE = 1e-4
REFUSALS = (state.Fail, state.InvalidArgument, state.InvalidGraph, state.NotImplemented)
REFUSALS += (state.RuntimeException,)


class Case:
    """An op, its attributes, and its inputs by port."""

    def __init__(self, op, attributes, inputs, out):
        self.op, self.attributes, self.out = op, attributes, out
        self.inputs = {name: np.asarray(values) for name, values in inputs.items()}


def integers(rng, kind, shape):
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    return np.array([rng.randint(low, high) for _ in range(math.prod(shape))], kind).reshape(shape)


def zero_point(rng, kind, shape):
    return integers(rng, kind, shape)


def scale(rng, shape):
    values = [rng.uniform(0.001, 0.1) for _ in range(math.prod(shape))]
    return np.array(values, np.float32).reshape(shape)


def matmul_case(rng, op):
    m, k, n = (rng.choice([1, 2, 3, 7, 16, 33, 64, 65]) for _ in range(3))
    batch = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 2]))]
    kinds = rng.choice(["int8", "uint8"]), rng.choice(["int8", "uint8"])
    a, b = integers(rng, kinds[0], [*batch, m, k]), integers(rng, kinds[1], [*batch, k, n])
    if batch and rng.random() < 0.5:
        b = b[(0,) * len(batch)]
    one = rng.choice([[], [1]])
    rows = [m] if not batch and rng.random() < 0.15 else one  # not in ONNX Runtime
    if op == "MatMulInteger":
        inputs = {"a": a, "b": b}
        if rng.random() < 0.7:
            inputs["a_zero_point"] = zero_point(rng, kinds[0], rows)
            if rng.random() < 0.7:
                shape = rng.choice([one, [n]])
                inputs["b_zero_point"] = zero_point(rng, kinds[1], shape)
        return Case(op, {}, inputs, "int32")
    columns = rng.choice([one, [n]]) if b.ndim == 2 else one
    out = kinds[0] if rng.random() < 0.8 else rng.choice(["int8", "uint8"])
    inputs = {"a": a, "a_scale": scale(rng, rows), "a_zero_point": zero_point(rng, kinds[0], rows)}
    inputs |= {"b": b, "b_scale": scale(rng, columns)}
    inputs |= {"b_zero_point": zero_point(rng, kinds[1], columns)}
    step = np.float32(rng.uniform(0.2, 2) * math.sqrt(k) * 0.05 * 5)
    inputs |= {"y_scale": step.reshape(one), "y_zero_point": zero_point(rng, out, one)}
    return Case(op, {}, inputs, out)


def conv_case(rng, op):
    n = rng.choice([1, 2, 2, 2, 3])
    kernel = [rng.randint(1, 3) for _ in range(n)]
    dilations = [rng.choice([1, 1, 2]) for _ in range(n)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    spatial = [r + rng.randint(0, 5) for r in reach]
    groups, inner, outer = rng.choice([1, 1, 2, 3]), rng.choice([1, 2, 5]), rng.choice([1, 2, 4])
    attributes = {"group": groups, "dilations": dilations, "kernel_shape": kernel}
    attributes["strides"] = [rng.choice([1, 1, 2, 3]) for _ in range(n)]
    auto = rng.choice(["NOTSET"] * 3 + ["SAME_UPPER", "SAME_LOWER", "VALID"])
    if auto == "NOTSET":
        attributes["pads"] = [rng.randint(0, r - 1) for r in reach * 2]
    else:
        attributes["auto_pad"] = auto
    kinds = rng.choice(["int8", "uint8", "uint8"]), rng.choice(["int8", "uint8"])
    x = integers(rng, kinds[0], [rng.randint(1, 2), inner * groups, *spatial])
    w = integers(rng, kinds[1], [outer * groups, inner, *kernel])
    one, each = rng.choice([[], [1]]), [outer * groups]
    if op == "ConvInteger":
        inputs = {"x": x, "w": w}
        if rng.random() < 0.7:
            inputs["x_zero_point"] = zero_point(rng, kinds[0], one)
            if rng.random() < 0.7:
                inputs["w_zero_point"] = zero_point(rng, kinds[1], rng.choice([one, each]))
        return Case(op, attributes, inputs, "int32")
    channels = rng.choice([one, each])
    inputs = {"x": x, "x_scale": scale(rng, one), "x_zero_point": zero_point(rng, kinds[0], one)}
    weights = zero_point(rng, kinds[1], channels)
    if channels == each and rng.random() < 0.7:  # ONNX Runtime requires equal zero points
        weights = np.full_like(weights, weights[0])
    inputs |= {"w": w, "w_scale": scale(rng, channels), "w_zero_point": weights}
    depth = inner * math.prod(kernel)
    step = np.float32(rng.uniform(0.2, 2) * math.sqrt(depth) * 0.25)
    inputs |= {"y_scale": step.reshape(one), "y_zero_point": zero_point(rng, kinds[0], one)}
    if rng.random() < 0.5:
        bias = [rng.randint(-20000, 20000) for _ in range(outer * groups)]
        inputs["bias"] = np.array(bias, np.int32)
    return Case(op, attributes, inputs, kinds[0])


# ---- Whole numbers


def shifted(case, values, zero_point_name, axis=None):
    x = case.inputs[values].astype(np.int64)
    zp = case.inputs.get(zero_point_name, np.zeros([], np.int64)).astype(np.int64)
    return x - spread(zp, x.ndim, axis)


def spread(values, rank, axis):
    if values.size == 1:
        return values.reshape(-1)[0]
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def pads_of(a, sizes, kernel):
    n = len(sizes)
    if a.get("auto_pad", "NOTSET") == "VALID":
        return [(0, 0)] * n
    if "auto_pad" not in a:
        return list(zip(a["pads"][:n], a["pads"][n:]))
    pads = []
    for size, k, s, d in zip(sizes, kernel, a["strides"], a["dilations"]):
        total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
        half = total // 2 if a["auto_pad"] == "SAME_UPPER" else total - total // 2
        pads.append((half, total - half))
    return pads


def convolve(a, x, w):
    """x and w already have their zero points subtracted, so padding is zero."""
    kernel, groups = w.shape[2:], a["group"]
    x = np.pad(x, [(0, 0), (0, 0), *pads_of(a, x.shape[2:], kernel)])
    for i, (k, d) in enumerate(zip(kernel, a["dilations"])):
        view = np.lib.stride_tricks.sliding_window_view(x, (k - 1) * d + 1, 2 + i)
        step = [slice(None)] * view.ndim
        step[2 + i], step[-1] = slice(None, None, a["strides"][i]), slice(None, None, d)
        x = view[tuple(step)]
    n = len(kernel)
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    out = "uvw"[:n]
    inner = "xyz"[:n]
    y = np.einsum(f"ngi{out}{inner},goi{inner}->ngo{out}", x, w)
    return y.reshape(y.shape[0], -1, *y.shape[3:])


def exact(case):
    """The result, and for QLinear ops the number before rounding."""
    if case.op.endswith("MatMul") or case.op == "MatMulInteger":
        a, b = case.inputs["a"].ndim, case.inputs["b"].ndim
        y = shifted(case, "a", "a_zero_point", a - 2) @ shifted(case, "b", "b_zero_point", b - 1)
        scales, axes = ("a_scale", "b_scale"), (y.ndim - 2, y.ndim - 1)
    else:
        x, w = shifted(case, "x", "x_zero_point"), shifted(case, "w", "w_zero_point", 0)
        y, scales, axes = convolve(case.attributes, x, w), ("x_scale", "w_scale"), (None, 1)
    if case.out == "int32":
        return y.astype(np.int32), None
    if "bias" in case.inputs:
        y = y + spread(case.inputs["bias"].astype(np.int64), y.ndim, 1)
    factors = [case.inputs[name].astype(np.float64) for name in scales]
    one, two = (spread(f, y.ndim, axis) for f, axis in zip(factors, axes))
    real = y * one * two / float(case.inputs["y_scale"].reshape(-1)[0])
    zp = int(case.inputs["y_zero_point"].reshape(-1)[0])
    info = np.iinfo(case.out)
    return np.clip(np.rint(real) + zp, info.min, info.max).astype(case.out), real


def difference(found, wanted, real):
    """(why, ties): a tie is off by one where the exact result is almost in the middle of two."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype} {found.shape}, wanted {wanted.dtype} {wanted.shape}", 0
    off = np.abs(found.astype(np.int64) - wanted.astype(np.int64))
    if real is None:
        ties = np.zeros(off.shape, bool)
    else:
        ties = (off == 1) & (np.abs(np.abs(real - np.floor(real)) - 0.5) < TIE)
    bad = (off != 0) & ~ties
    if not bad.any():
        return None, int(ties.sum())
    at = np.unravel_index(np.argmax(np.where(bad, off, 0)), off.shape)
    where = [int(i) for i in at]
    return f"{int(bad.sum())} of {off.size}, {where}: {found[at]}, wanted {wanted[at]}", 0


# ---- ONNX Runtime and qdq


def model(case):
    names = onnx_vectors.PRODUCTS[case.op]
    used = [name if name in case.inputs else "" for name in names]
    while not used[-1]:
        used.pop()
    inputs = [
        helper.make_tensor_value_info(name, KINDS[str(v.dtype)], v.shape)
        for name, v in case.inputs.items()
    ]
    node = helper.make_node(case.op, used, ["y"], **case.attributes)
    output = helper.make_tensor_value_info("y", KINDS[case.out], exact(case)[0].shape)
    graph = helper.make_graph([node], "case", inputs, [output])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    made.ir_version = 8
    onnx.checker.check_model(made)
    return made.SerializeToString()


def by_onnxruntime(case):
    """The result of ONNX Runtime, or None if it has no such form."""
    try:
        return ort_session.run(model(case), case.inputs, level="all")["y"]
    except REFUSALS:
        return None


def described(name, values):
    return {
        "name": name,
        "dtype": str(values.dtype),
        "shape": list(values.shape),
        "data": values.reshape(-1).tolist(),
    }


def by_qdq(binary, case, wanted, folder):
    names = onnx_vectors.PRODUCTS[case.op]
    rows = [described(n, case.inputs[n]) if n in case.inputs else None for n in names]
    vector = {"name": case.op, "op": case.op, "attributes": case.attributes, "inputs": rows}
    vector["outputs"] = [described("y", wanted)]
    why = onnx_vectors.run(binary, vector, folder)
    if why is None:
        return wanted, None
    path = folder / "outputs.safetensors"
    if "exit" in why or not path.exists():
        return None, why
    word, shape, blob = onnx_vectors.read_tensors(path)["y"]
    if word != onnx_vectors.DTYPES[case.out][1]:
        return None, why
    return np.frombuffer(blob, case.out).reshape(shape), None


def check(binary, case, counts, folder):
    wanted, real = exact(case)
    theirs = by_onnxruntime(case)
    sentences = []
    if theirs is None:
        counts["not in ONNX Runtime"] += 1
    else:
        why, ties = difference(theirs, wanted, real)
        counts["ties of ONNX Runtime"] += ties
        if why:
            sentences.append(f"numpy and ONNX Runtime: {why}")
    if binary:
        for path in folder.iterdir():
            path.unlink()
        found, why = by_qdq(binary, case, wanted if theirs is None else theirs, folder)
        if why is None:
            why, ties = difference(found, wanted, real)
            counts["ties of qdq"] += ties
        if why:
            sentences.append(f"qdq: {why}")
    return sentences


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--count", type=int, default=50, help="cases of each op")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts, failed = Counter(), 0
    for op in onnx_vectors.PRODUCTS:
        for number in range(options.count):
            rng = random.Random(f"{options.seed} {op} {number}")
            case = (matmul_case if "MatMul" in op else conv_case)(rng, op)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    sentences = check(options.binary, case, counts, Path(folder))
                except onnx_vectors.NotRun as reason:
                    counts[str(reason)] += 1
                    continue
            counts[op] += 1
            failed += bool(sentences)
            for sentence in sentences:
                shapes = {n: (str(v.dtype), v.shape) for n, v in case.inputs.items()}
                print(f"{op} {number} {case.attributes} {shapes}: {sentence}")
    print(", ".join(f"{n} {word}" for word, n in counts.items()), f"; {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
