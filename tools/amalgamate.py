#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the profile core as two files, qdq.h and qdq.c, to compile into another project.

    amalgamate.py OUTPUT_FOLDER [--comments] [--list]

The sources are the lists in the meson.build of runtime/, ops/ and graph/ whose names begin with core_. Each header is
taken once, at the first #include of it; conditions on the macros in KNOWN are decided; functions become static unless
include/qdq/ declares them, and declarations that nothing uses are left out. A name that several .c files give
different things gets the file's name behind it, and a macro of a .c file ends with it; --list prints these names
instead of writing. --comments keeps the comments of qdq.c; those of qdq.h stay.
"""
import argparse
import collections
import pathlib
import re
import sys

from c_names import all_names, internal_functions, macros_of, made_static, renamed, shaken, without_comments

LAYERS = ["runtime", "ops", "graph"]
# The conditions of the profile: macros that are defined, and those that are not.
KNOWN = {name: False for name in (
    "QDQ_BARE", "QDQ_ISA_HALVES", "QDQ_QUICK_VECTORS", "QDQ_SIMD_NEON", "QDQ_SIMD_X86",
    "__AVX2__", "__AVX512F__", "__ARM_NEON")} | {"QDQ_PROFILE_CORE": True}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">].*\n', re.M)
# cJSON next to qdq.c, or installed.
CJSON = """#if defined(__has_include)
#if __has_include("cJSON.h")
#define QDQ_CJSON "cJSON.h"
#endif
#endif
#if !defined(QDQ_CJSON)
#define QDQ_CJSON <cjson/cJSON.h>
#endif
#include QDQ_CJSON
"""
ENTRY = """// SPDX-License-Identifier: Apache-2.0
// qdq {version}, profile core: {what}
// Written by tools/amalgamate.py of qdq; docs/c.md says how to use it. Change the sources of qdq, not this file.
"""
PROLOGUE = """
#if defined(__FAST_MATH__)
#error "qdq: -ffast-math changes bits; leave it out"
#endif
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wunneeded-internal-declaration"
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define QDQ_PROFILE_CORE 1
#define QDQ_VERSION "{version}"

#include "qdq.h"

"""


def sources(root):
    """The .c files of the profile, lowest layer first."""
    files = []
    for layer in LAYERS:
        text = (root / layer / "meson.build").read_text(encoding="utf-8")
        for words in re.findall(r"^core_\w+ = \[\n(.*?)^\]", text, re.M | re.S):
            files += [f"{layer}/{name}" for name in re.findall(r"'([^']+\.c)'", words)]
    return files


# ---- Conditions --------------------------------------------------------------


def decided(condition):
    """True or False, or None where a macro is not in KNOWN. Conditions have no brackets but those of defined()."""
    def of_one(term):
        found = re.fullmatch(r"\s*(!?)\s*defined\s*\(?\s*(\w+)\s*\)?\s*", term)
        value = KNOWN.get(found[2]) if found else None
        return value if value is None else value != bool(found[1])

    def of_all(term):
        values = [of_one(part) for part in term.split("&&")]
        return False if False in values else None if None in values else True

    values = [of_all(term) for term in condition.split("||")]
    return True if True in values else None if None in values else False


def without_dead_code(text):
    """The text without the branches that KNOWN decides."""
    lines, stack = [], []  # a row of the stack: state of the branch, True if a directive was written
    joined = re.sub(r"\\\n", "\\\0", text).split("\n")
    for line in joined:
        found = re.match(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)", line)
        alive = all(state is not False for state, _, _ in stack)
        if not found:
            if alive:
                lines.append(line)
            continue
        word, rest = found[1], found[2].split("//")[0].replace("\0", " ").replace("\\", " ")
        if word in ("ifdef", "ifndef"):
            rest = ("!" if word == "ifndef" else "") + f"defined({rest.strip()})"
        if word in ("if", "ifdef", "ifndef"):
            state = decided(rest)
            stack.append((state, state is True, state is None))
            if alive and state is None:
                lines.append(line)
            continue
        outer = all(state is not False for state, _, _ in stack[:-1])
        state, done, written = stack[-1]
        if word == "endif":
            stack.pop()
            if outer and written:
                lines.append(line)
            continue
        new = False if done else True if word == "else" else decided(rest)
        if outer and written:  # a condition before is open, so this one stays
            stack[-1] = (new if new is False else None, done or new is True, True)
            if new is not False:
                lines.append("#else" if new is True else line)
        else:
            stack[-1] = (new, done or new is True, new is None)
            if outer and new is None:
                lines.append("#if " + rest.strip())
    return "\n".join(lines).replace("\0", "\n")


# ---- Making the two files ----------------------------------------------------


class Amalgamation:
    """Headers that are taken: of the system, and public ones as (name, text)."""

    def __init__(self, root):
        self.root, self.seen, self.system = root, set(), set()
        self.public = []

    def resolve(self, name):
        """The path of a header of qdq; None: it is another's."""
        for place in (name, f"include/{name}"):
            if (self.root / place).is_file():
                return place
        return None

    def read(self, name):
        """The text of a file without its guard and dead code, and True if it had a guard."""
        text = (self.root / name).read_text(encoding="utf-8")
        text = re.sub(r"\A// SPDX[^\n]*\n", "", text)
        guard = re.search(r"^#ifndef (\w+_H)\n#define \1\n", text, re.M)
        if guard:
            text = text.replace(guard[0], "", 1)
            text = text[:text.rindex("#endif")].rstrip() + "\n"
        return without_dead_code(text), bool(guard)

    def segments(self, name, owner):
        """(owner, text) of a file and its headers, in order. A header without a guard belongs to the .c file."""
        text, guarded = self.read(name)
        if guarded:
            self.seen.add(name)
            owner = name
        parts, at = [], 0
        for found in INCLUDE.finditer(text):
            parts.append((owner, text[at:found.start()]))
            at = found.end()
            header = self.resolve(found[2])
            if header is None:
                opened, closed = (len(re.findall(rf"^\s*#\s*{word}", text[:at], re.M)) for word in ("if", "endif"))
                if found[2] == "cJSON.h":
                    self.system.add(CJSON)
                elif opened > closed or found[2] == "uthash.h":  # which reads macros before it
                    parts.append((owner, found[0]))
                else:
                    self.system.add(found[0].strip() + "\n")
            elif header.startswith("include/"):
                self.add_public(header)
            elif header not in self.seen:
                parts += self.segments(header, owner)
        return parts + [(owner, text[at:])]

    def add_public(self, name):
        """Adds a public header behind those that it includes."""
        if name in self.seen:
            return
        text, _ = self.read(name)
        self.seen.add(name)
        at, out = 0, []
        for found in INCLUDE.finditer(text):
            out.append(text[at:found.start()])
            at = found.end()
            header = self.resolve(found[2])
            if header:
                self.add_public(header)
            else:
                out.append(found[0])
        self.public.append((name, "".join(out) + text[at:]))


