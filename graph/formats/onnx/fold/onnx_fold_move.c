// SPDX-License-Identifier: Apache-2.0
// Moves known numbers while a model is read.
#include "graph/formats/onnx/fold/onnx_fold_move.h"

#include <math.h>
#include <string.h>

#include "graph/formats/onnx/ops/onnx_ops.h"

//---- Places -----------------------------------------------------------------

bool qdq_onnx_broadcast(qdq_shape a, qdq_shape b, qdq_shape *out) {
    *out = (qdq_shape){.rank = a.rank > b.rank ? a.rank : b.rank};
    for (int i = 0; i < out->rank; i++) {
        int ia = i - (out->rank - a.rank), ib = i - (out->rank - b.rank);
        int64_t da = ia < 0 ? 1 : a.dims[ia], db = ib < 0 ? 1 : b.dims[ib];
        if (da != db && da != 1 && db != 1) return false;
        out->dims[i] = da == 1 ? db : da;
    }
    return true;
}

// Sets the coordinates of element i.
static void unravel(qdq_shape shape, size_t i, int64_t *at) {
    for (int k = shape.rank; k-- > 0;) {
        at[k] = (int64_t)(i % (size_t)shape.dims[k]);
        i /= (size_t)shape.dims[k];
    }
}

static size_t ravel(qdq_shape shape, const int64_t *at) {
    size_t i = 0;
    for (int k = 0; k < shape.rank; k++) i = i * (size_t)shape.dims[k] + (size_t)at[k];
    return i;
}

size_t qdq_onnx_broadcast_at(qdq_shape shape, qdq_shape from, size_t i) {
    int64_t at[QDQ_MAX_RANK], own[QDQ_MAX_RANK];
    unravel(shape, i, at);
    for (int k = 0; k < from.rank; k++)
        own[k] = from.dims[k] == 1 ? 0 : at[k + shape.rank - from.rank];
    return ravel(from, own);
}

static void copy(const qdq_onnx_value *out, size_t i, const qdq_onnx_value *from, size_t k) {
    if (out->ints)
        qdq_onnx_put_int(out, i, qdq_onnx_int_at(from, k));
    else
        qdq_onnx_put_real(out, i, qdq_onnx_real_at(from, k));
}

static bool copy_all(qdq_onnx_node *node, qdq_shape shape) {
    const qdq_onnx_value *x = node->inputs[0];
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, shape);
    for (size_t i = 0; out && i < qdq_onnx_count(shape); i++) copy(out, i, x, i);
    return out != NULL;
}

static bool axis_of(int64_t axis, int rank, int *out) {
    *out = (int)(axis < 0 ? axis + rank : axis);
    return axis >= -rank && axis < rank;
}

//---- Ops --------------------------------------------------------------------

static bool fold_reshape(qdq_onnx_node *node) {
    qdq_shape shape;
    return qdq_onnx_new_shape(node, &shape) && copy_all(node, shape);
}

static bool fold_transpose(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0];
    int rank = x->shape.rank, order[QDQ_MAX_RANK];
    qdq_shape shape = {.rank = rank};
    bool seen[QDQ_MAX_RANK] = {false};
    qdq_ints perm;
    bool given = qdq_onnx_int_list(node, "perm", &perm) && perm.count;
    if (given && perm.count != (size_t)rank) return false;
    for (int i = 0; i < rank; i++) {
        if (!axis_of(given ? perm.data[i] : rank - 1 - i, rank, &order[i]) || seen[order[i]])
            return false;
        seen[order[i]] = true;
        shape.dims[i] = x->shape.dims[order[i]];
    }
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, shape);
    for (size_t i = 0; out && i < qdq_onnx_count(shape); i++) {
        int64_t at[QDQ_MAX_RANK], own[QDQ_MAX_RANK] = {0};
        unravel(shape, i, at);
        for (int k = 0; k < rank; k++) own[order[k]] = at[k];
        copy(out, i, x, ravel(x->shape, own));
    }
    return out != NULL;
}

