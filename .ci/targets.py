# SPDX-License-Identifier: Apache-2.0
"""Prints the ninja targets that some suites of tests need, and what is installed: targets.py BUILD SUITE...

BUILD is fresh: a file that is there already was made by meson, and has no target.
"""

import json
import sys
from pathlib import Path


def main():
    build, suites = Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    read = lambda name: json.loads((build / f"meson-info/intro-{name}.json").read_text(encoding="utf-8"))
    files = {target["id"]: target["filename"] for target in read("targets")}
    needed = set(read("installed"))
    for test in read("tests"):
        if suites & {suite.split(":")[-1] for suite in test["suite"]}:
            needed.update(test["cmd"][:1], *(files.get(name, []) for name in test["depends"]))
    inside = (Path(name) for name in needed if Path(name).is_relative_to(build))
    print(*sorted(str(path.relative_to(build)) for path in inside if not path.exists()))


main()
