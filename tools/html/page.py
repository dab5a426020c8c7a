#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the page of reports from its sources: styles and scripts go into page.html, which is then cut at its data.

    page.py page.html style.css SCRIPT... OUT.c OUT.html

OUT.c has the bytes before and after the data, for the program; OUT.html is the whole page, for the Python package.
"""

import sys
from pathlib import Path

DATA = "@DATA@"


def array(name, data):
    lines = [",".join(map(str, data[i : i + 32])) for i in range(0, len(data), 32)]
    return (
        f"const unsigned char {name}[] = {{\n"
        + ",\n".join(lines)
        + f"}};\nconst size_t {name}_bytes = sizeof {name};\n"
    )


def main():
    page, style, *scripts, out_c, out_html = map(Path, sys.argv[1:])
    parts = {
        "@STYLE@": style.read_text(encoding="utf-8"),
        "@SCRIPT@": "\n".join(script.read_text(encoding="utf-8") for script in scripts),
    }
    text = page.read_text(encoding="utf-8")
    for mark, part in parts.items():
        if text.count(mark) != 1:
            sys.exit(f"{page}: wanted {mark} once")
        text = text.replace(mark, part.replace("// SPDX-License-Identifier: Apache-2.0\n", "").strip())
    before, data, after = text.partition(DATA)
    if not data or DATA in after:
        sys.exit(f"{page}: wanted {DATA} once")
    out_html.write_text(text, encoding="utf-8")
    out_c.write_text('#include "tools/html/page.h"\n\n' + array("html_page_begin", before.encode()) + "\n"
                     + array("html_page_end", after.encode()), encoding="utf-8")  # fmt: skip


if __name__ == "__main__":
    main()
