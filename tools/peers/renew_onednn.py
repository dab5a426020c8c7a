# SPDX-License-Identifier: Apache-2.0
"""oneDNN Graph on the CPU for renew.py: random graphs of all forward kinds (onednn_generate.py), elementwise nodes on
special numbers, and files of a corpus, by the library of the packages onednn and onednn-devel (onednn_library.py)."""

import json
import sys
from pathlib import Path

import onednn_library
from renewal import Node, Survey

variables = onednn_library.variables
MOST = 2_000_000  # elements of a graph
# Kinds whose results of NaN depend on the shape (docs/numerics.md, section 11).
BY_SHAPE = ("MaxPool", "ReduceMax", "ReduceMin", "GreaterEqual")


def packages(version):
    return [f"onednn=={version}", f"onednn-devel=={version}", "numpy", "ml_dtypes"]


def release(_version):
    return ""


def held(values, dtype):
    """The array of a tensor as Python's qdq takes it."""
    import ml_dtypes
    import numpy as np
    from onednn_values import encode

    kinds = {"bf16": ml_dtypes.bfloat16, "f8_e4m3": ml_dtypes.float8_e4m3fn, "f8_e5m2": ml_dtypes.float8_e5m2}
    codes = encode(values, dtype).reshape(np.shape(values))
    return codes.view(kinds[dtype]) if dtype in kinds else codes


def has_nan(values):
    import numpy

    return values.dtype.kind == "f" and bool(numpy.isnan(values).any())


class Graphs(Survey):
    def __init__(self, args, peer):
        super().__init__(args, peer)
        self.target = f"onednn@{args.release}" if args.release else "onednn"
        self.worker = onednn_library.Worker()

    def of_peer(self, path, graph, inputs):
        import numpy

        found = {}
        for number, data in self.worker.run(path, inputs).items():
            empty = held(numpy.zeros(1), graph.dtypes[number])
            found[f"t{number}"] = numpy.frombuffer(data, empty.dtype).reshape(graph.shapes[number])
        return found

    def compare(self, kind, path, specials=False, inputs=None):
        import onednn_inputs
        from onednn_reader import Graph

        graph = Graph(path)
        if graph.elements > MOST:
            self.rows[self.target][(kind, "left out")].refused += 1
            return
        if inputs is None:
            inputs = onednn_inputs.fill(graph, [self.args.seed, len(kind)], specials=specials)
        if any(node.kind in BY_SHAPE for node in graph.nodes) and any(has_nan(one) for one in inputs.values()):
            self.rows[self.target][(kind, "left out")].refused += 1
            return
        feeds = {f"t{i}": held(inputs[i], tensor.dtype) for i, tensor in graph.inputs.items()}
        both = self.of_both(kind, self.target, path, feeds, lambda: self.of_peer(path, graph, inputs))
        if not both:
            return
        keep = self.keeper(self.target, path, feeds)
        self.either_zero = any(dtype.startswith("f8") for dtype in graph.dtypes.values())
        if len(graph.nodes) > 1:
            self.compare_whole(self.target, kind, both, keep)
            return
        node, names = graph.nodes[0], [[f"t{t.id}" for t in side] for side in (graph.nodes[0].inputs, graph.nodes[0].outputs)]
        attributes = ", ".join(f"{k}={v}" for k, v in node.attrs.items())
        self.compare_nodes(self.target, [Node(node.kind, [node.name, *names[1]], *names, attributes)], feeds, both, keep)


def elements(seed):
    """Names, files and inputs of one elementwise node on special numbers and any bits of float32."""
    import random

    import numpy
    from element_numbers import pairs
    from onednn_generate import MAKERS, Builder
    from onednn_reader import BINARY, UNARY

    a, b = (one.astype(numpy.float64) for one in pairs(seed, "float32"))
    for kind in UNARY + BINARY + ["PReLU"]:
        builder = Builder(random.Random(f"{seed} {kind} elements"))
        while True:
            builder.ops.clear()
            MAKERS[kind](builder, kind)
            row = builder.ops[0]
            if {t["dtype"] for t in row["inputs"] + row["outputs"]} <= {"f32", "boolean"}:
                break
        row["attrs"] = {k: v for k, v in row["attrs"].items() if k not in ("auto_broadcast", "data_format", "per_channel_broadcast")}
        shape = [1, len(a)] if kind == "PReLU" else [len(a)]
        for tensor in row["inputs"]:
            tensor.update(shape=shape, stride=[len(a), 1][-len(shape):])
        if kind == "PReLU":
            row["attrs"]["data_format"] = {"type": "string", "value": "NXC"}
        values = [one.reshape(shape) for one in (a, b)]
        yield f"{kind} of elements", builder.document(), {t["id"]: v for t, v in zip(row["inputs"], values)}


def survey(args):
    import onednn_generate

    version = onednn_library.version(Path(sys.prefix))
    made = Graphs(args, f"oneDNN {version}")
    folder = made.work / "graphs"
    onednn_generate.generate(folder, args.count, args.seed)
    for path in sorted(folder.glob("*.json")):
        kind = path.name.partition("-")[0]
        if args.only in kind:
            made.compare(kind, path)
            made.compare(kind, path, specials=True)
    for kind, document, inputs in elements(args.seed):
        if args.only in kind:
            path = made.work / "elements.json"
            path.write_text(json.dumps(document))
            made.compare(kind, path, inputs=inputs)
    for path in sorted(args.corpus.rglob("*.json")) if args.corpus else ():
        try:
            made.compare("corpus", path)
        except Exception as why:  # a kind that is not a forward kind
            print(f"{path.name}: {why}", file=sys.stderr)
    if not args.only:
        made.compare_recorded("graph/targets/onednn/onednn_golden.h", "onednn_golden.py", None, sys.prefix)
    return made
