// SPDX-License-Identifier: Apache-2.0
#include "ops/quant.h"

#include <math.h>
#include <string.h>

#include "runtime/dtype.h"

const char *const qdq_qtype_words[] = {"per_tensor", "per_channel", "per_group", NULL};

//---- Granularity ------------------------------------------------------------

qdq_granularity qdq_granularity_per_tensor(void) {
    return (qdq_granularity){
        .valid = true, .grid = {.count = 1}, .reason = "for the whole of x; qtype is per_tensor"};
}

qdq_granularity qdq_granularity_per_channel(const qdq_call *call, qdq_int axis,
                                            int64_t default_axis) {
    qdq_shape shape = call->inputs[0].type.shape;
    int64_t at = axis.set ? axis.value : default_axis;
    if (at < -shape.rank || at >= shape.rank) {
        qdq_call_find(
            call, QDQ_RULE_AXIS_RANGE, "axis",
            qdq_text(call->findings, "is %lld%s", (long long)at, axis.set ? "" : " (the default)"),
            shape.rank ? qdq_text(call->findings, "%d to %d, as x has rank %d", -shape.rank,
                                  shape.rank - 1, shape.rank)
                       : "an x of rank 1 or more");
        return (qdq_granularity){0};
    }
    if (at < 0) at += shape.rank;
    qdq_granularity g = {.valid = true, .shape = {.rank = 1, .dims = {shape.dims[at]}}};
    int64_t extents[QDQ_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) extents[i] = i == at ? 1 : shape.dims[i];
    g.grid = qdq_grid_of(shape, extents);
    g.reason = qdq_text(call->findings, "as dim %lld of x is %lld", (long long)at,
                        (long long)shape.dims[at]);
    return g;
}

static qdq_granularity per_group(const qdq_call *call, qdq_ints group_shape) {
    qdq_shape shape = call->inputs[0].type.shape;
    if (!group_shape.data || group_shape.count != (size_t)shape.rank) {
        qdq_call_find(call, QDQ_RULE_GROUP_SHAPE, "group_shape",
                      group_shape.data
                          ? qdq_text(call->findings, "has %zu entries", group_shape.count)
                          : "is missing",
                      qdq_text(call->findings, "%d, one for each dim of x", shape.rank));
        return (qdq_granularity){0};
    }
    qdq_granularity g = {.valid = true, .shape = {.rank = shape.rank}};
    int64_t extents[QDQ_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) {
        extents[i] = group_shape.data[i] == -1 ? shape.dims[i] : group_shape.data[i];
        if (extents[i] < 1 || extents[i] > shape.dims[i]) {
            qdq_call_find(
                call, QDQ_RULE_GROUP_SHAPE, "group_shape",
                qdq_text(call->findings, "has %lld for dim %d", (long long)group_shape.data[i], i),
                qdq_text(call->findings, "1 to %lld, or -1", (long long)shape.dims[i]));
            return (qdq_granularity){0};
        }
        g.shape.dims[i] = (shape.dims[i] + extents[i] - 1) / extents[i];
    }
    g.grid = qdq_grid_of(shape, extents);
    g.reason = "one for each block of x";
    return g;
}

qdq_granularity qdq_granularity_of(const qdq_call *call, const qdq_quantize_attrs *attrs) {
    if (attrs->group_shape.data && attrs->qtype != QDQ_PER_GROUP)
        qdq_call_find(call, QDQ_RULE_GROUP_SHAPE, "group_shape",
                      qdq_text(call->findings, "is given with qtype %s",
                               attrs->qtype == QDQ_PER_CHANNEL ? "per_channel" : "per_tensor"),
                      "qtype per_group");
    switch (attrs->qtype) {
    case QDQ_PER_CHANNEL: return qdq_granularity_per_channel(call, attrs->axis, 1);
    case QDQ_PER_GROUP: return per_group(call, attrs->group_shape);
    case QDQ_PER_TENSOR: return qdq_granularity_per_tensor();
    default: return (qdq_granularity){0};  // op_check has found it
    }
}

