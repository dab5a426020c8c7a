// SPDX-License-Identifier: Apache-2.0
// Facts of ops: which dims of their operands, weights and results are channels.
#include <math.h>
#include <string.h>

#include "graph/transform/equalize/sites.h"
#include "include/qdq/ops.h"
#include "runtime/base/words.h"

// Ports of products.
enum { DATA, WEIGHTS, BIAS };

static const qdq_type *type_of(const qdq_site_search *s, qdq_value v) {
    return &s->graph->values[v.id].type;
}

static const qdq_type *operand_type(const qdq_site_search *s, const qdq_node *node, size_t port) {
    return type_of(s, node->inputs[port]);
}

static const qdq_shape *result_shape(const qdq_site_search *s, const qdq_node *node) {
    return &s->graph->values[node->outputs[0]].type.shape;
}

static bool is_op(const qdq_node *node, const char *op) { return strcmp(node->op->name, op) == 0; }

static bool has_port(const qdq_node *node, size_t port) {
    return port < node->input_count && node->inputs[port].id;
}

// Returns the number of elements of the dims from `dim` on.
static size_t elements_from(const qdq_shape *shape, int dim) {
    size_t count = 1;
    for (int i = dim; i < shape->rank; i++) count *= (size_t)shape->dims[i];
    return count;
}

// Returns the dim along which the channels of a value lie; -1 if they lie along several.
static int dim_of(const qdq_shape *shape, size_t stride, size_t channels) {
    for (int dim = 0; dim < shape->rank; dim++) {
        size_t inner = elements_from(shape, dim + 1), all = elements_from(shape, dim);
        if (inner && stride % inner == 0 && all % (stride * channels) == 0) return dim;
    }
    return -1;
}

// Returns how many indices of `dim` belong to a channel, one after another.
static size_t repeats_in(const qdq_shape *shape, int dim, size_t stride) {
    return stride / elements_from(shape, dim + 1);
}

// True if each index of `dim` is a channel.
static bool is_channel_dim(const qdq_shape *shape, int dim, size_t stride, size_t channels) {
    return dim >= 0 && dim_of(shape, stride, channels) == dim &&
           (size_t)shape->dims[dim] == channels && repeats_in(shape, dim, stride) == 1;
}

static int channel_dim(qdq_data_format format, int rank) {
    return format == QDQ_NCX ? 1 : rank - 1;
}

static qdq_channel_map plain(size_t stride, size_t count) {
    return (qdq_channel_map){.outer = 1, .outer_count = 1, .stride = stride, .count = count};
}

bool qdq_site_add_constant(const qdq_site_search *s, const qdq_node *node, size_t port,
                           qdq_constant_part part, qdq_channel_map map) {
    qdq_site *site = s->site;
    const qdq_graph_value *v = &s->graph->values[node->inputs[port].id];
    if (v->kind != QDQ_VALUE_CONSTANT || v->type.dtype != QDQ_FLOAT32 || v->uses != 1) return false;
    qdq_site_constant *more = qdq_mempool_grow(s->mempool, site->constants, site->constant_count,
                                               &site->constant_capacity, sizeof *site->constants);
    if (!more) return false;
    site->constants = more;
    more[site->constant_count++] = (qdq_site_constant){node->inputs[port].id, part, map};
    return true;
}

//---- Products ---------------------------------------------------------------

// The dims of a convolution's weights.
typedef struct weight_dims {
    size_t groups, in, out;  // channels of a group
    size_t in_stride, out_stride, group_stride;
} weight_dims;

static size_t groups_of(qdq_int groups) { return groups.set != 0 ? (size_t)groups.value : 1; }

static weight_dims convolution_dims(const qdq_site_search *s, const qdq_node *node) {
    const qdq_convolution_attrs *a = node->attrs;
    const qdq_shape *w = &operand_type(s, node, WEIGHTS)->shape;
    bool first = a->weights_format == QDQ_OIX;
    size_t groups = groups_of(a->groups), spatial = elements_from(w, 2);
    size_t out = (size_t)w->dims[first ? 0 : w->rank - 1] / groups;
    size_t in = (size_t)w->dims[first ? 1 : w->rank - 2];
    return first ? (weight_dims){groups, in, out, spatial, in * spatial, out * in * spatial}
                 : (weight_dims){groups, in, out, out * groups, 1, out};
}

