// SPDX-License-Identifier: Apache-2.0
#include "ops/chunks.h"

static void hand_over(qdq_chunks *chunks) {
    qdq_chunk *chunk = &chunks->chunk;
    if (chunk->count) chunks->tensors->sink(chunks->tensors->sink_self, chunk);
    qdq_scratch_drop(chunks->tensors->poison, chunks->buffer,
                     chunk->n * chunk->count * chunks->size);
    chunk->count = 0;
}

// Appends n elements from number `at` on to the chunk, if they fit its pattern.
static bool join(qdq_chunk *chunk, size_t at, size_t n) {
    if (chunk->count == 1 && at == chunk->at + chunk->n) {
        chunk->n += n;
        return true;
    }
    if (n != chunk->n || at < chunk->at + chunk->n) return false;
    if (chunk->count == 1) chunk->stride = at - chunk->at;
    if (at != chunk->at + chunk->count * chunk->stride) return false;
    chunk->count++;
    return true;
}

void *qdq_chunks_gather(qdq_chunks *chunks, size_t at, size_t n) {
    qdq_chunk *chunk = &chunks->chunk;
    size_t before = chunk->n * chunk->count;
    bool fits = (before + n) * chunks->size <= QDQ_CHUNK_BYTES;
    if (!chunk->count || !fits || !join(chunk, at, n)) {
        hand_over(chunks);
        chunk->at = at, chunk->n = n, chunk->count = 1, chunk->stride = 0;
        before = 0;
    }
    return chunks->buffer + before * chunks->size;
}

void qdq_chunks_take_back(qdq_chunks *chunks, size_t n) {
    qdq_chunk *chunk = &chunks->chunk;
    if (!chunks->tensors->sink) return;
    if (chunk->count == 1 && chunk->n > n)
        chunk->n -= n;
    else
        chunk->count--;
}

void *qdq_chunks_gather_block(qdq_chunks *chunks, size_t at, size_t n, size_t count,
                              size_t stride) {
    hand_over(chunks);
    chunks->chunk = (qdq_chunk){at, n, count, stride, chunks->buffer};
    return chunks->buffer;
}

void qdq_chunks_end(qdq_chunks *chunks) {
    if (chunks->tensors->sink) hand_over(chunks);
}
