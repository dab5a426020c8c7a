# SPDX-License-Identifier: Apache-2.0
"""Follows the mends that `qdq explain --against` prints, in an ONNX model."""

import re

import numpy as np
import onnx
import truth
from onnx import numpy_helper


def constant(model, name):
    return next((one for one in model.graph.initializer if one.name == name), None)


def put(model, name, array):
    constant(model, name).CopyFrom(numpy_helper.from_array(array, name))


def set_scale(model, node, case, real, scale, zero=None):
    """Gives a pair another scale, and constant codes of the float model's numbers."""
    names = list(node.input)
    put(model, names[1], np.float32(scale).reshape(numpy_helper.to_array(constant(model, names[1])).shape))
    if zero is not None:
        old = numpy_helper.to_array(constant(model, names[2]))
        put(model, names[2], np.full(old.shape, zero).astype(old.dtype))
    if constant(model, names[0]) is not None:
        pair = next(one for one in case.pairs if one.real == real)
        kind = numpy_helper.to_array(constant(model, names[0])).dtype
        z = numpy_helper.to_array(constant(model, names[2])) if len(names) > 2 else 0
        limits = np.iinfo(kind)
        codes = np.clip(np.rint(case.floats[pair.name] / np.float32(scale)) + z, limits.min, limits.max)
        put(model, names[0], codes.astype(kind))


def set_axis(model, node, case, real, axis):
    w = case.floats[next(one for one in case.pairs if one.real == real).name]
    scales = np.abs(w).max(tuple(i for i in range(w.ndim) if i != axis)) / np.float32(127)
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    shape = [-1 if i == axis else 1 for i in range(w.ndim)]
    put(model, node.input[0], np.clip(np.rint(w / scales.reshape(shape)), -127, 127).astype(np.int8))
    put(model, node.input[1], scales)
    put(model, node.input[2], np.zeros(len(scales), np.int8))
    del node.attribute[:]
    node.attribute.append(onnx.helper.make_attribute("axis", axis))


def apply(model, case, row):
    """Follows a mend in the model. False: the mend is to leave the pair in float, or has more bits."""
    node = next(one for one in model.graph.node if row["real"] in one.output)
    text = row.get("mend") or ""
    if found := re.search(r"scale ([-+.e\d]+) and zero point (-?\d+)", text):
        set_scale(model, node, case, row["real"], float(found[1]), int(found[2]))
    elif found := re.search(r"scale ([-+.e\d]+) instead of", text):
        set_scale(model, node, case, row["real"], float(found[1]))
    elif found := re.search(r"a scale for each index of axis (\d+)", text):
        set_axis(model, node, case, row["real"], int(found[1]))
    else:
        return False
    return True


def mended(case, level, rows):
    """The gain of the mends of rows in decibels, and their texts. More bits count as float."""
    model = onnx.ModelProto()
    model.CopyFrom(case.quantized)
    floats = [row["real"] for row in rows if not apply(model, case, row)]
    changed = truth.Case.__new__(truth.Case)
    changed.__dict__.update(case.__dict__, quantized=model)
    ratio = changed.ratio(level, [pair for pair in case.pairs if pair.real not in floats], "held_out")
    gain = min(ratio, truth.CEILING) - case.ratio(level, None, "held_out")
    return {"mends": gain, "mend_texts": [f"{row['real']}: {row.get('cause')}: {row.get('mend')}" for row in rows]}
