// SPDX-License-Identifier: Apache-2.0
// Products of matrices and convolutions: three loops over batch, rows and columns of y around a sum
// over k, in the order of ops/gemm/order/. k that lie beyond the border of an image have no
// product, or the product of a zero where the order is ONNX Runtime's.
#include "graph/formats/c/c_draft.h"
#include "ops/conv/conv_lowering.h"

typedef struct product {
    qdq_c_step *step;
    const qdq_gemm *g;
    const qdq_conv *conv;  // NULL: A is a plain matrix
} product;

static bool has(const qdq_gemm_along *along) { return along->port != SIZE_MAX; }
static bool is_integer(const qdq_gemm *g) { return g->kind != QDQ_GEMM_FLOATS; }

//---- Numbers of rows and columns --------------------------------------------

// Declares the place of a product of the batch: "const size_t NAME = ...;".
static void put_base(const product *p, const char *name, const size_t *strides, size_t scale) {
    size_t scaled[QDQ_MAX_RANK];
    for (int i = 0; i < p->g->batches.rank; i++) scaled[i] = strides[i] * scale;
    qdq_c_put(p->step->body, "        const size_t %s = ", name);
    qdq_c_put_strided(p->step->body, "batch", p->g->batches.rank, p->g->batches.dims, scaled);
    qdq_c_put(p->step->body, ";\n        (void)%s;\n", name);
}

// Writes an element as a number of the dtype, or as a float: "load_float32(x2, at_bias + r * 3 +
// c)".
static void put_along(const product *p, const qdq_gemm_along *along, const char *base,
                      bool as_float) {
    qdq_c_text *text = p->step->body;
    bool casts = as_float && !qdq_dtype_is_real(along->dtype);
    qdq_c_put(text, "%sload_%s(x%zu, %s", casts ? "(float)" : "", qdq_dtype_name(along->dtype),
              along->port, base);
    if (along->row_stride) qdq_c_put(text, " + r * %zu", along->row_stride);
    if (along->column_stride) qdq_c_put(text, " + c * %zu", along->column_stride);
    qdq_c_put(text, ")");
}

static void put_bases(const product *p) {
    const qdq_gemm *g = p->g;
    put_base(p, "at_a", g->batches.a, 1);
    put_base(p, "at_b", g->batches.b, g->weights.matrix_stride);
    put_base(p, "at_y", g->batches.y, 1);
    if (has(&g->bias)) put_base(p, "at_bias", g->batches.bias, 1);
    if (has(&g->a_zero)) put_base(p, "at_a_zero", g->batches.a_zero, 1);
    if (has(&g->b_zero)) put_base(p, "at_b_zero", g->batches.b, g->weights.zero_stride);
    if (has(&g->a_scale)) put_base(p, "at_a_scale", g->batches.a_scale, 1);
    if (has(&g->b_scale)) put_base(p, "at_b_scale", g->batches.b, g->weights.scale_stride);
}

//---- The loop over k --------------------------------------------------------

static void put_sizes(qdq_c_text *text, const size_t *sizes) {
    qdq_c_put(text, "{%zu, %zu, %zu}, ", sizes[0], sizes[1], sizes[2]);
}

static void declare_window(const product *p) {
    const qdq_conv *c = p->conv;
    qdq_c_text *text = p->step->body;
    if (!c) return;
    qdq_c_put(text, "    static const emitted_window window = {%s, %s,\n        ",
              c->transposed ? "true" : "false", c->taps_first ? "true" : "false");
    put_sizes(text, c->in);
    put_sizes(text, c->out);
    put_sizes(text, c->kernel);
    put_sizes(text, c->stride);
    put_sizes(text, c->dilation);
    qdq_c_put(text, "\n        ");
    put_sizes(text, c->pad);
    put_sizes(text, c->x_stride);
    qdq_c_put(text, "%zu, %zu, %zu};\n", c->channel_stride, c->taps, c->group_inputs);
}

// Writes the head of the loop over k, with the places of both elements. `all`: also for k beyond
// the border.
static void put_places(const product *p, bool all) {
    const qdq_gemm_weights *w = &p->g->weights;
    qdq_c_text *text = p->step->body;
    qdq_c_put(text, "                for (size_t k = 0; k < %zu; k++) {\n", p->g->depth);
    if (p->conv) {
        qdq_c_put(text, "                    size_t a = 0;\n                    ");
        qdq_c_put(text, all ? "const bool inside = emitted_at(&window, r, k, &a);\n"
                            : "if (!emitted_at(&window, r, k, &a)) continue;\n");
    } else {
        qdq_c_put(text, "                    const size_t a = r * %zu + k * %zu;\n",
                  p->g->a_row_stride, p->g->a_depth_stride);
    }
    qdq_c_put(text, "                    const size_t b = at_b");
    if (w->taps > 1)
        qdq_c_put(text, " + k / %zu * %zu", w->taps, w->depth_stride);
    else
        qdq_c_put(text, " + k * %zu", w->depth_stride);
    if (w->taps > 1) qdq_c_put(text, " + k %% %zu * %zu", w->taps, w->tap_stride);
    qdq_c_put(text, " + c * %zu;\n", w->column_stride);
}

