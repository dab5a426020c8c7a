"""What the quantizing ops compute, written from their definitions and from nothing else.

Every step is one float32 operation on whole arrays. Each is done a second time in float64 and
rounded: float64 has more than twice the digits of float32, so the second rounding cannot change
the result, and both ways must give the same bits.
"""

from typing import NamedTuple

import ml_dtypes
import numpy as np

DTYPES = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "int32": np.dtype(np.int32),
    "int4": np.dtype(ml_dtypes.int4),
}

BLOCK_FLOATS = {"bfloat8_b": 7, "bfloat4_b": 3}  # bits of a magnitude; arrays are float32

COMMON_ATTRS = {"qtype", "axis", "dtype", "group_shape"}
KNOWN_ATTRS = {
    "Quantize": COMMON_ATTRS | {"scales", "zps"},
    "Dequantize": COMMON_ATTRS | {"scales", "zps"},
    "DynamicQuantize": COMMON_ATTRS | {"scales", "zps", "scheme"},
    "Requantize": COMMON_ATTRS | {"in_scales", "in_zps", "out_scales", "out_zps"},
    "Cast": {"dtype"},
}


def is_integer(dtype):
    return np.issubdtype(dtype, np.integer) or dtype == DTYPES["int4"]


def limits_of(dtype):
    return ml_dtypes.iinfo(dtype)


