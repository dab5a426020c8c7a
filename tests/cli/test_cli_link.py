#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq link and qdq open: a graph, options and inputs in a link, and back."""

import base64
import json
import random
import zlib

from harness import Case, Tensor, constant, graph, main, models, node, quantize, read_safetensors, safetensors_bytes, tensor, value

PAIR = graph([quantize("q", scales=0.5, zps=3), node("Dequantize", "back", "q", scales=0.5, zps=3)],
             outputs={"codes": "q", "restored": "back"}, name="pair", target="core")
BUDGET = 8192


def text_of(link):
    """The text of a link, decoded without qdq."""
    fragment = link.strip().partition("#qdq1=")[2]
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4))))


def link_of(text, pack=zlib.compress):
    text = text if isinstance(text, bytes) else json.dumps(text, separators=(",", ":")).encode()
    return "#qdq1=" + base64.urlsafe_b64encode(pack(text)).decode().rstrip("=")


class LinkCase(Case):
    def setUp(self):
        super().setUp()
        self.write("pair.json", PAIR)
        if "no zlib" in self.qdq("link", "pair.json", code=None).err:
            self.skipTest("this build has no zlib")


class Link(LinkCase):
    def link(self, *words):
        return self.qdq("link", *words).out.strip()

    def test_a_link_has_the_graph_and_the_seed(self):
        link = self.link("pair.json", "--fill", "7", "--base", "https://example.org/qdq/")
        self.assertTrue(link.startswith("https://example.org/qdq/#qdq1="))
        text = text_of(link)
        self.assertEqual(list(text), ["format", "command", "fill", "graph"])
        self.assertEqual((text["format"], text["command"], text["fill"]), ("qdq-link/1", "run", "7"))
        self.assertEqual([one["name"] for one in text["graph"]["nodes"]], ["q", "back"])

    def test_a_link_opens_as_the_command(self):
        link = self.link("pair.json", "--targets", "core,onnx", "--fast", "--fill", "7", "--command", "compare")
        out = self.qdq("open", link, "-o", "it's.json").out
        self.assertEqual(out, "qdq compare 'it'\\''s.json' --targets core,onnx --fast --fill 7\n")
        self.assertEqual(self.json("open", link.partition("#")[2], "-o", "b.json"), {
            "version": 1, "graph": "b.json", "inputs": None, "got": None, "left_out": 0,
            "words": ["compare", "b.json", "--targets", "core,onnx", "--fast", "--fill", "7"]})
        self.assertEqual((self.folder / "it's.json").read_bytes(), (self.folder / "b.json").read_bytes())

    def test_every_model_keeps_its_bits(self):
        """All that fits into a link gives the outputs of the model."""
        for folder in models():
            words = ["-i", folder / "inputs.safetensors"] if (folder / "inputs.safetensors").exists() else []
            made = self.qdq("link", folder / "graph.json", *words)
            if " do not fit into " in made.err:
                continue
            self.assertLessEqual(len(made.out), BUDGET)
            opened = self.json("open", made.out.strip(), "-o", "g.json")["words"]
            self.qdq("run", folder / "graph.json", *words, "--fill", "1", "-o", "a.safetensors")
            self.qdq(*opened, "-o", "b.safetensors")
            self.assertEqual(*[(self.folder / f"{file}.safetensors").read_bytes() for file in "ab"], folder.name)

    def test_inputs_keep_nan_and_signs(self):
        x = tensor("float32", [2, 3], [-float("nan"), -0.0, float("inf"), 1e-45, 0.1, -3.4e38])
        self.write("x.safetensors", safetensors_bytes({"x": x}))
        opened = self.json("open", self.link("pair.json", "-i", "x.safetensors"), "-o", "g.json")
        self.assertEqual(opened["words"], ["run", "g.json", "-i", "g.inputs.safetensors"])
        self.assertEqual(read_safetensors(self.folder / "g.inputs.safetensors")["x"], x)

    def test_texts_that_no_reader_takes_are_not_written(self):
        """A million zeros deflate to little, and their base64 is too long before."""
        part = constant("w", "int8", [786300], [])
        part["base64"] = base64.b64encode(bytes(786300)).decode()
        del part["data"]
        self.write("g.json", graph([node("Dequantize", "d", "w", scales=0.5)], [], constants=[part], outputs={"y": "d"}))
        made = self.qdq("link", "g.json")
        self.assertIn("1 constants do not fit", made.err)
        self.qdq("open", made.out.strip(), "-o", "s.json")

    def write_results(self, target):
        """The elements 0.3 * (k + 0.5), ties of `codes`, and the results of a target for them."""
        self.write("t.json", graph([quantize("q", scales=0.3, zps=3, dtype="int8")], [value("x", "float32", (2, 4))], {"codes": "q"}))
        ties = [0.3 * (k + 0.5) for k in (0, 1, 2, 3, 4, 5, 6, 8)]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [2, 4], ties)}))
        self.qdq("run", "t.json", "-i", "x.safetensors", "-t", target, "-o", "got.safetensors", "-o", "codes=codes.npy")

    def test_an_explanation_opens_as_it_was(self):
        """The results of one target, explained by another."""
        self.write_results("onednn")
        for more in (["-i", "x.safetensors", "--got", "got.safetensors"], ["--got", "codes=codes.npy", "--got", "x.safetensors"]):
            wanted = self.qdq("explain", "t.json", "-t", "onnx", *more, code=1)
            self.assertIn("cause: zero-point order at node 'q'", wanted.out)
            link = self.link("t.json", "-t", "onnx", *more)
            self.assertEqual(text_of(link)["command"], "explain")
            opened = self.json("open", link, "-o", "g.json")
            inputs = ["-i", "g.inputs.safetensors"] if "-i" in more else []
            self.assertEqual(opened["words"], ["explain", "g.json", "--target", "onnx", "--got", "g.got.safetensors", *inputs])
            self.assertEqual((opened["got"], opened["inputs"]), ("g.got.safetensors", inputs[1] if inputs else None))
            again = self.qdq(*opened["words"], code=1)
            self.assertEqual(again.out.rpartition("reproduce:")[0], wanted.out.rpartition("reproduce:")[0])

    def test_two_targets_are_explained(self):
        self.write_results("onednn")
        words = ["--targets", "onnx,onednn", "-i", "x.safetensors"]
        opened = self.json("open", self.link("t.json", "--command", "bisect", *words), "-o", "g.json")["words"]
        self.assertEqual(opened, ["bisect", "g.json", "--targets", "onnx,onednn", "-i", "g.inputs.safetensors"])
        first, second = (self.qdq(*one, code=1).out.rpartition("reproduce:")[0] for one in (opened, ["bisect", "t.json", *words]))
        self.assertEqual(first, second)
        self.assertIn("cause: zero-point order", first)

    def test_an_explanation_is_in_the_link_as_a_whole(self):
        self.write_results("onnx")
        self.write("large.safetensors", safetensors_bytes({"codes": Tensor("int8", [2, 4], bytes(8)),
                                                           "q": Tensor("int8", [100, 120], random.Random(3).randbytes(12000))}))
        for words, code, text in [
            (["--command", "explain"], 2, "explain needs --got"),
            (["--command", "run", "--got", "got.safetensors"], 2, "run takes no --got"),
            (["--targets", "core,onnx", "--got", "got.safetensors"], 2, "compare takes no --got"),
            (["--got", "got.safetensors", "--fast"], 2, "explain takes no --fast"),
            (["--got", "codes.npy"], 2, "codes.npy: has an array without a name, wanted NAME=FILE"),
            (["--got", "got.safetensors", "--got", "got.safetensors"], 2, "got.safetensors: 'codes' is given twice"),
            (["--got", "q=got.safetensors#y"], 3, "got.safetensors: has no array 'y'"),
            (["--got", "none.npz"], 3, "none.npz: "),
            (["--got", "large.safetensors"], 5, "the nodes, inputs and results of the graph take "),
        ]:
            self.assertIn(text, self.qdq("link", "t.json", *words, code=code).err)
        self.write("too_large.safetensors", safetensors_bytes({"q": Tensor("int8", [1 << 21], bytes(1 << 21))}))
        self.assertIn("'q' is too large for a link", self.qdq("link", "t.json", "--got", "too_large.safetensors", code=5).err)

    def test_large_constants_are_left_out(self):
        chosen = random.Random(1)
        values = [chosen.random() for _ in range(4096)]
        parts = [constant("w", "float32", [64, 64], values), constant("s", "float32", [], [0.5])]
        matmul = {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "w"}}
        self.write("g.json", graph([matmul, quantize("q", "m", ports={"scale": "s"})],
                                   [value("x", shape=(2, 64))], constants=parts))
        made = self.qdq("link", "g.json")
        self.assertIn("1 constants do not fit into 8192 characters and are inputs, filled from seed 1", made.err)
        opened = self.qdq("open", made.out.strip(), "-o", "s.json")
        self.assertEqual(opened.out, "qdq run s.json --fill 1\n")
        self.assertIn("1 constants are left out and are inputs", opened.err)
        text = json.loads((self.folder / "s.json").read_text())
        self.assertEqual([one["name"] for one in text["inputs"]], ["x", "w"])
        self.assertEqual([one["name"] for one in text["constants"]], ["s"])
        self.qdq("run", "s.json", "--fill", "1")

    def test_a_large_constant_is_in_the_link(self):
        """Beyond 4,096 elements as base64, which deflates to what fits."""
        values = [(i * i >> 4) % 4 for i in range(128 * 64)]
        part = constant("w", "int8", [128, 64], [])
        part["base64"] = base64.b64encode(bytes(values)).decode()
        del part["data"]
        nodes = [node("Dequantize", "d", "w", scales=0.5), {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "d"}}]
        self.write("g.json", graph(nodes, [value("x", shape=(2, 128), dtype="bfloat16")], constants=[part], outputs={"y": "m"}))
        made = self.qdq("link", "g.json", "--fill", "3")
        self.assertEqual(made.err, "")
        self.assertLessEqual(len(made.out), BUDGET)
        self.assertEqual(text_of(made.out)["graph"]["constants"], [part])
        opened = self.json("open", made.out.strip(), "-o", "s.json")["words"]
        self.assertFalse((self.folder / "s.safetensors").exists())
        for words, file in ((["run", "g.json", "--fill", "3"], "a"), (opened, "b")):
            self.qdq(*words, "-o", f"{file}.safetensors")
        self.assertEqual(*[(self.folder / f"{file}.safetensors").read_bytes() for file in "ab"])

    def test_a_structure_that_is_too_long_is_refused(self):
        nodes = [quantize(f"{i * 2654435761 % 2 ** 32:x}" * 5, "x", scales=0.5) for i in range(1000)]
        self.write("g.json", graph(nodes, outputs={"y": nodes[-1]["name"]}))
        self.assertIn("the structure of the graph takes ", self.qdq("link", "g.json", code=5).err)

    def test_wrong_options_are_refused(self):
        for words, code, text in [
            (["--command", "bench"], 2, "wanted run, check, compare, explain, bisect or plan"),
            (["--command", "compare", "-t", "ort"], 2, "compare takes --targets"),
            (["--targets", "core,$(id)"], 2, "wanted letters, digits"),
            (["-t", "--help"], 2, "wanted letters, digits"),
            (["--fill", "x"], 2, "--fill"),
            (["--base", "a b"], 2, "wanted the address of the page"),
        ]:
            self.assertIn(text, self.qdq("link", "pair.json", *words, code=code).err)


