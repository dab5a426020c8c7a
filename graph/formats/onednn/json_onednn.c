// SPDX-License-Identifier: Apache-2.0
// Reads the ops and tensors of a oneDNN Graph file: kinds, ids, and the op that computes each
// tensor.
#include "graph/formats/onednn/json_onednn.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/json/node_order.h"
#include "runtime/base/utf8.h"

//---- Words of the format ----------------------------------------------------

// Kinds whose op has another name in qdq, and names of ours that are no kinds. All other names
// agree.
static const struct {
    const char *kind, *op;
} kinds[] = {
    {"TypeCast", "Cast"},    {"DynamicDequantize", "Dequantize"},
    {"Cast", NULL},          {"Requantize", NULL},
    {"MatMulInteger", NULL}, {"ConvInteger", NULL},
    {"QLinearMatMul", NULL}, {"QLinearConv", NULL},
};

static const qdq_op *op_of_kind(const char *kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].kind, kind) == 0) return kinds[i].op ? qdq_op_find(kinds[i].op) : NULL;
    return qdq_op_find(kind);
}

static const struct {
    const char *word;
    qdq_dtype dtype;
} dtypes[] = {
    {"f32", QDQ_FLOAT32},
    {"bf16", QDQ_BFLOAT16},
    {"f16", QDQ_FLOAT16},
    {"s32", QDQ_INT32},
    {"s64", QDQ_INT64},
    {"s8", QDQ_INT8},
    {"u8", QDQ_UINT8},
    {"s4", QDQ_INT4},
    {"u4", QDQ_UINT4},
    {"f8_e5m2", QDQ_FLOAT8_E5M2},
    {"f8_e4m3", QDQ_FLOAT8_E4M3FN},
    {"boolean", QDQ_BOOL},
    {"undef", QDQ_DTYPE_NONE},
};

enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

qdq_status qdq_onednn_dtype(const qdq_onednn *file, const qdq_onednn_op *op, const char *what,
                            size_t index, const qdq_json_item *tensor, qdq_dtype *out) {
    const qdq_json_item *json = qdq_json_find(tensor, "dtype");
    const char *word = json ? qdq_json_text(json) : NULL;
    char known[128] = "";
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        if (word && strcmp(dtypes[i].word, word) == 0) {
            *out = dtypes[i].dtype;
            return QDQ_OK;
        }
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, dtypes[i].word, sizeof known - strlen(known) - 1);
    }
    return qdq_onednn_fail(file, op, "has %s%.64s%s as dtype of %s %zu, wanted one of: %s",
                           word ? "'" : "",
                           word   ? word
                           : json ? qdq_json_kind_text(json)
                                  : "nothing",
                           word ? "'" : "", what, index, known);
}

//---- Errors -----------------------------------------------------------------

qdq_status qdq_onednn_fail(const qdq_onednn *file, const qdq_onednn_op *op, const char *format,
                           ...) {
    char text[512], name[128], kind[96];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qdq_fail(file->r->err, QDQ_ERR_PARSE, "op '%.100s' (%.64s, id %" PRIu64 ") %s",
                    qdq_utf8_show(name, sizeof name, op->given, strlen(op->given)),
                    qdq_utf8_show(kind, sizeof kind, op->kind, strlen(op->kind)), op->id, text);
}

//---- Ids --------------------------------------------------------------------

uint32_t qdq_onednn_find(const qdq_symbols *ids, uint64_t id) {
    char key[sizeof id];
    uint32_t number;
    memcpy(key, &id, sizeof id);
    return qdq_symbols_find(ids, key, sizeof key, &number) ? number : QDQ_ONEDNN_NOTHING;
}

static qdq_status add_id(const qdq_onednn *file, qdq_symbols *ids, uint64_t id, size_t number) {
    char key[sizeof id];
    memcpy(key, &id, sizeof id);
    return qdq_symbols_add(ids, key, sizeof key, (uint32_t)number, file->r->err);
}

static qdq_status read_id(const qdq_reader *r, const qdq_item *object, uint64_t *id) {
    qdq_item item;
    QDQ_TRY(qdq_item_member(r, object, "id", true, &item));
    if (qdq_json_uint64(item.json, id)) return QDQ_OK;
    return qdq_item_wrong_kind(r, &item, "a whole number from 0 to 2^64 - 1");
}

//---- Ops and their tensors --------------------------------------------------

