# SPDX-License-Identifier: Apache-2.0
"""Samples in rows: of Parquet files, by pyarrow, and of data sets of Hugging Face."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from .. import _dtypes as dtypes
from .._library import ArgumentError
from .._state import StateError
from ._places import Files, Pattern
from ._source import Source, needed

_ROWS = 64  # of a batch

Columns = Union[str, Sequence[str], Mapping[str, str], None]
Prepare = Optional[Callable[[Mapping[str, Any]], Any]]


class Choice:
    """Turns a row into a sample: by a function, or with its columns of numbers. columns: a name, whose array is the sample;
    names; or {column: input}."""

    def __init__(self, columns: Columns, prepare: Prepare) -> None:
        self.single = columns if isinstance(columns, str) else None
        names = [columns] if self.single else columns
        self.inputs = names if names is None or isinstance(names, Mapping) else {name: name for name in names}
        self.columns = None if names is None else list(names)
        self.prepare = prepare

    def refuse_missing(self, where: str, found: Any) -> None:
        missing = [] if self.columns is None else [name for name in self.columns if name not in found]
        if missing:
            raise ArgumentError(f"{where}: there is no column '{missing[0]}'; it has {', '.join(found)}")

    def sample(self, row: Any) -> Any:
        """row: {column: array, or another object of Python}."""
        if self.prepare:
            return self.prepare(row)
        arrays = {name: value for name, value in row.items() if isinstance(value, np.ndarray)}
        others = [name for name in self.columns or row if name not in arrays]
        if others and (self.columns or not arrays):
            raise ValueError(f"column '{others[0]}' has no numbers; give `prepare`")
        if self.single:
            return arrays[self.single]
        return {(self.inputs or {}).get(name, name): array for name, array in arrays.items()}


def _is_list(types: Any, kind: Any) -> Any:
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def _cell(arrow: Any, scalar: Any) -> Any:
    """Returns an array for a number, a tensor, or a list of equally long lists of numbers; else the object of Python."""
    types, leaf = arrow.types, scalar.type
    if hasattr(scalar, "to_numpy"):
        return scalar.to_numpy()
    while _is_list(types, leaf):
        leaf = leaf.value_type
    if not (types.is_integer(leaf) or types.is_floating(leaf) or types.is_boolean(leaf)):
        return scalar.as_py()
    if not scalar.is_valid:
        raise ValueError("a cell is null")
    if not _is_list(types, scalar.type):
        return np.asarray(scalar.as_py(), leaf.to_pandas_dtype())
    found, shape = scalar.values, [len(scalar.values)]
    while _is_list(types, found.type):
        lengths = set(arrow.compute.list_value_length(found).to_pylist()) or {0}
        if len(lengths) > 1 or None in lengths:
            raise ValueError("a cell has lists of different lengths")
        shape.append(lengths.pop())
        found = found.flatten()
    if found.null_count:
        raise ValueError("a list of a cell has null")
    return found.to_numpy(zero_copy_only=False).reshape(shape)


class Parquet(Files):
    """The source of `parquet`."""

    def __init__(self, pattern: Any, columns: Any, prepare: Any, max_unreadable: Any, storage_options: Any) -> None:
        needed("pyarrow.parquet", "parquet")
        super().__init__("parquet", pattern, (".parquet", ".pq"), max_unreadable, storage_options)
        self._choice = Choice(columns, prepare)

    def _read(self, batch: Any, row: Any) -> Any:
        import pyarrow.compute

        return self._choice.sample({name: _cell(pyarrow, batch.column(name)[row]) for name in batch.schema.names})

    def _batches(self, at: Any) -> Iterator[Any]:
        import pyarrow.parquet

        try:
            with self._open(at) as file:
                table = pyarrow.parquet.ParquetFile(file)
                self._choice.refuse_missing(self._name(at), table.schema_arrow.names)
                yield from table.iter_batches(_ROWS, columns=self._choice.columns)
        except (pyarrow.ArrowException, OSError) as error:
            raise StateError(f"{self._name(at)}: cannot be read: {error}; copy the file again") from None

    def _entries(self) -> Iterator[Any]:
        for at in range(len(self._found)):
            index = 0
            for batch in self._batches(at):
                for row in range(batch.num_rows):
                    yield f"{self._name(at)}: row {index}", partial(self._read, batch, row)
                    index += 1


def parquet(pattern: Pattern, columns: Optional[Columns] = None, prepare: Optional[Prepare] = None, *,
            max_unreadable: float = 0.01, storage_options: Optional[Mapping[str, Any]] = None) -> Files:  # fmt: skip
    """Samples in the rows of Parquet files, which are read in batches of 64 rows.

    columns: names of columns; {column: input}; or one name, whose array is the sample; None: all. Without `prepare` the
    columns of numbers, of lists, or of lists of equally long lists, are arrays of their dtype, and others are left out.
    prepare: called with {column: array, or bytes, str, dict}; returns the sample. pattern as in `files`.
    """
    return Parquet(pattern, columns, prepare, max_unreadable, storage_options)


def _dtype_of(feature: Any) -> Any:
    """Returns the dtype of the numbers in a column of Hugging Face; None if it holds no numbers, or unknown ones."""
    while True:
        if isinstance(feature, (list, tuple)) and feature:
            feature = feature[0]
        elif hasattr(feature, "feature"):
            feature = feature.feature
        else:
            break
    name = getattr(feature, "dtype", None)
    try:
        return np.dtype(name) if name is not None and np.dtype(name).kind in "biuf" else None
    except TypeError:
        return None


def _value(value: Any, feature: Any) -> Any:
    """Returns the value of a column as an array, if it holds numbers."""
    dtype = _dtype_of(feature)
    if isinstance(value, np.ndarray) or hasattr(value, "__dlpack__"):
        return dtypes.imported(value)
    if feature is not None:
        return value if dtype is None else np.asarray(value, dtype)
    if not isinstance(value, (bool, int, float, list, tuple)):
        return value
    found = np.asarray(value)
    return found.astype(np.float32) if found.dtype == np.float64 else found if found.dtype.kind in "biu" else value


class HuggingFace(Source):
    """The source of `hugging_face`."""

    def __init__(self, dataset: Any, columns: Any, prepare: Any, max_unreadable: Any) -> None:
        super().__init__(max_unreadable)
        self._dataset, self._choice = dataset, Choice(columns, prepare)
        names = getattr(dataset, "column_names", None)
        if names is not None:
            self._choice.refuse_missing("dataset", names)
            if self._choice.columns is not None:
                self._dataset = dataset.select_columns(self._choice.columns)

    def _total(self) -> Any:
        return len(self._dataset) if hasattr(self._dataset, "__len__") else None

    def _divided(self, number: int, count: int) -> Any:
        if not hasattr(self._dataset, "shard"):
            return None
        made = copy.copy(self)
        if hasattr(self._dataset, "__len__"):
            made._dataset = self._dataset.shard(num_shards=count, index=number - 1, contiguous=False)
        elif getattr(self._dataset, "num_shards", 0) >= count:
            made._dataset = self._dataset.shard(num_shards=count, index=number - 1)
        else:
            return None
        return made

    def _read(self, index: int, row: Any = None) -> Any:
        row = self._dataset[index] if row is None else row
        if self._choice.prepare:
            return self._choice.prepare(row)
        features = getattr(self._dataset, "features", None) or {}
        return self._choice.sample({name: _value(value, features.get(name)) for name, value in row.items()})

    def _entries(self) -> Iterator[Any]:
        if hasattr(self._dataset, "__len__"):  # a row that cannot be decoded does not end the others
            for index in range(len(self._dataset)):
                yield f"row {index}", partial(self._read, index)
            return
        for index, row in enumerate(self._dataset):
            yield f"row {index}", partial(self._read, index, row)


def hugging_face(dataset: Any, columns: Optional[Columns] = None, prepare: Optional[Prepare] = None, *,
                 max_unreadable: float = 0.01) -> Source:  # fmt: skip
    """Samples of a datasets.Dataset or IterableDataset, in its format, with its transforms.

    columns: as in `parquet`. Without `prepare` the columns of numbers are arrays of the dtype of their feature; where
    features are unknown, floats of Python are float32. Columns of pictures and text need `prepare`, called with the row.
    A row of an IterableDataset that cannot be decoded ends the iteration.
    """
    return HuggingFace(dataset, columns, prepare, max_unreadable)
