#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models: operators of elements and slices, and operators that move codes, give the numbers of their
definitions."""

import json
import math

import harness
from harness import graph, main, node, unpack, value, write_npy
from tflite_case import SCALE, ZERO, Tflite, code, numbers, reals, x_tensor
from tflite_file import Op, Tensor, f32, i8, i32, ints, model


# ---- Elements and slices ----


class Elements(Tflite):
    def test_pairs(self):
        a, b = [-100, 0, 3, 50, 127, -128], [20, -7, 3, -128, 127, 100]
        for op, real in (("ADD", lambda x, y: x + y), ("SUB", lambda x, y: x - y), ("MUL", lambda x, y: x * y)):
            for activation in (0, 1):
                want = [code(max(real(*one), 0) if activation else real(*one), 2.0, 0) for one in zip(reals(a), reals(b, 0.5, 0))]
                out = Tensor("y", "int8", [6], scale=2.0, zero_point=0)
                found = self.run_op(op, [6], [6], {0: i8(activation)}, [Tensor("b", "int8", [6], b, 0.5)], a, out)[1]
                self.assertEqual(found, want, op)

    def test_pairs_are_broadcast(self):
        found = self.run_op("ADD", [2, 2], [2, 2], {}, [Tensor("b", "int8", [2], [4, 8], 0.25, 0)], [0, 1, 2, 3])[1]
        self.assertEqual(found, [4, 9, 6, 11])

    def test_floats_between_operators_are_no_codes(self):
        codes = {"scale": 0.25, "zero_point": 3}
        x, y = (Tensor(name, "int8", [2, 3], **codes) for name in "xy")
        floats = [Tensor(name, "float32", [2, 3]) for name in "de"]
        through = [Op("DEQUANTIZE", ["x"], ["d"]), Op("ADD", ["d", "d"], ["e"]), Op("QUANTIZE", ["e"], ["y"])]
        for name, tensors, ops, unknown in (("floats", [x, *floats, y], through, True),
                                            ("codes", [x, y], [Op("ADD", ["x", "x"], ["y"])], False)):
            self.write("m.tflite", model(tensors, ops, ["x"], ["y"]))
            out = self.qdq("check", "m.tflite", "--target", "litert").out
            self.assertEqual("node 'e': Add: no evidence covers the bits" in out, unknown, name)

    def test_functions(self):
        x = numbers(64, 11)
        sigmoid = lambda v: 1 / (1 + math.exp(-v))
        swish = lambda v: v * min(max(v / 6 + 0.5, 0), 1)
        for op, real in (("LOGISTIC", sigmoid), ("TANH", math.tanh), ("HARD_SWISH", swish), ("RELU", lambda v: max(v, 0)),
                         ("RELU6", lambda v: min(max(v, 0), 6)), ("RELU_N1_TO_1", lambda v: min(max(v, -1), 1)),
                         ("RELU_0_TO_1", lambda v: min(max(v, 0), 1))):
            out = Tensor("y", "int8", [64], scale=1 / 256, zero_point=-128)
            self.assertEqual(self.run_op(op, [64], [64], {}, (), x, out)[1], [code(real(v), 1 / 256, -128) for v in reals(x)], op)

    def test_functions_of_floats(self):
        x = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.0, 2.5, 3.25]
        positive = [abs(v) for v in x]
        elu = lambda v: v if v > 0 else math.expm1(v)
        gelu = lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2)))
        gelu_tanh = lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))
        for op, given, real, options in (
                ("ABS", x, abs, {}), ("CEIL", x, math.ceil, {}), ("FLOOR", x, math.floor, {}), ("NEG", x, lambda v: -v, {}), ("ROUND", x, round, {}),
                ("SIGN", x, lambda v: math.copysign(1, v), {}), ("SQUARE", x, lambda v: v * v, {}), ("SQRT", positive, math.sqrt, {}),
                ("RSQRT", positive, lambda v: 1 / math.sqrt(v), {}), ("EXP", x, math.exp, {}), ("LOG", positive, math.log, {}), ("SIN", x, math.sin, {}),
                ("COS", x, math.cos, {}), ("ELU", x, elu, {}), ("GELU", x, gelu, {}), ("GELU", x, gelu_tanh, {0: i8(1)})):
            content = model([Tensor("x", "float32", [8]), Tensor("y", "float32", [8])], [Op(op, ["x"], ["y"], options)], ["x"], ["y"])
            found = self.run_model(content, x=harness.tensor("float32", [8], given))["y"]
            for one, v in zip(found, given):
                self.assertAlmostEqual(one, real(v), delta=1e-6 * max(1, abs(real(v))), msg=op)

    def test_functions_of_codes_are_pairs(self):
        x = numbers(64, 19)
        self.assertEqual(self.run_op("ABS", [64], [64], {}, (), x)[1], [code(abs(v)) for v in reals(x)])
        made = self.converted((self.folder / "m.tflite").read_bytes())["nodes"]
        self.assertEqual([one["op"] for one in made], ["Dequantize", "Abs", "Quantize"])
        out = self.qdq("check", "m.tflite").out
        self.assertIn("Abs: no evidence covers the bits", out)

    def test_more_pairs(self):
        a, b = [-100, 0, 3, 50, 127, -128], [2, -7, 3, -128, 127, 100]
        for op, real in (("DIV", lambda x, y: x / y), ("MAXIMUM", max), ("MINIMUM", min)):
            out = Tensor("y", "int8", [6], scale=2.0, zero_point=0)
            found = self.run_op(op, [6], [6], {}, [Tensor("b", "int8", [6], b, 0.5)], a, out)[1]
            self.assertEqual(found, [code(real(*one), 2.0, 0) for one in zip(reals(a), reals(b, 0.5, 0))], op)
        content = model([Tensor("a", "float32", [3]), Tensor("b", "float32", [3]), Tensor("y", "float32", [3])], [Op("POW", ["a", "b"], ["y"])],
                        ["a", "b"], ["y"])
        found = self.run_model(content, a=harness.tensor("float32", [3], [2, 3, 0.5]), b=harness.tensor("float32", [3], [3, 2, -1]))["y"]
        self.assertEqual(found, [8, 9, 2])

    def test_prelu(self):
        x = numbers(24, 21)
        slopes = [1, 2, -4]
        found = self.run_op("PRELU", [2, 4, 3], [2, 4, 3], {}, [Tensor("slopes", "int8", [1, 1, 3], slopes, 0.125)], x)[1]
        self.assertEqual(found, [code(v if v > 0 else v * slopes[i % 3] * 0.125) for i, v in enumerate(reals(x))])

    def test_batches_of_products(self):
        a, b = numbers(12, 23, -9, 9), numbers(12, 25, -9, 9)
        for adjoint in (0, 1):
            at = (lambda n, i, k: b[n * 6 + k * 3 + i]) if adjoint else (lambda n, i, k: b[n * 6 + i * 2 + k])
            want = [code(sum((a[n * 6 + r * 3 + i] - ZERO) * at(n, i, k) for i in range(3)) * SCALE * 0.5) for n in range(2) for r in range(2) for k in range(2)]
            other = Tensor("b", "int8", [2, 2, 3] if adjoint else [2, 3, 2], b, 0.5)
            self.assertEqual(self.run_op("BATCH_MATMUL", [2, 2, 3], [2, 2, 2], {1: i8(adjoint)}, [other], a)[1], want)
        for dtype in ("int8", "int16"):
            tensors = [Tensor(name, dtype, shape, data, 0.25) for name, shape, data in (("x", [2, 3], None), ("b", [2, 3], b[:6]), ("y", [2, 2], None))]
            self.write("m.tflite", model(tensors, [Op("BATCH_MATMUL", ["x", "b"], ["y"], {1: i8(1)})], ["x"], ["y"]))
            for target in ("litert", "litert@builtin-x86", "litert@reference", "tflm"):
                self.assertIn("node 'y/real': MatMul: no evidence covers the bits", self.qdq("check", "m.tflite", "--target", target).out)
        content = model([Tensor("x", "float32", [2, 3]), Tensor("b", "int8", [3, 2], b[:6], 0.5), Tensor("y", "float32", [2, 2])],
                        [Op("BATCH_MATMUL", ["x", "b"], ["y"])], ["x"], ["y"])
        self.assert_refusal(content, "node 'y': BATCH_MATMUL: multiplies floats by codes, wanted both quantized, or none")

    def test_leaky_relu(self):
        x = numbers(64, 13)
        found = self.run_op("LEAKY_RELU", [64], [64], {0: f32(0.125)}, (), x)[1]
        self.assertEqual(found, [code(v if v > 0 else v * 0.125) for v in reals(x)])

    def test_softmax(self):
        for beta in (1.0, 0.5):
            x = [3, 7, 11, -5, 3, 3, 3, 3]
            out = Tensor("y", "int8", [2, 4], scale=1 / 256, zero_point=-128)
            rows = [[math.exp(v * beta) for v in row] for row in (reals(x[:4]), reals(x[4:]))]
            want = [code(e / sum(row), 1 / 256, -128) for row in rows for e in row]
            self.assertEqual(self.run_op("SOFTMAX", [2, 4], [2, 4], {0: f32(beta)}, (), x, out)[1], want)

    def test_mean(self):
        x = numbers(24, 15)
        at = lambda b, h, w: reals(x)[(b * 3 + h) * 4 + w]
        want = [code(sum(at(b, h, w) for h in range(3)) / 3) for b in range(2) for w in range(4)]
        for keep, shape in ((0, [2, 4]), (1, [2, 1, 4])):
            found = self.run_op("MEAN", [2, 3, 4], shape, {0: i8(keep)}, [Tensor("axes", "int32", [2], [1, -2])], x)[1]
            self.assertEqual(found, want)
        content = model([x_tensor([2]), Tensor("axes", "int32", [1], [5]), x_tensor([], "y")], [Op("MEAN", ["x", "axes"], ["y"])], ["x"], ["y"])
        self.assert_refusal(content, "node 'y': MEAN: axis is 5, wanted -1 to 0")
        content = model([x_tensor([2]), Tensor("axes", "int32", [1]), x_tensor([], "y")], [Op("MEAN", ["x", "axes"], ["y"])], ["x", "axes"], ["y"])
        self.assert_refusal(content, "node 'y': MEAN: axes is no constant of int32 or int64")

    def test_sums_and_bounds(self):
        x = numbers(6, 27, -9, 9)
        rows = reals(x[:3]), reals(x[3:])
        for op, of in (("SUM", sum), ("REDUCE_MAX", max), ("REDUCE_MIN", min)):
            found = self.run_op(op, [2, 3], [2], {}, [Tensor("axes", "int32", [1], [1])], x)[1]
            self.assertEqual(found, [code(of(row)) for row in rows], op)

    def test_floats(self):
        content = model([Tensor("x", "float32", [3]), Tensor("y", "float32", [3])], [Op("ADD", ["x", "x"], ["y"], {0: i8(3)})], ["x"], ["y"])
        self.assertEqual(self.run_model(content, x=harness.tensor("float32", [3], [-1, 2, 4]))["y"], [0, 4, 6])
        self.assertEqual([one["op"] for one in self.converted(content)["nodes"]], ["Add", "Clamp"])


# ---- Movement ----


class Movement(Tflite):
    def test_concatenation(self):
        found = self.run_op("CONCATENATION", [2, 2], [2, 3], {0: i32(-1)}, [Tensor("b", "int8", [2, 1], [9, 8], SCALE, ZERO)], [1, 2, 3, 4])[1]
        self.assertEqual(found, [1, 2, 9, 3, 4, 8])
        found = self.run_op("CONCATENATION", [2], [4], {}, [Tensor("b", "int8", [2], [9, -8], 2 * SCALE, 1)], [1, 2])[1]
        self.assertEqual(found, [1, 2, 19, -15])

    def test_pad(self):
        pads = Tensor("pads", "int32", [2, 2], [1, 0, 0, 2])
        self.assertEqual(self.run_op("PAD", [1, 2], [2, 4], {}, [pads], [7, 8])[1], [ZERO] * 4 + [7, 8, ZERO, ZERO])
        value = Tensor("value", "int8", [1], [-9], SCALE, ZERO)
        self.assertEqual(self.run_op("PADV2", [1, 2], [2, 4], {}, [pads, value], [7, 8])[1], [-9] * 4 + [7, 8, -9, -9])

    def test_shapes(self):
        x = numbers(6, 17)
        for op, shape, out, options, more in (
                ("RESHAPE", [2, 3], [3, 2], {}, [Tensor("shape", "int32", [2], [3, -1])]), ("RESHAPE", [2, 3], [6], {0: ints([6])}, []),
                ("SQUEEZE", [1, 6, 1], [6], {}, []), ("SQUEEZE", [1, 6, 1], [1, 6], {0: ints([-1])}, [])):
            self.assertEqual(self.run_op(op, shape, out, options, more, x)[1], x)
        found = self.run_op("TRANSPOSE", [2, 3], [3, 2], {}, [Tensor("perm", "int32", [2], [1, 0])], x)[1]
        self.assertEqual(found, [x[i * 3 + k] for k in range(3) for i in range(2)])

    def test_expand_dims(self):
        x = numbers(6, 29)
        for axis, shape in ((0, [1, 2, 3]), (-1, [2, 3, 1]), (1, [2, 1, 3])):
            self.assertEqual(self.run_op("EXPAND_DIMS", [2, 3], shape, {}, [Tensor("axis", "int32", [1], [axis])], x)[1], x)
        content = model([x_tensor([2]), Tensor("axis", "int32", [1], [2]), x_tensor([2], "y")], [Op("EXPAND_DIMS", ["x", "axis"], ["y"])], ["x"], ["y"])
        self.assert_refusal(content, "node 'y': EXPAND_DIMS: axis is 2, wanted -2 to 1")

    def test_blocks_of_pixels(self):
        x = list(range(48))
        at = lambda h, w, c: x[(h * 3 + w) * 8 + c]
        want = [at(h // 2, w // 2, (h % 2 * 2 + w % 2) * 2 + c) for h in range(4) for w in range(6) for c in range(2)]
        self.assertEqual(self.run_op("DEPTH_TO_SPACE", [1, 2, 3, 8], [1, 4, 6, 2], {0: i32(2)}, (), x)[1], want)
        self.assertEqual(self.run_op("SPACE_TO_DEPTH", [1, 4, 6, 2], [1, 2, 3, 8], {0: i32(2)}, (), want)[1], x)
        for op, shape in (("DEPTH_TO_SPACE", [1, 2, 2, 6]), ("SPACE_TO_DEPTH", [1, 3, 2, 1]), ("DEPTH_TO_SPACE", [4, 4, 4])):
            content = model([x_tensor(shape), x_tensor(shape, "y")], [Op(op, ["x"], ["y"], {0: i32(2)})], ["x"], ["y"])
            self.assert_refusal(content, f"node 'y': {op}: block_size is 2, wanted a divisor of dims of 4 in x, which is {shape}")

    def test_slice(self):
        x = list(range(24))
        numbers_of = lambda begin, size: [Tensor("begin", "int32", [2], begin), Tensor("size", "int32", [2], size)]
        self.assertEqual(self.run_op("SLICE", [4, 6], [2, 3], {}, numbers_of([1, 3], [2, -1]), x)[1], [9, 10, 11, 15, 16, 17])
        for begin, size in (([1, 3], [4, 1]), ([-1, 0], [1, 1]), ([0, 0], [-2, 1]), ([5, 0], [-1, 1])):
            content = model([x_tensor([4, 6]), *numbers_of(begin, size), x_tensor([1, 1], "y")], [Op("SLICE", ["x", "begin", "size"], ["y"])], ["x"], ["y"])
            self.assert_refusal(content, "node 'y': SLICE: size and begin do not fit, wanted parts of [4, 6]")

    def test_strided_slice(self):
        x = list(range(24))

        def check(out, want, begin, end, steps, **masks):
            more = [Tensor(name, "int32", [len(one)], one) for name, one in (("begin", begin), ("end", end), ("steps", steps))]
            slots = {"begin_mask": 0, "end_mask": 1, "shrink_mask": 4}
            found = self.run_op("STRIDED_SLICE", [4, 6], out, {slots[name]: i32(mask) for name, mask in masks.items()}, more, x)[1]
            self.assertEqual(found, want)

        check([2, 3], [7, 9, 11, 13, 15, 17], [1, 1], [3, 6], [1, 2])
        check([4, 2], [0, 3, 6, 9, 12, 15, 18, 21], [2, 0], [3, 6], [1, 3], begin_mask=1, end_mask=1)
        check([6], [12, 13, 14, 15, 16, 17], [-2, 0], [0, 0], [1, 1], shrink_mask=1, end_mask=2)
        check([2, 6], [18, 19, 20, 21, 22, 23, 6, 7, 8, 9, 10, 11], [-1], [-4], [-2])
        check([], [23], [3, 5], [4, 6], [1, 1], shrink_mask=3)
        for masks, text in (({2: i32(1)}, "ellipsis_mask is set, wanted 0"), ({3: i32(1)}, "new_axis_mask is set, wanted 0"),
                            ({4: i32(1)}, "begin is 9, wanted an index of dim 0 of 4")):
            content = model([x_tensor([4]), *(Tensor(name, "int32", [1], [one]) for name, one in (("b", 9), ("e", 9), ("s", 1))), x_tensor([4], "y")],
                            [Op("STRIDED_SLICE", ["x", "b", "e", "s"], ["y"], masks)], ["x"], ["y"])
            self.assert_refusal(content, f"node 'y': STRIDED_SLICE: {text}")

    def split(self, op, outputs, more, before=()):
        outs = [x_tensor(shape, f"y{i}") for i, shape in enumerate(outputs)]
        content = model([x_tensor([2, 6]), *more, *outs],
                        [Op(op, [*before, "x", *(one.name for one in more if one.name not in before)], [one.name for one in outs])],
                        ["x"], [one.name for one in outs])
        return content

    def test_splits(self):
        x = harness.tensor("int8", [2, 6], list(range(12)))
        axis, sizes = Tensor("axis", "int32", [], [1]), Tensor("sizes", "int32", [2], [-1, 2])
        found = self.run_model(self.split("SPLIT", [[2, 3], [2, 3]], [axis], ["axis"]), x=x)
        self.assertEqual(found, {"y0": [0, 1, 2, 6, 7, 8], "y1": [3, 4, 5, 9, 10, 11]})
        found = self.run_model(self.split("SPLIT_V", [[2, 4], [2, 2]], [sizes, axis]), x=x)
        self.assertEqual(found, {"y0": [0, 1, 2, 3, 6, 7, 8, 9], "y1": [4, 5, 10, 11]})
        self.assert_refusal(self.split("SPLIT", [[2, 2]] * 4, [axis], ["axis"]), "node 'y0': SPLIT: num_splits is 4, wanted a divisor of 6")
        sizes.data = [5, 2]
        self.assert_refusal(self.split("SPLIT_V", [[2, 4], [2, 2]], [sizes, axis]),
                            "node 'y0': SPLIT_V: size_splits do not fit, wanted 2 sizes whose sum is 6")


class Resizing(Tflite):
    def test_nearest(self):
        x = [1, 2, 3, 4, 5, 6]
        for options, rows in (({}, [0, 0, 1, 1, 2]), ({0: i8(1)}, [0, 1, 1, 2, 2]), ({1: i8(1)}, [0, 0, 1, 2, 2])):
            found = self.run_op("RESIZE_NEAREST_NEIGHBOR", [1, 3, 2, 1], [1, 5, 2, 1], options, [Tensor("size", "int32", [2], [5, 2])], x)[1]
            self.assertEqual(found, [x[2 * row + k] for row in rows for k in range(2)], options)

    def test_bilinear(self):
        x = [0, 32, 64, 96]
        for options, positions in (({}, [0, 0.5, 1, 1]), ({2: i8(1)}, [0, 1 / 3, 2 / 3, 1]), ({3: i8(1)}, [0, 0.25, 0.75, 1])):
            found = self.run_op("RESIZE_BILINEAR", [1, 2, 2, 1], [1, 4, 2, 1], options, [Tensor("size", "int32", [2], [4, 2])], x)[1]
            want = [code((1 - p) * a + p * b) for p in positions for a, b in zip(reals(x[:2]), reals(x[2:]))]
            self.assertEqual(found, want, options)
        content = model([x_tensor([1, 2, 2, 1]), Tensor("size", "int32", [2], [4, 4]), x_tensor([1, 4, 4, 1], "y")],
                        [Op("RESIZE_BILINEAR", ["x", "size"], ["y"], {2: i8(1), 3: i8(1)})], ["x"], ["y"])
        self.assert_refusal(content, "node 'y': RESIZE_BILINEAR: half_pixel_centers is set, and align_corners too, wanted one of the two")


# ---- State ----


class Until(Tflite):
    def content(self):
        """2 x, an operator that is refused, and one behind it; b is an input of the second alone."""
        one = {"scale": 1.0}
        tensors = [Tensor("x", "int8", [2], **one), Tensor("b", "int8", [2], **one), Tensor("a/b c", "int8", [2], **one),
                   Tensor("z", "int8", [2], **one), Tensor("w", "int8", [2], **one)]
        return model(tensors, [Op("ADD", ["x", "x"], ["a/b c"]), Op("CUSTOM", ["a/b c", "b"], ["z"]), Op("ADD", ["z", "z"], ["w"])],
                     ["x", "b"], ["w"])

    def test_what_the_end_does_not_need_is_left_out(self):
        self.write("m.tflite", self.content())
        self.qdq("run", "m.tflite", "--fill", "1", code=4)
        write_npy(self.folder / "x.npy", harness.tensor("int8", [2], [3, -4]))
        self.qdq("run", "m.tflite", "--until", "a/b c", "-i", "x=x.npy", "-o", "a/b c=y.npy")
        self.assertEqual(unpack(harness.read_npy(self.folder / "y.npy")), [6, -8])

    def test_another_name_is_refused(self):
        self.write("m.tflite", self.content())
        for name, near in (("a/b_c", "; did you mean 'a/b"), ("x", ""), ("none of these", "")):
            said = self.qdq("run", "m.tflite", "--until", name, "--fill", "1", code=2).err
            self.assertIn(f"m.tflite: the model is to end at '{name}', which is no result of an operator{near}", said)


class Variables(Tflite):
    """y is x added to the sum of all x before; the first sum is 5."""

    def content(self, ops=None, initial=(5, 5), init_ops=None, **read):
        handle, once = (lambda name: Tensor(name, "resource", [])), lambda: {1: "the sum"}
        sum_ = Tensor("read", "int8", [2], scale=1.0, **read)
        tensors = [Tensor("x", "int8", [2], scale=1.0), handle("the sum"), sum_, Tensor("y", "int8", [2], scale=1.0)]
        ops = ops or [Op("CALL_ONCE", [], [], {0: i32(1)}), Op("VAR_HANDLE", [], ["the sum"], once()), Op("READ_VARIABLE", ["the sum"], ["read"]),
                      Op("ADD", ["x", "read"], ["y"]), Op("ASSIGN_VARIABLE", ["the sum", "y"], [])]
        init = ([handle("h"), Tensor("c", "int8", [2], list(initial), 1.0)],
                init_ops or [Op("VAR_HANDLE", [], ["h"], once()), Op("ASSIGN_VARIABLE", ["h", "c"], [])], [], [])
        return model(tensors, ops, ["x"], ["y"], [init])

    def test_frames_pass_on_the_state(self):
        self.write("m.tflite", self.content(initial=[5, -1]))
        write_npy(self.folder / "x.npy", harness.tensor("int8", [6], [1, 2, 3, 4, 5, 6]))
        want = [6, 1, 9, 5, 14, 11]
        self.qdq("convert", "m.tflite", "-o", "g.json")
        for name in ("m.tflite", "g.json"):
            self.qdq("run", name, "--frames", "3", "-i", "x=x.npy", "-o", "y=y.npy")
            found = harness.read_npy(self.folder / "y.npy")
            self.assertEqual((found.shape, unpack(found)), ([6], want))
        self.assertEqual(json.loads((self.folder / "g.json").read_text())["states"],
                         [{"input": "the sum", "output": "the sum/next", "initial": [5, -1]}])

    def test_a_model_that_ends_earlier_passes_on_the_state(self):
        """y is x + the sum before; the model ends at y, or at 2 y behind it."""
        ops = [Op("CALL_ONCE", [], [], {0: i32(1)}), Op("VAR_HANDLE", [], ["the sum"], {1: "the sum"}),
               Op("READ_VARIABLE", ["the sum"], ["read"]), Op("ADD", ["x", "read"], ["y"]), Op("ADD", ["y", "y"], ["z"]),
               Op("ASSIGN_VARIABLE", ["the sum", "y"], [])]
        tensors = [Tensor("x", "int8", [2], scale=1.0), Tensor("the sum", "resource", []), Tensor("read", "int8", [2], scale=1.0),
                   Tensor("y", "int8", [2], scale=1.0), Tensor("z", "int8", [2], scale=1.0)]
        init = ([Tensor("h", "resource", []), Tensor("c", "int8", [2], [5, -1], 1.0)],
                [Op("VAR_HANDLE", [], ["h"], {1: "the sum"}), Op("ASSIGN_VARIABLE", ["h", "c"], [])], [], [])
        self.write("m.tflite", model(tensors, ops, ["x"], ["z"], [init]))
        write_npy(self.folder / "x.npy", harness.tensor("int8", [6], [1, 2, 3, 4, 5, 6]))
        for words, name, want in (([], "z", [12, 2, 18, 10, 28, 22]), (["--until", "y"], "y", [6, 1, 9, 5, 14, 11])):
            self.qdq("run", "m.tflite", "--frames", "3", "-i", "x=x.npy", "-o", f"{name}=out.npy", *words)
            self.assertEqual(unpack(harness.read_npy(self.folder / "out.npy")), want)

    def test_a_run_begins_with_the_first_elements(self):
        found = self.run_model(self.content(), x=harness.tensor("int8", [2], [1, 2]))
        self.assertEqual(found, {"y": [6, 7], "the sum/next": [6, 7]})
        found = self.run_model(self.content(), x=harness.tensor("int8", [2], [1, 2]), **{"the sum": harness.tensor("int8", [2], [10, 20])})
        self.assertEqual(found["y"], [11, 22])

    def test_variables_without_first_elements_begin_with_zeros(self):
        ops = [Op("VAR_HANDLE", [], ["the sum"], {1: "the sum"}), Op("READ_VARIABLE", ["the sum"], ["read"]), Op("ADD", ["x", "read"], ["y"])]
        found = self.run_model(self.content(ops), x=harness.tensor("int8", [2], [1, 2]))
        self.assertEqual(found, {"y": [1, 2], "the sum/next": [0, 0]})

    def test_a_read_after_an_assignment(self):
        ops = [Op("VAR_HANDLE", [], ["the sum"], {1: "the sum"}), Op("ASSIGN_VARIABLE", ["the sum", "x"], []), Op("READ_VARIABLE", ["the sum"], ["read"]),
               Op("ADD", ["x", "read"], ["y"])]
        self.assertEqual(self.run_model(self.content(ops), x=harness.tensor("int8", [2], [1, 2])), {"y": [2, 4]})

    def test_refusals(self):
        self.assert_refusal(self.content([Op("READ_VARIABLE", ["the sum"], ["read"]), Op("ADD", ["x", "read"], ["y"])]),
                            "node 'read': READ_VARIABLE: reads 'the sum', which is a resource")
        self.assert_refusal(self.content([Op("CALL_ONCE", [], [], {0: i32(2)}), Op("RELU", ["x"], ["y"])]),
                            "node 'operator_0': CALL_ONCE: init_subgraph_index is 2, wanted 1 to 1")
        self.assert_refusal(self.content(init_ops=[Op("RELU", ["c"], ["h"])]),
                            "node 'operator_0': CALL_ONCE: does more than assign constants to variables")

    def test_states_of_graph_files(self):
        base = graph([node("ReLU", "q", "x")], inputs=[value("x"), value("s")], outputs={"y": "q", "t": "s"})
        for states, text in (([{"input": "x", "output": "z"}], "x"), ([{"input": "q", "output": "y"}], "is no input, wanted an input")):
            found = self.check({**base, "states": states})
            self.assertEqual([one["rule"] for one in found if one["severity"] == "error"], ["core/value-unknown"])
            self.assertIn(text, found[0]["message"])
        found = self.check({**base, "states": [{"input": "s", "output": "y", "initial": [1, 2]}]})
        self.assertIn("has 2 first elements, wanted one, or 6", found[0]["message"])
        self.assertEqual([one for one in self.check({**base, "states": [{"input": "s", "output": "y", "initial": [1]}]}, code=0) if one["severity"] == "error"], [])


if __name__ == "__main__":
    main()
