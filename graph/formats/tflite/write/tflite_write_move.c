// SPDX-License-Identifier: Apache-2.0
// Writes ops that move elements: Concat, Pad, StaticReshape, StaticTranspose.
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/inspect.h"
#include "include/qdq/ops.h"
#include "runtime/numerics/dtype.h"

enum {
    CONCATENATION_OPTIONS = 10,
    PAD_OPTIONS = 22,
    PADV2_OPTIONS = 43,
    RESHAPE_OPTIONS = 17,
    SQUEEZE_OPTIONS = 30,
    TO_SPACE_OPTIONS = 94,
    TO_DEPTH_OPTIONS = 19,
    TRANSPOSE_OPTIONS = 26
};

void qdq_tflite_write_concat(qdq_tflite_writer *w) {
    const qdq_concat_attrs *a = w->node->attrs;
    size_t count = w->unit->in_count;
    int32_t *parts = qdq_mempool_array(w->draft->mempool, count, sizeof *parts);
    if (!parts) return;
    for (size_t i = 0; i < count; i++) parts[i] = qdq_tflite_in(w, i);
    int32_t y = qdq_tflite_out(w, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_CONCATENATION, CONCATENATION_OPTIONS);
    for (size_t i = 0; i < count; i++) qdq_tflite_add_input(w, op, parts[i]);
    qdq_tflite_add_output(w, op, y);
    qdq_tflite_option_int(op, 0, a->axis.value);
    qdq_tflite_option_byte(op, 1, w->unit->activation);
}

//---- Pad --------------------------------------------------------------------

// Returns the zero point of the codes that are padded; 0 for others.
static int64_t zero_point_of(const qdq_tflite_writer *w) {
    const qdq_tflite_params *params = w->draft->params[w->unit->in[0].value];
    if (!params) params = w->draft->params[w->unit->outs[0]];
    return params ? params->zps[0] : 0;
}

// True if PAD adds the element of the node: none and a zero point of 0, or the zero point.
static bool adds_zero(const qdq_tflite_writer *w) {
    uint32_t value = w->node->inputs[1].id;
    const qdq_type *type = qdq_tflite_type_at(w, value);
    bool codes =
        w->unit->codes || !qdq_dtype_is_real(qdq_tflite_type_at(w, w->node->inputs[0].id)->dtype);
    int64_t zero = codes ? zero_point_of(w) : 0, element = 1;
    if (w->unit->codes) return true;  // real 0
    if (qdq_tflite_was(w->node, "PADV2")) return false;
    if (!value) return zero == 0;
    const void *data = qdq_value_data(w->draft->graph, (qdq_value){value});
    if (!codes || !data) return false;
    qdq_widen_int64(type->dtype, data, &element, 1);
    return element == zero;
}

// Returns the tensor of the element that is added: the node's, or 0.
static int32_t element_tensor(qdq_tflite_writer *w) {
    uint32_t value = w->node->inputs[1].id;
    const qdq_tflite_params *params = w->draft->params[w->unit->in[0].value];
    if (value) return qdq_tflite_tensor_of(w, value, params, NULL);
    qdq_type type = {qdq_tflite_type_at(w, w->node->inputs[0].id)->dtype, {0}};
    void *zero = qdq_mempool_array(w->draft->mempool, 8, 1);
    return qdq_tflite_new_constant(w, "zero", type, zero, params);
}

void qdq_tflite_write_pad(qdq_tflite_writer *w) {
    const qdq_pad_attrs *a = w->node->attrs;
    int64_t sizes[2 * QDQ_MAX_RANK] = {0};
    int rank = qdq_tflite_type_at(w, w->node->inputs[0].id)->shape.rank;
    size_t axes = a->axes.count ? a->axes.count : (size_t)rank;
    if (a->mode != QDQ_PAD_CONSTANT) {
        qdq_tflite_cannot(w, "mode", "is not constant", "constant");
        return;
    }
    for (size_t i = 0; i < axes; i++) {
        int64_t axis = a->axes.count ? a->axes.data[i] : (int64_t)i;
        if (axis < 0) axis += rank;
        sizes[2 * axis] = a->pads.data[i], sizes[2 * axis + 1] = a->pads.data[axes + i];
        if (a->pads.data[i] < 0 || a->pads.data[axes + i] < 0)
            qdq_tflite_cannot(w, "pads", "removes elements", "0 or more");
    }
    if (w->refused) return;
    bool zero = adds_zero(w);
    int32_t x = qdq_tflite_in(w, 0), y = qdq_tflite_out(w, 0);
    int32_t paddings = qdq_tflite_new_ints(w, "paddings", sizes, 2 * (size_t)rank, 2);
    int32_t element = zero ? TFLITE_NO_TENSOR : element_tensor(w);
    qdq_tflite_operator *op =
        qdq_tflite_emit(w, zero ? TFLITE_PAD : TFLITE_PADV2, zero ? PAD_OPTIONS : PADV2_OPTIONS);
    qdq_tflite_add_input(w, op, x);
    qdq_tflite_add_input(w, op, paddings);
    if (!zero) qdq_tflite_add_input(w, op, element);
    qdq_tflite_add_output(w, op, y);
}

