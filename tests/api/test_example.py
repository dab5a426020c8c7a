#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A document has the example program that is built here, and the program prints the right numbers.

    test_example.py EXAMPLE_BINARY SOURCE_DIR SOURCE

1.8 is 72 steps of 0.025, and as a bfloat16 1.8 is 1.796875. The scores of models/digits are 360 times 10 floats."""
import os
import pathlib
import re
import subprocess
import sys

# By source: the document, the language of the block, arguments, and what is printed.
EXAMPLES = {
    "example.c": ("docs/c.md", "c", [], "1.8 -> 1.79688\n"),
    "example.cpp": ("docs/c.md", "cpp", [], "1.8 -> 1.79688\n"),
    "example_load.c": ("docs/c.md", "c", ["models/digits/int8.json"], "scores: float32, 14400 bytes\n"),
}


def main() -> int:
    binary, root, name = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
    document, language, arguments, wanted = EXAMPLES[name]
    source = (root / "tests/api" / name).read_text(encoding="utf-8")
    program = source[source.index("#include"):]
    blocks = re.findall(rf"```{language}\n(.*?)```", (root / document).read_text(encoding="utf-8"), re.S)
    wrapper = os.environ.get("MESON_EXE_WRAPPER", "").split()  # set in a cross build
    output = subprocess.run([*wrapper, binary, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=root)
    checks = {
        f"{document} shows the program that is tested": program in blocks,
        "it exits with 0": output.returncode == 0,
        f"it prints {wanted.strip()}": output.stdout == wanted,
    }
    for check, fine in checks.items():
        print("ok" if fine else "FAIL", check)
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
