// SPDX-License-Identifier: Apache-2.0
// How a plan stores values: resolves the compile options, marks the values that stay readable after
// a run and the inputs that steps cut from rows, decides how each value is cut into tiles, and
// lists the kept values in the plan.
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "graph/compile/compile.h"
#include "graph/memory/tensor_layouts.h"
#include "runtime/base/did_you_mean.h"
#include "runtime/tenstorrent/block_float.h"

//---- Options ----------------------------------------------------------------

qdq_storage qdq_storage_of(const qdq_compile_options *options, const qdq_target *target) {
    bool asked = options->layout == QDQ_PLAN_TILES || options->materialize;
    bool by_default = options->layout == QDQ_PLAN_DEFAULT && target->tiles && !options->fast;
    bool keep_all = options->keep_all || options->materialize;
    return (qdq_storage){
        .tiled = asked || by_default, .node_by_node = asked && keep_all, .keep_all = keep_all};
}

// Returns the option that `fast` excludes; NULL: none is given.
static const char *excluded_by_fast(const qdq_compile_options *options) {
    if (options->materialize) return "materialize";
    if (options->layout == QDQ_PLAN_TILES) return "tiles";
    if (options->device && !qdq_device_is_none(options->device)) return "device";
    if (options->keep_all || options->keep_count) return "keep";
    return options->float_storage == QDQ_FLOAT_BFLOAT16 ? "float-storage bfloat16" : NULL;
}

// Returns the option that holds values in tiles; NULL: none is given.
static const char *with_tiles(const qdq_compile_options *options) {
    if (options->materialize) return "materialize";
    return options->device && !qdq_device_is_none(options->device) ? "device" : NULL;
}

// Returns the value that `keep` names: a value of the graph, or the value of an output, by its name
// in the graph or else in the file. 0: none.
static uint32_t find_kept(const qdq_graph *graph, const char *name) {
    uint32_t id = qdq_graph_find(graph, name).id;
    if (!id) id = qdq_output_value(graph, name).id;
    if (!id) id = qdq_graph_find(graph, qdq_value_name_of(graph, name)).id;
    if (!id) id = qdq_output_value(graph, qdq_output_name_of(graph, name)).id;
    return id;
}

static const char *nearest_value(const qdq_graph *graph, const char *name) {
    for (size_t i = 1; i < graph->value_count; i++)
        if (qdq_did_you_mean(name, &graph->values[i].name, 1)) return graph->values[i].name;
    return NULL;
}

static qdq_status check_kept(const qdq_graph *graph, const char *name, qdq_error *err) {
    if (!name) return qdq_fail(err, QDQ_ERR_ARGUMENT, "the name of a value to keep is NULL");
    if (find_kept(graph, name)) return QDQ_OK;
    const char *near = nearest_value(graph, name);
    return qdq_fail(err, QDQ_ERR_ARGUMENT,
                    "the graph has no value named '%.200s' that could be kept%s%s%s", name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

qdq_status qdq_storage_check(const qdq_graph *graph, const qdq_compile_options *options,
                             qdq_error *err) {
    const char *excluded = options->fast ? excluded_by_fast(options) : NULL;
    if (excluded)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "fast and %s are both given, wanted one of them: integer execution "
                        "computes values that the other stores",
                        excluded);
    const char *needs_tiles = options->layout == QDQ_PLAN_ROWS ? with_tiles(options) : NULL;
    if (needs_tiles)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "rows and %s are both given, wanted one of them: it holds values in tiles",
                        needs_tiles);
    if (options->keep_count && !options->keep)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "keep is NULL, but keep_count is %zu",
                        options->keep_count);
    for (size_t i = 0; graph && i < options->keep_count; i++)
        QDQ_TRY(check_kept(graph, options->keep[i], err));
    return QDQ_OK;
}

// True if each step of a tiled plan cuts this input from the caller's rows, a block at a time in
// L1. Node by node, if it is kept, and if its tiles have another form than rows, an input is copied
// into tiles of the arena once.
static bool is_cut(const qdq_draft *draft, size_t id) {
    const qdq_draft_value *v = &draft->values[id];
    return draft->storage.tiled && !draft->storage.node_by_node && !v->kept &&
           draft->graph->values[id].kind == QDQ_VALUE_INPUT && qdq_tile_is_plain(v->type.dtype);
}

