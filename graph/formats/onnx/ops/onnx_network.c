// SPDX-License-Identifier: Apache-2.0
// Converts ONNX's float ops whose form differs from ours: products with factors, bounds, pairs of
// many, reductions.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/onnx/ops/onnx_formula.h"
#include "ops/infer.h"
#include "runtime/numerics/dtype.h"

//---- Elementwise ------------------------------------------------------------

// Takes any number of inputs two at a time, and names the result "y/helper".
static qdq_value in_pairs(qdq_onnx_node *node, const qdq_onnx_op *row, const char *result) {
    char helper[24];
    qdq_value total = qdq_onnx_ref(node, node->inputs[0]);
    for (size_t i = 1; i < node->input_count; i++) {
        qdq_onnx_call call;
        bool last = i + 1 == node->input_count;
        snprintf(helper, sizeof helper, "%zu", i - 1);
        qdq_onnx_begin(&call, node, row->ours, last ? result : helper);
        qdq_onnx_port_made(&call, "a", total);
        qdq_onnx_port(&call, "b", node->inputs[i]);
        total = qdq_onnx_end(&call);
    }
    return total;
}

void qdq_onnx_pairs(qdq_onnx_node *node, const qdq_onnx_op *row) {
    if (node->input_count == 1)
        qdq_onnx_alias(node, 0, node->inputs[0]);
    else
        qdq_onnx_bind(node, 0, in_pairs(node, row, NULL));
}

void qdq_onnx_mean(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_term terms[] = {{.name = "sum"},
                             {.name = "count", .number = (double)node->input_count}};
    if (node->input_count == 1) {
        qdq_onnx_alias(node, 0, node->inputs[0]);
        return;
    }
    terms[0].value = in_pairs(node, row, "sum");
    if (terms[0].value.id)
        qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, "Divide(sum, count)", terms, 2));
}

// The exponent may have another dtype than the base and y. Exponents of floats lose
// nothing that counts as float32; an integer to the power of a float is computed in float32.
void qdq_onnx_pow(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bool base = qdq_onnx_elem_is_real(node->inputs[0]->elem);
    bool exponent = qdq_onnx_elem_is_real(node->inputs[1]->elem);
    const char *text = !base && exponent
                           ? "Cast(Pow(Cast(a, dtype: float32), Cast(b, dtype: float32)), dtype: a)"
                           : "Pow(a, Cast(b, dtype: a))";
    qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, text, NULL, 0));
}

// Selects between inputs a and b by the condition, input 0. Select does not broadcast its choices
// to the condition, so a choice is expanded where ONNX broadcasts it.
static void bind_select(qdq_onnx_node *node, const qdq_onnx_op *row, size_t a, size_t b,
                        const char *text, const char *expanded) {
    qdq_shape choices, y, condition = node->inputs[0]->shape;
    bool fits = qdq_broadcast_shapes(node->inputs[a]->shape, node->inputs[b]->shape, &choices) &&
                qdq_broadcast_shapes(condition, choices, &y);
    if (!fits || qdq_broadcasts_to(condition, choices)) {
        qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, text, NULL, 0));
        return;
    }
    const qdq_onnx_term terms[] = {{.name = "y", .ints = {y.dims, (size_t)y.rank}}};
    qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, expanded, terms, 1));
}

void qdq_onnx_where(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bind_select(node, row, 1, 2, "Select(condition, a, b)",
                "Select(condition, Expand(a, shape: y), b)");
}

void qdq_onnx_qlinear_where(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bind_select(node, row, 1, 4, row->ours,
                "Quantize(Select(c, Dequantize(Expand(a, shape: y), as, az?, dtype: float32), "
                "Dequantize(b, bs, bz?, dtype: float32)), ys, yz?, dtype: a)");
}

void qdq_onnx_bit_shift(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const char *direction = qdq_onnx_word(node, "direction", "");
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_set_word(&call, "direction",
                      strcmp(direction, "LEFT") == 0    ? "left"
                      : strcmp(direction, "RIGHT") == 0 ? "right"
                                                        : direction);
    qdq_onnx_finish(&call);
}

