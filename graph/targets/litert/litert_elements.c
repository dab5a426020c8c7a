// SPDX-License-Identifier: Apache-2.0
// MUL, the RELU family as operators, and moves.
#include <math.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/targets/litert/litert.h"
#include "runtime/numerics/fixed_point.h"

enum { A, B };  // ports of sums and products
enum { X };

enum { CODES = 256 };

static float scale_of(const qdq_rewriter *r, const qdq_coder *c) {
    return qdq_coder_scale(r, c, 0);
}

static int32_t least_of(const qdq_coder *c) { return c->dtype == QDQ_INT8 ? -128 : 0; }

bool litert_match_binary(const qdq_rewriter *r, qdq_match *m, const char *const *names,
                         bool (*is_delegated)(const qdq_rewriter *, const litert_unit *)) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!u.qdq.x[A].given && !u.qdq.x[B].given) return false;
    const char *why = litert_bytes_differ(r, &u, 2);
    if (why) return litert_refuses(m, why);
    if (engine == LITERT_XNNPACK && !is_delegated(r, &u)) engine = LITERT_BUILTIN;
    litert_run_by(m, engine, names);
    qdq_match_reads(r, m, u.qdq.x[A].codes);
    qdq_match_reads(r, m, u.qdq.x[B].codes);
    litert_replace(r, m, &u);
    return true;
}

//---- Products ---------------------------------------------------------------

static float product_scale(const qdq_rewriter *r, const litert_unit *u) {
    float product = scale_of(r, &u->qdq.x[A]) * scale_of(r, &u->qdq.x[B]);
    return product / scale_of(r, &u->qdq.y);
}

static bool product_is_delegated(const qdq_rewriter *r, const litert_unit *u) {
    float scale = product_scale(r, u);
    return scale >= 0x1p-16f && scale < 256.0f;
}

// True if the vectors of the optimized kernel may leave 16 bits: they saturate a scaled product to
// int16, and adding the zero point of y wraps.
static bool product_wraps(const qdq_rewriter *r, const litert_unit *u) {
    double scale = (double)product_scale(r, u), zero = qdq_coder_zero(r, &u->qdq.y, 0);
    for (int i = 0; i < 4; i++) {
        double product = scale;
        for (int k = A; k <= B; k++) {
            const qdq_coder *c = &u->qdq.x[k];
            product *= least_of(c) + (i >> k & 1 ? CODES - 1 : 0) - qdq_coder_zero(r, c, 0);
        }
        if (zero > 0 && product + zero > INT16_MAX - 1) return true;
        if (zero < 0 && product + zero < INT16_MIN + 1) return true;
    }
    return false;
}

// True if XNNPACK multiplies a tensor by itself.
static bool is_square(const qdq_rewriter *r, const qdq_match *m, const litert_unit *u) {
    return m->form == LITERT_XNNPACK && u->qdq.x[A].codes == u->qdq.x[B].codes &&
           litert_same_params(r, &u->qdq.x[A], &u->qdq.x[B]);
}

static void fill_square(const qdq_rewriter *r, const litert_unit *u, litert_table *t) {
    const qdq_coder *y = &u->qdq.y;
    litert_fill_square(r, &u->qdq.x[A], y, litert_range_of(r, LITERT_XNNPACK, u->activation, y), t);
}

// True if XNNPACK's kernel for two operands has other codes of x * x than the one for squares.
static bool square_differs(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *x = &u->qdq.x[A], *y = &u->qdq.y;
    litert_range range = litert_range_of(r, LITERT_XNNPACK, u->activation, y);
    float scale = product_scale(r, u);
    int exponent;
    int32_t multiplier = (int32_t)ldexpf(frexpf(scale, &exponent), 24);
    litert_table t;
    fill_square(r, u, &t);
    for (int i = 0; i < CODES; i++) {
        int32_t code = least_of(x) + i - qdq_coder_zero(r, x, 0), product = code * code;
        double rounded = litert_is_arm(r->version)
                             ? (double)qdq_fixed_once(product, multiplier, 24 - exponent)
                             : (double)rintf((float)product * scale);
        rounded += qdq_coder_zero(r, y, 0);
        if (fmin(fmax(rounded, (double)range.lo), (double)range.hi) != t.results[i]) return true;
    }
    return false;
}

// True if nothing but the product reads x, which is neither an input nor an output: XNNPACK then
// may take it for a product of two operands.
static bool is_hidden(const qdq_rewriter *r, const litert_unit *u) {
    uint32_t x = u->qdq.x[A].codes;
    if (qdq_rewrite_maker(r, x) == SIZE_MAX || r->from->values[x].returned) return false;
    for (size_t i = 0; i < qdq_rewrite_reader_count(r, x); i++) {
        size_t reader = qdq_rewrite_reader(r, x, i);
        if (reader != u->qdq.x[A].node && reader != u->qdq.x[B].node) return false;
    }
    return true;
}

bool litert_match_multiply(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("MUL");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    if (!litert_match_binary(r, m, names, product_is_delegated)) return false;
    if (m->form == LITERT_BUILTIN && product_wraps(r, &u))
        return litert_refuses(m, "a scaled product may leave 16 bits, where vectors wrap");
    if (is_square(r, m, &u) && is_hidden(r, &u) && square_differs(r, &u))
        return litert_refuses(m, "a kernel for squares or for two operands takes x * x");
    return true;
}

