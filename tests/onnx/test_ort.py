# SPDX-License-Identifier: Apache-2.0
"""Runs the models of ort/ with qdq, and compares with what ONNX Runtime computed for them (results.json, written by
tools/peers/ort_examples.py).

    test_ort.py QDQ_BINARY
"""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "ort"
KINDS = {"uint8": ("U8", "B"), "uint16": ("U16", "H"), "int8": ("I8", "b"), "int32": ("I32", "i"), "float32": ("F32", "f")}
VARIANTS = ["avx2", "vnni", "neon", "dot", "i8mm"]
NOT_PREDICTED = {}
NOT_REFUSED = {}
OPTIONS = ["qdq_matmulnbits_accuracy_level=0", "qdq_matmulnbits_block_size=64", "qdqisint8allowed=1", "x64quantprecision=1"]
RELEASES = [f"1.{minor}" for minor in range(20, 31) if minor != 21]
QDQ = None


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        word, code = KINDS[t["dtype"]]
        part = struct.pack(f"<{len(t['values'])}{code}", *t["values"])
        header[name] = {"dtype": word, "shape": t["shape"], "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def recorded(level):
    """Name, inputs and outputs of each model for which all processors gave one result at this level."""
    wanted = {f"{level} {variant}" for variant in VARIANTS}
    for name, row in json.loads((FOLDER / "results.json").read_text()).items():
        for result in row["results"]:
            if wanted <= set(result["runs"]) and "outputs" in result:
                yield name, row["inputs"], result["outputs"]


def results_of(row, run_name):
    """The outputs of a model in one of the recorded runs; None: it failed."""
    for result in row["results"]:
        if run_name in result["runs"]:
            return result.get("outputs")
    return None


def run(folder, name, inputs, outputs, target, *more):
    write_tensors(folder / "in.safetensors", inputs)
    write_tensors(folder / "out.safetensors", outputs)
    words = ["run", FOLDER / f"{name}.onnx", "--target", target, "-i", folder / "in.safetensors"]
    words += ["-e", folder / "out.safetensors", *more]
    return subprocess.run([QDQ, *map(str, words)], capture_output=True, text=True, check=False, timeout=60)


class Results(unittest.TestCase):
    def test_target_onnx_predicts_onnx_runtime_without_optimizations(self):
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, inputs, outputs in recorded("disabled"):
                seen += 1
                with self.subTest(name):
                    done = run(Path(folder), name, inputs, outputs, "onnx")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(seen, 50)

    def test_target_ort_predicts_onnx_runtime_without_vnni(self):
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                outputs = results_of(row, "all avx2")
                if not outputs or name in NOT_PREDICTED:
                    continue
                seen += 1
                with self.subTest(name):
                    done = run(Path(folder), name, row["inputs"], outputs, "ort@1.31-avx2")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(seen, 70)

    def check_version(self, label, target, least):
        """Each model that ONNX Runtime ran."""
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                outputs = results_of(row, label)
                if not outputs or name in NOT_PREDICTED:
                    continue
                seen += 1
                done = run(Path(folder), name, row["inputs"], outputs, target)
                with self.subTest(name):
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(seen, least)

    def test_target_ort_predicts_onnx_runtime_with_vnni(self):
        self.check_version("all vnni", "ort@1.31-vnni", 150)

    def test_target_ort_predicts_onnx_runtime_1_32(self):
        self.check_version("1.32 vnni", "ort@1.32-vnni", 30)

    def test_target_ort_predicts_onnx_runtime_1_32_without_vnni(self):
        self.check_version("1.32 avx2", "ort@1.32-avx2", 16)

    def test_target_ort_predicts_or_refuses_as_older_releases(self):
        """Models whose results depend on the release."""
        differ = dict.fromkeys(RELEASES, 0)
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                for release in RELEASES:
                    if not any(f"{release} vnni" in result["runs"] for result in row["results"]):
                        continue
                    outputs = results_of(row, f"{release} vnni")
                    done = run(Path(folder), name, row["inputs"], outputs or {}, f"ort@{release}-vnni")
                    differ[release] += outputs != results_of(row, "all vnni")
                    with self.subTest(name, release=release):
                        if outputs:
                            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                        else:
                            self.assertIn("error: ", done.stderr)
        self.assertEqual(sum(differ.values()), 136, differ)

    def test_target_onnx_has_the_bits_of_float_convolutions(self):
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                for variant in ("vnni", "avx2") if "blocks_" in name or "unblocked_" in name else ():
                    seen += 1
                    done = run(Path(folder), name, row["inputs"], results_of(row, f"disabled {variant}"), f"onnx@1.31-{variant}")
                    with self.subTest(name, variant=variant):
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(seen, 2 * 20)

    def test_target_ort_predicts_aarch64_or_warns(self):
        """Other bits only with a warning about the arithmetic that differs there."""
        warned = set()
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                for variant in ("neon", "dot", "i8mm"):
                    outputs = results_of(row, f"all {variant}")
                    if not outputs:
                        continue
                    done = run(Path(folder), name, row["inputs"], outputs, f"ort@1.31-{variant}")
                    if done.returncode and "[ort/a" in done.stderr:
                        warned.add(name)
                        continue
                    with self.subTest(name, variant=variant):
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        means = {"average_pool_of_the_image", "global_pool_tie"}
        self.assertEqual({n for n in warned if "weight_only" not in n}, means | {"matmul_wraps_on_neon"})

    def test_target_ort_predicts_options_of_the_session(self):
        changed = dict.fromkeys(OPTIONS, 0)
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                plain = results_of(row, "all avx2")
                for option in OPTIONS:
                    outputs = results_of(row, f"{option} avx2")
                    if not outputs or name in NOT_PREDICTED:
                        continue
                    done = run(Path(folder), name, row["inputs"], outputs, f"ort@1.31-avx2:{option}")
                    if "ort/weight-only-order" in done.stderr:
                        continue  # a warning says that bits may differ
                    changed[option] += outputs != plain
                    with self.subTest(name, option=option):
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for option, count in changed.items():
            self.assertGreater(count, 0, option)

    def test_dynamic_products_have_the_bits_of_each_processor(self):
        """The bias is added with one rounding on aarch64, and with two on x86-64."""
        seen = differ = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                if not name.startswith("dynamic"):
                    continue
                differ += results_of(row, "all neon") != results_of(row, "all vnni")
                for level, target in (("all", "ort"), ("disabled", "onnx")):
                    for variant in VARIANTS:
                        seen += 1
                        outputs = results_of(row, f"{level} {variant}")
                        done = run(Path(folder), name, row["inputs"], outputs, f"{target}@1.31-{variant}")
                        with self.subTest(name, target=target, variant=variant):
                            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(seen, 17 * 2 * len(VARIANTS))
        self.assertGreater(differ, 5)

    def test_matmul_nbits_has_the_same_bits_on_portable_code(self):
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                if not name.startswith("nbits_"):
                    continue
                for variant in ("avx2", "vnni"):
                    seen += 1
                    outputs = results_of(row, f"all {variant}")
                    with self.subTest(name, variant=variant):
                        done = run(Path(folder), name, row["inputs"], outputs, f"ort@1.31-{variant}", "--isa", "portable")
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(seen, 2 * 39)

    def test_target_ort_refuses_what_onnx_runtime_refuses(self):
        seen = 0
        for name, row in json.loads((FOLDER / "results.json").read_text()).items():
            if results_of(row, "all avx2") is not None or not any("all avx2" in r["runs"] for r in row["results"]):
                continue
            if name in NOT_REFUSED:
                continue
            seen += 1
            for level, status in (("all", 1), ("disabled", 0)):
                words = [QDQ, "check", str(FOLDER / f"{name}.onnx"), "--target", f"ort@1.31-avx2:level={level}"]
                done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
                with self.subTest(name, level=level):
                    self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertGreaterEqual(seen, 4)

    def differences(self, folder, name, variant):
        """How many elements of each output differ between targets onnx and ort, as compare says."""
        words = ["compare", FOLDER / f"{name}.onnx", "--json", "-i", folder / "in.safetensors"]
        words += ["--targets", f"onnx@1.31-{variant},ort@1.31-{variant}"]
        done = subprocess.run([QDQ, *map(str, words)], capture_output=True, text=True, check=False, timeout=60)
        self.assertLessEqual(done.returncode, 1, done.stderr)
        values = json.loads(done.stdout)["values"]
        for value in values:
            for pair in value["pairs"]:
                self.assertEqual(sum(why["elements"] for why in pair["causes"]), pair["different"], value["name"])
        return {value["name"]: value["pairs"][0]["different_overall"] for value in values}

    def test_compare_counts_what_optimizations_change(self):
        """Where qdq predicts ONNX Runtime with and without optimizations."""
        seen = different = 0
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            for name, row in json.loads((FOLDER / "results.json").read_text()).items():
                for variant in ("avx2", "vnni", "neon"):
                    plain, whole = (results_of(row, f"{level} {variant}") for level in ("disabled", "all"))
                    if not plain or not whole or any(
                            run(folder, name, row["inputs"], outputs, f"{target}@1.31-{variant}").returncode
                            for target, outputs in (("onnx", plain), ("ort", whole))):
                        continue
                    counted = self.differences(folder, name, variant)
                    for output, tensor in plain.items():
                        if name.startswith(("equal_pair", "equal_quantize_output")):
                            continue  # the output has the name of other codes
                        pairs = zip(tensor["values"], whole[output]["values"])
                        wanted = sum(a != b for a, b in pairs)
                        with self.subTest(name, variant=variant, output=output):
                            self.assertEqual(counted[output if output in counted else f"{output}/MatMul"], wanted)
                        seen, different = seen + 1, different + (wanted > 0)
        self.assertGreater(seen, 150)
        self.assertGreater(different, 50)


if __name__ == "__main__":
    QDQ = sys.argv.pop(1)
    unittest.main()
