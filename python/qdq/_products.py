# SPDX-License-Identifier: Apache-2.0
"""Finds the products for which a quantized graph has a pair of Quantize and Dequantize: with all of them in float, `qdq
quantize` leaves the pair out (docs/float_to_int8.md, what becomes codes)."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ._html import graph_data
from ._library import encode, lib

_PRODUCTS = {"MatMul", "Convolution", "ConvTranspose"}


class Products:
    """The products of the pairs of a graph, as a target takes it."""

    def __init__(self, graph: Any, target: Optional[str]) -> None:
        form = lib.qdq_target_quantized_form(encode(target))
        codes = bool(form) and form.contents.results
        floats = (form.contents.float_results or b"").decode().split() if codes else ()
        self.nodes = graph_data(graph)["nodes"]
        self.results = {i for i, node in enumerate(self.nodes) if codes and node["op"] in _PRODUCTS
                        and (node["op"] not in floats or "bias" in node["inputs"])}  # fmt: skip
        self.by_name = {node["name"]: i for i, node in enumerate(self.nodes)}
        self.makers = {value: i for i, node in enumerate(self.nodes) for value in node["outputs"]}
        self.readers: Dict[int, List[int]] = {}
        for i, node in enumerate(self.nodes):
            for value in node["inputs"].values():
                self.readers.setdefault(value, []).append(i)

    def _behind(self, i: Any) -> List[Any]:
        return [reader for value in self.nodes[i]["outputs"] for reader in self.readers.get(value, ())]

    def _before(self, i: Any) -> List[Any]:
        return [self.makers[value] for value in self.nodes[i]["inputs"].values() if value in self.makers]

    def _reached(self, start: Any, step: Any, wanted: Any, passed: Any) -> Any:
        """Returns the first nodes with `wanted` ops on all ways from a node through nodes with `passed` ops."""
        found, seen, left = set(), {start}, [start]
        while left:
            for other in step(left.pop()):
                if other in seen:
                    continue
                seen.add(other)
                op = self.nodes[other]["op"]
                if op in wanted:
                    found.add(other)
                elif passed(op):
                    left.append(other)
        return found

    def _of_pair(self, dequantize: Any) -> Any:
        """Returns the products that read a pair, or whose result it is. A pair that passes codes on has the products of
        the pairs before it."""
        found = self._reached(dequantize, self._behind, _PRODUCTS, lambda op: op != "Quantize")
        for quantize in self._before(dequantize):
            if self.nodes[quantize]["op"] != "Quantize":
                continue
            found |= self._reached(quantize, self._before, _PRODUCTS, lambda op: op == "ReLU") & self.results
            if not found:
                for pair in self._reached(quantize, self._before, {"Dequantize"}, lambda op: op not in _PRODUCTS):
                    found |= self._of_pair(pair)
        return found

    def of(self, name: str) -> Any:
        """Returns the names of the products of a pair, by its Dequantize, or of a group, by the node in its place."""
        if name not in self.by_name:
            return ()
        i = self.by_name[name]
        if self.nodes[i]["op"] == "Dequantize":
            found = self._of_pair(i)
        else:
            found = {i} if self.nodes[i]["op"] in _PRODUCTS else None
            found = found or self._reached(i, self._before, _PRODUCTS, lambda op: op != "Dequantize")
        return tuple(self.nodes[i]["name"] for i in sorted(found))