static weight_dims transposed_dims(const qdq_site_search *s, const qdq_node *node) {
    const qdq_conv_transpose_attrs *a = node->attrs;
    const qdq_shape *w = &operand_type(s, node, WEIGHTS)->shape;
    bool first = a->weights_format == QDQ_IOX;
    size_t groups = groups_of(a->groups), spatial = elements_from(w, 2);
    size_t in = (size_t)w->dims[first ? 0 : w->rank - 1] / groups;
    size_t out = (size_t)w->dims[first ? 1 : w->rank - 2];
    return first ? (weight_dims){groups, in, out, out * spatial, spatial, in * out * spatial}
                 : (weight_dims){groups, in, out, 1, in * groups, in};
}

static bool is_convolution(const qdq_node *node) {
    return is_op(node, "Convolution") || is_op(node, "ConvTranspose");
}

static weight_dims dims_of(const qdq_site_search *s, const qdq_node *node) {
    return is_op(node, "Convolution") ? convolution_dims(s, node) : transposed_dims(s, node);
}

static int convolution_channel(const qdq_site_search *s, const qdq_node *node) {
    const qdq_convolution_attrs *a = node->attrs;
    const qdq_conv_transpose_attrs *b = node->attrs;
    return channel_dim(is_op(node, "Convolution") ? a->data_format : b->data_format,
                       result_shape(s, node)->rank);
}

static qdq_channel_map map_of(const weight_dims *w, bool in) {
    return (qdq_channel_map){w->group_stride, w->groups, in ? w->in_stride : w->out_stride,
                             in ? w->in : w->out};
}

static bool convolution_begins(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    weight_dims w = dims_of(s, node);
    if (has_port(node, BIAS + 1)) return false;  // an addend
    s->site->open.channels = w.out * w.groups;
    *stride = elements_from(result_shape(s, node), convolution_channel(s, node) + 1);
    return qdq_site_add_constant(s, node, WEIGHTS, QDQ_PART_MADE, map_of(&w, false)) &&
           (!has_port(node, BIAS) ||
            qdq_site_add_constant(s, node, BIAS, QDQ_PART_ADDED, plain(1, w.out * w.groups)));
}

static bool convolution_ends(const qdq_site_search *s, const qdq_node *node, size_t stride) {
    weight_dims w = dims_of(s, node);
    return is_channel_dim(&operand_type(s, node, DATA)->shape, convolution_channel(s, node), stride,
                          s->site->open.channels) &&
           qdq_site_add_constant(s, node, WEIGHTS, QDQ_PART_READ, map_of(&w, true));
}

// Adds a constant that is added to a value, and has an element for each index of the channels' dim.
static bool add_addend(const qdq_site_search *s, const qdq_node *node, size_t port,
                       const qdq_shape *sum, size_t stride) {
    const qdq_shape *c = &operand_type(s, node, port)->shape;
    int dim = dim_of(sum, stride, s->site->open.channels);
    int own = dim - (sum->rank - c->rank);
    if (dim < 0 || own < 0 || c->dims[own] != sum->dims[dim]) return false;
    size_t repeats = repeats_in(sum, dim, stride);
    return qdq_site_add_constant(
        s, node, port, QDQ_PART_ADDED,
        plain(repeats * elements_from(c, own + 1), s->site->open.channels));
}

static bool transposes_b(const qdq_node *node) {
    const qdq_matmul_attrs *a = node->attrs;
    return a->transpose_b == QDQ_TRUE;
}

