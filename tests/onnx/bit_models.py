# SPDX-License-Identifier: Apache-2.0
"""Models of float ops whose every bit is compared with ONNX Runtime, or with ONNX's reference where ONNX Runtime rounds
elsewhere."""

import numpy as np
from onnx import TensorProto as T
import onnx

from making import N, constant, info, keep, longs, model


def float_ops():
    """Ops whose sums and roundings target onnx takes from ONNX Runtime. Sizes cross vectors of 16 with a remainder."""
    own = np.random.default_rng(15)

    def some(*shape):
        return own.standard_normal(shape).astype(np.float32)

    x, line, volume, v = some(2, 35, 9, 11) * 10, some(1, 3, 71), some(1, 2, 5, 6, 7), np.abs(some(35))
    for array, at, value in ((x, 700, np.inf), (x, 1500, np.nan), (x, 2000, -0.0), (line, 40, -np.inf)):
        array.flat[at] = value
    points = [0, -0.0, np.inf, -np.inf, np.nan, 3, -3, 3.0000002, -3.0000002, 1e-45, -1e-45, 3e38, -3e38, 2.5, -2.5]
    points = np.concatenate([points, own.uniform(-4, 4, 700)]).astype(np.float32)
    nodes = [
        N("AveragePool", ["x"], ["a3"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        N("AveragePool", ["x"], ["a5"], kernel_shape=[5, 4], strides=[2, 1], pads=[2, 1, 2, 2], count_include_pad=1),
        N("AveragePool", ["line"], ["a1"], kernel_shape=[7], strides=[2], pads=[3, 3]),
        N("AveragePool", ["volume"], ["av"], kernel_shape=[3, 2, 3]), N("GlobalAveragePool", ["x"], ["g2"]),
        N("GlobalAveragePool", ["line"], ["g1"]), N("GlobalAveragePool", ["volume"], ["g3"]),
        N("BatchNormalization", ["x", "s", "b", "m", "v"], ["bn"], epsilon=1e-3),
        N("HardSwish", ["points"], ["hs"]), N("HardSigmoid", ["points"], ["h1"]),
        N("HardSigmoid", ["points"], ["h2"], alpha=-0.7, beta=0.1),
    ]  # fmt: skip
    feeds = {"x": x, "line": line, "volume": volume, "points": points}
    known = [constant("s", some(35)), constant("b", some(35)), constant("m", some(35)), constant("v", v)]
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()],
                 ["a3", "a5", "a1", "av", "g2", "g1", "g3", "bn", "hs", "h1", "h2"], known, opset=20)  # fmt: skip
    keep("float_ops", made, feeds)


def float_signs():
    """Sign, PRelu and LeakyRelu of zeros of both signs, infinities and NaN."""
    specials = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -2.5])
    x, slope = (np.ascontiguousarray(one) for one in np.meshgrid(specials.astype(np.float32), specials.astype(np.float32)))
    feeds = {"x": x, "slope": slope, "wide": specials}
    nodes = [N("Sign", ["x"], ["s"]), N("Sign", ["wide"], ["w"]), N("PRelu", ["x", "slope"], ["p"]),
             N("PRelu", ["x", "one"], ["q"]), N("LeakyRelu", ["x"], ["l"], alpha=-0.25)]  # fmt: skip
    inputs = [info("x", x.shape), info("slope", slope.shape), info("wide", specials.shape, T.DOUBLE)]
    keep("float_signs", model(nodes, inputs, ["s", "w", "p", "q", "l"], [constant("one", np.float32([-0.5]))], opset=16), feeds)


