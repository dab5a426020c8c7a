# SPDX-License-Identifier: Apache-2.0
"""Tests qdq.calibrate, qdq.merge and State. The expected statistics are computed with numpy and exact fractions.

    test_states.py SOURCE_ROOT
"""

import os
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
import warnings
from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np
import qdq

F32 = np.float32
SHAPE = (2, 3)


def network():
    """y = x clipped at 0 from below, and its exponential."""
    b = qdq.Builder("chain")
    x = b.input("x", "float32", SHAPE)
    b.output("y", b.exp(b.relu(x, name="r"), name="e"))
    return b.build()


def numbers(count, seed=1):
    """Samples of many sizes, with NaN, infinities and zeros."""
    rng = np.random.default_rng(seed)
    made = (rng.normal(0, 1, (count, *SHAPE)) * 2.0 ** rng.integers(-40, 5, (count, *SHAPE))).astype(F32)
    made[0, 0] = [np.nan, np.inf, -np.inf]
    made[1, 1] = [0, -0.0, 1]
    return made


class States(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.xs = numbers(12)
        network().write(self.folder / "g.json")
        (self.folder / "data").mkdir()
        for i, x in enumerate(self.xs):
            np.savez(self.folder / f"data/{i:03}.npz", x=x)

    def calibrate(self, name="all.state", data=None, **options):
        return qdq.calibrate(network(), self.folder / "data" if data is None else data, state=self.folder / name, **options)

    def shards(self, count):
        return [self.calibrate(f"{i}.state", shard=(i, count)) for i in range(1, count + 1)]


def product():
    """y = x * w, where w has columns of 1 and of -2 and 0.5, and z, the sums of x."""
    b = qdq.Builder("product")
    w = b.constant(F32([[1, -2], [1, 0.5], [1, 0.5]]), name="w")
    x = b.input("x", "float32", SHAPE)
    b.output("y", b.matmul(x, w, name="main"))
    b.output("z", b.matmul(x, b.constant(np.ones((3, 1), F32), name="ones"), name="sums"))
    return b.build()


class Quantizing(States):
    """x from -3 to 2 has scale 5 / 255 and zero point 153; with one scale for both signs 3 / 127 and 128."""

    XS = (F32([[-3, 1, 2], [0, 0.5, 1]]), F32([[1, 1, 1], [2, -1, 0.25]]))

    def quantized(self, **options):
        state = qdq.calibrate(product(), self.XS, state=self.folder / "product.state")
        return qdq.quantize_graph(product(), state, target="onnx", data=self.XS, **options)

    def wanted(self, x, scale, zero, weights):
        codes = np.clip(np.rint(x / F32(scale)) + zero, 0, 255)
        return ((codes - zero).astype(F32) * F32(scale)) @ weights

    def test_codes_have_the_range_of_the_samples(self):
        half = F32(32) * F32(F32(2) / F32(127))  # 0.5 becomes code 32
        weights = F32([[1, -2], [1, half], [1, half]])
        for scale, zero, options in ((F32(5) / F32(255), 153, {}), (F32(3) / F32(127), 128, {"symmetric": True})):
            made = self.quantized(**options)
            for x in self.XS:
                got = made.graph.run(x=x)["y"]
                np.testing.assert_allclose(got, self.wanted(x, scale, zero, weights), rtol=1e-6)

    def test_the_report_has_the_noise_of_the_samples(self):
        made = self.quantized()
        exact = np.concatenate([x @ F32([[1, -2], [1, 0.5], [1, 0.5]]) for x in self.XS]).astype(np.float64)
        noise = exact - np.concatenate([made.graph.run(x=x)["y"] for x in self.XS])
        ratio = 10 * np.log10((exact**2).sum() / (noise**2).sum())
        self.assertAlmostEqual(made.outputs["y"], ratio, places=2)
        self.assertEqual([(n.name, n.op, n.quantized) for n in made.nodes], [("main", "MatMul", True), ("sums", "MatMul", True)])
        self.assertIn("main: MatMul, ", str(made))

    def test_a_node_can_stay_in_float(self):
        made = self.quantized(keep="main")
        self.assertEqual([(n.quantized, n.reason) for n in made.nodes], [(False, "--keep"), (True, "")])
        self.assertIsNone(made.outputs["y"])
        self.assertIn("main: MatMul, float: --keep, exact", str(made))
        np.testing.assert_array_equal(made.graph.run(x=self.XS[0])["y"], product().run(x=self.XS[0])["y"])

    def test_bad_arguments_are_refused(self):
        with self.assertRaisesRegex(qdq.ArgumentError, "has no node 'mian'; did you mean 'main'"):
            self.quantized(keep=["mian"])
        with self.assertRaisesRegex(qdq.ArgumentError, "wanted 'percentile'"):
            self.quantized(percentile=99)
        with self.assertRaisesRegex(qdq.StateError, "is of another graph than"):
            qdq.quantize_graph(product(), self.calibrate(), target="onnx")


class Values(States):
    def test_statistics_are_those_of_numpy(self):
        state = self.calibrate()
        self.assertEqual((list(state.values), state.samples, state.shard), (["e", "r", "x"], 12, ((1,), 1)))
        self.assertEqual((state.target, state.unreadable), ("core", ()))
        done = subprocess.run([sys.executable, "-m", "qdq", "fingerprint", "g.json"], cwd=self.folder, capture_output=True,
                              text=True, check=True)  # fmt: skip
        self.assertIn(state.fingerprint, done.stdout)
        finite = self.xs[np.isfinite(self.xs)]
        x = state.values["x"]
        self.assertEqual((x.dtype, x.min, x.max, x.count), ("float32", finite.min(), finite.max(), finite.size))
        self.assertEqual((x.nans, x.infinities, x.zeros), (1, (1, 1), int((finite == 0).sum())))
        exact = [Fraction(float(one)) for one in finite]
        mean = sum(exact) / len(exact)
        self.assertEqual(x.mean, float(mean))
        self.assertAlmostEqual(x.std / float(sum((one - mean) ** 2 for one in exact) / len(exact)) ** 0.5, 1, places=14)

    def test_histograms_are_those_of_numpy(self):
        """numpy puts a number on an edge to the right of it, so negative numbers are counted with their sign turned."""
        edges = qdq.histogram_edges()
        histogram = self.calibrate().values["x"].histogram
        finite = self.xs[np.isfinite(self.xs)].astype(np.float64)
        self.assertEqual((edges.size, histogram.size), (4100, 4099))
        positive = np.histogram(finite[finite >= 0], edges)[0]
        negative = np.histogram(-finite[finite < 0], edges)[0][::-1]
        np.testing.assert_array_equal(histogram, positive + negative)

    def test_without_numbers_the_mean_is_nan(self):
        with self.assertWarnsRegex(UserWarning, r"^\S+all\.state: 3 of 3 values have elements that are not finite.* has 6 NaN"):
            x = self.calibrate(data=[np.full(SHAPE, np.nan, F32)]).values["x"]
        self.assertEqual((x.count, x.nans, x.min, x.max), (0, 6, np.inf, -np.inf))
        self.assertTrue(np.isnan(x.mean) and np.isnan(x.std))


class Shards(States):
    def test_a_shard_may_be_a_text(self):
        self.assertEqual(self.calibrate("text.state", shard="2/3"), self.calibrate("pair.state", shard=(2, 3)))

    def test_merged_shards_have_the_bytes_of_one_run(self):
        whole, shards = self.calibrate(), self.shards(3)
        self.assertEqual([one.shard for one in shards], [((i,), 3) for i in (1, 2, 3)])
        self.assertEqual(qdq.merge(reversed(shards), self.folder / "merged.state"), whole)
        part = shards[0].merge([shards[2].path], self.folder / "part.state", partial=True)
        self.assertEqual(part.shard, ((1, 3), 3))
        self.assertEqual(part.merge([shards[1]], self.folder / "two.state"), whole)
        self.assertNotEqual(part, whole)

    def test_threads_do_not_change_the_bytes(self):
        self.assertEqual(self.calibrate(threads=1), self.calibrate("two.state", threads=2))

    def test_a_run_resumes_from_its_checkpoint(self):
        whole = self.calibrate()
        os.rename(whole.path, self.folder / "other.state.part")
        (self.folder / "other").mkdir()
        np.save(self.folder / "other/0.npy", self.xs[0])
        with self.assertRaisesRegex(qdq.StateError, r"other\.state\.part is of another set of data"):
            self.calibrate("other.state", data=self.folder / "other", resume=True)
        with self.assertRaisesRegex(qdq.ArgumentError, "a stream cannot be read again"):
            self.calibrate("other.state", data=[self.xs[0]], resume=True)
        self.assertEqual(self.calibrate("other.state", resume=True), self.calibrate())

    def test_errors_have_the_sentence_of_the_tool(self):
        first, second = self.shards(2)
        out = self.folder / "out.state"
        (self.folder / "cut.state").write_bytes(Path(first.path).read_bytes()[:-9])
        other = Path(first.path).read_bytes()[:-40] + bytes(40)
        (self.folder / "other.state").write_bytes(other)
        cases = [(qdq.StateError, "1 shard is missing: 2/2", lambda: qdq.merge([first], out)),
                 (qdq.StateError, "shard 1/2 is in", lambda: qdq.merge([first, first], out)),
                 (qdq.StateError, "cut.state", lambda: qdq.merge([second, self.folder / "cut.state"], out)),
                 (qdq.StateError, "none', wanted a folder", lambda: self.calibrate(data=self.folder / "none")),
                 (qdq.StateError, "cut.state: is no state", lambda: qdq.State(self.folder / "cut.state").samples),
                 (qdq.StateError, "other.state: is damaged", lambda: qdq.State(self.folder / "other.state").values),
                 (qdq.FileError, "none.state", lambda: qdq.State(self.folder / "none.state").values),
                 (qdq.ArgumentError, "3/2", lambda: self.calibrate(shard=(3, 2))),
                 (qdq.ArgumentError, "--shard is '2', wanted i/n", lambda: self.calibrate(shard="2")),
                 (TypeError, r"shard is 3, wanted \(number, count\) or 'number/count'", lambda: self.calibrate(shard=3)),
                 (TypeError, "shard is .1, 2, 3., wanted", lambda: self.calibrate(shard=(1, 2, 3))),
                 (TypeError, "states is 'first.state', wanted a list", lambda: qdq.merge("first.state", out)),
                 (TypeError, "wanted a list", lambda: qdq.merge(first, out)),
                 (qdq.ArgumentError, "nothing", lambda: self.calibrate(target="nothing"))]  # fmt: skip
        for kind, text, do in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text) as raised:
                do()
            self.assertFalse(str(raised.exception).startswith("qdq"))
        self.assertTrue(issubclass(qdq.StateError, qdq.ParseError))


