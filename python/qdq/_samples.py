# SPDX-License-Identifier: Apache-2.0
"""Reads the samples of a data set as the tool reads them (docs/many_machines.md), to run graphs on them in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

import numpy as np

from . import _dtypes as dtypes
from . import _files as files
from ._graph import Graph
from ._library import ArgumentError, lib
from ._types import PathLike, Array

_ENDINGS = (".npz", ".npy", ".safetensors")


def _arrays(path: Path) -> Dict[str, Array]:
    """Returns the arrays of a file by name. The array of a .npy file has the name ""."""
    if path.suffix == ".safetensors":
        tensors: Dict[str, Array] = files.read(path)
        return tensors
    try:
        found = np.load(path, allow_pickle=False)
        return {"": found} if path.suffix == ".npy" else {name: found[name] for name in found.files}
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{path}: cannot be read: {error}") from None


def _sample_files(folder: Path) -> List[Any]:
    """Returns the samples of a folder, sorted by name as bytes."""
    named = [one for one in os.listdir(folder) if one.endswith(_ENDINGS) and not one.startswith(".")]
    return [path for path in (Path(folder, one) for one in sorted(named, key=os.fsencode)) if path.is_file()]


def array_shapes(where: str) -> Tuple[Dict[str, Tuple[int, ...]], bool]:
    """Returns (shapes of arrays by name, True if their first dim counts samples): of the first file of a folder, or of a
    file."""
    path = Path(where)
    if not path.is_dir():
        return {name: array.shape for name, array in _arrays(path).items()}, True
    found = _sample_files(path)
    return {name: array.shape for name, array in _arrays(found[0]).items()} if found else {}, False


def open_graph(model: Any, *, shapes: Any, dims: Any, until: Any, given: Any, counted: Any,
               target: Optional[str] = None) -> Any:  # fmt: skip
    """Loads a model. Sizes of dims that it lacks have no effect. Open dims get the sizes of arrays of the shapes `given`.
    counted: the first dim of these counts samples."""
    if isinstance(model, Graph):
        return model
    return Graph._made(lib.qdq_graph_load, [os.fsencode(model)], target, shapes, dims, until, given, counted)


def _fitted(array: Array, info: Any) -> Any:
    """Returns an array of a sample with the shape and dtype of an input; dims of 1 before its dims may differ."""
    bare = [shape[next((i for i, dim in enumerate(shape) if dim != 1), len(shape)) :] for shape in (array.shape, info.shape)]
    if bare[0] != bare[1]:
        raise ArgumentError(f"input '{info.name}' has shape {list(array.shape)} in a sample, wanted {list(info.shape)}")
    array = array.reshape(info.shape)
    array = array.astype(info.numpy) if array.dtype == np.float32 and info.numpy.kind in "fV" else array
    return dtypes.to_array(array, info.name, info.dtype, info.shape)


def fitted(arrays: Mapping[str, Any], infos: Any) -> Dict[str, Array]:
    """Returns {input: array} of a sample for the inputs of a plan."""
    made = {}
    for info in infos:
        array = arrays.get(info.name, arrays.get("") if len(infos) == 1 else None)
        if array is None:
            raise ArgumentError(f"a sample has no array of input '{info.name}'; it has {', '.join(arrays) or 'none'}")
        made[info.name] = _fitted(dtypes.imported(array), info)
    return made


def _part(array: Array, index: int, size: Any) -> Any:
    """Returns the entries of a sample in an array with a dim of samples first. size: entries of a sample; 0: the sample
    lacks the dim."""
    return array[index * size : (index + 1) * size] if size else array[index]


def _entries(path: Path, infos: Any) -> Iterator[Any]:
    """Yields the samples of a file whose arrays have a dim of samples first."""
    arrays = {name: array for name, array in _arrays(path).items() if array.ndim}
    sizes = {}
    for info in infos:
        name = info.name if info.name in arrays else ""
        if name in arrays:
            sizes[name] = info.shape[0] if arrays[name].ndim == len(info.shape) else 0
    count = min((len(arrays[name]) // max(size, 1) for name, size in sizes.items()), default=0)
    for name, array in arrays.items():
        sizes.setdefault(name, 0 if len(array) <= count else len(array) // max(count, 1))
    for i in range(count):
        yield {name: _part(array, i, sizes[name]) for name, array in arrays.items() if len(array) >= count}


def read(where: str, graph: Any, target: Optional[str]) -> Iterator[Any]:
    """Yields (inputs, sample) for each sample of a folder or a file: {input: array} for a graph, and all arrays."""
    path, infos = Path(where), graph.compile(target).inputs
    for sample in map(_arrays, _sample_files(path)) if path.is_dir() else _entries(path, infos):
        yield fitted(sample, infos), sample