static bool matmul_begins(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    const qdq_shape *b = &operand_type(s, node, WEIGHTS)->shape;
    if (b->rank < 2 || operand_type(s, node, DATA)->shape.rank < 2) return false;
    int column = transposes_b(node) ? b->rank - 2 : b->rank - 1;
    size_t columns = (size_t)b->dims[column];
    s->site->open.channels = columns;
    *stride = 1;
    return qdq_site_add_constant(s, node, WEIGHTS, QDQ_PART_MADE,
                                 plain(elements_from(b, column + 1), columns)) &&
           (!has_port(node, BIAS) || add_addend(s, node, BIAS, result_shape(s, node), 1));
}

static bool matmul_ends(const qdq_site_search *s, const qdq_node *node, size_t stride) {
    const qdq_matmul_attrs *attrs = node->attrs;
    const qdq_shape *a = &operand_type(s, node, DATA)->shape;
    const qdq_shape *b = &operand_type(s, node, WEIGHTS)->shape;
    int summed = attrs->transpose_a == QDQ_TRUE && a->rank > 1 ? a->rank - 2 : a->rank - 1;
    int row = b->rank < 2 ? 0 : transposes_b(node) ? b->rank - 1 : b->rank - 2;
    if (dim_of(a, stride, s->site->open.channels) != summed) return false;
    size_t repeats = repeats_in(a, summed, stride);
    return qdq_site_add_constant(
        s, node, WEIGHTS, QDQ_PART_READ,
        plain(repeats * elements_from(b, row + 1), s->site->open.channels));
}

bool qdq_site_ends(const qdq_site_search *s, const qdq_node *node, size_t port, size_t stride) {
    if (port != DATA || !has_port(node, WEIGHTS)) return false;
    if (is_op(node, "MatMul")) return matmul_ends(s, node, stride);
    return is_convolution(node) && convolution_ends(s, node, stride);
}

//---- Beginnings -------------------------------------------------------------

// Begins a site at a node that multiplies by gamma, of the dims from `dim` on, and adds beta.
static bool norm_begins(const qdq_site_search *s, const qdq_node *node, size_t beta, int dim,
                        bool to_end, size_t *stride) {
    const qdq_shape *y = result_shape(s, node);
    if (!has_port(node, 1) || dim < 0 || dim >= y->rank) return false;
    size_t channels = to_end ? elements_from(y, dim) : (size_t)y->dims[dim];
    s->site->open.channels = channels;
    *stride = to_end ? 1 : elements_from(y, dim + 1);
    return qdq_site_add_constant(s, node, 1, QDQ_PART_MADE, plain(1, channels)) &&
           (!has_port(node, beta) ||
            qdq_site_add_constant(s, node, beta, QDQ_PART_ADDED, plain(1, channels)));
}

static int axis_or_last(qdq_int axis, int rank) {
    int64_t given = axis.set != 0 ? axis.value : -1;
    return (int)(given < 0 ? given + rank : given);
}

// Begins a site at a product of a computed operand and a constant along one dim.
static bool multiply_begins(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    const qdq_shape *y = result_shape(s, node), *c = &operand_type(s, node, 1)->shape;
    int dim = -1;
    for (int i = 0; i < c->rank; i++) {
        if (c->dims[i] == 1) continue;
        if (dim >= 0) return false;
        dim = i;
    }
    int own = dim + y->rank - c->rank;
    if (dim < 0 || y->dims[own] != c->dims[dim]) return false;
    s->site->open.channels = (size_t)y->dims[own];
    *stride = elements_from(y, own + 1);
    return qdq_site_add_constant(s, node, 1, QDQ_PART_MADE, plain(1, (size_t)y->dims[own]));
}

