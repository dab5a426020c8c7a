# SPDX-License-Identifier: Apache-2.0
"""Quantizes with quantize_static of ONNX Runtime: QDQ, uint8 values, int8 weights with a scale for each channel."""

import logging

import onnx
from onnxruntime import quantization


class Reader(quantization.CalibrationDataReader):
    def __init__(self, name, samples):
        self.feeds = iter([{name: samples[i:i + 1]} for i in range(len(samples))])

    def get_next(self):
        return next(self.feeds, None)


def static(model, samples, folder, method="MinMax"):
    paths = [folder / "float.onnx", folder / "static.onnx"]
    onnx.save(model, paths[0])
    logging.disable(logging.WARNING)
    quantization.quantize_static(paths[0], paths[1], Reader(model.graph.input[0].name, samples), per_channel=True,
                                 quant_format=quantization.QuantFormat.QDQ,
                                 calibrate_method=getattr(quantization.CalibrationMethod, method),
                                 activation_type=quantization.QuantType.QUInt8,
                                 weight_type=quantization.QuantType.QInt8)
    return onnx.load(paths[1])
