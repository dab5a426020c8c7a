# SPDX-License-Identifier: Apache-2.0
"""Converts convolutions, pooling and Resize, which slide a window over the spatial dims of
[N, C, spatial...]."""

import math

import numpy as np

from model import Refused


def window_attrs(node, groups=False):
    """Strides, dilations and padding. ONNX's pads are all begins, then all ends."""
    spatial = len(node.inputs[0].shape) - 2
    if spatial < 1:
        raise Refused(f"'{node.inputs[0].name}' has no spatial dims, wanted [N, C, spatial...]")
    pads = node.attr("pads", [0] * (2 * spatial))
    attrs = {
        "strides": node.attr("strides", [1] * spatial),
        "dilations": node.attr("dilations", [1] * spatial),
    }
    auto = node.attr("auto_pad", "NOTSET")
    if auto == "NOTSET":
        attrs |= {"pads_begin": pads[:spatial], "pads_end": pads[spatial:]}
    else:
        attrs |= {"pads_begin": [0] * spatial, "pads_end": [0] * spatial, "auto_pad": auto}
    if groups:
        attrs["groups"] = node.attr("group", 1)
    return attrs


def conv_ports(node):
    return {"x": node.inputs[0], "weights": node.inputs[1], "bias": node.input(2)}


def conv(c, node):
    attrs = window_attrs(node, groups=True) | {"data_format": "NCX", "weights_format": "OIX"}
    c.emit(node, "Convolution", conv_ports(node), attrs)


def conv_transpose(c, node):
    """Padding by rule or by the shape of the output is said in numbers."""
    attrs = window_attrs(node, groups=True) | {"data_format": "NCX", "weights_format": "IOX"}
    sizes, kernel = node.inputs[0].shape[2:], node.inputs[1].shape[2:]
    extra = node.attr("output_padding", [0] * len(sizes))
    auto, asked = attrs.pop("auto_pad", "NOTSET"), node.attr("output_shape")
    if asked is None and auto.startswith("SAME"):
        asked = [size * stride for size, stride in zip(sizes, attrs["strides"])]
    for i in range(len(sizes) if asked else 0):
        reach = (kernel[i] - 1) * attrs["dilations"][i] + 1
        total = attrs["strides"][i] * (sizes[i] - 1) + extra[i] + reach - asked[-len(sizes) + i]
        if total < 0:
            extra, total = [e - total * (j == i) for j, e in enumerate(extra)], 0
        half = total // 2 if auto == "SAME_UPPER" else total - total // 2
        attrs["pads_begin"][i], attrs["pads_end"][i] = half, total - half
    if any(extra):
        attrs["output_padding"] = extra
    c.emit(node, "ConvTranspose", conv_ports(node), attrs)


# ---- Pooling


def pool_attrs(node):
    """With ceil_mode the padding at the end is made as long as the last window needs. Returns also
    whether a window then reaches beyond the padding that the model has."""
    attrs = window_attrs(node) | {"kernel": node.attr("kernel_shape"), "data_format": "NCX"}
    sizes, beyond = node.inputs[0].shape[2:], False
    if attrs.get("auto_pad", "VALID") != "VALID" and any(d != 1 for d in attrs["dilations"]):
        raise Refused(f"auto_pad is {attrs['auto_pad']} with dilations, of which ONNX and ONNX "
                      "Runtime make different shapes; give pads in numbers")  # fmt: skip
    if node.attr("ceil_mode", 0) and "auto_pad" not in attrs:
        for i, (size, out) in enumerate(zip(sizes, node.types[0][1][2:])):
            reach = (attrs["kernel"][i] - 1) * attrs["dilations"][i] + 1
            end = (out - 1) * attrs["strides"][i] + reach - size - attrs["pads_begin"][i]
            if end > attrs["pads_end"][i]:
                attrs["pads_end"][i], beyond = end, True
    elif node.attr("ceil_mode", 0) and attrs["auto_pad"] == "VALID":
        raise Refused("ceil_mode is 1 and auto_pad VALID, wanted pads in numbers")
    return attrs, beyond


def max_pool(c, node):
    c.emit(node, "MaxPool", {"x": node.inputs[0]}, pool_attrs(node)[0])


