// SPDX-License-Identifier: Apache-2.0
// Turns convolutions, pools and resizing. Padding by rule becomes numbers, and padding that no rule
// gives a Pad: TensorFlow Lite's operators pad by rule, or not.
#include <float.h>
#include <math.h>

#include "graph/core/names.h"
#include "graph/transform/channels_last/turning.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/spatial.h"

enum { SPATIAL = QDQ_IMAGE_RANK - 2 };

// The window of a node along rows and columns.
typedef struct window {
    int64_t in[SPATIAL], out[SPATIAL], reach[SPATIAL], stride[SPATIAL];
    int64_t begin[SPATIAL], end[SPATIAL];
} window;

// Returns the number of a list for rows (0) or columns (1); `otherwise` if it has none, as a list
// for columns alone has none for rows.
static int64_t number(qdq_ints list, int i, int64_t otherwise) {
    if (list.count == 1) i--;
    return i >= 0 && (size_t)i < list.count ? list.data[i] : otherwise;
}

// Returns the padding that makes ceil(in / stride) windows.
static int64_t same_pads(const window *w, int i) {
    int64_t count = (w->in[i] - 1) / w->stride[i] + 1;
    int64_t total = (count - 1) * w->stride[i] + w->reach[i] - w->in[i];
    return total > 0 ? total : 0;
}

static void pad_by_rule(window *w, qdq_auto_pad rule) {
    for (int i = 0; i < SPATIAL; i++) {
        int64_t total = rule == QDQ_PAD_VALID ? 0 : same_pads(w, i), less = total / 2;
        w->begin[i] = rule == QDQ_PAD_SAME_LOWER ? total - less : less;
        w->end[i] = total - w->begin[i];
    }
}

// True if an operator pads like this: not at all, or by the rule SAME.
static bool is_ruled(const window *w) {
    bool none = true, same = true;
    for (int i = 0; i < SPATIAL; i++) {
        int64_t total = same_pads(w, i);
        none &= !w->begin[i] && !w->end[i];
        same &= w->begin[i] == total / 2 && w->end[i] == total - total / 2;
    }
    return none || same;
}

// Reads the dims of images with their rows at `first`.
static void read_dims(window *w, qdq_shape x, qdq_shape y, int first) {
    for (int i = 0; i < SPATIAL; i++) w->in[i] = x.dims[first + i], w->out[i] = y.dims[first + i];
}

static void read_pads(window *w, qdq_ints begin, qdq_ints end, qdq_auto_pad rule) {
    for (int i = 0; i < SPATIAL; i++)
        w->begin[i] = number(begin, i, 0), w->end[i] = number(end, i, 0);
    if (rule != QDQ_PAD_NONE) pad_by_rule(w, rule);
}

// Adds a Pad of rows and columns. `element`: what it adds; NULL: 0.
static qdq_value padded(qdq_turning *t, const qdq_node *node, qdq_value x, const window *w,
                        const float *element) {
    const int64_t pads[] = {0, w->begin[0], w->begin[1], 0, 0, w->end[0], w->end[1], 0};
    qdq_pad_attrs attrs = {.name = qdq_turning_name(t, node->name, "_padded"),
                           .pads = {pads, 2 * QDQ_IMAGE_RANK}};
    if (element)
        attrs.value = qdq_constant(t->to, qdq_turning_name(t, node->name, "_least"), QDQ_FLOAT32,
                                   (qdq_shape){0}, element);
    return qdq_pad(t->to, x, attrs);
}

static qdq_ints listed(qdq_turning *t, const int64_t *numbers) {
    int64_t *copy = qdq_mempool_copy(&t->mempool, numbers, SPATIAL, sizeof *copy);
    return (qdq_ints){copy, copy ? SPATIAL : 0};
}

