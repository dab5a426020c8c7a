#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone, and uses of each of its macros, as C++17 and C++20 without
warnings.

    test_cplusplus.py SOURCE_DIR

Tries g++ and clang++ with many warnings enabled, and exits with 77 if neither is installed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILERS = ["g++", "clang++-14", "clang++"]
STANDARDS = ["c++17", "c++20"]
FLAGS = ["-fsyntax-only", "-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wold-style-cast",
         "-Wundef"]


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    found = {os.path.realpath(path): name for name in COMPILERS if (path := shutil.which(name))}
    compilers = sorted(found.values())
    public = root / "include/qdq"
    headers = sorted(path.relative_to(public).as_posix() for path in public.rglob("*.h"))
    if not compilers:
        print("skipped: there is no C++ compiler here")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        alone = []
        for name in headers:
            alone.append(pathlib.Path(folder) / f"{name.replace('/', '_')}.cpp")
            alone[-1].write_text(f"#include <qdq/{name}>\n", encoding="utf-8")
        for compiler in compilers:
            for standard in STANDARDS:
                command = [compiler, f"-std={standard}", *FLAGS, "-I", root / "include", *alone,
                           root / "tests/api/test_values.cpp"]
                done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
                fine = done.returncode == 0
                failed += not fine
                print("ok" if fine else "FAIL", compiler, standard, f"{len(headers)} headers", done.stderr[:3000])
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
