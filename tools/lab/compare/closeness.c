// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/closeness.h"

#include <math.h>

#include "tools/common.h"
#include "tools/io/tensor_io.h"

bool tells_steps(qdq_dtype dtype, uint64_t steps) {
    enum { MOST_STEPS = 1000 };  // a float that is further away is not near in the last place
    return !qdq_dtype_is_real(dtype) || steps < MOST_STEPS;
}

closeness measure_closeness(const qdq_tensor_info *info, const void *a, const void *b) {
    enum { BLOCK = 512 };
    double x[BLOCK], y[BLOCK], error = 0, first = 0, second = 0, both = 0;
    size_t size = qdq_dtype_size(info->dtype), count = qdq_shape_count(info->shape);
    closeness c = {0};
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t n = count - at < BLOCK ? count - at : BLOCK;
        to_doubles(info->dtype, (const char *)a + at * size, n, x);
        to_doubles(info->dtype, (const char *)b + at * size, n, y);
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(x[i]) || !isfinite(y[i])) {
                c.infinite += (isinf(x[i]) || isinf(y[i])) && fabs(x[i] - y[i]) > 0;
                continue;
            }
            error += (x[i] - y[i]) * (x[i] - y[i]);
            first += x[i] * x[i], second += y[i] * y[i], both += x[i] * y[i];
        }
    }
    c.relative_error = error > 0 ? sqrt(error / first) : 0;
    c.cosine = both / sqrt(first * second);
    return c;
}

void print_closeness(FILE *out, qdq_dtype dtype, const difference *d, const closeness *c) {
    if (d->different == d->nan_count) return;
    if (tells_steps(dtype, d->steps))
        fprintf(out, ", at most %llu step%s", (unsigned long long)d->steps,
                d->steps == 1 ? "" : "s");
    if (!qdq_dtype_is_real(dtype)) return;
    if (c->infinite) fprintf(out, ", %zu infinite on one side", c->infinite);
    if (c->infinite == d->different - d->nan_count) return;
    fprintf(out, ", relative error %.3g", c->relative_error);
    if (!isnan(c->cosine)) fprintf(out, ", cosine %.6g", c->cosine);
}

static void json_number_or_null(qdq_json *json, const char *key, bool known, double value) {
    qdq_json_key(json, key);
    if (known && !isnan(value))
        qdq_json_double(json, value);
    else
        qdq_json_null(json);
}

void json_relative_error(qdq_json *json, const char *key, qdq_dtype dtype, double error) {
    json_number_or_null(json, key, qdq_dtype_is_real(dtype), error);
}

void json_closeness(qdq_json *json, qdq_dtype dtype, const difference *d, const closeness *c) {
    bool known = qdq_dtype_is_real(dtype);
    json_relative_error(json, "relative_error", dtype, d->different ? c->relative_error : 0);
    json_number_or_null(json, "cosine", known, d->different ? c->cosine : 1);
}
