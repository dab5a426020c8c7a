# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of docs/many_machines.md: Slurm with a stand-in for sbatch, Dask and Ray where they are installed.

    test_schedulers.py SOURCE_ROOT
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
import qdq
from qdq import _tool

ROOT = None
COUNT = 120

# Runs an array, or a job that depends on it, at once. Tasks of an array run in the order of their numbers.
SBATCH = """#!/bin/sh
set -e
case $1 in
--parsable)
    set -- "$2" $(sed -n 's/^#SBATCH --array=\\([0-9]*\\)-\\([0-9]*\\)$/\\1 \\2/p' "$2")
    for task in $(seq "$2" "$3"); do
        SLURM_ARRAY_TASK_ID=$task sh -e "$1" >&2
    done
    echo 17 ;;
--dependency=afterok:17) [ "$2" = --wrap ] && { sh -ec "$3" || [ $? -eq 1 ]; } ;;
*) echo "sbatch: $*" >&2; exit 1 ;;
esac
"""


def blocks(language):
    text = (ROOT / "docs/many_machines.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        b = qdq.Builder("net")
        b.output("y", b.exp(b.relu(b.input("x", "float32", (4,)))))
        b.build().write(self.folder / "model.onnx")
        (self.folder / "images").mkdir()
        rng = np.random.default_rng(7)
        for i in range(COUNT):
            np.save(self.folder / f"images/{i}.npy", rng.normal(0, 3, 4).astype(np.float32))
        (self.folder / "images/torn.npy").write_bytes(b"no array")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/qdq").symlink_to(Path(_tool.path()).resolve())

    def execute(self, *words):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True,
                              check=False, timeout=300)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = qdq.calibrate(self.folder / "model.onnx", self.folder / "images", state=self.folder / "whole", threads=1)
        self.assertEqual(whole.samples, COUNT)
        self.assertEqual(qdq.State(self.folder / "all.state"), whole)

    def python(self, word):
        (script,) = [block for block in blocks("python") if f"import {word}" in block]
        (self.folder / "example.py").write_text(script)
        self.execute(sys.executable, "example.py")

    def test_the_slurm_array_has_the_bytes_of_one_run(self):
        array, submission = blocks("sh")
        (self.folder / "calibrate.sh").write_text(array)
        sbatch = self.folder / "bin/sbatch"
        sbatch.write_text(SBATCH)
        sbatch.chmod(0o755)
        self.execute("sh", "-ec", submission)
        self.assertEqual(len(list((self.folder / "states").iterdir())), 16)

    @unittest.skipUnless(importlib.util.find_spec("distributed"), "dask is not installed (pip install 'dask[distributed]')")
    def test_dask_has_the_bytes_of_one_run(self):
        self.python("qdq.distributed")

    @unittest.skipUnless(importlib.util.find_spec("ray"), "ray is not installed (pip install ray)")
    def test_ray_has_the_bytes_of_one_run(self):
        self.python("ray")


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
