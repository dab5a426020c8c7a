// SPDX-License-Identifier: Apache-2.0
// A cone of a deployed graph, to run on values of the given graph.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_PIECE_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_PIECE_H

#include "tools/deployed.h"
#include "tools/lab/compare/units/node_run.h"

// Called before each node of a cone is computed, with its inputs; NULL: not called.
typedef struct piece_watch {
    void (*before)(void *with, size_t node, void *const *inputs);
    void *with;
} piece_watch;

// An open cone. Outputs are in the order of the unit; an output without an id is left out.
typedef struct piece {
    const deployed *of;
    const node_value *outputs;
    size_t output_count;
    cone cone;
    node_run *runs;  // for each node of the cone
    size_t open;     // number of open runs
    piece_watch watch;
} piece;

// A source of elements: `data` returns the elements of a value of the given graph, or NULL.
typedef struct feed {
    void *(*data)(const void *with, qdq_value value);
    const void *with;
} feed;

// Opens the cone that computes `outputs`, which must outlive the piece. EXIT_OK, or another exit
// code after a message; close it in either case.
int piece_open(piece *p, const deployed *of, const bool *cut, const node_value *outputs,
               size_t count, const qdq_exec_options *exec_options, const char *isa);
void piece_close(piece *p);

// True if the piece computes all outputs, and `from` has all its inputs.
bool piece_can_run(const piece *p, const feed *from);
// Runs the piece with the given numerics for each node of the cone. EXIT_OK, or another exit code
// after a message.
int piece_compute(const piece *p, const qdq_numerics *numerics, const feed *from,
                  void *const *results);

#endif