void qdq_draft_store(qdq_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 1; draft->storage.keep_all && i < graph->value_count; i++)
        draft->values[i].kept = graph->values[i].kind != QDQ_VALUE_CONSTANT;
    for (size_t i = 0; i < draft->options.keep_count; i++)
        draft->values[find_kept(graph, draft->options.keep[i])].kept = true;
    for (size_t i = 1; i < graph->value_count; i++) draft->values[i].cut = is_cut(draft, i);
}

//---- Tiles ------------------------------------------------------------------

// Returns the matrix of a tensor whose first `dims` dims become rows and the others columns.
static qdq_shape fold_dims(qdq_shape shape, int dims) {
    int64_t rows = 1, cols = 1;
    for (int i = 0; i < shape.rank; i++) *(i < dims ? &rows : &cols) *= shape.dims[i];
    return QDQ_SHAPE(rows, cols);
}

// Returns the matrix of all elements with the most columns that fit in one tile.
static qdq_shape one_tile_wide(qdq_shape shape) {
    int64_t count = (int64_t)qdq_shape_count(shape), cols = QDQ_TILE_DIM;
    while (count % cols) cols--;
    return QDQ_SHAPE(count / cols, cols);
}

qdq_shape qdq_draft_shape_in_tiles(const qdq_draft_value *v) {
    return v->stacked.rank ? v->stacked : v->type.shape;
}

// Returns the matrix as which a value is cut into tiles: its first dims become rows where that
// takes fewer tiles, and where a matrix one tile wide takes half of those, as vectors do, it is
// that. Rank 0: each plane of the last two dims is padded, because its tiles suit steps that walk
// tiles, or because no matrix takes fewer. A step that meets values of several kinds takes strips.
static qdq_shape stack(qdq_shape shape) {
    qdq_tiling planes = qdq_tiling_of(shape);
    size_t tiles = planes.tiles;
    qdq_shape best = {0};
    if (tiles <= 1 || qdq_suits_tiles(&planes)) return best;
    for (int dims = shape.rank - 1; dims > 0; dims--) {
        qdq_shape matrix = fold_dims(shape, dims);
        size_t taken = qdq_tiling_of(matrix).tiles;
        if (taken < tiles) tiles = taken, best = matrix;
    }
    qdq_shape narrow = one_tile_wide(shape);
    return qdq_tiling_of(narrow).tiles <= tiles / 2 ? narrow : best;
}

// True if a step that computes or reads this value walks tiles because the elements share bytes or
// an exponent: block floats everywhere, packed dtypes where they lie in tiles.
static bool needs_whole_tiles(const qdq_draft *draft, uint32_t id) {
    const qdq_draft_value *v = &draft->values[id];
    if (qdq_tile_is_plain(v->type.dtype)) return false;
    return qdq_dtype_is_block_float(v->type.dtype) ||
           (draft->graph->values[id].kind != QDQ_VALUE_CONSTANT && (v->read || v->kept));
}

// Lets the results of a step whose elements share bytes or an exponent have the tiles of x: such a
// step walks one order of tiles.
static void shape_as_x(qdq_draft *draft, const qdq_draft_step *step) {
    bool plain = qdq_tile_is_plain(draft->values[step->x].type.dtype);
    for (size_t i = 0; i < step->link_count; i++)
        plain &= qdq_tile_is_plain(draft->values[step->links[i].y].type.dtype);
    for (size_t i = 0; !plain && !step->tensor_op_node && i < step->link_count; i++)
        draft->values[step->links[i].y].tile = draft->values[step->x].tile;
}

// True if a value is a block float, whose elements share an exponent with neighbours of their row.
static bool has_block_floats(const qdq_draft *draft) {
    for (size_t id = 1; id < draft->graph->value_count; id++)
        if (qdq_dtype_is_block_float(draft->values[id].type.dtype)) return true;
    return false;
}

