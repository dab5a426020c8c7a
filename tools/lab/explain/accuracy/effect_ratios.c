// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/effect_ratios.h"

#include <math.h>
#include <stdlib.h>

#include "tools/lab/compare/noise.h"
#include "tools/lab/explain/accuracy/decisions.h"
#include "tools/lab/explain/accuracy/effect.h"

typedef struct measuring {
    effects walks;
    double ratio, alike;  // of the output that suffers most from the present walk
    noise_sum *sums;      // [output]: the errors of single pairs, added
} measuring;

static void take(void *with, const effect_result *r) {
    measuring *m = with;
    noise_sum sum = {0};
    if (isnan(m->ratio)) m->ratio = INFINITY, m->alike = 1;
    if (!r->now) return;
    noise_sum_add(&sum, r->wanted, r->now, r->count);
    m->ratio = fmin(m->ratio, noise_sum_decibels(&sum));
    m->alike = fmin(m->alike, decisions_alike(r->wanted, r->now, r->shape));
    if (r->walk->without || r->walk->row->kind == KIND_GROUP) return;
    m->sums[r->output].error += sum.error, m->sums[r->output].signal = sum.signal;
}

static qdq_status run(measuring *m, const node_accuracy *row, bool without, qdq_error *err) {
    const effect_walk walk = {.row = row, .without = without};
    m->ratio = m->alike = NAN;
    return effects_run(&m->walks, &walk, &(effect_taker){take, m}, err);
}

static double summed(const measuring *m, size_t outputs) {
    double worst = INFINITY;
    for (size_t i = 0; i < outputs; i++) worst = fmin(worst, noise_sum_decibels(&m->sums[i]));
    return worst;
}

static qdq_status measure(measuring *m, accuracy *a, qdq_error *err) {
    qdq_status status = QDQ_OK;
    size_t list[WITHOUT_NODES];
    for (size_t i = 0; status == QDQ_OK && i < a->count; i++) {
        node_accuracy *n = &a->nodes[i];
        if (n->kind == KIND_OPERATION) continue;
        status = run(m, n, false, err);
        n->effect = m->ratio, n->alike = m->alike;
    }
    a->summed = summed(m, a->output_count), a->together = INFINITY;
    for (size_t i = 0; i < a->output_count; i++)
        if (a->outputs[i].known) a->together = fmin(a->together, a->outputs[i].ratio);
    size_t count = accuracy_by_effect(a, list, WITHOUT_NODES);
    for (size_t i = 0; status == QDQ_OK && i < count; i++) {
        if (a->nodes[list[i]].kind == KIND_GROUP) continue;
        status = run(m, &a->nodes[list[i]], true, err);
        a->nodes[list[i]].without = m->ratio;
    }
    return status;
}

qdq_status effects_measure(const accuracy_forms *forms, const accuracy_graphs *graphs, accuracy *a,
                           qdq_error *err) {
    measuring m = {.sums = calloc(a->output_count + 1, sizeof *m.sums)};
    qdq_status status = m.sums ? effects_open(&m.walks, forms, graphs, err) : replay_no_memory(err);
    if (status == QDQ_OK) status = measure(&m, a, err);
    effects_close(&m.walks);
    free(m.sums);
    return status;
}
