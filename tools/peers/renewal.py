# SPDX-License-Identifier: Apache-2.0
"""Compares a release of a peer with qdq, and counts what differs. renew.py has the command line; each peer is a module
renew_PEER.py with

    packages(version)   the packages of its environment
    variables(folder)   environment variables for its Python, if it needs any
    release(version)    the version of the target that stands for this release; None: the newest
    survey(args)        makes a Survey, compares all its cases, and returns it
"""

import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOUBTS = {"close", "unknown"}
NARROW = ("int4", "uint4", "int2", "uint2")
CELLS = ("op", "dtype", "models", "equal", "elements", "differ", "worst", "bits", "refused by both, peer, qdq", "")


def environment(folder, name, packages):
    """The Python of a virtual environment with these packages, made if it is missing."""
    place = folder / name
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([python, "-m", "pip", "-q", "install", *packages], check=True)
    return python


class Row:
    """The comparisons of one op at one dtype."""

    def __init__(self):
        self.models = self.equal = self.elements = self.differ = self.refused = self.only_peer = self.only_here = 0
        self.worst, self.bits, self.conditions, self.example, self.silent = 0.0, set(), set(), "", 0

    def add(self, elements, differ, worst, bits, example=""):
        self.models += 1
        self.equal += not differ
        self.elements += elements
        self.differ += differ
        self.worst = max(self.worst, worst)
        self.bits |= set(bits)
        silent = differ and not set(bits) & DOUBTS
        if silent and not self.silent or differ and not self.example:
            self.example = example
        self.silent += bool(silent)

    def is_empty(self):
        return not (self.models or self.silent or self.refused or self.only_peer or self.only_here)

    def verdict(self):
        if self.silent:
            return "SILENT"
        return "WARNED" if self.models and not self.differ and self.bits & DOUBTS else ""


class Node:
    """A node of a model: its op, what a report may call it, its inputs, outputs and attributes in words."""

    def __init__(self, op, names, inputs, outputs, attributes=""):
        self.op, self.names, self.inputs, self.outputs, self.attributes = op, set(names), inputs, outputs, attributes

    def reported(self, report):
        """What a report says of the node; a node that the target split or renamed counts by its op."""
        parts = tuple(f"{n}/" for n in self.names if n)
        found = [one for one in report.nodes if {one.original, one.node} & self.names or one.node.startswith(parts)]
        return found or [one for one in report.nodes if one.op == self.op]


