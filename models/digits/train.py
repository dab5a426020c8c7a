# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network on scikit-learn's digits and writes it as qdq/1 graphs.

    python3 -m venv venv && venv/bin/pip install numpy scikit-learn safetensors ml_dtypes
    venv/bin/python models/digits/train.py [--rewrite]

Takes a minute; --rewrite skips the training and uses the weights of float32.safetensors.

Writes into its own folder: float32.json, int8.json, int4.json and float8.json with their weights,
and held_out.safetensors (360 images `x` that are not trained on, and their `labels`). Everything is
seeded, but another numpy may round differently and train another network, so the files are kept.
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import load_file, save_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from folder import node, render, shortest

EPOCHS, BATCH, RATE = 60, 32, 2e-3
HELD_OUT = 360


# ---- The network: two convolutions with pooling, one layer of weights ---------------------------


def patches(x):
    """[N, C, H, W] to [N, H, W, C * 9]: the elements of each 3x3 window, with a border of zeros."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    views = [padded[:, :, i:i + h, j:j + w] for i in range(3) for j in range(3)]
    return np.stack(views, axis=2).transpose(0, 3, 4, 1, 2).reshape(n, h, w, c * 9)


def pool(x):
    """The maximum of each 2x2 window, and its position."""
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
    blocks = blocks.reshape(n, c, h // 2, w // 2, 4)
    return blocks.max(axis=4), blocks.argmax(axis=4)


def unpool(dy, where):
    n, c, h, w = dy.shape
    blocks = np.zeros((n, c, h, w, 4), np.float32)
    np.put_along_axis(blocks, where[..., None], dy[..., None], axis=4)
    return blocks.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 2 * h, 2 * w)


def convolve(x, weights, bias):
    seen = patches(x)
    y = seen @ weights.reshape(len(weights), -1).T + bias
    return y.transpose(0, 3, 1, 2), seen


def forward(p, x):
    """The scores of the ten digits, and all intermediate values."""
    steps = {"x": x}
    a, steps["seen1"] = convolve(x, p["conv1.weights"], p["conv1.bias"])
    steps["relu1"] = np.maximum(a, 0)
    steps["pool1"], steps["where1"] = pool(steps["relu1"])
    a, steps["seen2"] = convolve(steps["pool1"], p["conv2.weights"], p["conv2.bias"])
    steps["relu2"] = np.maximum(a, 0)
    steps["pool2"], steps["where2"] = pool(steps["relu2"])
    steps["flat"] = steps["pool2"].reshape(len(x), -1)
    steps["scores"] = steps["flat"] @ p["dense.weights"] + p["dense.bias"]
    return steps


def gradients(p, x, labels):
    s = forward(p, x)
    e = np.exp(s["scores"] - s["scores"].max(axis=1, keepdims=True))
    d = e / e.sum(axis=1, keepdims=True)
    d[np.arange(len(labels)), labels] -= 1
    d /= len(labels)
    g = {"dense.weights": s["flat"].T @ d, "dense.bias": d.sum(axis=0)}
    d = (d @ p["dense.weights"].T).reshape(s["pool2"].shape)
    d = unpool(d, s["where2"]) * (s["relu2"] > 0)
    flat = d.transpose(0, 2, 3, 1).reshape(-1, d.shape[1])
    g["conv2.bias"] = flat.sum(axis=0)
    g["conv2.weights"] = (flat.T @ s["seen2"].reshape(len(flat), -1)).reshape(
        p["conv2.weights"].shape)
    # The gradient of a convolution is a convolution with the flipped kernel.
    turned = p["conv2.weights"][:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    d, _ = convolve(d, np.ascontiguousarray(turned), np.zeros(turned.shape[0], np.float32))
    d = unpool(d, s["where1"]) * (s["relu1"] > 0)
    flat = d.transpose(0, 2, 3, 1).reshape(-1, d.shape[1])
    g["conv1.bias"] = flat.sum(axis=0)
    g["conv1.weights"] = (flat.T @ s["seen1"].reshape(len(flat), -1)).reshape(
        p["conv1.weights"].shape)
    return g


def start(random):
    def normal(*shape, fan_in):
        return (random.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)

    return {
        "conv1.weights": normal(16, 1, 3, 3, fan_in=9 * 64),  # pixels are 0 to 16
        "conv1.bias": np.zeros(16, np.float32),
        "conv2.weights": normal(32, 16, 3, 3, fan_in=144),
        "conv2.bias": np.zeros(32, np.float32),
        "dense.weights": normal(128, 10, fan_in=128),
        "dense.bias": np.zeros(10, np.float32),
    }


def moved(x, random):
    """Images shifted by up to a pixel in each direction, so that no two are the same."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    down, right = random.integers(0, 3, (2, len(x)))
    return np.stack([p[:, i:i + 8, j:j + 8] for p, i, j in zip(padded, down, right)])


