// SPDX-License-Identifier: Apache-2.0
// Reads an ONNX model into a graph: decodes the file, then adds constants, inputs, nodes and
// outputs by the calls that JSON files and C programs end in.
#include "graph/formats/onnx/onnx_read.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/names.h"
#include "graph/formats/onnx/file/onnx_decode.h"
#include "graph/formats/onnx/onnx_free.h"
#include "graph/formats/onnx/onnx_inputs.h"
#include "graph/formats/onnx/onnx_until.h"
#include "graph/formats/onnx/ops/onnx_ops.h"
#include "runtime/base/utf8.h"

//---- Versions and functions -------------------------------------------------

// Keeps the opset of ai.onnx, which decides how a runtime may rewrite the model.
static qdq_status check_opset(const qdq_onnx_import *im) {
    const qdq_onnx_opsets *all = &im->model.opsets;
    for (size_t i = 0; i < all->count; i++) {
        const qdq_onnx_opset *opset = &all->items[i];
        if (*opset->domain && strcmp(opset->domain, "ai.onnx") != 0) continue;
        im->graph->opset = opset->version;
        if (opset->version >= QDQ_ONNX_FIRST && opset->version <= QDQ_ONNX_LAST) return QDQ_OK;
        return qdq_fail(im->err, QDQ_ERR_UNSUPPORTED,
                        "the model has opset %lld, wanted %d to %d; onnx.version_converter can "
                        "convert it",
                        (long long)opset->version, QDQ_ONNX_FIRST, QDQ_ONNX_LAST);
    }
    return QDQ_OK;
}

static qdq_status name_functions(const qdq_onnx_import *im) {
    char key[700];
    for (size_t i = 0; i < im->model.functions.count; i++) {
        const qdq_onnx_function *function = &im->model.functions.items[i];
        qdq_error own = {0};
        int length = snprintf(key, sizeof key, "%.200s\n%.200s\n%.200s", function->domain,
                              function->name, function->overload);
        qdq_status status = qdq_symbols_add(im->functions, key, (size_t)length, (uint32_t)i, &own);
        if (status == QDQ_ERR_ARGUMENT)
            return qdq_fail(im->err, QDQ_ERR_PARSE, "function '%.200s' is given twice",
                            function->name);
        if (status != QDQ_OK) return qdq_fail(im->err, status, "%s", own.text);
    }
    return QDQ_OK;
}

//---- Outputs ----------------------------------------------------------------

static qdq_status add_output(qdq_onnx_scope *scope, const qdq_onnx_info *info) {
    qdq_onnx_import *im = scope->im;
    qdq_findings *f = &im->graph->findings;
    qdq_onnx_value *value = NULL;
    qdq_value ref = {0};
    if (!qdq_onnx_scope_find(scope, info->name, &value) || !value) {
        qdq_report_add(f, "core", &qdq_core_rules[QDQ_RULE_VALUE_UNKNOWN],
                       (qdq_subject){.node = info->name, .kind = "output"}, "is made by no node",
                       NULL, NULL);
    } else if (value->elem == ONNX_UNDEFINED && !value->why_not) {
        if (!f->errors)  // else its maker was refused
            qdq_report_add(f, "core", &qdq_core_rules[QDQ_RULE_VALUE_UNKNOWN],
                           (qdq_subject){.node = info->name, .kind = "output"},
                           "has no value: its node makes fewer", NULL, NULL);
    } else {
        // A node that stands for the output, so that a value that cannot be added is told.
        qdq_onnx_proto proto = {.name = info->name, .op = "output", .domain = "", .overload = ""};
        qdq_onnx_node node = {.im = im, .proto = &proto, .name = info->name};
        if (value->why_not)
            qdq_onnx_refuse(&node, NULL, ONNX_TEXT(&node, "is a value that %s", value->why_not),
                            NULL);
        else
            ref = qdq_onnx_ref(&node, value);
    }
    if (!ref.id) ref = qdq_graph_add_invalid(im->graph, NULL);
    const char *name = qdq_onnx_graph_name(im, info->name);
    size_t before = im->graph->output_count;
    qdq_output(im->graph, name, ref);
    if (name != info->name && im->graph->output_count > before)
        qdq_graph_set_output_original(im->graph, before, info->name);
    return im->err->status;
}

