#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq plan: its description of the arena is consistent."""

import math
import random
import shutil

from harness import Case, graph, identity, main, models, node, quantize, requantize, value
from test_cli_run import random_graph

SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "int4": 0.5, "uint4": 0.5,
         "int16": 2, "uint16": 2, "int32": 4, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
         "bfloat8_b": 1.0625, "bfloat4_b": 0.5625, "float4_e2m1": 0.5, "float8_e8m0": 1,
         "int2": 0.25, "uint2": 0.25}  # bytes of a tile element
VALUE_KEYS = {"name", "dtype", "shape", "padded_shape", "tiles", "bytes", "offset", "first_step",
              "last_step"}
OPTIONS = [["--rows"], ["--tiles"], ["--rows", "--keep", "all"], ["--materialize"],
           ["--float-storage", "bfloat16"], ["-m", "--float-storage", "bfloat16"]]
PAGE = 2048


def padded(shape):
    """The last two dims rounded up to 32; rank 0 and 1 count as one row."""
    *planes, rows, columns = [1] * (2 - len(shape)) + shape
    return planes + [-(-rows // 32) * 32, -(-columns // 32) * 32]


def matrices(shape):
    """The shape itself up to rank 2; else the matrices whose rows are its first dims."""
    if len(shape) <= 2:
        return [shape]
    return [[math.prod(shape[:i]), math.prod(shape[i:])] for i in range(1, len(shape))]


def narrow(shape):
    """All elements in the most columns up to 32."""
    count = math.prod(shape)
    columns = max(n for n in range(1, 33) if count % n == 0)
    return [count // columns, columns]


def in_place(old, new):
    """Whether `new` is computed in place of `old`."""
    return old["offset"] == new["offset"] and old["last_step"] == new["first_step"]


def live_in(step, values):
    return [one for one in values if one["first_step"] <= step <= one["last_step"]]


def place_bytes(value, unit):
    return -(-value["bytes"] // unit) * unit


def live_bytes(step, values, unit):
    """The bytes alive in a step. A value computed in place of another counts once with it in the
    step where both are alive. Sizes are multiples of `unit` bytes."""
    live = live_in(step, values)
    taken_over = [old for old in live if old["last_step"] == step
                  and any(new is not old and new["first_step"] == step and in_place(old, new)
                          for new in live)]
    return sum(place_bytes(one, unit) for one in live) - sum(place_bytes(one, unit)
                                                             for one in taken_over)


class Plan(Case):
    def plan(self, *words):
        plan = self.json("plan", "g.json", *words)
        for key in ("arena_bytes", "peak_live_bytes", "padding_bytes"):
            self.assertIsInstance(plan[key], int)
        return plan

    def assert_values(self, plan, may_stack):
        """`may_stack`: a value may have fewer tiles than one whose planes are padded."""
        for one in plan["values"]:
            self.assertLessEqual(VALUE_KEYS, set(one))
            shape = one["padded_shape"]
            if one["tiles"]:
                planes, matrix = padded(one["shape"]), min(map(padded, matrices(one["shape"])), key=math.prod)
                if may_stack and shape != planes:
                    slim = math.prod(padded(narrow(one["shape"])))
                    least = min(math.prod(planes), math.prod(matrix))
                    self.assertEqual((len(shape), math.prod(shape)), (2, slim if 2 * slim <= least else least), one)
                else:
                    self.assertEqual(shape, planes, one)
                self.assertEqual(one["tiles"], math.prod(shape) // 1024, one)
                self.assertEqual(one["bytes"], math.prod(shape) * SIZES[one["dtype"]], one)
            else:  # row-major values are not packed
                self.assertEqual(shape, one["shape"], one)
                self.assertEqual(one["bytes"], math.prod(shape) * math.ceil(SIZES[one["dtype"]]),
                                 one)
            self.assertEqual(one["offset"] % (PAGE if plan["tiled"] else 64), 0, one)
            if plan["tiled"]:
                self.assertGreater(one["tiles"], 0, one)
            self.assertGreaterEqual(one["offset"], 0, one)
            self.assertLessEqual(one["offset"] + one["bytes"], plan["arena_bytes"], one)
            self.assertTrue(0 <= one["first_step"] <= one["last_step"] < len(plan["steps"]), one)
        names = [one["name"] for one in plan["values"]]
        self.assertEqual(len(set(names)), len(names), names)

    def assert_sums(self, plan):
        values = plan["values"]
        tiled = [one for one in values if one["tiles"]]
        elements = sum(math.ceil(math.prod(one["shape"]) * SIZES[one["dtype"]]) for one in tiled)
        self.assertEqual(plan["padding_bytes"], sum(one["bytes"] for one in tiled) - elements)
        self.assertEqual(plan["padding_bytes"], sum(one["padding_bytes"] for one in values))
        for one in values:
            self.assertEqual(one["pages"], -(-one["bytes"] // PAGE) if plan["tiled"] else 0)
        unit = PAGE if plan["tiled"] else 64
        self.assertEqual(plan["page_bytes"], PAGE)
        self.assertEqual(plan["arena_bytes"] % unit, 0)
        peak = max([live_bytes(step, values, unit) for step in range(len(plan["steps"]))],
                   default=0)
        self.assertEqual(plan["peak_live_bytes"], peak)
        self.assertGreaterEqual(plan["arena_bytes"], plan["peak_live_bytes"])

    def assert_no_overlap(self, plan):
        for i, a in enumerate(plan["values"]):
            for b in plan["values"][:i]:
                at_once = a["first_step"] <= b["last_step"] and b["first_step"] <= a["last_step"]
                one_place = (a["offset"] < b["offset"] + b["bytes"]
                             and b["offset"] < a["offset"] + a["bytes"])
                if at_once and one_place:
                    self.assertTrue(in_place(a, b) or in_place(b, a), (a, b))
                    self.assertNotEqual((a["first_step"], a["last_step"]),
                                        (b["first_step"], b["last_step"]), (a, b))

    def assert_plan(self, *words):
        plan = self.plan(*words)
        self.assert_values(plan, not {"-m", "--materialize"} & set(words))
        self.assert_sums(plan)
        self.assert_no_overlap(plan)
        return plan

    def test_models(self):
        for model in models():
            shutil.copytree(model, self.folder, dirs_exist_ok=True)
            shutil.copy(model / "graph.json", self.folder / "g.json")
            for words in OPTIONS:
                with self.subTest(model=model.name, words=words):
                    self.assert_plan(*words)

    def test_random_graphs(self):
        for seed in range(60):
            self.write("g.json", random_graph(random.Random(seed)))
            for words in OPTIONS:
                with self.subTest(seed=seed, words=words):
                    self.assert_plan(*words)

    def test_padding_of_every_rank(self):
        for shape, wanted in (([], [32, 32]), ([5], [32, 32]), ([33], [32, 64]),
                              ([2, 3], [32, 32]), ([1, 33], [32, 64]), ([32, 32], [32, 32]),
                              ([3, 5, 33], [3, 32, 64]), ([2, 1, 64, 1], [2, 1, 64, 32]),
                              ([1, 2, 1, 3, 1, 2, 33, 1], [1, 2, 1, 3, 1, 2, 64, 32])):
            self.write("g.json", identity("bfloat16", shape))
            (one,) = self.assert_plan("-m")["values"]
            self.assertEqual((one["shape"], one["padded_shape"]), (shape, wanted))

    def test_rows_and_tiles(self):
        self.write("g.json", graph([quantize("a", scales=1)], [value("x", shape=[64, 64])], {"y": "a"}))
        self.assertFalse(self.plan("--rows")["tiled"])
        self.assertTrue(self.plan()["tiled"])
        for target in ("onnx", "ort", "onednn", "tensorrt", "torchao"):
            self.assertFalse(self.plan("--target", target)["tiled"])
        self.assertFalse(self.plan("--fast")["tiled"])
        self.assertTrue(self.plan("--tiles")["tiled"])
        self.assertEqual(self.plan("--tiles"), self.plan("--tiled"))  # the older spelling
        self.assertNotIn("--tiled", self.qdq("plan", "--help").out)
        self.assertIsNone(self.plan("--rows", "--target", "ttnn")["device"])
        for words, told in ((["--rows", "--tiles"], "--rows and --tiles are both given"),
                            (["--rows", "--materialize"], "rows and materialize are both given"),
                            (["--rows", "--device", "n150"], "rows and device are both given")):
            with self.subTest(words):
                self.assertIn(told, self.qdq("plan", "g.json", *words, code=2).err)

    def test_outer_dims_become_rows(self):
        """64 rows of 576 take 36 tiles; each of the 4,096 planes takes one."""
        self.write("g.json", graph([quantize("a", scales=1)], [value("x", shape=[64, 64, 3, 3])],
                                   {"y": "a"}))
        for words, tiles, shape in ((["--tiles"], 36, [64, 576]),
                                    (["--tiles", "--keep", "x,a"], 4096, [64, 64, 32, 32]),
                                    (["-m"], 4096, [64, 64, 32, 32]),
                                    (["--device", "n150"], 4096, [64, 64, 32, 32])):
            with self.subTest(words=words):
                plan = self.plan(*words)
                self.assertEqual([(one["tiles"], one["padded_shape"]) for one in plan["values"]],
                                 2 * [(tiles, shape)])
                self.assertEqual(plan["tiles"], 2 * tiles)
                self.assertEqual(plan["padding_bytes"], (4 + 1) * (tiles * 1024 - 64 * 64 * 9))
                out = self.qdq("plan", "g.json", *words).out
                self.assertIn(f"padding          {plan['padding_bytes']} bytes", out)

    def test_materialized_has_every_value(self):
        nodes = [quantize("a", scales=1), node("Dequantize", "b", "a", scales=1),
                 quantize("c", "b", scales=1, dtype="int32")]
        self.write("g.json", graph(nodes, outputs={"y": "c"}))
        plan = self.assert_plan("-m")
        self.assertEqual([one["name"] for one in plan["values"]], ["x", "a", "b", "c"])
        self.assertEqual([one["dtype"] for one in plan["values"]],
                         ["float32", "int8", "bfloat16", "int32"])

    def test_a_fused_chain_needs_no_arena(self):
        nodes = [quantize("a", scales=1), node("Dequantize", "b", "a", scales=1),
                 quantize("c", "b", scales=1)]
        self.write("g.json", graph(nodes, outputs={"y": "c"}))
        plan = self.assert_plan("--rows")
        self.assertEqual((plan["arena_bytes"], plan["values"]), (0, []))
        for name in ("a", "b", "c"):
            self.assertIn(f" {name} ", plan["steps"][0]["chain"] + " ")

    def test_a_tiled_chain_is_one_step_and_streams_unless_it_stores_tiles(self):
        nodes = [quantize("a", scales=1), node("Dequantize", "b", "a", scales=1),
                 quantize("c", "b", scales=1)]
        self.write("g.json", graph(nodes, [value("x", shape=[32, 32])], {"y": "c"}))
        for words, kept, end in (([], [], "output"), (["--keep", "b"], ["b"], "untilize")):
            plan = self.assert_plan("--tiles", *words)
            self.assertEqual([one["name"] for one in plan["values"]], ["x", *kept, "c"])
            start = "tilize x -> " if kept else ""
            self.assertEqual([step["chain"] for step in plan["steps"]],
                             [f"x -> {start}Quantize a -> Dequantize b -> Quantize c -> {end} y"])
            self.assertEqual(plan["steps"][0]["streamed"], not kept)

    def test_an_input_that_is_a_second_operand_does_not_cut_a_tiled_chain(self):
        nodes = [quantize("a", scales=1), node("Dequantize", "b", "a", scales=1, dtype="float32"),
                 node("Add", "c", None, {"a": "z", "b": "b"})]
        del nodes[2]["inputs"]["x"]
        inputs = [value(name, shape=[32, 32]) for name in "xz"]
        self.write("g.json", graph(nodes, inputs, {"y": "c"}))
        chains = [step["chain"] for step in self.assert_plan("--tiles")["steps"]]
        self.assertEqual(chains, ["x -> Quantize a -> Dequantize b -> Add c -> output y"])

    def test_kept_values_live_to_the_last_step(self):
        nodes = [quantize("a", scales=1), node("Dequantize", "b", "a", scales=1),
                 quantize("c", "b", scales=1)]
        self.write("g.json", graph(nodes, outputs={"y": "c"}))
        for words in (["--rows", "--keep", "a"], ["--tiles", "--keep", "a,b"], ["-m"]):
            plan = self.assert_plan(*words)
            kept = [one for one in plan["values"] if one["name"] in ("a", "b")]
            self.assertTrue(kept)
            for one in kept:
                self.assertEqual(one["last_step"], len(plan["steps"]) - 1)
        self.assertEqual([one["name"] for one in self.plan("--rows", "--keep", "a")["values"]], ["a"])
        self.assertEqual(len(self.plan("--rows", "--keep", "a")["steps"]), 1)

    def test_a_value_is_made_in_place_where_it_fits(self):
        nodes = [requantize("a", "x"), requantize("b", "x")]
        self.write("g.json", graph(nodes, [value("x", "int8", [64, 64])], {"y": "a", "z": "b"}))
        plan = self.assert_plan("--tiles")
        self.assertEqual(plan["arena_bytes"], 2 * 64 * 64)
        x, _, b = plan["values"]
        self.assertEqual((x["name"], b["name"], x["offset"]), ("x", "b", b["offset"]))

    def test_a_slot_is_whole_pages(self):
        """A tile of int8 is half a page, three tiles are a page and a half."""
        for shape, pages in (([32, 32], 1), ([96, 32], 2), ([64, 64], 2), ([32, 160], 3)):
            self.write("g.json", graph([requantize("a", "x")], [value("x", "int8", shape)],
                                       {"y": "a"}))
            plan = self.assert_plan("-m")
            self.assertEqual({one["bytes"] for one in plan["values"]}, {math.prod(shape)})
            self.assertEqual(plan["arena_bytes"], 2 * pages * PAGE)
            self.assertEqual(plan["peak_live_bytes"], 2 * pages * PAGE)
            self.assertIn(f"({2 * pages} pages of 2048)", self.qdq("plan", "g.json", "-m").out)

    def test_values_of_other_sizes_do_not_share_a_page_in_place(self):
        """Two tiles of int4 and two of int8 fit in one page each, but tile 0 of int8 covers both
        tiles of int4."""
        nodes = [requantize(name, "x", dtype="int8") for name in ("a", "b")]
        self.write("g.json", graph(nodes, [value("x", "int4", [32, 64])], {"y": "a", "z": "b"}))
        x, _, b = self.assert_plan("--tiles")["values"]
        self.assertEqual((x["bytes"], b["bytes"]), (1024, 2048))
        self.assertNotEqual(x["offset"], b["offset"])

    def test_a_plan_says_row_major_and_streamed(self):
        nodes = [quantize("a", scales=1), node("DynamicQuantize", "b", "x")]
        self.write("g.json", graph(nodes, [value("x", shape=[64, 64])], {"y": "a", "z": "b"}))
        out = self.qdq("plan", "g.json", "--rows").out
        self.assertRegex(out, r"arena +\d+ bytes, row-major; inputs and outputs are streamed\n")
        self.assertRegex(out, r"(?m)^ . b\.scale +\w+ +\S+ +row-major ")
        self.assertRegex(out, r"\(direct, 4 strips, streamed, ")
        self.assertNotRegex(out, r"tiles +0\b")
        tiled = self.qdq("plan", "g.json", "--tiles", "--keep", "a,b").out
        self.assertNotRegex(tiled, r"(?m)^ . \S+ +\w+ +\S.* +row-major +\d")
        self.assertNotIn("streamed", tiled)

    def test_strips_of_a_tiled_plan_say_where_they_read_and_write(self):
        """Tiles of [2, 3] are nearly empty, so steps go over strips. Two nodes read a."""
        nodes = [quantize("a", scales=1), node("Dequantize", "b", "a", scales=1),
                 node("Dequantize", "c", "a", scales=2)]
        cases = (([], ["b", "c"], [("row-major", "row-major and tiles", False),
                                   ("tiles", "row-major", False)]),
                 (["--keep", "c"], ["c"], [("row-major", "row-major and tiles", False)]),
                 ([], ["b"], [("row-major", "row-major", True)]))
        for words, outputs, wanted in cases:
            self.write("g.json", graph(nodes, [value("x", shape=[2, 3])],
                                       {name: name for name in outputs}))
            with self.subTest(words=words, outputs=outputs):
                steps = self.plan("--tiles", *words)["steps"]
                self.assertEqual([(one["reads"], one["writes"], one["streamed"]) for one in steps],
                                 wanted)
                out = self.qdq("plan", "g.json", "--tiles", *words).out
                for reads, writes, streamed in wanted:
                    self.assertIn(", 1 strip, streamed, reads" if streamed else
                                  f", 1 strip, {reads} to {writes}, reads", out)
                self.assertEqual("tilize" in out, not wanted[0][2])

    def assert_moved(self, words, moved, necessary):
        plan, out = self.plan(*words), self.qdq("plan", "g.json", *words).out
        self.assertEqual((plan["moved_bytes"], plan["necessary_bytes"]), (moved, necessary), words)
        self.assertAlmostEqual(plan["moved_over_necessary"], moved / necessary)
        self.assertEqual(moved, sum(one["read_bytes"] + one["write_bytes"]
                                    for one in plan["steps"]))
        self.assertIn(f"moved by steps   {moved} bytes, {moved / necessary:.2f} times the necessary "
                      f"{necessary}\n", out)

    def test_bytes_moved_are_compared_with_the_necessary_ones(self):
        """float32 [64, 48] becomes int8 and float32 again: n elements."""
        n = 64 * 48
        nodes = [quantize("a", scales=1), node("Dequantize", "b", "a", scales=1, dtype="float32")]
        self.write("g.json", graph(nodes, [value("x", shape=[64, 48])], {"y": "b"}))
        self.assert_moved([], 8 * n, 8 * n)
        self.assert_moved(["--tiles"], 8 * n, 8 * n)
        self.assert_moved(["--keep", "a"], 9 * n, 8 * n)
        # x to tiles, x to a, a to b, b to rows
        self.assert_moved(["-m"], (8 + 5 + 5 + 8) * n, 8 * n)
        # On a device padding is moved as well: 2x2 tiles instead of 2x1.5.
        tiles = 4 * 1024
        self.assert_moved(["--device", "n150"], (4 + 4) * n + (4 + 5 + 5 + 4) * tiles, 8 * n)

    def test_a_second_operand_and_constants_are_necessary_once(self):
        """x + z, and the sum + z, in one step or two; the constant w is read once."""
        def add(name, a, b):
            return {"op": "Add", "name": name, "inputs": {"a": a, "b": b}}

        n = 32 * 32 * 4
        w = {**value("w", shape=[32, 32]), "data": [0.5] * 1024}
        self.write("g.json", graph([add("s", "x", "z"), add("t", "s", "z"), add("u", "t", "w")],
                                   [value(name, shape=[32, 32]) for name in "xz"], {"y": "u"},
                                   constants=[w]))
        # The sums are one step, which reads x, z and w.
        self.assert_moved([], 4 * n, 4 * n)
        # Three copies to tiles, three sums, one copy to rows.
        self.assert_moved(["-m"], (3 * 2 + 3 * 3 + 2) * n, 4 * n)

    def test_an_input_lives_from_its_first_reader_to_its_last(self):
        """Sums with c, the last chain first: each extends an earlier step than the one before."""
        def add(name, a, b):
            return {"op": "Add", "name": name, "inputs": {"a": a, "b": b}}

        chains = range(3)
        nodes = [node("Dequantize", f"n{i}", f"a{i}", scales=0.1, dtype="float32") for i in chains]
        nodes += [add(f"m{i}", f"n{i}", "c") for i in reversed(chains)]
        inputs = [value("c", shape=[64, 64])] + [value(f"a{i}", "int8", [64, 64]) for i in chains]
        self.write("g.json", graph(nodes, inputs, {f"y{i}": f"m{i}" for i in chains}))
        plan = self.assert_plan("--tiles")
        lives = {one["name"]: (one["first_step"], one["last_step"]) for one in plan["values"]}
        self.assertEqual(lives["c"], (0, 2))
        self.assertLessEqual(plan["peak_live_bytes"], plan["arena_bytes"])

    def test_constants_fold_although_values_are_kept(self):
        w = {**value("w", "int8", [4, 4]), "data": [1] * 16}
        nodes = [node("Dequantize", "wd", "w", scales=0.5, dtype="float32"),
                 {"op": "Abs", "name": "wa", "inputs": {"x": "wd"}},
                 {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "wa"}},
                 {"op": "ReLU", "name": "q", "inputs": {"x": "m"}}]
        self.write("g.json", graph(nodes, [value("x", shape=[4, 4])], constants=[w]))
        for words in ([], ["--keep", "m"]):
            out = self.qdq("plan", "g.json", *words).out
            self.assertEqual(len(self.plan(*words)["steps"]), 1, out)
            self.assertIn("on folded b", out)

    def test_a_value_that_is_read_again_keeps_its_memory(self):
        nodes = [requantize("a", "x"), requantize("b", "a"), requantize("c", "a")]
        self.write("g.json", graph(nodes, [value("x", "int8", [64, 64])], {"y": "b", "z": "c"}))
        plan = self.assert_plan("-m")
        self.assertGreaterEqual(plan["arena_bytes"], 2 * 64 * 64)

    def test_the_same_file_gives_the_same_plan(self):
        self.write("g.json", random_graph(random.Random(3)))
        self.assertEqual(self.plan("-m"), self.plan("-m"))

    def test_the_text_says_the_same(self):
        self.write("g.json", graph([quantize(scales=1)]))
        out, plan = self.qdq("plan", "g.json", "-m").out, self.plan("-m")
        for key in ("arena_bytes", "peak_live_bytes", "padding_bytes"):
            self.assertRegex(out, rf"\b{plan[key]} bytes")
        for one in plan["values"]:
            self.assertRegex(out, rf"(?m)^.* {one['name']} .* {one['bytes']} +{one['offset']}  "
                                  rf"{one['first_step']}-{one['last_step']}$")
        for step in plan["steps"]:
            self.assertIn(f"{step['chain']}  ({step['shape']}, {step['blocks']} ", out)

    def assert_reason(self, nodes, words, reason, of, sentence, outputs=None):
        """The last step that is not fused names the reason and the value."""
        outputs = outputs or [nodes[-1]["name"]]
        self.write("g.json", graph(nodes, [value("x", shape=[64, 64])],
                                   {f"out.{name}": name for name in outputs}))
        with self.subTest(reason=reason):
            self.assertEqual([one["not_fused"] for one in self.plan(*words)["steps"]
                              if one["not_fused"]][-1],
                             {"value": of, "reason": reason, "because": sentence})
            line = f"      not fused with the step that makes '{of}': {sentence}\n"
            out = self.qdq("plan", "g.json", *words).out
            self.assertEqual(line in out, reason not in ("node-by-node", "tensor-op"))
            self.assertEqual("\nsteps, node by node\n" in out, reason == "node-by-node")

    def test_a_step_says_why_its_node_was_not_fused(self):
        relu, softmax = node("ReLU", "r", "x"), node("SoftMax", "s", "x")
        norm, dynamic = node("LayerNorm", "n", "x"), node("DynamicQuantize", "d", "x")
        double = {"op": "Add", "name": "a", "inputs": {"a": "r", "b": "r"}}
        reads_both = [relu, quantize("q", "r", scales=1), node("SoftMax", "s", "x"),
                      {"op": "Add", "name": "a", "inputs": {"a": "x", "b": "r"}}]
        read_before = "an earlier reader of the value continues that step"
        for nodes, words, *wanted in (
                ([relu, quantize("q", "r", scales=1)], ["-m"], "node-by-node", "r",
                 "each node is a step with --materialize or a device"),
                ([relu, node("SoftMax", "s", "r")], [], "tensor-op", "r",
                 "a tensor op begins a step"),
                ([dynamic, node("ReLU", "r", "d.scale")], [], "after-reduction", "d.scale",
                 "that step ends with a reduction"),
                ([node("ReduceSum", "m", "x", axes=[1]), node("ReLU", "r", "m")], [], "no-chunks",
                 "m", "its tensor op hands over no chunks"),
                ([softmax, node("Cast", "c", "s", dtype="bfloat8_b")], [], "whole-tiles", "s",
                 "chunks cannot carry elements that share bytes or an exponent"),
                ([norm, node("ReLU", "r", "n.mean")], [], "other-result", "n.mean",
                 "only the first result of a tensor op is handed over"),
                ([relu, quantize("q", "r", scales=1), quantize("p", "r", scales=2)], [],
                 "read-before", "r", read_before, ["q", "p"]),
                (reads_both, [], "read-before", "r", read_before, ["q", "s", "a"]),
                ([relu, double], [], "operand-later", "r",
                 "another operand is not made before that step begins")):
            self.assert_reason(nodes, words, *wanted)
        self.write("g.json", graph([softmax, node("DynamicQuantize", "d", "s")],
                                   [value("x", shape=[64, 64])], {"y": "d"}))
        self.assertEqual([one["not_fused"] and one["not_fused"]["reason"]
                          for one in self.plan()["steps"]], [None, "reduction", "operand-later"])

    def shapes(self, *words):
        return [step["shape"] for step in self.plan(*words)["steps"]]

    def test_each_step_has_the_shape_that_fits_its_work(self):
        q = quantize("a", scales=1)
        cases = (([q], ["--rows"], ["direct"]),
                 ([q], [], ["blocks"]),
                 ([q], ["-m"], ["move", "blocks", "move"]),
                 ([q, node("Dequantize", "b", "a", scales=1)], [], ["blocks"]),
                 ([node("DynamicQuantize", "a", "x")], ["--rows"], ["reduce", "direct"]),
                 ([node("SoftMax", "a", "x")], [], ["tensor_op"]),
                 ([node("SoftMax", "a", "x"), node("ReLU", "b", "a")], [], ["tensor_op"]))
        for nodes, words, wanted in cases:
            self.write("g.json", graph(nodes, [value("x", shape=[64, 64])],
                                       {"y": nodes[-1]["name"]}))
            with self.subTest(nodes=nodes, words=words):
                self.assertEqual(self.shapes(*words), wanted)

    def test_a_short_tiled_plan_is_drawn_unasked(self):
        for steps in (32, 33):
            nodes = [node("SoftMax", f"s{i}", f"s{i - 1}" if i else "x") for i in range(steps)]
            self.write("g.json", graph(nodes, [value("x", shape=[4, 8])], {"y": nodes[-1]["name"]}))
            self.assertEqual(" bytes a column" in self.qdq("plan", "g.json").out, steps == 32)
            self.assertNotIn(" bytes a column", self.qdq("plan", "g.json", "--rows").out)
        self.assertIn(" bytes a column", self.qdq("plan", "g.json", "--map").out)

    def test_the_map_has_a_row_for_each_step(self):
        self.write("g.json", random_graph(random.Random(5)))
        rows = [line for line in self.qdq("plan", "g.json", "-m", "--map").out.splitlines()
                if "|" in line]
        self.assertEqual(len(rows), len(self.plan("-m")["steps"]))
        self.assertEqual(len({len(row) for row in rows}), 1)
        self.qdq("plan", "g.json", "--map")

    def test_a_graph_without_nodes(self):
        self.write("g.json", graph(inputs=[value("x"), value("z")],
                                   outputs={"a": "x", "b": "z", "c": "x"}))
        for words in OPTIONS:
            self.assert_plan(*words)

    def test_scratch_is_the_memory_of_a_run_outside_the_arena(self):
        """When materialized, a transpose reads a row-major copy of x, whose value is in tiles.
        SoftMax reads the tiles."""
        x = [value("x", "float32", [1024, 1024])]
        self.write("g.json", graph([node("SoftMax", "y", "x")], x, {"y": "y"}))
        self.assertEqual([step["scratch_bytes"] for step in self.plan("-m")["steps"]], [0, 0, 0])
        self.write("g.json", graph([node("StaticTranspose", "y", "x", order=[1, 0])], x, {"y": "y"}))
        plan, rows = self.plan("-m"), 4 << 20
        self.assertEqual((plan["arena_bytes"], plan["io_bytes"]), (2 * rows, 2 * rows))
        self.assertTrue(rows <= plan["scratch_bytes"] < rows + 4096, plan["scratch_bytes"])
        self.assertEqual([step["scratch_bytes"] for step in plan["steps"]], [0, rows, 0])
        self.assertIn(f", copies in {rows} bytes of scratch)", self.qdq("plan", "g.json", "-m").out)
        self.assertLess(self.plan()["scratch_bytes"], 4096)

    def test_limits(self):
        self.write("g.json", graph([quantize(scales=1)], [value("x", shape=[320, 320])]))
        self.assertIn("409600", self.qdq("plan", "g.json", "--max-bytes", "400000", code=5).err)
        self.qdq("plan", "g.json", "-m", "--max-bytes", "4000000")


if __name__ == "__main__":
    main()
