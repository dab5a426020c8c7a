// SPDX-License-Identifier: Apache-2.0
// Tensors as pages: the bytes of a page, and the 2-D array of pages that a tensor is.
#ifndef QDQ_RUNTIME_TENSTORRENT_PAGE_LAYOUT_H
#define QDQ_RUNTIME_TENSTORRENT_PAGE_LAYOUT_H

#include "include/qdq/device.h"
#include "runtime/tenstorrent/tile_shape.h"

//---- Rules ------------------------------------------------------------------

// Faults of a tensor or of its placement. Each has one sentence.
typedef enum qdq_memory_rule {
    QDQ_MEMORY_FINE = 0,
    QDQ_MEMORY_SHAPE,         // rank or dims out of range, or more elements than can be counted
    QDQ_MEMORY_DTYPE,         // no dtype, or a block float outside tiles
    QDQ_MEMORY_TILE,          // no shape of a tile
    QDQ_MEMORY_POOL,          // no buffer type, or the host's
    QDQ_MEMORY_LAYOUT,        // no memory_layout, or no orientation or distribution
    QDQ_MEMORY_SPEC,          // a shard_spec is missing, or given to an interleaved tensor
    QDQ_MEMORY_SPEC_RANK,     // the shard's rank
    QDQ_MEMORY_SPEC_SHAPE,    // the shard's dims
    QDQ_MEMORY_SPEC_TILES,    // a shard is no whole tiles
    QDQ_MEMORY_SPEC_WIDTH,    // HEIGHT_SHARDED: the shard's width is not the tensor's
    QDQ_MEMORY_SPEC_HEIGHT,   // WIDTH_SHARDED: the shard's height is not the tensor's
    QDQ_MEMORY_GRID,          // a range of cores is not on the device, is empty or overlaps
    QDQ_MEMORY_GRID_CORES,    // more shards than cores
    QDQ_MEMORY_GRID_SQUARE,   // BLOCK_SHARDED: the cores are not one rectangle
    QDQ_MEMORY_DISTRIBUTION,  // CONTIGUOUS_1D: shards not divisible by cores, or not ND_SHARDED
    QDQ_MEMORY_PAGES,         // a size that is not whole pages
} qdq_memory_rule;

//---- Pages ------------------------------------------------------------------

typedef struct qdq_device_tensor {
    qdq_dtype dtype;
    qdq_shape shape;  // a dim may be 0: the tensor has no pages then
    qdq_layout layout;
    qdq_tile_shape tile;
} qdq_device_tensor;

// The padded tensor, and its pages in row-major order: all dims but the last are folded into
// height after the last two were padded.
typedef struct qdq_page_layout {
    uint64_t page_size;                // bytes
    uint64_t page_height, page_width;  // elements
    uint64_t height, width;            // of the padded 2-D shape, in elements
    int rank;                          // at least 2
    uint64_t dims[QDQ_MAX_RANK];       // the padded shape before folding, in pages
    uint64_t pages_high, pages_wide;   // of the 2-D shape
    uint64_t pages;                    // 0 for a tensor without elements, whose page_size is 4
} qdq_page_layout;

// `shard_width` is that of the shards in elements, 0 for a tensor without: the rows of row-major
// tensors are cut by it, and padded to it.
qdq_memory_rule qdq_page_layout_of(const qdq_device_tensor *tensor, uint64_t shard_width,
                                   qdq_page_layout *out, qdq_error *err);

// Finds the element at `row`, `column` of the padded 2-D shape: its page, and its number in the
// page.
void qdq_page_layout_element(const qdq_page_layout *pages, const qdq_device_tensor *tensor,
                             uint64_t row, uint64_t column, uint64_t *page, uint64_t *element);

#endif
