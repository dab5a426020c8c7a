#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rule has a case: a minimal good graph, a minimal bad graph, and the exact output of
`qdq check` for the bad one.

    test_rules.py QDQ_BINARY

The cases of a target are the array in TARGET.json, ordered by rule id. A case is an object with
`rule` (the id), `good` and `bad` (graphs, checked as the files good.json and bad.json) and `text`
(the output for bad.json, as lines). A rule that newer releases of its target lack is checked at the
last release that has it, a rule of some versions at the first of them; a rule about the memory of a
device has a `device`, the description that both graphs are checked with (--device); a rule that
needs options of its target has `options`, which are appended to its name; a rule with bounds must be found in bad.json at all releases within them,
and at no other.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASE = {"rule": str, "good": dict, "bad": dict, "text": list}
MORE = {"device": dict, "options": str}  # of some cases
KEYS = ["rule", "severity", "node", "target", "message", "hint"]
TIMEOUT = 30  # seconds before a call counts as hanging
# No file breaks these rules. oneDNN Graph has all ops of today, or another rule refuses them:
# tests/graph/targets/test_target_ops.c checks that a new op would. Bare numbers are of the C API:
# tests/graph/core/test_optional_fields.c.
UNBROKEN = {"core/attribute-not-set", "onednn/op-unknown"}


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
    """The newest version of the target at which the rule holds, or the first variant."""
    versions = rule["versions"]
    if versions and target["releases"][0] not in versions:
        return f"{target['name']}@{versions[0]}"
    if not rule["until"]:
        return target["name"]
    releases = target["releases"]
    return f"{target['name']}@{releases[releases.index(rule['until']) - 1]}"


def name_of(target):
    """The name of a target without its version and options."""
    return target.split("@")[0].split(":")[0]


def read_cases(tests):
    """The cases by rule id. Mistakes in a list of cases fail here; a case without its keys is left
    out."""
    cases = {}
    for path in sorted(HERE.glob("*.json")):
        ids = []
        for case in json.loads(path.read_text(encoding="utf-8")):
            ids.append(case.get("rule", ""))
            types = {key: type(value) for key, value in case.items()}
            whole = CASE | types == types and MORE | CASE | types == MORE | CASE
            tests.expect(f"{ids[-1]}: the case has its keys", whole, f"it has {list(case)}")
            if whole:
                cases[ids[-1]] = case
        tests.expect(f"{path.name}: its rules are in order, each once", ids == sorted(set(ids)),
                     next((f"{b} is after {a}" for a, b in zip(ids, ids[1:]) if a >= b), ids))
        tests.expect(f"{path.name}: its rules are of one target",
                     {rule.split("/")[0] for rule in ids} == {path.stem}, ids)
    return cases


def test_ids(tests, rules, cases):
    ids = {rule["id"] for _, rule, _ in rules}
    tests.expect("there are rules", bool(ids), "`qdq targets --json` lists none")
    tests.expect("no two rules have one id", len(ids) == len(rules), f"{len(rules)} rules")
    for rule in cases:
        tests.expect(f"{rule}: the case has a rule", rule in ids, "no such rule")


def check(qdq, folder, name, target, *words):
    """`qdq check` of a graph, with the device of the case if it has one."""
    device = ["--device", "./device.json"] if Path(folder, "device.json").exists() else []
    return run(qdq, folder, "check", name, "--target", target, *device, *words)


def others(rule, name):
    """True for findings about the evidence of a node, of a rule with this name, in cases of other rules."""
    return name.endswith("/bits-unknown") and name != rule


def findings(done, rule):
    """The findings of a check, without those about evidence."""
    found = read_json(done.stdout).get("findings")
    return found and [one for one in found if not others(rule, one.get("rule", ""))]


def test_good(tests, qdq, target, rule, folder):
    done = check(qdq, folder, "good.json", target, "--json")
    found = findings(done, rule)
    tests.expect(f"{rule}: good.json has no finding", found == [], done.stdout + done.stderr)
    tests.expect(f"{rule}: good.json exits 0", done.returncode == 0, f"exits {done.returncode}")


