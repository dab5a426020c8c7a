// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/effect_ratios.h"

#include <math.h>
#include <stdlib.h>

#include "tools/lab/explain/accuracy/decisions.h"

//---- A walk -----------------------------------------------------------------

static double half_ratio(const effect_result *r, size_t half) {
    size_t samples = decisions_samples(r->shape), each = samples ? r->count / samples : 0;
    noise_sum sum = {0};
    for (size_t s = half; s < samples; s += 2)
        noise_sum_add(&sum, r->wanted + s * each, r->now + s * each, each);
    return noise_sum_decibels(&sum);
}

static void take(void *with, const effect_result *r) {
    effect_meter *m = with;
    effect_ratio *now = &m->now;
    noise_sum sum = {0};
    if (isnan(now->all)) *now = (effect_ratio){INFINITY, {INFINITY, INFINITY}, 1, 0};
    now->samples = decisions_samples(r->shape);
    if (!r->now) return;
    noise_sum_add(&sum, r->wanted, r->now, r->count);
    now->all = fmin(now->all, noise_sum_decibels(&sum));
    now->alike = fmin(now->alike, decisions_alike(r->wanted, r->now, r->shape));
    for (size_t half = 0; half < 2; half++)
        now->halves[half] = fmin(now->halves[half], half_ratio(r, half));
    if (r->walk->result || r->walk->without || r->walk->row->kind == KIND_GROUP) return;
    m->sums[r->output].error += sum.error, m->sums[r->output].signal = sum.signal;
}

qdq_status effect_meter_run(effect_meter *m, const effect_walk *walk, effect_ratio *out,
                            qdq_error *err) {
    m->now = (effect_ratio){NAN, {NAN, NAN}, NAN, 0};
    qdq_status status = effects_run(&m->walks, walk, &(effect_taker){take, m}, err);
    *out = m->now;
    return status;
}

qdq_status effect_meter_open(effect_meter *m, const accuracy_forms *forms,
                             const accuracy_graphs *graphs, qdq_error *err) {
    size_t outputs = qdq_plan_output_count(graphs->quantized->plan);
    *m = (effect_meter){.sums = calloc(outputs + 1, sizeof *m->sums)};
    if (!m->sums) return replay_no_memory(err);
    qdq_status status = effects_open(&m->walks, forms, graphs, err);
    return status == QDQ_OK ? effects_begin(&m->walks, err) : status;
}

void effect_meter_close(effect_meter *m) {
    effects_close(&m->walks);
    free(m->sums);
    *m = (effect_meter){0};
}

//---- All rows ---------------------------------------------------------------

static double summed(const effect_meter *m, size_t outputs) {
    double worst = INFINITY;
    for (size_t i = 0; i < outputs; i++) worst = fmin(worst, noise_sum_decibels(&m->sums[i]));
    return worst;
}

static qdq_status measure_row(effect_meter *m, node_accuracy *n, bool without, qdq_error *err) {
    const effect_walk walk = {.row = n, .without = without};
    effect_ratio ratio;
    qdq_status status = effect_meter_run(m, &walk, &ratio, err);
    if (without)
        n->without = ratio.all;
    else
        n->effect = ratio.all, n->alike = ratio.alike;
    n->samples = ratio.samples;
    if (!without) n->halves[0] = ratio.halves[0], n->halves[1] = ratio.halves[1];
    return status;
}

qdq_status effects_measure(effect_meter *m, accuracy *a, qdq_error *err) {
    qdq_status status = QDQ_OK;
    size_t list[WITHOUT_NODES];
    for (size_t i = 0; status == QDQ_OK && i < a->count; i++)
        if (a->nodes[i].kind != KIND_OPERATION) status = measure_row(m, &a->nodes[i], false, err);
    a->summed = summed(m, a->output_count), a->together = INFINITY;
    for (size_t i = 0; i < a->output_count; i++)
        if (a->outputs[i].known) a->together = fmin(a->together, a->outputs[i].ratio);
    size_t count = accuracy_by_effect(a, list, WITHOUT_NODES);
    for (size_t i = 0; status == QDQ_OK && i < count; i++)
        if (a->nodes[list[i]].kind != KIND_GROUP)
            status = measure_row(m, &a->nodes[list[i]], true, err);
    return status;
}
