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

qdq_tiling qdq_tiling_in(qdq_shape shape, qdq_tile_shape tile) {
    if (!qdq_shape_is_legal(shape) || !qdq_tile_shape_is_legal(tile)) return (qdq_tiling){0};
    tile = qdq_tile_shape_or_default(tile);
    qdq_tiling t = {.planes = 1, .rows = 1, .cols = 1, .tile = tile};
    if (shape.rank >= 1) t.cols = (size_t)shape.dims[shape.rank - 1];
    if (shape.rank >= 2) t.rows = (size_t)shape.dims[shape.rank - 2];
    for (int i = 0; i < shape.rank - 2; i++) t.planes *= (size_t)shape.dims[i];
    t.tile_rows = (t.rows + tile.height - 1) / tile.height;
    t.tile_cols = (t.cols + tile.width - 1) / tile.width;
    t.tiles = t.planes * t.tile_rows * t.tile_cols;
    return t;
}

qdq_tiling qdq_tiling_of(qdq_shape shape) { return qdq_tiling_in(shape, (qdq_tile_shape){0}); }

static int64_t padded(int64_t dim, int64_t size) { return (dim + size - 1) / size * size; }

qdq_shape qdq_padded_shape_in(qdq_shape shape, qdq_tile_shape tile) {
    qdq_shape out = shape;
    if (!qdq_shape_is_legal(shape) || !qdq_tile_shape_is_legal(tile)) return (qdq_shape){0};
    tile = qdq_tile_shape_or_default(tile);
    if (shape.rank < 2) {
        out.rank = 2;
        out.dims[0] = tile.height;
        out.dims[1] = padded(shape.rank == 1 ? shape.dims[0] : 1, tile.width);
        return out;
    }
    out.dims[shape.rank - 2] = padded(shape.dims[shape.rank - 2], tile.height);
    out.dims[shape.rank - 1] = padded(shape.dims[shape.rank - 1], tile.width);
    return out;
}

qdq_shape qdq_padded_shape(qdq_shape shape) {
    return qdq_padded_shape_in(shape, (qdq_tile_shape){0});
}

size_t qdq_tile_bytes(qdq_dtype dtype) { return qdq_tile_shape_bytes((qdq_tile_shape){0}, dtype); }

qdq_tile_at qdq_tile_locate(const qdq_tiling *t, size_t tile) {
    size_t tile_col = tile % t->tile_cols, rest = tile / t->tile_cols;
    size_t tile_row = rest % t->tile_rows, plane = rest / t->tile_rows;
    size_t high = t->tile.height, wide = t->tile.width;
    size_t row = tile_row * high, col = tile_col * wide;
    return (qdq_tile_at){
        .first = (plane * t->rows + row) * t->cols + col,
        .rows = t->rows - row < high ? t->rows - row : high,
        .cols = t->cols - col < wide ? t->cols - col : wide,
    };
}

bool qdq_tile_is_whole(const qdq_tiling *t, qdq_tile_at at) {
    return at.rows == t->tile.height && at.cols == t->tile.width;
}

// Returns the tiling of the valid part of a tile alone.
static qdq_tiling tiling_of_one(const qdq_tiling *t, qdq_tile_at at) {
    return (qdq_tiling){1, at.rows, at.cols, 1, 1, 1, t->tile};
}

// True if a tile is copied by the kernels: 32x32 without padding.
static bool is_for_kernels(const qdq_tiling *t, qdq_tile_at at) {
    return qdq_tile_shape_is_default(t->tile) && qdq_tile_is_whole(t, at);
}

void qdq_tiles_pack(size_t size, const qdq_tiling *t, size_t tile, size_t count, const void *rows,
                    void *out, bool past_cache) {
    qdq_tile_at at = qdq_tile_locate(t, tile);
    size_t bytes = qdq_tile_shape_elements(t->tile) * size, pitch = t->cols * size;
    if (is_for_kernels(t, at)) {
        qdq_tiles_from_rows(size, count, (const char *)rows + at.first * size, pitch, out,
                            past_cache);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        at = qdq_tile_locate(t, tile + i);
        qdq_tiling one = tiling_of_one(t, at);
        qdq_tile_put_rows(size, &one, 0, at.cols, at.rows, (const char *)rows + at.first * size,
                          pitch, (char *)out + i * bytes);
    }
}

