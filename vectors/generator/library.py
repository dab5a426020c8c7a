# SPDX-License-Identifier: Apache-2.0
"""Runs graphs in the library of qdq: the bindings of the Python package, without the parts that need numpy."""

import ctypes
import os
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ("bits", "kind", "against", "condition", "compared", "date")


class Refused(Exception):
    """A target refuses a graph. `rules` has the rules of the findings that are errors, in order."""

    def __init__(self, rules, text):
        super().__init__(text)
        self.rules = rules


def bindings(path):
    """Returns the module qdq._library for the library at `path`."""
    os.environ["QDQ_LIBRARY"] = str(path)
    if "qdq" not in sys.modules:
        package = types.ModuleType("qdq")
        package.__path__ = [str(ROOT / "python/qdq")]
        sys.modules["qdq"] = package
    from qdq import _library

    return _library


class Library:
    def __init__(self, path):
        self.c = bindings(path)
        self.lib = self.c.lib

    def names(self):
        """Returns every target at every release: "core", "onnx@1.20-vnni", ..."""
        return [name for target, releases in self.c.targets().items()
                for name in ([f"{target}@{release}" for release in releases] or [target])]  # fmt: skip

    def graph(self, text):
        data = text.encode()
        return self.c.call(self.lib.qdq_graph_parse, data, len(data), b"", None, None)

    def report(self, graph, target):
        """Returns the evidence of each node, as tuples of EVIDENCE. Raises Refused."""
        found = self.c.call(self.lib.qdq_graph_validate, graph, target.encode()).contents
        if found.errors:
            errors = [one for one in found.findings[: found.count] if one.severity == 0]
            raise Refused(list(dict.fromkeys(one.rule.decode() for one in errors)), errors[0].message.decode())
        return [self.evidence(one) for one in found.nodes[: found.node_count]]

    def evidence(self, node):
        row = node.evidence.contents if node.evidence else None
        words = [getattr(row, name).decode() if row else "" for name in EVIDENCE[1:]]
        return (self.c.BITS[node.bits], *words)

    def run(self, graph, target, inputs):
        """Returns {output: (dtype, shape, bytes)}. inputs: {name: bytes}. Raises Refused."""
        plan = execution = None
        options = self.c.CCompileOptions(target=target.encode())
        try:
            try:
                plan = self.c.call(self.lib.qdq_graph_compile, graph, options)
            except (self.c.UnsupportedError, self.c.GraphError) as error:
                raise Refused([], str(error)) from None
            execution = self.c.call(self.lib.qdq_exec_create, plan, None)
            kept = []
            for i in range(self.lib.qdq_plan_input_count(plan)):
                kept.append(self.bind(execution, self.lib.qdq_plan_input(plan, i).contents, inputs))
            infos = [self.lib.qdq_plan_output(plan, i).contents for i in range(self.lib.qdq_plan_output_count(plan))]
            results = [self.bind(execution, info, {}) for info in infos]
            self.lib.qdq_exec_run(execution)
            return {info.name.decode(): (self.c.decode(self.lib.qdq_dtype_name(info.dtype)), info.shape.tuple(), bytes(buffer))
                    for info, buffer in zip(infos, results)}  # fmt: skip
        finally:
            self.lib.qdq_exec_destroy(execution)
            self.lib.qdq_plan_destroy(plan)

    def bind(self, execution, info, inputs):
        """Binds a buffer with the bytes of an input, or an empty one."""
        data = inputs.get(info.name.decode(), bytes(info.bytes))
        buffer = ctypes.create_string_buffer(data, info.bytes) if info.bytes else ctypes.create_string_buffer(1)
        self.c.call(self.lib.qdq_exec_bind, execution, info.name, ctypes.addressof(buffer), info.bytes)
        return buffer
