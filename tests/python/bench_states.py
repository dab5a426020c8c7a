# SPDX-License-Identifier: Apache-2.0
"""Times merges of states and the listing of data, and measures their memory. It wrote the figures of docs/many_machines.md.

    python bench_states.py [--values 200,1000,3000,10000] [--states 1,10,100] [--samples 1000,10000,100000]

Needs qdq with its tool, and room in TMPDIR: 34 kB for each value and state, 4 kB for each sample.
"""

import argparse
import contextlib
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import qdq
from qdq import _tool
from qdq.distributed import _listing

SHAPE = (16,)


def numbers(text):
    return [int(one) for one in text.split(",")]


def call(*words):
    """Runs the tool; returns seconds, and MB of its largest resident memory."""
    began, memory = time.monotonic(), 0
    process = subprocess.Popen([_tool.path(), *map(str, words)], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        with contextlib.suppress(OSError, TypeError):  # it has ended
            found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
            memory = max(memory, int(found[1]) / 1000)
        time.sleep(0.002)
    assert process.returncode in (0, 1), words
    return time.monotonic() - began, memory


def network(path, values):
    b = qdq.Builder("net")
    value = b.input("x", "float32", SHAPE)
    for i in range(values - 1):
        value = b.relu(value) if i % 2 else b.abs(value)
    b.output("y", value)
    b.build().write(path)


def write_samples(folder, first, last):
    folder.mkdir(exist_ok=True)
    for i in range(first, last):
        np.save(folder / f"{i:07}.npy", np.random.default_rng(i).normal(0, 3, SHAPE).astype(np.float32))


def bench_merge(folder, values, counts):
    network(folder / "net.json", values)
    write_samples(folder / "few", 0, max(counts))
    for count in counts:
        states = [folder / f"{i}.state" for i in range(1, count + 1)]
        for i, state in enumerate(states, 1):
            call("calibrate", folder / "net.json", "--data", folder / "few", "--shard", f"{i}/{count}", "--threads", 1, "-o", state)
        seconds, memory = call("merge", *states, "-o", folder / "all")
        size = os.path.getsize(folder / "all") / 1e6
        print(f"| {values} | {count} | {size:.1f} | {seconds:.2f} | {memory:.0f} |", flush=True)
        for state in states:
            state.unlink()


def bench_listing(folder, counts, shards=1000):
    network(folder / "small.json", 3)
    data, done = folder / "many", 0
    for count in counts:
        write_samples(data, done, count)
        done = count
        began = time.monotonic()
        listing = _listing.list_data(str(data))
        listed = time.monotonic() - began
        (folder / "listing").write_bytes(listing.shard_file(1, shards))
        words = ["calibrate", folder / "small.json", "--data", data, "--shard", f"1/{shards}", "--threads", 1, "-o", folder / "s"]
        alone, given = call(*words), call(*words, "--listing", folder / "listing")
        print(f"| {count} | {listed:.2f} | {alone[0]:.2f} | {alone[1]:.0f} | {given[0]:.2f} | {given[1]:.0f} |", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--values", type=numbers, default="200,1000,3000,10000")
    options.add_argument("--states", type=numbers, default="1,10,100")
    options.add_argument("--samples", type=numbers, default="1000,10000,100000")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="qdq-bench-") as name:
        print("| values | states | MB of one | seconds | MB |")
        for values in given.values:
            bench_merge(Path(name), values, given.states)
        print("| samples | listing, s | shard, s | MB | shard with --listing, s | MB |")
        bench_listing(Path(name), given.samples)


if __name__ == "__main__":
    main()