static void put_factors(const product *p, const char *type, const char *pad) {
    qdq_c_text *text = p->step->body;
    bool inside = p->conv && pad;
    qdq_c_put(text, "                    const %s v = %sload_%s(x%zu, at_a + a)%s%s;\n", type,
              inside ? "inside ? " : "", qdq_dtype_name(p->g->a_dtype), p->g->a_port,
              inside ? " : " : "", inside ? pad : "");
    qdq_c_put(text, "                    const %s w = load_%s(x%zu, b);\n", type,
              qdq_dtype_name(p->g->weights.dtype), p->g->weights.port);
}

static void put_float_sum(const product *p) {
    const qdq_gemm_order *order = &p->g->order;
    qdq_c_text *text = p->step->body;
    const char *indent = "                ", *first = order->bias_first ? "bias" : "0.0f";
    if (order->bias_first) {
        qdq_c_put(text, "%sconst float bias = ", indent);
        put_along(p, &p->g->bias, "at_bias", true);
        qdq_c_put(text, ";\n");
    }
    if (order->sums == QDQ_SUM_FOURS)
        qdq_c_put(text, "%semitted_fours fours = {%s, {0}, 0};\n", indent, first);
    else if (order->sums == QDQ_SUM_EIGHTS)
        qdq_c_put(text, "%sfloat lanes[8] = {0};\n", indent);
    else
        qdq_c_put(text, "%sfloat sum = %s;\n", indent, first);
    if (order->sums == QDQ_SUM_CHUNKS) qdq_c_put(text, "%sfloat chunk = 0.0f;\n", indent);
    put_places(p, order->sums != QDQ_SUM_CHAIN);
    put_factors(p, "float", order->sums == QDQ_SUM_CHAIN ? NULL : "0.0f");
    switch ((int)order->sums) {
    case QDQ_SUM_FOURS: qdq_c_put(text, "    %semitted_add_fours(&fours, v * w);\n", indent); break;
    case QDQ_SUM_EIGHTS: qdq_c_put(text, "    %slanes[k %% 8] += v * w;\n", indent); break;
    case QDQ_SUM_CHUNKS:
        qdq_c_put(text, "    %schunk = qdq_fmaf(v, w, chunk);\n", indent);
        qdq_c_put(text, "    %sif (k %% %zu != %zu && k != %zu) continue;\n", indent, order->chunk,
                  order->chunk - 1, p->g->depth - 1);
        qdq_c_put(text, "    %ssum = k < %zu%s ? chunk : sum + chunk;\n    %schunk = 0.0f;\n",
                  indent, order->chunk, order->bias_first ? " && false" : "", indent);
        break;
    default: qdq_c_put(text, "    %ssum = qdq_fmaf(v, w, sum);\n", indent);
    }
    qdq_c_put(text, "%s}\n", indent);
    if (order->sums == QDQ_SUM_FOURS)
        qdq_c_put(text, "%sconst float sum = emitted_end_fours(&fours);\n", indent);
    if (order->sums == QDQ_SUM_EIGHTS)
        qdq_c_put(text, "%sconst float sum = qdq_gemm_fold_eights(lanes, 1, %s, %zu);\n", indent,
                  order->by_rows ? "r" : "c", order->count);
}

