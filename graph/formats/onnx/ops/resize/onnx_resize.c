// SPDX-License-Identifier: Apache-2.0
// Converts Resize and Upsample to Interpolate, if every element of the result comes from the same
// place, which is computed, whatever the attributes say. Otherwise the nearest elements are
// gathered dim by dim, in every dtype, and linear and cubic modes become weighted sums.
#include "graph/formats/onnx/ops/resize/onnx_resize.h"

#include <math.h>
#include <string.h>

#include "ops/spatial/interpolate.h"

enum { MOST_SIZE = 1 << 20 };  // of a spatial dim of the result

//---- Positions --------------------------------------------------------------

bool qdq_onnx_crops(const qdq_onnx_resize *r) {
    return strcmp(r->coordinates, "tf_crop_and_resize") == 0;
}

// Returns the position of element o in the part of x from `begin` to `end`, including both ends.
static float cropped(const qdq_onnx_resize *r, int dim, float o) {
    float begin = r->begin[dim], end = r->end[dim];
    float last = (float)r->in.dims[dim] - 1.0f, out = (float)r->out.dims[dim];
    if (out == 1.0f) return 0.5f * (begin + end) * last;
    return begin * last + (o * (end - begin) * last) / (out - 1.0f);
}

float qdq_onnx_position(const qdq_onnx_resize *r, int dim, int64_t o) {
    float size = (float)r->in.dims[dim], out = (float)r->out.dims[dim];
    float scale = (float)r->ratio[dim], half = ((float)o + 0.5f) / scale - 0.5f;
    const char *c = r->coordinates;
    if (scale == 1.0f && !qdq_onnx_crops(r)) return (float)o;
    if (strcmp(c, "asymmetric") == 0) return (float)o / scale;
    if (strcmp(c, "align_corners") == 0)
        return out == 1.0f ? 0.0f : (float)o * (size - 1.0f) / (out - 1.0f);
    if (strcmp(c, "half_pixel") == 0) return half;
    if (strcmp(c, "half_pixel_symmetric") == 0) {
        float offset = size / 2.0f * (1.0f - out / (scale * size));
        return (float)((double)offset + ((double)o + 0.5) / (double)scale - 0.5);
    }
    if (strcmp(c, "pytorch_half_pixel") == 0) return out > 1.0f ? half : 0.0f;
    return qdq_onnx_crops(r) ? cropped(r, dim, (float)o) : NAN;
}

// Positions within 1e-6 of the middle of two elements count as the middle, as in ONNX Runtime.
static double onnx_nearest(const qdq_onnx_resize *r, float at) {
    const char *mode = r->nearest;
    if (strcmp(mode, "round_prefer_floor") == 0) return ceil((double)at - 0.5 - 1e-6);
    if (strcmp(mode, "round_prefer_ceil") == 0) return floor((double)at + 0.5 + 1e-6);
    if (strcmp(mode, "floor") == 0) return (double)floorf(at);
    return strcmp(mode, "ceil") == 0 ? (double)ceilf(at) : NAN;
}

// Returns the position that Interpolate reads, given sizes.
static double our_position(const qdq_onnx_resize *r, int dim, int64_t o, bool corners) {
    float size = (float)r->in.dims[dim], out = (float)r->out.dims[dim];
    float at = ((float)o + 0.5f) * size / out - 0.5f;
    if (corners) at = (float)o * (size - 1.0f) / (out > 2.0f ? out - 1.0f : 1.0f);
    if (strcmp(r->mode, "nearest") == 0) at = truncf(at + copysignf(0.5f, at));
    return (double)at;
}

static bool positions_agree(const qdq_onnx_resize *r, bool corners) {
    for (int dim = 2; dim < r->in.rank; dim++)
        for (int64_t o = 0; o < r->out.dims[dim]; o++) {
            float position = qdq_onnx_position(r, dim, o);
            bool nearest = strcmp(r->mode, "nearest") == 0;
            double at = nearest ? onnx_nearest(r, position) : (double)position;
            if (isnan(at)) return false;
            double ours = qdq_onnx_clamped(our_position(r, dim, o, corners), r->in.dims[dim]);
            if (fabs(qdq_onnx_clamped(at, r->in.dims[dim]) - ours) > 1e-5) return false;
        }
    return true;
}

//---- Sizes ------------------------------------------------------------------

