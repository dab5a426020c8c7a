#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq run: tensors in and out, comparing, filling, and options that must not change a bit."""

import json
import math
import os
import random
import shutil

from harness import (Case, Tensor, bfloat16, bfloat16_bits, constant, float32_of_bits, graph,
                     identity, main, models, node, npy_bytes, pack, quantize, read_npy,
                     read_safetensors, requantize, safetensors_bytes, tensor, unpack, value,
                     write_npy)

INF, NAN = math.inf, math.nan
# Around rounding to 8 bits: ties to even both ways, numbers next to ties, ends of the range,
# subnormals.
ODD_FLOATS = [1.00390625, 1.01171875, 1.0039063, 1.0039061, -1.00390625, -1.01171875, 0.0, -0.0,
              1e-45, -1e-45, 9.18e-41, 1.1754944e-38, 3.3895314e38, 3.3961775e38, 3.4028235e38,
              -3.4028235e38, INF, -INF, 0.1, 2.0 / 3.0, 16777216.0, 65535.0]


def of_bits(x):
    """The bits of elements, so that NaN equals NaN and -0 does not equal 0."""
    return ["NaN" if isinstance(v, float) and math.isnan(v) else (v, math.copysign(1, v))
            for v in unpack(x)]


class Files(Case):
    def test_npy_of_every_dtype_and_rank(self):
        for dtype, values in (("float32", [1.5, -0.0, INF, 3e-45, -7.25, 0.1]),
                              ("int8", [-128, 127, 0, 1, -1, 5]), ("uint8", [0, 255, 1, 2, 3, 4]),
                              ("int32", [-2**31, 2**31 - 1, 16777217, -16777217, 0, 1])):
            for shape in ([], [6], [2, 3], [1, 3, 2], [1, 1, 2, 1, 3, 1, 1, 1]):
                x = tensor(dtype, shape, values[:math.prod(shape)])
                for more in ([], ["--materialize"]):
                    self.assertEqual(self.run_one(identity(dtype, shape), x, *more), x)

    def test_hundreds_of_inputs_and_outputs_are_given_by_name(self):
        names = [f"x{i}" for i in range(300)]
        content = graph([node("Abs", f"n{n}", n) for n in names],
                        [value(n, shape=[1]) for n in names], {f"y{n}": f"n{n}" for n in names})
        for i, n in enumerate(names):
            write_npy(self.folder / f"{n}.npy", tensor("float32", [1], [-i]))
        words = [w for n in names for w in ("-i", f"{n}={n}.npy", "-o", f"y{n}=y{n}.npy")]
        self.qdq("run", self.write("many.json", content), *words)
        for i, n in enumerate(names):
            self.assertEqual(unpack(read_npy(self.folder / f"y{n}.npy")), [i])

    def test_npy_of_version_2(self):
        x = tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6])
        write_npy(self.folder / "x.npy", x, version=2)
        self.qdq("run", self.write("g.json", identity("float32", [2, 3])), "-i", "x=x.npy", "-o",
                 "y=y.npy")
        self.assertEqual(read_npy(self.folder / "y.npy"), x)

    def test_bfloat16_is_float32_in_npy_rounded_half_to_even(self):
        x = tensor("float32", [len(ODD_FLOATS)], ODD_FLOATS)
        y = self.run_one(identity("bfloat16", x.shape), x)
        self.assertEqual(of_bits(y), of_bits(tensor("float32", x.shape, map_all(bfloat16, x))))

    def test_nan_stays_nan_as_bfloat16(self):
        patterns = [0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F80FFFF]
        x = Tensor("float32", [6], b"".join(bits.to_bytes(4, "little") for bits in patterns))
        y = self.run_one(identity("bfloat16", [6]), x)
        self.assertTrue(all(map(math.isnan, unpack(y))), unpack(y))

    def test_bfloat16_survives_safetensors_bit_for_bit(self):
        x = tensor("bfloat16", [4], [0x3F80, 0x0001, 0xFF80, 0x8000])
        self.write("x.safetensors", safetensors_bytes({"x": x}))
        self.qdq("run", self.write("g.json", identity("bfloat16", [4])), "-i", "x.safetensors",
                 "-o", "y.safetensors", "-o", "y=y.npy")
        self.assertEqual(read_safetensors(self.folder / "y.safetensors"), {"y": x})
        wide = [float32_of_bits(bits << 16) for bits in unpack(x)]
        self.assertEqual(of_bits(read_npy(self.folder / "y.npy")),
                         of_bits(tensor("float32", [4], wide)))

    def test_safetensors_float32_for_bfloat16(self):
        x = tensor("float32", [len(ODD_FLOATS)], ODD_FLOATS)
        self.write("x.safetensors", safetensors_bytes({"x": x}))
        self.qdq("run", self.write("g.json", identity("bfloat16", x.shape)), "-i", "x.safetensors",
                 "-o", "y.safetensors")
        y = read_safetensors(self.folder / "y.safetensors")["y"]
        self.assertEqual(y, tensor("bfloat16", x.shape, map_all(bfloat16_bits, x)))

    def test_block_floats_are_float32_in_files(self):
        # A group from ttnn's packer whose numbers share an exponent, and a second group.
        x = tensor("float32", [1, 18], [1, -1, 0.5, -0.5, 3.1415927, 0.1, -0.1, 0, 7.9999, 2, 0.01,
                                        -0.01, 0.001, 1.5625, 0.3333333, -2.71828, 1.0234375, -0.0])
        wanted = {"bfloat8_b": [1, -1, 0.5, -0.5, 3.125, 0.125, -0.125, 0, 7.9375, 2, 0, 0, 0,
                                1.5625, 0.3125, -2.6875, 1.03125, 0],
                  "bfloat4_b": [1, -1, 0, 0, 3, 0, 0, 0, 7, 2, 0, 0, 0, 2, 0, -3, 1, 0]}
        for dtype, values in wanted.items():
            y = tensor("float32", x.shape, values)
            self.write("g.json", identity(dtype, x.shape))
            self.write("x.safetensors", safetensors_bytes({"x": x}))
            for more in ([], ["--materialize"]):
                self.assertEqual(self.run_one(identity(dtype, x.shape), x, *more), y)
                self.qdq("run", "g.json", "-i", "x.safetensors", "-o", "y.safetensors", *more)
                self.assertEqual(read_safetensors(self.folder / "y.safetensors"), {"y": y})
                self.qdq("run", "g.json", "-i", "x=y.safetensors#y", "-e", "y.safetensors", *more)
            self.write("g.json", graph(outputs={"y": "c"}, inputs=[], constants=[
                {**value("c", dtype, x.shape), "file": "x.safetensors", "tensor": "x"}]))
            self.qdq("run", "g.json", "-e", "y.safetensors")

    def test_float4_is_expected_as_its_codes(self):
        x = tensor("float32", [5], [0, -0.5, 1, 3, -9])
        self.write("x.safetensors", safetensors_bytes({"x": x}))
        self.write("g.json", graph([quantize("q", "x", scales=1, dtype="float4_e2m1")],
                                   [value("x", shape=[5])], {"y": "q"}))
        run = ["run", "g.json", "-i", "x.safetensors"]
        self.write("y.safetensors", safetensors_bytes({"y": tensor("uint8", [5], [0, 9, 2, 5, 15])}))
        self.qdq(*run, "-e", "y.safetensors")
        self.write("y.safetensors", safetensors_bytes({"y": tensor("uint8", [5], [0, 9, 2, 5, 14])}))
        self.qdq(*run, "-e", "y.safetensors", code=1)
        write_npy(self.folder / "y.npy", tensor("float32", [5], [0, -0.5, 1, 3, -6]))
        self.qdq(*run, "-e", "y=y.npy")

    def two_inputs(self):
        nodes = [quantize("q", "x", scales=1), quantize("r", "z", scales=1)]
        self.write("g.json", graph(nodes, [value("x", shape=[2]), value("z", shape=[2])],
                                   {"a": "q", "b": "r"}))
        x, z = tensor("float32", [2], [1, 2]), tensor("float32", [2], [3, 4])
        self.write("two.safetensors", safetensors_bytes({"z": z, "x": x, "other": x}))
        self.write("one.safetensors", safetensors_bytes({"whatever": z}))
        write_npy(self.folder / "x.npy", x)
        return {"a": tensor("int8", [2], [1, 2]), "b": tensor("int8", [2], [3, 4])}

    def test_safetensors_with_and_without_names(self):
        wanted = self.two_inputs()
        for words in (["two.safetensors"], ["x=two.safetensors", "z=two.safetensors"],
                      ["x=x.npy", "two.safetensors"], ["x=x.npy", "z=one.safetensors"],
                      ["x=two.safetensors#other", "two.safetensors"],
                      ["x=x.npy", "z=one.safetensors#whatever"]):
            inputs = [word for one in words for word in ("-i", one)]
            self.qdq("run", "g.json", *inputs, "-o", "all.safetensors", "-o", "b=b.safetensors",
                     "--output", "a=a.npy")
            self.assertEqual(read_safetensors(self.folder / "all.safetensors"), wanted, words)
            self.assertEqual(read_safetensors(self.folder / "b.safetensors"), {"b": wanted["b"]})
            self.assertEqual(read_npy(self.folder / "a.npy"), wanted["a"])

    def test_outputs_may_replace_the_inputs(self):
        x = tensor("int8", [3], [1, 2, 3])
        write_npy(self.folder / "x.npy", x)
        self.qdq("run", self.write("g.json", graph([requantize("q", "x", out_scales=0.5)],
                                                   [value("x", "int8", [3])])),
                 "-i", "x=x.npy", "-o", "y=x.npy")
        self.assertEqual(unpack(read_npy(self.folder / "x.npy")), [2, 4, 6])
        self.assertEqual(sorted(os.listdir(self.folder)), ["g.json", "x.npy"])

    def test_names_with_dots_quotes_and_utf8(self):
        for name in ("a.b", 'a"b', "a'b", "größe", "日本", "a b", "🙂"):
            self.write("g.json", graph([quantize(name + "q", name, scales=1)],
                                       [value(name, shape=[2])], {name: name + "q"}))
            self.write("in.safetensors",
                       safetensors_bytes({name: tensor("float32", [2], [1, 2])}))
            write_npy(self.folder / "in.npy", tensor("float32", [2], [1, 2]))
            for given in ("in.safetensors", name + "=in.npy"):
                self.qdq("run", "g.json", "-i", given, "-o", "out.safetensors", "-o",
                         name + "=out.npy")
                self.assertEqual(read_safetensors(self.folder / "out.safetensors"),
                                 {name: tensor("int8", [2], [1, 2])})
            parsed = self.json("run", "g.json", "-i", "in.safetensors")
            self.assertEqual(parsed["outputs"][0]["name"], name)


