// SPDX-License-Identifier: Apache-2.0
// Counts the ops, dtypes and bytes of a graph.
#ifndef QDQ_TOOLS_INSPECT_INVENTORY_H
#define QDQ_TOOLS_INSPECT_INVENTORY_H

#include <qdq/inspect.h>

typedef struct op_count {
    const char *op;  // lives as long as the graph
    size_t count;
} op_count;

typedef struct dtype_count {
    size_t constants, computed;  // values; inputs of the graph count as computed
    uint64_t constant_bytes, computed_bytes;
} dtype_count;

typedef struct inventory {
    op_count *ops;  // the most frequent first, then by name
    size_t op_count;
    dtype_count dtypes[QDQ_DTYPE_COUNT];
    dtype_count all;
} inventory;

// Counts the parts of a graph. False if memory runs out; release it in either case.
bool inventory_take(inventory *out, const qdq_graph *graph);
void inventory_release(inventory *of);

// Returns the bytes of a tensor, with a byte for each element of a narrower dtype.
uint64_t tensor_bytes(qdq_dtype dtype, qdq_shape shape);

#endif
