#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The one file that tools/amalgamate.py writes compiles without warnings as C11, links with a program in C++, and gives
the bits of the library: for all graphs of models/ that the profile core takes, by rows and by tiles. It refuses the
others by the name of the op or target that it lacks.

    test_amalgamation.py QDQ_BINARY SOURCE_DIR

The compilers are CC and CXX. Without a C++ compiler or cJSON it exits with 77.
"""
import json
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
FLAGS = ["-O1", "-Wall", "-Wextra", "-Werror"]


def tensors_of(path):
    """{name: (dtype, shape, bytes)} of a .safetensors file."""
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    return {name: (t["dtype"], t["shape"], data[end + t["data_offsets"][0]:end + t["data_offsets"][1]])
            for name, t in header.items()}


def call(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def build(folder, root):
    """Makes the program, and returns its path."""
    cc, cxx = shlex.split(os.environ.get("CC", "cc")), shlex.split(os.environ.get("CXX", "c++"))
    tests = root / "tests/install"
    for command in (
            [sys.executable, root / "tools/amalgamate.py", folder],
            [*cc, "-std=c11", *FLAGS, "-c", folder / "qdq.c", "-o", folder / "qdq.o"],
            [*cxx, "-std=c++17", *FLAGS, "-Wno-missing-field-initializers", "-I", folder, tests / "amalgamated.cpp",
             folder / "qdq.o", "-o", folder / "program", "-lcjson", "-lm"]):
        result = call(*map(str, command))
        if result.returncode:
            sys.exit(f"{shlex.join(map(str, command))}\n{result.stderr}")
    return folder / "program"


def lacks(path):
    """The text that the program prints for a graph that it does not take, or "run"."""
    document = json.loads(path.read_text(encoding="utf-8"))
    target = document.get("target", "core").split("@")[0]
    if target not in ("core", "ttnn"):
        return f"this build of qdq has no target '{target}': it was built with -Dprofile=core"
    return "run"


def main():
    qdq, root = sys.argv[1], pathlib.Path(sys.argv[2])
    cxx = shlex.split(os.environ.get("CXX", "c++"))[0]
    headers = [pathlib.Path(place) for place in ("/usr/include/cjson", "/usr/local/include/cjson")]
    if not shutil.which(cxx) or not any(place.is_dir() for place in headers):
        print("skipped: there is no C++ compiler, or no cJSON")
        return SKIPPED
    graphs = sorted(path for path in root.glob("models/*/graph.json") if (path.parent / "inputs.safetensors").exists())
    errors, taken = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder, root)
        words = [word for i, path in enumerate(graphs)
                 for word in (path, path.parent / "inputs.safetensors", folder / f"{i}.safetensors")]
        lines = call(program, *words).stdout.splitlines()
        if len(lines) != len(graphs):
            sys.exit(f"{len(graphs)} graphs gave {len(lines)} lines:\n" + "\n".join(lines))
        for i, (path, line) in enumerate(zip(graphs, lines)):
            wanted = lacks(path)
            if wanted not in line:
                errors.append(f"{path}: '{line}', wanted '{wanted}'")
            if line != "run" or wanted != "run":
                continue
            taken += 1
            out = folder / "full.safetensors"
            result = call(qdq, "run", str(path), "-i", str(path.parent / "inputs.safetensors"), "-o", str(out))
            if result.returncode or tensors_of(out) != tensors_of(folder / f"{i}.safetensors"):
                errors.append(f"{path}: other bits than {qdq} gives {result.stderr}")
        refusal = call(program).stdout.strip()
        if refusal != "numerics: this build of qdq has no float_ops 1: it was built with -Dprofile=core":
            errors.append(f"float_ops: '{refusal}'")
        digits = root / "models/digits/int8.json"
        line = call(program, digits, digits, folder / "none").stdout
        if "this build of qdq has no op 'Convolution'; it was built with -Dprofile=core" not in line:
            errors.append(f"{digits}: '{line}'")
    for error in errors:
        print(error)
    print(f"{len(graphs)} graphs, {taken} with the same bits, {len(errors)} errors")
    return 1 if errors or not taken else 0


if __name__ == "__main__":
    sys.exit(main())
