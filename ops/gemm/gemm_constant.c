// SPDX-License-Identifier: Apache-2.0
// Packing constant B once for all products that read it in the same form.
//
// The key below says when two products may share a packed constant; ops/shared_constants.c is
// the table.
#include <string.h>

#include "ops/gemm/gemm_read.h"
#include "ops/shared_constants.h"

// Everything that the packed form depends on. It has no padding.
typedef struct key {
    const void *source, *zeros;
    size_t form, columns, depth, zero_column_stride;
    size_t a_zero_port;  // SIZE_MAX: none, or it is known
    qdq_gemm_weights weights;
    qdq_dtype a_dtype, zero_dtype;
    int32_t a_zero;
    qdq_gemm_kind kind;
} key;

// Zero points of codes are copied for each product, so the key has the originals.
static key key_of(const qdq_gemm *g, const qdq_op_context *ctx, const qdq_gemm_known *known,
                  size_t form) {
    const qdq_operand *b = &ctx->inputs[g->weights.port];
    const void *source = known->data ? known->data : (const void *)known->stored;
    key k;
    memset(&k, 0, sizeof k);
    k.source = b->weight_codes ? (const void *)b->weight_codes : source;
    k.zeros = b->quantized ? b->quantized->zero_points : known->zeros;
    k.form = form, k.columns = g->columns, k.depth = g->depth;
    k.zero_column_stride = g->b_zero.column_stride;
    k.weights = g->weights;
    k.a_dtype = g->a_dtype, k.zero_dtype = g->b_zero.dtype;
    k.a_zero_port = g->a_zero.known ? SIZE_MAX : g->a_zero.port;
    if (g->a_zero.known) k.a_zero = qdq_gemm_integer_at(g->a_zero.dtype, g->a_zero.known, 0);
    k.kind = g->kind;
    return k;
}

const void *qdq_gemm_find_packed(const qdq_gemm *g, const qdq_op_context *ctx,
                                 const qdq_lowering *to, const qdq_gemm_known *known, size_t form) {
    key k = key_of(g, ctx, known, form);
    return qdq_shared_find(to->shared, &k, sizeof k);
}

bool qdq_gemm_add_packed(const qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to,
                         const qdq_gemm_known *known, size_t form, const void *packed) {
    key k = key_of(g, ctx, known, form);
    return qdq_shared_add(to->shared, &k, sizeof k, packed);
}

// The fields that packing sets.
typedef struct result {
    qdq_gemm_kind kind;
    const void *packed;
    const struct qdq_gemm_weight_codes *weight_codes;
    const int32_t *first_sums, *column_sums;
} result;

static bool pack(qdq_gemm *g, const qdq_weight_codes *weight_codes, const qdq_gemm_known *known,
                 const qdq_lowering *to) {
    if (weight_codes) return qdq_gemm_pack_weight_codes(g, weight_codes, to);
    bool bytes = qdq_gemm_saturates(g->kind) || qdq_gemm_takes_bytes(g, known->zeros);
    return (bytes ? qdq_gemm_pack_bytes : qdq_gemm_pack_all)(g, known, to);
}

bool qdq_gemm_pack_constant(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to) {
    const qdq_weight_codes *weight_codes = ctx->inputs[g->weights.port].weight_codes;
    qdq_gemm_known known = {0};
    if (!weight_codes && !qdq_gemm_constant_weights(g, ctx, &known)) return true;
    const qdq_gemm before = *g;  // as the key has it
    size_t form = weight_codes && qdq_gemm_row_is_fixed(g) ? QDQ_PACKED_LINES : QDQ_PACKED_PANELS;
    const result *same = qdq_gemm_find_packed(g, ctx, to, &known, form);
    if (same) {
        g->kind = same->kind, g->packed = same->packed, g->weight_codes = same->weight_codes;
        g->first_sums = same->first_sums, g->column_sums = same->column_sums;
        return true;
    }
    if (!pack(g, weight_codes, &known, to)) return false;
    result made = {g->kind, g->packed, g->weight_codes, g->first_sums, g->column_sums};
    const result *kept = qdq_mempool_copy(to->mempool, &made, 1, sizeof made);
    return kept && qdq_gemm_add_packed(&before, ctx, to, &known, form, kept);
}
