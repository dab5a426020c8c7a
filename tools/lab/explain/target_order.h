// SPDX-License-Identifier: Apache-2.0
// The order in which targets are tried: the versions of a target that are near its own first.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_TARGET_ORDER_H
#define QDQ_TOOLS_LAB_EXPLAIN_TARGET_ORDER_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_TARGETS = 256 };

typedef struct target_order {
    struct target_place {
        size_t target, release, distance;
    } places[MOST_TARGETS];
    size_t count;
    const char *own;
} target_order;

// Lists all targets at all versions, as seen from `own` ("ort", "ort@1.31-avx2:level=basic"):
// versions of its target with its variant from the nearest on, then with other variants, then other
// targets.
void target_order_from(const char *own, target_order *order);

// Writes name number `index`. Versions of its own target have its options.
void target_order_name(const target_order *order, size_t index, char *out, size_t capacity);

#endif
