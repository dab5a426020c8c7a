#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MatMul of target ttnn against a model of the chips' matrix unit."""

import random

from harness import (Case, graph, main, read_safetensors, safetensors_bytes, tensor, unpack, value)
from matrix_unit import PHASES, added, bits_of, packed, real_of, step


def element(row, column, phases, wide, wormhole):
    """One element of the result, as the pattern of the accumulator."""
    depth = -(-len(row) // 32) * 32
    row = row + [0] * (depth - len(row))
    column = column + [0] * (depth - len(column))
    dst = 0
    for tile in range(0, depth, 32):
        for phase in range(phases):
            for at in (tile, tile + 16):
                dst = step(dst, column[at:at + 16], row[at:at + 16], phase, wide, wormhole)
    return dst


class ChipMatMul(Case):
    def multiply(self, target, dtype, m, k, n, attrs, seed, *options):
        """Runs a product of random numbers; returns both operands and the result as patterns."""
        source = random.Random(seed)
        keep = 0xFFFF0000 if dtype == "bfloat16" else 0xFFFFFFFF

        def patterns(count):
            return [bits_of(source.uniform(-4, 4) * 2.0 ** source.randint(-6, 3)) & keep
                    for _ in range(count)]
        a, b = patterns(m * k), patterns(k * n)
        return a, b, self.product_of(target, dtype, (m, k, n), a, b, attrs, *options)

    def product_of(self, target, dtype, sizes, a, b, attrs, *options):
        m, k, n = sizes

        def elements(shape, patterns):
            halves = dtype == "bfloat16"
            return tensor(dtype, shape, [v >> 16 if halves else real_of(v) for v in patterns])
        node = {"op": "MatMul", "name": "p", "inputs": {"a": "a", "b": "b"}, "attrs": attrs}
        self.write("g.json", graph([node], inputs=[value("a", dtype, [m, k]),
                                                   value("b", dtype, [k, n])],
                                   outputs={"y": "p"}))
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(
            {"a": elements([m, k], a), "b": elements([k, n], b)}))
        self.qdq("run", "g.json", "-i", "in.safetensors", "-o", "out.safetensors", "--target",
                 target, *options)
        y = read_safetensors(self.folder / "out.safetensors")["y"]
        return [v << 16 if y.dtype == "bfloat16" else bits_of(v) for v in unpack(y)]

    def assert_chip(self, target, dtype, m, k, n, fidelity, wide, y_dtype):
        attrs = {"math_fidelity": fidelity, "fp32_dest_acc_en": wide, "dtype": y_dtype}
        a, b, y = self.multiply(target, dtype, m, k, n, attrs, f"{fidelity} {wide} {k}")
        for i in range(m):
            for j in range(n):
                want = element(a[i * k:i * k + k], b[j::n], PHASES[fidelity], wide,
                               "wormhole" in target)
                want = packed(want) if y_dtype == "bfloat16" else want
                self.assertEqual(f"{y[i * n + j]:08x}", f"{want:08x}",
                                 f"{target} {fidelity} {wide} {dtype} [{i}, {j}] of K {k}")

    def test_one_step_of_16_products_equals_the_model(self):
        for target in ("ttnn@wormhole", "ttnn@blackhole"):
            for fidelity in PHASES:
                for wide in (True, False):
                    self.assert_chip(target, "bfloat16", 4, 16, 5, fidelity, wide, "float32")

    def test_a_depth_of_several_tiles_is_added_phase_by_phase(self):
        for k in (17, 32, 48, 70):
            self.assert_chip("ttnn@wormhole", "bfloat16", 3, k, 67, "HiFi4", True, "bfloat16")
            self.assert_chip("ttnn@blackhole", "bfloat16", 2, k, 3, "HiFi2", False, "float32")

    def test_three_blocks_of_rows_and_of_columns_equal_the_model(self):
        self.assert_chip("ttnn@wormhole", "bfloat16", 35, 33, 131, "LoFi", True, "float32")

    def test_every_instruction_set_and_two_threads_give_the_same_bits(self):
        for target in ("ttnn@wormhole", "ttnn@blackhole"):
            for wide in (True, False):
                attrs = {"fp32_dest_acc_en": wide}
                results = [self.multiply(target, "bfloat16", 35, 65, 131, attrs, 5, *options)
                           for options in ((), ("--isa", "portable"), ("--threads", "2"))]
                self.assertEqual(results[0], results[1])
                self.assertEqual(results[0], results[2])

    def test_float32_operands_are_truncated_to_ten_bits(self):
        self.assert_chip("ttnn@wormhole", "float32", 4, 32, 6, "HiFi4", True, "float32")

    def test_results_that_were_published_of_silicon(self):
        """Wormhole; the numbers of the tt-metal issue, and its settings."""
        def assert_published(issue, fidelity, wide, row, column, want):
            attrs = {"math_fidelity": fidelity, "fp32_dest_acc_en": wide}
            y = self.product_of("ttnn@wormhole", "bfloat16", (1, len(row), 1), list(map(bits_of, row)),
                                list(map(bits_of, column)), attrs)
            self.assertEqual(list(map(real_of, y)), [want], f"issue {issue}")
        assert_published(9908, "HiFi4", False, [1.9296875, 1.484375], [1, 1], 3.421875)
        assert_published(12923, "HiFi2", False, [7.96875], [1.3125], 10.4375)
        assert_published(12923, "HiFi4", False, [7.96875], [1.3125], 10.5)
        assert_published(16448, "HiFi4", False, [-3.640625], [0.298828125], -1.09375)
        assert_published(16448, "HiFi4", False, [-3.640625], [0.30078125], -1.1015625)
        assert_published(17018, "HiFi4", True, [1, 2.0 ** -8], [1, 1], 1.0078125)

    def test_a_bias_of_bfloat16_is_added_in_the_accumulator_of_16_bits(self):
        source = random.Random("bias")
        m, k, n = 35, 40, 37
        a, b, bias = ([bits_of(source.gauss(0, 2)) & 0xFFFF0000 for _ in range(count)]
                      for count in (m * k, k * n, n))
        bias[:4] = [0x80000000, 0x00010000, 0x7F800000, 0x3B800000]  # -0, denormal, infinity, ties
        for target in ("ttnn@wormhole", "ttnn@blackhole"):
            attrs = {"math_fidelity": "HiFi4", "fp32_dest_acc_en": False}
            sums = self.product_of(target, "bfloat16", (m, k, n), a, b, attrs)
            want = [packed(added(v, bias[i % n], False, "wormhole" in target)) for i, v in enumerate(sums)]
            inputs = [value("a", "bfloat16", [m, k]), value("b", "bfloat16", [k, n]),
                      value("bias", "bfloat16", [n])]
            together = [{"op": "MatMul", "name": "y", "attrs": attrs,
                         "inputs": {"a": "a", "b": "b", "bias": "bias"}}]
            apart = [{"op": "MatMul", "name": "p", "attrs": attrs, "inputs": {"a": "a", "b": "b"}},
                     {"op": "Add", "name": "y", "inputs": {"a": "p", "b": "bias"}}]
            for nodes in (together, apart):
                self.write("bias.json", graph(nodes, inputs=inputs, outputs={"y": "y"}))
                (self.folder / "bias.safetensors").write_bytes(safetensors_bytes({
                    name: tensor("bfloat16", shape, [v >> 16 for v in data]) for name, shape, data in (
                        ("a", [m, k], a), ("b", [k, n], b), ("bias", [n], bias))}))
                self.qdq("run", "bias.json", "-i", "bias.safetensors", "-o", "y.safetensors", "-t", target)
                y = read_safetensors(self.folder / "y.safetensors")["y"]
                self.assertEqual([v << 16 for v in unpack(y)], want, f"{target} {len(nodes)}")
            report = self.json("check", "bias.json", "-t", target)
            self.assertNotIn("ttnn/matmul-bias", [one["rule"] for one in report["findings"]])

    def test_hifi4_and_float32_are_the_defaults(self):
        given = {"math_fidelity": "HiFi4", "fp32_dest_acc_en": True}
        self.assertEqual(self.multiply("ttnn", "bfloat16", 3, 32, 4, {}, 1),
                         self.multiply("ttnn@wormhole", "bfloat16", 3, 32, 4, given, 1))


if __name__ == "__main__":
    main()
