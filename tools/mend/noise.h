// SPDX-License-Identifier: Apache-2.0
// How far the values of a changed graph are from the same values of the graph before the change.
#ifndef QDQ_TOOLS_MEND_NOISE_H
#define QDQ_TOOLS_MEND_NOISE_H

#include "tools/options.h"

// A float value with one name in both graphs.
typedef struct noise {
    char name[256];
    double decibels;  // 10 log10(sum of y^2 / sum of (y - changed y)^2); infinite: equal
} noise;

// Runs both graphs as target core on the inputs of the options, and measures `count` values, then
// the outputs. A value is left out if it is no float in both. Sets *out, which free() frees.
// EXIT_OK, or another exit code after a message.
int measure_noise(qdq_graph *before, qdq_graph *after, const options *opt, const char *const *names,
                  size_t count, noise **out, size_t *out_count);

#endif
