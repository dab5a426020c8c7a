// SPDX-License-Identifier: Apache-2.0
// Runs the chain of a step on some elements: a tile, or runs of row-major memory.
#ifndef QDQ_RUNTIME_EXEC_EXEC_BLOCK_H
#define QDQ_RUNTIME_EXEC_EXEC_BLOCK_H

#include "runtime/exec/exec.h"

// How many blocks run as one if no link needs its parameters laid out. Longer strips mean fewer
// calls of links, and longer pieces of the rows that tiles are cut from.
enum {
#if defined(QDQ_BARE)
    QDQ_STRIP_BLOCKS = 2,  // the buffers lie on a stack of some tens of kilobytes
    QDQ_CUT_BLOCKS = 1,
#else
    QDQ_STRIP_BLOCKS = 4,  // of elements of 4 bytes
    QDQ_CUT_BLOCKS = 2,    // with a parameter that is cut from rows, which needs room in L1 too
#endif
    QDQ_STRIP_BYTES = QDQ_STRIP_BLOCKS * QDQ_BLOCK_ELEMENTS * 4,
};
_Static_assert(QDQ_BLOCK_ELEMENTS *QDQ_MAX_ELEMENT_BYTES <= QDQ_STRIP_BYTES,
               "a strip holds a block");

// Buffers that stay in L1: two strips that a chain alternates between, and the parameters of one
// link.
typedef struct qdq_l1 {
    _Alignas(64) unsigned char block[2][QDQ_STRIP_BYTES];
    _Alignas(64) uint32_t params[QDQ_MAX_STAGE_PARAMS][QDQ_CUT_BLOCKS * QDQ_BLOCK_ELEMENTS];
    int next;  // the strip that holds no data of the chain
} qdq_l1;

// Returns how many elements a block has: those of a tile, or of a strip.
static inline size_t qdq_exec_block_elements(const qdq_step *step) {
    return step->tiled ? qdq_tile_shape_elements(step->tiling.tile) : QDQ_BLOCK_ELEMENTS;
}

// Returns how many elements of the largest dtype in a chain fit in a strip, in whole blocks.
size_t qdq_exec_strip_elements(const qdq_step *step);

// True if a link has parameters that vary between elements.
bool qdq_exec_is_uneven(const qdq_link *link);

// True if a parameter needs no decoding: float32, or int32 for an integer parameter.
bool qdq_exec_is_read_as_is(const qdq_param *v);

// Runs the chain on a rectangle of elements: a tile without its padding, or neighbouring tiles.
// They run in row-major order, for which parameters are laid out more cheaply than for tiles.
// Returns the result of the last link.
const void *qdq_exec_run_rectangle(const qdq_exec *exec, const qdq_step *step, qdq_tile_at at,
                                   qdq_l1 *l1);

// Runs the chain on `elements` elements from block number `block` on: one tile, several neighbours
// without padding, or one or more blocks of row-major memory. Returns the result of the last link.
const void *qdq_exec_run_block(const qdq_exec *exec, const qdq_step *step, size_t block,
                               size_t elements, qdq_l1 *l1);

// Takes rows that go with `count` tiles into the cache: x that is cut from rows, and results that
// are stored in rows. They lie so far apart that the hardware does not foresee them.
void qdq_exec_expect_tiles(const qdq_exec *exec, const qdq_step *step, size_t tile, size_t count);

// Runs the chain on loaded elements, at most a strip. For a tile, chunk->at counts elements in tile
// order.
const void *qdq_exec_run_links(const qdq_exec *exec, const qdq_step *step, const qdq_chunk *chunk,
                               qdq_l1 *l1);

// Cuts neighbouring tiles, or one that may have padding, out of rows.
void qdq_exec_cut_tiles(const qdq_tiling *t, size_t size, size_t tile, size_t count,
                        const char *rows, void *out);

// Calls a link on the elements x of a chunk and writes its results, side by side, to y
// (exec_call.c).
void qdq_exec_call_link(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                        const qdq_chunk *chunk, const char *x, size_t x_size, char *y, qdq_l1 *l1);

// Runs blocks begin..end of a step of one link from rows to rows (exec_direct.c).
void qdq_exec_run_direct(const qdq_exec *exec, const qdq_step *step, size_t begin, size_t end,
                         qdq_l1 *l1);

// Copies contiguous elements to the runs of row-major memory that `chunk` names.
void qdq_exec_store_runs(char *memory, size_t size, const qdq_chunk *chunk, const void *elements);
// The same, to tiles of a plain dtype (qdq_tile_is_plain).
void qdq_exec_store_in_tiles(char *tiles, size_t size, const qdq_tiling *tiling,
                             const qdq_chunk *chunk, const void *elements);

#endif
