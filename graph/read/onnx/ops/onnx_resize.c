// SPDX-License-Identifier: Apache-2.0
// Converts Resize and Upsample to Interpolate, where every element of the result comes from the
// same place. Whether it does is computed, whatever the attributes say. Otherwise the nearest
// elements are gathered dim by dim, in every dtype.
#include <math.h>
#include <string.h>

#include "graph/read/onnx/ops/onnx_formula.h"

enum { MOST_SIZE = 1 << 20 };  // of a spatial dim of the result

typedef struct resize {
    const char *mode, *coordinates, *nearest;
    qdq_shape in, out;
    double ratio[QDQ_MAX_RANK];
} resize;

//---- Positions --------------------------------------------------------------

// The position in the input that ONNX Runtime reads for element `o` along a dim, in its arithmetic:
// float32. NaN for an unknown word.
static float onnx_position(const resize *r, int dim, int64_t o) {
    float size = (float)r->in.dims[dim], out = (float)r->out.dims[dim];
    float scale = (float)r->ratio[dim], half = ((float)o + 0.5f) / scale - 0.5f;
    const char *c = r->coordinates;
    if (strcmp(c, "asymmetric") == 0) return (float)o / scale;
    if (strcmp(c, "align_corners") == 0)
        return out == 1.0f ? 0.0f : (float)o * (size - 1.0f) / (out - 1.0f);
    if (strcmp(c, "half_pixel") == 0) return half;
    if (strcmp(c, "half_pixel_symmetric") == 0)
        return size / 2.0f * (1.0f - out / (scale * size)) + ((float)o + 0.5f) / scale - 0.5f;
    if (strcmp(c, "pytorch_half_pixel") == 0) return out > 1.0f ? half : 0.0f;
    return NAN;
}

static double onnx_nearest(const resize *r, float at) {
    const char *mode = r->nearest;
    if (strcmp(mode, "round_prefer_floor") == 0)
        return (double)(at == truncf(at) + 0.5f ? floorf(at) : roundf(at));
    if (strcmp(mode, "round_prefer_ceil") == 0) return (double)roundf(at);
    if (strcmp(mode, "floor") == 0) return (double)floorf(at);
    return strcmp(mode, "ceil") == 0 ? (double)ceilf(at) : NAN;
}

// The position that Interpolate reads, given sizes.
static double our_position(const resize *r, int dim, int64_t o, bool corners) {
    float size = (float)r->in.dims[dim], out = (float)r->out.dims[dim];
    float at = ((float)o + 0.5f) * size / out - 0.5f;
    if (corners) at = (float)o * (size - 1.0f) / (out > 2.0f ? out - 1.0f : 1.0f);
    if (strcmp(r->mode, "nearest") == 0) at = truncf(at + copysignf(0.5f, at));
    return (double)at;
}

static double clamped(double at, int64_t size) {
    return at < 0.0 ? 0.0 : at > (double)(size - 1) ? (double)(size - 1) : at;
}

static bool positions_agree(const resize *r, bool corners) {
    for (int dim = 2; dim < r->in.rank; dim++)
        for (int64_t o = 0; o < r->out.dims[dim]; o++) {
            float position = onnx_position(r, dim, o);
            bool nearest = strcmp(r->mode, "nearest") == 0;
            double at = nearest ? onnx_nearest(r, position) : (double)position;
            if (isnan(at)) return false;
            double ours = clamped(our_position(r, dim, o, corners), r->in.dims[dim]);
            if (fabs(clamped(at, r->in.dims[dim]) - ours) > 1e-5) return false;
        }
    return true;
}

//---- Sizes ------------------------------------------------------------------

// Sizes or scales of the dims that `axes` names, or of all.
static bool read_sizes(qdq_onnx_node *node, resize *r, qdq_onnx_value *given, bool are_scales) {
    qdq_ints axes;
    bool some = qdq_onnx_int_list(node, "axes", &axes) && axes.count;
    size_t count = qdq_onnx_count(given->shape), wanted = some ? axes.count : (size_t)r->in.rank;
    const char *name = are_scales ? "scales" : "sizes";
    if (!qdq_onnx_known(node->im, given) || count != wanted) {
        qdq_onnx_refuse(node, name, ONNX_TEXT(node, "are '%.128s'", given->name),
                        ONNX_TEXT(node, "%zu constant numbers", wanted));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int dim = (int)i;
        if (some && !qdq_onnx_axis(node, axes.data[i], r->in.rank, &dim)) return false;
        double value = qdq_onnx_real_at(given, i), size = (double)r->in.dims[dim];
        double out = are_scales ? floor((double)((float)value * (float)size)) : value;
        if (!(out >= 1.0 && out <= MOST_SIZE) && out != size) {
            qdq_onnx_refuse(node, name, qdq_text_is(&node->im->graph->findings, out),
                            ONNX_TEXT(node, "dims of 1 to %d", MOST_SIZE));
            return false;
        }
        r->out.dims[dim] = (int64_t)out;
        r->ratio[dim] = are_scales ? value : out / size;
    }
    return true;
}

//---- Nodes ------------------------------------------------------------------

// The index of the nearest element for each index of a dim of the result; NULL: a word of the
// attributes is unknown, or memory ran out.
static double *indices_of(qdq_onnx_node *node, const resize *r, int dim) {
    size_t count = (size_t)r->out.dims[dim];
    double *indices = qdq_mempool_array(node->im->mempool, count, sizeof *indices);
    for (size_t o = 0; indices && o < count; o++) {
        double at = onnx_nearest(r, onnx_position(r, dim, (int64_t)o));
        if (isnan(at)) return NULL;
        indices[o] = clamped(at, r->in.dims[dim]);
    }
    return indices;
}

