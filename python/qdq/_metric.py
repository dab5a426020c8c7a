# SPDX-License-Identifier: Apache-2.0
"""Counts right answers of graphs over samples: by labels, or by a function of the caller."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Tuple, Union

import numpy as np

from . import _dtypes as dtypes
from . import _files as files
from ._library import ArgumentError, UnsupportedError
from ._types import Array, PathLike

Metric = Callable[[Mapping[str, np.ndarray], Mapping[str, np.ndarray]], Union[bool, int]]
Labels = Union[str, "os.PathLike[str]", Any]


@dataclass(frozen=True)
class Right:
    """Right answers over the same samples. The counts of several shards add up exactly."""

    model: int  # of the float model
    quantized: int
    count: int  # answers with labels, samples with a metric

    def __str__(self) -> str:
        return f"right: {self.quantized} of {self.count}, in float {self.model}"


def check(labels: Any, metric: Any) -> None:
    """Raises ArgumentError unless at most one of both is given, and TypeError for a metric that cannot be called."""
    if labels is not None and metric is not None:
        raise ArgumentError("labels and metric are both given, wanted one of them")
    if metric is not None and not callable(metric):
        raise TypeError(f"metric is {metric!r}, wanted a function, metric(outputs, sample)")


def _read_array(path: str, name: str) -> Array:
    """Returns the array of a .npy file, the array `name` of a .npz file, or the integers of a text file, one in a line."""
    try:
        if not path.endswith((".npy", ".npz")):
            return np.loadtxt(path, dtype=np.int64, ndmin=1)
        found: Any = np.load(path, allow_pickle=False)
        array: Array = found if path.endswith(".npy") else found[name or "labels"]
        return array
    except (OSError, ValueError, KeyError) as error:
        raise ArgumentError(f"{path}: has no labels: {error}") from None


def read_labels(labels: Any) -> Any:
    """Returns (output or None, classes as int64). labels: integers, {output: integers}, or the word of --labels:
    [OUTPUT=]FILE[#TENSOR]."""
    output = None
    if isinstance(labels, (str, os.PathLike)):
        name, equals, rest = os.fspath(labels).partition("=")
        output, labels = (name, rest) if equals else (None, name)
        path, _, tensor = labels.partition("#")
        if path.endswith(".safetensors"):
            found = files.read(path)
            key = tensor or ("labels" if "labels" in found else next(iter(found), ""))
            if key not in found:
                raise ArgumentError(f"{path}: has no tensor '{key}'; it has {', '.join(found) or 'none'}")
            labels = found[key]
        else:
            labels = _read_array(path, tensor)
    elif isinstance(labels, Mapping):
        if len(labels) != 1:
            raise ArgumentError(f"labels has {len(labels)} outputs, wanted one, {{output: integers}}")
        ((output, labels),) = labels.items()
    labels = dtypes.imported(labels)
    if labels.dtype.kind not in "iu":
        raise ArgumentError(f"labels is an array of {labels.dtype}, wanted integers: the index of the right class")
    return output, labels.astype(np.int64)


def _whole(answer: Any) -> Any:
    """Returns the answer of a metric as an integer."""
    if isinstance(answer, (bool, np.bool_)):
        return int(answer)
    try:
        return operator.index(answer)
    except TypeError:
        raise TypeError(f"metric returned {answer!r}, wanted a bool or an integer: counts add up exactly in any order, "
                        "floats do not") from None  # fmt: skip


def judge_of(labels: Any, metric: Any) -> Any:
    """Returns judge(outputs, sample, index) -> (right, answers)."""
    if metric is not None:
        return lambda outputs, sample, index: (_whole(metric(outputs, sample)), 1)
    output, classes = read_labels(labels)

    def judge(outputs: Any, sample: Any, index: int) -> Any:
        if output is None and len(outputs) != 1:
            raise ArgumentError(f"the graph has outputs {', '.join(outputs)}: give labels as {{output: integers}}")
        if output is not None and output not in outputs:
            raise ArgumentError(f"labels has output '{output}', and the graph {', '.join(outputs)}")
        scores = next(iter(outputs.values())) if output is None else outputs[output]
        rows = np.asarray(scores).reshape(-1, np.shape(scores)[-1] if np.ndim(scores) else 1)
        wanted = classes.reshape(-1)[index * len(rows) : (index + 1) * len(rows)]
        if len(wanted) != len(rows):
            raise ArgumentError(f"labels has {classes.size} classes, too few: run {index} needs {len(rows)} behind the first "
                                f"{index * len(rows)}")  # fmt: skip
        return int((rows.argmax(axis=1) == wanted).sum()), len(rows)

    judge.classes = classes.size  # type: ignore[attr-defined]
    return judge


def core_or_own(graph: Any) -> Optional[str]:
    """Returns target core, or the graph's own target if core refuses it."""
    try:
        graph.compile("core")
        return "core"
    except UnsupportedError:
        return None


def count(graph: Any, target: Optional[str], samples: Any, judge: Any, threads: Optional[int],
          entries: Optional[int] = None) -> Tuple[int, int]:  # fmt: skip
    """Runs a graph on each sample, and returns (right answers, answers). samples: yields (inputs, sample), where the
    sample also has arrays that are no inputs. entries: samples in a single run with a metric."""
    right, total = 0, 0
    for index, (inputs, sample) in enumerate(samples):
        found, answers = judge(graph.run(inputs, target=target, threads=threads or 0), sample, index)
        right += found
        total += answers if entries is None else entries
    if getattr(judge, "classes", total) != total:
        raise ArgumentError(f"labels has {judge.classes} classes, too many: the samples have {total} answers")
    return right, total
