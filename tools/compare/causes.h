// SPDX-License-Identifier: Apache-2.0
// The causes of a difference between two targets: switching one field of the numerics at a time
// shows which field makes the difference vanish. At most four runs for each cause, and 32 more.
#ifndef QDQ_TOOLS_COMPARE_CAUSES_H
#define QDQ_TOOLS_COMPARE_CAUSES_H

#include "tools/compare/node_run.h"

enum { MAX_SWITCHES = 32, MAX_CAUSES = 128 };

// A group of fields that are switched together under one name.
typedef struct numerics_switch {
    const char *name;   // "tie"
    const char *group;  // the fields that QDQ_NUMERICS_FIELDS lists under this cause
    qdq_numerics to;    // holds the new values of these fields
} numerics_switch;

typedef struct switch_list {
    numerics_switch items[MAX_SWITCHES];
    size_t count;
    qdq_numerics from;  // applying all switches of the list to it gives the other numerics
} switch_list;

// The switches that turn numerics `a` of a node into `b`; none if the node is computed the same
// way. `makes_int`: the first output of the node is an integer.
switch_list find_switches(const qdq_numerics *a, const qdq_numerics *b, bool makes_int);

// The elements of a value that differ for one reason.
typedef struct cause {
    uint32_t switches;  // bit i: switch i of the list
    size_t count;
    size_t first;  // index of the first of them
} cause;

// How two targets' results for one value differ.
typedef struct difference {
    size_t elements;
    size_t different;  // NaN equals NaN; zeros of different sign differ
    size_t nan_count;  // how many of these are NaN on one side only
    uint64_t steps;    // the largest distance of the others, in representable values
    cause causes[MAX_CAUSES];
    size_t cause_count;
} difference;

// Counts differences; leaves causes empty.
difference measure_difference(const qdq_tensor_info *info, const void *a, const void *b);

// Finds the causes of all differences between the outputs `a` (made by list->from) and `b` of a
// node, and adds them to diffs[output]. Every element gets a cause: a field that alone turns a's
// element into b's or b's into a's, otherwise the smallest set found. EXIT_OK, or another exit code
// after a message.
int find_causes(const node_run *node, const switch_list *list, void *const *inputs, void *const *a,
                void *const *b, difference *diffs);

// Writes "tie + reciprocal" to `out`.
const char *cause_text(const switch_list *list, uint32_t switches, char *out, size_t capacity);

#endif
