// SPDX-License-Identifier: Apache-2.0
// Collects the codings of a graph, and owns the memory that they point to.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CODING_LIST_H
#define QDQ_TOOLS_LAB_QUANTIZE_CODING_LIST_H

#include <qdq/coding.h>
#include <qdq/exec.h>

typedef struct coding_list {
    const qdq_graph *graph;
    qdq_coding *codings;
    size_t count, capacity;
    size_t *first;         // [node]: its first entry in `coded`, which has an entry per input port
    size_t *coded;         // [port]: 1 + the coding that it reads; 0: none
    size_t *of_value;      // [value]: 1 + the coding of an activation; 0: none
    bool *returned;        // [value]: it is an output of the graph
    size_t *maker;         // [value]: the node that computes it; SIZE_MAX: none
    size_t values;         // greater than the number of any value
    size_t *first_reader;  // [value], with an end: its first entry in `readers`
    qdq_node_port *readers;  // of all values, in the order of nodes
    void **owned;
    size_t owned_count, owned_capacity;
    bool failed;  // memory ran out
} coding_list;

// Begins a list for a graph, whose outputs `plan` has. False if memory runs out; release it in
// either case.
bool coding_list_open(coding_list *list, const qdq_graph *graph, const qdq_plan *plan);
void coding_list_release(coding_list *list);

// Allocates zeroed memory that lives as long as the list. NULL if memory runs out, which sets
// `failed`.
void *coding_list_memory(coding_list *list, size_t count, size_t size);
// Adds a coding without readers and returns its number.
size_t coding_list_add(coding_list *list, qdq_coding coding);
// Lets a port read a coding unless it already reads a coding.
void coding_list_read(coding_list *list, size_t coding, size_t node, size_t port);
// Returns the coding that a port reads; NULL: none.
const qdq_coding *coding_list_at(const coding_list *list, size_t node, size_t port);
// Sets the readers of all codings, after the last coding_list_read.
void coding_list_close(coding_list *list);

#endif
