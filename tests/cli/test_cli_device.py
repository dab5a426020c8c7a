#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--device: the memory of a Tenstorrent device in check, run, plan, and in the reports of plan."""

import csv
import json

import captures
from harness import Case, graph, main, node, quantize, value

DEVICE = {"name": "tiny", "chip": "n150", "dram_bank_size": 131072}
KEYS = {"counter", "node_type", "params", "arguments", "connections", "input_tensors",
        "stacking_level"}
BUFFER_PARAMS = {"size", "type", "buffer_type", "layout", "device_id", "address", "page_size",
                 "num_cores", "max_size_per_bank"}


def chain(dtype="float32", pool="DRAM"):
    """x, quantized with a zero point that is a tensor, and dequantized."""
    x = value("x", dtype, [512, 512])
    x["memory_config"] = {"buffer_type": pool}
    return graph([quantize(scales=0.5, zps=[3], dtype="int32"),
                  node("Dequantize", "d", "q", scales=0.5, zps=3, dtype="float32")],
                 [x], {"y": "d"})


def one_quantize(dtype="bfloat16"):
    return graph([quantize(scales=0.5, zps=3, dtype="int32")], [value("x", dtype, [512, 512])])


class Plan(Case):
    def plan(self, made, *words, device="n150"):
        self.write("g.json", made)
        return self.json("plan", "g.json", "--device", device, *words)

    def test_tiles_of_other_shapes_are_shown_where_they_are_not_32x32(self):
        a, b = value("a", "float32", [20, 64]), value("b", "float32", [64, 40])
        a["tile"], b["tile"], b["transpose_tile"] = [8, 32], [32, 32], True
        made = graph([{"op": "MatMul", "name": "m", "inputs": {"a": "a", "b": "b"}},
                      node("ReLU", "r", "c")], [a, b, value("c", "float32", [4, 4])],
                     {"y": "m", "z": "r"})
        plan = self.plan(made)
        for values in (plan["values"], plan["buffers"]):
            tiles = {v["name"]: (v.get("tile"), v.get("transpose_tile")) for v in values}
            self.assertEqual(tiles["a"], ([8, 32], None))
            self.assertEqual(tiles["b"], ([32, 32], True))
            self.assertEqual(tiles["m"], ([8, 32], None))
            self.assertEqual(tiles["c"], (None, None))
        buffers = {b["name"]: b for b in plan["buffers"]}
        # 3 x 2 tiles of 8 x 32 floats.
        self.assertEqual((buffers["a"]["page_bytes"], buffers["a"]["pages"]), (1024, 6))
        text = self.qdq("plan", "g.json", "--device", "n150").out.splitlines()
        self.assertEqual(sum("tiles of 8x32" in line for line in text), 4)
        self.assertEqual(sum("transposed tiles of 32x32" in line for line in text), 2)

    def test_tiles_of_a_plan_without_a_device_are_shown_too(self):
        x = value("x", "bfloat16", [20, 40])
        x["tile"] = [16, 16]
        self.write("g.json", graph([node("ReLU", "r", "x")], [x], {"y": "r"}))
        plan = self.json("plan", "g.json", "--tiles")
        self.assertEqual([v["tile"] for v in plan["values"]], [[16, 16]] * len(plan["values"]))
        self.assertEqual([v["padded_shape"] for v in plan["values"]][0], [32, 48])
        self.assertEqual([v["padding_bytes"] for v in plan["values"]][0], 2 * (32 * 48 - 20 * 40))
        self.assertEqual(self.json("plan", "g.json"), plan)  # the default of target core
        self.assertNotIn("tiles of", self.qdq("plan", "g.json", "--rows").out)

    def test_buffers_of_live_values_never_overlap(self):
        for pool in ("DRAM", "L1"):
            plan = self.plan(chain(pool=pool))
            live, allocated, peak = {}, {"DRAM": 0, "L1": 0}, {"DRAM": 0, "L1": 0}
            for event in plan["events"]:
                if event["event"] == "circular_buffer":
                    continue
                where = plan["buffers"][event["buffer"]]["pool"]
                if event["event"] == "free":
                    self.assertEqual(live.pop((where, event["address"])), event["bytes"])
                    allocated[where] -= event["bytes"]
                    continue
                for (other, address), size in live.items():
                    self.assertTrue(other != where or event["address"] + event["bytes"] <= address
                                    or address + size <= event["address"])
                live[where, event["address"]] = event["bytes"]
                allocated[where] += event["bytes"]
                peak[where] = max(peak[where], allocated[where])
            for one in plan["pools"]:
                self.assertEqual(one["peak"], peak[one["pool"]])
                self.assertEqual(one["allocated"], allocated[one["pool"]])
            kept = [one["name"] for one in plan["buffers"] if one["lives_on"]]
            self.assertEqual(kept, ["d"])

    def test_values_have_the_addresses_of_the_device(self):
        """256 tiles over 12 banks, from address 32: page 100 is in bank 4, the ninth of it."""
        plan = self.plan(one_quantize(), "--pages", "x")
        x = plan["values"][0]
        self.assertEqual(x["bytes"], 256 * 2048)
        where = {"pool": "DRAM", "address": 32, "page_bytes": 2048, "pages": 256, "banks": 12,
                 "layout": "TILE"}
        self.assertLessEqual(where.items(), x["buffer"].items())
        self.assertEqual(plan["pages"][100], {"page": 100, "bank": 4, "address": 16416})
        self.assertEqual(len(plan["pages"]), 256)
        self.assertEqual(plan["device"]["l1_base"], 103424)

    def test_without_a_device_there_is_none(self):
        self.write("g.json", one_quantize())
        for words in ([], ["--target", "ttnn", "--device", "none"], ["--target", "ttnn", "--fast"]):
            plan = self.json("plan", "g.json", *words)
            self.assertIsNone(plan["device"])
            self.assertNotIn("buffer", plan["values"][0] if plan["values"] else {})

    def test_bars_show_circular_buffers_and_tensors(self):
        """Five tiles of 4 KiB for float32 to int32 with numbers: 103,424 to 123,904."""
        self.write("g.json", one_quantize("float32"))
        text = self.qdq("plan", "g.json", "--device", "n150").out
        self.assertRegex(text, r"(?m)^   L1 +\|#\.{63}\| 0 taken, 1375232 free, circular buffers 20480$")
        self.assertRegex(text, r"(?m)^   DRAM +\|A{32}B{32}\| 180224 taken, ")
        self.assertRegex(text, r"(?m)^DRAM .* peak 180224 \(step 0, q: quantize\), after the run 90112,")

    def test_each_live_tensor_is_in_the_bar(self):
        """x, x / scale and that plus the zero point take 16 KiB of 1,363 in a bank: less than a
        column each."""
        self.write("g.json", chain(pool="L1"))
        text = self.qdq("plan", "g.json", "--device", "n150").out
        self.assertRegex(text, r"(?m)^   2  q: add; live ABCDE\n   L1 +\|##\.{59}EDA\| 49152 taken, ")

    def test_kept_values_live_on_after_their_last_use(self):
        self.write("g.json", chain())
        text = self.qdq("plan", "g.json", "--device", "n150", "--keep", "x").out
        self.assertRegex(text, r"(?m)^ A x .*0-4, last used in 1, lives on$")
        plan = self.plan(chain(), "--keep", "x")
        self.assertEqual(plan["buffers"][0]["last_use"], 1)
        self.assertTrue(plan["buffers"][0]["lives_on"])

    def test_shards_name_their_cores(self):
        """[256, 512] in blocks of 64 x 64 on 8 x 4 cores: shard (1, 3) is tile 0 of core (3, 1)."""
        x = value("x", "float32", [256, 512])
        x["memory_config"] = {"buffer_type": "L1", "memory_layout": "BLOCK_SHARDED",
                              "shard_spec": {"grid": [[[0, 0], [7, 3]]], "shape": [64, 64]}}
        made = graph([quantize(scales=0.5, zps=3, dtype="int8")], [x])
        made["nodes"][0]["memory_config"] = {"buffer_type": "DRAM"}
        plan = self.plan(made, "--pages", "x")
        page = plan["pages"][2 * 16 + 6]
        self.assertEqual((page["core_x"], page["core_y"], page["address"]), (3, 1, 1482752))


