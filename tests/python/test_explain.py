# SPDX-License-Identifier: Apache-2.0
"""Tests Graph.explain and qdq.bisect: faults are put into one node of a network, whose results are computed with numpy's
formulas for this node and by the graph for the others. The node and the cause must be named, or nothing.

    test_explain.py SOURCE_ROOT
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import qdq

F32 = np.float32
ROWS, WIDTH = 16, 32
SECONDS = 10


def network(seed, layers):
    """Layers of Quantize, Dequantize, Dequantize of weights, MatMul, and every other a ReLU: 20 to 60 nodes. Scales of two
    layers in three are powers of two, so that what is quantized behind them has ties."""
    rng = np.random.default_rng(seed)
    b = qdq.Builder(f"network {seed}")
    value = b.input("x", "float32", (ROWS, WIDTH))
    for i in range(layers):
        exact = i % 3 != 2
        scale = float(F32(2.0**-6 if exact else 0.013 * (1 + rng.random())))
        zero = int(rng.integers(-9, 10)) or 4
        codes = b.quantize(value, name=f"q{i}", scales=scale, zps=zero, dtype="int8")
        reals = b.dequantize(codes, name=f"d{i}", scales=scale, zps=zero, dtype="float32")
        weights = b.constant(rng.integers(-40, 41, (WIDTH, WIDTH)).astype(np.int8), name=f"w{i}")
        scales = (0.004 * (1 + rng.random(WIDTH))).astype(F32)
        if exact:
            scales = (2.0 ** -rng.integers(7, 9, WIDTH)).astype(F32)
        scaled = b.dequantize(weights, name=f"wd{i}", scales=scales, qtype="per_channel", axis=1, zps=0, dtype="float32")
        value = b.matmul(reals, scaled, name=f"m{i}")
        if i % 2 == 0:
            value = b.relu(value, name=f"r{i}")
    b.output("y", b.quantize(value, name="last", scales=2.0**-6, zps=1, dtype="int8"))
    return b.build()


def data(seed):
    """Half of the numbers are ties of the scale 2^-6."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (ROWS, WIDTH)).astype(F32)
    ties = (rng.integers(-150, 150, x.shape) + 0.5).astype(F32) * F32(2.0**-6)
    return np.where(rng.random(x.shape) < 0.5, ties, x).astype(F32)


# ---- The formulas of Quantize and Dequantize, and wrong ones ----


def half_away(v):
    return np.trunc(v + np.copysign(F32(0.5), v))


def quantize(x, s, z, rounded=np.rint, low=-128):
    return np.clip(rounded((x / s).astype(F32)) + z, low, 127).astype(np.int8)


