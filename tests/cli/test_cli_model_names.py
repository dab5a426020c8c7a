#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports name the nodes of an ONNX model as the model does, and options take its names."""

import json
import random
import re

from harness import Case, main, safetensors_bytes, tensor
from onnx_writing import layers_network, recurrent_network


class ModelNames(Case):
    def write_network(self, network, dims):
        numbers = random.Random(1)
        count = 1
        for dim in dims:
            count *= dim
        (self.folder / "m.onnx").write_bytes(network(1))
        x = tensor("float32", dims, [numbers.gauss(0, 1) for _ in range(count)])
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": x}))

    def quantize(self, *words, **more):
        return self.qdq("quantize", "m.onnx", "-i", "x.safetensors", "-t", "ort", "-o", "q.onnx", *words, **more)

    def test_quantize_and_compare_print_both_names(self):
        self.write_network(layers_network, [4, 16])
        self.assertIn("\n  /matmul2/MatMul (matmul2_y0): MatMul, ", self.quantize().out)
        one = self.json("quantize", "m.onnx", "-i", "x.safetensors", "-t", "ort", "-o", "q.onnx")["nodes"][0]
        self.assertEqual((one["node"], one["original"]), ("matmul2_y0", "/matmul2/MatMul"))
        compare = ["compare", "m.onnx", "-i", "x.safetensors", "--targets", "core,onnx"]
        self.assertIn("/matmul2/MatMul (matmul2_y0, MatMul): equal", self.qdq(*compare, "--all").out)
        values = {one["name"]: one for one in json.loads(self.qdq(*compare, "--json").out)["values"]}
        self.assertEqual(values["matmul2_y0"]["original"], "/matmul2/MatMul")

    def test_json_has_no_original_where_the_names_are_equal(self):
        self.write_network(layers_network, [4, 16])
        self.quantize()
        nodes = self.json("check", "q.onnx", "--dim", "N=1", "--target", "onnx", code=None)["bits"]["nodes"]
        originals = {one["node"]: one.get("original") for one in nodes}
        self.assertEqual((originals["matmul2_y0"], originals["x_quantized"]), ("/matmul2/MatMul", None))
        rows = self.json("check", "m.onnx", "--dim", "N=1", "--target", "all", code=None)["nodes"]
        self.assertEqual({one["name"]: one["original"] for one in rows}["matmul2_y0"], "/matmul2/MatMul")

    def test_keep_and_until_take_each_name_and_suggest_the_nearest(self):
        self.write_network(layers_network, [4, 16])
        for name in ("/matmul2/MatMul", "matmul2_y0"):
            self.assertIn("/matmul2/MatMul (matmul2_y0): MatMul, float: --keep", self.quantize("--keep", name).out)
            self.qdq("run", "m.onnx", "-i", "x.safetensors", "--until", name, "-o", "y.safetensors")
        for wrong, right in (("/matmul2/MatMull", "/matmul2/MatMul"), ("matmul2_y", "matmul2_y0")):
            self.assertIn(f"did you mean '{right}'?", self.quantize("--keep", wrong, code=2).err)
            said = self.qdq("run", "m.onnx", "-i", "x.safetensors", "--until", wrong, "-o", "y.safetensors", code=2).err
            self.assertIn(f"which is no node and no result of one; did you mean '{right}'?", said)

    def test_keep_takes_all_nodes_that_stand_for_one_of_the_model(self):
        self.write_network(recurrent_network, [3, 2, 6])
        said = self.quantize("--keep", "/lstm4/LSTM").out
        kept = re.findall(r"/lstm4/LSTM \(\S+\): MatMul, float: --keep", said)
        self.assertEqual(len(kept), 4)

    def test_a_page_has_the_names_of_the_model(self):
        self.write_network(recurrent_network, [3, 2, 6])
        self.qdq("check", "m.onnx", "--dim", "N=2", "--html", "page.html", code=None)
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="qdq-report">(.*?)</script>', page, re.S)[1])
        originals = [one.get("original") for one in data["graph"]["nodes"]]
        self.assertGreater(originals.count("/lstm4/LSTM"), 20)
        self.assertTrue(any(name and name.endswith("/Gemm") for name in originals))


if __name__ == "__main__":
    main()
