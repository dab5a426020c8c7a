# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/targets/onednn/onednn_golden.h: the results of oneDNN Graph on the CPU for
onednn_cases.h.

    python3 onednn_golden.py ../../tests/graph/targets/onednn/onednn_golden.h VENV

VENV is the folder of a virtual environment; if missing, it is made and filled from PyPI (2 GB, as
oneDNN comes with a SYCL runtime). Needs g++ and an x86-64 machine with AVX2.

A row has a batch, the number of its results, FNV-1a of all of them (onednn_hash) and the first
four. Batches without a row are those that oneDNN does not run, or runs wrong; the program says
which. All runs, each limited to another instruction set, must give the same rows. SSE4.1 is not
among them, as it makes NaN 127 as s8. For the results that are left out of the comparison see
onednn_canonical in ../../tests/graph/targets/onednn/onednn_cases.h, and is_plain_nan and is_broken in
onednn_peer.cpp.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import onednn_library
import renew_onednn
import renewal

HERE = Path(__file__).resolve().parent
VERSION = "2026.1.0"
INSTRUCTION_SETS = ["AVX2", "AVX512_CORE", "DEFAULT"]


def build(folder, program):
    lib = folder / "lib"
    command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-ffp-contract=off"]
    command += [HERE / "onednn_peer.cpp", f"-I{HERE.parent.parent}", f"-I{folder / 'include'}", f"-L{lib}", "-ldnnl"]
    subprocess.run([*command, f"-Wl,-rpath-link,{lib}", "-o", program], check=True)


def run(folder, program, instruction_set):
    names = {**onednn_library.variables(folder), "ONEDNN_MAX_CPU_ISA": instruction_set}
    done = subprocess.run(
        [program], env={**os.environ, **names}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{instruction_set}: {done.stderr}")
    return done.stdout, done.stderr


def main(path, folder):
    if not (folder / "bin" / "python").exists():
        renewal.environment(folder.parent, folder.name, renew_onednn.packages(VERSION))
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "onednn_peer"
        build(folder, program)
        results = {name: run(folder, program, name) for name in INSTRUCTION_SETS}
    rows, skipped = results["DEFAULT"]
    for name, (other, _) in results.items():
        if other != rows:
            sys.exit(f"{name} gives other results than DEFAULT")
    print(skipped, end="")
    Path(path).write_text(
        "// SPDX-License-Identifier: Apache-2.0\n"
        f"// Written by tools/peers/onednn_golden.py with oneDNN {onednn_library.version(folder)} on x86-64; "
        "the same for AVX2, AVX-512\n// and oneDNN's own choice.\n"
        "#ifndef QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_GOLDEN_H\n"
        "#define QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_GOLDEN_H\n\n"
        '#include "tests/graph/targets/onednn/onednn_cases.h"\n\n'
        "// clang-format off\n"
        "static const struct {\n"
        "    onednn_batch batch;\n"
        "    size_t count;\n"
        "    uint64_t hash;\n"
        "    uint32_t first[4];\n"
        "} onednn_golden[] = {\n" + rows + "};\n// clang-format on\n\n#endif\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]).resolve())
