# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime for bench_worker.py: runs cases as models through its C API, so that a call costs
what it costs a C program. The package on PyPI has no header, but functions keep their places in
OrtApi since version 1: new ones are only appended."""

import ctypes
import glob
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"float32": TensorProto.FLOAT, "bfloat16": TensorProto.BFLOAT16, "int8": TensorProto.INT8,
         "uint8": TensorProto.UINT8, "int32": TensorProto.INT32}
PLACES = {"GetErrorMessage": 2, "CreateEnv": 3, "CreateSessionFromArray": 8, "Run": 9,
          "CreateSessionOptions": 10, "SetSessionGraphOptimizationLevel": 23,
          "SetIntraOpNumThreads": 24, "CreateTensorWithDataAsOrtValue": 49,
          "CreateCpuMemoryInfo": 69, "ReleaseSession": 95, "ReleaseValue": 96,
          "AddSessionConfigEntry": 130}
API_VERSION = 18
ALL, NONE = 99, 0  # levels of graph optimization
WARNINGS = 3  # log errors and worse


# ---- Models ----


class Model:
    """A chain of nodes, each fed by the one before."""

    def __init__(self):
        self.nodes, self.constants, self.last = [], [], "x"

    def constant(self, values, dtype):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def add(self, op, more=(), outputs=None, **attrs):
        outputs = outputs or [f"v{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, [self.last, *more], outputs, **attrs))
        self.last = outputs[0]

    def quantize(self, attrs, x, prefix=""):
        if x == "bfloat16":
            self.add("Cast", to=TensorProto.FLOAT)
        self.add("QuantizeLinear", [self.constant(attrs[prefix + "scales"], "float32"),
                                    self.constant(attrs[prefix + "zps"], attrs["dtype"])],
                 **({"axis": attrs["axis"]} if "axis" in attrs else {}))

    def dequantize(self, attrs, x, prefix=""):
        ports = [self.constant(attrs[prefix + "scales"], "float32")]
        if x != "int32":
            ports.append(self.constant(attrs[prefix + "zps"], x))
        self.add("DequantizeLinear", ports)
        if not prefix and attrs["dtype"] == "bfloat16":
            self.add("Cast", to=TensorProto.BFLOAT16)


def faces(case):
    """Tiling as a transpose: the shapes before and after, and the order of the dims."""
    rows, cols = case.shape
    flat, tiles = [rows // 32, 2, 16, cols // 32, 2, 16], [rows // 32, cols // 32, 2, 2, 16, 16]
    return (flat, tiles, [0, 3, 1, 4, 2, 5]) if case.kind == "tilize" else (
        tiles, flat, [0, 2, 4, 1, 3, 5])


def model_of(case, outputs):
    model, x, before, after = Model(), case.x, list(case.shape), None
    if case.kind in ("tilize", "untilize"):
        before, after, order = faces(case)
        model.add("Transpose", perm=order)
    for op, attrs in case.nodes:
        if op == "Quantize":
            model.quantize(attrs, x)
        elif op == "Dequantize":
            model.dequantize(attrs, x)
        elif op == "Requantize":
            model.dequantize(attrs, x, "in_")
            model.quantize(attrs, "float32", "out_")
        else:
            model.add("DynamicQuantizeLinear", outputs=["y", "scale", "zero_point"])
        x = attrs["dtype"]
    model.nodes[-1].output[0] = "y"
    infos = [helper.make_tensor_value_info(name, TYPES[dtype], after or list(shape))
             for name, dtype, shape in outputs]
    graph = helper.make_graph(
        model.nodes, case.name, [helper.make_tensor_value_info("x", TYPES[case.x], before)],
        infos, model.constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(made)
    return made.SerializeToString(), before, after


# ---- The C API ----


class Runtime:
    def __init__(self, threads):
        import onnxruntime
        self.version = onnxruntime.__version__
        folder = os.path.join(os.path.dirname(onnxruntime.__file__), "capi")
        self.path = sorted(glob.glob(f"{folder}/libonnxruntime.so.*"))[0]
        library = ctypes.CDLL(self.path)
        library.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)
        get_api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(library.OrtGetApiBase()[0])
        self.table = ctypes.cast(get_api(API_VERSION), ctypes.POINTER(ctypes.c_void_p))
        self.threads, self.kept = threads, []
        self.cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, self.cpus[:1])  # its own threads are pinned together with this one
        self.env = self.make("CreateEnv", ctypes.c_int(WARNINGS), b"bench")
        self.memory = self.make("CreateCpuMemoryInfo", ctypes.c_int(1), ctypes.c_int(0))

    def place(self, name):
        return self.table[PLACES[name]]

    def call(self, name, *words):
        status = ctypes.CFUNCTYPE(ctypes.c_void_p, *(type(word) if not isinstance(word, bytes)
                                                     else ctypes.c_char_p for word in words))(
            self.place(name))(*words)
        if status:
            text = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(
                self.place("GetErrorMessage"))(status)
            raise RuntimeError(text.decode())

    def make(self, name, *words):
        made = ctypes.c_void_p()
        self.call(name, *words, ctypes.cast(ctypes.pointer(made), ctypes.c_void_p))
        return made

    def options(self, level):
        options = self.make("CreateSessionOptions")
        self.call("SetIntraOpNumThreads", options, ctypes.c_int(self.threads))
        self.call("SetSessionGraphOptimizationLevel", options, ctypes.c_int(level))
        # By default its threads spin after a run and would take the CPU from the next peer.
        entries = {b"session.intra_op.spin_duration_us": b"500"}
        if self.threads > 1:
            others = [str(cpu + 1) for cpu in self.cpus[1:self.threads]]
            entries[b"session.intra_op_thread_affinities"] = ";".join(others).encode()
        for key, value in entries.items():
            self.call("AddSessionConfigEntry", options, key, value)
        return options

    def session(self, model, level):
        text = ctypes.create_string_buffer(model, len(model))
        self.kept.append(text)
        return self.make("CreateSessionFromArray", self.env,
                         ctypes.cast(text, ctypes.c_void_p), ctypes.c_size_t(len(model)),
                         self.options(level))

    def tensor(self, array, dtype, shape):
        dims = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        return self.make("CreateTensorWithDataAsOrtValue", self.memory,
                         ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes),
                         ctypes.cast(dims, ctypes.c_void_p), ctypes.c_size_t(len(shape)),
                         ctypes.c_int(TYPES[dtype]))

    def release(self, kind, made):
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.place(f"Release{kind}"))(made)
