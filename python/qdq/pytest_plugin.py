# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: the fixture `qdq_golden` and the option --qdq-target."""

from __future__ import annotations

import os

import pytest
from typing import Any, Dict, Optional

from ._graph import Graph, load
from .testing import assert_same_bits


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("qdq")
    group.addoption("--qdq-target", metavar="TARGET", help="the target of qdq_golden, such as onnx or ort@1.31-avx2")


class Golden:
    """Computes results of graphs for a target, and compares arrays with them."""

    def __init__(self, target: Optional[str]) -> None:
        self.target = target  # None: each graph's target
        self._graphs: Dict[Any, Any] = {}

    def _graph(self, graph: Any) -> Any:
        if isinstance(graph, Graph):
            return graph
        path = os.fspath(graph)
        if path not in self._graphs:
            self._graphs[path] = load(path)
        return self._graphs[path]

    def __call__(self, graph: Any, inputs: Any = None, **named: Any) -> Any:
        """Returns the outputs of a graph, or of the graph in a file: {name: array}. Inputs are as in Plan.run."""
        return self._graph(graph).run(inputs, target=self.target, **named)

    def check(self, got: Any, graph: Any, inputs: Any = None, **named: Any) -> None:
        """Raises AssertionError unless `got`, an array or {name: array}, has the bits of the outputs. An array is
        compared with the only output; a dict may lack outputs."""
        wanted = self(graph, inputs, **named)
        if not isinstance(got, dict):
            if len(wanted) != 1:
                raise AssertionError(f"the graph has outputs {', '.join(wanted)}: give a dict of them")
            got = {next(iter(wanted)): got}
        assert_same_bits(got, {name: wanted[name] for name in got if name in wanted})


@pytest.fixture(scope="session")
def qdq_golden(request: Any) -> Any:
    """Runs graphs for the target of --qdq-target: `qdq_golden("net.json", x=x)` returns the outputs, and
    `qdq_golden.check(got, "net.json", x=x)` compares bits."""
    return Golden(request.config.getoption("--qdq-target"))
