# SPDX-License-Identifier: Apache-2.0
"""Float networks of eight kinds, small and seeded, whose accuracy suffers from int8 for a known reason.

`network(kind, seed)` returns a model with an open batch `N` and samples that it decides among `CLASSES` classes. Samples are
prototypes of classes with noise, gain and shift. Hidden weights are random with heavy tails and channels of different norms;
the last product is fitted by ridge regression to the classes of samples of its own. The trouble of a kind does not change the
float function: a channel that is scaled up is scaled down behind it.
"""

import collections

import numpy as np
import onnx
import ort_session
from onnx import TensorProto, helper, numpy_helper

CLASSES = 10
COUNTS = {"fitting": 1536, "calibrating": 128, "held_out": 192}

# `samples` and their classes `labels`: arrays of COUNTS by name. `trouble`: what the kind is made for.
Network = collections.namedtuple("Network", "kind seed model samples labels trouble")


class Graph:
    """A graph that grows node by node; each method returns the name of a value."""

    def __init__(self, rng, shape):
        self.rng, self.shape, self.nodes, self.constants = rng, shape, [], {}

    def constant(self, name, array):
        array = np.asarray(array)
        self.constants[name] = array if array.dtype == np.int64 else array.astype(np.float32)
        return name

    def node(self, op, name, *inputs, **attrs):
        self.nodes.append(helper.make_node(op, list(inputs), [f"{name}_out"], name=name, **attrs))
        return f"{name}_out"

    def weights(self, shape, fan_in, axis):
        """Heavy tails, and norms of channels that differ."""
        w = self.rng.standard_t(5, shape) / np.sqrt(fan_in * 5 / 3) * np.sqrt(2)
        norms = np.exp(self.rng.normal(0, 0.35, shape[axis]))
        return w * norms.reshape([-1 if i == axis else 1 for i in range(len(shape))])

    def conv(self, name, x, inputs, outputs, size=3, group=1, stride=1):
        w = self.weights((outputs, inputs // group, size, size), inputs // group * size * size, 0)
        self.constant(f"{name}.w", w)
        self.constant(f"{name}.b", self.rng.normal(0, 0.2, outputs))
        return self.node("Conv", name, x, f"{name}.w", f"{name}.b", pads=[size // 2] * 4, group=group,
                         strides=[stride] * 2, kernel_shape=[size] * 2)

    def dense(self, name, x, inputs, outputs, gemm=False, bias=True):
        self.constant(f"{name}.w", self.weights((inputs, outputs), inputs, 1))
        if bias:
            self.constant(f"{name}.b", self.rng.normal(0, 0.2, outputs))
        if gemm:
            return self.node("Gemm", name, x, f"{name}.w", f"{name}.b")
        y = self.node("MatMul", name, x, f"{name}.w")
        return self.node("Add", f"{name}_bias", y, f"{name}.b") if bias else y

    def norm(self, name, x, dim):
        self.constant(f"{name}.gamma", np.exp(self.rng.normal(0, 0.3, dim)))
        self.constant(f"{name}.beta", self.rng.normal(0, 0.1, dim))
        return self.node("LayerNormalization", name, x, f"{name}.gamma", f"{name}.beta", axis=-1)

    def rescale(self, channel, factor, ups, downs):
        """Scales a channel up, and its readers down. `ups` and `downs` are (constant, axis)."""
        for name, axis, by in [(*one, factor) for one in ups] + [(*one, 1 / factor) for one in downs]:
            at = [slice(None)] * self.constants[name].ndim
            at[axis] = channel
            self.constants[name][tuple(at)] *= np.float32(by)

    def model(self, output, kind):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *self.shape])]
        rank = None if output.endswith("features") else ["N", CLASSES]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, rank)]
        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, kind, inputs, outputs, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


# ---- Kinds ------------------------------------------------------------------
# Each returns the value of features [N, F].


def pooled(g, x, op="GlobalAveragePool"):
    x = g.node(op, "pool", x, **({} if op.startswith("Global") else {"kernel_shape": [2, 2], "strides": [2, 2]}))
    return g.node("Flatten", "features", x, axis=1)


