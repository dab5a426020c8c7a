# SPDX-License-Identifier: Apache-2.0
"""A process that times one peer: it reads orders as JSON lines and answers each with a line."""

import json
import os
import subprocess
import sys


class Process:
    """Starts words with these environment variables, on these CPUs or on all, and stays alive until stop()."""

    def __init__(self, words, variables, cpus=None):
        self.name = " ".join(map(str, words[1:4]))
        self.process = subprocess.Popen(
            words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **variables},
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None)  # fmt: skip
        self.about = self.answer()["about"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended")
        return json.loads(line)

    def ask(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
