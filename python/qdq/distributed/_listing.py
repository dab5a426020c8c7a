# SPDX-License-Identifier: Apache-2.0
"""The identity of a data set: names, sizes and content of its files, as the tool stores it in a state
(docs/many_machines.md, `listing`)."""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import io
import itertools
import os
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

import numpy as np

from .. import _files as files

_ENDINGS = (b".npz", b".npy", b".safetensors")
_BLOCK, _BLOCKS = 1 << 16, 256
_PROBES = 4  # files of a shard whose content a worker compares


@dataclass(frozen=True)
class Listing:
    """The files of a data set as they were when it was listed."""

    folder: bytes  # b"": a single file
    files: Tuple[Tuple[bytes, int], ...]  # name, or the path of the single file; bytes
    digest: bytes  # SHA-256

    def shard_file(self, number: int, count: int) -> bytes:
        """Returns the file for --listing of a shard of a folder. Raises OSError if a file cannot be read."""
        own = self.files[number - 1 :: count]
        probed = [i * len(own) // _PROBES for i in range(_PROBES)] if len(own) > _PROBES else range(len(own))
        probes = [(i, max(0, own[i][1] - _BLOCK) // 2, min(max(own[i][1], 0), _BLOCK)) for i in probed]
        digests = b"".join(self._digest(own[i][0], first, size) for i, first, size in probes)
        file, names = io.BytesIO(), np.frombuffer(b"".join(name + b"\0" for name, _ in own), np.uint8)
        files.write_to(file, {"samples": ("int64", np.array([len(self.files)])), "shard": ("int64", np.array([number, count])),
                              "names": ("uint8", names), "sizes": ("int64", np.array([size for _, size in own], np.int64)),
                              "probes": ("int64", np.array(probes, np.int64)), "digests": ("uint8", np.frombuffer(digests, np.uint8)),
                              "listing": ("uint8", np.frombuffer(self.digest, np.uint8))})  # fmt: skip
        return file.getvalue()

    def _digest(self, name: bytes, first: int, size: int) -> bytes:
        with open(os.path.join(self.folder, name), "rb") as file:
            file.seek(first)
            return hashlib.sha256(file.read(size)).digest()

    def changed(self) -> Optional[List[str]]:
        """Returns the names of files that have another size now, or are gone or new; none if only the content of a file
        has changed. None: nothing has changed."""
        now = list_data(os.fsdecode(self.folder or self.files[0][0]))
        if now and now.digest == self.digest:
            return None
        before, after = dict(self.files), dict(now.files) if now else {}
        return sorted(os.fsdecode(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _number(value: int) -> bytes:
    return (value % (1 << 64)).to_bytes(8, "little")


def _content(paths: Any, ends: Any, begin: Any, length: Any, digest: Any) -> None:
    """Hashes bytes `begin` .. `begin` + `length` of all files after each other; zeros for bytes that cannot be read.
    ends: for each file the sum of its size and of all before it."""
    at = bisect.bisect_right(ends, begin)
    while length:
        first = ends[at - 1] if at else 0
        take = min(length, ends[at] - begin)
        part = b""
        if take:
            with contextlib.suppress(OSError), open(paths[at], "rb") as file:
                file.seek(begin - first)
                part = file.read(take)
        digest.update(part + bytes(take - len(part)))
        begin, length, at = begin + take, length - take, at + 1


def list_data(where: str) -> Optional[Listing]:
    """Lists a folder of samples or a single file. None if it cannot be read here: perhaps only the workers see it."""
    path = os.fsencode(where)
    try:
        if not os.path.isdir(path):
            found: Tuple[Tuple[bytes, int], ...] = ((path, os.path.getsize(path)),)
        else:
            with os.scandir(path) as entries:
                found = tuple(sorted((e.name, e.stat().st_size if e.is_file() else -1) for e in entries
                                     if e.name.endswith(_ENDINGS) and not e.name.startswith(b".")))  # fmt: skip
    except OSError:
        return None
    folder = path if os.path.isdir(path) else b""
    digest = hashlib.sha256()
    for name, size in found:
        shown = name if folder else b""
        digest.update(_number(len(shown)) + shown + _number(size))
    paths = [os.path.join(folder, name) for name, _ in found]
    ends = list(itertools.accumulate(max(size, 0) for _, size in found))
    total = ends[-1] if ends else 0
    if total <= _BLOCK * _BLOCKS:
        _content(paths, ends, 0, total, digest)
    else:
        for i in range(_BLOCKS):
            _content(paths, ends, i * (total - _BLOCK) // (_BLOCKS - 1), _BLOCK, digest)
    return Listing(folder, found, digest.digest())
