# SPDX-License-Identifier: Apache-2.0
"""Runs graphs with state frame by frame: an input that is state begins with what an output had after the run before."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional

import numpy as np

from . import _dtypes as dtypes
from ._contents import value_info
from ._library import ArgumentError, decode, lib, wrong_type
from ._types import Array, Inputs, Outputs

if TYPE_CHECKING:
    from ._contents import ValueInfo


class StateInfo(NamedTuple):
    """An input whose elements come from the run before."""

    input: str
    output: str  # which has its elements for the next run
    initial: Array  # elements for the first run


def states(handle: Any) -> List[StateInfo]:
    """Lists the states of a graph, by the names in its file."""
    made = []
    for i in range(lib.qdq_graph_state_count(handle)):
        state = lib.qdq_graph_state(handle, i).contents
        info = value_info(handle, lib.qdq_graph_find(handle, state.input))
        initial = np.zeros(info.shape, dtypes.numpy_of(info.dtype))
        if state.initial:
            ctypes.memmove(initial.ctypes.data, state.initial, initial.nbytes)
        output = decode(lib.qdq_output_original(handle, state.output))
        made.append(StateInfo(info.name, output, initial))
    return made


def _count(inputs: List[ValueInfo], given: Mapping[str, Array], frames: Optional[int]) -> int:
    """Returns the number of frames that the inputs have, which must agree."""
    for info in inputs:
        array = given[info.name]
        rows, one = (info.shape[0], info.shape[1:]) if info.shape else (1, ())
        wanted = f"frames of {list(info.shape)} along the first dim"
        if array.ndim != max(len(info.shape), 1) or array.shape[1:] != one or not rows or array.shape[0] % rows:
            raise ArgumentError(f"input '{info.name}' has shape {list(array.shape)}, wanted {wanted}")
        found = array.shape[0] // rows
        if frames is not None and found != frames:
            raise ArgumentError(f"input '{info.name}' has {found} frames, wanted {frames}")
        frames = found
    if frames is None or frames < 1:
        raise ArgumentError("no input has frames, wanted their number: frames=N" if frames is None
                            else f"frames is {frames}, wanted at least 1")  # fmt: skip
    return frames


def _frame(array: Array, info: ValueInfo, index: int) -> Array:
    rows = info.shape[0] if info.shape else 1
    return array[index * rows : (index + 1) * rows].reshape(info.shape)


def run(graph_states: List[StateInfo], graph_inputs: List[ValueInfo], run_once: Callable[[Inputs], Outputs], given: Any,
        frames: Optional[int]) -> Outputs:  # fmt: skip
    """Runs the frames and stacks the outputs along their first dim. given: {input: frames}, of a state its first elements."""
    if frames is not None and not isinstance(frames, int):
        raise wrong_type("frames", frames, "a number")
    now: Dict[str, Any] = {state.input: state.initial for state in graph_states}
    now.update((name, array) for name, array in given.items() if name in now)
    stacked = {name: np.asarray(array) for name, array in given.items() if name not in now}
    moving = [info for info in graph_inputs if info.name in stacked]
    unknown = stacked.keys() - {info.name for info in moving}
    if unknown or len(moving) + len(now) < len(graph_inputs):
        run_once({**stacked, **now})  # which says what is missing or unknown
    results: Dict[str, List[Array]] = {}
    for index in range(_count(moving, stacked, frames)):
        made = run_once({**now, **{info.name: _frame(stacked[info.name], info, index) for info in moving}})
        now = {state.input: made[state.output] for state in graph_states}
        for name, array in made.items():
            results.setdefault(name, []).append(array if array.ndim else array.reshape(1))
    return {name: np.concatenate(parts) for name, parts in results.items()}
