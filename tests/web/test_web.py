#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of web/: its tool gives the bytes of the native one, and a permalink shows them in a browser.

    test_web.py PAGE_FOLDER QDQ_BINARY [unittest's own arguments]

PAGE_FOLDER is what web/build has written. All models of models/ run under node. Tests in a headless Chromium are
skipped where there is none.
"""

import functools
import http.server
import json
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "html"), str(HERE.parent / "cli")]
import browser  # noqa: E402
import tflite_file  # noqa: E402

MODELS = HERE.parents[1] / "models"
PAGE = QDQ = None


def native(words, folder):
    done = subprocess.run([QDQ, *words], cwd=folder, capture_output=True)
    return {"code": done.returncode, "out": done.stdout.decode(), "err": done.stderr.decode()}


def model_words(name):
    """The graph of a model and its inputs, relative to the folder that has them all."""
    inputs = f"{name}/inputs.safetensors"
    return [f"{name}/graph.json"], ["-i", inputs] if (MODELS / inputs).exists() else ["--fill", "1"]


class Node(unittest.TestCase):
    """The tool under node and the native one, in two folders with the same files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qdq-web-")
        self.addCleanup(folder.cleanup)
        self.folders = [Path(folder.name) / name for name in ("page", "native")]
        for one in self.folders:
            subprocess.run(["cp", "-r", MODELS, one], check=True)
        self.node = subprocess.Popen(["node", HERE / "calls.js", PAGE], cwd=self.folders[0], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end)

    def end(self):
        self.node.stdin.close()
        self.node.stdout.close()
        self.assertEqual(self.node.wait(), 0)

    def compare(self, *words, out=None):
        """Runs words as both. Codes, messages, what is printed and the file `out` must be equal."""
        self.node.stdin.write(json.dumps(words) + "\n")
        self.node.stdin.flush()
        page = json.loads(self.node.stdout.readline())
        self.assertEqual(page, native(words, self.folders[1]), words)
        if out and page["code"] == 0:
            self.assertEqual(*[(folder / out).read_bytes() for folder in self.folders], words)
        return page

    def test_all_models_give_the_same_bytes(self):
        names = sorted(path.parent.name for path in MODELS.glob("*/graph.json"))
        self.assertGreater(len(names), 50)
        for name in names:
            graph, inputs = model_words(name)
            self.assertEqual(self.compare("run", *graph, *inputs, "-o", "y.safetensors", out="y.safetensors")["code"], 0)
            self.compare("check", *graph, "--target", "all", "--json")

    def test_comparisons_and_links_are_the_same(self):
        for name in ("tripy_per_channel_fractions", "chain_mixed", "ttnn_device_stages", "attention"):
            graph, inputs = model_words(name)
            self.compare("compare", *graph, *inputs, "--targets", "onnx,onednn,torchao,ttnn", "--html", "a.html", out="a.html")
            link = self.compare("link", *graph, *inputs)["out"].strip()
            self.compare("open", link, "-o", "opened.json", "--json", out="opened.json")


class Server:
    """Serves the page and `more`, a folder, below /more."""

    def __init__(self, more):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                if path.startswith("/more/"):
                    return str(more / Path(path).name)
                return super().translate_path(path)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=PAGE))
        self.at = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@unittest.skipIf(browser.missing(), "no chromium and chromedriver here")
