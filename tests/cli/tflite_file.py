# SPDX-License-Identifier: Apache-2.0
"""Writes TensorFlow Lite models: a FlatBuffer is built from nested Python objects. The format's slots and numbers are
written here as its schema has them, apart from the reader's."""

import struct
from dataclasses import dataclass, field

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "string": 5, "bool": 6, "int16": 7, "int8": 9,
         "float64": 10, "resource": 13, "uint32": 15, "uint16": 16, "int4": 17, "bfloat16": 18}
LETTERS = {"float32": "f", "float16": "e", "int32": "i", "uint8": "B", "int64": "q", "bool": "B", "int16": "h", "int8": "b",
           "float64": "d", "uint32": "I", "uint16": "H"}
CODES = {"ADD": 0, "AVERAGE_POOL_2D": 1, "CONCATENATION": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "DEPTH_TO_SPACE": 5,
         "DEQUANTIZE": 6, "FLOOR": 8, "FULLY_CONNECTED": 9, "LOGISTIC": 14, "MAX_POOL_2D": 17, "MUL": 18, "RELU": 19,
         "RELU_N1_TO_1": 20, "RELU6": 21, "RESHAPE": 22, "RESIZE_BILINEAR": 23, "SOFTMAX": 25, "SPACE_TO_DEPTH": 26,
         "TANH": 28, "CUSTOM": 32, "PAD": 34, "TRANSPOSE": 39, "MEAN": 40, "SUB": 41, "DIV": 42, "SQUEEZE": 43,
         "STRIDED_SLICE": 45, "EXP": 47, "SPLIT": 49, "PRELU": 54, "MAXIMUM": 55, "MINIMUM": 57, "NEG": 59, "PADV2": 60,
         "SLICE": 65, "SIN": 66, "TRANSPOSE_CONV": 67, "EXPAND_DIMS": 70, "LOG": 73, "SUM": 74, "SQRT": 75, "RSQRT": 76,
         "POW": 78, "REDUCE_MAX": 82, "REDUCE_MIN": 89, "SQUARE": 92, "RESIZE_NEAREST_NEIGHBOR": 97, "LEAKY_RELU": 98,
         "ABS": 101, "SPLIT_V": 102, "CEIL": 104, "COS": 108, "ELU": 111, "QUANTIZE": 114, "ROUND": 116, "HARD_SWISH": 117,
         "BATCH_MATMUL": 126, "CALL_ONCE": 129, "VAR_HANDLE": 142, "READ_VARIABLE": 143, "ASSIGN_VARIABLE": 144, "GELU": 150,
         "RELU_0_TO_1": 152, "SIGN": 158}
# The kinds of options.
KINDS = {"CONV_2D": 1, "DEPTHWISE_CONV_2D": 2, "AVERAGE_POOL_2D": 5, "MAX_POOL_2D": 5, "FULLY_CONNECTED": 8, "SOFTMAX": 9,
         "CONCATENATION": 10, "ADD": 11, "RESIZE_BILINEAR": 15, "RESHAPE": 17, "SPACE_TO_DEPTH": 19, "MUL": 21, "PAD": 22,
         "TRANSPOSE": 26, "MEAN": 27, "SUM": 27, "REDUCE_MAX": 27, "REDUCE_MIN": 27, "SUB": 28, "DIV": 29, "SQUEEZE": 30,
         "STRIDED_SLICE": 32, "SPLIT": 35, "DEQUANTIZE": 38, "PADV2": 43, "TRANSPOSE_CONV": 49, "RESIZE_NEAREST_NEIGHBOR": 74,
         "LEAKY_RELU": 75, "SPLIT_V": 79, "QUANTIZE": 89, "HARD_SWISH": 91, "DEPTH_TO_SPACE": 94, "BATCH_MATMUL": 101,
         "CALL_ONCE": 103, "VAR_HANDLE": 111, "READ_VARIABLE": 112, "ASSIGN_VARIABLE": 113, "GELU": 116}


# ---- FlatBuffers ----


@dataclass
class Number:
    """A field of a table, by its struct letter."""
    letter: str
    value: object


def i8(n): return Number("b", n)
def u8(n): return Number("B", n)
def i32(n): return Number("i", n)
def u32(n): return Number("I", n)
def u64(n): return Number("Q", n)
def f32(n): return Number("f", n)


@dataclass
class Numbers:
    letter: str
    values: list


def ints(values): return Numbers("i", list(values))


