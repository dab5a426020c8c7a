# SPDX-License-Identifier: Apache-2.0
"""Which target, number format or mistake in a node gives the results that a device gave.

A hypothesis is a way to run the graph: as another target, with one field of the numerics changed, or with one node
changed as people mistake it (_mistakes.py). Each is run, and its results are compared with the device's bit by bit.
"""

import json
import os
import tempfile
from dataclasses import dataclass
from typing import Optional

import numpy as np

from . import _mistakes as mistakes
from ._library import ArgumentError, CNumerics, Error, lib, targets
from .testing import differing, element_text, index_text

_FLOAT16, _BFLOAT16 = (lib.qdq_dtype_from_name(name) for name in (b"float16", b"bfloat16"))

# Fields of the numerics that differ from core's, and the word of `qdq compare` for the difference.
_NUMERICS = [({"rounding": r}, "rounding") for r in (1, 2, 3)]
_NUMERICS += [({"scaling": 1}, "reciprocal")]
_NUMERICS += [({"zero_point_order": z}, "zero-point order") for z in (1, 2, 3)]
_NUMERICS += [({"overflow": o}, "wrap") for o in (1, 2, 3, 4)]
_NUMERICS += [({"nan": n}, "NaN") for n in (1, 2, 3)]
_NUMERICS += [({"subtraction": 1}, "subtraction")]
_NUMERICS += [({"requantize_form": f}, "requantize form") for f in (1, 2)]
_NUMERICS += [({"input_dtype": d}, "input precision") for d in (_BFLOAT16, _FLOAT16)]
_NUMERICS += [({"scale_dtype": d}, "scale precision") for d in (_BFLOAT16, _FLOAT16)]
_NUMERICS += [({field: d}, "intermediate precision") for d in (_BFLOAT16, _FLOAT16)
              for field in ("quantize_step_dtype", "dequantize_step_dtype", "requantize_dtype")]  # fmt: skip
_NUMERICS += [({"narrow": True, "quant_min": -127, "quant_max": 127}, "saturation range")]
_NUMERICS += [({"pair_sums": 1}, "pair saturation"), ({"flush_denormals": True}, "denormals")]
_NUMERICS += [({"rounding": r, "scaling": 1}, "rounding") for r in (1, 2, 3)]
_NUMERICS += [({"rounding": r, "zero_point_order": 1}, "rounding") for r in (1, 2, 3)]
_NUMERICS += [({"float_ops": f}, "float operations") for f in (1, 2)]

_ALSO = 6  # other causes in the text
_LISTED = 8  # elements in the text
_NEAR = 0.02  # a hypothesis that leaves fewer of the differing elements than this is named as the nearest


@dataclass(frozen=True)
class Explanation:
    """Why results differ from those of a graph. All is None, and the object false, if they do not differ.

    `cause` is a word of `qdq compare`, or wrong-scale, wrong-zero-point, wrong-axis, per-tensor, swapped-inputs,
    "numerics of a target", or unknown.
    """

    value: Optional[str] = None  # the first value that differs
    node: Optional[str] = None  # the node at fault: the value's, or one before it whose value was not given
    cause: Optional[str] = None
    target: Optional[str] = None  # that gives the bits
    detail: str = ""  # what was changed
    also: tuple = ()  # other causes, or targets, that give all bits too
    left: int = 0  # elements that differ under the hypothesis; 0: all bits are reproduced
    differing: int = 0  # elements of the value that differ
    elements: int = 0
    text: str = ""

    def __bool__(self):
        return self.value is not None

    def __str__(self):
        return self.text


