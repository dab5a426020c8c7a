# SPDX-License-Identifier: Apache-2.0
"""Samples in files of arrays, and in tar files of WebDataset."""

from __future__ import annotations

import os
import tarfile
from functools import partial
from typing import IO, Any, Callable, cast, Dict, Iterator, Mapping, Optional

from .._state import StateError
from ._places import ARRAYS, Files, Pattern, arrays_of


class ArrayFiles(Files):
    """The source of `files`."""

    def __init__(self, pattern: Any, max_unreadable: Any, storage_options: Any) -> None:
        super().__init__("files", pattern, ARRAYS, max_unreadable, storage_options)

    def _read(self, at: Any) -> Any:
        return arrays_of(self._found[at][1], self._bytes(at))

    def _total(self) -> Any:
        return len(self._found)

    def _entries(self) -> Iterator[Any]:
        for at in range(len(self._found)):
            yield self._name(at), partial(self._read, at)


def files(pattern: Pattern, *, max_unreadable: float = 0.01,
          storage_options: Optional[Mapping[str, Any]] = None) -> Files:  # fmt: skip
    """Samples in .npy, .npz and .safetensors files, one in each.

    pattern: a folder, which is searched with its subfolders, except hidden ones; a glob, in which ** stands for any
    folders; a file; or several of them. Ranges as in part-{00..15} stand for all numbers. A URL, as s3://, gs://, hf://
    or memory://, is opened by fsspec, with storage_options.
    """
    return ArrayFiles(pattern, max_unreadable, storage_options)


def _parts_of(name: str) -> Any:
    """Returns (key, ending) of a member: its name up to the first dot of its last part, and the rest."""
    folder, _, last = name.rpartition("/")
    key, _, ending = last.partition(".")
    return f"{folder}/{key}" if folder else key, ending.lower()


def _members(stream: Any, name: str) -> Iterator[Any]:
    """Yields (key, ending, bytes) of the files of a tar file. Raises StateError if it is damaged or cut off."""
    last = "its beginning"
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as tar:
            for member in tar:
                tar.members = []  # type: ignore[attr-defined]  # or memory holds all
                if member.issparse():  # a few bytes may stand for any number of zeros
                    raise tarfile.ReadError(f"'{member.name}' is sparse")
                if member.isreg():
                    last = f"'{member.name}'"
                    yield (*_parts_of(member.name), cast(IO[bytes], tar.extractfile(member)).read())
            if tar.fileobj.tell() == tar.offset:  # no block of zeros was read
                raise tarfile.ReadError("it has no end mark")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise StateError(f"{name}: is damaged or cut off after {last}: {error}; copy the file again") from None


def _arrays_in(members: Any) -> Any:
    """Returns the arrays of the members that are .npy, .npz or .safetensors files."""
    made = {}
    for ending, data in members.items():
        name, _, kind = ending.rpartition(".")
        if f".{kind}" in ARRAYS:
            found = arrays_of(f"member.{kind}", data)
            made.update(found if isinstance(found, dict) else {name: found})
    if not made:
        raise ValueError(f"has no .npy, .npz or .safetensors member, only {', '.join(sorted(members))}; give `prepare`")
    return made.get("") if list(made) == [""] else made


class Tars(Files):
    """The source of `webdataset`."""

    def __init__(self, pattern: Any, prepare: Any, max_unreadable: Any, storage_options: Any) -> None:
        super().__init__("webdataset", pattern, (".tar", ".tar.gz", ".tgz"), max_unreadable, storage_options)
        self._prepare = prepare

    def _read(self, key: str, members: Any) -> Any:
        return self._prepare({"__key__": key, **members}) if self._prepare else _arrays_in(members)

    def _entries(self) -> Iterator[Any]:
        for at in range(len(self._found)):
            name = self._name(at)
            with self._open(at) as stream:
                members: Dict[str, bytes] = {}
                before = ""
                for key, ending, data in _members(stream, name):
                    if os.path.basename(key) == "":  # hidden
                        continue
                    if members and (key != before or ending in members):
                        yield f"{name}: {before}", partial(self._read, before, members)
                        members = {}
                    before, members[ending] = key, data
                if members:
                    yield f"{name}: {before}", partial(self._read, before, members)


def webdataset(pattern: Pattern, prepare: Optional[Callable[[Mapping[str, Any]], Any]] = None, *,
               max_unreadable: float = 0.01, storage_options: Optional[Mapping[str, Any]] = None) -> Files:  # fmt: skip
    """Samples in tar files of WebDataset, also compressed, which are read in one pass from begin to end.

    Members that follow each other and have equal names up to the first dot are a sample. Without `prepare` a sample has
    the arrays of its .npy members (0001.x.npy is x, 0001.npy has no name), .npz and .safetensors members; others are
    skipped. prepare: called with {"jpg": bytes, "cls": bytes, ..., "__key__": name}; returns the sample.
    A damaged tar file raises StateError, since nobody knows how many samples it had. pattern as in `files`.
    """
    return Tars(pattern, prepare, max_unreadable, storage_options)
