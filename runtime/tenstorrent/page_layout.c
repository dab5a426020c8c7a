// SPDX-License-Identifier: Apache-2.0
// Tensors as pages: a tile each, or a row each.
#include "runtime/tenstorrent/page_layout.h"

#include "runtime/base/error.h"
#include "runtime/tenstorrent/device_pool.h"

// More elements than these are refused, so that bytes of pages never overflow.
#define MOST_ELEMENTS (UINT64_C(1) << 48)

//---- Pages ------------------------------------------------------------------

static qdq_memory_rule check_tensor(const qdq_device_tensor *t, qdq_error *err) {
    const qdq_dtype_info *info = qdq_dtype_get(t->dtype);
    qdq_tile_shape tile = qdq_tile_shape_or_default(t->tile);
    if (!info) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the tensor has no dtype");
        return QDQ_MEMORY_DTYPE;
    }
    if (t->shape.rank < 0 || t->shape.rank > QDQ_MAX_RANK) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the rank is %d, wanted 0 to %d", t->shape.rank,
                 QDQ_MAX_RANK);
        return QDQ_MEMORY_SHAPE;
    }
    if (t->layout != QDQ_LAYOUT_TILE && t->layout != QDQ_LAYOUT_ROW_MAJOR) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the layout is %d, wanted TILE or ROW_MAJOR",
                 (int)t->layout);
        return QDQ_MEMORY_LAYOUT;
    }
    if (t->layout == QDQ_LAYOUT_TILE && !qdq_tile_shape_is_legal(tile)) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "a tile of %ux%u%s does not exist: wanted a height of 32, 16, 8, 4, 2 or 1 and a "
                 "width of 32 or 16, and to be transposed a height of 32 or 16",
                 tile.height, tile.width, tile.transpose ? ", transposed," : "");
        return QDQ_MEMORY_TILE;
    }
    if (t->layout == QDQ_LAYOUT_ROW_MAJOR && info->kind == QDQ_KIND_BLOCK_FLOAT) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "%s lies in tiles only, wanted layout TILE", info->name);
        return QDQ_MEMORY_DTYPE;
    }
    return QDQ_MEMORY_FINE;
}

// Rounds `n` up to pages. False if it is too large to.
static bool pages_of(uint64_t n, uint64_t page, uint64_t *out) {
    if (n > MOST_ELEMENTS || page > MOST_ELEMENTS) return false;
    *out = (n + page - 1) / page;
    return *out * page <= MOST_ELEMENTS;
}

// Pads and folds; false if dims are negative or the elements are too many.
static bool fold(const qdq_shape *shape, qdq_page_layout *out) {
    uint64_t elements = out->page_height * out->page_width;
    // Rank 0 and 1 are one row.
    out->rank = shape->rank < 2 ? 2 : shape->rank;
    for (int i = 0; i < out->rank; i++) {
        int at = i + shape->rank - out->rank;
        int64_t dim = at < 0 ? 1 : shape->dims[at];
        uint64_t page = i == out->rank - 1   ? out->page_width
                        : i == out->rank - 2 ? out->page_height
                                             : 1;
        if (dim < 0 || !pages_of((uint64_t)dim, page, &out->dims[i])) return false;
        if (__builtin_mul_overflow(elements, out->dims[i], &elements)) return false;
    }
    if (elements > MOST_ELEMENTS) return false;
    out->pages_wide = out->dims[out->rank - 1];
    out->pages = elements / out->page_height / out->page_width;
    out->pages_high = out->pages_wide ? out->pages / out->pages_wide : 0;
    out->height = out->pages_high * out->page_height;
    out->width = out->pages_wide * out->page_width;
    return true;
}

qdq_memory_rule qdq_page_layout_of(const qdq_device_tensor *t, uint64_t shard_width,
                                   qdq_page_layout *out, qdq_error *err) {
    *out = (qdq_page_layout){0};
    qdq_memory_rule rule = check_tensor(t, err);
    if (rule != QDQ_MEMORY_FINE) return rule;
    if (t->layout == QDQ_LAYOUT_TILE) {
        qdq_tile_shape tile = qdq_tile_shape_or_default(t->tile);
        out->page_height = tile.height;
        out->page_width = tile.width;
        out->page_size = qdq_tile_shape_bytes(tile, t->dtype);
    } else {
        int64_t width = t->shape.rank ? t->shape.dims[t->shape.rank - 1] : 1;
        out->page_height = 1;
        out->page_width = shard_width ? shard_width : width > 0 ? (uint64_t)width : 1;
        if (out->page_width <= MOST_ELEMENTS)
            out->page_size = out->page_width * qdq_dtype_size(t->dtype);
    }
    if (out->page_width > MOST_ELEMENTS || !fold(&t->shape, out)) {
        qdq_fail(err, QDQ_ERR_ARGUMENT,
                 "the shape has a negative dim or more than 2^48 elements with its padding");
        return QDQ_MEMORY_SHAPE;
    }
    if (out->pages == 0) out->page_size = 4;
    return QDQ_MEMORY_FINE;
}

void qdq_page_layout_element(const qdq_page_layout *pages, const qdq_device_tensor *t, uint64_t row,
                             uint64_t column, uint64_t *page, uint64_t *element) {
    uint64_t r = row % pages->page_height, c = column % pages->page_width;
    *page = row / pages->page_height * pages->pages_wide + column / pages->page_width;
    *element = c;
    if (t->layout == QDQ_LAYOUT_TILE)  // r and c are below the sides of a tile
        *element = qdq_tile_shape_at(qdq_tile_shape_or_default(t->tile), (size_t)r, (size_t)c);
}
