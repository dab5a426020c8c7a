// SPDX-License-Identifier: Apache-2.0
// Units of target litert, and the nodes that take their place.
#include <math.h>
#include <string.h>

#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/quantize.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fixed_point.h"

//---- Engines ----------------------------------------------------------------

// True for a version of target tflm. The name keeps this file apart from the targets' own, which
// refers to it.
static bool is_tflm(const qdq_target_version *version) {
    return strcmp(version->target->name, "tflm") == 0;
}

litert_engine litert_engine_of(const qdq_target_version *version) {
    if (is_tflm(version)) return LITERT_TFLM;
    if (version->variant >= LITERT_AT_REFERENCE) return LITERT_REFERENCE;
    bool delegates = version->variant <= LITERT_XNNPACK_ARM;
    return delegates ? LITERT_XNNPACK : LITERT_BUILTIN;
}

bool litert_is_arm(const qdq_target_version *version) {
    int variant = version->variant;
    return !is_tflm(version) && (variant == LITERT_XNNPACK_ARM || variant == LITERT_BUILTIN_ARM ||
                                 variant == LITERT_AT_REFERENCE_ARM);
}

int64_t litert_threads(const qdq_target_version *version) {
    return is_tflm(version) ? 1 : version->options[LITERT_THREADS] + 1;
}

void litert_run_by(qdq_match *m, litert_engine engine, const char *const *names) {
    m->form = (int)engine;
    m->name = names[engine];
}

//---- Units ------------------------------------------------------------------

litert_activation litert_activation_of(const qdq_node *node) {
    const qdq_clamp_attrs *a = node->attrs;
    if (strcmp(node->op->name, "ReLU") == 0) return LITERT_RELU;
    if (strcmp(node->op->name, "ReLU6") == 0) return LITERT_RELU6;
    if (strcmp(node->op->name, "Clamp") != 0) return LITERT_NO_ACTIVATION;
    if (a->min.value == 0.0 && a->max.value == 6.0) return LITERT_RELU6;
    return a->min.value == -1.0 && a->max.value == 1.0 ? LITERT_RELU_N1_TO_1 : LITERT_OTHER_BOUNDS;
}

bool litert_share_operator(const qdq_node *a, const qdq_node *b) {
    return !a->original_op || !b->original_op || strcmp(a->original_op, b->original_op) == 0;
}

bool litert_is_batch_matmul(const qdq_node *node) {
    return node->original_op && strcmp(node->original_op, "BATCH_MATMUL") == 0;
}

// Forgets a coder that is another operator of the model: then the node computes with floats.
static void keep_own(const qdq_rewriter *r, const qdq_node *node, qdq_coder *c) {
    if (c->given) c->given = litert_share_operator(node, &r->from->nodes[c->node]);
}

void litert_unit_of(const qdq_rewriter *r, size_t node, litert_unit *u) {
    qdq_node_unit_of(r, node, &u->qdq);
    u->clip = SIZE_MAX;
    u->activation = LITERT_NO_ACTIVATION;
    for (size_t i = 0; i < QDQ_MAX_PORTS && i < u->qdq.node->input_count; i++)
        keep_own(r, u->qdq.node, &u->qdq.x[i]);
    keep_own(r, u->qdq.node, &u->qdq.y);
    if (u->qdq.y.given) return;
    size_t clip = qdq_rewrite_only_reader(r, u->qdq.node->outputs[0]);
    if (clip == SIZE_MAX) return;
    litert_activation activation = litert_activation_of(&r->from->nodes[clip]);
    if (activation == LITERT_NO_ACTIVATION) return;
    u->clip = clip;
    u->activation = activation;
    u->qdq.y = qdq_coder_behind(r, r->from->nodes[clip].outputs[0]);
    keep_own(r, u->qdq.node, &u->qdq.y);
}

static bool is_whole_range(const qdq_coder *c) {
    return c->attrs->quant_min.set == 0 && c->attrs->quant_max.set == 0;
}

bool litert_is_byte(const qdq_coder *c) {
    return c->given && c->known && c->count == 1 && !c->blocks && is_whole_range(c) &&
           (c->dtype == QDQ_INT8 || c->dtype == QDQ_UINT8);
}

