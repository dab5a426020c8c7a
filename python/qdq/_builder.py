# SPDX-License-Identifier: Apache-2.0
"""Builds graphs."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union

import numpy as np

from . import _dtypes as dtypes
from . import _files as files
from ._graph import parse
from ._library import ArgumentError, ParseError
from ._op_names import NUMBERS, PLACE, snake
from ._ops import Ops

if TYPE_CHECKING:
    from ._graph import Graph
from ._types import Array, ArrayLike, DeviceLayout, Dtype, DtypeName, MemoryConfig


_INLINE, _FILE = 4096, "constants.safetensors"  # most elements of a constant in the text


def is_number(value: object) -> bool:
    """True for numbers, lists of numbers, and arrays of numpy's default types, none of which choose a dtype."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype in (np.float64, np.int64)
    return isinstance(value, (bool, int, float, list, tuple))


# An input, a constant, a node or an output as in a qdq/1 file.
_Record = Dict[str, Any]


class Value:
    """A value of a graph under construction."""

    def __init__(self, builder: Builder, name: str) -> None:
        self._builder, self.name = builder, name

    def __repr__(self) -> str:
        return f"<qdq.Value {self.name}>"


class Builder(Ops):
    """Builds a graph node by node.

        b = qdq.Builder("net")
        x = b.input("x", "float32", (4, 8))
        b.output("y", b.quantize(x, scales=0.02, dtype="int8"))
        g = b.build()

    Each op is a method: help(qdq.Builder.quantize) lists its ports and attributes. Ports take values, and numpy arrays,
    which become constants. For the ports `scale` and `zero_point`, numbers, lists, and float64 and int64 arrays set the
    attributes `scales` and `zps`; a float64 array stays float64 if build names a target that computes with float64
    scales (torchao). The keyword `name` names the node. build and Graph.check find mistakes in the graph; a method
    raises ArgumentError for an unknown port or attribute.

    Inputs, constants, nodes and outputs take the place of their value on a Tenstorrent device, in the words of
    docs/format.md, section 9; results never depend on it. memory_config: a name ("L1_MEMORY_CONFIG") or a dict with
    `buffer_type`, `memory_layout` and `shard_spec` or `nd_shard_spec`, whose sizes are elements. layout: "TILE" or
    "ROW_MAJOR". tile: [height, width] of the tiles, such as (16, 32), and transpose_tile: True for tiles whose faces
    lie transposed, as ttnn.Tile has them. Of a node it is the place of the first output; to_memory_config,
    interleaved_to_sharded and reshard move a value there.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._inputs: List[_Record] = []
        self._constants: List[_Record] = []
        self._nodes: List[_Record] = []
        self._outputs: List[_Record] = []
        self._states: List[_Record] = []
        self._taken: Set[str] = set()
        self._numbers: Dict[str, int] = {}  # {stem: number of the last name with it}
        self._large: Dict[str, Tuple[DtypeName, Array]] = {}  # {name: (dtype, array)} of constants that go through a file
        self._records: Dict[str, _Record] = {}  # {value: its input, constant or node in the file}, without further outputs of nodes
        self._wide: List[Tuple[_Record, str, str, Array]] = []  # (node, attribute, port, array): float64 arrays, which some targets read as tensors

    def _unique(self, stem: str) -> str:
        name, count = stem, self._numbers.get(stem, 1)
        while name in self._taken:
            count += 1
            name = f"{stem}_{count}"
        self._numbers[stem] = count
        return name

    def _take(self, name: str) -> str:
        if name in self._taken:
            raise ArgumentError(f"there are two values '{name}'")
        self._taken.add(name)
        return name

    def input(self, name: str, dtype: Dtype, shape: Iterable[int], *, memory_config: Optional[MemoryConfig] = None,
              layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
              transpose_tile: Optional[bool] = None) -> Value:  # fmt: skip
        """Adds an input of the graph and returns its value. memory_config, layout, tile, transpose_tile: see Builder."""
        record: _Record = {"name": self._take(name), "dtype": dtypes.word(dtype), "shape": [int(d) for d in shape]}
        self._inputs.append(self._placed(record, "input", memory_config=memory_config, layout=layout, tile=tile,
                                         transpose_tile=transpose_tile))  # fmt: skip
        return Value(self, name)

    def constant(self, array: ArrayLike, *, name: Optional[str] = None, dtype: Optional[Dtype] = None,
                 memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
                 tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None) -> Value:  # fmt: skip
        """Adds a constant with the elements of an array and returns its value.

        dtype: "int4", ...; by default the array's. An array of unsigned integers of the same size holds the bits of a
        dtype that numpy lacks. memory_config, layout, tile, transpose_tile: see Builder.
        """
        array = np.asarray(array)
        word = dtypes.word(array.dtype if dtype is None else dtype)
        record: _Record = {"name": self._take(name or self._unique("constant")), "dtype": word, "shape": list(array.shape)}
        self._constants.append(self._placed(record, "constant", memory_config=memory_config, layout=layout, tile=tile,
                                            transpose_tile=transpose_tile))  # fmt: skip
        made = Value(self, record["name"])
        if dtypes.holds_bits(array.dtype, word) or array.size > _INLINE and array.dtype == dtypes.numpy_of(word):
            self._large[made.name] = (word, array)
            record.update(file=_FILE, tensor=made.name)
            return made
        wide = array if array.dtype.kind in "biuf" else array.astype(np.float32)
        record["data"] = wide.ravel().tolist()
        return made

    def output(self, name: str, value: Union[Value, ArrayLike], *, memory_config: Optional[MemoryConfig] = None,
               layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
               transpose_tile: Optional[bool] = None) -> None:  # fmt: skip
        """Adds a value to the outputs of the graph. memory_config, layout, tile, transpose_tile: of this value, as if the
        input, constant or node had them, which must not have others; see Builder."""
        value = self._named(value)
        self._outputs.append({"name": name, "value": value})
        if all(one is None for one in (memory_config, layout, tile, transpose_tile)):
            return
        if value not in self._records:
            raise ArgumentError(f"output '{name}': value '{value}' is not the first output of its node, which alone has "
                                f"{' and '.join(PLACE)}")  # fmt: skip
        self._placed(self._records[value], f"output '{name}': value", memory_config=memory_config, layout=layout, tile=tile,
                     transpose_tile=transpose_tile)  # fmt: skip

    def state(self, value: Value, output: str, initial: Optional[ArrayLike] = None) -> None:
        """Declares an input as state: a run of Graph.run_frames begins with the elements that the output called `output` had
        after the run before, the first run with `initial`: a number, or all elements. None: zeros."""
        state: _Record = {"input": self._named(value), "output": output}
        if initial is not None:
            state["initial"] = np.asarray(initial).ravel().tolist()
        self._states.append(state)

    def _placed(self, record: Any, what: str, **place: Any) -> Any:
        """Adds the place of a value to its input, constant or node, and returns that. Raises ArgumentError for a place
        that a file could not have, and for a second one."""
        self._records[record["name"]] = record
        given = {key: plain(value) for key, value in place.items() if value is not None}
        where = f"{what} '{record['name']}'"
        for key, value in given.items():
            if record.get(key, value) != value:
                raise ArgumentError(f"{where}: {key} is {value}, but {record[key]} is given already; leave one out")
        if given:
            _check_place(where, given)
        record.update(given)
        return record

    def build(self, *, target: Optional[str] = None) -> Graph:
        """Returns the graph. Raises ArgumentError if it has no outputs, GraphError if it breaks a rule that holds for
        every target."""
        return self._build(target, target)

    def _build(self, target: Optional[str], runs_on: Optional[str]) -> Graph:
        """Builds the graph of a target to run on another target, with float64 arrays as tensors if that target accepts
        them."""
        if not self._wide or runs_on is None:
            return self._parsed(target)
        graph = self._with_tensors()._parsed(target)
        refused = any(one.rule == "core/port-dtype" for one in graph.check(runs_on))
        return self._parsed(target) if refused else graph

    def _with_tensors(self) -> Builder:
        """Returns a copy whose float64 arrays are constants."""
        made = Builder(self._name)
        made._inputs, made._constants, made._outputs = self._inputs, list(self._constants), self._outputs
        made._states = self._states
        made._taken, made._large = set(self._taken), dict(self._large)
        changed: Dict[str, _Record] = {}
        for node, attr, port, array in self._wide:
            one = changed.setdefault(node["name"], {**node, "inputs": dict(node["inputs"]), "attrs": dict(node["attrs"])})
            one["inputs"][port] = made.constant(array, name=made._unique(f"{node['name']}_{port}")).name
            del one["attrs"][attr]
        made._nodes = [changed.get(node["name"], node) for node in self._nodes]
        return made

    def _parsed(self, target: Optional[str]) -> Graph:
        made = {"format": "qdq/1", "name": self._name, "inputs": self._inputs, "constants": self._constants,
                "nodes": self._nodes, "outputs": self._outputs, "states": self._states}  # fmt: skip
        name = self._name or "Builder"
        if not self._large:
            return parse(json.dumps(made), name=name, target=target)
        with tempfile.TemporaryDirectory(prefix="qdq-") as folder:  # the graph keeps the file open
            files.write(os.path.join(folder, _FILE), self._large)
            return parse(json.dumps(made), name=name, folder=folder, target=target)

    def _named(self, value: Any) -> str:
        if not isinstance(value, Value):
            return self.constant(value).name
        if value._builder is not self:
            raise ArgumentError(f"'{value.name}' is a value of another graph")
        return value.name

    def _add(self, op: Any, values: Any, given: Any) -> Any:
        place = {key: given.pop(key, None) for key in PLACE}
        name = given.pop("name", None) or self._unique(snake(op.name).rstrip("_"))
        ports = dict(zip(op.inputs, values))
        if len(values) > len(op.inputs):
            raise ArgumentError(f"{op.name} has {len(op.inputs)} inputs, found {len(values)}")
        for key, value in given.items():
            if key in op.inputs and key in ports:
                raise ArgumentError(f"{op.name}: '{key}' is given twice")
            if key in op.inputs:
                ports[key] = value
            elif key not in op.attrs:
                raise ArgumentError(f"{op.name} has no '{key}', wanted one of: {', '.join([*op.inputs, *op.attrs, *PLACE])}")
        attrs = {k: plain(v) for k, v in given.items() if k not in op.inputs and v is not None}
        wide = []
        for port, attr in NUMBERS.items():
            if attr in op.attrs and attr not in attrs and port in ports and is_number(ports[port]):
                array = ports.pop(port)
                attrs[attr] = plain(array)
                if isinstance(array, np.ndarray) and array.dtype == np.float64 and attr.endswith("scales"):
                    wide.append((attr, port, array))
        inputs = {port: [self._named(v) for v in value] if port in op.lists else self._named(value)
                  for port, value in ports.items() if value is not None}  # fmt: skip
        node = {"op": op.name, "name": self._take(name), "inputs": inputs, "attrs": attrs}
        self._nodes.append(self._placed(node, "node", **place))
        self._wide += [(node, *one) for one in wide]
        made = [Value(self, name if i == 0 else f"{name}.{port}") for i, port in enumerate(op.outputs)]
        return made[0] if len(made) == 1 else tuple(made)


def _check_place(where: str, place: Any) -> None:
    """Raises ArgumentError unless a file can have these keys. Words and numbers that no device knows are findings of
    Graph.check."""
    record = {"name": "x", "dtype": "float32", "shape": [1], **place}
    try:
        parse(json.dumps({"format": "qdq/1", "inputs": [record], "nodes": [], "outputs": []}), name="place")
    except (TypeError, ValueError) as error:
        found = str(error).partition("inputs[0].")[2] if isinstance(error, ParseError) else f"{place}: {error}"
        raise ArgumentError(f"{where}: {found}") from None


def plain(value: Any) -> Any:
    """Converts an attribute to its form in JSON."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (np.dtype, type)):
        return dtypes.word(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, Value):
        return value.name
    return np.asarray(value).tolist()
