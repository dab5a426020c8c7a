# SPDX-License-Identifier: Apache-2.0
"""torchao for renew.py: random Quantize and Dequantize nodes (torchao_wide.py), computed parameters and codes, MX blocks
and casts on special numbers, and recorded checksums."""

import json
import random

from renewal import Node, Survey

MAPPINGS = {"asymmetric": "ASYMMETRIC", "symmetric": "SYMMETRIC", "symmetric_no_clipping": "SYMMETRIC_NO_CLIPPING_ERR"}
CODES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1)}
FLOATS = ("float32", "float16", "bfloat16")
CASTS = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64", "bool",
         "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0")  # fmt: skip


def packages(version):
    return [f"torchao=={version}", "torch", "numpy", "ml_dtypes", "safetensors"]


def release(_version):
    return ""


def torch_of(name):
    import torch

    return getattr(torch, {"float8_e8m0": "float8_e8m0fnu"}.get(name, name))


def array_of(tensor, name):
    """A tensor as the array that qdq returns for its dtype."""
    from qdq._dtypes import numpy_of, to_array

    return to_array(tensor.contiguous(), "y", name, tuple(tensor.shape)).view(numpy_of(name))


def graph(op, x, shape, attrs, tensors=(), outputs=("q",)):
    """A graph of one node in qdq/1; `tensors` are constants, by name."""
    held = [{"name": name, "dtype": str(one.dtype)[6:], "shape": list(one.shape), "data": one.flatten().tolist()}
            for name, one in dict(tensors).items()]  # fmt: skip
    inputs = {"x": "x", **{one["name"]: one["name"] for one in held}}
    node = {"op": op, "name": "q", "inputs": inputs, "attrs": attrs}
    return {"format": "qdq/1", "target": "torchao", "constants": held, "inputs": [{"name": "x", "dtype": x, "shape": shape}],
            "nodes": [node], "outputs": [{"name": one.replace(".", "_"), "value": one} for one in outputs]}  # fmt: skip


class Programs(Survey):
    def __init__(self, args, peer):
        super().__init__(args, peer)
        self.target = f"torchao@{args.release}" if args.release else "torchao"

    def compare(self, document, x, dtypes, ask):
        """`ask` returns the tensors of the outputs, whose dtypes are `dtypes`."""
        node = document["nodes"][0]
        if self.args.only not in node["op"]:
            return
        names = [one["name"] for one in document["outputs"]]
        path = self.work / "node.json"
        path.write_text(json.dumps(document))
        feeds = {"x": array_of(x, document["inputs"][0]["dtype"])}

        def run():
            return {n: array_of(t, d) for n, t, d in zip(names, ask(), dtypes)}

        both = self.of_both(node["op"], self.target, path, feeds, run)
        if both:
            attributes = ", ".join(f"{k}={v}" for k, v in node["attrs"].items())
            values = {**feeds, **{one["name"]: one["data"] for one in document["constants"]}}
            one = Node(node["op"], ["q"], list(node["inputs"].values()), names, attributes)
            self.compare_nodes(self.target, [one], values, both, self.keeper(self.target, path, feeds))


def numbers(rng, shape, dtype):
    """Random numbers of one size, whole numbers with a half, or any bits."""
    import numpy
    import torch
    from element_numbers import specials

    kind = rng.random()
    if kind < 0.4:
        made = torch.randn(shape) * 2.0 ** rng.randint(-20, 20)
    elif kind < 0.7:
        made = (torch.randint(-30, 30, shape) + 0.5) * 2.0 ** rng.randint(-4, 4)
    else:
        made = torch.randint(-(2**31), 2**31 - 1, shape, dtype=torch.int32).view(torch.float32)
        if kind > 0.85:
            few = torch.from_numpy(specials(numpy.dtype("float32")))
            made = few[torch.randint(0, len(few), shape)]
    return made.to(torch_of(dtype))


