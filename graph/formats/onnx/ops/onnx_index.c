// SPDX-License-Identifier: Apache-2.0
// Converts ONNX's ops that move elements by their index and have shapes, axes or numbers as inputs,
// which are attributes here: Slice, Split, Pad, Expand, Tile, Trilu, EyeLike, OneHot, CumSum;
// ConstantOfShape and Range with results that are too large to compute while reading.
#include <math.h>
#include <string.h>

#include "graph/formats/onnx/fold/onnx_fold_move.h"
#include "graph/formats/onnx/ops/onnx_ops.h"

// Sets an attribute to a list; an empty list is the default.
static void set_list(qdq_onnx_call *call, const char *attr, qdq_ints list) {
    if (list.count) qdq_onnx_set_ints(call, attr, list.data, list.count);
}

bool qdq_onnx_int_at_input(qdq_onnx_node *node, size_t i, const char *name, int64_t *out) {
    qdq_onnx_value *value = qdq_onnx_input(node, i);
    if (!value) return true;
    bool known = qdq_onnx_known(node->im, value) && qdq_onnx_count(value->shape) == 1;
    if (known && (value->ints || fabs(value->reals[0]) < 0x1p62)) {
        *out = qdq_onnx_int_at(value, 0);
        return true;
    }
    const char *found =
        qdq_onnx_known(node->im, value)
            ? ONNX_TEXT(node, "is '%.128s'", value->name)
            : ONNX_TEXT(node, "is '%.128s', %s", value->name, qdq_onnx_why_unknown(node, value));
    qdq_onnx_refuse(node, name, found, "a whole number that is known before a run");
    return false;
}

//---- Slice and Split --------------------------------------------------------

static int64_t clamped(int64_t at, int64_t size, int64_t low, int64_t high) {
    if (at < 0) at += size;
    return at < low ? low : at > high ? high : at;
}

// True if a slice has no elements; then *shape is its shape. Values that nothing reads may be
// empty.
static bool is_empty(const qdq_shape x, const qdq_ints *lists, qdq_shape *shape) {
    bool empty = false;
    *shape = x;
    for (size_t i = 0; i < lists[0].count; i++) {
        int64_t axis = i < lists[2].count ? lists[2].data[i] : (int64_t)i;
        int64_t step = i < lists[3].count ? lists[3].data[i] : 1;
        if (axis < 0) axis += x.rank;
        if (axis < 0 || axis >= x.rank || i >= lists[1].count || step < 1) return false;
        int64_t size = x.dims[axis], begin = clamped(lists[0].data[i], size, 0, size);
        int64_t end = clamped(lists[1].data[i], size, 0, size);
        shape->dims[axis] = end > begin ? (end - begin - 1) / step + 1 : 0;
        empty = empty || end <= begin;
    }
    return empty;
}

// The lists are attributes before opset 10.
void qdq_onnx_slice(qdq_onnx_node *node, const qdq_onnx_op *row) {
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    enum { LISTS = sizeof names / sizeof names[0] };
    qdq_ints lists[LISTS];
    qdq_onnx_call call;
    for (size_t i = 0; i < LISTS; i++)
        if (!qdq_onnx_list_of(node, i + 1, names[i], &lists[i])) return;
    if (lists[0].count == 0 && qdq_onnx_input(node, 1)) {
        qdq_onnx_alias(node, 0, node->inputs[0]);
        return;
    }
    qdq_shape empty;
    if (is_empty(node->inputs[0]->shape, lists, &empty)) {
        static const int64_t none = 0;
        static const double zero = 0.0;
        bool real = qdq_onnx_elem_is_real(node->inputs[0]->elem);
        qdq_onnx_bind_numbers(node, 0, node->inputs[0]->elem, empty, real ? NULL : &none,
                              real ? &zero : NULL);
        return;
    }
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    for (size_t i = 0; i < LISTS; i++) set_list(&call, names[i], lists[i]);
    qdq_onnx_finish(&call);
}

// Adds output i of Split: `count` indices of the axis from `begin` on.
static void split_part(qdq_onnx_node *node, const qdq_onnx_op *row, size_t i, int64_t axis,
                       int64_t begin, int64_t count) {
    qdq_onnx_call call;
    int64_t end = begin + count;
    if (!node->outputs[i]) return;
    qdq_onnx_begin_output(&call, node, row->ours, i);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_ints(&call, "starts", &begin, 1);
    qdq_onnx_set_ints(&call, "ends", &end, 1);
    qdq_onnx_set_ints(&call, "axes", &axis, 1);
    qdq_onnx_bind(node, i, qdq_onnx_end(&call));
}

