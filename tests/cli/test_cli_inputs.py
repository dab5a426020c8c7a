#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong files of tensors: each gives one sentence, with a graph of JSON and with an ONNX model, whose open dims are taken
from the file before it is read."""

import io
import itertools
import json
import os
import re
import resource
import struct
import warnings
import zipfile
from pathlib import Path

from datasets import compression
from harness import Case, graph, identity, main, node, npy_bytes, value

MODEL = Path(__file__).resolve().parents[1] / "onnx/models/quantized.onnx"


def npz(**arrays):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return data.getvalue()


def safetensors(header):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


EMPTY = npy_bytes("<f4", [0, 3], b"")
FILES = {
    "empty.npy": EMPTY, "empty.npz": npz(x=EMPTY), "no_array.npz": npz(), "zero_bytes.npy": b"", "zero_bytes.npz": b"",
    "zero_bytes.safetensors": b"", "cut.npy": EMPTY[:40], "cut.npz": npz(x=EMPTY)[:60], "text.csv": b"1,2\n",
    "objects.npy": npy_bytes("|O", [1], b"\x80\x04N."), "strings.npy": npy_bytes("<U2", [1], bytes(8)),
    "complex.npy": npy_bytes("<c8", [1], bytes(8)), "empty.safetensors": safetensors(
        {"x": {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]}}), "no_tensor.safetensors": safetensors({}),
}  # fmt: skip
MISSING = ["typo", "typo.npy", "typo.npz", "typo.safetensors", ".", "folder.npz", "/dev/null", ""]


class WrongFiles(Case):
    def setUp(self):
        super().setUp()
        for name, content in FILES.items():
            (self.folder / name).write_bytes(content)
        (self.folder / "folder.npz").mkdir()
        self.write("g.json", identity("float32", [2, 3]))

    def check_refused(self, *words):
        for name, prefix in itertools.product([*FILES, *MISSING], ["", "x="]):
            for file in ("g.json", MODEL):
                with self.subTest(" ".join(map(str, (*words, prefix + name, file)))):
                    done = self.qdq(words[0], file, *words[1:], prefix + name, code=None)
                    self.assertIn(done.code, (2, 3, 4))
                    self.assertRegex(done.err, r"\Aqdq: [^\n]+\n\Z")

    def test_as_inputs(self):
        self.check_refused("run", "-i")

    def test_as_inputs_of_a_comparison(self):
        self.check_refused("compare", "--targets", "onnx,core", "-i")

    def test_as_expected_results(self):
        self.check_refused("run", "--fill", "1", "--expect")

    def test_as_the_results_of_a_device(self):
        self.check_refused("explain", "--fill", "1", "--got")


class LargeFiles(Case):
    COUNT = 48 << 20  # float32 elements that a header promises

    def setUp(self):
        super().setUp()
        header = npy_bytes("<f4", [self.COUNT], b"")
        with zipfile.ZipFile(self.folder / "big.npz", "w", compression()) as archive, archive.open("x.npy", "w") as out:
            out.write(header)
            for _ in range(0, 4 * self.COUNT, 1 << 20):
                out.write(bytes(1 << 20))
        tensors = {"x": {"dtype": "F32", "shape": [self.COUNT], "data_offsets": [0, 4 * self.COUNT]}}
        for name, start in (("big.npy", header), ("big.safetensors", safetensors(tensors))):
            (self.folder / name).write_bytes(start)
            os.truncate(self.folder / name, len(start) + 4 * self.COUNT)
        self.write("g.json", identity("float32", [4]))

    def test_another_shape_takes_no_memory_for_its_elements(self):
        most = self.peak_mib("run", "g.json", "--fill", 1) + 32
        for name in ("big.npy", "big.npz", "big.safetensors"):
            for words in (["run", "g.json", "-i", f"x={name}"], ["compare", "g.json", "--targets", "core,onnx", "-i", f"x={name}"],
                          ["run", "g.json", "--fill", 1, "-e", f"y={name}"],
                          ["explain", "g.json", "--fill", 1, "--got", f"y={name}"], ["run", MODEL, "-i", f"x={name}"]):
                with self.subTest(" ".join(map(str, words))):
                    self.assertIn(f"[{self.COUNT}]", self.qdq(*words, code=None).err)
                    self.assertLess(self.peak_mib(*words), most)


    def test_elements_of_files_come_from_the_limit_of_bytes(self):
        """The plan needs twice the bytes of the input, in tiles four times, and may take 64 MiB more."""
        own = 4 * self.COUNT
        self.write("g.json", graph([node("ReLU", "r", "x")], [value("x", "float32", [self.COUNT])], {"y": "r"}))
        most = ["--max-bytes", 2 * own + (1 << 20)]
        for name, of in (("big.npy", "big.npy"), ("big.npz", "big.npz: 'x'"), ("big.safetensors", "big.safetensors")):
            for words in (["run", "g.json", "--rows", "-i", f"x={name}"],
                          ["explain", "g.json", "-i", f"x={name}", "--got", f"y={name}"]):  # fmt: skip
                with self.subTest(" ".join(map(str, words))):
                    err = self.qdq(*words, *most, code=5).err
                    self.assertRegex(err, rf"\Aqdq: {re.escape(of)}: no memory for .* within --max-bytes, of which \d+ bytes "
                                     r"are left; raise it\n\Z")  # fmt: skip
        self.qdq("run", "g.json", "--rows", "-i", "x=big.npy", "--max-bytes", 3 * own)
        self.assertIn("or hold values in rows: --rows", self.qdq("run", "g.json", "-i", "x=big.npy", *most, code=5).err)

    def test_samples_come_from_the_limit_of_bytes(self):
        self.write("g.json", graph([node("ReLU", "r", "x")], [value("x", "float32", [4])], {"y": "r"}))
        shape = npy_bytes("<f4", [self.COUNT // 4, 4], b"")
        with zipfile.ZipFile(self.folder / "bomb.npz", "w", compression()) as archive, archive.open("x.npy", "w") as out:
            out.write(shape)
            for _ in range(0, 4 * self.COUNT, 1 << 20):
                out.write(bytes(1 << 20))
        if compression() == zipfile.ZIP_DEFLATED:  # 0.2 MB, a week of runs
            err = self.qdq("calibrate", "g.json", "--data", "bomb.npz", "-o", "s", "--max-bytes", 64 << 20, code=5).err
            self.assertRegex(err, r"\Aqdq: bomb\.npz: the archive inflates to 201326720 bytes, which do not fit within "
                             r"--max-bytes, of which \d+ bytes are left; raise it\n\Z")  # fmt: skip
        self.write("g.json", graph([node("ReLU", "r", "x")], [value("x", "float32", [self.COUNT])], {"y": "r"}))
        err = self.qdq("calibrate", "g.json", "--data", "big.npy", "-o", "s", "--max-bytes", 500 << 20, code=5).err
        self.assertRegex(err, r"\Aqdq: no memory for the samples within --max-bytes, of which \d+ bytes are left; raise it\n\Z")


class LongNames(Case):
    def test_an_archive_is_known_whatever_the_length_of_its_first_name(self):
        for length in (1, 94, 95, 96, 255):
            name = "n" * length
            (self.folder / "a.npz").write_bytes(npz(**{name: npy_bytes("<f4", [2], bytes(8))}))
            self.write("g.json", graph([], [value(name, "float32", [2])], {"y": name}))
            self.qdq("run", "g.json", "-i", "a.npz")


class DoubleMembers(Case):
    def test_an_archive_with_a_member_twice_is_refused(self):
        data = io.BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(data, "w") as archive:
            warnings.simplefilter("ignore")  # zipfile's
            for number in (b"\0", b"\1"):
                archive.writestr("x.npy", npy_bytes("<f4", [2, 3], number * 24))
                archive.writestr("y.npy" if number == b"\0" else "z.npy", EMPTY)
        (self.folder / "two.npz").write_bytes(data.getvalue())
        self.write("g.json", identity("float32", [2, 3]))
        for words in (["run", "-i", "two.npz"], ["run", "--fill", "1", "--expect", "two.npz"],
                      ["calibrate", "-o", "s.state", "--data", "two.npz"]):
            told = self.qdq(words[0], "g.json", *words[1:], code=3).err
            self.assertIn("two.npz: has two members 'x.npy', wanted one", told)


class LimitedFiles(Case):
    def test_a_file_that_may_not_grow_is_an_error_with_a_sentence(self):
        nodes = [node("ReLU", f"r{i}", f"r{i - 1}" if i else "x") for i in range(50)]
        self.write("g.json", graph(nodes, [value("x", "float32", [1000])], {"y": "r49"}))
        most = 1200  # bytes; clang's OpenMP library needs 1024 to start
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))}
        before = sorted(os.listdir(self.folder))
        for words in (["run", "g.json", "--fill", "1", "-o", "y.safetensors"], ["run", "g.json", "--fill", "1", "-o", "y=y.npy"],
                      ["convert", "g.json", "-o", "c.json"], ["plan", "g.json", "--emit-c", "p.c"],
                      ["check", "g.json", "--html", "p.html"]):
            with self.subTest(" ".join(words)):
                done = self.qdq(*words, code=None, **limit)
                self.assertGreaterEqual(done.code, 2)
                self.assertIn("File too large", done.err)
                self.assertEqual(sorted(os.listdir(self.folder)), before)


class EmptyTensors(Case):
    def test_no_dim_of_a_graph_is_0(self):
        for made in (graph([], [value("x", "float32", [0])], {"y": "x"}),
                     graph([], [value("x", "float32", [2])], {"y": "x"},
                           constants=[{**value("c", "float32", [0, 3]), "data": []}])):  # fmt: skip
            self.assertIn("core/shape", [one["rule"] for one in self.check(made)])

    def test_no_constant_of_a_file_is_empty(self):
        (self.folder / "empty.safetensors").write_bytes(FILES["empty.safetensors"])
        for shape in ([0, 3], [2, 3]):
            constant = {**value("c", "float32", shape), "file": "empty.safetensors", "tensor": "x"}
            self.assert_refused(graph([], [value("x")], {"y": "x"}, constants=[constant]),
                                "dim 0 of shape is 0")  # fmt: skip


if __name__ == "__main__":
    main()
