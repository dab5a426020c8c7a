#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plan --from-capture and convert: ttnn's graph captures, against what a p150b did."""

import copy
import json

import captures
from harness import Case, main


class Compare(Case):
    def compare(self, nodes, *words, code=0):
        self.write("capture.json", nodes)
        return self.json("plan", "--from-capture", "capture.json", *words, code=code)

    def test_sharded_add_lies_as_on_the_device(self):
        for in_place in (False, True):
            found = self.compare(captures.sharded_add(in_place))
            self.assertEqual(found["differences"], [])
            self.assertEqual((found["device"]["grid_x"], found["device"]["grid_y"]), (11, 10))
            self.assertEqual(found["given"], 2)
            # Three circular buffers, with three fields and an address of 0 each.
            self.assertGreaterEqual(found["fields"], 3 * 3)
            self.assertEqual(found["equal"], found["fields"])
            self.assertEqual(found["not_recorded"], 3 if in_place else 5)

    def test_matmul_has_the_circular_buffers_of_the_device(self):
        found = self.compare(captures.matmul())
        self.assertEqual(found["differences"], [])
        self.assertEqual(found["device"], {"name": "p150", "grid_x": 11, "grid_y": 10, "l1_base": 111616})
        self.assertGreaterEqual(found["fields"], 3 * 4 + 8)
        self.assertEqual((found["not_recorded"], found["not_modelled"]), (0, 1))

    def test_rows_become_shards_as_on_the_device(self):
        found = self.compare(captures.rows_to_shards())
        self.assertEqual(found["differences"], [])
        self.assertEqual((found["given"], found["unknown"]), (1, []))

    def test_shards_become_tiles_as_on_the_device(self):
        found = self.compare(captures.shards_to_tiles())
        self.assertEqual(found["differences"], [])
        self.assertEqual(found["unknown"], ["Conv2dDeviceOperation"])
        self.assertGreaterEqual(found["fields"], 7 + 8 + 3)

    def test_reports_of_a_plan_are_not_of_a_comparison(self):
        self.write("capture.json", captures.sharded_add())
        for words in (["--map"], ["--pages", "t7"], ["--trace", "t.json"], ["--memory-csv", "reports"],
                      ["--emit-c", "g.c"], ["--html", "g.html"]):
            result = self.qdq("plan", "--from-capture", "capture.json", *words, code=2)
            self.assertIn(f"--from-capture and {words[0]} are both given", result.err)

    def test_first_difference_stands_first(self):
        nodes = captures.sharded_add()
        allocation = next(n for n in nodes if n["node_type"] == "buffer_allocate")
        allocation["params"]["max_size_per_bank"] = 65536
        backed = [n for n in nodes if n["node_type"] == "circular_buffer_allocate"]
        backed[1]["params"]["size"] = 4096
        self.write("capture.json", nodes)
        lines = self.qdq("plan", "--from-capture", "capture.json", code=1).out.splitlines()
        self.assertIn("11 x 10 cores", lines[0])
        self.assertEqual(lines[1], f"  node {allocation['counter']}, buffer of tensor 11: "
                         "max_size_per_bank is 65536 in the capture, 32768 in the plan")
        self.assertEqual(lines[2], f"  node {backed[1]['counter']}, BinaryNgDeviceOperation, circular "
                         "buffer 1: size is 4096 in the capture, 32768 in the plan")
        self.assertRegex(lines[3], r"^\d+ of \d+ fields equal$")

    def test_unknown_ops_are_named_and_their_results_are_inputs(self):
        nodes = captures.sharded_add()
        for one in nodes:
            if one["node_type"].startswith("function") and one["params"]["name"].startswith("Binary"):
                one["params"]["name"] = "HaloDeviceOperation"
        self.write("capture.json", nodes)
        result = self.qdq("plan", "--from-capture", "capture.json", code=4)
        self.assertIn("no op that qdq knows: its first is 'HaloDeviceOperation'", result.err)
        both = captures.sharded_add(True)
        halo = [copy.deepcopy(nodes[i]) for i in (1, 2)] + [
            {"node_type": "function_end", "params": {"name": name}} for name in
            ("HaloDeviceOperation", "ttnn.add")]
        for counter, one in enumerate(halo, len(both)):
            one.update(counter=counter, connections=[], arguments=[], stacking_level=1)
            one["input_tensors"] = []
            both.append(one)
        found = self.compare(both)
        self.assertEqual(found["unknown"], ["HaloDeviceOperation"])
        self.assertEqual(found["unknown_programs"], 1)

    def test_tensors_live_as_long_as_on_the_device(self):
        found = self.compare(captures.unknown_results())
        self.assertEqual(found["differences"], [])
        self.assertEqual(found["unknown_programs"], 200)
        # Address, size and four others of each result's allocation; its own type and its config.
        self.assertGreaterEqual(found["fields"], 200 * 12)

    def test_device_can_be_given(self):
        found = self.compare(captures.sharded_add(), "--device", "p150", code=1)
        self.assertEqual({one["field"] for one in found["differences"]}, {"core_range_set"})
        self.assertEqual(found["differences"][0]["planned"], "{[0-0 - 12-9]}")

    def test_convert_writes_the_graph(self):
        self.write("capture.json", captures.sharded_add())
        self.qdq("convert", "capture.json", "-o", "graph.json")
        graph = json.loads((self.folder / "graph.json").read_text())
        self.assertEqual(graph["target"], "ttnn@blackhole")
        self.assertEqual([one["name"] for one in graph["inputs"]], ["t7", "t9"])
        for one in graph["inputs"] + graph["nodes"]:
            spec = one["memory_config"]["shard_spec"]
            self.assertEqual((spec["grid"], spec["shape"]), ([[[0, 0], [7, 7]]], [32, 512]))
        self.assertEqual([(one["op"], one["name"]) for one in graph["nodes"]], [("Add", "t11")])
        plan = self.json("plan", "graph.json")
        self.assertEqual(plan["buffers"][0]["address"], 1540096)


