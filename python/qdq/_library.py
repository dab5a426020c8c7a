# SPDX-License-Identifier: Apache-2.0
"""Binds the C library: its structs and functions (include/qdq/), and its errors as exceptions."""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple

if TYPE_CHECKING:
    from ._report import Report

MAX_RANK = 8


class Error(Exception):
    """A call failed. The message is a sentence: where, what was found, and how to mend it."""


class ArgumentError(Error, ValueError):
    """A name, dtype, shape or option is wrong."""


class ParseError(Error, ValueError):
    """A file is not what it claims to be."""


class GraphError(Error, ValueError):
    """The graph breaks a rule that holds for every target. `report` has all findings."""

    report: Optional[Report] = None


class UnsupportedError(Error):
    """The target refuses the graph, or the library lacks something it needs. `report` has all findings."""

    report: Optional[Report] = None


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class LimitError(Error, ValueError):
    """A limit on memory, elements or operations was reached."""


# Indexed by qdq_status.
_KINDS = {1: ArgumentError, 2: ParseError, 3: GraphError, 4: UnsupportedError, 5: FileError, 7: LimitError}


class CError(Structure):  # qdq_error
    _fields_ = [("status", c_int), ("text", c_char * 1024)]

    def exception(self) -> Exception:
        text = self.text.decode("utf-8", "replace")
        return MemoryError(text) if self.status == 6 else _KINDS.get(self.status, Error)(text)


class CShape(Structure):  # qdq_shape
    _fields_ = [("rank", c_int), ("dims", c_int64 * MAX_RANK)]

    @classmethod
    def of(cls, shape: Iterable[int]) -> CShape:
        shape = tuple(int(d) for d in shape)
        if len(shape) > MAX_RANK:
            raise ArgumentError(f"a shape has {len(shape)} dims, wanted at most {MAX_RANK}")
        return cls(len(shape), (c_int64 * MAX_RANK)(*shape))

    def tuple(self) -> Tuple[int, ...]:
        return tuple(self.dims[: self.rank])


class CTensorInfo(Structure):  # qdq_tensor_info
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("shape", CShape), ("bytes", c_size_t)]


class CLimits(Structure):  # qdq_limits
    _fields_ = [(n, c_size_t) for n in ("file_bytes", "json_values", "elements", "bytes", "findings", "operations")]


class CInputShape(Structure):  # qdq_input_shape
    _fields_ = [("name", c_char_p), ("shape", CShape), ("tentative", c_bool), ("samples", c_bool)]


class CDimSize(Structure):  # qdq_dim_size
    _fields_ = [("name", c_char_p), ("size", c_int64), ("tentative", c_bool)]


class CGraphOptions(Structure):  # qdq_graph_options
    _fields_ = [
        ("allocator", c_void_p), ("log_write", c_void_p), ("log_self", c_void_p), ("limits", CLimits),
        ("target", c_char_p), ("shapes", POINTER(CInputShape)), ("shape_count", c_size_t),
        ("dims", POINTER(CDimSize)), ("dim_count", c_size_t), ("until", c_char_p),
        ("keep_open_dims", c_bool), ("batch", c_int64),
    ]  # fmt: skip


class CParallel(Structure):  # qdq_parallel
    _fields_ = [("run", c_void_p), ("self", c_void_p), ("least", c_size_t)]


class CCompileOptions(Structure):  # qdq_compile_options
    _fields_ = [
        ("target", c_char_p), ("numerics", c_void_p), ("float_storage", c_int), ("isa", c_char_p),
        ("layout", c_int), ("keep_all", c_bool), ("keep", POINTER(c_char_p)), ("keep_count", c_size_t),
        ("materialize", c_bool), ("fast", c_bool), ("device", c_void_p), ("parallel", CParallel),
    ]  # fmt: skip


class CExecOptions(Structure):  # qdq_exec_options
    _fields_ = [("allocator", c_void_p), ("parallel", CParallel), ("poison", c_bool)]


