#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models: quantizing, windows and products give the numbers of their definitions, and what graphs cannot say
is refused."""

import itertools
import json
import math

import harness
from harness import main
from tflite_case import SCALE, ZERO, Tflite, code, numbers, reals, x_tensor
from tflite_file import Op, Tensor, i8, i32, model


# ---- The target ----


class Targets(Tflite):
    def test_a_model_belongs_to_litert(self):
        """Halves tell the engines apart; the codes are those of ai-edge-litert 2.3.0 and tflite-micro."""
        tensors = [Tensor(name, "int8", [4], scale=scale, zero_point=0) for name, scale in (("x", 0.5), ("y", 1.0))]
        tensors.insert(1, Tensor("zero", "int8", [1], [0], scale=0.5, zero_point=0))
        content = model(tensors, [Op("ADD", ["x", "zero"], ["y"])], ["x"], ["y"])
        x = harness.tensor("int8", [4], [1, -1, 3, -3])
        for target, want in ((None, [1, 0, 2, -1]), ("litert@reference", [1, -1, 2, -2]), ("tflm", [1, -1, 2, -2]), ("core", [0, 0, 2, -2])):
            with self.subTest(target=target):
                self.assertEqual(self.run_model(content, target, x=x)["y"], want)
        self.assertIn("m.tflite for litert: 0 errors", self.qdq("check", "m.tflite").out)
        self.assertEqual(self.converted(content)["target"], "litert")


# ---- Quantizing ----


class Quantizing(Tflite):
    def test_quantize_and_dequantize(self):
        x = [0.3, -1.0, 100, -100, 0.75]
        content = model([Tensor("x", "float32", [5]), Tensor("q", "uint8", [5], scale=SCALE, zero_point=100),
                         Tensor("y", "float32", [5])], [Op("QUANTIZE", ["x"], ["q"]), Op("DEQUANTIZE", ["q"], ["y"])], ["x"], ["q", "y"])
        found = self.run_model(content, x=harness.tensor("float32", [5], x))
        want = [code(one, zero=100, least=0, greatest=255) for one in x]
        self.assertEqual(found, {"q": want, "y": reals(want, zero=100)})

    def test_codes_to_other_codes_are_one_node(self):
        y = Tensor("y", "int16", [4], scale=SCALE / 4, zero_point=0)
        codes, found = self.run_op("QUANTIZE", [4], [4], codes=[-128, 0, 3, 127], out=y)
        self.assertEqual(found, [4 * (c - ZERO) for c in codes])
        made = self.converted((self.folder / "m.tflite").read_bytes())["nodes"]
        self.assertEqual([(one["op"], one["name"]) for one in made], [("Requantize", "y")])
        self.assertEqual(made[0]["attrs"], {"in_scales": SCALE, "in_zps": ZERO, "out_scales": SCALE / 4, "dtype": "int16"})

    def test_several_scales(self):
        content = model([Tensor("x", "float32", [2, 3]), Tensor("q", "int8", [2, 3], scale=[1.0, 2.0, 0.5], zero_point=[0, 1, 2], axis=1),
                         Tensor("y", "float32", [2, 3])], [Op("QUANTIZE", ["x"], ["q"]), Op("DEQUANTIZE", ["q"], ["y"])], ["x"], ["q", "y"])
        found = self.run_model(content, x=harness.tensor("float32", [2, 3], [1, 2, 3, -4, -8, -16]))
        self.assertEqual(found, {"q": [1, 2, 8, -4, -3, -30], "y": [1, 2, 3, -4, -8, -16]})

    def test_float16(self):
        content = model([Tensor("h", "float16", [3], [1.5, -2, 0.25]), Tensor("y", "float32", [3])], [Op("DEQUANTIZE", ["h"], ["y"])], [], ["y"])
        self.assertEqual(self.run_model(content)["y"], [1.5, -2, 0.25])
        self.assertIn("bits: 0 of 1 node exact, 1 read\n", self.qdq("check", "m.tflite").out)

    def test_refusals(self):
        x, plain = Tensor("x", "float32", [2]), Tensor("y", "int8", [2])
        self.assert_refusal(model([x, plain], [Op("QUANTIZE", ["x"], ["y"])], ["x"], ["y"]),
                            "node 'y': QUANTIZE: makes a tensor without a scale; docs/tflite.md lists what is read")
        self.assert_refusal(model([x, Tensor("y", "float32", [2])], [Op("DEQUANTIZE", ["x"], ["y"])], ["x"], ["y"]),
                            "node 'y': DEQUANTIZE: reads a tensor without a scale")
        several = Tensor("y", "int8", [2], scale=[1.0, 2.0], zero_point=[0, 0])
        self.assert_refusal(model([x_tensor([2]), several], [Op("QUANTIZE", ["x"], ["y"])], ["x"], ["y"]),
                            "node 'y': QUANTIZE: converts codes with several scales, wanted one scale")


# ---- Windows ----


def same_padding(size, kernel, stride, dilation):
    out = -(-size // stride)
    total = max((out - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, out


def padding(valid, size, kernel, stride, dilation):
    """How many rows or columns are before the first, and how many windows there are."""
    if valid:
        return 0, (size - (kernel - 1) * dilation - 1) // stride + 1
    return same_padding(size, kernel, stride, dilation)


def window(y, x, size, kernel, strides, dilations, before):
    """The positions that a window covers in an image, and the places of the kernel over them."""
    for ky, kx in itertools.product(range(kernel[0]), range(kernel[1])):
        row, column = y * strides[0] + ky * dilations[0] - before[0], x * strides[1] + kx * dilations[1] - before[1]
        if 0 <= row < size[0] and 0 <= column < size[1]:
            yield row, column, ky, kx


def convolution(x, shape, weight, kernel, outputs, each, bias, strides, dilations, valid):
    """Real sums of x [1, H, W, C] times weight(o, ky, kx, channel within its group)."""
    _, height, width, channels = shape
    (top, rows), (left, columns) = (padding(valid, *one) for one in zip((height, width), kernel, strides, dilations))
    out = []
    for y, column, o in itertools.product(range(rows), range(columns), range(outputs)):
        first = o // (outputs // (channels // each)) * each
        total = bias[o]
        for r, c, ky, kx in window(y, column, (height, width), kernel, strides, dilations, (top, left)):
            total += sum(x[(r * width + c) * channels + first + i] * weight(o, ky, kx, i) for i in range(each))
        out.append(total)
    return out, [1, rows, columns, outputs]


def window_options(slots, valid, strides, dilations=None, activation=0, **more):
    """Options of an operator whose slots are: padding, strides, activation, dilations."""
    out = {0: i8(int(valid)), 1: i32(strides[1]), 2: i32(strides[0]), slots[0]: i8(activation)}
    if dilations:
        out.update({slots[1]: i32(dilations[1]), slots[1] + 1: i32(dilations[0])})
    return {**out, **{int(slot[1:]): value for slot, value in more.items()}}


class Convolutions(Tflite):
    SHAPE = [1, 5, 6, 4]

    def check_conv(self, op, w_shape, outputs, each, strides, dilations, valid, activation=0, scales=None, bias_scale=True):
        """Runs a convolution whose weights [., kh, kw, .] have a scale for each output, or one."""
        kernel, depthwise = w_shape[1:3], op == "DEPTHWISE_CONV_2D"
        w = numbers(math.prod(w_shape), 3, -7, 7)
        scales = scales or [2.0 ** -(o % 3) for o in range(outputs)]
        bias = numbers(outputs, 5, -50, 50)
        at = (lambda o, ky, kx, i: (ky * kernel[1] + kx) * outputs + o) if depthwise else (
            lambda o, ky, kx, i: ((o * kernel[0] + ky) * kernel[1] + kx) * each + i)
        scale = lambda o: scales[o if len(scales) > 1 else 0]
        weight = lambda *place: w[at(*place)] * scale(place[0])
        more = [Tensor("w", "int8", w_shape, w, scales, [0] * len(scales), 3 if depthwise else 0),
                Tensor("b", "int32", [outputs], bias, [SCALE * one for one in scales] if bias_scale else None)]
        options = window_options((4, 5) if depthwise else (3, 4), valid, strides, dilations, activation, **({"_3": i32(1)} if depthwise else {}))
        x = numbers(math.prod(self.SHAPE), 7)
        want, shape = convolution(reals(x), self.SHAPE, weight, kernel, outputs, each,
                                  [b * SCALE * scale(o) for o, b in enumerate(bias)], strides, dilations, valid)
        out = Tensor("y", "int8", shape, scale=16.0, zero_point=-5)
        bounds = {0: (-math.inf, math.inf), 1: (0, math.inf), 2: (-1, 1), 3: (0, 6)}[activation]
        want = [code(min(max(one, bounds[0]), bounds[1]), 16.0, -5) for one in want]
        self.assertEqual(self.run_op(op, self.SHAPE, shape, options, more, x, out)[1], want)

    def test_conv(self):
        for strides, dilations, valid in (([1, 1], [1, 1], True), ([2, 1], [1, 1], False), ([1, 2], [2, 1], False), ([3, 3], [1, 2], True)):
            self.check_conv("CONV_2D", [3, 2, 3, 4], 3, 4, strides, dilations, valid)

    def test_conv_of_groups_and_activations(self):
        for activation in range(4):
            self.check_conv("CONV_2D", [4, 3, 2, 2], 4, 2, [1, 1], [1, 1], False, activation)
        self.check_conv("CONV_2D", [4, 1, 1, 4], 4, 4, [1, 1], [1, 1], True, scales=[0.5])

    def test_depthwise(self):
        for outputs, strides, valid in ((4, [1, 1], True), (8, [2, 2], False)):
            self.check_conv("DEPTHWISE_CONV_2D", [1, 3, 3, outputs], outputs, 1, strides, [1, 1], valid)

    def test_transposed(self):
        """Each element of x is added, times weights, to the window that it comes from in a convolution of y."""
        shape, kernel = [1, 3, 4, 2], (3, 2)
        x, w, bias = numbers(24, 31), numbers(3 * 3 * 2 * 2, 33, -7, 7), [10, -20, 30]
        scales = [1.0, 0.5, 0.25]
        for strides, valid, height, width in (((2, 3), True, 7, 11), ((2, 3), True, 8, 13), ((2, 3), False, 6, 12), ((2, 3), False, 5, 10), ((1, 1), False, 3, 4)):
            sums = [bias[o] * SCALE * scales[o] for _ in range(height * width) for o in range(3)]
            top, left = (0 if valid else same_padding(size, k, stride, 1)[0] for size, k, stride in zip((height, width), kernel, strides))
            for r, c, o, ky, kx, i in itertools.product(range(3), range(4), range(3), range(3), range(2), range(2)):
                row, column = r * strides[0] + ky - top, c * strides[1] + kx - left
                if 0 <= row < height and 0 <= column < width:
                    sums[(row * width + column) * 3 + o] += reals(x)[(r * 4 + c) * 2 + i] * w[((o * 3 + ky) * 2 + kx) * 2 + i] * scales[o]
            tensors = [Tensor("shape", "int32", [4], [1, height, width, 3]), Tensor("w", "int8", [3, 3, 2, 2], w, scales, [0] * 3), x_tensor(shape),
                       Tensor("b", "int32", [3], bias, [SCALE * one for one in scales]), Tensor("y", "int8", [1, height, width, 3], scale=16.0, zero_point=-5)]
            options = window_options((3,), valid, strides)
            content = model(tensors, [Op("TRANSPOSE_CONV", ["shape", "w", "x", "b"], ["y"], options)], ["x"], ["y"])
            found = self.run_model(content, x=harness.tensor("int8", shape, x))["y"]
            self.assertEqual(found, [code(one, 16.0, -5) for one in sums], (strides, valid, height))
        tensors[0].data = [1, 9, 4, 3]
        self.assert_refusal(model(tensors, [Op("TRANSPOSE_CONV", ["shape", "w", "x", "b"], ["y"], options)], ["x"], ["y"]),
                            "node 'y': TRANSPOSE_CONV: output_shape has 9, wanted 3 to 3")

    def test_a_filter_of_uint8_keeps_the_axis_of_its_scale(self):
        """XNNPACK takes such a filter only if the axis is 0; the built-in kernels run the others."""
        for axis, engine in ((0, "XNNPACK"), (3, "builtin")):
            bias = Tensor("b", "int32", [2], [5, -7], 0.125, 0)
            tensors = [Tensor("x", "uint8", [1, 3, 3, 2], scale=0.25, zero_point=3), Tensor("w", "uint8", [1, 1, 1, 2], [9, 200], 0.5, 7, axis), bias,
                       Tensor("y", "uint8", [1, 3, 3, 2], scale=1.0, zero_point=5)]
            content = model(tensors, [Op("DEPTHWISE_CONV_2D", ["x", "w", "b"], ["y"], window_options((4, 5), True, [1, 1], **{"_3": i32(1)}))], ["x"], ["y"])
            self.write("m.tflite", content)
            self.qdq("convert", "m.tflite", "-o", "g.json")
            self.qdq("convert", "g.json", "-o", "again.tflite")
            for name in ("m.tflite", "g.json", "again.tflite"):
                self.assertIn(f"y: {engine} DEPTHWISE_CONV_2D", self.qdq("plan", name, "--target", "litert").out, (name, axis))

    def test_a_bias_without_scale_has_the_product_of_scales(self):
        self.check_conv("CONV_2D", [3, 1, 1, 4], 3, 4, [1, 1], [1, 1], True, bias_scale=False)

    def test_weights_are_turned_as_they_are_read(self):
        w = numbers(2 * 2 * 1 * 4, 3)
        content = model([x_tensor([1, 2, 1, 4]), Tensor("w", "int8", [2, 2, 1, 4], w, [1.0, 2.0], [0, 0]), x_tensor([1, 1, 1, 2], "y")],
                        [Op("CONV_2D", ["x", "w"], ["y"], window_options((3, 4), True, [1, 1]))], ["x"], ["y"])
        made = self.converted(content)
        self.assertEqual((made["constants"][0]["name"], made["constants"][0]["shape"]), ("w", [2, 4, 2, 1]))
        self.assertEqual(made["constants"][0]["data"], [w[(o * 2 + k) * 4 + i] for o in range(2) for i in range(4) for k in range(2)])
        nodes = {one["name"]: one for one in made["nodes"]}
        self.assertEqual([(one["op"], name) for name, one in nodes.items()],
                         [("Dequantize", "y/x"), ("Dequantize", "y/weights"), ("Convolution", "y/real"), ("Quantize", "y")])
        self.assertEqual(nodes["y/weights"]["attrs"], {"qtype": "per_channel", "axis": 0, "scales": [1.0, 2.0], "dtype": "float32"})
        self.assertEqual(nodes["y/real"]["attrs"]["weights_format"], "OIX")

    def test_float16_weights_are_turned_by_a_node(self):
        content = model([Tensor("x", "float32", [1, 1, 2, 1]), Tensor("h", "float16", [1, 1, 2, 1], [2.0, 3.0]), Tensor("w", "float32", [1, 1, 2, 1]),
                         Tensor("y", "float32", [1, 1, 1, 1])],
                        [Op("DEQUANTIZE", ["h"], ["w"]), Op("CONV_2D", ["x", "w"], ["y"], window_options((3, 4), True, [1, 1]))], ["x"], ["y"])
        self.assertEqual(self.run_model(content, x=harness.tensor("float32", [1, 1, 2, 1], [10, 1])), {"y": [23]})

    def test_refusals(self):
        def conv(options, w_shape=(1, 1, 1, 4), x_shape=(1, 2, 2, 4), **more):
            w = Tensor("w", "int8", list(w_shape), [1] * math.prod(w_shape), 1.0, **more)
            return model([x_tensor(list(x_shape)), w, x_tensor([1, 2, 2, 1], "y")], [Op("CONV_2D", ["x", "w"], ["y"], options)], ["x"], ["y"])

        fine = window_options((3, 4), True, [1, 1])
        for content, text in (
                (conv({**fine, 1: i32(0)}), "stride is 0, wanted 1 or more"), (conv({**fine, 4: i32(-1)}), "dilation is -1, wanted 1 or more"),
                (conv({**fine, 0: i8(2)}), "padding is 2, wanted 0 (SAME) or 1 (VALID)"), (conv({**fine, 3: i8(9)}), "activation is 9, wanted 0 to 4"),
                (conv(fine, w_shape=(1, 1, 1, 3)), "weights are [1, 1, 1, 3], wanted [outputs, rows, columns, channels / groups] for 4 channels"),
                (conv(fine, w_shape=(1, 1, 4)), "weights has 3 dims, wanted 4"), (conv(fine, x_shape=(2, 4)), "x has 2 dims, wanted 4")):
            self.assert_refusal(content, f"node 'y': CONV_2D: {text}; docs/tflite.md lists what is read")
        w = Tensor("w", "int8", [2, 1, 1, 4], [1] * 8, [1.0] * 4, [0] * 4, 3)
        self.assert_refusal(model([x_tensor([1, 2, 2, 4]), w, x_tensor([1, 2, 2, 2], "y")], [Op("CONV_2D", ["x", "w"], ["y"], fine)], ["x"], ["y"]),
                            "node 'y': CONV_2D: weights has scales along dim 3, wanted dim 0")


class Pools(Tflite):
    SHAPE = [1, 5, 4, 3]

    def check_pool(self, op, kernel, strides, valid, activation=0):
        _, height, width, channels = self.SHAPE
        (top, rows), (left, columns) = (padding(valid, *one, 1) for one in zip((height, width), kernel, strides))
        x = numbers(math.prod(self.SHAPE), 9)
        want = []
        for y, column, c in itertools.product(range(rows), range(columns), range(channels)):
            found = [x[(r * width + k) * channels + c] for r, k, _, _ in window(y, column, (height, width), kernel, strides, (1, 1), (top, left))]
            real = reals([max(found)])[0] if op == "MAX_POOL_2D" else sum(reals(found)) / len(found)
            want.append(code(min(max(real, 0), 6) if activation else real))
        options = window_options((5, None), valid, strides, None, activation, _3=i32(kernel[1]), _4=i32(kernel[0]))
        self.assertEqual(self.run_op(op, self.SHAPE, [1, rows, columns, channels], options, codes=x)[1], want)

    def test_pools(self):
        for op in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
            self.check_pool(op, (2, 2), (2, 2), True)
            self.check_pool(op, (4, 2), (2, 1), False)
            self.check_pool(op, (2, 4), (1, 3), False, 3)

    def test_max_pool_takes_codes(self):
        self.check_pool("MAX_POOL_2D", (2, 2), (2, 2), True)
        self.qdq("convert", "m.tflite", "-o", "g.json")
        self.assertEqual([one["op"] for one in json.loads((self.folder / "g.json").read_text())["nodes"]], ["MaxPool"])


# ---- Products ----


class FullyConnected(Tflite):
    def check(self, x_shape, w, outputs, y_shape, scales=(1.0,), bias=None, options=None, out=None, x=None):
        inputs = len(w) // outputs
        x = x or numbers(math.prod(x_shape), 7)
        scale = lambda o: scales[o if len(scales) > 1 else 0]
        more = [Tensor("w", "int8", [outputs, inputs], w, list(scales), [0] * len(scales))]
        if bias:
            more.append(Tensor("b", "int32", [outputs], bias, [SCALE * one for one in scales]))
        rows = reals(x)
        want = [code(scale(o) * (sum(rows[r * inputs + i] * w[o * inputs + i] for i in range(inputs)) + (bias[o] * SCALE if bias else 0)), 32.0, 0)
                for r in range(len(x) // inputs) for o in range(outputs)]
        out = Tensor("y", "int8", y_shape, scale=32.0, zero_point=0)
        self.assertEqual(self.run_op("FULLY_CONNECTED", x_shape, y_shape, options, more, x, out)[1], want)

    def test_rows(self):
        self.check([3, 4], numbers(8, 3), 2, [3, 2], (0.5, 2.0), [10, -20])
        self.check([2, 3, 4], numbers(8, 3), 2, [6, 2])
        self.check([2, 2, 3], numbers(8, 3), 2, [3, 2])
        self.check([2, 3, 4], numbers(8, 3), 2, [2, 3, 2], options={2: i8(1)})

    def test_int4_weights(self):
        w = [1, -8, 7, -1, 0, 3]
        content = model([x_tensor([1, 3]), Tensor("w", "int4", [2, 3], w, [1.0, 2.0], [0, 0]), Tensor("y", "int8", [1, 2], scale=1.0, zero_point=0)],
                        [Op("FULLY_CONNECTED", ["x", "w", -1], ["y"])], ["x"], ["y"])
        found = self.run_model(content, x=harness.tensor("int8", [1, 3], [7, 3, 11]))
        self.assertEqual(found["y"], [1 * 1 + 7 * 2, 2 * (-1 * 1 + 3 * 2)])

    def test_int4_of_an_odd_count(self):
        content = model([x_tensor([1, 3]), Tensor("w", "int4", [1, 3], [1, -8, 7], 1.0), Tensor("y", "int8", [1, 1], scale=1.0)],
                        [Op("FULLY_CONNECTED", ["x", "w"], ["y"])], ["x"], ["y"])
        self.assertEqual(self.run_model(content, x=harness.tensor("int8", [1, 3], [7, 3, 7]))["y"], [8])

    def test_int16_with_a_bias_of_int64(self):
        def content(bias):
            return model([Tensor("x", "int16", [1, 2], scale=0.5), Tensor("w", "int8", [1, 2], [3, -2], 1.0), Tensor("b", "int64", [1], [bias], 0.5),
                          Tensor("y", "int16", [1, 1], scale=0.5)], [Op("FULLY_CONNECTED", ["x", "w", "b"], ["y"])], ["x"], ["y"])

        found = self.run_model(content(-7), x=harness.tensor("int16", [1, 2], [1000, 300]))
        self.assertEqual(found["y"], [3000 - 600 - 7])
        nodes = self.converted(content(-7))["nodes"]
        self.assertEqual([one["op"] for one in nodes], ["Dequantize", "Dequantize", "Cast", "Dequantize", "MatMul", "Quantize"])
        self.assert_refusal(content(2**31), "node 'y': FULLY_CONNECTED: bias has sums beyond int32")

    def test_dynamic_range(self):
        def content(asymmetric):
            return model([Tensor("x", "float32", [2, 3]), Tensor("w", "int8", [1, 3], [1, 2, -3], 0.5), Tensor("b", "float32", [1], [10.0]),
                          Tensor("y", "float32", [2, 1])],
                         [Op("FULLY_CONNECTED", ["x", "w", "b"], ["y"], {3: i8(asymmetric)})], ["x"], ["y"])

        found = self.run_model(content(0), x=harness.tensor("float32", [2, 3], [127, -64, 0, 0.5, 63.5, 1]))
        self.assertEqual(found["y"], [10 + 0.5 * (127 - 128), 10 + 0.5 * (0.5 + 127 - 3)])
        for asymmetric, attrs in ((0, {"scheme": "symmetric", "quant_min": -127}), (1, {})):
            nodes = self.converted(content(asymmetric))["nodes"]
            self.assertEqual([(one["op"], one["name"]) for one in nodes],
                             [("DynamicQuantize", "y/codes"), ("Dequantize", "y/x"), ("Dequantize", "y/weights"), ("MatMul", "y")])
            made = nodes[0]["attrs"]
            self.assertEqual({key: made.get(key) for key in attrs}, attrs)
            self.assertEqual((made["qtype"], made["group_shape"], "scheme" in made), ("per_group", [1, -1], not asymmetric))

    def test_refusals(self):
        w = Tensor("w", "int8", [1, 3], [1, 1, 1], 1.0)
        for x_shape, options, text in (([1, 4], {}, "x is [1, 4], wanted rows of 3 elements"), ([2, 6], {2: i8(1)}, "x is [2, 6], wanted rows of 3 elements"),
                                       ([1, 3], {1: i8(1)}, "weights_format is 1, wanted 0")):
            content = model([x_tensor(x_shape), w, x_tensor([1, 1], "y")], [Op("FULLY_CONNECTED", ["x", "w"], ["y"], options)], ["x"], ["y"])
            self.assert_refusal(content, f"node 'y': FULLY_CONNECTED: {text}")
        content = model([x_tensor([1, 3]), w, Tensor("b", "int32", [1], [1]), Tensor("y", "float32", [1, 1])],
                        [Op("FULLY_CONNECTED", ["x", "w", "b"], ["y"])], ["x"], ["y"])
        self.assert_refusal(content, "node 'y': FULLY_CONNECTED: makes floats of codes, wanted both quantized, or none")


if __name__ == "__main__":
    main()