bool qdq_site_begins(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    int rank = result_shape(s, node)->rank;
    if (!has_port(node, 1)) return false;
    s->site->open.weighted = is_convolution(node) || is_op(node, "MatMul");
    if (is_convolution(node)) return convolution_begins(s, node, stride);
    if (is_op(node, "MatMul")) return matmul_begins(s, node, stride);
    if (is_op(node, "Multiply")) return multiply_begins(s, node, stride);
    if (is_op(node, "LayerNorm")) {
        const qdq_layer_norm_attrs *a = node->attrs;
        return norm_begins(s, node, 2, axis_or_last(a->begin_norm_axis, rank), true, stride);
    }
    if (is_op(node, "RMSNorm")) {
        const qdq_rms_norm_attrs *a = node->attrs;
        return norm_begins(s, node, SIZE_MAX, axis_or_last(a->begin_norm_axis, rank), true, stride);
    }
    if (is_op(node, "BatchNormInference")) {
        const qdq_batch_norm_attrs *a = node->attrs;
        return norm_begins(s, node, 2, channel_dim(a->data_format, rank), false, stride);
    }
    if (is_op(node, "GroupNorm")) {
        const qdq_group_norm_attrs *a = node->attrs;
        return norm_begins(s, node, 2, channel_dim(a->data_format, rank), false, stride);
    }
    return false;
}

//---- On the way -------------------------------------------------------------

// Sets the stride of a result whose dim `to` has the channels of the operand's dim.
static bool pass_to(const qdq_site_search *s, const qdq_node *node, int dim, int to,
                    size_t *stride) {
    const qdq_shape *x = &operand_type(s, node, DATA)->shape, *y = result_shape(s, node);
    *stride = repeats_in(x, dim, *stride) * elements_from(y, to + 1);
    return true;
}

// Returns the dim of the channels of a node's operand; -1: none.
static int operand_dim(const qdq_site_search *s, const qdq_node *node, size_t stride) {
    return dim_of(&operand_type(s, node, DATA)->shape, stride, s->site->open.channels);
}

// True for a node that works on spatial dims.
static bool spatial_passes(const qdq_site_search *s, const qdq_node *node, qdq_data_format format,
                           size_t *stride) {
    const qdq_shape *x = &operand_type(s, node, DATA)->shape;
    int dim = channel_dim(format, x->rank);
    return is_channel_dim(x, dim, *stride, s->site->open.channels) &&
           pass_to(s, node, dim, dim, stride);
}

static bool transpose_passes(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    const qdq_transpose_attrs *a = node->attrs;
    int dim = operand_dim(s, node, *stride);
    int to = operand_type(s, node, DATA)->shape.rank - 1 - dim;
    for (int i = 0; i < (int)a->order.count; i++)
        if (a->order.data[i] == dim) to = i;
    return dim >= 0 && pass_to(s, node, dim, to, stride);
}

// Returns the place of a dim in a list of axes, which may be negative; -1: it is not listed. An
// empty list has the first `count` dims.
static int place_of(const qdq_ints *axes, size_t count, int dim, int rank) {
    if (!axes->count) return dim < (int)count ? dim : -1;
    for (int i = 0; i < (int)axes->count; i++)
        if (axes->data[i] == dim || axes->data[i] + rank == dim) return i;
    return -1;
}

static bool reduction_passes(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    const qdq_reduce_attrs *a = node->attrs;
    int rank = operand_type(s, node, DATA)->shape.rank;
    int dim = operand_dim(s, node, *stride), to = dim;
    if (dim < 0 || place_of(&a->axes, 0, dim, rank) >= 0) return false;
    for (int i = 0; i < dim && a->keep_dims != QDQ_TRUE; i++)
        to -= place_of(&a->axes, 0, i, rank) >= 0;
    return pass_to(s, node, dim, to, stride);
}

static bool slice_passes(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    const qdq_slice_attrs *a = node->attrs;
    int dim = operand_dim(s, node, *stride), rank = operand_type(s, node, DATA)->shape.rank;
    return dim >= 0 && place_of(&a->axes, a->starts.count, dim, rank) < 0 &&
           pass_to(s, node, dim, dim, stride);
}

static bool pad_passes(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    const qdq_pad_attrs *a = node->attrs;
    size_t count = a->pads.count / 2;
    int dim = operand_dim(s, node, *stride), rank = operand_type(s, node, DATA)->shape.rank;
    int place = place_of(&a->axes, count, dim, rank);
    if (dim < 0 || has_port(node, 1)) return false;  // a value other than 0
    if (place >= 0 && (a->pads.data[place] || a->pads.data[(size_t)place + count])) return false;
    return pass_to(s, node, dim, dim, stride);
}