def convolutions(g):
    x = g.node("Relu", "relu1", g.conv("conv1", "x", 3, 12))
    x = g.node("MaxPool", "pool1", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.node("Relu", "relu2", g.conv("conv2", x, 12, 16))
    x = g.node("Relu", "relu3", g.conv("conv3", x, 16, 24))
    return x


def cnn(g):
    return pooled(g, convolutions(g), "MaxPool")


def scaled(g):
    x = convolutions(g)
    quiet = np.abs(g.constants["conv1.w"]).sum((1, 2, 3)).argmin()
    g.rescale(quiet, 60, [("conv1.w", 0), ("conv1.b", 0)], [("conv2.w", 1)])
    return pooled(g, x, "MaxPool")


def mlp(g):
    g.constant("flat", np.array([0, -1]))
    x = g.node("Reshape", "rows", "x", "flat")
    x = g.node("Relu", "relu1", g.dense("dense1", x, 64, 96, gemm=True))
    x = g.node("Relu", "relu2", g.dense("dense2", x, 96, 96, gemm=True))
    g.rescale(g.rng.integers(96), 50, [("dense1.w", 1), ("dense1.b", 0)], [("dense2.w", 0)])
    return x


def heads(g, name, x, order):
    x = g.node("Reshape", f"{name}_heads", x, "split")
    return g.node("Transpose", f"{name}_turned", x, perm=order)


def attention(g):
    g.constant("split", np.array([0, 8, 4, 8]))
    g.constant("joined", np.array([0, 8, 32]))
    g.constant("root", np.float32(8**-0.5))
    n = g.norm("norm1", "x", 32)
    q, k, v = (heads(g, name, g.dense(name, n, 32, 32), order)
               for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])))
    scores = g.node("Mul", "scaled", g.node("MatMul", "scores", q, k), "root")
    mixed = g.node("MatMul", "mixed", g.node("Softmax", "weights", scores, axis=-1), v)
    mixed = g.node("Reshape", "joined_heads", g.node("Transpose", "mixed_turned", mixed, perm=[0, 2, 1, 3]), "joined")
    x = g.node("Add", "residual1", g.dense("projected", mixed, 32, 32), "x")
    n = g.norm("norm2", x, 32)
    h = g.node("Relu", "relu", g.dense("up", n, 32, 64))
    x = g.node("Add", "residual2", g.dense("down", h, 64, 32), x)
    for norm, readers in (("norm1", ("query", "key", "value")), ("norm2", ("up",))):
        for channel in g.rng.choice(32, 2, replace=False):
            g.rescale(channel, 24, [(f"{norm}.gamma", 0), (f"{norm}.beta", 0)], [(f"{one}.w", 0) for one in readers])
    return g.node("ReduceMean", "features", x, axes=[1], keepdims=0)


def depthwise(g):
    x = g.node("Relu", "stem_relu", g.conv("stem", "x", 3, 16, stride=2))
    for i in (1, 2):
        h = g.node("Relu", f"deep{i}_relu", g.conv(f"deep{i}", x, 16, 16, group=16))
        h = g.conv(f"point{i}", h, 16, 16, size=1)
        for channel, factor in enumerate(np.exp2(g.rng.uniform(-2, 2, 16))):
            g.rescale(channel, factor, [(f"deep{i}.w", 0), (f"deep{i}.b", 0)], [(f"point{i}.w", 1)])
        x = g.node("Relu", f"sum{i}_relu", g.node("Add", f"sum{i}", h, x))
    return pooled(g, x, "AveragePool")


def bias(g):
    x = convolutions(g)
    for channel in g.rng.choice(16, 2, replace=False):  # dead channels: only their bias speaks
        g.constants["conv2.w"][channel] *= np.float32(4e-8)
        g.constants["conv2.b"][channel] = g.rng.uniform(1, 2)
    return pooled(g, x, "AveragePool")


def hswish(g):
    x = g.node("HardSwish", "stem_act", g.conv("stem", "x", 3, 12, stride=2))
    h = g.node("HardSwish", "expand_act", g.conv("expand", x, 12, 24, size=1))
    h = g.node("HardSwish", "deep_act", g.conv("deep", h, 24, 24, group=24))
    s = g.node("GlobalAveragePool", "squeeze", h)
    s = g.node("Relu", "reduce_act", g.conv("reduce", s, 24, 8, size=1))
    s = g.node("HardSigmoid", "gate", g.conv("excite", s, 8, 24, size=1), alpha=1 / 6, beta=0.5)
    h = g.conv("project", g.node("Mul", "gated", h, s), 24, 12, size=1)
    x = g.node("Add", "sum", h, x)
    x = g.node("HardSwish", "last_act", g.conv("last", x, 12, 24, size=1))
    return pooled(g, x, "AveragePool")


