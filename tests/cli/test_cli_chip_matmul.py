#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MatMul of target ttnn against a model of the chips' matrix unit in exact integers, written from
its description alone: operands split by fidelity phase, groups of eight, one accumulator."""

import random
import struct

from harness import (Case, graph, main, read_safetensors, safetensors_bytes, tensor, unpack, value)

PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def bits_of(real):
    return struct.unpack("<I", struct.pack("<f", real))[0]


def real_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def significand(bits):
    """11 bits: the implicit one and the upper ten of the fraction."""
    return 0 if bits >> 23 & 255 == 0 else 1024 + (bits >> 13) % 1024


def product(weight, activation, phase):
    """(signed mantissa, exponent) of one product in one phase."""
    if not significand(weight) or not significand(activation):
        return 0, 0
    w, x = significand(weight), significand(activation)
    w = w // 64 if phase in (0, 2) else w // 2 % 32
    x = x // 16 if phase in (0, 1) else x % 16 * 8
    adjust = {0: 127, 1: 132, 2: 134, 3: 139}[phase]
    sign = -1 if (weight ^ activation) >> 31 else 1
    return sign * w * x, (weight >> 23 & 255) + (activation >> 23 & 255) - adjust


def half_up(magnitude, shift, less=0):
    """magnitude / 2^shift, halves up; `less` is taken off before."""
    return (magnitude + 2 ** (shift - 1) - less) // 2 ** shift if shift else magnitude


def group(products):
    top = max(exponent for _, exponent in products)
    if top <= 0:
        return 0, 0
    total = 0
    for mantissa, exponent in products:
        size = half_up(2 * abs(mantissa), min(top - exponent, 30) + 1)
        total += size if mantissa >= 0 else -size
    return total * 2 ** 13, top


def accumulate(dst, groups, wide, wormhole):
    exponent = dst >> 23 & 255
    mantissa = 0 if exponent == 0 else dst % 2 ** 23 + 2 ** 23
    terms = [(-mantissa if dst >> 31 else mantissa, exponent, False)]
    terms += [(m, e, m < 0) for m, e in groups]
    top = max(e for _, e, _ in terms)
    if top <= 0:
        return 0
    total = 0
    for m, e, low in terms:
        size, shift = abs(m), top - e
        size = 0 if shift >= 31 else half_up(size, shift, low)
        if not wide:
            size = (size + 4096 - low) // 8192 * 8192
        total += size if m >= 0 else -size
    if total == 0:
        return 0
    size = abs(total)
    shift = 24 - size.bit_length()
    if wormhole and total == -1:
        shift -= 27
    top -= shift
    if not wide:
        shift -= 16
    size = half_up(size, -shift) if shift < 0 else size * 2 ** shift
    if not wide:
        size *= 2 ** 16
    if size >> 24 & 1:
        top += 1
    sign = 0x80000000 if total < 0 else 0
    if top <= 0:
        return 0
    return sign | 0x7F800000 if top >= 255 else sign | top << 23 | size % 2 ** 23


def element(row, column, phases, wide, wormhole):
    """One element of the result, as the pattern of the accumulator."""
    depth = -(-len(row) // 32) * 32
    row = row + [0] * (depth - len(row))
    column = column + [0] * (depth - len(column))
    dst = 0
    for tile in range(0, depth, 32):
        for phase in range(phases):
            for at in (tile, tile + 16):
                products = [product(column[k], row[k], phase) for k in range(at, at + 16)]
                dst = accumulate(dst, [group(products[:8]), group(products[8:])], wide, wormhole)
    return dst


def packed(dst):
    """To bfloat16: halves away from zero; zeros have no sign."""
    code = (dst + 0x8000 & 0xFFFFFFFF) >> 16
    return code << 16 if code & 0x7F80 else 0


class ChipMatMul(Case):
    def multiply(self, target, dtype, m, k, n, attrs, seed, *options):
        """Runs a product of random bfloat16; returns both operands and the result as patterns."""
        source = random.Random(seed)
        keep = 0xFFFF0000 if dtype == "bfloat16" else 0xFFFFFFFF

        def patterns(count):
            return [bits_of(source.uniform(-4, 4) * 2.0 ** source.randint(-6, 3)) & keep
                    for _ in range(count)]

        def elements(shape, patterns):
            halves = dtype == "bfloat16"
            return tensor(dtype, shape, [v >> 16 if halves else real_of(v) for v in patterns])
        a, b = patterns(m * k), patterns(k * n)
        node = {"op": "MatMul", "name": "p", "inputs": {"a": "a", "b": "b"}, "attrs": attrs}
        self.write("g.json", graph([node], inputs=[value("a", dtype, [m, k]),
                                                   value("b", dtype, [k, n])],
                                   outputs={"y": "p"}))
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(
            {"a": elements([m, k], a), "b": elements([k, n], b)}))
        self.qdq("run", "g.json", "-i", "in.safetensors", "-o", "out.safetensors", "--target",
                 target, *options)
        y = read_safetensors(self.folder / "out.safetensors")["y"]
        return a, b, [v << 16 if y.dtype == "bfloat16" else bits_of(v) for v in unpack(y)]

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

    def test_hifi4_and_float32_are_the_defaults(self):
        given = {"math_fidelity": "HiFi4", "fp32_dest_acc_en": True}
        self.assertEqual(self.multiply("ttnn", "bfloat16", 3, 32, 4, {}, 1),
                         self.multiply("ttnn@wormhole", "bfloat16", 3, 32, 4, given, 1))


if __name__ == "__main__":
    main()
