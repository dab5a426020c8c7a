# SPDX-License-Identifier: Apache-2.0
"""Compares the files of vectors/ with ONNX Runtime, and records its bits.

    peers.py --tool build/tools/qdq --cpu vnni [--record]     # run it with the release that a backend names
    peers.py --recorded                                       # compares the files with all recordings; needs no ONNX Runtime

The first needs numpy, onnx and onnxruntime. Each group is written as an ONNX model by `qdq convert`; groups that ONNX cannot
express are left out. A recording, peers/<backend>.json, has the words of each output by id, and why some differ.
"""

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "generator"))
sys.path.insert(0, str(HERE / "readers/python"))
from tensor import words
from test_vectors import difference, expected

FILES = sorted(HERE.glob("*.json"))


def all_groups():
    """Returns {id: group} of all files."""
    return {group["id"]: group for path in FILES for group in json.loads(path.read_text())["groups"]}


def cases():
    """Returns the groups as the generator has them."""
    names = [path.name[6:-3] for path in sorted((HERE / "generator").glob("cases_*.py"))]
    return [one for name in names for one in importlib.import_module(f"cases_{name}").groups()]


def converted(tool, group, folder):
    """Returns the model of a group; None if ONNX cannot express it."""
    source, model = Path(folder, "g.json"), Path(folder, "g.onnx")
    source.write_text(group.graph())
    done = subprocess.run([tool, "convert", str(source), "-o", str(model)], capture_output=True, text=True)
    if done.returncode != 0:
        return None
    import onnx

    made = onnx.load(str(model))
    if group.op == "Quantize":  # a scale of float16 divides in float16 from opset 23 on, and the targets are of opset 25
        made.opset_import[0].version = 25
    return made.SerializeToString()


def array(one):
    import numpy as np

    kinds = {"float32": "f4", "float16": "f2", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4",
             "int64": "i8"}
    return np.frombuffer(one.bytes(), np.dtype("<" + kinds[one.dtype])).reshape(one.shape)


def run(model, group, level):
    """Returns {output: words} of a model with or without optimizations; None if it or its dtypes are refused."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = level
    names = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(int8)": "int8", "tensor(uint8)": "uint8",
             "tensor(int16)": "int16",
             "tensor(uint16)": "uint16", "tensor(int32)": "int32", "tensor(int64)": "int64", "tensor(bool)": "bool"}  # fmt: skip
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        kinds = [names[one.type] for one in session.get_outputs()]
        name = "{}" if group.nodes else "in_{}"
        feeds = {name.format(port): array(one) for port, one in group.inputs.items() if not one.constant}
        found = session.run(None, feeds)
        outputs = [one.name[4:] for one in session.get_outputs()]
    except Exception:  # a dtype without a kernel, or one that numpy lacks
        return None
    return {output: words(kind, one.tobytes()) for output, kind, one in zip(outputs, kinds, found)}


def differing(groups, backend, bits):
    """Returns {id: sentence} of the groups whose row of the backend differs from recorded bits."""
    found = {}
    for key, own in bits.items():
        wanted = expected(groups[key], backend)
        sentence = difference(groups[key], wanted, {output: text.split() for output, text in own.items()}) if wanted else ""
        if sentence:
            found[key] = sentence
    return found


def recorded():
    """Compares the files with the recordings. Returns the number of groups that differ without a reason."""
    groups, wrong = all_groups(), 0
    for path in sorted((HERE / "peers").glob("*.json")):
        content = json.loads(path.read_text())
        found = differing(groups, content["backend"], content["bits"])
        silent = [sentence for key, sentence in found.items() if key not in content["differ"]]
        gone = [key for key in content["differ"] if key not in found]
        count = f"{content['backend']}: {len(content['bits']) - len(found)} groups equal, {len(found)} differ"
        print("\n".join([*silent, *(f"{key}: differs no more" for key in gone), count]))
        wrong += len(silent) + len(gone)
    return wrong


def live(tool, cpu, record):
    import onnxruntime

    groups, wrong = all_groups(), 0
    release = ".".join(onnxruntime.__version__.split(".")[:2])
    levels = {"onnx": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, "ort": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}
    bits = {name: {} for name in levels}
    with tempfile.TemporaryDirectory() as folder:
        for group in cases():
            model = converted(tool, group, folder)
            for name, level in levels.items():
                got = model and run(model, group, level)
                if got and sorted(got) == sorted(one["name"] for one in groups[group.id]["outputs"]):
                    bits[name][group.id] = {output: " ".join(one) for output, one in got.items()}
    for name, own in bits.items():
        backend, path = f"{name}@{release}-{cpu}", HERE / f"peers/{name}@{release}-{cpu}.json"
        old = json.loads(path.read_text())["differ"] if path.exists() else {}
        found = differing(groups, backend, own)
        print("\n".join([*found.values(), f"{backend}: {len(own) - len(found)} groups equal, {len(found)} differ"]))
        wrong += len(found.keys() - old.keys())
        if record:
            rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(one)}" for key, one in own.items())
            reasons = json.dumps({key: old.get(key, "") for key in found}, indent=1)
            peer = f"ONNX Runtime {onnxruntime.__version__}, x86-64"
            parts = [f' "peer": {json.dumps(peer)}', f' "backend": {json.dumps(backend)}', f' "differ": {reasons}',
                     f' "bits": {{\n{rows}\n }}']  # fmt: skip
            path.parent.mkdir(exist_ok=True)
            path.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tool", help="a qdq that has the command convert")
    parser.add_argument("--cpu", default="vnni", help="the kind of CPU that this is: vnni, avx2, ...")
    parser.add_argument("--record", action="store_true", help="write peers/<backend>.json")
    parser.add_argument("--recorded", action="store_true", help="compare with the recordings")
    given = parser.parse_args()
    return bool(recorded() if given.recorded else live(given.tool, given.cpu, given.record))


if __name__ == "__main__":
    sys.exit(main())
