# SPDX-License-Identifier: Apache-2.0
"""Makes a network that reads digits and is hard to quantize, as ONNX models with an open batch, and images to calibrate it.

    python3 models/digits_uneven/make.py

Needs numpy and onnx, and takes seconds. Writes model.onnx; float_bias.onnx, whose convolutions are quantized, but not their
biases; and calibration.safetensors. The convolutions have the weights of models/digits. The two layers behind them are
trained here to agree with models/digits on the images of models/digits_pixels that models/digits/held_out.safetensors lacks.
Then three places become uneven, which changes the results by roundings only:

* conv1 gives channel 6 with 60 times its size, and conv2 reads it with 1/60 of its weights;
* channel 9 of conv2 is constant: its weights are tiny, and its bias is 12;
* the normalization of the hidden layer moves unit 4 by 400, and the scores' bias takes this back.

Everything is seeded, but another numpy may round differently and train another network, so the files are kept.
"""

import json
import struct
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = Path(__file__).resolve().parent
DIGITS = HERE.parent / "digits"
F32 = np.float32
HIDDEN, CALIBRATION, EPOCHS, BATCH, RATE = 32, 64, 40, 32, 3e-3
UNEVEN, CONSTANT, OUTLIER = 6, 9, 4


# ---- Files ------------------------------------------------------------------


def read_tensors(path):
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, one in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = one["data_offsets"]
        array = np.frombuffer(data[start + begin : start + end], {"F32": "<f4", "BF16": "<u2", "U8": "u1"}[one["dtype"]])
        if one["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(F32)
        found[name] = array.reshape(one["shape"])
    return found


def write_images(path, x):
    raw = np.ascontiguousarray(x, "<f4").tobytes()
    text = json.dumps({"x": {"dtype": "F32", "shape": list(x.shape), "data_offsets": [0, len(raw)]}}).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + raw)


def seen_images():
    """Returns the images that are not held out, in the order of the data set."""
    pixels = read_tensors(HERE.parent / "digits_pixels" / "inputs.safetensors")["images"].astype(F32)
    held = {one.tobytes() for one in read_tensors(DIGITS / "held_out.safetensors")["x"]}
    return np.stack([one.reshape(1, 8, 8) for one in pixels if one.tobytes() not in held])


# ---- Training ---------------------------------------------------------------