def float_sums():
    """Sums, means and LayerNorm in the orders of ONNX Runtime. Rows begin at each address modulo 16, have heads, packets and
    tails, and cross a part of 4,096 elements."""
    own = np.random.default_rng(17)
    feeds = {"x": own.standard_normal((3, 5, 4, 7)).astype(np.float32) * 3, "long": own.standard_normal((5, 4107)).astype(np.float32),
             "signs": np.full((6, 13), -0.0, np.float32), "few": own.standard_normal((9, 3)).astype(np.float32)}  # fmt: skip
    feeds["x"].flat[[40, 170, 333]] = np.inf, np.nan, -0.0
    nodes, known, outputs = [], [], []
    for name, axes in (("x", [3]), ("x", [2, 3]), ("x", [0]), ("x", [0, 1]), ("x", [1]), ("x", [1, 2]), ("x", [0, 3]), ("x", [0, 2]),
                       ("x", [1, 3]), ("x", [0, 1, 2, 3]), ("long", [1]), ("long", [0]), ("signs", [1]), ("few", [1])):  # fmt: skip
        known.append(longs(f"axes{len(known)}", *axes))
        for op in ("ReduceSum", "ReduceMean"):
            outputs.append(f"y{len(outputs)}")
            nodes.append(N(op, [name, known[-1].name], [outputs[-1]]))
    for name, n in (("x", 7), ("x", 28), ("long", 4107), ("few", 3)):
        outputs.append(f"y{len(outputs)}")
        shape = (4, 7) if n == 28 else (n,)
        known.extend(constant(f"{part}{n}", own.standard_normal(shape).astype(np.float32)) for part in ("scale", "bias"))
        nodes.append(N("LayerNormalization", [name, f"scale{n}", f"bias{n}"], [outputs[-1]], axis=-len(shape), epsilon=1e-3))
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()], outputs, known, opset=20)
    keep("float_sums", made, feeds)


def float_pools():
    """Pools of opset 17: windows whose columns are added first, row by row (1 dim, a stride of 3, a kernel above 32), or in
    lanes because they are the image; and sums over dims of which some have size 1."""
    own = np.random.default_rng(18)

    def some(*shape):
        return own.standard_normal(shape).astype(np.float32) * 10

    feeds = {"x": some(1, 3, 9, 11), "line": some(1, 2, 37), "volume": some(1, 2, 5, 6, 7), "tall": some(1, 1, 40, 3),
             "zeros": np.full((1, 1, 3, 4), -0.0, np.float32), "ones": some(5, 4, 1, 9, 1)}  # fmt: skip
    feeds["x"].flat[[40, 170, 290]] = np.inf, np.nan, -0.0
    nodes, outputs = [], []

    def add(op, x, **attrs):
        outputs.append(f"y{len(outputs)}")
        nodes.append(N(op, [x], [outputs[-1]], **attrs))

    for count in (0, 1):
        add("AveragePool", "x", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=count)
        add("AveragePool", "x", kernel_shape=[5, 4], strides=[3, 2], pads=[2, 1, 2, 2], ceil_mode=1, count_include_pad=count)
        add("AveragePool", "volume", kernel_shape=[3, 2, 3], strides=[1, 2, 2], pads=[1, 0, 1, 1, 1, 2], count_include_pad=count)
        add("AveragePool", "line", kernel_shape=[7], strides=[2], pads=[3, 3], count_include_pad=count)
        add("AveragePool", "x", kernel_shape=[3, 3], strides=[1, 3], count_include_pad=count)
    add("AveragePool", "x", kernel_shape=[3, 3], auto_pad="SAME_UPPER")
    add("AveragePool", "tall", kernel_shape=[33, 2])
    for x in ("x", "volume", "line"):
        add("AveragePool", x, kernel_shape=list(feeds[x].shape[2:]))
        add("GlobalAveragePool", x)
        add("ReduceMean", x, axes=list(range(2, feeds[x].ndim)))
    add("AveragePool", "zeros", kernel_shape=[2, 2])
    add("AveragePool", "zeros", kernel_shape=[2, 2], pads=[0, 1, 0, 0])
    for axes in ([0, 1], [1, 2, 4], [0, 3], [0, 2, 3], [1], [3, 4], [0, 1, 2]):
        add("ReduceMean", "ones", axes=axes)
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()], outputs, opset=17)
    keep("float_pools", made, feeds)


