# SPDX-License-Identifier: Apache-2.0
"""Shortens lists of backends: a name stands for all versions that begin with it, and the longest name that covers a
version wins."""

from collections import Counter


def parts(name):
    """"onnx@1.20-vnni" -> ["onnx", "onnx@1.20", "onnx@1.20-vnni"]."""
    target, at, release = name.partition("@")
    number = release.partition("-")[0]
    return list(dict.fromkeys([target, *([f"{target}@{number}", name] if at else [])]))


def covers(short, name):
    """True if `short` is `name`, or its beginning before @ or -."""
    return name == short or name.startswith((f"{short}@", f"{short}-"))


def compact(rows):
    """rows: {name: row}. Returns {row: the short names that cover its names and no others}."""
    tree, made = {}, {}
    for name in rows:
        node = tree
        for part in parts(name):
            node = node.setdefault(part, {})

    def below(part, node):
        own = [rows[part]] if part in rows else []
        return own + [row for child, inner in node.items() for row in below(child, inner)]

    def visit(part, node, inherited):
        row = rows[part] if part in rows else Counter(below(part, node)).most_common(1)[0][0]
        if row != inherited:
            made.setdefault(row, []).append(part)
        for child, inner in node.items():
            visit(child, inner, row)

    for part, node in tree.items():
        visit(part, node, None)
    return made


def row_of(rows, name):
    """Returns the row whose list of short names covers `name` by the longest. rows: [(short names, row)]."""
    found = [(len(short), row) for names, row in rows for short in names if covers(short, name)]
    return max(found, key=lambda one: one[0])[1] if found else None
