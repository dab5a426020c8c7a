// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/order/global_pool.h"

#include <math.h>

#include "runtime/base/mempool.h"
#include "runtime/numerics/dtype.h"

typedef struct global_pool {
    size_t channels, n;    // of all images; elements of a channel
    size_t unit_channels;  // of a unit
    qdq_dtype dtype;       // of y
} global_pool;

float qdq_global_mean(const float *x, size_t step, size_t n) {
    float a = 0, b = 0, c = 0, d = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4, x += 4 * step)
        a += x[0], b += x[step], c += x[2 * step], d += x[3 * step];
    float even = a + c, odd = b + d, sum = even + odd;
    for (; i < n; i++, x += step) sum += *x;
    sum /= (float)n;
    return isnan(sum) ? NAN : sum;
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const global_pool *p = params;
    const float *x = tensors->x[0];
    char *y = tensors->y[0];
    size_t size = qdq_dtype_size(p->dtype);
    size_t first = begin * p->unit_channels, last = end * p->unit_channels;
    if (!y) return;
    if (last > p->channels) last = p->channels;
    for (size_t c = first; c < last; c++) {
        float result = qdq_global_mean(x + c * p->n, 1, p->n);
        qdq_encode_float(p->dtype, &result, y + c * size, 1, NULL);
    }
}

bool qdq_global_pool_stage(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stage) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    size_t channels = (size_t)(shape.dims[0] * shape.dims[1]);
    global_pool *p = QDQ_MEMPOOL_NEW(to->mempool, global_pool);
    if (!p) return false;
    *p = (global_pool){.channels = channels,
                       .n = qdq_shape_count(shape) / channels,
                       .dtype = ctx->outputs[0].dtype};
    p->unit_channels = (QDQ_GLOBAL_POOL_UNIT + p->n - 1) / p->n;
    *stage = (qdq_stage){
        .params = p,
        .tensor_op = run,
        .units = (channels + p->unit_channels - 1) / p->unit_channels,
        .cost = channels * p->n,
    };
    return true;
}