_FINDING = ("target", "node", "op", "port", "found", "wanted", "hint", "message", "source")


class CFinding(Structure):  # qdq_finding
    _fields_ = [("rule", c_char_p), ("severity", c_int), *((name, c_char_p) for name in _FINDING)]


_EVIDENCE = ("kind", "versions", "ops", "what", "condition", "against", "compared", "date")
BITS = ("", "unknown", "close", "read", "exact")  # qdq_bits


class CEvidence(Structure):  # qdq_evidence
    _fields_ = [("bits", c_int), *((name, c_char_p) for name in _EVIDENCE)]


class CNodeBits(Structure):  # qdq_node_bits
    _fields_ = [
        ("node", c_char_p), ("op", c_char_p), ("original", c_char_p), ("bits", c_int), ("from_same_inputs", c_bool),
        ("rule", c_char_p), ("evidence", POINTER(CEvidence)),
    ]  # fmt: skip


class CReport(Structure):  # qdq_report
    _fields_ = [
        ("findings", POINTER(CFinding)), ("count", c_size_t), ("errors", c_size_t), ("warnings", c_size_t),
        ("nodes", POINTER(CNodeBits)), ("node_count", c_size_t), ("nodes_with", c_size_t * len(BITS)),
    ]  # fmt: skip


class CRewrite(Structure):  # qdq_rewrite_info
    _fields_ = [
        ("pass", c_char_p), ("group", c_char_p), ("node", c_char_p), ("nodes", POINTER(c_char_p)),
        ("node_count", c_size_t), ("result", c_char_p), ("reason", c_char_p), ("cause", c_char_p), ("rule", c_char_p),
    ]  # fmt: skip


class CTargetInfo(Structure):  # qdq_target_info
    _fields_ = [("name", c_char_p), ("summary", c_char_p)] + [
        (n, c_size_t) for n in ("rule_count", "release_count", "default_release", "option_count", "evidence_count")
    ]


class CValue(Structure):  # qdq_value
    _fields_ = [("id", c_uint32)]


class CNodeInfo(Structure):  # qdq_node_info
    _fields_ = [("name", c_char_p), ("op", c_char_p), ("input_count", c_size_t), ("output_count", c_size_t),
                ("original", c_char_p)]  # fmt: skip


class CStateInfo(Structure):  # qdq_state_info
    _fields_ = [("input", c_char_p), ("output", c_char_p), ("initial", c_void_p)]


class COpInfo(Structure):  # qdq_op_info
    _fields_ = [
        ("name", c_char_p), ("summary", c_char_p),
        ("input_count", c_size_t), ("output_count", c_size_t), ("attr_count", c_size_t),
    ]  # fmt: skip


class CPortInfo(Structure):  # qdq_port_info
    _fields_ = [("name", c_char_p), ("optional", c_bool), ("dtypes", c_uint64), ("variadic", c_bool), ("fill", c_int)]


class CAttrInfo(Structure):  # qdq_attr_info
    _fields_ = [
        ("name", c_char_p), ("type", c_char_p), ("words", POINTER(c_char_p)), ("default_text", c_char_p),
        ("summary", c_char_p), ("required", c_bool),
    ]  # fmt: skip


class CTileShape(Structure):  # qdq_tile_shape
    _fields_ = [("height", c_uint32), ("width", c_uint32), ("transpose", c_bool)]


class CPlanValue(Structure):  # qdq_plan_value
    _fields_ = [
        ("name", c_char_p), ("dtype", c_int), ("shape", CShape), ("padded_shape", CShape), ("tiles", c_size_t),
        ("bytes", c_size_t), ("offset", c_size_t), ("first_step", c_size_t), ("last_step", c_size_t),
        ("tile", CTileShape),
    ]  # fmt: skip