class Survey:
    # Ops whose results may be zeros of either sign, and ops left out: docs/numerics.md, section 11, says why.
    EITHER_ZERO, LEFT_OUT = (), ()

    def __init__(self, args, peer):
        import numpy
        import qdq

        self.np, self.qdq, self.args, self.peer = numpy, qdq, args, peer
        self.either_zero = False
        self.rows = defaultdict(lambda: defaultdict(Row))
        self.folder = tempfile.TemporaryDirectory()
        self.work = Path(self.folder.name)
        self.refusal = ""  # what qdq said when it refused a model last

    # ---- Running

    def of_qdq(self, path, feeds, target):
        """The results and the report; None for results if the target refuses the model."""
        graph = self.qdq.load(path, target=target, shapes={k: list(v.shape) for k, v in feeds.items()})
        report = graph.check(target)
        if report.errors:
            self.refusal = next(f.message for f in report if f.severity == "error")
            return None, report
        return graph.run(feeds, target=target), report

    def of_both(self, kind, target, path, feeds, ask):
        """The results of the peer and of qdq, and the report; None if either refuses the model. `ask` runs the peer. An
        exception of qdq that is no finding counts as a difference that nothing announces."""
        try:
            wanted = ask()
        except Exception:  # each of its errors has another class
            wanted = None
        row = self.rows[target][(kind, "refused")]
        try:
            got, report = self.of_qdq(path, feeds, target)
        except Exception as why:
            print(f"{target} {kind}: {str(why)[:160]}", file=sys.stderr)
            row.silent += wanted is not None
            return None
        if wanted is not None and got is not None:
            return wanted, got, report
        row.refused += wanted is None and got is None
        row.only_peer += wanted is None and got is not None
        row.only_here += wanted is not None and got is None
        return None

    # ---- Comparing

    def differing(self, got, want):
        """True for each element whose bits differ; all NaN are equal, and zeros if `either_zero`. None for another shape or
        dtype."""
        np = self.np
        got, want = np.atleast_1d(np.asarray(got)), np.atleast_1d(np.asarray(want))
        if want.dtype.name in NARROW:  # held in a byte, whose upper bits mean nothing
            got, want = (one.astype(np.int8) for one in (got, want))
        if got.shape != want.shape or got.dtype.itemsize != want.dtype.itemsize:
            return None
        word = f"u{want.dtype.itemsize}"
        other = np.ascontiguousarray(got).view(word) != np.ascontiguousarray(want).view(word)
        if want.dtype.kind not in "biu":
            g, w = got.astype(np.float64), want.astype(np.float64)
            other &= ~(np.isnan(g) & np.isnan(w))
            if self.either_zero:
                other &= ~((g == 0) & (w == 0))
        return other

    def different(self, got, want):
        """How many elements differ in their bits, and the greatest difference: of floats relative to the greatest
        number."""
        np = self.np
        other = self.differing(got, want)
        if other is None:
            return np.size(want) or 1, float("inf")
        if not other.any():
            return 0, 0.0
        g, w = (np.atleast_1d(np.asarray(one)).astype(np.float64) for one in (got, want))
        with np.errstate(invalid="ignore"):
            off = np.abs(g - w)[other]
        off = np.where(np.isnan(off), np.inf, off)
        size = 1.0 if np.asarray(want).dtype.kind in "biu" else max(float(np.max(np.abs(w[np.isfinite(w)]), initial=0)), 1e-30)
        return int(other.sum()), float(np.max(off)) / size

    def described(self, node, values, got, want):
        """A node in one line, by the first element in which a result differs."""
        np = self.np
        other = self.differing(got, want)
        text = f"{node.op}({node.attributes})"
        if other is None:
            return f"{text}: {np.asarray(got).dtype} {np.shape(got)}, peer {np.asarray(want).dtype} {np.shape(want)}"
        at = np.unravel_index(int(np.argmax(other)), other.shape)
        parts = []
        for name in filter(None, node.inputs):
            one = np.asarray(values[name]) if name in values else None
            if one is None:
                continue
            same = one.shape == other.shape
            shown = one[at] if same else one.ravel()[0] if one.size == 1 else list(one.shape)
            parts.append(f"{one.dtype} {shown}")
        g, w = (np.atleast_1d(np.asarray(one))[at] for one in (got, want))
        return f"{text} of {', '.join(parts)} at {[int(i) for i in at]}: peer {w}, here {g}"

    def compare_nodes(self, target, nodes, feeds, both, keep):
        """Adds a row for each node whose inputs are equal. `both` is the answer of of_both, `keep` keeps the model."""
        wanted, got, report = both
        values, wrong = {**feeds, **wanted}, set()
        for node in nodes:
            outputs = [o for o in node.outputs if o in wanted]
            if not outputs or set(node.inputs) & wrong or node.op in self.LEFT_OUT:
                wrong |= set(node.outputs)
                continue
            said = node.reported(report)
            self.either_zero = self.either_zero or node.op in self.EITHER_ZERO
            pairs = [self.different(got[o], wanted[o]) if o in got else (1, float("inf")) for o in outputs]
            differ = sum(p[0] for p in pairs)
            first = next((o for o, p in zip(outputs, pairs) if p[0] and o in got), None)
            example = self.described(node, values, got[first], wanted[first]) if first is not None else ""
            size = sum(self.np.asarray(wanted[o]).size for o in outputs)
            bits = [one.bits for one in said] or ["exact"]
            row = self.rows[target][(said[0].op if said else f"folded {node.op}", self.dtype_of(node, values))]
            row.conditions |= {one.condition for one in said}
            row.add(size, differ, max(p[1] for p in pairs), bits, example)
            self.either_zero = False
            if differ:
                wrong |= set(node.outputs)
                if not set(bits) & DOUBTS:
                    keep(node.op)

    def dtype_of(self, node, values):
        """The dtype of the first input of a node that has a known one."""
        for name in list(node.inputs)[:1] + list(node.outputs):
            if name in values:
                return str(self.np.asarray(values[name]).dtype)
        return "?"

    def compare_whole(self, target, kind, both, keep):
        """Adds a row for a graph as a whole, and one for each op of a graph that is equal."""
        wanted, got, report = both
        pairs = [self.different(got[name], wanted[name]) for name in wanted]
        differ = sum(p[0] for p in pairs)
        bits = {one.bits for one in report.nodes}
        size = sum(self.np.asarray(w).size for w in wanted.values())
        self.rows[target][(kind, "")].add(size, differ, max(p[1] for p in pairs), bits, kind)
        if differ and not bits & DOUBTS:
            keep(kind)
        for one in report.nodes if not differ else ():
            self.rows[target][(one.op, "node")].add(1, 0, 0.0, [one.bits])

    def compare_recorded(self, header, *words, bits=None):
        """Runs a script of this folder, which writes a header of tests/ anew, and compares the rows that the release has.
        The test suite compares the recorded ones with qdq. `bits` says how well qdq knows a row; the default is exact."""
        recorded, renewed = ROOT / "tests" / header, self.work / Path(header).name
        script, *more = words
        path = HERE / script
        done = subprocess.run([sys.executable, path, *(renewed if w is None else w for w in more)], cwd=HERE,
                              capture_output=True, text=True, check=False)  # fmt: skip
        row = self.rows["recorded"][(recorded.name, script)]
        if done.returncode or not renewed.exists():
            print(f"{script}: {done.stderr.strip()[-400:]}", file=sys.stderr)
            row.silent += 1
            row.example = "does not run"
            return
        first, second = (self.rows_of(one) for one in (recorded, renewed))
        for old, new in zip(first, second):
            if new.endswith("not in this release"):
                continue
            known = bits(new) if bits and old != new else ["exact"]
            row.add(1, old != new, 0.0, known, f"{old} is now {new}")
        if len(first) != len(second):
            row.add(1, 1, 0.0, ["exact"], f"{len(first)} rows, now {len(second)}")

    @staticmethod
    def rows_of(path):
        """The lines of a header without comments of whole lines, which name releases."""
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("//")]

    # ---- Words

    def keeper(self, target, path, feeds):
        """A function that keeps a model and its inputs below --failed, by a name."""

        def keep(name):
            folder = self.args.failed
            if not folder:
                return
            folder.mkdir(parents=True, exist_ok=True)
            stem = f"{target.partition('@')[0]}_{name}".replace(" ", "_")
            number = len(list(folder.glob(f"{stem}_*{path.suffix}")))
            (folder / f"{stem}_{number}{path.suffix}").write_bytes(path.read_bytes())
            self.np.savez(folder / f"{stem}_{number}.npz", **{str(k): v for k, v in feeds.items()})

        return keep

    def report(self):
        """Prints the tables, examples and rows of evidence; returns true if anything is silent or nothing was compared."""
        for target, rows in self.rows.items():
            print(f"\n{target}, {self.peer}\n")
            print("| " + " | ".join(CELLS) + " |\n" + "|---" * len(CELLS) + "|")
            shown = [(key, row) for key, row in sorted(rows.items()) if not row.is_empty()]
            for (op, dtype), row in shown:
                counts = f"{row.refused} {row.only_peer} {row.only_here}"
                worst = f"{row.worst:.2g}" if row.differ else ""
                words = (op, dtype, row.models, row.equal, row.elements, row.differ, worst, " ".join(sorted(row.bits)))
                print("| " + " | ".join(map(str, (*words, counts, row.verdict()))) + " |")
            self.print_examples(shown)
            self.print_evidence(target, shown)
        compared = sum(row.models for rows in self.rows.values() for row in rows.values())
        silent = sum(row.silent for rows in self.rows.values() for row in rows.values())
        print(f"\n{compared} comparisons, {silent} silent differences")
        return silent or not compared

    @staticmethod
    def print_examples(shown):
        for (op, dtype), row in shown:
            if row.differ or row.silent:
                condition = " ".join(filter(None, sorted(row.conditions)))
                words = filter(None, (op, dtype, condition and f"({condition})", row.verdict()))
                print(f"\n{' '.join(words)}: {row.example or 'no result'}")

    def print_evidence(self, target, shown):
        """The rows for the evidence table: ops by dtype that were equal in all elements."""
        equal, date = defaultdict(list), subprocess.run(["date", "+%F"], capture_output=True, text=True, check=False).stdout.strip()
        for (op, dtype), row in shown:
            if row.models and not row.differ and not row.silent and dtype not in ("", "node", "refused"):
                equal[dtype].append((op, row.elements))
        version = target.partition("@")[2]
        for dtype, ops in equal.items() if version else ():
            names, elements = " ".join(op for op, _ in ops), sum(count for _, count in ops)
            print(f'\nQDQ_RUN_IF(..., "{version}", "{names}", "...", "{dtype}", "{self.peer}", "{elements:,} elements", "{date}"),')
