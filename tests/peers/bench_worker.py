# SPDX-License-Identifier: Apache-2.0
"""One peer of bench_peers.py in a process of its own: reads orders as JSON lines, answers so.

    bench_worker.py WORK KIND THREADS LIBRARY_FOLDER

LIBRARY_FOLDER has what bench_peers.py compiled. Orders: {"open": case number} makes everything and
answers with what is to be said of the results of each variant of the peer: their CRC-32, of
products how they differ. {"time": true} gives seconds of a run, and how often the kernel took a CPU
away meanwhile; {"close": true}. A variant is one way to have the peer do the work.
"""

import importlib
import json
import sys
import time
from pathlib import Path

import bench_cases
import bench_product_cases

WARM_UP, TIMING, FIRST = 2e-3, 1e-3, 20e-3  # seconds: before each timing, of one, after opening
TRIES, LONG = 4, 20e-3  # to have a timing in which the kernel takes no CPU away; not of long ones

# Work -> its cases, the module of its peers. Modules of others need not be there.
WORK = {"elements": (bench_cases.all_cases, "bench_element_peers"),
        "products": (bench_product_cases.all_cases, "bench_product_peers")}


# ---- Orders ----


def spin(run, seconds):
    start = time.perf_counter()
    while True:
        run(1)
        if time.perf_counter() - start >= seconds:
            return


def batch_of(run):
    batch = 1
    while run(batch)[0] < TIMING and batch < 1 << 20:
        batch *= 2
    return batch


def opened(peer, case):
    peer.open(case)
    answer = {}
    for name, (run, outputs) in peer.variants.items():
        spin(run, FIRST)
        answer[name] = peer.report(name, outputs)
        peer.variants[name] = (run, batch_of(run))
    return answer


def timed(peer):
    answer = {}
    for name, (run, batch) in peer.variants.items():
        for _ in range(TRIES):
            spin(run, WARM_UP)
            seconds, disturbed = run(batch)
            if not disturbed or seconds > LONG:
                break
        answer[name] = [seconds / batch, disturbed]
    return answer


def main(work, kind, threads, folder):
    all_cases, module = WORK[work]
    peer = importlib.import_module(module).KINDS[kind](int(threads), Path(folder))
    cases = all_cases()
    print(json.dumps({"about": peer.about()}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if "open" in order:
                answer = opened(peer, cases[order["open"]])
            elif "time" in order:
                answer = timed(peer)
            else:
                answer = peer.close() or {}
        except RuntimeError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
