// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/number_formats.h"

#include <stdio.h>
#include <string.h>

#include "tools/lab/compare/units/switches.h"

//---- Fields of the numerics -------------------------------------------------

// X(text for people, assignment). Single fields come before pairs, so that the simplest explanation
// is found first. ALL: a format of every step, x and scale included, which is a single cause.
#define FIELDS(X, ALL)                                                                            \
    X("half away", n->rounding = QDQ_ROUND_HALF_AWAY)                                             \
    X("half up", n->rounding = QDQ_ROUND_HALF_UP)                                                 \
    X("truncation", n->rounding = QDQ_ROUND_TRUNCATE)                                             \
    X("half even", n->rounding = QDQ_ROUND_HALF_EVEN)                                             \
    X("x * (1 / scale)", n->scaling = QDQ_SCALE_RECIPROCAL)                                       \
    X("x / scale", n->scaling = QDQ_SCALE_DIVIDE)                                                 \
    X("zero point before rounding", n->zero_point_order = QDQ_ZERO_POINT_BEFORE)                  \
    X("zero point after rounding", n->zero_point_order = QDQ_ZERO_POINT_AFTER)                    \
    X("one fused multiply-add", n->zero_point_order = QDQ_ZERO_POINT_FMA)                         \
    X("zero point added in float", n->zero_point_order = QDQ_ZERO_POINT_AFTER_FLOAT)              \
    X("rounding by 1.5 * 2^23", n->zero_point_order = QDQ_ZERO_POINT_AFTER_MAGIC)                 \
    X("low bits kept", n->overflow = QDQ_OVERFLOW_WRAP)                                           \
    X("sign dropped", n->overflow = QDQ_OVERFLOW_MAGNITUDE)                                       \
    X("x86 conversion", n->overflow = QDQ_OVERFLOW_X86)                                           \
    X("Arm conversion", n->overflow = QDQ_OVERFLOW_ARM)                                           \
    X("conversion of a float range", n->overflow = QDQ_OVERFLOW_FLOAT_RANGE)                      \
    X("saturation", n->overflow = QDQ_OVERFLOW_SATURATE)                                          \
    X("NaN to the least code", n->nan = QDQ_NAN_QUANT_MIN)                                        \
    X("NaN to the greatest code", n->nan = QDQ_NAN_QUANT_MAX)                                     \
    X("NaN to the zero point", n->nan = QDQ_NAN_ZERO_POINT)                                       \
    X("NaN by its sign", n->nan = QDQ_NAN_BY_SIGN)                                                \
    X("NaN to low bits", n->nan = QDQ_NAN_LOW_BITS)                                               \
    X("subtraction in float", n->subtraction = QDQ_SUBTRACT_FLOAT)                                \
    X("fused requantize", n->requantize_form = QDQ_REQUANTIZE_FUSED)                              \
    X("expanded requantize", n->requantize_form = QDQ_REQUANTIZE_EXPANDED)                        \
    X("requantize as a pair", n->requantize_form = QDQ_REQUANTIZE_PAIR)                           \
    X("sums of pairs saturate", n->pair_sums = QDQ_PAIR_SUMS_SATURATE)                            \
    X("exact sums of pairs", n->pair_sums = QDQ_PAIR_SUMS_EXACT)                                  \
    X("codes from -127 on", n->narrow = true; n->quant_min = -127; n->quant_max = 127)            \
    X("codes from -127 to 255", n->narrow = true; n->quant_min = -127; n->quant_max = 255)        \
    X("codes from 1 on", n->narrow = true; n->quant_min = 1; n->quant_max = 255)                  \
    X("codes to 254", n->narrow = true; n->quant_min = 0; n->quant_max = 254)                     \
    X("codes of 7 bits", n->narrow = true; n->quant_min = -64; n->quant_max = 63)                 \
    X("codes of 7 bits without sign", n->narrow = true; n->quant_min = 0; n->quant_max = 127)     \
    X("codes of 4 bits", n->narrow = true; n->quant_min = -8; n->quant_max = 7)                   \
    X("x in bfloat16", n->input_dtype = QDQ_BFLOAT16)                                             \
    X("x in float16", n->input_dtype = QDQ_FLOAT16)                                               \
    X("scale in bfloat16", n->scale_dtype = QDQ_BFLOAT16)                                         \
    X("scale in float16", n->scale_dtype = QDQ_FLOAT16)                                           \
    X("steps in bfloat16", n->quantize_step_dtype = QDQ_BFLOAT16)                                 \
    X("steps in float16", n->quantize_step_dtype = QDQ_FLOAT16)                                   \
    X("steps in bfloat16", n->dequantize_step_dtype = QDQ_BFLOAT16)                               \
    X("steps in float16", n->dequantize_step_dtype = QDQ_FLOAT16)                                 \
    X("bfloat16 between the halves", n->requantize_dtype = QDQ_BFLOAT16)                          \
    X("float16 between the halves", n->requantize_dtype = QDQ_FLOAT16)                            \
    X("bfloat16 results as on a chip", n->bfloat16_store = QDQ_BFLOAT16_DEVICE)                   \
    X("bfloat16 results truncated", n->bfloat16_store = QDQ_BFLOAT16_TRUNCATE)                    \
    X("denormals to 0", n->flush_denormals = true)                                                \
    X("float8 overflow", n->float_overflow = QDQ_FLOAT_OVERFLOW)                                  \
    X("float operations of ONNX Runtime", n->float_ops = QDQ_FLOAT_OPS_ONNX_RUNTIME)              \
    X("float operations of ONNX Runtime with AVX-512",                                            \
      n->float_ops = QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512)                                           \
    X("float operations of the core", n->float_ops = QDQ_FLOAT_OPS_CORE)                          \
    X("multiply-add of Wormhole", n->multiply_add = QDQ_MULTIPLY_ADD_WORMHOLE)                    \
    X("multiply-add of Blackhole", n->multiply_add = QDQ_MULTIPLY_ADD_BLACKHOLE)                  \
    X("QLinear ops of SSE", n->qlinear = QDQ_QLINEAR_SSE)                                         \
    X("QLinear ops of Arm", n->qlinear = QDQ_QLINEAR_ARM)                                         \
    X("half away of x * (1 / scale)", n->rounding = QDQ_ROUND_HALF_AWAY;                          \
      n->scaling = QDQ_SCALE_RECIPROCAL)                                                          \
    X("truncation of x * (1 / scale)", n->rounding = QDQ_ROUND_TRUNCATE;                          \
      n->scaling = QDQ_SCALE_RECIPROCAL)                                                          \
    X("half up of x * (1 / scale)", n->rounding = QDQ_ROUND_HALF_UP;                              \
      n->scaling = QDQ_SCALE_RECIPROCAL)                                                          \
    X("zero point before rounding half away", n->rounding = QDQ_ROUND_HALF_AWAY;                  \
      n->zero_point_order = QDQ_ZERO_POINT_BEFORE)                                                \
    X("zero point before rounding half up", n->rounding = QDQ_ROUND_HALF_UP;                      \
      n->zero_point_order = QDQ_ZERO_POINT_BEFORE)                                                \
    X("zero point before truncation", n->rounding = QDQ_ROUND_TRUNCATE;                           \
      n->zero_point_order = QDQ_ZERO_POINT_BEFORE)                                                \
    X("zero point before rounding of x * (1 / scale)",                                            \
      n->zero_point_order = QDQ_ZERO_POINT_BEFORE;                                                \
      n->scaling = QDQ_SCALE_RECIPROCAL)                                                          \
    ALL("all steps in bfloat16", n->input_dtype = n->scale_dtype = n->quantize_step_dtype =       \
                                     n->dequantize_step_dtype = QDQ_BFLOAT16)                     \
    ALL("all steps in float16", n->input_dtype = n->scale_dtype = n->quantize_step_dtype =        \
                                    n->dequantize_step_dtype = QDQ_FLOAT16)                       \
    ALL("all steps in bfloat16, zero point before rounding",                                      \
        n->input_dtype = n->scale_dtype = n->quantize_step_dtype = QDQ_BFLOAT16;                  \
        n->zero_point_order = QDQ_ZERO_POINT_BEFORE)                                              \
    ALL("all steps in float16, zero point before rounding",                                       \
        n->input_dtype = n->scale_dtype = n->quantize_step_dtype = QDQ_FLOAT16;                   \
        n->zero_point_order = QDQ_ZERO_POINT_BEFORE)                                              \
    X("x and scale in bfloat16", n->input_dtype = QDQ_BFLOAT16; n->scale_dtype = QDQ_BFLOAT16)    \
    X("codes from -127 on, half away", n->narrow = true; n->quant_min = -127; n->quant_max = 127; \
      n->rounding = QDQ_ROUND_HALF_AWAY)

