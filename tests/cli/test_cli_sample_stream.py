#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--data -: samples that come one after another on standard input."""

import io
import random
import struct
import subprocess
import zipfile

import harness
from harness import Case, constant, graph, main, node, npy_bytes, read_safetensors, safetensors_bytes, tensor

SHAPE, COUNT = [2, 3], 21


def framed(file):
    return struct.pack("<Q", len(file)) + file


class Stream(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", graph([node("ReLU", "q", "x")]))
        numbers = random.Random(3)
        self.samples = [[numbers.gauss(0, 3) for _ in range(6)] for _ in range(COUNT)]
        (self.folder / "data").mkdir()
        for i, sample in enumerate(self.samples):
            self.write(f"data/{i:02}.npy", npy_bytes("<f4", SHAPE, tensor("float32", SHAPE, sample).data))

    def file(self, i):
        """A sample as .npy, .npz or .safetensors, in turn."""
        one = tensor("float32", SHAPE, self.samples[i])
        npy = npy_bytes("<f4", SHAPE, one.data)
        if i % 3 == 0:
            return npy
        if i % 3 == 1:
            return safetensors_bytes({"x": one})
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr("x.npy", npy)
        return archive.getvalue()

    def calibrate(self, stream, *words, code=0, command="calibrate"):
        done = subprocess.run([harness.QDQ, command, "g.json", "--data", "-", *words], cwd=self.folder, input=stream,
                              capture_output=True, check=False, timeout=100)  # fmt: skip
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr.decode()

    def state(self, order, name="s.state", *words):
        self.calibrate(b"".join(framed(self.file(i)) for i in order), "-o", name, *words)
        return (self.folder / name).read_bytes()

    def test_a_stream_has_the_statistics_of_a_folder_in_any_order(self):
        bytes_of = self.state(range(COUNT))
        self.assertEqual(self.state(reversed(range(COUNT))), bytes_of)
        self.qdq("calibrate", "g.json", "--data", "data", "-o", "folder.state", code=0)
        stream, folder = (read_safetensors(self.folder / name) for name in ("s.state", "folder.state"))
        for name in folder.keys() - {"numbers", "listing", "sha256"}:
            self.assertEqual(stream[name].data, folder[name].data, name)
        numbers = [struct.unpack("<5q", one["numbers"].data) for one in (stream, folder)]
        self.assertEqual(numbers[0], (numbers[1][0], 0, *numbers[1][2:]))
        self.assertEqual(stream["listing"].data, bytes(32))

    def test_streams_of_shards_merge_to_the_bytes_of_one(self):
        whole = self.state(range(COUNT))
        for i in range(4):
            self.state(range(i * 5, COUNT if i == 3 else i * 5 + 5), f"{i}.state", "--shard", f"{i + 1}/4")
        self.qdq("merge", *(f"{i}.state" for i in (2, 0, 3, 1)), "-o", "all.state", code=0)
        self.assertEqual((self.folder / "all.state").read_bytes(), whole)
        self.assertIn("21 samples, 1 of 1 shard", self.qdq("merge", "all.state", code=0).out)

    def test_samples_that_do_not_fit_are_named_by_their_number(self):
        files = [framed(self.file(0)), framed(b"no file"), framed(b""), framed(self.file(1))]
        told = self.calibrate(b"".join(files), "-o", "s.state", code=1)
        self.assertIn("2 of 4 samples could not be read and are not in the state:\n  sample 1\n  sample 2\n", told)

    def test_a_stream_that_breaks_off_is_refused(self):
        whole = b"".join(framed(self.file(i)) for i in range(3))
        for stream, text, code in ((whole[:-1], "ends within a sample", 3), (whole[:4], "ends within a sample", 3),
                                   (b"", "has no sample", 3), (self.file(0), "has a sample of .* bytes, more than the limit", 5)):  # fmt: skip
            self.assertRegex(self.calibrate(stream, "-o", "s.state", code=code), text)
            self.assertFalse((self.folder / "s.state").exists())

    def test_what_needs_the_samples_twice_is_refused(self):
        for words, text in ((["--resume"], "--resume is given with --data -"), (["--checkpoint", "1"], "--checkpoint is given")):
            self.assertIn(text, self.calibrate(b"", "-o", "s.state", *words, code=2))
        weights = constant("w", "float32", [3, 2], [1.0] * 6)
        product = node("MatMul", "q", None)
        product["inputs"] = {"a": "x", "b": "w"}
        self.write("g.json", graph([product], constants=[weights]))
        self.state(range(3))
        words = ["--state", "s.state", "--target", "core", "-o", "q.json"]
        self.assertIn("reads the samples several times", self.calibrate(b"", *words, command="quantize", code=2))

    def test_a_graph_and_samples_cannot_both_be_on_standard_input(self):
        self.assertIn("standard input is given twice", self.qdq("calibrate", "-", "--data", "-", "-o", "s", code=2).err)


if __name__ == "__main__":
    main()
