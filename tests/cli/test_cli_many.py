#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node has any number of inputs, and a graph any number of outputs: the same bits, findings at the node that the
user wrote, and memory for each input or output once."""

import json

from harness import Case, Tensor, graph, main, node, pack, read_safetensors, safetensors_bytes, value

COUNTS = (11, 65, 200)  # an op's view of a node has room for the first 10
MODES = ([], ["--tiled"], ["--materialize"], ["--fast"], ["--target", "ort"])


def concat(names, axis, name="c"):
    return {"op": "Concat", "name": name, "inputs": {"xs": names}, "attrs": {"axis": axis}}


class Inputs(Case):
    def write_parts(self, count, dtype, numbers):
        """Writes inputs x0, x1, ... of shapes [2, 1], [2, 2], [2, 3], [2, 1], ..., and returns them and their rows
        joined along dim 1."""
        parts, rows, at = {}, [[], []], 0
        for i in range(count):
            own = [[numbers(at + k) for k in range(j * 3, j * 3 + 1 + i % 3)] for j in range(2)]
            for row, part in zip(rows, own):
                row += part
            parts[f"x{i}"] = Tensor(dtype, [2, 1 + i % 3], pack(dtype, own[0] + own[1]))
            at += 6
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes(parts))
        return [value(name, dtype, x.shape) for name, x in parts.items()], rows[0] + rows[1]

    def run_to(self, dtype, expected, mode):
        self.qdq("run", "g.json", "-i", "x.safetensors", "-o", "y.safetensors", "--threads", 1, *mode)
        got = read_safetensors(self.folder / "y.safetensors")["y"]
        self.assertEqual(got.data, pack(dtype, expected), mode)

    def test_any_number_of_values_is_joined(self):
        for count in COUNTS:
            inputs, joined = self.write_parts(count, "float32", float)
            self.write("g.json", graph([concat([x["name"] for x in inputs], 1)], inputs, {"y": "c"}))
            for mode in MODES:
                self.run_to("float32", joined, mode)

    def test_codes_of_any_number_of_values_are_joined(self):
        """(x - 3) / 2 in steps of 1/4 from 5: 2 x - 1, exactly, for each path of codes or floats."""
        for count in COUNTS:
            inputs, joined = self.write_parts(count, "uint8", lambda i: i % 126 + 1)
            nodes = [node("Dequantize", f"d{i}", x["name"], scales=0.5, zps=3, dtype="float32")
                     for i, x in enumerate(inputs)]  # fmt: skip
            nodes += [concat([one["name"] for one in nodes], 1),
                      node("Quantize", "q", "c", scales=0.25, zps=5, dtype="uint8")]
            self.write("g.json", graph(nodes, inputs, {"y": "q"}))
            for mode in MODES:
                self.run_to("uint8", [2 * x - 1 for x in joined], mode)

    def test_a_finding_names_the_input_of_the_node(self):
        names = [f"x{i}" for i in range(200)]
        inputs = [value(name, "float16" if name == "x150" else "float32", [2]) for name in names]
        self.assert_finding(graph([concat(names, 0)], inputs, {"y": "c"}), "core/port-dtype",
                            "node 'c': Concat: xs[150] is float16, wanted float32, as xs[0] is")  # fmt: skip

    def test_a_node_stays_one_node_in_every_format(self):
        names = ["a", *(f"x{i % 90}" for i in range(300))]
        inputs = [value(name, "float32", [1, 2]) for name in dict.fromkeys(names)]
        self.write("g.json", graph([concat(names, 1)], inputs, {"c": "c"}))
        hashed = self.json("fingerprint", "g.json")["parts"]["outputs"]
        for name in ("1.json", "2.onnx", "3.json"):
            self.qdq("convert", "g.json" if name == "1.json" else before, "-o", name)
            before = name
            self.assertEqual(self.json("fingerprint", name)["parts"]["outputs"], hashed, name)
        nodes = json.loads((self.folder / "3.json").read_text())["nodes"]
        self.assertEqual([(one["name"], one["op"], one["inputs"]) for one in nodes], [("c", "Concat", {"xs": names})])

    def test_a_node_takes_memory_for_each_input_once(self):
        """A plan takes 2 KiB for each input of the graph and the node."""
        names = [f"x{i}" for i in range(50_000)]
        self.write("g.json", graph([concat(names, 0)], [value(name, "float32", [1]) for name in names], {"y": "c"}))
        for command in (["check"], ["plan", "--tiled"], ["plan", "--target", "ort"]):
            self.assertLess(self.peak_mib(command[0], "g.json", *command[1:]), 200, command)


class Outputs(Case):
    def test_many_outputs_are_checked_in_memory_for_each_once(self):
        """Each buffer of a device held two configs of 16 core ranges, and a record of it that nothing read."""
        nodes = [node("ReLU", f"r{i}", "x") for i in range(50_000)]
        outputs = {f"y{i}": one["name"] for i, one in enumerate(nodes)}
        self.write("g.json", graph(nodes, [value("x", "float32", [4])], outputs))
        self.assertLess(self.peak_mib("check", "g.json", "--target", "all"), 300)  # sanitizers take 265


if __name__ == "__main__":
    main()
