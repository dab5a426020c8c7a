// SPDX-License-Identifier: Apache-2.0
// Copies between row-major memory and tiles, with padding, packed dtypes and block floats.
#include "runtime/tiles/tile.h"

#include <string.h>

#include "runtime/base/fp_environment.h"
#include "runtime/base/threads/parallel_run.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"
#include "runtime/tiles/kernels/nontemporal.h"
#include "runtime/tiles/kernels/tile_copy.h"

qdq_tiling qdq_tiling_of(qdq_shape shape) {
    if (!qdq_shape_is_legal(shape)) return (qdq_tiling){0};
    qdq_tiling t = {.planes = 1, .rows = 1, .cols = 1};
    if (shape.rank >= 1) t.cols = (size_t)shape.dims[shape.rank - 1];
    if (shape.rank >= 2) t.rows = (size_t)shape.dims[shape.rank - 2];
    for (int i = 0; i < shape.rank - 2; i++) t.planes *= (size_t)shape.dims[i];
    t.tile_rows = (t.rows + QDQ_TILE_DIM - 1) / QDQ_TILE_DIM;
    t.tile_cols = (t.cols + QDQ_TILE_DIM - 1) / QDQ_TILE_DIM;
    t.tiles = t.planes * t.tile_rows * t.tile_cols;
    return t;
}

static int64_t padded(int64_t dim) {
    return (dim + QDQ_TILE_DIM - 1) / QDQ_TILE_DIM * QDQ_TILE_DIM;
}

qdq_shape qdq_padded_shape(qdq_shape shape) {
    qdq_shape out = shape;
    if (!qdq_shape_is_legal(shape)) return (qdq_shape){0};
    if (shape.rank < 2) {
        out.rank = 2;
        out.dims[0] = QDQ_TILE_DIM;
        out.dims[1] = padded(shape.rank == 1 ? shape.dims[0] : 1);
        return out;
    }
    out.dims[shape.rank - 2] = padded(shape.dims[shape.rank - 2]);
    out.dims[shape.rank - 1] = padded(shape.dims[shape.rank - 1]);
    return out;
}

size_t qdq_tile_bytes(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (!info) return 0;
    size_t codes = QDQ_TILE_ELEMENTS * (size_t)info->bits / 8;
    return info->kind == QDQ_KIND_BLOCK_FLOAT ? QDQ_BLOCK_FLOAT_GROUPS + codes : codes;
}

qdq_tile_at qdq_tile_locate(const qdq_tiling *t, size_t tile) {
    size_t tile_col = tile % t->tile_cols, rest = tile / t->tile_cols;
    size_t tile_row = rest % t->tile_rows, plane = rest / t->tile_rows;
    size_t row = tile_row * QDQ_TILE_DIM, col = tile_col * QDQ_TILE_DIM;
    return (qdq_tile_at){
        .first = (plane * t->rows + row) * t->cols + col,
        .rows = t->rows - row < QDQ_TILE_DIM ? t->rows - row : QDQ_TILE_DIM,
        .cols = t->cols - col < QDQ_TILE_DIM ? t->cols - col : QDQ_TILE_DIM,
    };
}

// True if a tile has no padding.
static bool is_whole(qdq_tile_at at) { return at.rows * at.cols == QDQ_TILE_ELEMENTS; }

// Returns the tiling of the valid part of a tile alone.
static qdq_tiling tiling_of_one(qdq_tile_at at) {
    return (qdq_tiling){1, at.rows, at.cols, 1, 1, 1};
}

void qdq_tile_pack(size_t size, const qdq_tiling *t, size_t tile, const void *rows, void *out) {
    qdq_tile_at at = qdq_tile_locate(t, tile);
    if (is_whole(at)) {
        qdq_tiles_from_rows(size, 1, (const char *)rows + at.first * size, t->cols * size, out,
                            false);
        return;
    }
    qdq_tiling one = tiling_of_one(at);
    qdq_tile_put_rows(size, &one, 0, at.cols, at.rows, (const char *)rows + at.first * size,
                      t->cols * size, out);
}

