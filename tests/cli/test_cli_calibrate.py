#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq calibrate: statistics against exact sums of fractions, where samples come from, and files that cannot be read."""

import json
import math
import os
import random
import struct
import zipfile
from fractions import Fraction
from pathlib import Path

import datasets
import harness
from datasets import SHAPE, exact, names, npz, numbers
from harness import Case, Tensor, graph, main, node, read_safetensors, tensor, write_npy

BINS = 4099
CHAIN = graph([node("ReLU", "r", "x"), node("Exp", "e", "r")], outputs={"y": "e"})
DEFLATED = zipfile.ZIP_DEFLATED


def setUpModule():
    global DEFLATED
    DEFLATED = datasets.compression()


def rows(state, name):
    return dict(zip(names(state, "values"), numbers(state, name)))


def bin_of(x):
    """By logarithms of fractions, not by bits."""
    if abs(x) < 2.0**-32:
        return BINS // 2
    fraction, exponent = math.frexp(abs(x))  # 0.5 .. 1
    side = 2049 if exponent > 32 else (exponent + 31) * 32 + int(fraction * 64) - 32 + 1
    return BINS // 2 + (side if x > 0 else -side)


def reals(count, seed=1):
    """Numbers of many sizes, as float32."""
    draw = random.Random(seed)
    xs = [draw.gauss(0, 1) * 2.0**draw.randint(-40, 40) for _ in range(count)]
    return [harness.float32_of_bits(struct.unpack("<I", struct.pack("<f", x))[0]) for x in xs]


class Calibration(Case):
    def make_folder(self, count=10, name="data", numbers=6):
        """A graph g.json and a folder of samples."""
        self.write("g.json", CHAIN)
        folder = self.folder / name
        folder.mkdir()
        xs = reals(count * numbers)
        for i in range(count):
            one = tensor("float32", SHAPE, xs[i * numbers:(i + 1) * numbers])
            npz(folder / f"{i:04}.npz", DEFLATED if i % 2 else zipfile.ZIP_STORED, x=one)
        return xs

    def calibrate(self, out, *words, data="data", code=0, file="g.json"):
        return self.qdq("calibrate", file, "--data", data, "-o", out, *words, code=code)

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()

    def shards(self, count, *words):
        out = [f"{i}of{count}.state" for i in range(1, count + 1)]
        for i, name in enumerate(out, 1):
            self.calibrate(name, "--shard", f"{i}/{count}", *words)
        return out