static bool fold_gather(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0], *index = qdq_onnx_input(node, 1);
    int axis;
    if (!index || !index->ints || !axis_of(qdq_onnx_int(node, "axis", 0), x->shape.rank, &axis))
        return false;
    if (x->shape.rank - 1 + index->shape.rank > QDQ_MAX_RANK) return false;
    qdq_shape shape = {0};
    size_t outer = 1, inner = 1, size = (size_t)x->shape.dims[axis];
    for (int i = 0; i < axis; i++) outer *= (size_t)(shape.dims[shape.rank++] = x->shape.dims[i]);
    for (int i = 0; i < index->shape.rank; i++) shape.dims[shape.rank++] = index->shape.dims[i];
    for (int i = axis + 1; i < x->shape.rank; i++)
        inner *= (size_t)(shape.dims[shape.rank++] = x->shape.dims[i]);
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, shape);
    size_t count = qdq_onnx_count(index->shape);
    for (size_t i = 0; out && i < outer * count * inner; i++) {
        int64_t at = index->ints[i / inner % count];
        if (at < 0) at += (int64_t)size;
        if (at < 0 || at >= (int64_t)size) return false;
        copy(out, i, x, (i / inner / count * size + (size_t)at) * inner + i % inner);
    }
    return out != NULL;
}

static bool fold_concat(qdq_onnx_node *node) {
    const qdq_onnx_value *first = node->inputs[0];
    qdq_shape shape = first->shape;
    int axis;
    if (!axis_of(qdq_onnx_int(node, "axis", 1), shape.rank, &axis)) return false;
    shape.dims[axis] = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        const qdq_onnx_value *x = node->inputs[i];
        if (!x || x->elem != first->elem || x->shape.rank != shape.rank) return false;
        for (int k = 0; k < shape.rank; k++)
            if (k != axis && x->shape.dims[k] != shape.dims[k]) return false;
        shape.dims[axis] += x->shape.dims[axis];
    }
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, first->elem, shape);
    int64_t begin = 0;
    for (size_t i = 0; out && i < node->input_count; i++) {
        const qdq_onnx_value *x = node->inputs[i];
        for (size_t k = 0; k < qdq_onnx_count(x->shape); k++) {
            int64_t at[QDQ_MAX_RANK];
            unravel(x->shape, k, at);
            at[axis] += begin;
            copy(out, ravel(shape, at), x, k);
        }
        begin += x->shape.dims[axis];
    }
    return out != NULL;
}

// A dim after a slice: its first element, the step to the next, and its size.
typedef struct slice_dim {
    int64_t first, step, count;
} slice_dim;

// Returns an index within a dim: from the end it counts backwards, and beyond an end it stands for
// the end.
static int64_t within(int64_t index, int64_t size, int64_t step) {
    int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    if (index < 0) index = index < -size ? least : index + size;
    return index > most ? most : index;
}

static bool slice_of(int64_t size, int64_t start, int64_t end, int64_t step, slice_dim *out) {
    if (step == 0 || step == INT64_MIN) return false;
    int64_t from = within(start, size, step), to = within(end, size, step);
    int64_t room = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
    *out = (slice_dim){from, step, room > 0 ? (room - 1) / stride + 1 : 0};
    return true;
}

// Starts, ends, axes and steps are inputs, or attributes before opset 10.
static bool slice_dims(qdq_onnx_node *node, qdq_shape x, slice_dim *dims) {
    qdq_ints starts, ends, axes, steps;
    if (!qdq_onnx_list_of(node, 1, "starts", &starts) ||
        !qdq_onnx_list_of(node, 2, "ends", &ends) || !qdq_onnx_list_of(node, 3, "axes", &axes) ||
        !qdq_onnx_list_of(node, 4, "steps", &steps))
        return false;
    if (ends.count != starts.count || (axes.count && axes.count != starts.count) ||
        (steps.count && steps.count != starts.count))
        return false;
    for (int k = 0; k < x.rank; k++) dims[k] = (slice_dim){0, 1, x.dims[k]};
    for (size_t i = 0; i < starts.count; i++) {
        int axis;
        if (!axis_of(axes.count ? axes.data[i] : (int64_t)i, x.rank, &axis) ||
            !slice_of(x.dims[axis], starts.data[i], ends.data[i], steps.count ? steps.data[i] : 1,
                      &dims[axis]))
            return false;
    }
    return true;
}

static bool fold_slice(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0];
    slice_dim dims[QDQ_MAX_RANK];
    qdq_shape shape = x->shape;
    if (!slice_dims(node, x->shape, dims)) return false;
    for (int k = 0; k < shape.rank; k++) shape.dims[k] = dims[k].count;
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, shape);
    for (size_t i = 0; out && i < qdq_onnx_count(shape); i++) {
        int64_t at[QDQ_MAX_RANK];
        unravel(shape, i, at);
        for (int k = 0; k < shape.rank; k++) at[k] = dims[k].first + at[k] * dims[k].step;
        copy(out, i, x, ravel(x->shape, at));
    }
    return out != NULL;
}