static bool gather_passes(const qdq_site_search *s, const qdq_node *node, size_t *stride) {
    const qdq_gather_attrs *a = node->attrs;
    int rank = operand_type(s, node, DATA)->shape.rank, dim = operand_dim(s, node, *stride);
    int64_t axis = a->axis.set != 0 ? a->axis.value : 0;
    if (axis < 0) axis += rank;
    if (dim < 0 || axis == dim) return false;
    int more = operand_type(s, node, 1)->shape.rank - 1;
    return pass_to(s, node, dim, axis < dim ? dim + more : dim, stride);
}

// True if multiplying x by a positive number multiplies the result: bounds are 0 or infinite.
static bool is_homogeneous_clamp(const qdq_node *node) {
    const qdq_clamp_attrs *a = node->attrs;
    const qdq_float bounds[] = {a->min, a->max};
    for (size_t i = 0; i < 2; i++)
        if (bounds[i].value != 0 && !isinf(bounds[i].value)) return false;
    return true;
}

static bool is_constant(const qdq_site_search *s, const qdq_node *node, size_t port) {
    return has_port(node, port) &&
           s->graph->values[node->inputs[port].id].kind == QDQ_VALUE_CONSTANT;
}

// True if the result of a binary op has the shape of its operand at `port`, and the other operand
// is a constant.
static bool has_constant(const qdq_site_search *s, const qdq_node *node, size_t port) {
    return port < 2 && is_constant(s, node, 1 - port) && !has_port(node, 2) &&  // output_tensor
           qdq_shape_equal(*result_shape(s, node), operand_type(s, node, port)->shape);
}

static bool bias_passes(const qdq_site_search *s, const qdq_node *node, size_t stride) {
    const qdq_bias_add_attrs *a = node->attrs;
    const qdq_shape *y = result_shape(s, node);
    size_t channels = s->site->open.channels;
    return is_channel_dim(y, channel_dim(a->data_format, y->rank), stride, channels) &&
           qdq_site_add_constant(s, node, 1, QDQ_PART_ADDED, plain(1, channels));
}

bool qdq_site_passes(const qdq_site_search *s, const qdq_node *node, size_t port, size_t *stride) {
    static const char unary[] =
        " ReLU LeakyReLU PReLU Abs Reorder ToMemoryConfig InterleavedToSharded "
        "ShardedToInterleaved Reshard ToLayout StaticReshape ";
    const char *op = node->op->name;
    if (qdq_has_word(" Add Subtract ", op))
        return has_constant(s, node, port) &&
               add_addend(s, node, 1 - port, result_shape(s, node), *stride);
    if (is_op(node, "Multiply")) return has_constant(s, node, port);
    if (port != DATA) return false;
    if (qdq_has_word(unary, op)) return true;
    if (is_op(node, "Divide")) return has_constant(s, node, port);
    if (is_op(node, "BiasAdd")) return bias_passes(s, node, *stride);
    if (is_op(node, "Clamp")) return is_homogeneous_clamp(node);
    if (qdq_has_word(" MaxPool AvgPool ", op))
        return spatial_passes(s, node, ((const qdq_pool_attrs *)node->attrs)->data_format, stride);
    if (is_op(node, "Interpolate"))
        return spatial_passes(s, node, ((const qdq_interpolate_attrs *)node->attrs)->data_format,
                              stride);
    if (is_op(node, "StaticTranspose")) return transpose_passes(s, node, stride);
    if (is_op(node, "Slice")) return slice_passes(s, node, stride);
    if (is_op(node, "Pad")) return pad_passes(s, node, stride);
    if (is_op(node, "Gather")) return gather_passes(s, node, stride);
    return qdq_has_word(" ReduceMean ReduceMax ReduceMin ReduceSum ", op) &&
           reduction_passes(s, node, stride);
}
