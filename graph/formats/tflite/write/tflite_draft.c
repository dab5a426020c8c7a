// SPDX-License-Identifier: Apache-2.0
// Adds operators and tensors to the draft of a model.
#include "graph/formats/tflite/write/tflite_draft.h"

#include <stdio.h>
#include <string.h>

#include "graph/formats/tflite/tflite_import.h"
#include "graph/formats/tflite/write/tflite_units.h"
#include "runtime/numerics/dtype.h"

void qdq_tflite_cannot(qdq_tflite_writer *w, const char *port, const char *found,
                       const char *wanted) {
    if (w->refused) return;
    w->refused = true;
    qdq_report_add(w->draft->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                   (qdq_subject){.node = w->node->name,
                                 .op = w->node->op ? w->node->op->name : NULL,
                                 .port = port},
                   found, wanted, "docs/tflite.md lists what is written");
}

//---- Names ------------------------------------------------------------------

static bool take(const qdq_tflite_draft *draft, const char *name) {
    qdq_error err = {0};
    qdq_status status = qdq_symbols_add(draft->taken, name, strlen(name), 0, &err);
    if (status != QDQ_OK && status != QDQ_ERR_ARGUMENT) draft->mempool->failed = true;
    return status == QDQ_OK;
}

const char *qdq_tflite_take_name(qdq_tflite_draft *draft, const char *wanted) {
    size_t length = strlen(wanted);
    if (draft->mempool->failed || take(draft, wanted)) return wanted;
    char *name = qdq_mempool_array(draft->mempool, length + 24, 1);
    do {  // no number is tried twice
        if (name) snprintf(name, length + 24, "%s~%u", wanted, ++draft->renamed);
    } while (name && !take(draft, name) && !draft->mempool->failed);
    return name ? name : wanted;
}

const char *qdq_tflite_helper_name(qdq_tflite_writer *w, const char *helper) {
    size_t bytes = strlen(w->node->name) + strlen(helper) + 2;
    char *name = qdq_mempool_array(w->draft->mempool, bytes, 1);
    if (!name) return helper;
    snprintf(name, bytes, "%s/%s", w->node->name, helper);
    return name;
}

static const char *name_of(const qdq_tflite_draft *draft, uint32_t value) {
    const qdq_graph_value *v = &draft->graph->values[value];
    return v->original && *v->original ? v->original : v->name;
}

bool qdq_tflite_params_equal(const qdq_tflite_params *a, const qdq_tflite_params *b) {
    return a->count == b->count && a->axis == b->axis &&
           memcmp(a->scales, b->scales, a->count * sizeof *a->scales) == 0 &&
           memcmp(a->zps, b->zps, a->count * sizeof *a->zps) == 0;
}

//---- Tensors ----------------------------------------------------------------

int qdq_tflite_type_of(qdq_dtype dtype) {
    enum { TYPES = 24 };
    for (int i = 0; i < TYPES; i++)
        if (dtype != QDQ_DTYPE_NONE && qdq_tflite_dtype(i) == dtype) return i;
    return -1;
}

// True if the format has the dtype and counts the dims; else refuses the node.
static bool check_type(qdq_tflite_writer *w, const char *name, qdq_type type) {
    bool fits = qdq_tflite_type_of(type.dtype) >= 0;
    if (!fits)
        qdq_tflite_cannot(
            w, NULL, TFLITE_FOUND(w, "has '%.128s', which is %s", name, qdq_dtype_name(type.dtype)),
            "a dtype of TensorFlow Lite");
    for (int i = 0; fits && i < type.shape.rank; i++)
        if (type.shape.dims[i] > INT32_MAX) {
            qdq_tflite_cannot(w, NULL,
                              TFLITE_FOUND(w, "has '%.128s', which is %s", name,
                                           qdq_shape_text(w->draft->findings, type.shape)),
                              "dims below 2^31");
            return false;
        }
    return fits;
}

static qdq_tflite_new_tensor *add_tensor(qdq_tflite_writer *w, const char *name, qdq_type type,
                                         const qdq_tflite_params *params) {
    qdq_tflite_draft *draft = w->draft;
    qdq_tflite_new_tensor *made = QDQ_MEMPOOL_NEW(draft->mempool, qdq_tflite_new_tensor);
    if (!made) return &draft->spare_tensor;
    made->name = name, made->type = type;
    made->index = (int32_t)draft->to->tensors.count;
    if (params) made->params = *params;
    TFLITE_APPEND(draft, draft->to->tensors, qdq_tflite_new_tensor *, made);
    return made;
}

static bool same_params(const qdq_tflite_params *a, const qdq_tflite_params *b) {
    size_t count = a ? a->count : 0;
    if (count != (b ? b->count : 0)) return false;
    return !count || qdq_tflite_params_equal(a, b);
}

static bool same_turn(const qdq_tflite_turn *a, const qdq_tflite_turn *b) {
    static const qdq_tflite_turn none;
    if (!b) b = &none;
    return a->given == b->given && (!a->given || memcmp(a->order, b->order, sizeof a->order) == 0);
}

static qdq_shape turned(qdq_shape shape, const qdq_tflite_turn *turn) {
    qdq_shape out = shape;
    for (int i = 0; turn && turn->given && i < shape.rank; i++)
        out.dims[i] = shape.dims[turn->order[i]];
    return out;
}

