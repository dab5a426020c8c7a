// SPDX-License-Identifier: Apache-2.0
// Writes a graph as an ONNX model: drafts its nodes, then declares its values, then encodes it into
// a file. Everything that ONNX lacks is found before a file is begun.
#include "graph/formats/onnx/write/onnx_write.h"

#include <errno.h>
#include <string.h>

#include "graph/formats/new_file.h"
#include "graph/formats/onnx/file/onnx_encode.h"
#include "graph/formats/onnx/onnx_tensor.h"
#include "graph/formats/onnx/write/onnx_write_free.h"
#include "graph/formats/onnx/write/onnx_writers.h"
#include "graph/memory/given_layout.h"
#include "runtime/numerics/dtype.h"

enum { LEAST_EXTERNAL = 1024, EXTERNAL_ALIGN = 4096 };  // bytes of a tensor in a separate file

//---- Opsets -----------------------------------------------------------------

// Returns the first opset in which ops take a dtype.
static int dtype_since(qdq_dtype dtype) {
    switch (dtype) {
    case QDQ_BFLOAT16: return 22;
    case QDQ_FLOAT8_E4M3FN:
    case QDQ_FLOAT8_E5M2:
    case QDQ_FLOAT8_E4M3FNUZ:
    case QDQ_FLOAT8_E5M2FNUZ: return 19;
    case QDQ_INT4:
    case QDQ_UINT4: return 21;
    case QDQ_FLOAT4_E2M1: return 23;
    case QDQ_FLOAT8_E8M0: return 24;
    case QDQ_INT2:
    case QDQ_UINT2: return 25;
    default: return QDQ_ONNX_LEAST_OPSET;
    }
}

// Requires opset 21 for quantized integers of 16 bits.
static void need_for_codes(qdq_onnx_draft *draft, const qdq_node *node) {
    bool codes = strcmp(node->op->name, "Quantize") == 0 ||
                 strcmp(node->op->name, "Dequantize") == 0 ||
                 strcmp(node->op->name, "Requantize") == 0;
    qdq_dtype x = draft->graph->values[node->inputs[0].id].type.dtype;
    qdq_dtype y = draft->graph->values[node->outputs[0]].type.dtype;
    if (codes && (x == QDQ_INT16 || x == QDQ_UINT16 || y == QDQ_INT16 || y == QDQ_UINT16))
        qdq_onnx_need_opset(draft, 21);
}

//---- Values -----------------------------------------------------------------

static void refuse_value(const qdq_onnx_draft *draft, const qdq_graph_value *v, const char *kind,
                         const char *found, const char *wanted) {
    qdq_report_add(draft->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                   (qdq_subject){.node = v->name, .kind = kind}, found, wanted,
                   "docs/onnx.md lists what is written");
}

// Refuses inputs and constants that ONNX has no form for.
static void check_values(const qdq_onnx_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        bool input = v->kind == QDQ_VALUE_INPUT;
        if (v->kind == QDQ_VALUE_MADE || (!input && !draft->read[i])) continue;
        const char *kind = input ? "input" : "constant";
        if (qdq_onnx_elem_of(v->type.dtype) == ONNX_UNDEFINED)
            refuse_value(draft, v, kind,
                         qdq_text(draft->findings, "is %s", qdq_dtype_name(v->type.dtype)),
                         "a dtype of ONNX");
        if (qdq_graph_given_layout(graph, (uint32_t)i))
            refuse_value(draft, v, kind, "says where it lies on a device", "nothing of a device");
    }
}

static bool declare(qdq_onnx_draft *draft, qdq_onnx_declarations *all, const char *name,
                    qdq_type type) {
    qdq_onnx_declared *items =
        qdq_mempool_grow(draft->mempool, all->items, all->count, &all->capacity, sizeof *items);
    if (!items) return false;
    all->items = items;
    items[all->count++] = (qdq_onnx_declared){.name = name, .type = type};
    qdq_onnx_need_opset(draft, dtype_since(type.dtype));
    return true;
}

