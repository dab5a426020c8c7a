// SPDX-License-Identifier: Apache-2.0
#include "graph/targets/litert/litert_wide.h"

#include <string.h>

#include "include/qdq/ops/elementwise.h"

static qdq_value cast(const litert_wide *w, const char *part, qdq_value x, qdq_dtype dtype) {
    return qdq_cast(w->r->to, x,
                    (qdq_cast_attrs){.name = litert_part(w->r, w->name, part), .dtype = dtype});
}

qdq_value litert_widened(const litert_wide *w, qdq_value x) {
    return cast(w, "/wide", x, QDQ_FLOAT64);
}

qdq_value litert_number(const litert_wide *w, double number) {
    return qdq_rewrite_constant(w->r, w->name, "/number", QDQ_FLOAT64, (qdq_shape){0}, &number);
}

qdq_value litert_numbers(const litert_wide *w, const float *numbers, size_t count) {
    double *wide = qdq_mempool_array(w->r->mempool, count, sizeof *wide);
    if (!wide) return (qdq_value){0};
    for (size_t i = 0; i < count; i++) wide[i] = (double)numbers[i];
    return qdq_rewrite_constant(w->r, w->name, "/numbers", QDQ_FLOAT64,
                                (qdq_shape){1, {(int64_t)count}}, wide);
}

//---- Operations -------------------------------------------------------------

static const char *part_of(const char *op) {
    static const char *const parts[][2] = {{"Add", "/sum"},
                                           {"Subtract", "/difference"},
                                           {"Multiply", "/product"},
                                           {"Divide", "/quotient"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(op, parts[i][0]) == 0) return parts[i][1];
    return "/compared";
}

qdq_value litert_exactly(const litert_wide *w, const char *op, qdq_value a, qdq_value b) {
    return litert_binary(w->r, op, litert_part(w->r, w->name, part_of(op)), a, b);
}

qdq_value litert_rounded(const litert_wide *w, qdq_value x) {
    return litert_widened(w, cast(w, "/rounded", x, QDQ_FLOAT32));
}

qdq_value litert_singly(const litert_wide *w, const char *op, qdq_value a, qdq_value b) {
    return litert_rounded(w, litert_exactly(w, op, a, b));
}

qdq_value litert_choice(const litert_wide *w, qdq_value condition, qdq_value a, qdq_value b) {
    return qdq_select(w->r->to, condition, a, b,
                      (qdq_select_attrs){.name = litert_part(w->r, w->name, "/chosen")});
}

// Twice the distance of a float64 from the float32 next to it leads to another float32 only if the
// float64 lies halfway between both. There the part that the sum lost decides: towards the other
// one if it has the sign of the distance.
static qdq_value decide(const litert_wide *w, qdq_value sum, qdq_value lost) {
    qdq_value zero = litert_number(w, 0.0), near = litert_rounded(w, sum),
              off = litert_exactly(w, "Subtract", sum, near),
              other = litert_exactly(w, "Add", near, litert_exactly(w, "Add", off, off));
    qdq_value away = litert_exactly(w, "Subtract", other, litert_rounded(w, other));
    qdq_value signs = litert_choice(w, litert_exactly(w, "Less", off, zero),
                                    litert_exactly(w, "Subtract", zero, lost), lost);
    signs = litert_choice(w, litert_exactly(w, "Equal", off, zero), zero, signs);
    signs = litert_choice(w, litert_exactly(w, "Equal", away, zero), signs, zero);
    return litert_choice(w, litert_exactly(w, "Greater", signs, zero), other, near);
}

// The product is exact; Knuth's two-sum has the part that its sum with c loses.
qdq_value litert_fused(const litert_wide *w, qdq_value a, qdq_value b, qdq_value c) {
    qdq_value product = litert_exactly(w, "Multiply", a, b),
              sum = litert_exactly(w, "Add", product, c),
              part = litert_exactly(w, "Subtract", sum, product);
    qdq_value of_product =
                  litert_exactly(w, "Subtract", product, litert_exactly(w, "Subtract", sum, part)),
              of_c = litert_exactly(w, "Subtract", c, part);
    return decide(w, sum, litert_exactly(w, "Add", of_product, of_c));
}

//---- Whole numbers ----------------------------------------------------------

qdq_value litert_truncated(const litert_wide *w, qdq_value x) {
    return litert_widened(w, cast(w, "/whole", x, QDQ_INT32));
}

// The fraction is exact, and so is twice it.
qdq_value litert_half_away(const litert_wide *w, qdq_value x) {
    qdq_value whole = litert_truncated(w, x), rest = litert_exactly(w, "Subtract", x, whole);
    rest = litert_truncated(w, litert_exactly(w, "Add", rest, rest));
    return litert_exactly(w, "Add", whole, rest);
}

// A float64 from 2^52 on has no fraction.
qdq_value litert_half_even(const litert_wide *w, qdq_value x) {
    qdq_value large = litert_number(w, 0x1.8p52);
    return litert_exactly(w, "Subtract", litert_exactly(w, "Add", x, large), large);
}