// Returns the greatest finite number of a dtype.
static double largest_of(int elem) {
    return elem == ONNX_FLOAT16    ? 65504.0
           : elem == ONNX_BFLOAT16 ? ldexp(1.9921875, 127)
                                   : ldexp(16777215.0, 104);
}

// Reads bound i of Clip: an input, or an attribute of old versions. False after a refusal.
static bool read_bound(qdq_onnx_node *node, size_t i, const char *name, double *bound) {
    qdq_onnx_value *value = qdq_onnx_input(node, i);
    *bound = qdq_onnx_float(node, name, *bound);
    if (!value) return true;
    if (!qdq_onnx_known(node->im, value) || qdq_onnx_count(value->shape) != 1) {
        qdq_onnx_refuse(node, name, ONNX_TEXT(node, "is '%.128s'", value->name),
                        "a constant number");
        return false;
    }
    *bound = qdq_onnx_real_at(value, 0);
    if (!isnan(*bound)) return true;
    qdq_onnx_refuse(node, name, "is NaN", "a number");
    return false;
}

// True if Clamp can compute the node: it takes floats, and its bounds are attributes.
static bool can_clamp(const qdq_onnx_node *node) {
    int elem = node->inputs[0]->elem;
    for (size_t i = 1; i < node->input_count; i++)
        if (node->inputs[i] && !qdq_onnx_known(node->im, node->inputs[i])) return false;
    return elem == ONNX_FLOAT || elem == ONNX_FLOAT16 || elem == ONNX_BFLOAT16;
}

// Returns bound i as a value of the graph: a scalar, or no value if the bound is absent.
static qdq_value bound_of(qdq_onnx_node *node, size_t i, const char *name) {
    qdq_onnx_value *value = qdq_onnx_input(node, i);
    double number = qdq_onnx_float(node, name, (double)NAN);
    if (value && value->shape.rank > 0)
        qdq_onnx_refuse(node, name, ONNX_TEXT(node, "is '%.128s'", value->name), "a scalar");
    if (value) return node->refused ? (qdq_value){0} : qdq_onnx_ref(node, value);
    if (isnan(number)) return (qdq_value){0};
    return qdq_onnx_scalar(node, name, qdq_onnx_dtype(node->inputs[0]->elem), number);
}

// Applies the least bound, then the greatest, which wins if they are crossed.
static void clip_by_pairs(qdq_onnx_node *node) {
    qdq_value least = bound_of(node, 1, "min"), most = bound_of(node, 2, "max");
    qdq_value y = qdq_onnx_ref(node, node->inputs[0]);
    qdq_onnx_call call;
    if (node->refused) return;
    if (!least.id && !most.id) qdq_onnx_alias(node, 0, node->inputs[0]);
    if (least.id) {
        qdq_onnx_begin(&call, node, "Maximum", most.id ? "least" : NULL);
        qdq_onnx_port_made(&call, "a", y);
        qdq_onnx_port_made(&call, "b", least);
        y = qdq_onnx_end(&call);
    }
    if (most.id) {
        qdq_onnx_begin(&call, node, "Minimum", NULL);
        qdq_onnx_port_made(&call, "a", y);
        qdq_onnx_port_made(&call, "b", most);
        y = qdq_onnx_end(&call);
    }
    if (least.id || most.id) qdq_onnx_bind(node, 0, y);
}

// Clips integers of 8 or 16 bits in int32, because Maximum and Minimum lack them.
static bool clip_narrow(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int elem = node->inputs[0]->elem;
    if (elem != ONNX_INT8 && elem != ONNX_UINT8 && elem != ONNX_INT16 && elem != ONNX_UINT16)
        return false;
    qdq_onnx_value *least = qdq_onnx_input(node, 1), *most = qdq_onnx_input(node, 2);
    const qdq_onnx_term terms[] = {{.name = "x", .input = node->inputs[0]},
                                   {.name = "least", .input = least},
                                   {.name = "most", .input = most}};
    const char *text =
        "Cast(Minimum(Maximum(Cast(x, dtype: int32), Cast(least, dtype: int32)), Cast(most, "
        "dtype: int32)), dtype: x)";
    if (!most) text = "Cast(Maximum(Cast(x, dtype: int32), Cast(least, dtype: int32)), dtype: x)";
    if (!least) text = "Cast(Minimum(Cast(x, dtype: int32), Cast(most, dtype: int32)), dtype: x)";
    if (!least && !most)
        qdq_onnx_alias(node, 0, node->inputs[0]);
    else
        qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, text, terms, 3));
    return true;
}

