# SPDX-License-Identifier: Apache-2.0
"""Random float models for ort_graphs.py: convolutions, products, norms and elementwise nodes that ONNX Runtime's optimizer
folds and fuses, in orders that it does and in others that it does not."""

import numpy as np
from ort_build import F32


def constant(b, shape, low=None):
    values = b.rng.normal(0, 1, shape).astype(F32)
    return b.const(values if low is None else np.abs(values) + F32(low))


def scalar(b, v):
    return b.const(np.full(b.pick((), (), (1,)), v, F32))


def pair(b, op, x, other):
    return b.node(op, [other, x] if b.chance(0.3) else [x, other])


def conv(b, x, shape):
    """In groups of few channels, which are not computed in blocks."""
    if len(shape) != 4:
        return None
    channels, out = shape[1], b.pick(2, 4, 6)
    groups = 2 if channels % 2 == 0 else 1
    weights, bias = constant(b, (out, channels // groups, 3, 3)), [constant(b, (out,))] if b.chance(0.5) else []
    if groups == 1:
        return None
    return b.node("Conv", [x, weights, *bias], group=groups, pads=[1, 1, 1, 1]), (shape[0], out, *shape[2:])


def norm(b, x, shape):
    if len(shape) not in (2, 4):
        return None
    c = shape[1]
    return b.node("BatchNormalization", [x, constant(b, c), constant(b, c), constant(b, c), constant(b, c, 0.1)]), shape


def by_constant(b, x, shape):
    """Mul or Add of constants of the channels, of a column, of one number, or of everything."""
    c = shape[1] if len(shape) == 4 else shape[-1]
    column = (c, 1, 1) if len(shape) == 4 else (c,)
    return pair(b, b.pick("Mul", "Add", "Div"), x, constant(b, b.pick(column, column, (1, *column), (), (1,), shape), 0.2)), shape


def product(b, x, shape):
    if len(shape) not in (2, 3):
        return None
    n = b.pick(2, 5, 8, 24)
    if b.chance(0.5):
        return b.node("MatMul", [x, constant(b, (shape[-1], n))]), (*shape[:-1], n)
    other = b.float_input((*shape[:-2], shape[-1], n))
    return b.node("MatMul", [x, other]), (*shape[:-1], n)


def scaled(b, x, shape):
    return pair(b, b.pick("Mul", "Div"), x, scalar(b, b.rng.uniform(0.2, 3))), shape


def gelu(b, x, shape):
    if b.chance(0.4):
        x = pair(b, "Add", x, constant(b, shape[-1:]))
    y = b.node("Div", [x, b.const(F32(np.sqrt(2)))])
    y = pair(b, "Add", b.node("Erf", [y]), b.const(F32(1)))
    half = b.const(F32(0.5))
    if b.chance(0.5):
        return pair(b, "Mul", pair(b, "Mul", x, half), y), shape
    return pair(b, "Mul", pair(b, "Mul", x, y), half), shape


def layer_norm(b, x, shape):
    n = shape[-1:]
    if b.chance(0.5) and b.opset >= 17:
        return b.node("LayerNormalization", [x, constant(b, n), constant(b, n)]), shape
    if b.opset >= 18:
        return None
    d = b.node("Sub", [x, b.node("ReduceMean", [x], axes=[-1])])
    v = b.node("ReduceMean", [b.node("Pow", [d, b.const(F32(2))])], axes=[-1])
    y = b.node("Div", [d, b.node("Sqrt", [pair(b, "Add", v, b.const(F32(1e-5)))])])
    return pair(b, "Add", pair(b, "Mul", y, constant(b, n)), constant(b, n)), shape


def rms_norm(b, x, shape):
    if b.opset >= 18:
        return None
    v = b.node("ReduceMean", [b.node("Pow", [x, b.const(F32(2))])], axes=[-1])
    y = b.node("Div", [x, b.node("Sqrt", [b.node("Add", [v, b.const(F32(1e-5))])])])
    return pair(b, "Mul", y, constant(b, shape[-1:])), shape


def total(b, x, shape):
    """The sum with another image, one of them maybe with a bias."""
    other = b.float_input(shape)
    if b.chance(0.4):
        other = b.node("Add", [other, constant(b, shape[-1:])])
    return pair(b, "Add", x, other), shape


def one_over(b, x, shape):
    return pair(b, "Mul", b.float_input(shape), b.node("Div", [b.const(F32(1)), x])), shape


def elementwise(b, x, shape):
    return b.node(b.pick("Relu", "Sigmoid", "Tanh", "Abs"), [x]), shape


STEPS = [conv, conv, norm, norm, by_constant, by_constant, by_constant, product, product, scaled, scaled, gelu, layer_norm]
STEPS += [layer_norm, rms_norm, total, total, one_over, elementwise]


def floats(b):
    """A chain; some values between are outputs too."""
    shape = b.pick((1, 4, 5, 6), (2, 2, 4, 5), (1, 6, 3, 5), (2, 5, 24), (1, 3, 17), (3, 4, 8), (5, 24), (1, 16), (7, 9))
    x = b.float_input(shape)
    for _ in range(b.pick(2, 3, 4, 5, 6)):
        made = STEPS[int(b.rng.integers(len(STEPS)))](b, x, shape)
        if made is None:
            continue
        x, shape = made
        b.group("float")
        if b.chance(0.06):
            b.output(x, shape, F32)
    if b.ops:
        b.output(x, shape, F32)
