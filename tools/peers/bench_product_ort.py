# SPDX-License-Identifier: Apache-2.0
"""The products of bench_product_cases.py as ONNX models."""

import numpy as np
import onnx
from bench_ort import TYPES
from bench_product_data import A_SCALE, A_ZERO
from bench_product_data import TYPES as DTYPES
from onnx import helper, numpy_helper


def coded_nodes(data, constant):
    """The nodes that quantizers write; with a zero point of 0, QuantizeLinear includes the ReLU."""
    constant("a_scale", np.float32(A_SCALE))
    constant("a_zero", np.uint8(A_ZERO))
    constant("b_scales", data.b_scales)
    constant("b_zeros", np.zeros(len(data.b_scales), "int8"))
    constant("bias", data.bias)
    constant("y_scale", np.float32(data.y_scale))
    constant("y_zero", np.uint8(0))
    return [
        helper.make_node("DequantizeLinear", ["a", "a_scale", "a_zero"], ["a_real"]),
        helper.make_node("DequantizeLinear", ["b", "b_scales", "b_zeros"], ["b_real"], axis=1),
        helper.make_node("MatMul", ["a_real", "b_real"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["relu"]),
        helper.make_node("QuantizeLinear", ["relu", "y_scale", "y_zero"], ["y"]),
    ]


def model_of(case, data):
    constants = []

    def constant(name, values):
        constants.append(numpy_helper.from_array(np.asarray(values), name))
    constant("b", data.b)
    nodes = [helper.make_node("MatMul", ["a", "b"], ["y"])]
    if case.dtype == "int8":
        nodes = coded_nodes(data, constant)
    kind = TYPES[DTYPES[case.dtype][0]]
    faces = [[helper.make_tensor_value_info(name, kind, shape)]
             for name, shape in (("a", [case.rows, case.depth]), ("y", [case.rows, case.columns]))]
    made = helper.make_model(helper.make_graph(nodes, "product", *faces, constants),
                             opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(made)
    return made.SerializeToString()