void qdq_tiles_unpack(size_t size, const qdq_tiling *t, size_t tile, size_t count, const void *in,
                      void *rows, bool past_cache) {
    qdq_tile_at at = qdq_tile_locate(t, tile);
    size_t bytes = qdq_tile_shape_elements(t->tile) * size, pitch = t->cols * size;
    if (is_for_kernels(t, at)) {
        qdq_rows_from_tiles(size, count, in, (char *)rows + at.first * size, pitch, past_cache);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        at = qdq_tile_locate(t, tile + i);
        qdq_tiling one = tiling_of_one(t, at);
        qdq_tile_get_rows(size, &one, 0, at.cols, at.rows, (const char *)in + i * bytes,
                          (char *)rows + at.first * size, pitch);
    }
}

// Sets the padding of a tile to zero bytes, or to a float32 unless `number` is NULL.
static void set_padding(size_t size, const qdq_tiling *t, size_t tile, char *block,
                        const float *number) {
    qdq_tile_at at = qdq_tile_locate(t, tile);
    size_t run = qdq_tile_shape_run(t->tile);
    if (qdq_tile_is_whole(t, at)) return;
    for (size_t r = 0; r < t->tile.height; r++)
        for (size_t c = 0; c < t->tile.width; c += run) {
            size_t valid = r >= at.rows || c >= at.cols ? 0 : at.cols - c;
            if (valid >= run) continue;
            char *out = block + (qdq_tile_shape_at(t->tile, r, c) + valid) * size;
            if (!number) memset(out, 0, (run - valid) * size);
            for (size_t i = 0; number && i < run - valid; i++)
                memcpy(out + i * size, number, sizeof *number);
        }
}

void qdq_tile_clear_padding(size_t size, const qdq_tiling *t, size_t tile, void *block) {
    set_padding(size, t, tile, block, NULL);
}

void qdq_tile_fill_padding(float number, const qdq_tiling *t, size_t tile, float *block) {
    set_padding(sizeof *block, t, tile, (char *)block, &number);
}

bool qdq_tile_is_plain(qdq_dtype dtype) {
    return qdq_tile_bytes(dtype) == QDQ_TILE_ELEMENTS * qdq_dtype_size(dtype);
}

void qdq_tile_store(qdq_dtype dtype, size_t elements, const void *block, void *tile) {
    if (qdq_dtype_is_block_float(dtype))
        qdq_block_float_pack(dtype, elements, block, tile);
    else if (qdq_dtype_is_packed(dtype))
        qdq_pack_bits(dtype, block, tile, elements);
    else
        memcpy(tile, block, elements * qdq_dtype_size(dtype));
}

void qdq_tile_load(qdq_dtype dtype, size_t elements, const void *tile, void *block) {
    if (qdq_dtype_is_block_float(dtype))
        qdq_block_float_unpack(dtype, elements, tile, block);
    else if (qdq_dtype_is_packed(dtype))
        qdq_unpack_bits(dtype, tile, block, elements);
    else
        memcpy(block, tile, elements * qdq_dtype_size(dtype));
}

//---- Many tiles -------------------------------------------------------------

// Results that are larger than the cache are stored past it.
static bool past_cache(qdq_dtype dtype, const qdq_tiling *t) {
    return t->planes * t->rows * t->cols * qdq_dtype_size(dtype) >= QDQ_STREAM_BYTES;
}

size_t qdq_tile_whole_run(const qdq_tiling *t, size_t tile, size_t end) {
    size_t col = tile % t->tile_cols, whole_cols = t->cols / t->tile.width;
    if (col >= whole_cols || qdq_tile_locate(t, tile).rows < t->tile.height) return 0;
    return whole_cols - col < end - tile ? whole_cols - col : end - tile;
}

static void tilize_plain(qdq_dtype dtype, const qdq_tiling *t, const char *rows, char *tiles,
                         size_t begin, size_t end) {
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_shape_elements(t->tile) * size;
    bool past = past_cache(dtype, t);
    for (size_t tile = begin, count; tile < end; tile += count) {
        count = qdq_tile_whole_run(t, tile, end);
        if (!count) count = 1;
        qdq_tiles_pack(size, t, tile, count, rows, tiles + tile * bytes, past);
    }
    if (past) qdq_stream_fence();
}

static void untilize_plain(qdq_dtype dtype, const qdq_tiling *t, const char *tiles, char *rows,
                           size_t begin, size_t end) {
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_shape_elements(t->tile) * size;
    bool past = past_cache(dtype, t);
    for (size_t tile = begin, count; tile < end; tile += count) {
        count = qdq_tile_whole_run(t, tile, end);
        if (!count) count = 1;
        qdq_tiles_unpack(size, t, tile, count, tiles + tile * bytes, rows, past);
    }
    if (past) qdq_stream_fence();
}

