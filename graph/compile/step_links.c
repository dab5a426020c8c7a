// SPDX-License-Identifier: Apache-2.0
// The links of a step: tile functions, where their parameters come from, and where results go.
// lower.c decides which nodes join a step.
#include <string.h>

#include "graph/compile/compile.h"
#include "runtime/numerics/dtype.h"

size_t qdq_reserve_scratch(qdq_compiler *c, size_t count, size_t size) {
    size_t at = c->plan->param_bytes;
    size_t bytes = qdq_arena_aligned(qdq_size_times(count, size));
    c->plan->param_bytes = qdq_size_add(at, bytes);
    return at;
}

static void copy_tile(const void *params, const qdq_view *views, const void *x, void *y, size_t n) {
    (void)views;
    memcpy(y, x, n * qdq_dtype_size(*(const qdq_dtype *)params));
}

bool qdq_place_is_row_major(qdq_place place) {
    return place.kind != QDQ_PLACE_NONE && place.kind != QDQ_PLACE_ARENA;
}

// True if each element of x has its parameter at the same place in a tile if both are stacked or
// neither.
static bool matches_tiles(const qdq_param *v, qdq_shape source, qdq_shape x) {
    qdq_tiling a = qdq_tiling_of(source), b = qdq_tiling_of(x);
    return v->count == qdq_shape_count(x) && qdq_tile_is_plain(v->source.dtype) &&
           a.rows == b.rows && a.cols == b.cols;
}

static qdq_fetch fetch_from_rows(const qdq_param *v) {
    if (v->source.dtype == (v->is_int ? QDQ_INT32 : QDQ_FLOAT32)) return QDQ_FETCH_IN_PLACE;
    return v->count > QDQ_BLOCK_ELEMENTS ? QDQ_FETCH_BLOCK : QDQ_FETCH_LIST;
}

// Chooses how a link fetches a parameter; `x` is the value with the elements that the parameters go
// with.
static qdq_fetch fetch_of(const qdq_param *v, const qdq_draft_value *source,
                          const qdq_draft_value *x) {
    bool in_arena = v->source.place.kind == QDQ_PLACE_ARENA;
    bool matches = matches_tiles(v, source->type.shape, x->type.shape);
    bool alike = matches && qdq_tile_shape_equal(source->tile, x->tile);
    if (in_arena && v->count > QDQ_BLOCK_ELEMENTS && alike) return QDQ_FETCH_TILES;
    if (source->cut && v->count > 1 && matches) return QDQ_FETCH_CUT;
    return qdq_place_is_row_major(v->source.place) ? fetch_from_rows(v) : QDQ_FETCH_LIST;
}

void qdq_read_params_by_strips(qdq_step *step) {
    for (size_t i = 0; i < step->link_count; i++)
        for (size_t k = 0; k < step->links[i].stage_param_count; k++) {
            qdq_param *v = &step->links[i].stage_params[k];
            if (v->fetch != QDQ_FETCH_CUT) continue;
            v->fetch = fetch_from_rows(v);
            if (v->fetch == QDQ_FETCH_LIST) v->fetch = QDQ_FETCH_BLOCK;  // no list is reserved
        }
}

// Returns the link that recomputes a parameter. Its own parameters are known.
static const qdq_link *link_through(qdq_compiler *c, const qdq_draft_link *draft) {
    qdq_mempool *mempool = &c->plan->mempool;
    const qdq_stage *stage = draft->stage;
    qdq_link *link = QDQ_MEMPOOL_NEW(mempool, qdq_link);
    qdq_param *known = qdq_mempool_array(mempool, stage->stage_param_count + 1, sizeof *known);
    if (!link || !known) return NULL;
    for (size_t k = 0; k < stage->stage_param_count; k++) {
        const qdq_stage_param *from = &stage->stage_params[k];
        known[k] = (qdq_param){
            .is_int = from->is_int, .grid = from->grid, .count = 1, .values = from->values};
    }
    *link = (qdq_link){.fn = stage->fn,
                       .params = stage->params,
                       .y_dtype = c->located[draft->y].dtype,
                       .stage_param_count = stage->stage_param_count,
                       .stage_params = known};
    return link;
}

