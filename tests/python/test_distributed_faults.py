# SPDX-License-Identifier: Apache-2.0
"""Tests qdq.distributed where machines fail: two worker processes on this machine, of which one has no tool, no temporary
folder, no space or other data, is slow, or is killed; and runs that end early. Skipped without dask.

    test_distributed_faults.py SOURCE_ROOT
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import qdq
from distributed_folder import COUNT, SHAPE, Folder, alive, shards_in
from qdq import _files
from qdq.distributed import _listing, _run, _states, _tasks

SHARDS = 9


def set_tool(path):
    os.environ["QDQ_TOOL"] = str(path)


def set_temporary(path):
    tempfile.tempdir = path


def heed_interrupts():
    """Runs in a new process: one that is started in the background may ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def claim_unreadable(count):
    """Lets the tasks of a worker say that samples could not be read."""
    _tasks.names_in = lambda facts: tuple(f"{i}.npy" for i in range(count))


@unittest.skipUnless(importlib.util.find_spec("distributed"), "dask is not installed (pip install 'dask[distributed]')")
class Workers(Folder):
    """Two workers, of which one is at fault."""

    def setUp(self):
        super().setUp()
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        self.addCleanup(cluster.close)
        self.client = Client(cluster, set_as_default=False)
        self.addCleanup(self.client.close)
        self.sick, self.sound = sorted(self.client.nthreads())

    def on_sick(self, function, argument):
        self.client.run(function, argument, workers=[self.sick])

    def check(self, warned=None, **options):
        """Runs the shards, expects the bytes of one run, and a warning with these words."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = self.calibrate(self.client, SHARDS, **options)
        told = [str(one.message) for one in caught if "got no more shards" in str(one.message)]
        self.assertEqual(made, self.single())
        if warned:
            self.assertRegex("\n".join(told), rf"{self.sick} on .*{warned}")
        return told

    def test_a_worker_without_the_tool_is_left_out(self):
        self.on_sick(set_tool, self.folder / "none")
        self.check("the command-line tool qdq is missing")

    def test_a_worker_without_a_temporary_folder_is_left_out(self):
        self.on_sick(set_temporary, str(self.folder / "none"))
        self.check("No such file or directory")

    def test_a_worker_whose_tools_are_killed_is_left_out(self):
        self.on_sick(set_tool, self.tool("killed", "kill -9 $$"))
        self.check("qdq was ended by SIGKILL")

    def test_a_worker_without_space_is_left_out(self):
        self.on_sick(set_tool, self.tool("full", "ulimit -f 1"))
        self.check("ended by SIGXFSZ|File too large")

    def test_a_worker_that_sees_other_data_is_left_out(self):
        other = self.folder / "other"
        other.mkdir()
        for path in self.data.iterdir():
            np.save(other / path.name, np.zeros(SHAPE, np.float32))
        words = f"for w; do shift; [ \"$w\" = {self.data} ] && w={other}; set -- \"$@\" \"$w\"; done"
        self.on_sick(set_tool, self.tool("stale", words))
        self.check("has other content than in the listing")

    def test_a_tool_that_is_killed_once_runs_again(self):
        log = self.folder / "calls"
        once = f'echo "$*" >>{log}\ncase "$*" in *"--shard 2/"*) mkdir {self.folder}/killed 2>/dev/null && kill -9 $$ ;; esac'
        self.client.run(set_tool, self.tool("once", once))
        self.assertEqual(self.check(), [])
        self.assertEqual(sorted(shards_in(log)), sorted([f"{i}/{SHARDS}" for i in range(1, SHARDS + 1)] + [f"2/{SHARDS}"]))

    def test_a_shard_that_always_fails_ends_the_run_and_names_its_workers(self):
        log = self.folder / "calls"
        always = f'echo "$*" >>{log}\ncase "$*" in *"--shard 2/"*) kill -9 $$ ;; esac'
        self.client.run(set_tool, self.tool("always", always))
        with self.assertRaisesRegex(qdq.Error, rf"SIGKILL.*shard 2 of {SHARDS}, tried 3 times, on tcp://.*, tcp://"):
            self.calibrate(self.client, SHARDS, retries=2)
        self.assertEqual(shards_in(log).count(f"2/{SHARDS}"), 3)
        self.assertFalse((self.folder / "all.state").exists())

    def test_samples_that_one_worker_cannot_read_are_read_by_the_other(self):
        self.on_sick(claim_unreadable, 5)
        self.check("5 samples that another worker reads could not be read")

    def test_too_many_unreadable_samples_end_the_run(self):
        for i in (3, 12, 21):  # all in shard 4
            (self.data / f"{i:03}.npy").write_bytes(b"no array")
        with self.assertRaisesRegex(qdq.StateError, rf"3 of {COUNT} samples could not be read, more than max_unreadable=0.05 "
                                                    r"allows: shard 4 on tcp://.*: 003.npy, 012.npy, 021.npy; the first: "):  # fmt: skip
            self.calibrate(self.client, SHARDS, max_unreadable=0.05)
        with self.assertWarnsRegex(UserWarning, "3 samples could not be read"):
            self.assertEqual(self.calibrate(self.client, SHARDS, max_unreadable=0.07).samples, COUNT - 3)

    def test_a_slow_shard_runs_on_the_other_worker_too(self):
        slow = f'case "$*" in *"--shard 1/"*) mkdir {self.folder}/begun 2>/dev/null && sleep 60 ;; esac'
        self.client.run(set_tool, self.tool("slow", slow))
        began = time.monotonic()
        with mock.patch.object(_run, "_LEAST_SLOW", 0.5):
            self.check()
        self.assertTrue((self.folder / "begun").exists())
        self.assertLess(time.monotonic() - began, 50)

    def test_states_travel_where_workers_do_not_see_the_folder(self):
        with mock.patch.object(_states, "token_of", lambda job: os.path.join(job.folder, "unseen")):
            self.check()

    def test_data_that_changes_ends_the_run_and_is_named(self):
        def change(done, _count):
            if done == 2:
                np.save(self.data / "044.npy", np.zeros((4, 50), np.float32))

        self.client.run(set_tool, self.tool("slow", "sleep 0.3"))
        with self.assertRaisesRegex(qdq.StateError, r"data has changed .*: 044.npy; shard \d of 9 saw it on tcp://.*\d shards are"):
            self.calibrate(self.client, SHARDS, progress=change)


SCRIPT = """
import sys
import qdq.distributed

