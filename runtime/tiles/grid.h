// SPDX-License-Identifier: Apache-2.0
// Grids: which elements of a tensor share a parameter (a scale, a zero point). A grid cuts a tensor
// into blocks of equal extent (the last block of a dim may be short); block number i in row-major
// order of the blocks has parameter number i. Per tensor, per channel and per group are grids that
// differ only in their extents.
#ifndef QDQ_RUNTIME_TILES_GRID_H
#define QDQ_RUNTIME_TILES_GRID_H

#include "include/qdq/base.h"
#include "runtime/base/mempool.h"
#include "runtime/tiles/tile.h"

// Neighbouring dims are merged if possible: most grids have one to three left.
typedef struct qdq_grid {
    int rank;                     // 0: one block
    size_t dims[QDQ_MAX_RANK];    // elements
    size_t extent[QDQ_MAX_RANK];  // elements of a block, 1..dims
    size_t blocks[QDQ_MAX_RANK];  // ceil(dims / extent)
    size_t count;                 // of blocks in all
} qdq_grid;

// One block that holds all elements of any shape.
extern const qdq_grid qdq_grid_whole;

// Returns the grid of a shape. `extents` has shape.rank entries in 1..dim.
qdq_grid qdq_grid_of(qdq_shape shape, const int64_t *extents);

// Returns a copy that `mempool` owns, or &qdq_grid_whole if the grid is one block: most are, and a
// grid takes 200 bytes. NULL: memory runs out.
const qdq_grid *qdq_grid_copy(const qdq_grid *grid, qdq_mempool *mempool);

// Returns the number of the block that holds element `at` (in row-major order). *run is how many
// elements from there on lie in the same block without a gap (at least 1).
size_t qdq_grid_block(const qdq_grid *grid, size_t at, size_t *run);

// Returns the distance at which block numbers repeat, because the first dim is a single block. The
// count of all elements if nothing repeats.
size_t qdq_grid_period(const qdq_grid *grid);

// A walk over elements in row-major order, run by run: the next `run` elements from `at` on share
// block number `block` or, if `step` is 1, have the block numbers from `block` on, one each. A step
// of the walk costs no division as long as it stays in a row.
typedef struct qdq_grid_walk {
    const qdq_grid *grid;
    size_t block, run;
    size_t step;  // as in qdq_view
    size_t at;
    size_t left;  // elements of the row after this run; 0 if runs are not parts of rows
} qdq_grid_walk;

qdq_grid_walk qdq_grid_walk_from(const qdq_grid *grid, size_t at);

// Advances by n <= run elements.
void qdq_grid_walk_on(qdq_grid_walk *walk, size_t n);

// The parameters of some elements: element i has data[i * step]. Items are 4 bytes wide.
typedef struct qdq_view {
    const uint32_t *data;
    size_t step;  // 0: all elements share one
} qdq_view;

// The parameters of all blocks, side by side: floats or int32 or, with a dtype, elements of it,
// which are decoded to floats or int32 when they are read.
typedef struct qdq_grid_values {
    const void *data;
    qdq_dtype dtype;  // QDQ_DTYPE_NONE: floats or int32
} qdq_grid_values;

// Returns the parameters of n <= 1024 elements from `first` on, in row-major order. If they are
// neither one item nor side by side in `values`, they are written to `scratch` (1024 items), one
// for each element.
qdq_view qdq_grid_strip(const qdq_grid *grid, qdq_grid_values values, size_t first, size_t n,
                        uint32_t *scratch);

// Returns the same for the elements of a tile, in tile order. Padding gets parameters too.
qdq_view qdq_grid_tile(const qdq_grid *grid, qdq_grid_values values, const qdq_tiling *tiling,
                       size_t tile, uint32_t *scratch);

#endif
