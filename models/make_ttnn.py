"""Makes the models of target ttnn: Requantize on each of its paths, Quantize and Dequantize."""

from fractions import Fraction

import numpy as np

from common import bfloat16, float32, spread, write_model
from folder import node, shortest

TARGET = {"target": "ttnn@ieee"}
SHAPES = {2: (6, 4), 3: (2, 6, 3), 4: (2, 2, 6, 3)}  # axis 0, 1 or -2 has six channels
AXES = {2: 0, 3: 1, 4: -2}
PAGE = {"in_scales": 0.001173, "in_zps": -213, "out_scales": 0.002727, "out_zps": -73}
IN_SCALES, OUT_SCALES = [0.02, 0.1, 0.001173, 0.5, 0.013, 2], [0.05, 0.03, 0.002727, 1, 0.0077, 0.3]
IN_ZPS, OUT_ZPS = [7, 0, -213, -3, 128, 1], [3, -1, -73, 12, 0, -9]


def whole_numbers(shape, dtype, reach):
    """Shuffled integers from -reach to reach, within the range of the dtype."""
    index = np.arange(np.prod(shape), dtype=np.int64)
    numbers = index * 7919 % (2 * reach + 1) - reach
    if dtype == np.uint8:
        numbers = np.abs(numbers)
    return np.clip(numbers, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype).reshape(shape)


def inputs_of(rank):
    inputs = {"x": whole_numbers(SHAPES[rank], np.int32, 400),
              "x_int8": whole_numbers(SHAPES[rank], np.int8, 128),
              "x_uint8": whole_numbers(SHAPES[rank], np.uint8, 255)}
    inputs["x"].reshape(-1)[:4] = [16777217, -16777217, 2147483000, -2147483000]
    inputs["x_int8"].reshape(-1)[:2] = [-128, 127]
    return inputs


def worked_scalars(rank):
    """Ties: a ratio of 1/2 makes halves of odd numbers. Ratios of 7/6 come so close that adding 128
    for int8 decides some."""
    made = {}
    for x in ("x", "x_int8", "x_uint8"):
        for dtype in ("int32", "int8", "uint8"):
            made[f"{x}_page_{dtype}"] = (x, {**PAGE, "dtype": dtype})
            halves = {"in_scales": 0.25, "in_zps": 3, "out_scales": 0.5, "out_zps": -2}
            made[f"{x}_halves_{dtype}"] = (x, {**halves, "dtype": dtype})
        sixths = {"in_scales": 0.07, "in_zps": -5, "out_scales": 0.06, "out_zps": 11}
        made[f"{x}_sixths"] = (x, {**sixths, "dtype": "int32"})
    return made


def expanded(rank):
    """All four mixes of per tensor and per channel, with lists, which count as tensors."""
    one_in, one_out = {"in_scales": [0.02], "in_zps": [7]}, {"out_scales": [0.05], "out_zps": [3]}
    all_in = {"in_scales": IN_SCALES, "in_zps": IN_ZPS}
    all_out = {"out_scales": OUT_SCALES, "out_zps": OUT_ZPS}
    axis = {"axis": AXES[rank]}
    made = {}
    for x in ("x", "x_int8", "x_uint8"):
        for label, attrs in {
            "tensor_tensor": {**one_in, **one_out},
            "tensor_channel": {**one_in, **all_out},
            "channel_tensor": {**all_in, **one_out},
            "channel_channel": {**all_in, **all_out},
        }.items():
            made[f"{x}_{label}"] = (x, {**attrs, **axis, "dtype": "int32"})
    return made


def mixed(rank):
    """Scalars mixed with lists, and lists without an axis: these go through bfloat16."""
    axis = {"axis": AXES[rank]}
    scalars_in, scalars_out = {"in_scales": 0.1, "in_zps": 7}, {"out_scales": 0.03, "out_zps": 3}
    all_in = {"in_scales": IN_SCALES, "in_zps": IN_ZPS}
    all_out = {"out_scales": OUT_SCALES, "out_zps": OUT_ZPS}
    made = {}
    for x in ("x", "x_int8", "x_uint8"):
        for label, attrs in {
            "in_channel": {**all_in, **scalars_out, **axis},
            "out_channel": {**scalars_in, **all_out, **axis},
            "in_scale_channel": {"in_scales": IN_SCALES, "in_zps": 7, **scalars_out, **axis},
            "scales_channel": {"in_scales": IN_SCALES, "in_zps": 7, "out_scales": OUT_SCALES,
                               "out_zps": -73, **axis},
            "out_zero_tensor": {**scalars_in, "out_scales": 0.03, "out_zps": [300]},
            "in_zero_tensor": {"in_scales": 0.1, "in_zps": [-213], **scalars_out},
            "four_tensors": {"in_scales": [0.02], "in_zps": [7], "out_scales": [0.05],
                             "out_zps": [3]},
        }.items():
            made[f"{x}_{label}"] = (x, {**attrs, "dtype": "int32"})
    for dtype in ("int8", "uint8"):  # without an axis
        made["to_" + dtype] = ("x", {**scalars_in, "out_scales": [0.03], "out_zps": 3,
                                     "dtype": dtype})
        made["to_" + dtype + "_zero_tensor"] = (
            "x", {**scalars_in, "out_scales": [0.03], "out_zps": [3], "dtype": dtype})
    return made


