#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node has any number of inputs, and a graph any number of outputs: the same bits, findings at the node that the
user wrote, and memory and time for each input or output once. A call that takes longer than harness.TIMEOUT fails."""

import itertools
import json
import os
import re
import resource
import threading
import zipfile

from harness import (Case, Tensor, graph, main, node, npy_bytes, pack, read_safetensors, safetensors_bytes, tensor,
                     value)  # fmt: skip

from test_cli_names import field, onnx_node, onnx_value

COUNTS = (11, 65, 200)  # an op's view of a node has room for the first 10
MODES = ([], ["--tiles"], ["--materialize"], ["--fast"], ["--target", "ort"])


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))


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
        for command in (["check"], ["plan", "--tiles"], ["plan", "--target", "ort"]):
            self.assertLess(self.peak_mib(command[0], "g.json", *command[1:]), 200, command)


class Files(Case):
    """A file that holds all inputs or outputs is listed once: listing it for each of them took minutes."""

    COUNT = 6000

    def write_graph(self, names):
        inputs = [value(name, "float32", [1]) for name in names]
        self.write("g.json", graph([concat(names, 0)], inputs, {**{f"y_{x}": x for x in names[:-1]}, "c": "c"}))

    def test_the_inputs_and_outputs_of_a_graph_lie_in_one_file(self):
        names = [f"x{i}" for i in range(self.COUNT)]
        self.write_graph(names)
        parts = {name: tensor("float32", [1], [i]) for i, name in enumerate(names)}
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes(parts))
        with zipfile.ZipFile(self.folder / "x.npz", "w") as archive:
            for name, one in reversed(parts.items()):
                archive.writestr(name + ".npy", npy_bytes("<f4", [1], one.data))
        expected = pack("float32", range(self.COUNT))
        for name in ("x.safetensors", "x.npz"):
            self.qdq("run", "g.json", "-i", name, "-o", "y.safetensors")
            got = read_safetensors(self.folder / "y.safetensors")
            self.assertEqual(got["c"].data, expected, name)
            self.assertEqual(got["y_x7"], parts["x7"], name)
            self.qdq("run", "g.json", "-i", name, "-e", "y.safetensors")
            self.qdq("run", "g.json", "-i", f"x7={name}", "-i", name, "-e", "y.safetensors")

    def test_a_file_for_some_inputs_and_a_file_for_others(self):
        names = ["a", "b", "c0", "d"]
        self.write_graph(names)
        own = {name: tensor("float32", [1], [i]) for i, name in enumerate(names)}
        (self.folder / "abc.safetensors").write_bytes(safetensors_bytes({x: own[x] for x in ("a", "b", "c0")}))
        (self.folder / "ac.safetensors").write_bytes(safetensors_bytes({x: own[x] for x in ("a", "c0")}))
        (self.folder / "d.npz").write_bytes(b"")
        other = {x: tensor("float32", [1], [10 + i]) for i, x in enumerate(("b", "d"))}
        (self.folder / "bd.safetensors").write_bytes(safetensors_bytes(other))
        for words, numbers in ((["ac", "bd"], [0, 10, 2, 11]), (["bd", "ac"], [0, 10, 2, 11]),
                               (["b=abc", "bd", "ac"], [0, 1, 2, 11]), (["ac", "bd", "b=abc"], [0, 1, 2, 11]),
                               (["a=abc", "c0=abc", "bd"], [0, 10, 2, 11])):  # fmt: skip
            given = [word for one in words for word in ("-i", one + ".safetensors")]
            self.qdq("run", "g.json", *given, "-o", "c=c.safetensors")
            self.assertEqual(read_safetensors(self.folder / "c.safetensors")["c"].data, pack("float32", numbers))
        for first, second in (("abc", "bd"), ("bd", "abc")):
            err = self.qdq("run", "g.json", "-i", f"{first}.safetensors", "-i", f"{second}.safetensors", code=2).err
            self.assertEqual(err, f"qdq: input 'b' is given twice: {first}.safetensors and {second}.safetensors\n")
        err = self.qdq("run", "g.json", "-i", "bd.safetensors", code=2).err
        self.assertEqual(err, "qdq: input 'a' is not given; add -i a=FILE, or --fill SEED\n")
        err = self.qdq("run", "g.json", "-i", "a=bd.safetensors", "-i", "a=abc.safetensors", code=2).err
        self.assertEqual(err, "qdq: input 'a' is given twice: bd.safetensors and abc.safetensors\n")

    def test_inputs_come_from_any_number_of_named_pipes(self):
        names = [f"x{i}" for i in range(80)]
        self.write_graph(names)
        for name in names:
            os.mkfifo(self.folder / name)

        def give():
            for i, name in enumerate(names):
                (self.folder / name).write_bytes(npy_bytes("<f4", [1], pack("float32", [i])))

        writer = threading.Thread(target=give, daemon=True)
        writer.start()
        self.qdq("run", "g.json", *(word for name in names for word in ("-i", f"{name}={name}")), "-o", "y.safetensors")
        writer.join()
        got = read_safetensors(self.folder / "y.safetensors")
        self.assertEqual(got["c"].data, pack("float32", range(len(names))))

    def test_constants_lie_in_any_number_of_files(self):
        count, side = 300, 5000  # constants of more than 4,096 elements stay in their files
        numbers = bytes(4 * side)
        nodes, constants = [], []
        for i in range(count):
            (self.folder / f"k{i}.safetensors").write_bytes(
                safetensors_bytes({"k": Tensor("float32", [side], pack("float32", [i]) + numbers[4:])}))
            constants.append({**value(f"k{i}", "float32", [side]), "file": f"k{i}.safetensors", "tensor": "k"})
            nodes.append({"op": "Add", "name": f"a{i}", "inputs": {"a": f"a{i - 1}" if i else "x", "b": f"k{i}"}})
        self.write("g.json", graph(nodes, [value("x", "float32", [side])], {"y": nodes[-1]["name"]}, constants=constants))
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": Tensor("float32", [side], numbers)}))
        self.qdq("check", "g.json", "--target", "all")
        self.qdq("run", "g.json", "-i", "x.safetensors", "-o", "y.safetensors")
        y = read_safetensors(self.folder / "y.safetensors")["y"].data
        self.assertEqual(y[:8], pack("float32", [count * (count - 1) / 2, 0]))
        err = self.qdq("run", "g.json", "--fill", 1, code=3, preexec_fn=few_files).err
        self.assertRegex(err, r"k\d+\.safetensors' cannot be opened: Too many open files\n\Z")

    def test_a_model_has_external_data_in_any_number_of_files(self):
        """torch.onnx writes a file for each tensor of a large model."""
        count, side, body = 300, 5000, b""
        for i in range(count):
            (self.folder / f"w{i}").write_bytes(pack("float32", [i]) + bytes(4 * side - 4))
            place = field(13, field(1, "location") + field(2, f"w{i}"))
            body += field(1, onnx_node("Add", [f"a{i - 1}" if i else "x", f"k{i}"], [f"a{i}"]))
            body += field(5, field(1, side) + field(2, 1) + field(8, f"k{i}") + place + field(14, 1))
        body += field(2, "sums") + field(11, onnx_value("x", [side])) + field(12, field(1, f"a{count - 1}"))
        self.write("m.onnx", field(1, 8) + field(7, body) + field(8, field(2, 13)))
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": Tensor("float32", [side], bytes(4 * side))}))
        self.qdq("run", "m.onnx", "-i", "x.safetensors", "-o", "y.safetensors")
        y = read_safetensors(self.folder / "y.safetensors")[f"a{count - 1}"].data
        self.assertEqual(y[:8], pack("float32", [count * (count - 1) / 2, 0]))

    def test_a_file_of_many_constants_is_held_open_once(self):
        """A target's rewriting copied the graph, and opened the file again for each constant."""
        count, side = 200, 5000
        parts = {f"k{i}": Tensor("float32", [side], bytes(4 * side)) for i in range(count)}
        (self.folder / "k.safetensors").write_bytes(safetensors_bytes(parts))
        constants = [{**value(k, "float32", [side]), "file": "k.safetensors", "tensor": k} for k in parts]
        nodes = [{"op": "Add", "name": f"a{i}", "inputs": {"a": f"a{i - 1}" if i else "x", "b": f"k{i}"}}
                 for i in range(count)]  # fmt: skip
        self.write("g.json", graph(nodes, [value("x", "float32", [side])], {"y": nodes[-1]["name"]}, constants=constants))
        self.qdq("check", "g.json", "--target", "all", preexec_fn=few_files)
        for target in ("onednn", "tensorrt", "ort"):
            self.qdq("run", "g.json", "--fill", 1, "--target", target, preexec_fn=few_files)

    def test_an_emitted_function_has_a_parameter_for_each(self):
        """Names that C writes alike get numbers in their order."""
        marks = itertools.product("!$%&*+-/:;<>?@^|~", repeat=3)
        names = ["".join(one) for one in itertools.islice(marks, 4000)] + [f"p{i}" for i in range(4000)] + ["P7"]
        self.write_graph(names)
        self.qdq("plan", "g.json", "--emit-c", "g.c")
        text = (self.folder / "g.c").read_text()
        parameters = re.search(r"\nvoid qdq_run\((.*?)\)", text).group(1)
        found = re.findall(r"\*(\w+)(?:,|$)", parameters)
        self.assertEqual(len(found), len(set(map(str.upper, found))))
        self.assertEqual(found[1:3] + found[3999:4002], ["x_____2", "x_____3", "x_____4000", "p0", "p1"])
        self.assertIn("P7_2", found)


class Outputs(Case):
    def test_many_outputs_are_checked_in_memory_for_each_once(self):
        """Each buffer of a device held two configs of 16 core ranges, and a record of it that nothing read."""
        nodes = [node("ReLU", f"r{i}", "x") for i in range(50_000)]
        outputs = {f"y{i}": one["name"] for i, one in enumerate(nodes)}
        self.write("g.json", graph(nodes, [value("x", "float32", [4])], outputs))
        self.assertLess(self.peak_mib("check", "g.json", "--target", "all"), 300)  # sanitizers take 265


if __name__ == "__main__":
    main()
