# SPDX-License-Identifier: Apache-2.0
"""Quantized networks of 20 to 60 nodes, computed here by the formulas of their ops, with a fault in one node.

Numbers are Python floats that hold float32. Scales of products are powers of two, so that every sum is exact in any
order. Nothing of qdq is used."""

import math
import random
import struct

ROWS, WIDTH = 8, 16


# ---- Numbers ----


def float32(x):
    """Rounded half to even. Quotients, products and sums of two float32 may be rounded twice, to double before."""
    return struct.unpack("<f", struct.pack("<f", x))[0] if abs(x) < 3.4e38 else math.copysign(math.inf, x)


def bfloat16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16))[0]


def half_away(v):
    return math.trunc(v + math.copysign(0.5, v))


def clamp(code, low=-128, high=127):
    return min(max(code, low), high)


def wrap(code):
    return (code + 128) % 256 - 128


# ---- Ops; a fault gives one of them other arguments ----


def quantize(x, scale, zero, rounded=round, low=-128, fit=clamp, before=False, of=float32, multiplied=False):
    codes = []
    for one in x:
        v = float32(of(one) * float32(1 / scale)) if multiplied else float32(of(one) / scale)
        code = rounded(float32(v + zero)) if before else rounded(v) + zero
        codes.append(fit(code, low) if fit is clamp else fit(code))
    return codes


def dequantize(x, scale, zero):
    return [float32((one - zero) * scale) for one in x]


