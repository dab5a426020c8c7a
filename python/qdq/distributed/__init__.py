# SPDX-License-Identifier: Apache-2.0
"""Runs data sets on many machines, over Dask: `pip install qdq[distributed]` (docs/many_machines.md).

    state = qdq.distributed.calibrate("model.onnx", "images", scheduler="tcp://10.0.0.1:8786", out="all.state")

Each shard is a task that runs the command-line tool on a worker. The client merges their states as they come. The result
has the bytes of a single run on one machine.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import os
import re
import secrets
import shutil
import sys
import tempfile
import warnings
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from .. import _files as files
from .._calibrate import options
from .._library import ArgumentError, FileError, version
from .._state import State, not_finite
from ..data._source import Source
from ._listing import list_data
from ._run import Policy, Run
from ._states import States
from ._tasks import Job, names_in
from .._types import PathLike

_SHARDS_A_THREAD = 4  # several, so that slow machines take fewer
_LEAST_SAMPLES = 64  # of a shard, by default: a task takes as long as some samples
_LINES = 20  # most lines of a warning

Progress = Union[bool, Callable[[int, int], None], None]


def _dask() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(f"qdq.distributed needs dask: pip install 'qdq[distributed]' ({error})") from None
    return distributed


@contextlib.contextmanager
def _client_of(scheduler: Any) -> Iterator[Any]:
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


def _path(what: str, given: Any) -> Any:
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentError(f"{what} is a {type(given).__name__}, wanted a path that every worker can read")
    return os.path.abspath(given)


def _data_of(data: Any) -> Any:
    """Returns a source of qdq.data as it is, and a path as text."""
    return data if isinstance(data, Source) else _path("data", data)


def _show(done: Any, count: int) -> None:
    end = "\n" if done == count else ""
    print(f"\rstep {done} of {count}", end=end, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _folder_of(resume: Any) -> Iterator[Any]:
    """Yields the folder of the states: `resume`, or a temporary one."""
    if resume is None:
        with tempfile.TemporaryDirectory(prefix="qdq-states-") as folder:
            yield folder
        return
    try:
        os.makedirs(resume, exist_ok=True)
    except OSError as error:
        raise FileError(f"resume is {os.fspath(resume)!r}, which is no folder: {error.strerror}") from None
    yield os.path.abspath(resume)


def _key_of(words: Sequence[str], paths: Any, listing: Any) -> Any:
    """Returns the name of a job: equal for runs whose states can be merged."""
    digest = hashlib.sha256(repr((version(), words, listing.digest if listing else b"")).encode())
    for path in paths:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return digest.hexdigest()[:16]


def _shards_of(client: Any, asked: Any, listing: Any, key: str, folder: str) -> Any:
    """Returns the number of shards: as asked, as an earlier run in the folder had, or by workers and samples."""
    samples = len(listing.files) if listing and listing.folder else None
    if asked is not None:
        return min(asked, samples or asked)
    found = (re.fullmatch(rf"{key}\..*of(\d+)\.state", name) for name in os.listdir(folder))
    counts = collections.Counter(int(one[1]) for one in found if one)
    if counts:
        return counts.most_common(1)[0][0]
    client.wait_for_workers(1)
    most = _SHARDS_A_THREAD * sum(client.nthreads().values())
    return max(1, min(most, -(-samples // _LEAST_SAMPLES)) if samples else most)


def _write(out: Any, state: Any) -> None:
    """Replaces the file once the new file is complete."""
    made = f"{os.fspath(out)}.{os.getpid()}"
    shutil.copyfile(state, made)
    os.replace(made, out)


def _warn(run: Any, out: Any) -> None:
    if run.left_out:
        warnings.warn("workers got no more shards after failures: " + "; ".join(run.left_out.values()), stacklevel=4)
    lost = set(names_in(files.read(out, only=("unreadable",))))
    lost.update(name for outcome in run.unreadable.values() for name in outcome.unreadable)  # of sources, too
    if lost:
        told = sorted({line for outcome in run.unreadable.values() for line in outcome.told})[:_LINES]
        text = f"{len(lost)} sample{'s' if len(lost) > 1 else ''} could not be read and {'are' if len(lost) > 1 else 'is'} not in the state"
        warnings.warn("\n".join([text, *told]), stacklevel=4)
    spread = not_finite(out)
    if spread:
        warnings.warn(spread, stacklevel=4)


def _check(shards: Any, retries: Any, max_unreadable: Any) -> None:
    if shards is not None and shards < 1:
        raise ArgumentError(f"shards is {shards}, wanted 1 or more")
    if retries < 0:
        raise ArgumentError(f"retries is {retries}, wanted 0 or more")
    if not 0 <= max_unreadable <= 1:
        raise ArgumentError(f"max_unreadable is {max_unreadable}, wanted a share from 0 to 1, as 0.01 for 1 %")


def _run_all(words: Sequence[str], data: Any, paths: Any, scheduler: Any, shards: Any, progress: Any, out: Any,
             retries: Any = 3, max_unreadable: Any = 0.01, resume: Any = None) -> State:  # fmt: skip
    """Runs a command that takes --data, --shard and -o, and writes the state of all shards. paths: its models."""
    _check(shards, retries, max_unreadable)
    if progress is None:
        progress = sys.stderr.isatty()
    source = data if isinstance(data, Source) else None
    if source is not None and resume is not None:
        raise ArgumentError("resume is given with a source, which may have other samples in the next run; wanted data as a path")
    listing = None if source else list_data(data)
    key = _key_of(words, paths, listing)
    with _folder_of(resume) as folder, _client_of(scheduler) as client:
        count = _shards_of(client, shards, listing, key, folder)
        job = Job(secrets.token_hex(8), key, (*words, "--data", "-" if source else data), count, folder, source)
        states = States(job)
        removed = states.find(listing.digest if listing else b"")
        if removed:
            warnings.warn(f"{len(removed)} states in {folder} are damaged or of other data, and were removed: their "
                          "shards run again", stacklevel=3)  # fmt: skip
        tell = _show if progress is True else progress or (lambda done, count: None)
        run = Run(client, job, states, Policy(retries, max_unreadable), listing, tell)
        try:
            _write(out, run.execute())
        finally:
            states.close(keep=resume is not None and sys.exc_info()[0] is not None)
    _warn(run, out)
    return State(out)


# Each command is a function. `load`: target, shapes, dims and until of qdq.load.


def calibrate(model: PathLike, data: Union[PathLike, Source], scheduler: Any = None, shards: Optional[int] = None, *, out: PathLike,
              progress: Optional[Progress] = None, threads: int = 1, retries: int = 3, max_unreadable: float = 0.01,
              resume: Optional[PathLike] = None, **load: Any) -> State:  # fmt: skip
    """Runs qdq.calibrate on the workers of a Dask cluster, and writes the state of the whole data set to `out`.

    model, data: paths that every worker can read, or a source of qdq.data, which is sent to the workers; qdq must be
    installed on the workers. target, shapes, dims, until: as
    in qdq.load. scheduler: an address, a cluster or a client of Dask; None creates a LocalCluster with a worker for
    each processor.
    shards: None means four for each thread of the present workers, of at least 64 samples each; give a number if the
    cluster grows with its tasks. threads: of each run; a worker has as many simultaneous runs as threads.
    progress: called with (finished steps, all steps), where shards and merges are steps; True prints a line; None
    prints it on a terminal.
    retries: how often a shard runs again, on another worker where there is one, after its tool was ended by a signal,
    or its worker had no tool, no temporary folder or no space. A worker that fails twice in sequence gets no more
    shards. A wrong model or option raises at once, a file that cannot be read after a second worker has failed too.
    max_unreadable: the share of samples that may be unreadable. A shard with a larger share runs again on another
    worker; the run ends with StateError if samples beyond the share cannot be read by either.
    resume: a folder that keeps the states of finished shards if the run ends early (an exception, Ctrl-C, a lost
    scheduler); the same call continues from them. If the workers see the folder too, states do not travel over the
    network.
    On the way out the tasks of this run are cancelled and their tools ended. Returns a State. Raises the exceptions of
    qdq.calibrate, and ImportError without dask.
    """
    file, data = _path("model", model), _data_of(data)
    words = ["calibrate", file, *options(threads=threads, **load)]
    return _run_all(words, data, [file], scheduler, shards, progress, out, retries, max_unreadable, resume)


def compare(model: PathLike, targets: Sequence[str], data: Union[PathLike, Source], scheduler: Any = None,
            shards: Optional[int] = None, *, out: PathLike, progress: Optional[Progress] = None, threads: int = 1,
            retries: int = 3, max_unreadable: float = 0.01, resume: Optional[PathLike] = None, **load: Any) -> State:  # fmt: skip
    """Runs `qdq compare --targets --data` in the same way: how each target differs from the first. `report()` of the
    State has the rows."""
    file, data = _path("model", model), _data_of(data)
    words = ["compare", file, "--targets", ",".join(targets), *options(threads=threads, **load)]
    return _run_all(words, data, [file], scheduler, shards, progress, out, retries, max_unreadable, resume)


def explain(model: PathLike, against: PathLike, data: Union[PathLike, Source], scheduler: Any = None, shards: Optional[int] = None,
            *, out: PathLike, progress: Optional[Progress] = None, threads: int = 1, retries: int = 3,
            max_unreadable: float = 0.01, resume: Optional[PathLike] = None, **load: Any) -> State:  # fmt: skip
    """Runs `qdq explain --against --data` in the same way: the error that each node adds to a float model, the file
    `against`. `report()` of the State has the rows."""
    files, data = [_path("model", model), _path("against", against)], _data_of(data)
    words = ["explain", files[0], "--against", files[1], *options(threads=threads, **load)]
    return _run_all(words, data, files, scheduler, shards, progress, out, retries, max_unreadable, resume)
