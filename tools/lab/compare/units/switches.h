// SPDX-License-Identifier: Apache-2.0
// What two targets may compute differently: fields of the numerics, switched one group at a time,
// and rewrites of the graph.
#ifndef QDQ_TOOLS_COMPARE_UNITS_SWITCHES_H
#define QDQ_TOOLS_COMPARE_UNITS_SWITCHES_H

#include <qdq/numerics.h>

enum { MAX_SWITCHES = 32 };

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
// The numerics with some of the switches; bit i is switch i.
qdq_numerics switched(const switch_list *list, uint32_t switches);

// The reasons for which two targets may differ at a unit of nodes. Bit i of a set is reason i.
typedef struct reason_list {
    const char *names[MAX_SWITCHES];
    size_t count;
    uint32_t rewrites;  // which of them are causes of rewrites; the others are switches of nodes
} reason_list;

// Adds a reason, once.
void add_reason(reason_list *list, const char *name, bool rewrite);
void add_switch_reasons(reason_list *list, const switch_list *node);
// The switches of a node that belong to a set of reasons.
uint32_t switches_of_node(const reason_list *list, const switch_list *node, uint32_t reasons);

// Writes "tie + reciprocal" to `out`.
const char *cause_text(const reason_list *list, uint32_t reasons, char *out, size_t capacity);

#endif