bool litert_overflows(const qdq_rewriter *r, litert_activation activation, const qdq_coder *c) {
    return activation > LITERT_RELU && litert_is_byte(c) && qdq_coder_scale(r, c, 0) < 0x1p-28f;
}

const char *litert_bytes_differ(const qdq_rewriter *r, const litert_unit *u, size_t operands) {
    const qdq_coder *y = &u->qdq.y;
    for (size_t i = 0; i < operands; i++)
        if (!u->qdq.x[i].given) return "an operand does not come from Dequantize";
    if (!y->given) return "the result does not go to one Quantize alone";
    if (u->activation == LITERT_OTHER_BOUNDS) return "no activation has these bounds";
    if (u->clip != SIZE_MAX && litert_overflows(r, u->activation, y))
        return "the bounds of the activation are beyond int32 in steps of y";
    for (size_t i = 0; i < operands; i++) {
        if (!litert_is_byte(&u->qdq.x[i]))
            return "an operand has codes of other than 8 bits, or no constant scale alone";
        if (u->qdq.x[i].dtype != y->dtype) return "operands and result have different dtypes";
    }
    if (!litert_is_byte(y)) return "the result has no constant scale alone, or a range";
    bool compared = litert_engine_of(r->version) != LITERT_TFLM || y->dtype == QDQ_INT8;
    return compared ? NULL : "TFLM's kernels of uint8 were not compared";
}

bool litert_same_params(const qdq_rewriter *r, const qdq_coder *a, const qdq_coder *b) {
    return a->dtype == b->dtype && qdq_coder_scale(r, a, 0) == qdq_coder_scale(r, b, 0) &&
           qdq_coder_zero(r, a, 0) == qdq_coder_zero(r, b, 0);
}

bool litert_refuses(qdq_match *m, const char *why) {
    m->why = why;
    return false;
}

bool litert_fails(qdq_match *m, const char *rule, const char *found) {
    m->rule = rule;
    m->found = found;
    return litert_refuses(m, "the engine fails to load the model");
}

void litert_replace(const qdq_rewriter *r, qdq_match *m, const litert_unit *u) {
    if (u->clip != SIZE_MAX) qdq_match_replaces(r, m, u->clip);
    qdq_match_replaces(r, m, u->qdq.y.node);
    qdq_match_makes(r, m, u->qdq.y.codes);
}

const char *litert_name(const qdq_rewriter *r, const litert_unit *u) {
    return r->from->nodes[u->qdq.y.node].name;
}

double litert_product_scale(const qdq_rewriter *r, const litert_unit *u) {
    float a = qdq_coder_scale(r, &u->qdq.x[0], 0), b = qdq_coder_scale(r, &u->qdq.x[1], 0),
          y = qdq_coder_scale(r, &u->qdq.y, 0);
    bool wide = litert_engine_of(r->version) == LITERT_TFLM;
    return wide ? (double)a * (double)b / (double)y : (double)(a * b / y);
}

//---- Ranges of codes --------------------------------------------------------

// Returns the code of a bound.
static int64_t code_of(litert_engine engine, float bound, float scale, int32_t zero,
                       litert_range of) {
    double steps = (double)(bound / scale), code = round(steps) + zero;
    if (engine == LITERT_XNNPACK) code = (double)rintf(bound / scale + (float)zero);
    return code < (double)of.lo ? of.lo : code > (double)of.hi ? of.hi : (int64_t)code;
}

litert_range litert_range_of(const qdq_rewriter *r, litert_engine engine,
                             litert_activation activation, const qdq_coder *y) {
    const qdq_dtype_info *info = qdq_dtype_get(y->dtype);
    litert_range all = {(int64_t)info->least, (int64_t)info->greatest}, range = all;
    float scale = qdq_coder_scale(r, y, 0);
    int32_t zero = qdq_coder_zero(r, y, 0);
    if (activation == LITERT_RELU || activation == LITERT_RELU6)
        range.lo = code_of(engine, 0.0f, scale, zero, all);
    if (activation == LITERT_RELU6) range.hi = code_of(engine, 6.0f, scale, zero, all);
    if (activation != LITERT_RELU_N1_TO_1) return range;
    range.lo = code_of(engine, -1.0f, scale, zero, all);
    range.hi = code_of(engine, 1.0f, scale, zero, all);
    return range;
}

