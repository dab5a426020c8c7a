// SPDX-License-Identifier: Apache-2.0
// Writes the schema of a device's memory. Names and words are ttnn's.
#include "tools/schema/memory_schema.h"

#include <qdq/device.h>

#include "tools/schema/json_text.h"

static void put_spec(qdq_json *json, const char *name, const char *shape, int least, int most,
                     const char *more) {
    json_text(json,
              "'%s': {'type': 'object', 'properties': {'grid': {'type': 'array', 'minItems': 1,"
              " 'maxItems': %d, 'items': {'$ref': '#/$defs/core_range'}}, '%s': {'type': 'array',"
              " 'minItems': %d, 'maxItems': %d, 'items': {'type': 'integer', 'minimum': 1}},"
              " 'orientation': {'enum': ['ROW_MAJOR', 'COL_MAJOR'], 'default': 'ROW_MAJOR'}%s},"
              " 'required': ['grid', '%s'], " SCHEMA_CLOSED_BUT_FOR_NOTES "}",
              name, QDQ_MAX_CORE_RANGES, shape, least, most, more, shape);
}

void schema_put_memory(qdq_json *json) {
    json_text(json, "'core': {'type': 'array', 'minItems': 2, 'maxItems': 2, 'items': {'type':"
                    " 'integer', 'minimum': 0, 'maximum': 65535}}, 'core_range': {'type': 'array',"
                    " 'description': '[[x0, y0], [x1, y1]]; both cores belong to the range',"
                    " 'minItems': 2, 'maxItems': 2, 'items': {'$ref': '#/$defs/core'}}");
    put_spec(json, "shard_spec", "shape", 2, 2, "");
    put_spec(json, "nd_shard_spec", "shard_shape", 1, QDQ_MAX_RANK,
             ", 'shard_distribution_strategy': {'enum': ['ROUND_ROBIN_1D', 'CONTIGUOUS_1D'],"
             " 'default': 'ROUND_ROBIN_1D'}");
    json_text(json, "'tile': {'description': '[height, width]', 'type': 'array', 'minItems': 2,"
                    " 'maxItems': 2, 'items': {'enum': [1, 2, 4, 8, 16, 32]}}");
    json_text(json, "'memory_config': {'description': 'the place of a value on a device, for"
                    " target ttnn', 'oneOf': [{'description': 'a constant of ttnn; the sharded ones"
                    " take the shard_spec of an operand', 'enum': ['DRAM_MEMORY_CONFIG',"
                    " 'L1_MEMORY_CONFIG', 'L1_HEIGHT_SHARDED_MEMORY_CONFIG',"
                    " 'L1_WIDTH_SHARDED_MEMORY_CONFIG', 'L1_BLOCK_SHARDED_MEMORY_CONFIG']},"
                    " {'type': 'object', 'properties': {'buffer_type': {'default':"
                    " 'DRAM', 'enum': [");
    for (int i = 0; i <= QDQ_TRACE; i++)
        qdq_json_string(json, qdq_buffer_type_name((qdq_buffer_type)i));
    json_text(json, "]}, 'memory_layout': {'default': 'INTERLEAVED', 'enum': [");
    for (int i = 0; i <= QDQ_ND_SHARDED; i++)
        qdq_json_string(json, qdq_memory_layout_name((qdq_memory_layout)i));
    json_text(json, "]}, 'shard_spec': {'$ref': '#/$defs/shard_spec'}, 'nd_shard_spec': {'$ref':"
                    " '#/$defs/nd_shard_spec'}}, 'not': {'required': ['shard_spec',"
                    " 'nd_shard_spec']}, " SCHEMA_CLOSED_BUT_FOR_NOTES "}]}");
}
