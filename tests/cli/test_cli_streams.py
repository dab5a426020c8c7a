#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Standard input and output, pipes, and files of the wrong kind."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import subprocess
import threading
import zipfile

import harness
from harness import (Case, graph, main, quantize, read_npy, read_safetensors, safetensors_bytes,
                     tensor, value, write_npy)

GRAPH = graph([quantize(scales=0.5, dtype="int8")])
X = tensor("float32", [2, 3], [0.5, 1, 1.5, 2, 2.5, 3])
Y = tensor("int8", [2, 3], [1, 2, 3, 4, 5, 6])
SUMMARY = "y: int8 [2, 3], min 1, max 6\n  1 2 3 4 5 6\n"


class Streams(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", GRAPH)
        write_npy(self.folder / "x.npy", X)
        self.write("x.safetensors", safetensors_bytes({"x": X}))

    def piped(self, name, *words, code=0):
        """Calls qdq with the file as standard input, through a pipe."""
        done = subprocess.run([harness.QDQ, *words], cwd=self.folder, capture_output=True,
                              timeout=harness.TIMEOUT, check=False,
                              input=(self.folder / name).read_bytes())
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr.decode()

    def from_file(self, name, *words, code=0):
        with open(self.folder / name, "rb") as file:
            done = subprocess.run([harness.QDQ, *words], cwd=self.folder, capture_output=True,
                                  timeout=harness.TIMEOUT, check=False, stdin=file)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def named_pipe(self, name, content):
        """A named pipe to which a thread writes."""
        os.mkfifo(self.folder / name)
        writer = threading.Thread(target=(self.folder / name).write_bytes, args=(content,))
        writer.start()
        self.addCleanup(writer.join)
        return name


class In(Streams):
    def test_a_graph(self):
        for give in (self.piped, self.from_file):
            self.assertEqual(give("g.json", "run", "-", "-i", "x=x.npy").decode(), SUMMARY)
            self.assertEqual(give("g.json", "check", "-").decode(),
                             "- for core: 0 errors, 0 warnings\n")
            for words in (["plan", "-"], ["bench", "-", "--repeat", "3", "--compile"],
                          ["compare", "-", "--targets", "core,onnx", "--fill", "1"]):
                self.assertTrue(give("g.json", *words))

    def test_its_constants_are_in_the_working_folder(self):
        self.write("g.json", graph([quantize(scales=0.5, dtype="int8")], inputs=[], constants=[
            {**value("x"), "file": "x.safetensors", "tensor": "x"}]))
        for give in (self.piped, self.from_file):
            self.assertEqual(give("g.json", "run", "-").decode(), SUMMARY)

    def test_inputs_and_expected_outputs(self):
        write_npy(self.folder / "y.npy", Y)
        self.write("y.safetensors", safetensors_bytes({"y": Y}))
        for give in (self.piped, self.from_file):
            for name, word in (("x.npy", "x=-"), ("x.safetensors", "x=-"), ("x.safetensors", "-"),
                               ("x.safetensors", "x=-#x"), ("x.npy", "x=/dev/stdin")):
                self.assertEqual(give(name, "run", "g.json", "-i", word).decode(), SUMMARY, word)
            for name, word in (("y.npy", "y=-"), ("y.safetensors", "-")):
                out = give(name, "run", "g.json", "-i", "x=x.npy", "-e", word)
                self.assertEqual(out, b"y: all 6 elements equal\n")

    def test_pipes_with_names(self):
        graph_pipe = self.named_pipe("g", json.dumps(GRAPH).encode())
        npy = self.named_pipe("x.pipe", (self.folder / "x.npy").read_bytes())
        expected = self.named_pipe("y", safetensors_bytes({"out": Y}))
        self.assertEqual(self.qdq("run", graph_pipe, "-i", f"x={npy}", "-e", f"y={expected}#out").out,
                         "y: all 6 elements equal\n")

    def test_pipes_of_the_shell(self):
        reader, writer = os.pipe()
        os.write(writer, (self.folder / "x.safetensors").read_bytes())
        os.close(writer)
        try:
            out = self.qdq("run", "g.json", "-i", f"/dev/fd/{reader}", pass_fds=[reader]).out
        finally:
            os.close(reader)
        self.assertEqual(out, SUMMARY)

    def test_standard_input_is_given_once(self):
        for words in (["run", "-", "-i", "x=-"], ["run", "g.json", "-i", "-", "-e", "-"],
                      ["check", "-", "-"]):
            self.assertIn("standard input is given twice", self.piped("g.json", *words, code=2))

    def test_a_file_named_dash(self):
        self.write("-", GRAPH)
        self.assertIn("./- for core", self.qdq("check", "./-").out)

    def test_an_empty_or_broken_stream(self):
        self.qdq("check", "-", code=3)  # stdin is /dev/null
        self.qdq("run", "g.json", "-i", "x=-", code=2)
        self.assertIn("is a .npy array", self.piped("x.npy", "check", "-", code=3))
        cut = (self.folder / "x.npy").read_bytes()[:-1]
        self.write("cut.npy", cut)
        self.assertIn("23 bytes of data", self.piped("cut.npy", "run", "g.json", "-i", "x=-", code=3))

    def test_the_cap_on_files_holds(self):
        self.write("long.json", json.dumps(GRAPH) + " " * 5000000)
        err = self.piped("long.json", "check", "-", "--max-file-bytes", "1000", code=5)
        self.assertIn("wanted at most 1000", err)


class Out(Streams):
    def call(self, *words):
        done = subprocess.run([harness.QDQ, "run", "g.json", "-i", "x=x.npy", *words],
                              cwd=self.folder, capture_output=True, timeout=harness.TIMEOUT,
                              check=False, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_all_outputs_or_one(self):
        (self.folder / "out").write_bytes(self.call("-o", "-"))
        self.assertEqual(read_safetensors(self.folder / "out"), {"y": Y})
        (self.folder / "out").write_bytes(self.call("-o", "y=-"))
        self.assertEqual(read_npy(self.folder / "out"), Y)

    def test_beside_files(self):
        (self.folder / "out").write_bytes(self.call("-o", "y=y.npy", "-o", "-"))
        self.assertEqual(read_safetensors(self.folder / "out"), {"y": read_npy(self.folder / "y.npy")})

    def test_to_a_file_of_the_shell(self):
        for mode in ("wb", "ab"):
            (self.folder / "out").write_bytes(b"" if mode == "wb" else b"before")
            with open(self.folder / "out", mode) as out:
                self.qdq("run", "g.json", "-i", "x=x.npy", "-o", "y=-", stdout=out)
            left = (self.folder / "out").read_bytes()
            self.assertEqual(left, (b"" if mode == "wb" else b"before") + self.call("-o", "y=-"))

    def test_to_a_pipe_with_a_name(self):
        os.mkfifo(self.folder / "p")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "p").read_bytes()))
        reader.start()
        self.call("-o", "p")
        reader.join()
        self.assertEqual(got, [self.call("-o", "-")])

    def test_two_outputs_on_standard_output_are_refused(self):
        for words, other in ((["-o", "-", "-o", "y=-"], "another --output"),
                             (["-o", "-", "--json"], "--json"),
                             (["-o", "y=-", "-e", "y=x.npy"], "--expect")):
            err = self.qdq("run", "g.json", "-i", "x=x.npy", *words, code=2).err
            self.assertIn(f"--output - and {other} both write to standard output", err)

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "wb") as full:
            err = self.qdq("run", "g.json", "-i", "x=x.npy", "-o", "-", code=5, stdout=full).err
        self.assertIn("standard output cannot be written", err)

    def test_nothing_is_left_behind(self):
        self.qdq("run", "g.json", "-i", "x=x.npy", "-o", "-",
                 env={**os.environ, "TMPDIR": str(self.folder)}, stdout=subprocess.DEVNULL)
        self.assertEqual(sorted(os.listdir(self.folder)), ["g.json", "x.npy", "x.safetensors"])


