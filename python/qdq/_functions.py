# SPDX-License-Identifier: Apache-2.0
"""Single quantizing ops on arrays."""

from collections import OrderedDict
from threading import Lock

import numpy as np

from . import _dtypes as dtypes
from ._builder import Builder

_PLANS = OrderedDict()  # by op, types, parameters and target; the last ones used
_MOST = 64
_LOCK = Lock()


def _run(op, x, parameters, attrs, target, wanted=None):
    """Runs a graph of one node. parameters: {port: array or None}."""
    x = dtypes.imported(x)
    given = {port: np.asarray(array) for port, array in parameters.items() if array is not None}
    key = (op, target, x.shape, x.dtype, wanted, repr(sorted(attrs.items())),
           *((port, a.shape, a.dtype, a.tobytes()) for port, a in given.items()))  # fmt: skip
    with _LOCK:
        plan = _PLANS.get(key)
        if plan:
            _PLANS.move_to_end(key)
    if not plan:
        b = Builder(op)
        value = b.input("x", wanted or dtypes.word(x.dtype), x.shape)
        constants = {port: b.constant(a) for port, a in given.items()}
        made = getattr(b, op)(value, **constants, **{k: v for k, v in attrs.items() if v is not None})
        for i, one in enumerate(made if isinstance(made, tuple) else (made,)):
            b.output(f"y{i}", one)
        plan = b.build().compile(target)
        with _LOCK:
            _PLANS[key] = plan
            while len(_PLANS) > _MOST:
                _PLANS.popitem(last=False)
    made = plan.run(x=x)
    return made["y0"] if len(made) == 1 else tuple(made.values())


def _granularity(scale, axis, group_shape):
    if group_shape is not None:
        return {"qtype": "per_group", "group_shape": tuple(group_shape)}
    return {} if np.ndim(scale) == 0 or np.size(scale) == 1 and axis is None else {"qtype": "per_channel", "axis": axis}


def quantize(x, scale, zero_point=None, *, dtype="int8", axis=None, group_shape=None, quant_min=None, quant_max=None,
             target=None):  # fmt: skip
    """clamp(round(x / scale) + zero_point), as the target rounds, clamps and converts.

    x: array of float32, float16 or bfloat16. scale, zero_point: numbers, or arrays with one element for each index of
    `axis`, or for each block of `group_shape`. dtype: of the result. Returns an array of x's shape.
    Raises ArgumentError, GraphError or UnsupportedError.
    """
    scale = np.asarray(scale, np.float32) if not isinstance(scale, np.ndarray) else scale
    zero = None if zero_point is None else np.asarray(zero_point).astype(dtypes.numpy_of(dtypes.word(dtype)))
    attrs = {"dtype": dtypes.word(dtype), "quant_min": quant_min, "quant_max": quant_max}
    attrs.update(_granularity(scale, axis, group_shape))
    return _run("quantize", x, {"scale": scale, "zero_point": zero}, attrs, target)


def dequantize(x, scale, zero_point=None, *, dtype="float32", axis=None, group_shape=None, target=None):
    """(x - zero_point) * scale in `dtype`, as the target computes it. x: array of codes. As quantize otherwise."""
    x = dtypes.imported(x)
    scale = np.asarray(scale, np.float32) if not isinstance(scale, np.ndarray) else scale
    zero = None if zero_point is None else np.asarray(zero_point).astype(x.dtype)
    attrs = {"dtype": dtypes.word(dtype), **_granularity(scale, axis, group_shape)}
    return _run("dequantize", x, {"scale": scale, "zero_point": zero}, attrs, target)


def dynamic_quantize(x, *, dtype="uint8", scheme="asymmetric", target=None):
    """Quantizes with a scale computed from x: returns the codes, the scale and the zero point."""
    return _run("dynamic_quantize", x, {}, {"dtype": dtypes.word(dtype), "scheme": scheme}, target)
