#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dims that an ONNX model leaves open stay open in the models that convert, quantize and mend write."""

import random
import zipfile

from harness import Case, Tensor, main, read_safetensors, safetensors_bytes, tensor, write_npy
from onnx_writing import FLOAT, NETWORKS, Network, declared, layers_network, node_names, ops, recurrent_network, reshape_network


class OpenDims(Case):
    def samples(self, dims, name="x.safetensors", seed=1):
        numbers = random.Random(seed)
        count = 1
        for dim in dims:
            count *= dim
        x = [numbers.gauss(0, 1) for _ in range(count)]
        (self.folder / name).write_bytes(safetensors_bytes({"x": tensor("float32", dims, x)}))

    def batch(self, dims, at, count):
        """Writes the samples of data/ as one batch, in dim `at`."""
        blocks = [read_safetensors(self.folder / f"data/{i}.safetensors")["x"].data for i in range(count)]
        size = 4
        for dim in dims[at + 1:]:
            size *= dim
        rows = [block[i:i + size] for i in range(0, len(blocks[0]), size) for block in blocks]
        shape = [count if dim == "N" else dim for dim in dims]
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": Tensor("float32", shape, b"".join(rows))}))

    def results(self, model, *words):
        self.qdq("run", model, "-i", "x.safetensors", "-o", "y.safetensors", *words)
        return [(one.shape, one.data) for one in read_safetensors(self.folder / "y.safetensors").values()]

    def write_network(self, network, seed):
        model = network(seed)
        (self.folder / "m.onnx").write_bytes(model)
        return declared(model, 11)["x"], declared(model, 12)

    def test_convert_writes_the_same_model_for_every_size(self):
        for seed, network in enumerate(NETWORKS):
            with self.subTest(network.__name__):
                inputs, outputs = self.write_network(network, seed)
                for size in (1, 8):
                    done = self.qdq("convert", "m.onnx", "--dim", f"N={size}", "-o", f"{size}.onnx")
                    self.assertNotIn("fixed", done.err)
                written = (self.folder / "1.onnx").read_bytes()
                self.assertEqual(written, (self.folder / "8.onnx").read_bytes())
                self.assertEqual(declared(written, 11), {"x": inputs})
                self.assertEqual(declared(written, 12), outputs)
                names = node_names(written)
                self.assertEqual(len(set(names)), len(names), "ONNX Runtime refuses two nodes of one name")
                for size in (1, 2, 5):
                    self.samples([size if dim == "N" else dim for dim in inputs])
                    self.assertEqual(self.results("1.onnx"), self.results("m.onnx"))

    def test_quantize_leaves_the_batch_open_and_each_sample_has_its_results(self):
        for seed, network in enumerate(NETWORKS):
            with self.subTest(network.__name__):
                inputs, outputs = self.write_network(network, seed)
                at = inputs.index("N")
                (self.folder / "data").mkdir(exist_ok=True)
                for i in range(4):
                    self.samples([1 if dim == "N" else dim for dim in inputs], f"data/{i}.safetensors", i)
                self.qdq("calibrate", "m.onnx", "--dim", "N=1", "--data", "data", "-o", "s.state")
                self.qdq("quantize", "m.onnx", "--dim", "N=1", "--data", "data", "--state", "s.state", "-t", "onnx",
                         "-o", "q.onnx")
                written = (self.folder / "q.onnx").read_bytes()
                self.assertEqual(declared(written, 11), {"x": inputs})
                self.assertEqual(declared(written, 12), outputs)
                self.assertIn("QuantizeLinear", ops(written))
                single = []
                for i in range(4):
                    (self.folder / "x.safetensors").write_bytes((self.folder / f"data/{i}.safetensors").read_bytes())
                    single.append(self.results("q.onnx", "--target", "core")[0][1])
                self.batch(inputs, at, 4)
                (shape, data), = self.results("q.onnx", "--target", "core")
                self.assertEqual((shape[0], data), (4, b"".join(single)))

    def test_open_dims_take_the_sizes_of_the_arrays_of_a_run(self):
        inputs, _ = self.write_network(layers_network, 1)
        one = tensor("float32", [3, 16], [0.25] * 48)
        write_npy(self.folder / "x.npy", one)
        with zipfile.ZipFile(self.folder / "x.npz", "w") as file:
            file.write(self.folder / "x.npy", "x.npy")
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": one}))
        for word in ("x=x.npy", "x.npz", "x=x.npz", "x.safetensors"):
            with self.subTest(word):
                self.qdq("run", "m.onnx", "-i", word, "-o", "y.safetensors")
                (y,) = read_safetensors(self.folder / "y.safetensors").values()
                self.assertEqual(y.shape, [3, 6])
        self.qdq("run", "m.onnx", "-i", "x.npz", "--dim", "N=3", "-o", "y.safetensors")
        said = self.qdq("run", "m.onnx", "-i", "x.npz", "--dim", "N=2", "-o", "y.safetensors", code=2).err
        self.assertIn("dim 'N' is 2, and 3 in the shape given for 'x'", said)

    def test_quantize_calibrates_on_its_samples_without_a_state(self):
        """The model is the one that the state of these samples gives, byte for byte."""
        inputs, _ = self.write_network(reshape_network, 3)
        (self.folder / "data").mkdir()
        for i in range(5):
            self.samples([1, 3, 8, 8], f"data/{i}.safetensors", i)
        self.qdq("calibrate", "m.onnx", "--data", "data", "-o", "s.state")
        said = self.qdq("quantize", "m.onnx", "--data", "data", "--state", "s.state", "-t", "ort", "-o", "wanted.onnx").out
        self.assertNotIn("ranges", said)
        said = self.qdq("quantize", "m.onnx", "--data", "data", "-t", "ort", "-o", "q.onnx").out
        self.assertIn("ranges from the samples of --data, which measure the ratios too; for ratios of unseen samples "
                      "calibrate others and give --state\n", said)
        wanted = (self.folder / "wanted.onnx").read_bytes()
        self.assertEqual((self.folder / "q.onnx").read_bytes(), wanted)
        self.assertEqual(declared(wanted, 11), {"x": inputs})
        self.batch(inputs, 0, 5)
        got = self.json("quantize", "m.onnx", "-i", "x.safetensors", "-t", "ort", "-o", "q.onnx")
        self.assertEqual((got["ranges_from"], (self.folder / "q.onnx").read_bytes()), ("-i", wanted))
        for words in ((), ("--fill", 1)):
            self.assertIn("--state is missing", self.qdq("quantize", "m.onnx", "--dim", "N=1", *words, "-t", "ort",
                                                         "-o", "q.onnx", code=2).err)

    def test_open_dims_take_the_sizes_of_a_sample(self):
        """Of a folder, with or without a batch of 1, and of a file whose arrays count samples first."""
        inputs, _ = self.write_network(reshape_network, 2)
        numbers = random.Random(3)
        x = [numbers.gauss(0, 1) for _ in range(12 * 3 * 8 * 8)]
        for name, shape in (("batches", [1, 3, 8, 8]), ("samples", [3, 8, 8])):
            (self.folder / name).mkdir()
            for i in range(12):
                write_npy(self.folder / name / f"{i:02}.npy", tensor("float32", shape, x[i * 192:i * 192 + 192]))
        for name, shape in (("file", [12, 3, 8, 8]), ("batched", [12, 1, 3, 8, 8])):
            write_npy(self.folder / f"{name}.npy", tensor("float32", shape, x))
        ranges = set()
        for where in ("batches", "samples", "file.npy", "batched.npy"):
            with self.subTest(where):
                self.assertIn("12 samples", self.qdq("calibrate", "m.onnx", "--data", where, "-o", "s.state").out)
                ranges.add(read_safetensors(self.folder / "s.state")["ranges"].data)
        self.assertEqual(len(ranges), 1)
        said = self.qdq("calibrate", "m.onnx", "--dim", "N=4", "--data", "file.npy", "-o", "s.state")
        self.assertIn("3 samples", said.out)
        self.qdq("compare", "m.onnx", "--data", "file.npy", "--targets", "core,onnx", code=None)
        self.qdq("quantize", "m.onnx", "--data", "file.npy", "--state", "s.state", "-t", "ort", "-o", "q.onnx", code=3)

    def convert(self, model, *words):
        """What convert says on stderr, and the dims of the input and of outputs that it writes."""
        (self.folder / "m.onnx").write_bytes(model)
        said = self.qdq("convert", "m.onnx", *words, "-o", "w.onnx").err
        written = (self.folder / "w.onnx").read_bytes()
        return said, declared(written, 11)["x"], list(declared(written, 12).values())

    def test_a_dim_without_a_name_and_other_dims_than_the_batch_stay_open(self):
        n = Network(1)
        y = n.add("Relu", n.linear("x", 4, 6))
        self.assertEqual(self.convert(n.model([None, None, 4], y, [None, None, 6]), "--shape", "x=2,3,4"),
                         ("", [None, None, 4], [[None, None, 6]]))
        n = Network(2)
        y = n.add("Reshape", n.linear("x", 4, 6), n.sizes(n.size("x", 0), n.size("x", 1), 2, 3))
        y = n.add("Transpose", y, perm=[0, 2, 1, 3])
        y = n.add("Reshape", y, n.sizes(n.size("x", 0), 2, -1))
        said, dims, (y_dims,) = self.convert(n.model(["batch", "steps", 4], y, ["batch", 2, None]), "--dim", "batch=1", "--dim", "steps=5")
        self.assertEqual((said, dims, y_dims), ("", ["batch", "steps", 4], ["batch", 2, None]))
        for size in ((1, 5), (3, 2)):
            self.samples([*size, 4])
            self.assertEqual(self.results("w.onnx"), self.results("m.onnx"))

    def test_batches_of_several_inputs_stay_open_together(self):
        """With a name for each input, as one exporter writes them, or without a name."""
        for names in (("unk__1", "unk__2"), (None, None)):
            with self.subTest(names):
                n = Network(7)
                y = n.add("Add", n.linear("x", 4, 6), n.linear("z", 5, 6))
                model = n.model([names[0], 4], y, [names[0], 6], [("z", [names[1], 5])])
                (self.folder / "m.onnx").write_bytes(model)
                said = self.qdq("convert", "m.onnx", "--shape", "x=2,4", "--shape", "z=2,5", "-o", "w.onnx").err
                written = (self.folder / "w.onnx").read_bytes()
                self.assertEqual((said, declared(written, 11)), ("", {"x": [names[0], 4], "z": [names[1], 5]}))
                self.assertEqual(declared(written, 12)[y], [names[0], 6])

    def test_a_node_that_nothing_needs_is_left_out_of_the_proof(self):
        """An LSTM whose first output no node reads: mend leaves it out."""
        self.write_network(recurrent_network, 8)
        self.samples([3, 2, 6])
        self.qdq("quantize", "m.onnx", "-i", "x.safetensors", "-t", "ort", "-o", "q.onnx")
        said = self.qdq("mend", "q.onnx", "-t", "tensorrt", "-i", "x.safetensors", "--allow-lossy", "-o", "w.onnx", code=None).err
        self.assertNotIn("fixed", said)
        self.assertEqual(declared((self.folder / "w.onnx").read_bytes(), 11), {"x": [3, "N", 6]})

    def test_height_and_width_stay_open(self):
        n = Network(3)
        x = n.conv(n.conv("x", 3, 4, stride=2), 4, 4)
        y = n.add("GlobalAveragePool", x)
        model = n.model(["N", 3, "height", "width"], y, ["N", 4, 1, 1])
        said, dims, _ = self.convert(model, "--dim", "N=1", "--dim", "height=8", "--dim", "width=8")
        self.assertEqual((said, dims), ("", ["N", 3, "height", "width"]))
        self.samples([2, 3, 6, 10])
        self.assertEqual(self.results("w.onnx"), self.results("m.onnx"))

    def test_an_op_that_needs_the_size_fixes_it_and_is_named(self):
        def divided(n):
            return n.add("Div", "x", n.add("Cast", n.size("x", 0), to=FLOAT))

        def split(n):
            a, b = n.add("Split", "x", outputs=2, axis=0)
            return n.add("Concat", a, b, axis=0)

        for make, size, wanted in ((divided, 1, "constant 'cast6_y0' depends on it"),
                                   (split, 2, "node '/split1/Split' (Split) depends on it")):
            with self.subTest(make.__name__):
                n = Network(4)
                model = n.model(["N", 4], make(n), ["N", 4])
                said, dims, y_dims = self.convert(model, "--dim", f"N={size}")
                self.assertIn(f"qdq: input 'x': dim 0 ('N') is fixed at {size} in the model: {wanted}", said)
                self.assertEqual((dims, y_dims), ([size, 4], [[size, 4]]))

    def test_a_batch_of_one_counts(self):
        """Graphs that fit 3, 6 and 21 samples, but not one."""
        def squeezed(n):
            return n.add("Squeeze", "x")

        def at_least_two(n):
            rows = n.add("ReduceMax", "x", axes=[0], keepdims=1)
            return n.add("Expand", rows, n.sizes(n.add("Max", n.size("x", 0), n.ints(2)), 4))

        def alone(n):
            return n.add("Mul", "x", n.add("Cast", n.add("Equal", n.size("x", 0), n.ints(1)), to=FLOAT))

        def columns(n):
            return n.add("Slice", "x", n.ints(0), n.add("Min", n.size("x", 0), n.ints(3)), n.ints(1))

        for make in (squeezed, at_least_two, alone, columns):
            with self.subTest(make.__name__):
                n = Network(8)
                said, dims, _ = self.convert(n.model(["N", 4], make(n), [None]), "--dim", "N=3")
                self.assertIn("dim 0 ('N') is fixed at 3", said)
                self.assertEqual(dims, [3, 4])

    def test_lists_of_sizes_are_computed_where_constants_cannot_say_them(self):
        def repeated(n):
            rows = n.add("Expand", n.floats(1, 4), n.sizes(n.size("x", 0), 4))
            return n.add("ReduceSum", n.add("Concat", "x", rows, axis=0), n.ints(0), keepdims=1)

        def zeros(n):
            rows = n.add("ConstantOfShape", n.sizes(n.size("x", 0), 4))
            return n.add("ReduceMean", n.add("Concat", "x", rows, axis=0), axes=[0], keepdims=1)

        def twice(n):
            return n.add("Reshape", n.add("Concat", "x", "x", axis=0), n.sizes(2, n.size("x", 0), 4))

        def halves(n):
            rows = n.add("Reshape", "x", n.sizes(n.add("Mul", n.size("x", 0), n.ints(2)), 2))
            return n.add("Reshape", rows, n.sizes(n.size("x", 0), -1))

        def first(n):
            return n.add("Slice", n.add("Concat", "x", "x", axis=0), n.ints(0), n.size("x", 0), n.ints(0))

        for make in (repeated, zeros, twice, halves, first):
            for size in (1, 3):
                with self.subTest(make.__name__, size=size):
                    n = Network(9)
                    said, dims, _ = self.convert(n.model(["N", 4], make(n), [None]), "--dim", f"N={size}")
                    self.assertEqual((said, dims), ("", ["N", 4]))
                    for count in (1, 2, 5):
                        self.samples([count, 4])
                        self.assertEqual(self.results("w.onnx"), self.results("m.onnx"))

    def test_a_size_is_fixed_alone(self):
        n = Network(5)
        y = n.add("Add", "x", n.add("Cast", n.size("x", 1), to=FLOAT))
        said, dims, _ = self.convert(n.model(["N", "steps", 4], y, ["N", "steps", 4]), "--dim", "N=1", "--dim", "steps=3")
        self.assertIn("dim 1 ('steps') is fixed at 3", said)
        self.assertEqual(dims, ["N", 3, 4])

    def test_a_size_given_in_the_file_is_fixed(self):
        n = Network(6)
        said, dims, _ = self.convert(n.model([2, 4], n.linear("x", 4, 3), [2, 3]))
        self.assertEqual((said, dims), ("", [2, 4]))


if __name__ == "__main__":
    main()
