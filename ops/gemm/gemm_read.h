// SPDX-License-Identifier: Apache-2.0
// Reads and packs constant B, which is in memory or read part by part.
#ifndef QDQ_OPS_GEMM_GEMM_READ_H
#define QDQ_OPS_GEMM_GEMM_READ_H

#include "ops/gemm/gemm.h"

// B and the zero points of its columns, known when the graph is compiled.
typedef struct qdq_gemm_known {
    const void *data;
    const qdq_stored *stored;  // instead of data
    const void *zeros;         // NULL: none
} qdq_gemm_known;

// Packs B if it is constant and no earlier product packed it in the same form. False when memory
// runs out or B cannot be read.
bool qdq_gemm_pack_constant(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to);

// The forms that B is packed in.
enum {
    QDQ_PACKED_PANELS,
    QDQ_PACKED_DIRECT,
    QDQ_PACKED_LANES,
    QDQ_PACKED_ROWS,
    QDQ_PACKED_LINES,     // weight codes for a row in fixed point
    QDQ_PACKED_WINOGRAD,  // and more: by the tiles of a unit
};

// Returns B in a form that an earlier stage packed, NULL if none did.
const void *qdq_gemm_find_packed(const qdq_gemm *gemm, const qdq_op_context *ctx,
                                 const qdq_lowering *to, const qdq_gemm_known *known, size_t form);
// Keeps a packed B for later stages. False when memory runs out.
bool qdq_gemm_add_packed(const qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to,
                         const qdq_gemm_known *known, size_t form, const void *packed);

// Packs all of B. False when memory runs out or B cannot be read.
bool qdq_gemm_pack_all(qdq_gemm *gemm, const qdq_gemm_known *known, const qdq_lowering *to);

// Sets *known to B and the zero points of its columns. False unless both are known when the graph
// is compiled.
bool qdq_gemm_constant_weights(const qdq_gemm *gemm, const qdq_op_context *ctx,
                               qdq_gemm_known *known);

// True if bytes can be multiplied: the codes of B are constant and fit in signed bytes after
// subtracting their zero points, and the zero point of A is known.
bool qdq_gemm_fits_bytes(const qdq_gemm *gemm, const void *zero_points);
// True if the kernel also takes no longer for bytes.
bool qdq_gemm_takes_bytes(const qdq_gemm *gemm, const void *zero_points);
// Packs all of B as bytes. False when memory runs out.
bool qdq_gemm_pack_bytes(qdq_gemm *gemm, const qdq_gemm_known *known, const qdq_lowering *to);

//---- Reading B --------------------------------------------------------------

// Columns and k of a matrix of B.
typedef struct qdq_gemm_part_of_b {
    size_t matrix, column, columns, k, n;
} qdq_gemm_part_of_b;

// True if columns of int8 are neighbours in memory and have zero points of 0.
bool qdq_gemm_has_byte_lines(const qdq_gemm *gemm, const qdq_gemm_source *from,
                             const qdq_gemm_part_of_b *part);

// Packs some k of at most 32 columns of B as bytes in a panel of them. `sums`: of the 32 columns.
void qdq_gemm_pack_byte_panel(const qdq_gemm *gemm, const qdq_gemm_source *from,
                              const qdq_gemm_part_of_b *part, int8_t *panel, uint32_t *sums);

// B while it is packed: all of it in memory, or the part that is packed next.
typedef struct qdq_gemm_reader {
    const void *data;          // begins with element `first`
    const qdq_stored *stored;  // NULL: data is all of B
    size_t size;               // of an element
    const qdq_allocator *allocator;
    size_t first, count, room_bytes;
    char *room;
    bool failed;  // memory ran out or B cannot be read
} qdq_gemm_reader;

qdq_gemm_reader qdq_gemm_reader_of(const qdq_gemm_known *known, size_t size,
                                   const qdq_mempool *mempool);

// Sets `data` to all of B, which has `count` elements.
bool qdq_gemm_reader_read_all(qdq_gemm_reader *reader, size_t count);

// Packs columns begin..end of B, counted through its matrices. The source is the reader's.
typedef void qdq_gemm_columns_fn(void *self, size_t begin, size_t end);

// Bytes of columns that are read at a time, or 32 columns: the columns packed next are in the
// cache, and need little memory.
enum { QDQ_GEMM_COLUMNS_ROOM = 1 << 19 };

// Reads the columns of B, some at a time if they follow each other in memory, and calls `fn` for
// all of them, on several threads for many elements (parallel NULL or all zero: serial). False when
// memory runs out or B cannot be read.
bool qdq_gemm_each_column(const qdq_gemm *gemm, qdq_gemm_reader *reader,
                          const qdq_parallel *parallel, qdq_gemm_columns_fn *fn, void *self);

qdq_gemm_source qdq_gemm_reader_source(const qdq_gemm_reader *reader, const qdq_gemm *gemm,
                                       const qdq_gemm_known *known, size_t matrix);
// Gives the memory back.
void qdq_gemm_reader_close(qdq_gemm_reader *reader);

// Packs a panel: at most 32 columns, and at most a k block of them.
typedef void qdq_gemm_panel_fn(void *self, const qdq_gemm_source *from,
                               const qdq_gemm_part_of_b *part);

// Reads B, whose elements have `size` bytes, part by part, and calls `fn` for each panel. Panels of
// the same columns come one after the other, in the order of k; panels of other columns may run on
// other threads for many elements (parallel NULL or all zero: serial). False when memory runs out
// or B cannot be read.
bool qdq_gemm_each_panel(const qdq_gemm *gemm, const qdq_gemm_known *known, size_t size,
                         const qdq_mempool *mempool, const qdq_parallel *parallel,
                         qdq_gemm_panel_fn *fn, void *self);

#endif
