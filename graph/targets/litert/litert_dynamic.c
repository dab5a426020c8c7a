// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED of floats by codes of weights ("dynamic range"): each row of x becomes codes by
// its own range, and the sums of the product become floats again.
#include <math.h>
#include <string.h>

#include "graph/targets/litert/litert_wide.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/reduce.h"

enum { X, W, BIAS };  // ports of MatMul

enum { BLOCK = 8 };  // elements of a row that a vector of the built-in kernels quantizes

//---- Units ------------------------------------------------------------------

// Returns the DynamicQuantize of rows that x of a unit comes from; NULL: there is none.
static const qdq_node *quantizer_of(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *x = &u->qdq.x[X];
    if (!x->given) return NULL;
    size_t node = qdq_rewrite_maker(r, x->codes);
    return qdq_rewrite_is(r, node, "DynamicQuantize") ? &r->from->nodes[node] : NULL;
}

// True if x has one scale per row.
static bool is_by_row(const qdq_ints *group, const qdq_shape *x) {
    if (group->count != (size_t)x->rank) return false;
    for (int i = 0; i < x->rank; i++) {
        bool last = i + 1 == x->rank;
        if (!last && group->data[i] != 1) return false;
        if (last && group->data[i] != -1 && group->data[i] != x->dims[i]) return false;
    }
    return true;
}

static const char *quantizer_differs(const qdq_rewriter *r, const qdq_node *node) {
    const qdq_dynamic_quantize_attrs *a = node->attrs;
    const qdq_quantize_attrs *q = &a->quantize;
    const qdq_type *x = &r->from->values[node->inputs[X].id].type;
    bool symmetric = a->scheme == QDQ_SYMMETRIC;
    if (x->dtype != QDQ_FLOAT32 || q->dtype != QDQ_INT8) return "x does not become int8 of float32";
    if (q->qtype != QDQ_PER_GROUP || !is_by_row(&q->group_shape, &x->shape))
        return "x has other scales than one for each row";
    if ((!symmetric && a->scheme != QDQ_ASYMMETRIC) || a->eps.set != 0 || node->inputs[1].id)
        return "x is quantized by another scheme";
    bool narrow = q->quant_min.set != 0 && q->quant_min.value == -127;
    if (q->quant_max.set != 0 || (symmetric ? !narrow : q->quant_min.set != 0))
        return "codes of x have another range";
    return NULL;
}

static const char *weights_differ(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *w = &u->qdq.x[W];
    const qdq_matmul_attrs *a = u->qdq.node->attrs;
    const qdq_shape *shape = &r->from->values[w->codes].type.shape;
    if (!w->given || !w->known || w->blocks || !qdq_rewrite_data(r, w->codes))
        return "the weights are no constant codes with constant scales";
    if (w->dtype != QDQ_INT8) return "products with codes of 4 bits were not compared";
    if (a->transpose_b != QDQ_TRUE || a->transpose_a == QDQ_TRUE || shape->rank != 2)
        return "the weights are no matrix [outputs, inputs]";
    if (w->count != 1 && (w->axis != 0 || (int64_t)w->count != shape->dims[0]))
        return "the weights have several scales, not of the output channels";
    for (size_t i = 0; i < w->count; i++)
        if (qdq_coder_zero(r, w, i)) return "the weights have a zero point";
    return NULL;
}

static uint32_t bias_of(const litert_unit *u) {
    return u->qdq.node->input_count > BIAS ? u->qdq.node->inputs[BIAS].id : 0;
}

static const char *bias_differs(const qdq_rewriter *r, const litert_unit *u) {
    uint32_t bias = bias_of(u);
    if (!bias) return NULL;
    const float *data = qdq_rewrite_data(r, bias);
    const qdq_type *type = &r->from->values[bias].type;
    if (!data || type->dtype != QDQ_FLOAT32 || type->shape.rank != 1)
        return "the bias is no constant of float32";
    for (int64_t i = 0; i < type->shape.dims[0]; i++)
        if (data[i] == 0.0f && signbit(data[i])) return "the bias has a negative zero";
    return NULL;
}

static int log2_of(int64_t n) {
    int bits = 0;
    while (n >> (bits + 1)) bits++;
    return bits;
}

// True if ruy computes a product of many rows on aarch64.
static bool is_gemm(int64_t outputs, int64_t k, int64_t rows) {
    int64_t ratio = outputs > k ? outputs / k : k / outputs;
    return rows >= 16 && outputs % 4 == 0 && log2_of(rows) - log2_of(ratio) > 2;
}

