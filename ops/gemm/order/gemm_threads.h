// SPDX-License-Identifier: Apache-2.0
// How ONNX Runtime cuts a product of float32 among threads, which can change the order of its sums:
// each thread chooses the order for its rows and columns.
#ifndef QDQ_OPS_GEMM_ORDER_GEMM_THREADS_H
#define QDQ_OPS_GEMM_ORDER_GEMM_THREADS_H

#include "ops/gemm/order/gemm_order.h"

// True if some sums of a product have another order with `threads` threads than with one. `count`
// products are one call.
bool qdq_gemm_depends_on_threads(const qdq_runtime_product *product, size_t count, size_t threads);

// The same for a convolution that copies the elements under its windows bit by bit: threads take
// its positions.
bool qdq_windows_depend_on_threads(const qdq_runtime_product *product, size_t threads);

#endif
