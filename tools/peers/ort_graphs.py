# SPDX-License-Identifier: Apache-2.0
"""Writes random quantized ONNX models, and inputs for them, to compare qdq with ONNX Runtime's fused kernels.

    python3 ort_graphs.py FOLDER [--count N] [--seed N] [--only KIND] [--omit] [--float-moves]

Model I of a seed is the same whatever the count. With --omit most zero points are 0, and half of these are left out. With --float-moves some nodes that only move elements
have no QuantizeLinear behind them, and several nodes may read what a DequantizeLinear makes. Writes FOLDER/NAME.onnx, FOLDER/NAME.npz (inputs by name) and
FOLDER/models.json, which lists for each model its kind, opset and groups. Needs numpy and onnx.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import ort_dynamic as dynamic
import ort_elements as elements
import ort_floats
import ort_products as products
from ort_build import F32, S8, U8, Builder, Codes, Real

OPSETS = [10, 11, 12, 13, 13, 15, 17, 18, 19, 20, 21, 22]
MATRIX = [products.matmul] * 4 + [products.gemm] * 3
IMAGE = [products.conv] * 7 + [products.conv_transpose, elements.average_pool, elements.average_pool]
IMAGE += [elements.global_pool]
LIMIT = 6000  # elements of a value


def first_shape(b, image):
    if image:
        size = [b.pick(1, 2, 3, 5, 6, 8) for _ in range(b.pick(2, 2, 2, 1))]
        return (b.pick(1, 1, 2), b.pick(1, 2, 3, 4, 6, 8, 16), *size)
    lead = tuple(b.pick(1, 2, 3, 5) for _ in range(b.pick(0, 1, 1, 1, 2)))
    return (*lead, products.some_size(b))


def activation(b, real):
    """Sometimes a Relu or Clip, which fusion may remove; returns the real, and parameters that make it redundant."""
    if not b.chance(0.3):
        return real, {}
    redundant = b.chance(0.6)
    if b.chance(0.6):
        b.group("Relu")
        name = b.node("Relu", [real.name])
        dtype = b.activation_type()
        forced = {"dtype": dtype, "zero": int(np.iinfo(dtype).min)} if redundant else {}
        return Real(name, real.shape, real.rms), forced
    b.group("Clip")
    low, high = (0.0, 6.0) if b.chance(0.6) else (float(np.float32(-real.rms)), float(np.float32(real.rms)))
    if b.opset < 11:
        name = b.node("Clip", [real.name], min=low, max=high)
    else:
        name = b.node("Clip", [real.name, b.const(F32(low)), b.const(F32(high))])
    dtype = b.activation_type()
    forced = {}
    if redundant:
        info = np.iinfo(dtype)
        scale = F32((high - low) / 255)
        forced = {"dtype": dtype, "scale": scale, "zero": int(np.clip(np.rint(info.min - low / scale), info.min, info.max))}
    return Real(name, real.shape, real.rms), forced


def same_type(b, x):
    """Most groups fuse only if the types of input and output are equal."""
    return {"dtype": x.dtype} if b.chance(0.9) else {}


def finish_real(b, x, real, pool):
    """A group's float result: quantized, or an output."""
    if b.chance(0.1):
        b.output(real.name, real.shape, F32)
        return None
    real, forced = activation(b, real)
    params = {**same_type(b, x), **forced}
    if b.flavour in ("u8", "s8"):
        dtype = {"u8": U8, "s8": S8}[b.flavour]
        if params.get("dtype", dtype) != dtype:
            params = {}
        params["dtype"] = dtype
    return b.quantize(real, **params)


def one_group(b, x, pool, choices):
    """Adds a random group of `choices` behind x. Returns its codes, or None if none fits or it ends in a float."""
    for _ in range(12):
        make = choices[int(b.rng.integers(len(choices)))]
        mark = len(b.nodes), len(b.ops), len(b.constants), list(b.inputs)
        result = make(b, x, pool)
        size = int(np.prod(result.shape)) if result is not None else 0
        if result is None or size > LIMIT:
            del b.nodes[mark[0] :], b.ops[mark[1] :], b.constants[mark[2] :]
            b.inputs = {name: b.inputs[name] for name in mark[3]}
            made = {name for n in b.nodes for name in n.output} | set(b.inputs)
            b.reals = {codes: real for codes, real in b.reals.items() if real in made}
            made |= {c.name for c in b.constants}
            pool[:] = [c for c in pool if c.name in made]
            continue
        return result if isinstance(result, Codes) else finish_real(b, x, result, pool)
    return None


def end(b, pool):
    """Exposes every code that nothing reads, as codes or behind DequantizeLinear; sometimes others too."""
    read = {name for n in b.nodes for name in n.input}
    made = {name for n in b.nodes for name in n.output}
    for codes in pool:
        if codes.name not in made or codes.name in b.outputs:
            continue
        if codes.name in read and not b.chance(0.06):
            continue
        if b.chance(0.5) and not codes.moves:
            b.output(codes.name, codes.shape, codes.dtype)
        else:
            real = b.dequantize(codes)
            b.output(real.name, real.shape, F32)


