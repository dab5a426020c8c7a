// SPDX-License-Identifier: Apache-2.0
// The matrix of nodes and targets: what every target says of every node.
#ifndef QDQ_TOOLS_CHECK_MATRIX_H
#define QDQ_TOOLS_CHECK_MATRIX_H

#include "tools/options.h"

// What a target says of a node, from the best to the worst.
typedef enum verdict {
    VERDICT_OK = 0,
    VERDICT_WARNING,
    VERDICT_UNKNOWN,  // its documents do not say whether it has the op
    VERDICT_REFUSED,
} verdict;

const char *verdict_text(verdict v);

// A node, or one that could not be read and is known by its findings only.
typedef struct matrix_row {
    char name[256];
    char op[64];
    bool twice;  // an earlier row has the name
} matrix_row;

typedef struct named_row {
    const char *name;
    size_t row;
} named_row;

typedef struct matrix {
    matrix_row *rows;
    named_row *by_name;    // sorted
    unsigned char *cells;  // [row * targets + target]: a verdict
    size_t count, targets;
    size_t errors, warnings;  // the core's once, and the targets' own
} matrix;

// EXIT_OK, or another exit code after a message; close it in either case. It validates the graph:
// a report that was asked for before is gone.
int matrix_open(matrix *m, qdq_graph *graph, watch *w);
void matrix_close(matrix *m);

// Columns that align. Unless `all`, a count stands for the nodes that are ok everywhere, and where
// many are left those of an op that fare alike share a line. True if a line stands for more than
// one node.
bool matrix_print(const matrix *m, bool all);
void matrix_json(qdq_json *json, const matrix *m);

#endif
