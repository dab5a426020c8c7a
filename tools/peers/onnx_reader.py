# SPDX-License-Identifier: Apache-2.0
"""Makes small ONNX models, runs them with qdq, and compares with ONNX Runtime.

    python3 onnx_reader.py --qdq QDQ_BINARY [--written] [--count 8] [--seed 1] [--only WORDS] [--keep FOLDER]

With --written qdq also writes each model, and what it wrote must give the same bits.

ONNX Runtime runs without graph optimization; ops that it has no kernel for are computed by ONNX's
reference implementation. Ops on codes and movement are compared bit for bit, floats with a tolerance
(TOLERANCE, relative to the greatest magnitude of the result). Codes that nodes of a network make
from floats may differ by one if the float is practically halfway between two; values after such a
tie are not compared. A refusal is a failure, except for the ops of MAY_REFUSE.
"""

import argparse
import collections
import json
import logging
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import ort_session
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

from onnx_attention_cases import ATTENTION
from onnx_cases import CASES, EXACT
from onnx_index_cases import READ
from onnx_quantized import NETWORKS, QUANTIZES, QUANTIZING
from onnx_recurrent_cases import RECURRENT
from onnx_window_cases import PRODUCTS

# A dtype of qdq: its word in .safetensors files, and what an element is there.
STORED = {
    "float32": ("F32", np.float32), "float16": ("F16", np.float16), "bfloat16": ("BF16", np.uint16),
    "int8": ("I8", np.int8), "uint8": ("U8", np.uint8), "int4": ("I8", np.int8),
    "uint4": ("U8", np.uint8), "int2": ("I8", np.int8), "uint2": ("U8", np.uint8),
    "int16": ("I16", np.int16), "uint16": ("U16", np.uint16), "int32": ("I32", np.int32),
    "int64": ("I64", np.int64), "uint32": ("U32", np.uint32), "uint64": ("U64", np.uint64),
    "float64": ("F64", np.float64), "bool": ("BOOL", np.bool_), "float8_e4m3fn": ("F8_E4M3", np.uint8),
    "float8_e5m2": ("F8_E5M2", np.uint8), "float8_e4m3fnuz": ("F8_E4M3FNUZ", np.uint8),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", np.uint8), "float8_e8m0": ("F8_E8M0", np.uint8),
    "float4_e2m1": ("U8", np.uint8),
}  # fmt: skip
OTHER_NAMES = {"float32": "FLOAT", "float64": "DOUBLE"}
DTYPES = {TensorProto.DataType.Value(OTHER_NAMES.get(name, name.replace("_", "").upper())): name for name in STORED}

# Most float32 results are within 3e-7; ONNX Runtime loses 3e-6 in the tails of Gelu.
TOLERANCE = {np.dtype(np.float32): 4e-6, np.dtype(np.float16): 4e-3}
MAY_REFUSE = ("AveragePool", "Resize")
LEAST = 0.1  # The least greatest magnitude: smaller results are differences of larger numbers.
NEAR = 2e-5  # How close to the middle of two codes counts as a tie, in codes.


def expected(model, feeds):
    """The results of the peers; None if neither can run it."""
    try:
        return ort_session.run(model, feeds), "ort"
    except Exception:
        names = [output.name for output in model.graph.output]
        try:
            return dict(zip(names, ReferenceEvaluator(model).run(names, feeds))), "reference"
        except Exception:
            return None, "no peer"


def read_tensors(path):
    blob = path.read_bytes()
    length = struct.unpack_from("<Q", blob)[0]
    header = json.loads(blob[8 : 8 + length])
    header.pop("__metadata__", None)
    kinds = {word: kind for word, kind in STORED.values()}
    kinds |= {"U8": np.uint8, "I8": np.int8}
    found = {}
    for name, row in header.items():
        begin, end = (8 + length + offset for offset in row["data_offsets"])
        found[name] = np.frombuffer(blob[begin:end], kinds[row["dtype"]]).reshape(row["shape"])
        if row["dtype"] == "BF16":
            found[name] = (found[name].astype(np.uint32) << 16).view(np.float32)
    return found


class Refused(Exception):
    """What qdq says of a model that it does not read."""


def safetensors(tensors):
    """The bytes of a file of {name: (dtype, shape, bytes)}."""
    header, parts, at = {}, [], 0
    for name, (dtype, shape, data) in tensors.items():
        offsets = [at, at + len(data)]
        header[name] = {"dtype": STORED[dtype][0], "shape": shape, "data_offsets": offsets}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def check(binary, path):
    """Refused with the findings, if qdq does not read the model."""
    done = subprocess.run([binary, "check", path, "--json"], capture_output=True, text=True, check=False)
    said = json.loads(done.stdout) if done.stdout else {"error": {"message": done.stderr}}
    if done.returncode:
        found = said.get("findings") or [said["error"]]
        raise Refused("; ".join(row["message"] for row in found)[:400])


