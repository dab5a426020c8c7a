# SPDX-License-Identifier: Apache-2.0
"""Makes every model folder except digits/ and digits_pixels/, and checks them against published or
known numbers."""

import numpy as np

import make_digits
import make_networks
import make_onednn
import make_tensorrt
import make_torchao
import make_ttnn
import make_ttnn_memory
from common import HERE, bfloat16, float32, spread, write_model
from dtypes import DTYPES
from folder import declare, node, shortest, write_folder


def make_tripy():
    per_channel = {"qtype": "per_channel", "axis": 0}
    counting = [[0, 1, 2], [3, 4, 5]]
    cases = [
        ("tripy_per_tensor", "Quantize",
         "Tripy's documentation example for quantize, one scale.",
         counting, {"scales": 0.99872}, counting),
        ("tripy_per_channel", "Quantize",
         "Tripy's documentation example for quantize, a scale per row.",
         counting, {**per_channel, "scales": [0.99872, 0.96125]}, counting),
        ("tripy_per_channel_fractions", "Quantize",
         "Tripy's integration test of quantize: quotients that are whole in float32 only.",
         [[1, 2], [3, 4]], {**per_channel, "scales": [0.2, 0.1]}, [[5, 10], [30, 40]]),
        ("tripy_dequantize_per_tensor", "Dequantize",
         "Tripy's documentation example for dequantize, one scale.",
         [1, 2, 3], {"scales": 0.99872}, [0.99872, 1.99744, 2.99616]),
        ("tripy_dequantize_per_channel", "Dequantize",
         "Tripy's documentation example for dequantize, a scale per row.",
         [[1, 2, 3], [4, 5, 6]], {**per_channel, "scales": [0.99872, 0.96125]},
         [[0.99872, 1.99744, 2.99616], [3.845, 4.80625, 5.7675]]),
        ("tripy_dequantize_per_channel_fractions", "Dequantize",
         "Tripy's integration test of dequantize.",
         [[4, 8], [4, 8]], {**per_channel, "scales": [0.8, 0.9]}, [[3.2, 6.4], [3.6, 7.2]]),
    ]
    for name, op, about, x, attrs, y in cases:
        given, wanted = ("float32", "int8") if op == "Quantize" else ("int8", "float32")
        write_model(
            name,
            about,
            {"x": np.array(x, DTYPES[given])},
            [node(op, "result", {"x": "x"}, **attrs, dtype=wanted)],
            {"y": "result"},
            {"y": y},
        )


def make_tensorrt_per_tensor():
    scale = shortest(np.float32(1) / np.float32(127))
    x = [[0.56, 0.89, 1.4], [-0.56, 0.39, 6.0], [0.67, 0.11, -3.6]]
    q = [[71, 113, 127], [-71, 50, 127], [85, 14, -128]]
    dq = [[0.559055, 0.889764, 1.0], [-0.559055, 0.393701, 1.0], [0.669291, 0.110236, -1.007874]]
    write_model(
        "tensorrt_per_tensor",
        "The example of TensorRT's Quantize and Dequantize pages; the scale is 1/127.",
        {"x": float32([[x]])},
        [
            node("Quantize", "quantized", {"x": "x"}, scales=scale, dtype="int8"),
            node("Dequantize", "restored", {"x": "quantized"}, scales=scale, dtype="float32"),
        ],
        {"q": "quantized", "dq": "restored"},
        {"q": [[q]], "dq": [[dq]]},
    )


