// SPDX-License-Identifier: Apache-2.0
// DynamicQuantize: Quantize with a scale that is given at run time, or computed from x itself.
#include <math.h>

#include "ops/kernels/kernel.h"

static const char *const schemes[] = {"asymmetric", "symmetric", NULL};

typedef qdq_dynamic_quantize_attrs attrs_type;

enum { OUT_Y, OUT_SCALE, OUT_ZERO_POINT };

static const qdq_port_desc inputs[] = {
    QDQ_QUANTIZE_PORTS(attrs_type, quantize., QDQ_SET_REALS | QDQ_SET(INT32))};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_QUANTIZED},
                                        {"scale", 0, true, QDQ_SET(FLOAT32)},
                                        {"zero_point", 0, true, QDQ_SET_INTS}};
static const qdq_attr_desc attrs[] = {
    QDQ_QUANTIZE_ATTRS(attrs_type, quantize., "int8"),
    {"scheme", QDQ_ATTR_WORD, offsetof(attrs_type, scheme), schemes, "asymmetric",
     "without a scale: how scale and zero point come from x"},
    {"eps", QDQ_ATTR_FLOAT, offsetof(attrs_type, eps), NULL, "none",
     "without a scale: the least scale"},
};

static bool has_scale(const qdq_call *call, const attrs_type *a) {
    return call->inputs[QDQ_PORT_SCALE].given || a->quantize.scales.data;
}

//---- Checking ---------------------------------------------------------------

static void check_computed(const qdq_call *call, const attrs_type *a, qdq_dtype y) {
    if (call->inputs[QDQ_PORT_ZERO_POINT].given || a->quantize.zps.data)
        qdq_call_find(call, QDQ_RULE_SCALE_MISSING, "scale",
                      "is missing, but a zero point is given",
                      "both, or neither to have both computed from x");
    if (a->eps.set && !(a->eps.value > 0 && isfinite((float)a->eps.value)))
        qdq_call_find(call, QDQ_RULE_ATTR_VALUE, "eps",
                      qdq_text(call->findings, "is %g", a->eps.value), "a finite number above 0");
    qdq_check_quant_range(call, a->quantize.quant_min, a->quantize.quant_max, y);
    if (a->scheme == QDQ_SYMMETRIC && a->quantize.quant_max.set && a->quantize.quant_max.value < 1)
        qdq_call_find(call, QDQ_RULE_QUANT_RANGE, "quant_max",
                      qdq_text(call->findings, "is %lld", (long long)a->quantize.quant_max.value),
                      "1 or more, as scheme is symmetric");
}

static void infer(qdq_call *call) {
    const attrs_type *a = call->attrs;
    qdq_dtype y = qdq_check_result(call, a->quantize.dtype ? a->quantize.dtype : QDQ_INT8,
                                   has_scale(call, a) ? QDQ_SET_QUANTIZED : QDQ_SET_INTS);
    if (has_scale(call, a)) {
        qdq_infer_given(call, &a->quantize, y, y);
        return;
    }
    qdq_granularity granularity = qdq_granularity_of(call, &a->quantize);
    check_computed(call, a, y);
    call->outputs[OUT_Y] = (qdq_type){y, call->inputs[QDQ_PORT_X].type.shape};
    call->outputs[OUT_SCALE] = (qdq_type){QDQ_FLOAT32, granularity.shape};
    call->outputs[OUT_ZERO_POINT] = (qdq_type){y, granularity.shape};
}

//---- Parameters from the data -----------------------------------------------

// The range of a block, 0 included; all zero at the start is the empty range.
typedef struct range_state {
    float low, high;
} range_state;

static void accumulate(const void *params, void *state, const void *x, size_t n) {
    const qdq_quant_params *p = params;
    range_state *range = state;
    size_t size = qdq_dtype_size(p->x_dtype);
    for (size_t at = 0; at < n;) {
        float real[256];
        size_t part = n - at < 256 ? n - at : 256;
        qdq_decode_float(p->x_dtype, (const char *)x + at * size, real, part);
        for (size_t i = 0; i < part; i++) {  // NaN compares false and so is ignored
            if (real[i] < range->low) range->low = real[i];
            if (real[i] > range->high) range->high = real[i];
        }
        at += part;
    }
}

