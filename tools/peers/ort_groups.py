# SPDX-License-Identifier: Apache-2.0
"""Compares ort_emulate.py with ONNX Runtime: random models of one fused group each.

    python3 ort_groups.py FOLDER --make [--count N] [--seed N] [--extremes]  writes the models and their inputs
    python3 ort_run.py FOLDER --out FOLDER/avx2                    natively or in an emulator
    python3 ort_groups.py FOLDER --check avx2                      compares; exit status 1 if any differs

Needs numpy and onnx, and onnxruntime to run the models.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import ort_emulate as emulate
import ort_emulate_float as emulate_float
from onnx import TensorProto, helper
from ort_build import F32, S8, S32, U8, Builder, Codes

OPSET = 21


class Group:
    """A model of one group, and the function that computes its output for a processor."""

    def __init__(self, b, compute, skipped=()):
        self.b, self.compute, self.skipped = b, compute, skipped


def codes_input(b, shape, dtype, scale=None, zero=None):
    name = b.name("x")
    b.inputs[name] = b.random_codes(dtype, shape)
    zero = b.zero(dtype) if zero is None else zero
    return Codes(name, tuple(shape), dtype, b.scale(10 ** b.rng.uniform(-2, 0)) if scale is None else scale, zero, 1.0)


def weights(b, shape, axis, n, dtype=None):
    """A constant weight: its codes as an array, Codes, and the real behind DequantizeLinear."""
    dtype = dtype or b.pick(S8, S8, U8)
    columns = b.chance(0.4)
    size = (n,) if columns else ()
    scale = np.asarray(10 ** b.rng.uniform(-3, -1.5) * b.rng.uniform(0.5, 1.5, size), F32)
    zero = b.rng.integers(-20, 21, size) if b.chance(0.4) else np.zeros(size, int)
    zero = zero + (128 if dtype == U8 else 0)
    values = b.random_codes(dtype, shape)
    w = Codes(b.const(values, "w"), shape, dtype, scale, zero, 1.0)
    return values, w, b.dequantize(w, axis if columns else None)


def finish(b, name, shape, dtype, size):
    """Q with a scale for results of about `size`; the codes are the output."""
    scale, zero = b.scale(size / b.rng.uniform(20, 90)), b.zero(dtype)
    q = b.node("QuantizeLinear", [name, *b.params(dtype, scale, zero)])
    b.output(q, shape, dtype)
    return scale, zero


def matmul(b):
    m, k, n = b.pick(1, 2, 5), b.pick(1, 2, 3, 8, 15, 16, 17, 33, 64, 100, 385), b.pick(1, 3, 4, 16, 17, 33)
    gemm = b.chance(0.5)
    dtype, other = b.pick((U8, None), (U8, None), (S8, S8)) if gemm else (U8, None)
    x = codes_input(b, (m, k), dtype)
    w, wc, real = weights(b, (k, n), 1, n, other)
    ins, bias, alpha = [b.dequantize(x).name, real.name], 0, 1.0
    if gemm and b.chance(0.6):
        bias = b.rng.integers(-50000, 50000, n).astype(S32)
        names = [b.const(bias), b.const(np.asarray(x.scale * wc.scale, F32))]
        ins.append(b.node("DequantizeLinear", names, **({"axis": 0} if np.ndim(wc.scale) else {})))
    elif gemm and b.chance(0.5):
        alpha = float(F32(b.rng.uniform(0.5, 2)))
    y = b.node("Gemm", ins, **({"alpha": alpha} if alpha != 1 else {})) if gemm else b.node("MatMul", ins)
    b.group("Gemm" if gemm else "MatMul")
    common = {"bias": np.asarray(bias, np.int64), "alpha": alpha}
    args = x.scale, x.zero, w, wc.scale, wc.zero
    if b.chance(0.3):
        b.output(y, (m, n), F32)
        return Group(b, lambda cpu: emulate.matmul_to_float(b.inputs[x.name], *args, cpu, **common))
    sy, zy = finish(b, y, (m, n), dtype, np.sqrt(k) * float(x.scale) * float(np.mean(wc.scale)) * 7000)
    return Group(b, lambda cpu: emulate.qlinear_matmul(b.inputs[x.name], *args, sy, zy, dtype, cpu, **common))


def conv(b):
    b.group("Conv")
    c, way = b.pick(1, 2, 3, 4, 8, 16, 32), b.pick("full", "full", "depthwise", "groups", "symmetric")
    groups = c if way == "depthwise" else 2 if way == "groups" and c % 2 == 0 else 1
    m = {"depthwise": c * b.pick(1, 1, 2), "symmetric": 16}.get(way, groups * b.pick(1, 2, 4, 8))
    kernel = [b.pick(1, 2, 3), b.pick(1, 2, 3)]
    pads = [b.pick(0, 0, 1) if kernel[i % 2] > 1 else 0 for i in range(4)]
    strides, dilations = [b.pick(1, 2), b.pick(1, 2)], [b.pick(1, 1, 2), 1]
    x = codes_input(b, (b.pick(1, 2), c, b.pick(5, 6), b.pick(5, 7)), U8)
    w, wc, real = weights(b, (m, c // groups, *kernel), 0, m)
    ins, bias = [b.dequantize(x).name, real.name], 0
    if b.chance(0.5):
        bias = b.rng.integers(-50000, 50000, m).astype(S32)
        names = [b.const(bias), b.const(np.asarray(x.scale * wc.scale, F32))]
        ins.append(b.node("DequantizeLinear", names, **({"axis": 0} if np.ndim(wc.scale) else {})))
    y = b.node("Conv", ins, kernel_shape=kernel, pads=pads, strides=strides, dilations=dilations, group=groups)
    _, sizes = emulate.im2col(b.inputs[x.name], 0, kernel, pads, strides, dilations)
    k = kernel[0] * kernel[1] * c // groups
    sy, zy = finish(b, y, (x.shape[0], m, *sizes), U8, np.sqrt(k) * float(x.scale) * float(np.mean(wc.scale)) * 7000)
    args = x.scale, x.zero, w, wc.scale, wc.zero, sy, zy, U8
    more = {"groups": groups, "bias": np.asarray(bias, np.int64), "pads": pads, "strides": strides, "dilations": dilations}
    return Group(b, lambda cpu: emulate.qlinear_conv(b.inputs[x.name], *args, cpu, **more))


SHAPES = [((2, 3, 4, 5), (3, 1, 1)), ((2, 3, 4, 5), (5,)), ((4, 33), (4, 33)), ((4, 33), (1,)), ((4, 33), ()), ((4, 33), (4, 1))]
SHAPES += [((5, 1), (1,)), ((5, 1), (1, 1)), ((3, 1, 7), (1, 6, 1)), ((64,), (64,)), ((4, 33), (33,)), ((2, 1), (1, 9))]


def binary(b):
    op, dtype = b.pick("Add", "Add", "Mul"), b.pick(U8, S8)
    b.group(op)
    shapes = list(SHAPES[int(b.rng.integers(len(SHAPES)))])
    if b.chance(0.5):
        shapes.reverse()
    x, y = (codes_input(b, s, dtype, scale=b.scale(10 ** b.rng.uniform(-2, -1))) for s in shapes)
    z = b.node(op, [b.dequantize(x).name, b.dequantize(y).name])
    size = 90 * float(x.scale + y.scale) if op == "Add" else 8000 * float(x.scale * y.scale)
    sz, zz = finish(b, z, np.broadcast_shapes(*shapes), dtype, size)
    run = emulate.qlinear_add if op == "Add" else emulate.qlinear_mul
    args = x.scale, x.zero
    rest = y.scale, y.zero, sz, zz, dtype
    return Group(b, lambda cpu: run(b.inputs[x.name], *args, b.inputs[y.name], *rest, cpu))


def softmax(b):
    b.group("Softmax")
    dtype = b.pick(U8, S8)
    x = codes_input(b, (b.pick(1, 3), b.pick(1, 2, 3, 10, 64)), dtype, scale=F32(b.rng.uniform(0.005, 0.3)))
    y = b.node("Softmax", [b.dequantize(x).name], axis=-1)
    sy = F32(1 / b.pick(255, 256, 128, 300, 1000, b.rng.uniform(50, 400)))
    zy = b.pick(np.iinfo(dtype).min, 0, b.zero(dtype), b.zero(dtype))
    b.output(b.node("QuantizeLinear", [y, *b.params(dtype, sy, zy)]), x.shape, dtype)
    return Group(b, lambda cpu: emulate.qlinear_softmax(b.inputs[x.name], x.scale, sy, zy, cpu))


def leaky_relu(b):
    b.group("LeakyRelu")
    dtype, alpha = b.pick(U8, S8), float(F32(b.rng.uniform(0.01, 0.5)))
    x = codes_input(b, (3, 50), dtype)
    y = b.node("LeakyRelu", [b.dequantize(x).name], alpha=alpha)
    sy, zy = finish(b, y, x.shape, dtype, float(x.scale) * 90)
    return Group(b, lambda cpu: emulate.qlinear_leaky_relu(b.inputs[x.name], x.scale, x.zero, alpha, sy, zy))


def pool(b):
    dtype = b.pick(U8, S8)
    size = b.pick((1, 1), (2, 3), (5, 5), (6, 4), (16, 16))
    x = codes_input(b, (b.pick(1, 2), b.pick(1, 3, 8), *size), dtype)
    args = x.scale, x.zero
    whole = b.chance(0.5)
    if whole:
        b.group("GlobalAveragePool")
        named = b.chance(0.7)  # else AveragePool with a kernel of the whole image
        a = [b.dequantize(x).name]
        y = b.node("GlobalAveragePool", a) if named else b.node("AveragePool", a, kernel_shape=list(size))
        sy, zy = finish(b, y, (*x.shape[:2], 1, 1), dtype, float(x.scale) * 40)
        return Group(b, lambda cpu: emulate.qlinear_global_pool(b.inputs[x.name], *args, sy, zy))
    b.group("AveragePool")
    kernel = [min(k, s) for k, s in zip((b.pick(1, 2, 3), b.pick(2, 3)), size)]
    pads = [min(b.pick(0, 1), kernel[i % 2] - 1) for i in range(4)]
    if not any(pads) and list(kernel) == list(size):
        return None
    strides, include = [b.pick(1, 2), b.pick(1, 2)], b.chance(0.4)
    a = [b.dequantize(x).name]
    y = b.node("AveragePool", a, kernel_shape=kernel, pads=pads, strides=strides, count_include_pad=int(include))
    _, sizes = emulate.im2col(b.inputs[x.name], 0, kernel, pads, strides, (1, 1))
    sy, zy = finish(b, y, (*x.shape[:2], *sizes), dtype, float(x.scale) * 40)
    rest = sy, zy, kernel, strides, pads, include
    return Group(b, lambda cpu: emulate.qlinear_average_pool(b.inputs[x.name], *args, *rest))


def dynamic(b):
    b.group("dynamic MatMul")
    m, k, n = b.pick(1, 2, 5), b.pick(1, 3, 16, 17, 64, 100), b.pick(2, 3, 4, 16, 17)
    x = b.float_input((m, k), 2.0)
    dtype, columns = b.pick(S8, U8), b.chance(0.4)
    size = (n,) if columns else ()
    w, scale = b.random_codes(dtype, (k, n)), (0.01 * b.rng.uniform(0.5, 1.5, size)).astype(F32)
    zero = (b.rng.integers(-20, 21, size) + (128 if dtype == U8 else 0)).astype(dtype)
    codes, step, zp = b.node("DynamicQuantizeLinear", [x], 3)
    y = b.node("MatMulInteger", [codes, b.const(w, "w"), zp, b.const(zero, "z")])
    y = b.node("Cast", [y], to=TensorProto.FLOAT)
    y = b.node("Mul", [y, b.node("Mul", [step, b.const(scale, "s")])])
    bias = b.rng.normal(0, 2, n).astype(F32) if b.chance(0.5) else None
    if bias is not None:
        y = b.node("Add", [y, b.const(bias, "b")])
    b.output(y, (m, n), F32)
    # With matrix instructions ONNX Runtime quantizes each row of int8 by itself.
    return Group(b, lambda cpu: emulate_float.dynamic_matmul(b.inputs[x], w, scale, zero, cpu, bias), ("i8mm",))


def weight_only(b):
    b.group("weight only")
    bits, signed = b.pick(4, 8), b.chance(0.5)
    m, k, n = b.pick(1, 1, 2, 5), b.pick(5, 16, 32, 33, 64, 100, 160, 257), b.pick(1, 3, 4, 5, 8, 9)
    block = b.pick(16, 32, 64, 128, 0, -1)
    blocks = -(-k // (block if block > 0 else 32))
    low = -(2 ** (bits - 1)) if signed else 0
    kind = getattr(TensorProto, f"{'' if signed else 'U'}INT{bits}")
    shape = {0: (), -1: (n,)}.get(block, (blocks, n))
    w, scale = b.rng.integers(low, low + 2**bits, (k, n)), (0.02 * b.rng.uniform(0.5, 1.5, shape)).astype(F32)
    zero = b.rng.integers(low, low + 2**bits, shape)
    named = b.chance(0.6)
    ins = [helper.make_tensor("w", kind, w.shape, w.ravel()), helper.make_tensor("z", kind, shape, zero.ravel())]
    b.constants += ins if named else ins[:1]
    zero = zero if named else np.zeros(shape, int)
    names = ["w", b.const(np.asarray(scale), "s"), *(["z"] if named else [])]
    attrs = {} if block == 0 else {"axis": 1} if block == -1 else {"axis": 0, "block_size": block}
    real = b.node("DequantizeLinear", names, **attrs)
    x = b.float_input((m, k), 1.0)
    bias = b.rng.normal(0, 1, n).astype(F32) if b.chance(0.3) else None
    y = b.node("MatMul", [x, real]) if bias is None else b.node("Gemm", [x, real, b.const(bias, "b")])
    b.output(y, (m, n), F32)
    size = block if block > 0 else 32
    scale, zero = (np.broadcast_to(v, (blocks, n)) for v in (scale, zero - low))
    rest = bits, size, named or not signed, bias
    run = emulate_float.matmul_nbits
    skipped = ("vnni", "neon", "dot", "i8mm")  # other orders of sums
    return Group(b, lambda cpu: run(b.inputs[x], w - low, scale, zero, *rest), skipped)


def extreme_conv(b):
    """Least codes and weights, and shapes at which Arm takes other kernels."""
    b.group("Conv of extremes")
    c, m, k, groups = b.pick((64, 16, 3, 1), (64, 16, 1, 1), (32, 16, 3, 1), (64, 4, 2, 1), (64, 8, 2, 2), (16, 16, 3, 16),
                             (24, 24, 3, 24), (20, 20, 3, 20), (8, 8, 2, 8), (16, 32, 3, 16), (16, 16, 5, 16))  # fmt: skip
    dtype, zw = b.pick(U8, S8), b.pick(0, 0, 5)
    least = int(np.iinfo(dtype).min)
    x = codes_input(b, (1, c, 5, 6), dtype, zero=least + 10)
    b.inputs[x.name] = b.rng.choice([least, least, least + 255], x.shape).astype(dtype)
    w = b.rng.choice([-128, -128, 127], (m, c // groups, k, k)).astype(S8)
    wc = Codes(b.const(w, "w"), w.shape, S8, F32(0.01), zw, 1.0)
    y = b.node("Conv", [b.dequantize(x).name, b.dequantize(wc).name], group=groups, kernel_shape=[k, k])
    count = np.sqrt(c // groups * k * k)
    sy, zy = finish(b, y, (1, m, 6 - k, 7 - k), dtype, count * float(x.scale) * 0.01 * 16000)
    args = x.scale, x.zero, w, wc.scale, zw, sy, zy, dtype
    skipped = ("avx2", "vnni") if dtype == S8 else ()  # not fused on x86
    return Group(b, lambda cpu: emulate.qlinear_conv(b.inputs[x.name], *args, cpu, groups=groups), skipped)


MAKERS = [matmul, matmul, matmul, conv, conv, conv, binary, binary, binary, softmax, leaky_relu, pool, pool, dynamic]
MAKERS += [weight_only]


def make(seed, index, extremes=False):
    rng = np.random.default_rng([seed, index])
    maker = extreme_conv if extremes else MAKERS[index % len(MAKERS)]
    while True:
        b = Builder(rng, OPSET, "u8")
        b.named_zero = True
        group = maker(b)
        if group:
            return group


def write(folder, seed, count, extremes):
    folder.mkdir(parents=True, exist_ok=True)
    listed = {"seed": seed, "count": count, "extremes": extremes}
    (folder / "groups.json").write_text(json.dumps(listed) + "\n")
    for index in range(count):
        b = make(seed, index, extremes).b
        onnx.save(b.model(), folder / f"{index:05}.onnx")
        np.savez(folder / f"{index:05}.npz", **b.inputs)


def check(folder, cpu, variant):
    listed = json.loads((folder / "groups.json").read_text())
    done, wrong, elements = Counter(), Counter(), Counter()
    for index in range(listed["count"]):
        group = make(listed["seed"], index, listed.get("extremes"))
        path = folder / variant / f"{index:05}.npz"
        if cpu in group.skipped or not path.exists():
            continue
        with np.load(path) as stored:
            wanted = stored[stored.files[0]]
        found, op = np.asarray(group.compute(cpu)).reshape(wanted.shape), group.b.ops[0]
        done[op] += 1
        elements[op] += wanted.size
        if found.dtype != wanted.dtype or found.tobytes() != wanted.tobytes():
            bad = np.argwhere(found != wanted)
            if not wrong[op]:
                at = tuple(bad[0])
                print(f"{index:05} {op}: {len(bad)} of {wanted.size} differ, at {at}: {found[at]}, wanted {wanted[at]}")
            wrong[op] += 1
    for op, count in sorted(done.items()):
        print(f"{op}: {count - wrong[op]} of {count} models equal, {elements[op]} elements")
    return 1 if wrong or not done else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--extremes", action="store_true", help="make convolutions of the least codes and weights only")
    parser.add_argument("--check", metavar="VARIANT")
    parser.add_argument("--cpu", help="the processor to compute for, if it is not VARIANT")
    args = parser.parse_args()
    if args.make:
        write(args.folder, args.seed, args.count, args.extremes)
    if args.check:
        return check(args.folder, args.cpu or args.check, args.check)
    return 0


if __name__ == "__main__":
    sys.exit(main())