def float_resizes():
    """Linear Resize of images, lines and volumes by scales and by sizes, and of codes: corners in float32, and as integers
    where channels are last. A row of y is longer than the lanes of a kernel."""
    own = np.random.default_rng(19)
    feeds = {"line": (1, 2, 9), "image": (1, 2, 5, 7), "wide": (1, 1, 2, 111), "volume": (1, 1, 3, 4, 5)}
    feeds = {name: own.standard_normal(shape).astype(np.float32) * 10 for name, shape in feeds.items()}
    feeds["image"].flat[[3, 44]] = np.inf, np.nan
    feeds["codes"], feeds["bytes"] = (own.integers(-128, 128, (1, 4, 5, 3)).astype(t) for t in (np.int8, np.uint8))
    nodes, known, outputs = [], [], []

    def add(x, by, mode="half_pixel"):
        outputs.append(info(f"y{len(outputs)}", None, {"codes": T.INT8, "bytes": T.UINT8}.get(x, T.FLOAT)))
        sizes = isinstance(by[-1], int)
        known.append(longs(f"by{len(known)}", *by) if sizes else constant(f"by{len(known)}", np.array(by, np.float32)))
        inputs = [x, "", "", known[-1].name] if sizes else [x, "", known[-1].name]
        nodes.append(N("Resize", inputs, [outputs[-1].name], mode="linear", coordinate_transformation_mode=mode))

    for mode in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"):
        add("image", [1, 2, 12, 9], mode)
        add("image", [1, 1, 2.0, 0.6] if mode != "align_corners" else [1, 1, 2.0, 3.0], mode)
        add("volume", [1, 1, 7, 3, 9], mode)
    for mode in ("half_pixel", "align_corners"):
        add("line", [1, 1, 2.0], mode)
        add("wide", [1, 1, 5, 300], mode)
        add("image", [1, 2, 1, 7], mode)
        for x in ("codes", "bytes"):
            add(x, [1, 9, 4, 3], mode)  # channels last
            add(x, [1, 4, 9, 4], mode)
    made = model(nodes, [info(k, a.shape, {"codes": T.INT8, "bytes": T.UINT8}.get(k, T.FLOAT)) for k, a in feeds.items()], outputs, known,
                 opset=19)  # fmt: skip
    keep("float_resizes", made, feeds)


def float_instances():
    """InstanceNormalization of channels of few elements, at each address modulo 16, and of several parts of 4,096."""
    own = np.random.default_rng(20)
    feeds = {f"x{n}": (own.standard_normal((2, 3, n)) * 3 + 1).astype(np.float32) for n in (1, 3, 4, 7, 13, 35)}
    feeds["image"] = own.standard_normal((1, 2, 5, 9)).astype(np.float32)
    feeds["long"] = own.standard_normal((1, 1, 4107)).astype(np.float32)
    feeds["same"] = np.full((1, 2, 11), 1.5, np.float32)
    nodes, known = [], []
    for name, x in feeds.items():
        channels = x.shape[1]
        known += [constant(f"{part}_{name}", own.standard_normal(channels).astype(np.float32)) for part in ("scale", "bias")]
        nodes.append(N("InstanceNormalization", [name, f"scale_{name}", f"bias_{name}"], [f"y_{name}"], epsilon=1e-3))
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()], [f"y_{name}" for name in feeds], known)
    keep("float_instances", made, feeds)


