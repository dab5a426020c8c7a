// SPDX-License-Identifier: Apache-2.0
// Tile functions of the ops. The portable function of a family takes every dtype and all numerics
// and is the definition. Other kernels take common combinations of dtypes and numerics on one
// instruction set and equal it bit for bit.
#ifndef QDQ_OPS_KERNELS_KERNEL_H
#define QDQ_OPS_KERNELS_KERNEL_H

#include "include/qdq/ops/quantize.h"
#include "ops/kernels/best_row.h"
#include "ops/kernels/quantize/params.h"
#include "runtime/exec/plan.h"

// A row of the kernel table: the work that a function does. A column that is zero or NULL matches
// everything.
typedef struct qdq_kernel {
    qdq_isa isa;
    qdq_family family;
    qdq_dtype x_dtype, y_dtype;
    const char *name;              // of the function, for tests and benchmarks
    const qdq_numerics *numerics;  // only fields that matter to the family and dtypes
    qdq_tile_fn *fn;
} qdq_kernel;

// Returns all kernels of this build, from the plainest to the most special.
const qdq_kernel *qdq_kernels(size_t *count);

// Returns the function of the last row that fits. With `numerics` NULL only rows that take all
// numerics fit.
qdq_tile_fn *qdq_kernel_find(qdq_family family, qdq_dtype x_dtype, qdq_dtype y_dtype,
                             const qdq_numerics *numerics, uint32_t isas);

// The same for a quantizing op with these parameters.
qdq_tile_fn *qdq_quant_kernel(qdq_family family, const qdq_quant_params *params, uint32_t isas);

// Returns `numerics` with every field zero that does not matter to a kernel of the family.
qdq_numerics qdq_numerics_that_matter(qdq_family family, qdq_dtype y_dtype,
                                      const qdq_numerics *numerics);

// Their `params` is a qdq_quant_params.
qdq_tile_fn qdq_quantize_tile_portable;
qdq_tile_fn qdq_dequantize_tile_portable;
qdq_tile_fn qdq_requantize_tile_portable;
qdq_tile_fn qdq_fixed_tile_portable;  // with `fixed`

// True if the vector kernels by multiplier and shift take a call: x has no zero point, zero points
// of y are bytes of y, no multiplier is negative, and shifts are 1 or more, for roundings that
// round twice 31 or more.
bool qdq_fixed_is_plain(const qdq_quant_params *params, const qdq_view *views, size_t n);

// Prepares a link that quantizes with a scale for each element of a row, and one zero point or as
// many as scales. If they are known and its kernel has a form that needs no division, the link
// takes that form, with two more parameters: 1 / s and z + 1/2, both in parts of 2^-16. False:
// memory runs out.
bool qdq_quantize_prepare(qdq_link *link, qdq_mempool *mempool);

// Requantize by way of bfloat16: Dequantize with `first`, then Quantize with `second`.
typedef struct qdq_pair_params {
    qdq_quant_params first, second;
    qdq_tile_fn *dequantize, *quantize;
} qdq_pair_params;

// Its `params` is a qdq_pair_params.
qdq_tile_fn qdq_requantize_pair_tile;

// `numerics.float_overflow` is the op's `saturate`.
typedef struct qdq_cast_params {
    qdq_numerics numerics;
    qdq_dtype x_dtype, y_dtype;
    qdq_cast_rounding round_mode;
} qdq_cast_params;

// Its `params` is a qdq_cast_params; it has no views.
qdq_tile_fn qdq_cast_tile_portable;
// Casts n elements, at most QDQ_CAST_PART, if float32 and int32_t registers cannot hold x or y.
// False: they can.
enum { QDQ_CAST_PART = 256 };
bool qdq_cast_wide(const qdq_cast_params *p, const void *x, void *y, size_t n);
// True if NaN becomes 0 as an integer, not the number to which the CPU converts it: of the small
// floats with one NaN, which is a constant there.
static inline bool qdq_cast_drops_nan(const qdq_cast_params *p) {
    qdq_cast_form form = p->numerics.cast_form;
    bool fnuz = p->x_dtype == QDQ_FLOAT8_E4M3FNUZ || p->x_dtype == QDQ_FLOAT8_E5M2FNUZ;
    return (p->x_dtype == QDQ_FLOAT8_E8M0 && form != QDQ_CAST_TEXT) ||
           (fnuz && form == QDQ_CAST_TORCH);
}
// True if a -0 becomes +0, which vector kernels do not know.
static inline bool qdq_cast_drops_minus(const qdq_cast_params *p) {
    bool half = p->x_dtype == QDQ_FLOAT16 || p->y_dtype == QDQ_FLOAT16;
    return half && p->numerics.cast_form == QDQ_CAST_ONEDNN;
}

// Returns the best function for elements of a dtype; all give the same range.
qdq_range_fn *qdq_range_find(qdq_dtype x_dtype, uint32_t isas);
qdq_range_fn qdq_range_portable;

// A line on which the 256 results of a table of bytes lie, so that they can be computed. With x and
// y as signed bytes (the highest bit of unsigned bytes is inverted), a result is one of
//
//   saturate((saturate(mulhrs(x << 8, factor) + addend)) >> shift)         QDQ_LINE_WORDS
//   clamp(rne(fma(x, slope, offset)) + after, least, most)                 QDQ_LINE_FLOATS
//
// mulhrs(a, b) is (a * b + 2^14) >> 15. The float stays below 2^30 in size.
typedef enum qdq_line_kind {
    QDQ_LINE_NONE = 0,
    QDQ_LINE_WORDS,
    QDQ_LINE_FLOATS,
} qdq_line_kind;

enum { QDQ_LINE_SHIFT = 8, QDQ_LINE_STEEP_SHIFT = 6 };  // the values of `shift`

typedef struct qdq_lookup_line {
    qdq_line_kind kind;
    bool x_unsigned, y_unsigned;
    int shift;
    int16_t factor, addend;
    float slope, offset;
    int32_t after, least, most;
} qdq_lookup_line;

// Finds a line for a table, close to y = slope * x + offset + after with x and y unchanged. Tries
// every code; finds none if a code has another result.
void qdq_lookup_line_find(qdq_lookup_line *line, const uint8_t *table, float slope, float offset,
                          int32_t after);

// Tables of 256 results, one table for each parameter of the grid.
typedef struct qdq_lookup_params {
    const void *tables;
    const qdq_lookup_line *lines;  // one for each table of bytes; NULL: none is known
} qdq_lookup_params;

// Their `params` is a qdq_lookup_params; the view holds the number of the table of each element.
// Results are 1, 2 and 4 bytes wide.
qdq_tile_fn qdq_lookup_bytes_portable, qdq_lookup_halves_portable, qdq_lookup_words_portable;

#endif