class _Case:
    """What the device gave, and the graph's own results."""

    def __init__(self, graph, got, inputs, target):
        self.graph, self.inputs, self.target = graph, inputs, target
        plan = graph.compile(target, values="all")
        self.ours = plan.run(inputs)
        self.types = {info.name: info for info in [*plan.inputs, *plan.values, *plan.outputs]}
        if not isinstance(got, dict):
            names = [info.name for info in plan.outputs]
            if len(names) != 1:
                raise ArgumentError(f"the graph has outputs {', '.join(names)}: give a dict of what the device gave")
            got = {names[0]: got}
        self.got = {name: np.asarray(array) for name, array in got.items()}
        outputs = {info.name for info in plan.outputs}
        self.kept = [name for name in self.got if name not in outputs]  # besides the outputs
        for name, array in self.got.items():
            if name not in self.ours:
                raise ArgumentError(f"there is no value '{name}'; the graph has {', '.join(self.ours)}")
            wanted = self.ours[name]
            if (array.shape, array.dtype) != (wanted.shape, wanted.dtype):
                raise ArgumentError(f"'{name}' is {array.dtype}{list(array.shape)}, wanted {wanted.dtype}{list(wanted.shape)}")

    def left(self, results):
        """Elements of all given values that results do not reproduce; None: a value is missing or of another type."""
        count = 0
        for name, want in self.got.items():
            one = results.get(name)
            if one is None or one.dtype != want.dtype or one.shape != want.shape:
                return None
            count += int(differing(one, want)[0].sum())
        return count


def _order(document):
    """Values of nodes by the place of their node in the graph."""
    return {node["name"]: i for i, node in enumerate(document["nodes"])}


def _targets(case):
    names = [name if not releases else f"{name}@{release}" for name, releases in targets().items()
             for release in (releases or [""])]  # fmt: skip
    for name in names:
        yield name, "numerics of a target", None, f"as target {name}", lambda n=name: case.graph.run(
            case.inputs, target=n, values=case.kept)


def _nodes(case, document, folder, suspects):
    for node in suspects:
        for cause, detail, changed in mistakes.of_node(document, node, case, folder):
            def run(changed=changed):
                return _loaded(changed, folder).run(case.inputs, target=case.target, values=case.kept)
            yield None, cause, node["name"], detail, run


def _numerics(case, document, folder, suspects):
    """One node with other numerics; the others stay as they are."""
    for node in suspects:
        name = node["name"]
        single = mistakes.alone(document, node, case.types) if name in case.types else None
        if single is None:
            continue
        rest = mistakes.without(document, node, case.types[name])
        graph = _loaded(single, folder)
        for fields, cause in _NUMERICS:
            def run(graph=graph, rest=rest, fields=fields, name=name):
                plan = graph._compile("core", CNumerics(**fields))
                values = {info.name: case.inputs.get(info.name, case.ours.get(info.name)) for info in plan.inputs}
                one = plan.run(values)["y"]
                if not differing(one, case.ours[name])[0].any():
                    return {}  # nothing to explain
                if set(case.got) <= {name}:
                    return {name: one}
                kept = [value for value in case.kept if value != name]
                inputs = {**case.inputs, name: one}
                return {**_loaded(rest, folder).run(inputs, target=case.target, values=kept), name: one}
            text = ", ".join(f"{field} {value}" for field, value in fields.items())
            yield None, cause, name, f"numerics: {text}", run


def _loaded(document, folder):
    from ._graph import parse  # which imports this module

    return parse(json.dumps(document), name="changed", folder=folder)


def _suspects(document, case, first):
    """Nodes that the first value which differs depends on, and no value that is equal hides; nearest first."""
    nodes = {node["name"]: node for node in document["nodes"]}
    equal = {name for name in case.got if not differing(case.got[name], case.ours[name])[0].any()}
    found, waiting, seen = [], [first], set()
    outputs = {one["name"]: one["value"] for one in document["outputs"]}
    while waiting:
        name = waiting.pop(0)
        name = outputs.get(name, name).partition(".")[0] if name not in nodes else name
        if name in seen or name not in nodes or (name in equal and name != first):
            continue
        seen.add(name)
        found.append(nodes[name])
        for port in nodes[name].get("inputs", {}).values():
            waiting += port if isinstance(port, list) else [port]
    return found