class Reports(Case):
    def test_csv_has_the_columns_of_ttnn(self):
        self.write("g.json", chain(pool="L1"))
        self.qdq("plan", "g.json", "--device", "n150", "--memory-csv", "reports")
        texts = {name: (self.folder / "reports" / f"program_{name}.csv").read_text()
                 for name in ("l1_usage_summary", "memory_usage_summary", "detailed_memory_usage")}
        rows = {name: list(csv.reader(text.splitlines())) for name, text in texts.items()}
        self.assertEqual(rows["l1_usage_summary"][1],
                         ["Program ID", " Largest Contiguous Free Block (KB)",
                          " Total Free L1 Space (KB)"])
        head, *summary = rows["memory_usage_summary"]
        self.assertEqual(head, ["Program ID", " Total Allocatable Size (KB)",
                                " Total Allocated (KB)", " Total Free (KB)",
                                " Largest Free Block (KB)"])
        self.assertEqual([row[0] for row in summary], ["0", "", "1", "", "2", "", "3", "", "4", ""])
        for row in summary:
            whole, taken, free, largest = map(int, row[1:])
            self.assertLessEqual(abs(whole - taken - free), 1)
            self.assertLessEqual(largest, free)
        at = None
        for row in rows["detailed_memory_usage"]:
            if row[2:3] == ["Blocks:"]:
                self.assertEqual(row[3:], ["Address (B)", "Size (B)", "Allocated (Y/N)"])
                at = None
            elif len(row) == 6:
                self.assertIn(at, (None, int(row[3])))
                at = int(row[3]) + int(row[4])

    def test_trace_accounts_for_every_buffer(self):
        self.write("g.json", chain(pool="L1"))
        self.qdq("plan", "g.json", "--device", "n150", "--trace", "trace.json")
        plan = self.json("plan", "g.json", "--device", "n150")
        nodes = json.loads((self.folder / "trace.json").read_text())
        self.assertEqual([one["counter"] for one in nodes], list(range(len(nodes))))
        self.assertEqual((nodes[0]["node_type"], nodes[-1]["node_type"]),
                         ("capture_start", "capture_end"))
        l1 = circular = peak_l1 = peak_circular = peak_total = 0
        for one in nodes:
            kind, params = one["node_type"], one["params"]
            self.assertEqual(list(one), sorted(KEYS | ({"duration_ns"} if kind.endswith("_end") else set())))
            self.assertTrue(all(to < len(nodes) for to in one["connections"]))
            self.assertEqual(params is None, kind.startswith("capture"))
            if kind in ("buffer_allocate", "buffer_deallocate"):
                self.assertEqual(set(params), BUFFER_PARAMS)
                self.assertEqual(params["type"], "L1" if params["buffer_type"] else "DRAM")
                size = params["max_size_per_bank"] if params["type"] == "L1" else 0
                l1 += size if kind == "buffer_allocate" else -size
            elif kind == "circular_buffer_deallocate_all":
                circular = 0
            elif kind == "circular_buffer_allocate":
                self.assertEqual(params["globally_allocated"], "0")
                circular += params["size"]
            self.assertGreaterEqual(l1, 0)
            peak_l1, peak_circular = max(peak_l1, l1), max(peak_circular, circular)
            peak_total = max(peak_total, l1 + circular)
        self.assertEqual(peak_circular, plan["peak_circular"])
        self.assertEqual(peak_l1, next(p["peak"] for p in plan["pools"] if p["pool"] == "L1"))
        # ttnn's counter forgets circular buffers at the next program alone; ours when one ends.
        self.assertGreaterEqual(peak_total, plan["peak_l1"])
        levels = {1: [], 2: [], 3: []}
        for one in nodes:
            if one["node_type"] == "function_start":
                levels[one["stacking_level"]].append(one["params"]["name"])
        self.assertEqual([name for name in levels[1] if name != "Tensor::deallocate"],
                         ["ttnn.typecast", "ttnn.divide", "ttnn.add", "ttnn.typecast", "ttnn.dequantize"])
        binary, typecast = "BinaryNgDeviceOperation", "TypecastDeviceOperation"
        self.assertEqual(levels[2], [typecast, binary, binary, typecast, binary])
        self.assertEqual(set(levels[3]), {"tt::tt_metal::create_device_tensor"})

    def test_trace_is_spelled_as_a_capture(self):
        """Every text of a sharded add that a capture of the device has too, letter by letter."""
        self.write("capture.json", captures.sharded_add())
        self.qdq("convert", "capture.json", "-o", "g.json")
        self.write("grid.json", {"name": "p150-110", "chip": "p150", "grid_x": 11})
        self.qdq("plan", "g.json", "--device", "grid.json", "--trace", "trace.json")
        trace = json.loads((self.folder / "trace.json").read_text())
        own = {"device_id", "device_tensors", "address", "tensor_id", "x-name", "x-node", "inputs"}

        def texts(nodes, kind):
            return [{key: value for key, value in one["params"].items() if key not in own}
                    for one in nodes if one["node_type"] == kind]

        capture = captures.sharded_add()
        for kind in ("tensor", "buffer_allocate", "circular_buffer_allocate"):
            self.assertEqual(texts(trace, kind)[-1], texts(capture, kind)[-1])
        for name in ("ttnn.add", "BinaryNgDeviceOperation", "tt::tt_metal::create_device_tensor"):
            levels = [[one["stacking_level"] for one in nodes if one["node_type"] == "function_start"
                       and one["params"]["name"] == name] for nodes in (trace, capture)]
            self.assertEqual(*levels)
        found = self.json("plan", "--from-capture", "trace.json")
        self.assertEqual((found["differences"], found["not_recorded"], found["given"]), ([], 0, 0))

    def test_functions_of_one_element_come_back_from_a_trace(self):
        ops = "Abs Exp Log Sqrt Square Sigmoid ReLU Reciprocal Neg SiLU Rsqrt ReLU6 Trunc Log1p".split()
        names = ["x", *map(str.lower, ops)]
        x = value("x", "bfloat16", [64, 64])
        self.write("g.json", graph([node(op, op.lower(), before) for op, before in zip(ops, names)], [x], {"y": names[-1]}))
        self.qdq("plan", "g.json", "--device", "n150", "--trace", "trace.json")
        self.qdq("convert", "trace.json", "-o", "back.json")
        back = json.loads((self.folder / "back.json").read_text())
        self.assertEqual([one["op"] for one in back["nodes"] if one["op"] != "ToLayout"], ops)

    def test_reports_that_cannot_be_written_are_errors(self):
        self.write("g.json", one_quantize())
        self.write("file", "")
        for option, file, told in (("--trace", "absent/t.json", "its folder takes no new file"),
                                   ("--memory-csv", "file/reports", "cannot be"), ("--memory-csv", "file", "cannot be")):
            result = self.qdq("plan", "g.json", "--device", "n150", option, file, code=3)
            self.assertIn(told, result.err)
            self.assertEqual(result.out, "")


