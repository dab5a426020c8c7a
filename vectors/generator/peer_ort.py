# SPDX-License-Identifier: Apache-2.0
"""Runs groups in ONNX Runtime, with and without optimizations, for peers.py. Each group is written as an ONNX model by
`qdq convert`. Needs onnx and onnxruntime."""

import ctypes
import math
import subprocess
import tempfile
from pathlib import Path

import onnx
import onnxruntime
from tensor import WIDTHS, element_bytes

LEVELS = {"onnx": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, "ort": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}
OWN = {"float32": "float", "float64": "double", "float8_e4m3fn": "float8e4m3fn", "float8_e5m2": "float8e5m2",
       "float8_e4m3fnuz": "float8e4m3fnuz", "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e8m0": "float8e8m0",
       "float4_e2m1": "float4e2m1"}  # fmt: skip
NAMES = {f"tensor({OWN.get(name, name)})": name for name in WIDTHS}


def as_given(graph):
    """Drops the nodes that make scalars of parameters: ONNX Runtime sees the shape that a group has."""
    sizes = {one.name: list(one.dims) for one in graph.initializer}
    dropped = {node.output[0]: node for node in graph.node
               if node.op_type == "Reshape" and node.input[0] in sizes and sizes.get(node.input[1]) == [0]}  # fmt: skip
    for node in dropped.values():
        graph.node.remove(node)
    for node in graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = dropped[name].input[0] if name in dropped else name


def converted(tool, group):
    """Returns the model of a group; None if ONNX cannot express it."""
    with tempfile.TemporaryDirectory() as folder:
        source, model = Path(folder, "g.json"), Path(folder, "g.onnx")
        source.write_text(group.graph())
        done = subprocess.run([tool, "convert", str(source), "-o", str(model)], capture_output=True, text=True)
        if done.returncode != 0:
            return None
        made = onnx.load(str(model))
    as_given(made.graph)
    if group.op == "Quantize":  # a scale of float16 divides in float16 from opset 23 on, and the targets are of opset 25
        made.opset_import[0].version = 25
    return made.SerializeToString()


def onnx_type(dtype):
    return onnx.TensorProto.DataType.Value(OWN.get(dtype, dtype).upper())


def packed(one):
    """Returns the bytes of a tensor as ONNX Runtime has it: codes of 4 and 2 bits share a byte, the first in the low bits."""
    width = WIDTHS[one.dtype]
    if width >= 8 or one.dtype == "bool":
        return one.bytes()
    each = 8 // width
    codes = [*one.bits, *[0] * (-len(one.bits) % each)]
    return bytes(sum(code << width * i for i, code in enumerate(codes[k : k + each])) for k in range(0, len(codes), each))


def unpacked(dtype, data, count):
    width = WIDTHS[dtype]
    if width >= 8 or dtype == "bool":
        return data[: count * element_bytes(dtype)]
    each = 8 // width
    return bytes(data[i // each] >> width * (i % each) & (1 << width) - 1 for i in range(count))


def run(model, group, level):
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    bound, name, held, found = session.io_binding(), "{}" if group.nodes else "in_{}", [], {}
    for port, one in group.inputs.items():
        if not one.constant:
            held.append(ctypes.create_string_buffer(packed(one) or b" "))
            bound.bind_input(name.format(port), "cpu", 0, onnx_type(one.dtype), list(one.shape), ctypes.addressof(held[-1]))
    for one in session.get_outputs():
        dtype, count = NAMES[one.type], math.prod(one.shape)
        found[one.name[4:]] = (dtype, count, ctypes.create_string_buffer(count * element_bytes(dtype) + 1))
        bound.bind_output(one.name, "cpu", 0, onnx_type(dtype), one.shape, ctypes.addressof(found[one.name[4:]][2]))
    session.run_with_iobinding(bound)
    return {output: (dtype, unpacked(dtype, data.raw, count)) for output, (dtype, count, data) in found.items()}


def backends(given):
    models = {}

    def asking(level):
        def ask(group):
            if group.id not in models:
                models[group.id] = converted(given.tool, group)
            return models[group.id] and run(models[group.id], group, level)

        return ask

    release = ".".join(onnxruntime.__version__.split(".")[:2])
    peer = f"ONNX Runtime {onnxruntime.__version__}, x86-64"
    return {f"{name}@{release}-{given.cpu}": asking(level) for name, level in LEVELS.items()}, peer