def chain(b, count, choices, image):
    x = b.input_codes(first_shape(b, image))
    pool = [x]
    if b.moves_floats:
        choices = choices + elements.MOVES
    for _ in range(count):
        y = one_group(b, x, pool, choices)
        if y is None:
            x = pool[int(b.rng.integers(len(pool)))]
            continue
        if b.chance(0.08):
            b.group("double pair")
            y = dynamic.double_pair(b, y)
        pool.append(y)
        x = y if b.chance(0.8) else pool[int(b.rng.integers(len(pool)))]
    end(b, pool)


def residual(b):
    """Conv, Relu and Add blocks, then a pool and a Gemm."""
    channels = b.pick(2, 3, 4, 8)
    x = b.input_codes((1, channels, b.pick(4, 5, 6), b.pick(4, 5)))
    pool = [x]
    for _ in range(b.pick(1, 2, 3)):
        left = b.dequantize(x)
        w, scale = products.weight(b, x, (channels, channels, 3, 3), 0, channels)
        rms = np.sqrt(9 * channels) * x.rms * w.rms
        extra = products.bias(b, x, scale, channels, rms)
        y = b.node("Conv", [left.name, w.name, *([extra] if extra else [])], pads=[1, 1, 1, 1])
        b.group("Conv")
        real, forced = activation(b, Real(y, x.shape, rms))
        y = b.quantize(real, **{"dtype": x.dtype, **forced})
        pool.append(y)
        pair = [b.dequantize(y), b.dequantize(x)]
        if b.chance(0.5):
            pair.reverse()
        b.group("Add")
        total = b.node("Add", [p.name for p in pair])
        x = b.quantize(Real(total, x.shape, float(np.hypot(y.rms, x.rms))), x.dtype)
        pool.append(x)
    y = one_group(b, x, pool, [elements.global_pool, elements.average_pool, elements.flatten])
    if y is not None:
        pool.append(y)
        z = one_group(b, y, pool, [elements.flatten, elements.reshape])
        if z is not None:
            pool.append(z)
            last = one_group(b, z, pool, [products.gemm, products.matmul])
            pool += [last] if last is not None else []
    end(b, pool)


ANY = elements.ELEMENTS + [elements.softmax, elements.concat, elements.where] + elements.MOVES
KINDS = {
    "matrix": lambda b: chain(b, b.pick(1, 2, 3), MATRIX, False),
    "image": lambda b: chain(b, b.pick(1, 1, 2, 3), IMAGE, True),
    "element": lambda b: chain(b, 1, elements.ELEMENTS, b.chance(0.5)),
    "softmax": lambda b: chain(b, 1, [elements.softmax], b.chance(0.3)),
    "join": lambda b: chain(b, 1, [elements.concat, elements.where], b.chance(0.3)),
    "move": lambda b: chain(b, b.pick(1, 2), elements.MOVES, b.chance(0.6)),
    "mixed": lambda b: chain(b, b.pick(2, 3, 4, 6), ANY + MATRIX * 2, False),
    "network": lambda b: chain(b, b.pick(2, 3, 4, 6), ANY + MATRIX + IMAGE * 2, True),
    "residual": residual,
    "dynamic": dynamic.dynamic,
    "integer": dynamic.integer_product,
    "weight_only": dynamic.weight_only,
    "float": ort_floats.floats,
}
WEIGHTS = {"matrix": 4, "image": 4, "element": 3, "softmax": 1, "join": 1, "move": 2, "mixed": 4, "network": 4}
WEIGHTS |= {"residual": 1, "dynamic": 2, "integer": 1, "weight_only": 1, "float": 0}  # 0: with --only alone


def make(seed, index, only=None, omit=False, float_moves=False):
    """Model `index` of a seed: its builder and its kind."""
    rng = np.random.default_rng([seed, index])
    while True:
        names = [only] if only else [k for k in KINDS for _ in range(WEIGHTS[k])]
        kind = names[int(rng.integers(len(names)))]
        opset = OPSETS[int(rng.integers(len(OPSETS)))]
        if kind == "dynamic" and opset < 11:
            continue
        if kind == "weight_only" and opset < 21 and rng.random() < 0.7:
            opset = 21
        b = Builder(rng, opset, ["u8", "u8", "s8", "any"][int(rng.integers(4))])
        b.omits_zero, b.moves_floats = omit, float_moves
        KINDS[kind](b)
        if b.outputs:
            return b, kind


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--omit", action="store_true", help="leave out zero points of 0")
    parser.add_argument("--float-moves", action="store_true", help="leave floats behind nodes that move elements")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    listed = {}
    for index in range(args.count):
        b, kind = make(args.seed, index, args.only, args.omit, args.float_moves)
        name = f"{args.seed:03}_{index:05}_{kind}"
        onnx.save(b.model(), args.folder / f"{name}.onnx")
        np.savez(args.folder / f"{name}.npz", **b.inputs)
        listed[name] = {"kind": kind, "opset": b.opset, "types": b.flavour, "groups": b.ops}
    (args.folder / "models.json").write_text(json.dumps(listed, indent=1) + "\n")


if __name__ == "__main__":
    main()
