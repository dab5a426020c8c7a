# SPDX-License-Identifier: Apache-2.0
"""The functions that peer_torchao.py calls, under the names and with the arguments of torchao 0.11, 0.12 or 0.18."""

import functools
import inspect

import torch
from torchao.prototype.mx_formats import mx_tensor
from torchao.quantization import quant_primitives as ao

try:
    from torchao.prototype.mx_formats import nvfp4_tensor
    from torchao.prototype.mx_formats.kernels import pack_uint4, unpack_uint4
except ImportError:  # 0.11
    from torchao.prototype.mx_formats.custom_cast import pack_uint4, unpack_uint4

    nvfp4_tensor = None

FLOAT4 = getattr(torch, "float4_e2m1fn_x2", "fp4_e2m1")  # PyTorch 2.7 has no such dtype
SUFFIXES = {"int": "", "float": "_tinygemm", "none": "_no_zero_point"}


def named(*names):
    """Returns the function of quant_primitives that has one of these names; None if it has none."""
    return next((getattr(ao, name) for name in names if hasattr(ao, name)), None)


def affine(name, domain):
    """Returns quantize_affine or dequantize_affine of a zero_point_domain."""
    own = named(f"_{name}_affine{SUFFIXES[domain]}" if domain != "int" else f"{name}_affine")
    return own or functools.partial(getattr(ao, f"{name}_affine"), zero_point_domain=ao.ZeroPointDomain[domain.upper()])


quantize_float8 = named("_quantize_affine_float8", "quantize_affine_float8")
dequantize_float8 = named("_dequantize_affine_float8", "dequantize_affine_float8")


def choose_float8(x, block, dtype):
    """Returns the scale of float8; that of 0.11 is of the whole tensor."""
    choose = named("_choose_scale_float8", "_choose_qparams_affine_float8")
    if choose:
        return choose(x, block, dtype)
    return ao.choose_qparams_affine_float8(x, dtype) if list(block) == list(x.shape) else None


def from_mx(codes, scale, kind, size, dtype):
    """Dequantizes blocks of MX, whose function takes two choices more before 0.18."""
    more = len(inspect.signature(mx_tensor.to_dtype).parameters) - 5
    return mx_tensor.to_dtype(codes, scale, kind, size, dtype, *[False] * more)


def from_nvfp4(codes, scale, size, dtype):
    """Dequantizes blocks of NVFP4; 0.12 has dequantize under another name, and the scale first."""
    if "qdata" in inspect.signature(nvfp4_tensor.NVFP4Tensor.__new__).parameters:
        return nvfp4_tensor.NVFP4Tensor(codes, scale, size, dtype).dequantize(dtype)
    return nvfp4_tensor.NVFP4Tensor(scale, None, codes, size, dtype).to_dtype(dtype)
