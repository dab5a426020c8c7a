// SPDX-License-Identifier: Apache-2.0
// Ends a model at an operator, for models whose later operators are refused: a walk from the
// operator to the inputs marks what it needs. Variables that are read keep their assignments,
// wherever these are, so that a frame begins with what the frame before left.
#include "graph/formats/tflite/tflite_until.h"

#include <string.h>

#include "graph/formats/tflite/tflite_nodes.h"
#include "runtime/base/did_you_mean.h"
#include "runtime/base/error.h"

enum { CALL_ONCE = 129, VAR_HANDLE = 142, READ_VARIABLE = 143, ASSIGN_VARIABLE = 144 };

// An operator by its tensors.
typedef struct step {
    qdq_tflite_tensor **inputs, **outputs;
    size_t input_count, output_count;
    int code;
    size_t variable;  // of the handle that it makes or reads; SIZE_MAX: none
    size_t before;    // the assignment of the variable before this one; SIZE_MAX: none
} step;

typedef struct walk {
    qdq_tflite_import *im;
    step *steps;
    size_t count;
    size_t *makers;      // by tensor; SIZE_MAX: none
    size_t *assigned;    // by variable: its last assignment; SIZE_MAX: none
    qdq_symbols *names;  // of variables
    size_t variable_count;
    size_t *stack, waiting;
} walk;

bool qdq_tflite_is_called(const qdq_tflite_tensor *tensor, const char *name) {
    return strcmp(name, tensor->name) == 0 ||
           (tensor->original && strcmp(name, tensor->original) == 0);
}

//---- Reading ----------------------------------------------------------------

// Returns the number of the variable that the options of a VAR_HANDLE name; SIZE_MAX after an
// error.
static size_t variable_of(walk *w, const qdq_flat_table *table) {
    qdq_tflite_import *im = w->im;
    qdq_flat_table options = qdq_flat_table_of(im->flat, table, 4);
    char text[256] = {0};
    qdq_flat_list bytes = qdq_flat_list_of(im->flat, &options, 1, 1);
    size_t count = bytes.count < sizeof text - 1 ? bytes.count : sizeof text - 1;
    uint32_t at = (uint32_t)w->variable_count;
    if (im->err->status || (count && !qdq_flat_bytes(im->flat, bytes.at, text, count)))
        return SIZE_MAX;
    if (qdq_symbols_find(w->names, text, count, &at)) return at;
    if (qdq_symbols_add(w->names, text, count, at, im->err) != QDQ_OK) return SIZE_MAX;
    w->assigned[at] = SIZE_MAX;
    return w->variable_count++;
}

static qdq_status read_step(walk *w, const qdq_flat_table *table, size_t number) {
    qdq_tflite_import *im = w->im;
    step *s = &w->steps[number];
    s->variable = s->before = SIZE_MAX;
    QDQ_TRY(qdq_tflite_read_ports(im, table, 1, &s->inputs, &s->input_count));
    QDQ_TRY(qdq_tflite_read_ports(im, table, 2, &s->outputs, &s->output_count));
    QDQ_TRY(qdq_tflite_read_code(im, table, &s->code));
    for (size_t i = 0; i < s->output_count; i++) {
        if (!s->outputs[i]) continue;
        size_t *maker = &w->makers[s->outputs[i] - im->tensors];
        if (*maker == SIZE_MAX) *maker = number;
    }
    if (s->code == VAR_HANDLE) s->variable = variable_of(w, table);
    if (s->code != READ_VARIABLE && s->code != ASSIGN_VARIABLE) return im->err->status;
    size_t handle =
        s->input_count && s->inputs[0] ? w->makers[s->inputs[0] - im->tensors] : SIZE_MAX;
    if (handle != SIZE_MAX) s->variable = w->steps[handle].variable;
    if (s->code == ASSIGN_VARIABLE && s->variable != SIZE_MAX)
        s->before = w->assigned[s->variable], w->assigned[s->variable] = number;
    return QDQ_OK;
}

