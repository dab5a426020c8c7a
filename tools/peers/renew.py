# SPDX-License-Identifier: Apache-2.0
"""Compares a release of a peer with qdq, bit by bit, and prints what the evidence of qdq should say.

    python3 renew.py PEER VERSION --library BUILD/libqdq.so.0 [--release 1.32] [--cpu vnni] [--folder FOLDER]
                     [--count 12] [--graphs 300] [--seed 1] [--only WORDS] [--failed FOLDER] [--corpus FOLDER]

| PEER | VERSION is a release of | target | cases |
|---|---|---|---|
| ort | onnxruntime, "1.32.0" | onnx, ort | onnx without optimizations: onnx_reader.py, onnx_float_bits.py, element_models.py; ort with all: ort_graphs.py, ort_conv_models.py, and a fifth as many recurrent ops; recorded checksums |
| onnx | onnx, "1.23.2" | onnx@spec | the same models by its reference implementation; recorded checksums |
| onednn | onednn, "2026.1.0" | onednn | random graphs of all forward kinds and the files of --corpus, by the library; recorded checksums |
| torchao | torchao, "0.18.0" | torchao | random Quantize and Dequantize (torchao_wide.py) and computed parameters; recorded checksums |
| ml_dtypes | ml_dtypes, "0.6.0" | core | Cast of every value of at most 16 bits (casts.py); recorded checksums |

FOLDER gets an environment with the release, and is kept for the next run. RELEASE and CPU name the version of the
target that stands for it; the default is the newest one, and for ort the release itself. Models for ort have the newest
opset that the release takes.

Prints a row for each op and dtype: models and elements compared, how many differ, the greatest difference, and what
`qdq check` says of the node. A row ends in

    SILENT    bits differ although qdq says that they are exact or read
    WARNED    bits are equal although qdq says that they are close or unknown

Below are the first difference of each row, reduced to its node, and rows of evidence for ops without one. The exit
status is 1 if any row is silent, or if nothing was compared.
"""

import argparse
import importlib
import logging
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import renewal

PEERS = {"ort": "onnxruntime", "onnx": "onnx", "onednn": "onednn", "torchao": "torchao", "ml_dtypes": "ml_dtypes"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("version", help='release on PyPI, "1.32.0"')
    parser.add_argument("--library", type=Path, required=True, help="libqdq.so.0 of a build")
    parser.add_argument("--release", help="version of the target")
    parser.add_argument("--cpu", default="vnni", help="kernels that this CPU takes in ONNX Runtime (vnni)")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "qdq-peers")
    parser.add_argument("--count", type=int, default=12, help="models of each kind (12)")
    parser.add_argument("--graphs", type=int, default=300, help="graphs for target ort (300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds with this in their name")
    parser.add_argument("--corpus", type=Path, help="folder of oneDNN Graph files")
    parser.add_argument("--failed", type=Path, help="where models with silent differences are kept")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    peer = importlib.import_module(f"renew_{args.peer}")
    args.release = args.release or peer.release(args.version)
    if args.inside:
        logging.disable(logging.WARNING)
        warnings.simplefilter("ignore")
        return 1 if peer.survey(args).report() else 0
    name = f"{PEERS[args.peer]}-{args.version}"
    python = renewal.environment(args.folder, name, peer.packages(args.version))
    more = {"PYTHONPATH": f"{renewal.ROOT / 'python'}{os.pathsep}{renewal.HERE}", "QDQ_LIBRARY": str(args.library.resolve())}
    more |= getattr(peer, "variables", lambda _folder: {})((args.folder / name).resolve())
    return subprocess.run([python, __file__, *sys.argv[1:], "--inside"], env={**os.environ, **more}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
