# SPDX-License-Identifier: Apache-2.0
"""Quantizes networks whose batch is open with qdq, runs the written models in ONNX Runtime with several batches, and
compares each sample with the same sample alone.

    python3 onnx_open_dims.py --qdq QDQ_BINARY [--seeds N] [--targets ort,tensorrt]

Samples have equal bits, or differ by the rounding of a float product: ONNX Runtime adds the products of one row in
another order than those of several (TOLERANCE of the greatest number).
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import ort_session

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/cli"))
from onnx_writing import NETWORKS, declared  # noqa: E402

SAMPLES, BATCHES, TOLERANCE = 16, (1, 2, 3, 16), 1e-6


def compare(path, x, axis, level):
    """The greatest difference of a sample in a batch and alone, as a fraction of the greatest number."""
    made = ort_session.session(path, level)
    name = made.get_inputs()[0].name
    alone = np.concatenate([made.run(None, {name: np.take(x, [i], axis)})[0] for i in range(SAMPLES)])
    worst = 0.0
    for count in BATCHES:
        (y,) = made.run(None, {name: np.take(x, range(count), axis)})
        assert y.shape == (count, *alone.shape[1:]), y.shape
        worst = max(worst, float(np.max(np.abs(y - alone[:count])) / np.max(np.abs(alone))))
    return worst


def try_network(binary, network, seed, target, folder):
    model, written = folder / "model.onnx", folder / "quantized.onnx"
    model.write_bytes(network(seed))
    dims = declared(model.read_bytes(), 11)["x"]
    axis = dims.index("N")
    x = np.random.default_rng(seed).standard_normal([SAMPLES if dim == "N" else dim for dim in dims]).astype(np.float32)
    (folder / "data").mkdir()
    for i in range(SAMPLES):
        np.save(folder / f"data/{i:02}.npy", np.take(x, [i], axis))
    done = subprocess.run([binary, "quantize", model, "--data", folder / "data", "-t", target, "-o", written],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        return False, done.stderr.strip()[:300]
    same = [declared(path.read_bytes(), kind) for path in (model, written) for kind in (11, 12)]
    if same[:2] != same[2:]:
        return False, f"declares {same[2]} {same[3]}, wanted {same[0]} {same[1]}; {done.stderr.strip()[:300]}"
    worst = max(compare(written, x, axis, level) for level in ("disabled", "all"))
    return worst <= TOLERANCE, f"within {worst:.2g}" if worst else "equal"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--qdq", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--targets", default="ort,tensorrt")
    options = parser.parse_args()
    kept = tried = 0
    for network in NETWORKS:
        for seed in range(1, options.seeds + 1):
            for target in options.targets.split(","):
                with tempfile.TemporaryDirectory() as folder:
                    fine, why = try_network(options.qdq, network, seed, target, Path(folder))
                print(f"{network.__name__} {seed} {target}: {'ok' if fine else 'FAIL'}: {why}", flush=True)
                kept, tried = kept + fine, tried + 1
    print(f"{kept} of {tried} open batches kept")
    return kept != tried


if __name__ == "__main__":
    sys.exit(main())