def computed(made, rng):
    """A DynamicQuantize with random bounds."""
    import torch
    from torchao.quantization import quant_primitives as ao

    x_dtype, y, mapping = rng.choice(FLOATS), rng.choice(list(CODES)), rng.choice(list(MAPPINGS))
    shape = rng.choice(([4, 6], [3, 8], [30]))
    x = numbers(rng, shape, x_dtype)
    x = torch.where(torch.isfinite(x), x, torch.ones_like(x))
    attrs, block = {"scheme": mapping, "dtype": y}, list(shape)
    if len(shape) == 2 and rng.random() < 0.6:
        block = [1, shape[1] // rng.choice((1, 2))]
        attrs |= {"qtype": "per_group", "group_shape": block}
    low, high = CODES[y]
    if rng.random() < 0.6:
        low, high = sorted((rng.randint(low, high), rng.randint(low, high)))
        low, high = (low, high) if low < high else (low, low + 1)
        attrs |= {"quant_min": low, "quant_max": high}

    def ask():
        scale, zero = ao.choose_qparams_affine(x, ao.MappingType[MAPPINGS[mapping]], block, torch_of(y), low, high,
                                               scale_dtype=torch.float32)  # fmt: skip
        codes = ao.quantize_affine(x, block, scale, zero, torch_of(y), low, high)
        grid = [dim // k for dim, k in zip(shape, block)] if "group_shape" in attrs else []
        return codes, scale.reshape(grid)

    document = graph("DynamicQuantize", x_dtype, shape, attrs, outputs=("q", "q.scale"))
    made.compare(document, x, [y, "float32"], ask)


def blocks(made, rng):
    """Blocks of MX."""
    from torchao.prototype.mx_formats.config import ScaleCalculationMode
    from torchao.prototype.mx_formats.mx_tensor import to_mx

    scheme, y = rng.choice(("floor", "ceil", "even", "rceil")), rng.choice(("float8_e4m3fn", "float8_e5m2"))
    x_dtype, shape = rng.choice(("float32", "bfloat16")), [3, 8]
    x = numbers(rng, shape, x_dtype)

    def ask():
        scale, codes = to_mx(x, torch_of(y), 4, ScaleCalculationMode[scheme.upper()])
        return codes, scale

    attrs = {"scheme": f"mx_{scheme}", "dtype": y, "qtype": "per_group", "group_shape": [1, 4]}
    made.compare(graph("DynamicQuantize", x_dtype, shape, attrs, outputs=("q", "q.scale")), x, [y, "float8_e8m0"], ask)


def cast(made, source, target):
    import numpy
    import torch
    from element_numbers import patterns

    kind = source if source in (*CODES, "uint16", "float16", "float32", "float64", "int64", "bool") else "float32"
    x = torch.from_numpy(numpy.ascontiguousarray(patterns(numpy.random.default_rng(made.args.seed), kind)))
    x = x.to(torch_of(source))
    made.compare(graph("Cast", source, list(x.shape), {"dtype": target}), x, [target], lambda: [x.to(torch_of(target))])


def survey(args):
    import torch
    import torchao
    import torchao_wide

    made = Programs(args, f"torchao {torchao.__version__} with PyTorch {torch.__version__.partition('+')[0]}")
    rng = random.Random(args.seed)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    for source in CASTS:
        for target in CASTS:
            cast(made, source, target)
    for _ in range(args.count * 40):
        document, tensors, x, wanted = torchao_wide.make_case(rng)
        for one in document["constants"]:
            tensor = tensors[one["name"]]
            one.clear()
            one.update(name="scale" if tensor is tensors["scale"] else "zero_point", dtype=str(tensor.dtype)[6:])
            one.update(shape=list(tensor.shape), data=tensor.flatten().tolist())
        y = document["nodes"][0]["attrs"]["dtype"]
        document["outputs"] = [{"name": "q", "value": "q"}]
        made.compare(document, x, [y], lambda: [wanted])  # noqa: B023
        computed(made, rng)
        blocks(made, rng)
    if not args.only:
        made.compare_recorded("graph/targets/torchao/torchao_edges.h", "torchao_edges.py", None)
        made.compare_recorded("graph/targets/torchao/torchao_bounds.h", "torchao_bounds.py", None)
        made.compare_recorded("graph/targets/torchao/torchao_golden.h", "torchao_golden.py", None)
    return made
