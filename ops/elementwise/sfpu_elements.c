// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/sfpu_elements.h"

#include "ops/shared_constants.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"

enum {
    RESULTS = 1 << 16,  // of a table
    // Filling a table takes as long as this many elements at most; a tensor with fewer elements
    // runs the program.
    LEAST_ELEMENTS = RESULTS / 64,
};

// The key of a table among the shared constants: the same bytes for equal programs.
typedef struct table_key {
    char kind[8];
    int32_t op, chip, generation;
    bool approximate, keep_nan, round_store, wide_dst, accurate;
    char zeros[3];
    float a, b;
} table_key;

static table_key key_of(const qdq_sfpu_program *p) {
    return (table_key){.kind = "sfpu",
                       .op = (int32_t)p->op,
                       .chip = (int32_t)p->chip,
                       .generation = (int32_t)p->generation,
                       .approximate = p->approximate,
                       .keep_nan = p->keep_nan,
                       .round_store = p->round_store,
                       .wide_dst = p->wide_dst,
                       .accurate = p->accurate,
                       .a = p->a,
                       .b = p->b};
}

// Returns the table of a program, which nodes of a graph share. NULL when memory runs out.
static const uint16_t *table_of(const qdq_lowering *to, const qdq_sfpu_program *program) {
    table_key key = key_of(program);
    const uint16_t *known = qdq_shared_find(to->shared, &key, sizeof key);
    if (known) return known;
    uint16_t *table = qdq_mempool_array(to->mempool, RESULTS, sizeof *table);
    if (!table) return NULL;
    qdq_sfpu_table(program, table);
    return !to->shared || qdq_shared_add(to->shared, &key, sizeof key, table) ? table : NULL;
}

size_t qdq_lower_sfpu(const qdq_op_context *ctx, const qdq_lowering *to,
                      const qdq_sfpu_program *program, size_t port, qdq_stage *stages) {
    const qdq_type *y = &ctx->outputs[0];
    qdq_sfpu_params *params = QDQ_MEMPOOL_NEW(to->mempool, qdq_sfpu_params);
    if (!params) return 0;
    *params = (qdq_sfpu_params){.program = *program};
    bool tabulates =
        !to->plain && y->dtype != QDQ_FLOAT32 && qdq_shape_count(y->shape) >= LEAST_ELEMENTS;
    if (tabulates && !(params->table = table_of(to, program))) return 0;
    stages[0] = (qdq_stage){.x = port, .params = params, .fn = qdq_sfpu_tile_fn(params, y->dtype)};
    // The host's padding of x.
    if (qdq_dtype_is_block_float(y->dtype))
        stages[0].padding = qdq_bfloat16_decode(qdq_sfpu_bfloat16(program, 0));
    return 1;
}
