# SPDX-License-Identifier: Apache-2.0
"""Tests the ONNX converter's command line: what it refuses, renames and writes.

    python3 onnx_refusals.py --qdq QDQ_BINARY
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOOL = Path(__file__).resolve().parents[2] / "tools" / "onnx" / "onnx_to_qdq.py"
FLOAT = TensorProto.FLOAT


def tensor(name, shape, elem=FLOAT):
    return helper.make_tensor_value_info(name, elem, shape)


def model(nodes, inputs, outputs, constants=None, opset=21, **more):
    known = [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, known)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1),
              helper.make_opsetid("own", 1)]  # fmt: skip
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **more)


class Place:
    """A folder in which the converter and qdq run."""

    def __init__(self, qdq, folder):
        self.qdq, self.folder, self.out = qdq, folder, folder / "out.json"

    def convert(self, made, *more):
        onnx.save(made, self.folder / "in.onnx")
        command = [sys.executable, TOOL, self.folder / "in.onnx", self.out, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def refuses(self, made, *words, more=()):
        code, said = self.convert(made, *more)
        assert code == 1, (code, said)
        assert not self.out.exists() and not self.out.with_suffix(".safetensors").exists()
        for word in words:
            assert word in said, (word, said)

    def takes(self, made, *more):
        code, said = self.convert(made, *more)
        assert code == 0, said
        done = subprocess.run([self.qdq, "run", self.out, "--fill", "1", "--json"],
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(self.out.read_text()), json.loads(done.stdout)["outputs"]


def node(op, ins, outs, name="", **attrs):
    return helper.make_node(op, ins, outs, name, **attrs)


def relu_model(shape, elem=FLOAT, opset=21):
    inputs, outputs = [tensor("x", shape, elem)], [tensor("y", None, elem)]
    return model([node("Relu", ["x"], ["y"])], inputs, outputs, opset=opset)


def all_refusals_are_told_at_once(place):
    nodes = [
        node("Erf", ["x"], ["a"], "first"),
        node("Relu", ["a"], ["b"], "fine"),
        node("Foo", ["b"], ["c"], "second", domain="own"),
        node("LSTM", ["c", "c", "c"], ["d"], "third", hidden_size=2),
        node("Softsign", ["b"], ["e"]),
    ]
    made = model(nodes, [tensor("x", [2, 3])], [tensor("d", None), tensor("e", [2, 3])])
    place.refuses(made, "node 'first' (Erf)", "node 'second' (Foo of own)", "node 'third' (LSTM)",
                  "node 'e' (Softsign)", "4 refused, nothing is written")  # fmt: skip


def a_dynamic_dim_names_the_input_the_dim_and_the_option(place):
    made = relu_model(["N", 3])
    place.refuses(made, "input 'x': dim 0 is 'N'", "--input-shape x=")
    graph, outputs = place.takes(made, "--input-shape", "x=4,3")
    assert graph["inputs"][0]["shape"] == [4, 3] and outputs[0]["shape"] == [4, 3]


def an_input_shape_must_suit_the_model(place):
    made = relu_model(["N", 3])
    place.refuses(made, "dim 1 is 3, and --input-shape gives 4", more=("--input-shape", "x=4,4"))
    place.refuses(made, "has 2 dims, and --input-shape gives 1", more=("--input-shape", "x=4"))
    place.refuses(made, "'z', wanted an input: 'x'", more=("--input-shape", "z=4,3"))
    assert place.convert(made, "--input-shape", "x=4,0")[0] == 2


def an_input_of_a_dtype_that_qdq_lacks_is_refused(place):
    made = model([node("Cast", ["x"], ["y"], to=FLOAT)], [tensor("x", [2], TensorProto.INT64)],
                 [tensor("y", [2])])  # fmt: skip
    place.refuses(made, "input 'x' is int64")
    made = model([node("Cast", ["x"], ["y"], "c", to=TensorProto.DOUBLE)], [tensor("x", [2])],
                 [tensor("y", [2], TensorProto.DOUBLE)])  # fmt: skip
    place.refuses(made, "node 'c' (Cast): it makes double")


def opsets_outside_of_13_to_25_are_refused(place):
    place.refuses(relu_model([2], opset=12), "the opset is 12, wanted 13 to 25")
    place.refuses(relu_model([2], opset=26), "the opset is 26, wanted 13 to 25")


def outputs_beyond_the_first_are_refused_where_they_are_used(place):
    pool = node("MaxPool", ["x"], ["y", "at"], "p", kernel_shape=[2, 2])
    x, y, at = tensor("x", [1, 1, 4, 4]), tensor("y", None), tensor("at", None, TensorProto.INT64)
    place.refuses(model([pool], [x], [y, at]), "node 'p' (MaxPool): more than its first output")


def training_is_refused(place):
    made = model([node("Dropout", ["x", "", "t"], ["y"], "d")], [tensor("x", [2])],
                 [tensor("y", [2])], {"t": np.array(True)})  # fmt: skip
    place.refuses(made, "node 'd' (Dropout): training_mode is not false")


def illegal_names_are_changed_in_the_same_way_each_time(place):
    long = "n" * 300
    nodes = [
        node("Relu", ["x\n"], [long], "a"),
        node("Relu", [long], [long + "m"], "b"),
        node("DynamicQuantizeLinear", [long + "m"], ["q", "q.zero", "q.codes"], "c"),
        node("Relu", [long], ["q.scale"], "d"),
        node("Relu", ["q.zero"], ["y\t"], "e"),
    ]
    outputs = [tensor("y\t", []), tensor("q.scale", [2]), tensor("q.codes", [], TensorProto.UINT8)]
    made = model(nodes, [tensor("x\n", [2])], outputs)
    first, results = place.takes(made)
    assert place.takes(made)[0] == first
    assert first["inputs"][0]["name"] == "x_"
    names = [entry["name"] for entry in first["nodes"]]
    assert len(set(names)) == 5 and all(0 < len(name) <= 255 for name in names)
    assert "q" not in names and "q.scale" in names  # q.scale would clash with the port of q
    assert [entry["name"] for entry in first["outputs"]][1:] == ["q.scale", "q.codes"]
    assert results[1]["dtype"] == "float32" and results[2]["dtype"] == "uint8"


def large_constants_go_to_the_file_beside_the_graph(place):
    values = np.linspace(-1, 1, 5000, dtype=np.float32)
    made = model([node("Add", ["x", "big"], ["s"]), node("Mul", ["s", "small"], ["y"])],
                 [tensor("x", [5000])], [tensor("y", [5000])],
                 {"big": values, "small": np.float32([0.5]), "unused": values})  # fmt: skip
    graph, _ = place.takes(made)
    big, small = graph["constants"]
    assert big["file"] == "out.safetensors" and "data" not in big and small["data"] == [0.5]
    assert place.out.with_suffix(".safetensors").stat().st_size < 2 * values.nbytes


def what_computes_on_constants_alone_is_done_at_once(place):
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Slice", ["shape", "one", "two"], ["last"]),
        node("Cast", ["last"], ["f"], to=TensorProto.DOUBLE),
        node("Sqrt", ["f"], ["root"]),
        node("Cast", ["root"], ["divisor"], to=FLOAT),
        node("Div", ["x", "divisor"], ["y"]),
    ]
    known = {"one": np.array([1], np.int64), "two": np.array([2], np.int64)}
    graph, _ = place.takes(model(nodes, [tensor("x", [2, 16])], [tensor("y", [2, 16])], known))
    assert [entry["op"] for entry in graph["nodes"]] == ["Divide"]
    assert graph["constants"][0]["data"] == [4]


def weights_stay_quantized(place):
    known = {"w": np.int8([[1, -2], [3, 4]]), "s": np.float32(0.5), "z": np.int8(1)}
    nodes = [node("Transpose", ["w"], ["wt"]), node("DequantizeLinear", ["wt", "s", "z"], ["d"]),
             node("Add", ["x", "d"], ["y"])]  # fmt: skip
    graph, _ = place.takes(model(nodes, [tensor("x", [2, 2])], [tensor("y", [2, 2])], known))
    assert [entry["op"] for entry in graph["nodes"]] == ["Dequantize", "Add"]
    assert graph["constants"][0] == {"name": "wt", "dtype": "int8", "shape": [2, 2],
                                     "data": [1, 3, -2, 4]}  # fmt: skip


def what_microsoft_calls_quantize_is_quantize(place):
    known = {"s": np.float32(0.5), "z": np.uint16(7)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], domain="com.microsoft"),
             node("DequantizeLinear", ["q", "s", "z"], ["y"], domain="com.microsoft")]  # fmt: skip
    made = model(nodes, [tensor("x", [3])], [tensor("y", [3])], known, opset=13)
    graph, _ = place.takes(made)
    assert [entry["attrs"]["dtype"] for entry in graph["nodes"]] == ["uint16", "float32"]


def functions_of_the_model_are_opened(place):
    opsets = [helper.make_opsetid("", 21)]
    body = [node("Relu", ["a"], ["t"]), node("Abs", ["t"], ["b"])]
    function = helper.make_function("own", "Both", ["a"], ["b"], body, opsets)
    made = model([node("Both", ["x"], ["y"], domain="own")], [tensor("x", [2])],
                 [tensor("y", [2])], functions=[function])  # fmt: skip
    graph, _ = place.takes(made)
    assert [entry["op"] for entry in graph["nodes"]] == ["ReLU", "Abs"]


def an_output_may_be_an_input_or_a_constant(place):
    nodes = [node("Identity", ["x"], ["y"]), node("Identity", ["c"], ["z"])]
    made = model(nodes, [tensor("x", [2])], [tensor("y", [2]), tensor("z", [2])],
                 {"c": np.float32([1, 2])})  # fmt: skip
    graph, outputs = place.takes(made)
    assert graph["outputs"][0] == {"name": "y", "value": "x"}
    assert outputs[1]["first"] == [1, 2]


def a_zero_point_of_int32_must_be_zero(place):
    made = model([node("DequantizeLinear", ["x", "s", "z"], ["y"], "d")],
                 [tensor("x", [2], TensorProto.INT32)], [tensor("y", [2])],
                 {"s": np.float32(0.5), "z": np.int32(3)})  # fmt: skip
    place.refuses(made, "node 'd' (DequantizeLinear): the zero point of int32 is not a constant 0")


TESTS = [
    all_refusals_are_told_at_once,
    a_dynamic_dim_names_the_input_the_dim_and_the_option,
    an_input_shape_must_suit_the_model,
    an_input_of_a_dtype_that_qdq_lacks_is_refused,
    opsets_outside_of_13_to_25_are_refused,
    outputs_beyond_the_first_are_refused_where_they_are_used,
    training_is_refused,
    illegal_names_are_changed_in_the_same_way_each_time,
    large_constants_go_to_the_file_beside_the_graph,
    what_computes_on_constants_alone_is_done_at_once,
    weights_stay_quantized,
    what_microsoft_calls_quantize_is_quantize,
    functions_of_the_model_are_opened,
    an_output_may_be_an_input_or_a_constant,
    a_zero_point_of_int32_must_be_zero,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--qdq", type=Path, required=True)
    options = parser.parse_args()
    failed = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Place(options.qdq, Path(folder)))
                print(f"ok {test.__name__}", flush=True)
            except AssertionError as why:
                failed += 1
                print(f"FAIL {test.__name__}: {why}", flush=True)
    print(f"{len(TESTS) - failed} of {len(TESTS)} hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
