// SPDX-License-Identifier: Apache-2.0
// Chooses among rows of functions that are compiled once per instruction set.
#ifndef QDQ_TOOLS_BENCH_ISA_ROWS_H
#define QDQ_TOOLS_BENCH_ISA_ROWS_H

#include <qdq/inspect.h>
#include <stdbool.h>
#include <string.h>

static inline size_t isa_number(const char *name) {
    size_t i = 0;
    while (qdq_isa_get(i).name && strcmp(qdq_isa_get(i).name, name) != 0) i++;
    return i;
}

// True if this machine runs the set, and it comes at or before `cap`, if there is one.
static inline bool isa_fits(const char *name, const char *cap) {
    size_t number = isa_number(name);
    return qdq_isa_get(number).available && (!cap || number <= isa_number(cap));
}

#endif
