# SPDX-License-Identifier: Apache-2.0
"""Runs data sets on many machines, over Dask: `pip install qdq[distributed]` (docs/many_machines.md).

    state = qdq.distributed.calibrate("model.onnx", "images", scheduler="tcp://10.0.0.1:8786", out="all.state")

Each shard is a task that runs the command-line tool on a worker and returns the bytes of its state. The workers merge
the states in a tree. The result has the bytes of a single run on one machine.
"""

import contextlib
import ctypes
import os
import re
import signal
import sys
import tempfile
import warnings
from typing import Any, Callable, Optional, Sequence, Union

from .. import _tool as tool
from .._calibrate import options
from .._library import ArgumentError
from .._state import Path, State, StateError

_SHARDS_A_THREAD = 4  # several, so that slow machines take fewer
_MERGED = 4  # most states that a task merges: they wait for each other in memory
_LINES = 20  # most lines of a warning
_SUMMARY = re.compile(r"\d+ of \d+ samples could not be read")  # follows the reasons

Progress = Union[bool, Callable[[int, int], None], None]


def _dask():
    try:
        import distributed
    except ImportError as error:
        raise ImportError(f"qdq.distributed needs dask: pip install 'qdq[distributed]' ({error})") from None
    return distributed


# ---- Tasks on the workers ----


_PR_SET_PDEATHSIG = 1