def convolve(x, weights, bias):
    """Convolves with a border of zeros, clips at 0, and takes the greatest of each 2x2 window."""
    n, _, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = sum(np.einsum("nchw,oc->nohw", padded[:, :, i : i + h, j : j + w], weights[:, :, i, j]) for i in range(3) for j in range(3))
    y = np.maximum(y + bias[:, None, None], 0)
    return y.reshape(n, -1, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def features(p, x):
    x = convolve(x, p["conv1.weights"], p["conv1.bias"])
    return convolve(x, p["conv2.weights"], p["conv2.bias"]).reshape(len(x), -1)


def swish(a):
    return a * np.clip(a / 6 + 0.5, 0, 1)


def swish_slope(a):
    return np.where(a <= -3, 0, np.where(a >= 3, 1, a / 3 + 0.5))


def train(x, labels):
    """Trains hidden and output layer by Adam, with a learning rate that falls to zero."""
    random = np.random.default_rng(5)
    p = [random.normal(0, (2 / x.shape[1]) ** 0.5, (x.shape[1], HIDDEN)) / x.std(), np.zeros(HIDDEN),
         random.normal(0, (1 / HIDDEN) ** 0.5, (HIDDEN, 10)), np.zeros(10)]  # fmt: skip
    mean, square = [0 * one for one in p], [0 * one for one in p]
    steps, step = EPOCHS * (len(x) // BATCH), 0
    for _ in range(EPOCHS):
        order = random.permutation(len(x))
        for at in range(0, len(x) - BATCH + 1, BATCH):
            chosen, step = order[at : at + BATCH], step + 1
            f = x[chosen]
            a = f @ p[0] + p[1]
            h = swish(a)
            scores = h @ p[2] + p[3]
            d = np.exp(scores - scores.max(axis=1, keepdims=True))
            d /= d.sum(axis=1, keepdims=True)
            d[np.arange(BATCH), labels[chosen]] -= 1
            d /= BATCH
            da = (d @ p[2].T) * swish_slope(a)
            slopes = [f.T @ da, da.sum(axis=0), h.T @ d, d.sum(axis=0)]
            for i, g in enumerate(slopes):
                g = g + 1e-3 * p[i]
                mean[i] = 0.9 * mean[i] + 0.1 * g
                square[i] = 0.999 * square[i] + 0.001 * g * g
                p[i] = p[i] - RATE * (1 - step / steps) * (mean[i] / (1 - 0.9**step)) / (
                    np.sqrt(square[i] / (1 - 0.999**step)) + 1e-8)  # fmt: skip
    return p


# ---- Making it uneven -------------------------------------------------------


def uneven(p, x, labels):
    """Returns the parameters of the model by name."""
    made = dict(p)
    for name in ("conv1.weights", "conv1.bias", "conv2.weights", "conv2.bias"):
        made[name] = p[name].copy()
    made["conv2.weights"][CONSTANT] = F32(1e-9) * np.sign(p["conv2.weights"][CONSTANT])
    made["conv2.bias"][CONSTANT] = 12
    w1, b1, w2, b2 = train(features(made, x), labels)
    made["conv1.weights"][UNEVEN] *= 60
    made["conv1.bias"][UNEVEN] *= 60
    made["conv2.weights"][:, UNEVEN] /= 60
    h = swish(features(made, x) @ w1 + b1)
    mean, deviation = h.mean(axis=0), h.std(axis=0) + 1e-3
    gamma, beta = np.ones(HIDDEN), np.zeros(HIDDEN)
    beta[OUTLIER] = 400
    w2 = deviation[:, None] * w2
    b2 = b2 + (mean / deviation - beta) @ w2
    names = ("hidden.weights", "hidden.bias", "norm.gamma", "norm.beta", "norm.mean", "norm.var", "scores.weights", "scores.bias")
    for name, array in zip(names, (w1, b1, gamma, beta, mean, deviation**2, w2, b2)):
        made[name] = array.astype(F32)
    return made


# ---- The models -------------------------------------------------------------


class Nodes:
    """Nodes and initializers of a model. quantizes: the convolutions read and give codes."""

    def __init__(self, p, ranges=None):
        self.nodes, self.kept, self.p, self.ranges = [], {}, p, ranges

    def add(self, op, inputs, output, name=None, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=name or output, **attributes))
        return output

    def parameter(self, name, array):
        self.kept[name] = array
        return name

    def coded(self, x, range_of):
        """Adds a QuantizeLinear to uint8 and a DequantizeLinear behind a value that is never negative."""
        if self.ranges is None:
            return x
        made = [self.parameter(f"{x}_scale", F32(self.ranges[range_of] / 255)), self.parameter(f"{x}_zero", np.uint8(0))]
        self.add("QuantizeLinear", [x, *made], f"{x}_quantized")
        return self.add("DequantizeLinear", [f"{x}_quantized", *made], f"{x}_dequantized")

    def weights(self, name):
        """Adds weights: in float, or as int8 codes with a scale for each output channel."""
        w = self.p[name]
        if self.ranges is None:
            return self.parameter(name, w)
        scales = (np.abs(w).max(axis=(1, 2, 3)) / F32(127)).astype(F32)
        codes = np.rint(w / scales[:, None, None, None]).astype(np.int8)
        made = [self.parameter(f"{name}_quantized", codes), self.parameter(f"{name}_scale", scales),
                self.parameter(f"{name}_zero", np.zeros(len(w), np.int8))]  # fmt: skip
        return self.add("DequantizeLinear", made, f"{name}_dequantized", axis=0)

    def convolution(self, x, k):
        inputs = [x, self.weights(f"conv{k}.weights"), self.parameter(f"conv{k}.bias", self.p[f"conv{k}.bias"])]
        y = self.add("Conv", inputs, f"conv{k}_out", f"conv{k}", pads=[1, 1, 1, 1])
        y = self.coded(self.add("Relu", [y], f"relu{k}"), f"relu{k}")
        return self.coded(self.add("MaxPool", [y], f"pool{k}", kernel_shape=[2, 2], strides=[2, 2]), f"relu{k}")

    def product(self, x, name, output):
        inputs = [x, *(self.parameter(f"{name}.{one}", self.p[f"{name}.{one}"]) for one in ("weights", "bias"))]
        return self.add("Gemm", inputs, output, name)


def model(p, ranges=None):
    n = Nodes(p, ranges)
    y = n.convolution(n.convolution(n.coded("x", "x"), 1), 2)
    y = n.product(n.add("Flatten", [y], "flat"), "hidden", "hidden_out")
    y = n.add("HardSwish", [y], "hidden_act")
    parameters = [n.parameter(f"norm.{one}", p[f"norm.{one}"]) for one in ("gamma", "beta", "mean", "var")]
    n.product(n.add("BatchNormalization", [y, *parameters], "hidden_norm", "norm"), "scores", "scores")
    kept = [numpy_helper.from_array(np.asarray(array), name) for name, array in n.kept.items()]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 1, 8, 8])
    scores = helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["batch", 10])
    graph = helper.make_graph(n.nodes, "digits_uneven", [x], [scores], kept)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="qdq")
    onnx.checker.check_model(made, full_check=True)
    return made


def ranges_of(p, x):
    """Returns the greatest number of each quantized value; none is negative."""
    first = convolve(x, p["conv1.weights"], p["conv1.bias"])
    return {"x": x.max(), "relu1": first.max(), "relu2": convolve(first, p["conv2.weights"], p["conv2.bias"]).max()}


def main():
    p = {name: array.astype(F32) for name, array in read_tensors(DIGITS / "float32.safetensors").items()}
    x = seen_images()
    labels = (features(p, x) @ p["dense.weights"] + p["dense.bias"]).argmax(axis=1)
    p = uneven({name: array for name, array in p.items() if not name.startswith("dense")}, x, labels)
    calibration = x[:: len(x) // CALIBRATION][:CALIBRATION]
    onnx.save(model(p), HERE / "model.onnx")
    onnx.save(model(p, ranges_of(p, calibration)), HERE / "float_bias.onnx")
    write_images(HERE / "calibration.safetensors", calibration)


if __name__ == "__main__":
    main()
