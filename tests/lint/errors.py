#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tools/ passes an error to each of its functions that takes one. Functions of the library take NULL, those
of the tool do not: they read the error that they set.

    errors.py SOURCE_DIR
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TAKES = re.compile(r"\b([a-z]\w+)\(([^();{}]*qdq_error \*\w+)\)\s*[;{]")


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    sources = {path.relative_to(root).as_posix(): COMMENT.sub("", path.read_text(encoding="utf-8"))
               for path in sorted((root / "tools").rglob("*.[ch]"))}
    takes = {name for text in sources.values() for name, _ in TAKES.findall(text)}
    errors = []
    for file, text in sources.items():
        for found in re.finditer(r"\b([a-z]\w+)\(", text):
            if found.group(1) not in takes:
                continue
            depth, at = 1, found.end()
            while depth and at < len(text):
                depth += (text[at] == "(") - (text[at] == ")")
                at += 1
            if re.search(r",\s*NULL$", text[found.end():at - 1]):
                line = text.count("\n", 0, found.start()) + 1
                errors.append(f"{file}: near line {line}, {found.group(1)} is called without an error")
    for error in errors:
        print(error)
    print(f"{len(takes)} functions take an error, {len(errors)} calls lack one")
    return 1 if errors or not takes else 0


if __name__ == "__main__":
    sys.exit(main())
