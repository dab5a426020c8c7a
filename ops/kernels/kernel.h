// SPDX-License-Identifier: Apache-2.0
// Tile functions of the ops. The portable one of a family takes every dtype and all numerics and is
// the definition; others take hot combinations on some instruction set and equal it bit for bit.
#ifndef QDQ_OPS_KERNELS_KERNEL_H
#define QDQ_OPS_KERNELS_KERNEL_H

#include "ops/quantize/choose_qparams.h"
#include "ops/quantize/quant_params.h"
#include "runtime/base/cpu.h"

// A row: which work a function does. A column that is zero (or NULL) takes all.
typedef struct qdq_kernel {
    const char *name;  // of the function, for tests and benchmarks
    qdq_isa isa;
    qdq_family family;
    qdq_dtype x_dtype, y_dtype;
    const qdq_numerics *numerics;  // in the fields that matter to the family and the dtypes
    qdq_tile_fn *fn;
} qdq_kernel;

// All kernels of this build, from the plainest to the most special.
const qdq_kernel *qdq_kernels(size_t *count);

// The last row that fits. `numerics` NULL: only rows that take all.
qdq_tile_fn *qdq_kernel_find(qdq_family family, qdq_dtype x_dtype, qdq_dtype y_dtype,
                             const qdq_numerics *numerics, uint32_t isas);

// The same for a quantizing op with these parameters.
qdq_tile_fn *qdq_quant_kernel(qdq_family family, const qdq_quant_params *params, uint32_t isas);

// The fields of numerics that matter to a kernel, the others zero.
qdq_numerics qdq_numerics_that_matter(qdq_family family, qdq_dtype y_dtype,
                                      const qdq_numerics *numerics);

// Params of these: qdq_quant_params.
qdq_tile_fn qdq_quantize_tile_portable;
qdq_tile_fn qdq_dequantize_tile_portable;
qdq_tile_fn qdq_requantize_tile_portable;

// `numerics.float_overflow` is the op's `saturate`.
typedef struct qdq_cast_params {
    qdq_numerics numerics;
    qdq_dtype x_dtype, y_dtype;
    qdq_round_mode round_mode;
} qdq_cast_params;

// Params: qdq_cast_params; no views.
qdq_tile_fn qdq_cast_tile_portable;

// The best function for elements of a dtype; all give the same range.
qdq_range_fn *qdq_range_find(qdq_dtype x_dtype, uint32_t isas);
qdq_range_fn qdq_range_portable;

// 256 results a table, one table for each parameter of the grid.
typedef struct qdq_lookup_params {
    const void *tables;
} qdq_lookup_params;

// Params: qdq_lookup_params; the view says which table each element has. Results are 1, 2 and 4
// bytes wide.
qdq_tile_fn qdq_lookup_bytes_portable, qdq_lookup_halves_portable, qdq_lookup_words_portable;

// Where the result of the first link is for the second alone, and both make bytes of bytes x with
// parameters that are known and alike, the second becomes a table and the first has nothing to do,
// if that is faster. False when memory runs out.
bool qdq_join_links(qdq_link *first, qdq_link *second, qdq_dtype x, qdq_pool *pool, uint32_t isas);

// Makes a table of a stage from bytes to bytes whose parameters are all known; leaves others as
// they are. False when memory runs out.
bool qdq_use_lookup(qdq_stage *stage, qdq_dtype x, qdq_dtype y, const qdq_lowering *to);

// The same of a Dequantize of so many elements, where looking up is faster than its kernel.
bool qdq_use_lookup_of_floats(qdq_stage *stage, qdq_dtype x, qdq_dtype y, size_t elements,
                              const qdq_lowering *to);

#endif
