# SPDX-License-Identifier: Apache-2.0
"""Tests qdq.explain_accuracy. The expected ratios and counts are computed with numpy in float64.

    test_accuracy.py SOURCE_ROOT
"""

import ast
import io
import json
import math
import os
import pickle
import re
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import qdq

ROOT = None
F32 = np.float32
ROWS, WIDTH, HIDDEN, CLASSES = 48, 6, 16, 5
X_SCALE, X_ZERO, H_SCALE = F32(0.11), 3, F32(0.07)


def numbers(seed=1):
    """Returns x, both weights and classes that are right for about 3 of 4 rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (ROWS, WIDTH)).astype(F32)
    w1, w2 = rng.normal(0, 0.5, (WIDTH, HIDDEN)).astype(F32), rng.normal(0, 0.5, (HIDDEN, CLASSES)).astype(F32)
    y = scores(x, w1, w2)
    labels = np.where(rng.random(ROWS) < 0.7, y.argmax(axis=1), rng.integers(0, CLASSES, ROWS))
    return x, w1, w2, labels


def weight_scales(w, axis=0):
    return (np.abs(w).max(axis=axis) / F32(63)).astype(F32)  # 7 bits, so that there is noise


def rounded(x, scale, zero=0, low=-128, high=127):
    codes = np.clip(np.rint(x / scale) + zero, low, high)
    return (codes - zero) * np.float64(scale)


def scores(x, w1, w2, rounds=()):
    """Returns the scores if the pairs named in `rounds` round."""
    x = rounded(x, X_SCALE, X_ZERO) if "x" in rounds else np.float64(x)
    w1 = rounded(w1, weight_scales(w1)) if "w1" in rounds else np.float64(w1)
    w2 = rounded(w2, weight_scales(w2)) if "w2" in rounds else np.float64(w2)
    h = np.maximum(x @ w1, 0)
    h = rounded(h, H_SCALE) if "h" in rounds else h
    return h @ w2


PAIRS = ("x", "w1", "h", "w2")


def float_graph():
    x, w1, w2, _ = numbers()
    b = qdq.Builder("float")
    h = b.relu(b.matmul(b.input("x", "float32", x.shape), b.constant(w1, name="w1"), name="first"), name="h")
    b.output("y", b.matmul(h, b.constant(w2, name="w2"), name="second"))
    return b.build()


def quantized_graph(rows=ROWS):
    _, w1, w2, _ = numbers()
    b = qdq.Builder("quantized")

    def coded(value, name, scale, zero):
        codes = b.quantize(value, name=f"{name}.codes", scales=float(scale), zps=zero, dtype="int8")
        return b.dequantize(codes, name=f"{name}.real", scales=float(scale), zps=zero, dtype="float32")

    def weights(w, name):
        codes = b.constant(np.rint(w / weight_scales(w)).astype(np.int8), name=f"{name}")
        return b.dequantize(codes, name=f"{name}.real", scales=weight_scales(w), qtype="per_channel", axis=1, dtype="float32")

    x = coded(b.input("x", "float32", (rows, WIDTH)), "x", X_SCALE, X_ZERO)
    h = b.relu(b.matmul(x, weights(w1, "w1"), name="first"), name="h")
    b.output("y", b.matmul(coded(h, "h", H_SCALE, 0), weights(w2, "w2"), name="second"))
    return b.build()


def decibels(truth, found):
    return 10 * np.log10((truth**2).sum() / ((truth - found) ** 2).sum())


class Ratios(unittest.TestCase):
    def setUp(self):
        self.x, self.w1, self.w2, self.labels = numbers()
        self.truth = scores(self.x, self.w1, self.w2)

    def explain(self, data=None, **options):
        return qdq.explain_accuracy(quantized_graph(), float_graph(), {"x": self.x} if data is None else data, **options)

    def scores(self, *rounds):
        return scores(self.x, self.w1, self.w2, rounds)

    def test_each_pair_has_the_effect_of_rounding_alone(self):
        found = self.explain()
        by_name = {pair.name.partition(".")[0]: pair for pair in found.pairs}
        self.assertEqual(sorted(by_name), sorted(PAIRS))
        for name, pair in by_name.items():
            alone, others = self.scores(name), self.scores(*(one for one in PAIRS if one != name))
            self.assertAlmostEqual(pair.effect, decibels(self.truth, alone), delta=0.02, msg=name)
            self.assertAlmostEqual(pair.without, decibels(self.truth, others), delta=0.02, msg=name)
            self.assertEqual(pair.alike, (alone.argmax(axis=1) == self.truth.argmax(axis=1)).mean(), name)
            self.assertEqual(pair.kind, "weights" if name.startswith("w") else "activations")
            self.assertEqual(pair.products, ("first",) if name in ("x", "w1") else ("second",))
        effects = [pair.effect for pair in found.pairs]
        self.assertEqual(effects, sorted(effects))

    def test_outputs_have_the_loss_of_all_pairs(self):
        found = self.explain()
        (y,) = found.outputs
        every = self.scores(*PAIRS)
        self.assertAlmostEqual(y.ratio, decibels(self.truth, every), delta=0.02)
        samples = sorted(decibels(a, b) for a, b in zip(self.truth, every))
        self.assertGreaterEqual(y.median, samples[ROWS // 2 - 1] - 0.02)
        self.assertLessEqual(y.median, samples[ROWS // 2] + 0.02)
        self.assertEqual(y.alike, (every.argmax(axis=1) == self.truth.argmax(axis=1)).mean())
        alone = sum(((self.truth - self.scores(name)) ** 2).sum() for name in PAIRS)
        self.assertAlmostEqual(found.summed, 10 * np.log10((self.truth**2).sum() / alone), delta=0.02)
        self.assertEqual((found.target, found.samples, found.right), ("core", ROWS, None))

    def test_the_curve_puts_the_worst_pairs_in_float_together(self):
        found = self.explain()
        names = [pair.name.partition(".")[0] for pair in found.pairs]
        self.assertEqual([count for count, _ in found.curve], [0, 1, 2, 3, 4])
        for count, ratio in found.curve[:-1]:
            self.assertAlmostEqual(ratio, decibels(self.truth, self.scores(*names[count:])), delta=0.02)
        self.assertGreater(found.curve[-1][1], 100)

    def test_keep_names_the_products_that_lose_most(self):
        power = (self.truth**2).sum()
        noise = {name: ((self.truth - self.scores(name)) ** 2).sum() / power for name in PAIRS}
        noises = {"first": noise["x"] + noise["w1"], "second": noise["h"] + noise["w2"]}
        worst, best = sorted(noises, key=lambda name: -noises[name])
        found = self.explain()
        self.assertEqual(list(found.products()), [worst, best])
        for name, ratio in found.products().items():
            self.assertAlmostEqual(ratio, -10 * np.log10(noises[name]), delta=0.02)
        self.assertEqual(found.keep(-10 * np.log10(sum(noises.values())) - 0.1), [])
        self.assertEqual(found.keep(-10 * np.log10(sum(noises.values())) + 0.1), [worst])
        self.assertEqual(found.keep(-10 * np.log10(noises[best]) - 0.1), [worst])
        self.assertEqual(found.keep(-10 * np.log10(noises[best]) + 0.1), [worst, best])
        self.assertEqual(found.keep(math.inf), [worst, best])

    def test_right_answers_are_counted_by_labels_and_by_a_metric(self):
        every = self.scores(*PAIRS).argmax(axis=1)
        wanted = ((self.truth.argmax(axis=1) == self.labels).sum(), (every == self.labels).sum(), ROWS)
        self.assertNotEqual(wanted[0], wanted[1])
        for options in ({"labels": self.labels}, {"labels": {"y": self.labels.astype(np.uint8)}},
                        {"metric": lambda outputs, sample: (outputs["y"].argmax(axis=1) == self.labels).sum()}):  # fmt: skip
            right = self.explain(**options).right
            self.assertEqual((right.model, right.quantized, right.count), wanted)
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("y.txt", "y.npy", "y.npz")]
            Path(paths[0]).write_text("".join(f"{one}\n" for one in self.labels), encoding="utf-8")
            np.save(paths[1], self.labels), np.savez(paths[2], labels=self.labels, other=self.x)
            for path in (*paths, f"y={paths[1]}", f"{paths[2]}#labels"):
                right = self.explain(labels=path).right
                self.assertEqual((right.model, right.quantized, right.count), wanted, path)
        self.assertIn(f"right: {wanted[1]} of {ROWS}, in float {wanted[0]}", str(self.explain(labels=self.labels)))

    def test_the_text_and_the_cell_have_each_pair(self):
        found = self.explain(labels=self.labels)
        for text in (str(found), found._repr_html_().replace("\u00a0", " ")):
            for pair in found.pairs:
                self.assertIn(pair.name, text)
                self.assertIn(f"{pair.effect:.1f} dB", text)
        self.assertLess(len(found._repr_html_()), 20000)

    def test_a_pickle_has_all_but_the_graph(self):
        found = self.explain()
        again = pickle.loads(pickle.dumps(found))
        self.assertEqual((again, str(again), again.keep(99)), (found, str(found), found.keep(99)))
        with self.assertRaisesRegex(qdq.ArgumentError, "unpickled"):
            again.html()


class Pages(unittest.TestCase):
    def data(self, page):
        return json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S).group(1))

    def test_the_page_has_the_data_of_the_tool(self):
        x = numbers()[0]
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("quantized.json", "float.json", "x.npz", "page.html")]
            quantized_graph().write(paths[0]), float_graph().write(paths[1]), np.savez(paths[2], x=x)
            qdq._tool.run("explain", paths[0], "--against", paths[1], "-i", paths[2], "--html", paths[3])
            wanted = self.data(Path(paths[3]).read_text(encoding="utf-8"))
            made = self.data(qdq.explain_accuracy(paths[0], paths[1], {"x": x}).html())
        for page in (wanted, made):
            for name in ("call", "file", "seed"):
                del page[name]
            for name in ("graph", "against"):
                del page["explain"][name]
            page["targets"][0]["bits"]["groups"].sort(key=json.dumps)
        self.assertEqual(made, wanted)

    def test_the_page_names_both_models(self):
        x, folder = numbers()[0], ROOT / "models/digits_uneven"
        found = qdq.explain_accuracy(quantized_graph(), float_graph(), {"x": x})
        page = self.data(found.html())["explain"]
        self.assertEqual((page["graph"], page["against"]), ("quantized", "float"))
        paths = folder / "float_bias.onnx", folder / "model.onnx"
        page = self.data(qdq.explain_accuracy(*paths, folder / "calibration.safetensors", target="ort").html())["explain"]
        self.assertEqual((page["graph"], page["against"]), tuple(map(str, paths)))


class DataSets(unittest.TestCase):
    """models/digits_uneven, whose batch is open. Right answers are those of ONNX Runtime 1.32 (its README)."""

    def setUp(self):
        self.models = [ROOT / "models/digits_uneven" / f"{name}.onnx" for name in ("float_bias", "model")]
        self.held = ROOT / "models/digits/held_out.safetensors"
        self.arrays = qdq._files.read(self.held)

    def counted(self, data, target="ort", **options):
        right = qdq.explain_accuracy(*self.models, data, target=target, dims={"batch": 1}, **options).right
        return right.model, right.quantized, right.count

    def test_right_answers_of_a_file_are_those_of_onnx_runtime(self):
        labels = f"{self.held}#labels"
        self.assertEqual(self.counted(self.held, labels=labels), (354, 320, 360))
        self.assertEqual(self.counted(self.held, "onnx", labels=labels), (354, 351, 360))

    def test_a_metric_gets_all_arrays_of_a_sample(self):
        found = self.counted(self.held, metric=lambda outputs, sample: outputs["scores"].argmax() == sample["labels"])
        self.assertEqual(found, (354, 320, 360))

    def test_samples_may_be_given_one_by_one(self):
        some = self.arrays["x"][:40], self.arrays["labels"][:40]
        wanted = [qdq.load(model, dims={"batch": 40}).run(x=some[0], target="ort")["scores"] for model in self.models]
        wanted = [int((y.argmax(axis=1) == some[1]).sum()) for y in wanted]
        for samples in (some[0], [{"x": x} for x in some[0]], ({"x": x[None]} for x in some[0])):
            self.assertEqual(self.counted(samples, labels=some[1]), (wanted[1], wanted[0], 40))

    def test_the_first_pair_is_the_bias_that_overflows(self):
        found = qdq.explain_accuracy(*self.models, {"x": self.arrays["x"]}, target="ort", labels=self.arrays["labels"])
        self.assertEqual((found.pairs[0].kind, found.pairs[0].cause), ("group", "bias overflow"))
        products = {name for pair in found.pairs for name in pair.products}
        self.assertEqual(len(found.pairs[0].products), 1)
        self.assertEqual((found.right.model, found.right.quantized), (354, 320))
        self.assertEqual((len(products), set(found.keep(60))), (3, products))
        uneven = next(pair for pair in found.pairs if pair.name.startswith("pool1"))
        values = qdq.load(self.models[1], dims={"batch": 360}).run(x=self.arrays["x"], values="all")["pool1"]
        ranges = np.abs(values).max(axis=(0, 2, 3))
        self.assertEqual((uneven.cause, uneven.channels["axis"], uneven.channels["worst"][0][0]),
                         ("channel imbalance", 1, ranges.argmax()))  # fmt: skip
        self.assertAlmostEqual(uneven.channels["ratio"], ranges.max() / np.median(ranges), delta=0.02 * uneven.channels["ratio"])


class Products(unittest.TestCase):
    """A pair has the products with which `qdq quantize --keep` leaves it out."""

    def pairs(self, target, keep=()):
        """The pairs, by products, of a graph for a target with these products in float."""
        folder = ROOT / "models/digits_uneven"
        with tempfile.TemporaryDirectory() as scratch:
            state = qdq.calibrate(folder / "model.onnx", folder / "calibration.safetensors", state=f"{scratch}/all.state",
                                  dims={"batch": 1})  # fmt: skip
            made = qdq.quantize_graph(folder / "model.onnx", state, target=target, keep=keep, dims={"batch": 1})
        x = qdq._files.read(folder / "calibration.safetensors")["x"][:1]
        found = qdq.explain_accuracy(made, folder / "model.onnx", {"x": x}, dims={"batch": 1})
        return {pair.name: pair.products for pair in found.pairs if pair.kind != "group"}

    def test_products_in_float_have_no_pairs(self):
        for target, count in (("ort", 12), ("tensorrt", 8)):
            every = self.pairs(target)
            self.assertGreaterEqual(len(every), count)
            products = sorted({name for names in every.values() for name in names})
            self.assertEqual(len(products), 4)
            for kept in [*([one] for one in products), products[:2], products[2:], products[1:]]:
                left = self.pairs(target, kept)
                self.assertEqual(sorted(left), sorted(name for name, some in every.items() if set(some) - set(kept)), (target, kept))


class Aims(unittest.TestCase):
    """at_least and drop of quantize_graph, on models/digits_uneven."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model, self.held = ROOT / "models/digits_uneven/model.onnx", ROOT / "models/digits/held_out.safetensors"
        self.state = qdq.calibrate(self.model, ROOT / "models/digits_uneven/calibration.safetensors",
                                   state=f"{folder.name}/all.state", dims={"batch": 1})  # fmt: skip
        arrays = qdq._files.read(self.held)
        self.x, self.labels = arrays["x"], arrays["labels"]
        self.truth = qdq.load(self.model, dims={"batch": 360}).run(x=self.x)["scores"].astype(np.float64)

    def quantized(self, target="tensorrt", **options):
        return qdq.quantize_graph(self.model, self.state, target=target, dims={"batch": 1}, data=self.held, **options)

    def scores(self, made, target="tensorrt"):
        return np.concatenate([made.graph.run(x=x[None], target=target)["scores"] for x in self.x])

    def right(self, made):
        return int((self.scores(made).argmax(axis=1) == self.labels).sum())

    def test_the_ratio_is_reached_with_the_first_of_the_ranking(self):
        made = self.quantized(at_least=20)
        ratio = decibels(self.truth, self.scores(made))
        self.assertGreaterEqual(ratio, 20)
        self.assertAlmostEqual(made.deployed, ratio, delta=0.01)
        self.assertEqual(set(made.kept), {one.name for one in made.nodes if not one.quantized})
        names, effects = zip(*made.ranking)
        self.assertEqual((len(names), list(effects)), (4, sorted(effects)))
        self.assertEqual(set(made.kept), set(names[: len(made.kept)]))
        for fewer in names[: len(made.kept)]:
            less = self.quantized(keep=[one for one in made.kept if one != fewer])
            self.assertLess(decibels(self.truth, self.scores(less)), 20)
        self.assertIn(f"kept in float: {', '.join(made.kept)}", str(made))

    def test_equalizing_mends_channels_and_keeps_the_float_network(self):
        made, plain = self.quantized(equalize=True), self.quantized()
        self.assertGreater(decibels(self.truth, self.scores(made)), decibels(self.truth, self.scores(plain)) + 12)
        self.assertEqual(made.report["float_outputs"], {"same": 360, "samples": 360})
        self.assertGreaterEqual(len(made.sites), 2)
        for site in made.sites:
            self.assertEqual((len(site.products), site.method == "weights"), (1, site.alpha is None))
            self.assertGreater(site.after, site.before)
        first = next(site for site in made.sites if "conv1" in site.node)
        values = np.abs(qdq.load(self.model, dims={"batch": 360}).run(x=self.x, values="all")["pool1"]).max(axis=(0, 2, 3))
        self.assertAlmostEqual(first.ratio, values.max() / np.median(values), delta=0.05 * first.ratio)
        self.assertIn(f"equalized {first.node} -> {first.products[0]}: ", str(made))
        self.assertEqual(plain.sites, ())

    def test_corrections_are_taken_where_the_output_gains(self):
        made, plain = self.quantized("ort", correct=True), self.quantized("ort")
        ratios = [decibels(self.truth, self.scores(one, "ort")) for one in (plain, made)]
        self.assertGreater(ratios[1], ratios[0] + 1)
        self.assertTrue(made.corrections)
        for one, next_one in zip(made.corrections, [*made.corrections[1:], None]):
            self.assertGreaterEqual(one.after, one.before + 0.1)
            self.assertEqual(one.after, one.after if next_one is None else next_one.before)
            self.assertIn(one.node, [node.name for node in made.nodes])
            self.assertIn(f"corrected {one}", str(made))
            self.assertEqual(one.what == "weights", one.changed > 0)
        judged = sorted(decibels(a[None], b[None]) for a, b in zip(self.truth, self.scores(plain, "ort")))
        self.assertAlmostEqual(made.corrections[0].before, judged[180], delta=1)  # the median of half the samples
        self.assertEqual(plain.corrections, ())

    def test_the_batch_stays_open_in_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, options in (("a.onnx", {"at_least": 20}), ("b.onnx", {"metric": self.metric, "drop": 1}), ("c.json", {})):
                made = self.quantized("ort", out=f"{folder}/{name}", **options)
                again = qdq.load(f"{folder}/{name}", dims=None if name == "c.json" else {"batch": 360}, target="ort")
                scores = [again.run(x=x)["scores"] for x in (self.x[:, None] if name == "c.json" else [self.x])]
                # ONNX Runtime adds a float product of one row in another order.
                np.testing.assert_allclose(np.concatenate(scores), self.scores(made, "ort"), atol=1e-3)

    def test_an_equalized_graph_is_explained_by_its_own_channels(self):
        found = qdq.explain_accuracy(self.quantized(equalize=True), self.model, self.held, dims={"batch": 1})
        self.assertGreater(found.pairs[0].effect, found.outputs[0].ratio - 1)
        self.assertAlmostEqual(found.summed, found.outputs[0].ratio, delta=2)
        self.assertEqual((found.samples, found.effect_samples), (360, 64))
        self.assertIn(f"summed one by one {found.summed:.1f} dB, on 64 samples", str(found))

    def test_a_model_and_samples_are_enough(self):
        """Without dims and a state: the batch has the size of the data, whose ranges are the scales'."""
        calibration = ROOT / "models/digits_uneven/calibration.safetensors"
        wanted = qdq.quantize_graph(self.model, self.state, target="ort", data=calibration, dims={"batch": 1})
        some = qdq._files.read(calibration)["x"]
        for data in (calibration, list(some), [{"x": x[None]} for x in some]):
            made = qdq.quantize_graph(self.model, target="ort", data=data)
            self.assertEqual((made.outputs, made.nodes), (wanted.outputs, wanted.nodes))
            np.testing.assert_array_equal(self.scores(made, "ort"), self.scores(wanted, "ort"))
        batch = qdq.quantize_graph(self.model, target="ort", data={"x": some})
        self.assertEqual(batch.graph.compile().inputs[0].shape, (64, 1, 8, 8))
        one = wanted.graph.run(x=some[:1])["scores"]  # ONNX Runtime adds a product of one row in another order
        np.testing.assert_allclose(batch.graph.run(x=some)["scores"][:1], one, atol=1e-3)
        self.assertEqual(qdq.explain_accuracy(batch, self.model, {"x": some}).samples, 64)

    def test_a_target_of_kernels_on_codes_gets_a_whole_network_of_codes(self):
        """For litert and tflm every operator reads and gives codes; the interface stays, and so do the classes."""
        calibration = ROOT / "models/digits_uneven/calibration.safetensors"
        for target in ("litert", "tflm"):
            made = qdq.quantize_graph(self.model, target=target, data=calibration, equalize=True)
            self.assertTrue(all(node.quantized for node in made.nodes))
            report = made.graph.check(target)
            self.assertEqual((report.errors, report.warnings), (0, 0))
            plan = made.graph.compile(target=target)
            self.assertEqual((plan.inputs[0].shape, plan.outputs[0].shape), ((1, 1, 8, 8), (1, 10)))
            found = self.scores(made, target)
            self.assertGreater(decibels(self.truth, found), 30)
            self.assertGreater((found.argmax(axis=1) == self.truth.argmax(axis=1)).mean(), 0.98)
        with self.assertRaisesRegex(qdq.UnsupportedError, "--keep is given, but target litert computes every operator"):
            qdq.quantize_graph(self.model, target="litert", data=calibration, keep=["scores"])

    def test_a_report_of_explain_names_the_same_products(self):
        found = qdq.explain_accuracy(self.quantized(), self.model, {"x": self.x[:1]}, dims={"batch": 1})
        self.assertEqual(list(found.products()), [name for name, _ in self.quantized(at_least=1).ranking])

    def test_labels_count_right_answers(self):
        made = self.quantized(labels=self.labels)
        self.assertEqual((made.right.model, made.right.quantized, made.right.count), (354, self.right(made), 360))
        self.assertEqual(self.quantized(labels=f"{self.held}#labels").right, made.right)
        self.assertEqual(self.quantized(metric=self.metric).right, made.right)

    @staticmethod
    def metric(outputs, sample):
        return outputs["scores"].argmax() == sample["labels"]

    def test_a_drop_is_reached_by_a_metric(self):
        for drop in (60, 3, 1):
            made = self.quantized(metric=self.metric, drop=drop)
            self.assertEqual((made.right.model, made.right.quantized), (354, self.right(made)))
            self.assertGreaterEqual(made.right.quantized, 354 - 3.6 * drop)
            self.assertEqual(list(made.kept), [name for name, _ in made.ranking[: len(made.kept)]])
            if made.kept:
                less = self.quantized(keep=made.kept[:-1])
                self.assertLess(self.right(less), 354 - 3.6 * drop)
            self.assertEqual(len(self.quantized(labels=self.labels, drop=drop).kept), len(made.kept))
        self.assertEqual(len(made.kept), 2)

    def test_wrong_aims_are_refused(self):
        cases = [(TypeError, "at_least is '30', wanted a number", {"at_least": "30"}),
                 (qdq.ArgumentError, "drop is given without labels or metric", {"drop": 1}),
                 (qdq.ArgumentError, "--drop is '-1.0', wanted a number of percent", {"drop": -1, "labels": self.labels}),
                 (qdq.ArgumentError, "labels and metric are both given", {"labels": self.labels, "metric": self.metric}),
                 (qdq.UnsupportedError, "no set of products in float reaches --at-least 900", {"at_least": 900}),
                 (TypeError, "metric returned 0.5", {"metric": lambda outputs, sample: 0.5})]  # fmt: skip
        for kind, text, options in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                self.quantized(**options)
        with self.assertRaisesRegex(qdq.ArgumentError, "metric is given without data"):
            qdq.quantize_graph(self.model, self.state, target="ort", metric=self.metric)
        for name in ("equalize", "correct"):
            with self.assertRaisesRegex(qdq.ArgumentError, f"{name} is given without data"):
                qdq.quantize_graph(self.model, self.state, target="ort", **{name: True})
        with self.assertRaisesRegex(qdq.ArgumentError, "'batc'"):
            qdq.quantize_graph(self.model, target="ort", data=self.held, dims={"batc": 1})
        with self.assertRaisesRegex(qdq.ArgumentError, "state and data are both None"):
            qdq.quantize_graph(self.model, target="ort")


