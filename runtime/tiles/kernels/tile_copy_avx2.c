// SPDX-License-Identifier: Apache-2.0
// Copies of tiles in pieces of 32 bytes.
enum { PIECE = 32 };
#define TILES_FROM_ROWS qdq_tiles_from_rows_avx2
#define ROWS_FROM_TILES qdq_rows_from_tiles_avx2
#include "runtime/tiles/kernels/tile_copy.inc.h"

#define TILE_ROWS qdq_tile_rows_avx2
#include "runtime/tiles/kernels/tile_rows.inc.h"
