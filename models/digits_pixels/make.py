# SPDX-License-Identifier: Apache-2.0
"""Makes graph.json, inputs.safetensors and expected.safetensors of this folder."""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from dtypes import DTYPES
from folder import node, shortest, write_folder

if __name__ == "__main__":
    images = load_digits().data.astype(np.float32)  # [images, pixels], integers from 0 to 16
    assert images.shape == (1797, 64) and images.min() == 0 and images.max() == 16

    coarse = {"scales": shortest(np.float32(16) / np.float32(255)), "zps": -128}
    brightest = np.maximum(images.max(axis=0), 1)  # [pixels]
    fine = {"scales": shortest(brightest / np.float32(255)), "zps": -128}

    stored = images.astype(DTYPES["bfloat16"])
    assert np.array_equal(stored.astype(np.float32), images)
    made = write_folder(
        HERE,
        "1,797 handwritten digits: one scale, then a scale per pixel, then restored.",
        {"images": stored},
        [
            node("Quantize", "quantized", {"x": "images"}, **coarse, dtype="int8"),
            node("Requantize", "requantized", {"x": "quantized"}, axis=1,
                 **{"in_" + key: value for key, value in coarse.items()},
                 **{"out_" + key: value for key, value in fine.items()}, dtype="int8"),
            node("Dequantize", "restored", {"x": "requantized"}, qtype="per_channel", axis=1,
                 **fine, dtype="float32"),
        ],
        {"restored": "restored"},
    )

    # Each rounding is off by at most half a step: of 16/255, and of the pixel's own scale.
    allowed = (8 + brightest / 2) / 255 + 1e-6
    assert np.all(np.abs(made["restored"] - images) <= allowed)
