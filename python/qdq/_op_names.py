# SPDX-License-Identifier: Apache-2.0
"""The names that ops have as methods of Builder. Needs no library: the script that writes _ops.pyi reads it too."""

import keyword
import re

# Names of calls in C that do not follow from the name of the op.
_NAMES = {"BatchNormInference": "batch_norm", "BatchNormForwardTraining": "batch_norm_training",
          "StaticReshape": "reshape", "StaticTranspose": "transpose", "MatMulNBits": "matmul_nbits",
          "QGemm": "qgemm"}  # fmt: skip

# Keys of an input, a constant or a node that say where its value lies on a device (docs/format.md, section 9).
PLACE = ("memory_config", "layout", "tile", "transpose_tile")

# {port: attribute that takes its numbers}
NUMBERS = {"scale": "scales", "zero_point": "zps", "in_scale": "in_scales", "in_zero_point": "in_zps",
           "out_scale": "out_scales", "out_zero_point": "out_zps", "global_scale": "global_scales"}  # fmt: skip


def snake(name: str) -> str:
    """Returns a name in lower case with underscores, "layer_norm" for LayerNorm, with _ behind a keyword of Python."""
    for word in ("MatMul", "SoftMax", "ReLU", "PRelu", "SiLU", "QLinear", "NaN"):
        name = name.replace(word, word.capitalize())
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return words + "_" if keyword.iskeyword(words) else words


def method_name(op: str) -> str:
    """Returns the name of an op's method, which is the name of its call in C."""
    return _NAMES.get(op) or snake(op)
