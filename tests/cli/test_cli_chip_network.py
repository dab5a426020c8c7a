#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of bfloat16 on the chips of target ttnn: attention with GELU, and a mobile block with
HardSwish. The bits of each node are known, or the report names it; a function within a network
computes what it computes alone."""

from harness import Case, graph, main, read_safetensors, safetensors_bytes, value

FUNCTIONS = {"GELU", "HardSwish", "HardSigmoid", "SiLU", "Sigmoid", "Exp", "Rsqrt", "ReLU6"}
FIDELITY = {"math_fidelity": "HiFi4", "fp32_dest_acc_en": False}


def add(name, op, inputs, **attrs):
    return {"op": op, "name": name, "inputs": inputs, "attrs": attrs}


def attention():
    """Scores by MatMul, their softmax written out, and a feed-forward part with GELU."""
    return [add("scores", "MatMul", {"a": "x", "b": "k"}, transpose_b=True, **FIDELITY),
            add("top", "ReduceMax", {"x": "scores"}, axes=[-1], keep_dims=True),
            add("below", "Subtract", {"a": "scores", "b": "top"}),
            add("powers", "Exp", {"x": "below"}),
            add("sum", "ReduceSum", {"x": "powers"}, axes=[-1], keep_dims=True),
            add("weights", "Divide", {"a": "powers", "b": "sum"}),
            add("heads", "MatMul", {"a": "weights", "b": "k"}, **FIDELITY),
            add("rest", "Add", {"a": "heads", "b": "x"}),
            add("gelu", "GELU", {"x": "rest"}),
            add("shares", "SoftMax", {"x": "gelu"}, axis=-1),
            add("normed", "RMSNorm", {"x": "shares"}),
            add("y", "ReduceProd", {"x": "normed"}, axes=[-1], keep_dims=True)]


def mobile():
    """The activations of a mobile block, with its squeeze and excitation."""
    return [add("product", "MatMul", {"a": "x", "b": "k"}, transpose_b=True, **FIDELITY),
            add("swish", "HardSwish", {"x": "product"}),
            add("limited", "ReLU6", {"x": "swish"}),
            add("gate", "HardSigmoid", {"x": "limited"}, alpha=1 / 6, beta=0.5),
            add("scaled", "Multiply", {"a": "swish", "b": "gate"}),
            add("silu", "SiLU", {"x": "scaled"}),
            add("square", "Square", {"x": "silu"}),
            add("shifted", "Add", {"a": "square", "b": "gate"}),
            add("y", "Rsqrt", {"x": "shifted"})]


class ChipNetwork(Case):
    def network(self, nodes):
        inputs = [value("x", "bfloat16", [48, 64]), value("k", "bfloat16", [48, 64])]
        self.write("g.json", graph(nodes, inputs=inputs, outputs={"y": "y"}))

    def assert_known_or_named(self, target):
        report = self.json("check", "g.json", "-t", target)
        unknown = {one["node"]: one["op"] for one in report["bits"]["nodes"] if one["bits"] == "unknown"}
        named = [one["message"] for one in report["findings"] if one["rule"] == "ttnn/bits-unknown"]
        for op in unknown.values():  # one finding for each op
            self.assertTrue(any(f"{op}: no evidence" in text for text in named), (op, named))
        for one in report["bits"]["nodes"]:
            if one["op"] in FUNCTIONS:
                self.assertEqual((one["bits"], one["evidence"]["kind"]), ("exact", "vendor's model"), one)
        return set(unknown)

    def assert_functions_compute_as_alone(self, nodes, target):
        self.qdq("run", "g.json", "-t", target, "--fill", 7, "--keep", "all", "-o", "kept.safetensors")
        kept = read_safetensors(self.folder / "kept.safetensors")
        for one in nodes:
            if one["op"] not in FUNCTIONS:
                continue
            before = one["inputs"]["x"]
            self.write("one.json", graph([{**one, "name": "y", "inputs": {"x": "x"}}], outputs={"y": "y"},
                                         inputs=[value("x", "bfloat16", list(kept[before].shape))]))
            (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": kept[before]}))
            self.qdq("run", "one.json", "-t", target, "-i", "x.safetensors", "-o", "y.safetensors")
            self.assertEqual(read_safetensors(self.folder / "y.safetensors")["y"], kept[one["name"]], one)

    def test_attention_with_gelu(self):
        self.network(attention())
        for target in ("ttnn@wormhole", "ttnn@blackhole"):
            self.assertEqual(self.assert_known_or_named(target), {"y"})
            self.assert_functions_compute_as_alone(attention(), target)

    def test_a_mobile_block_with_hard_swish(self):
        self.network(mobile())
        for target in ("ttnn@wormhole", "ttnn@blackhole"):
            self.assertEqual(self.assert_known_or_named(target), set())
            self.assert_functions_compute_as_alone(mobile(), target)


if __name__ == "__main__":
    main()
