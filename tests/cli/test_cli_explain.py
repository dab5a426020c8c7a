#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq explain names the node at fault and the cause. Networks with faults are computed by faulty_networks.py, without
qdq."""

import io
import json
import time
import zipfile

import faulty_networks
from faulty_networks import FAULTS, ROWS, WIDTH
from harness import (Case, constant, graph, main, npy_bytes, quantize, read_safetensors, safetensors_bytes, tensor, unpack, value,
                     write_npy)  # fmt: skip

SECONDS = 10
LINES = 40


def npz(tensors, compressed=False):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, one in tensors.items():
            letters = {"float32": "<f4", "int8": "|i1", "uint8": "|u1", "int32": "<i4", "int64": "<i8"}
            archive.writestr(f"{name}.npy", npy_bytes(letters[one.dtype], one.shape, one.data))
    return out.getvalue()


def values_of(network, values, names):
    """Tensors of some values; the output has its own name."""
    made = {}
    for name in names:
        shape = [WIDTH, WIDTH] if name.startswith("wd") else [ROWS, WIDTH]
        made["y" if name == "last" else name] = tensor(network.dtype(name), shape, values[name])
    return made


class Faults(Case):
    def explain(self, network, got, code=1):
        self.write("net.json", network.document)
        self.write("in.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], network.x)}))
        self.write("got.npz", npz(got))
        started = time.monotonic()
        out = self.qdq("explain", "net.json", "-i", "in.safetensors", "--got", "got.npz", "--json", code=code).out
        self.assertLess(time.monotonic() - started, SECONDS)
        return json.loads(out)

    def count(self, only_output):
        """How many of the faults are named; the others must be unknown, or have the right cause among those that give the
        same bits."""
        right = 0
        for i, name in enumerate(FAULTS):
            network, node, cause, _, wrong = faulty_networks.faulty(name, 37 * i + 1000 * only_output)
            self.assertTrue(20 <= len(network.nodes) <= 60)
            got = values_of(network, wrong, ["last"] if only_output else network.run_of)
            found = self.explain(network, got)
            named = (found["node"], found["cause"]) == (node, cause)
            same = [(one["node"], one["cause"]) for one in found["candidates"]]
            with self.subTest(name, node=node, only_output=only_output):
                self.assertTrue(named or found["cause"] == "unknown" or (node, cause) in same,
                                f"{node}, {cause}; found {found['node']}, {found['cause']}, {same}")  # fmt: skip
            self.assertEqual(found["left"] == 0, found["cause"] != "unknown")
            right += named
        return right

    def test_faults_are_named_where_every_value_is_given(self):
        self.assertGreaterEqual(self.count(False), len(FAULTS) - 1)

    def test_faults_are_named_by_the_output_alone(self):
        self.assertGreaterEqual(self.count(True), len(FAULTS) - 2)

    def test_right_values_are_equal(self):
        network = faulty_networks.Network(3)
        found = self.explain(network, values_of(network, network.run(), network.run_of), code=0)
        self.assertEqual((found["node"], found["cause"], found["target"], found["differing"]), (None, None, None, 0))

    def test_a_shuffled_output_is_unknown(self):
        network = faulty_networks.Network(3)
        values = network.run()
        values["last"] = values["last"][::-1]
        found = self.explain(network, values_of(network, values, ["last"]))
        self.assertEqual((found["cause"], found["target"], found["value"], found["node"]), ("unknown", None, "y", "last"))
        text = self.qdq("explain", "net.json", "-i", "in.safetensors", "--got", "got.npz", code=1).out
        self.assertLessEqual(len(text.splitlines()), LINES)
        self.assertIn("(0x", text)
        self.assertIn("cause: unknown", text)
        self.assertIn("qdq explain net.json --got got.npz -i in.safetensors", text)


class Reports(Case):
    """A graph of one node with ties, of which a device rounds half away."""

    def setUp(self):
        super().setUp()
        self.write("g.json", graph([quantize(scales=0.5, dtype="int32")], target="core"))
        self.x = tensor("float32", [2, 3], [0.25, 0.75, 1.25, -0.25, 2, 7])
        write_npy(self.folder / "x.npy", self.x)
        self.got = tensor("int32", [2, 3], [1, 2, 3, -1, 4, 14])
        write_npy(self.folder / "y.npy", self.got)

    def explain(self, *words, code=1):
        return self.qdq("explain", "g.json", *words, code=code)

    def test_an_npy_file_is_the_only_output(self):
        text = self.explain("-i", "x=x.npy", "--got", "y.npy").out
        self.assertIn("cause: tie at node 'q' (Quantize): as target ", text)
        self.assertIn("[0, 0]: given 1 (0x00000001), computed 0 (0x00000000), x 0.25 (0x3e800000)", text)

    def test_a_target_that_gives_the_bits_is_named(self):
        found = json.loads(self.explain("-i", "x=x.npy", "--got", "y=y.npy", "--json").out)
        self.assertIn(found["target"], found["targets"])
        given = unpack(self.got)
        for target in found["targets"]:
            self.qdq("run", "g.json", "-i", "x=x.npy", "-t", target, "-o", "o.safetensors")
            self.assertEqual(unpack(read_safetensors(self.folder / "o.safetensors")["y"]), given, target)
        self.explain("-i", "x=x.npy", "--got", "y=y.npy", "--target", found["target"], code=0)

    def test_the_step_of_a_chips_kernel_is_named(self):
        """1.0859375 squared is 1.17926: Square of a chip truncates it to 1.171875, and rounded it is 1.1796875."""
        content = graph([{"op": "Square", "name": "s", "inputs": {"x": "x"}}], inputs=[value("x", "bfloat16", [2])], outputs={"y": "s"})
        self.write("square.json", content)
        self.write("in.safetensors", safetensors_bytes({"x": tensor("bfloat16", [2], [0x3F8B, 0x3FC0])}))
        self.write("got.safetensors", safetensors_bytes({"y": tensor("bfloat16", [2], [0x3F96, 0x4010])}))
        text = self.qdq("explain", "square.json", "-i", "in.safetensors", "--got", "got.safetensors", code=1).out
        self.assertIn("cause: truncated by the store at node 's' (Square): as target ttnn@wormhole; this gives all bits", text)

    def test_inputs_may_be_among_the_given_values(self):
        for name, content in (("got.npz", npz({"x": self.x, "y": self.got})),
                              ("small.npz", npz({"x": self.x, "q": self.got}, compressed=True)),
                              ("got.safetensors", safetensors_bytes({"x": self.x, "y": self.got}))):  # fmt: skip
            self.write(name, content)
            self.assertIn("cause: tie", self.explain("--got", name).out)

    def test_integers_of_another_width_are_taken_if_they_fit(self):
        self.write("wide.npz", npz({"y": tensor("int64", [2, 3], unpack(self.got))}))
        self.assertIn("cause: tie", self.explain("-i", "x=x.npy", "--got", "wide.npz").out)
        self.write("wide.npz", npz({"y": tensor("int64", [2, 3], [2**40] * 6)}))
        self.assertIn("'y'[0, 0] is 1099511627776 as int64, which int32 does not have",
                      self.explain("-i", "x=x.npy", "--got", "wide.npz", code=3).err)  # fmt: skip

    def test_the_reproduction_shows_the_difference(self):
        self.explain("-i", "x=x.npy", "--got", "y.npy", "-o", "repro.json")
        made = json.loads((self.folder / "repro.json").read_text())
        self.assertLessEqual(len(made["nodes"]), 3)
        text = self.qdq("explain", "repro.json", "--got", "repro.got.safetensors", code=1).out
        self.assertIn("cause: tie at node 'q'", text)

    def test_a_large_node_is_cut_to_64_elements(self):
        count = 40 * 30
        x = [(i % 97 - 48) * 0.25 for i in range(count)]
        scales = [0.5, 0.25] * 15
        got = [min(max(round(one / scales[i % 30]) + 1, -128), 127) for i, one in enumerate(x)]
        got[31 * 30 + 7] += 1
        self.write("g.json", graph([quantize(scales=scales, qtype="per_channel", axis=1, zps=1)],
                                   inputs=[value("x", shape=(40, 30))]))  # fmt: skip
        self.write("got.npz", npz({"x": tensor("float32", [40, 30], x), "y": tensor("int8", [40, 30], got)}))
        self.explain("--got", "got.npz", "-o", "repro.json")
        made = json.loads((self.folder / "repro.json").read_text())
        self.assertLessEqual(sum(len(one["data"]) for one in made["constants"]), 64)
        text = self.qdq("explain", "repro.json", "--got", "repro.got.safetensors", code=1).out
        self.assertIn("1 of 1 elements differ", text)

    def test_wrong_files_are_refused(self):
        cases = [(["-i", "x=x.npy"], "--got is missing", 2),
                 (["-i", "x=x.npy", "--got", "none.npz"], "none.npz", 3),
                 (["--got", "y.npy"], "input 'x' is not given", 2),
                 (["-i", "x=x.npy", "--got", "z=y.npy"], "there is no value 'z'", 2),
                 (["-i", "x=x.npy", "--got", "y=x.npy"], "which int32 does not have", 3),
                 (["-i", "x=x.npy", "--got", "other.npz"], "has no tensor with the name of a value", 3),
                 (["-i", "x=x.npy", "--got", "x=x.npy"], "has inputs of the graph alone", 3),
                 (["-i", "x=x.npy", "--got", "inputs.npz"], "has inputs of the graph alone", 3),
                 (["-i", "x=x.npy", "--got", "cut.npz"], "so the file is cut or is no .npz file", 3),
                 (["-i", "x=x.npy", "--got", "y.npy", "-o", "repro.txt"], "ends in .json", 2)]  # fmt: skip
        self.write("other.npz", npz({"z": self.got}))
        self.write("cut.npz", npz({"y": self.got})[:-30])
        self.write("inputs.npz", npz({"x": self.x}))
        for words, text, code in cases:
            with self.subTest(text):
                self.assertIn(text, self.explain(*words, code=code).err)

    def test_a_constant_is_no_result(self):
        add = {"op": "Add", "name": "s", "inputs": {"a": "x", "b": "c"}}
        self.write("g.json", graph([add], [value("x", "float32", [2, 3])], {"y": "s"}, constants=[constant("c", "float32", [], 1)]))
        self.assertIn("'c', which is a constant", self.explain("-i", "x=x.npy", "--got", "c=x.npy", code=2).err)

    def test_broken_archives_are_refused(self):
        for compressed in (False, True):
            whole = npz({"x": self.x, "y": self.got}, compressed)
            for at in range(0, len(whole), 11):
                self.write("b.npz", whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1:])
                self.assertIn(self.qdq("run", "g.json", "-i", "b.npz", code=None).code, (0, 2, 3, 4, 5))

    def test_another_order_of_sums_is_told(self):
        node = {"op": "ReduceSum", "name": "q", "inputs": {"x": "x"}, "attrs": {"axes": [1]}}
        self.write("g.json", graph([node]))
        self.write("got.npz", npz({"x": tensor("float32", [2, 3], [1, 2**-24, 2**-24, 1, 1, 1]),
                                   "y": tensor("float32", [2], [1 + 2**-21, 3])}))  # fmt: skip
        text = self.explain("--got", "got.npz").out
        self.assertIn("cause: unknown", text)
        self.assertIn("another order of sums", text)


class Given(Case):
    """What --got gives, and what it lacks."""

    def setUp(self):
        super().setUp()
        nodes = [quantize(scales=1, dtype="int8"), quantize("r", scales=2, dtype="int8")]
        self.write("g.json", graph(nodes, [value("x", shape=[2])], {"y": "q", "w": "r"}))
        self.x = tensor("float32", [2], [1, 4])
        for name, tensors in {"x": {"x": self.x}, "y": {"y": [1, 4]}, "all": {"y": [1, 4], "w": [0, 2]}, "q": {"q": [1, 4]},
                              "both": {"y": [1, 4], "q": [1, 4]}, "torn": {"y": [1, 4], "q": [1, 5]}}.items():
            found = {key: one if one is self.x else tensor("int8", [2], one) for key, one in tensors.items()}
            (self.folder / f"{name}.safetensors").write_bytes(safetensors_bytes(found))

    def explain(self, *words, code=0):
        return self.qdq("explain", "g.json", "-i", "x.safetensors", *words, code=code)

    def test_outputs_that_are_not_given_are_named(self):
        self.assertEqual(self.explain("--got", "y.safetensors").out.splitlines(), [
            "g.json: the only given value is equal to target core", "not compared: output 'w', which is not given"])
        self.assertEqual(self.explain("--got", "all.safetensors").out, "g.json: all 2 given values are equal to target core\n")
        self.assertEqual(json.loads(self.explain("--got", "y.safetensors", "--json").out)["not_compared"], ["w"])

    def test_a_value_that_is_given_twice_is_refused(self):
        for first, second in (("y", "y"), ("y", "q"), ("all", "y")):
            found = self.explain("--got", f"{first}.safetensors", "--got", f"{second}.safetensors", code=2).err
            name = "q" if second == "q" else "y"
            self.assertEqual(found, f"qdq: value '{name}' is given twice: --got {first}.safetensors and --got "
                                    f"{second}.safetensors\n")
        self.explain("--got", "both.safetensors")
        self.assertIn("is there under another name too, with other elements", self.explain("--got", "torn.safetensors", code=3).err)

    def test_inputs_of_both_options_are_equal(self):
        for elements, code in ([1, 4], 0), ([1, 5], 2):
            found = {"x": tensor("float32", [2], elements), "y": tensor("int8", [2], [1, 4])}
            (self.folder / "dump.safetensors").write_bytes(safetensors_bytes(found))
            told = self.explain("--got", "dump.safetensors", code=code).err
            self.assertEqual("input 'x' is given by -i and, with other elements, by --got" in told, code == 2)


if __name__ == "__main__":
    main()
