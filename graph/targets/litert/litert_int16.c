// SPDX-License-Identifier: Apache-2.0
// ADD, SUB and MUL of 16-bit codes, which XNNPACK does not take. Zero points are 0.
#include <math.h>

#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/elementwise.h"

enum { A, B };  // ports of sums and products

enum { LEFT_SHIFT = 15 };  // of the operands of sums

static bool is_int16(const qdq_coder *c) { return c->given && c->dtype == QDQ_INT16; }

bool litert_is_int16(const qdq_rewriter *r, const qdq_coder *c) {
    return is_int16(c) && c->known && c->count == 1 && !c->blocks && c->attrs->quant_min.set == 0 &&
           c->attrs->quant_max.set == 0 && qdq_coder_zero(r, c, 0) == 0;
}

static float scale_of(const qdq_rewriter *r, const qdq_coder *c) {
    return qdq_coder_scale(r, c, 0);
}

static bool is_power(const qdq_rewriter *r, const qdq_coder *c) {
    int exponent;
    return frexpf(scale_of(r, c), &exponent) == 0.5f;
}

// Returns why operands and result are not what the kernels of int16 take; NULL if they are.
static const char *operands_differ(const qdq_rewriter *r, const litert_unit *u, bool sums) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B], *y = &u->qdq.y;
    if (!is_int16(a) || !is_int16(b) || !is_int16(y))
        return "operands and result have different dtypes";
    if (u->activation == LITERT_OTHER_BOUNDS) return "no activation has these bounds";
    if (!litert_is_int16(r, a) || !litert_is_int16(r, b) || !litert_is_int16(r, y))
        return "codes of int16 have no constant scale alone, or a zero point";
    if (sums && is_power(r, a) && is_power(r, b) && is_power(r, y))
        return "kernels with pot_scale_int16 were not compared";
    return NULL;
}

static bool match_binary(const qdq_rewriter *r, qdq_match *m, const char *const *names, bool sums) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!is_int16(&u.qdq.x[A]) && !is_int16(&u.qdq.x[B])) return false;
    const char *why = operands_differ(r, &u, sums);
    if (why) return litert_refuses(m, why);
    litert_run_by(m, engine == LITERT_XNNPACK ? LITERT_BUILTIN : engine, names);
    qdq_match_reads(r, m, u.qdq.x[A].codes);
    qdq_match_reads(r, m, u.qdq.x[B].codes);
    litert_replace(r, m, &u);
    return true;
}

static qdq_value operand(const qdq_rewriter *r, const char *name, const char *part,
                         const qdq_coder *c) {
    return litert_centered(r, name, part, qdq_rewrite_value(r, c->codes), 0);
}

// Rounds int32 twice by a scale; `s` has the result's range and dtype.
static qdq_value scaled(const qdq_rewriter *r, const char *name, qdq_value x, double scale,
                        litert_scaling s) {
    s.rounding = QDQ_FIXED_DOUBLE;
    if (!litert_new_scaling(r, &s, 1)) return (qdq_value){0};
    litert_set_fixed(&s, 0, scale);
    return litert_requantize(r, name, x, &s);
}

//---- Sums -------------------------------------------------------------------

bool litert_match_add_int16(const qdq_rewriter *r, qdq_match *m) {
    static const char *const sums[] = LITERT_NAMES("ADD"), *const differences[] =
                                                               LITERT_NAMES("SUB");
    return match_binary(r, m, qdq_rewrite_is(r, m->anchor, "Add") ? sums : differences, true);
}

// Operands in steps of twice the greater scale, times 2^15.
void litert_build_add_int16(qdq_rewriter *r, qdq_match *m) {
    static const int32_t up = 1 << LEFT_SHIFT;
    static const char *const parts[] = {"/a", "/b"};
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    const char *name = litert_name(r, &u);
    float a = scale_of(r, &u.qdq.x[A]), b = scale_of(r, &u.qdq.x[B]);
    double step = 2.0 * (double)(a > b ? a : b);
    const litert_scaling whole = {.dtype = QDQ_INT32};
    litert_scaling end = {0};
    qdq_value sides[2], shift = litert_int32(r, name, "/shift", (qdq_shape){0}, &up);
    for (int i = A; i <= B; i++) {
        const char *part = litert_part(r, name, parts[i]);
        qdq_value x = litert_binary(r, "Multiply", litert_part(r, part, "_shifted"),
                                    operand(r, name, parts[i], &u.qdq.x[i]), shift);
        sides[i] = scaled(r, litert_part(r, part, "_scaled"), x,
                          (double)scale_of(r, &u.qdq.x[i]) / step, whole);
    }
    qdq_value sum =
        litert_binary(r, u.qdq.node->op->name, litert_part(r, name, "/sums"), sides[A], sides[B]);
    litert_ends_in(r, &end, (litert_engine)m->form, &u);
    double steps = (double)ldexpf(scale_of(r, &u.qdq.y), LEFT_SHIFT);
    m->made[0] = scaled(r, name, sum, step / steps, end);
}

//---- Products ---------------------------------------------------------------

bool litert_match_multiply_int16(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("MUL");
    return match_binary(r, m, names, false);
}

void litert_build_multiply_int16(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    const char *name = litert_name(r, &u);
    litert_scaling end = {0};
    litert_ends_in(r, &end, (litert_engine)m->form, &u);
    qdq_value products =
        litert_binary(r, "Multiply", litert_part(r, name, "/products"),
                      operand(r, name, "/a", &u.qdq.x[A]), operand(r, name, "/b", &u.qdq.x[B]));
    m->made[0] = scaled(r, name, products, litert_product_scale(r, &u), end);
}
