#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--spill: a network of four times the memory runs in files of a folder, with the bytes of a run in memory."""

import array
import random

import harness
from harness import Case, Tensor, graph, main, node, safetensors_bytes, value, write_npy

SIZE, LAYERS = 1024, 16  # weights of 4 MiB each
LIMIT = 16 << 20  # a quarter of them
BAD_FILE, TOO_LARGE = 3, 5  # exit codes


def weights(seed):
    """[SIZE, SIZE] numbers of a sum near 0; rows repeat, shifted."""
    draw = random.Random(seed)
    row = array.array("f", (draw.gauss(0, 2 / SIZE**0.5) for _ in range(SIZE))).tobytes()
    return b"".join(row[4 * i:] + row[:4 * i] for i in range(SIZE))


class Spill(Case):
    def setUp(self):
        super().setUp()
        constants = [{"name": f"w{i}", "dtype": "float32", "shape": [SIZE, SIZE], "file": f"w{i}.safetensors",
                      "tensor": "w"} for i in range(LAYERS)]  # fmt: skip
        for i in range(LAYERS):  # one by one: the peak of a child begins with this process's memory
            self.write(f"w{i}.safetensors", safetensors_bytes({"w": Tensor("float32", [SIZE, SIZE], weights(i))}))
        nodes, x = [], "x"
        for i in range(LAYERS):
            nodes.append(node("MatMul", f"m{i}", None, {"a": x, "b": f"w{i}"}))
            del nodes[-1]["inputs"]["x"]
            nodes.append(node("ReLU", f"r{i}", f"m{i}"))
            x = f"r{i}"
        model = graph(nodes, inputs=[value("x", "float32", [64, SIZE])], constants=constants, outputs={"y": x})
        self.write("g.json", model)
        (self.folder / "data").mkdir()
        (self.folder / "spilled").mkdir()
        draw = random.Random(99)
        for i in range(2):
            numbers = [draw.gauss(0, 1) for _ in range(64 * SIZE)]
            write_npy(self.folder / f"data/{i}.npy", harness.tensor("float32", [64, SIZE], numbers))

    def test_states_have_the_bytes_of_a_run_in_memory(self):
        spill = ("--max-bytes", LIMIT, "--spill", "spilled")
        for words in (["calibrate", "g.json"], ["compare", "g.json", "--targets", "core,onnx"]):
            words += ["--data", "data", "--threads", "1"]
            whole = self.peak_mib(*words, "-o", "whole.state")
            part = self.peak_mib(*words, "-o", "part.state", *spill)
            self.assertEqual((self.folder / "whole.state").read_bytes(), (self.folder / "part.state").read_bytes())
            self.assertLess(part, whole - 24, words)  # of 64 MiB of weights
            self.assertEqual(list((self.folder / "spilled").iterdir()), [])

    def test_without_a_folder_the_limit_refuses_the_graph(self):
        self.qdq("calibrate", "g.json", "--data", "data", "-o", "y.state", "--max-bytes", LIMIT, code=TOO_LARGE)
        self.assertFalse((self.folder / "y.state").exists())

    def test_a_folder_that_takes_no_files_is_named(self):
        done = self.qdq("calibrate", "g.json", "--data", "data", "-o", "y.state", "--spill", "absent", code=BAD_FILE)
        self.assertIn("--spill absent: no file can be made there: No such file or directory", done.err)


if __name__ == "__main__":
    main()
