// SPDX-License-Identifier: Apache-2.0
// Copies parts of rows between row-major memory and tiles: rectangles, and runs as rectangles.
#include "runtime/base/cpu.h"
#include "runtime/tiles/kernels/tile_copy.h"
#include "runtime/tiles/tile.h"

#define TILE_ROWS tile_rows
static void tile_rows(size_t size, bool put, const qdq_rectangle *of);
#include "runtime/tiles/kernels/tile_rows.inc.h"

// Copies a rectangle of tiles of any shape: of each row, the elements that lie side by side. Called
// with constants for `size`.
static inline void copy_in_any(size_t size, bool put, const qdq_rectangle *of) {
    const qdq_tiling *t = of->tiling;
    size_t high = t->tile.height, wide = t->tile.width, run = qdq_tile_shape_run(t->tile);
    size_t first = of->at % t->cols, end = first + of->n;
    size_t row = of->at / t->cols % t->rows, plane = of->at / t->cols / t->rows;
    for (size_t i = 0; i < of->count; i++) {
        size_t band = (plane * t->tile_rows + row / high) * t->tile_cols;
        char *list = of->list + i * of->pitch;
        for (size_t col = first, n; col < end; col += n, list += n * size) {
            n = run - col % run;
            if (n > end - col) n = end - col;
            size_t place = (band + col / wide) * high * wide +
                           qdq_tile_shape_at(t->tile, row % high, col % wide);
            copy_columns(size, put, n, 1, list, 0, of->tiles + place * size);
        }
        if (++row == t->rows) row = 0, plane++;
    }
}

static void copy_in_other_tiles(size_t size, bool put, const qdq_rectangle *of) {
    switch (size) {
    case 1: copy_in_any(1, put, of); break;
    case 2: copy_in_any(2, put, of); break;
    case 4: copy_in_any(4, put, of); break;
    default: copy_in_any(size, put, of);
    }
}

static void copy(size_t size, bool put, const qdq_rectangle *of) {
    if (!qdq_tile_shape_is_default(of->tiling->tile)) {
        copy_in_other_tiles(size, put, of);
        return;
    }
#if defined(QDQ_SIMD_X86)
    if (qdq_cpu_has_avx2()) {
        qdq_tile_rows_avx2(size, put, of);
        return;
    }
#endif
    tile_rows(size, put, of);
}

void qdq_tile_put_rows(size_t size, const qdq_tiling *t, size_t at, size_t n, size_t count,
                       const void *from, size_t pitch, void *tiles) {
    copy(size, true, &(qdq_rectangle){t, at, n, count, (char *)from, pitch, tiles});
}

void qdq_tile_get_rows(size_t size, const qdq_tiling *t, size_t at, size_t n, size_t count,
                       const void *tiles, void *to, size_t pitch) {
    copy(size, false, &(qdq_rectangle){t, at, n, count, to, pitch, (char *)tiles});
}

// Requests the lines of some columns of rows in one row of faces.
static void expect_band(size_t size, size_t col, size_t n, size_t count, char *band) {
    enum { LINE = 64 };
    size_t bytes = count * QDQ_FACE_DIM * size;
    for (size_t c = col / QDQ_FACE_DIM * QDQ_FACE_DIM; c < col + n; c += QDQ_FACE_DIM) {
        size_t place = c / QDQ_TILE_DIM * QDQ_TILE_ELEMENTS + qdq_tile_offset(0, c % QDQ_TILE_DIM);
        for (size_t i = 0; i < bytes; i += LINE) __builtin_prefetch(band + place * size + i, 1);
    }
}

void qdq_tile_expect_rows(size_t size, const qdq_tiling *t, size_t at, size_t n, size_t count,
                          void *tiles) {
    if (!qdq_tile_shape_is_default(t->tile)) return;
    size_t row = at / t->cols % t->rows, plane = at / t->cols / t->rows;
    for (size_t left = count, some; left; left -= some) {
        size_t tile = (plane * t->tile_rows + row / QDQ_TILE_DIM) * t->tile_cols;
        size_t place = tile * QDQ_TILE_ELEMENTS + qdq_tile_offset(row % QDQ_TILE_DIM, 0);
        some = QDQ_FACE_DIM - row % QDQ_FACE_DIM;
        if (some > t->rows - row) some = t->rows - row;
        if (some > left) some = left;
        expect_band(size, at % t->cols, n, some, (char *)tiles + place * size);
        row += some;
        if (row == t->rows) row = 0, plane++;
    }
}

//---- Runs -------------------------------------------------------------------

// Copies n elements of a rectangle whose extent is not set: the rest of a row, whole rows, and the
// beginning of a row.
static void copy_run(size_t size, bool put, qdq_rectangle part, size_t n) {
    size_t cols = part.tiling->cols;
    while (n) {
        size_t col = part.at % cols, rest = cols - col;
        part.n = n < rest ? n : rest;
        part.count = !col && n >= cols ? n / cols : 1;
        part.pitch = part.n * size;
        copy(size, put, &part);
        part.at += part.n * part.count, n -= part.n * part.count;
        part.list += part.count * part.pitch;
    }
}

void qdq_tile_put_run(size_t size, const qdq_tiling *t, size_t at, size_t n, const void *from,
                      void *tiles) {
    copy_run(size, true, (qdq_rectangle){t, at, 0, 0, (char *)from, 0, tiles}, n);
}

void qdq_tile_get_run(size_t size, const qdq_tiling *t, size_t at, size_t n, const void *tiles,
                      void *to) {
    copy_run(size, false, (qdq_rectangle){t, at, 0, 0, to, 0, (char *)tiles}, n);
}