// Reads the dims that `axes` names, or all of them. False after a refusal.
static bool read_axes(qdq_onnx_resize *r, int *dims, size_t *count) {
    qdq_ints axes;
    bool some = qdq_onnx_int_list(r->node, "axes", &axes) && axes.count;
    *count = some ? axes.count : (size_t)r->in.rank;
    for (size_t i = 0; i < *count; i++) {
        dims[i] = (int)i;
        if (i >= (size_t)r->in.rank ||
            (some && !qdq_onnx_axis(r->node, axes.data[i], r->in.rank, &dims[i])))
            return false;
    }
    return true;
}

static bool is_list(const qdq_onnx_resize *r, qdq_onnx_value *given, const char *name,
                    size_t wanted) {
    if (given && qdq_onnx_known(r->node->im, given) && qdq_onnx_count(given->shape) == wanted)
        return true;
    qdq_onnx_refuse(r->node, name,
                    given ? ONNX_TEXT(r->node, "are '%.128s'", given->name) : "are not given",
                    ONNX_TEXT(r->node, "%zu constant numbers", wanted));
    return false;
}

// Reads the parts of the dims that are cropped: begins, then ends.
static bool read_roi(qdq_onnx_resize *r, const int *dims, size_t count) {
    qdq_onnx_value *roi = qdq_onnx_input(r->node, 1);
    for (int i = 0; i < QDQ_MAX_RANK; i++) r->end[i] = 1.0f;
    if (!qdq_onnx_crops(r)) return true;
    if (!is_list(r, roi, "roi", 2 * count)) return false;
    for (size_t i = 0; i < count; i++) {
        r->begin[dims[i]] = (float)qdq_onnx_real_at(roi, i);
        r->end[dims[i]] = (float)qdq_onnx_real_at(roi, count + i);
    }
    return true;
}

// Returns the scale of all axes, if the policy keeps the proportions of x; else 0.
static double kept_ratio(const qdq_onnx_resize *r, const qdq_onnx_value *sizes, const int *dims,
                         size_t count) {
    const char *policy = qdq_onnx_word(r->node, "keep_aspect_ratio_policy", "stretch");
    bool least = strcmp(policy, "not_larger") == 0, most = strcmp(policy, "not_smaller") == 0;
    float kept = 0.0f;
    for (size_t i = 0; i < count && (least || most); i++) {
        float ratio = (float)qdq_onnx_real_at(sizes, i) / (float)r->in.dims[dims[i]];
        if (i == 0 || (least ? ratio < kept : ratio > kept)) kept = ratio;
    }
    return (double)kept;
}

// True if ONNX and ONNX Runtime agree about the corner. If a scale gives a fraction of an element,
// ONNX places the corner at the fraction, and ONNX Runtime at the last whole element.
static bool is_clear(const qdq_onnx_resize *r, int dim, double value) {
    double size = value * (double)r->in.dims[dim];
    bool corners = strcmp(r->coordinates, "align_corners") == 0;
    if (!corners || strcmp(r->mode, "nearest") == 0) return true;
    return fabs(size - (double)r->out.dims[dim]) <= 1e-4 * size || r->out.dims[dim] == 1;
}

// True if a dim that keeps its size is cropped; ONNX Runtime then leaves it uncropped.
static bool is_cropped_only(const qdq_onnx_resize *r, int dim) {
    return r->ratio[dim] == 1.0 && (r->begin[dim] != 0.0f || r->end[dim] != 1.0f);
}

static bool set_size(qdq_onnx_resize *r, int dim, double value, bool is_scale, double kept) {
    float size = (float)r->in.dims[dim], scale = (float)value;
    double out = value;
    if (is_scale) out = floor((double)(scale * size));
    if (kept > 0.0) out = round((double)((float)kept * size));
    if (!(out >= 1.0 && out <= MOST_SIZE) && out != (double)size) {
        qdq_onnx_refuse(r->node, is_scale ? "scales" : "sizes",
                        qdq_text_is(&r->node->im->graph->findings, out),
                        ONNX_TEXT(r->node, "dims of 1 to %d", MOST_SIZE));
        return false;
    }
    r->out.dims[dim] = (int64_t)out;
    r->ratio[dim] = is_scale ? value : kept > 0.0 ? kept : out / (double)size;
    if (is_cropped_only(r, dim)) {
        qdq_onnx_refuse_hint(
            r->node, "roi", ONNX_TEXT(r->node, "crops dim %d, which is not scaled", dim),
            "0 and 1 there", "ONNX and ONNX Runtime disagree about this; slice first");
        return false;
    }
    if (!is_scale || is_clear(r, dim, value)) return true;
    qdq_onnx_refuse_hint(
        r->node, "scales", ONNX_TEXT(r->node, "make a fraction of an element of dim %d", dim),
        "whole elements for align_corners",
        "ONNX and ONNX Runtime disagree about the corners of a fraction; give sizes");
    return false;
}

