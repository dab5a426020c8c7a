// SPDX-License-Identifier: Apache-2.0
// How the pages of a buffer lie in the banks of a pool: page to bank and address, and back.
#ifndef QDQ_RUNTIME_TENSTORRENT_BUFFER_LAYOUT_H
#define QDQ_RUNTIME_TENSTORRENT_BUFFER_LAYOUT_H

#include "runtime/tenstorrent/page_layout.h"

// The memory that a buffer takes, and where its pages are relative to its address.
typedef struct qdq_buffer_layout {
    qdq_buffer_type buffer_type;
    qdq_memory_layout memory_layout;
    uint64_t page_size, pages;
    uint64_t sized_pages;     // that ttnn counts in the size of the buffer
    uint64_t slot;            // bytes from a page to the next in a bank: page_size, rounded up
    uint64_t banks;           // of the pool
    uint64_t bytes_per_bank;  // taken in each bank, also in banks without pages; 0: none
    // The rest is 0 for an interleaved buffer. Shards are arrays of pages; all have the same size,
    // and their pages past the tensor's edge are padding pages.
    int rank;
    uint64_t tensor_pages[QDQ_MAX_RANK], shard_pages[QDQ_MAX_RANK], shard_grid[QDQ_MAX_RANK];
    uint64_t pages_per_shard, shards;
    uint64_t cores, shards_per_core;  // of the shard_spec; the most that a core has
    uint64_t grid_x;                  // of the device
    qdq_shard_spec spec;
} qdq_buffer_layout;

// True if two configs put a tensor at the same place: the same pool, memory_layout and shard_spec.
bool qdq_memory_config_equal(const qdq_memory_config *a, const qdq_memory_config *b);
// True if two layouts of one config on one device put pages of equal numbers at the same places.
bool qdq_buffer_layout_equal(const qdq_buffer_layout *a, const qdq_buffer_layout *b);

// Lays out the buffer of a tensor.
qdq_memory_rule qdq_buffer_layout_of(const qdq_device *device, const qdq_device_tensor *tensor,
                                     const qdq_memory_config *config, qdq_buffer_layout *out,
                                     qdq_error *err);
// Lays out a buffer of `size` bytes in pages, interleaved.
qdq_memory_rule qdq_buffer_layout_raw(const qdq_device *device, qdq_buffer_type type, uint64_t size,
                                      uint64_t page_size, qdq_buffer_layout *out, qdq_error *err);

// Returns the size that ttnn gives the buffer: the bytes of its pages, without the padding of
// slots. Padding pages count if the tensor lies in rows and has a 2-D shard_spec, to whose shape
// ttnn aligns such a tensor.
static inline uint64_t qdq_buffer_layout_size(const qdq_buffer_layout *layout) {
    return layout->sized_pages * layout->page_size;
}

//---- Pages and places -------------------------------------------------------

typedef struct qdq_page_place {
    // An interleaved buffer in L1: the bank id, which the device maps to a core by a shuffle. A
    // shard in L1: its core, y * grid_x + x. In DRAM the bank id.
    uint64_t bank;
    uint64_t address;
    uint16_t core_x, core_y;  // 0 for an interleaved buffer
} qdq_page_place;

// Finds the place of page `page` of a buffer at `address`. False if the buffer does not have the
// page.
bool qdq_page_place_of(const qdq_buffer_layout *layout, uint64_t address, uint64_t page,
                       qdq_page_place *out);

typedef enum qdq_page_kind {
    QDQ_PAGE_NONE = 0,  // the buffer has nothing at this place
    QDQ_PAGE_IDLE,      // the buffer has taken it, and no page lies there
    QDQ_PAGE_PADDING,   // a page of a shard past the tensor's edge
    QDQ_PAGE_REAL,
} qdq_page_kind;

// Finds the page of a buffer at `buffer_address` that lies at `address` of a bank. A real page also
// sets *page to its number and *byte to the byte of its slot; past page_size the slot is empty.
qdq_page_kind qdq_page_at(const qdq_buffer_layout *layout, uint64_t buffer_address, uint64_t bank,
                          uint64_t address, uint64_t *page, uint64_t *byte);

#endif
