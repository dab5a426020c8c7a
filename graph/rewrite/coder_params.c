// SPDX-License-Identifier: Apache-2.0
#include "graph/rewrite/coder_params.h"

#include "runtime/numerics/dtype.h"
#include "runtime/numerics/quantize_one.h"
#include "runtime/tiles/grid.h"

bool qdq_coder_read_params(const qdq_rewriter *r, const qdq_coder *c, qdq_coder_params *out) {
    *out = (qdq_coder_params){.scales = qdq_mempool_array(r->mempool, c->count, sizeof(float)),
                              .zeros = qdq_mempool_array(r->mempool, c->count, sizeof(int32_t)),
                              .count = c->count};
    if (!out->scales || !out->zeros) return false;
    for (size_t i = 0; i < c->count; i++) {
        out->scales[i] = qdq_coder_scale(r, c, i);
        out->zeros[i] = qdq_coder_zero(r, c, i);
    }
    return true;
}

static qdq_shape shape_of(const qdq_rewriter *r, const qdq_coder *c) {
    return r->from->values[c->codes].type.shape;
}

// Sets the elements of a block along each dim.
static void extents_of(const qdq_rewriter *r, const qdq_coder *c, int64_t *extents) {
    qdq_shape shape = shape_of(r, c);
    for (int i = 0; i < shape.rank; i++) {
        extents[i] = i == c->axis ? 1 : shape.dims[i];
        if (c->blocks && c->attrs->group_shape.data[i] != -1)
            extents[i] = c->attrs->group_shape.data[i];
    }
}

uint32_t *qdq_coder_blocks(const qdq_rewriter *r, const qdq_coder *c) {
    qdq_shape shape = shape_of(r, c);
    size_t count = qdq_shape_count(shape), run;
    uint32_t *blocks = qdq_mempool_array(r->mempool, count, sizeof *blocks);
    int64_t extents[QDQ_MAX_RANK];
    if (!blocks || c->count == 1) return blocks;
    extents_of(r, c, extents);
    qdq_grid grid = qdq_grid_of(shape, extents);
    for (size_t i = 0; i < count;) {
        uint32_t block = (uint32_t)qdq_grid_block(&grid, i, &run);
        for (; run > 0 && i < count; run--) blocks[i++] = block;
    }
    return blocks;
}

// Returns the shape of the parameters: one for each channel or block.
static qdq_shape params_shape(const qdq_rewriter *r, const qdq_coder *c) {
    qdq_shape shape = shape_of(r, c);
    int64_t extents[QDQ_MAX_RANK];
    if (!c->blocks) return (qdq_shape){1, {(int64_t)c->count}};
    extents_of(r, c, extents);
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = (shape.dims[i] + extents[i] - 1) / extents[i];
    return shape;
}

static bool all_zero(const qdq_coder_params *p) {
    for (size_t i = 0; i < p->count; i++)
        if (p->zeros[i]) return false;
    return true;
}

static void set_constants(const qdq_rewriter *r, const qdq_coder *c, qdq_dtype codes,
                          const qdq_coder_params *p, qdq_quantize_attrs *attrs) {
    qdq_shape shape = params_shape(r, c);
    attrs->scale = qdq_rewrite_constant(r, attrs->name, "_scale", QDQ_FLOAT32, shape, p->scales);
    if (all_zero(p)) return;
    char *zeros = qdq_mempool_array(r->mempool, p->count, qdq_dtype_size(codes));
    if (zeros) qdq_encode_int(codes, p->zeros, zeros, p->count);
    if (zeros)
        attrs->zero_point =
            qdq_rewrite_constant(r, attrs->name, "_zero_point", codes, shape, zeros);
}

static void set_numbers(const qdq_rewriter *r, const qdq_coder_params *p,
                        qdq_quantize_attrs *attrs) {
    double *zero = qdq_mempool_array(r->mempool, 1, sizeof *zero);
    attrs->scales = (qdq_floats){p->scales, 1, true};
    if (!zero || p->zeros[0] == 0) return;
    *zero = p->zeros[0];
    attrs->zps = (qdq_numbers){zero, 1, true};
}

