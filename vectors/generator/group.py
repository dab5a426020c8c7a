# SPDX-License-Identifier: Apache-2.0
"""A group: a node, or a few, with inputs that separate backends."""

import json
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from tensor import Tensor

PORTS = {"DynamicQuantize": ("y", "scale", "zero_point")}


@dataclass
class Group:
    id: str  # "quantize/tie-int8-z1", which never changes
    op: str  # "Graph": `nodes` has the nodes
    about: str
    provokes: Tuple[str, ...]
    inputs: Dict[str, Tensor]  # by port; of a graph by name
    attributes: Dict[str, object] = field(default_factory=dict)
    bugs: Tuple[str, ...] = ()
    nodes: Optional[List[dict]] = None
    outputs: Tuple[str, ...] = ()

    def graph(self):
        """Returns the group as a qdq/1 file: the node is y, and its outputs are those of the file."""
        nodes = self.nodes or [{"op": self.op, "name": "y", "inputs": {port: f"in_{port}" for port in self.inputs},
                                "attrs": self.attributes}]  # fmt: skip
        name = "{}" if self.nodes else "in_{}"
        given = {True: [], False: []}
        for port, one in self.inputs.items():
            row = {"name": name.format(port), "dtype": one.dtype, "shape": list(one.shape)}
            given[one.constant].append({**row, "data": one.numbers()} if one.constant else row)
        outputs = self.outputs or PORTS.get(self.op, ("y",))
        if self.op == "DynamicQuantize" and ("scales" in self.attributes or "scale" in self.inputs):
            outputs = ("y",)
        values = {one: one if self.nodes else f"y.{one}" for one in outputs}
        return json.dumps({"format": "qdq/1", "name": self.id, "inputs": given[False], "constants": given[True], "nodes": nodes,
                           "outputs": [{"name": f"out_{one}", "value": value} for one, value in values.items()]})  # fmt: skip

    def feeds(self):
        """Returns {input of the graph: bytes}."""
        name = "{}" if self.nodes else "in_{}"
        return {name.format(port): one.bytes() for port, one in self.inputs.items() if not one.constant}
