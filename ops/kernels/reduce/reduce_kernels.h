// SPDX-License-Identifier: Apache-2.0
// The inner loops of softmax, norms and reductions, over parts of slices
// (ops/reduce/reduce_axes.h). Each instruction set has a set of them, compiled from one source
// (reduce.inc.h); all give the same bits.
#ifndef QDQ_OPS_KERNELS_REDUCE_REDUCE_KERNELS_H
#define QDQ_OPS_KERNELS_REDUCE_REDUCE_KERNELS_H

#include "ops/kernels/best_row.h"
#include "runtime/numerics/sum.h"

// Accumulators, one for each lane of runtime/numerics/sum.h: sums or products, or keys, which are
// integers in the order of the floats that they stand for.
typedef union qdq_lanes {
    double sums[QDQ_SUM_LANES];
    int32_t keys[QDQ_SUM_LANES];
} qdq_lanes;

// Adds n more elements to the lanes; deviations are taken from `about`. All parts of a slice but
// the last are a multiple of QDQ_SUM_LANES long.
typedef void qdq_lanes_fn(qdq_lanes *lanes, const float *x, size_t n, double about);

// (x - mean) * scale, then * gamma and + beta if they are given; each operation rounds to double.
typedef struct qdq_normal {
    double mean, scale;
    const float *gamma, *beta;  // one for each element, or NULL; no beta without gamma
    bool same;                  // gamma and beta are one number for all elements
} qdq_normal;

enum { QDQ_RUNTIME_LANES = 8, QDQ_RUNTIME_WIDE_LANES = 16 };

// y of n elements.
typedef void qdq_normalize_fn(const float *x, size_t n, const qdq_normal *normal, double *y);
typedef void qdq_normalize_floats_fn(const float *x, size_t n, const qdq_normal *normal, float *y);

typedef struct qdq_slice_kernels {
    qdq_lanes_fn *sum, *squares, *magnitudes, *deviations, *product, *greatest, *least;
    // e[i] = e^(x[i] - max), for x[i] <= max; 10^-304 where that would be less.
    void (*exps)(const float *x, size_t n, double max, double *e);
    void (*sum_exps)(qdq_lanes *lanes, const double *e, size_t n);
    void (*scale)(double *e, size_t n, double by);
    // y[i] = (x[i] - max) - log_sum
    void (*shift)(const float *x, size_t n, double max, double log_sum, double *y);
    qdq_normalize_fn *normalize;  // the only function that reads `same`
    // The norm of ops/reduce/order/layer_norm_order.h, where all numbers are float32: adds
    // (x - mean)^2 to lanes 0 to 7, n being a multiple of 8; and computes y.
    qdq_lanes_fn *fused_deviations;
    qdq_normalize_floats_fn *fused_normalize;
    // y[i] = x[i] * a + b, each operation rounded to float32; a NaN is 0x7FC00000, as of the
    // function above.
    void (*line)(const float *x, size_t n, float a, float b, float *y);
    // To the nearest float; a NaN becomes 0x7FC00000.
    void (*narrow)(const double *x, size_t n, float *y);
    // To a float that is then rounded to a narrower dtype: rounded to odd, so that the two
    // roundings give the result of one.
    void (*narrow_odd)(const double *x, size_t n, float *y);
    // Elements of float32, float16 or bfloat16 from and to float32, as qdq_decode_float and
    // qdq_encode_float.
    void (*decode)(qdq_dtype dtype, const void *x, float *out, size_t n);
    void (*encode)(qdq_dtype dtype, const float *in, void *y, size_t n);
    // Adds rows of n elements, `stride` apart, to n sums, in order and in float32.
    void (*add_rows)(float *sums, const float *x, size_t rows, size_t stride, size_t n);
    // ONNX Runtime's SoftMax (ops/reduce/softmax.c): y[i] = e^(x[i] - max), which is added to
    // sums[i % lanes]. `wide`: QDQ_RUNTIME_WIDE_LANES, as the kernel for AVX-512; else
    // QDQ_RUNTIME_LANES.
    void (*runtime_exps)(const float *x, size_t n, float max, bool wide, float *sums, float *y);
    // y[i] = y[i] * by, in float32.
    void (*runtime_scale)(float *y, size_t n, float by);
    // The SoftMax of both, of a whole slice. False: the sum is NaN, or the kernel has other lanes.
    // NULL: the set has no such kernel.
    bool (*runtime_softmax)(const float *x, size_t n, bool wide, float *y);
    // SoftMax of n elements, a whole slice; e has room for n doubles and QDQ_SUM_LANES more. False:
    // a result is uncertain, NaN or denormal. NULL: the set has no such kernel.
    bool (*softmax)(const float *x, size_t n, double *e, float *y);
} qdq_slice_kernels;

#define QDQ_SLICE_DECLARE(ISA, isa) extern const qdq_slice_kernels qdq_slice_kernels_##isa;
QDQ_KERNEL_ISAS(QDQ_SLICE_DECLARE)

// Returns the best kernels for the instruction sets `isas`; all give the same bits.
const qdq_slice_kernels *qdq_slice_kernels_find(uint32_t isas);

// The first values of lanes, and the results that lanes of keys hold.
static inline void qdq_lanes_fill(qdq_lanes *lanes, double value) {
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) lanes->sums[l] = value;
}

static inline void qdq_lanes_fill_keys(qdq_lanes *lanes, int32_t key) {
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) lanes->keys[l] = key;
}

// Returns the float that a key stands for; the outermost keys are NaN.
static inline float qdq_float_of_key(int32_t key) {
    if (key == INT32_MAX || key == INT32_MIN) return qdq_float_from_bits(0x7FC00000u);
    uint32_t bits = (uint32_t)key;
    return qdq_float_from_bits(bits ^ ((0 - (bits >> 31)) >> 1));
}

static inline float qdq_lanes_greatest(const qdq_lanes *lanes) {
    int32_t most = lanes->keys[0];
    for (size_t l = 1; l < QDQ_SUM_LANES; l++) most = lanes->keys[l] > most ? lanes->keys[l] : most;
    return qdq_float_of_key(most);
}

static inline float qdq_lanes_least(const qdq_lanes *lanes) {
    int32_t least = lanes->keys[0];
    for (size_t l = 1; l < QDQ_SUM_LANES; l++)
        least = lanes->keys[l] < least ? lanes->keys[l] : least;
    return qdq_float_of_key(least);
}

#endif
