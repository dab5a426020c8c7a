# SPDX-License-Identifier: Apache-2.0
"""Runs the ONNX models of this folder with qdq and compares with the results that generate.py recorded, and tests the
command line with models: shapes, refusals, broken files.

    test_onnx.py QDQ_BINARY
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MODELS = Path(__file__).resolve().parent / "models"
# Floats whose order of sums, or polynomial, is not ONNX Runtime's; all others are equal in every bit.
NEAR = {"convolutions": 2e-7, "elementwise": 1e-6, "functions_of_elements": 4e-6, "slices": 2e-6,
        "norms": 4e-6, "recurrent": 2e-6, "microsoft": 4e-6, "opset7": 1e-6, "attention": 2e-6, "fused": 2e-6, "sequences": 2e-6, "long_sequences": 2e-6}
QDQ = None


def qdq(*words, folder=MODELS):
    command = [QDQ, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=60)


def of_release(name):
    """The target of a model whose results are those of a release before the newest: QLinearSoftmax of 1.31 overflows."""
    return ["--target", "onnx@1.31"] if name == "qlinear_slices" else []


class Results(unittest.TestCase):
    def test_every_model_gives_the_recorded_results(self):
        names = [p.stem for p in sorted(MODELS.glob("*.onnx")) if p.stem not in ("refused", "names", "growing", "until", "cycle", "ended_folds", "forbidden_names", "softmax_of_floats", "division_precision", "folded_weights", "trt")]
        self.assertGreater(len(names), 10)
        for name in names:
            with self.subTest(name):
                words = ["run", f"{name}.onnx", "-e", f"{name}.out.safetensors", "--tolerance", NEAR.get(name, 0), *of_release(name)]
                if (MODELS / f"{name}.in.safetensors").exists():
                    words += ["-i", f"{name}.in.safetensors"]
                done = qdq(*words)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_float_ops_equal_their_peer_in_every_bit_however_they_run(self):
        for name in ("float_ops", "float_signs", "float_sums", "float_pools", "float_resizes", "float_instances", "float_reductions", "float_products", "float_functions", "float_logs", "float_norms", "float_softmax", "lstm_bits", "recurrent_bits", "qlinear_pairs", "qlinear_slices", "qlinear_tables"):
            for words in (["--isa", "portable"], ["--isa", "avx2"], ["--tiles"], ["--materialize"], ["--threads", 2]):
                with self.subTest(name, words=words):
                    done = qdq("run", f"{name}.onnx", "-i", f"{name}.in.safetensors", "-e", f"{name}.out.safetensors", *words,
                               *of_release(name))
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_constants_that_the_optimizer_computes_are_packed_as_the_others(self):
        words = ["run", "folded_weights.onnx", "-i", "folded_weights.in.safetensors", "-e", "folded_weights.out.safetensors", "--target"]
        for target in ("ort", "ort@1.31-avx2", "ort:level=basic"):
            self.assertEqual(qdq(*words, target).returncode, 0, target)
        for target in ("onnx", "ort:level=disabled"):
            self.assertIn("differ", qdq(*words, target).stdout)

    def close_nodes(self, name, target):
        done = qdq("check", f"{name}.onnx", "--json", "--target", target)
        nodes = json.loads(done.stdout)["bits"]["nodes"]
        return [node for node in nodes if node["op"] in ("LSTM", "GRU") and node["bits"] not in ("exact", "read")]

    def test_sizes_that_a_model_leaves_open_may_change_what_is_rewritten(self):
        for name, target, wanted in (("open_sizes", "ort", "close"), ("open_sizes", "onnx", "exact"), ("convolutions", "ort", "exact")):
            with self.subTest(name, target=target):
                done = qdq("check", f"{name}.onnx", "--json", "--target", target, *Written.GIVEN[name])
                nodes = {node["op"]: node["bits"] for node in json.loads(done.stdout)["bits"]["nodes"]}
                self.assertEqual(nodes["Convolution"], wanted)

    def test_recurrent_ops_are_known_unless_an_activation_is_of_the_c_library(self):
        for target in ("onnx", "onnx@1.31-vnni", "onnx@1.31-avx2", "ort", "ort@1.31-avx512"):
            # The weights of these two are inputs, and they have one sequence.
            self.assertEqual([node["node"] for node in self.close_nodes("recurrent_bits", target)], ["y6/xw", "y14/xw"])
            # Four steps of Elu, ScaledTanh, Softplus and, in each of two ops, HardSigmoid.
            self.assertEqual(len(self.close_nodes("sequences", target)), 4 * (3 + 3 + 2))
        self.assertGreater(len(self.close_nodes("recurrent_bits", "onnx@1.32-neon")), 700)

    def test_the_text_of_onnx_divides_in_the_precision_that_is_asked_for(self):
        name = "division_precision"
        for words in ([], ["--isa", "portable"], ["--tiles"], ["--threads", 2]):
            with self.subTest(words=words):
                done = qdq("run", f"{name}.onnx", "-i", f"{name}.in.safetensors", "-e", f"{name}.out.safetensors",
                           "--target", "onnx@spec", *words)
                self.assertEqual(done.returncode, 0, done.stdout[-300:] + done.stderr)

    def test_quantizing_ops_of_tensorrt_give_the_numbers_of_their_formulas(self):
        done = qdq("run", "trt.onnx", "-i", "trt.in.safetensors", "-e", "trt.out.safetensors", "-t", "tensorrt")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_softmax_without_avx512_equals_its_peer_in_every_bit(self):
        name = "softmax_of_floats"
        for version, same in (("avx2", True), ("avx512", False), ("vnni", False)):
            for words in ([], ["--isa", "portable"], ["--isa", "avx2"], ["--tiles"], ["--materialize"], ["--threads", 2]):
                with self.subTest(version, words=words):
                    done = qdq("run", f"{name}.onnx", "-i", f"{name}.in.safetensors", "-e", f"{name}.out.safetensors",
                               "--target", f"onnx@1.31-{version}", *words)
                    self.assertEqual(done.returncode == 0, same, done.stdout[-300:] + done.stderr)

    def test_products_without_vnni_equal_their_peer_in_every_bit(self):
        name = "products_of_codes"
        for version, same in (("avx2", True), ("avx512", True), ("vnni", False), ("neon", False), ("dot", False), ("i8mm", False)):
            for words in ([], ["--isa", "portable"], ["--isa", "avx2"], ["--threads", 2]):
                with self.subTest(version, words=words):
                    done = qdq("run", f"{name}.onnx", "-i", f"{name}.in.safetensors", "-e", f"{name}.without_vnni.safetensors",
                               "--target", f"onnx@1.31-{version}", *words)
                    self.assertEqual(done.returncode == 0, same, done.stdout + done.stderr)

    def test_a_model_on_standard_input_is_read(self):
        data = (MODELS / "constants.onnx").read_bytes()
        done = subprocess.run([QDQ, "check", "-"], input=data, capture_output=True, check=False)
        self.assertEqual(done.stdout.decode().splitlines()[-1], "- for onnx: 0 errors, 0 warnings")

    def test_every_command_takes_a_model(self):
        for words in (["check"], ["plan"], ["run", "--fill", 1], ["bench", "--repeat", 2],
                      ["compare", "--fill", 1, "--targets", "core,onnx"]):  # fmt: skip
            done = qdq(*words, "quantized.onnx")
            self.assertEqual(done.returncode, 0, (words, done.stdout, done.stderr))

    def test_what_convert_writes_has_the_fingerprint_of_the_model(self):
        seen = 0
        with tempfile.TemporaryDirectory() as name:
            for model in sorted(MODELS.glob("*.onnx")):
                wanted = qdq("fingerprint", model.name)
                if wanted.returncode:
                    continue  # refused, or of open shapes
                seen += 1
                path = Path(name) / f"{model.stem}.json"
                with self.subTest(model.name):
                    self.assertEqual(qdq("convert", model.name, "-o", path).returncode, 0)
                    self.assertEqual(qdq("fingerprint", path).stdout, wanted.stdout)
        self.assertGreater(seen, 30)

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
        for name in ("external", "quantized", "integer_products", "functions", "branches", "qlinear_pairs", "qlinear_slices", "qlinear_tables"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "out.json"
                done = qdq("convert", f"{name}.onnx", "-o", out)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                done = qdq("run", out, "-i", f"{name}.in.safetensors", "-e", f"{name}.out.safetensors",
                           *of_release(name))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_refused_model_is_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.json"
            done = qdq("convert", "refused.onnx", "-o", out)
            self.assertEqual(done.returncode, 4)
            self.assertIn("node 'nz': NonZero: makes a shape that depends on values", done.stderr)
            self.assertEqual(list(Path(folder).iterdir()), [])
        self.assertEqual(qdq("convert", "quantized.onnx").returncode, 2)


def forms():
    """A graph of ops whose attributes and layouts ONNX has in another form."""
    inputs = {"image": ("float32", [1, 5, 6, 4]), "planes": ("float32", [1, 4, 5]), "rows": ("float32", [2, 3, 4]),
              "codes": ("int8", [2, 3, 4])}  # fmt: skip
    sizes = {"kernel": [3, 3, 4, 8], "out": [8], "stats": [4], "wide": [2, 5, 4], "deep": [3, 3, 6, 4],
             "square0": [4, 4], "long": [12, 4]}
    nodes = [
        ("Convolution", "conv", {"x": "image", "weights": "kernel", "bias": "out"}, {"strides": [2, 1], "dilations": [1, 1], "pads_end": [1, 2]}),
        ("ConvTranspose", "up", {"x": "image", "weights": "deep"}, {"strides": [2, 2], "dilations": [1, 1], "pads_begin": [1, 1]}),
        ("MaxPool", "most", {"x": "image"}, {"kernel": [2, 3], "strides": [2, 2], "rounding_type": "ceil"}),
        ("AvgPool", "mean", {"x": "image"}, {"kernel": [2, 3], "strides": [2, 2], "rounding_type": "ceil", "exclude_pad": False, "pads_begin": [1, 0]}),
        ("BatchNormInference", "batch", {"x": "image", "gamma": "stats", "beta": "stats", "mean": "stats", "variance": "stats"}, {"epsilon": 1e-5}),
        ("GroupNorm", "group", {"x": "image"}, {"groups": 2, "use_affine": False, "keep_stats": False}),
        ("BiasAdd", "biased", {"x": "planes", "bias": "stats"}, {"data_format": "NCX"}),
        ("PReLU", "prelu", {"x": "planes", "slope": "stats"}, {"data_format": "NCX"}),
        ("PReLU", "last", {"x": "image", "slope": "stats"}, {}),
        ("Interpolate", "large", {"x": "image"}, {"mode": "nearest", "scales": [1.5, 2]}),
        ("Interpolate", "smooth", {"x": "image"}, {"mode": "linear", "sizes": [7, 9], "coordinate_transformation_mode": "align_corners"}),
        ("Square", "square", {"x": "rows"}, {}), ("Neg", "minus", {"x": "rows"}, {}), ("Trunc", "whole", {"x": "line"}, {}),
        ("ReLU6", "six", {"x": "line"}, {}), ("Rsqrt", "root", {"x": "stats"}, {}), ("Mod", "rest", {"a": "rows", "b": "stats_of_both_signs"}, {}), ("Reorder", "reorder", {"x": "rows"}, {}),
        ("SoftMax", "soft", {"x": "rows"}, {"mode": "inf_as_zero"}), ("LogSoftmax", "log", {"x": "rows"}, {}),
        ("LayerNorm", "layer", {"x": "rows"}, {"use_affine": False, "keep_stats": False}), ("RMSNorm", "rms", {"x": "rows"}, {}),
        ("MatMul", "product", {"a": "rows", "b": "wide", "bias": "stats5"}, {"transpose_b": True}),
        ("MatMul", "lines", {"a": "rows", "b": "square0", "bias": "stats"}, {"transpose_b": True}),
        ("MatMul", "line", {"a": "stats", "b": "square0"}, {"transpose_b": True, "transpose_a": True}),
        ("MatMul", "biased product", {"a": "flat", "b": "long", "bias": "stats"}, {}),
        ("ReduceMean", "average", {"x": "rows"}, {"axes": [-1, 0]}), ("ReduceSum", "sum", {"x": "rows"}, {"axes": [1], "keep_dims": True}),
        ("Pad", "padded", {"x": "rows"}, {"pads": [1, 2, -1, 0], "axes": [-1, 0], "mode": "edge"}),
        ("StaticTranspose", "turned", {"x": "rows"}, {}), ("StaticReshape", "flat", {"x": "rows"}, {"shape": [0, -1], "special_zero": True}),
        ("Slice", "cut", {"x": "rows"}, {"starts": [0, 2], "ends": [2, -9], "steps": [1, -1]}),
        ("Clamp", "clamp", {"x": "rows"}, {"min": -0.3, "max": 0.7}), ("GELU", "gelu", {"x": "rows"}, {"mode": "gelu_tanh"}),
        ("Quantize", "channels", {"x": "rows"}, {"qtype": "per_channel", "axis": 1, "scales": [0.1, 0.2, 0.3], "zps": [1, -2, 3]}),
        ("Quantize", "blocks", {"x": "rows"}, {"qtype": "per_group", "group_shape": [1, 1, 2], "scales": [0.1] * 12, "dtype": "int4"}),
        ("Dequantize", "reals", {"x": "codes"}, {"qtype": "per_channel", "axis": -1, "scales": [0.1, 0.2, 0.3, 0.7], "zps": 5, "dtype": "float32"}),
        ("Requantize", "again", {"x": "codes"}, {"in_scales": [0.1, 0.3, 0.7], "in_zps": [1, 2, 3], "out_scales": 0.15, "out_zps": 100, "axis": 1, "dtype": "uint8"}),
        ("Requantize", "short", {"x": "codes"}, {"in_scales": 0.3, "out_scales": 0.001, "out_zps": -7, "dtype": "int16"}),
        ("DynamicQuantize", "dynamic", {"x": "rows"}, {"dtype": "uint8"}), ("Cast", "cast", {"x": "rows"}, {"dtype": "int32"}),
        ("TopK", "top", {"x": "rows"}, {"k": 2, "largest": False}), ("ArgMax", "place", {"x": "rows"}, {"axis": 1}),
        ("CumSum", "run", {"x": "rows"}, {"axis": 2, "reverse": True}), ("Trilu", "upper", {"x": "rows"}, {"k": -1}),
        ("ScatterElements", "put", {"x": "rows", "indices": "place0", "updates": "one"}, {"axis": 2, "reduction": "max"}),
    ]  # fmt: skip
    ports = ["dynamic.scale", "dynamic.zero_point", "top.indices"]
    count = {"kernel": 288, "deep": 216, "wide": 40, "square0": 16, "long": 48}
    constants = [{"name": n, "dtype": "float32", "shape": s, "data": [(i * 37 % 23 - 9) / 16 if n != "stats" else (i + 1) / 4
                  for i in range(count.get(n, s[0]))]} for n, s in sizes.items()]  # fmt: skip
    constants += [{"name": "stats_of_both_signs", "dtype": "float32", "shape": [4], "data": [0.7, -0.3, 0.25, -1]},
                  {"name": "stats5", "dtype": "float32", "shape": [5], "data": [1, 2, 3, 4, 5]},
                  {"name": "place0", "dtype": "int64", "shape": [1, 1, 2], "data": [1, 3]},
                  {"name": "one", "dtype": "float32", "shape": [1, 1, 2], "data": [0.5, -0.5]}]  # fmt: skip
    outputs = [{"name": f"{name} out" if name == "cut" else name, "value": name} for _, name, _, _ in nodes]
    outputs += [{"name": name, "value": name} for name in ports]
    outputs += [{"name": "twice", "value": "square"}, {"name": "rows", "value": "rows"}, {"name": "known", "value": "stats"}]
    return {"format": "qdq/1", "name": "forms", "outputs": outputs, "constants": constants,
            "inputs": [{"name": n, "dtype": d, "shape": s} for n, (d, s) in inputs.items()],
            "nodes": [{"op": op, "name": n, "inputs": i, "attrs": a} for op, n, i, a in nodes]}  # fmt: skip


class Written(unittest.TestCase):
    GIVEN = {"forbidden_names": ["--dim", "n=3"], "shapes": ["--dim", "rows=4", "--dim", "columns=5"],
             "convolutions": ["--dim", "batch=2"], "long_sequences": ["--dim", "steps=80"], "open_sizes": ["--dim", "batch=1", "--dim", "height=4"], "until": ["--until", "middle"]}  # fmt: skip

    # Each step of a sequence becomes nodes, and a sum over the sizes of `shapes` is computed from them.
    FIXED = {"long_sequences": ["steps"], "shapes": ["rows", "columns"]}

    def results(self, model, folder, *words):
        out = Path(folder) / "out.safetensors"
        done = qdq("run", model, *words, "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_bytes()

    def test_every_model_that_is_written_gives_the_same_bits(self):
        for path in sorted(MODELS.glob("*.onnx")):
            name = path.stem
            if name in ("refused", "growing", "cycle", "ended_folds", "trt"):
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                out, given = Path(folder) / "out.onnx", self.GIVEN.get(name, [])
                done = qdq("convert", path, *given, "-o", out)
                self.assertEqual((done.returncode, done.stdout), (0, ""))
                fixed = re.findall(r"^qdq: input 'x': dim \d \('(\w+)'\) is fixed at \d+ in the model: .* it\n", done.stderr, re.M)
                self.assertEqual((fixed, len(done.stderr.splitlines())), (self.FIXED.get(name, []), len(fixed)))
                tensors = f"{name}.in.safetensors"
                words = ["-i", tensors] if (MODELS / tensors).exists() else ["--fill", "1"]
                self.assertEqual(self.results(out, folder, *words), self.results(path, folder, *given, *words))

    def test_names_constants_and_dtypes_go_back_to_where_they_came_from(self):
        for name in ("quantized", "integer_products", "names", "forbidden_names", "wide", "dtypes"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                first, model, again = (Path(folder) / n for n in ("a.json", "b.onnx", "c.json"))
                given = self.GIVEN.get(name, [])
                for source, out in ((f"{name}.onnx", first), (f"{name}.onnx", model), (model, again)):
                    done = qdq("convert", source, *given, "-o", out)
                    self.assertEqual(done.returncode, 0, done.stderr)
                one, two = (json.loads(p.read_text()) for p in (first, again))
                self.assertEqual({c["name"]: c for c in two["constants"]}, {c["name"]: c for c in two["constants"]} |
                                 {c["name"]: c for c in one["constants"]})  # fmt: skip
                self.assertEqual(two.get("originals"), one.get("originals"))
                self.assertEqual([n["name"] for n in two["nodes"]], [n["name"] for n in one["nodes"]])
                self.assertEqual((two["inputs"], two["outputs"], two["name"]), (one["inputs"], one["outputs"], one["name"]))

    def test_forms_that_onnx_has_in_another_way_give_the_same_bits(self):
        with tempfile.TemporaryDirectory() as folder:
            graph, out = Path(folder) / "g.json", Path(folder) / "g.onnx"
            graph.write_text(json.dumps(forms()))
            self.assertEqual(qdq("convert", graph, "-o", out).stderr, "")
            for target in ("core", "onnx"):
                words = ["--fill", "3", "--target", target]
                self.assertEqual(self.results(out, folder, *words), self.results(graph, folder, *words))

    def test_all_that_onnx_lacks_is_told_at_once_and_nothing_is_written(self):
        graph = {"format": "qdq/1", "inputs": [{"name": "x", "dtype": "float32", "shape": [4, 4]}, {"name": "b", "dtype": "bfloat8_b", "shape": [2]}],
                 "nodes": [
                     {"op": "GenIndex", "name": "index", "inputs": {"x": "x"}, "attrs": {"axis": 0}},
                     {"op": "SiLU", "name": "s", "inputs": {"x": "x"}},
                     {"op": "Quantize", "name": "tiles", "inputs": {"x": "x"},
                      "attrs": {"qtype": "per_group", "group_shape": [2, 2], "scales": [1, 2, 3, 4]}},
                     {"op": "Quantize", "name": "narrow", "inputs": {"x": "x"}, "attrs": {"scales": 1, "quant_min": -7}},
                     {"op": "ToMemoryConfig", "name": "moved", "inputs": {"x": "x"}, "memory_config": {"buffer_type": "L1", "memory_layout": "INTERLEAVED"}},
                     {"op": "ReLU", "name": "r", "inputs": {"x": "x"}, "layout": "TILE"},
                     {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "x"}, "attrs": {"math_fidelity": "HiFi2"}}],
                 "outputs": [{"name": n, "value": n} for n in ("index", "s", "tiles", "narrow", "moved", "r", "m", "b")]}  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "g.json", Path(folder) / "g.onnx"
            path.write_text(json.dumps(graph))
            out.write_text("old")
            done = qdq("convert", path, "-o", out)
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            for words in ("node 'index': GenIndex: is no op of ONNX", "node 's': SiLU: rounds once, and ONNX's Swish twice", "node 'tiles': Quantize: group_shape has blocks along more than one dim",
                          "node 'narrow': Quantize: quant_min or quant_max is narrower than the dtype",
                          "node 'moved': ToMemoryConfig: says where its result lies on a device", "node 'r': ReLU: says where its result lies",
                          "node 'm': MatMul: math_fidelity has no counterpart in ONNX", "input 'b': is bfloat8_b, wanted a dtype of ONNX"):  # fmt: skip
                self.assertIn(words, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 8, done.stderr)
            self.assertEqual(out.read_text(), "old")
            self.assertEqual(sorted(p.name for p in Path(folder).iterdir()), ["g.json", "g.onnx"])

    def test_dtypes_of_x_and_scale_choose_the_opset_of_the_schemas(self):
        # QuantizeLinear: y_scale is float32 before 19, has the dtype of x before 23, and is free from 23 on.
        # DequantizeLinear: x_scale is float32 before 19, and is the dtype of y before 23.
        first = {"float32": 13, "float16": 19, "bfloat16": 22}  # bfloat16 raises all models to 22
        for x in first:
            for scale in first:
                opset = first[x] if x == scale else 23
                for op, source, made, wanted in (("Quantize", x, "int8", opset), ("Quantize", x, "int16", max(opset, 21)),
                                                 ("DynamicQuantize", x, "uint8", opset), ("Dequantize", "int8", x, opset)):
                    graph = {"format": "qdq/1", "inputs": [{"name": "x", "dtype": source, "shape": [2, 4]}],
                             "constants": [{"name": "s", "dtype": scale, "shape": [], "data": [0.5]}],
                             "nodes": [{"op": op, "name": "n", "inputs": {"x": "x", "scale": "s"}, "attrs": {"dtype": made}}],
                             "outputs": [{"name": "y", "value": "n"}]}  # fmt: skip
                    with self.subTest(op=op, x=source, scale=scale, y=made), tempfile.TemporaryDirectory() as folder:
                        path, out = Path(folder) / "g.json", Path(folder) / "g.onnx"
                        path.write_text(json.dumps(graph))
                        self.assertEqual(qdq("convert", path, "-o", out).stderr, "")
                        opset_import = re.search(rb"B\x04\n\0\x10(.)", out.read_bytes(), re.S)  # field 8: domain "", version
                        self.assertEqual(opset_import[1][0], wanted)

    def test_a_zero_point_beyond_its_dtype_is_refused(self):
        sides = {"Quantize": ("float32", "zps"), "Dequantize": (None, "zps"), "in": (None, "in_zps"), "out": (None, "out_zps")}
        ranges = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "int16": (-2**15, 2**15 - 1), "uint16": (0, 2**16 - 1)}
        for side, (x, zps) in sides.items():
            for dtype, (least, greatest) in ranges.items():
                for zero, count in ((least - 1, 1), (greatest + 1, 1), (greatest + 1, 3), (least, 3), (greatest, 1)):
                    numbers = [zero] + [0] * (count - 1)
                    attrs = {"scales": [1.0] * count, "zps": numbers, "axis": 0, "qtype": "per_channel" if count > 1 else "per_tensor"}
                    if side in ("in", "out"):
                        attrs = {"in_scales": [1.0] * count, "out_scales": [1.0] * count, zps: numbers, "axis": 0}
                    attrs |= {} if side == "Dequantize" else {"dtype": dtype}
                    op = side if side in ("Quantize", "Dequantize") else "Requantize"
                    graph = {"format": "qdq/1", "inputs": [{"name": "x", "dtype": x or dtype, "shape": [3, 2]}],
                             "nodes": [{"op": op, "name": "n", "inputs": {"x": "x"}, "attrs": attrs}], "outputs": [{"name": "y", "value": "n"}]}  # fmt: skip
                    with self.subTest(side=side, dtype=dtype, zps=numbers), tempfile.TemporaryDirectory() as folder:
                        path, out = Path(folder) / "g.json", Path(folder) / "g.onnx"
                        path.write_text(json.dumps(graph))
                        done = qdq("convert", path, "-o", out)
                        if least <= zero <= greatest:
                            self.assertEqual(done.returncode, 0, done.stderr)
                            self.assertEqual(self.results(out, folder, "--fill", "7"), self.results(path, folder, "--fill", "7"))
                        else:
                            self.assertEqual(done.returncode, 4, done.stderr)
                            self.assertIn(f"{op}: {zps} has {zero}, which {dtype} cannot hold, wanted {least}..{greatest}", done.stderr)
                            self.assertFalse(out.exists())

    def test_a_folder_that_is_not_there_is_an_error(self):
        done = qdq("convert", "quantized.onnx", "-o", "/nowhere/at/all.onnx")
        self.assertEqual(done.returncode, 3)
        self.assertIn("/nowhere/at/all.onnx: its folder takes no new file", done.stderr)


class Shapes(unittest.TestCase):
    def test_open_dims_are_one_error_that_lists_them(self):
        done = qdq("check", "shapes.onnx")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "qdq: shapes.onnx: dims of inputs are open: 'x' is [rows, columns]; give sizes with "
                                      "--dim NAME=N or --shape INPUT=N,N,...\n")  # fmt: skip

    def test_an_open_batch_is_taken_as_one_and_said(self):
        done = qdq("check", "shapes.onnx", "--dim", "columns=5")
        self.assertEqual(done.stderr, "qdq: shapes.onnx: the batch is open and is taken as 1; --dim NAME=N gives it a size\n")
        self.assertRegex(done.stdout, r"shapes.onnx for onnx: \d+ errors?, ")

    def test_dims_are_given_by_name_or_by_shape(self):
        for words in (["--dim", "rows=4", "--dim", "columns=5"], ["--shape", "x=4,5"]):
            done = qdq("check", "shapes.onnx", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_float_model_has_the_sizes_of_the_quantized_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fixed.json"
            self.assertEqual(qdq("convert", "forbidden_names.onnx", "--dim", "n=3", "-o", path).returncode, 0)
            words = ["explain", path, "--against", "forbidden_names.onnx", "--fill", "1"]
            for more in ([], ["--dim", "n=3"]):
                done = qdq(*words, *more)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = qdq(*words, "--dim", "m=3")
            self.assertIn("a size is given for dim 'm', which no input of the model has", done.stderr)
            self.assertEqual(done.returncode, 2)

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

    def test_a_budget_that_ends_a_fold_is_named(self):
        done = qdq("check", "ended_folds.onnx")
        self.assertEqual(done.returncode, 1)
        for node, op, value in (("y", "ConstantOfShape", "dims"), ("z", "Reshape", "list")):
            self.assertIn(f"node '{node}': {op}: shape are '{value}', which has 65537 elements and is left to the run: "
                          "reading computes at most 65536 numbers of a value, and 16777216 of all, wanted whole numbers "
                          "that are known before a run", done.stdout)  # fmt: skip

    def test_the_end_must_be_in_an_onnx_model(self):
        done = qdq("check", "until.onnx", "--until", "nowhere", "--dim", "n=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the model is to end at 'nowhere', which is no node and no result of one", done.stderr)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "g.json"
            path.write_text('{"format": "qdq/1", "nodes": [], "outputs": []}')
            done = qdq("check", path, "--until", "y")
            self.assertEqual(done.returncode, 2)
            self.assertIn("only an ONNX or TensorFlow Lite model can end at 'y'", done.stderr)


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

    def test_steps_that_do_not_fit_into_the_graph_are_an_error_before_they_are_made(self):
        for steps, values in ((2048, 100_000), (1 << 40, 1_000_000)):
            done = qdq("check", "long_sequences.onnx", "--dim", f"steps={steps}", "--max-values", values, "--max-elements", 1 << 50, "--max-bytes", 1 << 50)
            self.assertEqual(done.returncode, 5)
            self.assertRegex(done.stderr, rf": (RNN|GRU): brings the graph to at least \d+ nodes, wanted at most {values // 4}, a "
                                          r"quarter of the limit of values \(--max-values\)\n$")  # fmt: skip

    def test_sequences_of_2048_steps_fit(self):
        done = qdq("check", "long_sequences.onnx", "--dim", "steps=2048")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

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
