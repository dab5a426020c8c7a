# SPDX-License-Identifier: Apache-2.0
"""Writes results of torchao for constructed elements on which a simpler formula is wrong, for
../../tests/graph/targets/torchao/test_torchao_edges.c.

    torchao_edges.py ../../tests/graph/targets/torchao/torchao_edges.h

Needs torch and torchao 0.18 on x86-64. Numbers are written as their codes.
"""

import struct
import sys

import torch
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.kernels import unpack_uint4
from torchao.prototype.mx_formats.mx_tensor import to_mx
from torchao.quantization import quant_primitives as qp

NAN, INF = float("nan"), float("inf")

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
    ("float32", "int32", "ASYMMETRIC", -2147483648, 2147483647, (-1, -2)),
    ("float32", "int32", "SYMMETRIC", -30000003, 67108864, (-1, 2)),
]
# The dtypes of x and scale, of y, the bounds, and four elements, by the scale 1 and the zero point 3.
CLAMPS = [
    ("float32", "int8", None, None, (NAN, INF, -INF, 3e9)),
    ("float32", "uint8", None, None, (NAN, INF, -INF, -3e9)),
    ("float32", "int16", None, None, (NAN, INF, 40000, -40000)),
    ("float32", "int32", None, None, (NAN, INF, -INF, 3e9)),
    ("float32", "int32", -1178293161, 955273010, (NAN, 1e9, -2e9, 5)),
    ("float32", "int8", 1, 6, (NAN, INF, -INF, 2)),
    ("bfloat16", "int8", None, None, (NAN, INF, -INF, 40)),
    ("bfloat16", "int16", None, None, (NAN, 40000, -40000, 1e30)),
    ("bfloat16", "int16", 0, 303, (NAN, 1000, -1, 300)),
    ("bfloat16", "int32", None, None, (NAN, 3e9, -3e9, 5)),
    ("float16", "int16", None, None, (NAN, 40000, -40000, INF)),
    ("float16", "uint8", None, None, (NAN, 300, -300, INF)),
]
# Elements of float32 by the dtype that they are cast to.
CASTS = {
    "float8_e8m0fnu": (0, -0.0, 5, 6, -3.5, 2**-127, 2**-126 * 1.5, 2**-130, 1e-45, 3 * 2**-128, 1.7e38, 2.6e38, 3e38, INF, NAN),
    "int8": (300, -300, 127.9, 128, -129, 3e9, INF, NAN),
    "uint8": (300, -1, -1.5, 255.9, 3e9, INF, NAN),
    "int16": (40000, -40000, 70000, 3e9, NAN),
    "uint16": (70000, -1, 3e9, NAN),
    "int32": (3e9, -3e9, 1e20, -INF, INF, NAN, 2**31, -(2**31)),
    "int64": (3e9, 1e20, -1e20, INF, NAN),
}
# The dtype of x, the dtypes that it is cast to, and elements. NaN of these small floats becomes 0, and uint8 of float64
# has the low bits of an int64.
WHOLE = ("int8", "uint8", "int16", "int32", "int64")
OTHER_CASTS = [(x, WHOLE, (NAN, 2)) for x in ("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float8_e5m2", "float8_e4m3fn")]
OTHER_CASTS += [("float64", (*WHOLE, "uint16"), (2**40 + 255.75, -(2**40) - 3, 2**33 + 1.5, 1e20, -INF, NAN, -1.5))]
GREATEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def blocks():
    """Blocks of four elements for each scheme of MX."""
    edges = [(INF, 1, -2, 3), (NAN, 1, -2, 3), (2**-126, -(2**-126), 2**-127, 0), (0, 0, -0.0, 0), (GREATEST, 1, -1e30, 0)]
    for y in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2"):
        for scheme in ("FLOOR", "CEIL", "EVEN", "RCEIL"):
            for elements in edges:
                if elements[0] == elements[0] or "float8" in y:  # float4 of NaN depends on its bits
                    yield y, scheme, elements
    for exponent in (-127, -126, -65, -64, -33, -17, -9, -5, -4, -1, 0, 3, 4, 8, 16, 32, 64, 100):
        for steps in (0, 1, 2, 3, 5, 6, 11, 12, 22, 23):
            most = 448 * 2.0**exponent * (1 + steps * 2.0**-23)
            if struct.unpack("<f", struct.pack("<f", most))[0] == most:
                yield "float8_e4m3fn", "RCEIL", (most, 0, 0, 0)


def bits(tensor):
    views = {1: torch.uint8, 2: torch.int16, 4: torch.int32}
    mask = (1 << 8 * tensor.element_size()) - 1
    return [v & mask for v in tensor.view(views[tensor.element_size()]).flatten().tolist()]


