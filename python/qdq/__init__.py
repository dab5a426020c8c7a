# SPDX-License-Identifier: Apache-2.0
"""Runs quantized tensor graphs the way a given backend would, bit for bit.

    g = qdq.load("model_int8.onnx", dims={"batch": 1})
    print(g.check("tensorrt"))
    y = g.run(x=x, target="ort@1.31-avx2")["y"]

docs/python.md has more. Failures are exceptions of qdq.Error.
"""

from . import data, distributed, testing
from ._accuracy import Accuracy, OutputAccuracy, Pair, explain_accuracy
from ._buffers import Buffer, Page
from ._builder import Builder, Value
from ._calibrate import calibrate
from ._compare import Comparison, Difference
from ._contents import Initializers, Node, ValueInfo
from ._devices import Device, devices
from ._explain import Explanation, bisect
from ._frames import StateInfo
from ._functions import dequantize, dynamic_quantize, quantize, requantize
from ._graph import Graph, load, parse
from ._library import (
    ArgumentError,
    Error,
    FileError,
    GraphError,
    LimitError,
    ParseError,
    UnsupportedError,
    targets,
    version,
)
from ._metric import Right
from ._plan import Plan, Step, TensorInfo
from ._quantize import Correction, Quantized, QuantizedNode, Site, quantize_graph
from ._report import Change, Finding, NodeBits, Report
from ._state import State, StateError, Statistics, histogram_edges, merge
from ._torch import from_torch

__version__ = version()
__all__ = [
    "Accuracy",
    "ArgumentError",
    "Buffer",
    "Builder",
    "Change",
    "Comparison",
    "Correction",
    "Device",
    "Difference",
    "Error",
    "Explanation",
    "FileError",
    "Finding",
    "Graph",
    "GraphError",
    "Initializers",
    "LimitError",
    "Node",
    "NodeBits",
    "OutputAccuracy",
    "Page",
    "Pair",
    "ParseError",
    "Plan",
    "Quantized",
    "QuantizedNode",
    "Report",
    "Right",
    "Site",
    "State",
    "StateError",
    "StateInfo",
    "Statistics",
    "Step",
    "TensorInfo",
    "UnsupportedError",
    "Value",
    "ValueInfo",
    "bisect",
    "calibrate",
    "data",
    "dequantize",
    "devices",
    "distributed",
    "dynamic_quantize",
    "explain_accuracy",
    "from_torch",
    "histogram_edges",
    "load",
    "merge",
    "parse",
    "quantize",
    "quantize_graph",
    "requantize",
    "targets",
    "testing",
    "version",
]
