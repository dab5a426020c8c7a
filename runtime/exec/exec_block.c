// SPDX-License-Identifier: Apache-2.0
// Runs the chain of a step on one block: a tile, or a strip of row-major elements.
//
// A block is a tile, mostly of 32x32, in face order or a strip of 1024 consecutive elements in
// row-major order (runtime/exec/plan.h says when). A strip may come from tiles and go to tiles: it
// is collected from the rows of their faces. A tile function sees n elements and, for each
// parameter, a pointer with a step of 0 or 1 (qdq_view); it does not know where the block lies.
//
// Padding is undefined, never reaches a valid element, and is not computed: the valid elements of
// an edge tile run row by row, together with whole neighbours on its left. With `poison`, the arena
// and the L1 buffers are filled with 0xFF before each use, so that a wrong read shows.
//
// If no link has parameters that vary between elements, as many strips as fit in 16 KiB run as one,
// so links are called less often.
//
// Block floats share an exponent along a face row, so they exist in tiles only; elsewhere an
// element is a float32, and tile functions do not know about them. A step that has a block float
// runs over tiles and computes their padding (`computes_padding`), as does a step with packed
// elements in the arena. The executor rounds a block after it loads the block from rows, as the
// host does, and after each link whose result is a block float, as the link says, with padding set
// to the link's number: zero, or on a chip the function of zero. Packing rounded elements is exact,
// so rounding twice is harmless.
#include "runtime/exec/exec_block.h"

#include <string.h>

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"
#include "runtime/tiles/kernels/nontemporal.h"
#include "runtime/tiles/kernels/tile_copy.h"

size_t qdq_exec_strip_elements(const qdq_step *step) {
    size_t size = qdq_dtype_size(step->x.dtype);
    for (size_t i = 0; i < step->link_count; i++)
        if (qdq_dtype_size(step->links[i].y_dtype) > size)
            size = qdq_dtype_size(step->links[i].y_dtype);
    return QDQ_STRIP_BYTES / size;
}

//---- Memory -----------------------------------------------------------------

// Returns the memory of these elements if the place holds them contiguously in the form that tile
// functions take, else NULL.
static char *memory_of(const qdq_exec *exec, const qdq_step *step, const qdq_chunk *chunk,
                       qdq_place place, qdq_dtype dtype) {
    bool in_arena = place.kind == QDQ_PLACE_ARENA;
    if (step->tiled != in_arena || (in_arena && !qdq_tile_is_plain(dtype)) || chunk->count > 1)
        return NULL;
    char *memory = qdq_exec_place(exec, place);
    return memory ? memory + chunk->at * qdq_dtype_size(dtype) : NULL;
}

// A block float is rounded together with the rest of its tile, in which padding counts as a number.
static void round_block(const qdq_step *step, qdq_dtype dtype, qdq_block_float_store store,
                        float padding, size_t block, void *tile) {
    if (!qdq_dtype_is_block_float(dtype)) return;
    qdq_tile_fill_padding(padding, &step->tiling, block, tile);
    qdq_block_float_round(dtype, store, qdq_exec_block_elements(step), tile);
}

void qdq_exec_cut_tiles(const qdq_tiling *t, size_t size, size_t tile, size_t count,
                        const char *rows, void *out) {
    qdq_tiles_pack(size, t, tile, count, rows, out, false);
}

// Loads a block for which memory_of is NULL: collects a strip from tiles, unpacks a tile of the
// arena, or cuts a tile out of rows. Rows of a block float may hold any float32; here the caller's
// numbers become numbers that a tile can hold.
static void load_block(const qdq_exec *exec, const qdq_step *step, size_t block, size_t elements,
                       void *out) {
    const char *memory = qdq_exec_place(exec, step->x.place);
    qdq_dtype dtype = step->x.dtype;
    if (!step->tiled) {
        qdq_tile_get_run(qdq_dtype_size(dtype), &step->tiling, block * QDQ_BLOCK_ELEMENTS, elements,
                         memory, out);
        return;
    }
    if (step->x.place.kind == QDQ_PLACE_ARENA) {
        qdq_tile_load(dtype, qdq_exec_block_elements(step),
                      memory + block * qdq_tile_shape_bytes(step->tiling.tile, dtype), out);
        return;
    }
    qdq_exec_cut_tiles(&step->tiling, qdq_dtype_size(dtype), block,
                       elements / qdq_exec_block_elements(step), memory, out);
    round_block(step, dtype, QDQ_BLOCK_FLOAT_HOST, 0, block, out);
}

void qdq_exec_store_runs(char *memory, size_t size, const qdq_chunk *chunk, const void *elements) {
    size_t bytes = chunk->n * size;
    for (size_t i = 0; i < chunk->count; i++)
        memcpy(memory + (chunk->at + i * chunk->stride) * size, (const char *)elements + i * bytes,
               bytes);
}

