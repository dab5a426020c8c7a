# SPDX-License-Identifier: Apache-2.0
"""The operands and wanted result of a product of bench_product_cases.py, and its graph."""

import json

import numpy as np

A_SCALE, A_ZERO = 1 / 64, 121
# The dtypes of a and y, and of b. 16-bit floats are held as their codes.
TYPES = {"int8": ("uint8", "int8"), "bfloat16": ("bfloat16", "bfloat16"),
         "float32": ("float32", "float32")}
HELD = {"uint8": "uint8", "int8": "int8", "bfloat16": "uint16", "float32": "float32"}


# ---- Data: the same for every peer ----


class Data:
    """b_scales, bias and y_scale exist for int8 only."""

    def __init__(self, case):
        rng = np.random.default_rng(11)
        a, b = (case.rows, case.depth), (case.depth, case.columns)
        self.b_scales = self.bias = None
        if case.dtype != "int8":
            self.a, self.b = (floats(rng, shape, case.dtype) for shape in (a, b))
            return
        self.a = rng.integers(0, 256, a, "uint8")
        self.b = rng.integers(-127, 128, b, "int8")
        # Few bits, so that float32 holds the products of scales and the bias exactly. The bias is a
        # multiple of these products, as some peers hold it as an integer.
        self.b_scales = (rng.integers(32, 64, case.columns) / 8192).astype("float32")
        units = A_SCALE * self.b_scales.astype("float64")
        self.bias = (rng.integers(-100000, 100000, case.columns) * units).astype("float32")
        # the approximate magnitude of a sum
        spread = 74 * 73 * case.depth ** 0.5 * A_SCALE * 48 / 8192
        self.y_scale = float(np.float32(3 * spread / 255))


def floats(rng, shape, dtype):
    values = rng.standard_normal(shape).astype("float32")
    return values if dtype == "float32" else (values.view("uint32") >> 16).astype("uint16")


def widened(values, dtype):
    """As float64."""
    if dtype == "bfloat16":
        values = (values.astype("uint32") << 16).view("float32")
    return values.astype("float64")


def exact(case, data):
    """The result in float64: integer sums are exact, and one Quantize rounds."""
    types = TYPES[case.dtype]
    a, b = widened(data.a, types[0]), widened(data.b, types[1])
    if case.dtype != "int8":
        return a @ b
    y = ((a - A_ZERO) @ b) * (A_SCALE * data.b_scales.astype("float64")) + data.bias
    return np.clip(np.rint(np.maximum(y, 0) / data.y_scale), 0, 255)


# ---- The graph of qdq ----


def graph(case, data, file):
    """The graph as JSON; `file` is a .safetensors file of its constants."""
    a, b = TYPES[case.dtype]
    constants = {"b": (b, [case.depth, case.columns])}
    nodes, y = [{"op": "MatMul", "name": "product", "inputs": {"a": "a", "b": "b"}}], "product"
    if case.dtype == "int8":
        constants["bias"] = ("float32", [case.columns])
        nodes, y = coded_nodes(data), "y.codes"
    listed = [{"name": name, "dtype": dtype, "shape": dims, "file": file, "tensor": name}
              for name, (dtype, dims) in constants.items()]
    return {"format": "qdq/1",
            "inputs": [{"name": "a", "dtype": a, "shape": [case.rows, case.depth]}],
            "constants": listed, "nodes": nodes, "outputs": [{"name": "y", "value": y}]}


def coded_nodes(data):
    per_channel = {"qtype": "per_channel", "axis": 1, "scales": data.b_scales.tolist(),
                   "dtype": "float32"}
    return [
        {"op": "Dequantize", "name": "a.real", "inputs": {"x": "a"},
         "attrs": {"scales": A_SCALE, "zps": A_ZERO, "dtype": "float32"}},
        {"op": "Dequantize", "name": "b.real", "inputs": {"x": "b"}, "attrs": per_channel},
        {"op": "MatMul", "name": "product",
         "inputs": {"a": "a.real", "b": "b.real", "bias": "bias"}},
        {"op": "ReLU", "name": "relu", "inputs": {"x": "product"}},
        {"op": "Quantize", "name": "y.codes", "inputs": {"x": "relu"},
         "attrs": {"scales": data.y_scale, "zps": 0, "dtype": "uint8"}},
    ]


def write_constants(path, data):
    """Writes b, and bias if there is one, as .safetensors."""
    kinds = {"int8": "I8", "uint16": "BF16", "float32": "F32"}
    header, at, arrays = {}, 0, [("b", data.b)]
    if data.bias is not None:
        arrays.append(("bias", data.bias))
    for name, array in arrays:
        header[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text
                     + b"".join(array.tobytes() for _, array in arrays))
