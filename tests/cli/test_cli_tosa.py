#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Target tosa gives the results of TOSA's reference model: each pair of dtypes of RESCALE, rounded once and twice,
per tensor and per channel, and the operators on integers that the evidence names. tosa_rescale.json and
tosa_integers.json have tests that tosa_verif_build_tests of tosa-tools 2026.8.0 generated, with the results of
tosa_reference_model; operators of the latter are ops of qdq already."""

import json
from pathlib import Path

import harness
from harness import Case, graph, main, node, read_npy, tensor, unpack, value, write_npy

harness.LETTERS.update(int16="h", uint16="H", bool="?")
harness.NPY.update(int16="<i2", uint16="<u2", bool="|b1")
ROWS = json.loads((Path(__file__).parent / "tosa_rescale.json").read_text())
OPERATORS = json.loads((Path(__file__).parent / "tosa_integers.json").read_text())


def rescale(row, shape):
    """A graph of one Requantize; several multipliers belong to the last dim."""
    many = len(row["multiplier"]) > 1
    factor = {name: row[name] if many else row[name][0] for name in ("multiplier", "shift")}
    attrs = {**factor, "in_zps": row["in_zp"], "out_zps": row["out_zp"], "rounding": row["rounding"],
             "dtype": row["y_dtype"], **({"axis": -1} if many else {})}
    return graph([node("Requantize", "q", "x", **attrs)], [value("x", row["x_dtype"], shape)], target="tosa")


class Rescale(Case):
    def test_it_equals_the_reference_model(self):
        self.assertGreater(len(ROWS), 70)
        for row in ROWS:
            channels = len(row["multiplier"])
            shape = [len(row["x"]) // channels, channels] if channels > 1 else [len(row["x"])]
            content = rescale(row, shape)
            self.assertEqual(self.check(content, code=0), [])
            for words in ([], ["--fast"]):
                got = unpack(self.run_one(content, tensor(row["x_dtype"], shape, row["x"]), *words))
                self.assertEqual(got, row["y"], row)


class Integers(Case):
    def results(self, row, *words):
        feeds = []
        for one in row["graph"]["inputs"]:
            write_npy(self.folder / f"{one['name']}.npy",
                      tensor(one["dtype"], one["shape"], row["inputs"][one["name"]]))
            feeds += ["-i", f"{one['name']}={one['name']}.npy"]
        self.qdq("run", self.write("g.json", row["graph"]), *feeds, "-o", "y=y.npy", *words)
        return unpack(read_npy(self.folder / "y.npy"))

    def test_they_equal_the_reference_model(self):
        self.assertGreater(len(OPERATORS), 40)
        for row in OPERATORS:
            self.assertEqual(self.check(row["graph"], code=0), [])
            for words in ([], ["--fast"]):
                self.assertEqual(self.results(row, *words), row["y"], row["name"])


if __name__ == "__main__":
    main()