class Samples(States):
    def test_an_iterable_gives_the_statistics_of_its_files(self):
        whole = self.calibrate()
        for data in (({"x": x} for x in self.xs), iter(self.xs), list(self.xs), [x[None] for x in self.xs]):
            made = self.calibrate("made.state", data)
            self.assertEqual({name: (one.mean, one.histogram.tolist()) for name, one in made.values.items()},
                             {name: (one.mean, one.histogram.tolist()) for name, one in whole.values.items()})  # fmt: skip

    def test_an_iterable_is_taken_in_shards(self):
        whole = self.calibrate("whole.state", iter(self.xs))
        shards = [self.calibrate(f"{i}.state", iter(self.xs), shard=(i, 2)) for i in (1, 2)]
        self.assertEqual(qdq.merge(shards, self.folder / "merged.state"), whole)

    def test_memory_holds_one_sample_and_the_files_are_removed(self):
        count, size = 40, 1 << 20
        b = qdq.Builder("large")
        b.output("y", b.relu(b.input("x", "float32", (size // 4,))))
        with mock.patch.object(tempfile, "tempdir", str(self.folder / "temporary")):
            (self.folder / "temporary").mkdir()
            tracemalloc.start()
            qdq.calibrate(b.build(), (np.full(size // 4, i, F32) for i in range(count)), state=self.folder / "large.state")
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            self.assertEqual(os.listdir(self.folder / "temporary"), [])
        self.assertLess(peak, 6 * size)
        self.assertEqual(qdq.State(self.folder / "large.state").values["x"].max, count - 1)

    def test_samples_that_do_not_fit_are_named_in_a_warning(self):
        (self.folder / "data/bad.npz").write_bytes(b"no archive")
        with self.assertWarnsRegex(UserWarning, r"(?s)bad\.npz: .*1 of 13 samples could not be read") as caught:
            state = self.calibrate()
        self.assertEqual(caught.filename, __file__)
        self.assertEqual((state.unreadable, state.samples), (("bad.npz",), 12))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (self.folder / "data/bad.npz").unlink()
            (self.folder / "data/000.npz").unlink()  # has NaN
            self.calibrate()

    def test_other_data_are_refused(self):
        for data, text in (([], "no samples"), ([{}], "sample 0 of data has no arrays"),
                           ([np.array(["text"])], "sample 0 of data is an array of <U4, wanted a dict")):  # fmt: skip
            with self.subTest(text), self.assertRaisesRegex(qdq.ArgumentError, text):
                self.calibrate(data=data)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
