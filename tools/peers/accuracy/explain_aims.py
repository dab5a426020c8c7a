#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `qdq explain --against` with the effects that ONNX Runtime shows.

    explain_aims.py --qdq QDQ_BINARY [--seeds 11,12,13] [--kinds cnn,mlp] [--targets core,ort] [--data] [--into FOLDER]
                    [--json FILE]

For each kind of `networks.py` and seed there is a model of the quantizer of `pairs.py` (biases int32 for even seeds), and for
the first seed one of ONNX Runtime's quantize_static. Truth for core is ONNX Runtime without optimizations, for ort with all.
Both see the calibrating samples; gains are of held-out ones. The script prints a row for each model and target, and the means.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# pylint: disable=wrong-import-position
import common
import networks
import numpy as np
import onnx
import pairs as pair_models
import truth
from mends import mended
from static import static

LEVELS = {"core": "disabled", "onnx": "disabled", "ort": "all"}


# ---- Models -----------------------------------------------------------------


def cases(kinds, seeds, folder):
    for seed in seeds:
        for kind in kinds:
            n = networks.network(kind, seed)
            given, held_out = n.samples["calibrating"], n.samples["held_out"]
            own = pair_models.quantize(n.model, given, int32_bias=seed % 2 == 0)
            yield n, truth.Case(f"{kind} {seed}", n.model, own, given, held_out)
            if seed == seeds[0]:
                try:
                    peer = static(n.model, given, folder)
                except ValueError as error:  # of a bias of a MatMul with several scales
                    print(f"{kind} {seed}, quantize_static: {error}", file=sys.stderr)
                    continue
                yield n, truth.Case(f"{kind} {seed}, static", n.model, peer, given, held_out)


# ---- qdq --------------------------------------------------------------------