def test_bad_text(tests, qdq, target, rule, folder, severity, wanted):
    done = check(qdq, folder, "bad.json", target)
    *lines, _ = done.stdout.splitlines() or [""]  # the last line counts the findings
    lines = [line for line in lines if not others(rule, line.rpartition("[")[2].rstrip("]"))]
    tests.expect(f"{rule}: bad.json gives text", lines == wanted,
                 "\n".join(["", "--- wanted", *wanted, "--- got", *lines, done.stderr + "---"]))
    tests.expect(f"{rule}: text names the rule",
                 any(line.endswith(f"[{rule}]") for line in wanted), wanted)
    tests.expect(f"{rule}: findings are no messages on stderr", done.stderr == "", done.stderr)
    errors = sum(line.startswith("error: ") for line in wanted)
    code = 1 if errors else 0
    tests.expect(f"{rule}: bad.json exits {code}", done.returncode == code,
                 f"exits {done.returncode}")
    tests.expect(f"{rule}: an error exits 1", severity != "error" or code == 1, "text has none")
    done = check(qdq, folder, "bad.json", target, "--strict")
    tests.expect(f"{rule}: bad.json exits 1 with --strict", done.returncode == 1,
                 f"exits {done.returncode}")


def test_bad_json(tests, qdq, target, rule, folder, severity):
    done = check(qdq, folder, "bad.json", target, "--json")
    found = read_json(done.stdout).get("findings", [])
    own = [one for one in found if one.get("rule") == rule]
    tests.expect(f"{rule}: bad.json gives it with --json", bool(own), done.stdout + done.stderr)
    for one in found:
        missing = [key for key in KEYS if not isinstance(one.get(key), str)]
        tests.expect(f"{rule}: --json has the keys of a finding", not missing, f"not {missing}")
    for one in own:
        tests.expect(f"{rule}: the severity is {severity}", one.get("severity") == severity,
                     one.get("severity"))
        name = name_of(target)
        tests.expect(f"{rule}: the target is {name}", one.get("target") == name,
                     one.get("target"))
        tests.expect(f"{rule}: there is a hint", bool(one.get("hint")), "it is empty")
    lines = [f"{one.get('severity')}: {one.get('message')} [{one.get('rule')}]\n" for one in found]
    text = check(qdq, folder, "bad.json", target).stdout
    tests.expect(f"{rule}: --json tells the same as the text", text.startswith("".join(lines)),
                 f"\n{''.join(lines)}---\n{text}")


def test_releases(tests, qdq, target, facts, releases, folder):
    rule, first, end = facts["id"], facts["since"], facts["until"]
    for version in releases if facts["versions"] else []:
        done = run(qdq, folder, "check", "bad.json", "--target", f"{target}@{version}", "--json")
        found = any(one["rule"] == rule for one in read_json(done.stdout)["findings"])
        tests.expect(f"{rule}: it is found where it should be, at {version}",
                     found == (version in facts["versions"]), done.stdout)
    begin = releases.index(first) if first else 0
    end = releases.index(end) if end else len(releases)
    for index, release in enumerate(releases if first or facts["until"] else []):
        done = check(qdq, folder, "bad.json", f"{target}@{release}", "--json")
        found = any(one["rule"] == rule for one in read_json(done.stdout)["findings"])
        tests.expect(f"{rule}: it is {'' if begin <= index < end else 'not '}found at {release}",
                     found == (begin <= index < end), done.stdout)


def write_graph(path, graph):
    """Writes a graph, or copies the file that it names: of a model, which says what no graph can."""
    named = graph.get("file") if isinstance(graph, dict) else None
    data = Path(__file__).parents[1].joinpath(named).read_bytes() if named else json.dumps(graph).encode()
    path.write_bytes(data)


def test_rule(tests, qdq, target, facts, releases, case):
    rule, severity = facts["id"], facts["severity"]
    if rule in UNBROKEN:
        return
    tests.expect(f"{rule}: there is a case", bool(case), "there is none")
    if not case:
        return
    with tempfile.TemporaryDirectory(prefix="qdq-rules-") as folder:
        for name in ("good", "bad"):
            write_graph(Path(folder, f"{name}.json"), case[name])
        if "device" in case:
            Path(folder, "device.json").write_text(json.dumps(case["device"]), encoding="utf-8")
        target += case.get("options", "")
        test_good(tests, qdq, target, rule, folder)
        test_bad_text(tests, qdq, target, rule, folder, severity, case["text"])
        test_bad_json(tests, qdq, target, rule, folder, severity)
        test_releases(tests, qdq, name_of(target), facts, releases, folder)


def main(words):
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    qdq = str(Path(words[0]).resolve())
    tests = Tests()
    rules = list_rules(qdq)
    cases = read_cases(tests)
    test_ids(tests, rules, cases)
    for target, facts, releases in rules:
        test_rule(tests, qdq, target, facts, releases, cases.get(facts["id"]))
    print(f"{tests.count} tests, {tests.failed} failed")
    return 1 if tests.failed or not rules else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
