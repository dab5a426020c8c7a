# SPDX-License-Identifier: Apache-2.0
"""Tasks on the workers of a cluster: a shard, and a merge of states in a folder that all machines share.

A task returns its exception as a value, so that the client learns which worker failed."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import re
import shutil
import signal
import socket
import tempfile
import threading
import time
import zlib
from dataclasses import dataclass
from typing import Any, Dict, Iterator, Optional, Set, Tuple

from .. import _files as files
from .. import _tool as tool
from .._calibrate import stream_of
from .._state import StateError, texts_of
from .._types import PathLike

_BLOCK = 1 << 20  # bytes of a state that are compressed at once
_LINES = 20  # most lines of a warning
_SUMMARY = re.compile(r"\d+ of \d+ samples could not be read")  # follows the reasons
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)
_processes: Dict[str, Set[Any]] = {}  # {run: Popens}
_lock = threading.Lock()


@dataclass(frozen=True)
class Job:
    """A run of a command over the shards of a data set."""

    run: str  # differs between runs
    key: str  # equal for runs whose states can be merged
    words: Tuple[str, ...]  # of the command, without --shard and -o
    count: int  # shards
    folder: str  # the client's folder of states, which workers write to if they see it
    source: Any = None  # of qdq.data, whose samples go to --data -; None: --data has a path


@dataclass(frozen=True)
class Outcome:
    """The result of a task."""

    worker: str  # its address
    host: str
    error: Optional[Exception] = None
    path: str = ""  # the state, in the client's folder
    parts: Tuple[bytes, ...] = ()  # else its bytes, compressed by zlib as one stream
    samples: int = 0  # in the state
    of: int = 0  # samples of the data
    unreadable: Tuple[str, ...] = ()  # names
    told: Tuple[str, ...] = ()  # the tool's sentences about them
    seconds: float = 0


def state_name(job: Job, numbers: Any) -> str:
    """Returns the name of a state that holds these shards."""
    held = "-".join(map(str, numbers)) if len(numbers) == 1 else f"{min(numbers)}+{len(numbers) - 1}"
    return f"{job.key}.{held}of{job.count}.state"


def token_of(job: Job) -> str:
    """Returns the path of the file by which a worker recognizes the client's folder."""
    return os.path.join(job.folder, f"{job.key}.token")


def names_in(facts: Any) -> Tuple[str, ...]:
    """Returns the names of the samples that could not be read, from the tensors of a state."""
    return tuple(texts_of(facts, "unreadable"))


def _worker() -> Any:
    import distributed

    try:
        address = distributed.get_worker().address
    except ValueError:
        address = "this process"
    return address, socket.gethostname()


def _end_with_worker() -> None:
    """Runs in the tool's process before the tool: Linux ends the process if the worker is killed, so that no run is
    left behind."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def _known(run: Any, process: Any) -> Iterator[Any]:
    with _lock:
        _processes.setdefault(run, set()).add(process)
    try:
        yield
    finally:
        with _lock:
            _processes[run].discard(process)
            if not _processes[run]:
                del _processes[run]


def _part_of(source: Any, number: int, count: int) -> Any:
    """Returns the source of a shard. The client limits unreadable samples, of all shards."""
    own = source.shard(number, count)
    own.max_unreadable = 1
    return own


def call(job: Job, *words: str, feed: Any = None) -> str:
    """Runs the tool, and returns its messages about samples that could not be read."""
    code, _, err = tool.run(*words, kinds={3: StateError}, before=_end_with_worker, feed=feed,
                            running=lambda process: _known(job.run, process))  # fmt: skip
    return err if code == 1 else ""


def _reasons(told: Any) -> Any:
    lines = told.replace("qdq: ", "").splitlines()
    end = next((i for i, line in enumerate(lines) if _SUMMARY.match(line)), len(lines))
    return tuple(lines[: min(end, _LINES)])


def _compressed(path: PathLike) -> Any:
    packer, parts = zlib.compressobj(1), []
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            parts.append(packer.compress(block))
    return (*parts, packer.flush())


def _deliver(job: Any, path: PathLike, number: int) -> Any:
    """Returns the path of a state in the client's folder, or its compressed bytes."""
    if not os.path.exists(token_of(job)):
        return "", _compressed(path)
    to = os.path.join(job.folder, state_name(job, (number,)))
    made = f"{to}.{os.getpid()}.{threading.get_ident()}"
    try:
        shutil.copyfile(path, made)
        os.replace(made, to)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)
    return to, ()


def _outcome(job: Job, work: Any) -> Outcome:
    address, host = _worker()
    try:
        with tempfile.TemporaryDirectory(prefix=f"qdq-{job.run}-") as folder:
            return Outcome(address, host, **work(folder))
    except Exception as error:  # pylint: disable=broad-except
        return Outcome(address, host, error=error)


def run_shard(job: Job, number: int, listing: bytes = b"") -> Outcome:
    """Runs the command on a shard. listing: the file of --listing; b"": the shard lists the data itself."""

    def work(folder: str) -> Any:
        began, out = time.monotonic(), os.path.join(folder, "out.state")
        words = [*job.words, "--shard", f"{number}/{job.count}", "-o", out]
        if listing:
            words += ["--listing", os.path.join(folder, "listing.safetensors")]
            with open(words[-1], "wb") as file:
                file.write(zlib.decompress(listing))
        own = None if job.source is None else _part_of(job.source, number, job.count)
        told = call(job, *words, feed=None if own is None else stream_of(own, is_divided=True))
        facts = files.read(out, only=("numbers", "unreadable"))
        lost = names_in(facts) + (() if own is None else own.left_out(number, job.count))
        path, parts = _deliver(job, out, number)
        of = int(facts["numbers"][1]) or (job.source.total() if job.source else 0)
        return {"path": path, "parts": parts, "of": of, "samples": int(facts["numbers"][2]), "unreadable": lost,
                "told": _reasons(told), "seconds": time.monotonic() - began}  # fmt: skip

    return _outcome(job, work)


def merge(job: Job, paths: Any, out: str, partial: bool) -> Outcome:
    """Merges states in the client's folder, or, run by the client, anywhere. Memory holds two of them."""

    def work(_folder: Any) -> Any:
        call(job, "merge", *paths, *(["--partial"] if partial else []), "-o", out)
        return {"path": out}

    return _outcome(job, work)


def end(run: str) -> None:
    """Ends the tools of a run on this worker, and removes their temporary folders."""
    with _lock:
        running = list(_processes.get(run, ()))
    for process in running:
        process.kill()
    for process in running:
        process.wait()
    for left in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), f"qdq-{run}-*")):
        shutil.rmtree(left, ignore_errors=True)
