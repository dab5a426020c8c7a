// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/accuracy_curve.h"

#include <math.h>
#include <stdlib.h>

// Returns the number of pairs of the next point.
static size_t next_count(size_t count) {
    static const size_t first[] = {1, 2, 3, 5, 8, 12};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (count < first[i]) return first[i];
    return count + count / 2;
}

// Lists the pairs whose effect is known, worst first, and pairs without an effect at the end.
static size_t list_pairs(const accuracy *a, size_t *out) {
    size_t found = accuracy_by_effect(a, out, a->count), count = 0;
    for (size_t i = 0; i < found; i++)
        if (a->nodes[out[i]].kind < KIND_OPERATION) out[count++] = out[i];
    for (size_t i = 0; i < a->count; i++)
        if (a->nodes[i].kind < KIND_OPERATION && a->nodes[i].effect == INFINITY) out[count++] = i;
    return count;
}

static qdq_status measure_point(effect_meter *m, accuracy *a, const bool *floats, size_t pairs,
                                qdq_error *err) {
    const effect_walk walk = {.without = true, .floats = floats};
    effect_ratio ratio;
    qdq_status status = effect_meter_run(m, &walk, &ratio, err);
    if (status != QDQ_OK || isnan(ratio.all)) return status;
    a->curve[a->curve_count++] = (curve_point){pairs, ratio.all};
    return QDQ_OK;
}

qdq_status accuracy_curve_measure(effect_meter *m, accuracy *a, qdq_error *err) {
    size_t *list = calloc(a->count + 1, sizeof *list);
    bool *floats = calloc(m->walks.forms.written->quantized->node_count + 1, sizeof *floats);
    qdq_status status = list && floats ? QDQ_OK : replay_no_memory(err);
    size_t count = status == QDQ_OK ? list_pairs(a, list) : 0, done = 0;
    for (size_t pairs = 0; status == QDQ_OK && count; pairs = next_count(pairs)) {
        if (pairs > count || a->curve_count + 1 == MOST_POINTS) pairs = count;
        for (; done < pairs; done++) floats[a->nodes[list[done]].node] = true;
        status = measure_point(m, a, floats, pairs, err);
        if (pairs == count) break;
    }
    free(floats), free(list);
    return status;
}
