# SPDX-License-Identifier: Apache-2.0
"""Runs groups in torchao and PyTorch on this CPU, for peers.py: Quantize, Dequantize and DynamicQuantize by the functions
that torchao has for the dtype, Requantize as its two halves, Cast as Tensor.to, and small graphs node by node."""

import logging

logging.disable(logging.WARNING)

import torch
import torchao
import torchao_names as names
from torchao.prototype.mx_formats import mx_tensor
from torchao.quantization import quant_primitives as ao

RENAMED = {"float8_e8m0": "float8_e8m0fnu", "int4": "int8", "int2": "int8", "float4_e2m1": "uint8"}
STORED = {"uint4": torch.uint8, "uint2": torch.uint8}
BOUNDS = {"int4": (-8, 7), "int2": (-2, 1)}
MAPPINGS = {"asymmetric": "ASYMMETRIC", "symmetric": "SYMMETRIC", "symmetric_no_clipping": "SYMMETRIC_NO_CLIPPING_ERR"}
FLOAT8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


class Lacking(Exception):
    """torchao has no function for a node."""


def torch_of(dtype):
    """The dtype that torchao's functions are given; float4 is a byte for each code here."""
    name = RENAMED.get(dtype, dtype)
    if not hasattr(torch, name):
        raise Lacking(f"no dtype {dtype}")
    return getattr(torch, name)


class Value:
    """A tensor and the dtype that a file gives it."""

    def __init__(self, dtype, tensor):
        self.dtype, self.tensor = dtype, tensor

    def bytes(self):
        made = self.tensor.contiguous()
        return (made.reshape(-1).view(torch.uint8) if made.numel() else made).numpy().tobytes()


def value(one):
    """A tensor of a group as a Value."""
    flat = torch.frombuffer(bytearray(one.bytes()), dtype=torch.uint8)
    return Value(one.dtype, flat.view(STORED.get(one.dtype) or torch_of(one.dtype)).reshape(one.shape))


def blocks(attrs, shape):
    """The size of the blocks that have a scale each."""
    block, kind = list(shape), attrs.get("qtype", "per_tensor")
    if kind == "per_channel":
        block[attrs.get("axis", 1)] = 1
    return attrs["group_shape"] if kind == "per_group" else block