def float_reductions():
    """ReduceL1, ReduceL2, ReduceProd and ReduceSumSquare: in order, or in lanes if each dim is reduced."""
    own = np.random.default_rng(21)
    feeds = {f"x{n}": own.standard_normal(n).astype(np.float32) * 1.3 for n in (1, 3, 4, 7, 12, 29)}
    feeds["long"] = (1 + own.standard_normal(4107) / 100).astype(np.float32)
    feeds["x"], feeds["one"] = own.standard_normal((3, 5, 4, 7)).astype(np.float32), own.standard_normal((1, 29)).astype(np.float32)
    feeds["signs"] = np.full((2, 13), -0.0, np.float32)
    nodes, outputs = [], []
    shapes = [(name, [0]) for name in feeds if feeds[name].ndim == 1]
    shapes += [("x", axes) for axes in ([0], [3], [1, 2], [0, 2], [1, 3], [0, 1, 2, 3])] + [("one", [1]), ("one", [0, 1]), ("signs", [1])]
    for (name, axes), op in ((s, op) for s in shapes for op in ("ReduceL1", "ReduceL2", "ReduceProd", "ReduceSumSquare")):
        outputs.append(f"y{len(outputs)}")
        nodes.append(N(op, [name], [outputs[-1]], axes=axes))
    keep("float_reductions", model(nodes, [info(k, a.shape) for k, a in feeds.items()], outputs), feeds)


