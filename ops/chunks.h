// SPDX-License-Identifier: Apache-2.0
// Lets a tensor op write its first result: into y, or into a buffer whose chunks the sink passes to
// the links that follow.
#ifndef QDQ_OPS_CHUNKS_H
#define QDQ_OPS_CHUNKS_H

#include "ops/op.h"

enum { QDQ_CHUNK_BYTES = 16384 };

// Gathers consecutive runs into a chunk while they have one length and one stride, or each
// continues the run before. Lives on the stack of the function, so each thread has its own.
typedef struct qdq_chunks {
    const qdq_tensors *tensors;
    size_t size;      // of an element
    qdq_chunk chunk;  // the elements in the buffer
    _Alignas(64) unsigned char buffer[QDQ_CHUNK_BYTES];
} qdq_chunks;

static inline void qdq_chunks_begin(qdq_chunks *chunks, const qdq_tensors *tensors,
                                    qdq_dtype dtype) {
    chunks->tensors = tensors;
    chunks->size = qdq_dtype_size(dtype);
    chunks->chunk = (qdq_chunk){.data = chunks->buffer};
}

// Returns room in the buffer, for the two inline functions below.
void *qdq_chunks_gather(qdq_chunks *chunks, size_t at, size_t n);
void *qdq_chunks_gather_block(qdq_chunks *chunks, size_t at, size_t n, size_t count, size_t stride);

// Returns the room for elements at to at + n - 1 of the result. n is at most the size of the
// buffer, and all of them must be written before the next call.
static inline void *qdq_chunks_room(qdq_chunks *chunks, size_t at, size_t n) {
    if (chunks->tensors->sink) return qdq_chunks_gather(chunks, at, n);
    return (char *)chunks->tensors->y[0] + at * chunks->size;
}

// Takes back the last room, of n elements, which were not computed.
void qdq_chunks_take_back(qdq_chunks *chunks, size_t n);

// Returns the room for `count` runs of n elements; run i begins at element at + i * stride of the
// result. Write it from element i * *step of the room on.
static inline void *qdq_chunks_block(qdq_chunks *chunks, size_t at, size_t n, size_t count,
                                     size_t stride, size_t *step) {
    *step = chunks->tensors->sink ? n : stride;
    if (chunks->tensors->sink) return qdq_chunks_gather_block(chunks, at, n, count, stride);
    return (char *)chunks->tensors->y[0] + at * chunks->size;
}

// Hands over the rest of the buffer.
void qdq_chunks_end(qdq_chunks *chunks);

// True if the first result is needed.
static inline bool qdq_chunks_wanted(const qdq_tensors *tensors) {
    return tensors->sink || tensors->y[0];
}

#endif