void qdq_tile_unpack(size_t size, const qdq_tiling *t, size_t tile, const void *in, void *rows) {
    qdq_tile_at at = qdq_tile_locate(t, tile);
    if (is_whole(at)) {
        qdq_rows_from_tiles(size, 1, in, (char *)rows + at.first * size, t->cols * size, false);
        return;
    }
    qdq_tiling one = tiling_of_one(at);
    qdq_tile_get_rows(size, &one, 0, at.cols, at.rows, in, (char *)rows + at.first * size,
                      t->cols * size);
}

void qdq_tile_clear_padding(size_t size, const qdq_tiling *t, size_t tile, void *block) {
    qdq_tile_at at = qdq_tile_locate(t, tile);
    if (is_whole(at)) return;
    for (size_t r = 0; r < QDQ_TILE_DIM; r++)
        for (size_t c = 0; c < QDQ_TILE_DIM; c += QDQ_FACE_DIM) {
            size_t valid = r >= at.rows || c >= at.cols ? 0 : at.cols - c;
            if (valid < QDQ_FACE_DIM)
                memset((char *)block + (qdq_tile_offset(r, c) + valid) * size, 0,
                       (QDQ_FACE_DIM - valid) * size);
        }
}

bool qdq_tile_is_plain(qdq_dtype dtype) {
    return qdq_tile_bytes(dtype) == QDQ_TILE_ELEMENTS * qdq_dtype_size(dtype);
}

void qdq_tile_store(qdq_dtype dtype, const void *block, void *tile) {
    if (qdq_dtype_is_block_float(dtype))
        qdq_block_float_pack(dtype, block, tile);
    else if (qdq_dtype_is_packed(dtype))
        qdq_pack_bits(dtype, block, tile, QDQ_TILE_ELEMENTS);
    else
        memcpy(tile, block, qdq_tile_bytes(dtype));
}

void qdq_tile_load(qdq_dtype dtype, const void *tile, void *block) {
    if (qdq_dtype_is_block_float(dtype))
        qdq_block_float_unpack(dtype, tile, block);
    else if (qdq_dtype_is_packed(dtype))
        qdq_unpack_bits(dtype, tile, block, QDQ_TILE_ELEMENTS);
    else
        memcpy(block, tile, qdq_tile_bytes(dtype));
}

//---- Many tiles -------------------------------------------------------------

// Results that are larger than the cache are stored past it.
static bool past_cache(qdq_dtype dtype, const qdq_tiling *t) {
    return t->planes * t->rows * t->cols * qdq_dtype_size(dtype) >= QDQ_STREAM_BYTES;
}

size_t qdq_tile_whole_run(const qdq_tiling *t, size_t tile, size_t end) {
    size_t col = tile % t->tile_cols, whole_cols = t->cols / QDQ_TILE_DIM;
    if (col >= whole_cols || qdq_tile_locate(t, tile).rows < QDQ_TILE_DIM) return 0;
    return whole_cols - col < end - tile ? whole_cols - col : end - tile;
}

static void tilize_plain(qdq_dtype dtype, const qdq_tiling *t, const char *rows, char *tiles,
                         size_t begin, size_t end) {
    size_t size = qdq_dtype_size(dtype);
    bool past = past_cache(dtype, t);
    for (size_t tile = begin, count; tile < end; tile += count ? count : 1) {
        char *to = tiles + tile * QDQ_TILE_ELEMENTS * size;
        count = qdq_tile_whole_run(t, tile, end);
        if (count)
            qdq_tiles_from_rows(size, count, rows + qdq_tile_locate(t, tile).first * size,
                                t->cols * size, to, past);
        else
            qdq_tile_pack(size, t, tile, rows, to);
    }
    if (past) qdq_stream_fence();
}

static void untilize_plain(qdq_dtype dtype, const qdq_tiling *t, const char *tiles, char *rows,
                           size_t begin, size_t end) {
    size_t size = qdq_dtype_size(dtype);
    bool past = past_cache(dtype, t);
    for (size_t tile = begin, count; tile < end; tile += count ? count : 1) {
        const char *from = tiles + tile * QDQ_TILE_ELEMENTS * size;
        count = qdq_tile_whole_run(t, tile, end);
        if (count)
            qdq_rows_from_tiles(size, count, from, rows + qdq_tile_locate(t, tile).first * size,
                                t->cols * size, past);
        else
            qdq_tile_unpack(size, t, tile, from, rows);
    }
    if (past) qdq_stream_fence();
}

