// SPDX-License-Identifier: Apache-2.0
// A search for the mistake of a node. Each file of this folder tries a kind of mistakes.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_MISTAKES_TRIAL_H
#define QDQ_TOOLS_LAB_EXPLAIN_MISTAKES_TRIAL_H

#include "tools/lab/explain/mistakes.h"
#include "tools/lab/explain/mistakes/parameter_pool.h"

typedef struct mistake_trial {
    node_document *d;
    const parameter_pool *pool;
    const parameter_list *list;  // scales and zero points of the node
    const mistake_taker *taker;
    double *values;  // room for the parameters of any port
    bool stopped;
} mistake_trial;

// Begins a document without changes. False if the search has stopped.
bool trial_begin(mistake_trial *t);
// Passes the changed document to the taker.
void trial_take(mistake_trial *t, const char *cause, const char *detail);
// Passes the changed document to the taker, with the numerics of the variant, its changes, and
// the way from its output to the node's.
void trial_take_variant(mistake_trial *t, variant *v);
// Tries t->values in place of a parameter.
void trial_values(mistake_trial *t, const parameter *p, const char *cause, const char *detail);
// The same, as so many changes.
void trial_values_of(mistake_trial *t, const parameter *p, const char *cause, const char *detail,
                     int changes);
// Fills t->values.
void trial_fill(mistake_trial *t, size_t count, double value);

// An input of the node with its elements.
typedef struct trial_elements {
    const char *port;
    qdq_dtype dtype;
    qdq_shape shape;
    const void *data;
} trial_elements;

// Finds the elements at an input port. False for a scale, a zero point, a single element and a port
// without a value.
bool trial_input(const mistake_trial *t, size_t port, trial_elements *out);

// Returns the only output of the node.
const node_value *trial_output(const mistake_trial *t);
// True if the node's op has an attribute of this type.
bool trial_has_attr(const mistake_trial *t, const char *attr, const char *type);
// Returns the index of the node's op.
size_t trial_op(const mistake_trial *t);

//---- Kinds of mistakes ------------------------------------------------------

void try_axes(mistake_trial *t);
void try_blocks(mistake_trial *t);
void try_rescaling(mistake_trial *t);
void try_borders(mistake_trial *t);
void try_early_clamps(mistake_trial *t);
void try_scales(mistake_trial *t);
void try_zero_points(mistake_trial *t);
void try_zero_pairs(mistake_trial *t);
void try_exchanged_parameters(mistake_trial *t);
void try_fitted_parameters(mistake_trial *t);
void try_swapped_inputs(mistake_trial *t);
void try_transposed(mistake_trial *t);
void try_attributes(mistake_trial *t);
void try_dropped_inputs(mistake_trial *t);
void try_code_formats(mistake_trial *t);
void try_layouts(mistake_trial *t);
void try_skipped_node(mistake_trial *t);
void try_other_ops(mistake_trial *t);
void try_as_targets(mistake_trial *t);
void try_moved_parameters(mistake_trial *t);

#endif
