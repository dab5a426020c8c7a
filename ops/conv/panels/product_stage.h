// SPDX-License-Identifier: Apache-2.0
// The stage of a product of matrices: as a gemm, or as a convolution of a line with panels of
// positions.
#ifndef QDQ_OPS_CONV_PANELS_PRODUCT_STAGE_H
#define QDQ_OPS_CONV_PANELS_PRODUCT_STAGE_H

#include "ops/gemm/gemm.h"

// Sets the stage of a product. False when memory runs out.
bool qdq_product_stage(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_lowering *to,
                       qdq_stage *stage);

#endif
