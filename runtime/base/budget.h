// SPDX-License-Identifier: Apache-2.0
// An allocator with a limit on the bytes that it hands out.
//
// All memory of the compiler comes from a budget: an allocation over the limit fails before it
// reaches the allocator.
#ifndef QDQ_RUNTIME_BASE_BUDGET_H
#define QDQ_RUNTIME_BASE_BUDGET_H

#include "include/qdq/base.h"

// Must not move while `allocator` is in use; for one thread at a time. Memory from a budget may
// also be freed with `from`.
typedef struct qdq_budget {
    qdq_allocator allocator;
    const qdq_allocator *from;
    size_t left;
    bool exceeded;  // more was asked for
    size_t had;     // left when the first request was refused
} qdq_budget;

void qdq_budget_init(qdq_budget *budget, const qdq_allocator *from, size_t bytes);

#endif
