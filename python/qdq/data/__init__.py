# SPDX-License-Identifier: Apache-2.0
"""Sources of samples for `qdq.calibrate`, `quantize_graph(data=...)` and all functions that take an iterable of samples:
`pip install 'qdq[data]'` (docs/many_machines.md).

    state = qdq.calibrate("model.onnx", qdq.data.images("pictures", size=224), state="all.state")

A source yields samples one by one, so that memory holds a sample (of tables and loaders a batch), and the names of the
files. The state has the same bytes for any order of the samples.
"""

from __future__ import annotations

from ._arrays import files, webdataset
from ._images import Picture, images
from ._loaders import loader
from ._source import Source
from ._tables import hugging_face, parquet

__all__ = ["Picture", "Source", "files", "hugging_face", "images", "loader", "parquet", "webdataset"]
