// SPDX-License-Identifier: Apache-2.0
// SoftMax, LogSoftmax and reductions: a loop over slices, whose elements are read once for each
// pass, in the orders of ops/reduce/softmax.c, reduce.c and runtime/numerics/sum.h.
#include <stdio.h>
#include <string.h>

#include "graph/formats/c/c_draft.h"
#include "include/qdq/ops/reduce.h"
#include "ops/reduce/reduce_axes.h"

//---- Slices -----------------------------------------------------------------

// Writes a place; the dims of a slice go from innermost to outermost, and qdq_c_put_strided takes
// them in the other order.
static void put_place(qdq_c_text *text, const char *index, const qdq_slice_dim *dims, int rank) {
    size_t sizes[QDQ_MAX_RANK], strides[QDQ_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        sizes[d] = dims[rank - 1 - d].size;
        strides[d] = dims[rank - 1 - d].stride;
    }
    qdq_c_put_strided(text, index, rank, sizes, strides);
}

static void begin_slices(qdq_c_step *step, const qdq_reduce_axes *s) {
    qdq_c_put(step->body, "    for (size_t slice = 0; slice < %zu; slice++) {\n", s->count);
    qdq_c_put(step->body, "        const size_t base = ");
    put_place(step->body, "slice", s->across, s->across_rank);
    qdq_c_put(step->body, ";\n");
}

// Writes the head of a loop over the elements of a slice, x, at `at`.
static void begin_pass(qdq_c_step *step, const qdq_reduce_axes *s) {
    qdq_dtype dtype = step->ctx->inputs[0].type.dtype;
    qdq_c_put(step->body, "        for (size_t j = 0; j < %zu; j++) {\n", s->n);
    qdq_c_put(step->body, "            const size_t at = base + ");
    put_place(step->body, "j", s->within, s->within_rank);
    qdq_c_put(step->body, ";\n            const float x = %sload_%s(x0, at);\n",
              qdq_dtype_is_real(dtype) ? "" : "(float)", qdq_dtype_name(dtype));
}

static void put_greatest(qdq_c_step *step, const qdq_reduce_axes *s, bool most) {
    qdq_c_put(step->body, "        int32_t key = INT32_%s;\n", most ? "MIN" : "MAX");
    begin_pass(step, s);
    qdq_c_put(step->body,
              "            const int32_t own = isnan(x) ? INT32_%s : (int32_t)slice_key(x);\n",
              most ? "MAX" : "MIN");
    qdq_c_put(step->body, "            key = own %s key ? own : key;\n        }\n",
              most ? ">" : "<");
}

// Stores a double, rounded once to the dtype of output 0.
static void put_rounded(qdq_c_step *step, const char *index, const char *value) {
    qdq_dtype dtype = step->ctx->outputs[0].dtype;
    char call[128];
    snprintf(call, sizeof call, "%s(%s)",
             dtype == QDQ_FLOAT32 ? "emitted_narrow" : "emitted_narrow_odd", value);
    qdq_c_put_store(step->body, dtype, "y0", index, call, NULL);
}

static qdq_reduce_axes along(const qdq_c_step *step, qdq_int given, int64_t otherwise) {
    qdq_shape shape = step->ctx->inputs[0].type.shape;
    int64_t axis = given.set != 0 ? given.value : otherwise;
    return qdq_reduce_axes_of(shape, 1u << (axis < 0 ? axis + shape.rank : axis));
}

// True if the bits are a chip's, which no C of this file has.
static bool refused_by_chip(qdq_c_step *step) {
    if (!step->node->op->by_chip || step->to->numerics.multiply_add == QDQ_MULTIPLY_ADD_IEEE)
        return false;
    qdq_c_cannot(step, NULL, "computes as a Tenstorrent chip does", "IEEE arithmetic");
    return true;
}

//---- SoftMax ----------------------------------------------------------------

// As ONNX Runtime, in float32.
static void put_runtime_softmax(qdq_c_step *step, const qdq_reduce_axes *s, bool wide,
                                bool inf_as_zero) {
    qdq_c_text *text = step->body;
    const char *is_wide = wide ? "true" : "false";
    qdq_c_put(text, "        const float max = qdq_float_of_key(key);\n");
    qdq_c_put(text, "        float lanes[16] = {0};\n");
    begin_pass(step, s);
    qdq_c_put(text, "            lanes[j %% %d] += qdq_ort_softmax_exp(x - max, %s);\n        }\n",
              wide ? QDQ_RUNTIME_WIDE_LANES : QDQ_RUNTIME_LANES, is_wide);
    qdq_c_put(text, "        const float factor = runtime_factor(lanes, %s);\n", is_wide);
    begin_pass(step, s);
    qdq_c_put(text,
              "            const float y = emitted_quiet(qdq_ort_softmax_exp(x - max, %s) * "
              "factor);\n",
              is_wide);
    qdq_c_put(text, "            store_float32(y0, at, %s);\n        }\n    }\n",
              inf_as_zero ? "max == -INFINITY ? 0.0f : y" : "y");
}

// Writes the sum of e^(x - max) in lanes.
static void put_sum(qdq_c_step *step, const qdq_reduce_axes *s) {
    qdq_c_put(step->body, "        const double max = (double)qdq_float_of_key(key);\n");
    qdq_c_put(step->body, "        double lanes[QDQ_SUM_LANES] = {0};\n");
    begin_pass(step, s);
    qdq_c_put(step->body,
              "            lanes[j %% QDQ_SUM_LANES] += emitted_exp(x, max);\n        }\n");
    qdq_c_put(step->body, "        const double sum = qdq_sum_lanes(lanes);\n");
}

