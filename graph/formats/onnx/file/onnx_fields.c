// SPDX-License-Identifier: Apache-2.0
// Decodes strings, numbers and lists with nanopb. Elements of tensors are skipped, and only their
// place in the file is kept.
#include "graph/formats/onnx/file/onnx_fields.h"

#include <string.h>

#include "runtime/base/error.h"

//---- Bytes ------------------------------------------------------------------

bool qdq_onnx_read_source(pb_istream_t *stream, pb_byte_t *buffer, size_t count) {
    qdq_onnx_decoder *d = stream->state;
    return qdq_onnx_take(d->source, buffer, count, d->err) == QDQ_OK;
}

// Returns the place of the rest of a field in the file. nanopb copies a single number into a
// separate stream, after it has read it.
static qdq_onnx_span rest_of(const qdq_onnx_decoder *d, const pb_istream_t *stream) {
    uint64_t at = d->source->at;
    if (stream->callback != qdq_onnx_read_source) at -= stream->bytes_left;
    return (qdq_onnx_span){at, stream->bytes_left};
}

static bool skip_rest(qdq_onnx_decoder *d, pb_istream_t *stream) {
    if (stream->callback != qdq_onnx_read_source) return pb_read(stream, NULL, stream->bytes_left);
    if (stream->bytes_left > d->source->size - d->source->at)
        return qdq_fail(d->err, QDQ_ERR_PARSE, "the file ends within a field") == QDQ_OK;
    d->source->at += stream->bytes_left;
    stream->bytes_left = 0;
    return true;
}

bool qdq_onnx_out_of_memory(const qdq_onnx_decoder *d) {
    return qdq_fail_memory(d->err, sizeof(qdq_onnx_proto)) == QDQ_OK;
}

// Counts a message, a string or a number of a list.
bool qdq_onnx_count_values(qdq_onnx_decoder *d, size_t count) {
    d->values += count;
    if (d->values <= d->most) return true;
    return qdq_fail(
               d->err, QDQ_ERR_LIMIT,
               "the file has more than %zu values, wanted at most that number; raise --max-values",
               d->most) == QDQ_OK;
}

//---- Lists ------------------------------------------------------------------

typedef ONNX_LIST(char) bytes_list;

// Returns the next item of a list, zeroed; NULL after an error.
void *qdq_onnx_next_item(qdq_onnx_decoder *d, void *list, size_t size) {
    bytes_list head;  // every list has this layout
    memcpy(&head, list, sizeof head);
    if (!qdq_onnx_count_values(d, 1 + size / 64)) return NULL;  // by the memory it takes
    head.items = qdq_mempool_grow(d->mempool, head.items, head.count, &head.capacity, size);
    if (!head.items) {
        (void)qdq_onnx_out_of_memory(d);
        return NULL;
    }
    char *item = head.items + head.count++ * size;
    memset(item, 0, size);
    memcpy(list, &head, sizeof head);
    return item;
}

//---- Fields -----------------------------------------------------------------

static bool take_text(qdq_onnx_decoder *d, pb_istream_t *stream, const char **out) {
    size_t length = stream->bytes_left;
    if (qdq_onnx_check_left(d->source, length, d->err) != QDQ_OK) return false;
    char *text = qdq_mempool_array(d->mempool, length + 1, 1);
    if (!text) return qdq_onnx_out_of_memory(d);
    if (!pb_read(stream, (pb_byte_t *)text, length)) return false;
    *out = text;
    if (strlen(text) == length) return true;
    return qdq_fail(d->err, QDQ_ERR_PARSE, "a string has a NUL: '%.64s'", text) == QDQ_OK;
}

bool qdq_onnx_string_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    (void)field;
    return take_text(to->d, stream, to->out);
}

bool qdq_onnx_string_items(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    (void)field;
    const char **text = qdq_onnx_next_item(to->d, to->out, sizeof *text);
    return text && take_text(to->d, stream, text);
}

bool qdq_onnx_int_items(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    (void)field;
    while (stream->bytes_left) {
        uint64_t number;
        if (!pb_decode_varint(stream, &number)) return false;
        int64_t *item = qdq_onnx_next_item(to->d, to->out, sizeof *item);
        if (!item) return false;
        *item = (int64_t)number;
    }
    return true;
}

bool qdq_onnx_float_items(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    (void)field;
    while (stream->bytes_left) {
        float number;
        if (!pb_decode_fixed32(stream, &number)) return false;
        float *item = qdq_onnx_next_item(to->d, to->out, sizeof *item);
        if (!item) return false;
        *item = number;
    }
    return true;
}

bool qdq_onnx_span_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    qdq_onnx_span span = rest_of(to->d, stream);
    (void)field;
    memcpy(to->out, &span, sizeof span);
    return skip_rest(to->d, stream);
}

bool qdq_onnx_span_items(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    (void)field;
    qdq_onnx_span *span = qdq_onnx_next_item(to->d, to->out, sizeof *span);
    if (!span) return false;
    *span = rest_of(to->d, stream);
    return skip_rest(to->d, stream);
}

// Notes that a field is present, without reading it.
bool qdq_onnx_flag_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    (void)field;
    *(bool *)to->out = true;
    return skip_rest(to->d, stream);
}

bool qdq_onnx_count_field(pb_istream_t *stream, const pb_field_t *field, void **arg) {
    const qdq_onnx_slot *to = *arg;
    (void)field;
    ++*(size_t *)to->out;
    return skip_rest(to->d, stream);
}

bool qdq_onnx_each_varint(qdq_onnx_source *source, qdq_onnx_span span,
                          bool (*take)(void *self, uint64_t number), void *self, qdq_error *err) {
    qdq_onnx_decoder d = {.source = source, .err = err};
    pb_istream_t stream = {
        .callback = qdq_onnx_read_source, .state = &d, .bytes_left = span.length};
    uint64_t number;
    source->at = span.at;
    source->most = UINT64_MAX;
    while (stream.bytes_left)
        if (!pb_decode_varint(&stream, &number) || !take(self, number)) return false;
    return true;
}
