# SPDX-License-Identifier: Apache-2.0
"""Converts a qdq/1 graph of a network to an ONNX model and runs it in ONNX Runtime.

Quantize and Dequantize become QuantizeLinear and DequantizeLinear, per tensor, per channel, or in
blocks along one axis. ONNX has no blocks along several axes: such weights become float32, code *
scale."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import ort_session
import safetensors
from onnx import TensorProto, helper

OPSET, IR = 23, 11
TYPES = {
    "float32": TensorProto.FLOAT, "bfloat16": TensorProto.BFLOAT16, "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8, "int4": TensorProto.INT4,
    "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
}
ARRAYS = {"int4": np.int8, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
          "bfloat16": ml_dtypes.bfloat16}
SAME_OP = {"ReLU": "Relu", "Sigmoid": "Sigmoid", "Add": "Add", "Multiply": "Mul",
           "Divide": "Div"}
STORED = {"F32": np.float32, "I8": np.int8, "U8": np.uint8, "BF16": ml_dtypes.bfloat16,
          "F8_E4M3": ml_dtypes.float8_e4m3fn}


def load_tensors(path):
    return {name: np.frombuffer(one["data"], STORED[one["dtype"]]).reshape(one["shape"])
            for name, one in safetensors.deserialize(Path(path).read_bytes())}


class Model:
    """The nodes and initializers so far. `known` has the arrays of constants, `ranks` the rank of
    every value of the graph."""

    def __init__(self):
        self.nodes, self.initializers, self.known, self.ranks = [], [], {}, {}

    def constant(self, name, dtype, array):
        self.known[name] = np.asarray(array)
        if dtype == "int4":
            codes = (np.asarray(array, np.int64) & 15).reshape(-1)
            codes = np.append(codes, np.zeros(len(codes) % 2, np.int64))
            raw, shape = (codes[::2] | codes[1::2] << 4).astype(np.uint8).tobytes(), array.shape
        else:
            raw, shape = np.ascontiguousarray(array).tobytes(), np.shape(array)
        self.initializers.append(helper.make_tensor(name, TYPES[dtype], shape, raw, raw=True))
        return name

    def node(self, op, inputs, output, **attrs):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attrs))
        return output


def parameters(model, node, dtype):
    """The names of scale and zero point, and the attributes that describe which elements share
    them."""
    name, attrs, ports = node["name"], node["attrs"], node["inputs"]
    where = {}
    if attrs.get("qtype") == "per_channel":
        where = {"axis": attrs.get("axis", 1)}
    elif attrs.get("qtype") == "per_group":
        blocked = [i for i, size in enumerate(attrs["group_shape"]) if size != 1]
        if len(blocked) > 1:
            return None
        where = {"axis": blocked[0], "block_size": attrs["group_shape"][blocked[0]]}
    if "scale" in ports:
        scale, shape = ports["scale"], model.known[ports["scale"]].shape
    else:
        array = np.array(attrs["scales"], np.float32)
        scale, shape = model.constant(name + ".s", "float32", array), array.shape
    zero = np.full(shape, attrs.get("zps", 0)).astype(ARRAYS.get(dtype, dtype))
    return scale, model.constant(name + ".z", dtype, zero), where


def add_quantize(model, node, dtypes):
    dtype = node["attrs"].get("dtype", "int8")
    scale, zero, where = parameters(model, node, dtype)
    model.node("QuantizeLinear", [node["inputs"]["x"], scale, zero], node["name"], **where)
    return dtype


def add_dequantize(model, node, dtypes):
    x, name = node["inputs"]["x"], node["name"]
    found = parameters(model, node, dtypes[x])
    dtype = node["attrs"].get("dtype", "bfloat16")
    if found:
        scale, zero, where = found
        real = name if dtype == "float32" else name + ".float32"
        model.node("DequantizeLinear", [x, scale, zero], real, **where)
        if real != name:
            model.node("Cast", [real], name, to=TYPES[dtype])
        return dtype
    scale = model.known[node["inputs"]["scale"]]
    for axis, size in enumerate(node["attrs"]["group_shape"]):
        scale = np.repeat(scale, size, axis=axis)
    real = model.known[x].astype(np.float32) * scale
    model.constant(name, dtype, real.astype(ARRAYS.get(dtype, dtype)))
    return dtype


def add_matmul(model, node, dtypes):
    ports, name, attrs = dict(node["inputs"]), node["name"], node["attrs"]
    for port in ("a", "b"):
        if attrs.get("transpose_" + port):
            order = list(range(model.ranks[ports[port]]))
            order[-2:] = order[:-3:-1]
            ports[port] = model.node("Transpose", [ports[port]], f"{name}.{port}", perm=order)
    product = name + ".product" if "bias" in ports else name
    model.node("MatMul", [ports["a"], ports["b"]], product)
    if "bias" in ports:
        model.node("Add", [product, ports["bias"]], name)
    return dtypes[node["inputs"]["a"]]


def add_window(model, node, dtypes):
    """Convolution and MaxPool; data_format and weights_format are ONNX's."""
    attrs, ports = node["attrs"], node["inputs"]
    assert attrs["data_format"] == "NCX" and attrs.get("weights_format", "OIX") == "OIX"
    more = {"strides": attrs["strides"], "pads": attrs["pads_begin"] + attrs["pads_end"]}
    if node["op"] == "MaxPool":
        more["kernel_shape"] = attrs["kernel"]
    op = {"Convolution": "Conv", "MaxPool": "MaxPool"}[node["op"]]
    inputs = [ports[port] for port in ("x", "weights", "bias") if port in ports]
    model.node(op, inputs, node["name"], **more)
    return dtypes[ports["x"]]


