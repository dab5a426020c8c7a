// SPDX-License-Identifier: Apache-2.0
// Copies tiles without padding between row-major memory and tiles.
#ifndef QDQ_RUNTIME_TILES_KERNELS_TILE_COPY_H
#define QDQ_RUNTIME_TILES_KERNELS_TILE_COPY_H

#include "include/qdq/tile.h"

// Copies `count` tiles that are neighbours in row-major memory and lie one after the other as
// tiles. Elements have `size` bytes (1, 2, 4 or 8), rows begin `pitch` bytes apart. `past_cache`:
// with stores past the cache if the CPU has any; the caller must then call qdq_stream_fence.
void qdq_tiles_from_rows(size_t size, size_t count, const void *rows, size_t pitch, void *tiles,
                         bool past_cache);
void qdq_rows_from_tiles(size_t size, size_t count, const void *tiles, void *rows, size_t pitch,
                         bool past_cache);

// The same for CPUs with AVX2.
void qdq_tiles_from_rows_avx2(size_t size, size_t count, const void *rows, size_t pitch,
                              void *tiles, bool past_cache);
void qdq_rows_from_tiles_avx2(size_t size, size_t count, const void *tiles, void *rows,
                              size_t pitch, bool past_cache);

// `count` rows of n elements: rows of a list, `pitch` bytes apart, and rows of all tiles, the first
// from element `at` on. No row goes beyond the end of a row of the tensor.
typedef struct qdq_rectangle {
    const qdq_tiling *tiling;
    size_t at, n, count;
    char *list;
    size_t pitch;
    char *tiles;
} qdq_rectangle;

// Copies a rectangle of elements of `size` bytes to tiles of 32x32, or to the list; for CPUs with
// AVX2.
void qdq_tile_rows_avx2(size_t size, bool put, const qdq_rectangle *of);

#endif
