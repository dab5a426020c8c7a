// SPDX-License-Identifier: Apache-2.0
// The cores of a shard_spec in the order in which shards are given to them.
#ifndef QDQ_RUNTIME_TENSTORRENT_SHARD_CORES_H
#define QDQ_RUNTIME_TENSTORRENT_SHARD_CORES_H

#include "runtime/tenstorrent/page_layout.h"

// Cores of all ranges together.
uint64_t qdq_shard_cores_count(const qdq_shard_spec *spec);
// Finds core number `i` of the list: range by range, each in the orientation of the spec.
void qdq_shard_cores_at(const qdq_shard_spec *spec, uint64_t i, uint16_t *x, uint16_t *y);
// Finds the number of a core; false if it is in no range.
bool qdq_shard_cores_find(const qdq_shard_spec *spec, uint64_t x, uint64_t y, uint64_t *i);

// The ranges lie within grid_x times grid_y cores and do not overlap.
qdq_memory_rule qdq_shard_cores_check(const qdq_shard_spec *spec, uint64_t grid_x, uint64_t grid_y,
                                      qdq_error *err);

#endif