//---- Checks -----------------------------------------------------------------

static const char *port_name(const qdq_call *call, size_t port) {
    return call->op->inputs[port].name;
}

// Where a parameter comes from: its name for messages, and how many there are.
typedef struct source {
    const char *name;
    size_t count;
    bool known;  // the count is
} source;

static source source_of(const qdq_call *call, const char *attr_name, const void *attr_data,
                        size_t attr_count, size_t port) {
    const qdq_operand *in = &call->inputs[port];
    if (in->given)
        return (source){port_name(call, port), in->valid ? qdq_shape_count(in->type.shape) : 0,
                        in->valid};
    return (source){attr_name, attr_count, attr_data != NULL};
}

size_t qdq_scale_count(const qdq_call *call, const qdq_scale_slot *slot) {
    return source_of(call, slot->attr_name, slot->attr.data, slot->attr.count, slot->port).count;
}

static void check_count(const qdq_call *call, qdq_core_rule rule, const source *from,
                        const qdq_granularity *g, bool one_serves_all) {
    if (!from->known || !g->valid || from->count == g->grid.count) return;
    if (one_serves_all && from->count == 1) return;
    qdq_call_find(
        call, rule, from->name,
        qdq_text(call->findings, "has %zu element%s", from->count, from->count == 1 ? "" : "s"),
        qdq_text(call->findings, "%s%zu (%s)", one_serves_all && g->grid.count > 1 ? "1 or " : "",
                 g->grid.count, g->reason));
}

// A port with more than one parameter lies like them: [dim], or the block grid; dims of 1 aside.
static void check_port_shape(const qdq_call *call, qdq_core_rule rule, size_t port,
                             const qdq_granularity *g) {
    const qdq_operand *in = &call->inputs[port];
    if (!in->given || !in->valid || !g->valid) return;
    if (qdq_shape_count(in->type.shape) != g->grid.count || g->grid.count == 1) return;
    int k = 0;
    for (int i = 0; i < in->type.shape.rank; i++) {
        if (in->type.shape.dims[i] == 1) continue;
        while (k < g->shape.rank && g->shape.dims[k] == 1) k++;
        if (k >= g->shape.rank || g->shape.dims[k++] != in->type.shape.dims[i]) {
            qdq_call_find(call, rule, port_name(call, port),
                          "has its elements along other dims than the parameters of x",
                          g->shape.rank == 1 ? "a list" : "the shape of the block grid");
            return;
        }
    }
}

// One scale. The first that is wrong ends the check, and the first negative one is warned of.
static bool check_scale_at(const qdq_call *call, const char *name, size_t index, float scale,
                           bool *negative) {
    if (scale == 0 || !isfinite(scale)) {
        qdq_call_find(call, QDQ_RULE_SCALE_VALUE, name,
                      qdq_text(call->findings, "has %.9g at index %zu", (double)scale, index),
                      "a finite number that is not 0 as float32");
        return false;
    }
    if (scale < 0 && !*negative) {
        qdq_call_find(call, QDQ_RULE_SCALE_NEGATIVE, name,
                      qdq_text(call->findings, "has %.9g at index %zu", (double)scale, index),
                      "a positive number");
        *negative = true;
    }
    return true;
}

static void check_scale_values(const qdq_call *call, const qdq_scale_slot *slot,
                               const source *from) {
    const qdq_operand *in = &call->inputs[slot->port];
    bool negative = false;
    if (in->given && !(in->valid && in->data && qdq_dtype_is_real(in->type.dtype))) return;
    if (!in->given && !slot->attr.data) return;
    for (size_t i = 0; i < from->count; i++) {
        float scale;
        if (in->given)
            qdq_decode_float(in->type.dtype,
                             (const char *)in->data + i * qdq_dtype_size(in->type.dtype), &scale,
                             1);
        else
            scale = slot->attr.data[i];
        if (!check_scale_at(call, from->name, i, scale, &negative)) return;
    }
}

