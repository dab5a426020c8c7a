// SPDX-License-Identifier: Apache-2.0
// Callbacks that decode fields: strings, numbers, lists, and places of bytes that are skipped. Only
// the decoder includes this file.
#ifndef QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_FIELDS_H
#define QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_FIELDS_H

#include <pb_decode.h>

#include "graph/formats/onnx/file/onnx_decode.h"

typedef struct qdq_onnx_decoder {
    qdq_onnx_source *source;
    qdq_mempool *mempool;
    qdq_error *err;
    size_t values, most;
    int depth;
} qdq_onnx_decoder;

// The argument of a callback: the decoder, and the destination of the field.
typedef struct qdq_onnx_slot {
    qdq_onnx_decoder *d;
    void *out;
} qdq_onnx_slot;

static inline pb_callback_t qdq_onnx_callback(bool (*decode)(pb_istream_t *stream,
                                                             const pb_field_t *field, void **arg),
                                              qdq_onnx_slot *slot) {
    return (pb_callback_t){.funcs = {.decode = decode}, .arg = slot};
}
// Lets `callback` decode into `where` by `function`, within this block of code; `d` is the
// decoder.
#define INTO(callback, function, where) \
    (callback) = qdq_onnx_callback((function), &(qdq_onnx_slot){.d = d, .out = (where)})

// Reads from the source; the state of the stream is the decoder.
bool qdq_onnx_read_source(pb_istream_t *stream, pb_byte_t *buffer, size_t count);

// Sets the error of missing memory; returns false.
bool qdq_onnx_out_of_memory(const qdq_onnx_decoder *d);
// Counts messages, strings and numbers of lists; false after an error, if they exceed the limit.
bool qdq_onnx_count_values(qdq_onnx_decoder *d, size_t count);
// Returns the next item of a list, zeroed; NULL after an error.
void *qdq_onnx_next_item(qdq_onnx_decoder *d, void *list, size_t size);

typedef bool qdq_onnx_field(pb_istream_t *stream, const pb_field_t *field, void **arg);
// The slot has a const char *, or a list.
qdq_onnx_field qdq_onnx_string_field, qdq_onnx_string_items, qdq_onnx_int_items,
    qdq_onnx_float_items;
// The slot has a qdq_onnx_span, or a list of them: the bytes are skipped.
qdq_onnx_field qdq_onnx_span_field, qdq_onnx_span_items;
// The slot has a bool, or a size_t: the field is skipped, and known to be there.
qdq_onnx_field qdq_onnx_flag_field, qdq_onnx_count_field;

#endif
