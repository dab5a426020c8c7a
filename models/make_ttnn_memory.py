# SPDX-License-Identifier: Apache-2.0
"""Makes the models of target ttnn that are about the memory of a device. It needs no numpy: results are
exact by the choice of the numbers, or far from a tie.

A folder whose graph does not fit has refused.json instead of graph.json, and what `qdq check` prints
about it in findings.txt. A folder with buffers.txt says where values lie: name, pool, address, bytes
of a bank. Addresses are computed by hand from docs/device_memory.md."""

import json
import struct
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
L1 = {"buffer_type": "L1"}


def value(name, dtype, shape, config=None):
    return {"name": name, "dtype": dtype, "shape": shape,
            **({"memory_config": config} if config else {})}


def node(op, name, x, config=None, **attrs):
    return {"op": op, "name": name, "inputs": {"x": x}, "attrs": attrs,
            **({"memory_config": config} if config else {})}


def render(made):
    """JSON with a line for each input, node and output."""
    lines = ["{"]
    for key, item in made.items():
        end = "" if key == list(made)[-1] else ","
        if not isinstance(item, list):
            lines.append(f"  {json.dumps(key)}: {json.dumps(item)}{end}")
            continue
        rows = ",\n".join("    " + json.dumps(row) for row in item)
        lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ]{end}")
    return "\n".join(lines + ["}"]) + "\n"


def tensors(made):
    """A safetensors file of {name: (dtype, shape, bytes)}."""
    header, at = {}, 0
    for name, (dtype, shape, data) in made.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in made.values())


def write(name, about, inputs, nodes, outputs, files, refused=False):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    made = {"format": "qdq/1", "name": name, "target": "ttnn", "x-about": about, "inputs": inputs,
            "nodes": nodes, "outputs": [{"name": a, "value": b} for a, b in outputs.items()]}
    (folder / ("refused.json" if refused else "graph.json")).write_text(render(made))
    for file, content in files.items():
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())


def bfloat16(numbers):
    """Numbers that are bfloat16."""
    bits = [struct.unpack("<I", struct.pack("<f", n))[0] for n in numbers]
    assert all(b & 0xFFFF == 0 for b in bits)
    return struct.pack(f"<{len(bits)}H", *(b >> 16 for b in bits))


def int32(numbers):
    return struct.pack(f"<{len(numbers)}i", *numbers)


def make_l1():
    """The parameters of ttnn's page of requantize, from L1 to DRAM."""
    x = [i * 7919 % 801 - 400 for i in range(64 * 96)]
    exact = [(v + 213) * Fraction("0.001173") / Fraction("0.002727") - 73 for v in x]
    assert all(abs(e - round(e)) < Fraction(4999, 10000) for e in exact)
    codes = [max(-127, min(127, round(e))) for e in exact]
    write(
        "ttnn_device_requantize_l1",
        "The parameters of ttnn's requantize page: x and its codes in L1, the result in DRAM.",
        [value("x", "int32", [64, 96], L1)],
        [node("Requantize", "codes", "x", in_scales=0.001173, in_zps=-213, out_scales=0.002727,
              out_zps=-73, dtype="int32"),
         node("Dequantize", "real", "codes", {"buffer_type": "DRAM"}, scales=0.5, zps=-73,
              dtype="bfloat16")],
        {"codes": "codes", "y": "real"},
        {"inputs.safetensors": tensors({"x": ("I32", [64, 96], int32(x))}),
         "expected.safetensors": tensors({
             "codes": ("I32", [64, 96], int32(codes)),
             "y": ("BF16", [64, 96], bfloat16([(c + 73) / 2 for c in codes]))}),
         # Six tiles in 64 banks of L1, and in 12 of DRAM.
         "buffers.txt": f"x L1 {1499136 - 4096} 4096\n"
                        f"codes L1 {1499136 - 2 * 4096} 4096\n"
                        "real DRAM 32 2048\n"})


NUMBERS = ("a buffer of {} B over 64 banks needs {} B in each, a bank has 1395712 B, allocated {} B, "
           "free {} B, largest free block {} B")


def make_exhausted():
    """int8 [4096, 4096] takes 256 KiB of a bank, and four times as much as float32."""
    part = 256 * 1024
    left = 1395712 - 5 * part
    write(
        "ttnn_device_l1_exhausted",
        "x, and x as float32, leave no room in L1 for a second int8 tensor.",
        [value("x", "int8", [4096, 4096], L1)],
        [node("Dequantize", "a", "x", scales=0.5, zps=1, dtype="float32"),
         node("Requantize", "b", "x", in_scales=0.5, in_zps=1, out_scales=0.25, out_zps=0,
              dtype="int8")],
        {"a": "a", "b": "b"},
        {"findings.txt": "error: refused.json: node 'b': Requantize: L1 is exhausted: "
                         + NUMBERS.format(64 * part, part, 5 * part, left, left)
                         + "; free tensors earlier, or move some to another pool "
                         "[ttnn/memory-exhausted]\n"}, refused=True)


def make_fragmented():
    """a leaves a hole of 256 KiB above b and q, which the float32 tensor d would need."""
    a, b, d = 256 * 1024, 64 * 1024, 1024 * 1024
    write(
        "ttnn_device_l1_fragmented",
        "L1 has enough free bytes for d, but b and q lie between them.",
        [value("a", "float32", [2048, 2048], L1), value("b", "int8", [2048, 2048], L1),
         value("c", "int8", [4096, 4096])],
        [node("Quantize", "q", "a", scales=0.5, zps=1, dtype="int8"),
         node("Dequantize", "d", "c", L1, scales=0.5, zps=1, dtype="float32"),
         node("Dequantize", "e", "b", {"buffer_type": "DRAM"}, scales=0.5, zps=1,
              dtype="float32")],
        {"q": "q", "d": "d", "e": "e"},
        {"findings.txt": "error: refused.json: node 'd': Dequantize: L1 is fragmented: "
                         + NUMBERS.format(64 * d, d, 2 * b, 1395712 - 2 * b,
                                          1395712 - 2 * b - a)
                         + "; reallocate the tensors that lie between free blocks, or allocate in "
                         "another order [ttnn/memory-fragmented]\n"}, refused=True)


def make():
    make_l1()
    make_exhausted()
    make_fragmented()


if __name__ == "__main__":
    make()
