# SPDX-License-Identifier: Apache-2.0
"""Shared by tests of quantize that try sets of products: random networks, their samples, and what qdq run gives for them."""

import itertools
import math
import random

import harness
from harness import Case, constant, graph, node, read_safetensors, tensor, unpack, value

SAMPLES = 24


def normal(draw, count, factor=1.0):
    """Float32 numbers."""
    return unpack(harness.tensor("float32", [count], [draw.gauss(0, factor) for _ in range(count)]))


def product(name, x, weights):
    return {"op": "MatMul", "name": name, "inputs": {"a": x, "b": weights}, "attrs": {}}


def network(seed):
    """Five products, of which two read one value; the channels of some weights and values differ much."""
    draw = random.Random(seed)
    sizes = {"a": (8, 12), "b": (12, 12), "c": (12, 12), "d": (12, 12), "e": (12, 4)}
    constants = []
    for name, (rows, columns) in sizes.items():
        data = normal(draw, rows * columns, 1 / math.sqrt(rows))
        channel, factor = draw.randrange(columns), 2 ** draw.randrange(5)
        data[channel::columns] = [x * factor for x in data[channel::columns]]
        constants.append(constant("w" + name, "float32", [rows, columns], data))
    nodes = [product("a", "x", "wa"), node("ReLU", "ra", "a"), product("b", "ra", "wb"), product("c", "ra", "wc"),
             {"op": "Add", "name": "sum", "inputs": {"a": "b", "b": "c"}}, node("ReLU", "rs", "sum"),
             product("d", "rs", "wd"), node("ReLU", "rd", "d"), product("e", "rd", "we")]
    xs = normal(draw, SAMPLES * 8)
    return graph(nodes, inputs=[value("x", shape=[1, 8])], outputs={"y": "e"}, constants=constants), xs


class Networks(Case):
    def begin(self, seed=1):
        """Writes g.json, its samples and its statistics. Keeps the float outputs of all samples."""
        g, xs = network(seed)
        self.write("g.json", g)
        (self.folder / "x.safetensors").write_bytes(
            harness.safetensors_bytes({"x": tensor("float32", [SAMPLES, 8], xs)}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        self.real = self.outputs("g.json", "core")

    def words(self, target, *words, out="q.json"):
        return ("quantize", "g.json", "--state", "s.state", "-t", target, "-o", out, "--data", "x.safetensors", *words)

    def outputs(self, file, target):
        self.qdq("run", file, "-t", target, "--shape", f"x={SAMPLES},8", "-i", "x.safetensors", "-o", "y.safetensors")
        return unpack(read_safetensors(self.folder / "y.safetensors")["y"])

    def decibels(self, file, target):
        """The ratio of a file as its target runs it."""
        changed = self.outputs(file, target)
        error = sum((a - b) ** 2 for a, b in zip(self.real, changed))
        return 10 * math.log10(sum(a * a for a in self.real) / error)

    def nodes_on_codes(self, target):
        """Products, and the sum if the target reads it as codes."""
        return [one["node"] for one in self.json(*self.words(target, out="k.json"))["nodes"] if one["quantized"]]

    def all_sets(self, target):
        """The ratio with each set of nodes in float that leaves a product on codes, and the greatest by size."""
        ratios, names = {}, self.nodes_on_codes(target)
        for size in range(len(names)):
            for kept in itertools.combinations(names, size):
                if not set("abcde") <= set(kept):
                    self.qdq(*self.words(target, *keep(kept), out="k.json"))
                    ratios[tuple(sorted(kept))] = self.decibels("k.json", target)
        return [max(ratios[kept] for kept in ratios if len(kept) == size) for size in range(len(names))], ratios


def keep(names):
    return [word for name in names for word in ("--keep", name)]


def classes(ys, count=4):
    rows = [ys[i:i + count] for i in range(0, len(ys), count)]
    return [row.index(max(row)) for row in rows]


class Labelled(Networks):
    def begin(self, seed=1):
        super().begin(seed)
        draw = random.Random(seed + 100)
        self.truth = [c if draw.random() < 0.8 else draw.randrange(4) for c in classes(self.real)]
        self.write("labels.txt", "".join(f"{c}\n" for c in self.truth))

    def counts(self, file, target):
        got = classes(self.outputs(file, target))
        return {"rows": SAMPLES, "float": sum(a == b for a, b in zip(classes(self.real), self.truth)),
                "quantized": sum(a == b for a, b in zip(got, self.truth)),
                "alike": sum(a == b for a, b in zip(got, classes(self.real)))}
