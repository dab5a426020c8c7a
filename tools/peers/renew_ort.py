# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime for renew.py: target onnx is compared without optimizations, node by node, and target ort with all."""

from pathlib import Path

from renew_onnx import Models, models
from renewal import ROOT


def packages(version):
    return [f"onnxruntime=={version}", "numpy", "onnx", "ml_dtypes", "sympy"]


def release(version):
    return version.rpartition(".")[0]


class Optimized(Models):
    def compare_optimized(self, kind, target, model, feeds):
        import ort_release
        import ort_session

        path = self.saved(model)
        known = {i.name for i in model.graph.input}
        feeds = {k: v for k, v in feeds.items() if k in known}
        both = self.of_both(kind, target, path, feeds, lambda: ort_release.apart(ort_session.run, model, feeds, level="all"))
        if both:
            self.compare_whole(target, kind, both, self.keeper(target, path, feeds))


    def bits_of_cast(self, target, taken, row):
        """What qdq says of the nodes of a cast, by its row in onnx_casts.h."""
        import onnx_casts

        source, result = row.partition("// ")[2].split(" to ")
        path = self.saved(taken.lowered(onnx_casts.model(source, result, [1])))
        return [node.bits for node in self.qdq.load(path, target=target).check(target).nodes]


def recorded_models():
    """Names, models and inputs of the models of tests/onnx/ort."""
    import json

    import numpy
    import onnx

    folder = ROOT / "tests" / "onnx" / "ort"
    for name, row in json.loads((folder / "results.json").read_text()).items():
        feeds = {k: numpy.array(v["values"]).astype(v["dtype"]).reshape(v["shape"]) for k, v in row["inputs"].items()}
        yield name, onnx.load(folder / f"{name}.onnx"), feeds


def survey(args):
    import onnx
    import onnx_float_bits
    import onnxruntime
    import ort_conv_models
    import ort_graphs
    import ort_release
    import ort_session
    from onnx_recurrent_cases import deployed as recurrent

    made = Optimized(args, f"ONNX Runtime {onnxruntime.__version__}")
    taken = ort_release.Release()

    def run(model, feeds):
        return ort_release.apart(ort_session.run, model, feeds)

    plain, deployed = (f"{name}@{args.release}-{args.cpu}" for name in ("onnx", "ort"))
    for kind, model, feeds in models(args):
        made.compare_unoptimized(kind, plain, taken.lowered(model), feeds, run)
    for op, make in onnx_float_bits.OPS.items():
        for case in make() if args.only in op else ():
            made.compare_unoptimized(op, plain, taken.lowered(onnx.load_from_string(case.model())), case.feeds, run)
    for kind, model, feeds in recurrent(args.seed, args.graphs // 5):
        made.compare_optimized(kind, deployed, taken.lowered(model), feeds)
    for index in range(args.graphs):
        builder = ort_conv_models.make(args.seed, index)
        made.compare_optimized("float convolutions", deployed, taken.lowered(builder.model()), builder.inputs)
        builder, kind = ort_graphs.make(args.seed, index)
        made.compare_optimized(kind, deployed, taken.lowered(builder.model()), builder.inputs)
    if not args.only:
        for _, model, feeds in recorded_models():
            made.compare_optimized("recorded", deployed, model, feeds)
        made.compare_recorded("graph/targets/onnx/onnx_casts.h", "onnx_casts.py", None,
                              bits=lambda row: made.bits_of_cast(plain, taken, row))  # fmt: skip
        name = f"{args.release.replace('.', '_')}_x86"
        if Path(ROOT / "tests/graph/targets/onnx" / f"onnx_quantize_{name}.h").exists():
            made.compare_recorded(f"graph/targets/onnx/onnx_quantize_{name}.h", "onnx_quantize.py", name, None)
    return made