def dequantize_weights(x, scales, axis=1):
    return [float32(one * scales[i % WIDTH if axis == 1 else i // WIDTH]) for i, one in enumerate(x)]


def matmul(a, b, of=float32):
    """Sums are exact, so their order does not matter."""
    made = []
    for row in range(ROWS):
        for column in range(WIDTH):
            total = sum(a[row * WIDTH + k] * b[k * WIDTH + column] for k in range(WIDTH))
            assert float32(total) == total
            made.append(of(total))
    return made


def matmul_integer(a, b, zero, saturated=False):
    """Sums of two products may saturate to int16, as on x86 without VNNI."""
    made = []
    for row in range(ROWS):
        for column in range(WIDTH):
            total = 0
            for k in range(0, WIDTH, 2):
                pair = sum(a[row * WIDTH + i] * b[i * WIDTH + column] for i in (k, k + 1))
                total += clamp(pair, -32768, 32767) if saturated else pair
            made.append(total - zero * sum(b[k * WIDTH + column] for k in range(WIDTH)))
    return made


# ---- Networks ----


class Network:
    """Nodes in order: (document, function of values and a dict of other arguments)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.constants, self.run_of, self.kinds, self.facts = [], [], {}, {}, {}
        self.x = [self.number() for _ in range(ROWS * WIDTH)]
        value = "x"
        self.blocks = self.random.randrange(3, 8)
        for i in range(self.blocks):
            value = self.block(i, value)
        self.quantize("last", value, 2.0 ** -5, 1)
        self.document = {
            "format": "qdq/1", "name": f"network {seed}", "target": "onnx", "constants": self.constants, "nodes": self.nodes,
            "inputs": [{"name": "x", "dtype": "float32", "shape": [ROWS, WIDTH]}],
            "outputs": [{"name": "y", "value": "last"}]}  # fmt: skip

    def number(self):
        """Half of the numbers are ties of the scale 2^-6."""
        if self.random.random() < 0.5:
            return (self.random.randrange(-150, 150) + 0.5) * 2.0 ** -6
        return float32(self.random.gauss(0, 1))

    def add(self, kind, op, name, inputs, run, **attrs):
        self.nodes.append({"op": op, "name": name, "inputs": inputs, "attrs": attrs})
        self.run_of[name], self.kinds[name] = run, kind
        return name

    def constant(self, name, dtype, shape, data):
        self.constants.append({"name": name, "dtype": dtype, "shape": shape, "data": data})
        return data

    def quantize(self, name, x, scale, zero, dtype="int8"):
        low, high = (-128, 127) if dtype == "int8" else (0, 255)
        self.facts[name] = (scale, zero)

        def run(values, **other):
            other = {"scale": scale, "zero": zero, **other}
            if dtype == "uint8":
                other.setdefault("fit", lambda code: clamp(code, low, high))
            return quantize(values[x], **other)

        return self.add("quantize", "Quantize", name, {"x": x}, run, scales=scale, zps=zero, dtype=dtype)

    def dequantize(self, name, x, scale, zero):
        self.facts[name] = (scale, zero)
        return self.add("dequantize", "Dequantize", name, {"x": x},
                        lambda values, **other: dequantize(values[x], **{"scale": scale, "zero": zero, **other}),
                        scales=scale, zps=zero, dtype="float32")  # fmt: skip

    def weights(self, i):
        codes = self.constant(f"w{i}", "int8", [WIDTH, WIDTH],
                              [self.random.randrange(-20, 21) for _ in range(WIDTH * WIDTH)])  # fmt: skip
        scales = [2.0 ** -self.random.randrange(6, 9) for _ in range(WIDTH)]
        self.facts[f"wd{i}"] = (scales, 0)
        return self.add("weights", "Dequantize", f"wd{i}", {"x": f"w{i}"},
                        lambda values, **other: dequantize_weights(codes, **{"scales": scales, **other}),
                        scales=scales, zps=0, qtype="per_channel", axis=1, dtype="float32")  # fmt: skip

    def binary(self, kind, op, name, a, b, formula):
        def run(values, swapped=False, of=float32):
            x, y = (values[b], values[a]) if swapped else (values[a], values[b])
            return [of(float32(formula(p, q))) for p, q in zip(x, y)]

        return self.add(kind, op, name, {"a": a, "b": b}, run)

    def relu(self, name, x):
        return self.add("relu", "ReLU", name, {"x": x}, lambda values: [max(one, 0.0) for one in values[x]])

    def pair(self, name, x, scale, zero):
        return self.dequantize(f"d{name}", self.quantize(f"q{name}", x, scale, zero), scale, zero)

    def block(self, i, value):
        zero = self.random.choice([z for z in range(-9, 10) if z])
        exact = self.pair(f"{i}a", value, 2.0 ** -6, zero)
        wd = self.weights(i)
        product = self.add("matmul", "MatMul", f"m{i}", {"a": exact, "b": wd},
                           lambda values, **other: matmul(values[exact], values[wd], **other))  # fmt: skip
        # Ties of 15 * 2^-10 are none when they are multiplied by its rounded reciprocal.
        scale = 15 * 2.0 ** -10 if i % 2 == 0 else float32(0.011 * (1 + self.random.random()))
        other = self.pair(f"{i}b", product, scale, self.random.randrange(-20, 21) or 3)
        if i % 3 == 0:
            return self.relu(f"r{i}", other)
        if i % 3 == 1:
            return self.binary("subtract", "Subtract", f"s{i}", other, exact, lambda p, q: p - q)
        return self.integer_product(i, other)

    def integer_product(self, i, value):
        codes = self.quantize(f"u{i}", value, 2.0 ** -6, 140, dtype="uint8")
        weights = self.constant(f"v{i}", "int8", [WIDTH, WIDTH],
                                [self.random.choice((-100, -30, 0, 45, 110)) for _ in range(WIDTH * WIDTH)])  # fmt: skip
        zero = self.constant(f"z{i}", "uint8", [], [140])[0]
        self.add("integer", "MatMulInteger", f"p{i}", {"a": codes, "b": f"v{i}", "a_zero_point": f"z{i}"},
                 lambda values, **other: matmul_integer(values[codes], weights, zero, **other))  # fmt: skip
        self.add("cast", "Cast", f"c{i}", {"x": f"p{i}"}, lambda values: [float(one) for one in values[f"p{i}"]],
                 dtype="float32")  # fmt: skip
        self.constant(f"k{i}", "float32", [], [2.0 ** -13])
        return self.add("multiply", "Multiply", f"k{i}m", {"a": f"c{i}", "b": f"k{i}"},
                        lambda values, of=float32: [of(one * 2.0 ** -13) for one in values[f"c{i}"]])  # fmt: skip

    def run(self, fault=None, other=None):
        """All values; node `fault` is computed with other arguments."""
        values = {"x": self.x}
        for node in self.nodes:
            name = node["name"]
            values[name] = self.run_of[name](values, **(other if name == fault else {}))
        return values

    def dtype(self, name):
        if self.kinds[name] == "quantize":
            return next(node for node in self.nodes if node["name"] == name)["attrs"]["dtype"]
        return "int32" if self.kinds[name] == "integer" else "float32"

    def of_kind(self, kind):
        return [name for name, own in self.kinds.items() if own == kind]


# ---- Faults: the kind of node, the causes that are right, and other arguments from its scale and zero point ----

FAULTS = {
    "another scale": ("quantize", "wrong-scale", lambda s, z: {"scale": float32(0.021)}),
    "twice the scale": ("dequantize", "wrong-scale", lambda s, z: {"scale": 2 * s}),
    "reciprocal scale": ("dequantize", "wrong-scale", lambda s, z: {"scale": float32(1 / s)}),
    "scale of 255 steps": ("quantize", "wrong-scale", lambda s, z: {"scale": float32(s * 255 / 256)}),
    "no zero point": ("quantize", "wrong-zero-point", lambda s, z: {"zero": 0}),
    "zero point of uint8": ("dequantize", "wrong-zero-point", lambda s, z: {"zero": z + 128}),
    "zero point off by one": ("quantize", "wrong-zero-point", lambda s, z: {"zero": z + 1}),
    "another axis": ("weights", "wrong-axis", lambda s, z: {"axis": 0}),
    "first scale for all": ("weights", "per-tensor", lambda s, z: {"scales": [s[0]] * WIDTH}),
    "largest scale for all": ("weights", "per-tensor", lambda s, z: {"scales": [max(s)] * WIDTH}),
    "swapped inputs": ("subtract", "swapped-inputs", lambda s, z: {"swapped": True}),
    "half away": ("quantize", "tie", lambda s, z: {"rounded": half_away}),
    "truncation": ("quantize", "truncation", lambda s, z: {"rounded": math.trunc}),
    "zero point before rounding": ("quantize", "zero-point order", lambda s, z: {"before": True}),
    "multiplied by the reciprocal": ("quantize", "reciprocal", lambda s, z: {"multiplied": True}),
    "narrow range": ("quantize", "saturation range", lambda s, z: {"low": -127}),
    "wrapping": ("quantize", "wrap", lambda s, z: {"fit": wrap}),
    "bfloat16 x": ("quantize", "input precision", lambda s, z: {"of": bfloat16}),
    "bfloat16 scale": ("quantize", "scale precision", lambda s, z: {"scale": bfloat16(s)}),
    "bfloat16 product": ("matmul", "intermediate precision", lambda s, z: {"of": bfloat16}),
    "bfloat16 difference": ("subtract", "intermediate precision", lambda s, z: {"of": bfloat16}),
    "saturating pairs": ("integer", "pair saturation", lambda s, z: {"saturated": True}),
}  # fmt: skip


def faulty(name, seed):
    """A network, a node and the values with the fault, from the first seed on for which an output changes."""
    kind, cause, arguments = FAULTS[name]
    for number in range(seed, seed + 200):
        network = Network(number)
        nodes = [one for one in network.of_kind(kind) if network.dtype(one) != "uint8"]
        if not nodes:
            continue
        node = random.Random(number).choice(nodes)
        right = network.run()
        try:
            wrong = network.run(node, arguments(*network.facts.get(node, (1.0, 0))))
        except AssertionError:  # a sum that is not exact
            continue
        if wrong["last"] != right["last"]:
            return network, node, cause, right, wrong
    raise ValueError(f"no seed from {seed} on shows '{name}'")
