# SPDX-License-Identifier: Apache-2.0
"""Models of products, convolutions, pooling and Resize for onnx_reader.py."""

import numpy as np
from onnx import TensorProto

from onnx_cases import CLOSE, EXACT, either, float_type, floats, one, some_shape

# ---- Products


def matmul_shapes(rng):
    m, k, n = (int(v) for v in rng.integers(1, 9, 3))
    batch = some_shape(rng, 1, 3, int(rng.integers(0, 3)))
    return (*batch, m, k), either(rng, (k, n), (*batch, k, n))


def matmul(rng):
    a, b = matmul_shapes(rng)
    a, b = either(rng, (a, b), (a, b), (a[-1:], b), (a, b[-2:-1]))
    dtype = float_type(rng)
    return one("MatMul", [floats(rng, a, dtype), floats(rng, b, dtype)],
               constants=either(rng, (), (1,)))  # fmt: skip


def gemm(rng):
    m, k, n = (int(v) for v in rng.integers(1, 9, 3))
    attrs = {}
    for name in ("transA", "transB"):
        if rng.random() < 0.6:
            attrs[name] = int(rng.integers(2))
    for name in ("alpha", "beta"):
        if rng.random() < 0.4:
            attrs[name] = either(rng, 0.5, 1.0, 0.0, -1.75)
    a = floats(rng, (k, m) if attrs.get("transA") else (m, k))
    b = floats(rng, (n, k) if attrs.get("transB") else (k, n))
    c = floats(rng, either(rng, (n,), (1, n), (m, 1), (m, n), ()))
    return one("Gemm", [a, b, c if rng.random() < 0.8 else None], attrs,
               constants=either(rng, (), (1, 2), (2,)))  # fmt: skip


def codes(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def small_scale(rng, shape=()):
    return rng.uniform(0.01, 0.1, shape).astype(np.float32)


def matmul_integer(rng):
    a, b = (codes(rng, s, either(rng, np.int8, np.uint8)) for s in matmul_shapes(rng))
    zero_a = codes(rng, (), a.dtype)
    zero_b = codes(rng, either(rng, (), (b.shape[-1],)), b.dtype)
    given = either(rng, [], [zero_a], [zero_a, zero_b])
    return one("MatMulInteger", [a, b, *given], how=EXACT, result=TensorProto.INT32)


def qlinear_matmul(rng):
    shapes = matmul_shapes(rng)
    dtype = either(rng, np.int8, np.uint8)
    a, b = (codes(rng, s, dtype) for s in shapes)
    columns = either(rng, (), (b.shape[-1],)) if len(shapes[1]) == 2 else ()
    inputs = [a, small_scale(rng), codes(rng, (), dtype), b, small_scale(rng, columns)]
    inputs += [codes(rng, columns, dtype), np.float32(1.7) * small_scale(rng) * 20]
    inputs = [np.asarray(v) for v in [*inputs, codes(rng, (), dtype)]]
    return one("QLinearMatMul", inputs, constants=tuple(range(1, 8)), how=EXACT)


def window(rng, transposed=False, dilate=True, groups=True):
    """Sizes of x and the weights, and attributes."""
    n = int(rng.integers(1, 4))
    kernel = some_shape(rng, 1, 3, n)
    attrs = {"strides": some_shape(rng, 1, 3, n)} if rng.random() < 0.7 else {}
    if dilate and rng.random() < 0.4:
        attrs["dilations"] = some_shape(rng, 1, 2, n)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, attrs.get("dilations", (1,) * n))]
    sizes = tuple(int(r + rng.integers(0, 6)) for r in reach)
    group = either(rng, 1, 1, 2, 3) if groups else 1
    if groups and (group > 1 or rng.random() < 0.3):
        attrs["group"] = group
    kind = either(rng, "pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID")
    if kind == "pads":
        attrs["pads"] = [int(rng.integers(0, r)) for r in reach * 2]
    elif kind != "none":
        attrs["auto_pad"] = kind
    if kind.startswith("SAME"):  # ONNX Runtime supports nothing else with these
        attrs.pop("dilations", None)
        attrs["strides"] = [min(s, k) for s, k in zip(attrs.get("strides", (1,) * n), kernel)]
    if transposed and "auto_pad" in attrs:
        del attrs["auto_pad"]
    return n, kernel, sizes, group, attrs


def conv(rng):
    n, kernel, sizes, group, attrs = window(rng)
    inner, outer = int(rng.integers(1, 5)), int(rng.integers(1, 4)) * group
    x = floats(rng, (int(rng.integers(1, 3)), inner * group, *sizes))
    inputs = [x, floats(rng, (outer, inner, *kernel)), floats(rng, (outer,))]
    inputs[2] = either(rng, inputs[2], None)
    return one("Conv", inputs, attrs, constants=either(rng, (), (1, 2)))


