#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `qdq calibrate` and the calibrators of ONNX Runtime on the same samples, one thread each, in turn.

    calibrators.py MODEL.onnx --qdq QDQ_BINARY [--samples 400] [--shape 1,3,48,192] [--rounds 3]

Needs an environment with onnx and onnxruntime. Each run is a process of its own: the least time of the rounds, and the largest
resident memory.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

METHODS = ("MinMax", "Entropy", "Percentile")


def calibrate(model, folder, method):
    """Runs in a process: a calibrator of ONNX Runtime."""
    from onnxruntime.quantization import CalibrationMethod
    from onnxruntime.quantization.calibrate import CalibrationDataReader, create_calibrator
    import onnxruntime

    class Reader(CalibrationDataReader):
        def __init__(self):
            name = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()[0].name
            self.samples = ({name: np.load(path)} for path in sorted(Path(folder).glob("*.npy")))

        def get_next(self):
            return next(self.samples, None)

    # The calibrators make their own sessions.
    options = onnxruntime.SessionOptions
    onnxruntime.SessionOptions = lambda: one_thread(options())
    with tempfile.TemporaryDirectory() as made:
        calibrator = create_calibrator(model, augmented_model_path=os.path.join(made, "augmented.onnx"),
                                       calibrate_method=getattr(CalibrationMethod, method))  # fmt: skip
        calibrator.collect_data(Reader())
        print(len(calibrator.compute_data().data))


def one_thread(options):
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


def measure(words):
    """Returns seconds and MB of a process."""
    began, memory = time.monotonic(), 0
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip
    while process.poll() is None:
        try:
            found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"))
            memory = max(memory, int(found[1]) / 1000)
        except (OSError, TypeError):
            pass  # it has ended
        time.sleep(0.005)
    if process.returncode:
        sys.exit(f"{words[:3]} exits with {process.returncode}")
    return time.monotonic() - began, memory


def main():
    if sys.argv[1:2] == ["--calibrate"]:
        calibrate(*sys.argv[2:])
        return
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model")
    options.add_argument("--qdq", required=True)
    options.add_argument("--samples", type=int, default=400)
    options.add_argument("--shape", default="1,3,48,192")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    shape = [int(dim) for dim in given.shape.split(",")]
    with tempfile.TemporaryDirectory(prefix="qdq-calibrators-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        rng = np.random.default_rng(1)
        for i in range(given.samples):
            np.save(folder / f"data/{i:05}.npy", rng.normal(0, 1, shape).astype(np.float32))
        runs = {"qdq calibrate": [given.qdq, "calibrate", given.model, "--data", folder / "data", "--threads", 1, "-o", folder / "s"]}
        for method in METHODS:
            runs[f"ONNX Runtime, {method}"] = [sys.executable, __file__, "--calibrate", given.model, folder / "data", method]
        best = {}
        for _ in range(given.rounds):
            for label, words in runs.items():
                seconds, memory = measure(words)
                before = best.get(label, (float("inf"), 0))
                best[label] = min(before[0], seconds), max(before[1], memory)
        for label, (seconds, memory) in best.items():
            print(f"| {label} | {seconds:.1f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
