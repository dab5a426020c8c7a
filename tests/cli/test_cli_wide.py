#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""int64, uint32, uint64 and float64: files, constants, Cast and arithmetic keep every bit."""

from harness import (Case, constant, graph, identity, main, read_npy, read_safetensors,
                     safetensors_bytes, tensor, unpack, value, write_npy)

WIDE = [-2**63, 2**63 - 1, 0, 2**53 + 1, -1, 7]


WIDER = {"int64": WIDE, "uint32": [0, 1, 2**32 - 1, 2**31, 2**24 + 1, 7],
         "uint64": [0, 1, 2**64 - 1, 2**63, 2**53 + 1, 7],
         "float64": [0.1, -0.0, 1e300, 5e-324, float("inf"), 2.0**53 + 2]}


class Wide(Case):
    def test_files_of_every_wide_dtype_keep_every_bit(self):
        for dtype, numbers in WIDER.items():
            x = tensor(dtype, [6], numbers)
            for more in ([], ["--tiles"], ["--materialize"]):
                self.assertEqual(self.run_one(identity(dtype, [6]), x, *more), x)
            (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": x}))
            self.qdq("run", "g.json", "-i", "x.safetensors", "-o", "y.safetensors")
            self.assertEqual(read_safetensors(self.folder / "y.safetensors")["y"], x)

    def test_inline_constants_of_every_wide_dtype_are_exact(self):
        for dtype, numbers in WIDER.items():
            data = ["Infinity" if n == float("inf") else n for n in numbers]
            self.write("g.json", graph(constants=[constant("c", dtype, [6], data)], inputs=[],
                                       outputs={"y": "c"}))
            self.qdq("run", "g.json", "-o", "y=y.npy")
            self.assertEqual(unpack(read_npy(self.folder / "y.npy")), numbers)

    def test_constants_beyond_an_unsigned_dtype_are_found(self):
        for dtype, bad in (("uint32", 2**32), ("uint32", -1), ("uint64", -1), ("uint64", 2**64)):
            found = self.check(graph(constants=[constant("c", dtype, [1], [bad])], inputs=[],
                                     outputs={"y": "c"}))
            self.assertEqual(found[0]["message"],
                             "g.json: constant 'c': data has no such number at index 0, wanted "
                             f"whole numbers that {dtype} can hold; give it flat, in row-major "
                             "order")

    def test_arithmetic_beyond_a_double_is_exact(self):
        node = {"op": "Multiply", "name": "q", "inputs": {"a": "x", "b": "x"}}
        for dtype, x in (("int64", -2**31 - 1), ("uint64", 2**40 + 1), ("uint32", 2**20 + 1)):
            bits = 32 if dtype == "uint32" else 64
            y = x * x % 2**bits
            y -= 2**bits if dtype == "int64" and y >= 2**63 else 0
            self.assertEqual(self.run_one(graph([node], inputs=[value("x", dtype, [1])]),
                                          tensor(dtype, [1], [x])), tensor(dtype, [1], [y]))

    def test_a_float64_file_is_no_float32_input(self):
        self.write("g.json", identity("float32", [1]))
        write_npy(self.folder / "x.npy", tensor("float64", [1], [0.1]))
        err = self.qdq("run", "g.json", "-i", "x=x.npy", code=3).err
        self.assertIn("the data is float64, but the tensor is float32; convert it in numpy", err)

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

    def test_most_ops_do_not_take_int64(self):
        found = self.check(graph([{"op": "Quantize", "name": "q", "inputs": {"x": "x"},
                                   "attrs": {"scales": 1}}], inputs=[value("x", "int64")]))
        self.assertEqual(found[0]["rule"], "core/port-dtype")
        found = self.check(graph([{"op": "Exp", "name": "q", "inputs": {"x": "x"}}],
                                 inputs=[value("x", "float64")]))
        self.assertEqual(found[0]["rule"], "core/port-dtype")

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
