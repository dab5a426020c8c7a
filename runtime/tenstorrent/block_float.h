// SPDX-License-Identifier: Apache-2.0
// Block floats: sixteen elements of a face row share an exponent. Only tiles hold them in this
// form; everywhere else an element is a float32 whose value a tile can hold. docs/numerics.md,
// "Block floats", has the format.
//
// A tile of 32x32 has 64 exponent bytes, one for each face row in face order, and then the codes: a
// sign and 7 (bfloat8_b) or 3 (bfloat4_b) bits of magnitude, the first element in the low bits. The
// exponents of a smaller tile are padded with zeros to a multiple of 16.
#ifndef QDQ_RUNTIME_TENSTORRENT_BLOCK_FLOAT_H
#define QDQ_RUNTIME_TENSTORRENT_BLOCK_FLOAT_H

#include "include/qdq/numerics.h"
#include "include/qdq/tile.h"

enum { QDQ_BLOCK_FLOAT_GROUP = 16 };

bool qdq_dtype_is_block_float(qdq_dtype dtype);

// Returns where the codes of a tile of so many elements begin: the bytes of its exponents.
size_t qdq_block_float_codes_at(size_t elements);

// Converts between the float32 of a tile, in tile order, and its bytes. Packing rounds as ttnn's
// host does; all elements count, so padding must be zero.
void qdq_block_float_pack(qdq_dtype dtype, size_t elements, const float *block, void *tile);
void qdq_block_float_unpack(qdq_dtype dtype, size_t elements, const void *tile, float *block);
// Packs and unpacks in place, as the host or as a chip does. A second call changes nothing,
// whatever its `store` is.
void qdq_block_float_round(qdq_dtype dtype, qdq_block_float_store store, size_t elements,
                           float *block);

#endif
