# SPDX-License-Identifier: Apache-2.0
"""The effect of pairs on the output, measured by ONNX Runtime alone: each model has only some of the pairs.

At level `disabled` ONNX Runtime runs each node as written; at level `all` it runs what it deploys.
"""

import numpy as np
import ort_session
import pairs as pair_models

CEILING = 110  # decibels; less noise is that of float32 sums in another order


def decibels(exact, other):
    exact, other = np.float64(exact), np.float64(other)
    noise = np.sum((exact - other)**2)
    return 10 * np.log10(np.sum(exact**2) / noise) if noise else np.inf


def median_decibels(exact, other):
    return float(np.median([decibels(a, b) for a, b in zip(exact, other)]))


def alike(exact, other):
    return float(np.mean(np.argmax(exact, -1) == np.argmax(other, -1)))


def run(model, x, level="disabled", at_once=True):
    """The only output, for samples x by the name of the only input."""
    session = ort_session.session(model, level)
    name = session.get_inputs()[0].name
    batches = [x] if at_once else [x[i:i + 1] for i in range(len(x))]
    return np.concatenate([session.run(None, {name: one})[0] for one in batches])


class Case:
    """A float model, its quantized model, and their pairs. `given`: the samples that both qdq and the truth see."""

    def __init__(self, name, model, quantized, given, held_out, at_once=True):
        self.name, self.model, self.quantized = name, model, quantized
        self.given, self.held_out, self.at_once = given, held_out, at_once
        self.floats = pair_models.constants_of(model)
        self.pairs = pair_models.find(quantized, self.floats)
        self.exact = {part: run(model, x, at_once=at_once) for part, x in (("given", given), ("held_out", held_out))}

    def first(self, count):
        """The case with the first of the given samples only."""
        return Case(self.name, self.model, self.quantized, self.given[:count], self.held_out, self.at_once)

    def result(self, level, on=None, part="given", model=None):
        model = model or pair_models.only(self.quantized, self.model, self.pairs, self.pairs if on is None else on)
        return run(model, getattr(self, part), level, self.at_once)

    def ratio(self, level, on=None, part="given", model=None):
        return decibels(self.exact[part], self.result(level, on, part, model))

    def effects(self, level):
        return {pair.real: self.ratio(level, [pair]) for pair in self.pairs}

    def without(self, level, names):
        return {name: self.ratio(level, [pair for pair in self.pairs if pair.real != name]) for name in names}

    def gain(self, level, floats, part="held_out"):
        """What it gains to leave these pairs in float."""
        rest = [pair for pair in self.pairs if pair.real not in floats]
        return min(self.ratio(level, rest, part), CEILING) - self.ratio(level, None, part)


def ranks(numbers):
    numbers = np.asarray(numbers)
    return np.array([np.sum(numbers < one) + (np.sum(numbers == one) - 1) / 2 for one in numbers])


def spearman(a, b):
    a, b = (ranks(np.minimum(one, CEILING)) for one in (a, b))
    if len(a) < 2 or not a.std() or not b.std():
        return 1.0
    return float(np.corrcoef(a, b)[0, 1])
