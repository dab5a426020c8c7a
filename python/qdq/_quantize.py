# SPDX-License-Identifier: Apache-2.0
"""Quantizes a float model for a target: runs `qdq quantize`, and returns its report as an object."""

from __future__ import annotations

import contextlib
import html
import json
import os
import tempfile
import warnings
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _metric
from . import _tool as tool
from ._calibrate import model_file, options
from ._given import Data, Given
from ._graph import Graph
from ._library import ArgumentError, UnsupportedError
from ._metric import Labels, Metric, Right
from ._samples import open_graph
from ._state import State, StateError
from ._types import PathLike

_LEAST = "-300"  # decibels that every quantized graph reaches


@dataclass(frozen=True)
class QuantizedNode:
    """The outcome of a product: quantized, or the reason for which it stays in float."""

    name: str
    op: str
    quantized: bool
    decibels: Optional[float]  # signal-to-noise ratio of its result
    reason: str = ""  # reason for which it stays in float


@dataclass(frozen=True)
class Site:
    """A node whose channels were multiplied by powers of two, and the products that read them. Ratios are the median
    sample's, in decibels."""

    node: str
    products: Tuple[str, ...]
    ratio: float  # the greatest range of a channel over the median one
    method: str  # "weights", or "activations" with alpha
    alpha: Optional[float]
    before: Optional[float]  # None: no noise
    after: Optional[float]

    def __str__(self) -> str:
        how = "weights only" if self.alpha is None else f"alpha {self.alpha:g}"
        gain = f"{_ratio(self.before)} -> {_ratio(self.after)}"
        return f"{self.node} -> {', '.join(self.products)}: {self.ratio:.0f} x, {how}, {gain}"


@dataclass(frozen=True)
class Correction:
    """A corrected bias, or weights rounded the other way. Ratios are the median sample's, in decibels."""

    node: str
    last: str  # the last product of a group of neighbours; `node` for a single one
    what: str  # "bias" or "weights"
    before: Optional[float]  # None: no noise
    after: Optional[float]
    changed: int = 0  # weights with another code
    weights: int = 0  # of the product

    def __str__(self) -> str:
        what = "bias corrected" if self.what == "bias" else f"{self.changed} of {self.weights} weights rounded the other way"
        to = "" if self.last == self.node else f" to {self.last}"
        return f"{self.node}{to}: {what}, {_ratio(self.before)} -> {_ratio(self.after)}"


def _ratio(decibels: Any) -> str:
    return "exact" if decibels is None else f"{decibels:.1f} dB"


@dataclass(frozen=True)
class Quantized:
    """A quantized graph and its loss: ratios of squared signal to squared noise, in decibels; None: no noise."""

    graph: Graph
    nodes: Tuple[QuantizedNode, ...]
    outputs: Mapping[str, Optional[float]]
    deployed: Optional[float] = None  # ratio of the worst output as the target runs the graph; with at_least, drop or labels
    kept: Tuple[str, ...] = ()  # products that at_least or drop left in float
    ranking: Tuple[Tuple[str, Optional[float]], ...] = ()  # products, and the ratio with this one alone on codes, the worst first
    right: Optional[Right] = None  # with labels or a metric
    sites: Tuple[Site, ...] = ()  # that were equalized
    corrections: Tuple[Correction, ...] = ()
    report: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # the tool's JSON

    def __str__(self) -> str:
        lines = [f"{n.name}: {n.op}, {'' if n.quantized else f'float: {n.reason}, '}{_ratio(n.decibels)}" for n in self.nodes]
        lines += [f"output {name}, {_ratio(one)}" for name, one in self.outputs.items()]
        lines += [f"equalized {site}" for site in self.sites]
        lines += [f"corrected {one}" for one in self.corrections]
        lines += [f"kept in float: {', '.join(self.kept)}"] if self.kept else []
        return "\n".join([*lines, *([] if self.right is None else [str(self.right)])])

    def _repr_html_(self) -> str:
        def row(*cells: object) -> str:
            return "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>"

        rows = [row(n.name, n.op, "codes" if n.quantized else f"float: {n.reason}", _ratio(n.decibels)) for n in self.nodes]
        rows += [row(name, "output", "", _ratio(ratio)) for name, ratio in self.outputs.items()]
        more = [*(f"equalized {site}" for site in self.sites), *(f"corrected {one}" for one in self.corrections)]
        more += [] if self.right is None else [str(self.right)]
        return f"<div><table>{''.join(rows)}</table><p>{'<br>'.join(map(html.escape, more))}</p></div>"


