// SPDX-License-Identifier: Apache-2.0
// An allocator that hands out so many bytes and no more.
//
// All memory of compiling comes from a budget, so it is charged before it is taken.
#ifndef QDQ_RUNTIME_BASE_BUDGET_H
#define QDQ_RUNTIME_BASE_BUDGET_H

#include "include/qdq/base.h"

// Must stay where it is while `allocator` is used, by one thread at a time. What it hands out may
// be given back to `from`, too.
typedef struct qdq_budget {
    qdq_allocator allocator;
    const qdq_allocator *from;
    size_t left;
    bool exceeded;  // more was asked for
} qdq_budget;

void qdq_budget_init(qdq_budget *budget, const qdq_allocator *from, size_t bytes);

#endif
