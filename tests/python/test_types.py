# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept the package and the programs of the documents, and find mistakes.

    test_types.py SOURCE_ROOT

Runs mypy --strict on the package as it is installed, or as PYTHONPATH names it. Says so if mypy is missing.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
DOCUMENTS = ["README.md", "docs/python.md"]

MISTAKES = """\
import qdq

g = qdq.load("model.onnx", dims={"batch": 1})
g.chek()
b = qdq.Builder("net")
x = b.input("x", "float32", (4, 8))
b.quantise(x)
b.quantize(x, scales=0.5, dtype="int9")
b.concat(x, axis=0)
b.convolution(x)
for one in g.nodes:
    print(one.optype)
g.compile(layout="columns")
"""
FOUND = {4: "chek", 7: "quantise", 8: "int9", 9: "concat", 10: "Missing", 12: "optype", 13: "columns"}


def check(*words, folder=None):
    """Returns (exit code, what mypy prints)."""
    environment = {**os.environ, "MYPYPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--allow-redefinition", "--no-error-summary", "--cache-dir", "/dev/null", *words],
                          cwd=folder, env=environment, capture_output=True, text=True, check=False)  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is missing")
class Types(unittest.TestCase):
    def test_the_package_has_types(self):
        code, text = check("--config-file", str(ROOT / "pyproject.toml"), "-p", "qdq")
        self.assertEqual((code, text), (0, ""))

    def test_the_programs_of_the_documents_have_types(self):
        for name in DOCUMENTS:
            blocks = re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"))
            self.assertTrue(blocks, name)
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                Path(folder, "program.py").write_text("\n".join(blocks), encoding="utf-8")
                code, text = check("--config-file", str(ROOT / "pyproject.toml"), "program.py", folder=folder)
                self.assertEqual((code, text), (0, ""), text)

    def test_mistakes_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "program.py").write_text(MISTAKES, encoding="utf-8")
            _, text = check("program.py", folder=folder)
        found = dict(re.findall(r"(?m)^program\.py:(\d+): error: (.*)$", text))
        self.assertEqual(sorted(map(int, found)), sorted(FOUND), text)
        for line, word in FOUND.items():
            self.assertIn(word, found[str(line)])


if __name__ == "__main__":
    unittest.main()