class _Run:
    """Runs the tool with these words, and reads its graph and JSON. open_model: reads a file that the tool has written."""

    def __init__(self, words: Sequence[str], folder: str, open_model: Any) -> None:
        self.words, self.folder, self.open_model, self.runs = words, folder, open_model, 0

    def __call__(self, *words: str, keep: Any = (), out: Any = None) -> Any:
        self.runs += 1
        made = os.path.join(self.folder, f"quantized_{self.runs}.json") if out is None else os.fspath(out)
        kept = [word for name in keep for word in ("--keep", name)]
        _, told, err = tool.run(*self.words, *kept, *words, "-o", made, "--json", kinds={3: StateError})
        if "samples could not be read" in err:
            warnings.warn(err.replace("qdq: ", "").strip(), stacklevel=4)
        return self.open_model(made), json.loads(told)


def _number(name: str, given: Any) -> Any:
    """Returns the word of an option that takes a number."""
    if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is {given!r}, wanted a number")
    return repr(float(given))


def _labels_word(labels: Any, folder: str) -> Any:
    """Returns the word of --labels, after writing labels that are no file."""
    if isinstance(labels, (str, os.PathLike)):
        return os.fspath(labels)
    output, classes = _metric.read_labels(labels)
    path = os.path.join(folder, "labels.npy")
    np.save(path, classes)
    return path if output is None else f"{output}={path}"


def _reach(run: Any, words: Sequence[str], drop: Any, judged: Any, out: Any) -> Any:
    """Keeps the fewest products in the order of the tool's ranking with which a metric falls by at most `drop` points.
    words: of an aim, which is reached first. judged: graph -> Right. out: the file to write. Returns (graph, JSON, kept,
    Right)."""
    graph, first = run(*(words or ("--at-least", _LEAST)))
    kept = first["kept_for"]
    rest = [one["node"] for one in first["ranking"] if one["node"] not in kept]
    tried = {0: (graph, first, judged(graph))}

    def fits(count: int) -> bool:
        if count not in tried:
            graph, found = run(keep=[*kept, *rest[:count]])
            tried[count] = graph, found, judged(graph)
        right = tried[count][2]
        return bool(100 * (right.model - right.quantized) <= drop * right.count)

    low, high = -1, len(rest) - 1  # low fails, high fits; a product stays on codes
    if fits(0):
        high = 0
    elif high < 1 or not fits(high):
        right = max((one[2] for one in tried.values()), key=lambda one: one.quantized)
        raise UnsupportedError(f"no products in float reach a drop of {drop} points: {right.quantized} of {right.count} are right "
                               f"at best, and {right.model} in float")  # fmt: skip
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    graph, found, right = tried[high]
    if out is not None:
        graph, found = run(keep=[*kept, *rest[:high]], out=out) if high else run(*words, out=out)
    return graph, {**found, "ranking": first["ranking"]}, [*kept, *rest[:high]], right


def _decibels(found: Any) -> Optional[float]:
    """Returns a ratio of the tool's JSON; None without noise."""
    return None if found in (None, "Infinity") else float(found)


def _gain(one: Mapping[str, Any]) -> Tuple[Optional[float], Optional[float]]:
    return _decibels(one["before"]), _decibels(one["after"])


def _quantized(graph: Graph, found: Dict[str, Any], kept: Iterable[str], right: Optional[Right]) -> Quantized:
    nodes = tuple(QuantizedNode(n["node"], n["op"], n["quantized"], n.get("decibels"), n.get("reason", ""))
                  for n in found["nodes"])  # fmt: skip
    ranking = tuple((one["node"], one.get("effect")) for one in found.get("ranking", ()))
    if right is None and "labels" in found:
        counts = found["labels"]
        right = Right(counts["float"], counts["quantized"], counts["rows"])
    sites = tuple(Site(one["from"], tuple(one["to"]), one["ratio"], one["method"], one["alpha"], *_gain(one))
                  for one in found.get("equalized", ()))  # fmt: skip
    corrections = tuple(Correction(one["node"], one["last"], one["what"], *_gain(one), one.get("changed", 0), one.get("weights", 0))
                        for one in found.get("corrected", ()))  # fmt: skip
    outputs = {one["name"]: one.get("decibels") for one in found["outputs"]}
    return Quantized(graph, nodes, outputs, found.get("deployed"), tuple(kept), ranking, right, sites, corrections, found)


def _check(state: Any, data: Any, equalize: Any, correct: Any, drop: Any, labels: Any, metric: Any) -> None:
    _metric.check(labels, metric)
    if (equalize or correct) and data is None:
        raise ArgumentError(f"{'equalize' if equalize else 'correct'} is given without data, the samples that judge it")
    if state is None and data is None:
        raise ArgumentError("state and data are both None, wanted the State of qdq.calibrate, or samples to calibrate with")
    if drop is not None and labels is None and metric is None:
        raise ArgumentError("drop is given without labels or metric, which count right answers")
    if metric is not None and data is None:
        raise ArgumentError("metric is given without data, the samples that it judges")


