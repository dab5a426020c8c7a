// SPDX-License-Identifier: Apache-2.0
// Reads a TensorFlow Lite model into a graph: its main subgraph by the calls that JSON files and C
// programs end in.
#include "graph/formats/tflite/tflite_read.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/tflite/tflite_nodes.h"
#include "graph/formats/tflite/tflite_states.h"
#include "graph/formats/tflite/tflite_until.h"
#include "runtime/base/error.h"
#include "runtime/base/utf8.h"

enum { SCHEMA_VERSION = 3 };

//---- Inputs and outputs -----------------------------------------------------

// Sets open dims by the options: the shape of the input's name, or the size of a batch.
static qdq_shape input_shape(const qdq_tflite_import *im, const qdq_tflite_tensor *tensor) {
    const qdq_graph_options *options = im->options;
    qdq_shape shape = tensor->shape;
    if (options && options->batch > 0 && tensor->open & 1u) shape.dims[0] = options->batch;
    for (size_t i = 0; options && i < options->shape_count; i++) {
        const qdq_input_shape *given = &options->shapes[i];
        if (!qdq_tflite_is_called(tensor, given->name) || given->samples) continue;
        if (!given->tentative) return given->shape;
        for (int d = 0; given->shape.rank == shape.rank && d < shape.rank; d++)
            if (tensor->open >> d & 1u) shape.dims[d] = given->shape.dims[d];
    }
    return shape;
}

// Refuses shapes of the options that belong to no input, and sizes of dims, which have no names.
static qdq_status check_options(const qdq_tflite_import *im) {
    const qdq_graph_options *options = im->options;
    for (size_t i = 0; options && i < options->dim_count; i++)
        if (!options->dims[i].tentative)
            return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                            "a size is given for dim '%.200s', and only ONNX models name dims; "
                            "give the shape of an input",
                            options->dims[i].name);
    for (size_t i = 0; options && i < options->shape_count; i++) {
        const qdq_input_shape *given = &options->shapes[i];
        bool found = given->tentative;
        for (size_t k = 0; k < im->tensor_count && !found; k++)
            found = im->tensors[k].made && qdq_tflite_is_called(&im->tensors[k], given->name);
        if (!found)
            return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                            "a shape is given for '%.200s', which is no input of the model",
                            given->name);
    }
    return QDQ_OK;
}

// Returns the tensor at entry i of a list of indices; NULL after an error.
static qdq_tflite_tensor *tensor_at(const qdq_tflite_import *im, qdq_flat_list list, size_t i) {
    int64_t index = qdq_flat_int_at(im->flat, list, i, QDQ_FLAT_I32);
    if (im->err->status) return NULL;
    if (index >= 0 && (uint64_t)index < im->tensor_count) return &im->tensors[index];
    qdq_fail(im->err, QDQ_ERR_PARSE, "an input or output is tensor %lld of %zu", (long long)index,
             im->tensor_count);
    return NULL;
}

static qdq_status add_inputs(qdq_tflite_import *im, const qdq_flat_table *subgraph) {
    qdq_flat_list list = qdq_flat_list_of(im->flat, subgraph, 1, 4);
    qdq_graph *graph = im->graph;
    for (size_t i = 0; i < list.count; i++) {
        qdq_tflite_tensor *tensor = tensor_at(im, list, i);
        if (!tensor) return im->err->status;
        bool left_out = im->end && !im->end->tensors[tensor - im->tensors];
        if (tensor->made || left_out) continue;
        tensor->made = true;
        if (tensor->why_not) {
            qdq_report_add(&graph->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                           (qdq_subject){.node = tensor->name, .kind = "input"}, tensor->why_not,
                           NULL, "docs/tflite.md lists what is read");
            continue;
        }
        qdq_value made = qdq_input(graph, tensor->name, tensor->dtype, input_shape(im, tensor));
        tensor->refs[QDQ_TFLITE_AS_STORED] = made;
        if (made.id && tensor->original) qdq_graph_set_original(graph, made, tensor->original);
    }
    return im->err->status;
}

// Returns a name for an output, which may be listed twice.
static const char *output_name(qdq_tflite_import *im, const char *name) {
    size_t taken;
    if (!qdq_graph_find_output(im->graph, name, &taken)) return name;
    char *other = qdq_graph_legal_name(im->mempool, name);
    size_t length = other ? strlen(other) : 0;
    while (other && qdq_graph_find_output(im->graph, other, &taken))
        snprintf(other + length, 24, "~%u", ++im->renamed);
    return other;
}

// Returns the list of the outputs: of the model, or of the operator at which it ends.
static qdq_flat_list outputs_of(const qdq_tflite_import *im, const qdq_flat_table *subgraph) {
    qdq_flat_table last = *subgraph;
    if (im->end)
        last =
            qdq_flat_table_at(im->flat, qdq_flat_list_of(im->flat, subgraph, 3, 4), im->end->last);
    return qdq_flat_list_of(im->flat, &last, 2, 4);
}

