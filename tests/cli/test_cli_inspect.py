#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq inspect: inputs, outputs, ops, dtypes and sizes of graphs and of files of tensors."""

from harness import Case, constant, graph, main, node, npy_bytes, quantize, safetensors_bytes, tensor
from onnx_writing import layers_network

PAIR = graph([quantize("q", scales=0.5, zps=3), node("Dequantize", "back", "q", scales=0.5, zps=3)],
             outputs={"codes": "q", "restored": "back"}, name="pair", target="core")
PAIR_TEXT = """\
pair.json: 'pair', target core, 2 nodes, 0 constants of 0 bytes
inputs:
  x: float32 [2, 3], 24 bytes
outputs:
  codes: int8 [2, 3], 6 bytes
  restored: bfloat16 [2, 3], 12 bytes
dtypes:
  float32: 1 computed value of 24 bytes
  bfloat16: 1 computed value of 12 bytes
  int8: 1 computed value of 6 bytes
ops:
  Dequantize: 1
  Quantize: 1
"""
TENSORS = {"w": tensor("float32", [2, 2], [1, 2, 3, 4]), "b": tensor("int8", [3], [1, 2, 3])}


class Graphs(Case):
    def test_a_graph_file(self):
        self.write("pair.json", PAIR)
        self.assertEqual(self.qdq("inspect", "pair.json").out, PAIR_TEXT)

    def test_json_has_the_same_parts(self):
        self.write("pair.json", PAIR)
        self.assertEqual(self.json("inspect", "pair.json"), {
            "version": 1, "file": "pair.json", "kind": "graph", "name": "pair", "target": "core", "errors": 0,
            "inputs": [{"name": "x", "dtype": "float32", "shape": [2, 3], "bytes": 24}],
            "outputs": [{"name": "codes", "dtype": "int8", "shape": [2, 3], "bytes": 6},
                        {"name": "restored", "dtype": "bfloat16", "shape": [2, 3], "bytes": 12}],
            "constants": [],
            "dtypes": [{"dtype": dtype, "constants": 0, "constant_bytes": 0, "computed": 1, "computed_bytes": size}
                       for dtype, size in (("float32", 24), ("bfloat16", 12), ("int8", 6))],
            "ops": [{"op": "Dequantize", "count": 1}, {"op": "Quantize", "count": 1}],
            "nodes": [{"name": "q", "op": "Quantize"}, {"name": "back", "op": "Dequantize"}]})

    def test_all_lists_constants_and_nodes(self):
        scale = constant("s", "float32", [], [0.5])
        self.write("g.json", graph([quantize("q", ports={"scale": "s"})], constants=[scale]))
        self.assertTrue(self.qdq("inspect", "g.json", "--all").out.endswith(
            "ops:\n  Quantize: 1\nconstants:\n  s: float32 [], 4 bytes\nnodes:\n  q (Quantize)\n"))

    def test_a_model_has_its_own_names(self):
        self.write("m.onnx", layers_network(1))
        out = self.qdq("inspect", "m.onnx", "--dim", "N=4", "--all").out
        self.assertIn("\n  /matmul2/MatMul (matmul2_y0, MatMul)\n", out)
        self.assertIn("\n  x: float32 [4, 16], 256 bytes\n", out)

    def test_a_graph_with_an_error_is_listed(self):
        self.write("g.json", graph([quantize("q", scales=0)]))
        self.assertIn("\n1 error, which `qdq check` lists\n", self.qdq("inspect", "g.json").out)


class Tensors(Case):
    def test_safetensors_by_name_or_content(self):
        for name in ("t.safetensors", "some.state"):
            self.write(name, safetensors_bytes(TENSORS))
            self.assertEqual(self.qdq("inspect", name).out,
                             f"{name}: 2 tensors, 19 bytes\n  b: int8 [3], 3 bytes\n  w: float32 [2, 2], 16 bytes\n")

    def test_a_dtype_that_qdq_lacks_is_named(self):
        self.write("t.safetensors", safetensors_bytes({"c": tensor("float64", [1], [1])._replace(dtype="C64")}))
        self.assertEqual(self.qdq("inspect", "t.safetensors").out,
                         "t.safetensors: 1 tensor, 8 bytes\n  c: C64 [1], 8 bytes, which qdq does not read\n")

    def test_an_npy_array(self):
        self.write("x.npy", npy_bytes("<f4", [2, 2], TENSORS["w"].data))
        self.assertEqual(self.qdq("inspect", "x.npy").out, "x.npy: 1 tensor, 16 bytes\n  float32 [2, 2], 16 bytes\n")
        self.assertEqual(self.json("inspect", "x.npy"),
                         {"version": 1, "file": "x.npy", "kind": "tensors", "bytes": 16,
                          "tensors": [{"name": "", "dtype": "float32", "shape": [2, 2], "bytes": 16}]})

    def test_a_damaged_file_is_refused(self):
        self.write("x.npy", npy_bytes("<f4", [2, 2], b"1234"))
        self.assertRegex(self.qdq("inspect", "x.npy", code=3).err, r"\Aqdq: x\.npy: [^\n]*\n\Z")


if __name__ == "__main__":
    main()