def conv_transpose(rng):
    n, kernel, sizes, group, attrs = window(rng, transposed=True)
    inner, outer = int(rng.integers(1, 4)) * group, int(rng.integers(1, 4))
    stride = attrs.get("strides", (1,) * n)
    if "pads" in attrs:
        attrs["pads"] = [min(p, (k - 1) // 2) for p, k in zip(attrs["pads"], kernel * 2)]
    elif rng.random() < 0.3:
        attrs["auto_pad"] = either(rng, "SAME_UPPER", "SAME_LOWER", "VALID")
        kernel = tuple(k + s for k, s in zip(kernel, stride))
    if rng.random() < 0.3 and "auto_pad" not in attrs:
        attrs["output_padding"] = [int(rng.integers(0, s)) for s in stride]
    inputs = [floats(rng, (2, inner, *sizes)), floats(rng, (inner, outer, *kernel))]
    inputs.append(either(rng, floats(rng, (outer * group,)), None))
    return one("ConvTranspose", inputs, attrs, constants=either(rng, (), (1, 2)))


def integer_conv_inputs(rng):
    n, kernel, sizes, group, attrs = window(rng)
    inner, outer = int(rng.integers(1, 5)), int(rng.integers(1, 4)) * group
    x = codes(rng, (1, inner * group, *sizes), np.uint8)
    return attrs, x, codes(rng, (outer, inner, *kernel), either(rng, np.uint8, np.int8))


def conv_integer(rng):
    attrs, x, w = integer_conv_inputs(rng)
    zeros = either(rng, [], [codes(rng, (), x.dtype)],
                   [codes(rng, (), x.dtype), codes(rng, (), w.dtype)])  # fmt: skip
    return one("ConvInteger", [x, w, *zeros], attrs, constants=(1, 3), how=EXACT,
               result=TensorProto.INT32)  # fmt: skip


def qlinear_conv(rng):
    attrs, x, w = integer_conv_inputs(rng)
    channels = either(rng, (), (w.shape[0],))
    zero = np.full(channels, codes(rng, (), w.dtype))
    inputs = [x, small_scale(rng), codes(rng, (), x.dtype), w, small_scale(rng, channels), zero]
    inputs += [small_scale(rng) * np.float32(40), codes(rng, (), x.dtype)]
    inputs.append(either(rng, None, rng.integers(-9999, 9999, w.shape[0]).astype(np.int32)))
    inputs = [v if v is None else np.asarray(v) for v in inputs]
    return one("QLinearConv", inputs, attrs, constants=tuple(range(1, 9)), how=EXACT)


# ---- Windows


def pool_case(op):
    def case(rng):
        n, kernel, sizes, _, attrs = window(rng, groups=False)
        attrs["kernel_shape"] = kernel
        if rng.random() < 0.5:
            attrs["ceil_mode"] = 1
        if op == "AveragePool" and rng.random() < 0.5:
            attrs["count_include_pad"] = 1
        if attrs.get("auto_pad"):
            attrs.pop("ceil_mode", None)
        x = floats(rng, (1, 2, *sizes))
        old = op == "AveragePool" and all(d == 1 for d in attrs.get("dilations", ()))
        return one(op, [x], attrs, opset=either(rng, 11, 17, 22) if old else 22, how=EXACT if op == "MaxPool" else CLOSE)

    return case


def global_pool_case(op):
    def case(rng):
        return one(op, [floats(rng, some_shape(rng, 1, 5, int(rng.integers(3, 6))))])

    return case


COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric", "tf_crop_and_resize")


def resize_attrs(rng, mode):
    attrs = {"mode": mode, "coordinate_transformation_mode": either(rng, *COORDINATES)}
    if mode == "nearest":
        attrs["nearest_mode"] = either(rng, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    elif rng.random() < 0.3:
        attrs["antialias"] = 1
        attrs["coordinate_transformation_mode"] = either(rng, *COORDINATES[:-1])
    if mode == "cubic" and rng.random() < 0.5:
        attrs["cubic_coeff_a"] = -0.5
    if mode != "nearest" and (mode == "cubic" or "antialias" in attrs) and rng.random() < 0.5:
        attrs["exclude_outside"] = 1
    return attrs


def resize(rng):
    mode = either(rng, "nearest", "linear", "cubic")
    spatial = 2 if mode == "cubic" else int(rng.integers(1, 4))
    x = floats(rng, (1, 2, *some_shape(rng, 1, 5, spatial)))
    attrs, roi = resize_attrs(rng, mode), None
    if attrs["coordinate_transformation_mode"] == "tf_crop_and_resize":
        ends = rng.uniform(-0.2, 0.4, spatial), rng.uniform(0.6, 1.2, spatial)
        roi = np.concatenate([[0, 0], ends[0], [1, 1], ends[1]]).astype(np.float32)
    sizes = [int(v) for v in rng.integers(1, 9, spatial)]
    if rng.random() < 0.5:
        inputs = [x, roi, None, np.array([1, 2, *sizes], np.int64)]
        if roi is None and rng.random() < 0.3:
            attrs |= {"axes": range(2, 2 + spatial), "keep_aspect_ratio_policy": either(rng, "not_larger", "not_smaller")}
            inputs[3] = inputs[3][2:]
    else:
        scales = [1, 1, *(either(rng, 1.0, 2.0, 3.0, 0.5, 1.5) for _ in range(spatial))]
        scales = [s if d * s >= 1 else 1.0 for s, d in zip(scales, x.shape)]
        inputs = [x, roi, np.array(scales, np.float32)]
    return one("Resize", inputs, attrs, constants=(1, 2, 3), opset=19)


PRODUCTS = {
    "MatMul": matmul,
    "Gemm": gemm,
    "MatMulInteger": matmul_integer,
    "QLinearMatMul": qlinear_matmul,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "ConvInteger": conv_integer,
    "QLinearConv": qlinear_conv,
    "MaxPool": pool_case("MaxPool"),
    "AveragePool": pool_case("AveragePool"),
    "GlobalAveragePool": global_pool_case("GlobalAveragePool"),
    "GlobalMaxPool": global_pool_case("GlobalMaxPool"),
    "Resize": resize,
}
