# SPDX-License-Identifier: Apache-2.0
"""Shows where a quantized graph loses accuracy: runs `qdq explain --against`, and returns its report as an object."""

from __future__ import annotations

import html
import json
import math
import os
import tempfile
import warnings
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _html, _metric
from . import _tool as tool
from ._calibrate import model_file, options
from ._given import Data, Given
from ._graph import Graph
from ._library import ArgumentError
from ._metric import Labels, Metric, Right
from ._products import Products
from ._quantize import Quantized
from ._state import StateError
from ._types import PathLike

_SHOWN, _CELL = 20, 10  # most pairs in the text, and in a cell of a notebook


@dataclass(frozen=True)
class Pair:
    """A pair of Quantize and Dequantize, or a group of nodes that the target fuses. Ratios are in decibels, inf without
    an error, None if they are not measured (docs/float_to_int8.md)."""

    name: str  # of the float value or weights, in the words of the report
    node: str  # the Dequantize; of a group the node that the target runs in its place
    kind: str  # "activations", "weights" or "group"
    effect: Optional[float]  # of the output when only this pair rounds
    without: Optional[float]  # of the output when all pairs round but this one
    alike: Optional[float]  # share of samples that decide as in float with this effect
    own: Optional[float]  # of the node on exact inputs
    inherited: Optional[float]  # of the node on the quantized graph's inputs, against itself on exact ones
    total: Optional[float]  # of both
    cause: str = ""  # "resolution"; "" if it was not searched
    mend: str = ""
    mended: Optional[float] = None  # with the mend
    products: Tuple[str, ...] = ()  # with all of them in float, the graph has no such pair
    elements: int = 0
    clipped: int = 0  # elements beyond the range of the codes
    row: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # all keys of the tool's JSON

    @property
    def channels(self) -> Optional[Mapping[str, Any]]:
        """The ranges of channels, if a cause was searched: `axis`, `ratio` of the greatest range to `median`, and `worst`,
        pairs of channel and range."""
        return self.row.get("channels")

    @classmethod
    def of(cls, row: Mapping[str, Any], products: Tuple[str, ...]) -> Pair:
        ratios: Dict[str, Any] = {name: _number(row.get(name))
                  for name in ("effect", "without", "alike", "own", "inherited", "total", "mended")}  # fmt: skip
        texts: Dict[str, Any] = {name: row.get(name) or "" for name in ("cause", "mend")}
        counts: Dict[str, Any] = {name: row.get(name) or 0 for name in ("elements", "clipped")}
        name = row.get("name") or row["node"]
        return cls(name, row["node"], row["kind"], **ratios, **texts, **counts, products=products, row=row)

    def __str__(self) -> str:
        texts = [f"{name} {_ratio(ratio)}" for name in ("effect", "without") if (ratio := getattr(self, name)) is not None]
        texts += [] if self.alike is None else [f"{self.alike:.3g} alike"]
        if self.kind != "group":
            texts.append(f"own {_ratio(self.own)}")
        cause = f"; {self.cause}: {self.mend}" if self.cause else ""
        cause += f": {_ratio(self.mended)}" if self.cause and self.mended is not None else ""
        return f"{self.name}{', as deployed' if self.kind == 'group' else ''}: {', '.join(texts)}{cause}"


@dataclass(frozen=True)
class OutputAccuracy:
    """The loss of an output. Ratios are in decibels, inf without a loss, None if they are not measured."""

    name: str
    ratio: Optional[float]  # of all samples
    median: Optional[float]  # of the median sample
    alike: Optional[float]  # share of samples that decide as in float

    def __str__(self) -> str:
        more = ""
        if self.median is not None and self.alike is not None:
            more = f", median sample {_ratio(self.median)}, {100 * self.alike:.3g} % of samples decide alike"
        return f"output '{self.name}': {_ratio(self.ratio)}{more}"


def _number(found: Any) -> Any:
    """Returns a number of the tool's JSON, in which infinity is a text."""
    return None if found is None else float(found)


def _ratio(decibels: Any) -> str:
    return "not measured" if decibels is None else "exact" if decibels == math.inf else f"{decibels:.1f} dB"


def _noise(decibels: Any) -> Any:
    """Returns error power / output power."""
    return 0.0 if decibels is None else 10 ** (-decibels / 10)


