# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/targets/torchao/torchao_bounds.h: torchao's results for bounds with fractions
and for bounds of float8.

    python3 torchao_bounds.py ../../tests/graph/targets/torchao/torchao_bounds.h

Needs torchao 0.18, as in the environment of torchao_golden.py. A case is a row: domain, dtypes of
x,
y and the scale, a grain, whether there is a zero point, two bounds, and twelve codes. Integers are
not asked about NaN, whose cast PyTorch leaves undefined.
"""

import sys
from itertools import cycle, product
from pathlib import Path

import torch
import torchao
from torchao.quantization import quant_primitives as qp

NUMBERS = [0.375, -0.125, 1.5, 12.5, -7.25, 100, -100, 1000, -1000, 3, float("inf"), -float("inf")]
BLOCKS = {"TENSOR": (2, 6), "CHANNEL": (1, 6), "GROUP": (1, 3)}
SCALES = {"TENSOR": [0.3], "CHANNEL": [0.3, 0.07], "GROUP": [0.3, 0.07, 2.5, 0.0625]}
ZERO_POINTS = {"TENSOR": [3], "CHANNEL": [3, -2], "GROUP": [3, -2, 0, 7]}
FLOAT_ZERO_POINTS = {"TENSOR": [2.5], "CHANNEL": [2.5, -1.25], "GROUP": [2.5, -1.25, 0, 7.75]}
STEPS = [
    ("float32", "float32"),
    ("bfloat16", "bfloat16"),
    ("bfloat16", "float32"),
    ("float16", "float16"),
]
BOUNDS = {
    "int8": [(-100.5, 99.9), (-50.25, 127), (2.5, 6.5), (-7.5, -2.5), (0.25, 0.75), (-128, 33.3)],
    "uint8": [(0.5, 200.5), (3, 99.9)],
    "int4": [(-7.5, 6.5), (-0.5, 7)],
    "uint4": [(0.5, 14.9), (2.5, 15)],
    "int16": [(-1000.5, 999.5), (-300.7, 16384)],
    "int32": [(-30000.5, 50.5), (-5, 12345.75)],
    "float8_e4m3fn": [(-100, 100), (-100.5, 100.5), (-100.1, 99.9), (-5, 448), (2.5, 6.25)],
    "float8_e5m2": [(-100, 100), (-1000.1, 900.1), (-57344, 12), (-0.375, 50.5)],
    "float8_e4m3fnuz": [(-100.5, 240)],
    "float8_e5m2fnuz": [(-100.1, 600)],
}
TORCH = {"int4": torch.int4, "uint4": torch.uint4}
COMPUTED = [-1, -0.5, 0.3125, 0.75, 1.5, 2]
QUANTIZE = {
    "INT": qp.quantize_affine,
    "FLOAT": qp._quantize_affine_tinygemm,
    "NONE": qp._quantize_affine_no_zero_point,
}


def torch_dtype(name):
    # torch cannot cast to int4: torchao stores it as int8, with these bounds.
    return torch.int8 if name == "int4" else TORCH.get(name) or getattr(torch, name)


def codes(y):
    if y.dtype.is_floating_point:
        return y.view(torch.uint8).flatten().tolist()
    return y.flatten().tolist()


def row(domain, x_dtype, scale_dtype, y_dtype, grain, bounds):
    is_float = y_dtype.startswith("float")
    numbers = [float("nan") if is_float and v == 3 else v for v in NUMBERS]
    x = torch.tensor(numbers).view(2, 6).to(getattr(torch, x_dtype))
    scale = torch.tensor(SCALES[grain]).to(getattr(torch, scale_dtype))
    zp = None
    if domain == "INT":
        zp = torch.tensor(ZERO_POINTS[grain], dtype=torch.int32)
    elif domain == "FLOAT":
        zp = torch.tensor(FLOAT_ZERO_POINTS[grain]).to(scale.dtype)
    y = QUANTIZE[domain](x, BLOCKS[grain], scale, zp, torch_dtype(y_dtype), *bounds)
    names = ", ".join(f"QDQ_{name.upper()}" for name in (x_dtype, scale_dtype, y_dtype))
    values = ", ".join(str(code) for code in codes(y))
    low, high = bounds
    return f"    {{QDQ_DOMAIN_{domain}, {names}, {grain}, {low}, {high}, {{{values}}}}},\n"


def rows():
    grains = cycle(BLOCKS)
    for y, (x, scale) in product(BOUNDS, STEPS):
        for bounds, domain in product(BOUNDS[y], ("INT", "NONE")):
            yield row(domain, x, scale, y, next(grains), bounds)
    for y, (x, scale) in product(("int8", "uint4"), STEPS):
        for bounds in BOUNDS[y]:
            yield row("FLOAT", x, scale, y, next(grains), bounds)


def computed_row(scheme, x_dtype, y_dtype, bounds):
    x, y = torch.tensor(COMPUTED).to(getattr(torch, x_dtype)), torch_dtype(y_dtype)
    scale, zp = qp.choose_qparams_affine(
        x, qp.MappingType[scheme], (6,), y, *bounds, scale_dtype=torch.float32
    )
    values = ", ".join(str(code) for code in codes(qp.quantize_affine(x, (6,), scale, zp, y, *bounds)))
    bits, low, high = scale.view(torch.int32).item(), *bounds
    names = f"QDQ_{scheme.replace('_ERR', '')}, QDQ_{x_dtype.upper()}, QDQ_{y_dtype.upper()}"
    return f"    {{{names}, {low}, {high}, 0x{bits:08X}, {zp.item()}, {{{values}}}}},\n"


def computed_rows():
    schemes = ("ASYMMETRIC", "SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR")
    for y, scheme, x in product(("int8", "uint8", "int4"), schemes, ("float32", "bfloat16", "float16")):
        for bounds in BOUNDS[y]:
            if bounds[1] >= 1:
                yield computed_row(scheme, x, y, bounds)


def main(path):
    Path(path).write_text(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Written by tools/peers/torchao_bounds.py with "
        f"torch {torch.__version__.split('+')[0]} and torchao {torchao.__version__}; the script\n"
        "// describes the rows.\n"
        "// clang-format off\n"
        "static const bounds_case bounds_cases[] = {\n" + "".join(rows()) + "};\n"
        "static const computed_case computed_cases[] = {\n" + "".join(computed_rows()) + "};\n"
        "// clang-format on\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
