# SPDX-License-Identifier: Apache-2.0
"""The base of all sources: an iterable of samples that leaves out unreadable ones, up to a limit, and divides into shards."""

from __future__ import annotations

import copy
import importlib
import itertools
import os
import sys
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from .._library import ArgumentError
from .._state import StateError, shard_numbers

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_LINES = 20  # most unreadable samples that a warning names
_MISTAKES = (TypeError, NameError, AttributeError, ImportError, AssertionError)  # of a program, in every sample

Entry = Tuple[str, Callable[[], Any]]


def needed(module: str, source: str) -> Any:
    """Imports a package that a source needs. Raises ImportError with the way to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"qdq.data.{source} needs {module.partition('.')[0]}: pip install 'qdq[data]' ({error})") from None


def _level_of_caller() -> Any:
    """Returns the stack level of the first function outside of the package, for a warning of the calling function."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


class _Unreadable:
    """Counts samples that could not be read. share: the most of all samples. total: of all samples, if it is known."""

    def __init__(self, share: Any, total: Any) -> None:
        self.share, self.total, self.count, self.seen = share, total, 0, 0
        self.told: List[str] = []

    def add(self, name: str, error: Any) -> None:
        self.count += 1
        if len(self.told) < _LINES:
            kind = "" if isinstance(error, (OSError, ValueError)) else f"{type(error).__name__}: "
            text = kind + (str(error).strip().split("\n")[0] or type(error).__name__)
            self.told.append(f"{name}: {text}")
        if self.total is not None and self.count > self.share * self.total:
            self._fail()

    def _fail(self) -> None:
        known = self.seen if self.total is None else self.total
        raise StateError(f"{self.count} of {known} samples could not be read, a larger share than max_unreadable, "
                         f"{self.share:g}, permits: {'; '.join(self.told[:3])}")  # fmt: skip

    def end(self) -> None:
        if self.count > self.share * self.seen:
            self._fail()
        if self.count:
            more = [f"and {self.count - len(self.told)} more"] if self.count > len(self.told) else []
            text = f"{self.count} of {self.seen} samples could not be read and were left out:"
            warnings.warn("\n  ".join([text, *self.told, *more]), stacklevel=_level_of_caller())


class Source:
    """An iterable of samples, each {input: array} or an array, which every iteration reads anew and one by one.

    A sample that cannot be read is left out. The end of an iteration names such samples in a warning, or raises
    StateError if their share is larger than max_unreadable. TypeError, NameError, AttributeError, ImportError and
    AssertionError of `prepare` are mistakes of the program and end the iteration.
    """

    _has_names = False  # True: entries have names that an iteration without reading finds again

    def __init__(self, max_unreadable: float) -> None:
        if not 0 <= max_unreadable <= 1:
            raise ArgumentError(f"max_unreadable is {max_unreadable}, wanted a share from 0 to 1, as 0.01 for 1 %")
        self.max_unreadable = max_unreadable
        self._first, self._step = 0, 1  # of the samples of a shard
        self._left_out: List[int] = []  # indices of samples that the last iteration left out

    def _entries(self) -> Iterator[Entry]:
        """Yields the name of each sample, and a function that reads it."""
        raise NotImplementedError

    def _total(self) -> Optional[int]:
        """Returns the number of samples; None if it is not known before they are read."""
        return None

    def total(self) -> int:
        """Returns the number of samples; 0 if it is not known before they are read."""
        return self._total() or 0

    def left_out(self, number: int, count: int) -> Tuple[str, ...]:
        """Returns names of the samples that the last iteration over this shard has left out."""
        return tuple(f"sample {number - 1 + at * count}" for at in self._left_out)

    def _divided(self, number: int, count: int) -> Optional["Source"]:
        """Returns the source of a shard that reads only its part of the files; None: it reads all, and skips samples."""
        return None

    def shard(self, number: int, count: int) -> "Source":
        """Returns the source of samples `number`, `number` + `count`, ..., counted from 1.

        Tar and Parquet files are divided in this way, in place of samples, if there are at least `count`. The shards 1
        to `count` hold every sample once.
        """
        number, count = shard_numbers((number, count)) or (0, 0)
        if not 1 <= number <= count:
            raise ArgumentError(f"shard({number}, {count}): wanted a number from 1 to the count of shards")
        made = self._divided(number, count) if self._step == 1 else None
        if made is None:
            made = copy.copy(self)
            made._first, made._step = self._first + self._step * (number - 1), self._step * count
        return made

    def _own_entries(self) -> Any:
        return itertools.islice(self._entries(), self._first, None, self._step)

    def names(self, numbers: Iterable[int]) -> Dict[int, str]:
        """Returns {number: name} of samples in files, by their numbers, from 0, in the last iteration. Lists the samples
        once more, without reading them."""
        if not self._has_names:
            return {}
        wanted, left_out, at = set(numbers), set(self._left_out), 0
        found: Dict[int, str] = {}
        for index, (name, _) in enumerate(self._own_entries()):
            if len(found) == len(wanted):
                break
            if index not in left_out:
                if at in wanted:
                    found[at] = name
                at += 1
        return found

    def __iter__(self) -> Iterator[Any]:
        total = self._total()
        unreadable = _Unreadable(self.max_unreadable, None if total is None else len(range(self._first, total, self._step)))
        self._left_out = []
        for name, read in self._own_entries():
            unreadable.seen += 1
            try:
                sample = read()
            except _MISTAKES:
                raise
            except Exception as error:  # pylint: disable=broad-except
                self._left_out.append(unreadable.seen - 1)
                unreadable.add(name, error)
            else:
                yield sample
        unreadable.end()
