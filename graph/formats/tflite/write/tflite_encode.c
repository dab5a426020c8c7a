// SPDX-License-Identifier: Apache-2.0
// Lays out the tables of a model, then writes them and the elements of its constants. Equal graphs
// give equal bytes.
#include "graph/formats/tflite/write/tflite_encode.h"

#include <errno.h>
#include <string.h>

#include "graph/formats/tflite/write/flat_out.h"
#include "runtime/base/error.h"

enum { SCHEMA_VERSION = 3, ALIGN = 16, SUBGRAPHS = 2, MOST_OLD_CODE = 127 };

// A pair of an operator's number and its version.
typedef struct op_code {
    qdq_tflite_code code;
    int version;
} op_code;

// The elements of a constant in the file: from byte `at` on, behind their length.
typedef struct block {
    const qdq_tflite_new_tensor *tensor;
    size_t field;  // that points to it
    uint64_t at, bytes;
} block;

typedef struct encoder {
    const qdq_tflite_draft *draft;
    qdq_flat_out out;
    const qdq_tflite_subgraph *subgraphs[SUBGRAPHS];
    size_t subgraph_count;
    TFLITE_LIST(op_code) codes;
    TFLITE_LIST(block) blocks;  // of buffers from 1 on: buffer 0 is empty
} encoder;

//---- Tensors ----------------------------------------------------------------

static size_t put_shape(qdq_flat_out *out, const qdq_shape *shape) {
    int32_t dims[QDQ_MAX_RANK];
    for (int i = 0; i < shape->rank; i++) dims[i] = (int32_t)shape->dims[i];
    return qdq_flat_put_ints(out, dims, (size_t)shape->rank);
}

static size_t put_params(qdq_flat_out *out, const qdq_tflite_params *params) {
    enum { SCALES = 2, ZPS = 3, AXIS = 6 };
    qdq_flat_fields fields = {0};
    qdq_flat_set_child(&fields, SCALES);
    qdq_flat_set_child(&fields, ZPS);
    if (params->axis) qdq_flat_set_int(&fields, AXIS, params->axis);
    size_t table = qdq_flat_put_table(out, &fields);
    qdq_flat_point(out, table, SCALES, qdq_flat_put_floats(out, params->scales, params->count));
    qdq_flat_point(out, table, ZPS, qdq_flat_put_wide(out, params->zps, params->count));
    return table;
}

// Returns the number of the buffer with the elements of a tensor: 0 if it has none.
static size_t buffer_of(encoder *e, const qdq_tflite_new_tensor *tensor) {
    block made = {.tensor = tensor, .bytes = qdq_tflite_data_bytes(tensor)};
    if (!made.bytes) return 0;
    TFLITE_APPEND(e->draft, e->blocks, block, made);
    return e->blocks.count;
}

static size_t put_tensor(encoder *e, const qdq_tflite_new_tensor *tensor) {
    enum { SHAPE, TYPE, BUFFER, NAME, QUANTIZATION };
    qdq_flat_out *out = &e->out;
    qdq_flat_fields fields = {0};
    int type = tensor->resource ? TFLITE_RESOURCE : qdq_tflite_type_of(tensor->type.dtype);
    size_t buffer = buffer_of(e, tensor);
    qdq_flat_set_child(&fields, SHAPE);
    if (type) qdq_flat_set_byte(&fields, TYPE, type);
    if (buffer) qdq_flat_set_int(&fields, BUFFER, (int64_t)buffer);
    qdq_flat_set_child(&fields, NAME);
    if (tensor->params.count) qdq_flat_set_child(&fields, QUANTIZATION);
    size_t table = qdq_flat_put_table(out, &fields);
    qdq_flat_point(out, table, SHAPE, put_shape(out, &tensor->type.shape));
    qdq_flat_point(out, table, NAME, qdq_flat_put_text(out, tensor->name ? tensor->name : ""));
    if (tensor->params.count)
        qdq_flat_point(out, table, QUANTIZATION, put_params(out, &tensor->params));
    return table;
}

//---- Operators --------------------------------------------------------------

// Returns the number of an operator's code and version, added at its first use.
static size_t code_of(encoder *e, const qdq_tflite_subgraph *subgraph,
                      const qdq_tflite_operator *op) {
    const op_code code = {op->code, qdq_tflite_version_of(subgraph, op)};
    for (size_t i = 0; i < e->codes.count; i++)
        if (e->codes.items[i].code == code.code && e->codes.items[i].version == code.version)
            return i;
    TFLITE_APPEND(e->draft, e->codes, op_code, code);
    return e->codes.count - 1;
}

