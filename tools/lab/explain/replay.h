// SPDX-License-Identifier: Apache-2.0
// Runs the graph of a target node by node. Each node reads the given values of its inputs if known,
// so that a difference shows at the node that causes it.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_REPLAY_H
#define QDQ_TOOLS_LAB_EXPLAIN_REPLAY_H

#include "runtime/base/budget.h"
#include "tools/deployed.h"
#include "tools/lab/compare/units/node_run.h"
#include "tools/lab/explain/given.h"

typedef struct replay_node {
    node_run run;
    qdq_numerics numerics;  // numerics of the target
    node_program program;   // without an exec if no memory is left for it
    size_t bytes;           // bytes of the program
} replay_node;

typedef struct replay {
    const given_values *given;
    qdq_exec_options exec_options;
    const char *isa;
    const qdq_budget *memory;
    size_t programs;  // bytes left for programs
    const char *target;
    deployed form;
    replay_node *nodes;
    size_t node_count, open;
    void **computed;     // [value of the form]: result of its node; owned
    void **used;         // [value of the form]: elements that nodes read
    void **changed;      // [value of the form], for replay_change; all NULL between calls
    void **shifted;      // [value of the form]: given codes plus an offset; owned
    node_value *values;  // [value of the form]; id 0: no node reads or writes it
    size_t *last;        // [value of the form]: the last node that reads it; 0: none
} replay;

// Opens the graph that `target` runs, with memory for all results. Sets `err` on failure; close it
// in either case.
qdq_status replay_open(replay *r, qdq_graph *graph, const char *target, const given_values *given,
                       const qdq_exec_options *exec_options, const options *opt, qdq_error *err);
// True if memory is left for a second copy of all results; otherwise sets `err`.
bool replay_has_room(const replay *r, qdq_error *err);
// Compiles and runs all nodes. Call it once.
qdq_status replay_run(replay *r, qdq_error *err);
// Frees programs. Nodes that run later are compiled again.
void replay_drop_programs(replay *r);
void replay_close(replay *r);
// Runs all nodes again, after elements of the given values or inputs have changed in place. The
// memory of all elements stays in place.
qdq_status replay_again(replay *r, qdq_error *err);

// Returns the given elements for a value of the form, in its codes; NULL: not given.
const void *replay_given(const replay *r, qdq_value value);
// Returns the value of the given graph that a value of the form stands for.
qdq_value replay_source(const replay *r, qdq_value value);

// Counts of elements that differ from the given values.
typedef struct replay_left {
    size_t first;  // in the first value that differs without a change
    size_t all;    // in all values
    bool changes;  // a result of the graph has changed
} replay_left;

// Counts the elements that differ without a change. `first`: a value of the form.
replay_left replay_difference(const replay *r, qdq_value first);
// Computes nodes behind the first changed node. False for a node that is to be computed as before.
typedef struct replay_changer {
    bool (*run)(void *with, size_t node, void *const *outputs);
    void *with;
} replay_changer;

// Counts the elements that differ if node `node` computes `outputs`, of replay_outputs, whose
// ownership it takes. `others`: changes later nodes; NULL: none.
qdq_status replay_change(replay *r, size_t node, void **outputs, const replay_changer *others,
                         qdq_value first, replay_left *out, qdq_error *err);

// Returns the number of elements that differ from the given elements of a value of the form; 0 if
// it is not given.
size_t replay_count(const replay *r, qdq_value value, const void *data);

// True if another target computes every given value. Holds few results at once.
bool replay_gives(qdq_graph *graph, const char *target, const replay *like, const options *opt,
                  qdq_error *err);

// Runs a node on the elements in `used`, or on changed elements.
qdq_status replay_run_node(const replay *r, size_t node, void *const *outputs, qdq_error *err);
// Frees the entries of `elements`, [value of the form], that no node after `node` reads.
void replay_drop_ended(const replay *r, size_t node, void **elements);
qdq_status replay_no_memory(qdq_error *err);
// Runs a node on other elements.
qdq_status replay_compute(const replay *r, size_t node, void *const *inputs, void *const *outputs,
                          qdq_error *err);

// Returns the elements that a node reads for a value: changed elements during replay_change.
void *replay_read(const replay *r, qdq_value value);

// Allocates memory for the outputs of a node; NULL if memory runs out.
void **replay_outputs(const replay *r, size_t node);
void replay_free_outputs(const replay *r, size_t node, void **outputs);

#endif
