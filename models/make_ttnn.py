# SPDX-License-Identifier: Apache-2.0
"""Makes the models of target ttnn: Requantize on each of its paths, Quantize and Dequantize; on both
chips, and with ideal arithmetic."""

from fractions import Fraction

import numpy as np

import reference_ttnn
import reference_ttnn_chip
from common import bfloat16, float32, spread, write_model
from folder import node, shortest
from reference_ttnn import Argument

IEEE = {"target": "ttnn@ieee"}
CHIPS = ("wormhole", "blackhole")
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


def name_of(what, version):
    return f"ttnn_device_{what}_{version}" if version in CHIPS else f"ttnn_ieee_{what}"


def of_all_ranks(cases):
    """Inputs and nodes; names end with the rank."""
    inputs, nodes = {}, []
    for rank in SHAPES:
        given = inputs_of(rank)
        for label, (x, attrs) in cases(rank).items():
            nodes.append(node("Requantize", f"{label}_rank{rank}", {"x": f"{x}_rank{rank}"},
                              **attrs))
        inputs.update({f"{x}_rank{rank}": tensor for x, tensor in given.items()})
    return inputs, nodes


def make_requantize():
    for path, cases, about in (
        ("scalars", worked_scalars, "four numbers, one fused kernel"),
        ("expanded", expanded, "four tensors and an axis, in float32, truncated"),
        ("mixed", mixed, "numbers and tensors, by way of bfloat16"),
    ):
        first = f"ttnn_device_requantize_{path}_wormhole"
        for version in CHIPS + ("ieee",):
            name = name_of(f"requantize_{path}", version)
            inputs, nodes = of_all_ranks(cases)
            printed = {}
            if path == "scalars" and version in CHIPS:
                inputs["least"] = np.int32([-(2**31), 0])
                nodes.append(node("Requantize", "of_least", {"x": "least"}, in_scales=0.013,
                                  in_zps=5, out_scales=0.0007, out_zps=40, dtype="int32"))
                printed["of_least"] = [-53, -53]  # -2^31 is -0
            if path == "expanded" and version in CHIPS:
                inputs["least"] = np.int32([-(2**31), 0])
                nodes.append(node("Requantize", "of_least", {"x": "least"}, axis=0, in_scales=[0.5],
                                  in_zps=[0], out_scales=[1], out_zps=[7], dtype="int32"))
                printed["of_least"] = [-(2**30), 7]  # typecast knows -2^31
            write_model(
                name,
                f"ttnn's Requantize on {version.capitalize()}: {about}." if version in CHIPS else
                f"ttnn's Requantize with ideal arithmetic: {about}.",
                inputs, nodes, {n["name"]: n["name"] for n in nodes}, printed,
                target=f"ttnn@{version}",
                like=first if version == "blackhole" else None,
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
        "ttnn_ieee_requantize_through_bfloat16",
        "-128..127 through bfloat16: of the three sets of parameters 95, 72 and 111 come out wrong "
        "by one; none where all four are numbers.",
        {"x": q}, nodes, {n["name"]: n["name"] for n in nodes}, {}, **IEEE,
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


def make_stages():
    stage = ["int32", "int8", "uint8", "int32", "uint8"]
    labels = ["fused_int32", "fused_int8", "fused_uint8", "composite_int32", "composite_uint8"]
    nodes = [
        node("Quantize", label, {"x": "x"}, scales=1,
             **({"zps": [0]} if label.startswith("composite") else {"zps": 0}), dtype=dtype)
        for label, dtype in zip(labels, stage)
    ]
    write_model(
        "ttnn_ieee_stages",
        "The integer stages of ttnn's Quantize: halves away from zero, up, without the sign, "
        "truncated.",
        {"x": float32(list(STAGES))}, nodes, {label: label for label in labels},
        {label: [row[i] for row in STAGES.values()] for i, label in enumerate(labels)}, **IEEE,
    )


CHANNELS = {"qtype": "per_channel", "axis": 0}
SCALES = [0.1, 0.02, 0.5, 0.0371]


def quantize_inputs():
    return {"x": spread((4, 33)), "half": bfloat16(spread((4, 33)) * np.float32(3)),
            "codes": np.int8([[-128, -3, -1, 0, 1, 2, 5, 127]]),
            "tiny": float32([1.1e-38, -1.1e-38, 1.2e-38, 9e-39, -2e-38, 1e-45])}


def quantize_nodes():
    """Each form of the parameters on float32 and bfloat16, and back; denormals; far zero points."""
    nodes = []
    for x in ("x", "half"):
        for label, attrs in {
            "scalars": {"scales": 0.03, "zps": 5},
            "scale_tensor": {"scales": [0.03], "zps": 5},
            "zero_tensor": {"scales": 0.03, "zps": [257]},
            "tensors": {"scales": [0.03], "zps": [257]},
            "channel_scale": {**CHANNELS, "scales": SCALES, "zps": -7},
            "channels": {**CHANNELS, "scales": SCALES, "zps": [0, 3, -300, 257]},
        }.items():
            name = f"{x}_{label}"
            nodes.append(node("Quantize", name, {"x": x}, **attrs, dtype="int32"))
            nodes.append(node("Dequantize", name + "_restored", {"x": name}, **attrs,
                              dtype="bfloat16" if x == "half" else "float32"))
        for dtype in ("int8", "uint8"):
            attrs = {"scales": 0.03, "zps": 9}
            name = f"{x}_{dtype}"
            nodes.append(node("Quantize", name, {"x": x}, **attrs, dtype=dtype))
            nodes.append(node("Dequantize", name + "_restored", {"x": name}, **attrs))
    # Denormals become 0, as do products of -0; adding 128 for int8 rounds as well.
    least = shortest(np.float32(2.0**-126))
    far = {"scales": 1, "dtype": "float32"}
    return nodes + [
        node("Quantize", "tiny_int32", {"x": "tiny"}, scales=least, dtype="int32"),
        node("Quantize", "tiny_tensor", {"x": "tiny"}, scales=least, zps=[0], dtype="int32"),
        node("Dequantize", "mirrored", {"x": "codes"}, scales=-0.5, zps=5, dtype="float32"),
        node("Dequantize", "far", {"x": "codes"}, zps=33554370, **far),
        node("Dequantize", "far_tensor", {"x": "codes"}, zps=[33554370], **far),
    ]


# Parameters, a number whose sum comes next to a tie, the dtype and the result on both chips. With an
# IEEE fma, or with 128 added afterwards, it is another one.
WORKED = {"worked_int32": (0.03, 127, 0xC0B5EB84, "int32", -63),
          "worked_int8": (0.03, 127, 0xC0B5EB84, "int8", -62),
          "worked_folded": (0.047, 100, 0xC11847AE, "int8", -103)}


def near_ties(scale, zero, count):
    """Numbers next to a tie of which a chip makes another integer than an IEEE fma does."""
    k = np.arange(-120, 120)
    x = ((k + 0.5 - zero) * scale).astype(np.float32).view(np.uint32)[:, np.newaxis]
    x = (x + np.arange(-24, 25)).astype(np.uint32).view(np.float32).reshape(-1)
    parameters = (Argument(np.float32(scale), True), Argument(np.int32(zero), True), np.int32)
    ideal = reference_ttnn.quantize(x, *parameters)
    of_chip = reference_ttnn_chip.Chip("wormhole").quantize(x, *parameters)
    other = x[ideal != of_chip]
    assert len(other) >= count
    return other[:count]


def make_quantize():
    chip_inputs = quantize_inputs()
    # NaN, infinities and -0 of both signs; numbers next to a tie
    chip_inputs["near"] = np.concatenate([
        float32([np.inf, -np.inf, -0.0]), np.uint32([0x7FC00000, 0xFFC00000]).view(np.float32),
        near_ties(0.03, 127, 3), near_ties(1.7, -128, 3)])
    chip_inputs["near_half"] = np.uint16([0x7FC0, 0xFFC0, 0x7F80, 0xFF80, 0x8000, 1]).view(
        bfloat16([]).dtype)
    chip_inputs["least"] = np.int32([-(2**31), 0])
    extra = [node("Quantize", f"{x}_{label}_{dtype}", {"x": x}, scales=scale, zps=zero, dtype=dtype)
             for x in ("near", "near_half")
             for label, scale, zero in (("a", 0.03, 127), ("b", 1.7, -128))
             for dtype in ("int32", "int8", "uint8")]
    extra += [node("Quantize", f"{x}_{label}_{dtype}", {"x": x}, scales=scale, zps=[9], dtype=dtype)
              for x in ("x", "half") for label, scale in (("zero", 0.03), ("both", [0.03]))
              for dtype in ("int8", "uint8")]
    extra += [node("Quantize", f"near_half_{label}", {"x": "near_half"}, scales=scale, zps=[3],
                   dtype="int8") for label, scale in (("zero", 0.03), ("both", [0.03]))]
    extra.append(node("Dequantize", "of_least", {"x": "least"}, scales=0.0078431, zps=-77,
                      dtype="float32"))
    printed = {"of_least": [0.6039187] * 2}
    for name, (scale, zero, x, dtype, y) in WORKED.items():
        chip_inputs[name + "_x"] = np.uint32([x]).view(np.float32)
        extra.append(node("Quantize", name, {"x": name + "_x"}, scales=scale, zps=zero,
                          dtype=dtype))
        printed[name] = [y]
    made = {}
    for version in CHIPS + ("ieee",):
        of_chip = version in CHIPS
        nodes = quantize_nodes() + (extra if of_chip else [])
        made[version] = write_model(
            name_of("quantize", version),
            f"ttnn's Quantize and Dequantize {{}} with numbers, tensors and channels: fused and "
            f"composite.".format(f"on {version.capitalize()}" if of_chip else
                                 "with ideal arithmetic,"),
            chip_inputs if of_chip else quantize_inputs(), nodes,
            {n["name"]: n["name"] for n in nodes}, printed if of_chip else {},
            target=f"ttnn@{version}",
            like=name_of("quantize", CHIPS[0]) if version == "blackhole" else None,
        )
    # -NaN is the least integer on Wormhole; Blackhole loses its sign. In bfloat16 both take it for
    # an infinity.
    for chip, result in zip(CHIPS, (-127, 127)):
        assert made[chip]["near_a_int32"][4] == result
        assert made[chip]["near_half_a_int32"][1] == -127


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
        {"x": x}, nodes, {"doubled": "doubled", "y": "y"}, {}, memory={"x": height},
        target="ttnn@wormhole",
    )
    nearest = np.round(x.astype(np.float64) * 4)
    assert np.array_equal(made["doubled"], 2 * nearest - 2)
    assert np.array_equal(made["y"], nearest / 4)


def make():
    make_requantize()
    make_through_bfloat16()
    make_stages()
    make_quantize()
    make_sharded()