class BadFiles(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", identity("float32", [2]))

    def refused(self, content, text, name="x.npy", code=3):
        self.write(name, content)
        result = self.qdq("run", "g.json", "-i", f"x={name}", code=code)
        self.assertEqual(result.out, "")
        self.assertIn(name, result.err)
        self.assertIn(text, result.err)

    def test_npy_that_is_broken(self):
        data = pack("float32", [1, 2])
        good = npy_bytes("<f4", [2], data)
        self.refused(b"", "ends")
        self.refused(good[:5], "ends")
        self.refused(good[:60], "ends")
        self.refused(good[:-1], "7 bytes")
        self.refused(good + b"\0", "9 bytes")
        self.refused(b"P_\3\4" + good[4:], "begin")
        self.refused(good[:8] + b"\xff\xff" + good[10:], "ends")
        self.refused(good.replace(b"'shape'", b"'Shape'"), "Shape")
        self.refused(npy_bytes("<f4", [3], data), "8 bytes")
        self.refused(npy_bytes("<f4", [2**62, 4], data), "", code=None)
        self.refused(npy_bytes("<f4", [-2], data), "")
        self.refused(npy_bytes("<f4", [0], b""), "")
        self.refused(npy_bytes("|O", [2], data), "|O", code=4)

    def test_npy_of_another_shape_or_dtype(self):
        self.refused(npy_bytes("<f4", [1, 2], pack("float32", [1, 2])), "[1, 2]")
        self.refused(npy_bytes("<f4", [3], pack("float32", [1, 2, 3])), "[3], wanted [2]")
        self.refused(npy_bytes("<i4", [2], pack("int32", [1, 2])), "int32")
        self.refused(npy_bytes("<f4", [], pack("float32", [1])), "[]")
        self.refused(npy_bytes("<f8", [2], bytes(16)), "astype('float32')")

    def test_safetensors_that_is_broken(self):
        good = safetensors_bytes({"x": tensor("float32", [2], [1, 2])})
        for content in (b"", good[:4], good[:8], good[:20], good[:-1], good + b"\0",
                        b"\xff" * 8 + good[8:], b"\0" * 8 + good[8:],
                        good.replace(b"[0, 8]", b"[0, 4]"), good.replace(b"[0, 8]", b"[4, 8]"),
                        good.replace(b"[0, 8]", b"[8, 0]"), good.replace(b"[2]", b"[3]"),
                        good.replace(b"[2]", b"[.]"), good.replace(b'"x"', b'"\xff"')):
            self.refused(content, "", name="x.safetensors")

    def test_safetensors_without_the_tensor(self):
        two = {"a": tensor("float32", [2], [1, 2]), "b": tensor("float32", [2], [1, 2])}
        self.refused(safetensors_bytes(two), "'x'", name="x.safetensors")
        self.write("x.safetensors", safetensors_bytes(two))
        self.assertIn("'c'", self.qdq("run", "g.json", "-i", "x=x.safetensors#c", code=3).err)

    def test_files_without_tensors(self):
        os.mkdir(self.folder / "d.npy")
        os.mkdir(self.folder / "d.safetensors")
        for name in ("d.npy", "d.safetensors", "nowhere.npy", "nowhere.safetensors"):
            self.assertIn(name, self.qdq("run", "g.json", "-i", f"x={name}", code=3).err)
        err = self.qdq("run", "g.json", "-i", "x=x.txt", code=2).err
        self.assertIn(".npy, .npz or .safetensors", err)

    def test_a_file_given_without_a_name_is_checked_too(self):
        self.write("bad.safetensors", b"bad")
        for name in ("nowhere.safetensors", "bad.safetensors"):
            for more in ([], ["--fill", "1"]):
                self.assertIn(name, self.qdq("run", "g.json", "-i", name, *more, code=3).err)
            self.assertIn(name, self.qdq("run", "g.json", "--fill", "1", "-e", name, code=3).err)

    def test_npy_needs_the_name_of_an_input(self):
        write_npy(self.folder / "x.npy", tensor("float32", [2], [1, 2]))
        for more in ([], ["--fill", "1"]):
            result = self.qdq("run", "g.json", "-i", "x.npy", *more, code=2)
            self.assertIn("x.npy", result.err)

    def test_inputs_that_are_missing_or_unknown(self):
        err = self.qdq("run", "g.json", code=2).err
        self.assertIn("input 'x' is not given", err)
        self.assertIn("-i x=FILE", err)
        self.assertIn("--fill", err)
        write_npy(self.folder / "x.npy", tensor("float32", [2], [1, 2]))
        err = self.qdq("run", "g.json", "-i", "z=x.npy", "-i", "x=x.npy", code=2).err
        self.assertIn("there is no input 'z', wanted one of: x", err)

    def test_an_input_is_given_once(self):
        for name in ("x", "z"):
            write_npy(self.folder / f"{name}.npy", tensor("float32", [2], [1, 2]))
        self.qdq("run", "g.json", "-i", "x=x.npy", "-i", "x=z.npy", code=2)

    def test_half_a_name_and_file(self):
        write_npy(self.folder / "x.npy", tensor("float32", [2], [1, 2]))
        for words in (["-i", ""], ["-i", "x="], ["-o", "y="], ["-e", ""], ["-o", ""],
                      ["-i", "=x.npy"], ["-o", "=y.npy"]):
            self.qdq("run", "g.json", "--fill", "1", *words, code=2)

    def test_outputs_that_cannot_be_written(self):
        os.mkdir(self.folder / "d.npy")
        os.mkdir(self.folder / "d.safetensors")
        before = sorted(os.listdir(self.folder))
        for name in ("no/y.npy", "no/y.safetensors", "d.npy", "d.safetensors", "/proc/y.npy"):
            result = self.qdq("run", "g.json", "--fill", "1", "-o", f"y={name}", code=None)
            self.assertGreaterEqual(result.code, 2)
            self.assertIn(name, result.err)
            self.assertEqual(sorted(os.listdir(self.folder)), before)
        for words in (["-o", "z=z.npy"], ["-o", "y.npy"], ["-o", "y=y.txt"], ["-o", "y"]):
            self.qdq("run", "g.json", "--fill", "1", *words, code=2)
            self.assertEqual(sorted(os.listdir(self.folder)), before)


class Results(Case):
    def numbers(self, dtype, values):
        write_npy(self.folder / "x.npy", tensor(dtype, [len(values)], values))
        self.write("g.json", identity(dtype, [len(values)]))
        return ["run", "g.json", "-i", "x=x.npy"]

    def test_summary(self):
        words = self.numbers("float32", [1.5, -2, NAN, 0.1, 5, 6, 7, 8, 9])
        self.assertEqual(self.qdq(*words).out, "y: float32 [9], min -2, max 9, 1 NaN\n"
                                               "  1.5 -2 nan 0.100000001 5 6 7 8 ...\n")
        parsed = self.json(*words)
        self.assertEqual(parsed["outputs"], [
            {"name": "y", "dtype": "float32", "shape": [9],
             "first": [1.5, -2, "NaN", 0.1, 5, 6, 7, 8], "min": -2, "max": 9, "nan_count": 1}])
        self.assertEqual(parsed["comparisons"], [])

    def test_small_floats_that_were_written_can_be_given(self):
        values = {"x": tensor("float32", [5], [0.5, -6, 1.5, -1, 3])}
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(values))
        for dtype in ("float4_e2m1", "float8_e4m3fn", "float8_e5m2", "bfloat8_b"):
            self.write("g.json", graph([], [value("x", dtype, [5])], {"x": "x"}))
            self.qdq("run", "g.json", "-i", "in.safetensors", "-o", "out.safetensors")
            self.qdq("run", "g.json", "-i", "out.safetensors", "-e", "in.safetensors")
        self.write("g.json", graph([], [value("x", "float4_e2m1", [2])], {"x": "x"}))
        codes = {"x": tensor("uint8", [2], [15, 16])}
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(codes))
        self.assertIn("element 1 does not fit into float4_e2m1",
                      self.qdq("run", "g.json", "-i", "in.safetensors", code=3).err)

    def test_an_infinity_stays_one_if_the_dtype_has_one(self):
        write_npy(self.folder / "x.npy", tensor("float32", [4], [INF, -INF, 1e9, -1e9]))
        for dtype, wanted in (("float8_e5m2", ["Infinity", "-Infinity", 57344, -57344]),
                              ("float8_e4m3fn", [448, -448, 448, -448]),
                              ("float16", ["Infinity", "-Infinity", "Infinity", "-Infinity"])):
            self.write("g.json", graph([], [value("x", dtype, [4])], {"y": "x"}))
            parsed = self.json("run", "g.json", "-i", "x=x.npy")
            self.assertEqual(parsed["outputs"][0]["first"], wanted)

    def test_floats_narrower_than_float32_are_widened_in_npy(self):
        x = tensor("float32", [3], [0.5, -2, 6])
        write_npy(self.folder / "x.npy", x)
        for dtype in ("float32", "float16", "bfloat16", "float8_e5m2", "float4_e2m1"):
            self.write("g.json", graph([], [value("x", dtype, [3])], {"y": "x"}))
            self.qdq("run", "g.json", "-i", "x=x.npy", "-o", "y=y.npy")
            self.assertEqual(read_npy(self.folder / "y.npy"), x)

    def test_nothing_but_nan_and_infinities(self):
        self.assertEqual(self.json(*self.numbers("float32", [NAN]))["outputs"][0]["min"], "NaN")
        one = self.json(*self.numbers("float32", [INF, -INF]))["outputs"][0]
        self.assertEqual((one["first"], one["min"], one["max"]),
                         (["Infinity", "-Infinity"], "-Infinity", "Infinity"))

    def test_integers_are_reported_exactly(self):
        values = [2147483647, -2147483648, 16777217, 923725047]
        words = self.numbers("int32", values)
        one = self.json(*words)["outputs"][0]
        self.assertEqual((one["min"], one["max"]), (-2147483648, 2147483647))
        self.assertEqual(one["first"], values)
        self.assertEqual(self.qdq(*words).out, "y: int32 [4], min -2147483648, max 2147483647\n"
                                               "  2147483647 -2147483648 16777217 923725047\n")

    def test_summary_of_each_output_in_order(self):
        self.write("g.json", graph([quantize(scales=1)], outputs={"b": "q", "a": "x", "c": "q"}))
        lines = self.qdq("run", "g.json", "--fill", "1").out.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines[::2]], ["b", "a", "c"])

    def test_written_outputs_have_no_summary(self):
        self.write("g.json", identity("float32", [2]))
        self.assertEqual(self.qdq("run", "g.json", "--fill", "1", "-o", "y=y.npy").out, "")


