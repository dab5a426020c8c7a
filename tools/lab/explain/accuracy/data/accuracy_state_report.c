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
#include "tools/lab/explain/accuracy/data/label_state.h"
#include "tools/lab/explain/accuracy/data/ratio_histogram.h"
#include "tools/lab/explain/accuracy/data/state_causes.h"
#include "tools/options.h"

//---- Rows -------------------------------------------------------------------

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

//---- Effects ----------------------------------------------------------------

typedef struct effect_reader {
    const state_table *outputs, *effects;
    size_t places;                   // outputs of a row, the first that both graphs have
    int64_t (*sums)[SQUARE_DIGITS];  // [output]: the errors of single pairs, added; owned
} effect_reader;

// Sets what a pair or group does to the output that suffers most.
static void read_effect(const effect_reader *r, size_t row, size_t output, node_accuracy *n) {
    const int64_t *counts = state_ints(r->effects, EFFECT_COUNTS, row),
                  *noises = state_ints(r->effects, EFFECT_NOISES, row);
    bool group = n->kind == KIND_GROUP;
    size_t signals = group ? OUTPUT_WRITTEN_SIGNALS : OUTPUT_EFFECT_SIGNALS;
    if (counts[EFFECT_ALONE_SAMPLES]) {
        n->effect =
            fmin(n->effect, exact_decibels(state_ints(r->outputs, signals, output), noises));
        n->alike = fmin(n->alike, share(counts[EFFECT_ALIKE], counts[EFFECT_ALONE_SAMPLES]));
        if (!group) exact_add_sum(r->sums[output], noises);
    }
    if (counts[EFFECT_WITHOUT_SAMPLES])
        n->without =
            fmin(n->without, exact_decibels(state_ints(r->outputs, OUTPUT_WITHOUT_SIGNALS, output),
                                            state_ints(r->effects, EFFECT_WITHOUT_NOISES, row)));
}

// Reads the ratios of outputs with effects; those of no sample stay NaN.
static void read_together(const effect_reader *r, accuracy *a) {
    const state_table *t = r->outputs;
    for (size_t i = 0, place = 0; i < t->rows && place < r->places; i++) {
        const int64_t *counts = state_ints(t, OUTPUT_COUNTS, i);
        if (!is_known(t, i)) continue;
        place++;
        a->effect_samples = (size_t)counts[COUNT_DATA_EFFECTS];
        a->without_samples = (size_t)counts[COUNT_DATA_WITHOUT];
        double together = ratio_of(t, i, OUTPUT_EFFECT_SIGNALS, OUTPUT_EFFECT_NOISES),
               summed = exact_decibels(state_ints(t, OUTPUT_EFFECT_SIGNALS, i), r->sums[i]);
        if (a->effect_samples) a->together = fmin(a->together, together);
        if (a->effect_samples) a->summed = fmin(a->summed, summed);
        together = ratio_of(t, i, OUTPUT_WITHOUT_SIGNALS, OUTPUT_WITHOUT_NOISES);
        if (a->without_samples) a->together_without = fmin(a->together_without, together);
    }
}

// The rows of effects lie in the order of nodes and outputs.
static void read_effects(const effect_reader *r, accuracy *a) {
    size_t row = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (!has_effect(&a->nodes[i])) continue;
        for (size_t k = 0, place = 0; k < r->outputs->rows && place < r->places; k++)
            if (is_known(r->outputs, k)) {
                read_effect(r, row++, k, &a->nodes[i]);
                place++;
            }
    }
}

static bool fill_effects(const state *s, accuracy *a) {
    effect_reader r = {.outputs = &s->tables[TABLE_OUTPUTS], .effects = &s->tables[TABLE_EFFECTS]};
    size_t pairs = 0, known = 0;
    for (size_t i = 0; i < a->count; i++) pairs += has_effect(&a->nodes[i]);
    for (size_t k = 0; k < r.outputs->rows; k++) known += is_known(r.outputs, k);
    r.places = pairs ? r.effects->rows / pairs : 0;
    // A file of another program may have any rows.
    if (!r.places || r.places > known || r.places * pairs != r.effects->rows) return true;
    r.sums = calloc(r.outputs->rows + 1, sizeof *r.sums);
    if (!r.sums) return false;
    read_effects(&r, a);
    read_together(&r, a);
    free(r.sums);
    return true;
}

//---- The report -------------------------------------------------------------

static bool fill_accuracy(const state *s, accuracy *a) {
    const state_table *nodes = &s->tables[TABLE_NODES], *outputs = &s->tables[TABLE_OUTPUTS];
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
    if (!fill_effects(s, a)) return false;
    state_find_causes(s, a);
    return true;
}

// Rounds ratios for JSON, which would print all digits.
static void round_ratios(accuracy *a) {
    for (size_t i = 0; i < a->count; i++) {
        node_accuracy *n = &a->nodes[i];
        n->own = thousandths(n->own), n->total = thousandths(n->total);
        n->inherited = thousandths(n->inherited);
        n->effect = thousandths(n->effect), n->without = thousandths(n->without);
    }
    for (size_t i = 0; i < a->output_count; i++)
        a->outputs[i].ratio = thousandths(a->outputs[i].ratio);
    a->together = thousandths(a->together), a->summed = thousandths(a->summed);
    a->together_without = thousandths(a->together_without);
}

int explain_report(const state *s, const options *opt) {
    accuracy a;
    accuracy_title title = {.target = s->targets.count ? s->targets.items[0] : ""};
    title.labelled = label_state_read(&s->tables[TABLE_LABELS], &title.right);
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