def explain(qdq, case, target, folder, more=(), data=False):
    """The JSON of qdq explain, and its rows by the names of pairs."""
    paths = folder / "float.onnx", folder / "quantized.onnx", folder / "given.npz"
    onnx.save(case.model, paths[0])
    onnx.save(case.quantized, paths[1])
    name = case.model.graph.input[0].name
    np.savez(paths[2], **{name: case.given})
    words = [qdq, "explain", paths[1], "--against", paths[0], "--target", target, "--json", *more]
    words += ["--data", paths[2], "-o", folder / "state"] if data else ["-i", paths[2]]
    done = subprocess.run([str(word) for word in words], capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{case.name}: {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    names = {}
    for node in case.quantized.graph.node:
        names |= {node.name: node.output[0], node.output[0]: node.output[0]}
    rows = [row for row in found["nodes"] if number(row.get("effect")) is not None and row["kind"] != "group"]
    return found, {names.get(row["node"], row["node"]): row for row in rows}


def number(value):
    return {"Infinity": math.inf, "-Infinity": -math.inf}.get(value, value) if isinstance(value, str) else value


# ---- Comparing --------------------------------------------------------------


def compare(qdq, n, case, target, folder, data):
    level = LEVELS[target]
    found, rows = explain(qdq, case, target, folder, ["--dim", f"N={1 if data else len(case.given)}"], data)
    effects = case.effects(level)
    ours = {name: number(row["effect"]) for name, row in rows.items() if name in effects}
    order, exact = (sorted(one, key=one.get) for one in (ours, effects))
    both = [name for name in effects if name in ours]
    errors = [abs(ours[name] - effects[name]) for name in both if min(ours[name], effects[name]) < 90]
    out = {"case": case.name, "target": target, "pairs": len(effects), "listed": len(both)}
    out["first"] = bool(order) and effects[order[0]] <= effects[exact[0]] + 1
    out["spearman"] = truth.spearman([ours[x] for x in both], [effects[x] for x in both]) if both else 0.0
    out["error"] = max(errors, default=0.0)
    measured = {name: number(row["without"]) for name, row in rows.items() if number(row.get("without")) is not None}
    seen = case.first(found["without_samples"]) if found.get("without_samples") else case
    true_without = seen.without(level, [name for name in measured if name in effects])
    out["without"] = max((abs(measured[name] - one) for name, one in true_without.items() if one < 90), default=0.0)
    head, result = found["outputs"][0], case.result(level)
    out["total"] = number(head["total"])
    out["total_error"] = out["total"] - truth.decibels(case.exact["given"], result)
    out["median_error"] = number(head["median"]) - truth.median_decibels(case.exact["given"], result)
    out["alike_error"] = head["alike"] - truth.alike(case.exact["given"], result)
    noise = sum(10**(-one / 10) for one in effects.values())
    out["summed_error"] = number(found["summed"]) + 10 * math.log10(noise)
    for count in (1, 2, 3):
        out[f"ours{count}"], out[f"exact{count}"] = (case.gain(level, one[:count]) for one in (order, exact))
    out |= mended(case, level, [rows[name] | {"real": name} for name in order[:2]])
    causes = [row.get("cause") for row in found["nodes"] if row.get("cause")]
    out["causes"] = causes
    out["named"] = n.trouble in causes
    groups = [row for row in found["nodes"] if row["kind"] == "group" and row.get("cause")]
    out["groups"] = [f"{row['node']}: {row['cause']}" for row in groups]
    return out


def show(row):
    flags = "".join(mark if row[key] else "-" for key, mark in (("first", "f"), ("named", "n")))
    gains = " ".join(f"{row[f'ours{i}']:5.1f}/{row[f'exact{i}']:5.1f}" for i in (1, 2, 3))
    print(f"{row['case']:22} {row['target']:5} {row['listed']:3}/{row['pairs']:3} {flags} rho {row['spearman']:6.3f} "
          f"err {row['error']:7.3f}{'' if abs(row['alike_error']) < 1e-6 else ' ALIKE'} without {row['without']:7.3f} total {row['total']:5.1f} ({row['total_error']:+.2f}) "
          f"gains {gains} mends {row['mends']:5.1f}: {'; '.join(row['mend_texts'])}", flush=True)


def summarize(rows, target):
    rows = [row for row in rows if row["target"] == target]
    if not rows:
        return

    def mean(key):
        return np.mean([row[key] for row in rows])
    rho = [row["spearman"] for row in rows]
    print(f"\n{target}, {len(rows)} models")
    print(f"  first: {sum(row['first'] for row in rows)}")
    print(f"  pairs listed: {sum(row['listed'] for row in rows)} of {sum(row['pairs'] for row in rows)}")
    print(f"  Spearman: median {np.median(rho):.3f}, worst {min(rho):.3f}")
    print(f"  error of effect: greatest {max(row['error'] for row in rows):.3f} dB; of without "
          f"{max(row['without'] for row in rows):.3f} dB; of the output {max(abs(row['total_error']) for row in rows):.3f} dB")
    print("  of the median sample {:.3f} dB, of the share alike {:.4f}, of the sum of effects {:.3f} dB".format(
        *(max(abs(row[key]) for row in rows) for key in ("median_error", "alike_error", "summed_error"))))
    for count in (1, 2, 3):
        print(f"  {count} pairs in float: {mean(f'ours{count}'):.2f} dB, by exact order {mean(f'exact{count}'):.2f} dB")
    print(f"  two mends: {mean('mends'):.2f} dB, {mean('mends') / mean('exact2'):.2f} of the best two pairs")
    for trouble in ("channel imbalance", "bias overflow"):
        kinds = [kind for kind, row in networks.KINDS.items() if row[2] == trouble]
        chosen = [row for row in rows if row["case"].split()[0] in kinds and "static" not in row["case"]]
        print(f"  {trouble} named: {sum(row['named'] for row in chosen)} of {len(chosen)}")


def main():
    parser = common.parser(__doc__, "core,ort")
    parser.add_argument("--seeds", default="11,12,13")
    parser.add_argument("--kinds", default=",".join(networks.KINDS))
    parser.add_argument("--data", action="store_true", help="explain each sample, by --data, in place of all at once")
    chosen = parser.parse_args()
    rows = []
    with common.folder_of(chosen.into) as folder:
        for n, case in cases(chosen.kinds.split(","), [int(one) for one in chosen.seeds.split(",")], folder):
            for target in chosen.targets.split(","):
                case = case.first(64) if chosen.data else case  # --data measures effects on as many
                rows.append(compare(chosen.qdq, n, case, target, folder, chosen.data))
                show(rows[-1])
    for target in chosen.targets.split(","):
        summarize(rows, target)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1, default=float))


if __name__ == "__main__":
    main()
