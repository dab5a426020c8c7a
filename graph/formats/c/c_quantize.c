// SPDX-License-Identifier: Apache-2.0
// Quantize, Dequantize, Requantize and DynamicQuantize: a loop over the elements of y around the
// definitions of runtime/numerics/quantize_one.h, as ops/kernels/quantize/portable.c has it.
#include <math.h>

#include "graph/formats/c/c_draft.h"
#include "ops/quantize/choose_qparams.h"
#include "ops/quantize/quant_params.h"

static bool is_step_dtype(qdq_dtype dtype) {
    return dtype == QDQ_DTYPE_NONE || dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 ||
           dtype == QDQ_BFLOAT16;
}

static bool check(qdq_c_step *step, const qdq_quant_params *p) {
    const qdq_numerics *n = &p->numerics;
    if (qdq_is_device(n) || n->bfloat16_load || p->scale_is_inverse)
        qdq_c_cannot(step, NULL, "computes as a Tenstorrent chip does", "IEEE arithmetic");
    if (p->wide_scale) qdq_c_cannot(step, "scale", "is float64", "float32");
    if (!is_step_dtype(n->input_dtype) || !is_step_dtype(n->scale_dtype) ||
        !is_step_dtype(n->reciprocal_dtype) || !is_step_dtype(n->middle_dtype) ||
        !is_step_dtype(n->quantize_step_dtype) || !is_step_dtype(n->dequantize_step_dtype) ||
        !is_step_dtype(n->requantize_dtype))
        qdq_c_cannot(step, NULL, "rounds intermediate results to a small float",
                     "float32, float16 or bfloat16");
    bool fine = qdq_c_takes(step, 0);
    return qdq_c_makes(step, 0) && fine && !step->refused;
}

// Writes a range: "{-128, 127, -128, 127, 0.0}".
static void put_range(qdq_c_text *text, const qdq_range *range) {
    qdq_c_put(text, "{%lld, %lld, %lld, %lld, ", (long long)range->least,
              (long long)range->greatest, (long long)range->quant_min, (long long)range->quant_max);
    qdq_c_put_double(text, range->fractions);
    qdq_c_put(text, "}");
}

static void declare(qdq_c_step *step, const qdq_quant_params *p, const qdq_stage *stage) {
    static const char *const names[] = {"p0", "p1", "p2", "p3"};
    qdq_c_declare_numerics(step->body, &p->numerics);
    qdq_c_put(step->body, "    static const qdq_range range = ");
    put_range(step->body, &p->range);
    qdq_c_put(step->body, ";\n    (void)n, (void)range;\n");
    for (size_t k = 0; k < stage->stage_param_count; k++)
        qdq_c_declare_param(step, &stage->stage_params[k], names[k]);
}

// Declares the parameters of element i: "float s = ...", and z.
static void put_scale(qdq_c_step *step, const qdq_stage *stage, size_t k, const char *scale,
                      const char *zero, bool float_zero) {
    static const char *const names[] = {"p0", "p1", "p2", "p3"};
    qdq_c_text *text = step->body;
    qdq_c_put(text, "        const float %s = ", scale);
    qdq_c_put_param(step, &stage->stage_params[k], names[k]);
    qdq_c_put(text, ";\n");
    if (k + 1 >= stage->stage_param_count) return;
    qdq_c_put(text, "        const %s %s = ", float_zero ? "float" : "int32_t", zero);
    qdq_c_put_param(step, &stage->stage_params[k + 1], names[k + 1]);
    qdq_c_put(text, ";\n");
}

// The same for x. An integer x becomes a float.
static void put_x(qdq_c_step *step) {
    qdq_dtype dtype = step->ctx->inputs[0].type.dtype;
    qdq_c_put(step->body, "        const float x = %sload_%s(x0, i);\n",
              qdq_dtype_is_real(dtype) ? "" : "(float)", qdq_dtype_name(dtype));
}

//---- Quantize ---------------------------------------------------------------

static void put_to_real(qdq_c_step *step, const qdq_quant_params *p, const qdq_stage *stage) {
    qdq_c_text *text = step->body;
    if (p->bounded) {
        qdq_c_put(text, "        float v = qdq_quantize_bounded(&n, x, s, %s, ",
                  p->adds_zero_point ? "(float)z" : "-0.0f");
        qdq_c_put_float(text, p->low);
        qdq_c_put(text, ", ");
        qdq_c_put_float(text, p->high);
        qdq_c_put(text, ");\n");
    } else if (p->scales_twice) {
        qdq_c_put(text, "        float v = emitted_scaled_twice(&n, x, s, ");
        qdq_c_put_param(step, &stage->stage_params[2], "p2");
        qdq_c_put(text, ");\n");
    } else {
        qdq_c_put(text, "        float v = qdq_scaled(&n, x, s);\n");
    }
    if (p->adds_zero && !p->bounded) qdq_c_put(text, "        v += 0.0f;\n");
    qdq_c_put(text, "        ");
    qdq_c_put_store(text, p->y_dtype, "y0", "i", "v", &p->numerics);
}

