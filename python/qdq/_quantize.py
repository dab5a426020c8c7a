# SPDX-License-Identifier: Apache-2.0
"""Quantizes a float model for a target: runs `qdq quantize`, and returns its report as an object."""

import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from typing import Iterable, Mapping, Optional, Tuple, Union

from . import _tool as tool
from ._calibrate import Samples, folder_of, model_file, options
from ._graph import Graph, load
from ._library import ArgumentError
from ._state import Path, State, StateError


@dataclass(frozen=True)
class QuantizedNode:
    """The outcome of a product: quantized, or the reason for which it stays in float."""

    name: str
    op: str
    quantized: bool
    decibels: Optional[float]  # signal-to-noise ratio of its result
    reason: str = ""  # reason for which it stays in float


@dataclass(frozen=True)
class Quantized:
    """A quantized graph and its loss: ratios of squared signal to squared noise, in decibels; None: no noise."""

    graph: Graph
    nodes: Tuple[QuantizedNode, ...]
    outputs: Mapping[str, Optional[float]]

    def __str__(self):
        def ratio(decibels):
            return "exact" if decibels is None else f"{decibels:.1f} dB"

        lines = [f"{n.name}: {n.op}, {'' if n.quantized else f'float: {n.reason}, '}{ratio(n.decibels)}" for n in self.nodes]
        return "\n".join([*lines, *(f"output {name}, {ratio(one)}" for name, one in self.outputs.items())])


def quantize_graph(model: Union[Graph, Path], state: Union[State, Path], *, target: str, method: str = "minmax",
                   percentile: Optional[float] = None, symmetric: bool = False, weights: str = "minmax",
                   per_tensor: bool = False, group: Optional[int] = None, keep: Iterable[str] = (),
                   data: Optional[Union[Path, Samples]] = None, threads: Optional[int] = None,
                   shapes: Optional[Mapping[str, Iterable[int]]] = None, dims: Optional[Mapping[str, int]] = None,
                   until: Optional[str] = None) -> Quantized:  # fmt: skip
    """Quantizes the products of a float model for a target, with scales from the statistics of qdq.calibrate.

    model: a Graph, or the path of a model, with the shapes, dims and until of its calibration. state: its State, of all
    shards. method: "minmax", "percentile" (keeps `percentile` percent, 99.99), "entropy" or "mse"; weights: "minmax" or
    "mse". Weights have a scale for each output channel, a single scale with per_tensor, or a scale for each `group`
    weights of a column. symmetric: one scale for both signs, even if the target accepts zero points. keep: names of
    nodes that stay in float. data: samples to measure the noise on, as in qdq.calibrate; None uses random inputs.
    docs/float_to_int8.md has the formulas.
    Returns a Quantized, whose graph has no errors for the target; `graph.check()` lists its warnings. Raises StateError
    if the state belongs to another model, lacks shards or is damaged, UnsupportedError if the target refuses the
    result, ArgumentError for names and numbers that do not fit.
    """
    if percentile is not None and method != "percentile":
        raise ArgumentError(f"percentile is given with method {method!r}, wanted 'percentile'")
    words = ["--state", state.path if isinstance(state, State) else os.fspath(state)]
    words += ["--method", method, "--weights", weights]
    words += [] if percentile is None else ["--percentile", repr(percentile)]
    words += ["--symmetric"] * bool(symmetric) + ["--per-tensor"] * bool(per_tensor)
    words += [] if group is None else ["--group", str(group)]
    for name in [keep] if isinstance(keep, str) else keep:
        words += ["--keep", name]
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder, model_file(model) as file:
        made = os.path.join(folder, "quantized.json")
        words = ["quantize", file, *words, *options(target, shapes, dims, until, threads), "-o", made, "--json"]
        if data is None:
            _, out, err = tool.run(*words, kinds={3: StateError})
        else:
            with folder_of(data) as samples:
                _, out, err = tool.run(*words, "--data", samples, kinds={3: StateError})
        if "samples could not be read" in err:
            warnings.warn(err.replace("qdq: ", "").strip(), stacklevel=2)
        graph = load(made, target=target)
    found = json.loads(out)
    nodes = tuple(QuantizedNode(n["node"], n["op"], n["quantized"], n.get("decibels"), n.get("reason", ""))
                  for n in found["nodes"])  # fmt: skip
    return Quantized(graph, nodes, {one["name"]: one.get("decibels") for one in found["outputs"]})
