// SPDX-License-Identifier: Apache-2.0
// Says which elements of a Quantize or Dequantize share a scale and a zero point.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_GROUPING_H
#define QDQ_TOOLS_LAB_EXPLAIN_GROUPING_H

#include "tools/lab/explain/node_document.h"

// Blocks of x, numbered in row-major order of their grid. Whole dims are one block.
typedef struct grouping {
    qdq_shape shape;               // of x
    int64_t extent[QDQ_MAX_RANK];  // of a block
    int64_t blocks[QDQ_MAX_RANK];  // of the grid
    size_t count;                  // of all blocks
} grouping;

// Finds the groups of a node whose x has this shape and that has `count` scales. False if its
// attributes do not give as many.
bool grouping_of(const node_document *d, qdq_shape shape, size_t count, grouping *out);
// Returns the index of the group of an element.
size_t grouping_at(const grouping *g, size_t element);
// Writes the coordinates of an element.
void grouping_coordinates(const grouping *g, size_t element, int64_t at[QDQ_MAX_RANK]);

#endif
