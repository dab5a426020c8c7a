#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each file of tests is named where tests are run: a file that no list names would never run.

    test_lists.py SOURCE_DIR
"""
import pathlib
import re
import sys

LISTS = ["tests/meson.build", "tests/fuzz/meson.build", "tests/python/run", ".ci/run"]


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    words = set()
    for name in LISTS:
        words.update(re.findall(r"\w+", (root / name).read_text(encoding="utf-8")))
    files = sorted(path for path in (root / "tests").rglob("test_*") if path.suffix in (".c", ".cpp", ".py"))
    errors = [f"{path.relative_to(root).as_posix()}: no list of tests names it, wanted in one of {', '.join(LISTS)}"
              for path in files
              if not {path.stem, path.stem.removeprefix("test_"), path.stem.removeprefix("test_cli_"),
                      path.stem.removeprefix("test_large_")} & words]
    for error in errors:
        print(error)
    print(f"{len(files)} files, {len(errors)} errors")
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main())