def float_products():
    """Products in each order of ONNX Runtime, of numbers that repeat one input. Depths have several chunks and a rest."""
    own = np.random.default_rng(16)
    nodes, known, outputs = [], [longs("zero", 0)], []

    def made(*shape):
        name, count = f"v{len(nodes)}", int(np.prod(shape))
        known.extend((longs(f"{name}/often", count // 997 + 1), longs(f"{name}/count", count), longs(f"{name}/shape", *shape)))
        nodes.extend((N("Tile", ["x", f"{name}/often"], [f"{name}/all"]),
                      N("Slice", [f"{name}/all", "zero", f"{name}/count"], [f"{name}/some"]),
                      N("Reshape", [f"{name}/some", f"{name}/shape"], [name])))  # fmt: skip
        return name

    def initial(*shape):
        known.append(constant(f"c{len(known)}", own.standard_normal(shape).astype(np.float32)))
        return known[-1].name

    def product(op, *operands, **attrs):
        outputs.append(f"y{len(outputs)}")
        nodes.append(N(op, list(operands), [outputs[-1]], **attrs))

    for m, n, k in ((3, 130, 300), (3, 64, 600), (2, 33, 600), (2, 20, 1100), (2, 16, 2100), (7, 1, 1031), (1, 37, 103), (50, 3, 300)):
        product("MatMul", made(m, k), made(k, n))
    product("MatMul", made(2, 3, 303), made(303))
    product("MatMul", made(3, 1, 303), made(303, 5))
    product("MatMul", made(3, 1, 303), made(3, 303, 5))
    product("MatMul", made(3, 601), initial(601, 5))
    product("MatMul", made(1, 601), initial(601, 5))
    product("Gemm", made(1, 301), made(7, 301), transB=1)
    product("Gemm", made(3, 301), made(301, 130), made(130))
    product("Gemm", made(301, 3), made(301, 5), made(3, 1), transA=1)
    product("Gemm", made(1, 303), made(303, 9), made(1, 9))
    product("Gemm", made(5, 601), initial(4, 601), made(5, 4), transB=1)
    three = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    product("Conv", made(1, 33, 14, 13), initial(4, 33, 3, 3), initial(4), **three)
    product("Conv", made(2, 33, 8, 7), initial(4, 33, 3, 3), **three)
    product("Conv", made(1, 33, 6, 5), made(1, 33, 3, 3), **three)
    product("Conv", made(1, 5, 6, 71), initial(5, 1, 3, 3), initial(5), group=5, **three)
    product("Conv", made(1, 37, 9, 11), initial(37, 1, 5, 3), group=37, strides=[2, 2], pads=[2, 0, 1, 1])
    product("Conv", made(1, 10, 9, 11), initial(10, 2, 3, 3), group=5, **three)
    product("Conv", made(2, 33, 3, 3), initial(7, 33, 3, 3))
    product("Conv", made(1, 6, 9, 11), initial(6, 1, 3, 11), group=6)
    product("Conv", made(1, 40, 90), initial(3, 40, 7), pads=[3, 3])
    x = own.standard_normal(997).astype(np.float32)
    for sizes, attrs in (((2, 200, 3, 5), {}), ((1, 200, 12, 30), {}), ((1, 200, 1, 1), {}), ((1, 40, 9, 11), {"group": 2}),
                         ((1, 130, 9, 8), {"kernel_shape": [2, 2]})):  # fmt: skip
        kernel = attrs.get("kernel_shape", [3, 3])
        attrs = {"strides": [2, 2], **({} if "kernel_shape" in attrs else {"pads": [1, 1, 1, 0]}), **attrs}
        for weights in (made, initial):
            product("ConvTranspose", made(*sizes), weights(sizes[1], 2, *kernel), initial(2 * attrs.get("group", 1)), **attrs)
    keep("float_products", model(nodes, [info("x", [997])], outputs, known, opset=20), {"x": x})


def float_functions():
    """Functions that target onnx computes by the polynomials of ONNX Runtime."""
    own = np.random.default_rng(17)
    points = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 88.72283, 88.8, -87.3, -88, -103.9, -104, 3.9, 4, -4,
              0.921875, -0.921875, 18, -18, 18.1, 17.807888, 9, -9, 9.1]  # fmt: skip
    parts = [points, own.uniform(-5, 5, 500), own.uniform(-20, 20, 300), own.uniform(-106, 90, 700)]
    x = np.concatenate(parts).astype(np.float32)
    names = ("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Gelu")
    nodes = [N(n, ["x"], [n.lower()]) for n in names] + [N("Gelu", ["x"], ["gelu_tanh"], approximate="tanh")]
    made = model(nodes, [info("x", x.shape)], [n.lower() for n in names] + ["gelu_tanh"], opset=20)
    keep("float_functions", made, {"x": x})


def float_logs():
    """Log of lengths with each rest of elements that fill no vector, up to several strips; its results enter other ops."""
    own = np.random.default_rng(41)
    points = [0, -0.0, np.inf, -np.inf, np.nan, -1, 1e-45, 1.1754942e-38, 1.1754944e-38, 1, 0.99999994, 1.0000001, 2, 3.4e38, 0.70710677]
    feeds, nodes, outputs = {}, [], []
    for shape in ((), (1,), (2,), (3,), (5, 1), (3, 2), (7,), (1, 2, 4), (3, 337), (4099,), (3, 1366), (2, 61, 67)):
        at = f"x{len(feeds)}"
        feeds[at] = np.asarray(np.exp(own.uniform(-87, 88, shape)), np.float32)
        nodes += [N("Log", [at], [f"log_{at}"]), N("Relu", [f"log_{at}"], [f"relu_{at}"])]
        outputs += [f"log_{at}", f"relu_{at}"]
    feeds["x8"].flat[: len(points)] = points
    feeds["x9"].flat[-len(points) :] = points
    keep("float_logs", model(nodes, [info(at, x.shape) for at, x in feeds.items()], outputs, opset=20), feeds)


def float_norms():
    """SkipLayerNormalization and RMS normalization of rows that have few elements, lanes with each kind of remainder, and more
    than a part of 4,096; Pow by a single exponent, which is a product where x has several elements along the dims of both."""
    own = np.random.default_rng(23)
    feeds, nodes, known, outputs = {}, [], [], []
    for n in (1, 5, 15, 16, 23, 29, 4107):
        feeds[f"x{n}"] = (own.standard_normal((2, 3, n)) * 3).astype(np.float32)
        known += [constant(f"{part}{n}", own.standard_normal(n).astype(np.float32)) for part in ("g", "b", "c")]
        nodes += [N("SkipLayerNormalization", [f"x{n}", f"x{n}", f"g{n}", f"b{n}"], [f"skip{n}"], domain="com.microsoft", epsilon=1e-5),
                  N("SkipLayerNormalization", [f"x{n}", f"x{n}", f"g{n}", f"b{n}", f"c{n}"], [f"bias{n}"],
                    domain="com.microsoft", epsilon=1e-12),
                  N("SimplifiedLayerNormalization", [f"x{n}", f"g{n}"], [f"rms{n}"], epsilon=1e-5)]  # fmt: skip
        outputs += [f"skip{n}", f"bias{n}", f"rms{n}"]
    feeds["x5"].flat[[3, 11, 17]] = np.nan, np.inf, -0.0
    feeds["x29"].flat[[30, 60, 100]] = np.nan, -np.inf, -0.0
    for i, (name, shape) in enumerate((("x29", ()), ("x29", (1, 1)), ("x1", ()), ("x1", (1,)), ("x1", (1, 1)), ("x16", (1,)))):
        known.append(constant(f"three{i}", np.full(shape, 3, np.float32)))
        nodes.append(N("Pow", [name, f"three{i}"], [f"cube{i}"]))
        outputs.append(f"cube{i}")
    nodes.append(N("ReduceMean", ["x29"], ["mean29"], axes=[2]))  # no GlobalAveragePool
    outputs.append("mean29")
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()], outputs, known, opset=17)
    made.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    keep("float_norms", made, feeds)


