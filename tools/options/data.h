// SPDX-License-Identifier: Apache-2.0
// The options of a run over samples.
#ifndef QDQ_TOOLS_OPTIONS_DATA_H
#define QDQ_TOOLS_OPTIONS_DATA_H

#include <stdbool.h>

typedef struct data_options {
    const char *samples;  // a folder or a file
    const char *shard, *checkpoint;
    bool resume;
} data_options;

#endif