static bool read_sizes(qdq_onnx_resize *r, qdq_onnx_value *given, bool are_scales) {
    int dims[QDQ_MAX_RANK];
    size_t count;
    if (!read_axes(r, dims, &count) || !read_roi(r, dims, count) ||
        !is_list(r, given, are_scales ? "scales" : "sizes", count))
        return false;
    double kept = are_scales ? 0.0 : kept_ratio(r, given, dims, count);
    for (size_t i = 0; i < count; i++)
        if (!set_size(r, dims[i], qdq_onnx_real_at(given, i), are_scales, kept)) return false;
    return true;
}

//---- Nodes ------------------------------------------------------------------

// Returns the index of the nearest element for each index of a dim of the result; NULL: a word of
// the attributes is unknown, or memory ran out.
static double *indices_of(const qdq_onnx_resize *r, int dim) {
    size_t count = (size_t)r->out.dims[dim];
    double *indices = qdq_mempool_array(r->node->im->mempool, count, sizeof *indices);
    for (size_t o = 0; indices && o < count; o++) {
        double at = onnx_nearest(r, qdq_onnx_position(r, dim, (int64_t)o));
        if (isnan(at)) return NULL;
        indices[o] = qdq_onnx_clamped(at, r->in.dims[dim]);
    }
    return indices;
}

// Gathers along each dim that is scaled. False: the attributes do not allow it.
static bool gather(const qdq_onnx_resize *r) {
    bool crops = qdq_onnx_crops(r);
    qdq_onnx_term terms[] = {
        {.name = "x", .input = r->node->inputs[0]}, {.name = "indices"}, {.name = "axis"}};
    qdq_value made = {0};
    int last = -1;
    for (int dim = 0; dim < r->in.rank; dim++)
        if (qdq_onnx_moves(r, dim)) last = dim;
    for (int dim = 0; dim <= last; dim++) {
        if (!qdq_onnx_moves(r, dim)) continue;
        double *indices = indices_of(r, dim);
        if (!indices) return false;
        terms[1].input =
            qdq_onnx_list_value(r->node, "indices", ONNX_INT64, indices, (size_t)r->out.dims[dim]);
        terms[2].number = dim;
        made = qdq_onnx_formula(r->node, r->row,
                                dim < last || crops ? "part = Gather(x, indices, axis: axis)"
                                                    : "Gather(x, indices, axis: axis)",
                                terms, 3);
        if (!made.id) return true;
        terms[0] = (qdq_onnx_term){.name = "x", .value = made};
    }
    for (int dim = 0; dim <= last && crops && made.id; dim++)
        if (qdq_onnx_moves(r, dim)) made = qdq_onnx_extrapolated(r, made, dim, dim == last);
    qdq_onnx_bind(r->node, 0, made);
    return last >= 0;
}

// True if the model's scales are those that follow from the sizes.
static bool has_ratios_of_sizes(const qdq_onnx_resize *r) {
    bool same = true;
    for (int dim = 2; dim < r->in.rank; dim++)
        same = same && (float)r->ratio[dim] == (float)r->out.dims[dim] / (float)r->in.dims[dim];
    return same;
}

// True if Interpolate, on targets whose float ops are ONNX Runtime's, reads the positions of the
// model to the last bit.
static bool is_exact(const qdq_onnx_resize *r, bool corners) {
    bool by_scales = !has_ratios_of_sizes(r);
    for (int dim = 2; dim < r->in.rank; dim++) {
        int64_t in = r->in.dims[dim], out = r->out.dims[dim];
        float scale = (float)r->ratio[dim];
        if (by_scales && (int64_t)((float)in * scale) != out) return false;
        for (int64_t o = 0; o < out; o++) {
            float ours =
                qdq_interpolate_position(corners, scale, (size_t)in, (size_t)out, (size_t)o);
            if (qdq_onnx_clamped((double)ours, in) !=
                qdq_onnx_clamped((double)qdq_onnx_position(r, dim, o), in))
                return false;
        }
    }
    return true;
}

static void interpolate(const qdq_onnx_resize *r, bool corners, bool by_scales) {
    qdq_onnx_call call;
    qdq_onnx_begin(&call, r->node, "Interpolate", NULL);
    qdq_onnx_port(&call, "x", r->node->inputs[0]);
    qdq_onnx_set_word(&call, "mode", r->mode);
    if (by_scales)
        qdq_onnx_set_floats(&call, "scales", r->ratio + 2, (size_t)r->in.rank - 2);
    else
        qdq_onnx_set_ints(&call, "sizes", r->out.dims + 2, (size_t)r->in.rank - 2);
    qdq_onnx_set_word(&call, "data_format", "NCX");
    qdq_onnx_set_word(&call, "coordinate_transformation_mode",
                      corners ? "align_corners" : "half_pixel");
    qdq_onnx_finish(&call);
}

