# SPDX-License-Identifier: Apache-2.0
"""Builds a quantized ONNX model node by node, with random scales, zero points and codes, for ort_graphs.py."""

from dataclasses import dataclass

import numpy as np
from onnx import helper, numpy_helper

U8, S8, S32, F32 = np.dtype("uint8"), np.dtype("int8"), np.dtype("int32"), np.float32


@dataclass
class Codes:
    """A value of 8-bit codes: the result of QuantizeLinear, or an input."""

    name: str
    shape: tuple
    dtype: np.dtype
    scale: np.float32
    zero: int
    rms: float  # of the reals, estimated
    moves: tuple = ()  # float nodes behind each DequantizeLinear, which make `shape`: op, more inputs, attributes

    def params(self):
        return self.dtype, self.scale, self.zero


@dataclass
class Real:
    """A float value before QuantizeLinear, or after DequantizeLinear."""

    name: str
    shape: tuple
    rms: float


class Builder:
    """A model that grows: nodes, constants, inputs with their values, outputs."""

    def __init__(self, rng, opset, flavour):
        self.rng, self.opset, self.flavour = rng, opset, flavour
        self.nodes, self.constants, self.inputs, self.outputs = [], [], {}, {}
        self.serial, self.ops = 0, []
        self.tie = rng.random() < 0.25  # scales are powers of two: many results lie between two codes
        self.named_zero = rng.random() < 0.93  # give zero points of 0 too
        self.omits_zero = False  # leave out zero points of 0 of int8 as well
        self.reals = {}  # by codes: a float that several nodes may read
        self.moves_floats = False  # leave out the QuantizeLinear behind nodes that only move elements

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def name(self, stem):
        self.serial += 1
        return f"{stem}{self.serial}"

    def const(self, values, stem="c"):
        name = self.name(stem)
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, op, inputs, count=1, domain="", **attrs):
        names = [self.name(op[0].lower()) for _ in range(count)]
        attrs = {k: v for k, v in attrs.items() if v is not None}
        self.nodes.append(helper.make_node(op, inputs, names, self.name(op + "_"), domain=domain, **attrs))
        return names[0] if count == 1 else names

    def group(self, op):
        self.ops.append(op)

    # Random parameters.

    def activation_type(self):
        return {"u8": U8, "s8": S8}.get(self.flavour) or self.pick(U8, S8)

    def zero(self, dtype):
        info = np.iinfo(dtype)
        middle = 128 if dtype == U8 else 0
        if self.omits_zero and self.chance(0.8):
            return 0
        odd = int(self.rng.integers(info.min, info.max + 1)) | 1
        return self.pick(middle, info.min, odd, odd, int(self.rng.integers(info.min, info.max + 1)))

    def scale(self, size):
        """A scale close to `size`."""
        size = max(float(size), 1e-12)
        if self.tie:
            return np.float32(2.0 ** np.round(np.log2(size)))
        return np.float32(size * self.rng.uniform(0.7, 1.4))

    def random_codes(self, dtype, shape):
        info = np.iinfo(dtype)
        if self.chance(0.2):  # saturated
            return self.rng.choice([info.min, info.max, info.max - 1], shape).astype(dtype)
        return self.rng.integers(info.min, info.max + 1, shape).astype(dtype)

    # Values.

    def input_codes(self, shape, dtype=None, scale=None, zero=None):
        dtype = dtype or self.activation_type()
        scale = self.scale(10 ** self.rng.uniform(-2.5, 0)) if scale is None else scale
        zero = self.zero(dtype) if zero is None else zero
        rms = float(scale) * float(np.hypot(74, np.mean([np.iinfo(dtype).min, np.iinfo(dtype).max]) - zero))
        if self.chance(0.5):  # a float input, and QuantizeLinear
            name = self.float_input(shape, rms)
            return self.quantize(Real(name, tuple(shape), rms), dtype, scale, zero)
        name = self.name("x")
        self.inputs[name] = self.random_codes(dtype, shape)
        return Codes(name, tuple(shape), dtype, scale, zero, rms)

    def float_input(self, shape, rms=1.0):
        name = self.name("f")
        values = self.rng.normal(0, rms, shape)
        if self.tie:
            values = np.round(values * 64) / 64
        self.inputs[name] = values.astype(F32)
        return name

    def constant_codes(self, shape, dtype, scale=None, zero=None):
        scale = self.scale(10 ** self.rng.uniform(-2, 0)) if scale is None else scale
        zero = self.zero(dtype) if zero is None else zero
        name = self.const(self.random_codes(dtype, shape), "k")
        return Codes(name, tuple(shape), dtype, scale, zero, float(scale) * 90)

    def params(self, dtype, scale, zero, default=U8):
        """The scale, and the zero point unless it is 0 and may be left out; `default` is the type of codes without one."""
        names = [self.const(np.asarray(scale, F32), "s")]
        zero = np.asarray(zero)
        left_out = self.chance(0.5) if self.omits_zero else not self.named_zero and dtype == U8
        if not left_out or zero.any() or dtype != default:
            names.append(self.const(zero.astype(dtype), "z"))
        return names

    def quantize(self, real, dtype=None, scale=None, zero=None, spread=None):
        """Q of a real; without a scale, one with which most values fit."""
        dtype = dtype or self.activation_type()
        scale = self.scale(real.rms / (spread or self.rng.uniform(30, 90))) if scale is None else scale
        zero = self.zero(dtype) if zero is None else zero
        named = self.omits_zero and self.opset >= 21 and self.chance(0.5)
        attrs = {"output_dtype": helper.np_dtype_to_tensor_dtype(dtype)} if named else {}
        params = self.params(dtype, scale, zero, dtype if named else U8)
        name = self.node("QuantizeLinear", [real.name, *params], **attrs)
        rms = min(real.rms, float(scale) * 150)
        return Codes(name, real.shape, dtype, scale, zero, rms)

    def dequantize(self, codes, axis=None):
        attrs = {} if axis is None or self.opset < 13 else {"axis": axis}
        shared = self.moves_floats and self.chance(0.4)
        key = codes.name, str(codes.moves)
        if shared and key in self.reals:
            return Real(self.reals[key], codes.shape, codes.rms)
        name = self.node("DequantizeLinear", [codes.name, *self.params(*codes.params(), codes.dtype)], **attrs)
        for op, inputs, more in codes.moves:
            name = self.node(op, [name, *inputs], **more)
        if shared:
            self.reals[key] = name
        return Real(name, codes.shape, codes.rms)

    # The end.

    def output(self, name, shape, dtype):
        self.outputs[name] = (helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), list(shape))

    def model(self):
        inputs = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
            for n, v in self.inputs.items()
        ]
        outputs = [helper.make_tensor_value_info(n, *kind) for n, kind in self.outputs.items()]
        graph = helper.make_graph(self.nodes, "graph", inputs, outputs, self.constants)
        imports = [helper.make_opsetid("", self.opset)]
        if any(n.domain for n in self.nodes):
            imports.append(helper.make_opsetid("com.microsoft", 1))
        return helper.make_model(graph, opset_imports=imports, ir_version=8 if self.opset < 21 else 10)

