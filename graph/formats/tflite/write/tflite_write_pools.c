// SPDX-License-Identifier: Apache-2.0
// Writes AvgPool and MaxPool.
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"

enum { POOL_OPTIONS = 5 };

// True if each element of the padding lies in a window with an element of x; an average that
// excludes it is refused otherwise, and a greatest element too.
static bool pads_less_than_windows(const qdq_tflite_window *window) {
    for (int i = 0; i < 2; i++) {
        int64_t reach = (window->kernel[i] - 1) * window->dilations[i] + 1;
        if (window->begin[i] >= reach || window->end[i] >= reach) return false;
    }
    return true;
}

void qdq_tflite_write_pool(qdq_tflite_writer *w) {
    const qdq_pool_attrs *a = w->node->attrs;
    bool average = qdq_tflite_is(w->node, "AvgPool");
    qdq_tflite_window window = {.kernel = {1, 1}};
    const qdq_tflite_window_attrs attrs = {.strides = &a->strides,
                                           .begin = &a->pads_begin,
                                           .end = &a->pads_end,
                                           .auto_pad = (int)a->auto_pad,
                                           .last = a->data_format == QDQ_NXC};
    qdq_shape x = qdq_tflite_type_at(w, w->node->inputs[0].id)->shape;
    qdq_shape y = qdq_tflite_type_at(w, w->node->outputs[0])->shape;
    for (int i = 0; i < 2 && a->kernel.count == 2; i++) window.kernel[i] = a->kernel.data[i];
    for (size_t i = 0; i < a->dilations.count; i++)
        if (a->dilations.data[i] != 1) qdq_tflite_cannot(w, "dilations", "are greater than 1", "1");
    if (w->refused || !qdq_tflite_read_window(w, &attrs, x, y, &window)) return;
    bool ruled = qdq_tflite_find_rule(&window, x, y);
    bool padded = window.begin[0] || window.end[0] || window.begin[1] || window.end[1];
    bool excluded = average && a->exclude_pad == QDQ_TRUE;
    if (padded && excluded && !ruled) {
        qdq_tflite_cannot(w, "pads_begin", "and pads_end are no padding of SAME or VALID",
                          "ceil(in / stride) windows, the larger part after");
        return;
    }
    if (!average && !ruled && !pads_less_than_windows(&window)) {
        qdq_tflite_cannot(w, "pads_begin", "has a whole window", "less than a window");
        return;
    }
    int32_t in = qdq_tflite_in(w, 0), out = qdq_tflite_out(w, 0);
    if (padded && ((average && !excluded) || !ruled))
        in = qdq_tflite_pad_window(w, &window, in, !average);
    qdq_tflite_operator *op =
        qdq_tflite_emit(w, average ? TFLITE_AVERAGE_POOL_2D : TFLITE_MAX_POOL_2D, POOL_OPTIONS);
    qdq_tflite_add_input(w, op, in);
    qdq_tflite_add_output(w, op, out);
    qdq_tflite_option_byte(op, 0, window.rule);
    qdq_tflite_option_int(op, 1, window.strides[1]);
    qdq_tflite_option_int(op, 2, window.strides[0]);
    qdq_tflite_option_int(op, 3, window.kernel[1]);
    qdq_tflite_option_int(op, 4, window.kernel[0]);
    qdq_tflite_option_byte(op, 5, w->unit->activation);
}
