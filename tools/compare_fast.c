// SPDX-License-Identifier: Apache-2.0
#include "tools/compare_fast.h"

#include <math.h>
#include <stdlib.h>

#include "tools/causes.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/session.h"
#include "tools/tensor_io.h"

// The largest |a - b| of numbers; NaN on one side is counted elsewhere.
static double largest_of(const double *a, const double *b, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double far = a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
        if (far > largest) largest = far;
    }
    return largest;
}

static void print_output(const qdq_tensor_info *info, const difference *d, double largest) {
    if (!d->different) {
        printf("%s: all %zu elements equal\n", info->name, d->elements);
        return;
    }
    printf("%s: %zu of %zu elements differ, at most %llu step%s; largest |difference| %.6g",
           info->name, d->different, d->elements, (unsigned long long)d->steps,
           d->steps == 1 ? "" : "s", largest);
    if (d->nan_count) printf(", %zu NaN on one side", d->nan_count);
    printf("\n");
}

static void json_output(qdq_json *json, const qdq_tensor_info *info, const difference *d,
                        double largest) {
    qdq_json_begin_object(json);
    json_string_key(json, "name", info->name);
    json_string_key(json, "dtype", qdq_dtype_name(info->dtype));
    qdq_json_key(json, "shape");
    json_shape(json, info->shape);
    json_uint_key(json, "elements", d->elements);
    json_uint_key(json, "different", d->different);
    json_uint_key(json, "steps", (size_t)d->steps);
    json_uint_key(json, "nan_count", d->nan_count);
    qdq_json_key(json, "largest");
    qdq_json_double(json, largest);
    qdq_json_end_object(json);
}

// Both results of an output, as they are and as doubles.
static int compare_output_of(qdq_exec *const execs[2], const qdq_tensor_info *info, qdq_json *json,
                             bool *differs) {
    size_t count = qdq_shape_count(info->shape);
    qdq_error err = {0};
    char *data = calloc(2, info->bytes);
    double *numbers = calloc(2 * count, sizeof *numbers);
    int code = EXIT_OK;
    if (!data || !numbers)
        code = tell_failure(QDQ_ERR_MEMORY, "no memory to compare '%s'", info->name);
    for (size_t k = 0; code == EXIT_OK && k < 2; k++) {
        char *own = data + k * info->bytes;
        if (qdq_exec_read(execs[k], info->name, info->dtype, own, count, &err) != QDQ_OK)
            code = report_error(&err);
        else
            to_doubles(info->dtype, own, count, numbers + k * count);
    }
    if (code == EXIT_OK) {
        difference d = measure_difference(info, data, data + info->bytes);
        double largest = largest_of(numbers, numbers + count, count);
        *differs |= d.different > 0;
        if (json)
            json_output(json, info, &d, largest);
        else
            print_output(info, &d, largest);
    }
    free(data), free(numbers);
    return code;
}

static int compare_outputs(const session *s, const session *fast, const options *opt) {
    qdq_exec *const execs[2] = {s->exec, fast->exec};
    qdq_json json;
    bool differs = false;
    int code = EXIT_OK;
    for (size_t k = 0; k < 2; k++) qdq_exec_run(execs[k]);
    if (opt->json) {
        json_begin(&json);
        json_string_key(&json, "graph", opt->operands.items[0]);
        qdq_json_key(&json, "outputs");
        qdq_json_begin_array(&json);
    }
    for (size_t i = 0; code == EXIT_OK && i < qdq_plan_output_count(s->plan); i++)
        code = compare_output_of(execs, qdq_plan_output(s->plan, i), opt->json ? &json : NULL,
                                 &differs);
    if (opt->json) {
        qdq_json_end_array(&json);
        json_end(&json);
    }
    return code != EXIT_OK ? code : differs ? EXIT_FINDINGS : EXIT_OK;
}

int compare_fast(const options *opt) {
    session s, fast = {0};
    options literal = *opt;
    literal.fast = false;
    int code = session_open(&s, &literal);
    if (code == EXIT_OK) code = session_open_mode(&fast, &s, opt, true);
    if (code == EXIT_OK) code = compare_outputs(&s, &fast, opt);
    session_close(&fast);
    session_close(&s);
    return code;
}
