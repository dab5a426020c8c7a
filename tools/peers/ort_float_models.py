# SPDX-License-Identifier: Apache-2.0
"""Small float models for ort_examples.py that ONNX Runtime's optimizer computes as other nodes."""

import numpy as np
from ort_build import F32
from ort_example_models import builder

ROOT = float(np.sqrt(2))


class Floats:
    """A model of floats whose values have names of their own."""

    def __init__(self):
        self.b, self.rng = builder(17), np.random.default_rng(7)

    def draw(self, *shape):
        return self.rng.normal(0, 1, shape).astype(F32)

    def const(self, *shape, low=None):
        """Random constants; `low`: no number is closer to 0."""
        values = self.draw(*shape)
        return self.b.const(values if low is None else np.abs(values) + F32(low))

    def scalar(self, v):
        return self.b.const(F32(v))

    def input(self, *shape):
        return self.b.float_input(shape)

    def node(self, op, *inputs, **attrs):
        return self.b.node(op, list(inputs), **attrs)

    def norm(self, x, channels):
        return self.node("BatchNormalization", x, self.const(channels), self.const(channels), self.const(channels),
                         self.const(channels, low=0.1))

    def finish(self, y, *shape):
        self.b.output(y, shape, F32)
        return self.b


class Open:
    """A model that leaves dims of its inputs open, with a name or without."""

    def __init__(self, b, *dims, name=""):
        self.b, self.inputs, self.dims, self.name = b, b.inputs, dims, name

    def model(self):
        model = self.b.model()
        for value in model.graph.input:
            for dim in self.dims:
                value.type.tensor_type.shape.dim[dim].Clear()
                if self.name:
                    value.type.tensor_type.shape.dim[dim].dim_param = f"{self.name}{dim}"
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
        return model


def conv(bias, *steps):
    """A convolution outside blocks of channels, and a norm, Mul or Add behind it."""
    m = Floats()
    extra = [m.const(6)] if bias else []
    y = m.node("Conv", m.input(1, 4, 5, 6), m.const(6, 2, 3, 3), *extra, group=2, pads=[1, 1, 1, 1])
    for op, shape in steps:
        y = m.norm(y, 6) if op == "norm" else m.node(op, y, m.const(*shape))
    return m.finish(y, 1, 6, 5, 6)


