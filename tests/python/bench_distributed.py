# SPDX-License-Identifier: Apache-2.0
"""Times qdq.distributed.calibrate on a LocalCluster of two workers against one run with one thread, and watches memory.
It wrote the figures of docs/many_machines.md.

    OMP_NUM_THREADS=1 setsid -w python bench_distributed.py MODEL.onnx [--images 5000] [--shape 3,48,192]
        [--repeat 3] [--shards N]

Needs qdq with dask and psutil. Images are made in a temporary folder: float32, one .npy file each.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import qdq
from qdq import distributed

MIB = 1 << 20


class Memory(threading.Thread):
    """Samples the resident memory of this process and its children: together, and of the largest qdq process."""

    def __init__(self):
        super().__init__(daemon=True)
        self.rows, self.stopped = [], threading.Event()

    def run(self):
        me = psutil.Process()
        while not self.stopped.wait(0.5):
            total, largest = 0, 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    size = process.memory_info().rss
                    total += size
                    if process.name() == "qdq":
                        largest = max(largest, size)
                except psutil.Error:
                    continue
            self.rows.append((total / MIB, largest / MIB))

    def quarters(self, column):
        """The medians of the four quarters of the run, in MiB."""
        values = [row[column] for row in self.rows]
        step = max(1, len(values) // 4)
        return [round(statistics.median(values[i : i + step] or [0])) for i in range(0, 4 * step, step)]


def cpu_seconds():
    """Of this process and its children, also those that have ended."""
    total = 0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        total += sum(process.cpu_times()[:4])
    return total


def timed(name, call):
    memory = Memory()
    used = cpu_seconds()
    load = psutil.getloadavg()[0]
    memory.start()
    started = time.monotonic()
    state = call()
    seconds = time.monotonic() - started
    memory.stopped.set()
    memory.join()
    print(f"{name}: {seconds:.1f} s, {cpu_seconds() - used:.1f} s of CPU, load before {load:.1f}, "
          f"MiB of all processes by quarters {memory.quarters(0)}, of the largest qdq {memory.quarters(1)}",
          flush=True)  # fmt: skip
    return seconds, state


def make_images(folder, count, shape):
    """Smooth shapes with noise, in -1 .. 1."""
    rng = np.random.default_rng(1)
    channels, height, width = shape
    for i in range(count):
        coarse = np.kron(rng.normal(0, 1, (channels, height // 8, width // 8)), np.ones((1, 8, 8)))
        image = np.clip((coarse + rng.normal(0, 0.2, shape)) / 2, -1, 1)
        np.save(folder / f"{i:06}.npy", image.astype(np.float32))


def main():
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--shape", default="3,48,192")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--shards", type=int)
    asked = parser.parse_args()
    shape = tuple(int(dim) for dim in asked.shape.split(","))
    found = {"single": [], "two workers": []}
    with tempfile.TemporaryDirectory() as name, \
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:  # fmt: skip
        # Linux divides the processors among sessions (autogroup). In one of its own each worker gets what the single run
        # gets, as if it was on a machine of its own; in one session two workers would share that.
        with Client(cluster, set_as_default=False) as client:
            client.run(os.setsid)
        folder = Path(name)
        images = folder / "images"
        images.mkdir()
        make_images(images, asked.images, shape)
        given = {"shapes": {"x": (1, *shape)}}
        calls = {"single": lambda: qdq.calibrate(asked.model, images, state=folder / "one.state", threads=1, **given),
                 "two workers": lambda: distributed.calibrate(asked.model, images, cluster, asked.shards, progress=False,
                                                              out=folder / "all.state", **given)}  # fmt: skip
        for _ in range(asked.repeat):
            states = []
            for key, call in calls.items():
                seconds, state = timed(key, call)
                found[key].append(seconds)
                states.append(state)
            assert states[0] == states[1], "the bytes differ"
    one, two = (statistics.median(times) for times in found.values())
    print(f"medians: {one:.1f} s and {two:.1f} s, ratio {one / two:.2f}")


if __name__ == "__main__":
    main()
