# SPDX-License-Identifier: Apache-2.0
"""Builds a qdq/1 graph: names, constants and nodes; writes its JSON and .safetensors files."""

import json
import os
import struct

import numpy as np

INLINE = 64  # Constants with more elements go to the .safetensors file.
LONGEST = 255  # bytes of a name

# dtype of qdq: its word in safetensors, and what an element is there.
STORED = {
    "float32": ("F32", np.float32), "float16": ("F16", np.float16), "bfloat16": ("BF16", np.uint16),
    "int8": ("I8", np.int8), "uint8": ("U8", np.uint8), "int4": ("I8", np.int8),
    "uint4": ("U8", np.uint8), "int2": ("I8", np.int8), "uint2": ("U8", np.uint8),
    "int16": ("I16", np.int16), "uint16": ("U16", np.uint16), "int32": ("I32", np.int32),
    "bool": ("BOOL", np.bool_), "float8_e4m3fn": ("F8_E4M3", np.uint8),
    "float8_e5m2": ("F8_E5M2", np.uint8), "float8_e4m3fnuz": ("F8_E4M3FNUZ", np.uint8),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", np.uint8), "float8_e8m0": ("F8_E8M0", np.uint8),
    "float4_e2m1": ("U8", np.uint8),
}  # fmt: skip
INTS = [name for name in STORED if name.lstrip("u").startswith("int")]
FLOATS = ["float32", "float16", "bfloat16"]


def number(value):
    """A float32 as JSON has it: the shortest number that reads back as it."""
    value = np.float32(value)
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    short = float(str(value))
    return short if np.float32(short) == value else float(value)


def is_legal(name):
    size = len(name.encode())
    return 0 < size <= LONGEST and not any(ord(c) < 32 or ord(c) == 127 for c in name)


class Names:
    """Names of values: the model's own if they are legal, new ones otherwise."""

    def __init__(self, claimed):
        self.claimed = {name for name in claimed if is_legal(name)}
        self.used = set()

    def fresh(self, wanted):
        """`wanted`, or the like of it, that neither the model nor anything before has taken."""
        clean = "".join("_" if ord(c) < 32 or ord(c) == 127 else c for c in wanted) or "_"
        stem = clean.encode()[: LONGEST - 10].decode(errors="ignore")
        name, i = stem if len(clean.encode()) > LONGEST else clean, 2
        while name in self.claimed or name in self.used:
            name, i = f"{stem}#{i}", i + 1
        self.used.add(name)
        return name

    def own(self, name, ports=()):
        """The name of a value of the model; `name.port` must not be another value."""
        taken = [name, *(f"{name}.{port}" for port in ports)]
        if name not in self.claimed or self.used.intersection(taken):
            return self.fresh(name)
        if self.claimed.intersection(taken[1:]):
            return self.fresh(name)
        self.used.update(taken)
        return name


class QdqGraph:
    def __init__(self, name, target, claimed):
        self.head = {"format": "qdq/1", "name": name, "target": target}
        self.names = Names(claimed)
        self.inputs, self.constants, self.nodes, self.outputs = [], [], [], []
        self.tensors = {}  # of the .safetensors file: dtype, shape, bytes

    def input(self, name, dtype, shape):
        ref = self.names.own(name)
        self.inputs.append({"name": ref, "dtype": dtype, "shape": list(shape)})
        return ref

    def constant(self, name, dtype, array, own=True):
        ref = self.names.own(name) if own else self.names.fresh(name)
        entry = {"name": ref, "dtype": dtype, "shape": list(array.shape)}
        if array.size <= INLINE and dtype in INTS:
            entry["data"] = [int(v) for v in array.reshape(-1)]
        elif array.size <= INLINE and dtype in FLOATS:
            entry["data"] = [number(v) for v in array.reshape(-1)]
        else:
            kind = STORED[dtype][1]
            bits = dtype == "bfloat16" or dtype.startswith("float8") or dtype.startswith("float4")
            stored = np.ascontiguousarray(array).view(kind) if bits else array.astype(kind)
            self.tensors[ref] = dtype, list(array.shape), stored.tobytes()
            entry |= {"file": None, "tensor": ref}
        self.constants.append(entry)
        return ref

    def node(self, op, name, ports, attrs, note, own=True, outputs=()):
        ref = self.names.own(name, outputs) if own else self.names.fresh(name)
        self.nodes.append({"op": op, "name": ref, "inputs": ports, "attrs": attrs, "x-onnx": note})
        return ref

    def output(self, name, ref):
        taken = {entry["name"] for entry in self.outputs}
        while not is_legal(name) or name in taken:
            name = f"output {len(taken)}" if not is_legal(name) else f"{name[:60]}#{len(taken)}"
        self.outputs.append({"name": name, "value": ref})

    def save(self, path):
        """Writes the graph, and large constants to a second file next to it."""
        second = path.with_suffix(".safetensors")
        for entry in self.constants:
            if "file" in entry:
                entry["file"] = second.name
        if self.tensors:
            replace(second, safetensors(self.tensors))
        replace(path, self.text().encode())

    def text(self):
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in self.head.items()]
        for key in ("inputs", "constants", "nodes", "outputs"):
            rows = [f"    {json.dumps(row, ensure_ascii=False)}" for row in getattr(self, key)]
            if rows:
                lines.append(f"  {json.dumps(key)}: [\n" + ",\n".join(rows) + "\n  ]")
        return "{\n" + ",\n".join(lines) + "\n}\n"


def safetensors(tensors):
    header, parts, at = {}, [], 0
    for name, (dtype, shape, data) in tensors.items():
        offsets = [at, at + len(data)]
        header[name] = {"dtype": STORED[dtype][0], "shape": shape, "data_offsets": offsets}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def replace(path, data):
    draft = path.with_name(path.name + ".new")
    draft.write_bytes(data)
    os.replace(draft, path)
