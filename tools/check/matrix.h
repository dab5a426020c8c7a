// SPDX-License-Identifier: Apache-2.0
// The matrix of nodes and targets: the verdict of every target about every node.
#ifndef QDQ_TOOLS_CHECK_MATRIX_H
#define QDQ_TOOLS_CHECK_MATRIX_H

#include <qdq/graph.h>

#include "runtime/base/json_writer.h"

typedef struct options options;

// A target's verdict about a node, from best to worst.
typedef enum verdict {
    VERDICT_OK = 0,
    VERDICT_WARNING,
    VERDICT_UNKNOWN,    // its documents do not mention the op
    VERDICT_UNCHECKED,  // errors at other nodes kept rules from being checked
    VERDICT_REFUSED,
} verdict;

const char *verdict_text(verdict v);

// A node of the graph, or a node that could not be read and exists only in findings.
typedef struct matrix_row {
    const char *name, *op;  // the matrix owns them if the node exists only in findings
    const char *original;   // in the file of the graph; NULL: the node exists only in findings
    bool twice;             // an earlier row has the same name
} matrix_row;

typedef struct named_row {
    const char *name;
    size_t row;
} named_row;

typedef struct matrix_column {
    size_t findings;      // of the target's own rules, and those the report left out
    size_t nodes, exact;  // that the target runs, and those whose bits are exact; 0 if it refuses
} matrix_column;

typedef struct matrix {
    matrix_row *rows;
    named_row *by_name;    // sorted by name
    unsigned char *cells;  // [row * targets + target]: a verdict
    size_t count, targets;
    size_t nodes;             // the first rows, which are nodes of the graph
    size_t errors, warnings;  // the core's counted once, plus each target's own
    matrix_column *columns;   // per target
    bool unchecked;           // some verdict is VERDICT_UNCHECKED
} matrix;

// Validates the graph against every target, which invalidates any earlier report. EXIT_OK, or
// another exit code after a message; close it in either case.
int matrix_open(matrix *m, qdq_graph *graph, const options *opt);
void matrix_close(matrix *m);

// Prints aligned columns. Unless `all`, nodes that are ok everywhere are only counted, and if many
// nodes are left, nodes of one op with the same verdicts share a line. True if a line stands for
// several nodes.
bool matrix_print(const matrix *m, bool all);
void matrix_json(qdq_json *json, const matrix *m);

#endif
