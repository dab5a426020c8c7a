// SPDX-License-Identifier: Apache-2.0
// A calibration state: the statistics of the values of a graph over samples, and what they were
// made from. States of shards merge into the state of all samples, byte for byte
// (docs/calibrate.md).
#ifndef QDQ_TOOLS_CALIBRATE_STATE_H
#define QDQ_TOOLS_CALIBRATE_STATE_H

#include <qdq/qdq.h>

#include "runtime/base/hash/sha256.h"
#include "tools/calibrate/statistics.h"

enum { STATE_VERSION = 1, MOST_SHARDS = 1000000, COMPLETE = -1 };

// Texts, each with its NUL, one after the other.
typedef struct text_list {
    char *bytes;
    size_t size, count;
} text_list;

bool text_list_add(text_list *list, const char *text);
// The text after `text`; the first for NULL. NULL after the last.
const char *text_list_next(const text_list *list, const char *text);

typedef struct state {
    char fingerprint[QDQ_FINGERPRINT_TEXT];
    char target[160];
    unsigned char listing[QDQ_SHA256_BYTES];  // of the data, see samples.h
    unsigned char samples[QDQ_SHA256_BYTES];  // sum of the hashes of all samples, modulo 2^256
    int64_t sample_count;                     // of the data
    int64_t taken;                            // samples in the statistics
    int64_t next;  // of the shard, where a run goes on; COMPLETE: the shard is done
    int64_t shard_count;
    int64_t *shards;  // numbers 1 .. shard_count, ascending
    size_t shards_held;
    text_list unreadable;  // names of samples, sorted
    text_list values, dtypes;
    double *ranges;  // [values, 2], and so on as in `statistics`
    int64_t *counts, *sums, *squares, *histograms;
} state;

// Makes the arrays for the values that are listed. False: no memory.
bool state_make_arrays(state *s);
void state_release(state *s);
statistics state_value(const state *s, size_t value);

void state_add_digest(unsigned char sum[QDQ_SHA256_BYTES],
                      const unsigned char digest[QDQ_SHA256_BYTES]);
// Adds a name at its place in the order. False: no memory.
bool state_add_unreadable(state *s, const char *name);

// Adds the samples of `from`, which must be a state of other shards of the same run
// (state_differs). With all shards it becomes shard 1 of 1. False: no memory.
bool state_merge(state *into, const state *from);
// What distinguishes the runs of two states ("graph", ...); NULL: nothing.
const char *state_differs(const state *a, const state *b);

#endif
