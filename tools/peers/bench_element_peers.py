# SPDX-License-Identifier: Apache-2.0
"""Peers that run bench_cases.py, the elementwise work."""

import ctypes
import json
import time

import numpy as np

import bench_cases
from bench_cases import in_bytes, out_bytes
from bench_peer import SKEW, Peer, aligned

NUMPY = {"float32": "float32", "int32": "int32", "bfloat16": "uint16", "int8": "int8",
         "uint8": "uint8"}


class SessionWords(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("create", "release", "env", "model")] + [
        ("bytes", ctypes.c_size_t), ("options", ctypes.c_void_p)]


class TileWords(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("source", ctypes.c_void_p),
                ("target", ctypes.c_void_p), ("threads", ctypes.c_int)]


# ---- Memory ----


def input_of(case):
    """The input, the same for every peer."""
    rng = np.random.default_rng(11)
    count = bench_cases.elements(case)
    block = min(count, 1 << 20)
    if case.x == "int32":
        values = rng.integers(-100000, 100000, block, "int32")
    elif case.x in ("int8", "uint8"):
        values = rng.integers(0, 256, block, "uint8")
    else:
        values = (rng.standard_normal(block) * 2).astype("float32")
        if case.x == "bfloat16":
            values = (values.view("uint32") >> 16).astype("uint16")
    memory = aligned(in_bytes(case))
    memory.reshape(-1, values.nbytes)[:] = values.view("uint8")
    return memory


def output_memory(case):
    sizes = [max(1, int(np.prod(shape))) * bench_cases.BYTES[dtype]
             for _, dtype, shape in bench_cases.outputs_of(case)]
    return [aligned(size, SKEW) for size in sizes]


# ---- Peers ----


