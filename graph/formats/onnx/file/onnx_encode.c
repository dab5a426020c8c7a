// SPDX-License-Identifier: Apache-2.0
// Encodes the messages of an ONNX model with nanopb. A list of messages is a callback that fills
// one message after the other. nanopb asks for the size of each message before its bytes; elements
// of constants only count then and are not read.
#include "graph/formats/onnx/file/onnx_encode.h"

#include <onnx_fields.pb.h>
#include <pb_encode.h>
#include <string.h>

#include "graph/formats/onnx/onnx_tensor.h"
#include "runtime/numerics/dtype.h"

//---- Elements ---------------------------------------------------------------

uint64_t qdq_onnx_raw_bytes(qdq_type type) {
    uint64_t count = qdq_shape_count(type.shape);
    if (!qdq_dtype_is_packed(type.dtype)) return count * qdq_dtype_size(type.dtype);
    return (count * (uint64_t)qdq_onnx_elem_bits(qdq_onnx_elem_of(type.dtype)) + 7) / 8;
}

bool qdq_onnx_each_part(const qdq_onnx_constant *constant,
                        bool (*take)(void *self, const void *bytes, size_t count), void *self) {
    enum { PART = 1 << 12 };  // elements of 8 bytes or less; a multiple of the elements in a byte
    static const char zeros[8];
    char part[PART * 8], packed[PART];
    const qdq_graph_value *value = constant->value;
    const qdq_stored *stored = value ? value->stored : NULL;
    const char *data = value ? value->data : constant->data;
    qdq_dtype dtype = constant->type.dtype;
    size_t size = qdq_dtype_size(dtype), count = qdq_shape_count(constant->type.shape);
    for (size_t at = 0; at < count; at += PART) {
        size_t n = count - at < PART ? count - at : PART;
        const char *from = data ? data + at * size : part;
        if (!data && !(stored && stored->read(stored, at * size, n * size, part))) return false;
        if (!qdq_dtype_is_packed(dtype)) {
            if (!take(self, from, n * size)) return false;
            continue;
        }
        size_t bits = (size_t)qdq_onnx_elem_bits(qdq_onnx_elem_of(dtype)), each = 8 / bits;
        if (from != part) memcpy(part, from, n);
        if (n % each) memcpy(part + n, zeros, each - n % each);
        size_t bytes = (n + each - 1) / each;
        qdq_pack_bits(dtype, part, packed, bytes * each);
        if (!take(self, packed, bytes)) return false;
    }
    return true;
}

//---- Fields -----------------------------------------------------------------

enum { MOST_SUBS = 6 };

typedef struct frame frame;

// A list of messages: `fill` prepares message i in a frame.
typedef struct messages {
    const pb_msgdesc_t *fields;
    const void *list;
    size_t count;
    void (*fill)(const void *list, size_t i, frame *out);
} messages;

// A dim of a declared value.
typedef struct declared_dim {
    int64_t size;
    const char *name;  // "": an open dim without a name; NULL: it has its size
} declared_dim;

// One message, and the data its callbacks refer to.
struct frame {
    union {
        qdq_pb_GraphProto graph;
        qdq_pb_NodeProto node;
        qdq_pb_AttributeProto attr;
        qdq_pb_TensorProto tensor;
        qdq_pb_StringStringEntryProto entry;
        qdq_pb_ValueInfoProto info;
        qdq_pb_TypeProto type;
        qdq_pb_TensorTypeProto tensor_type;
        qdq_pb_TensorShapeProto shape;
        qdq_pb_DimensionProto dim;
        qdq_pb_OperatorSetIdProto opset;
    } m;
    messages subs[MOST_SUBS];
    qdq_ints ints;
    declared_dim dims[QDQ_MAX_RANK];
};

static bool encode_text(pb_ostream_t *stream, const pb_field_t *field, void *const *arg) {
    const char *text = *arg;
    return pb_encode_tag_for_field(stream, field) &&
           pb_encode_string(stream, (const pb_byte_t *)text, strlen(text));
}

static bool encode_texts(pb_ostream_t *stream, const pb_field_t *field, void *const *arg) {
    const qdq_onnx_strings *list = *arg;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i];
        if (!pb_encode_tag_for_field(stream, field) ||
            !pb_encode_string(stream, (const pb_byte_t *)text, strlen(text)))
            return false;
    }
    return true;
}

static bool encode_ints(pb_ostream_t *stream, const pb_field_t *field, void *const *arg) {
    const qdq_ints *list = *arg;
    for (size_t i = 0; i < list->count; i++)
        if (!pb_encode_tag_for_field(stream, field) ||
            !pb_encode_varint(stream, (uint64_t)list->data[i]))
            return false;
    return true;
}

static bool encode_messages(pb_ostream_t *stream, const pb_field_t *field, void *const *arg) {
    const messages *list = *arg;
    for (size_t i = 0; i < list->count; i++) {
        frame f;
        memset(&f, 0, sizeof f);
        list->fill(list->list, i, &f);
        if (!pb_encode_tag_for_field(stream, field) ||
            !pb_encode_submessage(stream, list->fields, &f.m))
            return false;
    }
    return true;
}

