# SPDX-License-Identifier: Apache-2.0
"""Runs oneDNN Graph files on the CPU by the library of the packages onednn and onednn-devel, through its C interface.

The numbers of its enumerators come from the headers of the same release. `variables` has the environment in which
Python must start to find the library. All tensors lie in memory row by row."""

import ctypes
import json
import multiprocessing
import re
import sys
from pathlib import Path

TYPES = {"f16": 1, "bf16": 2, "f32": 3, "s32": 4, "s8": 5, "u8": 6, "boolean": 8, "f8_e5m2": 9, "f8_e4m3": 10, "s4": 11,
         "u4": 12, "s64": 16}  # fmt: skip
CPU, IN_ORDER, STRIDED, HOST_SCALAR, FUSION = 1, 1, 2, 3, 1
ALLOCATE = ctypes.c_void_p(-1)
Dims = ctypes.c_int64 * 12
Pointer = ctypes.c_void_p


class Refused(Exception):
    """The library does not run the graph."""


class LogicalTensor(ctypes.Structure):  # dnnl_graph_logical_tensor_t
    _fields_ = [("id", ctypes.c_size_t), ("ndims", ctypes.c_int), ("dims", Dims), ("data_type", ctypes.c_int),
                ("property", ctypes.c_int), ("layout_type", ctypes.c_int), ("strides", Dims)]  # fmt: skip


def variables(folder):
    """Environment variables for a process that loads the library of a virtual environment."""
    lib = folder / "lib"
    return {"LD_LIBRARY_PATH": str(lib), "OCL_ICD_FILENAMES": str(lib / "libintelocl.so")}


def enumerators(text, prefix):
    """The numbers of an enum, by lower-case names without the underscores."""
    found, number = {}, -1
    for name, value in re.findall(rf"^\s*{prefix}_(\w+)(?:\s*=\s*(\w+))?,", text, re.MULTILINE):
        number = int(value, 0) if value else number + 1
        found[name.replace("_", "")] = number
    return found


