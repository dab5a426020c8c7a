// SPDX-License-Identifier: Apache-2.0
#include "ops/operand.h"

#include <string.h>

#include "runtime/base/scratch.h"

// Copies n elements from number `at` on.
static void copy_run(const qdq_tensors *tensors, size_t port, size_t size, size_t at, size_t n,
                     void *to) {
    const char *x = tensors->x[port];
    const qdq_tiling *tiling = qdq_operand_tiling(tensors, port);
    if (tiling)
        qdq_tile_get_run(size, tiling, at, n, x, to);
    else
        memcpy(to, x + at * size, n * size);
}

void qdq_operand_copy(const qdq_tensors *tensors, size_t port, size_t size,
                      const qdq_operand_rows *rows, void *to, size_t pitch) {
    const qdq_tiling *t = qdq_operand_tiling(tensors, port);
    if (t && rows->stride == t->cols && rows->at % t->cols + rows->n <= t->cols) {
        qdq_tile_get_rows(size, t, rows->at, rows->n, rows->count, tensors->x[port], to, pitch);
        return;
    }
    for (size_t i = 0; i < rows->count; i++)
        copy_run(tensors, port, size, rows->at + i * rows->stride, rows->n, (char *)to + i * pitch);
}

// Fills a band with whole rows from number `row` on, up to a multiple of QDQ_BAND_ROWS or the end
// of a plane. False: a row is too long. Rows are not a power of two apart, which would put them in
// few lines of the cache.
static bool fill(qdq_operand_band *band, const qdq_tensors *tensors, size_t port, size_t size,
                 size_t row) {
    enum { LINE = 64 };
    const qdq_tiling *t = &tensors->x_tiling[port];
    size_t in_plane = row % t->rows, count = QDQ_BAND_ROWS - in_plane % QDQ_BAND_ROWS;
    size_t pitch = (t->cols * size / LINE + 2) * LINE, fit = QDQ_BAND_BYTES / pitch;
    if (count > t->rows - in_plane) count = t->rows - in_plane;
    if (count > fit) count = fit;
    if (!count) return false;
    qdq_scratch_drop(tensors->poison, band->data, sizeof band->data);
    qdq_tile_get_rows(size, t, row * t->cols, t->cols, count, tensors->x[port], band->data, pitch);
    band->first = row, band->count = count, band->pitch = pitch;
    return true;
}

const void *qdq_operand_collect(qdq_operand_band *band, const qdq_tensors *tensors, size_t port,
                                size_t size, size_t at, size_t n, void *room) {
    size_t cols = tensors->x_tiling[port].cols, row = at / cols, col = at % cols;
    bool has = row - band->first < band->count;
    if (col + n > cols || (!has && !fill(band, tensors, port, size, row))) {
        copy_run(tensors, port, size, at, n, room);
        return room;
    }
    return band->data + (row - band->first) * band->pitch + col * size;
}
