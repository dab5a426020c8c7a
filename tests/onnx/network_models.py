# SPDX-License-Identifier: Apache-2.0
"""Models of layers: convolutions, quantized products, recurrent ops, attention, ops of com.microsoft."""

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h

from making import N, RANDOM, constant, expected, floats, info, keep, longs, model


def convolutions():
    """A network whose batch is open, and whose classifier takes its shape from it."""
    nodes = [
        N("Conv", ["x", "w", "b"], ["c"], "first", pads=[1, 1, 1, 1]),
        N("Relu", ["c"], ["r"]),
        N("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        N("Shape", ["m"], ["s"]),
        N("Constant", [], ["zero"], value_int=0),
        N("Gather", ["s", "zero"], ["n"]),
        N("Constant", [], ["front"], value_ints=[0]),
        N("Unsqueeze", ["n", "front"], ["n1"]),
        N("Constant", [], ["rest"], value_ints=[-1]),
        N("Concat", ["n1", "rest"], ["flat"], axis=0),
        N("Reshape", ["m", "flat"], ["f"]),
        N("Gemm", ["f", "fc", "fb"], ["g"], transB=1),
        N("Softmax", ["g"], ["y"]),
    ]
    known = [constant("w", floats(4, 3, 3, 3)), constant("b", floats(4)), constant("fc", floats(5, 64) / 8),
             constant("fb", floats(5))]  # fmt: skip
    made = model(nodes, [info("x", ["batch", 3, 8, 8])], ["y"], known)
    keep("convolutions", made, {"x": floats(2, 3, 8, 8)})


def open_sizes():
    """A convolution of images whose height is open."""
    weights = np.arange(-8, 8, dtype=np.float32).reshape(4, 4, 1, 1) / 4
    nodes = [N("Conv", ["x", "w"], ["c"], "first"), N("Relu", ["c"], ["y"])]
    made = model(nodes, [info("x", ["batch", 4, "height", 3])], ["y"], [constant("w", weights)])
    keep("open_sizes", made, {"x": np.arange(-24, 24, dtype=np.float32).reshape(1, 4, 4, 3)})


def quantized():
    """QuantizeLinear and DequantizeLinear, per tensor and per channel, and int32 bias."""
    nodes = [
        N("QuantizeLinear", ["x", "xs", "xz"], ["xq"]), N("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        N("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0), N("DequantizeLinear", ["b", "bs"], ["bd"]),
        N("Conv", ["xd", "wd", "bd"], ["c"], strides=[2, 2]),
        N("QuantizeLinear", ["c", "ys", "yz"], ["codes"]), N("DequantizeLinear", ["codes", "ys", "yz"], ["y"]),
    ]  # fmt: skip
    known = [constant("xs", np.float32(1 / 32)), constant("xz", np.uint8(120)),
             constant("w", RANDOM.integers(-127, 128, (6, 2, 3, 3), dtype=np.int8)),
             constant("ws", (2.0 ** -RANDOM.integers(6, 9, 6)).astype(np.float32)), constant("wz", np.zeros(6, np.int8)),
             constant("b", RANDOM.integers(-900, 900, 6, dtype=np.int32)), constant("bs", np.float32(2.0**-12)),
             constant("ys", np.float32(1 / 16)), constant("yz", np.uint8(128))]  # fmt: skip
    keep("quantized", model(nodes, [info("x", [1, 2, 9, 9])], ["codes", "y"], known), {"x": floats(1, 2, 9, 9)})


def integer_products():
    """ONNX's integer ops, and dynamic quantization with three outputs."""
    nodes = [
        N("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), N("MatMulInteger", ["q", "w", "z"], ["i"]),
        N("Cast", ["i"], ["f"], to=T.FLOAT), N("Mul", ["s", "ws"], ["sw"]), N("Mul", ["f", "sw"], ["y"]),
        N("QLinearMatMul", ["q", "s", "z", "w2", "w2s", "w2z", "ys", "yz"], ["p"]),
    ]  # fmt: skip
    known = [constant("w", RANDOM.integers(-128, 128, (8, 4), dtype=np.int8)), constant("ws", np.float32(0.01)),
             constant("w2", RANDOM.integers(0, 256, (8, 4), dtype=np.uint8)), constant("w2s", np.float32(0.02)),
             constant("w2z", np.uint8(128)), constant("ys", np.float32(0.25)), constant("yz", np.uint8(3))]  # fmt: skip
    keep("integer_products", model(nodes, [info("x", [3, 8])], ["i", "y", "p"], known), {"x": floats(3, 8)})


def microsoft():
    """Ops of com.microsoft that are formulas of ours. A quantized array is followed by its scale and zero point."""
    codes = lambda *shape: RANDOM.integers(0, 256, shape, np.uint8)
    signed = lambda *shape: RANDOM.integers(-128, 128, shape, np.int8)
    scaled = lambda array, scale, zero: [array, np.float32(scale), array.dtype.type(zero)]
    result = lambda scale, zero: [np.float32(scale), np.uint8(zero)]
    a, b, zeros = scaled(codes(3, 4), 0.1, 120), scaled(codes(4), 0.05, 7), np.zeros(5, np.int8)
    image = scaled(codes(1, 3, 5, 4), 0.1, 120)
    cases = [
        ("QuickGelu", [floats(3, 4)], {}), ("BiasGelu", [floats(3, 4), floats(4)], {}), ("FastGelu", [floats(3, 4), floats(4)], {}),
        ("FastGelu", [floats(3, 4)], {}), ("FusedMatMul", [floats(2, 3, 4), floats(2, 5, 4)], {"transB": 1, "alpha": 0.5}),
        ("FusedMatMul", [floats(4, 3), floats(4, 5)], {"transA": 1}),
        ("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), *(floats(8) for _ in range(3))], {"epsilon": 1e-5}),
        ("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], {"epsilon": 1e-5}),
        ("SkipSimplifiedLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], {"epsilon": 1e-5}),
        ("QLinearAdd", [*a, *b, *result(0.13, 100)], {}), ("QLinearMul", [*a, *b, *result(0.33, 100)], {}),
        ("QLinearSigmoid", [*scaled(codes(3, 40), 0.05, 120), *result(1 / 256, 0)], {}),
        ("QLinearLeakyRelu", [*scaled(codes(3, 40), 0.05, 120), *result(0.04, 30)], {"alpha": 0.1}),
        ("QLinearSoftmax", [*scaled(codes(3, 10), 0.05, 120), *result(1 / 256, 0)], {"axis": -1, "opset": 13}),
        ("QLinearWhere", [RANDOM.random((3, 4)) < 0.5, *a, *b, *result(0.13, 100)], {}),
        ("QLinearGlobalAveragePool", [*image, *result(0.051, 99)], {}),
        ("QLinearAveragePool", [*image, *result(0.0513, 99)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 0], "strides": [2, 1]}),
        ("QLinearConcat", [*result(0.1, 128), *scaled(codes(2, 3), 0.1, 128), *scaled(codes(2, 5), 0.2, 100)], {"axis": 1}),
        ("QGemm", [*a, *scaled(signed(4, 5), 0.05, 0), RANDOM.integers(-500, 500, 5, np.int32), *result(0.3, 100)], {}),
        ("QGemm", [*scaled(codes(4, 3), 0.1, 120), signed(5, 4), floats(5) ** 2, zeros], {"transA": 1, "transB": 1, "alpha": 0.5}),
        ("MatMulIntegerToFloat", [a[0], signed(4, 5), np.float32(0.1), floats(5), np.uint8(3), zeros, floats(5)], {}),
        ("DynamicQuantizeMatMul", [floats(3, 4), signed(4, 5), np.float32(0.1), np.int8(0), floats(5)], {}),
    ]  # fmt: skip
    nodes, known, inputs, feeds, outputs = [], [], [], {}, []
    for i, (op, arrays, attrs) in enumerate(cases):
        names = [f"{op}{i}_{k}" for k in range(len(arrays))]
        for name, array in zip(names, map(np.asarray, arrays)):
            if array.ndim == 0:
                known.append(constant(name, array))
            else:
                feeds[name] = array
                inputs.append(info(name, array.shape, h.np_dtype_to_tensor_dtype(array.dtype)))
        nodes.append(N(op, names, [f"y{i}"], domain="com.microsoft", **attrs))
        outputs.append(info(f"y{i}", None, T.UINT8 if op.startswith("Q") and op != "QuickGelu" and i != 19 else T.FLOAT))
    keep("microsoft", model(nodes, inputs, outputs, known), feeds)


def packed_weights():
    """MatMulNBits: blocks with and without zero points, rows that end within a block, a bias."""
    nodes, known, outputs = [], [], []
    rows = [(4, 32, 64, True), (4, 16, 40, False), (8, 32, 32, True), (4, 32, 128, False)]
    for i, (bits, block, k, zeros) in enumerate(rows):
        n, blocks = 6, -(-k // block)
        packed = RANDOM.integers(0, 256, (n, blocks, block * bits // 8), np.uint8)
        known += [constant(f"b{i}", packed), constant(f"s{i}", np.abs(floats(n * blocks)))]
        names = [f"x{i}", f"b{i}", f"s{i}"]
        if zeros:
            known.append(constant(f"z{i}", RANDOM.integers(0, 256, n * blocks * bits // 8, np.uint8)))
            names.append(f"z{i}")
        if i == 3:
            known.append(constant("bias", floats(n)))
            names += ["", "", "bias"]
        attrs = {"N": n, "K": k, "bits": bits, "block_size": block}
        nodes.append(N("MatMulNBits", names, [f"y{i}"], domain="com.microsoft", **attrs))
        outputs.append(info(f"y{i}", None))
    feeds = {f"x{i}": floats(2, 3, k) for i, (_, _, k, _) in enumerate(rows)}
    keep("packed_weights", model(nodes, [info(n, a.shape) for n, a in feeds.items()], outputs, known), feeds)


def fused():
    """FusedConv with each activation and a sum, and MatMulNBits whose rows of zero points end within a byte, also of 2 bits."""
    random = np.random.default_rng(22)
    numbers = lambda *shape: random.standard_normal(shape).astype(np.float32)
    feeds = {"x": numbers(1, 2, 5, 5), "z": numbers(1, 3, 3, 3), "a": numbers(2, 96), "c": numbers(2, 80)}
    known = [constant("w", numbers(3, 2, 3, 3)), constant("b", numbers(3))]
    rows = [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.25, 0.4])]
    nodes = [N("FusedConv", ["x", "w", "b", *["z"][i % 2 :]], [f"y{i}"], domain="com.microsoft", activation=activation,
               **({"activation_params": params} if params else {}))
             for i, (activation, params) in enumerate(rows)]  # fmt: skip
    for i, (bits, block, x, k) in enumerate([(4, 32, "a", 96), (4, 16, "c", 80), (2, 32, "a", 96)]):
        blocks, n = k // block, 5
        known += [constant(f"b{i}", random.integers(0, 256, (n, blocks, block * bits // 8), np.uint8)), constant(f"s{i}", np.abs(numbers(n * blocks))),
                  constant(f"z{i}", random.integers(0, 256, n * -(-blocks * bits // 8), np.uint8))]  # fmt: skip
        attrs = {"N": n, "K": k, "bits": bits, "block_size": block}
        nodes.append(N("MatMulNBits", [x, f"b{i}", f"s{i}", f"z{i}"], [f"p{i}"], domain="com.microsoft", **attrs))
    inputs = [info(n, a.shape) for n, a in feeds.items()]
    keep("fused", model(nodes, inputs, [info(node.output[0], None) for node in nodes], known), feeds)


def recurrent():
    """RNN, GRU and LSTM in all directions. Weights are constants but for the last node, whose first states are zeros."""
    random = np.random.default_rng(15)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.5).astype(np.float32)
    steps, batch, wide, hidden = 5, 2, 3, 4
    rows = [
        ("RNN", "forward", {}), ("RNN", "bidirectional", {"activations": ["Relu", "Tanh"]}), ("GRU", "reverse", {}),
        ("GRU", "bidirectional", {"linear_before_reset": 1}), ("GRU", "forward", {"clip": 0.3}), ("LSTM", "bidirectional", {}),
        ("LSTM", "forward", {"peepholes": True}), ("LSTM", "reverse", {"input_forget": 1}), ("LSTM", "forward", {"fed": True}),
    ]  # fmt: skip
    nodes, known, outputs, feeds = [], [], [], {"x": numbers(steps, batch, wide)}
    for i, (op, direction, attrs) in enumerate(rows):
        gates, both = {"RNN": 1, "GRU": 3, "LSTM": 4}[op], 1 + (direction == "bidirectional")
        fed, peepholes = attrs.pop("fed", False), attrs.pop("peepholes", False)
        arrays = {"w": numbers(both, gates * hidden, wide), "r": numbers(both, gates * hidden, hidden),
                  "b": numbers(both, 2 * gates * hidden), "lengths": None}
        if not fed:
            arrays["h"] = numbers(both, batch, hidden)
            arrays |= {"c": numbers(both, batch, hidden)} if op == "LSTM" else {}
        if peepholes:
            arrays["p"] = numbers(both, 3 * hidden)
        names = [f"{key}{i}" if array is not None else "" for key, array in arrays.items()]
        arrays = {f"{key}{i}": array for key, array in arrays.items() if array is not None}
        feeds |= arrays if fed else {}
        known += [] if fed else [constant(name, array) for name, array in arrays.items()]
        made = [f"y{i}", f"last{i}", f"cell{i}"][: 2 + (op == "LSTM")]
        made[0] = "" if i == 2 else made[0]
        nodes.append(N(op, ["x", *names], made, hidden_size=hidden, direction=direction, **attrs))
        outputs += [info(name, None) for name in made if name]
    keep("recurrent", model(nodes, [info(n, a.shape) for n, a in feeds.items()], outputs, known), feeds)


def long_sequences():
    """RNN, GRU and LSTM of 80 steps: more than a Concat has inputs."""
    random = np.random.default_rng(38)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.5).astype(np.float32)
    steps, wide, hidden = 80, 2, 3
    nodes, known, outputs, feeds = [], [], [], {"x": numbers(steps, 1, wide)}
    for op, gates in ("RNN", 1), ("GRU", 3), ("LSTM", 4):
        known += [constant(f"w{op}", numbers(2, gates * hidden, wide)), constant(f"r{op}", numbers(2, gates * hidden, hidden))]
        nodes.append(N(op, ["x", f"w{op}", f"r{op}"], [f"y{op}", f"last{op}"], hidden_size=hidden, direction="bidirectional"))
        outputs += [info(f"y{op}", None), info(f"last{op}", None)]
    keep("long_sequences", model(nodes, [info("x", ["steps", 1, wide])], outputs, known), feeds)


def lstm_bits():
    """LSTM of one row without biases, whose constant weights ONNX Runtime packs: equal in every bit."""
    random = np.random.default_rng(40)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.5).astype(np.float32)
    feeds, nodes, known, outputs = {"x": numbers(20, 1, 5)}, [], [], []
    for i, (direction, both, hidden) in enumerate([("forward", 1, 16), ("bidirectional", 2, 33)]):
        known += [constant(f"w{i}", numbers(both, 4 * hidden, 5)), constant(f"r{i}", numbers(both, 4 * hidden, hidden))]
        nodes.append(N("LSTM", ["x", f"w{i}", f"r{i}"], [f"y{i}", f"h{i}", f"c{i}"], hidden_size=hidden, direction=direction))
        outputs += [info(f"{name}{i}", None) for name in "yhc"]
    keep("lstm_bits", model(nodes, [info("x", feeds["x"].shape)], outputs, known), feeds)


def recurrent_bits():
    """LSTM and GRU, equal in every bit: biases, states, lengths, clip, peepholes and other activations; NaN and infinities with
    and without biases; weights that are packed, fed, and computed with more columns than a chunk."""
    random = np.random.default_rng(43)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.7).astype(np.float32)
    steps, batch, wide = 4, 3, 5
    special = numbers(steps, batch, wide)
    special.flat[[3, 20, 40]] = np.nan, np.inf, -np.inf
    feeds = {"x": numbers(steps, batch, wide), "special": special, "one": numbers(steps, 1, 300), "lengths": np.array([2, 4, 1], np.int32), "pool": numbers(997)}
    known, nodes, outputs = [longs("zero", 0)], [], []
    three = {"activations": ["Tanh", "Sigmoid", "Sigmoid"]}
    rows = [  # op, direction, x, hidden, weights, further inputs, attributes
        ("LSTM", "bidirectional", "x", 19, "packed", "b lengths h c", {}), ("LSTM", "reverse", "x", 7, "packed", "b h c p", {"clip": 0.6}),
        ("LSTM", "forward", "special", 5, "packed", "b", {}), ("LSTM", "reverse", "special", 5, "packed", "p", {"clip": 2.0}),
        ("LSTM", "forward", "one", 6, "packed", "b", {"input_forget": 1}), ("LSTM", "forward", "x", 9, "fed", "lengths p", three),
        ("LSTM", "forward", "one", 3, "fed", "b", {}), ("LSTM", "forward", "x", 130, "computed", "h", {}),
        ("GRU", "bidirectional", "x", 19, "packed", "b lengths h", {}), ("GRU", "reverse", "x", 19, "packed", "b h", {"linear_before_reset": 1}),
        ("GRU", "forward", "special", 5, "packed", "b", {}), ("GRU", "reverse", "special", 5, "packed", "", {"clip": 2.0, "linear_before_reset": 1}),
        ("GRU", "forward", "one", 6, "packed", "b", {"clip": 0.7}), ("GRU", "forward", "x", 9, "fed", "lengths h", {"activations": ["Tanh", "Sigmoid"]}),
        ("GRU", "forward", "one", 3, "fed", "b", {}), ("GRU", "forward", "x", 130, "computed", "h", {}),
    ]  # fmt: skip
    for i, (op, direction, x, hidden, weights, further, attrs) in enumerate(rows):
        gates, both, many = {"GRU": 3, "LSTM": 4}[op], 1 + (direction == "bidirectional"), 1 if x == "one" else batch
        shapes = {"w": (both, gates * hidden, feeds[x].shape[2]), "r": (both, gates * hidden, hidden), "b": (both, 2 * gates * hidden),
                  "lengths": (), "h": (both, many, hidden), "c": (both, many, hidden), "p": (both, 3 * hidden)}  # fmt: skip
        names = [f"{key}{i}" if key in f"w r {further}".split() else "" for key in shapes]
        names[3] = "lengths" if "lengths" in further else ""
        for name, shape in zip(names, shapes.values()):
            if not name or name == "lengths":
                continue
            if weights == "computed" and name[0] in "wr":
                count = int(np.prod(shape))
                known += [longs(f"{name}/often", count // 997 + 1), longs(f"{name}/count", count), longs(f"{name}/shape", *shape)]
                nodes += [N("Tile", ["pool", f"{name}/often"], [f"{name}/all"]), N("Slice", [f"{name}/all", "zero", f"{name}/count"], [f"{name}/some"]),
                          N("Reshape", [f"{name}/some", f"{name}/shape"], [name])]  # fmt: skip
            elif weights == "fed" and name[0] in "wr":
                feeds[name] = numbers(*shape)
            else:
                known.append(constant(name, numbers(*shape)))
        made = [f"y{i}", f"h/{i}", f"c/{i}"][: 2 + (op == "LSTM")]
        nodes.append(N(op, [x, *names[: 5 + 2 * (op == "LSTM")]], made, hidden_size=hidden, direction=direction, **attrs))
        outputs += [info(name, None) for name in made]
    inputs = [info(name, a.shape, h.np_dtype_to_tensor_dtype(a.dtype)) for name, a in feeds.items()]
    keep("recurrent_bits", model(nodes, inputs, outputs, known), feeds)


def folded_weights():
    """Products of one row, and a GRU, with weights that are computed from constants: the optimizer folds them, and then they
    are packed. Results with all optimizations on."""
    random = np.random.default_rng(44)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.7).astype(np.float32)
    known = [constant("a", numbers(300, 4)), constant("b", numbers(302, 6)), longs("one", 1), longs("last", 301), constant("w", numbers(40, 1, 15)), constant("r", numbers(1, 15, 5))]
    nodes = [
        N("Concat", ["a", "a"], ["ab"], axis=1), N("MatMul", ["x", "ab"], ["y0"]), N("Slice", ["b", "one", "last"], ["part"]),
        N("MatMul", ["x", "part"], ["y1"]), N("Transpose", ["w"], ["wt"], perm=[1, 2, 0]), N("GRU", ["s", "wt", "r"], ["y2"], hidden_size=5),
    ]  # fmt: skip
    feeds = {"x": numbers(1, 300), "s": numbers(3, 1, 40)}
    made = model(nodes, [info(n, a.shape) for n, a in feeds.items()], [info(f"y{i}", None) for i in range(3)], known)
    keep("folded_weights", made, feeds, wanted=expected(made, feeds, False, optimized=True))


def many_parts():
    """Concat of 65 and of 4,097 inputs, along the last and the first dim, and QLinearConcat of 65 parts."""
    random = np.random.default_rng(39)
    feeds = {"a": random.integers(-9, 9, (1, 2)).astype(np.float32), "b": random.integers(-9, 9, (1, 2)).astype(np.float32),
             "c": random.integers(-128, 128, (2, 1), np.int8)}  # fmt: skip
    parts = lambda count: ["b" if i % 7 == 0 or i + 1 == count else "a" for i in range(count)]
    known = [constant("zero", np.int8(3)), *(constant(f"scale{i}", np.float32(i / 8)) for i in range(1, 67))]
    coded = [name for i in range(2, 67) for name in ("c", f"scale{i}", "zero")]
    nodes = [
        N("Concat", parts(65), ["y0"], axis=-1), N("Concat", parts(4097), ["y1"], axis=0),
        N("QLinearConcat", ["scale1", "zero", *coded], ["y2"], axis=1, domain="com.microsoft"),
    ]  # fmt: skip
    inputs = [info(n, a.shape, h.np_dtype_to_tensor_dtype(a.dtype)) for n, a in feeds.items()]
    outputs = [info("y0", None), info("y1", None), info("y2", None, T.INT8)]
    keep("many_parts", model(nodes, inputs, outputs, known), feeds)


def pooled_codes():
    """MaxPool of int8 and uint8: padding whose bytes would win or lose if they were codes, and windows of padding alone.
    The greatest, least and nearest of codes."""
    random = np.random.default_rng(16)
    feeds = {"s": random.integers(-128, 0, (1, 2, 7, 6), np.int8), "u": random.integers(0, 256, (1, 2, 7, 6), np.uint8)}
    feeds |= {"p": random.integers(-128, 0, (1, 2, 1, 6), np.int8), "q": random.integers(0, 256, (1, 2, 1, 6), np.uint8)}
    nodes = [
        N("MaxPool", ["p"], ["f"], kernel_shape=[2, 2], dilations=[2, 1], pads=[1, 0, 1, 1]),
        N("MaxPool", ["q"], ["g"], kernel_shape=[2, 2], dilations=[2, 1], pads=[1, 0, 1, 1]),
        N("MaxPool", ["s"], ["a"], kernel_shape=[3, 2], pads=[1, 0, 1, 1]), N("MaxPool", ["u"], ["b"], kernel_shape=[2, 2], strides=[2, 3]),
        N("MaxPool", ["s"], ["c"], kernel_shape=[2, 2], dilations=[2, 1]), N("MaxPool", ["u"], ["d"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        N("MaxPool", ["s"], ["e"], kernel_shape=[2, 3], auto_pad="SAME_UPPER"),
        N("ReduceMax", ["s"], ["h"], axes=[2, 3]), N("ReduceMin", ["u"], ["i"], axes=[1], keepdims=0),
        N("Resize", ["u", "", "twice"], ["j"]), N("Resize", ["s", "", "some"], ["k"], nearest_mode="round_prefer_ceil"),
    ]  # fmt: skip
    known = [constant("twice", np.array([1, 1, 2, 2], np.float32)), constant("some", np.array([1, 1, 1.3, 0.7], np.float32))]
    inputs = [info(name, feeds[name].shape, T.UINT8 if name in "uq" else T.INT8) for name in "supq"]
    outputs = [info(name, None, T.UINT8 if name in "bdgij" else T.INT8) for name in "abcdefghijk"]
    keep("pooled_codes", model(nodes, inputs, outputs, known), feeds)


def attention():
    """Attention with shared keys, a cache, masks and a soft cap, and RotaryEmbedding in both layouts."""
    random = np.random.default_rng(19)
    numbers = lambda *shape: random.standard_normal(shape).astype(np.float32)
    feeds = {"q": numbers(2, 4, 3, 8), "k": numbers(2, 2, 5, 8), "v": numbers(2, 2, 5, 6), "past_k": numbers(2, 2, 2, 8),
             "past_v": numbers(2, 2, 2, 6), "mask": numbers(3, 7), "flat": numbers(2, 3, 32), "allowed": random.random((2, 1, 3, 5)) < 0.6,
             "cos": numbers(9, 4), "sin": numbers(9, 4), "at": random.integers(0, 9, (2, 3)), "angles": numbers(2, 3, 2)}  # fmt: skip
    feeds["allowed"][..., 0] = True
    nodes = [
        N("Attention", ["q", "k", "v", "mask", "past_k", "past_v"], ["y0", "keys", "values"], is_causal=1),
        N("Attention", ["q", "k", "v", "allowed"], ["y1", "", "", "scores"], softcap=3.0, scale=0.5, qk_matmul_output_mode=1),
        N("Attention", ["flat", "flat", "flat"], ["y2"], q_num_heads=4, kv_num_heads=4, is_causal=1),
        N("RotaryEmbedding", ["q", "cos", "sin", "at"], ["y3"]),
        N("RotaryEmbedding", ["flat", "angles", "angles"], ["y4"], num_heads=4, interleaved=1, rotary_embedding_dim=4),
        N("Slice", ["q", "end", "end", "last"], ["none"]), N("Concat", ["q", "none", "q"], ["y5"], axis=3),
        N("Where", ["allowed", "one", "row"], ["y6"]),
    ]  # fmt: skip
    known = [longs("end", 99), longs("last", 3), constant("one", np.float32(1)), constant("row", np.arange(5, dtype=np.float32))]
    inputs = [info(n, a.shape, h.np_dtype_to_tensor_dtype(a.dtype)) for n, a in feeds.items()]
    outputs = [info(n, None) for n in (*(f"y{i}" for i in range(7)), "keys", "values", "scores")]
    keep("attention", model(nodes, inputs, outputs, known, opset=23, ir=10), feeds)


def sequences():
    """RNN, GRU and LSTM with lengths that are data, other activations, and clip together with peepholes; DynamicQuantizeLSTM."""
    random = np.random.default_rng(23)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.5).astype(np.float32)
    steps, batch, wide, hidden = 4, 3, 3, 4
    feeds, known, nodes = {"x": numbers(steps, batch, wide), "lengths": np.array([2, 4, 1], np.int32)}, [], []
    rows = [
        ("RNN", "bidirectional", {"activations": ["LeakyRelu", "Affine"], "activation_alpha": [0.2, 0.7], "activation_beta": [0.1]}),
        ("GRU", "reverse", {"activations": ["HardSigmoid", "Softsign"]}), ("GRU", "forward", {"activations": ["Sigmoid", "ThresholdedRelu"], "activation_alpha": [0.1]}),
        ("LSTM", "bidirectional", {"activations": ["HardSigmoid", "Elu", "ScaledTanh", "Sigmoid", "Softplus", "ThresholdedRelu"],
                                   "activation_alpha": [0.3, 0.8, 1.5, 0.1], "activation_beta": [0.4, 0.7]}),
        ("LSTM", "forward", {"clip": 0.4, "peepholes": True}), ("DynamicQuantizeLSTM", "bidirectional", {}),
    ]  # fmt: skip
    for i, (op, direction, attrs) in enumerate(rows):
        gates, both = {"RNN": 1, "GRU": 3}.get(op, 4), 1 + (direction == "bidirectional")
        arrays = {"w": numbers(both, gates * hidden, wide), "r": numbers(both, gates * hidden, hidden),
                  "b": numbers(both, 2 * gates * hidden), "lengths": None, "h": numbers(both, batch, hidden)}  # fmt: skip
        if gates == 4:
            arrays |= {"c": numbers(both, batch, hidden), "p": numbers(both, 3 * hidden)}
            arrays["p"] = arrays["p"] if attrs.pop("peepholes", False) else None
        if op.startswith("D"):
            arrays["lengths"] = np.full(batch, steps, np.int32)
            for name in "wr":
                arrays[name] = random.integers(-128, 128, (both, arrays[name].shape[2], gates * hidden), np.int8)
            for name in "wr":
                arrays |= {f"{name}s": np.abs(numbers(both)) * np.float32(0.02), f"{name}z": np.zeros(both, np.int8)}
        names = ["x", *(key if key == "lengths" and op[0] != "D" else f"{key}{i}" if a is not None else "" for key, a in arrays.items())]
        known += [constant(f"{key}{i}", a) for key, a in arrays.items() if a is not None]
        nodes.append(N(op, names, [f"y{i}", f"last{i}"], domain="com.microsoft" if op[0] == "D" else "", hidden_size=hidden, direction=direction, **attrs))
    inputs = [info("x", feeds["x"].shape), info("lengths", [batch], T.INT32)]
    keep("sequences", model(nodes, inputs, [info(o, None) for node in nodes for o in node.output], known, opset=14), feeds)


def clipped_codes():
    """Clip of int8 and uint8, with one bound and with both, crossed ones too, where max wins."""
    feeds = {"a": np.arange(-128, 128, 5).astype(np.int8), "b": np.arange(0, 256, 7).astype(np.uint8)}
    known = [constant("low", np.int8(-20)), constant("high", np.int8(33)), constant("ten", np.uint8(10)), constant("five", np.uint8(5))]
    rows = [("a", "low", "high"), ("a", "", "low"), ("a", "high", "low"), ("b", "ten", ""), ("b", "five", "ten")]
    nodes = [N("Clip", list(row), [f"y{i}"]) for i, row in enumerate(rows)]
    elems = {"a": T.INT8, "b": T.UINT8}
    inputs = [info(n, a.shape, elems[n]) for n, a in feeds.items()]
    keep("clipped_codes", model(nodes, inputs, [info(f"y{i}", None, elems[row[0]]) for i, row in enumerate(rows)], known), feeds)
