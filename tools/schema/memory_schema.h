// SPDX-License-Identifier: Apache-2.0
// Writes the part of the schema about the memory of a device: memory_config, layout, tile.
#ifndef QDQ_TOOLS_SCHEMA_MEMORY_SCHEMA_H
#define QDQ_TOOLS_SCHEMA_MEMORY_SCHEMA_H

#include "runtime/base/json_writer.h"

// Ends of the schema of an object: no other keys, or only notes.
#define SCHEMA_CLOSED "'additionalProperties': false"
#define SCHEMA_CLOSED_BUT_FOR_NOTES "'patternProperties': {'^x-': true}, " SCHEMA_CLOSED

// The properties of an input, a constant or a node that place it on a device.
#define SCHEMA_MEMORY_KEYS                                                             \
    " 'memory_config': {'$ref': '#/$defs/memory_config'}, 'layout': {'enum': ['TILE'," \
    " 'ROW_MAJOR']}, 'tile': {'$ref': '#/$defs/tile'}, 'transpose_tile': {'type': 'boolean'}"

// Writes the definitions that SCHEMA_MEMORY_KEYS refers to.
void schema_put_memory(qdq_json *json);

#endif
