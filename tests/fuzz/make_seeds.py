#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the readers of files: good files, for fuzzers to change.

    make_seeds.py FOLDER    writes FOLDER/npy/..., npz, safetensors, state and link
"""

import hashlib
import io
import json
import struct
import sys
import zipfile
from pathlib import Path


def npy(descr, shape, data, version=1):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    length = "<H" if version == 1 else "<I"
    text += " " * (-(9 + struct.calcsize(length) + len(text)) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(length, len(text)) + text.encode() + data


def npy_files():
    yield "vector", npy("<f4", (3,), struct.pack("<3f", 1, -2, 0.5))
    yield "matrix", npy("|i1", (2, 2), bytes([1, 2, 255, 128]), version=2)
    yield "scalar", npy("<i8", (), struct.pack("<q", -7), version=3)
    yield "bool", npy("|b1", (1, 4), bytes([0, 1, 1, 0]))


def npz(method, members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def npz_files():
    members = [(f"{name}.npy", data) for name, data in npy_files()]
    yield "stored", npz(zipfile.ZIP_STORED, members)
    yield "deflated", npz(zipfile.ZIP_DEFLATED, members)
    yield "other_members", npz(zipfile.ZIP_STORED, [("folder/", b""), ("folder/x.npy", members[0][1]), ("note", b"text")])
    yield "zeros", npz(zipfile.ZIP_DEFLATED, [("x.npy", npy("<f4", (64, 64), bytes(64 * 64 * 4)))])
    yield "none", npz(zipfile.ZIP_STORED, [])


def safetensors(tensors, metadata=None):
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def safetensors_files():
    yield "two", safetensors({"a": ("F32", [2], bytes(8)), "b.c": ("I8", [1, 3], b"abc")}, {"format": "pt"})
    yield "scalar", safetensors({"": ("BF16", [], b"\x80?")})
    yield "unknown_dtype", safetensors({"x": ("F8_E8M0FNU", [4], bytes(4)), "y": ("C64", [1], bytes(8))})
    yield "empty", safetensors({})


def state_file(version=3, kind=b"fuzz"):
    """A state of the kind in fuzz_state.c, with its hash (docs/many_machines.md)."""
    words = lambda *texts: ("U8", b"".join(text + b"\0" for text in texts))
    ints = lambda *numbers: ("I64", struct.pack(f"<{len(numbers)}q", *numbers))
    tensors = {
        "numbers": ints(version, 4, 2, -1, 2), "kind": ("U8", kind), "fingerprints": words(b"qdq1-" + b"-".join([b"0123456789abcdef"] * 4)),
        "targets": words(b"core"), "refused": words(b"ttnn"), "listing": ("U8", bytes(32)), "samples": ("U8", bytes(32)),
        "shards": ints(2), "unreadable": words(b"b.npy"), "values": words(b"x", b"y"),
        "ranges": ("F64", struct.pack("<4d", -1, 2, 0, 0)), "counts": ints(1, 2, 3, 4, 5, 6), "sums": ints(0, 1, 2, 0, 0, 0, 0, 0),
        "causes": words(b"a", b"c"), "rows": ints(0, 1), "met": ints(5, 6),
    }  # fmt: skip
    digest = hashlib.sha256(b"".join(name.encode() + b"\0" + data for name, (_, data) in tensors.items())).digest()
    width = {"ranges": 2, "counts": 3, "sums": 4}
    sizes = {"U8": 1, "I64": 8, "F64": 8}
    shape = lambda name, dtype, data: [2, width[name]] if name in width else [len(data) // sizes[dtype]]
    listed = {name: (dtype, shape(name, dtype, data), data) for name, (dtype, data) in tensors.items()}
    return safetensors({**listed, "sha256": ("U8", [32], digest)})


def state_files():
    yield "whole", state_file()
    yield "old", state_file(version=2)
    yield "other_kind", state_file(kind=b"calibrate")


def link_files():
    head = b'{"format":"qdq-link/1","command":"compare"'
    yield "all", head + b',"target":"ort","targets":"a,b","fill":"1","fast":true,"left_out":2,"graph":{"a":["}",1]},"inputs":"AA"}'
    yield "graph", head + b',"graph":{"name":"\\"{"}}'


if __name__ == "__main__":
    for target, files in {"npy": npy_files, "npz": npz_files, "safetensors": safetensors_files, "state": state_files,
                          "link": link_files}.items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files():
            (folder / name).write_bytes(data)
