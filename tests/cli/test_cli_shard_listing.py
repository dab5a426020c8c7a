#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--listing: the files of a shard, as another process has listed them."""

import hashlib
import random

from harness import Case, graph, main, node, npy_bytes, read_safetensors, safetensors_bytes, tensor

SHAPE, COUNT, SHARDS = [2, 3], 11, 3


class Listing(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", graph([node("ReLU", "q", "x")]))
        numbers = random.Random(5)
        (self.folder / "data").mkdir()
        self.names = [f"{i:02}.npy" for i in range(COUNT)]
        for name in self.names:
            one = tensor("float32", SHAPE, [numbers.gauss(0, 3) for _ in range(6)])
            self.write(f"data/{name}", npy_bytes("<f4", SHAPE, one.data))
        self.qdq("calibrate", "g.json", "--data", "data", "-o", "whole.state", code=0)
        self.digest = read_safetensors(self.folder / "whole.state")["listing"].data

    def content(self, name):
        return (self.folder / "data" / name).read_bytes()

    def write_listing(self, number, **changes):
        own = self.names[number - 1 :: SHARDS]
        probes = [[i, 130, len(self.content(name)) - 130] for i, name in enumerate(own[:2])]
        digests = b"".join(hashlib.sha256(self.content(own[i])[first : first + size]).digest() for i, first, size in probes)
        names = b"".join(name.encode() + b"\0" for name in own)
        sizes = [len(self.content(name)) for name in own]
        made = {"samples": tensor("int64", [1], [COUNT]), "shard": tensor("int64", [2], [number, SHARDS]),
                "names": tensor("uint8", [len(names)], list(names)), "sizes": tensor("int64", [len(sizes)], sizes),
                "probes": tensor("int64", [len(probes), 3], sum(probes, [])), "digests": tensor("uint8", [len(digests)], list(digests)),
                "listing": tensor("uint8", [32], list(self.digest))}  # fmt: skip
        made.update(changes)
        self.write(f"{number}.listing", safetensors_bytes({name: one for name, one in made.items() if one}))

    def run_shard(self, number, code=0, shard=None, data="data"):
        words = "calibrate", "g.json", "--data", data, "-o", f"{number}.state", "--listing", f"{number}.listing"
        return self.qdq(*words, "--shard", shard or f"{number}/{SHARDS}", code=code).err

    def test_shards_with_listings_have_the_bytes_of_one_run(self):
        for i in range(1, SHARDS + 1):
            self.write_listing(i, **({"probes": None, "digests": None} if i == 2 else {}))
            self.run_shard(i)
        self.qdq("merge", *(f"{i}.state" for i in range(1, SHARDS + 1)), "-o", "all.state", code=0)
        self.assertEqual((self.folder / "all.state").read_bytes(), (self.folder / "whole.state").read_bytes())

    def test_only_the_files_of_the_shard_are_looked_at(self):
        self.write_listing(1)
        for name in self.names[1::SHARDS] + self.names[2::SHARDS]:
            (self.folder / "data" / name).unlink()
        self.run_shard(1)

    def test_files_that_differ_from_the_listing_are_named(self):
        self.write_listing(1)
        path = self.folder / "data" / self.names[3]
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        self.assertIn("data: '03.npy' has other content than in the listing", self.run_shard(1, code=3))
        path.write_bytes(content + b"more")
        size = len(content)
        self.assertIn(f"data: '03.npy' has {size + 4} bytes, and {size} in the listing", self.run_shard(1, code=3))
        path.unlink()
        self.assertIn("data: '03.npy' is listed, but there is no such file", self.run_shard(1, code=3))
        self.assertFalse((self.folder / "1.state").exists())

    def test_wrong_listings_are_refused(self):
        wrong = ({"samples": None}, {"names": tensor("uint8", [3], [1, 2, 3])}, {"sizes": tensor("int64", [1], [9])},
                 {"listing": tensor("uint8", [3], [1, 2, 3])}, {"digests": None}, {"samples": tensor("int64", [1], [-4])},
                 {"probes": tensor("int64", [2, 3], [9, 0, 1, 0, 0, 1])}, {"probes": tensor("int64", [2, 3], [0, 0, 1 << 40, 0, 0, 1])})  # fmt: skip
        for changes in wrong:
            with self.subTest(changes):
                self.write_listing(1, **changes)
                self.assertIn("is no listing", self.run_shard(1, code=3))
        self.write_listing(1)
        self.assertIn("lists 4 samples of shard 1/3, wanted 4 of shard 2/3", self.run_shard(1, code=3, shard="2/3"))
        self.write_listing(1, samples=tensor("int64", [1], [COUNT + 3]))
        self.assertIn("lists 4 samples of shard 1/3, wanted 5 of shard 1/3", self.run_shard(1, code=3))
        self.assertIn("--listing is given with --data -", self.run_shard(1, code=2, data="-"))


if __name__ == "__main__":
    main()
