#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--shape and --dim of graph files, and members that are null."""

from pathlib import Path

import harness
from harness import Case, graph, main, node, quantize, read_safetensors, value

COMMANDS = {"run": ["--fill", "1"], "plan": [], "check": [], "fingerprint": [], "convert": ["-o", "z.json"]}


def shapes_of(out):
    return {one["name"]: one["shape"] for one in out["inputs"] + out["outputs"]}


class Shapes(Case):
    def test_a_graph_follows_the_shape_of_its_input(self):
        nodes = [node("ReLU", "r", "x"), quantize("q", "r", scales=0.5)]
        self.write("g.json", graph(nodes, [value("x", shape=(360, 8))]))
        self.qdq("run", "g.json", "--shape", "x=2,8", "--fill", "1", "-o", "y.safetensors")
        self.assertEqual(read_safetensors(self.folder / "y.safetensors")["y"][1], [2, 8])
        self.qdq("convert", "g.json", "--shape", "x=3,5,8", "-o", "z.json")
        self.qdq("run", "z.json", "--fill", "1", "-o", "y.safetensors")
        self.assertEqual(read_safetensors(self.folder / "y.safetensors")["y"][1], [3, 5, 8])

    def test_the_arena_of_one_image_is_small(self):
        plan = self.json("plan", str(Path(harness.MODELS).resolve() / "digits/int8.json"), "--shape", "x=1,1,8,8")
        self.assertLessEqual(plan["arena_bytes"], 8 << 10)

    def test_a_node_that_cannot_follow_refuses_it(self):
        nodes = [quantize("q", "x", qtype="per_channel", axis=0, scales=[0.5, 1])]
        self.write("g.json", graph(nodes))
        for command, more in COMMANDS.items():
            code = {"check": 1, "convert": 4}.get(command, 3)
            result = self.qdq(command, "g.json", "--shape", "x=4,3", *more, code=code)
            self.assertIn("scales has 2 elements, wanted 4", result.out + result.err, command)

    def test_a_name_that_the_graph_lacks_is_refused(self):
        self.write("g.json", graph([quantize("q", "x", scales=0.5)]))
        for command, more in COMMANDS.items():
            result = self.qdq(command, "g.json", "--shape", "nosuch=3", *more, code=2)
            self.assertIn("'nosuch', which is no input of the graph", result.err, command)
            result = self.qdq(command, "g.json", "--shape", "q=3", *more, code=2)
            self.assertIn("'q', which is no input of the graph", result.err, command)
            result = self.qdq(command, "g.json", "--dim", "batch=3", *more, code=2)
            self.assertIn("only ONNX models name dims", result.err, command)


class Null(Case):
    def test_an_optional_member_that_is_null_is_absent(self):
        attrs = {"axis": None, "zps": None, "group_shape": None, "qtype": None, "quant_min": None, "scales": 0.5}
        one = {**quantize("q", "x", {"zero_point": None}, **attrs), "memory_config": None}
        both = [graph([one], name=None, target=None), graph([quantize("q", "x", scales=0.5)])]
        prints = []
        for content in both:
            self.assertEqual(self.check(content, code=0), [])
            prints.append(self.qdq("fingerprint", "g.json").out.split()[0])
        self.assertEqual(prints[0], prints[1])

    def test_a_required_one_is_missing(self):
        self.assert_refused({**graph(), "format": None}, "format is null")
        found = self.check(graph([quantize("q", "x", scales=None)]))
        self.assertEqual([one["rule"] for one in found], ["core/scale-missing"])
        found = self.check(graph([{"op": "Quantize", "name": "q", "inputs": {"x": None}, "attrs": {"scales": 1}}],
                                 [value("x")], {"y": "q"}))
        self.assertIn("core/port-missing", [one["rule"] for one in found])

    def test_a_misspelled_one_is_unknown(self):
        found = self.check(graph([quantize("q", "x", scales=1, axiss=None)]))
        self.assertEqual([one["rule"] for one in found], ["core/attr-unknown"])
        found = self.check(graph([quantize("q", "x", {"zero": None}, scales=1)]))
        self.assertIn("core/port-unknown", [one["rule"] for one in found])


if __name__ == "__main__":
    main()
