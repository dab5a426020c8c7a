# SPDX-License-Identifier: Apache-2.0
"""Models of one elementwise node for renew.py, on the elements of element_numbers.py."""

import numpy as np
from element_numbers import pairs, patterns
from onnx import helper

UNARY = ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish IsInf IsNaN "
         "LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh "
         "ThresholdedRelu Celu Identity").split()  # fmt: skip
BINARY = "Add Sub Mul Div Max Min Pow PRelu Equal Greater Less GreaterOrEqual LessOrEqual Mod".split()


def model(op, feeds, y, attrs=None):
    node = helper.make_node(op, list(feeds), ["y"], name="the node", **(attrs or {}))
    element = helper.np_dtype_to_tensor_dtype
    inputs = [helper.make_tensor_value_info(k, element(a.dtype), a.shape) for k, a in feeds.items()]
    result = helper.make_tensor_value_info("y", element(np.dtype(y)), None)
    graph = helper.make_graph([node], "elements", inputs, [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def models(seed):
    """Names, models and inputs."""
    compares = {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "IsInf", "IsNaN", "Not"}
    for op in UNARY:
        dtypes = ["bool"] if op == "Not" else ["float16", "float32", "float64", "int32", "int8"]
        for dtype in dtypes:
            feeds = {"x": patterns(np.random.default_rng([seed, 1]), dtype)}
            yield f"{op} of elements", model(op, feeds, "bool" if op in compares else dtype), feeds
    for op in BINARY:
        for dtype in ("float16", "float32", "float64", "int32", "int64", "uint8"):
            a, b = pairs(seed, dtype)
            if dtype.startswith(("int", "uint")) and op in ("Div", "Mod"):
                b = np.where((b == 0) | (b == -1 if dtype[0] == "i" else False), 3, b).astype(dtype)
            attrs = {"fmod": 1} if op == "Mod" and dtype.startswith("float") else {}
            feeds = {"a": a, "b": b}
            yield f"{op} of elements", model(op, feeds, "bool" if op in compares else dtype, attrs), feeds
