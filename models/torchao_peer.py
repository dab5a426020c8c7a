# SPDX-License-Identifier: Apache-2.0
"""Computes nodes with torchao. Left out: the zero points of schemes that have none."""

import numpy as np

from dtypes import DTYPES, NAMES, is_integer, widened
from reference import global_scale_of, grid_of, is_computed, read_argument
from reference_torchao import range_of

try:
    import torch
    from torchao.prototype.mx_formats.config import ScaleCalculationMode
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize
    from torchao.quantization import quant_primitives as affine

    INSTALLED = True
except ImportError:
    INSTALLED = False

NAME = "torchao"
MAPPINGS = {
    "asymmetric": "ASYMMETRIC",
    "symmetric": "SYMMETRIC",
    "symmetric_no_clipping": "SYMMETRIC_NO_CLIPPING_ERR",
}
VIEWED = {
    "bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "float8_e8m0": "uint8"
}


def type_of(dtype):
    """PyTorch's type; 4-bit integers are int8 and uint8 with a narrower range."""
    theirs = {"int4": "int8", "uint4": "uint8", "int2": "int8",
              "float8_e8m0": "float8_e8m0fnu", "float4_e2m1": "float4_e2m1fn_x2"}
    return getattr(torch, theirs.get(NAMES[dtype], NAMES[dtype]))


def to_torch(array):
    for name, bits in VIEWED.items():
        if array.dtype == DTYPES[name]:
            whole = torch.from_numpy(np.array(array.view(bits)))
            return whole.view(type_of(array.dtype))
    return torch.from_numpy(np.array(widened(array)))


def to_numpy(tensor, dtype, shape):
    tensor = tensor.contiguous()
    for name, bits in VIEWED.items():
        if dtype == DTYPES[name]:
            return tensor.view(getattr(torch, bits)).numpy().view(dtype).reshape(shape)
    return tensor.numpy().astype(dtype).reshape(shape)


def unpacked(tensor, shape):
    """float4 codes, two to a byte, the first in the low bits."""
    codes = np.stack([tensor.numpy() & 15, tensor.numpy() >> 4], axis=-1).astype(np.uint8)
    return codes.reshape(shape).view(DTYPES["float4_e2m1"])


def dynamic(node, values, x, y, grid):
    """y and scale of a DynamicQuantize, and the zero point if there is one."""
    attrs, name = node.get("attrs", {}), node["name"]
    scheme = attrs.get("scheme", "asymmetric")
    if scheme.startswith("mx_"):
        mode = ScaleCalculationMode[scheme.removeprefix("mx_").upper()]
        scale, codes = to_mx(to_torch(x), type_of(y.dtype), grid.groups[-1], mode)
        four = y.dtype == DTYPES["float4_e2m1"]
        codes = unpacked(codes, y.shape) if four else to_numpy(codes, y.dtype, y.shape)
        return {name: codes, name + ".scale": to_numpy(scale, DTYPES["float8_e8m0"], grid.shape)}
    if scheme == "nvfp4":
        overall, two_levels = global_scale_of(node, values)
        scale, codes = nvfp4_quantize(to_torch(x), 16, to_torch(overall) if two_levels else None)
        scale = to_numpy(scale, DTYPES["float8_e4m3fn"], grid.shape)
        return {name: unpacked(codes, y.shape), name + ".scale": scale}
    if not is_integer(y.dtype):
        scale = affine._choose_scale_float8(to_torch(x), list(grid.groups), type_of(y.dtype))
        codes = affine._quantize_affine_float8(to_torch(x), scale, type_of(y.dtype))
        scale = to_numpy(scale, DTYPES["float32"], grid.shape)
        return {name: to_numpy(codes, y.dtype, y.shape), name + ".scale": scale}
    bounds = range_of(attrs, y.dtype)
    mapping = affine.MappingType[MAPPINGS[scheme]]
    scale, zero = affine.choose_qparams_affine(
        to_torch(x), mapping, grid.groups, type_of(y.dtype), *bounds, scale_dtype=torch.float32
    )
    codes = affine.quantize_affine(
        to_torch(x), grid.groups, scale, zero, type_of(y.dtype), *bounds
    )
    return {
        name: to_numpy(codes, y.dtype, y.shape),
        name + ".scale": to_numpy(scale, DTYPES["float32"], grid.shape),
        name + ".zero_point": to_numpy(zero, y.dtype, grid.shape),
    }


def peer_outputs(node, values):
    """The results of torchao for the node: arrays by value name; empty if it cannot run it."""
    op, name, attrs = node["op"], node["name"], node.get("attrs", {})
    x, y = values[node["inputs"]["x"]], values[name]
    grid = grid_of(attrs, x.shape)
    if is_computed(node):
        return dynamic(node, values, x, y, grid)

    scale, kind = read_argument(node, values, "scale", "scales")
    scale = scale if kind == "port" else scale.astype(np.float32)
    quantized = x.dtype if op == "Dequantize" else y.dtype
    if not is_integer(quantized):  # torchao keeps scales that are small floats as float32
        wide = to_torch(scale.astype(np.float32).reshape(grid.shape or (1,) * x.ndim))
        if quantized == DTYPES["float4_e2m1"]:
            return {}
        if grid.shape and len(grid.shape) == 1:
            axis = [d for d, group in enumerate(grid.groups) if group == 1][0]
            wide = wide.reshape([-1 if d == axis else 1 for d in range(x.ndim)])
        if op == "Dequantize":
            made = affine._dequantize_affine_float8(to_torch(x), wide, type_of(y.dtype))
        else:
            made = affine._quantize_affine_float8(to_torch(x), wide, type_of(y.dtype))
        return {name: to_numpy(made, y.dtype, y.shape)}

    zero, kind = read_argument(node, values, "zero_point", "zps", np.zeros(grid.shape, np.int32))
    real = attrs.get("zero_point_domain") == "float"
    if kind != "port":
        zero = zero.astype(np.float32 if real else np.int32)
    form = "_tinygemm" if real else ""
    call = getattr(affine, ("_" if real else "") + f"{op.lower()}_affine" + form)
    last = {"output_dtype": type_of(y.dtype)} if op == "Dequantize" else {}
    made = call(to_torch(x), grid.groups, to_torch(scale), to_torch(zero), type_of(quantized),
                *range_of(attrs, quantized), **last)
    return {name: to_numpy(made, y.dtype, y.shape)}
