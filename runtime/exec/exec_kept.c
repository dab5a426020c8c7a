// SPDX-License-Identifier: Apache-2.0
// Reads the values that a plan keeps after a run: row-major copies, and their tiles where they lie.
#include <stdlib.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/plan_device.h"
#include "runtime/numerics/dtype.h"

static int compare_kept(const void *name, const void *kept) {
    return strcmp(name, ((const qdq_kept *)kept)->info.name);
}

static int compare_name(const void *name, const void *other) {
    return strcmp(name, *(const char *const *)other);
}

const qdq_kept *qdq_exec_find_kept(const qdq_plan *plan, const char *name) {
    if (!plan->kept_count) return NULL;
    return bsearch(name, plan->kept, plan->kept_count, sizeof *plan->kept, compare_kept);
}

bool qdq_exec_has_value(const qdq_plan *plan, const char *name) {
    return plan->name_count &&
           bsearch(name, plan->names, plan->name_count, sizeof(const char *), compare_name);
}

//---- Rows -------------------------------------------------------------------

// Copies tiles to rows and widens their elements to float32.
static void widen_tiles(const qdq_kept *kept, const char *memory, float *data) {
    _Alignas(64) unsigned char block[QDQ_TILE_ELEMENTS * QDQ_MAX_ELEMENT_BYTES];
    _Alignas(64) float wide[QDQ_TILE_ELEMENTS];
    qdq_dtype dtype = kept->info.dtype;
    qdq_tiling tiling = qdq_tiling_in(kept->info.shape, kept->tile);
    size_t elements = qdq_tile_shape_elements(tiling.tile);
    for (size_t i = 0; i < tiling.tiles; i++) {
        qdq_tile_load(dtype, elements, memory + i * qdq_tile_shape_bytes(tiling.tile, dtype),
                      block);
        qdq_decode_float(dtype, block, wide, elements);
        qdq_tiles_unpack(sizeof *wide, &tiling, i, 1, wide, data, false);
    }
}

void qdq_exec_copy_kept(const qdq_exec *exec, const qdq_kept *kept, bool widen, void *data) {
    const qdq_tensor_info *info = &kept->info;
    const char *memory = qdq_exec_place(exec, kept->place);
    const qdq_exec_io *input =
        kept->place.kind == QDQ_PLACE_INPUT ? &exec->inputs[kept->place.at] : NULL;
    size_t count = qdq_shape_count(info->shape);
    if (input && !input->bound && !input->written)  // before the first run
        memset(data, 0, widen ? count * sizeof(float) : info->bytes);
    else if (kept->place.kind == QDQ_PLACE_ARENA && widen)
        widen_tiles(kept, memory, data);
    else if (kept->place.kind == QDQ_PLACE_ARENA)
        qdq_untilize_in(info->dtype, info->shape, kept->tile, memory, data, NULL);
    else if (widen)
        qdq_decode_float(info->dtype, memory, data, count);
    else
        memcpy(data, memory, info->bytes);
}

//---- Tiles ------------------------------------------------------------------

// Returns the kept value of this name, if its tiles lie in the arena; else NULL, with `err` set.
static const qdq_kept *find_tiles(const qdq_exec *exec, const char *name, const void *out,
                                  qdq_error *err) {
    if (!exec || !name || !out) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "%s is NULL",
                 !exec  ? "the exec"
                 : name ? "the result"
                        : "the name of a value");
        return NULL;
    }
    const qdq_kept *kept = qdq_exec_find_kept(exec->plan, name);
    if (kept && kept->place.kind == QDQ_PLACE_ARENA) return kept;
    if (kept)
        qdq_fail(err, QDQ_ERR_ARGUMENT, "value '%s' lies row-major; compile with QDQ_PLAN_TILES",
                 name);
    else
        qdq_exec_not_kept(exec->plan, "value", name, err);
    return NULL;
}

