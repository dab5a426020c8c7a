#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Releases of ONNX Runtime: the ops that each runs for a graph, as the optimized models that it writes have them
(1.20.1, 1.21.1, 1.22.1, 1.23.2, 1.24.4, 1.25.1, 1.26.0, 1.27.0 and 1.28.0, on x86-64)."""

import json

from harness import Case, constant, graph, main, node

RELEASES = [f"1.{minor}" for minor in range(20, 33)]


def product(op, x, w, bias=None, behind=(), zeros=True, attrs=None):
    """A graph: a product of codes with these shapes, its bias, and the nodes behind it."""
    zero = {"zps": 0} if zeros else {}
    port = ("a", "b") if op == "MatMul" else ("x", "weights")
    nodes = [node("Dequantize", "xf", "x", scales=0.5, dtype="float32", **zero),
             node("Dequantize", "wf", "w", scales=0.25, zps=0, dtype="float32"),
             {"op": op, "name": "m", "inputs": {port[0]: "xf", port[1]: "wf"}, "attrs": attrs or {}}]
    size = 1
    for dim in w:
        size *= dim
    constants = [constant("w", "int8", w, [(7 * i) % 11 - 5 for i in range(size)])]
    if bias:
        constants.append(bias)
        nodes[-1]["inputs"]["bias"] = bias["name"]
    if bias and bias["dtype"] == "int32":
        nodes.insert(2, node("Dequantize", "bf", bias["name"], scales=1.0, dtype="float32"))
        nodes[-1]["inputs"]["bias"] = "bf"
    last = "m"
    for name, one in enumerate(behind):
        nodes.append(node(one["op"], f"n{name}", last, **one.get("attrs", {})))
        last = f"n{name}"
    return graph(nodes, inputs=[{"name": "x", "dtype": "uint8", "shape": x}], outputs={"y": last},
                 constants=constants)


CONV = {"strides": [1, 1], "dilations": [1, 1], "data_format": "NCX", "weights_format": "OIX"}
QUANTIZE = {"op": "Quantize", "attrs": {"scales": 1.0, "zps": 0, "dtype": "uint8"}}
CHANGING = {"op": "Quantize", "attrs": {"scales": 1.0, "zps": 9, "dtype": "uint8"}}
RELU = {"op": "ReLU"}
FLOATS = constant("b", "float32", [2], [0.5, -1.5])
CODES = constant("b", "int32", [2], [3, -4])


class Releases(Case):
    def ops(self, g, release):
        self.qdq("convert", self.write("g.json", g), "--deployed", "-t", f"ort@{release}", "-o", "d.json")
        written = json.loads((self.folder / "d.json").read_text(encoding="utf-8"))
        return [one["op"] for one in written["nodes"]]

    def assert_since(self, first, g, op):
        """The op is among the ops from this release on, and not before it."""
        for release in RELEASES:
            since = RELEASES.index(release) >= RELEASES.index(first)
            self.assertEqual(op in self.ops(g, release), since, f"{op} at {release}: {self.ops(g, release)}")

    def test_a_float_bias_becomes_codes_from_1_21_on(self):
        g = product("Convolution", [1, 3, 4, 4], [2, 3, 1, 1], FLOATS, [QUANTIZE], attrs=CONV)
        self.assert_since("1.21", g, "QLinearConv")

    def test_behind_relu_it_does_in_1_21_and_from_1_23_on(self):
        g = product("Convolution", [1, 3, 4, 4], [2, 3, 1, 1], FLOATS, [RELU, QUANTIZE], attrs=CONV)
        formed = [release for release in RELEASES if "QLinearConv" in self.ops(g, release)]
        self.assertEqual(formed, ["1.21", *RELEASES[3:]])

    def test_without_a_quantize_it_does_in_1_21_alone(self):
        g = product("Convolution", [1, 3, 4, 4], [2, 3, 1, 1], FLOATS, attrs=CONV)
        name = self.write("g.json", g)
        said = {release: str(self.json("plan", name, "-t", f"ort@{release}")["rewrites"]) for release in RELEASES}
        self.assertEqual([release for release in RELEASES if "codes of weights" in said[release]], ["1.21"])

    def test_a_bias_of_another_scale_stops_a_convolution_from_1_27_on(self):
        g = product("Convolution", [1, 3, 4, 4], [2, 3, 1, 1], CODES, [QUANTIZE], attrs=CONV)
        self.assert_since("1.27", g, "Convolution")

    def test_gemm_wants_zero_points_from_1_28_on(self):
        g = product("MatMul", [3, 4], [4, 2], CODES, zeros=False)
        self.assert_since("1.28", g, "MatMul")

    def test_a_relu_that_changes_codes_stops_a_product_from_1_21_on(self):
        g = product("MatMul", [3, 4], [4, 2], behind=[RELU, CHANGING])
        self.assert_since("1.21", g, "MatMul")

    def test_int8_weights_of_floats_are_packed_from_1_25_on(self):
        nodes = [node("Dequantize", "wf", "w", scales=0.25, zps=0, dtype="float32"),
                 {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "wf"}}]
        g = graph(nodes, inputs=[{"name": "x", "dtype": "float32", "shape": [3, 4]}], outputs={"y": "m"},
                  constants=[constant("w", "int8", [4, 2], [1, -2, 3, -4, 5, -6, 7, -8])])
        self.assert_since("1.25", g, "MatMulNBits")

    def test_explain_names_the_nearest_release_first(self):
        codes = constant("b", "int32", [2], [3, -4])
        name = self.write("g.json", product("Convolution", [1, 3, 4, 4], [2, 3, 1, 1], codes, [QUANTIZE], attrs=CONV))
        self.qdq("run", name, "-t", "ort@1.24-avx2", "--fill", "7", "-o", "y=y.npy", code=None)
        for own, names in (("ort", ["ort@1.26-vnni", "ort@1.25-vnni"]),
                           ("ort@1.31-avx2:level=extended", ["ort@1.26-avx2:level=extended", "ort@1.25-avx2:level=extended"])):
            told = self.json("explain", name, "-t", own, "--fill", "7", "--got", "y=y.npy", code=1)
            self.assertEqual(told["targets"][:2], names)


if __name__ == "__main__":
    main()
