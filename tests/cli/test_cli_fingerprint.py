#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq fingerprint: its parts as docs/command_line.md defines them, computed again with hashlib; what changes them, and what
does not."""

import hashlib
import struct
from pathlib import Path

import harness
from harness import Case, constant, graph, main, node, quantize, read_safetensors, value

PARTS = ["graph", "target", "numerics", "outputs"]


# ---- What is hashed ----


def number(n):
    return struct.pack("<Q", n & 2**64 - 1)


def double(x):
    return struct.pack("<d", x)


def text(word):
    return number(len(word.encode())) + word.encode()


def typed(dtype, shape):
    return text(dtype) + number(len(shape)) + b"".join(map(number, shape))


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def result(*parts):
    return digest(text("result"), number(0), digest(text("node"), *parts))


def shown(hashed):
    return hashed[:8].hex()


# A graph with a constant scale, an attribute and a port that is not connected, and its hashes by hand.
SAMPLE = graph([quantize("q", dtype="int8", ports={"scale": "s"}), node("Exp", "e", "x")],
               constants=[constant("s", "float32", [], 0.25)], outputs={"z": "e", "y": "q"})


def sample_graph():
    x = digest(text("input"), typed("float32", [2, 3]), text("x"))
    s = digest(text("constant"), typed("float32", []), struct.pack("<f", 0.25))
    q = result(text("Quantize"), text("dtype"), text("int8"), number(3), x, s, bytes(32))
    e = result(text("Exp"), number(1), x)
    return digest(text("inputs"), number(1), text("x"), x, text("outputs"), number(2), text("y"), q, text("z"), e)


def sample_numerics(rounding=None):
    """Exp has no numerics for any target but onnx; of Quantize the given field."""
    x, s = digest(text("input"), text("float32")), digest(text("constant"), text("float32"))
    q = result(text("Quantize"), *(text(name) + number(n) for name, n in (rounding or {}).items()),
               number(3), x, s, bytes(32))
    e = result(text("Exp"), number(1), x)
    return digest(text("inputs"), number(0), text("outputs"), number(2), q, e)


class Fingerprint(Case):
    def parts(self, content, *words, code=0):
        return self.json("fingerprint", self.write("g.json", content), *words, code=code)["parts"]

    def test_the_graph_is_hashed_as_documented(self):
        self.assertEqual(self.parts(SAMPLE)["graph"], shown(sample_graph()))

    def test_the_target_is_hashed_by_its_full_name(self):
        for name, full in (("core", "core"), ("ort", "ort@1.32-vnni"),
                           ("ort@1.31-avx2:level=basic", "ort@1.31-avx2:level=basic"),
                           ("ort:level=all", "ort@1.32-vnni")):
            self.assertEqual(self.parts(SAMPLE, "--target", name)["target"], shown(digest(text(full))))

    def test_numerics_are_hashed_by_the_fields_that_are_not_zero(self):
        self.assertEqual(self.parts(SAMPLE)["numerics"], shown(sample_numerics()))
        self.assertEqual(self.parts(SAMPLE, "--target", "tensorrt")["numerics"], shown(sample_numerics()))
        self.assertNotEqual(self.parts(SAMPLE, "--target", "torchao")["numerics"], shown(sample_numerics()))

    def test_outputs_are_hashed_by_name_as_run_writes_them(self):
        self.write("g.json", SAMPLE)
        self.qdq("run", "g.json", "--fill", "7", "-o", "y.safetensors")
        hashed = b"".join(text(name) + typed(one.dtype, one.shape) + one.data for name, one in
                          sorted(read_safetensors(self.folder / "y.safetensors").items()))
        self.assertEqual(self.parts(SAMPLE, "--seed", "7")["outputs"], shown(digest(hashed)))

    def test_the_text_has_the_parts_and_the_seed_is_1(self):
        self.write("g.json", SAMPLE)
        lines = self.qdq("fingerprint", "g.json").out.splitlines()
        parts = self.parts(SAMPLE, "--seed", "1")
        self.assertEqual([line.split()[:2] for line in lines[:4]], [[name, parts[name]] for name in PARTS])
        self.assertEqual(lines[4], "qdq1-" + "-".join(parts[name] for name in PARTS))
        self.assertEqual(len(lines), 5)


class Same(Case):
    def same(self, path, target, ways):
        first = self.qdq("fingerprint", path, "--target", target).out
        for way in ways:
            self.assertEqual(self.qdq("fingerprint", path, "--target", target, *way).out, first, (path, target, way))

    def test_no_instruction_set_thread_or_layout_changes_it(self):
        ways = [["--isa", "portable"], ["--isa", "portable", "--tiles"], ["--threads", "1"], ["--threads", "3"],
                ["--tiles"], ["--materialize"]]
        for name in ("attention", "digits/int8", "chain_mixed"):
            folder = Path(harness.MODELS) / name
            path = folder / "graph.json" if folder.is_dir() else folder.with_suffix(".json")
            for target in ("core", "onnx", "ort", "torchao", "ttnn@ieee"):
                if self.qdq("check", path, "--target", target, code=None).code == 0:
                    self.same(path, target, ways)

    def test_a_device_changes_nothing(self):
        content = graph([quantize(scales=0.3, dtype="int32")], [value("x", shape=[64, 64])])
        self.same(self.write("g.json", content), "ttnn", [["--device", "none"], ["--device", "n300"], ["--isa", "portable"]])

    def test_a_converted_graph_has_it_too(self):
        for model in sorted(Path(harness.MODELS).glob("*/graph.json")):
            self.qdq("convert", model, "-o", "copy.json")
            done = self.qdq("fingerprint", model, code=None)
            self.assertEqual(self.qdq("fingerprint", "copy.json", code=None).out, done.out, model)

    def test_an_input_with_several_readers_has_one_kind_of_data_in_any_order(self):
        nodes = [quantize("a", "s", scales=1), quantize(ports={"scale": "s"})]
        inputs = [value("x", shape=[4]), value("s", shape=[1])]
        outputs = {"u": "a", "y": "q"}
        texts = {self.qdq("fingerprint", self.write("g.json", graph(order, inputs, outputs))).out
                 for order in (nodes, nodes[::-1])}
        self.assertEqual(len(texts), 1, texts)


class Expected(Case):
    def setUp(self):
        super().setUp()
        self.path = self.write("g.json", SAMPLE)
        self.good = self.json("fingerprint", self.path)["fingerprint"]

    def expect(self, hashed, *words, code=1):
        return self.qdq("fingerprint", self.path, "--expect-fingerprint", hashed, *words, code=code).out.splitlines()[-1]

    def test_an_equal_one_exits_0(self):
        self.assertEqual(self.expect(self.good, code=0), "as expected")
        result = self.json("fingerprint", self.path, "--expect-fingerprint", self.good)
        self.assertEqual((result["expected"], result["different"]), (self.good, []))

    def test_another_one_exits_1_and_names_the_parts(self):
        self.assertEqual(self.expect(self.good, "--seed", "2"), "differs from the expected fingerprint in outputs")
        self.assertEqual(self.expect(self.good, "--target", "onnx", "--seed", "2"),
                         "differs from the expected fingerprint in target, numerics, outputs")
        result = self.json("fingerprint", self.path, "--expect-fingerprint", self.good, "--target", "tensorrt", code=1)
        self.assertEqual(result["different"], ["target"])

    def test_what_is_no_fingerprint_is_refused(self):
        for wrong in ("", self.good[:-1], self.good + "0", self.good.upper(), self.good.replace("-", "+")):
            done = self.qdq("fingerprint", self.path, "--expect-fingerprint", wrong, code=2)
            self.assertIn("wanted qdq1- and four parts of 16 digits", done.err)

    def test_a_refused_graph_has_none(self):
        self.write("bad.json", graph([quantize(scales=1, dtype="int32")]))
        done = self.qdq("fingerprint", "bad.json", "--target", "onnx", code=4)
        self.assertEqual(done.out, "")
        self.assertIn("[onnx/result-dtype]", done.err)


if __name__ == "__main__":
    main()
