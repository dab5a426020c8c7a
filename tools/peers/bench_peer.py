# SPDX-License-Identifier: Apache-2.0
"""The base of every peer of bench_worker.py: memory, and the timing loop in C."""

import ctypes
import zlib

import numpy as np

# Results start half a page after inputs do. A load waits for an earlier store whose address has the
# same low 12 bits, so with the same alignment every load would wait.
SKEW = 2048


class Timing(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_double), ("disturbed", ctypes.c_long)]


def aligned(count, skew=0):
    """Bytes at a multiple of 4096, plus `skew`."""
    memory = np.zeros(count + 4096 + skew, "uint8")
    start = -memory.ctypes.data % 4096 + skew
    return memory[start:start + count]


def digest(arrays):
    crc = 0
    for array in arrays:
        crc = zlib.crc32(array, crc)
    return crc


class Peer:
    """`open` fills `variants`: name -> (function that times n runs, outputs or None)."""

    def __init__(self, threads, folder):
        self.threads, self.folder, self.variants, self.kept = threads, folder, {}, []
        self.loop = ctypes.CDLL(str(folder / "loop.so"))
        self.loop.time_calls.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                         ctypes.POINTER(Timing)]

    def about(self):
        return ""

    def timer(self, function, *words):
        """A timer of calls of a C function."""
        words = (ctypes.c_void_p * 8)(*words)
        if not isinstance(function, int):
            function = ctypes.cast(function, ctypes.c_void_p).value

        def timed(count):
            out = Timing()
            self.loop.time_calls(function, words, count, out)
            return out.seconds, out.disturbed
        return timed

    def report(self, name, outputs):
        """Facts about the results of a variant after its first runs, for the JSON answer."""
        return digest(np.ascontiguousarray(a) for a in outputs) if outputs else None

    def close(self):
        self.variants, self.kept = {}, []
