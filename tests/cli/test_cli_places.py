#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files to write: a place that takes no file is found before a command reads its graph."""

import json
import os
import unittest

from harness import Case, graph, main, quantize, read_safetensors, safetensors_bytes, tensor, value

# Commands that write a file, with words that let them begin. The graph is missing, so a command that looks at it
# first fails because of it.
WRITING = {
    "convert": ["convert", "missing.json", "-o"],
    "mend": ["mend", "missing.json", "-o"],
    "quantize": ["quantize", "missing.json", "--state", "s", "--target", "ort", "-o"],
    "calibrate": ["calibrate", "missing.json", "--data", "d", "-o"],
    "compare": ["compare", "missing.json", "--targets", "core,onnx", "--data", "d", "-o"],
    "explain": ["explain", "missing.json", "--got", "g.npz", "-o"],
    "explain --data": ["explain", "missing.json", "--against", "m.json", "--data", "d", "-o"],
    "merge": ["merge", "missing.state", "-o"],
    "--html": ["check", "missing.json", "--html"],
    "--trace": ["plan", "missing.json", "--trace"],
    "--emit-c": ["plan", "missing.json", "--emit-c"],
}
GRAPH = graph([quantize(scales=1, dtype="int8")])


class Places(Case):
    def test_a_missing_folder_is_found_first(self):
        for name, words in WRITING.items():
            with self.subTest(name):
                self.assertEqual(self.qdq(*words, "none/out.json", code=3).err,
                                 "qdq: none/out.json: its folder takes no new file: "
                                 "No such file or directory\n")

    def test_a_folder_is_no_file(self):
        (self.folder / "out.json").mkdir()
        for name, words in WRITING.items():
            with self.subTest(name):
                self.assertIn("out.json: ", self.qdq(*words, "out.json", code=3).err)

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_without_permission_is_found_first(self):
        (self.folder / "closed").mkdir(mode=0o500)
        for name, words in WRITING.items():
            with self.subTest(name):
                self.assertIn("Permission denied", self.qdq(*words, "closed/out.json", code=3).err)

    def test_an_old_file_stays_if_the_command_fails(self):
        for name, words in WRITING.items():
            with self.subTest(name):
                self.write("out.json", "old")
                self.qdq(*words, "out.json", code=3)
                self.assertEqual((self.folder / "out.json").read_text(), "old")

    def test_a_reproduction_ends_in_json(self):
        self.assertIn("wanted a file that ends in .json", self.qdq(*WRITING["explain"], "r.txt", code=2).err)


class Inputs(Case):
    """A file that a command reads is not overwritten."""

    def setUp(self):
        super().setUp()
        self.write("g.json", GRAPH)
        self.write("other.json", GRAPH)
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": tensor("float32", [2, 3], range(6))}))
        (self.folder / "link.json").symlink_to("g.json")
        (self.folder / "d").mkdir()
        for name, found in {"d/a": {"x": tensor("float32", [2, 3], range(6))}, "r.got": {"y": tensor("int8", [2, 3], range(6))}}.items():
            (self.folder / f"{name}.safetensors").write_bytes(safetensors_bytes(found))

    def refused(self, file, *words):
        before = (self.folder / file).read_bytes()
        told = self.qdq(*words, code=2).err
        self.assertIn("which the command reads, wanted another file", told)
        self.assertEqual((self.folder / file).read_bytes(), before)

    def test_of_every_command(self):
        data = ["--data", "x.safetensors"]
        for file, words in (("g.json", ["convert", "g.json", "-o", "g.json"]),
                            ("g.json", ["convert", "link.json", "-o", "g.json"]),
                            ("g.json", ["convert", "g.json", "-o", "./g.json"]),
                            ("g.json", ["mend", "g.json", "-t", "onnx", "-o", "g.json"]),
                            ("x.safetensors", ["mend", "g.json", "-t", "onnx", "-i", "x=x.safetensors#x", "-o", "x.safetensors"]),
                            ("x.safetensors", ["quantize", "g.json", "--state", "x.safetensors", "-t", "onnx", "-o", "x.safetensors"]),
                            ("x.safetensors", ["merge", "x.safetensors", "g.json", "-o", "x.safetensors"]),
                            ("x.safetensors", ["calibrate", "g.json", *data, "-o", "x.safetensors"]),
                            ("g.json", ["run", "g.json", "-i", "x.safetensors", "-o", "y=g.json"]),
                            ("other.json", ["explain", "g.json", "--against", "other.json", *data, "-o", "other.json"]),
                            ("d/a.safetensors", ["calibrate", "g.json", "--data", "d", "-o", "d/a.safetensors"]),
                            ("r.got.safetensors", ["explain", "g.json", "--fill", "1", "--got", "r.got.safetensors", "-o", "r.json"]),
                            ("g.json", ["plan", "g.json", "--emit-c", "g.json"]),
                            ("g.json", ["plan", "g.json", "--trace", "link.json"]),
                            ("g.json", ["check", "g.json", "--html", "g.json"])):
            with self.subTest(" ".join(words)):
                self.refused(file, *words)

    def test_outputs_of_a_run_have_files_of_their_own(self):
        for other in ("y.npy", "./y.npy"):
            told = self.qdq("run", "g.json", "--fill", 1, "-o", f"y={other}", "-o", "y=y.npy", code=2).err
            self.assertEqual(told, "qdq: y.npy is given with -o twice, wanted a file for each output\n")
            (self.folder / "y.npy").touch()


