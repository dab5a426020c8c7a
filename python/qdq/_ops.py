# SPDX-License-Identifier: Apache-2.0
"""Every op of the library as a method, generated from the library's table of ops. _ops.pyi has their signatures."""

from __future__ import annotations

from typing import Any

from ._library import lib
from ._op_names import PLACE, method_name


class Op:
    """An op of the library."""

    def __init__(self, index: int) -> None:
        info = lib.qdq_op_get(index)
        self.name, self.summary = info.name.decode(), info.summary.decode()
        inputs = [lib.qdq_op_input(index, i) for i in range(info.input_count)]
        self.inputs = [port.name.decode() for port in inputs]
        self.lists = {port.name.decode() for port in inputs if port.variadic}
        self.optional = {port.name.decode() for port in inputs if port.optional}
        self.outputs = [lib.qdq_op_output(index, i).name.decode() for i in range(info.output_count)]
        attrs = [lib.qdq_op_attr(index, i) for i in range(info.attr_count)]
        self.attrs = {attr.name.decode(): attr for attr in attrs}

    def doc(self) -> str:
        """Returns the text that help() shows for the method."""
        lines = [f"{self.name}: {self.summary}.", ""]
        for port in self.inputs:
            what = "values" if port in self.lists else "a value"
            lines.append(f"{port}: {what}{', may be left out' if port in self.optional else ''}.")
        for name, attr in self.attrs.items():
            default = attr.default_text.decode()
            need = ", needed" if attr.required else f", default {default}" if default else ""
            lines.append(f"{name}: {attr.type.decode()}{need}; {attr.summary.decode()}.")
        lines.append(f"name, {', '.join(PLACE)}: see Builder.")
        what = " and ".join(self.outputs)
        return "\n".join([*lines, f"Returns {what}." if len(self.outputs) == 1 else f"Returns the values {what}."])


class Ops:
    """The methods of Builder that add a node, one for each op."""

    def _add(self, op: Any, values: Any, given: Any) -> None:
        raise NotImplementedError


def _method(key: str, op: Any) -> Any:
    def method(self, *values, **given):
        return self._add(op, values, given)

    method.__name__, method.__qualname__, method.__doc__ = key, f"Builder.{key}", op.doc()
    return method


for _op in map(Op, range(lib.qdq_op_count())):
    setattr(Ops, method_name(_op.name), _method(method_name(_op.name), _op))
