// SPDX-License-Identifier: Apache-2.0
// Page to bank and address, and back. A page's number counts the tensor's pages row-major; its
// place counts shards, then the pages within a shard, both row-major.
#include "runtime/tenstorrent/buffer_layout.h"
#include "runtime/tenstorrent/shard_cores.h"

//---- Shards and cores -------------------------------------------------------

// Returns the core of a shard, as a number of the core list. `turn`: how many shards that core has
// before it.
static uint64_t core_of(const qdq_buffer_layout *l, uint64_t shard, uint64_t *turn) {
    *turn = 0;
    if (l->memory_layout == QDQ_BLOCK_SHARDED) {
        // Cores of a rectangle are listed along j first in either orientation.
        qdq_core_range r = l->spec.grid[0];
        bool along_y = l->spec.orientation == QDQ_SHARD_COL_MAJOR;
        uint64_t line = along_y ? (uint64_t)r.y1 - r.y0 + 1 : (uint64_t)r.x1 - r.x0 + 1;
        return shard / l->shard_grid[1] * line + shard % l->shard_grid[1];
    }
    if (l->spec.distribution == QDQ_CONTIGUOUS_1D) {
        *turn = shard % l->shards_per_core;
        return shard / l->shards_per_core;
    }
    *turn = shard / l->cores;
    return shard % l->cores;
}

// Returns the shard that a core has at its `turn`; l->shards if it has none.
static uint64_t shard_of(const qdq_buffer_layout *l, uint64_t core, uint64_t turn) {
    if (l->memory_layout == QDQ_BLOCK_SHARDED) {
        qdq_core_range r = l->spec.grid[0];
        bool along_y = l->spec.orientation == QDQ_SHARD_COL_MAJOR;
        uint64_t line = along_y ? (uint64_t)r.y1 - r.y0 + 1 : (uint64_t)r.x1 - r.x0 + 1;
        uint64_t i = core / line, j = core % line;
        bool has_one = turn == 0 && i < l->shard_grid[0] && j < l->shard_grid[1];
        return has_one ? i * l->shard_grid[1] + j : l->shards;
    }
    uint64_t shard = l->spec.distribution == QDQ_CONTIGUOUS_1D ? core * l->shards_per_core + turn
                                                               : turn * l->cores + core;
    return shard < l->shards ? shard : l->shards;
}

//---- Page to place ----------------------------------------------------------

// Returns the shard of a page, and its number within.
static uint64_t locate(const qdq_buffer_layout *l, uint64_t page, uint64_t *within) {
    uint64_t shard = 0, shard_step = 1, page_step = 1;
    *within = 0;
    for (int i = l->rank - 1; i >= 0; i--) {
        uint64_t at = page % l->tensor_pages[i];
        page /= l->tensor_pages[i];
        shard += at / l->shard_pages[i] * shard_step;
        *within += at % l->shard_pages[i] * page_step;
        shard_step *= l->shard_grid[i];
        page_step *= l->shard_pages[i];
    }
    return shard;
}

bool qdq_page_place_of(const qdq_buffer_layout *l, uint64_t address, uint64_t page,
                       qdq_page_place *out) {
    *out = (qdq_page_place){0};
    if (page >= l->pages) return false;
    if (l->memory_layout == QDQ_INTERLEAVED) {
        out->bank = page % l->banks;
        out->address = address + page / l->banks * l->slot;
        return true;
    }
    uint64_t within, turn, shard = locate(l, page, &within);
    uint64_t core = core_of(l, shard, &turn);
    qdq_shard_cores_at(&l->spec, core, &out->core_x, &out->core_y);
    out->bank = out->core_y * l->grid_x + out->core_x;
    out->address = address + (turn * l->pages_per_shard + within) * l->slot;
    return true;
}

//---- Place to page ----------------------------------------------------------

// Finds the page that is number `within` of a shard; false for a padding page.
static bool page_of(const qdq_buffer_layout *l, uint64_t shard, uint64_t within, uint64_t *page) {
    uint64_t step = 1;
    *page = 0;
    for (int i = l->rank - 1; i >= 0; i--) {
        uint64_t at = shard % l->shard_grid[i] * l->shard_pages[i] + within % l->shard_pages[i];
        shard /= l->shard_grid[i];
        within /= l->shard_pages[i];
        if (at >= l->tensor_pages[i]) return false;
        *page += at * step;
        step *= l->tensor_pages[i];
    }
    return true;
}

static qdq_page_kind shard_page_at(const qdq_buffer_layout *l, uint64_t bank, uint64_t slot,
                                   uint64_t *page) {
    uint64_t core;
    if (!qdq_shard_cores_find(&l->spec, bank % l->grid_x, bank / l->grid_x, &core))
        return QDQ_PAGE_IDLE;
    uint64_t shard = shard_of(l, core, slot / l->pages_per_shard);
    if (shard == l->shards) return QDQ_PAGE_IDLE;
    return page_of(l, shard, slot % l->pages_per_shard, page) ? QDQ_PAGE_REAL : QDQ_PAGE_PADDING;
}

qdq_page_kind qdq_page_at(const qdq_buffer_layout *l, uint64_t buffer_address, uint64_t bank,
                          uint64_t address, uint64_t *page, uint64_t *byte) {
    *page = *byte = 0;
    if (bank >= l->banks || address < buffer_address ||
        address - buffer_address >= l->bytes_per_bank)
        return QDQ_PAGE_NONE;
    uint64_t slot = (address - buffer_address) / l->slot;
    *byte = (address - buffer_address) % l->slot;
    if (l->memory_layout != QDQ_INTERLEAVED) return shard_page_at(l, bank, slot, page);
    *page = slot * l->banks + bank;
    return *page < l->pages ? QDQ_PAGE_REAL : QDQ_PAGE_IDLE;
}
