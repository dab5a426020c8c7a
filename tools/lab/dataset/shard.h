// SPDX-License-Identifier: Apache-2.0
// --shard i/n: samples i, i + n, i + 2 n, ... of a data set, counted from 1.
#ifndef QDQ_TOOLS_LAB_DATASET_SHARD_H
#define QDQ_TOOLS_LAB_DATASET_SHARD_H

#include "tools/lab/dataset/state.h"

typedef struct shard {
    int64_t number, count;
} shard;

// Parses "i/n"; 1/1 for NULL. False after a message.
bool shard_parse(const char *text, shard *out);

enum { SHOWN_BYTES = 1024 };

// Writes a file name, which may have any bytes, as UTF-8 without control characters.
const char *shown_name(const char *name, char *out, size_t capacity);

// Reports that no sample of a complete state could be read, and names the first. Returns the exit
// code.
int refuse_unreadable(const state *s, const char *where);

// Parses --max-unreadable; 100 for NULL. False after a message.
bool max_unreadable_parse(const char *text, double *percent);

// Refuses a complete state with more unreadable samples than --max-unreadable allows, and names the
// first ones. EXIT_OK, or another exit code after a message.
int check_unreadable(const state *s, const char *where, const options *opt);

// Prints the names of samples that could not be read. EXIT_FINDINGS if any, else EXIT_OK.
int report_unreadable(const state *s);

#endif
