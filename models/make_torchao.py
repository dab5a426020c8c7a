# SPDX-License-Identifier: Apache-2.0
"""Makes the models of target torchao: granularities, computed parameters, MX and NVFP4."""

import numpy as np

from common import bfloat16, float32, spread, write_model
from dtypes import DTYPES
from folder import node, shortest
from reference import grid_of

TARGET = {"target": "torchao"}

FLAT = {  # for [10, 10]
    "per_tensor": {},
    "axis_0": {"qtype": "per_channel", "axis": 0},
    "axis_1": {"qtype": "per_channel", "axis": 1},
    "block_1_2": {"qtype": "per_group", "group_shape": [1, 2]},
    "block_10_1": {"qtype": "per_group", "group_shape": [10, 1]},
    "block_1_10": {"qtype": "per_group", "group_shape": [1, 10]},
}
DEEP = {  # for [3, 3, 10, 10]
    "per_tensor": {},
    "axis_0": {"qtype": "per_channel", "axis": 0},
    "axis_1": {"qtype": "per_channel", "axis": 1},
    "axis_2": {"qtype": "per_channel", "axis": 2},
    "axis_3": {"qtype": "per_channel", "axis": -1},
    "block_3_3_2_10": {"qtype": "per_group", "group_shape": [3, 3, 2, 10]},
    "block_1_3_10_10": {"qtype": "per_group", "group_shape": [1, 3, 10, 10]},
    "block_3_1_5_10": {"qtype": "per_group", "group_shape": [3, 1, 5, 10]},
    "block_3_3_10_2": {"qtype": "per_group", "group_shape": [3, 3, 10, 2]},
}


def tied_scales(x, grid, half_range):
    """For each block, a scale that puts its greatest element next to a tie."""
    most = grid.reduce(np.maximum, np.abs(x.astype(np.float32)), 0)
    steps = np.arange(most.size).reshape(most.shape) % 3
    return most / (float32(half_range) - steps - np.float32(0.5)).astype(np.float32)


def odd_zero_points(count, least):
    return [int(v) for v in np.arange(count) * 2 % 7 + least]


def make_granularities():
    for name, shape, granularities in (
        ("torchao_affine_rank2", (10, 10), FLAT),
        ("torchao_affine_rank4", (3, 3, 10, 10), DEEP),
    ):
        x = spread(shape)
        nodes, outputs = [], {}
        dtypes = ["int8", "uint8", "int4"]
        for i, (label, attrs) in enumerate(granularities.items()):
            grid, dtype = grid_of(attrs, shape), dtypes[i % 3]
            scales = tied_scales(x, grid, {"int8": 110, "uint8": 110, "int4": 8}[dtype])
            count = scales.size
            zero = odd_zero_points(count, {"int8": -5, "uint8": 121, "int4": -3}[dtype])
            narrow = {"quant_min": -127} if label == "per_tensor" else {}
            shared = {**attrs, "scales": shortest(scales), "zps": zero if count > 1 else zero[0]}
            nodes.append(node("Quantize", label, {"x": "x"}, **shared, dtype=dtype, **narrow))
            nodes.append(node("Dequantize", label + "_restored", {"x": label}, **shared,
                              dtype="bfloat16" if i % 3 == 1 else "float32"))
            outputs.update({label: label, label + "_restored": label + "_restored"})
        write_model(
            name,
            "torchao's quantize_affine and dequantize_affine at its granularities; scales that put "
            "the greatest element of a block beside a tie.",
            {"x": x}, nodes, outputs, {}, **TARGET,
        )


def make_half():
    """float16 and bfloat16, with a scale of the same dtype, to which every step is rounded, and
    with a float32 scale."""
    inputs, nodes, outputs = {}, [], {}
    for dtype in ("bfloat16", "float16"):
        x = spread((10, 10)).astype(DTYPES[dtype])
        inputs[dtype] = x
        # Differences that need more digits than bfloat16 or float16 has.
        name, codes = f"{dtype}_codes", np.arange(100, dtype=np.int32) * 7919 % 6007 - 3003
        inputs[name] = codes.reshape(10, 10)
        nodes.append(node("Dequantize", name + "_restored", {"x": name}, scales=0.0371, zps=301,
                          dtype=dtype))
        outputs[name + "_restored"] = name + "_restored"
        for label in ("axis_1", "block_1_2"):
            attrs = FLAT[label]
            scales = tied_scales(x, grid_of(attrs, x.shape), 110)
            zero = (np.arange(scales.size) * 2 % 7 + 35).astype(np.int32).reshape(scales.shape)
            inputs[f"{dtype}_{label}_zero_point"] = zero
            for scale_dtype in (dtype, "float32"):
                name = f"{dtype}_{label}_{scale_dtype}"
                inputs[name + "_scale"] = scales.astype(DTYPES[scale_dtype])
                ports = {"scale": name + "_scale", "zero_point": f"{dtype}_{label}_zero_point"}
                nodes.append(node("Quantize", name, {"x": dtype, **ports}, **attrs, dtype="int8"))
                nodes.append(node("Dequantize", name + "_restored", {"x": name, **ports}, **attrs,
                                  dtype=dtype))
                outputs.update({name: name, name + "_restored": name + "_restored"})
    write_model(
        "torchao_affine_half",
        "torchao in bfloat16 and float16: with a scale of that type each step is rounded to it.",
        inputs, nodes, outputs, {}, **TARGET,
    )