@dataclass(frozen=True)
class Accuracy:
    """Where a quantized graph loses accuracy against a float model."""

    target: str
    pairs: Tuple[Pair, ...]  # sorted by effect, the worst first
    outputs: Tuple[OutputAccuracy, ...]
    summed: Optional[float]  # ratio of the worst output if the errors of single pairs add up
    samples: int
    right: Optional[Right] = None  # right answers, with labels or a metric
    report: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # the tool's JSON
    _graph: Optional[Graph] = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> Any:  # pickles the data, without the graph
        return {**self.__dict__, "_graph": None}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)

    @property
    def effect_samples(self) -> int:
        """Samples on which effects are measured, of `samples`."""
        return self.report.get("effect_samples") or self.samples

    @property
    def curve(self) -> Tuple[Tuple[int, float], ...]:
        """(pairs, ratio): the ratio of the worst output with this many of the worst pairs in float together."""
        return tuple((int(count), _number(ratio)) for count, ratio in self.report.get("curve") or ())

    def products(self) -> Mapping[str, float]:
        """{product: ratio of the output in decibels when only its pairs round}, the worst first. Errors of pairs add up."""
        noises: Dict[str, float] = {}
        for pair in self.pairs:
            for name in pair.products:
                noises[name] = noises.get(name, 0.0) + _noise(pair.effect)
        found = sorted(noises.items(), key=lambda item: -item[1])
        return {name: -10 * math.log10(noise) if noise else math.inf for name, noise in found}

    def keep(self, decibels: float) -> List[str]:
        """Returns the names of the fewest products that must stay in float to reach this ratio of the worst output, for
        `keep` of qdq.quantize_graph. Products are taken in the order of their effect, and the errors of single pairs are
        added: a prediction, which costs no run.

        Raises ArgumentError if effects are not measured, or if pairs without a product lose too much.
        """
        if not any(pair.effect is not None for pair in self.pairs):
            raise ArgumentError("effects are not measured in this report, so it names no products")
        kept = []
        for name in [None, *self.products()]:
            kept += [] if name is None else [name]
            left = sum(_noise(pair.effect) for pair in self.pairs if not pair.products or not set(pair.products) <= set(kept))
            if left <= _noise(decibels):
                return kept
        raise ArgumentError(f"products in float reach {-10 * math.log10(left):.1f} dB at most, wanted {decibels} dB: the "
                            "other pairs have no product")  # fmt: skip

    def html(self, path: Optional[PathLike] = None) -> str:
        """Returns the page of `qdq explain --html`: the graph, coloured by effect, and all about each pair.
        path: None, or the file that it is written to. Raises ArgumentError for an unpickled object, which has no graph."""
        data = {key: one for key, one in self.report.items() if key not in ("version", "bits")}
        nodes = {self.target: self.report["bits"]["nodes"]} if self.report.get("bits") else None
        return _html.write(path, "explain", _html.graph_of(self), "qdq.explain_accuracy(...)", data, nodes)

    def __str__(self) -> str:
        lines = [f"target {self.target}", *map(str, self.outputs)]
        lines += [] if self.right is None else [str(self.right)]
        some = f", on {self.effect_samples} samples" if self.effect_samples != self.samples else ""
        lines += [] if self.summed is None else [f"summed one by one {_ratio(self.summed)}{some}"]
        lines += [f"  {pair}" for pair in self.pairs[:_SHOWN]]
        lines += [f"  and {len(self.pairs) - _SHOWN} more"] if len(self.pairs) > _SHOWN else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        worst = max([_noise(pair.effect) for pair in self.pairs], default=0)

        def bar(pair: Any) -> str:
            """A bar of 12 em for the worst pair, which loses an em for each 2 dB."""
            if not _noise(pair.effect):
                return ""
            width = max(12 - 5 * math.log10(worst / _noise(pair.effect)), 0.2)
            return f"<div style='background:#c33;height:.7em;width:{width:.1f}em'></div>"

        def row(pair: Any) -> str:
            mend = f"{pair.mend}, {_ratio(pair.mended)}" if pair.mended is not None else pair.mend
            ratios = ["" if one is None else _ratio(one).replace(" ", "\u00a0") for one in (pair.effect, pair.without)]
            alike = "" if pair.alike is None else f"{pair.alike:.3g}"
            cells = (pair.name, pair.kind, *ratios, alike, pair.cause, mend)
            texts = [f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in cells]
            return f"<tr>{''.join(texts[:3])}<td>{bar(pair)}</td>{''.join(texts[3:])}</tr>"

        heads = ("pair", "kind", "effect", "", "without", "alike", "cause", "mend")
        head = "".join(f"<th style='text-align:left'>{h}</th>" for h in heads)
        lines = [*map(str, self.outputs), *([] if self.right is None else [str(self.right)])]
        more = f"<p>and {len(self.pairs) - _CELL} more</p>" if len(self.pairs) > _CELL else ""
        return (f"<div><p>{'<br>'.join(map(html.escape, lines))}</p><table><tr>{head}</tr>"
                f"{''.join(map(row, self.pairs[:_CELL]))}</table>{more}</div>")  # fmt: skip


