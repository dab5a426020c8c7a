// SPDX-License-Identifier: Apache-2.0
// Pieces of text that several writers need.
#include "graph/formats/c/c_draft.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/base/number.h"
#include "runtime/numerics/dtype.h"

void qdq_c_put(qdq_c_text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    size_t wanted = text->length + (length > 0 ? (size_t)length : 0) + 1;
    char *data =
        qdq_mempool_reserve(text->mempool, text->data, text->length, wanted, &text->capacity, 1);
    if (data) {
        text->data = data;
        vsnprintf(data + text->length, wanted - text->length, format, again);
        text->length = wanted - 1;
    }
    va_end(again);
    va_end(args);
}

void qdq_c_cannot(qdq_c_step *step, const char *port, const char *found, const char *wanted) {
    step->refused = true;
    qdq_report_add(
        step->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
        (qdq_subject){.node = step->node->name, .op = step->node->op->name, .port = port}, found,
        wanted, "docs/firmware.md lists what is written");
}

//---- Numbers ----------------------------------------------------------------

// Writes the fewest digits that read back exactly, with a point.
static void put_number(qdq_c_text *text, double value, bool is_float32) {
    char room[QDQ_NUMBER_BYTES];
    const char *number = qdq_number_text(room, value, is_float32);
    qdq_c_put(text, "%s%s", number, strpbrk(number, ".e") ? "" : ".0");
}

void qdq_c_put_float(qdq_c_text *text, float value) {
    if (!isfinite(value)) {
        qdq_c_put(text, "qdq_float_from_bits(0x%08" PRIX32 "u)", qdq_float_bits(value));
        return;
    }
    put_number(text, (double)value, true);
    qdq_c_put(text, "f");
}

void qdq_c_put_double(qdq_c_text *text, double value) { put_number(text, value, false); }

void qdq_c_put_int(qdq_c_text *text, int32_t value) {
    if (value == INT32_MIN)
        qdq_c_put(text, "INT32_MIN");
    else
        qdq_c_put(text, "%" PRId32, value);
}

//---- Places -----------------------------------------------------------------

// Writes the index of a dim, "i / inner % size". The first dim needs no remainder.
static void put_index(qdq_c_text *text, const char *index, size_t inner, size_t size, bool first) {
    qdq_c_put(text, "%s", index);
    if (inner > 1) qdq_c_put(text, " / %zu", inner);
    if (!first) qdq_c_put(text, " %% %zu", size);
}

void qdq_c_put_strided(qdq_c_text *text, const char *index, int rank, const size_t *sizes,
                       const size_t *strides) {
    size_t inner[QDQ_MAX_RANK * 2], all = 1;
    bool any = false;
    for (int d = rank - 1; d >= 0; d--) inner[d] = all, all *= sizes[d];
    for (int d = 0; d < rank; d++) {
        if (sizes[d] == 1 || !strides[d]) continue;
        if (any) qdq_c_put(text, " + ");
        put_index(text, index, inner[d], sizes[d], inner[d] * sizes[d] == all);
        if (strides[d] > 1) qdq_c_put(text, " * %zu", strides[d]);
        any = true;
    }
    if (!any) qdq_c_put(text, "0");
}

void qdq_c_put_block(qdq_c_text *text, const qdq_grid *grid) {
    size_t inner[QDQ_MAX_RANK], stride[QDQ_MAX_RANK], all = 1, blocks = 1;
    bool any = false;
    for (int d = grid->rank - 1; d >= 0; d--) {
        inner[d] = all, stride[d] = blocks;
        all *= grid->dims[d], blocks *= grid->blocks[d];
    }
    for (int d = 0; d < grid->rank; d++) {
        if (grid->blocks[d] == 1) continue;
        if (any) qdq_c_put(text, " + ");
        put_index(text, "i", inner[d], grid->dims[d], inner[d] * grid->dims[d] == all);
        if (grid->extent[d] > 1) qdq_c_put(text, " / %zu", grid->extent[d]);
        if (stride[d] > 1) qdq_c_put(text, " * %zu", stride[d]);
        any = true;
    }
    if (!any) qdq_c_put(text, "0");
}

void qdq_c_put_each(qdq_c_step *step, size_t output) {
    qdq_c_put(step->body, "    for (size_t i = 0; i < %zu; i++) {\n",
              qdq_shape_count(step->ctx->outputs[output].shape));
}

//---- Parameters -------------------------------------------------------------

void qdq_c_declare_param(qdq_c_step *step, const qdq_stage_param *p, const char *name) {
    if (p->origin == QDQ_FROM_INPUT) qdq_c_takes(step, p->port);
    if (p->origin != QDQ_FROM_NUMBERS || p->count == 1) return;
    qdq_c_put(step->body, "    static const uint32_t %s[] = {", name);
    for (size_t i = 0; i < p->count; i++)
        qdq_c_put(step->body, "%s0x%08" PRIX32 ",", i % 6 ? " " : "\n        ", p->values[i]);
    qdq_c_put(step->body, "\n    };\n");
}

