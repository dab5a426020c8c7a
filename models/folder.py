# SPDX-License-Identifier: Apache-2.0
"""The folder of a model: graph.json, the input tensors and the expected output tensors."""

import json
import textwrap
from pathlib import Path

import numpy as np
import safetensors
from safetensors.numpy import save

from dtypes import BLOCK_FLOATS, DTYPES, NAMES, STORED, narrowed, to_block_float, widened
from evaluate import evaluate
from peers import compare_graph

WIDTH = 100
MEMORY_KEYS = {"memory_config", "layout", "tile"}  # no value depends on them


def shortest(values):
    """The shortest decimals that read back as the same float32."""
    decimals = [float(str(v)) for v in np.asarray(values, np.float32).reshape(-1)]
    assert np.array_equal(np.float32(decimals), np.float32(values).reshape(-1))
    return decimals if np.ndim(values) else decimals[0]


def node(op, name, inputs, **attrs):
    return {"op": op, "name": name, "inputs": inputs, "attrs": attrs}


def load_tensors(path):
    return {
        name: np.frombuffer(t["data"], STORED[t["dtype"]]).reshape(t["shape"])
        for name, t in safetensors.deserialize(path.read_bytes())
    }


def declare(name, tensor, dtype=None):
    """Declares the dtype of a tensor that numpy holds as another one: a block float."""
    return {"name": name, "dtype": dtype or NAMES[tensor.dtype], "shape": list(tensor.shape)}


def one_line(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{k}": {one_line(v)}' for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(one_line, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def render(value, indent=0, used=0):
    """JSON for people: short objects on one line, numbers filled into lines."""
    line = one_line(value)
    objects = isinstance(value, list) and isinstance(value[0], dict)
    if not isinstance(value, (dict, list)) or (
        indent > 0 and not objects and len(line) + used <= WIDTH
    ):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        rows = []
        for key, item in value.items():
            head = f'{inner}"{key}": '
            rows.append(head + render(item, indent + 2, len(head) + 1))
        ends = "{}"
    elif objects:
        rows = [inner + render(item, indent + 2, len(inner) + 1) for item in value]
        ends = "[]"
    else:
        rows = [textwrap.fill(line[1:-1], WIDTH, initial_indent=inner, subsequent_indent=inner,
                              break_on_hyphens=False)]
        ends = "[]"
    return ends[0] + "\n" + ",\n".join(rows) + "\n" + " " * indent + ends[1]


def evaluate_folder(path):
    """The graph of a folder and all its values, computed from the files alone."""
    graph = json.loads((path / "graph.json").read_text())
    values = load_tensors(path / "inputs.safetensors")
    for tensor in graph["inputs"]:
        name, dtype = tensor["name"], tensor["dtype"]
        block = dtype if dtype in BLOCK_FLOATS else None
        if not block:
            values[name] = narrowed(values[name], DTYPES[dtype])
        declared = {key: value for key, value in tensor.items() if key not in MEMORY_KEYS}
        assert declare(name, values[name], block) == declared
        if block:
            values[name] = to_block_float(values[name], block)
    for constant in graph.get("constants", []):
        if "file" in constant:
            tensor = load_tensors(path / constant["file"])[constant["tensor"]]
            tensor = narrowed(tensor, DTYPES[constant["dtype"]])
        else:
            tensor = np.array(constant["data"], DTYPES[constant["dtype"]])
        assert NAMES[tensor.dtype] == constant["dtype"]
        values[constant["name"]] = tensor.reshape(constant["shape"])
    return graph, evaluate(graph, values)


def write_inputs(path, inputs, like=None):
    """`like` names a folder with the same inputs."""
    if path.is_symlink() or path.exists():
        path.unlink()
    if like:
        path.symlink_to(Path("..") / like / path.name)
    else:
        path.write_bytes(save({name: widened(tensor) for name, tensor in inputs.items()}))


def write_folder(path, about, inputs, nodes, outputs, constants=(), files=None, dtypes=None,
                 target=None, like=None, memory=None):
    """Writes the folder and returns the expected outputs.

    `inputs` are arrays by name, `outputs` value names by output name, `constants` declarations as
    they stand in the graph, `files` the tensors of each constants file, `dtypes` the block float
    that a float32 input is declared as, `target` the target of the graph, `like` another folder
    with the same inputs, `memory` the keys of inputs that say where they lie on a device."""
    graph = {
        "format": "qdq/1",
        "name": path.name,
        **({"target": target} if target else {}),
        "x-about": about,
        "inputs": [
            {**declare(name, tensor, (dtypes or {}).get(name)), **(memory or {}).get(name, {})}
            for name, tensor in inputs.items()
        ],
        **({"constants": list(constants)} if constants else {}),
        "nodes": nodes,
        "outputs": [{"name": name, "value": value} for name, value in outputs.items()],
    }
    path.mkdir(exist_ok=True)
    (path / "graph.json").write_text(render(graph) + "\n")
    write_inputs(path / "inputs.safetensors", inputs, like)
    for name, tensors in (files or {}).items():
        (path / name).write_bytes(save(tensors))

    read_back, values = evaluate_folder(path)
    assert read_back == graph
    expected = {
        name: widened(np.array(values[value], order="C")) for name, value in outputs.items()
    }
    (path / "expected.safetensors").write_bytes(save(expected))
    print(f"{path.name}: {compare_graph(graph, values)}")
    return expected
