// SPDX-License-Identifier: Apache-2.0
// MatMulInteger64: products of int16 whose sums need more than 32 bits, as MATMUL of TOSA 1.0 with
// int48. A unit is a row of y.
#include "include/qdq/ops/integer.h"
#include "ops/matmul/matmul.h"
#include "runtime/numerics/dtype.h"

enum { A, B, A_ZERO, B_ZERO, COLUMNS = 128 };

#define CODES (QDQ_SET(INT8) | QDQ_SET(INT16))

typedef qdq_matmul_integer64_attrs attrs;

static const qdq_port_desc inputs[] = {
    {"a", offsetof(attrs, a), false, CODES},
    {"b", offsetof(attrs, b), false, CODES},
    {"a_zero_point", offsetof(attrs, a_zero_point), true, CODES},
    {"b_zero_point", offsetof(attrs, b_zero_point), true, CODES},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET(INT64)}};
static const qdq_matmul_ports ports = {.a = A, .b = B};

static void infer(qdq_op_context *ctx) {
    qdq_matmul_dims dims;
    for (size_t port = A_ZERO; port <= B_ZERO; port++) {
        qdq_check_dtype_as(ctx, port, port - A_ZERO);
        qdq_check_one(ctx, port);
    }
    if (!qdq_has_input(ctx, B) || !qdq_matmul_dims_of(ctx, &ports, &dims)) return;
    ctx->outputs[0] = (qdq_type){QDQ_INT64, dims.y};
}

typedef struct product_params {
    qdq_gemm gemm;  // sizes and strides
    qdq_dtype dtypes[2];
    bool has_zero[2];
} product_params;

static int32_t zero_of(const product_params *p, const qdq_tensors *tensors, size_t port) {
    int32_t zero = 0;
    if (p->has_zero[port - A_ZERO])
        qdq_decode_int(p->dtypes[port - A_ZERO], tensors->x[port], &zero, 1);
    return zero;
}

// Adds the products of a row of a, from element `row` on, and n columns of b, from element `from`.
static void add_products(const product_params *p, const qdq_tensors *tensors, size_t row,
                         size_t from, size_t n, int64_t *sums) {
    int32_t a_zero = zero_of(p, tensors, A_ZERO), b_zero = zero_of(p, tensors, B_ZERO);
    size_t a_size = qdq_dtype_size(p->dtypes[A]), b_size = qdq_dtype_size(p->dtypes[B]);
    int32_t a, b[COLUMNS];
    for (size_t j = 0; j < n; j++) sums[j] = 0;
    for (size_t k = 0; k < p->gemm.depth; k++) {
        qdq_decode_int(p->dtypes[A], (const char *)tensors->x[A] + (row + k) * a_size, &a, 1);
        qdq_decode_int(p->dtypes[B],
                       (const char *)tensors->x[B] + (from + k * p->gemm.columns) * b_size, b, n);
        for (size_t j = 0; j < n; j++) sums[j] += (int64_t)(a - a_zero) * (b[j] - b_zero);
    }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const product_params *p = params;
    const qdq_gemm *g = &p->gemm;
    for (size_t unit = begin; unit < end; unit++) {
        size_t batch = unit / g->rows, row = unit % g->rows;
        size_t a = qdq_gemm_at(g, g->batches.a, batch) + row * g->depth;
        size_t b = qdq_gemm_at(g, g->batches.b, batch) * g->depth * g->columns;
        int64_t *y = (int64_t *)tensors->y[0] + unit * g->columns;
        for (size_t j = 0; j < g->columns; j += COLUMNS)
            add_products(p, tensors, a, b + j, g->columns - j < COLUMNS ? g->columns - j : COLUMNS,
                         y + j);
    }
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    product_params *p = QDQ_MEMPOOL_NEW(to->mempool, product_params);
    qdq_matmul_dims dims;
    if (!p || !qdq_matmul_dims_of(ctx, &ports, &dims)) return 0;
    *p = (product_params){.dtypes = {ctx->inputs[A].type.dtype, ctx->inputs[B].type.dtype},
                          .has_zero = {ctx->inputs[A_ZERO].given, ctx->inputs[B_ZERO].given}};
    qdq_matmul_lay_out(ctx, &ports, &dims, &p->gemm);
    size_t rows = p->gemm.batch * p->gemm.rows;
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = rows,
                            .cost = rows * p->gemm.columns * p->gemm.depth};
    return 1;
}

const qdq_op qdq_op_matmul_integer64 = {
    .name = "MatMulInteger64",
    .summary = "y = (a - a_zero_point) * (b - b_zero_point), int64",
    .attrs_size = sizeof(attrs),
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof inputs[0],
    .outputs = outputs,
    .output_count = 1,
    .infer = infer,
    .looks_at = 1u << A_ZERO | 1u << B_ZERO,
    .lower = lower,
};
