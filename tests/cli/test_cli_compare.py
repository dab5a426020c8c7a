#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq compare: it counts differences between targets and names their causes.

Wanted results are computed here, with exact fractions, from the formulas of docs/targets.md."""

import math
import random
import struct
from fractions import Fraction

from harness import Case, constant, graph, main, node, quantize, read_safetensors, unpack, value

NAN = "NaN"


def float32(exact):
    """A Fraction as float32, rounded half to even."""
    if exact == 0:
        return Fraction(0)
    size = abs(exact)
    exponent = math.frexp(float(size))[1] - 24
    while size >= Fraction(2) ** (exponent + 24):
        exponent += 1
    step = Fraction(2) ** max(exponent, -149)
    return round(exact / step) * step


def of_float(number):
    return Fraction(struct.unpack("<f", struct.pack("<f", number))[0])


def as_float32(number):
    """A number of the JSON output, whose digits are the fewest that read back as the same
    float32."""
    return number if isinstance(number, str) else float(of_float(number))


def half_away(exact):
    return math.floor(abs(exact) + Fraction(1, 2)) * (1 if exact >= 0 else -1)


def x_graph(data, *nodes, shape=None, dtype="float32"):
    """A graph with one constant x; every node is an output."""
    return graph(list(nodes), inputs=[], outputs={one["name"]: one["name"] for one in nodes},
                 constants=[constant("x", dtype, shape or [len(data)], data)])


class Compare(Case):
    def compare(self, content, targets="core,ttnn", *words, code=None):
        result = self.json("compare", self.write("g.json", content), "--targets", targets, *words,
                           code=code)
        for one in result["values"]:
            for pair in one["pairs"]:
                self.assertEqual(sum(why["elements"] for why in pair["causes"]), pair["different"],
                                 one)
        return result

    def pair(self, content, targets="core,ttnn", *words):
        """Compares a graph of one value in two targets and returns the findings about the value."""
        (one,) = self.compare(content, targets, *words)["values"]
        (pair,) = one["pairs"]
        return pair

    def assert_cause(self, content, cause, x, results, elements=1, targets=("core", "ttnn")):
        """Checks that there is one cause, in either order of the targets."""
        for turn in (1, -1):
            pair = self.pair(content, ",".join(targets[::turn]))
            self.assertEqual([why["cause"] for why in pair["causes"]], [cause])
            (why,) = pair["causes"]
            self.assertEqual((why["elements"], as_float32(why["x"])), (elements, as_float32(x)))
            self.assertEqual([as_float32(one) for one in why["results"]],
                             [as_float32(one) for one in results[::turn]])


class Causes(Compare):
    def test_a_tie_is_named_as_a_tie(self):
        self.assert_cause(x_graph([2.5, 3, -7], quantize(scales=1)), "tie", 2.5, [2, 3])
        self.assert_cause(x_graph([3, 1.5, 6.5], quantize(scales=1, dtype="int32")), "tie", 6.5,
                          [6, 7])

    def test_a_reciprocal_is_named_as_one(self):
        found = 0
        for n in range(1, 4000):
            scale = of_float(n / 1000)
            for k in range(3, 100, 7):
                x = float32((k + Fraction(1, 2)) * scale)
                quotient, product = float32(x / scale), float32(x * float32(1 / scale))
                a, b = round(quotient), half_away(product)
                if a == b or round(product) != b or found == 5:
                    continue  # a tie would explain it as well, or nothing differs
                found += 1
                content = x_graph([float(x), 0], quantize(scales=float(scale), dtype="int32"))
                self.assert_cause(content, "reciprocal", float(x), [a, b])
        self.assertEqual(found, 5)

    def test_the_order_of_the_zero_point_is_reported(self):
        x = 0.5 - 2 ** -25  # 0.5 - 2^-25 rounds to 0; plus 1 it is 1.5 in float32
        self.assert_cause(x_graph([x], quantize(scales=1, zps=1, dtype="int32")),
                          "zero-point order", x, [1, 2])

        # onednn adds the zero point before rounding: 1.5 is 2, and 0.5 is 0
        self.assert_cause(x_graph([0.5, 1, 7], quantize(scales=1, zps=1)), "zero-point order", 0.5,
                          [1, 2], targets=("core", "onednn"))

    def test_a_biased_sum_is_no_tie(self):
        x = 0.5 - 2 ** -25  # plus 128 it is 128.5 in float32
        self.assert_cause(x_graph([x], quantize(scales=1)), "biased sum", x, [0, 1],
                          targets=("core", "ttnn@ieee"))

    def test_a_narrower_range_is_reported(self):
        self.assert_cause(x_graph([-128, 3, 1000], quantize(scales=1, dtype="int32")),
                          "saturation range", -128, [-128, -127], elements=2)

    def test_the_result_of_nan_is_reported(self):
        self.assert_cause(x_graph([NAN, 3], quantize(scales=1)), "NaN", NAN, [-128, 127])

    def test_a_dropped_sign_is_reported(self):
        self.assert_cause(x_graph([-5, 5], quantize(scales=1, dtype="uint8")), "dropped sign", -5,
                          [0, 5])

    def composite(self, data, **attrs):
        """A Quantize with a tensor as its zero point. A constant without dims would be a number."""
        content = x_graph(data, quantize(ports={"zero_point": "z"}, scales=1, **attrs))
        content["constants"].append(constant("z", "int32", [1], [0]))
        return content

    def test_truncation_is_reported(self):
        self.assert_cause(self.composite([1.75, 3], dtype="int32"), "truncation", 1.75, [2, 1])

    def test_wrapping_is_reported(self):
        self.assert_cause(self.composite([300, 3], dtype="uint8"), "wrap", 300, [255, 300 - 256])

    def test_a_cause_may_be_seen_from_the_other_side_alone(self):
        # 301 wraps to 45. 300.75 truncates to 300, which saturates to 255 as well.
        self.assert_cause(self.composite([300.75], dtype="uint8"), "wrap", 300.75,
                          [255, 300 - 256])

    def test_two_causes_together_are_reported_together(self):
        self.assert_cause(x_graph([NAN], quantize(scales=1, dtype="int32")),
                          "NaN + saturation range", NAN, [-2 ** 31, 127])

    def test_intermediate_precision_is_reported(self):
        content = self.composite([], dtype="int32")  # 285.3 is 286 in bfloat16
        content["constants"][0] = constant("x", "bfloat16", [1], [1])
        content["nodes"][0]["attrs"]["scales"] = 1 / 285.3
        self.assert_cause(content, "intermediate precision", 1, [285, 286],
                          targets=("core", "ttnn@ieee"))

    def test_denormals_are_reported(self):
        self.assert_cause(x_graph([1, 0], node("Dequantize", "d", "x", scales=2.0 ** -140,
                                               dtype="float32"), dtype="int8"),
                          "denormals", 1, [2.0 ** -140, 0], targets=("core", "ttnn@ieee"))

    def test_the_arithmetic_of_a_chip_is_reported(self):
        x = float.fromhex("-0x1.6bd708p+2")  # times 1 / 0.03 and plus 127 it is just above -62.5
        self.assert_cause(x_graph([x], quantize(scales=0.03, zps=127, dtype="int32")),
                          "multiply-add", x, [-62, -63], targets=("ttnn@ieee", "ttnn@wormhole"))

    def test_elementwise_arithmetic_of_a_chip_is_reported(self):
        # The chip's 1 / 0.03 is 42055555 as a pattern, and the nearest float32 is 42055556.
        x = as_float32(0.03)
        self.assert_cause(x_graph([x], node("Reciprocal", "r", "x")), "multiply-add", x,
                          [float.fromhex("0x1.0aaaacp+5"), float.fromhex("0x1.0aaaaap+5")],
                          targets=("ttnn@ieee", "ttnn@blackhole"))
        add = {"op": "Add", "name": "s", "inputs": {"a": "x", "b": "x"}, "attrs": {}}
        content = x_graph([-0.0], add)
        pair = self.pair(content, "core,ttnn@wormhole")  # Wormhole's -0 + -0 is +0
        self.assertEqual(pair["causes"][0]["cause"], "multiply-add")

    def assert_function_cause(self, op, cause, x, results, **attrs):
        for chip in ("ttnn@wormhole", "ttnn@blackhole"):
            content = x_graph([x], node(op, "f", "x", **attrs), dtype="bfloat16")
            self.assert_cause(content, cause, x, results, targets=("onnx", chip))

    def test_a_chip_packs_infinity_for_nan(self):
        self.assert_function_cause("Sqrt", "infinity for NaN", -1, [NAN, "Infinity"])
        self.assert_function_cause("Log", "infinity for NaN", -2, [NAN, "Infinity"])

    def test_the_store_of_a_chip_truncates(self):
        x = 1.0859375  # the square is 1.17926025, a third of a step above 1.171875 + half a step
        self.assertGreater(Fraction(x) ** 2, Fraction(1.171875) + Fraction(1, 256))
        self.assert_function_cause("Square", "truncated by the store", x, [1.1796875, 1.171875])
        x = 0.01177978515625  # over 6, plus 0.5: 0.50196
        self.assert_function_cause("HardSigmoid", "truncated by the store", x, [0.50390625, 0.5], alpha=1 / 6, beta=0.5)

    def test_a_chip_has_a_destination_of_16_bits(self):
        self.assert_function_cause("Tanh", "16-bit destination", -0.0, [-0.0, 0.0])
        # Hard sigmoid is 0.51953125, truncated or not. The product is a third of a step above 0.0625.
        x = 0.12060546875
        self.assertLess(Fraction(x) * Fraction(0.51953125), Fraction(0.0625) + Fraction(1, 4096))
        self.assert_function_cause("HardSwish", "16-bit destination", x, [0.0625, 0.06298828125])

    def test_approximate_kernels_of_a_chip_are_reported(self):
        mode = {"fast_and_approximate_mode": True}
        # The intercept of the first segment is -0.00010443 as a float16, truncated to bfloat16.
        self.assert_function_cause("GELU", "LUT segment", 0.0, [0.0, -0.000104427337646484375], **mode)
        # The slope of the first segment is 3B98 as a float16: 0.94921875.
        self.assert_function_cause("Tanh", "LUT segment", 0.125, [0.12451171875, 0.11865234375], **mode)
        # 46FDE9A3 is 32500.8: rounded and shifted by 15 bits it is the pattern 3F7A8000.
        self.assert_function_cause("Exp", "approximate kernel", 0.0, [1, 0.9765625], **mode)

    def test_the_rest_of_a_kernel_is_the_multiply_add(self):
        self.assert_function_cause("Softplus", "multiply-add", -6.0, [0.0024719238, 0.0])

    def test_bfloat16_rounding_is_reported(self):
        self.assert_cause(x_graph([257, 4], node("Dequantize", "d", "x", scales=1), dtype="int32"),
                          "bfloat16 rounding", 257, [256, 258])

    def test_a_scale_near_1_is_reported(self):
        self.assert_cause(x_graph([3.5, 3], quantize(scales=1 + 2 ** -21)), "scale near 1", 3.5,
                          [3, 4], targets=("core", "onednn"))

    def test_overflow_of_floats_is_reported(self):
        self.assert_cause(x_graph([1000, 3], quantize(scales=1, dtype="float8_e4m3fn")),
                          "float overflow", 1000, [448, NAN], targets=("core", "onednn"))

    def test_the_choice_of_parameters_is_reported(self):
        content = x_graph([1, 0.5], node("DynamicQuantize", "dyn", "x", scheme="symmetric"))
        scale = self.compare(content, "core,torchao", code=1)["values"][1]
        (why,) = scale["pairs"][0]["causes"]
        self.assertEqual((scale["name"], why["cause"]), ("dyn.scale", "choice of parameters"))
        self.assertEqual([as_float32(one) for one in why["results"]],
                         [as_float32(1 / 127), as_float32(1 / 127.5)])
        self.assertNotIn("x", why)  # x has another shape than the scale

    def test_a_least_scale_of_a_release_is_a_cause(self):
        content = x_graph([1e-30, 0], node("DynamicQuantize", "dyn", "x"))
        scale = self.compare(content, "core,torchao@0.11", code=1)["values"][1]
        (why,) = scale["pairs"][0]["causes"]
        self.assertEqual((why["cause"], as_float32(why["results"][1])),
                         ("least scale", 2.0 ** -23))

    def test_each_cause_has_its_own_elements(self):
        pair = self.pair(x_graph([2.5, 4.5, -500, 900, 700, NAN],
                                 quantize(scales=1, dtype="int32")))
        self.assertEqual([(why["cause"], why["elements"], why["index"]) for why in pair["causes"]],
                         [("tie", 2, [0]), ("saturation range", 3, [2]),
                          ("NaN + saturation range", 1, [5])])
        self.assertEqual(pair["steps"], 2 ** 31 + 127)


class Figures(Compare):
    def test_steps_of_floats_are_units_in_the_last_place(self):
        content = x_graph([257, 4], node("Dequantize", "d", "x", scales=1), dtype="int32")
        # 256 and 258, which are neighbours in bfloat16
        self.assertEqual(self.pair(content)["steps"], 1)
        content = x_graph([5], node("Dequantize", "d", "x", scales=2.0 ** -149, dtype="float32"),
                          dtype="int8")
        self.assertEqual(self.pair(content)["steps"], 5)

    def test_zeros_of_different_sign_differ_by_no_step(self):
        content = x_graph([1], node("Dequantize", "d", "x", scales=-1, zps=1, dtype="float32"),
                          dtype="int8")
        pair = self.pair(content, "core,ttnn@ieee")  # 0 * -1 is -0, which ttnn flushes to 0
        self.assertEqual((pair["different"], pair["steps"]), (1, 0))
        self.assertEqual(pair["causes"][0]["cause"], "denormals")

    def test_nan_on_one_side_has_no_steps(self):
        content = x_graph([NAN, 2], node("Cast", "c", "x", dtype="bfloat16"))
        self.assertEqual(self.pair(content, "core,onnx")["different"], 0)  # all NaN count as equal
        pair = self.pair(content)  # the device stores NaN as infinity
        self.assertEqual((pair["different"], pair["nan_count"], pair["steps"]), (1, 1, 0))

    def test_a_node_is_compared_on_the_inputs_of_the_first_target(self):
        content = x_graph([0.5, 1.5, 3], quantize(scales=1),
                          node("Dequantize", "d", "q", scales=1, dtype="float32"),
                          quantize("e", "d", scales=2))
        q, d, e = (one["pairs"][0] for one in self.compare(content, code=1)["values"])
        self.assertEqual((q["different"], q["different_overall"]), (1, 1))  # 0 2 3 and 1 2 3
        self.assertEqual((d["different"], d["different_overall"]), (0, 1))
        # 0 1 1.5 give 0 1 2 in both targets; 0.5 1 1.5 give 1 1 2 in ttnn
        self.assertEqual((e["different"], e["different_overall"]), (0, 1))

    def test_each_result_is_that_of_a_run_with_the_target(self):
        chosen = random.Random(5)
        for turn in range(8):
            nodes, last = [], "x"
            for i in range(6):
                zero_point, scale = chosen.randrange(-3, 4), chosen.choice([0.125, 0.1, 0.07, 0.3])
                nodes.append(quantize(f"q{i}", last, scales=scale, zps=zero_point,
                                      dtype=chosen.choice(["int8", "int32"])))
                nodes.append(node("Dequantize", f"d{i}", f"q{i}", scales=scale, zps=zero_point,
                                  dtype=chosen.choice(["float32", "bfloat16"])))
                last = f"d{i}"
            content = graph(nodes, inputs=[value("x", "float32", [9, 50])],
                            outputs={one["name"]: one["name"] for one in nodes})
            results = []
            for target in ("core", "ttnn"):
                self.qdq("run", self.write("g.json", content), "--target", target, "--fill", turn,
                         "-o", f"{target}.safetensors")
                results.append(read_safetensors(self.folder / f"{target}.safetensors"))
            for one in self.compare(content, "core,ttnn", "--fill", str(turn))["values"]:
                a, b = (unpack(result[one["name"]]) for result in results)
                self.assertEqual(one["pairs"][0]["different_overall"],
                                 sum(p != q for p, q in zip(a, b)), one)

    def test_threads_change_nothing(self):
        content = graph([quantize(scales=0.01, dtype="int32")],
                        inputs=[value("x", "float32", [100, 100])])
        one, many = (self.compare(content, "core,ttnn", "--fill", "1", "--threads", n)
                     for n in ("1", "3"))
        self.assertEqual(one, many)

    def test_all_outputs_of_a_node_are_compared(self):
        content = x_graph([1, 2, 3], node("DynamicQuantize", "dyn", "x", dtype="uint8"))
        result = self.compare(content, "core,onnx", code=0)
        self.assertEqual([one["name"] for one in result["values"]],
                         ["dyn", "dyn.scale", "dyn.zero_point"])
        self.assertEqual([one["elements"] for one in result["values"]], [3, 1, 1])

    def test_the_first_target_is_compared_with_each_other(self):
        result = self.compare(x_graph([2.5], quantize(scales=1)), "onnx,core,ttnn", code=1)
        self.assertEqual([(pair["targets"], pair["different"], len(pair["numerics"]) > 0)
                          for pair in result["values"][0]["pairs"]],
                         [(["onnx", "core"], 0, False), (["onnx", "ttnn"], 1, True)])


class Told(Compare):
    def test_differences_in_words(self):
        self.write("g.json", x_graph([2.5, 3.5, 4, NAN], quantize(scales=1),
                                     node("Dequantize", "d", "q", scales=1, dtype="float32"),
                                     shape=[2, 2]))
        result = self.qdq("compare", "g.json", "--targets", "onnx,ttnn", code=1)
        self.assertEqual(result.out, """\
