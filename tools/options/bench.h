// SPDX-License-Identifier: Apache-2.0
// The options of `qdq bench` alone.
#ifndef QDQ_TOOLS_OPTIONS_BENCH_H
#define QDQ_TOOLS_OPTIONS_BENCH_H

#include <stdbool.h>

typedef struct bench_options {
    const char *repeat;
    bool vs_copy, steps, compile;
} bench_options;

#endif