static bool fold_expand(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0];
    qdq_ints dims;
    qdq_shape wanted = {0}, shape;
    if (!qdq_onnx_list_of(node, 1, "shape", &dims) || dims.count > QDQ_MAX_RANK) return false;
    for (size_t i = 0; i < dims.count; i++) wanted.dims[wanted.rank++] = dims.data[i];
    if (!qdq_onnx_broadcast(x->shape, wanted, &shape)) return false;
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, shape);
    for (size_t i = 0; out && i < qdq_onnx_count(shape); i++)
        copy(out, i, x, qdq_onnx_broadcast_at(shape, x->shape, i));
    return out != NULL;
}

static bool fold_tile(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0];
    qdq_ints times;
    qdq_shape shape = x->shape;
    if (!qdq_onnx_list_of(node, 1, "repeats", &times) || times.count != (size_t)shape.rank)
        return false;
    for (int i = 0; i < shape.rank; i++)
        if (__builtin_mul_overflow(shape.dims[i], times.data[i], &shape.dims[i])) return false;
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, shape);
    for (size_t i = 0; out && i < qdq_onnx_count(shape); i++) {
        int64_t at[QDQ_MAX_RANK];
        unravel(shape, i, at);
        for (int k = 0; k < shape.rank; k++) at[k] %= x->shape.dims[k];
        copy(out, i, x, ravel(x->shape, at));
    }
    return out != NULL;
}

// Counts as ONNX Runtime does: the distance in double, rounded up.
bool qdq_onnx_range_count(qdq_onnx_node *node, int64_t *count) {
    qdq_onnx_value *given[3];
    for (size_t i = 0; i < 3; i++) {
        given[i] = qdq_onnx_input(node, i);
        if (!given[i] || given[i]->elem != given[0]->elem || qdq_onnx_count(given[i]->shape) != 1 ||
            !qdq_onnx_known(node->im, given[i]))
            return false;
    }
    double by = qdq_onnx_real_at(given[2], 0);
    double steps = ceil((qdq_onnx_real_at(given[1], 0) - qdq_onnx_real_at(given[0], 0)) / by);
    if (by == 0.0 || !(steps < 0x1p62)) return false;
    *count = steps > 0.0 ? (int64_t)steps : 0;
    return true;
}

// Computes each element from the element before it plus `delta`, rounded to the type.
static bool fold_range(qdq_onnx_node *node) {
    const qdq_onnx_value *start = node->inputs[0], *delta = qdq_onnx_input(node, 2);
    qdq_shape shape = {.rank = 1};
    if (!qdq_onnx_range_count(node, &shape.dims[0])) return false;
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, start->elem, shape);
    for (size_t i = 0; out && i < (size_t)shape.dims[0]; i++) {
        if (i == 0)
            copy(out, i, start, 0);
        else if (out->ints)
            qdq_onnx_put_int(out, i,
                             (int64_t)((uint64_t)out->ints[i - 1] + (uint64_t)delta->ints[0]));
        else
            qdq_onnx_put_real(out, i, out->reals[i - 1] + delta->reals[0]);
    }
    return out != NULL;
}

bool qdq_onnx_repeated(qdq_onnx_node *node, qdq_onnx_value *value) {
    static const double zero = 0;
    const qdq_onnx_attr *attr = qdq_onnx_attr_find(node, "value");
    const char *name = value->name;
    *value = (qdq_onnx_value){.name = name, .elem = ONNX_FLOAT, .reals = &zero};
    if (!attr || !attr->t) return true;
    qdq_shape shape;
    if (qdq_onnx_tensor_shape(node->im, attr->t, &shape) || qdq_onnx_count(shape) != 1)
        return false;
    *value = (qdq_onnx_value){.name = name, .elem = attr->t->elem, .tensor = attr->t};
    return true;
}

static bool fold_constant_of_shape(qdq_onnx_node *node) {
    qdq_onnx_value value = {.name = "value"};
    qdq_ints dims = {0};
    qdq_shape shape = {0};
    if (!qdq_onnx_repeated(node, &value) || !qdq_onnx_known(node->im, &value)) return false;
    if (!qdq_onnx_list_of(node, 0, "shape", &dims) || dims.count > QDQ_MAX_RANK) return false;
    for (size_t i = 0; i < dims.count; i++) shape.dims[shape.rank++] = dims.data[i];
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, value.elem, shape);
    for (size_t i = 0; out && i < qdq_onnx_count(shape); i++) copy(out, i, &value, 0);
    return out != NULL;
}

