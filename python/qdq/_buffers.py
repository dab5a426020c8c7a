# SPDX-License-Identifier: Apache-2.0
"""Lists where the values of a plan lie: in the arena of the host, or in the memory of a device."""

from __future__ import annotations

import ctypes
import difflib
import math
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ._dtypes import name_of
from ._library import ArgumentError, CPage, lib

_PAGE_BYTES = 2048  # of the arena
_TILE_LAYOUT, _L1 = 0, 1  # qdq_layout, qdq_buffer_type
_SHOWN = 8  # most names in a message


class Buffer(NamedTuple):
    """The memory of a value. Sizes and addresses are bytes."""

    name: str  # of the value; on a device also NODE.ATTRIBUTE of a list of numbers, NODE.PROGRAM of an intermediate
    dtype: str  # of the elements in this memory: "bfloat16"
    shape: Tuple[int, ...]
    pool: str  # "host", or of a device "DRAM", "L1", ...
    address: int  # in the arena of the host; on a device in each bank
    bytes: int  # of all tiles or pages, padding included; in rows of the arena of the elements
    pages: int  # in all banks; 0 in rows of the arena
    page_bytes: int  # 2048 in the arena; on a device a tile or a row; 0 in rows of the arena
    steps: Tuple[int, int]  # the first and the last that it lives in, both included; on a device programs
    tiles: int  # 0: it lies in rows
    padding: int  # bytes of the tiles that hold no element; 0 in rows


class Page(NamedTuple):
    """The place of a page of a buffer."""

    pool: str  # as in Buffer
    bank: int  # 0 on the host; of a shard in L1 a core, y * grid_x + x
    address: int  # in its bank, in bytes; on the host in the arena
    bytes: int  # of the page
    core: Optional[Tuple[int, int]]  # (x, y) that holds the shard in L1; else None


def _padding(dtype: str, shape: Sequence[int], tile: Any, size: Any) -> Any:
    """Returns the bytes that no element takes of the `size` bytes of a value's tiles. Elements that share bytes or an
    exponent share them in groups that divide a tile."""
    elements, taken = tile.height * tile.width, lib.qdq_tile_shape_bytes(tile, dtype)
    whole, rest = divmod(math.prod(shape), elements)
    return size - whole * taken - -(-rest * taken // elements)


def _in_arena(value: Any, name: str) -> Any:
    shape, tiles, size = value.shape.tuple(), value.tiles, value.bytes
    pages = -(-size // _PAGE_BYTES) if tiles else 0
    return Buffer(name, name_of(value.dtype), shape, "host", value.offset, size, pages, _PAGE_BYTES if tiles else 0,
                  (value.first_step, value.last_step), tiles,
                  _padding(value.dtype, shape, value.tile, size) if tiles else 0)  # fmt: skip


def _on_device(buffer: Any, name: str) -> Any:
    shape, tiled, size = buffer.shape.tuple(), buffer.layout == _TILE_LAYOUT, buffer.pages * buffer.page_bytes
    pool = lib.qdq_buffer_type_name(buffer.pool).decode()
    return Buffer(name, name_of(buffer.dtype), shape, pool, buffer.address, size, buffer.pages, buffer.page_bytes,
                  (buffer.first_step, buffer.last_step), buffer.pages if tiled else 0,
                  _padding(buffer.dtype, shape, buffer.tile, size) if tiled else 0)  # fmt: skip


def _values(plan: Any) -> Iterator[Any]:
    """Yields the values in the arena of a plan of the library."""
    index = 0
    while value := lib.qdq_plan_get_value(plan, index):
        yield value.contents
        index += 1


def _device_buffers(plan: Any) -> Any:
    """Returns the buffers of a plan of the library on its device; None without one."""
    device = lib.qdq_plan_device(plan)
    return device.contents.buffers[: device.contents.buffer_count] if device else None


def renamed(plan: Any, original: Any) -> Dict[str, Any]:
    """Returns {name in the plan: name in the file} of the buffers whose names differ. original: the function from one to
    the other, of a graph that may be gone when buffers are listed."""
    found = _device_buffers(plan)
    names = {one.name for one in (_values(plan) if found is None else found)}
    return {name: text for name in names if (text := original(name)) != name.decode()}


def listed(plan: Any, names: Any) -> List[Buffer]:
    """See Plan.buffers. names: as renamed returns them."""

    def name(one: Any) -> Any:
        return names.get(one.name) or one.name.decode()

    found = _device_buffers(plan)
    if found is None:
        return [_in_arena(one, name(one)) for one in _values(plan)]
    return [_on_device(one, name(one)) for one in found]


def _find(buffers: Any, name: str) -> Any:
    known = [one.name for one in buffers]
    if name in known:
        return known.index(name)
    near = difflib.get_close_matches(str(name), known, 1)
    more = f"; did you mean '{near[0]}'?" if near else f"; the plan has {', '.join(known[:_SHOWN]) or 'none'}"
    if not near and len(known) > _SHOWN:
        more += f" and {len(known) - _SHOWN} more"
    raise ArgumentError(f"there is no buffer {name!r}{more}")


def pages(plan: Any, names: Any, name: str) -> List[Page]:
    """See Plan.pages."""
    buffers = listed(plan, names)
    index = _find(buffers, name)
    one = buffers[index]
    if one.pool == "host":
        if not one.tiles:
            raise ArgumentError(f"value '{name}' lies in rows, which have no pages; compile with layout='tiles'")
        return [Page("host", 0, one.address + i * _PAGE_BYTES, _PAGE_BYTES, None) for i in range(one.pages)]
    sharded, page = _device_buffers(plan)[index], CPage()
    found: List[Page] = []
    on_core = sharded.cores and sharded.pool == _L1
    while lib.qdq_plan_buffer_page(plan, index, len(found), ctypes.byref(page)):
        core = (page.core_x, page.core_y) if on_core else None
        found.append(Page(one.pool, page.bank, page.address, one.page_bytes, core))
    return found
