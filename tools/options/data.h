// SPDX-License-Identifier: Apache-2.0
// The options of a run over samples.
#ifndef QDQ_TOOLS_OPTIONS_DATA_H
#define QDQ_TOOLS_OPTIONS_DATA_H

#include <stdbool.h>

#include "tools/options/string_list.h"

typedef struct data_options {
    const char *listing;                              // of a folder
    const char *samples;                              // a folder or a file
    string_list labels;                               // the true classes of an output
    const char *shard, *checkpoint, *max_unreadable;  // max_unreadable: percent
    bool resume;
} data_options;

#endif
