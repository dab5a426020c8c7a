# SPDX-License-Identifier: Apache-2.0
"""Translates graphs of torch.export, by a table of ATen ops and of the quantizing ops of PT2E and torchao."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, TypeVar

import numpy as np

from . import _dtypes as dtypes
from ._builder import Builder, Value
from ._library import UnsupportedError, wrong_type

if TYPE_CHECKING:
    from ._graph import Graph

# Adds an op of ATen to a Builder.
_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPS: Dict[str, Callable[..., Any]] = {}  # "aten.relu.default": function of (translation, node, args)


def _op(*names: str) -> Callable[[_Function], _Function]:
    def add(function: _Function) -> _Function:
        for name in names:
            _OPS[name] = function
        return function

    return add


def from_torch(program: Any, example: Any = None, *, name: str = "", target: Optional[str] = "torchao") -> Graph:
    """Translates a torch.export.ExportedProgram, or a module, to a graph. Its parameters and buffers become constants.

    example: of a module, a tensor or a tuple of tensors with the shapes of its inputs; torch.export.export traces the
    module with them, in its own mode: call module.eval() before.

    PT2E's quantized_decomposed ops and torchao's quantize_affine, dequantize_affine and choose_qparams_affine become
    Quantize, Dequantize and DynamicQuantize; torchao's quantized weights become their codes and scales, with the ops
    that use them. Inputs and outputs keep their names in the program. Shapes must be fixed.
    target: of the graph. Raises UnsupportedError, which lists every op without a counterpart.
    """
    if hasattr(program, "forward"):
        program = _exported(program, example)
    if not hasattr(program, "graph_signature"):
        raise wrong_type("program", program, "a torch.export.ExportedProgram, or a module and an example")
    return _Translation(program).build(name, target)


def _exported(module: Any, example: Any) -> Any:
    if example is None:
        raise TypeError(f"from_torch is given the module {type(module).__name__} without an example of its inputs; wanted "
                        "from_torch(module, example)")  # fmt: skip
    import torch

    return torch.export.export(module, example if isinstance(example, tuple) else (example,))


class _Translation:
    def __init__(self, program: Any) -> None:
        self.b = Builder()
        self.program = program
        self.nodes = list(program.graph.nodes)
        self.values: Dict[Any, Any] = {}  # {node: Value, or tuple of Values}

    def build(self, name: str, target: Optional[str]) -> Graph:
        self.b._name = name
        self.target = (target or "core").partition("@")[0]
        self._refuse_unknown()
        self._add_given()
        for node in self.nodes:
            if node.op == "call_function":
                self.values[node] = self._folded(node) or _OPS[str(node.target)](self, node, *node.args)
        for node in self.nodes:
            if node.op == "output":
                self._add_outputs(node.args[0])
        return self.b.build(target=target)

    def _refuse_unknown(self) -> None:
        unknown: Dict[str, List[str]] = {}
        for node in self.nodes:
            if node.op == "call_function" and str(node.target) not in _OPS:
                unknown.setdefault(str(node.target), []).append(node.name)
        if unknown:
            texts = [f"{op} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})" for op, names in unknown.items()]
            raise UnsupportedError("these ops have no counterpart: " + "; ".join(texts)
                                   + "; write them with other ops, or run_decompositions() of the program")  # fmt: skip

    def _add_given(self) -> None:
        for spec in self.program.graph_signature.input_specs:
            node = next(n for n in self.nodes if n.op == "placeholder" and n.name == spec.arg.name)
            if spec.kind.name == "USER_INPUT":
                of = node.meta["val"]
                if not all(isinstance(d, int) for d in of.shape):
                    raise UnsupportedError(f"input '{node.name}' has shape {list(of.shape)}, wanted fixed dims; export it "
                                           "without dynamic_shapes")  # fmt: skip
                self.values[node] = self.b.input(node.name, dtypes.word(of.dtype), of.shape)
            else:
                tensor = self.program.state_dict.get(spec.target)
                if tensor is None:
                    tensor = self.program.constants[spec.target]
                self.values[node] = _Given(self, node.name, tensor)

    def _folded(self, node: Any) -> Any:
        """Computes the result of a node of constants if it is an integer or moves elements; None otherwise. Dequantized
        weights stay codes and nodes."""
        given: List[Any] = [self.values.get(arg) for arg in node.all_input_nodes]
        name = str(node.target)
        if name == "export.access_subclass_inner_tensor.default":
            return _Given(self, node.name, getattr(given[0].tensor, node.args[1]))
        if not given or not all(isinstance(one, _Given) for one in given) or name in _IGNORED:
            return None
        of = node.meta["val"].dtype
        if (of.is_floating_point and name not in _MOVES) or name == "<built-in function getitem>":
            return None
        made = dict(zip(node.all_input_nodes, (one.tensor.detach() for one in given)))
        args = [made.get(arg, arg) if _is_node(arg) else arg for arg in node.args]
        return _Given(self, node.name, node.target(*args, **node.kwargs))

    def _add_outputs(self, made: Any) -> None:
        for spec, node in zip(self.program.graph_signature.output_specs, made):
            if spec.kind.name == "USER_OUTPUT":
                self.b.output(node.name, self.value(node))

    # ---- For ops ----

    def value(self, node: Any) -> Any:
        """Returns the value of a node, or of a constant."""
        made = self.values[node] if _is_node(node) else node
        return made.value() if isinstance(made, _Given) else made

    def array(self, node: Any) -> Any:
        """Returns the elements of a constant, or None."""
        made = self.values.get(node) if _is_node(node) else node
        return made.array() if isinstance(made, _Given) else None

    def operands(self, node: Any, *args: Any) -> Any:
        """Returns values of a common dtype; numbers become constants of it."""
        made = next(a for a in args if _is_node(a) and not isinstance(self.values[a], _Given))
        kind = dtypes.numpy_of(dtypes.word(made.meta["val"].dtype))
        values = []
        for arg in args:
            array = self.array(arg) if _is_node(arg) else np.asarray(arg, kind)
            same = array is None or _is_node(arg) and array.dtype == kind
            values.append(self.value(arg) if same else self.b.constant(array.astype(kind)))
        return values


class _Given:
    """A parameter, a buffer, or a tensor computed from them. It becomes a constant on first use."""

    def __init__(self, translation: Any, name: str, tensor: Any) -> None:
        self._t, self._name, self.tensor, self._value = translation, name, tensor, None

    def array(self) -> Any:
        return None if _is_mx(self.tensor) else dtypes.imported(self.tensor)

    def value(self) -> Any:
        if self._value is None and _is_mx(self.tensor):
            self._value = _mx_weights(self._t.b, self._name, self.tensor)
        if self._value is None:
            b, dtype = self._t.b, dtypes.word(self.tensor.dtype)
            self._value = b.constant(self.array(), name=b._unique(self._name), dtype=dtype)
        return self._value


def _is_node(arg: Any) -> Any:
    return hasattr(arg, "op") and hasattr(arg, "meta")


def _shape(node: Any) -> List[Any]:
    return [int(d) for d in node.meta["val"].shape]


def _list(value: Any, count: int) -> Any:
    value = [value] if isinstance(value, int) else list(value)
    return value * count if len(value) == 1 else value


# ---- Quantizing ----


def _bounds(dtype: str, low: Any, high: Any) -> Dict[str, Any]:
    """Returns quant_min and quant_max, unless they are the whole range of the dtype."""
    info = np.iinfo(dtypes.numpy_of(dtype))
    return {} if (low, high) == (info.min, info.max) else {"quant_min": low, "quant_max": high}


def _numbers(t: Any, parameter: Any, kind: Any) -> Any:
    """Returns a number, or the elements of a constant, as an array; a value if it is computed at run time."""
    if not _is_node(parameter):
        return np.asarray(parameter, kind)
    array = t.array(parameter)
    if array is not None and _word(parameter) == "bfloat16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return t.value(parameter) if array is None else array.astype(kind)


_FLOATS = ("float32", "float16", "bfloat16", "float64")


def _word(node: Any) -> Any:
    return dtypes.word(node.meta["val"].dtype)


def _scale(t: Any, scale: Any, shape: Optional[Sequence[int]] = None) -> Any:
    """Returns a scale for a port, in a shape. A tensor keeps its dtype, in which PyTorch computes."""
    if not _is_node(scale):
        return np.asarray(scale, np.float32)
    array = t.array(scale)
    if array is None:
        return t.value(scale) if shape is None else t.b.reshape(t.value(scale), shape=shape, special_zero=False)
    array = array if shape is None else array.reshape(shape)
    return array if _word(scale) in ("float32", "float64") else t.b.constant(array, dtype=_word(scale))


def _zero(t: Any, zero: Any) -> Any:
    """Returns a zero point for a port, even beyond the range of the codes; None if it is known to be 0."""
    zero = _numbers(t, zero, np.float32 if _is_node(zero) and _word(zero) in _FLOATS else np.int64)
    return zero if isinstance(zero, Value) or np.any(zero) else None


@_op("quantized_decomposed.quantize_per_tensor.default", "quantized_decomposed.quantize_per_tensor.tensor")
def _quantize(t: Any, node: Any, x: Any, scale: Any, zero: Any, low: Any, high: Any, dtype: str, **_: Any) -> Any:
    word = dtypes.word(dtype)
    return t.b.quantize(t.value(x), name=node.name, scale=_numbers(t, scale, np.float32),
                        zero_point=_zero(t, zero), dtype=word, **_bounds(word, low, high))  # fmt: skip


@_op("quantized_decomposed.dequantize_per_tensor.default", "quantized_decomposed.dequantize_per_tensor.tensor")
def _dequantize(t: Any, node: Any, x: Any, scale: Any, zero: Any, *_: Any) -> Any:
    return t.b.dequantize(t.value(x), name=node.name, scale=_numbers(t, scale, np.float32), zero_point=_zero(t, zero),
                          dtype=dtypes.word(node.meta["val"].dtype))  # fmt: skip


@_op("quantized_decomposed.quantize_per_channel.default")
def _quantize_channels(t: Any, node: Any, x: Any, scales: Any, zeros: Any, axis: Any, low: Any, high: Any,
                       dtype: str) -> Any:  # fmt: skip
    word = dtypes.word(dtype)
    return t.b.quantize(t.value(x), name=node.name, scale=_scale(t, scales), qtype="per_channel", axis=axis,
                        zero_point=_zero(t, zeros), dtype=word, **_bounds(word, low, high))  # fmt: skip


@_op("quantized_decomposed.dequantize_per_channel.default")
def _dequantize_channels(t: Any, node: Any, x: Any, scales: Any, zeros: Any, axis: Any, *_: Any) -> Any:
    zero = None if zeros is None else _zero(t, zeros)
    wanted, made = _word(node), _word(scales)
    made = made if made in ("float16", "bfloat16") else wanted  # dtype of codes times these scales
    last = {"name": node.name} if made == wanted else {}
    y = t.b.dequantize(t.value(x), scale=_scale(t, scales), qtype="per_channel", axis=axis, zero_point=zero, dtype=made, **last)
    return y if made == wanted else t.b.cast(y, name=node.name, dtype=wanted)


@_op("quantized_decomposed.choose_qparams.tensor")
def _choose(t: Any, node: Any, x: Any, low: Any, high: Any, eps: Any, dtype: str) -> Any:
    word = dtypes.word(dtype)
    _, scale, zero = t.b.dynamic_quantize(t.value(x), name=node.name, dtype=word, **_bounds(word, low, high))
    return scale, zero


def _blocks(x: Any, block: Any) -> Dict[str, Any]:
    return {"qtype": "per_group", "group_shape": [int(d) for d in block]} if list(block) != _shape(x) else {}


_MAPPINGS = {"SYMMETRIC": "symmetric", "SYMMETRIC_NO_CLIPPING_ERR": "symmetric_no_clipping", "ASYMMETRIC": "asymmetric"}


@_op("torchao.choose_qparams_affine.default")
def _choose_affine(t: Any, node: Any, x: Any, mapping: Any, block: Any, dtype: str, low: Any = None, high: Any = None,
                   eps: Any = None, *_: Any) -> Any:  # fmt: skip
    word = dtypes.word(dtype)
    bounds = _bounds(word, low, high) if low is not None else {}
    _, scale, zero = t.b.dynamic_quantize(t.value(x), name=node.name, dtype=word, scheme=_MAPPINGS[mapping], eps=eps,
                                          **bounds, **_blocks(x, block))  # fmt: skip
    shapes = [[int(d) for d in one.shape] for one in node.meta["val"]]
    return tuple(t.b.reshape(v, shape=shape, special_zero=False) for v, shape in zip((scale, zero), shapes))


@_op("torchao.quantize_affine.default")
def _quantize_affine(t: Any, node: Any, x: Any, block: Any, scale: Any, zero: Any, dtype: str, low: Any = None,
                     high: Any = None, *_: Any) -> Any:  # fmt: skip
    word = dtypes.word(dtype)
    bounds = _bounds(word, low, high) if low is not None else {}
    return t.b.quantize(t.value(x), name=node.name, scale=_grid_scale(t, x, block, scale), dtype=word, **bounds,
                        zero_point=_grid_zero(t, x, block, zero), **_blocks(x, block))  # fmt: skip


@_op("torchao.dequantize_affine.default")
def _dequantize_affine(t: Any, node: Any, x: Any, block: Any, scale: Any, zero: Any, dtype: str, *_: Any,
                       **__: Any) -> Any:  # fmt: skip
    return t.b.dequantize(t.value(x), name=node.name, scale=_grid_scale(t, x, block, scale), **_blocks(x, block),
                          zero_point=_grid_zero(t, x, block, zero), dtype=dtypes.word(node.meta["val"].dtype))  # fmt: skip


def _grid_shape(x: Any, block: Any) -> List[Any]:
    return [] if list(block) == _shape(x) else [-(-s // g) for s, g in zip(_shape(x), block)]


def _grid_scale(t: Any, x: Any, block: Any, scale: Any) -> Any:
    return _scale(t, scale, _grid_shape(x, block))


def _grid_zero(t: Any, x: Any, block: Any, zero: Any) -> Any:
    made, grid = None if zero is None else _zero(t, zero), _grid_shape(x, block)
    if made is None:
        return None
    return t.b.reshape(made, shape=grid, special_zero=False) if isinstance(made, Value) else made.reshape(grid)


# ---- MX ----


def _is_mx(tensor: Any) -> bool:
    return type(tensor).__name__ == "MXTensor"


def _mx_word(dtype: str) -> Any:
    return "float4_e2m1" if "float4" in str(dtype) else dtypes.word(dtype)


def _mx_blocks(rank: Any, size: Any) -> Dict[str, Any]:
    return {"qtype": "per_group", "group_shape": [1] * (rank - 1) + [size]}


def _unswizzled(scale: Any, rows: Any, columns: Any) -> Any:
    """Returns scales in the order of the blocks. They are given in tiles of 128 rows and 4 columns, in which row q * 32
    + r is part q of line r, as NVIDIA's products of block-scaled operands read them."""
    tiles = scale.reshape(-(-rows // 128), -(-columns // 4), 32, 4, 4)
    return tiles.transpose(0, 3, 2, 1, 4).reshape(-(-rows // 128) * 128, -1)[:rows, :columns]


def _mx_weights(b: Any, name: str, tensor: Any) -> Any:
    """Returns codes and scales of torchao's MXTensor: blocks of the last dim share a scale, a power of two."""
    codes, word = dtypes.imported(tensor.qdata), _mx_word(tensor.elem_dtype)
    if word == "float4_e2m1":  # two codes in a byte, the first in its low bits
        bits = codes.view(np.uint8)
        codes = np.stack([bits & 15, bits >> 4], -1).reshape(*bits.shape[:-1], -1).view(dtypes.numpy_of(word))
    scale, count = dtypes.imported(tensor.scale), codes.shape[-1] // tensor.block_size
    if getattr(tensor, "is_swizzled_scales", False):
        scale = _unswizzled(scale, codes.size // codes.shape[-1], count)
    scale = np.ascontiguousarray(scale).reshape(*codes.shape[:-1], count)
    return b.dequantize(b.constant(codes, name=b._unique(name), dtype=word), name=b._unique(name + "_mx"),
                        scale=b.constant(scale, name=b._unique(name + "_scale"), dtype="float8_e8m0"),
                        dtype=dtypes.word(tensor.dtype), **_mx_blocks(codes.ndim, tensor.block_size))  # fmt: skip


def _mx_activation(t: Any, node: Any, x: Any, weights: Any) -> Any:
    """Rounds x to the blocks to which torchao quantizes it, if `weights` ask for this."""
    given = t.values.get(weights)
    how = getattr(given.tensor, "act_quant_kwargs", None) if isinstance(given, _Given) and _is_mx(given.tensor) else None
    value = t.value(x)
    if how is None:
        return value
    word = _mx_word(how.elem_dtype)
    blocks = _mx_blocks(len(_shape(x)), how.block_size)
    codes, scale, *_ = t.b.dynamic_quantize(value, name=f"{node.name}_x", dtype=word, scheme=f"mx_{how.scaling_mode.value}",
                                            **blocks)  # fmt: skip
    return t.b.dequantize(codes, scale=scale, dtype=dtypes.word(x.meta["val"].dtype), **blocks)


# ---- Products ----


def _convolve(t: Any, node: Any, x: Any, weights: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
              groups: Any) -> Any:  # fmt: skip
    rank = len(_shape(x)) - 2
    pads = _list(padding, rank)
    more = {} if bias is None else {"bias": t.value(bias)}
    return t.b.convolution(t.value(x), t.value(weights), name=node.name, strides=_list(stride, rank),
                           dilations=_list(dilation, rank), pads_begin=pads, pads_end=pads, groups=groups, data_format="NCX",
                           weights_format="OIX", **more)  # fmt: skip


@_op("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default")
def _conv(t: Any, node: Any, x: Any, weights: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
          dilation: Any = 1, groups: Any = 1) -> Any:  # fmt: skip
    return _convolve(t, node, x, weights, bias, stride, padding, dilation, groups)


@_op("aten.convolution.default")
def _convolution(t: Any, node: Any, x: Any, weights: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
                 transposed: Any, output_padding: Any, groups: Any) -> Any:  # fmt: skip
    if not transposed:
        return _convolve(t, node, x, weights, bias, stride, padding, dilation, groups)
    return _conv_transpose(t, node, x, weights, bias, stride, padding, output_padding, groups, dilation)


@_op("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def _conv_transpose(t: Any, node: Any, x: Any, weights: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                    output_padding: Any = 0, groups: Any = 1, dilation: Any = 1) -> Any:  # fmt: skip
    rank = len(_shape(x)) - 2
    pads = _list(padding, rank)
    more = {} if bias is None else {"bias": t.value(bias)}
    return t.b.conv_transpose(t.value(x), t.value(weights), name=node.name, strides=_list(stride, rank),
                              dilations=_list(dilation, rank), pads_begin=pads, pads_end=pads, groups=groups,
                              output_padding=_list(output_padding, rank), data_format="NCX", weights_format="IOX", **more)  # fmt: skip


@_op("aten.linear.default")
def _linear(t: Any, node: Any, x: Any, weights: Any, bias: Any = None) -> Any:
    more = {} if bias is None else {"bias": t.value(bias)}
    return t.b.matmul(_mx_activation(t, node, x, weights), t.value(weights), name=node.name, transpose_b=True, **more)


@_op("aten.matmul.default", "aten.mm.default", "aten.bmm.default")
def _matmul(t: Any, node: Any, a: Any, b: Any) -> Any:
    return t.b.matmul(t.value(a), t.value(b), name=node.name)


@_op("aten.addmm.default")
def _addmm(t: Any, node: Any, bias: Any, a: Any, b: Any, **_: Any) -> Any:
    return t.b.matmul(t.value(a), t.value(b), name=node.name, bias=t.value(bias))


@_op("aten.scaled_dot_product_attention.default")
def _attention(t: Any, node: Any, q: Any, k: Any, v: Any, mask: Any = None, dropout: Any = 0.0, causal: Any = False,
               scale: Any = None, **_: Any) -> Any:  # fmt: skip
    if causal or mask is not None:
        raise UnsupportedError(f"{node.name}: attention has a mask, wanted none; run_decompositions() writes it as products")
    scale = (_shape(q)[-1] ** -0.5) if scale is None else scale
    product = t.b.matmul(t.value(q), t.value(k), transpose_b=True)
    scaled = t.b.multiply(product, t.b.constant(np.float32(scale)))
    return t.b.matmul(t.b.softmax(scaled, axis=-1)[0], t.value(v), name=node.name)


@_op("aten._int_mm.default")
def _int_mm(t: Any, node: Any, a: Any, b: Any) -> Any:
    return t.b.matmul_integer(t.value(a), t.value(b), name=node.name)


# ---- Elements ----


def _unary(method: Any, **attrs: Any) -> Any:
    return lambda t, node, x, *_: getattr(t.b, method)(t.value(x), name=node.name, **attrs)


for _name, _method in {"relu": "relu", "sigmoid": "sigmoid", "tanh": "tanh", "exp": "exp", "log": "log", "sqrt": "sqrt",
                       "abs": "abs", "neg": "neg", "reciprocal": "reciprocal", "erf": "erf", "mish": "mish", "sin": "sin", "cos": "cos",
                       "floor": "floor", "ceil": "ceil", "trunc": "trunc", "log1p": "log1p", "sign": "sign", "round": "round", "square": "square",
                       "hardswish": "hard_swish", "softplus": "softplus"}.items():  # fmt: skip
    _OPS[f"aten.{_name}.default"] = _OPS[f"aten.{_name}_.default"] = _unary(_method)
_OPS["aten.hardsigmoid.default"] = _unary("hard_sigmoid", alpha=1 / 6, beta=0.5)


# ttnn has single ops for the next three. The other targets but torchao and the core compute what an exported ONNX model has.


def _has_torch_bits(t: Any) -> bool:
    return t.target in ("core", "torchao")


@_op("aten.silu.default", "aten.silu_.default")
def _silu(t: Any, node: Any, x: Any) -> Any:
    if t.target == "ttnn":
        return t.b.silu(t.value(x), name=node.name)
    if not _has_torch_bits(t):
        return t.b.multiply(t.value(x), t.b.sigmoid(t.value(x)), name=node.name)
    dtype = _word(node)
    narrow = dtype != "float32"  # torch rounds 16 bits once, at the end
    v = t.b.cast(t.value(x), dtype="float32") if narrow else t.value(x)
    denominator = t.b.add(t.b.exp(t.b.neg(v)), np.float32(1))
    if not narrow:
        return t.b.divide(v, denominator, name=node.name)
    return t.b.cast(t.b.divide(v, denominator), name=node.name, dtype=dtype)


@_op("aten.rsqrt.default")
def _rsqrt(t: Any, node: Any, x: Any) -> Any:
    rounds_once = _has_torch_bits(t) and _word(node) != "float32"
    if t.target == "ttnn" or rounds_once:
        return t.b.rsqrt(t.value(x), name=node.name)
    return t.b.reciprocal(t.b.sqrt(t.value(x)), name=node.name)


@_op("aten.relu6.default", "aten.relu6_.default")
def _relu6(t: Any, node: Any, x: Any) -> Any:
    if t.target == "ttnn":
        return t.b.relu6(t.value(x), name=node.name)
    return t.b.clamp(t.value(x), name=node.name, min=0.0, max=6.0)  # -0 stays


@_op("aten.gelu.default")
def _gelu(t: Any, node: Any, x: Any, approximate: Any = "none") -> Any:
    approximate = node.kwargs.get("approximate", approximate)
    return t.b.gelu(t.value(x), name=node.name, mode="gelu_tanh" if approximate == "tanh" else "gelu_erf")


@_op("aten.hardtanh.default", "aten.hardtanh_.default")
def _hardtanh(t: Any, node: Any, x: Any, low: Any = -1.0, high: Any = 1.0) -> Any:
    return t.b.clamp(t.value(x), name=node.name, min=float(low), max=float(high))


@_op("aten.clamp.default", "aten.clamp_.default")
def _clamp(t: Any, node: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    low, high = node.kwargs.get("min", low), node.kwargs.get("max", high)
    most = float(np.finfo(np.float32).max)
    low, high = -most if low is None else float(low), most if high is None else float(high)
    return t.b.clamp(t.value(x), name=node.name, min=low, max=high)


@_op("aten.leaky_relu.default", "aten.leaky_relu_.default")
def _leaky_relu(t: Any, node: Any, x: Any, slope: Any = 0.01) -> Any:
    return t.b.leaky_relu(t.value(x), name=node.name, alpha=slope)


@_op("aten.elu.default")
def _elu(t: Any, node: Any, x: Any, alpha: Any = 1.0, *_: Any) -> Any:
    return t.b.elu(t.value(x), name=node.name, alpha=alpha)


def _binary(method: Any) -> Any:
    def add(t: Any, node: Any, a: Any, b: Any) -> Any:
        if node.kwargs.get("alpha", 1) != 1:
            raise UnsupportedError(f"{node.name}: alpha is {node.kwargs['alpha']}, wanted 1")
        return getattr(t.b, method)(*t.operands(node, a, b), name=node.name)

    return add


for _name, _method in {"add": "add", "add_": "add", "sub": "subtract", "sub_": "subtract", "mul": "multiply",
                       "mul_": "multiply", "div": "divide", "eq": "equal", "gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_or_equal"}.items():  # fmt: skip
    _OPS[f"aten.{_name}.Tensor"] = _OPS[f"aten.{_name}.Scalar"] = _binary(_method)
_OPS["aten.maximum.default"], _OPS["aten.minimum.default"] = _binary("maximum"), _binary("minimum")
_OPS["aten.pow.Tensor_Scalar"] = _OPS["aten.pow.Tensor_Tensor"] = _binary("pow")


@_op("aten.where.self")
def _where(t: Any, node: Any, condition: Any, a: Any, b: Any) -> Any:
    return t.b.select(t.value(condition), *t.operands(node, a, b), name=node.name)


# ---- Windows, means, norms ----


def _window(t: Any, node: Any, x: Any, kernel: Any, stride: Any, padding: Any, ceil: Any) -> Dict[str, Any]:
    rank = len(kernel) if not isinstance(kernel, int) else len(_shape(x)) - 2
    pads = _list(padding, rank)
    return {"name": node.name, "kernel": _list(kernel, rank), "strides": _list(stride or kernel, rank), "pads_begin": pads,
            "pads_end": pads, "rounding_type": "ceil" if ceil else "floor", "data_format": "NCX"}  # fmt: skip


@_op("aten.max_pool1d.default", "aten.max_pool2d.default", "aten.max_pool3d.default")
def _max_pool(t: Any, node: Any, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
              ceil: Any = False) -> Any:  # fmt: skip
    window = _window(t, node, x, kernel, stride, padding, ceil)
    return t.b.max_pool(t.value(x), dilations=_list(dilation, len(window["kernel"])), **window)


@_op("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def _avg_pool(t: Any, node: Any, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil: Any = False,
              count_pad: Any = True, divisor: Any = None) -> Any:  # fmt: skip
    if divisor is not None:
        raise UnsupportedError(f"{node.name}: divisor_override is {divisor}, wanted none")
    return t.b.avg_pool(t.value(x), exclude_pad=not count_pad, **_window(t, node, x, kernel, stride, padding, ceil))


@_op("aten.adaptive_avg_pool1d.default", "aten.adaptive_avg_pool2d.default", "aten.adaptive_avg_pool3d.default",
     "aten._adaptive_avg_pool2d.default")  # fmt: skip
def _adaptive_pool(t: Any, node: Any, x: Any, size: Any) -> Any:
    dims = _shape(x)[2:]
    size = _list(size, len(dims))
    if any(d % s for d, s in zip(dims, size)):
        raise UnsupportedError(f"{node.name}: {dims} is pooled to {size}, wanted dims that these divide")
    if all(s == 1 for s in size):
        return t.b.reduce_mean(t.value(x), name=node.name, axes=list(range(2, 2 + len(dims))), keep_dims=True)
    steps = [d // s for d, s in zip(dims, size)]
    return t.b.avg_pool(t.value(x), name=node.name, kernel=steps, strides=steps, exclude_pad=False, data_format="NCX")


def _reduce(method: Any) -> Any:
    def add(t: Any, node: Any, x: Any, dims: Any = None, keep: bool = False, **_: Any) -> Any:
        dims = list(range(len(_shape(x)))) if not dims and dims != 0 else _list(dims, 1)
        return getattr(t.b, method)(t.value(x), name=node.name, axes=dims, keep_dims=node.kwargs.get("keepdim", keep))

    return add


_OPS["aten.mean.dim"], _OPS["aten.mean.default"] = _reduce("reduce_mean"), _reduce("reduce_mean")
_OPS["aten.sum.dim_IntList"], _OPS["aten.amax.default"], _OPS["aten.amin.default"] = (
    _reduce("reduce_sum"), _reduce("reduce_max"), _reduce("reduce_min"))  # fmt: skip


@_op("aten.softmax.int", "aten._softmax.default")
def _softmax(t: Any, node: Any, x: Any, dim: Any, *_: Any) -> Any:
    return t.b.softmax(t.value(x), name=node.name, axis=dim)[0]


@_op("aten.log_softmax.int", "aten._log_softmax.default")
def _log_softmax(t: Any, node: Any, x: Any, dim: Any, *_: Any) -> Any:
    return t.b.log_softmax(t.value(x), name=node.name, axis=dim)


@_op("aten.layer_norm.default")
def _layer_norm(t: Any, node: Any, x: Any, shape: Sequence[int], gamma: Any = None, beta: Any = None, eps: Any = 1e-5,
                *_: Any) -> Any:  # fmt: skip
    made = t.b.layer_norm(t.value(x), name=node.name, begin_norm_axis=-len(shape), epsilon=eps, keep_stats=False,
                          gamma=None if gamma is None else t.value(gamma), beta=None if beta is None else t.value(beta))  # fmt: skip
    return made[0]


@_op("aten.native_layer_norm.default")
def _native_layer_norm(t: Any, node: Any, x: Any, shape: Sequence[int], gamma: Any, beta: Any, eps: Any) -> Any:
    return (_layer_norm(t, node, x, shape, gamma, beta, eps),)


@_op("aten.native_group_norm.default")
def _native_group_norm(t: Any, node: Any, x: Any, gamma: Any, beta: Any, batch: Any, channels: Any, positions: Any,
                       groups: Any, eps: Any) -> Any:  # fmt: skip
    return (_group_norm(t, node, x, groups, gamma, beta, eps),)


@_op("aten.max_pool2d_with_indices.default")
def _max_pool_with_indices(t: Any, node: Any, *args: Any) -> Any:
    return (_max_pool(t, node, *args),)


@_op("aten.rms_norm.default")
def _rms_norm(t: Any, node: Any, x: Any, shape: Sequence[int], gamma: Any = None, eps: Any = None) -> Any:
    eps = float(np.finfo(np.float32).eps) if eps is None else eps
    return t.b.rms_norm(t.value(x), name=node.name, begin_norm_axis=-len(shape), epsilon=eps,
                        gamma=None if gamma is None else t.value(gamma))  # fmt: skip


@_op("aten.group_norm.default")
def _group_norm(t: Any, node: Any, x: Any, groups: Any, gamma: Any = None, beta: Any = None, eps: Any = 1e-5,
                *_: Any) -> Any:  # fmt: skip
    made = t.b.group_norm(t.value(x), name=node.name, groups=groups, epsilon=eps, data_format="NCX", keep_stats=False,
                          gamma=None if gamma is None else t.value(gamma), beta=None if beta is None else t.value(beta))  # fmt: skip
    return made[0]


@_op("aten.batch_norm.default")
def _batch_norm(t: Any, node: Any, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, training: Any,
                momentum: Any, eps: Any, *_: Any) -> Any:  # fmt: skip
    return _batch(t, node, x, gamma, beta, mean, variance, eps)


@_op("aten._native_batch_norm_legit_no_training.default")
def _native_batch_norm(t: Any, node: Any, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: Any,
                       eps: Any) -> Any:  # fmt: skip
    return (_batch(t, node, x, gamma, beta, mean, variance, eps),)


def _batch(t: Any, node: Any, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: Any) -> Any:
    channels = _shape(x)[1]
    gamma = t.value(gamma) if gamma is not None else t.b.constant(np.ones(channels, np.float32))
    beta = t.value(beta) if beta is not None else t.b.constant(np.zeros(channels, np.float32))
    return t.b.batch_norm(t.value(x), gamma=gamma, beta=beta, mean=t.value(mean), variance=t.value(variance), name=node.name,
                          epsilon=eps, data_format="NCX")  # fmt: skip


# ---- Moving ----


@_op("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten.flatten.using_ints", "aten.squeeze.dim",
     "aten.squeeze.dims", "aten.squeeze.default", "aten.unsqueeze.default", "aten.unflatten.int")  # fmt: skip
def _reshape(t: Any, node: Any, x: Any, *_: Any) -> Any:
    return t.b.reshape(t.value(x), name=node.name, shape=_shape(node), special_zero=False)


@_op("aten.permute.default")
def _permute(t: Any, node: Any, x: Any, order: Any) -> Any:
    return t.b.transpose(t.value(x), name=node.name, order=[int(d) for d in order])


@_op("aten.transpose.int")
def _transpose(t: Any, node: Any, x: Any, a: Any, b: Any) -> Any:
    order = list(range(len(_shape(x))))
    order[a], order[b] = order[b], order[a]
    return t.b.transpose(t.value(x), name=node.name, order=order)


@_op("aten.t.default")
def _t(t: Any, node: Any, x: Any) -> Any:
    return t.b.transpose(t.value(x), name=node.name, order=[1, 0])


@_op("aten.cat.default")
def _cat(t: Any, node: Any, xs: Any, axis: Any = 0) -> Any:
    return t.b.concat([t.value(x) for x in xs], name=node.name, axis=axis)


@_op("aten.slice.Tensor")
def _slice(t: Any, node: Any, x: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> Any:
    most = _shape(x)[dim]
    return t.b.slice(t.value(x), name=node.name, axes=[dim], starts=[start or 0], steps=[step],
                     ends=[most if end is None else max(-most, min(end, most))])  # fmt: skip


@_op("aten.select.int")
def _select(t: Any, node: Any, x: Any, dim: Any, index: int) -> Any:
    made = t.b.slice(t.value(x), axes=[dim], starts=[index], ends=[index + 1 if index != -1 else _shape(x)[dim]])
    return t.b.reshape(made, name=node.name, shape=_shape(node), special_zero=False)


@_op("aten.expand.default")
def _expand(t: Any, node: Any, x: Any, *_: Any) -> Any:
    return t.b.expand(t.value(x), name=node.name, shape=_shape(node))


@_op("aten.embedding.default")
def _embedding(t: Any, node: Any, weights: Any, indices: Any, *_: Any) -> Any:
    return t.b.gather(t.value(weights), t.value(indices), name=node.name, axis=0)


@_op("aten.constant_pad_nd.default", "aten.pad.default")
def _pad(t: Any, node: Any, x: Any, pads: Any, *more: Any) -> Any:
    mode, value = ("constant", more[0] if more else 0) if "constant" in str(node.target) else (*more, "constant", None)[:2]
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise UnsupportedError(f"{node.name}: mode is {mode}, wanted constant, reflect, replicate or circular")
    rank, count = len(_shape(x)), len(pads) // 2
    axes = [rank - 1 - i for i in range(count)]
    given = {"value": t.operands(node, x, value)[1]} if value else {}
    return t.b.pad(t.value(x), name=node.name, axes=axes, pads=[*pads[::2], *pads[1::2]],
                   mode={"replicate": "edge", "circular": "wrap"}.get(mode, mode), **given)  # fmt: skip


@_op("aten.chunk.default")
def _chunk(t: Any, node: Any, x: Any, count: int, dim: Any = 0) -> Any:
    size = -(-_shape(x)[dim] // count)
    return _pieces(t, x, dim, [size] * count)


@_op("aten.split.Tensor")
def _split(t: Any, node: Any, x: Any, size: Any, dim: Any = 0) -> Any:
    return _pieces(t, x, dim, [size] * -(-_shape(x)[dim] // size))


@_op("aten.split_with_sizes.default")
def _split_with_sizes(t: Any, node: Any, x: Any, sizes: Any, dim: Any = 0) -> Any:
    return _pieces(t, x, dim, sizes)


def _pieces(t: Any, x: Any, dim: Any, sizes: Any) -> Any:
    made, at, most = [], 0, _shape(x)[dim]
    for size in sizes:
        if at < most:
            made.append(t.b.slice(t.value(x), axes=[dim], starts=[at], ends=[min(at + size, most)]))
        at += size
    return tuple(made)


@_op("<built-in function getitem>")
def _getitem(t: Any, node: Any, xs: Any, index: int) -> Any:
    made = t.values[xs]
    if index >= len(made):
        raise UnsupportedError(f"{node.name}: result {index} of {xs.target} has no counterpart, wanted result 0")
    return made[index]


@_op("aten.to.dtype", "aten._to_copy.default", "aten.type_as.default")
def _to(t: Any, node: Any, x: Any, *_: Any, **__: Any) -> Any:
    if x.meta["val"].dtype == node.meta["val"].dtype:
        return t.value(x)
    return t.b.cast(t.value(x), name=node.name, dtype=dtypes.word(node.meta["val"].dtype))


_MOVES = {"aten.view.default", "aten.reshape.default", "aten.flatten.using_ints", "aten.squeeze.dim",
          "aten.unsqueeze.default", "aten.permute.default", "aten.transpose.int", "aten.t.default", "aten.clone.default", "aten.contiguous.default",
          "aten.detach.default", "aten.detach_.default", "aten.alias.default", "aten.lift_fresh_copy.default"}  # fmt: skip
_IGNORED = {"aten._assert_tensor_metadata.default"}


@_op(*_IGNORED)
def _nothing(t: Any, node: Any, *_: Any, **__: Any) -> None:
    return None


_OPS["export.access_subclass_inner_tensor.default"] = _nothing  # _folded


@_op("aten.clone.default", "aten.contiguous.default", "aten.dropout.default", "aten.dropout_.default", "aten.detach.default",
     "aten.detach_.default", "aten.alias.default", "aten.lift_fresh_copy.default")  # fmt: skip
def _same(t: Any, node: Any, x: Any, *_: Any, **__: Any) -> Any:
    return t.value(x)
