#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents say what the program does.

    test_docs.py QDQ_BINARY DOCS_DIR MODELS_DIR

Checked are docs/*.md, and README.md and CONTRIBUTING.md above them. Each document has a folder of
its own to run in:

* A ```json block with the format qdq/1 is written to NAME.json, after its name; what its constants
  want from files is made; `qdq check` must exit 0.
* A line "$ qdq ..." is run in order of appearance, if the files that it reads exist. It must exit
  0; with "; echo $?" at its end it may exit as it likes. In a ```console block the lines behind it
  are what it prints; a line "..." stands for any lines, "..." in a line for any text.

The schema of `qdq ops --schema` must name exactly the ops, ports, attributes, words and dtypes of `qdq ops`;
command_line.md every command, option and key of JSON output, rules.md every rule of the core,
ops_quantizing.md and ops_neural_network.md every op with its ports and attributes, targets.md every
target in the same parts. Links within the documents must lead somewhere, and files that are named
in backticks, with their folder, must be there. With the module jsonschema the graphs are validated
as well. adding-an-op.md has a test of its own, test_recipes.py.
"""

import json
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from documents import (SHOWS_CODE, as_pattern, read_commands, run_command, run_qdq, write_graphs)

try:
    import jsonschema
except ImportError:
    jsonschema = None

# Types of attributes; what is none of them are the words of one, with " or " between.
TYPES = {"int", "number", "bool", "dtype", "int[]", "float32 or float32[]", "int or int[]",
         "value"}
# Ops of ops_quantizing.md; those of ops_neural_network.md are all others.
QUANTIZING = {"Quantize", "Dequantize", "DynamicQuantize", "Requantize", "Cast", "Table"}


class Tests:
    def __init__(self, qdq):
        self.qdq = qdq
        self.count = self.failed = 0

    def expect(self, name, fine, why=""):
        self.count += 1
        self.failed += not fine
        print(f"ok {name}" if fine else f"FAIL {name}: {why}")

    def run(self, words, folder, both=False):
        return run_qdq(self.qdq, words, folder, both)

    def json(self, words, folder="."):
        return json.loads(self.run([*words, "--json"], folder)[1])


# ---- Graphs and commands ----


def test_graphs(tests, document, folder):
    """Returns the graphs of the document."""
    graphs = []
    for line, graph, path in write_graphs(document.read_text(encoding="utf-8"), folder):
        name = f"{document.name}:{line}: the graph"
        if path is None:
            tests.expect(f"{name} is JSON", False, graph)
            continue
        graphs.append((name, graph))
        code, text = tests.run(["check", path.name], folder, both=True)
        tests.expect(f"{name} has no errors", code == 0, text)
    return graphs


def reads_what_is_there(words, folder):
    """Whether every word that names a file to read names one that exists."""
    writes = False
    for word in words:
        named = re.search(r"\.(json|npy|safetensors)(#|$)", word)
        if named and not writes:
            if not (folder / word.split("=")[-1].split("#")[0]).exists():
                return False
        writes = word in ("-o", "--output")
    return True


def test_commands(tests, document, folder):
    for line, command, wanted in read_commands(document.read_text(encoding="utf-8")):
        text, code_is_shown = SHOWS_CODE.subn("", command)
        words = shlex.split(text)[1:]
        name = f"{document.name}:{line}: {command}"
        if not code_is_shown and not reads_what_is_there(words, folder):
            continue
        code, printed = run_command(tests.qdq, command, folder)
        if not code_is_shown:
            tests.expect(f"{name} exits 0", code == 0, f"exits {code}: {printed}")
        if wanted:
            while wanted and not wanted[-1]:
                wanted.pop()
            same = re.fullmatch(as_pattern(wanted), printed) is not None
            tests.expect(f"{name} prints that", same, f"it prints\n{printed}")


def test_documents(tests, documents, models):
    graphs = []
    for document in documents:
        with tempfile.TemporaryDirectory(prefix="qdq-docs-") as name:
            folder = Path(name)
            (folder / "models").symlink_to(models)
            graphs += test_graphs(tests, document, folder)
            test_commands(tests, document, folder)
            test_links(tests, document)
            test_paths(tests, document, models.parent)
    tests.expect("the documents have graphs", bool(graphs), "there is none")
    return graphs


def anchors_of(path):
    """The anchors of the headings of a document, as they are made of Markdown."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links(tests, document):
    text = document.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        path = document.parent / name if name else document
        fine = path.exists() and (not anchor or anchor in anchors_of(path))
        tests.expect(f"{document.name}: the link {link} leads somewhere", fine, "it does not")


def test_paths(tests, document, root):
    """The files that a document names in backticks, with their folder, are there."""
    if document.name in ("adding-an-op.md", "adding-a-target.md", "format.md"):  # these name files that are to be made
        return
    text = document.read_text(encoding="utf-8")
    for path in sorted(set(re.findall(r"`([\w.-]+/[\w./-]+\.(?:c|h|py|md|json))`", text))):
        tests.expect(f"{document.name}: {path} is there", (root / path).exists(), "there is none")


# ---- The schema and the program ----


def literal(text, words):
    """A default of `qdq ops` as it stands in JSON, None where it is described in words."""
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    if text in ("true", "false"):
        return text == "true"
    return text if text in words else None


def test_attr(tests, op, attr, schema, dtypes):
    name = f"schema: {op}.{attr['name']}"
    words = [] if attr["type"] in TYPES else attr["type"].split(" or ")
    if attr["type"] == "dtype":
        words = dtypes
    if words:
        tests.expect(f"{name} has the words of the program",
                     set(schema.get("enum", [])) == set(words),
                     f"{schema.get('enum')}, wanted {sorted(words)}")
    default = literal(attr["default"], words)
    tests.expect(f"{name} has the default of the program", schema.get("default") == default,
                 f"{schema.get('default')}, wanted {default}")


def test_op(tests, op, schema):
    name = f"schema: {op['name']}"
    node = schema["$defs"].get(op["name"], {}).get("properties", {})
    ports, attrs = node.get("inputs", {}), node.get("attrs", {})
    tests.expect(f"{name} has the ports of the program",
                 set(ports.get("properties", {})) == {port["name"] for port in op["inputs"]},
                 f"{sorted(ports.get('properties', {}))}")
    tests.expect(f"{name} requires the ports that are not optional",
                 set(ports.get("required", [])) ==
                 {port["name"] for port in op["inputs"] if not port["optional"]},
                 f"{ports.get('required')}")
    tests.expect(f"{name} has the attributes of the program",
                 set(attrs.get("properties", {})) == {attr["name"] for attr in op["attrs"]},
                 f"{sorted(attrs.get('properties', {}))}")
    tests.expect(f"{name} is closed", ports.get("additionalProperties") is False and
                 attrs.get("additionalProperties") is False and
                 list(attrs.get("patternProperties", {})) == ["^x-"], "it is open")
    made = {port["name"]: port["dtypes"] for port in op["outputs"]}
    for attr in op["attrs"]:
        test_attr(tests, op["name"], attr, attrs.get("properties", {}).get(attr["name"], {}),
                  made.get("scale" if attr["name"] == "scale_dtype" else "y", []))


def test_schema(tests, schema):
    ops = tests.json(["ops"])["ops"]
    node = schema["$defs"]["node"]
    names = [op["name"] for op in ops]
    listed = [row["then"]["$ref"] for row in node["allOf"]]
    tests.expect("schema: the ops are those of the program",
                 node["properties"]["op"]["enum"] == names and
                 listed == [f"#/$defs/{name}" for name in names], node["properties"]["op"]["enum"])
    rows = tests.run(["ops", "--dtypes"], ".")[1].splitlines()[1:]
    dtypes = [row.split()[0] for row in rows]
    tests.expect("schema: the dtypes are those of the program",
                 schema["$defs"]["dtype"]["enum"] == dtypes, schema["$defs"]["dtype"]["enum"])
    targets = [name for target in tests.json(["targets"])["targets"]
               for name in [target["name"],
                            *(f"{target['name']}@{r}" for r in target["releases"])]]
    tests.expect("schema: the targets are those of the program",
                 schema["properties"]["target"]["enum"] == targets,
                 schema["properties"]["target"]["enum"])
    for op in ops:
        test_op(tests, op, schema)


def names_release(section, release):
    """Whether a section has a version, or its release and its variant: `1.29-neon`, or `1.29` and `-neon`."""
    name, dash, variant = release.partition("-")
    return f"`{release}`" in section or (dash and f"`{name}`" in section and f"`-{variant}`" in section)


def test_targets(tests, text):
    """targets.md has a section for each target, in their order, that names its releases."""
    targets = tests.json(["targets"])["targets"]
    parts = re.split(r"^## (.*)$", text, flags=re.M)[1:]
    sections = dict(zip(parts[::2], parts[1::2]))
    names = [target["name"] for target in targets]
    tests.expect("targets.md: the sections are the targets", list(sections) == names,
                 f"{list(sections)}, wanted {names}")
    for target in targets:
        section = sections.get(target["name"], "")
        missing = [release for release in target["releases"] if not names_release(section, release)]
        tests.expect(f"targets.md: {target['name']} has its releases", not missing, missing)
        for part in ("**Stands for**", "**Computes**", "**Depends on**", "**Held against**"):
            tests.expect(f"targets.md: {target['name']} has {part}", part in section, "it lacks it")


# ---- The command line and the ops ----


def keys_of(value):
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*map(keys_of, value.values()))


def test_options(tests, text, folder):
    for command in re.findall(r"^  (?!qdq )(\w+) ", tests.run(["help"], folder)[1], re.M):
        tests.expect(f"command_line.md has the command {command}", f"`qdq {command}" in text,
                     "it lacks it")
        options = re.findall(r"--([a-z-]+)", tests.run(["help", command], folder)[1])
        for option in sorted(set(options)):
            tests.expect(f"command_line.md has --{option} of {command}", f"--{option}" in text,
                         "it lacks it")


def test_op_documents(tests, docs):
    texts = {name: (docs / f"{name}.md").read_text(encoding="utf-8")
             for name in ("ops_quantizing", "ops_neural_network")}
    for op in tests.json(["ops"])["ops"]:
        names = [op["name"]] + [x["name"] for x in op["inputs"] + op["outputs"] + op["attrs"]]
        where = "ops_quantizing" if op["name"] in QUANTIZING else "ops_neural_network"
        missing = [name for name in names if name not in texts[where]]
        tests.expect(f"{where}.md has all of {op['name']}", not missing, f"it lacks {missing}")


def test_rules(tests, text):
    rules = {f"| `{rule['id']}` | {rule['severity']} |"
             for rule in tests.json(["targets", "core"])["targets"][0]["rules"]}
    listed = set(re.findall(r"^(\| `core/[\w-]+` \| \w+ \|)", text, re.M))
    tests.expect("rules.md has the rules of the core", rules == listed,
                 sorted(rules.symmetric_difference(listed)))


def test_causes(tests, text, root):
    causes = (root / "include/qdq/numerics.h").read_text(encoding="utf-8")
    for field, cause in re.findall(r'^    X\((\w+), *"([^"]+)"\)', causes, re.M):
        name = "tie" if cause == "rounding" else cause
        row = re.search(rf"^\| [^|]*`{name}`[^|]*\|.*`{field}`", text, re.M)
        tests.expect(f"command_line.md has the cause of {field}", row, f"it lacks '{name}'")
    steps = (root / "tools/lab/compare/units/steps.h").read_text(encoding="utf-8")
    for step, name in re.findall(r'^    X\((\w+), *"([^"]+)"\)', steps, re.M):
        tests.expect(f"command_line.md has the cause of {step}", f"| `{name}` | " in text, f"it lacks '{name}'")


def test_json_keys(tests, text, models, folder):
    model = str(models / "chain_mixed")
    given = [f"{model}/graph.json", "-i", f"{model}/inputs.safetensors"]
    doubtful = folder / "doubtful.json"
    graph = {"format": "qdq/1", "inputs": [{"name": "x", "dtype": "int8", "shape": []}],
             "outputs": [{"name": "x", "value": "y"}]}
    doubtful.write_text(json.dumps(graph), encoding="utf-8")
    ties = folder / "ties.json"
    graph = {"format": "qdq/1", "constants": [{"name": "x", "dtype": "float32", "shape": [],
                                               "data": [0.5]}],
             "nodes": [{"op": "Quantize", "name": "q", "inputs": {"x": "x"},
                        "attrs": {"scales": 1}}], "outputs": [{"name": "y", "value": "q"}]}
    ties.write_text(json.dumps(graph), encoding="utf-8")
    for words in (["run", *given, "--expect", f"{model}/expected.safetensors"],
                  ["check", str(doubtful)], ["plan", given[0]],
                  ["bench", given[0], "--repeat", "3", "--vs-copy", "--compile"],
                  ["ops"], ["targets"],
                  ["compare", str(ties), "--targets", "core,ttnn"]):
        row = re.search(rf"^\| `{words[0]}` \| `version`.*(?:\n\| \|.*)*", text, re.M)
        row = row.group(0) if row else ""
        if "as for check" in row:
            row += re.search(r"^\| `check` \| `version`.*(?:\n\| \|.*)*", text, re.M).group(0)
        missing = [key for key in sorted(keys_of(tests.json(words))) if f"`{key}`" not in row]
        tests.expect(f"command_line.md has the keys of {words[0]} --json", row and not missing,
                     f"it lacks {missing}")


# ---- Validating with the schema ----

# Changes after which neither the program nor the schema may take a graph.
NODE = ["nodes", 0]
BROKEN = {
    "an unknown key": (["other"], 1),
    "an unknown key of an input": (["inputs", 0, "other"], 1),
    "an unknown key of a node": ([*NODE, "other"], 1),
    "an unknown attribute": ([*NODE, "attrs", "other"], 1),
    "an unknown port": ([*NODE, "inputs", "other"], "x"),
    "an x- key as a port": ([*NODE, "inputs", "x-other"], "x"),
    "an unknown op": ([*NODE, "op"], "Quantise"),
    "another format": (["format"], "qdq/2"),
    "an unknown target": (["target"], "other"),
    "no outputs": (["outputs"], []),
    "a null": ([*NODE, "attrs"], None),
    "an unknown dtype": (["inputs", 0, "dtype"], "int9"),
    "a dtype that the op cannot make": ([*NODE, "attrs", "dtype"], "float32"),
    "a dim of 0": (["inputs", 0, "shape"], [0]),
    "nine dims": (["inputs", 0, "shape"], [1] * 9),
    "a scale of 0": ([*NODE, "attrs", "scales"], 0),
    "a scale that is a string": ([*NODE, "attrs", "scales"], "0.5"),
    "two scales": ([*NODE, "inputs", "scale"], "x"),
    "no scale": ([*NODE, "attrs"], {}),
    "a zero point with a fraction": ([*NODE, "attrs", "zps"], 1.5),
    "an unknown qtype": ([*NODE, "attrs", "qtype"], "per_row"),
    "a group_shape without per_group": ([*NODE, "attrs", "group_shape"], [1, 1]),
    "an empty name": (["inputs", 0, "name"], ""),
    "a constant without data": (["constants"], [{"name": "c", "dtype": "int8", "shape": []}]),
    "a constant out of range": (["constants"], [{"name": "c", "dtype": "int8", "shape": [],
                                                 "data": [128]}]),
    "a scalar out of range": (["constants"], [{"name": "c", "dtype": "int8", "shape": [],
                                               "data": 128}]),
    "a number for a list": (["constants"], [{"name": "c", "dtype": "int8", "shape": [1],
                                             "data": 1}]),
    "a memory_config that is a string": (["inputs", 0, "memory_config"], "L1"),
    "an unknown key of a memory_config": ([*NODE, "memory_config"], {"pool": "L1"}),
    "an unknown buffer_type": ([*NODE, "memory_config"], {"buffer_type": "L2"}),
    "an unknown memory_layout": ([*NODE, "memory_config"], {"memory_layout": "SHARDED"}),
    "a shard without cores": ([*NODE, "memory_config"], {
        "memory_layout": "HEIGHT_SHARDED", "shard_spec": {"grid": [], "shape": [32, 32]}}),
    "a range of one core": ([*NODE, "memory_config"], {
        "memory_layout": "HEIGHT_SHARDED", "shard_spec": {"grid": [[0, 0]], "shape": [32, 32]}}),
    "a shard of rank 1": ([*NODE, "memory_config"], {
        "memory_layout": "HEIGHT_SHARDED", "shard_spec": {"grid": [[[0, 0], [0, 0]]],
                                                          "shape": [32]}}),
    "an output_tensor that is a number": ([*NODE, "attrs", "output_tensor"], 1),
    "an unknown layout": (["inputs", 0, "layout"], "TILED"),
    "a tile of 5 rows": (["inputs", 0, "tile"], [5, 32]),
    "a transpose_tile that is a number": (["inputs", 0, "transpose_tile"], 1),
    "a schema that is a number": (["$schema"], 1),
    "a file out of the folder": (["constants"], [{"name": "c", "dtype": "int8", "shape": [],
                                                  "file": "../c.safetensors", "tensor": "c"}]),
}


def plain_graph():
    return {"$schema": "qdq.schema.json", "format": "qdq/1",
            "inputs": [{"name": "x", "dtype": "float32", "shape": [2, 3]}],
            "constants": [{"name": "bare", "dtype": "int8", "shape": [], "data": 1},
                          {"name": "nan", "dtype": "float32", "shape": [], "data": "NaN"}],
            "nodes": [{"op": "Quantize", "name": "q", "inputs": {"x": "x"},
                       "attrs": {"scales": 0.5, "x-note": "mine"}, "x-note": "mine"}],
            "outputs": [{"name": "y", "value": "q"}]}


def test_broken(tests, validator, folder):
    for name, (path, value) in {"nothing": ([], None), **BROKEN}.items():
        graph = plain_graph()
        at = graph
        for key in path[:-1]:
            at = at[key]
        if path:
            at[path[-1]] = value
        (folder / "broken.json").write_text(json.dumps(graph), encoding="utf-8")
        code, text = tests.run(["check", "broken.json"], folder, both=True)
        tests.expect(f"with {name} wrong the program says {'no' if path else 'yes'}",
                     code in (1, 3) if path else code == 0, f"exits {code}: {text}")
        if validator:
            tests.expect(f"with {name} wrong the schema says {'no' if path else 'yes'}",
                         validator.is_valid(graph) != bool(path), graph)


def test_validation(tests, schema, documents, graphs, models, folder):
    validator = None
    if jsonschema:
        kind = jsonschema.Draft202012Validator
        kind.check_schema(schema)
        validator = kind(schema)
        graphs = graphs + [(path.parent.name, json.loads(path.read_text(encoding="utf-8")))
                           for path in sorted(models.glob("*/graph.json"))]
        for name, graph in graphs:
            error = jsonschema.exceptions.best_match(validator.iter_errors(graph))
            tests.expect(f"{name} is valid", error is None, error and error.message)
    test_broken(tests, validator, folder)
    cases = documents.parent / "tests/rules/core.json"
    for case in json.loads(cases.read_text(encoding="utf-8")):
        name, graph = case["rule"], case["bad"]
        (folder / "bad.json").write_text(json.dumps(graph), encoding="utf-8")
        code, text = tests.run(["check", "bad.json"], folder, both=True)
        tests.expect(f"{name}: bad does not crash the program", code in (0, 1, 3), text)
        if validator:
            refused = not validator.is_valid(graph)  # must not raise
            tests.expect(f"{name}: what the schema refuses of bad the program refuses",
                         code != 0 or not refused, text)


