#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the graphs of four well-known networks with random weights.

    networks.py FOLDER [SIZE]

makes resnet50, mobilenet_v2, bert_base and unet (.json and .safetensors, about 350 MB in all). The
layers are those of the papers, except two parts of BERT: the sum of its embeddings is the input,
and
there is no pooler. SIZE is the height and width of images, a multiple of 32, and the length of
BERT's sequence; the defaults are the usual sizes.
"""

import json
import random
import struct
import sys
from array import array
from pathlib import Path

PATTERN = 65537  # weights repeat this many random numbers; a prime, so that rows differ


class Network:
    """The nodes of a graph. Each method that adds one returns the name of its result."""

    def __init__(self, name, shape, dtype="float32"):
        self.name, self.nodes, self.constants, self.tensors = name, [], [], {}
        self.inputs = [{"name": "x", "dtype": dtype, "shape": shape}]
        self.random = random.Random(name)
        self.floats = [self.random.uniform(-1, 1) for _ in range(PATTERN)]
        self.bytes = self.random.randbytes(PATTERN)

    def add(self, op, inputs, **attrs):
        name = f"{op}_{len(self.nodes)}"
        ports = inputs if isinstance(inputs, dict) else {"x": inputs}
        self.nodes.append({"op": op, "name": name, "inputs": ports, "attrs": attrs})
        return name

    def constant(self, dtype, shape, pattern):
        name = f"c{len(self.constants)}"
        self.tensors[name] = (dtype, shape, pattern)
        self.constants.append({"name": name, "dtype": dtype, "shape": shape,
                               "file": f"{self.name}.safetensors", "tensor": name})
        return name

    def numbers(self, shape, middle=0.0, spread=1.0):
        pattern = array("f", (middle + spread * f for f in self.floats))
        return self.constant("float32", shape, pattern.tobytes())

    def weights(self, shape, fan_in):
        """Uniform weights with a variance that keeps the magnitude of activations under ReLU."""
        return self.numbers(shape, spread=(6 / fan_in) ** 0.5)

    def quantized_weights(self, shape, fan_in):
        """int8 weights, with a scale for each index of the first dim."""
        spread = (6 / fan_in) ** 0.5 / 127
        codes = self.constant("int8", shape, self.bytes)
        scale = self.numbers([shape[0]], middle=spread, spread=spread / 8)
        return self.add("Dequantize", {"x": codes, "scale": scale}, qtype="per_channel", axis=0,
                        dtype="float32")

    def quantized(self, x, scale=1 / 16):
        code = self.add("Quantize", x, scales=scale, dtype="int8")
        return self.add("Dequantize", code, scales=scale, dtype="float32")

    def write(self, folder, y):
        graph = {"format": "qdq/1", "name": self.name, "inputs": self.inputs,
                 "constants": self.constants, "nodes": self.nodes,
                 "outputs": [{"name": "y", "value": y}]}
        path = Path(folder) / f"{self.name}.json"
        path.write_text(json.dumps(graph))
        self.write_tensors(path.with_suffix(".safetensors"))
        return path

    def write_tensors(self, path):
        words, sizes = {"float32": "F32", "int8": "I8"}, {"float32": 4, "int8": 1}
        header, end = {}, 0
        for name, (dtype, shape, _) in self.tensors.items():
            begin, end = end, end + count(shape) * sizes[dtype]
            header[name] = {"dtype": words[dtype], "shape": shape, "data_offsets": [begin, end]}
        text = json.dumps(header).encode()
        with open(path, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text)
            for name, (_, _, pattern) in self.tensors.items():
                begin, end = header[name]["data_offsets"]
                for at in range(begin, end, len(pattern)):
                    out.write(pattern[:end - at])


def count(shape):
    elements = 1
    for dim in shape:
        elements *= dim
    return elements


def convolution(net, x, weights, kernel, stride=1, groups=1, bias=None):
    half = [kernel // 2] * 2
    ports = {"x": x, "weights": weights, **({"bias": bias} if bias else {})}
    return net.add("Convolution", ports, strides=[stride] * 2, dilations=[1, 1], pads_begin=half,
                   pads_end=half, groups=groups, data_format="NCX", weights_format="OIX")


def classify(net, x, channels, weights):
    """The mean of each channel, then scores for 1000 classes."""
    mean = net.add("ReduceMean", x, axes=[2, 3], keep_dims=False)
    matrix = weights([1000, channels], channels)
    scores = net.add("MatMul", {"a": mean, "b": matrix, "bias": net.numbers([1000])},
                     transpose_b=True)
    return net.add("SoftMax", scores, axis=-1)


# ---- ResNet-50 -----------------------------------------------------------------------------------


def resnet50(folder, size=224):
    """He et al., Deep Residual Learning for Image Recognition (2015), table 1. All convolutions are
    quantized, batch normalization is folded into their biases."""
    net = Network("resnet50", [1, 3, size, size])

    def conv(x, channels, into, kernel, stride=1):
        fan_in = channels * kernel**2
        weights = net.quantized_weights([into, channels, kernel, kernel], fan_in)
        bias = net.numbers([into], spread=0.1)
        return convolution(net, net.quantized(x), weights, kernel, stride, bias=bias)

    x = net.add("ReLU", conv("x", 3, 64, 7, 2))
    x = net.add("MaxPool", x, strides=[2, 2], kernel=[3, 3], pads_begin=[1, 1], pads_end=[1, 1],
                data_format="NCX")
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = net.add("ReLU", conv(x, channels, width, 1))
            y = net.add("ReLU", conv(y, width, width, 3, stride))
            y = conv(y, width, 4 * width, 1)
            if not block:
                x = conv(x, channels, 4 * width, 1, stride)
            x = net.add("ReLU", net.add("Add", {"a": net.quantized(x), "b": net.quantized(y)}))
            channels = 4 * width
    return net.write(folder, classify(net, x, channels, net.quantized_weights))


# ---- MobileNetV2 ---------------------------------------------------------------------------------


def mobilenet_v2(folder, size=224):
    """Sandler et al., MobileNetV2 (2018), table 2. float32, with batch normalization."""
    net = Network("mobilenet_v2", [1, 3, size, size])

    def conv(x, channels, into, kernel, stride=1, groups=1, relu=True):
        fan_in = channels // groups * kernel**2
        x = convolution(net, x, net.weights([into, channels // groups, kernel, kernel], fan_in),
                        kernel, stride, groups)
        ports = {"x": x, "gamma": net.numbers([into], 1, 0.2), "beta": net.numbers([into], 0, 0.1),
                 "mean": net.numbers([into], 0, 0.1), "variance": net.numbers([into], 1, 0.2)}
        x = net.add("BatchNormInference", ports, epsilon=1e-5, data_format="NCX")
        return net.add("Clamp", x, min=0, max=6) if relu else x

    x, channels = conv("x", 3, 32, 3, 2), 32
    for expand, into, blocks, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                               (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                               (6, 320, 1, 1)):
        for block in range(blocks):
            stride, width = 1 if block else first_stride, channels * expand
            y = conv(x, channels, width, 1) if expand > 1 else x
            y = conv(y, width, width, 3, stride, groups=width)
            y = conv(y, width, into, 1, relu=False)
            x = net.add("Add", {"a": x, "b": y}) if block else y
            channels = into
    return net.write(folder, classify(net, conv(x, channels, 1280, 1), 1280, net.weights))


# ---- BERT-base -----------------------------------------------------------------------------------


def bert_base(folder, size=128):
    """Devlin et al., BERT (2018): 12 layers, width 768, 12 heads, 3072 hidden. int8 weights, and
    int8 activations as their inputs."""
    model, heads, inside = 768, 12, 3072
    net = Network("bert_base", [1, size, model])

    def dense(x, width, into):
        ports = {"a": net.quantized(x), "b": net.quantized_weights([into, width], 2 * width),
                 "bias": net.numbers([into], spread=0.1)}
        return net.add("MatMul", ports, transpose_b=True)

    def norm(x):
        return net.add("LayerNorm", {"x": x, "gamma": net.numbers([model], 1, 0.2),
                                     "beta": net.numbers([model], 0, 0.1)}, keep_stats=False)

    def reshape(x, shape):
        return net.add("StaticReshape", x, shape=shape, special_zero=False)

    def by_head(x):
        x = reshape(dense(x, model, model), [1, size, heads, model // heads])
        return net.add("StaticTranspose", x, order=[0, 2, 1, 3])

    x = norm("x")
    for _ in range(12):
        query, key, value = by_head(x), by_head(x), by_head(x)
        scores = net.add("MatMul", {"a": query, "b": key}, transpose_b=True)
        scores = net.add("Multiply", {"a": scores, "b": net.numbers([1], 0.125, 0)})
        y = net.add("MatMul", {"a": net.add("SoftMax", scores, axis=-1), "b": value})
        y = reshape(net.add("StaticTranspose", y, order=[0, 2, 1, 3]), [1, size, model])
        x = norm(net.add("Add", {"a": x, "b": dense(y, model, model)}))
        y = dense(net.add("GELU", dense(x, model, inside)), inside, model)
        x = norm(net.add("Add", {"a": x, "b": y}))
    return net.write(folder, x)


# ---- U-Net ---------------------------------------------------------------------------------------


def unet(folder, size=512):
    """Ronneberger et al., U-Net (2015), figure 1, with padding that keeps sizes. float32."""
    net = Network("unet", [1, 1, size, size])

    def twice(x, channels, into):
        for of in (channels, into):
            weights = net.weights([into, of, 3, 3], 9 * of)
            bias = net.numbers([into], spread=0.1)
            x = net.add("ReLU", convolution(net, x, weights, 3, bias=bias))
        return x

    def up(x, channels):
        weights = net.weights([channels, channels // 2, 2, 2], channels)
        return net.add("ConvTranspose", {"x": x, "weights": weights}, strides=[2, 2],
                       dilations=[1, 1], data_format="NCX", weights_format="IOX")

    x, channels, kept = twice("x", 1, 64), 64, []
    for _ in range(4):
        kept.append(x)
        x = net.add("MaxPool", x, strides=[2, 2], kernel=[2, 2], data_format="NCX")
        x, channels = twice(x, channels, 2 * channels), 2 * channels
    for skipped in reversed(kept):
        x = net.add("Concat", {"xs": [skipped, up(x, channels)]}, axis=1)
        x, channels = twice(x, channels, channels // 2), channels // 2
    return net.write(folder, convolution(net, x, net.weights([2, 64, 1, 1], 64), 1))


NETWORKS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "bert_base": bert_base,
            "unet": unet}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    for make in NETWORKS.values():
        print(make(sys.argv[1], *map(int, sys.argv[2:])))


if __name__ == "__main__":
    main()
