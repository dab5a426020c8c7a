#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one operator, constant or statement of the code at a time and runs the tests of its folder.

A mutant that no test notices shows a line that nothing guards. Mutants are drawn from a seed. Each is
applied to a copy of the tree, in a build without vector kernels, where ninja compiles one object and links
the tests again. A crash, a failure and a hang kill a mutant. The compiler removes two kinds of mutants from
the count: those that it refuses and those with the object of the unchanged file. tests/mutants/equivalent
lists others that no test can kill, each with its reason."""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXEC_TESTS = ["graph/chains", "graph/exec", "graph/exec_state", "graph/plan_steps", "graph/kept_values",
              "graph/tensor_op_chains", "graph/byte_tables", "graph/moved_codes", "graph/read_transposed",
              "graph/recomputed_values", "api/misuse", "graph/block_float_steps"]
SLOW_EXEC_TESTS = ["graph/memory", "graph/random_chains", "random/few", "graph/tiled_shapes", "graph/stacked_tiles"]
TESTS = {  # A folder or file of the code, and the tests that guard it; the quick ones first.
    "runtime/arena": ["runtime/free_list", "runtime/gaps", "runtime/memory_plan", "runtime/device_memory", "graph/memory",
                      "graph/device_plan", "graph/random_device_plans"],
    "runtime/tenstorrent": [
        "runtime/buffer_layout", "runtime/device", "runtime/device_memory", "runtime/memory_failure", "runtime/memory_rules",
        "runtime/page_layout", "runtime/block_float", "runtime/chip_elementwise", "runtime/chip_instructions", "graph/memory", "graph/layout_rules", "graph/output_tensor", "graph/sharded_chain", "graph/tensor_layouts",
        "graph/device_plan", "graph/random_device_plans"],
    "runtime/exec": EXEC_TESTS + ["ops/softmax", "ops/norm", "ops/reduce", "ops/fused_products"] + SLOW_EXEC_TESTS,
    "graph/compile/plan_text.c": ["graph/plan_steps", "graph/build", "graph/tensor_op_chains", "ops/weight_codes_plan",
                                  "ops/integer_execution", "graph/exec", "cli/plan", "cli/qtype"],
    "graph/compile/plan_traffic.c": ["graph/plan_steps", "graph/tensor_op_chains", "graph/block_float_steps",
                                     "ops/weight_codes_plan", "graph/exec", "cli/plan"],
    "graph/compile/validate.c": ["graph/build", "graph/output_tensor", "graph/layout_rules", "graph/sharded_chain",
                                 "graph/device_plan", "ops/quantize_checks", "rules/all", "api/misuse", "graph/memory"],
    "graph/compile": EXEC_TESTS + ["ops/integer_execution", "ops/fused_products", "ops/stored_operands",
                                   "ops/stored_results", "ops/weight_codes_plan", "ops/dequantize_tables",
                                   "ops/passes_quantized"] + SLOW_EXEC_TESTS,
    "graph/core/held_constants.c": ["graph/held_constants", "graph/write", "api/misuse"],
    "graph/core/open_file.c": ["graph/open_file", "graph/held_constants", "graph/write", "api/misuse"],
    "graph/formats/tensor_file": ["graph/safetensors", "graph/safetensors_write", "graph/json_tree", "graph/write"],
    "ops/op_check.c": ["ops/op_check", "graph/build", "graph/optional_fields", "ops/quantize_checks", "api/misuse"],
    "ops/infer.c": ["ops/infer", "graph/build", "ops/movement", "ops/reduce", "ops/move_refusals"],
    "runtime/tiles": ["runtime/tile", "runtime/tile_copy", "runtime/grid", "runtime/nontemporal", "api/misuse",
                      "graph/exec", "graph/tiled_shapes", "graph/stacked_tiles"],
}

# ---- Mutants

SWAPS = [("==", ["!="]), ("!=", ["=="]), ("<=", ["<"]), (">=", [">"]), ("<", ["<="]), (">", [">="]),
         ("&&", ["||"]), ("||", ["&&"]), ("+", ["-"]), ("-", ["+"]), ("*", ["+"]), ("/", ["*"]), ("%", ["/"]),
         ("+=", ["-="]), ("-=", ["+="]), ("*=", ["+="]), ("|=", ["&="]), ("&=", ["|="]), ("<<", [">>"]),
         (">>", ["<<"]), ("&", ["|"]), ("|", ["&"]), ("^", ["&"])]
OPERATOR = re.compile(r"(?<= )(" + "|".join(sorted((re.escape(old) for old, _ in SWAPS), key=len, reverse=True)) +
                      r")(?= |$)")
NUMBER = re.compile(r"(?<![\w.])(\d+)(?=[uUlL]*\b)(?![.\w]*[.eEpPxX])")
BOOLEAN = re.compile(r"\b(true|false)\b")
FUNCTION = re.compile(r"[A-Za-z_].*?\b(\w+)\(")
DECLARATION = re.compile(r"(static |const |typedef |struct |enum |return\b|case |default|goto |else\b|#)"
                         r"|[A-Za-z_]\w* \**[A-Za-z_]\w*( =|;|\[|,|\()")
KEEPS_LENGTH = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.S)


def code_of(text):
    """The text with blanks in place of comments, strings and lines of the preprocessor."""
    text = KEEPS_LENGTH.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return re.sub(r"^#(?:.*\\\n)*.*", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.M)


def closing(line, start):
    """The position of the parenthesis that closes the one at `start`, or -1 if it is not in the line."""
    depth = 0
    for i in range(start, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if not depth:
            return i
    return -1


def changes(code):
    """Yields the changes of a line of code: first column, end, and the text that takes the place."""
    for match in OPERATOR.finditer(code):
        for new in dict(SWAPS)[match[1]]:
            yield match.start(), match.end(), new
    for match in NUMBER.finditer(code):
        yield match.start(1), match.end(1), str(int(match[1]) + 1)
        if int(match[1]):
            yield match.start(1), match.end(1), str(int(match[1]) - 1)
    for match in BOOLEAN.finditer(code):
        yield match.start(), match.end(), "true" if match[1] == "false" else "false"
    for match in re.finditer(r"\b(?:if|while) \(", code):
        end = closing(code, match.end() - 1)
        if end > 0:
            yield match.end(), end, "!(" + code[match.end():end] + ")"
    statement = code.strip()
    if (statement.endswith(";") and len(statement) > 1 and statement.count("(") == statement.count(")")
            and not DECLARATION.match(statement)):
        yield code.index(statement), len(code.rstrip()), ";"


def mutants_of(path):
    """The mutants of a file: path, function, number of the line, the line and the changed line."""
    text = (ROOT / path).read_text()
    found = []
    function = ""
    before = ";"  # the end of the code so far: a statement begins after it
    depth = 0
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text).split("\n")), 1):
        inside = depth > 0
        head = None if inside else FUNCTION.match(code)
        function = head[1] if head else function
        depth += code.count("{") - code.count("}")
        begins = before[-1] in ";{})"
        before = code.strip() or before
        if not inside or "assert(" in code:
            continue
        for start, end, new in changes(code):
            if new != ";" or begins:
                found.append((path, function, number, line, line[:start] + new + line[end:]))
    return found


def keys_of(mutant):
    """The names of a mutant in tests/mutants/equivalent: below its file, or below its file and function."""
    path, function, _, old, new = mutant
    return {(path, old.strip(), new.strip()), (f"{path} {function}", old.strip(), new.strip())}


def read_equivalents():
    """The set of mutants in tests/mutants/equivalent: path, or path and function, then the line and the changed
    line, without indents. Ends the program if the code has none or several of one."""
    found, path, old = set(), None, None
    for line in (ROOT / "tests/mutants/equivalent").read_text().splitlines():
        if line.startswith("- "):
            old = line[2:].strip()
        elif line.startswith("+ "):
            found.add((path, old, line[2:].strip()))
        elif line and line[0] not in "# ":
            path = line
    files = {path.split()[0] for path, _, _ in found}
    there = collections.Counter(key for path in files for mutant in mutants_of(path) for key in keys_of(mutant))
    wrong = sorted(key for key in found if there[key] != 1)
    for path, old, new in wrong:
        print(f"tests/mutants/equivalent: {path} has {there[path, old, new]} mutants like this, wanted 1: remove the "
              f"entry, or name the function behind the file\n- {old}\n+ {new}")
    if wrong:
        sys.exit(1)
    return found


# ---- The build

class Build:
    """A copy of the tree, its build and the commands of its tests."""

    def __init__(self, work):
        self.source, self.folder = work / "src", work / "build"
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        for name in filter(None, names.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.source / name)
        again = ["--reconfigure"] if (self.folder / "build.ninja").exists() else []
        subprocess.run(["meson", "setup", *again, self.folder, self.source, "-Dsimd=false", "--buildtype=plain",
                        "-Doptimization=1", "-Ddebug=false"], check=True, stdout=subprocess.DEVNULL)
        # A test in Python gets its program as a path from the build folder, and runs it in another one.
        made = {file for target in self.introspect("--targets") for file in target["filename"]}
        self.tests = {}
        for test in self.introspect("--tests"):
            wholes = [str(self.folder / word) for word in test["cmd"]]
            test["cmd"] = [whole if whole in made else word for whole, word in zip(wholes, test["cmd"])]
            self.tests[test["name"]] = test
        units = json.loads((self.folder / "compile_commands.json").read_text())
        self.objects = {os.path.relpath(self.folder / unit["file"], self.source): self.folder / unit["output"]
                        for unit in reversed(units)}

    def introspect(self, what):
        found = subprocess.run(["meson", "introspect", what, self.folder], check=True, stdout=subprocess.PIPE)
        return json.loads(found.stdout)

    def make(self, names):
        """True if the programs of these tests build."""
        words = {os.path.normpath(word) for name in names for word in self.tests[name]["cmd"]}
        targets = {os.path.relpath(word, self.folder) for word in words if word.startswith(f"{self.folder}/")}
        return not subprocess.run(["ninja", "-C", self.folder, *sorted(targets)], stdout=subprocess.DEVNULL).returncode

    def run(self, name, seconds):
        """The seconds that a test takes, or None if it fails."""
        test, began = self.tests[name], time.monotonic()
        child = subprocess.Popen(test["cmd"], cwd=test["workdir"] or self.folder, start_new_session=True,
                                 env={**os.environ, **test["env"], "QDQ_SLOW": "1"}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit_memory)
        try:
            passed = child.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            passed = False
        try:
            os.killpg(child.pid, 9)
        except ProcessLookupError:
            pass
        child.wait()
        return time.monotonic() - began if passed else None


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# ---- The loop

def judge(build, mutant, limits):
    """How a mutant ends: "refused" or "same" by the compiler, the name of the test that kills it, or None."""
    path, _, number, _, changed = mutant
    file = build.source / path
    text = file.read_text()
    built = build.objects[path]
    unchanged = built.read_bytes()
    lines = text.split("\n")
    lines[number - 1] = changed
    file.write_text("\n".join(lines))
    try:
        made = subprocess.run(["ninja", "-C", build.folder, os.path.relpath(built, build.folder)],
                              stdout=subprocess.DEVNULL).returncode
        if made:
            return "refused"
        if built.read_bytes() == unchanged:
            return "same"
        for name, seconds in limits.items():  # a program links again only if it has to run
            if not build.make([name]):
                return "refused"
            if build.run(name, seconds) is None:
                return name
        return None
    finally:
        file.write_text(text)
        subprocess.run(["ninja", "-C", build.folder, os.path.relpath(built, build.folder)],
                       stdout=subprocess.DEVNULL)


def measure(build, names, limits):
    """Enters the tests that `limits` lacks: ten times the seconds that each takes on the unchanged code, and
    five more."""
    names = [name for name in names if name not in limits]
    if names and not build.make(names):
        sys.exit("mutants: the unchanged code does not build")
    for name in names:
        seconds = build.run(name, 900)
        if seconds is None:
            sys.exit(f"mutants: the test {name} fails on the unchanged code")
        limits[name] = 10 * seconds + 5


def summary(title, ends, seed):
    """Prints how mutants ended. Returns the percentage that is killed of those that tests could notice."""
    aside = sum(end in ("refused", "same", "equivalent") for end in ends)
    counted, survived = len(ends) - aside, ends.count("survived")
    rate = 100 * (counted - survived) / max(counted, 1)
    print(f"{title}: {len(ends)} mutants of seed {seed}, {aside} aside, {survived} survived, {rate:.1f} % killed",
          flush=True)
    return rate


def run_path(build, path, mutants, equivalents, limits, options):
    """Runs mutants of files below a path. Returns how each ends."""
    ends = []
    for mutant in mutants:
        file, _, number, old, new = mutant
        tests = TESTS[group_of(file)]
        measure(build, tests, limits)
        known = bool(keys_of(mutant) & equivalents)
        end = "equivalent" if known else judge(build, mutant, {name: limits[name] for name in tests}) or "survived"
        ends.append(end)
        if end == "survived" or options.verbose:
            print(f"{end}: {file}:{number}\n- {old.strip()}\n+ {new.strip()}", flush=True)
    summary(path, ends, options.seed)
    return ends


def draw(build, path, count, seed):
    """`count` mutants of a folder, of a file, or of a line of a file (FILE:LINE); all if they are fewer."""
    file, _, line = path.partition(":")
    files = [file] if file.endswith(".c") else sorted(
        str(found.relative_to(ROOT)) for found in (ROOT / file).rglob("*.c"))
    mutants = [mutant for found in files if found in build.objects for mutant in mutants_of(found)
               if not line or mutant[2] == int(line)]
    return sorted(random.Random(seed).sample(mutants, count)) if count < len(mutants) else mutants


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    folders = [path for path in TESTS if not any(path.startswith(other + "/") for other in TESTS)]
    parser.add_argument("paths", nargs="*", default=folders,
                        help="folders, files or lines as FILE:LINE (default: the table)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300, help="mutants in all, shared evenly by paths (300)")
    parser.add_argument("--least", type=float, default=90, help="percent that must be killed (90)")
    parser.add_argument("--work", type=pathlib.Path, help="folder to keep the copy and its build in")
    parser.add_argument("--check", action="store_true", help="only check tests/mutants/equivalent, without a build")
    parser.add_argument("--verbose", action="store_true", help="print all mutants, with the test that kills each")
    return parser.parse_args()


def group_of(path):
    """The row of TESTS for a file: its own, or that of the nearest folder."""
    while path not in TESTS:
        if "/" not in path:
            sys.exit(f"mutants: no tests are named for {path}; add a row to TESTS in tests/mutants/mutants.py")
        path = path.rpartition("/")[0]
    return path


def main():
    options = parse_options()
    equivalents = read_equivalents()
    if options.check:
        return
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    try:
        build = Build(work.resolve())
        each = -(-options.count // len(options.paths))
        limits, ends = {}, []
        for path in options.paths:
            mutants = draw(build, path, each, options.seed)
            ends += run_path(build, path, mutants, equivalents, limits, options)
    finally:
        if not options.work:
            shutil.rmtree(work)
    sys.exit(0 if summary("in all", ends, options.seed) >= options.least else 1)


if __name__ == "__main__":
    main()
