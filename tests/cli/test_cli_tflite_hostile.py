#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Broken and malicious TensorFlow Lite models: each offset, length, count and index that a file may set is checked, in bounded
time and memory. What the format allows and few files do is read."""

import struct
import subprocess

import harness
from harness import Case, main
from tflite_file import Numbers, Op, Tensor, flatbuffer, i8, i32, ints, model, model_tables, u8, u32, u64

X, Y = Tensor("x", "float32", [2]), Tensor("y", "float32", [2])
MIB = 1 << 20


def relu(x=X, y=Y, more=(), **slots):
    return model_tables([x, y, *more], [Op("RELU", ["x"], ["y"])], ["x"], ["y"], **slots)


def patched(data, at, letter, number):
    return data[:at] + struct.pack("<" + letter, number) + data[at + struct.calcsize(letter):]


class Hostile(Case):
    def setUp(self):
        super().setUp()
        self.tables = relu()
        self.data, self.places = flatbuffer(self.tables)

    def place(self, table):
        return self.places[id(table)]

    def vtable(self, table):
        at = self.place(table)
        return at - struct.unpack("<i", self.data[at:at + 4])[0]

    def call(self, *words, code):
        """Calls qdq with the model as its input stream."""
        with open(self.folder / "m.tflite", "rb") as stream:
            done = subprocess.run([harness.QDQ, *words], cwd=self.folder, stdin=stream, capture_output=True, timeout=harness.TIMEOUT)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def refused(self, data, text, code=3):
        self.write("m.tflite", data)
        for name in ("m.tflite", "-"):
            err = self.call("check", name, code=code)[1]
            self.assertRegex(err, r"\Aqdq: [^\n]*\n\Z")
            self.assertIn(text, err)

    def found(self, data, text):
        self.write("m.tflite", data)
        self.assertIn(f"m.tflite: {text}", self.qdq("check", "m.tflite", code=1).out)

    def fine(self, data, *words):
        self.write("m.tflite", data)
        return self.qdq("check", "m.tflite", *words).out


class Offsets(Hostile):
    def test_the_file_itself(self):
        self.fine(self.data)
        self.refused(self.data[:8], "a table of 4 bytes at byte")
        self.refused(patched(self.data, 0, "I", 2**32 - 1), "a table of 4 bytes at byte 4294967295 ends beyond the file")
        self.refused(patched(self.data, 0, "I", len(self.data) - 2), "ends beyond the file, which has")
        for cut in range(8, len(self.data), 5):
            self.write("m.tflite", self.data[:cut])
            self.qdq("check", "m.tflite", code=None)

    def test_vtables(self):
        subgraph = self.tables[2][0]
        for table in (self.tables, subgraph, subgraph[0][0], subgraph[3][0]):
            at, vtable = self.place(table), self.vtable(table)
            self.refused(patched(self.data, at, "i", -2**31), "a vtable of 2 bytes at byte")
            self.refused(patched(self.data, at, "i", at + 100), "a vtable of 2 bytes at byte")
            for size in (0, 3, 5):
                self.refused(patched(self.data, vtable, "H", size), f"has {size} bytes for a table of")
            self.refused(patched(self.data, vtable, "H", 65534), "a vtable of 65534 bytes at byte")
            self.refused(patched(self.data, vtable + 2, "H", 2), "for a table of 2, wanted an even number from 4 on for 4 or more")
            self.refused(patched(self.data, vtable + 2, "H", 65535), "a table of 65535 bytes at byte")
            self.refused(patched(self.data, vtable + 4, "H", 3), "field 0 of the table at byte")
            self.refused(patched(self.data, vtable + 4, "H", 65533), "outside of its")

    def test_a_vtable_may_be_short_and_shared(self):
        subgraph = self.tables[2][0]
        a, b = subgraph[0]
        at = self.place(b)
        self.fine(patched(self.data, at, "i", at - self.vtable(a)))
        self.fine(patched(self.data, self.vtable(subgraph), "H", 4 + 2 * 4))  # no name

    def test_lists(self):
        subgraph = self.tables[2][0]
        for table, slot in ((self.tables, 1), (self.tables, 2), (self.tables, 4), (subgraph, 0), (subgraph, 1), (subgraph, 3),
                            (subgraph[0][0], 0), (subgraph[0][0], 3), (subgraph[3][0], 1)):
            at = self.place(table) + 8 + 8 * slot
            length = at + struct.unpack("<I", self.data[at:at + 4])[0]
            self.refused(patched(self.data, length, "I", 2**32 - 1), "at byte")
            self.refused(patched(self.data, at, "I", 2**32 - 1), "ends beyond the file")
        at = self.place(subgraph) + 8 + 8 * 3
        operators = at + struct.unpack("<I", self.data[at:at + 4])[0]
        self.refused(patched(self.data, operators + 4, "I", 2**31), "a table of 4 bytes at byte")

    def test_a_trailing_archive_is_ignored(self):
        self.fine(self.data + b"PK\3\4" + bytes(100) + b"PK\5\6" + bytes(18))

    def test_an_unaligned_file(self):
        # All objects move by one byte; only the root offset, which comes before them, changes.
        root = struct.unpack("<I", self.data[:4])[0]
        moved = struct.pack("<I", root + 1) + self.data[4:8] + b"\0" + self.data[8:]
        self.fine(moved)


class Numbering(Hostile):
    def test_indices(self):
        for table, slot, text in ((2, 0, "an operator has code 9 of 1"), (2, 1, "an operator has tensor 9 of 2"), (2, 2, "an operator has tensor 9 of 2")):
            tables = relu()
            tables[2][0][3][0][slot] = u32(9) if slot == 0 else ints([9])
            self.refused(flatbuffer(tables)[0], text)
        for slot in (1, 2):
            tables = relu()
            tables[2][0][slot] = ints([-1])
            self.refused(flatbuffer(tables)[0], "an input or output is tensor -1 of 2")
        tables = relu()
        tables[2][0][0][0][2] = u32(7)
        self.refused(flatbuffer(tables)[0], "tensor 'x' has buffer 7 of 1")

    def test_the_whole(self):
        self.refused(flatbuffer({**self.tables, 0: u32(2)})[0], "the model has schema version 2, wanted 3", code=4)
        self.refused(flatbuffer({**self.tables, 2: []})[0], "the model has no subgraph")

    def test_codes_of_old_and_new_files(self):
        for old, new in ((19, 0), (19, 19), (0, 19)):
            self.fine(flatbuffer({**self.tables, 1: [{0: i8(old), 3: i32(new)}]})[0])
        self.found(flatbuffer({**self.tables, 1: [{0: i8(127), 3: i32(200)}]})[0], "node 'y': STABLEHLO_WHILE: is not read (code 200)")
        self.found(flatbuffer({**self.tables, 1: [{0: i8(127), 3: i32(9999)}]})[0], "node 'y': operator: is not read (code 9999)")
        self.found(flatbuffer({**self.tables, 1: [{0: i8(-1), 3: i32(-1)}]})[0], "node 'y': operator: is not read (code -1)")
        self.found(flatbuffer({**self.tables, 1: [{0: i8(32), 1: "Mine\n", 3: i32(32)}]})[0],
                   "node 'y': operator: is 'Mine?', an operator of the model's maker")

    def test_options_of_another_kind(self):
        tables = model_tables([X, Y], [Op("ADD", ["x", "x"], ["y"], {}, {3: u8(28)})], ["x"], ["y"])
        self.found(flatbuffer(tables)[0], "node 'y': ADD: options are of kind 28, wanted 11")
        tables = model_tables([X, Y], [Op("ADD", ["x", "x"], ["y"], {}, {3: u8(0)})], ["x"], ["y"])
        self.fine(flatbuffer(tables)[0])


class Data(Hostile):
    def constant(self, dtype="float32", shape=(2,), data=bytes(8), **more):
        return model([Tensor("c", dtype, list(shape), data, **more), Y], [Op("RELU", ["c"], ["y"])], [], ["y"])

    def test_bytes_of_a_constant(self):
        self.refused(self.constant(data=bytes(7)), "tensor 'c' has 7 bytes of data, wanted 8 for its dims and type")
        self.refused(self.constant("int4", (3,), bytes(1)), "tensor 'c' has 1 bytes of data, wanted 2 for its dims and type")
        self.refused(self.constant(shape=[2**31 - 1] * 8), "tensor 'c' has 8 bytes of data, wanted 18446744073709551615")
        self.found(self.constant(shape=[-2]), "node 'y': RELU: reads 'c', which has a dim below 0")
        self.found(self.constant(shape=[1] * 9), "node 'y': RELU: reads 'c', which has more than 8 dims")
        self.found(self.constant("string"), "node 'y': RELU: reads 'c', which is of strings")
        self.found(self.constant(more={6: {}}), "node 'y': RELU: reads 'c', which is sparse")
        self.found(self.constant(more={4: {4: u8(2)}}), "node 'y': RELU: reads 'c', which is quantized by blocks or in another form")
        self.found(self.constant(more={10: u32(1)}), "node 'y': RELU: reads 'c', which has its elements in another file")

    def test_elements_outside_of_the_flatbuffer(self):
        def content(offset, size):
            tables = model_tables([Tensor("c", "float32", [2], b""), Y], [Op("RELU", ["c"], ["y"])], [], ["y"])
            tables[4][1] = {1: u64(offset), 2: u64(size)}
            return flatbuffer(tables)[0]

        end = len(content(2, 8))
        self.write("m.tflite", content(end, 8) + struct.pack("<2f", -1, 5))
        self.qdq("run", "m.tflite", "-o", "y=y.npy")
        self.assertEqual(harness.unpack(harness.read_npy(self.folder / "y.npy")), [0, 5])
        self.refused(content(end, 8), "tensor 'c' lies beyond the end of the file")
        self.refused(content(2**64 - 1, 8), "tensor 'c' lies beyond the end of the file")
        self.refused(content(2, 2**64 - 1), "tensor 'c' lies beyond the end of the file")

    def test_large_constants_stay_in_the_file(self):
        values = [(i * 37 % 15) - 7 for i in range(5000)]
        for dtype in ("int8", "int4"):
            content = model([Tensor("c", dtype, [5000], values, 1.0), Tensor("y", "float32", [5000])], [Op("DEQUANTIZE", ["c"], ["y"])], [], ["y"])
            self.write("m.tflite", content)
            for name in ("m.tflite", "-"):
                self.call("run", name, "-o", "y=y.npy", code=0)
                self.assertEqual(harness.unpack(harness.read_npy(self.folder / "y.npy")), values)

    def test_scales(self):
        self.found(model([Tensor("c", "int8", [2], [1, 2], [1.0, 2.0, 3.0]), Y], [Op("DEQUANTIZE", ["c"], ["y"])], [], ["y"]), "node 'y': Dequantize: scales")
        self.found(model([Tensor("c", "int8", [2], [1, 2], float("nan")), Y], [Op("DEQUANTIZE", ["c"], ["y"])], [], ["y"]), "node 'y': Dequantize: scales")
        self.found(model([Tensor("c", "int8", [2], [1, 2], [1.0, 2.0], axis=7), Y], [Op("DEQUANTIZE", ["c"], ["y"])], [], ["y"]), "node 'y': Dequantize: axis")


class Order(Hostile):
    def test_reads_and_writes(self):
        z = Tensor("z", "float32", [2])
        self.found(model([X, Y, z], [Op("RELU", ["z"], ["y"])], ["x"], ["y"]), "node 'y': RELU: reads 'z', which nothing before it makes")
        self.found(model([X, Y], [Op("RELU", ["y"], ["y"])], ["x"], ["y"]), "node 'y': RELU: reads 'y', which nothing before it makes")
        self.found(model([X, Y], [Op("RELU", ["x"], ["y"])] * 2, ["x"], ["y"]), "node 'y': RELU: makes 'y' again")
        self.found(model([X, Y], [Op("RELU", ["x"], ["x"])], ["x"], ["x"]), "node 'x': RELU: makes 'x' again")
        self.found(model([X, Y], [], ["x"], ["y"]), "output 'y': is made by no operator")
        self.found(model([X, Y], [Op("RELU", [-1], ["y"])], ["x"], ["y"]), "node 'y': RELU: lacks input 0")
        self.found(model([X, Y], [Op("RELU", [], ["y"])], ["x"], ["y"]), "node 'y': RELU: lacks input 0")
        self.found(model([X, Y], [Op("RELU", ["x"], [])], ["x"], ["x"]), "node 'operator_0': RELU: makes nothing")
        # One finding for an operator that is refused, and none for its readers.
        self.write("m.tflite", model([X, Y, z], [Op(200, ["x"], ["y"]), Op("RELU", ["y"], ["z"])], ["x"], ["z"]))
        self.assertIn("1 error,", self.qdq("check", "m.tflite", code=1).out)

    def test_names(self):
        tensors = [Tensor(name, "float32", [2]) for name in ("", "a\0b", "same", "same", "n" * 400, "\udcff")]
        ops = [Op("RELU", [i], [i + 1]) for i in range(5)]
        out = self.fine(model(tensors, ops, [0], [2, 3, 3, 5]))
        self.assertIn("0 errors", out)
        listed = self.json("inspect", "m.tflite")
        self.assertEqual([one["name"] for one in listed["inputs"]], ["unnamed"])
        self.assertEqual([one["name"] for one in listed["outputs"]], ["same", "same~1", "same~1~2", "_"])

    def test_a_tensor_that_is_listed_twice_is_one_input(self):
        self.assertEqual(len(self.fine(model([X, Y], [Op("RELU", ["x"], ["y"])], ["x", "x"], ["y"]), "--target", "core").splitlines()), 1)

    def test_open_dims(self):
        x, y = Tensor("x", "float32", [1, 2], open=[-1, 2]), Tensor("y", "float32", [1, 2])
        content = model([x, y], [Op("RELU", ["x"], ["y"])], ["x"], ["y"])
        self.fine(content)
        for words, shape in (([], [1, 2]), (["--shape", "x=3,2"], [3, 2])):
            self.assertEqual(self.json("inspect", "m.tflite", *words)["outputs"][0]["shape"], shape)


class Budgets(Hostile):
    def test_many_entries_that_are_one_table(self):
        """A list of offsets to one table takes 4 bytes for each entry."""
        tables = relu()
        operator = tables[2][0][3][0]
        tables[2][0][3] = [operator] * 300000
        data = flatbuffer(tables)[0]
        self.write("m.tflite", data)
        self.qdq("check", "m.tflite", code=1)
        self.assertLess(self.peak_mib("check", "m.tflite"), 100)
        tables = relu()
        tables[2][0][0] = [tables[2][0][0][0]] * 1000001
        self.refused(flatbuffer(tables)[0], "the lists of the file have more than 1000000 entries, wanted at most that number", code=5)

    def test_many_tensors_that_are_one_buffer(self):
        count, size = 3000, MIB
        tensors = [Tensor("a", "int8", [size], bytes(size)), *(Tensor(f"t{i}", "int8", [size], b"") for i in range(count)), Tensor("y", "int8", [size])]
        tables = model_tables(tensors, [Op("CONCATENATION", [f"t{i}" for i in range(60)], ["y"])], [], ["y"])
        for one in tables[2][0][0][1:-1]:
            one[2] = u32(1)
        self.write("m.tflite", flatbuffer({**tables, 4: tables[4][:2]})[0])
        self.qdq("check", "m.tflite", code=0)
        self.assertLess(self.peak_mib("check", "m.tflite"), 100)


if __name__ == "__main__":
    main()
