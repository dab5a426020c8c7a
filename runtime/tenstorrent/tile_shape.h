// SPDX-License-Identifier: Apache-2.0
// The shapes that a tile may have, and the order of its elements. Every other file asks here.
#ifndef QDQ_RUNTIME_TENSTORRENT_TILE_SHAPE_H
#define QDQ_RUNTIME_TENSTORRENT_TILE_SHAPE_H

#include "include/qdq/tile.h"

// Returns `tile`, or 32x32 for a shape of zeros.
static inline qdq_tile_shape qdq_tile_shape_or_default(qdq_tile_shape tile) {
    if (tile.height == 0 && tile.width == 0) tile.height = tile.width = QDQ_TILE_DIM;
    return tile;
}

// True if a tile is 32x32 and not transposed. Zeros are not.
static inline bool qdq_tile_shape_is_default(qdq_tile_shape tile) {
    return tile.height == QDQ_TILE_DIM && tile.width == QDQ_TILE_DIM && !tile.transpose;
}

// True if two shapes are one; zeros are 32x32.
bool qdq_tile_shape_equal(qdq_tile_shape a, qdq_tile_shape b);
// True if most ops on a device take it: height 16 or 32. Lower tiles are for the host and for the
// first operand of products.
bool qdq_tile_shape_is_general(qdq_tile_shape tile);

static inline size_t qdq_tile_shape_elements(qdq_tile_shape tile) {
    return (size_t)tile.height * tile.width;
}

// Returns how many elements of a row lie side by side in the tile.
static inline size_t qdq_tile_shape_run(qdq_tile_shape tile) {
    return tile.transpose ? 1 : QDQ_FACE_DIM;
}

// Returns the offset of row r, column c in a legal tile, in elements. Heights are powers of two.
static inline size_t qdq_tile_shape_at(qdq_tile_shape tile, size_t r, size_t c) {
    enum { FACE_SHIFT = 4 };
    unsigned high = tile.height < QDQ_FACE_DIM ? tile.height : QDQ_FACE_DIM;
    unsigned high_shift = (unsigned)__builtin_ctz(high), wide = tile.width >> FACE_SHIFT;
    size_t i = r >> high_shift, j = c >> FACE_SHIFT;
    size_t face = tile.transpose ? j * (tile.height >> high_shift) + i : i * wide + j;
    r &= high - 1, c &= QDQ_FACE_DIM - 1;
    size_t in_face = tile.transpose ? c << high_shift | r : r << FACE_SHIFT | c;
    return (face << (high_shift + FACE_SHIFT)) + in_face;
}

#endif
