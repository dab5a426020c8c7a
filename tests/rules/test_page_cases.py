#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules against the documents and the code of oneDNN, ttnn, torchao and ONNX: a case is a graph and
the rules of one target that it breaks, in order.

    test_page_cases.py QDQ_BINARY
"""

from cases import given, graph_of, main, one, ones, run

F32, BF16, F16, I8 = "float32", "bfloat16", "float16", "int8"
CHANNELS = {"qtype": "per_channel", "axis": 1, "dtype": I8}


def dynamic(scale, zero_point=None, **attrs):
    """A DynamicQuantize of 3 channels with ports of these shapes."""
    ports = {"scale": given(F32, scale)}
    if zero_point is not None:
        ports["zero_point"] = ones("int32", zero_point, 0)
    return one("DynamicQuantize", given(F32, [2, 3]), {**CHANNELS, **attrs}, **ports)


def tensor(scale, zero_point=None):
    return dynamic(scale, zero_point, qtype="per_tensor", axis=1)


def without_dtype(op, x, **ports):
    attrs = {} if "scale" in ports else {"scales": 0.5}
    return one(op, x, {**attrs, "zps": 0} if "zero_point" not in ports else attrs, **ports)


FLOATS, CODES = given(F32, [2, 4]), given(I8, [2, 4])

# op_def_constraint.cpp compares the first dims; the pages say "1D f32 tensor".
ONEDNN = [
    ("the shape of the pages", dynamic([3], [3]), []),
    ("a scale of one element", tensor([1], [1]), []),
    ("channels as columns", dynamic([3, 1]), ["one-dim-parameters"]),
    ("channels as a row", dynamic([1, 3]), ["one-dim-parameters"]),
    ("both as columns", dynamic([3, 1], [3, 1]), ["one-dim-parameters"]),
    ("a column and a list", dynamic([3, 1], [3]), ["one-dim-parameters"]),
    ("a list and a row: 1 is always fine", dynamic([3], [1, 3]), ["one-dim-parameters"]),
    ("a row and a list", dynamic([1, 3], [3]), ["first-dims", "one-dim-parameters"]),
    ("a list and one zero point", dynamic([3], [1]), ["channel-zero-point-count"]),
    ("a scalar scale", tensor([]), ["dynamic-scale-rank"]),
    ("a scalar zero point", tensor([1], []), ["dynamic-scale-rank"]),
    ("a matrix for one scale", tensor([1, 1]), ["one-dim-parameters"]),
    *((f"DynamicQuantize makes {dtype} in main, whatever its scale comes from",
       one("DynamicQuantize", given(F32, [2, 3]), {"dtype": dtype, "saturate": False, **scale},
           **ports), [*more, "float8-overflows"])
      for dtype in ("float8_e4m3fn", "float8_e5m2")
      for scale, ports, more in (({"scales": 0.5}, {}, ["dynamic-ports"]),
                                 ({}, {"scale": given(F32, [1])}, []))),
    ("Quantize makes it", one("Quantize", given(F32, [2, 3]), {"dtype": "float8_e5m2", "scales": 1}),
     ["float8-overflows"]),
    *((f"axis {axis}", one("Quantize", given(F32, [2, 3, 4]),
                           {**CHANNELS, "axis": axis, "scales": [1, 2, 0.5, 4][:count]}), rules)
      for axis, count, rules in ((-1, 4, ["negative-axis"]), (-2, 3, ["negative-axis"]),
                                 (1, 3, []), (2, 4, []))),
    ("oneDNN has no default dtype", without_dtype("Quantize", FLOATS), []),
]

# The "Supported ranks" of the pages.
TTNN = [
    *((f"{op} of rank {rank}", one(op, given(dtype, [2] * rank), attrs),
       [] if 2 <= rank <= 4 else ["page-ranks"])
      for rank in range(9) for op, dtype, attrs in (
          ("Quantize", F32, {"scales": 1, "dtype": I8}),
          ("Dequantize", I8, {"scales": 1, "dtype": F32}),
          ("Requantize", I8, {"in_scales": 1, "out_scales": 2, "dtype": I8}))),
    ("dequantize makes bfloat16 by default, as here", without_dtype("Dequantize", CODES), []),
    ("quantize makes int32", without_dtype("Quantize", FLOATS), ["default-dtype"]),
    ("requantize makes int32 of int8",
     one("Requantize", CODES, {"in_scales": 1, "out_scales": 2}), ["default-dtype"]),
    ("requantize makes int32 of int32",
     one("Requantize", given("int32", [2, 4]), {"in_scales": 1, "out_scales": 2}), ["int32-range"]),
    *((f"requantize of {dtype}, as its page has it",
       one("Requantize", given(dtype, [2, 4]), {"in_scales": 1, "out_scales": 2, "dtype": I8}),
       ["page-shows-bfloat16"]) for dtype in (BF16, "bfloat8_b", "bfloat4_b")),
    ("nor float16", one("Requantize", given(F16, [2, 4]),
                        {"in_scales": 1, "out_scales": 2, "dtype": I8}), ["requantize-input-dtype"]),
    ("typecast has no rank on its page", one("Cast", given(F32, [2]), {"dtype": "int32"}), []),
]

# QuantizeLinear-25 takes the type from output_dtype, y_zero_point, or uint8, in this order.
# DequantizeLinear-25 takes the type of x_scale.
ONNX = [
    ("uint8 is the default", without_dtype("Quantize", FLOATS), ["default-dtype"]),
    ("not beside a zero point of int8",
     without_dtype("Quantize", FLOATS, scale=ones(F32, []), zero_point=ones(I8, [], 0)), []),
    ("float32 is that of a number", without_dtype("Dequantize", CODES), ["default-dtype"]),
    ("float16 is that of a scale of it",
     without_dtype("Dequantize", CODES, scale=ones(F16, [])), ["default-dtype"]),
    ("bfloat16 is that of a scale of it, as here",
     without_dtype("Dequantize", CODES, scale=ones(BF16, [])), []),
    ("int32 has a zero point in ONNX Runtime, and none in the text",
     one("Dequantize", given("int32", [2, 4]), {"scales": 0.5, "dtype": F32},
         zero_point=given("int32", [])), ["int32-zero-point"]),
    ("zeros count as none",
     one("Dequantize", given("int32", [2, 4]), {"scales": 0.5, "dtype": F32},
         zero_point=ones("int32", [], 0)), []),
]

U8 = "uint8"


def product(op, b=None, **ports):
    """An integer product or QLinear op whose ports have scalars where no other shape is given."""
    names = {"MatMulInteger": ["b_zero_point"], "ConvInteger": ["w_zero_point"],
             "QLinearMatMul": ["a_scale", "a_zero_point", "b_scale", "b_zero_point", "y_scale",
                               "y_zero_point"],
             "QLinearAdd": ["a_scale", "a_zero_point", "b_scale", "b_zero_point", "y_scale",
                            "y_zero_point"],
             "QLinearGlobalAveragePool": ["x_scale", "x_zero_point", "y_scale", "y_zero_point"]}[op]
    values = {name: given(F32 if "scale" in name else U8, ports.get(name, [])) for name in names}
    attrs = {}
    if op == "ConvInteger":
        values["w"] = given(U8, [3, 2, 3, 3])
    elif op == "QLinearGlobalAveragePool":
        attrs["data_format"] = "NCX"
    else:
        values["b"] = given(U8, b or [4, 3])
    first = {"a": [5, 4]} if "b" in values else {"x": [1, 2, 5, 5]}
    if op == "QLinearAdd":
        first = {"a": [4, 3]}
    values.update({name: given(U8, shape) for name, shape in first.items()})
    return graph_of(values, [(op, "y", {name: name for name in values}, attrs)], ["y"])


# As ONNX Runtime 1.32 answers for models with each of these shapes.
ONNX += [(f"shapes, case {i}", graph, [] if taken else ["parameter-shape"])
         for i, (graph, taken) in enumerate([
    (product("MatMulInteger", b_zero_point=[3]), True),
    (product("MatMulInteger", b_zero_point=[1, 3]), True),
    (product("MatMulInteger", b_zero_point=[1, 1]), False),
    (product("MatMulInteger", [2, 4, 3], b_zero_point=[1]), True),
    (product("MatMulInteger", [2, 4, 3], b_zero_point=[3]), False),
    (product("MatMulInteger", [2, 4, 3], b_zero_point=[2, 1, 3]), True),
    (product("MatMulInteger", [4, 1], b_zero_point=[1, 1]), True),
    (product("ConvInteger", w_zero_point=[1]), True),
    (product("ConvInteger", w_zero_point=[3]), False),
    (product("QLinearMatMul", a_scale=[5]), False),
    (product("QLinearMatMul", a_zero_point=[1]), True),
    (product("QLinearMatMul", b_scale=[1, 3]), True),
    (product("QLinearMatMul", y_scale=[1, 1]), False),
    (product("QLinearAdd", b=[4, 3]), True),
    (product("QLinearAdd", b=[4, 3], a_scale=[1]), False),
    (product("QLinearAdd", b=[4, 3], y_zero_point=[1]), False),
    (product("QLinearGlobalAveragePool", x_scale=[1]), True),
    (product("QLinearGlobalAveragePool", y_zero_point=[1, 1]), False),
])]

TORCHAO = [
    ("dequantize makes float32 by default", without_dtype("Dequantize", CODES), ["default-dtype"]),
    ("quantize has no default", without_dtype("Quantize", FLOATS), []),
    ("a zero point is asked for", one("Quantize", FLOATS, {"scales": 1}), ["zero-point-missing"]),
    ("0 is one", one("Quantize", FLOATS, {"scales": 1, "zps": 0}), []),
    ("so is a port", one("Quantize", FLOATS, {"scales": 1}, zero_point=ones("int32", [])), []),
    ("none is asked for without a domain",
     one("Quantize", FLOATS, {"scales": 1, "zero_point_domain": "none"}), []),
    ("tinygemm asks for one",
     one("Quantize", FLOATS, {"scales": 1, "zero_point_domain": "float"}), ["zero-point-missing"]),
    ("float8 has none", one("Quantize", FLOATS, {"scales": 1, "dtype": "float8_e4m3fn"}), []),
    ("dequantize does without",
     one("Dequantize", CODES, {"scales": 1, "dtype": F32}), []),
    ("what is computed has one",
     one("DynamicQuantize", FLOATS, {"scheme": "symmetric_no_clipping"}), []),
]

# Tripy's blocks divide the rows and are one column wide.
TRIPY = [
    (f"blocks of {group}", one("Dequantize", given("int4", [4, 4]), {
        "dtype": F32, "qtype": "per_group", "group_shape": group, "scales": [0.5] * count}), rules)
    for group, count, rules in (([2, 1], 8, []), ([3, 1], 8, ["blocks-divide"]),
                                ([2, 2], 4, ["block-columns"]), ([1, 4], 4, ["block-columns"]))]

CASES = {"onednn": ONEDNN, "ttnn": TTNN, "onnx": ONNX, "torchao": TORCHAO, "tripy": TRIPY}
ERRORS = {"tripy/blocks-divide", "tripy/block-columns", "onednn/first-dims",
          "onednn/dynamic-scale-rank", "onednn/dynamic-ports", "onednn/quantize-output-dtype", "onnx/parameter-shape", "ttnn/requantize-input-dtype"}


# The file's own target decides the dtype that is not given: pages of ttnn.requantize (int32) and
# dequantize (bfloat16), NvInfer.h IDequantizeLayer (kFLOAT), QuantizeLinear-25 (uint8),
# dequantize_affine (float32). Another target that it is checked against has its own default.
REQUANTIZE = {"in_scales": 1, "out_scales": 2}
OWN_DTYPES = [
    ("ttnn", "ttnn", one("Requantize", given(BF16, [2, 4]), REQUANTIZE),
     ["ttnn/page-shows-bfloat16", "ttnn/int32-range"]),
    ("ttnn", "ttnn", without_dtype("Quantize", FLOATS), ["ttnn/int32-range"]),
    ("ttnn", "onnx", without_dtype("Dequantize", CODES), ["onnx/default-dtype"]),
    ("tensorrt", "tensorrt", without_dtype("Dequantize", CODES), []),
    ("tensorrt", "torchao", without_dtype("Dequantize", CODES), []),
    ("tensorrt", "ttnn", without_dtype("Quantize", FLOATS), ["ttnn/default-dtype"]),
    ("onnx", "onnx", without_dtype("Quantize", FLOATS), []),
    ("ort", "ort", without_dtype("Quantize", FLOATS), []),
    ("onnx", "onnx", without_dtype("Dequantize", CODES, scale=ones(F16, [])), []),
    ("onnx", "ttnn", without_dtype("Quantize", FLOATS), ["ttnn/uint8-sign", "ttnn/default-dtype"]),
    ("torchao", "torchao", without_dtype("Dequantize", CODES), []),
    ("onednn", "onednn", without_dtype("Dequantize", CODES), []),
    ("core", "core", one("Requantize", given(BF16, [2, 4]), REQUANTIZE), ["core/dtype-required"]),
]


def outcomes(qdq, folder):
    for own, target, graph, wanted in OWN_DTYPES:
        report = run(qdq, {**graph, "target": own}, folder, "check", "--target", target)
        found = [one["rule"] for one in report["findings"] if not one["rule"].endswith("/bits-unknown")]
        yield f"of {own} for {target}", "" if found == wanted else f"found {found}, wanted {wanted}"
    for target, cases in CASES.items():
        for name, graph, rules in cases:
            wanted = [f"{target}/{rule}" for rule in rules]
            report = run(qdq, graph, folder, "check", "--target", target)
            found = [one["rule"] for one in report["findings"] if not one["rule"].endswith("/bits-unknown")]
            errors = [one["rule"] for one in report["findings"] if one["severity"] == "error"]
            fine = found == wanted and errors == [rule for rule in wanted if rule in ERRORS]
            yield f"{target}: {name}", "" if fine else f"found {found}, wanted {wanted}; errors {errors}"


if __name__ == "__main__":
    main(__doc__, outcomes)
