// SPDX-License-Identifier: Apache-2.0
// Prints the report of a state, as for a single run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/dataset/state_report.h"
#include "tools/lab/explain/accuracy/accuracy_report.h"
#include "tools/lab/explain/accuracy/data/accuracy_state.h"
#include "tools/lab/explain/accuracy/data/ratio_histogram.h"
#include "tools/options.h"

static double ratio_of(const state_table *t, size_t row, size_t signals, size_t noises) {
    return exact_decibels(state_ints(t, signals, row), state_ints(t, noises, row));
}

static double share(int64_t part, int64_t all) { return all ? (double)part / (double)all : NAN; }

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

static bool is_known(const state_table *outputs, size_t row) {
    return *state_text(outputs, OUTPUT_KNOWN, row) != '\0';
}

static output_accuracy output_of(const state_table *t, size_t row) {
    const int64_t *counts = state_ints(t, OUTPUT_COUNTS, row);
    return (output_accuracy){
        .name = state_text(t, OUTPUT_NAME, row),
        .ratio = ratio_of(t, row, OUTPUT_SIGNALS, OUTPUT_NOISES),
        .median = ratio_histogram_median(state_ints(t, OUTPUT_RATIOS, row)),
        .alike = share(counts[COUNT_ALIKE], counts[COUNT_SAMPLES]),
        .known = is_known(t, row),
    };
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
        a->outputs[a->output_count++] = output_of(outputs, row);
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

int explain_report(const state *s, const options *opt) {
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
