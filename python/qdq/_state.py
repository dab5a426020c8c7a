# SPDX-License-Identifier: Apache-2.0
"""Reads and merges states of data sets, which `qdq calibrate`, `compare`, `explain` and `merge` write
(docs/many_machines.md)."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import operator
import os
import re
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy as np

from . import _files as files
from . import _tool as tool
from ._library import ArgumentError, ParseError
from ._types import PathLike

_LEAST_POWER, _POWERS, _BINS_A_POWER = -32, 64, 32
_SUM_BITS, _SQUARE_BITS = 1074, 2148  # sums are integers times 2^-bits


class StateError(ParseError):
    """A state, a checkpoint or a data set cannot be used: it is damaged or belongs to another run, or a shard is
    missing or given twice.

    The command line exits with 3 for it, and for a model that cannot be read.
    """


def histogram_edges() -> np.ndarray:
    """Returns the edges of the bins of every histogram, float64 [4100], from -inf to inf: each octave from 2^-32 to
    2^32 has 32 bins for each sign. A bin includes its edge nearer to zero, and excludes the other."""
    powers = np.ldexp(1.0, np.arange(_LEAST_POWER, _LEAST_POWER + _POWERS))
    side = (powers[:, None] * (1 + np.arange(_BINS_A_POWER) / _BINS_A_POWER)).ravel()
    side = np.concatenate([side, [2.0 ** (_LEAST_POWER + _POWERS), np.inf]])
    return np.concatenate([-side[::-1], side])


@dataclass(frozen=True)
class Statistics:
    """The statistics of a value's elements over all samples. NaN and infinities are counted separately and are in no
    other field."""

    dtype: str  # "float32"
    min: float  # least finite element, inf if there is none
    max: float  # greatest finite element, -inf if there is none
    mean: float  # exact sum / count, rounded once; NaN without finite elements
    std: float  # of all finite elements, from the exact sum of squares
    count: int  # finite elements
    zeros: int
    nans: int
    infinities: Tuple[int, int]  # +inf, -inf
    histogram: np.ndarray  # int64 [4099], the counts between histogram_edges()


def _integer(digits: Any) -> Any:
    """Returns the integer with these digits to the base 2^32, least first; the last has the sign."""
    low = int.from_bytes(digits[:-1].astype("<u4").tobytes(), "little")
    return low + (int(digits[-1]) << 32 * (len(digits) - 1))


def _moments(total: Any, squares: Any, count: int) -> Any:
    """Returns mean and standard deviation for an exact sum and an exact sum of squares. Divisions of integers round
    once."""
    if not count:
        return math.nan, math.nan
    variance = squares * count - total * total
    return total / (count << _SUM_BITS), math.sqrt(variance / (count * count << _SQUARE_BITS))


def texts_of(tensors: Any, name: str) -> Any:
    """Returns the texts of a tensor, of which each ends with a zero byte; none if the tensor is left out."""
    return tensors[name].tobytes().decode("utf-8", "replace").split("\0")[:-1] if name in tensors else []


class State:
    """The state of a command on a shard of a data set, on several shards, or on the whole; in a file, which it never
    changes.

    `qdq.calibrate` and `qdq.merge` return a State, and `State(path)` reads one. The file is read on first use of its
    content; a damaged file raises StateError, a missing one FileError.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)

    @functools.cached_property
    def _tensors(self) -> Any:
        try:
            tensors = files.read(self.path)
            told = tensors["sha256"].tobytes()
            digest = hashlib.sha256()
            for name, array in tensors.items():
                if name != "sha256":
                    digest.update(name.encode() + b"\0" + array.tobytes())
        except (ParseError, KeyError):
            raise StateError(f"{self.path}: is no state of qdq, or not a whole one; calibrate the shard again") from None
        if digest.digest() != told:
            raise StateError(f"{self.path}: is damaged: its checksum is another one; calibrate the shard again")
        return tensors

    @property
    def samples(self) -> int:
        """Samples in the statistics."""
        return int(self._tensors["numbers"][2])

    @property
    def shard(self) -> Tuple[Tuple[int, ...], int]:
        """The numbers of its shards, from 1, and the count of all shards: ((2,), 8) is shard 2/8, ((1,), 1) the whole."""
        return tuple(int(number) for number in self._tensors["shards"]), int(self._tensors["numbers"][4])

    def _text(self, name: str) -> str:
        text: str = self._tensors[name].tobytes().decode("utf-8", "replace").partition("\0")[0]
        return text

    @property
    def target(self) -> str:
        """The target with version and options; the first target of a comparison."""
        return self._text("targets")

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the graph at the target."""
        return self._text("fingerprints")

    @property
    def unreadable(self) -> Tuple[str, ...]:
        """Names of samples that could not be read and are not in the statistics."""
        return tuple(texts_of(self._tensors, "unreadable"))

    @property
    def kind(self) -> str:
        """The command that wrote it: "calibrate", "compare" or "explain"."""
        return self._text("kind")

    def report(self) -> Dict[str, Any]:
        """The output of `qdq merge STATE --json`: a dict with the rows of any kind of state, and the missing samples
        and shards."""
        found: Dict[str, Any] = json.loads(tool.run("merge", self.path, "--partial", "--json", kinds={3: StateError})[1])
        return found

    @functools.cached_property
    def values(self) -> Dict[str, Statistics]:
        """{name: Statistics} of all float values except constants, by name. Raises ArgumentError for a state of another
        kind, which has only a report."""
        if self.kind != "calibrate":
            raise ArgumentError(f"{self.path}: is a state of qdq {self.kind}, which has no statistics; take its report()")
        t, made = self._tensors, {}
        for i, (name, dtype) in enumerate(zip(texts_of(t, "values"), texts_of(t, "dtypes"))):
            (least, greatest), (count, zeros, nans, plus, minus) = map(float, t["ranges"][i]), map(int, t["counts"][i])
            mean, std = _moments(_integer(t["sums"][i]), _integer(t["squares"][i]), count)
            made[name] = Statistics(dtype, least, greatest, mean, std, count, zeros, nans, (plus, minus), t["histograms"][i])
        return made

    def merge(self, others: Iterable[Union["State", PathLike]], out: PathLike, *, partial: bool = False) -> "State":
        """Merges this state and others, see qdq.merge."""
        return merge([self, *others], out, partial=partial)

    def __eq__(self, other: object) -> bool:
        """True if both files have the same bytes."""
        if not isinstance(other, State):
            return NotImplemented
        with open(self.path, "rb") as a, open(other.path, "rb") as b:
            return a.read() == b.read()

    __hash__ = None  # type: ignore[assignment]  # the file may change

    def __repr__(self) -> str:
        return f"<qdq.State {self.path!r}>"


def not_finite(path: PathLike) -> str:
    """Returns the tool's sentence about values with NaN or infinities in a state of calibrate; "" if it has none."""
    found = files.read(path, only=("counts", "values", "kind"))
    if not found["kind"].tobytes().startswith(b"calibrate"):
        return ""
    nans, infinite = found["counts"][:, 2], found["counts"][:, 3:].sum(axis=1)
    if not (nans + infinite).any():
        return ""
    row = int((nans + infinite).argmax())
    return (f"{os.fspath(path)}: {np.count_nonzero(nans + infinite)} of {len(nans)} values have elements that are not finite, "
            f"which count for no range: '{texts_of(found, 'values')[row]}' has {nans[row]} NaN and {infinite[row]} infinite ones; "
            "look at the samples")  # fmt: skip


