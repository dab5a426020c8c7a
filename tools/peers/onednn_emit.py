# SPDX-License-Identifier: Apache-2.0
"""Converts oneDNN Graph to a qdq/1 graph, without qdq's own reader, as a second way to the same
ops."""

import json

from onednn_reader import BINARY, QUANTIZING, REDUCE
from onednn_values import DTYPES

PORTS = {
    "Select": ["condition", "a", "b"],
    "BiasAdd": ["x", "bias"],
    "PReLU": ["x", "slope"],
    "Dropout": ["x", "seed", "offset", "probability"],
    "MatMul": ["a", "b", "bias"],
    "Convolution": ["x", "weights", "bias"],
    "ConvTranspose": ["x", "weights", "bias"],
    "LayerNorm": ["x", "gamma", "beta"],
    "RMSNorm": ["x", "gamma"],
    "GroupNorm": ["x", "gamma", "beta"],
    "BatchNormInference": ["x", "gamma", "beta", "mean", "variance"],
    "BatchNormForwardTraining": ["x", "mean", "variance", "gamma", "beta"],
    "DynamicQuantize": ["x", "scale", "zero_point"],
    "DynamicDequantize": ["x", "scale", "zero_point"],
} | {kind: ["a", "b"] for kind in BINARY}
OUTPUTS = {
    "SoftMax": ["stats"],
    "LayerNorm": ["mean", "variance"],
    "GroupNorm": ["mean", "variance"],
    "BatchNormForwardTraining": [
        "running_mean",
        "running_variance",
        "batch_mean",
        "batch_variance",
    ],
    "Dropout": ["mask"],
}
RENAMED = {"TypeCast": "Cast", "DynamicDequantize": "Dequantize"}
WITH_DTYPE = (
    "Quantize Dequantize DynamicQuantize DynamicDequantize TypeCast Add Subtract Multiply Divide "
    "MatMul SoftMax"
).split()
WINDOW = "strides dilations pads_begin pads_end auto_pad".split()
CONVOLUTION = WINDOW + ["groups", "data_format", "weights_format"]
POOL = WINDOW + ["kernel", "rounding_type", "data_format"]
ATTRS = {
    "LeakyReLU": ["alpha"],
    "Elu": ["alpha"],
    "HardSigmoid": ["alpha", "beta"],
    "Clamp": ["min", "max"],
    "GELU": ["mode"],
    "Select": ["auto_broadcast"],
    "BiasAdd": ["data_format"],
    "PReLU": ["data_format", "per_channel_broadcast"],
    "MatMul": ["transpose_a", "transpose_b"],
    "Convolution": CONVOLUTION,
    "ConvTranspose": CONVOLUTION + ["output_padding"],
    "AvgPool": [a for a in POOL if a != "dilations"] + ["exclude_pad"],
    "MaxPool": POOL,
    "SoftMax": ["axis", "mode"],
    "LogSoftmax": ["axis"],
    "LayerNorm": ["begin_norm_axis", "epsilon", "use_affine", "keep_stats"],
    "RMSNorm": ["begin_norm_axis", "epsilon"],
    "GroupNorm": ["groups", "epsilon", "use_affine", "keep_stats", "data_format"],
    "BatchNormInference": ["epsilon", "data_format"],
    "BatchNormForwardTraining": ["epsilon", "momentum", "data_format"],
    "Interpolate": ["mode", "sizes", "scales", "coordinate_transformation_mode", "data_format"],
    "Concat": ["axis"],
    "StaticReshape": ["shape", "special_zero"],
    "StaticTranspose": ["order"],
    "GenIndex": ["axis"],
    "Quantize": ["qtype", "axis", "scales", "zps"],
    "Dequantize": ["qtype", "axis", "scales", "zps"],
    "DynamicQuantize": ["qtype", "axis"],
    "DynamicDequantize": ["qtype", "axis", "group_shape"],
}
ATTRS |= {kind: ["auto_broadcast"] for kind in BINARY} | {k: ["axes", "keep_dims"] for k in REDUCE}
PER_SPATIAL = "strides dilations pads_begin pads_end output_padding".split()


def attributes(node, rank):
    attrs = {k: v for k, v in node.attrs.items() if k in ATTRS.get(node.kind, [])}
    for name in PER_SPATIAL:
        if name in attrs:
            attrs[name] = attrs[name][: rank - 2]
    if node.kind not in ("StaticReshape", "StaticTranspose"):
        attrs = {k: v for k, v in attrs.items() if v != [] or k.startswith("pads")}
    if node.kind in QUANTIZING and attrs.get("qtype", "per_tensor") != "per_channel":
        attrs.pop("axis", None)  # meaningless there, and perhaps no axis of x
    if node.kind in WITH_DTYPE:
        attrs["dtype"] = DTYPES[node.outputs[0].dtype][0]
    if node.kind == "SoftMax" and len(node.outputs) > 1:
        attrs["keep_stats"] = True
    if node.kind == "Dropout" and len(node.outputs) > 1:
        attrs["keep_mask"] = True
    if node.kind == "TypeCast":
        attrs["saturate"] = False
    return attrs


def emit(graph):
    """A qdq/1 graph; inputs and outputs are named t<ID>, as qdq names them in oneDNN files."""
    names = {i: f"t{i}" for i in graph.inputs}
    nodes = []
    for number, node in enumerate(graph.nodes):
        if node.kind == "End":
            continue
        name = f"n{number}"
        values = [names[t.id] for t in node.inputs]
        if node.kind == "Concat":
            inputs = {"xs": values}
        else:
            inputs = dict(zip(PORTS.get(node.kind, ["x"]), values))
        ports = [name] + [f"{name}.{port}" for port in OUTPUTS.get(node.kind, [])]
        names |= {t.id: port for t, port in zip(node.outputs, ports)}
        attrs = attributes(node, len(graph.shapes[node.inputs[0].id]))
        op = RENAMED.get(node.kind, node.kind)
        nodes.append({"op": op, "name": name, "inputs": inputs, "attrs": attrs})
    return {
        "format": "qdq/1",
        "target": "onednn",
        "inputs": [
            {"name": f"t{i}", "dtype": DTYPES[t.dtype][0], "shape": list(t.shape)}
            for i, t in graph.inputs.items()
        ],
        "nodes": nodes,
        "outputs": [{"name": f"t{i}", "value": names[i]} for i in graph.outputs],
    }


def write(graph, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(emit(graph), file)
