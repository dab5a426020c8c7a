#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""int64 values can be moved and printed; no op computes with them."""

from harness import (Case, constant, graph, identity, main, read_npy, read_safetensors,
                     safetensors_bytes, tensor, unpack, value, write_npy)

WIDE = [-2**63, 2**63 - 1, 0, 2**53 + 1, -1, 7]


class Int64(Case):
    def test_files_of_int64_keep_every_bit(self):
        for shape in ([6], [2, 3]):
            x = tensor("int64", shape, WIDE)
            for more in ([], ["--materialize"]):
                self.assertEqual(self.run_one(identity("int64", shape), x, *more), x)
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": x}))
        self.qdq("run", "g.json", "-i", "x.safetensors", "-o", "y.safetensors")
        self.assertEqual(read_safetensors(self.folder / "y.safetensors")["y"], x)

    def test_inline_constants_of_int64_are_exact(self):
        self.write("g.json", graph(constants=[constant("c", "int64", [6], WIDE)], inputs=[],
                                   outputs={"y": "c"}))
        self.qdq("run", "g.json", "-o", "y=y.npy")
        self.assertEqual(unpack(read_npy(self.folder / "y.npy")), WIDE)

    def test_a_constant_that_int64_does_not_hold_is_found(self):
        for bad in (2**63, 0.5, 1e30):
            found = self.check(graph(constants=[constant("c", "int64", [1], [bad])], inputs=[],
                                     outputs={"y": "c"}))
            self.assertEqual(found[0]["message"],
                             "g.json: constant 'c': data has no such number at index 0, wanted "
                             "whole numbers of at most 64 bits; give it flat, in row-major order")

    def test_ops_do_not_take_int64(self):
        found = self.check(graph([{"op": "Quantize", "name": "q", "inputs": {"x": "x"},
                                   "attrs": {"scales": 1}}], inputs=[value("x", "int64")]))
        self.assertEqual(found[0]["rule"], "core/port-dtype")
        found = self.check(graph([{"op": "Cast", "name": "q", "inputs": {"x": "x"},
                                   "attrs": {"dtype": "int64"}}]))
        self.assertEqual(found[0]["rule"], "core/dtype-result")

    def test_a_summary_has_whole_numbers(self):
        self.write("g.json", identity("int64", [3]))
        write_npy(self.folder / "x.npy", tensor("int64", [3], [-5, 2**40, 3]))
        out = self.qdq("run", "g.json", "-i", "x=x.npy").out
        self.assertEqual(out, "y: int64 [3], min -5, max 1099511627776\n  -5 1099511627776 3\n")
        listed = self.json("run", "g.json", "-i", "x=x.npy")["outputs"][0]
        self.assertEqual(listed["first"], [-5, 2**40, 3])

    def test_a_dtype_is_not_taken_for_another(self):
        self.write("g.json", identity("int64", [3]))
        write_npy(self.folder / "x.npy", tensor("int32", [3], [1, 2, 3]))
        err = self.qdq("run", "g.json", "-i", "x=x.npy", code=3).err
        self.assertIn("the data is int32, but the tensor is int64", err)


if __name__ == "__main__":
    main()
