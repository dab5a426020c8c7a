// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/dataset/state_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tools/common.h"

void print_samples(const state *s) {
    if (s->sample_count)
        printf("%" PRId64 " of %" PRId64 " sample%s", s->taken, s->sample_count,
               s->sample_count == 1 ? "" : "s");
    else
        printf("%" PRId64 " sample%s", s->taken, s->taken == 1 ? "" : "s");
    printf(", %zu of %" PRId64 " shard%s", s->shards_held, s->shard_count,
           s->shard_count == 1 ? "" : "s");
    if (s->unreadable.count) printf(", %zu could not be read", s->unreadable.count);
    printf("\n");
}

static void json_texts(qdq_json *json, const char *key, const text_list *texts) {
    qdq_json_key(json, key);
    qdq_json_begin_line(json);
    for (size_t i = 0; i < texts->count; i++) qdq_json_string(json, texts->items[i]);
    qdq_json_end_array(json);
}

void json_samples(qdq_json *json, const state *s) {
    json_string_key(json, "kind", s->kind->command);
    json_texts(json, "targets", &s->targets);
    json_texts(json, "refused", &s->refused);
    json_uint_key(json, "samples", (size_t)s->taken);
    json_texts(json, "unreadable", &s->unreadable);
    qdq_json_key(json, "shards");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < s->shards_held; i++) qdq_json_uint(json, (uint64_t)s->shards[i]);
    qdq_json_end_array(json);
    json_uint_key(json, "shard_count", (size_t)s->shard_count);
}

void json_double_key(qdq_json *json, const char *key, double value) {
    qdq_json_key(json, key);
    if (isnan(value))
        qdq_json_null(json);
    else
        qdq_json_double(json, value);
}

double thousandths(double decibels) {
    return isfinite(decibels) ? nearbyint(decibels * 1000) / 1000 : decibels;
}

void json_ratio_key(qdq_json *json, const char *key, double decibels) {
    json_double_key(json, key, thousandths(decibels));
}
