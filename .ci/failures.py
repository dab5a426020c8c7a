# SPDX-License-Identifier: Apache-2.0
"""Prints the names of failed tests and checks, then the last lines of each one's output: failures.py FOLDER

FOLDER holds the test logs of meson (*.json) and the outputs of failed checks (*.log), named after their stages.
"""

import json
import sys
from pathlib import Path

ALL_LINES = 120  # printed at most, names and logs
NAMES = 40
LOGS = 10
LOG_LINES = 40


def failures(folder):
    """Yields the title and the output of each failed test or check, the oldest file first."""
    for file in sorted(Path(folder).iterdir(), key=lambda file: file.stat().st_mtime):
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix == ".log":
            yield file.stem, text
            continue
        for line in text.splitlines():
            test = json.loads(line)
            if test["result"] not in ("OK", "SKIP"):
                yield f"{file.stem}: {test['name']}: {test['result']}", (test.get("stdout") or "") + (test.get("stderr") or "")


def main():
    found = list(failures(sys.argv[1]))
    if not found:
        return
    print("\nfailed:")
    for title, _ in found[:NAMES]:
        print(f"  {title}")
    if len(found) > NAMES:
        print(f"  and {len(found) - NAMES} more")
    logs = [[line[:300] for line in output.splitlines() if line.strip()][-LOG_LINES:] for _, output in found[:LOGS]]
    left = ALL_LINES - 3 - min(len(found), NAMES) - 2 * len(logs)  # two lines for each title
    shares = {}
    for i in sorted(range(len(logs)), key=lambda i: len(logs[i])):  # short logs leave their lines to long ones
        shares[i] = min(len(logs[i]), left // (len(logs) - len(shares)))
        left -= shares[i]
    for i, log in enumerate(logs):
        print(f"\n---- {found[i][0]}", *log[len(log) - shares[i]:], sep="\n")


main()
