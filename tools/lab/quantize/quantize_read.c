// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/quantize_read.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/options.h"
#include "tools/options/option_number.h"

static int parse_method(const char *option, const char *text, choose_method *out) {
    size_t count = 0;
    if (!text) return EXIT_OK;
    for (; choose_method_names[count]; count++) {
        if (strcmp(text, choose_method_names[count]) != 0) continue;
        *out = (choose_method)count;
        return EXIT_OK;
    }
    return tell_unknown(option, text, choose_method_names, count);
}

static int parse_percentile(const quantize_options *own, quantize_choice *choice) {
    char *end = NULL;
    choice->percentile = own->percentile ? strtod(own->percentile, &end) : 99.99;
    if (own->percentile && choice->activations != CHOOSE_PERCENTILE)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--percentile is given with --method %s, wanted --method percentile",
                            choose_method_names[choice->activations]);
    if ((end && (*end || end == own->percentile)) ||
        !(choice->percentile > 0 && choice->percentile <= 100))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--percentile is '%s', wanted a number above 0 and at most 100",
                            own->percentile);
    return EXIT_OK;
}

static int parse_weights(const quantize_options *own, quantize_choice *choice) {
    static const char *const names[] = {"minmax", "mse"};
    if (!own->weights || strcmp(own->weights, names[0]) == 0) return EXIT_OK;
    choice->weights = CHOOSE_MSE;
    if (strcmp(own->weights, names[1]) == 0) return EXIT_OK;
    return tell_unknown("method of --weights", own->weights, names, 2);
}

int quantize_group_read(const quantize_options *own, quantize_choice *choice, const char *target) {
    size_t group;
    if (!options_number("group", own->group, 2, 0, &group)) return EXIT_USAGE;
    choice->group = (int64_t)(group > INT32_MAX ? INT32_MAX : group);
    if (group && choice->per_tensor)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--group and --per-tensor exclude each other; give one of them");
    if (group && !choice->form->groups)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--group is given, but target %s takes no groups of these weights; "
                            "leave it out",
                            target);
    return EXIT_OK;
}

int quantize_options_read(quantization *q) {
    const options *opt = q->opt;
    const quantize_options *own = q->own;
    quantize_choice *choice = &q->choice;
    if (opt->outputs.count != 1)
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "%zu files are given with -o, wanted one: -o OUT.json, OUT.onnx or OUT.tflite",
            opt->outputs.count);
    if (!own->state && !opt->data.samples && !opt->inputs.count)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--state is missing; give the file that qdq calibrate wrote, or "
                            "samples with --data or -i");
    if (!opt->load.target)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--target is missing; `qdq targets` lists the targets");
    if (opt->data.samples && (opt->inputs.count || opt->fill))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--data and %s exclude each other; give the samples or one run",
                            opt->inputs.count ? "-i" : "--fill");
    if (own->equalize && !opt->data.samples)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--equalize is given without --data; add --data WHERE, the samples "
                            "that judge it");
    choice->symmetric = own->symmetric;
    choice->per_tensor = own->per_tensor;
    int code = parse_method("method", own->method, &choice->activations);
    if (code == EXIT_OK) code = parse_weights(own, choice);
    return code == EXIT_OK ? parse_percentile(own, choice) : code;
}
