# SPDX-License-Identifier: Apache-2.0
"""Compares qdq with a float64 evaluator of oneDNN Graph files, written without qdq's sources.

    python3 onednn_graphs.py --qdq BINARY FILE_OR_FOLDER...    runs and compares
    python3 onednn_graphs.py --generate FOLDER --count 10      writes small random graphs
    python3 onednn_graphs.py FILE_OR_FOLDER...                 evaluates only
    python3 onednn_graphs.py --self-check                      the evaluator against torch

Needs numpy. Prints a line for each file (ok, refused with qdq's exit code and message, DIFFERS) and
a summary; exits with 1 if any file differs. An output must lie between the exact result minus and
plus a tolerance, both rounded. The tolerance is the error of the last op in float32 arithmetic (0
if
it is exact); in chains it also includes three times the effect of such errors in all ops before. In
chains 1 of 1024 elements may be outside if the relative L2 distance is at most 3e-3. A line says
`loose` if the tolerance is large compared with the values, so that the comparison shows little.

    --emit-qdq     pass the graph as qdq/1 instead of the oneDNN file
    --specials     NaN, infinities and -0 among the inputs of purely elementwise graphs; formulas
    are
                   taken literally: GELU and Mish of -infinity are NaN
    --keep FOLDER  keep graphs and inputs of files that differ there
    --variants     run with --materialize and on one thread, too: the same bytes
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import onednn_emit
import onednn_eval
import onednn_inputs
from onednn_reader import Graph, NotForward
from onednn_values import DTYPES, INTEGERS, decode_tensor, is_float, read_tensors, round_to
from onednn_values import write_tensors

RUNS_WITH_NOISE = 3
REFUSALS = (3, 4, 5)  # exit codes: bad file, unsupported, limit
EXACT_KINDS = (
    "Quantize Dequantize DynamicQuantize DynamicDequantize TypeCast Reorder StaticReshape Concat "
    "StaticTranspose GenIndex Select MaxPool ReduceMax ReduceMin ReLU Abs End"
).split()


class Expected:
    """An output: its values, and the range that each may lie in."""

    def __init__(self, dtype, values, exact, tolerance):
        self.dtype, self.values = dtype, values
        if exact.dtype == np.bool_:
            self.low, self.high = values & ~(tolerance > 0), values | (tolerance > 0)
            return
        with np.errstate(all="ignore"):
            finite = np.isfinite(exact) & np.isfinite(tolerance) & (tolerance > 0)
            width = np.where(finite, tolerance, 0)
            self.low, self.high = values, values
            if np.any(finite):
                self.low = round_to(np.where(finite, exact - width, exact), dtype)
                self.high = round_to(np.where(finite, exact + width, exact), dtype)
        self.loose = False
        if is_float(dtype):
            size = np.sqrt(np.mean(np.square(np.where(np.isfinite(values), values, 0))))
            step = 4 * onednn_eval.HALF_ULP + np.median(width) if width.size else 0
            self.loose = bool(step > 0.05 * size) and size > 0

    def bad(self, found):
        """Which elements of `found` are out of range."""
        if found.dtype != np.float64:
            return (found < self.low) | (found > self.high)
        low = np.where(np.isnan(self.low), -np.inf, self.low)
        high = np.where(np.isnan(self.high), np.inf, self.high)
        inside = (found >= low) & (found <= high) & ~np.isnan(self.values)
        nan = np.isnan(self.values) | np.isnan(self.low) | np.isnan(self.high)
        return ~(inside | (found == self.values) | (np.isnan(found) & nan))


def expect(graph, inputs, seed):
    base = onednn_eval.run(graph, inputs)
    inexact = sum(node.kind not in EXACT_KINDS for node in graph.nodes)
    spreads = {i: 0 for i in base}
    runs = 0 if len(graph.nodes) < 2 or not inexact else RUNS_WITH_NOISE
    for turn in range(min(runs, 1) if graph.elements > 2**24 else runs):
        noisy = onednn_eval.run(graph, inputs, np.random.default_rng([*seed, turn]))
        for i, (_, exact, _) in base.items():
            with np.errstate(all="ignore"):
                moved = np.abs(noisy[i][1].astype(np.float64) - exact.astype(np.float64))
            moved = np.where(np.isfinite(moved), moved, 0)
            spreads[i] = np.maximum(spreads[i], moved)
    expected = {}
    for i, (values, exact, err) in base.items():
        typical = np.sqrt(np.mean(np.square(spreads[i])))
        tolerance = np.broadcast_to(err + 3 * spreads[i] + typical, exact.shape)
        expected[i] = Expected(graph.dtypes[i], values, exact, tolerance)
    return expected, inexact > 1


def distance(found, wanted):
    """Relative, in L2."""
    with np.errstate(all="ignore"):
        both = np.isfinite(found) & np.isfinite(wanted)
        off = np.where(both, found - wanted, 0).astype(np.float64)
        size = np.sqrt(np.sum(np.square(np.where(both, wanted, 0).astype(np.float64))))
        return np.sqrt(np.sum(off * off)) / max(size, 1e-30)


def compare(name, want, row, chain):
    """Why an output is wrong, or None."""
    if row is None:
        return f"{name} is missing"
    try:
        found = decode_tensor(row, want.dtype)
    except ValueError as error:
        return f"{name}: {error}"
    if found.shape != want.values.shape:
        return f"{name}: shape {found.shape}, wanted {want.values.shape}"
    bad = want.bad(found)
    count = int(bad.sum())
    if count == 0:
        return None
    off = np.where(bad, found.astype(np.float64) - want.values.astype(np.float64), 0)
    nans = bad & ~np.isfinite(off)
    relative = distance(found, want.values) if found.dtype != np.bool_ else 1
    if chain and count * 1024 <= found.size and relative <= 3e-3 and not nans.any():
        return None
    worst = np.unravel_index(np.argmax(np.where(nans, np.inf, np.abs(off))), bad.shape)
    at = ", ".join(str(int(i)) for i in worst)
    bounds = f"{want.low[worst]:.9g}..{want.high[worst]:.9g}"
    return (
        f"{name} {want.dtype}: {count} of {found.size} differ, relative L2 {relative:.3g}, worst "
        f"[{at}]: found {found[worst]:.9g}, expected {want.values[worst]:.9g} ({bounds})"
    )


def saturated(graph, expected):
    """Whether most integers are at an end of their range, so that errors would not show."""
    for i, want in expected.items():
        if want.dtype in ("s8", "u8") and want.values.size > 32 and graph.dtypes[i] in INTEGERS:
            ends = np.isin(want.values, INTEGERS[want.dtype])
            if ends.mean() > 0.7 and not all(v in (0, 1) for v in np.unique(want.values)):
                return True
    return False


def prepare(graph, seed, specials=False):
    """Inputs of a file, seeded by its name, and smaller ones if outputs would be at the ends of
    their range."""
    seed = [seed, zlib.crc32(graph.name.encode())]
    for spread in (1.0, 0.2, 0.04):
        inputs = onednn_inputs.fill(graph, seed, spread, specials)
        expected, chain = expect(graph, inputs, seed)
        if not saturated(graph, expected):
            break
    return inputs, expected, chain


def command_line(options, graph, path, inputs, folder):
    target = path
    if options.emit_qdq:
        target = folder / "graph.json"
        onednn_emit.write(graph, target)
    named = {f"t{i}": (values, graph.dtypes[i]) for i, values in inputs.items()}
    command = [options.qdq, "run", str(target)]
    if options.npy:
        for name, (values, dtype) in named.items():
            kind = np.float32 if is_float(dtype) else DTYPES[dtype][2]
            np.save(folder / f"{name}.npy", np.asarray(values).astype(kind))
            command += ["-i", f"{name}={folder / name}.npy"]
    else:
        write_tensors(folder / "inputs.safetensors", named)
        command += ["-i", str(folder / "inputs.safetensors")]
    return command + options.extra


def start(command, out, timeout):
    full = [*command, "-o", str(out)]
    return subprocess.run(full, capture_output=True, text=True, timeout=timeout, check=False)


def message_of(done, folder):
    text = done.stderr.strip().replace(str(folder), "")
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or [""]
    return lines[0][:300]


def run_qdq(options, graph, path, prepared, folder):
    inputs, expected, chain = prepared
    command = command_line(options, graph, path, inputs, folder)
    done = start(command, folder / "outputs.safetensors", options.timeout)
    if done.returncode < 0:
        return "DIFFERS", f"killed by signal {-done.returncode}"
    if done.returncode not in (0, *REFUSALS):
        return "DIFFERS", f"exit {done.returncode}: {message_of(done, folder)}"
    if done.returncode:
        return "refused", f"exit {done.returncode}: {message_of(done, folder)}"
    rows = read_tensors(folder / "outputs.safetensors")
    for i, want in expected.items():
        why = compare(f"t{i}", want, rows.get(f"t{i}"), chain)
        if why:
            return "DIFFERS", why
    for more in (["--materialize"], ["--threads", "1"]) if options.variants else ():
        done = start([*command, *more], folder / "again.safetensors", options.timeout)
        same = (folder / "again.safetensors").read_bytes() if done.returncode == 0 else b""
        if same != (folder / "outputs.safetensors").read_bytes():
            return "DIFFERS", f"not the same bytes with {' '.join(more)}"
    loose = [f"t{i}" for i, want in expected.items() if getattr(want, "loose", False)]
    return "ok", f"loose: {', '.join(loose)}" if loose else ""


def check(options, path):
    """A word and a sentence about the file."""
    try:
        graph = Graph(path)
    except NotForward as error:
        return "skipped", f"not a forward kind: {error}"
    kinds = {node.kind for node in graph.nodes}
    if options.only and not kinds & set(options.only):
        return "skipped", ""
    if graph.elements > options.max_elements:
        return "skipped", f"{graph.elements} elements"
    prepared = prepare(graph, options.seed, options.specials)
    summary = ", ".join(f"t{i} {w.dtype} {w.values.shape}" for i, w in prepared[1].items())
    if not options.qdq:
        return "evaluated", summary
    with tempfile.TemporaryDirectory() as folder:
        result = run_qdq(options, graph, path, prepared, Path(folder))
        if result[0] == "DIFFERS" and options.keep:
            kept = Path(options.keep) / path.stem
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            shutil.copy(path, kept / path.name)
        if result[0] == "DIFFERS":
            result = result[0], f"{'+'.join(sorted(kinds))}: {result[1]}"
        return result


def files_of(paths):
    for path in map(Path, paths):
        yield from sorted(path.rglob("*.json")) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--qdq")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-elements", type=int, default=64_000_000)
    parser.add_argument("--only", action="append", metavar="KIND")
    parser.add_argument("--emit-qdq", action="store_true")
    parser.add_argument("--npy", action="store_true", help="inputs as .npy files")
    parser.add_argument("--specials", action="store_true", help="NaN and infinities among inputs")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--extra", action="append", default=[], help="an argument for qdq run")
    parser.add_argument("--quiet", action="store_true", help="no line for what is ok or skipped")
    parser.add_argument("--generate", metavar="FOLDER")
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--self-check", action="store_true")
    options = parser.parse_args()
    if options.self_check:
        import onednn_self_check

        return onednn_self_check.main()
    if options.generate:
        import onednn_generate

        made = onednn_generate.generate(Path(options.generate), options.count, options.seed)
        print(f"{made} files")
        return 0
    counts = Counter()
    for path in files_of(options.paths):
        word, why = check(options, path)
        counts[word] += 1
        if not options.quiet or word in ("DIFFERS", "refused"):
            print(f"{word} {path.name}" + (f": {why}" if why else ""), flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())) or "no files")
    done = counts["ok"] if options.qdq else counts["evaluated"]
    return 1 if counts["DIFFERS"] or not done else 0


if __name__ == "__main__":
    sys.exit(main())
