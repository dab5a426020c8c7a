# SPDX-License-Identifier: Apache-2.0
"""Builds and keeps a model: its file, its inputs, and the results of ONNX Runtime or of ONNX's reference."""

import json
import struct
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

FOLDER = Path(__file__).resolve().parent / "models"
WORDS = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "int8": "I8", "uint8": "U8", "int4": "I8",
         "uint4": "U8", "int2": "I8", "uint2": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "int64": "I64",
         "uint32": "U32", "uint64": "U64", "float64": "F64", "bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float4_e2m1fn": "U8"}  # fmt: skip
RANDOM = np.random.default_rng(14)


def save_tensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        word = WORDS[str(array.dtype)]
        if word in ("I8", "U8"):
            array = array.astype(np.int8) if word == "I8" else (
                array.view(np.uint8) if str(array.dtype).startswith("float4") else array.astype(np.uint8))
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": word, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def expected(model, feeds, reference, optimized=False):
    names = [value.name for value in model.graph.output]
    if reference:
        return dict(zip(names, ReferenceEvaluator(model).run(names, feeds)))
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, feeds)))


def info(name, shape, elem=T.FLOAT):
    return h.make_tensor_value_info(name, elem, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def longs(name, *values):
    return constant(name, np.array(values, np.int64))


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def model(nodes, inputs, outputs, constants=(), opset=17, functions=(), ir=8):
    bare = [onnx.ValueInfoProto(name=o) if isinstance(o, str) else o for o in outputs]
    graph = h.make_graph(nodes, "g", inputs, bare, list(constants))
    opsets = [h.make_opsetid("", opset), h.make_opsetid("own", 1), h.make_opsetid("com.microsoft", 1)]
    made = h.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions), producer_name="")
    types = {v.name: v.type.tensor_type.elem_type for v in onnx.shape_inference.infer_shapes(made).graph.output}
    for value in made.graph.output:
        if not value.HasField("type"):
            value.CopyFrom(info(value.name, None, types[value.name] or T.FLOAT))
    return made


def keep(name, made, feeds, reference=False, wanted=None):
    (FOLDER / f"{name}.onnx").write_bytes(made.SerializeToString())
    if feeds:
        save_tensors(FOLDER / f"{name}.in.safetensors", feeds)
    save_tensors(FOLDER / f"{name}.out.safetensors", wanted or expected(made, feeds, reference))


N = h.make_node