class Words(Case):
    def test_only_run_writes_to_standard_output(self):
        for name, words in WRITING.items():
            with self.subTest(name):
                option = words[-1]
                self.assertIn(f"{option} is '-', but only `qdq run` writes to standard output",
                              self.qdq(*words, "-", code=2).err)
                self.assertFalse((self.folder / "-").exists())
        self.write("g.json", GRAPH)
        self.qdq("convert", "g.json", "-o", "./-")
        self.assertTrue((self.folder / "-").exists())

    def test_an_empty_name_is_refused(self):
        for name, words in WRITING.items():
            with self.subTest(name):
                self.assertIn(f"{words[-1]} is empty, wanted the file to write", self.qdq(*words, "", code=2).err)
        self.write("g.json", GRAPH)
        self.assertIn("wanted [NAME=]FILE", self.qdq("run", "g.json", "--fill", "1", "-o", "", code=2).err)

    def test_endings_may_have_any_case(self):
        self.write("g.json", GRAPH)
        if "without ONNX" not in self.qdq("convert", "g.json", "-o", "g.onnx", code=None).err:
            self.qdq("convert", "g.json", "-o", "w.ONNX")
            self.assertEqual((self.folder / "w.ONNX").read_bytes(), (self.folder / "g.onnx").read_bytes())
        self.qdq("run", "g.json", "--fill", "1", "-o", "y=y.NPY")
        self.assertEqual((self.folder / "y.NPY").read_bytes()[:6], b"\x93NUMPY")


class Constants(Case):
    """Large constants of x.json go to x.safetensors."""

    def setUp(self):
        super().setUp()
        elements = list(range(4097))
        self.write("c.safetensors", safetensors_bytes({"c": tensor("float32", [4097], elements)}))
        large = {**value("c", "float32", [4097]), "file": "c.safetensors", "tensor": "c"}
        add = {"op": "Add", "name": "q", "inputs": {"a": "x", "b": "c"}, "attrs": {}}
        self.write("g.json", graph([add], [value("x", "float32", [4097])], constants=[large]))

    def convert(self, out="x.json", code=0):
        return self.qdq("convert", "g.json", "-o", out, code=code).err

    def test_a_file_that_is_not_of_the_graph_stays(self):
        self.write("x.safetensors", "mine")
        for old in (None, json.dumps(GRAPH)):
            if old:
                self.write("x.json", old)
            self.assertEqual(self.convert(code=3),
                             "qdq: x.safetensors: is there already and is not of x.json, whose constants would go to it; "
                             "remove it, or choose another name\n")
            self.assertEqual((self.folder / "x.safetensors").read_text(), "mine")
            self.assertEqual((self.folder / "x.json").exists(), bool(old))

    def test_a_file_of_the_graph_is_replaced(self):
        for out in ("x.json", "x.JSON"):
            self.convert(out)
            self.convert(out)
            self.assertEqual(list(read_safetensors(self.folder / "x.safetensors")), ["c"])
            (self.folder / "x.safetensors").unlink()

    def test_the_name_is_found_anywhere_in_a_long_file(self):
        for spaces in range(8100, 8300, 7):
            self.convert()
            text = (self.folder / "x.json").read_text()
            self.write("x.json", " " * spaces + text)
            self.convert()

    def test_small_graphs_need_no_such_file(self):
        self.write("x.safetensors", "mine")
        self.write("g.json", GRAPH)
        self.convert()
        self.assertEqual((self.folder / "x.safetensors").read_text(), "mine")


if __name__ == "__main__":
    main()
