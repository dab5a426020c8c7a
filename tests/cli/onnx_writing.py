# SPDX-License-Identifier: Apache-2.0
"""ONNX models without the package onnx: messages of protobuf, and networks whose batch is open."""

import math
import random
import struct

FLOAT, INT64 = 1, 7


def varint(n):
    n &= (1 << 64) - 1
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, content):
    """A field of a protobuf message: an int, text, or the bytes of a message."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def fields(message):
    """The fields of a message, as (number, content)."""
    at = 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            byte = message[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    while at < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            length = number() if key & 7 == 2 else 4 if key & 7 == 5 else 8
            yield key >> 3, message[at:at + length]
            at += length


def parts(message, number):
    return [content for key, content in fields(message) if key == number]


def value_info(name, dims, elem=FLOAT):
    """dims: a size, a name, or None for an open dim without a name."""
    shape = b"".join(field(1, b"" if dim is None else field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, elem) + field(2, shape)))


def declared(model, kind):
    """The dims of the values that a model declares, by name. kind: 11 inputs, 12 outputs, 13 other values."""
    found = {}
    for info in parts(parts(model, 7)[0], kind):
        tensor = parts(parts(info, 2)[0], 1)[0]
        dims = [dict(fields(dim)) for shape in parts(tensor, 2) for dim in parts(shape, 1)]
        found[parts(info, 1)[0].decode()] = [dim[2].decode() if 2 in dim else dim.get(1) for dim in dims]
    return found


def ops(model):
    return [parts(node, 4)[0].decode() for node in parts(parts(model, 7)[0], 1)]


def node_names(model):
    return [parts(node, 3)[0].decode() for node in parts(parts(model, 7)[0], 1)]


def attribute(name, given):
    if isinstance(given, int):
        return field(1, name) + field(3, given) + field(20, 2)
    if isinstance(given, bytes):
        return field(1, name) + field(5, given) + field(20, 4)
    return field(1, name) + b"".join(field(8, one) for one in given) + field(20, 7)


def tensor(name, dims, numbers, elem=FLOAT):
    raw = struct.pack(f"<{len(numbers)}{'f' if elem == FLOAT else 'q'}", *numbers)
    return b"".join(field(1, dim) for dim in dims) + field(2, elem) + field(8, name) + field(9, raw)


class Network:
    """Nodes and weights, which a seed chooses."""

    def __init__(self, seed):
        self.random, self.nodes, self.tensors, self.count = random.Random(seed), [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def floats(self, *dims):
        name, count = self.name("w"), math.prod(dims)
        scale = 1 / math.sqrt(max(1, count // dims[0]))
        self.tensors.append(tensor(name, dims, [self.random.gauss(0, scale) for _ in range(count)]))
        return name

    def ints(self, *numbers):
        name = self.name("c")
        self.tensors.append(tensor(name, [len(numbers)], numbers, INT64))
        return name

    def scalar(self, number, elem=FLOAT):
        name = self.name("c")
        self.tensors.append(tensor(name, [], [number], elem))
        return name

    def add(self, op, *inputs, outputs=1, **attributes):
        name = self.name(op.lower())
        names = [f"{name}_y{i}" for i in range(outputs)]
        self.nodes.append(b"".join(field(1, one) for one in inputs) + b"".join(field(2, one) for one in names) +
                          field(3, f"/{name}/{op}") + field(4, op) +
                          b"".join(field(5, attribute(*one)) for one in attributes.items()))
        return names[0] if outputs == 1 else names

    def model(self, dims, y, y_dims, inputs=()):
        graph = b"".join(field(1, one) for one in self.nodes) + field(2, "network")
        graph += b"".join(field(5, one) for one in self.tensors) + field(11, value_info("x", dims))
        graph += b"".join(field(11, value_info(*one)) for one in inputs) + field(12, value_info(y, y_dims))
        return field(1, 8) + field(7, graph) + field(8, field(2, 17))

    def conv(self, x, before, after, size=3, groups=1, act="Relu", stride=1):
        y = self.add("Conv", x, self.floats(after, before // groups, size, size), self.floats(after),
                     kernel_shape=[size, size], pads=[size // 2] * 4, group=groups, strides=[stride, stride])
        return self.add(act, y) if act else y

    def linear(self, x, before, after):
        return self.add("Add", self.add("MatMul", x, self.floats(before, after)), self.floats(after))

    def gemm(self, x, before, after):
        return self.add("Gemm", x, self.floats(after, before), self.floats(after), transB=1)

    def size(self, x, dim):
        """The size of a dim, as exporters compute it: Shape, Gather, Unsqueeze."""
        return self.add("Unsqueeze", self.add("Gather", self.add("Shape", x), self.scalar(dim, INT64), axis=0),
                        self.ints(0))

    def sizes(self, *all_sizes):
        return self.add("Concat", *[self.ints(one) if isinstance(one, int) else one for one in all_sizes], axis=0)


#---- Networks with an open batch -----------------------------------------------


def flatten_network(seed, batch="N"):
    n = Network(seed)
    x = n.add("MaxPool", n.conv("x", 3, 8), kernel_shape=[2, 2], strides=[2, 2])
    return n.model([batch, 3, 8, 8], n.gemm(n.add("Flatten", n.conv(x, 8, 8)), 128, 10), [batch, 10])


def reshape_network(seed, batch="N"):
    n = Network(seed)
    x = n.add("Reshape", n.conv("x", 3, 8), n.ints(0, 8, 64))
    x = n.add("Reshape", n.add("ReduceMean", x, axes=[2], keepdims=0), n.ints(-1, 8))
    return n.model([batch, 3, 8, 8], n.gemm(x, 8, 10), [batch, 10])


def layers_network(seed, batch="N"):
    n = Network(seed)
    x = n.add("Relu", n.linear(n.add("Relu", n.linear("x", 16, 24)), 24, 24))
    return n.model([batch, 16], n.linear(x, 24, 6), [batch, 6])


def attention_network(seed, batch="N", computed=False):
    n, steps, width, heads = Network(seed), 6, 16, 4

    def split(x):
        shape = n.sizes(n.size(x, 0), steps, heads, width // heads) if computed else n.ints(-1, steps, heads, 4)
        return n.add("Transpose", n.add("Reshape", x, shape), perm=[0, 2, 1, 3])

    q, k, v = [split(n.linear("x", width, width)) for _ in range(3)]
    scores = n.add("Mul", n.add("MatMul", q, n.add("Transpose", k, perm=[0, 1, 3, 2])), n.scalar(0.5))
    y = n.add("Transpose", n.add("MatMul", n.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    shape = n.sizes(n.size("x", 0), steps, width) if computed else n.ints(0, steps, width)
    y = n.add("Add", "x", n.linear(n.add("Reshape", y, shape), width, width))
    y = n.linear(n.add("ReduceMean", y, axes=[1], keepdims=0), width, 5)
    return n.model([batch, steps, width], y, [batch, 5])


def depthwise_network(seed, batch="N"):
    n = Network(seed)
    x = n.conv("x", 3, 8)
    x = n.add("Add", x, n.conv(n.conv(n.conv(x, 8, 16, 1), 16, 16, groups=16), 16, 8, 1, act=None))
    return n.model([batch, 3, 8, 8], n.gemm(n.add("Flatten", n.add("GlobalAveragePool", x)), 8, 10), [batch, 10])


def recurrent_network(seed, batch="N", computed=False):
    n, width, hidden = Network(seed), 6, 8
    inputs = ["x", n.floats(1, 4 * hidden, width), n.floats(1, 4 * hidden, hidden), n.floats(1, 8 * hidden)]
    if computed:
        zeros = n.add("ConstantOfShape", n.sizes(1, n.size("x", 1), hidden))
        inputs += ["", zeros, zeros]
    states = n.add("LSTM", *inputs, outputs=3, hidden_size=hidden)
    y = n.gemm(n.add("Squeeze", states[1], n.ints(0)), hidden, 6)
    return n.model([3, batch, width], y, [batch, 6])


def gated_network(seed, batch="N"):
    n, width, hidden = Network(seed), 6, 8
    states = n.add("GRU", "x", n.floats(1, 3 * hidden, width), n.floats(1, 3 * hidden, hidden), n.floats(1, 6 * hidden),
                   outputs=2, hidden_size=hidden)
    y = n.gemm(n.add("Squeeze", states[1], n.ints(0)), hidden, 6)
    return n.model([3, batch, width], y, [batch, 6])


def mobile_network(seed, batch="N"):
    n = Network(seed)
    x = n.conv("x", 3, 8, act="HardSwish", stride=2)
    y = n.conv(n.conv(x, 8, 16, 1, act="HardSwish"), 16, 16, groups=16, act="HardSwish")
    gate = n.conv(n.conv(n.add("GlobalAveragePool", y), 16, 8, 1), 8, 16, 1, act="HardSigmoid")
    x = n.add("Add", x, n.conv(n.add("Mul", y, gate), 16, 8, 1, act=None))
    y = n.gemm(n.add("ReduceMean", x, axes=[2, 3], keepdims=0), 8, 10)
    return n.model([batch, 3, 8, 8], y, [batch, 10])


def exported_network(seed, batch="N"):
    """The shape of a Reshape, computed from the shape of x: Shape, Gather, Unsqueeze, Concat."""
    n = Network(seed)
    x = n.conv("x", 3, 8)
    x = n.add("Reshape", x, n.sizes(n.size(x, 0), -1))
    return n.model([batch, 3, 8, 8], n.gemm(x, 512, 10), [batch, 10])


def token_network(seed, batch="N"):
    """Patches, and a token that is expanded to the batch."""
    n, width = Network(seed), 8
    x = n.add("Conv", "x", n.floats(width, 3, 4, 4), n.floats(width), kernel_shape=[4, 4], strides=[4, 4])
    count = n.size(x, 0)
    x = n.add("Transpose", n.add("Reshape", x, n.sizes(count, width, -1)), perm=[0, 2, 1])
    token = n.add("Expand", n.floats(1, 1, width), n.sizes(count, 1, width))
    x = n.linear(n.add("Add", n.add("Concat", token, x, axis=1), n.floats(1, 5, width)), width, width)
    return n.model([batch, 3, 8, 8], n.gemm(n.add("Gather", x, n.scalar(0, INT64), axis=1), width, 7), [batch, 7])


def computed_attention_network(seed, batch="N"):
    return attention_network(seed, batch, True)


def computed_recurrent_network(seed, batch="N"):
    return recurrent_network(seed, batch, True)


NETWORKS = (flatten_network, reshape_network, layers_network, attention_network, computed_attention_network, depthwise_network,
            recurrent_network, computed_recurrent_network, gated_network, mobile_network, exported_network, token_network)
