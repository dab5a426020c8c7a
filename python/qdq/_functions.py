# SPDX-License-Identifier: Apache-2.0
"""Runs single quantizing ops on arrays: each call builds a graph of one node with Builder and runs it.

Arguments, checks and findings are Builder's. The functions add a cache of plans, and the dtype of x.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Optional, Sequence

import numpy as np

from . import _dtypes as dtypes
from ._builder import Builder, is_number, plain
from ._library import UnsupportedError
from ._types import DtypeName

_PLANS: OrderedDict[Any, Any] = OrderedDict()  # {(op, target, types, arguments): plan and names}, in the order of use
_MOST = 64
_LOCK = Lock()
_ZERO_POINTS = ("zero_point", "in_zero_point", "out_zero_point")


def _argument(value: Any) -> Any:
    """Returns a tensor of another package as an array."""
    return dtypes.imported(value) if hasattr(value, "__dlpack__") else value


def _key(value: Any) -> Any:
    """Returns a key for a value: equal keys mean equal arguments."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.shape, value.dtype.str, value.tobytes()
    return repr(plain(value))


def _graph(op: str, dtype: DtypeName, shape: Sequence[int], given: Any, quantized: Any, target: Optional[str],
           inside: Any) -> Any:  # fmt: skip
    """Returns a graph of one node, and the names of its results. inside: a Dequantize reads the codes, which are no
    output."""
    b = Builder(op)
    given = dict(given)
    for port in _ZERO_POINTS:  # numpy holds int4 in int8
        array: Any = given.get(port)
        holds = isinstance(array, (np.ndarray, np.generic)) and array.dtype == dtypes.numpy_of(quantized)
        if holds and quantized in dtypes.NARROW:
            given[port] = b.constant(array, dtype=quantized)
    made = getattr(b, op)(b.input("x", dtype, shape), name="y", **given)
    if inside:
        shared = ("scale", "zero_point", "scales", "zps", "qtype", "axis", "group_shape", "zero_point_domain")
        again = {key: value for key, value in given.items() if key in shared}
        b.output("reals", b.dequantize(made, dtype=dtype, **again))
        return b._build(None, target), ["y"]
    made = made if isinstance(made, tuple) else (made,)
    for i, value in enumerate(made):
        b.output(f"y{i}", value)
    return b._build(None, target), [f"y{i}" for i in range(len(made))]


def _compiled(op: str, dtype: DtypeName, shape: Sequence[int], given: Any, quantized: Any, target: Optional[str]) -> Any:
    """Returns a plan and the names of its results. If the target lets no graph return these codes, they are read as the
    input of a Dequantize behind the node."""
    graph, names = _graph(op, dtype, shape, given, quantized, target, False)
    try:
        return graph.compile(target), names
    except UnsupportedError:
        if op != "quantize" or quantized not in dtypes.NARROW:
            raise
        graph, names = _graph(op, dtype, shape, given, quantized, target, True)
        if not graph.check(target).ok:
            raise
        return graph.compile(target, values=names), names


def _run(op: Any, x: Any, given: Any, quantized: Any, target: Optional[str], x_dtype: Any = None) -> Any:
    """Runs a graph of one node. quantized: the dtype of zero points, by default x's."""
    x = dtypes.imported(x)
    dtype = dtypes.word(x_dtype or x.dtype)
    quantized = dtype if quantized is None else dtypes.word(quantized)
    given = {name: _argument(value) for name, value in given.items() if value is not None}
    key = (op, target, x.shape, dtype, tuple(sorted((name, _key(value)) for name, value in given.items())))
    with _LOCK:
        found = _PLANS.get(key)
        if found:
            _PLANS.move_to_end(key)
    if not found:
        found = _compiled(op, dtype, x.shape, given, quantized, target)
        with _LOCK:
            _PLANS[key] = found
            while len(_PLANS) > _MOST:
                _PLANS.popitem(last=False)
    plan, names = found
    made = plan.run(x=x)
    made = [made[name] for name in names]
    return made[0] if len(made) == 1 else tuple(made)


def quantize(x: Any, scale: Any = None, zero_point: Any = None, *, dtype: str = "int8", target: Optional[str] = None,
             x_dtype: Any = None, **attrs: Any) -> Any:  # fmt: skip
    """Computes clamp(round(x / scale) + zero_point) as the target rounds, clamps and converts.

    x: array of float32, float16, bfloat16 or int32; x_dtype names the dtype if x holds its bits. scale, zero_point: as
    in Builder.quantize; several belong to the indices of `axis`, or to the blocks of `group_shape`. dtype: of the
    result. attrs: further attributes, see help(qdq.Builder.quantize). Returns an array of x's shape. If a target lets
    only a Dequantize read int4 codes (tripy), they are returned nevertheless.
    Raises ArgumentError, GraphError or UnsupportedError.
    """
    given = {"scale": scale, "zero_point": zero_point, "scales": None, "dtype": dtype, **attrs}
    return _run("quantize", x, given, dtype, target, x_dtype)


def dequantize(x: Any, scale: Any = None, zero_point: Any = None, *, dtype: str = "float32",
               target: Optional[str] = None, x_dtype: Any = None, **attrs: Any) -> Any:  # fmt: skip
    """Computes (x - zero_point) * scale in `dtype` as the target does. x: array of codes; x_dtype: for example "int4"
    for an int8 array that holds int4. attrs: further attributes, see help(qdq.Builder.dequantize)."""
    given = {"scale": scale, "zero_point": zero_point, "scales": None, "dtype": dtype, **attrs}
    return _run("dequantize", x, given, None, target, x_dtype)


def dynamic_quantize(x: Any, scale: Any = None, zero_point: Any = None, *, dtype: str = "uint8",
                     target: Optional[str] = None, x_dtype: Any = None, **attrs: Any) -> Any:  # fmt: skip
    """Quantizes with a scale computed from x: returns the codes, the scale and the zero point. With a given scale it
    returns only the codes. attrs: `scheme`, `axis`, `group_shape`, `eps`, ..., see help(qdq.Builder.dynamic_quantize)."""
    given = {"scale": scale, "zero_point": zero_point, "scales": None, "dtype": dtype, **attrs}
    if given["scale"] is None and given["scales"] is None and given.get("axis") is not None:
        given.setdefault("qtype", "per_channel")
    return _run("dynamic_quantize", x, given, dtype, target, x_dtype)


def requantize(x: Any, in_scale: Any = None, in_zero_point: Any = None, out_scale: Any = None,
               out_zero_point: Any = None, *, dtype: Optional[str] = None, target: Optional[str] = None,
               x_dtype: Any = None, **attrs: Any) -> Any:  # fmt: skip
    """Converts codes of one scale and zero point to codes of another. dtype: of the result, by default x's. attrs:
    further attributes, see help(qdq.Builder.requantize)."""
    given = {"in_scale": in_scale, "in_zero_point": in_zero_point, "out_scale": out_scale,
             "out_zero_point": out_zero_point}  # fmt: skip
    return _run("requantize", x, {**given, "dtype": dtype, **attrs}, None, target, x_dtype)
