# SPDX-License-Identifier: Apache-2.0
"""Makes the kernel refuse AMX tiles to this process, before anything asks for them."""

import ctypes
import os
import struct

# of x86-64: the system call, and the request for a CPU state
ARCH_PRCTL, ASK_FOR_STATE = 158, 0x1023
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # of BPF: load a word, compare, return
ALLOW, REFUSE = 0x7FFF0000, 0x00050001  # EPERM
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def refuse_amx():
    """Whether the kernel supports that."""
    if os.uname().machine != "x86_64":
        return False
    steps = [(LOAD, 0, 0, 0), (EQUAL, 0, 3, ARCH_PRCTL), (LOAD, 0, 0, 16),
             (EQUAL, 0, 1, ASK_FOR_STATE), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    program = Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    words = [ctypes.c_ulong(word) for word in (1, 0, 0, 0)]
    return prctl(NO_NEW_PRIVILEGES, *words) == 0 and prctl(
        SECCOMP, ctypes.c_ulong(FILTER), ctypes.byref(program)) == 0
