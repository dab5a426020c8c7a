# SPDX-License-Identifier: Apache-2.0
"""Times qdq, its peers and the limits of memory, and prints how they compare.

    python3 bench_peers.py BUILD [--venv DIR] [--torch DIR] [--onednn DIR] [--threads 1,2]
                           [--only elements|products] [--cases TEXT] [--samples N]
                           [--markdown] [--into docs/performance.md]

BUILD is a release build (meson setup BUILD --buildtype=release). --venv is a virtual environment
with numpy, onnx and onnxruntime; if missing, it is made and filled from PyPI. --torch is one with
torch and numpy, --onednn one as onednn_golden.py makes it; without them PyTorch and oneDNN are left
out. --only picks elementwise work or matrix products. --cases picks the rows whose name or size
contains the text. --markdown prints the tables as docs/performance.md has them, --into replaces
them there, each kind of work between its own marks. Needs Linux and a C compiler; oneDNN needs g++.

Every peer is a process with its own threads and memory, and the peers take turns: one timing each,
then the next round. In one process the spinning thread pools of two runtimes would take the CPUs
from each other; as processes they sleep while others are timed. Each peer is warmed up before each
timing. A loop in C (bench_loop.c) makes the calls, except for PyTorch, which is called from Python.
All processes are pinned, to one CPU for each thread. A timing in which the kernel took a CPU away
is
repeated, and dropped if that happens again. A cell is the median of the remaining timings; a ~
marks
the median of all timings where fewer than five remain.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from statistics import median

import bench_cases
import bench_element_rows
import bench_product_cases
import bench_product_rows
import bench_tables
from bench_process import Process

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = ["numpy", "onnx", "onnxruntime"]
MARKS = {"elements": ("<!-- what bench_peers.py measured -->", "<!-- end of it -->"),
         "products": ("<!-- what bench_peers.py measured of products -->",
                      "<!-- end of products -->")}
WITHOUT_AMX = "AVX512_CORE_BF16"  # the most that oneDNN may use without AMX
ENOUGH = 5  # undisturbed timings that suffice


# ---- What has to be there ----


def make_venv(folder):
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *PACKAGES],
                       check=True)


def compile_helpers(build, onednn, folder):
    compiler = [os.environ.get("CC", "cc"), "-O3", "-march=native", "-shared", "-fPIC"]
    ours = ["-Wno-missing-prototypes", f"-I{ROOT}", f"-I{ROOT / 'include'}", f"-L{build}", "-lqdq",
            f"-Wl,-rpath,{build}"]
    subprocess.run([*compiler, HERE / "bench_loop.c", "-o", folder / "loop.so"], check=True)
    subprocess.run([*compiler, "-DSTREAM_ISA=native", HERE / "bench_qdq.c",
                    ROOT / "tools" / "bench" / "kernels" / "bandwidth_passes.c", *ours,
                    "-o", folder / "qdq.so"], check=True)
    subprocess.run([*compiler, HERE / "bench_product.c", *ours, "-o", folder / "product.so"],
                   check=True)
    if onednn:
        lib = onednn / "lib"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-shared", "-fPIC",
                        HERE / "bench_onednn.cpp", f"-I{onednn / 'include'}", f"-L{lib}", "-ldnnl",
                        "-o", folder / "onednn.so"], check=True)


# ---- Workers ----


def environment(kind, threads, cpus, onednn):
    names = {"OPENBLAS_NUM_THREADS": "1"}  # for numpy
    if kind.startswith("onednn"):
        lib = onednn / "lib"
        names |= {"LD_LIBRARY_PATH": str(lib), "OCL_ICD_FILENAMES": str(lib / "libintelocl.so"),
                  "DPCPP_CPU_NUM_CUS": str(threads)}
        if threads > 1:
            names |= {"DPCPP_CPU_PLACES": "cores", "DPCPP_CPU_CU_AFFINITY": "close"}
        return names | ({"ONEDNN_MAX_CPU_ISA": WITHOUT_AMX} if kind == "onednn-capped" else {})
    names |= {"OMP_NUM_THREADS": str(threads), "GOMP_SPINCOUNT": "30000"}
    if not kind.startswith("ort"):
        names["OMP_PLACES"] = ",".join(f"{{{cpu}}}" for cpu in cpus[:threads])
        names["OMP_PROC_BIND"] = "close"
    return names


def start(work, kind, python, threads, cpus, folder, onednn):
    made = Process([python, HERE / "bench_worker.py", work, kind, str(threads), folder],
                   environment(kind, threads, cpus, onednn), cpus[:threads])
    made.kind = kind
    return made


def kept_median(timings):
    """The median of the undisturbed timings, and whether there were enough."""
    quiet = [seconds for seconds, disturbed in timings if not disturbed]
    if len(quiet) >= ENOUGH:
        return median(quiet), True
    return median(seconds for seconds, _ in timings), False


def measure(workers, number, samples):
    """Variant -> (seconds, whether they are reliable, facts about its results)."""
    said, timings = {}, {}
    for worker in workers:
        answer = worker.ask(open=number)
        if "error" in answer:
            print(f"{worker.kind}: {answer['error']}", file=sys.stderr)
            continue
        said.update(answer)
    for _ in range(samples):
        for worker in workers:
            for name, timing in worker.ask(time=True).items():
                timings.setdefault(name, []).append(timing)
    for worker in workers:
        worker.ask(close=True)
    return {name: (*kept_median(found), said[name]) for name, found in timings.items()}


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
    """The commit of the source that contains this script."""
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


# ---- Kinds of work ----


def kinds_of(work, options):
    """(kind, python) of the workers. qdq comes first, as the others compare with its results."""
    kinds = ["limit", "qdq", "ort"]
    if work == "products":
        kinds += ["qdq-capped", "ort-capped"] + (["onednn", "onednn-capped"] if options.onednn else [])
    found = [(kind, options.python) for kind in kinds]
    if work == "elements" and options.torch_python:
        found.append(("torch", options.torch_python))
    return found


WORK = {"elements": (bench_cases.all_cases, bench_element_rows),
        "products": (bench_product_cases.all_cases, bench_product_rows)}


def run_all(work, options, cpus, folder):
    rows_of, about = {}, []
    all_cases, tables = WORK[work]
    cases = [(number, case) for number, case in enumerate(all_cases())
             if options.cases in f"{case.name} {tables.size_of(case)}"]
    for threads in options.threads:
        workers = [start(work, kind, python, threads, cpus, folder, options.onednn)
                   for kind, python in kinds_of(work, options)]
        about = list(dict.fromkeys(worker.about for worker in workers if worker.about))
        rows_of[threads] = []
        for index, case in cases:
            found = measure(workers, index, options.samples)
            row = tables.Row(case, threads, found)
            rows_of[threads].append(row)
            print(bench_tables.plain(tables.HEADER, [row.cells()])[1], file=sys.stderr, flush=True)
        for worker in workers:
            worker.stop()
    return rows_of, about


def tables_of(work, rows_of, table):
    """The tables; `table` makes lines of a header and rows."""
    lines, tables = [], WORK[work][1]
    for threads, rows in rows_of.items():
        lines += [f"### {tables.TITLE}{threads} thread{'s' if threads > 1 else ''}", "",
                  *table(tables.HEADER, [row.cells() for row in rows]), ""]
    return lines + tables.more(list(rows_of.values())[0], table)


# ---- Entry ----


def document(lines, about, before, after, samples):
    return "\n".join([
        f"Machine: {machine()}. qdq at {revision()}.", "",
        f"Peers: {', '.join(about) or 'none'}. Timings of each cell: {samples}. Load of the "
        f"machine before: {before:.1f}, after: {after:.1f} (the measured work adds about 1).",
        "", *lines])


def put_into(path, work, text):
    old = path.read_text(encoding="utf-8")
    begin, end = MARKS[work]
    before, rest = old.split(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")


def libraries_line(options):
    libraries = [(options.python, "onnxruntime", "capi/libonnxruntime.so*")]
    if options.torch_python:
        libraries.append((options.torch_python, "torch", "lib/libtorch_cpu.so"))
    return sizes(options.build, libraries)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--venv", type=Path, default=HERE / "venv")
    parser.add_argument("--torch", type=Path)
    parser.add_argument("--onednn", type=Path)
    parser.add_argument("--only", choices=list(WORK))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cases", default="")
    parser.add_argument("--samples", type=int, default=21)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--into", type=Path)
    options = parser.parse_args(words)
    options.threads = [int(word) for word in options.threads.split(",")]
    options.build = options.build.resolve()
    options.python = options.venv.absolute() / "bin" / "python"
    options.onednn = options.onednn.absolute() if options.onednn else None
    options.torch_python = options.torch.absolute() / "bin" / "python" if options.torch else None
    return options


def main(words):
    options = parse(words)
    cpus = sorted(os.sched_getaffinity(0))
    if max(options.threads) > len(cpus):
        sys.exit(f"--threads wants {max(options.threads)} CPUs, there are {len(cpus)}")
    make_venv(options.venv)
    for work in [options.only] if options.only else WORK:
        before = load()
        with tempfile.TemporaryDirectory() as folder:
            compile_helpers(options.build, options.onednn, Path(folder))
            rows_of, about = run_all(work, options, cpus, folder)
        lines = tables_of(work, rows_of, bench_tables.markdown)
        if work == "elements":
            lines.append(libraries_line(options))
        text = document(lines, about, before, load(), options.samples).rstrip()
        if options.into:
            put_into(options.into, work, text)
        elif options.markdown:
            print(text)
        else:
            print("\n".join(tables_of(work, rows_of, bench_tables.plain)))


if __name__ == "__main__":
    main(sys.argv[1:])
