// SPDX-License-Identifier: Apache-2.0
// Writes Interpolate as RESIZE_BILINEAR, and two Gathers with the indices of the nearest rows and
// columns as RESIZE_NEAREST_NEIGHBOR.
#include "graph/formats/tflite/ops/tflite_ops.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/inspect.h"
#include "include/qdq/ops.h"

enum { BILINEAR_OPTIONS = 15, NEAREST_OPTIONS = 74 };

// Writes an operator that resizes x to the rows and columns of the result; its options align and
// half_pixel are in slots from `slot` on.
static void write_resize(qdq_tflite_writer *w, qdq_tflite_code code, int kind, unsigned slot,
                         bool align, bool half_pixel) {
    const qdq_shape *y = &qdq_tflite_type_at(w, w->unit->outs[0])->shape;
    int32_t in = qdq_tflite_in(w, 0), out = qdq_tflite_out(w, 0);
    int32_t sizes = qdq_tflite_new_ints(w, "size", y->dims + 1, 2, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, code, kind);
    qdq_tflite_add_input(w, op, in);
    qdq_tflite_add_input(w, op, sizes);
    qdq_tflite_add_output(w, op, out);
    qdq_tflite_option_byte(op, slot, align);
    qdq_tflite_option_byte(op, slot + 1, half_pixel);
}

void qdq_tflite_write_interpolate(qdq_tflite_writer *w) {
    const qdq_interpolate_attrs *a = w->node->attrs;
    const qdq_shape *x = &qdq_tflite_type_at(w, w->node->inputs[0].id)->shape;
    bool align = a->coordinate_transformation_mode == QDQ_ALIGN_CORNERS;
    if (a->mode.value == QDQ_NEAREST)
        qdq_tflite_cannot(w, "mode", "is nearest", "linear");
    else if (a->data_format != QDQ_NXC)
        qdq_tflite_cannot(w, "data_format", "is NCX", "NXC: channels in the last dim");
    else if (x->rank != 4)
        qdq_tflite_cannot(w, "x", TFLITE_FOUND(w, "has %d dims", x->rank), "4: [N, H, W, C]");
    else
        write_resize(w, TFLITE_RESIZE_BILINEAR, BILINEAR_OPTIONS, 2, align,
                     a->coordinate_transformation_mode == QDQ_HALF_PIXEL);
}

//---- Nearest ----------------------------------------------------------------

// True if the indices of a Gather are the nearest of an axis.
static bool are_nearest(qdq_tflite_writer *w, const qdq_node *gather, const qdq_tflite_nearest *r) {
    uint32_t indices = gather->inputs[1].id;
    const qdq_type *type = qdq_tflite_type_at(w, indices);
    size_t size = qdq_dtype_size(type->dtype);
    const unsigned char *data = qdq_value_data(w->draft->graph, (qdq_value){indices});
    if (!data || type->shape.rank != 1 || type->shape.dims[0] != r->out) return false;
    for (int64_t o = 0; o < r->out; o++) {
        int64_t index;
        qdq_widen_int64(type->dtype, data + (size_t)o * size, &index, 1);
        if (index != qdq_tflite_nearest_index(r, o)) return false;
    }
    return true;
}

void qdq_tflite_write_gather(qdq_tflite_writer *w) {
    const qdq_node *rows = w->unit->rows;
    const qdq_shape *y = &qdq_tflite_type_at(w, w->node->outputs[0])->shape;
    for (int mode = 0; rows && y->rank == 4 && mode < 3; mode++) {
        const qdq_shape *x = &qdq_tflite_type_at(w, rows->inputs[0].id)->shape;
        const qdq_tflite_nearest r = {x->dims[1], y->dims[1], mode == 2, mode == 1};
        const qdq_tflite_nearest c = {x->dims[2], y->dims[2], mode == 2, mode == 1};
        if (!are_nearest(w, rows, &r) || !are_nearest(w, w->node, &c)) continue;
        write_resize(w, TFLITE_RESIZE_NEAREST, NEAREST_OPTIONS, 0, mode == 2, mode == 1);
        return;
    }
    qdq_tflite_cannot(w, NULL, "does not take the nearest rows and columns of [N, H, W, C]",
                      "two Gathers that resize");
}
