#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of large graphs: one line for each kind of finding, and counts."""

import re
import unicodedata

from harness import Case, constant, graph, main, node, quantize, value

SCREENS = 100  # the most lines that fit on two screens


def pairs(count, scale=0.3):
    """`count` nodes, Quantize and Dequantize in turn. Two of three pairs have a zero point, which
    tensorrt and tripy refuse; torchao warns about the scale of each Quantize, and tosa about each
    node: it has neither op."""
    nodes, last = [], "x"
    for i in range(count // 2):
        attrs = {"scales": scale, "zps": 3 if i % 3 else 0}
        nodes.append(quantize(f"stage{i}/q", last, dtype="int8", **attrs))
        nodes.append(node("Dequantize", f"stage{i}/d", f"stage{i}/q", dtype="float32", **attrs))
        last = f"stage{i}/d"
    return graph(nodes, inputs=[value("x", shape=[4, 8])], outputs={"y": last})


def chain(count, last="x"):
    """`count` nodes that every target has."""
    return [node("StaticReshape", f"move{i}", f"move{i - 1}" if i else last, shape=[4, 8], special_zero=False)
            for i in range(count)]


# How many of a thousand nodes have a zero point.
REFUSED = 2 * sum(i % 3 != 0 for i in range(500))


def columns(text):
    """How many columns a text takes on a terminal, by Python's tables."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
               for c in text)


class Check(Case):
    def all_targets(self, content, *words, code=1):
        self.write("g.json", content)
        return self.qdq("check", "g.json", "--target", "all", *words, code=code).out.splitlines()

    def one_rule(self, lines, rule):
        (line,) = [line for line in lines if f"[{rule}]" in line]
        return line

    def test_a_thousand_nodes_fit_two_screens(self):
        lines = self.all_targets(pairs(1000))
        self.assertLess(len(lines), SCREENS)
        line = self.one_rule(lines, "tripy/no-zero-point")
        self.assertIn("quantize symmetrically and leave it out", line)  # the hint of the rule
        self.assertTrue(line.endswith(f"({REFUSED} nodes: 'stage1/q', 'stage1/d', 'stage2/q', ...)"),
                        line)
        self.assertIn("(500 nodes: ", self.one_rule(lines, "torchao/reciprocal"))
        self.assertEqual(lines[-1],
                         f"g.json for all targets: {2 * REFUSED} errors, 1500 warnings; "
                         "--all lists each")

    def test_thirty_kinds_of_findings_are_thirty_lines(self):
        content = pairs(1000)
        for i in range(30):
            content["nodes"] += [quantize(f"bad{i}.{k}", scales=1, **{f"wrong{i}": 1})
                                 for k in range(10)]
        kinds = [{"axis": 99}, {"scales": 0}, {"scales": [1, 2]}, {"scales": "a"}, {"zps": 1.5},
                 {"zps": 300}, {"qtype": "per_row"}, {"dtype": "int9"}, {"dtype": "float32"},
                 {"quant_min": 9, "quant_max": 5}, {"group_shape": [1, 1]}, {"scales": -1}]
        for i, attrs in enumerate(kinds):
            content["nodes"] += [quantize(f"kind{i}.{k}", **{"scales": 1, **attrs})
                                 for k in range(30)]
        self.write("g.json", content)
        for words in ([], ["--target", "all"], ["--target", "torchao"]):
            lines = self.qdq("check", "g.json", *words, code=1).out.splitlines()
            self.assertLess(len(lines), SCREENS, words)
            rules = [line[line.rindex("["):line.rindex("]")] for line in lines if " [" in line]
            self.assertEqual(len(rules), len(set(rules)), "a rule has two lines")
            self.assertGreater(len(rules), 8)

    def test_nodes_that_are_ok_everywhere_are_counted(self):
        content = pairs(1000)
        content["nodes"] += chain(70, "stage499/d")
        content["outputs"] = [{"name": "y", "value": "move69"}]
        self.assertIn("70 more nodes are ok everywhere", self.all_targets(content))
        lines = self.all_targets(graph(chain(2), inputs=[value("x", shape=[4, 8])], outputs={"y": "move1"}), code=0)
        self.assertEqual(lines, ["2 nodes are ok everywhere",
                                 "g.json for all targets: 0 errors, 0 warnings; --all lists each"])

    def test_equal_rows_of_a_long_matrix_share_a_line(self):
        lines = self.all_targets(pairs(1000))
        self.assertTrue(any(line.startswith(f"stage1/q and {REFUSED // 2 - 1} more  Quantize ")
                            for line in lines), lines)
        few = self.all_targets(pairs(12))
        self.assertEqual(sum(line.startswith("stage") for line in few), 12)

    def test_all_lists_all(self):
        for words in (["--target", "all"], ["--target", "tripy"]):
            lines = self.qdq("check", self.write("g.json", pairs(1000)), *words, "--all",
                             code=1).out.splitlines()
            self.assertEqual(sum("[tripy/no-zero-point]" in line for line in lines), REFUSED)
            self.assertNotIn("--all", lines[-1])
            rows = sum(line.startswith("stage") for line in lines)
            self.assertEqual(rows, 1000 if "all" in words else 0)

    def test_json_has_each_finding_and_each_node(self):
        self.write("g.json", pairs(1000))
        result = self.json("check", "g.json", "--target", "all", code=1)
        self.assertEqual(len(result["nodes"]), 1000)
        self.assertEqual(len(result["findings"]), 2 * REFUSED + 1500)
        self.assertEqual((result["errors"], result["warnings"]), (2 * REFUSED, 1500))
        self.assertEqual(sum(one["tripy"] == "refused" for one in result["nodes"]), REFUSED)
        alone = self.json("check", "g.json", "--target", "tripy", code=1)
        self.assertEqual(len({one["node"] for one in alone["findings"]}), REFUSED)

    def test_columns_align_whatever_the_names_are(self):
        names = ["q", "größe", "日本語", "🙂", "e\u0301", "n" * 255, "ab" + "é" * 120, "x" * 48,
                 "y" * 49, "日" * 60]
        content = graph([quantize(name, scales=1, zps=3) for name in names],
                        outputs={f"y{i}": name for i, name in enumerate(names)})
        for words in ([], ["--all"]):
            lines = self.all_targets(content, *words)
            matrix = lines[:1 + len(names)]
            starts = {columns(line[:line.index("Quantize" if i else "op")])
                      for i, line in enumerate(matrix)}
            self.assertEqual(len(starts), 1, matrix)
            starts = {columns(line[:line.index("refused" if i else "tensorrt")])
                      for i, line in enumerate(matrix)}
            self.assertEqual(len(starts), 1, matrix)
            self.assertEqual(any("n" * 255 in line for line in matrix), bool(words))
        self.assertIn("x" * 48, lines[8])

    def test_few_errors_are_reported_one_by_one_and_many_by_their_rule(self):
        def bad(count):
            return graph([quantize(f"q{i}", scales=1, bogus=1) for i in range(count)],
                         outputs={"y": "q0"})
        for count, lines in ((20, 20), (21, 1)):
            out = self.qdq("check", self.write("g.json", bad(count)), code=1).out
            self.assertEqual(out.count("[core/attr-unknown]"), lines)
            out = self.qdq("run", "g.json", code=3).err
            self.assertEqual(out.count("[core/attr-unknown]"), lines)

    def test_warnings_are_a_line_for_each_rule_in_every_command(self):
        self.write("g.json", pairs(20))
        for words in (["check", "g.json", "--target", "torchao"],
                      ["run", "g.json", "--target", "torchao", "--fill", "1"],
                      ["compare", "g.json", "--targets", "core,torchao", "--fill", "1"]):
            result = self.qdq(*words, code=None)
            told = [line for line in (result.out + result.err).splitlines()
                    if "[torchao/reciprocal]" in line]
            self.assertEqual(len(told), 1, words)
            self.assertTrue(told[0].endswith("(10 nodes: 'stage0/q', 'stage1/q', 'stage2/q', ...)"))

    def test_inputs_and_constants_are_not_counted_as_nodes(self):
        content = graph([quantize(scales=1)],
                        constants=[constant(f"c{i}", "int8", [1], [1]) for i in range(4)])
        out = self.qdq("check", self.write("g.json", content)).out
        self.assertIn("[core/value-unused] (4 values: 'c0', 'c1', 'c2', ...)\n", out)


class Compare(Case):
    def ties(self, count):
        """`count` nodes in pairs; each pair adds ties of its own and passes on earlier
        differences."""
        nodes = []
        for i in range(count // 2):
            nodes.append(quantize(f"s{i}/q", scales=1 + i % 7, dtype="int8"))
            nodes.append(node("Dequantize", f"s{i}/d", f"s{i}/q", scales=1, dtype="float32"))
        halves = [7 * k + 3.5 for k in range(8)] + [k + 0.5 for k in range(24)]
        content = graph(nodes, inputs=[],
                        constants=[constant("x", "float32", [4, 8], halves)],
                        outputs={f"y{i}": f"s{i}/d" for i in range(count // 2)})
        return self.write("g.json", content)

    def test_a_thousand_nodes_fit_two_screens(self):
        words = ["compare", self.ties(1000), "--targets", "core,onednn,ttnn,torchao"]
        result = self.qdq(*words, code=1)
        lines = (result.out + result.err).splitlines()
        self.assertLess(len(lines), SCREENS)
        self.assertGreater(sum("(Quantize), core and " in line for line in lines), 5)
        self.assertGreater(sum("(Dequantize), core and " in line for line in lines), 5)
        self.assertTrue(any(re.fullmatch(r"and \d+ more nodes that differ by themselves", line)
                            for line in lines), lines)
        self.assertTrue(any(re.fullmatch(r"and \d+ more nodes that differ by what they are given",
                                         line) for line in lines), lines)

    def test_all_lists_all(self):
        words = ["compare", self.ties(1000), "--targets", "core,ttnn"]
        values = self.json(*words, code=1)["values"]
        differ = sum(one["pairs"][0]["different_overall"] > 0 for one in values)
        self.assertGreater(differ, 100)
        lines = self.qdq(*words, "--all", code=1).out.splitlines()
        heads = [line for line in lines if line.startswith("s")]
        self.assertEqual(len(heads), 1000)
        self.assertEqual(sum(not line.endswith("equal") and "equal on" not in line
                             for line in heads), differ)


if __name__ == "__main__":
    main()
