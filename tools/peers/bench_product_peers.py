# SPDX-License-Identifier: Apache-2.0
"""Peers that run bench_product_cases.py, the matrix products, and the limits."""

import ctypes
import json
import time

import numpy as np

import bench_product_cases
from bench_element_peers import Qdq
from bench_no_amx import refuse_amx
from bench_peer import SKEW, Peer, aligned
from bench_product_data import A_SCALE, A_ZERO, HELD, TYPES, Data, exact, graph, widened, \
    write_constants

LEAST_BUSY = 0.95  # fraction of the CPU time that oneDNN's threads get at best
RESULTS = "results.npy"  # written by qdq, which runs first


def placed(array, skew=0):
    """The same elements at a multiple of 4096, plus `skew` bytes."""
    memory = aligned(array.nbytes, skew)
    memory[:] = np.ascontiguousarray(array).reshape(-1).view("uint8")
    return memory


class ProductPeer(Peer):
    """`case` is the open case, and `y` the memory of its result."""

    case = y = None

    def begin(self, case):
        self.case, data = case, Data(case)
        self.y = aligned(case.rows * case.columns * np.dtype(HELD[TYPES[case.dtype][0]]).itemsize,
                         SKEW)
        return data

    def result(self):
        return self.y.view(HELD[TYPES[self.case.dtype][0]]).reshape(self.case.rows, -1)

    def difference(self, other):
        """For codes: how many differ, and how many by more than one. For floats: the greatest
        difference relative to the greatest number."""
        ours, other = widened(self.result(), TYPES[self.case.dtype][0]), other.astype("float64")
        apart = np.abs(ours - other)
        if self.case.dtype == "int8":
            return {"elements": apart.size, "differ": int((apart > 0).sum()),
                    "far": int((apart > 1).sum())}
        return {"part": float(apart.max() / np.abs(other).max())}

    def report(self, name, outputs):
        if not outputs:
            return {}
        other = np.load(self.folder / RESULTS)
        return {"difference": self.difference(widened(other, TYPES[self.case.dtype][0]))}


class QdqProduct(ProductPeer, Qdq):
    NAME = "qdq"

    def open(self, case):
        data = self.begin(case)
        write_constants(self.folder / "constants.safetensors", data)
        text = json.dumps(graph(case, data, "constants.safetensors")).encode()
        a, folder = placed(data.a), str(self.folder).encode()
        self.kept = [text, a, folder, data]
        self.words = ctypes.create_string_buffer(self.library.graph_bytes())
        self.demand(self.library.graph_open(self.words, text, ctypes.c_size_t(len(text)), folder,
                                            self.threads))
        for name, array in (("a", a), ("y", self.y)):
            self.demand(self.library.graph_bind(
                self.words, name.encode(), ctypes.c_void_p(array.ctypes.data),
                ctypes.c_size_t(array.nbytes)))
        run = self.timer(self.library.graph_run, ctypes.addressof(self.words))
        self.variants[self.NAME] = (run, [self.y])

    def report(self, name, outputs):
        np.save(self.folder / RESULTS, self.result())
        return {"difference": self.difference(exact(self.case, self.kept[-1]))}


class CappedQdq(QdqProduct):
    """qdq as on a machine whose kernel refuses AMX."""

    NAME = "qdq without AMX"

    def __init__(self, threads, folder):
        if not refuse_amx():
            self.open = lambda case: None
        super().__init__(threads, folder)

    def report(self, name, outputs):
        return ProductPeer.report(self, name, outputs)


class PeakWords(ctypes.Structure):
    _fields_ = [("peak", ctypes.c_void_p), ("threads", ctypes.c_int)]


class ReadWords(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("lines", ctypes.c_size_t), ("ways", ctypes.c_int),
                ("ahead", ctypes.c_int), ("threads", ctypes.c_int)]