static bool write_part(void *self, const void *bytes, size_t count) {
    return pb_write(self, bytes, count);
}

static bool encode_raw(pb_ostream_t *stream, const pb_field_t *field, void *const *arg) {
    const qdq_onnx_constant *constant = *arg;
    uint64_t bytes = qdq_onnx_raw_bytes(constant->type);
    if (!pb_encode_tag_for_field(stream, field) || !pb_encode_varint(stream, bytes)) return false;
    if (!stream->callback) return pb_write(stream, NULL, (size_t)bytes);  // only the size is asked
    return qdq_onnx_each_part(constant, write_part, stream);
}

typedef bool encode_field(pb_ostream_t *stream, const pb_field_t *field, void *const *arg);

static pb_callback_t field_of(encode_field *encode, const void *arg) {
    // nanopb has one type of argument for reading and writing
    return (pb_callback_t){.funcs = {.encode = encode}, .arg = (void *)(uintptr_t)arg};
}

// An empty name is left out, as it means the same.
static pb_callback_t text_of(const char *text) {
    return text && *text ? field_of(encode_text, text) : (pb_callback_t){0};
}

//---- Messages ---------------------------------------------------------------

static void fill_attr(const void *list, size_t i, frame *out) {
    const qdq_onnx_attr *attr = &((const qdq_onnx_attr *)list)[i];
    qdq_pb_AttributeProto *m = &out->m.attr;
    m->name = text_of(attr->name);
    m->has_type = true, m->type = attr->type;
    if (attr->type == ONNX_ATTR_INT) m->has_i = true, m->i = attr->i;
    if (attr->type == ONNX_ATTR_FLOAT) m->has_f = true, m->f = attr->f;
    if (attr->type == ONNX_ATTR_STRING) m->s = field_of(encode_text, attr->s);
    out->ints = (qdq_ints){attr->ints.items, attr->ints.count};
    if (attr->type == ONNX_ATTR_INTS) m->ints = field_of(encode_ints, &out->ints);
}

static void fill_node(const void *list, size_t i, frame *out) {
    const qdq_onnx_new_node *node = ((qdq_onnx_new_node *const *)list)[i];
    qdq_pb_NodeProto *m = &out->m.node;
    m->name = text_of(node->name), m->op_type = text_of(node->op);
    if (node->domain) m->domain = text_of(node->domain);
    m->input = field_of(encode_texts, &node->inputs);
    m->output = field_of(encode_texts, &node->outputs);
    out->subs[0] =
        (messages){qdq_pb_AttributeProto_fields, node->attrs.items, node->attrs.count, fill_attr};
    m->attribute = field_of(encode_messages, &out->subs[0]);
}

typedef struct external_entry {
    const char *key, *value;
} external_entry;

static void fill_entry(const void *list, size_t i, frame *out) {
    const external_entry *entry = &((const external_entry *)list)[i];
    out->m.entry.key = text_of(entry->key), out->m.entry.value = text_of(entry->value);
}

// Encodes the entries of a tensor in another file. Their texts live as long as the call.
static bool encode_entries(pb_ostream_t *stream, const pb_field_t *field, void *const *arg) {
    const qdq_onnx_constant *constant = *arg;
    char at[24], bytes[24];
    snprintf(at, sizeof at, "%llu", (unsigned long long)constant->at);
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)constant->bytes);
    const external_entry entries[] = {
        {"location", constant->location}, {"offset", at}, {"length", bytes}};
    const messages all = {qdq_pb_StringStringEntryProto_fields, entries, 3, fill_entry};
    void *list = (void *)(uintptr_t)&all;
    return encode_messages(stream, field, &list);
}

static void fill_tensor(const void *list, size_t i, frame *out) {
    const qdq_onnx_constant *constant = &((const qdq_onnx_constant *)list)[i];
    qdq_pb_TensorProto *m = &out->m.tensor;
    m->name = text_of(constant->name);
    m->has_data_type = true, m->data_type = qdq_onnx_elem_of(constant->type.dtype);
    out->ints = (qdq_ints){constant->type.shape.dims, (size_t)constant->type.shape.rank};
    m->dims = field_of(encode_ints, &out->ints);
    if (constant->location) {
        m->has_data_location = true, m->data_location = 1;
        m->external_data = field_of(encode_entries, constant);
    } else {
        m->raw_data = field_of(encode_raw, constant);
    }
}

static void fill_dim(const void *list, size_t i, frame *out) {
    const declared_dim *dim = &((const declared_dim *)list)[i];
    if (dim->name) {
        out->m.dim.dim_param = text_of(dim->name);
        return;
    }
    out->m.dim.has_dim_value = true;
    out->m.dim.dim_value = dim->size;
}

