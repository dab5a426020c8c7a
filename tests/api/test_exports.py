#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function that the library exports has a case in test_misuse, and every case has a function.

    test_exports.py LIBRARY TEST_MISUSE
"""

import os
import struct
import subprocess
import sys

SKIPPED = 77
DYNAMIC_SYMBOLS = 11  # the type of the section with dynamic symbols
GLOBAL_FUNCTION = 0x12


def sections(elf):
    """The section headers of a 64-bit little-endian ELF file."""
    at, = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    return [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(count)]


def exported_functions(elf):
    headers = sections(elf)
    for _, kind, _, _, at, size, link, _, _, entry in headers:
        if kind != DYNAMIC_SYMBOLS:
            continue
        names = headers[link][4]
        for symbol in range(at, at + size, entry):
            name, info, _, section = struct.unpack_from("<IBBH", elf, symbol)
            if info == GLOBAL_FUNCTION and section:
                start = names + name
                yield elf[start:elf.index(b"\0", start)].decode()


def main():
    with open(sys.argv[1], "rb") as file:
        elf = file.read()
    if elf[:6] != b"\x7fELF\x02\x01":
        print("not a 64-bit little-endian ELF library")
        return SKIPPED
    exported = set(exported_functions(elf))
    wrapper = os.environ.get("MESON_EXE_WRAPPER", "").split()
    listed = subprocess.run([*wrapper, sys.argv[2], "--list"], capture_output=True, text=True,
                            check=True, timeout=60).stdout.split()
    twice = sorted({name for name in listed if listed.count(name) > 1})
    wrong = {"exported without a case in test_misuse": sorted(exported - set(listed)),
             "a case, but not exported": sorted(set(listed) - exported),
             "two cases": twice}
    for what, names in wrong.items():
        for name in names:
            print(f"FAIL {name}: {what}")
    print(f"{len(exported)} functions")
    return 1 if any(wrong.values()) or not exported else 0


if __name__ == "__main__":
    sys.exit(main())
