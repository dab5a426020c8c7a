// SPDX-License-Identifier: Apache-2.0
// Compares an output with an expected tensor and prints the largest difference.
#include "tools/io/compare_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"

typedef struct difference {
    size_t count;      // elements
    size_t different;  // elements beyond the tolerance
    size_t zeros;      // zeros of the wrong sign; they count only without a tolerance
    size_t at;         // index of the largest difference
    double largest, mean;
} difference;

// |a - b|; two NaN are equal, and a NaN is infinitely far from a number.
static double distance(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
    return a == b ? 0 : fabs(a - b);
}

static difference measure(const double *got, const double *wanted, size_t count, double tolerance) {
    difference d = {.count = count};
    for (size_t i = 0; i < count; i++) {
        double far = distance(got[i], wanted[i]);
        d.mean += far / (double)count;
        d.different += far > tolerance;
        if (far > d.largest) d.largest = far, d.at = i;
    }
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

static void print_rows(const qdq_tensor *tensor, const double *got, const double *wanted,
                       size_t rows) {
    size_t count = tensor->shape.rank ? (size_t)tensor->shape.dims[0] : 1;
    size_t size = qdq_shape_count(tensor->shape) / count;
    row *all = calloc(count, sizeof *all);
    if (!all) return;
    for (size_t i = 0; i < count; i++) {
        difference d = measure(got + i * size, wanted + i * size, size, 0);
        all[i] = (row){i, d.largest, d.mean};
    }
    qsort(all, count, sizeof *all, worst_first);
    for (size_t i = 0; i < rows && i < count; i++)
        printf("  %s[%zu]: largest |difference| %.6g, mean %.6g\n", tensor->name, all[i].index,
               all[i].largest, all[i].mean);
    free(all);
}

//---- Telling ----------------------------------------------------------------

// Zeros of different sign have distance 0 but different bits.
static void count_signed_zeros(const double *got, const double *wanted, difference *d) {
    for (size_t i = 0; i < d->count; i++)
        d->zeros += got[i] == 0 && wanted[i] == 0 && signbit(got[i]) != signbit(wanted[i]);
    d->different += d->zeros;
}

static void print_difference(const qdq_tensor *tensor, const double *got, const double *wanted,
                             const difference *d) {
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
           element_text(tensor->dtype, got[d->at], has),
           element_text(tensor->dtype, wanted[d->at], wants), d->mean);
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

static int read_tolerance(const options *opt, double *tolerance) {
    char *end = NULL;
    *tolerance = opt->tolerance ? strtod(opt->tolerance, &end) : 0;
    if (!opt->tolerance || (end != opt->tolerance && *end == '\0' && *tolerance >= 0))
        return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT, "--tolerance is '%s', wanted a number of at least 0",
                        opt->tolerance);
}

static int compare_loaded(const qdq_tensor *tensor, const loaded_tensor *expected,
                          const options *opt, qdq_json *json) {
    double tolerance;
    size_t rows, count = qdq_shape_count(tensor->shape);
    char has[128], wants[128];
    int code = read_tolerance(opt, &tolerance);
    if (code != EXIT_OK) return code;
    if (!options_number("rows", opt->rows, 0, 0, &rows)) return EXIT_USAGE;
    if (!qdq_shape_equal(tensor->shape, expected->shape)) {
        fprintf(stderr, "qdq: output '%s' has shape %s, the expected tensor %s\n", tensor->name,
                qdq_write_shape(tensor->shape, has, sizeof has),
                qdq_write_shape(expected->shape, wants, sizeof wants));
        return EXIT_FINDINGS;
    }
    double *got = malloc(2 * count * sizeof *got), *wanted = got ? got + count : NULL;
    if (!got) return tell_failure(QDQ_ERR_MEMORY, "no memory to compare '%s'", tensor->name);
    to_doubles(tensor->dtype, tensor->data, count, got);
    to_doubles(expected->dtype, expected->data, count, wanted);
    difference d = measure(got, wanted, count, tolerance);
    if (tolerance == 0) count_signed_zeros(got, wanted, &d);
    if (json)
        json_difference(json, tensor, &d);
    else
        print_difference(tensor, got, wanted, &d);
    if (!json && rows) print_rows(tensor, got, wanted, rows);
    free(got);
    return d.different ? EXIT_FINDINGS : EXIT_OK;
}

int compare_output(const qdq_tensor *tensor, const tensor_spec *spec, const options *opt,
                   qdq_json *json) {
    qdq_error err = {0};
    loaded_tensor expected;
    if (tensor_load(spec, tensor->name, tensor->shape, &expected, &err) != QDQ_OK)
        return report_error(&err);
    if (are_codes_of(tensor->dtype, expected.dtype, spec->file)) expected.dtype = tensor->dtype;
    int code = compare_loaded(tensor, &expected, opt, json);
    tensor_release(&expected);
    return code;
}

int compare_check_options(const options *opt) {
    double tolerance;
    size_t rows;
    if (!options_number("rows", opt->rows, 0, 0, &rows)) return EXIT_USAGE;
    return read_tolerance(opt, &tolerance);
}
