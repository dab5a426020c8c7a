#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rule has a smallest good and a smallest bad graph, and says of the bad one exactly what
bad.txt has.

    test_rules.py QDQ_BINARY

The files of the rule core/axis-range are core/axis-range/{good.json,bad.json,bad.txt}. A rule that
newer releases of its target have no more is tried at the last release that has it; a rule with
bounds is found in bad.json at the releases within them, and at no other.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = ["bad.json", "bad.txt", "good.json"]
KEYS = ["rule", "severity", "node", "target", "message", "hint"]
TIMEOUT = 30  # seconds, against hanging
# No op of today breaks these: oneDNN Graph has all, or another rule refuses them.
# tests/graph/test_target_ops.c holds that a new op would.
UNBROKEN = {"onednn/op-unknown"}


class Tests:
    def __init__(self):
        self.count = self.failed = 0

    def expect(self, name, fine, why=""):
        self.count += 1
        self.failed += not fine
        print(f"ok {name}" if fine else f"FAIL {name}: {why}")


def run(qdq, folder, *words):
    return subprocess.run([qdq, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", errors="surrogateescape", timeout=TIMEOUT)


def read_json(text):
    try:
        return json.loads(text)
    except ValueError:
        return {}


def list_rules(qdq):
    listed = read_json(run(qdq, HERE, "targets", "--json").stdout)
    return [(profile_of(target, rule), rule, target["releases"])
            for target in listed.get("targets", []) for rule in target["rules"]]


def profile_of(target, rule):
    """The newest profile of the target at which the rule holds."""
    if not rule["until"]:
        return target["name"]
    releases = target["releases"]
    return f"{target['name']}@{releases[releases.index(rule['until']) - 1]}"


def test_folders(tests, rules):
    ids = {rule["id"] for _, rule, _ in rules}
    tests.expect("there are rules", bool(ids), "`qdq targets --json` lists none")
    tests.expect("no two rules have one id", len(ids) == len(rules), f"{len(rules)} rules")
    for folder in sorted(path for path in HERE.glob("*/*") if path.is_dir()):
        name = folder.relative_to(HERE).as_posix()
        tests.expect(f"{name}: the folder has a rule", name in ids, "no such rule")


def test_good(tests, qdq, target, rule, folder):
    done = run(qdq, folder, "check", "good.json", "--target", target, "--json")
    found = read_json(done.stdout).get("findings")
    tests.expect(f"{rule}: good.json has no finding", found == [], done.stdout + done.stderr)
    tests.expect(f"{rule}: good.json exits 0", done.returncode == 0, f"exits {done.returncode}")


def test_bad_text(tests, qdq, target, rule, folder, severity):
    wanted = (folder / "bad.txt").read_text(encoding="utf-8")
    done = run(qdq, folder, "check", "bad.json", "--target", target)
    *lines, _ = done.stdout.splitlines(keepends=True) or [""]  # the last one counts them
    tests.expect(f"{rule}: bad.json gives bad.txt", "".join(lines) == wanted,
                 f"\n--- wanted\n{wanted}--- got\n{''.join(lines)}{done.stderr}---")
    tests.expect(f"{rule}: bad.txt names the rule", f"[{rule}]\n" in wanted, wanted)
    tests.expect(f"{rule}: findings are no messages on stderr", done.stderr == "", done.stderr)
    errors = sum(line.startswith("error: ") for line in wanted.splitlines())
    code = 1 if errors else 0
    tests.expect(f"{rule}: bad.json exits {code}", done.returncode == code,
                 f"exits {done.returncode}")
    tests.expect(f"{rule}: an error exits 1", severity != "error" or code == 1, "bad.txt has none")
    done = run(qdq, folder, "check", "bad.json", "--target", target, "--strict")
    tests.expect(f"{rule}: bad.json exits 1 with --strict", done.returncode == 1,
                 f"exits {done.returncode}")


def test_bad_json(tests, qdq, target, rule, folder, severity):
    done = run(qdq, folder, "check", "bad.json", "--target", target, "--json")
    found = read_json(done.stdout).get("findings", [])
    own = [one for one in found if one.get("rule") == rule]
    tests.expect(f"{rule}: bad.json gives it with --json", bool(own), done.stdout + done.stderr)
    for one in found:
        missing = [key for key in KEYS if not isinstance(one.get(key), str)]
        tests.expect(f"{rule}: --json has the keys of a finding", not missing, f"not {missing}")
    for one in own:
        tests.expect(f"{rule}: the severity is {severity}", one.get("severity") == severity,
                     one.get("severity"))
        name = target.split("@")[0]
        tests.expect(f"{rule}: the target is {name}", one.get("target") == name,
                     one.get("target"))
        tests.expect(f"{rule}: there is a hint", bool(one.get("hint")), "it is empty")
    lines = [f"{one.get('severity')}: {one.get('message')} [{one.get('rule')}]\n" for one in found]
    text = run(qdq, folder, "check", "bad.json", "--target", target).stdout
    tests.expect(f"{rule}: --json tells the same as the text", text.startswith("".join(lines)),
                 f"\n{''.join(lines)}---\n{text}")


def test_releases(tests, qdq, target, facts, releases, folder):
    rule, first, end = facts["id"], facts["since"], facts["until"]
    begin = releases.index(first) if first else 0
    end = releases.index(end) if end else len(releases)
    for index, release in enumerate(releases if first or facts["until"] else []):
        done = run(qdq, folder, "check", "bad.json", "--target", f"{target}@{release}", "--json")
        found = any(one["rule"] == rule for one in read_json(done.stdout)["findings"])
        tests.expect(f"{rule}: it is {'' if begin <= index < end else 'not '}found at {release}",
                     found == (begin <= index < end), done.stdout)


def test_rule(tests, qdq, target, facts, releases):
    rule, severity = facts["id"], facts["severity"]
    folder = HERE / rule
    if rule in UNBROKEN:
        return
    files = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    missing = [name for name in FILES if name not in files]
    tests.expect(f"{rule}: the folder is complete", not missing, f"there is no {missing}")
    if missing:
        return
    tests.expect(f"{rule}: nothing else is in the folder", files == FILES, files)
    test_good(tests, qdq, target, rule, folder)
    test_bad_text(tests, qdq, target, rule, folder, severity)
    test_bad_json(tests, qdq, target, rule, folder, severity)
    test_releases(tests, qdq, target.split("@")[0], facts, releases, folder)


def main(words):
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    qdq = str(Path(words[0]).resolve())
    tests = Tests()
    rules = list_rules(qdq)
    test_folders(tests, rules)
    for target, facts, releases in rules:
        test_rule(tests, qdq, target, facts, releases)
    print(f"{tests.count} tests, {tests.failed} failed")
    return 1 if tests.failed or not rules else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
