# SPDX-License-Identifier: Apache-2.0
"""Computes nodes with ONNX Runtime.

Nodes without a counterpart in ONNX are left out: int32 and float4 results, zero points that the
quantized type cannot hold, blocks along several dims, Requantize of a float. If a DynamicQuantize
computes other parameters than DynamicQuantizeLinear, only the quantizing with its parameters is
compared."""

import numpy as np

from dtypes import DTYPES, is_integer, limits_of
from reference import Parameters, grid_of, read_parameters

try:
    import onnxruntime
    from onnx import TensorProto, helper

    INSTALLED = True
except ImportError:
    INSTALLED = False

NAME = "onnxruntime"
FLOAT32 = DTYPES["float32"]
QUANTIZED = {
    DTYPES[ours]: theirs
    for ours, theirs in {
        "int8": "INT8", "uint8": "UINT8", "int4": "INT4", "uint4": "UINT4",
        "float8_e4m3fn": "FLOAT8E4M3FN", "float8_e5m2": "FLOAT8E5M2",
    }.items()
}
REAL = {DTYPES["float16"]: "FLOAT16", DTYPES["bfloat16"]: "BFLOAT16", FLOAT32: "FLOAT"}


def run_nodes(nodes, feeds, results):
    """Runs a graph of nodes; inputs and outputs are float32, except results of another type."""
    types = {FLOAT32: TensorProto.FLOAT, DTYPES["uint8"]: TensorProto.UINT8}
    graph = helper.make_graph(
        nodes,
        "peer",
        [helper.make_tensor_value_info(n, types[a.dtype], a.shape) for n, a in feeds.items()],
        [helper.make_tensor_value_info(n, types[d], None) for n, d in results.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return [np.asarray(made) for made in session.run(None, feeds)]


def cast_node(given, made, theirs):
    return helper.make_node("Cast", [given], [made], to=getattr(TensorProto, theirs))


def layout(parameters, shape):
    """The shape of a parameter, and the attributes that describe which elements share it."""
    grid = parameters.grid
    if max(parameters.scale.size, parameters.zero.size) == 1:
        return (), {}
    if len(grid.shape) == 1 and shape != grid.shape:
        blocked = [d for d, group in enumerate(grid.groups) if group == 1 and shape[d] > 1]
        return grid.shape, {"axis": blocked[0]}
    blocked = [d for d, group in enumerate(grid.groups) if group != 1]
    if len(blocked) > 1:
        return None, {}
    axis = blocked[0] if blocked else len(shape) - 1
    return grid.shape, {"axis": axis, "block_size": grid.groups[axis]}


def linear(op, x, parameters, quantized):
    """QuantizeLinear or DequantizeLinear; None if ONNX lacks the types or zero points. x and y are
    float32, which holds all their values."""
    shape, attrs = layout(parameters, x.shape)
    if quantized not in QUANTIZED or shape is None:
        return None
    if is_integer(quantized):
        limits = limits_of(quantized)
        if parameters.zero.min() < limits.min or parameters.zero.max() > limits.max:
            return None
    count = int(np.prod(shape))
    feeds = {"x": np.asarray(x.astype(np.float32))}
    for name, parameter in (("scale", parameters.scale), ("zero", parameters.zero)):
        feeds[name] = np.broadcast_to(parameter.reshape(-1), (count,)).reshape(shape)
        feeds[name] = feeds[name].astype(np.float32)
    theirs = QUANTIZED[quantized]
    nodes = [cast_node("zero", "z", theirs)]
    if op == "QuantizeLinear":
        nodes.append(helper.make_node(op, ["x", "scale", "z"], ["q"], **attrs))
        nodes.append(cast_node("q", "y", "FLOAT"))
    else:
        nodes.append(cast_node("x", "q", theirs))
        nodes.append(helper.make_node(op, ["q", "scale", "z"], ["y"], **attrs))
    return run_nodes(nodes, feeds, {"y": FLOAT32})[0]


def cast(x, dtype):
    """Cast from the dtype of x. Arrays are float32, which holds these values."""
    names = [REAL.get(t) or QUANTIZED.get(t) or str(t).upper() for t in (x.dtype, dtype)]
    nodes = [
        cast_node("x", "given", names[0]),
        cast_node("given", "made", names[1]),
        cast_node("made", "y", "FLOAT"),
    ]
    return run_nodes(nodes, {"x": np.asarray(x.astype(np.float32))}, {"y": FLOAT32})[0]


def peer_outputs(node, values):
    """The results of ONNX Runtime for the node: arrays by value name; empty if it cannot run it."""
    op, name, attrs = node["op"], node["name"], node.get("attrs", {})
    x, y = values[node["inputs"]["x"]], values[name]
    computed = [name + ".scale", name + ".zero_point"]

    if op == "Cast":
        return {name: cast(x, y.dtype).astype(y.dtype)}

    if op == "Dequantize":
        result = linear("DequantizeLinear", x, read_parameters(node, values, x), x.dtype)
        return {} if result is None else {name: result.astype(y.dtype)}

    if op == "Requantize":
        source = read_parameters(node, values, x, "in_")
        parameters = read_parameters(node, values, x, "out_")
        x = linear("DequantizeLinear", x, source, x.dtype)
    elif computed[0] in values:
        if y.dtype == np.uint8 and x.dtype == FLOAT32 and not {"qtype", "scheme"} & set(attrs):
            dynamic = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])
            results = {"y": y.dtype, "scale": FLOAT32, "zero": y.dtype}
            return dict(zip([name] + computed, run_nodes([dynamic], {"x": x}, results)))
        scale, zero = (values[port] for port in computed)
        if scale.dtype != FLOAT32:
            return {}
        grid = grid_of(attrs, x.shape)
        parameters = Parameters(scale, zero.astype(np.int64), grid)
    else:
        parameters = read_parameters(node, values, x)
    if x is None:
        return {}
    result = linear("QuantizeLinear", x, parameters, y.dtype)
    return {} if result is None else {name: result.astype(y.dtype)}
