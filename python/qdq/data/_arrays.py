# SPDX-License-Identifier: Apache-2.0
"""Samples in files of arrays."""

from functools import partial
from typing import Any, Mapping, Optional

from ._places import ARRAYS, Files, Pattern, arrays_of


class ArrayFiles(Files):
    """The source of `files`."""

    def __init__(self, pattern, max_unreadable, storage_options):
        super().__init__("files", pattern, ARRAYS, max_unreadable, storage_options)

    def _read(self, at):
        return arrays_of(self._found[at][1], self._bytes(at))

    def _total(self):
        return len(self._found)

    def _entries(self):
        for at in range(len(self._found)):
            yield self._name(at), partial(self._read, at)


def files(pattern: Pattern, *, max_unreadable: float = 0.01, storage_options: Optional[Mapping[str, Any]] = None) -> Files:
    """Samples in .npy, .npz and .safetensors files, one in each.

    pattern: a folder, which is searched with its subfolders, except hidden ones; a glob, in which ** stands for any
    folders; a file; or several of them. Ranges as in part-{00..15} stand for all numbers. A URL, as s3://, gs://, hf://
    or memory://, is opened by fsspec, with storage_options.
    """
    return ArrayFiles(pattern, max_unreadable, storage_options)
