// SPDX-License-Identifier: Apache-2.0
// Prints the parts that the reports of all kinds of state share.
#ifndef QDQ_TOOLS_LAB_DATASET_STATE_REPORT_H
#define QDQ_TOOLS_LAB_DATASET_STATE_REPORT_H

#include "runtime/base/json_writer.h"
#include "tools/lab/dataset/state.h"

// Prints "9 of 10 samples, shard 1 of 1" and a newline.
void print_samples(const state *s);
// Writes the keys "kind", "targets", "refused", "samples", "unreadable", "shards" and
// "shard_count".
void json_samples(qdq_json *json, const state *s);

// Writes a number, or null for NaN.
void json_double_key(qdq_json *json, const char *key, double value);
// Rounds a ratio in decibels to a thousandth: logarithms may differ in the last bit between
// machines.
double thousandths(double decibels);
void json_ratio_key(qdq_json *json, const char *key, double decibels);

#endif