def train(x, labels):
    """Adam, with a learning rate that falls to zero."""
    random = np.random.default_rng(7)
    p = start(random)
    mean = {k: np.zeros_like(v) for k, v in p.items()}
    square = {k: np.zeros_like(v) for k, v in p.items()}
    steps = EPOCHS * (len(x) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(x))
        for at in range(0, len(x) - BATCH + 1, BATCH):
            chosen = order[at:at + BATCH]
            step += 1
            rate = RATE * (1 - (step - 1) / steps)
            for k, g in gradients(p, moved(x[chosen], random), labels[chosen]).items():
                g = g + 1e-4 * p[k]
                mean[k] = 0.9 * mean[k] + 0.1 * g
                square[k] = 0.999 * square[k] + 0.001 * g * g
                m, v = mean[k] / (1 - 0.9**step), square[k] / (1 - 0.999**step)
                p[k] = (p[k] - rate * m / (np.sqrt(v) + 1e-8)).astype(np.float32)
    return p


# ---- qdq/1 files --------------------------------------------------------------------------------


class Graph:
    """A graph file: constants, nodes in order, and the latest value."""

    def __init__(self, name, about):
        self.name, self.about = name, about
        self.nodes, self.constants, self.tensors = [], [], {}

    def constant(self, name, dtype, array):
        stored = np.ascontiguousarray(array)
        self.tensors[name] = stored
        self.constants.append({"name": name, "dtype": dtype, "shape": list(array.shape),
                               "file": f"{self.name}.safetensors", "tensor": name})
        return name

    def node(self, op, name, inputs, **attrs):
        self.nodes.append(node(op, name, inputs, **attrs))
        return name

    def write(self, x, y):
        graph = {
            "format": "qdq/1",
            "name": f"digits_{self.name}",
            "x-about": f"Convolutional network on images of digits: {self.about}.",
            "inputs": [{"name": "x", "dtype": "float32", "shape": list(x.shape)}],
            "constants": self.constants,
            "nodes": self.nodes,
            "outputs": [{"name": "scores", "value": y}],
        }
        save_file(self.tensors, HERE / f"{self.name}.safetensors")
        (HERE / f"{self.name}.safetensors").chmod(0o644)
        (HERE / f"{self.name}.json").write_text(render(graph) + "\n")


CONVOLUTION = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1],
               "data_format": "NCX", "weights_format": "OIX"}
POOL = {"kernel": [2, 2], "strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0],
        "data_format": "NCX"}


def build(name, about, p, x, weights, activation):
    """Builds the network; `weights` and `activation` add a weight and an activation to the
    graph."""
    g = Graph(name, about)
    v = activation(g, "x", "x")
    for k in ("1", "2"):
        w = weights(g, f"conv{k}.weights")
        bias = g.constant(f"conv{k}.bias", "float32", p[f"conv{k}.bias"])
        v = g.node("Convolution", f"conv{k}", {"x": v, "weights": w, "bias": bias}, **CONVOLUTION)
        v = g.node("ReLU", f"relu{k}", {"x": v})
        v = activation(g, v, f"relu{k}")
        v = g.node("MaxPool", f"pool{k}", {"x": v}, **POOL)
    v = g.node("StaticReshape", "flat", {"x": v}, shape=[-1, 128], special_zero=False)
    w = weights(g, "dense.weights")
    bias = g.constant("dense.bias", "float32", p["dense.bias"])
    v = g.node("MatMul", "dense", {"a": v, "b": w, "bias": bias})
    g.write(x, v)


