# SPDX-License-Identifier: Apache-2.0
"""Reads the tiles of values where a run left them."""

import ctypes

import numpy as np

from . import _dtypes as dtypes
from ._library import ArgumentError, CError, CTilesView, lib

_FACE = 16  # elements of a side of a face
_FACES = 2  # faces of a side of a tile


def check(names):
    """Returns the names of values as a list. Raises ArgumentError for anything but a list of str."""
    if names is None or isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
        return list(names or ())
    found = repr(names) if isinstance(names, str) else f"of type {type(names).__name__}"
    raise ArgumentError(f"tiles is {found}, wanted a list of names of values; an input called 'tiles' goes into a dict")


def view(handle, key, name):
    """Returns the tiles of a kept value in the memory of an exec, which a run fills later. Raises ArgumentError if they
    are rows."""
    made, error = CTilesView(), CError()
    lib.qdq_exec_tiles(handle, key, ctypes.byref(made), error)
    if error.status:
        raise ArgumentError(f"value '{name}' lies in rows, so it has no tiles; compile with layout='tiles'")
    return made


def copied(one):
    """Returns a copy of the tiles of a view: an array of shape [tiles, faces, 16, 16]."""
    kind = dtypes.numpy_of(dtypes.name_of(one.dtype))
    faces, size = _FACES * _FACES, _FACE * _FACE
    if one.tile_bytes == faces * size * kind.itemsize:
        made = np.empty((one.tiles, faces, _FACE, _FACE), kind)
        ctypes.memmove(made.ctypes.data, one.data, made.nbytes)
        return made
    # Elements that share bytes or an exponent: the library takes them apart, padding included, in rows.
    rows = np.empty(one.padded_shape.tuple(), kind)
    lib.qdq_untilize(one.dtype, one.padded_shape, one.data, rows.ctypes.data)
    side = _FACES * _FACE
    down, across = rows.shape[-2] // side, rows.shape[-1] // side
    parts = rows.reshape(-1, down, _FACES, _FACE, across, _FACES, _FACE)
    return parts.transpose(0, 1, 4, 2, 5, 3, 6).reshape(one.tiles, faces, _FACE, _FACE)