// Returns the image that a window slides over, padded if no rule gives its padding, and sets the
// padding that is left.
static qdq_value image(qdq_turning *t, const qdq_node *node, bool turns, window *w,
                       const float *element) {
    uint32_t id = node->inputs[0].id;
    qdq_value x = turns ? qdq_turned_value(t, id) : qdq_plain_value(t, id);
    if (is_ruled(w)) return x;
    x = padded(t, node, x, w, element);
    for (int i = 0; i < SPATIAL; i++) w->begin[i] = w->end[i] = 0;
    return x;
}

static qdq_shape shape_of(const qdq_turning *t, uint32_t id) {
    return t->from->values[id].type.shape;
}

// True for images of rank 4, and for rows [N, C, W].
static bool is_image(qdq_shape x, qdq_data_format format) {
    return x.rank == QDQ_IMAGE_RANK || (x.rank == QDQ_ROW_RANK && format == QDQ_NCX);
}

// Reads the dims, and the window of a kernel, which slides over an image of rank 3 or 4.
static void read_window(const qdq_turning *t, const qdq_node *node, qdq_data_format format,
                        window *w) {
    read_dims(w, qdq_turning_image(shape_of(t, node->inputs[0].id)),
              qdq_turning_image(shape_of(t, node->outputs[0])), format == QDQ_NCX ? 2 : 1);
}

//---- Convolutions -----------------------------------------------------------

// Returns weights [O, I, spatial...] of weights [spatial..., I, O].
static qdq_value turned_weights(qdq_turning *t, uint32_t id, const float *data) {
    qdq_value made = {0};
    const qdq_graph_value *v = &t->from->values[id];
    const int64_t *d = v->type.shape.dims;
    qdq_shape shape = {QDQ_IMAGE_RANK, {d[3], d[2], d[0], d[1]}};
    float *to = qdq_graph_add_constant(t->to, qdq_turning_name(t, v->name, "_turned"), QDQ_FLOAT32,
                                       shape, &made);
    size_t area = (size_t)(d[0] * d[1]), columns = (size_t)(d[2] * d[3]);
    for (size_t i = 0; to && i < area * columns; i++) {
        size_t o = i % (size_t)d[3], in = i % columns / (size_t)d[3], at = i / columns;
        to[(o * (size_t)d[2] + in) * area + at] = data[i];
    }
    return made;
}

// Returns weights [O, I, 1, W] of weights [O, I, W].
static qdq_value raised_weights(qdq_turning *t, uint32_t id, const float *data) {
    const qdq_graph_value *v = &t->from->values[id];
    return qdq_constant(t->to, qdq_turning_name(t, v->name, "_turned"), QDQ_FLOAT32,
                        qdq_turning_image(v->type.shape), data);
}

// Returns the weights of a convolution as [O, I, H, W].
static qdq_value new_weights(qdq_turning *t, const qdq_node *node) {
    uint32_t id = node->inputs[1].id;
    bool oix = ((const qdq_convolution_attrs *)node->attrs)->weights_format == QDQ_OIX;
    const float *data;
    if (!qdq_turning_constant(t, id, &data)) return qdq_plain_value(t, id);
    if (!oix) return turned_weights(t, id, data);
    if (shape_of(t, id).rank == QDQ_ROW_RANK) return raised_weights(t, id, data);
    return qdq_plain_value(t, id);
}

// Sets the window of a convolution that has one. False for another one.
static bool read_convolution(const qdq_turning *t, const qdq_node *node, window *w) {
    const qdq_convolution_attrs *given = node->attrs;
    const float *data;
    qdq_shape x = shape_of(t, node->inputs[0].id),
              k = qdq_turning_image(shape_of(t, node->inputs[1].id));
    bool oix = given->weights_format == QDQ_OIX, rows = x.rank == QDQ_ROW_RANK;
    if (!is_image(x, given->data_format) || given->addend.id || given->channel_block.set != 0 ||
        (rows && !oix) || ((rows || !oix) && !qdq_turning_constant(t, node->inputs[1].id, &data)))
        return false;
    read_window(t, node, given->data_format, w);
    for (int i = 0; i < SPATIAL; i++) {
        w->reach[i] = (k.dims[(oix ? 2 : 0) + i] - 1) * number(given->dilations, i, 1) + 1;
        w->stride[i] = number(given->strides, i, 1);
    }
    read_pads(w, given->pads_begin, given->pads_end, given->auto_pad);
    return true;
}

