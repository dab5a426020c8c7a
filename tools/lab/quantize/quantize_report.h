// SPDX-License-Identifier: Apache-2.0
// Prints the report of qdq quantize as text or as JSON.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_QUANTIZE_REPORT_H
#define QDQ_TOOLS_LAB_QUANTIZE_QUANTIZE_REPORT_H

#include "tools/lab/compare/noise.h"
#include "tools/lab/quantize/aim.h"
#include "tools/lab/quantize/equalization.h"
#include "tools/lab/quantize/places.h"
#include "tools/session.h"

// A graph before and after quantizing.
typedef struct quantization {
    const options *opt;
    const struct quantize_options *own;
    const char *target;
    quantize_choice choice;
    bool *kept;       // of the choice
    session session;  // the float graph as target core
    state state;      // its statistics
    coding_list list;
    node_fate *fates;
    qdq_graph *graph;      // that is quantized: of the session, or `equalized`
    qdq_graph *equalized;  // NULL: not changed
    qdq_graph *quantized;
    equalization equalization;
    noise *noises;  // noise of the results of nodes, then of the outputs
    size_t noise_count;
    const char **outputs;  // names
    size_t output_count;
    size_t float_errors;       // errors that the target finds in `graph`
    const qdq_report *report;  // findings about `quantized`
    aim aim;
    struct corrections *corrections;  // NULL without --correct
} quantization;

// True if a node is listed: its operands are codes, or the target could have read codes.
bool is_listed(const quantization *q, size_t node);

void quantization_text(const quantization *q);
// Writes the report as JSON. `writes`: the graph is written to a file.
void quantization_json(const quantization *q, bool writes);

#endif