// For a transposed convolution: sums each tap over its input channels, in the order of the product,
// and adds that sum to the whole. Taps beyond the border add nothing.
static void put_tap_sums(const product *p) {
    const qdq_gemm_order *order = &p->g->order;
    size_t inputs = p->conv->group_inputs, taps = p->conv->taps;
    qdq_c_text *text = p->step->body;
    const char *indent = "                ";
    bool chunks = order->sums == QDQ_SUM_CHUNKS, fours = order->sums == QDQ_SUM_FOURS;
    qdq_c_put(text, "%sfloat sum = 0.0f;\n%s%s;\n", indent, indent,
              chunks  ? "float tap = 0.0f, chunk = 0.0f"
              : fours ? "emitted_fours fours = {0.0f, {0}, 0}"
                      : "float lanes[8] = {0}");
    put_places(p, false);
    put_factors(p, "float", NULL);
    qdq_c_put(text, "    %sconst size_t i = k %% %zu;\n", indent, inputs);
    if (chunks) {
        qdq_c_put(text, "    %schunk = qdq_fmaf(v, w, chunk);\n", indent);
        qdq_c_put(text, "    %sif (i %% %zu != %zu && i != %zu) continue;\n", indent, order->chunk,
                  order->chunk - 1, inputs - 1);
        qdq_c_put(text, "    %stap = i < %zu ? chunk : tap + chunk;\n    %schunk = 0.0f;\n", indent,
                  order->chunk, indent);
        qdq_c_put(text, "    %sif (i == %zu) sum += tap;\n%s}\n", indent, inputs - 1, indent);
        return;
    }
    qdq_c_put(text,
              fours ? "    %semitted_add_fours(&fours, v * w);\n"
                    : "    %slanes[i %% 8] += v * w;\n",
              indent);
    qdq_c_put(text, "    %sif (i != %zu) continue;\n", indent, inputs - 1);
    if (fours)
        qdq_c_put(text,
                  "    %ssum += emitted_end_fours(&fours);\n"
                  "    %sfours = (emitted_fours){0.0f, {0}, 0};\n",
                  indent, indent);
    else
        qdq_c_put(text,
                  "    %ssum += qdq_gemm_fold_eights(lanes, 1, c * %zu + k / %zu, %zu);\n"
                  "    %smemset(lanes, 0, sizeof lanes);\n",
                  indent, taps, inputs, order->count, indent);
    qdq_c_put(text, "%s}\n", indent);
}

static void put_zero(const product *p, const char *name, const qdq_gemm_along *zero,
                     const char *base) {
    qdq_c_put(p->step->body, "                const int32_t %s = ", name);
    if (has(zero))
        put_along(p, zero, base, false);
    else
        qdq_c_put(p->step->body, "0");
    qdq_c_put(p->step->body, ";\n");
}

// Multiplies codes unchanged, two products at a time; zero points leave the finished sum.
static void put_pairs(const product *p) {
    qdq_c_text *text = p->step->body;
    const char *indent = "                ";
    qdq_c_put(text, "%suint32_t sum = 0, of_a = 0, of_b = 0;\n%sint32_t before = 0;\n", indent,
              indent);
    put_places(p, true);
    put_factors(p, "int32_t", "za");
    qdq_c_put(text, "    %sof_a += (uint32_t)v, of_b += (uint32_t)w;\n", indent);
    qdq_c_put(text, "    %sif (k %% 2 == 0 && k != %zu) {\n        %sbefore = v * w;\n", indent,
              p->g->depth - 1, indent);
    qdq_c_put(text, "        %scontinue;\n    %s}\n", indent, indent);
    qdq_c_put(text, "    %ssum += (uint32_t)qdq_pair_sum(k %% 2 ? before : 0, v * w);\n%s}\n",
              indent, indent);
    qdq_c_put(text, "%ssum -= (uint32_t)za * (of_b - %zuu * (uint32_t)zb) + of_a * (uint32_t)zb;\n",
              indent, p->g->depth);
}

static void put_integer_sum(const product *p) {
    qdq_c_text *text = p->step->body;
    const char *indent = "                ";
    put_zero(p, "za", &p->g->a_zero, "at_a_zero");
    put_zero(p, "zb", &p->g->b_zero, "at_b_zero");
    if (qdq_gemm_saturates(p->g->kind)) {
        put_pairs(p);
        return;
    }
    qdq_c_put(text, "%suint32_t sum = 0;\n", indent);
    put_places(p, false);
    put_factors(p, "int32_t", NULL);
    qdq_c_put(text, "    %ssum += (uint32_t)((v - za) * (w - zb));\n%s}\n", indent, indent);
}

//---- Epilogues --------------------------------------------------------------

static void put_float_result(const product *p) {
    qdq_c_text *text = p->step->body;
    qdq_c_put(text, "                ");
    if (has(&p->g->bias) && !p->g->order.bias_first) {
        qdq_c_put(text, "const float y = emitted_quiet(sum + ");
        put_along(p, &p->g->bias, "at_bias", true);
        qdq_c_put(text, ");\n");
    } else {
        qdq_c_put(text, "const float y = emitted_quiet(sum);\n");
    }
    qdq_c_put(text, "                ");
    qdq_c_put_store(text, p->g->y.dtype, "y0", "at", "y", NULL);
}

