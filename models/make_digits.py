# SPDX-License-Identifier: Apache-2.0
"""Makes variants of digits_pixels/ that pass its images through int4 blocks, float8 and NVFP4."""

import numpy as np

from common import HERE, write_model
from folder import declare, load_tensors, node, shortest

TO_BYTES = {"scales": shortest(np.float32(16) / np.float32(255)), "dtype": "uint8"}


def write_digits(name, about, nodes, worst, outputs=(), **more):
    """The last of `nodes` restores the images; its result is stored as bytes. No pixel may be off
    by more than `worst` plus half a step of the byte."""
    images = load_tensors(HERE / "digits_pixels" / "inputs.safetensors")["images"]
    restored = nodes[-1]["name"]
    made = write_model(
        name, about, {"images": images},
        [*nodes, node("Quantize", "bytes", {"x": restored}, **TO_BYTES)],
        {"bytes": "bytes", **dict(outputs)}, {}, like="digits_pixels", **more,
    )
    pixels = made["bytes"] * (16 / 255)
    images = images.astype(np.float64)
    assert np.all(np.abs(pixels - images) <= worst(images) + 8 / 255 + 1e-6), name


def make_int4():
    images = load_tensors(HERE / "digits_pixels" / "inputs.safetensors")["images"].astype(np.float32)
    blocks = images.reshape(1797, 2, 32).max(axis=2)
    scales = np.maximum(blocks, 1) / np.float32(15)  # 0..16 maps to -8..7
    attrs = {"qtype": "per_group", "group_shape": [1, 32], "zps": -8}
    ports = {"scale": "scales"}
    write_digits(
        "digits_int4_block",
        "The digits as int4, with a scale for each block of 32 pixels.",
        [
            node("Quantize", "quantized", {"x": "images", **ports}, **attrs, dtype="int4"),
            node("Dequantize", "restored", {"x": "quantized", **ports}, **attrs,
                 dtype="bfloat16"),
        ],
        lambda x: np.repeat(scales, 32, axis=1) / 2 + x / 256,
        constants=[{**declare("scales", scales), "file": "constants.safetensors",
                    "tensor": "scales"}],
        files={"constants.safetensors": {"scales": scales}},
    )


def make_float8():
    images = load_tensors(HERE / "digits_pixels" / "inputs.safetensors")["images"].astype(np.float32)
    brightest = np.maximum(images.max(axis=0), 1)
    one = {"scales": shortest(np.float32(16) / np.float32(448))}
    each = {"qtype": "per_channel", "axis": 1, "scales": shortest(brightest / np.float32(448))}
    small = {"dtype": "float8_e4m3fn"}
    write_digits(
        "digits_fp8",
        "The digits as float8_e4m3fn with one scale, then with a scale per pixel.",
        [
            node("Quantize", "quantized", {"x": "images"}, **one, **small),
            node("Dequantize", "once", {"x": "quantized"}, **one, dtype="bfloat16"),
            node("Quantize", "requantized", {"x": "once"}, **each, **small),
            node("Dequantize", "restored", {"x": "requantized"}, **each, dtype="bfloat16"),
        ],
        lambda x: x / 7,
    )


def make_nvfp4():
    overall = {"scales": shortest(np.float32(16) / np.float32(6 * 448))}
    blocks = {"qtype": "per_group", "group_shape": [1, 16]}
    write_digits(
        "digits_nvfp4",
        "The digits as NVFP4: blocks of 16 pixels with float8 scales, and a scale of the scales.",
        [
            node("DynamicQuantize", "quantized", {"x": "images"}, **blocks, scheme="nvfp4",
                 global_scales=overall["scales"], dtype="float4_e2m1"),
            node("Dequantize", "scale", {"x": "quantized.scale"}, **overall, dtype="float32"),
            node("Dequantize", "restored", {"x": "quantized", "scale": "scale"}, **blocks,
                 dtype="bfloat16"),
        ],
        lambda x: np.repeat(x.reshape(1797, 4, 16).max(axis=2), 16, axis=1) / 5,
        outputs={"scale": "quantized.scale"},
    )


def make():
    make_int4()
    make_float8()
    make_nvfp4()
