// SPDX-License-Identifier: Apache-2.0
// ADD and SUB of 8-bit codes. The scaled operands are tables of their 256 codes. The optimized ADD
// runs whole blocks of elements through vectors, which scale operands otherwise.
#include <math.h>

#include "graph/targets/litert/litert_vectors.h"
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

//---- Operands ---------------------------------------------------------------

// The scaled operands of a sum, by code, and the scaling of the sum.
typedef struct sum_tables {
    litert_table of[2];
    litert_scaling scaling;
} sum_tables;

// Scales codes as a vector does: shifted in one step, or behind the product, rounded down.
static int32_t by_vector(int32_t code, qdq_fixed_scale by, bool floors) {
    int right = by.shift - 31, left = LEFT_SHIFT - right;
    if (floors) return qdq_high_product(code * (1 << LEFT_SHIFT), by.multiplier) >> right;
    return qdq_high_product(left < 0 ? code >> -left : code * (1 << left), by.multiplier);
}

// As the kernels that round twice: operands in steps of twice the greater scale, times 2^20. With
// `blocks` as their vectors.
static bool fixed_sum(const qdq_rewriter *r, const litert_unit *u, const litert_blocks *blocks,
                      sum_tables *t) {
    float s[2] = {scale_of(r, &u->qdq.x[A]), scale_of(r, &u->qdq.x[B])};
    double step = 2.0 * (double)(s[A] > s[B] ? s[A] : s[B]);
    for (int i = A; i <= B; i++) {
        qdq_fixed_scale by = qdq_quantize_multiplier((double)s[i] / step, 31);
        int32_t first = first_of(r, &u->qdq.x[i]);
        for (int code = 0; code < CODES; code++)
            t->of[i].results[code] = blocks ? by_vector(first + code, by, blocks->floors)
                                            : qdq_fixed_twice((first + code) * (1 << LEFT_SHIFT),
                                                              by.multiplier, by.shift, false);
    }
    float steps = ldexpf(scale_of(r, &u->qdq.y), LEFT_SHIFT);
    if (!litert_new_scaling(r, &t->scaling, 1)) return false;
    litert_set_fixed(&t->scaling, 0, step / (double)steps);
    t->scaling.rounding = QDQ_FIXED_DOUBLE;
    litert_ends_in(r, &t->scaling, LITERT_BUILTIN, u);
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
    litert_ends_in(r, &t->scaling, LITERT_XNNPACK, u);
    return true;
}

static int64_t code_of(const sum_tables *t, int a, int b) {
    const litert_scaling *s = &t->scaling;
    int32_t sum = t->of[A].results[a] + t->of[B].results[b];
    int64_t code =
        qdq_fixed_twice(sum, (int32_t)s->multiplier[0], (int32_t)s->shift[0], false) + s->out_zero;
    return code < s->range.lo ? s->range.lo : code > s->range.hi ? s->range.hi : code;
}

// True if two codes have another sum in vectors.
static bool sums_differ(const sum_tables *t, const sum_tables *vectors) {
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++)
            if (code_of(t, a, b) != code_of(vectors, a, b)) return true;
    return false;
}

//---- The pattern ------------------------------------------------------------

// True if XNNPACK takes the scales of a sum.
static bool sum_is_delegated(const qdq_rewriter *r, const litert_unit *u) {
    for (int i = A; i <= B; i++) {
        float ratio = scale_of(r, &u->qdq.x[i]) / scale_of(r, &u->qdq.y);
        if (!(ratio >= 0x1p-10f && ratio < 256.0f)) return false;
    }
    return true;
}

// True if vectors may leave 16 bits: they keep the low ones of a scaled sum, and adding the zero
// point of y wraps.
static bool sum_wraps(const qdq_rewriter *r, const litert_unit *u) {
    double lo = 0, hi = 0, zero = qdq_coder_zero(r, &u->qdq.y, 0);
    for (int i = A; i <= B; i++) {
        double ratio = (double)scale_of(r, &u->qdq.x[i]) / (double)scale_of(r, &u->qdq.y);
        int32_t first = first_of(r, &u->qdq.x[i]);
        lo += ratio * first, hi += ratio * (first + CODES - 1);
    }
    return fmin(lo, lo + zero) < INT16_MIN + 1 || fmax(hi, hi + zero) > INT16_MAX - 1;
}

bool litert_match_add(const qdq_rewriter *r, qdq_match *m) {
    static const char *const sums[] = LITERT_NAMES("ADD"), *const differences[] =
                                                               LITERT_NAMES("SUB");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    bool adds = qdq_rewrite_is(r, m->anchor, "Add");
    if (!litert_match_binary(r, m, adds ? sums : differences, sum_is_delegated)) return false;
    if (litert_blocks_of_sum(r, &u, (litert_engine)m->form).split && sum_wraps(r, &u))
        return litert_refuses(m, "a scaled sum may leave 16 bits, where vectors wrap");
    return true;
}

static qdq_value add_sum(const qdq_rewriter *r, const litert_unit *u, const char *name,
                         const sum_tables *t) {
    qdq_value a = litert_add_table(r, litert_part(r, name, "/a"),
                                   qdq_rewrite_value(r, u->qdq.x[A].codes), QDQ_INT32, &t->of[A]);
    qdq_value b = litert_add_table(r, litert_part(r, name, "/b"),
                                   qdq_rewrite_value(r, u->qdq.x[B].codes), QDQ_INT32, &t->of[B]);
    qdq_value sum = litert_binary(r, u->qdq.node->op->name, litert_part(r, name, "/sums"), a, b);
    return litert_requantize(r, name, sum, &t->scaling);
}

void litert_build_add(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = (litert_engine)m->form;
    litert_blocks blocks = litert_blocks_of_sum(r, &u, engine);
    sum_tables *t = QDQ_MEMPOOL_NEW(r->mempool, sum_tables),
               *vectors = QDQ_MEMPOOL_NEW(r->mempool, sum_tables);
    const char *name = litert_name(r, &u);
    if (!t || !vectors) return;
    if (!(engine == LITERT_XNNPACK ? delegated_sum(r, &u, t) : fixed_sum(r, &u, NULL, t))) return;
    if (blocks.split == 0 || !fixed_sum(r, &u, &blocks, vectors) || !sums_differ(t, vectors)) {
        m->made[0] = add_sum(r, &u, name, t);
        return;
    }
    if (blocks.split == blocks.run) {
        m->made[0] = add_sum(r, &u, name, vectors);
        return;
    }
    qdq_value in_blocks = add_sum(r, &u, litert_part(r, name, "/blocks"), vectors),
              rest = add_sum(r, &u, litert_part(r, name, "/rest"), t);
    m->made[0] = litert_join_blocks(r, name, in_blocks, rest, blocks.run, blocks.split);
}
