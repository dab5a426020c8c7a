// SPDX-License-Identifier: Apache-2.0
#include "ops/chunks.h"

static void hand_over(qdq_pieces *pieces) {
    qdq_piece *piece = &pieces->piece;
    if (piece->count) pieces->tensors->put(pieces->tensors->put_self, piece);
    qdq_scratch_drop(pieces->tensors->poison, pieces->buffer,
                     piece->n * piece->count * pieces->size);
    piece->count = 0;
}

// Makes n elements from `at` on part of the piece, if they can be.
static bool join(qdq_piece *piece, size_t at, size_t n) {
    if (piece->count == 1 && at == piece->at + piece->n) {
        piece->n += n;
        return true;
    }
    if (n != piece->n || at < piece->at + piece->n) return false;
    if (piece->count == 1) piece->stride = at - piece->at;
    if (at != piece->at + piece->count * piece->stride) return false;
    piece->count++;
    return true;
}

void *qdq_pieces_gather(qdq_pieces *pieces, size_t at, size_t n) {
    qdq_piece *piece = &pieces->piece;
    size_t before = piece->n * piece->count;
    bool fits = (before + n) * pieces->size <= QDQ_PIECES_BYTES;
    if (!piece->count || !fits || !join(piece, at, n)) {
        hand_over(pieces);
        piece->at = at, piece->n = n, piece->count = 1, piece->stride = 0;
        before = 0;
    }
    return pieces->buffer + before * pieces->size;
}

void *qdq_pieces_gather_block(qdq_pieces *pieces, size_t at, size_t n, size_t count,
                              size_t stride) {
    hand_over(pieces);
    pieces->piece = (qdq_piece){at, n, count, stride, pieces->buffer};
    return pieces->buffer;
}

void qdq_pieces_end(qdq_pieces *pieces) {
    if (pieces->tensors->put) hand_over(pieces);
}
