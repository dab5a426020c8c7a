# SPDX-License-Identifier: Apache-2.0
"""Reads TensorFlow Lite models that qdq wrote: tables of a FlatBuffer by their slots, apart from the reader in C."""

import struct


class Table:
    """A table. Fields by slot: numbers by a struct letter, texts, vectors of numbers, lists of tables."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]
        assert at % 4 == 0 and self.vtable % 2 == 0

    def place(self, slot):
        entry = 4 + 2 * slot
        if entry >= struct.unpack_from("<H", self.data, self.vtable)[0]:
            return 0
        offset = struct.unpack_from("<H", self.data, self.vtable + entry)[0]
        return offset and self.at + offset

    def number(self, slot, letter="i", default=0):
        place = self.place(slot)
        return struct.unpack_from("<" + letter, self.data, place)[0] if place else default

    def target(self, slot):
        place = self.place(slot)
        return place and place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, slot):
        return Table(self.data, self.target(slot))

    def numbers(self, slot, letter="i"):
        at = self.target(slot)
        if not at:
            return None
        count = struct.unpack_from("<I", self.data, at)[0]
        assert (at + 4) % struct.calcsize(letter) == 0
        return list(struct.unpack_from(f"<{count}{letter}", self.data, at + 4))

    def text(self, slot):
        return bytes(self.numbers(slot, "B")).decode()

    def tables(self, slot):
        at = self.target(slot)
        count = struct.unpack_from("<I", self.data, at)[0]
        places = [at + 4 + 4 * i for i in range(count)]
        return [Table(self.data, place + struct.unpack_from("<I", self.data, place)[0]) for place in places]


class Model:
    def __init__(self, data):
        assert data[4:8] == b"TFL3"
        self.root = Table(data, struct.unpack_from("<I", data)[0])
        self.main = self.root.tables(2)[0]
        self.tensors = {one.text(3): one for one in self.main.tables(0)}
        self.names = [one.text(3) for one in self.main.tables(0)]
        self.buffers = self.root.tables(4)
        self.codes = [(one.number(0, "b"), one.number(3), one.number(2, default=1)) for one in self.root.tables(1)]

    def operators(self, subgraph=None):
        """(code, version, names of inputs, of outputs, options) of each operator."""
        names = self.names if subgraph is None else [one.text(3) for one in subgraph.tables(0)]
        found = []
        for one in (subgraph or self.main).tables(3):
            ports = [[None if i < 0 else names[i] for i in one.numbers(slot)] for slot in (1, 2)]
            _, code, version = self.codes[one.number(0, "I")]
            found.append((code, version, *ports, one.table(4) if one.number(3, "B") else None))
        return found

    def elements(self, name, letter):
        raw = bytes(self.buffers[self.tensors[name].number(2, "I")].numbers(0, "B"))
        return [one[0] for one in struct.iter_unpack("<" + letter, raw)]