class CPlanStats(Structure):  # qdq_plan_stats
    _fields_ = [
        ("arena_bytes", c_size_t), ("peak_live_bytes", c_size_t), ("padding_bytes", c_size_t), ("tiles", c_size_t),
        ("tiled", c_bool), ("page_bytes", c_size_t), ("io_bytes", c_size_t), ("constant_bytes", c_size_t),
        ("scratch_bytes", c_size_t), ("moved_bytes", c_size_t), ("necessary_bytes", c_size_t), ("operations", c_size_t),
        ("value_count", c_size_t), ("step_count", c_size_t),
    ]  # fmt: skip


class CPlanStep(Structure):  # qdq_plan_step, its first fields
    _fields_ = [
        ("text", c_char_p), ("shape", c_char_p), ("tiled", c_bool), ("blocks", c_size_t), ("reads", c_char_p),
        ("writes", c_char_p), ("streamed", c_bool), ("read_bytes", c_size_t), ("write_bytes", c_size_t),
        ("operations", c_size_t), ("scratch_bytes", c_size_t),
    ]  # fmt: skip


_DEVICE = ("grid_x", "grid_y", "dram_banks", "dram_bank_size", "dram_base", "dram_alignment", "l1_size", "l1_base",
           "l1_alignment", "l1_small_size", "trace_region_size")  # fmt: skip


class CDevice(Structure):  # qdq_device
    _fields_ = [("name", c_char * 32), ("arch", c_int), *((name, c_uint64) for name in _DEVICE)]


class CDeviceBuffer(Structure):  # qdq_device_buffer
    _fields_ = [
        ("name", c_char_p), ("role", c_int), ("dtype", c_int), ("shape", CShape), ("layout", c_int), ("pool", c_int),
        ("memory_layout", c_int), ("memory_config", c_void_p), ("tile", CTileShape), ("address", c_uint64),
        ("page_bytes", c_uint64), ("pages", c_uint64), ("size", c_uint64), ("slot_bytes", c_uint64), ("banks", c_uint64), ("bytes_per_bank", c_uint64), ("taken", c_uint64),
        ("view_of", c_size_t), ("cores", c_size_t), ("first_step", c_size_t), ("last_step", c_size_t),
        ("last_use", c_size_t), ("lives_on", c_bool),
    ]  # fmt: skip


class CDevicePlan(Structure):  # qdq_device_plan, its first fields
    _fields_ = [("device", c_void_p), ("buffers", POINTER(CDeviceBuffer)), ("buffer_count", c_size_t)]


class CPage(Structure):  # qdq_page
    _fields_ = [("bank", c_uint64), ("address", c_uint64), ("core_x", c_uint16), ("core_y", c_uint16)]


class CTilesView(Structure):  # qdq_tiles_view
    _fields_ = [
        ("data", c_void_p), ("dtype", c_int), ("shape", CShape), ("padded_shape", CShape), ("tiles", c_size_t),
        ("tile_bytes", c_size_t), ("pages", c_size_t), ("page_bytes", c_size_t), ("tile", CTileShape),
    ]  # fmt: skip


class CQuantizedForm(Structure):  # qdq_quantized_form
    _fields_ = [
        ("ops", c_char_p), ("moves", c_char_p), ("values", c_int), ("weights", c_int), ("bias", c_int), ("residual", c_int),
        ("symmetric", c_bool), ("zero_points", c_bool), ("results", c_bool), ("groups", c_bool), ("stacks", c_bool),
        ("softmax", c_bool), ("float_results", c_char_p), ("whole", c_bool), ("operators", c_char_p),
        ("clips", c_char_p), ("shares", c_char_p), ("biased", c_char_p), ("fixed", c_void_p), ("halves_away", c_bool),
        ("channels_last", c_bool),
    ]  # fmt: skip