void qdq_onnx_clip(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    if (clip_narrow(node, row)) return;
    if (!can_clamp(node)) {
        clip_by_pairs(node);
        return;
    }
    double largest = largest_of(node->inputs[0]->elem), least = -largest, most = largest;
    if (!read_bound(node, 1, "min", &least) || !read_bound(node, 2, "max", &most)) return;
    if (least > most) least = most;  // of crossed bounds max wins
    if (isfinite(least) && isfinite(most)) {
        qdq_onnx_begin(&call, node, row->ours, NULL);
        qdq_onnx_port(&call, "x", node->inputs[0]);
        qdq_onnx_set_real(&call, "min", least);
        qdq_onnx_set_real(&call, "max", most);
        qdq_onnx_finish(&call);
        return;
    }
    // An attribute has no infinity, so a bound on one side is Maximum or Minimum.
    bool lower = isinf(most);
    qdq_onnx_begin(&call, node, lower ? "Maximum" : "Minimum", NULL);
    qdq_onnx_port(&call, "a", node->inputs[0]);
    qdq_onnx_port_made(&call, "b",
                       qdq_onnx_scalar(node, lower ? "min" : "max",
                                       qdq_onnx_dtype(node->inputs[0]->elem),
                                       lower ? least : most));
    qdq_onnx_finish(&call);
}

void qdq_onnx_gelu(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bool tanh = strcmp(qdq_onnx_word(node, "approximate", "none"), "tanh") == 0;
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_set_word(&call, "mode", tanh ? "gelu_tanh" : "gelu_erf");
    qdq_onnx_finish(&call);
}

void qdq_onnx_prelu(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_set_word(&call, "data_format", "NCX");
    qdq_onnx_set_bool(&call, "per_channel_broadcast", false);
    qdq_onnx_finish(&call);
}

//---- Products ---------------------------------------------------------------

// Multiplies by alpha or beta in a separate node, unless it is 1.
static qdq_value scaled(qdq_onnx_node *node, qdq_value x, const char *factor, double by,
                        const char *helper) {
    qdq_onnx_call call;
    if (by == 1.0 && helper) return x;
    qdq_onnx_begin(&call, node, "Multiply", helper);
    qdq_onnx_port_made(&call, "a", x);
    qdq_onnx_port_made(&call, "b",
                       qdq_onnx_scalar(node, factor, qdq_onnx_dtype(node->inputs[0]->elem), by));
    return qdq_onnx_end(&call);
}

void qdq_onnx_gemm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    double alpha = qdq_onnx_float(node, "alpha", 1), beta = qdq_onnx_float(node, "beta", 1);
    qdq_onnx_value *bias = beta != 0.0 ? qdq_onnx_input(node, 2) : NULL;
    bool plain = alpha == 1.0 && (!bias || beta == 1.0);
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, row->ours, plain ? NULL : "product");
    qdq_onnx_port(&call, "a", node->inputs[0]);
    qdq_onnx_port(&call, "b", node->inputs[1]);
    qdq_onnx_set_bool(&call, "transpose_a", qdq_onnx_int(node, "transA", 0) != 0);
    qdq_onnx_set_bool(&call, "transpose_b", qdq_onnx_int(node, "transB", 0) != 0);
    if (plain) {
        qdq_onnx_port(&call, "bias", bias);
        qdq_onnx_finish(&call);
        return;
    }
    qdq_value y = scaled(node, qdq_onnx_end(&call), "alpha", alpha, bias ? "scaled" : NULL);
    if (bias) {
        qdq_value b = scaled(node, qdq_onnx_ref(node, bias), "beta", beta, "bias");
        qdq_onnx_begin(&call, node, "Add", NULL);
        qdq_onnx_port_made(&call, "a", y);
        qdq_onnx_port_made(&call, "b", b);
        y = qdq_onnx_end(&call);
    }
    qdq_onnx_bind(node, 0, y);
}
