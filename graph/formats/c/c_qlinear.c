// SPDX-License-Identifier: Apache-2.0
// The QLinear ops of codes: loops over y around runtime/numerics/qlinear_one.h.
#include <string.h>

#include "graph/formats/c/c_draft.h"
#include "ops/qlinear/qlinear.h"

// Declares the parameters of an operand: "const qdq_qlinear_quant NAME = {...};".
static void declare_quant(qdq_c_step *step, const char *name, const qdq_qlinear_source *source) {
    qdq_c_put(step->body, "    const qdq_qlinear_quant %s = {load_%s(x%zu, 0), ", name,
              qdq_dtype_name(source->scale_dtype), source->scale);
    if (source->zero_point_dtype)
        qdq_c_put(step->body, "load_%s(x%zu, 0)};\n", qdq_dtype_name(source->zero_point_dtype),
                  source->zero_point);
    else
        qdq_c_put(step->body, "0};\n");
}

static void put_code(qdq_c_step *step, const qdq_qlinear_shown *q, const qdq_qlinear_operand *o) {
    qdq_c_put(step->body, "load_%s(x%zu, ", qdq_dtype_name(q->dtype), o->port);
    if (o->whole)
        qdq_c_put(step->body, "i");
    else
        qdq_c_put_strided(step->body, "i", q->rank, q->sizes, o->strides);
    qdq_c_put(step->body, ")");
}

static void declare_range(qdq_c_step *step, qdq_dtype dtype) {
    qdq_qlinear_range range = qdq_qlinear_range_of(dtype);
    qdq_c_put(step->body, "    const qdq_qlinear_range range = {%d, %d};\n", (int)range.least,
              (int)range.most);
}

void qdq_c_write_qlinear_binary(qdq_c_step *step) {
    qdq_qlinear_shown q = qdq_qlinear_show(&step->stages[0]);
    const char *kind = strcmp(step->node->op->name, "QLinearAdd") == 0 ? "add" : "mul";
    declare_quant(step, "a", &q.a.source);
    declare_quant(step, "b", &q.b.source);
    declare_quant(step, "y", &q.y);
    declare_range(step, q.dtype);
    qdq_c_put(step->body,
              "    const qdq_qlinear_%s_params params =\n"
              "        qdq_qlinear_%s_of((qdq_qlinear_form)%d, a, b, y, range%s);\n",
              kind, kind, (int)q.form,
              kind[0] == 'm' ? ""
              : q.b_repeats  ? ", true"
                             : ", false");
    qdq_c_put_each(step, 0);
    qdq_c_put(step->body, "        store_%s(y0, i, qdq_qlinear_%s_one(&params, ",
              qdq_dtype_name(q.dtype), kind);
    put_code(step, &q, &q.a);
    qdq_c_put(step->body, ", ");
    put_code(step, &q, &q.b);
    qdq_c_put(step->body, "));\n    }\n");
}

//---- Means ------------------------------------------------------------------

// Declares `plane`, the place in x where the plane of element i begins.
static void declare_plane(qdq_c_step *step, const qdq_qlinear_pool_params *p) {
    const qdq_image *image = &p->image;
    size_t inner = p->channels_last ? image->channels : p->windows;
    const char *channel = p->channels_last ? "inner" : "outer % ";
    qdq_c_text *text = step->body;
    qdq_c_put(text, "        const size_t outer = i / %zu, inner = i %% %zu;\n", inner, inner);
    qdq_c_put(text, "        const size_t plane = outer / %zu * %zu + %s",
              p->channels_last ? p->windows : image->channels, image->batch_stride, channel);
    if (!p->channels_last) qdq_c_put(text, "%zu", image->channels);
    qdq_c_put(text, " * %zu;\n        (void)inner;\n", image->channel_stride);
}

// Writes the loops over a window, in row-major order, without the elements beyond the border.
static void put_window(qdq_c_step *step, const qdq_qlinear_pool_params *p) {
    const qdq_qlinear_axis *a = p->axes;
    const char *dtype = qdq_dtype_name(p->dtype);
    qdq_c_text *text = step->body;
    qdq_c_put(text,
              p->channels_last ? "        const size_t window = outer %% %zu;\n"
                               : "        const size_t window = inner;\n",
              p->windows);
    qdq_c_put(
        text,
        "        const size_t o0 = window / %zu, o1 = window / %zu %% %zu, o2 = window %% %zu;\n",
        a[1].out * a[2].out, a[2].out, a[1].out, a[2].out);
    qdq_c_put(text, "        float sum = 0.0f;\n        size_t count = 0;\n");
    for (int d = 0; d < QDQ_MAX_SPATIAL; d++) {
        qdq_c_put(text, "%*sfor (size_t t%d = 0; t%d < %zu; t%d++) {\n", 8 + 4 * d, "", d, d,
                  a[d].kernel, d);
        qdq_c_put(text, "%*sconst size_t p%d = o%d * %zu + t%d - %zu;\n", 12 + 4 * d, "", d, d,
                  a[d].stride, d, a[d].pad);
        qdq_c_put(text, "%*sif (p%d >= %zu) continue;\n", 12 + 4 * d, "", d, a[d].in);
    }
    qdq_c_put(text,
              "                    const size_t at = plane + ((p0 * %zu + p1) * %zu + p2) * %zu;\n",
              a[1].in, a[2].in, p->image.pixel_stride);
    qdq_c_put(text,
              "                    sum += x.scale * (float)(load_%s(x0, at) - x.zero_point);\n",
              dtype);
    qdq_c_put(text, "                    count++;\n                }\n            }\n        }\n");
    qdq_c_put(text, "        store_%s(y0, i, qdq_qlinear_window_one(&mean, sum, ", dtype);
    if (p->exclude_pad)
        qdq_c_put(text, "count));\n    }\n");
    else
        qdq_c_put(text, "%zu));\n        (void)count;\n    }\n",
                  a[0].kernel * a[1].kernel * a[2].kernel);
}

