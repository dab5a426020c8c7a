# SPDX-License-Identifier: Apache-2.0
"""Runs a case of torchao_golden.py in torchao and returns the arrays that the CRC covers."""

import numpy as np
import torch
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.kernels import unpack_uint4
from torchao.prototype.mx_formats.mx_tensor import to_mx
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize
from torchao.quantization import quant_primitives as qp

from torchao_inputs import FLOATS, SMALL_FLOATS

# The one NaN of each dtype; all codes above infinity count as it.
NANS = {
    "float32": 0x7FC00000,
    "float16": 0x7E00,
    "bfloat16": 0x7FC0,
    "float8_e4m3fn": 0x7F,
    "float8_e5m2": 0x7F,
}
LARGEST = {
    "float32": 0x7F800000,
    "float16": 0x7C00,
    "bfloat16": 0x7F80,
    "float8_e4m3fn": 0x7E,
    "float8_e5m2": 0x7C,
}
SIGNED = {"u1": np.int8, "u2": np.int16, "u4": np.int32}
# torch's dtype for qdq dtypes that torch does not have by that name.
TORCH = {"int4": torch.int8, "float4_e2m1": torch.float4_e2m1fn_x2}
QUANTIZE = {
    "DOMAIN_INT": qp.quantize_affine,
    "DOMAIN_FLOAT": qp._quantize_affine_tinygemm,
    "DOMAIN_NONE": qp._quantize_affine_no_zero_point,
}
UNCAST = {
    "DOMAIN_INT": qp._quantize_affine_no_dtype_cast,
    "DOMAIN_FLOAT": qp._quantize_affine_tinygemm_no_dtype_cast,
    "DOMAIN_NONE": qp._quantize_affine_no_zero_point_no_dtype_cast,
}
DEQUANTIZE = {
    "DOMAIN_INT": qp.dequantize_affine,
    "DOMAIN_FLOAT": qp._dequantize_affine_tinygemm,
    "DOMAIN_NONE": qp._dequantize_affine_no_zero_point,
}


def torch_dtype(name):
    return TORCH.get(name) or getattr(torch, name)


def stored_dtype(name):
    return torch.uint8 if name == "uint4" else torch_dtype(name)


def tensor(name, words):
    """A tensor of a dtype, from the codes of its elements."""
    signed = torch.from_numpy(np.ascontiguousarray(words).view(SIGNED[words.dtype.str[1:]]))
    return signed.view(stored_dtype(name))


def codes(name, result):
    """The codes of a result, with all NaN as one."""
    width = result.element_size()
    views = {1: (torch.uint8, "u1"), 2: (torch.int16, "<u2"), 4: (torch.int32, "<u4")}
    words = result.contiguous().view(views[width][0]).numpy().view(views[width][1]).copy()
    if name in NANS:
        size = words & ((1 << (8 * width - 1)) - 1)
        words[size > LARGEST[name]] = NANS[name]
    return words


def parameters(case, data):
    """Scale and zero point as tensors with a number for each block, None if absent."""
    zp = None
    if case.how == "DOMAIN_FLOAT":
        words = np.broadcast_to(data.zp_codes, data.scale_codes.shape)
        zp = tensor(case.zp or "float32", words)
    elif case.how == "DOMAIN_INT":
        zp = torch.from_numpy(data.zps.astype(np.int32))
    return tensor(data.scale_dtype, data.scale_codes), zp


def quantized(how, x, block, scale, zp, y, limits):
    """Quantizes to an integer after checking that nothing undefined happens."""
    wide = UNCAST[how](x, block, scale, zp, *limits)
    info = torch.iinfo(stored_dtype(y))
    assert not wide.isnan().any() and info.min <= wide.min() and wide.max().double() <= info.max
    return QUANTIZE[how](x, block, scale, zp, torch_dtype(y), *limits)