def recurrent(g):
    g.dense("into", "x", 12, 24, bias=False)
    g.nodes.pop()
    g.constant("state.w", g.weights((24, 24), 24, 1) * 0.6)
    g.constant("state.b", g.rng.normal(0, 0.2, 24))
    h = None
    for t in range(6):
        g.constant(f"t{t}", np.array(t))
        x = g.node("MatMul", f"into{t}", g.node("Gather", f"step{t}", "x", f"t{t}", axis=1), "into.w")
        x = g.node("Add", f"biased{t}", x, "state.b")
        if h:
            x = g.node("Add", f"sum{t}", x, g.node("MatMul", f"state{t}", h, "state.w"))
        h = g.node("Tanh", f"tanh{t}", x)
    return h


KINDS = {"cnn": (cnn, (3, 12, 12), "weights and activations of a plain network"),
         "scaled": (scaled, (3, 12, 12), "channel imbalance"),
         "mlp": (mlp, (8, 8), "channel imbalance"),
         "attention": (attention, (8, 32), "channel imbalance"),
         "depthwise": (depthwise, (3, 16, 16), "channel imbalance"),
         "bias": (bias, (3, 12, 12), "bias overflow"),
         "hswish": (hswish, (3, 16, 16), "ranges with two signs"),
         "recurrent": (recurrent, (6, 12), "noise that comes back")}


# ---- Samples and the last product -------------------------------------------


def smooth(rng, shape):
    """Noise with most of its power in low frequencies of the last two dims."""
    spectrum = np.fft.fft2(rng.normal(0, 1, shape))
    away = sum(np.minimum(k, n - k)**2.0 for k, n in zip(np.ogrid[:shape[-2], :shape[-1]], shape[-2:]))
    y = np.fft.ifft2(spectrum / (1 + away / 2)).real
    return y / y.std()


def draw(rng, prototypes, count):
    """Samples and their classes."""
    shape = prototypes.shape[1:]
    labels = rng.integers(0, CLASSES, count)
    gain = np.exp(rng.normal(0, 0.25, (count, *[1] * len(shape))))
    noise = np.stack([smooth(rng, shape) for _ in range(count)])
    x = (prototypes[labels] + 1.1 * noise + 0.3 * rng.normal(0, 1, (count, *shape))) * gain
    return x.astype(np.float32), labels


def network(kind, seed):
    grow, shape, trouble = KINDS[kind]
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    prototypes = np.stack([smooth(rng, shape) for _ in range(CLASSES)])
    drawn = {part: draw(rng, prototypes, count) for part, count in COUNTS.items()}
    g = Graph(rng, shape)
    features = grow(g)
    x, labels = drawn["fitting"]
    body = onnx.ModelProto()
    body.CopyFrom(g.model(features, kind))
    body.graph.output[0].CopyFrom(helper.make_empty_tensor_value_info(features))
    f = ort_session.run(body, {"x": x})[features].astype(np.float64)
    ones = np.hstack([f, np.ones((len(f), 1))])
    wanted = 4 * np.eye(CLASSES)[labels] - 1
    ridge = 1e-2 * len(f) * np.diag(np.append(f.var(0).mean() * np.ones(f.shape[1]), 1e-9))
    fitted = np.linalg.solve(ones.T @ ones + ridge, ones.T @ wanted)
    g.constant("head.w", fitted[:-1])
    g.constant("head.b", fitted[-1])
    g.node("MatMul", "head", features, "head.w")
    g.nodes.append(helper.make_node("Add", ["head_out", "head.b"], ["scores"], name="head_bias"))
    model = onnx.shape_inference.infer_shapes(g.model("scores", kind))
    onnx.checker.check_model(model, full_check=True)
    return Network(kind, seed, model, *({part: pair[i] for part, pair in drawn.items()} for i in (0, 1)), trouble)
