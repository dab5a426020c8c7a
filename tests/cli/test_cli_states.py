#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands over data sets: shards merge into the bytes of one run, whatever the partition, the order, the instruction set
and the threads, after runs that are killed; states that do not belong together are refused. --long kills more."""

import functools
import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import time
import zipfile
from collections import namedtuple
from fractions import Fraction

import datasets
import harness
from datasets import SHAPE, exact, names, npz, numbers
from harness import (Case, Tensor, constant, graph, identity, main, node, quantize, read_safetensors, safetensors_bytes,
                     tensor, value, write_npy)

# A command over a data set: its words before --data, its exit code on the data below, and whether its runs print a report.
Kind = namedtuple("Kind", "words code reports other_target")
KINDS = {
    "calibrate": Kind(["calibrate", "g.json"], 0, False, ["calibrate", "g.json", "--target", "onnx"]),
    "compare": Kind(["compare", "g.json", "--targets", "core,ttnn"], 1, True,
                    ["compare", "g.json", "--targets", "core,onnx"]),
    "explain": Kind(["explain", "g.json", "--against", "f.json"], 1, True,
                    ["explain", "g.json", "--against", "f.json", "--target", "onnx"]),
}
# How many numbers a row of each tensor has, by the tables of docs/many_machines.md and docs/float_to_int8.md.
WIDTHS = {
    "calibrate": {"ranges": 2, "counts": 5, "sums": 68, "squares": 134, "histograms": 4099},
    "compare": {"counts": 5, "steps": 3, "greatest": 3, "greatest_at": 2, "signals": 134, "noises": 134,
                "overall_noises": 134, "cause_pairs": 1, "cause_counts": 2, "cause_at": 3, "cause_values": 3},
    "explain": {"counts": 2, "codes": 3, "truths": 134, "exacts": 134, "own_noises": 134, "inherited_noises": 134,
                "total_noises": 134, "output_signals": 134, "output_noises": 134, "output_counts": 4, "output_ratios": 2049,
                "effect_signals": 134, "together_noises": 134, "written_signals": 134, "without_signals": 134,
                "without_together_noises": 134, "effect_counts": 3, "effect_noises": 134, "without_noises": 134, "parameters": 4,
                "channel_places": 7, "channel_ranges": 32},
}
DEFLATED = zipfile.ZIP_DEFLATED
QUANTIZED = graph([quantize("q", scales=1), node("Dequantize", "d", "q", scales=1, dtype="float32"), node("ReLU", "r", "d"),
                   node("Exp", "e", "r")], outputs={"y": "e"})
FLOAT = graph([node("ReLU", "r", "x"), node("Exp", "e", "r")], outputs={"y": "e"})


def setUpModule():
    global DEFLATED
    DEFLATED = datasets.compression()


def halves(count, seed=1):
    """Numbers with ties, numbers beyond the range of int8, and NaN."""
    draw = random.Random(seed)
    return [draw.choice([draw.randint(-40, 40) / 2, draw.gauss(0, 100), float("nan")]) for _ in range(count)]


def each_kind(cls):
    """Makes a test for each kind of a test that takes a kind."""
    for name, test in list(vars(cls).items()):
        if name.startswith("test_") and test.__code__.co_varnames[1:2] == ("kind",):
            delattr(cls, name)
            for kind in KINDS:
                setattr(cls, f"{name}_of_{kind}", functools.partialmethod(test, kind))
    return cls


class States(Case):
    def make_folder(self, count=10, name="data", size=6):
        """Graphs g.json and f.json, and a folder of samples."""
        self.write("g.json", QUANTIZED)
        self.write("f.json", FLOAT)
        folder = self.folder / name
        folder.mkdir()
        xs = halves(count * size)
        for i in range(count):
            one = tensor("float32", SHAPE, xs[i * size:(i + 1) * size])
            npz(folder / f"{i:04}.npz", DEFLATED if i % 2 else zipfile.ZIP_STORED, x=one)
        return [harness.float32_of_bits(struct.unpack("<I", struct.pack("<f", x))[0]) for x in xs]

    def run_kind(self, kind, out, *words, data="data", code=None):
        own = KINDS[kind].code if code is None else code
        return self.qdq(*KINDS[kind].words, "--data", data, "-o", out, *words, code=own)

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()

    def shards(self, kind, count, *words):
        out = [f"{kind}{i}of{count}.state" for i in range(1, count + 1)]
        for i, name in enumerate(out, 1):
            self.qdq(*KINDS[kind].words, "--data", "data", "-o", name, "--shard", f"{i}/{count}", *words, code=None)
            self.assertTrue((self.folder / name).exists())
        return out

    def report(self, kind, *parts):
        """The text and JSON that merge prints."""
        return [self.qdq("merge", *parts, *words, code=KINDS[kind].code).out for words in ([], ["--json"], ["--all"])]


@each_kind
class Merging(States):
    def merge_in_pairs(self, parts, draw):
        """Merges random pairs until one is left."""
        step = 0
        while len(parts) > 1:
            draw.shuffle(parts)
            a, b, parts = parts[0], parts[1], parts[2:]
            step += 1
            self.qdq("merge", "--partial", a, b, "-o", f"t{step}.state")
            parts.append(f"t{step}.state")
        return parts[0]

    def test_any_partition_gives_the_bytes_of_one_run(self, kind):
        self.make_folder(50)
        draw = random.Random(4)
        printed = self.run_kind(kind, "all.state").out
        wanted = self.report(kind, "all.state")
        if KINDS[kind].reports:
            self.assertEqual(printed, wanted[0])
        for count in (1, 2, 7, 64):
            parts = self.shards(kind, count, *(["--isa", "portable"] if count == 7 else []))
            draw.shuffle(parts)
            self.assertEqual(self.report(kind, *parts), wanted, f"{count} shards")
            self.qdq("merge", *parts, "-o", "m.state")
            self.assertEqual(self.bytes_of("m.state"), self.bytes_of("all.state"), f"{count} shards")
            tree = self.merge_in_pairs(parts, draw)
            self.assertEqual(self.bytes_of(tree), self.bytes_of("all.state"), f"{count} shards in a tree")

    def test_instruction_sets_and_threads_make_no_difference(self, kind):
        nodes = [quantize("q", scales=1 / 16), node("Dequantize", "d", "q", scales=1 / 16, dtype="float32"),
                 node("MatMul", "p", "d"), node("SoftMax", "s", "p", axis=1)]
        nodes[2]["inputs"] = {"a": "d", "b": "w"}
        draw = random.Random(5)
        weights = constant("w", "float32", [32, 128], [draw.gauss(0, 1) for _ in range(32 * 128)])
        inputs = [value("x", shape=[640, 32])]
        self.write("g.json", graph(nodes, inputs=inputs, outputs={"y": "s"}, constants=[weights]))
        product = {**nodes[2], "inputs": {"a": "x", "b": "w"}}
        self.write("f.json", graph([product, nodes[3]], inputs=inputs, outputs={"y": "s"}, constants=[weights]))
        write_npy(self.folder / "x.npy", tensor("float32", [3, 640, 32], [draw.gauss(0, 3) for _ in range(3 * 640 * 32)]))
        states = set()
        for isa in (["--isa", "portable"], ["--isa", "avx2"], []):
            for threads in (1, 3):
                self.qdq(*KINDS[kind].words, "--data", "x.npy", "-o", "s.state", *isa, "--threads", threads,
                         code=KINDS[kind].code)
                states.add(self.bytes_of("s.state"))
        self.assertEqual(len(states), 1)

    def test_files_that_cannot_be_read_are_in_the_merged_state(self, kind):
        self.make_folder(12)
        for name in ("0003.npz", "0007.npz", "0008.npz"):
            self.write(f"data/{name}", "no archive")
        self.run_kind(kind, "s.state", code=1)
        parts = self.shards(kind, 5)
        err = self.qdq("merge", *parts[::-1], "-o", "m.state", code=1).err
        self.assertIn("3 of 12 samples could not be read", err)
        self.assertEqual(self.bytes_of("m.state"), self.bytes_of("s.state"))
        self.assertEqual(names(read_safetensors(self.folder / "m.state"), "unreadable"),
                         ["0003.npz", "0007.npz", "0008.npz"])


@each_kind
class Refusals(States):
    def refused(self, *parts, words=()):
        (self.folder / "m.state").unlink(missing_ok=True)
        err = self.qdq("merge", *parts, "-o", "m.state", *words, code=3).err
        self.assertFalse((self.folder / "m.state").exists())
        return err

    def test_lost_and_doubled_shards_are_named(self, kind):
        self.make_folder(8)
        parts = self.shards(kind, 5)
        self.assertIn("2 shards are missing: 2/5, 4/5;", self.refused(parts[0], parts[4], parts[2]))
        self.assertIn(f"{kind}3of5.state: shard 3/5 is in {kind}3of5.state too", self.refused(*parts, parts[2]))
        self.qdq("merge", "--partial", parts[0], parts[1], "-o", "p.state")
        self.assertIn(f"{kind}2of5.state: shard 2/5 is in p.state too", self.refused("p.state", *parts[1:]))
        self.qdq("merge", "p.state", *parts[2:], "-o", "m.state")
        self.assertIn("shard 1/1 is in m.state too",
                      self.qdq("merge", "m.state", "m.state", "-o", "n.state", code=3).err)

    def test_foreign_shards_are_named(self, kind):
        self.make_folder(4)
        self.write("g.json", QUANTIZED)
        one, _ = self.shards(kind, 2)
        self.qdq(*KINDS[kind].words, "--data", "data", "-o", "3.state", "--shard", "2/3", code=None)
        self.assertIn(f"3.state: has another number of shards than {one}", self.refused(one, "3.state"))
        self.qdq(*KINDS[kind].other_target, "--data", "data", "-o", "t.state", "--shard", "2/2", code=None)
        self.assertRegex(self.refused(one, "t.state"), "t.state: has another (list of targets|target) than")
        other = [quantize("q", scales=2), *QUANTIZED["nodes"][1:]]
        self.write("g.json", {**QUANTIZED, "nodes": other})
        self.qdq(*KINDS[kind].words, "--data", "data", "-o", "g.state", "--shard", "2/2", code=None)
        self.assertIn("g.state: has another graph", self.refused(one, "g.state"))
        self.make_folder(5, f"more-{kind}")
        self.qdq(*KINDS[kind].words, "--data", f"more-{kind}", "-o", "d.state", "--shard", "2/2", code=None)
        self.assertIn("d.state: has another set of data", self.refused(one, "d.state"))
        self.write("noise", b"none at all")
        archive = f"data/{os.listdir(self.folder / 'data')[0]}"
        for name, what in (("g.json", "JSON text"), (archive, "a .npz archive of arrays"),
                           ("noise", "of no kind that qdq knows")):
            for parts in ((one, name), (name, one)):
                self.assertEqual(self.refused(*parts), f"qdq: {name}: is {what}, wanted a state, which qdq calibrate, "
                                                       "compare or explain writes\n")
        self.assertIn("absent: ", self.refused(one, "absent"))

    def test_other_content_of_the_same_size_is_other_data(self):
        self.make_folder(4)
        xs = {name: [i * step for i in range(4 * 6)] for name, step in (("one", 1.0), ("two", 2.0))}
        forms = {"npy": lambda path, one: write_npy(path, one), "npz": lambda path, one: npz(path, x=one),
                 "safetensors": lambda path, one: path.write_bytes(safetensors_bytes({"x": one})),
                 "": lambda path, one: (path.mkdir(), npz(path / "a.npz", x=Tensor("float32", SHAPE, one.data[:24])),
                                        npz(path / "b.npz", x=Tensor("float32", SHAPE, one.data[24:48])))}  # fmt: skip
        for form, write in forms.items():
            with self.subTest(form or "folder"):
                end = f".{form}" if form else ""
                for name, numbers_ in xs.items():
                    write(self.folder / f"{name}{end}", tensor("float32", [4, *SHAPE], numbers_))
                words = KINDS["calibrate"].words
                self.qdq(*words, "--data", f"one{end}", "-o", "1.state", "--shard", "1/2")
                self.qdq(*words, "--data", f"two{end}", "-o", "2.state", "--shard", "2/2")
                self.assertIn("2.state: has another set of data", self.refused("1.state", "2.state"))
                told = self.qdq(*words, "--data", f"two{end}", "-o", "1.state", "--shard", "1/2", "--resume", code=3).err
                self.assertIn("1.state is of another set of data", told)

    def test_the_digest_of_the_data(self):
        """By the words of docs/many_machines.md; of one file less than all blocks long, and of a folder longer than they are."""
        block, blocks = 1 << 16, 256
        self.write("g.json", identity("float32", [1, 1 << 19]))
        (self.folder / "data").mkdir()
        files = {}
        for i in range(9):  # of 2 MiB each, so that a block crosses from one to the next
            name = f"{i}.npy"
            write_npy(self.folder / "data" / name,
                      tensor("float32", [1, 1 << 19], [float(i * j % 1013) for j in range(1 << 19)]))
            files[name] = (self.folder / "data" / name).read_bytes()
        for where, listed in (("data", files), ("data/3.npy", {"": files["3.npy"]})):
            self.qdq("calibrate", "g.json", "--data", where, "-o", "s.state")
            want = hashlib.sha256()
            for name, content in listed.items():
                want.update(struct.pack("<Q", len(name)) + name.encode() + struct.pack("<Q", len(content)))
            content = b"".join(listed.values())
            places = [i * (len(content) - block) // (blocks - 1) for i in range(blocks)]
            if len(content) <= block * blocks:
                want.update(content)
            for at in places if len(content) > block * blocks else []:
                want.update(content[at:at + block])
            self.assertEqual(read_safetensors(self.folder / "s.state")["listing"].data, want.digest(), where)

    def test_another_float_model_is_named(self):
        self.make_folder(4)
        one, _ = self.shards("explain", 2)
        self.write("f.json", {**FLOAT, "nodes": [FLOAT["nodes"][0], node("Tanh", "e", "r")]})
        self.run_kind("explain", "2.state", "--shard", "2/2")
        self.assertIn("2.state: has another float model", self.refused(one, "2.state"))

    def test_states_of_different_kinds_are_named(self):
        self.make_folder(2)
        parts = {kind: self.shards(kind, 2) for kind in KINDS}
        for kind, (one, _) in parts.items():
            for other, (_, two) in parts.items():
                if other != kind:
                    self.assertIn(f"{two}: is a state of qdq {other}, and {one} one of qdq {kind}", self.refused(one, two))

    def test_a_damaged_state_is_refused(self, kind):
        self.make_folder(2)
        draw = random.Random(6)
        one, two = self.shards(kind, 2)
        whole = self.bytes_of(two)
        header = 8 + struct.unpack("<Q", whole[:8])[0]
        for at in [draw.randrange(header, len(whole)) for _ in range(20)]:
            damaged = bytearray(whole)
            damaged[at] ^= 1 << draw.randrange(8)
            (self.folder / "bad.state").write_bytes(damaged)
            done = self.qdq("merge", one, "bad.state", "-o", "m.state", code=None)
            self.assertIn(done.code, (3, 4), "4: another version")
            self.assertIn("bad.state", done.err)
        for length in (0, 7, header, len(whole) - 1):
            (self.folder / "bad.state").write_bytes(whole[:length])
            self.assertIn("bad.state", self.refused(one, "bad.state"))
        for at in range(8, header):  # names, dtypes and shapes
            damaged = bytearray(whole)
            damaged[at] ^= 1 << draw.randrange(7)
            (self.folder / "bad.state").write_bytes(damaged)
            if at % 97 == 0:
                self.qdq("merge", one, "bad.state", "-o", "m.state", code=None)

    def test_another_run_is_not_resumed(self, kind):
        self.make_folder(4)
        self.run_kind(kind, "s.state", "--shard", "1/2")
        self.assertIn("s.state is of another shard",
                      self.run_kind(kind, "s.state", "--shard", "2/2", "--resume", code=3).err)
        self.assertIn("another number of shards", self.run_kind(kind, "s.state", "--resume", code=3).err)
        self.write("s.state.part", "no state")
        self.assertIn("s.state.part", self.run_kind(kind, "s.state", "--shard", "1/2", "--resume", code=3).err)
        self.qdq(*KINDS[kind].words, "--data", "data", "-o", "s.state", "--shard", "2/2", code=None)
        other = "compare" if kind == "calibrate" else "calibrate"
        self.run_kind(other, "s.state")
        self.assertIn("s.state is of another kind", self.run_kind(kind, "s.state", "--resume", code=3).err)

    def test_wrong_options_are_refused(self, kind):
        self.make_folder(1)
        words = KINDS[kind].words
        self.assertIn("-o is missing", self.qdq(*words, "--data", "data", code=2).err)
        for shard in ("0/2", "3/2", "1", "1/", "a/2", "1/99999999", "-1/2"):
            self.assertIn("--shard is", self.run_kind(kind, "s.state", "--shard", shard, code=2).err)
        if kind == "calibrate":
            return
        for option in (["-o", "s"], ["--shard", "1/2"], ["--resume"], ["--checkpoint", "1"]):
            self.assertIn(f"{option[0]} is given without --data", self.qdq(*words, *option, "--fill", 1, code=2).err)
        for option in (["--fill", "1"], ["-i", "x=x.npy"], ["--html", "page.html"]):
            self.assertRegex(self.run_kind(kind, "s", *option, code=2).err, "both given|one of these")
        self.run_kind(kind, "s.state")
        self.assertIn("both given", self.qdq("merge", "s.state", "--json", "-o", "m", code=2).err)


def forge(state, **changes):
    """A state with other tensors and the right hash."""
    state = {**state, **changes}
    hashed = hashlib.sha256()
    for name, one in state.items():
        if name != "sha256":
            hashed.update(name.encode() + b"\0" + one.data)
    state["sha256"] = state["sha256"]._replace(data=hashed.digest())
    return harness.safetensors_bytes(state)


@each_kind
class Format(States):
    def test_a_forged_state_never_crashes(self, kind):
        self.make_folder(2)
        self.run_kind(kind, "s.state", code=None)
        state = read_safetensors(self.folder / "s.state")
        draw = random.Random(9)
        self.write("same.state", forge(state))
        self.assertEqual(self.report(kind, "same.state"), self.report(kind, "s.state"))
        for name, one in state.items():
            if name in ("numbers", "sha256"):
                continue
            noise = bytes(draw.randrange(256) for _ in one.data)
            zeros = bytes(len(one.data))
            for data in (noise, zeros, one.data[:-8] + b"\xff" * 8):
                self.write("f.state", forge(state, **{name: one._replace(data=data[:len(one.data)])}))
                for words in (["--all"], ["--json"]):
                    self.qdq("merge", "f.state", *words, code=None)
            if one.dtype == "uint8":
                self.write("f.state", forge(state, **{name: Tensor("uint8", [1], b"\0")}))
                self.qdq("merge", "f.state", code=None)

    def test_tensors_have_the_shapes_of_the_document(self, kind):
        self.make_folder(2)
        self.run_kind(kind, "s.state", code=None)
        state = read_safetensors(self.folder / "s.state")
        self.assertEqual({name: one.shape[1] for name, one in state.items() if len(one.shape) == 2}, WIDTHS[kind])

    def test_the_hash_is_the_one_that_the_document_defines(self, kind):
        xs = self.make_folder(2)
        self.run_kind(kind, "s.state", code=None)
        data = self.bytes_of("s.state")
        header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
        state = read_safetensors(self.folder / "s.state")
        hashed = hashlib.sha256()
        for name in header:
            if name != "sha256":
                hashed.update(name.encode() + b"\0" + state[name].data)
        self.assertEqual(state["sha256"].data, hashed.digest())
        self.assertEqual(state["kind"].data.decode(), kind)
        self.assertEqual(numbers(state, "numbers"), [(4, 2, 2, -1, 1)])
        total = 0
        text = b"".join(struct.pack("<Q", len(word)) + word for word in (b"x", b"float32"))
        for sample in range(2):
            elements = harness.pack("float32", xs[6 * sample:6 * sample + 6])
            total += int.from_bytes(hashlib.sha256(text + elements).digest(), "little")
        self.assertEqual(int.from_bytes(state["samples"].data, "little"), total % 2**256)


@each_kind
class Kills(States):
    def run_killed(self, kind, draw, longest, *words):
        """Starts a run and kills it after a random time; whether the kill came before the end."""
        process = subprocess.Popen([harness.QDQ, *KINDS[kind].words, "--data", "data", *words], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0, longest))
        process.kill()
        return process.wait() == -signal.SIGKILL

    def test_killed_runs_end_with_the_same_bytes(self, kind):
        self.make_folder(40)
        draw, wanted = random.Random(7), 100 if harness.LONG else 15
        start = time.monotonic()
        self.run_kind(kind, "all.state")
        longest, kills, rounds = max(0.02, 2 * (time.monotonic() - start)), 0, 0
        while kills < wanted:
            parts = []
            for i in range(1, 4):
                out = f"{kind}{rounds}-{i}.state"
                words = ["--shard", f"{i}/3", "-o", out, "--resume", "--checkpoint", "0"]
                for _ in range(6):
                    kills += self.run_killed(kind, draw, longest, *words)
                self.qdq(*KINDS[kind].words, "--data", "data", *words, code=None)
                self.assertFalse((self.folder / f"{out}.part").exists())
                parts.append(out)
            rounds += 1
            draw.shuffle(parts)
            self.qdq("merge", *parts, "-o", "m.state")
            self.assertEqual(self.bytes_of("m.state"), self.bytes_of("all.state"))
            self.assertEqual(self.report(kind, *parts), self.report(kind, "all.state"))
            self.assertLess(rounds, 50, f"{kills} kills only")

    def test_a_run_goes_on_behind_the_last_checkpoint(self, kind):
        self.make_folder(30, kind)
        self.run_kind(kind, "all.state", data=kind)
        draw = random.Random(8)
        for _ in range(200):
            (self.folder / "k.state").unlink(missing_ok=True)
            process = subprocess.Popen([harness.QDQ, *KINDS[kind].words, "--data", kind, "-o", "k.state", "--checkpoint",
                                        "0"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0, 0.1))
            process.kill()
            process.wait()
            if (self.folder / "k.state.part").exists():
                break
        state = read_safetensors(self.folder / "k.state.part")
        _, _, taken, after, _ = numbers(state, "numbers")[0]
        self.assertEqual(taken, after)
        self.assertIn(f"checkpoint of a run that has not ended; end it with qdq {kind} --resume",
                      self.qdq("merge", "k.state.part", "-o", "m.state", code=3).err)
        path = self.folder / f"{kind}/0000.npz"
        content = path.read_bytes()
        path.write_bytes(content[:-1] + b"!")  # was done
        told = self.run_kind(kind, "k.state", "--resume", data=kind, code=3).err
        self.assertIn("is of another set of data, so it cannot be resumed", told)
        path.write_bytes(content)
        for _ in range(2):
            self.run_kind(kind, "k.state", "--resume", data=kind)
            self.assertEqual(self.bytes_of("k.state"), self.bytes_of("all.state"))


if __name__ == "__main__":
    main()
