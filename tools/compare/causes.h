// SPDX-License-Identifier: Apache-2.0
// Why two targets give different elements: one field of the numerics is switched at a time, and a
// difference that this makes vanish comes from that field.
#ifndef QDQ_TOOLS_COMPARE_CAUSES_H
#define QDQ_TOOLS_COMPARE_CAUSES_H

#include "tools/compare/node_run.h"

enum { MAX_SWITCHES = 32, MAX_CAUSES = 128 };

// What can be switched from one numerics to another, under one name.
typedef struct numerics_switch {
    const char *name;   // "tie"
    const char *group;  // the fields that QDQ_NUMERICS_FIELDS lists under this cause are switched
    qdq_numerics to;    // to the values that they have here
} numerics_switch;

typedef struct switch_list {
    numerics_switch items[MAX_SWITCHES];
    size_t count;
    qdq_numerics from;  // with all switches of the list it becomes the other numerics
} switch_list;

// What turns the numerics `a` of a node into `b`; nothing where the node is computed the same way.
// `makes_int`: the first output of the node is an integer.
switch_list find_switches(const qdq_numerics *a, const qdq_numerics *b, bool makes_int);

// The elements of a value that differ for one reason.
typedef struct cause {
    uint32_t switches;  // bit i: number i of the list
    size_t count;
    size_t first;  // the first of them
} cause;

// How the results of two targets for one value differ.
typedef struct difference {
    size_t elements;
    size_t different;  // NaN equals NaN; zeros of different sign differ
    size_t nan_count;  // of these: NaN on one side alone
    uint64_t steps;    // the largest distance of the others, in values of the dtype
    cause causes[MAX_CAUSES];
    size_t cause_count;
} difference;

// Counts; causes are left out.
difference measure_difference(const qdq_tensor_info *info, const void *a, const void *b);

// Finds the causes of all differences between the outputs `a` (made by list->from) and `b` of a
// node, and adds them to diffs[output]. Every element gets one: a field that alone gives b's
// element from a's numerics, or a's from b's; else the smallest set found. EXIT_OK, or another exit
// code after a message.
int find_causes(const node_run *node, const switch_list *list, void *const *inputs, void *const *a,
                void *const *b, difference *diffs);

// "tie + reciprocal" in `out`.
const char *cause_text(const switch_list *list, uint32_t switches, char *out, size_t capacity);

#endif