void qdq_check_scale(const qdq_call *call, const qdq_scale_slot *slot,
                     const qdq_granularity *granularity) {
    const qdq_operand *in = &call->inputs[slot->port];
    if (in->given && slot->attr.data)
        qdq_call_find(
            call, QDQ_RULE_SCALE_TWICE, slot->attr_name,
            qdq_text(call->findings, "is given beside the port %s", port_name(call, slot->port)),
            NULL);
    else if (!in->given && !slot->attr.data)
        qdq_call_find(call, QDQ_RULE_SCALE_MISSING, slot->attr_name,
                      qdq_text(call->findings, "is missing, and so is the port %s",
                               port_name(call, slot->port)),
                      NULL);
    source from = source_of(call, slot->attr_name, slot->attr.data, slot->attr.count, slot->port);
    check_count(call, QDQ_RULE_SCALE_COUNT, &from, granularity, false);
    check_port_shape(call, QDQ_RULE_SCALE_COUNT, slot->port, granularity);
    check_scale_values(call, slot, &from);
}

static void check_zero_point_at(const qdq_call *call, const char *name, size_t index, double value,
                                const qdq_dtype_info *quantized) {
    if (quantized && quantized->kind != QDQ_KIND_INT) {
        if (value == 0) return;
        qdq_call_find(call, QDQ_RULE_ZERO_POINT_VALUE, name,
                      qdq_text(call->findings, "has %.17g at index %zu", value, index),
                      qdq_text(call->findings, "0, as the quantized type is %s", quantized->name));
    } else if (value != floor(value) || value < INT32_MIN || value > INT32_MAX) {
        qdq_call_find(call, QDQ_RULE_ZERO_POINT_VALUE, name,
                      qdq_text(call->findings, "has %.17g at index %zu", value, index),
                      "a whole number of at most 32 bits");
    } else if (quantized &&
               (value < (double)quantized->least || value > (double)quantized->greatest)) {
        qdq_call_find(call, QDQ_RULE_ZERO_POINT_RANGE, name,
                      qdq_text(call->findings, "has %.0f at index %zu", value, index),
                      qdq_text(call->findings, "%lld to %lld, as the quantized type is %s",
                               (long long)quantized->least, (long long)quantized->greatest,
                               quantized->name));
    }
}

void qdq_check_zero_point(const qdq_call *call, const qdq_zero_point_slot *slot,
                          const qdq_granularity *granularity, qdq_dtype quantized) {
    const qdq_operand *in = &call->inputs[slot->port];
    if (in->given && slot->attr.data)
        qdq_call_find(
            call, QDQ_RULE_ZERO_POINT_TWICE, slot->attr_name,
            qdq_text(call->findings, "is given beside the port %s", port_name(call, slot->port)),
            NULL);
    source from = source_of(call, slot->attr_name, slot->attr.data, slot->attr.count, slot->port);
    check_count(call, QDQ_RULE_ZERO_POINT_COUNT, &from, granularity, true);
    check_port_shape(call, QDQ_RULE_ZERO_POINT_COUNT, slot->port, granularity);
    const qdq_dtype_info *info = qdq_dtype_get(quantized);
    if (info && info->kind == QDQ_KIND_FLOAT) info = NULL;  // a Requantize of floats
    size_t before = call->findings->errors + call->findings->warnings;
    for (size_t i = 0; i < from.count; i++) {
        if (call->findings->errors + call->findings->warnings > before) return;  // one is enough
        if (!in->given) {
            check_zero_point_at(call, slot->attr_name, i, slot->attr.data[i], info);
        } else if (in->valid && in->data && qdq_dtype_is_int(in->type.dtype)) {
            int32_t value;
            qdq_decode_int(in->type.dtype,
                           (const char *)in->data + i * qdq_dtype_size(in->type.dtype), &value, 1);
            check_zero_point_at(call, from.name, i, value, info);
        }
    }
}

