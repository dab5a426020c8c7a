#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Malicious files give an error in bounded time and memory, and qdq reads nothing outside the
graph's folder. A call that takes longer than harness.TIMEOUT fails."""

import os

from harness import (Case, Tensor, constant, graph, identity, main, quantize, requantize,
                     safetensors_bytes, tensor, value, write_npy)

INT8 = value("x", "int8", [2])
MIB = 1 << 20


class Shapes(Case):
    def test_ranks(self):
        self.assertEqual(self.check(identity("int8", [1] * 8), code=0), [])
        self.assert_finding(identity("int8", [1] * 9), "core/shape", "rank 9")
        self.assert_finding(identity("int8", [1] * 100000), "core/shape", "rank 100000")

    def test_dims(self):
        for shape in ([0], [-1], [2, 0, 2], [-2**31], [-2**53], [0] * 8):
            self.assert_finding(identity("int8", shape), "core/shape", str(shape))
        for dim in (1e300, -1e300, 2.0**64, 0.5):
            self.assert_refused(identity("int8", [dim]), "inputs[0].shape[0]")

    def test_elements_are_capped(self):
        for shape in ([2**31 + 1], [2**53], [2**32, 2**32], [2**53] * 8, [65536, 32769]):
            self.assert_finding(identity("int8", shape), "core/size", "2147483648 elements")
            for name in ("run", "plan", "bench"):
                self.qdq(name, "g.json", code=5)
        self.assertEqual(self.check(identity("int8", [65536, 32768]), code=0), [])

    def test_bytes_are_capped_and_reported_once(self):
        content = graph(inputs=[value(f"x{i}", "float32", [32768, 32768]) for i in range(9)],
                        outputs={f"y{i}": f"x{i}" for i in range(9)})
        findings = self.check(content, code=1)
        self.assertEqual([(f["rule"], f["node"]) for f in findings], [("core/size", "x2")])
        self.assertIn(str(12 << 30), findings[0]["message"])

    def test_padding_that_is_not_stored_does_not_count(self):
        content = identity("int8", [2**31, 1])
        self.assertEqual(self.check(content, code=0), [])
        self.qdq("plan", "g.json")
        self.assertIn("arena 68719476736", self.qdq("plan", "g.json", "-m", code=5).err)

    def test_caps_can_be_raised_and_lowered(self):
        content = identity("int8", [65536, 65536])
        self.check(content, "--max-elements", 2**32, code=0)
        self.check(content, "--max-elements", 2**32, "--max-bytes", 2**31, code=1)
        content = identity("int8", [65536, 2**20])
        self.check(content, "--max-elements", 2**40, code=1)
        self.check(content, "--max-elements", 2**40, "--max-bytes", 2**40, code=0)
        self.check(identity("int8", [3]), "--max-elements", "2", code=1)
        self.check(identity("int8", [3]), "--max-elements", "3", code=0)

    def test_declaring_much_takes_little(self):
        self.write("g.json", graph(constants=[constant("c", "int8", [65536, 32768], [1])],
                                   inputs=[], outputs={"y": "c"}))
        self.assertLess(self.peak_mib("check", "g.json"), 512)
        self.write("g.json", identity("int8", [65536, 32768]))
        self.assertLess(self.peak_mib("check", "g.json"), 512)
        self.assertLess(self.peak_mib("plan", "g.json"), 512)