class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qdq-web-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.server = Server(self.folder)
        self.addCleanup(self.close_server)
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)

    def close_server(self):
        if self.server:
            self.server.close()
        self.server = None

    def go(self, address):
        self.browser.call("POST", "/url", {"url": "about:blank"})
        self.browser.call("POST", "/url", {"url": address})

    def wait(self, begins):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            status = self.browser.run("return document.getElementById('status').textContent")
            if status.startswith(begins):
                return status
            time.sleep(0.05)
        self.fail(f"the page says '{status}', wanted '{begins}...': {self.text('messages')}")

    def text(self, name):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", name)

    def link(self, name, *words):
        graph, inputs = model_words(name)
        made = native(["link", *graph, *(words or inputs), "--base", self.server.at], MODELS)
        self.assertEqual(made["code"], 0, made)
        return made["out"].strip()

    def outputs(self):
        """The bytes of outputs.safetensors that the page offers."""
        script = """const done = arguments[0], link = document.querySelector('#written a[download="outputs.safetensors"]');
            fetch(link.href).then((answer) => answer.arrayBuffer()).then((bytes) => done([...new Uint8Array(bytes)]))"""
        return bytes(self.browser.call("POST", "/execute/async", {"script": script, "args": []}))

    def expect_run(self, name):
        graph, inputs = model_words(name)
        wanted = native(["run", *graph, *inputs], MODELS)
        self.wait("exit code 0")
        self.assertEqual(self.text("output"), wanted["out"])
        native(["run", *graph, *inputs, "-o", str(self.folder / "y.safetensors")], MODELS)
        self.assertEqual(self.outputs(), (self.folder / "y.safetensors").read_bytes())

    def test_a_link_shows_the_bits_of_a_native_run(self):
        for name in ("tripy_per_channel_fractions", "ttnn_device_quantize_blackhole", "chain_mixed"):
            self.go(self.link(name))
            self.expect_run(name)
        self.assertEqual(self.browser.console(), [])

    def test_a_comparison_shows_its_report(self):
        name = "tripy_per_channel_fractions"
        graph, inputs = model_words(name)
        self.go(self.link(name, *inputs, "--targets", "onnx,torchao,ttnn"))
        self.wait("exit code")
        wanted = native(["compare", *graph, *inputs, "--targets", "onnx,torchao,ttnn"], MODELS)
        self.assertEqual(self.text("output"), wanted["out"].replace(graph[0], "graph.json"))
        frame = {"id": {browser.ELEMENT: self.browser.find("#report iframe")}}
        self.browser.call("POST", "/frame", frame)
        end = time.monotonic() + 20
        while time.monotonic() < end and not self.browser.run("return document.querySelector('svg') !== null"):
            time.sleep(0.05)
        self.assertIn("torchao", self.browser.run("return document.body.textContent"))
        with self.assertRaises(AssertionError):
            self.browser.run("return parent.document.title")
        self.browser.call("POST", "/frame", {"id": None})
        self.assertEqual(self.browser.console(), [])

    def test_the_page_makes_the_link_of_the_command(self):
        names = ("graph.json", "constants.safetensors")
        for name in names:
            (self.folder / name).write_bytes((MODELS / "chain_mixed" / name).read_bytes())
        self.go(self.server.at + "?" + "&".join(f"url=more/{name}" for name in names))
        self.wait("ready")
        self.browser.run("document.getElementById('command').value = 'run';"
                         "document.getElementById('form').dispatchEvent(new Event('change'))")
        self.browser.click("#link")
        self.wait("a link of")
        self.assertEqual(self.text("output"), self.link("chain_mixed", "--fill", "1"))

    def test_a_model_of_tensorflow_lite_is_a_graph(self):
        content = tflite_file.model([tflite_file.Tensor("x", "float32", [5]), tflite_file.Tensor("q", "uint8", [5], scale=0.25, zero_point=100)],
                                    [tflite_file.Op("QUANTIZE", ["x"], ["q"])], ["x"], ["q"])  # fmt: skip
        (self.folder / "m.tflite").write_bytes(content)
        self.go(self.server.at + "?url=more/m.tflite")
        self.wait("ready")
        self.browser.run("document.getElementById('command').value = 'run';"
                         "document.getElementById('form').dispatchEvent(new Event('change'))")
        self.browser.click("#run")
        self.wait("exit code 0")
        self.assertEqual(self.text("output"), native(["run", "m.tflite", "--fill", "1"], self.folder)["out"])

    def test_an_explanation_has_a_link(self):
        """The results of one target, explained by another: the page's link is the tool's, and opens as it was."""
        document = {"format": "qdq/1", "inputs": [{"name": "x", "dtype": "float32", "shape": [8]}],
                    "nodes": [{"op": "Quantize", "name": "q", "inputs": {"x": "x"}, "attrs": {"scales": 0.3, "zps": 3, "dtype": "int8"}}],
                    "outputs": [{"name": "codes", "value": "q"}]}
        (self.folder / "graph.json").write_text(json.dumps(document))
        ties = struct.pack("<8f", *(0.3 * (k + 0.5) for k in range(8)))
        header = json.dumps({"x": {"dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}).encode()
        (self.folder / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + ties)
        names = ["graph.json", "got.safetensors", "x.safetensors"]
        ran = native(["run", "graph.json", "-i", "x.safetensors", "-t", "onednn", "-o", "got.safetensors"], self.folder)
        self.assertEqual(ran["code"], 0, ran)
        self.go(self.server.at + "?" + "&".join(f"url=more/{name}" for name in names))
        self.wait("ready")
        self.browser.run("""for (const [id, value] of Object.entries(arguments[0])) {
            document.getElementById(id).value = value;
            document.getElementById("form").dispatchEvent(new Event("change"));
        }""", {"command": "explain", "targets": "onnx", "got": "got.safetensors", "inputs": "x.safetensors"})
        self.browser.click("#link")
        self.wait("a link of")
        words = ["graph.json", "--target", "onnx", "--got", "got.safetensors", "-i", "x.safetensors"]
        link = native(["link", *words, "--base", self.server.at], self.folder)["out"].strip()
        self.assertEqual(self.text("output"), link)
        self.go(link)
        self.wait("exit code 1")
        wanted = native(["explain", *words], self.folder)["out"]
        self.assertIn("cause: zero-point order at node", wanted)
        shown, found = (text.partition("reproduce:")[0] for text in (self.text("output"), wanted))
        self.assertEqual(shown, found)
        self.assertEqual(self.browser.console(), [])

    def test_it_works_without_a_network(self):
        name = "tripy_per_channel_fractions"
        link = self.link(name)
        self.go(self.server.at)
        self.wait("drop a model")
        self.browser.call("POST", "/execute/async", {
            "script": "const done = arguments[0]; navigator.serviceWorker.ready.then(() => done(0))", "args": []})
        self.close_server()
        self.go(link)
        self.expect_run(name)

    def test_a_hostile_link_is_one_sentence(self):
        self.go(self.server.at + "#qdq1=" + "A" * 2000)
        self.wait("exit code 3")
        self.assertIn("the link is damaged or cut off", self.text("messages"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} PAGE_FOLDER QDQ_BINARY")
    PAGE, QDQ = str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
