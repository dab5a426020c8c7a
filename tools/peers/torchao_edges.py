# SPDX-License-Identifier: Apache-2.0
"""Writes results of torchao for constructed elements on which a simpler formula is wrong, for
../../tests/graph/targets/torchao/test_torchao_edges.c.

    torchao_edges.py ../../tests/graph/targets/torchao/torchao_edges.h

Needs torch and torchao 0.18 on x86-64. Numbers are written as their codes.
"""

import sys

import torch
from torchao.quantization import quant_primitives as qp

MAPPINGS = {
    "ASYMMETRIC": qp.MappingType.ASYMMETRIC,
    "SYMMETRIC": qp.MappingType.SYMMETRIC,
    "SYMMETRIC_NO_CLIPPING": qp.MappingType.SYMMETRIC_NO_CLIPPING_ERR,
}
# The dtypes of x and y, the scheme, the bounds, and two elements. In bfloat16 -301 is -300, and
# 32767 is 32768; in float16 -4099 is -4100.
CHOICES = [
    ("bfloat16", "int16", "ASYMMETRIC", -301, 300, (-1, 2)),
    ("bfloat16", "int16", "ASYMMETRIC", -303, 303, (-1, 2)),
    ("bfloat16", "int16", "ASYMMETRIC", -303, 303, (-2, 0)),
    ("bfloat16", "int16", "ASYMMETRIC", -32768, 32767, (-1, 3)),
    ("bfloat16", "int8", "ASYMMETRIC", -41.1, 59.4, (-0.75, 1)),
    ("bfloat16", "int8", "ASYMMETRIC", -99.9, 99.9, (-1, 0.5)),
    ("bfloat16", "int16", "SYMMETRIC", -19661, 13106, (-1, 2)),
    ("bfloat16", "int16", "SYMMETRIC_NO_CLIPPING", -1000, 415, (-1, 2)),
    ("float16", "int16", "ASYMMETRIC", -4099, 4099, (-1, 2)),
    ("float16", "int16", "SYMMETRIC", -9001, 2003, (-1, 2)),
    ("float32", "int8", "SYMMETRIC", -99.9, 30.3, (-1, 2)),
    ("float32", "int32", "SYMMETRIC", -30000003, 67108864, (-1, 2)),
]


def bits(tensor):
    views = {1: torch.uint8, 2: torch.int16, 4: torch.int32}
    mask = (1 << 8 * tensor.element_size()) - 1
    return [v & mask for v in tensor.view(views[tensor.element_size()]).flatten().tolist()]


def numbers(values):
    return ", ".join(f"0x{v:X}" if v > 9 else str(v) for v in values)


def choices():
    for x, y, scheme, low, high, elements in CHOICES:
        tensor = torch.tensor([elements], dtype=getattr(torch, x))
        dtype = getattr(torch, y)
        scale, zero = qp.choose_qparams_affine(
            tensor, MAPPINGS[scheme], (1, 2), dtype, low, high, scale_dtype=torch.float32
        )
        codes = qp.quantize_affine(tensor, (1, 2), scale, zero, dtype, low, high)
        yield (
            f"{{QDQ_{x.upper()}, QDQ_{y.upper()}, QDQ_{scheme}, {low}, {high}, {{{elements[0]}, {elements[1]}}}, "
            f"0x{bits(scale)[0]:08X}, {zero.item()}, {{{codes[0, 0].item()}, {codes[0, 1].item()}}}}}"
        )


def main():
    with open(sys.argv[1], "w") as out:
        out.write(
            "// SPDX-License-Identifier: Apache-2.0\n"
            f"// Written by tools/peers/torchao_edges.py: results of torchao 0.18.0 with PyTorch {torch.__version__.split('+')[0]}.\n"
            '#include <qdq/qdq.h>\n\n// clang-format off\nstatic const struct {\n'
            "    qdq_dtype x, y;\n    qdq_scheme scheme;\n    double quant_min, quant_max;\n    float elements[2];\n"
            "    uint32_t scale;\n    int32_t zero_point, codes[2];\n} torchao_choices[] = {\n"
        )
        out.writelines(f"    {row},\n" for row in choices())
        out.write("};\n// clang-format on\n")


if __name__ == "__main__":
    main()
