// SPDX-License-Identifier: Apache-2.0
// The kernels of pooling. ops/spatial/pool_band.c and max_rows.c arrange elements of x so that each
// tap of many windows reads neighbouring elements; the kernels convert, join and finish them.
#ifndef QDQ_OPS_KERNELS_POOL_POOL_H
#define QDQ_OPS_KERNELS_POOL_POOL_H

#include "include/qdq/base.h"
#include "ops/kernels/best_row.h"

// `join` computes whole vectors: it reads and writes up to this many elements more than n.
enum { QDQ_POOL_ROOM = 128 };

// The packed form of elements of x, and how windows join them.
typedef enum qdq_pool_kind {
    QDQ_POOL_KEYS,     // uint32_t in the order of the floats, see pool_key: greatest
    QDQ_POOL_BYTES,    // codes as unsigned bytes of the same order: greatest
    QDQ_POOL_FLOATS,   // sum in float32
    QDQ_POOL_DOUBLES,  // sum in double
    QDQ_POOL_KINDS
} qdq_pool_kind;

// y[i] = x[i * step], for n elements of a sum.
typedef void qdq_pool_load_fn(const float *x, size_t step, void *y, size_t n);

// Joins each of `count` rows, at least one, with y: y[i] = max(y[i], key of rows[k][i]). `fresh`:
// y[i] counts as the least. Rows are float32, or bytes that `sign` maps to unsigned bytes by XOR.
// Touches n elements, no more.
typedef void qdq_pool_rows_fn(const void *const *rows, size_t count, uint8_t sign, bool fresh,
                              void *y, size_t n);

// y[i] = the greatest of some neighbours of the line, from element i * stride on, as a float or a
// byte. Reads up to QDQ_POOL_ROOM elements more.
typedef void qdq_pool_peaks_fn(const void *line, uint8_t sign, void *y, size_t n);

// y[i] = x[2 * i] and z[i] = x[2 * i + 1]. x holds keys, bytes, or the float32 elements of a sum.
typedef void qdq_pool_pairs_fn(const void *x, void *y, void *z, size_t n);

// Joins x[offsets[k] + i], for each k in order, with y[i]. `fresh`: y[i] counts as the identity.
typedef void qdq_pool_join_fn(const void *x, const size_t *offsets, size_t count, bool fresh,
                              void *y, size_t n);

// The taps of windows over packed rows: tap (i, j) of window k is x[i * pitch + columns[j] + k].
typedef struct qdq_pool_taps {
    size_t rows, count, pitch;
    const size_t *columns;  // `count` of them
} qdq_pool_taps;

// Means of n windows, of the kind's type: each adds its taps in row-major order, from 0, and is
// divided by its divisor; NaN as 0x7FC00000. z, unless NULL, gets the means of windows one packed
// row below. Reads up to QDQ_POOL_ROOM elements more.
typedef void qdq_pool_mean_fn(const void *x, const qdq_pool_taps *taps, const void *divisors,
                              float *y, float *z, size_t n);

typedef struct qdq_pool_kernels {
    qdq_pool_load_fn *load[QDQ_POOL_KINDS];  // of sums
    qdq_pool_rows_fn *rows[QDQ_POOL_KINDS];  // of maxima
    qdq_pool_peaks_fn *peaks[2][2][2];       // of maxima: by kind, stride - 1, neighbours - 2
    qdq_pool_pairs_fn *pairs[QDQ_POOL_KINDS];
    qdq_pool_join_fn *join[QDQ_POOL_KINDS];
    void (*from_keys)(const uint32_t *keys, float *y, size_t n);  // NaN as 0x7FC00000
    void (*from_bytes)(const uint8_t *keys, uint8_t sign, uint8_t *y, size_t n);
    qdq_pool_mean_fn *mean[QDQ_POOL_KINDS];  // NULL without vectors
    // Sums divided by one divisor each, NaN as 0x7FC00000.
    void (*divide_floats)(const float *sums, const double *divisors, float *y, size_t n);
    void (*divide_doubles)(const double *sums, const double *divisors, float *y, size_t n);
} qdq_pool_kernels;

#define QDQ_POOL_DECLARE(ISA, isa) extern const qdq_pool_kernels qdq_pool_##isa;
QDQ_KERNEL_ISAS(QDQ_POOL_DECLARE)

// Returns the best kernels for the instruction sets `isas`; all give the same bits.
const qdq_pool_kernels *qdq_pool_find(uint32_t isas);

#endif