def zipped(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, b"content")
    return out.getvalue()


# The contents of a file, how the message names them, and a word of the hint.
WRONG = {
    "onnx": (b"\x08\x08\x12\x07pytorch\x1a\x052.1.0:\x10", "an ONNX model", ""),
    "onnx that begins with its opsets": (b"\x08\x0aB\x04\x0a\x00\x10\x15", "an ONNX model", ""),
    "torch": (zipped("archive/data.pkl"), "a PyTorch file", "ONNX"),
    "old torch": (pickle.dumps({"weight": 1}, protocol=2), "a Python pickle", "ONNX"),
    "zip": (zipped("readme.txt"), "a zip archive", "unpack"),
    "empty zip": (b"PK\5\6" + bytes(18), "a zip archive", "unpack"),
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(20), "a TensorFlow Lite model", "ONNX"),
    "gzip": (gzip.compress(b"{}"), "compressed with gzip", "gunzip -c FILE | qdq check -"),
    "bzip2": (bz2.compress(b"{}"), "compressed with bzip2", "bunzip2"),
    "xz": (lzma.compress(b"{}"), "compressed with xz", "unxz"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(8), "compressed with zstd", "unzstd"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(8), "an HDF5 file", "ONNX"),
    "gguf": (b"GGUF\3\0\0\0" + bytes(16), "a GGUF file", "ONNX"),
}


