# SPDX-License-Identifier: Apache-2.0
"""The data of a call: a single run or samples, as files for the tool, and as arrays to run graphs in Python."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from . import _dtypes as dtypes
from . import _files as files
from . import _metric
from . import _samples as samples
from ._calibrate import Samples, folder_of
from ._library import ArgumentError
from ._types import PathLike

Data = Union[Mapping[str, Any], PathLike, Samples]


def _imported(data: Any) -> Any:
    """Returns the arrays of a single run by name."""
    arrays = {name: dtypes.imported(array) for name, array in data.items()}
    if not arrays:
        raise ArgumentError("data has no arrays")
    for name, array in arrays.items():
        if array.dtype.kind not in "biufV":
            raise ArgumentError(f"array '{name}' of data is an array of {array.dtype}, wanted numbers")
    return arrays


class Given(contextlib.ExitStack):
    """Data in files, which are removed when the context ends. options: shapes, dims and until of the models.

    data: {input: array} is one run, else a path or samples as in qdq.calibrate.
    """

    def __init__(self, data: Data, **options: Any) -> None:
        super().__init__()
        if not isinstance(data, (Mapping, str, os.PathLike, Iterable)):
            raise TypeError(f"data is {data!r}, wanted {{input: array}}, a path, or samples")
        self.is_run, self._options = isinstance(data, Mapping), options
        self._arrays: Mapping[str, Any] = _imported(data) if self.is_run else {}
        self._shapes: Optional[Tuple[Dict[str, Tuple[int, ...]], bool]] = None  # as of array_shapes; None: not read yet
        if self.is_run:
            self._folder = self.enter_context(tempfile.TemporaryDirectory(prefix="qdq-data-"))
            self._shapes = {name: array.shape for name, array in self._arrays.items()}, False
        else:
            self._folder = self.enter_context(folder_of(data))

    def open(self, model: Any, **more: Any) -> Any:
        """Loads a model; open dims get the sizes of the data. more: target, or until in place of the models'."""
        if self._shapes is None:
            self._shapes = samples.array_shapes(self._folder)
        given, counted = self._shapes
        return samples.open_graph(model, given=given, counted=counted, **{**self._options, **more})

    def words(self, graph: Any, target: Optional[str]) -> List[Any]:
        """Returns the words of the tool for this data. graph: opened, whose inputs it is."""
        if not self.is_run:
            return ["--data", self._folder]
        path = os.path.join(self._folder, "inputs.safetensors")
        infos = graph.compile(target).inputs
        fitted = samples.fitted(self._arrays, infos)
        files.write(path, {info.name: (info.dtype, fitted[info.name]) for info in infos})
        return ["-i", path]

    def samples(self) -> int:
        """Returns the number of samples in a single run, the first dim of its first array."""
        shape = next(tuple(array.shape) for array in self._arrays.values())
        return shape[0] if shape else 1

    def count(self, graph: Any, target: Optional[str], judge: Any, threads: Optional[int]) -> Tuple[int, int]:
        """Returns (right answers, answers) of a graph, for a judge of _metric.judge_of."""
        if not self.is_run:
            return _metric.count(graph, target, samples.read(self._folder, graph, target), judge, threads)
        inputs = samples.fitted(self._arrays, graph.compile(target).inputs)
        entries = None if hasattr(judge, "classes") else self.samples()
        return _metric.count(graph, target, [(inputs, self._arrays)], judge, threads, entries)