void qdq_c_put_param(qdq_c_step *step, const qdq_stage_param *p, const char *name) {
    qdq_c_text *text = step->body;
    if (p->origin == QDQ_FROM_NUMBERS && p->count == 1) {
        if (p->is_int)
            qdq_c_put_int(text, (int32_t)p->values[0]);
        else
            qdq_c_put_float(text, qdq_float_from_bits(p->values[0]));
        return;
    }
    if (p->origin == QDQ_FROM_NUMBERS) {
        qdq_c_put(text, "load_%s(%s, ", p->is_int ? "int32" : "float32", name);
    } else {
        bool input = p->origin == QDQ_FROM_INPUT;
        qdq_dtype dtype =
            input ? step->ctx->inputs[p->port].type.dtype : step->ctx->outputs[p->port].dtype;
        qdq_c_put(text, "load_%s(%s%zu, ", qdq_dtype_name(dtype), input ? "x" : "y", p->port);
    }
    if (p->count > 1)
        qdq_c_put_block(text, p->grid);
    else
        qdq_c_put(text, "0");
    qdq_c_put(text, ")");
}

// Most fields are integers.
static void put_field(qdq_c_text *text, double value) {
    if (value == rint(value))
        qdq_c_put(text, "%" PRId32, (int32_t)value);
    else
        put_number(text, value, true);
}

void qdq_c_declare_numerics(qdq_c_text *text, const qdq_numerics *n) {
    bool any = false;
    qdq_c_put(text, "    static const qdq_numerics n = {");
#define PUT_FIELD(field, cause)                               \
    if ((double)n->field != 0) {                              \
        qdq_c_put(text, "%s.%s = ", any ? ", " : "", #field); \
        put_field(text, (double)n->field);                    \
        any = true;                                           \
    }
    QDQ_NUMERICS_FIELDS(PUT_FIELD)
#undef PUT_FIELD
    qdq_c_put(text, any ? "};\n" : "0};\n");
}

//---- Elements ---------------------------------------------------------------

static const char *overflow_name(qdq_float_overflow overflow) {
    return overflow == QDQ_FLOAT_SATURATE ? "QDQ_FLOAT_SATURATE" : "QDQ_FLOAT_OVERFLOW";
}

void qdq_c_put_store(qdq_c_text *text, qdq_dtype dtype, const char *y, const char *index,
                     const char *value, const qdq_numerics *numerics) {
    static const qdq_numerics zero;
    const qdq_numerics *n = numerics ? numerics : &zero;
    const char *name = qdq_dtype_name(dtype);
    bool small = qdq_dtype_get(dtype)->kind == QDQ_KIND_SMALL_FLOAT;
    if (small && n->float_overflow == QDQ_FLOAT_THROUGH_FLOAT16)
        qdq_c_put(text, "store_%s(%s, %s, qdq_round_to_dtype(QDQ_FLOAT16, %s, 0), %s);\n", name, y,
                  index, value, overflow_name(n->float_overflow));
    else if (small)
        qdq_c_put(text, "store_%s(%s, %s, %s, %s);\n", name, y, index, value,
                  overflow_name(n->float_overflow));
    else if (dtype == QDQ_BFLOAT16 && n->bfloat16_store)
        qdq_c_put(text, "store_bfloat16_by(%s, %s, %s, (qdq_bfloat16_store)%d);\n", y, index, value,
                  (int)n->bfloat16_store);
    else
        qdq_c_put(text, "store_%s(%s, %s, %s);\n", name, y, index, value);
}

bool qdq_c_loads(qdq_dtype dtype) {
    qdq_dtype_kind kind = qdq_dtype_get(dtype)->kind;
    return kind == QDQ_KIND_FLOAT || kind == QDQ_KIND_SMALL_FLOAT || kind == QDQ_KIND_EXPONENT ||
           kind == QDQ_KIND_INT || kind == QDQ_KIND_BOOL;
}

static bool check_dtype(qdq_c_step *step, qdq_dtype dtype, const char *port) {
    if (qdq_c_loads(dtype)) return true;
    qdq_c_cannot(step, port, qdq_text(step->findings, "is %s", qdq_dtype_name(dtype)),
                 "a dtype of at most 32 bits that is no block float");
    return false;
}

bool qdq_c_takes(qdq_c_step *step, size_t input) {
    return check_dtype(step, step->ctx->inputs[input].type.dtype,
                       qdq_op_port(step->ctx->op, input)->name);
}

bool qdq_c_makes(qdq_c_step *step, size_t output) {
    return check_dtype(step, step->ctx->outputs[output].dtype, step->ctx->op->outputs[output].name);
}