int32_t qdq_tflite_tensor_of(qdq_tflite_writer *w, uint32_t value, const qdq_tflite_params *params,
                             const qdq_tflite_turn *turn) {
    qdq_tflite_draft *draft = w->draft;
    const qdq_graph_value *v = &draft->graph->values[value];
    bool constant = v->kind == QDQ_VALUE_CONSTANT, known = false;
    if (!value) return TFLITE_NO_TENSOR;
    if (!constant) params = draft->params[value];
    for (qdq_tflite_new_tensor *t = draft->made[value]; t; t = t->next) {
        if (!constant || (same_params(&t->params, params) && same_turn(&t->turn, turn)))
            return t->index;
        known = true;
    }
    const char *name = draft->names[value];
    if (!name || known) name = qdq_tflite_take_name(draft, name_of(draft, value));
    qdq_type type = {v->type.dtype, turned(v->type.shape, turn)};
    if (!check_type(w, name, type)) return TFLITE_NO_TENSOR;
    qdq_tflite_new_tensor *made = add_tensor(w, name, type, params);
    if (constant) made->value = v;
    if (turn) made->turn = *turn;
    made->next = draft->made[value];
    draft->made[value] = made;
    return made->index;
}

int32_t qdq_tflite_new(qdq_tflite_writer *w, const char *helper, qdq_type type,
                       const qdq_tflite_params *params) {
    const char *name = qdq_tflite_take_name(w->draft, qdq_tflite_helper_name(w, helper));
    return check_type(w, name, type) ? add_tensor(w, name, type, params)->index : TFLITE_NO_TENSOR;
}

int32_t qdq_tflite_new_handle(qdq_tflite_writer *w, const char *name) {
    qdq_tflite_new_tensor *made = add_tensor(w, name, (qdq_type){0}, NULL);
    made->resource = true;
    return made->index;
}

int32_t qdq_tflite_new_constant(qdq_tflite_writer *w, const char *helper, qdq_type type,
                                const void *data, const qdq_tflite_params *params) {
    const char *name = qdq_tflite_take_name(w->draft, qdq_tflite_helper_name(w, helper));
    if (!check_type(w, name, type)) return TFLITE_NO_TENSOR;
    qdq_tflite_new_tensor *made = add_tensor(w, name, type, params);
    made->data = data;
    return made->index;
}

int32_t qdq_tflite_new_ints(qdq_tflite_writer *w, const char *helper, const int64_t *numbers,
                            size_t count, size_t columns) {
    int32_t *data = qdq_mempool_array(w->draft->mempool, count, sizeof *data);
    qdq_shape shape = {1, {(int64_t)count}};
    if (columns) shape = (qdq_shape){2, {(int64_t)(count / columns), (int64_t)columns}};
    for (size_t i = 0; data && i < count; i++) data[i] = (int32_t)numbers[i];
    return qdq_tflite_new_constant(w, helper, (qdq_type){QDQ_INT32, shape}, data, NULL);
}

int32_t qdq_tflite_new_int(qdq_tflite_writer *w, const char *helper, int64_t number) {
    int32_t *data = qdq_mempool_array(w->draft->mempool, 1, sizeof *data);
    if (data) *data = (int32_t)number;
    return qdq_tflite_new_constant(w, helper, (qdq_type){QDQ_INT32, {0}}, data, NULL);
}

//---- Operators --------------------------------------------------------------

qdq_tflite_operator *qdq_tflite_emit(qdq_tflite_writer *w, qdq_tflite_code code, int kind) {
    qdq_tflite_draft *draft = w->draft;
    qdq_tflite_operator *op = QDQ_MEMPOOL_NEW(draft->mempool, qdq_tflite_operator);
    if (!op) op = &draft->spare;
    op->code = code, op->kind = kind;
    TFLITE_APPEND(draft, draft->to->operators, qdq_tflite_operator *, op);
    return op;
}

// Appends a tensor to a list that keeps no capacity: operators have few.
static void add_index(qdq_tflite_writer *w, int32_t **list, size_t *count, int32_t tensor) {
    int32_t *longer = qdq_mempool_array(w->draft->mempool, *count + 1, sizeof *longer);
    if (!longer) return;
    if (*count) memcpy(longer, *list, *count * sizeof *longer);
    longer[(*count)++] = tensor;
    *list = longer;
}

void qdq_tflite_add_input(qdq_tflite_writer *w, qdq_tflite_operator *op, int32_t tensor) {
    add_index(w, &op->inputs, &op->input_count, tensor);
}

void qdq_tflite_add_output(qdq_tflite_writer *w, qdq_tflite_operator *op, int32_t tensor) {
    add_index(w, &op->outputs, &op->output_count, tensor);
}

static void add_option(qdq_tflite_operator *op, unsigned slot, char kind, double number) {
    if (op->option_count < TFLITE_MOST_OPTIONS)
        op->options[op->option_count++] = (qdq_tflite_option){slot, kind, number};
}

void qdq_tflite_option_byte(qdq_tflite_operator *op, unsigned slot, int number) {
    add_option(op, slot, 'b', number);
}

void qdq_tflite_option_int(qdq_tflite_operator *op, unsigned slot, int64_t number) {
    add_option(op, slot, 'i', (double)number);
}

void qdq_tflite_option_float(qdq_tflite_operator *op, unsigned slot, double number) {
    add_option(op, slot, 'f', number);
}

void qdq_tflite_option_list(qdq_tflite_writer *w, qdq_tflite_operator *op, unsigned slot,
                            const int64_t *numbers, size_t count) {
    int32_t *list = qdq_mempool_array(w->draft->mempool, count, sizeof *list);
    if (!list) return;
    for (size_t i = 0; i < count; i++) list[i] = (int32_t)numbers[i];
    op->list = list, op->list_count = count;
    add_option(op, slot, 'l', 0);
}

void qdq_tflite_option_text(qdq_tflite_operator *op, unsigned slot, const char *text) {
    op->text = text;
    add_option(op, slot, 't', 0);
}
