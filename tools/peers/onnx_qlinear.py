# SPDX-License-Identifier: Apache-2.0
"""Compares the codes of the QLinear ops of com.microsoft with ONNX Runtime, whose optimizations are off and which runs on
one thread. Prints for each op how many codes were compared and how many differ; the exit code says whether none differs.
On x86-64 ONNX Runtime needs AVX2, as qdq computes what it computes there.

    onnx_qlinear.py QDQ_BINARY [--seed N] [OP...]

Needs the packages numpy, onnx and onnxruntime.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import ort_session
from onnx import TensorProto, helper, numpy_helper

FORMS = ([], ["--isa", "avx2"], ["--isa", "portable"], ["--threads", "2"], ["--tiles"], ["--materialize"])
TYPES = {np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8, np.dtype(bool): TensorProto.BOOL}


class Batch:
    """A model of nodes that do not depend on each other."""

    def __init__(self, random):
        self.random, self.nodes, self.known, self.feeds, self.outputs, self.texts = random, [], [], {}, [], {}

    def constant(self, array):
        self.known.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.known)}"))
        return self.known[-1].name

    def feed(self, array):
        name = f"i{len(self.feeds)}"
        self.feeds[name] = array
        return name

    def codes(self, dtype, shape):
        info = np.iinfo(dtype)
        return self.feed(self.random.integers(info.min, info.max + 1, shape).astype(dtype))

    def quant(self, dtype, scale, zero):
        """The names of a scale and a zero point."""
        return [self.constant(np.float32(scale)), self.constant(np.array(int(zero), dtype))]

    def node(self, op, inputs, text, dtype, **attrs):
        name = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node(op, inputs, [name], domain="com.microsoft", **attrs))
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], None))
        self.texts[name] = f"{op} {text} {attrs}"

    def model(self):
        inputs = [helper.make_tensor_value_info(k, TYPES[a.dtype], a.shape) for k, a in self.feeds.items()]
        graph = helper.make_graph(self.nodes, "batch", inputs, self.outputs, self.known)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def zero_of(random, dtype):
    info = np.iinfo(dtype)
    return random.choice([0, info.min, info.max, random.integers(info.min, info.max + 1)])


def scale_of(random):
    """Powers of two and simple fractions make ties."""
    return random.choice([2.0 ** random.integers(-6, 3), random.integers(1, 40) / 100, random.uniform(0.001, 2)])


# What the exchange of operands depends on.
SHAPES = ((), (1,), (5,), (1, 1), (5, 1), (1, 5), (3, 5), (3, 1, 1), (3, 1, 5), (2, 3, 4, 5), (1, 3, 1, 1), (2, 1, 4, 1), (2, 3, 1, 1),
          (2, 3, 4, 1), (3, 4, 5), (1, 1, 1, 5), (5, 1, 1), (2, 1, 1, 1))  # fmt: skip


# Scales and zero points with which many sums depend on the order of the operands, for uint8.
SENSITIVE = np.array([[(0.27, 170), (0.375, 177), (0.03, 202)], [(0.026, 74), (0.002, 55), (0.024, 23)], [(0.058, 191), (0.03, 1), (0.044, 40)]])


def broadcast(a, b):
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


def pairs(op):
    def made(batch, count):
        random = batch.random
        for dtype in (np.uint8, np.int8):
            info = np.iinfo(dtype)
            all_codes = np.arange(info.min, info.max + 1, dtype=dtype)
            a, b = batch.feed(np.repeat(all_codes, 256)), batch.feed(np.tile(all_codes, 256))
            shaped = [batch.codes(dtype, s) for s in SHAPES]
            sets = [s + [0, info.min] for s in SENSITIVE]
            sets += [((0.02, 100 + info.min), (0.03, 3 + info.min), (0.04, 7)), ((0.5, 0), (1, 0), (1, 1)),
                    ((0.067, 19), (0.034, 4), (0.014, 44)), ((1e9, 0), (1, 0), (1e-3, 7)), ((1e7, 0), (1, 0), (1, 0))]  # fmt: skip
            for n in range(len(sets) + count):
                own = sets[n] if n < len(sets) else [(scale_of(random), zero_of(random, dtype)) for _ in range(3)]
                qa, qb, qy = (batch.quant(dtype, *q) for q in own)
                batch.node(op, [a, *qa, b, *qb, *qy], f"{own} {np.dtype(dtype)}", dtype)
            for i, j, n in itertools.product(range(len(SHAPES)), range(len(SHAPES)), range(1 + count // 2)):
                if not broadcast(SHAPES[i], SHAPES[j]):
                    continue
                own = random.choice(SENSITIVE) + [0, info.min] if n % 2 else [(scale_of(random), zero_of(random, dtype)) for _ in range(3)]
                qa, qb, qy = (batch.quant(dtype, *q) for q in own)
                batch.node(op, [shaped[i], *qa, shaped[j], *qb, *qy], f"{SHAPES[i]} {SHAPES[j]} {own}", dtype)

    return made


WINDOWS = (((2, 3, 7, 9), {"kernel_shape": [2, 2]}), ((2, 3, 7, 9), {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 2, 1]}),
           ((2, 3, 7, 9), {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 2, 1], "count_include_pad": 1}),
           ((2, 3, 7, 9), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "count_include_pad": 1}),
           ((2, 3, 8, 9), {"kernel_shape": [3, 3], "strides": [3, 3], "ceil_mode": 1, "pads": [0, 1, 1, 1]}),
           ((2, 3, 7, 9), {"kernel_shape": [7, 9]}), ((2, 3, 7, 9), {"kernel_shape": [7, 9], "pads": [0, 1, 0, 0]}),
           ((1, 2, 8, 9), {"kernel_shape": [3, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
           ((1, 2, 8, 9), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER", "count_include_pad": 1}),
           ((1, 2, 8, 9), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "VALID"}), ((1, 3, 37), {"kernel_shape": [5], "strides": [2]}),
           ((1, 2, 5, 6, 7), {"kernel_shape": [2, 3, 2], "pads": [1, 0, 1, 0, 2, 1]}), ((1, 2, 5, 6, 7), {"kernel_shape": [5, 6, 7]}))  # fmt: skip


def unary_quants(batch, dtype, count):
    """Scales and zero points of x and y, also with ties."""
    random = batch.random
    yield (1, 0), (1, np.iinfo(dtype).min + 129)
    for _ in range(count):
        yield (scale_of(random), zero_of(random, dtype)), (scale_of(random), zero_of(random, dtype))


def average_pool(batch, count):
    for dtype, (shape, attrs) in itertools.product((np.uint8, np.int8), WINDOWS):
        x = batch.codes(dtype, shape)
        for qx, qy in unary_quants(batch, dtype, count):
            batch.node("QLinearAveragePool", [x, *batch.quant(dtype, *qx), *batch.quant(dtype, *qy)], f"{shape} {qx} {qy}", dtype, **attrs)


def global_average_pool(batch, count):
    for dtype, last, shape in itertools.product((np.uint8, np.int8), (0, 1), ((2, 70, 7, 5), (1, 3, 300), (1, 5, 3, 4, 5), (3, 40, 1, 2))):
        x = batch.codes(dtype, shape)
        for qx, qy in unary_quants(batch, dtype, count):
            batch.node("QLinearGlobalAveragePool", [x, *batch.quant(dtype, *qx), *batch.quant(dtype, *qy)], f"{shape} {qx} {qy}", dtype, channels_last=last)


def softmax(batch, count):
    random = batch.random
    for dtype in (np.uint8, np.int8):
        for shape, axis, opset in (((40, 3), -1, 13), ((7, 300), 1, 13), ((3, 50, 4), 1, 13), ((3, 5, 4), 1, 12), ((2, 3, 4), 0, 12), ((1, 1000), -1, 13)):
            x = batch.codes(dtype, shape)
            ys = [1 / 256, 1 / 255, 1 / 300, 1 / 500, 1 / 2000] + [random.uniform(0.001, 0.02) for _ in range(count)]
            for scale in ys:
                qx, qy = (random.choice([0.05, random.uniform(0.001, 0.5)]), 0), (scale, zero_of(random, dtype))
                batch.node("QLinearSoftmax", [x, *batch.quant(dtype, *qx), *batch.quant(dtype, *qy)], f"{shape} {qx} {qy}", dtype,
                           axis=axis, opset=opset)  # fmt: skip


def tables(op, **attrs):
    """Functions of every code."""

    def made(batch, count):
        for dtype in (np.uint8, np.int8):
            info = np.iinfo(dtype)
            x = batch.feed(np.arange(info.min, info.max + 1, dtype=dtype))
            for qx, qy in unary_quants(batch, dtype, 40 * count):
                for alpha in attrs.get("alpha", [None]):
                    own = {} if alpha is None else {"alpha": alpha}
                    batch.node(op, [x, *batch.quant(dtype, *qx), *batch.quant(dtype, *qy)], f"{qx} {qy}", dtype, **own)

    return made


def concat(batch, count):
    for dtype, (shapes, axis) in itertools.product((np.uint8, np.int8), ((((3, 40, 5), (3, 1, 5), (3, 70, 5)), 1), (((7, 2), (1, 2)), 0), (((300,), (5,)), -1))):
        parts = [batch.codes(dtype, shape) for shape in shapes]
        for _, qy in unary_quants(batch, dtype, 4 * count):
            quants = [(scale_of(batch.random), zero_of(batch.random, dtype)) for _ in parts]
            quants[batch.random.integers(len(parts))] = qy  # codes that stay
            inputs = [name for part, q in zip(parts, quants) for name in (part, *batch.quant(dtype, *q))]
            batch.node("QLinearConcat", [*batch.quant(dtype, *qy), *inputs], f"{quants} {qy}", dtype, axis=axis)


def where(batch, count):
    for dtype, (of, a, b) in itertools.product((np.uint8, np.int8), (((5, 90), (5, 90), (5, 90)), ((5, 1), (90,), ()), ((90,), (), (5, 1)), ((), (3, 1), (1, 300)))):
        choice = batch.feed(batch.random.integers(0, 2, of).astype(bool))
        a, b = batch.codes(dtype, a), batch.codes(dtype, b)
        for qa, qb in unary_quants(batch, dtype, 4 * count):
            qy = (scale_of(batch.random), zero_of(batch.random, dtype)) if batch.random.integers(3) else qa
            batch.node("QLinearWhere", [choice, a, *batch.quant(dtype, *qa), b, *batch.quant(dtype, *qb), *batch.quant(dtype, *qy)],
                       f"{qa} {qb} {qy}", dtype)  # fmt: skip


OPS = {"QLinearAdd": pairs("QLinearAdd"), "QLinearMul": pairs("QLinearMul"), "QLinearAveragePool": average_pool,
       "QLinearGlobalAveragePool": global_average_pool, "QLinearSoftmax": softmax, "QLinearSigmoid": tables("QLinearSigmoid"),
       "QLinearLeakyRelu": tables("QLinearLeakyRelu", alpha=(0.01, 0.3, -0.7)), "QLinearConcat": concat, "QLinearWhere": where}  # fmt: skip


def of_runtime(batch):
    return ort_session.run(batch.model(), batch.feeds)


def of_qdq(qdq, batch, form):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "m.onnx").write_bytes(batch.model())
        words = [qdq, "run", folder / "m.onnx", *form]
        for output in batch.outputs:
            words += ["-o", f"{output.name}={folder / output.name}.npy"]
        for key, array in batch.feeds.items():
            np.save(folder / f"{key}.npy", array)
            words += ["-i", f"{key}={folder / key}.npy"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        return {o.name: np.load(folder / f"{o.name}.npy") for o in batch.outputs}


def compare(qdq, batch):
    """The numbers of codes that were compared and that differ."""
    expected, differ = of_runtime(batch), 0
    for form in FORMS:
        for name, codes in of_qdq(qdq, batch, form).items():
            own = int((codes != expected[name]).sum()) if codes.shape == expected[name].shape else codes.size
            if own:
                print(f"  {batch.texts[name]} {form}: {own} of {codes.size} differ")
            differ += own
    return sum(codes.size for codes in expected.values()), differ


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("qdq")
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=8, help="random sets of parameters")
    options = parser.parse_args()
    print(f"ONNX Runtime {onnxruntime.__version__}, seed {options.seed}")
    worst = 0
    for op in options.ops or OPS:
        batch = Batch(np.random.default_rng(options.seed))
        OPS[op](batch, options.count)
        elements, differ = compare(options.qdq, batch)
        print(f"{op}: {elements} codes in {len(FORMS)} forms, {differ} differ")
        worst += differ
    return worst > 0


if __name__ == "__main__":
    sys.exit(main())