//---- The whole --------------------------------------------------------------

static qdq_status add_all(qdq_onnx_scope *scope) {
    qdq_onnx_import *im = scope->im;
    const qdq_onnx_graph *graph = &im->model.graph;
    QDQ_TRY(name_functions(im));
    QDQ_TRY(qdq_onnx_claim_names(im));
    QDQ_TRY(qdq_onnx_sort_nodes(im));
    if (im->options && im->options->until) QDQ_TRY(qdq_onnx_end_at(im, im->options->until));
    QDQ_TRY(qdq_onnx_add_initializers(scope, graph));
    QDQ_TRY(qdq_onnx_add_inputs(scope));
    QDQ_TRY(qdq_onnx_add_nodes(scope, &graph->nodes));
    for (size_t i = 0; i < graph->outputs.count; i++)
        QDQ_TRY(add_output(scope, &graph->outputs.items[i]));
    return QDQ_OK;
}

static void set_names(const qdq_onnx_import *im) {
    qdq_graph *graph = im->graph;
    const char *name = im->model.graph.name;
    qdq_graph_set_own_target(graph, "onnx");
    if (qdq_utf8_valid(name, strlen(name)) == strlen(name))
        graph->name = qdq_mempool_strdup(&graph->mempool, name);
}

static qdq_status read_model(qdq_onnx_import *im) {
    QDQ_TRY(qdq_onnx_decode(im->source, im->graph->limits.json_values, im->mempool, &im->model,
                            im->err));
    if (!im->model.has_graph) return qdq_fail(im->err, QDQ_ERR_PARSE, "the model has no graph");
    QDQ_TRY(check_opset(im));
    set_names(im);
    qdq_onnx_scope scope = {.im = im, .opsets = &im->model.opsets};
    scope.names = qdq_symbols_create(im->graph->allocator, im->err);
    im->claimed = qdq_symbols_create(im->graph->allocator, im->err);
    im->functions = qdq_symbols_create(im->graph->allocator, im->err);
    qdq_status status = im->err->status;
    if (status == QDQ_OK) status = add_all(&scope);
    qdq_symbols_destroy(im->functions);
    qdq_symbols_destroy(im->claimed);
    qdq_symbols_destroy(scope.names);
    return status;
}

static void close_files(const qdq_onnx_import *im) {
    for (size_t i = 0; i < im->file_count; i++) close(im->files[i]->open.descriptor);
    qdq_symbols_destroy(im->file_names);
}

qdq_status qdq_onnx_read(qdq_graph *graph, const qdq_onnx_bytes *bytes,
                         const qdq_graph_options *options, qdq_error *err) {
    qdq_mempool scratch;
    qdq_mempool_init(&scratch, graph->allocator);
    qdq_onnx_import *im = QDQ_MEMPOOL_NEW(&scratch, qdq_onnx_import);
    qdq_onnx_source *source = QDQ_MEMPOOL_NEW(&scratch, qdq_onnx_source);
    qdq_status status = im && source ? QDQ_OK : qdq_fail_memory(err, sizeof *source);
    if (status == QDQ_OK) {
        source->memory = bytes->memory;
        source->file = bytes->file;
        source->size = bytes->memory ? bytes->length : bytes->file->bytes;
        source->most = graph->limits.file_bytes;
        im->graph = graph, im->mempool = &scratch, im->options = options;
        im->folder = bytes->folder, im->source = source, im->err = err;
        if (!bytes->memory) im->own = (qdq_onnx_file){.name = bytes->path, .open = *bytes->file};
        im->file_names = qdq_symbols_create(graph->allocator, err);
        status = im->file_names ? read_model(im) : err->status;
        if (status == QDQ_OK && options && options->keep_open_dims && !graph->findings.errors)
            status = qdq_onnx_find_free_sizes(im, bytes);
        close_files(im);
    }
    qdq_mempool_release(&scratch);
    return status;
}
