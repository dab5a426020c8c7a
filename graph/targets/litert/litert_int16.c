// SPDX-License-Identifier: Apache-2.0
// ADD, SUB and MUL of 16-bit codes, which XNNPACK does not take. Zero points are 0. The optimized
// ADD scales operands otherwise in whole blocks of elements.
#include <math.h>

#include "graph/targets/litert/litert_vectors.h"
#include "include/qdq/ops/elementwise.h"
#include "runtime/numerics/fixed_point.h"

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

// Returns a scale in steps of twice the greater one.
static qdq_fixed_scale side_scale(const qdq_rewriter *r, const litert_unit *u, int side) {
    float a = scale_of(r, &u->qdq.x[A]), b = scale_of(r, &u->qdq.x[B]);
    return qdq_quantize_multiplier(
        (double)scale_of(r, &u->qdq.x[side]) / (2.0 * (double)(a > b ? a : b)), 31);
}

// Returns the left shift of an operand in vectors, before the product.
static int left_shift(qdq_fixed_scale by) { return LEFT_SHIFT + 31 - by.shift; }

bool litert_match_add_int16(const qdq_rewriter *r, qdq_match *m) {
    static const char *const sums[] = LITERT_NAMES("ADD"), *const differences[] =
                                                               LITERT_NAMES("SUB");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    bool adds = qdq_rewrite_is(r, m->anchor, "Add");
    if (!match_binary(r, m, adds ? sums : differences, true)) return false;
    bool small = left_shift(side_scale(r, &u, A)) < 0 || left_shift(side_scale(r, &u, B)) < 0;
    if (small && litert_blocks_of_sum(r, &u, (litert_engine)m->form).split)
        return litert_refuses(m, "a scale is too small for the shifts of vectors");
    return true;
}

// Adds the sum of operands in steps of twice the greater scale, times 2^15. `vectors`: as those
// scale operands, in one step.
static qdq_value add_sum(const qdq_rewriter *r, const litert_unit *u, const char *name,
                         litert_engine engine, bool vectors) {
    static const char *const parts[] = {"/a", "/b"};
    qdq_value sides[2];
    litert_scaling end = {0};
    for (int i = A; i <= B; i++) {
        qdq_fixed_scale by = side_scale(r, u, i);
        litert_scaling s = {.rounding = QDQ_FIXED_DOUBLE, .dtype = QDQ_INT32};
        const char *part = litert_part(r, name, parts[i]);
        int32_t up = 1 << (vectors ? left_shift(by) : LEFT_SHIFT);
        if (!litert_new_scaling(r, &s, 1)) return (qdq_value){0};
        s.multiplier[0] = by.multiplier, s.shift[0] = vectors ? 31 : by.shift;
        qdq_value x = litert_binary(r, "Multiply", litert_part(r, part, "_shifted"),
                                    operand(r, name, parts[i], &u->qdq.x[i]),
                                    litert_int32(r, part, "_shift", (qdq_shape){0}, &up));
        sides[i] = litert_requantize(r, litert_part(r, part, "_scaled"), x, &s);
    }
    qdq_value sum =
        litert_binary(r, u->qdq.node->op->name, litert_part(r, name, "/sums"), sides[A], sides[B]);
    float a = scale_of(r, &u->qdq.x[A]), b = scale_of(r, &u->qdq.x[B]);
    litert_ends_in(r, &end, engine, u);
    return scaled(
        r, name, sum,
        2.0 * (double)(a > b ? a : b) / (double)ldexpf(scale_of(r, &u->qdq.y), LEFT_SHIFT), end);
}

void litert_build_add_int16(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    const char *name = litert_name(r, &u);
    litert_engine engine = (litert_engine)m->form;
    litert_blocks blocks = litert_blocks_of_sum(r, &u, engine);
    bool one_step = side_scale(r, &u, A).shift == 31 && side_scale(r, &u, B).shift == 31;
    if (blocks.split == 0 || blocks.split == blocks.run || one_step) {
        m->made[0] = add_sum(r, &u, name, engine, blocks.split > 0);
        return;
    }
    qdq_value in_blocks = add_sum(r, &u, litert_part(r, name, "/blocks"), engine, true),
              rest = add_sum(r, &u, litert_part(r, name, "/rest"), engine, false);
    m->made[0] = litert_join_blocks(r, name, in_blocks, rest, blocks.run, blocks.split);
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
