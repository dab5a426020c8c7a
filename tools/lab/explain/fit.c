// SPDX-License-Identifier: Apache-2.0
// Fits parameters to given results. Each element bounds the scale: x / (q + 1/2) and x / (q - 1/2)
// for Quantize, half a unit in the last place around y / q for Dequantize. The caller tries scales
// that satisfy all bounds.
#include "tools/lab/explain/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/explain/grouping.h"

//---- Reading ----------------------------------------------------------------

static double *numbers_of(const replay *r, qdq_dtype dtype, const void *data, size_t count) {
    double *out = data ? elements_take_numbers(r->exec_options.allocator, count) : NULL;
    if (out) to_doubles(dtype, data, count, out);
    return out;
}

static bool find_groups(fit_data *f, const node_document *d, qdq_shape shape) {
    grouping g;
    if (!grouping_of(d, shape, f->groups, &g)) return false;
    f->group = elements_take(f->allocator, f->elements * sizeof *f->group);
    for (size_t i = 0; f->group && i < f->elements; i++) f->group[i] = grouping_at(&g, i);
    return f->group != NULL;
}

bool fit_open(fit_data *f, const node_document *d, const parameter_pair *p) {
    const replay *r = document_replay(d);
    const node_run *run = &r->nodes[document_node(d)].run;
    *f = (fit_data){.allocator = r->exec_options.allocator,
                    .quantizes = strcmp(document_op(d), "Quantize") == 0,
                    .groups = p->scale.count,
                    .scales = p->scale.values,
                    .zeros = p->zero.values,
                    .zero_count = p->zero.count};
    if (!f->quantizes && strcmp(document_op(d), "Dequantize") != 0) return false;
    const node_value *y = &run->outputs[0];
    const void *given = replay_given(r, y->value);
    qdq_value value = document_value(d, "x");
    qdq_dtype dtype;
    qdq_shape shape;
    if (!given || !f->groups || !qdq_value_type(r->form.graph, value, &dtype, &shape) ||
        (f->zero_count > 1 && f->zero_count != f->groups))
        return false;
    size_t count = 0;
    f->elements = qdq_shape_count(shape);
    f->dtype = y->info.dtype;
    const qdq_dtype_info *codes = qdq_dtype_get(f->quantizes ? f->dtype : dtype);
    f->least = (double)codes->least, f->greatest = (double)codes->greatest;
    f->x = document_port_numbers(d, "x", &count);
    f->ours = numbers_of(r, f->dtype, r->computed[y->value.id], f->elements);
    f->got = numbers_of(r, f->dtype, given, f->elements);
    return f->x && f->ours && f->got && codes->kind == QDQ_KIND_INT && find_groups(f, d, shape);
}

void fit_release(fit_data *f) {
    elements_free(f->x), elements_free(f->ours), elements_free(f->got), elements_free(f->group);
    *f = (fit_data){0};
}

fit_data fit_as_one(const fit_data *f) {
    fit_data one = *f;
    one.group = NULL;
    one.groups = 1;
    if (one.zero_count > 1) one.zero_count = 0;
    return one;
}

static size_t group_at(const fit_data *f, size_t element) {
    return f->group ? f->group[element] : 0;
}

//---- Scales -----------------------------------------------------------------

static double zero_at(const double *zeros, size_t count, size_t group) {
    return count == 0 ? 0 : zeros[count == 1 ? 0 : group];
}

// Returns half of the distance between a float and its neighbour.
static double half_unit(qdq_dtype dtype, double y) {
    int exponent, bits = dtype == QDQ_BFLOAT16 ? 8 : dtype == QDQ_FLOAT16 ? 11 : 24;
    (void)frexp(y, &exponent);
    return ldexp(0.5, exponent - bits);
}

static bool bounds_at(const fit_data *f, size_t i, double zero, double *low, double *high) {
    double code = (f->quantizes ? f->got[i] : f->x[i]) - zero;
    double real = f->quantizes ? f->x[i] : f->got[i], size = fabs(code);
    if (size < 1 || !isfinite(real) || (code < 0) != (real < 0)) return false;
    if (f->quantizes && (f->got[i] <= f->least || f->got[i] >= f->greatest)) return false;
    double half = f->quantizes ? 0 : half_unit(f->dtype, real);
    *low = f->quantizes ? fabs(real) / (size + 0.5) : (fabs(real) - half) / size;
    *high = f->quantizes ? fabs(real) / (size - 0.5) : (fabs(real) + half) / size;
    return true;
}

