"""Compares what the reference computes with ONNX Runtime, node by node, bit for bit.

A node is left out where ONNX has no counterpart: int32 results, zero points that the quantized
type cannot hold, a float x of Requantize. Of a DynamicQuantize that computes other parameters than
DynamicQuantizeLinear does, the quantizing with them is compared.
"""

import numpy as np

from reference import DTYPES, Parameters, read_parameters

try:
    import onnxruntime
    from onnx import TensorProto, helper
except ImportError:
    onnxruntime = None

NARROW = (DTYPES["int8"], DTYPES["uint8"])


def run_onnx(op, arrays, result_dtypes, **attrs):
    """One ONNX op on arrays; its outputs."""
    types = {
        DTYPES["float32"]: TensorProto.FLOAT,
        DTYPES["int8"]: TensorProto.INT8,
        DTYPES["uint8"]: TensorProto.UINT8,
    }
    feeds = {f"in{i}": np.asarray(a) for i, a in enumerate(arrays)}
    results = {f"out{i}": dtype for i, dtype in enumerate(result_dtypes)}
    graph = helper.make_graph(
        [helper.make_node(op, list(feeds), list(results), **attrs)],
        "peer",
        [helper.make_tensor_value_info(n, types[a.dtype], a.shape) for n, a in feeds.items()],
        [helper.make_tensor_value_info(n, types[d], None) for n, d in results.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, feeds)


def linear(op, x, parameters, quantized, result):
    """QuantizeLinear or DequantizeLinear; None where ONNX cannot hold the types or zero points."""
    if quantized not in NARROW:
        return None
    limits = np.iinfo(quantized)
    if parameters.zero.min() < limits.min or parameters.zero.max() > limits.max:
        return None
    count = max(parameters.scale.size, parameters.zero.size)
    shape = () if count == 1 else (count,)
    scale = np.broadcast_to(parameters.scale.reshape(-1), (count,)).reshape(shape)
    zero = np.broadcast_to(parameters.zero.reshape(-1), (count,)).reshape(shape)
    attrs = {} if count == 1 else {"axis": parameters.axis}
    return run_onnx(op, [x, scale, zero.astype(quantized)], [result], **attrs)[0]


def cast(x, dtype):
    """Cast from the dtype of x. Arrays go in and come out as float32, which holds these values."""
    types = {"float32": "FLOAT"}
    names = [types.get(str(t), str(t).upper()) for t in (x.dtype, dtype, DTYPES["float32"])]
    edges = ["in", "given", "made", "out"]
    nodes = [
        helper.make_node("Cast", [a], [b], to=getattr(TensorProto, name))
        for a, b, name in zip(edges, edges[1:], names)
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n in ("in", "out")]
    graph = helper.make_graph(nodes, "peer", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    given = np.asarray(x.astype(np.float32))
    return np.asarray(session.run(None, {"in": given})[0]).astype(dtype)


def peer_outputs(node, values):
    """What ONNX Runtime computes for the node: value names and arrays; empty if it cannot."""
    op, name, attrs = node["op"], node["name"], node.get("attrs", {})
    x, y = values[node["inputs"]["x"]], values[name]
    float32 = DTYPES["float32"]
    computed = [name + ".scale", name + ".zero_point"]

    if op == "Cast":
        return {name: cast(x, y.dtype)}

    if op == "Dequantize":
        result = linear("DequantizeLinear", x, read_parameters(node, values, x), x.dtype, float32)
        return {} if result is None else {name: result.astype(y.dtype)}

    if op == "Requantize":
        source = read_parameters(node, values, x, "in_")
        parameters = read_parameters(node, values, x, "out_")
        x = linear("DequantizeLinear", x, source, x.dtype, float32)
    elif computed[0] in values:
        if y.dtype == np.uint8 and x.dtype == float32 and not {"qtype", "scheme"} & set(attrs):
            made = run_onnx("DynamicQuantizeLinear", [x], [y.dtype, float32, y.dtype])
            return dict(zip([name] + computed, made))
        scale, zero = (values[port] for port in computed)
        parameters = Parameters(scale, zero.astype(np.int64), attrs.get("axis", 1))
    else:
        parameters = read_parameters(node, values, x)
    if x is None:
        return {}
    result = linear("QuantizeLinear", x.astype(float32), parameters, y.dtype, y.dtype)
    return {} if result is None else {name: result}


def compare_graph(graph, values):
    """Asserts equality wherever there is a counterpart; says how many nodes had one."""
    if onnxruntime is None:
        return "onnxruntime is not installed, not compared"
    compared = 0
    for node in graph["nodes"]:
        outputs = peer_outputs(node, values)
        for name, array in outputs.items():
            assert array.dtype == values[name].dtype
            assert array.tobytes() == values[name].tobytes(), f"{name}: ONNX Runtime differs"
        compared += bool(outputs)
    return f"onnxruntime agrees on {compared} of {len(graph['nodes'])} nodes"
