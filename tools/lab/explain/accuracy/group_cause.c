// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's optimizer divides a float bias by the scales of both operands and converts it to
// int32 without a bound: codes beyond int32 become its least or greatest value.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/explain/accuracy/code_parameters.h"
#include "tools/lab/explain/accuracy/pair_causes.h"

enum { DATA, WEIGHTS, BIAS, MOST_NAMED = 3, MOST_DEPTH = 8 };

typedef struct overflow {
    const int32_t *codes;  // of the deployed bias
    size_t count;
    size_t channels[MOST_NAMED], beyond;  // beyond: of all
    int bits;                             // that the widest code needs; 0: not known
} overflow;

// Finds a constant of int32 with a code at a limit, among the operands of a deployed node.
static bool find_overflow(const replay *runs, size_t node, overflow *out) {
    const qdq_graph *graph = runs->form.graph;
    for (size_t i = 0; i < qdq_graph_node(graph, node).input_count; i++) {
        qdq_value value = qdq_graph_node_input(graph, node, i);
        qdq_dtype dtype;
        qdq_shape shape;
        if (!value.id || !qdq_value_is_constant(graph, value) ||
            !qdq_value_type(graph, value, &dtype, &shape) || dtype != QDQ_INT32)
            continue;
        *out = (overflow){.codes = qdq_value_data(graph, value), .count = qdq_shape_count(shape)};
        for (size_t k = 0; out->codes && k < out->count; k++) {
            if (out->codes[k] != INT32_MIN && out->codes[k] != INT32_MAX) continue;
            if (out->beyond < MOST_NAMED) out->channels[out->beyond] = k;
            out->beyond++;
        }
        if (out->beyond) return true;
    }
    return false;
}

//---- Bits -------------------------------------------------------------------

// Finds the product of the written graph that a deployed node replaces; SIZE_MAX: none.
static size_t product_of(const accuracy_forms *forms, size_t node) {
    const replay *runs = forms->deployed->quantized, *r = forms->written->quantized;
    qdq_value y = replay_source(runs, qdq_graph_node_output(runs->form.graph, node, 0));
    if (!y.id || y.id >= r->given->ids) return SIZE_MAX;
    y = r->form.own[y.id];
    for (int depth = 0; y.id && depth < MOST_DEPTH; depth++) {
        size_t maker = r->form.makers[y.id];
        if (maker == SIZE_MAX) return SIZE_MAX;
        if (is_op(r, maker, "Convolution") || is_op(r, maker, "MatMul")) return maker;
        y = qdq_graph_node_input(r->form.graph, maker, DATA);
    }
    return SIZE_MAX;
}

// Reads the scales of the pair that feeds a port.
static bool scales_at(const replay *r, size_t node, size_t port, const char *folder,
                      pair_scales *out, qdq_error *err) {
    *out = (pair_scales){0};
    size_t maker = r->form.makers[qdq_graph_node_input(r->form.graph, node, port).id];
    return is_op(r, maker, "Dequantize") && pair_scales_read(r, maker, folder, out, err);
}

// Returns the bits of a signed integer that holds the code.
static int bits_of(double code) {
    int bits = 1;
    while (bits < 1000 && (code < -ldexp(1, bits - 1) || code > ldexp(1, bits - 1) - 1)) bits++;
    return bits;
}

// Counts the bits from a float bias and the scales of the operands.
static void count_bits(const replay *r, size_t product, const pair_scales *data,
                       const pair_scales *weights, overflow *o) {
    if (qdq_graph_node(r->form.graph, product).input_count <= BIAS) return;
    qdq_value value = qdq_graph_node_input(r->form.graph, product, BIAS);
    size_t groups = weights->groups.count;
    qdq_dtype dtype;
    qdq_shape shape;
    if (!value.id || !qdq_value_type(r->form.graph, value, &dtype, &shape) ||
        dtype != QDQ_FLOAT32 || qdq_shape_count(shape) != o->count || data->groups.count != 1 ||
        (groups != 1 && groups != o->count) || !qdq_value_is_constant(r->form.graph, value))
        return;
    const float *bias = qdq_value_data(r->form.graph, value);
    for (size_t k = 0; bias && k < o->count; k++) {
        double scale = data->scales[0] * weights->scales[groups == 1 ? 0 : k];
        int bits = bits_of(nearbyint((double)bias[k] / scale));
        if (bits > 32 && bits > o->bits) o->bits = bits;
    }
}

static bool find_bits(const accuracy_forms *forms, size_t node, const char *folder, overflow *o,
                      qdq_error *err) {
    const replay *r = forms->written->quantized;
    size_t product = product_of(forms, node);
    pair_scales data = {0}, weights = {0};
    if (product != SIZE_MAX && scales_at(r, product, DATA, folder, &data, err) &&
        scales_at(r, product, WEIGHTS, folder, &weights, err))
        count_bits(r, product, &data, &weights, o);
    pair_scales_release(&data);
    pair_scales_release(&weights);
    return err->status == QDQ_OK;
}

//---- Text -------------------------------------------------------------------

static void say_overflow(const overflow *o, node_accuracy *n) {
    char channels[96] = "", bits[48] = "more than 32 bits";
    size_t used = 0;
    for (size_t i = 0; i < o->beyond && i < MOST_NAMED; i++)
        used += (size_t)snprintf(channels + used, sizeof channels - used, "%s%zu", i ? ", " : "",
                                 o->channels[i]);
    if (o->beyond > MOST_NAMED)
        (void)snprintf(channels + used, sizeof channels - used, " and %zu more",
                       o->beyond - MOST_NAMED);
    if (o->bits) snprintf(bits, sizeof bits, "%s%d bits", o->beyond > 1 ? "up to " : "", o->bits);
    snprintf(n->cause, sizeof n->cause, "bias overflow");
    snprintf(n->mend, sizeof n->mend,
             "channel%s %s of the bias need%s %s, int32 has 32: quantize the bias in the model, as "
             "qdq quantize does, or give the weights of the channel a larger scale",
             o->beyond > 1 ? "s" : "", channels, o->beyond > 1 ? "" : "s", bits);
}

int find_group_cause(const accuracy_forms *forms, const char *folder, node_accuracy *n) {
    overflow o;
    qdq_error err = {0};
    snprintf(n->cause, sizeof n->cause, "as deployed");
    snprintf(n->mend, sizeof n->mend, "none: the target runs this node for several");
    if (!find_overflow(forms->deployed->quantized, n->node, &o)) return EXIT_OK;
    if (!find_bits(forms, n->node, folder, &o, &err)) return report_error(&err);
    say_overflow(&o, n);
    return EXIT_OK;
}