def make_tinygemm():
    """The weights of the worked example: scale 0.2 and zero point 2.6, also as bfloat16."""
    w = [1, 1.25, 1.5, 2, 3, 3.5, 3.75, 4]
    codes = [0, 1, 3, 5, 10, 12, 14, 15]
    domain = {"zero_point_domain": "float"}
    pair = {"scales": shortest(np.float32(0.2)), "zps": shortest(np.float32(2.6)), **domain}
    ports = {"scale": "scale", "zero_point": "zero_point"}
    grid = {"qtype": "per_group", "group_shape": [1, 8], **domain}
    blocks = {**grid, "scales": [[0.3], [0.25]], "zps": [[0.1], [-0.37]], "quant_max": 14}
    write_model(
        "torchao_tinygemm",
        "torchao's float domain: the zero point is the real value of code 8.",
        {"w": float32(w), "half": bfloat16(w), "scale": bfloat16(0.2001953125),
         "zero_point": bfloat16(2.59375), "x": spread((2, 8)) / np.float32(2)},
        [
            node("Quantize", "q", {"x": "w"}, **pair, dtype="uint4"),
            node("Dequantize", "q_restored", {"x": "q"}, **pair, dtype="float32"),
            node("Quantize", "q_half", {"x": "half", **ports}, **domain, dtype="uint4"),
            node("Dequantize", "q_half_restored", {"x": "q_half", **ports}, **domain,
                 dtype="bfloat16"),
            node("Quantize", "q_blocks", {"x": "x"}, **blocks, dtype="uint4"),
            node("Dequantize", "q_blocks_restored", {"x": "q_blocks"}, **blocks, dtype="float32"),
        ],
        {name: name for q in ("q", "q_half", "q_blocks") for name in (q, q + "_restored")},
        {"q": codes, "q_half": codes}, **TARGET,
    )


def three_outputs(label):
    return {label: label, label + "_scale": label + ".scale",
            label + "_zero_point": label + ".zero_point"}


def make_dynamic():
    flat, deep = spread((10, 10)), spread((3, 3, 10, 10))
    flat[1] = np.abs(flat[1]) + np.float32(0.5)
    flat[2] = -np.abs(flat[2])
    flat[3] = 0
    flat[4] /= 512
    half = {name: flat.astype(DTYPES[name]) for name in ("bfloat16", "float16")}
    for scheme in ("symmetric", "symmetric_no_clipping", "asymmetric"):
        nodes, outputs = [], {}
        dtypes = ["int8", "uint8", "int4"]
        for x, granularities in (("flat", FLAT), ("deep", DEEP)):
            for i, (label, attrs) in enumerate(granularities.items()):
                name = f"{x}_{label}"
                dtype = dtypes[i % 3]
                if scheme == "symmetric_no_clipping" and dtype == "uint8":
                    dtype = "int8"
                nodes.append(node("DynamicQuantize", name, {"x": x}, scheme=scheme, **attrs,
                                  dtype=dtype))
                outputs.update(three_outputs(name))
        for x in half:
            nodes.append(node("DynamicQuantize", x + "_axis_0", {"x": x}, scheme=scheme,
                              **FLAT["axis_0"], dtype="int8"))
            outputs.update(three_outputs(x + "_axis_0"))
        write_model(
            "torchao_dynamic_" + scheme,
            "torchao's choose_qparams_affine and quantize_affine at its granularities.",
            {"flat": flat, "deep": deep, **half}, nodes, outputs, {}, **TARGET,
        )


