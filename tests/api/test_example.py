#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README has the example program that is built here, and the program prints the right numbers.

    test_example.py EXAMPLE_BINARY SOURCE_DIR c|cpp

1.8 is 72 steps of 0.025, and as a bfloat16 1.8 is 1.796875."""
import os
import pathlib
import re
import subprocess
import sys


def main() -> int:
    binary, root, language = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    source = (root / f"tests/api/example.{language}").read_text(encoding="utf-8")
    program = source[source.index("#include"):]
    blocks = re.findall(rf"```{language}\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.S)
    wrapper = os.environ.get("MESON_EXE_WRAPPER", "").split()  # set in a cross build
    output = subprocess.run([*wrapper, binary], capture_output=True, text=True, timeout=60, check=False)
    checks = {
        "the README shows the program that is tested": program in blocks,
        "it exits with 0": output.returncode == 0,
        "it prints 1.8 -> 1.79688": output.stdout == "1.8 -> 1.79688\n",
    }
    for name, fine in checks.items():
        print("ok" if fine else "FAIL", name)
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
