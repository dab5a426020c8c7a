#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the models that `qdq quantize` writes on samples that it did not see.

    quantize_aims.py --qdq QDQ_BINARY [--seeds 11,12,13] [--kinds cnn,mlp] [--targets ort,tensorrt]
                     [--options "|--equalize|--equalize --correct"] [--into FOLDER] [--json FILE]

`qdq calibrate` and `qdq quantize` see the calibrating samples of `networks.py`. The held-out ones run as ONNX Runtime with all
optimizations computes the model for ort, and as `qdq run` does for tensorrt, against ONNX Runtime's results of the float model.
The script prints the ratio over all samples, that of the median sample, how many decide alike, if the batch stays open, and
after `keeps bits` if the float model of --equalize gives the same bits.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# pylint: disable=wrong-import-position
import common
import networks
import numpy as np
import onnx
import truth
from static import static


def call(*words, codes=(0,)):
    done = subprocess.run([str(word) for word in words], capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
    return done


def is_open(model):
    return all(one.type.tensor_type.shape.dim[0].dim_param for one in (*model.graph.input, *model.graph.output))


def run_qdq(qdq, path, target, x, open_batch, folder):
    out, given = folder / "out.npy", folder / "in.npz"
    results = []
    for batch in [x] if open_batch else np.split(x, len(x)):
        np.savez(given, x=batch)
        sizes = ["--dim", f"N={len(batch)}"] if open_batch else []
        call(qdq, "run", path, "-t", target, "-i", given, "-o", f"scores={out}", *sizes)
        results.append(np.load(out))
    return np.concatenate(results)


class Network:
    def __init__(self, qdq, n, folder):
        self.qdq, self.n, self.folder = qdq, n, folder
        self.path = folder / "float.onnx"
        onnx.save(n.model, self.path)
        for part, x in n.samples.items():
            np.savez(folder / f"{part}.npz", x=x)
        self.exact = truth.run(n.model, n.samples["held_out"])
        call(qdq, "calibrate", self.path, "--dim", "N=1", "--data", folder / "calibrating.npz", "-o", folder / "state")

    def measure(self, results):
        return {"all": truth.decibels(self.exact, results), "median": truth.median_decibels(self.exact, results),
                "alike": truth.alike(self.exact, results)}

    def row(self, who, target, results, **more):
        return {"case": f"{self.n.kind} {self.n.seed}", "who": who, "target": target, **self.measure(results), **more}

    def of_qdq(self, target, words):
        out = self.folder / "quantized.onnx"
        done = call(self.qdq, "quantize", self.path, "--dim", "N=1", "--state", self.folder / "state", "-t", target, "-o", out,
                    "--data", self.folder / "calibrating.npz", *words.split())
        open_batch, x = is_open(onnx.load(out)), self.n.samples["held_out"]
        if target == "ort":
            results = truth.run(onnx.load(out), x, "all", open_batch)
        else:
            results = run_qdq(self.qdq, out, target, x, open_batch, self.folder)
        return self.row(f"qdq {words}", target, results, open=open_batch, text=done.stdout)

    def of_peer(self, method):
        model = static(self.n.model, self.n.samples["calibrating"], self.folder, method)
        return self.row(f"quantize_static {method}", "ort", truth.run(model, self.n.samples["held_out"], "all"),
                        open=is_open(model), text="")


def show(row):
    print(f"{row['case']:14} {row['target']:9} {row['who']:32} all {row['all']:6.1f} dB, median {row['median']:6.1f} dB, "
          f"alike {row['alike']:.3f}{'' if row['open'] else ', batch fixed'}", flush=True)


def summarize(rows):
    print()
    for target, who in sorted({(row["target"], row["who"]) for row in rows}):
        chosen = [row for row in rows if (row["target"], row["who"]) == (target, who)]
        every, median, alike = (np.mean([row[key] for row in chosen]) for key in ("all", "median", "alike"))
        print(f"{target:9} {who:32} all {every:.1f} dB, median {median:.1f} dB, alike {alike:.3f}, open "
              f"{sum(row['open'] for row in chosen)} of {len(chosen)}")


def main():
    parser = common.parser(__doc__, "ort,tensorrt")
    parser.add_argument("--seeds", default="11,12,13")
    parser.add_argument("--kinds", default=",".join(networks.KINDS))
    parser.add_argument("--options", default="", help="option lists of quantize, divided by |")
    parser.add_argument("--peer", default="", help="methods of quantize_static: MinMax,Entropy,Percentile")
    chosen = parser.parse_args()
    rows = []
    with common.folder_of(chosen.into) as folder:
        for kind in chosen.kinds.split(","):
            for seed in chosen.seeds.split(","):
                network = Network(chosen.qdq, networks.network(kind, int(seed)), folder)
                made = [lambda t=target, w=words: network.of_qdq(t, w)
                        for target in chosen.targets.split(",") for words in chosen.options.split("|")]
                made += [lambda m=method: network.of_peer(m) for method in chosen.peer.split(",") if method]
                for make in made:
                    try:
                        rows.append(make())
                        show(rows[-1])
                    except (RuntimeError, ValueError) as error:
                        print(f"{kind} {seed}: {error}", flush=True)
    summarize(rows)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1, default=float))


if __name__ == "__main__":
    main()
