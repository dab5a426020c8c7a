# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's test vectors of the quantizing ops in qdq and compares them bit for bit.

    python3 onnx_vectors.py QDQ_BINARY VECTORS_DIR

VECTORS_DIR has the decoded vectors of onnx/backend/test: one JSON file for each case, with the keys
name, op, attributes, attribute_dtypes, inputs and outputs. A tensor has name, dtype, shape, data
and,
for a float of at most 16 bits, bits (the codes). Each QuantizeLinear, DequantizeLinear,
DynamicQuantizeLinear, Cast, MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv becomes a
graph with a .safetensors file of inputs. Any NaN equals any other. Ops that this build lacks are
not
run.
"""

import json
import math
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# ONNX's dtype: qdq's dtype, its word in safetensors, the struct letter of an element. Types
# narrower than a byte take a byte.
DTYPES = {
    "float32": ("float32", "F32", "f"),
    "float16": ("float16", "F16", "H"),
    "bfloat16": ("bfloat16", "BF16", "H"),
    "int32": ("int32", "I32", "i"),
    "int16": ("int16", "I16", "h"),
    "uint16": ("uint16", "U16", "H"),
    "int8": ("int8", "I8", "b"),
    "uint8": ("uint8", "U8", "B"),
    "int4": ("int4", "I8", "b"),
    "uint4": ("uint4", "U8", "B"),
    "int2": ("int2", "I8", "b"),
    "uint2": ("uint2", "U8", "B"),
    "float8e4m3fn": ("float8_e4m3fn", "F8_E4M3", "B"),
    "float8e5m2": ("float8_e5m2", "F8_E5M2", "B"),
    "float8e4m3fnuz": ("float8_e4m3fnuz", "F8_E4M3FNUZ", "B"),
    "float8e5m2fnuz": ("float8_e5m2fnuz", "F8_E5M2FNUZ", "B"),
    "float4e2m1": ("float4_e2m1", "U8", "B"),
    "float8e8m0": ("float8_e8m0", "F8_E8M0", "B"),
}
SMALL_FLOATS = [name for name in DTYPES if name.startswith(("float8e4", "float8e5", "float4"))]
# The codes of infinity: greater codes, without the sign, are NaN.
INFINITIES = {"float32": 0x7F800000, "float16": 0x7C00, "bfloat16": 0x7F80, "float8e5m2": 0x7C}


class NotRun(Exception):
    """A case without a counterpart in qdq."""


def is_nan(dtype, code):
    if dtype in INFINITIES:
        sign = 1 << (8 * struct.calcsize(DTYPES[dtype][2]) - 1)
        return code & (sign - 1) > INFINITIES[dtype]
    if dtype == "float8e4m3fn":
        return code & 0x7F == 0x7F
    if dtype == "float8e8m0":
        return code == 0xFF
    return dtype in ("float8e4m3fnuz", "float8e5m2fnuz") and code == 0x80


def codes_of(tensor):
    """The elements as integers, floats as their unsigned codes."""
    if "bits" in tensor:
        return tensor["bits"]
    if tensor["dtype"] == "float32":
        return [struct.unpack("<I", struct.pack("<f", float(v)))[0] for v in tensor["data"]]
    return [int(v) for v in tensor["data"]]


def as_input(tensor):
    """qdq takes float4 inputs as float32."""
    if tensor["dtype"] != "float4e2m1":
        return tensor
    return {key: tensor[key] for key in ("name", "shape", "data")} | {"dtype": "float32"}


def write_tensors(path, tensors):
    header, blob = {}, b""
    for tensor in map(as_input, tensors):
        _, word, element = DTYPES[tensor["dtype"]]
        codes = codes_of(tensor)
        data = struct.pack(f"<{len(codes)}{'I' if element == 'f' else element}", *codes)
        offsets = [len(blob), len(blob) + len(data)]
        header[tensor["name"]] = {"dtype": word, "shape": tensor["shape"], "data_offsets": offsets}
        blob += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


def read_tensors(path):
    """Name: word, shape, bytes."""
    blob = path.read_bytes()
    length = struct.unpack_from("<Q", blob)[0]
    header = json.loads(blob[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, row in header.items():
        begin, end = row["data_offsets"]
        found[name] = row["dtype"], row["shape"], blob[8 + length + begin : 8 + length + end]
    return found


def granularity(case, x, scale):
    """Which elements share a parameter; the shape of the scale decides, not an attribute."""
    attributes = case["attributes"]
    axis, block = attributes.get("axis", 1), attributes.get("block_size", 0)
    if block:
        group = [1] * len(x["shape"])
        group[axis] = block
        return {"qtype": "per_group", "group_shape": group}
    if math.prod(scale["shape"]) == 1:
        return {}
    return {"qtype": "per_channel", "axis": axis}


def linear(case):
    """The node of a QuantizeLinear or DequantizeLinear, and its tensors."""
    x, scale, zero_point = (case["inputs"] + [None])[:3]
    asked = case.get("attribute_dtypes", {}).get("output_dtype")
    if case["attributes"].get("precision"):
        raise NotRun("precision")
    attrs, ports, tensors = granularity(case, x, scale), {"x": x["name"]}, [x, scale]
    ports["scale"] = scale["name"]
    if case["op"] == "QuantizeLinear":
        result = zero_point["dtype"] if zero_point else asked or "uint8"
        if "saturate" in case["attributes"]:
            attrs["saturate"] = bool(case["attributes"]["saturate"])
    else:
        result = asked or scale["dtype"]
    attrs["dtype"] = DTYPES[result][0]
    if zero_point and zero_point["dtype"] in SMALL_FLOATS:
        attrs["zps"] = zero_point["data"]  # qdq's zps are integers
    elif zero_point:
        ports["zero_point"] = zero_point["name"]
        tensors.append(zero_point)
    op = case["op"].replace("Linear", "")
    return {"op": op, "name": "node", "inputs": ports, "attrs": attrs}, tensors


def dynamic(case):
    x = case["inputs"][0]
    attrs = {"dtype": "uint8", "scheme": "asymmetric"}
    return {"op": "DynamicQuantize", "name": "node", "inputs": {"x": x["name"]}, "attrs": attrs}, [x]


def cast(case):
    x, asked = case["inputs"][0], case["attributes"]
    attrs = {"dtype": DTYPES[case["attribute_dtypes"]["to"]][0]}
    if "saturate" in asked:
        attrs["saturate"] = bool(asked["saturate"])
    if "round_mode" in asked:
        attrs["round_mode"] = asked["round_mode"]
    return {"op": "Cast", "name": "node", "inputs": {"x": x["name"]}, "attrs": attrs}, [x]


PRODUCTS = {
    "MatMulInteger": ["a", "b", "a_zero_point", "b_zero_point"],
    "ConvInteger": ["x", "w", "x_zero_point", "w_zero_point"],
    "QLinearMatMul": [
        *("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point"),
        *("y_scale", "y_zero_point"),
    ],
    "QLinearConv": [
        *("x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point"),
        *("y_scale", "y_zero_point", "bias"),
    ],
}
AUTO_PADS = {"NOTSET": "None", "VALID": "VALID"} | {
    word: word for word in ("SAME_UPPER", "SAME_LOWER")
}


def window(attributes):
    """qdq's attributes of a convolution; the kernel comes from the shape of w."""
    attrs = {name: attributes[name] for name in ("strides", "dilations") if name in attributes}
    if "pads" in attributes:
        half = len(attributes["pads"]) // 2
        attrs["pads_begin"] = attributes["pads"][:half]
        attrs["pads_end"] = attributes["pads"][half:]
    if "group" in attributes:
        attrs["groups"] = attributes["group"]
    if "auto_pad" in attributes:
        attrs["auto_pad"] = AUTO_PADS[attributes["auto_pad"]]
    return attrs


