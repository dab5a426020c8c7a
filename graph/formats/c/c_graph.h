// SPDX-License-Identifier: Apache-2.0
// A graph that becomes a C file: the places of its values, and the text so far. c_write.c writes
// the functions of nodes and their calls.
#ifndef QDQ_GRAPH_FORMATS_C_C_GRAPH_H
#define QDQ_GRAPH_FORMATS_C_C_GRAPH_H

#include "graph/formats/c/c_draft.h"
#include "graph/formats/c/c_names.h"
#include "runtime/arena/memory_plan.h"

// The memory in which a call finds a value.
typedef enum qdq_c_place_kind {
    QDQ_C_UNUSED,
    QDQ_C_INPUT,
    QDQ_C_OUTPUT,
    QDQ_C_CONSTANT,
    QDQ_C_ARENA
} qdq_c_place_kind;

typedef struct qdq_c_place {
    qdq_c_place_kind kind;
    size_t number;     // of the input, output or lifetime
    const void *data;  // QDQ_C_CONSTANT
} qdq_c_place;

typedef struct qdq_c_draft {
    qdq_graph *graph;
    qdq_target_version version;
    qdq_mempool *mempool;
    qdq_findings *findings;
    const char *name;
    qdq_c_text steps, calls;
    qdq_c_place *values;
    qdq_c_identifiers given;
    const char **inputs, **outputs;  // C names of the parameters
    bool *reads;                     // by input: a call or a copy reads it
    size_t *input_ids;
    size_t input_count;
    qdq_lifetime *lifetimes;
    size_t lifetime_count;
    size_t *scratch;  // by node: its lifetime, or SIZE_MAX
    qdq_memory_plan plan;
} qdq_c_draft;

qdq_status qdq_c_no_memory(qdq_error *err);

// True if a call computes the node: its results are no constants.
bool qdq_c_is_run(const qdq_c_draft *d, const qdq_node *node);
size_t qdq_c_bytes_of(const qdq_graph *graph, size_t id);

//---- Places (c_places.c) ----------------------------------------------------

// Adds memory of the arena that lives in one step, and returns its number.
size_t qdq_c_add_lifetime(qdq_c_draft *d, size_t step, size_t bytes);
// Places all values: inputs and outputs in parameters, results in the arena. False without memory.
bool qdq_c_place_values(qdq_c_draft *d);

//---- Constants (c_constants.c) ----------------------------------------------

// Computes values that depend on constants alone, by a run whose inputs are zeros.
qdq_status qdq_c_set_constants(qdq_c_draft *d, qdq_error *err);

#endif