def make_requantize():
    for path, cases, about in (
        ("scalars", worked_scalars, "four numbers, one fused kernel"),
        ("expanded", expanded, "four tensors and an axis, in float32, truncated"),
        ("mixed", mixed, "numbers and tensors, by way of bfloat16"),
    ):
        for rank in SHAPES:
            nodes = [node("Requantize", label, {"x": x}, **attrs)
                     for label, (x, attrs) in cases(rank).items()]
            write_model(
                f"ttnn_device_requantize_{path}_rank{rank}",
                f"ttnn's Requantize as an ideal device computes it: {about}.",
                inputs_of(rank), nodes, {n["name"]: n["name"] for n in nodes}, {}, **TARGET,
            )


# The parameters of both sides, and how many of -128..127 do not become the nearest integer by way
# of bfloat16.
WRONG = {(0.02, 7, 0.05, 3): 95, (0.001173, -213, 0.002727, -73): 72, (0.1, 0, 0.03, 0): 111}


def make_through_bfloat16():
    q = np.arange(-128, 128, dtype=np.int32)
    nodes, exact = [], []
    for i, parameters in enumerate(WRONG):
        s, z, t, w = parameters
        real = [Fraction(str(s)) * (int(v) - z) / Fraction(str(t)) + w for v in q]
        exact.append(np.array([round(v) for v in real]))
        for label, wrap in (("fused", lambda v: v), ("mixed", lambda v: [v])):
            nodes.append(node("Requantize", f"{label}_{i}", {"x": "x"}, in_scales=s,
                              in_zps=wrap(z), out_scales=t, out_zps=wrap(w), dtype="int32"))
    made = write_model(
        "ttnn_device_requantize_through_bfloat16",
        "-128..127 through bfloat16: of the three sets of parameters 95, 72 and 111 come out wrong "
        "by one; none where all four are numbers.",
        {"x": q}, nodes, {n["name"]: n["name"] for n in nodes}, {}, **TARGET,
    )
    for i, wrong in enumerate(WRONG.values()):
        assert np.array_equal(made[f"fused_{i}"], np.clip(exact[i], -127, 127))
        off = np.abs(made[f"mixed_{i}"] - exact[i])
        assert np.sum(off) == np.sum(off > 0) == wrong, i


# The integer stages applied to a number: int32, int8, uint8, and truncation to int32 and uint8.
STAGES = {
    0.49999997: (0, 1, 0, 0, 0), 0.5: (1, 1, 1, 0, 0), 2.5: (3, 3, 3, 2, 2), -0.5: (-1, 0, 1, 0, 0),
    -2.5: (-3, -2, 3, -2, 254), 127.5: (127, 127, 128, 127, 127),
    -127.5: (-127, -127, 128, -127, 129), -128.0: (-127, -128, 128, -128, 128),
    200.0: (127, 127, 200, 200, 200), -5.0: (-5, -5, 5, -5, 251), 300.0: (127, 127, 255, 300, 44),
    -1.0: (-1, -1, 1, -1, 255), np.nan: (127, 127, 255, -(2**31), 0),
}