class Choice(Case):
    def test_device_changes_no_bit(self):
        self.write("g.json", chain())
        wanted = None
        for words in (["--device", "none"], ["--device", "n150"], [], ["--device", "n300", "-m"]):
            self.qdq("run", "g.json", "--target", "ttnn", "--fill", "1", "-o", "y=y.npy", *words)
            got = (self.folder / "y.npy").read_bytes()
            self.assertEqual(got, wanted or got)
            wanted = got

    def test_graph_that_does_not_fit_is_refused(self):
        self.write("g.json", chain())
        self.write("tiny.json", DEVICE)
        words = ["--target", "ttnn", "--device", "./tiny.json"]
        self.assertIn("[ttnn/memory-exhausted]", self.qdq("check", "g.json", *words, code=1).out)
        for command in (["run", "g.json", "--fill", "1"], ["plan", "g.json"]):
            self.assertIn("[ttnn/memory-exhausted]", self.qdq(*command, *words, code=4).err)
        # The memory is the device's, whatever the target.
        self.assertIn("[ttnn/memory-exhausted]",
                      self.qdq("check", "g.json", "--device", "tiny.json", code=1).out)

    def test_target_on_another_chip_is_a_usage_error(self):
        self.write("g.json", one_quantize())
        for target, device in (("ttnn", "p150"), ("ttnn@blackhole", "n150"),
                               ("ttnn@blackhole-rne", "n300"), ("ttnn@wormhole-rne", "p100")):
            words = ["g.json", "--target", target, "--device", device]
            for command in (["run", "--fill", "1"], ["check"], ["plan"]):
                self.assertIn("computes as a", self.qdq(command[0], *words, *command[1:], code=2).err)
        for target, device in (("ttnn@blackhole", "p100"), ("ttnn@ieee", "p150"),
                               ("ttnn@ieee", "n300"), ("onnx", "p150"), ("ttnn@wormhole", "n300")):
            self.json("plan", "g.json", "--target", target, "--device", device,
                      code=4 if target == "onnx" else 0)
        plan = self.json("plan", "g.json", "--target", "ttnn@blackhole")
        self.assertEqual(plan["device"]["name"], "p150")

    def test_device_of_many_targets_is_of_those_that_have_one(self):
        """The graph does not fit on the small device, which only ttnn has."""
        self.write("g.json", chain())
        self.write("tiny.json", DEVICE)
        checked = self.json("check", "g.json", "--target", "all", "--device", "tiny.json", code=1)
        refused = {target for one in checked["nodes"] for target, entry in one.items()
                   if entry == "refused"}
        found = [one["target"] for one in checked["findings"]
                 if one["rule"] == "ttnn/memory-exhausted"]
        self.assertIn("ttnn", refused)
        self.assertEqual(found, ["ttnn"])
        for device in ("n150", "none"):
            self.assertNotIn("ttnn/memory", self.qdq("check", "g.json", "--target", "all",
                                                     "--device", device, code=None).out)
        words = ["g.json", "--fill", "1", "--targets", "core,ttnn,ttnn@ieee"]
        result = self.qdq("compare", *words, "--device", "tiny.json", code=4)
        self.assertIn("qdq: ttnn refuses the graph and is left out", result.err)
        self.assertIn("[ttnn/memory-exhausted]", result.err)
        for device in ("n150", "none"):
            self.assertEqual(self.json("compare", *words, "--device", device,
                                       code=None)["refused"], [])

    def test_device_of_many_targets_must_be_of_the_chip_of_each(self):
        self.write("g.json", one_quantize())
        words = ["--fill", "1", "--targets", "ttnn@wormhole,ttnn@blackhole"]
        for device in ("n150", "p150"):
            self.assertIn("computes as a", self.qdq("compare", "g.json", *words, "--device", device,
                                                    code=2).err)
        self.assertIn("computes as a wormhole", self.qdq("check", "g.json", "--target", "all",
                                                         "--device", "p150", code=2).err)

    def test_findings_of_a_refusal_are_of_the_device_that_is_given(self):
        self.write("g.json", chain())
        self.write("tiny.json", DEVICE)
        parsed = self.json("plan", "g.json", "--device", "tiny.json", code=4)
        self.assertEqual([one["rule"] for one in parsed["error"]["findings"]
                          if one["severity"] == "error"], ["ttnn/memory-exhausted"])

    def test_mistakes_are_usage_errors(self):
        self.write("g.json", one_quantize())
        for words, text in (
                (["--device", "n15"], "there is no device 'n15'"),
                (["--device", "n150", "--fast"], "fast and device are both given"),
                (["--pages", "x"], "are about a device"),
                (["--trace", "t.json"], "are about a device"),
                (["--device", "n150", "--pages", "xx"], "did you mean 'x'?")):
            self.assertIn(text, self.qdq("plan", "g.json", *words, code=2).err)
        for words, text in (
                (["--targets", "core,onnx", "--device", "n150"], "none of the targets has a device"),
                (["--fast", "--device", "n150"], "--fast and --device are both given")):
            self.assertIn(text, self.qdq("compare", "g.json", "--fill", "1", *words, code=2).err)
        self.assertIn("absent.json", self.qdq("plan", "g.json", "--device", "absent.json",
                                              code=3).err)


if __name__ == "__main__":
    main()
