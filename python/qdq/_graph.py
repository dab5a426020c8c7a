# SPDX-License-Identifier: Apache-2.0
"""Loads, checks, writes, compiles and runs graphs."""

from __future__ import annotations

import ctypes
import html
import os
import tempfile
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _contents, _frames, _tiles
from ._compare import Comparison
from ._explain import Explanation, explain
from ._interrupt import Result, interruptible
from ._library import (
    ArgumentError,
    CCompileOptions,
    CDimSize,
    CError,
    CGraphOptions,
    CInputShape,
    CShape,
    GraphError,
    UnsupportedError,
    call,
    decode,
    encode,
    lib,
    targets,
    wrong_type,
)
from ._owner import Owner, Owning, forks
from ._plan import Plan, new_threads
from ._report import Change, Report

if TYPE_CHECKING:
    from ._contents import Initializers, Node, ValueInfo
    from ._frames import StateInfo
from ._types import Array, FloatStorage, Inputs, Outputs, PathLike, PlanLayout

_PLANS = 8  # most plans that Graph.run keeps
_SHOWN = 20  # most nodes in a cell of a notebook
_LAYOUTS = {None: 0, "rows": 1, "tiles": 2}  # qdq_plan_layout
_FLOAT_STORAGES = {None: 0, "declared": 0, "bfloat16": 1}  # qdq_float_storage


def _one_of(name: str, given: Any, words: Mapping[Any, int]) -> int:
    """The enumerator of an option."""
    if given not in words:
        raise ArgumentError(f"{name} is {given!r}, wanted {' or '.join(repr(word) for word in words if word)}")
    return words[given]