class Refusals(unittest.TestCase):
    def refused(self, kind, text, data=None, **options):
        with self.assertRaisesRegex(kind, text):
            qdq.explain_accuracy(quantized_graph(), float_graph(), {"x": numbers()[0]} if data is None else data, **options)

    def test_a_float_is_no_count(self):
        self.refused(TypeError, "metric returned 0.5, wanted a bool or an integer", metric=lambda outputs, sample: 0.5)
        self.refused(TypeError, "metric returned .*1.0.*, wanted a bool", metric=lambda outputs, sample: np.float32(1))
        self.refused(TypeError, "metric returned None, wanted a bool", metric=lambda outputs, sample: None)

    def test_a_metric_is_a_function(self):
        self.refused(TypeError, "metric is 'top1', wanted a function", metric="top1")
        self.refused(qdq.ArgumentError, "labels and metric are both given", metric=len, labels=[1])

    def test_labels_are_one_integer_for_each_row(self):
        labels = numbers()[3]
        self.refused(qdq.ArgumentError, "labels is an array of float64, wanted integers", labels=labels / 2)
        self.refused(qdq.ArgumentError, "labels has 3 classes, too few", labels=labels[:3])
        self.refused(qdq.ArgumentError, "labels has 96 classes, too many", labels=np.tile(labels, 2))
        self.refused(qdq.ArgumentError, "nothing.npy: has no labels", labels="nothing.npy")
        self.refused(qdq.ArgumentError, "labels has output 'z', and the graph y", labels={"z": labels})

    def test_data_is_inputs_or_samples(self):
        self.refused(TypeError, "data is 5, wanted", data=5)
        self.refused(qdq.ArgumentError, "data has no arrays", data={})
        self.refused(qdq.ArgumentError, "data has no samples", data=[])
        self.refused(qdq.ArgumentError, "a sample has no array of input 'x'; it has z", data={"z": np.zeros((2, 2), F32)})
        self.refused(qdq.ArgumentError, "array 'x' of data is an array of <U1, wanted numbers", data={"x": "a"})
        self.refused(qdq.ArgumentError, r"^input 'x' has shape \[2, 2\] in a sample, wanted \[48, 6\]", data={"x": np.zeros((2, 2), F32)})