q (Quantize), onnx and ttnn: 2 of 4 differ, at most 255 steps
  tie: 1 element, at [0, 0]: x 2.5, onnx 2, ttnn 3
  NaN: 1 element, at [1, 1]: x nan, onnx -128, ttnn 127
d (Dequantize), onnx and ttnn: equal from the same inputs; 2 of 4 differ when each runs the whole graph
g.json: 1 of 2 nodes differ, and 1 more by what they are given
""")

    def test_floats_far_apart_have_no_steps(self):
        self.write("g.json", x_graph([-2147483648, 4], node("Dequantize", "d", "x", scales=0.5, dtype="float32"),
                                     dtype="int32"))
        words = ["compare", "g.json", "--targets", "core,ttnn"]
        line = self.qdq(*words, code=1).out.splitlines()[0]
        self.assertEqual(line, "d (Dequantize), core and ttnn: 1 of 2 differ, relative error 1, cosine 1.86265e-09")
        pair = self.json(*words, code=1)["values"][0]["pairs"][0]
        self.assertEqual((pair["steps"], pair["relative_error"]), (0x4E800000, 1))
        self.assertAlmostEqual(pair["cosine"], 2 ** -29, delta=1e-15)

    def test_infinite_elements_are_counted_apart(self):
        words = ["compare", "g.json", "--targets", "core,onednn"]
        self.write("g.json", x_graph([1e9, 2], quantize(scales=1, dtype="float8_e5m2")))
        wanted = "q (Quantize), core and onednn: 1 of 2 differ, at most 1 step, 1 infinite on one side"
        self.assertEqual(self.qdq(*words, code=1).out.splitlines()[0], wanted)
        self.assertTrue(self.qdq(*words, "--atol", "1e30", code=1).out.startswith(wanted + "\n"))

    def test_elements_within_a_tolerance_are_counted_apart(self):
        self.write("g.json", x_graph([2.5, 3.5, 4, NAN], quantize(scales=1),
                                     node("Dequantize", "d", "q", scales=1, dtype="float32"), shape=[2, 2]))
        words = ["compare", "g.json", "--targets", "onnx,ttnn"]
        wanted = """\
