// SPDX-License-Identifier: Apache-2.0
// The ops on integers alone: loops over y around runtime/numerics/integer_one.h.
#include <string.h>

#include "graph/formats/c/c_draft.h"
#include "include/qdq/ops/integer.h"
#include "ops/spatial/window.h"

static const char *word(qdq_dtype dtype) { return qdq_dtype_name(dtype); }

// Writes the element of an input that meets element i of y, to which it is broadcast.
static void put_load(qdq_c_step *step, size_t port) {
    qdq_type x = step->ctx->inputs[port].type;
    qdq_shape y = step->ctx->outputs[0].shape;
    size_t sizes[QDQ_MAX_RANK] = {0}, strides[QDQ_MAX_RANK] = {0}, stride = 1;
    for (int d = 0; d < y.rank; d++) sizes[d] = (size_t)y.dims[d];
    for (int d = 1; d <= x.shape.rank; d++) {
        size_t dim = (size_t)x.shape.dims[x.shape.rank - d];
        strides[y.rank - d] = dim == 1 ? 0 : stride;
        stride *= dim;
    }
    qdq_c_put(step->body, "load_%s(x%zu, ", word(x.dtype), port);
    if (qdq_shape_equal(x.shape, y))
        qdq_c_put(step->body, "i");
    else
        qdq_c_put_strided(step->body, "i", y.rank, sizes, strides);
    qdq_c_put(step->body, ")");
}

// Writes the zero point of an input, 0 if it is not given.
static void put_zero(qdq_c_step *step, size_t port) {
    const qdq_operand *zero = &step->ctx->inputs[port];
    if (zero->given)
        qdq_c_put(step->body, "load_%s(x%zu, 0)", word(zero->type.dtype), port);
    else
        qdq_c_put(step->body, "0");
}

// Begins the statement that stores element i of y.
static void begin_store(qdq_c_step *step) {
    qdq_c_put(step->body, "        store_%s(y0, i, ", word(step->ctx->outputs[0].dtype));
}

static void put_bounds(qdq_c_step *step, int64_t least, int64_t most) {
    qdq_c_put(step->body, ", ");
    qdq_c_put_int(step->body, (int32_t)least);
    qdq_c_put(step->body, ", ");
    qdq_c_put_int(step->body, (int32_t)most);
    qdq_c_put(step->body, "));\n    }\n");
}

//---- Elements ---------------------------------------------------------------

// Begins the loop over y, whose elements are a function of the element of each operand and of more
// arguments that the caller adds.
static void begin_call(qdq_c_step *step, const char *function, size_t operands) {
    qdq_c_put_each(step, 0);
    begin_store(step);
    qdq_c_put(step->body, "%s(", function);
    for (size_t port = 0; port < operands; port++) {
        if (port) qdq_c_put(step->body, ", ");
        put_load(step, port);
    }
}

void qdq_c_write_multiply_shift(qdq_c_step *step) {
    const qdq_multiply_shift_attrs *a = step->ctx->attrs;
    begin_call(step, "qdq_multiply_shift_one", 2);
    qdq_c_put(step->body, ", %d));\n    }\n", a->shift.set != 0 ? (int)a->shift.value : 0);
}

void qdq_c_write_arithmetic_shift_right(qdq_c_step *step) {
    const qdq_arithmetic_shift_right_attrs *a = step->ctx->attrs;
    begin_call(step, "qdq_shift_right_one", 2);
    qdq_c_put(step->body, ", %zu, %s));\n    }\n", 8 * qdq_dtype_size(step->ctx->outputs[0].dtype),
              a->round == QDQ_TRUE ? "true" : "false");
}

void qdq_c_write_clamp_integer(qdq_c_step *step) {
    const qdq_clamp_integer_attrs *a = step->ctx->attrs;
    begin_call(step, "qdq_clamp_integer_one", 1);
    put_bounds(step, a->min.value, a->max.value);
}

void qdq_c_write_neg_integer(qdq_c_step *step) {
    const qdq_dtype_info *info = qdq_dtype_get(step->ctx->outputs[0].dtype);
    qdq_c_put_each(step, 0);
    begin_store(step);
    qdq_c_put(step->body, "qdq_clamp_integer_one((int64_t)");
    put_zero(step, 2);
    qdq_c_put(step->body, " - ((int64_t)");
    put_load(step, 0);
    qdq_c_put(step->body, " - ");
    put_zero(step, 1);
    qdq_c_put(step->body, ")");
    put_bounds(step, info->least, info->greatest);
}

void qdq_c_write_count_leading_zeros(qdq_c_step *step) {
    begin_call(step, "qdq_leading_zeros_one", 1);
    qdq_c_put(step->body, "));\n    }\n");
}

//---- Slices -----------------------------------------------------------------

