#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library itself is built for a Cortex-M3 without an operating system (tests/cross/arm-none-eabi.ini), and a
program that builds a graph in C (cortex_m/graph_in_c.c) runs in an emulator with 64 KB of RAM. Another one
(cortex_m/sum_in_c.c) needs a multiply-add that rounds once.

    test_bare.py

Without arm-none-eabi-gcc, newlib for it, qemu-system-arm or meson it exits with 77: skipped.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from test_cortex_m import GCC, HERE, QEMU, missing

ROOT = Path(__file__).resolve().parents[2]
FLASH, RAM, RAM_OF_PRODUCTS = 4 << 20, 64 << 10, 4 << 20
SUMS = "sums ed48a42a ed48a42b"  # the exact sums, rounded: a tie, and a little more or less
# Codes of 0.5 after ReLU: -1, 0.25 (a tie), 0.75 (a tie), 1.25 (a tie), beyond the range twice, -0.25, 0.
WANTED = "00000000 00000000 3f800000 3f800000 427e0000 427e0000 00000000 00000000"


def run(*call):
    done = subprocess.run([str(word) for word in call], capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, f"{call[0]}:\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def build_library(folder):
    run("meson", "setup", folder / "build", ROOT, "--cross-file", ROOT / "tests/cross/arm-none-eabi.ini")
    run("ninja", "-C", folder / "build")


def run_program(folder, name, ram):
    """Returns what the program prints, and its image."""
    image = folder / f"{name}.elf"
    run(GCC, "-mcpu=cortex-m3", "-mthumb", "-std=c11", "-Os", "-ffp-contract=off", "-fno-short-enums", "-Wall",
        "-Wextra", "-Werror", "-nostartfiles", "--specs=nosys.specs", f"-I{HERE}", f"-I{ROOT / 'include'}",
        f"-Wl,-T,{HERE / 'link.ld'},--defsym=FLASH_BYTES={FLASH},--defsym=RAM_BYTES={ram}",
        "-Wl,--gc-sections,--no-enum-size-warning,--no-warn-rwx-segments", HERE / "startup.c",
        HERE / f"{name}.c", folder / "build/libqdq.a", "-lm", "-o", image)
    return run(QEMU, "-M", "mps2-an385", "-nographic", "-semihosting-config", "enable=on,target=native",
               "-kernel", image), image


def main():
    with tempfile.TemporaryDirectory(prefix="qdq-bare-") as name:
        folder = Path(name)
        build_library(folder)
        told, _ = run_program(folder, "sum_in_c", RAM_OF_PRODUCTS)
        assert SUMS in told, told
        told, image = run_program(folder, "graph_in_c", RAM)
        lines = dict(line.strip().rpartition(" ")[::2] for line in told.split("\n") if line.strip())
        assert WANTED in told, told
        size = [int(word) for word in run("arm-none-eabi-size", image).split("\n")[1].split()[:3]]
        stack = int(lines["stack"], 16)
        print(f"flash {size[0] + size[1]}, static {size[1] + size[2]}, of it heap {int(lines['heap'], 16)}, stack {stack}")
        assert size[1] + size[2] + stack <= RAM


if __name__ == "__main__":
    reason = missing() or (None if shutil.which("meson") else "meson is missing")
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    main()