static void add_constant(qdq_onnx_draft *draft, size_t id) {
    const qdq_graph_value *v = &draft->graph->values[id];
    qdq_onnx_constant *items =
        qdq_mempool_grow(draft->mempool, draft->constants.items, draft->constants.count,
                         &draft->constants.capacity, sizeof *items);
    if (!items) return;
    draft->constants.items = items;
    items[draft->constants.count++] =
        (qdq_onnx_constant){.name = draft->names[id], .type = v->type, .value = v};
    qdq_onnx_need_opset(draft, dtype_since(v->type.dtype));
}

// Adds an output: its value by the same name, or a copy.
static void add_output(qdq_onnx_draft *draft, const qdq_graph_output *output) {
    uint32_t id = output->value.id;
    const qdq_graph_value *v = &draft->graph->values[id];
    const char *name = output->original ? output->original : output->name;
    draft->read[id] = true;
    bool same = strcmp(draft->names[id], name) == 0;
    for (size_t i = 0; same && i < draft->outputs.count; i++)
        same = strcmp(draft->outputs.items[i].name, name) != 0;
    if (!same) {
        const qdq_node copy = {.name = output->name};
        qdq_onnx_writer w = {.draft = draft, .node = &copy};
        qdq_onnx_new_node *n = qdq_onnx_emit(&w, "Identity", 13, NULL);
        n->name = name;
        qdq_onnx_add_input(&w, n, draft->names[id]);
        name = qdq_onnx_part(&w, n);
        n->name = qdq_onnx_take_node_name(draft, n->name);
    }
    (void)declare(draft, &draft->outputs, name, v->type);
}

static void declare_values(qdq_onnx_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->output_count; i++) add_output(draft, &graph->outputs[i]);
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind == QDQ_VALUE_INPUT)
            (void)declare(draft, &draft->inputs, draft->names[i], v->type);
        else if (v->kind == QDQ_VALUE_CONSTANT && draft->read[i] && !qdq_onnx_repeats(draft, v))
            add_constant(draft, i);
        else if (v->kind == QDQ_VALUE_MADE && !v->returned)
            (void)declare(draft, &draft->others, draft->names[i], v->type);
        else if (v->kind == QDQ_VALUE_MADE)
            qdq_onnx_need_opset(draft, dtype_since(v->type.dtype));
    }
}

//---- The draft --------------------------------------------------------------

// Axes of reductions are attributes before opset 18, but for ReduceSum.
static void place_axes(qdq_onnx_draft *draft) {
    for (size_t i = 0; i < draft->nodes.count; i++) {
        qdq_onnx_new_node *n = draft->nodes.items[i];
        const qdq_node named = {.name = n->name};
        qdq_onnx_writer w = {.draft = draft, .node = &named};
        if (!n->axes.data) continue;
        if (draft->opset >= 18 || strcmp(n->op, "ReduceSum") == 0)
            qdq_onnx_add_input(&w, n, qdq_onnx_new_ints(&w, "axes", n->axes));
        else
            qdq_onnx_add_ints(&w, n, "axes", n->axes);
    }
}

qdq_status qdq_onnx_make_draft(qdq_onnx_draft *draft, qdq_error *err) {
    const qdq_graph *graph = draft->graph;
    draft->opset = QDQ_ONNX_LEAST_OPSET;
    draft->names = qdq_mempool_array(draft->mempool, graph->value_count, sizeof *draft->names);
    draft->read = qdq_mempool_array(draft->mempool, graph->value_count, sizeof *draft->read);
    if (!draft->names || !draft->read || !qdq_onnx_name_values(draft))
        return qdq_fail_memory(err, graph->value_count);
    qdq_onnx_repeat_elements(draft);
    for (size_t i = 0; i < graph->node_count; i++) {
        need_for_codes(draft, &graph->nodes[i]);
        qdq_onnx_write_node(draft, i);
    }
    for (size_t i = 0; i < graph->output_count; i++) draft->read[graph->outputs[i].value.id] = true;
    check_values(draft);
    if (draft->findings->errors == 0) {
        declare_values(draft);
        place_axes(draft);
    }
    return draft->mempool->failed ? qdq_fail_memory(err, graph->value_count) : QDQ_OK;
}