static void put_quantize(qdq_c_step *step, const qdq_stage *stage) {
    const qdq_quant_params *p = stage->params;
    if (!check(step, p)) return;
    declare(step, p, stage);
    qdq_c_put_each(step, 0);
    put_x(step);
    put_scale(step, stage, 0, "s", "z", p->float_zero_point);
    qdq_c_put(step->body, "        (void)z;\n");
    if (qdq_dtype_is_real(p->y_dtype))
        put_to_real(step, p, stage);
    else
        qdq_c_put(step->body, "        store_%s(y0, i, %s(&n, x, s, z, &range));\n",
                  qdq_dtype_name(p->y_dtype),
                  p->float_zero_point ? "qdq_quantize_float_zero_point" : "qdq_quantize_one");
    qdq_c_put(step->body, "    }\n");
}

void qdq_c_write_quantize(qdq_c_step *step) { put_quantize(step, &step->stages[0]); }

//---- Dequantize, Requantize -------------------------------------------------

void qdq_c_write_dequantize(qdq_c_step *step) {
    const qdq_stage *stage = &step->stages[0];
    const qdq_quant_params *p = stage->params;
    qdq_c_text *text = step->body;
    if (!check(step, p)) return;
    const char *x = qdq_dtype_name(p->x_dtype);
    declare(step, p, stage);
    qdq_c_put_each(step, 0);
    put_scale(step, stage, 0, "s", "z", p->float_zero_point);
    qdq_c_put(text, "        (void)z;\n");
    if (qdq_dtype_is_real(p->x_dtype))
        qdq_c_put(text, "        const float v = qdq_dequantize_step(&n, load_%s(x0, i) * s);\n",
                  x);
    else if (p->float_zero_point)
        qdq_c_put(
            text,
            "        const float v = qdq_dequantize_float_zero_point(&n, load_%s(x0, i), s, z, "
            "&range);\n",
            x);
    else
        qdq_c_put(text, "        const float v = qdq_dequantize_one(&n, load_%s(x0, i), s, z);\n",
                  x);
    qdq_c_put(text, "        ");
    qdq_c_put_store(text, p->y_dtype, "y0", "i", "v", &p->numerics);
    qdq_c_put(text, "    }\n");
}

// By multiplier and shift. In float32 the multiplier is the bits of the scale, in float64 both are.
static void put_fixed(qdq_c_step *step, const qdq_quant_params *p, const qdq_stage *stage) {
    static const char *const names[] = {"m", "in_zero", "shift", "out_zero"};
    static const char *const numbers[] = {"p0", "p1", "p2", "p3"};
    static const char *const reals[] = {
        [QDQ_FIXED_SINGLE] = "0.0",
        [QDQ_FIXED_DOUBLE] = "0.0",
        [QDQ_FIXED_UP] = "0.0",
        [QDQ_FIXED_FLOAT32] = "(double)qdq_float_from_bits((uint32_t)m)",
        [QDQ_FIXED_INEXACT] = "0.0",
        [QDQ_FIXED_FLOAT64] = "qdq_double_of_words((uint32_t)m, (uint32_t)shift)",
    };
    qdq_c_text *text = step->body;
    qdq_c_put_each(step, 0);
    for (size_t k = 0; k < 4; k++) {
        qdq_c_put(text, "        const int32_t %s = ", names[k]);
        qdq_c_put_param(step, &stage->stage_params[k], numbers[k]);
        qdq_c_put(text, ";\n");
    }
    qdq_c_put(text,
              "        const qdq_fixed_params fixed = {(qdq_fixed_rounding)%d, {m, shift}, %s, "
              "in_zero, out_zero};\n",
              (int)p->rounding, reals[p->rounding]);
    qdq_c_put(text,
              "        store_%s(y0, i, (int32_t)qdq_clamp_one(qdq_fixed_one(&fixed, load_%s(x0, "
              "i)), range.quant_min, range.quant_max));\n    }\n",
              qdq_dtype_name(p->y_dtype), qdq_dtype_name(p->x_dtype));
}

void qdq_c_write_requantize(qdq_c_step *step) {
    const qdq_stage *stage = &step->stages[0];
    const qdq_quant_params *p = stage->params;
    qdq_c_text *text = step->body;
    if (!check(step, p)) return;
    bool whole = qdq_dtype_is_int(p->x_dtype);
    declare(step, p, stage);
    if (p->fixed) {
        put_fixed(step, p, stage);
        return;
    }
    qdq_c_put_each(step, 0);
    put_x(step);
    put_scale(step, stage, 0, "in", "in_zero", false);
    put_scale(step, stage, 2, "out", "out_zero", false);
    qdq_c_put(text, "        const qdq_requantize_scales scales = {in, out, in_zero, out_zero};\n");
    qdq_c_put(text, "        store_%s(y0, i, qdq_requantize_one(&n, x, ",
              qdq_dtype_name(p->y_dtype));
    if (whole)
        qdq_c_put(text, "load_%s(x0, i)", qdq_dtype_name(p->x_dtype));
    else
        qdq_c_put(text, "0");
    qdq_c_put(text, ", %s, &scales, &range));\n    }\n", whole ? "true" : "false");
}