// If tiles hold elements in another form than the API, each one is converted in a block.
void qdq_tiles_clear_padding(qdq_dtype dtype, const qdq_tiling *t, void *tiles) {
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_bytes(dtype);
    bool plain = qdq_tile_is_plain(dtype);
    _Alignas(64) unsigned char block[QDQ_TILE_ELEMENTS * sizeof(float)];
    for (size_t i = 0; i < t->tiles; i++) {
        char *tile = (char *)tiles + i * bytes;
        if (is_whole(qdq_tile_locate(t, i))) continue;
        if (!plain) qdq_tile_load(dtype, tile, block);
        qdq_tile_clear_padding(size, t, i, plain ? (void *)tile : block);
        if (!plain) qdq_tile_store(dtype, block, tile);
    }
}

void qdq_tilize_range(qdq_dtype dtype, const qdq_tiling *t, const void *rows, void *tiles,
                      size_t begin, size_t end) {
    if (qdq_tile_is_plain(dtype)) {
        tilize_plain(dtype, t, rows, tiles, begin, end);
        return;
    }
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_bytes(dtype);
    bool is_block_float = qdq_dtype_is_block_float(dtype);
    _Alignas(64) unsigned char block[QDQ_TILE_ELEMENTS * sizeof(float)];
    for (size_t i = begin; i < end; i++) {
        char *tile = (char *)tiles + i * bytes;
        if (!is_block_float && !is_whole(qdq_tile_locate(t, i)))
            qdq_tile_load(dtype, tile, block);  // padding is not changed
        qdq_tile_pack(size, t, i, rows, block);
        if (is_block_float) qdq_tile_clear_padding(size, t, i, block);
        qdq_tile_store(dtype, block, tile);
    }
}

void qdq_untilize_range(qdq_dtype dtype, const qdq_tiling *t, const void *tiles, void *rows,
                        size_t begin, size_t end) {
    if (qdq_tile_is_plain(dtype)) {
        untilize_plain(dtype, t, tiles, rows, begin, end);
        return;
    }
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_bytes(dtype);
    _Alignas(64) unsigned char block[QDQ_TILE_ELEMENTS * sizeof(float)];
    for (size_t i = begin; i < end; i++) {
        qdq_tile_load(dtype, (const char *)tiles + i * bytes, block);
        qdq_tile_unpack(size, t, i, block, rows);
    }
}

// The arguments of one call of the public functions.
typedef struct move {
    qdq_dtype dtype;
    qdq_tiling tiling;
    const void *from;
    void *to;
} move;

static void tilize_task(void *context, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const move *m = context;
    qdq_tilize_range(m->dtype, &m->tiling, m->from, m->to, begin, end);
}

static void untilize_task(void *context, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const move *m = context;
    qdq_untilize_range(m->dtype, &m->tiling, m->from, m->to, begin, end);
}

static void run_move(const qdq_parallel *parallel, move *m,
                     void (*task)(void *context, size_t begin, size_t end)) {
    const qdq_tiling *t = &m->tiling;
    if (!qdq_dtype_get(m->dtype) || !m->from || !m->to) return;
    qdq_parallel_run(parallel, t->planes * t->rows * t->cols, t->tiles, task, m);
}

void qdq_tilize_parallel(qdq_dtype dtype, qdq_shape shape, const void *rows, void *tiles,
                         const qdq_parallel *parallel) {
    QDQ_FIXED_ENVIRONMENT;
    move m = {.dtype = dtype, .tiling = qdq_tiling_of(shape), .from = rows, .to = tiles};
    run_move(parallel, &m, tilize_task);
}

void qdq_untilize_parallel(qdq_dtype dtype, qdq_shape shape, const void *tiles, void *rows,
                           const qdq_parallel *parallel) {
    QDQ_FIXED_ENVIRONMENT;
    move m = {.dtype = dtype, .tiling = qdq_tiling_of(shape), .from = tiles, .to = rows};
    run_move(parallel, &m, untilize_task);
}

void qdq_tilize(qdq_dtype dtype, qdq_shape shape, const void *rows, void *tiles) {
    qdq_tilize_parallel(dtype, shape, rows, tiles, NULL);
}

void qdq_untilize(qdq_dtype dtype, qdq_shape shape, const void *tiles, void *rows) {
    qdq_untilize_parallel(dtype, shape, tiles, rows, NULL);
}
