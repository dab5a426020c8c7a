# SPDX-License-Identifier: Apache-2.0
"""Compares Quantize and Dequantize on target torchao with torchao itself: float64 scales, int64 zero points, parameters
of blocks in any shape of their count, and bounds, also equal ones.

    python3 torchao_wide.py QDQ_BINARY [--count N] [--seed N]

Inputs are random, half of them ties in the arithmetic of float64. Results must have equal bits. Codes of int32 beyond its
range are left out: PyTorch does not define them. Needs torch, torchao and safetensors.
"""

import argparse
import json
import logging
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

logging.disable(logging.WARNING)

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from torchao.quantization import quant_primitives as ao  # noqa: E402

FUNCTIONS = {("Quantize", "int"): ao.quantize_affine, ("Quantize", "float"): ao._quantize_affine_tinygemm,
             ("Quantize", "none"): ao._quantize_affine_no_zero_point, ("Dequantize", "int"): ao.dequantize_affine,
             ("Dequantize", "float"): ao._dequantize_affine_tinygemm,
             ("Dequantize", "none"): ao._dequantize_affine_no_zero_point}
LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1),
          "float8_e4m3fn": (-448, 448), "float8_e5m2": (-57344, 57344)}
FLOATS = ("float32", "float16", "bfloat16")


def granularity(rng, shape):
    """Attributes, block size, and shape of the parameters."""
    kind, block = rng.choice(("tensor", "channel", "group")), list(shape)
    if kind == "tensor":
        return {}, block, []
    if kind == "channel":
        axis = rng.randrange(len(shape))
        block[axis] = 1
        return {"qtype": "per_channel", "axis": axis}, block, [shape[axis]]
    block = [rng.choice([k for k in range(1, dim + 1) if dim % k == 0]) for dim in shape]
    grid = [dim // k for dim, k in zip(shape, block)]
    count = math.prod(grid)
    attrs = {"qtype": "per_group", "group_shape": block}
    return attrs, block, rng.choice((grid, grid, [count], [count, 1], [1, count, 1]))


def bounds(rng, dtype):
    """quant_min and quant_max, or None."""
    least, greatest = (max(LIMITS[dtype][0], -300), min(LIMITS[dtype][1], 300))
    if not dtype.startswith("float8") and rng.random() < 0.6:
        return None
    low, high = sorted(rng.randint(least, greatest) for _ in range(2))
    kind = rng.random()
    if kind < 0.3:
        return low, low
    return (low + 0.25, high - 0.3) if kind < 0.6 and high - low > 2 else (low, high)


def zero_points(rng, domain, dtype, shape):
    count = math.prod(shape)
    if domain == "none":
        return None
    if domain == "float":
        return torch.randn(count).reshape(shape) * 3
    kind = rng.choice((torch.int32, torch.int64, torch.int64))
    most = 2**30 if kind == torch.int64 and dtype in ("int16", "int32") else 120
    return torch.tensor([rng.randint(-most, most) for _ in range(count)], dtype=kind).reshape(shape)


def reals(rng, shape, block, scale, dtype):
    """Random numbers, or ties: whole numbers and a half times the scale."""
    if rng.random() < 0.5:
        return (torch.randn(shape) * 10).to(getattr(torch, dtype))
    spread = scale.double().reshape([dim // k for dim, k in zip(shape, block)])
    for i, k in enumerate(block):
        spread = spread.repeat_interleave(k, i)
    return ((torch.randint(-20, 20, shape) + 0.5).double() * spread).to(torch.float32).to(getattr(torch, dtype))


def make_case(rng):
    """A graph, its tensors, the input and torchao's result."""
    shape = rng.choice(([4, 6], [3, 8, 4], [30], [2, 15, 2]))
    op, domain = rng.choice(("Quantize", "Dequantize")), rng.choice(("int", "int", "int", "float", "none"))
    codes = rng.choice([one for one in LIMITS if not one.startswith("float8") or (op, domain) == ("Quantize", "int")])
    real, limits = rng.choice(FLOATS), bounds(rng, codes)
    attrs, block, param_shape = granularity(rng, shape)
    scale = torch.rand(param_shape, dtype=torch.float64) * 0.3 + 0.01
    scale = (-scale if rng.random() < 0.1 else scale).to(rng.choice((torch.float64,) * 4 + (torch.float32,)))
    zero = zero_points(rng, domain, codes, param_shape)
    if op == "Quantize":
        x, words = reals(rng, shape, block, scale, real), {}
    else:
        x = torch.randint(LIMITS[codes][0], LIMITS[codes][1] + 1, shape).to(getattr(torch, codes))
        words = {"output_dtype": getattr(torch, real)}
    wanted = FUNCTIONS[op, domain](x, tuple(block), scale, zero, getattr(torch, codes), *(limits or (None, None)), **words)
    attrs = {**attrs, "dtype": codes if op == "Quantize" else real, "zero_point_domain": domain}
    attrs |= {"quant_min": limits[0], "quant_max": limits[1]} if limits else {}
    tensors = {"scale": scale.contiguous(), **({} if zero is None else {"zero_point": zero.contiguous()})}
    held = [{"name": name, "dtype": str(one.dtype)[6:], "shape": param_shape, "file": "held.safetensors", "tensor": name}
            for name, one in tensors.items()]
    graph = {"format": "qdq/1", "target": "torchao", "constants": held,
             "inputs": [{"name": "x", "dtype": str(x.dtype)[6:], "shape": shape}],
             "nodes": [{"op": op, "name": "q", "inputs": {"x": "x", **{name: name for name in tensors}}, "attrs": attrs}],
             "outputs": [{"name": "y", "value": "q"}]}
    return graph, tensors, x, wanted


def result(qdq, folder, graph, tensors, x):
    save_file(tensors, folder / "held.safetensors")
    save_file({"x": x.contiguous()}, folder / "x.safetensors")
    (folder / "g.json").write_text(json.dumps(graph))
    words = [qdq, "run", "g.json", "-i", "x.safetensors", "-o", "y.safetensors"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return load_file(folder / "y.safetensors")["y"] if done.returncode == 0 else done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("qdq", type=Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, different = random.Random(asked.seed), 0
    torch.manual_seed(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.count):
            graph, tensors, x, wanted = make_case(rng)
            found = result(asked.qdq.resolve(), Path(folder), graph, tensors, x)
            if isinstance(found, str) or not torch.equal(found.double().nan_to_num(1e9), wanted.double().nan_to_num(1e9)):
                different += 1
                print(number, json.dumps(graph["nodes"][0]), found, wanted)
    print(f"{asked.count} cases, {different} different")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
