# SPDX-License-Identifier: Apache-2.0
"""Samples of batches, as a DataLoader of torch yields them."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, Union

from .. import _dtypes as dtypes
from .._library import ArgumentError
from ._source import Source


def _is_array(value: Any) -> Any:
    return hasattr(value, "shape") and hasattr(value, "dtype")

# Inputs for the parts of a batch.
Names = Union[str, Sequence[Optional[str]], Mapping[str, str], None]


class Loader(Source):
    """The source of `loader`."""

    def __init__(self, dataloader: Any, names: Names, max_unreadable: float) -> None:
        super().__init__(max_unreadable)
        self._loader = dataloader
        self._names: Union[Sequence[Optional[str]], Mapping[str, str], None] = [names] if isinstance(names, str) else names
        sizes = [getattr(dataloader, "batch_size", 1), getattr(dataloader, "batch_sampler", None)]
        self._batched = any(one is not None for one in sizes)

    def shard(self, number: int, count: int) -> Any:
        if count > 1 and type(getattr(self._loader, "sampler", None)).__name__ == "RandomSampler":
            raise ArgumentError("the DataLoader shuffles, so its shards would overlap in other processes; create it with "
                                "shuffle=False")  # fmt: skip
        return super().shard(number, count)

    def _named(self, batch: Any) -> Dict[str, Any]:
        """Returns {name: array} of a batch; the name of a single array without one is ""."""
        names = self._names
        if isinstance(batch, Mapping):
            if names is None:
                return {name: value for name, value in batch.items() if _is_array(value)}
            missing = [name for name in names if name not in batch]
            if missing:
                raise ArgumentError(f"a batch has no '{missing[0]}', only {', '.join(map(str, batch))}")
            named = names if isinstance(names, Mapping) else {name: name for name in names if name is not None}
            return {name: batch[key] for key, name in named.items()}
        if _is_array(batch):
            batch = (batch,)
        if not isinstance(batch, (tuple, list)) or not batch:
            raise ArgumentError(f"a batch is a {type(batch).__name__}, wanted a tensor, a tuple or a dict of tensors")
        if names is None:
            return {"": batch[0]}
        if isinstance(names, Mapping) or len(names) > len(batch):
            raise ArgumentError(f"names is {names!r}, wanted at most {len(batch)} names, one for each part of a batch")
        return {name: value for name, value in zip(names, batch) if name is not None}

    def _samples(self, batch: Any) -> Iterator[Any]:
        arrays = {}
        for name, value in self._named(batch).items():
            if not _is_array(value):
                raise ArgumentError(f"{f'{name!r} of ' if name else ''}a batch is a {type(value).__name__}, wanted a tensor")
            arrays[name] = dtypes.imported(value)
        sizes = {len(array) if array.ndim else None for array in arrays.values()} if self._batched else {1}
        if len(sizes) != 1 or None in sizes:
            shapes = ", ".join(f"{name or 'first'} {list(array.shape)}" for name, array in arrays.items())
            raise ArgumentError(f"the tensors of a batch have no common first dim: {shapes}")
        for i in range(sizes.pop() or 0):
            sample = {name: array[i] for name, array in arrays.items()} if self._batched else arrays
            yield sample[""] if list(sample) == [""] else sample

    def _entries(self) -> Iterator[Any]:
        index = 0
        for batch in self._loader:
            for sample in self._samples(batch):
                yield f"sample {index}", lambda sample=sample: sample
                index += 1


def loader(dataloader: Any, names: Names = None, *,
           max_unreadable: float = 0.01) -> Source:  # fmt: skip
    """Samples of a torch DataLoader, or of another iterable of batches, of any size, which are divided along their first dim;
    with batch_size=None each item is a sample.

    names: for tuples an input for each part in sequence, None for a part to leave out; for dicts the keys, or
    {key: input}. Without names a tuple gives its first part, so that labels are left out, and a dict all of its tensors.
    An error of the DataLoader ends the iteration. A DataLoader that shuffles has no shards.
    """
    return Loader(dataloader, names, max_unreadable)
