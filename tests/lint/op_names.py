#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that names of ops in C are names of ops: arguments of functions that compare a node's op, and lists
of several ops. Targets onnx and ort, and the reader of models, also name ops of ONNX models. The build checks the tables of targets itself (graph/transform/check_tables.c).

    op_names.py QDQ SOURCE_DIR
"""
import json
import pathlib
import re
import subprocess
import sys

ASKED = re.compile(r'qdq_op_(?:context_is|find)\((?:\w+, )?"(\w+)"|strcmp\((?:\w+->)+op->name, "(\w+)"')
MODEL_OP = re.compile(r'^    \{(?:""|MS), "(\w+)"', re.M)
LIST = re.compile(r'"([A-Z]\w*(?: [A-Z]\w*)+) ?"')


def main() -> int:
    root = pathlib.Path(sys.argv[2])
    told = subprocess.run([sys.argv[1], "ops", "--json"], capture_output=True, check=True)
    ops = {op["name"] for op in json.loads(told.stdout)["ops"]}
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
             for folder in ("ops", "graph", "tools") for path in sorted((root / folder).rglob("*.[ch]"))}
    model_ops = set(MODEL_OP.findall(texts["graph/formats/onnx/ops/onnx_ops.c"]))
    count, errors = 0, []
    for file, text in texts.items():
        names = [name or other for name, other in ASKED.findall(text)]
        for words in map(str.split, LIST.findall(text)):
            names += words if ops.intersection(words) else []
        count += len(names)
        known = ops | (model_ops if file.startswith(("graph/targets/onnx/", "graph/targets/ort/", "graph/formats/onnx/")) else set())
        errors += [f"{file}: '{name}' is no op" for name in names if name not in known]
    for error in errors:
        print(error)
    print(f"{count} names, {len(errors)} errors")
    return 1 if errors or not count else 0


if __name__ == "__main__":
    sys.exit(main())
