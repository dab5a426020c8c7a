# SPDX-License-Identifier: Apache-2.0
"""Compares every op, bit by bit, with a release of ONNX Runtime, and prints what the evidence of qdq should say.

    python3 renew.py VERSION --library BUILD/libqdq.so.0 [--release 1.32] [--cpu vnni] [--folder FOLDER]
                     [--count 12] [--graphs 300] [--seed 1] [--only WORDS] [--markdown] [--failed FOLDER]

VERSION is a release on PyPI, "1.32.0"; FOLDER gets an environment with it (default: a folder beside this script's
temporary files, kept for the next run). RELEASE and CPU name the versions of targets onnx and ort that stand for it; a new release is compared with the newest
one that they have.

Target onnx is compared with ONNX Runtime without optimizations: models of one node from onnx_reader.py and
onnx_float_bits.py, of one elementwise node on all kinds of bits (element_models.py), and networks of which every value is an output, so that the first node with other bits is known.
Target ort is compared with all optimizations on: graphs of ort_graphs.py.

Prints a row for each op and dtype: models and elements compared, how many differ, the greatest difference, and what
`qdq check` says of the node. A row ends in

    SILENT    bits differ although qdq says that they are exact or read
    WARNED    bits are equal although qdq says that they are close or unknown

The exit status is 1 if any row is silent, or if nothing was compared.
"""

import argparse
import logging
import os
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["numpy", "onnx", "ml_dtypes"]


def environment(folder, version):
    """The Python of an environment with this release, made if it is missing."""
    place = folder / f"onnxruntime-{version}"
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([python, "-m", "pip", "-q", "install", f"onnxruntime=={version}", *PACKAGES], check=True)
    return python


class Row:
    """The comparisons of one op at one dtype."""

    def __init__(self):
        self.models = self.equal = self.elements = self.differ = self.refused = self.only_peer = self.only_here = 0
        self.worst, self.bits, self.first, self.silent = 0.0, set(), "", 0

    def add(self, elements, differ, worst, bits, name):
        self.models += 1
        self.equal += not differ
        self.elements += elements
        self.differ += differ
        self.worst = max(self.worst, worst)
        self.bits |= set(bits)
        if differ and not self.first:
            self.first = name
        if differ and not set(bits) & {"close", "unknown"}:
            self.silent += 1
            self.first = name

    def verdict(self):
        if self.silent:
            return "SILENT"
        return "WARNED" if self.models and not self.differ and self.bits & {"close", "unknown"} else ""


