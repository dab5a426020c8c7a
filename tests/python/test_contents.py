# SPDX-License-Identifier: Apache-2.0
"""What a graph lists: inputs, outputs, nodes, values and constants.

    test_contents.py SOURCE_DIR
"""

import gc
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import qdq

ROOT = Path(sys.argv.pop(1)).resolve()


def built():
    b = qdq.Builder("net")
    x = b.input("x", "float32", (4, 8))
    code = b.quantize(x, scales=0.5, zps=3, dtype="int8", name="code")
    real = b.dequantize(code, scales=0.5, zps=3, dtype="float32", name="real")
    both = b.concat([real, np.arange(8, dtype=np.float32).reshape(1, 8)], axis=0, name="both")
    b.output("y", both)
    b.output("codes", code)
    return b.build()


class Contents(unittest.TestCase):
    def test_values_have_types_and_kinds(self):
        g = built()
        self.assertEqual(g.inputs, [("x", "float32", (4, 8), "input")])
        self.assertEqual(g.outputs, [("y", "float32", (5, 8), "node"), ("codes", "int8", (4, 8), "node")])
        kinds = {value.name: value.kind for value in g.values}
        self.assertEqual(kinds, {"x": "input", "code": "node", "real": "node", "constant": "constant", "both": "node"})

    def test_nodes_name_the_values_at_their_ports(self):
        nodes = built().nodes
        self.assertEqual([(n.name, n.op) for n in nodes], [("code", "Quantize"), ("real", "Dequantize"), ("both", "Concat")])
        self.assertEqual(nodes[0].inputs, {"x": "x"})
        self.assertEqual(nodes[0].attrs, {"scales": 0.5, "zps": 3, "dtype": "int8"})
        self.assertEqual(nodes[2].inputs, {"xs[0]": "real", "xs[1]": "constant"})
        self.assertEqual(nodes[2].outputs, ["both"])

    def test_constants_are_arrays_that_outlive_the_graph(self):
        constants = built().initializers
        self.assertEqual(list(constants), ["constant"])
        found = constants["constant"]
        del constants
        gc.collect()
        np.testing.assert_array_equal(found, np.arange(8, dtype=np.float32).reshape(1, 8))
        with self.assertRaises(ValueError):
            found[0, 0] = 1

    def test_a_constant_that_is_not_there_is_a_key_error(self):
        with self.assertRaises(KeyError):
            built().initializers["x"]

    def test_constants_of_narrow_dtypes_have_an_element_a_byte(self):
        b = qdq.Builder()
        w = b.constant(np.int8([-8, 7, 0]), dtype="int4", name="w")
        b.output("y", b.dequantize(w, scales=1, dtype="float32"))
        found = b.build().initializers["w"]
        self.assertEqual((found.dtype, found.tolist()), (np.int8, [-8, 7, 0]))

    def test_constants_of_a_file_are_read_when_they_are_looked_up(self):
        g = qdq.load(ROOT / "models/digits/int8.json")
        names = set(g.initializers)
        self.assertIn("conv1.weights", {name.rpartition(".code")[0] or name for name in names} | names)
        for name, array in g.initializers.items():
            info = next(value for value in g.values if value.name == name)
            self.assertEqual((info.kind, info.shape), ("constant", array.shape))

    def test_a_file_that_is_gone_is_named(self):
        b = qdq.Builder()
        b.output("y", b.add(b.input("x", "float32", (5000,)), np.ones(5000, np.float32)))
        with tempfile.TemporaryDirectory() as folder:
            b.build().write(Path(folder) / "g.json")
            g = qdq.load(Path(folder) / "g.json")
            data = next(path for path in Path(folder).iterdir() if path.suffix != ".json")
            with data.open("r+b") as file:
                file.truncate(64)
            with self.assertRaisesRegex(qdq.FileError, "load the graph again"):
                g.initializers[next(iter(g.initializers))]

    def test_names_are_those_of_the_file(self):
        g = qdq.parse('{"format": "qdq/1", "inputs": [{"name": "x", "dtype": "float32", "shape": []}], "nodes": '
                      '[{"op": "Abs", "name": "n", "inputs": {"x": "x"}}], "outputs": [{"name": "y", "value": "n"}]}')
        self.assertEqual(g.nodes[0].outputs, ["n"])

    def test_a_closed_graph_says_so(self):
        g = built()
        g.close()
        with self.assertRaisesRegex(qdq.ArgumentError, "closed"):
            g.nodes


if __name__ == "__main__":
    unittest.main()
