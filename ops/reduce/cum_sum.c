// SPDX-License-Identifier: Apache-2.0
// CumSum: sums of the elements of x up to each index of an axis. Floats are added one by one in
// float32, float64 in double, each sum rounded, as ONNX Runtime and numpy do; integers wrap around.
#include <string.h>

#include "include/qdq/ops/reduce.h"
#include "ops/blocking.h"
#include "ops/infer.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/elementary.h"

#define SET_SUMMED (QDQ_SET_FLOATS | QDQ_SET(FLOAT64) | QDQ_SET(INT32) | QDQ_SET_WIDE_INTS)

static const qdq_port_desc inputs[] = {{"x", offsetof(qdq_cum_sum_attrs, x), false, SET_SUMMED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, SET_SUMMED}};
static const qdq_attr_desc attrs[] = {
    {"axis", QDQ_ATTR_INT, offsetof(qdq_cum_sum_attrs, axis), NULL, QDQ_REQUIRED,
     "the dim to add along"},
    {"exclusive", QDQ_ATTR_BOOL, offsetof(qdq_cum_sum_attrs, exclusive), NULL, "false",
     "a sum leaves out the element at its own index"},
    {"reverse", QDQ_ATTR_BOOL, offsetof(qdq_cum_sum_attrs, reverse), NULL, "false",
     "sums start at the end of the axis"}};

static void infer(qdq_op_context *ctx) {
    const qdq_cum_sum_attrs *a = ctx->attrs;
    if (qdq_require_attr(ctx, "axis", a->axis.set != 0))
        qdq_check_axis(ctx, "axis", a->axis.value, ctx->inputs[0].type.shape.rank);
    ctx->outputs[0] = ctx->inputs[0].type;
}

typedef struct cum_sum_params {
    qdq_dtype x_dtype, y_dtype;
    bool exclusive, reverse;
    size_t length, stride;  // elements of a sum, and the distance from one to the next
    size_t blocks;          // of `stride` neighbouring sums
} cum_sum_params;

enum { PART = QDQ_CUM_SUM_LANES };

static float quiet_float(float v) { return qdq_nan_if(v != v, v); }
static double quiet_double(double v) {
    return v != v ? qdq_double_from_bits(UINT64_C(0x7FF8000000000000)) : v;
}

// Adds `steps` indices of `lanes` neighbouring sums, in place. `first`: no index came before; the
// first sum is its element then, so that -0 stays.
// NOLINTBEGIN(bugprone-macro-parentheses): `type` is a type
#define ADD_REALS(type)                                                                   \
    static void add_##type##s(const cum_sum_params *p, type *v, type *sums, size_t steps, \
                              size_t lanes, bool first) {                                 \
        for (size_t s = 0; s < steps; s++, first = false) {                               \
            type *row = v + (p->reverse ? steps - 1 - s : s) * lanes;                     \
            for (size_t i = 0; i < lanes; i++) {                                          \
                type before = first ? (type)0 : sums[i];                                  \
                sums[i] = first ? row[i] : sums[i] + row[i];                              \
                row[i] = quiet_##type(p->exclusive ? before : sums[i]);                   \
            }                                                                             \
        }                                                                                 \
    }
// NOLINTEND(bugprone-macro-parentheses)
ADD_REALS(float)
ADD_REALS(double)

static void add_ints(const cum_sum_params *p, int64_t *v, int64_t *sums, size_t steps, size_t lanes,
                     bool first) {
    for (size_t s = 0; s < steps; s++, first = false) {
        int64_t *row = v + (p->reverse ? steps - 1 - s : s) * lanes;
        for (size_t i = 0; i < lanes; i++) {
            int64_t before = first ? 0 : sums[i];
            sums[i] = (int64_t)((uint64_t)before + (uint64_t)row[i]);
            row[i] = p->exclusive ? before : sums[i];
        }
    }
}

// The same from elements of x to elements of y, which are neighbours in memory.
static void add_part(const cum_sum_params *p, const void *x, void *y, void *sums, size_t steps,
                     size_t lanes, bool first) {
    size_t n = steps * lanes;
    if (qdq_set_has(QDQ_SET_FLOATS, p->x_dtype)) {
        float v[PART];
        qdq_decode_float(p->x_dtype, x, v, n);
        add_floats(p, v, sums, steps, lanes, first);
        qdq_encode_float(p->y_dtype, v, y, n, NULL);
    } else if (p->x_dtype == QDQ_FLOAT64) {
        double v[PART];
        memcpy(v, x, n * sizeof *v);
        add_doubles(p, v, sums, steps, lanes, first);
        memcpy(y, v, n * sizeof *v);
    } else {
        int64_t v[PART];
        qdq_decode_wide(p->x_dtype, x, v, n);
        add_ints(p, v, sums, steps, lanes, first);
        qdq_encode_wide(p->y_dtype, v, y, n);
    }
}

// A unit is up to PART neighbouring sums. Along the last dim it is one sum, in parts.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const cum_sum_params *p = params;
    size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    int64_t sums[PART];  // or as many floats or doubles
    for (size_t unit = begin; unit < end; unit++) {
        size_t column = unit % p->blocks * PART;
        size_t at = unit / p->blocks * p->length * p->stride + column;
        size_t lanes = p->stride - column < PART ? p->stride - column : PART;
        size_t most = p->stride > 1 ? 1 : PART;
        for (size_t done = 0, steps; done < p->length; done += steps) {
            steps = p->length - done < most ? p->length - done : most;
            size_t index = p->reverse ? p->length - done - steps : done;
            size_t from = at + index * p->stride;
            add_part(p, (const char *)tensors->x[0] + from * x_size,
                     (char *)tensors->y[0] + from * y_size, sums, steps, lanes, done == 0);
        }
        qdq_scratch_drop(tensors->poison, sums, sizeof sums);
    }
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_cum_sum_attrs *a = ctx->attrs;
    qdq_shape shape = ctx->inputs[0].type.shape;
    cum_sum_params *p = QDQ_MEMPOOL_NEW(to->mempool, cum_sum_params);
    if (!p) return 0;
    int axis = qdq_check_axis(ctx, "axis", a->axis.value, shape.rank);
    *p = (cum_sum_params){.x_dtype = ctx->inputs[0].type.dtype,
                          .y_dtype = ctx->outputs[0].dtype,
                          .exclusive = a->exclusive == QDQ_TRUE,
                          .reverse = a->reverse == QDQ_TRUE,
                          .length = (size_t)shape.dims[axis],
                          .stride = 1};
    for (int i = axis + 1; i < shape.rank; i++) p->stride *= (size_t)shape.dims[i];
    p->blocks = (p->stride + PART - 1) / PART;
    size_t count = qdq_shape_count(shape);
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = count / p->length / p->stride * p->blocks,
                            .cost = 2 * count};
    return 1;
}

const qdq_op qdq_op_cum_sum = {
    .name = "CumSum",
    .summary = "y = the sum of x up to each index of an axis",
    .attrs_size = sizeof(qdq_cum_sum_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
