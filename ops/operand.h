// SPDX-License-Identifier: Apache-2.0
// Reads operands of a tensor op whose stage has their ports in `reads_tiles`: in place if they are
// row-major, else collected from the faces of tiles. Elements are numbered in row-major order.
#ifndef QDQ_OPS_OPERAND_H
#define QDQ_OPS_OPERAND_H

#include "runtime/exec/plan.h"

// Returns the tiling of an operand in tiles; NULL: it is row-major.
static inline const qdq_tiling *qdq_operand_tiling(const qdq_tensors *tensors, size_t port) {
    bool in_tiles = tensors->x_tiling && tensors->x_tiling[port].tiles;
    return in_tiles ? &tensors->x_tiling[port] : NULL;
}

// `count` runs of n elements; run i begins at element at + i * stride.
typedef struct qdq_operand_rows {
    size_t at, n, count, stride;
} qdq_operand_rows;

// Copies runs of elements, which have `size` bytes, to rows that are `pitch` bytes apart.
void qdq_operand_copy(const qdq_tensors *tensors, size_t port, size_t size,
                      const qdq_operand_rows *rows, void *to, size_t pitch);

// Rows of an operand that a function reads in order. Four rows of a face are neighbours in memory:
// collecting them together takes 0.8 of the time of one by one.
enum {
    QDQ_BAND_ROWS = 4,
#if defined(QDQ_BARE)
    QDQ_BAND_BYTES = 2048,
#else
    QDQ_BAND_BYTES = 32768,
#endif
};

typedef struct qdq_operand_band {
    size_t first, count, pitch;  // numbers of its rows, and bytes from one to the next
    _Alignas(64) char data[QDQ_BAND_BYTES];
} qdq_operand_band;

static inline void qdq_operand_begin(qdq_operand_band *band) { band->first = band->count = 0; }

// The part of qdq_operand_run for tiles.
const void *qdq_operand_collect(qdq_operand_band *band, const qdq_tensors *tensors, size_t port,
                                size_t size, size_t at, size_t n, void *room);

// Returns n elements from number `at` on: in place, in the band, or in `room`. They stay there
// until the next call.
static inline const void *qdq_operand_run(qdq_operand_band *band, const qdq_tensors *tensors,
                                          size_t port, size_t size, size_t at, size_t n,
                                          void *room) {
    if (qdq_operand_tiling(tensors, port))
        return qdq_operand_collect(band, tensors, port, size, at, n, room);
    return (const char *)tensors->x[port] + at * size;
}

#endif
