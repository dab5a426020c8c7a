# SPDX-License-Identifier: Apache-2.0
"""One peer of bench_networks.py and bench_ops.py in a process of its own: reads orders as JSON lines and answers them.

    bench_network_peers.py KIND THREADS [ISA]

{"open": model, "feeds": file.npz, "target": name} loads a model, {"time": seconds} answers with the least time of a run,
{"load": true} with the time of loading the model once more, {"outputs": file.npz} writes the outputs in their order,
and {"close": true} ends a model. QDQ_LIBRARY names the library of qdq. ISA caps qdq; variables of bench_networks.py
cap the others.
"""

import json
import os
import sys
import time

import numpy as np


# A peer's load() returns a function that runs the model on bound inputs, one that returns the outputs, and objects that
# must live as long.


class Qdq:
    """The library that QDQ_LIBRARY names. `fast`: with integer execution."""

    def __init__(self, threads, isa, fast):
        import bench_network_qdq

        self.make = bench_network_qdq.Model
        self.library = bench_network_qdq.Library(os.environ["QDQ_LIBRARY"], threads)
        self.options, self.about = {"isa": isa and isa.encode(), "fast": fast}, ""

    def load(self, path, feeds, target):
        made = self.make(self.library, path, feeds, target and target.encode(), **self.options)
        return made.run, lambda: made.outputs, made


class Ort:
    """ONNX Runtime with these options of a session."""

    def __init__(self, threads, _isa, level="all", exact=False):
        import onnxruntime
        import ort_session

        entries = [("session.x64quantprecision", "1"), ("session.qdq_matmulnbits_accuracy_level", "0")] if exact else []
        self.session, self.options = ort_session.session, {"threads": threads, "level": level, "entries": entries}
        self.about = f"ONNX Runtime {onnxruntime.__version__}"

    def load(self, path, feeds, _target):
        made = self.session(path, **self.options)
        bound = made.io_binding()
        for name, array in feeds.items():
            bound.bind_cpu_input(name, array)
        for one in made.get_outputs():
            bound.bind_output(one.name)
        return lambda: made.run_with_iobinding(bound), bound.copy_outputs_to_cpu, feeds


class OpenVino:
    """OpenVINO in float32, as its users set it for a single stream. `group`: of activations quantized for int4 weights."""

    def __init__(self, threads, _isa, group=None):
        import openvino

        self.openvino, self.core = openvino, openvino.Core()
        self.options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        if group is not None:
            self.options["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = group
        self.about = f"OpenVINO {openvino.__version__.split('-')[0]}"

    def load(self, path, feeds, _target):
        model = self.core.read_model(path)
        if model.is_dynamic():
            model.reshape({name: list(array.shape) for name, array in feeds.items()})
        request = self.core.compile_model(model, "CPU", self.options).create_infer_request()
        for name, array in feeds.items():
            request.set_tensor(name, self.openvino.Tensor(array, shared_memory=True))
        outputs = [request.get_output_tensor(number) for number in range(len(model.outputs))]
        return lambda: request.infer(share_outputs=True), lambda: [one.data for one in outputs], (request, feeds)


KINDS = {  # name: (class, arguments, its name in tables)
    "qdq": (Qdq, {"fast": True}, "qdq --fast"),
    "qdq default": (Qdq, {"fast": False}, "qdq"),
    "ort": (Ort, {}, "ONNX Runtime"),
    "ort exact": (Ort, {"exact": True}, "ONNX Runtime"),
    "ort0": (Ort, {"level": "disabled"}, "ort0"),
    "openvino": (OpenVino, {}, "OpenVINO"),
    "openvino exact": (OpenVino, {"group": 0}, "OpenVINO"),
}


class Opened:
    """A loaded model."""

    def __init__(self, peer, path, feeds, target=None):
        with np.load(feeds) as arrays:
            self.words = (peer, path, dict(arrays), target)
        self.run, self.arrays, self.kept = self.loaded()

    def loaded(self):
        peer, *words = self.words
        return peer.load(*words)

    def load(self, _order):
        start = time.perf_counter()
        self.loaded()
        return time.perf_counter() - start

    def time(self, budget):
        """The least of as many runs as fit, at least two: the first finds cold caches."""
        least, count, begin = float("inf"), 0, time.perf_counter()
        while count < 2 or time.perf_counter() - begin < budget:
            start = time.perf_counter()
            self.run()
            least, count = min(least, time.perf_counter() - start), count + 1
        return least

    def outputs(self, file):
        self.run()
        np.savez(file, *self.arrays())
        return file


def main(kind, threads, isa=None):
    make, arguments, _ = KINDS[kind]
    peer, opened = make(int(threads), isa, **arguments), None
    print(json.dumps({"about": peer.about}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if "open" in order:
                opened, answer = Opened(peer, order["open"], order["feeds"], order.get("target")), True
            elif "close" in order:
                opened, answer = None, True
            else:
                [(word, value)] = order.items()
                answer = getattr(opened, word)(value)
            said = {"answer": answer}
        except Exception as error:  # of any peer: its row goes without it
            said = {"error": str(error).strip()[-400:]}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
