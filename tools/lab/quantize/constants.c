// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/constants.h"

#include <math.h>
#include <qdq/inspect.h>
#include <string.h>

// Maps an element to its scale. The scales are in row-major order of a grid of blocks.
typedef struct block_grid {
    qdq_shape shape, block;
    size_t count;
} block_grid;

static block_grid grid_of(qdq_shape shape, const weight_form *form) {
    block_grid grid = {.shape = shape, .block = shape, .count = 1};
    if (form->channel >= 0) grid.block.dims[form->channel] = 1;
    if (form->grouped >= 0) grid.block.dims[form->grouped] = form->group;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dims[i]) grid.count *= (size_t)(shape.dims[i] / grid.block.dims[i]);
    return grid;
}

static size_t block_of(const block_grid *grid, size_t element) {
    size_t block = 0, step = 1;
    for (int i = grid->shape.rank - 1; i >= 0; i--) {
        size_t dim = (size_t)grid->shape.dims[i], size = (size_t)grid->block.dims[i];
        block += element % dim / size * step;
        step *= dim / size;
        element /= dim;
    }
    return block;
}

static const float *finite_elements(const qdq_graph *graph, qdq_value value, qdq_shape *shape) {
    qdq_dtype dtype;
    if (!qdq_value_type(graph, value, &dtype, shape) || dtype != QDQ_FLOAT32) return NULL;
    const float *x = qdq_value_data(graph, value);
    for (size_t i = 0; x && i < qdq_shape_count(*shape); i++)
        if (!isfinite(x[i])) return NULL;
    return x;
}

// Sorts elements by block: block b has elements starts[b] .. starts[b + 1].
static float *sorted_elements(coding_list *list, const block_grid *grid, const float *x,
                              size_t *starts) {
    size_t count = qdq_shape_count(grid->shape);
    float *sorted = coding_list_memory(list, count, sizeof *sorted);
    size_t *next = coding_list_memory(list, grid->count, sizeof *next);
    if (list->failed) return NULL;
    for (size_t i = 0; i < count; i++) starts[block_of(grid, i) + 1]++;
    for (size_t b = 0; b < grid->count; b++) starts[b + 1] += starts[b], next[b] = starts[b];
    for (size_t i = 0; i < count; i++) sorted[next[block_of(grid, i)]++] = x[i];
    return sorted;
}

// Returns the least scale with which a bias and the sum of `count` products fit in int32, to which
// kernels add it.
static float least_scale(const weight_form *form, size_t channel, size_t count) {
    static const double most_sum = 2147483392;  // a float32 below 2^31, with room for rounding
    static const double most_product = 255 * 128;
    if (!form->bias) return 0;
    double most = 0, most_codes = fmax(most_sum - most_product * (double)count, most_sum / 2);
    if (form->halves_away) most_codes = (double)(INT32_MAX / 2);
    for (size_t i = 0; i < form->bias_count; i++)
        if (form->channel < 0 || i == channel) most = fmax(most, fabs((double)form->bias[i]));
    return (float)(most / (most_codes * (double)form->data_scale));
}

static float *scales_of(coding_list *list, const block_grid *grid, const float *x,
                        const weight_form *form) {
    code_range codes = code_range_of(form->dtype, true);
    codes.halves_away = form->halves_away;
    float *scales = coding_list_memory(list, grid->count, sizeof *scales);
    size_t *starts = coding_list_memory(list, grid->count + 1, sizeof *starts);
    const float *sorted = list->failed ? NULL : sorted_elements(list, grid, x, starts);
    for (size_t b = 0; sorted && b < grid->count; b++) {
        size_t count = starts[b + 1] - starts[b];
        float scale = choose_weight_scale(sorted + starts[b], count, form->method, &codes);
        scales[b] = fmaxf(scale, least_scale(form, b, count));
    }
    return sorted ? scales : NULL;
}

static int8_t *codes_of(coding_list *list, const block_grid *grid, const float *x,
                        const float *scales, const weight_form *form) {
    code_range range = code_range_of(form->dtype, true);
    if (form->halves_away) range.halves_away = true, range.least = -range.greatest;
    size_t count = qdq_shape_count(grid->shape);
    int8_t *codes = coding_list_memory(list, count, sizeof *codes);
    for (size_t i = 0; codes && i < count; i++)
        codes[i] = (int8_t)symmetric_code_of(x[i], scales[block_of(grid, i)], &range);
    return codes;
}

static qdq_quantize_attrs attrs_of(coding_list *list, const block_grid *grid, const float *scales,
                                   const weight_form *form) {
    qdq_quantize_attrs attrs = {.dtype = form->dtype,
                                .scales = {scales, grid->count, form->channel < 0}};
    if (form->grouped >= 0) {
        int64_t *block = coding_list_memory(list, QDQ_MAX_RANK, sizeof *block);
        for (int i = 0; block && i < grid->shape.rank; i++) block[i] = grid->block.dims[i];
        attrs.qtype = QDQ_PER_GROUP;
        attrs.group_shape = (qdq_ints){block, (size_t)grid->shape.rank};
        attrs.scales.scalar = false;
    } else if (form->channel >= 0) {
        attrs.qtype = QDQ_PER_CHANNEL;
        attrs.axis = QDQ_INT(form->channel);
    }
    return attrs;
}

// Finds a coding of the constant with these scales; SIZE_MAX: none.
static size_t same_coding(const coding_list *list, qdq_value w, const qdq_quantize_attrs *attrs) {
    for (size_t i = 0; i < list->count; i++) {
        const qdq_quantize_attrs *a = &list->codings[i].attrs;
        if (list->codings[i].value.id == w.id && a->dtype == attrs->dtype &&
            a->qtype == attrs->qtype && a->axis.value == attrs->axis.value &&
            a->scales.count == attrs->scales.count &&
            memcmp(a->scales.data, attrs->scales.data, a->scales.count * sizeof(float)) == 0)
            return i;
    }
    return SIZE_MAX;
}

