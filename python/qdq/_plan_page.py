# SPDX-License-Identifier: Apache-2.0
"""The text, the JSON and the page of a plan, which `qdq plan` prints for a temporary file of its graph."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from . import _html
from . import _tool as tool
from ._library import ArgumentError
from ._types import PathLike

if TYPE_CHECKING:
    from ._graph import Graph

_FLAGS = {("layout", "rows"): ["--rows"], ("layout", "tiles"): ["--tiles"], ("fast", True): ["--fast"]}


def _words(options: Mapping[str, Any]) -> List[str]:
    """Converts options of Graph.compile to those of the command."""
    words = [word for (name, value), some in _FLAGS.items() if options[name] == value for word in some]
    for name in ("device", "float_storage"):
        if options[name] is not None:
            words += [f"--{name.replace('_', '-')}", str(options[name])]
    values = options["values"]
    names = [values] if isinstance(values, str) else list(values or ())
    if any("," in name for name in names):
        raise ArgumentError("a name in `values` has a comma, which `qdq plan` cannot take; compile without it for the page")
    return words + (["--keep", ",".join(names)] if names else [])


def _plan(graph: Graph, options: Mapping[str, Any], *more: str) -> str:
    """Runs `qdq plan` on a graph that was compiled with these options of Graph.compile, and returns what it prints."""
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        file = os.path.join(folder, "graph.json")
        graph.write(file)
        words = ["--target", options["target"] or graph.target, *_words(options), *more]
        return tool.run("plan", file, *words, isa=options["isa"] or "")[1].replace(file, graph.name or "graph")


def text(graph: Graph, options: Mapping[str, Any]) -> str:
    return _plan(graph, options, "--map")


def data(graph: Graph, options: Mapping[str, Any]) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads(_plan(graph, options, "--json"))
    return found


def write(path: Optional[PathLike], graph: Graph, options: Mapping[str, Any]) -> str:
    """Returns the page of a graph that was compiled with these options of Graph.compile."""
    target = options["target"] or graph.target
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value not in (None, False))
    plan = data(graph, options)
    nodes = {target: plan.pop("bits")["nodes"]}
    for name in ("version", "graph"):
        del plan[name]
    return _html.write(path, "plan", graph.deployed(target), f"graph.compile({given})", plan, nodes)
