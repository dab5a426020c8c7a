# SPDX-License-Identifier: Apache-2.0
"""What a graph and a plan list, and the forms in which they are loaded and written.

    test_contents.py SOURCE_DIR
"""

import base64
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import weakref
from pathlib import Path

import numpy as np
import qdq

ROOT = Path(sys.argv.pop(1)).resolve()


def built():
    b = qdq.Builder("net")
    x = b.input("x", "float32", (4, 8))
    code = b.quantize(x, scales=0.5, zps=3, dtype="int8", name="code")
    real = b.dequantize(code, scales=0.5, zps=3, dtype="float32", name="real")
    both = b.concat([real, np.arange(8, dtype=np.float32).reshape(1, 8)], axis=0, name="both")
    b.output("y", both)
    b.output("codes", code)
    return b.build()


class Contents(unittest.TestCase):
    def test_values_have_types_and_kinds(self):
        g = built()
        self.assertEqual(g.inputs, [("x", "float32", (4, 8), "input")])
        self.assertEqual(g.outputs, [("y", "float32", (5, 8), "node"), ("codes", "int8", (4, 8), "node")])
        kinds = {value.name: value.kind for value in g.values}
        self.assertEqual(kinds, {"x": "input", "code": "node", "real": "node", "constant": "constant", "both": "node"})

    def test_nodes_name_the_values_at_their_ports(self):
        nodes = built().nodes
        self.assertEqual([(n.name, n.op) for n in nodes], [("code", "Quantize"), ("real", "Dequantize"), ("both", "Concat")])
        self.assertEqual(nodes[0].inputs, {"x": "x"})
        self.assertEqual(nodes[0].attrs, {"scales": 0.5, "zps": 3, "dtype": "int8"})
        self.assertEqual(nodes[2].inputs, {"xs[0]": "real", "xs[1]": "constant"})
        self.assertEqual(nodes[2].outputs, ["both"])

    def test_constants_are_arrays_that_outlive_the_graph(self):
        constants = built().initializers
        self.assertEqual(list(constants), ["constant"])
        found = constants["constant"]
        del constants
        gc.collect()
        np.testing.assert_array_equal(found, np.arange(8, dtype=np.float32).reshape(1, 8))
        with self.assertRaises(ValueError):
            found[0, 0] = 1

    def test_a_constant_that_is_not_there_is_a_key_error(self):
        with self.assertRaises(KeyError):
            built().initializers["x"]

    def test_constants_of_narrow_dtypes_have_an_element_a_byte(self):
        b = qdq.Builder()
        w = b.constant(np.int8([-8, 7, 0]), dtype="int4", name="w")
        b.output("y", b.dequantize(w, scales=1, dtype="float32"))
        found = b.build().initializers["w"]
        self.assertEqual((found.dtype, found.tolist()), (np.int8, [-8, 7, 0]))

    def test_constants_of_a_file_are_read_when_they_are_looked_up(self):
        g = qdq.load(ROOT / "models/digits/int8.json")
        names = set(g.initializers)
        self.assertIn("conv1.weights", {name.rpartition(".code")[0] or name for name in names} | names)
        for name, array in g.initializers.items():
            info = next(value for value in g.values if value.name == name)
            self.assertEqual((info.kind, info.shape), ("constant", array.shape))

    def test_a_file_that_is_gone_is_named(self):
        b = qdq.Builder()
        b.output("y", b.add(b.input("x", "float32", (5000,)), np.ones(5000, np.float32)))
        with tempfile.TemporaryDirectory() as folder:
            b.build().write(Path(folder) / "g.json")
            g = qdq.load(Path(folder) / "g.json")
            data = next(path for path in Path(folder).iterdir() if path.suffix != ".json")
            with data.open("r+b") as file:
                file.truncate(64)
            with self.assertRaisesRegex(qdq.FileError, "load the graph again"):
                g.initializers[next(iter(g.initializers))]

    def test_a_whole_graph_is_one_file(self):
        b, weights = qdq.Builder(), np.arange(5000, dtype=np.float32)
        weights[0] = np.array([0x7FC12345], np.uint32).view(np.float32)[0]  # a NaN keeps its bits
        b.output("y", b.add(b.input("x", "float32", (5000,)), weights))
        with tempfile.TemporaryDirectory() as folder:
            b.build().write(Path(folder) / "g.json", whole=True)
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["g.json"])
            text = (Path(folder) / "g.json").read_bytes()
        (constant,) = json.loads(text)["constants"]
        self.assertEqual(base64.b64decode(constant["base64"], validate=True), weights.tobytes())
        (array,) = qdq.load(text).initializers.values()
        self.assertEqual(array.tobytes(), weights.tobytes())

    def test_names_are_those_of_the_file(self):
        g = qdq.parse('{"format": "qdq/1", "inputs": [{"name": "x", "dtype": "float32", "shape": []}], "nodes": '
                      '[{"op": "Abs", "name": "n", "inputs": {"x": "x"}}], "outputs": [{"name": "y", "value": "n"}]}')
        self.assertEqual(g.nodes[0].outputs, ["n"])

    def test_a_closed_graph_says_so(self):
        g = built()
        g.close()
        with self.assertRaisesRegex(qdq.ArgumentError, "closed"):
            g.nodes


