// SPDX-License-Identifier: Apache-2.0
// Describes the tables, and merges their rows.
#include "tools/lab/explain/accuracy/data/accuracy_state.h"

#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/explain/accuracy/data/channel_state.h"
#include "tools/lab/explain/accuracy/data/label_state.h"
#include "tools/lab/explain/accuracy/data/ratio_histogram.h"

static const state_column node_columns[NODE_COLUMNS] = {
    [NODE_NAME] = {"nodes", 1, QDQ_UINT8, false},
    [NODE_OP] = {"ops", 1, QDQ_UINT8, false},
    [NODE_CODES_OF] = {"codes_of", 1, QDQ_UINT8, false},
    [NODE_KIND] = {"node_kinds", 1, QDQ_UINT8, false},
    [NODE_CAUSE] = {"causes", 1, QDQ_UINT8, false},
    [NODE_MEND] = {"mends", 1, QDQ_UINT8, false},
    [NODE_KEEP] = {"keeps", 1, QDQ_UINT8, false},
    [NODE_COUNTS] = {"counts", 2, QDQ_INT64, false},
    [NODE_CODES] = {"codes", 3, QDQ_INT64, false},
    [NODE_PARAMETERS] = {"parameters", PARAMETER_WIDTH, QDQ_FLOAT64, false},
    [NODE_TRUTHS] = {"truths", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_EXACTS] = {"exacts", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_OWN_NOISES] = {"own_noises", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_INHERITED_NOISES] = {"inherited_noises", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_TOTAL_NOISES] = {"total_noises", SQUARE_DIGITS, QDQ_INT64, true},
};

static const state_column output_columns[OUTPUT_COLUMNS] = {
    [OUTPUT_NAME] = {"outputs", 1, QDQ_UINT8, false},
    [OUTPUT_KNOWN] = {"outputs_known", 1, QDQ_UINT8, false},
    [OUTPUT_COUNTS] = {"output_counts", OUTPUT_COUNT_WIDTH, QDQ_INT64, false},
    [OUTPUT_RATIOS] = {"output_ratios", RATIO_BINS, QDQ_INT64, false},
    [OUTPUT_SIGNALS] = {"output_signals", SQUARE_DIGITS, QDQ_INT64, true},
    [OUTPUT_NOISES] = {"output_noises", SQUARE_DIGITS, QDQ_INT64, true},
    [OUTPUT_EFFECT_SIGNALS] = {"effect_signals", SQUARE_DIGITS, QDQ_INT64, true},
    [OUTPUT_EFFECT_NOISES] = {"together_noises", SQUARE_DIGITS, QDQ_INT64, true},
    [OUTPUT_WRITTEN_SIGNALS] = {"written_signals", SQUARE_DIGITS, QDQ_INT64, true},
    [OUTPUT_WITHOUT_SIGNALS] = {"without_signals", SQUARE_DIGITS, QDQ_INT64, true},
    [OUTPUT_WITHOUT_NOISES] = {"without_together_noises", SQUARE_DIGITS, QDQ_INT64, true},
};

static const state_column effect_columns[EFFECT_COLUMNS] = {
    [EFFECT_NODE] = {"effects", 1, QDQ_UINT8, false},
    [EFFECT_OUTPUT] = {"effect_outputs", 1, QDQ_UINT8, false},
    [EFFECT_COUNTS] = {"effect_counts", EFFECT_COUNT_WIDTH, QDQ_INT64, false},
    [EFFECT_NOISES] = {"effect_noises", SQUARE_DIGITS, QDQ_INT64, true},
    [EFFECT_WITHOUT_NOISES] = {"without_noises", SQUARE_DIGITS, QDQ_INT64, true},
};

static void clear_node(const state_table *t, size_t row) {
    int64_t *codes = state_ints(t, NODE_CODES, row);
    codes[1] = INT64_MAX, codes[2] = INT64_MIN;
}

static void merge_node(const state_table *into, size_t row, const state_table *from,
                       size_t from_row) {
    int64_t *counts = state_ints(into, NODE_COUNTS, row),
            *codes = state_ints(into, NODE_CODES, row);
    const int64_t *others = state_ints(from, NODE_CODES, from_row);
    state_add_counts(counts, state_ints(from, NODE_COUNTS, from_row), 2);
    if (others[1] < codes[1]) codes[1] = others[1];
    if (others[2] > codes[2]) codes[2] = others[2];
    for (size_t c = NODE_TRUTHS; c < NODE_COLUMNS; c++)
        exact_add_sum(state_ints(into, c, row), state_ints(from, c, from_row));
}

static void merge_output(const state_table *into, size_t row, const state_table *from,
                         size_t from_row) {
    for (size_t c = OUTPUT_COUNTS; c <= OUTPUT_RATIOS; c++)
        state_add_counts(state_ints(into, c, row), state_ints(from, c, from_row),
                         into->kind->columns[c].width);
    for (size_t c = OUTPUT_SIGNALS; c < OUTPUT_COLUMNS; c++)
        exact_add_sum(state_ints(into, c, row), state_ints(from, c, from_row));
}

static void merge_effect(const state_table *into, size_t row, const state_table *from,
                         size_t from_row) {
    state_add_counts(state_ints(into, EFFECT_COUNTS, row),
                     state_ints(from, EFFECT_COUNTS, from_row), EFFECT_COUNT_WIDTH);
    for (size_t c = EFFECT_NOISES; c < EFFECT_COLUMNS; c++)
        exact_add_sum(state_ints(into, c, row), state_ints(from, c, from_row));
}

bool has_effect(const node_accuracy *row) { return !row->unmatched && row->kind != KIND_OPERATION; }

static const state_table_kind tables[] = {
    [TABLE_NODES] = {.columns = node_columns,
                     .column_count = NODE_COLUMNS,
                     .clear = clear_node,
                     .merge = merge_node},
    [TABLE_OUTPUTS] = {.columns = output_columns,
                       .column_count = OUTPUT_COLUMNS,
                       .merge = merge_output},
    [TABLE_EFFECTS] = {.columns = effect_columns,
                       .column_count = EFFECT_COLUMNS,
                       .merge = merge_effect},
    [TABLE_CHANNELS] = {.columns = channel_columns,
                        .column_count = CHANNEL_COLUMNS,
                        .merge = channel_merge},
    [TABLE_LABELS] = {.columns = label_columns,
                      .column_count = LABEL_COLUMNS,
                      .called = "set of labels",
                      .merge = label_state_merge},
};

const state_kind explain_kind = {
    .command = "explain",
    .rows = "nodes",
    .tables = tables,
    .table_count = sizeof tables / sizeof *tables,
    .report = explain_report,
};
