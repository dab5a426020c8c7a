# SPDX-License-Identifier: Apache-2.0
"""Runs models with the installed ONNX Runtime on the CPU. Other scripts import this."""

import os

import onnxruntime

LEVELS = {"all": "ORT_ENABLE_ALL", "extended": "ORT_ENABLE_EXTENDED", "basic": "ORT_ENABLE_BASIC"}
LEVELS |= {"disabled": "ORT_DISABLE_ALL"}


def session(model, level="disabled", threads=1, entries=()):
    """A session of a model: its path, its bytes, or a ModelProto. `entries` are pairs of session options."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[level])
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4
    for key, value in entries:
        options.add_session_config_entry(key, value)
    if isinstance(model, os.PathLike):
        model = str(model)
    elif not isinstance(model, (str, bytes)):
        model = model.SerializeToString()
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])


def run(model, feeds, **how):
    """Outputs by name. Leaves out feeds that the model does not take."""
    made = session(model, **how)
    taken = {one.name for one in made.get_inputs()}
    names = [one.name for one in made.get_outputs()]
    return dict(zip(names, made.run(names, {k: v for k, v in feeds.items() if k in taken})))