def tell(done, count):
    print(done, flush=True)

if __name__ == "__main__":
    model, data, scheduler, out, kept = sys.argv[1:]
    qdq.distributed.calibrate(model, data, scheduler or None, 9, out=out, progress=tell, resume=kept or None)
"""


@unittest.skipUnless(importlib.util.find_spec("distributed"), "dask is not installed (pip install 'dask[distributed]')")
class Ended(Folder):
    """Runs that end early, and others that go on from them."""

    def start(self, kept, scheduler=""):
        (self.folder / "run.py").write_text(SCRIPT)
        words = [self.model, self.data, scheduler, self.folder / "all.state", self.folder / "kept" if kept else ""]
        process = subprocess.Popen([sys.executable, self.folder / "run.py", *map(str, words)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   preexec_fn=heed_interrupts)  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until(self, process, steps):
        for line in process.stdout:
            if int(line) >= steps:
                return
        self.fail(process.stderr.read())

    def interrupted(self, kept, steps=3):
        """Returns the log of a run that Ctrl-C has ended after some steps, and its messages."""
        log = self.slow_tool(0.3)
        process = self.start(kept)
        self.until(process, steps)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("KeyboardInterrupt", told)
        return log

    def go_on(self, log):
        """Runs the rest, and returns its shards."""
        before = len(shards_in(log))
        made = self.calibrate(None, resume=self.folder / "kept")
        after = shards_in(log)[before:]
        self.assertEqual(made, self.single())
        self.assertEqual(list((self.folder / "kept").iterdir()), [])
        return after

    def test_an_interrupted_run_goes_on(self):
        log = self.interrupted(kept=True)
        done = len(list((self.folder / "kept").glob("*.state")))
        self.assertGreaterEqual(done, 3)
        self.assertEqual(len(self.go_on(log)), SHARDS - done)

    def test_an_interrupted_run_leaves_nothing_behind(self):
        tools = self.folder / "pids"
        self.slow_tool(0.3)
        tool = Path(os.environ["QDQ_TOOL"])
        tool.write_text(tool.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\necho $$ >>{tools}\n"))
        with mock.patch.dict(os.environ, TMPDIR=str(self.folder / "tmp")):
            (self.folder / "tmp").mkdir()
            process = self.start(kept=False)
            self.until(process, 2)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and any(map(alive, tools.read_text().split())):
            time.sleep(0.1)
        self.assertFalse(any(map(alive, tools.read_text().split())))
        self.assertEqual([path for path in (self.folder / "tmp").rglob("*.state*")], [])
        self.assertFalse((self.folder / "all.state").exists())

    def test_damaged_states_run_again(self):
        log = self.interrupted(kept=True)
        states = sorted((self.folder / "kept").glob("*.state"))
        body = bytearray(states[0].read_bytes())
        body[-200] ^= 1
        states[0].write_bytes(body)
        states[1].write_bytes(states[1].read_bytes()[:1000])
        with self.assertWarnsRegex(UserWarning, "2 states in .* are damaged"):
            after = self.go_on(log)
        self.assertEqual(len(after), SHARDS - len(states) + 2)

    def test_changed_data_begins_anew(self):
        log = self.interrupted(kept=True)
        np.save(self.data / "000.npy", np.full(SHAPE, 9, np.float32))
        before = len(shards_in(log))
        made = self.calibrate(None, SHARDS, resume=self.folder / "kept")
        self.assertEqual(len(shards_in(log)) - before, SHARDS)
        self.assertEqual(made, self.single())

    def test_a_lost_scheduler_is_told_and_another_goes_on(self):
        log = self.slow_tool(0.5)
        python = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
                  "--no-dashboard", "--scheduler-file", str(self.folder / "scheduler.json")]  # fmt: skip
        scheduler = subprocess.Popen(python, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(scheduler.kill)
        while not (self.folder / "scheduler.json").exists():
            time.sleep(0.1)
        workers = [subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file",
                                     str(self.folder / "scheduler.json"), "--nworkers", "2", "--nthreads", "1", "--no-dashboard",
                                     "--local-directory", str(self.folder)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]  # fmt: skip
        self.addCleanup(workers[0].kill)
        process = self.start(kept=True, scheduler=json.loads((self.folder / "scheduler.json").read_text())["address"])
        self.until(process, 3)
        scheduler.kill()
        scheduler.wait()
        told = process.communicate(timeout=120)[1]
        workers[0].kill()
        self.assertRegex(told.splitlines()[-1], r"qdq.*Error: the scheduler at tcp://127.0.0.1:\d+ is lost.*of 9 shards are done; "
                                                "with resume=FOLDER")  # fmt: skip
        self.assertLess(len(self.go_on(log)), SHARDS)


class Pieces(Folder):
    """Without a cluster."""

    def job(self, folder):
        return _tasks.Job("run", "key", ("calibrate", str(self.model), "--data", str(self.data)), 1, str(folder))

    def test_the_client_lists_data_as_the_tool_does(self):
        for data in (self.data, self.data / "000.npy"):
            self.assertEqual(_listing.list_data(str(data)).digest, self.stored(data))
        # Beyond 16 MiB only blocks of the content count.
        np.save(self.data / "big.npy", np.arange(5 << 20, dtype=np.float32))
        (self.data / "note.txt").write_text("no sample")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(_listing.list_data(str(self.data)).digest, self.stored(self.data))
        self.assertIsNone(_listing.list_data(str(self.folder / "none")))

    def stored(self, data):
        state = qdq.calibrate(self.model, data, state=self.folder / "a.state", threads=1)
        return _files.read(state.path)["listing"].tobytes()

    def test_a_state_travels_compressed(self):
        outcome = _tasks.run_shard(self.job(self.folder / "unseen"), 1)
        self.assertIsNone(outcome.error)
        (self.folder / "states").mkdir()
        path = _states.States(self.job(self.folder / "states")).add(1, outcome.path, outcome.parts)
        self.assertEqual(qdq.State(path), self.single())
        self.assertLess(sum(map(len, outcome.parts)), os.path.getsize(path) / 8)

    def test_memory_does_not_hold_a_state(self):
        b = qdq.Builder("long")
        value = b.input("x", "float32", SHAPE)
        for _ in range(200):
            value = b.relu(value)
        b.output("y", value)
        b.build().write(self.model)
        (self.folder / "states").mkdir()
        states = _states.States(self.job(self.folder / "states"))
        tracemalloc.start()
        outcome = _tasks.run_shard(self.job(self.folder / "unseen"), 1)
        path = states.add(1, outcome.path, outcome.parts)
        whole = _states.is_whole(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        self.assertTrue(whole)
        self.assertGreater(os.path.getsize(path), 6_900_000)
        self.assertLess(peak, 4_000_000)  # blocks of 1 MiB

    def test_a_worker_does_not_confirm_its_own_error(self):
        """A file that one worker cannot read is tried again until another worker says so too."""
        client = mock.Mock(nthreads=lambda: {"sick": 1, "sound": 1})
        states = mock.Mock(shards=set, unreadable=dict)
        run = _run.Run(client, self.job(self.folder), states, _run.Policy(3, 0), None, lambda done, all_: None)
        failed = lambda worker: _tasks.Outcome(worker, "host", error=qdq.StateError("File too large"))
        for _ in range(2):
            run._retry(1, failed("sick"))
        self.assertEqual(list(run.waiting), [1, 1, 1])  # at first, and after each failure
        with self.assertRaisesRegex(qdq.StateError, "tried 3 times, on sick on host, sound on host"):
            run._retry(1, failed("sound"))

    def test_a_full_disk_of_the_client_is_told(self):
        outcome = _tasks.run_shard(self.job(self.folder / "unseen"), 1)
        states = _states.States(self.job(self.folder))
        with mock.patch.object(_states, "open", mock.Mock(side_effect=OSError(28, "No space left on device")), create=True), \
                self.assertRaisesRegex(qdq.FileError, "cannot be written: No space left.*name another folder with resume"):  # fmt: skip
            states.add(1, outcome.path, outcome.parts)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