class InputsTwice(Case):
    def test_an_input_that_two_files_have_is_refused(self):
        """An input by its name comes before files of several inputs, whatever their order is."""
        self.write("g.json", identity("float32", [2]))
        write_npy(self.folder / "x.npy", tensor("float32", [2], [3, 4]))
        for name in ("a", "b"):
            (self.folder / f"{name}.safetensors").write_bytes(safetensors_bytes({"x": tensor("float32", [2], [1, 2])}))
        for words in (("x=x.npy", "a.safetensors"), ("a.safetensors", "x=x.npy")):
            self.qdq("run", "g.json", "-i", words[0], "-i", words[1], "-o", "y=y.npy")
            self.assertEqual(unpack(read_npy(self.folder / "y.npy")), [3, 4])
        for first, second in (("a.safetensors", "b.safetensors"), ("x=x.npy", "x=x.npy")):
            told = self.qdq("run", "g.json", "-i", first, "-i", second, code=2).err
            files = [one.split("=")[-1] for one in (first, second)]
            self.assertEqual(told, f"qdq: input 'x' is given twice: {files[0]} and {files[1]}\n")


class Expect(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", identity("float32", [2, 2]))
        for name, values in (("x", [1, 2, NAN, 4]), ("near", [1, 2.25, NAN, 4.5]),
                             ("number", [1, 2, 3, 4])):
            write_npy(self.folder / f"{name}.npy", tensor("float32", [2, 2], values))
        write_npy(self.folder / "flat.npy", tensor("float32", [4], [1, 2, NAN, 4]))

    def expect(self, name, *words, code):
        return self.qdq("run", "g.json", "-i", "x=x.npy", "--expect", f"y={name}.npy", *words,
                        code=code)

    def test_equal(self):
        self.assertIn("equal", self.expect("x", code=0).out)

    def test_different(self):
        out = self.expect("near", code=1).out
        for text in ("2 of 4", "0.5 at [1, 1]", "expected 4.5"):
            self.assertIn(text, out)

    def test_nan_and_a_number_differ(self):
        self.expect("number", code=1)
        self.expect("number", "--tolerance", "1000", code=1)

    def test_tolerance(self):
        for tolerance, code in (("0.5", 0), ("0.49", 1), ("0.25", 1), ("0", 1), ("1e3", 0)):
            self.expect("near", "--tolerance", tolerance, code=code)
        for tolerance in ("-1", "x", "nan", "", "1x"):
            self.expect("near", "--tolerance", tolerance, code=2)

    def test_another_shape(self):
        result = self.expect("flat", code=1)
        for text in ("'y'", "[2, 2]", "[4]"):
            self.assertIn(text, result.err + result.out)

    def test_json(self):
        parsed = json.loads(self.expect("near", "--json", code=1).out)
        self.assertEqual(parsed["comparisons"], [
            {"name": "y", "elements": 4, "different": 2, "largest": 0.5, "mean": 0.1875}])
        self.assertEqual(json.loads(self.expect("x", "--json", code=0).out)["comparisons"][0]
                         ["different"], 0)

    def test_outputs_without_an_expected_tensor_are_named(self):
        two = graph([quantize(scales=1)], inputs=[value("x", shape=[2, 2])], outputs={"y": "x", "w": "q"})
        self.write("two.json", two)
        one = {"y": tensor("float32", [2, 2], [1, 2, NAN, 4])}
        (self.folder / "one.safetensors").write_bytes(safetensors_bytes(one))
        (self.folder / "none.safetensors").write_bytes(safetensors_bytes({"v": one["y"]}))
        (self.folder / "empty.safetensors").write_bytes(safetensors_bytes({}))
        words = ["run", "two.json", "-i", "x=x.npy", "-e"]
        self.assertEqual(self.qdq(*words, "one.safetensors").out.splitlines(), [
            "y: all 4 elements equal", "w: not compared, because no --expect has a tensor of this name"])
        self.assertEqual(self.json(*words, "one.safetensors")["not_compared"], ["w"])
        both = self.json(*words, "one.safetensors", "-e", "w=near.npy", code=1)
        self.assertEqual((len(both["comparisons"]), both["not_compared"]), (2, []))
        self.assertEqual(self.json(*words, "y=x.npy")["not_compared"], [])
        for name in ("none", "empty"):
            found = self.qdq(*words, f"{name}.safetensors", code=3)
            self.assertIn(f"{name}.safetensors has no tensor with the name of an output", found.err)

    def test_rows_lists_the_worst_first(self):
        out = self.expect("near", "--worst", "9", code=1).out
        self.assertEqual([line.split(":")[0] for line in out.splitlines()[1:]],
                         ["  y[1]", "  y[0]"])

    def test_safetensors_and_several(self):
        good = {"y": tensor("float32", [2, 2], [1, 2, NAN, 4])}
        bad = {"y": tensor("float32", [2, 2], [1, 2, NAN, 5])}
        self.write("good.safetensors", safetensors_bytes(good))
        self.write("bad.safetensors", safetensors_bytes({"other": good["y"], **bad}))
        words = ["run", "g.json", "-i", "x=x.npy", "-e"]
        self.qdq(*words, "good.safetensors")
        self.qdq(*words, "bad.safetensors", code=1)
        self.qdq(*words, "y=bad.safetensors", code=1)
        self.qdq(*words, "y=bad.safetensors#other")
        self.qdq(*words, "y=good.safetensors", "-e", "y=bad.safetensors", code=1)

    def test_missing_names_and_files(self):
        self.write("z.safetensors", safetensors_bytes({"z": tensor("int8", [], [1])}))
        words = ["run", "g.json", "-i", "x=x.npy", "-e"]
        self.assertIn("'z'", self.qdq(*words, "z=x.npy", code=2).err)
        self.assertIn("z.safetensors", self.qdq(*words, "z.safetensors", code=3).err)
        self.assertIn("nowhere.npy", self.qdq(*words, "y=nowhere.npy", code=3).err)

    def test_neighbours_at_the_end_of_int32_are_distinguished(self):
        for name, last in (("x", 2147483647), ("z", 2147483646)):
            write_npy(self.folder / f"{name}.npy", tensor("int32", [1], [last]))
        self.write("g.json", identity("int32", [1]))
        out = self.expect("z", code=1).out
        self.assertIn("2147483647, expected 2147483646", out)


class Fill(Case):
    def setUp(self):
        super().setUp()
        inputs = [value("x", "float32", [50]), value("b", "bfloat16", [50]),
                  value("i", "int8", [50]), value("u", "uint8", [50]), value("l", "int32", [50])]
        self.write("g.json", graph(inputs=inputs, outputs={one["name"]: one["name"]
                                                           for one in inputs}))

    def fill(self, seed, *words):
        self.qdq("run", "g.json", "--fill", seed, *words, "-o", "y.safetensors")
        return read_safetensors(self.folder / "y.safetensors")

    def test_a_seed_gives_the_same_data(self):
        self.assertEqual(self.fill(7), self.fill(7))
        self.assertEqual(self.fill(7), self.fill(7, "--threads", "1", "--materialize"))
        other = self.fill(8)
        for name, one in self.fill(7).items():
            self.assertNotEqual(one, other[name])

    def test_the_data_varies(self):
        for name, one in self.fill(0).items():
            self.assertGreater(len(set(unpack(one))), 20, name)

    def test_given_inputs_are_kept(self):
        given = tensor("int8", [50], range(50))
        write_npy(self.folder / "i.npy", given)
        self.assertEqual(self.fill(7, "-i", "i=i.npy"), {**self.fill(7), "i": given})


class SameBits(Case):
    """Neither threads nor --materialize change a bit."""

    def outputs(self, *words):
        self.qdq("run", "g.json", *words, "-o", "out.safetensors")
        return (self.folder / "out.safetensors").read_bytes()

    def assert_same(self, *inputs, words=()):
        wanted = self.outputs(*inputs, *words, "--threads", "1")
        for more in (["--threads", "4"], ["--materialize", "--threads", "1"],
                     ["-m", "--threads", "4"], []):
            self.assertEqual(self.outputs(*inputs, *words, *more), wanted, more)

    def test_models(self):
        self.assertTrue(models())
        for model in models():
            shutil.copytree(model, self.folder, dirs_exist_ok=True)
            os.replace(self.folder / "graph.json", self.folder / "g.json")
            expect = ["-i", "inputs.safetensors", "--expect", "expected.safetensors"]
            for more in ([], ["-m"], ["--threads", "4"]):
                with self.subTest(model=model.name, words=more):
                    out = self.qdq("run", "g.json", *expect, *more).out
                    self.assertNotRegex(out, "differ")
            with self.subTest(model=model.name):
                self.assert_same("-i", "inputs.safetensors")
                self.assert_same("-i", "inputs.safetensors",
                                 words=["--float-storage", "bfloat16"])

    def test_random_graphs(self):
        for seed in range(30):
            with self.subTest(seed=seed):
                self.write("g.json", random_graph(random.Random(seed)))
                self.assert_same("--fill", seed)
                self.assert_same("--fill", seed, words=["--float-storage", "bfloat16"])

    def test_a_tensor_of_many_tiles(self):
        nodes = [node("DynamicQuantize", "d", "x", dtype="uint8"),
                 node("DynamicQuantize", "c", "x", qtype="per_channel", axis=-1),
                 node("Dequantize", "back", "d",
                      {"scale": "d.scale", "zero_point": "d.zero_point"})]
        outputs = {name: name for name in ("d", "d.scale", "d.zero_point", "c", "c.scale", "back")}
        self.write("g.json", graph(nodes, [value("x", shape=[3, 333, 257])], outputs))
        self.assert_same("--fill", 1)


class FloatStorage(Case):
    """1 + 2^-8 is stored as 1 in a bfloat16."""

    def setUp(self):
        super().setUp()
        step = {"scales": 2.0**-8, "dtype": "int32"}
        self.nodes = [quantize("a", "x", **step),
                      node("Dequantize", "f", "a", scales=2.0**-8, dtype="float32"),
                      quantize("q", "f", **step)]
        self.x = tensor("float32", [2], [1 + 2.0**-8, 1 + 2.0**-7])

    def test_intermediates_are_rounded(self):
        content = graph(self.nodes, [value("x", shape=[2])])
        for more in ([], ["-m"]):
            for storage, wanted in (("declared", [257, 258]), ("bfloat16", [256, 258])):
                y = self.run_one(content, self.x, "--float-storage", storage, *more)
                self.assertEqual(unpack(y), wanted, (storage, more))
            self.assertEqual(unpack(self.run_one(content, self.x, *more)), [257, 258])

    def test_inputs_and_outputs_keep_their_dtype(self):
        content = graph(self.nodes, [value("x", shape=[2])], {"y": "f", "z": "q"})
        y = self.run_one(content, self.x, "--float-storage", "bfloat16")
        self.assertEqual(y, self.x)

    def test_the_plan_shows_the_storage(self):
        self.write("g.json", graph(self.nodes, [value("x", shape=[2])]))
        for storage in ("declared", "bfloat16"):
            plan = self.json("plan", "g.json", "-m", "--float-storage", storage)
            dtypes = {one["name"]: one["dtype"] for one in plan["values"]}
            self.assertEqual(dtypes["f"], "float32" if storage == "declared" else "bfloat16")
            self.assertEqual(dtypes["a"], "int32")


def map_all(function, x):
    return [function(one) for one in unpack(x)]


def random_node(rng, name, x, dtypes, shape):
    """A random node that reads value `x`; adds its values to `dtypes`."""
    scale = rng.choice([0.5, 0.1, 0.03125, 0.007])
    group = {}
    if shape and rng.random() < 0.5:
        group = {"qtype": "per_group", "group_shape": [rng.randint(1, dim) for dim in shape]}
    if "float" in dtypes[x] and rng.random() < 0.4:
        dtypes[name] = dtypes[name + ".zero_point"] = rng.choice(["int8", "uint8"])
        dtypes[name + ".scale"] = "scale"
        scheme = rng.choice(["symmetric", "asymmetric"])
        back = node("Dequantize", name + "d", name,
                    {"scale": name + ".scale", "zero_point": name + ".zero_point"}, **group)
        dtypes[name + "d"] = "bfloat16"
        return [node("DynamicQuantize", name, x, dtype=dtypes[name], scheme=scheme, **group), back]
    if "float" in dtypes[x]:
        dtypes[name] = rng.choice(["int8", "uint8", "int32"])
        return [quantize(name, x, scales=scale, zps=rng.choice([0, 3]), dtype=dtypes[name])]
    if rng.random() < 0.5:
        dtypes[name] = rng.choice(["float32", "bfloat16"])
        return [node("Dequantize", name, x, scales=scale, dtype=dtypes[name])]
    attrs = {"in_scales": scale, "out_scales": 0.25}
    if shape and rng.random() < 0.5:
        axis = rng.randrange(-len(shape), len(shape))
        scales = [scale * (1 + k % 3) for k in range(shape[axis])]
        attrs = {"in_scales": scales, "axis": axis, "out_zps": 5}
    dtypes[name] = rng.choice(["int8", "uint8"])
    return [requantize(name, x, dtype=dtypes[name], **attrs)]


def random_graph(rng):
    """Up to 12 nodes, each of which reads an earlier value of x's shape; a third of the values are
    outputs."""
    shape = [rng.choice([1, 2, 5, 31, 32, 33, 65]) for _ in range(rng.randrange(5))]
    dtypes = {"x": rng.choice(["float32", "bfloat16"])}
    nodes = []
    for i in range(rng.randrange(1, 13)):
        x = rng.choice([name for name in dtypes if "." not in name])
        nodes += random_node(rng, f"n{i}", x, dtypes, shape)
    rng.shuffle(nodes)
    outputs = {name: name for name in dtypes if rng.random() < 0.3} or {"y": "x"}
    return graph(nodes, [value("x", dtypes["x"], shape)], {**outputs, "c": "c"},
                 constants=[constant("c", "float32", [], [1.5])])


class Memory(Case):
    """-o NAME=FILE.mem: the bits of elements as $readmemh reads them."""

    def written(self, dtype, x):
        one = graph([node("Cast", "q", "x", dtype=dtype)], [value("x", shape=[len(x)])], target="core")
        write_npy(self.folder / "x.npy", tensor("float32", [len(x)], x))
        self.qdq("run", self.write("g.json", one), "-i", "x=x.npy", "-o", "y=y.mem")
        head, *lines = (self.folder / "y.mem").read_text(encoding="ascii").splitlines()
        return head, lines

    def test_a_line_has_the_bits_of_an_element(self):
        for dtype, bits, lines in (("int8", 8, ["fe", "03", "7f"]), ("uint8", 8, ["02", "03", "7f"]),
                                   ("int4", 4, ["e", "3", "7"]), ("int32", 32, ["fffffffe", "00000003", "0000007f"]),
                                   ("float32", 32, ["c0000000", "40400000", "42fe0000"]),
                                   ("bfloat16", 16, ["c000", "4040", "42fe"])):
            x = [2 if dtype[0] == "u" else -2, 3, 7 if bits == 4 else 127]
            self.assertEqual(self.written(dtype, x),
                             (f"// y: {dtype} [3], {bits} bits, written by qdq", lines), dtype)

    def test_a_kept_value_and_an_input_are_written(self):
        self.write("g.json", graph([quantize("h", scales=1), node("Abs", "d", "x")], [value("x", shape=[2])], {"y": "d"}))
        write_npy(self.folder / "x.npy", tensor("float32", [2], [1.4, -300]))
        self.qdq("run", "g.json", "-i", "x=x.npy", "--keep", "all", "-o", "h=h.mem", "-o", "x=x.mem")
        self.assertEqual((self.folder / "h.mem").read_text().splitlines()[1:], ["01", "80"])
        self.assertEqual((self.folder / "x.mem").read_text().splitlines()[1:], ["3fb33333", "c3960000"])

    def test_pipes_and_all_outputs_are_refused(self):
        self.write("g.json", graph([quantize("q", scales=1)]))
        os.mkfifo(self.folder / "pipe.mem")
        words = ["run", "g.json", "--fill", 1, "-o"]
        self.assertEqual(self.qdq(*words, "y=pipe.mem", code=2).err,
                         "qdq: pipe.mem: a pipe takes .npy or .safetensors, not .mem\n")
        self.assertIn("wanted NAME=FILE, or a .safetensors file for all", self.qdq(*words, "y.mem", code=2).err)


class Keep(Case):
    """--keep: values that are no outputs can be written and compared."""

    def setUp(self):
        super().setUp()
        nodes = [quantize("h", scales=1), node("Dequantize", "d", "h", scales=1)]
        self.write("g.json", graph(nodes, [value("x", shape=[2, 2])], {"y": "d"}))
        write_npy(self.folder / "x.npy", tensor("float32", [2, 2], [1.4, -1.5, 2.6, -300]))

    def run_kept(self, *words, **more):
        return self.qdq("run", "g.json", "-i", "x=x.npy", *words, **more)

    def test_a_kept_value_is_written(self):
        for words in (["--keep", "h"], ["--keep", "all"], ["--tiles", "--keep", "h,d"], ["-m"],
                      ["--keep", "h", "--keep", "d"]):
            self.run_kept(*words, "-o", "h=h.npy")
            self.assertEqual(read_npy(self.folder / "h.npy"), tensor("int8", [2, 2], [1, -2, 3, -128]))
            self.assertIn("all 4 elements equal", self.run_kept(*words, "-e", "h=h.npy").out)

    def test_outputs_alone_are_summed_up(self):
        self.assertEqual(self.run_kept("--keep", "all").out, self.run_kept().out)

    def test_a_file_without_a_name_gets_all_that_is_kept(self):
        h, y = tensor("int8", [2, 2], [1, -2, 3, -128]), tensor("bfloat16", [2, 2], [0x3F80, 0xC000, 0x4040, 0xC300])
        x = read_npy(self.folder / "x.npy")
        for words, wanted in ((["--keep", "all"], {"y": y, "x": x, "h": h, "d": y}), (["--keep", "h"], {"y": y, "h": h}),
                              (["-m"], {"y": y}), ([], {"y": y})):
            self.run_kept(*words, "-o", "all.safetensors")
            self.assertEqual(read_safetensors(self.folder / "all.safetensors"), wanted, words)
        self.run_kept("--keep", "all", "-o", "all.safetensors", "-o", "h=h.npy", "-e", "all.safetensors")
        self.assertEqual(read_npy(self.folder / "h.npy"), h)

    def test_an_output_with_the_name_of_a_kept_value_is_written_once(self):
        one = graph([quantize("h", scales=1), node("Dequantize", "d", "h", scales=1)], [value("x", shape=[2, 2])],
                    {"h": "h", "d": "d"})
        self.write("g.json", one)
        self.run_kept("--keep", "all", "-o", "all.safetensors")
        self.assertEqual(set(read_safetensors(self.folder / "all.safetensors")), {"x", "h", "d"})

    def test_a_value_that_is_not_kept_is_no_output(self):
        self.assertIn("there is no output 'h'", self.run_kept("-o", "h=h.npy", code=2).err)

    def test_an_unknown_name_is_an_error(self):
        result = self.run_kept("--keep", "h,hh", code=2)
        self.assertEqual(result.err, "qdq: the graph has no value named 'hh' that could be kept; "
                         "did you mean 'h'?\n")


if __name__ == "__main__":
    main()
