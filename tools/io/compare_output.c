// SPDX-License-Identifier: Apache-2.0
// Compares an output with an expected tensor and prints the largest difference.
#include "tools/io/compare_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options/option_number.h"
#include "tools/options/run.h"

typedef struct difference {
    size_t count;      // elements
    size_t different;  // elements beyond the tolerance
    size_t zeros;      // zeros of the wrong sign; counted only without a tolerance
    size_t at;         // index of the largest difference
    double largest, mean;
} difference;

// A result and the expected tensor, which have the same shape.
typedef struct pair {
    const qdq_tensor *got;
    const loaded_tensor *wanted;
} pair;

// Returns |a - b|. Two NaN are equal, and a NaN is infinitely far from a number.
static double distance(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
    return a == b ? 0 : fabs(a - b);
}

static double number_at(qdq_dtype dtype, const void *data, size_t at) {
    double value;
    to_doubles(dtype, (const char *)data + at * qdq_dtype_size(dtype), 1, &value);
    return value;
}

// Measures the difference of `count` elements, in blocks. Zeros of different sign have distance 0
// but different bits, so they count as different without a tolerance.
static difference measure(const pair *p, size_t first, size_t count, double tolerance) {
    enum { BLOCK = 512 };
    double got[BLOCK], wanted[BLOCK];
    difference d = {.count = count};
    size_t sizes[] = {qdq_dtype_size(p->got->dtype), qdq_dtype_size(p->wanted->dtype)};
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t n = count - at < BLOCK ? count - at : BLOCK, from = first + at;
        to_doubles(p->got->dtype, (const char *)p->got->data + from * sizes[0], n, got);
        to_doubles(p->wanted->dtype, (const char *)p->wanted->data + from * sizes[1], n, wanted);
        for (size_t i = 0; i < n; i++) {
            double far = distance(got[i], wanted[i]);
            d.mean += far / (double)count;
            d.different += far > tolerance;
            if (far > d.largest) d.largest = far, d.at = at + i;
            d.zeros += got[i] == 0 && wanted[i] == 0 && signbit(got[i]) != signbit(wanted[i]);
        }
    }
    if (tolerance != 0) d.zeros = 0;
    d.different += d.zeros;
    return d;
}

//---- The worst entries of the first dim -------------------------------------

typedef struct row {
    size_t index;
    double largest, mean;
} row;

static int worst_first(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->largest != y->largest) return x->largest > y->largest ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void print_rows(const pair *p, size_t rows) {
    const qdq_tensor *tensor = p->got;
    size_t count = tensor->shape.rank ? (size_t)tensor->shape.dims[0] : 1;
    size_t size = qdq_shape_count(tensor->shape) / count;
    row *all = calloc(count, sizeof *all);
    if (!all) return;
    for (size_t i = 0; i < count; i++) {
        difference d = measure(p, i * size, size, 0);
        all[i] = (row){i, d.largest, d.mean};
    }
    qsort(all, count, sizeof *all, worst_first);
    for (size_t i = 0; i < rows && i < count; i++)
        printf("  %s[%zu]: largest |difference| %.6g, mean %.6g\n", tensor->name, all[i].index,
               all[i].largest, all[i].mean);
    free(all);
}

//---- Telling ----------------------------------------------------------------

static void print_difference(const pair *p, const difference *d) {
    const qdq_tensor *tensor = p->got;
    char at[128], has[32], wants[32];
    if (d->largest == 0 && d->zeros) {
        printf("%s: %zu of %zu elements are zeros of the other sign\n", tensor->name, d->zeros,
               d->count);
        return;
    }
    if (d->largest == 0) {
        printf("%s: all %zu elements equal\n", tensor->name, d->count);
        return;
    }
    printf("%s: %zu of %zu elements differ by more than the tolerance; largest |difference| %.6g "
           "at %s (%s, expected %s), mean %.6g\n",
           tensor->name, d->different, d->count, d->largest,
           index_text(tensor->shape, d->at, at, sizeof at),
           element_text(tensor->dtype, number_at(tensor->dtype, tensor->data, d->at), has),
           element_text(tensor->dtype, number_at(p->wanted->dtype, p->wanted->data, d->at), wants),
           d->mean);
}

static void json_difference(qdq_json *json, const qdq_tensor *tensor, const difference *d) {
    qdq_json_begin_object(json);
    json_string_key(json, "name", tensor->name);
    json_uint_key(json, "elements", d->count);
    json_uint_key(json, "different", d->different);
    qdq_json_key(json, "largest");
    qdq_json_double(json, d->largest);
    qdq_json_key(json, "mean");
    qdq_json_double(json, d->mean);
    qdq_json_end_object(json);
}

static int read_tolerance(const run_options *own, double *tolerance) {
    char *end = NULL;
    *tolerance = own->tolerance ? strtod(own->tolerance, &end) : 0;
    if (!own->tolerance || (end != own->tolerance && *end == '\0' && *tolerance >= 0))
        return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT, "--tolerance is '%s', wanted a number of at least 0",
                        own->tolerance);
}

static int compare_loaded(const qdq_tensor *tensor, const loaded_tensor *expected,
                          const run_options *own, qdq_json *json) {
    double tolerance;
    size_t rows;
    char has[128], wants[128];
    int code = read_tolerance(own, &tolerance);
    if (code != EXIT_OK) return code;
    if (!options_number("worst", own->worst, 0, 0, &rows)) return EXIT_USAGE;
    if (!qdq_shape_equal(tensor->shape, expected->shape)) {
        fprintf(stderr, "qdq: output '%s' has shape %s, the expected tensor %s\n", tensor->name,
                qdq_write_shape(tensor->shape, has, sizeof has),
                qdq_write_shape(expected->shape, wants, sizeof wants));
        return EXIT_FINDINGS;
    }
    const pair both = {tensor, expected};
    difference d = measure(&both, 0, qdq_shape_count(tensor->shape), tolerance);
    if (json)
        json_difference(json, tensor, &d);
    else
        print_difference(&both, &d);
    if (!json && rows) print_rows(&both, rows);
    return d.different ? EXIT_FINDINGS : EXIT_OK;
}

int compare_output(tensor_source *source, const qdq_tensor *tensor, const tensor_spec *spec,
                   const run_options *own, qdq_json *json) {
    qdq_error err = {0};
    loaded_tensor expected;
    if (tensor_load(source, spec, tensor->name, tensor->shape, &expected, &err) != QDQ_OK)
        return report_error(&err);
    if (are_codes_of(tensor->dtype, expected.dtype, spec->file)) expected.dtype = tensor->dtype;
    int code = compare_loaded(tensor, &expected, own, json);
    tensor_release(&expected);
    return code;
}

int compare_check_options(const run_options *own) {
    double tolerance;
    size_t rows;
    if (!options_number("worst", own->worst, 0, 0, &rows)) return EXIT_USAGE;
    return read_tolerance(own, &tolerance);
}
