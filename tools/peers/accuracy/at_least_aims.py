#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `qdq quantize --at-least DB` by trying all sets of products with --keep.

    at_least_aims.py --qdq QDQ_BINARY [--seeds 11] [--kinds cnn,mlp] [--aims 25,30,35] [--most 200]

ONNX Runtime runs each written model, with all optimizations, on the samples that qdq saw. A row has the products that --at-least
keeps, the ratio, and the least number of products in float that reaches the aim, if there are at most --most sets to try.
"""

import argparse
import itertools
import json
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# pylint: disable=wrong-import-position
import networks
import onnx
import truth
from quantize_aims import Network, call, is_open


class Search:
    def __init__(self, qdq, n, folder):
        self.network, self.qdq, self.folder = Network(qdq, n, folder), qdq, folder
        self.x = n.samples["calibrating"]
        self.exact = truth.run(n.model, self.x)
        self.known = {}

    def quantize(self, *words, codes=(0,)):
        out = self.folder / "quantized.onnx"
        done = call(self.qdq, "quantize", self.network.path, "--dim", "N=1", "--state", self.folder / "state", "-t", "ort",
                    "-o", out, "--json", *words, codes=codes)
        if done.returncode:
            return [], math.nan
        model, found = onnx.load(out), json.loads(done.stdout)
        floats = [node["node"] for node in found["nodes"] if not node["quantized"]]
        self.products = [node["node"] for node in found["nodes"]]
        return floats, truth.decibels(self.exact, truth.run(model, self.x, "all", is_open(model)))

    def ratio(self, kept):
        if len(kept) == len(self.products):
            return math.inf
        if kept not in self.known:
            self.known[kept] = self.quantize(*(word for name in kept for word in ("--keep", name)))[1]
        return self.known[kept]

    def fewest(self, aim, most):
        """The least number of products in float that reaches the aim, and the set; None: too many sets to try."""
        for count in range(len(self.products) + 1):
            if math.comb(len(self.products), count) > most:
                return None
            for kept in itertools.combinations(self.products, count):
                if self.ratio(kept) >= aim:
                    return count, kept
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qdq", required=True, type=lambda name: Path(name).resolve())
    parser.add_argument("--seeds", default="11")
    parser.add_argument("--kinds", default=",".join(networks.KINDS))
    parser.add_argument("--aims", default="25,30,35")
    parser.add_argument("--most", type=int, default=90)
    chosen = parser.parse_args()
    reached, fewest, known, total = 0, 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="qdq-accuracy-") as folder:
        for kind, seed in itertools.product(chosen.kinds.split(","), chosen.seeds.split(",")):
            search = Search(chosen.qdq, networks.network(kind, int(seed)), Path(folder))
            for aim in map(float, chosen.aims.split(",")):
                floats, ratio = search.quantize("--data", Path(folder) / "calibrating.npz", "--at-least", str(aim),
                                                codes=(0, 1, 4))
                best = search.fewest(aim, chosen.most)
                print(f"{kind} {seed}, at least {aim:g} dB: {len(floats)} of {len(search.products)} in float, {ratio:.2f} dB; "
                      f"fewest {best and best[0]}: {best and ' '.join(best[1])}", flush=True)
                total, reached, known = total + 1, reached + (ratio >= aim - 0.05), known + bool(best)
                fewest += bool(best) and len(floats) == best[0]
    print(f"{reached} of {total} reach the aim; {fewest} of {known} with the fewest products")


if __name__ == "__main__":
    main()
