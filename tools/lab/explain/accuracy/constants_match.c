// SPDX-License-Identifier: Apache-2.0
// Finds the float constant that a Dequantize of constant codes stands for. A tool that leaves out
// an activation gives the product before it another name, so that neither its name nor its ports
// lead to the constant: the name of the codes does, or the elements.
#include "tools/lab/explain/accuracy/constants_match.h"

#include <math.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/compare/noise.h"

static const double least_ratio = 15, least_lead = 10;  // decibels, of a match by elements

// Suffixes that tools add to the name of a constant for its codes, or for the result of its
// Dequantize.
static const char *const suffixes[] = {"_quantized", "_DequantizeLinear_Output", "_dequantized",
                                       "_QuantizeLinear_Output"};

static bool same_type(const qdq_graph *graph, qdq_value value, const qdq_graph *other,
                      qdq_value constant) {
    qdq_dtype a, b;
    qdq_shape x, y;
    return qdq_value_is_constant(graph, value) && qdq_value_type(graph, value, &a, &x) &&
           qdq_value_type(other, constant, &b, &y) && a == b && qdq_shape_equal(x, y);
}

static qdq_value find_by_name(const qdq_graph *real, const char *name, const qdq_graph *quantized,
                              qdq_value y) {
    char stem[512];
    size_t length = name ? strlen(name) : 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t ending = strlen(suffixes[i]);
        if (length <= ending || length - ending >= sizeof stem ||
            strcmp(name + length - ending, suffixes[i]) != 0)
            continue;
        memcpy(stem, name, length - ending);
        stem[length - ending] = '\0';
        qdq_value found = qdq_graph_find(real, qdq_value_name_of(real, stem));
        if (found.id && same_type(real, found, quantized, y)) return found;
    }
    return (qdq_value){0};
}

static double ratio_with(const replay *real, qdq_value constant, qdq_dtype dtype,
                         const double *numbers, size_t count) {
    const void *data = qdq_value_data(real->form.graph, constant);
    double *own = data ? elements_take_numbers(real->exec_options.allocator, count) : NULL;
    if (!own) return -INFINITY;
    noise_sum sum = {0};
    to_doubles(dtype, data, count, own);
    noise_sum_add(&sum, own, numbers, count);
    elements_free(own);
    return sum.signal > 0 ? noise_sum_decibels(&sum) : -INFINITY;
}

static qdq_value find_by_elements(const replay *real, const qdq_graph *quantized, qdq_value y,
                                  const void *elements) {
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_value best = {0};
    if (!qdq_value_type(quantized, y, &dtype, &shape)) return best;
    size_t count = qdq_shape_count(shape);
    double most = -INFINITY, next = -INFINITY;
    double *numbers = elements_take_numbers(real->exec_options.allocator, count);
    if (!numbers) return best;
    to_doubles(dtype, elements, count, numbers);
    for (uint32_t id = 1; id < real->form.value_count; id++) {
        qdq_value candidate = {id};
        if (!same_type(real->form.graph, candidate, quantized, y)) continue;
        double ratio = ratio_with(real, candidate, dtype, numbers, count);
        if (ratio > most)
            next = most, most = ratio, best = candidate;
        else if (ratio > next)
            next = ratio;
    }
    elements_free(numbers);
    return most >= least_ratio && most >= next + least_lead ? best : (qdq_value){0};
}

qdq_value constant_of_codes(const replay *quantized, const replay *real, size_t node,
                            const void *elements) {
    const qdq_graph *graph = quantized->form.graph;
    qdq_value x = qdq_graph_node_input(graph, node, 0), y = qdq_graph_node_output(graph, node, 0);
    const qdq_value named[] = {x, y};
    qdq_value found = {0};
    for (size_t i = 0; !found.id && i < 2; i++) {
        const char *name = qdq_value_original(graph, qdq_value_name(graph, named[i]));
        found = find_by_name(real->form.graph, name, graph, y);
    }
    return found.id ? found : find_by_elements(real, graph, y, elements);
}
