// SPDX-License-Identifier: Apache-2.0
// Writes the formulas of docs/numerics.md: the formula shows some choices itself, and a list behind
// it has all others.
#include "tools/html/formula.h"

#include <stdio.h>
#include <string.h>

typedef struct line {
    char *out;
    size_t capacity, length;
} line;

static void add(line *l, const char *text) {
    if (l->length >= l->capacity) return;
    int more = snprintf(l->out + l->length, l->capacity - l->length, "%s", text);
    l->length += (size_t)more;
}

static const char *rounding_text(const qdq_numerics *n) {
    static const char *const texts[] = {"half_even", "half_away", "half_up", "truncate",
                                        "half_up_biased"};
    return n->zero_point_order == QDQ_ZERO_POINT_AFTER_MAGIC ? "half_even" : texts[n->rounding];
}

static const char *scaled_text(const qdq_numerics *n) {
    static const char *const texts[] = {"x / scale", "x * fl(1 / scale)", "x * chip(1 / scale)",
                                        "to_zero(x / scale)"};
    return n->zero_point_order == QDQ_ZERO_POINT_AFTER_MAGIC ? texts[1] : texts[n->scaling];
}

static void add_quantize(line *l, const qdq_numerics *n) {
    static const char *const overflows[] = {"saturate",     "wrap",         "saturate_magnitude",
                                            "saturate_x86", "saturate_arm", "low_bits_x86"};
    add(l, overflows[n->overflow]), add(l, "(");
    bool after_float = n->zero_point_order == QDQ_ZERO_POINT_AFTER_FLOAT;
    if (after_float) add(l, "fl(");
    add(l, rounding_text(n)), add(l, "(");
    if (n->zero_point_order == QDQ_ZERO_POINT_FMA)
        add(l, "fma(x, fl(1 / scale), zero_point)");
    else
        add(l, scaled_text(n));
    if (n->zero_point_order == QDQ_ZERO_POINT_BEFORE) add(l, " + zero_point");
    add(l, ")");
    if (after_float) add(l, " + fl(zero_point))");
    if (n->zero_point_order == QDQ_ZERO_POINT_AFTER ||
        n->zero_point_order == QDQ_ZERO_POINT_AFTER_MAGIC)
        add(l, " + zero_point");
    add(l, ")");
}

static void add_dequantize(line *l, const qdq_numerics *n) {
    add(l, n->subtraction == QDQ_SUBTRACT_FLOAT ? "fl(fl(q) - fl(zero_point)) * scale"
                                                : "fl(q - zero_point) * scale");
}

static void add_requantize(line *l, const qdq_numerics *n) {
    if (n->requantize_form == QDQ_REQUANTIZE_PAIR) {
        add(l, "quantize(dequantize(q))");
        return;
    }
    if (n->requantize_form > QDQ_REQUANTIZE_EXPANDED) {
        static const char *const roundings[] = {"half away, twice", "half up, twice",
                                                "half up, once"};
        add(l, "(q - z_in) * multiplier * 2^-shift + z_out, rounded ");
        add(l, roundings[n->requantize_form - QDQ_REQUANTIZE_FIXED_DOUBLE]);
        return;
    }
    add(l, rounding_text(n));
    add(l, n->requantize_form == QDQ_REQUANTIZE_FUSED
               ? "(fma(q, r, z_out - z_in * r)), r = fl(s_in / s_out)"
               : "(fl(fl(q * r) + fl(z_out - fl(z_in * r)))), r = fl(s_in / s_out)");
}

// Appends a choice that the formula does not show: "; with NAME", then ", NAME".
static void add_choice(line *l, size_t *count, const char *name, const char *value) {
    if (l->length || *count) add(l, *count ? ", " : "; with ");
    add(l, name);
    if (value) add(l, " "), add(l, value);
    ++*count;
}

static void add_dtype(line *l, size_t *count, const char *name, qdq_dtype dtype) {
    if (dtype != QDQ_DTYPE_NONE) add_choice(l, count, name, qdq_dtype_name(dtype));
}

static bool steps_in_bfloat16(const qdq_numerics *n) {
    return n->input_dtype == QDQ_BFLOAT16 || n->quantize_step_dtype == QDQ_BFLOAT16 ||
           n->dequantize_step_dtype == QDQ_BFLOAT16 || n->requantize_dtype == QDQ_BFLOAT16;
}

static void add_choices(line *l, const qdq_numerics *n, bool quantizes, bool dequantizes,
                        bool bfloat16) {
    static const char *const stores[] = {NULL, "bfloat16 rounded half away", "bfloat16 truncated",
                                         "bfloat16 without denormals"};
    size_t count = 0;
    if (quantizes) {
        static const char *const nans[] = {NULL, "NaN as the greatest code",
                                           "NaN as the zero point", "NaN by its sign",
                                           "NaN as low bits"};
        add_dtype(l, &count, "x in", n->input_dtype);
        add_dtype(l, &count, "the scale in", n->scale_dtype);
        add_dtype(l, &count, "1 / scale in", n->reciprocal_dtype);
        add_dtype(l, &count, "steps in", n->quantize_step_dtype);
        if (n->nan) add_choice(l, &count, nans[n->nan], NULL);
        if (n->fold_128) add_choice(l, &count, "128 folded into the zero point", NULL);
        if (n->narrow) add_choice(l, &count, "a narrow range", NULL);
    }
    if (dequantizes) add_dtype(l, &count, "steps in", n->dequantize_step_dtype);
    if (n->sign_magnitude) add_choice(l, &count, "sign and magnitude", NULL);
    if (n->flush_denormals) add_choice(l, &count, "denormals as 0", NULL);
    if (n->multiply_add)
        add_choice(l, &count, "the multiply-add of",
                   n->multiply_add == QDQ_MULTIPLY_ADD_WORMHOLE ? "Wormhole" : "Blackhole");
    if (n->bfloat16_store && bfloat16) add_choice(l, &count, stores[n->bfloat16_store], NULL);
    if (quantizes || dequantizes) return;
    bool onednn = n->float_ops == QDQ_FLOAT_OPS_ONEDNN;
    if (n->float_ops)
        add_choice(l, &count, onednn ? "oneDNN's" : "ONNX Runtime's", "float operations");
    if (n->pair_sums) add_choice(l, &count, "sums of two products saturated to int16", NULL);
    if (n->qlinear) add_choice(l, &count, "another CPU's integer products", NULL);
    if (n->block_float_store) add_choice(l, &count, "the chip's block floats", NULL);
}

const char *formula_text(const char *op, const qdq_numerics *numerics, bool bfloat16, char *out,
                         size_t capacity) {
    line l = {out, capacity, 0};
    bool requantizes = strcmp(op, "Requantize") == 0;
    bool quantizes = strcmp(op, "Quantize") == 0 || requantizes;
    bool dequantizes = strcmp(op, "Dequantize") == 0 || requantizes;
    *out = '\0';
    if (requantizes)
        add_requantize(&l, numerics);
    else if (quantizes)
        add_quantize(&l, numerics);
    else if (dequantizes)
        add_dequantize(&l, numerics);
    add_choices(&l, numerics, quantizes, dequantizes, bfloat16 || steps_in_bfloat16(numerics));
    return out;
}