def main(words):
    if len(words) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    qdq = shutil.which(words[0])
    if not qdq:
        print(f"{words[0]} cannot be run", file=sys.stderr)
        return 2
    tests = Tests(str(Path(qdq).resolve()))
    docs, models = Path(words[1]).resolve(), Path(words[2]).resolve()
    documents = [*sorted(docs.glob("*.md")), docs.parent / "README.md",
                 docs.parent / "CONTRIBUTING.md"]
    schema = json.loads(tests.run(["ops", "--schema"], ".")[1])
    graphs = test_documents(tests, documents, models)
    test_schema(tests, schema)
    test_targets(tests, (docs / "targets.md").read_text(encoding="utf-8"))
    test_op_documents(tests, docs)
    test_rules(tests, (docs / "rules.md").read_text(encoding="utf-8"))
    command_line = (docs / "command_line.md").read_text(encoding="utf-8")
    test_causes(tests, command_line, docs.parent)
    with tempfile.TemporaryDirectory(prefix="qdq-docs-") as folder:
        test_options(tests, command_line, Path(folder))
        test_json_keys(tests, command_line, models, Path(folder))
        test_validation(tests, schema, docs, graphs, models, Path(folder))
    print(f"{tests.count} tests, {tests.failed} failed")
    return 1 if tests.failed or tests.count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
