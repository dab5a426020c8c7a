#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--max-bytes bounds the memory of the process, --max-operations bounds the work of a run, and
small files cannot keep the memory planner busy. A call that takes longer than harness.TIMEOUT
fails."""

import random
import sys

from harness import Case, Tensor, constant, graph, identity, main, node, safetensors_bytes, tensor, value, write_npy

MIB = 1 << 20
ROOM = 256  # MiB that a process may take on top of --max-bytes
SIDE = 1024


def product(name, a, b, **attrs):
    return {"op": "MatMul", "name": name, "inputs": {"a": a, "b": b}, "attrs": attrs}


def large_constant(name):
    """Two nodes that make a constant of 4096 x 4096 from two constants of 4096 elements."""
    return [constant("column", "float32", [4096, 1], [1] * 4096),
            constant("row", "float32", [1, 4096], [1] * 4096)], [product(name, "column", "row")]


class Bytes(Case):
    def write_tied(self, readers, quantized=False):
        """Writes a graph in which several products of x read one constant of SIDE x SIDE."""
        dtype, size = ("int8", 1) if quantized else ("float32", 4)
        data = random.Random(1).randbytes(SIDE**2 * size)
        (self.folder / "w.safetensors").write_bytes(
            safetensors_bytes({"w": Tensor(dtype, [SIDE, SIDE], data)}))
        w = {**value("w", dtype, [SIDE, SIDE]), "file": "w.safetensors", "tensor": "w"}
        nodes = [product(f"m{i}", "x", "w") for i in range(readers)]
        if quantized:
            nodes = [product(f"m{i}", "x", "real") for i in range(readers)]
            nodes.append(node("Dequantize", "real", "w", scales=0.5, dtype="float32"))
        self.write("g.json", graph(nodes, [value("x", "float32", [1, SIDE])],
                                   {f"y{i}": f"m{i}" for i in range(readers)}, constants=[w]))

    def test_a_weight_of_many_readers_is_packed_once(self):
        for quantized in (False, True):
            self.write_tied(1, quantized)
            once = self.json("plan", "g.json")["constant_bytes"]
            self.write_tied(500, quantized)
            self.assertEqual(self.json("plan", "g.json")["constant_bytes"], once)
            self.qdq("plan", "g.json", "--max-bytes", once + 4 * MIB)

    def test_many_outputs_take_little_memory(self):
        outputs = {f"y{i}": "x" for i in range(50_000)}
        self.write("g.json", graph([], [value("x", "int8", [1])], outputs))
        self.assertLess(self.peak_mib("plan", "g.json"), ROOM)
        self.assertLess(self.peak_mib("plan", "g.json", "--max-bytes", MIB), 1 + ROOM)

    def test_many_outputs_are_found_by_name_in_little_time(self):
        outputs = {f"y{i}": "x" for i in range(300_000)}  # a search through all takes minutes
        self.write("g.json", graph([], [value("x", "int8", [1])], outputs))
        result = self.qdq("run", "g.json", "--fill", "1")
        self.assertEqual(result.out.count("\n"), 600_000)

    def test_findings_at_nodes_of_one_name_are_told_in_little_time(self):
        nodes = [node("ReLU", "y", "x") for _ in range(32_000)]  # each finding at each node takes minutes
        self.write("g.json", graph(nodes, [value("x", "float32", [1])], {"y": "y"}))
        result = self.qdq("check", "g.json", "--target", "all", code=1)
        self.assertRegex(result.out, r"(?m)^y and 31999 more +ReLU( +refused)+$")

    def test_the_process_stays_within_the_limit_and_some_room(self):
        constants, nodes = large_constant("large")
        nodes += [product(f"y{i}", "x", "large", transpose_b=i % 2 == 1) for i in range(2)]
        self.write("g.json", graph(nodes, [value("x", "float32", [1, 4096])],
                                   {f"y{i}": f"y{i}" for i in range(2)}, constants=constants))
        for limit in (1, 150):
            for command in (["plan"], ["run", "--fill", "1"]):
                words = [command[0], "g.json", *command[1:], "--max-bytes", limit * MIB]
                self.assertLess(self.peak_mib(*words), limit + ROOM, words)

    def test_compiling_does_not_take_what_the_limit_refuses(self):
        """Weights of one column are packed in panels of 32 columns: 64 MiB become 2 GiB."""
        data = bytes(64 * MIB)
        (self.folder / "w.safetensors").write_bytes(
            safetensors_bytes({"w": Tensor("float32", [16 * MIB, 1], data)}))
        w = {**value("w", "float32", [16 * MIB, 1]), "file": "w.safetensors", "tensor": "w"}
        self.write("g.json", graph([product("y", "x", "w")], [value("x", "float32", [1, 16 * MIB])],
                                   {"y": "y"}, constants=[w]))
        words = ["plan", "g.json", "--max-bytes", 160 * MIB]
        self.assertIn("raise --max-bytes", self.qdq(*words, code=5).err)
        self.assertLess(self.peak_mib(*words), 160 + ROOM)


    def test_base64_counts_as_bytes_of_the_file(self):
        self.write_tied(1)
        self.qdq("convert", "g.json", "--whole", "-o", "w/whole.json", code=3)
        (self.folder / "w").mkdir()
        self.qdq("convert", "g.json", "--whole", "-o", "w/whole.json")
        self.assertEqual([path.name for path in (self.folder / "w").iterdir()], ["whole.json"])
        for graph_file in ("g.json", "w/whole.json"):
            self.qdq("run", graph_file, "--fill", "1", "-o", graph_file.replace("/", "_") + ".safetensors")
        self.assertEqual((self.folder / "g.json.safetensors").read_bytes(), (self.folder / "w_whole.json.safetensors").read_bytes())
        refused = self.qdq("convert", "g.json", "--whole", "-o", "w.json", "--max-file-bytes", 5 * MIB, code=5).err
        self.assertIn("w.json: the large constants take more than 5242880 bytes of text as base64; leave them", refused)
        self.assertIn("5242880", self.qdq("check", "w/whole.json", "--max-file-bytes", 5 * MIB, code=5).err)
        self.assertIn("4198400 bytes", self.qdq("check", "w/whole.json", "--max-bytes", 4 * MIB, code=1).out)
        self.assertLess(self.peak_mib("run", "w/whole.json", "--fill", "1"), 64)


class Values(Case):
    """Commands that run a graph node by node hold results that its plan never stores: a chain of
    Sqrt needs one value, and a sum of many of them two."""

    SIDE = 2048  # results of 16 MiB

    def write_chain(self, count):
        nodes = [node("Sqrt", f"e{i}", f"e{i - 1}" if i else "x") for i in range(count)]
        self.write("g.json", graph(nodes, [value("x", "float32", [self.SIDE] * 2)],
                                   {"y": nodes[-1]["name"]}))
        self.write_other("y.npy")

    def write_sum(self, count):
        """All terms are computed before the first is added."""
        nodes = [node("Sqrt", f"e{i}", "x") for i in range(count)]
        for i in range(1, count):
            a = f"s{i - 1}" if i > 1 else "e0"
            nodes.append({"op": "Add", "name": f"s{i}", "inputs": {"a": a, "b": f"e{i}"}})
        self.write("g.json", graph(nodes, [value("x", "float32", [self.SIDE] * 2)],
                                   {"y": nodes[-1]["name"]}))
        self.write_other("y.npy")

    def write_other(self, name):
        """Results that no target computes."""
        write_npy(self.folder / name, Tensor("float32", [self.SIDE] * 2, b"\0\0\x80\x3e" * self.SIDE**2))

    def assert_stays_within(self, limit, *command):
        words = [command[0], "g.json", *command[1:], "--max-bytes", limit * MIB]
        self.assertLess(self.peak_mib(*words), limit + ROOM, words)
        return words

    def assert_refuses(self, count, limit, *command):
        words = self.assert_stays_within(limit, *command)
        err = self.qdq(*words, code=5).err
        self.assertRegex(err, r"^qdq: .* left of --max-bytes; raise it\n$")
        self.assertIn(f"results of {count * 4 * self.SIDE**2} bytes", err)

    def test_bisect_and_explain_refuse_results_beyond_the_limit(self):
        self.write_chain(30)
        for limit in (100, 300):
            self.assert_refuses(30, limit, "bisect", "--targets", "core,onnx", "--fill", "1")
            self.assert_refuses(30, limit, "explain", "--got", "y=y.npy", "--fill", "1")
            self.assert_refuses(30, limit, "explain", "--against", "g.json", "--fill", "1")

    def test_bisect_stays_within_a_limit_that_suffices(self):
        self.write_chain(12)
        both = 2 * 12 * 16 + 64  # MiB
        self.qdq(*self.assert_stays_within(both, "bisect", "--targets", "core,onnx", "--fill", "1"))

    def test_explain_against_a_model_stays_within_a_limit_that_suffices(self):
        self.write_chain(12)
        limit = 3 * 12 * 16 + 224  # MiB: both graphs, the quantized one on exact inputs, and numbers
        self.qdq(*self.assert_stays_within(limit, "explain", "--against", "g.json", "--fill", "1"))

    def test_results_are_compared_with_expected_ones_in_little_memory(self):
        side = 4096  # 64 MiB
        self.write("g.json", graph([node("Sqrt", "y", "x")], [value("x", "float32", [side] * 2)], {"y": "y"}))
        write_npy(self.folder / "y.npy", Tensor("float32", [side] * 2, bytes(4 * side**2)))
        self.qdq(*self.assert_stays_within(130, "run", "--rows", "--fill", "1", "-e", "y=y.npy"), code=1)

    def test_compare_stays_within_the_limit(self):
        self.write_sum(28)
        for limit, code in ((80, 5), (28 * 16 + 100, 0)):
            self.qdq(*self.assert_stays_within(limit, "compare", "--targets", "core,onnx", "--fill", "1"), code=code)


class Numbers(Case):
    def test_a_limit_that_an_address_cannot_count_is_refused(self):
        """sys.maxsize is half of what a size_t counts, if Python and qdq have addresses of one size."""
        most = 2 * sys.maxsize + 1
        self.write("g.json", identity("float32", [4]))
        for name in ("elements", "bytes", "file-bytes", "values", "operations"):
            self.qdq("run", "g.json", "--fill", 1, f"--max-{name}", most)
            err = self.qdq("run", "g.json", "--fill", 1, f"--max-{name}", most + 2, code=2).err
            self.assertEqual(err, f"qdq: --max-{name} is '{most + 2}', wanted a whole number of 1 to {most}\n")


class Operations(Case):
    def assert_ends(self, nodes, x, last):
        """Results that depend on constants only are computed during the run. `last` reads x and
        such a result."""
        constants, first = large_constant("large")
        self.write("g.json", graph([*first, *nodes, last], [value("x", "float32", x)],
                                   {"y": last["name"]}, constants=constants))
        self.qdq("check", "g.json")
        plan = self.json("plan", "g.json")
        self.assertGreater(plan["operations"], 2**33)
        for name in ("run", "bench", "plan"):
            fill = [] if name == "plan" else ["--fill", "1"]
            err = self.qdq(name, "g.json", *fill, "--max-operations", "1000000", code=5).err
            self.assertIn(str(plan["operations"]), err)

    def test_products_of_constants_have_a_budget(self):
        nodes = [product(f"p{i}", f"p{i - 1}" if i else "large", "large") for i in range(100)]
        self.assert_ends(nodes, [1, 4096], product("y", "x", "p99"))

    def test_a_window_over_a_constant_has_a_budget(self):
        image = node("StaticReshape", "image", "large", shape=[1, 1, 4096, 4096],
                     special_zero=False)
        for op, attrs in (("MaxPool", {}), ("AvgPool", {"exclude_pad": True})):
            pool = node(op, "pool", "image", strides=[1, 1], kernel=[1000, 1000],
                        data_format="NCX", **attrs)
            flat = node("StaticReshape", "flat", "pool", shape=[3097, 3097], special_zero=False)
            self.assert_ends([image, pool, flat], [1, 3097], product("y", "x", "flat"))

    def test_moving_constant_codes_has_a_budget(self):
        codes = [node("Quantize", "codes", "large", scales=1, dtype="int8"),
                 node("Dequantize", "real", "codes", scales=1, dtype="float32"),
                 node("StaticReshape", "image", "real", shape=[1, 1, 4096, 4096],
                      special_zero=False),
                 node("MaxPool", "pool", "image", strides=[1, 1], kernel=[1000, 1000],
                      data_format="NCX"),
                 node("StaticReshape", "flat", "pool", shape=[3097, 3097], special_zero=False)]
        self.assert_ends(codes, [1, 3097], product("y", "x", "flat"))
        self.qdq("plan", "g.json", "--fast")

    def test_a_block_longer_than_its_rows_ends_with_them(self):
        """Each row of b is 1 - 8, and x is 1: y is -7 * 32."""
        constants = [constant("b", "uint4", [32, 2], [1] * 64), constant("s", "float32", [1, 2], [1, 1])]
        for name, shape, number in (("x", [1, 32], 1.0), ("y", [1, 2], -224.0)):
            write_npy(self.folder / f"{name}.npy", tensor("float32", shape, [number] * shape[1]))
        for block in (32, 256, 1 << 30):
            nbits = {"op": "MatMulNBits", "name": "y", "inputs": {"a": "x", "b": "b", "b_scale": "s"},
                     "attrs": {"block_size": block}}
            self.write("g.json", graph([nbits], [value("x", "float32", [1, 32])], {"y": "y"}, constants=constants))
            self.assertLessEqual(self.json("plan", "g.json")["operations"], 2 * 256)
            self.qdq("run", "g.json", "-i", "x=x.npy", "-e", "y=y.npy", "--tolerance", "1e-5")

    def test_constants_of_emitted_c_have_a_budget(self):
        side, cost = 1024, 2**30  # of the product; Expand computes nothing
        one = constant("c", "float32", [1, 1], [1])
        nodes = [node("Expand", "e", "c", shape=[side, side]), product("p", "e", "e"), product("y", "x", "p")]
        self.write("g.json", graph(nodes, [value("x", "float32", [1, side])], {"y": "y"}, constants=[one]))
        err = self.qdq("plan", "g.json", "--emit-c", "y.c", code=5).err
        self.assertIn(f"values that depend on constants alone take {cost} operations up to node 'p', wanted at most "
                      f"{2**26 + 16}; store them as constants, or raise --max-operations", err)  # fmt: skip
        self.qdq("plan", "g.json", "--emit-c", "y.c", "--max-operations", 2 * cost)

    def test_a_limit_accepts_its_own_number(self):
        nodes = [node("ReLU", "r", "x"), product("y", "r", "w")]
        w = constant("w", "float32", [3, 5], list(range(15)))
        self.write("g.json", graph(nodes, [value("x", "float32", [2, 3])], {"y": "y"},
                                   constants=[w]))
        operations = 2 * 3 + 2 * 3 * 5
        self.assertEqual(self.json("plan", "g.json", "--rows")["operations"], operations)
        operations += 2 * 3  # x is cut into a tile
        self.assertEqual(self.json("plan", "g.json")["operations"], operations)
        self.qdq("run", "g.json", "--fill", "1", "--max-operations", operations)
        self.qdq("run", "g.json", "--fill", "1", "--max-operations", operations - 1, code=5)

    def test_a_graph_without_nodes_copies(self):
        self.write("g.json", identity("int8", [7]))
        self.assertEqual(self.json("plan", "g.json", "--rows")["operations"], 7)
        self.assertEqual(self.json("plan", "g.json")["operations"], 14)  # into a tile and out of it


if __name__ == "__main__":
    main()
