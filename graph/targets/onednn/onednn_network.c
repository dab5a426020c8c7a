// SPDX-License-Identifier: Apache-2.0
// What oneDNN asks of the ops of networks beyond the core, whose ops are modelled on its own.
#include "graph/targets/onednn/onednn.h"
#include "include/qdq/network.h"

#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16))

// False where input `input` has another dtype than one of `set`, which is found.
static bool expect_input(const qdq_call *call, const qdq_rule *rule, size_t input,
                         qdq_dtype_set set) {
    return qdq_expect_dtype(call, rule, qdq_op_port(call->op, input)->name,
                            call->inputs[input].type.dtype, set);
}

//---- What the specification forbids -----------------------------------------

void qdq_onednn_moved_dtype(const qdq_call *call, const qdq_rule *rule) {
    (void)expect_input(call, rule, 0, FLOATS);
}

void qdq_onednn_dropout_dtypes(const qdq_call *call, const qdq_rule *rule) {
    enum { SEED = 1, OFFSET, PROBABILITY };
    if (expect_input(call, rule, SEED, QDQ_SET(INT64)) &&
        expect_input(call, rule, OFFSET, QDQ_SET(INT64)))
        (void)expect_input(call, rule, PROBABILITY, QDQ_SET(FLOAT32));
}

//---- What the CPU backend lacks ---------------------------------------------

void qdq_onednn_round_dtype(const qdq_call *call, const qdq_rule *rule) {
    (void)expect_input(call, rule, 0, QDQ_SET(FLOAT32));
}

// All inputs behind x.
void qdq_onednn_norm_dtype(const qdq_call *call, const qdq_rule *rule) {
    for (size_t i = 1; i < call->input_count; i++)
        if (call->inputs[i].given && !expect_input(call, rule, i, QDQ_SET(FLOAT32))) return;
}

void qdq_onednn_norm_axis(const qdq_call *call, const qdq_rule *rule) {
    const qdq_layer_norm_attrs *a = call->attrs;
    int rank = call->inputs[0].type.shape.rank;
    int64_t axis = a->begin_norm_axis.set ? a->begin_norm_axis.value : -1;
    if (axis != -1 && axis != rank - 1)
        qdq_call_find_rule(call, rule, "begin_norm_axis",
                           qdq_text(call->findings, "is %lld", (long long)axis), "-1");
}

void qdq_onednn_norm_rank(const qdq_call *call, const qdq_rule *rule) {
    int rank = call->inputs[0].type.shape.rank;
    if (rank < 2 || rank > 5)
        qdq_call_find_rule(call, rule, "x", qdq_text(call->findings, "has rank %d", rank),
                           "rank 2 to 5");
}

void qdq_onednn_half_pixel(const qdq_call *call, const qdq_rule *rule) {
    const qdq_interpolate_attrs *a = call->attrs;
    if (a->coordinate_transformation_mode != QDQ_HALF_PIXEL)
        qdq_call_find_rule(call, rule, "coordinate_transformation_mode", "is align_corners",
                           "half_pixel");
}

// Dropout behind another node may be fused with it.
void qdq_onednn_not_alone(const qdq_call *call, const qdq_rule *rule) {
    bool reciprocal = qdq_call_is(call, "Reciprocal");
    if (reciprocal || !call->inputs[0].maker.op)
        qdq_call_find_rule(call, rule, NULL, "by itself it is no partition that the CPU supports",
                           reciprocal ? "a Divide, or a Multiply behind it" : NULL);
}
