# SPDX-License-Identifier: Apache-2.0
"""A reference of the quantizing ops, written from their definitions alone.

Every step is one float32 operation on whole arrays. Each is done again in float64 and rounded:
float64 has more than twice the digits of float32, so the second rounding cannot change the result,
and both must give the same bits. Other targets have files of their own, which override the steps
that they compute differently."""

from typing import NamedTuple

import numpy as np

from dtypes import DTYPES, is_integer, limits_of, to_dtype, to_small_float
from microscaling import choose_mx, choose_nvfp4, quantize_mx, quantize_nvfp4

COMMON_ATTRS = {"qtype", "axis", "dtype", "group_shape"}
KNOWN_ATTRS = {
    "Quantize": COMMON_ATTRS | {"scales", "zps"},
    "Dequantize": COMMON_ATTRS | {"scales", "zps"},
    "DynamicQuantize": COMMON_ATTRS | {"scales", "zps", "scheme", "global_scales"},
    "Requantize": COMMON_ATTRS | {"in_scales", "in_zps", "out_scales", "out_zps"},
    "Cast": {"dtype"},
}


# ---- Parameters and the elements that share them -----------------------------


class Grid(NamedTuple):
    """Blocks of elements that share a parameter: their extents, and the shape of a parameter."""

    groups: tuple
    shape: tuple

    def index(self, shape):
        """The block number of each element, in row-major order of the blocks."""
        blocks = tuple(-(-dim // group) for dim, group in zip(shape, self.groups))
        if not shape:
            return np.zeros((), np.int64)
        at = np.ix_(*(np.arange(d) // g for d, g in zip(shape, self.groups)))
        return np.ravel_multi_index(np.broadcast_arrays(*at), blocks)

    def reduce(self, ufunc, x, initial):
        """One result for each block; `initial` takes part."""
        index = self.index(x.shape)
        result = np.full(index.max(initial=0) + 1, initial, x.dtype)
        with np.errstate(invalid="ignore"):  # NaN
            ufunc.at(result, index.reshape(-1), x.reshape(-1))
        return result.reshape(self.shape)

    def over(self, parameter, x):
        """The parameter of each element of x."""
        return parameter.reshape(-1)[self.index(x.shape)]


def grid_of(attrs, shape, side=""):
    """The blocks of a node; `side` of a Requantize, which follows the axis if it has one."""
    qtype = attrs.get("qtype", "per_channel" if side and "axis" in attrs else "per_tensor")
    if qtype == "per_group":
        groups = tuple(d if g == -1 else g for d, g in zip(shape, attrs["group_shape"]))
        return Grid(groups, tuple(-(-dim // group) for dim, group in zip(shape, groups)))
    if qtype == "per_channel":
        axis = attrs.get("axis", 1) % len(shape)
        return Grid(shape[:axis] + (1,) + shape[axis + 1 :], (shape[axis],))
    return Grid(shape, ())


class Parameters(NamedTuple):
    """Scale (float32) and zero point (int64): one of each, or one for each block of the grid."""

    scale: np.ndarray
    zero: np.ndarray
    grid: Grid

    def beside(self, x):
        """Both, in shapes that broadcast over x."""
        return tuple(
            p.reshape(()) if p.size == 1 else self.grid.over(p, x) for p in (self.scale, self.zero)
        )


def read_argument(node, values, port, attr, default=None):
    """A parameter and its origin: "port", "list", "number", or "" for the default."""
    attrs, ports = node.get("attrs", {}), node["inputs"]
    assert not (port in ports and attr in attrs), f"{node['name']}: {port} is given twice"
    if port in ports:
        return values[ports[port]], "port"
    if attr not in attrs:
        assert default is not None, f"{node['name']}: {attr} is missing"
        return np.asarray(default), ""
    return np.asarray(attrs[attr]), "list" if isinstance(attrs[attr], list) else "number"


def read_parameters(node, values, x, side=""):
    """The parameters of a node, or of one side of a Requantize ("in_", "out_")."""
    grid = grid_of(node.get("attrs", {}), x.shape, side)
    scale = read_argument(node, values, side + "scale", side + "scales")[0].astype(np.float32)
    zero = read_argument(node, values, side + "zero_point", side + "zps", 0)[0]
    assert is_integer(zero.dtype), f"{node['name']}: a fraction as zero point"
    blocks = int(np.prod([-(-d // g) for d, g in zip(x.shape, grid.groups)]))
    for count in (scale.size, zero.size):
        assert count in (1, blocks), node["name"]
    return Parameters(scale, zero.astype(np.int64), grid)


# ---- Formulas ----------------------------------------------------------------


def in_float32(operation, a, b):
    with np.errstate(over="ignore"):  # overflows to infinity
        result = np.asarray(operation(a, b))
        wide = operation(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    assert result.dtype == np.float32
    assert np.array_equal(result, wide, equal_nan=True)
    return result


def check_in_float64(result, quotient, zero, steps):
    """The float64 quotient must give the same integers, unless a tie is so near that the roundings
    of `steps` float32 operations can cross it."""
    limits = limits_of(result.dtype)
    with np.errstate(invalid="ignore"):  # infinities
        near = np.abs(quotient - np.floor(quotient) - 0.5) <= np.abs(quotient) * steps * 2.0**-23
    exact = np.clip(np.rint(quotient) + zero, limits.min, limits.max)
    assert np.all(near | np.isnan(quotient) | (exact == result.astype(np.int64)))


def quantize(x, parameters, dtype):
    """clamp(round_half_even(x / s) + z): a float32 division, then exact; NaN becomes the minimum.
    For a small float: the same division, rounded to the dtype."""
    scale, zero = parameters.beside(x)
    quotient = in_float32(np.divide, x.astype(np.float32), scale)
    if not is_integer(dtype):
        return to_small_float(quotient, dtype)
    low, high = limits_of(dtype).min, limits_of(dtype).max
    shifted = np.rint(quotient).astype(np.float64) + zero
    result = np.where(np.isnan(shifted), low, np.clip(shifted, low, high)).astype(dtype)
    check_in_float64(result, x.astype(np.float64) / scale, zero, 1)
    return result


def dequantize(q, parameters, dtype):
    """(q - z) * s: an exact difference of integers, a float32 product, then rounding to the
    dtype."""
    scale, zero = parameters.beside(q)
    if is_integer(q.dtype):
        difference = (q.astype(np.int64) - zero).astype(np.float32)
    else:
        difference = in_float32(np.subtract, q.astype(np.float32), zero.astype(np.float32))
    return to_dtype(in_float32(np.multiply, difference, scale), dtype)


def requantize(x, source, target, dtype):
    """Dequantizes to float32, then quantizes to the target's integers."""
    result = quantize(dequantize(x, source, DTYPES["float32"]), target, dtype)
    (scale, zero), (out_scale, out_zero) = source.beside(x), target.beside(x)
    quotient = (x.astype(np.float64) - zero) * scale / out_scale.astype(np.float64)
    check_in_float64(result, quotient, out_zero, 3)
    return result


def cast(x, dtype):
    """To a float: one rounding, half to even. Between integers: the low bits in two's complement.
    From a float to an integer of 8 bits or more: truncated, and clamped to its range."""
    if not is_integer(dtype):
        return to_dtype(x.astype(np.float32), dtype)
    limits = limits_of(dtype)
    if is_integer(x.dtype):
        size = limits.max - limits.min + 1
        return ((x.astype(np.int64) - limits.min) % size + limits.min).astype(dtype)
    assert limits.bits >= 8, "a float to a narrow integer wraps"
    whole = np.clip(np.trunc(x.astype(np.float64)), limits.min, limits.max)
    return np.where(np.isnan(whole), 0, whole).astype(dtype)


def choose_parameters(x, scheme, grid, dtype):
    """Scale and zero point computed from the data. NaN does not count.

    If all numbers are zero, the scale is 1 and the zero point 0."""
    low, high = np.float32(limits_of(dtype).min), np.float32(limits_of(dtype).max)
    least = grid.reduce(np.fmin, x, 0)
    most = grid.reduce(np.fmax, x, 0)
    if scheme == "symmetric":
        scale = in_float32(np.divide, np.maximum(-least, most), high)
    else:
        scale = in_float32(np.divide, in_float32(np.subtract, most, least), high - low)
    empty = least == most
    scale = np.where(empty, np.float32(1), scale)
    if scheme == "symmetric":
        return scale, np.zeros(scale.shape, dtype)
    zero = in_float32(np.subtract, low, in_float32(np.divide, least, scale))
    return scale, np.where(empty, 0, np.rint(np.clip(zero, low, high))).astype(dtype)


# ---- Nodes -------------------------------------------------------------------


def is_computed(node):
    """Whether a DynamicQuantize computes its own parameters."""
    given = "scales" in node.get("attrs", {}) or "scale" in node["inputs"]
    return node["op"] == "DynamicQuantize" and not given


def result_dtype(node, x):
    """The dtype of y."""
    defaults = {"Dequantize": "bfloat16", "Requantize": str(x.dtype)}
    return DTYPES[node.get("attrs", {}).get("dtype", defaults.get(node["op"], "int8"))]


def global_scale_of(node, values):
    scale, kind = read_argument(node, values, "global_scale", "global_scales", 1)
    return scale.astype(np.float32).reshape(()), bool(kind)


def evaluate_computed(node, values, x, grid, dtype):
    """y, scale and zero point of a DynamicQuantize."""
    scheme = node.get("attrs", {}).get("scheme", "asymmetric")
    x = x.astype(np.float32)
    if scheme.startswith("mx_"):
        codes = choose_mx(grid.reduce(np.maximum, np.abs(x), 0), scheme, dtype)
        return quantize_mx(x, grid.over(codes, x), dtype), codes, np.zeros(grid.shape, dtype)
    if scheme == "nvfp4":
        overall, _ = global_scale_of(node, values)
        scale = choose_nvfp4(grid.reduce(np.fmax, np.abs(x), 0), overall)
        effective = in_float32(np.multiply, scale.astype(np.float32), overall)
        y = quantize_nvfp4(in_float32(np.divide, x, grid.over(effective, x)))
        return y, scale, np.zeros(grid.shape, dtype)
    scale, zero = choose_parameters(x, scheme, grid, dtype)
    return quantize(x, Parameters(scale, zero.astype(np.int64), grid), dtype), scale, zero


def evaluate_node(node, values):
    """Adds the results of the node to the values."""
    op, name, attrs = node["op"], node["name"], node.get("attrs", {})
    assert set(attrs) <= KNOWN_ATTRS[op], f"{name}: attributes"
    x = values[node["inputs"]["x"]]
    dtype = result_dtype(node, x)

    if op == "Requantize":
        assert is_integer(dtype), f"{name}: a float x needs a dtype"
        source = read_parameters(node, values, x, "in_")
        target = read_parameters(node, values, x, "out_")
        values[name] = requantize(x, source, target, dtype)
    elif op == "Cast":
        values[name] = cast(x, dtype)
    elif op == "Dequantize":
        values[name] = dequantize(x, read_parameters(node, values, x), dtype)
    elif is_computed(node):
        ports = (name, name + ".scale", name + ".zero_point")
        made = evaluate_computed(node, values, x, grid_of(attrs, x.shape), dtype)
        values.update(zip(ports, made))
    else:
        values[name] = quantize(x, read_parameters(node, values, x), dtype)
