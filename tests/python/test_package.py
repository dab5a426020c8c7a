# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package, as installed, or as PYTHONPATH and QDQ_LIBRARY name it.

    test_package.py SOURCE_ROOT
"""

import copy
import gc
import importlib.metadata
import importlib.util
import io
import json
import math
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import qdq

ROOT = None
X = np.array([[-1.0, -0.5, 0.25, 0.75], [0.01, 0.03, 2.0, 1e9]], np.float32)


def installed():
    """True if qdq is installed, so that pytest finds its plugin."""
    try:
        return bool(importlib.metadata.version("qdq"))
    except importlib.metadata.PackageNotFoundError:
        return False


def built(**attrs):
    b = qdq.Builder("net")
    b.output("y", b.quantize(b.input("x", "float32", X.shape), **{"scales": 0.5, "dtype": "int8", **attrs}))
    return b.build()


def assert_in_tiles(got, rows):
    """Looks up each element of an array at its place in tiles (include/qdq/tile.h)."""
    planes = rows.reshape((-1, *rows.shape[-2:]) if rows.ndim > 1 else (1, 1, -1))
    count, height, width = planes.shape
    down, across = -(-height // 32), -(-width // 32)
    assert got.shape == (count * down * across, 4, 16, 16), got.shape
    assert got.dtype == rows.dtype, got.dtype
    for plane, i, j in np.ndindex(planes.shape):
        tile, row, column = (plane * down + i // 32) * across + j // 32, i % 32, j % 32
        found = got[tile, row // 16 * 2 + column // 16, row % 16, column % 16]
        assert found == planes[plane, i, j], (plane, i, j, found, planes[plane, i, j])


class Graphs(unittest.TestCase):
    def test_a_check_says_how_well_the_bits_of_each_node_are_known(self):
        graph = qdq.load(ROOT / "models/digits/int8.json")
        self.assertEqual(graph.check("core").bits(), {"exact": 17, "read": 0, "close": 0, "unknown": 0})
        report = graph.check("onednn")
        self.assertEqual(sum(report.bits().values()), len(report.nodes))
        conv = next(one for one in report.nodes if one.node == "conv1")
        self.assertEqual((conv.op, conv.bits, conv.against), ("Convolution", "close", "oneDNN 3.13.2 on x86-64"))
        behind = next(one for one in report.nodes if one.op == "MaxPool")
        self.assertEqual((behind.bits, behind.from_same_inputs), ("exact", True))

    def test_every_kind_of_file_is_loaded(self):
        for path in ("models/attention/graph.json", "tests/onnx/models/quantized.onnx"):
            with self.subTest(path):
                graph = qdq.load(ROOT / path)
                self.assertTrue(graph.check().ok)
                self.assertGreater(len(graph.compile().inputs), 0)

    def test_open_dims_are_given(self):
        path = ROOT / "tests/onnx/models/quantized.onnx"
        with self.assertRaisesRegex(qdq.ArgumentError, "nothing"):
            qdq.load(path, dims={"nothing": 1})

    def test_errors_are_exceptions_with_one_sentence(self):
        cases = [(qdq.FileError, "missing.json", lambda: qdq.load("missing.json")),
                 (qdq.ParseError, "", lambda: qdq.parse("{")),
                 (qdq.ArgumentError, "target 'nothing' is unknown", lambda: built().check("nothing")),
                 (qdq.ArgumentError, "did you mean 'onnx'", lambda: qdq.parse("{}", target="onx")),
                 (qdq.ArgumentError, "has no 'scal'", lambda: built(scal=1)),
                 (qdq.ArgumentError, "no dtype 'int5'", lambda: qdq.Builder().input("x", "int5", (1,))),
                 (qdq.ArgumentError, "'x' is missing", lambda: built().run()),
                 (qdq.ArgumentError, "no input 'z'", lambda: built().run(x=X, z=X)),
                 (qdq.ArgumentError, r"shape \[4, 2\]", lambda: built().run(x=X.T)),
                 (qdq.ArgumentError, "float64", lambda: built().run(x=X.astype(np.float64))),
                 (qdq.ArgumentError, "values", lambda: built().run(x=X, values="some"))]  # fmt: skip
        for kind, text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, f"(?s){text}"):
                call()

    def test_a_refusal_has_all_findings(self):
        b = qdq.Builder()
        b.output("y", b.quantize(b.input("x", "float32", (4,)), scales=0.5, dtype="uint8", zps=3))
        with self.assertRaises(qdq.UnsupportedError) as raised:
            b.build().compile("tensorrt")
        report = raised.exception.report
        self.assertFalse(report.ok)
        self.assertTrue(set(report.by_rule()) > set())
        self.assertTrue(all(one.rule in str(report) for one in report) or "tensorrt/" in report._repr_html_())
        self.assertIn("<table>", report._repr_html_())

    def test_a_node_takes_any_number_of_values(self):
        b = qdq.Builder("many")
        parts = [np.full((2, 1 + i % 3), i, np.float32) for i in range(500)]
        x = b.input("x", "float32", (2, 4))
        b.output("y", b.concat([x, *(b.constant(part) for part in parts)], axis=1))
        own = np.arange(8, dtype=np.float32).reshape(2, 4)
        np.testing.assert_array_equal(b.build().run(x=own)["y"], np.concatenate([own, *parts], axis=1))

    def test_a_graph_is_mended(self):
        b = qdq.Builder("net")
        q = b.quantize(b.input("x", "float32", (4,)), scales=0.5, zps=128, dtype="uint8", name="q")
        b.output("y", b.dequantize(q, scales=0.5, zps=128, dtype="float32"))
        mended = b.build().mended("tensorrt")
        self.assertEqual(mended.check("tensorrt").errors, 0)
        (change,) = mended.changes
        self.assertEqual((change.name, change.nodes[0], change.cause, change.rule),
                         ("signed codes", "q", None, "tensorrt/no-uint8"))
        y = mended.run(x=np.float32([-64.3, 0.2, 0.3, 99]))["y"]
        self.assertEqual(y.tolist(), [-64.0, 0.0, 0.5, 63.5])

    def test_a_graph_is_written_and_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("json", "onnx"):
                path = Path(folder, f"g.{ending}")
                built().write(path)
                qdq.testing.assert_same_bits(qdq.load(path).run(x=X, target="onnx"), built().run(x=X, target="onnx"))


class Places(unittest.TestCase):
    """memory_config and layout of Builder, in the words of docs/format.md, section 9."""

    def sharded(self, height, cores):
        return {"memory_layout": "HEIGHT_SHARDED", "buffer_type": "L1",
                "shard_spec": {"grid": [((0, 0), (np.int64(cores - 1), 0))], "shape": (height, 64)}}  # fmt: skip

    def test_a_value_is_moved_over_a_device(self):
        b = qdq.Builder("moves")
        x = b.input("x", "float32", (128, 64), memory_config="L1_MEMORY_CONFIG")
        halves = b.interleaved_to_sharded(x, name="halves", memory_config=self.sharded(64, 2))
        quarters = b.reshard(halves, name="quarters", memory_config=self.sharded(32, 4))
        back = b.sharded_to_interleaved(quarters, name="back")
        b.output("y", b.to_memory_config(back, name="l1", memory_config={"buffer_type": "L1"}))
        graph = b.build(target="ttnn")
        self.assertEqual(str(graph.check()), "0 errors, 0 warnings")
        plan = graph.compile()
        found = {one.name: one for one in plan.buffers()}
        self.assertEqual([found[name].pool for name in ("x", "halves", "quarters", "back", "l1")],
                         ["L1", "L1", "L1", "DRAM", "L1"])
        # 8 tiles: a core has shards of 4 or of 2 of them, row by row.
        self.assertEqual([page.core for page in plan.pages("halves")], [(i // 4, 0) for i in range(8)])
        self.assertEqual([page.core for page in plan.pages("quarters")], [(i // 2, 0) for i in range(8)])
        self.assertEqual({page.core for page in plan.pages("x")}, {None})
        given = np.random.default_rng(1).normal(size=(128, 64)).astype(np.float32)
        np.testing.assert_array_equal(plan.run(x=given)["y"], given)

    def test_rows_are_pages_of_a_device(self):
        b = qdq.Builder()
        c = b.constant(np.ones((2, 8), np.float32), name="c", memory_config="L1_MEMORY_CONFIG", layout="ROW_MAJOR")
        x = b.input("x", "float32", (64, 8), layout="ROW_MAJOR")
        b.output("y", b.to_layout(x, name="t", layout="TILE"))
        b.output("z", c)
        found = {one.name: one for one in b.build(target="ttnn").compile().buffers()}
        self.assertEqual((found["x"].pages, found["x"].page_bytes, found["x"].tiles, found["x"].padding), (64, 32, 0, 0))
        self.assertEqual((found["t"].pages, found["t"].page_bytes, found["t"].tiles), (2, 4096, 2))
        self.assertEqual((found["c"].pool, found["c"].pages, found["c"].tiles), ("L1", 2, 0))

    def test_the_place_of_an_output_is_that_of_its_node(self):
        b = qdq.Builder()
        r = b.relu(b.input("x", "float32", (64, 64)), name="r")
        b.output("y", r, memory_config="L1_MEMORY_CONFIG", layout="TILE")
        found = {one.name: one.pool for one in b.build(target="ttnn").compile().buffers()}
        self.assertEqual(found, {"x": "DRAM", "r": "L1"})
        two = b.softmax(b.input("z", "float32", (4, 4)), name="s")
        with self.assertRaisesRegex(qdq.ArgumentError, "value 's.stats' is not the first output of its node"):
            b.output("w", two[1], layout="TILE")
        b.output("again", r, memory_config="L1_MEMORY_CONFIG")
        with self.assertRaisesRegex(qdq.ArgumentError, "value 'r': memory_config is DRAM_MEMORY_CONFIG, but L1_MEMORY_CONFIG is"):
            b.output("other", r, memory_config="DRAM_MEMORY_CONFIG")

    def test_places_that_cannot_be_are_refused(self):
        wrong = (("node 'r': memory_config is a number", {"memory_config": 3}),
                 ("node 'r': memory_config: key 'buffer' is unknown", {"memory_config": {"buffer": "L1"}}),
                 ("shard_spec.grid.0. is an array, wanted a range", {"memory_config": {"shard_spec": {"grid": [[0, 0]]}}}),
                 ("node 'r': .*is not JSON serializable", {"memory_config": object()}),
                 ("node 'r': layout is a number", {"layout": 3}),
                 ("ReLU has no 'memory', wanted one of: x, memory_config, layout, tile, transpose_tile", {"memory": "L1"}))  # fmt: skip
        for text, words in wrong:
            b = qdq.Builder()
            with self.subTest(text), self.assertRaisesRegex(qdq.ArgumentError, text):
                b.relu(b.input("x", "float32", (4, 4)), name="r", **words)
        for text, words in (("memory_config is 'L2', wanted one of", {"memory_config": "L2"}),
                            ("layout is 'tile', wanted one of: TILE", {"layout": "tile"}),
                            ("tile is .64, 32., wanted .height, width., each at most 32", {"tile": (64, 32)})):  # fmt: skip
            b = qdq.Builder()
            b.output("y", b.input("x", "float32", (4, 4), **words))
            with self.subTest(text), self.assertRaisesRegex(qdq.GraphError, text):
                b.build().compile("ttnn")


    def test_tiles_have_the_shape_that_a_value_is_given(self):
        x = np.arange(40 * 48, dtype=np.float32).reshape(40, 48)
        b = qdq.Builder()
        v = b.input("x", "float32", (40, 48), tile=(16, 32))
        b.output("y", b.relu(v, name="r", tile=(16, 32)))
        (value,) = [one for one in b.build().compile(values=["r"]).buffers() if one.name == "r"]
        self.assertEqual((value.tiles, value.bytes), (3 * 2, 3 * 2 * 16 * 32 * 4))
        got = b.build().run(x=x, tiles=["r"])["r"]
        padded = np.zeros((48, 64), np.float32)
        padded[:40, :48] = x
        wanted = padded.reshape(3, 16, 2, 2, 16).transpose(0, 2, 3, 1, 4).reshape(6, 2, 16, 16)
        for tile in range(6):
            rows, columns = min(16, 40 - tile // 2 * 16), min(32, 48 - tile % 2 * 32)
            for face in range(2):
                wide = min(16, columns - 16 * face)
                if wide > 0:
                    np.testing.assert_array_equal(got[tile, face, :rows, :wide], wanted[tile, face, :rows, :wide])


class Running(unittest.TestCase):
    def test_quantize_rounds_ties_to_even_and_saturates(self):
        wanted = np.array([[-2, -1, 0, 2], [0, 0, 4, 127]], np.int8)
        qdq.testing.assert_same_bits(built().run(x=X), {"y": wanted})

    def test_arrays_of_any_layout_are_read(self):
        wanted = built().run(x=X)
        for x in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.tolist(), memoryview(X)):
            qdq.testing.assert_same_bits(built().run(x=x), wanted)

    def test_all_values_are_returned(self):
        b = qdq.Builder()
        q = b.quantize(b.input("x", "float32", X.shape), name="q", scales=0.5, dtype="int8")
        b.output("y", b.dequantize(q, scales=0.5, dtype="float32"))
        graph = b.build()
        self.assertEqual(set(graph.run(x=X, values=["q"])), {"q", "y"})
        self.assertEqual(graph.run(x=X, values="all")["q"][0, 0], -2)

    def test_a_plan_holds_values_in_rows_tiles_or_a_device(self):
        b = qdq.Builder()
        x = b.add(b.input("x", "float32", (3, 40)), b.input("y", "float32", (3, 40)))
        b.output("z", b.relu(x))
        graph, feeds = b.build(), {name: np.linspace(-1, 1, 120, dtype=np.float32).reshape(3, 40) for name in "xy"}
        wanted = np.maximum(feeds["x"] + feeds["y"], 0)
        for words in ({"layout": "rows"}, {"layout": "tiles"}, {"device": "n150"}, {"device": "none"}, {"layout": "tiles", "values": "all"}):
            with self.subTest(words):
                qdq.testing.assert_same_bits(graph.run(feeds, **words)["z"], wanted)
        third = np.full((3, 40), np.float32(1) / 3)
        stored = graph.run(x=third, y=third, float_storage="bfloat16", values="all")["z"]
        self.assertEqual(stored[0, 0], np.float32(0.66796875))  # 2/3 with 8 bits
        with self.assertRaisesRegex(qdq.ArgumentError, "layout is 'tiled', wanted 'rows' or 'tiles'"):
            graph.compile(layout="tiled")
        with self.assertRaisesRegex(qdq.ArgumentError, "n105"):
            graph.compile(device="n105")
        with self.assertRaisesRegex(qdq.ArgumentError, "fast and tiles are both given"):
            graph.compile(fast=True, layout="tiles")
        with self.assertRaisesRegex(qdq.ArgumentError, "rows and device are both given"):
            graph.compile(layout="rows", device="n150")

    def test_buffers_of_the_arena_are_tiles_in_pages(self):
        """40 x 70 elements are 2 x 3 tiles; bfloat16 has one to a page of 2,048 bytes, float32 two pages to a tile."""
        b = qdq.Builder()
        x = b.input("x", "float32", (40, 70))
        b.output("y", b.add(b.softmax(b.relu(x, name="r"), name="s")[0], x, name="a"))
        plan = b.build().compile(layout="tiles", float_storage="bfloat16", values="all")
        found = {one.name: one for one in plan.buffers()}
        self.assertEqual(set(found), {"x", "r", "s", "a"})
        for one in found.values():
            size = {"float32": 4, "bfloat16": 2}[one.dtype]
            self.assertEqual((one.shape, one.pool, one.tiles, one.page_bytes), ((40, 70), "host", 6, 2048))
            self.assertEqual((one.bytes, one.pages), (6 * 1024 * size, 3 * size))
            self.assertEqual(one.padding, one.bytes - 40 * 70 * size)
            pages = plan.pages(one.name)
            self.assertEqual([page.address for page in pages], [one.address + 2048 * i for i in range(one.pages)])
            self.assertEqual({(page.pool, page.bank, page.bytes, page.core) for page in pages}, {("host", 0, 2048, None)})
        self.assertEqual((found["x"].dtype, found["s"].dtype), ("float32", "bfloat16"))
        self.assertLessEqual(found["r"].steps[0], found["s"].steps[0])
        self.assertLessEqual(found["s"].steps[0], found["a"].steps[0])
        taken = sorted((one.address, one.address + one.pages * 2048) for one in found.values())  # all are kept
        self.assertTrue(all(end <= begin for (_, end), (begin, _) in zip(taken, taken[1:])), taken)
        self.assertIn("<td>host ", plan._repr_html_())

    def test_values_in_rows_have_no_pages(self):
        b = qdq.Builder()
        b.output("y", b.relu(b.matmul(b.input("x", "float32", (8, 8)), np.eye(8, dtype=np.float32), name="m")))
        plan = b.build().compile(layout="rows", values=["m"])
        (one,) = plan.buffers()
        self.assertEqual((one.name, one.tiles, one.pages, one.page_bytes, one.padding, one.bytes), ("m", 0, 0, 0, 0, 256))
        with self.assertRaisesRegex(qdq.ArgumentError, "value 'm' lies in rows, which have no pages"):
            plan.pages("m")
        with self.assertRaisesRegex(qdq.ArgumentError, "there is no buffer 'mm'; did you mean 'm'"):
            plan.pages("mm")
        with self.assertRaisesRegex(qdq.ArgumentError, "there is no buffer 3; the plan has m"):
            plan.pages(3)
        plan.close()
        with self.assertRaisesRegex(qdq.ArgumentError, "this qdq.Plan is closed"):
            plan.buffers()

    def test_buffers_of_a_device_lie_over_its_banks(self):
        """docs/device_memory.md, section 3: page p of N banks lies in bank p mod N, at p div N slots."""
        b = qdq.Builder()
        b.output("y", b.quantize(b.input("x", "float32", (160, 128)), scales=[0.5] * 128, axis=1, qtype="per_channel",
                                 dtype="int32", name="q"))
        plan = b.build().compile("ttnn")  # an n150 has 12 banks of DRAM
        found = {one.name: one for one in plan.buffers()}
        x, codes = found["x"], found["q"]
        self.assertEqual((x.pool, x.tiles, x.page_bytes, x.bytes, x.padding), ("DRAM", 20, 4096, 20 * 4096, 0))
        self.assertEqual((codes.dtype, codes.tiles, codes.page_bytes), ("int32", 20, 4096))
        self.assertEqual(found["q.scales"].padding, 4 * 4096 - 128 * 4)
        for one in (x, codes):
            self.assertEqual(plan.pages(one.name),
                             [("DRAM", p % 12, one.address + p // 12 * one.page_bytes, one.page_bytes, None) for p in range(20)])

    def test_tiles_have_the_elements_where_the_format_says(self):
        shapes, rng = ((2, 40, 35), (16, 16), (5,), ()), np.random.default_rng(4)
        for shape in shapes:
            x = rng.integers(-8, 8, shape).astype(np.float32)  # of which bfloat16 and each code has every number
            for dtype in ("int8", "int4", "int2", "float8_e5m2", "float4_e2m1"):
                b = qdq.Builder()
                b.output("y", b.quantize(b.input("x", "float32", shape), scales=1.0, dtype=dtype, name="q"))
                graph = b.build()
                with self.subTest(shape=shape, dtype=dtype):
                    got = graph.run(x=x, tiles=["x", "q"])
                    assert_in_tiles(got["x"], x)
                    assert_in_tiles(got["q"], graph.run(x=x)["y"])
                    self.assertEqual(set(got), {"x", "q", "y"})

    def test_tiles_of_bfloat16_are_its_bits(self):
        b = qdq.Builder()
        b.output("y", b.relu(b.relu(b.input("x", "float32", (33, 3)), name="r"), name="s"))
        x = np.float32(np.arange(99).reshape(33, 3))
        got = b.build().run(x=x, float_storage="bfloat16", tiles=["r"])["r"]
        self.assertEqual((got.shape, got.dtype.itemsize), ((2, 4, 16, 16), 2))
        assert_in_tiles(got.view(np.uint16), (x.view(np.uint32) >> 16).astype(np.uint16))

    def test_tiles_of_block_floats_are_their_numbers(self):
        b = qdq.Builder()
        b.output("y", b.cast(b.cast(b.input("x", "float32", (40, 20)), dtype="bfloat8_b", name="c"), dtype="float32"))
        x = np.exp2(np.arange(800) // 16 % 3, dtype=np.float32).reshape(40, 20)  # 7 bits hold them at one exponent
        assert_in_tiles(b.build().run(x=x, target="ttnn", device="none", tiles=["c"])["c"], x)

    def test_tiles_of_other_shapes_have_their_faces(self):
        """docs/device_memory.md, section 2: faces as high as a low tile; a transposed tile goes column by column."""
        x = np.exp2(np.arange(800) // 16 % 3, dtype=np.float32).reshape(40, 20)
        for dtype, high, wide, turned in (("float32", 16, 32, False), ("float32", 4, 32, False), ("float32", 32, 16, True),
                                          ("int4", 8, 16, False), ("int4", 32, 32, True), ("bfloat8_b", 2, 32, False)):
            tile = {"tile": [high, wide], "transpose_tile": turned}
            inputs = [{"name": "x", "dtype": "float32", "shape": [40, 20], **tile}]
            op = {"op": "Quantize", "attrs": {"scales": 1.0, "dtype": dtype}} if dtype == "int4" else {"op": "Cast", "attrs": {"dtype": dtype}}
            nodes = [{"name": "c", "inputs": {"x": "x"}, **op, **tile}]
            outputs = [{"name": "y", "value": "c"}]
            graph = qdq.parse(json.dumps({"format": "qdq/1", "inputs": inputs, "nodes": nodes, "outputs": outputs}))
            got = graph.run(x=x, tiles=["c"])["c"]
            faces, across = min(high, 16), wide // 16
            with self.subTest(dtype=dtype, tile=tile):
                self.assertEqual(got.shape, (-(-40 // high) * -(-20 // wide), high // faces * across, faces, 16))
                for r, c in np.ndindex(x.shape):
                    down, right, r_in, c_in = r % high // faces, c % wide // 16, r % faces, c % 16
                    face = right * (high // faces) + down if turned else down * across + right
                    found = got[r // high * -(-20 // wide) + c // wide, face]
                    self.assertEqual(found[c_in, r_in] if turned else found[r_in, c_in], x[r, c])
            plan = graph.compile(layout="tiles", values="all")
            kept = {one.name: one for one in plan.buffers()}["c"]
            self.assertEqual(kept.tiles, len(got))
            self.assertEqual(kept.padding, kept.bytes - 800 * kept.bytes // got.size)

    def test_tiles_of_a_device_have_its_padding(self):
        """docs/device_memory.md, section 9: rows are padded with zeros, which a zero point of 5 turns into fives."""
        b = qdq.Builder()
        b.output("y", b.quantize(b.input("x", "float32", (20, 20)), scales=1.0, zps=5, dtype="int8", name="q"))
        plan = b.build().compile("ttnn", values="all")
        x = np.float32(np.arange(400).reshape(20, 20) % 100)
        got = plan.run(x=x, tiles=["x", "y"])  # y is the output of q
        for name, wanted, padding in (("x", x, 0), ("y", x + 5, 5)):
            whole = np.full((32, 32), padding, np.float32)
            whole[:20, :20] = wanted
            assert_in_tiles(got[name], whole.astype(got[name].dtype))
        again = got["y"].copy()
        plan.run(x=x + 1)
        np.testing.assert_array_equal(got["y"], again)  # a copy
        np.testing.assert_array_equal(plan.run(x=x)["y"], (x + 5).astype(np.int8))

    def test_names_are_those_of_the_file(self):
        value = {"name": "r", "op": "ReLU", "inputs": {"x": "x"}}
        graph = {"format": "qdq/1", "inputs": [{"name": "x", "dtype": "float32", "shape": [4]}],
                 "nodes": [value, {"name": "s", "op": "Exp", "inputs": {"x": "r"}}], "outputs": [{"name": "y", "value": "s"}],
                 "originals": {"values": {"r": "/re lu/0", "s": "s,1"}, "outputs": {"y": "the end"}}}  # fmt: skip
        graph = qdq.parse(json.dumps(graph))
        for words in ({"layout": "tiles"}, {"target": "ttnn"}):
            plan = graph.compile(values="all", **words)
            self.assertLessEqual({"x", "/re lu/0", "s,1"}, {one.name for one in plan.buffers()})
            self.assertEqual(len(plan.pages("/re lu/0")), 2 if words.get("layout") else 1)
            got = plan.run(x=np.zeros(4, np.float32), tiles=["/re lu/0", "the end"])
            self.assertEqual((got["the end"].shape, got["the end"][0, 0, 0, :4].tolist()), ((1, 4, 16, 16), [1, 1, 1, 1]))
            self.assertEqual(got["/re lu/0"].shape, (1, 4, 16, 16))
        got = graph.run(x=np.zeros(4, np.float32), tiles=["the end"], values=["/re lu/0"])
        self.assertEqual((got["/re lu/0"].tolist(), got["the end"].shape), ([0, 0, 0, 0], (1, 4, 16, 16)))

    def test_tiles_of_what_has_none_are_refused(self):
        b = qdq.Builder()
        b.output("y", b.relu(b.relu(b.input("x", "float32", (2, 2)), name="r"), name="s"))
        graph, x = b.build(), np.ones((2, 2), np.float32)
        plan = graph.compile(layout="rows", values=["r"])
        cases = (("value 'r' lies in rows, so it has no tiles; compile with layout='tiles'", lambda: plan.run(x=x, tiles=["r"])),
                 ("tiles has 's', wanted a value that the plan keeps: r; compile with", lambda: plan.run(x=x, tiles=["s"])),
                 ("tiles has 'y', wanted a value that the plan keeps: r; compile with", lambda: plan.run(x=x, tiles=("y",))),
                 ("tiles is 'r', wanted a list of names of values", lambda: plan.run(x=x, tiles="r")),
                 ("tiles is of type ndarray, wanted a list of names", lambda: plan.run(x=x, tiles=x)),
                 ("tiles is of type list, wanted a list of names", lambda: graph.run(x=x, tiles=[3])),
                 ("no value named 'q'", lambda: graph.run(x=x, tiles=["q"])),
                 ("lies in rows", lambda: graph.run(x=x, tiles=["r"], layout="rows")),
                 ("fast and tiles are both given", lambda: graph.run(x=x, tiles=["r"], fast=True)))  # fmt: skip
        for text, call in cases:
            with self.subTest(text), self.assertRaisesRegex(qdq.ArgumentError, text):
                call()
        self.assertEqual(plan.run(x=x)["y"].tolist(), [[1, 1], [1, 1]])

    def test_threads_run_one_plan_at_once(self):
        plan = built().compile(threads=2)
        inputs = [np.full(X.shape, i, np.float32) for i in range(8)]
        found = [None] * 8

        def work(i):
            for _ in range(50):
                found[i] = plan.run(x=inputs[i])["y"]

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, y in enumerate(found):
            qdq.testing.assert_same_bits(y, np.full(X.shape, 2 * i, np.int8))

    def test_a_device_runs_another_arithmetic(self):
        """torchao multiplies by the reciprocal of the scale, which moves some ties; others divide."""
        scale = np.float32(0.013)
        x = np.arange(-250, 250, dtype=np.float32) * (scale * np.float32(0.5))
        divided = np.clip(np.rint(x / scale), -128, 127).astype(np.int8)
        times = np.clip(np.rint(x * (np.float32(1) / scale)), -128, 127).astype(np.int8)
        self.assertGreater(int((divided != times).sum()), 0)
        qdq.testing.assert_same_bits(qdq.quantize(x, scale, target="onnx"), divided)
        qdq.testing.assert_same_bits(qdq.quantize(x, scale, 0, target="torchao"), times)


def run_sent(graph):
    """In another process: what the pickled graph computes there."""
    return graph.run(x=X)["y"]


class Lifetimes(unittest.TestCase):
    def test_a_copy_outlives_its_original(self):
        for copied in (copy.copy, copy.deepcopy):
            graph = built()
            plan, want = graph.compile(threads=2), graph.run(x=X)["y"]
            other_graph, other_plan = copied(graph), copied(plan)
            graph.close(), plan.close()
            del graph, plan
            gc.collect()
            for got in (other_graph.run(x=X)["y"], other_plan.run(x=X)["y"]):
                np.testing.assert_array_equal(got, want)

    def test_closed_objects_say_so(self):
        for end in (lambda o: o.close(), lambda o: o.__del__(), lambda o: o.__exit__(None, None, None)):
            graph = built()
            plan = graph.compile()
            plan.run(x=X)
            end(plan), end(plan), end(graph), end(graph)
            for use in (lambda: plan.run(x=X), lambda: graph.run(x=X), graph.check, graph.compile, lambda: graph.name,
                        lambda: repr(graph), lambda: copy.copy(graph), lambda: graph.write("g.json"),
                        lambda: pickle.dumps(graph), lambda: graph.deployed("ort")):  # fmt: skip
                with self.assertRaisesRegex(qdq.ArgumentError, "this qdq.(Plan|Graph) is closed"):
                    use()

    def test_a_run_that_goes_on_is_not_freed(self):
        b = qdq.Builder()
        x = b.input("x", "float32", (512, 512))
        b.output("y", b.matmul(b.matmul(x, x), x))
        plan, ones = b.build().compile(), np.ones((512, 512), np.float32)
        results = []
        threads = [threading.Thread(target=lambda: results.append(plan.run(x=ones)["y"][0, 0])) for _ in range(4)]
        for thread in threads:
            thread.start()
        while not plan._owner.idle and not results:  # one has begun
            pass
        plan.close()
        for thread in threads:
            thread.join()
        self.assertEqual(set(results), {512.0 * 512})

    def test_a_graph_is_pickled_by_value(self):
        for path in ("models/attention/graph.json", "tests/onnx/models/quantized.onnx", "models/digits/int8.json"):
            graph = qdq.load(ROOT / path)
            sent = pickle.loads(pickle.dumps(graph))
            self.assertEqual((sent.name, sent.target, repr(sent)), (graph.name, graph.target, repr(graph)))
            inputs = {info.name: np.zeros(info.shape, info.numpy) for info in graph.compile().inputs}
            want, got = graph.run(inputs), sent.run(inputs)
            for name in want:
                np.testing.assert_array_equal(got[name], want[name])

    def test_a_plan_is_not_pickled(self):
        plan = built().compile()
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with self.assertRaisesRegex(TypeError, "a qdq.Plan cannot be pickled"):
                pickle.dumps(plan, protocol)

    def test_results_are_pickled_as_data(self):
        graph = built(scales=[0.5, 0.25])
        report, comparison = graph.check("all"), built().compare(["onnx", "torchao"], x=X)
        self.assertTrue(report)
        for made in (report, comparison):
            sent = pickle.loads(pickle.dumps(made))
            self.assertEqual((tuple(sent), str(sent), repr(sent)), (tuple(made), str(made), repr(made)))
            with self.assertRaisesRegex(qdq.ArgumentError, "was unpickled"):
                sent.html("page.html")
            self.assertIs(copy.copy(made), made)
        made = qdq.Explanation(value="y", cause="unknown")
        self.assertEqual(pickle.loads(pickle.dumps(made)), made)

    def test_processes_take_graphs(self):
        graph, plan = built(), built().compile()
        want = plan.run(x=X)["y"]
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            np.testing.assert_array_equal(pool.apply(run_sent, (graph,)), want)
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pool.apply(run_sent, (plan,))

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_forked_process_runs_the_plans_of_its_parent(self):
        graph = built()
        plans = [graph.compile(threads=n) for n in (1, 2, 0)]
        want = [plan.run(x=X)["y"].tobytes() for plan in plans]
        with graph._lock:  # as if another thread held it
            child = os.fork()
            if child == 0:
                good = False
                try:
                    good = graph.check().ok and [p.run(x=X)["y"].tobytes() for p in plans + plans] == want + want
                    plans.clear()
                finally:
                    os._exit(0 if good else 1)
        for _ in range(600):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.05)
        else:
            os.kill(child, signal.SIGKILL)
            self.fail("the child hangs")
        self.assertEqual(status, 0)
        self.assertEqual([p.run(x=X)["y"].tobytes() for p in plans], want)

    def test_the_interpreter_exits_while_a_thread_runs(self):
        script = ("import numpy as np, threading, qdq\n"
                  "b = qdq.Builder()\n"
                  "x = b.input('x', 'float32', (256, 256))\n"
                  "b.output('y', b.matmul(x, x))\n"
                  "plan = b.build().compile(threads=2)\n"
                  "def loop():\n"
                  "    while True: plan.run(x=np.ones((256, 256), np.float32))\n"
                  "threading.Thread(target=loop, daemon=True).start()\n"
                  "plan.run(x=np.ones((256, 256), np.float32))\n")
        for _ in range(5):
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Comparing(unittest.TestCase):
    def test_the_values_that_differ_are_named(self):
        """Of ties at half a step torchao moves some by its reciprocal; the second Quantize is given other codes."""
        scale = np.float32(0.013)
        x = np.arange(-250, 250, dtype=np.float32) * (scale * np.float32(0.5))
        divided, times = np.rint(x / scale), np.rint(x * (np.float32(1) / scale))
        b = qdq.Builder()
        q = b.quantize(b.input("x", "float32", x.shape), name="q", scales=float(scale), zps=0, dtype="int8")
        b.output("y", b.dequantize(q, name="d", scales=1.0, zps=0, dtype="float32"))
        found = b.build().compare(["onnx", "torchao", "core"], x=x)
        clipped = np.clip(divided, -128, 127) != np.clip(times, -128, 127)
        self.assertEqual([(one.value, one.targets, one.differing) for one in found if one.value == "q"],
                         [("q", ("onnx", "torchao"), int(clipped.sum()))])
        self.assertEqual(found[0].first, (int(np.argmax(clipped)),))
        self.assertEqual({one.steps for one in found if one.value == "q"}, {1})
        self.assertIn("differ", str(found))
        self.assertIn("<table>", found._repr_html_())
        with self.assertRaisesRegex(qdq.ArgumentError, "two or more"):
            b.build().compare(["onnx"], x=x)

    def test_floats_differ_by_relative_error_and_codes_by_steps(self):
        a, b = np.float32([1, 2, 2]), np.float32([1, 2, 2 + 2**-22])
        other = np.float32([1, -2, 2])
        codes = np.int8([1, 2, 3]), np.int8([1, 2, 5])
        texts = {}
        for name, first, second in (("near", a, b), ("far", a, other), ("codes", *codes), ("none", 0 * a, a),
                                    ("NaN", a, np.float32([1, 2, np.nan]))):  # fmt: skip
            one, = qdq.Comparison.of(["core", "ttnn"], [{name: first}, {name: second}])
            texts[name] = one.distance
            self.assertIn(f"differ, {one.distance}; [", str(one))
            self.assertIn(f"<td>{one.distance}</td>", qdq.Comparison.of(["core", "ttnn"], [{name: first}, {name: second}])._repr_html_())
        self.assertEqual(texts["near"], f"at most 1 step, relative error {2**-22 / 3:.3g}, cosine 1")
        self.assertEqual(texts["far"], f"relative error {4 / 3:.3g}, cosine {(1 - 4 + 4) / 9:.6g}")
        self.assertEqual(texts["codes"], "at most 2 steps")
        self.assertEqual(texts["none"], "relative error inf")
        self.assertEqual(texts["NaN"], "infinite or NaN on one side")


@unittest.skipUnless(qdq._html.template().exists(), "the page is neither in the package nor next to the tool")
class Pages(unittest.TestCase):
    NAME = "</script><b>"

    def page(self, one):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            one.html(path)
            text = path.read_text(encoding="utf-8")
        found = re.findall(r'id="qdq-report">(.*?)</script>', text, re.S)
        self.assertEqual(len(found), 1)
        self.assertNotIn(self.NAME, text)
        return json.loads(found[0])

    def graph(self):
        b = qdq.Builder("net")
        q = b.quantize(b.input("x", "float32", (6,)), scales=0.5, zps=1, dtype="int8", name="q")
        r = b.dequantize(q, scales=0.5, zps=1, dtype="float32", name="r")
        b.output("y", b.add(r, b.constant(np.float32([1.5] * 6)), name=self.NAME))
        return b.build()

    def test_a_report_has_the_graph_and_its_findings(self):
        data = self.page(self.graph().check("tripy"))
        nodes, values = data["graph"]["nodes"], data["graph"]["values"]
        named = [(one["name"], one["op"]) for one in nodes]
        self.assertEqual(named, [("q", "Quantize"), ("r", "Dequantize"), (self.NAME, "Add")])
        self.assertEqual(json.loads(nodes[0]["attrs"]), {"scales": 0.5, "zps": 1, "dtype": "int8"})
        added = values[nodes[2]["inputs"]["b"]]
        self.assertEqual((added["constant"], added["first"], added["shape"]), (True, [1.5] * 6, [6]))
        target, = data["check"]["targets"]
        found = {rule["rule"]: [one["node"] for one in rule["findings"]] for rule in target["rules"]}
        self.assertEqual(found["tripy/no-zero-point"], ["q", "r"])
        self.assertEqual((data["command"], data["call"], target["errors"] > 0), ("check", "graph.check('tripy')", True))

    def test_of_several_targets_each_has_its_own_findings(self):
        targets = self.page(self.graph().check("all"))["check"]["targets"]
        self.assertEqual([one["name"] for one in targets], list(qdq.targets()))
        for one in targets:
            self.assertEqual({rule["target"] for rule in one["rules"]} - {one["name"]}, set())

    def test_a_comparison_has_histograms_and_the_first_element(self):
        # 0.25 / 0.5 is a tie: half to even gives 0, and half away 1; the zero point is added afterwards.
        x = np.float32([0.25, 1, 2, 3, -100, 100])
        data = self.page(self.graph().compare(["core", "ttnn"], x=x))["compare"]
        codes, back, total = data["values"]
        pair, = codes["pairs"]
        self.assertEqual((codes["elements"], codes["histogram"]["clipped"]), (6, [2]))
        self.assertEqual(sum(codes["histogram"]["counts"][0]), 6)
        self.assertEqual((pair["different"], pair["steps"], pair["causes"][0]["index"]), (1, 1, [0]))
        self.assertEqual((pair["causes"][0]["results"], pair["causes"][0]["bits"]), ([1, 2], ["0x01", "0x02"]))
        self.assertEqual([sum(side) for side in pair["histogram"]["counts"]], [6, 6])
        for one in (back, total):
            given, = one["pairs"]
            self.assertEqual((given["different"], given["different_overall"], given["causes"]), (0, 1, []))
        self.assertEqual(pair["relative_error_overall"], None)
        # One step of 0.5, of 0, 1, 2, 3, -64.5 and 63.
        given, = back["pairs"]
        self.assertAlmostEqual(given["relative_error_overall"], 0.5 / math.sqrt(1 + 4 + 9 + 64.5**2 + 63**2))

    def test_a_comparison_has_the_closeness_of_floats_as_the_tool_has_it(self):
        """ttnn dequantizes -2147483648 to another number. Codes have no relative error."""
        b = qdq.Builder("net")
        b.output("y", b.dequantize(b.input("x", "int32", (2,)), scales=0.5, dtype="float32", name="far"))
        graph, x = b.build(), np.int32([-2147483648, 4])
        with tempfile.TemporaryDirectory() as folder:
            graph.write(f"{folder}/g.json")
            np.save(f"{folder}/x.npy", x)
            words = ("compare", f"{folder}/g.json", "--targets", "core,ttnn", "-i", f"x={folder}/x.npy", "--json")
            wanted, = json.loads(qdq._tool.run(*words)[1])["values"][0]["pairs"]
        found, = self.page(graph.compare(["core", "ttnn"], x=x))["compare"]["values"][0]["pairs"]
        self.assertEqual((found["relative_error"], wanted["relative_error"]), (1, 1))
        self.assertAlmostEqual(found["cosine"], wanted["cosine"], delta=1e-15)
        codes = self.page(self.graph().compare(["core", "ttnn"], x=np.float32([0.25, 1, 2, 3, -100, 100])))
        pair, = codes["compare"]["values"][0]["pairs"]
        self.assertEqual((pair["relative_error"], pair["cosine"]), (None, None))

    def test_pages_say_how_well_the_bits_of_each_node_are_known(self):
        """As `qdq check --json`: Sin has no evidence on ttnn, and all is exact for core."""
        b = qdq.Builder("net")
        b.output("y", b.relu(b.exp(b.sin(b.input("x", "float32", (2,)), name="e"), name="f"), name="r"))
        graph = b.build()
        with tempfile.TemporaryDirectory() as folder:
            graph.write(f"{folder}/g.json")
            _, out, _ = qdq._tool.run("check", f"{folder}/g.json", "--target", "ttnn", "--json")
        wanted = json.loads(out)["bits"]
        comparison = graph.compare(["core", "ttnn"], x=np.zeros(2, np.float32))
        core, ttnn = self.page(comparison)["targets"]
        checked, = self.page(graph.check("ttnn"))["check"]["targets"]
        for made in (ttnn["bits"], checked["bits"]):
            self.assertEqual({word: made[word] for word in qdq._library.BITS[1:]}, {word: wanted[word] for word in qdq._library.BITS[1:]})
            found = [{"node": name, "evidence": None, **group} for group in made["groups"] for name in group.pop("nodes")]
            self.assertEqual(sorted(found, key=str), sorted(wanted["nodes"], key=str))
        self.assertEqual((core["name"], core["bits"]["exact"], core["bits"]["unknown"]), ("core", 3, 0))
        self.assertEqual([one.bits for one in comparison.nodes["ttnn"]], ["unknown", "exact", "read"])
        self.assertEqual(pickle.loads(pickle.dumps(comparison)).nodes, comparison.nodes)
        refused, = self.page(self.graph().check("tripy"))["check"]["targets"]
        self.assertNotIn("bits", refused)

    def test_a_plan_has_its_graph_and_its_buffers(self):
        graph = qdq.load(ROOT / "models/digits/int8.json")
        for words in ({"layout": "tiles", "values": ["pool1"]}, {"layout": "rows", "isa": "portable"}, {"fast": True},
                      {"float_storage": "bfloat16", "layout": "tiles", "values": "all"}):  # fmt: skip
            with self.subTest(words):
                plan = graph.compile(**words)
                data = self.page(plan)
                found = [(one["name"], one["dtype"], tuple(one["shape"]), one["offset"], one["bytes"], one["tiles"],
                          (one["first_step"], one["last_step"])) for one in data["plan"]["values"]]  # fmt: skip
                buffers = plan.buffers()
                self.assertEqual(found, [(b.name, b.dtype, b.shape, b.address, b.bytes, b.tiles, b.steps) for b in buffers])
                self.assertEqual(data["plan"]["padding_bytes"], sum(one.padding for one in buffers))
                self.assertEqual((data["command"], data["file"], len(data["graph"]["nodes"])), ("plan", "digits_int8", 17))
                target, = data["targets"]
                self.assertEqual((target["name"], target["bits"]["exact"]), ("core", 17))
        self.assertEqual(data["call"], "graph.compile(values='all', layout='tiles', float_storage='bfloat16')")

    def test_a_plan_of_a_device_has_its_memory(self):
        plan = qdq.load(ROOT / "models/digits/int8.json").deployed("ttnn").compile("ttnn", device="n300")
        self.assertRaisesRegex(qdq.ArgumentError, "the graph of this plan is closed or was deleted", plan.html, "page.html")
        graph = qdq.load(ROOT / "models/digits/int8.json")
        plan = copy.copy(graph).compile("ttnn", device="n300")  # the copy is gone, and the graph is there
        data = self.page(plan)["plan"]
        found = [(one["name"], one["dtype"], tuple(one["shape"]), one["pool"], one["address"], one["pages"], one["page_bytes"],
                  (one["first_program"], one["last_program"])) for one in data["buffers"]]  # fmt: skip
        self.assertEqual(data["device"]["name"], "n300")
        self.assertEqual(found, [(b.name, b.dtype, b.shape, b.pool, b.address, b.pages, b.page_bytes, b.steps) for b in plan.buffers()])
        graph.close()
        with self.assertRaisesRegex(qdq.ArgumentError, "closed or was deleted"):
            plan.html("page.html")
        plan.close()
        with self.assertRaisesRegex(qdq.ArgumentError, "this qdq.Plan is closed"):
            plan.html("page.html")

    def test_numbers_that_are_not_finite_are_in_json(self):
        data = self.page(self.graph().compare(["core", "ttnn"], x=np.float32([np.nan, np.inf, -np.inf, 0, 0, 0])))
        self.assertEqual(data["compare"]["values"][0]["elements"], 6)


class Functions(unittest.TestCase):
    def test_parameters_of_channels_and_groups(self):
        scale = np.array([0.5, 0.25], np.float32)
        wanted = np.clip(np.rint(X / scale[:, None]) + 3, 0, 255).astype(np.uint8)
        qdq.testing.assert_same_bits(qdq.quantize(X, scale, [3, 3], axis=0, dtype="uint8"), wanted)
        blocks = np.array([[0.5, 0.25], [1.0, 2.0]], np.float32)
        wanted = np.clip(np.rint(X / np.repeat(blocks, 2, axis=1)), -8, 7).astype(np.int8)
        qdq.testing.assert_same_bits(qdq.quantize(X, blocks, group_shape=(1, 2), dtype="int4"), wanted)

    def test_dequantize(self):
        codes = np.array([0, 3, 255], np.uint8)
        qdq.testing.assert_same_bits(qdq.dequantize(codes, 0.1, 3), (codes.astype(np.float32) - 3) * np.float32(0.1))

    def test_dynamic_quantize_is_onnx(self):
        """ONNX: scale = fl(fl(max - min) / 255), zero point = round(-min / scale)."""
        x = np.array([-1.0, 0.5, 2.0], np.float32)
        codes, scale, zero = qdq.dynamic_quantize(x, target="onnx")
        wanted = np.float32(3) / np.float32(255)
        self.assertEqual((scale, zero), (wanted, 85))
        qdq.testing.assert_same_bits(codes, np.clip(np.rint(x / wanted) + 85, 0, 255).astype(np.uint8))

    def test_zero_points_do_not_wrap(self):
        """torchao clamps 10 * x + zero_point to the range of int8; ONNX stores zero points in the quantized type."""
        x = np.float32([-1, 0.5, 2])
        for zero, dtype in ((200, "int8"), (-1, "uint8"), (300, "uint8"), (np.array(300), "uint8")):
            bounds = np.iinfo(dtype)
            wanted = np.clip(np.float32([-10, 5, 20]) + zero, bounds.min, bounds.max).astype(dtype)
            qdq.testing.assert_same_bits(qdq.quantize(x, 0.1, zero, dtype=dtype, target="torchao"), wanted)
            with self.assertRaisesRegex(qdq.UnsupportedError, "the range of"):
                qdq.quantize(x, 0.1, zero, dtype=dtype, target="onnx")
            with self.assertRaisesRegex(qdq.UnsupportedError, "the range of"):
                qdq.dequantize(np.zeros(3, dtype), 0.1, zero, target="onnx")
        for zero in (2.7, np.array([2.7])):
            with self.assertRaisesRegex(qdq.GraphError, "2.7 at index 0, wanted a whole number"):
                qdq.quantize(x, 0.1, zero, target="torchao")

    def test_functions_find_what_a_builder_finds(self):
        def of_builder(**given):
            b = qdq.Builder("quantize")
            b.output("y0", b.quantize(b.input("x", "float32", X.shape), name="y", **given))
            return b.build().run(x=X, target="onnx")["y0"]

        for given in ({"scale": 0.5, "zero_point": 200}, {"scale": 0.5, "zero_point": np.int32(3)}, {"scale": [1, 2, 3], "qtype": "per_channel"},
                      {"scale": 0.5, "quant_min": 9, "quant_max": 3}, {"scale": 0.5, "nothing": 1}):  # fmt: skip
            texts = []
            for run in (of_builder, lambda **g: qdq.quantize(X, target="onnx", **g)):
                with self.assertRaises(qdq.Error) as raised:
                    run(**given)
                texts.append(str(raised.exception))
            self.assertEqual(texts[0], texts[1])

    def test_float64_scales_are_tensors_where_the_target_computes_by_them(self):
        """torchao 0.18.0 gave these codes: 0.7 / 0.2 is below 3.5 in float64 alone. Others read the numbers as float32."""
        x, zeros = np.float32([[0.3, 1, 2.5], [-1, 0.7, -3]]), np.zeros(3, np.int64)
        for scale, target, code in ((np.array([0.1, 0.2, 0.5]), "torchao", 3), (np.float32([0.1, 0.2, 0.5]), "torchao", 4),
                                    ([0.1, 0.2, 0.5], "torchao", 4), (np.array([0.1, 0.2, 0.5]), "core", 4),
                                    (np.array([0.1, 0.2, 0.5]), "onnx", 4), (np.array([0.1, 0.2, 0.5]), None, 4)):  # fmt: skip
            codes = qdq.quantize(x, scale, zeros, axis=1, target=target)
            self.assertEqual(codes.tolist(), [[3, 5, 5], [-10, code, -6]], target)
            b = qdq.Builder("wide")
            b.output("y", b.quantize(b.input("x", "float32", (2, 3)), scale, zeros, axis=1))
            self.assertEqual(b.build(target=target).run(x=x)["y"].tolist(), codes.tolist(), target)
        products = (np.int8([[77, -3, 5]]).astype(np.float64) * np.array([[0.7, 1 / 3, 1e-3]])).astype(np.float32)
        got = qdq.dequantize(np.int8([[77, -3, 5]]), np.array([0.7, 1 / 3, 1e-3]), axis=1, target="torchao")
        qdq.testing.assert_same_bits(got, products)

    def test_numbers_of_an_argument(self):
        """Python's and numpy's numbers of 64 bits are the nearest float32."""
        wanted = np.clip(np.rint(X / np.float32([[0.1], [0.2]])), -128, 127).astype(np.int8)
        for scale in ([0.1, 0.2], np.array([0.1, 0.2]), np.float32([0.1, 0.2])):
            qdq.testing.assert_same_bits(qdq.quantize(X, scale, axis=0), wanted)

    def test_int4_zero_points(self):
        wanted = np.clip(np.rint(X / np.float32(0.5)) - 3, -8, 7).astype(np.int8)
        for zero in (-3, np.int8(-3), np.array(-3, np.int8)):
            codes = qdq.quantize(X, 0.5, zero, dtype="int4", target="onnx")
            qdq.testing.assert_same_bits(codes, wanted)
            reals = qdq.dequantize(codes, 0.5, zero, x_dtype="int4", target="onnx")
            qdq.testing.assert_same_bits(reals, (wanted.astype(np.float32) + 3) * np.float32(0.5))

    def test_codes_that_no_output_of_the_target_may_have(self):
        """Tripy dequantizes int4 before an output: the function returns the codes that dequantize reads."""
        wanted = np.clip(np.rint(X / np.float32(0.5)), -8, 7).astype(np.int8)
        qdq.testing.assert_same_bits(qdq.quantize(X, 0.5, dtype="int4", target="tripy"), wanted)
        with self.assertRaisesRegex(qdq.UnsupportedError, "wanted none"):
            qdq.quantize(X, 0.5, 1, dtype="int4", target="tripy")

    def test_zero_points_may_be_reals(self):
        """torchao's float domain: round((x - (zero_point - scale * middle)) / scale), of middle 8 for 0 to 15."""
        x = np.float32([0, 1, 2, 3])
        codes = qdq.quantize(x, 0.5, 2.0, dtype="uint8", zero_point_domain="float", quant_min=0, quant_max=15, target="torchao")
        qdq.testing.assert_same_bits(codes, np.uint8([4, 6, 8, 10]))

    def test_dynamic_quantize_takes_all_attributes(self):
        codes, scale, zero = qdq.dynamic_quantize(X[:, :3], dtype="int8", scheme="symmetric", axis=0, quant_min=-127,
                                                  quant_max=127, scale_dtype="float16", eps=1e-3)  # fmt: skip
        largest = np.abs(X[:, :3]).max(axis=1)
        self.assertEqual((scale.dtype.name, scale.tolist()), ("float16", (largest / 127).astype(np.float16).tolist()))
        self.assertEqual((zero.tolist(), codes.shape), ([0, 0], (2, 3)))
        _, scale, _ = qdq.dynamic_quantize(X, dtype="int8", group_shape=(1, 2), eps=0.01, scheme="symmetric")
        wanted = np.maximum(np.abs(X).reshape(2, 2, 2).max(axis=2) / np.float32(127), np.float32(0.01))
        qdq.testing.assert_same_bits(scale, wanted)

    def test_requantize(self):
        codes = np.int8([-100, 0, 33, 127])
        wanted = np.clip(np.rint((codes.astype(np.float32) - 3) * np.float32(0.5)) - 7, -128, 127).astype(np.int8)
        qdq.testing.assert_same_bits(qdq.requantize(codes, 0.25, 3, 0.5, -7), wanted)

    def test_same_bits_says_where(self):
        want = np.array([0.0, 1.0, np.nan], np.float32)
        zero = np.array([-0.0, 1.0, np.nan], np.float32)
        for got, text in ((zero, r"1 of 3 .* at most 0 steps(?s:.*)\[0\]: found -0.0 \(0x80000000\)"),
                          (np.nextafter(want, np.float32(2)), "at most 1 steps"), (want[:2], r"float32\[2\]"),
                          (want.astype(np.float64), "float64")):  # fmt: skip
            with self.assertRaisesRegex(AssertionError, text):
                qdq.testing.assert_same_bits(got, want)
        qdq.testing.assert_same_bits({"y": want}, {"y": want.copy()})


