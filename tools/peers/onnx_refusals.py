# SPDX-License-Identifier: Apache-2.0
"""Tests what qdq refuses, renames and writes when it converts small models to graph files.

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
    """A folder in which qdq runs."""

    def __init__(self, qdq, folder):
        self.qdq, self.folder, self.out = qdq, folder, folder / "out.json"

    def convert(self, made, *more):
        onnx.save(made, self.folder / "in.onnx")
        command = [self.qdq, "convert", self.folder / "in.onnx", "-o", self.out, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def refuses(self, made, *words, more=(), exits=4):
        code, said = self.convert(made, *more)
        assert code == exits, (code, said)
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
        node("Det", ["x"], ["a"], "first"),
        node("Relu", ["a"], ["b"], "fine"),
        node("Foo", ["b"], ["c"], "second", domain="own"),
        node("StringNormalizer", ["c"], ["d"], "third"),
        node("Bernoulli", ["b"], ["e"]),
    ]
    made = model(nodes, [tensor("x", [3, 3])], [tensor("d", None), tensor("e", [3, 3])])
    place.refuses(made, "node 'a': Det: is not read", "it is 'first' in the model", "node 'c': Foo of own",
                  "node 'd': StringNormalizer", "node 'e': Bernoulli")  # fmt: skip


def a_dynamic_dim_names_the_input_the_dim_and_the_option(place):
    made = relu_model(["N", 3])
    place.refuses(made, "'x' is [N, 3]", "--shape INPUT=N,N,...", exits=2)
    for more in (["--shape", "x=4,3"], ["--dim", "N=4"]):
        graph, outputs = place.takes(made, *more)
        assert graph["inputs"][0]["shape"] == [4, 3] and outputs[0]["shape"] == [4, 3]


def an_input_shape_must_suit_the_model(place):
    made = relu_model(["N", 3])
    place.refuses(made, "dim 1 is 3 in the model, and 4 in the given shape", more=("--shape", "x=4,4"), exits=2)
    place.refuses(made, "has 2 dims, and the given shape 1", more=("--shape", "x=4"), exits=2)
    place.refuses(made, "'z', which is no input of the model", more=("--shape", "z=4,3"), exits=2)
    assert place.convert(made, "--shape", "x=4,0")[0] == 2


def an_input_of_a_dtype_that_qdq_lacks_is_refused(place):
    made = model([node("Cast", ["x"], ["y"], to=FLOAT)], [tensor("x", [2], TensorProto.COMPLEX64)],
                 [tensor("y", [2])])  # fmt: skip
    place.refuses(made, "input 'x': is complex64")
    made = model([node("Cast", ["x"], ["y"], "c", to=TensorProto.COMPLEX128)], [tensor("x", [2])],
                 [tensor("y", [2], TensorProto.COMPLEX128)])  # fmt: skip
    place.refuses(made, "node 'y': Cast: to is complex128")


def opsets_outside_of_7_to_27_are_refused(place):
    place.refuses(relu_model([2], opset=6), "the model has opset 6, wanted 7 to 27")
    place.refuses(relu_model([2], opset=28), "the model has opset 28, wanted 7 to 27")
    for opset in (7, 13, 25, 27):
        place.takes(relu_model([2], opset=opset))


def outputs_beyond_the_first_are_refused_where_they_are_used(place):
    pool = node("MaxPool", ["x"], ["y", "at"], "p", kernel_shape=[2, 2])
    x, y, at = tensor("x", [1, 1, 4, 4]), tensor("y", None), tensor("at", None, TensorProto.INT64)
    place.refuses(model([pool], [x], [y, at]), "node 'at': output: is a value that is output 1 of MaxPool and is not computed")
    place.takes(model([pool], [x], [y]))


def training_is_refused(place):
    made = model([node("Dropout", ["x", "", "t"], ["y"], "d")], [tensor("x", [2])],
                 [tensor("y", [2])], {"t": np.array(True)})  # fmt: skip
    place.refuses(made, "node 'y': Dropout: training_mode is not false")


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
    assert "q.scale" in names  # and names that node, not the port of q
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
    assert [entry["op"] for entry in graph["nodes"]][-2:] == ["Dequantize", "Add"]
    assert [entry["dtype"] for entry in graph["constants"] if entry["shape"] == [2, 2]] == ["int8"]


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


def a_zero_point_of_int32_is_subtracted(place):
    made = model([node("DequantizeLinear", ["x", "s", "z"], ["y"], "d")],
                 [tensor("x", [2], TensorProto.INT32)], [tensor("y", [2])],
                 {"s": np.float32(0.5), "z": np.int32(3)})  # fmt: skip
    graph, _ = place.takes(made)
    assert graph["nodes"][0]["inputs"]["zero_point"] == "z"


TESTS = [
    all_refusals_are_told_at_once,
    a_dynamic_dim_names_the_input_the_dim_and_the_option,
    an_input_shape_must_suit_the_model,
    an_input_of_a_dtype_that_qdq_lacks_is_refused,
    opsets_outside_of_7_to_27_are_refused,
    outputs_beyond_the_first_are_refused_where_they_are_used,
    training_is_refused,
    illegal_names_are_changed_in_the_same_way_each_time,
    large_constants_go_to_the_file_beside_the_graph,
    what_computes_on_constants_alone_is_done_at_once,
    weights_stay_quantized,
    what_microsoft_calls_quantize_is_quantize,
    functions_of_the_model_are_opened,
    an_output_may_be_an_input_or_a_constant,
    a_zero_point_of_int32_is_subtracted,
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