void qdq_check_quant_range(const qdq_call *call, qdq_int quant_min, qdq_int quant_max,
                           qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (!info || (info->kind != QDQ_KIND_INT && !quant_min.set && !quant_max.set)) return;
    if (info->kind != QDQ_KIND_INT) {
        qdq_call_find(
            call, QDQ_RULE_QUANT_RANGE, quant_min.set ? "quant_min" : "quant_max",
            qdq_text(call->findings, "is given, but the quantized type is %s", info->name),
            "an integer type");
        return;
    }
    int64_t low = quant_min.set ? quant_min.value : info->least;
    int64_t high = quant_max.set ? quant_max.value : info->greatest;
    if (low >= info->least && high <= info->greatest && low < high) return;
    qdq_call_find(
        call, QDQ_RULE_QUANT_RANGE, quant_min.set ? "quant_min" : "quant_max",
        qdq_text(call->findings, "makes the range %lld to %lld", (long long)low, (long long)high),
        qdq_text(call->findings, "quant_min < quant_max within %lld to %lld of %s",
                 (long long)info->least, (long long)info->greatest, info->name));
}

qdq_dtype qdq_check_result(const qdq_call *call, qdq_dtype dtype, qdq_dtype_set set) {
    char text[512];
    if (dtype < 0 || dtype >= QDQ_DTYPE_COUNT) return QDQ_DTYPE_NONE;  // op_check has found it
    if (qdq_set_has(set, dtype)) return dtype;
    qdq_call_find(call, QDQ_RULE_DTYPE_RESULT, "dtype",
                  qdq_text(call->findings, "is %s", qdq_dtype_name(dtype)),
                  qdq_text(call->findings, "one of: %s", qdq_set_text(set, text, sizeof text)));
    return QDQ_DTYPE_NONE;
}

//---- Lowering ---------------------------------------------------------------

// Sets up a vector of the right count, from a run-time port or with room for known values.
static bool start_vector(const qdq_call *call, size_t port, size_t attr_count,
                         const qdq_granularity *g, qdq_pool *pool, qdq_stage_vector *out,
                         uint32_t **values) {
    const qdq_operand *in = &call->inputs[port];
    size_t count = in->given ? qdq_shape_count(in->type.shape) : attr_count ? attr_count : 1;
    out->count = count;
    out->grid = count == 1 ? (qdq_grid){.count = 1} : g->grid;
    *values = NULL;
    if (in->given && !in->data) {
        out->origin = QDQ_FROM_INPUT;
        out->port = port;
        return true;
    }
    out->origin = QDQ_FROM_NUMBERS;
    out->values = *values = qdq_pool_array(pool, count, sizeof(uint32_t));
    return *values != NULL;
}

bool qdq_scale_vector(const qdq_call *call, const qdq_scale_slot *slot,
                      const qdq_granularity *granularity, qdq_pool *pool, qdq_stage_vector *out) {
    uint32_t *values;
    *out = (qdq_stage_vector){.is_int = false};
    if (!start_vector(call, slot->port, slot->attr.count, granularity, pool, out, &values))
        return false;
    const qdq_operand *in = &call->inputs[slot->port];
    if (!values) return true;
    if (in->given)
        qdq_decode_float(in->type.dtype, in->data, (float *)(void *)values, out->count);
    else
        memcpy(values, slot->attr.data, out->count * sizeof(float));
    return true;
}