def _end_with_worker():
    """Runs in the tool's process before the tool: Linux ends the process if the worker is killed, so that no run is
    left behind."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_libc = ctypes.CDLL(None)


def _state_of(folder, *words):
    """Returns the bytes of the state that a call writes, and its messages about samples that could not be read."""
    out = os.path.join(folder, "out.state")
    code, _, err = tool.run(*words, "-o", out, kinds={3: StateError}, before=_end_with_worker)
    with open(out, "rb") as file:
        return file.read(), err if code == 1 else ""


def _run_shard(words, shard, count):
    with tempfile.TemporaryDirectory(prefix="qdq-shard-") as folder:
        state, told = _state_of(folder, *words, "--shard", f"{shard}/{count}")
    reasons = told.replace("qdq: ", "").splitlines()
    end = next((i for i, line in enumerate(reasons) if _SUMMARY.match(line)), len(reasons))
    return state, reasons[: min(end, _LINES)]


def _merge(states, partial):
    told = []
    with tempfile.TemporaryDirectory(prefix="qdq-merge-") as folder:
        paths = []
        for i, (state, lines) in enumerate(states):
            paths.append(os.path.join(folder, f"{i}.state"))
            told += lines
            with open(paths[-1], "wb") as file:
                file.write(state)
        state, _ = _state_of(folder, "merge", *paths, *(["--partial"] if partial else []))
    return state, sorted(told)[:_LINES]


# ---- The client ----


@contextlib.contextmanager
def _client_of(scheduler):
    """Yields a client of a scheduler's address, of a cluster, or of a LocalCluster that lives for the call; or the
    given client."""
    distributed = _dask()
    if isinstance(scheduler, distributed.Client):
        yield scheduler
    elif scheduler is None:
        with distributed.LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster, \
                distributed.Client(cluster) as client:  # fmt: skip
            yield client
    else:
        with distributed.Client(scheduler, set_as_default=False) as client:
            yield client


def _tree(client, words, count):
    """Returns futures of the shards, and of the state of all shards. Shards begin in order, and a merge precedes shards
    that have not begun, so that memory holds O(log `count`) states."""
    shards = level = [client.submit(_run_shard, words, i + 1, count, pure=False, priority=-i) for i in range(count)]
    priority = 0
    while len(level) > 1 or level is shards:
        priority += 1
        groups = [level[i : i + _MERGED] for i in range(0, len(level), _MERGED)]
        level = [client.submit(_merge, group, len(groups) > 1, pure=False, priority=priority) for group in groups]
    return shards, level[0]


def _path(what, given):
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentError(f"{what} is a {type(given).__name__}, wanted a path that every worker can read")
    return os.path.abspath(given)


def _show(done, count):
    end = "\n" if done == count else ""
    print(f"\rshard {done} of {count}", end=end, file=sys.stderr, flush=True)


def _watch(client, shards, progress):
    """Waits for the shards, and drops each: its state stays in memory only until it is merged."""
    distributed = _dask()
    tell = _show if progress is True else progress or (lambda done, count: None)
    count = len(shards)
    waiting = distributed.as_completed(shards, loop=client.loop)
    shards.clear()
    for done, future in enumerate(waiting, 1):
        if future.status != "finished":
            future.result()  # raises the exception of the task
        tell(done, count)


def _write(out, state):
    """Replaces the file once the new file is complete."""
    made = f"{os.fspath(out)}.{os.getpid()}"
    with open(made, "wb") as file:
        file.write(state)
    os.replace(made, out)


def _run_all(words, scheduler, shards, progress, out) -> State:
    """Runs a command that takes --data, --shard and -o, and writes the state of all shards."""
    if shards is not None and shards < 1:
        raise ArgumentError(f"shards is {shards}, wanted 1 or more")
    if progress is None:
        progress = sys.stderr.isatty()
    with _client_of(scheduler) as client:
        if shards is None:
            client.wait_for_workers(1)
            shards = _SHARDS_A_THREAD * sum(client.nthreads().values())
        futures, whole = _tree(client, words, max(1, shards))
        _watch(client, futures, progress)
        state, told = whole.result()
    _write(out, state)
    made = State(out)
    if made.unreadable:
        count = len(made.unreadable)
        warnings.warn("\n".join([f"{count} samples could not be read and are not in the state", *told]), stacklevel=3)
    return made


# Each command is a function. `load`: target, shapes, dims and until of qdq.load.


def calibrate(model: Path, data: Path, scheduler: Any = None, shards: Optional[int] = None, *, out: Path,
              progress: Progress = None, threads: int = 1, **load: Any) -> State:  # fmt: skip
    """Runs qdq.calibrate on the workers of a Dask cluster, and writes the state of the whole data set to `out`.

    model, data: paths that every worker can read; qdq must be installed on the workers. target, shapes, dims, until: as
    in qdq.load. scheduler: an address, a cluster or a client of Dask; None creates a LocalCluster with a worker for
    each processor.
    shards: None means four for each thread of the present workers; give a number if the cluster grows with its tasks.
    threads: of each run; a worker has as many simultaneous runs as threads.
    progress: called with (finished shards, all shards); True prints a line; None prints it on a terminal.
    A shard whose worker dies runs again on another worker, within Dask's `allowed-failures`. Returns a State. Raises
    the exceptions of qdq.calibrate, and ImportError without dask.
    """
    words = ["calibrate", _path("model", model), "--data", _path("data", data)]
    return _run_all([*words, *options(threads=threads, **load)], scheduler, shards, progress, out)


def compare(model: Path, targets: Sequence[str], data: Path, scheduler: Any = None, shards: Optional[int] = None, *,
            out: Path, progress: Progress = None, threads: int = 1, **load: Any) -> State:  # fmt: skip
    """Runs `qdq compare --targets --data` in the same way: how each target differs from the first. `report()` of the
    State has the rows."""
    words = ["compare", _path("model", model), "--targets", ",".join(targets), "--data", _path("data", data)]
    return _run_all([*words, *options(threads=threads, **load)], scheduler, shards, progress, out)


def explain(model: Path, against: Path, data: Path, scheduler: Any = None, shards: Optional[int] = None, *,
            out: Path, progress: Progress = None, threads: int = 1, **load: Any) -> State:  # fmt: skip
    """Runs `qdq explain --against --data` in the same way: the error that each node adds to a float model, the file
    `against`. `report()` of the State has the rows."""
    words = ["explain", _path("model", model), "--against", _path("against", against), "--data", _path("data", data)]
    return _run_all([*words, *options(threads=threads, **load)], scheduler, shards, progress, out)
