#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times plans in tiles against plans in rows, and prints a table in Markdown.

    PYTHONPATH=python QDQ_LIBRARY=BUILD/libqdq.so.0 bench_layouts.py [--threads N] [MODEL ...]

Graphs have several steps, so that values between them lie in tiles. Both plans of a graph take turns of five runs; the time
is the lower quartile of the time that the thread had a core, without the first run of each turn. With several threads (1 by
default) it is that of the clock, for which nothing else may run. MODEL: further models.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import qdq
from qdq._library import lib

SECONDS, TURN, LEAST_TURNS = 0.5, 5, 2
SIZES = ([128, 768], [1024, 1024])


def node(op, name, inputs, **attrs):
    return {"op": op, "name": name, "inputs": inputs, "attrs": attrs}


def chain(*links):
    """Nodes that each read the one before, or x: an op with its attributes and other inputs."""
    names = ["x", *(f"n{i}" for i in range(len(links)))]
    return [node(op, names[i + 1], {"x": names[i], **inputs}, **attrs) for i, (op, inputs, attrs) in enumerate(links)]


def product(name, a, b, op="MatMul"):
    return node(op, name, {"a": a, "b": b})


PAIR = [("Quantize", {}, {"scales": 0.05}), ("Dequantize", {}, {"scales": 0.05, "dtype": "float32"})]
SOFTMAX = ("SoftMax", {}, {"axis": -1})
NORM = ("LayerNorm", {"gamma": "g", "beta": "e"}, {"keep_stats": False})


def reduced(axis):
    return [node("Exp", "h", {"x": "x"}), node("ReduceMean", "m", {"x": "h"}, axes=[axis], keep_dims=True),
            node("Subtract", "y", {"a": "h", "b": "m"})]


PRODUCTS = [product("h", "x", "z"), product("k", "z", "x"), product("m", "h", "k"), product("y", "m", "h")]
CODES = [*PRODUCTS[:2], node("Quantize", "i", {"x": "h"}, scales=0.5), node("Quantize", "j", {"x": "k"}, scales=0.5),
         product("y", "i", "j", "MatMulInteger")]


def cases():
    for size in ([1024, 1024], [4096, 4096]):
        yield "Quantize, Dequantize", chain(*PAIR), size, "float32"
        yield "Quantize, Dequantize, twice", chain(*PAIR, *PAIR), size, "float32"
    for size in SIZES:
        for dtype in ("float32", "bfloat16"):
            yield "SoftMax, three times", chain(SOFTMAX, SOFTMAX, SOFTMAX), size, dtype
            yield "LayerNorm, three times", chain(NORM, NORM, NORM), size, dtype
            yield "Exp, less its mean over rows", reduced(-1), size, dtype
            yield "Exp, less its mean over columns", reduced(-2), size, dtype
            yield "ReLU, DynamicQuantize", chain(("ReLU", {}, {}), ("DynamicQuantize", {}, {})), size, dtype
    for n in (256, 512, 1024, 2048):
        for dtype in ("float32", "bfloat16"):
            yield "four MatMul", PRODUCTS, [n, n], dtype
        yield "MatMulInteger of two quantized MatMul", CODES, [n, n], "float32"


def graph_of(nodes, shape, dtype):
    reads = {name for one in nodes for name in one["inputs"].values()}
    inputs = [{"name": name, "dtype": dtype, "shape": shape} for name in "xz" if name in reads]
    inputs += [{"name": name, "dtype": "float32", "shape": shape[-1:]} for name in "ge" if name in reads]
    return qdq.parse(json.dumps({"format": "qdq/1", "inputs": inputs, "nodes": nodes,
                                           "outputs": [{"name": "y", "value": nodes[-1]["name"]}]}))


def numbers(info, random):
    x = random.standard_normal(info.shape).astype(np.float32)
    return x if info.dtype == "float32" else (x.view(np.uint32) >> 16).astype(np.uint16).view(info.numpy)


def prepared(graph, isa, layout, inputs, threads):
    """A plan that has run, with the arrays that stay bound to it."""
    plan = graph.compile(isa=isa, layout=layout, threads=threads)
    return plan, plan.run(inputs), plan._handle.idle[-1][0]._as_parameter_


def times(runs, clock):
    """The lower quartile of each of several prepared plans."""
    taken, start, turns = [[] for _ in runs], clock(), 0
    while turns < LEAST_TURNS or clock() - start < SECONDS:
        for of_plan, (_, _, handle) in zip(taken, runs):
            for i in range(TURN):
                begin = clock()
                lib.qdq_exec_run(handle)
                if i:
                    of_plan.append(clock() - begin)
        turns += 1
    return [sorted(of_plan)[len(of_plan) // 4] for of_plan in taken]


def row(name, graph, isas, threads):
    random, cells = np.random.default_rng(1), []
    clock = time.thread_time if threads == 1 else time.perf_counter
    inputs = None
    for isa in isas:
        inputs = inputs or {info.name: numbers(info, random) for info in graph.compile().inputs}
        rows, tiles = times([prepared(graph, isa, layout, inputs, threads) for layout in ("rows", "tiles")], clock)
        cells += [f"{rows * 1e6:.0f}", f"{tiles / rows:.2f}"]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    words = parser.parse_args()
    isas = ("avx512_bf16", "avx2")
    print("| graph |" + "".join(f" {isa}: rows, us | tiles / rows |" for isa in isas))
    print("|---|" + "---|---|" * len(isas))
    for name, nodes, shape, dtype in cases():
        row(f"{name}, {dtype} {shape}", graph_of(nodes, shape, dtype), isas, words.threads)
    for model in words.models:
        row(Path(model).stem, qdq.load(model), isas, words.threads)


if __name__ == "__main__":
    main()
