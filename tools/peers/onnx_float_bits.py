# SPDX-License-Identifier: Apache-2.0
"""Compares the bits of float ops on target onnx with ONNX Runtime, whose optimizations are off and which runs on one
thread. Prints for each op how many elements were compared and how many differ; NaN equals NaN. The exit code says
whether none differs.

    onnx_float_bits.py QDQ_BINARY [OP...]

Needs the packages numpy, onnx and onnxruntime.
"""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import ort_session
from onnx import TensorProto, helper, numpy_helper
from onnx_packages import target_of_this_cpu

FORMS = ([], ["--isa", "avx2"], ["--isa", "portable"], ["--tiles"], ["--materialize"])
SPECIAL = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 2.5, -2.5, 3, -3, 3.0000002, -3.0000002]
RANDOM = np.random.default_rng(14)


def some(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def with_special(array):
    for value in SPECIAL[:5]:
        array.flat[RANDOM.integers(array.size)] = value
    return array


class Case:
    def __init__(self, op, inputs, constants=(), opset=22, **attrs):
        self.op, self.opset, self.attrs = op, opset, attrs
        self.ports = [f"i{n}" if a is not None else "" for n, a in enumerate(inputs)]
        self.inputs = {f"i{n}": a for n, a in enumerate(inputs) if a is not None}
        self.feeds = {k: a for k, a in self.inputs.items() if int(k[1:]) not in constants}

    def model(self):
        node = helper.make_node(self.op, self.ports, ["y"], **self.attrs)
        feeds = [helper.make_tensor_value_info(k, TensorProto.FLOAT, a.shape) for k, a in self.feeds.items()]
        known = [numpy_helper.from_array(a, k) for k, a in self.inputs.items() if k not in self.feeds]
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph([node], "case", feeds, [y], known)
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()

    def text(self):
        return f"{self.op} {[(a.shape, k not in self.feeds) for k, a in self.inputs.items()]} {self.attrs}"


def windows():
    sizes = (((37,), (5,), (1,), (2, 1)), ((19, 23), (3, 3), (1, 1), (1, 1, 1, 1)), ((19, 23), (3, 5), (2, 2), (1, 2, 0, 1)),
             ((40, 33), (7, 7), (3, 1), (3, 3, 3, 3)), ((9, 8, 7), (3, 2, 3), (1, 2, 1), (1, 0, 1, 1, 1, 0)),
             ((14, 14), (14, 14), (1, 1), (0, 0, 0, 0)), ((300, 5), (3, 3), (1, 1), (1, 1, 1, 1)),
             ((5, 300), (3, 3), (1, 2), (1, 1, 1, 1)))  # fmt: skip
    for (size, kernel, strides, pads), count, opset in itertools.product(sizes, (0, 1), (17, 22)):
        yield Case("AveragePool", [with_special(some(2, 3, *size) * 10)], opset=opset, kernel_shape=kernel, strides=strides, pads=pads,
                   count_include_pad=count)  # fmt: skip
    for size, ceil, count in itertools.product(((9, 11), (40, 7), (4, 5, 6)), (0, 1), (0, 1)):
        kernel = (33, 2) if size[0] == 40 else (3,) * len(size)
        yield Case("AveragePool", [some(2, 3, *size) * 10], opset=17, kernel_shape=kernel, strides=(2,) * len(size), ceil_mode=ceil,
                   count_include_pad=count)  # fmt: skip
        yield Case("AveragePool", [np.where(some(1, 2, *size) > 1, 0, -0.0).astype(np.float32)], opset=17, kernel_shape=(2,) * len(size))


def means():
    for size in ((7, 7), (14, 13), (1, 1), (1, 3), (5, 1), (31,), (4, 5, 6), (33, 17), (3, 1), (2, 1), (64, 65), (91, 99)):
        yield Case("GlobalAveragePool", [some(2, 40, *size) * 10])


def resizes():
    none = np.zeros(0, np.float32)
    shapes = (((2, 3, 9, 14), (1, 1, 2, 2)), ((1, 2, 31, 300), (1, 1, 0.6, 1.3)), ((1, 3, 4, 5, 6), (1, 1, 1.5, 2, 2.7)), ((2, 3, 40), (1, 1, 2.7)),
              ((2, 9, 8, 3), (1, 2, 1.3, 1)), ((17, 5), (2, 0.5)))  # fmt: skip
    modes = ("half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners")
    for (shape, scales), mode in itertools.product(shapes, modes):
        sizes = np.array([int(n * s) for n, s in zip(shape, scales)], np.int64)
        attrs = {"mode": "linear", "coordinate_transformation_mode": mode}
        yield Case("Resize", [some(*shape), none, none, sizes], (1, 2, 3), 13, **attrs)
        if mode != "align_corners":  # of which scales give whole elements only
            yield Case("Resize", [some(*shape), none, np.array(scales, np.float32)], (1, 2), 13, **attrs)


def norms():
    for shape, known in itertools.product(((2, 37, 5, 7), (1, 5, 1, 1), (3, 5, 19), (4, 6), (2, 70, 17), (1, 2, 80, 77)), (0, 1)):
        four = [some(shape[1]) for _ in range(3)] + [np.abs(some(shape[1]))]
        x = with_special(some(*shape))
        yield Case("BatchNormalization", [x, *four], range(1, 5) if known else (), epsilon=1e-3)


def instances():
    for shape in ((2, 3, 1), (2, 3, 3), (1, 5, 4), (3, 7, 13), (2, 3, 9, 11), (1, 2, 4, 5, 6), (2, 2, 4107)):
        for x in (some(*shape) * 3 + 1, np.full(shape, 1.5, np.float32)):
            yield Case("InstanceNormalization", [x, some(shape[1]), some(shape[1])], (1, 2), epsilon=1e-3)


def points(spread=4.0):
    return np.concatenate([np.array(SPECIAL, np.float32), RANDOM.uniform(-spread, spread, 100001).astype(np.float32)])


def hard_swish():
    yield Case("HardSwish", [points()])


def hard_sigmoid():
    for alpha, beta in ((0.2, 0.5), (1 / 6, 0.5), (-0.7, 0.1)):
        yield Case("HardSigmoid", [points()], alpha=alpha, beta=beta)


def matmul():
    sizes = (((5, 700), (700, 200)), ((5, 700), (700, 64)), ((13, 300), (300, 65)), ((3, 1300), (1300, 33)), ((3, 1300), (1300, 32)),
             ((3, 2500), (2500, 20)), ((7, 2500), (2500, 16)), ((3, 2500), (2500, 5)), ((7, 2500), (2500, 1)), ((1, 103), (103, 37)),
             ((3, 100), (100, 300)), ((60, 9000), (9000, 20)), ((50, 1500), (1500, 300)), ((130, 301), (301, 270)), ((57, 1031), (1031, 1)),
             ((3, 1, 300), (300, 20)), ((3, 1, 300), (1, 300, 20)), ((3, 1, 300), (3, 300, 20)), ((3, 4, 300), (3, 300, 1)), ((300,), (300, 20)),
             ((2, 5, 300), (300,)), ((300,), (2, 300, 20)), ((300,), (300,)), ((2, 1, 3, 700), (1, 4, 700, 33)))  # fmt: skip
    for (a, b), known in itertools.product(sizes, ((), (1,))):
        yield Case("MatMul", [some(*a), some(*b)], known)


def gemm():
    sizes = ((5, 200, 700), (7, 20, 2500), (1, 37, 300), (9, 1, 1000), (1, 1, 300), (11, 64, 513), (53, 270, 301))
    for (m, n, k), a, b, bias, known in itertools.product(sizes, (0, 1), (0, 1), (0, 1, 2, 3), ((), (1,))):
        c = [[], [some(n)], [some(m, 1)], [some(m, n)]][bias]
        yield Case("Gemm", [some(k, m) if a else some(m, k), some(n, k) if b else some(k, n), *c], known, transA=a, transB=b)


def conv():
    sizes = (  # x, filters, kernel, stride, padding, dilation, groups
        ((1, 3, 30, 30), 8, 3, 1, 1, 1, 1), ((2, 64, 14, 14), 40, 3, 1, 1, 1, 1), ((1, 64, 8, 8), 20, 3, 1, 1, 1, 1),
        ((1, 64, 5, 6), 50, 3, 1, 1, 1, 1), ((1, 300, 14, 14), 20, 1, 1, 0, 1, 1), ((2, 300, 4, 4), 20, 1, 1, 0, 1, 1),
        ((1, 300, 14, 14), 20, 1, 2, 0, 1, 1), ((1, 32, 20, 20), 32, 3, 1, 1, 1, 32), ((2, 32, 9, 9), 32, 5, 2, 2, 1, 32),
        ((1, 32, 20, 20), 64, 3, 1, 1, 1, 32), ((1, 64, 12, 12), 64, 3, 1, 1, 2, 4), ((2, 100, 3, 3), 30, 3, 1, 0, 1, 1),
        ((1, 100, 3, 3), 1, 3, 1, 0, 1, 1), ((1, 100, 12, 12), 1, 3, 1, 1, 1, 1), ((1, 1, 20, 20), 6, 5, 1, 0, 1, 1),
        ((1, 1, 20, 20), 6, 20, 1, 0, 1, 1), ((1, 4, 20, 20), 4, 20, 1, 0, 1, 4), ((2, 16, 40, 40), 16, 3, 1, 1, 1, 16),
        ((1, 512, 7, 7), 512, 3, 1, 1, 1, 1), ((1, 16, 40, 40), 16, 7, 1, 3, 1, 16), ((1, 8, 64, 64), 8, 3, 2, 1, 1, 8),
        ((1, 64, 10, 10), 8, 5, 1, 2, 1, 4), ((1, 96, 1, 1), 12, 1, 1, 0, 1, 3), ((1, 48, 3, 3), 36, 3, 1, 0, 1, 12),
        ((3, 33, 65, 66), 20, 3, 1, 1, 1, 1), ((1, 40, 90), 3, 7, 1, 3, 1, 1), ((1, 12, 99), 12, 5, 1, 2, 1, 12),
        ((1, 6, 90), 6, 90, 1, 0, 1, 6), ((1, 20, 6, 7, 8), 12, 3, 1, 1, 1, 1), ((1, 9, 6, 7, 8), 9, 3, 1, 1, 1, 9))  # fmt: skip
    for (x, m, kernel, stride, pad, dilation, groups), bias, known in itertools.product(sizes, (0, 1), ((), (1, 2))):
        dims = len(x) - 2
        weights, image = some(m, x[1] // groups, *[kernel] * dims), some(*x)
        if bias and known:
            weights.flat[3] = np.inf  # padding counts
        yield Case("Conv", [image, weights] + ([some(m)] if bias else []), known, strides=[stride] * dims, pads=[pad] * 2 * dims,
                   dilations=[dilation] * dims, group=groups)  # fmt: skip


def conv_transpose():
    sizes = (  # x, outputs of a group, kernel, stride, padding, dilation, groups
        ((1, 64, 30, 30), 8, 2, 2, 0, 1, 1), ((2, 300, 9, 9), 40, 2, 2, 0, 1, 1), ((1, 64, 14, 14), 33, 3, 2, 1, 1, 1), ((2, 257, 6, 7), 5, 4, 2, 1, 1, 1),
        ((1, 300, 5, 6), 17, 3, 1, 1, 2, 1), ((1, 520, 4, 4), 3, 3, 2, 1, 1, 1), ((1, 1030, 3, 4), 3, 3, 2, 0, 1, 1), ((2, 300, 1, 1), 7, 3, 1, 0, 1, 1),
        ((2, 96, 1, 1), 5, 4, 1, 1, 1, 3), ((1, 32, 20, 20), 1, 4, 2, 1, 1, 32), ((1, 64, 12, 12), 16, 5, 3, 2, 1, 4), ((1, 1, 20, 20), 6, 5, 2, 0, 1, 1),
        ((1, 300, 20), 4, 3, 2, 1, 1, 1), ((1, 40, 4, 5, 6), 6, 3, 2, 1, 1, 2), ((1, 300, 9, 9), 1, 1, 1, 0, 1, 1), ((1, 300, 9, 9), 1, 1, 3, 0, 1, 1))  # fmt: skip
    for (x, m, kernel, stride, pad, dilation, groups), bias, known in itertools.product(sizes, (0, 1), ((), (1, 2))):
        dims = len(x) - 2
        weights, image = some(x[1], m, *[kernel] * dims), some(*x)
        if bias and known:
            weights.flat[3] = np.inf  # taps beyond the border have no product
        yield Case("ConvTranspose", [image, weights] + ([some(m * groups)] if bias else []), known, strides=[stride] * dims,
                   pads=[pad] * 2 * dims, dilations=[dilation] * dims, group=groups)  # fmt: skip


def sums(op, opset=22):
    def cases():
        shapes = (((37, 41), (1,)), ((50, 4099), (1,)), ((9, 8200), (1,)), ((40, 3), (1,)), ((40, 6), (-1,)), ((33, 16), (1,)), ((21, 27), (1,)),
                  ((5000,), (0,)), ((300, 37), (0,)), ((4, 5, 6), (0, 1)), ((1, 100, 7), (1,)), ((5, 37, 50), (1,)), ((3, 4500, 19), (1,)),
                  ((4, 18, 3), (1,)), ((6, 9, 10), (0, 2)), ((11, 3, 1500), (0, 2)), ((5, 1, 4, 7), (0, 3)), ((2, 3, 4, 5), (2, 3)),
                  ((2, 3, 4, 5), (0, 2)), ((4, 3, 5, 6), (1, 3)), ((3, 4, 5, 6, 7), (0, 2, 4)), ((3, 4, 5, 6, 7), (1, 3)), ((1, 1, 1), (1,)),
                  ((8, 7, 1), (0, 1)), ((5, 1, 1, 9, 8), (1, 2, 4)), ((5, 8, 3, 8, 1), (1, 4)), ((1, 16, 5, 9), (1, 3)), ((1, 9, 5), (1,)))  # fmt: skip
        for shape, axes in shapes:
            yield Case(op, [some(*shape), np.array(axes, np.int64)], (1,), opset, keepdims=1)
        signs = np.full((7, 21), -0.0, np.float32)
        yield Case(op, [signs, np.array([1], np.int64)], (1,), opset)
        yield Case(op, [with_special(some(60, 45)), np.array([1], np.int64)], (1,), opset)

    return cases


def layer_norms():
    for (shape, axis), bias, known in itertools.product((((37, 8), 1), ((20, 7), 1), ((9, 3), 1), ((5, 1), 1), ((11, 4099), -1), ((30, 100), -1),
                                                         ((6, 31), -1), ((6, 12), 1), ((6, 13), 1), ((3, 4, 5, 6), 2), ((3, 8200), 1), ((4, 4, 768), -1)),
                                                        (0, 1), ((), (1, 2))):  # fmt: skip
        n = shape[axis:] if axis >= 0 else shape[-1:]
        yield Case("LayerNormalization", [some(*shape) * 3 + 1, some(*n)] + ([some(*n)] if bias else []), known, axis=axis)
        same = np.full(shape, 1.5, np.float32)  # zeros, whose sign a negative scale changes
        yield Case("LayerNormalization", [same, some(*n)] + ([some(*n)] if bias else []), known, axis=axis)


def softmax():
    shapes = (((7, 1), -1), ((7, 8), 1), ((9, 13), -1), ((5, 24), -1), ((5, 25), -1), ((4, 47), -1), ((4, 48), -1), ((33, 100), -1),
              ((3, 4095), -1), ((3, 4096), -1), ((3, 4097), -1), ((2, 9001), -1), ((2, 12, 17, 130), -1), ((3, 50, 7), 1), ((40, 6, 5), 0),
              ((3, 4500, 19), 1), ((2, 3, 4, 5, 6), 2))  # fmt: skip
    for (shape, axis), spread in itertools.product(shapes, (1, 10, 60)):
        x = some(*shape) * spread
        yield Case("Softmax", [with_special(x) if spread == 60 else x], axis=axis)


def recurrent(op):
    gates = {"LSTM": 4, "GRU": 3}[op]

    def cases():
        sizes = ((7, 1, 5, 16), (3, 4, 290, 33), (5, 2, 9, 64), (2, 3, 20, 300), (4, 1, 300, 257), (9, 5, 3, 1))  # steps, batch, x, hidden
        for (steps, batch, wide, hidden), direction, bias, known, form in itertools.product(sizes, ("forward", "bidirectional"), (0, 1), ((), (1, 2)), (0, 1, 2)):
            both = 1 + (direction == "bidirectional")
            x, w, r = some(steps, batch, wide), some(both, gates * hidden, wide) / 4, some(both, gates * hidden, hidden) / 4
            inputs = [with_special(x) if form == 2 else x, w, r, some(both, 2 * gates * hidden) if bias else None, None, some(both, batch, hidden)]
            attrs = {"linear_before_reset": form % 2} if op == "GRU" else {"input_forget": form % 2}
            if op == "LSTM":
                inputs += [some(both, batch, hidden), some(both, 3 * hidden) if form else None]
            if form == 1:
                attrs["clip"] = 1.5
            while inputs[-1] is None:
                inputs.pop()
            yield Case(op, inputs, known, direction=direction, hidden_size=hidden, **attrs)

    return cases


def functions(op, opset=22, **attrs):
    def cases():
        yield Case(op, [np.concatenate([points(20), points(105), points(4)])], opset=opset, **attrs)

    return cases


def logs():
    for count in (1, 2, 3, 4, 5, 1021, 4099, 100003):
        for _ in range(3):
            yield Case("Log", [RANDOM.integers(1 << 32, size=count, dtype=np.uint32).view(np.float32)])
            yield Case("Log", [np.exp(RANDOM.uniform(-87, 88, count)).astype(np.float32)])


OPS = {"MatMul": matmul, "Gemm": gemm, "Conv": conv, "ConvTranspose": conv_transpose, "AveragePool": windows, "GlobalAveragePool": means, "Resize": resizes, "ReduceSum": sums("ReduceSum"), "ReduceMean": sums("ReduceMean"), **{op: sums(op, 18) for op in ("ReduceL1", "ReduceL2", "ReduceProd", "ReduceSumSquare")}, "LayerNormalization": layer_norms, "Softmax": softmax, "LSTM": recurrent("LSTM"), "GRU": recurrent("GRU"), "BatchNormalization": norms, "InstanceNormalization": instances, "HardSwish": hard_swish,
       "HardSigmoid": hard_sigmoid, **{op: functions(op) for op in ("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Gelu")}, "Log": logs, "Gelu by tanh": functions("Gelu", approximate="tanh")}  # fmt: skip


def of_runtime(case):
    return ort_session.run(case.model(), case.feeds)["y"]


def of_qdq(qdq, case, form):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "m.onnx").write_bytes(case.model())
        words = [qdq, "run", folder / "m.onnx", "-o", f"y={folder / 'y.npy'}", "--target", target_of_this_cpu(), *form]
        for key, array in case.feeds.items():
            np.save(folder / f"{key}.npy", array)
            words += ["-i", f"{key}={folder / key}.npy"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{case.text()}: {done.stderr}")
        return np.load(folder / "y.npy")


def different(a, b):
    a, b = a.ravel(), b.ravel()
    return int(((a.view(np.uint32) != b.view(np.uint32)) & ~(np.isnan(a) & np.isnan(b))).sum())


def main(qdq, wanted):
    print(f"ONNX Runtime {onnxruntime.__version__}")
    worst = 0
    for op in wanted or OPS:
        elements = differ = 0
        for case in OPS[op]():
            expected = of_runtime(case)
            elements += expected.size
            for form in FORMS:
                own = different(expected, of_qdq(qdq, case, form))
                if own:
                    print(f"  {case.text()} {form}: {own} of {expected.size} differ")
                differ += own
        print(f"{op}: {elements} elements in {len(FORMS)} forms, {differ} differ")
        worst += differ
    return worst > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