bool qdq_draft_shape_tiles(qdq_draft *draft) {
    qdq_tensor_layouts layouts;
    if (!draft->storage.tiled || !draft->graph->given_layouts) return true;
    if (!qdq_tensor_layouts_make(draft->graph, draft->mempool, &layouts)) return false;
    bool turns = !has_block_floats(draft);
    for (uint32_t id = 1; id < draft->graph->value_count; id++) {
        const qdq_tensor_layout *layout = qdq_tensor_layout_of(&layouts, id);
        if (layout->layout == QDQ_LAYOUT_TILE) draft->values[id].tile = layout->tile;
        draft->values[id].tile.transpose &= turns;
    }
    for (size_t i = 0; i < draft->step_count; i++) shape_as_x(draft, &draft->steps[i]);
    return true;
}

static void unstack(qdq_draft *draft, uint32_t id) { draft->values[id].stacked = (qdq_shape){0}; }

// Unstacks values of a step that has to walk tiles: it has one order of tiles for all its values.
static void unstack_whole_tiles(qdq_draft *draft, const qdq_draft_step *step) {
    bool whole = needs_whole_tiles(draft, step->x);
    for (size_t i = 0; i < step->link_count; i++)
        whole |= needs_whole_tiles(draft, step->links[i].y);
    if (!whole) return;
    unstack(draft, step->x);
    for (size_t i = 0; i < step->link_count; i++) {
        unstack(draft, step->links[i].y);
        for (size_t k = 0; k < step->links[i].stage->stage_param_count; k++)
            unstack(draft, step->links[i].sources[k]);
    }
}

void qdq_draft_stack(qdq_draft *draft) {
    if (!draft->storage.tiled || draft->storage.node_by_node) return;
    for (size_t i = 1; i < draft->graph->value_count; i++) {
        qdq_draft_value *v = &draft->values[i];
        bool is_free = !v->kept && qdq_tile_shape_equal(v->tile, (qdq_tile_shape){0});
        if (is_free && qdq_tile_is_plain(v->type.dtype)) v->stacked = stack(v->type.shape);
    }
    for (size_t i = 0; i < draft->step_count; i++) unstack_whole_tiles(draft, &draft->steps[i]);
}

//---- The lists of a plan ----------------------------------------------------

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_kept_name(const void *a, const void *b) {
    return strcmp(((const qdq_kept *)a)->info.name, ((const qdq_kept *)b)->info.name);
}

// True if the caller can read a value back. Node by node, constants in tiles are readable as well.
static bool is_readable(const qdq_compiler *c, size_t id) {
    const qdq_draft_value *v = &c->draft.values[id];
    return c->located[id].place.kind && (v->kept || (v->loaded && c->draft.storage.keep_all));
}

qdq_status qdq_compile_kept(qdq_compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    qdq_plan *plan = c->plan;
    size_t count = 0;
    for (size_t id = 1; id < graph->value_count; id++) count += is_readable(c, id);
    plan->kept = qdq_mempool_array(&plan->mempool, count, sizeof *plan->kept);
    plan->names = qdq_mempool_array(&plan->mempool, graph->value_count, sizeof *plan->names);
    if (!plan->kept || !plan->names) return qdq_draft_stopped(&c->draft, c->err);
    for (size_t id = 1; id < graph->value_count; id++) {
        const qdq_located *l = &c->located[id];
        const char *name = qdq_mempool_strdup(&plan->mempool, graph->values[id].name);
        if (!name) return qdq_draft_stopped(&c->draft, c->err);
        plan->names[plan->name_count++] = name;
        if (!is_readable(c, id)) continue;
        size_t bytes = qdq_shape_count(l->shape) * qdq_dtype_size(l->dtype);
        bool on_device = plan->device && c->slot_of[id] != SIZE_MAX;
        plan->kept[plan->kept_count++] =
            (qdq_kept){.info = {name, l->dtype, l->shape, bytes},
                       .place = l->place,
                       .tile = l->tile,
                       .buffer = on_device ? plan->device->buffer_of[id] : SIZE_MAX};
    }
    qsort(plan->names, plan->name_count, sizeof *plan->names, by_name);
    qsort(plan->kept, plan->kept_count, sizeof *plan->kept, by_kept_name);
    return QDQ_OK;
}
