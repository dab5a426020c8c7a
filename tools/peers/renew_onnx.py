# SPDX-License-Identifier: Apache-2.0
"""ONNX's reference implementation for renew.py, and models of single nodes for it and for ONNX Runtime."""

from renewal import Node, Survey


def packages(version):
    return [f"onnx=={version}", "numpy", "ml_dtypes", "onnxruntime"]  # its quantizer makes models


def release(_version):
    return "spec"


class Models(Survey):
    """Compares ONNX models node by node: each value is an output, so that the first node with other bits is known."""

    EITHER_ZERO = ("Max", "Min")

    def with_values(self, model):
        """The model with every value as an output."""
        import onnx

        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        shown = {o.name for o in copy.graph.output}
        for node in copy.graph.node:
            for name in node.output:
                if name and name not in shown:
                    copy.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
                    shown.add(name)
        return copy

    def nodes_of(self, model):
        from onnx import helper

        for one in model.graph.node:
            words = {a.name: helper.get_attribute_value(a) for a in one.attribute if a.type not in (4, 5, 9, 10)}
            text = ", ".join(f"{k}={v.decode() if isinstance(v, bytes) else v}" for k, v in words.items())
            yield Node(one.op_type, [one.name, *one.output], list(one.input), list(one.output), text)

    def saved(self, model):
        import onnx

        path = self.work / "model.onnx"
        onnx.save(model, path)
        return path

    def compare_unoptimized(self, kind, target, model, feeds, run):
        from onnx import numpy_helper

        graph = self.with_values(model) if len(model.graph.node) > 1 else model
        path = self.saved(graph)
        known = {i.name for i in graph.graph.input}
        feeds = {k: v for k, v in feeds.items() if k in known}
        both = self.of_both(kind, target, path, feeds, lambda: run(graph, feeds))
        if both:
            held = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
            self.compare_nodes(target, self.nodes_of(model), {**held, **feeds}, both, self.keeper(target, path, feeds))


class References(Models):
    EITHER_ZERO = ("Max", "Min", "Relu", "Sign")
    LEFT_OUT = ("OneHot", "GlobalMaxPool")


def models(args):
    """Names, models and inputs of models of one node and of small networks."""
    import element_models
    import numpy
    from onnx_attention_cases import ATTENTION
    from onnx_cases import CASES
    from onnx_index_cases import READ
    from onnx_quantized import NETWORKS, QUANTIZING
    from onnx_recurrent_cases import RECURRENT
    from onnx_window_cases import PRODUCTS

    kinds = {**CASES, **PRODUCTS, **QUANTIZING, **NETWORKS, **READ, **ATTENTION, **RECURRENT}
    for number, (kind, make) in enumerate(kinds.items()):
        for i in range(args.count if args.only in kind else 0):
            case = make(numpy.random.default_rng([args.seed, number, i]))
            yield kind, case.model, case.feeds
    for kind, model, feeds in element_models.models(args.seed):
        if args.only in kind:
            yield kind, model, feeds


def of_reference(model, feeds):
    from onnx.reference import ReferenceEvaluator

    names = [output.name for output in model.graph.output]
    return dict(zip(names, ReferenceEvaluator(model).run(names, feeds)))


def survey(args):
    import numpy
    import onnx

    made, target = References(args, f"the reference of onnx {onnx.__version__}"), f"onnx@{args.release}"
    with numpy.errstate(all="ignore"):
        for kind, model, feeds in models(args):
            made.compare_unoptimized(kind, target, model, feeds, of_reference)
    if not args.only:
        made.compare_recorded("graph/targets/onnx/onnx_spec.h", "onnx_spec.py", None)
    return made