static qdq_status read_steps(walk *w, const qdq_flat_table *subgraph) {
    qdq_tflite_import *im = w->im;
    qdq_flat_list list = qdq_flat_list_of(im->flat, subgraph, 3, 4);
    size_t count = w->count = list.count;
    if (im->err->status) return im->err->status;
    w->steps = qdq_mempool_array(im->mempool, count, sizeof *w->steps);
    w->makers = qdq_mempool_array(im->mempool, im->tensor_count, sizeof *w->makers);
    w->assigned = qdq_mempool_array(im->mempool, count, sizeof *w->assigned);
    w->stack = qdq_mempool_array(im->mempool, count, sizeof *w->stack);
    if (!w->steps || !w->makers || !w->assigned || !w->stack)
        return qdq_fail_memory(im->err, count * sizeof *w->steps);
    for (size_t i = 0; i < im->tensor_count; i++) w->makers[i] = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        qdq_flat_table table = qdq_flat_table_at(im->flat, list, i);
        if (!im->err->status) QDQ_TRY(read_step(w, &table, i));
    }
    return im->err->status;
}

//---- Walking ----------------------------------------------------------------

static void need(walk *w, size_t number) {
    bool *needed = w->im->end->ops;
    if (number == SIZE_MAX || needed[number]) return;
    needed[number] = true;
    w->stack[w->waiting++] = number;
}

static void need_all(walk *w) {
    while (w->waiting) {
        const step *s = &w->steps[w->stack[--w->waiting]];
        for (size_t i = 0; i < s->input_count; i++) {
            if (!s->inputs[i]) continue;
            size_t tensor = (size_t)(s->inputs[i] - w->im->tensors);
            w->im->end->tensors[tensor] = true;
            need(w, w->makers[tensor]);
        }
        if (s->code != READ_VARIABLE || s->variable == SIZE_MAX) continue;
        size_t assigns = w->assigned[s->variable];
        w->assigned[s->variable] = SIZE_MAX;
        for (; assigns != SIZE_MAX; assigns = w->steps[assigns].before) need(w, assigns);
    }
}

static bool makes(const step *s, const char *name) {
    for (size_t i = 0; i < s->output_count; i++)
        if (s->outputs[i] && qdq_tflite_is_called(s->outputs[i], name)) return true;
    return false;
}

// Reports that no operator makes the tensor, with the nearest name of one.
static qdq_status refuse_name(const walk *w, const char *name) {
    const qdq_tflite_import *im = w->im;
    const char **names = qdq_mempool_array(im->mempool, im->tensor_count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; names && i < im->tensor_count; i++)
        if (w->makers[i] != SIZE_MAX) names[count++] = im->tensors[i].name;
    const char *nearest = names ? qdq_did_you_mean(name, names, count) : NULL;
    return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                    "the model is to end at '%.200s', which is no result of an operator%s%.200s%s",
                    name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "");
}

static qdq_status end_at(walk *w, const qdq_flat_table *subgraph, const char *name) {
    qdq_tflite_import *im = w->im;
    QDQ_TRY(read_steps(w, subgraph));
    qdq_tflite_end *end = QDQ_MEMPOOL_NEW(im->mempool, qdq_tflite_end);
    if (!end) return qdq_fail_memory(im->err, sizeof *end);
    while (end->last < w->count && !makes(&w->steps[end->last], name)) end->last++;
    if (end->last == w->count) return refuse_name(w, name);
    end->ops = qdq_mempool_array(im->mempool, w->count, 1);
    end->tensors = qdq_mempool_array(im->mempool, im->tensor_count, 1);
    if (!end->ops || !end->tensors) return qdq_fail_memory(im->err, w->count);
    im->end = end;
    need(w, end->last);
    for (size_t i = 0; i < w->count; i++)
        if (w->steps[i].code == CALL_ONCE) need(w, i);
    need_all(w);
    return QDQ_OK;
}

qdq_status qdq_tflite_end_at(qdq_tflite_import *im, const qdq_flat_table *subgraph,
                             const char *name) {
    walk w = {.im = im, .names = qdq_symbols_create(im->graph->allocator, im->err)};
    if (!w.names) return im->err->status;
    qdq_status status = end_at(&w, subgraph, name);
    qdq_symbols_destroy(w.names);
    return status;
}
