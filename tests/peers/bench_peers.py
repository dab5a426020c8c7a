# SPDX-License-Identifier: Apache-2.0
"""Times qdq beside its peers and beside what memory allows, and prints how they compare.

    python3 bench_peers.py BUILD [--venv DIR] [--torch DIR] [--threads 1,2] [--cases TEXT]
                           [--samples N] [--markdown] [--into docs/performance.md]

BUILD is a release build (meson setup BUILD --buildtype=release). --venv is a virtual environment
with numpy, onnx and onnxruntime; where there is none it is made and filled from PyPI. --torch is
one with torch and numpy; without it PyTorch is left out. --cases picks the rows whose name or size
has the text. --markdown prints the tables as docs/performance.md has them, --into replaces them
there. Needs Linux and a C compiler.

Every peer has a process of its own, with its own threads and memory, and all take turns: one
timing each, then the next round. In one process the thread pools of two runtimes, which spin when
they have nothing to do, would take the CPUs from each other; as processes they sleep while others
are timed. Each is warmed up before each timing. The calls are made by a loop in C (bench_loop.c),
but for PyTorch, which is called from Python. All processes are pinned: with one thread to one CPU,
with two to one CPU each. A timing in which the kernel took a CPU away is made again, and dropped
if that does not help. A cell is the median of those that remain; it has a ~ where fewer than five
do, and is then the median of all.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from statistics import median

import bench_cases

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = ["numpy", "onnx", "onnxruntime"]
BEGIN, END = "<!-- what bench_peers.py measured -->", "<!-- end of it -->"
ENOUGH = 5  # timings that were not disturbed


# ---- What has to be there ----


def make_venv(folder):
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *PACKAGES],
                       check=True)


def compile_helpers(build, folder):
    compiler = [os.environ.get("CC", "cc"), "-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([*compiler, HERE / "bench_loop.c", "-o", folder / "loop.so"], check=True)
    subprocess.run([*compiler, "-DSTREAM_ISA=native", "-Wno-missing-prototypes",
                    f"-I{ROOT}", f"-I{ROOT / 'include'}", HERE / "bench_qdq.c",
                    ROOT / "tools" / "kernels" / "stream.c", f"-L{build}", "-lqdq",
                    f"-Wl,-rpath,{build}", "-o", folder / "qdq.so"], check=True)


# ---- Workers ----


class Worker:
    def __init__(self, kind, python, threads, cpus, folder):
        names = {"OMP_NUM_THREADS": str(threads), "GOMP_SPINCOUNT": "30000"}
        if kind != "ort":
            names["OMP_PLACES"] = ",".join(f"{{{cpu}}}" for cpu in cpus[:threads])
            names["OMP_PROC_BIND"] = "close"
        self.kind = kind
        self.process = subprocess.Popen(
            [python, HERE / "bench_worker.py", kind, str(threads), folder], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **names},
            preexec_fn=lambda: os.sched_setaffinity(0, cpus[:threads]))
        self.about = self.answer()["about"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench_worker.py {self.kind} ended")
        return json.loads(line)

    def ask(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def kept_median(timings):
    """And whether it is one of timings that were left alone."""
    quiet = [seconds for seconds, disturbed in timings if not disturbed]
    if len(quiet) >= ENOUGH:
        return median(quiet), True
    return median(seconds for seconds, _ in timings), False


def measure(workers, number, samples):
    """Variant -> (seconds, whether they are sure, CRC-32 of its results)."""
    digests, timings = {}, {}
    for worker in workers:
        answer = worker.ask(open=number)
        if "error" in answer:
            print(f"{worker.kind}: {answer['error']}", file=sys.stderr)
            continue
        digests.update(answer)
    for _ in range(samples):
        for worker in workers:
            for name, timing in worker.ask(time=True).items():
                timings.setdefault(name, []).append(timing)
    for worker in workers:
        worker.ask(close=True)
    return {name: (*kept_median(found), digests[name]) for name, found in timings.items()}


# ---- Rows ----


class Row:
    """What was measured of a case with a number of threads."""

    def __init__(self, case, threads, found):
        self.case, self.threads = case, threads
        self.unsure = {seconds for seconds, sure, _ in found.values() if not sure}
        self.seconds, _, digest = found["qdq"]
        # A copy has other traffic: a row is held against the stream of its own bytes.
        self.limit = min((one[0] for name, one in found.items() if name.startswith("stream")),
                         default=None)
        others = {name: one for name, one in found.items()
                  if name != "qdq" and not name.startswith(("copy", "stream"))}
        self.peers = {name: seconds for name, (seconds, _, _) in others.items()}
        self.other_bits = {name for name, (_, _, other) in others.items()
                           if digest is not None and other not in (None, digest)}
        self.best = min(self.peers, key=self.peers.get, default=None)

    def rate(self, seconds):
        return bench_cases.moved_bytes(self.case) / seconds * 1e-9 if seconds else None

    def of_limit(self):
        return self.limit / self.seconds if self.limit else None

    def times_best(self):
        return self.peers[self.best] / self.seconds if self.best else None

    def limit_times_best(self):
        return self.peers[self.best] / self.limit if self.best and self.limit else None

    def misses(self):
        """What is short of its aim."""
        limit_aim, *peer_aims = self.case.aim
        peer_aim, short = peer_aims[min(self.threads, 2) - 1], []
        if self.case.small and self.seconds * 1e6 > limit_aim:
            short.append("time")
        if self.of_limit() is not None and self.of_limit() < limit_aim - 0.005:
            short.append("limit")
        if self.best and self.times_best() < peer_aim * 0.995:
            short.append("peer")
        return short


def number(value, form="{:.1f}"):
    return form.format(value) if value is not None else "-"


def cells(row):
    """qdq, limit, of the limit (aim), best peer, times it (aim), other peers."""
    case = row.case
    limit_aim, *peer_aims = case.aim
    peer_aim = peer_aims[min(row.threads, 2) - 1]
    short = row.misses()

    def amount(seconds):
        text = f"{seconds * 1e6:.2f} us" if case.small else number(row.rate(seconds))
        return text + ("~" if seconds in row.unsure else "")

    def marked(text, kind):
        return f"**{text}**" if kind in short else text

    def named(name):
        return f"{name}{' (other bits)' if name in row.other_bits else ''}"

    ours = amount(row.seconds)
    limit = amount(row.limit) if row.limit else "-"
    of_limit = "-"
    if case.small:
        ours = marked(ours, "time") + f" ({limit_aim:g} us)"
    elif row.limit:
        of_limit = f"{marked(number(row.of_limit(), '{:.2f}'), 'limit')} ({limit_aim:.2f})"
    best = f"{amount(row.peers[row.best])} {named(row.best)}" if row.best else "-"
    times = f"{marked(number(row.times_best()) + 'x', 'peer')} ({peer_aim:g}x" if row.best else "-"
    if row.best:
        bound = row.limit_times_best()
        times += f", limit {bound:.1f}x)" if bound and bound < peer_aim else ")"
    others = ", ".join(f"{amount(seconds)} {named(name)}" for name, seconds in
                       sorted(row.peers.items(), key=lambda one: one[1]) if name != row.best)
    return [case.name, case.size, ours, limit, of_limit, best, times, others or "-"]


HEADER = ["work", "elements", "qdq", "limit", "of the limit (aim)", "best peer",
          "times the best peer (aim)", "other peers"]


def markdown_table(rows):
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return lines + ["| " + " | ".join(cells(row)) + " |" for row in rows]


def text_table(rows):
    table = [HEADER] + [[cell.replace("**", "!") for cell in cells(row)] for row in rows]
    widths = [max(len(line[k]) for line in table) for k in range(len(HEADER))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
            for line in table]


# ---- The machine ----


def first_match(pattern, text, default="unknown"):
    found = re.search(pattern, text, re.M)
    return found.group(1).strip() if found else default


def machine():
    lscpu = subprocess.run(["lscpu"], text=True, capture_output=True, check=False,
                           env={**os.environ, "LC_ALL": "C"}).stdout
    caches = ", ".join(f"{level} {first_match(rf'^{level} cache:(.*)$', lscpu)}"
                       for level in ("L1d", "L2", "L3"))
    guest = first_match(r"^Hypervisor vendor:(.*)$", lscpu, "")
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], text=True,
                              capture_output=True, check=False).stdout.splitlines()[0]
    return (f"{first_match(r'^CPU[(]s[)]:(.*)$', lscpu)} CPUs of "
            f"{first_match(r'^Model name:(.*)$', lscpu)} (family "
            f"{first_match(r'^CPU family:(.*)$', lscpu)}, model "
            f"{first_match(r'^Model:(.*)$', lscpu)}){', a guest of ' + guest if guest else ''}; "
            f"caches: {caches}; {os.uname().sysname} {os.uname().release.split('-')[0]}; "
            f"{compiler}")


def revision():
    """Of the source beside this script, as git has it."""
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty=+"], text=True,
                          capture_output=True, check=False)
    return done.stdout.strip() or "an unknown commit"


def load():
    return float(Path("/proc/loadavg").read_text(encoding="utf-8").split()[0])


# ---- Sizes ----


def megabytes(path):
    return f"{path.stat().st_size / 1e6:.2f} MB"


def sizes(build, pythons):
    """Lines about the size of the libraries."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / "libqdq.so"
        subprocess.run(["strip", "-o", stripped, (build / "libqdq.so").resolve()], check=True)
        words = [f"`libqdq.so` stripped: {megabytes(stripped)} (aim 1 MB)"]
    for python, package, pattern in pythons:
        root = list((python.parent.parent / "lib").glob(f"python3*/site-packages/{package}"))
        for path in sorted(root[0].glob(pattern)) if root else []:
            words.append(f"`{path.name}` as it comes: {megabytes(path)}")
    return "; ".join(words) + "."