def make_blocks():
    """TensorRT's 4x8 weights in blocks of two rows (row i has scale row i // 2), and Tripy's single
    block of two rows."""
    scales = [[1, 1, 2, 2, 3, 3, 4, 4], [4, 4, 5, 5, 6, 6, 7, 7]]
    weights = [list(np.array(scales[i // 2]) + i % 2 / 8) for i in range(4)]
    attrs = {"qtype": "per_group", "group_shape": [2, 1]}
    for name, about, x, s, q, restored in (
        (
            "tensorrt_block_int4",
            "Block quantization of TensorRT's Dequantize page: int4, blocks of two rows.",
            weights, scales, [[1] * 8] * 4, [scales[i // 2] for i in range(4)],
        ),
        (
            "tripy_block_int4",
            "The block-wise example of Tripy's quantize documentation: int4, one block of two rows.",
            [[0, 1], [2, 3]], [[1, 1]], [[0, 1], [2, 3]], [[0, 1], [2, 3]],
        ),
    ):
        write_model(
            name,
            about,
            {"x": float32(x)},
            [
                node("Quantize", "quantized", {"x": "x"}, scales=s, dtype="int4", **attrs),
                node("Dequantize", "restored", {"x": "quantized"}, scales=s, dtype="float32", **attrs),
            ],
            {"q": "quantized", "dq": "restored"},
            {"q": q, "dq": restored},
        )


def make_onednn_dynamic_quantize():
    flat = [[-100, -64.25, -1.25, -0.75], [-0.25, 0, 0.25, 0.75], [1.25, 63.75, 64, 200]]
    deep = [
        [[-100, -1.25, -0.25, 0.75], [-40, -0.375, 0.125, 33], [-300, -5, 3, 257]],
        [[1.25, 2.75, 63.75, 200], [-0.625, 0.625, 31.875, 0], [-1, 1, 5, 7]],
    ]
    far = [
        [-8388608, -8388607.5, -8388672, -8388544],
        [2.5, 130.5, -1, 256.5],
        [-1202, -1206, -2000, 10],
    ]
    channels = {"qtype": "per_channel"}
    cases = [
        ("per_tensor_no_zps", flat, [0.5], None, {"dtype": "int8"},
         [[-128, -128, -2, -2], [0, 0, 0, 2], [2, 127, 127, 127]]),
        ("per_tensor_zps_int8", flat, [0.5], np.int8([-3]), {"dtype": "int8"},
         [[-128, -128, -5, -5], [-3, -3, -3, -1], [-1, 125, 125, 127]]),
        ("per_tensor_zps_uint8", flat, [0.5], np.uint8([129]), {"dtype": "uint8"},
         [[0, 1, 127, 127], [129, 129, 129, 131], [131, 255, 255, 255]]),
        ("per_tensor_zps_int32", flat, [0.5], np.int32([-129]), {"dtype": "int8"},
         [[-128, -128, -128, -128], [-128, -128, -128, -127], [-127, -1, -1, 127]]),
        ("per_channel_no_zps", deep, [0.5, 0.25, 2], None, {**channels, "dtype": "uint8"},
         [[[0, 0, 0, 2], [0, 0, 0, 132], [0, 0, 2, 128]],
          [[2, 6, 128, 255], [0, 2, 128, 0], [0, 0, 2, 4]]]),
        ("per_channel_zps_int8", deep, [0.5, 0.25, 2], np.int8([-3, 5, -7]),
         {**channels, "dtype": "int8"},
         [[[-128, -5, -3, -1], [-128, 3, 5, 127], [-128, -9, -5, 121]],
          [[-1, 3, 125, 127], [3, 7, 127, 5], [-7, -7, -5, -3]]]),
        ("per_channel_zps_uint8", deep, [0.5, 0.25, 2, 0.5], np.uint8([201, 3, 17, 129]),
         {**channels, "axis": -1, "dtype": "uint8"},
         [[[1, 0, 17, 131], [121, 1, 17, 195], [0, 0, 19, 255]],
          [[203, 14, 49, 255], [200, 5, 33, 129], [199, 7, 19, 143]]]),
        ("per_channel_zps_int32", far, [0.5, 1, 4], np.int32([16777217, -129, 300]),
         {**channels, "axis": 0, "dtype": "int8"},
         [[1, 2, -127, 127], [-127, 1, -128, 127], [0, -2, -128, 127]]),
    ]
    for name, x, scale, zero_point, attrs, y in cases:
        inputs = {"x": float32(x), "scale": float32(scale)}
        if zero_point is not None:
            inputs["zero_point"] = zero_point
        write_model(
            "onednn_dynamic_quantize_" + name,
            "oneDNN Graph's DynamicQuantize: parameters arrive at run time; ties and saturation.",
            inputs,
            [node("DynamicQuantize", "result", {port: port for port in inputs}, **attrs)],
            {"y": "result"},
            {"y": y},
        )


def make_ttnn_page():
    page = [[0.1, 0.2], [0.3, 0.4]]
    deep = [
        [[-213, -212, -100, -1], [0, 0.1, 0.2, 0.3], [17.5, 126, 127, 128]],
        [[-426, 255, 256, 300], [2.5, -2.5, 1000, -1000], [33, -33, 7.75, -0.4]],
    ]
    deep_result = [
        [[-73, -73, -24, 18], [19, 19, 19, 19], [26, 73, 73, 74]],
        [[-165, 128, 129, 148], [20, 18, 449, -412], [33, 4, 22, 18]],
    ]
    extremes = [[-213, 340], [16777217, -16777217], [2147483647, -2147483648], [-128, 99]]
    extremes_result = [[-73, 165], [7216621, -7216584], [923725047, -923725001], [-36, 61]]
    cases = [
        ("bf16_rank2", bfloat16(page), [[19, 19], [19, 19]]),
        ("bf16_rank3", bfloat16(deep), deep_result),
        ("bf16_rank4", bfloat16(deep)[:, np.newaxis], [[block] for block in deep_result]),
        ("int32_rank2", np.int32([[0, 1], [-1, 5]]), [[19, 19], [18, 21]]),
        ("int32_rank3", np.int32([[[-213, -212, -100]], [[126, 127, 128]]]),
         [[[-73, -73, -24]], [[73, 73, 74]]]),
        ("int32_rank4", np.int32([[extremes]]), [[extremes_result]]),
    ]
    for name, x, y in cases:
        attrs = {"in_scales": 0.001173, "in_zps": -213, "out_scales": 0.002727, "out_zps": -73}
        if name.startswith("bf16"):
            attrs["dtype"] = "int32"
        write_model(
            "ttnn_requantize_scalars_" + name,
            "The parameters of ttnn's requantize documentation page: four scalars.",
            {"x": x},
            [node("Requantize", "result", {"x": "x"}, **attrs)],
            {"y": "result"},
            {"y": y},
        )


# A group of sixteen and its values in a tile, in steps of 1/16, as published with the host packer.
WORKED_GROUP = [1, -1, 0.5, -0.5, 3.1415927, 0.1, -0.1, 0, 7.9999, 2, 0.01, -0.01, 0.001, 1.5625,
                0.3333333, -2.71828]
WORKED_STEPS = {
    "bfloat8_b": [16, -16, 8, -8, 50, 2, -2, 0, 127, 32, 0, 0, 0, 25, 5, -43],
    "bfloat4_b": [16, -16, 0, 0, 48, 0, 0, 0, 112, 32, 0, 0, 0, 32, 0, -48],
}


def make_block_floats():
    for dtype, steps in WORKED_STEPS.items():
        x = spread([64, 48])
        x *= np.ldexp(np.float32(1), np.arange(64) % 9 - 4)[:, np.newaxis]
        x[1:, 16:32] *= np.float32(2.0**-5)  # neighbouring faces get exponents of their own
        x[40:, 5] *= np.float32(2.0**-9)  # small values of a group lose their digits
        x[:, 33] = np.nextafter(x[:, 33] * np.float32(2.0**-3), np.float32(9))
        x[0, :16] = x[50, 32:] = WORKED_GROUP
        x[2, :4] = [1.9921875, 1.0078125, 1.0234375, -1.9921875]  # saturation and ties
        x[3, :16] = 0
        x[3, :3] = [1e-40, -1e-40, -0.0]  # denormals and -0 are +0
        name = "ttnn_quantize_" + dtype
        made = write_folder(
            HERE / name,
            f"Quantize of a {dtype} input, which is rounded as ttnn's host packs it.",
            {"x": x},
            [node("Quantize", "result", {"x": "x"}, scales=0.0625, zps=-3, dtype="int32")],
            {"y": "result"},
            dtypes={"x": dtype},
        )["y"]
        assert np.array_equal(made[0, :16], np.array(steps) - 3), name
        assert np.array_equal(made[50, 32:], np.array(steps) - 3), name
        assert np.all(made[3, :16] == -3), name


def make_division():
    scales = shortest(float32([1, 13]) / float32([7, 127]))
    write_model(
        "quantize_divides",
        "Quotients beside a tie: multiplying by the reciprocal of the scale gives 17 and 64.",
        {"x": float32([[2.5, -2.5], [6.5, -6.5]])},
        [node("Quantize", "result", {"x": "x"},
              qtype="per_channel", axis=0, scales=scales, dtype="int8")],
        {"y": "result"},
        {"y": [[18, -18], [63, -63]]},
    )


def make_computed():
    outputs = {"y": "dyn", "scale": "dyn.scale", "zero_point": "dyn.zero_point"}
    write_model(
        "dynamic_quantize_computed",
        "The example of ONNX's DynamicQuantizeLinear: parameters computed from the data.",
        {"x": float32([0, 2, -3, -2.5, 1.34, 0.5])},
        [node("DynamicQuantize", "dyn", {"x": "x"}, dtype="uint8")],
        outputs,
        {"y": [153, 255, 0, 26, 221, 179], "scale": 0.0196078438, "zero_point": 153},
    )

    x = spread([5, 37])
    x[0, :4] = [-6.35, 6.35, 0.025, 0.075]
    x[1] = 0
    x[2, 7] = np.nan
    x[3] = -np.abs(x[3])
    x[4] /= 256
    scale = np.nanmax(np.abs(x), axis=1) / np.float32(127)
    scale[1] = 1
    write_model(
        "dynamic_quantize_symmetric_per_channel",
        "A computed scale per row: mixed, zero, with a NaN, negative, small.",
        {"x": x},
        [node("DynamicQuantize", "dyn", {"x": "x"},
              qtype="per_channel", axis=0, scheme="symmetric", dtype="int8")],
        outputs,
        {"scale": scale, "zero_point": [0] * 5},
    )


def make_chain():
    columns = float32((np.arange(33) + 16) / 512)
    write_model(
        "chain_mixed",
        "Unsorted nodes, constants in line and from a file, fan-out, ragged tiles.",
        {"x": spread([3, 5, 33])},
        [
            node("Quantize", "columns_quantized", {"x": "restored", "scale": "column_scales"},
                 qtype="per_channel", axis=-1, zps=128, dtype="uint8"),
            node("Requantize", "rescaled",
                 {"x": "rows_quantized", "in_scale": "row_scales",
                  "in_zero_point": "row_zero_points"},
                 axis=1, out_scales=0.05, out_zps=7, dtype="uint8"),
            node("Dequantize", "restored",
                 {"x": "rows_quantized", "scale": "row_scales", "zero_point": "row_zero_points"},
                 qtype="per_channel"),
            node("Quantize", "rows_quantized",
                 {"x": "x", "scale": "row_scales", "zero_point": "row_zero_points"},
                 qtype="per_channel", axis=1, dtype="int8"),
        ],
        {"columns": "columns_quantized", "rescaled": "rescaled", "restored": "restored"},
        {},
        constants=[
            {"name": "row_scales", "dtype": "float32", "shape": [5],
             "data": [0.015625, 0.02, 0.03125, 0.047, 0.0625]},
            {"name": "row_zero_points", "dtype": "int8", "shape": [5], "data": [3, 0, -5, 17, -1]},
            {**declare("column_scales", columns),
             "file": "constants.safetensors", "tensor": "column.scales"},
        ],
        files={"constants.safetensors": {"column.scales": columns}},
    )


def make_cast():
    """Ties of bfloat16 (257, 1 + 1/256), ties and extremes of int4, infinities and NaN."""
    x = spread([3, 5, 33])
    x[0, 0, :12] = [257, 259, -257, 1 + 1 / 256, 1 + 3 / 256, 0.25, 0.75, -0.25, -0.75, np.inf,
                    -np.inf, np.nan]
    write_model(
        "cast_chain",
        "Casts between ops: float32, bfloat16, int4 by Quantize, int8, float16; ragged tiles.",
        {"x": x},
        [
            node("Cast", "half", {"x": "x"}, dtype="bfloat16"),
            node("Quantize", "quantized", {"x": "half"}, scales=0.5, zps=1, dtype="int4"),
            node("Cast", "whole", {"x": "quantized"}, dtype="int8"),
            node("Cast", "real", {"x": "whole"}, dtype="float16"),
        ],
        {"half": "half", "whole": "whole", "y": "real"},
        {},
    )
    write_model(
        "cast_scalar",
        "A chain of casts on a tensor of rank 0: 200 keeps its low bits as int8.",
        {"x": float32(200.75)},
        [
            node("Cast", "whole", {"x": "x"}, dtype="int32"),
            node("Cast", "low", {"x": "whole"}, dtype="int8"),
            node("Cast", "real", {"x": "low"}, dtype="bfloat16"),
        ],
        {"low": "low", "y": "real"},
        {"low": -56, "y": -56},
    )


if __name__ == "__main__":
    make_tripy()
    make_tensorrt_per_tensor()
    make_blocks()
    make_onednn_dynamic_quantize()
    make_ttnn_page()
    make_block_floats()
    make_division()
    make_computed()
    make_chain()
    make_cast()
    make_tensorrt.make()
    make_onednn.make()
    make_torchao.make()
    make_ttnn.make()
    make_ttnn_memory.make()
    make_digits.make()
    make_networks.make()
