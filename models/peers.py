# SPDX-License-Identifier: Apache-2.0
"""Compares the reference with another implementation, node by node and bit for bit."""

import onnx_peer
import reference_network
import torchao_peer

# TensorRT and Tripy compute as the core does.
PEERS = {"core": onnx_peer, "tensorrt": onnx_peer, "tripy": onnx_peer, "torchao": torchao_peer}


def compare_graph(graph, values):
    """Asserts equality for each node that has a counterpart; returns how many had one."""
    peer = PEERS.get(graph.get("target", "core"))
    if peer is None:
        return "no peer"
    if not peer.INSTALLED:
        return f"{peer.NAME} is not installed, not compared"
    compared = 0
    for node in graph["nodes"]:
        if node["op"] in reference_network.OPS:
            continue
        outputs = peer.peer_outputs(node, values)
        for name, array in outputs.items():
            wanted = values[name]
            assert array.dtype == wanted.dtype and array.shape == wanted.shape, name
            assert array.tobytes() == wanted.tobytes(), f"{name}: {peer.NAME} differs"
        compared += bool(outputs)
    return f"{peer.NAME} agrees on {compared} of {len(graph['nodes'])} nodes"