# ---- Entry ----


def document(rows_of, about, before, after, sizes_line, samples):
    lines = [f"Machine: {machine()}. qdq at {revision()}.", "",
             f"Peers: {', '.join(about) or 'none'}. Timings of each cell: {samples}. Load of the "
             f"machine before: {before:.1f}, after: {after:.1f} (what is measured makes about 1).",
             ""]
    for threads, rows in rows_of.items():
        lines += [f"### {threads} thread{'s' if threads > 1 else ''}", "", *markdown_table(rows), ""]
    return "\n".join([*lines, sizes_line])


def put_into(path, text):
    old = path.read_text(encoding="utf-8")
    before, rest = old.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


def run_all(options, cpus, folder):
    rows_of, about = {}, []
    cases = [(number, case) for number, case in enumerate(bench_cases.all_cases())
             if options.cases in f"{case.name} {case.size}"]
    for threads in options.threads:
        kinds = [("limit", options.python), ("qdq", options.python), ("ort", options.python)]
        kinds += [("torch", options.torch_python)] if options.torch_python else []
        workers = [Worker(kind, python, threads, cpus, folder) for kind, python in kinds]
        about = [worker.about for worker in workers if worker.about]
        rows_of[threads] = []
        for index, case in cases:
            found = measure(workers, index, options.samples)
            rows_of[threads].append(Row(case, threads, found))
            print(text_table(rows_of[threads][-1:])[1], file=sys.stderr, flush=True)
        for worker in workers:
            worker.stop()
    return rows_of, about


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--venv", type=Path, default=HERE / "venv")
    parser.add_argument("--torch", type=Path)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cases", default="")
    parser.add_argument("--samples", type=int, default=21)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--into", type=Path)
    options = parser.parse_args(words)
    options.threads = [int(word) for word in options.threads.split(",")]
    options.build = options.build.resolve()
    options.python = options.venv.absolute() / "bin" / "python"
    options.torch_python = options.torch.absolute() / "bin" / "python" if options.torch else None
    return options


def main(words):
    options = parse(words)
    cpus = sorted(os.sched_getaffinity(0))
    if max(options.threads) > len(cpus):
        sys.exit(f"--threads wants {max(options.threads)} CPUs, there are {len(cpus)}")
    make_venv(options.venv)
    before = load()
    with tempfile.TemporaryDirectory() as folder:
        compile_helpers(options.build, Path(folder))
        rows_of, about = run_all(options, cpus, folder)
    libraries = [(options.python, "onnxruntime", "capi/libonnxruntime.so*")]
    if options.torch_python:
        libraries.append((options.torch_python, "torch", "lib/libtorch_cpu.so"))
    text = document(rows_of, about, before, load(), sizes(options.build, libraries),
                    options.samples)
    if options.into:
        put_into(options.into, text)
    elif options.markdown:
        print(text)
    else:
        for rows in rows_of.values():
            print("\n".join(text_table(rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
