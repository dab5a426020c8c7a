#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which files include which: lower layers never include higher ones, and libraries are
included by few files. Also checks that one file formats floats, as printf writes the locale's
decimal point, that the guard of a header is its path, and that some file
includes it.

    layers.py SOURCE_DIR [--draw]
"""
import collections
import pathlib
import re
import sys

# Layers, lowest first, and what each holds. A file may include its own layer, those below it and
# <qdq/...>. docs/architecture.md shows the drawing that `layers.py SOURCE_DIR --draw` prints.
HOLDS = {
    "include": "the public headers",
    "runtime/base": "errors, memory pools, numbers as text, JSON output, threads, instruction sets",
    "runtime/numerics": "dtypes, and one element of each quantizing op: the definition of every number",
    "runtime/arena": "offsets from lifetimes: the planner, gaps, the free list",
    "runtime/tenstorrent": "the chip: its arithmetic, and the memory of its devices",
    "runtime/tiles": "TILE layout: 32x32 tiles of 16x16 faces; grids of parameters",
    "runtime/exec": "plans, and running them",
    "ops/kernels": "loops over tiles and strips, for each family, dtype and instruction set",
    "ops": "what an op is: ports, attributes, checks, result types, and its stages in a plan",
    "ops/gemm": "products of matrices in blocks: packing, orders of sums, epilogues",
    "ops/conv": "convolutions: as a gemm, by panels, direct, by taps, Winograd's",
    "ops/matmul": "MatMul and its integer and fused forms; the product of the chip",
    "graph/core": "values, nodes, names, constants, limits",
    "graph/memory": "where a value lies on a device: its memory_config and layout",
    "graph/rewrite": "patterns: what a target does to a graph before it runs it",
    "graph/targets": "a folder for each target: its rules, numerics, patterns and evidence",
    "graph/device": "buffers of a graph in the memory of a device",
    "graph/compile": "a checked graph to a plan: fused steps, folded constants, places",
    "graph/transform": "graphs from graphs: with codes, channels last, mended for a target, as deployed",
    "graph/fingerprint": "seeded inputs, and hashes of a graph, its numerics and outputs",
    "graph/formats": "files to graphs and back: load.c and write.c, a folder for each format",
    "tools": "the command line: run, check, plan, bench, convert; pages for a browser",
    "tools/lab": "applications, an option of the build: compare, explain, calibrate, quantize, mend",
}
LAYERS = list(HOLDS)
# tools/ is a program on the public headers; it also includes the text helpers of the lowest layer.
TOOLS_INCLUDE = {"tools": ("tools", "include", "runtime/base"),
                 "tools/lab": ("tools/lab", "tools", "include", "runtime/base")}
FOLDERS = ["include", "runtime", "ops", "graph", "tools"]
# The files that may include a library's header.
ONLY_IN = {
    "cJSON.h": {"graph/formats/json/json_tree.c", "graph/formats/tensor_file/safetensors_header.c",
                "tools/lab/explain/node_document_json.h"},
    "zlib.h": {"tools/io/zip/byte_source.c", "tools/io/zip/deflate.c"},
    "uthash.h": {"graph/core/symbols.c"},
    "pb_decode.h": {"graph/formats/onnx/file/onnx_fields.h"},
    "pb_encode.h": {"graph/formats/onnx/file/onnx_encode.c"},
    "onnx_fields.pb.h": {"graph/formats/onnx/file/onnx_decode.c", "graph/formats/onnx/file/onnx_encode.c"},
    "omp.h": {"runtime/base/threads/parallel.c"},
}
INTRINSICS = re.compile(r"^(\w*mmintrin|immintrin|x86intrin|arm_neon|arm_sve)\.h$")
FLOAT_FORMAT = re.compile(r"%[-+#0]*[\d*]*(\.[\d*]+)?[aefgAEFG]")
FORMATS_FLOATS = "runtime/base/number.c"
LIBRARY = ("runtime/", "ops/", "graph/")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def layer_of(name: str) -> str:
    """The longest layer that contains the name, "" for none."""
    return max((layer for layer in LAYERS if name.startswith(layer + "/")), key=len, default="")


def wrong_include(name: str, quote: str, header: str) -> str:
    layer, below = layer_of(name), layer_of(header)
    if header in ONLY_IN and name not in ONLY_IN[header]:
        return f"{name}: {header} may be seen in {', '.join(sorted(ONLY_IN[header]))} only"
    if INTRINSICS.match(header) and "/kernels/" not in name:
        return f"{name}: {header} may be seen in folders named kernels/ only"
    if quote == '"':
        seen = below in TOOLS_INCLUDE[layer] if layer in TOOLS_INCLUDE else (
            below and LAYERS.index(below) <= LAYERS.index(layer))
        if not seen:
            return f"{name}: {layer}/ may not include \"{header}\""
    return ""


def drawing() -> str:
    """The layers, highest first; a line between folders of the top level."""
    lines, above = [], ""
    for layer in reversed(LAYERS):
        top = layer.split("/")[0]
        if above and top != above:
            lines.append("-" * 20)
        above = top
        lines.append(f"{layer:20} {HOLDS[layer]}")
    return "\n".join(lines) + "\n"


def wrong_guard(name: str, text: str) -> str:
    """A header's guard is its path; headers that are included several times have none."""
    guard = re.search(r"#ifndef (\w+_H)\n#define \1\n", text)
    path = re.sub(r"^include/qdq/", "", name[:-2])
    wanted = re.sub(r"\W", "_", f"qdq_{path}_h").upper()
    if not name.endswith(".h") or not guard or guard[1] == wanted or name == "include/qdq/qdq.h":
        return ""
    return f"{name}: the guard is {guard[1]}, wanted {wanted}"