def _names(name: str, given: Any, wanted: str) -> List[str]:
    """Returns names that an argument lists."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise wrong_type(name, given, wanted)
    names = list(given)
    for one in names:
        if not isinstance(one, str):
            raise wrong_type(f"an entry of {name}", one, "a name")
    return names


def _shape(name: str, given: Any) -> CShape:
    if not isinstance(given, Iterable):
        raise wrong_type(f"the shape of '{name}'", given, "a list of sizes")
    return CShape.of(given)


def load(path: Union[PathLike, bytes, bytearray, memoryview], *, target: Optional[str] = None,
         shapes: Optional[Mapping[str, Sequence[int]]] = None, dims: Optional[Mapping[str, int]] = None,
         until: Optional[str] = None) -> Graph:  # fmt: skip
    """Loads a qdq/1 file, a oneDNN Graph JSON file, an ONNX or a TensorFlow Lite model, with any ending of its name.

    path: of the file, or its content as bytes; files that the content names are not read then (see parse).
    target: "onnx", "ort@1.31-avx2", ...; by default the target that the file names, "onnx" for ONNX models, "litert" for
    TensorFlow Lite models.
    shapes: {input: (1, 3, 224, 224)} and dims: {"batch": 1} set the open dims of an ONNX model.
    until: the node or value at which an ONNX model shall end.
    Raises FileError, ParseError, or ArgumentError for an unknown target and for dims that stay open. A graph with mistakes
    is returned: check() lists them.
    """
    if isinstance(path, (bytes, bytearray, memoryview)):
        return parse(path, target=target, shapes=shapes, dims=dims, until=until)
    return Graph._made(lib.qdq_graph_load, [os.fsencode(path)], target, shapes, dims, until)


def parse(data: Union[str, bytes, bytearray, memoryview], *, name: str = "", folder: Optional[PathLike] = None,
          target: Optional[str] = None, shapes: Optional[Mapping[str, Sequence[int]]] = None,
          dims: Optional[Mapping[str, int]] = None, until: Optional[str] = None) -> Graph:  # fmt: skip
    """Loads a graph from a str or bytes, like load. `name` stands for the file in messages. Files that constants name
    are searched below `folder`, and refused without it."""
    data = data.encode() if isinstance(data, str) else bytes(data)
    where = None if folder is None else os.fsencode(folder)
    return Graph._made(lib.qdq_graph_parse, [data, len(data), encode(name), where], target, shapes, dims, until)


class _Loaded(Owner):
    """A graph of the library. It takes a single call at a time."""

    def __init__(self, handle: Any) -> None:
        super().__init__(handle, lib.qdq_graph_destroy)
        self._lock = threading.RLock()

    @property
    def lock(self) -> threading.RLock:
        if self.forked:  # the thread that held the lock may not exist in this process
            self._lock, self._forks = threading.RLock(), forks()
        return self._lock


def _unpickled(files: Mapping[str, bytes], target: str) -> Graph:
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        return load(os.path.join(folder, "graph.json"), target=target)


class Graph(Owning):
    """A graph from load or parse, which never changes. Calls from several threads take turns, but runs do not.

    A copy shares the memory of the original. Pickling writes the graph and its constants as a qdq/1 file.
    """

    _plans: Dict[Any, Plan]  # by their options

    def __init__(self) -> None:
        raise TypeError("qdq.load and qdq.parse make graphs")

    @classmethod
    def _own(cls, handle: Any) -> Graph:
        return cls._sharing(_Loaded(handle))

    @classmethod
    def _sharing(cls, owner: Any) -> Graph:
        graph = cls.__new__(cls)
        graph._owner = owner
        graph._plans = {}
        return graph

    @classmethod
    def _made(cls, function: Any, arguments: List[Any], target: Optional[str],
              shapes: Optional[Mapping[str, Sequence[int]]], dims: Optional[Mapping[str, int]], until: Optional[str],
              data: Optional[Mapping[str, Sequence[int]]] = None, counted: bool = False) -> Graph:  # fmt: skip
        """data: {input: shape of an array}, which give sizes to open dims; `dims` may then name dims of another model.
        counted: their first dim counts samples."""
        for name, sizes in (("shapes", shapes), ("dims", dims)):
            if not isinstance(sizes, (Mapping, type(None))):
                raise wrong_type(name, sizes, "a dict")
        shapes, dims = dict(shapes or {}), dict(dims or {})
        given = [CInputShape(encode(n), _shape(n, s)) for n, s in shapes.items()]
        given += [CInputShape(encode(n), CShape.of(s), True, counted) for n, s in (data or {}).items() if n not in shapes]
        options = CGraphOptions(target=encode(target), until=encode(until), keep_open_dims=True)
        options.shapes = (CInputShape * len(given))(*given)
        options.dims = (CDimSize * len(dims))(*(CDimSize(encode(n), int(size), data is not None) for n, size in dims.items()))
        options.shape_count, options.dim_count = len(given), len(dims)
        return interruptible(lambda: cls._own(call(function, *arguments, ctypes.byref(options))))

    def close(self) -> None:
        super().close()
        self._plans = {}

    @property
    def _lock(self) -> Any:
        return self._handle.lock

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
            self.write(os.path.join(folder, "graph.json"))
            files = {}
            for name in sorted(os.listdir(folder)):
                with open(os.path.join(folder, name), "rb") as file:
                    files[name] = file.read()
        return _unpickled, (files, self.target)

    def _alone(self, function: Callable[[], Result]) -> Result:
        """Returns the result of a function while no other call uses the graph. After Ctrl-C the next call on the graph
        waits for its end."""

        def work() -> Result:
            with self._lock:
                return function()

        return interruptible(work)

    @property
    def name(self) -> str:
        """The name of the graph in its file."""
        return decode(lib.qdq_graph_name(self._handle))

    @property
    def target(self) -> str:
        """The target of the file, or of load."""
        return decode(lib.qdq_graph_target(self._handle))

    @property
    def inputs(self) -> List[ValueInfo]:
        """[ValueInfo, ...] of the inputs, in the order of the file."""
        return [value for value in self.values if value.kind == "input"]

    @property
    def outputs(self) -> List[ValueInfo]:
        """[ValueInfo, ...] of the outputs, by the names that runs return."""
        return _contents.outputs(self._handle)

    @property
    def nodes(self) -> List[Node]:
        """[Node, ...]: each comes after the nodes that compute its inputs."""
        return _contents.nodes(self._handle)

    @property
    def values(self) -> List[ValueInfo]:
        """[ValueInfo, ...] of all inputs, constants and results of nodes."""
        return _contents.values(self._handle)

    @property
    def initializers(self) -> Initializers:
        """{name: array} of the constants. Elements are read from the graph's file when they are looked up, and cannot be
        written."""
        return _contents.Initializers(self._handle)

    @property
    def states(self) -> List[StateInfo]:
        """[StateInfo, ...] of the inputs that take the elements of an output of the run before."""
        return _frames.states(self._handle)

    def first_states(self) -> Dict[str, Array]:
        """Returns {input: array} with the elements of the states for the first run."""
        return {state.input: state.initial for state in self.states}

    def next_states(self, outputs: Outputs) -> Dict[str, Array]:
        """Returns {input: array} with the elements of the states for the run after the one that returned `outputs`."""
        return {state.input: outputs[state.output] for state in self.states}

    def check(self, target: Union[str, Sequence[str], None] = None) -> Report:
        """Checks the graph by the rules of a target, of several (a list), or of "all", and returns a Report.

        None: the graph's target. Raises ArgumentError for an unknown target.
        """
        if target == "all":
            target = list(targets())
        if not isinstance(target, (str, list, tuple, type(None))):
            raise wrong_type("target", target, "a name or a list of names")
        if isinstance(target, (list, tuple)):
            reports = [self.check(one) for one in target]
            made = Report.join(reports)
            made._asked = list(zip(target, reports))
        else:
            made = self._alone(lambda: Report.of(call(lib.qdq_graph_validate, self._handle, encode(target)).contents))
            made._asked = [(target or self.target, made)]
        made._graph = self
        return made

    def compile(self, target: Optional[str] = None, *, values: Union[str, Iterable[str], None] = None,
                fast: bool = False, layout: Optional[PlanLayout] = None, device: Optional[str] = None,
                float_storage: Optional[FloatStorage] = None, isa: Optional[str] = None, threads: int = 1) -> Plan:  # fmt: skip
        """Compiles the graph for a target and returns a Plan.

        target: None is the graph's target. values: names of values that runs return too, or "all".
        fast: integer execution and Winograd's convolution, which are faster and have other bits.
        layout: "tiles" holds values between steps in tiles, "rows" in rows, with the same bits.
        device: lays values out in the memory of "n150", "n300", "p100" or "p150"; "none": without a device; None: the
        device of the target, which only ttnn has. float_storage: "bfloat16" stores float values between steps as bfloat16.
        isa: cap the instruction set ("portable", "avx2", ...), with the same bits.
        threads: for compiling and for each run; 0 uses every processor.
        Raises GraphError or UnsupportedError with all findings in `report`, ArgumentError, LimitError or MemoryError.
        """
        options = CCompileOptions(target=encode(target), isa=encode(isa), fast=fast)
        options.layout = _one_of("layout", layout, _LAYOUTS)
        options.float_storage = _one_of("float_storage", float_storage, _FLOAT_STORAGES)
        if device is not None:
            options.device = call(lib.qdq_device_find, encode(device))
        if isinstance(values, str) and values != "all":
            raise ArgumentError(f"values is {values!r}, wanted 'all' or a list of names")
        if values == "all":
            options.keep_all = True
        elif values is not None:
            values = _names("values", values, "'all' or a list of names")
            options.keep = (ctypes.c_char_p * len(values))(*map(encode, values))
            options.keep_count = len(values)
        pool = None
        if not isinstance(threads, int):
            raise wrong_type("threads", threads, "a number")
        if threads != 1:
            pool = new_threads(threads)
            options.parallel = lib.qdq_parallel_threads(pool)
        plan = self._alone(lambda: self._compiled(options, target, threads, pool))
        kept = values if values is None or isinstance(values, str) else list(values)
        plan._origin = self._weak(), {"target": target, "values": kept, "fast": bool(fast), "layout": layout, "device": device,
                                      "float_storage": float_storage, "isa": isa}  # fmt: skip
        return plan

    def _compiled(self, options: CCompileOptions, target: Optional[str], threads: int, pool: Any) -> Plan:
        error = CError()
        handle = lib.qdq_graph_compile(self._handle, ctypes.byref(options), error)
        if not handle:
            failure = error.exception()
            if isinstance(failure, (GraphError, UnsupportedError)):
                failure.report = self.check(target)
            raise failure
        return Plan(handle, self._original_value, self._original_output, self._output_value, threads, pool)

    def _weak(self) -> Callable[[], Optional[Graph]]:
        """Returns a function that returns this graph, or None once it is closed and all its copies are gone."""
        owner = weakref.ref(self._owner)

        def graph() -> Optional[Graph]:
            found = owner()
            return found and Graph._sharing(found)

        return graph

    def _original_value(self, name: bytes) -> str:
        return decode(lib.qdq_value_original(self._handle, name))

    def _output_value(self, name: bytes) -> bytes:
        return bytes(lib.qdq_value_name(self._handle, lib.qdq_output_value(self._handle, name)))

    def _original_output(self, name: bytes) -> str:
        return decode(lib.qdq_output_original(self._handle, name))

    def run(self, inputs: Optional[Inputs] = None, *, target: Optional[str] = None,
            values: Union[str, Iterable[str], None] = None, fast: bool = False,
            layout: Optional[PlanLayout] = None, device: Optional[str] = None,
            float_storage: Optional[FloatStorage] = None, threads: int = 1, tiles: Sequence[str] = (),
            **named: Any) -> Outputs:  # fmt: skip
        """Compiles the graph once for these options, runs it, and returns {name: array} (see compile and Plan.run).

        tiles: names of values that are returned as tiles, arrays of shape [tiles, faces, 16, 16]; the plan keeps them,
        and holds values in tiles unless `layout` says otherwise.
        """
        tiles = _tiles.check(tiles)
        if tiles:
            layout = layout or "tiles"
            values = values if isinstance(values, str) else [*(values or ()), *tiles]
        kept = values if values is None or isinstance(values, str) else tuple(values)
        key = (target, kept, fast, layout, device, float_storage, threads)
        plan = self._plans.get(key)
        if plan is None:
            plan = self.compile(target, values=values, fast=fast, layout=layout, device=device,
                                float_storage=float_storage, threads=threads)
            with self._lock:
                while len(self._plans) >= _PLANS:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = plan
        return plan.run(inputs, tiles=tiles, **named)

    def run_frames(self, inputs: Optional[Inputs] = None, *, frames: Optional[int] = None, target: Optional[str] = None,
                   values: Union[str, Iterable[str], None] = None, fast: bool = False,
                   layout: Optional[PlanLayout] = None, device: Optional[str] = None,
                   float_storage: Optional[FloatStorage] = None, threads: int = 1, **named: Any) -> Outputs:  # fmt: skip
        """Runs the graph once for each frame, passes its states on, and returns {name: array} of all frames.

        Inputs that are no state have the frames along their first dim, as many as `frames` or as they have, and outputs
        and values too; a scalar has one dim for them. A state that is given begins with these elements. Other arguments
        are those of run. As `qdq run --frames` does. Raises ArgumentError if the inputs do not have whole frames.
        """
        given = {**(inputs or {}), **named}
        kept = values if values is None or isinstance(values, str) else tuple(values)

        def once(frame: Inputs) -> Outputs:
            return self.run(frame, target=target, values=kept, fast=fast, layout=layout, device=device,
                            float_storage=float_storage, threads=threads)  # fmt: skip

        return _frames.run(self.states, self.inputs, once, given, frames)

    def compare(self, targets: Iterable[str], inputs: Optional[Inputs] = None, *, threads: int = 1,
                **named: Any) -> Comparison:  # fmt: skip
        """Runs the graph for each target with all values, and returns a Comparison of the first target with each other
        target.

        targets: ["onnx", "ttnn@wormhole", ...]. Values that a target fuses away are not compared. Values behind a
        difference inherit it; `qdq compare` of the command line also finds the causes.
        Raises UnsupportedError if a target refuses the graph.
        """
        targets = _names("targets", targets, "a list of two or more")
        if len(targets) < 2:
            raise ArgumentError(f"targets is {targets}, wanted two or more")
        results = [self.run(inputs, target=t, values="all", threads=threads, **named) for t in targets]
        return Comparison.of(targets, results, self)

    def explain(self, inputs: Optional[Mapping[str, Any]] = None, *, got: Any, target: Optional[str] = None,
                **named: Any) -> Explanation:  # fmt: skip
        """Finds the target, number format or mistake in a node that reproduces a device's results.

        got: the device's array, or {name: array} of outputs or of any values, each of the value's dtype and shape.
        target: the target that the device should compute as; None is the graph's target. Runs `qdq explain`
        (docs/differing_bits.md).
        Returns an Explanation: `node`, `cause`, `target` and a text of a few lines; false if nothing differs.
        Raises ArgumentError for a name or an array that does not fit, and FileError if the tool is missing.
        """
        return explain(self, got, {**(inputs or {}), **named}, target)

    def deployed(self, target: Optional[str] = None) -> Graph:
        """Returns the graph that a target actually runs: fused, moved and requantized (docs/onnx_deployed.md)."""
        return self._alone(lambda: Graph._own(call(lib.qdq_graph_deployed, self._handle, encode(target))))

    def mended(self, target: Optional[str] = None) -> Graph:
        """Returns the graph with a known change at each node that a target refuses (docs/float_to_int8.md). `changes`
        lists the changes, and `check` the remaining findings."""
        return self._alone(lambda: Graph._own(call(lib.qdq_graph_mended, self._handle, encode(target))))

    @property
    def changes(self) -> List[Change]:
        """The changes by which `deployed` or `mended` built this graph from another: a list of Change."""
        with self._lock:
            count = lib.qdq_graph_rewrite_count(self._handle)
            return [Change.of(lib.qdq_graph_rewrite(self._handle, i)) for i in range(count)]

    def write(self, path: PathLike, *, whole: bool = False) -> None:
        """Writes the graph as an ONNX model if the path ends in ".onnx", as a TensorFlow Lite model if it ends in ".tflite",
        else as a qdq/1 file with its large constants next to it. Files are replaced completely or not at all.

        whole: keep large constants in the qdq/1 file, as base64, so that it needs no other file.
        """
        with self._lock:
            if whole:
                call(lib.qdq_graph_write_whole, self._handle, os.fsencode(path), 0)
            else:
                call(lib.qdq_graph_write, self._handle, os.fsencode(path))

    def write_c(self, path: PathLike, *, target: Optional[str] = None) -> None:
        """Writes the graph that a target runs as one C11 file with the bits of that target, without allocation or stdio:
        a function NAME_run, and its sizes as macros (docs/firmware.md).

        target: None is the graph's target. Raises UnsupportedError for an op or a dtype that C cannot express.
        """
        with self.deployed(target) as graph, graph._lock:
            call(lib.qdq_graph_write_c, graph._handle, os.fsencode(path))

    def _repr_html_(self) -> str:
        nodes = self.nodes
        rows = [(node.name, node.op, ", ".join(node.inputs.values()), ", ".join(node.outputs)) for node in nodes[:_SHOWN]]
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        head = "".join(f"<th>{name}</th>" for name in ("node", "op", "inputs", "outputs"))
        more = f"<p>and {len(nodes) - _SHOWN} more nodes</p>" if len(nodes) > _SHOWN else ""
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{cells}</table>{more}"

    def __repr__(self) -> str:
        return f"<qdq.Graph {self.name!r}: {lib.qdq_graph_node_count(self._handle)} nodes, target {self.target}>"
