// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/places.h"

#include <math.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/words.h"
#include "tools/lab/quantize/constants.h"
#include "tools/lab/quantize/placing.h"

const char *node_fate_text(node_fate fate) {
    switch (fate) {
    case NODE_OTHER:
    case NODE_QUANTIZED: return NULL;
    case NODE_KEPT: return "--keep";
    case NODE_NOT_FLOAT32: return "an operand is not float32";
    case NODE_NO_STATISTICS: return "an operand has no statistics";
    case NODE_NO_OPERATOR: return "the target has no such operator on codes";
    case NODE_NO_ACTIVATION: return "no operand is computed, or a constant is not finite";
    }
    return NULL;
}

//---- Statistics -------------------------------------------------------------

static int by_name(const void *a, const void *b) {
    const named_row *x = a, *y = b;
    return strcmp(x->name, y->name);
}

bool statistics_of(const placing *p, qdq_value v, statistics *out) {
    const named_row key = {.name = qdq_value_name(p->list->graph, v)};
    const state_table *values = &p->state->tables[0];
    const named_row *found = bsearch(&key, p->rows, values->rows, sizeof key, by_name);
    if (!found) return false;
    *out = calibrate_statistics(values, found->row);
    return out->counts[COUNT_FINITE] > 0 && isfinite(out->range[0]) && isfinite(out->range[1]) &&
           out->range[0] <= out->range[1];
}

//---- Activations ------------------------------------------------------------

// True if the kernel that computes a value requires fixed parameters of it.
static bool is_fixed(const placing *p, qdq_value v, const code_range *codes) {
    size_t maker = p->list->maker[v.id];
    return p->choice->form->softmax && !codes->symmetric && maker != SIZE_MAX &&
           strcmp(node_at(p, maker).op, "SoftMax") == 0;
}

code_range activation_codes(const placing *p) {
    const qdq_quantized_form *form = p->choice->form;
    code_range codes = code_range_of(form->values, form->symmetric || p->choice->symmetric);
    codes.halves_away = form->halves_away;
    return codes;
}

chosen_params activation_params(const placing *p, const statistics *s) {
    code_range codes = activation_codes(p);
    return choose_activation(s, p->choice->activations, p->choice->percentile, &codes);
}

size_t add_activation(placing *p, qdq_value v, chosen_params params) {
    const qdq_quantized_form *form = p->choice->form;
    float *scale = coding_list_memory(p->list, 1, sizeof *scale);
    double *zero = coding_list_memory(p->list, 1, sizeof *zero);
    qdq_coding coding = {.value = v};
    if (!scale || !zero) return coding_list_add(p->list, coding);
    *scale = params.scale, *zero = params.zero_point;
    coding.attrs = (qdq_quantize_attrs){.dtype = form->values, .scales = {scale, 1, true}};
    if (form->zero_points || params.zero_point) coding.attrs.zps = (qdq_numbers){zero, 1, true};
    return coding_list_add(p->list, coding);
}

// Returns the number of the coding of a computed value, after adding it if needed.
static size_t coding_of(placing *p, qdq_value v) {
    size_t *of = &p->list->of_value[v.id];
    code_range codes = activation_codes(p);
    statistics s;
    if (*of || !statistics_of(p, v, &s)) return *of - 1;
    chosen_params params = is_fixed(p, v, &codes) ? (chosen_params){1.0F / 256, codes.least}
                                                  : activation_params(p, &s);
    *of = add_activation(p, v, params) + 1;
    return *of - 1;
}

// Lets a port read the codes of a computed value if it has statistics.
static void place(placing *p, qdq_value v, size_t node, size_t port) {
    size_t coding = coding_of(p, v);
    if (coding != SIZE_MAX) coding_list_read(p->list, coding, node, port);
}

// Lets all nodes except kept nodes read the codes of a value.
static void place_for_all(placing *p, qdq_value v) {
    const coding_list *list = p->list;
    for (size_t i = list->first_reader[v.id]; i < list->first_reader[v.id + 1]; i++)
        if (!p->choice->kept[list->readers[i].node])
            place(p, v, list->readers[i].node, list->readers[i].port);
}

// Quantizes the result of a node, or of a ReLU that is its only reader.
static void place_result(placing *p, size_t node) {
    qdq_value v = result(p, node);
    for (size_t n; (n = only_reader(p, v)) != SIZE_MAX && strcmp(node_at(p, n).op, "ReLU") == 0;) {
        if (p->choice->kept[n]) return;
        v = result(p, n);
    }
    if (is_float32(p, v)) place_for_all(p, v);
}

//---- Constants --------------------------------------------------------------

