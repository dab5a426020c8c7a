# SPDX-License-Identifier: Apache-2.0
"""Types of parameters that several modules share."""

import os
from typing import Any, Dict, Literal, Mapping, Protocol, Sequence, Union

import numpy as np
import numpy.typing as npt

# An array of any dtype and shape.
Array = npt.NDArray[Any]

# What numpy reads as an array: arrays, numbers, nested lists.
ArrayLike = npt.ArrayLike

# The library's names of dtypes.
DtypeName = Literal[
    "float32", "float16", "bfloat16", "float64", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
    "uint64", "int4", "uint4", "int2", "uint2", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
    "float8_e8m0", "float4_e2m1", "bfloat8_b", "bfloat4_b",
]  # fmt: skip


class TorchDtype(Protocol):
    """A torch.dtype."""

    @property
    def is_floating_point(self) -> bool: ...

    @property
    def itemsize(self) -> int: ...


# A dtype by name, or as a dtype of numpy, ml_dtypes or torch.
Dtype = Union[DtypeName, "np.dtype[Any]", type, TorchDtype]

# Numbers of an attribute.
Floats = Union[float, Sequence[float], Array]
Ints = Union[int, Sequence[int], Array]

# Where a value lies on a Tenstorrent device (docs/format.md, section 9).
MemoryConfig = Union[str, Mapping[str, Any]]
DeviceLayout = Literal["TILE", "ROW_MAJOR"]

# Inputs and results of a run, by name.
Inputs = Mapping[str, Any]
Outputs = Dict[str, Array]

PathLike = Union[str, "os.PathLike[str]"]

# Layouts and storage of a plan.
PlanLayout = Literal["rows", "tiles"]
FloatStorage = Literal["declared", "bfloat16"]