// Declares fl(fl(alpha * a_scale) * b_scale), and over y_scale: "const float multiplier = ...".
static void put_multiplier(const product *p) {
    const qdq_gemm *g = p->g;
    qdq_c_text *text = p->step->body;
    qdq_c_put(text, "                const float multiplier = ");
    qdq_c_put_float(text, g->alpha);
    qdq_c_put(text, " * ");
    put_along(p, &g->a_scale, "at_a_scale", true);
    qdq_c_put(text, " * ");
    put_along(p, &g->b_scale, "at_b_scale", true);
    if (has(&g->y_scale)) {
        qdq_c_put(text, " / ");
        put_along(p, &g->y_scale, "0", true);
    }
    qdq_c_put(text, ";\n");
    if (has(&g->bias) && g->bias.dtype == QDQ_INT32) {
        qdq_c_put(text, "                sum += (uint32_t)");
        put_along(p, &g->bias, "at_bias", false);
        qdq_c_put(text, ";\n");
    }
}

// Writes the product and its float32 bias, rounded once or twice.
static void put_multiplied_result(const product *p) {
    const qdq_gemm *g = p->g;
    qdq_c_text *text = p->step->body;
    bool biased = has(&g->bias) && g->bias.dtype != QDQ_INT32, fused = biased && g->fused_bias;
    qdq_c_put(text,
              fused ? "                float y = qdq_fmaf((float)emitted_int32(sum), multiplier, "
                    : "                float y = (float)emitted_int32(sum) * multiplier");
    if (biased && !fused) qdq_c_put(text, ";\n                y += ");
    if (biased) put_along(p, &g->bias, "at_bias", true);
    qdq_c_put(text, fused ? ");\n" : ";\n");
    qdq_c_put(text, "                store_float32(y0, at, emitted_quiet(y));\n");
}

static void put_scaled_result(const product *p) {
    const qdq_gemm *g = p->g;
    qdq_c_text *text = p->step->body;
    put_multiplier(p);
    if (g->epilogue == qdq_gemm_epilogue_requantized) {
        const qdq_dtype_info *info = qdq_dtype_get(g->y.dtype);
        qdq_c_put(text,
                  "                store_%s(y0, at, emitted_requantized(emitted_int32(sum), "
                  "multiplier, %d, %d, ",
                  qdq_dtype_name(g->y.dtype), (int)info->least, (int)info->greatest);
        if (has(&g->y_zero))
            put_along(p, &g->y_zero, "0", false);
        else
            qdq_c_put(text, "0");
        qdq_c_put(text, "));\n");
        return;
    }
    put_multiplied_result(p);
}

//---- Entry ------------------------------------------------------------------

static bool check(const product *p) {
    const qdq_gemm *g = p->g;
    qdq_c_step *step = p->step;
    bool chip = step->ctx->op->by_chip && step->to->numerics.multiply_add != QDQ_MULTIPLY_ADD_IEEE;
    if (chip) qdq_c_cannot(step, NULL, "computes as a Tenstorrent chip does", "IEEE arithmetic");
    if (qdq_gemm_takes_bfloats(g))
        qdq_c_cannot(step, NULL, "multiplies bfloat16 by bfloat16", "float32 or float16");
    if (g->order.block || (g->order.bias_first && g->order.sums == QDQ_SUM_EIGHTS))
        qdq_c_cannot(step, NULL, "adds in blocks of channels, or to an addend",
                     "no channel_block and no addend");
    bool fine = qdq_c_makes(step, 0);
    for (size_t i = 0; i < step->node->input_count; i++)
        if (step->node->inputs[i].id) fine = qdq_c_takes(step, i) && fine;
    return fine && !step->refused;
}

static void put_product(const product *p) {
    const qdq_gemm *g = p->g;
    qdq_c_text *text = p->step->body;
    if (!check(p)) return;
    declare_window(p);
    qdq_c_put(text, "    for (size_t batch = 0; batch < %zu; batch++) {\n", g->batch);
    put_bases(p);
    qdq_c_put(text, "        for (size_t r = 0; r < %zu; r++)\n", g->rows);
    qdq_c_put(text, "            for (size_t c = 0; c < %zu; c++) {\n", g->columns);
    if (is_integer(g))
        put_integer_sum(p);
    else if (g->order.by_taps)
        put_tap_sums(p);
    else
        put_float_sum(p);
    qdq_c_put(text, "                const size_t at = at_y + r * %zu + c * %zu;\n",
              g->y.row_stride, g->y.column_stride);
    if (g->epilogue == qdq_gemm_epilogue_float)
        put_float_result(p);
    else if (g->epilogue == qdq_gemm_epilogue_int32)
        qdq_c_put(text, "                store_int32(y0, at, emitted_int32(sum));\n");
    else
        put_scaled_result(p);
    qdq_c_put(text, "            }\n    }\n");
}

void qdq_c_write_product(qdq_c_step *step) {
    put_product(&(product){step, step->stages[0].params, NULL});
}

void qdq_c_write_convolution(qdq_c_step *step) {
    const qdq_conv *c = step->stages[0].params;
    put_product(&(product){step, &c->gemm, c});
}
