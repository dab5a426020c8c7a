// SPDX-License-Identifier: Apache-2.0
// Random graphs of all ops: one seed gives the same graph on every machine.
#ifndef QDQ_TESTS_RANDOM_RANDOM_H
#define QDQ_TESTS_RANDOM_RANDOM_H

#include "include/qdq/qdq.h"
#include "ops/op.h"

//---- Numbers ----------------------------------------------------------------

// splitmix64: any seed will do.
typedef struct random_source {
    uint64_t state;
} random_source;

uint64_t random_next(random_source *r);
// 0 to n - 1; n > 0.
size_t random_below(random_source *r, size_t n);
// True in `percent` of 100 calls.
bool random_in(random_source *r, size_t percent);

// What kind of numbers the elements are.
typedef enum random_taste {
    RANDOM_ODD = 0,  // any number, some of them NaN, infinite or denormal
    RANDOM_EXACT,    // small integers, and scales that are powers of two
} random_taste;

// Writes `count` elements of `dtype` as the API holds them; `fill` is the range that a port wants.
void random_elements(random_source *r, random_taste taste, qdq_dtype dtype, qdq_fill fill,
                     void *out, size_t count);

// Random numerics, of no backend: each field keeps its default in half of all cases.
qdq_numerics random_numerics(random_source *r);

//---- Nodes ------------------------------------------------------------------

enum {
    RANDOM_MAX_PORTS = 16,
    RANDOM_MAX_LIST = 64,
    RANDOM_MAX_LISTS = 16,
    RANDOM_MAX_ATTRS = 1024
};

// The operand of a port of a random node.
typedef struct random_operand {
    qdq_value value;  // a value of the graph; if empty, a new value unless `dtype` is none
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_fill fill;
    bool constant;
    uint64_t seed;  // of the elements of a constant
} random_operand;

// A random node, with everything that its struct points to.
typedef struct random_node {
    const qdq_op *op;
    random_operand operands[RANDOM_MAX_PORTS];
    size_t operand_count;
    _Alignas(16) char attrs[RANDOM_MAX_ATTRS];
    int64_t ints[RANDOM_MAX_LISTS][RANDOM_MAX_LIST];
    float floats[RANDOM_MAX_LISTS][RANDOM_MAX_LIST];
    double numbers[RANDOM_MAX_LISTS][RANDOM_MAX_LIST];
    qdq_value variadic[RANDOM_MAX_PORTS];
} random_node;

typedef struct random_graph random_graph;

// Makes a random node of an op. It may read the values that `g` has so far.
void random_node_make(random_node *node, const qdq_op *op, random_graph *g);

//---- Graphs -----------------------------------------------------------------

enum { RANDOM_MAX_VALUES = 64, RANDOM_MAX_MADE = 256, RANDOM_MAX_ELEMENTS = 4096 };

typedef struct random_input {
    char name[16];
    qdq_dtype dtype;
    size_t count;
    qdq_fill fill;
} random_input;

struct random_graph {
    random_source source;
    random_taste taste;
    qdq_graph *graph;
    qdq_value values[RANDOM_MAX_VALUES];  // those that nodes may read
    size_t value_count;
    random_input inputs[RANDOM_MAX_VALUES];
    size_t input_count, constant_count;
    qdq_value made[RANDOM_MAX_MADE];  // what nodes make, in their order
    size_t made_count;
    bool rounded;
};

// The graph of number `seed`, with 1 to 8 nodes. The ops that it tries last start with op number
// `seed` modulo the number of ops, so consecutive seeds cover all ops. With `broken`, nodes are
// added unchecked; otherwise the graph has no errors. The caller destroys `graph`.
random_graph random_graph_make(uint64_t seed, random_taste taste, bool broken);

// The same valid graph, in which nodes read the float32 results of others after two casts: to
// bfloat16 and back. `made` has the results before the casts.
random_graph random_graph_make_rounded(uint64_t seed, random_taste taste);

#endif
