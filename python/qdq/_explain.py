# SPDX-License-Identifier: Apache-2.0
"""Finds why the results of a device, a target or another graph differ from a graph's: runs `qdq explain` and `qdq
bisect` on temporary files, and returns their JSON as an object."""

from __future__ import annotations

import html
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

from . import _dtypes as dtypes
from . import _files as files
from . import _tool as tool
from ._library import ArgumentError
from ._types import Array, PathLike

if TYPE_CHECKING:
    from ._graph import Graph
    from ._report import NodeBits

_ALSO = 6  # most other causes in the text


@dataclass(frozen=True)
class Explanation:
    """The cause for which results differ from a graph's. If they do not differ, it is false and all fields are None.

    `cause` is a word of `qdq compare`, a mistake such as wrong-scale, clamp-order or border-code, or unknown
    (docs/differing_bits.md lists all).
    """

    value: Optional[str] = None  # the first value that differs
    node: Optional[str] = None  # the node at fault: of the value, or a node before it without given values
    cause: Optional[str] = None
    target: Optional[str] = None  # the target that reproduces the bits
    detail: str = ""  # the change
    also: Tuple[str, ...] = ()  # other targets and causes that reproduce all bits
    left: int = 0  # elements that still differ with the cause; 0: it reproduces all bits
    differing: int = 0  # elements of the value that differ
    elements: int = 0
    text: str = ""
    nodes: Tuple[NodeBits, ...] = field(default=(), repr=False)  # NodeBits of the nodes that the target asked for runs

    _page: Optional[Callable[[], str]] = field(default=None, repr=False, compare=False)  # None once unpickled

    def __bool__(self) -> bool:
        return self.value is not None

    def __getstate__(self) -> Dict[str, Any]:  # pickles the data, without graphs and arrays
        return {**self.__dict__, "_page": None}

    def html(self, path: Optional[PathLike] = None) -> str:
        """Returns the page of `qdq explain --html` or `qdq bisect --html`: the graph, and the first elements that differ at
        each node. path: None, or the file that it is written to. Runs the command once more; raises ArgumentError for an
        unpickled object."""
        if self._page is None:
            raise ArgumentError("what was unpickled has no graph, so there is no page of it; explain again")
        made = self._page()
        if path is not None:
            Path(path).write_text(made, encoding="utf-8")
        return made

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"

    def __str__(self) -> str:
        return self.text


def _text(found: Any, also: Any) -> str:
    """Summarizes the JSON of `qdq explain` in a few lines for people."""
    lines = [f"{found['value']}: {found['differing']} of {found['elements']} elements differ from {found['against']}"]
    if found["cause"] == "unknown":
        lines.append(f"cause: unknown: none of {found['tried']} targets, number formats and mistakes gives these bits")
    else:
        end = f"{found['left']} elements are left" if found["left"] else "all bits are reproduced"
        lines.append(f"cause: {found['cause']} (node '{found['node']}', {found['detail']}): {end}")
    if found["target"]:
        lines.append(f"target: {found['target']}")
    if also:
        more = f", and {len(also) - _ALSO} more" if len(also) > _ALSO else ""
        lines.append(f"the same bits: {', '.join(also[:_ALSO])}{more}")
    for one in found["examples"]:
        given, computed = (f"{one[key]} ({one[key + '_bits']})" for key in ("given", "computed"))
        lines.append(f"  {one['index']}: given {given}, computed {computed}")
    return "\n".join(lines)


def _explanation(found: Any, nodes: Any, page: Callable[[], str]) -> Explanation:
    if found["value"] is None:
        return Explanation(text="all values are equal", nodes=nodes, _page=page)
    causes = [one["cause"] for one in found["candidates"][1:]]
    own = (found["target"], found["cause"])
    also = tuple(dict.fromkeys(one for one in [*found["targets"][1:], *causes] if one not in own))
    same = {key: found[key] for key in ("value", "node", "cause", "target", "left", "differing", "elements")}
    return Explanation(**same, detail=found["detail"] or "", also=also, text=_text(found, also), nodes=nodes, _page=page)