// Returns the number of the first of the neighbouring 32x32 tiles without padding that a chunk
// covers; SIZE_MAX: it is another piece of the tensor.
static size_t covered_tiles(const qdq_tiling *t, const qdq_chunk *chunk) {
    size_t row = chunk->at / t->cols, col = chunk->at % t->cols, plane = row / t->rows;
    row %= t->rows;
    if (!qdq_tile_shape_is_default(t->tile) || chunk->count != QDQ_TILE_DIM ||
        chunk->stride != t->cols || chunk->n % QDQ_TILE_DIM || col % QDQ_TILE_DIM ||
        row % QDQ_TILE_DIM || row + QDQ_TILE_DIM > t->rows || col + chunk->n > t->cols)
        return SIZE_MAX;
    return (plane * t->tile_rows + row / QDQ_TILE_DIM) * t->tile_cols + col / QDQ_TILE_DIM;
}

void qdq_exec_store_in_tiles(char *tiles, size_t size, const qdq_tiling *tiling,
                             const qdq_chunk *chunk, const void *elements) {
    const char *from = elements;
    size_t tile = covered_tiles(tiling, chunk);
    if (tile != SIZE_MAX) {
        qdq_tiles_from_rows(size, chunk->n / QDQ_TILE_DIM, elements, chunk->n * size,
                            tiles + tile * QDQ_TILE_ELEMENTS * size, false);
        return;
    }
    if (chunk->stride == tiling->cols && chunk->at % tiling->cols + chunk->n <= tiling->cols) {
        qdq_tile_put_rows(size, tiling, chunk->at, chunk->n, chunk->count, from, chunk->n * size,
                          tiles);
        return;
    }
    for (size_t i = 0; i < chunk->count; i++, from += chunk->n * size)
        qdq_tile_put_run(size, tiling, chunk->at + i * chunk->stride, chunk->n, from, tiles);
}

// Stores neighbouring tiles without padding to rows.
static void store_tiles_in_rows(const qdq_step *step, const qdq_link *link, const qdq_chunk *chunk,
                                const void *y, char *rows) {
    size_t size = qdq_dtype_size(link->y_dtype), elements = qdq_exec_block_elements(step);
    bool past_cache = step->elements * size >= QDQ_STREAM_BYTES;
    qdq_tiles_unpack(size, &step->tiling, chunk->at / elements, chunk->n / elements, y, rows,
                     past_cache);
}

// Stores whole tiles to tiles of the arena.
static void store_tiles(const qdq_step *step, const qdq_link *link, const qdq_chunk *chunk,
                        const char *y, char *memory) {
    size_t size = qdq_dtype_size(link->y_dtype), elements = qdq_exec_block_elements(step);
    size_t bytes = qdq_tile_shape_bytes(step->tiling.tile, link->y_dtype);
    char *tile = memory + chunk->at / elements * bytes;
    for (size_t done = 0; done < chunk->n; done += elements, tile += bytes)
        qdq_tile_store(link->y_dtype, elements, y + done * size, tile);
}

static void store(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                  const qdq_chunk *chunk, const void *y) {
    char *memory = qdq_exec_place(exec, link->store);
    size_t block = chunk->at / qdq_exec_block_elements(step);
    if (!memory) return;
    if (link->store.kind == QDQ_PLACE_ARENA && !step->tiled)
        qdq_exec_store_in_tiles(memory, qdq_dtype_size(link->y_dtype), &link->tiling, chunk, y);
    else if (link->store.kind == QDQ_PLACE_ARENA)
        store_tiles(step, link, chunk, y, memory);
    else if (step->tiled && chunk->n > qdq_exec_block_elements(step))
        store_tiles_in_rows(step, link, chunk, y, memory);
    else if (step->tiled)
        qdq_tiles_unpack(qdq_dtype_size(link->y_dtype), &step->tiling, block, 1, y, memory, false);
    else
        qdq_exec_store_runs(memory, qdq_dtype_size(link->y_dtype), chunk, y);
}

//---- Links ------------------------------------------------------------------

// Returns the strip that holds no data of the chain.
static void *next_block(const qdq_exec *exec, qdq_l1 *l1) {
    void *block = l1->block[l1->next];
    l1->next ^= 1;
    qdq_scratch_drop(exec->poison, block, sizeof l1->block[0]);
    return block;
}

