// SPDX-License-Identifier: Apache-2.0
// Copies rectangles between rows and tiles. Included once for each instruction set, with the name
// TILE_ROWS. In a tile 16 elements of a row are neighbours, and so are these 16 of the next rows: a
// rectangle goes face by face.
#include <string.h>

#include "runtime/tiles/kernels/tile_copy.h"

//---- Elements of a face row -------------------------------------------------

// Copies a constant number of bytes from each end: they meet or overlap.
#define COPY_ENDS(bytes, part)                                                      \
    if ((bytes) >= (part)) {                                                        \
        char first[part], last[part];                                               \
        memcpy(first, from, part);                                                  \
        memcpy(last, (const char *)from + (bytes) - (part), part);                  \
        memcpy(to, first, part), memcpy((char *)to + (bytes) - (part), last, part); \
        return;                                                                     \
    }

// Copies at most 64 bytes in registers, and more by memcpy.
static inline void copy_short(void *to, const void *from, size_t bytes) {
    if (bytes > 64) {
        memcpy(to, from, bytes);
        return;
    }
    COPY_ENDS(bytes, 32)
    COPY_ENDS(bytes, 16)
    COPY_ENDS(bytes, 8)
    COPY_ENDS(bytes, 4)
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): a block is loaded before
    for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = ((const char *)from)[i];
}

//---- Rectangles -------------------------------------------------------------

// Copies some columns of a face, from number `col` on, of `count` of its rows; `put`: into the
// face. `list` and `face` are the first elements. Called with constants for `size` and `put`, as
// are the next functions, and for a whole row of a face with a constant n, which compilers copy in
// registers.
static inline void copy_columns(size_t size, bool put, size_t n, size_t count, char *list,
                                size_t pitch, char *face) {
    _Pragma("GCC unroll 4") for (size_t r = 0; r < count; r++, list += pitch, face += QDQ_FACE_DIM * size) {
        if (n == QDQ_FACE_DIM)
            memcpy(put ? face : list, put ? list : face, QDQ_FACE_DIM * size);
        else
            copy_short(put ? face : list, put ? list : face, n * size);
    }
}

// Returns the place of a column in a row of tiles.
static inline size_t place_of(size_t col) {
    return col / QDQ_TILE_DIM * QDQ_TILE_ELEMENTS + qdq_tile_offset(0, col % QDQ_TILE_DIM);
}

// Copies rows that lie in one row of faces. `band`: the first of them in the first tile.
static inline void copy_band(size_t size, bool put, const qdq_rectangle *of, size_t col,
                             size_t count, char *list, char *band) {
    size_t end = col + of->n, first = (QDQ_FACE_DIM - col % QDQ_FACE_DIM) % QDQ_FACE_DIM;
    if (first > of->n) first = of->n;
    if (first) copy_columns(size, put, first, count, list, of->pitch, band + place_of(col) * size);
    col += first, list += first * size;
    for (; col + QDQ_FACE_DIM <= end; col += QDQ_FACE_DIM, list += QDQ_FACE_DIM * size)
        copy_columns(size, put, QDQ_FACE_DIM, count, list, of->pitch, band + place_of(col) * size);
    if (col < end)
        copy_columns(size, put, end - col, count, list, of->pitch, band + place_of(col) * size);
}

static inline void copy_faces(size_t size, bool put, const qdq_rectangle *of) {
    const qdq_tiling *t = of->tiling;
    size_t col = of->at % t->cols, row = of->at / t->cols % t->rows;
    size_t plane = of->at / t->cols / t->rows;
    char *list = of->list;
    for (size_t left = of->count, n; left; left -= n, list += n * of->pitch) {
        size_t tile = (plane * t->tile_rows + row / QDQ_TILE_DIM) * t->tile_cols;
        size_t place = tile * QDQ_TILE_ELEMENTS + qdq_tile_offset(row % QDQ_TILE_DIM, 0);
        n = QDQ_FACE_DIM - row % QDQ_FACE_DIM;
        if (n > t->rows - row) n = t->rows - row;
        if (n > left) n = left;
        copy_band(size, put, of, col, n, list, of->tiles + place * size);
        row += n;
        if (row == t->rows) row = 0, plane++;
    }
}

void TILE_ROWS(size_t size, bool put, const qdq_rectangle *of) {
    switch (size * 2 + put) {
    case 2: copy_faces(1, false, of); break;
    case 3: copy_faces(1, true, of); break;
    case 4: copy_faces(2, false, of); break;
    case 5: copy_faces(2, true, of); break;
    case 8: copy_faces(4, false, of); break;
    case 9: copy_faces(4, true, of); break;
    default: copy_faces(size, put, of);
    }
}