#define FIELD(detail, assign) {detail, false},
#define EVERY_STEP(detail, assign) {detail, true},
static const struct {
    const char *name;
    bool all;
} fields[] = {FIELDS(FIELD, EVERY_STEP)};
#undef FIELD
#undef EVERY_STEP
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

// Applies row `index` of FIELDS and returns its text.
static const char *apply(size_t index, qdq_numerics *n) {
    size_t at = 0;
#define APPLY(detail, assign) \
    if (at++ == index) {      \
        assign;               \
    }
    FIELDS(APPLY, APPLY)
#undef APPLY
    return fields[index].name;
}

void numerics_cause(const qdq_numerics *from, const qdq_numerics *to, bool makes_int, char *out,
                    size_t capacity) {
    switch_list list = find_switches(from, to, makes_int);
    reason_list reasons = {0};
    add_switch_reasons(&reasons, &list);
    (void)cause_text(&reasons, (uint32_t)((UINT64_C(1) << reasons.count) - 1), out, capacity);
}

// Returns the number of causes in "tie + reciprocal".
static int causes_in(const char *cause) {
    int count = 1;
    while ((cause = strchr(cause, '+')) != NULL) count++, cause++;
    return count;
}

//---- Roundings of floats ----------------------------------------------------

static const struct rounding_row {
    const char *cause, *detail;
    variant_rounding how;
    bool inputs, outputs;
} roundings[] = {
    {"intermediate precision", "result in bfloat16", ROUND_BFLOAT16, false, true},
    {"intermediate precision", "result truncated to bfloat16", ROUND_BFLOAT16_TRUNCATE, false,
     true},
    {"intermediate precision", "result in float16", ROUND_FLOAT16, false, true},
    {"input precision", "inputs in bfloat16", ROUND_BFLOAT16, true, false},
    {"input precision", "inputs truncated to bfloat16", ROUND_BFLOAT16_TRUNCATE, true, false},
    {"input precision", "inputs in float16", ROUND_FLOAT16, true, false},
    {"input precision", "inputs in tf32", ROUND_TF32, true, false},
    {"intermediate precision", "inputs and result in bfloat16", ROUND_BFLOAT16, true, true},
    {"intermediate precision", "inputs and result in float16", ROUND_FLOAT16, true, true},
    {"denormals", "denormal inputs and results to 0", ROUND_FLUSH, true, true},
};
enum { ROUNDING_COUNT = sizeof roundings / sizeof roundings[0] };