qdq_quantize_attrs qdq_coder_attrs(const qdq_rewriter *r, const qdq_coder *c, qdq_dtype codes,
                                   const qdq_coder_params *p) {
    bool quantizes = c->reals == r->from->nodes[c->node].inputs[0].id;
    qdq_quantize_attrs attrs = {
        .name = r->from->nodes[c->node].name,
        .qtype = c->blocks      ? QDQ_PER_GROUP
                 : c->axis >= 0 ? QDQ_PER_CHANNEL
                                : QDQ_PER_TENSOR,
        .axis = !c->blocks && c->axis >= 0 ? QDQ_INT(c->axis) : (qdq_int){0},
        .group_shape = c->blocks ? c->attrs->group_shape : (qdq_ints){0},
        .dtype = quantizes ? codes : QDQ_FLOAT32,
        .saturate = c->attrs->saturate,
    };
    if (quantizes) attrs.quant_min = c->attrs->quant_min, attrs.quant_max = c->attrs->quant_max;
    if (p->count == 1)
        set_numbers(r, p, &attrs);
    else
        set_constants(r, c, codes, p, &attrs);
    return attrs;
}

int64_t *qdq_coder_steps(const qdq_rewriter *r, const qdq_coder *c, const qdq_coder_params *p) {
    size_t count = qdq_shape_count(shape_of(r, c));
    const void *data = qdq_rewrite_data(r, c->codes);
    const uint32_t *blocks = qdq_coder_blocks(r, c);
    int64_t *steps = qdq_mempool_array(r->mempool, count, sizeof *steps);
    if (!data || !blocks || !steps) return NULL;
    qdq_widen_int64(c->dtype, data, steps, count);
    for (size_t i = 0; i < count; i++) steps[i] -= p->zeros[blocks[i]];
    return steps;
}

float *qdq_coder_reals(const qdq_rewriter *r, const qdq_coder *c, const qdq_coder_params *p) {
    size_t count = qdq_shape_count(shape_of(r, c));
    const int64_t *steps = qdq_coder_steps(r, c, p);
    const uint32_t *blocks = qdq_coder_blocks(r, c);
    float *reals = qdq_mempool_array(r->mempool, count, sizeof *reals);
    qdq_numerics plain = {0};
    if (!steps || !blocks || !reals) return NULL;
    for (size_t i = 0; i < count; i++) {
        int32_t zero = p->zeros[blocks[i]];
        reals[i] =
            qdq_dequantize_one(&plain, (int32_t)(steps[i] + zero), p->scales[blocks[i]], zero);
    }
    return reals;
}

static qdq_numerics numerics_of(const qdq_rewriter *r, const qdq_coder *c) {
    qdq_findings silent = {.mempool = r->mempool};
    qdq_op_context ctx;
    qdq_graph_context(r->from, &r->from->nodes[c->node], &silent, &ctx);
    return qdq_target_numerics(r->version, &ctx);
}

void *qdq_coder_codes(const qdq_rewriter *r, const qdq_coder *c, const qdq_coder_params *p) {
    size_t count = qdq_shape_count(shape_of(r, c));
    const float *reals = qdq_rewrite_data(r, c->reals);
    const uint32_t *blocks = qdq_coder_blocks(r, c);
    int32_t *steps = qdq_mempool_array(r->mempool, count, sizeof *steps);
    void *codes = qdq_mempool_array(r->mempool, count, qdq_dtype_size(c->dtype));
    qdq_numerics numerics = numerics_of(r, c);
    qdq_range range = qdq_range_of(c->dtype, NULL, NULL, &numerics);
    if (!reals || !blocks || !steps || !codes) return NULL;
    for (size_t i = 0; i < count; i++) {
        uint32_t block = blocks[i];
        steps[i] = qdq_quantize_one(&numerics, reals[i], p->scales[block], p->zeros[block], &range);
    }
    qdq_encode_int(c->dtype, steps, codes, count);
    return codes;
}