class ManyThings(Case):
    def chain(self, count):
        return [requantize(f"n{i}", f"n{i - 1}" if i else "x") for i in range(count)]

    def test_a_chain_of_20000_nodes_in_any_order(self):
        nodes = self.chain(20000)
        outputs = {"y": "n19999"}
        for order in (nodes, nodes[::-1], nodes[1::2] + nodes[::2]):
            self.assertEqual(self.check(graph(order, [INT8], outputs), code=0), [])
        write_npy(self.folder / "x.npy", tensor("int8", [2], [7, -7]))
        for more in ([], ["--materialize"]):
            self.qdq("plan", "g.json", *more)
            out = self.qdq("run", "g.json", "-i", "x=x.npy", *more).out
            self.assertTrue(out.endswith("\n  7 -7\n"), out)

    def test_cycles_name_their_members(self):
        for count in (1, 2, 3):
            names = [f"n{i}" for i in range(count)]
            nodes = [requantize(name, names[(i + 1) % count]) for i, name in enumerate(names)]
            (found,) = self.check(graph(nodes, [], {name: name for name in names}))
            self.assertEqual(found["rule"], "core/cycle")
            for name in names:
                self.assertIn(f"'{name}'", found["message"])
            for name in ("run", "plan"):
                self.qdq(name, "g.json", code=3)

    def test_a_node_of_a_cycle_is_used(self):
        found = self.check(graph([requantize("a", "b"), requantize("b", "a")], [], {"y": "b"}))
        self.assertEqual([one["rule"] for one in found], ["core/cycle"])

    def test_a_cycle_through_ports(self):
        nodes = [requantize("a", "x", {"in_scale": "b"}), requantize("b", "a.y")]
        found = self.check(graph(nodes, [INT8], {"a": "a", "b": "b"}))
        self.assertIn("core/cycle", [one["rule"] for one in found])

    def test_a_cycle_of_10000_nodes(self):
        nodes = [requantize(f"n{i}", f"n{(i + 1) % 10000}") for i in range(10000)]
        (found,) = self.check(graph(nodes, [], {"y": "n0"}))
        self.assertEqual(found["rule"], "core/cycle")
        self.assertLess(len(found["message"]), 1024)
        self.assertIn("'n1'", found["message"])
        # The message must say that nodes of the cycle are left out. n49 does not need n0.
        self.assertRegex(found["message"], r"\.\.\.|\b10000\b|more")

    def test_many_cycles(self):
        ports = {"in_scale": "n0", "in_zero_point": "n0", "out_scale": "n0", "out_zero_point": "n0"}
        nodes = [{"op": "Requantize", "name": f"n{i}", "inputs": {"x": f"n{i + 1}", **ports}}
                 for i in range(20000)]
        self.check(graph(nodes, [], {"y": "n0"}))

    def test_many_findings_are_kept_to_some(self):
        content = graph([quantize(scales=1, **{f"quant_{i}": 1 for i in range(120000)})])
        found = self.json("check", self.write("g.json", content), code=1)
        self.assertEqual(found["errors"], 120000)
        self.assertEqual(len(found["findings"]), 100000)
        lines = self.qdq("check", "g.json", code=1).out.splitlines()
        self.assertIn("(100000 times at 1 node: 'q')", lines[0])
        self.assertEqual(lines[1], "and 20000 more")
        self.assertLess(self.peak_mib("check", "g.json"), 512)

    def test_many_outputs(self):
        content = graph(inputs=[INT8], outputs={f"y{i}": "x" for i in range(300000)})
        self.check(content, code=0)

    def test_many_misspelled_names(self):
        inputs = [value("a" * 60 + f"{i:04}", "int8", [1]) for i in range(1000)]
        nodes = [quantize(f"n{i}", "b" * 64, scales=1) for i in range(20000)]
        self.check(graph(nodes, inputs, {"y": "n0"}))

    def test_many_unknown_attributes(self):
        content = graph([quantize(scales=1, **{f"quant_{i}": 1 for i in range(300000)})])
        self.check(content)

    def test_many_constants_of_files_in_turn(self):
        one = tensor("int8", [1], [1])
        for name in ("a", "b"):
            self.write(f"{name}.safetensors",
                       safetensors_bytes({f"t{i}": one for i in range(20000)}))
        constants = [{**value(f"c{i}", "int8", [1]), "file": "ab"[i % 2] + ".safetensors",
                      "tensor": "t0"} for i in range(4000)]
        self.check(graph(constants=constants, inputs=[], outputs={"y": "c0"}), code=None)

    def test_json_values_are_capped(self):
        content = graph([quantize(scales=1)], **{"x-data": [0] * 1000000})
        self.assert_refused(content, "1000000 values", code=5)
        self.assertEqual(self.check(content, "--max-values", "2000000", code=0), [])
        self.check(graph([quantize(scales=1)]), "--max-values", "100", code=0)
        self.assertIn("10 values", self.qdq("check", "g.json", "--max-values", "10", code=5).err)

    def test_a_file_of_70_mb(self):
        path = self.folder / "g.json"
        self.write("g.json", identity("int8", [1]))
        with open(path, "ab") as file:
            file.write(b" " * (70 * 1000 * 1000))
        err = self.qdq("check", "g.json", code=5).err
        self.assertIn("67108864", err)
        self.qdq("run", "g.json", "--fill", "1", code=5)
        self.qdq("check", "g.json", "--max-file-bytes", "80000000")

    def test_a_sparse_file_of_a_terabyte(self):
        self.write("g.json", b"")
        os.truncate(self.folder / "g.json", 1 << 40)
        self.qdq("check", "g.json", code=5)
        self.assertLess(self.peak_mib("check", "g.json"), 128)