def make_worked():
    """One block, the ranges of eight integers, and a row of float8."""
    symmetric, no_clipping = {"scheme": "symmetric"}, {"scheme": "symmetric_no_clipping"}
    cases = {
        "int8": ({}, 0x3C40C0C1, -43, [-128, -85, -51, -43, -17, 17, 85, 127]),
        "uint8": ({}, 0x3C40C0C1, 85, [0, 43, 77, 85, 111, 145, 213, 255]),
        "int8_symmetric": (symmetric, 0x3C808081, 0, [-64, -32, -6, 0, 19, 45, 96, 127]),
        "int8_narrow_symmetric": ({**symmetric, "quant_min": -127}, 0x3C810204, 0,
                                  [-64, -32, -6, 0, 19, 44, 95, 127]),
        "uint8_symmetric": (symmetric, 0x3C808081, 128, [64, 96, 122, 128, 147, 173, 224, 255]),
        "int4": ({}, 0x3E4CCCCD, -3, [-8, -5, -3, -3, -1, 1, 5, 7]),
        "int4_symmetric": (symmetric, 0x3E888889, 0, [-4, -2, 0, 0, 1, 3, 6, 7]),
        "int4_no_clipping": (no_clipping, 0x3E924925, 0, [-3, -2, 0, 0, 1, 2, 5, 7]),
        "uint4": ({}, 0x3E4CCCCD, 5, [0, 3, 5, 5, 7, 9, 13, 15]),
        "int2_symmetric": (symmetric, 0x3FAAAAAB, 0, [-1, 0, 0, 0, 0, 1, 1, 1]),
    }
    nodes, outputs, printed = [], {}, {}
    for label, (attrs, bits, zero, codes) in cases.items():
        nodes.append(node("DynamicQuantize", label, {"x": "x"}, **attrs,
                          dtype=label.split("_")[0]))
        outputs.update(three_outputs(label))
        printed.update({label: codes, label + "_zero_point": zero})
        printed[label + "_scale"] = np.uint32(bits).view(np.float32)
    nodes.append(node("DynamicQuantize", "float8", {"x": "row"}, **symmetric,
                      dtype="float8_e4m3fn"))
    outputs.update({"float8": "float8", "float8_scale": "float8.scale"})
    made = write_model(
        "torchao_dynamic_worked",
        "Parameters and codes of one block for ten integer ranges, and of a row as float8.",
        {"x": float32([-1, -0.5, -0.1, 0, 0.3, 0.7, 1.5, 2]), "row": float32([0.1, -0.25, 1, 3])},
        nodes, outputs, printed, **TARGET,
    )
    for label, case in cases.items():
        assert made[label + "_scale"].view(np.uint32) == case[1], label
    assert made["float8_scale"].view(np.uint32) == 0x3BDB6DB7
    assert made["float8"].tobytes() == bytes([0x57, 0xE1, 0x71, 0x7E])


def make_float8():
    x = spread((6, 8)) * np.float32(100)
    nodes, outputs = [], {}
    for dtype in ("float8_e4m3fn", "float8_e5m2"):
        for label in ("per_tensor", "axis_0"):
            name = f"{dtype}_{label}"
            scales = {"per_tensor": 0.7, "axis_0": [0.7, 0.3, 1.5, 3, 0.001, 1]}[label]
            attrs = {**FLAT[label], "scales": scales}
            nodes.append(node("Quantize", name, {"x": "x"}, **attrs, dtype=dtype))
            nodes.append(node("Dequantize", name + "_restored", {"x": name}, **attrs,
                              dtype="float32"))
            outputs.update({name: name, name + "_restored": name + "_restored"})
        name = dtype + "_dynamic"
        nodes.append(node("DynamicQuantize", name, {"x": "x"}, **FLAT["axis_0"],
                          scheme="symmetric", dtype=dtype))
        outputs.update({name: name, name + "_scale": name + ".scale"})
    write_model(
        "torchao_float8", "torchao's float8 functions: division, and results that saturate.",
        {"x": x}, nodes, outputs, {}, **TARGET,
    )


# The unbiased exponent of the scale for a block with this greatest magnitude: floor, ceil, even,
# rceil.
EXPONENTS = {
    "float4_e2m1": {1.5: (-2, -1, -2, -2), 1.75: (-2, -1, -1, -1), 3: (-1, 0, -1, -1),
                    3.5: (-1, 0, 0, 0), 5: (0, 1, 0, 0), 6: (0, 1, 0, 0), 6.5: (0, 1, 0, 1),
                    7: (0, 1, 1, 1), 8: (1, 1, 1, 1)},
    "float8_e4m3fn": {240: (-1, 0, -1, 0), 248: (-1, 0, 0, 0), 448: (0, 1, 0, 0),
                      449: (0, 1, 0, 1), 480: (0, 1, 0, 1), 496: (0, 1, 1, 1), 512: (1, 1, 1, 1)},
}


MX_BLOCKS = {"qtype": "per_group", "group_shape": [1, 32]}


def mx_blocks(sizes):
    """Rows of two blocks of 32: each has its greatest magnitude, once with either sign."""
    x = spread((len(sizes), 32)) / np.float32(4)
    for row, size in zip(x, float32(sizes)):
        row *= size
        row[5], row[7] = size, -size
    return x.reshape(-1, 64)


