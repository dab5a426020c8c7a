# SPDX-License-Identifier: Apache-2.0
"""Reads an ONNX model: its nodes in order, the type of every value, and the data of values that are
known before a run."""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, inliner, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

OPSETS = range(13, 26)

DTYPES = {
    TensorProto.FLOAT: "float32", TensorProto.FLOAT16: "float16", TensorProto.BFLOAT16: "bfloat16",
    TensorProto.INT8: "int8", TensorProto.UINT8: "uint8", TensorProto.INT4: "int4",
    TensorProto.UINT4: "uint4", TensorProto.INT2: "int2", TensorProto.UINT2: "uint2",
    TensorProto.INT16: "int16", TensorProto.UINT16: "uint16", TensorProto.INT32: "int32",
    TensorProto.BOOL: "bool", TensorProto.FLOAT8E4M3FN: "float8_e4m3fn",
    TensorProto.FLOAT8E5M2: "float8_e5m2", TensorProto.FLOAT8E4M3FNUZ: "float8_e4m3fnuz",
    TensorProto.FLOAT8E5M2FNUZ: "float8_e5m2fnuz", TensorProto.FLOAT8E8M0: "float8_e8m0",
    TensorProto.FLOAT4E2M1: "float4_e2m1",
}  # fmt: skip
SAME_IN_MICROSOFT = ("QuantizeLinear", "DequantizeLinear")  # those of com.microsoft are ONNX's
SHAPES = (TensorProto.INT64, TensorProto.FLOAT)  # what shapes are inferred from
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike")  # fmt: skip


class Refused(Exception):
    """A node or value that cannot be converted. The sentence says what was found, what was wanted
    and how to mend it."""


def elem_name(elem):
    return DTYPES.get(elem) or TensorProto.DataType.Name(elem).lower()


@dataclass
class Value:
    name: str
    elem: int  # of TensorProto
    shape: tuple
    data: np.ndarray | None = None
    ref: str | None = None  # what it is called in the graph that is made

    @property
    def dtype(self):
        """The dtype of qdq; refused if it has none, or no such shape."""
        if self.elem not in DTYPES:
            raise Refused(
                f"'{self.name}' is {elem_name(self.elem)}, which qdq does not compute with; "
                "such values are taken only where they are known without the inputs"
            )
        if len(self.shape) > 8 or 0 in self.shape:
            raise Refused(
                f"'{self.name}' has the shape {list(self.shape)}, wanted at most 8 dims, each at "
                "least 1"
            )
        return DTYPES[self.elem]


@dataclass
class Node:
    proto: onnx.NodeProto
    opset: int
    inputs: list = field(default_factory=list)  # of Value; None: not given
    types: list = field(default_factory=list)  # of outputs: (elem, shape)
    wanted: list = field(default_factory=list)  # outputs that something reads

    def __post_init__(self):
        self.attrs = {a.name: helper.get_attribute_value(a) for a in self.proto.attribute}
        self.op, self.outputs = self.proto.op_type, list(self.proto.output)

    def attr(self, name, default=None):
        value = self.attrs.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def input(self, i):
        return self.inputs[i] if i < len(self.inputs) else None

    def title(self):
        domain = f" of {self.proto.domain}" if self.proto.domain not in ("", "ai.onnx") else ""
        name = self.proto.name or (self.outputs or [""])[0]
        return f"node '{name}' ({self.op}{domain})"


