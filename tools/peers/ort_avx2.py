# SPDX-License-Identifier: Apache-2.0
"""Makes a copy of the installed ONNX Runtime that uses no AVX-512, to measure its kernels for AVX2 on a CPU with more.

    python3 ort_avx2.py FOLDER
    PYTHONPATH=FOLDER python3 ...

bench_networks.py --isa avx2 makes one by itself.

ONNX Runtime asks XGETBV which registers the system saves, and takes AVX-512 if it saves theirs, bits 5 to 7 of EAX. The
copy clears these bits after the instruction: 'and al, 7' takes the place of 'mov eax, eax', which changes nothing there.
"""

import importlib.util
import shutil
import sys
from pathlib import Path

ASKS, CLEARS = bytes.fromhex("0f01d0 89c0"), bytes.fromhex("0f01d0 2407")


def copy_into(folder):
    """Makes the copy, folder/onnxruntime."""
    found = importlib.util.find_spec("onnxruntime")
    if not found:
        sys.exit("onnxruntime is not installed; run pip install onnxruntime")
    copy = Path(folder) / "onnxruntime"
    shutil.copytree(Path(found.origin).parent, copy)
    count = 0
    for library in copy.glob("capi/*.so*"):
        code = library.read_bytes()
        count += code.count(ASKS)
        library.write_bytes(code.replace(ASKS, CLEARS))
    if not count:
        shutil.rmtree(copy)
        sys.exit(f"this ONNX Runtime asks for registers in another way, wanted bytes {ASKS.hex()} in its library")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    copy_into(sys.argv[1])


if __name__ == "__main__":
    main()
