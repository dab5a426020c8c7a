#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program prints for the documents lies in its place.

    test_printed.py QDQ_BINARY SOURCE_DIR [--write]

Without --write each file that differs from what the program prints is a failure. With it the file
is written: `./dev docs` does this. Documents are printed as a whole, or their transcripts are, and in docs/targets.md the
tables behind "**Held against**". So are the signatures of the ops in Python.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from documents import renewed, run_qdq, write_graphs

# Files that are printed as a whole, and the command that prints each.
PRINTED = {
    "docs/ops.md": "ops --markdown",
    "docs/rules.md": "targets --markdown",
}
SIGNATURES = "python/qdq/_ops.pyi"  # python/stub.py writes it from what `qdq ops --json` prints
# Documents whose console blocks show all ops or all targets. In every other document a transcript
# is mended by hand, so that nobody renews a wrong number unseen.
TRANSCRIPTS = ["README.md", "docs/targets.md"]


def printed(qdq, command):
    code, text = run_qdq(qdq, command.split(), ".")
    if code != 0:
        raise SystemExit(f"`qdq {command}` exits {code}")
    return text


def signatures(qdq, root):
    return subprocess.run([sys.executable, root / "python/stub.py"], input=printed(qdq, "ops --json"), capture_output=True,
                          check=True, text=True).stdout  # fmt: skip


def with_transcripts(qdq, root, name):
    text = (root / name).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="qdq-docs-") as folder:
        (Path(folder) / "models").symlink_to(root / "models")
        list(write_graphs(text, Path(folder)))
        return renewed(text, qdq, folder)


def named(versions, releases, before=""):
    """The versions in words: `1.29-*` for all variants of a release, `*-vnni` for a variant of all releases; `before`
    stands before each."""
    names, left = [], list(versions)
    for end in (0, 1):
        for part in dict.fromkeys(version.partition("-")[2 - 2 * end] for version in versions):
            same = [r for r in releases if "-" in r and r.partition("-")[2 - 2 * end] == part]
            if len(same) > 1 and set(same) <= set(left):
                names.append(f"{part}-*" if end else f"*-{part}")
                left = [version for version in left if version not in same]
    return ", ".join(f"`{before}{version}`" for version in names + left)


def evidence_table(target):
    """The rows of what the numbers of a target were held against."""
    rows = ["| versions | ops | bits | evidence | against | compared | date |", "|---|---|---|---|---|---|---|"]
    for row in target["evidence"]:
        versions = named(row["versions"], target["releases"]) or "all"
        if set(row["versions"]) == set(target["releases"]):
            versions = "all"
        what = ", ".join(filter(None, [row["what"], row["condition"]]))
        cells = [versions, what, row["bits"], row["kind"], row["against"], row["compared"], row["date"]]
        rows.append("".join(f"| {cell} " if cell else "| " for cell in cells) + "|")
    return "\n".join(rows) + "\n"


def op_table(targets):
    """The number of ops by how well their bits are known, for each version of the targets; a row has all versions of a
    target with its counts."""
    words = ["version", "exact", "exact_on_condition", "read", "close", "unknown"]
    rows = ["| " + " | ".join(word.replace("_", " ") for word in words) + " |", "|---" * len(words) + "|"]
    for target in targets:
        equal = {}  # versions by their counts
        for one in target["ops"]:
            equal.setdefault(tuple(str(one[word]) for word in words[1:]), []).append(one["version"].partition("@")[2])
        for counts, versions in equal.items():
            name = named(versions, target["releases"], f"{target['name']}@") if versions[0] else f"`{target['name']}`"
            rows.append("| " + " | ".join([name, *counts]) + " |")
    return "\n".join(rows) + "\n"


def with_evidence(qdq, text):
    """targets.md with the table of ops, and the table of each target, in the order of the targets."""
    listed = json.loads(printed(qdq, "targets --json"))["targets"]
    targets = iter(listed)
    text = re.sub(r"(?m)^(\*\*Ops by evidence\*\*\n\n)(?:\|.*\n)*", lambda m: m[1] + op_table(listed), text)
    return re.sub(r"(?m)^(\*\*Held against\*\*\n\n)(?:\|.*\n)*", lambda m: m[1] + evidence_table(next(targets)), text)


def main(words):
    write = "--write" in words
    words = [word for word in words if word != "--write"]
    qdq = shutil.which(words[0]) if len(words) == 2 else None
    if not qdq:
        print(__doc__, file=sys.stderr)
        return 2
    qdq, root = str(Path(qdq).resolve()), Path(words[1]).resolve()
    wanted = {name: printed(qdq, command) for name, command in PRINTED.items()}
    wanted |= {name: with_transcripts(qdq, root, name) for name in TRANSCRIPTS}
    wanted[SIGNATURES] = signatures(qdq, root)
    wanted["docs/targets.md"] = with_evidence(qdq, wanted["docs/targets.md"])
    failed = 0
    for name, text in wanted.items():
        path = root / name
        same = path.is_file() and path.read_text(encoding="utf-8") == text
        if same or not write:
            print(f"ok {name}" if same else f"FAIL {name} is stale: run ./dev docs")
            failed += not same
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
