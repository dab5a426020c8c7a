#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Zero points in the int domain given as constants of a float dtype, and nested lists."""

from harness import (Case, constant, graph, main, node, read_npy, tensor, unpack, value, write_npy)

CHANNELS = {"qtype": "per_channel", "axis": 1}
WHOLE = [3, -7, 0]
X = {"float32": [-1.5, -0.25, 0, 1, 3.25, 30], "int8": [-128, -7, 0, 3, 100, 127]}
# By hand: scales 0.5, 0.25 and 1, rounded half to even, plus the zero point.
WANTED = {"int8": [0, -8, 0, 5, 6, 30], "float32": [-65.5, 0, 0, 0, 26.75, 127]}


def one(op, of, numbers, x="float32", **attrs):
    """The op with a zero-point port of dtype `of`: a constant of `numbers`, or an input without
    them."""
    scale = constant("s", "float32", [3], [0.5, 0.25, 1])
    zero_point = (value("z", of, [3]) if numbers is None else
                  constant("z", of, [3], numbers))
    inputs = [value("x", x)] + ([zero_point] if numbers is None else [])
    constants = [scale] + ([zero_point] if numbers is not None else [])
    return graph([node(op, "q", "x", {"scale": "s", "zero_point": "z"}, **CHANNELS, **attrs)],
                 inputs, constants=constants)


class FloatZeroPoints(Case):
    def rules(self, content, code=1):
        return [each["rule"] for each in self.check(content, code=code)]

    def results(self, content, x, *words):
        self.write("g.json", content)
        write_npy(self.folder / "x.npy", tensor(x, [2, 3], X[x]))
        self.qdq("run", "g.json", "-i", "x=x.npy", "-o", "y=y.npy", *words)
        return unpack(read_npy(self.folder / "y.npy"))

    def test_whole_numbers_are_codes(self):
        for dtype in ("int32", "float32", "float16", "bfloat16"):
            for op, x, y in (("Quantize", "float32", "int8"), ("DynamicQuantize", "float32", "int8"),
                             ("Dequantize", "int8", "float32")):
                for words in ((), ("--materialize",)):
                    content = one(op, dtype, WHOLE, x, dtype=y)
                    self.assertEqual(self.results(content, x, *words), WANTED[y], (dtype, op))

    def test_torchao_accepts_them_and_ttnn_and_onnx_do_not(self):
        content = one("Quantize", "float32", WHOLE, dtype="int8")
        self.assertEqual(self.results(content, "float32", "--target", "torchao"), WANTED["int8"])
        self.assertIn("onnx/zero-point-dtype", self.rules({**content, "target": "onnx"}))
        self.assertIn("ttnn/zero-point-dtype", self.rules({**content, "target": "ttnn"}))
        self.assertIn("onednn/zero-point-dtype", self.rules({**content, "target": "onednn"}))

    def test_torchao_wants_as_many_as_scales(self):
        """quantize_affine and dequantize_affine give both the shape of the block grid."""
        for op, x, y in (("Quantize", "float32", "int8"), ("Dequantize", "int8", "float32")):
            for zps, wanted in ((0, ["zero-point-count"]), ([0], ["zero-point-count"]), ([0, 1, 2], []), (None, [])):
                attrs = {"scales": [0.5, 0.25, 1], "dtype": y, **CHANNELS, **({} if zps is None else {"zps": zps})}
                content = graph([node(op, "q", "x", **attrs)], [value("x", x)], target="torchao")
                found = [each for each in self.rules(content, code=None) if "missing" not in each]
                self.assertEqual(found, [f"torchao/{rule}" for rule in wanted], (op, zps))

    def test_tensorrt_takes_zeros_of_float32(self):
        for y in ("int8", "float8_e4m3fn"):
            for dtype, numbers, wanted in (
                    ("float32", [0, 0, 0], []), ("float32", [0, 1, 0], ["zero-point-is-zero"]),
                    ("float16", [0, 0, 0], ["zero-point-dtype"])):
                content = one("Dequantize", dtype, numbers, y, dtype="float32")
                rules = self.rules({**content, "target": "tensorrt"})
                if y != "int8" and any(numbers):
                    wanted = ["core/zero-point-value"]
                found = [rule for rule in rules if "zero-point" in rule]
                self.assertEqual(found, [rule if "/" in rule else f"tensorrt/{rule}"
                                         for rule in wanted], (y, dtype, numbers))

    def test_other_zero_points_are_findings(self):
        for numbers in ([0, 2.5, 0], [0, "NaN", 0], ["Infinity", 0, 0], [0, 0, 3e9]):
            self.assertEqual(self.rules(one("Quantize", "float32", numbers, dtype="int8")),
                             ["core/zero-point-value"], numbers)
        self.assertEqual(self.rules(one("Quantize", "float32", [0, 200, 0], dtype="int8"), code=0),
                         ["core/zero-point-range"])

    def test_run_time_zero_points_are_not_inspected(self):
        found = self.check(one("Quantize", "float32", None, dtype="int8"))
        self.assertEqual([each["rule"] for each in found], ["core/zero-point-domain"])
        self.assertIn("a constant of whole numbers", found[0]["message"])


class Nesting(Case):
    def found(self, attr, numbers, **attrs):
        attrs = {"qtype": "per_group", **attrs, attr: numbers}
        content = graph([node("Quantize", "q", "x", **attrs)])
        return [each["port"] for each in self.check(content, code=0)
                if each["rule"] == "core/list-nesting"]

    def test_a_nesting_that_is_neither_flat_nor_the_block_grid_is_warned_of(self):
        for numbers, groups, fine in (
                ([1, 2, 4, 8, 1, 2], [1, 1], True), ([[1, 2, 4], [8, 1, 2]], [1, 1], True),
                ([[1, 2], [4, 8], [1, 2]], [1, 1], False),
                ([[[1, 2, 4], [8, 1, 2]]], [1, 1], False),
                ([[1, 2, 4, 8, 1, 2]], [1, 1], False), ([[1, 2, 4], [8, 1], 2], [1, 1], False),
                ([1, 2], [1, 3], True), ([[1], [2]], [1, -1], True), ([[1, 2]], [1, -1], False),
                ([[[1]], [[2]]], [1, -1], False)):
            for attr in ("scales", "zps"):
                attrs = {"scales": [1] * (6 if groups == [1, 1] else 2), "group_shape": groups}
                self.assertEqual(self.found(attr, numbers, **attrs), [] if fine else [attr], numbers)

    def test_without_blocks_a_list_is_flat(self):
        for numbers, fine in ((2, True), ([1, 2, 4], True), ([[1, 2, 4]], False),
                              ([[1], [2], [4]], False)):
            attrs = {} if numbers == 2 else {"qtype": "per_channel", "axis": 1}
            content = graph([node("Quantize", "q", "x", scales=numbers, **attrs)])
            found = [each["rule"] for each in self.check(content, code=0)]
            self.assertEqual(found, [] if fine else ["core/list-nesting"], numbers)


if __name__ == "__main__":
    main()
