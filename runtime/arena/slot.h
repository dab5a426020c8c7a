// SPDX-License-Identifier: Apache-2.0
// A slot: the unit that the memory plan places.
#ifndef QDQ_RUNTIME_ARENA_SLOT_H
#define QDQ_RUNTIME_ARENA_SLOT_H

#include <stddef.h>

// Values computed in place of each other share a slot: one offset, from the first step of the first
// value to the last step of the last one. In a step in which two of them meet, the slot counts
// once.
typedef struct qdq_slot {
    size_t first_step, last_step, bytes, offset;
    size_t first_moment, last_moment;  // steps in which no slot begins are not counted
    size_t order;  // number of its first value; breaks ties, so that the result is unique
} qdq_slot;

#endif
