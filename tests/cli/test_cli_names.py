#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names with a dot: none stands for two values, in a graph file and in what is converted from an ONNX model."""

from harness import Case, graph, main, node, read_safetensors, tensor, unpack, value, write_npy


def field(number, content):
    """A field of a protobuf message: an int, text, or the bytes of a message."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def onnx_value(name, dims):
    shape = b"".join(field(1, field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def onnx_node(op, inputs, outputs):
    return b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs) + field(4, op)


def onnx_model(nodes, inputs, outputs):
    """A model of float32 values [4]."""
    body = b"".join(field(1, one) for one in nodes) + field(2, "names")
    body += b"".join(field(11, onnx_value(name, [4])) for name in inputs)
    body += b"".join(field(12, field(1, name)) for name in outputs)
    return field(1, 8) + field(7, body) + field(8, field(2, 13))


class DottedNames(Case):
    def test_a_further_output_of_a_node_shares_its_name_with_none(self):
        dynamic = node("DynamicQuantize", "d", "x", dtype="uint8")
        for made in (graph([dynamic], [value("x"), value("d.scale")], {"y": "d"}),
                     graph([dynamic, node("ReLU", "d.zero_point", "x")], [value("x")], {"y": "d.zero_point"})):
            self.assertIn("core/name-duplicate", [one["rule"] for one in self.check(made)])
        fine = graph([dynamic, node("ReLU", "r", "d.y")], [value("x"), value("d.y")], {"y": "r", "q": "d"})
        self.assertEqual(self.check(fine, code=0), [])

    def test_an_output_keeps_its_name_beside_a_value_that_had_it(self):
        """As DynamicQuantizeLinear whose scale is the output s: the value is y.scale here, s in the model."""
        g = graph([node("DynamicQuantize", "y", "x", dtype="uint8")], outputs={"y": "y", "s": "y.scale"})
        g["originals"] = {"values": {"y.scale": "s"}}
        self.write("g.json", g)
        self.qdq("run", "g.json", "--fill", 1, "-o", "s=s.npy")
        self.assertIn("s: all 1 elements equal", self.qdq("run", "g.json", "--fill", 1, "-e", "s=s.npy").out)

    def test_values_are_kept_by_their_names_in_the_file(self):
        g = graph([node("ReLU", "r", "x"), node("ReLU", "s", "r")], outputs={"y": "s"})
        g["originals"] = {"values": {"r": "/re lu"}, "outputs": {"y": "the end"}}
        self.write("g.json", g)
        self.qdq("run", "g.json", "--fill", 1, "--keep", "/re lu,the end", "-o", "/re lu=r.npy", "-o", "the end=y.npy")
        self.assertEqual((self.folder / "r.npy").read_bytes(), (self.folder / "y.npy").read_bytes())
        kept = self.json("plan", "g.json", "--keep", "the end", "--tiles")["values"]
        self.assertIn("s", [one["name"] for one in kept])
        self.assertIn("no value named 'the'", self.qdq("plan", "g.json", "--keep", "the", code=2).err)

    def test_an_onnx_model_may_have_such_names(self):
        write_npy(self.folder / "x.npy", tensor("float32", [4], [-2.0, 0.0, 1.0, 3.0]))
        write_npy(self.folder / "s.npy", tensor("float32", [4], [10.0, 20.0, 30.0, 40.0]))
        orders = {"input": ["d.scale", "x"], "node": ["x", "s"]}
        for kind, inputs in orders.items():
            for after in (False, True):
                with self.subTest(kind=kind, after=after):
                    dynamic = onnx_node("DynamicQuantizeLinear", ["x"], ["d", "scale_of_d", "zero_of_d"])
                    other = onnx_node("Neg", [inputs[0] if kind == "input" else "s"],
                                      ["negative" if kind == "input" else "d.scale"])
                    end = onnx_node("Neg", ["negative" if kind == "input" else "d.scale"], ["z"])
                    nodes = [dynamic, other, end] if after else [other, end, dynamic]
                    self.write("m.onnx", onnx_model(nodes, inputs, ["z", "scale_of_d", "d"]))
                    files = ["-i", "x=x.npy", "-i", f"{'d.scale' if kind == 'input' else 's'}=s.npy"]
                    self.qdq("run", "m.onnx", *files, "-o", "m.safetensors")
                    self.qdq("convert", "m.onnx", "-o", "m.json")
                    self.qdq("run", "m.json", *files, "-o", "j.safetensors")
                    want = {"z": [10.0, 20.0, 30.0, 40.0], "scale_of_d": [unpack(tensor("float32", [1], [5 / 255]))[0]]}
                    for file in ("m.safetensors", "j.safetensors"):
                        got = read_safetensors(self.folder / file)
                        for name, numbers in want.items():
                            self.assertEqual(unpack(got[name]), numbers, (file, name))


if __name__ == "__main__":
    main()
