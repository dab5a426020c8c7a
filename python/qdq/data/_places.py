# SPDX-License-Identifier: Apache-2.0
"""Finds and opens files: local ones by the standard library, URLs by fsspec. Reads the arrays in them."""

from __future__ import annotations

import glob
import io
import itertools
import os
import re
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from .. import _files
from .._library import ArgumentError
from ._source import Source, needed
from .._types import PathLike

_BEGINS = {".npy": b"\x93NUMPY", ".npz": b"PK", ".safetensors": b""}
ARRAYS = tuple(_BEGINS)

Pattern = Union[PathLike, Sequence[PathLike]]


def _ranges(pattern: Any) -> Any:
    """Returns the patterns of one with ranges of numbers, as in train-{000..127}.tar."""
    found = re.search(r"\{(\d+)\.\.(\d+)\}", pattern)
    if not found:
        return [pattern]
    numbers = range(int(found[1]), int(found[2]) + 1)
    names = (f"{pattern[:found.start()]}{number:0{len(found[1])}}{pattern[found.end():]}" for number in numbers)
    return list(itertools.chain.from_iterable(map(_ranges, names)))


def _local(pattern: Any, endings: Any) -> Any:
    """Returns the files of a folder and its subfolders, of a glob, or a file."""
    if not os.path.isdir(pattern):
        return [pattern] if os.path.exists(pattern) else list(filter(os.path.isfile, glob.glob(pattern, recursive=True)))
    found = []
    for folder, folders, names in os.walk(pattern):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(folder, name) for name in names if name.lower().endswith(endings) and name[0] != "."]
    return found


def _remote(files: Any, pattern: Any, endings: Any) -> List[Any]:
    """Returns the same of a file system of fsspec."""
    if files.isdir(pattern):
        found = [path for path in files.find(pattern) if path.lower().endswith(endings)]
        return [path for path in found if "/." not in path[len(pattern.rstrip("/")) :]]
    return [pattern] if files.isfile(pattern) else [path for path in files.glob(pattern) if files.isfile(path)]


class Files(Source):
    """A source whose samples lie in files, which are listed once, sorted by name as bytes, and pickled with it."""

    _has_names = True

    def __init__(self, source: str, pattern: Pattern, endings: Any, max_unreadable: Any,
                 storage_options: Optional[Mapping[str, Any]]) -> None:  # fmt: skip
        super().__init__(max_unreadable)
        patterns = [pattern] if isinstance(pattern, (str, os.PathLike)) else list(pattern)
        found = []
        for one in itertools.chain.from_iterable(_ranges(os.fspath(one)) for one in patterns):
            files, names = None, []
            if "://" in one:
                files, path = needed("fsspec.core", source).url_to_fs(one, **(storage_options or {}))
                names = _remote(files, path, endings)
            else:
                names = _local(one, endings)
            if not names:
                raise ArgumentError(f"{one}: no file has this name, and no folder of this name has a file that ends in "
                                    f"{', '.join(endings)}")  # fmt: skip
            found += [(files, name) for name in sorted(names, key=os.fsencode)]
        self._found = found

    def _open(self, at: Any) -> Any:
        files, name = self._found[at]
        return open(name, "rb") if files is None else files.open(name, "rb")

    def _name(self, at: Any) -> Any:
        files, name = self._found[at]
        return name if files is None else files.unstrip_protocol(name)

    def _bytes(self, at: Any) -> Any:
        with self._open(at) as file:
            return file.read()

    def _share(self, number: int, count: int) -> Any:
        """Returns the source of every count-th file."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, _found=self._found[number - 1 :: count])
        return made

    def _divided(self, number: int, count: int) -> Any:
        return self._share(number, count) if len(self._found) >= count else None


def arrays_of(name: str, data: bytes) -> Any:
    """Returns the array of a .npy file, or {name: array} of a .npz or .safetensors file, from its bytes."""
    file, ending = io.BytesIO(data), os.path.splitext(name)[1].lower()
    if not data.startswith(_BEGINS[ending]):
        raise ValueError(f"is no {ending} file")
    if ending == ".safetensors":
        try:
            return _files.read_from(file)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"is no .safetensors file: {error}") from None
    found = np.load(file, allow_pickle=False)
    return found if ending == ".npy" else {key: found[key] for key in found.files}
