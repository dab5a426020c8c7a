# SPDX-License-Identifier: Apache-2.0
"""Reads the tiles of values where a run left them."""

from __future__ import annotations

import ctypes
from typing import Any, Sequence

import numpy as np

from . import _dtypes as dtypes
from ._library import ArgumentError, CError, CTilesView, lib

_FACE = 16  # elements of a side of a face


def check(names: Sequence[str]) -> Any:
    """Returns the names of values as a list. Raises ArgumentError for anything but a list of str."""
    if names is None or isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
        return list(names or ())
    found = repr(names) if isinstance(names, str) else f"of type {type(names).__name__}"
    raise ArgumentError(f"tiles is {found}, wanted a list of names of values; an input called 'tiles' goes into a dict")


def view(handle: Any, key: str, name: str) -> Any:
    """Returns the tiles of a kept value in the memory of an exec, which a run fills later. Raises ArgumentError if they
    are rows."""
    made, error = CTilesView(), CError()
    lib.qdq_exec_tiles(handle, key, ctypes.byref(made), error)
    if error.status:
        raise ArgumentError(f"value '{name}' lies in rows, so it has no tiles; compile with layout='tiles'")
    return made


def copied(one: Any) -> Any:
    """Returns a copy of the tiles of a view: an array of shape [tiles, faces, 16, 16], or with the height of the faces
    of tiles that are lower."""
    kind, tile = dtypes.numpy_of(dtypes.name_of(one.dtype)), one.tile
    high = min(tile.height, _FACE)
    down, across = tile.height // high, tile.width // _FACE  # faces of a tile
    shape = (one.tiles, down * across, high, _FACE)
    made = np.empty(shape, kind)
    if one.tile_bytes * one.tiles == made.nbytes:
        ctypes.memmove(made.ctypes.data, one.data, made.nbytes)
        return made
    # Elements that share bytes or an exponent: the library takes them apart, padding included, in rows.
    rows = np.empty(one.padded_shape.tuple(), kind)
    lib.qdq_untilize_in(one.dtype, one.padded_shape, tile, one.data, rows.ctypes.data, None)
    tile_rows, tile_cols = rows.shape[-2] // tile.height, rows.shape[-1] // tile.width
    parts = rows.reshape(-1, tile_rows, down, high, tile_cols, across, _FACE)
    order = (0, 1, 4, 5, 2, 6, 3) if tile.transpose else (0, 1, 4, 2, 5, 3, 6)
    return parts.transpose(order).reshape(shape)