def unused_headers(root: pathlib.Path, names: list) -> list:
    """Headers that no file includes. kernels.h is copied into emitted C."""
    files = [path for folder in FOLDERS + ["tests"] for path in (root / folder).rglob("*.*")
             if path.suffix in (".c", ".h", ".cpp", ".in")]
    seen = {header for path in files for _, header in INCLUDE.findall(path.read_text(encoding="utf-8"))}
    return [f"{name}: no file includes it" for name in names
            if name.endswith(".h") and not name.startswith("include/") and name not in seen
            and name != "graph/formats/c/kernels.h"]


def same_names(names: list) -> list:
    places = collections.defaultdict(list)
    for name in names:
        if name.endswith(".c"):
            places[name.rsplit("/", 1)[1]].append(name)
    return [f"{', '.join(files)}: two files have one name" for files in places.values()
            if len(files) > 1]


def main() -> int:
    if sys.argv[2:] == ["--draw"]:
        print(drawing(), end="")
        return 0
    root = pathlib.Path(sys.argv[1])
    names, errors = [], []
    for layer in FOLDERS:
        for path in sorted((root / layer).rglob("*.[ch]")):
            name = path.relative_to(root).as_posix()
            if name.startswith("tools/peers/"):  # benchmarks of peers, which are built alone
                continue
            names.append(name)
            if not layer_of(name):
                errors.append(f"{name}: this folder is no layer")
                continue
            text = path.read_text(encoding="utf-8")
            if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
                errors.append(f"{name}: the first line is not the SPDX line")
            if name.startswith(LIBRARY) and name != FORMATS_FLOATS and FLOAT_FORMAT.search(text):
                errors.append(f"{name}: floats become text in {FORMATS_FLOATS} only")
            found = [wrong_include(name, quote, header) for quote, header in INCLUDE.findall(text)]
            errors += filter(None, [*found, wrong_guard(name, text)])
    errors += same_names(names) + unused_headers(root, names)
    if drawing() not in (root / "docs/architecture.md").read_text(encoding="utf-8"):
        errors.append("docs/architecture.md: the drawing is not the one of --draw")
    for error in errors:
        print(error)
    print(f"{len(names)} files, {len(errors)} errors")
    return 1 if errors or not names else 0


if __name__ == "__main__":
    sys.exit(main())