class Statistics(Calibration):
    def assert_statistics(self, state, name, xs):
        finite = [x for x in xs if math.isfinite(x)]
        counts = [len(finite), finite.count(0), sum(map(math.isnan, xs)), xs.count(math.inf), xs.count(-math.inf)]
        self.assertEqual(list(rows(state, "counts")[name]), counts)
        self.assertEqual(list(rows(state, "ranges")[name]), [min(finite), max(finite)])
        self.assertEqual(exact(rows(state, "sums")[name], 1074), sum(map(Fraction, finite)))
        self.assertEqual(exact(rows(state, "squares")[name], 2148), sum(Fraction(x)**2 for x in finite))
        bins = [0] * BINS
        for x in finite:
            bins[bin_of(x)] += 1
        self.assertEqual(list(rows(state, "histograms")[name]), bins)

    def run_values(self, dtype, xs):
        count = len(xs)
        self.write("g.json", harness.identity(dtype, [count]))
        (self.folder / "data").mkdir()
        write_npy(self.folder / "data/a.npy", tensor(dtype, [count], xs))
        self.calibrate("s.state")
        self.assert_statistics(read_safetensors(self.folder / "s.state"), "x", xs)

    def test_float32_is_summed_exactly(self):
        self.run_values("float32", reals(70000) + [0.0, -0.0, math.inf, -math.inf, -math.inf, math.nan,
                                                   2.0**-149, -2.0**-149, 2.0**-126, -(2 - 2.0**-23) * 2.0**127,
                                                   2.0**32, 2.0**-32, -(2.0**-32), 2.0**32 - 256])

    def test_float64_is_summed_exactly(self):
        draw = random.Random(2)
        xs = [draw.gauss(0, 1) * 2.0**draw.randint(-300, 300) for _ in range(3000)]
        self.run_values("float64", xs + [5e-324, -5e-324, 2.0**-1022, -1.7976931348623157e308, 1.5, 1e300, math.nan, 0.0])

    def test_smaller_floats_count_as_their_values(self):
        bits = [harness.bfloat16_bits(x) for x in reals(3000)]
        self.write("g.json", harness.identity("bfloat16", [3000]))
        (self.folder / "data").mkdir()
        (self.folder / "data/a.safetensors").write_bytes(
            harness.safetensors_bytes({"x": tensor("bfloat16", [3000], bits)}))
        self.calibrate("s.state")
        self.assert_statistics(read_safetensors(self.folder / "s.state"), "x",
                               [harness.float32_of_bits(b << 16) for b in bits])

    def test_every_float_value_is_in_the_state_but_no_constant(self):
        nodes = [node("ReLU", "r", "x"), harness.quantize("q", "r", scales=0.5), node("Multiply", "m", "r")]
        nodes[2]["inputs"] = {"a": "r", "b": "c"}
        self.write("g.json", graph(nodes, constants=[harness.constant("c", "float32", [], 2.0)],
                                   outputs={"y": "q", "z": "m"}))
        (self.folder / "data").mkdir()
        xs = reals(6)
        write_npy(self.folder / "data/a.npy", tensor("float32", SHAPE, xs))
        self.calibrate("s.state")
        state = read_safetensors(self.folder / "s.state")
        self.assertEqual(names(state, "values"), ["m", "r", "x"])
        self.assert_statistics(state, "r", [max(x, 0.0) for x in xs])


    def test_merge_without_a_file_prints_the_statistics(self):
        xs = self.make_folder(9)
        parts = self.shards(2)
        (line,) = [line for line in self.qdq("merge", *parts).out.splitlines() if line.startswith("x (float32)")]
        mean = float(sum(map(Fraction, xs)) / len(xs))
        square = float(sum(Fraction(x)**2 for x in xs) / len(xs))
        self.assertEqual(line, f"x (float32): {min(xs):.6g} to {max(xs):.6g}, mean {mean:.6g}, "
                               f"deviation {math.sqrt(square - mean**2):.6g}, 54 elements")
        report = json.loads(self.qdq("merge", *parts, "--json").out)
        self.assertEqual([report[key] for key in ("kind", "samples", "shards", "shard_count")], ["calibrate", 9, [1], 1])
        one = {row["name"]: row for row in report["values"]}["r"]
        self.assertEqual([one["least"], one["greatest"]], [0, max(xs)])
        self.assertIn("both given", self.qdq("merge", *parts, "--json", "-o", "m", code=2).err)


class Data(Calibration):
    """Where samples come from makes no difference to their statistics."""

    def statistics(self, data):
        self.calibrate("s.state", data=data)
        state = read_safetensors(self.folder / "s.state")
        return {name: state[name] for name in
                ("samples", "ranges", "counts", "sums", "squares", "histograms", "values")}

    def test_folders_and_files_give_the_same(self):
        xs = self.make_folder(12)
        wanted = self.statistics("data")
        all_x = tensor("float32", [12, *SHAPE], xs)
        npz(self.folder / "stored.npz", x=all_x, other=tensor("int32", [1], [1]))
        npz(self.folder / "packed.npz", DEFLATED, x=all_x)
        write_npy(self.folder / "one.npy", tensor("float32", [24, 3], xs))
        (self.folder / "one.safetensors").write_bytes(harness.safetensors_bytes({"x": all_x}))
        for name in ("stored.npz", "packed.npz", "one.npy", "one.safetensors"):
            self.assertEqual(self.statistics(name), wanted, name)

    def test_the_order_of_samples_makes_no_difference(self):
        xs = self.make_folder(9)
        (self.folder / "other").mkdir()
        for i in range(9):
            write_npy(self.folder / f"other/{8 - i}.npy", tensor("float32", SHAPE, xs[6 * i:6 * i + 6]))
        self.assertEqual(self.statistics("other"), self.statistics("data"))

    def test_a_compressed_file_is_read_by_parts(self):
        count, elements = 40, 100000
        self.write("g.json", harness.identity("float32", [elements]))
        data = Tensor("float32", [count, elements], bytes(4 * count * elements))
        npz(self.folder / "big.npz", DEFLATED, x=data)
        self.write("small.json", harness.identity("float32", [1]))
        npz(self.folder / "small.npz", DEFLATED, x=tensor("float32", [1, 1], [0.0]))
        most = (self.peak_mib("calibrate", "small.json", "--data", "small.npz", "-o", "s") +
                self.peak_mib("calibrate", "g.json", "--data", "big.npz", "-o", "b")) / 2
        self.assertTrue((self.folder / "b").exists())
        small = self.peak_mib("calibrate", "small.json", "--data", "small.npz", "-o", "s")
        self.assertLess(most, small + 8, "of 15 MiB of samples")

    def test_wrong_data_is_refused(self):
        self.make_folder(1)
        (self.folder / "empty").mkdir()
        npz(self.folder / "shape.npz", x=tensor("float32", [2, 4], [0.0] * 8))
        npz(self.folder / "name.npz", z=tensor("float32", [2, 2, 3], [0.0] * 12))
        self.write("text.npz", "no archive")
        self.write("text.txt", "")
        for data, text in (("empty", "has no file"), ("absent", "no file of this name"), ("text.txt", "wanted a folder"),
                           ("shape.npz", "has shape [2, 4], wanted [N, ...]"), ("name.npz", "has no array 'x'"),
                           ("text.npz", "directory at the end of the archive is missing"),
                           ("absent.npz", "cannot be opened")):
            self.assertIn(text, self.calibrate("s.state", data=data, code=3).err)
        for shard in ("0/2", "3/2", "1", "1/", "a/2", "1/99999999", "-1/2"):
            self.assertIn("--shard is", self.calibrate("s.state", "--shard", shard, code=2).err)
        self.assertIn("--data", self.qdq("calibrate", "g.json", "-o", "s", code=2).err)
        self.assertIn("-o is missing", self.qdq("calibrate", "g.json", "--data", "data", code=2).err)

    def test_damaged_archives_never_crash(self):
        self.make_folder(1)
        whole = self.bytes_of("data/0000.npz")
        draw = random.Random(3)
        for i in range(120):
            data = bytearray(whole[:draw.randint(0, len(whole))] if i % 2 else whole)
            for _ in range(draw.randint(0, 3) if data else 0):
                data[draw.randrange(len(data))] = draw.randrange(256)
            (self.folder / "bad.npz").write_bytes(data)
            self.calibrate("s.state", data="bad.npz", code=None)


