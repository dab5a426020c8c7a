# SPDX-License-Identifier: Apache-2.0
"""Prints the ninja targets that suites of tests, or tests, need, and what is installed: targets.py BUILD NAME..."""

import json
import sys
from pathlib import Path


def main():
    build, names = Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    read = lambda name: json.loads((build / f"meson-info/intro-{name}.json").read_text(encoding="utf-8"))
    files = {target["id"]: target["filename"] for target in read("targets")}
    needed = set(read("installed"))
    for test in read("tests"):
        if names & {test["name"], *(suite.split(":")[-1] for suite in test["suite"])}:
            needed.update(test["cmd"][:1], *(files.get(name, []) for name in test["depends"]))
    made = set().union(*files.values())  # meson itself makes others, which have no target
    print(*sorted(str(Path(name).relative_to(build)) for name in needed & made))


main()
