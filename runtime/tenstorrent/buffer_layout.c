// SPDX-License-Identifier: Apache-2.0
// From a tensor and its memory_config to slots in banks, with the rules of shards. A 2-D sharding
// is the N-D one of the folded tensor; only BLOCK_SHARDED gives shards to cores in another way.
#include "runtime/tenstorrent/buffer_layout.h"

#include <string.h>

#include "runtime/base/error.h"
#include "runtime/tenstorrent/device_pool.h"
#include "runtime/tenstorrent/shard_cores.h"

typedef unsigned long long ull;

static uint64_t divide_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit; }

//---- Equality ---------------------------------------------------------------

static bool same_range(qdq_core_range a, qdq_core_range b) {
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

bool qdq_memory_config_equal(const qdq_memory_config *a, const qdq_memory_config *b) {
    const qdq_shard_spec *s = &a->shard_spec, *t = &b->shard_spec;
    if (a->buffer_type != b->buffer_type || a->memory_layout != b->memory_layout ||
        s->grid_count != t->grid_count || s->orientation != t->orientation ||
        s->distribution != t->distribution || !qdq_shape_equal(s->shape, t->shape))
        return false;
    for (size_t i = 0; i < s->grid_count && i < QDQ_MAX_CORE_RANGES; i++)
        if (!same_range(s->grid[i], t->grid[i])) return false;
    return true;
}

// Everything else follows from these and from the config.
bool qdq_buffer_layout_equal(const qdq_buffer_layout *a, const qdq_buffer_layout *b) {
    return a->page_size == b->page_size && a->pages == b->pages &&
           a->sized_pages == b->sized_pages && a->rank == b->rank &&
           memcmp(a->tensor_pages, b->tensor_pages, sizeof a->tensor_pages) == 0 &&
           memcmp(a->shard_pages, b->shard_pages, sizeof a->shard_pages) == 0;
}

//---- Rules of a shard_spec --------------------------------------------------

static qdq_memory_rule check_enums(const qdq_memory_config *config, qdq_error *err) {
    const qdq_shard_spec *spec = &config->shard_spec;
    bool is_sharded = config->memory_layout != QDQ_INTERLEAVED;
    if ((unsigned)config->memory_layout > QDQ_ND_SHARDED ||
        (unsigned)spec->orientation > QDQ_SHARD_COL_MAJOR ||
        (unsigned)spec->distribution > QDQ_CONTIGUOUS_1D) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "the memory_config has memory_layout %d, orientation %d and distribution %d: one "
                 "of these does not exist",
                 (int)config->memory_layout, (int)spec->orientation, (int)spec->distribution);
        return QDQ_MEMORY_LAYOUT;
    }
    if (is_sharded != (spec->grid_count > 0 || spec->shape.rank > 0)) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the memory_layout is %s, wanted %s shard_spec",
                 qdq_memory_layout_name(config->memory_layout), is_sharded ? "a" : "no");
        return QDQ_MEMORY_SPEC;
    }
    if (spec->distribution == QDQ_CONTIGUOUS_1D && config->memory_layout != QDQ_ND_SHARDED) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "the distribution CONTIGUOUS_1D needs memory_layout ND_SHARDED");
        return QDQ_MEMORY_DISTRIBUTION;
    }
    return QDQ_MEMORY_FINE;
}

static qdq_memory_rule check_shard_shape(const qdq_device_tensor *tensor,
                                         const qdq_memory_config *config, qdq_error *err) {
    const qdq_shape *shard = &config->shard_spec.shape;
    bool nd = config->memory_layout == QDQ_ND_SHARDED;
    int rank = tensor->shape.rank < 2 ? 2 : tensor->shape.rank;
    if (shard->rank < 1 || shard->rank > (nd ? rank : 2) || (!nd && shard->rank != 2)) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the shard's rank is %d, wanted %s%d", shard->rank,
                 nd ? "1 to " : "", nd ? rank : 2);
        return QDQ_MEMORY_SPEC_RANK;
    }
    for (int i = 0; i < shard->rank; i++)
        if (shard->dims[i] < 1 || shard->dims[i] > INT32_MAX) {
            qdq_fail(err, QDQ_ERR_ARGUMENT, "dim %d of the shard is %lld, wanted 1 to 2^31 - 1", i,
                     (long long)shard->dims[i]);
            return QDQ_MEMORY_SPEC_SHAPE;
        }
    if (tensor->layout != QDQ_LAYOUT_TILE) return QDQ_MEMORY_FINE;
    qdq_tile_shape tile = qdq_tile_shape_or_default(tensor->tile);
    int64_t width = shard->dims[shard->rank - 1];
    int64_t height = shard->rank > 1 ? shard->dims[shard->rank - 2] : tile.height;
    if (width % tile.width || height % tile.height) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "a shard of %lldx%lld elements is not a whole number of %ux%u tiles",
                 (long long)height, (long long)width, tile.height, tile.width);
        return QDQ_MEMORY_SPEC_TILES;
    }
    return QDQ_MEMORY_FINE;
}

