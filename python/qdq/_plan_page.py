# SPDX-License-Identifier: Apache-2.0
"""Writes the page of a plan: runs `qdq plan` on a temporary file, whose JSON is the data of the page."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from . import _html
from . import _tool as tool
from ._library import ArgumentError
from ._types import PathLike

_FLAGS = {("layout", "rows"): ["--rows"], ("layout", "tiles"): ["--tiles"], ("fast", True): ["--fast"]}


def _words(options: Any) -> Any:
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


def write(path: PathLike, graph: Any, options: Any) -> None:
    """Writes the page of a graph that was compiled with these options of Graph.compile."""
    target = options["target"] or graph.target
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value not in (None, False))
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        file = os.path.join(folder, "graph.json")
        graph.write(file)
        _, out, _ = tool.run("plan", file, "--target", target, *_words(options), "--json", isa=options["isa"] or "")
    data = json.loads(out)
    nodes = {target: data.pop("bits")["nodes"]}
    for name in ("version", "graph"):
        del data[name]
    _html.write(path, "plan", graph.deployed(target), f"graph.compile({given})", data, nodes)