_INFO, _ERROR, _GRAPH, _PLAN, _EXEC = POINTER(CTensorInfo), POINTER(CError), c_void_p, c_void_p, c_void_p
_FUNCTIONS = {  # name: result, then parameters
    "qdq_version": (c_char_p,),
    "qdq_dtype_from_name": (c_int, c_char_p),
    "qdq_dtype_name": (c_char_p, c_int),
    "qdq_graph_load": (_GRAPH, c_char_p, POINTER(CGraphOptions), _ERROR),
    "qdq_graph_parse": (_GRAPH, c_char_p, c_size_t, c_char_p, c_char_p, POINTER(CGraphOptions), _ERROR),
    "qdq_graph_write": (c_int, _GRAPH, c_char_p, _ERROR),
    "qdq_graph_write_whole": (c_int, _GRAPH, c_char_p, c_size_t, _ERROR),
    "qdq_graph_write_c": (c_int, _GRAPH, c_char_p, _ERROR),
    "qdq_graph_destroy": (None, _GRAPH),
    "qdq_graph_validate": (POINTER(CReport), _GRAPH, c_char_p, _ERROR),
    "qdq_graph_name": (c_char_p, _GRAPH),
    "qdq_graph_target": (c_char_p, _GRAPH),
    "qdq_graph_node_count": (c_size_t, _GRAPH),
    "qdq_graph_node": (CNodeInfo, _GRAPH, c_size_t),
    "qdq_graph_node_input": (CValue, _GRAPH, c_size_t, c_size_t),
    "qdq_graph_node_output": (CValue, _GRAPH, c_size_t, c_size_t),
    "qdq_graph_node_attrs": (c_size_t, _GRAPH, c_size_t, c_size_t, c_char_p, c_size_t),
    "qdq_graph_find": (CValue, _GRAPH, c_char_p),
    "qdq_graph_state_count": (c_size_t, _GRAPH),
    "qdq_graph_state": (POINTER(CStateInfo), _GRAPH, c_size_t),
    "qdq_graph_value_count": (c_size_t, _GRAPH),
    "qdq_graph_get_value": (CValue, _GRAPH, c_size_t),
    "qdq_graph_output_count": (c_size_t, _GRAPH),
    "qdq_graph_get_output": (c_char_p, _GRAPH, c_size_t),
    "qdq_value_name": (c_char_p, _GRAPH, CValue),
    "qdq_value_type": (c_bool, _GRAPH, CValue, POINTER(c_int), POINTER(CShape)),
    "qdq_value_is_constant": (c_bool, _GRAPH, CValue),
    "qdq_value_is_input": (c_bool, _GRAPH, CValue),
    "qdq_value_data": (c_void_p, _GRAPH, CValue),
    "qdq_graph_deployed": (_GRAPH, _GRAPH, c_char_p, _ERROR),
    "qdq_graph_mended": (_GRAPH, _GRAPH, c_char_p, _ERROR),
    "qdq_graph_rewrite_count": (c_size_t, _GRAPH),
    "qdq_graph_rewrite": (CRewrite, _GRAPH, c_size_t),
    "qdq_output_value": (CValue, _GRAPH, c_char_p),
    "qdq_value_original": (c_char_p, _GRAPH, c_char_p),
    "qdq_output_original": (c_char_p, _GRAPH, c_char_p),
    "qdq_devices": (POINTER(CDevice), POINTER(c_size_t)),
    "qdq_device_find": (c_void_p, c_char_p, _ERROR),
    "qdq_graph_compile": (_PLAN, _GRAPH, POINTER(CCompileOptions), _ERROR),
    "qdq_plan_destroy": (None, _PLAN),
    "qdq_plan_input_count": (c_size_t, _PLAN),
    "qdq_plan_output_count": (c_size_t, _PLAN),
    "qdq_plan_kept_count": (c_size_t, _PLAN),
    "qdq_plan_input": (_INFO, _PLAN, c_size_t),
    "qdq_plan_output": (_INFO, _PLAN, c_size_t),
    "qdq_plan_kept": (_INFO, _PLAN, c_size_t),
    "qdq_plan_get_value": (POINTER(CPlanValue), _PLAN, c_size_t),
    "qdq_plan_get_stats": (CPlanStats, _PLAN),
    "qdq_plan_get_step": (POINTER(CPlanStep), _PLAN, c_size_t),
    "qdq_plan_device": (POINTER(CDevicePlan), _PLAN),
    "qdq_plan_buffer_page": (c_bool, _PLAN, c_size_t, c_uint64, POINTER(CPage)),
    "qdq_buffer_type_name": (c_char_p, c_int),
    "qdq_tile_shape_bytes": (c_size_t, CTileShape, c_int),
    "qdq_exec_create": (_EXEC, _PLAN, POINTER(CExecOptions), _ERROR),
    "qdq_exec_destroy": (None, _EXEC),
    "qdq_exec_bind": (c_int, _EXEC, c_char_p, c_void_p, c_size_t, _ERROR),
    "qdq_exec_run": (None, _EXEC),
    "qdq_exec_read": (c_int, _EXEC, c_char_p, c_int, c_void_p, c_size_t, _ERROR),
    "qdq_exec_tiles": (c_int, _EXEC, c_char_p, POINTER(CTilesView), _ERROR),
    "qdq_untilize_in": (None, c_int, CShape, CTileShape, c_void_p, c_void_p, c_void_p),
    "qdq_threads_create": (c_void_p, c_int, c_void_p, _ERROR),
    "qdq_threads_destroy": (None, c_void_p),
    "qdq_parallel_threads": (CParallel, c_void_p),
    "qdq_op_count": (c_size_t,),
    "qdq_op_get": (COpInfo, c_size_t),
    "qdq_op_input": (CPortInfo, c_size_t, c_size_t),
    "qdq_op_output": (CPortInfo, c_size_t, c_size_t),
    "qdq_op_attr": (CAttrInfo, c_size_t, c_size_t),
    "qdq_target_count": (c_size_t,),
    "qdq_target_get": (CTargetInfo, c_size_t),
    "qdq_target_quantized_form": (POINTER(CQuantizedForm), c_char_p),
    "qdq_target_release": (c_char_p, c_size_t, c_size_t),
}