// Returns an empty list of findings about a graph.
static qdq_findings no_findings(const qdq_graph *graph, qdq_mempool *mempool) {
    qdq_findings findings = graph->findings;
    findings.mempool = mempool, findings.items = NULL;
    findings.count = findings.capacity = findings.errors = findings.warnings = 0;
    return findings;
}

// Makes the draft and hands it on; both in separate memory.
static qdq_status with_draft(const qdq_graph *graph, qdq_findings *findings,
                             qdq_status (*use)(qdq_onnx_draft *draft, void *self, qdq_error *err),
                             void *self, qdq_error *err) {
    qdq_mempool mempool;
    qdq_mempool_init(&mempool, graph->allocator);
    qdq_onnx_draft draft = {.graph = graph, .mempool = &mempool, .findings = findings};
    qdq_status status =
        qdq_onnx_open_names(&draft, err) ? qdq_onnx_make_draft(&draft, err) : err->status;
    if (status == QDQ_OK && !findings->errors) status = qdq_onnx_open_draft(&draft, err);
    if (status == QDQ_OK && use) status = use(&draft, self, err);
    qdq_onnx_close_names(&draft);
    qdq_mempool_release(&mempool);
    return status;
}

qdq_status qdq_onnx_write_check(const qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    qdq_error own = {0};
    qdq_status status = with_draft(graph, findings, NULL, NULL, &own);
    return status == QDQ_OK ? QDQ_OK : qdq_fail(err, status, "%s", own.text);
}

typedef struct reasons {
    const char **fixed_by;
    qdq_mempool *mempool;
} reasons;

static qdq_status copy_reasons(qdq_onnx_draft *draft, void *self, qdq_error *err) {
    const reasons *to = self;
    for (size_t i = 0; i < draft->graph->free_size_count; i++) {
        const char *why =
            draft->fixed_by[i] ? draft->fixed_by[i] : draft->graph->free_sizes[i].fixed_by;
        to->fixed_by[i] = why ? qdq_mempool_strdup(to->mempool, why) : NULL;
    }
    return to->mempool->failed ? qdq_fail_memory(err, 1) : QDQ_OK;
}

qdq_status qdq_onnx_fixed_sizes(const qdq_graph *graph, qdq_mempool *mempool, const char **fixed_by,
                                qdq_error *err) {
    qdq_mempool report;
    reasons to = {fixed_by, mempool};
    qdq_mempool_init(&report, graph->allocator);
    qdq_findings findings = no_findings(graph, &report);
    qdq_status status = with_draft(graph, &findings, copy_reasons, &to, err);
    qdq_mempool_release(&report);
    return status;
}

//---- Files ------------------------------------------------------------------

typedef struct files {
    const char *path;
    uint64_t most;
    char data_path[4096];
    qdq_findings *findings;
} files;

static qdq_status fail_to_write(const qdq_onnx_draft *draft, FILE *stream, qdq_error *err) {
    const qdq_graph *graph = draft->graph;
    if (ferror(stream)) return qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    if (graph->failure && graph->failure->status)
        return qdq_fail(err, graph->failure->status, "%s", graph->failure->text);
    return qdq_fail(err, QDQ_ERR_MEMORY, "the model cannot be encoded");
}

static bool to_stream(void *self, const void *bytes, size_t count) {
    return fwrite(bytes, 1, count, self) == count;
}

static bool pad(FILE *stream, uint64_t from, uint64_t to) {
    for (; from < to; from++)
        if (putc(0, stream) == EOF) return false;
    return true;
}

