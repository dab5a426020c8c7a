# SPDX-License-Identifier: Apache-2.0
"""Runs the shards of a job on a cluster: hands them out, tries failed ones again on other workers, runs slow ones twice,
and merges their states as they come."""

from __future__ import annotations

import concurrent.futures
import contextlib
import queue
import re
import statistics
import time
import zlib
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Set, Tuple

from .. import _files as files
from .._library import ArgumentError, Error, GraphError, LimitError, ParseError, UnsupportedError
from .._state import StateError
from . import _tasks as tasks
from ._listing import Listing
from ._states import States
from .._types import PathLike

_TICK = 0.2  # seconds between looks at the cluster
_LEAST_FLIGHTS = 16  # shards that a cluster without workers is given, so that it grows
_MOST_STATES = 64  # in the folder and on the way, unless the cluster has more threads
_SICK = 2  # failures of a worker in sequence after which it gets no more shards
_SLOW, _LEAST_SLOW = 3, 5.0  # a shard is slow after three times the median, and after 5 seconds
_NAMED = 5  # most samples, workers or shards in a sentence
_UNLIKE_LISTING = re.compile("bytes, and -?[0-9]+ in the listing|other content than in the listing|is listed, but there is no such file")
_FINAL = (ArgumentError, UnsupportedError, LimitError, GraphError)  # other workers would say the same


@dataclass(frozen=True)
class Policy:
    """What a run tolerates."""

    retries: int
    max_unreadable: float


@dataclass
class _Flight:
    number: int
    began: float


def _list(words: Iterable[Any]) -> str:
    words = list(words)
    return ", ".join(words[:_NAMED]) + (f" and {len(words) - _NAMED} more" if len(words) > _NAMED else "")


