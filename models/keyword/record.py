# SPDX-License-Identifier: Apache-2.0
"""Records what ai-edge-litert and tflite-micro (PyPI) compute for the frames of features.safetensors.

    PYTHONPATH=tests/cli python3 models/keyword/record.py

x86-64 runs the versions of target litert for x86; its builtin and XNNPACK kernels for Arm are recorded on aarch64."""

import platform
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from harness import Tensor, safetensors_bytes

HERE = Path(__file__).parent
MODEL = str(HERE / "keyword.tflite")
OUTPUTS = "words", "sum"


def litert(resolver, frames):
    interpreter = Interpreter(model_path=MODEL, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    x, outputs = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()
    for frame in frames:
        interpreter.set_tensor(x, frame[None])
        interpreter.invoke()
        yield [interpreter.get_tensor(one["index"]).copy() for one in outputs]


def tflm(frames):
    from tflite_micro.python.tflite_micro import runtime
    interpreter = runtime.Interpreter.from_file(MODEL)
    for frame in frames:
        interpreter.set_input(frame[None], 0)
        interpreter.invoke()
        yield [interpreter.get_output(i).copy() for i in range(len(OUTPUTS))]


def tensors(named):
    return safetensors_bytes({name: Tensor("int8", list(one.shape), one.tobytes()) for name, one in named.items()})


def main():
    frames = np.random.default_rng(3).integers(-128, 128, size=(8, 16, 10, 1)).astype(np.int8)
    (HERE / "features.safetensors").write_bytes(tensors({"features": frames}))
    cpu = "x86" if platform.machine() == "x86_64" else "arm64"
    runs = {"litert-reference": litert(OpResolverType.BUILTIN_REF, frames),
            f"litert-builtin-{cpu}": litert(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, frames),
            f"litert-xnnpack-{cpu}": litert(OpResolverType.AUTO, frames), "tflm": tflm(frames)}
    for name, run in runs.items():
        outputs = [np.concatenate(one) for one in zip(*run)]
        (HERE / f"{name}.safetensors").write_bytes(tensors(dict(zip(OUTPUTS, outputs))))


if __name__ == "__main__":
    main()