class Plans(unittest.TestCase):
    def test_devices_have_the_numbers_of_their_table(self):
        text = (ROOT / "docs/device_memory.md").read_text(encoding="utf-8").split("## 1. Devices")[1]
        table = {cells[1]: cells[2:] for cells in (row.strip("|").split(" | ") for row in text.splitlines()[4:13])
                 for cells in [["", *(cell.strip() for cell in cells)]]}  # fmt: skip
        found = qdq.devices()
        self.assertEqual([one.name for one in found], ["n150", "n300", "p100", "p150"])
        grids = [f"{one.grid_x} x {one.grid_y}" for one in found]
        self.assertEqual(grids, table.pop("grid_x x grid_y, an L1 bank each"))
        for name, cells in table.items():
            with self.subTest(name):
                self.assertEqual([str(getattr(one, name)) for one in found], [cell.replace(",", "") for cell in cells])
        self.assertEqual(len(table), 8)
        for one in found:
            self.assertEqual(built().compile(device=one.name).pages("x")[0].address, one.dram_base)

    def test_steps_say_what_they_run_and_move(self):
        steps = built().compile(layout="rows").steps
        self.assertIn("Quantize code", steps[0].text)
        self.assertEqual((steps[0].kind, steps[0].reads, steps[0].writes), ("blocks", "row-major", "row-major"))
        self.assertEqual(steps[0].read_bytes, 4 * 8 * 4)
        self.assertGreater(sum(step.operations for step in steps), 0)

    def test_text_and_json_are_those_of_the_tool(self):
        g = built()
        plan = g.compile()
        self.assertIn("Quantize code", plan.text())
        found = plan.json()
        self.assertEqual(found["graph"], "net")
        self.assertEqual(len(found["steps"]), len(plan.steps))
        self.assertEqual([one["name"] for one in found["values"]], [one.name for one in plan.buffers()])

    def test_a_plan_without_its_graph_has_no_text(self):
        plan = built().compile()
        gc.collect()
        with self.assertRaisesRegex(qdq.ArgumentError, "keep the graph"):
            plan.text()


class Cells(unittest.TestCase):
    def test_a_graph_is_a_table_of_nodes(self):
        cell = built()._repr_html_()
        self.assertEqual(cell.count("<tr>"), 4)
        self.assertIn("<td>real</td><td>Dequantize</td>", cell)

    def test_names_of_files_are_no_markup(self):
        b = qdq.Builder("<b>")
        b.output("y", b.relu(b.input("x", "float32", (2,))))
        self.assertNotIn("<b>", b.build()._repr_html_())

    def test_pages_are_returned_and_written(self):
        g, data = built(), np.zeros((4, 8), np.float32)
        got = g.run(x=data)
        got["codes"] = got["codes"] + np.int8(1)
        found = g.explain(x=data, got=got)
        with tempfile.TemporaryDirectory() as folder:
            for one in (g.check("all"), g.compile(), g.compare(["core", "onnx"], x=data), found):
                path = Path(folder) / "page.html"
                page = one.html(path)
                self.assertIn("<html", page)
                self.assertEqual(path.read_text(encoding="utf-8"), page)
        self.assertIn("<pre>", found._repr_html_())
        self.assertIn('"net.json"', found.html())
        pair = qdq.bisect(g, g, x=data).html()
        self.assertIn("net.2.json", pair)
        self.assertNotIn("/qdq-", found.html() + pair)
        again = pickle.loads(pickle.dumps(found))
        self.assertEqual(again, found)
        with self.assertRaisesRegex(qdq.ArgumentError, "explain again"):
            again.html()


