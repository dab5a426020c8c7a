// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/value_limits.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

enum { LEAST_CLAMPED = 2 };  // elements at a limit: roundings move a single least element too

void limits_of_activation(const replay *real, size_t node, value_limits *limits) {
    char text[256];
    qdq_node_info info = qdq_graph_node(real->form.graph, node);
    bool clamp = strcmp(info.op, "Clamp") == 0;
    if ((!clamp && strcmp(info.op, "ReLU") != 0) || (clamp && info.input_count > 1)) return;
    *limits = (value_limits){.possible = limits->possible, .known = true, .high = INFINITY};
    if (!clamp) return;
    (void)qdq_graph_node_attrs(real->form.graph, node, 0, text, sizeof text);
    cJSON *attrs = cJSON_Parse(text);
    const cJSON *low = cJSON_GetObjectItem(attrs, "min"), *high = cJSON_GetObjectItem(attrs, "max");
    limits->low = cJSON_IsNumber(low) ? (float)low->valuedouble : -INFINITY;
    if (cJSON_IsNumber(high)) limits->high = (float)high->valuedouble;
    cJSON_Delete(attrs);
}

void limits_find(value_limits *limits, const float *truth, const float *exact, size_t count) {
    float low = INFINITY, high = -INFINITY;
    size_t below = 0, above = 0;
    if (limits->known) return;
    limits->low = -INFINITY, limits->high = INFINITY;
    if (!limits->possible) return;
    for (size_t i = 0; i < count; i++) low = fminf(low, truth[i]), high = fmaxf(high, truth[i]);
    for (size_t i = 0; i < count; i++) {
        below += truth[i] == low && exact[i] < low;
        above += truth[i] == high && exact[i] > high;
    }
    if (low < high && below >= LEAST_CLAMPED) limits->low = low;
    if (low < high && above >= LEAST_CLAMPED) limits->high = high;
}

bool limits_exist(const value_limits *limits) {
    return limits->possible && (limits->low > -INFINITY || limits->high < INFINITY);
}

void limits_apply(const value_limits *limits, float *elements, size_t count) {
    for (size_t i = 0; limits_exist(limits) && i < count; i++)
        elements[i] = elements[i] < limits->low    ? limits->low
                      : elements[i] > limits->high ? limits->high
                                                   : elements[i];
}

void limits_apply_to_doubles(const value_limits *limits, double *elements, size_t count) {
    for (size_t i = 0; limits_exist(limits) && i < count; i++)
        elements[i] = elements[i] < (double)limits->low    ? (double)limits->low
                      : elements[i] > (double)limits->high ? (double)limits->high
                                                           : elements[i];
}