// If tiles hold elements in another form than the API, each one is converted in a block.
void qdq_tiles_clear_padding(qdq_dtype dtype, const qdq_tiling *t, void *tiles) {
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_shape_bytes(t->tile, dtype);
    size_t elements = qdq_tile_shape_elements(t->tile);
    bool plain = qdq_tile_is_plain(dtype);
    _Alignas(64) unsigned char block[QDQ_TILE_ELEMENTS * sizeof(float)];
    for (size_t i = 0; i < t->tiles; i++) {
        char *tile = (char *)tiles + i * bytes;
        if (qdq_tile_is_whole(t, qdq_tile_locate(t, i))) continue;
        if (!plain) qdq_tile_load(dtype, elements, tile, block);
        qdq_tile_clear_padding(size, t, i, plain ? (void *)tile : block);
        if (!plain) qdq_tile_store(dtype, elements, block, tile);
    }
}

void qdq_tilize_range(qdq_dtype dtype, const qdq_tiling *t, const void *rows, void *tiles,
                      size_t begin, size_t end) {
    if (qdq_tile_is_plain(dtype)) {
        tilize_plain(dtype, t, rows, tiles, begin, end);
        return;
    }
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_shape_bytes(t->tile, dtype);
    size_t elements = qdq_tile_shape_elements(t->tile);
    bool is_block_float = qdq_dtype_is_block_float(dtype);
    _Alignas(64) unsigned char block[QDQ_TILE_ELEMENTS * sizeof(float)];
    for (size_t i = begin; i < end; i++) {
        char *tile = (char *)tiles + i * bytes;
        if (!is_block_float && !qdq_tile_is_whole(t, qdq_tile_locate(t, i)))
            qdq_tile_load(dtype, elements, tile, block);  // padding is not changed
        qdq_tiles_pack(size, t, i, 1, rows, block, false);
        if (is_block_float) qdq_tile_clear_padding(size, t, i, block);
        qdq_tile_store(dtype, elements, block, tile);
    }
}

void qdq_untilize_range(qdq_dtype dtype, const qdq_tiling *t, const void *tiles, void *rows,
                        size_t begin, size_t end) {
    if (qdq_tile_is_plain(dtype)) {
        untilize_plain(dtype, t, tiles, rows, begin, end);
        return;
    }
    size_t size = qdq_dtype_size(dtype), bytes = qdq_tile_shape_bytes(t->tile, dtype);
    size_t elements = qdq_tile_shape_elements(t->tile);
    _Alignas(64) unsigned char block[QDQ_TILE_ELEMENTS * sizeof(float)];
    for (size_t i = begin; i < end; i++) {
        qdq_tile_load(dtype, elements, (const char *)tiles + i * bytes, block);
        qdq_tiles_unpack(size, t, i, 1, block, rows, false);
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

void qdq_tilize_in(qdq_dtype dtype, qdq_shape shape, qdq_tile_shape tile, const void *rows,
                   void *tiles, const qdq_parallel *parallel) {
    QDQ_FIXED_ENVIRONMENT;
    move m = {.dtype = dtype, .tiling = qdq_tiling_in(shape, tile), .from = rows, .to = tiles};
    run_move(parallel, &m, tilize_task);
}

void qdq_untilize_in(qdq_dtype dtype, qdq_shape shape, qdq_tile_shape tile, const void *tiles,
                     void *rows, const qdq_parallel *parallel) {
    QDQ_FIXED_ENVIRONMENT;
    move m = {.dtype = dtype, .tiling = qdq_tiling_in(shape, tile), .from = tiles, .to = rows};
    run_move(parallel, &m, untilize_task);
}

void qdq_tilize_parallel(qdq_dtype dtype, qdq_shape shape, const void *rows, void *tiles,
                         const qdq_parallel *parallel) {
    qdq_tilize_in(dtype, shape, (qdq_tile_shape){0}, rows, tiles, parallel);
}

void qdq_untilize_parallel(qdq_dtype dtype, qdq_shape shape, const void *tiles, void *rows,
                           const qdq_parallel *parallel) {
    qdq_untilize_in(dtype, shape, (qdq_tile_shape){0}, tiles, rows, parallel);
}

void qdq_tilize(qdq_dtype dtype, qdq_shape shape, const void *rows, void *tiles) {
    qdq_tilize_in(dtype, shape, (qdq_tile_shape){0}, rows, tiles, NULL);
}

void qdq_untilize(qdq_dtype dtype, qdq_shape shape, const void *tiles, void *rows) {
    qdq_untilize_in(dtype, shape, (qdq_tile_shape){0}, tiles, rows, NULL);
}
