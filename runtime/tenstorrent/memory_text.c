// SPDX-License-Identifier: Apache-2.0
// Configs and cores in the words of ttnn's graph capture, letter by letter: its ShardSpec lacks the
// brace that closes a range of cores, its NdShardSpec has it.
#include <stdarg.h>
#include <stdio.h>

#include "include/qdq/device.h"
#include "runtime/base/error.h"

typedef struct text {
    char *out;
    size_t capacity, length;
} text;

static void put(text *t, const char *format, ...) QDQ_PRINTF(2, 3);

static void put(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = vsnprintf(t->out + t->length, t->capacity - t->length, format, list);
    va_end(list);
    if (length > 0) t->length += (size_t)length;
    if (t->length >= t->capacity) t->length = t->capacity - 1;
}

static void put_shape(text *t, qdq_shape shape) {
    put(t, "[");
    for (int i = 0; i < shape.rank && i < QDQ_MAX_RANK; i++)
        put(t, "%s%lld", i ? ", " : "", (long long)shape.dims[i]);
    put(t, "]");
}

static void put_grid(text *t, const qdq_shard_spec *spec, const char *end) {
    for (size_t i = 0; i < spec->grid_count && i < QDQ_MAX_CORE_RANGES; i++) {
        qdq_core_range r = spec->grid[i];
        put(t, "%s{\"start\":{\"x\":%u,\"y\":%u},\"end\":{\"x\":%u,\"y\":%u}%s", i ? ", " : "",
            r.x0, r.y0, r.x1, r.y1, end);
    }
}

static const char *orientation(const qdq_shard_spec *spec) {
    return spec->orientation == QDQ_SHARD_COL_MAJOR ? "COL_MAJOR" : "ROW_MAJOR";
}

// ttnn derives an NdShardSpec from the ShardSpec of a tensor that has one.
static const char *strategy(const qdq_memory_config *config) {
    if (config->memory_layout == QDQ_BLOCK_SHARDED) return "GRID_2D";
    return config->shard_spec.distribution == QDQ_CONTIGUOUS_1D ? "CONTIGUOUS_1D"
                                                                : "ROUND_ROBIN_1D";
}

static void put_spec(text *t, const qdq_memory_config *config) {
    const qdq_shard_spec *spec = &config->shard_spec;
    if (spec->grid_count == 0 || config->memory_layout == QDQ_ND_SHARDED) {
        put(t, "std::nullopt");
        return;
    }
    put(t, "ShardSpec{grid=[");
    put_grid(t, spec, "");
    put(t, "], shape=");
    put_shape(t, spec->shape);
    put(t, ", orientation=ShardOrientation::%s}", orientation(spec));
}

static void put_nd_spec(text *t, const qdq_memory_config *config) {
    const qdq_shard_spec *spec = &config->shard_spec;
    if (spec->grid_count == 0) {
        put(t, "std::nullopt");
        return;
    }
    put(t, "{\"shard_shape\":");
    put_shape(t, spec->shape);
    put(t, ",\"grid\":[");
    put_grid(t, spec, "}");
    put(t, "],\"orientation\":\"ShardOrientation::%s\"", orientation(spec));
    put(t, ",\"shard_distribution_strategy\":\"ShardDistributionStrategy::%s\"}", strategy(config));
}

const char *qdq_memory_config_text(const qdq_memory_config *config,
                                   char out[QDQ_MEMORY_CONFIG_TEXT_BYTES]) {
    static const qdq_memory_config in_dram;
    text t = {.capacity = QDQ_MEMORY_CONFIG_TEXT_BYTES};
    t.out = out;
    if (!out) return "";
    if (!config) config = &in_dram;
    put(&t, "MemoryConfig(memory_layout=TensorMemoryLayout::%s,buffer_type=BufferType::%s,",
        qdq_memory_layout_name(config->memory_layout), qdq_buffer_type_name(config->buffer_type));
    put(&t, "shard_spec=");
    put_spec(&t, config);
    put(&t, ",nd_shard_spec=");
    put_nd_spec(&t, config);
    put(&t, ",created_with_nd_shard_spec=%d,per_core_allocation=0)",
        config->memory_layout == QDQ_ND_SHARDED);
    return out;
}

const char *qdq_core_ranges_text(const qdq_core_range *ranges, size_t count,
                                 char out[QDQ_CORE_RANGES_TEXT_BYTES]) {
    text t = {.capacity = QDQ_CORE_RANGES_TEXT_BYTES};
    t.out = out;
    if (!out) return "";
    if (!ranges) count = 0;
    put(&t, "{");
    for (size_t i = 0; i < count && i < QDQ_MAX_CORE_RANGES; i++)
        put(&t, "%s[%u-%u - %u-%u]", i ? ", " : "", ranges[i].x0, ranges[i].y0, ranges[i].x1,
            ranges[i].y1);
    put(&t, "}");
    return out;
}
