#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the readers of files: good files, for fuzzers to change.

    make_seeds.py FOLDER    writes FOLDER/npy/..., npz, safetensors, state, link and tflite
"""

import hashlib
import io
import json
import math
import struct
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from tflite_file import Op, Tensor, f32, i8, i32, ints, model


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
    yield "explain", b'{"format":"qdq-link/1","command":"explain","graph":{},"got":"AA"}'
    yield "graph", head + b',"graph":{"name":"\\"{"}}'


def tflite_files():
    """A model for each group of operators, on codes."""
    code = lambda name, shape, **more: Tensor(name, "int8", shape, scale=0.5, zero_point=1, **more)
    weights = lambda name, shape: Tensor(name, "int8", shape, [3] * math.prod(shape), [0.5] * shape[-1], [0] * shape[-1], len(shape) - 1)
    numbers = lambda name, values: Tensor(name, "int32", [len(values)], values)
    window = {0: i8(0), 1: i32(1), 2: i32(1)}
    image = [1, 4, 4, 2]
    yield "convolutions", model(
        [code("x", image), Tensor("w", "int8", [2, 3, 3, 2], [1] * 36, 0.25), Tensor("b", "int32", [2], [5, 6], 0.125), code("c", image),
         weights("d", [1, 3, 3, 2]), code("p", image), code("m", image), code("y", image)],
        [Op("CONV_2D", ["x", "w", "b"], ["c"], {**window, 3: i8(1)}), Op("DEPTHWISE_CONV_2D", ["c", "d", -1], ["p"], {**window, 3: i32(1)}),
         Op("MAX_POOL_2D", ["p"], ["m"], {**window, 3: i32(2), 4: i32(2)}), Op("AVERAGE_POOL_2D", ["m"], ["y"], {**window, 3: i32(2), 4: i32(2)})],
        ["x"], ["y"])
    yield "products", model(
        [Tensor("x", "float32", [2, 3]), code("q", [2, 3]), Tensor("w", "int4", [1, 3], [1, -2, 3], 0.5), code("a", [2, 1]),
         Tensor("v", "int8", [2, 3], [1] * 6, [0.5, 0.25], [0, 0]), Tensor("y", "float32", [2, 2]), Tensor("z", "float32", [2, 1])],
        [Op("QUANTIZE", ["x"], ["q"]), Op("FULLY_CONNECTED", ["q", "w"], ["a"]), Op("FULLY_CONNECTED", ["x", "v"], ["y"]),
         Op("DEQUANTIZE", ["a"], ["z"])], ["x"], ["y", "z"])
    names = ["ADD", "SUB", "MUL", "LOGISTIC", "TANH", "HARD_SWISH", "RELU", "RELU6", "LEAKY_RELU", "SOFTMAX", "ABS",
             "ELU", "GELU", "DIV", "MAXIMUM", "POW", "PRELU"]
    pairs = {"ADD", "SUB", "MUL", "DIV", "MAXIMUM", "POW", "PRELU"}
    options = {"LEAKY_RELU": {0: f32(0.1)}, "SOFTMAX": {0: f32(1)}, "ADD": {0: i8(1)}}
    yield "elements", model([code("x", [2, 3]), *(code(f"y{i}", [2, 3]) for i in range(len(names)))],
                            [Op(name, ["x"] * (2 if name in pairs else 1), [f"y{i}"], options.get(name, {})) for i, name in enumerate(names)],
                            ["x"], [f"y{i}" for i in range(len(names))])
    yield "moves", model(
        [code("x", [2, 6]), numbers("two", [1, 0]), numbers("pads", [1, 0, 0, 2]), numbers("end", [2, 5]), numbers("axis", [1]),
         numbers("sizes", [2, 4]), numbers("part", [1, -1]), numbers("shape", [3, -1]), *(code(f"y{i}", [1]) for i in range(11))],
        [Op("PAD", ["x", "pads"], ["y0"]), Op("STRIDED_SLICE", ["x", "two", "end", "end"], ["y1"], {4: i32(1)}),
         Op("SPLIT", ["axis", "x"], ["y2", "y3"]), Op("SPLIT_V", ["x", "sizes", "axis"], ["y4", "y5"]), Op("RESHAPE", ["x", "shape"], ["y6"]),
         Op("TRANSPOSE", ["x", "two"], ["y7"]), Op("CONCATENATION", ["x", "x"], ["y8"], {0: i32(1)}),
         Op("SLICE", ["x", "two", "part"], ["y9"]), Op("EXPAND_DIMS", ["x", "axis"], ["y10"])], ["x"], [f"y{i}" for i in range(11)])
    yield "images", model(
        [code("x", image), numbers("size", [3, 5]), numbers("axes", [1, 2]), numbers("large", [1, 8, 8, 2]), Tensor("w", "int8", [2, 3, 3, 2], [1] * 36, 0.25),
         *(code(f"y{i}", image) for i in range(8))],
        [Op("RESIZE_BILINEAR", ["x", "size"], ["y0"], {3: i8(1)}), Op("RESIZE_NEAREST_NEIGHBOR", ["x", "size"], ["y1"]),
         Op("MEAN", ["x", "axes"], ["y2"], {0: i8(1)}), Op("SQUEEZE", ["y2"], ["y3"], {0: ints([0])}),
         Op("SPACE_TO_DEPTH", ["x"], ["y4"], {0: i32(2)}), Op("DEPTH_TO_SPACE", ["y4"], ["y5"], {0: i32(2)}),
         Op("TRANSPOSE_CONV", ["large", "w", "y5"], ["y6"], {0: i8(0), 1: i32(2), 2: i32(2)}), Op("BATCH_MATMUL", ["x", "x"], ["y7"], {1: i8(1)})],
        ["x"], ["y0", "y1", "y3", "y6", "y7"])


if __name__ == "__main__":
    for target, files in {"npy": npy_files, "npz": npz_files, "safetensors": safetensors_files, "state": state_files,
                          "link": link_files, "tflite": tflite_files}.items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files():
            (folder / name).write_bytes(data)
