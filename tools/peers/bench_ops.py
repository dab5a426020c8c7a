# SPDX-License-Identifier: Apache-2.0
"""Times single ops with qdq, ONNX Runtime and OpenVINO, on one thread, and prints a table of ratios.

    python3 bench_ops.py BUILD [--only WORDS] [--rounds N] [--isa NAME] [--peers ort,openvino] [--into docs/performance.md]

BUILD is a release build. An op is an ONNX model of one node with seeded weights, and u8s8 the node between
DequantizeLinear and QuantizeLinear: uint8 activations, int8 weights per channel, a bias, and Relu behind it. qdq runs
with --fast on target onnx; elementary functions and softmax on target core too, which computes other bits.

Results are compared with the exact mode of ONNX Runtime first. Then all take turns, as in bench_networks.py; a cell is
the least time of a call with bound inputs and outputs.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
from bench_network_models import Builder
from bench_turns import Model, add_options, columns, difference, parsed, print_tables, to_faster
from onnx import TensorProto

HEAD = ("| op | shape of x | qdq, ms | ONNX Runtime | OpenVINO | to the faster | differs |\n|---|---|---|---|---|---|---|")
SLICE = 0.02  # seconds of a turn
LESS = 0.8  # aim of depthwise, pooling and Resize
CORE = 2.0  # aim of elementary functions on target core
IMAGE, LAYER = (1, 64, 112, 112), (128, 3072)


# ---- Models ----


def quantized(b, x, kind, weights, axis, **attrs):
    """A convolution of uint8 codes x, with Relu, as a QDQ group."""
    scale, outputs = np.float32(0.02), weights.shape[axis]
    each = [1] * weights.ndim
    each[axis] = -1
    scales = np.abs(weights).max(tuple(d for d in range(weights.ndim) if d != axis)).astype(np.float32) / np.float32(127)
    codes = np.rint(weights / scales.reshape(each)).astype(np.int8)
    real = b.node("DequantizeLinear", x, b.constant(scale), b.constant(np.uint8(120)))
    w = b.node("DequantizeLinear", b.constant(codes), b.constant(scales), b.constant(np.zeros(outputs, np.int8)), axis=axis)
    bias = b.node("DequantizeLinear", b.constant(b.random.integers(-1000, 1000, outputs).astype(np.int32)),
                  b.constant(scales * scale), b.constant(np.zeros(outputs, np.int32)), axis=0)  # fmt: skip
    y = b.node("Relu", b.node(kind, real, w, bias, **attrs))
    return b.node("QuantizeLinear", y, b.constant(np.float32(0.05)), b.constant(np.uint8(0)))


def convolution(kind, shape, outputs, kernel, stride, groups):
    """Returns a function of the builder, and whether codes are convolved, that adds the nodes."""
    transposed = kind == "ConvTranspose"
    channels = shape[1]
    extent = (channels, outputs, kernel, kernel) if transposed else (outputs, channels // groups, kernel, kernel)
    attrs = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "group": groups}
    if not transposed:
        attrs["pads"] = [kernel // 2] * 4

    def build(b, codes):
        w = b.weights(*extent, inputs=channels // groups * kernel**2)
        if codes:
            return quantized(b, "x", kind, w, 1 if transposed else 0, **attrs)
        bias = b.constant((b.random.standard_normal(outputs) * 0.1).astype(np.float32))
        return b.node(kind, "x", b.constant(w), bias, **attrs)

    return build


CONVOLUTIONS = {  # name: shape of x, outputs, kernel, stride, groups
    "Conv 7x7/2 3 to 64": ((1, 3, 224, 224), 64, 7, 2, 1),
    "Conv 1x1 64 to 256": ((1, 64, 56, 56), 256, 1, 1, 1),
    "Conv 3x3 64 to 64": ((1, 64, 56, 56), 64, 3, 1, 1),
    "Conv 3x3 128 to 128": ((1, 128, 28, 28), 128, 3, 1, 1),
    "Conv 3x3 512 to 512": ((1, 512, 7, 7), 512, 3, 1, 1),
    "Conv 1x1 1024 to 256": ((1, 1024, 14, 14), 256, 1, 1, 1),
    "Conv 1x1/2 256 to 512": ((1, 256, 56, 56), 512, 1, 2, 1),
    "Conv 1x1 16 to 96": ((1, 16, 112, 112), 96, 1, 1, 1),
    "Conv 3x3 32 to 32": ((1, 32, 256, 256), 32, 3, 1, 1),
    "Conv 3x3 256, 32 groups": ((1, 256, 28, 28), 256, 3, 1, 32),
    "depthwise 3x3 144": ((1, 144, 56, 56), 144, 3, 1, 144),
    "depthwise 3x3/2 96": ((1, 96, 112, 112), 96, 3, 2, 96),
    "depthwise 5x5 240": ((1, 240, 28, 28), 240, 5, 1, 240),
    "depthwise 3x3 960": ((1, 960, 7, 7), 960, 3, 1, 960),
    "ConvTranspose 2x2/2 64 to 32": ((1, 64, 128, 128), 32, 2, 2, 1),
    "ConvTranspose 2x2/2 24 to 1": ((1, 24, 160, 160), 1, 2, 2, 1),
}


def simple(op, *constants, **attrs):
    """A node of x and constants; a constant is an array, or the shape of a random one."""

    def build(b, _):
        arrays = [c if isinstance(c, np.ndarray) else 1 + np.abs(b.weights(*c, inputs=100)) for c in constants]
        return b.node(op, "x", *map(b.constant, arrays), **attrs)

    return build


def resize(**attrs):
    def build(b, _):
        return b.node("Resize", "x", "", b.constant(np.array([1, 1, 2, 2], np.float32)), **attrs)

    return build


def with_relu(op, **attrs):
    def build(b, _):
        return b.node(op, "x", b.node("Relu", "x"), **attrs)

    return build


def attention_scores(b, _):
    return b.node("MatMul", "x", b.node("Transpose", "x", perm=[0, 2, 1]))


def pair(b, _):
    parameters = [b.constant(np.float32(0.02)), b.constant(np.uint8(128))]
    return b.node("DequantizeLinear", b.node("QuantizeLinear", "x", *parameters), *parameters)


def longs(*values):
    return np.array(values, np.int64)


FLOATS = {  # name: shape of x, model, aim
    "Softmax": ((1, 12, 128, 128), simple("Softmax", axis=-1), 1.0),
    "Gelu": (LAYER, simple("Gelu"), 1.0),
    "Gelu by tanh": (LAYER, simple("Gelu", approximate="tanh"), 1.0),
    "Sigmoid": (LAYER, simple("Sigmoid"), 1.0),
    "Tanh": (LAYER, simple("Tanh"), 1.0),
    "Exp": (LAYER, simple("Exp"), 1.0),
    "LayerNormalization": ((128, 768), simple("LayerNormalization", (768,), (768,)), 1.0),
    "BatchNormalization": (IMAGE, simple("BatchNormalization", (64,), (64,), (64,), (64,)), 1.0),
    "Relu": (LAYER, simple("Relu"), 1.0),
    "HardSwish": (LAYER, simple("HardSwish"), 1.0),
    "Add": (IMAGE, simple("Add", IMAGE), 1.0),
    "Add of a row": (LAYER, simple("Add", (3072,)), 1.0),
    "Add of a column": (LAYER, simple("Add", (128, 1)), 1.0),
    "Mul by channels": (IMAGE, simple("Mul", (1, 64, 1, 1)), 1.0),
    "Mul by a scalar": (IMAGE, simple("Mul", np.array(0.3, np.float32)), 1.0),
    "Div": (IMAGE, simple("Div", IMAGE), 1.0),
    "MaxPool 3x3/2": (IMAGE, simple("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), LESS),
    "MaxPool 2x2/2": (IMAGE, simple("MaxPool", kernel_shape=[2, 2], strides=[2, 2]), LESS),
    "AveragePool 3x3": (IMAGE, simple("AveragePool", kernel_shape=[3, 3], pads=[1] * 4), LESS),
    "GlobalAveragePool": ((1, 2048, 7, 7), simple("GlobalAveragePool"), LESS),
    "Resize nearest": ((1, 64, 56, 56), resize(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"), LESS),
    "Resize linear": ((1, 64, 56, 56), resize(mode="linear", coordinate_transformation_mode="half_pixel"), LESS),
    "Transpose 0213": ((1, 128, 12, 64), simple("Transpose", perm=[0, 2, 1, 3]), 1.0),
    "Transpose 0231": (IMAGE, simple("Transpose", perm=[0, 2, 3, 1]), 1.0),
    "Transpose 10": ((2048, 2048), simple("Transpose", perm=[1, 0]), 1.0),
    "Concat of channels": (IMAGE, with_relu("Concat", axis=1), 1.0),
    "Concat of columns": (LAYER, with_relu("Concat", axis=1), 1.0),
    "ReduceMean of rows": (LAYER, simple("ReduceMean", longs(-1)), 1.0),
    "ReduceMean of columns": ((3072, 128), simple("ReduceMean", longs(0)), 1.0),
    "ReduceMax of rows": (LAYER, simple("ReduceMax", longs(-1)), 1.0),
    "MatMul by its transpose": ((12, 128, 64), attention_scores, 1.0),
    "QuantizeLinear, DequantizeLinear": (IMAGE, pair, 1.0),
}
ELEMENTARY = ("Softmax", "Gelu", "Gelu by tanh", "Sigmoid", "Tanh", "Exp")


def cases():
    """Name, shape of x, model, whether of codes, target, aim."""
    for name, (shape, outputs, kernel, stride, groups) in CONVOLUTIONS.items():
        build = convolution(name.split()[0] if name.startswith("ConvT") else "Conv", shape, outputs, kernel, stride, groups)
        aim = LESS if name.startswith("depthwise") else 1.0
        yield f"{name}, f32", shape, build, False, "onnx", aim
        yield f"{name}, u8s8", shape, build, True, "onnx", aim
    for name, (shape, build, aim) in FLOATS.items():
        yield name, shape, build, False, "onnx", aim
        if name in ELEMENTARY:
            yield f"{name}, target core", shape, build, False, "core", CORE


# ---- Rows ----


def row_of(case, options, peers, folder):
    name, shape, build, codes, target, aim = case
    b = Builder()
    made = build(b, codes)
    dtype = TensorProto.UINT8 if codes else TensorProto.FLOAT
    path = folder / "op.onnx"
    onnx.save(b.model({"x": (shape, dtype)}, [made]), path)
    rng = np.random.default_rng(2)
    feeds = {"x": rng.integers(0, 256, shape, np.uint8) if codes else rng.standard_normal(shape).astype(np.float32)}
    fast, exact, *others = ((kind, 1, options.build) for kind in ("qdq", "ort exact", *options.peers))
    model = Model(peers, path, feeds, target, [fast, exact, *others], folder)
    apart = difference(model.outputs(fast), model.outputs(exact))
    model.close(exact)
    runs, _ = model.least(options.rounds, slice=SLICE)
    model.close()
    cells = [f"{runs[key] * 1e3:.3f}" if key in runs else "-" for key in (fast, *((kind, 1, options.build) for kind in columns(options.peers)))]
    return f"| {name} | {' x '.join(map(str, shape))} | {' | '.join(cells)} | {to_faster(runs[fast], runs, others, aim)} | {apart} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, "ops")
    options = parsed(parser)
    options.threads = False

    def rows(peers, _folder):
        for case in cases():
            if options.only in case[0]:
                with tempfile.TemporaryDirectory() as folder:
                    yield row_of(case, options, peers, Path(folder))

    print_tables(options, HEAD, "single ops", rows)


if __name__ == "__main__":
    main()
