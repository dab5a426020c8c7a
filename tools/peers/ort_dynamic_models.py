# SPDX-License-Identifier: Apache-2.0
"""Small models for ort_examples.py whose codes are quantized while the graph runs: which groups ONNX Runtime makes of
MatMulInteger, and what it computes where scales are neither one nor of the columns."""

import numpy as np
from onnx import TensorProto
from ort_build import F32, S8
from ort_example_models import builder

K, N = 33, 5


def dynamic(scale=(), bias=None, swapped=False, constant_bias=True, shape=(3, K), extra=None):
    """MatMulInteger of codes, and Cast, Mul and Add behind it. Biases are near ties of one and two roundings."""
    b = builder()
    rng = np.random.default_rng(5)
    x = b.float_input(shape)
    codes, step, zero = b.node("DynamicQuantizeLinear", [x], 3)
    w = b.const(rng.integers(-60, 60, (K, N)).astype(S8), "w")
    s = b.const(rng.uniform(0.01, 0.02, scale).astype(F32), "s")
    product = b.node("MatMulInteger", [codes, w, zero, b.const(np.int8(3), "z")])
    if extra == "product":
        b.output(product, (*shape[:-1], N), np.int32)
    real = b.node("Cast", [product], to=TensorProto.FLOAT)
    both = b.node("Mul", [s, step] if swapped else [step, s])
    if extra == "scale":
        b.output(b.node("Neg", [step]), (), F32)
    y = b.node("Mul", [both, real] if swapped else [real, both])
    if bias is not None:
        values = rng.normal(0, 1, bias).astype(F32)
        if constant_bias:
            added = b.const(values, "b")
        else:
            added = b.name("x")
            b.inputs[added] = values
        y = b.node("Add", [added, y] if swapped else [y, added])
    b.output(y, (*shape[:-1], N), F32)
    return b


EXAMPLES = {
    "dynamic": dynamic,
    "dynamic_bias": lambda: dynamic(bias=(N,)),
    "dynamic_bias_of_two_dims": lambda: dynamic(bias=(1, N)),
    "dynamic_bias_of_one": lambda: dynamic(bias=(1,)),
    "dynamic_bias_of_rows": lambda: dynamic(bias=(3, N)),
    "dynamic_bias_input": lambda: dynamic(bias=(N,), constant_bias=False),
    "dynamic_columns": lambda: dynamic((N,), (N,)),
    "dynamic_columns_of_two_dims": lambda: dynamic((1, N), (N,)),
    "dynamic_columns_swapped": lambda: dynamic((N,), (N,), swapped=True),
    "dynamic_cube": lambda: dynamic((N,), (N,), shape=(2, 3, K)),
    "dynamic_product_is_read": lambda: dynamic(bias=(N,), extra="product"),
    "dynamic_scale_is_read": lambda: dynamic(bias=(N,), extra="scale"),
    "dynamic_rows": lambda: dynamic((3, 1)),
    "dynamic_rows_and_bias": lambda: dynamic((3, 1), (N,)),
    "dynamic_rows_swapped": lambda: dynamic((3, 1), (N,), swapped=True),
    "dynamic_one_of_two_dims": lambda: dynamic((1, 1), (N,)),
    "dynamic_elements": lambda: dynamic((3, N), (N,)),
}