@dataclass
class Writer:
    """Objects lie behind whatever refers to them. `places` has the place of each table, by its id."""
    data: bytearray = field(default_factory=bytearray)
    places: dict = field(default_factory=dict)

    def align(self, size):
        self.data += bytes(-len(self.data) % size)

    def point(self, at, to):
        self.data[at:at + 4] = struct.pack("<I", to - at)

    def put(self, one):
        """Writes an object and returns its place."""
        if isinstance(one, dict):
            return self.put_table(one)
        self.align(16 if isinstance(one, bytes) else 4)
        if isinstance(one, (str, bytes)):
            raw = one if isinstance(one, bytes) else one.encode("utf-8", "surrogateescape")
            if isinstance(one, bytes):  # its elements lie at a multiple of 16
                self.data += bytes(12)
            place = len(self.data)
            self.data += struct.pack("<I", len(raw)) + raw + b"\0"
        elif isinstance(one, Numbers):
            if one.letter == "q":
                self.data += bytes(4)
            place = len(self.data)
            self.data += struct.pack(f"<I{len(one.values)}{one.letter}", len(one.values), *one.values)
        else:  # a list of objects
            place = len(self.data)
            self.data += struct.pack("<I", len(one)) + bytes(4 * len(one))
            for i, item in enumerate(one):
                self.point(place + 4 + 4 * i, self.put(item))
        return place

    def put_table(self, table):
        if id(table) in self.places:
            return self.places[id(table)]
        slots = max(table, default=-1) + 1
        self.align(8)
        vtable = len(self.data)
        self.data += bytes(4 + 2 * slots)
        self.align(8)
        place = len(self.data)
        self.places[id(table)] = place
        self.data += struct.pack("<i", place - vtable) + bytes(4 + 8 * slots)
        self.data[vtable:vtable + 4] = struct.pack("<HH", 4 + 2 * slots, 8 + 8 * slots)
        for slot, value in table.items():
            at = 8 + 8 * slot
            self.data[vtable + 4 + 2 * slot:vtable + 6 + 2 * slot] = struct.pack("<H", at)
            if isinstance(value, Number):
                raw = struct.pack("<" + value.letter, value.value)
                self.data[place + at:place + at + len(raw)] = raw
            else:
                self.point(place + at, self.put(value))
        return place


def flatbuffer(root, identifier=b"TFL3"):
    """The bytes of a FlatBuffer, and where its tables lie by their ids."""
    writer = Writer(bytearray(4) + bytearray(identifier))
    writer.point(0, writer.put(root))
    return bytes(writer.data), writer.places


# ---- Models ----


@dataclass
class Tensor:
    name: object
    dtype: str
    shape: list
    data: object = None  # a list of numbers, or bytes; None: computed, or an input
    scale: object = None  # a number or a list
    zero_point: object = None
    axis: int = 0
    open: object = None  # the shape with -1 for open dims
    more: dict = field(default_factory=dict)  # further slots


@dataclass
class Op:
    name: object  # or a code
    inputs: list
    outputs: list
    options: dict = field(default_factory=dict)
    more: dict = field(default_factory=dict)


def as_list(x):
    return x if isinstance(x, list) else [x]


def nibbles(values):
    padded = values + [0] * (len(values) % 2)
    return bytes((a & 15) | (b & 15) << 4 for a, b in zip(padded[::2], padded[1::2]))


def raw(tensor):
    if isinstance(tensor.data, bytes):
        return tensor.data
    if tensor.dtype == "int4":
        return nibbles(tensor.data)
    return struct.pack(f"<{len(tensor.data)}{LETTERS[tensor.dtype]}", *tensor.data)


def quantization(tensor):
    table = {2: Numbers("f", as_list(tensor.scale)), 6: i32(tensor.axis)}
    if tensor.zero_point is not None:
        table[3] = Numbers("q", as_list(tensor.zero_point))
    return table


def tensor_table(tensor, buffers):
    table = {0: ints(tensor.shape), 1: i8(TYPES[tensor.dtype]), 3: tensor.name}
    if tensor.data is not None:
        table[2] = u32(len(buffers))
        buffers.append({0: raw(tensor)})
    if tensor.scale is not None:
        table[4] = quantization(tensor)
    if tensor.open is not None:
        table[7] = ints(tensor.open)
    return {**table, **tensor.more}


def subgraph(tensors, ops, inputs, outputs, buffers, codes, name="main"):
    names = {tensor.name: i for i, tensor in reversed(list(enumerate(tensors)))}
    index = lambda one: one if isinstance(one, int) else names[one]
    tables = []
    for op in ops:
        code = CODES.get(op.name, op.name)
        if code not in codes:
            codes.append(code)
        table = {0: u32(codes.index(code)), 1: ints(map(index, op.inputs)), 2: ints(map(index, op.outputs))}
        if op.name in KINDS:
            table.update({3: u8(KINDS[op.name]), 4: op.options})
        tables.append({**table, **op.more})
    return {0: [tensor_table(tensor, buffers) for tensor in tensors], 1: ints(map(index, inputs)),
            2: ints(map(index, outputs)), 3: tables, 4: name}


def model_tables(tensors, ops, inputs, outputs, more=(), **slots):
    """The tables of a model. `more` are further subgraphs: (tensors, ops, inputs, outputs)."""
    buffers, codes = [{}], []
    graphs = [subgraph(tensors, ops, inputs, outputs, buffers, codes)]
    graphs += [subgraph(*one, buffers, codes, f"more_{i}") for i, one in enumerate(more)]
    tables = {0: u32(3), 1: [{0: i8(min(code, 127)), 3: i32(code)} for code in codes], 2: graphs, 3: "made by a test", 4: buffers}
    return {**tables, **{int(slot[1:]): value for slot, value in slots.items()}}


def model(*args, **more):
    return flatbuffer(model_tables(*args, **more))[0]
