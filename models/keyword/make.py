# SPDX-License-Identifier: Apache-2.0
"""Makes models/keyword: a small int8 network for keywords as TensorFlow Lite's converter writes them, with seeded weights.

    PYTHONPATH=tests/cli python3 models/keyword/make.py

Scales are powers of two and bias is odd, so that sums often lie halfway between two codes, and 12 channels end outside of
blocks of 8: there the engines of TensorFlow Lite differ. models/keyword/README.md says where the results come from."""

from pathlib import Path

import numpy as np
from tflite_file import Op, Tensor, f32, i8, i32, model

HERE = Path(__file__).parent
FRAMES, FEATURES, CHANNELS, WORDS = 16, 10, 12, 4
SAME, RELU = 0, 1


class Network:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.tensors, self.ops = [], []

    def codes(self, name, shape, scale, zero_point=-128):
        self.tensors.append(Tensor(name, "int8", shape, scale=scale, zero_point=zero_point))
        return name

    def weights(self, name, shape, axis, scale):
        channels = shape[axis]
        data = self.random.integers(-127, 128, size=shape)
        scales = [scale * 2.0 ** -(c % 3) for c in range(channels)]
        self.tensors.append(Tensor(name, "int8", shape, data.ravel().tolist(), scales, [0] * channels, axis))
        return name, scales

    def bias(self, name, scales):
        data = self.random.integers(-2000, 2000, size=len(scales)) | 1
        self.tensors.append(Tensor(name, "int32", [len(scales)], data.tolist(), scales, [0] * len(scales)))
        return name

    def product(self, op, x, x_scale, y, shape, axis, options):
        weights, scales = self.weights(f"{y}/weights", shape, axis, 2.0 ** -8)
        bias = self.bias(f"{y}/bias", [x_scale * s for s in scales])
        self.ops.append(Op(op, [x, weights, bias], [y], options))


def make():
    n = Network(20261130)
    n.codes("features", [1, FRAMES, FEATURES, 1], 0.0625, -128)
    image = [1, FRAMES // 2, FEATURES // 2, CHANNELS]
    n.codes("first", image, 0.125)
    n.product("CONV_2D", "features", 0.0625, "first", [CHANNELS, 3, 3, 1], 0, {0: i8(SAME), 1: i32(2), 2: i32(2), 3: i8(RELU)})
    n.codes("depthwise", image, 0.25)
    n.product("DEPTHWISE_CONV_2D", "first", 0.125, "depthwise", [1, 3, 3, CHANNELS], 3,
              {0: i8(SAME), 1: i32(1), 2: i32(1), 3: i32(1), 4: i8(RELU)})
    n.codes("pointwise", image, 0.25, 5)
    n.product("CONV_2D", "depthwise", 0.25, "pointwise", [CHANNELS, 1, 1, CHANNELS], 0, {0: i8(SAME), 1: i32(1), 2: i32(1)})
    n.codes("sum", image, 0.375)
    n.ops.append(Op("ADD", ["pointwise", "depthwise"], ["sum"], {0: i8(RELU)}))
    n.codes("mean", [1, CHANNELS], 0.1875)
    n.tensors.append(Tensor("axes", "int32", [2], [1, 2]))
    n.ops.append(Op("MEAN", ["sum", "axes"], ["mean"], {0: i8(0)}))
    n.codes("logits", [1, WORDS], 0.0625, -11)
    n.product("FULLY_CONNECTED", "mean", 0.1875, "logits", [WORDS, CHANNELS], 0, {})
    n.codes("words", [1, WORDS], 1 / 256, -128)
    n.ops.append(Op("SOFTMAX", ["logits"], ["words"], {0: f32(1.0)}))
    return model(n.tensors, n.ops, ["features"], ["words", "sum"])


if __name__ == "__main__":
    (HERE / "keyword.tflite").write_bytes(make())
