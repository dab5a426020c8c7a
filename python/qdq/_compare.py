# SPDX-License-Identifier: Apache-2.0
"""Compares the values of a graph as several targets compute them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _html
from .testing import closeness, differing, index_text
from ._report import NodeBits
from ._types import Array, PathLike

_MOST_STEPS = 1000  # a float that is further away is not near in the last place


@dataclass(frozen=True)
class Difference:
    """A value that two targets compute differently when each runs the whole graph."""

    value: str
    targets: Tuple[str, str]  # the two targets
    differing: int  # elements with other bits
    count: int  # of elements
    steps: int  # the largest distance, in representable numbers of the dtype
    first: Tuple[int, ...]  # index of the first differing element
    found: Tuple[Any, Any]  # both elements at this index
    relative_error: Optional[float] = None  # of floats: |a - b| / |a|, of elements that are finite in both
    cosine: Optional[float] = None  # of floats; None if all elements of a side are 0

    @property
    def distance(self) -> str:
        """ "at most 3 steps, relative error 1.2e-07, cosine 1": steps of codes and of near floats, the rest of floats."""
        real, parts = self.relative_error is not None, []
        if not real or self.steps < _MOST_STEPS:
            parts.append(f"at most {self.steps} step{'' if self.steps == 1 else 's'}")
        if real and self.relative_error:
            parts.append(f"relative error {self.relative_error:.3g}")
            parts += [f"cosine {self.cosine:.6g}"] if self.cosine is not None else []
        return ", ".join(parts) or "infinite or NaN on one side"

    def __str__(self) -> str:
        a, b = self.targets
        return (f"{self.value}, {a} and {b}: {self.differing} of {self.count} differ, {self.distance}; "
                f"{index_text(self.first)}: {a} {self.found[0]}, {b} {self.found[1]}")  # fmt: skip


class Comparison(Tuple[Difference, ...]):
    """The values that differ, in the order of the graph. True if any value differs.

    `nodes` is {target: [NodeBits, ...]}: how well the bits of each node are known that a target runs.
    """

    targets: Tuple[str, ...] = ()
    compared: Tuple[str, ...] = ()
    results: Tuple[Mapping[str, Array], ...] = ()
    nodes: Dict[str, List[NodeBits]] = {}
    _graph: Any = None

    def __copy__(self) -> Comparison:
        return self

    def __getstate__(self) -> Dict[str, Any]:  # pickles the data, without the graph
        return {name: value for name, value in self.__dict__.items() if name != "_graph"}

    @classmethod
    def of(cls, targets: Sequence[str], results: Sequence[Mapping[str, Array]], graph: Any = None) -> Comparison:
        """Compares the first target with each other target. results: for each target {value: array} of all values."""
        rows = []
        for name, a in results[0].items():
            for target, other in zip(targets[1:], results[1:]):
                b = other.get(name)
                if b is None or a.dtype != b.dtype or a.shape != b.shape:
                    continue
                where, steps = differing(a, b)
                if not where.any():
                    continue
                first = tuple(int(i) for i in np.argwhere(where)[0])[: a.ndim]
                rows.append(Difference(name, (targets[0], target), int(where.sum()), int(where.size), int(steps.max()), first,
                                       (a[first].item(), b[first].item()), *closeness(a, b)))  # fmt: skip
        made = cls(rows)
        made.targets, made.results, made._graph = tuple(targets), tuple(results), graph
        made.nodes = {} if graph is None else {target: list(graph.check(target).nodes) for target in targets}
        made.compared = tuple(name for name in results[0] if any(name in other for other in results[1:]))
        return made

    def worst(self, count: int = 10) -> List[Difference]:
        """Returns the `count` values with the largest fraction of elements that differ."""
        return sorted(self, key=lambda row: -row.differing / row.count)[:count]

    def html(self, path: Optional[PathLike] = None) -> str:
        """Returns the page of `qdq compare --html`: the graph, and for each value both histograms and the first element
        that differs (docs/differing_bits.md). A node counts as differing by itself if all of its inputs are equal."""
        call = f"graph.compare({list(self.targets)})"
        nodes = {target: _html.listed(some) for target, some in self.nodes.items()}
        return _html.write(path, "compare", _html.graph_of(self), call, _html.compare(self._graph, self), nodes)

    def __str__(self) -> str:
        total = f"{len({row.value for row in self})} of {len(self.compared)} values differ"
        return "\n".join([*map(str, self), total])

    def __repr__(self) -> str:
        return f"<qdq.Comparison of {', '.join(self.targets)}: {len(self)} differences>"

    def _repr_html_(self) -> str:
        def row(one: Difference) -> str:
            cells: Tuple[object, ...] = (one.value, " and ".join(one.targets), f"{one.differing} of {one.count}", one.distance, index_text(one.first),
                     *one.found)  # fmt: skip
            return "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>"

        heads = ("value", "targets", "differ", "distance", "first at", "first", "other")
        head = "".join(f"<th>{h}</th>" for h in heads)
        return f"<table><tr>{head}</tr>{''.join(map(row, self))}</table>"
