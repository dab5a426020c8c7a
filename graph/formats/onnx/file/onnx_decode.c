// SPDX-License-Identifier: Apache-2.0
// Decodes the messages of an ONNX model with nanopb. Each message within a message is a callback.
#include "graph/formats/onnx/file/onnx_decode.h"

#include <onnx_fields.pb.h>
#include <string.h>

#include "graph/formats/onnx/file/onnx_fields.h"
#include "runtime/base/error.h"

enum { MOST_NESTING = 64 };

static bool decode(qdq_onnx_decoder *d, pb_istream_t *stream, const pb_msgdesc_t *fields,
                   void *message) {
    if (d->depth >= MOST_NESTING)
        return qdq_fail(d->err, QDQ_ERR_LIMIT, "graphs are nested more than %d levels deep",
                        (int)MOST_NESTING / 4) == QDQ_OK;
    d->depth++;
    bool fine = pb_decode_ex(stream, fields, message, PB_DECODE_NOINIT);
    d->depth--;
    return fine;
}

//---- Messages ---------------------------------------------------------------

static bool entry_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_onnx_tensor *tensor = to->out;
    qdq_pb_StringStringEntryProto message = {0};
    (void)field;
    const char **key = qdq_onnx_next_item(d, &tensor->keys, sizeof *key);
    const char **value = key ? qdq_onnx_next_item(d, &tensor->values, sizeof *value) : NULL;
    if (!value) return false;
    *key = *value = "";
    INTO(message.key, qdq_onnx_string_field, key);
    INTO(message.value, qdq_onnx_string_field, value);
    return decode(d, stream, qdq_pb_StringStringEntryProto_fields, &message);
}

static bool decode_tensor(qdq_onnx_decoder *d, pb_istream_t *stream, qdq_onnx_tensor *out) {
    qdq_pb_TensorProto message = {0};
    out->name = "";
    qdq_onnx_span raw = {UINT64_MAX, 0};
    INTO(message.name, qdq_onnx_string_field, &out->name);
    INTO(message.dims, qdq_onnx_int_items, &out->dims);
    INTO(message.raw_data, qdq_onnx_span_field, &raw);
    INTO(message.float_data, qdq_onnx_span_items, &out->floats);
    INTO(message.int32_data, qdq_onnx_span_items, &out->int32s);
    INTO(message.int64_data, qdq_onnx_span_items, &out->int64s);
    INTO(message.double_data, qdq_onnx_span_items, &out->doubles);
    INTO(message.uint64_data, qdq_onnx_span_items, &out->uint64s);
    INTO(message.string_data, qdq_onnx_flag_field, &out->has_strings);
    INTO(message.external_data, entry_field, out);
    if (!decode(d, stream, qdq_pb_TensorProto_fields, &message)) return false;
    out->has_raw = raw.at != UINT64_MAX;
    out->raw = raw;
    out->elem = message.data_type;
    out->external = message.data_location == 1;
    return true;
}

static bool tensor_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_tensor *tensor = QDQ_MEMPOOL_NEW(to->d->mempool, qdq_onnx_tensor);
    (void)field;
    if (!tensor) return qdq_onnx_out_of_memory(to->d);
    *(qdq_onnx_tensor **)to->out = tensor;
    return qdq_onnx_count_values(to->d, 1) && decode_tensor(to->d, stream, tensor);
}

static bool tensor_list(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_tensor *tensor = qdq_onnx_next_item(to->d, to->out, sizeof *tensor);
    (void)field;
    return tensor && decode_tensor(to->d, stream, tensor);
}

static bool graph_field(pb_istream_t *stream, const pb_field_t *field, void **arg);