static void merge(void *state, const void *other) {
    range_state *range = state;
    const range_state *more = other;
    if (more->low < range->low) range->low = more->low;
    if (more->high > range->high) range->high = more->high;
}

// format.md section 2 (docs/format.md, DynamicQuantize); float32 throughout. A range so small that
// its scale is 0 counts as all zero: scale 1, zero point 0.
static void finish(const void *params, const void *state, size_t index, void *const *y) {
    const qdq_quant_params *p = params;
    const range_state *range = state;
    float qmin = (float)p->range.quant_min, qmax = (float)p->range.quant_max;
    bool symmetric = p->scheme == QDQ_SYMMETRIC;
    float absmax = -range->low > range->high ? -range->low : range->high;
    float scale = symmetric ? absmax / qmax : (range->high - range->low) / (qmax - qmin);
    int64_t zero_point = 0;
    if (scale > 0 && scale < p->eps) scale = p->eps;
    if (scale == 0) {
        scale = 1.0f;
    } else if (!symmetric) {
        float exact = qmin - range->low / scale;
        exact = !(exact < qmax) ? qmax : exact < qmin ? qmin : exact;  // NaN too: ONNX Runtime 1.30
        zero_point = (int64_t)qdq_round_half_even(exact);
    }
    zero_point = qdq_clamp(zero_point, p->range.quant_min, p->range.quant_max);
    int32_t code = (int32_t)zero_point;
    qdq_encode_float(p->scale_dtype, &scale, (char *)y[0] + index * qdq_dtype_size(p->scale_dtype),
                     1, NULL);
    qdq_encode_int(p->y_dtype, &code, (char *)y[1] + index * qdq_dtype_size(p->y_dtype), 1);
}

static const qdq_reduce_fns range_reduction = {sizeof(range_state), accumulate, merge, finish};

//---- Lowering ---------------------------------------------------------------

static size_t lower(const qdq_call *call, const qdq_numerics *numerics, qdq_pool *pool,
                    qdq_stage *stages) {
    const attrs_type *a = call->attrs;
    qdq_dtype x = call->inputs[QDQ_PORT_X].type.dtype, y = call->outputs[OUT_Y].dtype;
    qdq_tile_fn *fn = qdq_kernel_find(QDQ_FAMILY_QUANTIZE, x, y);
    if (has_scale(call, a))
        return qdq_lower_given(call, &a->quantize, fn, numerics, pool, stages) ? 1 : 0;
    qdq_quant_params *params =
        qdq_quant_params_of(call, numerics, y, a->quantize.quant_min, a->quantize.quant_max, pool);
    if (!params) return 0;
    params->scheme = a->scheme;
    params->scale_dtype = call->outputs[OUT_SCALE].dtype;
    params->eps = a->eps.set ? (float)a->eps.value : 0;
    qdq_granularity granularity = qdq_granularity_of(call, &a->quantize);
    stages[0] = (qdq_stage){.params = params,
                            .reduce = &range_reduction,
                            .grid = granularity.grid,
                            .results = {OUT_SCALE, OUT_ZERO_POINT},
                            .result_count = 2};
    qdq_stage_vector scale = {.grid = granularity.grid,
                              .count = granularity.grid.count,
                              .origin = QDQ_FROM_OUTPUT,
                              .port = OUT_SCALE};
    qdq_stage_vector zero_point = scale;
    zero_point.is_int = true;
    zero_point.port = OUT_ZERO_POINT;
    stages[1] =
        (qdq_stage){.params = params, .fn = fn, .vectors = {scale, zero_point}, .vector_count = 2};
    return 2;
}

const qdq_op qdq_op_dynamic_quantize = {
    .name = "DynamicQuantize",
    .summary = "Quantize with a scale given at run time, or computed from x",
    .attrs_size = sizeof(attrs_type),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
