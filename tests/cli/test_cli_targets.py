#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq targets, and the evidence that findings and causes carry."""

from harness import Case, constant, graph, main, node, quantize, value

KEYS = {"kind", "against", "compared", "date"}


class Targets(Case):
    def rows(self, target):
        return self.json("targets", target)["targets"][0]["evidence"]

    def test_a_target_prints_its_versions_options_evidence_and_rules(self):
        lines = self.qdq("targets", "ort").out.splitlines()
        self.assertIn("ort@1.31-vnni, ort@1.31-avx2,", lines[1])
        self.assertIn("  level=all|extended|basic|disabled  optimization level", lines)
        at = lines.index("Held against:")
        for row in self.rows("ort"):
            at += 1
            self.assertTrue(lines[at].startswith("  " + row["kind"]), lines[at])
            self.assertIn(row["against"], lines[at])
            self.assertIn(f"{row['compared']} ({row['date']})" if row["compared"] else row["what"], lines[at])
        self.assertLess(at, lines.index("Rules:"))

    def test_options_have_their_values_the_default_first(self):
        options = {one["name"]: one["values"] for one in self.json("targets", "ort")["targets"][0]["options"]}
        self.assertEqual(options["level"], ["all", "extended", "basic", "disabled"])
        self.assertEqual(self.json("targets", "core")["targets"][0]["options"], [])

    def test_an_unknown_target_is_told_the_known_ones(self):
        self.assertIn("there is no target 'orc', wanted one of: core onnx", self.qdq("targets", "orc", code=2).err)


class Evidence(Case):
    def evidence_of(self, rule, *words):
        result = self.json("check", self.path, *words, code=None)
        (finding,) = [one for one in result["findings"] if one["rule"] == rule]
        self.assertEqual(set(finding["evidence"]), KEYS)
        return finding["evidence"]

    def setUp(self):
        super().setUp()
        self.path = self.write("g.json", graph([quantize(scales=0.3, dtype="int32")]))

    def test_a_finding_carries_the_evidence_of_its_target_and_version(self):
        self.assertEqual(self.evidence_of("ttnn/int32-range", "--target", "ttnn")["kind"], "vendor's model")
        self.assertEqual(self.evidence_of("ttnn/int32-range", "--target", "all")["kind"], "vendor's model")
        self.assertEqual(self.evidence_of("torchao/reciprocal", "--target", "torchao")["kind"], "run")
        self.assertEqual(self.evidence_of("torchao/reciprocal", "--target", "torchao@0.12")["kind"],
                         "read from source")

    def test_the_findings_of_a_refusal_carry_it_too(self):
        result = self.json("run", self.path, "--target", "onnx", "--fill", "1", code=4)
        kinds = {one["rule"]: one["evidence"]["kind"] for one in result["error"]["findings"]}
        self.assertEqual(kinds, {"onnx/result-dtype": "run"})

    def test_the_target_of_the_file_counts(self):
        content = graph([quantize(scales=0.3, dtype="int32")])
        self.path = self.write("g.json", {**content, "target": "ttnn@ieee"})
        result = self.json("check", self.path)
        self.assertTrue(all(one["evidence"]["kind"] == "read from source" for one in result["findings"]))
        self.assertTrue(result["findings"])

    def test_a_cause_carries_the_evidence_of_both_targets(self):
        ties = graph([quantize("q", scales=1, dtype="int8"), node("Dequantize", "d", "q", scales=1)], inputs=[],
                     constants=[constant("x", "float32", [4], [0.5, 1.5, 2.5, 3.5])], outputs={"y": "d"})
        words = ["compare", self.write("t.json", ties), "--targets", "core,ttnn,ttnn@ieee"]
        pairs = self.json(*words, code=1)["values"][0]["pairs"]
        self.assertEqual([[one["kind"] for one in pair["causes"][0]["evidence"]] for pair in pairs],
                         [["run", "vendor's model"], ["run", "read from source"]])
        self.assertEqual(set(pairs[0]["causes"][0]["evidence"][1]), KEYS)


if __name__ == "__main__":
    main()
