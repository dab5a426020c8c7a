# SPDX-License-Identifier: Apache-2.0
"""Lists the Tenstorrent devices that a plan may lay values out for."""

from __future__ import annotations

from ctypes import c_size_t
from typing import List, Literal, NamedTuple, Tuple

from ._library import lib

Arch = Literal["none", "wormhole", "blackhole"]
_ARCHS: Tuple[Arch, ...] = ("none", "wormhole", "blackhole")  # qdq_arch


class Device(NamedTuple):
    """The memory of a device. Sizes and addresses are bytes (docs/device_memory.md, section 1)."""

    name: str  # the `device` of compile and run
    arch: Arch
    grid_x: int  # columns of worker cores
    grid_y: int  # rows of worker cores; each core is an L1 bank
    dram_banks: int
    dram_bank_size: int
    dram_base: int  # first address of a bank that tensors may use
    dram_alignment: int  # of pages in DRAM, and of all allocations
    l1_size: int
    l1_base: int  # first address of L1 that programs may use
    l1_alignment: int  # of pages in L1
    l1_small_size: int  # of L1_SMALL in each bank
    trace_region_size: int  # of TRACE in all DRAM banks together


def devices() -> List[Device]:
    """Returns the devices that `device` of Graph.compile and Graph.run may name. n300 is one of its two chips."""
    count = c_size_t()
    found = lib.qdq_devices(count)
    return [Device(one.name.decode(), _ARCHS[one.arch], *(getattr(one, name) for name in Device._fields[2:]))
            for one in found[: count.value]]  # fmt: skip