class ConstantFiles(Case):
    """A constant's file must lie below the graph's folder."""

    def setUp(self):
        super().setUp()
        self.good = safetensors_bytes({"t": tensor("int8", [2], [1, 2])})
        os.mkdir(self.folder / "in")
        os.mkdir(self.folder / "in/deep")
        for name in ("out", "in/good", "in/deep/good"):
            self.write(f"{name}.safetensors", self.good)

    def content(self, file, dtype="int8", shape=(2,), name="t"):
        one = {**value("c", dtype, shape), "file": file, "tensor": name}
        return graph(constants=[one], inputs=[], outputs={"y": "c"})

    def refused(self, file, *texts, code=3, **more):
        self.write("in/g.json", self.content(file, **more))
        result = self.qdq("check", "in/g.json", code=code)
        self.assertEqual(result.out, "")
        for text in ("in/g.json", *texts):
            self.assertIn(text, result.err)

    def test_paths_within(self):
        for file in ("good.safetensors", "deep/good.safetensors"):
            self.write("in/g.json", self.content(file))
            self.assertEqual(self.json("run", "in/g.json")["outputs"][0]["first"], [1, 2])
            for words in (["in/../in/g.json"], [self.folder / "in/g.json"]):
                self.qdq("check", *words)

    def test_paths_that_lead_out(self):
        for file in ("../out.safetensors", "deep/../../out.safetensors", "deep/../good.safetensors",
                     "./good.safetensors", "deep//good.safetensors", "", "/", "deep/", "..", ".",
                     str(self.folder / "in/good.safetensors"), "/etc/passwd", "a" * 256):
            self.refused(file, "path" if len(file) < 256 else "256")

    def test_links(self):
        os.symlink("../out.safetensors", self.folder / "in/link.safetensors")
        os.symlink("good.safetensors", self.folder / "in/inner.safetensors")
        os.symlink("..", self.folder / "in/up")
        for file in ("link.safetensors", "inner.safetensors", "up/out.safetensors"):
            self.refused(file, "link")

    def test_paths_that_are_no_files(self):
        os.mkfifo(self.folder / "in/pipe.safetensors")
        os.mkdir(self.folder / "in/folder.safetensors")
        for file in ("pipe.safetensors", "folder.safetensors", "nowhere.safetensors",
                     "good.safetensors/more", "nowhere/good.safetensors"):
            self.refused(file)

    def test_the_constant_is_named(self):
        self.refused("nowhere.safetensors", "constants[0]")

    def test_tensors_that_do_not_fit(self):
        self.refused("good.safetensors", "'u'", name="u")
        self.refused("good.safetensors", "I8", "U8", dtype="uint8")
        self.refused("good.safetensors", "shape", shape=[3])
        self.refused("good.safetensors", "shape", shape=[1, 2])

    def test_broken_safetensors(self):
        good, header = self.good, self.good[8:-2]
        def sized(text, data=b"\1\2"):
            return len(text).to_bytes(8, "little") + text + data

        for content in (b"", good[:7], good[:8], good[:20], good[:-1], good + b"\0",
                        b"\xff" * 8, b"\xff" * 8 + header, (2**40).to_bytes(8, "little") + header,
                        sized(b""), sized(b"[]"), sized(b"{}"), sized(b"{"), sized(b"\0" * 8),
                        sized(header.replace(b"[0, 2]", b"[0, 3]")),
                        sized(header.replace(b"[0, 2]", b"[1, 2]")),
                        sized(header.replace(b"[0, 2]", b"[2, 0]")),
                        sized(header.replace(b"[0, 2]", b"[-1, 1]")),
                        sized(header.replace(b"[0, 2]", b"[0, 1e400]")),
                        sized(header.replace(b"[0, 2]", b"[0.5, 2.5]")),
                        sized(header.replace(b"[0, 2]", b"0")),
                        sized(header.replace(b"[2]", b"[18446744073709551618]")),
                        sized(header.replace(b"[2]", b"[-2]")),
                        sized(header.replace(b'"I8"', b"5")),
                        sized(header[:-1] + b"," + header[1:]),
                        sized(b"[" * 100000), sized(header.replace(b'"t"', b'"\xff"'))):
            self.write("in/good.safetensors", content)
            self.refused("good.safetensors", "good.safetensors")

    def test_a_huge_header_is_not_believed(self):
        self.write("in/good.safetensors", (90 * MIB).to_bytes(8, "little") + b"{}")
        self.refused("good.safetensors")
        self.assertLess(self.peak_mib("check", "in/g.json"), 64)

    def test_an_unknown_dtype(self):
        content = safetensors_bytes({"t": Tensor("F64", [1], bytes(8))})
        self.write("in/good.safetensors", content)
        self.refused("good.safetensors", "F64", dtype="float32", shape=[1], code=None)


