#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_printed.py QDQ_BINARY DOCS_DIR: docs/ops.md and docs/rules.md are what the program prints."""
import pathlib
import subprocess
import sys


def main() -> int:
    binary, docs = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = 0
    for name, command in (("ops.md", "ops"), ("rules.md", "targets")):
        printed = subprocess.run([binary, command, "--markdown"], capture_output=True, text=True, timeout=60,
                                 check=True).stdout
        same = (docs / name).read_text(encoding="utf-8") == printed
        print("ok" if same else "FAIL", f"docs/{name} is what `qdq {command} --markdown` prints")
        failed += not same
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
