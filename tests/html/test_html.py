#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of `--html` in a headless Chromium: they load, filter, zoom and search without an error.

    test_html.py QDQ_BINARY [unittest's own arguments]

Exits with 77 where there is no chromium or no chromedriver.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import browser

SKIPPED = 77
NODES = 2000
HOSTILE = "</script><b id=out>&amp;<img src=x onerror=document.title=1>"
MODELS = Path(__file__).resolve().parents[2] / "models"
QDQ = None


def value(name, shape=(4, 32)):
    return {"name": name, "dtype": "float32", "shape": list(shape)}


def pair(name, x, scale, zero_point=0):
    attrs = {"scales": scale, "zps": zero_point}
    return [
        {"op": "Quantize", "name": f"{name}.q", "inputs": {"x": x}, "attrs": {**attrs, "dtype": "int8"}},
        {
            "op": "Dequantize",
            "name": f"{name}.dq",
            "inputs": {"x": f"{name}.q"},
            "attrs": {**attrs, "dtype": "float32"},
        },
    ]


def large_graph(count=NODES):
    """Quantized layers in a row with skips over 1 to 40 of them: `count` nodes."""
    chosen = random.Random(5)
    nodes, layers, last = [], [], "x"
    while len(nodes) < count:
        name = f"block{len(layers) // 20}.layer{len(layers)}"
        nodes += pair(name, last, 0.05 * (1 + len(layers) % 3), len(layers) % 4)
        last = f"{name}.dq"
        if len(layers) % 5 == 4:
            nodes.append({"op": "Add", "name": f"{name}.add", "inputs": {"a": last, "b": chosen.choice(layers[-40:])}})
            last = f"{name}.add"
        layers.append(last)
    nodes = nodes[:count]
    return {
        "format": "qdq/1",
        "name": "large",
        "inputs": [value("x")],
        "nodes": nodes,
        "outputs": [{"name": "y", "value": nodes[-1]["name"]}],
    }


def small_graph():
    """Ties that targets round differently; one name is full of markup."""
    x = {"name": "x", "dtype": "float32", "shape": [2, 4], "data": [0.15, 0.75, 2.25, 30, 70, -70, "NaN", 0]}
    nodes = pair("ties", "x", 0.3, 3) + pair(HOSTILE, "ties.dq", 0.25)
    return {
        "format": "qdq/1",
        "name": "small",
        "constants": [x],
        "nodes": nodes,
        "outputs": [{"name": "y", "value": f"{HOSTILE}.dq"}],
    }


def uneven_page(folder):
    """The page of a network of which one channel of the first convolution is 60 times as large as it was."""
    model, samples = (MODELS / "digits_uneven" / name for name in ("model.onnx", "calibration.safetensors"))
    dim, labels = ["--dim", "batch=64"], ["--labels", "labels.txt"]
    (folder / "labels.txt").write_text("".join(f"{i % 10}\n" for i in range(64)))
    for words in (["calibrate", model, "--data", samples, *dim, "-o", "uneven.state"],
                  ["quantize", model, "--state", "uneven.state", *dim, "-t", "core", "-o", "uneven.onnx"],
                  ["explain", "uneven.onnx", "--against", model, "-t", "core", "-i", samples, *dim, *labels, "--html",
                   "uneven.html"],
                  ["explain", "uneven.onnx", "--against", model, "-t", "core", "-i", samples, *dim, *labels, "--json"]):  # fmt: skip
        done = subprocess.run([QDQ, *words], cwd=folder, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise AssertionError(done.stderr)
    return folder / "uneven.html", json.loads(done.stdout)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="qdq-html-")
        cls.folder = Path(cls.place.name)
        cls.browser = browser.Browser()
        (cls.folder / "large.json").write_text(json.dumps(large_graph()))
        (cls.folder / "small.json").write_text(json.dumps(small_graph()))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.place.cleanup()

    def page(self, command, graph, *words):
        """Writes the page of a command, opens it, and returns its path."""
        path = self.folder / f"{command}_{graph}.html"
        done = subprocess.run(
            [QDQ, command, f"{graph}.json", *words, "--html", path], cwd=self.folder, capture_output=True, text=True
        )
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.browser.open(path)
        self.browser.settle()
        self.assertGreater(int(self.browser.run("return document.documentElement.dataset.ready || 0")), 0)
        self.assertEqual(self.browser.console(), [])
        return path

    def text(self, selector):
        return self.browser.run("const e = document.querySelector(arguments[0]); return e && e.innerText", selector)

    def count(self, selector):
        return self.browser.run("return document.querySelectorAll(arguments[0]).length", selector)

    def drawn(self):
        return self.browser.run("const d = document.querySelector('#graph-view').dataset; return [+d.nodes, +d.scale]")

    def tearDown(self):
        self.assertEqual(self.browser.console(), [], "the page printed on the console")

    def test_a_graph_of_2000_nodes_is_small_and_draws_only_what_is_in_view(self):
        path = self.page("check", "large", "--target", "all")
        self.assertLess(path.stat().st_size, 5_000_000)
        nodes, first = self.drawn()
        self.assertEqual(first, 0.85, "the page opens where labels can be read")
        self.assertTrue(5 < nodes < 200, nodes)
        self.browser.click("#fit")
        paths, far = self.drawn()
        self.assertTrue(0.05 < far < 0.2, f"{far}: a deep graph is folded into columns")
        self.assertTrue(0 < paths < 10, "from afar there is a path for each colour")
        self.browser.click("#worst")
        nodes, near = self.drawn()
        self.assertGreater(near, 0.4)
        self.assertTrue(5 < nodes < 200, nodes)

    def test_boxes_have_their_scales(self):
        """Of attributes, and of constants at a port; a computed scale has no number."""
        part = {"name": "s", "dtype": "float32", "shape": [], "data": 0.02353}
        per_channel = {"qtype": "per_channel", "axis": 1, "dtype": "int8"}
        nodes = [*pair("a", "x", 0.125), {"op": "Quantize", "name": "b", "inputs": {"x": "x", "scale": "s"}, "attrs": {"dtype": "int8"}},
                 {"op": "Quantize", "name": "c", "inputs": {"x": "x"}, "attrs": {"scales": [i + 1 for i in range(32)], **per_channel}},
                 {"op": "Quantize", "name": "d", "inputs": {"x": "x", "scale": "t"}, "attrs": {"dtype": "int8"}}]
        names = ("a.dq", "b", "c", "d")
        document = {"format": "qdq/1", "inputs": [value("x"), value("t", ())], "constants": [part], "nodes": nodes,
                    "outputs": [{"name": f"y{i}", "value": name} for i, name in enumerate(names)]}  # fmt: skip
        (self.folder / "scales.json").write_text(json.dumps(document))
        self.page("check", "scales")
        script = ("return [...document.querySelectorAll('#graph-view .node:not(.io)')].map((e) => "
                  "[e.querySelector('.name').textContent, e.querySelector('.scales')?.textContent || ''])")
        shown = dict(self.browser.run(script))
        self.assertEqual({name: shown[name] for name in ("a.q", *names)},
                         {"a.q": "scale 0.125", "a.dq": "scale 0.125", "b": "scale 0.02353", "c": "32 scales", "d": ""})

    def test_the_legend_has_the_colours_of_the_boxes(self):
        self.page("check", "large", "--target", "all")
        look = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
        colours = set()
        for button, box in (("#worst", "#graph-view .s-bad rect"), ("#fit", "#graph-view path.s-bad")):
            self.browser.click(button)
            colour = self.browser.run(look, ".legend .s-bad", "backgroundColor")
            self.assertEqual(colour, self.browser.run(look, box, "fill"), button)
            colours.add(colour)
        self.assertEqual(len(colours), 2)

    def test_a_small_graph_opens_at_its_worst_node_with_labels(self):
        (self.folder / "twenty.json").write_text(json.dumps(large_graph(20)))
        place = ("const c = document.querySelector('.canvas').getBoundingClientRect();"
                 "return [...document.querySelectorAll('#graph-view [class*=s-heat]')].map((e) => {"
                 "const r = e.getBoundingClientRect(); return r.top >= c.top && r.bottom <= c.bottom && "
                 "r.left >= c.left && r.right <= c.right})")  # fmt: skip
        try:
            for size in ((1280, 800), (390, 844)):
                self.browser.resize(*size)
                self.page("compare", "twenty", "--targets", "core,onednn,ttnn", "--fill", "1")
                self.assertGreaterEqual(self.drawn()[1], 0.85)
                self.assertGreater(self.count("#graph-view text.name"), 3)
                self.assertIn(True, self.browser.run(place))
                first = self.browser.run("return [...document.querySelectorAll('#graph-view .node')]"
                                         ".filter((e) => e.getBoundingClientRect().bottom <= innerHeight).length")  # fmt: skip
                self.assertGreaterEqual(first, 8 if size[0] > 1000 else 2, "seen before the page scrolls")
        finally:
            self.browser.resize(1440, 1000)

    def test_a_chain_is_folded_into_the_width_of_the_window(self):
        """All of 22 boxes are seen with labels, in columns that go down: three on a screen, two on a telephone."""
        nodes = [{"op": "ReLU", "name": f"layer{k}", "inputs": {"x": f"layer{k - 1}" if k else "x"}} for k in range(20)]
        graph = {"format": "qdq/1", "inputs": [value("x")], "nodes": nodes, "outputs": [{"name": "y", "value": "layer19"}]}
        (self.folder / "chain.json").write_text(json.dumps(graph))
        place = ("const c = document.querySelector('#graph-view').getBoundingClientRect();"
                 "return [...document.querySelectorAll('#graph-view .node')].map((e) => e.getBoundingClientRect())"
                 ".filter((r) => r.top >= c.top && r.bottom <= c.bottom && r.left >= c.left && r.right <= c.right - 14)"
                 ".map((r) => [Math.round(r.left), Math.round(r.top)])")  # fmt: skip
        try:
            for size, least in (((1280, 800), 3), ((390, 844), 2)):
                self.browser.resize(*size)
                self.page("check", "chain")
                self.assertGreaterEqual(self.drawn()[1], 0.85)
                seen = self.browser.run(place)
                self.assertEqual(len(seen), 22)
                shapes = self.browser.run("return [...document.querySelectorAll('#graph-view .shape')].map((e) => e.textContent)")
                self.assertEqual(shapes, ["4×32"] * 22)
                columns = {left: [top for other, top in seen if other == left] for left, _ in seen}
                self.assertGreaterEqual(len(columns), least)
                self.assertEqual([top for one in columns.values() for top in one],
                                 [top for one in columns.values() for top in sorted(set(one))])  # fmt: skip
                self.assertLess(self.browser.run("return document.querySelector('.canvas').clientHeight"), size[1])
        finally:
            self.browser.resize(1440, 1000)

    def test_the_profile_shows_the_error_along_the_depth(self):
        """Marks are nodes that differ by themselves; the line has the float results; a click chooses the node there."""
        (self.folder / "twenty.json").write_text(json.dumps(large_graph(20)))
        words = ["twenty", "--targets", "core,onednn,ttnn", "--fill", "1"]
        path = self.page("compare", *words)
        found = json.loads(re.search(r'id="qdq-report">(.*?)</script>', path.read_text(), re.S)[1])["compare"]["values"]
        own = [one["name"] for one in found if any(pair["different"] for pair in one["pairs"])]
        errors = {one["name"]: max(pair["relative_error_overall"] for pair in one["pairs"]) for one in found if one["dtype"] == "float32"}
        shown = self.browser.run("return [...document.querySelectorAll('#profile .own title')].map((e) => e.textContent)")
        self.assertEqual([text.split()[0] for text in shown], own)
        points = self.browser.run("return [...document.querySelectorAll('#profile .point')].map((e) => "
                                  "[e.textContent.split(' ')[0], +e.getAttribute('cy')])")  # fmt: skip
        self.assertEqual({name for name, _ in points}, set(errors))
        ranked = [name for name, height in sorted(points, key=lambda one: (-one[1], one[0])) if errors[name]]
        self.assertEqual([round(errors[name], 3) for name in ranked], sorted(round(one, 3) for one in errors.values() if one))
        self.browser.run("const e = [...document.querySelectorAll('#profile .own')][1], r = e.getBoundingClientRect();"
                         "e.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: r.x + 2, clientY: r.y + 2}))")  # fmt: skip
        self.browser.settle()
        self.assertEqual(self.text("#details h2"), own[1])
        self.assertEqual(self.count("#profile .cursor"), 1)
        self.browser.open(uneven_page(self.folder)[0])
        self.browser.settle()
        self.assertEqual(self.text("#profile h2"), "Error along the depth")
        self.assertGreater(self.count("#profile .own"), 0)

    def test_a_printed_page_is_a_sheet_with_the_whole_graph_and_the_worst_nodes(self):
        (self.folder / "twenty.json").write_text(json.dumps(large_graph(20)))
        shown = ("return [...document.querySelectorAll(arguments[0])].filter((e) => e.getBoundingClientRect().height).length")
        for name, words in (("twenty", ["--targets", "core,onednn,ttnn", "--fill", "1"]),
                            ("large", ["--targets", "onnx,onednn,torchao,ttnn", "--fill", "1"])):  # fmt: skip
            self.page("compare", name, *words)
            before, drawn = self.drawn(), self.count("#graph-view .node")
            self.assertEqual(self.browser.run(shown, "#worst-nodes"), 0)
            self.assertEqual(self.browser.sheets(), 1, name)
            self.browser.settle()
            self.assertEqual((self.drawn(), self.count("#graph-view .node")), (before, drawn), "as before on the screen")
            self.browser.media("print")
            self.browser.run("dispatchEvent(new Event('beforeprint'))")
            self.assertEqual(self.browser.run(shown, ".bar, nav, #table, .strip, .hint"), 0)
            self.assertEqual(self.browser.run(shown, "#worst-nodes td"), 24)
            own = max(one["different"] for one in self.pairs())
            self.assertRegex(self.text("#worst-nodes td:last-child"), rf"^{round(100 * own / 128)} % differ")
            if name == "twenty":
                self.assertEqual(self.browser.run(shown, "#graph-view .node"), 22)
            self.browser.run("dispatchEvent(new Event('afterprint'))")
            self.browser.media("")

    def pairs(self):
        """All pairs of targets at all values of the page of a comparison."""
        read = "return JSON.parse(document.getElementById('qdq-report').textContent).compare.values"
        return [pair for one in self.browser.run(read) for pair in one["pairs"]]

    def test_weights_lie_beside_a_chain_that_goes_straight_down(self):
        """And beside the line of the profile, which has the values that depend on inputs."""
        path, found = uneven_page(self.folder)
        self.browser.open(path)
        self.browser.settle()
        places = dict(self.browser.run("return [...document.querySelectorAll('#graph-view .node')].map((e) => "
                                       "[e.querySelector('title').textContent.split(/ \\(|: /)[0], "
                                       "e.getAttribute('transform').split(/[( ]/)[1]])"))  # fmt: skip
        chain = ["x_quantized", "x_dequantized", "conv1_out", "relu1", "pool1"]
        self.assertEqual({places[name] for name in chain}, {places["x"]})
        line = self.browser.run("return document.querySelector('#profile .steps').getAttribute('d')")
        self.assertEqual(len(re.findall("[ML]", line)),
                         sum(one["kind"] != "weights" and one["total"] is not None for one in found["nodes"]))  # fmt: skip

    def test_a_wide_layer_is_drawn_in_rows(self):
        nodes = [one for k in range(400) for one in pair(f"p{k}", "x", 0.25)]
        outputs = [{"name": f"y{k}", "value": f"p{k}.dq"} for k in range(400)]
        graph = {"format": "qdq/1", "name": "wide", "inputs": [value("x")], "nodes": nodes, "outputs": outputs}
        (self.folder / "wide.json").write_text(json.dumps(graph))
        self.page("plan", "wide")
        self.assertGreater(self.drawn()[1], 0.1, "one row of 400 nodes would take 0.018")

    def test_the_matrix_shows_cells_on_a_telephone(self):
        try:
            self.browser.resize(390, 844)
            self.page("check", "large", "--target", "all")
            right = self.browser.run("const m = document.querySelector('.matrix').getBoundingClientRect().right;"
                                     "return [...document.querySelectorAll('.matrix .line:first-child .cell')]"
                                     ".filter((e) => e.getBoundingClientRect().right <= m).length")  # fmt: skip
            self.assertGreaterEqual(right, 4)
        finally:
            self.browser.resize(1440, 1000)

    def test_the_matrix_filters_groups_and_opens(self):
        self.page("check", "large", "--target", "all")
        rows = self.text("#matrix-count")
        self.browser.type("#matrix-filter", "layer17.")
        self.assertEqual(self.text("#matrix-count"), f"2 nodes of {NODES:,}")
        self.assertIn("block0.layer17.q", self.text("#matrix"))
        self.browser.run(
            "const f = document.querySelector('#matrix-filter'); f.value = ''; f.dispatchEvent(new Event('input'))"
        )
        self.assertEqual(self.text("#matrix-count"), rows)
        closed = self.count(".matrix .line")
        self.browser.click(".matrix .group button")
        self.assertGreater(self.count(".matrix .line"), closed)
        self.assertLess(self.count(".matrix .line"), 60, "only rows in view exist")

    def test_a_verdict_chooses_a_target(self):
        self.page("check", "large", "--target", "all")
        self.assertIn("refused", self.text("[data-target=tripy]"))
        both = self.text("#bars")
        self.browser.click("[data-target=tripy]")
        self.assertIn("tripy/no-zero-point", self.text("#bars"))
        self.assertNotIn("tensorrt/", self.text("#bars"))
        self.assertNotIn("tensorrt/", self.text("#matrix"))
        self.browser.click("[data-target=tripy]")
        self.assertEqual(self.text("#bars"), both)

    def test_search_finds_nodes_and_goes_to_them(self):
        self.page("check", "large", "--target", "all")
        self.browser.type("#search", "layer170.")
        found = sum("layer170." in node["name"] for node in large_graph()["nodes"])
        self.assertEqual(self.text("#search-count"), f"{found} found")
        self.browser.type("#search", "<Enter>")
        self.assertEqual(self.text("#search-count"), f"1 of {found}")
        self.assertIn("block8.layer170.q", self.text("#details"))
        self.assertEqual(self.count("#graph-view .chosen"), 1)

    def test_search_finds_the_names_of_the_file(self):
        names = {"nodes": {"p.q": "attn.matmul"}, "values": {"p.dq": "/attn/out:0"}}
        graph = {"format": "qdq/1", "name": "named", "inputs": [value("x")], "nodes": pair("p", "x", 0.25),
                 "outputs": [{"name": "y", "value": "p.dq"}], "originals": names}  # fmt: skip
        (self.folder / "named.json").write_text(json.dumps(graph))
        self.page("check", "named", "--target", "all")
        # The output of the graph is drawn, too, by the name of its value.
        for text, node, found in (("attn.matmul", "p.q", 1), ("/attn/out", "p.dq", 1), ("p.dq", "p.dq", 2)):
            self.browser.run("document.querySelector('#search').value = ''")
            self.browser.type("#search", text)
            self.assertEqual(self.text("#search-count"), f"{found} found", text)
            self.browser.type("#search", "<Enter>")
            self.assertIn(node, self.text("#details"))
        self.browser.run("document.querySelector('#search').value = ''")
        self.browser.type("#search", "attn.matmul<Enter>")
        self.assertIn("In the model: attn.matmul", self.text("#details"))

    def test_the_graph_zooms_and_moves_with_mouse_and_keyboard(self):
        self.page("check", "large", "--target", "all")
        before = self.drawn()[1]
        self.browser.click("#zoom-in")
        self.assertAlmostEqual(self.drawn()[1], before * 1.4, places=2)
        self.browser.run(
            "document.querySelector('#graph-view').dispatchEvent("
            "new WheelEvent('wheel', {deltaY: 200, clientX: 300, clientY: 600, cancelable: true}))"
        )
        self.browser.settle()
        self.assertLess(self.drawn()[1], before * 1.4)
        self.browser.type("#graph-view", "+")
        self.browser.type("#graph-view", "n")
        chosen = self.text("#details h2")
        self.browser.type("#graph-view", "<Down>")
        self.assertNotEqual(self.text("#details h2"), chosen)
        self.browser.type("#graph-view", "<Escape>")
        self.assertTrue(self.browser.run("return document.querySelector('#details').hidden"))
        self.browser.type("#graph-view", "0")
        self.assertLess(self.drawn()[1], 0.2)

    def test_a_comparison_of_2000_nodes(self):
        path = self.page("compare", "large", "--targets", "onnx,onednn,torchao,ttnn", "--fill", "1")
        self.assertLess(path.stat().st_size, 5_000_000)
        self.assertIn("onnx and torchao", self.text("#verdict"))
        self.assertIn("Inputs that no file gives are made from seed 1.", self.text("#reproduce"))
        self.assertIn("qdq compare large.json --targets onnx,onednn,torchao,ttnn --fill 1", self.text("#call"))

    def test_a_node_shows_formulas_bits_and_histograms(self):
        self.page("compare", "small", "--targets", "onnx,onednn,ttnn,torchao")
        self.browser.type("#search", "ties.q<Enter>")
        details = self.text("#details")
        # 0.15 / 0.3 is a tie in float32: half to even gives 0 + 3; with the zero point added first, 3.5 gives 4.
        for wanted in (
            "saturate(half_even(x / scale) + zero_point)",
            "onnx and onednn",
            "zero-point order",
            "0x03",
            "0x04",
            "scales\\n0.3",
            "zps\\n3",
            "int8 [2, 4]",
            "clipped",
        ):
            self.assertIn(wanted.replace("\\n", "\n"), details)
        self.assertGreaterEqual(self.count("#details .hist"), 2)
        self.assertEqual(self.count("#graph-view [class*=s-heat]"), 1)

    def test_a_click_shows_the_histograms_of_a_value_and_of_its_codes(self):
        """Of a comparison on both sides of a Quantize, of an accuracy with the float model and a bar for each code."""
        self.page("compare", "small", "--targets", "onnx,onednn,ttnn,torchao")
        self.browser.type("#search", "ties.dq<Enter>")
        self.assertIn("Codes that it reads, ties.q", self.text("#details"))
        # Codes -128 to 127, each a bar.
        self.assertEqual(self.count("#details .values:last-child .side1"), 256)
        path, found = uneven_page(self.folder)
        row = next(one for one in found["nodes"] if one["codes_of"])
        self.browser.open(path)
        self.browser.settle()
        self.browser.type("#search", f"{row['node']}<Enter>")
        self.assertEqual(self.count("#details .hist"), 2)
        self.assertEqual(self.count("#details .side2"), 1, "the quantized value is a line around the float model's bars")
        self.assertEqual(self.count("#details .values:last-child .side1"), len(row["code_histogram"]["counts"][0]))
        self.browser.run("document.querySelector('#search').value = ''")
        self.browser.type("#search", f"{row['codes_of']}<Enter>")
        self.assertIn(f"Measured at {row['node']}", self.text("#details"))
        self.assertEqual(self.count("#details .hist"), 1)

    def test_floats_differ_by_relative_error_and_codes_by_steps(self):
        """A float that is further away than 1,000 steps has none; codes have no relative error."""
        x = {"name": "x", "dtype": "int32", "shape": [2], "data": [-2147483648, 4]}
        nodes = [{"op": "Dequantize", "name": "far", "inputs": {"x": "x"}, "attrs": {"scales": 0.5, "dtype": "float32"}},
                 *pair("ties", "far", 0.3, 3)]  # fmt: skip
        graph = {"format": "qdq/1", "constants": [x], "nodes": nodes, "outputs": [{"name": "y", "value": "ties.dq"}]}
        (self.folder / "floats.json").write_text(json.dumps(graph))
        self.page("compare", "floats", "--targets", "core,ttnn")
        self.browser.type("#search", "far<Enter>")
        self.assertIn("1 of 2 differ (50 %), relative error 1, cosine 1.86265e-9", self.text("#details"))
        self.assertNotRegex(self.text("#details"), r"\bsteps?\b")
        self.page("compare", "small", "--targets", "onnx,onednn,ttnn,torchao")
        self.browser.type("#search", "ties.q<Enter>")
        self.assertRegex(self.text("#details"), r"differ \(\d+ %\), at most \d+ steps?")
        self.assertNotIn("relative error", self.text("#details"))

    def test_names_full_of_markup_are_text(self):
        for command, words in (("check", ["--target", "all"]), ("compare", ["--targets", "onnx,onednn"]), ("plan", [])):
            path = self.page(command, "small", *words)
            self.assertNotIn("<b id=out>", path.read_text())
            self.assertEqual(self.count("#out, img"), 0)
            self.browser.type("#search", "img<Enter>")
            self.assertEqual(self.text("#details h2"), f"{HOSTILE}.q")
            self.assertNotEqual(self.browser.run("return document.title"), "1")

    def test_a_plan_shows_the_arena_and_the_device(self):
        path = self.page("plan", "large", "--target", "ttnn", "--device", "n150")
        self.assertLess(path.stat().st_size, 5_000_000)
        self.assertIn("Memory of n150", self.text("#memory"))
        self.assertGreater(self.count("#memory rect.buffer"), NODES)
        self.browser.run("document.querySelector('#memory rect.buffer').dispatchEvent(new MouseEvent('click'))")
        self.assertIn("address", self.text("#details"))
        self.page("plan", "small")
        self.assertIn("arena", self.text("#verdict"))

    def test_the_peak_of_l1_has_its_circular_buffers(self):
        """No tensor lies in L1: its peak is all circular buffers, from the first address that a program may use."""
        self.page("plan", "small", "--target", "ttnn", "--device", "n150")
        told = subprocess.run([QDQ, "plan", "small.json", "--target", "ttnn", "--device", "n150", "--json"], cwd=self.folder,
                              capture_output=True, text=True, check=True)  # fmt: skip
        plan = json.loads(told.stdout)
        pool = next(one for one in plan["pools"] if one["pool"] == "L1")
        circular = f"{plan['peak_circular'] / 1024:.1f} KiB"
        self.assertEqual((pool["peak"], plan["peak_l1"]), (0, plan["peak_circular"]))
        self.assertIn(f"L1 of n150\npeak {circular}\nof 1.3 MiB in each bank\ntensors 0 B, circular buffers {circular}",
                      self.text("#verdict"))
        self.assertIn(f"from {pool['base'] // 1024} KiB; tensors 0 B, circular buffers {circular}", self.text("#memory"))
        self.assertIn(f"{circular} of 1.3 MiB", self.text("#memory .bars"))

    def test_a_plan_fits_every_width(self):
        """With long names, bars keep a quarter of the width, and the text of charts can be read."""
        nodes = [one for k in range(6) for one in pair(f"model.decoder.layers.{k}.self_attention.query_projection.in", "x", 0.25)]
        outputs = [{"name": f"y{k}", "value": nodes[2 * k + 1]["name"]} for k in range(6)]
        graph = {"format": "qdq/1", "inputs": [value("x")], "nodes": nodes, "outputs": outputs}
        (self.folder / "long.json").write_text(json.dumps(graph))
        try:
            for width, height in ((390, 844), (700, 900), (1280, 800)):
                self.browser.resize(width, height)
                self.page("plan", "long", "--target", "ttnn", "--device", "n150")
                self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
                widths = "return [...document.querySelectorAll(arguments[0])].map((e) => e.getBoundingClientRect().width)"
                least = min(self.browser.run(widths, ".bars .track"))
                self.assertGreater(least, self.browser.run(widths, "#steps .bars")[0] / 4, width)
                heights = "return [...document.querySelectorAll('#memory text')].map((e) => e.getBoundingClientRect().height)"
                self.assertGreaterEqual(min(self.browser.run(heights)), 10, width)
        finally:
            self.browser.resize(1440, 1000)

    def test_an_explanation_goes_to_the_node_at_fault(self):
        got = self.folder / "got.safetensors"
        subprocess.run([QDQ, "run", "small.json", "--target", "ttnn@ieee", "-o", got], cwd=self.folder, check=True,
                       capture_output=True)  # fmt: skip
        self.page("explain", "small", "--got", got)
        told = subprocess.run([QDQ, "explain", "small.json", "--got", got, "--json"], cwd=self.folder, check=False,
                              capture_output=True, text=True)  # fmt: skip
        found = json.loads(told.stdout)
        self.assertIn(found["node"], self.text("#verdict"))
        self.assertIn(found["cause"], self.text("#verdict"))
        self.assertEqual(self.text("#details h2"), found["node"])
        self.assertIn(found["examples"][0]["given_bits"], self.text("#details"))

    def test_each_node_says_how_well_its_bits_are_known(self):
        """Sin of ttnn has no evidence; core is exact by definition."""
        nodes = [{"op": op, "name": op, "inputs": {"x": before}}
                 for op, before in (("Sin", "x"), ("ReLU", "Sin"))]  # fmt: skip
        graph = {"format": "qdq/1", "inputs": [value("x")], "nodes": nodes, "outputs": [{"name": "y", "value": "ReLU"}]}
        (self.folder / "sin.json").write_text(json.dumps(graph))
        self.page("compare", "sin", "--targets", "core,onednn,ttnn", "--fill", "1")
        self.assertIn("bits of ttnn: 0 of 2 nodes exact, 1 read, 1 unknown", self.text("#verdict"))
        self.assertNotIn("bits of core", self.text("#verdict"))
        self.assertIn("bits ttnn", self.text("#matrix"))
        self.browser.type("#search", "ReLU<Enter>")
        self.assertIn("bits of ttnn\nread from the same inputs", self.text("#details"))
        self.assertIn("bits of core\nexact", self.text("#details"))
        self.page("check", "sin", "-t", "ttnn")
        self.assertIn("bits of ttnn: 0 of 2 nodes exact", self.text("#verdict"))
        self.browser.type("#search", "Sin<Enter>")
        self.assertIn("bits of ttnn\nunknown", self.text("#details"))
        self.page("plan", "sin", "--target", "ttnn")
        self.assertIn("bits of ttnn: 0 of 2 nodes exact", self.text("#verdict"))
        self.browser.type("#search", "Sin<Enter>")
        self.assertIn("bits of ttnn\nunknown", self.text("#details"))

    def test_the_accuracy_of_2000_nodes(self):
        """Against the same graph without its quantizing nodes; a bar leads to its node."""
        quiet = large_graph()
        names = {one["name"]: one["inputs"]["x"] for one in quiet["nodes"] if one["op"] != "Add"}

        def before(name):
            while name in names:
                name = names[name]
            return name

        quiet["nodes"] = [one for one in quiet["nodes"] if one["op"] == "Add"]
        for one in quiet["nodes"]:
            one["inputs"] = {port: before(name) for port, name in one["inputs"].items()}
        quiet["outputs"][0]["value"] = before(quiet["outputs"][0]["value"])
        (self.folder / "quiet.json").write_text(json.dumps(quiet))
        path = self.page("explain", "large", "--against", "quiet.json", "--fill", "1")
        self.assertLess(path.stat().st_size, 5e6)
        self.assertRegex(self.text("#verdict"), r"dB|exact|unknown")
        self.assertIn("on random inputs (--fill 1)", self.text("#verdict"))
        self.browser.run("document.querySelector('#noise button').click()")
        self.assertIn("own error", self.text("#details"))
        self.assertIn("effect on the output", self.text("#details"))
        bars = [float(one) for one in re.findall(r"(-?[\d.]+) dB, without it", self.text("#noise"))]
        self.assertEqual(bars, sorted(bars))
        self.assertTrue(bars)

    def test_where_the_accuracy_goes(self):
        """Bars, the curve, and strips of channels, also in the width of a telephone; names of the model are found."""
        path, found = uneven_page(self.folder)
        for size in ((1280, 800), (390, 844)):
            self.browser.resize(*size)
            self.browser.open(path)
            self.browser.settle()
            wide = self.browser.run("const d = document.documentElement; return [d.scrollWidth, d.clientWidth]")
            self.assertEqual(wide, [size[0]] * 2)
            self.assertIn(f"median sample {found['outputs'][0]['median']:.1f} dB", self.text("#verdict"))
            right = found["labels"]
            self.assertIn(f"{right['quantized']} of 64 right, in float {right['float']}", self.text("#verdict"))
            self.assertEqual(self.text("#noise h2"), "Where the accuracy goes")
            self.assertEqual(self.count("#noise .bars .track"), sum(isinstance(one["effect"], float) for one in found["nodes"]))
            shown = self.browser.run("return [...document.querySelectorAll('.curve text')].map((e) => e.textContent)")
            self.assertEqual((shown[0], shown[1]), (f"{found['curve'][0][1]:.1f}", "0"))
            self.assertEqual(shown[-3:-1], ["exact", str(found["curve"][-1][0])])
            # A step for each point: the path has a horizontal line at each.
            steps = self.browser.run("return document.querySelector('.curve .steps').getAttribute('d')")
            self.assertEqual(steps.count("H"), len(found["curve"]))
            self.assertEqual(self.count("#noise .strip-chart"), 3)
            self.assertEqual(self.count("#noise .far-channel"), 3)
            small = "return Math.min(...[...document.querySelectorAll('#noise text')].map((e) => e.getBoundingClientRect().height))"
            self.assertGreaterEqual(self.browser.run(small), 10)
        strips = self.text("#noise")
        worst = sorted((one for one in found["nodes"] if isinstance(one["effect"], float)), key=lambda one: one["effect"])[:3]
        for one in worst:
            self.assertIn(f"{one['cause']}: {one['mend']}", strips)
        self.assertIn("channel imbalance: channel 6 of axis 1 reaches", strips)
        self.browser.click("#noise .strip-of button")
        self.assertEqual(self.text("#details h2"), worst[0]["node"])
        # The convolution is called conv1 in the model, and conv1_out here, as its result is there.
        self.browser.type("#search", "conv1_out<Enter>")
        self.assertEqual(self.text("#details h2"), "conv1_out")
        self.assertIn("In the model: conv1\n", self.text("#details"))
        self.browser.resize(1440, 1000)

    def test_graphs_without_nodes_and_nodes_that_cannot_be_read(self):
        (self.folder / "none.json").write_text(
            json.dumps({"format": "qdq/1", "inputs": [value("x")], "outputs": [{"name": "y", "value": "x"}]})
        )
        for command in ("check", "plan"):
            self.page(command, "none")
            self.browser.type("#graph-view", "n0")
        cycle = [{"op": "ReLU", "name": name, "inputs": {"x": other}} for name, other in (("a", "b"), ("b", "a"))]
        nodes = [*cycle, {"op": "Nonsense", "name": "lost", "inputs": {"x": "x"}}]
        graph = {"format": "qdq/1", "inputs": [value("x")], "nodes": nodes, "outputs": [{"name": "y", "value": "b"}]}
        (self.folder / "broken.json").write_text(json.dumps(graph))
        self.page("check", "broken")
        self.browser.click("#worst")
        self.assertIn("it needs its own result", self.text("#details"))
        self.browser.type("#search", "lost<Enter>")
        self.assertIn("could not be read", self.text("#details"))
        self.assertNotIn("undefined", self.text("body"))

    def test_nothing_is_loaded(self):
        self.page("check", "large", "--target", "all")
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').map((e) => e.name)"), [])


def contrast(a, b):
    """The contrast of two colours like rgb(1, 2, 3)."""
    def luminance(colour):
        parts = [int(one) / 255 for one in re.findall(r"\d+", colour)[:3]]
        linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
        return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear))

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