static void fill_shape(const void *value, size_t i, frame *out) {
    const qdq_onnx_declared *declared = value;
    qdq_shape shape = declared->type.shape;
    (void)i;
    for (int k = 0; k < shape.rank; k++)
        out->dims[k] = (declared_dim){shape.dims[k], declared->dims[k]};
    out->subs[0] =
        (messages){qdq_pb_DimensionProto_fields, out->dims, (size_t)shape.rank, fill_dim};
    out->m.shape.dim = field_of(encode_messages, &out->subs[0]);
}

static void fill_tensor_type(const void *value, size_t i, frame *out) {
    qdq_pb_TensorTypeProto *m = &out->m.tensor_type;
    (void)i;
    m->has_elem_type = true;
    m->elem_type = qdq_onnx_elem_of(((const qdq_onnx_declared *)value)->type.dtype);
    out->subs[0] = (messages){qdq_pb_TensorShapeProto_fields, value, 1, fill_shape};
    m->shape = field_of(encode_messages, &out->subs[0]);
}

static void fill_type(const void *value, size_t i, frame *out) {
    (void)i;
    out->subs[0] = (messages){qdq_pb_TensorTypeProto_fields, value, 1, fill_tensor_type};
    out->m.type.tensor_type = field_of(encode_messages, &out->subs[0]);
}

static void fill_info(const void *list, size_t i, frame *out) {
    const qdq_onnx_declared *value = &((const qdq_onnx_declared *)list)[i];
    out->m.info.name = text_of(value->name);
    out->subs[0] = (messages){qdq_pb_TypeProto_fields, value, 1, fill_type};
    out->m.info.type = field_of(encode_messages, &out->subs[0]);
}

static void fill_graph(const void *self, size_t i, frame *out) {
    const qdq_onnx_draft *draft = self;
    qdq_pb_GraphProto *m = &out->m.graph;
    const pb_msgdesc_t *info = qdq_pb_ValueInfoProto_fields;
    (void)i;
    m->name = text_of(*draft->graph->name ? draft->graph->name : "graph");
    out->subs[0] =
        (messages){qdq_pb_NodeProto_fields, draft->nodes.items, draft->nodes.count, fill_node};
    out->subs[1] = (messages){qdq_pb_TensorProto_fields, draft->constants.items,
                              draft->constants.count, fill_tensor};
    out->subs[2] = (messages){info, draft->inputs.items, draft->inputs.count, fill_info};
    out->subs[3] = (messages){info, draft->outputs.items, draft->outputs.count, fill_info};
    out->subs[4] = (messages){info, draft->others.items, draft->others.count, fill_info};
    m->node = field_of(encode_messages, &out->subs[0]);
    m->initializer = field_of(encode_messages, &out->subs[1]);
    m->input = field_of(encode_messages, &out->subs[2]);
    m->output = field_of(encode_messages, &out->subs[3]);
    m->value_info = field_of(encode_messages, &out->subs[4]);
}

// Fills in ONNX's opset, then version 1 of other domains.
static void fill_opset(const void *self, size_t i, frame *out) {
    const qdq_onnx_draft *draft = self;
    out->m.opset.has_version = true;
    out->m.opset.version = i ? 1 : draft->opset;
    out->m.opset.domain = field_of(encode_text, i ? draft->domains[i - 1] : "");
}

//---- The whole --------------------------------------------------------------

// Returns the first version of the format that has an opset.
static int ir_version(int opset) {
    static const struct {
        int opset, version;
    } rows[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (opset >= rows[i].opset) return rows[i].version;
    return 7;
}

static bool encode_model(pb_ostream_t *stream, const qdq_onnx_draft *draft) {
    qdq_pb_ModelProto model = {0};
    const messages graph = {qdq_pb_GraphProto_fields, draft, 1, fill_graph};
    size_t opset_count = 1;
    while (opset_count <= QDQ_ONNX_DOMAINS && draft->domains[opset_count - 1]) opset_count++;
    const messages opsets = {qdq_pb_OperatorSetIdProto_fields, draft, opset_count, fill_opset};
    model.has_ir_version = true, model.ir_version = ir_version(draft->opset);
    model.producer_name = text_of("qdq");
    model.graph = field_of(encode_messages, &graph);
    model.opset_import = field_of(encode_messages, &opsets);
    return pb_encode(stream, qdq_pb_ModelProto_fields, &model);
}

size_t qdq_onnx_encoded_bytes(const qdq_onnx_draft *draft) {
    pb_ostream_t sizes = PB_OSTREAM_SIZING;
    return encode_model(&sizes, draft) ? sizes.bytes_written : SIZE_MAX;
}

static bool to_stream(pb_ostream_t *stream, const pb_byte_t *bytes, size_t count) {
    return fwrite(bytes, 1, count, stream->state) == count;
}

bool qdq_onnx_encode(const qdq_onnx_draft *draft, FILE *stream) {
    pb_ostream_t out = {.callback = to_stream, .state = stream, .max_size = SIZE_MAX};
    return encode_model(&out, draft);
}
