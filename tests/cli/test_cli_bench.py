#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq bench: what it prints, and which of the numbers must agree. No test checks a time."""

import platform

from harness import Case, graph, main, node, quantize, value

# float32 [64, 48] in, int8 and float32 out, in two steps, as two nodes read q.
NODES = [quantize(scales=0.5, zps=3), node("Dequantize", "d", "q", scales=0.5, dtype="float32"),
         node("Requantize", "r", "q", in_scales=0.5, out_scales=0.25, dtype="int8")]
GRAPH = graph(NODES, [value("x", shape=(64, 48))], {"y": "d", "z": "r"})
ELEMENTS = 64 * 48
NUMBER = r"\d+\.\d+"
SPREAD = rf"median {NUMBER} us \(minimum {NUMBER}, quartiles {NUMBER} to {NUMBER}\)"
LIMITS = ["memcpy", "stream", "stream_nontemporal"]
HAS_SIMD = platform.machine() in ("x86_64", "AMD64")  # passes of other machines are portable


class Bench(Case):
    def bench(self, *words, content=GRAPH, **more):
        return self.json("bench", self.write("g.json", content), "--repeat", 5, *words, **more)

    def assert_spread(self, one):
        low, high = one["quartile_seconds"]
        self.assertTrue(0 <= one["minimum_seconds"] <= low <= one["median_seconds"] <= high, one)

    def assert_rate(self, one, count):
        self.assertAlmostEqual(one["gb_per_second"] * one["median_seconds"] * 1e9, count,
                               delta=count * 1e-6)

    # ---- A run and its steps ----

    def test_a_run_has_a_minimum_and_a_median_between_quartiles_and_counts_what_goes_in_and_out(self):
        parsed = self.bench()
        self.assert_spread(parsed)
        self.assertGreater(parsed["median_seconds"], 0)
        self.assertEqual(parsed["input_bytes"], 4 * ELEMENTS)
        self.assertEqual(parsed["output_bytes"], 4 * ELEMENTS + ELEMENTS)
        self.assert_rate(parsed, 9 * ELEMENTS)

    def test_repeat_counts_timings_each_of_whole_runs(self):
        parsed = self.bench()
        self.assertEqual(parsed["timings"], 5)
        self.assertGreaterEqual(parsed["runs"], 5)
        self.assertEqual(parsed["runs"] % 5, 0)

    def test_the_steps_are_those_of_the_plan(self):
        for words in ([], ["--materialize"]):
            parsed = self.bench(*words)
            plan = self.json("plan", "g.json", *words)
            self.assertGreater(len(plan["steps"]), 1)
            self.assertEqual([one["chain"] for one in parsed["steps"]],
                             [one["chain"] for one in plan["steps"]])
            self.assertEqual([one["bytes"] for one in parsed["steps"]],
                             [one["read_bytes"] + one["write_bytes"] for one in plan["steps"]])
            self.assertEqual(parsed["bytes"], sum(one["bytes"] for one in parsed["steps"]))
            self.assertEqual(parsed["bytes"], parsed["moved_bytes"])
            self.assertEqual(parsed["necessary_bytes"], 9 * ELEMENTS)
            self.assertAlmostEqual(parsed["moved_over_necessary"],
                                   parsed["bytes"] / (9 * ELEMENTS))
            for one in parsed["steps"]:
                self.assert_spread(one)

    def test_text_has_a_line_for_the_run_and_one_for_each_step(self):
        out = self.qdq("bench", self.write("g.json", GRAPH), "--repeat", 3).out.splitlines()
        steps = len(self.json("plan", "g.json")["steps"])
        self.assertRegex(out[0], rf"\Ag\.json: {SPREAD}, {9 * ELEMENTS} bytes, {NUMBER} GB/s in "
                                 rf"and out; all steps move \d+ bytes, {NUMBER} GB/s, {NUMBER} times "
                                 rf"the necessary {9 * ELEMENTS}\Z")
        self.assertEqual(len(out), 1 + steps + 3)
        for name, line in zip(("other mode, fast", "load", "compile"), out[-3:]):
            self.assertRegex(line, rf"\A  {name}: {SPREAD}\Z")
        for i, line in enumerate(out[1:-3]):
            self.assertRegex(line, rf"\A  step {i}: {SPREAD}, \d+ bytes, {NUMBER} GB/s  .* -> ")

    def test_a_graph_without_steps_is_timed_too(self):
        constant = {**value("c", shape=(2,)), "data": [1, 2]}
        parsed = self.bench("--vs-copy", "--compile", content=graph(
            [quantize(x="c", scales=1)], [], constants=[constant]))
        self.assertEqual(parsed["input_bytes"], 0)
        self.assertEqual(parsed["output_bytes"], 2)

    def test_the_mode_asked_for_is_timed_and_the_other_is_reported(self):
        for words, mode, other in (([], "literal", "fast"), (["--fast"], "fast", "literal"),
                                   (["--literal"], "literal", "fast")):
            parsed = self.bench(*words)
            self.assertEqual((parsed["mode"], parsed["other_mode"]["mode"]), (mode, other))
            self.assert_spread(parsed["other_mode"])
            self.assertGreater(parsed["other_mode"]["median_seconds"], 0)
            self.assertIn(f"\n  other mode, {other}: median ",
                          self.qdq("bench", "g.json", "--repeat", 2, *words).out)

    def test_stored_values_have_one_mode(self):
        for words in (["--materialize"], ["--float-storage", "bfloat16"], ["--tiles"],
                      ["--keep", "all"]):
            parsed = self.bench(*words)
            self.assertEqual(parsed["mode"], "literal")
            self.assertNotIn("other_mode", parsed)

    # ---- --steps ----

    # Thirteen products of 16x16 matrices, one after the other.
    LONG = graph(
        [{"op": "MatMul", "name": f"m{i}", "inputs": dict.fromkeys("ab", f"m{i - 1}" if i else "x")} for i in range(13)],
        [value("x", shape=(16, 16))], {"y": "m12"})

    def test_the_ten_slowest_steps_come_first_with_share_and_operations(self):
        parsed = self.bench("--steps", "--threads", 1, content=self.LONG)
        slowest, steps = parsed["slowest"], parsed["steps"]
        self.assertEqual((len(slowest), len(steps)), (10, 13))
        least = [one["minimum_seconds"] for one in steps]
        self.assertEqual([one["minimum_seconds"] for one in slowest], sorted(least, reverse=True)[:10])
        for one in slowest:
            self.assert_spread(one)
            self.assertEqual(one["chain"], steps[one["step"]]["chain"])
            self.assertEqual(one["bytes"], steps[one["step"]]["bytes"])
            self.assertEqual(one["operations"], 16 * 16 * 16)
            self.assertAlmostEqual(one["share"], one["minimum_seconds"] / sum(least))
            self.assertIn(one["limit"], ("memory", "arithmetic"))
            longer = max(one["memory_seconds"], one["arithmetic_seconds"])
            self.assertEqual(longer, one[f"{one['limit']}_seconds"])
            self.assertAlmostEqual(one["fraction"], longer / one["minimum_seconds"])
            self.assertEqual(one["arithmetic"], "float32")
            self.assertIn(one["level"], ("L1", "L2", "L3", "memory", ""))
        self.assertEqual(len({one["step"] for one in slowest}), 10)
        self.assertNotIn("slowest", self.bench(content=self.LONG))

    def test_the_limit_of_arithmetic_is_that_of_the_numbers_and_of_the_instruction_set(self):
        for isa in ("portable", None):
            words = ["--steps", *(["--isa", isa] if isa else [])]
            for name, dtype, op in (("int8", "uint8", "MatMulInteger"), ("float32", "float32", "MatMul")):
                content = graph([{"op": op, "name": "m", "inputs": {"a": "x", "b": "x"}}],
                                [value("x", dtype, (64, 64))], {"y": "m"})
                parsed = self.bench(*words, content=content)
                one, rates = parsed["slowest"][0], parsed["multiply_adds_per_second"]
                self.assertEqual(one["arithmetic"], name)
                self.assertAlmostEqual(one["arithmetic_seconds"] * rates[name], one["operations"], delta=1)
                self.assertGreaterEqual(set(rates), {"float32", "int8"})
                self.assertGreater(min(rates.values()), 0)
            self.assertEqual(parsed["isa"] == "portable", isa == "portable" or not HAS_SIMD)

    def test_text_lists_the_slowest_steps_and_counts_the_others(self):
        out = self.qdq("bench", self.write("g.json", self.LONG), "--repeat", 3, "--steps").out.splitlines()
        for line in out[1:11]:
            self.assertRegex(line, rf"\A  step \d+: {NUMBER} %, {SPREAD}, \d+ bytes, 4096 operations, "
                                   rf"{NUMBER} of the limit of (memory(, \w+)?|arithmetic, float32)  .* -> ")
        self.assertEqual(out[11], "  3 more steps are faster")
        self.assertRegex(out[12], rf"\A  limits of arithmetic, \w+, multiply-adds in a nanosecond: float32 {NUMBER}, int8 {NUMBER}")
        self.assertNotIn("more steps", self.qdq("bench", self.write("g.json", GRAPH), "--repeat", 3, "--steps").out)

    # ---- --vs-copy ----

    def test_limits_move_the_bytes_of_the_graph(self):
        for words in ([], ["--threads", 2]):
            parsed = self.bench("--vs-copy", *words)
            names = [one["name"] for one in parsed["limits"]]
            self.assertIn(names, [LIMITS, LIMITS[:2]])
            for one in parsed["limits"]:
                self.assert_spread(one)
                self.assertEqual(one["bytes"], 9 * ELEMENTS, one)
                self.assert_rate(one, 9 * ELEMENTS)

    def test_the_ratio_is_that_of_minima_to_the_fastest_limit(self):
        parsed = self.bench("--vs-copy")
        rates = {one["name"]: one["bytes"] / one["minimum_seconds"] for one in parsed["limits"]}
        best = max(rates, key=rates.get)
        self.assertEqual(parsed["fastest_limit"], best)
        self.assertAlmostEqual(parsed["ratio"], 9 * ELEMENTS / parsed["minimum_seconds"] / rates[best], places=6)

    def test_limits_of_any_shape_have_their_lines(self):
        for shape in [(), (1,), (3, 5), (7, 1001)]:
            for dtype in ("int8", "int32"):
                content = graph([quantize(scales=0.5, dtype=dtype)], [value("x", shape=shape)])
                parsed = self.bench("--vs-copy", "--threads", 2, content=content)
                self.assertGreater(parsed["ratio"], 0, (shape, dtype))

    def test_text_ends_with_the_ratio(self):
        out = self.qdq("bench", self.write("g.json", GRAPH), "--repeat", 3, "--vs-copy").out
        for name in LIMITS[:2]:
            self.assertRegex(out, rf"(?m)^  {name}: {SPREAD}, \d+ bytes, {NUMBER} GB/s$")
        self.assertRegex(out, rf"\n  the run has {NUMBER} of the rate of the fastest, "
                              rf"({'|'.join(LIMITS)})\n\Z")

    def test_without_it_there_is_no_limit(self):
        parsed = self.bench()
        self.assertFalse({"limits", "ratio", "fastest_limit"} & set(parsed))

    # ---- Loading and compiling ----

    def test_loading_and_compiling_are_timed_with_and_without_compile(self):
        for words in ([], ["--compile"]):
            parsed = self.bench(*words)
            for stage in ("load", "compile"):
                self.assert_spread(parsed[stage])
                self.assertGreater(parsed[stage]["minimum_seconds"], 0)
            out = self.qdq("bench", "g.json", "--repeat", 3, *words).out
            for stage in ("load", "compile"):
                self.assertRegex(out, rf"(?m)^  {stage}: {SPREAD}$")

    # ---- Mistakes ----

    def test_a_bad_number_of_repeats_is_refused(self):
        self.write("g.json", GRAPH)
        for text in ("0", "-1", "x", ""):
            result = self.qdq("bench", "g.json", "--repeat", text, code=2)
            self.assertIn(f"--repeat is '{text}', wanted a whole number of at least 1", result.err)

    def test_a_graph_with_errors_is_not_timed(self):
        result = self.qdq("bench", self.write("g.json", graph([quantize(scales=0)])), "--vs-copy",
                          "--compile", code=3)
        self.assertEqual(result.out, "")
        self.assertIn("core/scale-value", result.err)


if __name__ == "__main__":
    main()
