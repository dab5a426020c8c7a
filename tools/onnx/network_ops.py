# SPDX-License-Identifier: Apache-2.0
"""Converts ONNX's float ops and data movement to qdq ops."""

import numpy as np

from model import Refused

LARGEST = {
    "float32": float(np.finfo(np.float32).max),
    "float16": 65504.0,
    "bfloat16": 2.0**127 * 1.9921875,
}


def unary(op, **defaults):
    """One input; ONNX's attributes have the same names, and these defaults."""

    def convert(c, node):
        attrs = {name: node.attr(name, default) for name, default in defaults.items()}
        c.emit(node, op, {"x": node.inputs[0]}, attrs)

    return convert


def binary(op):
    def convert(c, node):
        c.emit(node, op, {"a": node.inputs[0], "b": node.inputs[1]})

    return convert


def folded_pairs(op):
    """Any number of inputs, two at a time."""

    def convert(c, node):
        total, rest = node.inputs[0], node.inputs[1:]
        if not rest:
            c.alias(node, total)
        for i, value in enumerate(rest):
            helper = f"{i}" if i < len(rest) - 1 else None
            total = c.emit(node, op, {"a": total, "b": value}, helper=helper)

    return convert


def where(c, node):
    condition, a, b = node.inputs
    if a.dtype not in ("float32", "float16", "bfloat16"):
        raise Refused(f"'{a.name}' is {a.dtype}, wanted float32, float16, bfloat16")
    if np.broadcast_shapes(a.shape, b.shape) != node.types[0][1]:
        raise Refused("the condition has more elements than both others, wanted it to be broadcast")
    c.emit(node, "Select", {"condition": condition, "a": a, "b": b})


def clip(c, node):
    """A bound that is not given is the end of the dtype."""
    largest = LARGEST[node.inputs[0].dtype]
    bounds = {"min": -largest, "max": largest}
    for i, name in ((1, "min"), (2, "max")):
        value = node.input(i)
        if value is not None and value.data is None:
            raise Refused(f"{name} ('{value.name}') is not a constant")
        if value is not None:
            bounds[name] = float(value.data.reshape(-1)[0])
    if any(np.isnan(bound) for bound in bounds.values()):
        raise Refused("a bound is NaN")
    bounds["min"] = min(bounds["min"], bounds["max"])  # of crossed bounds max wins
    if all(np.isfinite(bound) for bound in bounds.values()):
        c.emit(node, "Clamp", {"x": node.inputs[0]}, bounds)
        return
    # An attribute has no infinity, so what bounds on one side is an op of its own.
    name, op = ("min", "Maximum") if np.isinf(bounds["max"]) else ("max", "Minimum")
    bound = c.scalar(node, name, bounds[name], node.inputs[0].dtype)
    c.emit(node, op, {"a": node.inputs[0], "b": bound})


def gelu(c, node):
    words = {"none": "gelu_erf", "tanh": "gelu_tanh"}
    c.emit(node, "GELU", {"x": node.inputs[0]}, {"mode": words[node.attr("approximate", "none")]})


def prelu(c, node):
    ports = {"x": node.inputs[0], "slope": node.inputs[1]}
    c.emit(node, "PReLU", ports, {"data_format": "NCX", "per_channel_broadcast": False})


# ---- Products


def matmul(c, node):
    c.emit(node, "MatMul", {"a": node.inputs[0], "b": node.inputs[1]})


def gemm(c, node):
    """alpha and beta other than 1 are products of their own."""
    a, b, bias = node.inputs[0], node.inputs[1], node.input(2)
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    bias = bias if beta else None
    turned = {"transpose_a": bool(node.attr("transA")), "transpose_b": bool(node.attr("transB"))}
    if alpha == 1 and (bias is None or beta == 1):
        c.emit(node, "MatMul", {"a": a, "b": b, "bias": bias}, turned)
        return
    y = c.emit(node, "MatMul", {"a": a, "b": b}, turned, helper="product")
    factor = c.scalar(node, "alpha", alpha, a.dtype)
    helper = "scaled" if bias is not None else None
    y = c.emit(node, "Multiply", {"a": y, "b": factor}, helper=helper)
    if bias is None:
        return
    if beta != 1:
        factor = c.scalar(node, "beta", beta, a.dtype)
        bias = c.emit(node, "Multiply", {"a": bias, "b": factor}, helper="bias")
    c.emit(node, "Add", {"a": y, "b": bias})


# ---- Normalization