class Survey:
    def __init__(self, args):
        import numpy
        import onnx
        import onnxruntime
        import qdq

        self.np, self.onnx, self.ort, self.qdq, self.args = numpy, onnx, onnxruntime, qdq, args
        self.rows = {target: defaultdict(Row) for target in ("onnx", "ort")}
        self.work = Path(tempfile.mkdtemp())
        self.refusal = ""  # what qdq said when it refused a model last

    # ---- Running

    def of_peer(self, model, feeds, level):
        options = self.ort.SessionOptions()
        options.graph_optimization_level = getattr(self.ort.GraphOptimizationLevel, level)
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = self.ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        known = {i.name for i in session.get_inputs()}
        names = [o.name for o in session.get_outputs()]
        return dict(zip(names, session.run(names, {k: v for k, v in feeds.items() if k in known})))

    def of_qdq(self, model, feeds, target):
        """The results and the report; None for results if the target refuses the model."""
        path = self.work / "model.onnx"
        self.onnx.save(model, path)
        names = {i.name for i in model.graph.input}
        known = {k: v for k, v in feeds.items() if k in names}
        graph = self.qdq.load(path, target=target, shapes={k: list(v.shape) for k, v in known.items()})
        report = graph.check(target)
        if report.errors:
            self.refusal = next(f.message for f in report if f.severity == "error")
            return None, report
        return graph.run(known, target=target), report

    def different(self, got, want):
        """How many elements differ in their bits, and the greatest difference relative to the greatest number."""
        np = self.np
        got, want = np.atleast_1d(np.asarray(got)), np.atleast_1d(np.asarray(want))
        if got.shape != want.shape or got.dtype.itemsize != want.dtype.itemsize:
            return want.size or 1, float("inf")
        word = f"u{want.dtype.itemsize}"
        other = np.ascontiguousarray(got).view(word) != np.ascontiguousarray(want).view(word)
        real = want.dtype.kind not in "biu"
        if real:
            g, w = got.astype(np.float64), want.astype(np.float64)
            other &= ~(np.isnan(g) & np.isnan(w))
            size = max(float(np.max(np.abs(w[np.isfinite(w)]), initial=0)), 1e-30)
            worst = float(np.max(np.abs(g - w)[other], initial=0)) / size if other.any() else 0.0
        else:
            worst = float(np.max(np.abs(got.astype(np.float64) - want.astype(np.float64)))) if want.size else 0.0
        return int(other.sum()), worst

    # ---- Target onnx

    def with_values(self, model):
        """The model with every value as an output."""
        copy = self.onnx.ModelProto()
        copy.CopyFrom(model)
        shown = {o.name for o in copy.graph.output}
        for node in copy.graph.node:
            for name in node.output:
                if name and name not in shown:
                    copy.graph.output.append(self.onnx.helper.make_empty_tensor_value_info(name))
                    shown.add(name)
        return copy

    def dtype_of(self, node, values, model):
        """The dtype of the first input of a node that has a known one."""
        known = {t.name: self.onnx.numpy_helper.to_array(t).dtype for t in model.graph.initializer}
        for name in list(node.input)[:1] + list(node.output):
            if name in values:
                return str(self.np.asarray(values[name]).dtype)
            if name in known:
                return str(known[name])
        return "?"

    def nodes_of(self, report, node):
        """What the report says of a node of the model."""
        names = {node.name, *node.output}
        found = [one for one in report.nodes if one.original in names or one.node in names]
        if found:
            return found
        near = [one for one in report.nodes if any(one.node.startswith(f"{n}/") for n in names if n)]
        return near or [one for one in report.nodes if one.op == node.op_type]

    def of_both(self, kind, target, model, feeds, level):
        """The results of ONNX Runtime and of qdq, and the report; None if either refuses the model. An exception of qdq
        that is no finding counts as a difference that nothing announces."""
        release = f"{target}@{self.args.release}-{self.args.cpu}"
        try:
            wanted = self.of_peer(model, feeds, level)
        except Exception:  # each of its errors has another class
            wanted = None
        row = self.rows[target][(kind, "refused")]
        try:
            got, report = self.of_qdq(model, feeds, release)
        except Exception as why:
            print(f"{release} {kind}: {str(why)[:160]}", file=sys.stderr)
            row.silent += wanted is not None
            return None
        if wanted is not None and got is not None:
            return wanted, got, report
        row.refused += wanted is None and got is None
        row.only_peer += wanted is None and got is not None
        row.only_here += wanted is not None and got is None
        return None

    def compare_unoptimized(self, kind, model, feeds):
        graph = self.with_values(model) if len(model.graph.node) > 1 else model
        both = self.of_both(kind, "onnx", graph, feeds, "ORT_DISABLE_ALL")
        if not both:
            return
        wanted, got, report = both
        wrong = set()
        for node in model.graph.node:
            outputs = [o for o in node.output if o in wanted]
            if not outputs or set(node.input) & wrong:
                wrong |= set(node.output)
                continue
            said = self.nodes_of(report, node)
            op = said[0].op if said else f"folded {node.op_type}"
            key = (op, self.dtype_of(node, {**feeds, **wanted}, model))
            pairs = [self.different(got[o], wanted[o]) if o in got else (1, float("inf")) for o in outputs]
            differ = sum(p[0] for p in pairs)
            size = sum(self.np.asarray(wanted[o]).size for o in outputs)
            bits = [one.bits for one in said] or ["exact"]
            row = self.rows["onnx"][key]
            row.add(size, differ, max(p[1] for p in pairs), bits, kind)
            if differ:
                wrong |= set(node.output)
                if not set(bits) & {"close", "unknown"}:
                    self.keep(f"onnx_{node.op_type}", graph, feeds)

    # ---- Target ort

    def compare_deployed(self, kind, model, feeds):
        both = self.of_both(kind, "ort", model, feeds, "ORT_ENABLE_ALL")
        if not both:
            return
        wanted, got, report = both
        pairs = [self.different(got[name], wanted[name]) for name in wanted]
        differ = sum(p[0] for p in pairs)
        bits = {one.bits for one in report.nodes}
        size = sum(self.np.asarray(w).size for w in wanted.values())
        self.rows["ort"][(kind, "")].add(size, differ, max(p[1] for p in pairs), bits, kind)
        if differ and not bits & {"close", "unknown"}:
            self.keep(f"ort_{kind}", model, feeds)
        for one in report.nodes if not differ else ():
            self.rows["ort"][(one.op, "node")].add(1, 0, 0.0, [one.bits], kind)

    # ---- Words

    def keep(self, name, model, feeds):
        if not self.args.failed:
            return
        self.args.failed.mkdir(parents=True, exist_ok=True)
        number = len(list(self.args.failed.glob(f"{name}_*.onnx")))
        self.onnx.save(model, self.args.failed / f"{name}_{number}.onnx")
        self.np.savez(self.args.failed / f"{name}_{number}.npz", **feeds)

    def report(self):
        silent = 0
        cells = ("op", "dtype", "models", "equal", "elements", "differ", "worst", "bits", "refused by both, peer, qdq", "")
        for target, rows in self.rows.items():
            print(f"\n{target}@{self.args.release}-{self.args.cpu}, ONNX Runtime {self.ort.__version__}\n")
            print("| " + " | ".join(cells) + " |\n" + "|---" * len(cells) + "|")
            for (op, dtype), row in sorted(rows.items()):
                if not (row.models or row.silent or row.refused or row.only_peer or row.only_here):
                    continue
                counts = f"{row.refused} {row.only_peer} {row.only_here}"
                worst = f"{row.worst:.2g}" if row.differ else ""
                words = (op, dtype, row.models, row.equal, row.elements, row.differ, worst, " ".join(sorted(row.bits)))
                print("| " + " | ".join(map(str, (*words, counts, row.verdict()))) + " |")
                silent += row.silent
        compared = sum(row.models for rows in self.rows.values() for row in rows.values())
        print(f"\n{compared} comparisons, {silent} silent differences")
        return silent or not compared


