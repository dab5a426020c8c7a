// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: a loop over y around one_<function> or i32_<function>, as
// ops/elementwise/elements_run.c has it.
#include "graph/formats/c/c_draft.h"
#include "ops/elementwise/elementwise.h"

// A row of the table of functions.
typedef struct function_row {
    const char *name;
    bool has_numbers;
    int operands;
} function_row;

enum { OPERANDS_a = 1, OPERANDS_a_numbers = -1, OPERANDS_a_b = 2, OPERANDS_a_b_c = 3 };
#define FUNCTION(name, operands, registers) \
    {#name, OPERANDS_##operands < 0, OPERANDS_##operands < 0 ? 1 : OPERANDS_##operands},
static const function_row functions[] = {QDQ_ELEMENTWISE_LIST(FUNCTION)};

// Writes the place of an operand for element i of y.
static void put_place(qdq_c_step *step, const qdq_elements_shown *e, const qdq_shown_operand *o) {
    if (o->param) {
        qdq_c_put_block(step->body, o->param->grid);
    } else if (o->strides) {
        size_t sizes[QDQ_MAX_RANK];
        for (int i = 0; i < e->shape.rank; i++) sizes[i] = (size_t)e->shape.dims[i];
        qdq_c_put_strided(step->body, "i", e->shape.rank, sizes, o->strides);
    } else {
        qdq_c_put(step->body, "i");
    }
}

static void put_operand(qdq_c_step *step, const qdq_elements_shown *e, size_t which) {
    static const char *const names[] = {"a", "b", "c"};
    const qdq_shown_operand *o = &e->operands[which];
    bool as_float = e->registers == QDQ_REGISTERS_F32 && which < 2;
    bool casts = as_float && !qdq_dtype_is_real(o->dtype);
    const char *type = which == 2 ? "uint32_t" : as_float ? "float" : "int32_t";
    qdq_c_put(step->body, "        const %s %s = %s%sload_%s(x%zu, ", type, names[which],
              casts ? "(float)" : "", which == 2 ? "(uint32_t)" : "", qdq_dtype_name(o->dtype),
              o->port);
    put_place(step, e, o);
    qdq_c_put(step->body, ");\n");
}

// Writes the call, and the statement that stores its result.
static void put_result(qdq_c_step *step, const qdq_elements_shown *e) {
    const function_row *f = &functions[e->function];
    qdq_c_text *text = step->body;
    bool floats = e->registers == QDQ_REGISTERS_F32, real = qdq_dtype_is_real(e->y_dtype);
    const char *arguments = f->has_numbers     ? "a, &numbers"
                            : f->operands == 1 ? "a"
                            : f->operands == 2 ? "a, b"
                                               : "a, b, c";
    qdq_c_put(text, "        const %s v = ", floats ? "float" : "int32_t");
    if (e->rest != e->function)
        qdq_c_put(text, "i >= %zu ? quiet(one_%s(%s)) : ", e->body, functions[e->rest].name,
                  arguments);
    if (floats && f->operands < 3)
        qdq_c_put(text, "quiet(one_%s(%s));\n        ", f->name, arguments);
    else
        qdq_c_put(text, "%s_%s(%s);\n        ", floats ? "one" : "i32", f->name, arguments);
    if (real)
        qdq_c_put_store(text, e->y_dtype, "y0", "i", "v", NULL);
    else
        qdq_c_put(text, "store_%s(y0, i, %s);\n", qdq_dtype_name(e->y_dtype),
                  floats ? "clamped(rint((double)v))" : "v");
}

void qdq_c_write_elements(qdq_c_step *step) {
    qdq_elements_shown e = qdq_elements_show(&step->stages[0]);
    if (e.on_chip)
        qdq_c_cannot(step, NULL, "computes as a Tenstorrent chip does", "IEEE arithmetic");
    bool fine = qdq_c_makes(step, 0);
    for (size_t i = 0; i < QDQ_SHOWN_OPERANDS; i++)
        if (e.operands[i].given) fine = qdq_c_takes(step, e.operands[i].port) && fine;
    if (!fine || step->refused) return;
    if (functions[e.function].has_numbers) {
        qdq_c_put(step->body, "    const qdq_elementwise_numbers numbers = {");
        qdq_c_put_float(step->body, e.numbers.alpha);
        qdq_c_put(step->body, ", ");
        qdq_c_put_float(step->body, e.numbers.beta);
        qdq_c_put(step->body, "};\n");
    }
    qdq_c_put_each(step, 0);
    for (size_t i = 0; i < QDQ_SHOWN_OPERANDS; i++)
        if (e.operands[i].given) put_operand(step, &e, i);
    put_result(step, &e);
    qdq_c_put(step->body, "    }\n");
}
