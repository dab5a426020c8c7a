# SPDX-License-Identifier: Apache-2.0
"""Converts ONNX's quantizing ops and integer products to qdq ops."""

import numpy as np
from onnx import TensorProto

from model import DTYPES, Refused, elem_name
from qdq_file import INTS, number
from windows import window_attrs

SCALES = ("float32", "float16", "bfloat16", "float8_e8m0")


def granularity(node, x, scale):
    """Which elements share a parameter. The shape of the scale says it."""
    block, axis = node.attr("block_size", 0), node.attr("axis", 1)
    if not block and int(np.prod(scale.shape)) == 1:
        return {}
    if not -len(x.shape) <= axis < len(x.shape):
        raise Refused(f"axis is {axis}, and '{x.name}' has {len(x.shape)} dims")
    axis %= len(x.shape)
    wanted = [x.shape[axis]]
    if block:
        wanted = list(x.shape)
        wanted[axis] = -(-x.shape[axis] // block)
    if list(scale.shape) != wanted:
        raise Refused(f"the scale has the shape {list(scale.shape)}, wanted {wanted}")
    if not block:
        return {"qtype": "per_channel", "axis": axis}
    group = [1] * len(x.shape)
    group[axis] = min(block, x.shape[axis])
    return {"qtype": "per_group", "group_shape": group}


def quantization(c, node, codes):
    """Ports and attributes that QuantizeLinear and DequantizeLinear share; `codes` is the dtype of
    the quantized side."""
    x, scale, zero_point = node.inputs[0], node.inputs[1], node.input(2)
    if scale.dtype not in SCALES:
        raise Refused(f"the scale is {scale.dtype}, wanted one of {', '.join(SCALES)}")
    ports, attrs = {"x": x}, granularity(node, x, scale)
    if scale.data is not None and scale.dtype == "float32" and scale.data.size == 1 and not attrs:
        attrs["scales"] = number(scale.data.reshape(-1)[0])
    else:
        ports["scale"] = scale
    if zero_point is None:
        return ports, attrs
    if codes in INTS and codes != "int32":
        ports["zero_point"] = zero_point
    elif zero_point.data is None or np.any(zero_point.data.astype(np.float32)):
        raise Refused(f"the zero point of {codes} is not a constant 0, wanted 0 or none")
    elif codes != "int32":
        attrs["zps"] = 0
    return ports, attrs


def precision(node, scale):
    asked = node.attr("precision", 0)
    if asked not in (0, TensorProto.FLOAT, scale.elem):
        raise Refused(f"precision is {elem_name(asked)}, wanted float32 or what the scale is")


def quantize(c, node):
    zero_point, asked = node.input(2), node.attr("output_dtype", 0)
    codes = zero_point.dtype if zero_point else DTYPES[asked or TensorProto.UINT8]
    precision(node, node.inputs[1])
    ports, attrs = quantization(c, node, codes)
    attrs["dtype"] = codes
    if codes.startswith("float8") and not node.attr("saturate", 1):
        attrs["saturate"] = False
    c.emit(node, "Quantize", ports, attrs)


def dequantize(c, node):
    ports, attrs = quantization(c, node, node.inputs[0].dtype)
    attrs["dtype"] = DTYPES[node.types[0][0]]
    c.emit(node, "Dequantize", ports, attrs)


def dynamic_quantize(c, node):
    attrs = {"dtype": "uint8", "scheme": "asymmetric"}
    ports = {"x": node.inputs[0]}
    c.emit(node, "DynamicQuantize", ports, attrs, outputs=("y", "scale", "zero_point"))


def cast(c, node):
    to = node.attr("to")
    if to not in DTYPES:
        raise Refused(f"it makes {elem_name(to)}, which qdq does not compute with")
    if to == node.inputs[0].elem:
        c.alias(node, node.inputs[0])
        return
    attrs = {"dtype": DTYPES[to]}
    if attrs["dtype"].startswith("float8"):
        attrs["saturate"] = bool(node.attr("saturate", 1))
    if attrs["dtype"] == "float8_e8m0":
        attrs["round_mode"] = node.attr("round_mode", "up")
    c.emit(node, "Cast", {"x": node.inputs[0]}, attrs)


# ---- Products of integers


def parameter(c, node, i, keep):
    """A scale or zero point of a product: one element, or a list. ONNX also has it with dims of 1
    around; `keep` is the dim that counts then."""
    value = node.input(i)
    if value is None or len(value.shape) <= 1:
        return value
    if any(dim != 1 for j, dim in enumerate(value.shape) if j - len(value.shape) != keep):
        raise Refused(f"'{value.name}' has the shape {list(value.shape)}, wanted one dim")
    return c.reshaped(node, value, (value.shape[keep],))


def matmul_integer(c, node):
    ports = {"a": node.inputs[0], "b": node.inputs[1]}
    ports |= {"a_zero_point": parameter(c, node, 2, -2), "b_zero_point": parameter(c, node, 3, -1)}
    c.emit(node, "MatMulInteger", ports)


def qlinear_matmul(c, node):
    names = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale",
             "y_zero_point")  # fmt: skip
    keep = {1: -2, 2: -2, 4: -1, 5: -1}
    ports = {
        name: parameter(c, node, i, keep[i]) if i in keep else node.inputs[i]
        for i, name in enumerate(names)
    }
    c.emit(node, "QLinearMatMul", ports)


def conv_integer(c, node):
    names = ("x", "w", "x_zero_point", "w_zero_point")
    ports = {name: node.input(i) for i, name in enumerate(names)}
    c.emit(node, "ConvInteger", ports, window_attrs(node, groups=True))


def qlinear_conv(c, node):
    names = ("x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale",
             "y_zero_point", "bias")  # fmt: skip
    ports = {name: node.input(i) for i, name in enumerate(names)}
    c.emit(node, "QLinearConv", ports, window_attrs(node, groups=True))
