# SPDX-License-Identifier: Apache-2.0
"""Mistakes that people make with a node of a quantized graph, as changes of a qdq/1 document."""

import copy
import json
import os

import numpy as np

from . import _files

_WORDS = {"float32": ("F32", np.float32), "int8": ("I8", np.int8), "uint8": ("U8", np.uint8), "int32": ("I32", np.int32)}
_CODERS = ("Quantize", "Dequantize", "Requantize")
_FACTORS = (2.0, 0.5, 127 / 128, 128 / 127, 127 / 127.5, 127.5 / 127, 255 / 256, 256 / 255, 10.0, 0.1)


def with_filed_constants(document, folder):
    """The document with its inline constants of several elements in a file of the folder, which is read faster."""
    header, raw, constants = {}, b"", []
    for one in document.get("constants", []):
        data = one.get("data")
        if isinstance(data, list) and len(data) > 16 and one["dtype"] in _WORDS and not any(isinstance(v, str) for v in data):
            word, kind = _WORDS[one["dtype"]]
            part = np.asarray(data, kind).tobytes()
            header[one["name"]] = {"dtype": word, "shape": one["shape"], "data_offsets": [len(raw), len(raw) + len(part)]}
            raw += part
            one = {key: value for key, value in one.items() if key != "data"}
            one.update(file="inline.safetensors", tensor=one["name"])
        constants.append(one)
    if not header:
        return document
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "inline.safetensors"), "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + raw)
    return dict(document, constants=constants)


def _constant(document, name, folder):
    """The elements of a constant, or None."""
    for one in document.get("constants", []):
        if one["name"] == name:
            if "data" in one:
                return np.asarray(one["data"], np.float64).reshape(-1)
            array = _files.read(os.path.join(folder, one["file"]))[one.get("tensor", name)]
            return array.astype(np.float64).reshape(-1)
    return None


class _Parameters:
    """The scales or zero points of a node: an attribute, or a constant at a port."""

    def __init__(self, document, node, attr, port, folder):
        self.attr, self.port = attr, port
        name = node.get("inputs", {}).get(port)
        given = node.get("attrs", {}).get(attr)
        self.values = _constant(document, name, folder) if name else None
        if self.values is None and given is not None:
            self.values = np.atleast_1d(np.asarray(given, np.float64))

    def put(self, document, index, values):
        """The document with other numbers, in an attribute."""
        made = dict(document, nodes=list(document["nodes"]))
        node = copy.deepcopy(document["nodes"][index])
        node.get("inputs", {}).pop(self.port, None)
        values = [float(v) for v in np.atleast_1d(values)]
        if self.attr.endswith("zps"):
            values = [int(v) for v in values]
        node.setdefault("attrs", {})[self.attr] = values if len(values) > 1 else values[0]
        made["nodes"][index] = node
        return made


def _with_attrs(document, index, **attrs):
    made = dict(document, nodes=list(document["nodes"]))
    node = copy.deepcopy(document["nodes"][index])
    node.setdefault("attrs", {}).update(attrs)
    made["nodes"][index] = node
    return made


def _others(document, folder, attr, port, count):
    """Parameters of other nodes, as many."""
    seen = set()
    for node in document["nodes"]:
        values = _Parameters(document, node, attr, port, folder).values if node["op"] in _CODERS else None
        if values is not None and len(values) == count and tuple(values) not in seen:
            seen.add(tuple(values))
            yield node["name"], values


def _ratio(case, node):
    """given / computed of a Dequantize's result, if it is one number."""
    got, ours = case.got.get(node["name"]), case.ours.get(node["name"])
    if got is None or ours is None or got.dtype.kind != "f":
        return None
    used = np.isfinite(ours) & (np.abs(ours) > 0) & np.isfinite(got)
    return float(np.median(got[used].astype(np.float64) / ours[used])) if used.any() else None


def _code_ratio(case, node, zero):
    """The factor of the scale of a Quantize, by the codes that lie within the range."""
    got, ours = case.got.get(node["name"]), case.ours.get(node["name"])
    if got is None or ours is None or got.dtype.kind not in "iu":
        return None
    info = np.iinfo(got.dtype)
    a, b = ours.astype(np.float64) - zero, got.astype(np.float64) - zero
    used = (got > info.min) & (got < info.max) & (ours > info.min) & (ours < info.max) & (np.abs(b) > 4)
    return float(a[used].sum() / b[used].sum()) if used.any() and b[used].sum() else None


def _simplest(low, high):
    """The number with the fewest decimal digits between two positive ones."""
    for digits in range(1, 17):
        for number in (low, high, (low + high) / 2):
            rounded = float(f"{number:.{digits - 1}e}")
            if low <= rounded <= high:
                return rounded
    return (low + high) / 2


def _fitted(case, node, zero):
    """The scale with which Quantize gives the codes of its input, by the bounds that each code sets; None without."""
    x = case.ours.get(node["inputs"].get("x"), case.inputs.get(node["inputs"].get("x")))
    got = case.got.get(node["name"])
    if x is None or got is None or got.dtype.kind not in "iu" or np.asarray(x).dtype.kind != "f":
        return None
    info, x = np.iinfo(got.dtype), np.asarray(x, np.float64)
    codes = got.astype(np.float64) - zero
    used = (got > info.min) & (got < info.max) & (np.abs(codes) >= 1) & (np.sign(codes) == np.sign(x))
    if not used.any():
        return None
    size, codes = np.abs(x[used]), np.abs(codes[used])
    low, high = (size / (codes + 0.5)).max(), (size / (codes - 0.5)).min()
    return _simplest(low, high) if 0 < low <= high else None