// Returns the dim of the output channels of a product's constant operand; -1: it has none.
static int channel_of(const placing *p, size_t node, size_t port) {
    const char *op = node_at(p, node).op;
    int rank = shape_of(p, input(p, node, port)).rank;
    if (port != WEIGHTS || rank < 2) return -1;
    if (strcmp(op, "MatMul") == 0 && rank > 2 && !p->choice->form->stacks) return -1;
    if (strcmp(op, "MatMul") == 0)
        return attr_is(p, node, "\"transpose_b\":true") ? rank - 2 : rank - 1;
    if (strcmp(op, "Convolution") == 0)
        return attr_is(p, node, "\"weights_format\":\"OIX\"") ? 0 : rank - 1;
    return attr_is(p, node, "\"weights_format\":\"IOX\"") ? 1 : rank - 2;
}

static void form_groups(const placing *p, size_t node, weight_form *form) {
    qdq_shape shape = shape_of(p, input(p, node, WEIGHTS));
    int64_t group = p->choice->group;
    if (!group || form->channel < 0 || shape.rank != 2 ||
        strcmp(node_at(p, node).op, "MatMul") != 0)
        return;
    int dim = 1 - form->channel;
    if (shape.dims[dim] % group == 0 && shape.dims[dim] > group)
        form->grouped = dim, form->group = group;
}

// True if the bias of a product can be int32 codes: it has an entry for each channel, or the
// weights have a single scale.
static bool bias_fits(const placing *p, size_t node, const weight_form *form) {
    qdq_value bias = input(p, node, BIAS);
    if (p->choice->form->bias != QDQ_INT32 || !bias.id || !is_constant(p, bias) ||
        !is_float32(p, bias) || !qdq_value_data(p->list->graph, bias) || form->grouped >= 0)
        return false;
    if (form->channel < 0) return true;
    qdq_shape shape = shape_of(p, bias), weights = shape_of(p, input(p, node, WEIGHTS));
    return shape.rank > 0 && shape.dims[shape.rank - 1] == weights.dims[form->channel] &&
           qdq_shape_count(shape) == (size_t)weights.dims[form->channel];
}

static weight_form form_of(const placing *p, size_t node, size_t port, float data_scale) {
    bool channels = !p->choice->per_tensor;
    weight_form form = {.dtype = p->choice->form->weights,
                        .method = p->choice->weights,
                        .channel = channels ? channel_of(p, node, port) : -1,
                        .grouped = -1,
                        .data_scale = data_scale,
                        .halves_away = p->choice->form->halves_away};
    form_groups(p, node, &form);
    if (data_scale > 0 && bias_fits(p, node, &form)) {
        form.bias = qdq_value_data(p->list->graph, input(p, node, BIAS));
        form.bias_count = qdq_shape_count(shape_of(p, input(p, node, BIAS)));
    }
    return form;
}

// Gives a product that lacks a bias zeros, if the target needs one.
static bool place_zeros(placing *p, size_t node, const weight_form *form, size_t weights) {
    if (!qdq_has_word(p->choice->form->biased, node_at(p, node).op) || input(p, node, BIAS).id)
        return true;
    qdq_shape shape = shape_of(p, input(p, node, WEIGHTS));
    size_t channels = (size_t)shape.dims[channel_of(p, node, WEIGHTS)];
    size_t bias = code_zero_bias(p->list, channels, form, weights);
    if (bias != SIZE_MAX) coding_list_read(p->list, bias, node, BIAS);
    return bias != SIZE_MAX;
}

// Quantizes a constant operand. `data`: the coding of the other operand; SIZE_MAX: it is a constant
// too.
static bool place_constant(placing *p, size_t node, size_t port, size_t data) {
    float data_scale =
        data == SIZE_MAX || port != WEIGHTS ? 0 : p->list->codings[data].attrs.scales.data[0];
    weight_form form = form_of(p, node, port, data_scale);
    size_t weights = code_weights(p->list, input(p, node, port), &form);
    if (weights == SIZE_MAX) return false;
    coding_list_read(p->list, weights, node, port);
    if (!form.bias) return place_zeros(p, node, &form, weights);
    size_t bias = code_bias(p->list, input(p, node, BIAS), &form, weights);
    if (bias != SIZE_MAX) coding_list_read(p->list, bias, node, BIAS);
    return true;
}

//---- Nodes ------------------------------------------------------------------

// True if the backend computes a product on integers only with a Quantize behind it.
static bool needs_codes_behind(const placing *p, size_t node) {
    const qdq_quantized_form *form = p->choice->form;
    bool gives_floats =
        qdq_has_word(form->float_results, node_at(p, node).op) && !input(p, node, BIAS).id;
    return form->results && !gives_floats;
}

