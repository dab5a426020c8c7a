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
        self.assertIn("-avx512, ort@1.31-vnni, -avx2, -avx512, -neon,", lines[1])
        self.assertIn("  level=all|extended|basic|disabled  optimization level", lines)
        at = lines.index("Held against:")
        for row in self.rows("ort"):
            at += 1
            self.assertEqual(lines[at].split()[0], row["bits"])
            self.assertIn(row["kind"], lines[at])
            self.assertIn(row["against"], lines[at])
            self.assertIn(f"{row['compared']} ({row['date']})" if row["compared"] else row["what"], lines[at])
        self.assertLess(at, lines.index("Rules:"))

    def test_ops_are_counted_by_their_evidence_at_each_version(self):
        all_ops = len(self.json("ops")["ops"])
        for target in self.json("targets")["targets"]:
            names = [f"{target['name']}@{one}" for one in target["releases"]] or [target["name"]]
            self.assertEqual([one["version"] for one in target["ops"]], names)
            for one in target["ops"]:
                self.assertEqual(sum(one[word] for word in one if word != "version"), all_ops)
            lines = self.qdq("targets", target["name"]).out
            self.assertIn(f"{target['ops'][-1]['exact']} exact, ", lines.partition("Bits of the ops:")[2])
        core = self.json("targets", "core")["targets"][0]["ops"]
        self.assertEqual(core, [{"version": "core", "exact": all_ops, "exact_on_condition": 0, "read": 0, "close": 0,
                                 "unknown": 0}])

    def test_options_have_their_values_the_default_first(self):
        options = {one["name"]: one["values"] for one in self.json("targets", "ort")["targets"][0]["options"]}
        self.assertEqual(options["level"], ["all", "extended", "basic", "disabled"])
        self.assertEqual(self.json("targets", "core")["targets"][0]["options"], [])

    def test_an_unknown_target_is_told_the_known_ones(self):
        self.assertIn("there is no target 'orc', wanted one of: core onnx", self.qdq("targets", "orc", code=2).err)


class Written(Case):
    def test_a_graph_that_its_own_target_takes_is_written(self):
        """The core refuses bounds with fractions, torchao cuts them off."""
        g = graph([quantize(scales=1, zps=0, dtype="int8", quant_max=2.5)], inputs=[], target="torchao",
                  constants=[constant("x", "float32", [2], [1, 9])])
        self.qdq("convert", self.write("g.json", g), "-o", "again.json")
        self.assertEqual(self.json("run", "again.json")["outputs"][0]["first"], [1, 2])
        self.qdq("convert", self.write("core.json", {**g, "target": "core"}), "-o", "no.json", code=4)


class Blocks(Case):
    """Sizes of computed blocks that a backend refuses."""

    def rules(self, target, shape, block, **attrs):
        content = graph([node("DynamicQuantize", "q", "x", qtype="per_group", group_shape=block, **attrs)], [value("x", "float32", shape)])
        found = self.json("check", self.write("g.json", content), "--target", target, code=None)["findings"]
        return {one["rule"] for one in found if one["severity"] == "error"}

    def test_torchao_packs_two_float4_of_a_row_into_a_byte(self):
        for scheme in ("mx_floor", "mx_ceil", "mx_even", "mx_rceil"):
            for last in (3, 5, 9):
                found = self.rules("torchao", [2, last], [1, last], scheme=scheme, dtype="float4_e2m1")
                self.assertEqual(found, {"torchao/scheme-blocks"})
            self.assertEqual(self.rules("torchao", [2, 3], [1, 3], scheme=scheme, dtype="float8_e4m3fn"), set())
            self.assertEqual(self.rules("torchao", [3, 6], [1, 3], scheme=scheme, dtype="float4_e2m1"), set())
            self.assertEqual(self.rules("torchao", [3, 4], [1, 2], scheme=scheme, dtype="float4_e2m1"), set())

    def test_tensorrt_has_blocks_of_16_and_32_only(self):
        for scheme, dtype, wanted in (("nvfp4", "float4_e2m1", 16), ("mx_rceil", "float8_e4m3fn", 32)):
            more = {"global_scales": 1} if scheme == "nvfp4" else {}
            for size in (1, 2, 8, 16, 32, 64):
                found = self.rules("tensorrt", [2, 64], [1, size], scheme=scheme, dtype=dtype, **more)
                self.assertEqual("tensorrt/dynamic-block-size" in found, size != wanted, (scheme, size))


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
        self.assertEqual(self.evidence_of("torchao/reciprocal", "--target", "torchao@0.11")["kind"],
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
                         [["definition", "vendor's model"], ["definition", "read from source"]])
        self.assertEqual(set(pairs[0]["causes"][0]["evidence"][1]), KEYS)


if __name__ == "__main__":
    main()
