#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Target tosa gives the results of TOSA's reference model: each pair of dtypes of RESCALE, rounded once and twice,
per tensor and per channel. tosa_rescale.json has tests that tosa_verif_build_tests of tosa-tools 2026.8.0 generated,
with the results of tosa_reference_model."""

import json
from pathlib import Path

import harness
from harness import Case, graph, main, node, tensor, unpack, value

harness.LETTERS.update(int16="h", uint16="H")
harness.NPY.update(int16="<i2", uint16="<u2")
ROWS = json.loads((Path(__file__).parent / "tosa_rescale.json").read_text())


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


if __name__ == "__main__":
    main()
