# SPDX-License-Identifier: Apache-2.0
"""Models of ops on codes of com.microsoft, whose results are ONNX Runtime's on x86-64 with AVX2."""

import numpy as np
from onnx import TensorProto as T

from making import N, constant, info, keep, model

OWN = {"domain": "com.microsoft"}
ELEM = {np.uint8: T.UINT8, np.int8: T.INT8, np.bool_: T.BOOL}


class Codes:
    """Nodes that read inputs of random codes."""

    def __init__(self, seed):
        self.random, self.nodes, self.known, self.feeds, self.outputs = np.random.default_rng(seed), [], [], {}, []

    def codes(self, dtype, *shape):
        name, bounds = f"i{len(self.feeds)}", np.iinfo(dtype)
        self.feeds[name] = self.random.integers(bounds.min, bounds.max + 1, shape).astype(dtype)
        return name

    def quant(self, dtype, scale, zero):
        names = [f"s{len(self.known)}", f"z{len(self.known)}"]
        self.known += [constant(names[0], np.float32(scale)), constant(names[1], np.array(zero, dtype))]
        return names

    def node(self, op, inputs, dtype, **attrs):
        self.outputs.append(info(f"y{len(self.outputs)}", None, ELEM[dtype]))
        self.nodes.append(N(op, inputs, [self.outputs[-1].name], **attrs, **OWN))

    def keep(self, name):
        inputs = [info(k, a.shape, ELEM[a.dtype.type]) for k, a in self.feeds.items()]
        keep(name, model(self.nodes, inputs, self.outputs, self.known), self.feeds)


# What one code of an operand may meet: the operands are exchanged if it is a.
SHAPES = [((2, 3, 7, 5), (3, 1, 1)), ((3, 1, 1), (2, 3, 7, 5)), ((31,), (1,)), ((1,), (31,)), ((31, 1), (1,)), ((31, 1), (1, 1)),
          ((1, 1), (31, 1)), ((2, 3, 7, 1), (3, 1, 1)), ((5, 1, 7), (9, 1)), ((9, 1), (5, 1, 7)), ((), (31,)), ((31,), ())]  # fmt: skip


def qlinear_slices():
    """Means with ties, padding and a window that is the whole image; softmax, also where it overflows."""
    made = Codes(22)
    for dtype in (np.uint8, np.int8):
        low = np.iinfo(dtype).min
        x, image, line = made.codes(dtype, 2, 3, 13, 11), made.codes(dtype, 2, 70, 3, 2), made.codes(dtype, 1, 2, 71)
        for (sx, zx), (sy, zy) in (((1, 0), (1, low + 129)), ((0.5, 100 + low), (0.25, 8)), ((0.031, 7), (0.03, 9))):
            def pool(name, op="QLinearAveragePool", **attrs):
                made.node(op, [name, *made.quant(dtype, sx, zx), *made.quant(dtype, sy, zy)], dtype, **attrs)

            pool(x, kernel_shape=[2, 2], strides=[2, 1])
            pool(x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            pool(x, kernel_shape=[4, 3], strides=[3, 2], pads=[1, 1, 2, 0], count_include_pad=1)
            pool(x, kernel_shape=[4, 4], strides=[3, 3], ceil_mode=1, count_include_pad=1)
            pool(x, kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER")
            pool(x, kernel_shape=[13, 11])
            pool(line, kernel_shape=[7], strides=[2], pads=[3, 3])
            for name in (x, image, line):
                pool(name, "QLinearGlobalAveragePool")
            pool(image, "QLinearGlobalAveragePool", channels_last=1)
    for dtype in (np.uint8, np.int8):
        rows, middle = made.codes(dtype, 30, 3), made.codes(dtype, 2, 37, 5)
        for sy, zy in ((1 / 256, 0), (1 / 255, 3), (1 / 300, 5), (1 / 300, -5 if dtype == np.int8 else 9), (1 / 900, 1)):
            for name, attrs in ((rows, {"axis": -1, "opset": 13}), (middle, {"axis": 1, "opset": 13}), (middle, {"axis": 1, "opset": 12})):
                made.node("QLinearSoftmax", [name, *made.quant(dtype, 0.05, 0), *made.quant(dtype, sy, zy)], dtype, **attrs)
    made.keep("qlinear_slices")


def qlinear_pairs():
    """QLinearAdd and QLinearMul: sums that the fused steps round to other codes, ties, results beyond int32, broadcasting."""
    made = Codes(21)
    # Of 65,536 pairs, in the first two sets 2 or 4 % have another code if operands are exchanged or a step is not fused.
    sets = [((0.27, 170), (0.375, 177), (0.03, 202)), ((0.026, 74), (0.002, 55), (0.024, 23)), ((0.058, 191), (0.03, 1), (0.044, 40)),
            ((0.5, 0), (0.25, 1), (1, 1)), ((1e7, 0), (1, 0), (1, 0))]  # fmt: skip
    for dtype in (np.uint8, np.int8):
        a, b = made.codes(dtype, 4429), made.codes(dtype, 4429)
        for own in sets:
            qa, qb, qy = (made.quant(dtype, scale, zero + np.iinfo(dtype).min) for scale, zero in own)
            for op in ("QLinearAdd", "QLinearMul"):
                made.node(op, [a, *qa, b, *qb, *qy], dtype)
    for a, b in SHAPES:
        first, second = made.codes(np.uint8, *a), made.codes(np.uint8, *b)
        for own in sets[:2]:
            qa, qb, qy = (made.quant(np.uint8, *q) for q in own)
            for op in ("QLinearAdd", "QLinearMul"):
                made.node(op, [first, *qa, second, *qb, *qy], np.uint8)
    made.keep("qlinear_pairs")


def qlinear_tables():
    """QLinear ops that are a table of codes for each operand: every code, ties, codes that stay, conditions with more dims."""
    made = Codes(23)
    for dtype in (np.uint8, np.int8):
        low = np.iinfo(dtype).min
        every, part, other, column = (made.codes(dtype, *shape) for shape in ((256,), (3, 40), (3, 31), (3, 1)))
        made.feeds[every] = np.arange(low, low + 256).astype(dtype)
        choices = [f"c{np.dtype(dtype)}{n}" for n in range(3)]
        for name, shape in zip(choices, ((3, 40), (2, 3, 1), (1,))):
            made.feeds[name] = made.random.integers(0, 2, shape).astype(np.bool_)
        for (sx, zx), (sy, zy) in (((1, 0), (1, low)), ((0.5, 100 + low), (1 / 256, low)), ((0.05, 128 + low), (1 / 255, 3)), ((0.25, 7), (0.5, 9)), ((0.031, 7), (0.031, 7))):
            x, y = made.quant(dtype, sx, zx), made.quant(dtype, sy, zy)
            made.node("QLinearSigmoid", [every, *x, *y], dtype)
            made.node("QLinearLeakyRelu", [every, *x, *y], dtype, alpha=0.3)
            made.node("QLinearConcat", [*y, part, *x, column, *y, other, *made.quant(dtype, 0.07, 5)], dtype, axis=1)
            for condition in choices:
                made.node("QLinearWhere", [condition, part, *x, column, *made.quant(dtype, 0.07, 5), *y], dtype)
    made.keep("qlinear_tables")
