#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No more than five files of a library call each other in a circle.

    circles.py LIBRARY.a...

Reads the symbols that each object defines and uses. A circle is a set of objects of which each reaches each
other one. Exits with 77 if there is no nm.
"""
import shutil
import subprocess
import sys

MOST = 5


def calls_of(libraries):
    """{object: objects whose symbols it uses}."""
    makers, users = {}, {}
    for library in libraries:
        for line in subprocess.run(["nm", "-A", library], capture_output=True, check=True, text=True).stdout.splitlines():
            place, _, rest = line.rpartition(":")
            name, words = place.rsplit(":", 1)[-1].rsplit("/", 1)[-1], rest.split()
            if len(words) < 2:
                continue
            users.setdefault(name, set())
            if words[-2] == "U":
                users[name].add(words[-1])
            elif words[-2] in "TDRB":
                makers[words[-1]] = name
    return {name: {makers[symbol] for symbol in symbols if symbol in makers} for name, symbols in users.items()}


def reached_from(calls, start):
    seen, left = set(), [start]
    while left:
        for name in calls[left.pop()] - seen:
            seen.add(name)
            left.append(name)
    return seen


def main():
    if not shutil.which("nm"):
        print("skipped: there is no nm")
        return 77
    calls = calls_of(sys.argv[1:])
    reached = {name: reached_from(calls, name) for name in calls}
    circles = {frozenset(other for other in reached[name] if name in reached[other]) for name in calls}
    large = [sorted(circle) for circle in circles if len(circle) > MOST]
    for circle in large:
        print(f"{len(circle)} files call each other in a circle, at most {MOST} may: {', '.join(circle)}")
    print(f"{len(calls)} files, {len(large)} errors")
    return 1 if large or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
