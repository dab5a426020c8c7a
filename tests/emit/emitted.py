# SPDX-License-Identifier: Apache-2.0
"""Compiles a C file of `qdq plan --emit-c` with the host's compiler and calls it."""

import ctypes
import itertools
import os
import re
import shutil
import subprocess

COMPILER = os.environ.get("CC", "cc").split()
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
NUMBERS = itertools.count()  # a library that is loaded again would be the old one
ALLOWED = {"float.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}


def has_compiler():
    return shutil.which(COMPILER[0]) is not None


def prototype(text):
    """The name of the function, and the names of its inputs and outputs in order."""
    name, parameters = re.search(r"^void (\w+)_run\((.*)\);$", text, re.M).groups()
    split = [parameter.rpartition("*") for parameter in parameters.split(", ")]
    return (name, [p[2] for p in split if p[0].startswith("const ")],
            [p[2] for p in split if not p[0].startswith("const ")])


def macro(text, name):
    return int(re.search(rf"^#define {name.upper()} (\d+)$", text, re.M).group(1))


class Emitted:
    """One emitted file, compiled and loaded."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.name, self.inputs, self.outputs = prototype(self.text)
        library = path.with_name(f"{path.stem}_{next(NUMBERS)}.so")
        call = [*COMPILER, *FLAGS, str(path), "-o", str(library), "-lm"]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.run = ctypes.CDLL(str(library))[f"{self.name}_run"]

    def __call__(self, inputs, sizes):
        """`inputs`: bytes in the order of the parameters. `sizes`: the bytes of each output. Gives their
        bytes. Memory after each output must stay as it was."""
        guard = b"\xa5" * 64
        given = [ctypes.create_string_buffer(data, len(data)) for data in inputs]
        made = [ctypes.create_string_buffer(b"\xff" * size + guard, size + 64) for size in sizes]
        self.run(*given, *made)
        for size, buffer in zip(sizes, made):
            assert buffer.raw[size:] == guard, "wrote behind an output"
        assert [buffer.raw for buffer in given] == list(inputs), "wrote to an input"
        return [buffer.raw[:size] for size, buffer in zip(sizes, made)]