// Parts have the given sizes, or are equal but for the last, which may be smaller.
void qdq_onnx_split(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_ints sizes;
    int axis, rank = node->inputs[0]->shape.rank;
    size_t parts = node->output_count;
    if (!qdq_onnx_axis(node, qdq_onnx_int(node, "axis", 0), rank, &axis) ||
        !qdq_onnx_list_of(node, 1, "split", &sizes))
        return;
    if (parts == 0 || (sizes.count && sizes.count != parts)) {
        qdq_onnx_refuse(node, "split", ONNX_TEXT(node, "has %zu sizes", sizes.count),
                        ONNX_TEXT(node, "%zu, one for each output", parts));
        return;
    }
    int64_t left = node->inputs[0]->shape.dims[axis], begin = 0;
    int64_t each = (left - 1) / (int64_t)parts + 1;
    for (size_t i = 0; i < parts; i++) {
        bool last = i + 1 == parts;
        int64_t count = sizes.count ? sizes.data[i] : last && left < each ? left : each;
        if (count < 1 || count > left || (last && count < left)) {
            qdq_onnx_refuse(node, "split",
                            ONNX_TEXT(node, "is %lld for output %zu", (long long)count, i),
                            ONNX_TEXT(node, "%s%lld, the rest of dim %d", last ? "" : "1 to ",
                                      (long long)left, axis));
            return;
        }
        split_part(node, row, i, axis, begin, count);
        begin += count, left -= count;
    }
}

//---- Pad --------------------------------------------------------------------

// True if a value is known to be a single +0, which is Pad's default.
static bool is_zero(qdq_onnx_import *im, qdq_onnx_value *value) {
    if (!qdq_onnx_known(im, value) || qdq_onnx_count(value->shape) != 1) return false;
    return value->ints ? value->ints[0] == 0 : value->reals[0] == 0.0 && !signbit(value->reals[0]);
}

// Pads and value are attributes before opset 11.
void qdq_onnx_pad(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const char *mode = qdq_onnx_word(node, "mode", "constant");
    qdq_onnx_value *value = qdq_onnx_input(node, 2);
    double number = qdq_onnx_float(node, "value", 0);
    qdq_ints pads, axes;
    qdq_onnx_call call;
    if (!qdq_onnx_list_of(node, 1, "pads", &pads) || !qdq_onnx_list_of(node, 3, "axes", &axes))
        return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    if (strcmp(mode, "constant") == 0) {
        bool given = value && qdq_onnx_count(value->shape) && !is_zero(node->im, value);
        if (given)
            qdq_onnx_port(&call, "value", value);
        else if (!value && number != 0.0)
            qdq_onnx_port_made(
                &call, "value",
                qdq_onnx_scalar(node, "value", qdq_onnx_dtype(node->inputs[0]->elem), number));
    }
    set_list(&call, "pads", pads);
    set_list(&call, "axes", axes);
    qdq_onnx_set_word(&call, "mode", mode);
    qdq_onnx_finish(&call);
}

//---- Shapes -----------------------------------------------------------------

