# SPDX-License-Identifier: Apache-2.0
"""Quantizes networks of PyPI packages with onnxruntime.quantization in each of its usual settings, and compares qdq with ONNX
Runtime on the results: on target onnx node by node without optimizations, on target ort with all of them.

    QDQ_LIBRARY=BUILD/libqdq.so.0 PYTHONPATH=QDQ/python python3 ort_quantizer_outputs.py --into FOLDER [--release 1.32] [--cpu vnni]
        [--only WORDS] [--setting WORDS] [--failed FOLDER]

pip downloads the packages to FOLDER; quantized models are kept there for the next run. Prints a line for each model and target:

    equal     every bit of every output is the same
    warned    other bits, and qdq says close or unknown of a node that the first differing value comes from (target onnx), or of a
              node of the graph (target ort)
    SILENT    other bits, and no such word
    refused   by qdq, with its first finding

The exit status is 1 if any is silent, or if nothing was compared. Needs numpy, onnx, onnxruntime, onnx_ir and sympy.
"""

import argparse
import logging
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
import onnx_packages
import onnxruntime
import ort_session
import renew_ort
from onnxruntime import quantization
from onnxruntime.quantization import QuantFormat, QuantType
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

U8, S8, U16, S16 = QuantType.QUInt8, QuantType.QInt8, QuantType.QUInt16, QuantType.QInt16


def static(form, activations, weights, per_channel=False, reduce_range=False, **extra):
    def make(model, feeds, out):
        quantization.quantize_static(model, out, onnx_packages.Reader(feeds), quant_format=form, per_channel=per_channel,
                                     reduce_range=reduce_range, activation_type=activations, weight_type=weights,
                                     extra_options=extra)  # fmt: skip

    return make


def dynamic(weights, **words):
    return lambda model, feeds, out: quantization.quantize_dynamic(model, out, weight_type=weights, **words)


def blocks(bits, size, level, symmetric, form=QuantFormat.QOperator):
    def make(model, feeds, out):
        source = onnx.load(model)
        if form == QuantFormat.QDQ:
            source = onnx.version_converter.convert_version(source, 21)  # DequantizeLinear by blocks
        maker = MatMulNBitsQuantizer(source, bits=bits, block_size=size, is_symmetric=symmetric, accuracy_level=level, quant_format=form)
        maker.process()
        maker.model.save_model_to_file(out)

    return make


QDQ, QOP = QuantFormat.QDQ, QuantFormat.QOperator
SETTINGS = {
    "qdq u8u8": static(QDQ, U8, U8),
    "qdq u8s8 per channel": static(QDQ, U8, S8, per_channel=True),
    "qdq s8s8": static(QDQ, S8, S8),
    "qdq s8s8 symmetric, per channel": static(QDQ, S8, S8, per_channel=True, ActivationSymmetric=True),
    "qdq u8s8 reduced range": static(QDQ, U8, S8, per_channel=True, reduce_range=True),
    "qdq u16s8": static(QDQ, U16, S8),
    "qdq s16s16": static(QDQ, S16, S16, UseQDQContribOps=True),
    "qdq u8s8 dedicated": static(QDQ, U8, S8, DedicatedQDQPair=True, QDQKeepRemovableActivations=True),
    "qdq u8s8 bias in float": static(QDQ, U8, S8, QuantizeBias=False),
    "qoperator u8u8": static(QOP, U8, U8),
    "qoperator u8s8 per channel": static(QOP, U8, S8, per_channel=True),
    "qoperator s8s8": static(QOP, S8, S8),
    "dynamic u8": dynamic(U8),
    "dynamic s8 per channel": dynamic(S8, per_channel=True, reduce_range=True),
    "blocks 4 bits of 32": blocks(4, 32, 0, False),
    "blocks 4 bits of 128, level 4": blocks(4, 128, 4, True),
    "blocks 4 bits of 16, level 1": blocks(4, 16, 1, False),
    "blocks 8 bits of 64, level 4": blocks(8, 64, 4, False),
    "blocks 2 bits of 32, level 4": blocks(2, 32, 4, False),
    "blocks 4 bits of 32, qdq": blocks(4, 32, 4, False, QDQ),
}  # fmt: skip


