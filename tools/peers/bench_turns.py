# SPDX-License-Identifier: Apache-2.0
"""Turns of qdq and its peers, each in a process of its own, and tables of their least times. bench_networks.py and
bench_ops.py import this."""

import os
import re
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import ort_avx2
from bench_network_peers import KINDS
from bench_process import Process

HERE = Path(__file__).resolve().parent
PEERS = ("ort", "openvino")
SLICE = 0.2  # seconds of a turn
LOADS = 3  # rounds in which models are loaded too
PAUSE = 0.03  # seconds between turns, in which threads that spin fall asleep
ONEDNN = {"avx2": "AVX2", "avx_vnni": "AVX2_VNNI", "avx512": "AVX512_CORE_VNNI", "avx512_bf16": "AVX512_CORE_BF16"}


# ---- Peers ----


def instruction_sets():
    """Those of this CPU, and the model of it."""
    cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    flags = set(re.search(r"flags\s*:(.*)", cpu).group(1).split())
    known = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8")
    return [w for w in known if w in flags], re.search(r"model name\s*:\s*(.*)", cpu).group(1)


def is_capped(isa):
    """Whether this CPU has more than AVX2, and the table is for AVX2."""
    return isa == "avx2" and "avx512f" in instruction_sets()[0]


class Peers:
    """Processes by kind, number of threads and build, each started where it is first asked for. `folder` keeps copies."""

    def __init__(self, isa, folder):
        self.isa, self.folder, self.processes, self.about = isa, folder, {}, []

    def variables(self, threads, build):
        found = {"QDQ_LIBRARY": str(build / "libqdq.so.0"), "OPENBLAS_NUM_THREADS": "1"}
        if is_capped(self.isa):
            copy = self.folder / "onnxruntime-avx2"
            if not copy.exists():
                ort_avx2.copy_into(copy)
            found["PYTHONPATH"] = str(copy)
        if threads == 1:
            found["OMP_NUM_THREADS"] = "1"
        if self.isa in ONEDNN:
            found["ONEDNN_MAX_CPU_ISA"] = ONEDNN[self.isa]
        return found

    def get(self, kind, threads, build):
        key = (kind, threads, build)
        if key not in self.processes:
            words = [sys.executable, HERE / "bench_network_peers.py", kind, str(threads), *([self.isa] if self.isa else [])]
            self.processes[key] = Process(words, self.variables(threads, build))
            self.about += [self.processes[key].about] if self.processes[key].about not in self.about else []
        return self.processes[key]

    def stop(self):
        for process in self.processes.values():
            process.stop()


class Model:
    """A model in the processes of some peers: `keys` are kinds, numbers of threads and builds."""

    def __init__(self, peers, path, feeds, target, keys, folder):
        self.files = folder
        np.savez(folder / "feeds.npz", **feeds)
        order = {"open": str(path), "feeds": str(folder / "feeds.npz"), "target": target}
        self.order, self.opened = order, {}
        for key in keys:
            self.open(key, peers.get(*key))

    def open(self, key, process):
        said = process.ask(**self.order)
        if "error" in said:
            print(f"{key[0]}: {said['error']}", file=sys.stderr)
        else:
            self.opened[key] = process

    def outputs(self, key):
        name = self.opened[key].ask(outputs=str(self.files / "outputs.npz"))["answer"]
        with np.load(name) as arrays:
            return list(arrays.values())

    def least(self, rounds, loads=(), slice=SLICE):
        """Seconds of a run by key, and of loading: the least of rounds in which all take turns of `slice` seconds."""
        runs, loading = {}, {}
        for number in range(rounds):
            for key, process in self.opened.items():
                time.sleep(PAUSE)
                runs[key] = min(runs.get(key, float("inf")), process.ask(time=slice)["answer"])
                if key in loads and number < LOADS:
                    loading[key] = min(loading.get(key, float("inf")), process.ask(load=True)["answer"])
        return runs, loading

    def close(self, key=None):
        for one in [key] if key else list(self.opened):
            self.opened.pop(one).ask(close=True)


# ---- Cells ----


def difference(found, wanted):
    """Elements that differ, of how many, and the greatest difference over the greatest number."""
    pairs = [(np.asarray(f, np.float64).ravel(), np.asarray(w, np.float64).ravel()) for f, w in zip(found, wanted)]
    count = sum(int((f != w).sum()) for f, w in pairs)
    largest = max(float(np.abs(f - w).max() / (np.abs(w).max() or 1)) for f, w in pairs)
    return f"{largest:.1e}" if count else "equal"


def bold(value, aim, form="{:.2f}"):
    text = form.format(value)
    return text if float(text) <= aim else f"**{text}**"


def ms(seconds):
    return f"{seconds * 1e3:.2f}" if seconds is not None else "-"


def faster(runs, keys):
    """The key of the fastest, or None."""
    return min((key for key in keys if key in runs), key=runs.get, default=None)


def to_faster(ours, runs, keys, aim):
    key = faster(runs, keys)
    return f"{bold(ours / runs[key], aim)} {KINDS[key[0]][2]}" if key else "-"


def columns(kinds):
    """Those of ONNX Runtime and of OpenVINO; "" for one that is left out."""
    return [next((kind for kind in kinds if kind.startswith(name)), "") for name in PEERS]


# ---- Tables ----


def machine(options, about):
    sets, model = instruction_sets()
    threads = "two threads" if options.threads else "one thread"
    found = f"Machine: {model} ({', '.join(sets)}), load {os.getloadavg()[0]:.1f}; {', '.join(filter(None, about)) or 'no peers'}; {threads}"
    return f"{found}; all with at most {options.isa}." if options.isa else f"{found}."


def put_into(options, lines, table):
    """Replaces the lines between the marks of this table for CPUs like this one, or like one that all are capped to."""
    table += ", AVX-512" if "avx512f" in instruction_sets()[0] and not is_capped(options.isa) else ", AVX2"
    start, end = f"<!-- {table} -->", f"<!-- end of {table} -->"
    page = options.into.read_text(encoding="utf-8")
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    if not after:
        sys.exit(f"{options.into} has no line {start}, or none {end}")
    text = "\n".join(lines)
    options.into.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def add_options(parser, what):
    """Options that bench_ops.py has too."""
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="", help=f"{what} with this in their name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--isa")
    parser.add_argument("--peers", default=",".join(PEERS), help="of these two")
    parser.add_argument("--models", type=Path, help="keeps models, packages and a capped ONNX Runtime (a temporary folder)")
    parser.add_argument("--into", type=Path)


def parsed(parser):
    options = parser.parse_args()
    options.build, options.peers = options.build.resolve(), [one for one in options.peers.split(",") if one]
    if set(options.peers) - set(PEERS):
        parser.error(f"--peers is {','.join(options.peers)}, wanted some of {','.join(PEERS)}")
    return options


def print_tables(options, head, table, rows):
    """Prints rows, which `rows` yields from peers and a folder of models, and writes the table where options say so."""
    with ExitStack() as stack:
        folder = (options.models or Path(stack.enter_context(tempfile.TemporaryDirectory()))).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        peers, lines = Peers(options.isa, folder), [head]
        stack.callback(peers.stop)
        print(head, flush=True)
        for row in rows(peers, folder):
            lines.append(row)
            print(row, flush=True)
        about = machine(options, peers.about)
        print(f"\n{about}")
    if len(lines) == 1:
        sys.exit(f"nothing has '{options.only}' in its name")
    if options.into:
        put_into(options, [about, "", *lines], table)