class Hostile(Case):
    """Each ends with one sentence."""

    def refuse(self, nodes, text, code=3):
        self.write("capture.json", nodes)
        result = self.qdq("plan", "--from-capture", "capture.json", code=code)
        self.assertEqual(result.out, "")
        self.assertIn(text, result.err)
        self.assertEqual(len(result.err.strip().splitlines()), 1, result.err)

    def test_what_is_no_capture(self):
        self.refuse([], "empty list")
        self.refuse([1], "[0] is a number, wanted an object")
        self.refuse([{}], "key 'counter' is missing")
        self.refuse([{"counter": 0}], "key 'node_type' is missing")
        self.refuse([{"counter": 0, "node_type": "capture_start"}], "has no function_start")
        self.write("graph.json", {"format": "qdq/1", "inputs": [], "outputs": []})
        self.assertIn("is no ttnn graph capture",
                      self.qdq("plan", "--from-capture", "graph.json", code=2).err)

    def test_wrong_types_and_missing_keys(self):
        for kind, key, value, text in (
                ("tensor", "tensor_id", "7", "wanted a whole number"),
                ("tensor", "tensor_id", -1, "wanted a whole number"),
                ("tensor", "address", "0", "wanted a whole number"),
                ("tensor", "shape", [1, 2], "wanted a string"),
                ("tensor", "shape", "Shape([1, -2])", "wanted Shape([...])"),
                ("tensor", "shape", "Shape([" + "1, " * 9 + "1])", "wanted Shape([...])"),
                ("tensor", "shape", "Shape([99999999999999999999])", "wanted Shape([...])"),
                ("tensor", "dtype", "DataType::FLOAT128", "wanted DataType::BFLOAT16"),
                ("tensor", "memory_config", "MemoryConfig(", "wanted MemoryConfig"),
                ("tensor", "memory_config", captures.SHARDED.replace('"x":7', '"x":99999999'),
                 "wanted MemoryConfig"),
                ("buffer", "layout", 3, "wanted a string"),
                ("buffer_allocate", "page_size", 1.5, "wanted a whole number"),
                ("circular_buffer_allocate", "globally_allocated", 1, "wanted a string"),
                ("function_start", "name", None, "wanted a string"),
                ("function_end", "name", "ttnn.sub", "ends the function")):
            nodes = captures.sharded_add()
            one = next(n for n in nodes if n["node_type"] == kind)
            one["params"][key] = value
            self.refuse(nodes, text)
            del one["params"][key]
            if key not in ("address", "memory_config"):  # a tensor of the host has neither
                self.refuse(nodes, f"key '{key}' is missing")

    def test_edges_lead_to_nodes_and_never_in_circles(self):
        for value, text in ((10**6, "no number of a node"), (-1, "no number of a node"),
                            ("3", "no number of a node")):
            nodes = captures.sharded_add()
            nodes[4]["connections"] = [value]
            self.refuse(nodes, text)
        nodes = captures.sharded_add()
        nodes[2]["input_tensors"] = [4]
        self.refuse(nodes, "names node 4, which is no tensor")
        nodes = captures.sharded_add()
        for one in nodes:
            one["connections"] = [one["counter"], 0, len(nodes) - 1] + one["connections"]
        self.write("capture.json", nodes)
        self.assertEqual(self.json("plan", "--from-capture", "capture.json")["differences"], [])

    def test_huge_numbers(self):
        nodes = captures.sharded_add()
        one = next(n for n in nodes if n["node_type"] == "buffer_allocate")
        for key in ("size", "max_size_per_bank", "page_size", "num_cores", "address"):
            changed = copy.deepcopy(nodes)
            changed[one["counter"]]["params"][key] = 2**64 - 1
            self.write("capture.json", changed)
            result = self.qdq("plan", "--from-capture", "capture.json", code=None)
            self.assertIn(result.code, (1, 4))
        nodes[3]["params"]["address"] = nodes[5]["params"]["address"]
        self.write("capture.json", nodes)
        result = self.qdq("plan", "--from-capture", "capture.json", code=4)
        self.assertIn("'t9' cannot lie at address 1507328 of L1", result.err)

    def test_many_nodes_take_time_in_proportion(self):
        """20,000 programs of one op, and as many unknown ones, within the time of a call."""
        nodes = captures.sharded_add(True)
        begin, end = nodes[2], next(n for n in nodes if n["node_type"] == "function_end")
        body = nodes[:-2]
        for i in range(20000):
            name = "BinaryNgDeviceOperation" if i % 2 else "HaloDeviceOperation"
            for one in (begin, end):
                body.append({**one, "counter": len(body), "params": {**one["params"], "name": name}})
        for one in nodes[-2:]:
            body.append({**one, "counter": len(body)})
        found = self.refused_or_compared(body)
        self.assertIn(found, (0, 1, 4, 5))

    def refused_or_compared(self, nodes):
        self.write("capture.json", nodes)
        return self.qdq("plan", "--from-capture", "capture.json", code=None).code


if __name__ == "__main__":
    main()
