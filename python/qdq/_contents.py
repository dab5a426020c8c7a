# SPDX-License-Identifier: Apache-2.0
"""Lists what a graph holds: inputs, outputs, nodes, values and constants."""

import ctypes
import json
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Tuple

import numpy as np

from . import _dtypes as dtypes
from ._library import CShape, CValue, FileError, decode, lib
from ._types import Array


class ValueInfo(NamedTuple):
    """A value of a graph."""

    name: str
    dtype: str  # "bfloat16"; "" if it has errors
    shape: Tuple[int, ...]
    kind: str  # "input", "constant", or "node" for the result of one


class Node(NamedTuple):
    """A node of a graph."""

    name: str  # in its file
    op: str
    inputs: Dict[str, str]  # the value at each connected port; the values of a list are "xs[0]", "xs[1]", ...
    outputs: List[str]
    attrs: Dict[str, Any]  # as in a qdq/1 file: dtype, and attributes that differ from their defaults


class Ports:
    """Names of the ports of an op: input(i) and output(i), where the last input may be a list."""

    def __init__(self, index: int) -> None:
        info = lib.qdq_op_get(index)
        inputs = [lib.qdq_op_input(index, i) for i in range(info.input_count)]
        self._names = [port.name.decode() for port in inputs]
        self._listed = bool(inputs and inputs[-1].variadic)

    def input(self, index: int) -> str:
        last = len(self._names) - 1
        return f"{self._names[last]}[{index - last}]" if self._listed and index >= last else self._names[index]


def ports() -> Dict[str, Ports]:
    """Returns {op: its ports}."""
    return {lib.qdq_op_get(op).name.decode(): Ports(op) for op in range(lib.qdq_op_count())}


def attributes(handle: Any, node: int, most: int) -> str:
    """Returns the attributes of a node as JSON. most: of a list of numbers; 0 is no limit."""
    length = lib.qdq_graph_node_attrs(handle, node, most, None, 0)
    text = ctypes.create_string_buffer(length + 1)
    lib.qdq_graph_node_attrs(handle, node, most, text, length + 1)
    return text.value.decode()


def _name(handle: Any, value: CValue) -> str:
    return decode(lib.qdq_value_original(handle, lib.qdq_value_name(handle, value)))


def value_info(handle: Any, value: CValue) -> ValueInfo:
    dtype, shape = ctypes.c_int(), CShape()
    kind = "input" if lib.qdq_value_is_input(handle, value) else "node"
    kind = "constant" if lib.qdq_value_is_constant(handle, value) else kind
    if not lib.qdq_value_type(handle, value, dtype, shape):
        return ValueInfo(_name(handle, value), "", (), kind)
    return ValueInfo(_name(handle, value), dtypes.name_of(dtype.value), shape.tuple(), kind)


def _all(handle: Any) -> Iterator[CValue]:
    return (lib.qdq_graph_get_value(handle, i) for i in range(lib.qdq_graph_value_count(handle)))


def values(handle: Any) -> List[ValueInfo]:
    """Lists the values of a graph in the order in which they were added."""
    return [value_info(handle, value) for value in _all(handle)]


def outputs(handle: Any) -> List[ValueInfo]:
    """Lists the outputs of a graph, by the names that runs return."""
    made = []
    for i in range(lib.qdq_graph_output_count(handle)):
        key = lib.qdq_graph_get_output(handle, i)
        info = value_info(handle, lib.qdq_output_value(handle, key))
        made.append(info._replace(name=lib.qdq_output_original(handle, key).decode()))
    return made


def nodes(handle: Any) -> List[Node]:
    """Lists the nodes of a graph; each comes after the nodes that compute its inputs."""
    made, known = [], ports()
    for i in range(lib.qdq_graph_node_count(handle)):
        info = lib.qdq_graph_node(handle, i)
        op = info.op.decode()
        given = {known[op].input(p): lib.qdq_graph_node_input(handle, i, p) for p in range(info.input_count)}
        results = [lib.qdq_graph_node_output(handle, i, p) for p in range(info.output_count)]
        made.append(Node(info.original.decode(), op, {port: _name(handle, value) for port, value in given.items() if value.id},
                         [_name(handle, value) for value in results], json.loads(attributes(handle, i, 0) or "{}")))  # fmt: skip
    return made


class Initializers(Mapping[str, Array]):
    """The constants of a graph by name, as arrays in its memory that cannot be written. Elements are read from the
    graph's file when they are looked up; a block float is an array of float32."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._constants = {_name(owner, value): value for value in _all(owner) if lib.qdq_value_is_constant(owner, value)}

    def __getitem__(self, name: str) -> Array:
        value = self._constants[name]
        info = value_info(self._owner, value)
        kind = dtypes.numpy_of(info.dtype)
        with self._owner.lock:
            data = lib.qdq_value_data(self._owner, value)
        count = int(np.prod(info.shape, dtype=np.int64))
        if not data and count:
            raise FileError(f"constant '{name}' cannot be read: its file changed or is gone; load the graph again")
        if not count:
            return np.empty(info.shape, kind)
        memory: Any = (ctypes.c_char * (count * kind.itemsize)).from_address(data)
        memory.owner = self._owner  # the elements live as long as the graph
        array: Array = np.frombuffer(memory, kind).reshape(info.shape)
        array.flags.writeable = False
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)

    def __repr__(self) -> str:
        return f"<{len(self)} initializers: {', '.join(list(self)[:8])}{', ...' if len(self) > 8 else ''}>"