class Hostile(LinkCase):
    def refuse(self, link, text, code=3):
        result = self.qdq("open", link, "-o", "g.json", code=code)
        self.assertRegex(result.err, r"\Aqdq: [^\n]*\n\Z")
        self.assertIn(text, result.err)
        self.assertFalse((self.folder / "g.json").exists())

    def good(self, **more):
        return {"format": "qdq-link/1", "command": "run", "graph": PAIR, **more}

    def test_damaged_links(self):
        link = link_of(self.good())
        self.qdq("open", link, "-o", "ok.json")
        for bad in ("", "#", "pair.json", "#qdq2=abcd", "#qdq1=" + "A" * 70000):
            self.refuse(bad or "x", "has no fragment")
        for bad in (link[:-9], link[:-1] + "!", link + "AAAA", link.replace("#qdq1=", "#qdq1=AA"), "#qdq1=", "#qdq1=A"):
            self.refuse(bad, "damaged or cut off")
        for bad in (b"\0", b"", bytes(1 << 21), b'{"format":"qdq-link/1"}\0{}'):
            self.refuse(link_of(bad), "")

    def test_a_bomb_takes_little_memory(self):
        bomb = link_of(b"[" * 40_000_000)
        self.refuse(bomb, "damaged or cut off")
        self.assertLess(self.peak_mib("open", bomb, "-o", "g.json"), 64)

    def test_other_texts(self):
        for text in (b"{}", b"[]", b'{"format":"qdq/1"}', b'{ "format":"qdq-link/1"}', b"x", b'{"', b'{"a":"'):
            self.refuse(link_of(text), "not of the format qdq-link/1")
        for key, wrong in [("output", "x"), ("command", ""), ("command", 1), ("target", "-o"), ("target", "a b"),
                           ("target", "\u00e9"), ("targets", "x" * 2000), ("fast", False), ("left_out", -1),
                           ("left_out", 10 ** 9), ("graph", []), ("inputs", {}), ("fill", "1\n")]:
            self.refuse(link_of({**self.good(), key: wrong}), "is unknown, given twice or has a wrong value")
        twice = json.dumps(self.good(), separators=(",", ":"))[:-1] + ',"command":"plan"}'
        self.refuse(link_of(twice.encode()), "given twice")
        for wrong in (self.good(command="bench"), self.good(fill="x"), self.good(command="explain"), self.good(got="AA"), {"format": "qdq-link/1", "command": "run"}):
            self.refuse(link_of(wrong), "the link has no graph, no command")
        self.refuse(link_of(json.dumps(self.good(), separators=(",", ":")).encode() + b"x"), "behind its end")

    def test_graphs_are_checked_as_files_are(self):
        self.refuse(link_of(self.good(graph={"format": "qdq/2"})), "the graph of the link")
        deep = b'{"format":"qdq-link/1","command":"run","graph":{"a":' + b"[" * 100000 + b"]" * 100000 + b"}}"
        self.refuse(link_of(deep), "the graph of the link")
        named = [{"name": "w", "dtype": "int8", "shape": [2], "file": "secret.safetensors", "tensor": "w"}]
        result = self.qdq("open", link_of(self.good(graph={**PAIR, "constants": named})), "-o", "g.json", code=None)
        self.assertGreater(result.code, 2)
        for inputs, text in [("AAAA", "h.inputs.safetensors"), ("A", "not in base64url"), ("+/==", "not in base64url")]:
            self.assertIn(text, self.qdq("open", link_of(self.good(inputs=inputs)), "-o", "h.json", code=3).err)


if __name__ == "__main__":
    main()
