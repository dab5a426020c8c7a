// SPDX-License-Identifier: Apache-2.0
// Tries other ways from a sum of integer products to codes: a fixed-point multiplier, as LiteRT,
// CMSIS-NN and TOSA have it, a shift, or one float factor. The sum comes from the integer op.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/explain/mistakes/trial.h"

//---- One sum ----------------------------------------------------------------

// A factor as a multiplier in [2^30, 2^31) and an exponent.
typedef struct fixed_factor {
    int64_t multiplier;
    int exponent;
} fixed_factor;

static fixed_factor fixed(double factor) {
    fixed_factor f = {0};
    f.multiplier = llround(ldexp(frexp(factor, &f.exponent), 31));
    if (f.multiplier == INT64_C(1) << 31) f.multiplier /= 2, f.exponent++;
    return f;
}

// Divides by 2^bits, half away from zero.
static int64_t divide_half_away(int64_t x, int bits) {
    int64_t half = bits > 0 ? INT64_C(1) << (bits - 1) : 0;
    return x >= 0 ? (x + half) >> bits : -((-x + half) >> bits);
}

// Divides by 2^bits, rounding down.
static int64_t divide_down(int64_t x, int bits) {
    return x >= 0 ? x >> bits : -((-x + (INT64_C(1) << bits) - 1) >> bits);
}

// Rounds twice: the upper half of twice the product, half up, then the shift, half away.
static double rounded_twice(double sum, double factor) {
    fixed_factor f = fixed(factor);
    int left = f.exponent > 0 ? f.exponent : 0, right = f.exponent < 0 ? -f.exponent : 0;
    if (left > 30 || right > 31 || fabs(ldexp(sum, left)) > INT32_MAX) return 0;
    int64_t product = (int64_t)ldexp(sum, left) * f.multiplier;
    int64_t nudged = product + (product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30));
    return (double)divide_half_away(nudged / (INT64_C(1) << 31), right);
}

static double rounded_once(double sum, double factor) {
    fixed_factor f = fixed(factor);
    int shift = 31 - f.exponent;
    if (shift < 1 || shift > 61) return 0;
    return (double)divide_down((int64_t)sum * f.multiplier + (INT64_C(1) << (shift - 1)), shift);
}

static double shifted(double sum, double factor) {
    return floor(sum * exp2(nearbyint(log2(factor))) + 0.5);
}

static double float_even(double sum, double factor) {
    return nearbyint((float)((float)sum * (float)factor));
}

static double float_away(double sum, double factor) {
    double v = (float)((float)sum * (float)factor);
    return trunc(v + copysign(0.5, v));
}

static double double_away(double sum, double factor) { return round(sum * factor); }

static double float_truncated(double sum, double factor) {
    return trunc((float)((float)sum * (float)factor));
}

static double float_floor(double sum, double factor) {
    return floor((float)((float)sum * (float)factor));
}

static const struct rescale_row {
    const char *cause, *detail;
    double (*rescale)(double sum, double factor);
} rows[] = {
    {"fixed point", "a multiplier of 31 bits, rounded twice", rounded_twice},
    {"fixed point", "a multiplier of 31 bits, rounded once", rounded_once},
    {"fixed point", "a shift in place of the factor, half up", shifted},
    {"requantize form", "one factor, half even", float_even},
    {"tie", "one factor, half away", float_away},
    {"tie", "one factor in float64, half away", double_away},
    {"truncation", "one factor, truncated", float_truncated},
    {"truncation", "one factor, rounded down", float_floor},
};

//---- A node -----------------------------------------------------------------

// The ops that end in codes, the integer op of their sums, and their scales and zero points. A
// Requantize has no product: its sums are its codes without the zero point.
static const struct rescaled_op {
    const char *op, *sums, *a, *b, *y;
} ops[] = {{"QLinearMatMul", "MatMulInteger", "a", "b", "y"},
           {"QGemm", "MatMulInteger", "a", "b", "y"},
           {"QLinearConv", "ConvInteger", "x", "w", "y"},
           {"Requantize", "Cast", "in", "", "out"}};

typedef struct rescaling {
    const struct rescaled_op *op;
    const struct rescale_row *row;
    const parameter_pair *a, *b, *y;  // b: NULL for Requantize
    const double *bias;
    size_t biases, channels, stride;
    qdq_dtype dtype;
} rescaling;

static double pick(const double *values, size_t count, size_t channel, double otherwise) {
    return count == 0 ? otherwise : values[count == 1 ? 0 : channel];
}