def write_float32(p, x):
    build("float32", "float32 throughout", p, x, lambda g, w: g.constant(w, "float32", p[w]),
          lambda g, v, _: v)


def write_int8(p, x, ranges):
    """Weights per output channel, activations per tensor as uint8, since none is negative."""

    def weights(g, w):
        axis = 1 if w == "dense.weights" else 0
        others = tuple(i for i in range(p[w].ndim) if i != axis)
        scales = (np.abs(p[w]).max(axis=others) / np.float32(127)).astype(np.float32)
        shape = [-1 if i == axis else 1 for i in range(p[w].ndim)]
        codes = np.rint(p[w] / scales.reshape(shape)).clip(-127, 127).astype(np.int8)
        g.constant(w, "int8", codes)
        return g.node("Dequantize", w + ".real", {"x": w}, qtype="per_channel", axis=axis,
                      scales=shortest(scales), dtype="float32")

    def activation(g, v, what):
        scale = shortest(np.float32(ranges[what]) / np.float32(255))
        v = g.node("Quantize", what + ".code", {"x": v}, scales=scale, dtype="uint8")
        return g.node("Dequantize", what + ".real", {"x": v}, scales=scale, dtype="float32")

    build("int8", "int8 weights per channel, uint8 activations", p, x, weights, activation)


def write_int4(p, x):
    """Weights only, in groups that share a scale: 8 input channels, or 32 inputs."""

    def weights(g, w):
        group = {"conv1.weights": (1, 1, 3, 3), "conv2.weights": (1, 8, 3, 3),
                 "dense.weights": (32, 1)}[w]
        grid = [d // s for d, s in zip(p[w].shape, group)]
        split = [n for pair in zip(grid, group) for n in pair]
        inner = tuple(range(1, 2 * len(group), 2))
        blocks = p[w].reshape(split)
        scales = (np.abs(blocks).max(axis=inner, keepdims=True) / np.float32(7)).astype(np.float32)
        codes = np.rint(blocks / scales).clip(-7, 7).astype(np.int8).reshape(p[w].shape)
        g.constant(w, "int4", codes)
        scale = g.constant(w + ".scale", "float32", scales.reshape(grid))
        return g.node("Dequantize", w + ".real", {"x": w, "scale": scale}, qtype="per_group",
                      group_shape=list(group), dtype="float32")

    build("int4", "int4 weights in groups", p, x, weights, lambda g, v, _: v)


def write_float8(p, x, ranges):
    """float8_e4m3fn everywhere, with a scale per tensor."""
    largest = np.float32(448)

    def weights(g, w):
        scale = shortest(np.abs(p[w]).max() / largest)
        codes = (p[w] / np.float32(scale)).clip(-largest, largest).astype(ml_dtypes.float8_e4m3fn)
        g.constant(w, "float8_e4m3fn", codes)
        return g.node("Dequantize", w + ".real", {"x": w}, scales=scale, dtype="float32")

    def activation(g, v, what):
        scale = shortest(np.float32(ranges[what]) / largest)
        v = g.node("Quantize", what + ".code", {"x": v}, scales=scale, dtype="float8_e4m3fn")
        return g.node("Dequantize", what + ".real", {"x": v}, scales=scale, dtype="float32")

    build("float8", "float8_e4m3fn weights and activations", p, x, weights, activation)


def main():
    digits = load_digits()
    images = digits.images.astype(np.float32)[:, None]
    x, held_out, labels, wanted = train_test_split(images, digits.target, test_size=HELD_OUT,
                                                   random_state=1, stratify=digits.target)
    if "--rewrite" in sys.argv[1:]:
        p = load_file(HERE / "float32.safetensors")
    else:
        p = train(x, labels)
    ranges = {k: np.abs(v).max() for k, v in forward(p, x).items()}
    print("float32, by numpy:", (forward(p, held_out)["scores"].argmax(axis=1) == wanted).mean())
    write_float32(p, held_out)
    write_int8(p, held_out, ranges)
    write_int4(p, held_out)
    write_float8(p, held_out, ranges)
    save_file({"x": np.ascontiguousarray(held_out), "labels": wanted.astype(np.uint8)},
              HERE / "held_out.safetensors")
    (HERE / "held_out.safetensors").chmod(0o644)


if __name__ == "__main__":
    main()