node_fate place_product(placing *p, size_t node) {
    size_t codings[OPERANDS] = {SIZE_MAX, SIZE_MAX};
    bool computed = false, placed = true;
    for (size_t i = 0; i < OPERANDS; i++) {
        statistics s;
        qdq_value v = input(p, node, i);
        if (!is_float32(p, v)) return NODE_NOT_FLOAT32;
        if (is_constant(p, v)) continue;
        if (!p->list->of_value[v.id] && !statistics_of(p, v, &s)) return NODE_NO_STATISTICS;
        computed = true;
    }
    if (!computed) return NODE_NO_ACTIVATION;
    for (size_t i = 0; i < OPERANDS; i++)
        if (!is_constant(p, input(p, node, i))) codings[i] = coding_of(p, input(p, node, i));
    for (size_t i = 0; placed && i < OPERANDS; i++)
        if (codings[i] == SIZE_MAX) placed = place_constant(p, node, i, codings[1 - i]);
    if (!placed) return NODE_NO_ACTIVATION;
    for (size_t i = 0; i < OPERANDS; i++)
        if (codings[i] != SIZE_MAX) coding_list_read(p->list, codings[i], node, i);
    if (needs_codes_behind(p, node)) place_result(p, node);
    return NODE_QUANTIZED;
}

// True if a value is the result of a quantized product and has no other reader.
static bool is_fused(const placing *p, qdq_value v) {
    size_t maker = p->list->maker[v.id];
    return maker != SIZE_MAX && p->fates[maker] == NODE_QUANTIZED &&
           qdq_has_word(p->choice->form->ops, node_at(p, maker).op) &&
           only_reader(p, v) != SIZE_MAX;
}

static node_fate place_residual(placing *p, size_t node) {
    qdq_value a = input(p, node, 0), b = input(p, node, 1);
    statistics s;
    if (p->choice->form->residual == QDQ_RESIDUAL_FLOAT || is_constant(p, a) || is_constant(p, b) ||
        !is_float32(p, a) || !is_float32(p, b) ||
        !qdq_shape_equal(shape_of(p, a), shape_of(p, b)) || !statistics_of(p, a, &s) ||
        !statistics_of(p, b, &s))
        return NODE_OTHER;
    bool first = is_fused(p, a), second = is_fused(p, b);
    if (p->choice->form->residual == QDQ_RESIDUAL_BRANCH) {
        if (!first && !second) return NODE_OTHER;
        place(p, first ? b : a, node, first ? 1 : 0);
        return NODE_QUANTIZED;
    }
    bool codes = p->list->of_value[a.id] || p->list->of_value[b.id];
    if (!codes) return NODE_OTHER;
    place(p, a, node, 0);
    place(p, b, node, 1);
    place_result(p, node);
    return NODE_QUANTIZED;
}

// Quantizes the result of an op that moves elements, with the parameters of its input.
static void place_moved(placing *p, size_t node) {
    const qdq_coding *from = coding_list_at(p->list, node, 0);
    qdq_value y = result(p, node);
    if (!from || !is_float32(p, y) || p->list->of_value[y.id]) return;
    qdq_coding coding = *from;
    coding.value = y;
    p->list->of_value[y.id] = coding_list_add(p->list, coding) + 1;
    place_for_all(p, y);
}

static node_fate place_node(placing *p, size_t node) {
    const qdq_quantized_form *form = p->choice->form;
    const char *op = node_at(p, node).op;
    bool product = qdq_has_word(form->ops, op), kept = p->choice->kept[node];
    if (kept) return NODE_KEPT;
    if (product) return place_product(p, node);
    if (strcmp(op, "Add") == 0) return place_residual(p, node);
    if (form->results && qdq_has_word(form->moves, op)) place_moved(p, node);
    return NODE_OTHER;
}

bool place_codes(coding_list *list, const state *s, const quantize_choice *choice,
                 node_fate *fates) {
    placing p = {.list = list, .state = s, .choice = choice, .fates = fates};
    const state_table *values = &s->tables[0];
    p.rows = coding_list_memory(list, values->rows, sizeof *p.rows);
    if (!p.rows) return false;
    for (size_t i = 0; i < values->rows; i++) p.rows[i] = (named_row){state_text(values, 0, i), i};
    qsort(p.rows, values->rows, sizeof *p.rows, by_name);
    size_t nodes = qdq_graph_node_count(list->graph);
    if (choice->form->whole) place_whole(&p);
    for (size_t n = 0; !choice->form->whole && n < nodes; n++) fates[n] = place_node(&p, n);
    coding_list_close(list);
    return !list->failed;
}
