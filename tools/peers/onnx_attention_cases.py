# SPDX-License-Identifier: Apache-2.0
"""Models of Attention, RotaryEmbedding, Einsum and GridSample for onnx_reader.py."""

import numpy as np
from onnx import TensorProto, helper

from onnx_cases import Case, build, either, floats, one, some_shape


def mask_of(rng, shape, dtype):
    """A mask that leaves each query a key."""
    shape = either(rng, shape, shape[2:], (1, 1, *shape[2:]))
    if rng.random() < 0.5:
        return floats(rng, shape, dtype)
    allowed = rng.random(shape) < 0.7
    allowed[..., 0] = True
    return allowed


def attention(rng):
    """Heads that share keys, a cache, masks, soft caps; tensors of 3 and of 4 dims."""
    batch, groups, queries, keys, depth, wide = (int(v) for v in rng.integers(1, 5, 6))
    heads = groups * int(rng.integers(1, 4))
    past = either(rng, 0, 0, int(rng.integers(1, 4)))
    flat, sizes = rng.random() < 0.5, ((heads, queries, depth), (groups, keys, depth), (groups, keys, wide))
    inputs = [floats(rng, (batch, h, s, d)) for h, s, d in sizes]
    attrs = {}
    if flat:
        inputs = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, x.shape[2], -1) for x in inputs]
        attrs |= {"q_num_heads": heads, "kv_num_heads": groups}
    mask = either(rng, None, mask_of(rng, (batch, heads, queries, keys + past), np.float32))
    caches = [floats(rng, (batch, groups, past, d)) if past else None for d in (depth, wide)]
    if rng.random() < 0.4 and queries > 1:  # ONNX Runtime lets a single query see all keys
        attrs["is_causal"] = 1
    if rng.random() < 0.4:
        attrs["scale"] = float(rng.uniform(0.1, 0.5))
    if rng.random() < 0.3:
        attrs["softcap"] = 2.0
    arrays = {n: a for n, a in zip(("q", "k", "v", "mask", "keys", "values"), (*inputs, mask, *caches)) if a is not None}
    names = [n if n in arrays else "" for n in ("q", "k", "v", "mask", "keys", "values")]
    outputs = ["y", "present_keys", "present_values"][: 3 if past else 1]
    node = helper.make_node("Attention", names, outputs, **attrs)
    return Case(build([node], arrays, {}, dict.fromkeys(outputs, TensorProto.FLOAT), 23), arrays)


def rotary_embedding(rng):
    batch, heads, places, pairs = (int(v) for v in rng.integers(1, 5, 4))
    depth = 2 * pairs + either(rng, 0, 0, 3)
    attrs = {"interleaved": int(rng.integers(2))}
    x = floats(rng, (batch, heads, places, depth))
    if depth > 2 * pairs:
        attrs["rotary_embedding_dim"] = 2 * pairs
    if rng.random() < 0.5 or "rotary_embedding_dim" in attrs:
        attrs["num_heads"] = heads
        x = np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, places, -1)
    if rng.random() < 0.5:
        caches = [floats(rng, (9, pairs), spread=1.0) for _ in range(2)]
        return one("RotaryEmbedding", [x, *caches, rng.integers(0, 9, (batch, places))], attrs)
    return one("RotaryEmbedding", [x, *(floats(rng, (batch, places, pairs), spread=1.0) for _ in range(2))], attrs)


EQUATIONS = ("ij->ji", "ij->i", "i,i", "bij,bjk->bik", "...ii->...i", "ij,kj->ik", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "ij,jk,kl->il",
             "i,j->ij", "...ij,...jk->...ik", "ijk,k->ij", "ii", "abc,cd,ae->bde", "ij,ij->", "bij,jk", "iji->j", "...i,i...->...",
             " a b , b c -> c a ", "ij,ij->ij", "b...d,bd...->b...", "Ab,bA", "ij,k->k")  # fmt: skip


def einsum(rng):
    """Each letter has a size; ellipses have a dim or none, and are 1 in some operands."""
    equation = either(rng, *EQUATIONS)
    sizes, wide = {}, some_shape(rng, 2, 3, int(rng.integers(0, 2)))
    inputs = []
    for operand in equation.split("->")[0].replace(" ", "").split(","):
        shape = []
        for letter in operand.replace("...", "."):
            one_of = tuple(1 if rng.random() < 0.3 else d for d in wide) if letter == "." else ()
            shape += one_of or ([] if letter == "." else [sizes.setdefault(letter, int(rng.integers(1, 5)))])
        inputs.append(floats(rng, shape))
    return one("Einsum", inputs, {"equation": equation}, constants=either(rng, (), (len(inputs) - 1,) if len(inputs) > 1 else ()))


def grid_sample(rng):
    """Images, or volumes that ONNX Runtime does not sample by cubes. Half of the positions lie outside."""
    spatial = either(rng, 2, 2, 3)
    mode = either(rng, "linear", "nearest", "cubic") if spatial == 2 else either(rng, "linear", "nearest")
    x = floats(rng, (2, 3, *some_shape(rng, 2, 5, spatial)))
    grid = rng.uniform(-2, 2, (2, *some_shape(rng, 1, 5, spatial), spatial)).astype(np.float32)
    attrs = {"mode": mode, "padding_mode": either(rng, "zeros", "border", "reflection"), "align_corners": int(rng.integers(2))}
    return one("GridSample", [x, grid], attrs, opset=20)


ATTENTION = {"Attention": attention, "RotaryEmbedding": rotary_embedding, "Einsum": einsum, "GridSample": grid_sample}
