// SPDX-License-Identifier: Apache-2.0
// Writes the device plan of a plan as JSON keys of `qdq plan --json`.
#ifndef QDQ_TOOLS_PLAN_MEMORY_JSON_H
#define QDQ_TOOLS_PLAN_MEMORY_JSON_H

#include <qdq/exec.h>
#include <qdq/tile.h>

#include "runtime/base/json_writer.h"

// Writes the keys device, pools, buffers, programs and events; without a device only `device`,
// null.
// Writes "tile" unless tiles are 32x32 and not transposed, and then "transpose_tile" if they are.
void json_tile(qdq_json *json, qdq_tile_shape tile);
void json_device(qdq_json *json, const qdq_plan *plan);
// Writes the key `buffer` of value number `value` of the arena, if it has a buffer.
void json_value_buffer(qdq_json *json, const qdq_plan *plan, size_t value);
// Writes the key `pages`: every page of a buffer.
void json_pages(qdq_json *json, const qdq_plan *plan, size_t buffer);

#endif
