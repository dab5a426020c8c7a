// SPDX-License-Identifier: Apache-2.0
// What TensorRT asks of IDynamicQuantizeLayer: a DynamicQuantize that computes its scales.
#include "graph/targets/tensorrt/tensorrt.h"

static const qdq_dynamic_quantize_attrs *attrs_of(const qdq_call *call) { return call->attrs; }

static bool has_scheme(const qdq_call *call, qdq_scheme scheme) {
    return qdq_is_computed(call) && attrs_of(call)->scheme == scheme;
}

//---- The layer --------------------------------------------------------------

void qdq_trt_given_scale(const qdq_call *call, const qdq_rule *rule) {
    if (!qdq_is_computed(call))
        qdq_call_find_rule(call, rule, qdq_argument_of(call, "scale").name,
                           "is given, so IQuantizeLayer does it", NULL);
}

void qdq_trt_scheme(const qdq_call *call, const qdq_rule *rule) {
    qdq_scheme scheme = attrs_of(call)->scheme;
    if (!qdq_is_computed(call) || scheme == QDQ_NVFP4 || scheme == QDQ_MX_RCEIL ||
        scheme == QDQ_SYMMETRIC)
        return;
    qdq_call_find_rule(call, rule, "scheme",
                       qdq_text(call->findings, "is %s", qdq_scheme_word(call)),
                       "nvfp4, mx_rceil or symmetric");
}

void qdq_trt_no_mxfp8(const qdq_call *call, const qdq_rule *rule) {
    if (has_scheme(call, QDQ_MX_RCEIL))
        qdq_call_find_rule(call, rule, "scheme", "is mx_rceil", "nvfp4");
}

void qdq_trt_no_float_scale(const qdq_call *call, const qdq_rule *rule) {
    if (has_scheme(call, QDQ_SYMMETRIC))
        qdq_call_find_rule(call, rule, "scheme", "is symmetric", "nvfp4 or mx_rceil");
}

// What the header takes besides float4; none for schemes of which other rules speak.
static qdq_dtype_set results_of(const qdq_call *call) {
    if (has_scheme(call, QDQ_MX_RCEIL)) return QDQ_SET(FLOAT8_E4M3FN);
    return has_scheme(call, QDQ_SYMMETRIC) ? QDQ_SET(INT8) | QDQ_SET(FLOAT8_E4M3FN) : 0;
}

void qdq_trt_dynamic_dtype(const qdq_call *call, const qdq_rule *rule) {
    if (results_of(call))
        qdq_expect_dtype(call, rule, "dtype", call->outputs[0].dtype, results_of(call));
}

void qdq_trt_dynamic_result(const qdq_call *call, const qdq_rule *rule) {
    qdq_dtype dtype = call->outputs[0].dtype;
    if (qdq_set_has(results_of(call), dtype))
        qdq_call_find_rule(call, rule, "dtype",
                           qdq_text(call->findings, "is %s, as scheme is %s", qdq_dtype_name(dtype),
                                    qdq_scheme_word(call)),
                           "float4_e2m1, and the scheme nvfp4");
}

// scaleType has float8_e4m3fn, float8_e8m0 and float32, which the scheme decides.
void qdq_trt_computed_scale(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_is_computed(call) && attrs_of(call)->scheme < QDQ_MX_FLOOR)
        qdq_expect_dtype(call, rule, "scale_dtype", call->outputs[1].dtype, QDQ_SET(FLOAT32));
}

void qdq_trt_no_eps(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_is_computed(call) && attrs_of(call)->eps.set)
        qdq_call_find_rule(call, rule, "eps",
                           qdq_text_is(call->findings, attrs_of(call)->eps.value), "none");
}

//---- Blocks -----------------------------------------------------------------

void qdq_trt_dynamic_granularity(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_is_computed(call) && !qdq_is_per_group(call))
        qdq_call_find_rule(
            call, rule, "qtype",
            qdq_text(call->findings, "is %s", qdq_qtype_words[attrs_of(call)->quantize.qtype]),
            "per_group");
}

void qdq_trt_dynamic_rank(const qdq_call *call, const qdq_rule *rule) {
    int first, rank = call->inputs[QDQ_PORT_X].type.shape.rank;
    int most = qdq_blocked_dims(call, &first) > 1 ? 4 : 3;
    if (qdq_is_computed(call) && rank != 0 && (rank < 2 || rank > most))
        qdq_call_find_rule(call, rule, "x", qdq_text(call->findings, "has rank %d", rank),
                           qdq_text(call->findings, "2 to %d", most));
}

void qdq_trt_dynamic_block_size(const qdq_call *call, const qdq_rule *rule) {
    int wanted = has_scheme(call, QDQ_NVFP4) ? 16 : has_scheme(call, QDQ_MX_RCEIL) ? 32 : 0;
    if (!wanted || !qdq_is_per_group(call)) return;
    qdq_shape block = qdq_block_shape(call);
    for (int i = 0; i < block.rank; i++) {
        if (block.dims[i] == 1 || block.dims[i] == wanted) continue;
        qdq_call_find_rule(
            call, rule, "group_shape",
            qdq_text(call->findings, "has %lld for dim %d", (long long)block.dims[i], i),
            qdq_text(call->findings, "%d, as scheme is %s", wanted, qdq_scheme_word(call)));
        return;
    }
}

//---- The scale of the scales ------------------------------------------------

void qdq_trt_global_scale_given(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(call, "global_scale");
    if (has_scheme(call, QDQ_NVFP4) && !g.given)
        qdq_call_find_rule(call, rule, g.name, "is missing", "a positive number");
}

void qdq_trt_global_scale_dtype(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(call, "global_scale");
    if (g.given) qdq_expect_dtype(call, rule, g.name, g.dtype, QDQ_SET(FLOAT32));
}

void qdq_trt_global_scale_constant(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(call, "global_scale");
    if (g.given && !g.constant)
        qdq_call_find_rule(call, rule, g.name, "is made at run time", "a constant");
}

void qdq_trt_global_scale_positive(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument g = qdq_argument_of(call, "global_scale");
    if (g.known && !(qdq_argument_at(&g, 0) > 0))
        qdq_find_number(call, rule, &g, 0, "a number above 0");
}

static void find_rank(const qdq_call *call, const qdq_rule *rule, int least, int most,
                      const char *wanted) {
    qdq_argument g = qdq_argument_of(call, "global_scale");
    if (g.from_port && g.shape.rank >= least && g.shape.rank <= most)
        qdq_call_find_rule(call, rule, g.name,
                           qdq_text(call->findings, "has rank %d", g.shape.rank), wanted);
}

void qdq_trt_global_scale_rank(const qdq_call *call, const qdq_rule *rule) {
    find_rank(call, rule, 2, QDQ_MAX_RANK, "the shape []");
}

void qdq_trt_global_scale_list(const qdq_call *call, const qdq_rule *rule) {
    find_rank(call, rule, 1, 1, "the shape []");
}