// Returns the dilations of rows and columns.
static qdq_ints dilations_of(qdq_turning *t, qdq_ints given) {
    const int64_t both[] = {number(given, 0, 1), number(given, 1, 1)};
    return listed(t, both);
}

bool qdq_turn_convolution(qdq_turning *t, const qdq_node *node) {
    enum { X, W, BIAS };
    const qdq_convolution_attrs *given = node->attrs;
    window w;
    if (!read_convolution(t, node, &w)) return false;
    bool turns = given->data_format == QDQ_NCX;
    size_t norm = qdq_folded_norm(t, node);
    qdq_node added = *node;
    qdq_convolution_attrs *attrs = qdq_turned_attrs(t, node);
    qdq_value inputs[BIAS + 2] = {{0}};
    if (!attrs || node->input_count > BIAS + 2) return !attrs;
    inputs[X] = image(t, node, turns, &w, NULL);
    if (norm != SIZE_MAX) {
        const qdq_node *folded = &t->from->nodes[norm];
        qdq_fold_norm(t, node, folded, &inputs[W], &inputs[BIAS]);
        added.outputs[0] = folded->outputs[0], added.original = folded->original;
        attrs->name = folded->name;
        t->gone[norm] = true;
    } else {
        inputs[W] = new_weights(t, node);
        inputs[BIAS] = qdq_plain_value(t, node->inputs[BIAS].id);
    }
    attrs->pads_begin = listed(t, w.begin), attrs->pads_end = listed(t, w.end);
    attrs->strides = listed(t, w.stride), attrs->dilations = dilations_of(t, given->dilations);
    attrs->auto_pad = QDQ_PAD_NONE;
    attrs->data_format = QDQ_NXC, attrs->weights_format = QDQ_OIX;
    qdq_add_turned(t, &added, attrs, inputs, turns);
    return true;
}

//---- Pools ------------------------------------------------------------------

bool qdq_turn_pool(qdq_turning *t, const qdq_node *node) {
    static const float least = -FLT_MAX;
    const qdq_pool_attrs *given = node->attrs;
    window w;
    bool greatest = node->op->name[0] == 'M', turns = given->data_format == QDQ_NCX, floors = true;
    if (!is_image(shape_of(t, node->inputs[0].id), given->data_format) || node->output_count != 1)
        return false;
    read_window(t, node, given->data_format, &w);
    for (int i = 0; i < SPATIAL; i++) {
        w.reach[i] = (number(given->kernel, i, 1) - 1) * number(given->dilations, i, 1) + 1;
        w.stride[i] = number(given->strides, i, 1);
    }
    read_pads(&w, given->pads_begin, given->pads_end, given->auto_pad);
    for (int i = 0; i < SPATIAL; i++) {
        int64_t room = w.in[i] + w.begin[i] + w.end[i] - w.reach[i];
        floors &= room / w.stride[i] + 1 == w.out[i];
        if (greatest && room / w.stride[i] + 1 < w.out[i])
            w.end[i] += (w.out[i] - 1) * w.stride[i] - room;
    }
    qdq_pool_attrs *attrs = qdq_turned_attrs(t, node);
    if (!attrs) return true;
    qdq_value shown = greatest ? image(t, node, turns, &w, &least)
                      : turns  ? qdq_turned_value(t, node->inputs[0].id)
                               : qdq_plain_value(t, node->inputs[0].id);
    attrs->pads_begin = listed(t, w.begin), attrs->pads_end = listed(t, w.end);
    attrs->auto_pad = QDQ_PAD_NONE, attrs->data_format = QDQ_NXC;
    const int64_t kernel[] = {number(given->kernel, 0, 1), number(given->kernel, 1, 1)};
    attrs->kernel = listed(t, kernel), attrs->strides = listed(t, w.stride);
    if (given->dilations.count) attrs->dilations = dilations_of(t, given->dilations);
    if (floors || greatest) attrs->rounding_type = QDQ_POOL_ROUND_FLOOR;
    qdq_add_turned(t, node, attrs, &shown, turns);
    return true;
}

