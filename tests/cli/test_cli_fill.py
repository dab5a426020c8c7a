#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--fill: seeded data that suits the ports that read an input."""

from harness import Case, graph, main, node, quantize, read_safetensors, unpack, value

MASK = 2**64 - 1


def splitmix(name, seed, count):
    """Steele, Lea and Flood's SplitMix64; the seed depends on the input's name."""
    state = seed
    for c in name.encode():
        state = (state * 131 + c) & MASK
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        numbers.append(z ^ z >> 31)
    return numbers


class Fill(Case):
    def fill(self, content, seed=1):
        """Runs a graph whose inputs are its outputs, and returns them."""
        content["outputs"] = [{"name": one["name"], "value": one["name"]}
                              for one in content["inputs"]] + [{"name": "y", "value": "q"}]
        self.write("g.json", content)
        self.qdq("run", "g.json", "--fill", str(seed), "-o", "y.safetensors")
        return {name: unpack(one) for name, one
                in read_safetensors(self.folder / "y.safetensors").items()}

    def test_inputs_of_quantize_are_floats_from_minus_4_to_4(self):
        got = self.fill(graph([quantize(scales=1)], [value("x", shape=[64])]), 5)
        self.assertEqual(got["x"], [(z >> 40) * 2.0**-21 - 4 for z in splitmix("x", 5, 64)])

    def test_codes_cover_the_whole_range(self):
        dequantize = node("Dequantize", "q", "x", scales=1, dtype="float32")
        got = self.fill(graph([dequantize], [value("x", "uint8", [64])]), 5)
        self.assertEqual(got["x"], [(z >> 32) % 256 for z in splitmix("x", 5, 64)])

    def test_scales_are_positive_and_zero_points_small(self):
        inputs = [value("x", shape=[4, 300]), value("s", shape=[300]), value("z", "int32", [300])]
        got = self.fill(graph([quantize(ports={"scale": "s", "zero_point": "z"},
                                        qtype="per_channel", axis=1)], inputs))
        self.assertTrue(all(1 / 16 <= s < 1 / 4 for s in got["s"]), got["s"])
        self.assertGreater(len(set(got["s"])), 200)
        self.assertEqual(set(got["z"]), set(range(-4, 5)))

    def test_zero_points_keep_to_their_dtype(self):
        inputs = [value("x", shape=[4, 300]), value("s", shape=[300]), value("z", "uint8", [300])]
        got = self.fill(graph([quantize(ports={"scale": "s", "zero_point": "z"}, dtype="uint8",
                                        qtype="per_channel", axis=1)], inputs))
        self.assertEqual(set(got["z"]), set(range(5)))

    def test_the_narrowest_of_several_ports_decides_whatever_their_order(self):
        nodes = [quantize("a", "s", scales=1), quantize(ports={"scale": "s"})]
        inputs = [value("x", shape=[4]), value("s", shape=[1])]
        for order in (nodes, nodes[::-1]):
            got = [self.fill(graph(order, inputs), seed)["s"][0] for seed in range(1, 20)]
            self.assertTrue(all(1 / 16 <= s < 1 / 4 for s in got), got)

    def test_int64_without_a_reader_is_filled_too(self):
        self.write("g.json", graph(inputs=[value("x", "int64", [40])], outputs={"y": "x"}))
        self.qdq("run", "g.json", "--fill", "3", "-o", "y.safetensors")
        got = unpack(read_safetensors(self.folder / "y.safetensors")["y"])
        self.assertEqual(got, [(z >> 32) % 65536 - 32768 for z in splitmix("x", 3, 40)])


if __name__ == "__main__":
    main()
