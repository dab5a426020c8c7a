#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fill_schema.py QDQ_BINARY SCHEMA: writes what docs/qdq.schema.json says of ops from `qdq ops`.

The definitions of the quantizing ops are written by hand; those of all others are made anew.
"""
import json
import subprocess
import sys
from pathlib import Path

BY_HAND = ["Quantize", "Dequantize", "DynamicQuantize", "Requantize", "Cast"]
CLOSED = {"additionalProperties": False}
OPEN_TO_NOTES = {"patternProperties": {"^x-": True}, **CLOSED}
INTS = {"type": "array", "items": {"type": "integer"}}
KINDS = {"int": {"type": "integer"}, "number": {"type": "number"}, "bool": {"type": "boolean"},
         "int[]": INTS, "float32 or float32[]": {"$ref": "#/$defs/floats"},
         "int or int[]": {"$ref": "#/$defs/zero_points"}}


def port_of(port):
    if port["variadic"]:
        return {"$ref": "#/$defs/values"}
    return {"$ref": "#/$defs/value"}


def default_of(attr, words):
    text = attr["default"]
    if text in ("true", "false"):
        return {"default": text == "true"}
    if text.lstrip("-").isdigit():
        return {"default": int(text)}
    return {"default": text} if text in words else {}


def attr_of(attr, made):
    words = [] if attr["type"] in KINDS else attr["type"].split(" or ")
    if attr["type"] == "dtype":
        words = made
    kind = {"enum": words} if words else KINDS[attr["type"]]
    return {**kind, "description": attr["summary"], **default_of(attr, words)}


def definition_of(op):
    made = op["outputs"][0]["dtypes"]
    ports = [port["name"] for port in op["inputs"] if not port["optional"]]
    attrs = [attr["name"] for attr in op["attrs"] if attr["summary"].endswith("required")]
    inputs = {"type": "object",
              "properties": {port["name"]: port_of(port) for port in op["inputs"]},
              "required": ports, **CLOSED}
    values = {"type": "object",
              "properties": {attr["name"]: attr_of(attr, made) for attr in op["attrs"]}}
    if attrs:
        values["required"] = attrs
    return {"description": op["summary"],
            "properties": {"inputs": inputs, "attrs": {**values, **OPEN_TO_NOTES}},
            "required": ["inputs"] + (["attrs"] if attrs else [])}


def main(words):
    ops = json.loads(subprocess.run([words[0], "ops", "--json"], capture_output=True, check=True,
                                    encoding="utf-8").stdout)["ops"]
    path = Path(words[1])
    schema = json.loads(path.read_text(encoding="utf-8"))
    names = [op["name"] for op in ops]
    definitions = schema["$defs"]
    known = definitions["node"]["properties"]["op"]["enum"]
    for name in known:
        if name not in BY_HAND:
            definitions.pop(name, None)
    definitions["values"] = {"type": "array", "description": "the names of 1 to 64 values",
                             "minItems": 1, "maxItems": 64, "items": {"$ref": "#/$defs/value"}}
    definitions["floats"] = {"description": "a float32, or an array of them, nested at will",
                             "anyOf": [{"type": "number"},
                                       {"type": "array", "minItems": 1,
                                        "items": {"$ref": "#/$defs/floats"}}]}
    for op in ops:
        if op["name"] not in BY_HAND:
            definitions[op["name"]] = definition_of(op)
    definitions["node"]["properties"]["op"]["enum"] = names
    definitions["node"]["allOf"] = [{"if": {"properties": {"op": {"const": name}}},
                                     "then": {"$ref": f"#/$defs/{name}"}} for name in names]
    path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