// True if the kernel of aarch64 for dot products computes a product: it rounds before it adds.
static bool is_dot_kernel(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_shape *w = &r->from->values[u->qdq.x[W].codes].type.shape,
                    *y = &r->from->values[u->qdq.node->outputs[0]].type.shape;
    int64_t outputs = w->dims[0], k = w->dims[1], rows = (int64_t)qdq_shape_count(*y) / outputs;
    if (k % 16 || outputs % 2 || outputs < rows || is_gemm(outputs, k, rows)) return false;
    return rows % 4 == 0 || (rows > 1 && outputs * k >= 128 * 128);
}

// True if a value has no NaN and no infinity: dequantized codes, also behind ops that keep them
// finite.
static bool is_finite(const qdq_rewriter *r, uint32_t value) {
    static const char *const keepers[] = {"StaticReshape", "StaticTranspose", "ReLU", "ReLU6",
                                          "Clamp"};
    size_t node = qdq_rewrite_maker(r, value);
    for (size_t i = 0; node != SIZE_MAX && i < sizeof keepers / sizeof *keepers;)
        if (qdq_rewrite_is(r, node, keepers[i]))
            node = qdq_rewrite_maker(r, r->from->nodes[node].inputs[X].id), i = 0;
        else
            i++;
    return qdq_rewrite_is(r, node, "Dequantize");
}

bool litert_match_dynamic(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("FULLY_CONNECTED");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    const qdq_node *quantizer = quantizer_of(r, &u);
    if (!quantizer) return false;
    const char *why = quantizer_differs(r, quantizer);
    if (!why) why = weights_differ(r, &u);
    if (!why) why = bias_differs(r, &u);
    if (!why && u.activation == LITERT_OTHER_BOUNDS) why = "no activation has these bounds";
    if (!why && engine == LITERT_TFLM) why = "TFLM's kernel for dynamic ranges was not compared";
    if (why) return litert_refuses(m, why);
    litert_run_by(m, engine, names);
    if (!is_finite(r, quantizer->inputs[X].id)) {
        m->rule = "litert/finite-rows";
        m->found = "has the bits of the engine in rows of x without NaN and infinity";
    }
    qdq_match_reads(r, m, quantizer->inputs[X].id);
    qdq_match_reads(r, m, u.qdq.x[W].codes);
    if (u.clip != SIZE_MAX) qdq_match_replaces(r, m, u.clip);
    qdq_match_makes(r, m, r->from->nodes[u.clip != SIZE_MAX ? u.clip : m->anchor].outputs[0]);
    return true;
}

//---- Codes of rows ----------------------------------------------------------

// The codes of each row, and float64 columns of their zero points, 0 if there are none, and steps.
typedef struct row_codes {
    qdq_value codes, zero, step;
} row_codes;

static qdq_value bound_of_rows(const litert_wide *w, qdq_value x, bool upper) {
    static const int64_t last = -1;
    qdq_reduce_attrs attrs = {.name = litert_part(w->r, w->name, upper ? "/greatest" : "/least"),
                              .axes = {&last, 1},
                              .keep_dims = QDQ_TRUE};
    x = upper ? qdq_reduce_max(w->r->to, x, attrs) : qdq_reduce_min(w->r->to, x, attrs);
    return litert_widened(w, x);
}

static qdq_value clamped(const litert_wide *w, qdq_value x, double lo, double hi) {
    x = litert_exactly(w, "Maximum", x, litert_number(w, lo));
    return litert_exactly(w, "Minimum", x, litert_number(w, hi));
}

// Adds `instead` where x is 0.
static qdq_value nonzero(const litert_wide *w, qdq_value x, double instead) {
    return litert_choice(w, litert_exactly(w, "Equal", x, litert_number(w, 0.0)),
                         litert_number(w, instead), x);
}

// Rounds quotients: vectors add or subtract a half in float32, elements behind them round exactly.
static qdq_value rounded_in_blocks(const litert_wide *w, qdq_value x) {
    qdq_shape shape = litert_shape(w->r->to, x);
    int axis = shape.rank - 1;
    int64_t size = shape.dims[axis], split = size / BLOCK * BLOCK;
    if (split == 0) return litert_half_away(w, x);
    qdq_value a = x, zero = litert_number(w, 0.0), half = litert_number(w, 0.5);
    if (split < size)
        a = litert_part_of(w->r, litert_part(w->r, w->name, "/head"), x, axis, 0, split);
    qdq_value up = litert_exactly(w, "Add", a, half), down = litert_exactly(w, "Subtract", a, half);
    a = litert_choice(w, litert_exactly(w, "Less", a, zero), down, up);
    a = litert_truncated(w, litert_rounded(w, a));
    if (split == size) return a;
    qdq_value b = litert_part_of(w->r, litert_part(w->r, w->name, "/tail"), x, axis, split, size);
    return litert_join(w->r, litert_part(w->r, w->name, "/joined"), a, litert_half_away(w, b),
                       axis);
}

