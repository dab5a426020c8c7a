// SPDX-License-Identifier: Apache-2.0
// Merges sums of errors, and prints their report.
#include "tools/lab/explain/accuracy/data/accuracy_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/dataset/state_report.h"
#include "tools/lab/explain/accuracy/accuracy_report.h"
#include "tools/options.h"

static const state_column node_columns[NODE_COLUMNS] = {
    [NODE_NAME] = {"nodes", 1, QDQ_UINT8, false},
    [NODE_OP] = {"ops", 1, QDQ_UINT8, false},
    [NODE_CODES_OF] = {"codes_of", 1, QDQ_UINT8, false},
    [NODE_KIND] = {"node_kinds", 1, QDQ_UINT8, false},
    [NODE_COUNTS] = {"counts", 2, QDQ_INT64, false},
    [NODE_CODES] = {"codes", 3, QDQ_INT64, false},
    [NODE_TRUTHS] = {"truths", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_EXACTS] = {"exacts", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_OWN_NOISES] = {"own_noises", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_INHERITED_NOISES] = {"inherited_noises", SQUARE_DIGITS, QDQ_INT64, true},
    [NODE_TOTAL_NOISES] = {"total_noises", SQUARE_DIGITS, QDQ_INT64, true},
};

static const state_column output_columns[OUTPUT_COLUMNS] = {
    [OUTPUT_NAME] = {"outputs", 1, QDQ_UINT8, false},
    [OUTPUT_KNOWN] = {"outputs_known", 1, QDQ_UINT8, false},
    [OUTPUT_SIGNALS] = {"output_signals", SQUARE_DIGITS, QDQ_INT64, true},
    [OUTPUT_NOISES] = {"output_noises", SQUARE_DIGITS, QDQ_INT64, true},
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
    for (size_t c = OUTPUT_SIGNALS; c < OUTPUT_COLUMNS; c++)
        exact_add_sum(state_ints(into, c, row), state_ints(from, c, from_row));
}

//---- The report -------------------------------------------------------------

static double ratio_of(const state_table *t, size_t row, size_t signal, size_t noise) {
    return exact_decibels(state_ints(t, signal, row), state_ints(t, noise, row));
}

static node_accuracy node_of(const state_table *t, size_t row) {
    const int64_t *counts = state_ints(t, NODE_COUNTS, row),
                  *codes = state_ints(t, NODE_CODES, row);
    node_accuracy n = {.name = state_text(t, NODE_NAME, row),
                       .op = state_text(t, NODE_OP, row),
                       .codes_of = state_text(t, NODE_CODES_OF, row),
                       .node = row,
                       .own = ratio_of(t, row, NODE_TRUTHS, NODE_OWN_NOISES),
                       .inherited = ratio_of(t, row, NODE_EXACTS, NODE_INHERITED_NOISES),
                       .total = ratio_of(t, row, NODE_TRUTHS, NODE_TOTAL_NOISES),
                       .has_codes = codes[0] > 0,
                       .elements = (size_t)counts[0],
                       .clipped = (size_t)counts[1],
                       .codes = (double)codes[0],
                       .effect = NAN,
                       .without = NAN,
                       .alike = NAN,
                       .mended = NAN};
    double used = codes[1] > codes[2] ? 0 : (double)codes[2] - (double)codes[1] + 1;
    n.unused = n.has_codes ? codes_unused(n.codes, used) : 0;
    for (int kind = 0; kind < ACCURACY_KINDS; kind++)
        if (strcmp(state_text(t, NODE_KIND, row), accuracy_kind_names[kind]) == 0)
            n.kind = (accuracy_kind)kind;
    return n;
}

static bool fill_accuracy(const state *s, accuracy *a) {
    const state_table *nodes = &s->tables[0], *outputs = &s->tables[1];
    *a = (accuracy){.nodes = calloc(nodes->rows + 1, sizeof *a->nodes),
                    .outputs = calloc(outputs->rows + 1, sizeof *a->outputs),
                    .together = NAN,
                    .summed = NAN,
                    .together_without = NAN};
    if (!a->nodes || !a->outputs) return false;
    for (size_t row = 0; row < nodes->rows; row++)
        if (*state_text(nodes, NODE_KIND, row))
            a->nodes[a->count++] = node_of(nodes, row);
        else
            a->unmatched++;
    for (size_t row = 0; row < outputs->rows; row++)
        a->outputs[a->output_count++] =
            (output_accuracy){.name = state_text(outputs, OUTPUT_NAME, row),
                              .ratio = ratio_of(outputs, row, OUTPUT_SIGNALS, OUTPUT_NOISES),
                              .median = NAN,
                              .alike = NAN,
                              .known = *state_text(outputs, OUTPUT_KNOWN, row) != '\0'};
    return true;
}

// Rounds ratios for JSON, which would print all digits.
static void round_ratios(accuracy *a) {
    for (size_t i = 0; i < a->count; i++) {
        node_accuracy *n = &a->nodes[i];
        n->own = thousandths(n->own), n->total = thousandths(n->total);
        n->inherited = thousandths(n->inherited);
    }
    for (size_t i = 0; i < a->output_count; i++)
        a->outputs[i].ratio = thousandths(a->outputs[i].ratio);
}

static int report(const state *s, const options *opt) {
    accuracy a;
    const accuracy_title title = {.target = s->targets.count ? s->targets.items[0] : ""};
    if (!fill_accuracy(s, &a)) {
        accuracy_release(&a);
        return tell_failure(QDQ_ERR_MEMORY, "no memory for the report");
    }
    if (opt->json) {
        qdq_json json;
        round_ratios(&a);
        json_begin(&json);
        json_samples(&json, s);
        json_accuracy(&json, &a, &title);
        json_end(&json);
    } else {
        accuracy_text(&a, &title);
        print_samples(s);
    }
    bool differs = accuracy_differs(&a);
    accuracy_release(&a);
    return differs ? EXIT_FINDINGS : EXIT_OK;
}

static const state_table_kind tables[] = {
    {.columns = node_columns,
     .column_count = NODE_COLUMNS,
     .clear = clear_node,
     .merge = merge_node},
    {.columns = output_columns, .column_count = OUTPUT_COLUMNS, .merge = merge_output},
};

const state_kind explain_kind = {
    .command = "explain",
    .rows = "nodes",
    .tables = tables,
    .table_count = sizeof tables / sizeof *tables,
    .report = report,
};