def _groups(case, document, folder, first):
    """Hypotheses in groups, and whether all of a group are tried although one gives the bits."""
    suspects = _suspects(document, case, first)
    yield _targets(case), True
    yield _numerics(case, document, folder, suspects[:1]), True  # before scales that are fitted to the codes
    yield _nodes(case, document, folder, suspects), False
    yield _numerics(case, document, folder, suspects[1:]), False


def _left(case, hypothesis):
    try:
        return case.left(hypothesis[4]())
    except Error:
        return None  # a target refuses the graph, or the change breaks it


def _best(case, document, folder, first):
    """The hypothesis that leaves the fewest elements, how many, and others of its group that give all bits."""
    best, others = None, []
    for group, whole in _groups(case, document, folder, first):
        for hypothesis in group:
            left = _left(case, hypothesis)
            if left is None:
                continue
            if best is not None and best[0] == left == 0:
                others.append(hypothesis)
            elif best is None or left < best[0]:
                best = left, hypothesis
            if left == 0 and not whole:
                break
        if best is not None and best[0] == 0:
            break
    return best, others


def _text(case, made, first, where):
    got, ours = case.got[first], case.ours[first]
    lines = [f"{first}: {made.differing} of {made.elements} elements differ from target {case.target or case.graph.target}"]
    if made.left == 0 and made.cause != "unknown":
        at = f"node '{made.node}', " if made.node else ""
        lines.append(f"cause: {made.cause} ({at}{made.detail}): all bits are reproduced")
        if made.also:
            more = f", and {len(made.also) - _ALSO} more" if len(made.also) > _ALSO else ""
            lines.append(f"the same bits: {', '.join(made.also[:_ALSO])}{more}")
    elif made.cause != "unknown":
        lines.append(f"nearest: {made.cause} (node '{made.node}', {made.detail}): {made.left} elements are left")
    else:
        lines.append("cause: unknown: no target, no field of the numerics and no usual mistake gives these bits")
    for index in np.argwhere(where)[:_LISTED]:
        at = tuple(int(i) for i in index)
        texts = [element_text(array, at) for array in (got, ours)]
        lines.append(f"  {index_text(at)}: given {texts[0]}, computed {texts[1]}")
    return "\n".join(lines)


def explain(graph, got, inputs, target):
    """See Graph.explain."""
    case = _Case(graph, got, inputs, target)
    with tempfile.TemporaryDirectory(prefix="qdq-") as folder:
        path = os.path.join(folder, "graph.json")
        graph.write(path)
        with open(path, encoding="utf-8") as file:
            document = mistakes.with_filed_constants(json.load(file), folder)
        order = _order(document)
        outputs = {one["name"]: one["value"].partition(".")[0] for one in document["outputs"]}
        places = sorted(case.got, key=lambda name: order.get(name, order.get(outputs.get(name), len(order))))
        wrong = [name for name in places if differing(case.got[name], case.ours[name])[0].any()]
        if not wrong:
            return Explanation(text="all values are equal")
        first = wrong[0]
        where = differing(case.got[first], case.ours[first])[0]
        count, total = int(where.sum()), case.left(case.ours)
        best, others = _best(case, document, folder, first)
    near = best is not None and best[0] <= _NEAR * total
    place = first if first in order else outputs.get(first, first)
    if near:
        left, (name, cause, node, detail, _) = best
        also = tuple(dict.fromkeys(other[0] or other[1] for other in others if (other[0] or other[1]) != (name or cause)))
        made = dict(node=node or place, cause=cause, target=name, detail=detail, left=left, also=also)
    else:
        made = dict(node=place, cause="unknown", left=total)
    explanation = Explanation(value=first, differing=count, elements=int(where.size), **made)
    return Explanation(**{**explanation.__dict__, "text": _text(case, explanation, first, where)})
