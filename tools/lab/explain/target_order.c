// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/target_order.h"

#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Distances of other variants, and of other targets.
enum { OTHER_VARIANT = 1000, OTHER_TARGET = 10000 };

// Returns the length of the plain name of a target: "ort" of "ort@1.31-avx2".
static size_t plain_length(const char *name) { return strcspn(name, "@:"); }

static bool is_own(const target_order *order, const char *target) {
    size_t length = plain_length(order->own);
    return strlen(target) == length && strncmp(order->own, target, length) == 0;
}

// Returns the index of the own version among the releases of its target: the first that begins with
// the given name.
static size_t own_release(const target_order *order, size_t target) {
    const char *at = order->own + plain_length(order->own);
    size_t length = *at == '@' ? strcspn(at + 1, ":") : 0;
    for (size_t i = 0; length && qdq_target_release(target, i); i++)
        if (strncmp(qdq_target_release(target, i), at + 1, length) == 0) return i;
    return qdq_target_get(target).default_release;
}

// Returns the variant in the name of a version: "-avx2"; "" if it has none.
static const char *variant_of(const char *version) { return version + strcspn(version, "-"); }

static size_t distance_of(const target_order *order, size_t target, size_t release) {
    if (!is_own(order, qdq_target_get(target).name)) return OTHER_TARGET;
    const char *name = qdq_target_release(target, release);
    size_t own = own_release(order, target);
    if (!name) return 0;
    size_t steps = release > own ? release - own : own - release;
    bool same = strcmp(variant_of(name), variant_of(qdq_target_release(target, own))) == 0;
    return steps + (same ? 0 : OTHER_VARIANT);
}

// Places of equal distance keep the order of the tables.
static int by_distance(const void *a, const void *b) {
    const struct target_place *p = a, *q = b;
    if (p->distance != q->distance) return p->distance < q->distance ? -1 : 1;
    if (p->target != q->target) return p->target < q->target ? -1 : 1;
    return p->release < q->release ? -1 : p->release > q->release;
}

void target_order_from(const char *own, target_order *order) {
    order->own = own ? own : "";
    order->count = 0;
    for (size_t t = 0; t < qdq_target_count(); t++) {
        size_t releases = qdq_target_get(t).release_count;
        for (size_t k = 0; k < (releases ? releases : 1) && order->count < MOST_TARGETS; k++)
            order->places[order->count++] = (struct target_place){t, k, distance_of(order, t, k)};
    }
    qsort(order->places, order->count, sizeof order->places[0], by_distance);
}

void target_order_name(const target_order *order, size_t index, char *out, size_t capacity) {
    const struct target_place *place = &order->places[index];
    const char *name = qdq_target_get(place->target).name;
    const char *release = qdq_target_release(place->target, place->release);
    const char *options = is_own(order, name) ? strchr(order->own, ':') : NULL;
    snprintf(out, capacity, "%s%s%s%s", name, release ? "@" : "", release ? release : "",
             options ? options : "");
}
