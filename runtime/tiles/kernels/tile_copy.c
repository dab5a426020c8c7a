// SPDX-License-Identifier: Apache-2.0
// Copies tiles without padding in an order that suits the cache, in groups of neighbours: in pieces
// of 16 bytes, or of 32 if the CPU has AVX2.
enum { PIECE = 16 };
#define TILES_FROM_ROWS tiles_from_rows
#define ROWS_FROM_TILES rows_from_tiles
#include "runtime/tiles/kernels/tile_copy.h"

#include "runtime/base/cpu.h"

static void tiles_from_rows(size_t size, size_t count, const void *rows, size_t pitch, void *tiles,
                            bool past_cache);
static void rows_from_tiles(size_t size, size_t count, const void *tiles, void *rows, size_t pitch,
                            bool past_cache);

#include "runtime/tiles/kernels/tile_copy.inc.h"

void qdq_tiles_from_rows(size_t size, size_t count, const void *rows, size_t pitch, void *tiles,
                         bool past_cache) {
#if defined(QDQ_SIMD_X86)
    if (qdq_cpu_has_avx2()) {
        qdq_tiles_from_rows_avx2(size, count, rows, pitch, tiles, past_cache);
        return;
    }
#endif
    tiles_from_rows(size, count, rows, pitch, tiles, past_cache);
}

void qdq_rows_from_tiles(size_t size, size_t count, const void *tiles, void *rows, size_t pitch,
                         bool past_cache) {
#if defined(QDQ_SIMD_X86)
    if (qdq_cpu_has_avx2()) {
        qdq_rows_from_tiles_avx2(size, count, tiles, rows, pitch, past_cache);
        return;
    }
#endif
    rows_from_tiles(size, count, tiles, rows, pitch, past_cache);
}
