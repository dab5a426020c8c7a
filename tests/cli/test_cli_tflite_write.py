#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq convert writes TensorFlow Lite models: the graph of a model that was written is the graph of the model that was read, and
the file has the form of the format."""

import json
import math

from harness import constant, graph, main, node, read_safetensors, unpack, value
from tflite_case import SCALE, ZERO, Tflite, numbers, x_tensor
from tflite_file import CODES, Op, Tensor, f32, i8, i32, ints, model, u8
from tflite_parts import Model

INT8 = {"scale": SCALE, "zero_point": ZERO}


def weights(name, shape, axis, dtype="int8"):
    """Weights with a scale for each index of an axis."""
    few = (-7, 7) if dtype == "int4" else (-127, 127)
    count = shape[axis]
    return Tensor(name, dtype, shape, numbers(math.prod(shape), 5, *few), [2.0**-(i % 3 + 3) for i in range(count)],
                  [0] * count, axis)


def bias(name, scales, dtype="int32", x_scale=SCALE):
    return Tensor(name, dtype, [len(scales)], [i * 10 - 7 for i in range(len(scales))], [x_scale * s for s in scales],
                  [0] * len(scales))


class Written(Tflite):
    def written(self, content):
        """Writes a model again, and returns its bytes."""
        self.write("m.tflite", content)
        self.qdq("convert", "m.tflite", "-o", "w.tflite")
        return (self.folder / "w.tflite").read_bytes()

    def assert_same(self, content, codes=None):
        """A model is written with the same graph, also by way of a graph file, and with operators of these codes."""
        written = Model(self.written(content))
        graphs = []
        for name in ("m", "w"):
            self.qdq("convert", f"{name}.tflite", "-o", "g.json")
            graphs.append(json.loads((self.folder / "g.json").read_text()))
        self.assertEqual(*graphs)
        self.qdq("convert", "g.json", "-o", "again.tflite")
        self.assertEqual((self.folder / "again.tflite").read_bytes(), (self.folder / "w.tflite").read_bytes())
        if codes:
            self.assertEqual([CODES[name] for name in codes], [one[0] for one in written.operators()])
        return written

    def assert_op(self, op, shape, out_shape, options=None, more=(), dtype="int8", **out):
        """One operator on codes keeps its graph and its code."""
        params = {**INT8, **out} if dtype == "int8" else {"scale": SCALE, "zero_point": 0, **out}
        x = Tensor("x", dtype, shape, scale=SCALE, zero_point=ZERO if dtype == "int8" else 0)
        y = Tensor("y", dtype, out_shape, **params)
        content = model([x, *more, y], [Op(op, ["x", *(one.name for one in more)], ["y"], options or {})], ["x"], ["y"])
        return self.assert_same(content, [op])


# ---- Operators ----


class Products(Written):
    def test_convolutions(self):
        for activation, padding, out, strides in ((0, 0, 3, (2, 2)), (1, 1, 4, (1, 1)), (3, 1, 2, (2, 1)), (2, 0, 6, (1, 1))):
            w = weights("w", [4, 3, 2, 2], 0)
            rows = 6 if padding == 0 else 4
            shape = [1, -(-rows // strides[1]), -(-(6 if padding == 0 else 5) // strides[0]), 4]
            found = self.assert_op("CONV_2D", [1, 6, 6, 2], shape,
                                   {0: i8(padding), 1: i32(strides[0]), 2: i32(strides[1]), 3: i8(activation), 4: i32(1), 5: i32(1)},
                                   [w, bias("b", w.scale)])
            self.assertEqual(found.elements("w", "b"), w.data)
            options = found.operators()[0][4]
            self.assertEqual([options.number(0, "b"), options.number(1), options.number(2), options.number(3, "b")],
                             [padding, *strides, activation])
            quantization = found.tensors["w"].table(4)
            self.assertEqual((quantization.numbers(2, "f"), quantization.numbers(3, "q"), quantization.number(6)),
                             (w.scale, w.zero_point, 0))

    def test_depthwise_convolutions(self):
        w = weights("w", [1, 2, 3, 6], 3)
        found = self.assert_op("DEPTHWISE_CONV_2D", [1, 5, 5, 3], [1, 4, 3, 6],
                               {0: i8(1), 1: i32(1), 2: i32(1), 3: i32(2), 5: i32(1), 6: i32(1)}, [w, bias("b", w.scale)])
        self.assertEqual(found.elements("w", "b"), w.data)
        self.assertEqual(found.tensors["w"].table(4).number(6), 3)
        self.assertEqual(found.operators()[0][4].number(3), 2)

    def test_one_channel_stays_what_it_was(self):
        for op, shape, axis in (("CONV_2D", [4, 2, 2, 1], 0), ("DEPTHWISE_CONV_2D", [1, 2, 2, 4], 3)):
            options = {0: i8(1), 1: i32(1), 2: i32(1)}
            options.update({3: i32(4)} if axis else {})
            self.assert_op(op, [1, 3, 3, 1], [1, 2, 2, 4], options, [weights("w", shape, axis)])

    def test_groups_and_dilations(self):
        w = weights("w", [4, 2, 2, 2], 0)
        found = self.assert_op("CONV_2D", [1, 5, 6, 4], [1, 3, 4, 4],
                               {0: i8(1), 1: i32(1), 2: i32(1), 4: i32(2), 5: i32(2)}, [w])
        self.assertEqual(found.operators()[0][1], 6)

    def test_weights_that_are_computed(self):
        w = Tensor("w", "int8", [2, 1, 1, 3], scale=0.5, zero_point=0)
        x, y = x_tensor([1, 2, 2, 3]), Tensor("y", "int8", [1, 2, 2, 2], **INT8)
        content = model([x, w, y], [Op("CONV_2D", ["x", "w"], ["y"], {0: i8(1), 1: i32(1), 2: i32(1)})], ["x", "w"], ["y"])
        self.assert_same(content, ["CONV_2D"])

    def test_fully_connected(self):
        for shape, out, keep in (([2, 6], [2, 4], 0), ([2, 1, 6], [2, 4], 0), ([2, 3, 6], [2, 3, 4], 1), ([6], [1, 4], 0)):
            w = weights("w", [4, 6], 0)
            found = self.assert_op("FULLY_CONNECTED", shape, out, {0: i8(1), 2: u8(keep)}, [w, bias("b", w.scale)])
            self.assertEqual(found.operators()[0][4].number(2, "B"), keep)

    def test_int4_and_int16(self):
        found = self.assert_op("FULLY_CONNECTED", [1, 5], [1, 3], {}, [weights("w", [3, 5], 0, "int4")])
        self.assertEqual(found.tensors["w"].number(1, "b"), 17)
        self.assertEqual(len(found.elements("w", "B")), 8)
        for dtype, kind in (("int64", 0), ("int32", 2)):
            w = weights("w", [3, 5], 0)
            found = self.assert_op("FULLY_CONNECTED", [1, 5], [1, 3], {4: i8(kind)}, [w, bias("b", w.scale, dtype)], "int16")
            self.assertEqual(found.operators()[0][4].number(4, "b"), kind)

    def test_transposed_convolutions(self):
        for scales in (True, False):
            for padding, height, width in ((1, 7, 11), (1, 8, 13), (0, 6, 12), (0, 5, 10)):
                w = weights("w", [3, 3, 2, 2], 0)
                b = bias("b", w.scale)
                tensors = [Tensor("shape", "int32", [4], [1, height, width, 3]), w, x_tensor([1, 3, 4, 2]), b,
                           Tensor("y", "int8", [1, height, width, 3], **INT8)]
                if not scales:
                    for one in tensors:
                        one.scale, one.data, one.dtype = None, one.data and [n % 7 / 2 for n in one.data], "float32"
                    tensors[0] = Tensor("shape", "int32", [4], [1, height, width, 3])
                op = Op("TRANSPOSE_CONV", ["shape", "w", "x", "b"], ["y"], {0: i8(padding), 1: i32(3), 2: i32(2)})
                found = self.assert_same(model(tensors, [op], ["x"], ["y"]), ["TRANSPOSE_CONV"])
                self.assertEqual(found.elements("w", "b" if scales else "f"), w.data)

    def test_batches_of_products(self):
        for options in ({}, {0: i8(1)}, {1: i8(1)}):
            self.assert_op("BATCH_MATMUL", [2, 2, 3] if 0 not in options else [2, 3, 2], [2, 2, 2], options,
                           [Tensor("b", "int8", [2, 2, 3] if 1 in options else [2, 3, 2], numbers(12, 3), 0.5, 0)])
        tensors = [Tensor("x", "float32", [2, 3]), Tensor("b", "float32", [3, 2]), Tensor("y", "float32", [2, 2])]
        self.assert_same(model(tensors, [Op("BATCH_MATMUL", ["x", "b"], ["y"])], ["x", "b"], ["y"]), ["BATCH_MATMUL"])

    def test_dynamic_range(self):
        for asymmetric in (0, 1):
            x, y, w = Tensor("x", "float32", [2, 6]), Tensor("y", "float32", [2, 4]), weights("w", [4, 6], 0)
            b = Tensor("b", "float32", [4], [0.5, 1.0, -2.0, 0.0])
            content = model([x, w, b, y], [Op("FULLY_CONNECTED", ["x", "w", "b"], ["y"], {0: i8(1), 3: u8(asymmetric)})], ["x"], ["y"])
            found = self.assert_same(content, ["FULLY_CONNECTED"])
            self.assertEqual(found.operators()[0][4].number(3, "B"), asymmetric)


class Elements(Written):
    def test_pairs(self):
        for op in ("ADD", "SUB", "MUL"):
            more = [Tensor("b", "int8", [3], [1, 2, 3], 0.5, 1)]
            found = self.assert_op(op, [2, 3], [2, 3], {0: i8(1), **({} if op == "MUL" else {1: u8(0)})}, more)
            if op != "MUL":  # true by default, which other kernels take
                self.assertEqual(found.operators()[0][4].number(1, "B", 1), 0)

    def test_functions(self):
        for op in ("LOGISTIC", "TANH", "HARD_SWISH", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"):
            found = self.assert_op(op, [2, 3], [2, 3], {}, (), scale=1 / 256, zero_point=-128)
            self.assertEqual(found.codes[0][0], min(CODES[op], 127))
        self.assert_op("LEAKY_RELU", [2, 3], [2, 3], {0: f32(0.125)})

    def test_functions_of_floats_and_of_codes(self):
        for op, options in (("ABS", {}), ("CEIL", {}), ("FLOOR", {}), ("NEG", {}), ("ROUND", {}), ("SIGN", {}), ("SQUARE", {}), ("SQRT", {}),
                            ("RSQRT", {}), ("EXP", {}), ("LOG", {}), ("SIN", {}), ("COS", {}), ("ELU", {}), ("GELU", {}), ("GELU", {0: i8(1)})):
            self.assert_op(op, [2, 3], [2, 3], options)
            x, y = Tensor("x", "float32", [2, 3]), Tensor("y", "float32", [2, 3])
            self.assert_same(model([x, y], [Op(op, ["x"], ["y"], options)], ["x"], ["y"]), [op])

    def test_more_pairs(self):
        for op in ("DIV", "MAXIMUM", "MINIMUM", "POW"):
            self.assert_op(op, [2, 3], [2, 3], {0: i8(1)} if op == "DIV" else {}, [Tensor("b", "int8", [3], [1, 2, 3], 0.5, 1)])
        self.assert_op("PRELU", [2, 4, 3], [2, 4, 3], {}, [Tensor("slopes", "int8", [1, 1, 3], [1, 2, -4], 0.125, 0)])
        for op in ("SUM", "REDUCE_MAX", "REDUCE_MIN"):
            self.assert_op(op, [2, 4, 3], [2, 3], {}, [Tensor("axes", "int32", [1], [1])])

    def test_softmax_and_mean(self):
        for beta in (1.0, 0.5):
            found = self.assert_op("SOFTMAX", [2, 3], [2, 3], {0: f32(beta)}, (), scale=1 / 256, zero_point=-128)
            self.assertEqual(found.operators()[0][4].number(0, "f"), beta)
        for keep, shape in ((1, [1, 1, 1, 3]), (0, [1, 3])):
            self.assert_op("MEAN", [1, 2, 2, 3], shape, {0: i8(keep)}, [Tensor("axes", "int32", [2], [1, 2])])

    def test_an_operator_on_floats_between_codes_stays_one(self):
        x, y = (Tensor(name, "int8", [2, 3], **INT8) for name in "xy")
        floats = [Tensor(name, "float32", [2, 3]) for name in "de"]
        ops = [Op("DEQUANTIZE", ["x"], ["d"]), Op("RELU", ["d"], ["e"]), Op("QUANTIZE", ["e"], ["y"])]
        self.assert_same(model([x, *floats, y], ops, ["x"], ["y"]), ["DEQUANTIZE", "RELU", "QUANTIZE"])

    def test_quantize(self):
        x, y = Tensor("x", "float32", [2, 3]), Tensor("y", "int8", [2, 3], **INT8)
        z = Tensor("z", "uint8", [2, 3], scale=0.5, zero_point=128)
        ops = [Op("QUANTIZE", ["x"], ["y"]), Op("QUANTIZE", ["y"], ["z"])]
        self.assert_same(model([x, y, z], ops, ["x"], ["z"]), ["QUANTIZE", "QUANTIZE"])

    def test_halves_become_floats(self):
        w, y = Tensor("w", "float16", [2], [1.5, -2.0]), Tensor("y", "float32", [2])
        x, d = Tensor("x", "float32", [2]), Tensor("d", "float32", [2])
        ops = [Op("DEQUANTIZE", ["w"], ["d"]), Op("ADD", ["x", "d"], ["y"])]
        self.assert_same(model([x, w, d, y], ops, ["x"], ["y"]), ["DEQUANTIZE", "ADD"])


class Moves(Written):
    def test_pools(self):
        for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            for padding, out in ((0, 3), (1, 2)):
                options = {0: i8(padding), 1: i32(2), 2: i32(2), 3: i32(2), 4: i32(2)}
                self.assert_op(op, [1, 5, 5, 2], [1, out, out, 2], options)
                self.assert_op(op, [1, 5, 5, 2], [1, out, out, 2], {**options, 5: i8(1)})
                self.assert_op(op, [1, 5, 5, 2], [1, out, out, 2], options, (), "int16")

    def test_shapes(self):
        self.assert_op("RESHAPE", [2, 3], [3, 2], {0: ints([3, 2])}, [Tensor("shape", "int32", [2], [3, 2])])
        self.assert_op("SQUEEZE", [1, 2, 1, 3], [2, 1, 3], {0: ints([0])})
        self.assert_op("TRANSPOSE", [2, 3], [3, 2], {}, [Tensor("perm", "int32", [2], [1, 0])])

    def test_blocks_and_dims(self):
        for axis, shape in ((0, [1, 2, 3]), (-1, [2, 3, 1]), (1, [2, 1, 3])):
            self.assert_op("EXPAND_DIMS", [2, 3], shape, {}, [Tensor("axis", "int32", [1], [axis])])
        self.assert_op("DEPTH_TO_SPACE", [1, 2, 3, 8], [1, 4, 6, 2], {0: i32(2)})
        self.assert_op("SPACE_TO_DEPTH", [1, 4, 6, 2], [1, 2, 3, 8], {0: i32(2)})

    def test_padding(self):
        sizes = Tensor("sizes", "int32", [2, 2], [0, 0, 1, 2])
        x, y, z = x_tensor([2, 3]), Tensor("y", "int8", [2, 3], **INT8), Tensor("z", "int8", [2, 6], **INT8)
        content = model([x, sizes, y, z], [Op("RELU", ["x"], ["y"]), Op("PAD", ["y", "sizes"], ["z"])], ["x"], ["z"])
        self.assert_same(content, ["RELU", "PAD"])
        for element in (-128, ZERO):
            self.assert_op("PADV2", [2, 3], [2, 6], {}, [sizes, Tensor("element", "int8", [], [element], SCALE, ZERO)])

    def test_joins(self):
        parts = [Tensor("a", "int8", [2, 1], **INT8), Tensor("b", "int8", [2, 2], scale=0.5, zero_point=-1)]
        content = model([*parts, Tensor("y", "int8", [2, 3], **INT8)], [Op("CONCATENATION", ["a", "b"], ["y"], {0: i32(1)})],
                        ["a", "b"], ["y"])
        found = self.assert_same(content, ["CONCATENATION"])
        self.assertEqual(found.tensors["b"].table(4).numbers(2, "f"), [0.5])

    def test_resizing(self):
        for first, op in ((2, "RESIZE_BILINEAR"), (0, "RESIZE_NEAREST_NEIGHBOR")):
            for options in ({}, {first: i8(1)}, {first + 1: i8(1)}):
                self.assert_op(op, [1, 3, 4, 2], [1, 5, 7, 2], options, [Tensor("size", "int32", [2], [5, 7])])

    def test_slices(self):
        bounds = lambda *lists: [Tensor(name, "int32", [2], one) for name, one in zip(("begin", "end", "step"), lists)]
        self.assert_op("STRIDED_SLICE", [4, 6], [2, 3], {}, bounds([1, 0], [3, 6], [1, 2]))
        self.assert_op("STRIDED_SLICE", [4, 6], [4, 6], {0: i32(3), 1: i32(3)}, bounds([0, 0], [0, 0], [1, -1]))
        self.assert_op("STRIDED_SLICE", [4, 6], [6], {1: i32(2), 4: i32(1)}, bounds([2, 0], [3, 0], [1, 1]))

    def test_parts(self):
        part = [Tensor("begin", "int32", [2], [1, 3]), Tensor("size", "int32", [2], [2, 3])]
        self.assert_op("SLICE", [4, 6], [2, 3], {}, part)

    def test_splits(self):
        x, parts = x_tensor([2, 6]), [Tensor(f"p{i}", "int8", [2, n], **INT8) for i, n in enumerate((1, 3, 2))]
        tensors = [x, Tensor("sizes", "int32", [3], [1, 3, 2]), Tensor("axis", "int32", [], [1]), *parts]
        op = Op("SPLIT_V", ["x", "sizes", "axis"], ["p0", "p1", "p2"], {0: i32(3)})
        self.assert_same(model(tensors, [op], ["x"], ["p0", "p2"]), ["SPLIT_V"])
        halves = [Tensor(f"h{i}", "int8", [2, 3], **INT8) for i in range(2)]
        op = Op("SPLIT", ["axis", "x"], ["h0", "h1"], {0: i32(2)})
        self.assert_same(model([x, tensors[2], *halves], [op], ["x"], ["h1", "h0"]), ["SPLIT"])


# ---- Files ----


class Files(Written):
    def test_elements_lie_at_multiples_of_16(self):
        w = weights("w", [4, 3, 3, 2], 0)
        x, y = x_tensor([1, 4, 4, 2]), Tensor("y", "int8", [1, 2, 2, 4], **INT8)
        found = Model(self.written(model([x, w, bias("b", w.scale), y],
                                         [Op("CONV_2D", ["x", "w", "b"], ["y"], {0: i8(1), 1: i32(1), 2: i32(1)})], ["x"], ["y"])))
        self.assertEqual(found.buffers[0].numbers(0, "B"), None)
        self.assertEqual([(one.target(0) + 4) % 16 for one in found.buffers[1:]], [0, 0])

    def test_operators_have_the_version_that_their_dtypes_need(self):
        """The versions of TensorFlow's converter, but for DEPTHWISE_CONV_2D by int4: 7 there, which LiteRT's reference kernels lack."""
        window = {0: i8(1), 1: i32(1), 2: i32(1)}
        pool, resize = {**window, 3: i32(1), 4: i32(1)}, Tensor("size", "int32", [2], [4, 4])
        sizes, axes = Tensor("sizes", "int32", [4, 2], [0] * 8), Tensor("axes", "int32", [2], [1, 2])
        x = [1, 2, 2, 2]
        other = Tensor("o", "int8", x, scale=SCALE, zero_point=0)
        for op, y, options, more, dtype, version in (
                ("CONV_2D", x, window, [weights("w", [2, 1, 1, 2], 0)], "int8", 3),
                ("CONV_2D", x, window, [weights("w", [2, 1, 1, 2], 0, "int4")], "int8", 7),
                ("CONV_2D", x, window, [weights("w", [2, 1, 1, 2], 0)], "int16", 4),
                ("DEPTHWISE_CONV_2D", x, {**window, 3: i32(1)}, [weights("w", [1, 1, 1, 2], 3)], "int8", 3),
                ("DEPTHWISE_CONV_2D", x, {**window, 3: i32(1)}, [weights("w", [1, 1, 1, 2], 3, "int4")], "int8", 6),
                ("DEPTHWISE_CONV_2D", x, {**window, 3: i32(1)}, [weights("w", [1, 1, 1, 2], 3)], "int16", 5),
                ("FULLY_CONNECTED", [4, 3], {}, [weights("w", [3, 2], 0), bias("b", [0.1] * 3)], "int8", 4),
                ("FULLY_CONNECTED", [4, 3], {}, [weights("w", [3, 2], 0)], "int8", 6),
                ("FULLY_CONNECTED", [1, 2, 2, 3], {2: u8(1)}, [weights("w", [3, 2], 0), bias("b", [0.1] * 3)], "int8", 5),
                ("MEAN", [1, 2], {}, [axes], "int8", 2), ("MEAN", [1, 2], {}, [axes], "int16", 3), ("PAD", x, {}, [sizes], "int16", 3),
                ("AVERAGE_POOL_2D", x, pool, (), "int8", 2), ("MAX_POOL_2D", x, pool, (), "int16", 3), ("LEAKY_RELU", x, {0: f32(1)}, (), "int8", 1),
                ("RESIZE_BILINEAR", [1, 4, 4, 2], {}, [resize], "int8", 2), ("RESIZE_BILINEAR", [1, 4, 4, 2], {3: u8(1)}, [resize], "int8", 3),
                ("RELU", x, {}, (), "int8", 2), ("LOGISTIC", x, {}, (), "int16", 3), ("TRANSPOSE", x, {}, [Tensor("o", "int32", [4], [0, 2, 1, 3])], "int16", 5)):
            written = self.assert_op(op, x, y, options, more, dtype)
            self.assertEqual(written.operators()[0][1], version, (op, dtype, more))
        for op, scale, version in (("ADD", SCALE, 2), ("SUB", SCALE, 2), ("MUL", SCALE, 2), ("MUL", SCALE * SCALE, 3)):
            y = Tensor("y", "int8", x, scale=scale, zero_point=0)
            content = model([x_tensor(x), other, y], [Op(op, ["x", "o"], ["y"], {} if op == "MUL" else {1: u8(0)})], ["x", "o"], ["y"])
            self.assertEqual(self.assert_same(content).operators()[0][1], version, op)

    def test_a_signature_names_inputs_and_outputs(self):
        x, y = x_tensor([2]), Tensor("y", "int8", [2], **INT8)
        found = Model(self.written(model([x, y], [Op("RELU", ["x"], ["y"])], ["x"], ["y", "x"])))
        signature = found.root.tables(7)[0]
        names = [[(one.text(0), found.names[one.number(1, "I")]) for one in signature.tables(slot)] for slot in (0, 1)]
        self.assertEqual((names, signature.text(2)), ([[("x", "x")], [("y", "y"), ("x", "x")]], "serving_default"))

    def test_states_are_variables(self):
        handle = Tensor("h", "resource", [])
        first = Tensor("first", "float32", [2], [1.0, 2.0])
        x, old, new = (Tensor(name, "float32", [2]) for name in ("x", "old", "new"))
        ops = [Op("CALL_ONCE", [], [], {0: i32(1)}), Op("VAR_HANDLE", [], ["h"], {1: "sum"}), Op("READ_VARIABLE", ["h"], ["old"]),
               Op("ADD", ["x", "old"], ["new"]), Op("ASSIGN_VARIABLE", ["h", "new"], [])]
        once = ([handle, first], [Op("VAR_HANDLE", [], ["h"], {1: "sum"}), Op("ASSIGN_VARIABLE", ["h", "first"], [])], [], [])
        found = self.assert_same(model([handle, x, old, new], ops, ["x"], ["new"], [once]),
                                 ["CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ADD", "ASSIGN_VARIABLE"])
        other = found.root.tables(2)[1]
        self.assertEqual([one[0] for one in found.operators(other)], [CODES["VAR_HANDLE"], CODES["ASSIGN_VARIABLE"]])
        self.assertEqual(found.operators(other)[0][4].text(1), "sum")

    def test_large_constants_stay_in_their_file_until_they_are_written(self):
        w = weights("w", [4, 3, 3, 200], 0)
        self.assert_op("CONV_2D", [1, 3, 3, 200], [1, 1, 1, 4], {0: i8(1), 1: i32(1), 2: i32(1)}, [w])
        w = weights("w", [8, 1000], 0)
        found = self.assert_op("FULLY_CONNECTED", [1, 1000], [1, 8], {}, [w])
        self.assertEqual(found.elements("w", "b"), w.data)


# ---- Graphs of other sources, and refusals ----


def pair(op, ports, **attrs):
    """A graph of one op between Dequantize and Quantize."""
    inputs = [value(f"{port}_codes", *one) for port, one in ports.items()]
    nodes = [node("Dequantize", port, f"{port}_codes", dtype="float32", scales=SCALE) for port in ports]
    nodes += [{"op": op, "name": "real", "inputs": {port: port for port in ports}, "attrs": attrs},
              node("Quantize", "y", "real", dtype="int8", scales=SCALE)]
    return graph(nodes, inputs, {"y": "y"})


class Others(Written):
    def convert(self, text, code=0):
        self.write("g.json", text)
        return self.qdq("convert", "g.json", "-o", "w.tflite", code=code)

    def codes(self):
        return [one[0] for one in Model((self.folder / "w.tflite").read_bytes()).operators()]

    def test_pairs_of_a_graph_file_become_operators_on_codes(self):
        self.convert(pair("Add", {"a": ("int8", [2, 3]), "b": ("int8", [2, 3])}))
        self.assertEqual(self.codes(), [CODES["ADD"]])

    def test_padding_that_is_no_rule_becomes_an_operator(self):
        x = {"x": ("int8", [1, 4, 4, 2])}
        window = {"strides": [2, 2], "kernel": [3, 3], "pads_begin": [1, 1], "pads_end": [1, 1]}
        self.convert(pair("MaxPool", x, **window))
        self.assertEqual(self.codes(), [CODES["PADV2"], CODES["MAX_POOL_2D"]])
        out = self.convert(pair("AvgPool", x, exclude_pad=True, **window), code=4).err
        self.assertIn("node 'real': AvgPool: pads_begin and pads_end are no padding of SAME or VALID", out)

    def test_transposed_convolutions_of_graph_files(self):
        """Weights of both orders of dims give the same numbers."""
        for order, shape in (("XOI", [2, 3, 4, 2]), ("IOX", [2, 4, 2, 3])):
            elements = numbers(48, 7)
            nodes = [{"op": "ConvTranspose", "name": "y", "inputs": {"x": "x", "weights": "w"},
                      "attrs": {"strides": [2, 2], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "weights_format": order}}]
            self.convert(graph(nodes, [value("x", "float32", [1, 3, 3, 2])], {"y": "y"}, constants=[constant("w", "float32", shape, elements)]))
            self.assertEqual(self.codes(), [CODES["TRANSPOSE_CONV"]])
            for name in ("g.json", "w.tflite"):
                self.qdq("run", name, "--target", "core", "--fill", "1", "-o", name + ".safetensors")
            one, other = (unpack(read_safetensors(self.folder / (name + ".safetensors"))["y"]) for name in ("g.json", "w.tflite"))
            self.assertEqual(one, other)

    def test_codes_that_no_kernel_converts_are_refused(self):
        inputs = [value("x_codes", "int32", [2, 3])]
        self.write("g.json", graph([node("Dequantize", "y", "x_codes", dtype="float32", scales=SCALE)], inputs, {"y": "y"}))
        self.assertIn("node 'y': Dequantize: x is int32, wanted int4, int8, uint8 or int16",
                      self.qdq("convert", "g.json", "-o", "w.tflite", code=4).err)

    def test_refusals(self):
        x = {"x": ("int8", [1, 4, 4, 2])}
        window = {"strides": [1, 1], "kernel": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
        for op, attrs, text in (("GenIndex", {"axis": 1}, "GenIndex: is no operator that is written"),
                                ("MaxPool", {"data_format": "NCX", **window}, "MaxPool: data_format is NCX, wanted NXC"),
                                ("SoftMax", {"axis": 1}, "SoftMax: axis is 1, wanted 3, the last dim"),
                                ("Clamp", {"min": 0, "max": 4}, "Clamp: has the bounds 0 and 4, wanted 0 and 6")):
            self.write("g.json", pair(op, x, **attrs))
            self.assertIn(f"g.json: node 'real': {text}", self.qdq("convert", "g.json", "-o", "w.tflite", code=4).err)
            self.assertFalse((self.folder / "w.tflite").exists())


if __name__ == "__main__":
    main()
