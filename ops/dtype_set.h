// SPDX-License-Identifier: Apache-2.0
// Sets of dtypes that a port takes, a bit for each dtype.
#ifndef QDQ_OPS_DTYPE_SET_H
#define QDQ_OPS_DTYPE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/qdq/base.h"

typedef uint64_t qdq_dtype_set;
#define QDQ_SET(E) ((qdq_dtype_set)1 << QDQ_##E)
static inline bool qdq_set_has(qdq_dtype_set set, qdq_dtype dtype) { return set >> dtype & 1; }

// Rows of QDQ_DTYPES that give the dtypes of one kind.
#define QDQ_SET_OF(E, kind, wanted) | (qdq_dtype_set)(QDQ_KIND_##kind == (wanted)) << QDQ_##E
#define QDQ_SET_IF_FLOAT(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_FLOAT)
#define QDQ_SET_IF_SMALL(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_SMALL_FLOAT)
#define QDQ_SET_IF_BLOCK(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_BLOCK_FLOAT)
#define QDQ_SET_IF_INT(E, name, bits, kind, least, greatest, safetensors, npy) \
    QDQ_SET_OF(E, kind, QDQ_KIND_INT)
#define QDQ_SET_ROW(E, name, bits, kind, least, greatest, safetensors, npy) \
    | (qdq_dtype_set)1 << QDQ_##E

#define QDQ_SET_FLOATS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_FLOAT))  // the dtypes of most ops
#define QDQ_SET_SMALL_FLOATS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_SMALL))  // float8, float4
#define QDQ_SET_INTS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_INT))
#define QDQ_SET_WIDE_INTS (QDQ_SET(UINT32) | QDQ_SET(INT64) | QDQ_SET(UINT64))
#define QDQ_SET_BLOCK_FLOATS ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_IF_BLOCK))
#define QDQ_SET_REALS (QDQ_SET_FLOATS | QDQ_SET_BLOCK_FLOATS)  // results of Dequantize
#define QDQ_SET_QUANTIZED \
    (QDQ_SET_INTS | QDQ_SET_SMALL_FLOATS | QDQ_SET_BLOCK_FLOATS)  // results of Quantize
#define QDQ_SET_SCALES (QDQ_SET_FLOATS | QDQ_SET(FLOAT8_E8M0) | QDQ_SET(FLOAT8_E4M3FN))
#define QDQ_SET_ZERO_POINTS (QDQ_SET_INTS | QDQ_SET_FLOATS | QDQ_SET_SMALL_FLOATS)
#define QDQ_SET_COMPUTED_SCALES QDQ_SET_SCALES
#define QDQ_SET_ALL ((qdq_dtype_set)0 QDQ_DTYPES(QDQ_SET_ROW))

// Returns "float32, bfloat16" in the order of the dtype list.
const char *qdq_set_text(qdq_dtype_set set, char *buffer, size_t capacity);

#endif