class Qdq(Peer):
    def __init__(self, threads, folder):
        super().__init__(threads, folder)
        self.library = ctypes.CDLL(str(folder / "qdq.so"))
        for name in ("graph_open", "graph_bind"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.library.graph_bytes.restype = ctypes.c_size_t
        self.library.limit_bytes.restype = ctypes.c_size_t
        self.words = None

    def demand(self, error):
        if error:
            raise RuntimeError(error.decode())

    def open(self, case):
        x, outputs = input_of(case), output_memory(case)
        self.kept = [x, outputs]
        if case.kind in ("tilize", "untilize"):
            words = TileWords(*case.shape, x.ctypes.data, outputs[0].ctypes.data, self.threads)
            self.kept.append(words)
            function = getattr(self.library, f"{case.kind}_bfloat16")
            self.variants["qdq"] = (self.timer(function, ctypes.addressof(words)), outputs)
            return
        text = json.dumps(bench_cases.qdq_graph(case)).encode()
        self.words = ctypes.create_string_buffer(self.library.graph_bytes())
        self.kept.append(text)
        self.demand(self.library.graph_open(self.words, text, ctypes.c_size_t(len(text)),
                                            None, self.threads))
        if case.kind == "compile":
            run = self.timer(self.library.graph_compile, ctypes.addressof(self.words))
            self.variants["qdq"] = (run, None)
            return
        names = [name for name, _, _ in bench_cases.outputs_of(case)]
        for name, array in zip(["x", *names], [x, *outputs]):
            self.demand(self.library.graph_bind(
                self.words, name.encode(), ctypes.c_void_p(array.ctypes.data),
                ctypes.c_size_t(array.nbytes)))
        run = self.timer(self.library.graph_run, ctypes.addressof(self.words))
        self.variants["qdq"] = (run, outputs)

    def close(self):
        if self.words:
            self.library.graph_close(self.words)
        self.words = None
        super().close()


class Limit(Qdq):
    """The limits: a copy of the same bytes, and a stream of the same bytes in and out, with either
    kind of store."""

    def open(self, case):
        if case.small:
            return
        reads, writes = in_bytes(case), out_bytes(case)
        half = (reads + writes) // 2
        source, target = aligned(max(reads, half)), aligned(max(writes, half), SKEW)
        source[:] = 1
        self.kept = [source, target]
        shapes = {"copy": (0, half, half, 0, 1), "stream": (case.first, reads, writes, 0, 0),
                  "stream NT": (case.first, reads, writes, 1, 0)}
        for name, (first, read, write, nontemporal, copy) in shapes.items():
            if case.first and copy:
                continue
            for threads in sorted({1, self.threads}):
                words = ctypes.create_string_buffer(self.library.limit_bytes())
                self.library.limit_open(
                    words, ctypes.c_void_p(source.ctypes.data),
                    ctypes.c_void_p(target.ctypes.data), ctypes.c_size_t(first),
                    ctypes.c_size_t(read), ctypes.c_size_t(write), nontemporal, copy, threads)
                self.kept.append(words)
                run = self.timer(self.library.limit_run, ctypes.addressof(words))
                self.variants[f"{name}, {threads}T"] = (run, None)


class Ort(Peer):
    def __init__(self, threads, folder):
        super().__init__(threads, folder)
        import bench_ort
        self.module = bench_ort
        self.runtime = bench_ort.Runtime(threads)
        self.sessions = []

    def about(self):
        return f"ONNX Runtime {self.runtime.version}"

    def open(self, case):
        x, outputs = input_of(case), output_memory(case)
        named = bench_cases.outputs_of(case)
        model, before, after = self.module.model_of(case, named)
        runtime = self.runtime
        if case.kind == "compile":
            text = ctypes.create_string_buffer(model, len(model))
            words = SessionWords(runtime.place("CreateSessionFromArray"),
                                 runtime.place("ReleaseSession"), runtime.env.value,
                                 ctypes.addressof(text), len(model),
                                 runtime.options(self.module.NONE).value)
            self.kept = [text, words]
            run = self.timer(self.loop.make_session, ctypes.addressof(words))
            self.variants["ORT unoptimized"] = (run, None)
            return
        levels = {"ORT": self.module.ALL}
        if len(case.nodes) > 1 or case.name.startswith("Requantize"):
            levels["ORT unoptimized"] = self.module.NONE
        values = [runtime.tensor(x, case.x, before)] + [
            runtime.tensor(array, dtype, after or shape)
            for array, (_, dtype, shape) in zip(outputs, named)]
        names = [(ctypes.c_char_p * 1)(b"x"),
                 (ctypes.c_char_p * len(named))(*(name.encode() for name, _, _ in named))]
        lists = [(ctypes.c_void_p * 1)(values[0]),
                 (ctypes.c_void_p * len(named))(*(value.value for value in values[1:]))]
        self.kept = [x, outputs, names, lists]
        for name, level in levels.items():
            session = runtime.session(model, level)
            self.sessions.append(session)
            run = self.timer(runtime.place("Run"), session.value, None, ctypes.addressof(names[0]),
                             ctypes.addressof(lists[0]), 1, ctypes.addressof(names[1]), len(named),
                             ctypes.addressof(lists[1]))
            self.variants[name] = (run, outputs)

    def close(self):
        for session in self.sessions:
            self.runtime.release("Session", session)
        self.sessions = []
        super().close()


class Torch(Peer):
    """Called from Python, with a new tensor for each result, as PyTorch is used."""

    def __init__(self, threads, folder):
        super().__init__(threads, folder)
        import warnings

        import torch
        warnings.simplefilter("ignore")
        torch.set_num_threads(threads)
        self.torch = torch

    def about(self):
        return f"PyTorch {self.torch.__version__}"

    def open(self, case):
        torch = self.torch
        if len(case.nodes) != 1 or case.kind != "run":
            return
        op, attrs = case.nodes[0]
        x = torch.from_numpy(input_of(case).view(NUMPY[case.x])).reshape(case.shape)
        kind = {"int8": torch.qint8, "uint8": torch.quint8}.get(attrs["dtype"])
        if op == "Quantize" and case.x == "float32":
            scales, zps = attrs["scales"], attrs["zps"]
            if "axis" in attrs:
                def run(scales=torch.tensor(scales), zps=torch.tensor(zps)):
                    return torch.quantize_per_channel(x, scales, zps, attrs["axis"], kind)
            else:
                def run():
                    return torch.quantize_per_tensor(x, scales, zps, kind)
        elif op == "DynamicQuantize":
            def run():
                return torch.quantize_per_tensor_dynamic(x, kind, False)
        elif op == "Dequantize" and attrs["dtype"] == "float32":
            codes = torch._make_per_tensor_quantized_tensor(x, attrs["scales"], attrs["zps"])

            def run():
                return codes.dequantize()
        else:
            return
        made = run()
        arrays = [(made.int_repr() if made.is_quantized else made).numpy().view("uint8")]
        if op == "DynamicQuantize":
            arrays += [np.float32(made.q_scale()), np.uint8(made.q_zero_point())]

        def timed(count):
            start = time.perf_counter()
            for _ in range(count):
                run()
            return time.perf_counter() - start, 0
        self.variants["PyTorch"] = (timed, arrays)


KINDS = {"qdq": Qdq, "limit": Limit, "ort": Ort, "torch": Torch}