def tidy(text):
    return re.sub(r"\n{3,}", "\n\n", text)


def colliding(own, headers):
    """{.c file: its names that another .c file or a header gives too}."""
    givers = collections.Counter()
    given = {name: set(all_names(text)) for name, text in own.items()}
    for names in given.values():
        givers.update(names)
    taken = {word for text in headers.values() for word in [*all_names(text), *macros_of(text)]}
    return {name: {word for word in names if not word.startswith("qdq_") and (givers[word] > 1 or word in taken)}
            for name, names in given.items()}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--comments", action="store_true")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    made = Amalgamation(root)
    version = re.search(r"version: '([^']+)'", (root / "meson.build").read_text(encoding="utf-8"))[1]
    files = {name: made.segments(name, name) for name in sources(root)}
    own = {name: "".join(text for owner, text in parts if owner == name) for name, parts in files.items()}
    headers = {owner: text for parts in files.values() for owner, text in parts if owner not in files}
    collisions = colliding(own, headers)
    if args.list:
        for name, words in collisions.items():
            print(name, *sorted(words))
        return 0
    declared = {word for _, text in made.public for word in re.findall(r"QDQ_API[^;{]*?(\w+)\s*\(", text)}
    body = []
    for name, parts in files.items():
        stem = pathlib.Path(name).stem
        names = {word: f"{word}_in_{stem}" for word in collisions[name]}
        text = "".join(renamed(part, names) if owner == name else part for owner, part in parts)
        ends = "".join(f"#undef {names.get(word, word)}\n" for word in sorted(set(macros_of(own[name]))))
        body.append(f"{text.strip()}\n{ends}\n")
    everything = shaken("".join(body), declared)
    everything = tidy(everything if args.comments else without_comments(everything))
    everything = made_static(everything, internal_functions(everything) - declared)
    args.folder.mkdir(parents=True, exist_ok=True)
    head = ENTRY.format(version=version, what="the library in one file.") + PROLOGUE.format(version=version)
    (args.folder / "qdq.c").write_text(head + "".join(sorted(made.system)) + "\n" + everything, encoding="utf-8")
    public = "".join(f"//==== {name} ====\n{tidy(text).strip()}\n\n" for name, text in made.public)
    head = ENTRY.format(version=version, what="what the library offers.")
    public = f"{head}#ifndef QDQ_QDQ_H\n#define QDQ_QDQ_H\n\n{public}#endif\n"
    (args.folder / "qdq.h").write_text(public, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
