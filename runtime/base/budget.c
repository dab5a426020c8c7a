// SPDX-License-Identifier: Apache-2.0
// An allocator with a limit: counts the bytes that are left and refuses larger requests.
#include "runtime/base/budget.h"

static void *take(void *self, size_t size, size_t align) {
    qdq_budget *budget = self;
    if (size > budget->left) {
        if (!budget->exceeded) budget->had = budget->left;
        budget->exceeded = true;
        return NULL;
    }
    void *ptr = budget->from->alloc(budget->from->self, size, align);
    if (ptr) budget->left -= size;
    return ptr;
}

static void give_back(void *self, void *ptr, size_t size) {
    qdq_budget *budget = self;
    budget->from->free(budget->from->self, ptr, size);
    budget->left += size;
}

void qdq_budget_init(qdq_budget *budget, const qdq_allocator *from, size_t bytes) {
    *budget = (qdq_budget){.allocator = {take, give_back, budget}, .from = from, .left = bytes};
}
