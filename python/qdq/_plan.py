# SPDX-License-Identifier: Apache-2.0
"""Runs compiled graphs."""

from __future__ import annotations

import ctypes
import html
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _buffers
from . import _dtypes as dtypes
from . import _plan_page, _tiles
from ._library import ArgumentError, CError, CExecOptions, call, decode, lib, wrong_type
from ._interrupt import LONG, Abandoned, interruptible
from ._owner import Owner, Owning

if TYPE_CHECKING:
    from ._graph import Graph
    from ._buffers import Buffer, Page
from ._types import Inputs, Outputs, PathLike


_NO_TILES: Sequence[str] = ()


class TensorInfo(NamedTuple):
    """An input, an output or a kept value."""

    name: str
    dtype: str  # "bfloat16"
    shape: Tuple[int, ...]
    numpy: np.dtype[Any]  # dtype of the arrays that hold it


class Step(NamedTuple):
    """A step of a plan: one node, or a chain of nodes that run block by block."""

    text: str  # "x -> Quantize xq -> Dequantize xd -> y"
    kind: str  # how it runs: "blocks", "direct", "move", "reduce" or "tensor_op"
    blocks: int  # tiles or strips; of a tensor op its units, which threads may share
    reads: str  # memory that it reads: "row-major", "tiles", "row-major and tiles" or "nothing"
    writes: str
    read_bytes: int  # in a run: from the arena, constants and inputs
    write_bytes: int
    operations: int  # in a run; a multiply-add counts as one


class _Tensor(NamedTuple):
    info: TensorInfo
    key: bytes  # its name in the plan
    number: int  # its dtype
    size: int  # in bytes
    elements: int


class _Compiled(Owner):
    """A plan of the library, the execs of its runs, and its threads. threads: for each run; 0 uses every processor."""

    def __init__(self, handle: Any, threads: int, pool: Any) -> None:
        super().__init__(handle, lib.qdq_plan_destroy)
        self._threads, self._pool = threads, pool  # the pool has a qdq_threads; None: one thread
        self.idle: List[Any] = []  # (exec, error, {name: address bound to it}) that no run uses; append and pop are atomic

    def new_exec(self) -> Any:
        if self._pool and self._pool.forked:
            self._pool = new_threads(self._threads)
        options = CExecOptions()
        if self._pool:
            options.parallel = lib.qdq_parallel_threads(self._pool)
        made: Any = Owner(call(lib.qdq_exec_create, self, ctypes.byref(options)), lib.qdq_exec_destroy)
        made.pool = self._pool  # keeps the threads alive as long as the exec
        return made

    def pop(self) -> Any:
        """Returns an exec that no run uses, its error, and the addresses that are bound to it. The parent's execs run on threads that a forked child lacks."""
        while True:
            try:
                idle = self.idle.pop()
            except IndexError:
                return self.new_exec(), CError(), {}
            if not idle[0].pool or not idle[0].forked:
                return idle

    def __del__(self) -> None:
        self.idle.clear()
        super().__del__()


class _Threads(Owner):
    """A qdq_threads."""

    def __del__(self) -> None:
        if self.forked:
            self._as_parameter_ = None  # the child has no threads to end
        super().__del__()


def new_threads(count: int) -> Owner:
    """Creates the threads of a plan, an argument of qdq_parallel_threads."""
    return _Threads(call(lib.qdq_threads_create, count or 0, None), lib.qdq_threads_destroy)


