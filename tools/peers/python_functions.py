#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls qdq.quantize, dequantize and dynamic_quantize in place of torchao's functions, of onnx's reference and of ttnn's
golden functions, on random arrays with ties, and counts the elements that differ. Needs torch, torchao, onnx and qdq.

Golden functions of ttnn have no bounds and round half to even, round(x / scale + zero_point); the chip clips to -127..127
and rounds half away from 0. The chip multiplies by the reciprocal of the scale, too. So qdq, which computes as the chip, may differ by a step in ties,
and within 1e-4 of one.

    python_functions.py
"""

import sys

import numpy as np
import onnx
import qdq
import torch
from onnx import helper
from onnx.reference import ReferenceEvaluator
from torchao.quantization.quant_primitives import MappingType, choose_qparams_affine, dequantize_affine, quantize_affine

RNG = np.random.default_rng(7)
KINDS = {"int8": (torch.int8, -128, 127, onnx.TensorProto.INT8), "uint8": (torch.uint8, 0, 255, onnx.TensorProto.UINT8)}
FAILED = []


def report(what, got, want):
    got, want = np.asarray(got), np.asarray(want)
    differ = int((got != want).sum())
    print(f"{what}: {differ} of {want.size} elements differ")
    if differ or got.shape != want.shape:
        FAILED.append(what)


def numbers(scale):
    """Elements of which half are ties of the scale."""
    x = RNG.normal(0, 60, (64, 96)).astype(np.float32) * np.float32(scale)
    x[::2] = (RNG.integers(-300, 300, x[::2].shape) + np.float32(0.5)) * np.float32(scale)
    return x


def torchao():
    for name, (kind, low, high, _) in KINDS.items():
        for block in ((64, 96), (1, 96), (64, 1), (8, 32)):
            grid = tuple(s // b for s, b in zip((64, 96), block))
            scale = RNG.uniform(0.01, 2, grid).astype(np.float32)
            zero = RNG.integers(low // 2, high // 2, grid).astype(np.int32)
            x = numbers(0.25)
            want = quantize_affine(torch.tensor(x), block, torch.tensor(scale), torch.tensor(zero), kind, low, high)
            shape = {"group_shape": block} if np.size(scale) > 1 else {}
            scale, zero = (scale, zero) if shape else (scale[0, 0], int(zero[0, 0]))
            got = qdq.quantize(x, scale, zero, dtype=name, target="torchao", **shape)
            report(f"quantize_affine, {name}, blocks of {block}", got, want)
            back = dequantize_affine(want, block, torch.tensor(np.reshape(scale, grid)), torch.tensor(np.reshape(zero, grid)),
                                     kind, low, high, output_dtype=torch.float32)  # fmt: skip
            report(f"dequantize_affine, {name}, blocks of {block}",
                   qdq.dequantize(got, scale, zero, target="torchao", **shape), back)  # fmt: skip
    x = numbers(1)
    scale, zero = choose_qparams_affine(torch.tensor(x), MappingType.ASYMMETRIC, x.shape, torch.uint8, 0, 255)
    _, own_scale, own_zero = qdq.dynamic_quantize(x, target="torchao")
    report("choose_qparams_affine, scale", own_scale.ravel(), scale.numpy().ravel())
    report("choose_qparams_affine, zero point", own_zero.ravel(), zero.numpy().ravel())


def reference(op, x, scale, zero, **attrs):
    given = {"x": x, "scale": scale, "zero_point": zero}
    node = helper.make_node(op, list(given), ["y"], **attrs)
    types = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
    graph = helper.make_graph([node], "g", types, [onnx.ValueInfoProto(name="y")])
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])).run(None, given)[0]


def onnx_reference():
    for name, (_, low, high, _) in KINDS.items():
        for axis in (None, 0, 1):
            count = () if axis is None else ((64, 96)[axis],)
            scale = RNG.uniform(0.01, 2, count).astype(np.float32)
            zero = RNG.integers(low, high, count).astype(name)
            x = numbers(0.25)
            attrs = {} if axis is None else {"axis": axis}
            want = reference("QuantizeLinear", x, np.asarray(scale), np.asarray(zero), **attrs)
            got = qdq.quantize(x, np.asarray(scale), zero, dtype=name, target="onnx", **attrs)
            report(f"QuantizeLinear, {name}, axis {axis}", got, want)
            report(f"DequantizeLinear, {name}, axis {axis}", qdq.dequantize(got, np.asarray(scale), zero, target="onnx", **attrs),
                   reference("DequantizeLinear", want, np.asarray(scale), np.asarray(zero), **attrs))  # fmt: skip


def ttnn():
    for chip in ("wormhole", "blackhole"):
        for scale, zero in ((0.25, 0), (0.25, 3), (2.0, -7), (0.1, 5), (0.037, -2)):
            x = numbers(scale)
            exact = torch.div(torch.tensor(x), scale) + zero
            want = torch.round(exact).to(torch.int32).clip(-127, 127).numpy()
            got = qdq.quantize(x, scale, zero, dtype="int32", target=f"ttnn@{chip}")
            tie = (np.abs(exact.numpy() % 1 - 0.5) < 1e-4) & (np.abs(got - want) == 1)
            report(f"ttnn.quantize, {chip}, scale {scale}, zero point {zero}, {int(tie.sum())} ties aside",
                   np.where(tie, want, got), want)  # fmt: skip
            back = (torch.tensor(got) - zero) * scale
            report(f"ttnn.dequantize, {chip}, scale {scale}, zero point {zero}",
                   qdq.dequantize(got, scale, zero, target=f"ttnn@{chip}"), back)  # fmt: skip


def main():
    torchao()
    onnx_reference()
    ttnn()
    print("all equal" if not FAILED else f"{len(FAILED)} differ")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
