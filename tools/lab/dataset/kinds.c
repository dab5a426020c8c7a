// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/dataset/kinds.h"

#include <string.h>

enum { KINDS = 3 };

static const state_kind *const kinds[KINDS] = {&calibrate_kind, &compare_kind, &explain_kind};

const state_kind *state_kind_find(const char *command) {
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->command, command) == 0) return kinds[i];
    return NULL;
}
