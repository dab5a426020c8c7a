// SPDX-License-Identifier: Apache-2.0
// Where work on whole tensors writes its first result: into y, or into a buffer that is handed over
// piece by piece to the links behind.
#ifndef QDQ_OPS_CHUNKS_H
#define QDQ_OPS_CHUNKS_H

#include "ops/op.h"

enum { QDQ_PIECES_BYTES = 16384 };

// Runs that are made one after the other are gathered as long as they are as long as each other and
// evenly apart, or continue each other. On the stack of the function; threads have their own.
typedef struct qdq_pieces {
    const qdq_tensors *tensors;
    size_t size;      // of an element
    qdq_piece piece;  // what is in the buffer
    _Alignas(64) unsigned char buffer[QDQ_PIECES_BYTES];
} qdq_pieces;

static inline void qdq_pieces_begin(qdq_pieces *pieces, const qdq_tensors *tensors,
                                    qdq_dtype dtype) {
    pieces->tensors = tensors;
    pieces->size = qdq_dtype_size(dtype);
    pieces->piece = (qdq_piece){.data = pieces->buffer};
}

// What follows, in the buffer.
void *qdq_pieces_gather(qdq_pieces *pieces, size_t at, size_t n);
void *qdq_pieces_gather_block(qdq_pieces *pieces, size_t at, size_t n, size_t count, size_t stride);

// Where elements at..at + n of the result are to be written, all of them before the next call: at
// most as many as the buffer holds.
static inline void *qdq_pieces_room(qdq_pieces *pieces, size_t at, size_t n) {
    if (pieces->tensors->put) return qdq_pieces_gather(pieces, at, n);
    return (char *)pieces->tensors->y[0] + at * pieces->size;
}

// The same for `count` runs of n elements, run i from element at + i * stride on: it is to be
// written from element i * *step of the room on.
static inline void *qdq_pieces_block(qdq_pieces *pieces, size_t at, size_t n, size_t count,
                                     size_t stride, size_t *step) {
    *step = pieces->tensors->put ? n : stride;
    if (pieces->tensors->put) return qdq_pieces_gather_block(pieces, at, n, count, stride);
    return (char *)pieces->tensors->y[0] + at * pieces->size;
}

// Hands over what is left.
void qdq_pieces_end(qdq_pieces *pieces);

// Whether somebody wants the first result.
static inline bool qdq_pieces_wanted(const qdq_tensors *tensors) {
    return tensors->put || tensors->y[0];
}

#endif