static size_t put_options(qdq_flat_out *out, const qdq_tflite_operator *op) {
    qdq_flat_fields fields = {0};
    for (size_t i = 0; i < op->option_count; i++) {
        const qdq_tflite_option *o = &op->options[i];
        if (o->kind == 'b') qdq_flat_set_byte(&fields, o->slot, (int)o->number);
        if (o->kind == 'i') qdq_flat_set_int(&fields, o->slot, (int64_t)o->number);
        if (o->kind == 'f') qdq_flat_set_float(&fields, o->slot, (float)o->number);
        if (o->kind == 'l' || o->kind == 't') qdq_flat_set_child(&fields, o->slot);
    }
    size_t table = qdq_flat_put_table(out, &fields);
    for (size_t i = 0; i < op->option_count; i++) {
        const qdq_tflite_option *o = &op->options[i];
        if (o->kind == 'l')
            qdq_flat_point(out, table, o->slot, qdq_flat_put_ints(out, op->list, op->list_count));
        if (o->kind == 't') qdq_flat_point(out, table, o->slot, qdq_flat_put_text(out, op->text));
    }
    return table;
}

static size_t put_operator(encoder *e, const qdq_tflite_subgraph *subgraph,
                           const qdq_tflite_operator *op) {
    enum { CODE, INPUTS, OUTPUTS, KIND, OPTIONS };
    qdq_flat_out *out = &e->out;
    qdq_flat_fields fields = {0};
    size_t code = code_of(e, subgraph, op);
    if (code) qdq_flat_set_int(&fields, CODE, (int64_t)code);
    qdq_flat_set_child(&fields, INPUTS);
    qdq_flat_set_child(&fields, OUTPUTS);
    if (op->kind) qdq_flat_set_byte(&fields, KIND, op->kind);
    if (op->kind) qdq_flat_set_child(&fields, OPTIONS);
    size_t table = qdq_flat_put_table(out, &fields);
    qdq_flat_point(out, table, INPUTS, qdq_flat_put_ints(out, op->inputs, op->input_count));
    qdq_flat_point(out, table, OUTPUTS, qdq_flat_put_ints(out, op->outputs, op->output_count));
    if (op->kind) qdq_flat_point(out, table, OPTIONS, put_options(out, op));
    return table;
}

static size_t put_subgraph(encoder *e, const qdq_tflite_subgraph *subgraph) {
    enum { TENSORS, INPUTS, OUTPUTS, OPERATORS, NAME };
    qdq_flat_out *out = &e->out;
    qdq_flat_fields fields = {0};
    for (unsigned slot = TENSORS; slot <= NAME; slot++) qdq_flat_set_child(&fields, slot);
    size_t table = qdq_flat_put_table(out, &fields);
    size_t tensors = qdq_flat_put_list(out, subgraph->tensors.count);
    qdq_flat_point(out, table, TENSORS, tensors);
    for (size_t i = 0; i < subgraph->tensors.count; i++)
        qdq_flat_point_entry(out, tensors, i, put_tensor(e, subgraph->tensors.items[i]));
    qdq_flat_point(out, table, INPUTS,
                   qdq_flat_put_ints(out, subgraph->inputs.items, subgraph->inputs.count));
    qdq_flat_point(out, table, OUTPUTS,
                   qdq_flat_put_ints(out, subgraph->outputs.items, subgraph->outputs.count));
    size_t operators = qdq_flat_put_list(out, subgraph->operators.count);
    qdq_flat_point(out, table, OPERATORS, operators);
    for (size_t i = 0; i < subgraph->operators.count; i++)
        qdq_flat_point_entry(out, operators, i,
                             put_operator(e, subgraph, subgraph->operators.items[i]));
    qdq_flat_point(out, table, NAME, qdq_flat_put_text(out, subgraph->name));
    return table;
}

//---- The model --------------------------------------------------------------

// Old runtimes know only the first field, which has one byte: 127 stands for codes from 127 on.
static size_t put_code(qdq_flat_out *out, const op_code *code) {
    enum { OLD_CODE, VERSION = 2, CODE };
    qdq_flat_fields fields = {0};
    int number = (int)code->code, old = number < MOST_OLD_CODE ? number : MOST_OLD_CODE;
    if (old) qdq_flat_set_byte(&fields, OLD_CODE, old);
    if (code->version != 1) qdq_flat_set_int(&fields, VERSION, code->version);
    if (number) qdq_flat_set_int(&fields, CODE, number);
    return qdq_flat_put_table(out, &fields);
}

// Returns the names of inputs or outputs in the signature: a list of tables.
static size_t put_names(qdq_flat_out *out, const qdq_tflite_subgraph *main, const int32_t *tensors,
                        const char *const *names, size_t count) {
    enum { NAME, TENSOR };
    size_t list = qdq_flat_put_list(out, count);
    for (size_t i = 0; i < count; i++) {
        const char *name = names ? names[i] : main->tensors.items[tensors[i]]->name;
        qdq_flat_fields fields = {0};
        qdq_flat_set_child(&fields, NAME);
        qdq_flat_set_int(&fields, TENSOR, tensors[i]);
        size_t table = qdq_flat_put_table(out, &fields);
        qdq_flat_point_entry(out, list, i, table);
        qdq_flat_point(out, table, NAME, qdq_flat_put_text(out, name));
    }
    return list;
}

