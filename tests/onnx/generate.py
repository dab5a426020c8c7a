# SPDX-License-Identifier: Apache-2.0
"""Makes the models of this folder, their inputs, and the results of ONNX Runtime, or of ONNX's reference
implementation for ops that ONNX Runtime lacks. Needs the packages onnx and onnxruntime.

    python3 generate.py

product_models.py records more results, in an emulator. For each NAME: models/NAME.onnx, NAME.in.safetensors, NAME.out.safetensors. test_onnx.py runs them with qdq.
"""

import bit_models as bit
import network_models as network
import op_models as op
import product_models as product
import qlinear_models as qlinear
import reader_models as reader
from making import FOLDER

# In this order: they share one source of random numbers.
MODELS = [network.convolutions, network.quantized, network.integer_products, reader.constants, reader.dtypes,
          reader.external, reader.functions, reader.branches, reader.opset7, reader.shapes,
          reader.inputs_that_are_constants, op.elementwise, reader.names, reader.refused, reader.growing, op.wide,
          op.moves, op.old_moves, reader.places, op.logic, reader.bounds, reader.empty_ports,
          op.functions_of_elements, op.slices, op.norms, network.microsoft, network.packed_weights, reader.until,
          network.recurrent, network.pooled_codes, op.nearest_by_index, op.resized, reader.forbidden_names,
          reader.unsorted, bit.float_ops, bit.float_signs, bit.float_sums, bit.float_pools, bit.float_resizes, bit.float_instances, bit.float_reductions, bit.float_products, bit.float_functions, bit.float_logs, bit.float_norms, bit.float_softmax, bit.softmax_of_floats, network.attention,
          op.einsum, op.grid_samples, network.fused, network.sequences, op.dilated_pools, network.clipped_codes,
          network.long_sequences, network.lstm_bits, network.recurrent_bits, network.folded_weights, network.many_parts,
          qlinear.qlinear_pairs, qlinear.qlinear_slices, qlinear.qlinear_tables,
          product.products_of_codes, reader.division_precision, reader.large_folds, reader.ended_folds, network.open_sizes]  # fmt: skip

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for make in MODELS:
        make()
