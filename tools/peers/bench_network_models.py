# SPDX-License-Identifier: Apache-2.0
"""Networks of real architecture and size for bench_networks.py, as ONNX models with seeded weights: images (ResNet-50,
MobileNetV2, U-Net), BERT, and one step of a decoder. Weights keep the spread of activations near 1, so that
quantized versions have sensible scales."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21
BLOCK = 128  # int4 weights that share a scale


class Builder:
    """Adds nodes and constants; values are names."""

    def __init__(self):
        self.nodes, self.constants, self.random = [], [], np.random.default_rng(15)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def longs(self, *values):
        return self.constant(np.array(values, np.int64))

    def weights(self, *shape, inputs):
        return (self.random.standard_normal(shape) * inputs**-0.5).astype(np.float32)

    def node(self, op, *inputs, outputs=1, **attrs):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attrs))
        return names[0] if outputs == 1 else names

    def model(self, inputs, outputs):
        """inputs: name -> shape, or (shape, dtype); outputs: names of values."""
        values = [(name, *(v if isinstance(v[0], (tuple, list)) else (v, TensorProto.FLOAT))) for name, v in inputs.items()]
        graph = helper.make_graph(self.nodes, "network", [helper.make_tensor_value_info(n, t, s) for n, s, t in values],
                                  [onnx.ValueInfoProto(name=n) for n in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)

    # ---- Layers ----

    def conv(self, x, channels, outputs, kernel, stride=1, groups=1, gain=1.4):
        w = self.weights(outputs, channels // groups, kernel, kernel, inputs=channels // groups * kernel**2) * np.float32(gain)
        bias = (self.random.standard_normal(outputs) * 0.1).astype(np.float32)
        return self.node("Conv", x, self.constant(w), self.constant(bias), kernel_shape=[kernel, kernel], group=groups,
                         strides=[stride, stride], pads=[kernel // 2] * 4)

    def dense(self, x, inputs, outputs, int4=False):
        """x [.., inputs] by a matrix; with int4 its weights lie in blocks of 128 inputs with a scale each."""
        if not int4:
            return self.node("MatMul", x, self.constant(self.weights(inputs, outputs, inputs=inputs)))
        codes = self.random.integers(-8, 8, inputs * outputs)
        packed = ((codes[0::2] & 15) | (codes[1::2] & 15) << 4).astype(np.uint8)
        name = f"c{len(self.constants)}"
        self.constants.append(helper.make_tensor(name, TensorProto.INT4, (inputs, outputs), packed.tobytes(), raw=True))
        scales = self.random.uniform(0.15, 0.25, (inputs // BLOCK, outputs)).astype(np.float32) * np.float32(inputs**-0.5)
        real = self.node("DequantizeLinear", name, self.constant(scales), axis=0, block_size=BLOCK)
        return self.node("MatMul", x, real)

    def biased(self, x, outputs):
        return self.node("Add", x, self.constant((self.random.standard_normal(outputs) * 0.1).astype(np.float32)))

    def layer_norm(self, x, n):
        return self.node("LayerNormalization", x, self.constant(np.ones(n, np.float32)), self.constant(np.zeros(n, np.float32)))

    def rms_norm(self, x, n):
        mean = self.node("ReduceMean", self.node("Mul", x, x), self.longs(-1))
        root = self.node("Sqrt", self.node("Add", mean, self.constant(np.float32(1e-5))))
        return self.node("Mul", self.node("Div", x, root), self.constant(np.ones(n, np.float32)))

    def heads(self, x, tokens, heads, size):
        """[1, tokens, heads * size] as [1, heads, tokens, size]."""
        split = self.node("Reshape", x, self.longs(1, tokens, heads, size))
        return self.node("Transpose", split, perm=[0, 2, 1, 3])

    def joined(self, x, tokens, width):
        return self.node("Reshape", self.node("Transpose", x, perm=[0, 2, 1, 3]), self.longs(1, tokens, width))

    def attention(self, q, k, v, size):
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.node("Mul", scores, self.constant(np.float32(size**-0.5)))
        return self.node("MatMul", self.node("Softmax", scores, axis=-1), v)


# ---- Images ----


def classifier(b, x, channels):
    pooled = b.node("Flatten", b.node("GlobalAveragePool", x))
    w = b.weights(channels, 1000, inputs=channels)
    return b.node("Gemm", pooled, b.constant(w), b.constant(np.zeros(1000, np.float32)))


def resnet50(batch=1):
    b = Builder()
    x = b.node("Relu", b.conv("x", 3, 64, 7, 2))
    x, channels = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            stride = 2 if block == 0 and width > 64 else 1
            y = b.node("Relu", b.conv(x, channels, width, 1))
            y = b.node("Relu", b.conv(y, width, width, 3, stride))
            y = b.conv(y, width, 4 * width, 1, gain=0.5)
            if block == 0:
                x = b.conv(x, channels, 4 * width, 1, stride, gain=1)
            x, channels = b.node("Relu", b.node("Add", y, x)), 4 * width
    return b.model({"x": (batch, 3, 224, 224)}, [classifier(b, x, channels)])


def mobilenetv2():
    b = Builder()
    clip = lambda v: b.node("Clip", v, b.constant(np.float32(0)), b.constant(np.float32(6)))
    x, channels = clip(b.conv("x", 3, 32, 3, 2)), 32
    for factor, outputs, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            stride, wide = first if block == 0 else 1, channels * factor
            y = clip(b.conv(x, channels, wide, 1)) if factor > 1 else x
            y = clip(b.conv(y, wide, wide, 3, stride, groups=wide))
            y = b.conv(y, wide, outputs, 1, gain=1)
            x = b.node("Add", x, y) if stride == 1 and channels == outputs else y
            channels = outputs
    return b.model({"x": (1, 3, 224, 224)}, [classifier(b, clip(b.conv(x, channels, 1280, 1)), 1280)])


def unet():
    b = Builder()
    twice = lambda v, inputs, outputs: b.node("Relu", b.conv(b.node("Relu", b.conv(v, inputs, outputs, 3)), outputs, outputs, 3))
    x, inputs, kept = "x", 3, []
    for outputs in (32, 64, 128, 256):
        kept.append((twice(x, inputs, outputs), outputs))
        x, inputs = b.node("MaxPool", kept[-1][0], kernel_shape=[2, 2], strides=[2, 2]), outputs
    x, inputs = twice(x, inputs, 512), 512
    for other, outputs in reversed(kept):
        w = b.weights(inputs, outputs, 2, 2, inputs=inputs)
        x = b.node("ConvTranspose", x, b.constant(w), kernel_shape=[2, 2], strides=[2, 2])
        x, inputs = twice(b.node("Concat", other, x, axis=1), 2 * outputs, outputs), outputs
    return b.model({"x": (1, 3, 256, 256)}, [b.conv(x, inputs, 2, 1)])


# ---- Text ----


def bert(layers, int4=False, tokens=128, width=768, heads=12):
    b = Builder()
    x, size = b.layer_norm("x", width), width // heads
    for _ in range(layers):
        q, k, v = (b.heads(b.biased(b.dense(x, width, width, int4), width), tokens, heads, size) for _ in range(3))
        y = b.joined(b.attention(q, k, v, size), tokens, width)
        x = b.layer_norm(b.node("Add", x, b.biased(b.dense(y, width, width, int4), width)), width)
        y = b.node("Gelu", b.biased(b.dense(x, width, 4 * width, int4), 4 * width))
        x = b.layer_norm(b.node("Add", x, b.biased(b.dense(y, 4 * width, width, int4), width)), width)
    return b.model({"x": (1, tokens, width)}, [x])


def decoder_step(layers=4, past=512, width=2048, heads=32, shared=4, inner=5632):
    """One token after 512: keys and values are inputs, and heads share them; int4 weights. Without embedding and vocabulary."""
    b = Builder()
    x, size, inputs, outputs = "x", width // heads, {"x": (1, 1, width)}, []
    angles = past / 10000 ** (np.arange(size // 2) * 2 / size)
    cos, sin = (b.constant(np.tile(f(angles), 2).astype(np.float32)) for f in (np.cos, np.sin))

    def rotated(v):
        first, second = b.node("Split", v, outputs=2, axis=-1, num_outputs=2)
        turned = b.node("Concat", b.node("Neg", second), first, axis=-1)
        return b.node("Add", b.node("Mul", v, cos), b.node("Mul", turned, sin))

    def for_all_heads(v):
        wide = b.node("Expand", b.node("Unsqueeze", v, b.longs(2)), b.longs(1, shared, heads // shared, past + 1, size))
        return b.node("Reshape", wide, b.longs(1, heads, past + 1, size))

    for layer in range(layers):
        inputs |= {f"{name}{layer}": (1, shared, past, size) for name in "kv"}
        y = b.rms_norm(x, width)
        q = rotated(b.heads(b.dense(y, width, width, True), 1, heads, size))
        k, v = (b.heads(b.dense(y, width, shared * size, True), 1, shared, size) for _ in range(2))
        k, v = b.node("Concat", f"k{layer}", rotated(k), axis=2), b.node("Concat", f"v{layer}", v, axis=2)
        y = b.joined(b.attention(q, for_all_heads(k), for_all_heads(v), size), 1, width)
        x = b.node("Add", x, b.dense(y, width, width, True))
        y = b.rms_norm(x, width)
        gate, up = b.dense(y, width, inner, True), b.dense(y, width, inner, True)
        y = b.node("Mul", b.node("Mul", gate, b.node("Sigmoid", gate)), up)
        x = b.node("Add", x, b.dense(y, inner, width, True))
        outputs += [k, v]
    return b.model(inputs, [x, *outputs])