static void convert_list(qdq_onnx_node *node, const qdq_onnx_op *row, const char *attr) {
    qdq_ints list;
    qdq_onnx_call call;
    if (!qdq_onnx_list_of(node, 1, attr, &list)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    set_list(&call, attr, list);
    qdq_onnx_finish(&call);
}

void qdq_onnx_expand(qdq_onnx_node *node, const qdq_onnx_op *row) {
    convert_list(node, row, "shape");
}

void qdq_onnx_tile(qdq_onnx_node *node, const qdq_onnx_op *row) {
    convert_list(node, row, "repeats");
}

// The run repeats one element.
void qdq_onnx_constant_of_shape(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_value *value = qdq_onnx_new_value(node->im, ONNX_TEXT(node, "%s/value", node->name));
    qdq_ints dims;
    qdq_onnx_call call;
    (void)row;
    if (!value || !qdq_onnx_list_of(node, 0, "shape", &dims)) return;
    if (!qdq_onnx_repeated(node, value)) {
        qdq_onnx_refuse(node, "value", "is no tensor of one number", NULL);
        return;
    }
    if (!dims.count) {
        qdq_onnx_alias(node, 0, value);
        return;
    }
    qdq_onnx_begin(&call, node, "Expand", NULL);
    qdq_onnx_port(&call, "x", value);
    qdq_onnx_set_ints(&call, "shape", dims.data, dims.count);
    qdq_onnx_finish(&call);
}

// The run adds `delta` to `start` again and again, as ONNX Runtime does.
void qdq_onnx_range(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int64_t count, one = 1, left;
    qdq_onnx_call steps, all, sum;
    (void)row;
    if (!qdq_onnx_range_count(node, &count) || count < 2) {
        qdq_onnx_refuse(node, NULL, "has no start, limit and delta that make a list",
                        "single numbers of one dtype that are known before a run");
        return;
    }
    left = count - 1;
    qdq_onnx_begin(&steps, node, "Expand", "steps");
    qdq_onnx_port(&steps, "x", node->inputs[2]);
    qdq_onnx_set_ints(&steps, "shape", &left, 1);
    qdq_onnx_begin(&all, node, "Concat", "terms");
    qdq_onnx_port_made(&all, "xs",
                       qdq_onnx_reshaped(node, node->inputs[0], "start", (qdq_shape){1, {one}}));
    qdq_onnx_port_made(&all, "xs", qdq_onnx_end(&steps));
    qdq_onnx_set_int(&all, "axis", 0);
    qdq_onnx_begin(&sum, node, "CumSum", NULL);
    qdq_onnx_port_made(&sum, "x", qdq_onnx_end(&all));
    qdq_onnx_set_int(&sum, "axis", 0);
    qdq_onnx_finish(&sum);
}

// New versions have modes; ours is the first of them.
void qdq_onnx_space_to_depth(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const char *mode = qdq_onnx_word(node, "mode", "DCR");
    qdq_onnx_call call;
    if (strcmp(mode, "DCR") != 0) {
        qdq_onnx_refuse(node, "mode", ONNX_TEXT(node, "is '%.64s'", mode), "DCR");
        return;
    }
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_finish(&call);
}

//---- Diagonals, rows with one other element, sums ---------------------------

void qdq_onnx_trilu(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int64_t k = 0;
    qdq_onnx_call call;
    if (!qdq_onnx_int_at_input(node, 1, "k", &k)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_bool(&call, "upper", qdq_onnx_int(node, "upper", 1) != 0);
    qdq_onnx_set_int(&call, "k", k);
    qdq_onnx_finish(&call);
}

void qdq_onnx_eye_like(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int elem = (int)qdq_onnx_int(node, "dtype", node->inputs[0]->elem);
    qdq_onnx_call call;
    if (qdq_onnx_dtype(elem) == QDQ_DTYPE_NONE) {
        qdq_onnx_refuse(node, "dtype", ONNX_TEXT(node, "is %s", qdq_onnx_elem_name(elem)),
                        "a dtype that `qdq ops --dtypes` lists");
        return;
    }
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_set_dtype(&call, "dtype", qdq_onnx_dtype(elem));
    qdq_onnx_finish(&call);
}

// Indices of other dtypes, which may be floats, become int64.
void qdq_onnx_one_hot(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_value *indices = node->inputs[0];
    int64_t depth = 0;
    qdq_onnx_call call, cast;
    if (!qdq_onnx_int_at_input(node, 1, "depth", &depth)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    if (indices->elem == ONNX_INT32 || indices->elem == ONNX_INT64) {
        qdq_onnx_port(&call, "indices", indices);
    } else {
        qdq_onnx_begin(&cast, node, "Cast", "indices");
        qdq_onnx_port(&cast, "x", indices);
        qdq_onnx_set_dtype(&cast, "dtype", QDQ_INT64);
        qdq_onnx_port_made(&call, "indices", qdq_onnx_end(&cast));
    }
    qdq_onnx_port(&call, "values", node->inputs[2]);
    qdq_onnx_set_int(&call, "depth", depth);
    qdq_onnx_set_int(&call, "axis", qdq_onnx_int(node, "axis", -1));
    qdq_onnx_finish(&call);
}

void qdq_onnx_cum_sum(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int64_t axis = 0;
    qdq_onnx_call call;
    if (!qdq_onnx_int_at_input(node, 1, "axis", &axis)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_int(&call, "axis", axis);
    qdq_onnx_set_bool(&call, "exclusive", qdq_onnx_int(node, "exclusive", 0) != 0);
    qdq_onnx_set_bool(&call, "reverse", qdq_onnx_int(node, "reverse", 0) != 0);
    qdq_onnx_finish(&call);
}
