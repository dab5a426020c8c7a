# SPDX-License-Identifier: Apache-2.0
"""Tests vectors/: the committed files are what the library computes, and the readers find a wrong bit.

    test_vectors.py QDQ LIBRARY SOURCE_ROOT
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

QDQ = LIBRARY = ROOT = None


def run(*command, **more):
    return subprocess.run([str(one) for one in command], capture_output=True, text=True, **more)


def files():
    return sorted((ROOT / "vectors").glob("*.json"))


def groups():
    return [group for path in files() for group in json.loads(path.read_text())["groups"]]


def wrong_bit(folder):
    """Writes quantize.json with one bit of core's results of quantize/tie-int8 changed."""
    text = (ROOT / "vectors/quantize.json").read_text()
    start = text.index('"id": "quantize/tie-int8"')
    place = text.index('"results"', start)
    bits = re.compile(r'"bits": \{"y": "(\w)').search(text, place)
    digit = f"{int(bits[1], 16) ^ 1:x}"
    path = Path(folder, "quantize.json")
    path.write_text(text[: bits.start(1)] + digit + text[bits.end(1) :])
    return path


class Files(unittest.TestCase):
    def test_the_library_computes_what_the_files_say(self):
        done = run(sys.executable, ROOT / "vectors/generator", "--library", LIBRARY, "--tool", QDQ, "--check")
        self.assertEqual((done.returncode, done.stdout), (0, "no file differs\n"), done.stderr[-2000:])

    def test_recorded_peers_gave_these_bits(self):
        done = run(sys.executable, ROOT / "vectors/generator/peers.py", "--recorded")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        table = (ROOT / "vectors/README.md").read_text()
        for backend in ("onnx@1.32-vnni", "ort@1.32-vnni", "torchao@0.18", "torchao@0.12", "torchao@0.11", "onednn@3.14"):
            equal, differ = re.search(rf"\| `{backend}` \| (\d+) \| (\d+)", table).groups()
            self.assertIn(f"{backend}: {equal} groups equal, {differ} differ\n", done.stdout)

    def test_a_group_that_differs_from_its_recording_has_a_reason(self):
        for path in sorted((ROOT / "vectors/peers").glob("*.json")):
            content = json.loads(path.read_text())
            self.assertEqual([key for key, reason in content["differ"].items() if not reason], [], path.name)

    def test_every_version_of_every_backend_has_one_row(self):
        sys.path.insert(0, str(ROOT / "vectors/generator"))
        from compact import covers

        for path in files():
            content = json.loads(path.read_text())
            for group in content["groups"]:
                rows = [short for row in group["results"] for short in row["backends"]]
                self.assertEqual(len(rows), len(set(rows)), group["id"])
                bare = [name for name in content["versions"] if not any(covers(short, name) for short in rows)]
                self.assertEqual(bare, [], group["id"])

    def test_the_readme_names_every_bug(self):
        text = (ROOT / "vectors/README.md").read_text()
        bugs = {bug for group in groups() for bug in group.get("bugs", [])}
        self.assertEqual(sorted(bug for bug in bugs if f"#{bug.partition('#')[2]}" not in text), [])

    def test_ids_are_unique(self):
        ids = [group["id"] for group in groups()]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreater(len(ids), 300)

    def test_the_readme_names_ids_that_exist(self):
        ids = {group["id"] for group in groups()}
        named = re.findall(r"`((?:%s)/[\w.-]+)`" % "|".join(path.stem for path in files()),
                           (ROOT / "vectors/README.md").read_text())
        self.assertGreater(len(named), 30)
        self.assertEqual([name for name in named if name not in ids], [])


def is_plain(group):
    """True for Quantize of float32 to int8 or uint8 by a constant scale and zero point: the readers' implementation has it."""
    attributes, inputs = group["attributes"], group["inputs"]
    return (group["op"] == "Quantize" and [one["dtype"] for one in inputs] == ["float32"]
            and set(attributes) <= {"scales", "zps", "dtype"} and attributes["dtype"] in ("int8", "uint8")
            and isinstance(attributes["scales"], float))  # fmt: skip


