#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reductions of bfloat16 on the chips of target ttnn, against a model of the matrix unit."""

import random

from harness import Case, graph, main, read_safetensors, safetensors_bytes, tensor, unpack, value
from matrix_unit import bits_of, packed, step

CHIPS = ("ttnn@wormhole", "ttnn@blackhole")
INFINITE = 0x7F80


def summed(x, scaler, wormhole, columns):
    """The sum of a slice of patterns. Along rows the elements are activations."""
    x = x + [0] * (-len(x) % 32)
    phases, scalers, dst = range(3 if wormhole else 4), [scaler] * 16, 0
    for tile in range(0, len(x), 32):
        halves = (tile, tile + 16)
        order = [(p, at) for at in halves for p in phases] if columns else [
            (p, at) for p in phases for at in halves]
        for phase, at in order:
            part = x[at:at + 16]
            weights, activations = (part, scalers) if columns else (scalers, part)
            dst = step(dst, weights, activations, phase, True, wormhole)
    return packed(dst) >> 16


def extreme(codes, sign):
    """The greatest of bfloat16 patterns; the least for a sign of -1. NaN counts as infinity."""
    def known(v):
        v = v & 0x8000 | min(v & 0x7FFF, INFINITE)
        return v if v & INFINITE else 0

    def order(v):
        return sign * (-(v & 0x7FFF) if v & 0x8000 else v)
    return max(map(known, codes), key=order)


class ChipReduce(Case):
    def reduced(self, target, op, shape, axes, codes, *options):
        node = {"op": op, "name": "y", "inputs": {"x": "x"}, "attrs": {"axes": axes}}
        self.write("g.json", graph([node], inputs=[value("x", "bfloat16", shape)], outputs={"y": "y"}))
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(
            {"x": tensor("bfloat16", shape, codes)}))
        self.qdq("run", "g.json", "-i", "in.safetensors", "-o", "out.safetensors", "--target",
                 target, *options)
        return list(unpack(read_safetensors(self.folder / "out.safetensors")["y"]))

    @staticmethod
    def codes(seed, count, least=-6, most=3):
        source = random.Random(seed)
        return [bits_of(source.uniform(-4, 4) * 2.0 ** source.randint(least, most)) >> 16
                for _ in range(count)]

    def assert_sums(self, target, op, rows, columns, axis, codes):
        n = columns if axis else rows
        scaler = bits_of(1 / n if op == "ReduceMean" else 1) & 0xFFFF0000
        slices = ([codes[i * columns:(i + 1) * columns] for i in range(rows)] if axis else
                  [codes[j::columns] for j in range(columns)])
        want = [summed([v << 16 for v in one], scaler, "wormhole" in target, not axis)
                for one in slices]
        got = self.reduced(target, op, [rows, columns], [axis], codes)
        self.assertEqual([f"{v:04x}" for v in got], [f"{v:04x}" for v in want],
                         f"{target} {op} [{rows}, {columns}] along {axis}")

    def test_sums_and_means_go_through_tiles_by_phases(self):
        for target in CHIPS:
            for op in ("ReduceSum", "ReduceMean"):
                for n in (1, 15, 16, 17, 31, 32, 33, 48, 100):
                    self.assert_sums(target, op, 5, n, 1, self.codes(n, 5 * n))
                    self.assert_sums(target, op, n, 5, 0, self.codes(n, 5 * n))

    def test_terms_that_cancel_and_exponents_far_apart(self):
        for target in CHIPS:
            for n in (20, 40, 64):
                codes = self.codes(f"far {n}", 9 * n, -20, 20)
                codes[1::2] = [v ^ 0x8000 for v in codes[:-1:2]]
                for op in ("ReduceSum", "ReduceMean"):
                    self.assert_sums(target, op, 9, n, 1, codes)
                    self.assert_sums(target, op, n, 9, 0, codes)

    def test_ties_of_the_result_round_away_from_zero(self):
        one, half = 0x3F80, 0x3B80  # 1 and 2^-8: their sum lies between two bfloat16
        for target in CHIPS:
            self.assertEqual(self.reduced(target, "ReduceSum", [2, 2], [1],
                                          [one, half, one | 0x8000, half | 0x8000]), [0x3F81, 0xBF81])

    def test_the_scaler_of_a_mean_is_truncated(self):
        three = [0x3F80] * 3  # the bfloat16 below 1 / 3, three times
        for target in CHIPS:
            self.assertEqual(self.reduced(target, "ReduceMean", [1, 3], [1], three), [0x3F7F])

    def test_a_mean_along_an_outer_dim_equals_one_along_rows_of_columns(self):
        codes = self.codes("outer", 35 * 2 * 3)
        for target in CHIPS:
            self.assertEqual(self.reduced(target, "ReduceMean", [35, 2, 3], [0], codes),
                             self.reduced(target, "ReduceMean", [35, 6], [0], codes))

    def test_the_greatest_and_least_of_any_dims(self):
        source = random.Random("extremes")
        codes = [source.randrange(65536) for _ in range(6 * 7 * 40)]
        codes[:40] = [0x8000] * 40               # -0
        codes[40:80] = [0xFF81] * 40             # NaN with a sign
        codes[80:120] = [0x8001, 0x0001] * 20    # denormal
        for target in CHIPS:
            for op, sign in (("ReduceMax", 1), ("ReduceMin", -1)):
                rows = [codes[at:at + 40] for at in range(0, len(codes), 40)]
                self.assertEqual(self.reduced(target, op, [6, 7, 40], [2], codes),
                                 [extreme(row, sign) for row in rows])
                self.assertEqual(self.reduced(target, op, [6, 7, 40], [0, 2], codes),
                                 [extreme(sum(rows[i::7], []), sign) for i in range(7)])

    def test_layouts_threads_and_instruction_sets_give_the_same_bits(self):
        codes = self.codes("same", 70 * 90)
        for target in CHIPS:
            for op in ("ReduceSum", "ReduceMax"):
                first = self.reduced(target, op, [70, 90], [1], codes)
                for options in (("--isa", "portable"), ("--threads", "2"), ("--rows",), ("--fast",)):
                    self.assertEqual(self.reduced(target, op, [70, 90], [1], codes, *options), first)

    def test_a_reduction_without_a_known_order_is_named(self):
        def bits(op, shape, axes, target="ttnn@wormhole"):
            node = {"op": op, "name": "y", "inputs": {"x": "x"}, "attrs": {"axes": axes}}
            self.write("g.json", graph([node], inputs=[value("x", "bfloat16", shape)], outputs={"y": "y"}))
            return self.json("check", "g.json", "-t", target)["bits"]["nodes"][0]["bits"]
        self.assertEqual(bits("ReduceSum", [4, 416], [1]), "read")
        self.assertEqual(bits("ReduceSum", [4, 417], [1]), "unknown")
        self.assertEqual(bits("ReduceSum", [4, 417], [1], "ttnn@blackhole"), "unknown")
        self.assertEqual(bits("ReduceSum", [4, 288], [1], "ttnn@blackhole"), "read")
        self.assertEqual(bits("ReduceSum", [4, 4, 4], [0]), "unknown")
        self.assertEqual(bits("ReduceMean", [4, 4, 4], [0]), "read")
        self.assertEqual(bits("ReduceMean", [4, 4, 4], [1, 2]), "unknown")
        self.assertEqual(bits("ReduceMax", [4, 4, 999], [1, 2]), "read")
        self.assertEqual(bits("ReduceProd", [4, 4], [1]), "unknown")


if __name__ == "__main__":
    main()