class Plan(Owning):
    """A graph compiled for a target, from Graph.compile. Run it any number of times, from any thread.

    Each of several simultaneous runs has its own memory, which the plan keeps. A copy shares the memory of the
    original; a forked process has both. A plan cannot be pickled.
    """

    def __init__(self, handle: Any, original_value: Any, original_output: Any, output_value: Any, threads: int,
                 pool: Any) -> None:  # fmt: skip
        self._owner = _Compiled(handle, threads, pool)
        self._origin: Any = None  # returns the graph, or None once it is gone; and the options of compile
        self._inputs = self._list(lib.qdq_plan_input_count, lib.qdq_plan_input, original_value)
        self._outputs = self._list(lib.qdq_plan_output_count, lib.qdq_plan_output, original_output)
        self._kept = self._list(lib.qdq_plan_kept_count, lib.qdq_plan_kept, original_value)
        self._names = {tensor.info.name for tensor in self._inputs}
        self._made = {tensor.info.name: output_value(tensor.key) for tensor in self._outputs}
        self._long = lib.qdq_plan_get_stats(self._handle).operations > LONG
        self._renamed = _buffers.renamed(self._handle, original_value)

    def _list(self, count: Callable[..., int], get: Callable[..., Any], original: Callable[[bytes], str]) -> List[_Tensor]:
        made = []
        for i in range(count(self._handle)):
            one = get(self._handle, i).contents
            dtype = dtypes.name_of(one.dtype)
            info = TensorInfo(original(one.name), dtype, one.shape.tuple(), dtypes.numpy_of(dtype))
            made.append(_Tensor(info, bytes(one.name), one.dtype, one.bytes, int(np.prod(info.shape, dtype=np.int64))))
        return made

    @property
    def inputs(self) -> List[TensorInfo]:
        """[TensorInfo, ...] of the inputs."""
        return [tensor.info for tensor in self._inputs]

    @property
    def outputs(self) -> List[TensorInfo]:
        """[TensorInfo, ...] of the outputs."""
        return [tensor.info for tensor in self._outputs]

    @property
    def values(self) -> List[TensorInfo]:
        """[TensorInfo, ...] of the values that a run returns in addition to the outputs."""
        return [tensor.info for tensor in self._kept]

    @property
    def steps(self) -> List[Step]:
        """[Step, ...] in the order in which they run."""
        made: List[Step] = []
        while found := lib.qdq_plan_get_step(self._handle, len(made)):
            one = found.contents
            text, kind, reads, writes = map(decode, (one.text, one.shape, one.reads, one.writes))
            made.append(Step(text, kind, one.blocks, reads, writes, one.read_bytes, one.write_bytes, one.operations))
        return made

    def buffers(self) -> List[Buffer]:
        """Returns a list of Buffer: where each value lies, and from which step to which.

        Without a device these are the values in the arena, which begins at address 0; values that no step stores have
        no memory. With a device they are its buffers: of inputs, constants, results and intermediates.
        """
        return _buffers.listed(self._handle, self._renamed)

    def pages(self, value: Any) -> List[Page]:
        """Returns a list of Page: the places of all pages of a buffer, in the order of its tiles or rows.

        value: the name of one of the buffers. Raises ArgumentError for another name, and for a value in rows of the
        arena, which have no pages.
        """
        return _buffers.pages(self._handle, self._renamed, value)

    def html(self, path: Optional[PathLike] = None) -> str:
        """Returns the page of `qdq plan --html`: the graph that the target runs, with how well the bits of its nodes are
        known, the steps, and the arena and the memory of the device over time (docs/differing_bits.md).

        Runs `qdq plan` on a temporary file of the graph, which the plan does not keep alive. Raises ArgumentError if
        the graph is closed or was deleted, or a name in `values` has a comma, and FileError if the tool is missing.
        """
        return _plan_page.write(path, *self._compiled())

    def text(self) -> str:
        """Returns what `qdq plan` prints: the steps, and the arena as a drawing. Raises as html does."""
        return _plan_page.text(*self._compiled())

    def json(self) -> Dict[str, Any]:
        """Returns what `qdq plan --json` prints (docs/command_line.md). Raises as html does."""
        return _plan_page.data(*self._compiled())

    def _compiled(self) -> Tuple[Graph, Mapping[str, Any]]:
        """Returns the graph and the options of Graph.compile."""
        self._handle  # raises if it is closed
        graph = self._origin and self._origin[0]()
        if graph is None:
            raise ArgumentError("the graph of this plan is closed or was deleted, and the plan holds no copy; keep the graph")
        return graph, self._origin[1]

    def run(self, inputs: Optional[Inputs] = None, *, tiles: Sequence[str] = _NO_TILES, **named: Any) -> Outputs:
        """Runs the graph once and returns {name: array} of the outputs and the kept values.

        Inputs are given by name, as keywords or in a dict (for names that are no identifiers in Python). An array of
        the input's dtype and shape is read in place. Other threads may run meanwhile, but must not write to it.
        tiles: names of kept values, or of outputs whose values are kept, that are returned as tiles instead of rows:
        an array of shape [tiles, faces, 16, 16] with the tiles in the order in which they lie in memory, the four
        faces of each row-major, and padding; if the graph gives a value another `tile`, with the faces of that, lower
        ones if it is lower than 16, column-major if it is transposed. Elements have the numpy dtype of the value (bfloat16 is a dtype of
        ml_dtypes if that is installed, else uint16 with its bits), so int4 is int8, and a block float is float32.
        Padding is undefined, except on a device. The arrays are copies, which no later run changes.
        Raises ArgumentError if an input is missing, unknown, or has another dtype or shape, and if a name of `tiles` is
        unknown, or its value is not kept or lies in rows.
        """
        try:
            given = {**inputs, **named} if inputs else named
        except TypeError:
            raise wrong_type("inputs", inputs, "a dict {input: array}") from None
        shown = {} if tiles is _NO_TILES else self._shown(_tiles.check(tiles))
        if given.keys() != self._names:
            self.refuse(given)
        owner = self._handle
        idle = owner.pop()
        handle, error, bound = idle[0]._as_parameter_, idle[1], idle[2]
        bind, address = lib.qdq_exec_bind, dtypes.address
        try:
            views = {name: _tiles.view(handle, key, name) for name, key in shown.items()} if shown else {}
            arrays = []  # keeps them alive until the run ends
            for (name, dtype, shape, kind), key, _, size, _ in self._inputs:
                array = given[name]
                if type(array) is not np.ndarray or array.dtype is not kind or array.shape != shape or not array.flags.carray:
                    array = dtypes.to_array(array, name, dtype, shape)
                arrays.append(array)
                at = address(array)
                if bound.get(key) != at:
                    bound[key] = at
                    bind(handle, key, at, size, error)
            made = {}
            for info, key, _, size, _ in self._outputs:
                made[info.name] = array = np.empty(info.shape, info.numpy)
                at = address(array)
                if bound.get(key) != at:
                    bound[key] = at
                    bind(handle, key, at, size, error)
            if error.status:
                bound.clear()
                failure, error.status = error.exception(), 0
                raise failure
            if self._long:
                interruptible(lib.qdq_exec_run, handle, holds=(owner, idle, arrays, made))
            else:
                lib.qdq_exec_run(handle)
            for info, key, number, _, count in self._kept:
                if info.name not in made and info.name not in views:
                    made[info.name] = array = np.empty(info.shape, info.numpy)
                    call(lib.qdq_exec_read, handle, key, number, array.ctypes.data, count)
            if views:
                made.update((name, _tiles.copied(view)) for name, view in views.items())
            return made
        except Abandoned:
            idle = None  # still runs
            raise
        finally:
            if idle is not None:
                owner.idle.append(idle)

    def _shown(self, names: Sequence[str]) -> Any:
        """Returns {name: name of the kept value in the plan} of the values that run returns as tiles."""
        if not names:
            return {}
        kept, found = {tensor.info.name: tensor.key for tensor in self._kept}, {}
        for name in names:
            found[name] = kept.get(name) or self._made.get(name)
            if found[name] not in kept.values():
                raise ArgumentError(f"tiles has {name!r}, wanted a value that the plan keeps: "
                                    f"{', '.join(kept) or 'there are none'}; compile with values=[{name!r}]")  # fmt: skip
        return found

    def refuse(self, given: Any) -> None:
        """Raises the ArgumentError for missing or unknown inputs. given: {name: array}."""
        missing = [tensor.info.name for tensor in self._inputs if tensor.info.name not in given]
        unknown = [str(name) for name in given if name not in self._names]
        parts = [f"input '{missing[0]}' is missing"] if missing else []
        parts += [f"there is no input '{unknown[0]}'"] if unknown else []
        raise ArgumentError("; ".join(parts) + f"; the graph has {', '.join(sorted(self._names)) or 'no inputs'}")

    def __reduce__(self) -> Any:
        raise TypeError("a qdq.Plan cannot be pickled or sent to another process; pickle its Graph, and compile it there")

    def __repr__(self) -> str:
        def text(tensors: List[TensorInfo]) -> str:
            return ", ".join(f"{t.name} {t.dtype}{list(t.shape)}" for t in tensors)

        return f"<qdq.Plan: {text(self.inputs)} -> {text(self.outputs)}>"

    def _repr_html_(self) -> str:
        def row(one: Buffer) -> str:
            where = f"{one.pool} {one.address}"
            cells: Tuple[object, ...] = (one.name, one.dtype, list(one.shape), where, one.bytes, one.pages, one.tiles, one.padding,
                     f"{one.steps[0]}-{one.steps[1]}")  # fmt: skip
            return "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>"

        heads = ("value", "dtype", "shape", "place", "bytes", "pages", "tiles", "padding", "steps")
        head = "".join(f"<th>{h}</th>" for h in heads)
        return f"<table><tr>{head}</tr>{''.join(map(row, self.buffers()))}</table>"