q (Quantize), onnx and ttnn: 1 of 4 differ, at most 255 steps, 1 within the tolerance
  NaN: 1 element, at [1, 1]: x nan, onnx -128, ttnn 127
d (Dequantize), onnx and ttnn: equal from the same inputs; 1 of 4 differ when each runs the whole graph
g.json: 1 of 2 nodes differ, and 1 more by what they are given; 1 element is within the tolerance
"""
        for more in (["--atol", "1"], ["--rtol", "0.5"], ["--atol", "0.5", "--rtol", "0.25"]):
            self.assertEqual(self.qdq(*words, *more, code=1).out, wanted)
        exact = self.qdq(*words, code=1).out
        for more in (["--atol", "0"], ["--atol", "0.5", "--rtol", "0.2"]):
            self.assertEqual(self.qdq(*words, *more, code=1).out, exact)
        self.assertTrue(self.qdq(*words, "--atol", "255").out.endswith(
            "g.json: 0 of 2 nodes differ; 2 elements are within the tolerance\n"))
        pair = self.json(*words, "--atol", "1", code=1)["values"][0]["pairs"][0]
        self.assertEqual((pair["different"], pair["within"]), (1, 1))

    def test_nan_is_within_no_tolerance(self):
        self.write("g.json", x_graph([1000.0, 1], quantize(scales=1, dtype="float8_e4m3fn")))
        self.assertIn("1 of 2 differ, 1 NaN on one side\n", self.qdq(
            "compare", "g.json", "--targets", "core,onednn", "--atol", "1e9", "--rtol", "9", code=1).out)

    def test_a_tolerance_is_a_number_and_not_for_data_sets(self):
        self.write("g.json", x_graph([2.5], quantize(scales=1)))
        words = ["compare", "g.json", "--targets", "onnx,core"]
        for text in ("-1", "x", "nan", "inf", "1x", ""):
            self.assertEqual(self.qdq(*words, f"--atol={text}", code=2).err,
                             f"qdq: --atol is '{text}', wanted a number of at least 0\n")
        self.assertEqual(self.qdq(*words, "--rtol", "1", "--data", "x", "-o", "s", code=2).err,
                         "qdq: --data and --rtol are both given, wanted one of them\n")

    def test_equal_nodes_are_counted(self):
        self.write("g.json", x_graph([2, 3], quantize(scales=1)))
        result = self.qdq("compare", "g.json", "--targets", "core,onnx")
        self.assertEqual(result.out, "1 node is equal\ng.json: 0 of 1 nodes differ\n")
        result = self.qdq("compare", "g.json", "--targets", "core,ttnn")
        self.assertEqual(result.out, "1 node is equal, 1 of them only on these inputs\n"
                                     "g.json: 0 of 1 nodes differ\n")
        result = self.qdq("compare", "g.json", "--targets", "core,onnx", "--all")
        self.assertEqual(result.out.splitlines()[0], "q (Quantize): equal")
        result = self.qdq("compare", "g.json", "--targets", "core,ttnn", "--all")
        self.assertEqual(result.out.splitlines()[0], "q (Quantize): equal on these inputs")

    def test_only_ops_with_numerics_of_the_target_may_differ_elsewhere(self):
        sin = {"op": "Sin", "name": "r", "inputs": {"x": "x"}, "attrs": {}}
        self.write("g.json", x_graph([2, 3], sin))
        for targets in ("core,onednn", "core,tripy", "core,ttnn,torchao"):
            result = self.qdq("compare", "g.json", "--targets", targets)
            self.assertEqual(result.out, "1 node is equal\ng.json: 0 of 1 nodes differ\n")
        clamp = {"op": "Clamp", "name": "r", "inputs": {"x": "x"}, "attrs": {"min": 0, "max": 6}}
        self.write("g.json", x_graph([2, 3], clamp))
        result = self.qdq("compare", "g.json", "--targets", "core,onnx")
        self.assertEqual(result.out, "1 node is equal\ng.json: 0 of 1 nodes differ\n")

    def test_equal_nodes_that_a_left_out_target_may_compute_differently_are_reported(self):
        # ttnn has no int16, and rounds halves away from 0, unlike core and onnx.
        self.write("g.json", x_graph([2, 3], quantize(scales=1, dtype="int16")))
        words = ["compare", "g.json", "--targets", "core,onnx,ttnn"]
        self.assertIn("1 node is equal; left out: ttnn, which may differ at 1 of them\n",
                      self.qdq(*words).out)
        self.assertIn("q (Quantize): equal; left out: ttnn, which may differ here\n",
                      self.qdq(*words, "--all").out)
        self.assertEqual(self.json(*words)["values"][0]["left_out"], ["ttnn"])
        # onnx has no int32, but its formula is the core's.
        self.write("g.json", x_graph([2, 3], quantize(scales=1, dtype="int32")))
        words = ["compare", "g.json", "--targets", "core,ttnn,onnx"]
        self.assertEqual(self.json(*words)["values"][0]["left_out"], [])

    def test_differences_are_sorted_worst_first_and_own_before_inherited(self):
        content = x_graph([0.5, 2.5, 3, 4.5, 1, 2, 5, 6],
                          quantize("two", scales=2), quantize("none", scales=16),
                          quantize("three", scales=1),
                          node("Dequantize", "back", "three", scales=1, dtype="float32"))
        self.write("g.json", content)
        result = self.qdq("compare", "g.json", "--targets", "onnx,ttnn", code=1)
        heads = [line for line in result.out.splitlines() if not line.startswith("  ")]
        self.assertEqual(heads, [
            "three (Quantize), onnx and ttnn: 3 of 8 differ, at most 1 step",
            "two (Quantize), onnx and ttnn: 2 of 8 differ, at most 1 step",
            "back (Dequantize), onnx and ttnn: equal from the same inputs; "
            "3 of 8 differ when each runs the whole graph",
            "1 node is equal, 1 of them only on these inputs",
            "g.json: 2 of 4 nodes differ, and 1 more by what they are given"])

    def test_pairs_of_targets_that_agree_are_left_out_of_a_node_that_differs(self):
        self.write("g.json", x_graph([2.5], quantize(scales=1)))
        words = ["compare", "g.json", "--targets", "onnx,core,ttnn"]
        self.assertNotIn("onnx and core", self.qdq(*words, code=1).out)
        self.assertIn("q (Quantize), onnx and core: equal\n", self.qdq(*words, "--all", code=1).out)

    def test_a_warning_that_versions_of_a_target_share_is_told_once(self):
        self.write("g.json", x_graph([2, 3], quantize(scales=1, dtype="int32")))
        err = self.qdq("compare", "g.json", "--targets", "core,ttnn@wormhole,ttnn@blackhole", "-q", code=None).err
        self.assertEqual(err, "warning: g.json: node 'q': Quantize: dtype is int32: results are clamped to -127..127, and "
                              "halves round away from 0; use int8 for -128 [ttnn/int32-range]\n"
                              "warning: g.json: node 'q': Quantize: x has rank 1, wanted rank 2, 3 or 4, as documented; "
                              "reshape x [ttnn/page-ranks]\n")

    def test_a_target_that_refuses_is_reported_and_left_out(self):
        self.write("g.json", x_graph([2, 3], quantize(scales=1, dtype="int16")))
        result = self.qdq("compare", "g.json", "--targets", "ttnn,core,onnx")
        self.assertIn("[ttnn/quantize-output-dtype]\n", result.err)
        self.assertTrue(result.err.endswith("qdq: ttnn refuses the graph and is left out\n"))
        result = self.json("compare", "g.json", "--targets", "ttnn,core,onnx")
        self.assertEqual((result["targets"], result["refused"]), (["core", "onnx"], ["ttnn"]))

    def test_fewer_than_two_targets_that_take_the_graph(self):
        self.write("g.json", x_graph([2, 3], quantize(scales=1, dtype="int16")))
        result = self.qdq("compare", "g.json", "--targets", "ttnn,core", code=4)
        self.assertEqual(result.out, "")
        self.assertTrue(result.err.endswith(
            "qdq: 1 of the targets accepts the graph, wanted at least 2 to compare\n"))


class Words(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", graph([quantize(scales=0.5)]))

    def assert_usage(self, text, *words):
        result = self.qdq("compare", "g.json", *words, code=2)
        self.assertEqual(result.out, "")
        self.assertIn(text, result.err)

    def test_targets_are_needed(self):
        self.assert_usage("--targets is missing, wanted two or more")

    def test_one_target_is_not_enough(self):
        self.assert_usage("--targets is 'onnx', wanted two or more", "--targets", "onnx")

    def test_a_target_is_given_once(self):
        self.assert_usage("--targets is 'onnx,ttnn,onnx', wanted each target once",
                          "--targets", "onnx,ttnn,onnx")

    def test_names_are_not_empty(self):
        for text in ("", ",", "onnx,", ",onnx", "onnx,,ttnn"):
            self.assert_usage(f"--targets is '{text}', wanted two or more", "--targets", text)

    def test_no_more_targets_than_there_is_room_for(self):
        self.assert_usage("wanted at most 64 targets", "--targets",
                          ",".join(f"t{i}" for i in range(65)))

    def test_an_unknown_target_is_named(self):
        self.assert_usage("target 'onxn' is unknown, wanted one of: ", "--targets", "core,onxn")
        self.assert_usage("did you mean 'onnx'?", "--targets", "core,onxn")

    def test_an_unknown_release_is_named(self):
        self.assert_usage("version of target core '7' is unknown", "--targets", "onnx,core@7")

    def test_inputs_are_given_as_to_run(self):
        self.assert_usage("input 'x' is not given", "--targets", "core,onnx")
        self.assert_usage("there is no input 'y', wanted one of: x", "--targets", "core,onnx",
                          "-i", "y=y.npy")
        self.qdq("run", "g.json", "--fill", 3)
        self.qdq("compare", "g.json", "--targets", "core,onnx", "--fill", 3)

    def test_options_of_other_commands_are_unknown(self):
        for word in ("--expect", "--tolerance", "--materialize", "--strict"):
            self.assert_usage("unknown option", "--targets", "core,onnx", word, "x")

    def test_a_graph_with_errors_is_reported_once(self):
        self.write("g.json", graph([quantize(scales=0)]))
        result = self.qdq("compare", "g.json", "--targets", "core,onnx", "--fill", 1, code=3)
        self.assertEqual(result.err.count("core/scale-value"), 1)

    def test_limits_hold(self):
        self.qdq("compare", "g.json", "--targets", "core,onnx", "--fill", 1, "--max-elements", 5,
                 code=5)


if __name__ == "__main__":
    main()
