// SPDX-License-Identifier: Apache-2.0
// Tiles: where one lies in a row-major tensor, and copying one or some in and out.
#ifndef QDQ_RUNTIME_TILES_TILE_H
#define QDQ_RUNTIME_TILES_TILE_H

#include "include/qdq/tile.h"

// The valid part of a tile: its top left element in row-major order, and its extent.
typedef struct qdq_tile_at {
    size_t first;
    size_t rows, cols;  // 1..32
} qdq_tile_at;

qdq_tile_at qdq_tile_locate(const qdq_tiling *tiling, size_t tile);

// Copies the valid elements (of `size` bytes) of tile number `tile` between a whole row-major
// tensor and the 1024 elements of one tile. Padding is left as it is.
void qdq_tile_pack(size_t size, const qdq_tiling *tiling, size_t tile, const void *rows, void *out);
void qdq_tile_unpack(size_t size, const qdq_tiling *tiling, size_t tile, const void *in,
                     void *rows);

// Makes the padding of such a block zero.
void qdq_tile_clear_padding(size_t size, const qdq_tiling *tiling, size_t tile, void *block);

// Whether a tile of the arena holds elements as the API does. Not so types narrower than a byte,
// which are packed, and block floats.
bool qdq_tile_is_plain(qdq_dtype dtype);

// Between a block (1024 elements in tile order, as the API holds them) and a tile of the arena.
void qdq_tile_store(qdq_dtype dtype, const void *block, void *tile);
void qdq_tile_load(qdq_dtype dtype, const void *tile, void *block);

// Tiles begin..end of what qdq_tilize and qdq_untilize copy.
void qdq_tilize_range(qdq_dtype dtype, const qdq_tiling *tiling, const void *rows, void *tiles,
                      size_t begin, size_t end);
void qdq_untilize_range(qdq_dtype dtype, const qdq_tiling *tiling, const void *tiles, void *rows,
                        size_t begin, size_t end);

#endif
