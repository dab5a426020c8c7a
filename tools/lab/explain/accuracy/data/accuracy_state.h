// SPDX-License-Identifier: Apache-2.0
// The state of qdq explain over a data set: sums of the errors of nodes and outputs.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_ACCURACY_STATE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_ACCURACY_STATE_H

#include "tools/lab/dataset/kinds.h"

// Columns of the table of nodes whose first output is a float.
typedef enum node_column {
    NODE_NAME,
    NODE_OP,
    NODE_CODES_OF,    // the Quantize whose codes a Dequantize reads; "": none
    NODE_KIND,        // a name of accuracy_kind_names; "": weights that the float model lacks
    NODE_COUNTS,      // elements, elements beyond the range of the codes
    NODE_CODES,       // number of codes (0: none); the least and the greatest that occurs
    NODE_TRUTHS,      // sum of squares of the float model's elements
    NODE_EXACTS,      // sum of squares of results on exact inputs
    NODE_OWN_NOISES,  // sums of squares of errors, as in node_accuracy
    NODE_INHERITED_NOISES,
    NODE_TOTAL_NOISES,
    NODE_COLUMNS,
} node_column;

// Columns of the table of outputs.
typedef enum output_column {
    OUTPUT_NAME,
    OUTPUT_KNOWN,   // "yes" if both graphs have it with the same type
    OUTPUT_COUNTS,  // an output_count each
    OUTPUT_RATIOS,  // of samples: a ratio histogram
    OUTPUT_SIGNALS,
    OUTPUT_NOISES,
    OUTPUT_COLUMNS,
} output_column;

// Samples are entries of the output's first dim.
typedef enum output_count {
    COUNT_SAMPLES,
    COUNT_ALIKE,  // samples that decide alike
    OUTPUT_COUNT_WIDTH,
} output_count;

// Prints the report of a state. EXIT_FINDINGS if an output differs from the float model's, EXIT_OK,
// or another exit code after a message.
int explain_report(const state *s, const options *opt);

#endif