// True if the words of the attributes are known; a node with others is refused.
static bool read_words(const qdq_onnx_resize *r) {
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    bool known = false, real = qdq_onnx_elem_is_real(r->node->inputs[0]->elem);
    for (size_t i = 0; i < 3; i++) known = known || strcmp(r->mode, modes[i]) == 0;
    const char *bad = !known ? "mode" : NULL, *word = r->mode;
    if (isnan(qdq_onnx_position(r, 0, 0)))
        bad = "coordinate_transformation_mode", word = r->coordinates;
    if (bad) qdq_onnx_refuse(r->node, bad, ONNX_TEXT(r->node, "is '%.40s'", word), NULL);
    if (!bad && r->antialias && !real) {
        bad = "antialias";
        qdq_onnx_refuse(r->node, bad, "is set for integers", "floats");
    }
    return !bad;
}

static void convert(const qdq_onnx_resize *r) {
    bool linear = strcmp(r->mode, "linear") == 0, nearest = strcmp(r->mode, "nearest") == 0;
    bool same = true, spatial = (linear || nearest) && r->in.rank >= 3 && r->in.rank <= 5 &&
                                r->in.dims[0] == r->out.dims[0] && r->in.dims[1] == r->out.dims[1];
    qdq_dtype dtype = qdq_onnx_dtype(r->node->inputs[0]->elem);
    bool codes = dtype == QDQ_INT8 || dtype == QDQ_UINT8;
    spatial = spatial && !r->antialias && !qdq_onnx_crops(r) &&
              (dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16 ||
               (codes && nearest));
    for (int dim = 0; dim < r->in.rank; dim++) same = same && r->in.dims[dim] == r->out.dims[dim];
    if (!read_words(r)) return;
    bool corners = spatial && !positions_agree(r, false);
    if (same)
        qdq_onnx_alias(r->node, 0, r->node->inputs[0]);
    else if (spatial && (!corners || positions_agree(r, true)) && (nearest || is_exact(r, corners)))
        interpolate(r, corners, !nearest && !has_ratios_of_sizes(r));
    else if (!nearest)
        qdq_onnx_resize_by_sums(r);
    else if (!gather(r) && !r->node->refused)
        qdq_onnx_refuse(r->node, "nearest_mode", ONNX_TEXT(r->node, "is '%.40s'", r->nearest),
                        NULL);
}

static qdq_onnx_resize start(qdq_onnx_node *node, const qdq_onnx_op *row, const char *coordinates,
                             const char *nearest) {
    qdq_shape x = node->inputs[0]->shape;
    qdq_onnx_resize r = {.node = node,
                         .row = row,
                         .mode = qdq_onnx_word(node, "mode", "nearest"),
                         .coordinates =
                             qdq_onnx_word(node, "coordinate_transformation_mode", coordinates),
                         .nearest = qdq_onnx_word(node, "nearest_mode", nearest),
                         .in = x,
                         .out = x,
                         .cubic_a = (float)qdq_onnx_float(node, "cubic_coeff_a", -0.75),
                         .extrapolation = (float)qdq_onnx_float(node, "extrapolation_value", 0),
                         .exclude_outside = qdq_onnx_int(node, "exclude_outside", 0) != 0};
    r.antialias = qdq_onnx_int(node, "antialias", 0) != 0 && strcmp(r.mode, "nearest") != 0;
    for (int i = 0; i < QDQ_MAX_RANK; i++) r.ratio[i] = 1.0;
    return r;
}

void qdq_onnx_resize_node(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_resize r = start(node, row, "half_pixel", "round_prefer_floor");
    qdq_onnx_value *scales = qdq_onnx_input(node, 2), *sizes = qdq_onnx_input(node, 3);
    bool by_scales = scales && qdq_onnx_count(scales->shape) > 0;
    if (!by_scales && !sizes)
        qdq_onnx_refuse(node, "scales", "are not given, nor are sizes", "one of the two");
    else if (read_sizes(&r, by_scales ? scales : sizes, by_scales))
        convert(&r);
}

// Converts Upsample, and Resize of opset 10: by scales alone, from the corner.
void qdq_onnx_upsample(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_resize r = start(node, row, "asymmetric", "floor");
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
    if (read_sizes(&r, scales, true)) convert(&r);
}
