#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library without symbols and debug information takes at most LIMIT bytes.

    test_size.py LIBRARY LIMIT

The limit leaves room for a few kernels. Before you raise it, look for copies: `nm -S --size-sort LIBRARY`.
"""

import struct
import sys

LOADED = 1  # the type of a segment


def loaded(elf):
    """Bytes of a 64-bit little-endian ELF file up to the end of its last segment: what `strip` leaves, but for names."""
    at, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    ends = []
    for i in range(count):
        kind, _, offset, _, _, in_file = struct.unpack_from("<IIQQQQ", elf, at + i * size)
        if kind == LOADED:
            ends.append(offset + in_file)
    return max(ends)


def main():
    with open(sys.argv[1], "rb") as file:
        size, limit = loaded(file.read()), int(sys.argv[2])
    print(f"{size:,} bytes, at most {limit:,}")
    return size > limit


if __name__ == "__main__":
    sys.exit(main())
