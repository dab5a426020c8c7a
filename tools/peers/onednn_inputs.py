# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs of a oneDNN graph, with values for which a comparison shows errors.

The data of an input depends on its use: the port of its first consumer, seen through ops that only
move or quantize."""

import math

import numpy as np
from onednn_reader import BINARY, UNARY
from onednn_values import INTEGERS, is_float, round_to

THROUGH = "TypeCast Reorder StaticReshape StaticTranspose Dequantize DynamicDequantize".split()
ELEMENTWISE = UNARY + BINARY + ["Select", "BiasAdd", "PReLU", "MaxPool", "TypeCast", "Quantize"]
ELEMENTWISE += ["ReduceMax", "ReduceMin", "StaticReshape", "StaticTranspose", "Concat", "Reorder"]
POSITIVE = {"Log": 0, "Sqrt": 0, "Reciprocal": 0, "Divide": 1}


class Filler:
    def __init__(self, graph, seed, spread, specials):
        self.graph, self.spread = graph, spread
        self.rng = np.random.default_rng(seed)
        self.consumers = {}
        self.specials = specials and all(n.kind in ELEMENTWISE for n in graph.nodes)
        for node in graph.nodes:
            for port, tensor in enumerate(node.inputs):
                self.consumers.setdefault(tensor.id, []).append((node, port))

    def uses(self, tensor_id, through=THROUGH):
        """Consumers with their ports, including those of ops that only move the input."""
        found, left = [], [tensor_id]
        while left:
            for node, port in self.consumers.get(left.pop(), []):
                found.append((node, port))
                if node.kind in through and (port == 0 or node.kind in ("Add", "Select")):
                    left.append(node.outputs[0].id)
        return found

    def leads_to_softmax(self, tensor_id):
        more = THROUGH + ["Add", "Select", "Subtract"]
        return [n for n, _ in self.uses(tensor_id, more) if n.kind in ("SoftMax", "LogSoftmax")]

    def fill(self, tensor):
        shape, dtype = tensor.shape, tensor.dtype
        uses = self.uses(tensor.id)
        node, port = uses[0]
        for rule in (self.scalar, self.parameter, self.mask, self.integers, self.statistics):
            values = rule(node, port, uses, tensor)
            if values is not None:
                break
        else:
            values = self.floats(uses, tensor)
            if self.specials:
                odd = self.rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], shape)
                values = np.where(self.rng.random(shape) < 0.15, odd, values)
        return round_to(np.broadcast_to(values, shape).copy(), dtype)

    def scalar(self, node, port, _uses, _tensor):
        if node.kind != "Dropout" or port == 0:
            return None
        if port == 1:
            return np.int64(self.rng.integers(0, 2**40))
        if port == 2:
            return np.int64(self.rng.choice([0, 1, 2**33 + 5]))
        return np.float64(self.rng.choice([0.1, 0.3, 0.5, 0.9]))

    def parameter(self, node, port, _uses, tensor):
        if not node.kind.startswith("Dynamic") or port == 0:
            return None
        if port == 1:
            return self.rng.uniform(0.01, 0.1, tensor.shape)
        low, high = INTEGERS[tensor.dtype]
        return self.rng.integers(max(low, -5), min(high, 6) + 1, tensor.shape)

    def mask(self, node, port, _uses, tensor):
        """Booleans, or a mask that is added to the scores of a softmax."""
        if tensor.dtype == "boolean":
            return self.rng.random(tensor.shape) < 0.7
        soft = self.leads_to_softmax(tensor.id)
        if not soft or not is_float(tensor.dtype) or node.kind not in ("Add", "Select"):
            return None
        made = [t.id not in self.graph.inputs for t in node.inputs]
        if node.kind == "Select":
            return np.full(tensor.shape, -np.inf) if math.prod(tensor.shape) == 1 else None
        if not made[1 - port] or len(tensor.shape) < 2:
            return None
        closed = self.rng.random(tensor.shape) < 0.25
        closed[..., 0] = False
        if soft[0].attrs.get("mode") == "inf_as_zero" and tensor.shape[-2] > 1:
            closed[..., -1, :] = True
        if tensor.shape[-1] == 1:
            closed[...] = False
        return np.where(closed, -np.inf, self.rng.normal(0, 1, tensor.shape))

    def integers(self, node, _port, uses, tensor):
        if tensor.dtype not in INTEGERS:
            return None
        low, high = INTEGERS[tensor.dtype]
        if tensor.dtype == "s32":
            if node.kind in ("Add", "Subtract", "GreaterEqual") and tensor.shape == ():
                return np.int64(self.rng.integers(0, 64))
            if node.attrs.get("x-whole-range"):
                return self.rng.integers(low, high + 1, tensor.shape)
            return self.rng.integers(-1000, 1000, tensor.shape)
        middle = (node.attrs.get("zps") or [0])[0] if node.kind == "Dequantize" else 0
        if any(n.kind in ("MatMul", "Convolution", "ConvTranspose") and p == 1 for n, p in uses):
            low, high = max(low, middle - 48), min(high, middle + 48)
        values = self.rng.integers(low, high + 1, tensor.shape)
        return middle + np.rint((values - middle) * self.spread).astype(np.int64)

    def statistics(self, node, port, _uses, tensor):
        names = {
            "BatchNormInference": ["x", "gamma", "beta", "mean", "variance"],
            "BatchNormForwardTraining": ["x", "mean", "variance", "gamma", "beta"],
            "LayerNorm": ["x", "gamma", "beta"],
            "GroupNorm": ["x", "gamma", "beta"],
            "RMSNorm": ["x", "gamma"],
        }.get(node.kind)
        if names is None:
            return None
        if names[port] == "x":
            return self.rng.normal(0.5, 2, tensor.shape)
        if names[port] in ("gamma", "variance"):
            return self.rng.uniform(0.5, 2, tensor.shape)
        return self.rng.normal(0, 1, tensor.shape)

    def quantized(self, node, tensor):
        """Values over the whole range and beyond, with ties."""
        out = node.outputs[0].dtype
        scales = node.attrs.get("scales", [0.05])
        scale, zp = float(np.float32(max(scales))), (node.attrs.get("zps") or [0])[0]
        if out.startswith("f8"):
            top = {"f8_e4m3": 448, "f8_e5m2": 57344}[out] * scale
            sizes = np.exp2(self.rng.uniform(-16, math.log2(top * 1.05), tensor.shape))
            return sizes * self.rng.choice([-1, 1], tensor.shape)
        low, high = INTEGERS[out]
        whole = self.rng.uniform((low - 20), (high + 20), tensor.shape)
        tie = self.rng.random(tensor.shape) < 0.1
        return (np.where(tie, np.floor(whole) + 0.5, whole) - zp) * scale

    def floats(self, uses, tensor):
        node, port = uses[0]
        shape = tensor.shape
        if tensor.dtype.startswith("f8"):
            return self.rng.normal(0, 2, shape)
        kinds = {(n.kind, p) for n, p in uses}
        if any(POSITIVE.get(kind) == p for kind, p in kinds):
            return self.rng.uniform(0.25, 4, shape)
        if node.kind in ("Quantize", "DynamicQuantize"):
            return self.quantized(node, tensor)
        if node.kind == "Round":
            return np.rint(self.rng.normal(0, 8, shape) * 4) / 4
        if node.kind == "ReduceProd":
            return self.rng.uniform(0.7, 1.3, shape) * self.rng.choice([-1, 1], shape)
        if node.kind in ("MatMul", "Convolution", "ConvTranspose") and port == 1:
            return self.rng.normal(0, 1, shape) / math.sqrt(self.depth(node))
        if node.kind in ("Add", "Multiply", "Subtract", "Minimum", "Maximum", "MatMul"):
            return self.rng.normal(0, 1, shape)
        if node.kind == "GreaterEqual":
            return np.rint(self.rng.normal(0, 2, shape))
        return self.rng.normal(0, 2, shape)

    def depth(self, node):
        shape = self.graph.shapes[node.inputs[1].id]
        if node.kind == "MatMul":
            return max(1, shape[-2 if len(shape) > 1 and not node.attrs.get("transpose_b") else -1])
        return max(1, math.prod(shape) // shape[0])


def fill(graph, seed, spread=1.0, specials=False):
    """spread: how much of the range of integers is used. specials: also NaN, infinities and -0, if
    each result depends on few inputs."""
    filler = Filler(graph, seed, spread, specials)
    return {i: filler.fill(tensor) for i, tensor in sorted(graph.inputs.items())}