def counts(path, backend):
    """Returns how many groups of a file have bits of the backend: those that the readers' implementation has, and others."""
    sys.path.insert(0, str(ROOT / "vectors/generator"))
    from compact import row_of

    known = [group for group in json.loads(path.read_text())["groups"]
             if row_of([(row["backends"], row.get("bits")) for row in group["results"]], backend)]  # fmt: skip
    plain = sum(map(is_plain, known))
    return plain, len(known) - plain


class Readers(unittest.TestCase):
    def assert_reader_works(self, *command):
        """A reader with its ONNX implementation: equal to core and onnx, unlike onednn, unlike a file with a wrong bit."""
        path = ROOT / "vectors/quantize.json"
        for backend in ("core", "onnx@spec"):
            plain, others = counts(path, backend)
            self.assertGreater(plain, 40)
            done = run(*command, path, "--backend", backend)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout, f"{backend}: {plain} groups equal, 0 differ, {others} not implemented\n")
        plain, others = counts(path, "onednn@3.14")
        done = run(*command, path, "--backend", "onednn@3.14")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("quantize/tie-int8-z1: y[0] is fd, wanted fe", done.stdout)
        *wrong, count = done.stdout.splitlines()
        self.assertEqual(count, f"onednn@3.14: {plain - len(wrong)} groups equal, {len(wrong)} differ, {others} not implemented")
        plain, others = counts(path, "core")
        with tempfile.TemporaryDirectory() as folder:
            done = run(*command, wrong_bit(folder), "--backend", "core")
            self.assertEqual(done.returncode, 1, done.stderr)
            count = f"core: {plain - 1} groups equal, 1 differ, {others} not implemented"
            self.assertRegex(done.stdout, rf"^quantize/tie-int8: y\[0\] is \w\w, wanted \w\w.*\n{count}\n$")
        self.assertNotEqual(run(*command, path, "--backend", "nobody").returncode, 0)
        path = ROOT / "vectors/cast.json"
        done = run(*command, path, "--backend", "core")
        self.assertEqual(done.returncode, 2, "a file without a group that is implemented has shown nothing")
        self.assertEqual(done.stdout, f"core: 0 groups equal, 0 differ, {counts(path, 'core')[1]} not implemented\n")

    def test_python(self):
        self.assert_reader_works(sys.executable, ROOT / "vectors/readers/python/test_vectors.py")

    @unittest.skipUnless(shutil.which("node"), "no node")
    def test_javascript(self):
        self.assert_reader_works("node", ROOT / "vectors/readers/javascript/vectors.mjs")

    def test_c(self):
        with tempfile.TemporaryDirectory() as folder:
            program, sources = Path(folder, "vectors"), sorted((ROOT / "vectors/readers/c").glob("*.c"))
            flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
            built = run(shutil.which("cc") or "gcc", *flags, "-o", program, *sources, "-lcjson", "-lm")
            self.assertEqual(built.returncode, 0, built.stderr)
            self.assert_reader_works(program)

    @unittest.skipUnless(shutil.which("rustc"), "no rustc")
    def test_rust(self):
        with tempfile.TemporaryDirectory() as folder:
            program, source = Path(folder, "vectors"), ROOT / "vectors/readers/rust/vectors.rs"
            built = run("rustc", "--edition", "2021", "-D", "warnings", "-O", "-o", program, source)
            self.assertEqual(built.returncode, 0, built.stderr)
            self.assert_reader_works(program)

    def test_readers_have_at_most_100_lines(self):
        found = [path for end in ("py", "c", "mjs", "rs") for path in (ROOT / "vectors/readers").glob(f"*/*.{end}")]
        self.assertEqual(len(found), 9)
        self.assertEqual([path.name for path in found if len(path.read_text().splitlines()) > 100], [])


if __name__ == "__main__":
    QDQ, LIBRARY, ROOT = (Path(one).resolve() for one in sys.argv[1:4])
    del sys.argv[1:4]
    unittest.main()
