// SPDX-License-Identifier: Apache-2.0
// Measures where a quantized graph loses accuracy: the error that each node adds, and the error
// that it inherits from its inputs.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ACCURACY_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ACCURACY_H

#include "tools/lab/explain/accuracy/channels.h"
#include "tools/lab/explain/accuracy/reference.h"
#include "tools/session.h"

typedef enum accuracy_kind {
    KIND_ACTIVATIONS,
    KIND_WEIGHTS,
    KIND_OPERATION,
    KIND_GROUP,  // a node that a target runs in place of several
    ACCURACY_KINDS
} accuracy_kind;
extern const char *const accuracy_kind_names[ACCURACY_KINDS];

// The error of a node's first result. Ratios are in decibels, infinite without an error.
typedef struct node_accuracy {
    const char *name, *op;
    const char *codes_of;  // the Quantize whose codes a Dequantize reads; "": none
    size_t node;           // index in the form
    accuracy_kind kind;
    bool unmatched;    // weights that the float model lacks; such rows are not measured
    double own;        // of the result on exact inputs, against the float model
    double inherited;  // of the result on the graph's inputs, against the result on exact inputs
    double total;      // of the result on the graph's inputs, against the float model
    // For the output that suffers most; NaN: not measured (effect.h).
    double effect;   // of the output when only this pair rounds; of a group: when all nodes run as
                     // written but this group, against all as written
    double without;  // of the output when all pairs round but this one
    double alike;    // share of samples that decide alike with the effect and without
    size_t samples;  // of the outputs
    double halves[2];  // `effect` of samples with an even and with an odd index
    // The following fields are for a Dequantize.
    bool has_codes;
    size_t elements, clipped;   // elements, and elements beyond the range of the codes
    double codes, unused;       // number of codes, and of codes beyond all that occur, or NaN
    char cause[32], mend[384];  // only for the worst nodes
    double mended;              // `effect` with the mend; NaN: not known
    channel_ranges channels;    // of pairs with a cause; owned by the accuracy
} node_accuracy;

typedef struct output_accuracy {
    const char *name;
    double ratio;
    double median, alike;  // the median sample's ratio, the share of samples that decide alike; NaN
                           // if not measured
    bool known;            // both graphs have it, with the same type
} output_accuracy;

// The ratio of the worst output with the pairs of the greatest effect in float.
typedef struct curve_point {
    size_t pairs;
    double ratio;
} curve_point;

enum { MOST_POINTS = 40 };

typedef struct accuracy {
    node_accuracy *nodes;  // in the order of the graph; owned
    size_t count;
    size_t unmatched;          // weights that the float model lacks
    output_accuracy *outputs;  // owned
    size_t output_count;
    double together;  // ratio of the worst output, on the samples of `summed`; NaN: unknown
    double summed;    // the same with the errors of single pairs added
    // For a data set: how many of its samples have effects, how many `without`, and the ratio of
    // the worst output on the latter. 0: a single run.
    size_t effect_samples, without_samples;
    double together_without;
    curve_point curve[MOST_POINTS];
    size_t curve_count;
} accuracy;

// The two graphs. An accuracy borrows their names.
typedef struct accuracy_graphs {
    const session *quantized, *real;
} accuracy_graphs;

// The nodes as the graph has them, and as the target runs them: the same reference for a target
// that rewrites nothing.
typedef struct accuracy_forms {
    const reference *written, *deployed;
} accuracy_forms;

enum {
    WORST_NODES = 10,
    WITHOUT_NODES = 20,  // pairs whose `without` is measured
};

// Measures pairs as written, and other nodes and outputs as deployed, and looks for causes of the
// `worst` nodes of each kind and of the pairs and groups with the greatest effect. EXIT_OK,
// or another exit code after a message; release it in either case.
int accuracy_measure(const accuracy_forms *forms, const accuracy_graphs *graphs, size_t worst,
                     accuracy *out);
void accuracy_release(accuracy *a);

// Writes the indices of the nodes of a kind whose own error is not 0 to `out`, worst first, at most
// `most`. Returns their number.
size_t accuracy_worst(const accuracy *a, accuracy_kind kind, size_t *out, size_t most);

// The same for pairs and groups whose effect is not 0, whatever their kind, worst effect first.
size_t accuracy_by_effect(const accuracy *a, size_t *out, size_t most);

// Returns how many codes lie beyond the range of those that occur; NaN for dtypes of more than 16
// bits, of which no tensor uses a large part.
double codes_unused(double codes, double used);

// Lists the rows of a report in its order, without errors: pairs as written, and other nodes and
// groups as deployed. `out` has room for the nodes of both forms. Returns the number of rows.
size_t accuracy_rows(const accuracy_forms *forms, node_accuracy *out);
// Returns the form that has the node of a row.
const reference *row_reference(const accuracy_forms *forms, const node_accuracy *row);

// The elements of an output in both graphs.
typedef struct output_data {
    const void *quantized, *real;
    qdq_value value;  // of the form of the quantized graph
    qdq_dtype dtypes[2];
    qdq_shape shape;
    size_t count;
} output_data;
bool find_output(const accuracy_graphs *graphs, const reference *ref, size_t index,
                 output_data *out);

// Converts elements to numbers of elements_take. NULL for NULL, or if memory runs out.
double *numbers_of(const replay *r, const node_value *v, const void *data);

// Returns 10 log10(sum of a^2 / sum of (a - b)^2).
double decibels(const double *a, const double *b, size_t count);

#endif
