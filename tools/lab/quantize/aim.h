// SPDX-License-Identifier: Apache-2.0
// The accuracy that the user asks for: decibels of the worst output (--at-least), and the share of
// samples with the true class (--drop, with --labels).
#ifndef QDQ_TOOLS_LAB_QUANTIZE_AIM_H
#define QDQ_TOOLS_LAB_QUANTIZE_AIM_H

#include "tools/lab/dataset/labels.h"
#include "tools/lab/quantize/trials.h"

// What a trial measured.
typedef struct outcome {
    verdict verdict;  // no samples: the target refuses the graph
    label_counts counts;
} outcome;

// A product, and its effect: decibels of the worst output when this product alone is on codes. Of a
// residual sum, which has codes only beside a product: of the noise that goes if it is in float.
typedef struct ranked_node {
    size_t node;
    bool is_product;
    double effect;
} ranked_node;

typedef struct aim {
    bool decibels_given, drop_given;
    double decibels, drop;  // percent
    bool opened;
    trials trials;
    labels labels;
    ranked_node *ranking;  // the greatest effect first, but the last is a product
    size_t ranked;
    bool *found;      // [node]: kept in float for the aim; NULL: no search
    size_t searched;  // trials of the search
    outcome result;   // of the quantized graph
} aim;

typedef struct quantization quantization;

// Stages of qdq quantize. EXIT_OK, or another exit code after a message.
// Reads --at-least, --drop and --labels.
int aim_read(quantization *q);
// Keeps the fewest products in float that reach the aim.
int aim_reach(quantization *q);
// Runs the quantized graph as its target deploys it, if there is an aim or labels.
int aim_measure(quantization *q);

void aim_release(aim *a);

// Measures a graph, or codes that are placed by a choice in the graph (`choice` not NULL), on each
// run whose index is a multiple of `stride`.
int aim_try(quantization *q, qdq_graph *graph, const quantize_choice *choice, size_t stride,
            outcome *out);
// True if an outcome reaches the aim.
bool aim_is_reached(const aim *a, const outcome *o);

// Print the lines of text, and write the keys of JSON.
void aim_text(const quantization *q);
void aim_json(qdq_json *json, const quantization *q);

#endif
