# SPDX-License-Identifier: Apache-2.0
"""Runs the command-line tool qdq inside the package: as the command `qdq`, and for calls from Python."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, ContextManager, Mapping, Optional, Tuple, Type

from ._library import ArgumentError, Error, FileError, GraphError, LimitError, ParseError, UnsupportedError
from ._types import PathLike

# Exceptions by exit code, and by kind of error in JSON (docs/command_line.md).
_CODES = {2: ArgumentError, 3: ParseError, 4: UnsupportedError, 5: LimitError}
_KINDS = {"argument": ArgumentError, "parse": ParseError, "graph": GraphError, "unsupported": UnsupportedError,
          "io": FileError, "memory": MemoryError, "limit": LimitError}  # fmt: skip


def path() -> Any:
    """Returns the path of the tool: QDQ_TOOL, tools/qdq next to the library that QDQ_LIBRARY names, or the tool in the
    package.

    Raises FileError if none of them exists.
    """
    library = os.environ.get("QDQ_LIBRARY")
    folder, name = (Path(library).parent, "tools/qdq") if library else (Path(__file__).parent, "bin/qdq")
    found = os.environ.get("QDQ_TOOL") or str(folder / name)
    if not os.access(found, os.X_OK) or os.path.isdir(found):
        raise FileError(f"{found}: the command-line tool qdq is missing here; install the package with pip, or name a "
                        "qdq in QDQ_TOOL")  # fmt: skip
    return found


def _failure(code: Any, out: Any, err: Any, kinds: Any) -> Any:
    """Returns the exception of a failed call. Its sentence is the first on stderr, without "qdq: "."""
    if code < 0:
        return Error(f"qdq was ended by {signal.Signals(-code).name}: {err.strip() or 'it has printed nothing'}")
    text = next((line for line in err.splitlines() if line.startswith("qdq")), err.strip() or f"qdq exits with {code}")
    made = kinds.get(code) or _CODES.get(code, Error)
    try:
        error = json.loads(out)["error"]
        text, made = error["message"], kinds.get(code) or _KINDS.get(error["kind"], made)
    except (ValueError, KeyError, TypeError):
        pass
    return made(text.removeprefix("qdq: "))


def _outputs(process: Any, feed: Any) -> Any:
    """Writes to the standard input of a process, if it has one, until it ends. Returns its outputs.

    Popen.communicate waits a quarter of a second after Ctrl-C."""
    told = {}

    def read(name: str) -> None:
        told[name] = getattr(process, name).read()

    readers = [threading.Thread(target=read, args=(name,), daemon=True) for name in ("stdout", "stderr")]
    for reader in readers:
        reader.start()
    if process.stdin:
        stream = process.stdin.buffer
        with contextlib.suppress(BrokenPipeError):  # the process has ended with a message
            for part in feed:
                stream.write(part)
            stream.flush()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    for reader in readers:
        reader.join()
    process.wait()
    return told["stdout"], told["stderr"]


def run(*words: PathLike, kinds: Optional[Mapping[int, Type[Exception]]] = None,
        before: Optional[Callable[[], object]] = None, isa: Optional[str] = None,
        running: Callable[[Any], ContextManager[Any]] = contextlib.nullcontext, feed: Any = None) -> Tuple[int, str, str]:  # fmt: skip
    """Runs the tool with these words and returns (exit code, stdout, stderr) for exit codes 0 and 1. For other codes
    raises their exception with the tool's sentence. kinds: {exit code: class}, which precede the classes of qdq.Error.
    before: called in the new process. isa: its instruction set, for commands without the option; "" is the best.
    running: returns a context for the process, which lasts until it ends. feed: yields bytes for its standard input."""
    environment = None if isa is None else {**os.environ, "QDQ_ISA": isa}
    with subprocess.Popen([path(), *map(str, words)], stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", preexec_fn=before,
                          env=environment) as process, running(process):  # fmt: skip
        try:
            out, err = _outputs(process, feed)
        except BaseException:
            process.kill()
            raise
    if process.returncode not in (0, 1):
        raise _failure(process.returncode, out, err, kinds or {})
    return process.returncode, out, err


def main() -> int:
    """Runs the command `qdq`: replaces the process by the tool, so that signals, streams and the exit code are the
    tool's."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the tool would inherit that
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(path(), ["qdq", *sys.argv[1:]])
    except FileError as error:
        print(f"qdq: {error}", file=sys.stderr)
        return 3