// The built-in kernels, range symmetric around 0: codes up to 127.
static row_codes symmetric_codes(const litert_wide *w, qdq_value x) {
    qdq_value most = litert_number(w, 127.0), hi = bound_of_rows(w, x, true),
              lo = bound_of_rows(w, x, false);
    lo = litert_exactly(w, "Subtract", litert_number(w, 0.0), lo);
    hi = nonzero(w, litert_exactly(w, "Maximum", hi, lo), 127.0);
    qdq_value by = litert_singly(w, "Divide", most, hi);
    qdq_value codes = litert_singly(w, "Multiply", litert_widened(w, x), by);
    return (row_codes){.codes = clamped(w, rounded_in_blocks(w, codes), -127.0, 127.0),
                       .step = litert_singly(w, "Divide", hi, most)};
}

// The range of each row with 0.
static void range_of_rows(const litert_wide *w, qdq_value x, qdq_value *lo, qdq_value *hi) {
    qdq_value zero = litert_number(w, 0.0);
    *lo = litert_exactly(w, "Minimum", bound_of_rows(w, x, false), zero);
    *hi = litert_exactly(w, "Maximum", bound_of_rows(w, x, true), zero);
}

// Adds the zero point to codes, and clamps them.
static qdq_value shifted(const litert_wide *w, qdq_value codes, qdq_value zero) {
    return clamped(w, litert_exactly(w, "Add", codes, zero), -128.0, 127.0);
}

// The built-in kernels, any range: the zero point is computed in float64.
static row_codes asymmetric_codes(const litert_wide *w, qdq_value x) {
    qdq_value lo, hi, least = litert_number(w, -128.0), most = litert_number(w, 127.0);
    range_of_rows(w, x, &lo, &hi);
    qdq_value range = nonzero(w, litert_singly(w, "Subtract", hi, lo), 255.0);
    qdq_value step = litert_exactly(w, "Divide", range, litert_number(w, 255.0));
    lo = litert_exactly(w, "Divide", lo, step), hi = litert_exactly(w, "Divide", hi, step);
    qdq_value from_lo = litert_exactly(w, "Subtract", least, lo),
              from_hi = litert_exactly(w, "Subtract", most, hi);
    qdq_value errors[] = {litert_exactly(w, "Subtract", litert_number(w, 128.0), lo),
                          litert_exactly(w, "Add", most, hi)};
    qdq_value zero =
        litert_choice(w, litert_exactly(w, "Less", errors[0], errors[1]), from_lo, from_hi);
    zero = litert_half_away(w, clamped(w, zero, -128.0, 127.0));
    step = litert_rounded(w, step);
    qdq_value by = litert_singly(w, "Divide", litert_number(w, 1.0), step);
    qdq_value codes = litert_singly(w, "Multiply", litert_widened(w, x), by);
    return (row_codes){shifted(w, rounded_in_blocks(w, codes), zero), zero, step};
}

// XNNPACK: float32 throughout.
static row_codes delegated_codes(const litert_wide *w, qdq_value x) {
    qdq_value lo, hi, least = litert_number(w, -128.0), most = litert_number(w, 127.0);
    range_of_rows(w, x, &lo, &hi);
    qdq_value range = nonzero(w, litert_singly(w, "Subtract", hi, lo), 255.0);
    qdq_value by = litert_singly(w, "Divide", litert_number(w, 255.0), range);
    lo = litert_singly(w, "Multiply", lo, by), hi = litert_singly(w, "Multiply", hi, by);
    qdq_value errors = litert_singly(w, "Add", litert_singly(w, "Add", least, lo),
                                     litert_singly(w, "Add", most, hi));
    qdq_value zero = litert_choice(w, litert_exactly(w, "Greater", errors, litert_number(w, 0.0)),
                                   litert_singly(w, "Subtract", least, lo),
                                   litert_singly(w, "Subtract", most, hi));
    zero = litert_half_even(w, clamped(w, zero, -128.0, 127.0));
    qdq_value codes = litert_singly(w, "Multiply", litert_widened(w, x), by);
    codes = litert_is_arm(w->r->version) ? litert_half_away(w, codes) : litert_half_even(w, codes);
    return (row_codes){shifted(w, codes, zero), zero,
                       litert_singly(w, "Divide", litert_number(w, 1.0), by)};
}

