#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize and explain --labels: shares that are right against outputs of qdq run, and labels that are refused."""

import random
from pathlib import Path

import harness
from harness import Case, constant, graph, main, read_safetensors, tensor, unpack, value, write_npy
from product_networks import SAMPLES, Labelled, classes, network, normal, product


class Labels(Labelled):
    def test_counts_are_of_the_outputs(self):
        for seed in (1, 2, 3):
            self.begin(seed)
            for target in ("ort", "tensorrt", "core"):
                told = self.json(*self.words(target, "--labels", "labels.txt"))
                wanted = self.counts("q.json", target)
                self.assertEqual(told["labels"], {"output": "y", **wanted})
                line = (f"top-1: {100 * wanted['float'] / SAMPLES:.1f} % float, {100 * wanted['quantized'] / SAMPLES:.1f} % "
                        f"quantized, {wanted['quantized']} of {SAMPLES} right, {100 * wanted['alike'] / SAMPLES:.1f} % as in "
                        "float")
                self.assertIn(line, self.qdq(*self.words(target, "--labels", "labels.txt")).out.splitlines())

    def test_all_kinds_of_files_are_the_same_labels(self):
        self.begin()
        wanted = self.json(*self.words("ort", "--labels", "labels.txt"))["labels"]
        write_npy(self.folder / "l.npy", tensor("int64", [SAMPLES], self.truth))
        write_npy(self.folder / "column.npy", tensor("uint8", [SAMPLES, 1], self.truth))
        (self.folder / "l.safetensors").write_bytes(harness.safetensors_bytes(
            {"truth": tensor("int32", [SAMPLES], self.truth), "other": tensor("float32", [1], [1])}))
        (self.folder / "one.safetensors").write_bytes(harness.safetensors_bytes(
            {"any": tensor("int32", [1, SAMPLES], self.truth)}))
        self.write("spaced.txt", "\n".join(f"  {c} \r" for c in self.truth) + "\n\n")
        for word in ("l.npy", "column.npy", "l.safetensors#truth", "one.safetensors", "y=l.npy", "spaced.txt"):
            self.assertEqual(self.json(*self.words("ort", "--labels", word))["labels"], wanted, word)

    def test_wrong_files_are_refused(self):
        self.begin()
        def refused(word, text, code=3):
            told = self.qdq(*self.words("ort", "--labels", word, out="none.json"), code=code)
            self.assertEqual(told.err, f"qdq: {text}\n")
            self.assertFalse((self.folder / "none.json").exists())
        row = "a class for each row of output 'y' and each sample"
        self.write("short.txt", "1\n2\n")
        refused("short.txt", f"short.txt: has 2 lines, wanted [{SAMPLES}]: {row}")
        self.write("long.txt", "1\n" * (SAMPLES + 1))
        refused("long.txt", f"long.txt: has more than {SAMPLES} lines, wanted [{SAMPLES}]: {row}")
        self.write("words.txt", "1\ncat\n")
        refused("words.txt", "words.txt:2: is no integer; wanted a class in each line")
        self.write("two.txt", "1 2\n" * SAMPLES)
        refused("two.txt", "two.txt:1: is no integer; wanted a class in each line")
        self.write("high.txt", "1\n1\n4\n" + "1\n" * SAMPLES)
        refused("high.txt", "high.txt: label [2] is 4, wanted 0 to 3: output 'y' has 4 classes")
        self.write("low.txt", "-1\n" * SAMPLES)
        refused("low.txt", "low.txt: label [0] is -1, wanted 0 to 3: output 'y' has 4 classes")
        self.write("binary.txt", bytes(4096))
        refused("binary.txt", "binary.txt:1: is no integer; wanted a class in each line")
        refused(".", ".: cannot be read: Is a directory")
        write_npy(self.folder / "f.npy", tensor("float32", [SAMPLES], self.truth))
        refused("f.npy", "f.npy: has dtype float32, wanted integers; convert it in numpy with y.astype('int64')")
        write_npy(self.folder / "s.npy", tensor("int64", [2, 3], self.truth[:6]))
        refused("s.npy", f"s.npy: has shape [2, 3], wanted [{SAMPLES}]: {row}")
        refused("none.txt", "none.txt: cannot be opened: No such file or directory")
        refused("z=labels.txt", "--labels: the graph has no output 'z'", code=2)
        refused("=labels.txt", "--labels is '=labels.txt', wanted [OUTPUT=]FILE[#TENSOR]", code=2)
        told = self.qdq(*self.words("ort", "--labels", "labels.txt", "--labels", "labels.txt"), code=2)
        self.assertIn("--labels is given 2 times, wanted once", told.err)
        told = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "ort", "-o", "q.json", "--labels", "labels.txt", code=2)
        self.assertEqual(told.err, "qdq: --labels is given for random inputs; give the samples with --data or -i\n")

    def test_one_of_several_outputs_is_named(self):
        self.begin()
        g, _ = network(1)
        g["outputs"].append({"name": "hidden", "value": "rd"})
        self.write("g.json", g)
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        told = self.qdq(*self.words("ort", "--labels", "labels.txt"), code=2)
        self.assertEqual(told.err, "qdq: --labels is 'labels.txt', but the graph has 2 outputs; name the one that decides: "
                                   "--labels y=labels.txt\n")
        told = self.json(*self.words("ort", "--labels", "y=labels.txt"))
        self.assertEqual(told["labels"], {"output": "y", **self.counts("q.json", "ort")})

    def test_rows_of_an_output_have_a_class_each(self):
        draw = random.Random(5)
        g = graph([product("m", "x", "w")], inputs=[value("x", shape=[1, 3, 4])], outputs={"y": "m"},
                  constants=[constant("w", "float32", [4, 5], normal(draw, 20))])
        self.write("g.json", g)
        xs = normal(draw, 6 * 12)
        (self.folder / "x.safetensors").write_bytes(
            harness.safetensors_bytes({"x": tensor("float32", [6, 3, 4], xs)}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        truth = [draw.randrange(5) for _ in range(18)]
        write_npy(self.folder / "l.npy", tensor("int64", [6, 3], truth))
        told = self.json(*self.words("core", "--labels", "l.npy"))["labels"]
        self.qdq("run", "g.json", "--shape", "x=6,3,4", "-i", "x.safetensors", "-o", "y.safetensors")
        got = classes(unpack(read_safetensors(self.folder / "y.safetensors")["y"]), 5)
        self.assertEqual((told["rows"], told["float"]), (18, sum(a == b for a, b in zip(got, truth))))
        write_npy(self.folder / "l.npy", tensor("int64", [18], truth))
        told = self.qdq(*self.words("core", "--labels", "l.npy"), code=3)
        self.assertEqual(told.err, "qdq: l.npy: has shape [18], wanted [6, 3]: a class for each row of output 'y' and each "
                                   "sample\n")

    def test_an_output_without_classes_is_refused(self):
        self.begin()
        g, _ = network(1)
        g["nodes"].append({"op": "ReduceSum", "name": "total", "inputs": {"x": "e"}, "attrs": {"axes": [1]}})
        g["outputs"] = [{"name": "y", "value": "total"}]
        self.write("g.json", g)
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        told = self.qdq(*self.words("core", "--labels", "labels.txt"), code=2)
        self.assertEqual(told.err, "qdq: --labels: output 'y' has shape [1], wanted classes in the last dim\n")


class Explain(Labelled):
    def begin(self, seed=1):
        super().begin(seed)
        self.qdq(*self.words("ort", "--per-tensor"))

    def test_counts_are_of_the_outputs(self):
        for target in ("ort", "core"):
            self.begin()
            words = ("explain", "q.json", "--against", "g.json", "-t", target, "--shape", f"x={SAMPLES},8", "-i", "x.safetensors",
                     "--labels", "labels.txt")
            wanted = self.counts("q.json", target)
            self.assertEqual(self.json(*words, code=1)["labels"], {"output": "y", **wanted})
            lines = self.qdq(*words, code=1).out.splitlines()
            self.assertIn(f" % quantized, {wanted['quantized']} of {SAMPLES} right, ", lines[2])

    def shard(self, out, *words, labels=("--labels", "labels.txt"), code=1):
        return self.qdq("explain", "q.json", "--against", "g.json", "-t", "ort", "--data", "x.safetensors", "-o", out, *labels,
                        *words, code=code)

    def test_shards_merge_to_the_counts_of_all_samples(self):
        self.begin()
        out = self.shard("all.state").out
        wanted = self.counts("q.json", "ort")
        self.assertIn(f" % quantized, {wanted['quantized']} of {SAMPLES} right, ", out)
        self.assertEqual(self.json("merge", "all.state", code=1)["labels"], {"output": "y", **wanted})
        for shards in (2, 7):
            names = [f"{i}.state" for i in range(1, shards + 1)]
            for i, name in enumerate(names):
                self.shard(name, "--shard", f"{i + 1}/{shards}")
            self.qdq("merge", *reversed(names), "-o", "merged.state", code=None)
            self.assertEqual((self.folder / "merged.state").read_bytes(), (self.folder / "all.state").read_bytes())

    def test_states_of_other_labels_are_refused(self):
        self.begin()
        self.write("other.txt", "".join(f"{(c + 1) % 4}\n" for c in self.truth))
        self.shard("1.state", "--shard", "1/2")
        for labels in ("--labels", "other.txt"), ():
            self.shard("2.state", "--shard", "2/2", labels=labels)
            told = self.qdq("merge", "1.state", "2.state", code=3)
            self.assertIn("2.state: has another set of labels than 1.state", told.err)
        told = self.shard("1.state", "--shard", "1/2", "--resume", labels=("--labels", "other.txt"), code=3)
        self.assertIn("1.state is of another set of labels, so it cannot be resumed", told.err)

    def test_labels_without_classes_are_refused(self):
        self.begin()
        def refused(text, *words, code=2):
            self.assertEqual(self.qdq("explain", "q.json", *words, "--labels", "labels.txt", code=code).err, f"qdq: {text}\n")
        refused("--labels is given without --against MODEL, whose right results are counted too", "--got", "x.safetensors")
        refused("--labels is given for random inputs; give the samples with --data or -i", "--against", "g.json", "--fill", "1")
        batch = "--shape", f"x={SAMPLES},8", "-i", "x.safetensors"
        self.write("labels.txt", "1\n")
        refused(f"labels.txt: has 1 lines, wanted [{SAMPLES}]: a class for each row of output 'y' and each sample", "--against",
                "g.json", *batch, code=3)
        g, _ = network(1)
        self.write("labels.txt", "".join(f"{c}\n" for c in self.truth))
        g["outputs"] = [{"name": "other", "value": "e"}]
        self.write("other.json", g)
        refused("--labels: the float model has no output 'y' of the same type", "--against", "other.json", *batch)


class Digits(Case):
    def test_the_labels_of_digits(self):
        digits = Path(harness.MODELS) / "digits"
        data = digits / "held_out.safetensors"
        self.qdq("calibrate", digits / "float32.json", "--data", data, "-o", "s.state")
        told = self.json("quantize", digits / "float32.json", "--state", "s.state", "-t", "ort", "-o", "q.json", "-i", data,
                         "--labels", f"{data}#labels")
        truth = unpack(read_safetensors(data)["labels"])
        def right(file, target):
            self.qdq("run", file, "-t", target, "-i", data, "-o", "y.safetensors")
            got = classes(unpack(read_safetensors(self.folder / "y.safetensors")["scores"]), 10)
            return sum(a == b for a, b in zip(got, truth))
        self.assertEqual((told["labels"]["float"], told["labels"]["quantized"], told["labels"]["rows"]),
                         (right(digits / "float32.json", "core"), right("q.json", "ort"), 360))


if __name__ == "__main__":
    main()