def prepared(model, folder):
    """The network as quantizers want it: weights as initializers, opset 13, shapes."""
    path = folder / "prepared.onnx"
    try:
        quantization.shape_inference.quant_pre_process(str(model), str(path), skip_symbolic_shape=True, skip_optimization=True)
    except Exception:  # it fails on some models; the original serves as well
        path.write_bytes(model.read_bytes())
    onnx_packages.make_quantizable(path)
    return path


def quantized(name, network, args):
    """Pairs of a setting and a path of a model, and inputs."""
    folder = args.into / name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    feeds = [{port: make(rng) for port, make in network.feeds.items()} for _ in range(3)]
    source = None
    for setting, make in SETTINGS.items():
        if args.setting not in setting:
            continue
        out = folder / (setting.replace(" ", "_").replace(",", "") + ".onnx")
        refused = out.with_suffix(".refused")
        if not out.exists() and not refused.exists():
            source = source or prepared(onnx_packages.extract(network, args.into), folder)
            try:
                make(str(source), feeds[1:], str(out))
                if [n.op_type for n in onnx.load(out).graph.node] == [n.op_type for n in onnx.load(source).graph.node]:
                    raise ValueError("nothing was quantized")
            except Exception as why:  # some networks are beyond some settings
                out.unlink(missing_ok=True)
                refused.write_text(str(why), encoding="utf-8")
        if out.exists():
            yield setting, out, feeds[0]
        else:
            yield setting, None, refused.read_text(encoding="utf-8")


def verdict(rows):
    """Of the rows that one model added to a survey."""
    if any(row.silent for row in rows):
        return "SILENT", next(row.example for row in rows if row.silent)
    if any(row.differ for row in rows):
        worst = max(row.worst for row in rows)
        return "warned", f"{sum(row.differ for row in rows)} of {sum(row.elements for row in rows)} elements, at most {worst:.2g}"
    if any(row.models for row in rows):
        return "equal", ""
    if any(row.refused for row in rows):
        return "refused by both", ""
    return ("refused by peer", "") if any(row.only_peer for row in rows) else ("refused", "")


def compare(survey, path, feeds):
    model = onnx.load(path)
    for target in ("onnx", "ort"):
        if survey.args.target not in target:
            continue
        version = f"{target}@{survey.args.release}-{survey.args.cpu}"
        survey.rows[version].clear()
        if target == "onnx":
            survey.compare_unoptimized("model", version, model, feeds, ort_session.run)
        else:
            survey.compare_optimized("model", version, model, feeds)
        rows = dict(survey.rows[version])
        word, why = verdict(list(rows.values()))
        if word == "SILENT":
            why = ", ".join(f"{op} {dtype}" for (op, dtype), row in rows.items() if row.silent)
        elif word == "warned":
            why += ": " + ", ".join(f"{op} {dtype}" for (op, dtype), row in rows.items() if row.differ)[:100]
        elif word == "refused":
            why = survey.refusal
        yield target, word, why


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=Path(tempfile.gettempdir()) / "qdq-networks")
    parser.add_argument("--release", default="1.32")
    parser.add_argument("--cpu", default="vnni")
    parser.add_argument("--only", default="", help="networks with this in their name")
    parser.add_argument("--setting", default="", help="settings with this in their name")
    parser.add_argument("--target", default="", help="onnx or ort (both)")
    parser.add_argument("--failed", type=Path, help="where models with silent differences are kept")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    survey = renew_ort.Optimized(args, f"ONNX Runtime {onnxruntime.__version__}")
    counts = Counter()
    for name, network in onnx_packages.MODELS.items():
        for setting, path, feeds in quantized(name, network, args) if args.only in name else ():
            if path is None:
                print(f"{name}, {setting}: not written: {feeds.splitlines()[0][:100] if feeds else ''}", flush=True)
                continue
            for target, word, why in compare(survey, path, feeds):
                counts[target, word] += 1
                print(f"{name}, {setting}: {target} {word}{': ' if why else ''}{why}", flush=True)
    for (target, word), count in sorted(counts.items()):
        print(f"{target} {word}: {count}")
    return 1 if not counts or any(word == "SILENT" for _, word in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
