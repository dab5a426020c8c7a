# SPDX-License-Identifier: Apache-2.0
"""Computes all values of a graph by the formulas of its target."""

import reference
import reference_network
import reference_onednn
import reference_torchao
import reference_ttnn
from reference_ttnn_chip import Chip

TARGETS = {
    "core": reference,
    "onednn": reference_onednn,
    "tensorrt": reference,
    "torchao": reference_torchao,
    "tripy": reference,
    "ttnn@blackhole": Chip("blackhole"),
    "ttnn@ieee": reference_ttnn,
    "ttnn@wormhole": Chip("wormhole"),
}


def evaluate(graph, values):
    """All values of the graph from its inputs and constants; nodes may be in any order."""
    target = TARGETS[graph.get("target", "core")]
    values = dict(values)
    waiting = list(graph["nodes"])
    while waiting:
        ready = [n for n in waiting if all(v in values for v in n["inputs"].values())]
        assert ready, "the graph has a cycle or a name that nothing makes"
        for node in ready:
            module = reference_network if node["op"] in reference_network.OPS else target
            module.evaluate_node(node, values)
        waiting = [n for n in waiting if n not in ready]
    return values
