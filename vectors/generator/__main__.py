# SPDX-License-Identifier: Apache-2.0
"""Makes the files of vectors/ from the library, or checks that they are what the library computes.

    python3 vectors/generator --library build/libqdq.so.0 --tool build/tools/qdq [--check] [--only quantize]
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from files import file_text
from library import Library
from pages import page
from results import rows

HERE = Path(__file__).resolve().parents[1]
FILES = ("quantize", "dequantize", "dynamic_quantize", "requantize", "cast", "product",
         "graph")  # each with the module cases_<name>


def lost(path, groups):
    """Returns the ids of the file at `path` that no group has: ids never go away."""
    old = json.loads(path.read_text())["groups"] if path.exists() else []
    return sorted({one["id"] for one in old} - {one.id for one in groups})


def made_files(library, tool, only):
    """Returns {path: text} of every file and its page."""
    made, ids = {}, set()
    names = library.names()
    for name in [one for one in FILES if not only or one in only]:
        module = importlib.import_module(f"cases_{name}")
        groups = module.groups()
        path = HERE / f"{name}.json"
        again = [one.id for one in groups if one.id in ids or ids.add(one.id)]
        if again or lost(path, groups):
            raise SystemExit(f"{path.name}: ids given twice: {again}; ids that are gone: {lost(path, groups)}")
        made[path] = file_text(module.TITLE, names, [rows(library, tool, one) for one in groups])
        made[HERE / "pages" / f"{name}.md"] = page(name, made[path])
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--tool", required=True, help="a qdq that has the command compare")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file differs")
    parser.add_argument("--only", nargs="*", choices=FILES)
    given = parser.parse_args()
    differing = []
    for path, text in made_files(Library(given.library), given.tool, given.only).items():
        if not path.exists() or path.read_text() != text:
            differing.append(path.name)
            if not given.check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
    print(f"{', '.join(differing) or 'no file'} {'differs' if given.check else 'written'}")
    return bool(given.check and differing)


if __name__ == "__main__":
    sys.exit(main())
