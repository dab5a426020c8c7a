// SPDX-License-Identifier: Apache-2.0
// Stages and links that look results up. An input of 8 bits has 256 results for each parameter: the
// kernel fills a table with them when the graph is compiled, which is exact for any numerics.
#ifndef QDQ_OPS_QUANTIZE_LOOKUP_STAGES_H
#define QDQ_OPS_QUANTIZE_LOOKUP_STAGES_H

#include "ops/op.h"

// Joins the first of `count` links that together map bytes x to bytes through one table, if that is
// faster: the last of them becomes the lookup and the others compute nothing. Needs results in
// between that no one else reads, and known parameters that are the same for all elements. *joined:
// how many, or 0. False when memory runs out.
bool qdq_join_links(qdq_link *links, size_t count, qdq_dtype x, qdq_mempool *mempool, uint32_t isas,
                    size_t *joined);

// Turns a stage from bytes to bytes with known parameters into a lookup; leaves other stages
// unchanged. False when memory runs out.
bool qdq_use_lookup(qdq_stage *stage, qdq_dtype x, qdq_dtype y, const qdq_lowering *to);

// The same for a Dequantize of `elements` elements, if a lookup is faster than its kernel.
bool qdq_use_lookup_of_floats(qdq_stage *stage, qdq_dtype x, qdq_dtype y, size_t elements,
                              const qdq_lowering *to);

// Makes a stage that quantizes float32 to bytes y take the codes that stand for the floats. All
// parameters are known single numbers. False when memory runs out.
bool qdq_use_lookup_of_codes(qdq_stage *stage, const qdq_quantized *x, qdq_dtype y,
                             const qdq_lowering *to);

// Turns a stage from bytes x to bytes y into a lookup in a table of its 256 results. False when
// memory runs out.
bool qdq_use_table(qdq_stage *stage, const uint8_t *results, qdq_dtype x, qdq_dtype y,
                   uint32_t isas, qdq_mempool *mempool);

#endif