class Interrupts(unittest.TestCase):
    def interrupt(self, function):
        """Presses Ctrl-C while a function is in a call of the library. Returns the seconds until the caller went on, and
        the threads in which the call goes on: none if Ctrl-C waited for its end."""
        # A job in the background of a shell ignores Ctrl-C.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        before = threading.enumerate()
        pressed = []

        def press():
            while threading.active_count() == len(before) + 1:
                time.sleep(0.001)
            time.sleep(0.01)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        other = threading.Thread(target=press, daemon=True)
        other.start()
        with self.assertRaises(KeyboardInterrupt):
            function()
        waited = time.monotonic() - pressed[0]
        return waited, [one for one in threading.enumerate() if one not in before and one is not other and one.is_alive()]

    def left(self, function):
        """The same, but fails if Ctrl-C waited for the end of the call."""
        waited, threads = self.interrupt(function)
        self.assertEqual(len(threads), 1)
        return waited, threads[0]

    def interrupted(self):
        """Returns a plan whose run was left by Ctrl-C and goes on, its inputs, and the seconds that the caller waited."""
        b = qdq.Builder()
        x = b.input("x", "float32", (1024, 1024))
        y = x
        for _ in range(4):
            y = b.matmul(y, x)
        b.output("y", y)
        plan, data = b.build().compile(), np.zeros((1024, 1024), np.float32)
        return plan, data, self.interrupt(lambda: plan.run(x=data))[0]

    def test_ctrl_c_leaves_a_load(self):
        """A text with much white space takes a second, from memory or from a file."""
        text = b'{"format": "qdq/1",' + b" " * 60_000_000 + b'"outputs": []}'
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "graph.json")
            path.write_bytes(text)
            for given in text, path:
                with self.subTest(type(given)):
                    _, thread = self.left(lambda given=given: qdq.load(given))
                    thread.join()

    def test_ctrl_c_leaves_a_compile_and_the_graph_stays_usable(self):
        b = qdq.Builder()
        x = b.input("x", "float32", (4, 1024))
        w = b.constant(np.ones((1024, 1024), np.int8))
        for i in range(40):
            x = b.matmul(x, b.dequantize(w, scales=2.0**-i, dtype="float32"))
        b.output("y", x)
        graph = b.build()
        self.left(graph.compile)
        self.assertTrue(graph.check().ok)
        self.assertEqual(graph.compile().outputs[0].name, "y")
        _, thread = self.left(graph.compile)
        del graph
        thread.join()

    def test_ctrl_c_ends_the_tool_that_does_not_heed_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tool")
            path.write_text("#!/bin/sh\ntrap '' INT\necho $$ >$1\nexec sleep 60\n")
            path.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, {"QDQ_TOOL": str(path)}):
                waited, _ = self.interrupt(lambda: qdq._tool.run(Path(folder, "number")))
            self.assertLess(waited, 30)

    def test_a_failure_of_a_load_is_raised_with_its_place(self):
        with self.assertRaisesRegex(qdq.ParseError, "wanted a value; a graph is JSON, an ONNX or a TensorFlow Lite model"):
            qdq.load(b"root:x")

    def test_ctrl_c_ends_the_wait_for_a_long_run(self):
        """The run takes several times as long as the wait; afterwards the plan runs again."""
        plan, data, waited = self.interrupted()
        started = time.monotonic()
        self.assertEqual(plan.run(x=data)["y"].max(), 0)
        self.assertLess(waited, time.monotonic() - started)

    def test_a_run_that_ctrl_c_left_keeps_its_plan(self):
        before = set(threading.enumerate())
        plan, _, _ = self.interrupted()
        left = [one for one in threading.enumerate() if one not in before and one.daemon]
        owner = weakref.ref(plan._owner)
        del plan
        gc.collect()
        kept = owner() is not None
        self.assertTrue(kept or not any(one.is_alive() for one in left))
        for one in left:
            one.join()
        self.assertIsNone(owner())


class Command(unittest.TestCase):
    def test_a_closed_pipe_ends_the_command_without_a_word(self):
        command = subprocess.Popen([sys.executable, "-m", "qdq", "ops", "--schema"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        command.stdout.close()
        self.assertEqual(command.stderr.read(), b"")
        command.stderr.close()
        self.assertEqual(command.wait(), -signal.SIGPIPE)


class Files(unittest.TestCase):
    def test_the_content_of_a_file_is_loaded(self):
        content = (ROOT / "tests/onnx/models/quantized.onnx").read_bytes()
        self.assertEqual(qdq.load(content).nodes, qdq.load(ROOT / "tests/onnx/models/quantized.onnx").nodes)
        self.assertEqual(qdq.load(memoryview(content)).target, "onnx")

    def test_a_graph_is_written_as_c(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.c"
            built().write_c(path)
            self.assertIn("void net_run(", path.read_text(encoding="utf-8"))

    def test_wrong_types_are_named(self):
        for call, sentence in [
            (lambda: qdq.load(3), "int"),
            (lambda: qdq.from_torch(3), "program is an int, wanted a torch.export.ExportedProgram"),
            (lambda: built().run(3), "inputs is an int, wanted a dict"),
            (lambda: built().run(["x"]), "inputs is a list, wanted a dict"),
            (lambda: built().check(3), "target is an int, wanted a name"),
            (lambda: built().compile(threads="two"), "threads is a str, wanted a number"),
            (lambda: built().compile(values=3), "values is an int, wanted 'all' or a list of names"),
            (lambda: built().compile(values=[3]), "an entry of values is an int, wanted a name"),
            (lambda: built().compare("onnx"), "targets is a str, wanted a list of two or more"),
            (lambda: qdq.load("graph.json", dims=["batch"]), "dims is a list, wanted a dict"),
            (lambda: qdq.load("graph.json", shapes={"x": 3}), "the shape of 'x' is an int, wanted a list of sizes"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(TypeError, sentence):
                call()


if __name__ == "__main__":
    unittest.main()