//---- DynamicQuantize --------------------------------------------------------

static void declare_choice(qdq_c_text *text, const qdq_choose_params *p) {
    qdq_c_put(text, "    static const qdq_choose_params choose = {\n");
    qdq_c_put(text, "        0, (qdq_scheme)%d, (qdq_choice)%d, (qdq_dtype)%d, (qdq_dtype)%d, ",
              (int)p->scheme, (int)p->choice, (int)p->x_dtype, (int)p->y_dtype);
    put_range(text, &p->range);
    qdq_c_put(text, ",\n        ");
    qdq_c_put_double(text, p->low);
    qdq_c_put(text, ", ");
    qdq_c_put_double(text, p->high);
    qdq_c_put(text, ", ");
    qdq_c_put_float(text, p->eps);
    qdq_c_put(text, ", %s, (qdq_dtype)%d, (qdq_dtype)%d};\n",
              p->has_global_scale ? "true" : "false", (int)p->scale_dtype,
              (int)p->stored_scale_dtype);
}

// Writes the ranges of the blocks to scratch.
static void put_ranges(qdq_c_step *step, const qdq_stage *stage) {
    const qdq_choose_params *p = stage->params;
    qdq_c_text *text = step->body;
    qdq_c_put(text, "    memset(scratch, 0, %zu * sizeof range);\n", stage->grid->count);
    qdq_c_put(text, "    for (size_t i = 0; i < %zu; i++) {\n        char *block = scratch + (",
              qdq_shape_count(step->ctx->outputs[0].shape));
    qdq_c_put_block(text, stage->grid);
    qdq_c_put(text, ") * sizeof range;\n        memcpy(&range, block, sizeof range);\n");
    qdq_c_put(text, "        emitted_widen(&range, %sload_%s(x0, i));\n",
              qdq_dtype_is_real(p->x_dtype) ? "" : "(float)", qdq_dtype_name(p->x_dtype));
    qdq_c_put(text, "        memcpy(block, &range, sizeof range);\n    }\n");
}

// Writes the range of all elements, found in lanes, to scratch.
static void put_lane_range(qdq_c_step *step, const qdq_stage *stage) {
    const qdq_choose_params *p = stage->params;
    qdq_c_text *text = step->body;
    qdq_c_put(text, "    qdq_lane_range lanes = {0};\n    for (size_t i = 0; i < %zu; i++) {\n",
              qdq_shape_count(step->ctx->outputs[0].shape));
    qdq_c_put(text, "        const float v = load_%s(x0, i);\n", qdq_dtype_name(p->x_dtype));
    qdq_c_put(text, "        qdq_lane_range_add(&lanes, &v, 1);\n    }\n");
    qdq_c_put(text, "    range = qdq_lane_range_end(&lanes, choose.choice);\n");
    qdq_c_put(text, "    memcpy(scratch, &range, sizeof range);\n");
}

// Chooses the scale and the zero point of each block from its range, which lies in scratch.
static void put_choice(qdq_c_step *step, const qdq_stage *stage) {
    const qdq_choose_params *p = stage->params;
    qdq_c_text *text = step->body;
    size_t count = stage->grid->count;
    step->scratch = count * sizeof(qdq_block_range);
    qdq_c_put(text, "    qdq_block_range range;\n");
    declare_choice(text, p);
    if (p->has_global_scale) qdq_c_declare_param(step, &stage->stage_params[0], "global");
    (stage->reduce->ordered ? put_lane_range : put_ranges)(step, stage);
    qdq_c_put(text, "    for (size_t i = 0; i < %zu; i++) {\n", count);
    qdq_c_put(text, "        memcpy(&range, scratch + i * sizeof range, sizeof range);\n");
    qdq_c_put(text, "        const qdq_qparams chosen = qdq_choose_qparams(&choose, &range, ");
    if (p->has_global_scale)
        qdq_c_put_param(step, &stage->stage_params[0], "global");
    else
        qdq_c_put(text, "1.0f");
    qdq_c_put(text, ");\n        ");
    qdq_c_put_store(text, p->scale_dtype, "y1", "i", "chosen.scale", NULL);
    qdq_c_put(text, "        ");
    if (qdq_dtype_is_int(p->y_dtype))
        qdq_c_put(text, "store_%s(y2, i, chosen.zero_point);\n", qdq_dtype_name(p->y_dtype));
    else
        qdq_c_put_store(text, p->y_dtype, "y2", "i", "0.0f", NULL);
    qdq_c_put(text, "    }\n");
}

void qdq_c_write_dynamic_quantize(qdq_c_step *step) {
    bool computed = step->stages[0].reduce != NULL;
    bool fine = qdq_c_takes(step, 0);
    if (!fine || !computed) {
        if (fine) put_quantize(step, &step->stages[0]);
        return;
    }
    qdq_c_put(step->body, "    {\n");
    put_choice(step, &step->stages[0]);
    qdq_c_put(step->body, "    }\n");
    put_quantize(step, &step->stages[1]);
}
