# SPDX-License-Identifier: Apache-2.0
"""Tests qdq.distributed on clusters of this machine; they are skipped without dask.

    test_distributed.py SOURCE_ROOT
"""

import importlib.util
import logging
import os
import signal
import sys
import time
import unittest
import warnings
from unittest import mock

import numpy as np
import qdq
from distributed_folder import COUNT, SHAPE, Folder, alive, shards_in
from qdq import _tool, distributed
from qdq.distributed import _run, _tasks

class Missing(Folder):
    def test_without_dask_the_error_says_what_to_install(self):
        with mock.patch.dict(sys.modules, distributed=None), self.assertRaisesRegex(ImportError, r"pip install 'qdq\[dist"):
            self.calibrate()


@unittest.skipUnless(importlib.util.find_spec("distributed"), "dask is not installed (pip install 'dask[distributed]')")
class Threads(Folder):
    """Two workers in threads of this process."""

    @classmethod
    def setUpClass(cls):
        from distributed import LocalCluster

        cls.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
                                   silence_logs=logging.CRITICAL)  # fmt: skip
        cls.addClassCleanup(cls.cluster.close)

    def test_any_number_of_shards_has_the_bytes_of_one_run(self):
        whole = self.single()
        for shards in (1, 3, 8, 9, 17, 70):  # 8 states are merged at once; 70 are more than there are samples
            with self.subTest(shards=shards):
                self.assertEqual(self.calibrate(self.cluster, shards), whole)
                self.assertEqual(sorted(os.listdir(self.folder)), ["all.state", "data", "net.json", "single.state"])

    def test_a_scheduler_is_found_by_its_address_and_shards_are_counted(self):
        told = []
        made = self.calibrate(self.cluster.scheduler_address, 9, progress=lambda done, count: told.append((done, count)))
        self.assertEqual(made, self.single())
        # Nine shards, a merge of eight states, and one of the last two.
        self.assertEqual(told, [(i, 11) for i in range(1, 12)])

    def test_small_data_has_few_shards(self):
        told = []
        self.calibrate(self.cluster, progress=lambda done, count: told.append((done, count)))
        self.assertEqual(told, [(1, 1)])

    def test_the_folder_holds_few_states(self):
        most, kept = 0, self.folder / "kept"

        def count(_done, _count):
            nonlocal most
            most = max(most, len(list(kept.glob("*.state"))))

        with mock.patch.object(_run, "_MOST_STATES", 12), mock.patch.object(_run, "_LEAST_FLIGHTS", 4):
            self.assertEqual(self.calibrate(self.cluster, 45, resume=kept, progress=count), self.single())
        self.assertLessEqual(most, 13)  # with the result of a merge
        self.assertEqual(list(kept.iterdir()), [])

    def test_a_cluster_may_grow_with_its_tasks(self):
        from distributed import LocalCluster

        with LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None,
                          silence_logs=logging.CRITICAL) as cluster:  # fmt: skip
            cluster.adapt(minimum=0, maximum=2, interval="100ms")
            self.assertEqual(self.calibrate(cluster, 4), self.single())

    def test_a_client_stays_open(self):
        from distributed import Client

        with Client(self.cluster, set_as_default=False) as client:
            self.calibrate(client, 2)
            self.assertEqual(client.submit(len, "abc").result(), 3)

    def test_a_source_of_samples_is_divided(self):
        source = qdq.data.files(str(self.data / "*.npy"))
        single = qdq.calibrate(self.model, source, state=self.folder / "single.state", threads=1)
        for shards in (1, 4, 70):
            self.assertEqual(self.calibrate(self.cluster, shards, source), single)
        with self.assertRaisesRegex(qdq.ArgumentError, "resume is given with a source"):
            self.calibrate(self.cluster, 4, source, resume=self.folder / "kept")

    def test_unreadable_samples_of_a_source_are_limited(self):
        (self.data / "007.npy").write_bytes(b"no array")
        source = qdq.data.files(str(self.data / "*.npy"))
        with self.assertRaisesRegex(qdq.StateError, r"1 of 45 samples could not be read, more than max_unreadable=0.01 allows: shard "
                                                    r"\d on .*: sample 7"):  # fmt: skip
            self.calibrate(self.cluster, 5, source)
        with self.assertWarnsRegex(UserWarning, "1 sample could not be read and is not in the state"):
            self.assertEqual(self.calibrate(self.cluster, 5, source, max_unreadable=0.1).samples, COUNT - 1)

    def test_errors_have_the_sentence_of_the_tool(self):
        for kind, text, options in ((qdq.StateError, "none', wanted a folder", {"data": self.folder / "none"}),
                                    (qdq.ArgumentError, "nothing", {"target": "nothing"}),
                                    (qdq.ArgumentError, "data is a list, wanted a path", {"data": [1]}),
                                    (qdq.ArgumentError, "shards is 0", {"shards": 0})):  # fmt: skip
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                self.calibrate(self.cluster, **options)
            self.assertFalse((self.folder / "all.state").exists())

    def test_samples_that_do_not_fit_are_named_once(self):
        for i in (7, 30):
            (self.data / f"{i:03}.npy").write_bytes(b"no array")
        with self.assertWarnsRegex(UserWarning, r"(?s)\A2 samples could not be read.*007\.npy: .*030\.npy: ") as caught:
            made = self.calibrate(self.cluster, 5, max_unreadable=0.1)
        self.assertTrue(caught.filename.endswith("distributed_folder.py"), "the warning names its caller")
        self.assertEqual(made.unreadable, ("007.npy", "030.npy"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(made, self.single())

    def test_values_with_nan_are_named_as_in_one_run(self):
        np.save(self.data / "005.npy", np.float32([[np.nan, np.inf, -np.inf, np.nan, 0]] * SHAPE[0]))
        told = []
        for run in (self.single, lambda: self.calibrate(self.cluster, 5)):
            with self.assertWarnsRegex(UserWarning, r": 3 of 3 values have elements that are not finite") as caught:
                run()
            told.append(str(caught.warning).partition(": ")[2])
        self.assertEqual(told[0], told[1])


@unittest.skipUnless(importlib.util.find_spec("distributed"), "dask is not installed (pip install 'dask[distributed]')")
class Kinds(Folder):
    """Commands whose states have rows of another kind. Samples are ties of a scale of 2."""

    def setUp(self):
        super().setUp()
        from distributed import LocalCluster

        self.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
                                    silence_logs=logging.CRITICAL)  # fmt: skip
        self.addCleanup(self.cluster.close)
        self.xs = np.random.default_rng(3).integers(-20, 20, (COUNT, *SHAPE)).astype(np.float32)
        for i, x in enumerate(self.xs):
            np.save(self.data / f"{i:03}.npy", x)
        for name, quantized in (("codes", True), ("plain", False)):
            b = qdq.Builder(name)
            x = b.input("x", "float32", SHAPE)
            q = b.quantize(x, name="q", scales=2.0, dtype="int8") if quantized else None
            b.output("y", b.abs(b.dequantize(q, name="d", scales=2.0, dtype="float32") if quantized else x, name="a"))
            b.build().write(self.folder / f"{name}.json")

    def single(self, *words):
        _tool.run(*words, "--data", self.data, "-o", self.folder / "single.state")
        return qdq.State(self.folder / "single.state")

    def test_compare_counts_the_ties_of_all_samples(self):
        codes, targets = self.folder / "codes.json", ["core", "ttnn"]
        made = distributed.compare(codes, targets, self.data, self.cluster, 5, out=self.folder / "all.state")
        self.assertEqual(made, self.single("compare", codes, "--targets", "core,ttnn"))
        half = self.xs / 2
        up = np.floor(half + 0.5)  # ttnn
        report = made.report()
        self.assertEqual((made.kind, report["kind"], report["samples"]), ("compare", "compare", COUNT))
        self.assertEqual({row["name"]: row["different"] for row in report["values"]}["q"], int((up != np.rint(half)).sum()))
        with self.assertRaisesRegex(qdq.ArgumentError, r"state of qdq compare, .* report\(\)"):
            made.values

    def test_explain_has_the_error_of_all_samples(self):
        codes, plain = self.folder / "codes.json", self.folder / "plain.json"
        made = distributed.explain(codes, plain, self.data, self.cluster, 5, out=self.folder / "all.state")
        self.assertEqual(made, self.single("explain", codes, "--against", plain))
        self.assertEqual((made.kind, made.report()["kind"]), ("explain", "explain"))


@unittest.skipUnless(importlib.util.find_spec("distributed"), "dask is not installed (pip install 'dask[distributed]')")
class Processes(Folder):
    def test_without_a_scheduler_a_local_cluster_is_made(self):
        self.assertEqual(self.calibrate(), self.single())

    def test_shards_of_a_killed_worker_run_again(self):
        from distributed import Client, LocalCluster

        whole, log, killed = self.single(), self.slow_tool(), []
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            victim = sorted(client.run(os.getpid).values())[0]

            def kill(done, count):
                if done == 2:
                    # Both workers have begun the next shards, which take half a second.
                    time.sleep(0.2)
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)

            made = self.calibrate(client, 8, progress=kill)
        self.assertEqual(killed, [victim])
        shards = shards_in(log)
        self.assertEqual(set(shards), {f"{i}/8" for i in range(1, 9)})
        self.assertGreater(len(shards), 8, "no shard ran twice")
        self.assertEqual(made, whole)

    def test_a_killed_worker_leaves_no_run_behind(self):
        from distributed import Client, LocalCluster

        sleeper = self.folder / "qdq"
        # Where the shard runs again, it fails at once.
        sleeper.write_text(f"#!/bin/sh\n[ ! -e {self.folder}/pid ] || exit 2\necho $$ >{self.folder}/pid\nexec sleep 60\n")
        sleeper.chmod(0o755)
        with mock.patch.dict(os.environ, QDQ_TOOL=str(sleeper)), \
                LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, \
                Client(cluster) as client:  # fmt: skip
            worker, = client.run(os.getpid).values()
            task = client.submit(_tasks.run_shard, _tasks.Job("run", "key", ("calibrate",), 1, str(self.folder)), 1)
            pids = self.folder / "pid"
            while not pids.exists() or not pids.read_text():
                time.sleep(0.05)
            pid = pids.read_text().split()[0]
            os.kill(worker, signal.SIGKILL)
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and alive(pid):
                time.sleep(0.05)
            self.assertFalse(alive(pid))
            del task


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