void qdq_c_write_softmax(qdq_c_step *step) {
    const qdq_softmax_attrs *a = step->ctx->attrs;
    qdq_dtype x = step->ctx->inputs[0].type.dtype, y = step->ctx->outputs[0].dtype;
    qdq_float_ops ops = step->to->numerics.float_ops;
    bool zeros = a->mode == QDQ_SOFTMAX_INF_AS_ZERO, stats = step->node->output_count > 1;
    qdq_reduce_axes s = along(step, a->axis, 1);
    if (refused_by_chip(step)) return;
    if (qdq_by_onnx_runtime(step->to) && x != QDQ_FLOAT32 && !stats)
        qdq_c_cannot(step, "x", qdq_text(step->findings, "is %s", qdq_dtype_name(x)),
                     "float32, for this target");
    if (step->refused) return;
    begin_slices(step, &s);
    put_greatest(step, &s, true);
    if (qdq_by_onnx_runtime(step->to) && x == QDQ_FLOAT32 && y == QDQ_FLOAT32 && !stats) {
        put_runtime_softmax(step, &s, ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512, zeros);
        return;
    }
    put_sum(step, &s);
    qdq_c_put(step->body, "        const bool empty = %s;\n        (void)empty;\n",
              zeros ? "max == -(double)INFINITY" : "false");
    if (stats)
        qdq_c_put(step->body, "        store_float32(y1, slice, emitted_narrow(empty ? 0.0 : max + "
                              "qdq_log64(sum)));\n");
    begin_pass(step, &s);
    qdq_c_put(step->body,
              "            const double y = empty ? 0.0 : emitted_exp(x, max) * (1.0 / sum);\n"
              "            ");
    put_rounded(step, "at", "y");
    qdq_c_put(step->body, "        }\n    }\n");
}

void qdq_c_write_log_softmax(qdq_c_step *step) {
    const qdq_log_softmax_attrs *a = step->ctx->attrs;
    qdq_reduce_axes s = along(step, a->axis, -1);
    begin_slices(step, &s);
    put_greatest(step, &s, true);
    put_sum(step, &s);
    qdq_c_put(step->body, "        const double log_sum = qdq_log64(sum);\n");
    begin_pass(step, &s);
    qdq_c_put(step->body, "            ");
    put_rounded(step, "at", "((double)x - max) - log_sum");
    qdq_c_put(step->body, "        }\n    }\n");
}

//---- Reductions -------------------------------------------------------------

// The statements that update a lane for each element, and finish the sum of the lanes.
typedef struct reduction {
    const char *op, *change, *end;
    int identity;
} reduction;

static const reduction reductions[] = {
    {"ReduceSum", "+= (double)x", "sum", 0},
    {"ReduceMean", "+= (double)x", NULL, 0},
    {"ReduceL1", "+= fabs((double)x)", "sum", 0},
    {"ReduceL2", "+= qdq_square64((double)x)", "sqrt(sum)", 0},
    {"ReduceProd", "*= (double)x", "sum", 1},
};

static uint32_t dims_of(const qdq_c_step *step) {
    const qdq_reduce_attrs *a = step->ctx->attrs;
    int rank = step->ctx->inputs[0].type.shape.rank;
    uint32_t dims = 0;
    for (size_t i = 0; i < a->axes.count; i++)
        dims |= 1u << (a->axes.data[i] < 0 ? a->axes.data[i] + rank : a->axes.data[i]);
    return dims;
}

static void put_extreme(qdq_c_step *step, const qdq_reduce_axes *s, bool most) {
    qdq_dtype dtype = step->ctx->outputs[0].dtype;
    put_greatest(step, s, most);
    qdq_c_put(step->body, "        const float y = qdq_float_of_key(key);\n        ");
    if (qdq_dtype_is_real(dtype))
        qdq_c_put_store(step->body, dtype, "y0", "slice", "y", NULL);
    else
        qdq_c_put(step->body, "store_%s(y0, slice, (int32_t)y);\n", qdq_dtype_name(dtype));
    qdq_c_put(step->body, "    }\n");
}

static void put_reduction(qdq_c_step *step, const qdq_reduce_axes *s, const reduction *r) {
    qdq_c_text *text = step->body;
    char mean[64];
    snprintf(mean, sizeof mean, "sum / %zu.0", s->n);
    qdq_c_put(text, "        double lanes[QDQ_SUM_LANES];\n");
    qdq_c_put(text, "        for (size_t l = 0; l < QDQ_SUM_LANES; l++) lanes[l] = %d.0;\n",
              r->identity);
    begin_pass(step, s);
    qdq_c_put(text, "            lanes[j %% QDQ_SUM_LANES] %s;\n        }\n", r->change);
    qdq_c_put(text, "        const double sum = qdq_%s_lanes(lanes);\n        ",
              r->identity ? "product" : "sum");
    put_rounded(step, "slice", r->end ? r->end : mean);
    qdq_c_put(text, "    }\n");
}

void qdq_c_write_reduce(qdq_c_step *step) {
    const char *op = step->node->op->name;
    qdq_reduce_axes s = qdq_reduce_axes_of(step->ctx->inputs[0].type.shape, dims_of(step));
    bool ordered = qdq_by_onnx_runtime(step->to) && step->node->op->by_float_ops &&
                   step->ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    if (ordered) {
        qdq_c_cannot(step, NULL, "adds in the order of ONNX Runtime", "the order of the core");
        return;
    }
    if (refused_by_chip(step)) return;
    begin_slices(step, &s);
    if (strcmp(op, "ReduceMax") == 0 || strcmp(op, "ReduceMin") == 0) {
        put_extreme(step, &s, strcmp(op, "ReduceMax") == 0);
        return;
    }
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++)
        if (strcmp(op, reductions[i].op) == 0) put_reduction(step, &s, &reductions[i]);
}