// Returns the number with the fewest digits between two positive numbers.
static double simplest(double low, double high) {
    char text[40];
    const double tried[] = {low, high, low + (high - low) / 2};
    for (int digits = 0; digits < 17; digits++)
        for (int i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "%.*e", digits, tried[i]);
            double rounded = strtod(text, NULL);
            if (rounded >= low && rounded <= high) return rounded;
        }
    return tried[2];
}

bool fit_scales(const fit_data *f, const double *zeros, size_t zero_count, double *out) {
    double *low = calloc(2 * f->groups + 1, sizeof *low), *high = low ? low + f->groups : NULL;
    bool fits = low != NULL, any = false;
    for (size_t g = 0; low && g < f->groups; g++) high[g] = INFINITY;
    for (size_t i = 0; fits && i < f->elements; i++) {
        size_t g = group_at(f, i);
        double from, to;
        if (!bounds_at(f, i, zero_at(zeros, zero_count, g), &from, &to)) continue;
        any = true;
        if (from > low[g]) low[g] = from;
        if (to < high[g]) high[g] = to;
    }
    for (size_t g = 0; fits && g < f->groups; g++) {
        bool kept = (f->scales[g] >= low[g] && f->scales[g] <= high[g]) || high[g] == INFINITY;
        fits = low[g] <= high[g] * (1 + 1e-12);
        if (fits) out[g] = kept ? f->scales[g] : simplest(low[g], fmax(low[g], high[g]));
    }
    free(low);
    return fits && any;
}

//---- Zero points ------------------------------------------------------------

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Finds the median shift of the codes of a group, or of `all` groups. False without an element that
// shows it.
static bool shift_of(const fit_data *f, size_t group, bool all, double *out) {
    double *shifts = elements_take_numbers(f->allocator, f->elements);
    size_t count = 0;
    for (size_t i = 0; shifts && i < f->elements; i++) {
        if (!all && group_at(f, i) != group) continue;
        if (f->quantizes && (f->got[i] <= f->least || f->got[i] >= f->greatest ||
                             f->ours[i] <= f->least || f->ours[i] >= f->greatest))
            continue;
        double scale = f->scales[group_at(f, i)];
        double shift = f->quantizes ? f->got[i] - f->ours[i] : (f->ours[i] - f->got[i]) / scale;
        if (isfinite(shift)) shifts[count++] = shift;
    }
    if (count) qsort(shifts, count, sizeof *shifts, ascending);
    if (count) *out = nearbyint(shifts[count / 2]);
    elements_free(shifts);
    return count > 0;
}

bool fit_zeros(const fit_data *f, double *out) {
    size_t count = f->zero_count ? f->zero_count : 1;
    for (size_t g = 0; g < count; g++) {
        double shift = 0;
        if (!shift_of(f, g, count == 1, &shift)) return false;
        out[g] = zero_at(f->zeros, f->zero_count, g) + shift;
    }
    return true;
}

bool fit_zero_of_both(const fit_data *f, double *out) {
    double n = 0, sums[4] = {0};  // sums of x, code, x * x, x * code
    if (f->groups != 1 || f->zero_count > 1) return false;
    for (size_t i = 0; i < f->elements; i++) {
        double real = f->quantizes ? f->x[i] : f->got[i], code = f->quantizes ? f->got[i] : f->x[i];
        if (!isfinite(real)) continue;
        if (f->quantizes && (code <= f->least || code >= f->greatest)) continue;
        n += 1;
        sums[0] += real, sums[1] += code, sums[2] += real * real, sums[3] += real * code;
    }
    double spread = n * sums[2] - sums[0] * sums[0];
    if (n < 3 || spread <= 0) return false;
    double slope = (n * sums[3] - sums[0] * sums[1]) / spread;
    *out = nearbyint((sums[1] - slope * sums[0]) / n);
    return true;
}
