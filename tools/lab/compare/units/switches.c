// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/units/switches.h"

#include <stdio.h>
#include <string.h>

// Copies the fields of a group.
static void take(qdq_numerics *out, const qdq_numerics *from, const char *group) {
#define TAKE(field, cause) \
    if (strcmp(cause, group) == 0) out->field = from->field;
    QDQ_NUMERICS_FIELDS(TAKE)
#undef TAKE
}

static bool has_group(const switch_list *list, const char *group) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].group, group) == 0) return true;
    return false;
}

static void add_switch(switch_list *list, const char *name, const char *group,
                       const qdq_numerics *to) {
    if (list->count < MAX_SWITCHES)
        list->items[list->count++] = (numerics_switch){name, group, *to};
}

static bool either(int a, int b, int wanted) { return a == wanted || b == wanted; }

// Adds the switches of the rounding. A rounding with a bias differs from half-up by the bias, and
// half-up from other roundings by its ties, so these are two switches.
static void add_rounding(switch_list *list, const qdq_numerics *a, const qdq_numerics *b) {
    bool truncates = either((int)a->rounding, (int)b->rounding, QDQ_ROUND_TRUNCATE);
    const char *name = truncates ? "truncation" : "tie";
    qdq_numerics half_up = *b;
    half_up.rounding = QDQ_ROUND_HALF_UP;
    if (b->rounding == QDQ_ROUND_HALF_UP_BIASED) {
        add_switch(list, name, "rounding", &half_up);
        add_switch(list, "biased sum", "rounding", b);
    } else if (a->rounding == QDQ_ROUND_HALF_UP_BIASED) {
        add_switch(list, "biased sum", "rounding", &half_up);
        add_switch(list, name, "rounding", b);
    } else {
        add_switch(list, name, "rounding", b);
    }
}

static void add_group(switch_list *list, const qdq_numerics *a, const qdq_numerics *b,
                      const char *group) {
    if (strcmp(group, "rounding") == 0)
        add_rounding(list, a, b);
    else if (strcmp(group, "wrap") == 0 &&
             either((int)a->overflow, (int)b->overflow, QDQ_OVERFLOW_MAGNITUDE) &&
             !either((int)a->overflow, (int)b->overflow, QDQ_OVERFLOW_WRAP))
        add_switch(list, "dropped sign", group, b);
    else
        add_switch(list, group, group, b);
}

// Sets fields that others imply. QDQ_ZERO_POINT_FMA implies the reciprocal and ignores `scaling`;
// setting `scaling` attributes the effect of the reciprocal to the reciprocal, not to the order of
// operations.
static qdq_numerics spelled_out(const qdq_numerics *numerics, bool makes_int) {
    qdq_numerics n = *numerics;
    if (makes_int && n.zero_point_order == QDQ_ZERO_POINT_FMA) n.scaling = QDQ_SCALE_RECIPROCAL;
    return n;
}

switch_list find_switches(const qdq_numerics *a, const qdq_numerics *b, bool makes_int) {
    switch_list list = {.from = spelled_out(a, makes_int)};
    qdq_numerics to = spelled_out(b, makes_int);
#define ADD(field, cause)                                        \
    if (list.from.field != to.field && !has_group(&list, cause)) \
        add_group(&list, &list.from, &to, cause);
    QDQ_NUMERICS_FIELDS(ADD)
#undef ADD
    return list;
}

qdq_numerics switched(const switch_list *list, uint32_t switches) {
    qdq_numerics n = list->from;
    for (size_t i = 0; i < list->count; i++)
        if (switches >> i & 1) take(&n, &list->items[i].to, list->items[i].group);
    return n;
}

//---- Reasons ----------------------------------------------------------------

void add_reason(reason_list *list, const char *name, bool rewrite) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0) return;
    if (list->count == MAX_SWITCHES) return;
    list->names[list->count] = name;
    list->rewrites |= (uint32_t)rewrite << list->count++;
}

uint32_t add_step_reason(reason_list *list, const char *name) {
    size_t before = list->count;
    add_reason(list, name, false);
    for (size_t i = 0; i < list->count; i++) {
        uint32_t reason = UINT32_C(1) << i;
        if (strcmp(list->names[i], name) != 0) continue;
        if (i == before) list->steps |= reason;
        return reason;
    }
    return 0;
}

void add_switch_reasons(reason_list *list, const switch_list *node) {
    for (size_t i = 0; i < node->count; i++) add_reason(list, node->items[i].name, false);
}

uint32_t switches_of_node(const reason_list *list, const switch_list *node, uint32_t reasons) {
    uint32_t switches = 0;
    for (size_t i = 0; i < node->count; i++)
        for (size_t k = 0; k < list->count; k++)
            if ((reasons & ~list->rewrites) >> k & 1 &&
                strcmp(list->names[k], node->items[i].name) == 0)
                switches |= UINT32_C(1) << i;
    return switches;
}

const char *cause_text(const reason_list *list, uint32_t reasons, char *out, size_t capacity) {
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count && at < capacity; i++)
        if (reasons >> i & 1)
            at +=
                (size_t)snprintf(out + at, capacity - at, "%s%s", at ? " + " : "", list->names[i]);
    return out;
}
