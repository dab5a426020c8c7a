// SPDX-License-Identifier: Apache-2.0
// Tiles of 32x32 elements, or of another shape: which part of a row-major tensor a tile holds, and
// copies of one tile or of many between rows and tiles.
#ifndef QDQ_RUNTIME_TILES_TILE_H
#define QDQ_RUNTIME_TILES_TILE_H

#include "runtime/tenstorrent/tile_shape.h"

// The valid part of a tile: the number of its top left element in row-major order, and its extent.
typedef struct qdq_tile_at {
    size_t first;
    size_t rows, cols;  // 1 to the tile's height and width
} qdq_tile_at;

qdq_tile_at qdq_tile_locate(const qdq_tiling *tiling, size_t tile);
// True if the tile has no padding.
bool qdq_tile_is_whole(const qdq_tiling *tiling, qdq_tile_at at);

// Returns how many neighbouring tiles from number `tile` on, in one row of tiles and before `end`,
// have no padding.
size_t qdq_tile_whole_run(const qdq_tiling *tiling, size_t tile, size_t end);

// Copies the valid elements (of `size` bytes) of `count` tiles from number `tile` on between a
// row-major tensor and tiles that lie one after the other. Padding is not written. More than one
// tile: they have no padding and are neighbours. `past_cache` is for many tiles of 32x32, as in
// qdq_tiles_from_rows.
void qdq_tiles_pack(size_t size, const qdq_tiling *tiling, size_t tile, size_t count,
                    const void *rows, void *out, bool past_cache);
void qdq_tiles_unpack(size_t size, const qdq_tiling *tiling, size_t tile, size_t count,
                      const void *in, void *rows, bool past_cache);

// Copies n side-by-side elements, from number `at` on in row-major order, to their places in all
// tiles of a tensor, or back.
void qdq_tile_put_run(size_t size, const qdq_tiling *tiling, size_t at, size_t n, const void *from,
                      void *tiles);
void qdq_tile_get_run(size_t size, const qdq_tiling *tiling, size_t at, size_t n, const void *tiles,
                      void *to);

// Copies `count` rows of n elements, `pitch` bytes apart, to the rows of all tiles of a tensor, or
// back. The first begins at element `at`, the next at + tiling->cols; none goes beyond its row.
void qdq_tile_put_rows(size_t size, const qdq_tiling *tiling, size_t at, size_t n, size_t count,
                       const void *from, size_t pitch, void *tiles);
void qdq_tile_get_rows(size_t size, const qdq_tiling *tiling, size_t at, size_t n, size_t count,
                       const void *tiles, void *to, size_t pitch);

// Takes the lines of such rows of the tiles into the cache for writing. They lie so far apart that
// the hardware does not foresee them. Does nothing for tiles that are not 32x32.
void qdq_tile_expect_rows(size_t size, const qdq_tiling *tiling, size_t at, size_t n, size_t count,
                          void *tiles);

// Sets the padding of a tile to zero.
void qdq_tile_clear_padding(size_t size, const qdq_tiling *tiling, size_t tile, void *block);
// Sets the padding of a tile of float32 to a number.
void qdq_tile_fill_padding(float number, const qdq_tiling *tiling, size_t tile, float *block);

// True if a tile of the arena holds elements in the form of the API. Types narrower than a byte are
// packed in the arena, and block floats have a separate form.
bool qdq_tile_is_plain(qdq_dtype dtype);

// Converts between a block (the elements of a tile in tile order, in the form of the API) and a
// tile of the arena.
void qdq_tile_store(qdq_dtype dtype, size_t elements, const void *block, void *tile);
void qdq_tile_load(qdq_dtype dtype, size_t elements, const void *tile, void *block);

// Sets the padding of all tiles of a tensor to zero, in the form of the arena.
void qdq_tiles_clear_padding(qdq_dtype dtype, const qdq_tiling *tiling, void *tiles);

// Copies tiles begin..end as qdq_tilize and qdq_untilize copy all of them.
void qdq_tilize_range(qdq_dtype dtype, const qdq_tiling *tiling, const void *rows, void *tiles,
                      size_t begin, size_t end);
void qdq_untilize_range(qdq_dtype dtype, const qdq_tiling *tiling, const void *tiles, void *rows,
                        size_t begin, size_t end);

#endif