def float_softmax():
    """Softmax of float16 and bfloat16, by ONNX's reference. Slices are longer than buffers and parts, and partly masked."""
    own = np.random.default_rng(18)
    short = (own.standard_normal((37, 11)) * 3).astype(np.float32)
    short[3, 4:], short[5, :], short[6, 2], short[7, 3] = -np.inf, 1.5, np.nan, np.inf
    feeds = {"short": short, "long": own.standard_normal((2, 4363)).astype(np.float32), "middle": own.standard_normal((3, 19, 5)).astype(np.float32)}
    nodes, outputs = [], []
    for word, elem in (("half", T.FLOAT16), ("brain", T.BFLOAT16)):
        for name, axis in (("short", -1), ("long", 1), ("middle", 1)):
            if (word, name) == ("half", "middle"):
                continue  # along such a dim, numpy rounds after each addition
            outputs.append(info(f"{word}/{name}", feeds[name].shape, elem))
            nodes.append(N("Cast", [name], [f"{outputs[-1].name}/x"], to=elem))
            nodes.append(N("Softmax", [f"{outputs[-1].name}/x"], [outputs[-1].name], axis=axis))
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()], outputs, opset=20)
    keep("float_softmax", made, feeds, reference=True)


def softmax_of_floats():
    """Softmax of float32 by ONNX Runtime on a CPU with AVX2 and without AVX-512. Slices cross 8 and 24 lanes and a part of 4,096
    elements with each remainder, lie along other dims than the last, underflow, and hold what is not finite."""
    own = np.random.default_rng(20)
    feeds = {f"x{n}": (own.standard_normal((3, n)) * 4).astype(np.float32) for n in (1, 7, 8, 9, 23, 24, 25, 50, 4095, 4096, 4097, 8211)}
    feeds["middle"] = (own.standard_normal((2, 29, 5)) * 4).astype(np.float32)
    feeds["far"] = -own.uniform(80, 110, (4, 40)).astype(np.float32)
    feeds["far"][:, 3] = 0
    feeds["odd"] = (own.standard_normal((6, 13)) * 3).astype(np.float32)
    feeds["odd"][0, 4:], feeds["odd"][1, :], feeds["odd"][2, 2], feeds["odd"][3, 3], feeds["odd"][4, :] = -np.inf, 1.5, np.nan, np.inf, -np.inf
    nodes = [N("Softmax", [name], [f"{name}/y"], axis=1 if name == "middle" else -1) for name in feeds]
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()], [node.output[0] for node in nodes], opset=17)
    keep("softmax_of_floats", made, feeds)
