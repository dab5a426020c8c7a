// SPDX-License-Identifier: Apache-2.0
// Writes Quantize, Dequantize, Requantize and Cast that are no part of another operator.
#include "graph/formats/tflite/tflite_read.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"
#include "runtime/numerics/dtype.h"

enum { QUANTIZE_OPTIONS = 89, DEQUANTIZE_OPTIONS = 38 };

// Refuses a node whose parameters are no scales and zero points of constant numbers.
static bool check_params(qdq_tflite_writer *w) {
    if (qdq_tflite_params_of(w->draft, w->node, NULL)) return true;
    const qdq_quantize_attrs *a = w->node->attrs;
    if (a->qtype == QDQ_PER_GROUP)
        qdq_tflite_cannot(w, "qtype", "is per_group", "per_tensor or per_channel");
    else if (a->zero_point_domain == QDQ_DOMAIN_FLOAT)
        qdq_tflite_cannot(w, "zero_point_domain", "is float", "int");
    else
        qdq_tflite_cannot(w, NULL, "has parameters that are computed, or codes of floats",
                          "integers with constant scales");
    return false;
}

static bool check_real(qdq_tflite_writer *w, const char *port, uint32_t real) {
    qdq_dtype dtype = qdq_tflite_type_at(w, real)->dtype;
    if (dtype == QDQ_FLOAT32) return true;
    qdq_tflite_cannot(w, port, TFLITE_FOUND(w, "is %s", qdq_dtype_name(dtype)), "float32");
    return false;
}

// Refuses codes of a dtype that no kernel converts, unless the node was read from a model.
static bool check_codes(qdq_tflite_writer *w, const char *port, uint32_t codes, bool wide) {
    qdq_dtype dtype = qdq_tflite_type_at(w, codes)->dtype;
    bool known = dtype == QDQ_INT8 || dtype == QDQ_UINT8 || dtype == QDQ_INT16 ||
                 (wide ? dtype == QDQ_INT32 : dtype == QDQ_INT4);
    if (known || qdq_tflite_mark(w->node)) return true;
    qdq_tflite_cannot(w, port, TFLITE_FOUND(w, "is %s", qdq_dtype_name(dtype)),
                      wide ? "int8, uint8, int16 or int32" : "int4, int8, uint8 or int16");
    return false;
}

static bool refuse_range(qdq_tflite_writer *w) {
    qdq_tflite_cannot(w, "quant_min", "or quant_max narrows the range of codes", "the whole range");
    return false;
}

void qdq_tflite_write_quantize(qdq_tflite_writer *w) {
    if (!check_params(w) || !check_real(w, "x", w->node->inputs[0].id) ||
        !check_codes(w, "y", w->node->outputs[0], false))
        return;
    if (qdq_tflite_is_narrowed(w->draft, w->node))
        (void)refuse_range(w);
    else
        (void)qdq_tflite_emit_unit(w, TFLITE_QUANTIZE, QUANTIZE_OPTIONS, 1);
}

void qdq_tflite_write_dequantize(qdq_tflite_writer *w) {
    if (check_params(w) && check_real(w, "y", w->node->outputs[0]) &&
        check_codes(w, "x", w->node->inputs[0].id, false))
        (void)qdq_tflite_emit_unit(w, TFLITE_DEQUANTIZE, DEQUANTIZE_OPTIONS, 1);
}

void qdq_tflite_write_requantize(qdq_tflite_writer *w) {
    const qdq_requantize_attrs *a = w->node->attrs;
    qdq_tflite_params in, out;
    const qdq_dtype_info *info = qdq_dtype_get(qdq_tflite_type_at(w, w->node->outputs[0])->dtype);
    if (!qdq_dtype_is_whole(qdq_tflite_type_at(w, w->node->inputs[0].id)->dtype))
        qdq_tflite_cannot(w, "x", "is no integer", "codes");
    else if (!qdq_tflite_requantize_params(w->draft, w->node, true, &in) ||
             !qdq_tflite_requantize_params(w->draft, w->node, false, &out))
        qdq_tflite_cannot(w, NULL, "has scales that are computed, or several",
                          "one constant scale on each side");
    else if ((a->quant_min.set != 0 && (double)a->quant_min.value != (double)info->least) ||
             (a->quant_max.set != 0 && (double)a->quant_max.value != (double)info->greatest))
        (void)refuse_range(w);
    else if (check_codes(w, "x", w->node->inputs[0].id, true) &&
             check_codes(w, "y", w->node->outputs[0], true))
        (void)qdq_tflite_emit_unit(w, TFLITE_QUANTIZE, QUANTIZE_OPTIONS, 1);
}

// float16 and bfloat16 become float32 by DEQUANTIZE.
void qdq_tflite_write_cast(qdq_tflite_writer *w) {
    qdq_dtype from = qdq_tflite_type_at(w, w->node->inputs[0].id)->dtype,
              to = qdq_tflite_type_at(w, w->node->outputs[0])->dtype;
    if ((from == QDQ_FLOAT16 || from == QDQ_BFLOAT16) && to == QDQ_FLOAT32)
        (void)qdq_tflite_emit_unit(w, TFLITE_DEQUANTIZE, DEQUANTIZE_OPTIONS, 1);
    else
        qdq_tflite_cannot(
            w, "dtype",
            TFLITE_FOUND(w, "turns %s into %s", qdq_dtype_name(from), qdq_dtype_name(to)),
            "float16 or bfloat16 into float32");
}
