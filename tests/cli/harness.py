# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the command line: calling qdq, and reading and writing its files without
it."""

import ast
import itertools
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import namedtuple
from pathlib import Path

TIMEOUT = 30  # seconds before a call counts as hanging
QDQ = MODELS = None  # from the command line
LONG = False  # --long: repeat what depends on chance more often
# Prints the peak memory of a command in KiB. A process begins with the peak of the one that started it, so
# that one is small.
PEAK_KIB = """import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""

# Struct letters of each dtype. A bfloat16 is passed as its bits.
LETTERS = {"float32": "f", "bfloat16": "H", "int8": "b", "uint8": "B", "int16": "h", "int32": "i",
           "int64": "q", "uint32": "I", "uint64": "Q", "float64": "d"}
NPY = {"float32": "<f4", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
       "uint32": "<u4", "uint64": "<u8", "float64": "<f8"}
SAFETENSORS = {"float32": "F32", "bfloat16": "BF16", "int8": "I8", "uint8": "U8", "int16": "I16", "int32": "I32",
               "int64": "I64", "uint32": "U32", "uint64": "U64", "float64": "F64"}

Result = namedtuple("Result", "code out err")
Tensor = namedtuple("Tensor", "dtype shape data")  # data is bytes


# ---- Numbers ----


def pack(dtype, values):
    return struct.pack(f"<{len(values)}{LETTERS[dtype]}", *values)


def unpack(tensor):
    letter = LETTERS[tensor.dtype]
    return list(struct.unpack(f"<{len(tensor.data) // struct.calcsize(letter)}{letter}",
                              tensor.data))