// Writes the elements of large constants, each from an aligned byte on.
static qdq_status write_data(const qdq_onnx_draft *draft, const char *path, qdq_error *err) {
    qdq_new_file file;
    uint64_t at = 0;
    bool fine = true;
    QDQ_TRY(qdq_new_file_open(&file, path, draft->graph->allocator, err));
    for (size_t i = 0; i < draft->constants.count && fine; i++) {
        const qdq_onnx_constant *constant = &draft->constants.items[i];
        if (!constant->location) continue;
        fine = pad(file.stream, at, constant->at) &&
               qdq_onnx_each_part(constant, to_stream, file.stream);
        at = constant->at + constant->bytes;
    }
    qdq_status status = fine ? QDQ_OK : fail_to_write(draft, file.stream, err);
    return qdq_new_file_close(&file, path, status, err);
}

static void place_outside(qdq_onnx_draft *draft, const char *location) {
    uint64_t at = 0;
    for (size_t i = 0; i < draft->constants.count; i++) {
        qdq_onnx_constant *constant = &draft->constants.items[i];
        uint64_t bytes = qdq_onnx_raw_bytes(constant->type);
        if (bytes < LEAST_EXTERNAL) continue;
        at = (at + EXTERNAL_ALIGN - 1) / EXTERNAL_ALIGN * EXTERNAL_ALIGN;
        constant->location = location, constant->at = at, constant->bytes = bytes;
        at += bytes;
    }
}

static qdq_status write_model(qdq_onnx_draft *draft, const char *path, qdq_error *err) {
    qdq_new_file file;
    QDQ_TRY(qdq_new_file_open(&file, path, draft->graph->allocator, err));
    qdq_status status = QDQ_OK;
    if (!qdq_onnx_encode(draft, file.stream)) status = fail_to_write(draft, file.stream, err);
    return qdq_new_file_close(&file, path, status, err);
}

static qdq_status refuse(const qdq_findings *f, qdq_error *err) {
    const char *first = f->count ? f->items[0].message : "ONNX lacks some of its ops";
    if (f->errors == 1) return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "%s", first);
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "%s; and %zu more", first, f->errors - 1);
}

static qdq_status write_files(qdq_onnx_draft *draft, void *self, qdq_error *err) {
    files *to = self;
    if (draft->findings->errors) return refuse(draft->findings, err);
    if (qdq_onnx_encoded_bytes(draft) > to->most) {
        int length = snprintf(to->data_path, sizeof to->data_path, "%s.data", to->path);
        if (length < 0 || (size_t)length >= sizeof to->data_path)
            return qdq_fail(err, QDQ_ERR_ARGUMENT, "the path is too long");
        const char *slash = strrchr(to->data_path, '/');
        place_outside(draft, slash ? slash + 1 : to->data_path);
        if (qdq_onnx_encoded_bytes(draft) > to->most)
            return qdq_fail(err, QDQ_ERR_LIMIT,
                            "the model without its constants has more than "
                            "%llu bytes, which protobuf cannot hold",
                            (unsigned long long)to->most);
        QDQ_TRY(write_data(draft, to->data_path, err));
    }
    return write_model(draft, to->path, err);
}

qdq_status qdq_onnx_write(const qdq_graph *graph, const char *path, uint64_t most, qdq_error *err) {
    qdq_mempool report;
    qdq_mempool_init(&report, graph->allocator);
    qdq_findings findings = no_findings(graph, &report);
    files to = {.path = path, .most = most};
    qdq_error own = {0};
    qdq_status status = with_draft(graph, &findings, write_files, &to, &own);
    if (status != QDQ_OK) {
        if (status != QDQ_ERR_UNSUPPORTED) qdq_error_prefix(&own, path);
        qdq_fail(err, status, "%s", own.text);
    }
    qdq_mempool_release(&report);
    return status;
}
