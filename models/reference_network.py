# SPDX-License-Identifier: Apache-2.0
"""A reference of the ops between quantizing ops, written from their definitions in float64.

A result is rounded once to its dtype. qdq adds and divides in float32, so near the middle of two
numbers its result may be the neighbour of the one here. `doubt` defines how near is too near;
models avoid such numbers, so that both agree."""

import numpy as np

from dtypes import DTYPES

FLOAT32 = DTYPES["float32"]
DIGITS = {FLOAT32: 24, DTYPES["bfloat16"]: 8}
SINGLE = {"Add": np.add, "Multiply": np.multiply, "Divide": np.divide}  # one IEEE operation each
MOVING = {
    "StaticReshape": lambda x, attrs: x.reshape(attrs["shape"]),
    "StaticTranspose": lambda x, attrs: x.transpose(attrs["order"]),
}


def wide(node, values, *ports):
    """The operands in float64; None for a port that is not connected."""
    names = (node["inputs"].get(port) for port in ports)
    return [None if name is None else values[name].astype(np.float64) for name in names]


def matmul_operands(node, values):
    a, b, bias = wide(node, values, "a", "b", "bias")
    attrs = node.get("attrs", {})
    if attrs.get("transpose_a"):
        a = a.swapaxes(-1, -2)
    if attrs.get("transpose_b"):
        b = b.swapaxes(-1, -2)
    return a, b, 0 if bias is None else bias


def matmul(node, values):
    a, b, bias = matmul_operands(node, values)
    return a @ b + bias


def sigmoid(node, values):
    (x,) = wide(node, values, "x")
    return 1 / (1 + np.exp(-x))


def softmax(node, values):
    (x,) = wide(node, values, "x")
    axis = node["attrs"]["axis"]
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def layer_norm(node, values):
    x, gamma, beta = wide(node, values, "x", "gamma", "beta")
    far = x - x.mean(axis=-1, keepdims=True)
    epsilon = float(np.float32(node["attrs"]["epsilon"]))
    return far / np.sqrt((far * far).mean(axis=-1, keepdims=True) + epsilon) * gamma + beta


def rms_norm(node, values):
    x, gamma = wide(node, values, "x", "gamma")
    epsilon = float(np.float32(node["attrs"]["epsilon"]))
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * gamma


ROUNDED = {"MatMul": matmul, "Sigmoid": sigmoid, "SoftMax": softmax, "LayerNorm": layer_norm,
           "RMSNorm": rms_norm}
OPS = set(SINGLE) | set(MOVING) | set(ROUNDED)


def evaluate_node(node, values):
    """Adds the results of the node to the values, in the dtype of the first input."""
    op, name, ports = node["op"], node["name"], node["inputs"]
    first = values[ports.get("x", ports.get("a"))]
    if op in MOVING:
        values[name] = MOVING[op](first, node["attrs"])
    elif op in SINGLE:
        a, b = (values[ports[port]].astype(FLOAT32) for port in ("a", "b"))
        values[name] = SINGLE[op](a, b).astype(first.dtype)
    else:
        values[name] = ROUNDED[op](node, values).astype(FLOAT32).astype(first.dtype)


def to_tie(x, step):
    """The distance of x from the middle of two multiples of `step`."""
    quotient = x / step
    return np.abs(quotient - np.floor(quotient) - 0.5) * step


def doubt(node, values):
    """How many elements could differ in float32 arithmetic: codes of Quantize within 2^-13 steps of
    a tie, and narrow floats within 2^-22 of their magnitude of a tie (for a product, of the sum of
    magnitudes). Random roundings add up to a fraction of that."""
    op = node["op"]
    if op == "Quantize":
        x = values[node["inputs"]["x"]].astype(np.float64)
        return int(np.sum(to_tie(x / np.float64(np.float32(node["attrs"]["scales"])), 1) < 2**-13))
    y = values[node["name"]]
    if op not in ROUNDED or y.dtype == FLOAT32:
        return 0
    exact = ROUNDED[op](node, values)
    size = np.abs(exact)
    if op == "MatMul":
        a, b, bias = matmul_operands(node, values)
        size = np.abs(a) @ np.abs(b) + np.abs(bias)
    step = np.exp2(np.floor(np.log2(np.abs(exact))) + 1 - DIGITS[y.dtype])
    return int(np.sum(to_tie(exact, step) < size * 2**-22))
