#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts words that make comments and documents hard to read, for each 1,000 words.

    prose.py SOURCE_DIR [PART ...] [--list NAME]

Fails if a count of a part is above its limit. Parts: "comments" of C files, and "documents": README.md, CONTRIBUTING.md
and docs/*.md without the pages that the program prints; by default both. `--list` shows each place of a count.
"""
import argparse
import re
import sys
from pathlib import Path

FOLDERS = ["include", "runtime", "ops", "graph", "tools"]
PRINTED = {"ops.md", "rules.md"}
# A sentence begins at the beginning of a comment, an item or a cell, and after a full stop or a colon.
BEGINS = r"(?:\A|(?<=[.:;!?] )|(?<=\n))"
COUNTS = {
    "openings": (BEGINS + r"(?:Of|What|Where|Those|So)\b", 0.3),
    "whether": (BEGINS + r"Whether\b", 0.1),
    "make": (r"\b(?:make|makes|made)\b", 1.2),
    "crutches": (r"\b(?:of which|there are|as they are|of its own)\b", 1.2),
}


def comments(text):
    """The comments of a C file: consecutive lines are one, and each comment behind code is one."""
    blocks, before = [], False
    for line in text.splitlines():
        alone = re.match(r"\s*//-*\s?(.*)", line)
        behind = None if alone else re.search(r";?.*?\s//\s(.*)", line)
        if alone and before:
            blocks[-1] += " " + alone[1]
        elif alone or behind:
            blocks.append((alone or behind)[1])
        before = alone is not None
    return [block for block in blocks if "SPDX" not in block or len(block) > 60]


def prose(text):
    """The sentences of a document: without code, tables' rules and the targets of links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"`[^`]*`", "x", text)
    blocks = re.split(r"\n\s*\n|^#+ .*$|^\s*[*-] |^\s*\d+\. |\|", text, flags=re.M)
    return [" ".join(block.split()).replace("**", "") for block in blocks if block.strip()]


def main():
    parts = {"comments": [], "documents": []}
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("limited", nargs="*", metavar="PART", help="comments, documents")
    parser.add_argument("--list", choices=COUNTS)
    given = parser.parse_args()
    root, limited = given.root, given.limited or list(parts)
    if not set(limited) <= set(parts):
        parser.error(f"unknown part in {limited}, wanted {' or '.join(parts)}")
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            parts["comments"] += [(path, block) for block in comments(path.read_text(encoding="utf-8"))]
    for path in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
        if path.name not in PRINTED:
            parts["documents"] += [(path, block) for block in prose(path.read_text(encoding="utf-8"))]
    failed = 0
    for part, blocks in parts.items():
        words = sum(len(block.split()) for _, block in blocks)
        for name, (pattern, limit) in COUNTS.items():
            found = [(path, match) for path, block in blocks for match in re.finditer(pattern, block)]
            rate = 1000 * len(found) / max(words, 1)
            above = rate > limit
            failed += above and part in limited
            mark = "ok" if not above else "FAIL" if part in limited else "above"
            print(f"{mark} {part}: {name} {rate:.2f} of 1,000 words, at most {limit}")
            if name == given.list:
                for path, match in found:
                    end = match.string[max(match.start() - 40, 0):match.end() + 60]
                    print(f"    {path.relative_to(root)}: ...{end}")
        print(f"{part}: {words} words")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
