#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps of the inputs that fuzzers found, and of those kept before, the smallest set that reaches the same code.

    keep_corpora.py FUZZERS CORPUS    reads the folder CORPUS/NAME of each corpora/NAME.zip, and replaces the archive
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST = 2048  # bytes of an input
FUZZER = {"onednn": "graph"}  # of a corpus with another name


def keep(archive, fuzzers, found):
    with tempfile.TemporaryDirectory() as name:
        before, kept = Path(name) / "before", Path(name) / "kept"
        kept.mkdir()
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(before)
        fuzzer = fuzzers / f"fuzz_{FUZZER.get(archive.stem, archive.stem)}"
        subprocess.run([fuzzer, "-merge=1", "-use_counters=0", f"-max_len={LONGEST}", kept, before, found / archive.stem],
                       check=True, capture_output=True)  # fmt: skip
        inputs = sorted((path.read_bytes() for path in kept.iterdir()), key=lambda data: (len(data), data))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for i, data in enumerate(inputs):
            packed.writestr(zipfile.ZipInfo(f"{i:04}"), data, zipfile.ZIP_DEFLATED)
    print(f"{archive.stem}: {len(inputs)} inputs, {archive.stat().st_size} bytes")


if __name__ == "__main__":
    for path in sorted((HERE / "corpora").glob("*.zip")):
        keep(path, Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