static qdq_status read_op(const qdq_reader *r, const qdq_item *at, qdq_onednn_op *op) {
    qdq_item name, inputs, outputs, attrs;
    if (!qdq_json_is_object(at->json)) return qdq_item_wrong_kind(r, at, "an object");
    QDQ_TRY(read_id(r, at, &op->id));
    QDQ_TRY(qdq_item_string(r, at, "kind", &op->kind));
    QDQ_TRY(qdq_item_member(r, at, "name", false, &name));
    QDQ_TRY(qdq_item_array(r, at, "inputs", false, &inputs));
    QDQ_TRY(qdq_item_array(r, at, "outputs", false, &outputs));
    QDQ_TRY(qdq_item_member(r, at, "attrs", false, &attrs));
    op->given = name.json ? qdq_json_text(name.json) : "";
    if (!op->given) return qdq_item_wrong_kind(r, &name, "a string");
    if (attrs.json && !qdq_json_is_object(attrs.json))
        return qdq_item_wrong_kind(r, &attrs, "an object");
    op->is_end = strcmp(op->kind, "End") == 0;
    op->op = op->is_end ? NULL : op_of_kind(op->kind);
    op->inputs = inputs.json, op->outputs = outputs.json, op->attrs = attrs.json;
    op->input_count = op->inputs ? qdq_json_count(op->inputs) : 0;
    op->output_count = op->outputs ? qdq_json_count(op->outputs) : 0;
    return QDQ_OK;
}

static qdq_status read_ops(qdq_onednn *file, const qdq_item *list) {
    const qdq_reader *r = file->r;
    file->ops = qdq_mempool_array(r->mempool, qdq_json_count(list->json), sizeof *file->ops);
    if (!file->ops) return qdq_fail_memory(r->err, sizeof *file->ops);
    QDQ_JSON_EACH(json, list->json) {
        qdq_item at = {.json = json};
        qdq_onednn_op *op = &file->ops[file->op_count];
        snprintf(at.where, sizeof at.where, "graph[%zu]", file->op_count);
        QDQ_TRY(read_op(r, &at, op));
        uint32_t other = qdq_onednn_find(file->op_ids, op->id);
        if (other != QDQ_ONEDNN_NOTHING)
            return qdq_onednn_fail(
                file, op, "has the id of op '%.100s', graph[%u]; give each an id of its own",
                file->ops[other].given, (unsigned)other);
        QDQ_TRY(add_id(file, file->op_ids, op->id, file->op_count));
        file->op_count++;
    }
    return QDQ_OK;
}

// Sets *number to the index of the tensor; the first op that mentions its id adds it.
static qdq_status read_tensor(qdq_onednn *file, size_t op, const char *what, size_t index,
                              const qdq_json_item *json, uint32_t *number) {
    qdq_item at = {.json = json};
    uint64_t id;
    snprintf(at.where, sizeof at.where, "graph[%zu].%s[%zu]", op, what, index);
    if (!qdq_json_is_object(json)) return qdq_item_wrong_kind(file->r, &at, "an object");
    QDQ_TRY(read_id(file->r, &at, &id));
    *number = qdq_onednn_find(file->tensor_ids, id);
    if (*number != QDQ_ONEDNN_NOTHING) return QDQ_OK;
    *number = (uint32_t)file->tensor_count++;
    file->tensors[*number] =
        (qdq_onednn_tensor){.id = id, .maker = QDQ_ONEDNN_NOTHING, .reader = QDQ_ONEDNN_NOTHING};
    return add_id(file, file->tensor_ids, id, *number);
}

static void note_reader(qdq_onednn *file, size_t op, size_t port, const qdq_json_item *json,
                        qdq_onednn_tensor *tensor) {
    if (file->ops[op].is_end)
        tensor->ended = true;
    else
        tensor->used = true;
    if (tensor->reader != QDQ_ONEDNN_NOTHING) return;
    tensor->reader = (uint32_t)op;
    tensor->port = port;
    tensor->json = json;
}

static qdq_status note_maker(const qdq_onednn *file, size_t op, qdq_onednn_tensor *tensor) {
    if (tensor->maker != QDQ_ONEDNN_NOTHING) {
        const qdq_onednn_op *other = &file->ops[tensor->maker];
        return qdq_onednn_fail(file, &file->ops[op],
                               "makes tensor %" PRIu64 ", which op '%.100s' (id %" PRIu64
                               ") makes as well; give each tensor an id of its own",
                               tensor->id, other->given, other->id);
    }
    tensor->maker = (uint32_t)op;
    return QDQ_OK;
}

static qdq_status read_tensors_of(qdq_onednn *file, size_t number, uint32_t *tensors) {
    qdq_onednn_op *op = &file->ops[number];
    size_t i = 0;
    op->tensors = tensors;
    if (op->is_end && op->output_count)
        return qdq_onednn_fail(file, op, "has %zu outputs, wanted none", op->output_count);
    QDQ_JSON_EACH(json, op->inputs) {
        QDQ_TRY(read_tensor(file, number, "inputs", i, json, tensors));
        note_reader(file, number, i++, json, &file->tensors[*tensors++]);
    }
    i = 0;
    QDQ_JSON_EACH(json, op->outputs) {
        QDQ_TRY(read_tensor(file, number, "outputs", i++, json, tensors));
        QDQ_TRY(note_maker(file, number, &file->tensors[*tensors++]));
    }
    return QDQ_OK;
}

