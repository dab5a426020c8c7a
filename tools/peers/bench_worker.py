# SPDX-License-Identifier: Apache-2.0
"""One peer of bench_peers.py in a process of its own: reads orders as JSON lines and answers them.

    bench_worker.py WORK KIND THREADS LIBRARY_FOLDER

LIBRARY_FOLDER has the libraries that bench_peers.py compiled. {"open": case number} prepares a case
and answers with facts about the results of each variant of the peer: their CRC-32, or for products
how they differ. {"time": true} answers with the seconds of a run and how often the kernel took a
CPU
away in the meantime. {"close": true} ends a case. A variant is one way in which the peer can do the
work.
"""

import importlib
import json
import sys
import time
from pathlib import Path

import bench_cases
import bench_product_cases

# seconds: warming up before a timing, the length of a timing, warming up after opening
WARM_UP, TIMING, FIRST = 2e-3, 1e-3, 20e-3
TRIES, LONG = 4, 20e-3  # tries for an undisturbed timing; longer timings are not repeated

# Work -> its cases, and the module of its peers. Modules of other peers may be missing.
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
