// SPDX-License-Identifier: Apache-2.0
// Which elements share a parameter. A grid cuts a tensor into blocks of equal extent (the last one
// of a dim may be short); block number i in row-major order of the blocks has parameter number i.
// Per tensor, per channel and per group are grids that differ in their extents only.
#ifndef QDQ_RUNTIME_TILES_GRID_H
#define QDQ_RUNTIME_TILES_GRID_H

#include "include/qdq/base.h"
#include "runtime/tiles/tile.h"

// Dims are merged where they can be: most grids have one to three left.
typedef struct qdq_grid {
    int rank;                     // 0: one block
    size_t dims[QDQ_MAX_RANK];    // elements
    size_t extent[QDQ_MAX_RANK];  // elements of a block, 1..dims
    size_t blocks[QDQ_MAX_RANK];  // ceil(dims / extent)
    size_t count;                 // of blocks in all
} qdq_grid;

// `extents` has shape.rank entries in 1..dim.
qdq_grid qdq_grid_of(qdq_shape shape, const int64_t *extents);

// The block of element `at` (in row-major order), and in *run how many elements from there on lie
// in the same block without a gap (at least 1).
size_t qdq_grid_block(const qdq_grid *grid, size_t at, size_t *run);

// Elements that are so many apart lie in blocks with the same number: the first dim is one block.
// All of them where nothing repeats.
size_t qdq_grid_period(const qdq_grid *grid);

// A walk over elements in row-major order, run by run: so many elements from `at` on have block
// number `block`, or, where `step` is 1, one block each from there on. A step of the walk costs no
// division as long as it stays in a row.
typedef struct qdq_grid_walk {
    const qdq_grid *grid;
    size_t block, run;
    size_t step;  // as in qdq_view
    size_t at;
    size_t left;  // elements of the row after this run; 0 where runs are no parts of rows
} qdq_grid_walk;

qdq_grid_walk qdq_grid_walk_from(const qdq_grid *grid, size_t at);

// Goes on by n <= run elements.
void qdq_grid_walk_on(qdq_grid_walk *walk, size_t n);

// The parameters of some elements: item i of them is data[i * step]. Items are 4 bytes wide.
typedef struct qdq_view {
    const uint32_t *data;
    size_t step;  // 0: all alike
} qdq_view;

// The parameters of all blocks: floats or int32 side by side or, with a dtype, elements of it,
// which become floats or int32 when they are looked at.
typedef struct qdq_grid_values {
    const void *data;
    qdq_dtype dtype;  // QDQ_DTYPE_NONE: as they are
} qdq_grid_values;

// The parameters of n <= 1024 elements from `first` on, in row-major order. Where they are neither
// alike nor side by side in `values` they are spread out in `scratch` (1024 items).
qdq_view qdq_grid_strip(const qdq_grid *grid, qdq_grid_values values, size_t first, size_t n,
                        uint32_t *scratch);

// The same for the 1024 elements of a tile, in tile order. Padding gets parameters too.
qdq_view qdq_grid_tile(const qdq_grid *grid, qdq_grid_values values, const qdq_tiling *tiling,
                       size_t tile, uint32_t *scratch);

#endif
