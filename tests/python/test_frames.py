# SPDX-License-Identifier: Apache-2.0
"""Graphs with state run frame by frame: Graph.run_frames, and first_states and next_states for a stream that does not end.

    test_frames.py SOURCE_ROOT
"""

import pickle
import sys
import unittest
from pathlib import Path

import numpy as np
import qdq

ROOT = Path(sys.argv.pop(1))


def running_sum(first=None):
    """The next sum is sum + x, and y its ReLU; z is a scalar of each frame."""
    b = qdq.Builder("sums")
    x, z, total = b.input("x", "float32", (2, 3)), b.input("z", "float32", ()), b.input("sum", "float32", (2, 3))
    after = b.add(total, x, name="after")
    b.output("sum/next", after)
    b.output("y", b.relu(after))
    b.output("negative", b.subtract(np.float32(0), z))
    b.state(total, "sum/next", first)
    return b.build()


class Frames(unittest.TestCase):
    def test_states_are_listed(self):
        (state,) = running_sum(first=4).states
        self.assertEqual((state.input, state.output, state.initial.dtype), ("sum", "sum/next", np.float32))
        np.testing.assert_array_equal(state.initial, np.full((2, 3), 4))
        np.testing.assert_array_equal(running_sum().states[0].initial, np.zeros((2, 3)))
        self.assertEqual(qdq.load(ROOT / "models/keyword/keyword.tflite").states, [])

    def test_frames_pass_on_the_state(self):
        x, z = np.arange(-9, 15, dtype=np.float32).reshape(8, 3), np.arange(4, dtype=np.float32)
        wanted = 4 + np.cumsum(x.reshape(4, 2, 3), axis=0)
        for frames in (None, 4):
            found = running_sum(first=4).run_frames({"x": x}, z=z, frames=frames)
            np.testing.assert_array_equal(found["sum/next"], wanted.reshape(8, 3))
            np.testing.assert_array_equal(found["y"], np.maximum(wanted, 0).reshape(8, 3))
            np.testing.assert_array_equal(found["negative"], -z)
        given = running_sum().run_frames(x=x, z=z, sum=np.full((2, 3), 4, np.float32), values=["after"])
        np.testing.assert_array_equal(given["after"], wanted.reshape(8, 3))

    def test_a_stream(self):
        graph = running_sum()
        plan, states = graph.compile(), graph.first_states()
        for i in range(1, 4):
            made = plan.run({**states, "x": np.ones((2, 3), np.float32), "z": np.float32(0)})
            states = graph.next_states(made)
            np.testing.assert_array_equal(made["y"], np.full((2, 3), i))

    def test_copies_keep_states(self):
        graph = running_sum(first=[1, 2, 3, 4, 5, 6])
        for one in (graph.deployed("litert"), graph.mended("ttnn"), pickle.loads(pickle.dumps(graph))):
            (state,) = one.states
            self.assertEqual(state.initial.ravel().tolist(), [1, 2, 3, 4, 5, 6])

    def test_inputs_that_do_not_fit_are_told(self):
        graph, z = running_sum(), np.zeros(2, np.float32)
        for wanted, given in (
            (r"'x' has shape \[5, 3\], wanted frames of \[2, 3\]", {"x": np.zeros((5, 3), np.float32), "z": z}),
            ("'z' has 2 frames, wanted 3", {"x": np.zeros((6, 3), np.float32), "z": z}),
            ("'x' has 2 frames, wanted 1", {"x": np.zeros((4, 3), np.float32), "z": z, "frames": 1}),
            ("input 'z' is missing", {"x": np.zeros((4, 3), np.float32)}),
            ("no input 'w'", {"x": np.zeros((4, 3), np.float32), "z": z, "w": z}),
        ):
            with self.subTest(wanted), self.assertRaisesRegex(qdq.ArgumentError, wanted):
                graph.run_frames(**given)
        with self.assertRaisesRegex(TypeError, "frames is a str"):
            graph.run_frames(x=np.zeros((2, 3), np.float32), z=np.zeros(1, np.float32), frames="1")

    def test_a_graph_of_states_alone_takes_a_number(self):
        b = qdq.Builder("count")
        n = b.input("n", "float32", (1,))
        b.output("next", b.add(n, np.ones(1, np.float32)))
        b.state(n, "next")
        graph = b.build()
        self.assertEqual(graph.run_frames(frames=3)["next"].tolist(), [1, 2, 3])
        with self.assertRaisesRegex(qdq.ArgumentError, "no input has frames"):
            graph.run_frames()


if __name__ == "__main__":
    unittest.main()
