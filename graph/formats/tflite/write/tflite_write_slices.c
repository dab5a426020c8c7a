// SPDX-License-Identifier: Apache-2.0
// Writes Slice: as SLICE or STRIDED_SLICE, or with the slices behind it as SPLIT or SPLIT_V.
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"

enum { STRIDED_SLICE_OPTIONS = 32, SPLIT_OPTIONS = 35, SPLIT_V_OPTIONS = 79 };

//---- STRIDED_SLICE ----------------------------------------------------------

// Bounds of all dims, and the masks of the options: a bit for each dim.
typedef struct bounds {
    int64_t begin[QDQ_MAX_RANK], end[QDQ_MAX_RANK], step[QDQ_MAX_RANK];
    int64_t end_mask, shrink_mask;
} bounds;

// Returns a bound counted from the front, within a range.
static int64_t clamped(int64_t bound, int64_t dim, int64_t least, int64_t greatest) {
    if (bound < 0) bound += dim;
    return bound < least ? least : bound > greatest ? greatest : bound;
}

// Reads the bounds of a Slice of x. A slice that goes backwards past the first
// element has no end: the mask says so.
static void read_bounds(const qdq_slice_attrs *a, const qdq_shape *x, bounds *b) {
    for (int i = 0; i < x->rank; i++) b->begin[i] = 0, b->end[i] = x->dims[i], b->step[i] = 1;
    for (size_t i = 0; i < a->starts.count; i++) {
        int64_t axis = a->axes.count ? a->axes.data[i] : (int64_t)i;
        if (axis < 0) axis += x->rank;
        int64_t dim = x->dims[axis], step = a->steps.count ? a->steps.data[i] : 1;
        bool back = step < 0;
        b->step[axis] = step;
        b->begin[axis] = clamped(a->starts.data[i], dim, 0, back ? dim - 1 : dim);
        b->end[axis] = clamped(a->ends.data[i], dim, back ? -1 : 0, back ? dim - 1 : dim);
        if (b->end[axis] >= 0) continue;
        b->end[axis] = 0;
        b->end_mask |= INT64_C(1) << axis;
    }
}

// Marks the dims of one element that the result lacks. False: it has other dims.
static bool shrink(const qdq_shape *cut, const qdq_shape *y, bounds *b) {
    int at = 0;
    for (int i = 0; i < cut->rank; i++) {
        int left = cut->rank - i, wanted = y->rank - at;
        if (at < y->rank && cut->dims[i] == y->dims[at] && (cut->dims[i] != 1 || left == wanted))
            at++;
        else if (cut->dims[i] == 1)
            b->shrink_mask |= INT64_C(1) << i;
        else
            return false;
    }
    return at == y->rank;
}

static void write_strided(qdq_tflite_writer *w, const qdq_node *slice) {
    const qdq_shape *x = &qdq_tflite_type_at(w, slice->inputs[0].id)->shape;
    const qdq_shape *cut = &qdq_tflite_type_at(w, slice->outputs[0])->shape;
    const qdq_shape *y = &qdq_tflite_type_at(w, w->unit->outs[0])->shape;
    bounds b = {0};
    size_t rank = (size_t)x->rank;
    read_bounds(slice->attrs, x, &b);
    if (slice != w->node && !shrink(cut, y, &b)) {
        qdq_tflite_cannot(w, "shape", "drops other dims than of 1 element", NULL);
        return;
    }
    int32_t in = qdq_tflite_in(w, 0), out = qdq_tflite_out(w, 0);
    int32_t begin = qdq_tflite_new_ints(w, "begin", b.begin, rank, 0);
    int32_t end = qdq_tflite_new_ints(w, "end", b.end, rank, 0);
    int32_t step = qdq_tflite_new_ints(w, "strides", b.step, rank, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_STRIDED_SLICE, STRIDED_SLICE_OPTIONS);
    const int32_t inputs[] = {in, begin, end, step};
    for (size_t i = 0; i < 4; i++) qdq_tflite_add_input(w, op, inputs[i]);
    qdq_tflite_add_output(w, op, out);
    if (b.end_mask) qdq_tflite_option_int(op, 1, b.end_mask);
    if (b.shrink_mask) qdq_tflite_option_int(op, 4, b.shrink_mask);
}

// Writes SLICE, whose parts go forwards without steps. False if the Slice is another one.
static bool write_plain(qdq_tflite_writer *w) {
    const qdq_shape *x = &qdq_tflite_type_at(w, w->node->inputs[0].id)->shape;
    const qdq_shape *y = &qdq_tflite_type_at(w, w->node->outputs[0])->shape;
    bounds b = {0};
    size_t rank = (size_t)x->rank;
    read_bounds(w->node->attrs, x, &b);
    for (size_t i = 0; i < rank; i++)
        if (b.step[i] != 1) return false;
    int32_t in = qdq_tflite_in(w, 0), out = qdq_tflite_out(w, 0);
    int32_t begin = qdq_tflite_new_ints(w, "begin", b.begin, rank, 0);
    int32_t size = qdq_tflite_new_ints(w, "size", y->dims, rank, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_SLICE, 0);
    qdq_tflite_add_input(w, op, in);
    qdq_tflite_add_input(w, op, begin);
    qdq_tflite_add_input(w, op, size);
    qdq_tflite_add_output(w, op, out);
    return true;
}

//---- Splits -----------------------------------------------------------------

static void write_split(qdq_tflite_writer *w) {
    const qdq_slice_attrs *a = w->node->attrs;
    size_t count = w->unit->out_count;
    int64_t sizes[64], axis = a->axes.data[0];
    int32_t outs[64];
    bool equal = qdq_tflite_was(w->node, "SPLIT");
    for (size_t i = 0; i < count; i++) {
        sizes[i] = qdq_tflite_type_at(w, w->unit->outs[i])->shape.dims[axis];
        outs[i] = qdq_tflite_out(w, i);
        equal = equal && sizes[i] == sizes[0];
    }
    int32_t x = qdq_tflite_in(w, 0);
    int32_t parts = equal ? TFLITE_NO_TENSOR : qdq_tflite_new_ints(w, "sizes", sizes, count, 0);
    int32_t dim = qdq_tflite_new_int(w, "axis", axis);
    qdq_tflite_operator *op = equal ? qdq_tflite_emit(w, TFLITE_SPLIT, SPLIT_OPTIONS)
                                    : qdq_tflite_emit(w, TFLITE_SPLIT_V, SPLIT_V_OPTIONS);
    if (equal) qdq_tflite_add_input(w, op, dim);
    qdq_tflite_add_input(w, op, x);
    if (!equal) qdq_tflite_add_input(w, op, parts);
    if (!equal) qdq_tflite_add_input(w, op, dim);
    for (size_t i = 0; i < count; i++) qdq_tflite_add_output(w, op, outs[i]);
    qdq_tflite_option_int(op, 0, (int64_t)count);
}

void qdq_tflite_write_slice(qdq_tflite_writer *w) {
    if (w->unit->splits)
        write_split(w);
    else if (!qdq_tflite_was(w->node, "SLICE") || !write_plain(w))
        write_strided(w, w->unit->slice ? w->unit->slice : w->node);
}
