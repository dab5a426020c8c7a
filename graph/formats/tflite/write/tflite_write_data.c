// SPDX-License-Identifier: Apache-2.0
// Writes elements of constants: part by part from memory or from the file that has them, turned to
// another order of dims, and packed if they are narrower than a byte.
#include <errno.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/formats/tflite/write/tflite_encode.h"
#include "runtime/base/error.h"
#include "runtime/numerics/dtype.h"

enum { PART = 1 << 12 };  // elements; a multiple of the elements in a byte

uint64_t qdq_tflite_data_bytes(const qdq_tflite_new_tensor *tensor) {
    if (!tensor->value && !tensor->data) return 0;
    const qdq_dtype_info *info = qdq_dtype_get(tensor->type.dtype);
    return ((uint64_t)qdq_shape_count(tensor->type.shape) * (uint64_t)info->bits + 7) / 8;
}

// The elements of a tensor, and the strides of its dims among them.
typedef struct elements {
    qdq_dtype dtype;
    size_t size, count;
    const unsigned char *data;  // in memory; NULL: `stored`
    const qdq_stored *stored;
    int rank;
    size_t dims[QDQ_MAX_RANK], strides[QDQ_MAX_RANK];
} elements;

// Copies elements from number `at` on in the order of the tensor. False if reading fails.
static bool copy_part(const elements *e, bool turned, size_t at, size_t count, unsigned char *out) {
    if (!turned && !e->data) return e->stored->read(e->stored, at * e->size, count * e->size, out);
    if (!turned) memcpy(out, e->data + at * e->size, count * e->size);
    for (size_t i = 0; turned && i < count; i++) {
        size_t left = at + i, from = 0;
        for (int d = e->rank; d-- > 0;) {
            from += left % e->dims[d] * e->strides[d];
            left /= e->dims[d];
        }
        memcpy(out + i * e->size, e->data + from * e->size, e->size);
    }
    return true;
}

static void set_strides(const qdq_tflite_new_tensor *tensor, elements *e) {
    size_t strides[QDQ_MAX_RANK], stride = 1;
    e->rank = tensor->type.shape.rank;
    for (int d = e->rank; d-- > 0;) {
        strides[d] = stride;
        stride *= (size_t)tensor->value->type.shape.dims[d];
    }
    for (int d = 0; d < e->rank; d++) {
        e->dims[d] = (size_t)tensor->type.shape.dims[d];
        e->strides[d] = strides[tensor->turn.order[d]];
    }
}

static bool put_part(const elements *e, unsigned char *part, size_t count, FILE *stream) {
    unsigned char packed[PART];
    size_t each = 8 / (size_t)qdq_dtype_get(e->dtype)->bits;
    if (!qdq_dtype_is_packed(e->dtype)) return fwrite(part, e->size, count, stream) == count;
    if (count % each) memset(part + count, 0, each - count % each);
    size_t bytes = (count + each - 1) / each;
    qdq_pack_bits(e->dtype, part, packed, bytes * each);
    return fwrite(packed, 1, bytes, stream) == bytes;
}

static qdq_status fail_to_read(const qdq_tflite_draft *draft, qdq_error *err) {
    const qdq_error *failure = draft->graph->failure;
    if (failure && failure->status) return qdq_fail(err, failure->status, "%s", failure->text);
    return qdq_fail(err, QDQ_ERR_IO, "a constant cannot be read");
}

static qdq_status write_parts(const qdq_tflite_draft *draft, const elements *e, bool turned,
                              FILE *stream, qdq_error *err) {
    unsigned char part[PART * 8 + 8];
    for (size_t at = 0; at < e->count; at += PART) {
        size_t count = e->count - at < PART ? e->count - at : PART;
        if (!copy_part(e, turned, at, count, part)) return fail_to_read(draft, err);
        if (!put_part(e, part, count, stream))
            return qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    }
    return QDQ_OK;
}

qdq_status qdq_tflite_write_data(const qdq_tflite_draft *draft, const qdq_tflite_new_tensor *tensor,
                                 FILE *stream, qdq_error *err) {
    const qdq_graph_value *value = tensor->value;
    elements e = {.dtype = tensor->type.dtype,
                  .size = qdq_dtype_size(tensor->type.dtype),
                  .count = qdq_shape_count(tensor->type.shape),
                  .data = value ? value->data : tensor->data,
                  .stored = value ? value->stored : NULL};
    bool turned = tensor->turn.given;
    if (turned) set_strides(tensor, &e);
    if (!turned || e.data) return write_parts(draft, &e, turned, stream, err);
    // Turning needs all elements of a constant that is in a file.
    const qdq_allocator *allocator = draft->graph->allocator;
    unsigned char *all = qdq_alloc_array(allocator, e.count, e.size, 16);
    if (!all) return qdq_fail_memory(err, e.count * e.size);
    qdq_status status = QDQ_OK;
    e.data = all;
    if (!e.stored->read(e.stored, 0, e.count * e.size, all)) status = fail_to_read(draft, err);
    if (status == QDQ_OK) status = write_parts(draft, &e, true, stream, err);
    qdq_free_array(allocator, all, e.count, e.size);
    return status;
}