qdq_status qdq_exec_not_kept(const qdq_plan *plan, const char *what, const char *name,
                             qdq_error *err) {
    if (qdq_exec_has_value(plan, name))
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "value '%s' is not kept; compile with keep", name);
    const char *near = NULL;
    for (size_t i = 0; !near && i < plan->name_count; i++)
        near = qdq_did_you_mean(name, &plan->names[i], 1);
    return qdq_fail(err, QDQ_ERR_ARGUMENT, "the graph has no %s named '%.200s'%s%s%s", what, name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// Returns the buffer of a value on the plan's device; NULL without one.
static const qdq_device_buffer *buffer_of(const qdq_exec *exec, const qdq_kept *kept) {
    return kept->buffer == SIZE_MAX ? NULL : &exec->plan->device->shown.buffers[kept->buffer];
}

static qdq_tiles_view view_of(const qdq_exec *exec, const qdq_kept *kept) {
    const qdq_tensor_info *info = &kept->info;
    qdq_tiling tiling = qdq_tiling_in(info->shape, kept->tile);
    size_t tiles = tiling.tiles, tile_bytes = qdq_tile_shape_bytes(tiling.tile, info->dtype);
    qdq_tiles_view view = {
        .data = qdq_exec_place(exec, kept->place),
        .dtype = info->dtype,
        .shape = info->shape,
        .padded_shape = qdq_padded_shape_in(info->shape, tiling.tile),
        .tiles = tiles,
        .tile_bytes = tile_bytes,
        .pages = (tiles * tile_bytes + QDQ_PAGE_BYTES - 1) / QDQ_PAGE_BYTES,
        .page_bytes = QDQ_PAGE_BYTES,
        .tile = tiling.tile,
    };
    const qdq_device_buffer *buffer = buffer_of(exec, kept);
    if (buffer) view.pages = (size_t)buffer->pages, view.page_bytes = (size_t)buffer->page_bytes;
    return view;
}

qdq_status qdq_exec_tiles(const qdq_exec *exec, const char *value, qdq_tiles_view *view,
                          qdq_error *err) {
    const qdq_kept *kept = find_tiles(exec, value, view, err);
    if (!kept) return QDQ_ERR_ARGUMENT;
    *view = view_of(exec, kept);
    return QDQ_OK;
}

// On a device a page is a tile, which the host keeps at its place in the order of tiles; pages of
// another form, and of weights that a convolution has as a matrix, have no place in the arena.
static void describe_device_page(const qdq_exec *exec, const qdq_kept *kept,
                                 const qdq_tiles_view *view, size_t page, qdq_page_info *info) {
    const qdq_device_buffer *buffer = buffer_of(exec, kept);
    bool is_tile = buffer->layout == QDQ_LAYOUT_TILE && view->page_bytes == view->tile_bytes &&
                   qdq_tile_shape_equal(buffer->tile, view->tile) &&
                   qdq_shape_equal(buffer->shape, view->shape);
    qdq_page place;
    if (!qdq_plan_buffer_page(exec->plan, kept->buffer, page, &place)) return;
    *info = (qdq_page_info){
        .pool = qdq_buffer_type_name(buffer->pool),
        .bank = (size_t)place.bank,
        .address = place.address,
        .offset = is_tile ? kept->place.at + page * view->tile_bytes : SIZE_MAX,
        .bytes = view->page_bytes,
    };
}

qdq_status qdq_exec_page(const qdq_exec *exec, const char *value, size_t page, qdq_page_info *info,
                         qdq_error *err) {
    const qdq_kept *kept = find_tiles(exec, value, info, err);
    if (!kept) return QDQ_ERR_ARGUMENT;
    const qdq_tiles_view view = view_of(exec, kept);
    if (page >= view.pages)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "value '%s' has %zu pages, wanted one of them: %zu",
                        value, view.pages, page);
    size_t offset = kept->place.at + page * view.page_bytes;
    if (buffer_of(exec, kept)) {
        describe_device_page(exec, kept, &view, page, info);
        return QDQ_OK;
    }
    *info = (qdq_page_info){
        .pool = "host", .address = offset, .offset = offset, .bytes = view.page_bytes};
    return QDQ_OK;
}