def grid(data):
    return [d // b for d, b in zip(data.grain.shape, data.grain.block)]


def quantize(case, data):
    x, (scale, zp) = tensor(case.x, data.x), parameters(case, data)
    if case.y in SMALL_FLOATS:
        y = qp._quantize_affine_float8(x, scale.view(grid(data)), torch_dtype(case.y))
    else:
        y = quantized(case.how, x, data.grain.block, scale, zp, case.y, (case.qmin, case.qmax))
    return [codes(case.y, y)]


def dequantize(case, data):
    x, (scale, zp) = tensor(case.x, data.x), parameters(case, data)
    if case.x in SMALL_FLOATS:
        y = qp._dequantize_affine_float8(x, scale.view(grid(data)), torch_dtype(case.y))
    else:
        y = DEQUANTIZE[case.how](
            x,
            data.grain.block,
            scale,
            zp,
            torch_dtype(case.x),
            case.qmin,
            case.qmax,
            output_dtype=torch_dtype(case.y),
        )
    return [codes(case.y, y)]


def requantize(case, data):
    """Dequantizes to float32, then quantizes that with one scale and zero point."""
    x, (scale, zp) = tensor(case.x, data.x), parameters(case, data)
    middle = qp.dequantize_affine(x, data.grain.block, scale, zp, torch_dtype(case.x))
    scale, zp = torch.tensor([data.out_scale], dtype=torch.float32), torch.tensor([data.out_zp])
    y = quantized(
        "DOMAIN_INT", middle, data.grain.shape, scale, zp.int(), case.y, (case.qmin, case.qmax)
    )
    return [codes(case.y, y)]


def affine(case, data):
    x, block = tensor(case.x, data.x), data.grain.block
    mapping = case.how.replace("NO_CLIPPING", "NO_CLIPPING_ERR")
    scale, zp = qp.choose_qparams_affine(
        x,
        qp.MappingType[mapping],
        block,
        torch_dtype(case.y),
        case.qmin,
        case.qmax,
        eps=case.eps or None,
        scale_dtype=torch.float32,
    )
    y = quantized("DOMAIN_INT", x, block, scale, zp, case.y, (case.qmin, case.qmax))
    return [codes(case.y, y), codes("float32", scale), codes(case.y, zp.to(stored_dtype(case.y)))]


def float8(case, data):
    x, dtype = tensor(case.x, data.x), torch_dtype(case.y)
    scale = qp._choose_scale_float8(x, data.grain.block, dtype)
    return [codes(case.y, qp._quantize_affine_float8(x, scale, dtype)), codes("float32", scale)]


def assert_rounded_up(x, largest, scale):
    """Asserts that torchao's float32 logarithm has seen all bits of the number that it rounded
    up."""
    least = x.view(*scale.shape, -1).abs().amax(-1).float() / largest
    bits = least.view(torch.int32)
    assert (scale.view(torch.uint8) == (bits >> 23) + ((bits & 0x7FFFFF) > 0)).all()


def mx(case, data):
    mode, x = ScaleCalculationMode[case.how[3:]], tensor(case.x, data.x)
    scale, y = to_mx(x, torch_dtype(case.y), data.grain.block[-1], mode)
    if case.how == "MX_RCEIL":
        assert_rounded_up(x, SMALL_FLOATS[case.y][3], scale)
    if case.y == "float4_e2m1":
        y = unpack_uint4(y)
    return [codes(case.y, y), codes("", scale)]


def nvfp4(case, data):
    world = None
    if case.zp_from != "ZP_NONE":
        world = torch.tensor(data.out_scale, dtype=torch.float32)
    x = tensor(case.x, data.x)
    scale, y = nvfp4_quantize(x, 16, world)
    return [codes(case.y, unpack_uint4(y)), codes("", scale)]


def run(case, data):
    if case.op != "DYNAMIC":
        return {"QUANTIZE": quantize, "DEQUANTIZE": dequantize, "REQUANTIZE": requantize}[case.op](
            case, data
        )
    if case.how == "NVFP4":
        return nvfp4(case, data)
    if case.how.startswith("MX"):
        return mx(case, data)
    return (float8 if case.y in SMALL_FLOATS else affine)(case, data)
