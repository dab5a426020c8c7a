// SPDX-License-Identifier: Apache-2.0
// Sizes that a graph leaves free: a dim of inputs has one size in the graph, but its nodes fit
// other sizes too. The reader of ONNX models proves it by reading the model with other sizes, and
// the writer by inferring the types again with them.
#ifndef QDQ_GRAPH_CORE_FREE_SIZES_H
#define QDQ_GRAPH_CORE_FREE_SIZES_H

#include "graph/core/graph.h"

enum {
    QDQ_MOST_FREE = 6,  // sizes left free; further ones are fixed
    // The sizes of the graph; two sets of others; 1 for first dims; 1 for all. The last two are
    // left out of `free_trials` of a graph whose model does not take them.
    QDQ_FREE_TRIALS = 5,
    QDQ_FREE_ALWAYS = 3,
};

// A dim of an input.
typedef struct qdq_free_place {
    const char *input;  // its name in the graph
    int dim;
} qdq_free_place;

// The size of a dim that the model leaves open.
typedef struct qdq_free_size {
    const char *name;      // of the dim in the model; "": it has none
    int64_t size;          // in the graph
    const char *fixed_by;  // why the graph fits no other size; NULL: it may fit any
    size_t group;          // number of the first size of those that are equal and change together
    const qdq_free_place *places;
    size_t place_count;
} qdq_free_size;

// An entry of a list of sizes: free size number `free` - 1, or, if `free` is 0, a number.
typedef struct qdq_size_entry {
    int64_t number;
    unsigned free;
} qdq_size_entry;

typedef struct qdq_size_list {
    const qdq_size_entry *entries;
    size_t count;
    const void *elements;  // that a constant repeats along free dims; NULL: the list of a node
} qdq_size_list;

// Returns size `index` in a trial; trial 0, and one that is left out, has the sizes of the graph.
// Trials 1 and 2 multiply each size by another prime.
int64_t qdq_free_size_in(const qdq_graph *graph, size_t index, int trial);

// Returns the attribute of an op that may have a free list; NULL: none.
const qdq_attr_desc *qdq_free_list_attr(const qdq_op *op);

// Copy sizes and lists to another graph, which begins without them.
void qdq_copy_free_sizes(qdq_graph *to, const qdq_graph *from);
const qdq_size_list *qdq_copy_free_list(qdq_graph *to, const qdq_size_list *list);
// The same for a constant of the other graph, which the list was copied to as `to`.
void qdq_copy_free_dims(qdq_graph *graph, qdq_graph_value *to, const qdq_size_list *list);

// Returns the dims of the elements that a constant repeats: 1 in place of free sizes.
qdq_shape qdq_repeated_shape(const qdq_size_list *list);
// Returns the repeated element that element `at` of a constant with these dims equals.
size_t qdq_repeated_index(const qdq_size_list *list, qdq_shape shape, size_t at);
// Takes the elements that a constant in memory repeats. False when memory runs out.
bool qdq_take_repeated(qdq_mempool *mempool, const qdq_graph_value *constant, qdq_size_list *list);

// Counts the lists of nodes and constants that outputs need. False when memory runs out.
bool qdq_count_free_lists(const qdq_graph *graph, qdq_mempool *mempool, size_t *count);

// Sets *out to the graph in which the `open` dims have the sizes of a trial. It shares all but
// types and lists with `graph`, and lives as long as `mempool`; nothing may be added to it. False
// if memory runs out, or if the graph does not fit; then *misfit is the node that does not, or
// NULL: a node or constant with a list was replaced. Trial 0 fits if all types stay.
bool qdq_resized_graph(const qdq_graph *graph, int trial, const bool *open, qdq_mempool *mempool,
                       qdq_findings *findings, qdq_graph *out, const qdq_node **misfit);

#endif
