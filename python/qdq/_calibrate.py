# SPDX-License-Identifier: Apache-2.0
"""Computes statistics of a graph's values over a data set: runs `qdq calibrate` on files, or on samples from Python."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Optional, Set, Tuple, Union

import numpy as np

from . import _dtypes as dtypes
from . import _files as files
from ._graph import Graph
from ._library import ArgumentError
from ._state import State, StateError, call, shard_numbers, shard_word
from .data import Source
from ._types import PathLike

Samples = Iterable[Union[Mapping[str, Any], Any]]


def _write_to(file: Any, index: int, sample: Any) -> str:
    """Writes a sample to an open file, and returns the ending of its kind."""
    if isinstance(sample, Mapping):
        if not sample:
            raise ArgumentError(f"sample {index} of data has no arrays")
        arrays = {name: dtypes.imported(array) for name, array in sample.items()}
        files.write_to(file, {name: (dtypes.word(array.dtype), array) for name, array in arrays.items()})
        return ".safetensors"
    array = dtypes.imported(sample)
    if array.dtype.kind not in "biuf":
        raise ArgumentError(f"sample {index} of data is an array of {array.dtype}, wanted a dict, {{input: array}}")
    np.save(file, array)
    return ".npy"


def _write_sample(folder: str, index: int, sample: Any) -> None:
    path = os.path.join(folder, f"{index:012}")
    with open(path, "wb") as file:
        ending = _write_to(file, index, sample)
    os.rename(path, path + ending)


def stream_of(data: Any, shard: Any = None, is_divided: Any = False) -> Iterator[Any]:
    """Yields the bytes of a stream of samples (docs/many_machines.md), those of a shard, (number, count), or all. Raises
    ArgumentError if there are none. is_divided: data are the samples of the shard, perhaps none."""
    index = -1
    number, count = shard if shard and shard[1] > 0 else (1, 1)
    for index, sample in enumerate(data):
        if not is_divided and index % count != number - 1:
            continue
        file = io.BytesIO()
        _write_to(file, index, sample)
        yield file.getbuffer().nbytes.to_bytes(8, "little")
        yield file.getbuffer()
    if index < 0 and not is_divided:
        raise ArgumentError("data has no samples")


@contextlib.contextmanager
def folder_of(data: Any) -> Iterator[Any]:
    """Yields a folder or file of samples: `data` if it is a path, else a temporary folder with a file for each sample."""
    if isinstance(data, (str, os.PathLike)):
        yield os.fspath(data)
        return
    with tempfile.TemporaryDirectory(prefix="qdq-data-") as folder:
        index = -1
        for index, sample in enumerate(data):
            _write_sample(folder, index, sample)
        if index < 0:
            raise ArgumentError("data has no samples")
        yield folder


@contextlib.contextmanager
def model_file(model: Any) -> Iterator[Any]:
    """Yields the path of a model. Writes a Graph to a temporary file."""
    if not isinstance(model, Graph):
        yield os.fspath(model)
        return
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        path = os.path.join(folder, "graph.json")
        model.write(path)
        yield path


def options(target: Optional[str] = None, shapes: Any = None, dims: Any = None, until: Any = None,
            threads: Optional[int] = None) -> List[str]:  # fmt: skip
    """Returns the words of options that load and run a model, as in qdq.load."""
    words = [] if target is None else ["--target", target]
    for name, shape in (shapes or {}).items():
        words += ["--shape", f"{name}={','.join(map(str, shape))}"]
    for name, size in (dims or {}).items():
        words += ["--dim", f"{name}={size}"]
    words += [] if until is None else ["--until", until]
    return words + ([] if threads is None else ["--threads", str(threads)])


def _names_of(data: Any, shard: Optional[Tuple[int, int]]) -> Optional[Callable[[Set[int]], Mapping[int, str]]]:
    """Returns a function that returns {number: name} for numbers that the tool gives the samples of a source: of a
    shard, i - 1, i - 1 + n and so on."""
    if not isinstance(data, Source):
        return None
    number, count = shard or (1, 1)

    def names(told: Set[int]) -> Mapping[int, str]:
        return {number - 1 + at * count: name for at, name in data.names((one - number + 1) // count for one in told).items()}

    return names


def _refuse_misfits(made: Any, share: Any) -> None:
    """Removes a state without too many of the samples, and raises StateError."""
    found = files.read(made.path, only=("numbers", "unreadable"))
    count = bytes(found.get("unreadable", b"")).count(b"\0")
    samples = int(found["numbers"][2]) + count
    if count > share * samples:
        os.unlink(made.path)
        raise StateError(f"{count} of {samples} samples do not fit the graph, a larger share than max_unreadable, {share:g}, "
                         "permits; the warning before names them")  # fmt: skip


def calibrate(model: Union[Graph, PathLike], data: Union[PathLike, Samples], *, state: PathLike,
              shard: Union[Tuple[int, int], str, None] = None, resume: bool = False,
              threads: Optional[int] = None, target: Optional[str] = None,
              shapes: Optional[Mapping[str, Iterable[int]]] = None, dims: Optional[Mapping[str, int]] = None,
              until: Optional[str] = None) -> State:  # fmt: skip
    """Runs a graph on every sample of a data set and writes exact statistics of its float values to the file `state`.

    model: a Graph, or the path of a model, which target, shapes, dims and until load as in qdq.load.
    data: a folder of .npz, .npy and .safetensors files, or a single file whose arrays have a dim of samples first
    (docs/many_machines.md); or an iterable of samples, each {input: array}, or an array for a graph with a single
    input. The samples of an iterable go to the run one by one: neither memory nor disk holds more than one or two. The order
    of the samples makes no difference.
    Sources of qdq.data read files, pictures, tar files and other data in this way, and limit unreadable samples.
    shard: (i, n) or 'i/n' takes samples i, i + n, i + 2n, ..., counted from 1. resume: continue from the checkpoint
    `state`.part of an interrupted run; data must be a path. threads: of each run; None uses every processor.
    Returns a State. Samples that cannot be read are left out and named in a warning. Raises StateError if data or a
    checkpoint does not fit; ArgumentError, UnsupportedError or LimitError with the tool's sentence.
    """
    numbers, is_divided = shard_numbers(shard), False
    if isinstance(data, Source) and numbers and 1 < numbers[1]:
        data, is_divided = data.shard(*numbers), True
    path = os.fspath(data) if isinstance(data, (str, os.PathLike)) else None
    with model_file(model) as file:
        words = ["calibrate", file, "--data", path or "-", *shard_word(shard)]
        if isinstance(model, Graph):
            target = target or model.target
        words += [*(["--resume"] if resume else []), *options(target, shapes, dims, until, threads)]
        feed = None if path else stream_of(data, numbers, is_divided)
        made = call(words, state, feed, _names_of(data, numbers))
    if isinstance(data, Source):
        _refuse_misfits(made, data.max_unreadable)
    return made
