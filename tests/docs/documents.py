# SPDX-License-Identifier: Apache-2.0
"""Reading documents: their fenced blocks, the graphs in them, and the commands with what they print."""

import json
import shlex
import re
import struct
import subprocess

TIMEOUT = 120  # seconds, against hanging
STORED = {"float32": "F32", "bfloat16": "BF16", "int8": "I8", "uint8": "U8", "int32": "I32"}
ONE = {"float32": struct.pack("<f", 1), "bfloat16": b"\x80\x3f", "int8": b"\1", "uint8": b"\1",
       "int32": struct.pack("<i", 1)}
ANY_TEXT = re.compile(r"(?<!\.)\.\.\.(?!\.)")
SHOWS_CODE = re.compile(r"\s*;\s*echo \$\?\s*$")


def run_qdq(qdq, words, folder, both=False):
    """Exit code and stdout of qdq; with `both`, stderr comes before stdout."""
    done = subprocess.run([qdq, *words], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, timeout=TIMEOUT, encoding="utf-8",
                          stderr=subprocess.STDOUT if both else subprocess.DEVNULL)
    return done.returncode, done.stdout


# ---- Blocks and commands ----


def read_blocks(text):
    """(line, language, lines) of each fenced block."""
    blocks, language, start, lines = [], None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, start, lines = line[3:].strip(), number, []
        else:
            blocks.append((start, language, lines))
            language, lines = None, []
    return blocks


def read_commands(text):
    """(line, command, lines that it prints, or None outside a console block)."""
    commands, console = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            console = line[3:].strip() == "console"
        elif line.startswith("$ qdq "):
            commands.append((number, line[2:], [] if console else None))
        elif line.startswith("$ "):
            console = False
        elif console and commands:
            commands[-1][2].append(line)
    return commands


def as_pattern(lines):
    """A regular expression of what is printed: "..." is any text, alone on its line any lines. More
    dots in a row are dots."""
    parts = []
    for line in lines:
        text = "[^\n]*".join(map(re.escape, ANY_TEXT.split(line))) + "\n"
        parts.append("(?:[^\n]*\n)*" if line == "..." else text)
    return "".join(parts)


def run_command(qdq, command, folder):
    """Exit code and text of a command; the text ends with the code if the command shows it."""
    text, shows_code = SHOWS_CODE.subn("", command)
    code, printed = run_qdq(qdq, shlex.split(text)[1:], folder, both=True)
    return code, printed + (f"{code}\n" if shows_code else "")


def renewed(text, qdq, folder):
    """The document with each transcript printed anew. A transcript with "..." stays as it is."""
    lines, made, end = text.splitlines(), [], 0
    for number, command, printed in read_commands(text):
        made += lines[end:number]
        end = number + len(printed or [])
        if not printed or any(ANY_TEXT.search(line) for line in printed):
            made += lines[number:end]
        else:
            made += run_command(qdq, command, folder)[1].splitlines()
    return "\n".join(made + lines[end:]) + "\n"


# ---- Graphs ----


def make_constants(graph, folder):
    """Writes the files that constants come from, filled with ones."""
    files = {}
    for constant in graph.get("constants", []):
        if "file" in constant:
            files.setdefault(constant["file"], []).append(constant)
    for name, constants in files.items():
        header, data = {}, b""
        for c in constants:
            count = 1
            for dim in c["shape"]:
                count *= dim
            begin = len(data)
            data += ONE[c["dtype"]] * count
            header[c["tensor"]] = {"dtype": STORED[c["dtype"]], "shape": c["shape"],
                                   "data_offsets": [begin, len(data)]}
        text = json.dumps(header).encode()
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_graphs(text, folder):
    """Writes each qdq/1 graph of a document to NAME.json. Yields (line, graph, path); where a block
    is not JSON, graph is the error and path is None."""
    for line, language, lines in read_blocks(text):
        if language != "json":
            continue
        try:
            graph = json.loads("\n".join(lines))
        except ValueError as error:
            yield line, error, None
            continue
        if not isinstance(graph, dict) or graph.get("format") != "qdq/1":
            continue
        path = folder / f"{graph.get('name', f'graph_{line}')}.json"
        path.write_text("\n".join(lines), encoding="utf-8")
        make_constants(graph, folder)
        yield line, graph, path
