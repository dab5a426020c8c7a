// SPDX-License-Identifier: Apache-2.0
// Tries elements in another order: an input or the result with its dims in another order, or
// weights that are flipped.
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/mistakes/trial.h"

// An order in which a tensor of some rank lies in memory. `back`: the other way around.
typedef struct layout {
    const char *text;
    int rank, order[5];
    bool back;
} layout;

static const layout layouts[] = {
    {"with exchanged last dims", 2, {1, 0}, false},
    {"with exchanged last dims", 2, {1, 0}, true},
    {"with exchanged last dims", 3, {0, 2, 1}, false},
    {"with exchanged last dims", 3, {0, 2, 1}, true},
    {"with exchanged last dims", 4, {0, 1, 3, 2}, false},
    {"with exchanged last dims", 4, {0, 1, 3, 2}, true},
    {"as NHWC", 4, {0, 2, 3, 1}, false},
    {"as NCHW", 4, {0, 2, 3, 1}, true},
    {"as HWIO", 4, {2, 3, 1, 0}, false},
    {"as OIHW", 4, {2, 3, 1, 0}, true},
    {"with its dims in reverse order", 3, {2, 1, 0}, false},
    {"with its dims in reverse order", 4, {3, 2, 1, 0}, false},
};

// Returns the element that lies at `at` of a tensor of this shape, if its dims lie in another
// order.
static size_t moved_from(const layout *l, qdq_shape shape, size_t at) {
    size_t stride[QDQ_MAX_RANK], index = 0, step = 1;
    for (int i = shape.rank; i-- > 0;) stride[i] = step, step *= (size_t)shape.dims[i];
    for (int i = shape.rank; i-- > 0;) {
        size_t dim = (size_t)shape.dims[l->order[i]];
        index += at % dim * stride[l->order[i]];
        at /= dim;
    }
    return index;
}

static void reorder(const layout *l, qdq_shape shape, size_t size, const char *in, char *out) {
    for (size_t i = 0; i < qdq_shape_count(shape); i++) {
        size_t from = moved_from(l, shape, i);
        if (l->back)
            memcpy(out + from * size, in + i * size, size);
        else
            memcpy(out + i * size, in + from * size, size);
    }
}

//---- Inputs -----------------------------------------------------------------

static void try_input(mistake_trial *t, const layout *l, const trial_elements *in) {
    size_t size = qdq_dtype_size(in->dtype), bytes = size * qdq_shape_count(in->shape);
    char detail[128];
    if (l->rank != in->shape.rank || !trial_begin(t)) return;
    char *data = elements_take(document_replay(t->d)->exec_options.allocator, bytes);
    if (!data) return;
    reorder(l, in->shape, size, in->data, data);
    snprintf(detail, sizeof detail, "%s %s", in->port, l->text);
    if (document_put(t->d, in->port, in->dtype, in->shape, data))
        trial_take(t, "wrong-layout", detail);
}

// Tries weights whose spatial dims run backwards, as for a true convolution.
static void try_flipped(mistake_trial *t, const trial_elements *in) {
    const char *format = document_attr_word(t->d, "weights_format");
    bool last = !trial_has_attr(t, "weights_format", "word") || (*format && *format != 'X');
    qdq_shape shape = in->shape;
    if (shape.rank < 3) return;
    size_t size = qdq_dtype_size(in->dtype), count = qdq_shape_count(shape), inner = 1, window = 1;
    if (!last) inner = (size_t)(shape.dims[shape.rank - 1] * shape.dims[shape.rank - 2]);
    for (int i = 0; i < shape.rank - 2; i++) window *= (size_t)shape.dims[i + (last ? 2 : 0)];
    if (!trial_begin(t)) return;
    char *data = elements_take(document_replay(t->d)->exec_options.allocator, count * size);
    if (!data) return;
    for (size_t i = 0; i < count; i++) {
        size_t at = i / inner % window, from = i + (window - 1 - at) * inner - at * inner;
        memcpy(data + i * size, (const char *)in->data + from * size, size);
    }
    if (document_put(t->d, in->port, in->dtype, shape, data))
        trial_take(t, "wrong-layout", "weights flipped in their spatial dims");
}

//---- The result -------------------------------------------------------------

typedef struct moved_result {
    const layout *layout;
    qdq_shape shape;
} moved_result;

static bool finish_moved(const void *with, const qdq_tensor_info *from, const void *in, void *out) {
    const moved_result *moved = with;
    reorder(moved->layout, moved->shape, qdq_dtype_size(from->dtype), in, out);
    return true;
}

static void try_result(mistake_trial *t, const layout *l) {
    const moved_result moved = {l, trial_output(t)->info.shape};
    char detail[128];
    if (moved.shape.rank != l->rank || !trial_begin(t)) return;
    snprintf(detail, sizeof detail, "the result %s", l->text);
    variant v = {.cause = "wrong-layout", .detail = detail, .finish = {finish_moved, &moved}};
    trial_take_variant(t, &v);
}

void try_layouts(mistake_trial *t) {
    trial_elements in;
    size_t count = sizeof layouts / sizeof *layouts;
    for (size_t i = 0; i < qdq_op_get(trial_op(t)).input_count && !t->stopped; i++) {
        if (!trial_input(t, i, &in)) continue;
        for (size_t k = 0; k < count; k++) try_input(t, &layouts[k], &in);
        bool weights = strcmp(in.port, "w") == 0 || strcmp(in.port, "weights") == 0;
        if (weights && trial_has_attr(t, "dilations", "int[]")) try_flipped(t, &in);
    }
    for (size_t k = 0; k < count; k++) try_result(t, &layouts[k]);
}
