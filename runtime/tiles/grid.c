// SPDX-License-Identifier: Apache-2.0
// Finds the parameters of elements: by number, along a walk, for a strip and for a tile.
#include "runtime/tiles/grid.h"

#include <string.h>

#include "runtime/numerics/dtype.h"

const qdq_grid qdq_grid_whole = {.count = 1};

// Two neighbouring dims become one if a block spans all of both, or if both are cut into single
// elements: the order of elements and of blocks stays the same.
static bool mergeable(const qdq_grid *grid, size_t dim, size_t extent) {
    if (grid->rank == 0) return false;
    size_t outer_dim = grid->dims[grid->rank - 1], outer_extent = grid->extent[grid->rank - 1];
    return (outer_extent == outer_dim && extent == dim) || (outer_extent == 1 && extent == 1);
}

qdq_grid qdq_grid_of(qdq_shape shape, const int64_t *extents) {
    qdq_grid grid = {.count = 1};
    for (int i = 0; i < shape.rank; i++) {
        size_t dim = (size_t)shape.dims[i], extent = (size_t)extents[i];
        if (dim == 1) continue;
        if (mergeable(&grid, dim, extent)) {
            bool whole = extent == dim;
            grid.dims[grid.rank - 1] *= dim;
            if (whole) grid.extent[grid.rank - 1] *= dim;
        } else {
            grid.dims[grid.rank] = dim;
            grid.extent[grid.rank++] = extent;
        }
    }
    for (int i = 0; i < grid.rank; i++) {
        grid.blocks[i] = (grid.dims[i] + grid.extent[i] - 1) / grid.extent[i];
        grid.count *= grid.blocks[i];
    }
    return grid;
}

const qdq_grid *qdq_grid_copy(const qdq_grid *grid, qdq_mempool *mempool) {
    return grid->count == 1 ? &qdq_grid_whole : qdq_mempool_copy(mempool, grid, 1, sizeof *grid);
}

size_t qdq_grid_block(const qdq_grid *grid, size_t at, size_t *run) {
    size_t block = 0, stride = 1;
    size_t inner = 1;   // elements below dim i
    bool whole = true;  // a block spans every dim below
    size_t length = 1;
    for (int i = grid->rank - 1; i >= 0; i--) {
        size_t index = at % grid->dims[i], group = index / grid->extent[i];
        if (whole) {
            size_t end = (group + 1) * grid->extent[i];
            if (end > grid->dims[i]) end = grid->dims[i];
            size_t below = inner == 1 ? 0 : length;  // the rest of the row that holds `at`
            length = (end - index) * inner - (inner == 1 ? 0 : inner - below);
            whole = grid->extent[i] == grid->dims[i];
        }
        block += group * stride;
        stride *= grid->blocks[i];
        inner *= grid->dims[i];
        at /= grid->dims[i];
    }
    *run = grid->rank ? length : SIZE_MAX;
    return block;
}

size_t qdq_grid_period(const qdq_grid *grid) {
    size_t period = 1;
    for (int i = grid->rank; i-- > 0;)
        if (i > 0 || grid->extent[i] < grid->dims[i]) period *= grid->dims[i];
    return period;
}

// Reads n parameters from number `block` on, as items of 4 bytes.
static void take(qdq_grid_values values, size_t block, size_t n, uint32_t *out) {
    size_t size = values.dtype ? qdq_dtype_size(values.dtype) : sizeof *out;
    const char *from = (const char *)values.data + block * size;
    if (!values.dtype)
        memcpy(out, from, n * size);
    else if (qdq_dtype_is_real(values.dtype))
        qdq_decode_float(values.dtype, from, (float *)(void *)out, n);
    else
        qdq_decode_int(values.dtype, from, (int32_t *)(void *)out, n);
}

qdq_grid_walk qdq_grid_walk_from(const qdq_grid *grid, size_t at) {
    qdq_grid_walk walk = {.grid = grid, .at = at};
    walk.block = qdq_grid_block(grid, at, &walk.run);
    if (!grid->rank) return walk;
    size_t last = (size_t)grid->rank - 1, dim = grid->dims[last], left = dim - at % dim;
    if (grid->extent[last] == 1) walk.run = left, walk.step = 1;
    if (grid->extent[last] < dim) walk.left = left - walk.run;
    return walk;
}

void qdq_grid_walk_on(qdq_grid_walk *walk, size_t n) {
    walk->at += n;
    if (n < walk->run) {
        walk->run -= n;
        walk->block += walk->step * n;
    } else if (walk->left) {
        size_t extent = walk->grid->extent[walk->grid->rank - 1];
        walk->block++;
        walk->run = extent < walk->left ? extent : walk->left;
        walk->left -= walk->run;
    } else {
        *walk = qdq_grid_walk_from(walk->grid, walk->at);
    }
}

