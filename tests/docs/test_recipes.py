#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/adding-an-op.md and docs/adding-a-target.md work as printed.

    test_recipes.py SOURCE_DIR [--build FOLDER]

Pastes each block of a page into a copy of the tree. The line above a block ends with the file it
changes, in backticks and with a colon. A ```diff block replaces the text of its " " and "-" lines,
which the file must have exactly once, by its " " and "+" lines. Any other block is a new file.
Without --build the C files that changed or are new must compile. With --build the copies are in
FOLDER, a folder for each page, and the commands of the ```console blocks run in it, in order; each must exit 0 and print
the lines below it, if there are any. A line "..." stands for any lines, "..." in a line for any text.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from documents import as_pattern, read_blocks

PAGES = ["docs/adding-an-op.md", "docs/adding-a-target.md"]
TREE = ["include", "runtime", "ops", "graph", "tools", "tests", "models", "docs"]
NAMES_FILE = re.compile(r"`([\w./-]+/[\w.-]+)`[^`]*:$")
BUILD_TIMEOUT = 3600  # seconds, against hanging
FLAGS = ["-std=c11", "-D_DEFAULT_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]


def copy_tree(root, folder):
    ignored = shutil.ignore_patterns("__pycache__")
    for name in TREE:
        shutil.copytree(root / name, folder / name, ignore=ignored)
    for path in root.iterdir():
        if path.is_file() and not path.is_symlink():
            shutil.copy(path, folder / path.name)


def pastes(text, page):
    """(line, language, file, lines) of each block that is to be pasted."""
    lines = text.splitlines()
    for start, language, block in read_blocks(text):
        named = NAMES_FILE.search(lines[start - 3]) if not lines[start - 2] else None
        if language == "console":
            continue
        if not named:
            raise SystemExit(f"FAIL {page}:{start}: no file is named above the block")
        yield start, language, named.group(1), block


def changed(old, block, where):
    """The text of a file after a ```diff block."""
    before = "\n".join(line[1:] for line in block if line[:1] != "+")
    after = "\n".join(line[1:] for line in block if line[:1] != "-")
    if old.count(f"\n{before}\n") != 1:
        raise SystemExit(f"FAIL {where}: the file has these lines {old.count(before)} times:\n{before}")
    return old.replace(f"\n{before}\n", f"\n{after}\n")


def paste(text, page, folder):
    """Pastes all blocks; returns the files."""
    paths = []
    for line, language, name, block in pastes(text, page):
        path, where = folder / name, f"{page}:{line}: {name}"
        if language == "diff":
            if not path.is_file():
                raise SystemExit(f"FAIL {where}: there is no such file")
            new = changed(path.read_text(encoding="utf-8"), block, where)
        elif path.exists():
            raise SystemExit(f"FAIL {where} exists already")
        else:
            new = "\n".join(block) + "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(new, encoding="utf-8")
        print(f"ok {where} is pasted")
        if path not in paths:
            paths.append(path)
    return paths


def compiles(path, folder):
    compiler = os.environ.get("CC", "cc").split()
    if not shutil.which(compiler[0]):
        return True
    done = subprocess.run([*compiler, *FLAGS, f"-I{folder}", f"-I{folder / 'include'}", str(path)],
                          capture_output=True, encoding="utf-8", check=False)
    name = path.relative_to(folder)
    print(f"ok {name} compiles" if done.returncode == 0 else f"FAIL {name}\n{done.stderr}")
    return done.returncode == 0


def commands(text):
    """(line, command, lines that it prints) of the console blocks."""
    for start, language, block in read_blocks(text):
        if language != "console":
            continue
        shown = None
        for number, line in enumerate(block, start + 1):
            if line.startswith("$ "):
                if shown:
                    yield shown
                shown = (number, line[2:], [])
            else:
                shown[2].append(line)
        if shown:
            yield shown


def runs(page, line, command, wanted, folder):
    done = subprocess.run(command, shell=True, cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          timeout=BUILD_TIMEOUT, check=False)
    same = not wanted or re.fullmatch(as_pattern(wanted), done.stdout)
    fine = done.returncode == 0 and same
    name = f"{page}:{line}: $ {command}"
    print(f"ok {name}" if fine else f"FAIL {name} exits {done.returncode}, prints\n{done.stdout}",
          flush=True)
    return fine


def main(words):
    if not words or words[1:2] not in ([], ["--build"]) or len(words) == 2:
        print(__doc__, file=sys.stderr)
        return 2
    root, results = Path(words[0]).resolve(), []
    with tempfile.TemporaryDirectory(prefix="qdq-recipes-") as temporary:
        for page in PAGES:
            text = (root / page).read_text(encoding="utf-8")
            folder = Path(words[2] if len(words) == 3 else temporary).resolve() / Path(page).stem
            folder.mkdir(parents=True, exist_ok=True)
            copy_tree(root, folder)
            paths = paste(text, page, folder)
            if len(words) == 3:
                results.append(all(runs(page, *shown, folder) for shown in commands(text)))
            else:
                results += [compiles(path, folder) for path in paths if path.suffix == ".c"]
    print(f"{len(results)} checks, {results.count(False)} failed")
    return 1 if not results or not all(results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
