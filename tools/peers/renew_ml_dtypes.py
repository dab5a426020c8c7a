# SPDX-License-Identifier: Apache-2.0
"""ml_dtypes for renew.py: Cast of every value of at most 16 bits to every dtype, but for the numbers that casts.py
leaves out."""

import json

from renewal import Node, Survey


def packages(version):
    return [f"ml_dtypes=={version}", "numpy"]


def release(_version):
    return ""


def model(source, target, count, attrs):
    """A graph that casts float32 or integers to the source, which is exact, and then to the target."""
    nodes = [{"op": "Cast", "name": "y", "inputs": {"x": "x"}, "attrs": {"dtype": target, **attrs}},
             {"op": "Cast", "name": "wide", "inputs": {"x": "y"}, "attrs": {"dtype": "float32"}}]  # fmt: skip
    return {"format": "qdq/1", "inputs": [{"name": "x", "dtype": source, "shape": [count]}], "nodes": nodes,
            "outputs": [{"name": "wide", "value": "wide"}]}  # fmt: skip


def survey(args):
    import casts
    import ml_dtypes
    import numpy
    from onnx_vectors import DTYPES
    from qdq._dtypes import numpy_of

    made, path = Survey(args, f"ml_dtypes {ml_dtypes.__version__}"), None
    with numpy.errstate(all="ignore"):
        for source in casts.NUMPY:
            if source in ("float32", "int32") or args.only not in source:
                continue
            values = casts.values_of(source)
            for target in casts.NUMPY:
                for attrs in casts.forms_of(target) if target != "float8e8m0" else ():
                    path = made.work / "cast.json"
                    names = [DTYPES[one][0] for one in (source, target)]
                    path.write_text(json.dumps(model(*names, len(values), attrs)))
                    held = values.astype(casts.NUMPY[source])
                    feeds = {"x": held if held.dtype == numpy_of(names[0]) else held.astype(numpy_of(names[0]))}
                    wanted, compared = casts.numpy_cast(source, target, values, attrs.get("saturate", True))
                    both = made.of_both(f"Cast to {target}", "core", path, feeds, lambda: {"wide": wanted})  # noqa: B023
                    if both:
                        got = both[1]["wide"]
                        got[~compared] = wanted[~compared]
                        node = Node("Cast", ["y", "wide"], ["x"], ["wide"], f"dtype={names[1]}")
                        made.compare_nodes("core", [node], feeds, both, made.keeper("core", path, feeds))
    if not args.only:
        made.compare_recorded("runtime/numerics/small_float_golden.h", "small_floats.py", None)
    return made
