// SPDX-License-Identifier: Apache-2.0
// Runs the graph of a target node by node. Each node reads what the device gave for its inputs
// where this is known, so that a difference shows at the node that makes it.
#ifndef QDQ_TOOLS_EXPLAIN_REPLAY_H
#define QDQ_TOOLS_EXPLAIN_REPLAY_H

#include "tools/deployed.h"
#include "tools/lab/compare/units/node_run.h"
#include "tools/lab/explain/given.h"

typedef struct replay_node {
    node_run run;
    qdq_numerics numerics;  // of the target
    node_program program;   // without an exec if there is no room to keep it
    size_t bytes;           // that the program takes
} replay_node;

typedef struct replay {
    const given_values *given;
    qdq_exec_options exec_options;
    const char *isa;
    const qdq_budget *memory;
    size_t programs;  // bytes that are left for programs
    const char *target;
    deployed form;
    replay_node *nodes;
    size_t node_count, open;
    void **computed;     // [value of the form]: what its node makes; owned
    void **used;         // [value of the form]: what nodes read
    void **changed;      // [value of the form], for replay_change; all NULL between calls
    void **shifted;      // [value of the form]: the device's, with an offset added to codes; owned
    node_value *values;  // [value of the form]; id 0: no node reads or makes it
    size_t *last;        // [value of the form]: the last node that reads it; 0: none
} replay;

// Opens the graph that `target` runs, with memory for all results. Says why not in `err`; close it
// in either case.
qdq_status replay_open(replay *r, qdq_graph *graph, const char *target, const given_values *given,
                       const qdq_exec_options *exec_options, const options *opt, qdq_error *err);
// True if there is room for the results of all nodes once more. Otherwise sets `err`.
bool replay_has_room(const replay *r, qdq_error *err);
// Compiles and runs its nodes, once.
qdq_status replay_run(replay *r, qdq_error *err);
// Frees programs. Nodes that run again are compiled again.
void replay_drop_programs(replay *r);
void replay_close(replay *r);
// Runs it once more, after elements of the given values or inputs have changed in place. The memory
// of all elements stays where it is.
qdq_status replay_again(replay *r, qdq_error *err);

// The device's elements for a value of the form, in its codes; NULL: not given.
const void *replay_given(const replay *r, qdq_value value);
// The value of the given graph that a value of the form stands for.
qdq_value replay_source(const replay *r, qdq_value value);

// Elements of values of the given graph that differ from the device's.
typedef struct replay_left {
    size_t first;  // of the first value that differs in the graph itself
    size_t all;    // of all values
    bool changes;  // a result of the graph changed
} replay_left;

// What differs in the graph itself. `first`: a value of the form.
replay_left replay_difference(const replay *r, qdq_value first);
// What nodes after the first changed one make: false if they are computed as ever.
typedef struct replay_changer {
    bool (*run)(void *with, size_t node, void *const *outputs);
    void *with;
} replay_changer;

// What differs if node `node` makes `outputs`, of replay_outputs, which it takes. `others`: what
// else is changed; NULL: nothing.
qdq_status replay_change(replay *r, size_t node, void **outputs, const replay_changer *others,
                         qdq_value first, replay_left *out, qdq_error *err);

// How many elements of a value of the form differ from the device's; 0 if it did not give them.
size_t replay_count(const replay *r, qdq_value value, const void *data);

// True if each value that the device gave is what another target makes. Holds few results at once.
bool replay_gives(qdq_graph *graph, const char *target, const replay *like, const options *opt,
                  qdq_error *err);

// Runs a node on what is used, or on changed values.
qdq_status replay_run_node(const replay *r, size_t node, void *const *outputs, qdq_error *err);
// Frees elements, [value of the form], that no node after `node` reads.
void replay_drop_ended(const replay *r, size_t node, void **elements);
qdq_status replay_no_memory(qdq_error *err);
// Runs a node on any elements.
qdq_status replay_compute(const replay *r, size_t node, void *const *inputs, void *const *outputs,
                          qdq_error *err);

// The elements that a node reads for a value: changed ones during replay_change.
void *replay_read(const replay *r, qdq_value value);

// Memory for the outputs of a node; NULL: there is none.
void **replay_outputs(const replay *r, size_t node);
void replay_free_outputs(const replay *r, size_t node, void **outputs);

#endif
