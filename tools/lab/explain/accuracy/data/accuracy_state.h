// SPDX-License-Identifier: Apache-2.0
// The state of qdq explain over a data set: sums of the errors of nodes and outputs, and of what
// each pair does to each output.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_ACCURACY_STATE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_ACCURACY_STATE_H

#include "tools/lab/dataset/kinds.h"
#include "tools/lab/explain/accuracy/accuracy.h"

// Columns of the table of nodes whose first output is a float.
typedef enum node_column {
    NODE_NAME,
    NODE_OP,
    NODE_CODES_OF,  // the Quantize whose codes a Dequantize reads; "": none
    NODE_KIND,      // a name of accuracy_kind_names; "": weights that the float model lacks
    NODE_CAUSE,     // why it loses accuracy and a mend, if the graph tells; "": unknown
    NODE_MEND,
    NODE_KEEP,        // of a pair: the options that leave in float the nodes that read it
    NODE_COUNTS,      // elements, elements beyond the range of the codes
    NODE_CODES,       // number of codes (0: none); the least and the greatest that occurs
    NODE_PARAMETERS,  // a node_parameter each
    NODE_TRUTHS,      // sum of squares of the float model's elements
    NODE_EXACTS,      // sum of squares of results on exact inputs
    NODE_OWN_NOISES,  // sums of squares of errors, as in node_accuracy
    NODE_INHERITED_NOISES,
    NODE_TOTAL_NOISES,
    NODE_COLUMNS,
} node_column;

typedef enum node_parameter {
    PARAMETER_SCALE,  // 0: several, or one that samples change
    PARAMETER_ZERO,
    PARAMETER_LEAST,  // code
    PARAMETER_GREATEST,
    PARAMETER_WIDTH,
} node_parameter;

// Columns of the table of outputs. Effects are measured on the first samples of the data, by index,
// so that all shards agree on them, and `without` on the first of these.
typedef enum output_column {
    OUTPUT_NAME,
    OUTPUT_KNOWN,   // "yes" if both graphs have it with the same type
    OUTPUT_COUNTS,  // an output_count each
    OUTPUT_RATIOS,  // of samples: a ratio histogram
    OUTPUT_SIGNALS,
    OUTPUT_NOISES,
    OUTPUT_EFFECT_SIGNALS,  // on samples of effects: as before, and sums of squares of the graph
    OUTPUT_EFFECT_NOISES,   // as written
    OUTPUT_WRITTEN_SIGNALS,
    OUTPUT_WITHOUT_SIGNALS,  // on samples of `without`
    OUTPUT_WITHOUT_NOISES,
    OUTPUT_COLUMNS,
} output_column;

// Samples are entries of the output's first dim, except of the data.
typedef enum output_count {
    COUNT_SAMPLES,
    COUNT_ALIKE,         // samples that decide alike
    COUNT_DATA_EFFECTS,  // samples of the data with effects, and with `without`
    COUNT_DATA_WITHOUT,
    OUTPUT_COUNT_WIDTH,
} output_count;

// Columns of the table of effects, which has a row for each pair and group and, within these, for
// each output that both graphs have.
typedef enum effect_column {
    EFFECT_NODE,
    EFFECT_OUTPUT,
    EFFECT_COUNTS,  // an effect_count each
    EFFECT_NOISES,
    EFFECT_WITHOUT_NOISES,
    EFFECT_COLUMNS,
} effect_column;

typedef enum effect_count {
    EFFECT_ALONE_SAMPLES,
    EFFECT_ALIKE,  // samples that decide alike if the pair rounds alone
    EFFECT_WITHOUT_SAMPLES,
    EFFECT_COUNT_WIDTH,
} effect_count;

enum { TABLE_NODES, TABLE_OUTPUTS, TABLE_EFFECTS, TABLE_CHANNELS, TABLE_LABELS };
enum {
    EFFECT_SAMPLES = 64,
    LEAST_WITHOUT = 4,
    MOST_EFFECTS = 65536,  // rows of the table of effects, of 2,168 bytes
};

// True for the rows of nodes that have rows in the table of effects.
bool has_effect(const node_accuracy *row);

// Prints the report of a state. EXIT_FINDINGS if an output differs from the float model's, EXIT_OK,
// or another exit code after a message.
int explain_report(const state *s, const options *opt);

#endif