def _open() -> ctypes.CDLL:
    path = os.environ.get("QDQ_LIBRARY") or Path(__file__).with_name("libqdq.so")
    try:
        found = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"the library of qdq cannot be loaded: {error}; install the package with pip, or name "
                          "a libqdq.so in QDQ_LIBRARY") from None  # fmt: skip
    for name, (result, *parameters) in _FUNCTIONS.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, parameters
    return found


lib = _open()  # a call releases the interpreter's lock


def encode(text: Optional[object]) -> Optional[bytes]:
    """Encodes a str for the library; None stays None."""
    return None if text is None else str(text).encode()


def wrong_type(name: str, given: object, wanted: str) -> TypeError:
    """Returns the error of an argument of another type than wanted."""
    article = "an" if type(given).__name__[0] in "aeiou" else "a"
    return TypeError(f"{name} is {article} {type(given).__name__}, wanted {wanted}")


def decode(text: bytes) -> str:
    """Decodes a text of the library."""
    return text.decode()


def call(function: Any, *arguments: Any) -> Any:
    """Calls a function whose last parameter is an error, and raises the error that it reports."""
    error = CError()
    result = function(*arguments, error)
    if error.status:
        raise error.exception()
    return result


def version() -> str:
    """Returns the version of the library, "MAJOR.MINOR.PATCH"."""
    return decode(lib.qdq_version())


def targets() -> Dict[str, List[str]]:
    """Returns every target with its releases and variants: {"onnx": ["1.29", ...], ...}. The name alone is a target
    too."""
    infos = [lib.qdq_target_get(i) for i in range(lib.qdq_target_count())]
    return {
        info.name.decode(): [lib.qdq_target_release(i, r).decode() for r in range(info.release_count)]
        for i, info in enumerate(infos)
    }
