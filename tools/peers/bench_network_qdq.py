# SPDX-License-Identifier: Apache-2.0
"""Models in a library of qdq, through the few functions that a run needs: another build may lack others that the Python
package of this one binds. Structs are as in include/qdq/, with room for fields that later builds append."""

import ctypes
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_void_p

import numpy as np


class Error(Structure):
    _fields_ = [("status", c_int), ("text", c_char * 1024)]


class Shape(Structure):
    _fields_ = [("rank", c_int), ("dims", c_int64 * 8)]


class TensorInfo(Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("shape", Shape), ("bytes", c_size_t)]


class InputShape(Structure):
    _fields_ = [("name", c_char_p), ("shape", Shape), ("tentative", c_bool), ("samples", c_bool)]


class GraphOptions(Structure):
    _fields_ = [("before", c_void_p * 3), ("limits", c_size_t * 6), ("target", c_char_p), ("shapes", POINTER(InputShape)),
                ("shape_count", c_size_t), ("later", c_void_p * 16)]  # fmt: skip


class Parallel(Structure):
    _fields_ = [("run", c_void_p), ("self", c_void_p), ("least", c_size_t)]


class CompileOptions(Structure):
    _fields_ = [("target", c_char_p), ("numerics", c_void_p), ("float_storage", c_int), ("isa", c_char_p), ("layout", c_int),
                ("keep_all", c_bool), ("keep", c_void_p), ("keep_count", c_size_t), ("materialize", c_bool), ("fast", c_bool),
                ("device", c_void_p), ("parallel", Parallel), ("later", c_void_p * 16)]  # fmt: skip


class ExecOptions(Structure):
    _fields_ = [("allocator", c_void_p), ("parallel", Parallel), ("later", c_void_p * 16)]


MADE = ("qdq_graph_load", "qdq_graph_compile", "qdq_exec_create", "qdq_threads_create")


class Library:
    def __init__(self, path, threads):
        self.lib, self.error = ctypes.CDLL(path), Error()
        for name in MADE:
            getattr(self.lib, name).restype = c_void_p
        for name in ("qdq_plan_input", "qdq_plan_output"):
            getattr(self.lib, name).restype = POINTER(TensorInfo)
            getattr(self.lib, f"{name}_count").restype = c_size_t
        self.lib.qdq_parallel_threads.restype = Parallel
        self.lib.qdq_dtype_name.restype = c_char_p
        self.parallel = Parallel()
        if threads > 1:
            self.parallel = self.lib.qdq_parallel_threads(c_void_p(self.make("qdq_threads_create", c_int(threads), None)))

    def make(self, name, *words):
        made = getattr(self.lib, name)(*words, ctypes.byref(self.error))
        if not made:
            raise RuntimeError(self.error.text.decode())
        return made


def tensors(library, plan, port):
    """Those of `port`, input or output."""
    count, get = (getattr(library.lib, f"qdq_plan_{port}{end}") for end in ("_count", ""))
    return [get(plan, c_size_t(i)).contents for i in range(count(plan))]


class Model:
    """A compiled graph whose inputs and outputs are bound."""

    def __init__(self, library, path, feeds, target, fast, isa):
        self.library, self.lib = library, library.lib
        shapes = [InputShape(name.encode(), Shape(a.ndim, (c_int64 * 8)(*a.shape))) for name, a in feeds.items()]
        options = GraphOptions(target=target, shapes=(InputShape * len(shapes))(*shapes), shape_count=len(shapes))
        self.graph = c_void_p(library.make("qdq_graph_load", str(path).encode(), ctypes.byref(options)))
        compiling = CompileOptions(isa=isa, fast=fast, parallel=library.parallel)
        self.plan = c_void_p(library.make("qdq_graph_compile", self.graph, ctypes.byref(compiling)))
        self.exec = c_void_p(library.make("qdq_exec_create", self.plan, ctypes.byref(ExecOptions(parallel=library.parallel))))
        self.inputs = [self.bound(one, np.ascontiguousarray(feeds[one.name.decode()])) for one in tensors(library, self.plan, "input")]
        self.outputs = [self.bound(one, np.empty(one.shape.dims[:one.shape.rank], self.dtype(one))) for one in tensors(library, self.plan, "output")]

    def dtype(self, one):
        return np.dtype(self.lib.qdq_dtype_name(c_int(one.dtype)).decode())

    def bound(self, one, array):
        if array.nbytes != one.bytes:
            raise RuntimeError(f"'{one.name.decode()}' has {array.nbytes} bytes, wanted {one.bytes}")
        error = self.library.error
        self.lib.qdq_exec_bind(self.exec, one.name, c_void_p(array.ctypes.data), c_size_t(array.nbytes), ctypes.byref(error))
        if error.status:
            raise RuntimeError(error.text.decode())
        return array

    def run(self):
        self.lib.qdq_exec_run(self.exec)

    def __del__(self):
        for name in ("exec", "plan", "graph"):
            if hasattr(self, name):
                getattr(self.lib, f"qdq_{name}_destroy")(getattr(self, name))