def affine(c, node, i, shape):
    """Input i as a list for the dims `shape`; float32, which ours takes with every dtype."""
    value = node.input(i)
    if value is not None and value.shape != shape:
        if value.data is None:
            raise Refused(f"'{value.name}' has the shape {list(value.shape)}, wanted {list(shape)}")
        value = c.changed(node, value, np.broadcast_to(value.data, shape))
    return c.float32(node, value) if value is not None else None


def stashes_float32(node):
    if node.attr("stash_type", 1) != 1:
        raise Refused(f"stash_type is {node.attr('stash_type')}, wanted 1, which is float32")


def layer_norm(c, node):
    x, axis = node.inputs[0], node.attr("axis", -1)
    stashes_float32(node)
    shape = x.shape[axis:]
    ports = {"x": x, "gamma": affine(c, node, 1, shape), "beta": affine(c, node, 2, shape)}
    if ports["beta"] is None:
        ports["beta"] = c.extra(node, "beta", np.zeros(shape, np.float32), "float32")
    attrs = {"begin_norm_axis": axis, "epsilon": node.attr("epsilon", 1e-5), "keep_stats": False}
    c.emit(node, "LayerNorm", ports, attrs)


def rms_norm(c, node):
    x, axis = node.inputs[0], node.attr("axis", -1)
    stashes_float32(node)
    ports = {"x": x, "gamma": affine(c, node, 1, x.shape[axis:])}
    attrs = {"begin_norm_axis": axis, "epsilon": node.attr("epsilon", 1e-5)}
    c.emit(node, "RMSNorm", ports, attrs)


def group_norm(c, node):
    """That of opset 18, with scales of groups, is deprecated, and refused by the checker."""
    stashes_float32(node)
    ports = {"x": node.inputs[0]}
    ports |= {"gamma": c.float32(node, node.inputs[1]), "beta": c.float32(node, node.inputs[2])}
    attrs = {"groups": node.attr("num_groups"), "epsilon": node.attr("epsilon", 1e-5)}
    attrs["keep_stats"] = False
    c.emit(node, "GroupNorm", ports, attrs | {"data_format": "NCX"})


def batch_norm(c, node):
    if node.attr("training_mode", 0):
        raise Refused("training_mode is 1, wanted 0")
    ports = {"x": node.inputs[0]}
    for i, name in enumerate(("gamma", "beta", "mean", "variance")):
        ports[name] = c.float32(node, node.inputs[i + 1])
    attrs = {"epsilon": node.attr("epsilon", 1e-5), "data_format": "NCX"}
    c.emit(node, "BatchNormInference", ports, attrs)


# ---- Reductions and movement


def reduce(op):
    def convert(c, node):
        x, given = node.inputs[0], node.input(1)
        if given is not None and given.data is None:
            raise Refused(f"axes ('{given.name}') are not constant")
        axes = node.attr("axes", []) if given is None else [int(v) for v in given.data]
        if not axes and node.attr("noop_with_empty_axes", 0):
            raise Refused("it has no axes, and noop_with_empty_axes; leave it out")
        axes = list(axes) or list(range(len(x.shape)))
        if not axes:
            raise Refused(f"'{x.name}' has no dims")
        c.emit(node, op, {"x": x}, {"axes": axes, "keep_dims": bool(node.attr("keepdims", 1))})

    return convert


def global_pool(op):
    def convert(c, node):
        axes = list(range(2, len(node.inputs[0].shape)))
        c.emit(node, op, {"x": node.inputs[0]}, {"axes": axes, "keep_dims": True})

    return convert


def concat(c, node):
    c.emit(node, "Concat", {"xs": node.inputs}, {"axis": node.attr("axis")})


def reshape(c, node):
    """Also Flatten, Squeeze and Unsqueeze: the shape is known."""
    shape = list(node.types[0][1])
    c.emit(node, "StaticReshape", {"x": node.inputs[0]}, {"shape": shape, "special_zero": False})


def transpose(c, node):
    order = node.attr("perm") or list(range(len(node.inputs[0].shape)))[::-1]
    if not order:
        c.alias(node, node.inputs[0])
        return
    c.emit(node, "StaticTranspose", {"x": node.inputs[0]}, {"order": order})


def identity(c, node):
    c.alias(node, node.inputs[0])


def dropout(c, node):
    training = node.input(2)
    if training is not None and (training.data is None or np.any(training.data)):
        raise Refused("training_mode is not false")
    c.alias(node, node.inputs[0])

