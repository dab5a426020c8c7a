# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models of recurrent ops, with random sizes, inputs and attributes, for renew.py and onnx_reader.py."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnx_cases import Case, build, either, floats

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
USUAL = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
# How many numbers alpha and beta an activation has.
ACTIVATIONS = {"Sigmoid": (0, 0), "Tanh": (0, 0), "Relu": (0, 0), "Affine": (1, 1), "LeakyRelu": (1, 0), "ThresholdedRelu": (1, 0),
               "ScaledTanh": (1, 1), "HardSigmoid": (1, 1), "Elu": (1, 0), "Softsign": (0, 0), "Softplus": (0, 0)}  # fmt: skip


def activations(rng, op, directions):
    """The attributes of other activations than the usual ones; mostly none."""
    if rng.random() < 0.75:
        return {}
    names = [either(rng, *ACTIVATIONS) for _ in USUAL[op] * directions]
    attrs = {"activations": names}
    for i, name in enumerate(("activation_alpha", "activation_beta")):
        count = sum(ACTIVATIONS[n][i] for n in names)
        if count:
            attrs[name] = [float(v) for v in rng.uniform(0.1, 0.9, count)]
    return attrs


def attributes(rng, op, directions):
    attrs = {"direction": "bidirectional" if directions == 2 else either(rng, "forward", "reverse"), **activations(rng, op, directions)}
    if rng.random() < 0.2:
        attrs["clip"] = float(either(rng, 0.5, 2.0))
    if op == "LSTM" and rng.random() < 0.2:
        attrs["input_forget"] = 1
    if op == "GRU":
        attrs["linear_before_reset"] = int(rng.integers(2))
    return attrs


def special(rng, array):
    """NaN, infinities and their neighbours in places."""
    for value in (np.nan, np.inf, -np.inf, 3e38, -0.0, 1e-42):
        array.flat[rng.integers(array.size)] = value


def recurrent(op):
    def case(rng):
        gates, directions, hidden = GATES[op], int(rng.integers(1, 3)), int(either(rng, rng.integers(1, 71), rng.integers(1, 71), 300))
        steps, batch, wide = int(rng.integers(1, 10)), int(rng.integers(1, 6)), int(either(rng, rng.integers(1, 40), 290))
        numbers = lambda *shape: floats(rng, shape, spread=float(either(rng, 0.2, 1.0)))
        arrays = {"x": numbers(steps, batch, wide), "w": numbers(directions, gates * hidden, wide),
                  "r": numbers(directions, gates * hidden, hidden), "b": numbers(directions, 2 * gates * hidden),
                  "lengths": rng.integers(1, steps + 1, batch).astype(np.int32), "h": numbers(directions, batch, hidden)}  # fmt: skip
        if op == "LSTM":
            arrays |= {"c": numbers(directions, batch, hidden), "p": numbers(directions, 3 * hidden)}
        kept = {"b": 0.7, "lengths": 0.4, "h": 0.5, "c": 0.5, "p": 0.3}
        arrays = {k: a for k, a in arrays.items() if rng.random() < kept.get(k, 1)}
        attrs = attributes(rng, op, directions)
        if rng.random() < 0.15:
            for name in {"x", "h", "c"} & set(arrays):
                special(rng, arrays[name])
        constant = "wrbp" if rng.random() < 0.8 else ""
        known = {k: a for k, a in arrays.items() if k in constant}
        ports = ["x", "w", "r", "b", "lengths", "h", *(["c", "p"] if op == "LSTM" else [])]
        names = [port if port in arrays else "" for port in ports]
        outputs = ["y", "y_h", "y_c"][: 2 + (op == "LSTM")]
        while not names[-1]:
            names.pop()
        node = helper.make_node(op, names, outputs, name="the node", hidden_size=hidden, **attrs)
        feeds = {k: a for k, a in arrays.items() if k not in known}
        return Case(build([node], feeds, known, dict.fromkeys(outputs, TensorProto.FLOAT), 22), feeds)

    return case


RECURRENT = {op: recurrent(op) for op in GATES}


def computed(rng, case):
    """The case with weights that are computed from constants, or with the batch before the steps."""
    graph, feeds, form = case.model.graph, dict(case.feeds), int(rng.integers(5))
    known, nodes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}, []
    for name in "wr" if "w" in known else "":
        array, raw = known.pop(name), f"{name}/raw"
        if form == 1:
            known[raw] = np.ascontiguousarray(array.transpose(0, 2, 1))
            nodes.append(helper.make_node("Transpose", [raw], [name], perm=[0, 2, 1]))
        elif form == 2:
            known |= {raw: np.clip(np.rint(array * 20), -128, 127).astype(np.int8), f"{name}/scale": np.float32(0.05)}
            nodes.append(helper.make_node("DequantizeLinear", [raw, f"{name}/scale"], [name]))
        elif form == 3:
            known[raw] = array.astype(np.float16)
            nodes.append(helper.make_node("Cast", [raw], [name], to=TensorProto.FLOAT))
        else:
            known[name] = array
    if form == 4:
        nodes.append(helper.make_node("Transpose", ["x"], ["x/steps"], perm=[1, 0, 2]))
        graph.node[0].input[0] = "x/steps"
        feeds["x"] = np.ascontiguousarray(feeds["x"].transpose(1, 0, 2))
    outputs = dict.fromkeys((o.name for o in graph.output), TensorProto.FLOAT)
    return Case(build([*nodes, *graph.node], feeds, known, outputs, 22), feeds)


def deployed(seed, count):
    """Names, models and inputs for an optimizer."""
    for i in range(count):
        rng, op = np.random.default_rng([seed, 43, i]), either(np.random.default_rng([seed, 44, i]), *GATES)
        case = computed(rng, recurrent(op)(rng))
        yield op, case.model, case.feeds
