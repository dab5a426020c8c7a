# SPDX-License-Identifier: Apache-2.0
"""A small model and its samples, for tests of qdq.distributed."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import qdq
from qdq import _tool, distributed

SHAPE = (4, 5)
COUNT = 45


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model, self.data = self.folder / "net.json", self.folder / "data"
        b = qdq.Builder("net")
        b.output("y", b.exp(b.relu(b.input("x", "float32", SHAPE), name="r"), name="e"))
        b.build().write(self.model)
        self.data.mkdir()
        rng = np.random.default_rng(5)
        for i in range(COUNT):
            np.save(self.data / f"{i:03}.npy", rng.normal(0, 3, SHAPE).astype(np.float32))

    def single(self):
        """One process, one thread, no shards."""
        return qdq.calibrate(self.model, self.data, state=self.folder / "single.state", threads=1)

    def calibrate(self, scheduler=None, shards=None, data=None, **options):
        out = self.folder / "all.state"
        return distributed.calibrate(self.model, data or self.data, scheduler, shards, out=out, **options)

    def tool(self, name, script):
        """Writes a tool that runs a script of the shell before it becomes qdq."""
        tool = self.folder / name
        tool.write_text(f'#!/bin/sh\n{script}\nexec {_tool.path()} "$@"\n')
        tool.chmod(0o755)
        return tool

    def slow_tool(self, seconds=0.5):
        """A tool that notes each call in a file and takes longer."""
        log = self.folder / "calls"
        tool = self.tool("qdq", f'echo "$*" >>{log}\nsleep {seconds}')
        patched = mock.patch.dict(os.environ, QDQ_TOOL=str(tool))
        patched.start()
        self.addCleanup(patched.stop)
        return log


def shards_in(log):
    """Returns the shards of the calls that a tool has noted."""
    calls = log.read_text().splitlines()
    return [call.split("--shard ")[1].split()[0] for call in calls if call.startswith("calibrate")]


def alive(pid):
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")
