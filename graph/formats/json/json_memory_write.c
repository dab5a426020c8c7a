// SPDX-License-Identifier: Apache-2.0
#include "graph/formats/json/json_memory_write.h"

static void write_corner(qdq_json *json, unsigned x, unsigned y) {
    qdq_json_begin_line(json);
    qdq_json_uint(json, x);
    qdq_json_uint(json, y);
    qdq_json_end_array(json);
}

static void write_grid(qdq_json *json, const qdq_shard_spec *spec) {
    qdq_json_key(json, "grid");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < spec->grid_count; i++) {
        qdq_core_range range = spec->grid[i];
        qdq_json_begin_line(json);
        write_corner(json, range.x0, range.y0);
        write_corner(json, range.x1, range.y1);
        qdq_json_end_array(json);
    }
    qdq_json_end_array(json);
}

static void write_spec(qdq_json *json, const qdq_shard_spec *spec, bool nd) {
    qdq_json_key(json, nd ? "nd_shard_spec" : "shard_spec");
    qdq_json_begin_object(json);
    write_grid(json, spec);
    qdq_json_key(json, nd ? "shard_shape" : "shape");
    qdq_json_begin_line(json);
    for (int i = 0; i < spec->shape.rank; i++) qdq_json_int(json, spec->shape.dims[i]);
    qdq_json_end_array(json);
    qdq_json_key(json, "orientation");
    qdq_json_string(json, spec->orientation == QDQ_SHARD_COL_MAJOR ? "COL_MAJOR" : "ROW_MAJOR");
    if (spec->distribution == QDQ_CONTIGUOUS_1D) {
        qdq_json_key(json, "shard_distribution_strategy");
        qdq_json_string(json, "CONTIGUOUS_1D");
    }
    qdq_json_end_object(json);
}

static void write_config(qdq_json *json, const qdq_memory_config *config) {
    qdq_json_key(json, "memory_config");
    qdq_json_begin_object(json);
    qdq_json_key(json, "buffer_type");
    qdq_json_string(json, qdq_buffer_type_name(config->buffer_type));
    qdq_json_key(json, "memory_layout");
    qdq_json_string(json, qdq_memory_layout_name(config->memory_layout));
    if (config->shard_spec.grid_count)
        write_spec(json, &config->shard_spec, config->memory_layout == QDQ_ND_SHARDED);
    qdq_json_end_object(json);
}

void qdq_json_write_memory(qdq_json *json, const qdq_given_layout *given) {
    if (!given) return;
    if (given->has_config) write_config(json, &given->as.memory_config);
    if (given->has_layout) {
        qdq_json_key(json, "layout");
        qdq_json_string(json, given->as.layout == QDQ_LAYOUT_TILE ? "TILE" : "ROW_MAJOR");
    }
    if (!given->has_tile) return;
    bool is_default = given->as.tile.height == 0;
    qdq_json_key(json, "tile");
    qdq_json_begin_line(json);
    qdq_json_uint(json, is_default ? 32 : given->as.tile.height);
    qdq_json_uint(json, is_default ? 32 : given->as.tile.width);
    qdq_json_end_array(json);
    if (!given->as.tile.transpose) return;
    qdq_json_key(json, "transpose_tile");
    qdq_json_bool(json, true);
}
