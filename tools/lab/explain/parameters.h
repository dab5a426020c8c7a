// SPDX-License-Identifier: Apache-2.0
// Reads and changes the scales and zero points of a node, in attributes or at ports.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_PARAMETERS_H
#define QDQ_TOOLS_LAB_EXPLAIN_PARAMETERS_H

#include "tools/lab/explain/node_document.h"

// A scale or a zero point. It may have no values: a node without zero points, a sum without scales.
typedef struct parameter {
    char attr[48], port[48];  // `attr` is "" if the op has no such attribute
    double *values;           // owned
    size_t count;
} parameter;

typedef struct parameter_pair {
    parameter scale, zero;
} parameter_pair;

enum { MOST_PAIRS = 4 };

typedef struct parameter_list {
    parameter_pair pairs[MOST_PAIRS];
    size_t count;
} parameter_list;

parameter_list parameters_of(const node_document *d);
void parameters_release(parameter_list *list);

// Changes a parameter of the document to as many other numbers as it has, or to a single number if
// it has none.
bool parameter_set(node_document *d, const parameter *p, const double *values);

#endif
