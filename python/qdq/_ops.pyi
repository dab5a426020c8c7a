# SPDX-License-Identifier: Apache-2.0
"""Signatures of the methods that add a node. python/stub.py prints this file from the library's table of ops."""

from typing import Literal, Optional, Sequence, Tuple, Union

from ._builder import Value
from ._types import ArrayLike, DeviceLayout, Dtype, Floats, Ints, MemoryConfig

# A value of the graph under construction, or an array that becomes a constant.
Operand = Union[Value, ArrayLike]

class Op:
    name: str
    summary: str
    inputs: Sequence[str]
    outputs: Sequence[str]

class Ops:
    def quantize(
        self, x: Operand, scale: Optional[Operand] = None, zero_point: Optional[Operand] = None, *,
        qtype: Optional[Literal["per_tensor", "per_channel", "per_group"]] = "per_tensor",
        axis: Optional[int] = 1, group_shape: Optional[Sequence[int]] = None, scales: Optional[Floats] = None,
        zps: Optional[Ints] = 0, dtype: Optional[Dtype] = "int8", quant_min: Optional[float] = None,
        quant_max: Optional[float] = None, saturate: Optional[bool] = None,
        zero_point_domain: Optional[Literal["int", "float", "none"]] = "int",
        output_tensor: Optional[Value] = None, queue_id: Optional[int] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Quantize: y = clamp(round(x / scale) + zero_point).

        qtype: which elements share a scale and a zero point; a group_shape, or several scales decide it where it is
            left out (default: per_tensor).
        axis: per_channel: the dim that keeps its own parameters, in [-rank, rank - 1] (default: 1).
        group_shape: per_group: elements of a block for each dim of x, -1 is the whole dim.
        scales: constant scale, or the port: 1, dim[axis], or one per block in row-major order.
        zps: constant zero point, or the port: 1, or as many as scales (default: 0).
        dtype: of the result; the default is the dtype that target core gives (default: int8).
        quant_min: least quantized value (default: of the dtype).
        quant_max: greatest quantized value (default: of the dtype).
        saturate: float8: clamp to the largest value, else NaN or infinity (default: as the target does).
        zero_point_domain: int: a code; float: the real value of the middle code; none: there is none (default: int).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        queue_id: has no effect: a run has no command queues.
        """

    def dequantize(
        self, x: Operand, scale: Optional[Operand] = None, zero_point: Optional[Operand] = None, *,
        qtype: Optional[Literal["per_tensor", "per_channel", "per_group"]] = "per_tensor",
        axis: Optional[int] = 1, group_shape: Optional[Sequence[int]] = None, scales: Optional[Floats] = None,
        zps: Optional[Ints] = 0, dtype: Optional[Dtype] = "bfloat16", quant_min: Optional[float] = None,
        quant_max: Optional[float] = None, saturate: Optional[bool] = None,
        zero_point_domain: Optional[Literal["int", "float", "none"]] = "int",
        output_tensor: Optional[Value] = None, queue_id: Optional[int] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Dequantize: y = (x - zero_point) * scale.

        qtype: which elements share a scale and a zero point; a group_shape, or several scales decide it where it is
            left out (default: per_tensor).
        axis: per_channel: the dim that keeps its own parameters, in [-rank, rank - 1] (default: 1).
        group_shape: per_group: elements of a block for each dim of x, -1 is the whole dim.
        scales: constant scale, or the port: 1, dim[axis], or one per block in row-major order.
        zps: constant zero point, or the port: 1, or as many as scales (default: 0).
        dtype: of the result; the default is the dtype that target core gives (default: bfloat16).
        quant_min: least quantized value (default: of the dtype).
        quant_max: greatest quantized value (default: of the dtype).
        saturate: float8: clamp to the largest value, else NaN or infinity (default: as the target does).
        zero_point_domain: int: a code; float: the real value of the middle code; none: there is none (default: int).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        queue_id: has no effect: a run has no command queues.
        """

    def dynamic_quantize(
        self, x: Operand, scale: Optional[Operand] = None, zero_point: Optional[Operand] = None,
        global_scale: Optional[Operand] = None, *,
        qtype: Optional[Literal["per_tensor", "per_channel", "per_group"]] = "per_tensor",
        axis: Optional[int] = 1, group_shape: Optional[Sequence[int]] = None, scales: Optional[Floats] = None,
        zps: Optional[Ints] = 0, dtype: Optional[Dtype] = "int8", quant_min: Optional[float] = None,
        quant_max: Optional[float] = None, saturate: Optional[bool] = None,
        zero_point_domain: Optional[Literal["int", "float", "none"]] = "int",
        scheme: Optional[Literal["asymmetric", "symmetric", "symmetric_no_clipping", "mx_floor", "mx_ceil", "mx_even", "mx_rceil", "nvfp4"]] = "asymmetric",
        eps: Optional[float] = None, global_scales: Optional[Floats] = 1,
        scale_dtype: Optional[Dtype] = "float32", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Tuple[Value, Value, Value]:
        """DynamicQuantize: Quantize with a scale given at run time, or computed from x.

        qtype: which elements share a scale and a zero point; a group_shape, or several scales decide it where it is
            left out (default: per_tensor).
        axis: per_channel: the dim that keeps its own parameters, in [-rank, rank - 1] (default: 1).
        group_shape: per_group: elements of a block for each dim of x, -1 is the whole dim.
        scales: constant scale, or the port: 1, dim[axis], or one per block in row-major order (default: computed from
            x).
        zps: constant zero point, or the port: 1, or as many as scales (default: 0).
        dtype: of the result; the default is the dtype that target core gives (default: int8).
        quant_min: least quantized value (default: of the dtype).
        quant_max: greatest quantized value (default: of the dtype).
        saturate: float8: clamp to the largest value, else NaN or infinity (default: as the target does).
        zero_point_domain: int: a code; float: the real value of the middle code; none: there is none (default: int).
        scheme: without a scale: how scale and zero point come from x (default: asymmetric).
        eps: without a scale: the least scale (default: as the target does).
        global_scales: nvfp4: a constant scale of the scales, or the port (default: 1).
        scale_dtype: without a scale: float32, float16 or bfloat16; the computed scale is rounded to it (default:
            float32).
        """

    def requantize(
        self, x: Operand, in_scale: Optional[Operand] = None, in_zero_point: Optional[Operand] = None,
        out_scale: Optional[Operand] = None, out_zero_point: Optional[Operand] = None, *,
        in_scales: Optional[Floats] = None, in_zps: Optional[Ints] = 0, out_scales: Optional[Floats] = None,
        out_zps: Optional[Ints] = 0, multiplier: Optional[Ints] = None, shift: Optional[Ints] = None,
        rounding: Optional[Literal["single", "double", "up", "float32", "float64", "inexact"]] = "single",
        axis: Optional[int] = None, qtype: Optional[Literal["per_tensor", "per_channel"]] = None,
        dtype: Optional[Dtype] = None, quant_min: Optional[float] = None, quant_max: Optional[float] = None,
        output_tensor: Optional[Value] = None, queue_id: Optional[int] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Requantize: y = Quantize(Dequantize(x)), from one set of parameters to another, or by a multiplier and a shift.

        in_scales: constant scale of x, or the port: 1, or dim[axis]; required without a multiplier.
        in_zps: constant zero point of x, or the port: 1, or as many as in_scales (default: 0).
        out_scales: constant scale of y, or the port: 1, or dim[axis]; required without a multiplier.
        out_zps: constant zero point of y, or the port: 1, or as many as out_scales (default: 0).
        multiplier: fixed point in place of both scales: whole numbers, 1, or dim[axis]; the scale is multiplier *
            2^-shift.
        shift: with multiplier: 0 to 62 (float32: 126, float64: 1022), 1, or dim[axis].
        rounding: how the product with the multiplier is rounded (docs/numerics.md) (default: single).
        axis: the dim of the channels; required if a side has more than one element.
        qtype: per_tensor or per_channel; must agree with the counts (default: by the counts).
        dtype: of the result; the default is the dtype that target core gives, which requires it if x is a float
            (default: the dtype of x).
        quant_min: least quantized value (default: of the dtype).
        quant_max: greatest quantized value (default: of the dtype).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        queue_id: has no effect: a run has no command queues.
        """

    def cast(
        self, x: Operand, *, dtype: Dtype, saturate: Optional[bool] = None,
        round_mode: Optional[Literal["up", "down", "nearest"]] = "up", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Cast: y = x converted to another dtype.

        dtype: of the result.
        saturate: float8: clamp to the largest value, else NaN or infinity; float8_e8m0: clamp, else NaN (default: as
            the target does).
        round_mode: float8_e8m0: which power of two a number between two becomes (default: up).
        """

    def abs(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Abs: y = |x|."""

    def neg(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Neg: y = -x."""

    def exp(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Exp: y = e^x.

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def log(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Log: y = ln x.

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def log1p(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Log1p: y = ln(1 + x).

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def sqrt(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Sqrt: y = the square root of x.

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def rsqrt(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Rsqrt: y = 1 / the square root of x.

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def square(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Square: y = x * x."""

    def sigmoid(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Sigmoid: y = 1 / (1 + e^-x).

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def silu(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """SiLU: y = x / (1 + e^-x)."""

    def relu(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReLU: y = max(x, 0)."""

    def relu6(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReLU6: y = min(max(x, 0), 6)."""

    def reciprocal(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Reciprocal: y = 1 / x."""

    def round(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Round: y = x rounded to a whole number, half to even."""

    def is_nan(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """IsNaN: y = true if x is NaN."""

    def not_(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Not: y = not x."""

    def bitwise_not(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """BitwiseNot: y = x with every bit flipped."""

    def hard_swish(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """HardSwish: y = x * max(0, min(1, x / 6 + 0.5))."""

    def mish(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Mish: y = x * tanh(ln(1 + e^x)).

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def sign(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Sign: y = 1, 0 or -1, the sign of x."""

    def floor(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Floor: y = the greatest whole number that is at most x."""

    def ceil(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Ceil: y = the least whole number that is at least x."""

    def trunc(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Trunc: y = x without its fraction."""

    def erf(
        self, x: Operand, *, fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Erf: y = the error function of x.

        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def softplus(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Softplus: y = ln(1 + e^x)."""

    def sin(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Sin: y = sin x."""

    def cos(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Cos: y = cos x."""

    def tan(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Tan: y = tan x."""

    def asin(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Asin: y = the arc sine of x."""

    def acos(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Acos: y = the arc cosine of x."""

    def atan(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Atan: y = the arc tangent of x."""

    def sinh(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Sinh: y = sinh x."""

    def cosh(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Cosh: y = cosh x."""

    def asinh(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Asinh: y = the inverse of sinh at x."""

    def acosh(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Acosh: y = the inverse of cosh at x."""

    def atanh(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Atanh: y = the inverse of tanh at x."""

    def tanh(
        self, x: Operand, *, recurrent: Optional[bool] = False,
        fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Tanh: y = tanh x.

        recurrent: onnx, ort: as in GRU; others ignore it (default: false).
        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def is_inf(
        self, x: Operand, *, detect_negative: Optional[bool] = True, detect_positive: Optional[bool] = True,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """IsInf: y = true if x is an infinity.

        detect_negative: -Infinity counts (default: true).
        detect_positive: +Infinity counts (default: true).
        """

    def leaky_relu(
        self, x: Operand, *, alpha: float, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """LeakyReLU: y = x > 0 ? x : alpha * x.

        alpha: factor below 0.
        """

    def elu(
        self, x: Operand, *, alpha: float, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Elu: y = x > 0 ? x : alpha * (e^x - 1).

        alpha: factor below 0.
        """

    def hard_sigmoid(
        self, x: Operand, *, alpha: float, beta: float, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """HardSigmoid: y = max(0, min(1, alpha * x + beta)).

        alpha: factor.
        beta: term.
        """

    def clamp(
        self, x: Operand, *, min: float, max: float, recurrent: Optional[bool] = False,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Clamp: y = min(max(x, min), max).

        min: least result.
        max: greatest result.
        recurrent: onnx, ort: NaN gives max, as in LSTM and GRU; others ignore it (default: false).
        """

    def gelu(
        self, x: Operand, *, mode: Optional[Literal["gelu_erf", "gelu_tanh"]] = "gelu_erf",
        fast_and_approximate_mode: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """GELU: y = x / 2 * (1 + erf(x / sqrt 2)).

        mode: by the error function, or the approximation by tanh (default: gelu_erf).
        fast_and_approximate_mode: ttnn on a chip: its faster kernel, if it has one; others ignore it (default: false).
        """

    def add(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, dtype: Optional[Dtype] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Add: y = a + b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        dtype: of the result (default: the dtype of a).
        """

    def subtract(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, dtype: Optional[Dtype] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Subtract: y = a - b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        dtype: of the result (default: the dtype of a).
        """

    def multiply(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, dtype: Optional[Dtype] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Multiply: y = a * b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        dtype: of the result (default: the dtype of a).
        """

    def divide(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, dtype: Optional[Dtype] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Divide: y = a / b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        dtype: of the result (default: the dtype of a).
        """

    def minimum(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Minimum: y = min(a, b).

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def maximum(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Maximum: y = max(a, b).

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def pow(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Pow: y = a^b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def equal(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Equal: y = a == b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def greater(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Greater: y = a > b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def greater_equal(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """GreaterEqual: y = a >= b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def less(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Less: y = a < b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def less_or_equal(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """LessOrEqual: y = a <= b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def and_(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """And: y = a and b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def or_(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Or: y = a or b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def xor(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Xor: y = a xor b.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def bitwise_and(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """BitwiseAnd: y = a & b, bit by bit.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def bitwise_or(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """BitwiseOr: y = a | b, bit by bit.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def bitwise_xor(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        output_tensor: Optional[Value] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """BitwiseXor: y = a ^ b, bit by bit.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        output_tensor: target ttnn: the value in whose buffer y is written; no result depends on it (default: a new
            tensor).
        """

    def bit_shift(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        direction: Optional[Literal["left", "right"]] = "left", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """BitShift: y = a shifted by b bits.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        direction: left: toward the high bits (default: left).
        """

    def mod(
        self, a: Operand, b: Operand, *, auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy",
        fmod: Optional[bool] = False, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Mod: y = the rest of a / b, whose quotient is a whole number.

        auto_broadcast: numpy: dims from the last on are equal or 1; none: equal shapes (default: numpy).
        fmod: true: y has the sign of a, like fmod in C; false: the sign of b, like % in Python (default: false).
        """

    def select(
        self, condition: Operand, a: Operand, b: Operand, *,
        auto_broadcast: Optional[Literal["numpy", "none"]] = "numpy", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Select: y = condition ? a : b.

        auto_broadcast: numpy: a and b are broadcast to each other, condition onto them; none: equal shapes (default:
            numpy).
        """

    def bias_add(
        self, x: Operand, bias: Operand, *, data_format: Optional[Literal["NXC", "NCX"]] = "NXC",
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """BiasAdd: y = x + the bias of its channel.

        data_format: where the channels are (default: NXC).
        """

    def prelu(
        self, x: Operand, slope: Operand, *, data_format: Optional[Literal["NXC", "NCX"]] = "NXC",
        per_channel_broadcast: Optional[bool] = True, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """PReLU: y = x > 0 ? x : slope * x.

        data_format: where the channels are (default: NXC).
        per_channel_broadcast: a slope of rank 1 is for the channels; else for the last dim (default: true).
        """

    def matmul(
        self, a: Operand, b: Operand, bias: Optional[Operand] = None, *, transpose_a: Optional[bool] = False,
        transpose_b: Optional[bool] = False, dtype: Optional[Dtype] = None,
        math_fidelity: Optional[Literal["LoFi", "HiFi2", "HiFi3", "HiFi4"]] = None,
        fp32_dest_acc_en: Optional[bool] = True, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """MatMul: y = a * b + bias, products of matrices.

        transpose_a: swap the last two dims of a; a vector has none (default: false).
        transpose_b: the same for b (default: false).
        dtype: of the result: the dtype of a, or float32 (default: the dtype of a).
        math_fidelity: ttnn: the phases of a product on the chip; HiFi4 if it is not given (default: by the backend).
        fp32_dest_acc_en: ttnn: true: sums on the chip are float32; false: bfloat16 (default: true).
        """

    def convolution(
        self, x: Operand, weights: Operand, bias: Optional[Operand] = None, addend: Optional[Operand] = None, *,
        strides: Sequence[int], dilations: Sequence[int], pads_begin: Optional[Sequence[int]] = None,
        pads_end: Optional[Sequence[int]] = None,
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        groups: Optional[int] = 1, data_format: Optional[Literal["NXC", "NCX"]] = "NXC",
        weights_format: Optional[Literal["XIO", "OIX"]] = "XIO", channel_block: Optional[int] = None,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Convolution: y = x under a window that slides over its spatial dims, times weights.

        strides: one per spatial dim.
        dilations: one per spatial dim.
        pads_begin: one per spatial dim (default: zeros).
        pads_end: one per spatial dim (default: zeros).
        auto_pad: in place of pads_begin and pads_end (default: None).
        groups: number of equal groups of channels, each with separate weights (default: 1).
        data_format: where the channels are (default: NXC).
        weights_format: the order of spatial dims, input and output channels (default: XIO).
        channel_block: input channels whose products are summed before the next; of float32 (default: none).
        """

    def conv_transpose(
        self, x: Operand, weights: Operand, bias: Optional[Operand] = None, *, strides: Sequence[int],
        dilations: Sequence[int], pads_begin: Optional[Sequence[int]] = None,
        pads_end: Optional[Sequence[int]] = None,
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        groups: Optional[int] = 1, data_format: Optional[Literal["NXC", "NCX"]] = "NXC",
        output_padding: Optional[Sequence[int]] = None, weights_format: Optional[Literal["XOI", "IOX"]] = "XOI",
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ConvTranspose: y = each element of x times weights, added where a window slides over y.

        strides: one per spatial dim.
        dilations: one per spatial dim.
        pads_begin: one per spatial dim (default: zeros).
        pads_end: one per spatial dim (default: zeros).
        auto_pad: in place of pads_begin and pads_end (default: None).
        groups: number of equal groups of channels, each with separate weights (default: 1).
        data_format: where the channels are (default: NXC).
        output_padding: elements more at the end, one per spatial dim (default: zeros).
        weights_format: the order of spatial dims, output channels of a group and inputs (default: XOI).
        """

    def softmax(
        self, x: Operand, *, axis: Optional[int] = 1, mode: Optional[Literal["none", "inf_as_zero"]] = "none",
        dtype: Optional[Dtype] = None, keep_stats: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Tuple[Value, Value]:
        """SoftMax: y = e^(x - max) / sum(e^(x - max)), along an axis.

        axis: the dim of the sum (default: 1).
        mode: inf_as_zero: a slice of -infinities alone gives zeros, not NaN (default: none).
        dtype: of y; may differ from the dtype of x if either is float32 (default: the dtype of x).
        keep_stats: also make stats: max + ln(sum) (default: false).
        """

    def log_softmax(
        self, x: Operand, *, axis: Optional[int] = -1, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """LogSoftmax: y = x - max - ln(sum(e^(x - max))), along an axis.

        axis: the dim of the sum (default: -1).
        """

    def layer_norm(
        self, x: Operand, gamma: Optional[Operand] = None, beta: Optional[Operand] = None, *,
        begin_norm_axis: Optional[int] = -1, epsilon: Optional[float] = 1e-5, use_affine: Optional[bool] = True,
        keep_stats: Optional[bool] = True, one_pass: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Tuple[Value, Value, Value]:
        """LayerNorm: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, over the last dims.

        begin_norm_axis: the first of the dims that are normalized together (default: -1).
        epsilon: added to the variance (default: 1e-5).
        use_affine: no effect: gamma and beta are used if they are given (default: true).
        keep_stats: also output mean and variance (default: true).
        one_pass: targets onnx and ort: float32 as SkipLayerNormalization, by Welford's method (default: false).
        """

    def rms_norm(
        self, x: Operand, gamma: Optional[Operand] = None, *, begin_norm_axis: Optional[int] = -1,
        epsilon: Optional[float] = 1e-5, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """RMSNorm: y = x / sqrt(mean(x^2) + epsilon) * gamma, over the last dims.

        begin_norm_axis: the first of the dims that are normalized together (default: -1).
        epsilon: added to the mean of the squares (default: 1e-5).
        """

    def group_norm(
        self, x: Operand, gamma: Optional[Operand] = None, beta: Optional[Operand] = None, *, groups: int,
        epsilon: Optional[float] = 1e-5, use_affine: Optional[bool] = True, keep_stats: Optional[bool] = True,
        data_format: Optional[Literal["NXC", "NCX"]] = "NXC", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Tuple[Value, Value, Value]:
        """GroupNorm: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, over groups of channels.

        groups: number of groups; divides the number of channels.
        epsilon: added to the variance (default: 1e-5).
        use_affine: no effect: gamma and beta are used if they are given (default: true).
        keep_stats: also output mean and variance (default: true).
        data_format: where the channels are (default: NXC).
        """

    def batch_norm(
        self, x: Operand, gamma: Operand, beta: Operand, mean: Operand, variance: Operand, *, epsilon: float,
        data_format: Optional[Literal["NXC", "NCX"]] = "NXC", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """BatchNormInference: y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, of the channel.

        epsilon: added to the variance.
        data_format: where the channels are (default: NXC).
        """

    def batch_norm_training(
        self, x: Operand, mean: Operand, variance: Operand, gamma: Optional[Operand] = None,
        beta: Optional[Operand] = None, *, epsilon: float, momentum: Optional[float] = 0.5,
        data_format: Optional[Literal["NXC", "NCX"]] = "NXC", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Tuple[Value, Value, Value, Value, Value]:
        """BatchNormForwardTraining: BatchNormInference with the mean and variance of x, which are outputs too.

        epsilon: added to the variance.
        momentum: weight of the old mean and variance in the running ones (default: 0.5).
        data_format: where the channels are (default: NXC).
        """

    def reduce_l1(
        self, x: Operand, *, axes: Sequence[int], keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceL1: y = sum(|x|), over some dims.

        axes: the dims to reduce, each once.
        keep_dims: keep the reduced dims, with size 1 (default: false).
        """

    def reduce_l2(
        self, x: Operand, *, axes: Sequence[int], keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceL2: y = sqrt(sum(x^2)), over some dims.

        axes: the dims to reduce, each once.
        keep_dims: keep the reduced dims, with size 1 (default: false).
        """

    def reduce_max(
        self, x: Operand, *, axes: Sequence[int], keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceMax: y = the greatest x, over some dims.

        axes: the dims to reduce, each once.
        keep_dims: keep the reduced dims, with size 1 (default: false).
        """

    def reduce_mean(
        self, x: Operand, *, axes: Sequence[int], keep_dims: Optional[bool] = False,
        global_pool: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceMean: y = the mean of x, over some dims.

        axes: the dims to reduce, each once.
        keep_dims: keep the reduced dims, with size 1 (default: false).
        global_pool: targets onnx and ort, float32: as ONNX Runtime's GlobalAveragePool (default: false).
        """

    def reduce_min(
        self, x: Operand, *, axes: Sequence[int], keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceMin: y = the least x, over some dims.

        axes: the dims to reduce, each once.
        keep_dims: keep the reduced dims, with size 1 (default: false).
        """

    def reduce_prod(
        self, x: Operand, *, axes: Sequence[int], keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceProd: y = the product of x, over some dims.

        axes: the dims to reduce, each once.
        keep_dims: keep the reduced dims, with size 1 (default: false).
        """

    def reduce_sum(
        self, x: Operand, *, axes: Sequence[int], keep_dims: Optional[bool] = False,
        in_order: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceSum: y = the sum of x, over some dims.

        axes: the dims to reduce, each once.
        keep_dims: keep the reduced dims, with size 1 (default: false).
        in_order: targets onnx and ort, float32: as the sum in ONNX Runtime's ReduceSumSquare (default: false).
        """

    def reduce_max_integer(
        self, x: Operand, *, axis: int, keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceMaxInteger: y = the greatest x along a dim.

        axis: the dim to reduce.
        keep_dims: keep the reduced dim, with size 1 (default: false).
        """

    def reduce_min_integer(
        self, x: Operand, *, axis: int, keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceMinInteger: y = the least x along a dim.

        axis: the dim to reduce.
        keep_dims: keep the reduced dim, with size 1 (default: false).
        """

    def reduce_sum_integer(
        self, x: Operand, *, axis: int, keep_dims: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ReduceSumInteger: y = the sum of x along a dim, int32.

        axis: the dim to reduce.
        keep_dims: keep the reduced dim, with size 1 (default: false).
        """

    def cum_sum(
        self, x: Operand, *, axis: int, exclusive: Optional[bool] = False, reverse: Optional[bool] = False,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """CumSum: y = the sum of x up to each index of an axis.

        axis: the dim to add along.
        exclusive: a sum leaves out the element at its own index (default: false).
        reverse: sums start at the end of the axis (default: false).
        """

    def arg_max(
        self, x: Operand, *, axis: int, keep_dims: Optional[bool] = False,
        select_last_index: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ArgMax: y = the index of the greatest x along an axis.

        axis: the dim to look along.
        keep_dims: keep this dim, with size 1 (default: false).
        select_last_index: true: the last of equal elements counts; false: the first (default: false).
        """

    def arg_min(
        self, x: Operand, *, axis: int, keep_dims: Optional[bool] = False,
        select_last_index: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ArgMin: y = the index of the least x along an axis.

        axis: the dim to look along.
        keep_dims: keep this dim, with size 1 (default: false).
        select_last_index: true: the last of equal elements counts; false: the first (default: false).
        """

    def top_k(
        self, x: Operand, *, k: int, axis: Optional[int] = -1, largest: Optional[bool] = True,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Tuple[Value, Value]:
        """TopK: y = the k greatest x along an axis, in their order, and where they are.

        k: how many.
        axis: the dim to look along (default: -1).
        largest: the greatest, else the least (default: true).
        """

    def matmul_integer(
        self, a: Operand, b: Operand, a_zero_point: Optional[Operand] = None,
        b_zero_point: Optional[Operand] = None, *, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """MatMulInteger: y = (a - a_zero_point) * (b - b_zero_point), int32."""

    def conv_integer(
        self, x: Operand, w: Operand, x_zero_point: Optional[Operand] = None,
        w_zero_point: Optional[Operand] = None, *, strides: Optional[Sequence[int]] = None,
        dilations: Optional[Sequence[int]] = None, pads_begin: Optional[Sequence[int]] = None,
        pads_end: Optional[Sequence[int]] = None,
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        groups: Optional[int] = 1, data_format: Optional[Literal["NCX", "NXC"]] = "NCX",
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ConvInteger: y = x - x_zero_point under a sliding window times w - w_zero_point, int32.

        strides: one per spatial dim (default: ones).
        dilations: one per spatial dim (default: ones).
        pads_begin: one per spatial dim (default: zeros).
        pads_end: one per spatial dim (default: zeros).
        auto_pad: in place of pads_begin and pads_end (default: None).
        groups: number of equal groups of channels, each with separate weights (default: 1).
        data_format: where the channels are (default: NCX).
        """

    def matmul_integer64(
        self, a: Operand, b: Operand, a_zero_point: Optional[Operand] = None,
        b_zero_point: Optional[Operand] = None, *, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """MatMulInteger64: y = (a - a_zero_point) * (b - b_zero_point), int64."""

    def conv_integer64(
        self, x: Operand, w: Operand, x_zero_point: Optional[Operand] = None,
        w_zero_point: Optional[Operand] = None, *, strides: Optional[Sequence[int]] = None,
        dilations: Optional[Sequence[int]] = None, pads_begin: Optional[Sequence[int]] = None,
        pads_end: Optional[Sequence[int]] = None,
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        groups: Optional[int] = 1, data_format: Optional[Literal["NXC", "NCX"]] = "NXC",
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ConvInteger64: y = x - x_zero_point under a sliding window times w - w_zero_point, int64.

        strides: one per spatial dim (default: ones).
        dilations: one per spatial dim (default: ones).
        pads_begin: one per spatial dim (default: zeros).
        pads_end: one per spatial dim (default: zeros).
        auto_pad: in place of pads_begin and pads_end (default: None).
        groups: number of equal groups of channels, each with separate weights (default: 1).
        data_format: where the channels are (default: NXC).
        """

    def multiply_shift(
        self, a: Operand, b: Operand, *, shift: Optional[int] = 0, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """MultiplyShift: y = (a * b + 2^(shift - 1)) >> shift, int32.

        shift: bits of the product to drop, 0 to 63 (default: 0).
        """

    def arithmetic_shift_right(
        self, a: Operand, b: Operand, *, round: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ArithmeticShiftRight: y = a >> b with the sign of a.

        round: half up, instead of down (default: false).
        """

    def clamp_integer(
        self, x: Operand, *, min: int, max: int, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ClampInteger: y = min(max(x, min), max).

        min: least result.
        max: greatest result.
        """

    def neg_integer(
        self, x: Operand, x_zero_point: Optional[Operand] = None, y_zero_point: Optional[Operand] = None, *,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """NegInteger: y = y_zero_point - (x - x_zero_point), clamped."""

    def count_leading_zeros(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """CountLeadingZeros: y = the number of zero bits above the first bit of x that is set."""

    def qlinear_matmul(
        self, a: Operand, a_scale: Operand, a_zero_point: Operand, b: Operand, b_scale: Operand,
        b_zero_point: Operand, y_scale: Operand, y_zero_point: Operand, *, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QLinearMatMul: y = a * b, of integers that stand for reals."""

    def matmul_integer_to_float(
        self, a: Operand, b: Operand, a_scale: Operand, b_scale: Operand,
        a_zero_point: Optional[Operand] = None, b_zero_point: Optional[Operand] = None,
        bias: Optional[Operand] = None, *, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """MatMulIntegerToFloat: y = a * b + bias, float32, of integers that stand for reals."""

    def qgemm(
        self, a: Operand, a_scale: Operand, a_zero_point: Optional[Operand], b: Operand, b_scale: Operand,
        b_zero_point: Optional[Operand] = None, bias: Optional[Operand] = None,
        y_scale: Optional[Operand] = None, y_zero_point: Optional[Operand] = None, *,
        transpose_a: Optional[bool] = False, transpose_b: Optional[bool] = False, alpha: Optional[float] = 1,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QGemm: y = a * b + bias, of integers that stand for reals.

        transpose_a: swap the last two dims of a; a vector has none (default: false).
        transpose_b: the same for b (default: false).
        alpha: a factor of a_scale (default: 1).
        """

    def matmul_nbits(
        self, a: Operand, b: Operand, b_scale: Operand, b_zero_point: Optional[Operand] = None,
        bias: Optional[Operand] = None, *, transpose_b: Optional[bool] = False, block_size: Optional[int] = 32,
        accuracy_level: Optional[int] = 4, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """MatMulNBits: y = a * (b - b_zero_point) * b_scale + bias, with a as int8 in blocks, or float.

        transpose_b: b is [N, K], and parameters of blocks [N, blocks] (default: false).
        block_size: neighbouring k that become int8 with one scale: a power of two from 16 on (default: 32).
        accuracy_level: 4: a becomes int8; 0: products of floats (default: 4).
        """

    def qlinear_conv(
        self, x: Operand, x_scale: Operand, x_zero_point: Operand, w: Operand, w_scale: Operand,
        w_zero_point: Operand, y_scale: Operand, y_zero_point: Operand, bias: Optional[Operand] = None, *,
        strides: Optional[Sequence[int]] = None, dilations: Optional[Sequence[int]] = None,
        pads_begin: Optional[Sequence[int]] = None, pads_end: Optional[Sequence[int]] = None,
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        groups: Optional[int] = 1, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QLinearConv: y = x under a sliding window times w, of integers that stand for reals.

        strides: one per spatial dim (default: ones).
        dilations: one per spatial dim (default: ones).
        pads_begin: one per spatial dim (default: zeros).
        pads_end: one per spatial dim (default: zeros).
        auto_pad: in place of pads_begin and pads_end (default: None).
        groups: number of equal groups of channels, each with separate weights (default: 1).
        """

    def qlinear_add(
        self, a: Operand, a_scale: Operand, a_zero_point: Optional[Operand], b: Operand, b_scale: Operand,
        b_zero_point: Optional[Operand], y_scale: Operand, y_zero_point: Optional[Operand] = None, *,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QLinearAdd: y = a + b, of codes, as ONNX Runtime's CPU kernels compute it."""

    def qlinear_mul(
        self, a: Operand, a_scale: Operand, a_zero_point: Optional[Operand], b: Operand, b_scale: Operand,
        b_zero_point: Optional[Operand], y_scale: Operand, y_zero_point: Optional[Operand] = None, *,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QLinearMul: y = a * b, of codes, as ONNX Runtime's CPU kernels compute it."""

    def qlinear_average_pool(
        self, x: Operand, x_scale: Operand, x_zero_point: Optional[Operand], y_scale: Operand,
        y_zero_point: Optional[Operand] = None, *, strides: Sequence[int], kernel: Sequence[int],
        pads_begin: Optional[Sequence[int]] = None, pads_end: Optional[Sequence[int]] = None,
        rounding_type: Optional[Literal["floor", "ceil"]] = "floor",
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        data_format: Optional[Literal["NXC", "NCX"]] = "NXC", exclude_pad: bool, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QLinearAveragePool: y = the mean of a window of codes, as ONNX Runtime's CPU kernels compute it.

        strides: elements from one window to the next.
        kernel: size of the window.
        pads_begin: padding before; empty: 0 (default: []).
        pads_end: padding after; empty: 0 (default: []).
        rounding_type: of the number of windows (default: floor).
        auto_pad: padding by rule, instead of pads (default: None).
        data_format: where the channels are (default: NXC).
        exclude_pad: divide by the elements that there are, not by all of the window.
        """

    def qlinear_global_average_pool(
        self, x: Operand, x_scale: Operand, x_zero_point: Optional[Operand], y_scale: Operand,
        y_zero_point: Optional[Operand] = None, *, data_format: Optional[Literal["NXC", "NCX"]] = "NXC",
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QLinearGlobalAveragePool: y = the mean of an image of codes, as ONNX Runtime's CPU kernels compute it.

        data_format: where the channels are (default: NXC).
        """

    def qlinear_softmax(
        self, x: Operand, x_scale: Operand, x_zero_point: Optional[Operand], y_scale: Operand,
        y_zero_point: Optional[Operand] = None, *, axis: Optional[int] = -1, flatten: Optional[bool] = False,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """QLinearSoftmax: y = softmax of codes, as ONNX Runtime's CPU kernels compute it.

        axis: the dim of the sum (default: -1).
        flatten: the sum runs over all dims from axis on, as before opset 13 of ONNX (default: false).
        """

    def table(
        self, x: Operand, table: Operand, *, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Table: y = table[x], the result for each code of 8 bits; of 16 bits, on lines between 513 results."""

    def avg_pool(
        self, x: Operand, *, strides: Sequence[int], kernel: Sequence[int],
        pads_begin: Optional[Sequence[int]] = None, pads_end: Optional[Sequence[int]] = None,
        rounding_type: Optional[Literal["floor", "ceil"]] = "floor",
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        data_format: Optional[Literal["NXC", "NCX"]] = "NXC", exclude_pad: bool,
        columns_first: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """AvgPool: y = the mean of a window that slides over x.

        strides: elements from one window to the next.
        kernel: size of the window.
        pads_begin: padding before; empty: 0 (default: []).
        pads_end: padding after; empty: 0 (default: []).
        rounding_type: of the number of windows (default: floor).
        auto_pad: padding by rule, instead of pads (default: None).
        data_format: where the channels are (default: NXC).
        exclude_pad: divide by the elements that there are, not by all of the window.
        columns_first: targets onnx and ort, float32: add the columns of a window first, as ONNX Runtime before opset 19
            (default: false).
        """

    def avg_pool_integer(
        self, x: Operand, x_zero_point: Optional[Operand] = None, y_zero_point: Optional[Operand] = None, *,
        strides: Sequence[int], kernel: Sequence[int], pads_begin: Optional[Sequence[int]] = None,
        pads_end: Optional[Sequence[int]] = None, data_format: Optional[Literal["NXC", "NCX"]] = "NXC",
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """AvgPoolInteger: y = the mean of a window of codes, by a multiplier and a shift.

        strides: elements from one window to the next.
        kernel: size of the window.
        pads_begin: padding before; empty: 0 (default: []).
        pads_end: padding after; empty: 0 (default: []).
        data_format: where the channels are (default: NXC).
        """

    def max_pool(
        self, x: Operand, *, strides: Sequence[int], kernel: Sequence[int],
        pads_begin: Optional[Sequence[int]] = None, pads_end: Optional[Sequence[int]] = None,
        rounding_type: Optional[Literal["floor", "ceil"]] = "floor",
        auto_pad: Optional[Literal["None", "SAME_UPPER", "SAME_LOWER", "VALID"]] = "None",
        data_format: Optional[Literal["NXC", "NCX"]] = "NXC", dilations: Optional[Sequence[int]] = None,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """MaxPool: y = the greatest element of a window that slides over x.

        strides: elements from one window to the next.
        kernel: size of the window.
        pads_begin: padding before; empty: 0 (default: []).
        pads_end: padding after; empty: 0 (default: []).
        rounding_type: of the number of windows (default: floor).
        auto_pad: padding by rule, instead of pads (default: None).
        data_format: where the channels are (default: NXC).
        dilations: distance of neighbouring elements of a window; empty: 1 (default: []).
        """

    def interpolate(
        self, x: Operand, *, mode: Literal["nearest", "linear", "bilinear", "trilinear"],
        sizes: Optional[Sequence[int]] = None, scales: Optional[Floats] = None,
        coordinate_transformation_mode: Optional[Literal["half_pixel", "align_corners", "asymmetric"]] = "half_pixel",
        data_format: Optional[Literal["NXC", "NCX"]] = "NXC", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Interpolate: y = x with other spatial dims, its elements or means of neighbours.

        mode: bilinear and trilinear mean linear.
        sizes: spatial dims of y; either these or scales.
        scales: per spatial dim; its size in y is trunc(dim * scale).
        coordinate_transformation_mode: how positions in y map to positions in x (default: half_pixel).
        data_format: where the channels are (default: NXC).
        """

    def concat(
        self, xs: Sequence[Operand], *, axis: int, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Concat: y = the inputs one after the other along an axis.

        axis: dim along which the inputs are joined.
        """

    def reshape(
        self, x: Operand, *, shape: Optional[Sequence[int]] = None, special_zero: bool,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """StaticReshape: y = x with other dims; the order of elements stays.

        shape: dims of y; one may be -1: it takes the elements that the others leave (default: []).
        special_zero: a dim of 0 is copied from x; without it 0 is refused.
        """

    def transpose(
        self, x: Operand, *, order: Optional[Sequence[int]] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """StaticTranspose: y = x with its dims in another order.

        order: dim i of y is dim order[i] of x; negative: from the end; empty: all dims reversed (default: []).
        """

    def reorder(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Reorder: y = x; memory layouts are not part of a graph."""

    def to_memory_config(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ToMemoryConfig: y = x, where the node's memory_config says."""

    def interleaved_to_sharded(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """InterleavedToSharded: y = x, cut into shards."""

    def sharded_to_interleaved(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ShardedToInterleaved: y = x, interleaved over banks."""

    def reshard(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Reshard: y = x, cut into other shards."""

    def to_layout(
        self, x: Operand, *, name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ToLayout: y = x, in tiles or in rows, as the node's layout says."""

    def gen_index(
        self, x: Operand, *, axis: int, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """GenIndex: y = the coordinate of each element of x on an axis.

        axis: dim whose coordinates y has.
        """

    def slice(
        self, x: Operand, *, starts: Sequence[int], ends: Sequence[int], axes: Optional[Sequence[int]] = None,
        steps: Optional[Sequence[int]] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Slice: y = the indices of x from starts to ends, in steps.

        starts: first index of each axis; negative: from the end; beyond the dim: the dim's end.
        ends: where each axis stops, exclusive; negative: from the end; beyond the dim: the dim's end.
        axes: the dims that are cut; empty: the first dims, one for each start (default: []).
        steps: from an index to the next, not 0; negative: backwards; empty: 1 (default: []).
        """

    def pad(
        self, x: Operand, value: Optional[Operand] = None, *, pads: Sequence[int],
        axes: Optional[Sequence[int]] = None,
        mode: Optional[Literal["constant", "reflect", "edge", "wrap"]] = "constant", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Pad: y = x with indices added before and after each dim.

        pads: indices added before each axis, then indices added after each axis; negative: removed.
        axes: the dims that are padded; empty: all dims (default: []).
        mode: constant: `value`, or 0; reflect: mirrored, without the edge; edge: the edge; wrap: from the other end
            (default: constant).
        """

    def expand(
        self, x: Operand, *, shape: Optional[Sequence[int]] = None, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Expand: y = x, broadcast to a shape.

        shape: x and this shape are broadcast to each other; y has the shape that results (default: []).
        """

    def tile(
        self, x: Operand, *, repeats: Sequence[int], name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Tile: y = x, repeated along its dims.

        repeats: how often each dim of x is repeated, 1 or more.
        """

    def gather(
        self, x: Operand, indices: Operand, *, axis: Optional[int] = 0, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Gather: y = the indices of x on an axis that a tensor names.

        axis: the dim of x that the indices are for (default: 0).
        """

    def gather_elements(
        self, x: Operand, indices: Operand, *, axis: Optional[int] = 0, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """GatherElements: y has an element of x for each index; the index replaces a coordinate.

        axis: the dim of x that the indices are for (default: 0).
        """

    def gather_nd(
        self, x: Operand, indices: Operand, *, batch_dims: Optional[int] = 0, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """GatherND: y = the parts of x that tuples of indices name.

        batch_dims: the first dims, which x and indices share (default: 0).
        """

    def scatter_elements(
        self, x: Operand, indices: Operand, updates: Operand, *, axis: Optional[int] = 0,
        reduction: Optional[Literal["none", "add", "mul", "max", "min"]] = "none", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ScatterElements: y = x with an update for each index, which replaces a coordinate.

        axis: the dim of x that the indices are for (default: 0).
        reduction: how an update and the element at its place make the new element (default: none).
        """

    def scatter_nd(
        self, x: Operand, indices: Operand, updates: Operand, *,
        reduction: Optional[Literal["none", "add", "mul", "max", "min"]] = "none", name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """ScatterND: y = x with updates of the parts that tuples of indices name.

        reduction: how an update and the element at its place make the new element (default: none).
        """

    def depth_to_space(
        self, x: Operand, *, blocksize: int, mode: Optional[Literal["DCR", "CRD"]] = "DCR",
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """DepthToSpace: y = x with channels as blocks of pixels.

        blocksize: height and width of a block of pixels.
        mode: DCR: channel = pixel of the block * channels of y + channel of y; CRD: the reverse (default: DCR).
        """

    def space_to_depth(
        self, x: Operand, *, blocksize: int, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """SpaceToDepth: y = x with blocks of pixels as channels.

        blocksize: height and width of a block of pixels.
        """

    def trilu(
        self, x: Operand, *, upper: Optional[bool] = True, k: Optional[int] = 0, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """Trilu: y = x above or below a diagonal, else 0.

        upper: true: keep elements on and above the diagonal; false: on and below it (default: true).
        k: columns from the main diagonal to this one, to the right (default: 0).
        """

    def eye_like(
        self, x: Operand, *, dtype: Optional[Dtype] = None, k: Optional[int] = 0, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Value:
        """EyeLike: y = 1 on a diagonal, else 0, in the shape of x.

        dtype: of the result (default: the dtype of x).
        k: columns from the main diagonal to this one, to the right (default: 0).
        """

    def one_hot(
        self, indices: Operand, values: Operand, *, depth: int, axis: Optional[int] = -1,
        name: Optional[str] = None, memory_config: Optional[MemoryConfig] = None,
        layout: Optional[DeviceLayout] = None, tile: Optional[Sequence[int]] = None,
        transpose_tile: Optional[bool] = None,
    ) -> Value:
        """OneHot: y has a row for each index: one value everywhere, another value at the index.

        depth: size of the dim that y has more than indices.
        axis: where this dim lies in y (default: -1).
        """

    def dropout(
        self, x: Operand, seed: Operand, offset: Operand, probability: Operand, *,
        keep_mask: Optional[bool] = False, name: Optional[str] = None,
        memory_config: Optional[MemoryConfig] = None, layout: Optional[DeviceLayout] = None,
        tile: Optional[Sequence[int]] = None, transpose_tile: Optional[bool] = None,
    ) -> Tuple[Value, Value]:
        """Dropout: y = x * (1 / (1 - probability)) where a random number keeps an element, else 0.

        keep_mask: also makes mask: 1 where an element was kept (default: false).
        """
