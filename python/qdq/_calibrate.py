# SPDX-License-Identifier: Apache-2.0
"""Computes statistics of a graph's values over a data set: runs `qdq calibrate` on files, or on samples from Python."""

import contextlib
import io
import os
import tempfile
from typing import Any, Iterable, Mapping, Optional, Tuple, Union

import numpy as np

from . import _dtypes as dtypes
from . import _files as files
from ._graph import Graph
from ._library import ArgumentError
from ._state import Path, State, call, shard_numbers, shard_word

Samples = Iterable[Union[Mapping[str, Any], Any]]


def _write_to(file, index, sample):
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


def _write_sample(folder, index, sample):
    path = os.path.join(folder, f"{index:012}")
    with open(path, "wb") as file:
        ending = _write_to(file, index, sample)
    os.rename(path, path + ending)


def stream_of(data, shard=None):
    """Yields the bytes of a stream of samples (docs/many_machines.md), those of a shard, (number, count), or all. Raises
    ArgumentError if there are none."""
    index = -1
    number, count = shard if shard and shard[1] > 0 else (1, 1)
    for index, sample in enumerate(data):
        if index % count != number - 1:
            continue
        file = io.BytesIO()
        _write_to(file, index, sample)
        yield file.getbuffer().nbytes.to_bytes(8, "little")
        yield file.getbuffer()
    if index < 0:
        raise ArgumentError("data has no samples")


@contextlib.contextmanager
def folder_of(data):
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
def model_file(model):
    """Yields the path of a model. Writes a Graph to a temporary file."""
    if not isinstance(model, Graph):
        yield os.fspath(model)
        return
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        path = os.path.join(folder, "graph.json")
        model.write(path)
        yield path


def options(target=None, shapes=None, dims=None, until=None, threads=None) -> list:
    """Returns the words of options that load and run a model, as in qdq.load."""
    words = [] if target is None else ["--target", target]
    for name, shape in (shapes or {}).items():
        words += ["--shape", f"{name}={','.join(map(str, shape))}"]
    for name, size in (dims or {}).items():
        words += ["--dim", f"{name}={size}"]
    words += [] if until is None else ["--until", until]
    return words + ([] if threads is None else ["--threads", str(threads)])


def calibrate(model: Union[Graph, Path], data: Union[Path, Samples], *, state: Path,
              shard: Union[Tuple[int, int], str, None] = None,
              resume: bool = False, threads: Optional[int] = None, target: Optional[str] = None,
              shapes: Optional[Mapping[str, Iterable[int]]] = None, dims: Optional[Mapping[str, int]] = None,
              until: Optional[str] = None) -> State:  # fmt: skip
    """Runs a graph on every sample of a data set and writes exact statistics of its float values to the file `state`.

    model: a Graph, or the path of a model, which target, shapes, dims and until load as in qdq.load.
    data: a folder of .npz, .npy and .safetensors files, or a single file whose arrays have a dim of samples first
    (docs/many_machines.md); or an iterable of samples, each {input: array}, or an array for a graph with a single
    input. The samples of an iterable go to the run one by one: neither memory nor disk holds more than one or two. The order
    of the samples makes no difference.
    shard: (i, n) or 'i/n' takes samples i, i + n, i + 2n, ..., counted from 1. resume: continue from the checkpoint
    `state`.part of an interrupted run; data must be a path. threads: of each run; None uses every processor.
    Returns a State. Samples that cannot be read are left out and named in a warning. Raises StateError if data or a
    checkpoint does not fit; ArgumentError, UnsupportedError or LimitError with the tool's sentence.
    """
    is_path = isinstance(data, (str, os.PathLike))
    with model_file(model) as file:
        words = ["calibrate", file, "--data", os.fspath(data) if is_path else "-", *shard_word(shard)]
        if isinstance(model, Graph):
            target = target or model.target
        words += [*(["--resume"] if resume else []), *options(target, shapes, dims, until, threads)]
        return call(words, state, None if is_path else stream_of(data, shard_numbers(shard)))
