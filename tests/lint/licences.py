#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each file of code names its licence in one of its first three lines.

    licences.py SOURCE_DIR
"""
import os
import pathlib
import sys

ENDS = (".c", ".h", ".py", ".js", ".css", ".html", ".in", ".toml", ".sh", ".map", "meson.build", "meson_options.txt")
PROGRAMS = {"dev", ".ci/run", "tests/cross/run", "tests/cross/run_i686", "tests/install/run", "tests/python/run",
            "tests/python/wheels", "python/packages", "python/wheel", "python/wheels"}
SKIPPED = {".git", "subprojects", "__pycache__", "corpus"}
LINE = "SPDX-License-Identifier: Apache-2.0"


def files(root: pathlib.Path):
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in SKIPPED and not (pathlib.Path(folder) / name / "meson-info").exists()]
        for name in names:
            path = pathlib.Path(folder) / name
            if name.endswith(ENDS) or path.relative_to(root).as_posix() in PROGRAMS:
                yield path


def names_licence(path: pathlib.Path) -> bool:
    with open(path, encoding="utf-8") as file:
        return any(LINE in file.readline() for _ in range(3))


root = pathlib.Path(sys.argv[1])
found = sorted(files(root))
lacking = [path.relative_to(root).as_posix() for path in found if not names_licence(path)]
for name in lacking:
    print(f"{name}: has no line '{LINE}', wanted it at the top; add it as a comment")
sys.exit(bool(lacking) or len(found) < 500)
