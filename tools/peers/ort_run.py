# SPDX-License-Identifier: Apache-2.0
"""Runs a folder of models with ONNX Runtime, and writes their outputs.

    python3 ort_run.py FOLDER --out OUT [--level all|extended|basic|disabled] [--option KEY=VALUE]...
                       [--threads N] [--first N] [--names FILE]

FOLDER has NAME.onnx and NAME.npz with inputs, as ort_graphs.py writes them. For each model writes OUT/NAME.npz with
outputs by name. OUT/errors.json has the message for each model that ONNX Runtime refuses, OUT/environment.json
what ran. One process runs all models, as an emulator is slow to start:

    qemu-x86_64 -cpu Haswell PYTHON ort_run.py ...       AVX2 without VNNI
    qemu-aarch64 -L ROOT -cpu cortex-a76 PYTHON ...      Arm with dot products

Needs numpy and onnxruntime.
"""

import argparse
import json
import platform
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import ort_session

def run_folder(folder, out, names, how):
    """Runs each model; returns messages of those that fail."""
    errors = {}
    for name in names:
        with np.load(folder / f"{name}.npz") as stored:
            inputs = dict(stored)
        try:
            results = ort_session.run(folder / f"{name}.onnx", inputs, **how)
        except Exception as error:  # each of its errors has a class of its own
            errors[name] = str(error)
            continue
        np.savez(out / f"{name}.npz", **results)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--level", choices=ort_session.LEVELS, default="all")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--first", type=int)
    parser.add_argument("--names", type=Path, help="a file of model names, one in each line")
    args = parser.parse_args()
    names = sorted(p.stem for p in args.folder.glob("*.onnx"))
    if args.names:
        names = args.names.read_text().split()
    names = names[: args.first]
    args.out.mkdir(parents=True, exist_ok=True)
    pairs = [option.split("=", 1) for option in args.option]
    how = {"level": args.level, "threads": args.threads, "entries": pairs}
    errors = run_folder(args.folder, args.out, names, how)
    (args.out / "errors.json").write_text(json.dumps(errors, indent=1) + "\n")
    about = {"onnxruntime": onnxruntime.__version__, "machine": platform.machine(), "level": args.level}
    about |= {"options": dict(pairs), "threads": args.threads, "models": len(names), "failed": len(errors)}
    (args.out / "environment.json").write_text(json.dumps(about, indent=1) + "\n")
    print(f"{len(names) - len(errors)} of {len(names)} models ran with {about['onnxruntime']} on {about['machine']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
