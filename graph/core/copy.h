// SPDX-License-Identifier: Apache-2.0
// Copies values and nodes from one graph to another.
#ifndef QDQ_GRAPH_CORE_COPY_H
#define QDQ_GRAPH_CORE_COPY_H

#include "graph/core/graph.h"

// Gives a graph the own target of another one.
void qdq_copy_own_target(qdq_graph *to, const qdq_graph *from);

// Returns a graph without values, with the name, the file and the options of `like`. NULL: no
// memory.
qdq_graph *qdq_copy_empty(const qdq_graph *like);

// Returns a name for something new in a copy: `stem` and `ending` if that is free in both graphs,
// else with a number. NULL: no memory.
const char *qdq_copy_name(qdq_mempool *mempool, const qdq_graph *from, const qdq_graph *to,
                          const char *stem, const char *ending);

// Adds a constant as it is, and any other value as an input.
qdq_value qdq_copy_given(qdq_graph *to, const char *name, const qdq_graph_value *from);

// Adds `node` with `inputs`, a value of `to` for each of its inputs, and returns its first output.
// Attributes that name a value of the other graph are left out. `name` NULL: the node's own.
qdq_value qdq_copy_node(qdq_graph *to, const qdq_node *node, const char *name,
                        const qdq_value *inputs);

// The same with the node's own name and its name in the model. Sets copies[id] for each of its
// outputs, by ids of the other graph. False if it cannot be added.
bool qdq_copy_whole_node(qdq_graph *to, const qdq_node *node, const qdq_value *inputs,
                         qdq_value *copies);

// Copies the states of a graph to one with the same inputs and outputs by name.
void qdq_copy_states(qdq_graph *to, const qdq_graph *from);

// Returns for each input of the node the first input that reads the same value; NULL: no memory.
size_t *qdq_first_reads(qdq_mempool *mempool, const qdq_node *node);

#endif
