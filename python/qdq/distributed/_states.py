# SPDX-License-Identifier: Apache-2.0
"""The states that a run has so far: files in a folder, each of one or more shards, which are merged eight at a time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import zlib
from typing import Any, Dict, List, Set, Tuple

from .. import _files as files
from .._library import Error, FileError
from ._tasks import Job, Outcome, names_in, state_name, token_of
from .._types import PathLike

FAN_IN = 8  # states that a merge reads, so that the disk holds a few states and not all
_BLOCK = 1 << 20


def is_whole(path: str) -> bool:
    """True if the bytes of a state have the checksum that is stored in it."""
    digest, last = hashlib.sha256(), None
    try:
        told = files.read(path, only=("sha256",))["sha256"].tobytes()
        for name, part in files.blocks(path, _BLOCK):
            if name == "sha256":
                continue
            digest.update(part if name == last else name.encode() + b"\0" + part)
            last = name
    except (Error, KeyError):
        return False
    return bool(digest.digest() == told)


def _unpack(parts: Any, path: PathLike) -> None:
    unpacker, made = zlib.decompressobj(), f"{path}.{os.getpid()}"
    try:
        with open(made, "wb") as file:
            for part in parts:
                while part:
                    file.write(unpacker.decompress(part, _BLOCK))
                    part = unpacker.unconsumed_tail
            file.write(unpacker.flush())
        os.replace(made, path)
    except OSError as error:
        raise FileError(f"{path}: a state cannot be written: {error.strerror}; the folder holds up to {FAN_IN} of them, and "
                        "twice as many while they are merged: name another folder with resume, or in TMPDIR") from None  # fmt: skip
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)


def _level(shards: int) -> int:
    level = 0
    while shards >= FAN_IN:
        shards //= FAN_IN
        level += 1
    return level


class States:
    """The states of a job in its folder. Only one thread uses an object."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.held: Dict[str, Tuple[int, ...]] = {}  # {path: shards}
        self.merging: Dict[str, Tuple[int, ...]] = {}  # states that a merge reads now
        with open(token_of(job), "w", encoding="ascii") as file:
            file.write(secrets.token_hex(8))

    def find(self, listing: bytes) -> List[str]:
        """Takes the states of the same job that an earlier run left in the folder. Removes and returns the others: states
        that are damaged, hold a shard twice, or are of data with another listing; b"": not known."""
        removed: List[str] = []
        seen: Set[int] = set()
        for name in sorted(os.listdir(self.job.folder)):
            path = os.path.join(self.job.folder, name)
            if not name.startswith(f"{self.job.key}.") or name == os.path.basename(token_of(self.job)):
                continue
            shards = self._shards(path, listing) if name.endswith(f"of{self.job.count}.state") else ()
            if not shards or seen.intersection(shards):
                removed.append(path)
                os.unlink(path)
                continue
            seen.update(shards)
            self.held[path] = shards
        return removed

    def _shards(self, path: str, listing: bytes) -> Tuple[int, ...]:
        if not is_whole(path):
            return ()
        facts = files.read(path, only=("numbers", "shards", "listing"))
        same = int(facts["numbers"][4]) == self.job.count and (not listing or facts["listing"].tobytes() == listing)
        return tuple(int(number) for number in facts["shards"]) if same else ()

    def add(self, number: int, path: str, parts: Any) -> str:
        """Adds the state of a shard: a file of the folder, or compressed bytes. Returns its path."""
        if not path:
            path = os.path.join(self.job.folder, state_name(self.job, (number,)))
            _unpack(parts, path)
        self.held[path] = (number,)
        return path

    def unreadable(self) -> Dict[int, Outcome]:
        """Returns the samples that could not be read, by the first shard of each state, for states of an earlier run."""
        found = {}
        for path, shards in self.held.items():
            facts = files.read(path, only=("numbers", "unreadable"))
            if "unreadable" in facts:
                found[shards[0]] = Outcome("an earlier run", "", of=int(facts["numbers"][1]), unreadable=names_in(facts))
        return found

    def shards(self) -> Set[int]:
        """Returns the numbers of all shards that are held or being merged."""
        return {number for kept in (self.held, self.merging) for numbers in kept.values() for number in numbers}

    def take(self, last: bool) -> List[str]:
        """Returns paths of states to merge next; none: wait for more. last: no more shards will come."""
        levels: Dict[int, List[str]] = {}
        for path, shards in self.held.items():
            levels.setdefault(_level(len(shards)), []).append(path)
        ready = next((paths[:FAN_IN] for paths in levels.values() if len(paths) >= FAN_IN), [])
        if not ready and last and not self.merging:
            ready = list(self.held)
        for path in ready:
            self.merging[path] = self.held.pop(path)
        return ready

    def name_of(self, paths: Any) -> str:
        """Returns the path of the state that a merge of these writes."""
        numbers = sorted(number for path in paths for number in self.merging[path])
        return os.path.join(self.job.folder, state_name(self.job, numbers))

    def merged(self, paths: Any, out: str) -> None:
        """Replaces states by the state that a merge wrote."""
        shards = tuple(sorted(number for path in paths for number in self.merging.pop(path)))
        self.held[out] = shards
        for path in paths:
            if path != out:
                os.unlink(path)

    def return_whole(self, paths: Any) -> List[int]:
        """Takes back states whose merge has failed. Removes damaged ones and returns the shards that they held."""
        lost: List[int] = []
        for path in paths:
            shards = self.merging.pop(path)
            if is_whole(path):
                self.held[path] = shards
                continue
            lost += shards
            if os.path.exists(path):
                os.unlink(path)
        return lost

    def merges_left(self, shards: int, merged: Any) -> int:
        """Returns how many merges end the run when `shards` more states and those of merges have come. merged: for each
        merge its paths."""
        levels: Dict[int, int] = {0: shards}
        sizes = [sum(len(self.merging[path]) for path in paths) for paths in merged]
        for size in [*sizes, *map(len, self.held.values())]:
            levels[_level(size)] = levels.get(_level(size), 0) + 1
        count = level = 0
        while level <= max(levels):
            more = levels.get(level, 0) // FAN_IN
            if more:
                levels[level] -= more * FAN_IN
                levels[level + 1] = levels.get(level + 1, 0) + more
            count += more
            level += 1
        return count + (sum(levels.values()) > 1)

    def close(self, keep: bool) -> None:
        """Removes the files of the job from the folder; with `keep` only the token."""
        for name in os.listdir(self.job.folder):
            path = os.path.join(self.job.folder, name)
            if path == token_of(self.job) or (not keep and name.startswith(f"{self.job.key}.")):
                os.unlink(path)
