// SPDX-License-Identifier: Apache-2.0
// Padding of windows: by the rule that has its numbers, else by an operator before the window's.
#include <math.h>

#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"
#include "runtime/numerics/dtype.h"

enum { SAME, VALID, PAD_OPTIONS = 22, PADV2_OPTIONS = 43 };

// Returns the padding of rule SAME along a dim; an odd element comes after.
static void same_padding(const qdq_tflite_window *window, int dim, int64_t in, int64_t *begin,
                         int64_t *end) {
    int64_t out = (in - 1) / window->strides[dim] + 1;
    int64_t reach = (window->kernel[dim] - 1) * window->dilations[dim] + 1;
    int64_t total = (out - 1) * window->strides[dim] + reach - in;
    if (total < 0) total = 0;
    *begin = total / 2, *end = total - total / 2;
}

// Cuts the padding after the last window, which has no effect, and adds what the last window of
// rounded-up results reaches.
static void fit_end(qdq_tflite_window *window, int dim, int64_t in, int64_t out) {
    int64_t reach = (window->kernel[dim] - 1) * window->dilations[dim] + 1;
    int64_t end = (out - 1) * window->strides[dim] + reach - in - window->begin[dim];
    window->end[dim] = end > 0 ? end : 0;
}

void qdq_tflite_pad_same(qdq_tflite_window *window, qdq_shape x) {
    for (int i = 0; i < 2; i++)
        same_padding(window, i, x.dims[1 + i], &window->begin[i], &window->end[i]);
}

bool qdq_tflite_find_rule(qdq_tflite_window *window, qdq_shape x, qdq_shape y) {
    bool same = true, valid = true;
    for (int i = 0; i < 2; i++) {
        int64_t begin, end, in = x.dims[1 + i];
        same_padding(window, i, in, &begin, &end);
        same = same && begin == window->begin[i] && end == window->end[i] &&
               y.dims[1 + i] == (in - 1) / window->strides[i] + 1;
        valid = valid && !window->begin[i] && !window->end[i];
    }
    window->rule = valid ? VALID : SAME;
    return valid || same;
}

bool qdq_tflite_read_window(qdq_tflite_writer *w, const qdq_tflite_window_attrs *attrs, qdq_shape x,
                            qdq_shape y, qdq_tflite_window *out) {
    if (!attrs->last) {
        qdq_tflite_cannot(w, "data_format", "is NCX", "NXC: channels in the last dim");
        return false;
    }
    if (x.rank != 4) {
        qdq_tflite_cannot(w, "x", TFLITE_FOUND(w, "has %d dims", x.rank), "4: [N, H, W, C]");
        return false;
    }
    for (int i = 0; i < 2; i++) {
        const qdq_ints *d = attrs->dilations;
        out->strides[i] = attrs->strides->data[i];
        out->dilations[i] = d && d->count ? d->data[i] : 1;
        bool given = attrs->auto_pad == QDQ_PAD_NONE && attrs->begin->count;
        out->begin[i] = given ? attrs->begin->data[i] : 0;
        if (attrs->auto_pad == QDQ_PAD_SAME_UPPER || attrs->auto_pad == QDQ_PAD_SAME_LOWER) {
            int64_t begin, end;
            same_padding(out, i, x.dims[1 + i], &begin, &end);
            out->begin[i] = attrs->auto_pad == QDQ_PAD_SAME_UPPER ? begin : end;
        }
        fit_end(out, i, x.dims[1 + i], y.dims[1 + i]);
    }
    return true;
}

// Returns the least element of a dtype: a code, or minus infinity. NULL: PADV2 has no such dtype.
static const void *lowest_element(qdq_tflite_writer *w, qdq_dtype dtype) {
    unsigned char *element = qdq_mempool_array(w->draft->mempool, 8, 1);
    const float lowest = -INFINITY;
    int32_t code = (int32_t)qdq_dtype_get(dtype)->least;
    if (element && dtype == QDQ_FLOAT32) qdq_encode_float(dtype, &lowest, element, 1, NULL);
    if (element && dtype != QDQ_FLOAT32) qdq_encode_int(dtype, &code, element, 1);
    return element;
}

int32_t qdq_tflite_pad_window(qdq_tflite_writer *w, qdq_tflite_window *window, int32_t x,
                              bool lowest) {
    const int64_t pads[] = {
        0, 0, window->begin[0], window->end[0], window->begin[1], window->end[1], 0, 0};
    if (x < 0 || w->draft->mempool->failed) return x;
    const qdq_tflite_new_tensor *from = w->draft->main.tensors.items[x];
    qdq_type type = from->type;
    qdq_tflite_params params = from->params;
    for (int i = 0; i < 2; i++) type.shape.dims[1 + i] += window->begin[i] + window->end[i];
    window->rule = VALID;
    int32_t sizes = qdq_tflite_new_ints(w, "paddings", pads, 8, 2);
    int32_t padded = qdq_tflite_new(w, "padded", type, &params), value = TFLITE_NO_TENSOR;
    if (lowest)
        value = qdq_tflite_new_constant(w, "lowest", (qdq_type){type.dtype, {0}},
                                        lowest_element(w, type.dtype), &params);
    qdq_tflite_operator *op = qdq_tflite_emit(w, lowest ? TFLITE_PADV2 : TFLITE_PAD,
                                              lowest ? PADV2_OPTIONS : PAD_OPTIONS);
    qdq_tflite_add_input(w, op, x);
    qdq_tflite_add_input(w, op, sizes);
    if (lowest) qdq_tflite_add_input(w, op, value);
    qdq_tflite_add_output(w, op, padded);
    return padded;
}