//---- Fixed point ------------------------------------------------------------

bool litert_new_scaling(const qdq_rewriter *r, litert_scaling *s, size_t count) {
    s->count = count;
    s->multiplier = qdq_mempool_array(r->mempool, count, sizeof(double));
    s->shift = qdq_mempool_array(r->mempool, count, sizeof(double));
    return s->multiplier && s->shift;
}

void litert_set_fixed(litert_scaling *s, size_t i, double scale) {
    qdq_fixed_scale fixed = qdq_quantize_multiplier(scale, 31);
    s->multiplier[i] = fixed.multiplier, s->shift[i] = fixed.shift;
}

static void set_bits(litert_scaling *s, size_t i, double scale, int bits) {
    int exponent = 0;
    s->multiplier[i] = ldexp(frexp(scale, &exponent), bits);
    s->shift[i] = bits - exponent;
}

void litert_set_float(litert_scaling *s, size_t i, float scale) {
    set_bits(s, i, (double)scale, 24);
}

void litert_set_double(litert_scaling *s, size_t i, double scale) { set_bits(s, i, scale, 53); }

void litert_ends_in(const qdq_rewriter *r, litert_scaling *s, litert_engine engine,
                    const litert_unit *u) {
    s->out_zero = qdq_coder_zero(r, &u->qdq.y, 0);
    s->range = litert_range_of(r, engine, u->activation, &u->qdq.y);
    s->dtype = u->qdq.y.dtype;
}

qdq_value litert_requantize(const qdq_rewriter *r, const char *name, qdq_value x,
                            const litert_scaling *s) {
    const double in_zero = s->in_zero, out_zero = s->out_zero;
    qdq_requantize_attrs attrs = {.name = name,
                                  .multiplier = {s->multiplier, s->count, s->count == 1},
                                  .shift = {s->shift, s->count, s->count == 1},
                                  .rounding = s->rounding,
                                  .dtype = s->dtype};
    const qdq_dtype_info *info = qdq_dtype_get(s->dtype);
    if (s->count > 1) attrs.axis = QDQ_INT(s->axis);
    if (s->in_zero) attrs.in_zps = (qdq_numbers){&in_zero, 1, true};
    if (s->out_zero) attrs.out_zps = (qdq_numbers){&out_zero, 1, true};
    if (s->dtype != QDQ_INT32 && s->range.lo > (int64_t)info->least)
        attrs.quant_min = QDQ_INT(s->range.lo);
    if (s->dtype != QDQ_INT32 && s->range.hi < (int64_t)info->greatest)
        attrs.quant_max = QDQ_INT(s->range.hi);
    return qdq_requantize(r->to, x, attrs);
}

// Returns the numbers of a scaling from a channel on.
static litert_scaling from_channel(const litert_scaling *s, int axis, int64_t from, int64_t count) {
    litert_scaling part = *s;
    if (s->count == 1 || s->axis != axis) return part;
    part.multiplier += from, part.shift += from;
    part.count = (size_t)count;
    return part;
}

qdq_value litert_requantize_parts(const qdq_rewriter *r, const char *name, qdq_value x,
                                  const litert_scaling *s, int axis, int64_t split) {
    int64_t size = litert_shape(r->to, x).dims[axis];
    litert_scaling up = from_channel(s, axis, 0, split),
                   twice = from_channel(s, axis, split, size - split);
    up.rounding = QDQ_FIXED_UP, twice.rounding = QDQ_FIXED_DOUBLE;
    if (split == 0) return litert_requantize(r, name, x, &twice);
    if (split == size) return litert_requantize(r, name, x, &up);
    qdq_value a = litert_part_of(r, litert_part(r, name, "/head"), x, axis, 0, split);
    qdq_value b = litert_part_of(r, litert_part(r, name, "/tail"), x, axis, split, size);
    a = litert_requantize(r, litert_part(r, name, "/half_up"), a, &up);
    b = litert_requantize(r, litert_part(r, name, "/half_away"), b, &twice);
    return litert_join(r, name, a, b, axis);
}