//---- Shapes -----------------------------------------------------------------

// Lists the dims that the result lacks, each 1, if these are all that changes.
static bool find_dropped(const qdq_shape *x, const qdq_shape *y, int64_t *dropped, size_t *count) {
    int at = 0;
    *count = 0;
    for (int i = 0; i < x->rank; i++) {
        if (at < y->rank && x->dims[i] == y->dims[at] &&
            (x->dims[i] != 1 || x->rank - i == y->rank - at))
            at++;
        else if (x->dims[i] == 1)
            dropped[(*count)++] = i;
        else
            return false;
    }
    return at == y->rank;
}

static bool write_block(qdq_tflite_writer *w) {
    bool to_space = w->unit->block < 0;
    int64_t block = to_space ? -w->unit->block : w->unit->block;
    qdq_tflite_operator *op =
        to_space ? qdq_tflite_emit_unit(w, TFLITE_DEPTH_TO_SPACE, TO_SPACE_OPTIONS, 1)
                 : qdq_tflite_emit_unit(w, TFLITE_SPACE_TO_DEPTH, TO_DEPTH_OPTIONS, 1);
    qdq_tflite_option_int(op, 0, block);
    return true;
}

// Writes EXPAND_DIMS. False if y is not x with one more dim of 1.
static bool write_expand_dims(qdq_tflite_writer *w, const qdq_shape *x, const qdq_shape *y) {
    int axis = 0;
    while (axis < x->rank && x->dims[axis] == y->dims[axis]) axis++;
    bool fits = y->rank == x->rank + 1 && y->dims[axis] == 1;
    for (int i = axis; fits && i < x->rank; i++) fits = x->dims[i] == y->dims[i + 1];
    if (!fits) return false;
    int32_t in = qdq_tflite_in(w, 0), out = qdq_tflite_out(w, 0);
    int32_t dim = qdq_tflite_new_int(w, "axis", axis);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_EXPAND_DIMS, 0);
    qdq_tflite_add_input(w, op, in);
    qdq_tflite_add_input(w, op, dim);
    qdq_tflite_add_output(w, op, out);
    return true;
}

void qdq_tflite_write_reshape(qdq_tflite_writer *w) {
    const qdq_shape *y = &qdq_tflite_type_at(w, w->unit->outs[0])->shape;
    const qdq_shape *x = &qdq_tflite_type_at(w, w->unit->in[0].value)->shape;
    int64_t dropped[QDQ_MAX_RANK];
    size_t count;
    if (w->unit->slice) {
        qdq_tflite_write_slice(w);
        return;
    }
    if (w->unit->block || qdq_tflite_was(w->node, "EXPAND_DIMS")) {
        if (w->unit->block ? write_block(w) : write_expand_dims(w, x, y)) return;
    }
    if (qdq_tflite_was(w->node, "SQUEEZE") && find_dropped(x, y, dropped, &count)) {
        qdq_tflite_operator *op = qdq_tflite_emit_unit(w, TFLITE_SQUEEZE, SQUEEZE_OPTIONS, 1);
        qdq_tflite_option_list(w, op, 0, dropped, count);
        return;
    }
    // A list of no dims is no constant: a scalar has the option [0] instead.
    static const int64_t scalar[] = {0};
    int32_t in = qdq_tflite_in(w, 0), out = qdq_tflite_out(w, 0), shape = TFLITE_NO_TENSOR;
    if (y->rank) shape = qdq_tflite_new_ints(w, "shape", y->dims, (size_t)y->rank, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_RESHAPE, RESHAPE_OPTIONS);
    qdq_tflite_add_input(w, op, in);
    if (y->rank) qdq_tflite_add_input(w, op, shape);
    qdq_tflite_add_output(w, op, out);
    qdq_tflite_option_list(w, op, 0, y->rank ? y->dims : scalar, y->rank ? (size_t)y->rank : 1);
}

void qdq_tflite_write_transpose(qdq_tflite_writer *w) {
    const qdq_transpose_attrs *a = w->node->attrs;
    int64_t order[QDQ_MAX_RANK];
    int rank = qdq_tflite_type_at(w, w->node->inputs[0].id)->shape.rank;
    for (int i = 0; i < rank; i++) {
        order[i] = a->order.count ? a->order.data[i] : rank - 1 - i;
        if (order[i] < 0) order[i] += rank;
    }
    int32_t x = qdq_tflite_in(w, 0), y = qdq_tflite_out(w, 0);
    int32_t perm = qdq_tflite_new_ints(w, "order", order, (size_t)rank, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_TRANSPOSE, TRANSPOSE_OPTIONS);
    qdq_tflite_add_input(w, op, x);
    qdq_tflite_add_input(w, op, perm);
    qdq_tflite_add_output(w, op, y);
}