class WrongKind(Case):
    def test_as_a_graph(self):
        tensors = {"npy": (harness.npy_bytes("<f4", [6], X.data), "a .npy array", "-i NAME=FILE"),
                   "safetensors": (safetensors_bytes({"x": X}), "a .safetensors file", "-i FILE")}
        graphs = {name: row for name, row in WRONG.items() if "onnx" not in name and name != "tflite"}  # qdq reads those
        for name, (content, what, hint) in {**graphs, **tensors}.items():
            self.write("model.bin", content)
            for command in ("check", "run", "plan"):
                err = self.qdq(command, "model.bin", code=3).err
                self.assertTrue(err.startswith(f"qdq: model.bin: is {what}"), (name, err))
                self.assertIn(", wanted a graph in JSON, an ONNX or a TensorFlow Lite model; ", err)
                self.assertIn(hint, err, name)

    def test_as_tensors(self):
        self.write("g.json", GRAPH)
        for name, (content, what, _) in {**WRONG, "json": (b" {\"x\": 1}", "JSON text", "")}.items():
            for file in ("x.npy", "x.safetensors", "x.bin"):
                self.write(file, content)
                for words in (["-i", f"x={file}"], ["-i", file],
                              ["--fill", "1", "-e", f"y={file}"], ["--fill", "1", "-e", file]):
                    err = self.qdq("run", "g.json", *words, code=3).err
                    self.assertIn(f"{file}: is {what}", err, (name, words))
                    self.assertIn(", wanted a .npy, .npz or .safetensors file; ", err)

    def test_tensors_are_known_by_their_content(self):
        self.write("g.json", GRAPH)
        self.write("x.npy", safetensors_bytes({"x": X}))
        write_npy(self.folder / "x.safetensors", X)
        write_npy(self.folder / "x", X)
        for name in ("x.npy", "x.safetensors", "x"):
            self.assertEqual(self.qdq("run", "g.json", "-i", f"x={name}").out, SUMMARY)

    def test_headers_whose_length_looks_like_something_else(self):
        self.write("g.json", GRAPH)
        content = safetensors_bytes({"x": X})
        header = content[8:-24]
        for start in (b"\x80\x02", b"\x1f\x8b", b"\x08\x08\x12", b"BZh", b"PK\3"):
            length = int.from_bytes(start, "little")
            self.write("x.safetensors", start.ljust(8, b"\0") + header.ljust(length) + X.data)
            self.assertEqual(self.qdq("run", "g.json", "-i", "x.safetensors").out, SUMMARY, start)

    def test_other_files_are_reported_as_before(self):
        self.write("g.bin", b"\0\1\2\3")
        self.assertIn("is a binary file of no kind", self.qdq("check", "g.bin", code=3).err)
        for content in (b"", b"[", b"x", b"PK", b"\x08", b"\x80"):
            self.write("g.bin", content)
            self.assertNotIn(": is ", self.qdq("check", "g.bin", code=3).err)


if __name__ == "__main__":
    main()
