#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mend: each change, whether it is exact, and what is written. Expected codes and scales are worked out by hand from the
formulas of docs/float_to_int8.md."""

import json
import math
import struct

from harness import Case, constant, graph, main, node, quantize, read_npy, tensor, unpack, value, write_npy


def pair(dtype="uint8", scale=0.5, zero=3, x="x", name="", **more):
    """Quantize and Dequantize of x: nodes q and d."""
    return [node("Quantize", f"q{name}", x, scales=scale, zps=zero, dtype=dtype, **more),
            node("Dequantize", f"d{name}", f"q{name}", scales=scale, zps=zero, dtype="float32", **more)]


def weights(codes, **attrs):
    """Dequantize d of constant codes w."""
    return graph([node("Dequantize", "d", "w", dtype="float32", **attrs),
                  {"op": "Add", "name": "s", "inputs": {"a": "x", "b": "d"}}],
                 inputs=[value("x", shape=codes["shape"])], outputs={"y": "s"}, constants=[codes])


class Mend(Case):
    def mend(self, g, target, *words, code=0, out="out.json"):
        told = self.json("mend", self.write("g.json", g), "-t", target, "-o", out, *words, code=code)
        return told, json.loads((self.folder / out).read_text()) if (self.folder / out).exists() else None

    def nodes(self, g):
        return {one["name"]: one for one in g["nodes"]}

    def constants(self, g):
        return {one["name"]: one for one in g.get("constants", [])}

    def changes(self, told):
        return [(one["node"], one["mend"], one["exact"]) for one in told["changes"]]

    def run_graph(self, name, x):
        write_npy(self.folder / "x.npy", x)
        self.qdq("run", name, "-t", "core", "-i", "x=x.npy", "-o", "y=y.npy")
        return unpack(read_npy(self.folder / "y.npy"))

    # ---- Pairs ----

    def test_uint8_becomes_int8_with_the_zero_point_128_lower(self):
        g = graph(pair(zero=128), outputs={"y": "d"})
        told, out = self.mend(g, "tensorrt")
        self.assertEqual(self.changes(told), [("q", "signed codes", True)])
        self.assertEqual((told["errors_before"], told["errors"]), (2 + 2, 0))
        nodes = self.nodes(out)
        self.assertEqual(nodes["q"]["attrs"]["dtype"], "int8")
        self.assertNotIn("zps", nodes["q"]["attrs"])
        x = tensor("float32", [2, 3], [-100, -0.25, 0.25, 0.75, 63.4, 1000])
        # Halves to even: -0.5 -> 0, 0.5 -> 0, 1.5 -> 2; the ends are -128 and 127.
        self.assertEqual(self.run_graph("out.json", x), [-64, 0, 0, 1, 63.5, 63.5])
        self.assertEqual(self.run_graph("g.json", x), [-64, 0, 0, 1, 63.5, 63.5])

    def test_another_zero_point_makes_a_scale_that_reaches_both_ends(self):
        g = graph(pair(zero=28), outputs={"y": "d"})
        told, out = self.mend(g, "tripy", "--allow-lossy")
        self.assertEqual(self.changes(told), [("q", "signed codes", True), ("q", "one symmetric scale", False)])
        # Codes 0 and 255 stand for -14 and 113.5: 113.5 / 127 is more than 14 / 128.
        wanted = struct.unpack("<f", struct.pack("<f", 113.5 / 127))[0]
        for name in "qd":
            self.assertAlmostEqual(self.nodes(out)[name]["attrs"]["scales"], wanted, delta=1e-6)
        self.assertEqual(self.qdq("check", "out.json", "-t", "tripy").code, 0)

    def test_a_quantize_that_clamps_at_zero_gets_a_relu(self):
        told, out = self.mend(graph(pair(zero=0), outputs={"y": "d"}), "tensorrt", "--allow-lossy")
        nodes = self.nodes(out)
        self.assertEqual(nodes["q"]["inputs"]["x"], "q_relu")
        self.assertEqual(nodes["q_relu"]["op"], "ReLU")
        self.assertEqual(self.run_graph("out.json", tensor("float32", [2, 3], [-9, -1, 0, 0, -3, -2])), [0] * 6)
        relu = [node("ReLU", "r", "x"), *pair(zero=0, x="r")]
        told, out = self.mend(graph(relu, outputs={"y": "d"}), "tensorrt", "--allow-lossy")
        self.assertEqual([one["op"] for one in out["nodes"]], ["ReLU", "Quantize", "Dequantize"])

    def test_channels_of_activations_get_one_scale(self):
        g = graph(pair("int8", [0.5, 2, 1], 0, qtype="per_channel", axis=1), outputs={"y": "d"})
        told, out = self.mend(g, "tensorrt", "--allow-lossy")
        self.assertEqual(self.changes(told), [("q", "one symmetric scale", False)])
        self.assertEqual(self.nodes(out)["q"]["attrs"]["scales"], 2)

    def test_decibels_are_of_signal_over_noise(self):
        g = graph(pair("int8", [0.5, 2, 1], 0, qtype="per_channel", axis=1), outputs={"y": "d"})
        write_npy(self.folder / "x.npy", tensor("float32", [2, 3], [1.5, 4, 3, -3, 8, 5]))
        told, _ = self.mend(g, "tensorrt", "--allow-lossy", "-i", "x=x.npy")
        # With scale 2, halves to even: 1.5, 4, 3, -3, 8, 5 become 2, 4, 4, -4, 8, 4.
        signal, noise = 1.5**2 + 16 + 9 + 9 + 64 + 25, 0.25 + 1 + 1 + 1
        wanted = 10 * math.log10(signal / noise)
        self.assertAlmostEqual(told["changes"][0]["decibels"], wanted, places=5)
        self.assertEqual(told["outputs"][0]["name"], "y")
        self.assertAlmostEqual(told["outputs"][0]["decibels"], wanted, places=5)

    def test_codes_that_others_see_stay(self):
        g = graph(pair(zero=128), outputs={"y": "d", "codes": "q"})
        told, _ = self.mend(g, "tensorrt", code=1)
        self.assertEqual((self.changes(told), told["errors"]), ([], 4))
        self.assertEqual({one["rule"] for one in told["findings"] if one["severity"] == "error"},
                         {"tensorrt/no-uint8", "tensorrt/zero-point-is-zero"})

    def test_a_clamp_range_is_widened(self):
        g = graph(pair("int8", 0.5, 0), outputs={"y": "d"})
        g["nodes"][0]["attrs"]["quant_min"] = -127
        told, out = self.mend(g, "tensorrt", "--allow-lossy")
        self.assertEqual(self.changes(told), [("q", "the whole range", False)])
        self.assertNotIn("quant_min", self.nodes(out)["q"]["attrs"])

    # ---- Constants ----

    def test_an_int32_bias_becomes_floats(self):
        g = weights(constant("w", "int32", [3], [7, -2, 16777217]), scales=0.25)
        for target in ("tensorrt", "onednn", "tripy"):
            told, out = self.mend(g, target)
            self.assertEqual(self.changes(told), [("d", "float constant", True)])
            # 16777217 is no float32; Dequantize rounds it to 16777216.
            self.assertEqual(self.constants(out)["d_float"]["data"], [1.75, -0.5, 4194304])

    def test_constant_uint8_codes_become_int8(self):
        g = weights(constant("w", "uint8", [2, 2], [0, 128, 255, 130]), scales=0.5, zps=128)
        told, out = self.mend(g, "tripy")
        self.assertEqual(self.changes(told), [("d", "signed codes", True)])
        self.assertEqual(self.constants(out)["d_codes"], constant("d_codes", "int8", [2, 2], [-128, 0, 127, 2]))

    def table(self, moves, codes, **attrs):
        """A table of codes behind ops that move them, then a Dequantize; indices are an input."""
        nodes, last = [], "t"
        for i, (op, more) in enumerate(moves):
            ports = {"indices": "i"} if op == "Gather" else {}
            nodes.append(node(op, f"m{i}", last, ports, **more))
            last = f"m{i}"
        nodes.append(node("Dequantize", "d", last, dtype="float32", **attrs))
        return graph(nodes, [value("i", "int64", [2])], {"y": "d"}, constants=[codes])

    def test_a_table_behind_gather_gets_signed_codes(self):
        moves = [("Gather", {"axis": 0}), ("StaticReshape", {"shape": [4, 1], "special_zero": False}), ("StaticTranspose", {"order": [1, 0]})]
        codes = constant("t", "uint8", [3, 2], [0, 128, 255, 130, 127, 1])
        for g in (self.table(moves, codes, scales=0.5, zps=128), self.table(moves[:1], codes, scales=0.5, zps=128)):
            told, out = self.mend(g, "tensorrt")
            self.assertEqual(self.changes(told), [("d", "signed codes", True)])
            self.assertEqual((told["errors_before"], told["errors"]), (2, 0))
            self.assertEqual(list(self.constants(out).values()),
                             [constant("d_codes", "int8", [3, 2], [-128, 0, 127, 2, -1, -127])])
            self.assertEqual([one["name"] for one in out["nodes"]], [one["name"] for one in g["nodes"]])
            for name in ("g.json", "out.json"):
                write_npy(self.folder / "i.npy", tensor("int64", [2], [2, -3]))
                self.qdq("run", name, "-t", "core", "-i", "i=i.npy", "-o", "y=y.npy")
                self.assertEqual(unpack(read_npy(self.folder / "y.npy")), [-0.5, -63.5, -64, 0])

    def test_a_table_that_other_nodes_read_stays_beside_the_new_one(self):
        g = self.table([("Gather", {"axis": 0})], constant("t", "uint8", [3], [0, 128, 255]), scales=0.5, zps=128)
        g["nodes"].append(node("Cast", "c", "m0", dtype="float32"))
        g["outputs"].append({"name": "raw", "value": "c"})
        told, out = self.mend(g, "tensorrt", code=None)
        self.assertEqual(self.changes(told), [("d", "signed codes", True)])
        self.assertEqual(set(self.constants(out)), {"t", "d_codes"})
        self.assertEqual(self.nodes(out)["d"]["inputs"], {"x": "m0_moved"})
        self.assertEqual(self.nodes(out)["c"]["inputs"], {"x": "m0"})

    def test_a_zero_point_goes_into_a_table_that_has_room(self):
        g = self.table([("Gather", {"axis": 0})], constant("t", "int8", [3], [-100, 5, 124]), scales=0.5, zps=3)
        told, out = self.mend(g, "tripy", code=None)
        self.assertIn(("d", "codes without a zero point", True), self.changes(told))
        self.assertEqual(self.constants(out)["d_codes"]["data"], [-103, 2, 121])

    # ---- Scales of 16 bits ----

    def test_a_16_bit_scale_of_float32_becomes_float32(self):
        """1.1 is 1.099609375 as float16 and 1.1015625 as bfloat16."""
        for dtype, scale in (("float16", 1.099609375), ("bfloat16", 1.1015625)):
            g = graph(
                [quantize("q", "x", {"scale": "s"}, dtype="int8"), node("Dequantize", "d", "q", {"scale": "s"}, dtype="float32")],
                constants=[constant("s", dtype, [], [scale])],
                outputs={"y": "d"},
            )
            told, out = self.mend(g, "tensorrt")
            self.assertEqual(self.changes(told), [("q", "float32 scale", True), ("d", "float32 scale", True)])
            self.assertEqual((told["errors_before"], told["errors"]), (2, 0))
            made = self.constants(out)["d_scale"]
            self.assertEqual((made["dtype"], struct.pack("<f", *made["data"])), ("float32", struct.pack("<f", scale)))
            x = tensor("float32", [2, 3], [1.6, -3, 5.5, 0, 200, -9])
            self.assertEqual(self.run_graph("out.json", x), self.run_graph("g.json", x))

    def test_a_16_bit_scale_made_at_run_time_gets_a_cast(self):
        nodes = [node("Dequantize", "d", "x", {"scale": "s"}, dtype="float32")]
        g = graph(nodes, [value("x", "int8", [2]), value("s", "float16", [])], {"y": "d"})
        told, out = self.mend(g, "tensorrt")
        self.assertEqual(self.changes(told), [("d", "float32 scale", True)])
        self.assertEqual(self.nodes(out)["d_scale"]["op"], "Cast")
        told, _ = self.mend(g, "tensorrt@10.12", code=1)
        self.assertNotEqual(told["errors"], 0)

    def test_a_zero_point_goes_into_codes_that_have_room(self):
        g = weights(constant("w", "int8", [2, 2], [-128, 4, 120, 0]), scales=0.5, zps=-5)
        told, out = self.mend(g, "tripy")
        self.assertEqual(self.changes(told), [("d", "codes without a zero point", True)])
        self.assertEqual(self.constants(out)["d_codes"]["data"], [-123, 9, 125, 5])

    def test_codes_without_room_get_another_scale(self):
        g = weights(constant("w", "int8", [2, 2], [-128, 4, 127, 0]), scales=0.5, zps=-5)
        told, out = self.mend(g, "tripy", "--allow-lossy")
        self.assertEqual(self.changes(told), [("d", "symmetric codes", False)])
        # The reals are -61.5, 4.5, 66 and 2.5; 66 becomes 127.
        self.assertEqual(self.constants(out)["d_codes"]["data"], [round(v * 127 / 66) for v in (-61.5, 4.5, 66, 2.5)])

    def test_blocks_become_channels(self):
        codes = [[7, 1], [-4, 2], [3, 3], [5, -7]]
        flat = [c for row in codes for c in row]
        g = weights(constant("w", "int4", [4, 2], flat), qtype="per_group", group_shape=[2, 1],
                    scales=[1, 0.5, 2, 0.25])
        told, out = self.mend(g, "ttnn", "--allow-lossy")
        self.assertEqual(self.changes(told), [("d", "one scale for each channel", False)])
        scales = [[1, 0.5], [1, 0.5], [2, 0.25], [2, 0.25]]
        reals = [[codes[i][k] * scales[i][k] for k in (0, 1)] for i in range(4)]
        most = [max(abs(row[k]) for row in reals) for k in (0, 1)]
        attrs = self.nodes(out)["d"]["attrs"]
        self.assertEqual((attrs["qtype"], attrs["axis"]), ("per_channel", 1))
        self.assertEqual(self.constants(out)["d_codes"]["data"],
                         [round(reals[i][k] * 127 / most[k]) for i in range(4) for k in (0, 1)])

    def test_one_zero_point_is_repeated(self):
        g = weights(constant("w", "int8", [2, 2], [1, 2, 3, 4]), scales=[0.5, 0.25], zps=1, qtype="per_channel", axis=1)
        told, out = self.mend(g, "onednn")
        self.assertEqual(self.changes(told), [("d", "parameters as numbers", True)])
        self.assertEqual(self.constants(out)["d_zero_point"]["data"], [1, 1])

    def test_a_zero_point_that_ttnn_refuses_as_a_tensor_becomes_a_number(self):
        g = graph([{"op": "Quantize", "name": "q", "inputs": {"x": "x", "scale": "s", "zero_point": "z"},
                    "attrs": {"dtype": "uint8"}}],
                  constants=[constant("s", "float32", [], [0.5]), constant("z", "uint8", [], [3])])
        told, out = self.mend(g, "ttnn")
        self.assertEqual(self.changes(told), [("q", "parameters as numbers", True)])
        attrs = self.nodes(out)["q"]["attrs"]
        self.assertEqual((attrs["scales"], attrs["zps"]), (0.5, 3))

    def test_several_zero_points_stay_a_tensor_that_ttnn_refuses(self):
        g = graph([{"op": "Quantize", "name": "q", "inputs": {"x": "x", "scale": "s", "zero_point": "z"},
                    "attrs": {"dtype": "uint8", "qtype": "per_channel", "axis": 1}}],
                  inputs=[value("x", "float32", [2, 2])],
                  constants=[constant("s", "float32", [2], [0.5, 0.25]), constant("z", "uint8", [2], [3, 4])])
        told, out = self.mend(g, "ttnn", code=1)
        self.assertEqual(self.changes(told), [])

    # ---- Nodes ----

    def test_bfloat16_is_cast(self):
        g = graph([node("Quantize", "q", "x", scales=0.5, dtype="int8"),
                   node("Dequantize", "d", "q", scales=0.5, dtype="bfloat16")],
                  inputs=[value("x", "bfloat16")], outputs={"y": "d"})
        told, out = self.mend(g, "onednn")
        self.assertEqual(self.changes(told), [("q", "Cast before it", True), ("d", "Cast behind it", True)])
        self.assertEqual([one["op"] for one in out["nodes"]], ["Cast", "Quantize", "Dequantize", "Cast"])
        self.assertEqual(self.nodes(out)["d"]["attrs"]["dtype"], "bfloat16")

    # ---- The command ----

    def test_nothing_lossy_is_written_without_leave(self):
        g = self.write("g.json", graph(pair(zero=28), outputs={"y": "d"}))
        done = self.qdq("mend", g, "-t", "tripy", "-o", "out.json", code=4)
        self.assertIn("1 change changes numbers, so nothing was written; --allow-lossy writes out.json", done.err)
        self.assertIn("q: one symmetric scale, lossy, ", done.out)
        self.assertFalse((self.folder / "out.json").exists())
        self.assertIsNone(self.mend(graph(pair(zero=28), outputs={"y": "d"}), "tripy", code=4)[0]["out"])

    def test_a_graph_without_errors_is_copied(self):
        told, out = self.mend(graph(pair("int8", 0.5, 0), outputs={"y": "d"}), "tensorrt")
        self.assertEqual((told["errors_before"], told["errors"], told["changes"]), (0, 0, []))
        self.assertEqual(len(out["nodes"]), 2)

    def test_what_has_no_mend_is_listed(self):
        g = graph([node("DynamicQuantize", "q", "x", dtype="int8")], outputs={"y": "q"})
        told, out = self.mend(g, "tripy", code=1)
        self.assertEqual([one["rule"] for one in told["findings"] if one["severity"] == "error"],
                         ["tripy/no-dynamic-quantize"])
        self.assertIsNotNone(out)

    def test_more_errors_than_a_report_keeps(self):
        nodes = [node("DynamicQuantize", f"a{i}", "x", dtype="int8") for i in range(150)] + pair(zero=128)
        told, _ = self.mend(graph(nodes, outputs={**{f"a{i}": f"a{i}" for i in range(150)}, "y": "d"}), "tripy", code=1)
        self.assertEqual(self.changes(told), [("q", "signed codes", True)])
        self.assertEqual(told["errors"], 150)

    def test_wrong_words(self):
        g = self.write("g.json", graph(pair(), outputs={"y": "d"}))
        self.assertIn("0 files are given with -o, wanted one", self.qdq("mend", g, code=2).err)
        self.assertIn("tensort", self.qdq("mend", g, "-t", "tensort", "-o", "o.json", code=2).err)
        broken = self.write("b.json", graph([node("Quantize", "q", "x")]))
        self.assertIn("scale", self.qdq("mend", broken, "-t", "tensorrt", "-o", "o.json", code=4).err)
        self.assertFalse((self.folder / "o.json").exists())

    def test_a_graph_without_a_target_needs_one(self):
        """core refuses nothing that a mend changes."""
        g = self.write("g.json", graph(pair(), outputs={"y": "d"}))
        self.assertEqual(self.qdq("mend", g, "-o", "o.json", code=2).err,
                         "qdq: --target is missing, and g.json names no target, wanted the one that shall take the graph, as "
                         "in --target tensorrt\n")
        self.qdq("mend", g, "-t", "core", "-o", "o.json")
        own = self.write("own.json", graph(pair(), outputs={"y": "d"}, target="tensorrt"))
        self.assertIn("own.json for tensorrt: ", self.qdq("mend", own, "--allow-lossy", "-o", "o.json").out)

    def test_onnx_comes_out_as_onnx(self):
        g = graph(pair(zero=128), outputs={"y": "d"})
        self.qdq("mend", self.write("g.json", g), "-t", "tensorrt", "-o", "out.onnx")
        self.qdq("check", "out.onnx", "-t", "tensorrt")


if __name__ == "__main__":
    main()