class Limit(Peer):
    """The limits: as many multiplications on registers, with the fastest instructions, or a read of
    as many bytes as the weights have."""

    def __init__(self, threads, folder):
        super().__init__(threads, folder)
        self.library = ctypes.CDLL(str(folder / "product.so"))
        self.library.peak_open.restype = ctypes.c_size_t
        self.library.peak_name.restype = ctypes.c_char_p

    def open(self, case):
        if case.limit == "read":
            self.open_read(case)
            return
        which = 0
        while True:
            words = PeakWords()
            count = self.library.peak_open(ctypes.byref(words), case.dtype.encode(), which,
                                           self.threads)
            if not count:
                return
            self.add_peak(words, bench_product_cases.multiplications(case) / count)
            which += 1

    def add_peak(self, words, part):
        self.kept.append(words)
        run = self.timer(self.library.peak_run, ctypes.addressof(words))

        def timed(times):
            seconds, disturbed = run(times)
            return seconds * part, disturbed
        name = self.library.peak_name(ctypes.byref(words)).decode()
        self.variants[f"limit: {name}"] = (timed, None)

    def open_read(self, case):
        size = case.depth * case.columns * np.dtype(HELD[TYPES[case.dtype][1]]).itemsize
        data = aligned(size)
        data[:] = 1
        self.kept = [data]
        for ways in (1, 4):
            for ahead in (0, 1):
                words = ReadWords(data.ctypes.data, size // 64, ways, ahead, self.threads)
                self.kept.append(words)
                run = self.timer(self.library.read_run, ctypes.addressof(words))
                name = f"limit: a read, {ways} way{'s' if ways > 1 else ''}"
                self.variants[name + (", ahead" if ahead else "")] = (run, None)


class OneDnnWords(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("depth", ctypes.c_int64), ("columns", ctypes.c_int64),
                ("dtype", ctypes.c_char_p), ("a", ctypes.c_void_p), ("b", ctypes.c_void_p),
                ("y", ctypes.c_void_p), ("scales", ctypes.c_void_p), ("bias", ctypes.c_void_p),
                ("a_scale", ctypes.c_float), ("y_scale", ctypes.c_float),
                ("a_zero", ctypes.c_int32)]


class OneDnn(ProductPeer):
    """Its pool has one thread more than it should, and waits for it, so in every run the kernel
    takes the CPU from one thread for the other. A timing therefore counts as disturbed if its
    threads got less CPU time than at best, not by how often a CPU was taken away."""

    NAME = "oneDNN"

    def __init__(self, threads, folder):
        super().__init__(threads, folder)
        self.library = ctypes.CDLL(str(folder / "onednn.so"))
        self.library.product_open.restype = ctypes.c_void_p
        self.library.product_version.restype = ctypes.c_char_p
        self.product = self.kernel = None

    def about(self):
        return f"oneDNN {self.library.product_version().decode()}"

    def open(self, case):
        data = self.begin(case)
        a, b = placed(data.a), placed(data.b)
        words = OneDnnWords(case.rows, case.depth, case.columns, case.dtype.encode(),
                            a.ctypes.data, b.ctypes.data, self.y.ctypes.data)
        if case.dtype == "int8":
            words.scales, words.bias = data.b_scales.ctypes.data, data.bias.ctypes.data
            words.a_scale, words.a_zero, words.y_scale = A_SCALE, A_ZERO, data.y_scale
        self.kept = [data, a, b, words]
        kernel = ctypes.create_string_buffer(256)
        self.product = self.library.product_open(ctypes.byref(words), kernel,
                                                 ctypes.c_size_t(len(kernel)))
        self.kernel = kernel.value.decode()
        if not self.product:
            raise RuntimeError(self.kernel)
        run = self.timer(self.library.product_run, self.product)

        busiest = 0.0

        def timed(count):
            nonlocal busiest
            before = time.process_time()
            seconds = run(count)[0]
            busy = (time.process_time() - before) / seconds
            busiest = max(busiest, busy)
            return seconds, int(busy < LEAST_BUSY * busiest)
        self.variants[self.NAME] = (timed, [self.y])

    def report(self, name, outputs):
        return {**super().report(name, outputs), "kernel": self.kernel}

    def close(self):
        if self.product:
            self.library.product_close(ctypes.c_void_p(self.product))
        self.product = None
        super().close()


class CappedOneDnn(OneDnn):
    """oneDNN with ONEDNN_MAX_CPU_ISA set."""

    NAME = "oneDNN without AMX"


class Ort(ProductPeer):
    NAME = "ORT"

    def __init__(self, threads, folder):
        super().__init__(threads, folder)
        import bench_ort
        import bench_product_ort
        self.models = bench_product_ort
        self.all = bench_ort.ALL
        self.runtime = bench_ort.Runtime(threads)
        self.session = None

    def about(self):
        return f"ONNX Runtime {self.runtime.version}"

    def open(self, case):
        if case.dtype == "bfloat16":  # this oneDNN has no kernels for it
            return
        data = self.begin(case)
        a, runtime = placed(data.a), self.runtime
        dtype = TYPES[case.dtype][0]
        values = [runtime.tensor(a, dtype, data.a.shape),
                  runtime.tensor(self.y, dtype, (case.rows, case.columns))]
        names = [(ctypes.c_char_p * 1)(name) for name in (b"a", b"y")]
        lists = [(ctypes.c_void_p * 1)(value.value) for value in values]
        self.session = runtime.session(self.models.model_of(case, data), self.all)
        self.kept = [a, values, names, lists]
        run = self.timer(runtime.place("Run"), self.session.value, None,
                         ctypes.addressof(names[0]), ctypes.addressof(lists[0]), 1,
                         ctypes.addressof(names[1]), 1, ctypes.addressof(lists[1]))
        self.variants[self.NAME] = (run, [self.y])

    def close(self):
        if self.session:
            self.runtime.release("Session", self.session)
            for value in self.kept[1]:
                self.runtime.release("Value", value)
        self.session = None
        super().close()


class CappedOrt(Ort):
    """ONNX Runtime without AMX: it asks the kernel for AMX and does without if refused."""

    NAME = "ORT without AMX"

    def __init__(self, threads, folder):
        if not refuse_amx():
            self.open = lambda case: None
        super().__init__(threads, folder)


KINDS = {"limit": Limit, "qdq": QdqProduct, "qdq-capped": CappedQdq, "ort": Ort,
         "ort-capped": CappedOrt, "onednn": OneDnn, "onednn-capped": CappedOneDnn}
