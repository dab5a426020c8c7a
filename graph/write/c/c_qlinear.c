// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul: a loop over y around runtime/numerics/qlinear_one.h.
#include <string.h>

#include "graph/write/c/c_draft.h"
#include "ops/qlinear/qlinear.h"

// "const qdq_qlinear_quant NAME = {...};": the parameters of an operand.
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

void qdq_c_write_qlinear_binary(qdq_c_step *step) {
    qdq_qlinear_shown q = qdq_qlinear_show(&step->stages[0]);
    qdq_qlinear_range range = qdq_qlinear_range_of(q.dtype);
    const char *kind = strcmp(step->node->op->name, "QLinearAdd") == 0 ? "add" : "mul";
    declare_quant(step, "a", &q.a.source);
    declare_quant(step, "b", &q.b.source);
    declare_quant(step, "y", &q.y);
    qdq_c_put(step->body, "    const qdq_qlinear_range range = {%d, %d};\n", (int)range.least,
              (int)range.most);
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
