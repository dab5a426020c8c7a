# SPDX-License-Identifier: Apache-2.0
"""Runs groups in ONNX Runtime, with and without optimizations, for peers.py. Each group is written as an ONNX model by
`qdq convert`. Needs numpy, onnx and onnxruntime."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

LEVELS = {"onnx": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, "ort": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}
KINDS = {"float32": "f4", "float16": "f2", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "int64": "i8"}
NAMES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(int8)": "int8", "tensor(uint8)": "uint8",
         "tensor(int16)": "int16",
         "tensor(uint16)": "uint16", "tensor(int32)": "int32", "tensor(int64)": "int64", "tensor(bool)": "bool"}  # fmt: skip


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


def array(one):
    return np.frombuffer(one.bytes(), np.dtype("<" + KINDS[one.dtype])).reshape(one.shape)


def run(model, group, level):
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name = "{}" if group.nodes else "in_{}"
    feeds = {name.format(port): array(one) for port, one in group.inputs.items() if not one.constant}
    found = session.run(None, feeds)
    return {one.name[4:]: (NAMES[one.type], got.tobytes()) for one, got in zip(session.get_outputs(), found)}


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