def add_norm(model, node, dtypes):
    ports, attrs = node["inputs"], node["attrs"]
    op = {"LayerNorm": "LayerNormalization", "RMSNorm": "RMSNormalization"}[node["op"]]
    inputs = [ports[port] for port in ("x", "gamma", "beta") if port in ports]
    model.node(op, inputs, node["name"], axis=attrs.get("begin_norm_axis", -1),
               epsilon=attrs.get("epsilon", 1e-5))
    return dtypes[ports["x"]]


def add_other(model, node, dtypes):
    op, ports, attrs, name = node["op"], node["inputs"], node["attrs"], node["name"]
    first = ports.get("x", ports.get("a"))
    if op == "StaticReshape":
        shape = np.array(attrs["shape"], np.int64)
        model.initializers.append(helper.make_tensor(
            name + ".shape", TensorProto.INT64, shape.shape, shape.tobytes(), raw=True))
        model.node("Reshape", [first, name + ".shape"], name)
    elif op == "StaticTranspose":
        model.node("Transpose", [first], name, perm=attrs["order"])
    elif op == "SoftMax":
        model.node("Softmax", [first], name, axis=attrs.get("axis", 1))
    elif op == "Cast":
        model.node("Cast", [first], name, to=TYPES[attrs["dtype"]])
        return attrs["dtype"]
    else:
        model.node(SAME_OP[op], list(ports.values()), name)
    return dtypes[first]


ADD = {"Quantize": add_quantize, "Dequantize": add_dequantize, "MatMul": add_matmul,
       "Convolution": add_window, "MaxPool": add_window, "LayerNorm": add_norm,
       "RMSNorm": add_norm}


def convert(path):
    """The ONNX model of a graph file; its outputs are named after the graph's values."""
    graph = json.loads(Path(path).read_text())
    model, dtypes = Model(), {}
    for constant in graph.get("constants", []):
        name, dtype = constant["name"], constant["dtype"]
        array = load_tensors(Path(path).parent / constant["file"])[constant["tensor"]]
        dtypes[name], model.ranks[name] = dtype, len(constant["shape"])
        model.constant(name, dtype, array)
    for value in graph["inputs"]:
        dtypes[value["name"]], model.ranks[value["name"]] = value["dtype"], len(value["shape"])
    for node in graph["nodes"]:
        first = node["inputs"].get("x", node["inputs"].get("a"))
        model.ranks[node["name"]] = len(node["attrs"].get("shape", model.ranks[first] * [0]))
        dtypes[node["name"]] = ADD.get(node["op"], add_other)(model, node, dtypes)
    made = helper.make_graph(
        model.nodes, graph["name"],
        [helper.make_tensor_value_info(v["name"], TYPES[v["dtype"]], v["shape"])
         for v in graph["inputs"]],
        [helper.make_tensor_value_info(v["value"], TYPES[dtypes[v["value"]]], None)
         for v in graph["outputs"]],
        model.initializers)
    made = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    return made, [v["name"] for v in graph["outputs"]]


def run(path, inputs, optimize):
    """Outputs by name."""
    model, names = convert(path)
    results = ort_session.run(model, inputs, level="all" if optimize else "disabled")
    return dict(zip(names, map(np.asarray, results.values())))
