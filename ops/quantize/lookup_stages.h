// SPDX-License-Identifier: Apache-2.0
// Stages and links that look results up. An input of 8 bits has 256 results for each parameter: the
// kernel fills a table with them when the graph is compiled, which is exact for any numerics.
#ifndef QDQ_OPS_QUANTIZE_LOOKUP_STAGES_H
#define QDQ_OPS_QUANTIZE_LOOKUP_STAGES_H

#include "ops/op.h"

// Where the result of the first link is for the second alone, and both make bytes of bytes x with
// parameters that are known and alike, the second becomes a table and the first has nothing to do,
// if that is faster. False when memory runs out.
bool qdq_join_links(qdq_link *first, qdq_link *second, qdq_dtype x, qdq_mempool *mempool,
                    uint32_t isas);

// Makes a table of a stage from bytes to bytes whose parameters are all known; leaves others as
// they are. False when memory runs out.
bool qdq_use_lookup(qdq_stage *stage, qdq_dtype x, qdq_dtype y, const qdq_lowering *to);

// The same of a Dequantize of so many elements, where looking up is faster than its kernel.
bool qdq_use_lookup_of_floats(qdq_stage *stage, qdq_dtype x, qdq_dtype y, size_t elements,
                              const qdq_lowering *to);

#endif
