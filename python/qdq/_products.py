# SPDX-License-Identifier: Apache-2.0
"""Finds the products of a quantized graph to which a pair of Quantize and Dequantize belongs."""

from ._html import graph_data

_PRODUCTS = {"MatMul", "Convolution", "ConvTranspose"}


def _reached(nodes, start, step):
    """Returns the names of the first products on all ways from a node, in the order of the graph."""
    found, seen, left = set(), {start}, [start]
    while left:
        for other in step(left.pop()):
            if other in seen:
                continue
            seen.add(other)
            if nodes[other]["op"] in _PRODUCTS:
                found.add(other)
            else:
                left.append(other)
    return tuple(nodes[i]["name"] for i in sorted(found))


def products_of(graph):
    """Returns a function: the name of a pair's Dequantize -> the products that read it. For the name of another node, and
    for a result that no product reads, it returns the products that compute it."""
    nodes = graph_data(graph)["nodes"]
    by_name = {node["name"]: i for i, node in enumerate(nodes)}
    makers = {value: i for i, node in enumerate(nodes) for value in node["outputs"]}
    readers = {}
    for i, node in enumerate(nodes):
        for value in node["inputs"].values():
            readers.setdefault(value, []).append(i)

    def behind(i):
        return [reader for value in nodes[i]["outputs"] for reader in readers.get(value, ())]

    def before(i):
        return [makers[value] for value in nodes[i]["inputs"].values() if value in makers]

    def products(name):
        if name not in by_name:
            return ()
        start = by_name[name]
        found = _reached(nodes, start, behind) if nodes[start]["op"] == "Dequantize" else ()
        return found or _reached(nodes, start, before)

    return products
