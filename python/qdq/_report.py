# SPDX-License-Identifier: Apache-2.0
"""Holds the findings of a check, and the changes of a graph."""

from __future__ import annotations

import html
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from . import _html
from ._library import BITS
from ._types import PathLike

if TYPE_CHECKING:
    from ._graph import Graph


@dataclass(frozen=True)
class Finding:
    """A mistake or surprise in a graph. A text that does not apply is "". docs/rules.md lists the rules."""

    rule: str  # "core/axis-range"
    severity: str  # "error" or "warning"
    target: str  # the target that has the rule
    node: str  # the node or value
    op: str
    port: str  # the port or attribute in question
    found: str
    wanted: str
    hint: str
    message: str  # the whole sentence
    source: str  # source of the rule in documents or code of the target

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}"


@dataclass(frozen=True)
class NodeBits:
    """How well the bits of a node are known that the target runs, given the bits of its inputs."""

    node: str
    op: str  # "QLinearConv"; the model's op ("LSTM") for one of several nodes that stand for it
    original: str  # name of the node in the file
    bits: str  # "exact", "read" (from the source), "close" (floats may differ in last bits), or "unknown"
    from_same_inputs: bool  # an input depends on a node that is close or unknown
    rule: str  # of the finding that lowers `bits`; "": the evidence decides
    against: str  # the backend, model or source that the numbers were compared with; "" if unknown
    compared: str  # the data compared; "" if none were
    condition: str = ""  # that a node must meet for this evidence: "float32"; "": none
    kind: str = ""  # of the evidence: "run", "read from source", "vendor's model" or "definition"; "" if unknown
    date: str = ""  # of the comparison: "2026-11-24"; "" if nothing was compared

    @classmethod
    def of(cls, one: Any) -> NodeBits:
        """Converts a qdq_node_bits of the library."""
        row = one.evidence.contents if one.evidence else None
        shown = [getattr(row, name).decode() if row else "" for name in ("against", "compared", "condition", "kind", "date")]
        texts = (one.node.decode(), one.op.decode(), one.original.decode(), BITS[one.bits])
        return cls(*texts, bool(one.from_same_inputs), one.rule.decode(), *shown)


@dataclass(frozen=True)
class Change:
    """A change of a graph to deploy or mend it, or the reason for which it was not applied. A field that does not apply
    is None."""

    name: str  # op of the group that formed, or did not: "QLinearConv"; of a mended graph "signed codes"
    nodes: Tuple[str, ...]  # the replaced nodes; the first is the node in question
    result: str  # the value that replaces theirs
    reason: str  # reason for which it did not form
    cause: str  # cause for which numbers differ; None: they do not
    rule: str  # of a mended graph: the rule that refused the node

    @classmethod
    def of(cls, info: Any) -> Change:
        """Converts a qdq_rewrite_info of the library."""
        texts = [t and t.decode() for t in (info.result, info.reason, info.cause, info.rule)]
        return cls(info.group.decode(), tuple(n.decode() for n in info.nodes[: info.node_count]), *texts)


class Report(Tuple[Finding, ...]):
    """The findings of a check, in the order found. True if it has errors or warnings.

    `errors` and `warnings` count all findings, including those beyond the first 100 of each, which a report leaves out.
    `nodes` lists a NodeBits for each node that the target runs; () if there are errors, or for several targets.
    """

    errors = warnings = 0
    nodes: Tuple[NodeBits, ...] = ()
    _graph: Optional[Graph] = None
    _asked: Sequence[Tuple[str, Report]] = ()

    def __copy__(self) -> Report:
        return self

    def __getstate__(self) -> Dict[str, Any]:  # pickles the data, without the graph
        return {name: value for name, value in self.__dict__.items() if name != "_graph"}

    @classmethod
    def of(cls, found: Any) -> Report:
        """Converts a qdq_report of the library."""
        texts = [field.name for field in fields(Finding) if field.name != "severity"]
        made = cls(
            Finding(severity="warning" if one.severity else "error", **{t: getattr(one, t).decode() for t in texts})
            for one in found.findings[: found.count]
        )
        made.errors, made.warnings = found.errors, found.warnings
        made.nodes = tuple(map(NodeBits.of, found.nodes[: found.node_count]))
        return made

    @classmethod
    def join(cls, reports: Sequence[Report]) -> Report:
        """Joins several reports; a finding in several of them counts once."""
        reports = list(reports)
        made = cls(dict.fromkeys(one for report in reports for one in report))
        made.errors = sum(one.severity == "error" for one in made)
        made.warnings = len(made) - made.errors
        return made

    @property
    def ok(self) -> bool:
        """True if the report has no errors."""
        return self.errors == 0

    def bits(self) -> Dict[str, int]:
        """{"exact": nodes, "read": nodes, "close": nodes, "unknown": nodes}: how many nodes have such bits."""
        return {word: sum(one.bits == word for one in self.nodes) for word in reversed(BITS[1:])}

    def by_rule(self) -> Dict[str, List[Finding]]:
        """{rule: [finding, ...]}."""
        made: Dict[str, List[Finding]] = {}
        for one in self:
            made.setdefault(one.rule, []).append(one)
        return made

    def html(self, path: Optional[PathLike] = None) -> str:
        """Returns the page of `qdq check --html`: verdicts, the graph, and a matrix of rules and nodes (docs/differing_bits.md)."""
        targets = [name for name, _ in self._asked]
        call = f"graph.check({targets if len(targets) > 1 else targets[0]!r})"
        return _html.write(path, "check", _html.graph_of(self), call, _html.check(self._asked))

    def __str__(self) -> str:
        return "\n".join([*map(str, self), f"{self.errors} errors, {self.warnings} warnings"])

    def __repr__(self) -> str:
        return f"<qdq.Report: {self.errors} errors, {self.warnings} warnings>"

    def _repr_html_(self) -> str:
        def row(one: Finding) -> str:
            cells = (one.severity, one.target, one.rule, one.node, one.found, one.wanted, one.hint)
            return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"

        head = "".join(f"<th>{h}</th>" for h in ("severity", "target", "rule", "node", "found", "wanted", "hint"))
        return f"<table><tr>{head}</tr>{''.join(map(row, self))}</table>"