def bfloat16(v):
    bits = np.asarray(v, F32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(F32)


FAULTS = {  # name: kind of node, causes that are right, result of the node of its input, scales and zero point
    "another scale": ("q", {"wrong-scale"}, lambda x, s, z: quantize(x, F32(0.021), z)),
    "reciprocal scale": ("d", {"wrong-scale"}, lambda q, s, z: ((q.astype(F32) - z) * (F32(1) / s)).astype(F32)),
    "twice the scale": ("d", {"wrong-scale"}, lambda q, s, z: (q.astype(F32) - z) * (2 * s)),
    "no zero point": ("q", {"wrong-zero-point"}, lambda x, s, z: quantize(x, s, 0)),
    "zero point of uint8": ("d", {"wrong-zero-point"}, lambda q, s, z: (q.astype(F32) - (z + 128)) * s),
    "zero point off by one": ("q", {"wrong-zero-point"}, lambda x, s, z: quantize(x, s, z + 1)),
    "other axis": ("wd", {"wrong-axis"}, lambda q, s, z: q.astype(F32) * s[:, None]),
    "first scale for all": ("wd", {"per-tensor"}, lambda q, s, z: q.astype(F32) * s[0]),
    "largest scale for all": ("wd", {"per-tensor"}, lambda q, s, z: q.astype(F32) * s.max()),
    "half away": ("q", {"tie"}, lambda x, s, z: quantize(x, s, z, half_away)),
    "truncation": ("q", {"truncation"}, lambda x, s, z: quantize(x, s, z, np.trunc)),
    "zero point before rounding": ("q", {"zero-point order"},
                                   lambda x, s, z: np.clip(np.rint((x / s).astype(F32) + F32(z)), -128, 127).astype(np.int8)),
    "narrow range": ("q", {"saturation range"}, lambda x, s, z: quantize(x, s, z, low=-127)),
    "bfloat16 scale": ("q", {"scale precision", "wrong-scale"}, lambda x, s, z: quantize(x, bfloat16(s), z)),
    "bfloat16 input": ("q", {"input precision"}, lambda x, s, z: quantize(bfloat16(x), s, z)),
    "wrapping": ("q", {"wrap"}, lambda x, s, z: (np.rint((x / s).astype(F32)) + z).astype(np.int64).astype(np.int8)),
}  # fmt: skip


def parts(graph, folder):
    """The graph as a document, and its nodes by name."""
    path = Path(folder, "graph.json")
    graph.write(path)
    document = json.loads(path.read_text())
    return document, {node["name"]: node for node in document["nodes"]}


def with_fault(document, node, array, x):
    """The values of the network if the node makes `array`."""
    rest = dict(document, nodes=[one for one in document["nodes"] if one is not node])
    rest["inputs"] = [*document["inputs"], {"name": node["name"], "dtype": str(array.dtype), "shape": list(array.shape)}]
    made = qdq.parse(json.dumps(rest)).run({"x": x, node["name"]: array}, values="all")
    return {**made, node["name"]: array}


class Faults(unittest.TestCase):
    def fault(self, name, seed, only_outputs=False):
        """Explains a fault in a node chosen by the seed; None if it changes no result."""
        rng = np.random.default_rng(seed)
        layers = int(rng.integers(5, 13))
        graph, x = network(seed, layers), data(seed)
        kind, causes, formula = FAULTS[name]
        with tempfile.TemporaryDirectory() as folder:
            document, nodes = parts(graph, folder)
            chosen = f"{kind}{int(rng.integers(1, layers))}"
            node = nodes[chosen]
            ours = graph.run(x=x, values="all")
            constants = {one["name"]: np.array(one["data"], np.int8).reshape(one["shape"]) for one in document["constants"]}
            given = node["inputs"]["x"]
            before = constants.get(given, ours.get(given))
            scales, zero = F32(node["attrs"]["scales"]), node["attrs"].get("zps", 0)
            array = np.asarray(formula(before, scales, zero))
            if (array == ours[chosen]).all():
                return None
            got = with_fault(document, node, array, x)
        if only_outputs:
            got = {"y": got["y"]}
        started = time.monotonic()
        found = graph.explain(x=x, got=got)
        self.assertLess(time.monotonic() - started, SECONDS, name)
        named = causes & {found.cause, *found.also}
        return found.node == chosen and bool(named) and found.left == 0, found, chosen

    def visible(self, name, start, only_outputs=False):
        """The first fault from a seed on that changes a result."""
        results = (self.fault(name, seed, only_outputs) for seed in range(start, start + 50))
        return next(result for result in results if result)

    def test_faults_are_named(self):
        unknown, ambiguous = [], 0
        for name in FAULTS:
            for start in (0, 100):
                fine, found, chosen = self.visible(name, start)
                if not fine and found.cause == "unknown":
                    unknown.append((name, chosen))
                    continue
                ambiguous += found.cause not in FAULTS[name][1]
                with self.subTest(name, node=chosen):
                    self.assertTrue(fine, f"{found.node}, {found.cause}: {found}")
        self.assertLessEqual(len(unknown) + ambiguous, 2, unknown)

    def test_faults_are_named_by_the_output_alone(self):
        for name in ("reciprocal scale", "no zero point", "other axis", "half away"):
            fine, found, chosen = self.visible(name, 0, only_outputs=True)
            with self.subTest(name, node=chosen):
                self.assertTrue(fine or found.left == 0 or found.cause == "unknown", found)

    def test_another_target_is_named(self):
        graph, x = network(1, 5), data(1)
        found = graph.explain(x=x, got=graph.run(x=x, target="ttnn@wormhole"))
        self.assertEqual((found.target.split("@")[0], found.left), ("ttnn", 0))
        self.assertIn(found.target, str(found))
        self.assertEqual({one.bits for one in found.nodes}, {"exact"})  # of the graph's own target, core
        asked = graph.explain(x=x, got=graph.run(x=x), target="ttnn")
        self.assertEqual(asked.nodes, graph.check("ttnn").nodes)
        self.assertGreater(len({one.bits for one in asked.nodes}), 1)

    def test_equal_results_are_no_fault(self):
        graph, x = network(1, 5), data(1)
        found = graph.explain(x=x, got=graph.run(x=x, values="all"))
        self.assertFalse(found)
        self.assertEqual((found.node, found.cause, str(found)), (None, None, "all values are equal"))

    def test_noise_is_unknown(self):
        graph, x = network(1, 5), data(1)
        y = graph.run(x=x)["y"]
        found = graph.explain(x=x, got=np.random.default_rng(1).permutation(y.ravel()).reshape(y.shape))
        self.assertEqual((found.value, found.cause, found.target), ("y", "unknown", None))
        self.assertLess(len(str(found).splitlines()), 40)
        self.assertIn("0x", str(found))

    def test_values_of_every_dtype_are_given(self):
        """Their elements go to the tool through a file, which has no words for narrow and small types."""
        for dtype in ("int4", "uint2", "float8_e4m3fn", "float8_e5m2fnuz", "float4_e2m1", "int32", "bfloat16", "float16"):
            b = qdq.Builder("one")
            x = b.input("x", "float32", (4,))
            real = dtype in ("bfloat16", "float16")
            b.output("y", b.cast(x, dtype=dtype) if real else b.quantize(x, scales=1.0, dtype=dtype))
            graph, x = b.build(), F32([1, 0, 1, 3])
            y = graph.run(x=x)["y"]
            changed = y.copy()
            changed[3] = y[1]
            with self.subTest(dtype):
                self.assertFalse(graph.explain(x=x, got=y))
                found = graph.explain(x=x, got=changed)
                self.assertEqual((found.value, found.differing, found.elements), ("y", 1, 4))

    def test_arrays_of_another_type_are_refused(self):
        graph, x = network(1, 5), data(1)
        for got, text in (({"z": x}, "no value 'z'"), ({"y": x}, "float32")):
            with self.assertRaisesRegex(qdq.ArgumentError, text):
                graph.explain(x=x, got=got)


class Two(unittest.TestCase):
    """qdq.bisect."""

    def test_the_node_at_which_two_graphs_part_is_named(self):
        first, x = network(1, 5), data(1)
        with tempfile.TemporaryDirectory() as folder:
            document, nodes = parts(first, folder)
        nodes["q2"]["attrs"]["scales"] *= 2
        found = qdq.bisect(first, qdq.parse(json.dumps(document)), x=x)
        self.assertEqual((found.value, found.node, found.left), ("q2", "q2", 0))
        self.assertFalse(qdq.bisect(first, first, x=x))

    def test_two_targets_part_at_a_tie(self):
        b = qdq.Builder("ties")
        b.output("y", b.quantize(b.input("x", "float32", (3,)), name="q", scales=1.0, dtype="int8"))
        found = qdq.bisect(b.build(), targets=["onnx", "ttnn"], x=F32([0.5, 1.0, 2.5]))
        self.assertEqual(found.nodes, b.build().check("onnx").nodes)
        self.assertEqual((found.node, found.cause, found.differing), ("q", "tie", 2))
        with self.assertRaisesRegex(qdq.ArgumentError, "one of them"):
            qdq.bisect(b.build(), x=F32([0, 0, 0]))


class Command(unittest.TestCase):
    """python -m qdq, which is the tool."""

    def run_of(self, *words, **variables):
        command = [sys.executable, "-m", "qdq", *map(str, words)]
        environment = {**os.environ, **variables}
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)

    def test_files_and_exit_codes(self):
        graph, x = network(1, 5), data(1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            document, nodes = parts(graph, folder)
            q = graph.run(x=x, values=["q1"])["q1"]
            got = with_fault(document, nodes["q1"], np.clip(q, -64, 63), x)
            np.savez(path / "in.npz", x=x)
            np.savez(path / "got.npz", **{name: got[name] for name in ("q0", "q1", "y")})
            model = path / "graph.json"
            done = self.run_of("explain", model, "-i", path / "in.npz", "--got", path / "got.npz", "--json")
            self.assertEqual(done.returncode, 1, done.stderr)
            found = json.loads(done.stdout)
            self.assertEqual((found["node"], found["cause"], found["left"]), ("q1", "saturation range", 0))
            done = self.run_of("explain", model, "--got", path / "none.npz")
            self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (3, 1))
            self.assertIn("none.npz", done.stderr)

    def test_a_missing_tool_is_told(self):
        done = self.run_of("--version", QDQ_TOOL="/nowhere/qdq")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Aqdq: /nowhere/qdq: the command-line tool qdq is missing here; [^\n]*QDQ_TOOL\n\Z")
        with mock.patch.dict(os.environ, QDQ_TOOL="/nowhere/qdq"), self.assertRaisesRegex(qdq.FileError, "missing"):
            network(1, 1).explain(x=data(1), got={"y": np.zeros((ROWS, WIDTH), np.int8)})

    def test_a_tool_that_is_killed_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder, "qdq")
            tool.write_text("#!/bin/sh\nkill -9 $$\n")
            tool.chmod(0o755)
            with mock.patch.dict(os.environ, QDQ_TOOL=str(tool)), self.assertRaisesRegex(qdq.Error, "ended by SIGKILL"):
                network(1, 1).explain(x=data(1), got={"y": np.zeros((ROWS, WIDTH), np.int8)})

    def test_two_engines(self):
        """-2 / 4: the vectors of the built-in kernels round halves up in blocks of 16 elements."""
        b = qdq.Builder("blocks")
        b.output("y", b.requantize(b.input("x", "int8", (18,)), name="q", in_scales=0.25, out_scales=1.0, dtype="int8"))
        found = qdq.bisect(b.build(), targets=["litert@reference", "litert@builtin-x86"], x=np.full(18, -2, np.int8))
        self.assertEqual((found.node, found.cause, found.differing), ("q", "half up in a block", 16))


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