def transposed_conv(groups):
    m = Floats()
    y = m.node("ConvTranspose", m.input(1, 4, 3, 5), m.const(4, 6 // groups, 2, 2), group=groups, strides=[2, 2])
    return m.finish(m.norm(y, 6), 1, 6, 6, 10)


def pools():
    """Pools of channels that fill blocks of NCHWc with AVX2 alone (8), with AVX-512 too (16), or with neither (4)."""
    m, outputs = Floats(), []
    for channels in (4, 8, 16):
        x = m.input(1, channels, 4, 5)
        outputs.append((m.node("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1]), (1, channels, 4, 5)))
        outputs.append((m.node("GlobalAveragePool", x), (1, channels, 1, 1)))
        outputs.append((m.node("ReduceMean", x, axes=[2, 3]), (1, channels, 1, 1)))
    for y, shape in outputs:
        m.b.output(y, shape, F32)
    return m.b


def product_norm():
    m = Floats()
    return m.finish(m.norm(m.node("MatMul", m.input(5, 12), m.const(12, 7)), 7), 5, 7)


def scaled(before, behind, k=24):
    """A product of two inputs, with scalars before and behind it."""
    m = Floats()
    a, b = m.input(2, 5, k), m.input(2, k, 7)
    if before:
        a, b = m.node("Mul", m.scalar(0.3), a), m.node("Div", b, m.scalar(1.7))
    y = m.node("MatMul", a, b)
    for op in behind:
        y = m.node(op, y, m.scalar(2.9))
    return m.finish(y, 2, 5, 7)


def biased_product():
    m = Floats()
    return m.finish(m.node("Add", m.node("MatMul", m.node("Abs", m.input(2, 5, 300)), m.const(300, 7)), m.const(7)), 2, 5, 7)


def no_ops():
    """Sums with 0 and products by 1: numbers of as few dims as x are left out if a node makes x, so that -0 stays and a
    product has its scalar behind it."""
    m = Floats()
    a, b = m.input(2, 5, 24), m.input(2, 24, 7)
    a = m.node("Add", m.node("Mul", a, m.scalar(0.3)), m.scalar(0))
    b = m.node("Div", m.node("Sub", b, m.b.const(np.zeros((1, 1), F32))), m.scalar(1))
    y = m.node("MatMul", a, b)
    zeros = m.input(3, 4)
    m.b.inputs[zeros] = np.full((3, 4), -0.0, F32)
    made = m.node("Relu", zeros)
    for x, shape in ((made, ()), (made, (1, 1)), (made, (1, 1, 1)), (zeros, ())):
        z = m.node("Neg", m.node("Add", x, m.b.const(np.zeros(shape, F32))))
        m.b.output(z, (1, 3, 4) if len(shape) > 2 else (3, 4), F32)
    return m.finish(m.node("Mul", m.scalar(1), m.node("Sqrt", m.node("Abs", y))), 2, 5, 7)


def gelu(form):
    """Gelu as exporters write it; `wide`: one constant is a matrix of one element, and ONNX Runtime forms no Gelu."""
    m = Floats()
    x = m.input(6, 40)
    if form == "biased":
        x = m.node("Add", x, m.const(40))
    y = m.node("Mul", x, m.scalar(1 / ROOT)) if form == "multiplied" else m.node("Div", x, m.scalar(ROOT))
    one = m.b.const(np.ones((1, 1), F32)) if form == "wide" else m.scalar(1)
    y = m.node("Add", m.node("Erf", y), one)
    if form == "half first":
        return m.finish(m.node("Mul", m.node("Mul", x, m.scalar(0.5)), y), 6, 40)
    return m.finish(m.node("Mul", m.node("Mul", x, y), m.scalar(0.5)), 6, 40)


def layer_norm(m, x, n):
    """LayerNormalization as older exporters write it."""
    d = m.node("Sub", x, m.node("ReduceMean", x, axes=[-1]))
    v = m.node("ReduceMean", m.node("Pow", d, m.scalar(2)), axes=[-1])
    y = m.node("Div", d, m.node("Sqrt", m.node("Add", v, m.scalar(1e-5))))
    return m.node("Add", m.node("Mul", y, m.const(n)), m.const(n))


def norm_of_nodes(n):
    m = Floats()
    return m.finish(layer_norm(m, m.input(3, 4, n), n), 3, 4, n)


def norm_of_transposed(perm, shape, used):
    """Below opset 17 the Transpose moves behind the differences from the mean, and what is left is a SimplifiedLayerNormalization."""
    m = Floats()
    m.b.opset = 13
    x = m.node("Transpose", m.node("Relu", m.input(*shape)), perm=perm)
    turned = tuple(shape[i] for i in perm)
    y = layer_norm(m, x, turned[-1])
    return m.finish(m.node("Add", x, y) if used else y, *turned)


def sums_of_transposed():
    m = Floats()
    m.b.opset = 13
    for op, axes, keep in (("ReduceMean", [-1], 1), ("ReduceMean", [0, 2], 0), ("ReduceL2", [0, 2], 1), ("ReduceL1", [1, 3], 0)):
        y = m.node(op, m.node("Transpose", m.node("Relu", m.input(3, 4, 5, 37)), perm=[2, 0, 1, 3]), axes=axes, keepdims=keep)
        shape = [1 if i in axes or i - 4 in axes else n for i, n in enumerate((5, 3, 4, 37)) if keep or i not in axes]
        m.b.output(y, tuple(shape), F32)
    return m.b


def norm_of_sum(bias, swapped=False, of_nodes=False, used=False):
    """A norm of the sum of two images, of which one has a bias; `used`: the sum is an output too, and stays a node."""
    m = Floats()
    x, y = m.input(2, 5, 24), m.input(2, 5, 24)
    if bias:
        x = m.node("Add", x, m.const(24))
    total = m.node("Add", *([y, x] if swapped else [x, y]))
    if used:
        m.b.output(total, (2, 5, 24), F32)
    z = layer_norm(m, total, 24) if of_nodes else m.node("LayerNormalization", total, m.const(24), m.const(24))
    return m.finish(z, 2, 5, 24)


def rms_norm(n):
    m = Floats()
    x = m.input(3, 4, n)
    v = m.node("ReduceMean", m.node("Pow", x, m.scalar(2)), axes=[-1])
    y = m.node("Div", x, m.node("Sqrt", m.node("Add", v, m.scalar(1e-5))))
    return m.finish(m.node("Mul", y, m.const(n)), 3, 4, n)


def one_over():
    m = Floats()
    return m.finish(m.node("Mul", m.input(6, 40), m.node("Div", m.scalar(1), m.input(6, 40))), 6, 40)


def cube():
    m = Floats()
    return m.finish(m.node("Pow", m.input(6, 40), m.scalar(3)), 6, 40)


EXAMPLES = {
    "float_conv_norm": lambda: conv(False, ("norm", ())),
    "float_conv_norm_bias": lambda: conv(True, ("norm", ())),
    "float_conv_mul_add_norm": lambda: conv(False, ("Mul", (6, 1, 1)), ("Add", (1, 6, 1, 1)), ("norm", ())),
    "float_conv_mul_scalar": lambda: conv(True, ("Mul", ())),
    "float_conv_mul_one": lambda: conv(True, ("Mul", (1, 1, 1))),
    "float_conv_add_bias": lambda: conv(True, ("Add", (6, 1, 1))),
    "float_conv_transpose_norm": lambda: transposed_conv(1),
    "float_conv_transpose_groups_norm": lambda: transposed_conv(2),
    "float_product_norm": product_norm,
    "float_product_divided": lambda: scaled(False, ["Div"]),
    "float_product_scaled": lambda: scaled(True, ["Mul", "Div"]),
    "float_no_ops": no_ops,
    "float_biased_product": biased_product,
    "open_biased_product": lambda: Open(biased_product(), 0),
    "open_biased_product_named": lambda: Open(biased_product(), 0, 1, name="n"),
    "open_norm_of_sum": lambda: Open(norm_of_sum(True), 1),
    "open_norm_of_sum_named": lambda: Open(norm_of_sum(True), 0, 1, name="n"),
    "float_gelu": lambda: gelu("plain"),
    "float_gelu_half_first": lambda: gelu("half first"),
    "float_gelu_multiplied": lambda: gelu("multiplied"),
    "float_gelu_wide_constant": lambda: gelu("wide"),
    "float_gelu_biased": lambda: gelu("biased"),
    "float_norm": lambda: norm_of_nodes(29),
    "float_norm_of_five": lambda: norm_of_nodes(5),
    "float_norm_of_transposed": lambda: norm_of_transposed([0, 2, 1], (2, 24, 9), False),
    "float_norm_of_transposed_used": lambda: norm_of_transposed([2, 0, 1], (5, 19, 3), True),
    "float_sums_of_transposed": sums_of_transposed,
    "float_norm_of_sum": lambda: norm_of_sum(False),
    "float_norm_of_biased_sum": lambda: norm_of_sum(True),
    "float_norm_of_sum_biased": lambda: norm_of_sum(True, swapped=True, of_nodes=True),
    "float_norm_of_used_sum": lambda: norm_of_sum(False, used=True),
    "float_rms_norm": lambda: rms_norm(29),
    "float_rms_norm_of_five": lambda: rms_norm(5),
    "float_pools": pools,
    "float_one_over": one_over,
    "float_cube": cube,
}