def mx_nodes(dtypes):
    nodes, outputs = [], {}
    for scheme in ("mx_floor", "mx_ceil", "mx_even", "mx_rceil"):
        for dtype in dtypes:
            name = f"{scheme}_{dtype}"
            nodes.append(node("DynamicQuantize", name, {"x": "x"}, **MX_BLOCKS, scheme=scheme,
                              dtype=dtype))
            outputs.update({name: name, name + "_scale": name + ".scale"})
    return nodes, outputs


def make_mx():
    sizes = [*EXPONENTS["float4_e2m1"], *EXPONENTS["float8_e4m3fn"], 0, 2.0**-100, 1e30, 61440,
             57344, 65535]
    nodes, outputs = mx_nodes(["float8_e4m3fn", "float8_e5m2", "float4_e2m1"])
    last = {"x": "mx_floor_float8_e4m3fn", "scale": "mx_floor_float8_e4m3fn.scale"}
    nodes.append(node("Dequantize", "restored", last, **MX_BLOCKS, dtype="float32"))
    made = write_model(
        "torchao_mx", "torchao's to_mx: the four ways to choose a power of two for 32 elements.",
        {"x": mx_blocks(sizes)}, nodes, {**outputs, "restored": "restored"}, {}, **TARGET,
    )
    for dtype, table in EXPONENTS.items():
        for size, exponents in table.items():
            for scheme, exponent in zip(("floor", "ceil", "even", "rceil"), exponents):
                scale = made[f"mx_{scheme}_{dtype}_scale"].reshape(-1).view(np.uint8)
                assert scale[sizes.index(size)] == exponent + 127, (scheme, dtype, size)


def make_mx_edges():
    """Scales at both ends of float8_e8m0, and blocks with NaN or infinity. torchao 0.18 gives other
    numbers for some of these."""
    x = mx_blocks([2.0**-149, 2.0**-130, 2.0**-127, 2.0**-126, 2.0**-119, 3.4028234663852886e38,
                   3.3e38, 2.0**127, 1, 1, 1, 0])
    x[4, 40], x[5, 0], x[5, 20] = np.nan, np.inf, -np.inf
    nodes, outputs = mx_nodes(["float8_e4m3fn", "float8_e5m2"])
    made = write_model(
        "mx_edges", "Blocks whose scale is the least, the greatest or NaN, in the four ways.",
        {"x": x}, nodes, outputs, {},
    )
    for name, array in made.items():
        if name.endswith("_scale"):
            assert list(array.reshape(-1).view(np.uint8)[-3:]) == [255, 255, 0], name


def make_nvfp4():
    example = [0, 0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8, 0.9, -1, 1.1, -1.2, 1.3, -1.4, 1.5]
    codes = [0, 1, 10, 2, 11, 4, 12, 5, 13, 6, 14, 6, 14, 7, 15, 7]
    # Ties of x / scale for scales from 9/8 to 15/8; multiplied by the reciprocal some are no ties.
    ties = float32([6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, *[-0.25, -0.75, -1.25, -1.75, -2.5,
                    -3.5, -5, 0]])
    ties = ties * (np.arange(9, 16, dtype=np.float32) / 8)[:, np.newaxis]
    x = np.concatenate([float32([example, [0] * 16, [0.01] * 16]),
                        spread((2, 16)) / np.float32(9), ties]).reshape(6, 32)
    overall = np.float32(1.5) / np.float32(2688)  # the scale of this example
    attrs = {"qtype": "per_group", "group_shape": [1, 16]}
    dynamic = {**attrs, "scheme": "nvfp4", "dtype": "float4_e2m1"}
    made = write_model(
        "torchao_nvfp4",
        "torchao's nvfp4_quantize with one level and with two; its scales go back through a "
        "Dequantize of their own.",
        {"x": x},
        [
            node("DynamicQuantize", "one", {"x": "x"}, **dynamic),
            node("DynamicQuantize", "two", {"x": "x"}, **dynamic, global_scales=shortest(overall)),
            node("Dequantize", "two_scale", {"x": "two.scale"}, scales=shortest(overall),
                 dtype="float32"),
            node("Dequantize", "restored", {"x": "two", "scale": "two_scale"}, **attrs,
                 dtype="float32"),
        ],
        {"one": "one", "one_scale": "one.scale", "two": "two", "two_scale": "two.scale",
         "restored": "restored"},
        {}, **TARGET,
    )
    one, two = (made[name].view(np.uint8).reshape(-1) for name in ("one_scale", "two_scale"))
    assert list(made["one"][0, :16]) == codes and list(made["two"][0, :16]) == codes
    assert list(one[:3]) == [0x28, 0x08, 0x08] and two[0] == 0x7E
    assert list(made["one"][1, :16]) == [1] * 16


def make():
    make_granularities()
    make_half()
    make_tinygemm()
    make_dynamic()
    make_worked()
    make_float8()
    make_mx()
    make_mx_edges()
    make_nvfp4()