def cases(args):
    """Names, models and inputs for target onnx."""
    import numpy
    import onnx_float_bits
    from onnx_attention_cases import ATTENTION
    from onnx_cases import CASES
    from onnx_index_cases import READ
    from onnx_quantized import NETWORKS, QUANTIZING
    from onnx_window_cases import PRODUCTS

    kinds = {**CASES, **PRODUCTS, **QUANTIZING, **NETWORKS, **READ, **ATTENTION}
    for number, (kind, make) in enumerate(kinds.items()):
        for i in range(args.count if args.only in kind else 0):
            case = make(numpy.random.default_rng([args.seed, number, i]))
            yield kind, case.model, case.feeds
    import element_models
    import onnx

    for kind, model, feeds in element_models.models(args.seed):
        if args.only in kind:
            yield kind, model, feeds
    for op, make in onnx_float_bits.OPS.items():
        for case in make() if args.only in op else ():
            yield op, onnx.load_from_string(case.model()), case.feeds


def survey(args):
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    made = Survey(args)
    for kind, model, feeds in cases(args):
        made.compare_unoptimized(kind, model, feeds)
    import ort_graphs

    for index in range(args.graphs):
        builder, kind = ort_graphs.make(args.seed, index)
        made.compare_deployed(kind, builder.model(), builder.inputs)
    return 1 if made.report() else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help='release on PyPI, "1.32.0"')
    parser.add_argument("--library", type=Path, required=True, help="libqdq.so.0 of a build")
    parser.add_argument("--release", help="release of targets onnx and ort (of VERSION)")
    parser.add_argument("--cpu", default="vnni", help="kernels that this CPU takes (vnni)")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "qdq-peers")
    parser.add_argument("--count", type=int, default=12, help="models of each kind for target onnx (12)")
    parser.add_argument("--graphs", type=int, default=300, help="graphs for target ort (300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds with this in their name")
    parser.add_argument("--failed", type=Path, help="where models with silent differences are kept")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.release = args.release or args.version.rpartition(".")[0]
    if args.inside:
        return survey(args)
    python = environment(args.folder, args.version)
    paths = {"PYTHONPATH": f"{HERE.parent.parent / 'python'}{os.pathsep}{HERE}", "QDQ_LIBRARY": str(args.library.resolve())}
    return subprocess.run([python, __file__, *sys.argv[1:], "--inside"], env={**os.environ, **paths}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