// Returns the number of a parameter that is a constant, in the form that links read; NULL: it is
// none, or memory runs out.
static const uint32_t *known_number(const qdq_compiler *c, const qdq_param *v) {
    if (v->count != 1 || v->source.place.kind != QDQ_PLACE_CONSTANT) return NULL;
    const char *element = (const char *)c->plan->constants + v->source.place.at;
    uint32_t *number = QDQ_MEMPOOL_NEW(&c->plan->mempool, uint32_t);
    if (number && v->is_int)
        qdq_decode_int(v->source.dtype, element, (int32_t *)(void *)number, 1);
    else if (number)
        qdq_decode_float(v->source.dtype, element, (float *)(void *)number, 1);
    return number;
}

void qdq_set_params(qdq_compiler *c, const qdq_stage *stage, const uint32_t *sources,
                    const qdq_draft_link *const *through, uint32_t x, qdq_param *stage_params) {
    for (size_t k = 0; k < stage->stage_param_count; k++) {
        const qdq_stage_param *from = &stage->stage_params[k];
        stage_params[k] = (qdq_param){.is_int = from->is_int,
                                      .grid = from->grid,
                                      .count = from->count,
                                      .values = from->values};
        if (!sources[k]) continue;
        stage_params[k].source = c->located[sources[k]];
        stage_params[k].tiling =
            qdq_tiling_in(stage_params[k].source.shape, stage_params[k].source.tile);
        if (through && through[k]) {
            stage_params[k].fetch = QDQ_FETCH_THROUGH;
            stage_params[k].through = link_through(c, through[k]);
            continue;
        }
        stage_params[k].fetch =
            fetch_of(&stage_params[k], &c->draft.values[sources[k]], &c->draft.values[x]);
        stage_params[k].values = known_number(c, &stage_params[k]);
        if (stage_params[k].fetch == QDQ_FETCH_LIST)
            stage_params[k].exec_offset =
                qdq_reserve_scratch(c, from->count, 4 + QDQ_MAX_ELEMENT_BYTES);
    }
}

qdq_place qdq_place_of_made(const qdq_compiler *c, uint32_t id) {
    const qdq_draft_value *v = &c->draft.values[id];
    const qdq_storage *storage = &c->draft.storage;
    if (qdq_draft_is_only_returned(&c->draft, id) && v->output != SIZE_MAX)
        return (qdq_place){QDQ_PLACE_OUTPUT, v->output};
    bool unread = storage->tiled && !storage->node_by_node && !v->read && !v->kept;
    return unread || v->cut ? (qdq_place){0} : c->located[id].place;
}

qdq_link qdq_link_of(qdq_compiler *c, const qdq_draft_link *draft, uint32_t x) {
    uint32_t y = draft->y ? draft->y : x;
    qdq_link link = {.fn = draft->stage->fn,
                     .params = draft->stage->params,
                     .y_dtype = c->located[y].dtype,
                     .tiling = qdq_tiling_in(c->located[y].shape, c->located[y].tile),
                     .block_float_store = draft->stage->block_float_store,
                     .padding = draft->stage->padding};
    size_t stage_params = draft->stage->stage_param_count;
    if (!draft->node) {
        link.fn = copy_tile;
        link.copies = true;
        link.params =
            qdq_mempool_copy(&c->plan->mempool, &c->located[x].dtype, 1, sizeof(qdq_dtype));
    }
    if (draft->output != SIZE_MAX)
        link.store = (qdq_place){QDQ_PLACE_OUTPUT, draft->output};
    else
        link.store = qdq_place_of_made(c, y);
    if (link.copies && !link.store.kind) link.fn = NULL;
    if (!stage_params) return link;
    link.stage_params =
        qdq_mempool_array(&c->plan->mempool, stage_params, sizeof *link.stage_params);
    if (!link.stage_params) return link;
    link.stage_param_count = stage_params;
    qdq_set_params(c, draft->stage, draft->sources, draft->through, x, link.stage_params);
    return link;
}