//---- Products ---------------------------------------------------------------

static qdq_value add_product(const litert_wide *w, const litert_unit *u, const row_codes *rows) {
    static const int64_t order[] = {1, 0};
    qdq_graph *to = w->r->to;
    qdq_value weights = qdq_rewrite_value(w->r, u->qdq.x[W].codes), zero = {0};
    weights = qdq_transpose(
        to, weights,
        (qdq_transpose_attrs){.name = litert_part(w->r, w->name, "/columns"), .order = {order, 2}});
    if (rows->zero.id)
        zero = qdq_cast(to, rows->zero,
                        (qdq_cast_attrs){.name = litert_part(w->r, w->name, "/zero_points"),
                                         .dtype = QDQ_INT8});
    qdq_value codes =
        qdq_cast(to, rows->codes,
                 (qdq_cast_attrs){.name = litert_part(w->r, w->name, "/codes"), .dtype = QDQ_INT8});
    qdq_value sums =
        qdq_matmul_integer(to, codes, weights,
                           (qdq_matmul_integer_attrs){.name = litert_part(w->r, w->name, "/sums"),
                                                      .a_zero_point = zero});
    return litert_rounded(w, litert_widened(w, sums));
}

static qdq_value weight_scales(const litert_wide *w, const litert_unit *u) {
    const qdq_coder *c = &u->qdq.x[W];
    float *scales = qdq_mempool_array(w->r->mempool, c->count, sizeof *scales);
    if (!scales) return (qdq_value){0};
    for (size_t i = 0; i < c->count; i++) scales[i] = qdq_coder_scale(w->r, c, i);
    return litert_numbers(w, scales, c->count);
}

static qdq_value add_bias(const litert_wide *w, const litert_unit *u) {
    uint32_t bias = bias_of(u);
    if (!bias) return litert_number(w, 0.0);
    return litert_numbers(w, qdq_rewrite_data(w->r, bias),
                          qdq_shape_count(w->r->from->values[bias].type.shape));
}

// Adds the floats of the sums of codes.
static qdq_value floats_of(const litert_wide *w, const litert_unit *u, litert_engine engine,
                           const row_codes *rows, qdq_value sums) {
    bool arm = litert_is_arm(w->r->version);
    qdq_value scales = weight_scales(w, u), bias = add_bias(w, u);
    if (engine == LITERT_XNNPACK && !arm)
        return litert_fused(w, litert_singly(w, "Multiply", sums, rows->step), scales, bias);
    scales = litert_singly(w, "Multiply", rows->step, scales);
    if (engine != LITERT_XNNPACK && arm && !is_dot_kernel(w->r, u))
        return litert_fused(w, sums, scales, bias);
    return litert_singly(w, "Add", litert_singly(w, "Multiply", sums, scales), bias);
}

static qdq_value activated(const litert_wide *w, litert_activation activation, qdq_value y) {
    double lo = activation == LITERT_RELU_N1_TO_1 ? -1.0 : 0.0;
    double hi = activation == LITERT_RELU_N1_TO_1 ? 1.0 : 6.0;
    if (activation == LITERT_NO_ACTIVATION) return y;
    if (activation == LITERT_RELU) return litert_exactly(w, "Maximum", y, litert_number(w, lo));
    return clamped(w, y, lo, hi);
}

void litert_build_dynamic(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = (litert_engine)m->form;
    const qdq_node *quantizer = quantizer_of(r, &u);
    const qdq_dynamic_quantize_attrs *a = quantizer->attrs;
    const qdq_node *last = u.clip == SIZE_MAX ? u.qdq.node : &r->from->nodes[u.clip];
    const litert_wide w = {r, last->name};
    qdq_value x = qdq_rewrite_value(r, quantizer->inputs[X].id);
    row_codes rows = engine == LITERT_XNNPACK     ? delegated_codes(&w, x)
                     : a->scheme == QDQ_SYMMETRIC ? symmetric_codes(&w, x)
                                                  : asymmetric_codes(&w, x);
    qdq_value y = floats_of(&w, &u, engine, &rows, add_product(&w, &u, &rows));
    y = activated(&w, u.activation, y);
    m->made[0] = qdq_cast(r->to, y, (qdq_cast_attrs){.name = last->name, .dtype = QDQ_FLOAT32});
}