// Writes the sum of an image, which wraps around.
static void put_image(qdq_c_step *step, const qdq_qlinear_pool_params *p) {
    const char *dtype = qdq_dtype_name(p->dtype);
    qdq_c_text *text = step->body;
    qdq_c_put(text, "        uint32_t sum = 0;\n");
    qdq_c_put(text, "        for (size_t t = 0; t < %zu; t++)\n", p->image.pixels);
    qdq_c_put(text, "            sum += (uint32_t)(load_%s(x0, plane + t * %zu) - x.zero_point);\n",
              dtype, p->image.pixel_stride);
    qdq_c_put(text, "        store_%s(y0, i, qdq_qlinear_mean_one(&mean, (int32_t)sum));\n    }\n",
              dtype);
}

void qdq_c_write_qlinear_pool(qdq_c_step *step) {
    const qdq_qlinear_pool_params *p = step->stages[0].params;
    declare_quant(step, "x", &p->x);
    declare_quant(step, "y", &p->y);
    declare_range(step, p->dtype);
    qdq_c_put(step->body,
              "    const qdq_qlinear_mean_params mean =\n"
              "        qdq_qlinear_mean_of((qdq_qlinear_form)%d, x, y, range, %zu);\n",
              (int)p->form, p->of_images ? p->image.pixels : (size_t)1);
    qdq_c_put_each(step, 0);
    declare_plane(step, p);
    (p->of_images ? put_image : put_window)(step, p);
}

//---- Softmax ----------------------------------------------------------------

// SOFTMAX of TensorFlow Lite. Its tables are static, as values between nodes are.
static void put_litert_softmax(qdq_c_step *step, const qdq_qlinear_softmax_params *p) {
    size_t rows = qdq_shape_count(step->ctx->outputs[0].shape) / p->length;
    qdq_c_text *text = step->body;
    declare_quant(step, "x", &p->x);
    declare_quant(step, "y", &p->y);
    qdq_c_put(text,
              "    static qdq_litert_softmax by;\n"
              "    by.form = (qdq_qlinear_form)%d, by.is_signed = %s;\n"
              "    by.y_scale = y.scale, by.y_zero = y.zero_point;\n"
              "    qdq_litert_softmax_begin(&by, x.scale);\n",
              (int)p->form, p->dtype == QDQ_INT8 ? "true" : "false");
    qdq_c_put(text, "    for (size_t row = 0; row < %zu; row++) {\n", rows);
    qdq_c_put(text, "        const size_t at = row / %zu * %zu + row %% %zu;\n", p->stride,
              p->length * p->stride, p->stride);
    qdq_c_put(text,
              "        qdq_litert_softmax_row(&by, %zu, %zu, (const uint8_t *)x0 + at, "
              "(uint8_t *)y0 + at);\n    }\n",
              p->length, p->stride);
}

void qdq_c_write_qlinear_softmax(qdq_c_step *step) {
    const qdq_qlinear_softmax_params *p = step->stages[0].params;
    if (p->form >= QDQ_QLINEAR_LITERT) {
        put_litert_softmax(step, p);
        return;
    }
    const char *dtype = qdq_dtype_name(p->dtype);
    bool is_signed = p->dtype == QDQ_INT8;
    size_t rows = qdq_shape_count(step->ctx->outputs[0].shape) / p->length;
    qdq_c_text *text = step->body;
    declare_quant(step, "x", &p->x);
    declare_quant(step, "y", &p->y);
    qdq_c_put(text,
              "    float table[QDQ_QLINEAR_CODES];\n"
              "    qdq_qlinear_exponentials(x.scale, %zu, table);\n"
              "    const float inverse = floorf(1.0f / y.scale);\n",
              p->length);
    qdq_c_put(text, "    for (size_t row = 0; row < %zu; row++) {\n", rows);
    qdq_c_put(text, "        const size_t at = row / %zu * %zu + row %% %zu;\n", p->stride,
              p->length * p->stride, p->stride);
    qdq_c_put(text, "        int32_t greatest = %d;\n", is_signed ? -128 : 0);
    qdq_c_put(text,
              "        for (size_t i = 0; i < %zu; i++) {\n"
              "            const int32_t code = load_%s(x0, at + i * %zu);\n"
              "            if (code > greatest) greatest = code;\n        }\n",
              p->length, dtype, p->stride);
    qdq_c_put(text,
              "        float sum = 0.0f;\n        for (size_t i = 0; i < %zu; i++)\n"
              "            sum += table[255 - greatest + load_%s(x0, at + i * %zu)];\n",
              p->length, dtype, p->stride);
    qdq_c_put(text,
              "        for (size_t i = 0; i < %zu; i++) {\n"
              "            const float v = table[255 - greatest + load_%s(x0, at + i * %zu)];\n",
              p->length, dtype, p->stride);
    qdq_c_put(text,
              "            store_%s(y0, at + i * %zu, qdq_qlinear_softmax_one("
              "(qdq_qlinear_form)%d, %s, v, inverse, sum, y.zero_point));\n"
              "        }\n    }\n",
              dtype, p->stride, (int)p->form, is_signed ? "true" : "false");
}
