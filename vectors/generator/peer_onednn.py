# SPDX-License-Identifier: Apache-2.0
"""Runs groups in oneDNN Graph on this CPU, for peers.py: each group is written as a file of oneDNN, whose partitions the
library compiles. Needs numpy and the packages onednn and onednn-devel; tools/peers/onednn_library.py calls the library."""

import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/peers"))
import onednn_library

DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8_e4m3", "float8_e5m2": "f8_e5m2",
          "int32": "s32", "int64": "s64", "int8": "s8", "uint8": "u8", "int4": "s4", "uint4": "u4", "bool": "boolean"}  # fmt: skip
PORTS = ("x", "scale", "zero_point")
# The attributes that oneDNN has too; those of None are read elsewhere. A node with another one is refused.
ATTRIBUTES = {"qtype": "string", "axis": "s64", "group_shape": "s64[]", "scales": "f32[]", "zps": "s64[]", "dtype": None,
              "transpose_a": "bool", "transpose_b": "bool", "shape": "s64[]", "special_zero": "bool", "order": "s64[]",
              "mode": "string", "sizes": "s64[]", "data_format": "string", "weights_format": "string", "groups": "s64",
              "strides": "s64[]", "dilations": "s64[]", "pads_begin": "s64[]", "pads_end": "s64[]"}  # fmt: skip
SAME = ("Add", "Convolution", "Multiply", "Maximum", "Minimum", "ReLU", "MatMul", "StaticReshape", "StaticTranspose", "Interpolate")


class Lacking(Exception):
    """oneDNN has no op for a node."""


class File:
    """A group as the nodes of a oneDNN file; tensors have numbers."""

    def __init__(self, group):
        graph = json.loads(group.graph())
        self.numbers, self.types, self.rows, self.data = {}, {}, [], {}
        self.constants = {one["name"]: one for one in graph["constants"]}
        for one in (*graph["inputs"], *graph["constants"]):
            self.types[one["name"]] = one["dtype"]
        for node in graph["nodes"]:
            self.add(node)
        self.outputs = {one["name"][4:]: one["value"].removesuffix(".y") for one in graph["outputs"]}
        name = "{}" if group.nodes else "in_{}"
        given = {name.format(port): one for port, one in group.inputs.items()}
        shapes = {name: list(one.shape) for name, one in given.items()}
        for row in self.rows:
            for tensor in row["inputs"]:
                tensor.update(shape=shapes.get(tensor.pop("name"), []))
        self.inputs = {self.numbers[name]: packed(one) for name, one in given.items() if name in self.numbers}

    def tensor(self, name):
        number = self.numbers.setdefault(name, len(self.numbers))
        dtype = DTYPES.get(self.types[name])
        if not dtype:
            raise Lacking(f"no dtype {self.types[name]}")
        return {"id": number, "dtype": dtype, "name": name}

    def op(self, kind, name, inputs, attrs, dtype):
        if set(attrs) - set(ATTRIBUTES):
            raise Lacking(f"no attributes {sorted(set(attrs) - set(ATTRIBUTES))}")
        self.types[name] = dtype
        given = [self.tensor(one) for one in inputs]
        made = {key: value for key, value in self.tensor(name).items() if key != "name"}
        words = {key: {"type": ATTRIBUTES[key], "value": int(value) if ATTRIBUTES[key] == "bool" else value}
                 for key, value in attrs.items() if ATTRIBUTES[key]}  # fmt: skip
        self.rows.append({"id": len(self.rows), "name": name, "kind": kind, "attrs": words, "inputs": given,
                          "outputs": [{**made, "shape": []}]})  # fmt: skip

    def add(self, node):
        op, name, inputs, attrs = node["op"], node["name"], node["inputs"], dict(node["attrs"])
        if op == "Requantize":
            sides = [{key: attrs[f"{side}_{key}"] for key in ("scales", "zps") if f"{side}_{key}" in attrs}
                     for side in ("in", "out")]  # fmt: skip
            if set(attrs) - {"in_scales", "in_zps", "out_scales", "out_zps", "dtype"} or len(inputs) > 1:
                raise Lacking("a Requantize with more than numbers")
            self.quantizing("Dequantize", f"{name}.float", {"x": inputs["x"]}, {**sides[0], "dtype": "float32"})
            self.quantizing("Quantize", name, {"x": f"{name}.float"}, {**sides[1], "dtype": attrs["dtype"]})
        elif op in ("Quantize", "Dequantize"):
            self.quantizing(op, name, inputs, attrs)
        elif op == "Cast":
            self.op("TypeCast", name, inputs.values(), {"dtype": attrs["dtype"]}, attrs["dtype"])
        elif op == "Concat":
            self.op(op, name, inputs["xs"], attrs, self.types[inputs["xs"][0]])
        elif op in SAME:
            self.op(op, name, inputs.values(), attrs, self.types[next(iter(inputs.values()))])
        else:
            raise Lacking(f"no {op}")

    def quantizing(self, op, name, inputs, attrs):
        """Constants of ports become attributes where these can hold them; other ports make a dynamic op."""
        ports = {port: self.constants.get(inputs[port]) for port in ("scale", "zero_point") if port in inputs}
        static = op == "Quantize" or attrs["dtype"] == "float32" and "group_shape" not in attrs
        if static and all(ports.values()):
            for port, key in (("scale", "scales"), ("zero_point", "zps")):
                if port in ports and not (port == "zero_point" and not any(ports[port]["data"])):
                    attrs[key] = ports[port]["data"]
            inputs, ports = {"x": inputs["x"]}, {}
        for key in ("scales", "zps"):
            if key in attrs and not isinstance(attrs[key], list):
                attrs[key] = [attrs[key]]
        if attrs.pop("saturate", None) is True:
            raise Lacking("no Quantize that saturates float8")
        if attrs.get("zero_point_domain") == "none":
            del attrs["zero_point_domain"]
        attrs.setdefault("qtype", "per_tensor")
        kind = f"Dynamic{op}" if "scale" in ports else op
        self.op(kind, name, [inputs[port] for port in PORTS if port in inputs], attrs, attrs["dtype"])


def packed(one):
    """The bytes of a tensor; 4-bit codes lie two to a byte, the even one in the low bits."""
    if one.dtype not in ("int4", "uint4"):
        return one.bytes()
    codes = [*one.bits, *[0] * (len(one.bits) % 2)]
    return bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2]))


def backends(_given):
    here = Path(sys.prefix)
    if str(here / "lib") not in os.environ.get("LD_LIBRARY_PATH", ""):  # read when a process starts only
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **onednn_library.variables(here)})
    worker, folder = onednn_library.Worker(), tempfile.TemporaryDirectory()

    def ask(group):
        made, path = File(group), Path(folder.name, "graph.json")
        path.write_text(json.dumps({"graph": made.rows}))
        found = worker.run(path, made.inputs)
        return {output: (made.types[value], found[made.numbers[value]]) for output, value in made.outputs.items()}

    return {"onednn@3.14": ask}, f"oneDNN {onednn_library.version(here)}, x86-64"
