#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq explain names mistakes of one node. Each result with a mistake is computed here by arithmetic on Python's numbers,
without qdq, from seeded data."""

import json
import math
import random
import struct

from harness import Case, constant, graph, main, npy_bytes, safetensors_bytes, tensor, value

LETTERS = {"float32": "<f4", "int8": "|i1", "uint8": "|u1", "int32": "<i4"}
RANGES = {"int8": (-128, 127), "uint8": (0, 255)}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def clamp(code, dtype="int8"):
    low, high = RANGES[dtype]
    return min(max(code, low), high)


def wrap(code, dtype="int8"):
    low, _ = RANGES[dtype]
    return (code - low) % 256 + low


class Mistakes(Case):
    """Each test gives explain a graph of one or few nodes, its inputs, and the result with a mistake."""

    def explain(self, nodes, inputs, got, constants=(), target="core", code=1):
        """The JSON of explain. `inputs` and `got`: tensors by name; the last node is the output y."""
        self.write("g.json", graph(nodes, [value(name, one.dtype, one.shape) for name, one in inputs.items()],
                                   {"y": nodes[-1]["name"]}, constants=list(constants), target=target))  # fmt: skip
        self.write("in.safetensors", safetensors_bytes(inputs))
        self.write("y.npy", npy_bytes(LETTERS[got.dtype], got.shape, got.data))
        return json.loads(self.qdq("explain", "g.json", "-i", "in.safetensors", "--got", "y.npy", "--json", code=code).out)

    def assert_cause(self, found, cause, detail, node="q"):
        text = f"{found['cause']} at {found['node']}: {found['detail']}; {found['candidates']}"
        self.assertEqual((found["cause"], found["node"], found["left"]), (cause, node, 0), text)
        self.assertIn(detail, found["detail"])


class Blocks(Mistakes):
    """Scales of blocks that a device assigns to other elements."""

    def dequantize(self, shape, group, chosen, detail, seed=1):
        """`chosen`: the index of the parameters of an element, from its coordinates."""
        random.seed(seed)
        rows, columns = shape if len(shape) == 2 else (1, shape[0])
        grid = [-(-dim // extent) for dim, extent in zip(shape, group)]
        count = grid[0] * (grid[1] if len(grid) == 2 else 1)
        x = [random.randrange(-128, 128) for _ in range(rows * columns)]
        scales = [2.0 ** -random.randrange(1, 8) * (1 + i / 64) for i in range(count)]
        zeros = [random.randrange(-9, 10) for _ in range(count)]
        got = []
        for i, code in enumerate(x):
            at = chosen(i // columns, i % columns)
            got.append(f32((code - zeros[at]) * scales[at]) if at < count else code * 0.0)
        node = {"op": "Dequantize", "name": "q", "inputs": {"x": "x", "scale": "s", "zero_point": "z"},
                "attrs": {"qtype": "per_group", "group_shape": list(group), "dtype": "float32"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("int8", shape, x)}, tensor("float32", shape, got),
                             [constant("s", "float32", grid, scales), constant("z", "int8", grid, zeros)])  # fmt: skip
        self.assert_cause(found, "wrong-blocks", detail)

    def test_blocks_of_a_vector_are_read_as_channels(self):
        self.dequantize([24], [8], lambda _, k: k, "the index on dim 0 chooses the scale, 0 beyond the last")
        self.dequantize([24], [8], lambda _, k: min(k, 2), "the last again beyond it")

    def test_the_axis_of_blocks_is_read_as_channels(self):
        self.dequantize([3, 12], [1, 4], lambda row, _: row, "the index on dim 0")
        self.dequantize([3, 12], [1, 4], lambda _, k: k % 9, "the index on dim 1 chooses the scale, from the first again")

    def test_the_size_of_blocks_is_left_out(self):
        self.dequantize([2, 12], [1, 4], lambda row, k: row * 3 + k, "a scale for each element of a block")

    def test_blocks_have_another_size(self):
        self.dequantize([2, 64], [1, 16], lambda row, k: row * 4 + k // 32, "blocks of 32")

    def test_the_grid_of_blocks_is_transposed(self):
        self.dequantize([4, 12], [1, 4], lambda row, k: k // 4 * 4 + row, "in column-major order")

    def test_blocks_run_along_rows(self):
        self.dequantize([4, 12], [4, 2], lambda row, k: (row * 12 + k) // 8, "blocks of neighbours in row-major order")


class EarlyClamps(Mistakes):
    """Codes that are clamped before the zero point is added."""

    SCALES = (2.0 ** -4, 2.0 ** -5 * 1.25, 2.0 ** -6)

    def quantize(self, dtype, zeros, finish, detail, clamped=None, seed=1):
        """Rows with a zero point each; `finish` brings the sum into the range."""
        random.seed(seed)
        scales = self.SCALES[:len(zeros)]
        x = [f32(random.uniform(-12, 12)) for _ in range(len(zeros) * 20)]
        got = []
        for i, one in enumerate(x):
            code = clamp(round(f32(one / scales[i // 20])), clamped or dtype)
            got.append(finish(code + zeros[i // 20], dtype))
        attrs = {"scales": list(scales), "zps": list(zeros), "qtype": "per_channel", "axis": 0, "dtype": dtype}
        if len(zeros) == 1:
            attrs = {"scales": scales[0], "zps": zeros[0], "dtype": dtype}
        found = self.explain([{"op": "Quantize", "name": "q", "inputs": {"x": "x"}, "attrs": attrs}],
                             {"x": tensor("float32", [len(zeros), 20], x)}, tensor(dtype, [len(zeros), 20], got))  # fmt: skip
        self.assert_cause(found, "clamp-order", detail)

    def test_the_sum_saturates(self):
        self.quantize("int8", [-128], clamp, "clamped before the zero point is added, the sum saturates")
        self.quantize("uint8", [77], clamp, "the sum saturates")

    def test_the_sum_wraps(self):
        self.quantize("int8", [-100], wrap, "clamped before the zero point is added, the sum keeps its low bits")
        self.quantize("uint8", [200], wrap, "the sum keeps its low bits")

    def test_each_channel_has_its_zero_point(self):
        self.quantize("int8", [-50, 7, 90], clamp, "the sum saturates")

    def test_codes_of_the_other_sign_are_clamped(self):
        self.quantize("uint8", [90], clamp, "clamped to int8 before", clamped="int8")
        self.quantize("int8", [-60], clamp, "clamped to uint8 before", clamped="uint8")

    def test_a_requantize_clamps_early(self):
        random.seed(3)
        x = [random.randrange(-128, 128) for _ in range(48)]
        got = [clamp(clamp(round((one - 5) * 3.0)) - 40) for one in x]
        node = {"op": "Requantize", "name": "q", "inputs": {"x": "x"},
                "attrs": {"in_scales": 0.375, "in_zps": 5, "out_scales": 0.125, "out_zps": -40, "dtype": "int8"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("int8", [48], x)}, tensor("int8", [48], got))
        self.assert_cause(found, "clamp-order", "the sum saturates")


class TwoZeroPoints(Mistakes):
    """Zero points of both sides that are dropped or shifted together."""

    def product(self, dtypes, zeros, used, detail):
        random.seed(5)
        rows, inner, columns = 3, 8, 5
        a = [random.randrange(*RANGES[dtypes[0]]) for _ in range(rows * inner)]
        b = [random.randrange(*RANGES[dtypes[1]]) for _ in range(inner * columns)]
        got = [sum((a[i * inner + k] - used[0]) * (b[k * columns + j] - used[1]) for k in range(inner))
               for i in range(rows) for j in range(columns)]  # fmt: skip
        node = {"op": "MatMulInteger", "name": "q", "attrs": {},
                "inputs": {"a": "a", "b": "b", "a_zero_point": "za", "b_zero_point": "zb"}}  # fmt: skip
        found = self.explain([node], {"a": tensor(dtypes[0], [rows, inner], a), "b": tensor(dtypes[1], [inner, columns], b)},
                             tensor("int32", [rows, columns], got),
                             [constant("za", dtypes[0], [], [zeros[0]]), constant("zb", dtypes[1], [], [zeros[1]])])  # fmt: skip
        self.assert_cause(found, "wrong-zero-point", detail)

    def test_a_product_drops_both(self):
        self.product(("uint8", "uint8"), (120, 77), (0, 0), "no a_zero_point and b_zero_point")
        self.product(("uint8", "int8"), (120, -7), (0, 0), "no a_zero_point and b_zero_point")

    def test_a_product_takes_both_for_int8(self):
        self.product(("uint8", "uint8"), (140, 177), (12, 49), "128 taken from a_zero_point and b_zero_point")

    def requantize(self, used, detail, scales=(0.25, 0.75), cause="wrong-zero-point"):
        random.seed(6)
        x = [random.randrange(-128, 128) for _ in range(60)]
        got = [clamp(round(f32((one - used[0]) * scales[0] / scales[1])) + used[1]) for one in x]
        node = {"op": "Requantize", "name": "q", "inputs": {"x": "x"},
                "attrs": {"in_scales": 0.25, "in_zps": 11, "out_scales": 0.75, "out_zps": -30, "dtype": "int8"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("int8", [60], x)}, tensor("int8", [60], got))
        self.assert_cause(found, cause, detail)

    def test_a_requantize_drops_both(self):
        self.requantize((0, 0), "no in_zero_point and out_zero_point")

    def test_a_requantize_exchanges_its_sides(self):
        self.requantize((-30, 11), "in_scale and out_scale, with their zero points", (0.75, 0.25), "swapped-inputs")


class Borders(Mistakes):
    """A border of code 0 around an image whose real 0 is another code."""

    SIZE, CHANNELS, OUT = 5, 2, 3

    def image(self, low, high):
        return [random.randrange(low, high) for _ in range(self.CHANNELS * self.SIZE ** 2)]

    def at(self, image, channel, row, column, border):
        inside = 0 <= row < self.SIZE and 0 <= column < self.SIZE
        return image[(channel * self.SIZE + row) * self.SIZE + column] if inside else border

    def convolve(self, image, weights, border, zero, pads=(1, 1)):
        """3x3 windows; `pads`: before and after each dim."""
        made, count = [], self.SIZE + sum(pads) - 2
        for out in range(self.OUT):
            for row in range(count):
                for column in range(count):
                    made.append(sum(
                        (self.at(image, c, row + i - pads[0], column + k - pads[0], border) - zero) *
                        weights[((out * self.CHANNELS + c) * 3 + i) * 3 + k]
                        for c in range(self.CHANNELS) for i in range(3) for k in range(3)))  # fmt: skip
        return made

    def weights(self):
        return [random.randrange(-20, 21) for _ in range(self.OUT * self.CHANNELS * 9)]

    def test_a_convolution_of_codes(self):
        random.seed(7)
        x, w = self.image(0, 256), self.weights()
        node = {"op": "ConvInteger", "name": "q", "inputs": {"x": "x", "w": "w", "x_zero_point": "z"},
                "attrs": {"pads_begin": [1, 1], "pads_end": [1, 1]}}  # fmt: skip
        for border, detail in (0, "code 0"), (128, "code 128"):
            got = self.convolve(x, w, border, 110)
            found = self.explain([node], {"x": tensor("uint8", [1, 2, 5, 5], x)}, tensor("int32", [1, 3, 5, 5], got),
                                 [constant("w", "int8", [3, 2, 3, 3], w), constant("z", "uint8", [], [110])])  # fmt: skip
            self.assert_cause(found, "border-code", f"the border has {detail}")

    def test_pads_that_a_rule_gives(self):
        random.seed(8)
        x, w = self.image(0, 256), self.weights()
        node = {"op": "ConvInteger", "name": "q", "inputs": {"x": "x", "w": "w", "x_zero_point": "z"},
                "attrs": {"auto_pad": "SAME_UPPER"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("uint8", [1, 2, 5, 5], x)},
                             tensor("int32", [1, 3, 5, 5], self.convolve(x, w, 0, 90)),
                             [constant("w", "int8", [3, 2, 3, 3], w), constant("z", "uint8", [], [90])])  # fmt: skip
        self.assert_cause(found, "border-code", "code 0")

    def test_a_convolution_of_dequantized_codes(self):
        """The device convolves codes, so code 0 of the border stands for -zero point * scale."""
        random.seed(9)
        x, w = self.image(-128, 128), self.weights()
        got = [one * 2.0 ** -9 for one in self.convolve(x, w, 0, -30)]
        nodes = [{"op": "Dequantize", "name": "d", "inputs": {"x": "x"},
                  "attrs": {"scales": 2.0 ** -5, "zps": -30, "dtype": "float32"}},
                 {"op": "Convolution", "name": "q", "inputs": {"x": "d", "weights": "w"},
                  "attrs": {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1],
                            "data_format": "NCX", "weights_format": "OIX"}}]  # fmt: skip
        found = self.explain(nodes, {"x": tensor("int8", [1, 2, 5, 5], x)}, tensor("float32", [1, 3, 5, 5], got),
                             [constant("w", "float32", [3, 2, 3, 3], [one * 2.0 ** -4 for one in w])])  # fmt: skip
        self.assert_cause(found, "border-code", "the border has the value 0.9375")

    def test_a_pool_of_codes(self):
        random.seed(10)
        x = self.image(-128, -20)
        got = [max(self.at(x, c, row + i, column + k, 0) for i in (-1, 0, 1) for k in (-1, 0, 1))
               for c in range(2) for row in range(5) for column in range(5)]  # fmt: skip
        node = {"op": "MaxPool", "name": "q", "inputs": {"x": "x"},
                "attrs": {"kernel": [3, 3], "strides": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1], "data_format": "NCX"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("int8", [1, 2, 5, 5], x)}, tensor("int8", [1, 2, 5, 5], got))
        self.assert_cause(found, "border-code", "code 0")

    def test_a_pad_of_codes(self):
        random.seed(11)
        x = [f32(random.uniform(-3, 3)) for _ in range(12)]
        codes = [clamp(round(one * 16) + 40) for one in x]
        nodes = [{"op": "Quantize", "name": "c", "inputs": {"x": "x"}, "attrs": {"scales": 1 / 16, "zps": 40, "dtype": "int8"}},
                 {"op": "Pad", "name": "q", "inputs": {"x": "c", "value": "v"}, "attrs": {"pads": [0, 2, 0, 1]}}]  # fmt: skip
        for right, wrong in (40, 0), (0, 40):
            got = [one for row in range(3) for one in [wrong] * 2 + codes[4 * row:4 * row + 4] + [wrong]]
            found = self.explain(nodes, {"x": tensor("float32", [3, 4], x)}, tensor("int8", [3, 7], got),
                                 [constant("v", "int8", [], [right])])  # fmt: skip
            self.assert_cause(found, "border-code", f"the border has code {wrong}")


class TensorParameters(Mistakes):
    """ttnn computes a zero point that is a tensor by other ops than a number: it truncates x / s + z, and uint8 keeps the
    low bits; with a number int32 is rounded half away, and clamped to +-127 by the chip."""

    def quantize(self, dtype, zero, got, ports, attrs, constants, detail, target="ttnn"):
        random.seed(12)
        x = [random.randrange(-900, 900) / 16 for _ in range(64)]
        made = [got(one / 0.25, zero) for one in x]
        node = {"op": "Quantize", "name": "q", "inputs": {"x": "x", **ports}, "attrs": {"scales": 0.25, "dtype": dtype, **attrs}}
        found = self.explain([node], {"x": tensor("float32", [2, 32], x)}, tensor(dtype, [2, 32], made), constants, target)
        self.assert_cause(found, "tensor-parameter", detail)

    def test_a_number_takes_the_path_of_a_tensor(self):
        def composite(v, zero):
            return int(v + zero) % 256

        for target in ("ttnn", "ttnn@ieee", "core"):
            self.quantize("uint8", 3, composite, {}, {"zps": 3}, [], "zero_point as a tensor, as target ttnn", target)
        self.quantize("uint8", 0, composite, {}, {}, [], "zero_point as a tensor, as target ttnn")

    def test_a_tensor_takes_the_path_of_a_number(self):
        def fused(v, zero):
            rounded = int(v + zero + (0.5 if v + zero >= 0 else -0.5))
            return min(max(rounded, -127), 127)

        self.quantize("int32", 5, fused, {"zero_point": "z"}, {}, [constant("z", "int32", [1], [5])],
                      "zero_point as a number, as target ttnn")  # fmt: skip


class Attributes(Mistakes):
    """Other attributes, and inputs that are left out."""

    WEIGHTS = [[1, -2, 3], [4, 5, -6]]

    def convolve(self, x, size, before, after, strides, weights, bias=0):
        """One channel, integers in floats, so that every order of sums gives the same bits."""
        made = []
        counts = [(size[d] + before[d] + after[d] - (2, 3)[d]) // strides[d] + 1 for d in (0, 1)]
        for row in range(counts[0]):
            for column in range(counts[1]):
                total = bias
                for i in range(2):
                    for k in range(3):
                        r, c = row * strides[0] + i - before[0], column * strides[1] + k - before[1]
                        if 0 <= r < size[0] and 0 <= c < size[1]:
                            total += weights[i][k] * x[r * size[1] + c]
                made.append(float(total))
        return made, counts

    def assert_convolution(self, wrong, cause, detail, pads=((1, 0), (0, 2)), size=(6, 6)):
        """`wrong`: other arguments of convolve."""
        random.seed(13)
        x = [float(random.randrange(-50, 50)) for _ in range(size[0] * size[1])]
        right = {"before": pads[0], "after": pads[1], "strides": (1, 1), "weights": self.WEIGHTS, "bias": 7}
        made, counts = self.convolve(x, size, **{**right, **wrong})
        node = {"op": "Convolution", "name": "q", "inputs": {"x": "x", "weights": "w", "bias": "b"},
                "attrs": {"strides": [1, 1], "dilations": [1, 1], "pads_begin": list(pads[0]), "pads_end": list(pads[1]),
                          "data_format": "NCX", "weights_format": "OIX"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("float32", [1, 1, *size], x)}, tensor("float32", [1, 1, *counts], made),
                             [constant("w", "float32", [1, 1, 2, 3], sum(self.WEIGHTS, [])), constant("b", "float32", [1], [7])])  # fmt: skip
        self.assert_cause(found, cause, detail)

    def test_pads_are_exchanged(self):
        self.assert_convolution({"before": (0, 2), "after": (1, 0)}, "wrong-attribute", "pads_begin and pads_end exchanged")
        self.assert_convolution({"before": (0, 1), "after": (1, 1)}, "wrong-attribute", "equal pads on both sides")

    def test_a_window_of_other_dims(self):
        random.seed(17)
        x = [float(random.randrange(-64, 64)) for _ in range(25)]
        made = [max(x[5 * (row + i) + column + k] for i in range(2) for k in range(3)) for row in (0, 2) for column in (0, 2)]
        node = {"op": "MaxPool", "name": "q", "inputs": {"x": "x"},
                "attrs": {"kernel": [3, 2], "strides": [2, 2], "data_format": "NCX"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("float32", [1, 1, 5, 5], x)}, tensor("float32", [1, 1, 2, 2], made))
        self.assert_cause(found, "wrong-attribute", "kernel in reverse order")

    def test_the_bias_is_left_out(self):
        self.assert_convolution({"bias": 0}, "dropped-input", "no bias")

    def test_weights_are_flipped(self):
        flipped = [row[::-1] for row in self.WEIGHTS[::-1]]
        self.assert_convolution({"weights": flipped}, "wrong-layout", "weights flipped in their spatial dims")

    def test_a_mean_counts_its_border(self):
        random.seed(14)
        x = [float(random.randrange(-64, 64)) for _ in range(16)]
        made = []
        for row in range(3):
            for column in range(3):
                inside = [x[4 * r + c] for r in (2 * row - 1, 2 * row) for c in (2 * column - 1, 2 * column)
                          if 0 <= r < 4 and 0 <= c < 4]  # fmt: skip
                made.append(sum(inside) / 4)
        node = {"op": "AvgPool", "name": "q", "inputs": {"x": "x"},
                "attrs": {"kernel": [2, 2], "strides": [2, 2], "pads_begin": [1, 1], "pads_end": [1, 1], "data_format": "NCX",
                          "exclude_pad": True}}  # fmt: skip
        found = self.explain([node], {"x": tensor("float32", [1, 1, 4, 4], x)}, tensor("float32", [1, 1, 3, 3], made))
        self.assert_cause(found, "wrong-attribute", "exclude_pad false")

    def test_positions_of_a_resize(self):
        x = [3.0, 11.0, -8.0, 40.0]
        made = [x[math.floor(i * 3 / 10 + 0.5)] for i in range(11)]
        node = {"op": "Interpolate", "name": "q", "inputs": {"x": "x"},
                "attrs": {"mode": "nearest", "sizes": [11], "data_format": "NCX"}}  # fmt: skip
        found = self.explain([node], {"x": tensor("float32", [1, 1, 4], x)}, tensor("float32", [1, 1, 11], made))
        self.assert_cause(found, "wrong-attribute", "coordinate_transformation_mode align_corners")

    def test_a_slope(self):
        x = [-8.0, -1.0, 4.0, -16.0]
        node = {"op": "LeakyReLU", "name": "q", "inputs": {"x": "x"}, "attrs": {"alpha": 0.25}}
        found = self.explain([node], {"x": tensor("float32", [4], x)}, tensor("float32", [4], [max(one, one / 2) for one in x]))
        self.assert_cause(found, "wrong-attribute", "alpha 0.5")


class Layouts(Mistakes):
    """Elements in another order."""

    def product(self, b, detail, shape=(6, 4)):
        """`b`: the index in b of element [k, j]."""
        random.seed(15)
        inner, columns = shape
        a = [random.randrange(-128, 128) for _ in range(3 * inner)]
        codes = [random.randrange(-128, 128) for _ in range(inner * columns)]
        made = [sum(a[i * inner + k] * codes[b(k, j)] for k in range(inner)) for i in range(3) for j in range(columns)]
        node = {"op": "MatMulInteger", "name": "q", "inputs": {"a": "a", "b": "b"}, "attrs": {}}
        found = self.explain([node], {"a": tensor("int8", [3, inner], a)}, tensor("int32", [3, columns], made),
                             [constant("b", "int8", [inner, columns], codes)])  # fmt: skip
        self.assert_cause(found, "wrong-layout", detail)

    def test_a_weight_is_read_by_columns(self):
        self.product(lambda k, j: j * 6 + k, "b with exchanged last dims")
        self.product(lambda k, j: j * 5 + k, "b with exchanged last dims", (5, 5))

    def test_channels_are_last_in_the_result(self):
        random.seed(16)
        x = [random.randrange(-60, 60) / 4 for _ in range(2 * 3 * 4 * 5)]
        codes = [clamp(round(one * 8) + 3) for one in x]
        made = [codes[((n * 3 + c) * 4 + h) * 5 + w] for n in range(2) for h in range(4) for w in range(5) for c in range(3)]
        node = {"op": "Quantize", "name": "q", "inputs": {"x": "x"}, "attrs": {"scales": 0.125, "zps": 3, "dtype": "int8"}}
        found = self.explain([node], {"x": tensor("float32", [2, 3, 4, 5], x)}, tensor("int8", [2, 3, 4, 5], made))
        self.assert_cause(found, "wrong-layout", "as NHWC")


class CodeFormats(Mistakes):
    """Codes that are read or written in another format."""

    def dequantize(self, dtype, read, detail, zero=3):
        random.seed(18)
        low, high = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15)}[dtype]
        x = [random.randrange(low, high + 1) for _ in range(48)]
        made = [f32((one - zero) * 0.125) for one in read(x)]
        node = {"op": "Dequantize", "name": "q", "inputs": {"x": "x"}, "attrs": {"scales": 0.125, "zps": zero, "dtype": "float32"}}
        self.write("g.json", graph([node], [], constants=[constant("x", dtype, [48], x)], target="core"))
        self.write("y.npy", npy_bytes("<f4", [48], tensor("float32", [48], made).data))
        found = json.loads(self.qdq("explain", "g.json", "--got", "y.npy", "--json", code=1).out)
        self.assert_cause(found, "code-format", detail)

    def test_the_sign_is_read_otherwise(self):
        self.dequantize("int8", lambda x: [one % 256 for one in x], "x read as uint8")
        self.dequantize("uint8", lambda x: [wrap(one) for one in x], "x read as int8")
        self.dequantize("int4", lambda x: [one % 16 for one in x], "x read as uint4")

    def test_codes_of_int8_become_uint8(self):
        """Weights without a zero point that a converter makes unsigned lose their negative codes."""
        self.dequantize("int8", lambda x: [max(one, 0) for one in x], "x with negative codes as 0", zero=0)

    def test_offset_codes(self):
        self.dequantize("int8", lambda x: [wrap(one + 128) for one in x], "x with the top bit flipped")

    def test_sign_and_magnitude(self):
        self.dequantize("int8", lambda x: [one if one >= 0 else -(one % 128) for one in x], "x as sign and magnitude")

    def test_codes_of_four_bits_are_exchanged(self):
        for dtype in ("int4", "uint4"):
            self.dequantize(dtype, lambda x: [x[i ^ 1] for i in range(len(x))], "x with the codes of each byte in reverse order")

    def quantize(self, written, detail):
        random.seed(19)
        x = [random.randrange(-900, 900) / 16 for _ in range(60)]
        made = written([round(one * 4) - 7 for one in x])
        node = {"op": "Quantize", "name": "q", "inputs": {"x": "x"}, "attrs": {"scales": 0.25, "zps": -7, "dtype": "int8"}}
        found = self.explain([node], {"x": tensor("float32", [60], x)}, tensor("int8", [60], made))
        self.assert_cause(found, "code-format", detail)

    def test_a_result_of_the_other_sign(self):
        self.quantize(lambda codes: [wrap(clamp(one, "uint8")) for one in codes], "the bits of uint8")
        self.quantize(lambda codes: [wrap(clamp(one) + 128) for one in codes], "the result with the top bit flipped")

    def test_a_product_reads_a_side_with_the_other_sign(self):
        random.seed(20)
        a, b = ([random.randrange(*RANGES[dtype]) for _ in range(24)] for dtype in ("uint8", "int8"))
        made = [sum((wrap(a[i * 8 + k]) - 5) * b[k * 3 + j] for k in range(8)) for i in range(3) for j in range(3)]
        node = {"op": "MatMulInteger", "name": "q", "inputs": {"a": "a", "b": "b", "a_zero_point": "z"}, "attrs": {}}
        found = self.explain([node], {"a": tensor("uint8", [3, 8], a), "b": tensor("int8", [8, 3], b)},
                             tensor("int32", [3, 3], made), [constant("z", "uint8", [], [5])])  # fmt: skip
        self.assert_cause(found, "code-format", "a read as int8")


def fixed(factor):
    """A multiplier of 31 bits and an exponent."""
    part, exponent = math.frexp(factor)
    multiplier = math.floor(part * 2 ** 31 + 0.5)
    return (2 ** 30, exponent + 1) if multiplier == 2 ** 31 else (multiplier, exponent)


def rounded_twice(total, factor):
    """LiteRT's reference: the upper half of twice the product, rounded, then a shift that rounds half away."""
    multiplier, exponent = fixed(factor)
    product = total * 2 ** max(exponent, 0) * multiplier
    high = int((product + (2 ** 30 if product >= 0 else 1 - 2 ** 30)) / 2 ** 31)
    right = max(-exponent, 0)
    half = 2 ** (right - 1) if right else 0
    return (high + half) // 2 ** right if high >= 0 else -((-high + half) // 2 ** right)