// Checks the rules of HEIGHT_SHARDED and WIDTH_SHARDED about the other dim.
static qdq_memory_rule check_other_dim(const qdq_page_layout *pages,
                                       const qdq_memory_config *config, qdq_error *err) {
    const int64_t *shard = config->shard_spec.shape.dims;
    if (config->memory_layout == QDQ_HEIGHT_SHARDED && (uint64_t)shard[1] != pages->width) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "the shard is %lld wide, wanted %llu: HEIGHT_SHARDED does not cut rows",
                 (long long)shard[1], (ull)pages->width);
        return QDQ_MEMORY_SPEC_WIDTH;
    }
    if (config->memory_layout == QDQ_WIDTH_SHARDED && (uint64_t)shard[0] != pages->height) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "the shard is %lld high, wanted %llu: WIDTH_SHARDED does not cut columns",
                 (long long)shard[0], (ull)pages->height);
        return QDQ_MEMORY_SPEC_HEIGHT;
    }
    return QDQ_MEMORY_FINE;
}

static qdq_memory_rule check_block_grid(const qdq_buffer_layout *l, qdq_error *err) {
    qdq_core_range r = l->spec.grid[0];
    uint64_t across = (uint64_t)r.x1 - r.x0 + 1, down = (uint64_t)r.y1 - r.y0 + 1;
    bool swapped = l->spec.orientation == QDQ_SHARD_COL_MAJOR;
    uint64_t most_rows = swapped ? across : down, most_columns = swapped ? down : across;
    if (l->spec.grid_count != 1) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "BLOCK_SHARDED wants one rectangle of cores, the shard's grid has %zu ranges",
                 l->spec.grid_count);
        return QDQ_MEMORY_GRID_SQUARE;
    }
    if (l->shard_grid[0] <= most_rows && l->shard_grid[1] <= most_columns) return QDQ_MEMORY_FINE;
    qdq_fail(err, QDQ_ERR_ARGUMENT,
             "the tensor is %llux%llu shards, more than %llux%llu cores: make shards larger",
             (ull)l->shard_grid[0], (ull)l->shard_grid[1], (ull)most_rows, (ull)most_columns);
    return QDQ_MEMORY_GRID_CORES;
}

static qdq_memory_rule check_cores(const qdq_buffer_layout *l, qdq_error *err) {
    if (l->memory_layout == QDQ_BLOCK_SHARDED) return check_block_grid(l, err);
    if (l->memory_layout != QDQ_ND_SHARDED && l->shards > l->cores) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "%llu shards are more than %llu cores: make shards larger",
                 (ull)l->shards, (ull)l->cores);
        return QDQ_MEMORY_GRID_CORES;
    }
    if (l->spec.distribution == QDQ_CONTIGUOUS_1D && l->shards % l->cores) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "CONTIGUOUS_1D needs shards divisible by cores: %llu shards, %llu cores",
                 (ull)l->shards, (ull)l->cores);
        return QDQ_MEMORY_DISTRIBUTION;
    }
    return QDQ_MEMORY_FINE;
}

//---- Shards -----------------------------------------------------------------

// The tensor and a shard as arrays of pages, and the array of shards. Dims that the shard lacks are
// folded into its outermost one. False if bytes would be too many to count.
static bool cut(const qdq_page_layout *pages, const qdq_shape *shard, qdq_buffer_layout *l) {
    uint64_t device_pages;
    l->rank = shard->rank;
    l->pages_per_shard = l->shards = 1;
    for (int i = 0; i < l->rank; i++) {
        int at = pages->rank - l->rank + i, from_end = l->rank - 1 - i;
        uint64_t page = from_end == 0 ? pages->page_width : from_end == 1 ? pages->page_height : 1;
        l->tensor_pages[i] = pages->dims[at];
        for (int k = 0; i == 0 && k < at; k++) l->tensor_pages[0] *= pages->dims[k];
        l->shard_pages[i] = (uint64_t)shard->dims[i] / page;
        l->shard_grid[i] = divide_up(l->tensor_pages[i], l->shard_pages[i]);
        l->shards *= l->shard_grid[i];
        if (__builtin_mul_overflow(l->pages_per_shard, l->shard_pages[i], &l->pages_per_shard))
            return false;
    }
    l->shards_per_core = divide_up(l->shards, l->cores);
    return !__builtin_mul_overflow(l->shards_per_core, l->pages_per_shard, &device_pages) &&
           !__builtin_mul_overflow(device_pages, l->slot, &l->bytes_per_bank) &&
           l->bytes_per_bank <= INT64_MAX / l->banks;
}

