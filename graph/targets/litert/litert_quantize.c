// SPDX-License-Identifier: Apache-2.0
// QUANTIZE and DEQUANTIZE as operators. The optimized kernels compute whole blocks of elements by
// vectors, and the rest one by one: both parts get nodes of their own.
#include <math.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/targets/checks.h"
#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/quantize.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fma.h"

enum { X, CODES = 256, CODE_BLOCK = 16, FLOAT_BLOCK = 8 };

//---- QUANTIZE of codes ------------------------------------------------------

static bool is_byte(qdq_dtype dtype) { return dtype == QDQ_INT8 || dtype == QDQ_UINT8; }

static qdq_dtype dtype_of(const qdq_rewriter *r, uint32_t value) {
    return r->from->values[value].type.dtype;
}

static bool is_delegated(const qdq_requantize_attrs *a, qdq_dtype x, qdq_dtype y) {
    float scale = a->in_scales.data[0] / a->out_scales.data[0];
    return is_byte(x) && x == y && scale >= 0x1p-8f && scale <= 128.0f;
}

// Returns why a Requantize is no operator that was compared; NULL if it is one.
static const char *requantize_differs(const qdq_rewriter *r, const qdq_node *node) {
    const qdq_requantize_attrs *a = node->attrs;
    qdq_dtype x = dtype_of(r, node->inputs[X].id), y = dtype_of(r, node->outputs[0]);
    if (a->in_scales.count != 1 || a->out_scales.count != 1 || a->in_zps.count > 1 ||
        a->out_zps.count > 1)
        return "scales and zero points are no single numbers";
    if (a->quant_min.set != 0 || a->quant_max.set != 0) return "the result has a range";
    if (!is_byte(x) && x != QDQ_INT16) return "x has codes of other than 8 or 16 bits";
    if (!is_byte(y) && y != QDQ_INT16 && y != QDQ_INT32) return "y has codes of another dtype";
    if (!is_byte(x) || y != QDQ_INT32) return NULL;
    return "8 bits do not become 32";
}

