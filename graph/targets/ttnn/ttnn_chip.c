// SPDX-License-Identifier: Apache-2.0
// Rules of target `ttnn` about arithmetic that no source states: where a version that stands for a
// chip computes something that may differ from the chip.
#include "graph/targets/ttnn/ttnn_checks.h"
#include "runtime/numerics/dtype.h"

#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16) | QDQ_SET_BLOCK_FLOATS)

// Whether every integer of dtype x is a number of dtype y.
static bool is_exact(const qdq_dtype_info *x, qdq_dtype y) {
    const qdq_dtype_info *to = qdq_dtype_get(y);
    if (y == QDQ_FLOAT32) return x->bits <= 16;
    if (y == QDQ_BFLOAT16) return x->bits <= 8;
    return to->kind == QDQ_KIND_INT && x->least >= to->least && x->greatest <= to->greatest;
}

// Dtypes that ttnn lacks have a rule of their own.
static bool cast_is_known(qdq_dtype x, qdq_dtype y) {
    const qdq_dtype_set from_float = FLOATS | QDQ_SET(INT32) | QDQ_SET(UINT16) | QDQ_SET(UINT8);
    const qdq_dtype_set all = from_float | QDQ_SET(INT8);
    if (x == y || !qdq_set_has(all, x) || !qdq_set_has(all, y)) return true;
    if (qdq_set_has(FLOATS, x)) return qdq_set_has(from_float, y);
    if (x == QDQ_INT32) return y == QDQ_FLOAT32 || y == QDQ_BFLOAT16;
    return is_exact(qdq_dtype_get(x), y);
}

void qdq_ttnn_chip_cast(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if (!cast_is_known(x, y))
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings,
                                             "is %s and x is %s: computed as without a chip",
                                             qdq_dtype_name(y), qdq_dtype_name(x)),
                                    NULL);
}