static qdq_status add_outputs(qdq_tflite_import *im, const qdq_flat_table *subgraph) {
    qdq_flat_list list = outputs_of(im, subgraph);
    for (size_t i = 0; i < list.count; i++) {
        qdq_tflite_tensor *tensor = tensor_at(im, list, i);
        if (!tensor) return im->err->status;
        qdq_tflite_node node = {.im = im, .op = "output", .name = tensor->name};
        qdq_tflite_tensor *inputs[] = {tensor};
        node.inputs = inputs, node.input_count = 1;
        if (!tensor->made && !tensor->bytes)
            qdq_report_add(&im->graph->findings, "core", &qdq_core_rules[QDQ_RULE_VALUE_UNKNOWN],
                           (qdq_subject){.node = tensor->name, .kind = "output"},
                           "is made by no operator", NULL, NULL);
        qdq_value ref = {0};
        if (tensor->made || !tensor->why_not) ref = qdq_tflite_ref(&node, 0, QDQ_TFLITE_AS_STORED);
        if (!ref.id) ref = qdq_graph_add_invalid(im->graph, NULL);
        const char *name = output_name(im, tensor->name);
        if (!name) return qdq_fail_memory(im->err, 1);
        size_t before = im->graph->output_count;
        qdq_output(im->graph, name, ref);
        if (tensor->original && im->graph->output_count > before)
            qdq_graph_set_output_original(im->graph, before, tensor->original);
    }
    return im->err->status;
}

//---- The whole --------------------------------------------------------------

static void set_name(qdq_tflite_import *im, const qdq_flat_table *subgraph) {
    qdq_flat_list bytes = qdq_flat_list_of(im->flat, subgraph, 4, 1);
    char text[256] = {0};
    size_t count = bytes.count < sizeof text - 1 ? bytes.count : 0;
    if (!count || !qdq_flat_bytes(im->flat, bytes.at, text, count)) return;
    if (qdq_utf8_valid(text, strlen(text)) == strlen(text))
        im->graph->name = qdq_mempool_strdup(&im->graph->mempool, text);
}

static qdq_status read_model(qdq_tflite_import *im) {
    qdq_flat *flat = im->flat;
    qdq_flat_table model = qdq_flat_root(flat);
    int64_t version = qdq_flat_int(flat, &model, 0, QDQ_FLAT_U32, 0);
    if (!im->err->status && version != SCHEMA_VERSION)
        qdq_fail(im->err, QDQ_ERR_UNSUPPORTED, "the model has schema version %lld, wanted %d",
                 (long long)version, SCHEMA_VERSION);
    im->codes = qdq_flat_list_of(flat, &model, 1, 4);
    im->subgraphs = qdq_flat_list_of(flat, &model, 2, 4);
    im->buffers = qdq_flat_list_of(flat, &model, 4, 4);
    if (!im->err->status && !im->subgraphs.count)
        qdq_fail(im->err, QDQ_ERR_PARSE, "the model has no subgraph");
    if (im->err->status) return im->err->status;
    qdq_flat_table subgraph = qdq_flat_table_at(flat, im->subgraphs, 0);
    if (im->err->status) return im->err->status;
    set_name(im, &subgraph);
    qdq_graph_set_own_target(im->graph, "litert");
    QDQ_TRY(qdq_tflite_read_tensors(im, &subgraph));
    if (im->options && im->options->until)
        QDQ_TRY(qdq_tflite_end_at(im, &subgraph, im->options->until));
    QDQ_TRY(add_inputs(im, &subgraph));
    QDQ_TRY(check_options(im));
    QDQ_TRY(qdq_tflite_add_nodes(im, &subgraph));
    QDQ_TRY(add_outputs(im, &subgraph));
    return qdq_tflite_add_states(im);
}

qdq_status qdq_tflite_read(qdq_graph *graph, const qdq_tflite_bytes *bytes,
                           const qdq_graph_options *options, qdq_error *err) {
    qdq_mempool mempool;
    qdq_mempool_init(&mempool, graph->allocator);
    qdq_flat *flat = QDQ_MEMPOOL_NEW(&mempool, qdq_flat);
    qdq_tflite_import im = {.graph = graph,
                            .mempool = &mempool,
                            .options = options,
                            .flat = flat,
                            .path = bytes->path ? bytes->path : "",
                            .claimed = qdq_symbols_create(graph->allocator, err),
                            .variable_names = qdq_symbols_create(graph->allocator, err),
                            .err = err};
    if (flat) {
        flat->memory = bytes->memory, flat->file = bytes->file;
        flat->size = bytes->memory ? bytes->length : bytes->file->bytes;
        flat->most = graph->limits.json_values;
        flat->err = err;
    }
    if (!flat) qdq_fail_memory(err, sizeof *flat);
    if (flat && im.claimed && im.variable_names) (void)read_model(&im);
    if (mempool.failed) qdq_fail_memory(err, 1);
    qdq_symbols_destroy(im.variable_names);
    qdq_symbols_destroy(im.claimed);
    qdq_mempool_release(&mempool);
    return err->status;
}