static bool fold_where(qdq_onnx_node *node) {
    const qdq_onnx_value *c = node->inputs[0], *a = qdq_onnx_input(node, 1);
    const qdq_onnx_value *b = qdq_onnx_input(node, 2);
    qdq_shape pair, shape;
    if (!a || !b || a->elem != b->elem || !c->ints) return false;
    if (!qdq_onnx_broadcast(a->shape, b->shape, &pair) ||
        !qdq_onnx_broadcast(pair, c->shape, &shape))
        return false;
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, a->elem, shape);
    for (size_t i = 0; out && i < qdq_onnx_count(shape); i++) {
        const qdq_onnx_value *from = c->ints[qdq_onnx_broadcast_at(shape, c->shape, i)] ? a : b;
        copy(out, i, from, qdq_onnx_broadcast_at(shape, from->shape, i));
    }
    return out != NULL;
}

// Computes the sum, product, least or greatest of the integers of a list.
static bool fold_reduce(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0];
    const char *op = node->proto->op;
    qdq_ints axes;
    if (!x->ints || x->shape.rank > 1 || !qdq_onnx_list_of(node, 1, "axes", &axes)) return false;
    size_t count = qdq_onnx_count(x->shape);
    if (count == 0 || !qdq_onnx_take_numbers(node->im, count)) return false;
    qdq_shape shape = {qdq_onnx_int(node, "keepdims", 1) ? x->shape.rank : 0, {1}};
    const qdq_onnx_value *out = qdq_onnx_make_numbers(node, 0, x->elem, shape);
    uint64_t sum = 0, product = 1;
    int64_t least = x->ints[0], most = x->ints[0];
    for (size_t i = 0; i < count; i++) {
        int64_t v = x->ints[i];
        sum += (uint64_t)v, product *= (uint64_t)v;
        least = v < least ? v : least, most = v > most ? v : most;
    }
    if (!out) return false;
    qdq_onnx_put_int(out, 0,
                     strcmp(op, "ReduceSum") == 0    ? (int64_t)sum
                     : strcmp(op, "ReduceProd") == 0 ? (int64_t)product
                     : strcmp(op, "ReduceMin") == 0  ? least
                                                     : most);
    return true;
}

// Cuts a list along an axis into equal parts, or into parts of the given sizes.
static bool fold_split(qdq_onnx_node *node) {
    const qdq_onnx_value *x = node->inputs[0];
    int axis;
    qdq_ints sizes;
    if (!axis_of(qdq_onnx_int(node, "axis", 0), x->shape.rank, &axis) ||
        !qdq_onnx_list_of(node, 1, "split", &sizes) ||
        (sizes.count && sizes.count != node->output_count))
        return false;
    int64_t size = x->shape.dims[axis], parts = (int64_t)node->output_count, begin = 0;
    int64_t each = parts ? (size + parts - 1) / parts : 0;
    for (size_t o = 0; o < node->output_count; o++) {
        qdq_shape shape = x->shape;
        int64_t left = size - begin;
        shape.dims[axis] = sizes.count ? sizes.data[o] : each < left ? each : left;
        if (shape.dims[axis] < 0 || shape.dims[axis] > left) return false;
        const qdq_onnx_value *out = qdq_onnx_make_numbers(node, o, x->elem, shape);
        for (size_t i = 0; out && i < qdq_onnx_count(shape); i++) {
            int64_t at[QDQ_MAX_RANK];
            unravel(shape, i, at);
            at[axis] += begin;
            copy(out, i, x, ravel(x->shape, at));
        }
        begin += shape.dims[axis];
    }
    return true;
}

const qdq_onnx_move *qdq_onnx_find_move(const char *op) {
    static const qdq_onnx_move moves[] = {
        {"Reshape", fold_reshape},     {"Flatten", fold_reshape},
        {"Squeeze", fold_reshape},     {"Unsqueeze", fold_reshape},
        {"Transpose", fold_transpose}, {"Gather", fold_gather},
        {"Concat", fold_concat},       {"Slice", fold_slice},
        {"Expand", fold_expand},       {"Tile", fold_tile},
        {"Range", fold_range},         {"ConstantOfShape", fold_constant_of_shape},
        {"Where", fold_where},         {"ReduceSum", fold_reduce},
        {"ReduceProd", fold_reduce},   {"ReduceMin", fold_reduce},
        {"ReduceMax", fold_reduce},    {"Split", fold_split},
    };
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        if (strcmp(moves[i].name, op) == 0) return &moves[i];
    return NULL;
}
