// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/order/column_sums.h"

#include "ops/kernels/reduce/reduce_kernels.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/elementary.h"

typedef struct column_sums {
    size_t rows, columns;
    float divisor;
    qdq_dtype dtype;  // of y
    const qdq_slice_kernels *kernels;
} column_sums;

// A unit is a few columns side by side.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const column_sums *p = params;
    for (size_t unit = begin; unit < end; unit++) {
        float sums[QDQ_COLUMN_SUMS];
        size_t at = unit * QDQ_COLUMN_SUMS, left = p->columns - at;
        size_t n = left < QDQ_COLUMN_SUMS ? left : QDQ_COLUMN_SUMS;
        char *y = (char *)tensors->y[0] + at * qdq_dtype_size(p->dtype);
        for (size_t i = 0; i < n; i++) sums[i] = -0.0f;  // -0 + x is x for all x
        p->kernels->add_rows(sums, (const float *)tensors->x[0] + at, p->rows, p->columns, n);
        for (size_t i = 0; i < n; i++) {
            float sum = sums[i] / p->divisor;
            sums[i] = qdq_nan_if(sum != sum, sum);
        }
        qdq_encode_float(p->dtype, sums, y, n, NULL);
    }
}

bool qdq_column_sums_fit(const qdq_reduce_axes *slices) {
    return slices->within_rank == 1 && slices->across_rank == 1 && slices->across[0].stride == 1;
}

bool qdq_column_sums_stage(const qdq_lowering *to, const qdq_reduce_axes *slices, float divisor,
                           qdq_dtype dtype, qdq_stage *stage) {
    column_sums *p = QDQ_MEMPOOL_NEW(to->mempool, column_sums);
    if (!p) return false;
    *p = (column_sums){slices->n, slices->count, divisor, dtype, qdq_slice_kernels_find(to->isas)};
    stage[0] = (qdq_stage){
        .params = p,
        .tensor_op = run,
        .units = (p->columns + QDQ_COLUMN_SUMS - 1) / QDQ_COLUMN_SUMS,
        .cost = p->rows * p->columns,
    };
    return true;
}
