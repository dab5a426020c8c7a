// SPDX-License-Identifier: Apache-2.0
// Products of float32 in the orders of ONNX Runtime that are no chains of fma. Its other products
// are chains over chunks of k, which the kernels of gemm.h compute and `add` joins.
//
// In fours, products are rounded: ((p0 + p1) + p2) + p3 of each four k is added to the sum, then p0
// + p1 of two k that are left, then a last product. In eights, the product of k is rounded and
// added to lane k % 8.
#ifndef QDQ_OPS_KERNELS_GEMM_GEMM_ORDERS_H
#define QDQ_OPS_KERNELS_GEMM_GEMM_ORDERS_H

#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/gemm/gemm_nbits.h"

enum { QDQ_GEMM_EIGHTS = 8 };

// sums[r * stride + j] += more[r * 32 + j]
typedef void qdq_gemm_add_fn(float *sums, size_t stride, const float *more, size_t rows);

typedef struct qdq_gemm_orders {
    qdq_gemm_part_fn *fours;  // parts end at a multiple of 4 k, or at the last
    // Rows of c are 8 lanes of 32 columns. Parts begin at a multiple of 8 k; `start` is not read.
    qdq_gemm_part_fn *eights;
    qdq_gemm_lanes_fn *lane_fours;  // a product for each column, as qdq_gemm_lanes_fn
    qdq_gemm_add_fn *add;
    qdq_nbits_step_fn *nbits_step;
    qdq_nbits_zero_fn *nbits_zero;
    qdq_nbits_floats_fn *nbits_floats;
} qdq_gemm_orders;

#define QDQ_GEMM_DECLARE_ORDERS(ISA, isa) extern const qdq_gemm_orders qdq_gemm_orders_##isa;
QDQ_KERNEL_ISAS(QDQ_GEMM_DECLARE_ORDERS)

// Returns the best kernels for the instruction sets `isas`; all give the same bits.
const qdq_gemm_orders *qdq_gemm_orders_find(uint32_t isas);

#endif