static bool finish_rescaled(const void *with, const qdq_tensor_info *from, const void *in,
                            void *out) {
    const rescaling *r = with;
    const qdq_dtype_info *info = qdq_dtype_get(r->dtype);
    size_t size = qdq_dtype_size(r->dtype), from_size = qdq_dtype_size(from->dtype);
    for (size_t i = 0; i < qdq_shape_count(from->shape); i++) {
        size_t c = i / r->stride % r->channels;
        double sum;
        to_doubles(from->dtype, (const char *)in + i * from_size, 1, &sum);
        sum += pick(r->bias, r->biases, c, 0);
        if (!r->b) sum -= pick(r->a->zero.values, r->a->zero.count, c, 0);
        double factor = (float)pick(r->a->scale.values, r->a->scale.count, c, 1);
        if (r->b) factor *= (float)pick(r->b->scale.values, r->b->scale.count, c, 1);
        factor /= (float)pick(r->y->scale.values, r->y->scale.count, c, 1);
        if (!(factor > 0) || !isfinite(factor) || fabs(sum) > INT32_MAX) return false;
        double code =
            r->row->rescale(sum, factor) + pick(r->y->zero.values, r->y->zero.count, c, 0);
        int64_t whole = (int64_t)fmin(fmax(code, (double)info->least), (double)info->greatest);
        memcpy((char *)out + i * size, &whole, size);
    }
    return true;
}

static const parameter_pair *pair_of(const mistake_trial *t, const char *prefix) {
    char port[64];
    snprintf(port, sizeof port, "%s_scale", prefix);
    for (size_t i = 0; *prefix && i < t->list->count; i++)
        if (strcmp(t->list->pairs[i].scale.port, port) == 0) return &t->list->pairs[i];
    return NULL;
}

// Turns the node into the op of its sums.
static bool set_sums(mistake_trial *t, const rescaling *r) {
    static const char *const attrs[] = {"in_scales", "in_zps", "out_scales", "out_zps",  "axis",
                                        "qtype",     "alpha",  "quant_min",  "quant_max"};
    const parameter_pair *const pairs[] = {r->a, r->b, r->y};
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) document_drop_attr(t->d, attrs[i]);
    for (size_t i = 0; i < 3; i++) {
        if (!pairs[i]) continue;
        document_drop_port(t->d, pairs[i]->scale.port);
        if (!r->b || pairs[i] == r->y) document_drop_port(t->d, pairs[i]->zero.port);
    }
    document_drop_port(t->d, "bias");
    return document_set_op(t->d, r->op->sums) &&
           (r->b || document_set_word(t->d, "dtype", "int32"));
}

// Finds the dim of the channels: of the output for a convolution, the last of a product, and the
// axis of a Requantize.
static bool find_channels(const mistake_trial *t, rescaling *r) {
    qdq_shape shape = trial_output(t)->info.shape;
    size_t count = 0;
    double *given = document_attr_numbers(t->d, "axis", &count);
    double axis = given && count ? given[0] : 0;
    elements_free(given);
    if (axis < 0) axis += shape.rank;
    int dim = !r->b ? (int)axis : strcmp(r->op->a, "x") == 0 ? 1 : shape.rank - 1;
    if (dim < 0 || dim >= shape.rank) return false;
    r->stride = 1;
    r->channels = (size_t)shape.dims[dim];
    for (int i = dim + 1; i < shape.rank; i++) r->stride *= (size_t)shape.dims[i];
    const parameter_pair *const pairs[] = {r->a, r->b, r->y};
    for (size_t i = 0; i < 3; i++) {
        if (!pairs[i]) continue;
        size_t scales = pairs[i]->scale.count, zeros = pairs[i]->zero.count;
        if ((scales > 1 && scales != r->channels) || (zeros > 1 && zeros != r->channels))
            return false;
    }
    return r->biases <= 1 || r->biases == r->channels;
}

static void try_rows(mistake_trial *t, rescaling *r) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows && trial_begin(t); i++) {
        r->row = &rows[i];
        variant v = {
            .cause = rows[i].cause, .detail = rows[i].detail, .finish = {finish_rescaled, r}};
        if (set_sums(t, r)) trial_take_variant(t, &v);
    }
}

void try_rescaling(mistake_trial *t) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(ops[i].op, document_op(t->d)) != 0) continue;
        rescaling r = {.op = &ops[i],
                       .a = pair_of(t, ops[i].a),
                       .b = pair_of(t, ops[i].b),
                       .y = pair_of(t, ops[i].y),
                       .dtype = trial_output(t)->info.dtype};
        if (!r.a || !r.y || (*ops[i].b && !r.b) || qdq_dtype_get(r.dtype)->kind != QDQ_KIND_INT)
            return;
        double *bias = document_port_numbers(t->d, "bias", &r.biases);
        r.bias = bias;
        if (!bias) r.biases = 0;
        if (find_channels(t, &r)) try_rows(t, &r);
        elements_free(bias);
    }
}