# ---- The call ---------------------------------------------------------------


def _run(words: Sequence[str], given: Any, graph: Any, target: Optional[str]) -> Any:
    """Runs the tool and returns its JSON."""
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        out = [] if given.is_run else ["-o", os.path.join(folder, "explain.state")]
        words = ["explain", *words, *given.words(graph, target), *out, "--json"]
        found = json.loads(tool.run(*words, kinds={3: StateError} if out else None)[1])
    if found.get("unreadable"):
        warnings.warn(f"samples could not be read: {', '.join(found['unreadable'])}", stacklevel=3)
    return found


def _right(given: Given, model: Any, quantized: Any, target: Optional[str], judge: Any, threads: Optional[int]) -> Right:
    in_float, answers = given.count(model, _metric.core_or_own(model), judge, threads)
    return Right(in_float, given.count(quantized, target, judge, threads)[0], answers)


def _name_of(model: Any) -> Any:
    return model.name if isinstance(model, Graph) else os.fspath(model)


def _effect_first(pair: Any) -> Any:
    """Sorts by effect; pairs whose effect is not measured come last, by their own ratio."""
    unknown = pair.effect is None
    return unknown, (math.inf if pair.own is None else pair.own) if unknown else pair.effect


def _accuracy(found: Dict[str, Any], target: str, graph: Graph, samples: int, right: Optional[Right]) -> Accuracy:
    products = Products(graph, target)
    rows = [row for row in found["nodes"] if row["kind"] != "operation"]
    pairs = sorted((Pair.of(row, products.of(row["node"])) for row in rows), key=_effect_first)
    outputs = [OutputAccuracy(one["name"], *map(_number, (one.get("total"), one.get("median"), one.get("alike"))))
               for one in found["outputs"]]  # fmt: skip
    return Accuracy(target, tuple(pairs), tuple(outputs), _number(found.get("summed")), samples, right, found, graph)


def explain_accuracy(quantized: Union[Graph, Quantized, PathLike], model: Union[Graph, PathLike], data: Data, *,
                     target: Optional[str] = None, labels: Optional[Labels] = None, metric: Optional[Metric] = None,
                     threads: Optional[int] = None, shapes: Optional[Mapping[str, Iterable[int]]] = None,
                     dims: Optional[Mapping[str, int]] = None, until: Optional[str] = None) -> Accuracy:  # fmt: skip
    """Measures for each pair of Quantize and Dequantize how much accuracy it costs at the output, by the bits of a target.

    quantized: a Graph, a Quantized, or the path of a model. model: the float model. data: {input: array} is one run, whose
    first dim counts samples; else a path or samples as in qdq.calibrate, whose errors are summed. target: None is the
    target of the quantized graph. labels: the right classes, as integers, one for each row of the last dim of the output;
    {output: integers} for graphs with several outputs; or [OUTPUT=]FILE[#TENSOR]. metric: metric(outputs, sample) returns
    how many answers of a run are right, a bool or an integer; `sample` also has arrays of the data that are no inputs.
    Both count for the float model and for the quantized graph. shapes, dims and until load both models, as in qdq.load.
    Runs `qdq explain --against` (docs/float_to_int8.md).
    Returns an Accuracy. Raises ArgumentError for arrays and labels that do not fit, and TypeError for a metric that
    returns a float.
    """
    _metric.check(labels, metric)
    judge = None if labels is None and metric is None else _metric.judge_of(labels, metric)
    quantized = quantized.graph if isinstance(quantized, Quantized) else quantized
    if isinstance(quantized, Graph):
        target = target or quantized.target
    with Given(data, shapes=shapes, dims=dims, until=until) as given, model_file(quantized) as file, model_file(model) as against:
        graph = given.open(quantized)
        words = [file, "--against", against, *options(target, shapes, dims, until, threads)]
        found = _run(words, given, graph, target)
        found.update(graph=_name_of(quantized), against=_name_of(model))  # not those of temporary files
        ran: str = found["target"]
        right = judge and _right(given, given.open(model), graph, ran, judge, threads)
        samples = given.samples() if given.is_run else found["samples"]
    return _accuracy(found, ran, graph, samples, right)