size_t number_format_count(void) { return (size_t)FIELD_COUNT + ROUNDING_COUNT; }

bool number_format(const replay *r, size_t node, size_t index, format_text *text, variant *out) {
    const replay_node *n = &r->nodes[node];
    bool makes_int =
        n->run.output_count && qdq_dtype_get(n->run.outputs[0].info.dtype)->kind == QDQ_KIND_INT;
    *out = (variant){.cause = text->cause, .detail = text->detail, .numerics = n->numerics};
    if (index >= number_format_count()) return false;
    if (index < FIELD_COUNT) {
        snprintf(text->detail, sizeof text->detail, "%s", apply(index, &out->numerics));
        qdq_numerics named = out->numerics;
        if (fields[index].all) {
            named.input_dtype = n->numerics.input_dtype;
            named.scale_dtype = n->numerics.scale_dtype;
        }
        numerics_cause(&n->numerics, &named, makes_int, text->cause, sizeof text->cause);
        out->changes = causes_in(text->cause);
        return true;
    }
    const struct rounding_row *row = &roundings[index - FIELD_COUNT];
    out->kind = VARIANT_ROUNDING;
    out->rounding = row->how;
    out->rounds_inputs = row->inputs;
    out->rounds_outputs = row->outputs;
    snprintf(text->cause, sizeof text->cause, "%s", row->cause);
    snprintf(text->detail, sizeof text->detail, "%s", row->detail);
    return true;
}