// Writes the parameters of n elements from `first` on to out[0..n), one for each element.
static void spread(const qdq_grid *grid, qdq_grid_values values, size_t first, size_t n,
                   uint32_t *out) {
    qdq_grid_walk walk = qdq_grid_walk_from(grid, first);
    for (size_t i = 0; i < n;) {
        size_t run = walk.run < n - i ? walk.run : n - i;
        take(values, walk.block, walk.step ? run : 1, out + i);
        if (!walk.step)
            for (size_t k = 1; k < run; k++) out[i + k] = out[i];
        qdq_grid_walk_on(&walk, run);
        i += run;
    }
}

// Returns a view of n parameters (`step` 1) or of one (`step` 0) from number `block` on: in place,
// or decoded to `scratch`.
static qdq_view view_of(qdq_grid_values values, size_t block, size_t n, size_t step,
                        uint32_t *scratch) {
    if (!values.dtype) return (qdq_view){(const uint32_t *)values.data + block, step};
    take(values, block, step ? n : 1, scratch);
    return (qdq_view){scratch, step};
}

qdq_view qdq_grid_strip(const qdq_grid *grid, qdq_grid_values values, size_t first, size_t n,
                        uint32_t *scratch) {
    size_t run;
    if (grid->rank == 1 && grid->extent[0] == 1) return view_of(values, first, n, 1, scratch);
    size_t block = qdq_grid_block(grid, first, &run);
    if (run >= n) return view_of(values, block, n, 0, scratch);
    size_t last = (size_t)grid->rank - 1;
    if (grid->extent[last] == 1 && grid->dims[last] - first % grid->dims[last] >= n)
        return view_of(values, block, n, 1, scratch);
    spread(grid, values, first, n, scratch);
    return (qdq_view){scratch, 1};
}

// True if no column of a tile is padding and its rows are rows of the grid, each with a parameter
// per element or one for all, side by side. The dim above then counts rows, or rows and planes; the
// tile must not go beyond its end, as it may if planes share a column of tiles.
static bool has_plain_rows(const qdq_grid *grid, const qdq_tiling *tiling, qdq_tile_at at) {
    size_t last = (size_t)grid->rank - 1, extent = grid->extent[last];
    size_t col = at.first % tiling->cols;
    if (at.cols < tiling->tile.width || grid->dims[last] != tiling->cols || tiling->tile.transpose)
        return false;
    if (last && at.first / tiling->cols % grid->dims[last - 1] + at.rows > grid->dims[last - 1])
        return false;
    return extent == 1 || col / extent == (col + at.cols - 1) / extent;
}

// Writes the parameters of a tile with plain rows to `out`, from parameter number `block` on.
static void spread_plain_rows(const qdq_grid *grid, qdq_grid_values values, size_t block,
                              const qdq_tiling *tiling, qdq_tile_at at, uint32_t *out) {
    size_t last = (size_t)grid->rank - 1;
    size_t deep = last == 0 ? 1 : grid->extent[last - 1];  // rows that a block spans
    size_t row = last == 0 ? 0 : at.first / tiling->cols % grid->dims[last - 1];
    size_t left = deep - row % deep;
    for (size_t r = 0; r < at.rows; r++, left--) {
        if (left == 0) {
            block += grid->blocks[last];
            left = deep;
        }
        for (size_t c = 0; c < at.cols; c += QDQ_FACE_DIM) {
            uint32_t *to = out + qdq_tile_shape_at(tiling->tile, r, c);
            if (grid->extent[last] == 1) {
                take(values, block + c, QDQ_FACE_DIM, to);
            } else {
                take(values, block, 1, to);
                for (size_t k = 1; k < QDQ_FACE_DIM; k++) to[k] = to[0];
            }
        }
    }
}

qdq_view qdq_grid_tile(const qdq_grid *grid, qdq_grid_values values, const qdq_tiling *tiling,
                       size_t tile, uint32_t *scratch) {
    qdq_tile_at at = qdq_tile_locate(tiling, tile);
    size_t run, span = (at.rows - 1) * tiling->cols + at.cols;
    size_t block = qdq_grid_block(grid, at.first, &run);
    if (run >= span) return view_of(values, block, 1, 0, scratch);
    if (!qdq_tile_is_whole(tiling, at)) {
        take(values, block, 1, scratch);
        for (size_t i = 1; i < qdq_tile_shape_elements(tiling->tile); i++) scratch[i] = scratch[0];
    }
    if (has_plain_rows(grid, tiling, at)) {
        spread_plain_rows(grid, values, block, tiling, at, scratch);
        return (qdq_view){scratch, 1};
    }
    size_t side_by_side = qdq_tile_shape_run(tiling->tile);
    for (size_t r = 0; r < at.rows; r++)
        for (size_t c = 0; c < at.cols; c += side_by_side) {
            size_t n = at.cols - c < side_by_side ? at.cols - c : side_by_side;
            spread(grid, values, at.first + r * tiling->cols + c, n,
                   scratch + qdq_tile_shape_at(tiling->tile, r, c));
        }
    return (qdq_view){scratch, 1};
}