qdq_value litert_requantize_blocks(const qdq_rewriter *r, const char *name, qdq_value x,
                                   const litert_scaling *s, size_t block) {
    qdq_shape shape = litert_shape(r->to, x);
    int64_t count = (int64_t)qdq_shape_count(shape),
            split = count / (int64_t)block * (int64_t)block;
    litert_scaling whole = *s;
    whole.rounding = split ? QDQ_FIXED_UP : QDQ_FIXED_DOUBLE;
    if (split == 0 || split == count) return litert_requantize(r, name, x, &whole);
    x = litert_reshape(r, litert_part(r, name, "/flat"), x, (qdq_shape){1, {count}});
    x = litert_requantize_parts(r, litert_part(r, name, "/codes"), x, s, 0, split);
    return litert_reshape(r, name, x, shape);
}

//---- New nodes --------------------------------------------------------------

const char *litert_part(const qdq_rewriter *r, const char *name, const char *part) {
    return qdq_rewrite_name(r, name, part);
}

qdq_shape litert_shape(const qdq_graph *graph, qdq_value v) {
    return graph->values[v.id].type.shape;
}

qdq_value litert_part_of(const qdq_rewriter *r, const char *name, qdq_value x, int axis,
                         int64_t from, int64_t to) {
    const int64_t axes[] = {axis};
    return qdq_slice(
        r->to, x,
        (qdq_slice_attrs){.name = name, .starts = {&from, 1}, .ends = {&to, 1}, .axes = {axes, 1}});
}

qdq_value litert_join(const qdq_rewriter *r, const char *name, qdq_value a, qdq_value b, int axis) {
    return qdq_concat(
        r->to, (qdq_concat_attrs){.name = name, .xs = QDQ_VALUES(a, b), .axis = QDQ_INT(axis)});
}

qdq_value litert_reshape(const qdq_rewriter *r, const char *name, qdq_value x, qdq_shape shape) {
    return qdq_reshape(r->to, x,
                       (qdq_reshape_attrs){.name = name,
                                           .shape = {shape.dims, (size_t)shape.rank},
                                           .special_zero = QDQ_FALSE});
}

qdq_value litert_int32(const qdq_rewriter *r, const char *name, const char *part, qdq_shape shape,
                       const int32_t *data) {
    return qdq_rewrite_constant(r, name, part, QDQ_INT32, shape, data);
}

qdq_value litert_add_table(const qdq_rewriter *r, const char *name, qdq_value x, qdq_dtype dtype,
                           const litert_table *t) {
    enum { CODES = sizeof t->results / sizeof t->results[0] };
    char *data = qdq_mempool_array(r->mempool, CODES, qdq_dtype_size(dtype));
    if (!data) return (qdq_value){0};
    qdq_encode_int(dtype, t->results, data, CODES);
    qdq_value table = qdq_rewrite_constant(r, name, "/table", dtype, (qdq_shape){1, {CODES}}, data);
    return qdq_table(r->to, x, table, (qdq_table_attrs){.name = name});
}

qdq_value litert_binary(const qdq_rewriter *r, const char *op, const char *name, qdq_value a,
                        qdq_value b) {
    qdq_binary_attrs attrs = {.name = name, .a = a, .b = b};
    return qdq_add_node(r->to, op, &attrs, sizeof attrs);
}

qdq_value litert_centered(const qdq_rewriter *r, const char *name, const char *part, qdq_value x,
                          int32_t zero) {
    const char *stem = litert_part(r, name, part);
    x = qdq_cast(r->to, x,
                 (qdq_cast_attrs){.name = litert_part(r, stem, "_int32"), .dtype = QDQ_INT32});
    if (!zero) return x;
    return litert_binary(r, "Subtract", stem, x,
                         litert_int32(r, stem, "_zero_point", (qdq_shape){0}, &zero));
}
