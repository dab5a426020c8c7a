// SPDX-License-Identifier: Apache-2.0
// Copying whole tiles, which have no padding, between rows and tiles.
#ifndef QDQ_RUNTIME_TILES_KERNELS_TILE_COPY_H
#define QDQ_RUNTIME_TILES_KERNELS_TILE_COPY_H

#include <stdbool.h>
#include <stddef.h>

// Copies `count` tiles that lie side by side in row-major memory and one after the other as tiles.
// Elements have `size` bytes (1, 2, 4 or 8), a row begins `pitch` bytes behind the one above it.
// `past_cache`: with stores past the cache where there are any; qdq_stream_fence follows.
void qdq_tiles_from_rows(size_t size, size_t count, const void *rows, size_t pitch, void *tiles,
                         bool past_cache);
void qdq_rows_from_tiles(size_t size, size_t count, const void *tiles, void *rows, size_t pitch,
                         bool past_cache);

#endif