static const char *reduction_of(const char *op) {
    if (strcmp(op, "ReduceSumInteger") == 0) return "qdq_wrapping_sum_one";
    return strcmp(op, "ReduceMaxInteger") == 0 ? "qdq_greater_one" : "qdq_lesser_one";
}

void qdq_c_write_reduce_integer(qdq_c_step *step) {
    const qdq_reduce_integer_attrs *a = step->ctx->attrs;
    qdq_type x = step->ctx->inputs[0].type;
    int axis = (int)(a->axis.value < 0 ? a->axis.value + x.shape.rank : a->axis.value);
    size_t length = (size_t)x.shape.dims[axis], stride = 1;
    for (int d = axis + 1; d < x.shape.rank; d++) stride *= (size_t)x.shape.dims[d];
    qdq_c_put_each(step, 0);
    qdq_c_put(step->body, "        const size_t from = i / %zu * %zu + i %% %zu;\n", stride,
              length * stride, stride);
    qdq_c_put(step->body, "        int32_t y = load_%s(x0, from);\n", word(x.dtype));
    qdq_c_put(step->body,
              "        for (size_t k = 1; k < %zu; k++)\n"
              "            y = %s(y, load_%s(x0, from + k * %zu));\n",
              length, reduction_of(step->node->op->name), word(x.dtype), stride);
    begin_store(step);
    qdq_c_put(step->body, "y);\n    }\n");
}

//---- Windows ----------------------------------------------------------------

static int64_t entry(qdq_ints list, int d) { return list.count ? list.data[d] : 0; }

// Writes the loops over the elements under a window that lie in x.
static void put_window(qdq_c_step *step, const qdq_image *image) {
    const qdq_avg_pool_integer_attrs *a = step->ctx->attrs;
    qdq_c_text *text = step->body;
    int n = image->spatial;
    for (int d = 0; d < n; d++) {
        qdq_c_put(text, "%*sfor (size_t k%d = 0; k%d < %zu; k%d++) {\n", 8 + 4 * d, "", d, d,
                  image->size[d], d);
        qdq_c_put(text, "%*sif (k%d + %lld - o%d * %lld >= %lld) continue;\n", 12 + 4 * d, "", d,
                  (long long)entry(a->pads_begin, d), d, (long long)a->strides.data[d],
                  (long long)a->kernel.data[d]);
    }
    qdq_c_put(text, "%*scount++;\n%*ssum += (uint32_t)load_%s(x0, plane + (", 8 + 4 * n, "",
              8 + 4 * n, "", word(step->ctx->inputs[0].type.dtype));
    for (int d = 0; d < n; d++) {
        size_t inner = 1;
        for (int e = d + 1; e < n; e++) inner *= image->size[e];
        qdq_c_put(text, "%sk%d * %zu", d ? " + " : "", d, inner);
    }
    qdq_c_put(text, ") * %zu);\n", image->pixel_stride);
    for (int d = n; d-- > 0;) qdq_c_put(text, "%*s}\n", 8 + 4 * d, "");
}

// Declares the plane of element i of y in x, and its window along each dim.
static void declare_places(qdq_c_step *step, const qdq_image *image, bool last) {
    qdq_shape y = step->ctx->outputs[0].shape;
    size_t inner = last ? image->channels : 1;
    qdq_c_text *text = step->body;
    for (int d = image->spatial - 1; d >= 0; d--) {
        size_t size = (size_t)y.dims[(last ? 1 : 2) + d];
        qdq_c_put(text, "        const size_t o%d = i / %zu %% %zu;\n", d, inner, size);
        inner *= size;
    }
    qdq_c_put(text, "        const size_t plane = i / %zu * %zu + i / %zu %% %zu * %zu;\n",
              last ? inner : inner * image->channels, image->batch_stride, last ? (size_t)1 : inner,
              image->channels, image->channel_stride);
}

void qdq_c_write_avg_pool_integer(qdq_c_step *step) {
    const qdq_avg_pool_integer_attrs *a = step->ctx->attrs;
    const qdq_dtype_info *info = qdq_dtype_get(step->ctx->outputs[0].dtype);
    qdq_image image;
    if (!qdq_image_of(step->ctx, 0, a->data_format, &image)) return;
    qdq_c_put_each(step, 0);
    declare_places(step, &image, a->data_format == QDQ_NXC);
    qdq_c_put(step->body, "        uint32_t sum = 0;\n        size_t count = 0;\n");
    put_window(step, &image);
    qdq_c_put(step->body, "        sum -= (uint32_t)count * (uint32_t)");
    put_zero(step, 1);
    qdq_c_put(step->body, ";\n");
    begin_store(step);
    qdq_c_put(step->body, "qdq_clamp_integer_one(qdq_integer_mean_one((int32_t)sum, count) + ");
    put_zero(step, 2);
    put_bounds(step, info->least, info->greatest);
}
