# SPDX-License-Identifier: Apache-2.0
"""Products of integers, with the results of ONNX Runtime's kernels for a CPU with VNNI and for one without.

    qemu-x86_64 -cpu Haswell python3 product_models.py

records the latter in products_of_codes.without_vnni.safetensors: ONNX Runtime chooses its kernels for AVX2 there.
"""

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h

from making import FOLDER, N, constant, expected, info, keep, model, save_tensors

OWN = np.random.default_rng(23)


def codes(dtype, *shape):
    """Codes of which many are at the ends of the range."""
    least = np.iinfo(dtype).min
    some = OWN.integers(least, least + 256, shape)
    kind = OWN.random(shape)
    return np.where(kind < 0.3, least, np.where(kind < 0.6, least + 255, some)).astype(dtype)


def scales(*shape):
    return ((OWN.random(shape) + 0.5) * 0.01).astype(np.float32)


def products():
    """(op, domain, inputs, attributes): the first input is given at run time, all others are constants."""
    u, s, one = np.uint8, np.int8, np.float32
    bias = OWN.integers(-20000, 20000, (7, 19), np.int32)
    a, b, zero = codes(u, 7, 131), codes(s, 131, 19), u(117)
    y = [one(0.13), u(100)]
    cases = [
        ("QGemm", [a, one(0.02), zero, b, scales(19), codes(s, 19), bias[0], *y], {}),
        ("QGemm", [a, one(0.02), zero, codes(s, 19, 131), one(0.01), s(3), bias, *y], {"transB": 1, "alpha": 0.3}),
        ("QGemm", [codes(u, 131, 7), one(0.02), zero, b, scales(19), codes(s, 19), bias[:, :1]], {"transA": 1, "alpha": 0.5}),
        ("QGemm", [codes(s, 7, 131), one(0.02), s(5), b, scales(19), codes(s, 19), None, one(0.13), s(-9)], {}),
        ("QGemm", [a, one(0.02), zero, codes(u, 131, 19), one(0.01), u(130)], {}),
        ("MatMulIntegerToFloat", [a, b, one(0.02), scales(19), zero, codes(s, 19), OWN.standard_normal(19).astype(np.float32)], {}),
        ("MatMulIntegerToFloat", [codes(u, 2, 3, 131), b, one(0.02), one(0.01)], {}),
        ("MatMulIntegerToFloat", [codes(s, 1, 131), b, one(0.02), scales(19), s(4)], {}),
        ("DynamicQuantizeMatMul", [OWN.standard_normal((7, 131)).astype(np.float32), b, scales(19), codes(s, 19), scales(19)], {}),
        ("DynamicQuantizeMatMul", [OWN.standard_normal((1, 131)).astype(np.float32), b, one(0.01)], {}),
        ("MatMulInteger", [a, b, zero, s(-7)], {}), ("MatMulInteger", [codes(s, 7, 131), codes(u, 131, 19), s(4), u(9)], {}),
        ("QLinearMatMul", [a, one(0.02), zero, b, scales(19), codes(s, 19), *y], {}),
    ]  # fmt: skip
    window = {"pads": [1, 0, 1, 2], "strides": [1, 2], "dilations": [2, 1]}
    for channels, group, outputs, attrs in ((5, 1, 9, window), (6, 2, 8, {}), (6, 6, 6, window), (3, 3, 6, {}), (37, 1, 10, {})):
        x, w = codes(u, 2, channels, 9, 8), codes(s, outputs, channels // group, 3, 2)
        attrs = {**attrs, "group": group}
        cases += [
            ("QLinearConv", [x, one(0.02), zero, w, scales(outputs), np.zeros(outputs, s), *y, bias[0, :outputs]], attrs),
            ("ConvInteger", [x, w, zero, s(0)], attrs), ("ConvInteger", [codes(s, *x.shape), codes(u, *w.shape), s(8), u(20)], attrs),
        ]  # fmt: skip
    return cases


def made():
    nodes, known, inputs, feeds, outputs = [], [], [], {}, []
    for i, (op, arrays, attrs) in enumerate(products()):
        names = ["" if array is None else f"{op}{i}_{k}" for k, array in enumerate(arrays)]
        for k, array in enumerate(arrays):
            if k == 0:
                feeds[names[0]] = array
                inputs.append(info(names[0], array.shape, h.np_dtype_to_tensor_dtype(array.dtype)))
            elif array is not None:
                known.append(constant(names[k], array))
        own = op in ("MatMulInteger", "QLinearMatMul", "ConvInteger", "QLinearConv")
        nodes.append(N(op, names, [f"y{i}"], domain="" if own else "com.microsoft", **attrs))
        quantized = len(arrays) > 8 or op == "QLinearMatMul"
        elem = arrays[0].dtype if quantized else np.dtype("int32" if op.endswith("Integer") else "float32")
        outputs.append(info(f"y{i}", None, h.np_dtype_to_tensor_dtype(elem)))
    return model(nodes, inputs, outputs, known), feeds


def products_of_codes():
    """On this CPU, which has VNNI."""
    keep("products_of_codes", *made())


if __name__ == "__main__":
    save_tensors(FOLDER / "products_of_codes.without_vnni.safetensors", expected(*made(), False))
