#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `qdq explain --against` with ONNX Runtime for two models of packages: rapidocr's classifier, and magika.

    package_aims.py --qdq QDQ_BINARY [--only magika] [--targets core,ort] [--into FOLDER] [--json FILE]

`../quantize_onnx.py` gets the models and draws samples, 16 of them; `pairs.py` quantizes. The script prints the gain of the first
8 pairs in float by the order of qdq and by the exact one, Spearman's coefficient, and the time of explain against that of a run.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# pylint: disable=wrong-import-position
import common
import explain_aims
import numpy as np
import onnx
import pairs as pair_models
import quantize_onnx
import truth

SAMPLES = 16


def case(qdq, name, folder, seed):
    model, rng = quantize_onnx.MODELS[name], np.random.default_rng(seed)
    given, held_out = (model.samples(SAMPLES, rng) for _ in range(2))
    folder = folder / name.split()[-1]
    folder.mkdir(parents=True, exist_ok=True)
    floats = onnx.load(quantize_onnx.float_model(qdq, folder, name, given.shape))
    return truth.Case(name, floats, pair_models.quantize(floats, given, int32_bias=True), given, held_out)


def seconds(qdq, folder, name, x):
    """The time of `qdq run` for the quantized model, without starting."""
    given = folder / "given.npz"
    np.savez(given, **{name: x})
    words = [qdq, "bench", folder / "quantized.onnx", "-i", f"{name}={folder}/given.npy", "--repeat", "5", "--json"]
    del words[3:5]
    found = json.loads(quantize_onnx.call(*words, "--threads", "1").stdout)
    return found


def compare(qdq, one, target, folder):
    level, start = explain_aims.LEVELS[target], time.monotonic()
    found, rows = explain_aims.explain(qdq, one, target, folder)
    took, effects = time.monotonic() - start, one.effects(level)
    ours = {name: explain_aims.number(row["effect"]) for name, row in rows.items() if name in effects}
    order, exact = (sorted(those, key=those.get) for those in (ours, effects))
    both = [name for name in effects if name in ours]
    total = min(explain_aims.number(output["total"]) for output in found["outputs"])
    print(f"{one.name}, {target}: output {total:.2f} dB ({total - one.ratio(level):+.2f}), {len(both)} of {len(effects)} pairs, "
          f"Spearman {truth.spearman([ours[x] for x in both], [effects[x] for x in both]):.3f}, explain {took:.2f} s")
    print(f"  first {order[0]} {ours[order[0]]:.1f} dB, truly {effects[order[0]]:.1f}; worst {exact[0]} {effects[exact[0]]:.1f}")
    for count in (1, 2, 3, 8):
        gains = [one.gain(level, names[:count], part) for part in ("given", "held_out") for names in (order, exact)]
        print(f"  {count} in float: given {gains[0]:.2f} dB, exact order {gains[1]:.2f}; held out {gains[2]:.2f}, {gains[3]:.2f}")
    errors = [abs(ours[x] - effects[x]) for x in both if min(ours[x], effects[x]) < 90]
    print(f"  error of effect at most {max(errors):.3f} dB; summed {found['summed']:.2f} dB")
    return {"case": one.name, "target": target, "seconds": took, "ours": ours, "effects": effects}


def main():
    parser = common.parser(__doc__, "core,ort")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=21)
    chosen = parser.parse_args()
    rows = []
    with common.folder_of(chosen.into) as folder:
        for name in ("rapidocr classifier", "magika"):
            if chosen.only in name:
                one = case(chosen.qdq, name, folder, chosen.seed)
                for target in chosen.targets.split(","):
                    rows.append(compare(chosen.qdq, one, target, folder))
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1, default=float))


if __name__ == "__main__":
    main()