def grid(block, shape):
    return [dim // k for dim, k in zip(shape, block)]


def parameters(ports, attrs):
    """Scale and zero point, from ports or attributes; a zero point that is missing is 0."""
    scale, domain = ports.get("scale"), attrs.get("zero_point_domain", "int")
    scale = scale.tensor if scale else torch.tensor(attrs["scales"], dtype=torch.float32)
    zero = ports.get("zero_point")
    if zero or domain == "none":
        return scale, zero and zero.tensor
    kind = torch.float32 if domain == "float" else torch.int32
    zero = torch.tensor(attrs.get("zps", 0), dtype=kind)
    return scale, zero if "zps" in attrs else zero.expand(scale.shape).contiguous()


def limits(attrs, dtype):
    """The bounds of a clamp; those of int4 and int2, which are int8 here, are always given."""
    low, high = BOUNDS.get(dtype, (None, None))
    return attrs.get("quant_min", low), attrs.get("quant_max", high)


def function(name, attrs):
    return names.affine(name, attrs.get("zero_point_domain", "int"))


def quantize(ports, attrs):
    x, dtype = ports["x"].tensor, attrs["dtype"]
    block, low_high = blocks(attrs, x.shape), limits(attrs, attrs["dtype"])
    scale, zero = parameters(ports, attrs)
    if dtype == "float4_e2m1" or dtype.startswith("bfloat"):
        raise Lacking(f"no Quantize to {dtype}")
    if dtype in FLOAT8 and low_high == (None, None):
        y = names.quantize_float8(x, scale.reshape(grid(block, x.shape)), torch_of(dtype))
    else:
        y = function("quantize", attrs)(x, tuple(block), scale, zero, torch_of(dtype), *low_high)
    return {"y": Value(dtype, y)}


def dequantize(ports, attrs):
    x, dtype = ports["x"], attrs["dtype"]
    block = blocks(attrs, x.tensor.shape)
    scale, zero = parameters(ports, attrs)
    if x.dtype == "float4_e2m1" or scale.dtype == torch.float8_e8m0fnu:
        return {"y": Value(dtype, scaled_blocks(x, scale, block, torch_of(dtype)))}
    if x.dtype in FLOAT8:
        y = names.dequantize_float8(x.tensor, scale.reshape(grid(block, x.tensor.shape)), torch_of(dtype))
    else:
        y = function("dequantize", attrs)(x.tensor, tuple(block), scale, zero, torch_of(x.dtype), *limits(attrs, x.dtype),
                                          output_dtype=torch_of(dtype))  # fmt: skip
    return {"y": Value(dtype, y)}


def scaled_blocks(x, scale, block, dtype):
    """Dequantizes blocks of MX and NVFP4."""
    codes = names.pack_uint4(x.tensor) if x.dtype == "float4_e2m1" else x.tensor
    if scale.dtype == torch.float8_e4m3fn:
        return names.from_nvfp4(codes, scale, block[-1], dtype)
    if scale.dtype != torch.float8_e8m0fnu:
        raise Lacking(f"no Dequantize of {x.dtype} by {scale.dtype}")
    kind = names.FLOAT4 if x.dtype == "float4_e2m1" else torch_of(x.dtype)
    return names.from_mx(codes, scale, kind, block[-1], dtype)


def choose(ports, attrs):
    x, dtype, scheme = ports["x"].tensor, attrs["dtype"], attrs.get("scheme", "asymmetric")
    block, low_high = blocks(attrs, x.shape), limits(attrs, attrs["dtype"])
    if len(ports) > 1 or "scales" in attrs:
        raise Lacking("scales are given")
    if scheme == "nvfp4" or scheme.startswith("mx_"):
        return choose_block(x, attrs, block[-1])
    if dtype in FLOAT8:
        scale = names.choose_float8(x, block, torch_of(dtype))
        y = names.quantize_float8(x, scale, torch_of(dtype))
        return {"y": Value(dtype, y), "scale": Value("float32", scale)}
    kind, out = torch_of(dtype), torch_of(attrs.get("scale_dtype", "float32"))
    scale, zero = ao.choose_qparams_affine(x, ao.MappingType[MAPPINGS[scheme]], block, kind, *low_high, eps=attrs.get("eps"),
                                           scale_dtype=out)  # fmt: skip
    y = ao.quantize_affine(x, block, scale, zero, kind, *low_high)
    low, high = ao._get_and_check_qmin_qmax(kind, *low_high)  # -2^31, of NaN, is the least code as qdq has it
    zero = zero.clamp(int(low), int(high)).to(STORED.get(dtype, kind))
    return {"y": Value(dtype, y), "scale": Value(attrs.get("scale_dtype", "float32"), scale),
            "zero_point": Value(dtype, zero)}  # fmt: skip


def choose_block(x, attrs, size):
    """Codes and scales of MX and NVFP4."""
    dtype, scheme = attrs["dtype"], attrs["scheme"]
    if scheme == "nvfp4":
        world = torch.tensor(attrs["global_scales"], dtype=torch.float32) if "global_scales" in attrs else None
        scale, y = names.nvfp4_tensor.nvfp4_quantize(x, size, world)
    else:
        mode = mx_tensor.ScaleCalculationMode[scheme[3:].upper()]
        kind = names.FLOAT4 if dtype == "float4_e2m1" else torch_of(dtype)
        scale, y = mx_tensor.to_mx(x, kind, size, mode)
    y = names.unpack_uint4(y) if dtype == "float4_e2m1" else y
    return {"y": Value(dtype, y), "scale": Value("float8_e4m3fn" if scheme == "nvfp4" else "float8_e8m0", scale)}


def requantize(ports, attrs):
    """The two halves: through float32."""
    half = {key: attrs[key] for key in ("qtype", "axis", "group_shape") if key in attrs}
    first = {**half, "dtype": "float32"}
    second = {**half, **{key: attrs[key] for key in ("quant_min", "quant_max") if key in attrs}, "dtype": attrs["dtype"]}
    for own, side in ((first, "in"), (second, "out")):
        own.update({key: attrs[f"{side}_{key}"] for key in ("scales", "zps") if f"{side}_{key}" in attrs})
        if "axis" in attrs:
            own["qtype"] = "per_channel" if isinstance(own.get("scales"), list) else "per_tensor"
    sides = {side: {key: ports[f"{side}_{key}"] for key in ("scale", "zero_point") if f"{side}_{key}" in ports}
             for side in ("in", "out")}  # fmt: skip
    middle = dequantize({"x": ports["x"], **sides["in"]}, first)["y"]
    return quantize({"x": middle, **sides["out"]}, second)


def cast(ports, attrs):
    if attrs["dtype"] in (*BOUNDS, *STORED, "float4_e2m1"):
        raise Lacking("Tensor.to has no such Cast")
    if ports["x"].dtype in (*BOUNDS, *STORED, "float4_e2m1"):
        raise Lacking("PyTorch does not compute on these codes")
    return {"y": Value(attrs["dtype"], ports["x"].tensor.to(torch_of(attrs["dtype"])))}


def plain(compute):
    """A function of tensors as an op whose result has the dtype of its first operand."""
    def run(ports, attrs):
        operands = list(ports.values())
        return {"y": Value(operands[0].dtype, compute(*(one.tensor for one in operands), attrs))}

    return run


def resized(x, attrs):
    if attrs["mode"] != "linear":
        raise Lacking("no such Interpolate")
    size = attrs["sizes"]
    return torch.nn.functional.interpolate(x, size, mode={1: "linear", 2: "bilinear"}[len(size)])


def joined(ports, attrs):
    return {"y": Value(ports["xs"][0].dtype, torch.cat([one.tensor for one in ports["xs"]], attrs["axis"]))}


OPS = {"Quantize": quantize, "Dequantize": dequantize, "DynamicQuantize": choose, "Requantize": requantize, "Cast": cast,
       "Concat": joined, "ReLU": plain(lambda x, attrs: torch.relu(x)), "Add": plain(lambda a, b, attrs: a + b),
       "Multiply": plain(lambda a, b, attrs: a * b), "Maximum": plain(lambda a, b, attrs: torch.maximum(a, b)),
       "Minimum": plain(lambda a, b, attrs: torch.minimum(a, b)), "Interpolate": plain(resized),
       "MatMul": plain(lambda a, b, attrs: a @ (b.mT if attrs.get("transpose_b") else b)),
       "StaticReshape": plain(lambda x, attrs: x.reshape(attrs["shape"])),
       "StaticTranspose": plain(lambda x, attrs: x.permute(attrs["order"]))}  # fmt: skip


def ask(group):
    """Returns {output: (dtype, bytes)}; None if torchao cannot run the group."""
    values = {name: value(one) for name, one in group.inputs.items()}
    nodes = group.nodes or [{"op": group.op, "name": "", "inputs": {port: port for port in values},
                             "attrs": group.attributes}]  # fmt: skip
    for node in nodes:
        if node["op"] not in OPS:
            raise Lacking(f"no {node['op']}")
        ports = {port: [values[one] for one in name] if isinstance(name, list) else values[name]
                 for port, name in node["inputs"].items()}  # fmt: skip
        found = OPS[node["op"]](ports, node["attrs"])
        values.update({node["name"]: found["y"]} if node["name"] else found)
    outputs = group.outputs or [name for name in ("y", "scale", "zero_point") if name in found]
    return {name: (values[name].dtype, values[name].bytes()) for name in outputs}


def backends(_given):
    """Returns {backend: a function that runs a group in it}, and the peer."""
    torch.set_num_threads(1)
    release = ".".join(torchao.__version__.split("+")[0].split(".")[:2])
    peer = f"torchao {torchao.__version__.split('+')[0]} with PyTorch {torch.__version__.split('+')[0]}, x86-64"
    return {f"torchao@{release}": ask}, peer
