// SPDX-License-Identifier: Apache-2.0
// The TILE layout: 32x32 tiles of four 16x16 faces, as on Tenstorrent hardware, and smaller tiles.
//
// A tensor of rank >= 2 is planes of rows x cols; rank 0 and 1 are one row. Only the last two dims
// are padded, to multiples of 32. Tiles lie row-major in a plane, planes one after the other. In a
// tile the faces lie row-major, and each face is row-major in itself:
//     offset(r, c) = ((r >> 4) * 2 + (c >> 4)) * 256 + (r & 15) * 16 + (c & 15)
// Functions with a qdq_tile_shape do the same with tiles of that shape, as ttnn's `tile` argument.
#ifndef QDQ_TILE_H
#define QDQ_TILE_H

#include <qdq/parallel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { QDQ_TILE_DIM = 32, QDQ_FACE_DIM = 16, QDQ_TILE_ELEMENTS = 1024 };

// Bytes of a page of the arena: one tile of bfloat16.
enum { QDQ_PAGE_BYTES = 2048 };

// The shape of a tile: height 32, 16, 8, 4, 2 or 1, width 32 or 16. All zero is 32x32. A face is 16
// wide, and 16 high or as high as a lower tile. A transposed tile holds its faces, and the elements
// of each, in column-major order; its height is 16 or 32.
typedef struct qdq_tile_shape {
    uint32_t height, width;
    bool transpose;
} qdq_tile_shape;

// How a tensor is cut into tiles.
typedef struct qdq_tiling {
    size_t planes, rows, cols;    // planes * rows * cols = number of elements
    size_t tile_rows, tile_cols;  // tiles down and across one plane
    size_t tiles;                 // planes * tile_rows * tile_cols
    qdq_tile_shape tile;          // with its height and width
} qdq_tiling;

// Returns the tiling of a shape. All zero for a shape with a rank or a dim out of range.
QDQ_API qdq_tiling qdq_tiling_of(qdq_shape shape);
// Returns the shape with its padding: [32, n] for rank 0 and 1. All zero as above.
QDQ_API qdq_shape qdq_padded_shape(qdq_shape shape);
// Returns the bytes of one tile: 2048 for bfloat16, 4096 for float32 and int32, 1024 for 8-bit
// types, 512 for 4-bit and 256 for 2-bit types, which are packed with the first element in the low
// bits. A block float has 64 exponents, one for each face row, before its codes: 1088 for
// bfloat8_b, 576 for bfloat4_b. 0 if `dtype` is invalid.
QDQ_API size_t qdq_tile_bytes(qdq_dtype dtype);
// Returns the offset of row r, column c in a tile, in elements. 0 <= r, c < 32.
static inline size_t qdq_tile_offset(size_t r, size_t c) {
    return ((r >> 4) * 2 + (c >> 4)) * 256 + (r & 15) * 16 + (c & 15);
}

// Copy a whole row-major tensor into tiles, and back. Padding in `tiles` keeps its bytes, except
// that block floats, which are float32 in row-major form, are rounded into tiles padded with zeros.
// `tiles` has tiling.tiles * qdq_tile_bytes(dtype) bytes and must not overlap `rows`. Both do
// nothing if a pointer is NULL, or the dtype or the shape is invalid.
QDQ_API void qdq_tilize(qdq_dtype dtype, qdq_shape shape, const void *rows, void *tiles);
QDQ_API void qdq_untilize(qdq_dtype dtype, qdq_shape shape, const void *tiles, void *rows);
// Copies likewise, on several threads. NULL `parallel`: serial.
QDQ_API void qdq_tilize_parallel(qdq_dtype dtype, qdq_shape shape, const void *rows, void *tiles,
                                 const qdq_parallel *parallel);
QDQ_API void qdq_untilize_parallel(qdq_dtype dtype, qdq_shape shape, const void *tiles, void *rows,
                                   const qdq_parallel *parallel);

//---- Tiles of other shapes --------------------------------------------------

// True if tiles of this shape exist.
QDQ_API bool qdq_tile_shape_is_legal(qdq_tile_shape tile);
// Returns the bytes of one tile: of its elements and, for a block float, first an exponent for each
// row of each face, padded to a multiple of 16. 0 if `tile` is not legal or `dtype` is invalid.
QDQ_API size_t qdq_tile_shape_bytes(qdq_tile_shape tile, qdq_dtype dtype);
// Returns the offset of row r, column c in a tile, in elements. 0 if the tile has no such element.
QDQ_API size_t qdq_tile_shape_offset(qdq_tile_shape tile, size_t r, size_t c);
// Return the tiling and the padded shape. All zero also if `tile` is not legal.
QDQ_API qdq_tiling qdq_tiling_in(qdq_shape shape, qdq_tile_shape tile);
QDQ_API qdq_shape qdq_padded_shape_in(qdq_shape shape, qdq_tile_shape tile);
// Copy as qdq_tilize_parallel and qdq_untilize_parallel do. In a transposed tile the elements of a
// block float that share an exponent are neighbours in a column. Do nothing also if `tile` is not
// legal.
QDQ_API void qdq_tilize_in(qdq_dtype dtype, qdq_shape shape, qdq_tile_shape tile, const void *rows,
                           void *tiles, const qdq_parallel *parallel);
QDQ_API void qdq_untilize_in(qdq_dtype dtype, qdq_shape shape, qdq_tile_shape tile,
                             const void *tiles, void *rows, const qdq_parallel *parallel);

#ifdef __cplusplus
}
#endif
#endif
