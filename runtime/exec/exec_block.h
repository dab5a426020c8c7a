// SPDX-License-Identifier: Apache-2.0
// The chain of a step on some of its elements: a tile, or runs of row-major memory.
#ifndef QDQ_RUNTIME_EXEC_EXEC_BLOCK_H
#define QDQ_RUNTIME_EXEC_EXEC_BLOCK_H

#include "runtime/exec/exec.h"

// Blocks of strips that are run as one, where no link needs its parameters laid out: the more, the
// less often links are called.
enum {
    QDQ_STRIP_BLOCKS = 4,  // of elements of at most 4 bytes
    QDQ_STRIP_BYTES = QDQ_STRIP_BLOCKS * QDQ_BLOCK_ELEMENTS * 4,
};
_Static_assert(QDQ_BLOCK_ELEMENTS *QDQ_MAX_ELEMENT_BYTES <= QDQ_STRIP_BYTES,
               "a strip holds a block");

// L1: two strips that a chain swaps between, and the parameters of one link.
typedef struct qdq_l1 {
    _Alignas(64) unsigned char block[2][QDQ_STRIP_BYTES];
    _Alignas(64) uint32_t params[QDQ_MAX_STAGE_PARAMS][QDQ_BLOCK_ELEMENTS];
    int next;  // the half that holds no data of the chain
} qdq_l1;

// Elements of the largest dtype that a chain has, that fit in a strip: whole blocks.
size_t qdq_exec_strip_elements(const qdq_step *step);

// Whether a link has parameters that are not the same for all elements.
bool qdq_exec_is_uneven(const qdq_link *link);

// Block number `block` and, of strips, those behind it: so many elements. Returns what comes out of
// the chain.
const void *qdq_exec_run_block(const qdq_exec *exec, const qdq_step *step, size_t block,
                               size_t elements, qdq_l1 *l1);

// The chain on elements that are there, no more than a strip holds. Of a tile `at` counts in the
// order of tiles.
const void *qdq_exec_run_links(const qdq_exec *exec, const qdq_step *step, const qdq_chunk *chunk,
                               qdq_l1 *l1);

// Copies elements, which lie one behind the other, to their runs in row-major memory.
void qdq_exec_store_runs(char *memory, size_t size, const qdq_chunk *chunk, const void *elements);

#endif