static qdq_memory_rule shard(const qdq_device *device, const qdq_page_layout *pages,
                             const qdq_memory_config *config, qdq_buffer_layout *l,
                             qdq_error *err) {
    bool in_l1 = l->buffer_type == QDQ_L1 || l->buffer_type == QDQ_L1_SMALL;
    l->spec = config->shard_spec;
    // DRAM banks are counted as cores in one row.
    l->grid_x = in_l1 ? device->grid_x : l->banks;
    qdq_memory_rule rule =
        qdq_shard_cores_check(&l->spec, l->grid_x, in_l1 ? device->grid_y : 1, err);
    if (rule == QDQ_MEMORY_FINE) rule = check_other_dim(pages, config, err);
    if (rule != QDQ_MEMORY_FINE) return rule;
    l->cores = qdq_shard_cores_count(&l->spec);
    if (!cut(pages, &l->spec.shape, l)) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the shards of a core have more than 2^63 bytes");
        return QDQ_MEMORY_SPEC_SHAPE;
    }
    return check_cores(l, err);
}

//---- Layouts ----------------------------------------------------------------

static void interleave(qdq_buffer_layout *l) {
    l->bytes_per_bank = divide_up(l->pages, l->banks) * l->slot;
}

// Starts a layout with the facts of its pool. False, with `err` set, if the buffer type has none.
static bool begin(const qdq_device *device, qdq_buffer_type type, qdq_buffer_layout *out,
                  uint64_t *alignment, qdq_error *err) {
    qdq_device_pool pool;
    *out = (qdq_buffer_layout){.buffer_type = type};
    if (!qdq_device_pool_of(device, type, &pool)) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the buffer_type is %s, wanted DRAM, L1, L1_SMALL or TRACE",
                 qdq_buffer_type_name(type));
        return false;
    }
    out->banks = pool.banks;
    *alignment = pool.page_alignment;
    return true;
}

qdq_memory_rule qdq_buffer_layout_of(const qdq_device *device, const qdq_device_tensor *tensor,
                                     const qdq_memory_config *config, qdq_buffer_layout *out,
                                     qdq_error *err) {
    qdq_page_layout pages;
    uint64_t alignment, shard_width = 0;
    const qdq_shape *shape = &config->shard_spec.shape;
    if (!begin(device, config->buffer_type, out, &alignment, err)) return QDQ_MEMORY_POOL;
    qdq_memory_rule rule = check_enums(config, err);
    if (rule == QDQ_MEMORY_FINE && config->memory_layout != QDQ_INTERLEAVED) {
        rule = check_shard_shape(tensor, config, err);
        if (rule == QDQ_MEMORY_FINE && config->memory_layout != QDQ_HEIGHT_SHARDED)
            shard_width = (uint64_t)shape->dims[shape->rank - 1];
    }
    if (rule == QDQ_MEMORY_FINE) rule = qdq_page_layout_of(tensor, shard_width, &pages, err);
    if (rule != QDQ_MEMORY_FINE) return rule;
    out->memory_layout = config->memory_layout;
    out->page_size = pages.page_size;
    out->pages = out->sized_pages = pages.pages;
    out->slot = qdq_round_up(pages.page_size, alignment);
    if (out->memory_layout != QDQ_INTERLEAVED && out->pages) {
        rule = shard(device, &pages, config, out, err);
        if (tensor->layout == QDQ_LAYOUT_ROW_MAJOR && out->memory_layout != QDQ_ND_SHARDED)
            out->sized_pages = out->shards * out->pages_per_shard;
        return rule;
    }
    out->memory_layout = QDQ_INTERLEAVED;  // nothing to cut
    interleave(out);
    return QDQ_MEMORY_FINE;
}

qdq_memory_rule qdq_buffer_layout_raw(const qdq_device *device, qdq_buffer_type type, uint64_t size,
                                      uint64_t page_size, qdq_buffer_layout *out, qdq_error *err) {
    uint64_t alignment;
    if (!begin(device, type, out, &alignment, err)) return QDQ_MEMORY_POOL;
    if (page_size == 0 || size % page_size || size > INT64_MAX / alignment ||
        page_size > INT64_MAX / alignment) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "a buffer of %llu bytes is not a whole number of %llu-byte pages", (ull)size,
                 (ull)page_size);
        return QDQ_MEMORY_PAGES;
    }
    out->page_size = page_size;
    out->pages = out->sized_pages = size / page_size;
    out->slot = qdq_round_up(page_size, alignment);
    interleave(out);
    return QDQ_MEMORY_FINE;
}
