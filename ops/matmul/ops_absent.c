// SPDX-License-Identifier: Apache-2.0
// Stands in for the files of ops that the profile core lacks: panels of convolutions, products of
// integers and of weight codes, saturating pairs, the orders in which ONNX Runtime adds, and what
// vector kernels prepare. Functions that only these choose are never called there, and do nothing.
//
// NOLINTBEGIN(readability-non-const-parameter): the types are those of the functions
#include "ops/conv/panels/product_stage.h"
#include "ops/gemm/gemm_read.h"
#include "ops/gemm/pairs/pair_sums.h"
#include "ops/gemm/weight_codes/gemm_fixed.h"
#include "ops/kernels/kernel.h"
#include "ops/quantize/quant_params.h"
#include "ops/reduce/order/column_sums.h"
#include "ops/reduce/order/element_order.h"
#include "ops/reduce/order/global_pool.h"
#include "ops/reduce/order/layer_norm_order.h"
#include "ops/reduce/order/sum_order.h"

bool qdq_product_stage(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to,
                       qdq_stage *stage) {
    return qdq_gemm_choose_kind(gemm, ctx, to) && qdq_gemm_stage(gemm, ctx, to, stage);
}

//---- Integers ---------------------------------------------------------------

bool qdq_gemm_takes_quantized(const qdq_operand *a, const qdq_operand *b, size_t depth, int axis) {
    (void)a, (void)b, (void)depth, (void)axis;
    return false;
}

bool qdq_gemm_use_quantized(qdq_gemm *gemm, const qdq_op_context *ctx, size_t matrix_stride,
                            qdq_mempool *mempool) {
    (void)gemm, (void)ctx, (void)matrix_stride, (void)mempool;
    return false;
}

bool qdq_gemm_takes_bytes(const qdq_gemm *gemm, const void *zero_points) {
    (void)gemm, (void)zero_points;
    return false;
}

bool qdq_gemm_pack_bytes(qdq_gemm *gemm, const qdq_gemm_known *known, const qdq_lowering *to) {
    (void)gemm, (void)known, (void)to;
    return false;
}

bool qdq_quantized_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                         const qdq_lowering *to, qdq_quantized *quantized) {
    (void)ctx, (void)attrs, (void)to, (void)quantized;
    return false;
}

bool qdq_dequantizes_given(const qdq_link *link, qdq_code_operand *operand) {
    (void)link, (void)operand;
    return false;
}

bool qdq_quantize_prepare(qdq_link *link, qdq_mempool *mempool) {
    (void)link, (void)mempool;
    return true;
}

//---- Weight codes -----------------------------------------------------------

bool qdq_weight_codes_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                            const qdq_lowering *to, qdq_weight_codes *weight_codes) {
    (void)ctx, (void)attrs, (void)to, (void)weight_codes;
    return false;
}

bool qdq_gemm_takes_weight_codes(const qdq_gemm *gemm, const qdq_weight_codes *weight_codes) {
    (void)gemm, (void)weight_codes;
    return false;
}

bool qdq_gemm_pack_weight_codes(qdq_gemm *gemm, const qdq_weight_codes *weight_codes,
                                const qdq_lowering *to) {
    (void)gemm, (void)weight_codes, (void)to;
    return false;
}

void qdq_gemm_decode(const qdq_gemm *gemm, size_t panel, size_t k, size_t n, void *b) {
    (void)gemm, (void)panel, (void)k, (void)n, (void)b;
}

bool qdq_gemm_multiplies_codes(const qdq_gemm *gemm) {
    (void)gemm;
    return false;
}

bool qdq_gemm_row_is_fixed(const qdq_gemm *gemm) {
    (void)gemm;
    return false;
}

bool qdq_gemm_sums_fixed(const qdq_gemm *gemm) {
    (void)gemm;
    return false;
}

void qdq_gemm_multiply_codes(const qdq_gemm *gemm, size_t panel, size_t k, size_t n, const float *a,
                             float *sums) {
    (void)gemm, (void)panel, (void)k, (void)n, (void)a, (void)sums;
}

void qdq_gemm_fix(const qdq_gemm *gemm, size_t k, size_t n, const float *a, qdq_gemm_fixed *fixed) {
    (void)gemm, (void)k, (void)n, (void)a, (void)fixed;
}

void qdq_gemm_multiply_fixed(const qdq_gemm *gemm, size_t panel, size_t k, size_t n, const float *a,
                             const qdq_gemm_fixed *fixed, float *sums) {
    (void)gemm, (void)panel, (void)k, (void)n, (void)a, (void)fixed, (void)sums;
}

//---- Saturating pairs -------------------------------------------------------

bool qdq_pair_sums_choose(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to) {
    (void)gemm, (void)ctx, (void)to;
    return true;
}

void qdq_pair_zeros_add_rows(const qdq_gemm *gemm, size_t rows, size_t n, bool first, const void *a,
                             qdq_pair_zeros *zeros) {
    (void)gemm, (void)rows, (void)n, (void)first, (void)a, (void)zeros;
}

void qdq_pair_zeros_pack(const qdq_gemm *gemm, const qdq_gemm_source *from, size_t column, size_t k,
                         size_t n, void *panel, uint32_t *sums) {
    (void)gemm, (void)from, (void)column, (void)k, (void)n, (void)panel, (void)sums;
}

void qdq_pair_zeros_remove(const qdq_gemm *gemm, const qdq_tensors *tensors,
                           const qdq_gemm_block *block, const qdq_pair_zeros *zeros, int32_t *sums,
                           size_t stride) {
    (void)gemm, (void)tensors, (void)block, (void)zeros, (void)sums, (void)stride;
}

//---- Orders of ONNX Runtime -------------------------------------------------

bool qdq_adds_as_runtime(const qdq_op_context *ctx, const qdq_lowering *to, size_t a, size_t b) {
    (void)ctx, (void)to, (void)a, (void)b;
    return false;
}

qdq_gemm_order qdq_gemm_order_of(const qdq_runtime_product *product) {
    (void)product;
    return (qdq_gemm_order){0};
}

float qdq_gemm_fold_eights(const float *lanes, size_t stride, size_t number, size_t count) {
    (void)lanes, (void)stride, (void)number, (void)count;
    return 0;
}

const qdq_gemm_orders *qdq_gemm_orders_find(uint32_t isas) {
    (void)isas;
    return NULL;
}

const qdq_slice_op *qdq_layer_norm_order_of(size_t n, bool in_one_pass) {
    (void)n, (void)in_one_pass;
    return NULL;
}

const qdq_slice_op *qdq_rms_norm_order_of(size_t n) {
    (void)n;
    return NULL;
}

const qdq_slice_op *qdq_slice_order_of(qdq_shape shape, uint32_t reduced, qdq_slice_order *order) {
    (void)shape, (void)reduced, (void)order;
    return NULL;
}

bool qdq_column_sums_fit(const qdq_reduce_axes *slices) {
    (void)slices;
    return false;
}

bool qdq_column_sums_stage(const qdq_lowering *to, const qdq_reduce_axes *slices, float divisor,
                           qdq_dtype dtype, qdq_stage *stage) {
    (void)to, (void)slices, (void)divisor, (void)dtype, (void)stage;
    return false;
}

bool qdq_element_order_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_element_kind kind, bool all, qdq_reduce_axes slices,
                             qdq_stage *stage) {
    (void)ctx, (void)to, (void)kind, (void)all, (void)slices, (void)stage;
    return false;
}

bool qdq_global_pool_stage(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stage) {
    (void)ctx, (void)to, (void)stage;
    return false;
}

// NOLINTEND(readability-non-const-parameter)
