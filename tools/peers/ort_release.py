# SPDX-License-Identifier: Apache-2.0
"""What a release of ONNX Runtime takes, and runs of it that may end the process."""

import os
import pickle

import onnx
import onnxruntime


def newest(field, start):
    """The newest opset ("opset") or IR version ("ir") up to `start` that the release takes."""
    ends = [[onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1])] for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", *ends)
    for version in range(start, 1, -1):
        opsets = [onnx.helper.make_opsetid("", version if field == "opset" else 13)]
        model = onnx.helper.make_model(graph, ir_version=version if field == "ir" else 8, opset_imports=opsets)
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            return version
        except Exception:  # each of its errors has another class
            continue
    return start


class Release:
    def __init__(self):
        onnxruntime.set_default_logger_severity(4)
        self.opset = newest("opset", onnx.defs.onnx_opset_version())
        self.ir = newest("ir", onnx.IR_VERSION)

    def lowered(self, model):
        """The model at an opset and an IR version that the release takes."""
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        copy.ir_version = min(copy.ir_version, self.ir)
        for one in copy.opset_import:
            if one.domain in ("", "ai.onnx"):
                one.version = min(one.version, self.opset)
        return copy


def apart(function, *words, **named):
    """The result of a function in a process of its own, which some releases end with a signal."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        try:
            result = pickle.dumps(function(*words, **named))
        except Exception as why:  # each of its errors has another class
            result = pickle.dumps(RuntimeError(str(why)))
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(result)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    result = pickle.loads(text) if text else RuntimeError("ends with a signal")
    if isinstance(result, RuntimeError):
        raise result
    return result