static bool attr_list(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_pb_AttributeProto message = {0};
    (void)field;
    qdq_onnx_attr *attr = qdq_onnx_next_item(d, to->out, sizeof *attr);
    if (!attr) return false;
    attr->name = attr->ref = "";
    INTO(message.name, qdq_onnx_string_field, &attr->name);
    INTO(message.ref_attr_name, qdq_onnx_string_field, &attr->ref);
    INTO(message.s, qdq_onnx_string_field, &attr->s);
    INTO(message.t, tensor_field, &attr->t);
    INTO(message.g, graph_field, &attr->g);
    INTO(message.floats, qdq_onnx_float_items, &attr->floats);
    INTO(message.ints, qdq_onnx_int_items, &attr->ints);
    INTO(message.strings, qdq_onnx_string_items, &attr->strings);
    INTO(message.tensors, qdq_onnx_flag_field, &attr->has_others);
    INTO(message.graphs, qdq_onnx_flag_field, &attr->has_others);
    INTO(message.sparse_tensor, qdq_onnx_flag_field, &attr->has_others);
    if (!decode(d, stream, qdq_pb_AttributeProto_fields, &message)) return false;
    attr->type = message.type;
    attr->i = message.i, attr->f = message.f;
    attr->has_i = message.has_i, attr->has_f = message.has_f, attr->has_s = attr->s != NULL;
    if (!attr->s) attr->s = "";
    return true;
}

static bool node_list(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_pb_NodeProto message = {0};
    (void)field;
    qdq_onnx_proto *node = qdq_onnx_next_item(d, to->out, sizeof *node);
    if (!node) return false;
    node->name = node->op = node->domain = node->overload = "";
    INTO(message.name, qdq_onnx_string_field, &node->name);
    INTO(message.op_type, qdq_onnx_string_field, &node->op);
    INTO(message.domain, qdq_onnx_string_field, &node->domain);
    INTO(message.overload, qdq_onnx_string_field, &node->overload);
    INTO(message.input, qdq_onnx_string_items, &node->inputs);
    INTO(message.output, qdq_onnx_string_items, &node->outputs);
    INTO(message.attribute, attr_list, &node->attrs);
    return decode(d, stream, qdq_pb_NodeProto_fields, &message);
}

static bool dim_list(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_onnx_info *info = to->out;
    qdq_pb_DimensionProto message = {0};
    (void)field;
    qdq_onnx_dim *dim = qdq_onnx_next_item(d, &info->dims, sizeof *dim);
    if (!dim) return false;
    dim->name = "";
    INTO(message.dim_param, qdq_onnx_string_field, &dim->name);
    if (!decode(d, stream, qdq_pb_DimensionProto_fields, &message)) return false;
    if (strcmp(dim->name, "?") == 0) dim->name = "";  // written for any number of unknown dims
    dim->size = message.has_dim_value ? message.dim_value : -1;
    return true;
}

static bool shape_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_onnx_info *info = to->out;
    qdq_pb_TensorShapeProto message = {0};
    (void)field;
    info->has_shape = true;
    INTO(message.dim, dim_list, info);
    return decode(d, stream, qdq_pb_TensorShapeProto_fields, &message);
}

static bool tensor_type_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_onnx_info *info = to->out;
    qdq_pb_TensorTypeProto message = {0};
    (void)field;
    INTO(message.shape, shape_field, info);
    if (!decode(d, stream, qdq_pb_TensorTypeProto_fields, &message)) return false;
    info->elem = message.elem_type;
    return true;
}

static bool type_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_onnx_info *info = to->out;
    qdq_pb_TypeProto message = {0};
    bool sequence = false, map = false, sparse = false, optional = false;
    (void)field;
    INTO(message.tensor_type, tensor_type_field, info);
    INTO(message.sequence_type, qdq_onnx_flag_field, &sequence);
    INTO(message.map_type, qdq_onnx_flag_field, &map);
    INTO(message.sparse_tensor_type, qdq_onnx_flag_field, &sparse);
    INTO(message.optional_type, qdq_onnx_flag_field, &optional);
    if (!decode(d, stream, qdq_pb_TypeProto_fields, &message)) return false;
    info->other = sequence   ? "a sequence"
                  : map      ? "a map"
                  : sparse   ? "a sparse tensor"
                  : optional ? "an optional"
                             : NULL;
    return true;
}