def make_quantize():
    stage = ["int32", "int8", "uint8", "int32", "uint8"]
    labels = ["fused_int32", "fused_int8", "fused_uint8", "composite_int32", "composite_uint8"]
    nodes = [
        node("Quantize", label, {"x": "x"}, scales=1,
             **({"zps": [0]} if label.startswith("composite") else {"zps": 0}), dtype=dtype)
        for label, dtype in zip(labels, stage)
    ]
    write_model(
        "ttnn_device_stages",
        "The integer stages of ttnn's Quantize: halves away from zero, up, without the sign, "
        "truncated.",
        {"x": float32(list(STAGES))}, nodes, {label: label for label in labels},
        {label: [row[i] for row in STAGES.values()] for i, label in enumerate(labels)}, **TARGET,
    )

    channels = {"qtype": "per_channel", "axis": 0}
    scales = [0.1, 0.02, 0.5, 0.0371]
    inputs = {"x": spread((4, 33)), "half": bfloat16(spread((4, 33)) * np.float32(3))}
    inputs["codes"] = np.int8([[-128, -3, -1, 0, 1, 2, 5, 127]])
    inputs["tiny"] = float32([1.1e-38, -1.1e-38, 1.2e-38, 9e-39, -2e-38, 1e-45])
    nodes, outputs = [], {}
    for x in inputs:
        if x in ("codes", "tiny"):
            continue
        for label, attrs in {
            "scalars": {"scales": 0.03, "zps": 5},
            "scale_tensor": {"scales": [0.03], "zps": 5},
            "zero_tensor": {"scales": 0.03, "zps": [257]},
            "tensors": {"scales": [0.03], "zps": [257]},
            "channel_scale": {**channels, "scales": scales, "zps": -7},
            "channels": {**channels, "scales": scales, "zps": [0, 3, -300, 257]},
        }.items():
            name = f"{x}_{label}"
            nodes.append(node("Quantize", name, {"x": x}, **attrs, dtype="int32"))
            nodes.append(node("Dequantize", name + "_restored", {"x": name}, **attrs,
                              dtype="bfloat16" if x == "half" else "float32"))
            outputs.update({name: name, name + "_restored": name + "_restored"})
        for dtype in ("int8", "uint8"):
            attrs = {"scales": 0.03, "zps": 9}
            name = f"{x}_{dtype}"
            nodes.append(node("Quantize", name, {"x": x}, **attrs, dtype=dtype))
            nodes.append(node("Dequantize", name + "_restored", {"x": name}, **attrs))
            outputs.update({name: name, name + "_restored": name + "_restored"})
    # Denormals become 0, as do products of -0; adding 128 for int8 rounds as well.
    least = shortest(np.float32(2.0**-126))
    for name, op, x, attrs in (
        ("tiny_int32", "Quantize", "tiny", {"scales": least, "dtype": "int32"}),
        ("tiny_tensor", "Quantize", "tiny", {"scales": least, "zps": [0], "dtype": "int32"}),
        ("mirrored", "Dequantize", "codes", {"scales": -0.5, "zps": 5, "dtype": "float32"}),
        ("far", "Dequantize", "codes", {"scales": 1, "zps": 33554370, "dtype": "float32"}),
        ("far_tensor", "Dequantize", "codes", {"scales": 1, "zps": [33554370],
                                               "dtype": "float32"}),
    ):
        nodes.append(node(op, name, {"x": x}, **attrs))
        outputs[name] = name
    write_model(
        "ttnn_device_quantize",
        "ttnn's Quantize and Dequantize with numbers, tensors and channels: fused and composite.",
        inputs, nodes, outputs, {}, **TARGET,
    )


def sharded(layout, columns, rows, shape):
    """Shards in L1 on a rectangle of cores that begins at core (0, 0)."""
    return {"buffer_type": "L1", "memory_layout": layout,
            "shard_spec": {"grid": [[[0, 0], [columns - 1, rows - 1]]], "shape": shape}}


def make_sharded():
    """All steps are exact: multiples of 1/4 with a sixteenth more or less, and a ratio of 2."""
    index = np.arange(256 * 128, dtype=np.int64)
    x = float32((index * 7919 % 119 - 59) / 4 + (index * 31 % 3 - 1) / 16).reshape(256, 128)
    height = {"memory_config": sharded("HEIGHT_SHARDED", 8, 1, [32, 128])}
    block = {"memory_config": sharded("BLOCK_SHARDED", 2, 4, [64, 64])}
    nodes = [
        node("Quantize", "codes", {"x": "x"}, scales=0.25, zps=3, dtype="int8"),
        node("Requantize", "doubled", {"x": "codes"}, in_scales=0.25, in_zps=3, out_scales=0.125,
             out_zps=-2, dtype="int8"),
        {**node("Reshard", "blocks", {"x": "doubled"}), **block},
        node("Dequantize", "restored", {"x": "blocks"}, scales=0.125, zps=-2, dtype="float32"),
        {**node("ShardedToInterleaved", "interleaved", {"x": "restored"}),
         "memory_config": {"buffer_type": "L1"}},
        {**node("ToMemoryConfig", "y", {"x": "interleaved"}),
         "memory_config": {"buffer_type": "DRAM"}},
    ]
    made = write_model(
        "ttnn_device_sharded_l1",
        "A chain in L1: shards by height, quantized and requantized, resharded by blocks, "
        "dequantized, interleaved, and moved to DRAM.",
        {"x": x}, nodes, {"doubled": "doubled", "y": "y"}, {}, memory={"x": height}, **TARGET,
    )
    nearest = np.round(x.astype(np.float64) * 4)
    assert np.array_equal(made["doubled"], 2 * nearest - 2)
    assert np.array_equal(made["y"], nearest / 4)


def make():
    make_requantize()
    make_through_bfloat16()
    make_quantize()
    make_sharded()