class Run:
    """A job on a client's cluster. """

    def __init__(self, client: Any, job: tasks.Job, states: States, policy: Policy, listing: Optional[Listing],
                 tell: Callable[[int, int], None]) -> None:  # fmt: skip
        self.client, self.job, self.states, self.policy = client, job, states, policy
        self.listing, self.tell = listing, tell
        self.events: queue.SimpleQueue[Tuple[str, Any]] = queue.SimpleQueue()
        self.waiting = deque(sorted(set(range(1, job.count + 1)) - states.shards()))
        self.flights: Dict[Any, _Flight] = {}  # by future
        self.merges: Dict[Any, List[str]] = {}  # by future: the states that it reads
        self.failed: Dict[int, List[tasks.Outcome]] = defaultdict(list)  # by shard
        self.doubtful: Dict[int, tasks.Outcome] = {}  # shards with unreadable samples, which run again
        self.faults: Counter[str] = Counter()  # by worker: failures since its last success
        self.left_out: Dict[str, str] = {}  # worker: its host, and the reason
        self.unreadable: Dict[int, tasks.Outcome] = states.unreadable()
        self.seconds: List[float] = []
        self.merged = self.taken = 0
        self.finished = False
        self.alone = concurrent.futures.ThreadPoolExecutor(1)

    # ---- Workers ----

    def _threads(self) -> Dict[str, int]:
        try:
            found: Dict[str, int] = self.client.nthreads()
            return found
        except Exception as error:  # pylint: disable=broad-except
            raise self._lost(error) from None

    def _lost(self, error: Optional[BaseException] = None) -> Error:
        kept = len(self.states.shards())
        return Error(f"the scheduler at {self.client.scheduler.address} is lost{f' ({error})' if error else ''}: {kept} of "
                     f"{self.job.count} shards are done; with resume=FOLDER a new run goes on from them")  # fmt: skip

    def _usable(self, threads: Mapping[str, int], number: int) -> Optional[List[str]]:
        """Returns the workers for a shard: those that have not failed; None: all."""
        avoided = set(self.left_out) | {outcome.worker for outcome in self.failed[number]}
        if number in self.doubtful:
            avoided.add(self.doubtful[number].worker)
        usable = [address for address in threads if address not in avoided]
        return usable if usable and len(usable) < len(threads) else None

    # ---- Shards ----

    def _submit(self, number: int, threads: Mapping[str, int], priority: int = 0) -> None:
        usable = self._usable(threads, number)
        where = {"workers": usable, "allow_other_workers": True} if usable else {}
        future = self.client.submit(tasks.run_shard, self.job, number, self._listing_of(number), pure=False,
                                    priority=priority, **where)  # fmt: skip
        self.flights[future] = _Flight(number, time.monotonic())
        future.add_done_callback(lambda done: self.events.put(("shard", done)))

    def _listing_of(self, number: int) -> bytes:
        """Returns the compressed file that lists the samples of a shard; b"" for a single file."""
        if self.listing is None or not self.listing.folder or number > len(self.listing.files):
            return b""
        try:
            return zlib.compress(self.listing.shard_file(number, self.job.count), 1)
        except OSError:
            return b""  # the shard names it

    def _has_room(self, most: int) -> bool:
        """True if the folder may hold one more state: shards wait for merges, so that the disk is bounded."""
        states = len(self.flights) + len(self.states.held) + len(self.states.merging)
        return states < max(_MOST_STATES, most) or not (self.flights or self.merges)

    def _fill(self) -> Dict[str, int]:
        threads = self._threads()
        most = max(2 * sum(threads.values()), _LEAST_FLIGHTS)
        while self.waiting and len(self.flights) < most and self._has_room(most):
            self._submit(self.waiting.popleft(), threads)
        return threads

    def _speculate(self, threads: Mapping[str, int]) -> None:
        """Runs a slow shard on another worker too, if workers are idle and no shard waits."""
        running = Counter(flight.number for flight in self.flights.values())
        if self.waiting or not self.seconds or len(self.flights) >= sum(threads.values()) or len(threads) < 2:
            return
        slow = max(_SLOW * statistics.median(self.seconds), _LEAST_SLOW)
        for flight in list(self.flights.values()):
            if time.monotonic() - flight.began > slow and running[flight.number] == 1:
                self._submit(flight.number, threads, priority=1)
                return

    def _drop(self, number: int) -> None:
        """Cancels other runs of a shard that is done."""
        for future in [future for future, flight in self.flights.items() if flight.number == number]:
            del self.flights[future]
            future.cancel()

    def _shard_is_done(self, future: Any) -> None:
        flight = self.flights.pop(future, None)
        if flight is None:
            return
        if future.status == "cancelled":
            raise self._lost()
        outcome = future.result() if future.status == "finished" else tasks.Outcome("", "", error=future.exception())
        number = flight.number
        if outcome.error is not None:
            self._retry(number, outcome)
        elif not self._second_opinion(number, outcome):
            self._take(number, outcome)

    def _take(self, number: int, outcome: Any) -> None:
        path = self.states.add(number, outcome.path, outcome.parts)
        if self._saw_other_data(number, path, outcome):
            return
        self._drop(number)
        self.faults[outcome.worker] = 0
        self.seconds.append(outcome.seconds)
        self.taken += outcome.samples
        if outcome.unreadable:
            self.unreadable[number] = outcome
        if outcome.unreadable and outcome.of:
            self._check_unreadable(outcome.of)

    def _retry(self, number: int, outcome: Any) -> None:
        """Gives a failed shard to another worker, or raises its error."""
        error, before = outcome.error, self.failed[number]
        if self.listing and _UNLIKE_LISTING.search(str(error)):
            self._check_data(number, outcome)
        self._blame(outcome, str(error))
        others = set(self._threads()) - {one.worker for one in before} - {outcome.worker}
        before.append(outcome)
        # A scheduler may give the shard to the same worker again, which then confirms nothing.
        confirmed = len({one.worker for one in before}) > 1 or not others
        final = isinstance(error, _FINAL) or (isinstance(error, ParseError) and confirmed)
        if not final and len(before) <= self.policy.retries:
            self.waiting.appendleft(number)
            return
        where = _list(dict.fromkeys(f"{one.worker} on {one.host}" if one.worker else "a worker that died" for one in before))
        text = f"{error} (shard {number} of {self.job.count}, tried {len(before)} times, on {where})"
        known = isinstance(error, (Error, MemoryError))
        raise type(error)(str(error) if isinstance(error, _FINAL) else text) if known else Error(text) from error

    def _blame(self, outcome: Any, reason: Any) -> None:
        self.faults[outcome.worker] += 1
        if outcome.worker and self.faults[outcome.worker] >= _SICK:
            self.left_out[outcome.worker] = f"{outcome.worker} on {outcome.host}: {reason}"

    # ---- Unreadable samples ----

    def _second_opinion(self, number: int, outcome: Any) -> bool:
        """True if a shard runs again on another worker, because more of its samples than allowed could not be read. If
        the other worker reads more of them, the first one is at fault."""
        first = self.doubtful.get(number)
        if first is None:
            allowed = self.policy.max_unreadable * (outcome.samples + len(outcome.unreadable))
            self.doubtful[number] = outcome
            usable = self._usable(self._threads(), number) if len(outcome.unreadable) > allowed else None
            if usable:
                self.waiting.appendleft(number)
                return True
            del self.doubtful[number]
            return False
        del self.doubtful[number]
        if len(outcome.unreadable) < len(first.unreadable):
            self._blame(first, f"{len(first.unreadable)} samples that another worker reads could not be read")
        return False

    def _check_unreadable(self, total: Any) -> None:
        """Fails if more samples are unreadable so far than allowed of all."""
        lost = sum(len(one.unreadable) for one in self.unreadable.values())
        if lost <= self.policy.max_unreadable * total:
            return
        shards = [f"shard {number} on {one.worker} ({one.host}): {_list(one.unreadable)}"
                  for number, one in sorted(self.unreadable.items())]  # fmt: skip
        told = [line for one in self.unreadable.values() for line in one.told]
        raise StateError(f"{lost} of {total} samples could not be read, more than max_unreadable="
                         f"{self.policy.max_unreadable:g} allows: {'; '.join(shards[:_NAMED])}"
                         f"{f'; the first: {told[0]}' if told else ''}")  # fmt: skip

    def _check_source(self) -> None:
        """Fails if a source has no samples, or too many unreadable ones: of all, since it may not know its samples before."""
        total = self.taken + sum(len(one.unreadable) for one in self.unreadable.values())
        if not total:
            raise ArgumentError("data has no samples")
        self._check_unreadable(total)

    def _saw_other_data(self, number: int, path: str, outcome: tasks.Outcome) -> bool:
        """True if a shard ran on other data than the client sees: its worker is at fault. Fails if the data has changed."""
        if self.listing is None or files.read(path, only=("listing",))["listing"].tobytes() == self.listing.digest:
            return False
        del self.states.held[path]
        self._check_data(number, outcome)
        self._retry(number, replace(outcome, error=StateError("the worker sees other data than the client")))
        return True

    def _check_data(self, number: int, outcome: Any) -> None:
        """Fails if the client sees other data than it has listed."""
        changed = None if self.listing is None else self.listing.changed()
        if changed is None:
            return
        raise StateError(f"the data has changed since the run began: {_list(changed) or 'the content of a file'}; shard "
                         f"{number} of {self.job.count} saw it on {outcome.worker} ({outcome.host}). "
                         f"{len(self.states.shards())} shards are done on the old data; put it back, or begin anew")  # fmt: skip

    # ---- Merging ----

    def _merge(self) -> None:
        last = not (self.waiting or self.flights)
        paths = self.states.take(last)
        if len(paths) == 1:  # nothing is left to merge
            self.states.held[paths[0]] = self.states.merging.pop(paths[0])
            self.finished = not self.merges
            return
        if not paths:
            return
        whole = last and not self.states.held and not self.merges
        out = self.states.name_of(paths)
        future = self.alone.submit(tasks.merge, self.job, paths, out, not whole)
        self.merges[future] = paths
        future.add_done_callback(lambda done: self.events.put(("merge", done)))

    def _merge_is_done(self, future: Any) -> None:
        paths, outcome = self.merges.pop(future), future.result()
        if outcome.error is None:
            self.merged += 1
            self.states.merged(paths, outcome.path)
            return
        lost = self.states.return_whole(paths)
        for number in lost:
            self.failed[number].append(outcome)
        if not lost or max(len(self.failed[number]) for number in lost) > self.policy.retries:
            raise outcome.error
        self.waiting.extend(lost)

    # ---- Entry ----

    def _show(self) -> None:
        done = len(self.states.shards()) + self.merged
        left = self.job.count - len(self.states.shards())
        self.tell(done, done + left + self.states.merges_left(left, self.merges.values()) + len(self.merges))

    def _handle(self, kind: Any, future: Any) -> None:
        if kind == "shard":
            self._shard_is_done(future)
        else:
            self._merge_is_done(future)

    def execute(self) -> str:
        """Runs all shards, and returns the path of the state that holds them."""
        try:
            while True:
                self._merge()
                if self.finished:
                    if self.job.source:
                        self._check_source()
                    return next(iter(self.states.held))
                threads = self._fill()  # after a merge has begun, which makes room
                try:
                    self._handle(*self.events.get(timeout=_TICK))
                except queue.Empty:
                    self._speculate(threads)
                    continue
                self._show()
        finally:
            self._end()

    def _end(self) -> None:
        """Cancels what is left of the run, ends its tools on the workers, and removes their temporary folders."""
        left: Set[Any] = set(self.flights)
        self.alone.shutdown(wait=False, cancel_futures=True)
        tasks.end(self.job.run)
        with contextlib.suppress(Exception):
            self.client.cancel(list(left))
            if left or self.left_out:
                self.client.run(tasks.end, self.job.run, on_error="ignore")
        self.alone.shutdown()