bool qdq_zero_point_vector(const qdq_call *call, const qdq_zero_point_slot *slot,
                           const qdq_granularity *granularity, qdq_pool *pool,
                           qdq_stage_vector *out) {
    uint32_t *values;
    *out = (qdq_stage_vector){.is_int = true};
    if (!start_vector(call, slot->port, slot->attr.count, granularity, pool, out, &values))
        return false;
    const qdq_operand *in = &call->inputs[slot->port];
    if (!values) return true;
    if (in->given) {
        qdq_decode_int(in->type.dtype, in->data, (int32_t *)(void *)values, out->count);
        return true;
    }
    for (size_t i = 0; i < slot->attr.count; i++) {
        int32_t value = (int32_t)slot->attr.data[i];
        memcpy(&values[i], &value, sizeof value);
    }
    return true;  // without any: the one zero that the pool gave
}

qdq_quant_params *qdq_quant_params_of(const qdq_call *call, const qdq_numerics *numerics,
                                      qdq_dtype y_dtype, qdq_int quant_min, qdq_int quant_max,
                                      qdq_pool *pool) {
    qdq_quant_params *params = QDQ_POOL_NEW(pool, qdq_quant_params);
    if (!params) return NULL;
    params->numerics = *numerics;
    params->x_dtype = call->inputs[0].type.dtype;
    params->y_dtype = y_dtype;
    if (qdq_dtype_is_int(y_dtype))
        params->range = qdq_range_of(y_dtype, quant_min.set ? &quant_min.value : NULL,
                                     quant_max.set ? &quant_max.value : NULL, numerics);
    return params;
}

//---- Ops with given parameters ----------------------------------------------

static qdq_scale_slot scale_of(const qdq_quantize_attrs *attrs) {
    return (qdq_scale_slot){"scales", attrs->scales, QDQ_PORT_SCALE};
}

static qdq_zero_point_slot zero_point_of(const qdq_quantize_attrs *attrs) {
    return (qdq_zero_point_slot){"zps", attrs->zps, QDQ_PORT_ZERO_POINT};
}

void qdq_infer_given(qdq_call *call, const qdq_quantize_attrs *attrs, qdq_dtype y_dtype,
                     qdq_dtype quantized) {
    qdq_granularity granularity = qdq_granularity_of(call, attrs);
    qdq_scale_slot scale = scale_of(attrs);
    qdq_zero_point_slot zero_point = zero_point_of(attrs);
    qdq_check_scale(call, &scale, &granularity);
    qdq_check_zero_point(call, &zero_point, &granularity, quantized);
    qdq_check_quant_range(call, attrs->quant_min, attrs->quant_max, quantized);
    call->outputs[0] = (qdq_type){y_dtype, call->inputs[0].type.shape};
    call->output_count = 1;
}

bool qdq_lower_given(const qdq_call *call, const qdq_quantize_attrs *attrs, qdq_tile_fn *fn,
                     const qdq_numerics *numerics, qdq_pool *pool, qdq_stage *stage) {
    qdq_granularity granularity = qdq_granularity_of(call, attrs);
    qdq_scale_slot scale = scale_of(attrs);
    qdq_zero_point_slot zero_point = zero_point_of(attrs);
    qdq_quant_params *params = qdq_quant_params_of(call, numerics, call->outputs[0].dtype,
                                                   attrs->quant_min, attrs->quant_max, pool);
    *stage = (qdq_stage){.params = params, .fn = fn, .vector_count = 2};
    if (!params) return false;
    if (attrs->saturate == QDQ_TRUE) params->numerics.float_overflow = QDQ_FLOAT_SATURATE;
    if (attrs->saturate == QDQ_FALSE && numerics->float_overflow == QDQ_FLOAT_SATURATE)
        params->numerics.float_overflow = QDQ_FLOAT_OVERFLOW;
    params->adds_zero = params->y_dtype == QDQ_FLOAT4_E2M1 &&
                        (attrs->zps.count || call->inputs[QDQ_PORT_ZERO_POINT].given);
    return qdq_scale_vector(call, &scale, &granularity, pool, &stage->vectors[0]) &&
           qdq_zero_point_vector(call, &zero_point, &granularity, pool, &stage->vectors[1]);
}