def _write(path: PathLike, infos: Mapping[str, Any], arrays: Mapping[str, Any], what: str) -> None:
    """Writes arrays of values to a .safetensors file. Each must have the type of its value."""
    tensors = {}
    for name, array in arrays.items():
        if name not in infos:
            raise ArgumentError(f"there is no {what} '{name}'; the graph has {', '.join(infos)}")
        info = infos[name]
        tensors[name] = (info.dtype, dtypes.to_array(array, name, info.dtype, info.shape, what))
    files.write(path, tensors)


def _call(graphs: Sequence[Graph], inputs: Mapping[str, Any], got: Any, target: Optional[str],
          words: Sequence[str]) -> Explanation:  # fmt: skip
    out = _run(graphs, inputs, got, [*words, "--json"])
    return _explanation(json.loads(out), graphs[0].check(target).nodes, lambda: _run(graphs, inputs, got, words, page=True))


def _run(graphs: Sequence[Graph], inputs: Mapping[str, Any], got: Any, words: Sequence[str], page: bool = False) -> str:
    """Runs a command on files of the graphs and arrays, and returns what it prints, or its page."""
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        # The page shows the names of the files.
        names = [re.sub(r"[^\w.-]", "_", graph.name)[:64].lstrip(".-") or "graph" for graph in graphs]
        paths = [os.path.join(folder, f"{name}{f'.{i + 1}' if i else ''}.json") for i, name in enumerate(names)]
        for graph, path in zip(graphs, paths):
            graph.write(path)
        plan = graphs[0].compile("core", values="all")
        if inputs.keys() != (wanted := {info.name: info for info in plan.inputs}).keys():
            plan.refuse(inputs)
        if inputs:
            _write(os.path.join(folder, "inputs.safetensors"), wanted, inputs, "input")
            words = [*words, "-i", os.path.join(folder, "inputs.safetensors")]
        if got is not None:
            if not isinstance(got, dict):
                names = [info.name for info in plan.outputs]
                if len(names) != 1:
                    raise ArgumentError(f"the graph has outputs {', '.join(names)}: give the device's results as a dict")
                got = {names[0]: got}
            infos = {info.name: info for info in [*plan.inputs, *plan.values, *plan.outputs]}
            _write(os.path.join(folder, "got.safetensors"), infos, got, "value")
            words = [*words, "--got", os.path.join(folder, "got.safetensors")]
        made = os.path.join(folder, "page.html")
        _, out, _ = tool.run(words[0], *paths, *words[1:], *(["--html", made] if page else []))
        return Path(made).read_text(encoding="utf-8").replace(folder + os.sep, "") if page else out


def explain(graph: Graph, got: Any, inputs: Mapping[str, Any], target: Optional[str]) -> Explanation:
    """See Graph.explain."""
    target = target or graph.target
    return _call([graph], inputs, got, target, ["explain", "--target", target])


def bisect(first: Graph, second: Optional[Graph] = None, inputs: Optional[Mapping[str, Any]] = None, *,
           targets: Optional[Sequence[str]] = None, **named: Any) -> Explanation:  # fmt: skip
    """Finds the first node at which two graphs, or two targets of a graph, differ, and the cause.

    second: a graph whose values of the same names and types take the place of a device's. targets: two targets,
    ["onnx@1.29", "onnx@1.31"], instead of a second graph. Inputs are as in Graph.run.
    Returns an Explanation; false if nothing differs. Raises ArgumentError unless exactly one of second and targets is
    given.
    """
    if (second is None) == (targets is None):
        raise ArgumentError("bisect is given both or none of second and targets, wanted one of them")
    words = [] if targets is None else ["--targets", ",".join(targets)]
    graphs = [first] if second is None else [first, second]
    return _call(graphs, {**(inputs or {}), **named}, None, targets[0] if targets else first.target, ["bisect", *words])