//---- Resizing ---------------------------------------------------------------

// Returns the row or column of `in` that is nearest to number o of `out`, as Interpolate has it.
static int32_t nearest(qdq_coordinates how, float in, float out, float o) {
    float at = (o + 0.5F) * in / out - 0.5F;
    if (how == QDQ_ASYMMETRIC_POSITIONS) at = o * in / out;
    if (how == QDQ_ALIGN_CORNERS) at = out == 1.0F ? 0.0F : o * (in - 1) / (out - 1);
    at = roundf(at);
    return (int32_t)(at < 0 ? 0 : at > in - 1 ? in - 1 : at);
}

// Adds Gathers of the nearest rows and columns of an image.
static void add_nearest(qdq_turning *t, const qdq_node *node, qdq_value x, qdq_shape y,
                        bool turns) {
    static const char *const names[] = {"_row_indices", "_column_indices"};
    const qdq_interpolate_attrs *a = node->attrs;
    for (int i = 0; i < SPATIAL; i++) {
        qdq_value indices = {0};
        float in = (float)t->to->values[x.id].type.shape.dims[1 + i], out = (float)y.dims[i];
        int32_t *to = qdq_graph_add_constant(t->to, qdq_turning_name(t, node->name, names[i]),
                                             QDQ_INT32, (qdq_shape){1, {y.dims[i]}}, &indices);
        for (int64_t o = 0; to && o < y.dims[i]; o++)
            to[o] = nearest(a->coordinate_transformation_mode, in, out, (float)o);
        const char *name = i ? node->name : qdq_turning_name(t, node->name, "_rows");
        x = qdq_gather(t->to, x, indices, (qdq_gather_attrs){.name = name, .axis = QDQ_INT(1 + i)});
    }
    if (x.id && node->original)
        qdq_graph_set_node_original(t->to, t->to->node_count - 1, node->original);
    (turns ? t->turned : t->plain)[node->outputs[0]] = x;
}

bool qdq_turn_interpolate(qdq_turning *t, const qdq_node *node) {
    const qdq_interpolate_attrs *given = node->attrs;
    qdq_shape x = shape_of(t, node->inputs[0].id), y = shape_of(t, node->outputs[0]);
    bool turns = given->data_format == QDQ_NCX, exact = true;
    const int64_t *out = &y.dims[turns ? 2 : 1], *in = &x.dims[turns ? 2 : 1];
    if (x.rank != QDQ_IMAGE_RANK) return false;
    qdq_value shown =
        turns ? qdq_turned_value(t, node->inputs[0].id) : qdq_plain_value(t, node->inputs[0].id);
    if (given->mode.value == QDQ_NEAREST) {
        add_nearest(t, node, shown, (qdq_shape){SPATIAL, {out[0], out[1]}}, turns);
        return true;
    }
    for (int i = 0; i < SPATIAL && given->scales.count; i++)
        exact &= (double)given->scales.data[i] * (double)in[i] == (double)out[i];
    qdq_interpolate_attrs *attrs = qdq_turned_attrs(t, node);
    if (!attrs) return true;
    attrs->data_format = QDQ_NXC;
    if (given->scales.count && exact)
        attrs->scales = (qdq_floats){0}, attrs->sizes = listed(t, out);
    qdq_add_turned(t, node, attrs, &shown, turns);
    return true;
}