def float32_of_bits(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def bfloat16_bits(value):
    """The bits of a float32 rounded half to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if math.isnan(value):
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def bfloat16(value):
    return float32_of_bits(bfloat16_bits(value) << 16)


def tensor(dtype, shape, values):
    return Tensor(dtype, list(shape), pack(dtype, values))


# ---- Files ----


def npy_bytes(descr, shape, data, version=1, fortran_order=False):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr, fortran_order, "".join(f"{dim}, " for dim in shape))
    length = "<H" if version == 1 else "<I"
    before = 8 + struct.calcsize(length)
    text += " " * (-(before + len(text) + 1) % 64) + "\n"
    return (b"\x93NUMPY" + bytes([version, 0]) + struct.pack(length, len(text)) + text.encode()
            + data)


def write_npy(path, one, version=1):
    path.write_bytes(npy_bytes(NPY[one.dtype], one.shape, one.data, version))


def read_npy(path):
    data = path.read_bytes()
    assert data[:6] == b"\x93NUMPY" and data[6] == 1, data[:8]
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:end].decode())
    assert end % 64 == 0 and header["fortran_order"] is False, header
    dtype = next(name for name, descr in NPY.items() if descr == header["descr"])
    return Tensor(dtype, list(header["shape"]), data[end:])


def safetensors_bytes(tensors):
    """The bytes of a file. `tensors` maps names to Tensors, whose dtype may be a word of the format
    itself."""
    header, body = {}, b""
    for name, one in tensors.items():
        header[name] = {"dtype": SAFETENSORS.get(one.dtype, one.dtype), "shape": one.shape,
                        "data_offsets": [len(body), len(body) + len(one.data)]}
        body += one.data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def read_safetensors(path):
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    words = {word: name for name, word in SAFETENSORS.items()}
    return {name: Tensor(words[one["dtype"]], one["shape"],
                         data[end + one["data_offsets"][0]:end + one["data_offsets"][1]])
            for name, one in header.items()}


# ---- Graphs ----


def value(name, dtype="float32", shape=(2, 3)):
    return {"name": name, "dtype": dtype, "shape": list(shape)}


def constant(name, dtype, shape, data):
    return {**value(name, dtype, shape), "data": data}


def node(op, name, x, ports=None, **attrs):
    return {"op": op, "name": name, "inputs": {"x": x, **(ports or {})}, "attrs": attrs}


def quantize(name="q", x="x", ports=None, **attrs):
    return node("Quantize", name, x, ports, **attrs)


def requantize(name, x, ports=None, **attrs):
    return node("Requantize", name, x, ports, **{"in_scales": 1, "out_scales": 1, **attrs})


def graph(nodes=(), inputs=None, outputs=None, **more):
    """A graph with one input x, float32 [2, 3], and one output y of node q, unless given
    otherwise."""
    inputs = [value("x")] if inputs is None else inputs
    outputs = {"y": "q"} if outputs is None else outputs
    return {"format": "qdq/1", "inputs": inputs, "nodes": list(nodes),
            "outputs": [{"name": name, "value": of} for name, of in outputs.items()], **more}


def identity(dtype, shape):
    return graph(inputs=[value("x", dtype, shape)], outputs={"y": "x"})


# ---- The case ----


def models():
    return sorted(path.parent for path in Path(MODELS).glob("*/graph.json"))


def text_of(stream):
    """Bytes as text; bytes that are not UTF-8 become surrogates."""
    return (stream or b"").decode(errors="surrogateescape")


calls = itertools.count()


def environment():
    """The environment of a call. The search for leaks takes half of the time of a sanitized call: a slow run (tests/unit.h)
    makes it in a quarter of the calls, in others for each QDQ_SLOW."""
    slow = os.environ.get("QDQ_SLOW")
    if not slow or (next(calls) + int(slow)) % 4 == 0:
        return None
    return {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


class Case(unittest.TestCase):
    """A test with a folder of its own, in which qdq is called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qdq-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        """Writes a graph, text or bytes to a file and returns its name."""
        if isinstance(content, (dict, list)):
            content = json.dumps(content, ensure_ascii=False)
        data = content if isinstance(content, bytes) else content.encode()
        (self.folder / name).write_bytes(data)
        return name

    def qdq(self, *words, code=0, **more):
        """Calls qdq. It must exit with `code` (None: any) and follow the rules of all commands."""
        call = f"qdq {' '.join(map(str, words))[:200]}"
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), **more}
        try:
            done = subprocess.run([QDQ, *map(str, words)], cwd=self.folder, timeout=TIMEOUT,
                                  stdin=subprocess.DEVNULL, **streams)
        except subprocess.TimeoutExpired:
            done = None
        self.assertIsNotNone(done, f"{call}: not done after {TIMEOUT} s")
        out, err = (text_of(stream) for stream in (done.stdout, done.stderr))
        told = f"{call}\n--- stdout\n{out[:2000]}--- stderr\n{err[:2000]}"
        self.assertNotRegex(out + err, "[\udc80-\udcff]", f"not UTF-8: {ascii(told)}")
        self.assertIn(done.returncode, range(6), told)
        self.assertNotIn("Sanitizer", err, told)
        self.assertNotIn("runtime error", err, told)
        if code is not None:
            self.assertEqual(done.returncode, code, told)
        if done.returncode >= 2:
            self.assertTrue(err, f"no message for exit code {done.returncode}: {told}")
        return Result(done.returncode, out, err)

    def json(self, *words, code=0):
        result = self.qdq(*words, "--json", code=code)
        try:
            parsed = json.loads(result.out)
        except ValueError:
            parsed = None
        told = f"qdq {' '.join(map(str, words))} --json"
        self.assertIsNotNone(parsed, f"{told} prints no JSON:\n{result.out[:500]}")
        self.assertEqual(parsed.get("version"), 1, told)
        return parsed

    def check(self, content, *words, code=1):
        """Runs `qdq check` on a graph and returns the findings of --json."""
        return self.json("check", self.write("g.json", content), *words, code=code)["findings"]

    def assert_finding(self, content, rule, text, code=1):
        """A graph has one finding, `rule`, whose message contains `text`."""
        found = self.check(content, code=code)
        self.assertEqual([one["rule"] for one in found], [rule], found)
        self.assertIn(text, found[0]["message"])

    def assert_refused(self, content, *texts, code=3):
        """`qdq check` refuses the file with one line on stderr that contains all the texts."""
        result = self.qdq("check", self.write("g.json", content), code=code)
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"\Aqdq: g\.json: [^\n]*\n\Z")
        for text in texts:
            self.assertIn(text, result.err)

    def run_one(self, content, x, *words, **more):
        """Runs a graph with input x and output y, both .npy files."""
        write_npy(self.folder / "x.npy", x)
        self.qdq("run", self.write("g.json", content), "-i", "x=x.npy", "-o", "y=y.npy", *words,
                 **more)
        return read_npy(self.folder / "y.npy")

    def peak_mib(self, *words):
        """The peak memory of a call of qdq. A sanitizer must not keep freed memory."""
        options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
        found = subprocess.run([sys.executable, "-S", "-c", PEAK_KIB, QDQ, *map(str, words)], cwd=self.folder,
                               env={**os.environ, "ASAN_OPTIONS": options}, stdout=subprocess.PIPE, check=True)
        return int(found.stdout) / 1024


def main():
    """Runs the tests of a file: FILE QDQ_BINARY MODELS_DIR [--long] [unittest's own arguments]."""
    take_arguments()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


def take_arguments():
    global QDQ, MODELS, LONG
    LONG = "--long" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--long"]
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} QDQ_BINARY MODELS_DIR")
    QDQ, MODELS = str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve())
