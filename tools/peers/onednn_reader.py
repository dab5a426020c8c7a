# SPDX-License-Identifier: Apache-2.0
"""Reads oneDNN Graph JSON and infers the shapes of the forward kinds.

Of the tensors that an op makes only the dtype is read; shapes, strides and ports in the file are
ignored. Inputs are tensors that no op makes, as their first consumer describes them; outputs are
tensors that no op reads, and the inputs of End."""

import json
import math
from pathlib import Path

import numpy as np

UNKNOWN = -(2**63)
UNARY = (
    "Abs Exp Log Sqrt Square Tanh Sigmoid ReLU Reciprocal Round HardSwish Mish LeakyReLU Elu "
    "HardSigmoid Clamp GELU"
).split()
BINARY = "Add Subtract Multiply Divide Minimum Maximum GreaterEqual".split()
REDUCE = "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum".split()
QUANTIZING = "Quantize Dequantize DynamicQuantize DynamicDequantize TypeCast".split()
OTHERS = (
    "MatMul Convolution ConvTranspose BiasAdd Select PReLU Dropout SoftMax LogSoftmax LayerNorm "
    "RMSNorm GroupNorm BatchNormInference BatchNormForwardTraining AvgPool MaxPool Interpolate "
    "Concat StaticReshape StaticTranspose Reorder GenIndex End"
).split()
KINDS = UNARY + BINARY + REDUCE + QUANTIZING + OTHERS


class BadGraph(Exception):
    """A file that breaks its own rules."""


class NotForward(Exception):
    """A kind that is not a forward kind."""


class Tensor:
    def __init__(self, row):
        self.id, self.dtype = row["id"], row["dtype"]
        shape = row.get("shape", [])
        self.shape = None if UNKNOWN in shape or -1 in shape else tuple(shape)


class Node:
    def __init__(self, row):
        self.id, self.name, self.kind = row["id"], row.get("name", ""), row["kind"]
        self.attrs = {}
        for name, attr in row.get("attrs", {}).items():
            value = attr["value"]
            self.attrs[name] = bool(value) if attr["type"] == "bool" else value
        self.inputs = [Tensor(t) for t in row.get("inputs", [])]
        self.outputs = [Tensor(t) for t in row.get("outputs", [])]


class Graph:
    """nodes: in an order in which they can run; inputs: id -> Tensor; outputs: ids."""

    def __init__(self, path):
        self.name = Path(path).stem
        with open(path, encoding="utf-8") as file:
            nodes = [Node(row) for row in json.load(file)["graph"]]
        bad = sorted({node.kind for node in nodes if node.kind not in KINDS})
        if bad:
            raise NotForward(", ".join(bad))
        self.shapes, self.dtypes, self.inputs, made = {}, {}, {}, {}
        for node in nodes:
            for tensor in node.outputs:
                if tensor.id in made:
                    raise BadGraph(f"tensor {tensor.id} is made twice")
                made[tensor.id] = node
                self.dtypes[tensor.id] = tensor.dtype
        for node in nodes:
            for tensor in node.inputs:
                if tensor.id not in made and tensor.id not in self.inputs:
                    self.inputs[tensor.id] = tensor
                    self.dtypes[tensor.id] = tensor.dtype
        self.nodes = self.sorted_nodes(nodes, made)
        self.infer()
        used = {t.id for node in nodes for t in node.inputs}
        ends = [t.id for node in nodes if node.kind == "End" for t in node.inputs]
        self.outputs = [i for i in made if i not in used or i in ends]
        self.elements = sum(math.prod(shape) for shape in self.shapes.values())

    @staticmethod
    def sorted_nodes(nodes, made):
        done, order, left = set(), [], list(nodes)
        while left:
            ready = [n for n in left if all(t.id in done or t.id not in made for t in n.inputs)]
            if not ready:
                raise BadGraph("a cycle")
            for node in ready:
                done.update(t.id for t in node.outputs)
            order += ready
            left = [n for n in left if n not in ready]
        return order

    def infer(self):
        for tensor in self.inputs.values():
            if tensor.shape is None:
                raise BadGraph(f"the shape of input {tensor.id} is not known")
            self.shapes[tensor.id] = tensor.shape
        for node in self.nodes:
            shapes = infer(node, [self.shapes[t.id] for t in node.inputs])
            if len(shapes) < len(node.outputs):
                raise BadGraph(f"{node.kind} {node.id} has {len(node.outputs)} outputs")
            for tensor, shape in zip(node.outputs, shapes):
                self.shapes[tensor.id] = tuple(int(n) for n in shape)

    def disagreements(self):
        """Results whose shape in the file differs from the inferred one."""
        rows = [t for n in self.nodes for t in n.outputs if t.shape is not None]
        return [(t.id, t.shape, self.shapes[t.id]) for t in rows if t.shape != self.shapes[t.id]]


