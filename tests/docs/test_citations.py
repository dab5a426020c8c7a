#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_citations.py SOURCE_DIR: whoever reads a file here can look up what it cites.

Markdown documents that a file names are in the repository. A block of commands in a document has
one command a line, and the files of the repository that a command names are there.
"""
import re
import sys
from pathlib import Path

FOLDERS = ["docs", "graph", "include", "models", "ops", "runtime", "tests", "tools"]
ENDINGS = {".c", ".cpp", ".h", ".py", ".md", ".build", ".json", ".txt"}
NAME = re.compile(r"(?<![\w/.-])((?:\.\./)*[\w-][\w./-]*\.md)\b")
LINK = re.compile(r"https?://\S+")
PROGRAMS = {"python3", "qdq", "meson", "ninja", "cc", "./dev", "v/bin/pip", "v/bin/python"}
INSIDE = re.compile(r"(?<![\w/.-])((?:docs|models|tests|tools)/[\w./-]+\.\w+)")


def files_of(root):
    yield from sorted(root.glob("*.md"))
    for folder in FOLDERS:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in ENDINGS)


def missing_documents(path, text, root):
    """Names are from the folder of the file, from the root, or of the folder docs."""
    for name in sorted(set(NAME.findall(LINK.sub("", text)))):
        places = (path.parent, root, root / "docs")
        if not any((place / name).is_file() for place in places):
            yield f"cites {name}, which is not in the repository"


def command_lines(text):
    """Lines of indented blocks that begin with a program, without their comments."""
    for line in text.splitlines():
        if line.startswith("    ") and line.split()[:1] and line.split()[0] in PROGRAMS:
            yield line.split("#")[0].strip()


def wrong_commands(text, root):
    for line in command_lines(text):
        if re.search(r"\S {3,}\S", line):
            yield f"has several commands in the line '{line}'"
        for name in INSIDE.findall(line):
            if not (root / name).exists():
                yield f"runs {name}, which is not in the repository"


def main():
    root, count, errors = Path(sys.argv[1]).resolve(), 0, []
    for path in files_of(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        found = list(missing_documents(path, text, root))
        if path.suffix == ".md":
            found += wrong_commands(text, root)
        errors += [f"{path.relative_to(root)}: {error}" for error in found]
        count += 1
    print("\n".join(errors))
    print(f"{count} files, {len(errors)} errors")
    return 1 if errors or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