def product(case):
    rows = [(p, t) for p, t in zip(PRODUCTS[case["op"]], case["inputs"]) if t and t["name"]]
    ports = {port: tensor["name"] for port, tensor in rows}
    attrs = window(case["attributes"])
    node = {"op": case["op"], "name": "node", "inputs": ports, "attrs": attrs}
    return node, [tensor for _, tensor in rows]


OPS = {op: product for op in PRODUCTS} | {
    "QuantizeLinear": linear,
    "DequantizeLinear": linear,
    "DynamicQuantizeLinear": dynamic,
    "Cast": cast,
}


def difference(tensor, found):
    """Why a tensor is wrong, or None."""
    _, word, element = DTYPES[tensor["dtype"]]
    if found is None:
        return f"{tensor['name']} is missing"
    if found[0] != word or found[1] != tensor["shape"]:
        return f"{tensor['name']} is {found[0]} {found[1]}, wanted {word} {tensor['shape']}"
    wanted = codes_of(tensor)
    got = struct.unpack(f"<{len(wanted)}{'I' if element == 'f' else element}", found[2])
    for i, (a, b) in enumerate(zip(got, wanted)):
        if a != b and not (is_nan(tensor["dtype"], a) and is_nan(tensor["dtype"], b)):
            return f"{tensor['name']}[{i}] is {a:#x}, wanted {b:#x}"
    return None


def run(binary, case, folder):
    """Why a case fails, or None."""
    node, tensors = OPS[case["op"]](case)
    ports = ["node", "node.scale", "node.zero_point"]
    graph = {
        "format": "qdq/1",
        "name": case["name"],
        "inputs": [
            {"name": t["name"], "dtype": DTYPES[t["dtype"]][0], "shape": t["shape"]}
            for t in tensors
        ],
        "nodes": [node],
        "outputs": [{"name": t["name"], "value": p} for t, p in zip(case["outputs"], ports)],
    }
    (folder / "graph.json").write_text(json.dumps(graph), encoding="utf-8")
    write_tensors(folder / "inputs.safetensors", tensors)
    for extra in ([], ["--materialize"]):
        command = [binary, "run", folder / "graph.json", *extra]
        command += ["-i", folder / "inputs.safetensors", "-o", folder / "outputs.safetensors"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [""]
            if any("core/op-unknown" in line for line in lines):
                raise NotRun(f"{case['op']} is not an op of this build")
            return f"exit {done.returncode}: {lines[0].replace(str(folder), '')}"
        found = read_tensors(folder / "outputs.safetensors")
        for tensor in case["outputs"]:
            why = difference(tensor, found.get(tensor["name"]))
            if why:
                return " ".join([why, *extra])
    return None


def main(binary, vectors):
    counts = {"ok": 0, "FAIL": 0, "not run": 0}
    for path in sorted(Path(vectors).glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        word, why = "not run", case["op"]
        if case["op"] in OPS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    why = run(binary, case, Path(folder))
                    word = "FAIL" if why else "ok"
                except NotRun as reason:
                    why = str(reason)
        counts[word] += 1
        print(f"{word} {case['name']}" + (f": {why}" if why else ""))
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
