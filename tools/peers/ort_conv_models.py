# SPDX-License-Identifier: Apache-2.0
"""Float convolutions that ONNX Runtime computes on blocks of channels: small models for ort_examples.py, and random
chains for renew.py."""

import numpy as np
from ort_build import F32
from ort_float_models import Floats, Open

CHAIN = ["Conv", "Conv", "Conv", "Relu", "Add", "Add", "MaxPool", "Concat", "Mul", "norm", "Sigmoid", "Clip", "LeakyRelu", "HardSwish",
         "HardSigmoid", "QuickGelu", "mean", "factor"]  # fmt: skip


class Images(Floats):
    """A model of images; `of` has the shape of each."""

    def __init__(self, seed=7, opset=17):
        super().__init__()
        self.rng, self.b.opset, self.of = np.random.default_rng(seed), opset, {}

    def image(self, channels, height=4, width=5):
        name = self.input(1, channels, height, width)
        self.of[name] = channels, height, width
        return name

    def conv(self, x, outputs, kernel=3, bias=True, **attrs):
        channels, *size = self.of[x]
        attrs = {"group": 1, "pads": [kernel // 2] * 4, "strides": [1, 1], **attrs}
        weights = self.const(outputs, channels // attrs["group"], kernel, kernel)
        y = self.node("Conv", x, weights, *([self.const(outputs)] if bias else []), **attrs)
        pads, strides = attrs["pads"], attrs["strides"]
        self.of[y] = (outputs, *((size[i] + pads[i] + pads[i + 2] - kernel) // strides[i] + 1 for i in range(2)))
        return y

    def same(self, op, *inputs, **attrs):
        """A node that keeps the shape of its first input."""
        y = self.norm(inputs[0], self.of[inputs[0]][0]) if op == "norm" else self.node(op, *inputs, **attrs)
        self.of[y] = self.of[inputs[0]]
        return y

    def pool(self, x):
        y = self.node("MaxPool", x, kernel_shape=[2, 2], strides=[1, 1])
        channels, height, width = self.of[x]
        self.of[y] = channels, height - 1, width - 1
        return y

    def end(self, *outputs):
        for y in outputs:
            self.b.output(y, (1, *self.of[y]), F32)
        return self.b


def one(inputs, outputs, kernel=3, bias=True, **attrs):
    m = Images()
    return m.end(m.conv(m.image(inputs), outputs, kernel, bias, **attrs))


def residual(bias, channels=20):
    """The first of two convolutions adds the other one before its bias."""
    m = Images()
    x = m.image(channels)
    y = m.same("Add", m.conv(x, 16, 3, bias), m.conv(x, 16, 1))
    return m.end(m.same("Relu", y))


def added_image(outputs, kernel=3, **attrs):
    """Convolutions outside blocks of channels, which add an image and then their bias."""
    m = Images()
    x = m.image(18)
    y = m.conv(x, outputs, kernel, **attrs)
    z = m.input(1, *m.of[y])
    return m.end(m.same("Add", y, z))


def narrow_residual(middle):
    """A sum behind two convolutions, the first of which makes 8 channels: the next one reads them as they are, so that its dims
    are not known to be equal. With `middle` of 16 channels they are."""
    m = Images()
    x = m.conv(m.image(16), middle, 1)
    y = m.conv(m.same("Relu", m.conv(x, 32, 3)), middle, 1)
    return m.end(m.same("Relu", m.same("Add", x, y)))


def fused_conv(activation, bias):
    """FusedConv of com.microsoft with an image, which its sums begin with."""
    m = Images()
    x = m.image(18)
    y = m.node("FusedConv", x, m.const(7, 18, 3, 3), m.const(7) if bias else "", m.input(1, 7, 4, 5), domain="com.microsoft",
               pads=[1, 1, 1, 1], **({"activation": activation} if activation else {}))  # fmt: skip
    m.of[y] = 7, 4, 5
    return m.end(y)


def mean_behind(op, channels=32, **attrs):
    """A mean of images, in blocks if the activation before it keeps those of a convolution."""
    m = Images()
    y = m.same(op, m.conv(m.image(16, 5, 7), channels), **attrs)
    mean = m.node("GlobalAveragePool", y)
    m.of[mean] = channels, 1, 1
    return m.end(mean)


def pooled_norm(adds):
    m = Images()
    x = m.pool(m.image(16))
    y = m.same("norm", x)
    return m.end(m.same("Add", x, y) if adds else y)


def step(m, x, images):
    """A random node that reads x, and perhaps other images; None: it does not fit."""
    b, (channels, height, width) = m.b, m.of[x]
    op = b.pick(*CHAIN)
    if op == "Conv":
        kernel, outputs = b.pick(1, 1, 3, 3, 5), b.pick(channels, 8, 16, 20, 32)
        attrs = {"strides": [2, 2]} if b.chance(0.15) else {}
        if b.chance(0.25):
            attrs["group"] = outputs = channels
        if b.chance(0.15) and min(height, width) >= kernel:
            attrs["pads"] = [0] * 4
        return m.conv(x, outputs, kernel, b.chance(0.6), **attrs)
    if op == "MaxPool":
        return m.pool(x) if min(height, width) > 1 else None
    if op == "Concat":
        other = b.pick(*[v for v in images if m.of[v][1:] == (height, width)])
        y = m.node("Concat", x, other, axis=1)
        m.of[y] = channels + m.of[other][0], height, width
        return y
    if op in ("Add", "Mul"):
        pair = [x, b.pick(*[v for v in images if m.of[v] == m.of[x]])]
        return m.same(op, *(pair if b.chance(0.5) else pair[::-1]))
    if op == "mean":
        y = m.node("GlobalAveragePool", x)
        m.of[y] = channels, 1, 1
        return y
    if op == "factor":
        return m.same("Mul", x, m.scalar(0.7))
    if op == "QuickGelu":
        return m.same(op, x, domain="com.microsoft", alpha=b.pick(1.0, 1.702))
    more = {"Clip": [m.scalar(-1), m.scalar(2)]}.get(op, [])
    return m.same(op, x, *more, **({"alpha": 0.1} if op == "LeakyRelu" else {}))


def make(seed, index):
    """A random chain of convolutions, activations, sums, pools and norms."""
    rng = np.random.default_rng([seed, index])
    m = Images([seed, index], int(rng.choice([13, 17, 19, 22])))
    m.b.rng = rng
    size = m.b.pick(3, 8, 16, 24, 32, 48), m.b.pick(1, 5, 6, 8), m.b.pick(3, 7, 8)
    images, read = [m.image(*size) for _ in range(m.b.pick(1, 1, 2))], set()
    for _ in range(m.b.pick(2, 3, 5, 8)):
        x = images[-1] if m.b.chance(0.7) else m.b.pick(*images)
        y = step(m, x, images)
        if y:
            images.append(y)
    read = {name for node in m.b.nodes for name in node.input}
    results = [name for node in m.b.nodes for name in node.output]
    return m.end(*(y for y in results if y not in read or m.b.chance(0.05)))


EXAMPLES = {
    "blocks_image": lambda: one(3, 8),
    "blocks_image_strided": lambda: one(5, 9, 5, strides=[2, 1]),
    "blocks_whole": lambda: one(16, 9),
    "blocks_no_bias": lambda: one(32, 8, bias=False),
    "blocks_last_narrow": lambda: one(20, 8),
    "blocks_unaligned": lambda: one(18, 8),
    "blocks_pointwise": lambda: one(272, 8, 1),
    "blocks_padded_pointwise": lambda: one(48, 8, 1, pads=[1, 0, 0, 1]),
    "blocks_depthwise": lambda: one(12, 12, 5, group=12),
    "blocks_depthwise_unaligned": lambda: one(6, 6, 3, group=6),
    "blocks_groups": lambda: one(32, 32, 3, group=2),
    "blocks_residual": lambda: residual(True),
    "blocks_residual_no_bias": lambda: residual(False),
    "blocks_norm": lambda: pooled_norm(False),
    "blocks_norm_added": lambda: pooled_norm(True),
    "mean_behind_hard_swish": lambda: mean_behind("HardSwish"),
    "mean_behind_hard_sigmoid": lambda: mean_behind("HardSigmoid"),
    "mean_behind_gelu": lambda: mean_behind("Gelu", domain="com.microsoft"),
    "mean_behind_quick_gelu": lambda: mean_behind("QuickGelu", domain="com.microsoft", alpha=1.702),
    "mean_behind_fast_gelu": lambda: mean_behind("FastGelu", domain="com.microsoft"),
    "mean_behind_exp": lambda: mean_behind("Exp"),
    "open_residual_narrow": lambda: Open(narrow_residual(8), 2, 3),
    "open_residual_narrow_batch": lambda: Open(narrow_residual(8), 0),
    "open_residual": lambda: Open(narrow_residual(16), 0, 2, 3),
    "open_added": lambda: Open(added_image(7), 3),
    "unblocked_fused": lambda: fused_conv("", True),
    "unblocked_fused_relu": lambda: fused_conv("Relu", True),
    "unblocked_fused_no_bias": lambda: fused_conv("", False),
    "unblocked_added": lambda: added_image(7),
    "unblocked_one_output_added": lambda: added_image(1),
}