// Gathers along each dim that is scaled. False: the attributes do not allow it.
static bool gather(qdq_onnx_node *node, const qdq_onnx_op *row, const resize *r) {
    qdq_onnx_term terms[] = {
        {.name = "x", .input = node->inputs[0]}, {.name = "indices"}, {.name = "axis"}};
    int last = -1;
    for (int dim = 0; dim < r->in.rank; dim++)
        if (r->ratio[dim] != 1.0) last = dim;
    for (int dim = 0; dim <= last; dim++) {
        if (r->ratio[dim] == 1.0) continue;
        double *indices = indices_of(node, r, dim);
        if (!indices) return false;
        terms[1].input =
            qdq_onnx_list_value(node, "indices", ONNX_INT64, indices, (size_t)r->out.dims[dim]);
        terms[2].number = dim;
        qdq_value made = qdq_onnx_formula(node, row,
                                          dim < last ? "part = Gather(x, indices, axis: axis)"
                                                     : "Gather(x, indices, axis: axis)",
                                          terms, 3);
        if (!made.id) return true;
        terms[0] = (qdq_onnx_term){.name = "x", .value = made};
        if (dim == last) qdq_onnx_bind(node, 0, made);
    }
    return last >= 0;
}

static void convert(qdq_onnx_node *node, const qdq_onnx_op *row, resize *r) {
    qdq_findings *f = &node->im->graph->findings;
    bool linear = strcmp(r->mode, "linear") == 0;
    if (!linear && strcmp(r->mode, "nearest") != 0) {
        qdq_onnx_refuse(node, "mode", qdq_text(f, "is %s", r->mode), "nearest or linear");
        return;
    }
    bool spatial = r->in.rank >= 3 && r->in.rank <= 5 && r->in.dims[0] == r->out.dims[0] &&
                   r->in.dims[1] == r->out.dims[1];
    spatial = spatial && qdq_onnx_elem_is_real(node->inputs[0]->elem);
    bool corners = spatial && !positions_agree(r, false);
    bool fits = spatial && (!corners || positions_agree(r, true));
    if (!fits && !linear && gather(node, row, r)) return;
    if (!fits) {
        qdq_onnx_refuse(node, NULL,
                        qdq_text(f, "reads positions from %s to %s that Interpolate does not",
                                 qdq_shape_text(f, r->in), qdq_shape_text(f, r->out)),
                        "spatial dims of [N, C, spatial...] by half_pixel or align_corners, halves "
                        "rounded up");
        return;
    }
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, "Interpolate", NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_word(&call, "mode", r->mode);
    qdq_onnx_set_ints(&call, "sizes", r->out.dims + 2, (size_t)r->in.rank - 2);
    qdq_onnx_set_word(&call, "data_format", "NCX");
    qdq_onnx_set_word(&call, "coordinate_transformation_mode",
                      corners ? "align_corners" : "half_pixel");
    qdq_onnx_finish(&call);
}

static resize start(const qdq_onnx_node *node, const char *coordinates, const char *nearest) {
    qdq_shape x = node->inputs[0]->shape;
    resize r = {.mode = qdq_onnx_word(node, "mode", "nearest"),
                .coordinates = qdq_onnx_word(node, "coordinate_transformation_mode", coordinates),
                .nearest = qdq_onnx_word(node, "nearest_mode", nearest),
                .in = x,
                .out = x};
    for (int i = 0; i < QDQ_MAX_RANK; i++) r.ratio[i] = 1.0;
    return r;
}

void qdq_onnx_resize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    resize r = start(node, "half_pixel", "round_prefer_floor");
    qdq_onnx_value *scales = qdq_onnx_input(node, 2), *sizes = qdq_onnx_input(node, 3);
    static const char *const refused[] = {"antialias", "exclude_outside"};
    for (size_t i = 0; i < 2; i++)
        if (qdq_onnx_int(node, refused[i], 0)) {
            qdq_onnx_refuse(node, refused[i], "is set", "0");
            return;
        }
    const char *policy = qdq_onnx_word(node, "keep_aspect_ratio_policy", "stretch");
    if (strcmp(policy, "stretch") != 0) {
        qdq_onnx_refuse(node, "keep_aspect_ratio_policy", ONNX_TEXT(node, "is %s", policy),
                        "stretch");
        return;
    }
    bool by_scales = scales && qdq_onnx_count(scales->shape) > 0;
    if (!by_scales && !sizes) {
        qdq_onnx_refuse(node, "scales", "are not given, nor are sizes", "one of the two");
        return;
    }
    if (read_sizes(node, &r, by_scales ? scales : sizes, by_scales)) convert(node, row, &r);
}

// Upsample, and Resize of opset 10: by scales alone, from the corner.
void qdq_onnx_upsample(qdq_onnx_node *node, const qdq_onnx_op *row) {
    resize r = start(node, "asymmetric", "floor");
    qdq_onnx_value *scales = qdq_onnx_input(node, 1);
    const qdq_onnx_attr *attr = qdq_onnx_attr_find(node, "scales");
    if (!scales && attr) {
        double *reals = qdq_mempool_array(node->im->mempool, attr->floats.count, sizeof *reals);
        scales = qdq_onnx_new_value(node->im, "scales");
        if (!scales || !reals) return;
        for (size_t i = 0; i < attr->floats.count; i++) reals[i] = (double)attr->floats.items[i];
        scales->elem = ONNX_FLOAT, scales->reals = reals;
        scales->shape = (qdq_shape){1, {(int64_t)attr->floats.count}};
    }
    if (!scales) {
        qdq_onnx_refuse(node, "scales", "are not given", "a number for each dim");
        return;
    }
    if (read_sizes(node, &r, scales, true)) convert(node, row, &r);
}