def run(binary, folder, feeds, model="case.onnx", target="onnx"):
    """The results of qdq, or why there are none."""
    values = onnx.load(folder / "case.onnx").graph.input
    dtypes = {v.name: DTYPES[v.type.tensor_type.elem_type] for v in values}
    tensors = {n: (dtypes[n], list(a.shape), np.ascontiguousarray(a).tobytes())
               for n, a in feeds.items() if n in dtypes}  # fmt: skip
    command = [binary, "run", folder / model, "--target", target, "-o", folder / "out.safetensors"]
    if tensors:
        (folder / "in.safetensors").write_bytes(safetensors(tensors))
        command += ["-i", folder / "in.safetensors"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        return None, f"exit {done.returncode}: {done.stderr.strip()[:600]}"
    return read_tensors(folder / "out.safetensors"), None


def written_differs(binary, folder, feeds):
    """Why the model that qdq writes is not the one that it read, or None. By target core, as the order of
    products in target onnx depends on the form of a node."""
    done = subprocess.run([binary, "convert", folder / "case.onnx", "-o", folder / "again.onnx"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        return f"is not written: {done.stderr.strip()[:400]}"
    try:
        onnx.checker.check_model(str(folder / "again.onnx"), full_check=True)
    except Exception as why:
        return f"onnx.checker: {str(why)[:300]}"
    found, _ = run(binary, folder, feeds, target="core")
    again, why = run(binary, folder, feeds, "again.onnx", "core")
    if why:
        return f"written: {why}"
    same = all(again[name].tobytes() == found[name].tobytes() for name in found)
    return None if same else "the written model has other results"


def as_codes(array):
    """Integers and bits as the file of results has them."""
    array = np.asarray(array)
    if str(array.dtype) == "bfloat16":
        return array.astype(np.float32)
    if str(array.dtype).startswith(("float8", "float4")):
        return array.view(np.uint8)
    return array


def difference(case, name, found, wanted, ties):
    """Why a result is wrong, or None."""
    wanted = as_codes(wanted)
    if found is None or found.shape != wanted.shape:
        return f"{name}: {None if found is None else found.shape}, wanted {wanted.shape}"
    same = (found == wanted) | ((found != found) & (wanted != wanted))
    if np.all(same):
        return None
    if case.how == EXACT or wanted.dtype.kind != "f":
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        return f"{name}: {np.sum(~same)} of {same.size} differ, {at}: {found[at]}, not {wanted[at]}"
    size = max(float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0)), LEAST)
    error = np.abs(found.astype(np.float64) - wanted.astype(np.float64)) / size
    worst = float(np.max(error[~same]))
    ties["worst"] = max(ties["worst"], worst)
    if worst <= TOLERANCE[wanted.dtype]:
        return None
    return f"{name}: off by {worst:.3g} of the greatest"


def first_ties(case, found, wanted, ties):
    """Compares the values that nodes quantize, in order, up to the first codes that differ. These
    must be ties, which are counted; later values are not compared. Returns why not."""
    known = {t.name: numpy_helper.to_array(t) for t in case.model.graph.initializer}
    known |= case.feeds | wanted
    for node in case.model.graph.node:
        if node.op_type not in QUANTIZES:
            continue
        x, name = known[node.input[0]], node.output[0]
        scale = known[node.input[1] if node.op_type == "QuantizeLinear" else node.output[1]]
        steps = np.abs(found[name].astype(np.int64) - wanted[name].astype(np.int64))
        ties["codes"] += steps.size
        if not np.any(steps):
            continue
        at = x.astype(np.float64) / scale
        off = (steps > 1) | (np.abs(at - np.floor(at) - 0.5) > NEAR * np.maximum(np.abs(at), 1))
        if np.any(off & (steps > 0)):
            return f"{name}: {np.sum(off & (steps > 0))} of {steps.size} differ that are no ties"
        ties["ties"] += int(np.sum(steps))
        return "a tie"
    return None


def try_case(binary, case, folder, ties, written):
    """The outcome in a word, and the reason."""
    onnx.save(case.model, folder / "case.onnx")
    try:
        check(binary, folder / "case.onnx")
    except Refused as why:
        return "refused", str(why)
    wanted, peer = expected(case.model, case.feeds)
    if wanted is None:
        return "not run", peer
    found, why = run(binary, folder, case.feeds)
    if not why and written:
        why = written_differs(binary, folder, case.feeds)
    if why:
        return "FAIL", why
    if case.how == "steps":
        why = first_ties(case, found, wanted, ties)
        if why:
            return ("equal up to a tie", "") if why == "a tie" else ("FAIL", why)
    for name, value in wanted.items():
        why = difference(case, name, found.get(name), value, ties)
        if why:
            return "FAIL", f"{why} ({peer})"
    return ("ok" if peer == "ort" else "ok by reference"), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--qdq", type=Path, required=True)
    parser.add_argument("--written", action="store_true", help="qdq also writes the models")
    parser.add_argument("--count", type=int, default=8, help="models of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds with this in their name")
    parser.add_argument("--keep", type=Path, help="where models that fail are kept")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    total = collections.Counter()
    kinds = {**CASES, **PRODUCTS, **QUANTIZING, **NETWORKS, **READ, **ATTENTION, **RECURRENT}
    for number, (kind, make) in enumerate(kinds.items()):
        if options.only not in kind:
            continue
        words, reasons, ties = collections.Counter(), collections.Counter(), collections.Counter()
        for i in range(options.count):
            case = make(np.random.default_rng([options.seed, number, i]))
            with tempfile.TemporaryDirectory() as folder:
                word, why = try_case(options.qdq, case, Path(folder), ties, options.written)
                if word == "refused" and kind not in MAY_REFUSE:
                    word, why = "FAIL", f"refused: {why}"
                words[word] += 1
                reasons[f"{word}: {why}"] += bool(why)
                if word == "FAIL" and options.keep:
                    (options.keep / f"{number}-{i}").mkdir(parents=True, exist_ok=True)
                    for path in Path(folder).iterdir():
                        (options.keep / f"{number}-{i}" / path.name).write_bytes(path.read_bytes())
        total += words
        told = [f"{count} {word}" for word, count in words.items()]
        told += [f"{word} {count:.3g}" for word, count in ties.items() if count]
        print(f"{kind}: {', '.join(told)}", flush=True)
        for reason, count in (+reasons).items():
            print(f"    {count} {reason}")
    print(", ".join(f"{count} {word}" for word, count in total.items()))
    return 1 if total["FAIL"] or not total["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
