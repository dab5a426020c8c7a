# SPDX-License-Identifier: Apache-2.0
"""Writes a page for each file: a section for each group, whose anchor is its id without the file's name and
without dots."""

import json

from tensor import number

HEAD = """# {title}

The groups of [{name}.json](../{name}.json), as [README.md](../README.md) describes them. `vectors/generator` prints this page.

"""


def shown(value):
    return json.dumps(value).strip('"') if not isinstance(value, float) else f"{value:.9g}"


def element(dtype, word):
    """Returns an element as a number, NaN as nan."""
    value = float("nan") if word == "nan" else number(dtype, int(word, 16))
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def elements(one, bits, most=32):
    """Returns the elements of a tensor as numbers; a long tail of equal ones is counted."""
    found = [element(one["dtype"], word) for word in bits.split()]
    end = len(found)
    while end > 1 and found[end - 1] == found[-1]:
        end -= 1
    if len(found) - end > 3:
        found = [*found[: end + 1], f"... ({len(found) - end - 1} more)"]
    return " ".join(found)


def section(group):
    rows = [f"## {group['id'].partition('/')[2]}", "", f"`{group['id']}`: {group['about']}.", ""]
    rows += [f"`{key}` {shown(value)}" for key, value in group.get("attributes", {}).items()]
    nodes = [f"{one['op']} `{one['name']}` of {', '.join(map(str, one['inputs'].values()))}" for one in group.get("nodes", [])]
    rows = rows[:4] + [f"* {group['op']}: {', '.join(rows[4:] or nodes)}"]
    rows += [f"* `{one['name']}`, {one['dtype']} {one['shape']}: {elements(one, one['bits'])}" for one in group["inputs"]]
    if "bugs" in group:
        rows.append(f"* Catches {', '.join(group['bugs'])}")
    rows += ["", "| backends | results | cause |", "|---|---|---|"]
    for row in group["results"]:
        texts = [f"{one['name']}: {elements(one, row['bits'][one['name']])}" for one in group["outputs"] if "bits" in row]
        cell = "unknown" if "unknown" in row else "refused" if "refused" in row else "; ".join(texts)
        rows.append(f"| {', '.join(row['backends'])} | {cell} | {', '.join(row.get('causes', []) + row.get('refused', []))} |")
    rows += [""] * ("recorded" in group or "differing" in group)
    rows += [f"Recorded from {', '.join(group['recorded'])} itself."] if "recorded" in group else []
    for backend, bits in group.get("differing", {}).items():
        texts = [f"{one['name']}: {elements(one, bits[one['name']])}" for one in group["outputs"] if one["name"] in bits]
        rows.append(f"{backend} itself gave {'; '.join(texts)}, which the row above does not have.")
    return "\n".join(rows)


def page(name, text):
    """Returns the page of a file whose text is given."""
    content = json.loads(text)
    names = [one["id"].partition("/")[2] for one in content["groups"]]
    listed = " ".join(f"[{one}](#{one.replace('.', '')})" for one in names)
    return HEAD.format(title=content["title"], name=name) + "\n\n".join([listed, *map(section, content["groups"])]) + "\n"