class Unreadable(Calibration):
    def break_files(self):
        self.make_folder(12)
        path = self.folder / "data/0003.npz"
        path.write_bytes(path.read_bytes()[:100])
        damaged = bytearray((self.folder / "data/0004.npz").read_bytes())
        damaged[damaged.index(b"NUMPY") + 130] ^= 1
        (self.folder / "data/0004.npz").write_bytes(damaged)
        write_npy(self.folder / "data/0005.npy", tensor("float32", [3, 2], [0.0] * 6))
        npz(self.folder / "data/0006.npz", y=tensor("float32", SHAPE, [0.0] * 6))
        write_npy(self.folder / "data/0007.npy", tensor("float64", SHAPE, [0.0] * 6))
        os.symlink("nowhere", self.folder / "data/0008.npy")
        return ["0003.npz", "0004.npz", "0005.npy", "0006.npz", "0007.npy", "0008.npy"]

    def test_files_that_cannot_be_read_are_named_and_counted(self):
        bad = self.break_files()
        err = self.calibrate("s.state", code=1).err
        state = read_safetensors(self.folder / "s.state")
        self.assertEqual(names(state, "unreadable"), bad)
        self.assertEqual(struct.unpack("<5q", state["numbers"].data)[1:3], (15, 9))
        self.assertIn("6 of 15 samples could not be read", err)
        for name, reason in zip(bad, ("directory at the end", "CRC", "has shape [3, 2], wanted [2, 3]",
                                      "has no array 'x'", "float64", "cannot be opened")):
            self.assertRegex(err, rf"qdq: {name}: .*{reason}".replace("[", r"\[") if "[" not in reason else name)
            self.assertIn(f"\n  {name}\n", err)

    def test_more_unreadable_samples_than_allowed_are_refused(self):
        self.break_files()
        words = "calibrate", "g.json", "--data", "data", "-o", "all.state"
        self.qdq(*words, "--max-unreadable", "40", code=1)
        (self.folder / "all.state").unlink()
        told = self.qdq(*words, "--max-unreadable", "39.9", code=3).err
        self.assertRegex(told, r"data: 6 of 15 samples could not be read, more than --max-unreadable 39.9 allows: .*, \.\.\.\n\Z")
        self.assertFalse((self.folder / "all.state").exists())
        # A shard is written: the others decide.
        for i in (1, 2):
            self.qdq(*words[:-1], f"{i}.state", "--shard", f"{i}/2", "--max-unreadable", "0", code=1)
        self.assertIn("6 of 15", self.qdq("merge", "1.state", "2.state", "--max-unreadable", "0", code=3).err)
        for wrong in ("-1", "101", "1%", ""):
            self.assertIn("wanted percent from 0 to 100", self.qdq(*words, "--max-unreadable", wrong, code=2).err)

    def test_elements_that_are_not_finite_are_a_warning(self):
        self.make_folder(0)
        npz(self.folder / "data/0001.npz", x=tensor("float32", SHAPE, [1.0, -2.0, 0.5, 0.0, 2.0, -1.0]))
        self.assertNotIn("finite", self.calibrate("s.state").err)
        npz(self.folder / "data/0002.npz", x=tensor("float32", SHAPE, [1.0, math.nan, math.inf, -math.inf, 2.0, math.nan]))
        self.assertRegex(self.calibrate("s.state").err,
                         r"^warning: s.state: \d of \d values have elements that are not finite, which count for no range: "
                         r"'\w+' has 2 NaN and 2 infinite ones; look at the samples\n$")
        for i in (1, 2):
            self.calibrate(f"{i}.state", "--shard", f"{i}/2")
        self.assertRegex(self.qdq("merge", "1.state", "2.state", "-o", "m.state").err,
                         r"^warning: m.state: \d of \d values have elements that are not finite.* 2 NaN and 2 infinite ones")

    def test_merged_shards_have_the_same_names(self):
        self.break_files()
        self.calibrate("s.state", code=1)
        parts = [f"{i}.state" for i in range(1, 6)]
        for i, name in enumerate(parts, 1):
            self.calibrate(name, "--shard", f"{i}/5", code=None)
        self.assertIn("0008.npy", self.qdq("merge", *parts[::-1], "-o", "m.state", code=1).err)
        self.assertEqual(self.bytes_of("m.state"), self.bytes_of("s.state"))

    def test_data_without_a_readable_sample_is_refused(self):
        self.make_folder(0)
        for i in range(3):
            npz(self.folder / f"data/{i}.npz", x=tensor("float64", SHAPE, [0.0] * 6))
        err = self.calibrate("s.state", "--checkpoint", "0", code=3).err
        self.assertEqual(err.splitlines()[-1],
                         "qdq: data: none of 3 samples could be read; the first: 0.npz: input 'x' has dtype float64, "
                         "wanted float32; convert it in numpy with x.astype('float32')")
        self.assertFalse((self.folder / "s.state").exists())
        self.assertIn("none of 3 samples", self.calibrate("s.state", "--resume", code=3).err)

    def test_merging_shards_without_a_readable_sample_is_refused(self):
        self.make_folder(0)
        for i in range(3):
            self.write(f"data/{i}.npz", "no archive")
        parts = ["1.state", "2.state"]
        for i, name in enumerate(parts, 1):
            self.calibrate(name, "--shard", f"{i}/2", code=1)
        self.assertIn("1.state: none of 3 samples could be read; the first is 0.npz",
                      self.qdq("merge", *parts, "-o", "m.state", code=3).err)
        self.assertFalse((self.folder / "m.state").exists())

    def test_a_file_of_another_dtype_is_known_from_its_header(self):
        self.make_folder(0)
        npz(self.folder / "all.npz", x=tensor("float64", [4, *SHAPE], [0.0] * 24))
        self.assertEqual(self.calibrate("s.state", data="all.npz", code=3).err,
                         "qdq: all.npz: input 'x' has dtype float64, wanted float32; convert it in numpy with "
                         "x.astype('float32')\n")

    def test_samples_of_a_file_are_listed_by_number(self):
        cast = node("Cast", "r", "x", dtype="float32")
        self.write("g.json", graph([cast], [harness.value("x", "int4", [2])], {"y": "r"}))
        good, bad = [1, 1], [99, 1]
        xs = sum([bad if i in (2, 9, 10) else good for i in range(12)], [])
        write_npy(self.folder / "x.npy", tensor("int8", [12, 2], xs))
        self.calibrate("s.state", data="x.npy", code=1)
        self.assertEqual(names(read_safetensors(self.folder / "s.state"), "unreadable"),
                         ["sample 2", "sample 9", "sample 10"])

    def test_other_files_of_a_folder_are_mentioned(self):
        self.make_folder(2)
        self.write("data/labels.txt", "")
        self.assertIn("'labels.txt' is no sample", self.calibrate("s.state").err)


if __name__ == "__main__":
    main()