static qdq_status read_tensors(qdq_onednn *file) {
    const qdq_reader *r = file->r;
    size_t most = 0;
    for (size_t i = 0; i < file->op_count; i++)
        most += file->ops[i].input_count + file->ops[i].output_count;
    uint32_t *tensors = qdq_mempool_array(r->mempool, most, sizeof *tensors);
    file->tensors = qdq_mempool_array(r->mempool, most, sizeof *file->tensors);
    if (!tensors || !file->tensors) return qdq_fail_memory(r->err, most * sizeof *file->tensors);
    for (size_t i = 0; i < file->op_count; i++) {
        QDQ_TRY(read_tensors_of(file, i, tensors));
        tensors += file->ops[i].input_count + file->ops[i].output_count;
    }
    return QDQ_OK;
}

//---- Order ------------------------------------------------------------------

static void found_cycle(void *self, const uint32_t *members, size_t count) {
    enum { SHOWN = 6 };
    const qdq_onednn *file = self;
    char path[400] = "", name[48];
    for (size_t i = 0; i <= count && i < SHOWN; i++) {
        const char *given = file->ops[members[i % count]].given;
        qdq_utf8_show(name, sizeof name, given, strlen(given) < 40 ? strlen(given) : 40);
        snprintf(path + strlen(path), sizeof path - strlen(path), "%s'%s'", i ? " <- " : "", name);
    }
    qdq_onednn_fail(file, &file->ops[members[0]],
                    "needs its own result: %s%s; remove one of these edges", path,
                    count >= SHOWN ? " <- ..." : "");
}

static qdq_status sort_ops(qdq_onednn *file, uint32_t **order) {
    const qdq_reader *r = file->r;
    size_t capacity = 0, edges = 0;
    for (size_t i = 0; i < file->op_count; i++) capacity += file->ops[i].input_count;
    size_t *start = qdq_mempool_array(r->mempool, file->op_count + 1, sizeof *start);
    uint32_t *needs = qdq_mempool_array(r->mempool, capacity, sizeof *needs);
    *order = qdq_mempool_array(r->mempool, file->op_count, sizeof **order);
    if (!start || !needs || !*order) return qdq_fail_memory(r->err, capacity * sizeof *needs);
    for (size_t i = 0; i < file->op_count; i++) {
        for (size_t k = 0; k < file->ops[i].input_count; k++) {
            uint32_t maker = file->tensors[file->ops[i].tensors[k]].maker;
            if (maker != QDQ_ONEDNN_NOTHING) needs[edges++] = maker;
        }
        start[i + 1] = edges;
    }
    qdq_needs all = {file->op_count, start, needs};
    if (!qdq_node_order(&all, *order, r->mempool, found_cycle, file))
        return qdq_fail_memory(r->err, file->op_count);
    return r->err->status;
}

//---- The whole --------------------------------------------------------------

bool qdq_json_is_onednn(const qdq_json_item *json) {
    const qdq_json_item *graph = qdq_json_find(json, "graph");
    return graph && qdq_json_is_array(graph) && !qdq_json_find(json, "format");
}

static qdq_status read_file(qdq_onednn *file, const qdq_item *top) {
    qdq_item list;
    uint32_t *order;
    QDQ_TRY(qdq_item_array(file->r, top, "graph", true, &list));
    QDQ_TRY(read_ops(file, &list));
    QDQ_TRY(read_tensors(file));
    QDQ_TRY(sort_ops(file, &order));
    QDQ_TRY(qdq_onednn_name_ops(file));
    return qdq_onednn_add(file, order);
}

qdq_status qdq_json_read_onednn(const qdq_reader *r, const qdq_item *top) {
    qdq_onednn file = {.r = r};
    qdq_graph_set_own_target(r->graph, "onednn");
    file.op_ids = qdq_symbols_create(r->graph->allocator, r->err);
    file.tensor_ids = qdq_symbols_create(r->graph->allocator, r->err);
    file.names = qdq_symbols_create(r->graph->allocator, r->err);
    qdq_status status = r->err->status;
    if (status == QDQ_OK) status = read_file(&file, top);
    qdq_symbols_destroy(file.names);
    qdq_symbols_destroy(file.tensor_ids);
    qdq_symbols_destroy(file.op_ids);
    return status;
}
