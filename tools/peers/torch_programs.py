#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of torch.export as torch and as qdq.from_torch, and prints how many elements differ, and by how much.
Quantized models are made by PT2E's X86InductorQuantizer and by torchao's quantize_. Needs torch, torchao and qdq.

    torch_programs.py
"""

import sys
import warnings

import numpy as np
import qdq
import torch
import torchao
import torchao.quantization as ao
from torch import nn
from torch.nn import functional
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.inference_workflow import MXDynamicActivationMXWeightConfig
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)
from torchao.quantization.quantize_.common import KernelPreference


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.depthwise, self.pointwise = nn.Conv2d(16, 16, 3, stride=2, padding=1, groups=16), nn.Conv2d(16, 32, 1)
        self.up, self.groups = nn.ConvTranspose2d(32, 16, 2, 2), nn.GroupNorm(4, 16)
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        y = functional.hardswish(self.pointwise(functional.relu6(self.depthwise(x))))
        y = functional.leaky_relu(self.groups(self.up(y))) + x
        y = torch.cat([functional.max_pool2d(y, 3, 2, 1), functional.avg_pool2d(functional.silu(y), 2)], 2)
        return torch.softmax(self.last(functional.adaptive_avg_pool2d(y, 1).flatten(1)), -1)


class Tokens(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.table = heads, nn.Embedding(100, width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm, self.rms = nn.LayerNorm(width), nn.RMSNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, tokens):
        x = self.table(tokens)
        batch, length, width = x.shape
        parts = [p.view(batch, length, self.heads, -1).transpose(1, 2) for p in self.qkv(self.norm(x)).chunk(3, -1)]
        y = functional.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(y)
        return x + self.mlp(self.rms(x)) * 0.5


class Lines(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        return self.layers(x)


class Wide(nn.Module):
    """Scales of MX lie in tiles of 128 rows and 4 columns, whose borders these cross."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(320, 288), nn.ReLU(), nn.Linear(288, 40))

    def forward(self, x):
        return self.layers(x)


def pt2e(model, x):
    prepared = prepare_pt2e(torch.export.export(model, (x,)).module(),
                            X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config()))  # fmt: skip
    prepared(x)
    return convert_pt2e(prepared)


def quantized(config):
    def make(model, x):
        ao.quantize_(model, config)
        return model

    return make


def mx(kind, mode):
    """Weights and activations in blocks of 32, multiplied in bfloat16."""
    config = MXDynamicActivationMXWeightConfig(activation_dtype=kind, weight_dtype=kind, scaling_mode=mode,
                                               kernel_preference=KernelPreference.EMULATED)  # fmt: skip
    return lambda model, x: quantized(config)(model.to(torch.bfloat16), x)


def unchanged(model, x):
    return model


PROGRAMS = [
    ("images, float32", Images, unchanged, torch.randn(2, 3, 16, 16)),
    ("images, PT2E int8", Images, pt2e, torch.randn(2, 3, 16, 16)),
    ("tokens, float32", Tokens, unchanged, torch.randint(0, 100, (2, 12))),
    ("tokens, Int8WeightOnly", Tokens, quantized(ao.Int8WeightOnlyConfig()), torch.randint(0, 100, (2, 12))),
    ("lines, Int8WeightOnly", Lines, quantized(ao.Int8WeightOnlyConfig()), torch.randn(8, 64)),
    ("lines, Float8WeightOnly", Lines, quantized(ao.Float8WeightOnlyConfig()), torch.randn(8, 64)),
    ("lines, Int8DynamicActivationInt8Weight", Lines, quantized(ao.Int8DynamicActivationInt8WeightConfig()),
     torch.randn(8, 64)),
    ("lines, IntxWeightOnly int4", Lines,
     quantized(ao.IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=ao.PerGroup(32))), torch.randn(8, 64)),
    ("lines, Int8DynamicActivationIntxWeight int4", Lines,
     quantized(ao.Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=ao.PerGroup(32))),
     torch.randn(8, 64)),
    ("wide lines, IntxWeightOnly int4", Wide,
     quantized(ao.IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=ao.PerGroup(32))), torch.randn(6, 320)),
    *((f"wide lines, MX, {kind} by {mode.value}", Wide, mx(getattr(torch, kind), mode), torch.randn(6, 320, dtype=torch.bfloat16))
      for kind in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2") for mode in ScaleCalculationMode),
]  # fmt: skip


def main():
    worst = 0
    print(f"torch {torch.__version__}, torchao {torchao.__version__}, qdq {qdq.version()}")
    for name, kind, change, x in PROGRAMS:
        torch.manual_seed(0)
        program = torch.export.export(change(kind().eval(), x), (x,))
        wanted = program.module()(x).detach().float().numpy()
        graph = qdq.from_torch(program)
        (got,) = graph.run({graph.compile().inputs[0].name: x}).values()
        got = np.asarray(got).astype(np.float32)
        largest = float(np.abs(got - wanted).max() / np.abs(wanted).max())
        print(f"{name}: {int((got != wanted).sum())} of {wanted.size} elements differ, by {largest:.1e} of the largest")
        worst = max(worst, largest)
    return worst > 1e-5


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