// Runs one link on x, stores the result if it has a place, and returns it for the next link.
static const void *run_link(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                            const qdq_chunk *chunk, const void *x, size_t x_size, qdq_l1 *l1) {
    char *stored = memory_of(exec, step, chunk, link->store, link->y_dtype);
    void *y = stored;
    if (!stored || stored == x || link->streams) {  // not contiguous, in place, or past the cache
        y = next_block(exec, l1);
    }
    qdq_exec_call_link(exec, step, link, chunk, x, x_size, y, l1);
    round_block(step, link->y_dtype, link->block_float_store, link->padding,
                chunk->at / qdq_exec_block_elements(step), y);
    if (link->streams)
        qdq_stream_find()(stored, y, chunk->n * qdq_dtype_size(link->y_dtype));
    else if (y != stored)
        store(exec, step, link, chunk, y);
    return y;
}

const void *qdq_exec_run_links(const qdq_exec *exec, const qdq_step *step, const qdq_chunk *chunk,
                               qdq_l1 *l1) {
    const void *x = chunk->data;
    size_t size = qdq_dtype_size(step->x.dtype);
    for (size_t i = 0; i < step->link_count; i++) {
        const qdq_link *link = &step->links[i];
        if (!link->fn) continue;
        x = run_link(exec, step, link, chunk, x, size, l1);
        size = qdq_dtype_size(link->y_dtype);
    }
    return x;
}

const void *qdq_exec_run_rectangle(const qdq_exec *exec, const qdq_step *step, qdq_tile_at at,
                                   qdq_l1 *l1) {
    qdq_step rows = *step;
    rows.tiled = false;
    const char *memory = qdq_exec_place(exec, step->x.place);
    size_t size = qdq_dtype_size(step->x.dtype), pitch = step->tiling.cols;
    char *strip = next_block(exec, l1);
    qdq_chunk chunk = {at.first, at.cols, at.rows, pitch, strip};
    bool in_tiles = step->x.place.kind == QDQ_PLACE_ARENA;
    size_t tile = in_tiles ? covered_tiles(&step->tiling, &chunk) : SIZE_MAX;
    if (tile != SIZE_MAX)
        qdq_rows_from_tiles(size, at.cols / QDQ_TILE_DIM, memory + tile * QDQ_TILE_ELEMENTS * size,
                            strip, at.cols * size, false);
    else if (in_tiles)
        qdq_tile_get_rows(size, &step->tiling, at.first, at.cols, at.rows, memory, strip,
                          at.cols * size);
    else
        for (size_t r = 0; r < at.rows; r++)
            memcpy(strip + r * at.cols * size, memory + (at.first + r * pitch) * size,
                   at.cols * size);
    if (at.cols == pitch) chunk.n *= at.rows, chunk.count = 1;
    return qdq_exec_run_links(exec, &rows, &chunk, l1);
}

// Requests the lines of a rectangle of rows.
static void expect_rows(const qdq_tiling *t, qdq_tile_at at, size_t size, const char *rows,
                        bool written) {
    enum { LINE = 64 };
    for (size_t r = 0; r < at.rows; r++) {
        const char *row = rows + (at.first + r * t->cols) * size;
        for (size_t i = 0; i < at.cols * size; i += LINE)
            if (written)
                __builtin_prefetch(row + i, 1);
            else
                __builtin_prefetch(row + i);
    }
}

void qdq_exec_expect_tiles(const qdq_exec *exec, const qdq_step *step, size_t tile, size_t count) {
    const qdq_tiling *t = &step->tiling;
    if (tile >= t->tiles) return;
    qdq_tile_at at = qdq_tile_locate(t, tile);
    size_t wide = t->tile.width, left = t->cols - tile % t->tile_cols * wide;
    at.cols = left < count * wide ? left : count * wide;
    if (step->x.place.kind != QDQ_PLACE_ARENA)
        expect_rows(t, at, qdq_dtype_size(step->x.dtype), qdq_exec_place(exec, step->x.place),
                    false);
    for (size_t i = 0; i < step->link_count; i++) {
        const qdq_link *link = &step->links[i];
        if (link->fn && link->store.kind && link->store.kind != QDQ_PLACE_ARENA)
            expect_rows(t, at, qdq_dtype_size(link->y_dtype), qdq_exec_place(exec, link->store),
                        true);
    }
}

const void *qdq_exec_run_block(const qdq_exec *exec, const qdq_step *step, size_t block,
                               size_t elements, qdq_l1 *l1) {
    qdq_chunk chunk = {block * qdq_exec_block_elements(step), elements, 1, 0, NULL};
    chunk.data = memory_of(exec, step, &chunk, step->x.place, step->x.dtype);
    if (!chunk.data) {
        void *tile = next_block(exec, l1);
        load_block(exec, step, block, elements, tile);
        chunk.data = tile;
    }
    return qdq_exec_run_links(exec, step, &chunk, l1);
}
