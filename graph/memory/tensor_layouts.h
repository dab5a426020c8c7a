// SPDX-License-Identifier: Apache-2.0
// The memory_config, layout and tile of every value of a graph: as the user gave them, else as ttnn
// would choose them (docs/device_memory.md).
#ifndef QDQ_GRAPH_MEMORY_TENSOR_LAYOUTS_H
#define QDQ_GRAPH_MEMORY_TENSOR_LAYOUTS_H

#include "graph/core/output_tensor.h"
#include "graph/memory/given_layout.h"

typedef struct qdq_tensor_layouts {
    const qdq_tensor_layout **of;  // by value id; NULL: every value has the default
    size_t count;
} qdq_tensor_layouts;

// Fills *out; the pool owns it. False if memory runs out.
bool qdq_tensor_layouts_make(const qdq_graph *graph, qdq_mempool *mempool, qdq_tensor_layouts *out);

// Returns the layout of the value `id`; never NULL. A sharded config without a shard_spec stays as
// it is if no operand has a spec to take, and target ttnn refuses it.
const qdq_tensor_layout *qdq_tensor_layout_of(const qdq_tensor_layouts *layouts, uint32_t id);

// Returns the tile of operand 0 or 1 of a MatMul as the product reads it. The tile of a transposed
// operand is turned.
qdq_tile_shape qdq_product_tile(const qdq_tensor_layouts *layouts, const qdq_node *node,
                                size_t input);
// Returns the tile of the results of a node, which is the tile of operand 0. The tile of a product
// has the height of a's tile and the width of b's.
qdq_tile_shape qdq_result_tile(const qdq_tensor_layouts *layouts, const qdq_node *node);

// Returns the value whose buffer the value `id` shares, because it is a reshape that moves no page,
// a tensor that an op returns as it is, or a result that is written to its output_tensor; 0: it has
// its own.
uint32_t qdq_tensor_shared_with(const qdq_graph *graph, const qdq_tensor_layouts *layouts,
                                uint32_t id);

#endif