def _scales(document, index, node, case, folder, attr, port, zero):
    scales = _Parameters(document, node, attr, port, folder)
    s = scales.values
    if s is None or not len(s):
        return
    change = lambda detail, values, cause="wrong-scale": (cause, detail, scales.put(document, index, values))  # noqa: E731
    if (s != 0).all():
        yield change("1 / scale", 1.0 / s)
    if len(s) > 1:
        for what, one in (("first", s[0]), ("largest", s.max()), ("mean", s.mean())):
            yield change(f"the {what} scale for all", np.full(len(s), one), "per-tensor")
        yield change("scales in reverse", s[::-1])
        yield change("scales one place on", np.roll(s, 1))
        yield change("scales one place back", np.roll(s, -1))
    for name, other in _others(document, folder, attr, port, len(s)):
        if not np.array_equal(other, s):
            yield change(f"the scale of '{name}'", other)
    for factor in _FACTORS:
        yield change(f"scale * {factor:.6g}", s * factor)
    yield change("scale rounded to bfloat16", _bfloat16(s))
    yield change("scale rounded to float16", s.astype(np.float16).astype(np.float64))
    fitted = _fitted(case, node, zero) if node["op"] == "Quantize" and len(s) == 1 else None
    if fitted:
        yield change(f"scale {fitted:.9g}", np.float64([fitted]))
    for ratio in (_ratio(case, node), _code_ratio(case, node, zero)):
        if ratio and np.isfinite(ratio) and ratio > 0 and ratio != 1:
            yield change(f"scale * {ratio:.6g}", s * ratio)


def _bfloat16(values):
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def _zeros(document, index, node, case, folder, attr, port):
    zeros = _Parameters(document, node, attr, port, folder)
    z = np.zeros(1) if zeros.values is None else zeros.values
    tried = [("no zero point", np.zeros(len(z))), ("zero point + 1", z + 1), ("zero point - 1", z - 1), ("- zero point", -z),
             ("zero point + 128", z + 128), ("zero point - 128", z - 128)]  # fmt: skip
    if len(z) > 1:
        tried += [("the first zero point for all", np.full(len(z), z[0])), ("zero points in reverse", z[::-1])]
    tried += [(f"the zero point of '{name}'", other) for name, other in _others(document, folder, attr, port, len(z))]
    got, ours = case.got.get(node["name"]), case.ours.get(node["name"])
    if got is not None and ours is not None and got.dtype.kind in "iu":
        tried.append(("another zero point", z + np.median(got.astype(np.float64) - ours)))
    for detail, values in tried:
        if not np.array_equal(values, z):
            yield "wrong-zero-point", detail, zeros.put(document, index, np.rint(values))


def _axes(document, index, node, case):
    attrs = node.get("attrs", {})
    array = case.ours.get(node["name"])
    if attrs.get("qtype") != "per_channel" or array is None:
        return
    axis = attrs.get("axis", 1)
    axis += array.ndim if axis < 0 else 0
    for other in range(array.ndim):
        if other != axis and array.shape[other] == array.shape[axis]:
            yield "wrong-axis", f"axis {other}", _with_attrs(document, index, axis=other)


def _swapped(document, index, node):
    """Two inputs in each other's place."""
    inputs = node.get("inputs", {})
    names = [port for port in inputs if port in ("a", "b", "x", "y", "weights", "bias")]
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            made = dict(document, nodes=list(document["nodes"]))
            changed = copy.deepcopy(node)
            changed["inputs"][one], changed["inputs"][other] = inputs[other], inputs[one]
            made["nodes"][index] = changed
            yield "swapped-inputs", f"{one} and {other}", made


def of_node(document, node, case, folder):
    """(cause, what was changed, document) for each mistake that the node can have."""
    index = next(i for i, one in enumerate(document["nodes"]) if one is node)
    if node["op"] in ("Quantize", "Dequantize"):
        zeros = _Parameters(document, node, "zps", "zero_point", folder).values
        zero = 0.0 if zeros is None or len(zeros) != 1 else float(zeros[0])
        yield from _axes(document, index, node, case)
        yield from _scales(document, index, node, case, folder, "scales", "scale", zero)
        yield from _zeros(document, index, node, case, folder, "zps", "zero_point")
    if node["op"] == "Requantize":
        for side in ("in", "out"):
            yield from _scales(document, index, node, case, folder, f"{side}_scales", f"{side}_scale", 0.0)
            yield from _zeros(document, index, node, case, folder, f"{side}_zps", f"{side}_zero_point")
    if node["op"] == "Quantize":
        yield "saturation range", "codes from -127 on", _with_attrs(document, index, quant_min=-127)
        yield "saturation range", "codes of 7 bits", _with_attrs(document, index, quant_min=-64, quant_max=63)
    yield from _swapped(document, index, node)


# ---- A node and the rest ----


def _given(node):
    for port in node.get("inputs", {}).values():
        yield from port if isinstance(port, list) else [port]


def _input(name, info):
    return {"name": name, "dtype": info.dtype, "shape": list(info.shape)}


def alone(document, node, types):
    """The document of one node, whose inputs are inputs of the graph unless they are constants; None if the type of one
    is not known. types: {value: TensorInfo}."""
    names = set(_given(node))
    constants = [one for one in document.get("constants", []) if one["name"] in names]
    others = sorted(names - {one["name"] for one in constants})
    if any(name not in types for name in others):
        return None
    return {"format": document["format"], "inputs": [_input(name, types[name]) for name in others], "constants": constants,
            "nodes": [node], "outputs": [{"name": "y", "value": node["name"]}]}  # fmt: skip


def without(document, node, info):
    """The document with an input in the node's place."""
    return dict(document, nodes=[one for one in document["nodes"] if one is not node],
                inputs=[*document.get("inputs", []), _input(node["name"], info)])  # fmt: skip
