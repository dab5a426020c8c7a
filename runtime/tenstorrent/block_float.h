// SPDX-License-Identifier: Apache-2.0
// Block floats: sixteen elements of a face row share an exponent. Only tiles hold them in this
// form; everywhere else an element is a float32 whose value a tile can hold. docs/numerics.md,
// "Block floats", has the format.
//
// A tile has 64 exponent bytes, one for each face row in face order, and then the codes: a sign and
// 7 (bfloat8_b) or 3 (bfloat4_b) bits of magnitude, the first element in the low bits.
#ifndef QDQ_RUNTIME_TENSTORRENT_BLOCK_FLOAT_H
#define QDQ_RUNTIME_TENSTORRENT_BLOCK_FLOAT_H

#include "include/qdq/numerics.h"
#include "include/qdq/tile.h"

enum { QDQ_BLOCK_FLOAT_GROUP = 16, QDQ_BLOCK_FLOAT_GROUPS = 64 };

bool qdq_dtype_is_block_float(qdq_dtype dtype);

// Converts between 1024 float32 in tile order and a tile of qdq_tile_bytes(dtype). Packing rounds
// as ttnn's host does; all 1024 elements count, so padding must be zero.
void qdq_block_float_pack(qdq_dtype dtype, const float *block, void *tile);
void qdq_block_float_unpack(qdq_dtype dtype, const void *tile, float *block);
// Packs and unpacks in place, as the host or as a chip does. A second call changes nothing,
// whatever its `store` is.
void qdq_block_float_round(qdq_dtype dtype, qdq_block_float_store store, float *block);

#endif