class Plugin(unittest.TestCase):
    TEST = """
import numpy as np

X = np.arange(-4, 4, dtype=np.float32)

def test_bits(qdq_golden):
    assert qdq_golden.target == "onnx"
    assert qdq_golden("net.json", x=X)["y"].tolist() == [-8, -6, -4, -2, 0, 2, 4, 6]
    qdq_golden.check((X * 2).astype(np.int8), "net.json", x=X)

def test_other_bits(qdq_golden):
    qdq_golden.check({"y": X.astype(np.int8)}, "net.json", x=X)
"""

    def test_the_fixture_compares_with_the_target_of_the_option(self):
        b = qdq.Builder()
        b.output("y", b.quantize(b.input("x", "float32", (8,)), scales=0.5, dtype="int8"))
        with tempfile.TemporaryDirectory() as folder:
            b.build().write(Path(folder, "net.json"))
            Path(folder, "test_net.py").write_text(self.TEST)
            words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--qdq-target", "onnx"]
            if importlib.util.find_spec("pytest") is None:
                self.skipTest("pytest is missing")
            if not installed():
                words += ["-p", "qdq.pytest_plugin"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
        self.assertIn("1 failed, 1 passed", done.stdout, done.stdout + done.stderr)
        self.assertIn("7 of 8 elements differ, at most 4 steps", done.stdout)


class Names(unittest.TestCase):
    def test_large_constants_are_not_written_as_numbers(self):
        w = np.random.default_rng(3).integers(-128, 127, (5000,), np.int8)
        b = qdq.Builder("net")
        d = b.dequantize(b.constant(w), scales=0.5, dtype="float32")
        b.output("y", b.add(b.input("x", "float32", (5000,)), d))
        graph = b.build()
        np.testing.assert_array_equal(graph.run(x=np.zeros(5000, np.float32))["y"], w * np.float32(0.5))

    def test_large_constants_of_narrow_dtypes(self):
        """Codes of fewer than 8 bits, and the bits of floats that numpy lacks."""
        numbers = np.arange(5000) % 4
        floats = {"float4_e2m1": [0, 0.5, 1, 1.5], "float8_e5m2fnuz": [0, 2**-17, 2**-16, 3 * 2**-17]}  # of codes 0 to 3
        for dtype in ("int4", "int2", "uint4", "uint2", *floats):
            bits, wanted = numbers.astype(np.uint8), numbers.astype(np.float32)
            if dtype in floats:
                wanted = np.float32(floats[dtype])[numbers]
            elif dtype.startswith("int"):
                bits, wanted = numbers.astype(np.int8) - np.int8(2), wanted - 2
            b = qdq.Builder("net")
            b.output("y", b.dequantize(b.constant(bits, dtype=dtype), scales=2.0, dtype="float32"))
            np.testing.assert_array_equal(b.build().run()["y"], wanted * 2, dtype)

    def test_methods_have_the_names_of_the_calls_in_c(self):
        calls = {}
        for header in (ROOT / "include/qdq/ops").glob("*.h"):
            text = header.read_text()
            calls.update((op, name) for name, op in re.findall(r'\(qdq_([a-z0-9_]+), *"(\w+)"', text))
            for function in re.split(r"(?=static inline )", text):
                made = re.match(r'static inline \w+ qdq_([a-z0-9_]+)\((?s:.*?)"([A-Z]\w+)"', function)
                if made:
                    calls[made[2]] = made[1]
        self.assertGreater(len(calls), 120)
        for op, name in calls.items():
            with self.subTest(op):
                method = getattr(qdq.Builder, name, None) or getattr(qdq.Builder, name + "_")
                self.assertTrue(method.__doc__.startswith(f"{op}: "))


class Structs(unittest.TestCase):
    def fields(self):
        """Returns {struct of C: [field, ...]} of the public headers."""
        found = {}
        for header in (ROOT / "include/qdq").glob("*.h"):
            text = re.sub(r"//.*", "", header.read_text())
            lists = {name: re.findall(r"X\((\w+),", rows) for name, rows in re.findall(r"#define (QDQ_\w+)\(X\)((?:.*\\\n)+.*)", text)}
            for name, body in re.findall(r"typedef struct (qdq_\w+) \{(.*?)\n\} \1;", text, re.S):
                body = re.sub(r"(QDQ_\w+)\(QDQ_\w+\)", lambda x: ";".join(lists.get(x[1], ())) + ";", re.sub(r"#.*", "", body))
                names = re.findall(r"(\w+)(?:\[[^]]*\])*(?=[,;])|\(\*(\w+)\)\(", re.sub(r"\)\(.*?\);", ")(", body, flags=re.S))
                found[name] = [one or pointer for one, pointer in names]
        return found

    def test_structs_have_the_fields_of_c(self):
        """ctypes reads memory by them: a field that is missing moves all behind it."""
        wanted, source = self.fields(), Path(qdq.__file__).with_name("_library.py").read_text()
        other = {"self": "log_self", "write": "log_write"}
        structs = re.findall(r"^class (C\w+)\(Structure\):  # (qdq_\w+)(.*)$", source, re.M)
        self.assertGreater(len(structs), 20)
        for name, struct, rest in structs:
            with self.subTest(struct):
                fields = [field for field, _ in getattr(qdq._library, name)._fields_]
                given = [one for field in wanted[struct] for one in (wanted["qdq_logger"] if field == "log" else [field])]
                given = [other.get(one, one) if struct == "qdq_graph_options" else one for one in given]
                self.assertEqual(fields, given[: len(fields)] if "first fields" in rest else given)


class Documents(unittest.TestCase):
    def printed(self, page):
        """What the Python blocks of a page print, run from the top of the checkout."""
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
        self.assertTrue(blocks)
        names, here = {}, os.getcwd()
        os.chdir(ROOT)
        try:
            with redirect_stdout(io.StringIO()) as said:
                for block in blocks:
                    exec(compile(block, page, "exec"), names)
        finally:
            os.chdir(here)
        return said.getvalue()

    def test_the_page_runs(self):
        self.assertIn("ArgumentError", self.printed("docs/python.md"))

    def test_the_readme_shows_what_its_example_prints(self):
        printed = textwrap.indent(self.printed("README.md"), "    ")
        self.assertTrue(printed in (ROOT / "README.md").read_text(), printed)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
