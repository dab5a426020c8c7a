// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a model from a file or from memory.
#include "graph/formats/onnx/file/onnx_source.h"

#include <string.h>

#include "runtime/base/error.h"

qdq_status qdq_onnx_read_at(const qdq_onnx_source *source, uint64_t at, void *out, size_t count,
                            qdq_error *err) {
    if (!source->memory) return qdq_open_file_read(source->file->descriptor, out, count, at, err);
    memcpy(out, source->memory + at, count);
    return QDQ_OK;
}

static qdq_status move_window(qdq_onnx_source *source, qdq_error *err) {
    uint64_t left = source->size - source->at;
    size_t count = left < sizeof source->window ? (size_t)left : sizeof source->window;
    source->window_length = 0;
    QDQ_TRY(qdq_onnx_read_at(source, source->at, source->window, count, err));
    source->window_at = source->at;
    source->window_length = count;
    return QDQ_OK;
}

qdq_status qdq_onnx_check_left(const qdq_onnx_source *source, size_t count, qdq_error *err) {
    if (count > source->size - source->at)
        return qdq_fail(err, QDQ_ERR_PARSE, "the file ends within a field");
    if (count > source->most - source->read)
        return qdq_fail(err, QDQ_ERR_LIMIT,
                        "the file has more than %llu bytes apart from the elements of tensors, "
                        "wanted at most that number",
                        (unsigned long long)source->most);
    return QDQ_OK;
}

qdq_status qdq_onnx_take(qdq_onnx_source *source, void *out, size_t count, qdq_error *err) {
    unsigned char *next = out;
    QDQ_TRY(qdq_onnx_check_left(source, count, err));
    source->read += count;
    while (count > 0) {
        uint64_t end = source->window_at + source->window_length;
        if (source->at < source->window_at || source->at >= end) {
            QDQ_TRY(move_window(source, err));
            end = source->window_at + source->window_length;
        }
        size_t here = (size_t)(end - source->at);
        if (here > count) here = count;
        memcpy(next, source->window + (source->at - source->window_at), here);
        next += here, source->at += here, count -= here;
    }
    return QDQ_OK;
}
