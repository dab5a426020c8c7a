#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which files include which: lower layers never include higher ones, and libraries are
included by few files. Also checks that one file formats floats, as printf writes the locale's
decimal point.

    layers.py SOURCE_DIR
"""
import collections
import pathlib
import re
import sys

# Layers, lowest first. A file may include its own layer, those below it and <qdq/...>.
LAYERS = ["include", "runtime/base", "runtime/numerics", "runtime/tiles", "runtime/memory",
          "runtime/exec", "ops/kernels", "ops", "graph", "tools"]
# tools/ is a program on the public headers; it also includes the text helpers of the lowest layer.
TOOLS_INCLUDE = ("tools", "include", "runtime/base")
FOLDERS = ["include", "runtime", "ops", "graph", "tools"]
# The files that may include a library's header.
ONLY_IN = {
    "cJSON.h": {"graph/read/json_tree.c", "graph/tensor_file/safetensors_header.c",
                "tools/explain/node_document.c"},
    "zlib.h": {"tools/io/zip/byte_source.c"},
    "uthash.h": {"graph/symbols.c"},
    "pb_decode.h": {"graph/read/onnx/file/onnx_fields.h"},
    "pb_encode.h": {"graph/write/onnx/file/onnx_encode.c"},
    "onnx_fields.pb.h": {"graph/read/onnx/file/onnx_decode.c", "graph/write/onnx/file/onnx_encode.c"},
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
        seen = below in TOOLS_INCLUDE if layer == "tools" else (
            below and LAYERS.index(below) <= LAYERS.index(layer))
        if not seen:
            return f"{name}: {layer}/ may not include \"{header}\""
    return ""


def same_names(names: list) -> list:
    places = collections.defaultdict(list)
    for name in names:
        if name.endswith(".c"):
            places[name.rsplit("/", 1)[1]].append(name)
    return [f"{', '.join(files)}: two files have one name" for files in places.values()
            if len(files) > 1]


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    names, errors = [], []
    for layer in FOLDERS:
        for path in sorted((root / layer).rglob("*.[ch]")):
            name = path.relative_to(root).as_posix()
            names.append(name)
            if not layer_of(name):
                errors.append(f"{name}: this folder is no layer")
                continue
            text = path.read_text(encoding="utf-8")
            if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
                errors.append(f"{name}: the first line is not the SPDX line")
            if name.startswith(LIBRARY) and name != FORMATS_FLOATS and FLOAT_FORMAT.search(text):
                errors.append(f"{name}: floats become text in {FORMATS_FLOATS} only")
            for quote, header in INCLUDE.findall(text):
                error = wrong_include(name, quote, header)
                if error:
                    errors.append(error)
    errors += same_names(names)
    for error in errors:
        print(error)
    print(f"{len(names)} files, {len(errors)} errors")
    return 1 if errors or not names else 0


if __name__ == "__main__":
    sys.exit(main())