bool litert_match_requantize(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("QUANTIZE");
    const qdq_node *node = &r->from->nodes[m->anchor];
    const qdq_requantize_attrs *a = node->attrs;
    litert_engine engine = litert_engine_of(r->version);
    if (a->multiplier.count) return false;
    const char *why = requantize_differs(r, node);
    qdq_dtype x = dtype_of(r, node->inputs[X].id), y = dtype_of(r, node->outputs[0]);
    if (!why && engine == LITERT_TFLM && (x == QDQ_UINT8 || y == QDQ_UINT8))
        why = "TFLM's kernels of uint8 were not compared";
    if (!why && (x == QDQ_UINT8 || y == QDQ_UINT8) && (x == QDQ_INT16 || y == QDQ_INT16))
        why = "no QUANTIZE has codes of uint8 and of int16";
    if (why) return litert_refuses(m, why);
    if (engine == LITERT_XNNPACK && !is_delegated(a, x, y)) engine = LITERT_BUILTIN;
    litert_run_by(m, engine, names);
    qdq_match_reads(r, m, node->inputs[X].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void litert_build_requantize(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    const qdq_requantize_attrs *a = node->attrs;
    litert_engine engine = (litert_engine)m->form;
    qdq_dtype x = dtype_of(r, node->inputs[X].id), y = dtype_of(r, node->outputs[0]);
    const qdq_dtype_info *info = qdq_dtype_get(y);
    litert_scaling s = {.rounding = QDQ_FIXED_DOUBLE,
                        .in_zero = a->in_zps.count ? (int32_t)a->in_zps.data[0] : 0,
                        .out_zero = a->out_zps.count ? (int32_t)a->out_zps.data[0] : 0,
                        .range = {(int64_t)info->least, (int64_t)info->greatest},
                        .dtype = y};
    float from = a->in_scales.data[0], to = a->out_scales.data[0];
    qdq_value codes = qdq_rewrite_value(r, node->inputs[X].id);
    if (!litert_new_scaling(r, &s, 1)) return;
    litert_set_fixed(&s, 0, (double)from / (double)to);
    if (engine == LITERT_XNNPACK) {
        s.rounding = QDQ_FIXED_SINGLE;
        s.multiplier[0] = (double)rintf(256.0f * (from / to)), s.shift[0] = 8;
    }
    if (engine == LITERT_BUILTIN && is_byte(x) && is_byte(y))
        m->made[0] = litert_requantize_blocks(r, node->name, codes, &s, CODE_BLOCK);
    else
        m->made[0] = litert_requantize(r, node->name, codes, &s);
}

//---- QUANTIZE of floats -----------------------------------------------------

// True if the optimized kernel runs a Quantize to a dtype.
static bool is_optimized(const qdq_target_version *version, qdq_dtype y) {
    litert_engine engine = litert_engine_of(version);
    return engine == LITERT_BUILTIN || (engine == LITERT_XNNPACK && !is_byte(y));
}

static size_t count_of(const qdq_rewriter *r, uint32_t value) {
    return qdq_shape_count(r->from->values[value].type.shape);
}

static bool is_per_tensor(const qdq_coder *c) { return c->given && c->count == 1 && !c->blocks; }

bool litert_match_quantize(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder c = qdq_coder_of(r, m->anchor, "Quantize");
    const qdq_node *node = &r->from->nodes[m->anchor];
    if (!is_per_tensor(&c) || !is_optimized(r->version, c.dtype)) return false;
    size_t count = count_of(r, c.reals);
    if (count < FLOAT_BLOCK || count % FLOAT_BLOCK == 0) return false;
    for (size_t i = 0; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_match_makes(r, m, c.codes);
    return true;
}

// Adds a node for a part of the elements.
static qdq_value quantize_part(const qdq_rewriter *r, const qdq_node *node, const char *part,
                               qdq_value x, int64_t from, int64_t to) {
    qdq_value *inputs = qdq_rewrite_inputs(r, node);
    const char *name = litert_part(r, node->name, part);
    if (!inputs) return (qdq_value){0};
    inputs[X] = litert_part_of(r, litert_part(r, name, "_elements"), x, 0, from, to);
    return qdq_copy_node(r->to, node, name, inputs);
}

void litert_build_quantize(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_value x = qdq_rewrite_value(r, node->inputs[X].id);
    qdq_shape shape = litert_shape(r->to, x);
    int64_t count = (int64_t)qdq_shape_count(shape), split = count / FLOAT_BLOCK * FLOAT_BLOCK;
    x = litert_reshape(r, litert_part(r, node->name, "/flat"), x, (qdq_shape){1, {count}});
    qdq_value a = quantize_part(r, node, "/blocks", x, 0, split),
              b = quantize_part(r, node, "/rest", x, split, count);
    x = litert_join(r, litert_part(r, node->name, "/codes"), a, b, 0);
    m->made[0] = litert_reshape(r, node->name, x, shape);
}

// x86 converts NaN and numbers beyond int32 to the least int32.
static qdq_numerics quantize_numerics(const qdq_op_context *ctx,
                                      const qdq_target_version *version) {
    bool arm = litert_is_arm(version);
    qdq_dtype y = ctx->outputs[0].dtype;
    size_t count = qdq_shape_count(ctx->inputs[X].type.shape);
    qdq_overflow overflow = arm ? QDQ_OVERFLOW_ARM : QDQ_OVERFLOW_X86;
    const qdq_quantize_attrs *a = ctx->attrs;
    if (is_optimized(version, y) && a->qtype == QDQ_PER_TENSOR)
        return count < FLOAT_BLOCK
                   ? (qdq_numerics){.rounding = QDQ_ROUND_HALF_AWAY,
                                    .scaling = QDQ_SCALE_DIVIDE_TO_ZERO,
                                    .overflow = overflow}
                   : (qdq_numerics){.scaling = QDQ_SCALE_RECIPROCAL, .overflow = overflow};
    if (litert_engine_of(version) != LITERT_XNNPACK)
        return (qdq_numerics){.rounding = QDQ_ROUND_HALF_AWAY, .overflow = overflow};
    return (qdq_numerics){.scaling = QDQ_SCALE_RECIPROCAL,
                          .nan = arm ? QDQ_NAN_ZERO_POINT : QDQ_NAN_QUANT_MAX};
}

qdq_numerics litert_numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    litert_engine engine = litert_engine_of(version);
    bool vectors = engine == LITERT_BUILTIN || engine == LITERT_XNNPACK;
    if (qdq_op_context_is(ctx, "Quantize")) return quantize_numerics(ctx, version);
    return (qdq_numerics){.qlinear = !vectors                 ? QDQ_QLINEAR_LITERT
                                     : litert_is_arm(version) ? QDQ_QLINEAR_LITERT_ARM
                                                              : QDQ_QLINEAR_LITERT_X86};
}

//---- DEQUANTIZE -------------------------------------------------------------

// With a zero point the vectors of the optimized kernel add -zero_point * scale.
bool litert_match_dequantize(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder c = qdq_coder_of(r, m->anchor, "Dequantize");
    if (litert_engine_of(r->version) != LITERT_BUILTIN || !litert_is_byte(&c) ||
        !qdq_coder_zero(r, &c, 0) || count_of(r, c.codes) < FLOAT_BLOCK)
        return false;
    for (size_t i = 0; i < r->from->nodes[c.node].input_count; i++)
        qdq_match_reads(r, m, r->from->nodes[c.node].inputs[i].id);
    qdq_match_makes(r, m, c.reals);
    return true;
}

static qdq_value add_floats(const qdq_rewriter *r, const char *name, const qdq_coder *c,
                            qdq_value x) {
    float scale = qdq_coder_scale(r, c, 0), reals[CODES];
    float offset = (float)(-(double)qdq_coder_zero(r, c, 0) * (double)scale);
    for (int i = 0; i < CODES; i++) {
        float code = (float)(i + (c->dtype == QDQ_INT8 ? -128 : 0));
        reals[i] =
            litert_is_arm(r->version) ? qdq_fmaf(code, scale, offset) : code * scale + offset;
    }
    qdq_value table =
        qdq_rewrite_constant(r, name, "/table", QDQ_FLOAT32, (qdq_shape){1, {CODES}}, reals);
    return qdq_table(r->to, x, table, (qdq_table_attrs){.name = name});
}

void litert_build_dequantize(qdq_rewriter *r, qdq_match *m) {
    qdq_coder c = qdq_coder_of(r, m->anchor, "Dequantize");
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_value x = qdq_rewrite_value(r, c.codes), *inputs = qdq_rewrite_inputs(r, node);
    qdq_shape shape = litert_shape(r->to, x);
    int64_t count = (int64_t)qdq_shape_count(shape), split = count / FLOAT_BLOCK * FLOAT_BLOCK;
    if (!inputs) return;
    if (split == count) {
        m->made[0] = add_floats(r, node->name, &c, x);
        return;
    }
    x = litert_reshape(r, litert_part(r, node->name, "/flat"), x, (qdq_shape){1, {count}});
    qdq_value a = litert_part_of(r, litert_part(r, node->name, "/head"), x, 0, 0, split);
    inputs[X] = litert_part_of(r, litert_part(r, node->name, "/tail"), x, 0, split, count);
    a = add_floats(r, litert_part(r, node->name, "/blocks"), &c, a);
    qdq_value b = qdq_copy_node(r->to, node, litert_part(r, node->name, "/rest"), inputs);
    x = litert_join(r, litert_part(r, node->name, "/reals"), a, b, 0);
    m->made[0] = litert_reshape(r, node->name, x, shape);
}
