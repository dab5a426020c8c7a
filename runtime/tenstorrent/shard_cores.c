// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenstorrent/shard_cores.h"

#include "runtime/base/error.h"

static uint64_t columns(qdq_core_range r) { return (uint64_t)r.x1 - r.x0 + 1; }
static uint64_t rows(qdq_core_range r) { return (uint64_t)r.y1 - r.y0 + 1; }

uint64_t qdq_shard_cores_count(const qdq_shard_spec *spec) {
    uint64_t count = 0;
    for (size_t k = 0; k < spec->grid_count; k++)
        count += columns(spec->grid[k]) * rows(spec->grid[k]);
    return count;
}

void qdq_shard_cores_at(const qdq_shard_spec *spec, uint64_t i, uint16_t *x, uint16_t *y) {
    size_t k = 0;
    for (; k + 1 < spec->grid_count; k++) {
        uint64_t cores = columns(spec->grid[k]) * rows(spec->grid[k]);
        if (i < cores) break;
        i -= cores;
    }
    qdq_core_range r = spec->grid[k];
    bool along_y = spec->orientation == QDQ_SHARD_COL_MAJOR;
    *x = (uint16_t)(r.x0 + (along_y ? i / rows(r) : i % columns(r)));
    *y = (uint16_t)(r.y0 + (along_y ? i % rows(r) : i / columns(r)));
}

bool qdq_shard_cores_find(const qdq_shard_spec *spec, uint64_t x, uint64_t y, uint64_t *i) {
    *i = 0;
    for (size_t k = 0; k < spec->grid_count; k++) {
        qdq_core_range r = spec->grid[k];
        if (x < r.x0 || x > r.x1 || y < r.y0 || y > r.y1) {
            *i += columns(r) * rows(r);
            continue;
        }
        *i += spec->orientation == QDQ_SHARD_COL_MAJOR ? (x - r.x0) * rows(r) + (y - r.y0)
                                                       : (y - r.y0) * columns(r) + (x - r.x0);
        return true;
    }
    return false;
}

static bool overlap(qdq_core_range a, qdq_core_range b) {
    return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

static qdq_memory_rule check_range(const qdq_shard_spec *spec, size_t k, uint64_t grid_x,
                                   uint64_t grid_y, qdq_error *err) {
    qdq_core_range r = spec->grid[k];
    if (r.x1 < r.x0 || r.y1 < r.y0) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the shard's cores (%u,%u)-(%u,%u) end before they begin",
                 r.x0, r.y0, r.x1, r.y1);
        return QDQ_MEMORY_GRID;
    }
    if (r.x1 >= grid_x || r.y1 >= grid_y) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "the shard's cores (%u,%u)-(%u,%u) are not all within the device's %llux%llu",
                 r.x0, r.y0, r.x1, r.y1, (unsigned long long)grid_x, (unsigned long long)grid_y);
        return QDQ_MEMORY_GRID;
    }
    for (size_t i = 0; i < k; i++)
        if (overlap(spec->grid[i], r)) {
            qdq_fail(err, QDQ_ERR_ARGUMENT,
                     "the shard's cores (%u,%u)-(%u,%u) overlap those of range %zu", r.x0, r.y0,
                     r.x1, r.y1, i);
            return QDQ_MEMORY_GRID;
        }
    return QDQ_MEMORY_FINE;
}

qdq_memory_rule qdq_shard_cores_check(const qdq_shard_spec *spec, uint64_t grid_x, uint64_t grid_y,
                                      qdq_error *err) {
    if (spec->grid_count < 1 || spec->grid_count > QDQ_MAX_CORE_RANGES) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the shard's grid has %zu ranges of cores, wanted 1 to %d",
                 spec->grid_count, QDQ_MAX_CORE_RANGES);
        return QDQ_MEMORY_GRID;
    }
    for (size_t k = 0; k < spec->grid_count; k++) {
        qdq_memory_rule rule = check_range(spec, k, grid_x, grid_y, err);
        if (rule != QDQ_MEMORY_FINE) return rule;
    }
    return QDQ_MEMORY_FINE;
}
