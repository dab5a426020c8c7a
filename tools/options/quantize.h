// SPDX-License-Identifier: Apache-2.0
// The options of `qdq quantize` alone.
#ifndef QDQ_TOOLS_OPTIONS_QUANTIZE_H
#define QDQ_TOOLS_OPTIONS_QUANTIZE_H

#include <stdbool.h>

#include "tools/options/string_list.h"

typedef struct quantize_options {
    const char *state, *method, *percentile, *weights, *group;
    const char *at_least, *drop;  // decibels, percent
    string_list keep;             // nodes that stay in float
    bool symmetric, per_tensor, equalize, correct;
} quantize_options;

#endif
