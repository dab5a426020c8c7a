// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's choice of an order for the sums of a product of float32, on x86-64 with FMA and
// one thread. It cuts B into panels of n x k of a fixed size, 128 x 128, narrower and deeper if n
// is small; a panel's k are a chunk. A packed B always has chunks of 256. Products of one row, and
// of one contiguous column, have separate kernels.
#include "ops/gemm/order/gemm_order.h"

#include "ops/kernels/gemm/gemm_orders.h"

enum { CHUNK = 128, PACKED_CHUNK = 256, PANEL = 128, LEAST_PANEL = 16 };

static size_t chunk_of(const qdq_runtime_product *p) {
    size_t chunk = CHUNK;
    if (p->packed) return PACKED_CHUNK;
    if (p->n >= p->k || p->transpose_a) return chunk;
    for (size_t panel = PANEL; panel > LEAST_PANEL && panel / 2 >= p->n; panel /= 2) chunk *= 2;
    return chunk;
}

qdq_gemm_order qdq_gemm_order_of(const qdq_runtime_product *p) {
    qdq_gemm_order fours = {.sums = QDQ_SUM_FOURS, .bias_first = p->biased};
    qdq_gemm_order eights = {.sums = QDQ_SUM_EIGHTS};
    bool row = p->m == 1 && !p->transpose_a;
    if (p->column_vector) return fours;
    if (!p->packed && row && !p->transpose_b) return fours;
    if (!p->packed && row) {
        eights.by_rows = p->m_is_columns;
        eights.count = p->n;
        return eights;
    }
    if (!p->packed && p->n == 1 && p->together) {
        eights.by_rows = !p->m_is_columns;
        eights.count = p->m;
        return p->transpose_a ? fours : eights;
    }
    return (qdq_gemm_order){.sums = QDQ_SUM_CHUNKS,
                            .chunk = chunk_of(p),
                            .bias_first = p->biased && p->k > chunk_of(p)};
}

bool qdq_adds_as_runtime(const qdq_op_context *ctx, const qdq_lowering *to, size_t a, size_t b) {
    return qdq_by_onnx_runtime(to) && !ctx->inputs[a].quantized &&
           ctx->inputs[a].type.dtype == QDQ_FLOAT32 && ctx->inputs[b].type.dtype == QDQ_FLOAT32 &&
           ctx->outputs[0].dtype == QDQ_FLOAT32;
}

float qdq_gemm_fold_eights(const float *lanes, size_t stride, size_t number, size_t count) {
    float l[QDQ_GEMM_EIGHTS], low, high;
    for (size_t i = 0; i < QDQ_GEMM_EIGHTS; i++) l[i] = lanes[i * stride];
    if (number < count / 4 * 4) {
        low = ((l[0] + l[1]) + l[2]) + l[3];
        high = ((l[4] + l[5]) + l[6]) + l[7];
    } else if (number < count / 2 * 2) {
        low = (l[0] + l[2]) + (l[4] + l[6]);
        high = (l[1] + l[3]) + (l[5] + l[7]);
    } else {
        low = (l[0] + l[1]) + (l[2] + l[3]);
        high = (l[4] + l[5]) + (l[6] + l[7]);
    }
    return low + high;
}