class Model:
    def __init__(self, path, shapes):
        proto = onnx.load(path)
        if proto.functions:
            proto = inliner.inline_local_functions(proto)
        check(proto)
        self.opset = next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), 0)
        if self.opset not in OPSETS:
            raise Refused(
                f"the opset is {self.opset}, wanted {OPSETS[0]} to {OPSETS[-1]}; "
                "onnx.version_converter can convert it"
            )
        self.graph, self.ir_version = proto.graph, proto.ir_version
        if self.graph.sparse_initializer:
            raise Refused("there are sparse initializers; make them dense")
        self.values = {}
        for tensor in self.graph.initializer:
            self.add_constant(tensor.name, numpy_helper.to_array(tensor), tensor.data_type)
        self.inputs = [v for v in self.graph.input if v.name not in self.values]
        self.add_inputs(shapes)
        self.read = {name for node in self.graph.node for name in node.input}
        self.read.update(value.name for value in self.graph.output)

    def add_constant(self, name, data, elem):
        self.values[name] = Value(name, elem, tuple(data.shape), data)

    def add_inputs(self, shapes):
        unknown = sorted(set(shapes) - {value.name for value in self.inputs})
        if unknown:
            names = ", ".join(f"'{value.name}'" for value in self.inputs)
            raise Refused(f"--input-shape names '{unknown[0]}', wanted an input: {names}")
        wrong = []
        for value in self.inputs:
            try:
                elem = value.type.tensor_type.elem_type
                shape = input_shape(value, shapes.get(value.name))
                self.values[value.name] = Value(value.name, elem, shape)
            except Refused as why:
                wrong.append(f"input {why}")
        if wrong:
            raise Refused("\n".join(wrong))

    def names(self):
        """All names of values."""
        made = [name for node in self.graph.node for name in node.output]
        return [name for name in [*self.values, *made] if name]

    def nodes(self):
        for proto in self.graph.node:
            node = Node(proto, self.opset)
            node.wanted = [name in self.read and bool(name) for name in proto.output]
            yield node

    def infer(self, node):
        """Fills in the inputs and the types of the outputs; False if they cannot be known."""
        names = list(node.proto.input)
        if any(name and name not in self.values for name in names):
            return False
        node.inputs = [self.values[name] if name else None for name in names]
        proto, version = node.proto, self.opset
        if proto.domain == "com.microsoft" and proto.op_type in SAME_IN_MICROSOFT:
            proto = onnx.NodeProto()
            proto.CopyFrom(node.proto)
            proto.domain, version = "", OPSETS[-1]
        if proto.domain not in ("", "ai.onnx") or not onnx.defs.has(proto.op_type):
            return False
        given = [value for value in node.inputs if value]
        known = {
            v.name: numpy_helper.from_array(v.data, v.name)
            for v in given
            if v.data is not None and v.elem in SHAPES and v.data.size <= 1024
        }
        types = shape_inference.infer_node_outputs(
            onnx.defs.get_schema(proto.op_type, version, ""),
            proto,
            {v.name: helper.make_tensor_type_proto(v.elem, v.shape) for v in given},
            known,
            opset_imports=[helper.make_opsetid("", version)],
            ir_version=self.ir_version,
        )
        node.types = [static_type(types.get(name)) for name in node.outputs]
        if proto.op_type == "GroupNormalization":  # ONNX infers nothing
            node.types = [(given[0].elem, given[0].shape)]
        return True

    def fold(self, node):
        """The outputs of a node on constants alone, by ONNX's reference implementation; or None."""
        shape_only = node.op in ("Shape", "Size")
        if node.op in RANDOM or node.proto.domain not in ("", "ai.onnx"):
            return None
        given = [value for value in node.inputs if value]
        if not shape_only and any(value.data is None for value in given):
            return None
        feeds = {v.name: np.zeros(v.shape) if shape_only else v.data for v in given}
        ins = [helper.make_tensor_value_info(v.name, v.elem, v.shape) for v in given]
        outs = [onnx.ValueInfoProto(name=name) for name in node.outputs if name]
        ins = list({value.name: value for value in ins}.values())
        graph = helper.make_graph([node.proto], "fold", ins, outs)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        try:
            return ReferenceEvaluator(made).run(None, feeds)
        except Exception:  # It then is a node like any other.
            return None


def check(proto):
    """ONNX's checker, which also wants shapes where other readers do not."""
    values = [v.type for v in (*proto.graph.input, *proto.graph.output)]
    bare = [t.tensor_type for t in values if t.HasField("tensor_type")]
    bare = [tensor for tensor in bare if not tensor.HasField("shape")]
    for tensor in bare:
        tensor.shape.SetInParent()
    onnx.checker.check_model(proto)
    for tensor in bare:
        tensor.ClearField("shape")


def static_type(proto):
    if proto is None or not proto.HasField("tensor_type"):
        return None
    tensor = proto.tensor_type
    dims = tensor.shape.dim
    if not tensor.HasField("shape") or not all(dim.HasField("dim_value") for dim in dims):
        return None
    return tensor.elem_type, tuple(dim.dim_value for dim in dims)


def input_shape(value, given):
    """The shape of an input: its own, or the one that the command line gives."""
    if value.type.WhichOneof("value") != "tensor_type":
        raise Refused(f"'{value.name}' is no tensor, and qdq knows only those")
    if value.type.tensor_type.elem_type not in DTYPES:
        raise Refused(
            f"'{value.name}' is {elem_name(value.type.tensor_type.elem_type)}, wanted a dtype that "
            "qdq computes with; cut the model behind the nodes that use it"
        )
    tensor, ask = value.type.tensor_type, f"--input-shape {value.name}=D,D,..."
    dims = tensor.shape.dim
    if given is None and not tensor.HasField("shape"):
        raise Refused(f"'{value.name}' has no shape; give one with {ask}")
    if given is not None and tensor.HasField("shape") and len(given) != len(dims):
        raise Refused(f"'{value.name}' has {len(dims)} dims, and --input-shape gives {len(given)}")
    for i, dim in enumerate(dims):
        fixed = dim.HasField("dim_value") and dim.dim_value > 0
        if given is None and not fixed:
            word = f"'{dim.dim_param}'" if dim.dim_param else "not given"
            raise Refused(f"'{value.name}': dim {i} is {word}; give the shape with {ask}")
        if given is not None and fixed and given[i] != dim.dim_value:
            raise Refused(
                f"'{value.name}': dim {i} is {dim.dim_value}, and --input-shape gives {given[i]}"
            )
    return tuple(given) if given is not None else tuple(dim.dim_value for dim in dims)