def version(folder):
    """The release of the headers of a virtual environment."""
    text = (folder / "include" / "oneapi" / "dnnl" / "dnnl_version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define DNNL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def pointers(items):
    return (Pointer * len(items))(*items)


class Library:
    """An engine and a stream of the CPU."""

    def __init__(self, folder=Path(sys.prefix)):
        include = folder / "include" / "oneapi" / "dnnl"
        text = (include / "dnnl_graph_types.h").read_text(encoding="utf-8")
        self.kinds, self.names = enumerators(text, "dnnl_graph_op"), enumerators(text, "dnnl_graph_op_attr")
        self.lib = ctypes.CDLL(str(folder / "lib" / "libdnnl.so.3"))
        self.engine, self.stream = Pointer(), Pointer()
        self.call("dnnl_engine_create", ctypes.byref(self.engine), CPU, ctypes.c_size_t(0))
        self.call("dnnl_stream_create", ctypes.byref(self.stream), self.engine, IN_ORDER)

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status:
            raise Refused(f"{name}: status {status}")

    def logical(self, number, dtype, shape, scalar=False):
        made = LogicalTensor(id=number, ndims=len(shape), data_type=TYPES[dtype], layout_type=STRIDED)
        made.dims, step = Dims(*shape), 1
        made.property = HOST_SCALAR if scalar else 0
        for i in reversed(range(len(shape))):
            made.strides[i], step = step, step * max(shape[i], 1)
        return made

    # ---- The graph

    def set_attribute(self, op, name, attr):
        number, kind, value = self.names[name.replace("_", "")], attr["type"], attr["value"]
        if kind == "string":
            self.call("dnnl_graph_op_set_attr_str", op, number, value.encode(), ctypes.c_size_t(len(value)))
            return
        values = value if isinstance(value, list) else [value]
        element = {"bool": ctypes.c_uint8, "f32": ctypes.c_float, "s64": ctypes.c_int64}[kind.removesuffix("[]")]
        word = {"bool": "bool", "f32": "f32", "s64": "s64"}[kind.removesuffix("[]")]
        data = (element * max(len(values), 1))(*values)
        length = len(values) if kind.endswith("[]") else 1
        self.call(f"dnnl_graph_op_set_attr_{word}", op, number, data, ctypes.c_size_t(length))

    def add(self, handle, row, graph):
        """Adds a node of a file, whose tensors have the shapes of `graph` (onednn_reader)."""
        op = Pointer()
        kind = self.kinds.get(row["kind"].lower())
        if kind is None:
            raise Refused(f"has no {row['kind']}")
        name = row.get("name", "").encode()
        self.call("dnnl_graph_op_create", ctypes.byref(op), ctypes.c_size_t(row["id"]), kind, name)
        try:
            for attribute, value in row.get("attrs", {}).items():
                self.set_attribute(op, attribute, value)
            for port, function in (("inputs", "add_input"), ("outputs", "add_output")):
                for tensor in row.get(port, []):
                    scalar = tensor.get("property_type") == "host_scalar"
                    made = self.logical(tensor["id"], tensor["dtype"], graph.shapes[tensor["id"]], scalar)
                    self.call(f"dnnl_graph_op_{function}", op, ctypes.byref(made))
            self.call("dnnl_graph_add_op", handle, op)
        finally:
            self.call("dnnl_graph_op_destroy", op)

    def partitions(self, rows, graph, fpmath=0):
        handle, count = Pointer(), ctypes.c_size_t()
        self.call("dnnl_graph_graph_create_with_fpmath_mode", ctypes.byref(handle), CPU, fpmath)
        try:
            for row in rows:
                self.add(handle, row, graph)
            self.call("dnnl_graph_graph_finalize", handle)
            self.call("dnnl_graph_graph_filter", handle, FUSION)
            self.call("dnnl_graph_graph_get_partition_num", handle, ctypes.byref(count))
            found = (Pointer * count.value)()
            self.call("dnnl_graph_graph_get_partitions", handle, count, found)
            return [Pointer(one) for one in found]
        finally:
            self.call("dnnl_graph_graph_destroy", handle)

    def ports(self, partition, side):
        count = ctypes.c_size_t()
        self.call(f"dnnl_graph_partition_get_{side}_ports_num", partition, ctypes.byref(count))
        found = (LogicalTensor * count.value)()
        self.call(f"dnnl_graph_partition_get_{side}_ports", partition, count, found)
        return list(found)

    # ---- Running

    def tensor(self, logical, data=None):
        made = Pointer()
        self.call("dnnl_graph_tensor_create", ctypes.byref(made), ctypes.byref(logical), self.engine, ALLOCATE)
        if data:
            ctypes.memmove(self.handle(made), data, len(data))
        return made

    def scalar(self, logical, data):
        made = Pointer()
        self.call("dnnl_graph_tensor_create_scalar", ctypes.byref(made), ctypes.byref(logical), data)
        return made

    def handle(self, tensor):
        found = Pointer()
        self.call("dnnl_graph_tensor_get_data_handle", tensor, ctypes.byref(found))
        return found

    def execute(self, partition, tensors, shapes):
        """Runs a partition whose inputs are among `tensors`, and adds its outputs there."""
        supported = ctypes.c_uint8()
        self.call("dnnl_graph_partition_is_supported", partition, ctypes.byref(supported))
        if not supported.value:
            raise Refused("a partition is not supported")
        names = {number: name for name, number in TYPES.items()}
        sides, compiled = {}, Pointer()
        for side in ("input", "output"):
            sides[side] = [self.logical(t.id, names[t.data_type], shapes[t.id], t.property == HOST_SCALAR)
                           for t in self.ports(partition, side)]  # fmt: skip
        given = {side: (len(s), pointers([ctypes.addressof(t) for t in s])) for side, s in sides.items()}
        self.call("dnnl_graph_compiled_partition_create", ctypes.byref(compiled), partition)
        try:
            lengths = [(ctypes.c_size_t(count), found) for count, found in given.values()]
            self.call("dnnl_graph_partition_compile", partition, compiled, *lengths[0], *lengths[1], self.engine)
            for one in sides["output"]:
                tensors[one.id] = self.tensor(one)
            handles = [[tensors[t.id].value for t in sides[side]] for side in ("input", "output")]
            asked = [word for side in handles for word in (ctypes.c_size_t(len(side)), pointers(side))]
            self.call("dnnl_graph_compiled_partition_execute", compiled, self.stream, *asked)
            self.call("dnnl_stream_wait", self.stream)
        finally:
            self.call("dnnl_graph_compiled_partition_destroy", compiled)

    def run(self, rows, graph, inputs):
        """The bytes of each output, by the number of its tensor. `rows` are the nodes of a file, `graph` its Graph."""
        scalars = {t["id"] for row in rows for t in row.get("inputs", []) if t.get("property_type") == "host_scalar"}
        tensors, left = {}, []
        try:
            for number, tensor in graph.inputs.items():
                data = packed(inputs[number], tensor.dtype)
                logical = self.logical(number, tensor.dtype, graph.shapes[number], number in scalars)
                tensors[number] = self.scalar(logical, data) if number in scalars else self.tensor(logical, data)
            left = self.partitions(rows, graph)
            while left:
                ready = [p for p in left if all(t.id in tensors for t in self.ports(p, "input"))]
                if not ready:
                    raise Refused("partitions wait for each other")
                for one in ready:
                    self.execute(one, tensors, graph.shapes)
                    left.remove(one)
                    self.call("dnnl_graph_partition_destroy", one)
            return {i: self.read(tensors[i], graph, i) for i in graph.outputs if i in tensors}
        finally:
            for one in left:
                self.call("dnnl_graph_partition_destroy", one)
            for one in tensors.values():
                self.call("dnnl_graph_tensor_destroy", one)

    def read(self, tensor, graph, number):
        size = ctypes.c_size_t()
        logical = self.logical(number, graph.dtypes[number], graph.shapes[number])
        self.call("dnnl_graph_logical_tensor_get_mem_size", ctypes.byref(logical), ctypes.byref(size))
        return ctypes.string_at(self.handle(tensor), size.value) if size.value else b""


def packed(values, dtype):
    """The bytes of a tensor, given as bytes or as numbers; 4-bit elements are packed two to a byte, the even one in the low
    bits."""
    if isinstance(values, bytes):
        return values
    import numpy as np
    from onednn_values import encode

    codes = np.ascontiguousarray(encode(values, dtype))
    if dtype not in ("s4", "u4"):
        return codes.tobytes()
    nibbles = np.append(codes.astype(np.uint8).ravel() & 15, np.zeros(codes.size % 2, np.uint8))
    return (nibbles[::2] | nibbles[1::2] << 4).tobytes()


def serve(pipe):
    """Answers each file and its inputs with the results, or with the reason why the library refuses it."""
    from onednn_reader import Graph

    library = Library()
    while True:
        path, inputs = pipe.recv()
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))["graph"]
            pipe.send(library.run(rows, Graph(path), inputs))
        except Refused as why:
            pipe.send(str(why))


class Worker:
    """Runs files in a second process, as the library ends its process for some graphs."""

    def __init__(self):
        self.process = None

    def run(self, path, inputs):
        if not self.process or not self.process.is_alive():
            self.pipe, end = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=serve, args=(end,), daemon=True)
            self.process.start()
            end.close()
        try:
            self.pipe.send((path, inputs))
            answer = self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join()
            raise Refused("the library ended its process") from None
        if isinstance(answer, str):
            raise Refused(answer)
        return answer
