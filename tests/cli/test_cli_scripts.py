#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each script of the repository prints its help and does nothing else if asked for help."""

import os
import subprocess
from pathlib import Path

import harness
from harness import Case, main

STOPPED = ("apt-get", "dpkg", "sudo", "meson", "ninja", "debootstrap")


class Scripts(Case):
    def setUp(self):
        super().setUp()
        for name in STOPPED:  # replacements that leave a trace when called
            (self.folder / name).write_text(f'#!/bin/sh\ntouch "{self.folder}/called"\nexit 1\n')
            os.chmod(self.folder / name, 0o755)

    def call(self, *words, code=0):
        root = Path(harness.MODELS).resolve().parent
        done = subprocess.run([root / words[0], *words[1:]], cwd=self.folder, capture_output=True,
                              text=True, timeout=harness.TIMEOUT, check=False,
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertFalse((self.folder / "called").exists(), f"{words} ran one of {STOPPED}")
        return done

    def test_help(self):
        for words, wanted in ((["dev"], "usage: ./dev"), (["dev", "help"], "usage: ./dev"),
                              (["dev", "--help"], "usage: ./dev"),
                              (["tests/cross/run", "--help"], "aarch64"),
                              (["tests/cross/run", "-h"], "aarch64"),
                              (["tests/cross/run_i686", "--help"], "32-bit x86"),
                              (["tests/install/run", "--help"], "clean Debian"),
                              ([".ci/run", "--help"], "usage: .ci/run")):
            done = self.call(*words)
            self.assertIn(wanted, done.stdout)
            self.assertEqual(done.stderr, "")
            for line in done.stdout.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_unknown_words_are_refused(self):
        for words in (["dev", "bogus"], ["tests/cross/run", "--bogus"], ["tests/cross/run_i686", "--bogus"]):
            self.assertIn(f"'{words[1]}'", self.call(*words, code=2).stderr)


if __name__ == "__main__":
    main()