def rounded_once(total, factor):
    multiplier, exponent = fixed(factor)
    return (total * multiplier + 2 ** (30 - exponent)) // 2 ** (31 - exponent)


def shifted(total, factor):
    return math.floor(total * 2.0 ** round(math.log2(factor)) + 0.5)


class FixedPoint(Mistakes):
    """Sums of integer products that a device brings to codes in fixed point. Factors near 0.3 make two roundings differ
    from one in a quarter of the sums."""

    RULES = ((rounded_twice, "rounded twice"), (shifted, "a shift in place of the factor"))

    def test_one_rounding_is_told_beside_half_away(self):
        """With a factor just above 0.3, ties of 0.3 go up, as with other scales."""
        random.seed(25)
        a, b = ([random.randrange(-12, 12) for _ in range(rows * 6)] for rows in (40, 8))
        constants, ports = self.parameters("aby", (0.5, f32(0.3), 0.5), (2, 0, 7))
        node = {"op": "QLinearMatMul", "name": "q", "inputs": {"a": "a", "b": "b", **ports}, "attrs": {}}
        made = [clamp(rounded_once(sum((a[i * 6 + k] - 2) * b[k * 8 + j] for k in range(6)), f32(0.3)) + 7)
                for i in range(40) for j in range(8)]  # fmt: skip
        found = self.explain([node], {"a": tensor("int8", [40, 6], a)}, tensor("int8", [40, 8], made),
                             [constant("b", "int8", [6, 8], b), *constants])  # fmt: skip
        self.assertIn(("fixed point", "a multiplier of 31 bits, rounded once", 1),
                      [(one["cause"], one["detail"], one["changes"]) for one in found["candidates"]])  # fmt: skip

    def test_a_requantize(self):
        random.seed(21)
        x = [random.randrange(-300, 300) for _ in range(400)]
        node = {"op": "Requantize", "name": "q", "inputs": {"x": "x"},
                "attrs": {"in_scales": 0.15, "in_zps": 4, "out_scales": 0.5, "out_zps": -9, "dtype": "int8"}}  # fmt: skip
        for rule, detail in self.RULES:
            made = [clamp(rule(one - 4, f32(0.15) / 0.5) - 9) for one in x]
            found = self.explain([node], {"x": tensor("int32", [400], x)}, tensor("int8", [400], made))
            self.assert_cause(found, "fixed point", detail)

    def test_a_requantize_of_channels(self):
        random.seed(22)
        x = [random.randrange(-300, 300) for _ in range(3 * 200)]
        scales = [0.15, 0.13, 0.17]
        node = {"op": "Requantize", "name": "q", "inputs": {"x": "x"},
                "attrs": {"in_scales": scales, "out_scales": 0.5, "out_zps": 2, "axis": 0, "dtype": "int8"}}  # fmt: skip
        made = [clamp(rounded_twice(one, f32(scales[i // 200]) / 0.5) + 2) for i, one in enumerate(x)]
        found = self.explain([node], {"x": tensor("int32", [3, 200], x)}, tensor("int8", [3, 200], made))
        self.assert_cause(found, "fixed point", "rounded twice")

    def parameters(self, sides, scales, zeros):
        made, ports = [], {}
        for side, scale, zero in zip(sides, scales, zeros):
            made += [constant(f"{side}s", "float32", [], [scale]), constant(f"{side}z", "int8", [], [zero])]
            ports |= {f"{side}_scale": f"{side}s", f"{side}_zero_point": f"{side}z"}
        return made, ports

    def test_a_product_of_codes(self):
        random.seed(23)
        a, b = ([random.randrange(-12, 12) for _ in range(rows * 6)] for rows in (40, 8))
        constants, ports = self.parameters("aby", (0.5, f32(0.3), 0.5), (2, 0, 7))
        node = {"op": "QLinearMatMul", "name": "q", "inputs": {"a": "a", "b": "b", **ports}, "attrs": {}}
        made = [clamp(rounded_twice(sum((a[i * 6 + k] - 2) * b[k * 8 + j] for k in range(6)), f32(0.3)) + 7)
                for i in range(40) for j in range(8)]  # fmt: skip
        found = self.explain([node], {"a": tensor("int8", [40, 6], a)}, tensor("int8", [40, 8], made),
                             [constant("b", "int8", [6, 8], b), *constants])  # fmt: skip
        self.assert_cause(found, "fixed point", "rounded twice")

    def test_a_convolution_of_codes_with_a_bias(self):
        random.seed(24)
        x, w = ([random.randrange(-15, 15) for _ in range(count)] for count in (2 * 256, 3 * 2 * 9))
        bias = [40, -25, 3]
        constants, ports = self.parameters("xwy", (0.5, f32(0.15), 0.25), (1, 0, -5))
        node = {"op": "QLinearConv", "name": "q", "inputs": {"x": "x", "w": "w", "bias": "b", **ports}, "attrs": {}}
        for rule, detail in self.RULES:
            made = [clamp(rule(bias[o] + sum((x[c * 256 + (r + i) * 16 + s + k] - 1) * w[((o * 2 + c) * 3 + i) * 3 + k]
                                             for c in range(2) for i in range(3) for k in range(3)), f32(0.15) * 2) - 5)
                    for o in range(3) for r in range(14) for s in range(14)]  # fmt: skip
            found = self.explain([node], {"x": tensor("int8", [1, 2, 16, 16], x)}, tensor("int8", [1, 3, 14, 14], made),
                                 [constant("w", "int8", [3, 2, 3, 3], w), constant("b", "int32", [3], bias), *constants])  # fmt: skip
            self.assert_cause(found, "fixed point", detail)


class Nodes(Mistakes):
    """Mistakes of two nodes, and parameters of nodes around the one at fault."""

    def layer(self, zeros, bias_scale, detail, cause="wrong-zero-point", node=None, given=False):
        """A quantized layer by Dequantize, MatMul, Add and Quantize; the device has other zero points or another bias."""
        random.seed(26)
        rows, inner, columns = 4, 6, 5
        x, w, b = ([random.randrange(low, high) for _ in range(count)]
                   for low, high, count in ((0, 256, rows * inner), (0, 256, inner * columns), (-900, 900, columns)))  # fmt: skip
        scales = {"x": 2.0 ** -4, "w": 2.0 ** -7 * 1.25, "b": 2.0 ** -11 * 1.25}
        biases = [one * bias_scale(scales) for one in b]
        sums = [sum((x[i * inner + k] - zeros[0]) * (w[k * columns + j] - zeros[1]) for k in range(inner)) *
                scales["b"] + biases[j] for i in range(rows) for j in range(columns)]  # fmt: skip
        made = [min(max(round(one / 0.75) + zeros[2], 0), 255) for one in sums]
        right = {"x": 120, "w": 131, "b": 0}
        nodes = [{"op": "Dequantize", "name": f"d{name}", "inputs": {"x": name},
                  "attrs": {"scales": scales[name], "zps": right[name], "dtype": "float32"}} for name in "xwb"]  # fmt: skip
        nodes += [{"op": "MatMul", "name": "m", "inputs": {"a": "dx", "b": "dw"}},
                  {"op": "Add", "name": "s", "inputs": {"a": "m", "b": "db"}},
                  {"op": "Quantize", "name": "q", "inputs": {"x": "s"}, "attrs": {"scales": 0.75, "zps": 77, "dtype": "uint8"}}]  # fmt: skip
        found = self.explain(nodes, {"x": tensor("uint8", [rows, inner], x)}, tensor("uint8", [rows, columns], made),
                             [constant("w", "uint8", [inner, columns], w), constant("b", "int32", [columns], b)])  # fmt: skip
        self.assert_cause(found, cause, detail, node)

    def test_both_operands_lose_their_zero_points(self):
        self.layer((0, 0, 77), lambda s: s["b"], "no zero points of 'dx' and 'dw'", node="dx")

    def test_an_operand_and_the_result_lose_their_zero_points(self):
        self.layer((0, 131, 0), lambda s: s["b"], "no zero points of 'dx' and 'q'", node="dx")

    def test_a_bias_has_the_scale_of_one_operand(self):
        self.layer((120, 131, 77), lambda s: s["w"], "", "wrong-scale", node="db")
        self.layer((120, 131, 77), lambda s: s["x"], "", "wrong-scale", node="db")
        self.layer((120, 131, 77), lambda s: 1, "scale 1", "wrong-scale", node="db")

    def test_a_scale_is_squared(self):
        random.seed(27)
        x = [random.randrange(-128, 128) for _ in range(32)]
        node = {"op": "Dequantize", "name": "q", "inputs": {"x": "x"}, "attrs": {"scales": 2.0 ** -6, "zps": 3, "dtype": "float32"}}
        for scale, detail in (2.0 ** -12, "scale squared"), (0.125, "square root of the scale"):
            found = self.explain([node], {"x": tensor("int8", [32], x)}, tensor("float32", [32], [(one - 3) * scale for one in x]))
            self.assert_cause(found, "wrong-scale", detail)


class Ops(Mistakes):
    """Nodes that are left out or computed by another op."""

    def node(self, op, ports, wrong, cause, detail, **attrs):
        random.seed(28)
        inputs = {name: [random.randrange(-40, 40) / 8 for _ in range(24)] for name in ports}
        made = [float(wrong(*row)) for row in zip(*inputs.values())]
        found = self.explain([{"op": op, "name": "q", "inputs": {name: name for name in ports}, "attrs": attrs}],
                             {name: tensor("float32", [24], one) for name, one in inputs.items()}, tensor("float32", [24], made))
        self.assert_cause(found, cause, detail)

    def test_a_node_is_left_out(self):
        self.node("ReLU", "x", lambda x: x, "skipped-node", "the result is x")
        self.node("Add", "ab", lambda a, b: b, "skipped-node", "the result is b")

    def test_another_op(self):
        self.node("Add", "ab", lambda a, b: a - b, "wrong-op", "as Subtract")
        self.node("ReLU", "x", abs, "wrong-op", "as Abs")

    def test_another_bound(self):
        self.node("Clamp", "x", lambda x: min(max(x, 0), 2), "wrong-attribute", "max 2", min=0, max=1.5)
        self.node("Clamp", "x", lambda x: min(max(x, -1), 1.5), "wrong-attribute", "min -1", min=0, max=1.5)

    def test_another_term(self):
        x = [-4.0, 2.0, 0.0, 8.0]
        node = {"op": "HardSigmoid", "name": "q", "inputs": {"x": "x"}, "attrs": {"alpha": 0.125, "beta": 0.25}}
        made = [min(max(0.125 * one, 0), 1) for one in x]
        found = self.explain([node], {"x": tensor("float32", [4], x)}, tensor("float32", [4], made))
        self.assert_cause(found, "wrong-attribute", "beta 0")


if __name__ == "__main__":
    main()
