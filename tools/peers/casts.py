# SPDX-License-Identifier: Apache-2.0
"""Compares Cast with ml_dtypes (by numpy) and, if installed, ONNX Runtime.

    python3 casts.py QDQ_BINARY

Every value of every dtype of at most 16 bits is cast to every dtype by the binary and by the peers;
any NaN equals any other. float32 stands for all dtypes that a float32 holds exactly. Not compared,
because ONNX leaves it open or the peers have other rules (docs/numerics.md, Cast):

* ml_dtypes: float8_e8m0, for which onnxruntime is asked; a negative NaN to float4_e2m1; numbers out
  of range for an integer of a byte or more. Results narrower than a byte are rounded by numpy
  first.
* ONNX Runtime: numbers out of range for an integer of a byte or more; halves to an integer narrower
  than a byte, which it rounds away from zero; without `saturate`, numbers in the binade of the
  largest float8 whose code would be the next one: it makes 448 of 480, and NaN of 61440 in e5m2;
  infinities from a dtype to itself, which it copies although `saturate` clamps them.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np

from onnx_vectors import DTYPES, read_tensors, write_tensors

try:
    import ort_session
    from onnx import TensorProto, helper
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime_state
except ImportError:
    ort_session = None

# ONNX's name -> numpy's dtype.
NUMPY = {
    "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
    "int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32,
    "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn, "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float4e2m1": ml_dtypes.float4_e2m1fn, "float8e8m0": ml_dtypes.float8_e8m0fnu,
}
WHOLE = [name for name in NUMPY if "int" in name]
NARROW = ["int4", "uint4", "int2", "uint2"]
FLOAT8 = [name for name in NUMPY if name.startswith("float8") and name != "float8e8m0"]
# Numbers for which ONNX Runtime does not overflow as ONNX says.
BEYOND = {"float8e4m3fn": (480, 496), "float8e5m2": (61440, 65536)}


def values_of(name):
    """All values of a dtype of at most 16 bits as float32."""
    if name in WHOLE:
        limits = ml_dtypes.iinfo(NUMPY[name])
        return np.arange(limits.min, limits.max + 1).astype(np.float32)
    if np.dtype(NUMPY[name]).itemsize == 2:
        codes = np.arange(65536, dtype=np.uint32).astype(np.uint16).view(NUMPY[name])
    else:
        count = 16 if name == "float4e2m1" else 256
        codes = np.arange(count, dtype=np.uint32).astype(np.uint8).view(NUMPY[name])
    return codes.astype(np.float32)


def encode(name, values):
    """The bits of float32 values that the dtype holds, for write_tensors."""
    if name in WHOLE:
        return {"data": values.astype(np.int64).tolist()}
    if name == "float4e2m1":
        return {"data": values.tolist()}
    return {"bits": values.astype(NUMPY[name]).view(
        {2: np.uint16, 1: np.uint8}[np.dtype(NUMPY[name]).itemsize]).tolist()}


def qdq(binary, source, target, values, attrs, folder):
    dtype = DTYPES[target][0]
    node = {"op": "Cast", "name": "y", "inputs": {"x": "x"}, "attrs": {"dtype": dtype, **attrs}}
    # Reads the result as float32, which holds every result exactly.
    wide = {"op": "Cast", "name": "wide", "inputs": {"x": "y"}, "attrs": {"dtype": "float32"}}
    graph = {"format": "qdq/1",
             "inputs": [{"name": "x", "dtype": DTYPES[source][0], "shape": [len(values)]}],
             "nodes": [node, wide], "outputs": [{"name": "wide", "value": "wide"}]}
    (folder / "graph.json").write_text(json.dumps(graph), encoding="utf-8")
    x = {"name": "x", "dtype": source, "shape": [len(values)], **encode(source, values)}
    write_tensors(folder / "x.safetensors", [x])
    subprocess.run([binary, "run", folder / "graph.json", "-i", folder / "x.safetensors", "-o",
                    folder / "y.safetensors"], check=True, timeout=60)
    return np.frombuffer(read_tensors(folder / "y.safetensors")["wide"][2], np.float32)


def in_range(target, values):
    """Whether ONNX defines the result as an integer of a byte or more."""
    if target not in WHOLE or target in NARROW:
        return np.ones(len(values), bool)
    limits = ml_dtypes.iinfo(NUMPY[target])
    whole = np.trunc(values.astype(np.float64))
    return np.isfinite(values) & (whole >= limits.min) & (whole <= limits.max)


def numpy_cast(source, target, values, saturate):
    """The result as float32, and which elements to compare."""
    compared = in_range(target, values)
    if target in WHOLE and source in WHOLE:
        wide = values.astype(np.int64)
        return wide.astype(NUMPY[target]).astype(np.float32), np.ones(len(values), bool)
    if target in NARROW:
        rounded = np.where(np.isfinite(values), np.rint(values), 0).astype(np.float64)
        low = np.mod(rounded, 2 ** ml_dtypes.iinfo(NUMPY[target]).bits).astype(np.int64)
        return low.astype(NUMPY[target]).astype(np.float32), compared
    if target in WHOLE:
        return np.where(compared, values, 0).astype(NUMPY[target]).astype(np.float32), compared
    if target in FLOAT8 and saturate:
        limits = ml_dtypes.finfo(NUMPY[target])
        values = np.clip(values, np.float32(limits.min), np.float32(limits.max))
    if target == "float4e2m1":
        compared &= ~(np.isnan(values) & np.signbit(values))
    return values.astype(NUMPY[target]).astype(np.float32), compared


def runtime_cast(source, target, values, attrs):
    """The same from ONNX Runtime; None if it has no such Cast."""
    compared = in_range(target, values)
    if target in NARROW:
        compared &= np.abs(values - np.trunc(values)) != 0.5
    if target in BEYOND and not attrs["saturate"]:
        low, high = BEYOND[target]
        compared &= ~((np.abs(values) >= low) & (np.abs(values) < high))
    if source == target:
        compared &= ~np.isinf(values)
    types = [getattr(TensorProto, t.replace("float32", "float").upper())
             for t in (source, target, "float32")]
    asked = {k: int(v) if isinstance(v, bool) else v for k, v in attrs.items()}
    exact = {"saturate": 0} if source in FLOAT8 else {}  # keeps infinities
    steps = [("x", "a", types[0], exact), ("a", "b", types[1], asked), ("b", "y", types[2], {})]
    graph = helper.make_graph(
        [helper.make_node("Cast", [i], [o], to=t, **a) for i, o, t, a in steps], "peer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [len(values)])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [len(values)])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    refusals = runtime_state.NotImplemented, runtime_state.InvalidGraph
    try:
        return ort_session.run(model, {"x": values})["y"], compared
    except refusals:
        return None


def same(a, b):
    return (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))


def check(name, values, got, peer):
    """Whether the peer agrees."""
    wanted, compared = peer
    wrong = np.flatnonzero(compared & ~same(got, wanted))
    if len(wrong):
        at = wrong[0]
        print(f"FAIL {name}: {len(wrong)} differ; {values[at]!r} became {got[at]!r}, not {wanted[at]!r}")
    return not len(wrong)


def forms_of(target):
    if target == "float8e8m0":
        return [{"saturate": s, "round_mode": m} for s in (True, False)
                for m in ("up", "down", "nearest")]
    return [{"saturate": s} for s in (True, False)] if target in FLOAT8 else [{}]


def main(binary):
    counts = {"ml_dtypes": [0, 0], "ONNX Runtime": [0, 0]}
    with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        for source in NUMPY:
            if source in ("float32", "int32"):
                continue
            values = values_of(source)
            for target in NUMPY:
                for attrs in forms_of(target):
                    got = qdq(binary, source, target, values, attrs, Path(folder))
                    peers = {}
                    if target != "float8e8m0":
                        saturate = attrs.get("saturate", True)
                        peers["ml_dtypes"] = numpy_cast(source, target, values, saturate)
                    if ort_session:
                        peers["ONNX Runtime"] = runtime_cast(source, target, values, attrs)
                    for peer, result in peers.items():
                        if result:
                            fine = check(f"{peer}: {source} to {target} {attrs}", values, got, result)
                            counts[peer][not fine] += 1
    for peer, (fine, wrong) in counts.items():
        print(f"{peer}: {fine} pairs agree, {wrong} differ")
    return 1 if any(wrong for _, wrong in counts.values()) or not counts["ml_dtypes"][0] else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