class Names(Case):
    def one_node(self, name):
        return graph([quantize(name, scales=0.5, zps=300)], outputs={name: name})

    def test_json_gives_them_back(self):
        for name in ("a.b", 'a"b', "a\\b", "größe", "日本", "\u2028", "🙂",
                     "n" * 255, "é" * 127, "%s%n", "a.", ".a", "..", " "):
            (found,) = self.check(self.one_node(name), code=0)
            self.assertEqual(found["node"], name)
            names = [one["name"] for one in self.json("plan", "g.json", "-m")["values"]]
            self.assertEqual(names, ["x", name])
            self.qdq("check", "g.json", "--target", "all", code=1)
            self.qdq("plan", "g.json", "-m", "--map")

    def test_control_characters_are_refused_and_do_not_reach_the_terminal(self):
        forged = "q\nerror: g.json: all is lost [core/shape]"
        for name in (forged, "\x1b[31mred", "a\rb", "a\tb", "\x07", "\x7f", "\u009b31m"):
            self.write("g.json", self.one_node(name))
            for words, code in ((["check", "g.json"], 1), (["run", "g.json", "--fill", "1"], 3),
                                (["plan", "g.json", "-m"], 3)):
                result = self.qdq(*words, code=code)
                text = result.out + result.err
                self.assertNotIn(name, text)
                self.assertIn("control character", text)
                for line in text.splitlines():
                    self.assertNotRegex(line, r"^error: g.json: all is lost")

    def test_long_names_are_cut_between_characters(self):
        for name in ("é" * 200, "aé" * 100, "日" * 200, "🙂" * 100, "a" + "🙂" * 100):
            for content in (graph([quantize(x=name, scales=1)]),
                            graph([{"op": name, "name": "q", "inputs": {"x": "x"}}]),
                            graph([quantize(scales=1, **{name: 1})]),
                            graph([quantize(ports={name: "x"}, scales=1)]),
                            graph([quantize(scales=1, dtype=name)]),
                            graph([quantize(scales=1, qtype=name)]),
                            graph([quantize(name, scales=1)]),
                            graph(outputs={name: "x", "y": name})):
                self.check(content, code=None)
                self.qdq("check", "g.json", code=None)  # fails unless the output is UTF-8
            for content in ({name: 1}, {**graph(), "format": name}, {**graph(), "target": name},
                            graph(inputs=[{**INT8, name: 1}])):
                self.assert_refused(content)

    def test_the_name_of_the_file_may_be_anything(self):
        for name in ("a b.json", "größe.json", "%s%n.json", "-.json", "a\nb.json"):
            self.write(name, identity("int8", [0]))
            out = self.qdq("check", "--", name, code=1).out
            self.assertEqual(self.json("check", f"./{name}", code=1)["graph"], f"./{name}")
            self.assertIn(name, out)


if __name__ == "__main__":
    main()
