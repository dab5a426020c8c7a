# SPDX-License-Identifier: Apache-2.0
"""The options that the scripts of this folder share, and their folder."""

import argparse
import contextlib
import tempfile
from pathlib import Path


def parser(text, targets):
    """Returns a parser with --qdq, --targets, --into and --json. text: the docstring of the script."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--qdq", required=True, type=lambda name: Path(name).resolve())
    made.add_argument("--targets", default=targets)
    made.add_argument("--into", type=Path)
    made.add_argument("--json", type=Path)
    return made


@contextlib.contextmanager
def folder_of(into):
    """Yields the folder of --into, or a temporary one."""
    with tempfile.TemporaryDirectory(prefix="qdq-accuracy-") as name:
        folder = into or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