class Dark(unittest.TestCase):
    def test_the_page_is_dark_where_the_system_is(self):
        graph = small_graph()
        with tempfile.TemporaryDirectory(prefix="qdq-html-") as name:
            folder = Path(name)
            (folder / "small.json").write_text(json.dumps(graph))
            subprocess.run([QDQ, "check", "small.json", "--html", "page.html"], cwd=folder, capture_output=True)
            light = {}
            for dark in (False, True):
                one = browser.Browser(dark=dark)
                try:
                    one.open(folder / "page.html")
                    colour = one.run("return getComputedStyle(document.body).backgroundColor")
                finally:
                    one.close()
                light[dark] = sum(map(int, colour[4:-1].split(",")))
            self.assertGreater(light[False], 3 * 200)
            self.assertLess(light[True], 3 * 60)

    def test_charts_are_seen_on_their_background(self):
        """The contrast of lines and bars is at least 3, of text 4.5, as WCAG has it."""
        with tempfile.TemporaryDirectory(prefix="qdq-html-") as name:
            path, _ = uneven_page(Path(name))
            for dark in (False, True):
                one = browser.Browser(dark=dark)
                try:
                    one.open(path)
                    look = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
                    back = one.run(look, "#noise .chart", "backgroundColor")
                    for selector, part, least in (("#noise .steps", "stroke", 3), ("#noise .side1", "fill", 3),
                                                  ("#noise .far-channel", "fill", 3), ("#noise .curve text", "fill", 4.5)):  # fmt: skip
                        self.assertGreaterEqual(contrast(one.run(look, selector, part), back), least, (dark, selector))
                finally:
                    one.close()


def main():
    global QDQ
    lacking = browser.missing()
    if lacking:
        print(f"skipped: {' and '.join(lacking)} are missing; on Debian: apt-get install chromium chromium-driver")
        return SKIPPED
    QDQ = str(Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
