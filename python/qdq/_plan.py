# SPDX-License-Identifier: Apache-2.0
"""Compiled graphs, and running them."""

import ctypes
from typing import NamedTuple

import numpy as np

from . import _dtypes as dtypes
from ._library import ArgumentError, CError, CExecOptions, call, lib


class TensorInfo(NamedTuple):
    """An input, an output or a kept value."""

    name: str
    dtype: str  # "bfloat16"
    shape: tuple
    numpy: np.dtype  # of the arrays that hold it


class _Tensor(NamedTuple):
    info: TensorInfo
    key: bytes  # its name in the plan
    number: int  # its dtype
    bytes: int
    count: int


class Plan:
    """A graph that is compiled for a target: run it as often as you like, from any thread.

    Made by Graph.compile. Runs of several threads at once each take memory of their own, which the plan keeps.
    """

    def __init__(self, handle, original_value, original_output, pool):
        self._handle = handle
        self._idle = []  # (exec, error) that no run uses; append and pop are atomic
        self._all = []
        self._threads = pool  # qdq_threads, destroyed with the plan; None: one thread
        self._inputs = self._list(lib.qdq_plan_input_count, lib.qdq_plan_input, original_value)
        self._outputs = self._list(lib.qdq_plan_output_count, lib.qdq_plan_output, original_output)
        self._kept = self._list(lib.qdq_plan_kept_count, lib.qdq_plan_kept, original_value)
        self._names = {tensor.info.name for tensor in self._inputs}

    def _list(self, count, get, original):
        made = []
        for i in range(count(self._handle)):
            one = get(self._handle, i).contents
            dtype = dtypes.name_of(one.dtype)
            info = TensorInfo(original(one.name), dtype, one.shape.tuple(), dtypes.numpy_of(dtype))
            made.append(_Tensor(info, bytes(one.name), one.dtype, one.bytes, int(np.prod(info.shape, dtype=np.int64))))
        return made

    @property
    def inputs(self):
        """[TensorInfo, ...] of the inputs."""
        return [tensor.info for tensor in self._inputs]

    @property
    def outputs(self):
        """[TensorInfo, ...] of the outputs."""
        return [tensor.info for tensor in self._outputs]

    @property
    def values(self):
        """[TensorInfo, ...] of the values that a run returns besides the outputs."""
        return [tensor.info for tensor in self._kept]

    def run(self, inputs=None, **named):
        """Runs the graph once and returns {name: array} of the outputs, and of the values that are kept.

        Inputs are given by name, as keywords or in a dict (for names that are no words of Python). An array of the
        input's dtype and shape is read where it lies. Other threads may run meanwhile, but must not write to it.
        Raises ArgumentError if an input is missing, unknown, or has another dtype or shape.
        """
        given = {**inputs, **named} if inputs else named
        if given.keys() != self._names:
            self.refuse(given)
        try:
            idle = handle, error = self._idle.pop()
        except IndexError:
            idle = handle, error = self._new_exec(), CError()
        bind = lib.qdq_exec_bind
        try:
            arrays = []  # alive until the run ends
            for info, key, _, size, _ in self._inputs:
                array = dtypes.to_array(given[info.name], info.name, info.dtype, info.shape)
                arrays.append(array)
                bind(handle, key, array.__array_interface__["data"][0], size, error)
            made = {}
            for info, key, _, size, _ in self._outputs:
                made[info.name] = array = np.empty(info.shape, info.numpy)
                bind(handle, key, array.__array_interface__["data"][0], size, error)
            if error.status:
                failure, error.status = error.exception(), 0
                raise failure
            lib.qdq_exec_run(handle)
            for info, key, number, _, count in self._kept:
                if info.name not in made:
                    made[info.name] = array = np.empty(info.shape, info.numpy)
                    call(lib.qdq_exec_read, handle, key, number, array.ctypes.data, count)
            return made
        finally:
            self._idle.append(idle)

    def refuse(self, given):
        """Raises the ArgumentError for inputs that are missing or unknown. given: {name: array}."""
        missing = [tensor.info.name for tensor in self._inputs if tensor.info.name not in given]
        unknown = [str(name) for name in given if name not in self._names]
        parts = [f"input '{missing[0]}' is missing"] if missing else []
        parts += [f"there is no input '{unknown[0]}'"] if unknown else []
        raise ArgumentError("; ".join(parts) + f"; the graph has {', '.join(sorted(self._names)) or 'no inputs'}")

    def _new_exec(self):
        options = CExecOptions()
        if self._threads:
            options.parallel = lib.qdq_parallel_threads(self._threads)
        handle = call(lib.qdq_exec_create, self._handle, ctypes.byref(options))
        self._all.append(handle)
        return handle

    def __repr__(self):
        def text(tensors):
            return ", ".join(f"{t.name} {t.dtype}{list(t.shape)}" for t in tensors)

        return f"<qdq.Plan: {text(self.inputs)} -> {text(self.outputs)}>"

    def __del__(self):
        for handle in getattr(self, "_all", ()):
            lib.qdq_exec_destroy(handle)
        if getattr(self, "_threads", None):
            lib.qdq_threads_destroy(self._threads)
        if getattr(self, "_handle", None):
            lib.qdq_plan_destroy(self._handle)