void litert_build_multiply(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = (litert_engine)m->form;
    const qdq_coder *a = &u.qdq.x[A], *b = &u.qdq.x[B];
    const char *name = litert_name(r, &u);
    if (is_square(r, m, &u)) {
        litert_table t;
        fill_square(r, &u, &t);
        m->made[0] = litert_add_table(r, name, qdq_rewrite_value(r, a->codes), a->dtype, &t);
        return;
    }
    bool delegated = engine == LITERT_XNNPACK, once = delegated && litert_is_arm(r->version);
    litert_scaling s = {.rounding = once        ? QDQ_FIXED_SINGLE
                                    : delegated ? QDQ_FIXED_FLOAT32
                                                : QDQ_FIXED_DOUBLE};
    if (!litert_new_scaling(r, &s, 1)) return;
    if (delegated)
        litert_set_float(&s, 0, product_scale(r, &u));
    else
        litert_set_fixed(&s, 0, litert_product_scale(r, &u));
    litert_ends_in(r, &s, engine, &u);
    qdq_value products = litert_binary(
        r, "Multiply", litert_part(r, name, "/products"),
        litert_centered(r, name, "/a", qdq_rewrite_value(r, a->codes), qdq_coder_zero(r, a, 0)),
        litert_centered(r, name, "/b", qdq_rewrite_value(r, b->codes), qdq_coder_zero(r, b, 0)));
    m->made[0] = litert_requantize(r, name, products, &s);
}

//---- RELU, RELU6 and RELU_N1_TO_1 as operators ------------------------------

bool litert_match_relu(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("RELU");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!u.qdq.x[X].given) return false;
    const char *why = litert_bytes_differ(r, &u, 1);
    if (!why && u.clip != SIZE_MAX) why = "an activation follows";
    litert_activation activation = litert_activation_of(u.qdq.node);
    if (!why && activation == LITERT_OTHER_BOUNDS) why = "no activation has these bounds";
    if (!why && engine == LITERT_TFLM && activation == LITERT_RELU_N1_TO_1)
        why = "TFLM has no RELU_N1_TO_1";
    if (!why && litert_overflows(r, activation, engine == LITERT_TFLM ? &u.qdq.x[X] : &u.qdq.y))
        why = "the bounds of the activation are beyond int32 in steps of the codes";
    if (why) return litert_refuses(m, why);
    litert_run_by(m, engine == LITERT_XNNPACK ? LITERT_BUILTIN : engine, names);
    qdq_match_reads(r, m, u.qdq.x[X].codes);
    litert_replace(r, m, &u);
    return true;
}

// TFLM's RELU6 clamps the codes of x, whatever the parameters of y are.
static qdq_value add_clamped(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_coder *x = &u->qdq.x[X];
    litert_range range = litert_range_of(r, LITERT_TFLM, LITERT_RELU6, x);
    litert_table t;
    for (int i = 0; i < CODES; i++) {
        int64_t code = least_of(x) + i;
        t.results[i] = (int32_t)(code < range.lo ? range.lo : code > range.hi ? range.hi : code);
    }
    return litert_add_table(r, litert_name(r, u), qdq_rewrite_value(r, x->codes), x->dtype, &t);
}

void litert_build_relu(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    const qdq_coder *x = &u.qdq.x[X], *y = &u.qdq.y;
    u.activation = litert_activation_of(u.qdq.node);
    if (m->form == LITERT_TFLM && u.activation == LITERT_RELU6) {
        m->made[0] = add_clamped(r, &u);
        return;
    }
    litert_scaling s = {.rounding = QDQ_FIXED_DOUBLE, .in_zero = qdq_coder_zero(r, x, 0)};
    if (!litert_new_scaling(r, &s, 1)) return;
    litert_set_fixed(&s, 0, (double)(scale_of(r, x) / scale_of(r, y)));
    litert_ends_in(r, &s, (litert_engine)m->form, &u);
    m->made[0] = litert_requantize(r, litert_name(r, &u), qdq_rewrite_value(r, x->codes), &s);
}

//---- Moves ------------------------------------------------------------------

// Ops that move elements move codes, if both sides have the same parameters.
bool litert_match_moved(const qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    if (!u.qdq.x[X].given || !u.qdq.y.given || u.clip != SIZE_MAX) return false;
    if (!litert_is_byte(&u.qdq.x[X]) || !litert_is_byte(&u.qdq.y) ||
        !litert_same_params(r, &u.qdq.x[X], &u.qdq.y))
        return litert_refuses(m, "Dequantize and Quantize have different parameters");
    qdq_match_reads(r, m, u.qdq.x[X].codes);
    for (size_t i = 1; i < u.qdq.node->input_count; i++)
        qdq_match_reads(r, m, u.qdq.node->inputs[i].id);
    litert_replace(r, m, &u);
    return true;
}

void litert_build_moved(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    qdq_value *inputs = qdq_rewrite_inputs(r, u.qdq.node);
    if (!inputs) return;
    inputs[X] = qdq_rewrite_value(r, u.qdq.x[X].codes);
    m->made[0] = qdq_copy_node(r->to, u.qdq.node, litert_name(r, &u), inputs);
}