static bool info_list(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_pb_ValueInfoProto message = {0};
    (void)field;
    qdq_onnx_info *info = qdq_onnx_next_item(d, to->out, sizeof *info);
    if (!info) return false;
    info->name = "";
    INTO(message.name, qdq_onnx_string_field, &info->name);
    INTO(message.type, type_field, info);
    return decode(d, stream, qdq_pb_ValueInfoProto_fields, &message);
}

static bool decode_graph(qdq_onnx_decoder *d, pb_istream_t *stream, qdq_onnx_graph *graph) {
    qdq_pb_GraphProto message = {0};
    graph->name = "";
    INTO(message.name, qdq_onnx_string_field, &graph->name);
    INTO(message.node, node_list, &graph->nodes);
    INTO(message.initializer, tensor_list, &graph->initializers);
    INTO(message.input, info_list, &graph->inputs);
    INTO(message.output, info_list, &graph->outputs);
    INTO(message.sparse_initializer, qdq_onnx_count_field, &graph->sparse_initializers);
    return decode(d, stream, qdq_pb_GraphProto_fields, &message);
}

static bool graph_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_graph *graph = QDQ_MEMPOOL_NEW(to->d->mempool, qdq_onnx_graph);
    (void)field;
    if (!graph) return qdq_onnx_out_of_memory(to->d);
    *(qdq_onnx_graph **)to->out = graph;
    return qdq_onnx_count_values(to->d, 1) && decode_graph(to->d, stream, graph);
}

static bool opset_list(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_pb_OperatorSetIdProto message = {0};
    (void)field;
    qdq_onnx_opset *opset = qdq_onnx_next_item(d, to->out, sizeof *opset);
    if (!opset) return false;
    opset->domain = "";
    INTO(message.domain, qdq_onnx_string_field, &opset->domain);
    if (!decode(d, stream, qdq_pb_OperatorSetIdProto_fields, &message)) return false;
    opset->version = message.version;
    return true;
}

static bool function_list(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_decoder *d = to->d;
    qdq_pb_FunctionProto message = {0};
    (void)field;
    qdq_onnx_function *function = qdq_onnx_next_item(d, to->out, sizeof *function);
    if (!function) return false;
    function->name = function->domain = function->overload = "";
    INTO(message.name, qdq_onnx_string_field, &function->name);
    INTO(message.domain, qdq_onnx_string_field, &function->domain);
    INTO(message.overload, qdq_onnx_string_field, &function->overload);
    INTO(message.input, qdq_onnx_string_items, &function->inputs);
    INTO(message.output, qdq_onnx_string_items, &function->outputs);
    INTO(message.attribute, qdq_onnx_string_items, &function->attrs);
    INTO(message.attribute_proto, attr_list, &function->defaults);
    INTO(message.node, node_list, &function->nodes);
    INTO(message.opset_import, opset_list, &function->opsets);
    return decode(d, stream, qdq_pb_FunctionProto_fields, &message);
}

static bool model_graph_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_model *model = to->out;
    (void)field;
    model->has_graph = true;
    return decode_graph(to->d, stream, &model->graph);
}

//---- The whole --------------------------------------------------------------

qdq_status qdq_onnx_decode(qdq_onnx_source *source, size_t most, qdq_mempool *mempool,
                           qdq_onnx_model *out, qdq_error *err) {
    qdq_onnx_decoder state = {.source = source, .mempool = mempool, .err = err, .most = most};
    qdq_onnx_decoder *d = &state;
    qdq_pb_ModelProto message = {0};
    pb_istream_t stream = {
        .callback = qdq_onnx_read_source, .state = d, .bytes_left = (size_t)source->size};
    *out = (qdq_onnx_model){.graph.name = ""};
    INTO(message.graph, model_graph_field, out);
    INTO(message.opset_import, opset_list, &out->opsets);
    INTO(message.functions, function_list, &out->functions);
    if (decode(d, &stream, qdq_pb_ModelProto_fields, &message)) return QDQ_OK;
    if (err->status != QDQ_OK) return err->status;
    return qdq_fail(err, QDQ_ERR_PARSE, "is no ONNX model: %s at byte %llu", PB_GET_ERROR(&stream),
                    (unsigned long long)source->at);
}
