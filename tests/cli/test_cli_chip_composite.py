#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Composite Quantize of bfloat16 on target ttnn: the chip divides or multiplies, adds and typecasts.
It equals models/tenstorrent.py, which has the instructions in exact integers, and a graph of the
single ops."""

import sys
from pathlib import Path

from harness import Case, graph, main, read_safetensors, safetensors_bytes, tensor, unpack, value

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models"))
import tenstorrent as tt  # noqa: E402

ALL = range(65536)
CHIPS = ("wormhole", "blackhole")
SETS = ((0.03, 127), (0.1, -5), (1.7, 300), (0.0078431, -77), (-0.3, 2), (1.0, 0))
DTYPES = ("int32", "int8", "uint8")


def stretched(real):
    """A number as the pattern of a bfloat16 below it in magnitude, in float32."""
    return tt.bits_of(real) >> 16 << 16


def total(chip, x, scale, zero, by_tensor):
    """The sum that is made an integer, as the pattern of a float32."""
    if by_tensor:
        quotient = tt.divide_bfloat16(chip, x << 16, tt.to_even(tt.bits_of(scale)))
    else:
        inverse = stretched(1 / tt.real_of(tt.bits_of(scale)))
        quotient = tt.multiply_bfloat16(chip, x << 16, inverse)
    return tt.add_bfloat16(quotient, tt.stored(tt.float_of(zero)) << 16)


def integer(chip, bits, dtype, even):
    if dtype == "int8" and even:
        real = tt.real_of(bits)
        return round(max(min(real, 127), -128))
    if dtype == "int8":  # the kernel adds 128 and rounds without sign
        shifted = tt.mad(chip, bits, tt.ONE, tt.bits_of(128))
        return tt.rounded(0 if shifted & tt.SIGN else shifted, 255)[0] - 128
    return tt.truncated(bits) % 256 if dtype == "uint8" else tt.truncated(bits)


class ChipComposite(Case):
    def quantized(self, target, x, sets, dtypes, *options):
        """{name: codes} of every set, with the scale as a number and as a tensor."""
        nodes = []
        for i, (scale, zero) in enumerate(sets):
            for way, scales in (("number", scale), ("tensor", [scale])):
                for dtype in dtypes:
                    nodes.append({"op": "Quantize", "name": f"{way}_{i}_{dtype}",
                                  "inputs": {"x": "x"},
                                  "attrs": {"scales": scales, "zps": [zero], "dtype": dtype}})
        return self.made(nodes, target, {"x": ("bfloat16", x)}, *options)

    def made(self, nodes, target, inputs, *options):
        self.write("g.json", graph(nodes, inputs=[value(name, dtype, [len(v)])
                                                  for name, (dtype, v) in inputs.items()],
                                   outputs={n["name"]: n["name"] for n in nodes}))
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(
            {name: tensor(dtype, [len(v)], v) for name, (dtype, v) in inputs.items()}))
        self.qdq("run", "g.json", "-i", "in.safetensors", "-o", "out.safetensors", "--target",
                 target, *options)
        made = read_safetensors(self.folder / "out.safetensors")
        return {name: list(unpack(y)) for name, y in made.items()}

    def test_worked_examples(self):
        for target in ("ttnn@wormhole", "ttnn@blackhole"):
            for x, scale, zero, want in (
                    (0x42C8, 0.7, 3, 145),        # 100 * 1.421875 is 142.1875: 142, and 3
                    (0x42C8, [0.7], 3, 146),      # 100 / 0.69921875 is 143.02: 143, and 3
                    (0x4303, 0.6666666, 0, 196),  # 131 * 1.5 is a tie, half to even
                    (0x4000, 1, 255, 258)):       # 2 + 255 is a tie, away from zero
                made = self.made([{"op": "Quantize", "name": "q", "inputs": {"x": "x"}, "attrs":
                                   {"scales": scale, "zps": [zero], "dtype": "int32"}}],
                                 target, {"x": ("bfloat16", [x] * 3)})
                self.assertEqual(made["q"], [want] * 3, f"{target} {x:04x} {scale}")

    def test_it_equals_the_instructions_in_exact_integers(self):
        x = list(ALL)[::61] + [0x7FC0, 0xFFC0, 0x7F80, 0xFF80, 0x8000, 0x0001, 0x807F, 0x0080]
        for chip in CHIPS:
            sums = {(way, i): [total(chip, code, *SETS[i], way == "tensor") for code in x]
                    for way in ("number", "tensor") for i in range(len(SETS))}
            for generation in ("", "-rne"):
                made = self.quantized(f"ttnn@{chip}{generation}", x, SETS, DTYPES)
                for name, got in made.items():
                    way, i, dtype = name.split("_")
                    want = [integer(chip, v, dtype, generation == "-rne")
                            for v in sums[way, int(i)]]
                    self.assertEqual(got, want, f"{chip}{generation} {name}")

    def test_every_bfloat16_becomes_what_single_ops_make(self):
        sets = SETS[:3]
        truncated = {v: tt.truncated(v << 16) for v in ALL if not tt.is_nan(v << 16)}
        for chip in CHIPS:
            target = f"ttnn@{chip}"
            inputs, nodes = {"x": ("bfloat16", list(ALL))}, []
            for i, (scale, zero) in enumerate(sets):
                number = {"number": stretched(1 / tt.real_of(tt.bits_of(scale))),
                          "tensor": tt.to_even(tt.bits_of(scale))}
                inputs[f"z_{i}"] = ("bfloat16", [tt.stored(tt.float_of(zero))] * len(ALL))
                for way, op in (("number", "Multiply"), ("tensor", "Divide")):
                    inputs[f"{way}_by_{i}"] = ("bfloat16", [number[way] >> 16] * len(ALL))
                    nodes += [{"op": op, "name": f"{way}_q_{i}",
                               "inputs": {"a": "x", "b": f"{way}_by_{i}"}},
                              {"op": "Add", "name": f"{way}_{i}",
                               "inputs": {"a": f"{way}_q_{i}", "b": f"z_{i}"}}]
            sums = self.made(nodes, target, inputs)
            for options in ((), ("--isa", "portable")):
                made = self.quantized(target, list(ALL), sets, ["int32"], *options)
                for i in range(len(sets)):
                    for way in ("number", "tensor"):
                        want = [truncated[v] for v in sums[f"{way}_{i}"]]
                        self.assertEqual(made[f"{way}_{i}_int32"], want, f"{chip} {way} {i} {options}")


if __name__ == "__main__":
    main()