size_t code_weights(coding_list *list, qdq_value w, const weight_form *form) {
    qdq_shape shape;
    const float *x = finite_elements(list->graph, w, &shape);
    if (!x || !qdq_shape_count(shape)) return SIZE_MAX;
    block_grid grid = grid_of(shape, form);
    const float *scales = scales_of(list, &grid, x, form);
    if (!scales) return SIZE_MAX;
    qdq_quantize_attrs attrs = attrs_of(list, &grid, scales, form);
    size_t same = same_coding(list, w, &attrs);
    if (same != SIZE_MAX) return same;
    const int8_t *codes = codes_of(list, &grid, x, scales, form);
    if (!codes) return SIZE_MAX;
    return coding_list_add(list, (qdq_coding){.value = w, .codes = codes, .attrs = attrs});
}

// Returns the scales of a bias, as many as coding `weights` has. NULL if one is too small.
static float *bias_scales(coding_list *list, const weight_form *form, size_t weights) {
    const qdq_floats given = list->codings[weights].attrs.scales;
    float *scales = coding_list_memory(list, given.count, sizeof *scales);
    for (size_t i = 0; scales && i < given.count; i++) {
        scales[i] = form->data_scale * given.data[i];
        if (!(scales[i] >= 0x1p-126F)) return NULL;
    }
    return given.count ? scales : NULL;
}

static qdq_quantize_attrs bias_attrs(const coding_list *list, const float *scales, size_t weights,
                                     int axis) {
    const qdq_floats given = list->codings[weights].attrs.scales;
    qdq_quantize_attrs attrs = {.dtype = QDQ_INT32, .scales = {scales, given.count, given.scalar}};
    if (!given.scalar) attrs.qtype = QDQ_PER_CHANNEL, attrs.axis = QDQ_INT(axis);
    return attrs;
}

// Returns the code of an element of a bias. The converter multiplies by the reciprocal.
static int32_t bias_code(float element, float scale, const weight_form *form) {
    static const double most = 2147483392;  // a float32 below 2^31
    if (!form->halves_away) return (int32_t)nearbyint((double)element / (double)scale);
    double code = (double)roundf(element * (float)(1 / (double)scale));
    return (int32_t)fmin(fmax(code, -most), most);
}

size_t code_bias(coding_list *list, qdq_value bias, const weight_form *form, size_t weights) {
    qdq_shape shape;
    const float *x = finite_elements(list->graph, bias, &shape);
    size_t count = x ? qdq_shape_count(shape) : 0;
    const float *scales = bias_scales(list, form, weights);
    int32_t *codes = coding_list_memory(list, count, sizeof *codes);
    if (!x || !scales || list->failed) return SIZE_MAX;
    qdq_quantize_attrs attrs = bias_attrs(list, scales, weights, shape.rank - 1);
    for (size_t i = 0; i < count; i++)
        codes[i] = bias_code(x[i], scales[i % attrs.scales.count], form);
    return coding_list_add(list, (qdq_coding){.value = bias, .codes = codes, .attrs = attrs});
}

size_t code_zero_bias(coding_list *list, size_t channels, const weight_form *form, size_t weights) {
    const float *scales = bias_scales(list, form, weights);
    int32_t *codes = coding_list_memory(list, channels, sizeof *codes);
    if (!scales || !codes) return SIZE_MAX;
    return coding_list_add(list, (qdq_coding){.codes = codes,
                                              .attrs = bias_attrs(list, scales, weights, 0),
                                              .shape = {1, {(int64_t)channels}}});
}

//---- Other constants --------------------------------------------------------

// Returns the attributes of int8 codes with one scale and zero point.
static qdq_quantize_attrs int8_attrs(coding_list *list, const chosen_params *params) {
    float *scale = coding_list_memory(list, 1, sizeof *scale);
    double *zero = coding_list_memory(list, 1, sizeof *zero);
    qdq_quantize_attrs attrs = {.dtype = QDQ_INT8, .scales = {scale, 1, true}};
    if (!scale || !zero) return attrs;
    *scale = params->scale, *zero = params->zero_point;
    if (params->zero_point) attrs.zps = (qdq_numbers){zero, 1, true};
    return attrs;
}

size_t code_elements(coding_list *list, qdq_value constant, const chosen_params *params,
                     const code_range *codes) {
    qdq_shape shape;
    const float *x = finite_elements(list->graph, constant, &shape);
    size_t count = x ? qdq_shape_count(shape) : 0;
    int8_t *all = coding_list_memory(list, count, sizeof *all);
    double least = 0, greatest = 0;
    if (!x || !count || !all) return SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, (double)x[i]);
        greatest = fmax(greatest, (double)x[i]);
    }
    chosen_params own = params ? *params : params_of_range(least, greatest, codes);
    for (size_t i = 0; i < count; i++) all[i] = (int8_t)code_of(x[i], own, codes);
    qdq_quantize_attrs attrs = int8_attrs(list, &own);
    return coding_list_add(list, (qdq_coding){.value = constant, .codes = all, .attrs = attrs});
}

size_t code_alone(coding_list *list, const chosen_params *params, int32_t code) {
    int8_t *codes = coding_list_memory(list, 1, sizeof *codes);
    if (!codes) return SIZE_MAX;
    *codes = (int8_t)code;
    return coding_list_add(list, (qdq_coding){.codes = codes, .attrs = int8_attrs(list, params)});
}
