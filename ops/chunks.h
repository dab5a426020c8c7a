// SPDX-License-Identifier: Apache-2.0
// Where work on whole tensors writes its first result: into y, or into a buffer that is handed over
// piece by piece to the links behind.
#ifndef QDQ_OPS_CHUNKS_H
#define QDQ_OPS_CHUNKS_H

#include "ops/op.h"

enum { QDQ_CHUNK_BYTES = 16384 };

// Runs that are made one after the other are gathered as long as they are as long as each other and
// evenly apart, or continue each other. On the stack of the function; threads have their own.
typedef struct qdq_chunks {
    const qdq_tensors *tensors;
    size_t size;      // of an element
    qdq_chunk chunk;  // what is in the buffer
    _Alignas(64) unsigned char buffer[QDQ_CHUNK_BYTES];
} qdq_chunks;

static inline void qdq_chunks_begin(qdq_chunks *chunks, const qdq_tensors *tensors,
                                    qdq_dtype dtype) {
    chunks->tensors = tensors;
    chunks->size = qdq_dtype_size(dtype);
    chunks->chunk = (qdq_chunk){.data = chunks->buffer};
}

// What follows, in the buffer.
void *qdq_chunks_gather(qdq_chunks *chunks, size_t at, size_t n);
void *qdq_chunks_gather_block(qdq_chunks *chunks, size_t at, size_t n, size_t count, size_t stride);

// Where elements at..at + n of the result are to be written, all of them before the next call: at
// most as many as the buffer holds.
static inline void *qdq_chunks_room(qdq_chunks *chunks, size_t at, size_t n) {
    if (chunks->tensors->sink) return qdq_chunks_gather(chunks, at, n);
    return (char *)chunks->tensors->y[0] + at * chunks->size;
}

// The same for `count` runs of n elements, run i from element at + i * stride on: it is to be
// written from element i * *step of the room on.
static inline void *qdq_chunks_block(qdq_chunks *chunks, size_t at, size_t n, size_t count,
                                     size_t stride, size_t *step) {
    *step = chunks->tensors->sink ? n : stride;
    if (chunks->tensors->sink) return qdq_chunks_gather_block(chunks, at, n, count, stride);
    return (char *)chunks->tensors->y[0] + at * chunks->size;
}

// Hands over what is left.
void qdq_chunks_end(qdq_chunks *chunks);

// Whether somebody wants the first result.
static inline bool qdq_chunks_wanted(const qdq_tensors *tensors) {
    return tensors->sink || tensors->y[0];
}

#endif