# ---- Geometry of windows, also used by the evaluation


def channel_axis(attrs, rank):
    return 1 if attrs.get("data_format", "NXC") == "NCX" else rank - 1


def spatial_axes(attrs, rank):
    return tuple(range(2, rank)) if channel_axis(attrs, rank) == 1 else tuple(range(1, rank - 1))


def per_dim(attrs, name, count, default):
    """The first entries of a list: defaults are written with one entry for each dim that there
    might be."""
    values = list(attrs.get(name, []))[:count]
    return values if len(values) == count else [default] * count


def window_geometry(attrs, sizes, kernel):
    """Strides, dilations, pads at the beginning and at the end, one of each for each spatial
    dim."""
    n = len(sizes)
    strides, dilations = per_dim(attrs, "strides", n, 1), per_dim(attrs, "dilations", n, 1)
    begin, end = per_dim(attrs, "pads_begin", n, 0), per_dim(attrs, "pads_end", n, 0)
    auto = attrs.get("auto_pad", "None")
    if auto == "VALID":
        begin, end = [0] * n, [0] * n
    elif auto.startswith("SAME"):
        for i in range(n):
            reach = (kernel[i] - 1) * dilations[i] + 1
            total = max(0, reach - (sizes[i] % strides[i] or strides[i]))
            begin[i] = total // 2 if auto == "SAME_UPPER" else (total + 1) // 2
            end[i] = total - begin[i]
    return strides, dilations, begin, end


def transposed_geometry(attrs, sizes, kernel):
    n = len(sizes)
    strides, dilations = per_dim(attrs, "strides", n, 1), per_dim(attrs, "dilations", n, 1)
    begin, end = per_dim(attrs, "pads_begin", n, 0), per_dim(attrs, "pads_end", n, 0)
    extra = per_dim(attrs, "output_padding", n, 0)
    auto = attrs.get("auto_pad", "None")
    if auto == "VALID":
        begin, end = [0] * n, [0] * n
    elif auto.startswith("SAME"):
        for i in range(n):
            total = max(0, (kernel[i] - 1) * dilations[i] + 1 - strides[i])
            begin[i] = total // 2 if auto == "SAME_UPPER" else (total + 1) // 2
            end[i] = total - begin[i]
    return strides, dilations, begin, end, extra


def window_sizes(attrs, sizes, kernel):
    strides, dilations, begin, end = window_geometry(attrs, sizes, kernel)
    ceil = attrs.get("rounding_type", "floor") == "ceil"
    rows = zip(sizes, kernel, strides, dilations, begin, end)
    return [
        (-(-(n + b + e - (k - 1) * d - 1) // s) if ceil else (n + b + e - (k - 1) * d - 1) // s) + 1
        for n, k, s, d, b, e in rows
    ]


def with_spatial(attrs, batch, channels, sizes):
    if attrs.get("data_format", "NXC") == "NCX":
        return (batch, channels, *sizes)
    return (batch, *sizes, channels)


def spatial_sizes(attrs, shape):
    return [shape[i] for i in spatial_axes(attrs, len(shape))]


def reduced_axes(attrs, rank):
    axes = [a + rank if a < 0 else a for a in attrs.get("axes", [])]
    if len(set(axes)) != len(axes) or any(a < 0 or a >= rank for a in axes):
        raise BadGraph(f"axes {attrs.get('axes')}")
    return tuple(axes)


# ---- Shapes


def broadcast(attrs, shapes):
    if attrs.get("auto_broadcast", "numpy") == "none":
        if len(set(shapes)) != 1:
            raise BadGraph(f"shapes {shapes} are not equal")
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise BadGraph(str(error)) from error


def infer_matmul(attrs, shapes):
    a, b = list(shapes[0]), list(shapes[1])
    if attrs.get("transpose_a") and len(a) > 1:
        a[-1], a[-2] = a[-2], a[-1]
    if attrs.get("transpose_b") and len(b) > 1:
        b[-1], b[-2] = b[-2], b[-1]
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise BadGraph(f"MatMul of {shapes[0]} and {shapes[1]}")
    batch = np.broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))
    return [(*batch, *(a[-2:-1] if len(a) > 1 else ()), *(b[-1:] if len(b) > 1 else ()))]


def infer_convolution(attrs, shapes):
    x, w = shapes[0], shapes[1]
    outer = attrs.get("weights_format", "XIO") == "OIX"
    kernel = w[2:] if outer else w[:-2]
    inner, channels = (w[1], w[0]) if outer else (w[-2], w[-1])
    groups = attrs.get("groups", 1)
    if x[channel_axis(attrs, len(x))] != inner * groups or channels % groups:
        raise BadGraph(f"Convolution of {x} with {w}, groups {groups}")
    sizes = window_sizes(attrs, spatial_sizes(attrs, x), kernel)
    return [with_spatial(attrs, x[0], channels, sizes)]


