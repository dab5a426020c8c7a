// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/data/effect_state.h"

#include <stdlib.h>

#include "tools/elements.h"
#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/explain/accuracy/decisions.h"

//---- A walk -----------------------------------------------------------------

static void take(void *with, const effect_result *r) {
    const effect_adder *a = with;
    const state_table *t = &a->state->tables[TABLE_EFFECTS];
    size_t place = a->places[r->output];
    if (place == SIZE_MAX) return;
    size_t row = a->row * a->output_count + place;
    int64_t *counts = state_ints(t, EFFECT_COUNTS, row);
    size_t samples = decisions_samples(r->shape);
    bool without = r->walk->without;
    counts[without ? EFFECT_WITHOUT_SAMPLES : EFFECT_ALONE_SAMPLES] += (int64_t)samples;
    if (!without)
        counts[EFFECT_ALIKE] +=
            (int64_t)(r->now ? decisions_count_alike(r->wanted, r->now, r->shape) : samples);
    if (r->now)
        exact_add_squares(state_ints(t, without ? EFFECT_WITHOUT_NOISES : EFFECT_NOISES, row),
                          r->wanted, r->now, r->count);
}

static qdq_status run(effect_adder *a, bool without, qdq_error *err) {
    const effect_taker taker = {take, a};
    qdq_status status = QDQ_OK;
    for (a->row = 0; status == QDQ_OK && a->row < a->count; a->row++) {
        const effect_walk walk = {.row = &a->nodes[a->rows[a->row]], .without = without};
        if (!without || walk.row->kind != KIND_GROUP)
            status = effects_run(&a->walks, &walk, &taker, err);
    }
    return status;
}

//---- Outputs ----------------------------------------------------------------

// Adds the signals, and the noise of all pairs together, with which effects are compared.
static bool add_output(const effect_adder *a, size_t row, bool without) {
    const state_table *t = &a->state->tables[TABLE_OUTPUTS];
    const accuracy_forms *forms = &a->walks.forms;
    int64_t *counts = state_ints(t, OUTPUT_COUNTS, row);
    output_data runs, text;
    counts[COUNT_DATA_EFFECTS]++;
    if (without) counts[COUNT_DATA_WITHOUT]++;
    if (!find_output(&a->walks.graphs, forms->deployed, row, &runs)) return true;
    size_t count = runs.count;
    double *real =
        elements_take_numbers(a->walks.graphs.quantized->exec_options.allocator, 2 * count);
    if (!real) return false;
    double *made = real + count;
    to_doubles(runs.dtypes[1], runs.real, count, real);
    to_doubles(runs.dtypes[0], runs.quantized, count, made);
    exact_add_squares(state_ints(t, OUTPUT_EFFECT_SIGNALS, row), real, NULL, count);
    exact_add_squares(state_ints(t, OUTPUT_EFFECT_NOISES, row), real, made, count);
    if (without) {
        exact_add_squares(state_ints(t, OUTPUT_WITHOUT_SIGNALS, row), real, NULL, count);
        exact_add_squares(state_ints(t, OUTPUT_WITHOUT_NOISES, row), real, made, count);
    }
    if (find_output(&a->walks.graphs, forms->written, row, &text)) {
        to_doubles(text.dtypes[0], text.quantized, count, made);
        exact_add_squares(state_ints(t, OUTPUT_WRITTEN_SIGNALS, row), made, NULL, count);
    }
    elements_free(real);
    return true;
}

//---- Entry ------------------------------------------------------------------

static qdq_status open_rows(effect_adder *a, const node_accuracy *rows, size_t count, state *s,
                            qdq_error *err) {
    const state_table *outputs = &s->tables[TABLE_OUTPUTS];
    a->nodes = rows;
    a->rows = calloc(count + 1, sizeof *a->rows);
    a->places = calloc(outputs->rows + 1, sizeof *a->places);
    if (!a->rows || !a->places) return replay_no_memory(err);
    for (size_t i = 0; i < count; i++)
        if (has_effect(&rows[i])) a->rows[a->count++] = i;
    for (size_t i = 0; i < outputs->rows; i++) {
        bool has_room = a->output_count == 0 || a->count * (a->output_count + 1) <= MOST_EFFECTS;
        bool takes = has_room && *state_text(outputs, OUTPUT_KNOWN, i);
        a->places[i] = takes ? a->output_count++ : SIZE_MAX;
    }
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < outputs->rows; k++) {
            const char *const texts[] = {rows[a->rows[i]].name,
                                         state_text(outputs, OUTPUT_NAME, k)};
            if (a->places[k] != SIZE_MAX &&
                state_add_row(&s->tables[TABLE_EFFECTS], texts) == SIZE_MAX)
                return replay_no_memory(err);
        }
    return QDQ_OK;
}

qdq_status effect_adder_open(effect_adder *a, const accuracy_forms *forms,
                             const accuracy_graphs *graphs, const node_accuracy *rows, size_t count,
                             state *s, qdq_error *err) {
    *a = (effect_adder){0};
    qdq_status status = effects_open(&a->walks, forms, graphs, err);
    return status == QDQ_OK ? open_rows(a, rows, count, s, err) : status;
}

// Returns how many samples have `without`: a quarter of those with effects, so that it costs a
// quarter of these.
static size_t without_samples(int64_t data) {
    size_t quarter = (data < EFFECT_SAMPLES ? (size_t)data : EFFECT_SAMPLES) / 4;
    return quarter > LEAST_WITHOUT ? quarter : LEAST_WITHOUT;
}

qdq_status effect_adder_add(effect_adder *a, state *s, size_t index, qdq_error *err) {
    bool without = index < without_samples(s->sample_count);
    if (index >= EFFECT_SAMPLES) return QDQ_OK;
    a->state = s;
    for (size_t i = 0; i < s->tables[TABLE_OUTPUTS].rows; i++)
        if (!add_output(a, i, without)) return replay_no_memory(err);
    qdq_status status = effects_begin(&a->walks, err);
    if (status == QDQ_OK) status = run(a, false, err);
    return status == QDQ_OK && without ? run(a, true, err) : status;
}

void effect_adder_close(effect_adder *a) {
    effects_close(&a->walks);
    free(a->places);
    free(a->rows);
    *a = (effect_adder){0};
}
