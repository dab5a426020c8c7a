#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node without qtype: axis, group_shape and the shape of the scale decide, or the node is refused.

    test_cli_qtype.py QDQ_BINARY MODELS_DIR

Expected codes are computed here, element by element, from the formula of the document.
"""

import itertools

from harness import Case, constant, graph, main, node, read_safetensors, unpack

SHAPE = [4, 6]


def one_node(op, attrs, scale=None, shape=SHAPE):
    """A node that reads the constant x = 0, 1, 2, ..."""
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    constants = [constant("x", "float32", shape, [float(i) for i in range(count)])]
    ports = {}
    if scale is not None:
        constants.append(constant("s", "float32", *scale))
        ports = {"scale": "s"}
    return graph([node(op, "q", "x", ports, **attrs)], inputs=[], constants=constants)


def reads_input(content):
    """The graph with x as an input."""
    x, *others = content["constants"]
    return {**content, "inputs": [{key: x[key] for key in ("name", "dtype", "shape")}], "constants": others}


def codes(scale_at):
    """x over the scale that `scale_at(i, j)` gives, clamped to int8; all quotients are whole."""
    return [min(127, int((6 * i + j) / scale_at(i, j))) for i, j in itertools.product(range(4), range(6))]


INFERRED = [  # name, attributes, scale port, scale of element i, j, words of the plan
    ("an axis and a list", {"axis": 0, "scales": [1, 0.5, 0.25, 0.125]}, None,
     lambda i, j: [1, 0.5, 0.25, 0.125][i], "(per_channel 0)"),
    ("a negative axis and a port", {"axis": -2}, ([4], [1, 0.5, 0.25, 0.125]),
     lambda i, j: [1, 0.5, 0.25, 0.125][i], "(per_channel -2)"),
    ("nested lists", {"scales": [[1, 0.5, 0.25], [0.125, 0.5, 1]]}, None,
     lambda i, j: [[1, 0.5, 0.25], [0.125, 0.5, 1]][i // 2][j // 2], "(per_group [2, 2])"),
    ("a matrix at the port", {}, ([2, 3], [1, 0.5, 0.25, 0.125, 0.5, 1]),
     lambda i, j: [[1, 0.5, 0.25], [0.125, 0.5, 1]][i // 2][j // 2], "(per_group [2, 2])"),
    ("a column at the port", {}, ([4, 1], [1, 0.5, 0.25, 0.125]),
     lambda i, j: [1, 0.5, 0.25, 0.125][i], "(per_group [1, 6])"),
    ("a group_shape", {"group_shape": [4, 2], "scales": [1, 0.5, 0.25]}, None,
     lambda i, j: [1, 0.5, 0.25][j // 2], "(per_group [4, 2])"),
    ("an axis and one scale", {"axis": 1, "scales": 0.5}, None, lambda i, j: 0.5, None),
]  # fmt: skip

REFUSED = [  # name, op, attributes, scale port, shape of x, rule
    ("an axis beyond the rank", "Quantize", {"axis": 2, "scales": 0.5}, None, SHAPE, "core/axis-range"),
    ("an axis below the rank", "Quantize", {"axis": -3, "scales": 0.5}, None, SHAPE, "core/axis-range"),
    ("an axis beyond the rank beside blocks", "Quantize",
     {"axis": 2, "qtype": "per_group", "group_shape": [2, 2], "scales": [1, 2, 3, 4, 5, 6]}, None, SHAPE,
     "core/axis-range"),
    ("an axis beyond the rank of a computed scale", "DynamicQuantize", {"axis": 2}, None, SHAPE, "core/axis-range"),
    ("a list without axis", "Quantize", {"scales": [1, 2, 3, 4]}, None, SHAPE, "core/scale-count"),
    ("a matrix that does not divide x", "Quantize", {}, ([2, 4], [1] * 8), SHAPE, "core/scale-count"),
    ("a matrix for a vector", "Quantize", {}, ([2, 2], [1] * 4), [4], "core/scale-count"),
    ("a matrix that is channels or blocks", "Quantize", {"axis": 1}, ([2, 3], [1] * 6), SHAPE, "core/qtype-ambiguous"),
    ("per_tensor beside an axis and a list", "Quantize",
     {"qtype": "per_tensor", "axis": 0, "scales": [1, 2, 3, 4]}, None, SHAPE, "core/qtype-count"),
    ("per_tensor beside a matrix", "Quantize", {"qtype": "per_tensor"}, ([2, 3], [1] * 6), SHAPE, "core/qtype-count"),
    ("a column for blocks of columns", "Quantize", {"qtype": "per_group", "group_shape": [4, 1]},
     ([6, 1], [1] * 6), SHAPE, "core/scale-count"),
]  # fmt: skip


class Qtype(Case):
    def test_parameters_decide_the_qtype(self):
        for name, attrs, scale, scale_at, plan in INFERRED:
            with self.subTest(name):
                self.write("g.json", one_node("Quantize", attrs, scale))
                self.qdq("run", "g.json", "-o", "y.safetensors")
                self.assertEqual(unpack(read_safetensors(self.folder / "y.safetensors")["y"]), codes(scale_at))
                # ort runs a copy of the graph, in which constants are folded, and blocks along one dim only.
                self.write("input.json", reads_input(one_node("Quantize", attrs, scale)))
                for target in ("core", "ort") if "per_channel" in (plan or "") else ("core",):
                    out = self.qdq("plan", "input.json", "--target", target).out
                    self.assertIn(f"Quantize q{' ' + plan if plan else ''} ->", out)
                self.qdq("convert", "g.json", "-o", "again.json")
                self.qdq("run", "again.json", "-o", "z.safetensors")
                self.assertEqual(unpack(read_safetensors(self.folder / "z.safetensors")["y"]), codes(scale_at))

    def test_what_they_do_not_decide_is_refused(self):
        for name, op, attrs, scale, shape, rule in REFUSED:
            with self.subTest(name):
                found = self.check(one_node(op, attrs, scale, shape))
                self.assertIn(rule, [one["rule"] for one in found])

    def test_an_axis_beside_one_scale_is_an_error_where_it_is_one_of_the_target(self):
        for target in ("ttnn", "tripy"):
            dtype = {"ttnn": "int32", "tripy": "int8"}[target]
            content = one_node("Quantize", {"axis": 1, "scales": 0.5, "dtype": dtype}, shape=[32, 32])
            found = self.check(content, "--target", target)
            self.assertIn(f"{target}/per-channel-scale", [one["rule"] for one in found])


if __name__ == "__main__":
    main()
