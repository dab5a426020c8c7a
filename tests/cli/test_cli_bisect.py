#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq bisect names the first node at which two graphs, or two targets, differ, and the cause."""

import copy
import json

import faulty_networks
from faulty_networks import ROWS, WIDTH
from harness import Case, graph, main, quantize, safetensors_bytes, tensor, value

TIES = {"constants": [{**value("x", shape=[4]), "data": [0.5, 1.5, 2.5, 3]}], "inputs": []}


class Bisect(Case):
    def bisect(self, *words, code=1):
        return json.loads(self.qdq("bisect", *words, "--json", code=code).out)

    def changed(self, network, kind, change):
        """The network with another node of a kind; its name."""
        document = copy.deepcopy(network.document)
        name = network.of_kind(kind)[1]
        node = next(one for one in document["nodes"] if one["name"] == name)
        change(node["attrs"], node["inputs"])
        self.write("b.json", document)
        return name

    def test_two_graphs(self):
        network = next(one for one in map(faulty_networks.Network, range(20)) if len(one.of_kind("subtract")) > 1)
        self.write("a.json", network.document)
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], network.x)}))
        changes = {
            "wrong-scale": ("quantize", lambda attrs, _: attrs.update(scales=attrs["scales"] * 1.37)),
            "wrong-zero-point": ("dequantize", lambda attrs, _: attrs.update(zps=attrs["zps"] + 5)),
            "wrong-axis": ("weights", lambda attrs, _: attrs.update(axis=0)),
            "per-tensor": ("weights", lambda attrs, _: attrs.update(scales=attrs["scales"][0], qtype="per_tensor")),
            "swapped-inputs": ("subtract", lambda _, ports: ports.update(a=ports["b"], b=ports["a"])),
            "saturation range": ("quantize", lambda attrs, _: attrs.update(quant_min=-64, quant_max=63)),
        }  # fmt: skip
        for cause, (kind, change) in changes.items():
            name = self.changed(network, kind, change)
            with self.subTest(cause):
                found = self.bisect("a.json", "b.json", "-i", "x.safetensors", "-t", "core")
                self.assertEqual((found["node"], found["cause"], found["left"]), (name, cause, 0))

    def test_equal_graphs(self):
        self.write("a.json", faulty_networks.Network(1).document)
        found = self.bisect("a.json", "a.json", "--fill", 1, code=0)
        self.assertEqual((found["node"], found["cause"], found["target"]), (None, None, None))

    def test_two_targets(self):
        self.write("a.json", graph([quantize(scales=1, dtype="int32")], **TIES))
        found = self.bisect("a.json", "--targets", "core,ttnn@ieee")
        self.assertEqual((found["node"], found["cause"], found["target"]), ("q", "tie", "ttnn@ieee"))
        self.assertEqual((found["elements"], found["differing"]), (4, 2))
        self.bisect("a.json", "--targets", "core,torchao", code=0)

    def test_wrong_command_lines_are_refused(self):
        self.write("a.json", graph([quantize(scales=1)], **TIES))
        self.write("b.json", graph([quantize(name="other", scales=1)], outputs={"z": "other"}, **TIES))
        self.write("c.json", graph([quantize(scales=1)]))
        for words, text, code in ((["a.json"], "wanted two graphs, or one with two targets", 2),
                                  (["a.json", "--targets", "core"], "wanted two graphs", 2),
                                  (["a.json", "a.json", "--targets", "core,onnx"], "wanted one of them", 2),
                                  (["a.json", "--targets", "core,no"], "no", 2),
                                  (["a.json", "b.json"], "no value or output of the same name", 3),
                                  (["a.json", "c.json"], "the second graph has input 'x'", 2)):  # fmt: skip
            with self.subTest(text):
                self.assertIn(text, self.qdq("bisect", *words, code=code).err)


if __name__ == "__main__":
    main()