def infer_conv_transpose(attrs, shapes):
    x, w = shapes[0], shapes[1]
    first = attrs.get("weights_format", "XOI") == "IOX"
    kernel = w[2:] if first else w[:-2]
    inner, channels = (w[0], w[1]) if first else (w[-1], w[-2])
    if x[channel_axis(attrs, len(x))] != inner:
        raise BadGraph(f"ConvTranspose of {x} with {w}")
    sizes = spatial_sizes(attrs, x)
    strides, dilations, begin, end, extra = transposed_geometry(attrs, sizes, kernel)
    sizes = [
        s * (n - 1) + d * (k - 1) + 1 + o - b - e
        for n, k, s, d, b, e, o in zip(sizes, kernel, strides, dilations, begin, end, extra)
    ]
    return [with_spatial(attrs, x[0], channels * attrs.get("groups", 1), sizes)]


def infer_pool(attrs, shapes):
    x = shapes[0]
    sizes = window_sizes(attrs, spatial_sizes(attrs, x), attrs["kernel"])
    return [with_spatial(attrs, x[0], x[channel_axis(attrs, len(x))], sizes)]


def infer_interpolate(attrs, shapes):
    x = shapes[0]
    sizes = attrs.get("sizes")
    if not sizes:
        scales = [np.float32(s) for s in attrs["scales"]]
        sizes = [int(np.float32(n) * s) for n, s in zip(spatial_sizes(attrs, x), scales)]
    return [with_spatial(attrs, x[0], x[channel_axis(attrs, len(x))], sizes)]


def infer_reduce(attrs, shapes):
    x, axes = shapes[0], reduced_axes(attrs, len(shapes[0]))
    if attrs.get("keep_dims"):
        return [tuple(1 if i in axes else n for i, n in enumerate(x))]
    return [tuple(n for i, n in enumerate(x) if i not in axes)]


def infer_concat(attrs, shapes):
    axis = attrs["axis"] % len(shapes[0])
    rest = {s[:axis] + s[axis + 1 :] for s in shapes}
    if len(rest) != 1:
        raise BadGraph(f"Concat of {shapes}")
    return [(*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])]


def infer_reshape(attrs, shapes):
    x = shapes[0]
    zero = attrs.get("special_zero")
    shape = [x[i] if n == 0 and zero else n for i, n in enumerate(attrs["shape"])]
    if -1 in shape:
        rest = math.prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = math.prod(x) // rest
    if math.prod(shape) != math.prod(x):
        raise BadGraph(f"StaticReshape of {x} to {shape}")
    return [tuple(shape)]


def transpose_order(attrs, rank):
    order = [i % rank for i in attrs.get("order", [])] or list(range(rank))[::-1]
    if sorted(order) != list(range(rank)):
        raise BadGraph(f"order {order} of rank {rank}")
    return order


def norm_axis(attrs, rank):
    return attrs.get("begin_norm_axis", -1) % rank


def infer_group_norm(attrs, shapes):
    stats = (shapes[0][0], attrs["groups"])
    return [shapes[0], stats, stats]


def infer_layer_norm(attrs, shapes):
    stats = shapes[0][: norm_axis(attrs, len(shapes[0]))]
    return [shapes[0], stats, stats]


def infer_softmax(attrs, shapes):
    x, axis = shapes[0], attrs.get("axis", 1) % len(shapes[0])
    return [x, (*x[:axis], 1, *x[axis + 1 :])]


def infer_batch_norm_training(_attrs, shapes):
    return [shapes[0]] + [shapes[1]] * 4


def infer_select(attrs, shapes):
    shape = broadcast(attrs, shapes[1:])
    if np.broadcast_shapes(shape, shapes[0]) != shape:
        raise BadGraph(f"condition {shapes[0]} does not fit onto {shape}")
    return [shape]


RULES = {
    "MatMul": infer_matmul,
    "Convolution": infer_convolution,
    "ConvTranspose": infer_conv_transpose,
    "AvgPool": infer_pool,
    "MaxPool": infer_pool,
    "Interpolate": infer_interpolate,
    "Concat": infer_concat,
    "StaticReshape": infer_reshape,
    "StaticTranspose": lambda a, s: [tuple(s[0][i] for i in transpose_order(a, len(s[0])))],
    "GroupNorm": infer_group_norm,
    "LayerNorm": infer_layer_norm,
    "SoftMax": infer_softmax,
    "BatchNormForwardTraining": infer_batch_norm_training,
    "Select": infer_select,
    "End": lambda a, s: [],
    "Dropout": lambda a, s: [s[0], s[0]],
} | {kind: infer_reduce for kind in REDUCE}


def infer(node, shapes):
    if node.kind in BINARY:
        return [broadcast(node.attrs, shapes)]
    rule = RULES.get(node.kind)
    return rule(node.attrs, shapes) if rule else [shapes[0]]
