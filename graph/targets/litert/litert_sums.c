// SPDX-License-Identifier: Apache-2.0
// ADD and SUB of 8-bit codes. The scaled operands are tables of their 256 codes.
#include <math.h>

#include "graph/targets/litert/litert.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fixed_point.h"

enum { A, B };  // ports of sums

enum { CODES = 256, LEFT_SHIFT = 20 };

static float scale_of(const qdq_rewriter *r, const qdq_coder *c) {
    return qdq_coder_scale(r, c, 0);
}

// Returns the least code without the zero point.
static int32_t first_of(const qdq_rewriter *r, const qdq_coder *c) {
    return (int32_t)qdq_dtype_get(c->dtype)->least - qdq_coder_zero(r, c, 0);
}

// True if XNNPACK takes the scales of a sum.
static bool sum_is_delegated(const qdq_rewriter *r, const litert_unit *u) {
    for (int i = A; i <= B; i++) {
        float ratio = scale_of(r, &u->qdq.x[i]) / scale_of(r, &u->qdq.y);
        if (!(ratio >= 0x1p-10f && ratio < 256.0f)) return false;
    }
    return true;
}

bool litert_match_add(const qdq_rewriter *r, qdq_match *m) {
    static const char *const sums[] = LITERT_NAMES("ADD"), *const differences[] =
                                                               LITERT_NAMES("SUB");
    bool adds = qdq_rewrite_is(r, m->anchor, "Add");
    return litert_match_binary(r, m, adds ? sums : differences, sum_is_delegated);
}

// The scaled operands of a sum, by code, and the scaling of the sum.
typedef struct sum_tables {
    litert_table of[2];
    litert_scaling scaling;
} sum_tables;

// As the kernels that round twice: operands in steps of twice the greater scale, times 2^20.
static bool fixed_sum(const qdq_rewriter *r, const litert_unit *u, sum_tables *t) {
    float s[2] = {scale_of(r, &u->qdq.x[A]), scale_of(r, &u->qdq.x[B])};
    double step = 2.0 * (double)(s[A] > s[B] ? s[A] : s[B]);
    for (int i = A; i <= B; i++) {
        qdq_fixed_scale by = qdq_quantize_multiplier((double)s[i] / step, 31);
        int32_t first = first_of(r, &u->qdq.x[i]);
        for (int code = 0; code < CODES; code++)
            t->of[i].results[code] =
                qdq_fixed_twice((first + code) * (1 << LEFT_SHIFT), by.multiplier, by.shift, false);
    }
    float steps = ldexpf(scale_of(r, &u->qdq.y), LEFT_SHIFT);
    if (!litert_new_scaling(r, &t->scaling, 1)) return false;
    litert_set_fixed(&t->scaling, 0, step / (double)steps);
    t->scaling.rounding = QDQ_FIXED_DOUBLE;
    return true;
}

// As XNNPACK: operands times multipliers with one shift.
static bool delegated_sum(const qdq_rewriter *r, const litert_unit *u, sum_tables *t) {
    float y = scale_of(r, &u->qdq.y), ratios[2];
    int exponent;
    for (int i = A; i <= B; i++) ratios[i] = scale_of(r, &u->qdq.x[i]) / y;
    (void)frexpf(ratios[A] > ratios[B] ? ratios[A] : ratios[B], &exponent);
    int shift = LEFT_SHIFT - (exponent - 1);
    for (int i = A; i <= B; i++) {
        int32_t by = (int32_t)rint(ldexp((double)ratios[i], shift));
        int32_t first = first_of(r, &u->qdq.x[i]);
        for (int code = 0; code < CODES; code++) t->of[i].results[code] = (first + code) * by;
    }
    if (!litert_new_scaling(r, &t->scaling, 1)) return false;
    t->scaling.multiplier[0] = 1, t->scaling.shift[0] = shift;
    t->scaling.rounding = QDQ_FIXED_SINGLE;
    return true;
}

void litert_build_add(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = (litert_engine)m->form;
    sum_tables *t = QDQ_MEMPOOL_NEW(r->mempool, sum_tables);
    const char *name = litert_name(r, &u);
    if (!t || !(engine == LITERT_XNNPACK ? delegated_sum : fixed_sum)(r, &u, t)) return;
    qdq_value a = litert_add_table(r, litert_part(r, name, "/a"),
                                   qdq_rewrite_value(r, u.qdq.x[A].codes), QDQ_INT32, &t->of[A]);
    qdq_value b = litert_add_table(r, litert_part(r, name, "/b"),
                                   qdq_rewrite_value(r, u.qdq.x[B].codes), QDQ_INT32, &t->of[B]);
    qdq_value sum = litert_binary(r, u.qdq.node->op->name, litert_part(r, name, "/sums"), a, b);
    litert_ends_in(r, &t->scaling, engine, &u);
    m->made[0] = litert_requantize(r, name, sum, &t->scaling);
}