class Documents(unittest.TestCase):
    """The guide and its notebook, with the numbers that they print."""

    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)

    def test_the_guide_runs(self):
        blocks = re.findall(r"^```python\n(.*?)^```", Path("docs/quantize_a_model.md").read_text(encoding="utf-8"), re.S | re.M)
        self.assertTrue(blocks)
        said = io.StringIO()
        with redirect_stdout(said):
            for block in blocks:
                exec(compile(block, "quantize_a_model.md", "exec"), {"__name__": "__main__"})
        for comment in re.findall(r"^print.*?  +# (.*)$", "".join(blocks), re.M):
            self.assertIn(f"{comment}\n", said.getvalue())

    def shown(self, name):
        """Runs the cells of a notebook. Returns the HTML that Jupyter would show."""
        notebook = json.loads(Path(name).read_text(encoding="utf-8"))
        self.assertEqual(notebook["nbformat"], 4)
        scope, shown = {"__name__": "__main__"}, []
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
            body = ast.parse("".join(cell["source"]))
            last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
            with redirect_stdout(io.StringIO()):
                exec(compile(body, "cell", "exec"), scope)
                value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
            if hasattr(value, "_repr_html_"):
                shown.append(value._repr_html_())
        return shown

    def test_the_notebook_runs(self):
        shown = self.shown("docs/quantize_a_model.ipynb")
        self.assertGreaterEqual(len(shown), 2)
        for table in shown:
            self.assertRegex(table, r"<table>.*<td")
            self.assertRegex(table, r"right: \d+ of 360, in float 354")

    def test_the_notebook_about_differing_bits_runs(self):
        _, table, found, page, cause, other = self.shown("docs/why_bits_differ.ipynb")
        self.assertRegex(table, r"<table>.*<td>hidden_out</td><td>onnx and ttnn</td><td>32 of 32</td>")
        self.assertRegex(found, r"hidden_out: 32 of 32 elements differ from target onnx\ncause: multiply-add")
        self.assertRegex(cause, r"cause: tie \(node &#x27;codes&#x27;, as target ttnn@wormhole\): all bits are reproduced")
        for frame, word in ((page, "hidden_out"), (other, "codes")):
            self.assertRegex(frame, r'^<iframe srcdoc="&lt;!DOCTYPE html[^"]*" width="100%" height="700"></iframe>$')
            self.assertIn(word, frame)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