def numbers(values):
    return ", ".join(f"0x{v:X}" if v > 9 else str(v) for v in values)


def literal(value):
    return f"{value}f" if isinstance(value, float) else str(value)


def whole(value):
    return {-(2**31): "INT32_MIN", -(2**63): "INT64_MIN"}.get(value, value)


def choices():
    for x, y, scheme, low, high, elements in CHOICES:
        tensor = torch.tensor([elements], dtype=getattr(torch, x))
        dtype = getattr(torch, y)
        scale, zero = qp.choose_qparams_affine(
            tensor, MAPPINGS[scheme], (1, 2), dtype, low, high, scale_dtype=torch.float32
        )
        codes = qp.quantize_affine(tensor, (1, 2), scale, zero, dtype, low, high)
        yield (
            f"{{QDQ_{x.upper()}, QDQ_{y.upper()}, QDQ_{scheme}, {low}, {high}, {{{literal(elements[0])}, {literal(elements[1])}}}, "
            f"0x{bits(scale)[0]:08X}, {whole(zero.item())}, {{{whole(codes[0, 0].item())}, {whole(codes[0, 1].item())}}}}}"
        )


def clamps():
    for x, y, low, high, elements in CLAMPS:
        dtype, tensor = getattr(torch, y), torch.tensor(elements, dtype=getattr(torch, x))
        scale, zero = torch.ones(1, dtype=tensor.dtype), torch.tensor([3], dtype=torch.int32)
        codes = qp.quantize_affine(tensor, (4,), scale, zero, dtype, low, high)
        limits = f"true, {low}, {high}" if high is not None else "false, 0, 0"
        codes = ", ".join(str(whole(c)) for c in codes.tolist())
        yield f"{{QDQ_{x.upper()}, QDQ_{y.upper()}, {limits}, {{{floats(tensor)}}}, {{{codes}}}}}"


def casts():
    for x, targets, elements in [("float32", (y,), e) for y, e in CASTS.items()] + OTHER_CASTS:
        tensor = torch.tensor(elements, dtype=torch.float64).to(getattr(torch, x))
        for y in targets:
            codes = tensor.to(getattr(torch, y))
            codes = codes.view(torch.uint8) if codes.is_floating_point() else codes
            names = ", ".join(f"QDQ_{one.removesuffix('fnu').upper() if '8m0' in one else one.upper()}" for one in (x, y))
            for element, code in zip(tensor.double().view(torch.int64).tolist(), codes.tolist()):
                yield f"{{{names}, UINT64_C(0x{element % 2**64:016X}), {whole(code)}}}"


def powers():
    for y, scheme, elements in blocks():
        tensor = torch.tensor([elements], dtype=torch.float32)
        scale, codes = to_mx(tensor, getattr(torch, y), 4, ScaleCalculationMode[scheme])
        if y.startswith("float4"):
            codes = unpack_uint4(codes)
        name = y.removesuffix("fn_x2").upper()
        yield (
            f"{{QDQ_{name}, QDQ_MX_{scheme}, {{{floats(tensor)}}}, {bits(scale)[0]}, {{{numbers(bits(codes))}}}}}"
        )


def floats(tensor):
    return ", ".join(f"0x{v:08X}" for v in bits(tensor.float().contiguous()))


TABLES = [
    ("qdq_dtype x, y;\n    qdq_scheme scheme;\n    double quant_min, quant_max;\n    float elements[2];\n"
     "    uint32_t scale;\n    int32_t zero_point, codes[2];", "choices", choices),
    ("qdq_dtype x, y;\n    bool limited;\n    int64_t quant_min, quant_max;\n    uint32_t elements[4];\n"
     "    int32_t codes[4];", "clamps", clamps),
    ("qdq_dtype x, y;\n    uint64_t element;  // the bits of a double\n    int64_t code;", "casts", casts),
    ("qdq_dtype y;\n    qdq_scheme scheme;\n    uint32_t elements[4];\n    uint8_t scale, codes[4];", "powers", powers),
]  # fmt: skip


def main():
    with open(sys.argv[1], "w") as out:
        out.write(
            "// SPDX-License-Identifier: Apache-2.0\n"
            f"// Written by tools/peers/torchao_edges.py: results of torchao 0.18.0 with PyTorch {torch.__version__.split('+')[0]}.\n"
            '#include <qdq/qdq.h>\n\n// clang-format off\n'
        )
        for fields, name, rows in TABLES:
            out.write(f"static const struct {{\n    {fields}\n}} torchao_{name}[] = {{\n")
            out.writelines(f"    {row},\n" for row in rows())
            out.write("};\n")
        out.write("// clang-format on\n")



if __name__ == "__main__":
    main()