class Parameters(NamedTuple):
    """Scale (float32) and zero point (int64): one of each, as many as x has along `axis`, or one
    for each block of `group_shape`."""

    scale: np.ndarray
    zero: np.ndarray
    axis: int
    group_shape: tuple = ()

    def beside(self, x):
        """Both, shaped so that they broadcast over x."""

        def shaped(parameter):
            if parameter.size == 1:
                return parameter.reshape(())
            if self.group_shape:
                blocks = [-(-dim // group) for dim, group in zip(x.shape, self.group_shape)]
                at = np.ix_(*(np.arange(d) // g for d, g in zip(x.shape, self.group_shape)))
                return parameter.reshape(blocks)[at]
            shape = [1] * x.ndim
            shape[self.axis] = x.shape[self.axis]
            return parameter.reshape(shape)

        return shaped(self.scale), shaped(self.zero)


def read_parameters(node, values, x, side=""):
    """The parameters of a node, or of one side of a Requantize ("in_", "out_")."""
    attrs = node.get("attrs", {})
    ports = node["inputs"]

    def one(port, attr, default):
        assert not (port in ports and attr in attrs), f"{node['name']}: {port} is given twice"
        if port in ports:
            return values[ports[port]]
        return np.asarray(attrs[attr] if default is None else attrs.get(attr, default))

    scale = one(side + "scale", side + "scales", None).astype(np.float32)
    zero = one(side + "zero_point", side + "zps", 0)
    assert zero.dtype.kind in "iu", f"{node['name']}: a fraction as zero point"
    axis = attrs.get("axis", 1)
    per_channel = attrs.get("qtype") == "per_channel" or (side != "" and "axis" in attrs)
    if attrs.get("qtype") == "per_group":
        groups = tuple(d if g == -1 else g for d, g in zip(x.shape, attrs["group_shape"]))
        return Parameters(scale, zero.astype(np.int64), axis, groups)
    for count in (scale.size, zero.size):
        assert count == 1 or (per_channel and count == x.shape[axis]), node["name"]
    return Parameters(scale, zero.astype(np.int64), axis)


def in_float32(operation, a, b):
    result = np.asarray(operation(a, b))
    assert result.dtype == np.float32
    wide = operation(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    assert np.array_equal(result, wide, equal_nan=True)
    return result


def to_dtype(values, dtype):
    """float32 to a float dtype, half to even."""
    result = values.astype(dtype)
    if dtype == DTYPES["bfloat16"]:
        bits = values.view(np.uint32).astype(np.uint64)
        upper = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        assert np.array_equal(result.view(np.uint16), upper.astype(np.uint16))
    return result


def to_block_float(values, dtype):
    """Finite float32 as the tiles of a block float hold them: runs of sixteen columns of a row
    share the greatest exponent, the magnitude is rounded half to even and saturates. Bits that the
    shift to that exponent drops are not seen by the rounding."""
    bits = BLOCK_FLOATS[dtype]
    assert values.dtype == np.float32 and np.all(np.isfinite(values))
    rows = values.reshape(-1, values.shape[-1])
    groups = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 16))).reshape(rows.shape[0], -1, 16)

    code = groups.view(np.uint32).astype(np.int64)
    exponent = code >> 23 & 0xFF
    shared = exponent.max(axis=-1, keepdims=True)
    shift = np.minimum(shared - exponent, 32)
    whole = np.where(exponent == 0, 0, (1 << 23 | code & 0x7FFFFF) >> shift)
    half = 1 << (23 - bits)
    magnitude, rest = whole // (2 * half), whole % (2 * half)
    magnitude += (rest > half) | ((rest == half) & (magnitude % 2 == 1))
    magnitude = np.minimum(magnitude, (1 << bits) - 1)
    sign = np.where(np.signbit(groups) & (magnitude > 0), -1.0, 1.0)
    result = np.ldexp(sign * magnitude, shared - 127 - (bits - 1))

    step = np.ldexp(1.0, shared - 127 - (bits - 1))
    kept = np.trunc(np.ldexp(groups.astype(np.float64), 150 - shared)) * np.ldexp(1.0, shared - 150)
    near = np.clip(np.rint(kept / step), -(1 << bits) + 1, (1 << bits) - 1) * step
    assert np.array_equal(np.where(exponent == 0, 0, near), result)
    result = result.astype(np.float32).reshape(rows.shape[0], -1)
    return result[:, : rows.shape[1]].reshape(values.shape)


def check_in_float64(result, quotient, zero, steps):
    """The same integers must follow from the quotient in float64, unless a tie is so near that the
    roundings of `steps` float32 operations can cross it."""
    limits = limits_of(result.dtype)
    with np.errstate(invalid="ignore"):  # infinities
        near = np.abs(quotient - np.floor(quotient) - 0.5) <= np.abs(quotient) * steps * 2.0**-23
    exact = np.clip(np.rint(quotient) + zero, limits.min, limits.max)
    assert np.all(near | np.isnan(quotient) | (exact == result.astype(np.int64)))


def quantize(x, parameters, dtype):
    """clamp(round_half_even(x / s) + z): divide in float32, then exact; NaN becomes the minimum."""
    scale, zero = parameters.beside(x)
    low, high = limits_of(dtype).min, limits_of(dtype).max
    rounded = np.rint(in_float32(np.divide, x.astype(np.float32), scale))
    shifted = rounded.astype(np.float64) + zero
    result = np.where(np.isnan(shifted), low, np.clip(shifted, low, high)).astype(dtype)
    check_in_float64(result, x.astype(np.float64) / scale, zero, 1)
    return result


def dequantize(q, parameters, dtype):
    """(q - z) * s: the difference exact in integers, the product in float32, then the dtype."""
    scale, zero = parameters.beside(q)
    if is_integer(q.dtype):
        difference = (q.astype(np.int64) - zero).astype(np.float32)
    else:
        difference = in_float32(np.subtract, q.astype(np.float32), zero.astype(np.float32))
    return to_dtype(in_float32(np.multiply, difference, scale), dtype)


def requantize(x, source, target, dtype):
    """To float32, and from there to the target's integers."""
    result = quantize(dequantize(x, source, DTYPES["float32"]), target, dtype)
    (scale, zero), (out_scale, out_zero) = source.beside(x), target.beside(x)
    quotient = (x.astype(np.float64) - zero) * scale / out_scale.astype(np.float64)
    check_in_float64(result, quotient, out_zero, 3)
    return result


def cast(x, dtype):
    """To a float: one rounding, half to even. Between integers: the low bits in two's complement.
    From a float to an integer of 8 bits or more: without the fraction, and in its range."""
    if not is_integer(dtype):
        return to_dtype(x.astype(np.float32), dtype)
    limits = limits_of(dtype)
    if is_integer(x.dtype):
        size = limits.max - limits.min + 1
        return ((x.astype(np.int64) - limits.min) % size + limits.min).astype(dtype)
    assert limits.bits >= 8, "a float to a narrow integer wraps"
    whole = np.clip(np.trunc(x.astype(np.float64)), limits.min, limits.max)
    return np.where(np.isnan(whole), 0, whole).astype(dtype)


def choose_parameters(x, scheme, axis, dtype):
    """Scale and zero point from the data; `axis` None: one for all. NaN does not count.

    Where nothing but zeros is left the scale is 1 and the zero point 0.
    """
    others = tuple(d for d in range(x.ndim) if axis is None or d != axis % x.ndim)
    low, high = np.float32(np.iinfo(dtype).min), np.float32(np.iinfo(dtype).max)
    least = np.fmin.reduce(x, axis=others, initial=0)
    most = np.fmax.reduce(x, axis=others, initial=0)
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


def evaluate_node(node, values):
    """Adds what the node makes to the values."""
    op, name, attrs = node["op"], node["name"], node.get("attrs", {})
    assert set(attrs) <= KNOWN_ATTRS[op], f"{name}: attributes"
    x = values[node["inputs"]["x"]]

    if op == "Requantize":
        dtype = DTYPES[attrs["dtype"]] if "dtype" in attrs else x.dtype
        assert is_integer(dtype), f"{name}: a float x needs a dtype"
        source = read_parameters(node, values, x, "in_")
        target = read_parameters(node, values, x, "out_")
        values[name] = requantize(x, source, target, dtype)
    elif op == "Cast":
        values[name] = cast(x, DTYPES[attrs["dtype"]])
    elif op == "Dequantize":
        dtype = DTYPES[attrs.get("dtype", "bfloat16")]
        values[name] = dequantize(x, read_parameters(node, values, x), dtype)
    else:
        dtype = DTYPES[attrs.get("dtype", "int8")]
        if op == "DynamicQuantize" and "scales" not in attrs and "scale" not in node["inputs"]:
            axis = attrs.get("axis", 1) if attrs.get("qtype") == "per_channel" else None
            scheme = attrs.get("scheme", "asymmetric")
            scale, zero = choose_parameters(x.astype(np.float32), scheme, axis, dtype)
            values[name + ".scale"], values[name + ".zero_point"] = scale, zero
            parameters = Parameters(scale, zero.astype(np.int64), axis)
        else:
            parameters = read_parameters(node, values, x)
        values[name] = quantize(x, parameters, dtype)


def evaluate(graph, values):
    """All values of the graph, from those of its inputs and constants; nodes in any order."""
    values = dict(values)
    waiting = list(graph["nodes"])
    while waiting:
        ready = [n for n in waiting if all(v in values for v in n["inputs"].values())]
        assert ready, "the graph has a cycle or a name that nothing makes"
        for node in ready:
            evaluate_node(node, values)
        waiting = [n for n in waiting if n not in ready]
    return values
