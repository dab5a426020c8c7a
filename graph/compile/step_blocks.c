// SPDX-License-Identifier: Apache-2.0
// Decides whether a step walks tiles or strips, and which tiles.
#include "graph/compile/compile.h"

// A row of up to this many tiles is narrow: a strip collects its elements from few places.
enum { NARROW_TILES = 4 };

bool qdq_suits_tiles(const qdq_tiling *t) {
    size_t elements = t->tile_rows * t->tile_cols * qdq_tile_shape_elements(t->tile);
    bool half_full = t->rows * t->cols * 2 >= elements;
    return half_full && (t->cols % t->tile.width == 0 || t->tile_cols > NARROW_TILES);
}

// True if nothing that a step reads or stores lies in tiles. The step then takes strips: tiles that
// are cut from rows and become rows again would only cost time, because an element has the same
// result in any order.
static bool only_rows(const qdq_step *step) {
    if (step->x.place.kind == QDQ_PLACE_ARENA) return false;
    for (size_t i = 0; i < step->link_count; i++) {
        const qdq_link *link = &step->links[i];
        if (link->store.kind == QDQ_PLACE_ARENA) return false;
        for (size_t k = 0; k < link->stage_param_count; k++)
            if (link->stage_params[k].fetch == QDQ_FETCH_TILES) return false;
    }
    return true;
}

static bool same_tiles(const qdq_tiling *a, const qdq_tiling *b) {
    return a->planes == b->planes && a->rows == b->rows && a->cols == b->cols &&
           qdq_tile_shape_equal(a->tile, b->tile);
}

// Returns the tiling of a value that the step reads or stores in tiles. If no value lies in tiles,
// the tiling of x.
static qdq_tiling tiling_of(const qdq_step *step) {
    for (size_t i = 0; step->x.place.kind != QDQ_PLACE_ARENA && i < step->link_count; i++) {
        const qdq_link *link = &step->links[i];
        if (link->store.kind == QDQ_PLACE_ARENA) return link->tiling;
        for (size_t k = 0; k < link->stage_param_count; k++)
            if (link->stage_params[k].fetch == QDQ_FETCH_TILES) return link->stage_params[k].tiling;
    }
    return qdq_tiling_in(step->x.shape, step->x.tile);
}

// True if tile i holds the same elements in all values that the step reads or stores in tiles.
// Values that are stacked in several ways, or lie in tiles of several shapes, may meet in a step.
static bool tiles_agree(const qdq_step *step) {
    for (size_t i = 0; i < step->link_count; i++) {
        const qdq_link *link = &step->links[i];
        if (link->store.kind == QDQ_PLACE_ARENA && !same_tiles(&link->tiling, &step->tiling))
            return false;
        for (size_t k = 0; k < link->stage_param_count; k++)
            if (link->stage_params[k].fetch == QDQ_FETCH_TILES &&
                !same_tiles(&link->stage_params[k].tiling, &step->tiling))
                return false;
    }
    return true;
}

void qdq_choose_blocks(const qdq_compiler *c, qdq_step *step) {
    const qdq_storage *storage = &c->draft.storage;
    step->tiling = tiling_of(step);
    bool agree = storage->tiled && tiles_agree(step);
    step->tiled = step->computes_padding || (storage->on_device && agree) ||
                  (agree && qdq_suits_tiles(&step->tiling) && !only_rows(step));
    step->blocks = step->tiled ? step->tiling.tiles
                               : (step->elements + QDQ_BLOCK_ELEMENTS - 1) / QDQ_BLOCK_ELEMENTS;
}