def quantize_graph(model: Union[Graph, PathLike], state: Union[State, PathLike, None] = None, *, target: str,
                   method: str = "minmax", percentile: Optional[float] = None, symmetric: bool = False,
                   weights: str = "minmax", per_tensor: bool = False, group: Optional[int] = None,
                   keep: Iterable[str] = (), equalize: bool = False, correct: bool = False,
                   at_least: Optional[float] = None, drop: Optional[float] = None, labels: Optional[Labels] = None,
                   metric: Optional[Metric] = None, data: Optional[Data] = None, out: Optional[PathLike] = None,
                   threads: Optional[int] = None, shapes: Optional[Mapping[str, Iterable[int]]] = None,
                   dims: Optional[Mapping[str, int]] = None, until: Optional[str] = None) -> Quantized:  # fmt: skip
    """Quantizes the products of a float model for a target, with scales from the statistics of qdq.calibrate.

    model: a Graph, or the path of a model, with the shapes, dims and until of its calibration. state: its State, of all
    shards. method: "minmax", "percentile" (keeps `percentile` percent, 99.99), "entropy" or "mse"; weights: "minmax" or
    "mse". Weights have a scale for each output channel, a single scale with per_tensor, or a scale for each `group`
    weights of a column. symmetric: one scale for both signs, even if the target accepts zero points. keep: names of
    nodes that stay in float. equalize: brings the ranges of channels together by powers of two, where the median sample
    gains; the float network keeps every bit. correct: corrects biases and the rounding of weights where the outputs gain on
    samples that did not fit it. at_least: keeps the fewest products in float with which the worst output reaches this ratio,
    in decibels. drop: keeps the fewest with which the share of right answers falls by at most this many percent points.
    labels and metric count right answers as in qdq.explain_accuracy. data: samples to measure on, as in qdq.calibrate, or
    {input: array}, a single run; None uses random inputs. out: writes the quantized graph to this path, and reads it from
    there: an ONNX model if it ends in ".onnx", whose open dims stay open, a TensorFlow Lite model if in ".tflite", else a
    qdq/1 file. docs/float_to_int8.md has the formulas.
    Returns a Quantized, whose graph has no errors for the target; `graph.check()` lists its warnings. Raises StateError
    if the state belongs to another model, lacks shards or is damaged, UnsupportedError if the target refuses the
    result or no products in float reach at_least or drop, ArgumentError for names and numbers that do not fit, and
    TypeError for a metric that returns a float.
    """
    if percentile is not None and method != "percentile":
        raise ArgumentError(f"percentile is given with method {method!r}, wanted 'percentile'")
    _check(state, data, equalize, correct, drop, labels, metric)
    words = [] if state is None else ["--state", state.path if isinstance(state, State) else os.fspath(state)]
    words += ["--method", method, "--weights", weights]
    words += [] if percentile is None else ["--percentile", repr(percentile)]
    words += ["--symmetric"] * bool(symmetric) + ["--per-tensor"] * bool(per_tensor)
    words += ["--equalize"] * bool(equalize) + ["--correct"] * bool(correct)
    words += [] if group is None else ["--group", str(group)]
    words += [word for name in ([keep] if isinstance(keep, str) else keep) for word in ("--keep", name)]
    aim = [] if at_least is None else ["--at-least", _number("at_least", at_least)]
    most = None if drop is None else _number("drop", drop)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="qdq-"))
        file = stack.enter_context(model_file(model))
        given = None if data is None else stack.enter_context(Given(data, shapes=shapes, dims=dims, until=until))
        opened = given.open(model) if given and (given.is_run or metric is not None) else None
        words += given.words(opened, opened and _metric.core_or_own(opened)) if given else []
        words += [] if labels is None else ["--labels", _labels_word(labels, folder)]
        how = {"shapes": shapes, "dims": dims, "given": {}, "counted": False}

        def written(path: PathLike) -> Any:
            return given.open(path, until=None, target=target) if given else open_graph(path, until=None, target=target, **how)

        run = _Run(["quantize", file, *words, *options(target, shapes, dims, until, threads)], folder, written)
        if metric is None:
            graph, found = run(*aim, *([] if most is None else ["--drop", most]), out=out)
            return _quantized(graph, found, found.get("kept_for", ()), None)
        judge = _metric.judge_of(None, metric)
        assert given is not None  # a metric has data
        in_float = given.count(opened, _metric.core_or_own(opened), judge, threads)

        def judged(graph: Any, given: Given = given) -> Right:
            return Right(in_float[0], given.count(graph, target, judge, threads)[0], in_float[1])

        if most is not None:
            return _quantized(*_reach(run, aim, float(most), judged, out))
        graph, found = run(*aim, out=out)
        return _quantized(graph, found, found.get("kept_for", ()), judged(graph))
