#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long commands: early checks, progress on a terminal, and files after an interruption."""

import json
import os
import pty
import random
import re
import select
import signal
import stat
import subprocess
import time

import harness
from harness import (Case, graph, main, node, quantize, read_npy, read_safetensors,
                     safetensors_bytes, tensor, value)

MIB = 1 << 20


def shown_on_terminal(folder, pattern, seconds, *words):
    """The stderr of a call on a terminal, up to the pattern or a time limit in seconds; the call is
    then ended."""
    master, slave = pty.openpty()
    shown, end = b"", time.monotonic() + seconds
    with subprocess.Popen([harness.QDQ, *map(str, words)], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=slave) as process:
        os.close(slave)
        while not re.search(pattern, shown.decode()) and time.monotonic() < end:
            ready, _, _ = select.select([master], [], [], 0.1)
            try:
                shown += os.read(master, 4096) if ready else b""
            except OSError:  # the other end was closed
                break
        process.terminate()
    os.close(master)
    return shown.decode()


class Progress(Case):
    def setUp(self):
        super().setUp()
        nodes = [node("MatMul", f"m{i}", None) for i in range(40)]  # takes seconds on any machine
        for i, one in enumerate(nodes):
            one["inputs"] = {"a": f"m{i - 1}" if i else "x", "b": "x"}
        self.write("g.json", graph(nodes, inputs=[value("x", shape=[2048, 2048])],
                                   outputs={"y": "m39"}))

    def shown(self, pattern, seconds, *words):
        return shown_on_terminal(self.folder, pattern, seconds, *words, "--isa", "portable",
                                 "--threads", 1)

    def test_run_shows_steps_target_and_seconds(self):
        pattern = r"step \d+ of 40, onednn, \d+ s"
        text = self.shown(pattern, harness.TIMEOUT, "run", "g.json", "--fill", 1, "--target",
                          "onednn")
        self.assertRegex(text, pattern)

    def test_work_of_more_than_ten_seconds_shows_what_is_left(self):
        nodes = [node("MatMul", f"m{i}", None) for i in range(400)]
        for i, one in enumerate(nodes):
            one["inputs"] = {"a": f"m{i - 1}" if i else "x", "b": "x"}
        self.write("g.json", graph(nodes, inputs=[value("x", shape=[1024, 1024])], outputs={"y": "m399"}))
        pattern = r"step \d+ of 400, core, \d+ s, about \d+ (s|min) left"
        self.assertRegex(self.shown(pattern, harness.TIMEOUT, "run", "g.json", "--fill", 1), pattern)

    def test_compare_shows_nodes_target_and_seconds(self):
        pattern = r"node \d+ of 40, (core|ttnn), \d+ s"
        text = self.shown(pattern, harness.TIMEOUT, "compare", "g.json", "--fill", 1, "--targets",
                          "core,ttnn")
        self.assertRegex(text, pattern)

    def test_bench_shows_timings_and_seconds(self):
        self.write("g.json", graph([quantize(scales=1, dtype="int8")],
                                   inputs=[value("x", shape=[512, 512])]))
        pattern = r"timing \d+ of 1000000, \d+ s"
        text = self.shown(pattern, harness.TIMEOUT, "bench", "g.json", "--repeat", 1000000)
        self.assertRegex(text, pattern)

    def test_quiet_shows_nothing(self):
        for word in ("-q", "--quiet"):
            self.assertEqual(self.shown("x", 2, "run", "g.json", "--fill", 1, word), "")

    def test_short_work_shows_nothing(self):
        self.write("g.json", graph([quantize(scales=1)]))
        self.assertEqual(self.shown("x", 2, "run", "g.json", "--fill", 1), "")

    def test_nothing_is_shown_if_stderr_is_no_terminal(self):
        with subprocess.Popen([harness.QDQ, "run", "g.json", "--fill", "1", "--isa", "portable"],
                              cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            time.sleep(2)
            process.terminate()
            self.assertEqual(process.communicate(), (b"", b""))


class Colours(Case):
    """Severities and verdicts have colours on a terminal, unless NO_COLOR is set."""

    def shown(self, *words, **environment):
        """All that a call prints on a terminal that is its stdout and stderr."""
        master, slave = pty.openpty()
        kept = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
        with subprocess.Popen([harness.QDQ, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=slave, stderr=slave, env={**kept, "TERM": "xterm", **environment}):
            os.close(slave)
            shown = b""
            try:
                while one := os.read(master, 4096):
                    shown += one
            except OSError:  # the other end was closed
                pass
        os.close(master)
        return shown.decode()

    def test_an_error_and_a_warning_are_coloured(self):
        self.write("g.json", graph([quantize("q", scales=1, dtype="int32"), quantize("p", scales=0)], outputs={"y": "q"}))
        words = ["check", "g.json", "--target", "ttnn"]
        shown = self.shown(*words)
        self.assertIn("\033[1;31merror\033[0m: g.json: node 'p'", shown)
        self.assertIn("\033[1;33mwarning\033[0m: g.json: node 'q'", shown)
        self.assertIn("\033[1;31mrefused\033[0m", self.shown("check", "g.json", "--target", "all"))
        plain = self.qdq(*words, code=1).out
        self.assertNotIn("\033", plain)
        for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertEqual(self.shown(*words, **more).replace("\r\n", "\n"), plain)
        self.assertIn("\033[1;31m", self.shown(*words, NO_COLOR=""))

    def test_findings_of_compare_are_coloured(self):
        self.write("g.json", graph([quantize(scales=1, dtype="int32")]))
        shown = self.shown("compare", "g.json", "--targets", "core,ttnn", "--fill", 1)
        self.assertTrue(shown.startswith("\033[1;33mwarning\033[0m: g.json: node 'q'"), shown)


class Saved(Case):
    """A signal that ends a command says what is saved."""

    def interrupted(self, ready, *words):
        """The stderr of a call that gets SIGINT when `ready` is true; None: once a thread waits for signals."""
        with subprocess.Popen([harness.QDQ, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            end = time.monotonic() + harness.TIMEOUT
            ready = ready or (lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 1)
            while not ready() and time.monotonic() < end:
                time.sleep(0.001)
            time.sleep(0.02)  # the thread starts before the command
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=harness.TIMEOUT)[1].decode()
        self.assertEqual(process.returncode, -signal.SIGINT)
        return err

    def test_a_data_run_names_its_checkpoint(self):
        self.write("g.json", graph([{"op": "MatMul", "name": "q", "inputs": {"a": "x", "b": "x"}}],
                                   inputs=[value("x", shape=[512, 512])]))
        x = tensor("float32", [20, 512, 512], [0.5] * (20 * 512 * 512))
        self.write("x.safetensors", safetensors_bytes({"x": x}))
        words = ["calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state", "--isa", "portable", "--threads", 1]
        part = self.folder / "s.state.part"
        begin = time.monotonic()
        err = self.interrupted(lambda: time.monotonic() > begin + 0.1, *words, "--checkpoint", 1000)
        self.assertEqual(err, "qdq: interrupted: nothing was saved\n")
        self.assertFalse(part.exists())
        err = self.interrupted(part.exists, *words, "--checkpoint", 0)
        self.assertRegex(err, r"\Aqdq: interrupted: s\.state\.part has \d+ of 20 samples, from which --resume goes on\n\Z")

    def test_a_conversion_and_a_mend_say_what_is_saved(self):
        """A text with much white space takes a while to read."""
        text = json.dumps(graph([node("Abs", "q", "x")]))
        self.write("g.json", text[:1] + " " * 60_000_000 + text[1:])
        for words in (["convert", "g.json"], ["mend", "g.json", "-t", "tensorrt"]):
            with self.subTest(words[0]):
                err = self.interrupted(None, *words, "-o", "m.json")
                self.assertEqual(err, "qdq: interrupted: nothing was saved\n")
                self.assertFalse((self.folder / "m.json").exists())

    def test_a_run_counts_its_files(self):
        self.write("g.json", graph([node("Abs", "q", "x")]))
        os.mkfifo(self.folder / "pipe.npy")
        first = self.folder / "one.npy"
        err = self.interrupted(first.exists, "run", "g.json", "--fill", 1, "-o", "y=one.npy", "-o", "y=pipe.npy")
        self.assertRegex(err, r"\Aqdq: interrupted: 1 of 2 files of -o was written\n\Z")


class Interrupted(Case):
    def large(self, names):
        """A graph whose outputs take a while to write."""
        return graph(inputs=[value("x", "float32", [8 * MIB])], outputs={name: "x" for name in names})

    def interrupt(self, number, seconds, *words):
        process = subprocess.Popen([harness.QDQ, *map(str, words)], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(number)
        return process.wait(timeout=harness.TIMEOUT)

    def assert_whole_or_absent(self, file, elements):
        path = self.folder / file
        if not path.exists():
            return False
        one = read_npy(path) if file.endswith(".npy") else read_safetensors(path)["y"]
        self.assertEqual(len(one.data), 4 * elements)
        return True

    def test_no_hidden_or_partial_file_is_left(self):
        self.write("g.json", self.large(["y"]))
        for file in ("y.npy", "y.safetensors"):
            words = ["run", "g.json", "--fill", "1", "-o", f"y={file}"]
            begin = time.monotonic()
            self.qdq(*words)
            whole = time.monotonic() - begin
            ended = set()
            for turn in range(12):
                number = random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
                (self.folder / file).unlink(missing_ok=True)
                code = self.interrupt(number, random.uniform(0, 1.1 * whole), *words)
                self.assertIn(code, (0, -number))
                ended.add(code)
                if not self.assert_whole_or_absent(file, 8 * MIB):
                    self.assertEqual(code, -number)
                left = sorted(set(os.listdir(self.folder)) - {"g.json", "y.npy", "y.safetensors"})
                self.assertEqual(left, [], f"after {number} in turn {turn}")

    def test_waiting_for_a_pipe_can_be_interrupted(self):
        self.write("g.json", graph([quantize(scales=1, dtype="int8")]))
        os.mkfifo(self.folder / "pipe")
        for words in (["run", "g.json", "--fill", "1", "-o", "y=pipe"], ["check", "pipe"]):
            self.assertEqual(self.interrupt(signal.SIGINT, 0.5, *words), -signal.SIGINT)

    def test_a_signal_that_is_ignored_stays_ignored(self):
        self.write("g.json", self.large(["y"]))
        code = subprocess.run(["sh", "-c", 'trap "" INT; "$0" "$@" & sleep 0.05; kill -INT $!; wait $!',
                               harness.QDQ, "run", "g.json", "--fill", "1", "-o", "y=y.npy"],
                              cwd=self.folder, timeout=harness.TIMEOUT, check=False).returncode
        self.assertEqual(code, 0)
        self.assertTrue(self.assert_whole_or_absent("y.npy", 8 * MIB))


class Names(Case):
    """Mistakes in names are reported before anything is computed. Without --fill the run could not
    begin."""

    def refused(self, text, *words, code=2):
        self.write("g.json", graph([quantize(scales=1, dtype="int8")]))
        before = sorted(os.listdir(self.folder))
        result = self.qdq("run", "g.json", *words, code=code)
        self.assertIn(text, result.err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_outputs_to_write_are_checked_before_computing(self):
        self.refused("there is no output 'z'", "-o", "z=z.npy")
        self.refused("a tensor file ends in .npy, .safetensors or .mem", "-o", "y=y.txt")
        self.refused("wanted NAME=FILE, or a .safetensors file for all", "-o", "y.npy")
        self.refused("wanted [NAME=]FILE", "-o", "y=")
        self.refused("there is no output 'z'", "-o", "y=y.npy", "-o", "z=z.npy")
        self.refused("absent/y.npy: its folder takes no new file: No such file", "-o",
                     "y=absent/y.npy", code=3)
        (self.folder / "folder.npy").mkdir()
        self.refused("folder.npy: is not a regular file", "-o", "y=folder.npy", code=3)

    def test_expected_outputs_are_checked_before_computing(self):
        self.refused("there is no output 'z'", "-e", "z=z.npy")
        self.refused("absent.npy: cannot be opened: No such file", "-e", "y=absent.npy", code=3)
        self.write("other.safetensors", safetensors_bytes({"t": tensor("int8", [1], [1])}))
        self.refused("other.safetensors has no tensor with the name of an output", "-e",
                     "other.safetensors", code=3)
        self.write("y.npy", b"")
        self.refused("--tolerance is 'x'", "-e", "y=y.npy", "--tolerance", "x")
        self.refused("--worst is 'x'", "-e", "y=y.npy", "--worst", "x")

    def test_a_file_that_the_run_itself_writes_may_be_expected(self):
        self.write("g.json", graph([quantize(scales=1, dtype="int8")]))
        self.qdq("run", "g.json", "--fill", 1, "-o", "y=y.npy", "-e", "y=y.npy")


class Modes(Case):
    def test_a_file_that_is_replaced_keeps_its_mode(self):
        self.write("g.json", graph([quantize(scales=1)]))
        for name in ("y.npy", "y.safetensors"):
            path = self.folder / name
            for mode in (0o600, 0o640, 0o666):
                path.write_bytes(b"old")
                path.chmod(mode)
                self.qdq("run", "g.json", "--fill", 1, "-o", f"y={name}")
                self.assertNotEqual(path.read_bytes(), b"old")
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode, name)

    def test_a_new_file_gets_the_mode_of_the_umask(self):
        self.write("g.json", graph([quantize(scales=1)]))
        before = os.umask(0o027)
        try:
            for name in ("y.npy", "y.safetensors"):
                self.qdq("run", "g.json", "--fill", 1, "-o", f"y={name}")
                self.assertEqual(stat.S_IMODE((self.folder / name).stat().st_mode), 0o640)
        finally:
            os.umask(before)


if __name__ == "__main__":
    main()
