# SPDX-License-Identifier: Apache-2.0
"""--html: the page has the data of --json, the graph, and nothing that its text can break."""

import json
import math
import re
import struct
import unittest
from collections import Counter
from pathlib import Path

import harness
from harness import Case, constant, graph, node, quantize, value, write_npy


def quantize_pair(name, x, **attrs):
    """Quantize to int8 and back."""
    return [
        quantize(f"{name}.q", x, dtype="int8", **attrs),
        node("Dequantize", f"{name}.dq", f"{name}.q", dtype="float32", **attrs),
    ]


class Html(Case):
    def page(self, *words, code=0):
        self.qdq(*words, "--html", "page.html", code=code)
        text = (self.folder / "page.html").read_text(encoding="utf-8")
        found = re.findall(r'<script type="application/json" id="qdq-report">(.*?)</script>', text, re.S)
        self.assertEqual(len(found), 1)
        return json.loads(found[0]), text

    def ties(self):
        """Eight numbers, of which one is a tie and two are beyond int8."""
        data = [0.15, 0.75, 2.25, 30, 70, -70, "NaN", 0]
        return graph(quantize_pair("ties", "x", scales=0.3, zps=3), inputs=[], outputs={"y": "ties.dq"},
                     constants=[constant("x", "float32", [2, 4], data)])  # fmt: skip

    def test_the_graph_of_a_page_has_every_node_value_and_attribute(self):
        content = graph(
            [quantize(ports={"scale": "s"}, axis=1, qtype="per_channel", dtype="int8")],
            constants=[constant("s", "float32", [3], [1, 2, 0.5])],
        )
        data, _ = self.page("check", self.write("g.json", content))
        self.assertEqual((data["version"], data["command"], data["file"]), (1, "check", "g.json"))
        self.assertEqual(data["call"], "qdq check g.json --html page.html")
        values = {one["name"]: one for one in data["graph"]["values"]}
        self.assertEqual((values["x"]["dtype"], values["x"]["shape"]), ("float32", [2, 3]))
        self.assertEqual((values["s"]["constant"], values["s"]["first"]), (True, [1, 2, 0.5]))
        (one,) = data["graph"]["nodes"]
        self.assertEqual((one["name"], one["op"]), ("q", "Quantize"))
        names = {port: data["graph"]["values"][number]["name"] for port, number in one["inputs"].items()}
        self.assertEqual(names, {"x": "x", "scale": "s"})
        self.assertEqual([data["graph"]["values"][number]["name"] for number in one["outputs"]], ["q"])
        self.assertEqual(json.loads(one["attrs"]), {"axis": 1, "qtype": "per_channel", "dtype": "int8"})

    def test_long_lists_are_cut(self):
        scales = [2.0**-k for k in range(20)]
        content = graph(
            [quantize(axis=1, qtype="per_channel", scales=scales, dtype="int8")], inputs=[value("x", shape=(2, 20))]
        )
        data, _ = self.page("check", self.write("g.json", content))
        self.assertEqual(json.loads(data["graph"]["nodes"][0]["attrs"])["scales"], {"count": 20, "first": scales[:8]})

    def test_the_findings_of_a_page_are_those_of_json(self):
        nodes = [
            one
            for k in range(30)
            for one in quantize_pair(f"p{k}", "x" if k == 0 else f"p{k - 1}.dq", scales=0.3, zps=k)
        ]
        name = self.write("g.json", graph(nodes, outputs={"y": "p29.dq"}))
        for words in (["--target", "tripy"], ["--target", "torchao"], ["--target", "all"]):
            wanted = self.json("check", name, *words, code=None)["findings"]
            data, _ = self.page("check", name, *words, code=None)
            found = []
            for target in data["check"]["targets"]:
                for rule in target["rules"]:
                    for one in rule["findings"]:
                        found.append({**rule, **one})
            keys = ("rule", "severity", "target", "node", "op", "port", "found", "wanted", "hint", "source")
            told = [Counter(tuple(one[key] for key in keys) for one in findings) for findings in (found, wanted)]
            self.assertEqual(*told)
            messages = {one["message"] for one in wanted}
            self.assertTrue(all(one["message"] in messages for one in found if "message" in one))

    def test_a_page_of_plan_has_the_data_of_json(self):
        name = self.write("g.json", self.ties())
        wanted = self.json("plan", name)
        data, _ = self.page("plan", name)
        self.assertIn("bits", data["targets"][0])
        wanted.pop("bits")
        self.assertEqual({"version": 1, "graph": name, **data["plan"]}, wanted)

    def test_a_page_of_compare_has_the_data_of_json(self):
        """Evidence once, and of pairs without a difference less."""
        words = ["compare", self.write("g.json", self.ties()), "--targets", "onnx,onednn,ttnn"]
        wanted = self.json(*words, code=1)
        wanted.pop("bits")
        data, _ = self.page(*words, code=1)
        found, rows = data["compare"], data["compare"].pop("evidence")
        self.assertLess(len(rows), 4)
        for value_ in found["values"] + wanted["values"]:
            for pair in value_["pairs"]:
                for cause in pair["causes"]:
                    cause["evidence"] = [rows[one] if isinstance(one, int) else one for one in cause["evidence"]]
                if not pair["different"]:
                    pair.pop("numerics", None)
                    pair.pop("formulas", None)
        self.assertEqual({"version": 1, "graph": "g.json", **found}, wanted)

    def test_a_page_of_explain_has_the_data_of_json(self):
        """Of a device that rounds halves away from zero, and of a float model."""
        source = self.write("g.json", self.ties())
        self.qdq("run", source, "--target", "ttnn@ieee", "-o", "y=got.npy")
        model = graph([], inputs=[], outputs={"y": "x"}, constants=self.ties()["constants"])
        for words in (["--got", "y=got.npy"], ["--against", self.write("f.json", model)]):
            wanted = self.json("explain", source, *words, code=1)
            wanted.pop("bits")
            data, _ = self.page("explain", source, *words, code=1)
            self.assertEqual(data["command"], "explain")
            self.assertEqual({"version": 1, **data["explain"]}, wanted)

    def test_a_page_of_bisect_has_the_data_of_json(self):
        """Of two targets, of two graphs, and of graphs that do not differ."""
        source, other = self.write("g.json", self.ties()), self.write("h.json", self.ties())
        for words, code in ((["--targets", "core,ttnn@ieee"], 1), ([other], 0)):
            wanted = self.json("bisect", source, *words, code=code)
            wanted.pop("bits")
            data, _ = self.page("bisect", source, *words, code=code)
            self.assertEqual(data["command"], "bisect")
            self.assertEqual({"version": 1, **data["bisect"]}, wanted)

    def test_pages_have_the_bits_of_check(self):
        """Nodes of a group share op, word, rule and evidence."""
        nodes = [node("Exp", "e", "x"), node("Exp", "f", "e"), node("ReLU", "r", "f")]
        name = self.write("g.json", graph(nodes, outputs={"y": "r"}))
        self.qdq("run", name, "--fill", 1, "-o", "got.safetensors")
        wanted = self.json("check", name, "-t", "ttnn", code=None)["bits"]
        float_model = self.write("f.json", graph([node("Exp", "e", "x")], outputs={"y": "e"}))
        pages = [
            self.page("check", name, "-t", "ttnn", code=None)[0]["check"]["targets"],
            self.page("check", name, "-t", "all", code=None)[0]["check"]["targets"],
            self.page("compare", name, "--targets", "core,ttnn,onnx", "--fill", "1", code=None)[0]["targets"],
            self.page("explain", name, "-t", "ttnn", "--got", "got.safetensors", "--fill", "1", code=None)[0]["targets"],
            self.page("explain", name, "-t", "ttnn", "--against", float_model, "--fill", "1", code=None)[0]["targets"],
            self.page("plan", name, "-t", "ttnn")[0]["targets"],
        ]
        for targets in pages:
            (bits,) = [one["bits"] for one in targets if one["name"] == "ttnn"]
            for word in ("exact", "read", "close", "unknown"):
                self.assertEqual(bits[word], wanted[word])
            found = {}
            for group in bits["groups"]:
                for inner in group.pop("nodes"):
                    found[inner] = {"node": inner, "evidence": None, **group}
            self.assertEqual([found[one["node"]] for one in wanted["nodes"]], wanted["nodes"])
        self.assertEqual([one["name"] for one in pages[2]], ["core", "ttnn", "onnx"])
        self.assertEqual(pages[2][0]["bits"]["exact"], 3)

    def test_bits_of_a_page_name_the_nodes_of_its_graph(self):
        """Also of a graph whose file gives other names, and of one that the target rewrites before it runs it."""
        named = graph([node("Exp", "e", "x"), node("Exp", "f", "e")], outputs={"y": "f"})
        named["originals"] = {"nodes": {"e": "no'de \"1\"", "f": "/net/exp"}}
        self.write("named.json", named)
        pair = graph([*quantize_pair("a", "x", scales=0.3, zps=3), node("ReLU", "r", "a.dq"), *quantize_pair("b", "r", scales=0.3, zps=3)],
                     outputs={"y": "b.dq"})
        self.write("pair.json", pair)
        for words in (["check", "named.json", "-t", "ttnn"], ["plan", "named.json", "-t", "ttnn"], ["plan", "pair.json", "-t", "ort"]):
            data, _ = self.page(*words)
            (target,) = data["check"]["targets"] if words[0] == "check" else data["targets"]
            listed = sorted(one for group in target["bits"]["groups"] for one in group["nodes"])
            self.assertEqual(listed, sorted(one["name"] for one in data["graph"]["nodes"]), words)

    def test_a_refused_target_has_no_bits(self):
        name = self.write("g.json", graph([quantize(dtype="int32", scales=1)]))
        data, _ = self.page("compare", name, "--targets", "core,onnx,ttnn", "--fill", "1", code=None)
        self.assertEqual([one["name"] for one in data["targets"]], ["core", "ttnn"])
        data, _ = self.page("check", name, "-t", "onnx", code=1)
        self.assertNotIn("bits", data["check"]["targets"][0])

    def test_histograms_count_every_element_and_the_clipped_ones(self):
        result = self.json("compare", self.write("g.json", self.ties()), "--targets", "onnx,onednn", code=1)
        codes, back = result["values"]
        # round(x / 0.3) + 3, halves to even, clamped to -128..127; NaN is the least code.
        self.assertEqual(codes["name"], "ties.q")
        histogram = codes["histogram"]
        expected = [3, 5, 10, 103, 127, -128, -128, 3]
        bins = [0] * len(histogram["counts"][0])
        for code in expected:
            bins[math.floor((code - histogram["low"]) / histogram["width"])] += 1
        self.assertEqual((histogram["counts"], histogram["clipped"], histogram["not_finite"]), ([bins], [3], [0]))
        self.assertEqual((histogram["width"], len(bins)), (1, 256), "a bin for each code")
        both = codes["pairs"][0]["histogram"]
        self.assertEqual([sum(side) for side in both["counts"]], [8, 8])
        self.assertNotEqual(*both["counts"])
        self.assertEqual(sum(back["histogram"]["counts"][0]), 8)
        self.assertIsNone(back["histogram"]["clipped"])
        self.assertEqual(len(back["histogram"]["counts"][0]), 64)

    def test_integers_that_span_more_than_256_numbers_have_64_bins(self):
        for greatest, bins, width in ((255, 256, 1), (256, 52, 5), (6399, 64, 100)):
            added = {"op": "Add", "name": "a", "inputs": {"a": "x", "b": "zero"}}
            content = graph([added], inputs=[], outputs={"y": "a"},
                            constants=[constant("x", "int32", [3], [0, greatest // 2, greatest]),
                                       constant("zero", "int32", [1], [0])])  # fmt: skip
            result = self.json("compare", self.write("g.json", content), "--targets", "onnx,core", code=None)
            found = result["values"][0]["histogram"]
            self.assertEqual((found["width"], len(found["counts"][0]), sum(found["counts"][0])), (width, bins, 3))

    def test_an_explanation_has_histograms_of_values_and_codes(self):
        """Of the float model and the quantized value, over the same bins, and a bin for each code."""
        x = [0.1 * k for k in range(-16, 16)]
        source = graph(quantize_pair("p", "x", scales=0.25, zps=1), inputs=[], outputs={"y": "p.dq"},
                       constants=[constant("x", "float32", [32], x)])  # fmt: skip
        model = graph([], inputs=[], outputs={"y": "x"}, constants=source["constants"])
        self.write("g.json", source)
        row, = self.json("explain", "g.json", "--against", self.write("f.json", model), code=1)["nodes"]
        numbers = [struct.unpack("f", struct.pack("f", one))[0] for one in x]
        codes = [round(one / 0.25) + 1 for one in numbers]
        bins = row["code_histogram"]
        self.assertEqual((bins["low"], bins["width"]), (min(codes), 1))
        self.assertEqual(bins["counts"], [[codes.count(code) for code in range(min(codes), max(codes) + 1)]])
        sides = row["histogram"]
        for side, elements in zip(sides["counts"], (numbers, [0.25 * (code - 1) for code in codes])):
            bins = [0] * len(side)
            for one in elements:
                bins[min(len(side) - 1, math.floor((one - sides["low"]) / sides["width"]))] += 1
            self.assertEqual(side, bins)

    def test_floats_behind_a_difference_have_their_relative_error(self):
        """Codes 3 and 4 of 0.15 are 0 and 0.3 again; the other floats are equal. Codes have no relative error."""
        pairs = [one["pairs"][0] for one in self.json("compare", self.write("g.json", self.ties()), "--targets", "onnx,onednn",
                                                      code=1)["values"]]  # fmt: skip
        self.assertIsNone(pairs[0]["relative_error_overall"])
        codes = [3, 5, 10, 103, 127, -128, -128, 3]
        length = math.sqrt(sum((0.3 * (code - 3)) ** 2 for code in codes))
        self.assertEqual((pairs[1]["different"], pairs[1]["different_overall"]), (0, pairs[0]["different"]))
        self.assertAlmostEqual(pairs[1]["relative_error_overall"], math.sqrt(pairs[0]["different"]) * 0.3 / length, places=6)

    def test_the_first_element_has_its_bits_and_both_formulas(self):
        name = self.write("g.json", self.ties())
        pair = self.json("compare", name, "--targets", "onnx,onednn", code=1)["values"][0]["pairs"][0]
        cause = pair["causes"][0]
        self.assertEqual((cause["results"], cause["bits"]), ([3, 4], ["0x03", "0x04"]))
        self.assertEqual(pair["formulas"], ["saturate(half_even(x / scale) + zero_point)",
                                            "saturate(half_even(x * fl(1 / scale) + zero_point))"])  # fmt: skip

    def test_floats_that_are_not_finite_are_counted_apart(self):
        content = graph([node("ReLU", "r", "x")], inputs=[], outputs={"y": "r"},
                        constants=[constant("x", "float32", [5], ["NaN", "Infinity", 1, 2, 5])])  # fmt: skip
        histogram = self.json("compare", self.write("g.json", content), "--targets", "onnx,core", code=None)["values"][
            0
        ]["histogram"]
        self.assertEqual((histogram["not_finite"], sum(histogram["counts"][0]), histogram["low"]), ([2], 3, 1))
        for text in (["NaN"], [7]):
            content["constants"] = [constant("x", "float32", [1], text)]
            histogram = self.json("compare", self.write("g.json", content), "--targets", "onnx,core", code=None)[
                "values"
            ][0]["histogram"]
            self.assertEqual(sum(histogram["counts"][0]), 0 if text == ["NaN"] else 1)

    def test_text_of_files_cannot_end_the_data(self):
        name = "</script><script>alert(1)//<!--&amp;"
        data, text = self.page(
            "check", self.write("<b>.json", graph([quantize(name, scales=1)], outputs={"y": name})), code=None
        )
        self.assertEqual(data["graph"]["nodes"][0]["name"], name)
        self.assertEqual(data["file"], "<b>.json")
        self.assertEqual(data["call"], "qdq check '<b>.json' --html page.html")
        self.assertNotIn("alert(1)", text.replace("\\u003cscript\\u003ealert(1)", ""))
        self.assertNotIn("<b>", text)

    def test_the_page_loads_nothing(self):
        _, text = self.page("check", self.write("g.json", graph([quantize(scales=1)])))
        self.assertIn("default-src 'none'", text)
        self.assertIsNone(re.search(r"""(src|href)=["'](?!#)""", text))
        self.assertEqual(set(re.findall(r"https?://[^\s\"'`]+", text)), {"http://www.w3.org/2000/svg"})

    def test_what_is_printed_stays_the_same(self):
        name = self.write("g.json", self.ties())
        for words in (["check", name, "--target", "all"], ["compare", name, "--targets", "onnx,ttnn"], ["plan", name]):
            plain = self.qdq(*words, code=None)
            self.assertEqual(self.qdq(*words, "--html", "page.html", code=None), plain)
            self.json(*words, "--html", "page.html", code=None)

    def test_graphs_with_errors_have_a_page(self):
        content = graph(
            [quantize(scales=1), node("Nonsense", "lost", "q"), node("Add", "sum", "q", {"b": "q"})],
            outputs={"y": "sum"},
        )
        data, _ = self.page("check", self.write("g.json", content), "--target", "all", code=1)
        core = data["check"]["targets"][0]
        self.assertIn("lost", [one["node"] for rule in core["rules"] for one in rule["findings"]])

    def test_mistakes_are_told(self):
        name, other = self.write("g.json", self.ties()), self.write("h.json", self.ties())
        cases = [(["check", name, other], 2, "one graph"), (["check", name, "--sarif"], 2, "exclude"),
                 (["compare", name, "--fast"], 2, "--html")]  # fmt: skip
        for words, code, text in cases:
            self.assertIn(text, self.qdq(*words, "--html", "page.html", code=code).err)
            self.assertFalse((self.folder / "page.html").exists())
        self.assertIn("none/page.html: its folder takes no new file",
                      self.qdq("check", name, "--html", "none/page.html", code=3).err)

    def test_a_command_that_fails_leaves_no_page_and_no_device_is_removed(self):
        name = self.write("g.json", graph([quantize(scales=1)]))
        self.qdq("compare", name, "--targets", "onnx,ttnn", "--html", "page.html", code=2)
        write_npy(self.folder / "x.npy", harness.tensor("float32", [1], [1]))
        self.qdq("compare", name, "--targets", "onnx,ttnn", "-i", "x=x.npy", "--html", "page.html", code=None)
        self.assertFalse((self.folder / "page.html").exists())
        self.qdq("check", name, "--html", "/dev/null")
        self.assertTrue(Path("/dev/null").is_char_device())
        self.assertIn("cannot be written", self.qdq("check", name, "--html", "/dev/full", code=3).err)


if __name__ == "__main__":
    harness.main()
