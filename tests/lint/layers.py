#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py SOURCE_DIR: includes point down, libraries are seen where they may be, and the library
formats floats in one place, as printf writes the decimal point of the caller's locale."""
import pathlib
import re
import sys

# A folder may include those listed (as "folder/..."), and <qdq/...>.
MAY_INCLUDE = {
    "include": set(),
    "runtime": {"include", "runtime"},
    "ops": {"include", "runtime", "ops"},
    "graph": {"include", "runtime", "ops", "graph"},
    "tools": {"tools"},
}
# Where a header of others may be seen.
ONLY_IN = {
    "cJSON.h": {"graph/read/json_tree.c", "graph/tensor_file/safetensors_header.c"},
    "uthash.h": {"graph/symbols.c"},
    "omp.h": {"runtime/base/parallel.c"},
}
INTRINSICS = re.compile(r"^(\w*mmintrin|immintrin|x86intrin|arm_neon|arm_sve)\.h$")
FLOAT_FORMAT = re.compile(r"%[-+#0]*[\d*]*(\.[\d*]+)?[aefgAEFG]")
FORMATS_FLOATS = "runtime/base/number.c"
LIBRARY = ("runtime/", "ops/", "graph/")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def wrong_include(name: str, quote: str, header: str) -> str:
    layer = name.split("/")[0]
    folder = header.split("/")[0]
    if header in ONLY_IN and name not in ONLY_IN[header]:
        return f"{name}: {header} may be seen in {', '.join(sorted(ONLY_IN[header]))} only"
    if INTRINSICS.match(header) and "/kernels/" not in name:
        return f"{name}: {header} may be seen in folders named kernels/ only"
    if quote == '"' and folder not in MAY_INCLUDE[layer]:
        return f"{name}: {layer}/ may not include \"{header}\""
    return ""


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    files, errors = 0, []
    for layer in MAY_INCLUDE:
        for path in sorted((root / layer).rglob("*.[ch]")):
            files += 1
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
                errors.append(f"{name}: the first line is not the SPDX line")
            if name.startswith(LIBRARY) and name != FORMATS_FLOATS and FLOAT_FORMAT.search(text):
                errors.append(f"{name}: floats become text in {FORMATS_FLOATS} only")
            for quote, header in INCLUDE.findall(text):
                error = wrong_include(name, quote, header)
                if error:
                    errors.append(error)
    for error in errors:
        print(error)
    print(f"{files} files, {len(errors)} errors")
    return 1 if errors or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
