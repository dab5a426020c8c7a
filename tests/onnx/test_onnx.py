# SPDX-License-Identifier: Apache-2.0
"""Runs the ONNX models of this folder with qdq and compares with the results that generate.py recorded, and tests the
command line with models: shapes, refusals, broken files.

    test_onnx.py QDQ_BINARY
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MODELS = Path(__file__).resolve().parent / "models"
# Floats whose order of sums, or polynomial, is not ONNX Runtime's; all others are equal in every bit.
NEAR = {"convolutions": 2e-7, "elementwise": 1e-6, "functions_of_elements": 4e-6, "slices": 2e-6,
        "norms": 4e-6, "recurrent": 2e-6, "microsoft": 4e-6, "opset7": 1e-6, "attention": 2e-6}
QDQ = None


def qdq(*words, folder=MODELS):
    command = [QDQ, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=60)


class Results(unittest.TestCase):
    def test_every_model_gives_the_recorded_results(self):
        names = [p.stem for p in sorted(MODELS.glob("*.onnx")) if p.stem not in ("refused", "names", "growing", "until", "cycle", "forbidden_names")]
        self.assertGreater(len(names), 10)
        for name in names:
            with self.subTest(name):
                words = ["run", f"{name}.onnx", "-e", f"{name}.out.safetensors", "--tolerance", NEAR.get(name, 0)]
                if (MODELS / f"{name}.in.safetensors").exists():
                    words += ["-i", f"{name}.in.safetensors"]
                done = qdq(*words)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_float_ops_equal_onnx_runtime_in_every_bit_however_they_run(self):
        for name in ("float_ops", "float_products"):
            for words in (["--isa", "portable"], ["--isa", "avx2"], ["--tiled"], ["--materialize"], ["--threads", 2]):
                with self.subTest(name, words=words):
                    done = qdq("run", f"{name}.onnx", "-i", f"{name}.in.safetensors", "-e", f"{name}.out.safetensors", *words)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_model_on_standard_input_is_read(self):
        data = (MODELS / "constants.onnx").read_bytes()
        done = subprocess.run([QDQ, "check", "-"], input=data, capture_output=True, check=False)
        self.assertEqual(done.stdout.decode().splitlines()[-1], "- for onnx: 0 errors, 0 warnings")

    def test_every_command_takes_a_model(self):
        for words in (["check"], ["plan"], ["run", "--fill", 1], ["bench", "--repeat", 2],
                      ["compare", "--fill", 1, "--targets", "core,onnx"]):  # fmt: skip
            done = qdq(*words, "quantized.onnx")
            self.assertEqual(done.returncode, 0, (words, done.stdout, done.stderr))

    def test_a_renamed_input_has_a_legal_name(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "a.npy"
            done = qdq("run", "names.onnx", "--fill", "1", "--keep", "all", "-o", f"a_b={path}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(path.exists())


class Names(unittest.TestCase):
    OPEN = ["--dim", "n=3"]

    def test_a_graph_has_legal_names_and_no_two_are_the_same(self):
        done = qdq("run", "forbidden_names.onnx", *self.OPEN, "--fill", "1")
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()[::2]], ["out_", "a_~2", "where"], done.stderr)

    def test_options_take_the_names_of_the_model_and_of_the_graph(self):
        rows = [("in\t", "in\n", "out\t", "a\t"), ("in_", "in_~1", "out_", "a_~2")]
        for first, second, out, other in rows:
            with self.subTest(first), tempfile.TemporaryDirectory() as name:
                tensors, path = "forbidden_names.in.safetensors", Path(name) / "y.npy"
                done = qdq("run", "forbidden_names.onnx", "-i", f"{first}={tensors}#in\t", "-i", f"{second}={tensors}#in\n",
                           "-o", f"{out}={path}", "-e", f"{other}=forbidden_names.out.safetensors#a\t",
                           "-e", f"{out}=forbidden_names.out.safetensors#out\t", "-e", "forbidden_names.out.safetensors")  # fmt: skip
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertTrue(path.exists())
                done = qdq("check", "forbidden_names.onnx", "--shape", f"{first}=3", "--until", out)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = qdq("run", "forbidden_names.onnx", "-i", "forbidden_names.in.safetensors", "-e", "forbidden_names.out.safetensors")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_messages_name_the_original(self):
        done = qdq("check", "forbidden_names.onnx", "--dim", "n=3", "--target", "onednn")
        self.assertIn("node 'a_~2' (in the file: 'a?'): Cast: x is int64", done.stdout)

    def test_a_converted_graph_keeps_the_names_of_the_model(self):
        with tempfile.TemporaryDirectory() as name:
            out, again = Path(name) / "a.json", Path(name) / "b.json"
            self.assertEqual(qdq("convert", "forbidden_names.onnx", *self.OPEN, "-o", out).returncode, 0)
            self.assertEqual(json.loads(out.read_text())["originals"], {
                "values": {"in_": "in\t", "in_~1": "in\n", "out_": "out\t", "most.indices": "where", "a_~2": "a\t"},
                "outputs": {"out_": "out\t", "a_~2": "a\t"}, "nodes": {"a_": "node\t1", "most": "top"}})  # fmt: skip
            self.assertEqual(qdq("convert", out, "-o", again).returncode, 0)
            self.assertEqual(out.read_text(), again.read_text())
            done = qdq("run", out, "-i", "forbidden_names.in.safetensors", "-e", "out\t=forbidden_names.out.safetensors#out\t")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_original_names_must_be_names_of_something(self):
        for originals, wanted in (
            ({"values": {"z": "Z"}}, "originals.values: the graph has no 'z'"), ({"nodes": {"x": "X"}}, "originals.nodes: the graph has no 'x'"),
            ({"outputs": {"y": 1}}, "originals.outputs.y is a number, wanted a string"), ({"inputs": {}}, "originals: key 'inputs' is unknown"),
        ):  # fmt: skip
            graph = {"format": "qdq/1", "inputs": [{"name": "x", "dtype": "float32", "shape": [2]}],
                     "outputs": [{"name": "y", "value": "x"}], "originals": originals}  # fmt: skip
            with tempfile.TemporaryDirectory() as name:
                path = Path(name) / "g.json"
                path.write_text(json.dumps(graph))
                done = qdq("check", path)
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn(wanted, done.stderr)


class Order(unittest.TestCase):
    def test_nodes_may_end_where_a_model_that_is_not_sorted_ends(self):
        done = qdq("check", "unsorted.onnx", "--until", "middle")
        self.assertEqual((done.returncode, done.stdout), (0, "unsorted.onnx for onnx: 0 errors, 0 warnings\n"))

    def test_a_cycle_is_refused_by_the_names_of_its_nodes(self):
        done = qdq("check", "cycle.onnx")
        self.assertEqual(done.returncode, 1)
        self.assertIn("node 'first': it needs its own result: 'first' <- 'second' <- 'first'", done.stdout)
        self.assertIn("1 error,", done.stdout)


class Convert(unittest.TestCase):
    def test_a_converted_model_gives_the_same_results(self):
        for name in ("external", "quantized", "integer_products", "functions", "branches"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "out.json"
                done = qdq("convert", f"{name}.onnx", "-o", out)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                done = qdq("run", out, "-i", f"{name}.in.safetensors", "-e", f"{name}.out.safetensors")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_refused_model_is_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.json"
            done = qdq("convert", "refused.onnx", "-o", out)
            self.assertEqual(done.returncode, 4)
            self.assertIn("node 'nz': NonZero: makes a shape that depends on values", done.stderr)
            self.assertEqual(list(Path(folder).iterdir()), [])
        self.assertEqual(qdq("convert", "quantized.onnx").returncode, 2)


class Shapes(unittest.TestCase):
    def test_open_dims_are_one_error_that_lists_them(self):
        done = qdq("check", "shapes.onnx")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "qdq: shapes.onnx: dims of inputs are open: 'x' is [rows, columns]; give sizes with "
                                      "--dim NAME=N or --shape INPUT=N,N,..., or inputs with -i\n")  # fmt: skip

    def test_dims_are_given_by_name_or_by_shape(self):
        for words in (["--dim", "rows=4", "--dim", "columns=5"], ["--shape", "x=4,5"]):
            done = qdq("check", "shapes.onnx", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_wrong_shapes_are_usage_errors(self):
        for words, wanted in (
            (["--shape", "x=4"], "input 'x' has 2 dims, and the given shape 1"),
            (["--shape", "z=4,5"], "a shape is given for 'z', which is no input of the model"),
            (["--dim", "batch=1"], "a size is given for dim 'batch', which no input of the model has"),
            (["--dim", "rows=3", "--shape", "x=4,5"], "dim 'rows' is 3, and 4 in the shape given for 'x'"),
            (["--shape", "x=0,1"], "--shape is 'x=0,1', wanted NAME=1,3,8,8 with at most 8 dims"),
            (["--dim", "rows"], "--dim is 'rows', wanted NAME=8"),
        ):
            done = qdq("check", "shapes.onnx", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(wanted, done.stderr)
        done = qdq("check", "quantized.onnx", "--shape", "x=1,2,9,8")
        self.assertIn("input 'x': dim 3 is 9 in the model, and 8 in the given shape", done.stderr)


class Refusals(unittest.TestCase):
    def test_all_that_is_refused_is_listed_at_once(self):
        done = qdq("check", "refused.onnx")
        self.assertEqual(done.returncode, 1)
        for words in (
            "input 'text': is string",
            "node 'nz': NonZero: makes a shape that depends on values",
            "it is 'where' in the model",
            "node 'foo': Foo of own: is not read",
            "node 'y': If: has a condition that depends on inputs",
            "node 'lo': Loop: body is a graph",
            "node 'seq': SequenceEmpty: is not read",
            "node 'w': Add: reads 'words', which is string",
            "node 'v': Mul: reads 'wide', which is complex64",
            "node 'wm': Cast: reads 'where_max', which is output 1 of MaxPool and is not computed",
            "node 'cut': Slice: starts are 'at', which depends on inputs",
            "node 's1': Split: split is 2 for output 1, wanted 1, the rest of dim 0",
            "node 'often': Tile: repeats are 'at', which depends on inputs",
        ):
            self.assertIn(words, done.stdout)
        self.assertEqual(qdq("run", "refused.onnx", "--fill", "1").returncode, 4)


class Until(unittest.TestCase):
    def test_a_model_ends_at_a_node_or_at_the_node_that_makes_a_value(self):
        with tempfile.TemporaryDirectory() as name:
            for end in ("a_node", "middle"):
                out = Path(name) / f"{end}.npy"
                done = qdq("run", "until.onnx", "--until", end, "-i", "x=until.in.safetensors#x", "-o", f"middle={out}",
                           "-e", "until.out.safetensors")  # fmt: skip
                self.assertEqual((done.returncode, done.stdout), (0, "middle: all 4 elements equal\n"), done.stderr)

    def test_the_refusal_of_an_open_shape_names_the_value_before_it(self):
        done = qdq("check", "until.onnx", "--dim", "n=1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("node 'places': NonZero: makes a shape that depends on values, wanted fixed shapes; it is 'find' in "
                      "the model; --until 'middle' ends the model at what it reads [core/op-unsupported]", done.stdout)  # fmt: skip

    def test_the_end_must_be_in_an_onnx_model(self):
        done = qdq("check", "until.onnx", "--until", "nowhere", "--dim", "n=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the model is to end at 'nowhere', which is no node and no result of one", done.stderr)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "g.json"
            path.write_text('{"format": "qdq/1", "nodes": [], "outputs": []}')
            done = qdq("check", path, "--until", "y")
            self.assertEqual(done.returncode, 2)
            self.assertIn("only an ONNX model can end at 'y'", done.stderr)


class Hostile(unittest.TestCase):
    def test_no_file_outside_of_the_folder_is_read(self):
        data = (MODELS / "external.onnx").read_bytes()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "in").mkdir()
            (folder / "external.bin").write_bytes((MODELS / "external.bin").read_bytes())
            (folder / "in" / "link.binary.").symlink_to(folder / "external.bin")
            for path in (b"/etc/passwd ", b"../external.", b"link.binary."):
                self.assertEqual(len(path), 12)
                (folder / "in" / "m.onnx").write_bytes(data.replace(b"external.bin", path))
                done = qdq("check", "m.onnx", folder=folder / "in")
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertIn("tensor 'w': file '", done.stderr)

    def test_functions_that_grow_without_end_reach_a_limit(self):
        done = qdq("check", "growing.onnx", "--max-values", "100000")
        self.assertEqual(done.returncode, 5)
        self.assertIn("the model has more than 25000 nodes with functions inlined", done.stderr)

    def test_a_branch_without_its_result_is_refused(self):
        head, _, tail = (MODELS / "branches.onnx").read_bytes().rpartition(b"then_y")
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "m.onnx"
            path.write_bytes(head + b"then_z" + tail)
            done = qdq("check", path)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("If: has the result 'then_z', wanted a value that the function or branch makes", done.stdout)

    def test_a_cut_file_is_no_model(self):
        data = (MODELS / "quantized.onnx").read_bytes()
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "m.onnx"
            for length in range(3, len(data), 7):
                path.write_bytes(data[:length])
                self.assertIn(qdq("check", path).returncode, (0, 1, 3))

    def test_external_data_beyond_its_file_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "m.onnx").write_bytes((MODELS / "external.onnx").read_bytes())
            (folder / "external.bin").write_bytes(b"\0" * 100)
            done = qdq("check", "m.onnx", folder=folder)
            self.assertEqual(done.returncode, 3)
            self.assertIn("tensor 'w' lies beyond the end of its file", done.stderr)


if __name__ == "__main__":
    QDQ = Path(sys.argv.pop(1)).resolve()
    unittest.main()