def average_pool(c, node):
    attrs, beyond = pool_attrs(node)
    if any(d != 1 for d in attrs.pop("dilations")):
        raise Refused(f"dilations are {node.attr('dilations')}, wanted 1: AvgPool has none")
    attrs["exclude_pad"] = not node.attr("count_include_pad", 0)
    if beyond and not attrs["exclude_pad"]:
        raise Refused(
            "with ceil_mode a window reaches beyond the padding, which ONNX does not count and "
            "AvgPool does; use count_include_pad 0"
        )
    c.emit(node, "AvgPool", {"x": node.inputs[0]}, attrs)


# ---- Resize


def onnx_positions(node, size, out, scale):
    """The position in the input that ONNX reads for each element of the output, along one dim."""
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    o, exact = np.arange(out, dtype=np.float64), size * scale
    half = (o + 0.5) / scale - 0.5
    at = {
        "asymmetric": o / scale,
        "align_corners": o * (size - 1) / (exact - 1 if exact != 1 else np.inf),
        "half_pixel": half,
        "half_pixel_symmetric": half + size / 2 * (1 - out / exact),
        "pytorch_half_pixel": half if out > 1 else o * 0,
    }.get(mode)
    if at is None:
        raise Refused(f"coordinate_transformation_mode is {mode}, wanted half_pixel, "
                      "align_corners or asymmetric")  # fmt: skip
    if node.attr("mode", "nearest") == "nearest":
        # Positions that are halfway but for their rounding are halfway.
        at = np.round(at, 9)
        at = {
            "round_prefer_floor": lambda: np.ceil(at - 0.5),
            "round_prefer_ceil": lambda: np.floor(at + 0.5),
            "floor": lambda: np.floor(at),
            "ceil": lambda: np.ceil(at),
        }[node.attr("nearest_mode", "round_prefer_floor")]()
    return np.clip(at, 0, size - 1)


def qdq_positions(node, size, out, corners):
    """The positions that Interpolate reads, given sizes."""
    o = np.arange(out, dtype=np.float32)
    if corners:
        at = o * np.float32(size - 1) / np.float32(max(out - 1, 1))
    else:
        at = (o + np.float32(0.5)) * np.float32(size) / np.float32(out) - np.float32(0.5)
    if node.attr("mode", "nearest") == "nearest":
        at = np.trunc(at + np.copysign(np.float32(0.5), at))
    return np.clip(at, 0, size - 1)


def resize(c, node):
    """Converts Resize if its positions equal Interpolate's, whatever its attributes say."""
    x, out = node.inputs[0], node.types[0][1]
    mode, rank = node.attr("mode", "nearest"), len(x.shape)
    if mode not in ("nearest", "linear"):
        raise Refused(f"mode is {mode}, wanted nearest or linear")
    if node.attr("antialias", 0) or node.attr("exclude_outside", 0):
        raise Refused("antialias or exclude_outside is set, wanted neither")
    if not 3 <= rank <= 5 or out[:2] != x.shape[:2]:
        raise Refused(f"it makes {list(out)} of {list(x.shape)}, wanted [N, C, spatial...], "
                      "where only spatial dims change")  # fmt: skip
    scales, axes = node.input(2), node.attr("axes", list(range(rank)))
    ratio = {i: out[i] / x.shape[i] for i in range(rank)}
    if scales is not None and math.prod(scales.shape):
        ratio |= {axis % rank: float(s) for axis, s in zip(axes, scales.data)}
    for corners in (False, True):
        if all(
            np.allclose(
                onnx_positions(node, x.shape[i], out[i], ratio[i]),
                qdq_positions(node, x.shape[i], out[i], corners),
                rtol=0,
                atol=1e-5,
            )
            for i in range(2, rank)
        ):
            attrs = {"mode": mode, "sizes": list(out[2:]), "data_format": "NCX"}
            attrs["coordinate_transformation_mode"] = "align_corners" if corners else "half_pixel"
            c.emit(node, "Interpolate", {"x": x}, attrs)
            return
    raise Refused(
        f"from {list(x.shape)} to {list(out)} it looks at other positions than Interpolate does, "
        "which has half_pixel and align_corners, and rounds halves up; use one of those"
    )