_SAMPLE = re.compile(r"^( *)sample (\d+)(?=:|$)", re.M)  # of a stream, in the tool's messages


def _with_names(told: str, names: Callable[[Set[int]], Mapping[int, str]]) -> str:
    """Adds the names of samples to the tool's messages. names: returns {number: name} for numbers."""
    found = names({int(one[2]) for one in _SAMPLE.finditer(told)})
    return _SAMPLE.sub(lambda one: f"{one[0]} ({found[int(one[2])]})" if int(one[2]) in found else one[0], told)


def call(words: Sequence[PathLike], out: PathLike, feed: Any = None,
         names: Optional[Callable[[Set[int]], Mapping[int, str]]] = None) -> State:
    """Runs `qdq calibrate` or `qdq merge` and returns the State of the file `out`. Passes on what the tool says on stderr,
    as a warning: samples that could not be read, values with NaN. feed: yields the standard input. names: as in _with_names."""
    _, _, err = tool.run(*words, "-o", out, kinds={3: StateError}, feed=feed)
    told = [line.removeprefix("qdq: ").removeprefix("warning: ") for line in err.strip().splitlines()]
    if told:
        text = "\n".join(told)
        warnings.warn(_with_names(text, names) if names and _SAMPLE.search(text) else text, stacklevel=3)
    return State(out)


def merge(states: Iterable[Union[State, PathLike]], out: PathLike, *, partial: bool = False) -> State:
    """Merges the states of shards, in any order, and writes the state of all of them to `out`, with the same bytes as a
    single run.

    states: states or paths, of which only two are in memory at a time. partial: shards may be missing, and merged
    later.
    Raises StateError if a shard is missing or given twice, or if a state has another graph, target, data or number of
    shards; the sentence names it.
    """
    if isinstance(states, (str, bytes, os.PathLike, State)):
        raise TypeError(f"states is {states!r}, wanted a list of states or paths, as in merge([{states!r}], out)")
    paths = [one.path if isinstance(one, State) else os.fspath(one) for one in states]
    return call(["merge", *paths, *(["--partial"] if partial else [])], out)


def shard_numbers(shard: Union[Tuple[int, int], str, None]) -> Optional[Tuple[int, int]]:
    """Returns a shard as (number, count); None for text that the command refuses."""
    if isinstance(shard, str):
        parts = shard.split("/")
        if len(parts) != 2 or not all(part.isdecimal() for part in parts):
            return None
        number, count = map(int, parts)
        return (number, count) if 1 <= number <= count else None
    if shard is None:
        return None
    try:
        number, count = (operator.index(part) for part in shard)
    except (TypeError, ValueError):
        raise TypeError(f"shard is {shard!r}, wanted (number, count) or 'number/count', as in (1, 4) or '1/4'") from None
    return number, count


def shard_word(shard: Union[Tuple[int, int], str, None]) -> List[str]:
    """Returns the words of --shard. The command checks the numbers."""
    if shard is None or isinstance(shard, str):
        return [] if shard is None else ["--shard", shard]
    number, count = shard_numbers(shard) or (0, 0)
    return ["--shard", f"{number}/{count}"]