static size_t put_signatures(qdq_flat_out *out, const qdq_tflite_subgraph *main) {
    enum { INPUTS, OUTPUTS, KEY };
    qdq_flat_fields fields = {0};
    for (unsigned slot = INPUTS; slot <= KEY; slot++) qdq_flat_set_child(&fields, slot);
    size_t list = qdq_flat_put_list(out, 1), table = qdq_flat_put_table(out, &fields);
    qdq_flat_point_entry(out, list, 0, table);
    qdq_flat_point(out, table, INPUTS,
                   put_names(out, main, main->inputs.items, NULL, main->inputs.count));
    qdq_flat_point(
        out, table, OUTPUTS,
        put_names(out, main, main->outputs.items, main->output_names.items, main->outputs.count));
    qdq_flat_point(out, table, KEY, qdq_flat_put_text(out, "serving_default"));
    return list;
}

static size_t put_buffers(encoder *e) {
    size_t list = qdq_flat_put_list(&e->out, e->blocks.count + 1);
    qdq_flat_fields none = {0}, fields = {0};
    qdq_flat_set_child(&fields, 0);
    qdq_flat_point_entry(&e->out, list, 0, qdq_flat_put_table(&e->out, &none));
    for (size_t i = 0; i < e->blocks.count; i++) {
        size_t table = qdq_flat_put_table(&e->out, &fields);
        qdq_flat_point_entry(&e->out, list, i + 1, table);
        e->blocks.items[i].field = qdq_flat_place(&e->out, table, 0);
    }
    return list;
}

static void put_model(encoder *e) {
    enum { VERSION, CODES, GRAPHS, DESCRIPTION, BUFFERS, SIGNATURES = 7 };
    qdq_flat_out *out = &e->out;
    qdq_flat_fields fields = {0};
    qdq_flat_put_head(out, "TFL3");
    qdq_flat_set_int(&fields, VERSION, SCHEMA_VERSION);
    for (unsigned slot = CODES; slot <= BUFFERS; slot++) qdq_flat_set_child(&fields, slot);
    qdq_flat_set_child(&fields, SIGNATURES);
    size_t table = qdq_flat_put_table(out, &fields);
    qdq_flat_point_from(out, 0, table);
    size_t graphs = qdq_flat_put_list(out, e->subgraph_count);
    qdq_flat_point(out, table, GRAPHS, graphs);
    for (size_t i = 0; i < e->subgraph_count; i++)
        qdq_flat_point_entry(out, graphs, i, put_subgraph(e, e->subgraphs[i]));
    size_t codes = qdq_flat_put_list(out, e->codes.count);
    qdq_flat_point(out, table, CODES, codes);
    for (size_t i = 0; i < e->codes.count; i++)
        qdq_flat_point_entry(out, codes, i, put_code(out, &e->codes.items[i]));
    qdq_flat_point(out, table, DESCRIPTION, qdq_flat_put_text(out, "written by qdq"));
    qdq_flat_point(out, table, SIGNATURES, put_signatures(out, e->subgraphs[0]));
    qdq_flat_point(out, table, BUFFERS, put_buffers(e));
}

//---- The file ---------------------------------------------------------------

// Places the elements behind the tables.
static qdq_status place_blocks(encoder *e, qdq_error *err) {
    uint64_t at = e->out.count;
    for (size_t i = 0; i < e->blocks.count; i++) {
        block *b = &e->blocks.items[i];
        b->at = (at + 4 + ALIGN - 1) / ALIGN * ALIGN;
        at = b->at + b->bytes;
    }
    if (at > INT32_MAX)
        return qdq_fail(
            err, QDQ_ERR_LIMIT,
            "the model has %llu bytes, wanted less than 2 GiB: its offsets have 32 bits",
            (unsigned long long)at);
    for (size_t i = 0; i < e->blocks.count; i++)
        qdq_flat_point_from(&e->out, e->blocks.items[i].field, (size_t)e->blocks.items[i].at - 4);
    return QDQ_OK;
}

static qdq_status write_blocks(const encoder *e, FILE *stream, qdq_error *err) {
    uint64_t at = e->out.count;
    for (size_t i = 0; i < e->blocks.count; i++) {
        const block *b = &e->blocks.items[i];
        for (; at + 4 < b->at; at++) (void)putc(0, stream);
        for (int k = 0; k < 4; k++) (void)putc((int)(b->bytes >> 8 * k & 0xFF), stream);
        QDQ_TRY(qdq_tflite_write_data(e->draft, b->tensor, stream, err));
        at = b->at + b->bytes;
    }
    if (!ferror(stream)) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
}

qdq_status qdq_tflite_encode(const qdq_tflite_draft *draft, FILE *stream, qdq_error *err) {
    encoder e = {.draft = draft, .out = {.mempool = draft->mempool}};
    e.subgraphs[e.subgraph_count++] = &draft->main;
    if (draft->initial.operators.count) e.subgraphs[e.subgraph_count++] = &draft->initial;
    put_model(&e);
    if (draft->mempool->failed) return qdq_fail_memory(err, e.out.count);
    QDQ_TRY(place_blocks(&e, err));
    if (fwrite(e.out.bytes, 1, e.out.count, stream) != e.out.count)
        return qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    return write_blocks(&e, stream, err);
}
