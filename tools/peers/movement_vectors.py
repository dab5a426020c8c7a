#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tests/ops/movement/movement_vectors.h: nodes of ONNX's movement ops, and the results that
ONNX's reference evaluator gives.

    movement_vectors.py > tests/ops/movement/movement_vectors.h

needs onnx and numpy."""

import json

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

OPSET = 24
PORTS = {"Pad": ["x", "value"], "Gather": ["x", "indices"], "GatherElements": ["x", "indices"],
         "GatherND": ["x", "indices"], "ScatterElements": ["x", "indices", "updates"],
         "ScatterND": ["x", "indices", "updates"], "OneHot": ["indices", "values"]}
# The inputs of ONNX that are attributes here, with their places.
AS_INPUTS = {"Slice": {"starts": 1, "ends": 2, "axes": 3, "steps": 4}, "Pad": {"pads": 1, "axes": 3},
             "Expand": {"shape": 1}, "Tile": {"repeats": 1}, "Trilu": {"k": 1}, "CumSum": {"axis": 1},
             "OneHot": {"depth": 1}}
PLACES = {"Pad": [0, 2], "OneHot": [0, 2]}  # of ports among ONNX's inputs, if not 0, 1, 2


def run_onnx(op, arrays, attrs):
    """The result of one ONNX node."""
    names, feeds, own = [""] * 5, {}, dict(attrs)
    places = PLACES.get(op, range(len(arrays)))
    for place, array in zip(places, arrays):
        names[place] = f"i{place}"
        feeds[names[place]] = array
    for attr, place in AS_INPUTS.get(op, {}).items():
        if attr in own:
            names[place] = f"i{place}"
            feeds[names[place]] = np.array(own.pop(attr), np.int64)
    while not names[-1]:
        names.pop()
    own = {key: int(value) if isinstance(value, bool) else value for key, value in own.items()}
    node = helper.make_node(op, names, ["y"], **own)
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                           array.shape) for name, array in feeds.items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = helper.make_model(helper.make_graph([node], "g", infos, [y]),
                              opset_imports=[helper.make_opsetid("", OPSET)])
    return ReferenceEvaluator(model).run(None, feeds)[0]


def graph_of(op, arrays, attrs):
    ports = PORTS.get(op, ["x"])[:len(arrays)]
    return {"format": "qdq/1",
            "inputs": [{"name": port, "dtype": str(array.dtype), "shape": list(array.shape)}
                       for port, array in zip(ports, arrays)],
            "nodes": [{"op": op, "name": "n", "inputs": {port: port for port in ports},
                       "attrs": attrs}],
            "outputs": [{"name": "y", "value": "n"}]}


def numbers(array):
    return "{" + ", ".join(str(v) for v in array.reshape(-1).tolist()) + "}"


def row(op, arrays, attrs):
    arrays = [np.asarray(array) for array in arrays]
    want = run_onnx(op, arrays, attrs)
    graph = json.dumps(graph_of(op, arrays, attrs)).replace('"', "'")
    inputs = ", ".join(numbers(array.astype(np.float64)) for array in arrays)
    return (f'{{"{graph}", {{{inputs}}}, '
            f"{numbers(want.astype(np.float64))}, {want.size}, QDQ_{str(want.dtype).upper()}}},")


def counting(*shape, dtype=np.float32):
    return np.arange(np.prod(shape)).astype(dtype).reshape(shape)


def int32(*values):
    return np.array(values, np.int32)


def int64(*values):
    return np.array(values, np.int64)


def slices():
    yield "Slice", [counting(3, 4)], {"starts": [2, -3], "ends": [0, 2**63 - 1], "axes": [0, 1],
                                      "steps": [-1, 1]}
    yield "Slice", [counting(3, 4)], {"starts": [-1, 0], "ends": [-2**63, 9], "steps": [-2, 3]}
    yield "Slice", [counting(5, dtype=np.int8)], {"starts": [-2], "ends": [-100], "steps": [-2]}
    yield "Slice", [counting(2, 3, 5)], {"starts": [1], "ends": [-1], "axes": [-1]}
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield "Pad", [counting(2, 3)], {"pads": [1, 2, 0, 1], "mode": mode}
    yield "Pad", [counting(2, 3), np.float32(-7)], {"pads": [0, 2, 1, 1]}
    yield "Pad", [counting(2, 4, dtype=np.int32)], {"pads": [3, 2], "axes": [-1], "mode": "reflect"}
    yield "Expand", [counting(3, 1)], {"shape": [2, 1, 2]}
    yield "Expand", [counting(2, 3)], {"shape": [1]}
    yield "Tile", [counting(2, 3)], {"repeats": [2, 2]}
    yield "Tile", [counting(2, 1, 2, dtype=np.int16)], {"repeats": [1, 3, 2]}


def gathers():
    yield "Gather", [counting(3, 4), int32([0, -1], [2, 1])], {}
    yield "Gather", [counting(3, 4), int64(3, -4, 0)], {"axis": 1}
    yield "Gather", [counting(2, 3, 2), np.array(-1, np.int64)], {"axis": -2}
    yield "GatherElements", [counting(3, 3), int32([0, 2, -1], [1, 1, 0])], {"axis": 0}
    yield "GatherElements", [counting(2, 3), int64([0, 2, 1, -3], [2, 1, 0, 0])], {"axis": 1}
    yield "GatherND", [counting(2, 2, 3), int64([0, 1], [1, 0], [-1, -1])], {}
    yield "GatherND", [counting(2, 2, 3), int32([[1]], [[0]])], {"batch_dims": 1}
    yield "GatherND", [counting(2, 2, 3), int32([0, 1, 2], [1, 1, -3])], {}


def scatters():
    x, indices, updates = counting(3, 3), int32([1, 0, 2], [0, 2, 1]), -counting(2, 3) - 1
    for axis in (0, 1):
        yield "ScatterElements", [x, indices, updates], {"axis": axis}
    twice = int64([1, 1, -2], [1, 0, 2])
    for reduction in ("add", "mul", "max", "min"):
        yield "ScatterElements", [x, twice, updates + 4], {"axis": 1, "reduction": reduction}
        yield "ScatterND", [x, int64([0], [2], [0]), counting(3, 3) - 5], {"reduction": reduction}
    yield "ScatterElements", [counting(5, dtype=np.int8) + np.int8(120), int32(4, 4),
                              np.array([9, 9], np.int8)], {"reduction": "add"}
    yield "ScatterND", [counting(2, 3, 2), int32([0, -1], [1, 0]), -counting(2, 2) - 1], {}
    yield "ScatterND", [counting(4), int64([3], [-4]), np.float32([-1, -2])], {}


def blocks():
    for mode in ("DCR", "CRD"):
        yield "DepthToSpace", [counting(1, 8, 2, 3)], {"blocksize": 2, "mode": mode}
    yield "SpaceToDepth", [counting(2, 1, 4, 6)], {"blocksize": 2}
    for upper in (True, False):
        for k in (-1, 0, 2):
            yield "Trilu", [counting(2, 3, 4) + 1], {"upper": upper, "k": k}
    for exclusive in (False, True):
        for reverse in (False, True):
            yield "CumSum", [counting(2, 3) + 1], {"axis": 1, "exclusive": exclusive,
                                                   "reverse": reverse}
    yield "CumSum", [counting(2, 2, 2, dtype=np.int32)], {"axis": -3}
    yield "OneHot", [int64([1, -1], [0, 7]), np.float32([2, 5])], {"depth": 3}
    yield "OneHot", [int32(2, -4, 0), np.array([0, 1], np.int8)], {"depth": 3, "axis": 0}
    for k in (-1, 0, 2):
        yield "EyeLike", [counting(3, 4, dtype=np.int32)], {"k": k}


if __name__ == "__main__":
    print("// SPDX-License-Identifier: Apache-2.0\n"
          "// Nodes of ONNX's movement ops with the results of ONNX's reference evaluator, printed by\n"
          "// tools/peers/movement_vectors.py. Rows of test_movement_vectors.c.\n"
          "// clang-format off")
    for family in (slices, gathers, scatters, blocks):
        for made in family():
            print(row(*made))
