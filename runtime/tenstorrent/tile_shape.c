// SPDX-License-Identifier: Apache-2.0
// The shapes of tiles that tt-metal has, their bytes and the order of their elements.
#include "runtime/tenstorrent/tile_shape.h"

#include "include/qdq/numerics.h"
#include "runtime/tenstorrent/block_float.h"

bool qdq_tile_shape_equal(qdq_tile_shape a, qdq_tile_shape b) {
    a = qdq_tile_shape_or_default(a), b = qdq_tile_shape_or_default(b);
    return a.height == b.height && a.width == b.width && a.transpose == b.transpose;
}

static bool is_wide_enough(qdq_tile_shape tile) {
    return tile.width == QDQ_FACE_DIM || tile.width == QDQ_TILE_DIM;
}

bool qdq_tile_shape_is_general(qdq_tile_shape tile) {
    tile = qdq_tile_shape_or_default(tile);
    return is_wide_enough(tile) && (tile.height == QDQ_FACE_DIM || tile.height == QDQ_TILE_DIM);
}

bool qdq_tile_shape_is_legal(qdq_tile_shape tile) {
    if (qdq_tile_shape_is_general(tile)) return true;
    bool low = tile.height == 1 || tile.height == 2 || tile.height == 4 || tile.height == 8;
    return low && is_wide_enough(tile) && !tile.transpose;
}

size_t qdq_tile_shape_bytes(qdq_tile_shape tile, qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (!info || !qdq_tile_shape_is_legal(tile)) return 0;
    size_t elements = qdq_tile_shape_elements(qdq_tile_shape_or_default(tile));
    size_t codes = elements * (size_t)info->bits / 8;
    return info->kind == QDQ_KIND_BLOCK_FLOAT ? qdq_block_float_codes_at(elements) + codes : codes;
}

size_t qdq_tile_shape_offset(qdq_tile_shape tile, size_t r, size_t c) {
    tile = qdq_tile_shape_or_default(tile);
    bool is_there = qdq_tile_shape_is_legal(tile) && r < tile.height && c < tile.width;
    return is_there ? qdq_tile_shape_at(tile, r, c) : 0;
}
